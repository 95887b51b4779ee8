// Lists of passes for people and scripts, from the registry.
#ifndef HLO_LISTING_H
#define HLO_LISTING_H

#include "hlo/buffer.h"
#include "hlo/pass.h"

// Appends the names that a platform lists among its passes, sorted bytewise and joined by commas, and a newline.
HLO_MUST_USE HloStatus hlo_put_pass_names(HloPlatform platform, HloBuffer *out);

// Appends every registered pass with its summary and options, sorted by name.
HLO_MUST_USE HloStatus hlo_put_pass_manual(HloBuffer *out);

#endif
