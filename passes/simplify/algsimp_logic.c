// algsimp: and, or, xor, compare, select.

#include "algsimp.h"

static bool is_pred(const HloInstruction *x) {
    return x->shape->type == HLO_PRED;
}

// A pred of the shape of `inst`, a scalar or a broadcast.
static HloInstruction *pred_like(HloAlg *alg, HloInstruction *inst, bool value) {
    return hlo_alg_like_int(alg, inst, value);
}

// The operand beside one that is all `value`, the second operand tried first; NULL when none is.
static HloInstruction *beside(const HloInstruction *inst, double value) {
    for (size_t k = 2; k-- > 0;) {
        if (hlo_alg_is_all(hlo_operand(inst, k), value)) return hlo_operand(inst, 1 - k);
    }
    return NULL;
}

// The operand that is all `value`, the second tried first.
static HloInstruction *one_that_is(const HloInstruction *inst, double value) {
    for (size_t k = 2; k-- > 0;) {
        if (hlo_alg_is_all(hlo_operand(inst, k), value)) return hlo_operand(inst, k);
    }
    return NULL;
}

// ---- and, or, xor ---------------------------------------------------------------------------------------

static HloInstruction *and_true(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return is_pred(inst) ? beside(inst, 1) : NULL;
}

static HloInstruction *and_zero(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return one_that_is(inst, 0);
}

// x = v < c, or c > v, for a one-element s32 constant c.
static bool is_below_constant(const HloInstruction *x, HloInstruction **v, HloInstruction **c) {
    if (x->op != HLO_OP_COMPARE) return false;
    int64_t direction = hlo_int(x, HLO_ATTR_DIRECTION);
    if (direction != HLO_COMPARE_DIRECTION_LT && direction != HLO_COMPARE_DIRECTION_GT) return false;
    size_t constant_at = direction == HLO_COMPARE_DIRECTION_LT;
    *c = hlo_operand(x, constant_at);
    *v = hlo_operand(x, 1 - constant_at);
    return hlo_alg_is_single_constant(*c) && (*c)->shape->type == HLO_S32;
}

// v < c1 and v < c2 -> v < min(c1, c2)
static HloInstruction *and_less(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *v, *w, *c1, *c2;
    if (!is_below_constant(hlo_operand(inst, 0), &v, &c1) || !is_below_constant(hlo_operand(inst, 1), &w, &c2))
        return NULL;
    if (v != w) return NULL;
    int64_t a = hlo_literal_int(hlo_constant(c1), 0), b = hlo_literal_int(hlo_constant(c2), 0);
    HloInstruction *bound = hlo_build_constant(alg->rw, hlo_constant(a < b ? c1 : c2));
    HloInstruction *result = hlo_alg_binary(alg, inst->shape, HLO_OP_COMPARE, v, bound);
    if (result) hlo_set_int(alg->m, result, HLO_ATTR_DIRECTION, HLO_COMPARE_DIRECTION_LT);
    return result;
}

static HloInstruction *or_true(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return is_pred(inst) ? one_that_is(inst, 1) : NULL;
}

// x or 0, x xor 0 -> x
static HloInstruction *drop_zero(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return beside(inst, 0);
}

// Two instructions without side effects that do the same with the same operands.
static bool is_identical(const HloInstruction *a, const HloInstruction *b) {
    if (a == b) return true;
    if (a->shape != b->shape || hlo_operand_count(a) != hlo_operand_count(b)) return false;
    if (a->op == HLO_OP_PARAMETER || !hlo_same_operation(a, b)) return false;
    if (hlo_has_side_effect(a) || hlo_has_side_effect(b)) return false;
    for (size_t k = 0; k < hlo_operand_count(a); k++) {
        if (hlo_operand(a, k) != hlo_operand(b, k)) return false;
    }
    return true;
}

static HloInstruction *xor_self(HloAlg *alg, HloInstruction *inst) {
    return is_identical(hlo_operand(inst, 0), hlo_operand(inst, 1)) ? hlo_alg_like_int(alg, inst, 0) : NULL;
}

// ---- compare --------------------------------------------------------------------------------------------

static bool compares_unsigned(const HloInstruction *compare) {
    int64_t type = hlo_int(compare, HLO_ATTR_COMPARE_TYPE);
    if (type != HLO_COMPARE_TYPE_DEFAULT) return type == HLO_COMPARE_TYPE_UNSIGNED;
    HloTypeClass class = hlo_type_class(hlo_operand(compare, 0)->shape->type);
    return class == HLO_CLASS_UNSIGNED || class == HLO_CLASS_PRED;
}

// x < 0 and 0 > x -> false, x >= 0 and 0 <= x -> true; *x is the other operand.
static bool compares_with_zero(const HloInstruction *inst, HloInstruction **x, bool *value) {
    int64_t direction = hlo_int(inst, HLO_ATTR_DIRECTION);
    bool zero_right = direction == HLO_COMPARE_DIRECTION_LT || direction == HLO_COMPARE_DIRECTION_GE;
    bool zero_left = direction == HLO_COMPARE_DIRECTION_GT || direction == HLO_COMPARE_DIRECTION_LE;
    if ((!zero_right && !zero_left) || !hlo_alg_is_all(hlo_operand(inst, zero_right ? 1 : 0), 0)) return false;
    *x = hlo_operand(inst, zero_right ? 0 : 1);
    *value = direction == HLO_COMPARE_DIRECTION_GE || direction == HLO_COMPARE_DIRECTION_LE;
    return true;
}

static HloInstruction *compare_unsigned(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x;
    bool value;
    return compares_unsigned(inst) && compares_with_zero(inst, &x, &value) ? pred_like(alg, inst, value) : NULL;
}

static HloInstruction *compare_non_negative(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x;
    bool value;
    if (!compares_with_zero(inst, &x, &value) || !hlo_alg_is_non_negative(x)) return NULL;
    return pred_like(alg, inst, value);
}

// Not for floats: nan = nan is false.
static HloInstruction *compare_self(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0);
    if (x != hlo_operand(inst, 1) || !hlo_type_is_integral(x->shape->type)) return NULL;
    int64_t direction = hlo_int(inst, HLO_ATTR_DIRECTION);
    bool value = direction == HLO_COMPARE_DIRECTION_EQ || direction == HLO_COMPARE_DIRECTION_GE ||
                 direction == HLO_COMPARE_DIRECTION_LE;
    return pred_like(alg, inst, value);
}

// x /= false, x = true -> x
static HloInstruction *compare_pred(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    if (!is_pred(hlo_operand(inst, 0))) return NULL;
    int64_t direction = hlo_int(inst, HLO_ATTR_DIRECTION);
    if (direction == HLO_COMPARE_DIRECTION_NE) return beside(inst, 0);
    return direction == HLO_COMPARE_DIRECTION_EQ ? beside(inst, 1) : NULL;
}

// select(c, 1, 0) /= 0 -> c, when c is a comparison by >=: the form of causal masks.
static HloInstruction *compare_mask(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *select = hlo_operand(inst, 0);
    if (hlo_int(inst, HLO_ATTR_DIRECTION) != HLO_COMPARE_DIRECTION_NE || select->op != HLO_OP_SELECT) return NULL;
    HloInstruction *c = hlo_operand(select, 0);
    if (c->op != HLO_OP_COMPARE || hlo_int(c, HLO_ATTR_DIRECTION) != HLO_COMPARE_DIRECTION_GE) return NULL;
    if (!hlo_alg_is_all(hlo_operand(select, 1), 1) || !hlo_alg_is_all(hlo_operand(select, 2), 0)) return NULL;
    return hlo_alg_is_all(hlo_operand(inst, 1), 0) && hlo_alg_same_shape(alg, c->shape, inst->shape) ? c : NULL;
}

// The operand of `extremum` beside x; NULL when it is no `op` of x and something.
static HloInstruction *partner(const HloInstruction *extremum, HloOpcode op, const HloInstruction *x) {
    if (extremum->op != op) return NULL;
    if (hlo_operand(extremum, 0) == x) return hlo_operand(extremum, 1);
    return hlo_operand(extremum, 1) == x ? hlo_operand(extremum, 0) : NULL;
}

// max(a, b) > a -> b > a, and a > min(a, b) -> a > b. Not for floats: max(nan, 1) > 1 is false and so is nan > 1, but
// max(1, nan) may be 1 where the target drops NaN.
static HloInstruction *compare_extremum(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    if (hlo_int(inst, HLO_ATTR_DIRECTION) != HLO_COMPARE_DIRECTION_GT) return NULL;
    HloInstruction *left = hlo_operand(inst, 0), *right = hlo_operand(inst, 1);
    HloInstruction *other = partner(left, HLO_OP_MAXIMUM, right);
    if (other) {
        hlo_set_operand(inst, 0, other);
        return inst;
    }
    other = partner(right, HLO_OP_MINIMUM, left);
    if (!other) return NULL;
    hlo_set_operand(inst, 1, other);
    return inst;
}

// ---- select ---------------------------------------------------------------------------------------------

static HloInstruction *select_same(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_operand(inst, 1) == hlo_operand(inst, 2) ? hlo_operand(inst, 1) : NULL;
}

static HloInstruction *select_true(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_alg_is_all(hlo_operand(inst, 0), 1) ? hlo_operand(inst, 1) : NULL;
}

static HloInstruction *select_false(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_alg_is_all(hlo_operand(inst, 0), 0) ? hlo_operand(inst, 2) : NULL;
}

// select(not(p), a, b) -> select(p, b, a)
static HloInstruction *select_not(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *p = hlo_operand(inst, 0);
    if (p->op != HLO_OP_NOT) return NULL;
    HloInstruction *operands[] = {hlo_operand(p, 0), hlo_operand(inst, 2), hlo_operand(inst, 1)};
    return hlo_build(alg->rw, HLO_OP_SELECT, inst->shape, operands, 3);
}

static bool chooses_preds(const HloInstruction *inst, bool on_true) {
    return is_pred(inst) && hlo_shape_same_dims(hlo_operand(inst, 0)->shape, inst->shape) &&
           hlo_alg_is_all(hlo_operand(inst, 1), on_true) && hlo_alg_is_all(hlo_operand(inst, 2), !on_true);
}

static HloInstruction *select_is_pred(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return chooses_preds(inst, true) ? hlo_operand(inst, 0) : NULL;
}

static HloInstruction *select_is_not(HloAlg *alg, HloInstruction *inst) {
    return chooses_preds(inst, false) ? hlo_alg_unary(alg, inst->shape, HLO_OP_NOT, hlo_operand(inst, 0)) : NULL;
}

// select(compare(a, b), a, b) of preds -> or, and, a, b
static HloInstruction *select_compared(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *compare = hlo_operand(inst, 0), *a = hlo_operand(inst, 1), *b = hlo_operand(inst, 2);
    if (!is_pred(inst) || compare->op != HLO_OP_COMPARE) return NULL;
    if (hlo_operand(compare, 0) != a || hlo_operand(compare, 1) != b) return NULL;
    switch (hlo_int(compare, HLO_ATTR_DIRECTION)) {
    case HLO_COMPARE_DIRECTION_EQ: return b;
    case HLO_COMPARE_DIRECTION_NE: return a;
    case HLO_COMPARE_DIRECTION_GT:
    case HLO_COMPARE_DIRECTION_GE: return hlo_alg_binary(alg, inst->shape, HLO_OP_OR, a, b);
    default: return hlo_alg_binary(alg, inst->shape, HLO_OP_AND, a, b);
    }
}

// select(p, xs, update(xs, u, i…)) -> update(xs, select(p', slice(xs, i…), u), i…)
static HloInstruction *select_update_at(HloAlg *alg, HloInstruction *inst, size_t update_at) {
    HloInstruction *p = hlo_operand(inst, 0), *update = hlo_operand(inst, update_at),
                   *xs = hlo_operand(inst, 3 - update_at);
    if (update->op != HLO_OP_DYNAMIC_UPDATE_SLICE || hlo_operand(update, 0) != xs) return NULL;
    if (!hlo_alg_has_one_use(update) || xs->shape->type != inst->shape->type) return NULL;
    HloInstruction *part = hlo_operand(update, 1);
    HloInstruction *const *starts = (HloInstruction *const *)update->operands.items + 2;
    size_t count = hlo_operand_count(update) - 2;
    HloDims sizes = hlo_shape_dims(part->shape);
    if (p->shape->rank != 0) {
        const HloShape *shape = hlo_alg_retyped(alg, part->shape, HLO_PRED);
        p = hlo_derive(alg->rw, hlo_alg_dynamic_slice(alg, shape, p, starts, count, sizes), inst);
    }
    HloInstruction *old = hlo_derive(alg->rw, hlo_alg_dynamic_slice(alg, part->shape, xs, starts, count, sizes), inst);
    if (!old || !p) return NULL;
    HloInstruction *operands[3] = {p};
    operands[update_at] = part;
    operands[3 - update_at] = old;
    HloInstruction *chosen = hlo_derive(alg->rw, hlo_build(alg->rw, HLO_OP_SELECT, part->shape, operands, 3), inst);
    return hlo_alg_dynamic_update(alg, inst->shape, xs, chosen, starts, count);
}

static HloInstruction *select_update(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *result = select_update_at(alg, inst, 2);
    return result ? result : select_update_at(alg, inst, 1);
}

static const HloAlgRule rules[] = {
    {HLO_OP_AND, "and-true", and_true, HLO_ALG_COMPAT},
    {HLO_OP_AND, "and-zero", and_zero, HLO_ALG_COMPAT},
    {HLO_OP_AND, "and-less", and_less, HLO_ALG_PLAIN},
    {HLO_OP_OR, "or-true", or_true, HLO_ALG_COMPAT},
    {HLO_OP_OR, "or-zero", drop_zero, HLO_ALG_COMPAT},
    {HLO_OP_XOR, "xor-self", xor_self, HLO_ALG_PLAIN},
    {HLO_OP_XOR, "xor-zero", drop_zero, HLO_ALG_COMPAT},

    {HLO_OP_COMPARE, "compare-unsigned", compare_unsigned, HLO_ALG_PLAIN},
    {HLO_OP_COMPARE, "compare-non-negative", compare_non_negative, HLO_ALG_PLAIN},
    {HLO_OP_COMPARE, "compare-self", compare_self, HLO_ALG_PLAIN},
    {HLO_OP_COMPARE, "compare-pred", compare_pred, HLO_ALG_PLAIN},
    {HLO_OP_COMPARE, "compare-mask", compare_mask, HLO_ALG_PLAIN},
    {HLO_OP_COMPARE, "compare-extremum", compare_extremum, HLO_ALG_PLAIN},

    {HLO_OP_SELECT, "select-same", select_same, HLO_ALG_COMPAT},
    {HLO_OP_SELECT, "select-true", select_true, HLO_ALG_COMPAT},
    {HLO_OP_SELECT, "select-false", select_false, HLO_ALG_COMPAT},
    {HLO_OP_SELECT, "select-not", select_not, HLO_ALG_PLAIN},
    {HLO_OP_SELECT, "select-is-pred", select_is_pred, HLO_ALG_PLAIN},
    {HLO_OP_SELECT, "select-is-not", select_is_not, HLO_ALG_PLAIN},
    {HLO_OP_SELECT, "select-compared", select_compared, HLO_ALG_PLAIN},
    {HLO_OP_SELECT, "select-update", select_update, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_logic_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
