// The shape of a transpose that moves no data.

#include "hlo/shape.h"

enum { SMALL_RANK = 16 };

// If the operand's physical position p holds dimension d, the result's position p holds the k with permutation[k] = d.
// A minor-to-major list may hold anything in text; one that is no permutation has no image.
static bool permute_order(const HloLayout *layout, HloDims permutation, int64_t *inverse, int64_t *order) {
    for (size_t k = 0; k < permutation.count; k++) inverse[permutation.data[k]] = (int64_t)k;
    if (layout->rank != permutation.count) return false;
    for (size_t p = 0; p < layout->rank; p++) {
        int64_t d = layout->minor_to_major[p];
        if (d < 0 || (uint64_t)d >= permutation.count) return false;
        order[p] = inverse[d];
    }
    return true;
}

const HloShape *hlo_shape_permuted(HloShapes *shapes, const HloShape *shape, HloDims permutation) {
    size_t rank = shape->rank;
    int64_t small[3 * SMALL_RANK];
    bool small_dynamic[SMALL_RANK];
    int64_t *dims = rank <= SMALL_RANK ? small : HLO_NEW_ARRAY(shapes->arena, int64_t, 3 * rank);
    bool *dynamic = rank <= SMALL_RANK ? small_dynamic : HLO_NEW_ARRAY(shapes->arena, bool, rank);
    int64_t *inverse = dims + rank, *order = inverse + rank;
    for (size_t k = 0; k < rank; k++) {
        dims[k] = shape->dims[permutation.data[k]];
        dynamic[k] = shape->dynamic && shape->dynamic[permutation.data[k]];
    }
    if (!shape->layout || !permute_order(shape->layout, permutation, inverse, order)) {
        return hlo_shape_array(shapes, shape->type, dims, dynamic, rank, NULL);
    }
    HloLayout layout = *shape->layout;
    layout.minor_to_major = order;
    return hlo_shape_array(shapes, shape->type, dims, dynamic, rank, &layout);
}
