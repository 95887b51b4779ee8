// Flags that choose how a program prints modules: --print-style for a preset, and one flag for every switch of the
// printing chapter (§1.1), which win over the style.
#ifndef HLO_PRINT_FLAGS_H
#define HLO_PRINT_FLAGS_H

#include "hlo/flags.h"
#include "hlo/text.h"

typedef struct HloPrintFlags {
    const char *style;         // NULL: as the program says
    HloPrintOptions switches;  // the fields whose flags were given are valid
    HloVec given;              // const HloFlag *
} HloPrintFlags;

// The flags; topic `printing`. `flags` is zero-initialised by the caller.
HloFlagSet hlo_print_flags(HloPrintFlags *flags);
// Replaces *options by the style, if one was given, and sets the switches that were given.
HLO_MUST_USE HloStatus hlo_print_flags_apply(const HloPrintFlags *flags, HloPrintOptions *options);

// A style by name: default (or plain), short (or short-parsable), canonical, fingerprint, module-fingerprint, long
// (or legacy: default with operand shapes, as old releases printed), dump.
HLO_MUST_USE HloStatus hlo_print_style_find(const char *name, HloPrintOptions *out);

#endif
