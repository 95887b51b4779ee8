// algsimp: maxima that an arg-max beside them has already found (chapter §3.6).

#include "algsimp.h"

#include <math.h>

static bool is_compare(const HloInstruction *x, int64_t direction, const HloInstruction *a, const HloInstruction *b) {
    return x->op == HLO_OP_COMPARE && hlo_int(x, HLO_ATTR_DIRECTION) == direction && hlo_operand(x, 0) == a &&
           hlo_operand(x, 1) == b;
}

// The operand of an `or` beside `x`; NULL when there is none.
static HloInstruction *beside(const HloInstruction * or, const HloInstruction *x) {
    if (or->op != HLO_OP_OR) return NULL;
    if (hlo_operand(or, 0) == x) return hlo_operand(or, 1);
    return hlo_operand(or, 1) == x ? hlo_operand(or, 0) : NULL;
}

// wins = v0 beats v1, or is NaN
static bool is_win(const HloInstruction *wins, int64_t direction, const HloInstruction *v0, const HloInstruction *v1) {
    if (wins->op != HLO_OP_OR) return false;
    for (size_t k = 0; k < 2; k++) {
        if (is_compare(hlo_operand(wins, k), direction, v0, v1) &&
            is_compare(hlo_operand(wins, 1 - k), HLO_COMPARE_DIRECTION_NE, v0, v0))
            return true;
    }
    return false;
}

static bool is_select(const HloInstruction *x, const HloInstruction *a, const HloInstruction *b) {
    return x->op == HLO_OP_SELECT && hlo_operand(x, 1) == a && hlo_operand(x, 2) == b;
}

// Parameters v0, i0, v1, i1; the result is (wins ? v0 : v1, wins or (v0 = v1 and i0 < i1) ? i0 : i1).
static bool is_arg_reducer(const HloComputation *reducer, int64_t direction) {
    const HloInstruction *root = reducer->root;
    if (hlo_parameter_count(reducer) != 4 || root->op != HLO_OP_TUPLE || hlo_operand_count(root) != 2) return false;
    const HloInstruction *v0 = hlo_parameter(reducer, 0), *i0 = hlo_parameter(reducer, 1);
    const HloInstruction *v1 = hlo_parameter(reducer, 2), *i1 = hlo_parameter(reducer, 3);
    const HloInstruction *value = hlo_operand(root, 0), *index = hlo_operand(root, 1);
    if (!is_select(value, v0, v1) || !is_select(index, i0, i1)) return false;
    const HloInstruction *wins = hlo_operand(value, 0);
    if (!is_win(wins, direction, v0, v1)) return false;
    const HloInstruction *tie = beside(hlo_operand(index, 0), wins);
    return tie && tie->op == HLO_OP_AND && is_compare(hlo_operand(tie, 0), HLO_COMPARE_DIRECTION_EQ, v0, v1) &&
           is_compare(hlo_operand(tie, 1), HLO_COMPARE_DIRECTION_LT, i0, i1);
}

static bool is_arg_reduce(const HloInstruction *x, HloOpcode op) {
    if (x->op != HLO_OP_REDUCE || hlo_operand_count(x) != 4 || hlo_operand(x, 1)->op != HLO_OP_IOTA) return false;
    if (!hlo_alg_is_scalar_value(hlo_operand(x, 2), op == HLO_OP_MAXIMUM ? -INFINITY : INFINITY)) return false;
    if (!hlo_alg_is_scalar_value(hlo_operand(x, 3), 0)) return false;
    int64_t direction = op == HLO_OP_MAXIMUM ? HLO_COMPARE_DIRECTION_GT : HLO_COMPARE_DIRECTION_LT;
    return is_arg_reducer(hlo_called(x, 0), direction);
}

// More users are not searched, which keeps a sweep linear.
enum { MAX_USERS = 64 };

static HloInstruction *arg_reduce_beside(const HloInstruction *inst, HloOpcode op) {
    const HloInstruction *x = hlo_operand(inst, 0);
    for (size_t k = 0; k < hlo_user_count(x) && k < MAX_USERS; k++) {
        HloInstruction *user = hlo_user(x, k);
        if (!is_arg_reduce(user, op) || hlo_operand(user, 0) != x || hlo_has_control_edges(user)) continue;
        if (hlo_dims_equal(hlo_dims(user, HLO_ATTR_DIMENSIONS), hlo_dims(inst, HLO_ATTR_DIMENSIONS))) return user;
    }
    return NULL;
}

// max(x) beside argmax(x) -> element 0 of the latter; likewise for min.
HloInstruction *hlo_alg_reduce_argmax(HloAlg *alg, HloInstruction *inst) {
    static const HloOpcode ops[] = {HLO_OP_MAXIMUM, HLO_OP_MINIMUM};
    if (hlo_has_control_edges(inst)) return NULL;
    for (size_t i = 0; i < HLO_COUNT(ops); i++) {
        double worst = ops[i] == HLO_OP_MAXIMUM ? -INFINITY : INFINITY;
        if (!hlo_alg_is_reducer(hlo_called(inst, 0), ops[i]) || !hlo_alg_is_scalar_value(hlo_operand(inst, 1), worst))
            continue;
        HloInstruction *arg = arg_reduce_beside(inst, ops[i]);
        if (arg && arg->shape->elements[0]->type == inst->shape->type) return hlo_build_gte(alg->rw, arg, 0);
    }
    return NULL;
}
