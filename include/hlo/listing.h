// Platforms by name, and lists of passes for people and scripts.
#ifndef HLO_LISTING_H
#define HLO_LISTING_H

#include "hlo/buffer.h"
#include "hlo/pass.h"

// The platform of a word such as `cpu`, `host` or `gpu`, in any case.
HLO_MUST_USE HloStatus hlo_platform_find(const char *word, HloPlatform *out);

// Appends the names that a platform lists among its passes, sorted bytewise and joined by commas, and a newline.
HLO_MUST_USE HloStatus hlo_put_pass_names(HloPlatform platform, HloBuffer *out);

// Appends every registered pass with its summary and options, sorted by name.
HLO_MUST_USE HloStatus hlo_put_pass_manual(HloBuffer *out);

#endif
