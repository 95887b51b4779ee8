// Do the numbers stay the same? A module is evaluated on made-up arguments, and later versions of it on the same ones.
//
// This is validation of passes by example: a difference proves that something was changed, agreement proves nothing.
#ifndef HLO_NUMERICS_H
#define HLO_NUMERICS_H

#include "hlo/compare.h"
#include "hlo/eval.h"

typedef struct HloNumerics HloNumerics;

typedef struct HloNumericsOptions {
    uint64_t seed;  // of the arguments; 0: 1
    HloEvalLimits limits;   // steps 0: twenty millions, since a loop may not end; bytes 0: hlo_memory_budget()
    HloErrorBounds bounds;  // of differences that are none; both 0: by type, see below
} HloNumericsOptions;

// How far two results of a type may be apart although only rounding differs: half of the mantissa's bits must agree.
// Zero for integers and predicates.
HloErrorBounds hlo_rounding_bounds(HloType type);
// The same for results of a module, whose numbers may have gone through narrower types on the way: the bounds of the
// narrowest float type in it, if those are looser.
HloErrorBounds hlo_module_rounding_bounds(const HloModule *m, HloType type);

// Evaluates the entry computation on every device that the module is for, twice: on arguments as the tools make them up
// (hlo_random_fill), and on small whole and half numbers, where comparisons and integers meet their corners.
// UNIMPLEMENTED, RESOURCE_EXHAUSTED and the like when it cannot be evaluated. The caller frees *out.
HLO_MUST_USE HloStatus hlo_numerics_new(const HloModule *m, const HloNumericsOptions *options, HloNumerics **out);
void hlo_numerics_free(HloNumerics *numerics);

// Evaluates another version of the module on the same arguments. *same tells whether its results agree up to rounding;
// if not, `report` (which may be NULL) gets what differs. A loop that makes far more trips than any did before, and
// devices that wait in vain, are differences too. A module whose entry takes or gives other shapes is not
// comparable: *same is then true.
HLO_MUST_USE HloStatus hlo_numerics_compare(const HloNumerics *numerics, const HloModule *m, bool *same,
                                            HloBuffer *report);

#endif
