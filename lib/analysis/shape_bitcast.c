// When a reshape or transpose moves no data.

#include "hlo/analysis.h"

// Ranks beyond this are rewritten by nobody; the answer "no bitcast" is always safe.
enum { MAX_RANK = 64 };

bool hlo_layout_strides(const HloShape *shape, int64_t *strides) {
    if (!shape->layout || shape->layout->rank != shape->rank) return false;
    int64_t stride = 1;
    for (size_t d = 0; d < shape->rank; d++) strides[d] = -1;
    for (size_t p = 0; p < shape->rank; p++) {
        int64_t d = shape->layout->minor_to_major[p];
        if (d < 0 || (uint64_t)d >= shape->rank || strides[d] >= 0) return false;
        strides[d] = stride;
        if (!hlo_i64_mul(stride, shape->dims[d], &stride)) return false;
    }
    return true;
}

// Steps of one along each dimension of `from`, taken to `to` by the logical (row-major) index, must be as far apart
// physically in both.
static bool steps_agree(const HloShape *from, const int64_t *from_strides, const HloShape *to,
                        const int64_t *to_strides) {
    int64_t logical = 1;
    for (size_t k = from->rank; k-- > 0; logical *= from->dims[k]) {
        if (from->dims[k] <= 1) continue;
        int64_t rest = logical, physical = 0;
        for (size_t d = to->rank; d-- > 0;) {
            physical += rest % to->dims[d] * to_strides[d];
            rest /= to->dims[d];
        }
        if (physical != from_strides[k]) return false;
    }
    return true;
}

bool hlo_reshape_is_bitcast(const HloShape *in, const HloShape *out) {
    int64_t in_strides[MAX_RANK], out_strides[MAX_RANK], in_count, out_count;
    if (!hlo_shape_is_array(in) || !hlo_shape_is_array(out) || in->type != out->type) return false;
    if (in->rank > MAX_RANK || out->rank > MAX_RANK) return false;
    if (!hlo_shape_count_elements(in, &in_count) || !hlo_shape_count_elements(out, &out_count)) return false;
    if (in_count != out_count) return false;
    if (!hlo_layout_strides(in, in_strides) || !hlo_layout_strides(out, out_strides)) return false;
    if (in_count == 0) return hlo_shape_is_empty(in) && hlo_shape_is_empty(out);
    return steps_agree(in, in_strides, out, out_strides) && steps_agree(out, out_strides, in, in_strides);
}

bool hlo_transpose_is_bitcast(const HloShape *in, const HloShape *out, HloDims dimensions) {
    if (!in->layout || !out->layout || in->type != out->type) return false;
    if (in->rank != out->rank || dimensions.count != out->rank) return false;
    for (size_t p = 0; p < out->rank; p++) {
        int64_t k = out->layout->minor_to_major[p];
        if (k < 0 || (uint64_t)k >= out->rank || dimensions.data[k] != in->layout->minor_to_major[p]) return false;
    }
    return true;
}

// ---- aligned layouts ------------------------------------------------------------------------------------

// Writes the non-trivial dimensions of group [first, limit) in minor-to-major order; returns how many.
static size_t list_group(const HloShape *shape, size_t first, size_t limit, int64_t *order) {
    size_t count = 0;
    for (size_t d = limit; d-- > first;) {
        if (shape->dims[d] != 1) order[count++] = (int64_t)d;
    }
    return count;
}

// The group of each input dimension.
static void number_groups(HloFactors factors, size_t *group_of) {
    for (size_t g = 0; g + 1 < factors.count; g++) {
        for (size_t d = factors.bounds[g].a; d < factors.bounds[g + 1].a; d++) group_of[d] = g;
    }
}

// Walks the input from minor to major: each group must come as one run of descending dimensions; the output's group
// follows in the same place.
static bool align_order(const HloShape *in, const HloShape *out, HloFactors factors, int64_t *order, size_t *count) {
    size_t group_of[MAX_RANK];
    number_groups(factors, group_of);
    for (size_t p = 0; p < in->rank;) {
        int64_t d = in->layout->minor_to_major[p];
        if (in->dims[d] == 1) {
            p++;
            continue;
        }
        const HloFactorBound *bound = &factors.bounds[group_of[d]];
        int64_t members[MAX_RANK];
        size_t member_count = list_group(in, bound[0].a, bound[1].a, members);
        for (size_t i = 0; i < member_count; p++) {
            if (p == in->rank) return false;
            int64_t found = in->layout->minor_to_major[p];
            if (in->dims[found] == 1) continue;
            if (found != members[i++]) return false;
        }
        *count += list_group(out, bound[0].b, bound[1].b, order + *count);
    }
    return true;
}

const HloShape *hlo_reshape_align_layout(HloShapes *shapes, const HloShape *in, const HloShape *out) {
    int64_t strides[MAX_RANK], order[MAX_RANK];
    size_t count = 0;
    if (!hlo_shape_is_array(in) || !hlo_shape_is_array(out) || in->rank > MAX_RANK || out->rank > MAX_RANK) return NULL;
    if (!hlo_layout_strides(in, strides) || hlo_shape_elem_count(in) != hlo_shape_elem_count(out)) return NULL;
    if (hlo_shape_is_empty(in)) return hlo_shape_with_default_layout(shapes, out);
    HloArena scratch = {.trap = shapes->arena->trap};
    HloFactors factors = hlo_shape_common_factors(&scratch, hlo_shape_dims(in), hlo_shape_dims(out));
    bool fits = align_order(in, out, factors, order, &count);
    hlo_arena_free(&scratch);
    if (!fits) return NULL;
    for (size_t d = out->rank; d-- > 0;) {
        if (out->dims[d] == 1) order[count++] = (int64_t)d;
    }
    if (count != out->rank) return NULL;
    return hlo_shape_with_layout(shapes, out, hlo_layout_of(shapes, order, out->rank));
}
