// Comparing results under error bounds.
#ifndef HLO_COMPARE_H
#define HLO_COMPARE_H

#include "hlo/literal.h"
#include "hlo/status.h"

// A float mismatches when its absolute error is over `abs` and its relative error is over `rel`. Two NaNs are equal;
// one NaN, one infinity or opposite infinities are not. Integers and predicates are compared exactly.
typedef struct HloErrorBounds {
    double abs, rel;
} HloErrorBounds;

// Success, or INVALID_ARGUMENT with how many elements differ, the largest errors and where they are. Shapes must agree
// up to layout; tuples are compared leaf by leaf, and all leaves that differ are in the message.
HLO_MUST_USE HloStatus hlo_literal_compare(const HloLiteral *expected, const HloLiteral *actual, HloErrorBounds bounds);

#endif
