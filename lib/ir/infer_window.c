// Shape inference of windowed reductions (verifier chapter §5.5), and the window rule that convolutions share.

#include "infer_rules.h"

// ---- window rule ----------------------------------------------------------------------------------------

// dilated(n, d) = 0 if n = 0, else (n-1)*d + 1
static bool dilated_size(int64_t n, int64_t dilation, int64_t *out) {
    if (n == 0) {
        *out = 0;
        return true;
    }
    return hlo_i64_mul(n - 1, dilation, out) && !__builtin_add_overflow(*out, 1, out);
}

static HloStatus check_window_dim(const HloInfer *cx, const HloWindowDim *dim) {
    const struct {
        const char *what;
        int64_t value;
    } rows[] = {
        {"size", dim->size},
        {"stride", dim->stride},
        {"base dilation", dim->base_dilation},
        {"window dilation", dim->window_dilation},
    };
    for (size_t i = 0; i < HLO_COUNT(rows); i++) {
        if (rows[i].value > 0) continue;
        return hlo_infer_fail(cx, "the window needs a positive %s, has %lld", rows[i].what, (long long)rows[i].value);
    }
    return hlo_ok();
}

// b = low + dilated(base) + high, w = dilated(window); size = 0 if b = 0 or w > b, else (b-w)/stride + 1
HloStatus hlo_infer_window_size(const HloInfer *cx, int64_t size, const HloWindowDim *dim, int64_t *out) {
    HLO_TRY(check_window_dim(cx, dim));
    if (size == HLO_UNBOUNDED) {
        *out = size;
        return hlo_ok();
    }
    int64_t base, window;
    if (!dilated_size(size, dim->base_dilation, &base) || !dilated_size(dim->size, dim->window_dilation, &window) ||
        __builtin_add_overflow(base, dim->pad_low, &base) || __builtin_add_overflow(base, dim->pad_high, &base)) {
        return hlo_infer_fail(cx, "the window over a dimension of %lld elements gets too large", (long long)size);
    }
    if (base < 0) {
        return hlo_infer_fail(cx, "padding leaves %lld of %lld elements", (long long)base, (long long)size);
    }
    *out = base == 0 || window > base ? 0 : (base - window) / dim->stride + 1;
    return hlo_ok();
}

HloStatus hlo_infer_window(const HloInfer *cx, const HloShape *base, const HloWindow *window, HloDraft *draft) {
    size_t rank = window ? window->rank : 0;
    if (rank != base->rank) {
        return hlo_infer_fail(cx, "a window of %zu dimensions over %s", rank, hlo_infer_text(cx, base));
    }
    hlo_draft_init(draft, cx, rank);
    for (size_t d = 0; d < rank; d++) {
        int64_t size = 0;
        HLO_TRY(hlo_infer_window_size(cx, base->dims[d], &window->dims[d], &size));
        hlo_draft_set(draft, d, size, hlo_dim_is_dynamic(base, d));
    }
    return hlo_ok();
}

// ---- reduce-window --------------------------------------------------------------------------------------

static HloStatus check_inputs(const HloInfer *cx, size_t count) {
    for (size_t k = 0; k < count; k++) {
        HLO_TRY(hlo_infer_array(cx, k, "input"));
        if (hlo_shape_same_dims(hlo_operand_shape(cx, 0), hlo_operand_shape(cx, k))) continue;
        return hlo_infer_fail(cx, "operands 0 and %zu must have the same dimensions", k);
    }
    return hlo_ok();
}

// The result has the initial values' element types.
HloStatus hlo_infer_reduce_window(const HloInfer *cx, const HloShape **out) {
    const HloComputation *reducer;
    HLO_TRY(hlo_infer_callee(cx, 0, &reducer));
    size_t operands = hlo_operand_count(cx->inst), count = operands / 2;
    if (!operands || operands % 2) {
        return hlo_infer_fail(cx, "expected arrays and as many initial values, found %zu operands", operands);
    }
    HLO_TRY(check_inputs(cx, count));
    const HloShape **shapes = HLO_NEW_ARRAY(cx->shapes->arena, const HloShape *, operands);
    for (size_t k = 0; k < operands; k++) shapes[k] = hlo_operand_shape(cx, k);
    HLO_TRY(hlo_infer_reducer(cx, reducer, count, shapes, shapes + count));
    HloDraft draft;
    HLO_TRY(hlo_infer_window(cx, shapes[0], hlo_data(cx->inst, HLO_ATTR_WINDOW), &draft));
    for (size_t k = 0; k < count; k++) HLO_TRY(hlo_draft_finish(&draft, cx, shapes[count + k]->type, &shapes[k]));
    if (count > 1) return hlo_infer_make_tuple(cx, shapes, count, out);
    *out = shapes[0];
    return hlo_ok();
}

// ---- select-and-scatter ---------------------------------------------------------------------------------

static HloStatus check_select(const HloInfer *cx, const HloComputation *select) {
    const HloShape *result = select->root->shape, *x = hlo_operand_shape(cx, 0);
    if (hlo_parameter_count(select) != 2) {
        return hlo_infer_fail(cx, "select must take 2 parameters, takes %zu", hlo_parameter_count(select));
    }
    if (!hlo_shape_is_scalar(result) || result->type != HLO_PRED) {
        return hlo_infer_fail(cx, "select must return pred[], returns %s", hlo_infer_text(cx, result));
    }
    for (size_t k = 0; k < 2; k++) {
        const HloShape *parameter = hlo_parameter(select, k)->shape;
        if (hlo_shape_is_scalar(parameter) && hlo_types_agree(parameter->type, x->type)) continue;
        return hlo_infer_fail(cx, "parameter %zu of select is %s, the operand is %s", k, hlo_infer_text(cx, parameter),
                              hlo_infer_text(cx, x));
    }
    return hlo_ok();
}

HloStatus hlo_infer_select_and_scatter(const HloInfer *cx, const HloShape **out) {
    const HloComputation *select, *scatter;
    HLO_TRY(hlo_infer_callee(cx, 0, &select));
    HLO_TRY(hlo_infer_callee(cx, 1, &scatter));
    HLO_TRY(hlo_infer_array(cx, 0, "operand"));
    HLO_TRY(hlo_infer_array(cx, 1, "source"));
    HLO_TRY(check_select(cx, select));
    const HloShape *x = hlo_operand_shape(cx, 0), *source = hlo_operand_shape(cx, 1), *init = hlo_operand_shape(cx, 2);
    HLO_TRY(hlo_infer_reducer(cx, scatter, 1, &source, &init));
    HloDraft draft;
    const HloShape *windowed;
    HLO_TRY(hlo_infer_window(cx, x, hlo_data(cx->inst, HLO_ATTR_WINDOW), &draft));
    HLO_TRY(hlo_draft_finish(&draft, cx, x->type, &windowed));
    if (!hlo_shape_compatible_fp(source, windowed)) {
        return hlo_infer_fail(cx, "the source is %s, the windows of the operand make %s", hlo_infer_text(cx, source),
                              hlo_infer_text(cx, windowed));
    }
    *out = x;
    return hlo_ok();
}
