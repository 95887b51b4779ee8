// Comparing results under error bounds.
#ifndef HLO_COMPARE_H
#define HLO_COMPARE_H

#include "hlo/literal.h"
#include "hlo/status.h"

// A float mismatches when its absolute error is over `abs` and its relative error is over `rel`. Two NaNs are equal;
// one NaN, one infinity or opposite infinities are not. Integers and predicates are compared exactly.
typedef struct HloErrorBounds {
    double abs, rel;
    bool detailed;  // the message is the reference's whole report, see below
} HloErrorBounds;

// Success, or INVALID_ARGUMENT with how many elements differ, the largest errors and where they are (interpreter
// chapter, §10.2). Shapes must agree up to layout, and so must dynamic sizes, beyond which nothing is compared; tuples
// are compared leaf by leaf, and all leaves that differ are in the message.
//
// The detailed message is the reference's, byte by byte: reports of floats begin with a newline and have histograms and
// bounds that would do, those of integers have the first mismatch alone, and both values follow, unless they have
// 1000 elements or more.
HLO_MUST_USE HloStatus hlo_literal_compare(const HloLiteral *expected, const HloLiteral *actual, HloErrorBounds bounds);

// Which elements of two arrays of one shape mismatch: a pred array in `arena`, NULL when none does.
HLO_MUST_USE HloStatus hlo_literal_mismatches(HloArena *arena, const HloLiteral *expected, const HloLiteral *actual,
                                              HloErrorBounds bounds, HloLiteral **mask);

#endif
