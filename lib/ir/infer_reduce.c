// Shape inference of opcodes that apply a computation to elements: reduce, map, sort, scan; and topk
// (verifier chapter §5.4 and §5.5).

#include "infer_rules.h"

// ---- reducer signature ----------------------------------------------------------------------------------

static const HloShape *accumulator(const HloShape *result, size_t k) {
    return hlo_shape_is_tuple(result) ? result->elements[k] : result;
}

static HloStatus check_reducer_result(const HloInfer *cx, const HloShape *result, size_t count) {
    if (hlo_shape_is_array(result) && count != 1) {
        return hlo_infer_fail(cx, "the reducer must return a tuple of %zu, returns %s", count,
                              hlo_infer_text(cx, result));
    }
    if (!hlo_shape_is_array(result) && (!hlo_shape_is_tuple(result) || result->rank != count)) {
        return hlo_infer_fail(cx, "the reducer must return %zu scalar(s), returns %s", count,
                              hlo_infer_text(cx, result));
    }
    for (size_t k = 0; k < count; k++) {
        if (hlo_shape_is_scalar(accumulator(result, k))) continue;
        return hlo_infer_fail(cx, "the reducer must return scalars, returns %s", hlo_infer_text(cx, result));
    }
    return hlo_ok();
}

static bool is_scalar_like(const HloShape *shape, HloType type) {
    return hlo_shape_is_scalar(shape) && hlo_types_agree(shape->type, type);
}

static HloStatus check_reducer_input(const HloInfer *cx, const HloComputation *reducer, size_t k, size_t count,
                                     const HloShape *input, const HloShape *init) {
    const HloShape *acc = accumulator(reducer->root->shape, k);
    const HloShape *left = hlo_parameter(reducer, k)->shape, *right = hlo_parameter(reducer, count + k)->shape;
    if (!hlo_shape_compatible(acc, left)) {
        return hlo_infer_fail(cx, "reducer parameter %zu is %s, its result is %s", k, hlo_infer_text(cx, left),
                              hlo_infer_text(cx, acc));
    }
    if (!hlo_shape_compatible_fp(acc, init)) {
        return hlo_infer_fail(cx, "the reducer returns %s, the initial value is %s", hlo_infer_text(cx, acc),
                              hlo_infer_text(cx, init));
    }
    if (!is_scalar_like(right, input->type)) {
        return hlo_infer_fail(cx, "reducer parameter %zu is %s, the reduced array is %s", count + k,
                              hlo_infer_text(cx, right), hlo_infer_text(cx, input));
    }
    if (hlo_shape_compatible_fp(acc, right)) return hlo_ok();
    return hlo_infer_fail(cx, "reducer parameter %zu is %s, its result is %s", count + k, hlo_infer_text(cx, right),
                          hlo_infer_text(cx, acc));
}

HloStatus hlo_infer_reducer(const HloInfer *cx, const HloComputation *reducer, size_t count,
                            const HloShape *const *inputs, const HloShape *const *inits) {
    if (hlo_parameter_count(reducer) != 2 * count) {
        return hlo_infer_fail(cx, "the reducer %s must take %zu parameters, takes %zu", reducer->name, 2 * count,
                              hlo_parameter_count(reducer));
    }
    HLO_TRY(check_reducer_result(cx, reducer->root->shape, count));
    for (size_t k = 0; k < count; k++) HLO_TRY(check_reducer_input(cx, reducer, k, count, inputs[k], inits[k]));
    return hlo_ok();
}

// ---- reduce ---------------------------------------------------------------------------------------------

static HloStatus check_same_dims(const HloInfer *cx, size_t count) {
    for (size_t k = 0; k < count; k++) {
        HLO_TRY(hlo_infer_array(cx, k, "input"));
        if (hlo_shape_same_dims(hlo_operand_shape(cx, 0), hlo_operand_shape(cx, k))) continue;
        return hlo_infer_fail(cx, "operands 0 and %zu must have the same dimensions, found %s and %s", k,
                              hlo_infer_text(cx, hlo_operand_shape(cx, 0)),
                              hlo_infer_text(cx, hlo_operand_shape(cx, k)));
    }
    return hlo_ok();
}

// Operand shapes as an array, in the module's arena only when there are many.
enum { SMALL_COUNT = 8 };
static const HloShape **operand_shapes(const HloInfer *cx, const HloShape **small) {
    size_t count = hlo_operand_count(cx->inst);
    const HloShape **shapes = count <= SMALL_COUNT ? small : HLO_NEW_ARRAY(cx->shapes->arena, const HloShape *, count);
    for (size_t k = 0; k < count; k++) shapes[k] = hlo_operand_shape(cx, k);
    return shapes;
}

// Marks the reduced dimensions; false when one is repeated.
static bool mark_reduced(bool *reduced, HloDims dimensions) {
    for (size_t i = 0; i < dimensions.count; i++) {
        if (reduced[dimensions.data[i]]) return false;
        reduced[dimensions.data[i]] = true;
    }
    return true;
}

static HloStatus reduced_draft(const HloInfer *cx, HloDraft *draft) {
    const HloShape *x = hlo_operand_shape(cx, 0);
    HloDims dimensions = hlo_dims(cx->inst, HLO_ATTR_DIMENSIONS);
    HLO_TRY(hlo_infer_in_range(cx, "reduced dimensions", dimensions, x->rank));
    bool small[HLO_DRAFT_RANK] = {false};
    bool *reduced = x->rank <= HLO_DRAFT_RANK ? small : HLO_NEW_ARRAY(cx->shapes->arena, bool, x->rank);
    if (!mark_reduced(reduced, dimensions)) {
        return hlo_infer_fail(cx, "reduced dimensions repeat a number: %s", hlo_infer_dims_text(cx, dimensions));
    }
    hlo_draft_init(draft, cx, x->rank - dimensions.count);
    for (size_t d = 0, k = 0; d < x->rank; d++) {
        if (!reduced[d]) hlo_draft_copy(draft, k++, x, d);
    }
    return hlo_ok();
}

// One draft with the element types of a scalar or of a tuple of scalars.
static HloStatus finish_like(const HloInfer *cx, const HloDraft *draft, const HloShape *scalars, const HloShape **out) {
    if (!hlo_shape_is_tuple(scalars)) return hlo_draft_finish(draft, cx, scalars->type, out);
    const HloShape *small[SMALL_COUNT];
    size_t count = scalars->rank;
    const HloShape **elements =
        count <= SMALL_COUNT ? small : HLO_NEW_ARRAY(cx->shapes->arena, const HloShape *, count);
    for (size_t k = 0; k < count; k++) HLO_TRY(hlo_draft_finish(draft, cx, scalars->elements[k]->type, &elements[k]));
    return hlo_infer_make_tuple(cx, elements, count, out);
}

HloStatus hlo_infer_reduce(const HloInfer *cx, const HloShape **out) {
    const HloComputation *reducer;
    HLO_TRY(hlo_infer_callee(cx, 0, &reducer));
    size_t operands = hlo_operand_count(cx->inst), count = operands / 2;
    if (!operands || operands % 2) {
        return hlo_infer_fail(cx, "expected arrays and as many initial values, found %zu operands", operands);
    }
    HLO_TRY(check_same_dims(cx, count));
    const HloShape *small[SMALL_COUNT];
    const HloShape **shapes = operand_shapes(cx, small);
    HLO_TRY(hlo_infer_reducer(cx, reducer, count, shapes, shapes + count));
    HloDraft draft;
    HLO_TRY(reduced_draft(cx, &draft));
    return finish_like(cx, &draft, reducer->root->shape, out);
}

// ---- map ------------------------------------------------------------------------------------------------

static HloStatus check_mapped(const HloInfer *cx, const HloComputation *mapped) {
    size_t count = hlo_operand_count(cx->inst);
    if (hlo_parameter_count(mapped) != count) {
        return hlo_infer_fail(cx, "%s takes %zu parameters, there are %zu operands", mapped->name,
                              hlo_parameter_count(mapped), count);
    }
    if (!hlo_shape_is_scalar(mapped->root->shape)) {
        return hlo_infer_fail(cx, "%s must return a scalar, returns %s", mapped->name,
                              hlo_infer_text(cx, mapped->root->shape));
    }
    for (size_t k = 0; k < count; k++) {
        const HloShape *parameter = hlo_parameter(mapped, k)->shape, *x = hlo_operand_shape(cx, k);
        if (is_scalar_like(parameter, x->type)) continue;
        return hlo_infer_fail(cx, "parameter %zu of %s is %s, operand %zu is %s", k, mapped->name,
                              hlo_infer_text(cx, parameter), k, hlo_infer_text(cx, x));
    }
    return hlo_ok();
}

// A map is over all dimensions, in their order.
static HloStatus check_map_dimensions(const HloInfer *cx, const HloShape *widest) {
    HloDims dims = hlo_dims(cx->inst, HLO_ATTR_DIMENSIONS);
    bool fits = dims.count == widest->rank || !hlo_has(cx->inst, HLO_ATTR_DIMENSIONS);
    for (size_t d = 0; d < dims.count; d++) fits &= dims.data[d] == (int64_t)d;
    if (fits) return hlo_ok();
    return hlo_infer_fail(cx, "dimensions must be all of %s, in their order", hlo_infer_text(cx, widest));
}

// A scalar may stand beside arrays.
HloStatus hlo_infer_map(const HloInfer *cx, const HloShape **out) {
    size_t count = hlo_operand_count(cx->inst);
    const HloComputation *mapped;
    if (!count) return hlo_infer_fail(cx, "expected at least one operand, found none");
    HLO_TRY(hlo_infer_callee(cx, 0, &mapped));
    HLO_TRY(hlo_infer_all_arrays(cx));
    const HloShape *widest = hlo_operand_shape(cx, 0);
    for (size_t k = 1; k < count; k++) {
        if (hlo_operand_shape(cx, k)->rank > widest->rank) widest = hlo_operand_shape(cx, k);
    }
    for (size_t k = 0; k < count; k++) {
        const HloShape *x = hlo_operand_shape(cx, k);
        if (hlo_shape_same_dims(widest, x) || is_scalar_like(x, widest->type)) continue;
        return hlo_infer_fail(cx, "operands must have one shape, found %s and %s", hlo_infer_text(cx, widest),
                              hlo_infer_text(cx, x));
    }
    HLO_TRY(check_mapped(cx, mapped));
    HLO_TRY(check_map_dimensions(cx, widest));
    HloDraft draft;
    hlo_draft_copy_all(&draft, cx, widest);
    return hlo_draft_finish(&draft, cx, mapped->root->shape->type, out);
}

// ---- sort, topk -----------------------------------------------------------------------------------------

// Comparator and dimension are the verifier's business: text without a shape may have any.
HloStatus hlo_infer_sort(const HloInfer *cx, const HloShape **out) {
    if (!hlo_operand_count(cx->inst)) return hlo_infer_fail(cx, "expected at least one operand, found none");
    HLO_TRY(check_same_dims(cx, hlo_operand_count(cx->inst)));
    return hlo_infer_operands_tuple(cx, 0, hlo_operand_count(cx->inst), out);
}

HloStatus hlo_infer_topk(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(hlo_infer_array(cx, 0, "operand"));
    const HloShape *x = hlo_operand_shape(cx, 0), *results[2];
    int64_t k = hlo_int(cx->inst, HLO_ATTR_K);
    if (!x->rank) return hlo_infer_fail(cx, "expected at least one dimension, found %s", hlo_infer_text(cx, x));
    int64_t last = x->dims[x->rank - 1];
    if (k < 0 || (k > last && last != HLO_UNBOUNDED)) {
        return hlo_infer_fail(cx, "expected k in [0, %lld], found %lld", (long long)last, (long long)k);
    }
    HloDraft draft;
    hlo_draft_copy_all(&draft, cx, x);
    hlo_draft_set(&draft, x->rank - 1, k, false);
    HLO_TRY(hlo_draft_finish(&draft, cx, x->type, &results[0]));
    HLO_TRY(hlo_draft_finish(&draft, cx, HLO_S32, &results[1]));
    return hlo_infer_make_tuple(cx, results, 2, out);
}

// ---- scan -----------------------------------------------------------------------------------------------

static HloStatus scanned_output(const HloInfer *cx, const HloShape *element, size_t dimension, const HloShape *input,
                                const HloShape **out) {
    if (!hlo_shape_is_array(element) || dimension > element->rank) {
        return hlo_infer_fail(cx, "cannot stack %s along dimension %zu", hlo_infer_text(cx, element), dimension);
    }
    HloDraft draft;
    hlo_draft_init(&draft, cx, element->rank + 1);
    for (size_t d = 0; d < element->rank; d++) hlo_draft_copy(&draft, d + (d >= dimension), element, d);
    hlo_draft_copy(&draft, dimension, input, dimension);
    return hlo_draft_finish(&draft, cx, element->type, out);
}

// Operands are inputs, then carries; to_apply returns outputs, then carries. An output is the root's element with the
// scanned dimension put in.
HloStatus hlo_infer_scan(const HloInfer *cx, const HloShape **out) {
    const HloComputation *step;
    HLO_TRY(hlo_infer_callee(cx, 0, &step));
    HLO_TRY(hlo_infer_all_arrays(cx));
    size_t operands = hlo_operand_count(cx->inst);
    int64_t carries = hlo_int(cx->inst, HLO_ATTR_NUM_CARRIES), dimension = hlo_int(cx->inst, HLO_ATTR_DIMENSION);
    const HloShape *result = step->root->shape;
    size_t count = hlo_shape_is_tuple(result) ? result->rank : 1;
    if (carries < 0 || (uint64_t)carries >= operands || (uint64_t)carries > count) {
        return hlo_infer_fail(cx, "%lld carries of %zu operands and %zu results", (long long)carries, operands, count);
    }
    const HloShape *input = hlo_operand_shape(cx, 0);
    if (dimension < 0 || (uint64_t)dimension >= input->rank) {
        return hlo_infer_fail(cx, "expected a dimension of %s, found %lld", hlo_infer_text(cx, input),
                              (long long)dimension);
    }
    const HloShape **elements = HLO_NEW_ARRAY(cx->shapes->arena, const HloShape *, count);
    for (size_t k = 0; k < count; k++) {
        const HloShape *element = hlo_shape_is_tuple(result) ? result->elements[k] : result;
        bool is_carry = k >= count - (uint64_t)carries;
        if (is_carry)
            elements[k] = element;
        else
            HLO_TRY(scanned_output(cx, element, (size_t)dimension, input, &elements[k]));
    }
    if (hlo_shape_is_tuple(result)) return hlo_infer_make_tuple(cx, elements, count, out);
    *out = elements[0];
    return hlo_ok();
}
