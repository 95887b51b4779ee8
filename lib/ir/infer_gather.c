// Shape inference of gather and scatter (verifier chapter §5.7).
//
// E below is the indices' dimensions, with a 1 appended when index_vector_dim is their rank.

#include "infer_rules.h"

// Membership of dimension numbers in the lists below `rank`.
static bool *mark(const HloInfer *cx, size_t rank, HloDims a, HloDims b) {
    bool *marks = HLO_NEW_ARRAY(cx->shapes->arena, bool, rank);
    for (size_t i = 0; i < a.count; i++) marks[a.data[i]] = true;
    for (size_t i = 0; i < b.count; i++) marks[b.data[i]] = true;
    return marks;
}

static HloStatus check_sorted_set(const HloInfer *cx, const char *what, HloDims dims, size_t limit) {
    HLO_TRY(hlo_infer_in_range(cx, what, dims, limit));
    HLO_TRY(hlo_infer_sorted(cx, what, dims));
    return hlo_infer_distinct(cx, what, dims);
}

static HloStatus check_indices(const HloInfer *cx, const HloShape *indices, int64_t vector_dim) {
    if (!hlo_shape_is_array(indices) || !hlo_type_is_integral(indices->type)) {
        return hlo_infer_fail(cx, "indices must be an array of integers, found %s", hlo_infer_text(cx, indices));
    }
    if (vector_dim >= 0 && (uint64_t)vector_dim <= indices->rank) return hlo_ok();
    return hlo_infer_fail(cx, "expected index_vector_dim in [0, %zu], found %lld", indices->rank,
                          (long long)vector_dim);
}

// |E| and E[index_vector_dim].
static size_t expanded_rank(const HloShape *indices, int64_t vector_dim) {
    return indices->rank + ((size_t)vector_dim == indices->rank);
}
static int64_t vector_size(const HloShape *indices, int64_t vector_dim) {
    return (size_t)vector_dim == indices->rank ? 1 : indices->dims[vector_dim];
}

// The map from index components to operand dimensions.
static HloStatus check_index_map(const HloInfer *cx, const char *what, HloDims map, const HloShape *indices,
                                 int64_t vector_dim, size_t operand_rank) {
    int64_t components = vector_size(indices, vector_dim);
    if (!hlo_sizes_agree((int64_t)map.count, components)) {
        return hlo_infer_fail(cx, "%s has %zu entries, the index vectors of %s have %lld", what, map.count,
                              hlo_infer_text(cx, indices), (long long)components);
    }
    HLO_TRY(hlo_infer_in_range(cx, what, map, operand_rank));
    return hlo_infer_distinct(cx, what, map);
}

static HloStatus check_batching(const HloInfer *cx, HloDims operand, HloDims indices, size_t operand_rank,
                                size_t indices_rank) {
    if (operand.count != indices.count) {
        return hlo_infer_fail(cx, "%zu batching dimensions of the operand, %zu of the indices", operand.count,
                              indices.count);
    }
    HLO_TRY(check_sorted_set(cx, "batching dimensions of the operand", operand, operand_rank));
    HLO_TRY(hlo_infer_in_range(cx, "batching dimensions of the indices", indices, indices_rank));
    return hlo_infer_distinct(cx, "batching dimensions of the indices", indices);
}

// ---- gather ---------------------------------------------------------------------------------------------

typedef struct GatherDims {
    const HloShape *x, *indices;
    HloDims offset, collapsed, index_map, batching, indices_batching, sizes;
    int64_t vector_dim;
    size_t result_rank;
} GatherDims;

static HloStatus check_slice_sizes(const HloInfer *cx, const GatherDims *g) {
    if (g->sizes.count != g->x->rank) {
        return hlo_infer_fail(cx, "expected %zu slice sizes, found %zu", g->x->rank, g->sizes.count);
    }
    if (g->sizes.count != g->offset.count + g->collapsed.count + g->batching.count) {
        return hlo_infer_fail(cx,
                              "each of %zu slice dimensions must be an offset, collapsed or batching one, found "
                              "%zu + %zu + %zu",
                              g->sizes.count, g->offset.count, g->collapsed.count, g->batching.count);
    }
    for (size_t d = 0; d < g->sizes.count; d++) {
        int64_t size = g->sizes.data[d], limit = g->x->dims[d];
        if (size >= 0 && (size <= limit || limit == HLO_UNBOUNDED)) continue;
        return hlo_infer_fail(cx, "expected a slice size in [0, %lld] in dimension %zu, found %lld", (long long)limit,
                              d, (long long)size);
    }
    const HloDims dropped[] = {g->collapsed, g->batching};
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < dropped[l].count; i++) {
            if (g->sizes.data[dropped[l].data[i]] <= 1) continue;
            return hlo_infer_fail(cx,
                                  "dimension %lld is collapsed or batching, its slice size must be 0 or 1, found %lld",
                                  (long long)dropped[l].data[i], (long long)g->sizes.data[dropped[l].data[i]]);
        }
    }
    return hlo_ok();
}

static HloStatus check_gather(const HloInfer *cx, GatherDims *g) {
    HLO_TRY(hlo_infer_array(cx, 0, "operand"));
    HLO_TRY(check_indices(cx, g->indices, g->vector_dim));
    g->result_rank = g->offset.count + expanded_rank(g->indices, g->vector_dim) - 1;
    HLO_TRY(check_sorted_set(cx, "offset_dims", g->offset, g->result_rank));
    HLO_TRY(check_index_map(cx, "start_index_map", g->index_map, g->indices, g->vector_dim, g->x->rank));
    HLO_TRY(check_sorted_set(cx, "collapsed_slice_dims", g->collapsed, g->x->rank));
    HLO_TRY(check_batching(cx, g->batching, g->indices_batching, g->x->rank, g->indices->rank));
    return check_slice_sizes(cx, g);
}

HloStatus hlo_infer_gather(const HloInfer *cx, const HloShape **out) {
    GatherDims g = {
        .x = hlo_operand_shape(cx, 0),
        .indices = hlo_operand_shape(cx, 1),
        .offset = hlo_dims(cx->inst, HLO_ATTR_OFFSET_DIMS),
        .collapsed = hlo_dims(cx->inst, HLO_ATTR_COLLAPSED_SLICE_DIMS),
        .index_map = hlo_dims(cx->inst, HLO_ATTR_START_INDEX_MAP),
        .batching = hlo_dims(cx->inst, HLO_ATTR_OPERAND_BATCHING_DIMS),
        .indices_batching = hlo_dims(cx->inst, HLO_ATTR_START_INDICES_BATCHING_DIMS),
        .sizes = hlo_dims(cx->inst, HLO_ATTR_SLICE_SIZES),
        .vector_dim = hlo_int(cx->inst, HLO_ATTR_INDEX_VECTOR_DIM),
    };
    HLO_TRY(check_gather(cx, &g));
    const bool *dropped = mark(cx, g.x->rank, g.collapsed, g.batching);
    const bool *is_offset = mark(cx, g.result_rank, g.offset, (HloDims){0});
    HloDraft draft;
    hlo_draft_init(&draft, cx, g.result_rank);
    size_t slice_dim = 0, index_dim = 0;
    for (size_t d = 0; d < g.result_rank; d++) {
        if (is_offset[d]) {
            while (slice_dim < g.x->rank && dropped[slice_dim]) slice_dim++;
            // Overlapping collapsed and batching lists leave more slice dimensions than offsets; never fewer.
            int64_t size = g.sizes.data[slice_dim];
            hlo_draft_set(&draft, d, size, hlo_dim_is_dynamic(g.x, slice_dim) && size == g.x->dims[slice_dim]);
            slice_dim++;
        } else {
            if ((int64_t)index_dim == g.vector_dim) index_dim++;
            hlo_draft_copy(&draft, d, g.indices, index_dim++);
        }
    }
    return hlo_draft_finish(&draft, cx, g.x->type, out);
}

// ---- scatter --------------------------------------------------------------------------------------------

typedef struct ScatterDims {
    size_t count;  // inputs, and as many updates
    const HloShape *indices;
    HloDims window, inserted, index_map, batching, indices_batching;
    int64_t vector_dim;
} ScatterDims;

// Window dimensions of the updates against those of the operand that are neither inserted nor batching; the other ones
// against E without the index vector.
static HloStatus check_update_bounds(const HloInfer *cx, const ScatterDims *s, const HloShape *x,
                                     const HloShape *updates) {
    const bool *dropped = mark(cx, x->rank, s->inserted, s->batching);
    const bool *is_window = mark(cx, updates->rank, s->window, (HloDims){0});
    size_t operand_dim = 0, index_dim = 0;
    for (size_t d = 0; d < updates->rank; d++) {
        int64_t size = updates->dims[d];
        if (is_window[d]) {
            while (operand_dim < x->rank && dropped[operand_dim]) operand_dim++;
            int64_t limit = x->dims[operand_dim++];
            if (size <= limit || limit == HLO_UNBOUNDED) continue;
            return hlo_infer_fail(cx, "window dimension %zu of updates %s exceeds the operand %s", d,
                                  hlo_infer_text(cx, updates), hlo_infer_text(cx, x));
        }
        if ((int64_t)index_dim == s->vector_dim) index_dim++;
        if (hlo_sizes_agree(size, s->indices->dims[index_dim++])) continue;
        return hlo_infer_fail(cx, "scatter dimension %zu of updates %s does not fit the indices %s", d,
                              hlo_infer_text(cx, updates), hlo_infer_text(cx, s->indices));
    }
    return hlo_ok();
}

static HloStatus check_scatter_pair(const HloInfer *cx, const ScatterDims *s, size_t k) {
    HLO_TRY(hlo_infer_array(cx, k, "operand"));
    HLO_TRY(hlo_infer_array(cx, s->count + 1 + k, "updates"));
    const HloShape *x = hlo_operand_shape(cx, k), *updates = hlo_operand_shape(cx, s->count + 1 + k);
    size_t rank = expanded_rank(s->indices, s->vector_dim) - 1 + s->window.count;
    if (updates->rank != rank) {
        return hlo_infer_fail(cx, "expected updates of rank %zu, found %s", rank, hlo_infer_text(cx, updates));
    }
    HLO_TRY(check_sorted_set(cx, "update_window_dims", s->window, updates->rank));
    HLO_TRY(check_sorted_set(cx, "inserted_window_dims", s->inserted, x->rank));
    size_t window_rank = s->window.count + s->inserted.count + s->batching.count;
    if (window_rank != x->rank) {
        return hlo_infer_fail(cx, "a window of %zu dimensions for operand %s", window_rank, hlo_infer_text(cx, x));
    }
    HLO_TRY(check_index_map(cx, "scatter_dims_to_operand_dims", s->index_map, s->indices, s->vector_dim, x->rank));
    HLO_TRY(check_batching(cx, s->batching, s->indices_batching, x->rank, s->indices->rank));
    return check_update_bounds(cx, s, x, updates);
}

HloStatus hlo_infer_scatter(const HloInfer *cx, const HloShape **out) {
    size_t operands = hlo_operand_count(cx->inst);
    const HloComputation *reducer;
    HLO_TRY(hlo_infer_callee(cx, 0, &reducer));
    if (operands < 3 || operands % 2 == 0) {
        return hlo_infer_fail(cx, "expected inputs, indices and as many updates, found %zu operands", operands);
    }
    ScatterDims s = {
        .count = operands / 2,
        .indices = hlo_operand_shape(cx, operands / 2),
        .window = hlo_dims(cx->inst, HLO_ATTR_UPDATE_WINDOW_DIMS),
        .inserted = hlo_dims(cx->inst, HLO_ATTR_INSERTED_WINDOW_DIMS),
        .index_map = hlo_dims(cx->inst, HLO_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS),
        .batching = hlo_dims(cx->inst, HLO_ATTR_INPUT_BATCHING_DIMS),
        .indices_batching = hlo_dims(cx->inst, HLO_ATTR_SCATTER_INDICES_BATCHING_DIMS),
        .vector_dim = hlo_int(cx->inst, HLO_ATTR_INDEX_VECTOR_DIM),
    };
    HLO_TRY(check_indices(cx, s.indices, s.vector_dim));
    for (size_t k = 0; k < s.count; k++) HLO_TRY(check_scatter_pair(cx, &s, k));
    // The accumulators start as the operand's elements.
    const HloShape **shapes = HLO_NEW_ARRAY(cx->shapes->arena, const HloShape *, 2 * s.count);
    for (size_t k = 0; k < s.count; k++) {
        shapes[k] = hlo_operand_shape(cx, s.count + 1 + k);
        shapes[s.count + k] = hlo_shape_scalar(cx->shapes, hlo_operand_shape(cx, k)->type);
    }
    HLO_TRY(hlo_infer_reducer(cx, reducer, s.count, shapes, shapes + s.count));
    return hlo_infer_operands_tuple(cx, 0, s.count, out);
}
