// Shape inference of data movement (verifier chapter §5.6): everything but slices.

#include "infer_rules.h"

// In text without a result shape, `dimensions` of a broadcast are sizes to put in front (grammar chapter §4.1); there
// is no other way to tell a result from them.
HloStatus hlo_infer_broadcast(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(hlo_infer_array(cx, 0, "operand"));
    HloDims sizes = hlo_dims(cx->inst, HLO_ATTR_DIMENSIONS);
    const HloShape *x = hlo_operand_shape(cx, 0);
    HloDraft draft;
    hlo_draft_init(&draft, cx, sizes.count + x->rank);
    for (size_t d = 0; d < sizes.count; d++) {
        if (sizes.data[d] < 0)
            return hlo_infer_fail(cx, "expected a size of 0 or more, found %lld", (long long)sizes.data[d]);
        hlo_draft_set(&draft, d, sizes.data[d], false);
    }
    for (size_t d = 0; d < x->rank; d++) hlo_draft_copy(&draft, sizes.count + d, x, d);
    return hlo_draft_finish(&draft, cx, x->type, out);
}

HloStatus hlo_infer_transpose(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(hlo_infer_array(cx, 0, "operand"));
    const HloShape *x = hlo_operand_shape(cx, 0);
    HloDims dimensions = hlo_dims(cx->inst, HLO_ATTR_DIMENSIONS);
    if (!hlo_dims_are_permutation(cx->shapes->arena, dimensions, x->rank)) {
        return hlo_infer_fail(cx, "dimensions %s are no permutation of the operand's, %s",
                              hlo_infer_dims_text(cx, dimensions), hlo_infer_text(cx, x));
    }
    HloDraft draft;
    hlo_draft_init(&draft, cx, x->rank);
    for (size_t d = 0; d < x->rank; d++) hlo_draft_copy(&draft, d, x, (size_t)dimensions.data[d]);
    if (hlo_draft_is_declared(&draft, cx, x->type)) return hlo_draft_finish(&draft, cx, x->type, out);
    *out = hlo_shape_permuted(cx->shapes, x, dimensions);
    return hlo_ok();
}

HloStatus hlo_infer_reverse(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(hlo_infer_array(cx, 0, "operand"));
    const HloShape *x = hlo_operand_shape(cx, 0);
    HloDims dimensions = hlo_dims(cx->inst, HLO_ATTR_DIMENSIONS);
    HLO_TRY(hlo_infer_distinct(cx, "dimensions", dimensions));
    HLO_TRY(hlo_infer_in_range(cx, "dimensions", dimensions, x->rank));
    *out = x;
    return hlo_ok();
}

// ---- concatenate ----------------------------------------------------------------------------------------

static HloStatus check_concatenated(const HloInfer *cx, size_t k, size_t at) {
    const HloShape *a = hlo_operand_shape(cx, 0), *b = hlo_operand_shape(cx, k);
    if (a->rank != b->rank) {
        return hlo_infer_fail(cx, "operands 0 and %zu have different ranks: %s and %s", k, hlo_infer_text(cx, a),
                              hlo_infer_text(cx, b));
    }
    if (!hlo_types_agree(a->type, b->type)) {
        return hlo_infer_fail(cx, "operands 0 and %zu have different element types: %s and %s", k,
                              hlo_type_name(a->type), hlo_type_name(b->type));
    }
    for (size_t d = 0; d < a->rank; d++) {
        if (d == at || hlo_sizes_agree(a->dims[d], b->dims[d])) continue;
        return hlo_infer_fail(cx, "operands 0 and %zu differ in dimension %zu: %s and %s", k, d, hlo_infer_text(cx, a),
                              hlo_infer_text(cx, b));
    }
    return hlo_ok();
}

// Adds operand k to the draft: sums along `at`, takes known sizes and flags elsewhere.
static HloStatus append(const HloInfer *cx, HloDraft *draft, size_t k, size_t at) {
    const HloShape *x = hlo_operand_shape(cx, k);
    for (size_t d = 0; d < x->rank; d++) {
        draft->dynamic[d] |= hlo_dim_is_dynamic(x, d);
        if (d != at && draft->dims[d] == HLO_UNBOUNDED) draft->dims[d] = x->dims[d];
    }
    if (draft->dims[at] == HLO_UNBOUNDED || x->dims[at] == HLO_UNBOUNDED) {
        draft->dims[at] = HLO_UNBOUNDED;
    } else if (__builtin_add_overflow(draft->dims[at], x->dims[at], &draft->dims[at])) {
        return hlo_infer_fail(cx, "the result is too large along dimension %zu", at);
    }
    return hlo_ok();
}

HloStatus hlo_infer_concatenate(const HloInfer *cx, const HloShape **out) {
    size_t count = hlo_operand_count(cx->inst);
    if (!count) return hlo_infer_fail(cx, "expected at least one operand, found none");
    HLO_TRY(hlo_infer_all_arrays(cx));
    const HloShape *first = hlo_operand_shape(cx, 0);
    int64_t dimension = hlo_int(cx->inst, HLO_ATTR_DIMENSION);
    if (dimension < 0 || (uint64_t)dimension >= first->rank) {
        return hlo_infer_fail(cx, "expected a dimension of %s, found %lld", hlo_infer_text(cx, first),
                              (long long)dimension);
    }
    HloDraft draft;
    hlo_draft_copy_all(&draft, cx, first);
    for (size_t k = 1; k < count; k++) {
        HLO_TRY(check_concatenated(cx, k, (size_t)dimension));
        HLO_TRY(append(cx, &draft, k, (size_t)dimension));
    }
    // Of operands with mixed float types only the first and the last decide: as the reference does.
    HloType type = hlo_type_higher_precision(first->type, hlo_operand_shape(cx, count - 1)->type);
    return hlo_draft_finish(&draft, cx, type, out);
}

// ---- pad ------------------------------------------------------------------------------------------------

// size = n + low + high + max(n-1, 0) * interior
static bool padded_size(int64_t n, const HloPaddingDim *pad, int64_t *out) {
    int64_t gaps, size;
    if (n == HLO_UNBOUNDED) {
        *out = n;
        return true;
    }
    return hlo_i64_mul(n > 1 ? n - 1 : 0, pad->interior, &gaps) && !__builtin_add_overflow(n, pad->low, &size) &&
           !__builtin_add_overflow(size, pad->high, &size) && !__builtin_add_overflow(size, gaps, out);
}

static HloStatus check_pad(const HloInfer *cx, const HloPadding *padding) {
    HLO_TRY(hlo_infer_array(cx, 0, "operand"));
    const HloShape *x = hlo_operand_shape(cx, 0), *value = hlo_operand_shape(cx, 1);
    if (!hlo_shape_is_scalar(value)) {
        return hlo_infer_fail(cx, "the padding value must be a scalar, found %s", hlo_infer_text(cx, value));
    }
    size_t rank = padding ? padding->rank : 0;
    if (rank != x->rank)
        return hlo_infer_fail(cx, "padding of %zu dimensions for operand %s", rank, hlo_infer_text(cx, x));
    if (!hlo_types_agree(x->type, value->type)) {
        return hlo_infer_fail(cx, "operand and padding value have different element types: %s and %s",
                              hlo_type_name(x->type), hlo_type_name(value->type));
    }
    return hlo_ok();
}

HloStatus hlo_infer_pad(const HloInfer *cx, const HloShape **out) {
    const HloPadding *padding = hlo_data(cx->inst, HLO_ATTR_PADDING);
    HLO_TRY(check_pad(cx, padding));
    const HloShape *x = hlo_operand_shape(cx, 0);
    HloDraft draft;
    hlo_draft_init(&draft, cx, x->rank);
    for (size_t d = 0; d < x->rank; d++) {
        const HloPaddingDim *pad = &padding->dims[d];
        int64_t size = 0;
        if (pad->interior < 0) {
            return hlo_infer_fail(cx, "interior padding must not be negative, found %lld", (long long)pad->interior);
        }
        if (!padded_size(x->dims[d], pad, &size)) return hlo_infer_fail(cx, "dimension %zu gets too large", d);
        if (size < 0 && size != HLO_UNBOUNDED) {
            return hlo_infer_fail(cx, "dimension %zu gets a negative size, %lld", d, (long long)size);
        }
        hlo_draft_set(&draft, d, size, hlo_dim_is_dynamic(x, d));
    }
    return hlo_draft_finish(&draft, cx, hlo_type_higher_precision(x->type, hlo_operand_shape(cx, 1)->type), out);
}

// ---- dimension sizes ------------------------------------------------------------------------------------

static HloStatus check_sized_dimension(const HloInfer *cx) {
    HLO_TRY(hlo_infer_array(cx, 0, "operand"));
    const HloShape *x = hlo_operand_shape(cx, 0);
    int64_t d = hlo_int(cx->inst, HLO_ATTR_DIMENSION);
    if (d < 0 || (uint64_t)d >= x->rank) {
        return hlo_infer_fail(cx, "expected a dimension of %s, found %lld", hlo_infer_text(cx, x), (long long)d);
    }
    if (x->dims[d] <= INT32_MAX) return hlo_ok();
    return hlo_infer_fail(cx, "dimension %lld of %s does not fit s32", (long long)d, hlo_infer_text(cx, x));
}

HloStatus hlo_infer_get_dimension_size(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(check_sized_dimension(cx));
    *out = hlo_shape_scalar(cx->shapes, HLO_S32);
    return hlo_ok();
}

HloStatus hlo_infer_set_dimension_size(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(check_sized_dimension(cx));
    const HloShape *x = hlo_operand_shape(cx, 0), *size = hlo_operand_shape(cx, 1);
    if (!hlo_shape_is_scalar(size) || size->type != HLO_S32) {
        return hlo_infer_fail(cx, "the size must be s32[], found %s", hlo_infer_text(cx, size));
    }
    HloDraft draft;
    hlo_draft_copy_all(&draft, cx, x);
    draft.dynamic[hlo_int(cx->inst, HLO_ATTR_DIMENSION)] = true;
    return hlo_draft_finish_layout(&draft, cx, x->type, x->layout, out);
}
