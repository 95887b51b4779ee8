// algsimp: constants that a smaller instruction can make, iota.

#include "algsimp.h"

// The literal of an array constant of two elements or more whose values are known.
static const HloLiteral *many_values(const HloInstruction *inst) {
    const HloLiteral *literal = hlo_constant(inst);
    bool is_known = literal && hlo_shape_is_array(literal->shape) && !literal->elided;
    return is_known && literal->elem_count > 1 ? literal : NULL;
}

// No backend has tuple constants: a tuple of constants; nested ones are met in the next sweep.
static HloInstruction *constant_tuple(HloAlg *alg, HloInstruction *inst) {
    const HloLiteral *literal = hlo_constant(inst);
    if (!hlo_shape_is_tuple(inst->shape) || !literal) return NULL;
    size_t count = inst->shape->rank;
    HloInstruction **elements = HLO_NEW_ARRAY(alg->scratch, HloInstruction *, count + 1);
    for (size_t k = 0; k < count; k++) elements[k] = hlo_build_constant(alg->rw, literal->elements[k]);
    return hlo_build(alg->rw, HLO_OP_TUPLE, inst->shape, elements, count);
}

static HloInstruction *constant_splat(HloAlg *alg, HloInstruction *inst) {
    const HloLiteral *literal = many_values(inst);
    if (!literal || !hlo_literal_is_splat(literal)) return NULL;
    HloLiteral *first;
    const HloShape *scalar = hlo_shape_scalar(&alg->m->shapes, inst->shape->type);
    HloStatus status = hlo_literal_new(&alg->m->arena, scalar, &first);
    if (!hlo_is_ok(status)) {
        alg->rw->failure = status;
        return NULL;
    }
    hlo_literal_copy_element(first, 0, literal, 0);
    HloInstruction *constant = hlo_derive(alg->rw, hlo_build_constant(alg->rw, first), inst);
    return hlo_build_broadcast(alg->rw, inst->shape, constant, (HloDims){NULL, 0});
}

static HloInstruction *build_iota(HloAlg *alg, const HloShape *shape) {
    HloInstruction *iota = hlo_build(alg->rw, HLO_OP_IOTA, shape, NULL, 0);
    if (iota) hlo_set_int(alg->m, iota, HLO_ATTR_IOTA_DIMENSION, 0);
    return iota;
}

static bool counts_from_zero(const HloLiteral *literal) {
    HloType type = literal->shape->type;
    if (type == HLO_PRED) return false;
    for (int64_t at = 0; at < literal->elem_count; at++) {
        if (hlo_type_is_integral(type)) {
            if (hlo_literal_int(literal, at) != at) return false;
        } else if (hlo_literal_double(literal, at) != (double)at || hlo_literal_imag(literal, at) != 0) {
            return false;
        }
    }
    return true;
}

// {0, 1, 2, …} -> iota
static HloInstruction *constant_iota(HloAlg *alg, HloInstruction *inst) {
    const HloLiteral *literal = many_values(inst);
    if (!literal || inst->shape->rank != 1 || !counts_from_zero(literal)) return NULL;
    return build_iota(alg, inst->shape);
}

// The step of {0, s, 2·s, …}; 0 for anything else.
static int64_t step_of(const HloLiteral *literal) {
    int64_t step = hlo_literal_int(literal, 1), value = 0;
    for (int64_t at = 0; at < literal->elem_count; at++) {
        if (hlo_literal_int(literal, at) != value) return 0;
        if (at + 1 < literal->elem_count && __builtin_add_overflow(value, step, &value)) return 0;
    }
    return step;
}

// {0, s, 2·s, …} -> iota · s
static HloInstruction *constant_stride(HloAlg *alg, HloInstruction *inst) {
    const HloLiteral *literal = many_values(inst);
    if (!literal || inst->shape->rank != 1 || !hlo_type_is_integral(inst->shape->type)) return NULL;
    int64_t step = step_of(literal);
    if (!step) return NULL;
    HloInstruction *factor = hlo_alg_like_int(alg, inst, step);
    HloInstruction *iota = hlo_derive(alg->rw, build_iota(alg, inst->shape), inst);
    return hlo_alg_binary(alg, inst->shape, HLO_OP_MULTIPLY, iota, factor);
}

// An iota over at most one value is 0.
static HloInstruction *iota_zero(HloAlg *alg, HloInstruction *inst) {
    if (inst->shape->dims[hlo_int(inst, HLO_ATTR_IOTA_DIMENSION)] > 1) return NULL;
    return hlo_alg_like(alg, inst, 0);
}

static const HloAlgRule rules[] = {
    {HLO_OP_CONSTANT, "constant-tuple", constant_tuple, HLO_ALG_PLAIN},
    {HLO_OP_CONSTANT, "constant-splat", constant_splat, HLO_ALG_PLAIN},
    {HLO_OP_CONSTANT, "constant-iota", constant_iota, HLO_ALG_PLAIN},
    {HLO_OP_CONSTANT, "constant-stride", constant_stride, HLO_ALG_PLAIN},
    {HLO_OP_IOTA, "iota-zero", iota_zero, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_constant_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
