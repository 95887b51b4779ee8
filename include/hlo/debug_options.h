// The compiler options that users know from XLA_FLAGS, as far as they act here (debug_options.def).
#ifndef HLO_DEBUG_OPTIONS_H
#define HLO_DEBUG_OPTIONS_H

#include "hlo/flags.h"
#include "hlo/pass.h"
#include "hlo/text.h"

typedef struct HloDebugOptions {
#define HLO_DEBUG_OPTION(name, kind, type, standard, topic, value, help) type name;
#include "hlo/debug_options.def"
} HloDebugOptions;

HloDebugOptions hlo_debug_options_default(void);
// The flags of all options; unknown names that start with `xla_` are accepted and do nothing.
HloFlagSet hlo_debug_option_flags(HloDebugOptions *options);
// How modules are printed under these options (printing chapter, §1.2).
HloPrintOptions hlo_debug_print_options(const HloDebugOptions *options);
// Which passes run under them; the filter borrows the options. Fails when passes are both disabled and enabled by name.
HLO_MUST_USE HloStatus hlo_debug_pass_filter(const HloDebugOptions *options, HloPassFilter *out);
// A preset of the printing chapter by name: default, short, canonical, fingerprint, module-fingerprint, dump.
HLO_MUST_USE HloStatus hlo_print_style_find(const char *name, HloPrintOptions *out);

#endif
