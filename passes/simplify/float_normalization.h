// The one implementation behind the passes float-normalization-<low>.
#ifndef HLO_PASSES_FLOAT_NORMALIZATION_H
#define HLO_PASSES_FLOAT_NORMALIZATION_H

#include "hlo/pass.h"

// Computes in `high` what has the type `low`. Reads the option excess-precision.
HLO_MUST_USE HloStatus hlo_float_normalization_run(HloPassContext *cx, HloModule *m, bool *changed, HloType low,
                                                   HloType high);

#endif
