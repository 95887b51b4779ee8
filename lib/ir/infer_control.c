// Shape inference of tuples, calls and control flow (verifier chapter §5.3 and §5.8).

#include "infer_rules.h"

HloStatus hlo_infer_operand0(const HloInfer *cx, const HloShape **out) {
    if (!hlo_operand_count(cx->inst)) return hlo_infer_fail(cx, "expected at least one operand, found none");
    *out = hlo_operand_shape(cx, 0);
    return hlo_ok();
}

HloStatus hlo_infer_u32(const HloInfer *cx, const HloShape **out) {
    *out = hlo_shape_scalar(cx->shapes, HLO_U32);
    return hlo_ok();
}

HloStatus hlo_infer_token(const HloInfer *cx, const HloShape **out) {
    *out = hlo_shape_token(cx->shapes);
    return hlo_ok();
}

// ---- tuples ---------------------------------------------------------------------------------------------

HloStatus hlo_infer_tuple(const HloInfer *cx, const HloShape **out) {
    size_t count = hlo_operand_count(cx->inst);
    if (count != 1) return hlo_infer_operands_tuple(cx, 0, count, out);
    const HloShape *only = hlo_operand_shape(cx, 0);
    return hlo_infer_make_tuple(cx, &only, 1, out);
}

HloStatus hlo_infer_get_tuple_element(const HloInfer *cx, const HloShape **out) {
    const HloShape *tuple = hlo_operand_shape(cx, 0);
    int64_t index = hlo_int(cx->inst, HLO_ATTR_INDEX);
    if (!hlo_shape_is_tuple(tuple)) return hlo_infer_fail(cx, "expected a tuple, found %s", hlo_infer_text(cx, tuple));
    if (index < 0 || (uint64_t)index >= tuple->rank) {
        return hlo_infer_fail(cx, "expected an index in [0, %zu) into %s, found %lld", tuple->rank,
                              hlo_infer_text(cx, tuple), (long long)index);
    }
    *out = tuple->elements[index];
    return hlo_ok();
}

// ---- control flow ---------------------------------------------------------------------------------------

static HloStatus check_one_parameter(const HloInfer *cx, const char *role, const HloComputation *comp) {
    if (hlo_parameter_count(comp) == 1) return hlo_ok();
    return hlo_infer_fail(cx, "expected 1 parameter of %s %s, found %zu", role, comp->name, hlo_parameter_count(comp));
}

HloStatus hlo_infer_while(const HloInfer *cx, const HloShape **out) {
    const HloComputation *body, *condition;
    HLO_TRY(hlo_infer_callee(cx, 0, &body));
    HLO_TRY(hlo_infer_callee(cx, 1, &condition));
    HLO_TRY(check_one_parameter(cx, "condition", condition));
    HLO_TRY(check_one_parameter(cx, "body", body));
    const HloShape *init = hlo_operand_shape(cx, 0), *test = condition->root->shape;
    if (test->type != HLO_PRED || test->rank) {
        return hlo_infer_fail(cx, "the condition must return pred[], returns %s", hlo_infer_text(cx, test));
    }
    const HloShape *others[] = {body->root->shape, hlo_parameter(body, 0)->shape, hlo_parameter(condition, 0)->shape};
    for (size_t i = 0; i < HLO_COUNT(others); i++) {
        if (hlo_shape_compatible(others[i], init)) continue;
        return hlo_infer_fail(cx, "operand, parameters and result of the body must have one shape, found %s and %s",
                              hlo_infer_text(cx, init), hlo_infer_text(cx, others[i]));
    }
    *out = init;
    return hlo_ok();
}

static HloStatus check_branch(const HloInfer *cx, size_t branch, const HloComputation *first) {
    const HloComputation *comp;
    HLO_TRY(hlo_infer_callee(cx, branch, &comp));
    HLO_TRY(check_one_parameter(cx, "branch", comp));
    const HloShape *wanted = hlo_parameter(comp, 0)->shape, *given = hlo_operand_shape(cx, branch + 1);
    if (!hlo_shape_compatible(wanted, given)) {
        return hlo_infer_fail(cx, "branch %zu takes %s, its operand is %s", branch, hlo_infer_text(cx, wanted),
                              hlo_infer_text(cx, given));
    }
    if (hlo_shape_compatible(comp->root->shape, first->root->shape)) return hlo_ok();
    return hlo_infer_fail(cx, "branches 0 and %zu return different shapes: %s and %s", branch,
                          hlo_infer_text(cx, first->root->shape), hlo_infer_text(cx, comp->root->shape));
}

HloStatus hlo_infer_conditional(const HloInfer *cx, const HloShape **out) {
    const HloComputation *first;
    HLO_TRY(hlo_infer_callee(cx, 0, &first));
    size_t branches = cx->inst->called.count;
    if (hlo_operand_count(cx->inst) != branches + 1) {
        return hlo_infer_fail(cx, "expected a selector and %zu branch operands, found %zu operands", branches,
                              hlo_operand_count(cx->inst));
    }
    const HloShape *selector = hlo_operand_shape(cx, 0);
    if (!hlo_shape_is_scalar(selector) || (selector->type != HLO_PRED && selector->type != HLO_S32)) {
        return hlo_infer_fail(cx, "the selector must be pred[] or s32[], found %s", hlo_infer_text(cx, selector));
    }
    if (selector->type == HLO_PRED && branches != 2) {
        return hlo_infer_fail(cx, "a pred selector needs 2 branches, found %zu", branches);
    }
    for (size_t k = 0; k < branches; k++) HLO_TRY(check_branch(cx, k, first));
    *out = first->root->shape;
    return hlo_ok();
}

HloStatus hlo_infer_call(const HloInfer *cx, const HloShape **out) {
    const HloComputation *callee;
    HLO_TRY(hlo_infer_callee(cx, 0, &callee));
    if (hlo_parameter_count(callee) != hlo_operand_count(cx->inst)) {
        return hlo_infer_fail(cx, "%s takes %zu arguments, found %zu", callee->name, hlo_parameter_count(callee),
                              hlo_operand_count(cx->inst));
    }
    for (size_t k = 0; k < hlo_operand_count(cx->inst); k++) {
        const HloShape *wanted = hlo_parameter(callee, k)->shape, *given = hlo_operand_shape(cx, k);
        if (hlo_shape_compatible(wanted, given)) continue;
        return hlo_infer_fail(cx, "parameter %zu of %s is %s, the argument is %s", k, callee->name,
                              hlo_infer_text(cx, wanted), hlo_infer_text(cx, given));
    }
    *out = callee->root->shape;
    return hlo_ok();
}

HloStatus hlo_infer_fusion(const HloInfer *cx, const HloShape **out) {
    const HloComputation *callee;
    HLO_TRY(hlo_infer_callee(cx, 0, &callee));
    *out = callee->root->shape;
    return hlo_ok();
}
