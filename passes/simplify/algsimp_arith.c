// algsimp: add, subtract, multiply.
//
// Constants move right and together; products share a factor once; nothing is folded.

#include "algsimp.h"

// ---- two constants ahead of a value ---------------------------------------------------------------------

static bool is_non_constant(const HloInstruction *x) {
    return !hlo_alg_is_constant(x);
}

// The constant that takes part in reassociation: x itself, or the scalar that x broadcasts.
typedef HloInstruction *(*ConstantOf)(HloInstruction *x);

static HloInstruction *full_constant(HloInstruction *x) {
    return hlo_alg_is_constant(x) ? x : NULL;
}

static HloInstruction *splat_constant(HloInstruction *x) {
    return hlo_alg_splat_constant(x);
}

// op(c1, c2), broadcast to the shape of `inst` when the constants are scalars and it is not.
static HloInstruction *combine_constants(HloAlg *alg, HloInstruction *inst, HloOpcode op, HloInstruction *c1,
                                         HloInstruction *c2) {
    HloInstruction *both = hlo_build_binary(alg->rw, op, c1, c2);
    if (!both || both->shape->rank != 0 || inst->shape->rank == 0) return both;
    return hlo_derive(alg->rw, hlo_alg_splat(alg, inst->shape, both), inst);
}

// op(op(a, c1), c2) -> op(a, op(c1, c2)) for constants of one kind.
static HloInstruction *reassociate(HloAlg *alg, HloInstruction *inst, ConstantOf constant_of, bool any_a) {
    HloInstruction *inner = hlo_operand(inst, 0);
    if (inner->op != inst->op) return NULL;
    HloInstruction *a = hlo_operand(inner, 0);
    HloInstruction *c1 = constant_of(hlo_operand(inner, 1)), *c2 = constant_of(hlo_operand(inst, 1));
    if (!c1 || !c2 || (!any_a && !is_non_constant(a))) return NULL;
    HloInstruction *both = combine_constants(alg, inst, inst->op, c1, c2);
    return hlo_alg_binary(alg, inst->shape, inst->op, a, both);
}

// ---- add ------------------------------------------------------------------------------------------------

// x + 0 -> x. Not for -0: -0 + 0 is 0, so x + 0 of x = -0 loses a sign, as in the reference; -0 as the addend stays.
static HloInstruction *add_zero_right(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_alg_is_all(hlo_operand(inst, 1), 0) ? hlo_operand(inst, 0) : NULL;
}

static HloInstruction *add_zero_left(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_alg_is_all(hlo_operand(inst, 0), 0) ? hlo_operand(inst, 1) : NULL;
}

// c + x -> x + c
static HloInstruction *add_const_right(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *c = hlo_operand(inst, 0), *x = hlo_operand(inst, 1);
    if (!hlo_alg_is_constant(c) || hlo_alg_is_constant(x)) return NULL;
    return hlo_alg_binary(alg, inst->shape, HLO_OP_ADD, x, c);
}

static HloInstruction *add_reassociate(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *result = reassociate(alg, inst, full_constant, false);
    return result ? result : reassociate(alg, inst, splat_constant, false);
}

// (c1 - x) + c2 -> (c1 + c2) - x
static HloInstruction *add_subtract_const(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *difference = hlo_operand(inst, 0), *right = hlo_operand(inst, 1);
    if (difference->op != HLO_OP_SUBTRACT || hlo_alg_is_constant(hlo_operand(difference, 1))) return NULL;
    HloInstruction *left = hlo_operand(difference, 0);
    bool full = hlo_alg_is_constant(left) && hlo_alg_is_constant(right);
    HloInstruction *c1 = full ? left : hlo_alg_splat_constant(left);
    HloInstruction *c2 = full ? right : hlo_alg_splat_constant(right);
    if (!c1 || !c2) return NULL;
    HloInstruction *sum = combine_constants(alg, inst, HLO_OP_ADD, c1, c2);
    return hlo_alg_binary(alg, inst->shape, HLO_OP_SUBTRACT, sum, hlo_operand(difference, 1));
}

// x + (y - x) -> y
static HloInstruction *add_cancel(HloAlg *alg, HloInstruction *inst) {
    if (!hlo_alg_is_exact(alg, inst)) return NULL;
    for (size_t k = 0; k < 2; k++) {
        HloInstruction *x = hlo_operand(inst, k), *difference = hlo_operand(inst, 1 - k);
        if (difference->op == HLO_OP_SUBTRACT && hlo_operand(difference, 1) == x) return hlo_operand(difference, 0);
    }
    return NULL;
}

static bool is_update_of_zero(const HloInstruction *x) {
    if (x->op != HLO_OP_DYNAMIC_UPDATE_SLICE) return false;
    HloInstruction *zero = hlo_alg_broadcast_operand(hlo_operand(x, 0));
    return zero && hlo_alg_is_single_value(zero, 0);
}

// x + update(0, u, i…) -> update(x, slice(x, i…) + u, i…)
static HloInstruction *add_dynamic_update(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x, *update;
    if (!hlo_alg_match_either(inst, is_update_of_zero, &x, &update)) return NULL;
    HloInstruction *part = hlo_operand(update, 1);
    HloInstruction *const *starts = (HloInstruction *const *)update->operands.items + 2;
    size_t count = hlo_operand_count(update) - 2;
    HloInstruction *old =
        hlo_derive(alg->rw, hlo_alg_dynamic_slice(alg, part->shape, x, starts, count, hlo_shape_dims(part->shape)), x);
    HloInstruction *sum = hlo_derive(alg->rw, hlo_alg_binary(alg, part->shape, HLO_OP_ADD, old, part), update);
    return hlo_alg_dynamic_update(alg, x->shape, x, sum, starts, count);
}

// a·c + b·c -> (a + b)·c; for floats only when c is a power of two, which rounds nothing.
static HloInstruction *factor_out(HloAlg *alg, HloInstruction *inst, size_t ka, size_t kb) {
    HloInstruction *left = hlo_operand(inst, 0), *right = hlo_operand(inst, 1);
    HloInstruction *c = hlo_operand(left, ka);
    if (hlo_operand(right, kb) != c) return NULL;
    if (!hlo_type_is_integral(inst->shape->type) && !hlo_alg_is_power_of_two(c)) return NULL;
    HloInstruction *sum = hlo_build_binary(alg->rw, HLO_OP_ADD, hlo_operand(left, 1 - ka), hlo_operand(right, 1 - kb));
    hlo_derive(alg->rw, sum, left);
    return hlo_alg_binary(alg, inst->shape, HLO_OP_MULTIPLY, sum, c);
}

static HloInstruction *add_factor(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *left = hlo_operand(inst, 0), *right = hlo_operand(inst, 1);
    if (left->op != HLO_OP_MULTIPLY || right->op != HLO_OP_MULTIPLY) return NULL;
    if (!hlo_alg_has_one_user(left) || !hlo_alg_has_one_user(right)) return NULL;
    for (size_t ka = 2; ka-- > 0;) {
        for (size_t kb = 2; kb-- > 0;) {
            HloInstruction *result = factor_out(alg, inst, ka, kb);
            if (result) return result;
        }
    }
    return NULL;
}

// ---- subtract -------------------------------------------------------------------------------------------

// x - x -> 0. Not for floats: inf - inf is nan.
static HloInstruction *subtract_self(HloAlg *alg, HloInstruction *inst) {
    if (hlo_operand(inst, 0) != hlo_operand(inst, 1) || !hlo_alg_is_exact(alg, inst)) return NULL;
    return hlo_alg_like(alg, inst, 0);
}

static HloInstruction *subtract_zero(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_alg_is_all(hlo_operand(inst, 1), 0) ? hlo_operand(inst, 0) : NULL;
}

// x - c -> x + -c, the negation below a broadcast.
static HloInstruction *subtract_const(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0), *right = hlo_operand(inst, 1);
    HloInstruction *broadcast = right->op == HLO_OP_BROADCAST ? right : NULL;
    HloInstruction *c = broadcast ? hlo_operand(broadcast, 0) : right;
    if (hlo_alg_is_constant(x) || !hlo_alg_is_constant(c)) return NULL;
    HloInstruction *negated = hlo_derive(alg->rw, hlo_build_unary(alg->rw, HLO_OP_NEGATE, c), c);
    if (broadcast) {
        negated = hlo_build_broadcast(alg->rw, broadcast->shape, negated, hlo_dims(broadcast, HLO_ATTR_DIMENSIONS));
        hlo_derive(alg->rw, negated, c);
    }
    return hlo_alg_binary(alg, inst->shape, HLO_OP_ADD, x, negated);
}

// x - (x - y) -> y
static HloInstruction *subtract_difference(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0), *right = hlo_operand(inst, 1);
    if (right->op != HLO_OP_SUBTRACT || hlo_operand(right, 0) != x || !hlo_alg_is_exact(alg, inst)) return NULL;
    return hlo_operand(right, 1);
}

// The operand of add `sum` beside `x`; NULL when x is no operand of it.
static HloInstruction *other_addend(const HloInstruction *sum, const HloInstruction *x) {
    if (sum->op != HLO_OP_ADD) return NULL;
    if (hlo_operand(sum, 0) == x) return hlo_operand(sum, 1);
    return hlo_operand(sum, 1) == x ? hlo_operand(sum, 0) : NULL;
}

// x - (x + y) -> -y
static HloInstruction *subtract_sum(HloAlg *alg, HloInstruction *inst) {
    if (!hlo_alg_is_exact(alg, inst)) return NULL;
    HloInstruction *y = other_addend(hlo_operand(inst, 1), hlo_operand(inst, 0));
    return y ? hlo_alg_unary(alg, inst->shape, HLO_OP_NEGATE, y) : NULL;
}

// (x + y) - x -> y
static HloInstruction *sum_subtract(HloAlg *alg, HloInstruction *inst) {
    if (!hlo_alg_is_exact(alg, inst)) return NULL;
    return other_addend(hlo_operand(inst, 0), hlo_operand(inst, 1));
}

// ---- multiply -------------------------------------------------------------------------------------------

static HloInstruction *multiply_one_right(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_alg_is_all(hlo_operand(inst, 1), 1) ? hlo_operand(inst, 0) : NULL;
}

static HloInstruction *multiply_one_left(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_alg_is_all(hlo_operand(inst, 0), 1) ? hlo_operand(inst, 1) : NULL;
}

// x · 0 -> 0. Not for floats: inf · 0 is nan, and -1 · 0 is -0.
static HloInstruction *multiply_zero_left(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *zero = hlo_operand(inst, 0);
    return hlo_alg_is_exact(alg, inst) && hlo_alg_is_all(zero, 0) ? zero : NULL;
}

static HloInstruction *multiply_zero_right(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *zero = hlo_operand(inst, 1);
    return hlo_alg_is_exact(alg, inst) && hlo_alg_is_all(zero, 0) ? zero : NULL;
}

// -a · -b -> a · b
static HloInstruction *multiply_negated(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloInstruction *a = hlo_operand(inst, 0), *b = hlo_operand(inst, 1);
    if (a->op != HLO_OP_NEGATE || b->op != HLO_OP_NEGATE) return NULL;
    hlo_set_operand(inst, 0, hlo_operand(a, 0));
    hlo_set_operand(inst, 1, hlo_operand(b, 0));
    return inst;
}

// |a| · |a| -> a · a
static HloInstruction *multiply_abs(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloInstruction *y = hlo_operand(inst, 0);
    if (y != hlo_operand(inst, 1) || y->op != HLO_OP_ABS) return NULL;
    HloInstruction *a = hlo_operand(y, 0);
    if (hlo_type_is_complex(a->shape->type)) return NULL;
    hlo_set_operand(inst, 0, a);
    hlo_set_operand(inst, 1, a);
    return inst;
}

static bool is_converted_pred(const HloInstruction *x) {
    return x->op == HLO_OP_CONVERT && hlo_operand(x, 0)->shape->type == HLO_PRED;
}

// x · convert(p) -> select(p, x, 0)
static HloInstruction *multiply_pred(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x, *converted;
    if (!hlo_alg_match_either(inst, is_converted_pred, &x, &converted)) return NULL;
    HloInstruction *zero = hlo_alg_scalar(alg, inst->shape->type, 0);
    zero = hlo_alg_splat(alg, inst->shape, zero);
    if (!zero) return NULL;
    return hlo_build(alg->rw, HLO_OP_SELECT, inst->shape, (HloInstruction *[]){hlo_operand(converted, 0), x, zero}, 3);
}

// x = a · c with a constant on one side and something else on the other.
static bool split_product(const HloInstruction *x, ConstantOf constant_of, HloInstruction **a, HloInstruction **c) {
    if (x->op != HLO_OP_MULTIPLY) return false;
    for (size_t k = 2; k-- > 0;) {
        HloInstruction *constant = constant_of(hlo_operand(x, k));
        if (!constant || hlo_alg_is_constant(hlo_operand(x, 1 - k))) continue;
        *c = constant;
        *a = hlo_operand(x, 1 - k);
        return true;
    }
    return false;
}

// (a · c1) · (b · c2) -> (a · b) · (c1 · c2)
static HloInstruction *multiply_products(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *a, *b, *c1, *c2;
    if (!split_product(hlo_operand(inst, 0), full_constant, &a, &c1)) return NULL;
    if (!split_product(hlo_operand(inst, 1), full_constant, &b, &c2)) return NULL;
    HloInstruction *cc = hlo_build_binary(alg->rw, HLO_OP_MULTIPLY, c1, c2);
    HloInstruction *ab = hlo_derive(alg->rw, hlo_alg_binary(alg, inst->shape, HLO_OP_MULTIPLY, a, b), inst);
    return hlo_alg_binary(alg, inst->shape, HLO_OP_MULTIPLY, ab, cc);
}

// (a · c1) · c2 -> a · (c1 · c2)
static HloInstruction *multiply_product(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *product, *a, *c1, *c2;
    if (!hlo_alg_match_either(inst, hlo_alg_is_constant, &product, &c2)) return NULL;
    if (!split_product(product, full_constant, &a, &c1)) return NULL;
    HloInstruction *cc = hlo_build_binary(alg->rw, HLO_OP_MULTIPLY, c1, c2);
    return hlo_alg_binary(alg, inst->shape, HLO_OP_MULTIPLY, a, cc);
}

static HloInstruction *scalar_or_splat(HloInstruction *x) {
    return hlo_alg_is_scalar_constant(x) ? x : hlo_alg_splat_constant(x);
}

// (a · k) · broadcast(b) -> a · broadcast(b · k) for a scalar constant k.
static HloInstruction *gather_scale(HloAlg *alg, HloInstruction *inst, HloInstruction *product, HloInstruction *bcast) {
    HloInstruction *b = hlo_alg_broadcast_operand(bcast), *a, *k;
    if (!b || hlo_alg_is_constant(b) || !split_product(product, scalar_or_splat, &a, &k)) return NULL;
    if (b->shape->rank != 0) k = hlo_derive(alg->rw, hlo_alg_splat(alg, b->shape, k), inst);
    HloInstruction *scaled = hlo_derive(alg->rw, hlo_build_binary(alg->rw, HLO_OP_MULTIPLY, b, k), inst);
    scaled = hlo_build_broadcast(alg->rw, inst->shape, scaled, hlo_dims(bcast, HLO_ATTR_DIMENSIONS));
    hlo_derive(alg->rw, scaled, inst);
    return hlo_alg_binary(alg, inst->shape, HLO_OP_MULTIPLY, a, scaled);
}

static HloInstruction *multiply_broadcast(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *left = hlo_operand(inst, 0), *right = hlo_operand(inst, 1);
    HloInstruction *result = gather_scale(alg, inst, left, right);
    return result ? result : gather_scale(alg, inst, right, left);
}

static HloInstruction *multiply_reassociate(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *result = reassociate(alg, inst, full_constant, true);
    return result ? result : reassociate(alg, inst, splat_constant, true);
}

// exp(a) · exp(b) -> exp(a + b). Not by default: exp(89) · exp(-89) is not 1 when exp(89) overflows.
static HloInstruction *multiply_exps(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *a = hlo_operand(inst, 0), *b = hlo_operand(inst, 1);
    if (a->op != HLO_OP_EXP || b->op != HLO_OP_EXP || !(alg->fast_math || alg->as_reference)) return NULL;
    HloInstruction *sum = hlo_alg_binary(alg, inst->shape, HLO_OP_ADD, hlo_operand(a, 0), hlo_operand(b, 0));
    return hlo_alg_unary(alg, inst->shape, HLO_OP_EXP, hlo_derive(alg->rw, sum, inst));
}

// The operand that both factors apply `op` to, if it is never negative.
static HloInstruction *common_root(const HloInstruction *inst, HloOpcode op) {
    HloInstruction *a = hlo_operand(inst, 0), *b = hlo_operand(inst, 1);
    if (a->op != op || b->op != op || hlo_operand(a, 0) != hlo_operand(b, 0)) return NULL;
    return hlo_alg_is_non_negative(hlo_operand(a, 0)) ? hlo_operand(a, 0) : NULL;
}

static HloInstruction *multiply_sqrts(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return common_root(inst, HLO_OP_SQRT);
}

// rsqrt(x) · rsqrt(x) -> 1 / x
static HloInstruction *multiply_rsqrts(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = common_root(inst, HLO_OP_RSQRT);
    if (!x) return NULL;
    return hlo_alg_binary(alg, inst->shape, HLO_OP_DIVIDE, hlo_alg_like(alg, x, 1), x);
}

static const HloAlgRule rules[] = {
    {HLO_OP_ADD, "add-zero-right", add_zero_right, HLO_ALG_COMPAT},
    {HLO_OP_ADD, "add-zero-left", add_zero_left, HLO_ALG_COMPAT},
    {HLO_OP_ADD, "add-const-right", add_const_right, HLO_ALG_PLAIN},
    {HLO_OP_ADD, "add-reassociate", add_reassociate, HLO_ALG_PLAIN},
    {HLO_OP_ADD, "add-subtract-const", add_subtract_const, HLO_ALG_PLAIN},
    {HLO_OP_ADD, "add-cancel", add_cancel, HLO_ALG_COMPAT},
    {HLO_OP_ADD, "add-dynamic-update", add_dynamic_update, HLO_ALG_PLAIN},
    {HLO_OP_ADD, "add-factor", add_factor, HLO_ALG_PLAIN},
    {HLO_OP_ADD, "join-scatters", hlo_alg_join_scatters, HLO_ALG_PLAIN},
    {HLO_OP_ADD, "add-scatter", hlo_alg_add_scatter, HLO_ALG_PLAIN},

    {HLO_OP_SUBTRACT, "subtract-self", subtract_self, HLO_ALG_PLAIN},
    {HLO_OP_SUBTRACT, "subtract-zero", subtract_zero, HLO_ALG_COMPAT},
    {HLO_OP_SUBTRACT, "subtract-const", subtract_const, HLO_ALG_PLAIN},
    {HLO_OP_SUBTRACT, "subtract-difference", subtract_difference, HLO_ALG_COMPAT},
    {HLO_OP_SUBTRACT, "subtract-sum", subtract_sum, HLO_ALG_PLAIN},
    {HLO_OP_SUBTRACT, "sum-subtract", sum_subtract, HLO_ALG_COMPAT},

    {HLO_OP_MULTIPLY, "multiply-one-right", multiply_one_right, HLO_ALG_COMPAT},
    {HLO_OP_MULTIPLY, "multiply-one-left", multiply_one_left, HLO_ALG_COMPAT},
    {HLO_OP_MULTIPLY, "multiply-zero-left", multiply_zero_left, HLO_ALG_COMPAT},
    {HLO_OP_MULTIPLY, "multiply-zero-right", multiply_zero_right, HLO_ALG_COMPAT},
    {HLO_OP_MULTIPLY, "multiply-negated", multiply_negated, HLO_ALG_PLAIN},
    {HLO_OP_MULTIPLY, "multiply-abs", multiply_abs, HLO_ALG_PLAIN},
    {HLO_OP_MULTIPLY, "multiply-pred", multiply_pred, HLO_ALG_PLAIN},
    {HLO_OP_MULTIPLY, "multiply-products", multiply_products, HLO_ALG_PLAIN},
    {HLO_OP_MULTIPLY, "multiply-product", multiply_product, HLO_ALG_PLAIN},
    {HLO_OP_MULTIPLY, "multiply-broadcast", multiply_broadcast, HLO_ALG_PLAIN},
    {HLO_OP_MULTIPLY, "multiply-reassociate", multiply_reassociate, HLO_ALG_PLAIN},
    {HLO_OP_MULTIPLY, "multiply-exps", multiply_exps, HLO_ALG_PLAIN},
    {HLO_OP_MULTIPLY, "multiply-sqrts", multiply_sqrts, HLO_ALG_PLAIN},
    {HLO_OP_MULTIPLY, "multiply-rsqrts", multiply_rsqrts, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_arith_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
