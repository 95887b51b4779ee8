// Verification of linear algebra, reductions and random numbers (verifier chapter §5.5 and §6.1 to §6.3).

#include "verify_rules.h"

// ---- dot family, convolution ----------------------------------------------------------------------------

// Whatever element type is declared goes.
static HloStatus check_declared_type(HloVerify *v, const HloInstruction *inst,
                                     HloStatus (*infer)(const HloInfer *, HloType, const HloShape **)) {
    HloInfer cx = hlo_verify_inference(v, inst, HLO_COMPARE_LOOSE);
    const HloShape *inferred;
    if (!hlo_shape_is_array(inst->shape)) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "result-shape", "expected an array, declared as %s",
                               hlo_verify_text(v, inst->shape));
    }
    HLO_TRY(hlo_verify_context(infer(&cx, inst->shape->type, &inferred), inst, "operands"));
    return hlo_verify_result(v, inst, inferred, HLO_COMPARE_LOOSE);
}

HloStatus hlo_verify_dot(HloVerify *v, const HloInstruction *inst) {
    return check_declared_type(v, inst, hlo_infer_dot_typed);
}

HloStatus hlo_verify_ragged_dot(HloVerify *v, const HloInstruction *inst) {
    const HloShape *inferred;
    HLO_TRY(hlo_verify_infer(v, inst, HLO_COMPARE_LOOSE, &inferred));
    if (hlo_shape_same_dims(inferred, inst->shape)) return hlo_ok();
    return hlo_verify_result(v, inst, inferred, HLO_COMPARE_LOOSE);
}

HloStatus hlo_verify_convolution(HloVerify *v, const HloInstruction *inst) {
    return check_declared_type(v, inst, hlo_infer_convolution_typed);
}

// A bf16 scale of one element beside a bf16 operand stands for no scale.
static bool is_no_scale(const HloShape *operand, const HloShape *scale) {
    return operand->type == HLO_BF16 && scale->type == HLO_BF16 && hlo_shape_elem_count(scale) == 1;
}

static HloStatus check_scale(const HloVerify *v, const HloInstruction *inst, size_t k, HloDims contracting) {
    const HloShape *x = hlo_operand(inst, k)->shape, *scale = hlo_operand(inst, k + 2)->shape;
    if (is_no_scale(x, scale)) return hlo_ok();
    bool fits = x->rank == scale->rank && contracting.count == 1;
    for (size_t d = 0; fits && d < x->rank; d++) {
        fits = x->dims[d] == HLO_UNBOUNDED || (scale->dims[d] > 0 && x->dims[d] % scale->dims[d] == 0);
    }
    if (fits) return hlo_ok();
    return hlo_verify_fail(inst, HLO_FAILED_PRECONDITION, "scale-shape", "scale %s does not fit operand %s",
                           hlo_verify_text(v, scale), hlo_verify_text(v, x));
}

HloStatus hlo_verify_scaled_dot(HloVerify *v, const HloInstruction *inst) {
    for (size_t k = 0; k < 4; k++) {
        if (hlo_shape_is_array(hlo_operand(inst, k)->shape)) continue;
        return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "operands", "operand %zu must be an array, found %s", k,
                               hlo_verify_text(v, hlo_operand(inst, k)->shape));
    }
    HLO_TRY(check_scale(v, inst, 0, hlo_dims(inst, HLO_ATTR_LHS_CONTRACTING_DIMS)));
    HLO_TRY(check_scale(v, inst, 1, hlo_dims(inst, HLO_ATTR_RHS_CONTRACTING_DIMS)));
    if (hlo_shape_is_scalar(hlo_operand(inst, 2)->shape) && hlo_shape_is_scalar(hlo_operand(inst, 3)->shape)) {
        return hlo_verify_fail(inst, HLO_FAILED_PRECONDITION, "scale-shape", "at least one scale must not be a scalar");
    }
    return check_declared_type(v, inst, hlo_infer_dot_typed);
}

// ---- reductions -----------------------------------------------------------------------------------------

// Without mixed precision the parameters of the computation have exactly the operands' element types.
HloStatus hlo_verify_reducer_types(HloVerify *v, const HloInstruction *inst) {
    const HloShape *inferred;
    HLO_TRY(hlo_verify_infer(v, inst, HLO_COMPARE_LOOSE, &inferred));
    HLO_TRY(hlo_verify_result(v, inst, inferred, HLO_COMPARE_LOOSE));
    const HloComputation *callee = hlo_called(inst, 0);
    for (size_t k = 0; !v->options.allow_mixed_precision && k < hlo_operand_count(inst); k++) {
        const HloShape *operand = hlo_operand(inst, k)->shape, *parameter = hlo_parameter(callee, k)->shape;
        if (operand->type == parameter->type) continue;
        return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "reducer-types", "operand %zu is %s, the parameter %s", k,
                               hlo_verify_text(v, operand), hlo_verify_text(v, parameter));
    }
    return hlo_ok();
}

// ---- sort -----------------------------------------------------------------------------------------------

// Parameters 2k and 2k+1 of the comparator are scalars of operand k.
static HloStatus check_comparator(const HloVerify *v, const HloInstruction *inst, const HloComputation *less) {
    size_t count = hlo_operand_count(inst);
    const HloShape *result = less->root->shape;
    if (!hlo_shape_is_scalar(result) || result->type != HLO_PRED) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "comparator", "'%s' must return pred[], returns %s", less->name,
                               hlo_verify_text(v, result));
    }
    if (hlo_parameter_count(less) != 2 * count) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "comparator", "'%s' must take %zu parameters, takes %zu", less->name,
                               2 * count, hlo_parameter_count(less));
    }
    for (size_t p = 0; p < 2 * count; p++) {
        const HloShape *parameter = hlo_parameter(less, p)->shape, *sorted = hlo_operand(inst, p / 2)->shape;
        if (hlo_shape_is_scalar(parameter) && hlo_types_agree(parameter->type, sorted->type)) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "comparator", "parameter %zu is %s, the sorted array %s", p,
                               hlo_verify_text(v, parameter), hlo_verify_text(v, sorted));
    }
    return hlo_ok();
}

static HloStatus check_sorted_dimension(const HloVerify *v, const HloInstruction *inst) {
    const HloShape *first = hlo_operand(inst, 0)->shape;
    int64_t dimension = hlo_int(inst, HLO_ATTR_DIMENSION);
    if (dimension >= 0 && (uint64_t)dimension < first->rank) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "sort-dimension", "expected a dimension of %s, found %lld",
                           hlo_verify_text(v, first), (long long)dimension);
}

HloStatus hlo_verify_sort(HloVerify *v, const HloInstruction *inst) {
    const HloShape *inferred;
    HLO_TRY(hlo_verify_infer(v, inst, HLO_COMPARE_LOOSE, &inferred));
    if (!inst->called.count) return hlo_verify_fail(inst, HLO_INTERNAL, "callees", "it calls no computation");
    HLO_TRY(check_sorted_dimension(v, inst));
    HLO_TRY(check_comparator(v, inst, hlo_called(inst, 0)));
    return hlo_verify_result(v, inst, inferred, HLO_COMPARE_LOOSE);
}

// ---- scan -----------------------------------------------------------------------------------------------

static const HloShape *result_element(const HloShape *shape, size_t k) {
    return hlo_shape_is_tuple(shape) ? shape->elements[k] : shape;
}

static size_t result_count(const HloShape *shape) {
    return hlo_shape_is_tuple(shape) ? shape->rank : 1;
}

// `whole` without dimension `d` is `part`.
static bool is_stack_of(const HloVerify *v, const HloShape *whole, const HloShape *part, size_t d) {
    if (!hlo_shape_is_array(whole) || !hlo_shape_is_array(part) || whole->rank != part->rank + 1 || d >= whole->rank) {
        return false;
    }
    if (!hlo_verify_types_agree(v, whole->type, part->type)) return false;
    for (size_t k = 0; k < part->rank; k++) {
        if (!hlo_sizes_agree(whole->dims[k + (k >= d)], part->dims[k])) return false;
    }
    return true;
}

typedef struct Scan {
    const HloComputation *step;
    const HloShape *root;
    size_t carries, inputs, outputs, dimension;
} Scan;

static HloStatus check_scan_counts(const HloInstruction *inst, Scan *scan) {
    scan->root = scan->step->root->shape;
    int64_t carries = hlo_int(inst, HLO_ATTR_NUM_CARRIES), dimension = hlo_int(inst, HLO_ATTR_DIMENSION);
    size_t operands = hlo_operand_count(inst), results = result_count(inst->shape);
    if (carries < 0 || (uint64_t)carries > operands || (uint64_t)carries > results || dimension < 0 ||
        hlo_parameter_count(scan->step) != operands || result_count(scan->root) != results) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "scan-signature",
                               "%zu operands, %zu parameters, %zu results, %zu root elements, %lld carries do not fit",
                               operands, hlo_parameter_count(scan->step), results, result_count(scan->root),
                               (long long)carries);
    }
    scan->carries = (size_t)carries;
    scan->inputs = operands - scan->carries;
    scan->outputs = results - scan->carries;
    scan->dimension = (size_t)dimension;
    return hlo_ok();
}

// Inputs and outputs are stacks of what the step takes and returns; carries go through unchanged.
static HloStatus check_scan_shapes(const HloVerify *v, const HloInstruction *inst, const Scan *scan) {
    int64_t size = -1;
    for (size_t k = 0; k < scan->inputs + scan->outputs; k++) {
        bool is_input = k < scan->inputs;
        size_t at = is_input ? k : k - scan->inputs;
        const HloShape *whole = is_input ? hlo_operand(inst, at)->shape : result_element(inst->shape, at);
        const HloShape *part = is_input ? hlo_parameter(scan->step, at)->shape : result_element(scan->root, at);
        bool fits = is_stack_of(v, whole, part, scan->dimension);
        if (fits && size < 0) size = whole->dims[scan->dimension];
        if (fits && whole->dims[scan->dimension] == size) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "scan-shapes", "%s %zu is %s, the step has %s",
                               is_input ? "input" : "output", at, hlo_verify_text(v, whole), hlo_verify_text(v, part));
    }
    for (size_t k = 0; k < scan->carries; k++) {
        const HloShape *carry = hlo_parameter(scan->step, scan->inputs + k)->shape;
        const HloShape *returned = result_element(scan->root, scan->outputs + k);
        if (hlo_verify_compatible(v, carry, returned) &&
            hlo_verify_compatible(v, carry, hlo_operand(inst, scan->inputs + k)->shape))
            continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "scan-shapes", "carry %zu is %s, returned as %s", k,
                               hlo_verify_text(v, carry), hlo_verify_text(v, returned));
    }
    return hlo_ok();
}

HloStatus hlo_verify_scan(HloVerify *v, const HloInstruction *inst) {
    Scan scan = {0};
    if (!inst->called.count) return hlo_verify_fail(inst, HLO_INTERNAL, "callees", "it calls no computation");
    scan.step = hlo_called(inst, 0);
    HLO_TRY(check_scan_counts(inst, &scan));
    HLO_TRY(check_scan_shapes(v, inst, &scan));
    if (!v->options.layout_sensitive || !hlo_int(inst, HLO_ATTR_IS_ASSOCIATIVE)) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "no-associative-scan",
                           "scans must be expanded before layouts are fixed");
}

// ---- random numbers -------------------------------------------------------------------------------------

HloStatus hlo_verify_rng(HloVerify *v, const HloInstruction *inst) {
    HLO_TRY(hlo_verify_operand_count(inst, 2));
    const HloShape *a = hlo_operand(inst, 0)->shape, *b = hlo_operand(inst, 1)->shape;
    if (!hlo_shape_is_scalar(a) || !hlo_shape_is_scalar(b)) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "rng-operands", "expected scalars, found %s and %s",
                               hlo_verify_text(v, a), hlo_verify_text(v, b));
    }
    HloType type = inst->shape->type;
    if (a->type != b->type || !hlo_verify_types_agree(v, a->type, type)) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "rng-types", "operands %s and %s do not fit the result %s",
                               hlo_verify_text(v, a), hlo_verify_text(v, b), hlo_verify_text(v, inst->shape));
    }
    int64_t distribution = hlo_int(inst, HLO_ATTR_DISTRIBUTION);
    bool valid = distribution == HLO_RNG_DISTRIBUTION_NORMAL
                     ? hlo_type_is_float(type)
                     : distribution == HLO_RNG_DISTRIBUTION_UNIFORM && !hlo_type_is_complex(type);
    if (valid) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "rng-distribution", "%s cannot make %s",
                           hlo_enum_word(HLO_ENUM_RNG_DISTRIBUTION, distribution), hlo_verify_text(v, inst->shape));
}

HloStatus hlo_verify_rng_bit_generator(HloVerify *v, const HloInstruction *inst) {
    const HloShape *state = hlo_operand(inst, 0)->shape;
    if (!hlo_shape_is_tuple(inst->shape)) return hlo_ok();
    if (inst->shape->rank == 2 && hlo_shape_compatible(inst->shape->elements[0], state)) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "rng-state", "expected a pair that starts with %s, declared as %s",
                           hlo_verify_text(v, state), hlo_verify_text(v, inst->shape));
}

HloStatus hlo_verify_rng_state(HloVerify *v, const HloInstruction *inst) {
    const HloShape *inferred;
    HLO_TRY(hlo_verify_infer(v, inst, HLO_COMPARE_LOOSE, &inferred));
    if (hlo_shape_compatible(inferred, inst->shape)) return hlo_ok();
    return hlo_verify_result(v, inst, inferred, HLO_COMPARE_LOOSE);
}
