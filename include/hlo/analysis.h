// Reasoning about shapes that several passes share: when a reshape or transpose moves no data.
#ifndef HLO_ANALYSIS_H
#define HLO_ANALYSIS_H

#include "hlo/shape.h"

// ---- common factors -------------------------------------------------------------------------------------

// Dimensions [a, next a) of one list and [b, next b) of the other have the same product.
typedef struct HloFactorBound {
    size_t a, b;
} HloFactorBound;

// count >= 1 bounds, from {0, 0} to {rank a, rank b}; group g lies between bounds g and g + 1.
typedef struct HloFactors {
    const HloFactorBound *bounds;
    size_t count;
} HloFactors;

// The finest common grouping of two dimension lists with equal product (algsimp chapter §1.8). Lists without equal
// product (which no reshape has) give one group.
HloFactors hlo_shape_common_factors(HloArena *arena, HloDims a, HloDims b);

// ---- bitcasts -------------------------------------------------------------------------------------------
// Layouts must be set; false when one is missing.

// A reshape between these shapes (equal element counts) leaves every element at its physical place.
bool hlo_reshape_is_bitcast(const HloShape *in, const HloShape *out);
// The same for a transpose: dimension k of `out` is dimension dimensions[k] of `in`.
bool hlo_transpose_is_bitcast(const HloShape *in, const HloShape *out, HloDims dimensions);
// `out` with the layout that makes a reshape from `in` to it a bitcast, or NULL when there is none. Size-1 dimensions
// go most major (algsimp chapter §3.4).
const HloShape *hlo_reshape_align_layout(HloShapes *shapes, const HloShape *in, const HloShape *out);
// The shape of a transpose that is a bitcast: hlo_shape_permuted (shape.h).

// Elements between neighbours along each dimension, as the layout orders them. False when the minor-to-major list is no
// permutation.
bool hlo_layout_strides(const HloShape *shape, int64_t *strides);

#endif
