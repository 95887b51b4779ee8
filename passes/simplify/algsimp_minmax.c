// algsimp: maximum, minimum, clamp.

#include "algsimp.h"

#include <math.h>

static HloOpcode opposite(HloOpcode op) {
    return op == HLO_OP_MAXIMUM ? HLO_OP_MINIMUM : HLO_OP_MAXIMUM;
}

// x when it has the type of the result, which may be wider.
static HloInstruction *if_same_type(HloInstruction *x, const HloInstruction *inst) {
    return x->shape->type == inst->shape->type ? x : NULL;
}

static HloInstruction *minmax_self(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_operand(inst, 0) == hlo_operand(inst, 1) ? if_same_type(hlo_operand(inst, 0), inst) : NULL;
}

// ---- neutral elements -----------------------------------------------------------------------------------

// The largest value of a float type: infinity where it has one.
static double float_top(HloType type) {
    if (hlo_type_info(type)->specials == HLO_SPECIALS_IEEE) return INFINITY;
    double top = 0;
    for (uint64_t bits = 0; bits < (uint64_t)1 << hlo_type_bits(type); bits++) {
        double value = hlo_float_decode(type, bits);
        if (value > top) top = value;
    }
    return top;
}

static int64_t int_top(HloType type) {
    int bits = hlo_type_bits(type);
    if (hlo_type_class(type) == HLO_CLASS_UNSIGNED) return bits == 64 ? -1 : ((int64_t)1 << bits) - 1;
    return (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
}

static int64_t int_bottom(HloType type) {
    return hlo_type_class(type) == HLO_CLASS_UNSIGNED ? 0 : -int_top(type) - 1;
}

// Everything under the broadcasts of x is the value that `op` never chooses.
static bool is_neutral(const HloInstruction *x, HloOpcode op) {
    while (x->op == HLO_OP_BROADCAST) x = hlo_operand(x, 0);
    const HloLiteral *literal = hlo_constant(x);
    if (!literal || literal->elided || literal->elem_count != 1 || !hlo_shape_is_array(literal->shape)) return false;
    HloType type = literal->shape->type;
    bool is_max = op == HLO_OP_MAXIMUM;
    if (hlo_type_is_integral(type)) {
        int64_t neutral = is_max ? int_bottom(type) : int_top(type);
        return hlo_literal_int(literal, 0) == neutral;
    }
    return hlo_type_is_float(type) && hlo_literal_is_all(literal, is_max ? -float_top(type) : float_top(type));
}

// max(lowest, x) -> x. Not for floats when a NaN operand may be dropped: max(lowest, nan) is then lowest.
static HloInstruction *minmax_neutral(HloAlg *alg, HloInstruction *inst) {
    HloType type = inst->shape->type;
    if (!hlo_type_is_integral(type) && !(hlo_type_is_float(type) && alg->minmax_propagate_nan)) return NULL;
    for (size_t k = 0; k < 2; k++) {
        if (is_neutral(hlo_operand(inst, k), inst->op)) return if_same_type(hlo_operand(inst, 1 - k), inst);
    }
    return NULL;
}

// ---- nests ----------------------------------------------------------------------------------------------

// max(max(x, y), y) -> max(x, y), max(x, max(x, y)) -> max(x, y), max(y, max(x, y)) -> max(y, x)
static HloInstruction *minmax_absorb(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloInstruction *left = hlo_operand(inst, 0), *right = hlo_operand(inst, 1);
    if (left->op == inst->op && (hlo_operand(left, 0) == right || hlo_operand(left, 1) == right)) {
        return if_same_type(left, inst);
    }
    if (right->op != inst->op) return NULL;
    if (hlo_operand(right, 0) == left) return if_same_type(right, inst);
    if (hlo_operand(right, 1) != left) return NULL;
    hlo_set_operand(inst, 1, hlo_operand(right, 0));
    return inst;
}

static bool is_single_broadcast(const HloInstruction *x) {
    return x->op == HLO_OP_BROADCAST && hlo_alg_is_single_constant(hlo_operand(x, 0));
}

// Both are, or broadcast, one constant, and the first is less than the second.
static bool is_below(HloInstruction *low, HloInstruction *high) {
    HloInstruction *x_low = hlo_alg_single_constant(low), *x_high = hlo_alg_single_constant(high);
    if (!x_low || !x_high) return false;
    const HloLiteral *a = hlo_constant(x_low), *b = hlo_constant(x_high);
    HloType type = a->shape->type;
    if (a->elided || b->elided) return false;
    if (hlo_type_is_complex(type)) return false;
    if (hlo_type_is_float(type)) return hlo_literal_double(a, 0) < hlo_literal_double(b, 0);
    int64_t x = hlo_literal_int(a, 0), y = hlo_literal_int(b, 0);
    return hlo_type_class(type) == HLO_CLASS_SIGNED ? x < y : (uint64_t)x < (uint64_t)y;
}

// max(low, min(x, high)) -> clamp(low, x, high), and the mirror image; bounds are broadcasts of one constant.
static HloInstruction *minmax_clamp(HloAlg *alg, HloInstruction *inst) {
    for (size_t k = 0; k < 2; k++) {
        HloInstruction *outer = hlo_operand(inst, k), *inner = hlo_operand(inst, 1 - k), *x, *bound;
        if (!is_single_broadcast(outer) || inner->op != opposite(inst->op)) continue;
        if (!hlo_alg_match_either(inner, is_single_broadcast, &x, &bound)) continue;
        HloInstruction *low = inst->op == HLO_OP_MAXIMUM ? outer : bound;
        HloInstruction *high = inst->op == HLO_OP_MAXIMUM ? bound : outer;
        if (!is_below(low, high)) continue;
        return hlo_build(alg->rw, HLO_OP_CLAMP, inst->shape, (HloInstruction *[]){low, x, high}, 3);
    }
    return NULL;
}

// max(low, clamp(low, x, high)) -> the clamp. Not for any bounds: clamp(2, x, 1) is 1, and the maximum is 2.
static HloInstruction *max_of_clamp(HloAlg *alg, HloInstruction *inst) {
    for (size_t k = 0; k < 2; k++) {
        HloInstruction *clamp = hlo_operand(inst, k), *low = hlo_operand(inst, 1 - k);
        if (clamp->op != HLO_OP_CLAMP || hlo_operand(clamp, 0) != low) continue;
        if (alg->as_reference || is_below(low, hlo_operand(clamp, 2))) return clamp;
    }
    return NULL;
}

static bool is_rising(HloOpcode op) {
    return op == HLO_OP_CBRT || op == HLO_OP_ERF || op == HLO_OP_LOGISTIC || op == HLO_OP_TANH;
}

// max(f(a), f(b)) -> f(max(a, b)) for rising f.
static HloInstruction *max_sink(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *left = hlo_operand(inst, 0), *right = hlo_operand(inst, 1);
    if (!is_rising(left->op) || right->op != left->op) return NULL;
    HloInstruction *max = hlo_alg_binary(alg, inst->shape, HLO_OP_MAXIMUM, hlo_operand(left, 0), hlo_operand(right, 0));
    return hlo_alg_unary(alg, inst->shape, left->op, max);
}

// ---- clamp ----------------------------------------------------------------------------------------------

// clamp(a, clamp(a, x, b), b) -> clamp(a, x, b)
static HloInstruction *clamp_twice(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloInstruction *inner = hlo_operand(inst, 1);
    if (inner->op != HLO_OP_CLAMP) return NULL;
    return hlo_operand(inner, 0) == hlo_operand(inst, 0) && hlo_operand(inner, 2) == hlo_operand(inst, 2) ? inner
                                                                                                          : NULL;
}

// clamp(0, partition-id, u) -> partition-id when every id is at most u.
static HloInstruction *clamp_id(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *id = hlo_operand(inst, 1), *top = hlo_operand(inst, 2);
    if (id->op != HLO_OP_PARTITION_ID && id->op != HLO_OP_REPLICA_ID) return NULL;
    if (!hlo_alg_is_scalar_value(hlo_operand(inst, 0), 0) || !hlo_alg_is_scalar_constant(top)) return NULL;
    int64_t count = id->op == HLO_OP_PARTITION_ID ? alg->m->num_partitions : alg->m->replica_count;
    return count != 1 && count - 1 <= hlo_literal_int(hlo_constant(top), 0) ? id : NULL;
}

static const HloAlgRule rules[] = {
    {HLO_OP_MAXIMUM, "max-self", minmax_self, HLO_ALG_PLAIN},
    {HLO_OP_MAXIMUM, "max-neutral", minmax_neutral, HLO_ALG_PLAIN},
    {HLO_OP_MAXIMUM, "max-absorb", minmax_absorb, HLO_ALG_PLAIN},
    {HLO_OP_MAXIMUM, "max-clamp", minmax_clamp, HLO_ALG_PLAIN},
    {HLO_OP_MAXIMUM, "max-of-clamp", max_of_clamp, HLO_ALG_COMPAT},
    {HLO_OP_MAXIMUM, "max-sink", max_sink, HLO_ALG_PLAIN},

    {HLO_OP_MINIMUM, "min-self", minmax_self, HLO_ALG_PLAIN},
    {HLO_OP_MINIMUM, "min-neutral", minmax_neutral, HLO_ALG_PLAIN},
    {HLO_OP_MINIMUM, "min-absorb", minmax_absorb, HLO_ALG_PLAIN},
    {HLO_OP_MINIMUM, "min-clamp", minmax_clamp, HLO_ALG_PLAIN},

    {HLO_OP_CLAMP, "clamp-twice", clamp_twice, HLO_ALG_COMPAT},
    {HLO_OP_CLAMP, "clamp-id", clamp_id, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_minmax_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
