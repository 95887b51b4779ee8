// Where two versions of a module begin to compute different values.
#ifndef HLO_FIRST_DIFFERENCE_H
#define HLO_FIRST_DIFFERENCE_H

#include "hlo/compare.h"
#include "hlo/eval.h"

// Interprets both modules on one device with the same arguments and compares, for every instruction of their entry
// computations that has the same name and shape in both, its values. Appends a report that names the first one, in the
// order of the second module, whose values differ; *found tells whether there is
// one. Fails as hlo_eval does.
HLO_MUST_USE HloStatus hlo_find_first_difference(const HloModule *before, const HloModule *after,
                                                 const HloLiteral *const *args, size_t count, HloErrorBounds bounds,
                                                 HloBuffer *report, bool *found);

#endif
