// The one implementation behind the passes float-normalization-<low> and bf16-mixed-precision-removal.
#ifndef HLO_PASSES_FLOAT_NORMALIZATION_H
#define HLO_PASSES_FLOAT_NORMALIZATION_H

#include "hlo/pass.h"

typedef struct HloNormalization {
    HloType low, high;
    bool only_mixed;  // touch only instructions that have both types
} HloNormalization;

// Computes in `high` what has the type `low`. Reads the option excess-precision.
HLO_MUST_USE HloStatus hlo_float_normalization_run(HloPassContext *cx, HloModule *m, bool *changed,
                                                   HloNormalization what);

#endif
