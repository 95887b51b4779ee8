// Verification of elementwise opcodes (verifier chapter §5.1 to §5.3).

#include "verify_rules.h"

// Inference stretches scalars and dimensions of size 1; a valid module does not rely on it.
static HloStatus check_no_broadcast(const HloVerify *v, const HloInstruction *inst) {
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        const HloShape *operand = hlo_operand(inst, k)->shape;
        if (operand == inst->shape || hlo_shape_same_dims(operand, inst->shape)) continue;
        if (hlo_may_be_scalar(inst->op, k) && hlo_shape_is_scalar(operand)) continue;
        return hlo_verify_fail(inst, HLO_FAILED_PRECONDITION, "no-implicit-broadcast",
                               "operand %zu is %s, the result %s", k, hlo_verify_text(v, operand),
                               hlo_verify_text(v, inst->shape));
    }
    return hlo_ok();
}

static HloStatus check_typed(HloVerify *v, const HloInstruction *inst,
                             HloStatus (*infer)(const HloInfer *, HloType, const HloShape **)) {
    HloInfer cx = hlo_verify_inference(v, inst, HLO_COMPARE_LOOSE);
    const HloShape *inferred;
    HLO_TRY(hlo_verify_context(infer(&cx, inst->shape->type, &inferred), inst, "operands"));
    return hlo_verify_result(v, inst, inferred, HLO_COMPARE_LOOSE);
}

HloStatus hlo_verify_elementwise(HloVerify *v, const HloInstruction *inst) {
    HLO_TRY(hlo_verify_inferred(v, inst, HLO_COMPARE_LOOSE));
    return check_no_broadcast(v, inst);
}

// ---- compare --------------------------------------------------------------------------------------------

static int64_t default_comparison(HloType type) {
    switch (hlo_type_class(type)) {
    case HLO_CLASS_SIGNED: return HLO_COMPARE_TYPE_SIGNED;
    case HLO_CLASS_PRED:
    case HLO_CLASS_UNSIGNED: return HLO_COMPARE_TYPE_UNSIGNED;
    case HLO_CLASS_FLOAT:
    case HLO_CLASS_COMPLEX: return HLO_COMPARE_TYPE_FLOAT;
    case HLO_CLASS_TUPLE:
    case HLO_CLASS_TOKEN:
    case HLO_CLASS_OPAQUE:
    case HLO_CLASS_BUFFER: break;
    }
    return HLO_COMPARE_TYPE_DEFAULT;
}

HloStatus hlo_verify_compare(HloVerify *v, const HloInstruction *inst) {
    HLO_TRY(hlo_verify_elementwise(v, inst));
    int64_t type = hlo_int(inst, HLO_ATTR_COMPARE_TYPE);
    const HloShape *operand = hlo_operand(inst, 1)->shape;
    int64_t wanted = default_comparison(operand->type);
    if (type == HLO_COMPARE_TYPE_DEFAULT || type == wanted) return hlo_ok();
    if (hlo_type_is_float(operand->type) && type == HLO_COMPARE_TYPE_TOTALORDER) return hlo_ok();
    return hlo_verify_fail(inst, HLO_FAILED_PRECONDITION, "comparison-type", "expected %s for %s, found %s",
                           hlo_enum_word(HLO_ENUM_COMPARE_TYPE, wanted), hlo_verify_text(v, operand),
                           hlo_enum_word(HLO_ENUM_COMPARE_TYPE, type));
}

// ---- conversions and copies -----------------------------------------------------------------------------

HloStatus hlo_verify_convert(HloVerify *v, const HloInstruction *inst) {
    HLO_TRY(check_typed(v, inst, hlo_infer_convert_to));
    return check_no_broadcast(v, inst);
}

HloStatus hlo_verify_bitcast_convert(HloVerify *v, const HloInstruction *inst) {
    return check_typed(v, inst, hlo_infer_bitcast_convert_to);
}

// operand: floats; random: unsigned integers of the same width and shape, layout included.
HloStatus hlo_verify_stochastic_convert(HloVerify *v, const HloInstruction *inst) {
    const HloShape *x = hlo_operand(inst, 0)->shape, *random = hlo_operand(inst, 1)->shape;
    HLO_TRY(check_typed(v, inst, hlo_infer_convert_to));
    if (!hlo_type_is_float(x->type)) {
        return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "operands", "expected a floating operand, found %s",
                               hlo_verify_text(v, x));
    }
    if (!hlo_shape_is_array(random) || hlo_type_class(random->type) != HLO_CLASS_UNSIGNED ||
        hlo_type_bits(random->type) != hlo_type_bits(x->type) || !hlo_shape_equal(x, random, HLO_IGNORE_ELEMENT_TYPE)) {
        return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "operands",
                               "expected unsigned random bits as wide as %s, found %s",
                               hlo_shape_text(v->arena, x, true), hlo_shape_text(v->arena, random, true));
    }
    return check_no_broadcast(v, inst);
}

// Between device and host memory data move as they are: to the host in any form, back without any change.
static bool moves_unchanged(const HloShape *x, const HloShape *result) {
    enum { HOST_SPACE = 5 };
    bool to_host = result->layout->memory_space == HOST_SPACE, from_host = x->layout->memory_space == HOST_SPACE;
    if (to_host == from_host) return true;
    return to_host ? x->type == result->type : hlo_shape_equal(x, result, HLO_IGNORE_MEMORY_SPACE);
}

HloStatus hlo_verify_copy(HloVerify *v, const HloInstruction *inst) {
    const HloShape *x = hlo_operand(inst, 0)->shape;
    if (v->options.layout_sensitive && x->layout && inst->shape->layout && !moves_unchanged(x, inst->shape)) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "result-shape", "expected %s in other memory, declared as %s",
                               hlo_verify_text(v, x), hlo_verify_text(v, inst->shape));
    }
    HLO_TRY(hlo_verify_result(v, inst, x, HLO_COMPARE_LOOSE));
    return check_no_broadcast(v, inst);
}
