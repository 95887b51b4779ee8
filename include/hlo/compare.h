// Comparing results under error bounds.
#ifndef HLO_COMPARE_H
#define HLO_COMPARE_H

#include "hlo/literal.h"
#include "hlo/status.h"

// A float mismatches when its absolute error is over `abs` and its relative error is over `rel`. Two NaNs are equal;
// one NaN, one infinity or opposite infinities are not. Integers and predicates are compared exactly.
typedef struct HloErrorBounds {
    double abs, rel;
    bool detailed;  // reports of floats have histograms, and bounds that would do
} HloErrorBounds;

// Success, or INVALID_ARGUMENT with how many elements differ, the largest errors and where they are (interpreter
// chapter, §10.2). Shapes must agree up to layout, and so must dynamic sizes, beyond which nothing is compared; tuples are compared leaf by leaf, and all leaves that differ are in the message.
HLO_MUST_USE HloStatus hlo_literal_compare(const HloLiteral *expected, const HloLiteral *actual, HloErrorBounds bounds);

#endif
