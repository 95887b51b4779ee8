// Shape inference of slice, dynamic-slice and dynamic-update-slice (verifier chapter §5.6).

#include "infer_rules.h"

// size = ceil((limit - start) / stride)
static HloStatus check_slice_dim(const HloInfer *cx, size_t d, const HloSliceDim *slice, int64_t size) {
    if (slice->start < 0) return hlo_infer_fail(cx, "dimension %zu starts at %lld", d, (long long)slice->start);
    if (slice->limit > size && size != HLO_UNBOUNDED) {
        return hlo_infer_fail(cx, "dimension %zu ends at %lld, past its size of %lld", d, (long long)slice->limit,
                              (long long)size);
    }
    if (slice->limit < slice->start) {
        return hlo_infer_fail(cx, "dimension %zu ends at %lld, before its start at %lld", d, (long long)slice->limit,
                              (long long)slice->start);
    }
    if (slice->stride > 0) return hlo_ok();
    return hlo_infer_fail(cx, "dimension %zu has a stride of %lld, expected 1 or more", d, (long long)slice->stride);
}

HloStatus hlo_infer_slice(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(hlo_infer_array(cx, 0, "operand"));
    const HloShape *x = hlo_operand_shape(cx, 0);
    const HloSlice *slice = hlo_data(cx->inst, HLO_ATTR_SLICE);
    size_t rank = slice ? slice->rank : 0;
    if (rank != x->rank) return hlo_infer_fail(cx, "slice of %zu dimensions from %s", rank, hlo_infer_text(cx, x));
    HloDraft draft;
    hlo_draft_init(&draft, cx, rank);
    for (size_t d = 0; d < rank; d++) {
        const HloSliceDim *dim = &slice->dims[d];
        HLO_TRY(check_slice_dim(cx, d, dim, x->dims[d]));
        int64_t span = dim->limit - dim->start;
        int64_t size = span / dim->stride + (span % dim->stride != 0);
        bool bounded = hlo_dim_is_dynamic(x, d) && x->dims[d] != HLO_UNBOUNDED;
        hlo_draft_set(&draft, d, size, bounded && size != 1);
    }
    return hlo_draft_finish(&draft, cx, x->type, out);
}

// ---- dynamic indices ------------------------------------------------------------------------------------

// The legacy form: all indices in one array of rank 1.
static HloStatus check_index_array(const HloInfer *cx, const HloShape *indices, const HloShape *x) {
    if (indices->rank != 1 || indices->dims[0] != (int64_t)x->rank) {
        return hlo_infer_fail(cx, "expected %zu start indices for %s, found %s", x->rank, hlo_infer_text(cx, x),
                              hlo_infer_text(cx, indices));
    }
    if (hlo_type_is_integral(indices->type)) return hlo_ok();
    return hlo_infer_fail(cx, "start indices must be integers, found %s", hlo_infer_text(cx, indices));
}

// Start indices are operands `first` and following: one scalar integer for each dimension, all of one type.
static HloStatus check_indices(const HloInfer *cx, size_t first) {
    const HloShape *x = hlo_operand_shape(cx, 0);
    size_t count = hlo_operand_count(cx->inst) - first;
    if (count == 1 && hlo_shape_is_array(hlo_operand_shape(cx, first)) && hlo_operand_shape(cx, first)->rank == 1) {
        return check_index_array(cx, hlo_operand_shape(cx, first), x);
    }
    if (count != x->rank) {
        return hlo_infer_fail(cx, "expected %zu start indices for %s, found %zu", x->rank, hlo_infer_text(cx, x),
                              count);
    }
    for (size_t k = 0; k < count; k++) {
        const HloShape *index = hlo_operand_shape(cx, first + k);
        if (!hlo_shape_is_scalar(index) || !hlo_type_is_integral(index->type)) {
            return hlo_infer_fail(cx, "start index %zu must be a scalar integer, found %s", k,
                                  hlo_infer_text(cx, index));
        }
        if (!hlo_shape_compatible(index, hlo_operand_shape(cx, first))) {
            return hlo_infer_fail(cx, "start indices must have one type, found %s and %s",
                                  hlo_infer_text(cx, hlo_operand_shape(cx, first)), hlo_infer_text(cx, index));
        }
    }
    return hlo_ok();
}

HloStatus hlo_infer_dynamic_slice(const HloInfer *cx, const HloShape **out) {
    if (!hlo_operand_count(cx->inst)) return hlo_infer_fail(cx, "expected at least one operand, found none");
    HLO_TRY(hlo_infer_array(cx, 0, "operand"));
    HLO_TRY(check_indices(cx, 1));
    const HloShape *x = hlo_operand_shape(cx, 0);
    HloDims sizes = hlo_dims(cx->inst, HLO_ATTR_DYNAMIC_SLICE_SIZES);
    if (sizes.count != x->rank) {
        return hlo_infer_fail(cx, "expected %zu slice sizes for %s, found %zu", x->rank, hlo_infer_text(cx, x),
                              sizes.count);
    }
    HloDraft draft;
    hlo_draft_init(&draft, cx, x->rank);
    for (size_t d = 0; d < x->rank; d++) {
        int64_t size = sizes.data[d];
        if (size < 0 || (size > x->dims[d] && x->dims[d] != HLO_UNBOUNDED)) {
            return hlo_infer_fail(cx, "expected a slice size in [0, %lld] in dimension %zu, found %lld",
                                  (long long)x->dims[d], d, (long long)size);
        }
        hlo_draft_set(&draft, d, size, hlo_dim_is_dynamic(x, d) && size > 1 && size == x->dims[d]);
    }
    return hlo_draft_finish(&draft, cx, x->type, out);
}

static HloStatus check_update(const HloInfer *cx) {
    const HloShape *x = hlo_operand_shape(cx, 0), *update = hlo_operand_shape(cx, 1);
    if (update->rank != x->rank) {
        return hlo_infer_fail(cx, "operand and update have different ranks: %s and %s", hlo_infer_text(cx, x),
                              hlo_infer_text(cx, update));
    }
    if (!hlo_types_agree(update->type, x->type)) {
        return hlo_infer_fail(cx, "operand and update have different element types: %s and %s", hlo_type_name(x->type),
                              hlo_type_name(update->type));
    }
    for (size_t d = 0; d < x->rank; d++) {
        if (update->dims[d] <= x->dims[d] || x->dims[d] == HLO_UNBOUNDED) continue;
        return hlo_infer_fail(cx, "the update %s is larger than the operand %s in dimension %zu",
                              hlo_infer_text(cx, update), hlo_infer_text(cx, x), d);
    }
    return hlo_ok();
}

HloStatus hlo_infer_dynamic_update_slice(const HloInfer *cx, const HloShape **out) {
    if (hlo_operand_count(cx->inst) < 2) {
        return hlo_infer_fail(cx, "expected at least two operands, found %zu", hlo_operand_count(cx->inst));
    }
    HLO_TRY(hlo_infer_array(cx, 0, "operand"));
    HLO_TRY(hlo_infer_array(cx, 1, "update"));
    HLO_TRY(check_indices(cx, 2));
    HLO_TRY(check_update(cx));
    const HloShape *x = hlo_operand_shape(cx, 0), *update = hlo_operand_shape(cx, 1);
    HloDraft draft;
    hlo_draft_copy_all(&draft, cx, x);
    for (size_t d = 0; d < x->rank; d++) {
        draft.dynamic[d] |= hlo_dim_is_dynamic(update, d) && update->dims[d] == x->dims[d];
    }
    return hlo_draft_finish_layout(&draft, cx, x->type, x->layout, out);
}
