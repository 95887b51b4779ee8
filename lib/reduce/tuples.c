// Cuts of tuples and parameters.
//
//   ROOT %t = tuple(%a, %b, %c)              drop-result:      tuple(%a, %c)
//   get-tuple-element(tuple(%a, %b)), index=1  forward-element:  %b
//   %t = tuple(%a, %b), used as %t#0 only    drop-element:     tuple(%a)
//   %w = while(tuple(%i, %a)), %a unused     drop-state:       while(tuple(%i))
//   %p = parameter(1), unused                drop-parameter:   gone, with the argument of every call

#include "lib/reduce/reduce.h"

void hlo_reduce_drop_parameter(HloInstruction *parameter) {
    HloComputation *comp = parameter->comp;
    size_t number = (size_t)hlo_parameter_number(parameter), count = hlo_parameter_count(comp);
    HloInstruction **items = (HloInstruction **)comp->parameters.items;
    hlo_computation_remove(comp, parameter);
    for (size_t k = number + 1; k < count; k++) {
        hlo_set_int(comp->m, items[k], HLO_ATTR_PARAMETER_NUMBER, (int64_t)k - 1);
        items[k - 1] = items[k];
    }
    comp->parameters.count = (uint32_t)(count - 1);
}

void hlo_reduce_fix_tuple(HloRewriter *rw, HloInstruction *tuple) {
    size_t count = hlo_operand_count(tuple);
    const HloShape **elements = HLO_NEW_ARRAY(rw->scratch, const HloShape *, count);
    for (size_t k = 0; k < count; k++) elements[k] = hlo_operand(tuple, k)->shape;
    tuple->shape = hlo_shape_tuple(&rw->m->shapes, elements, count);
}

static bool is_tuple(const HloInstruction *inst) {
    return inst->op == HLO_OP_TUPLE;
}

static size_t result_elements(const HloInstruction *inst) {
    bool is_result = is_tuple(inst) && inst == inst->comp->m->entry->root && hlo_user_count(inst) == 0;
    return is_result && hlo_operand_count(inst) > 1 ? hlo_operand_count(inst) : 0;
}

static void drop_result(HloRewriter *rw, HloInstruction *inst, size_t way) {
    (void)rw;
    if (hlo_operand_count(inst) > 1) hlo_remove_operand(inst, way);
}

// ---- elements -------------------------------------------------------------------------------------------

static size_t is_element_of_tuple(const HloInstruction *inst) {
    return inst->op == HLO_OP_GET_TUPLE_ELEMENT && hlo_operand(inst, 0)->op == HLO_OP_TUPLE;
}

static void forward_element(HloRewriter *rw, HloInstruction *inst, size_t way) {
    (void)rw, (void)way;
    const HloInstruction *tuple = hlo_operand(inst, 0);
    if (tuple->op == HLO_OP_TUPLE)
        hlo_replace_all_uses(inst, hlo_operand(tuple, (size_t)hlo_int(inst, HLO_ATTR_INDEX)));
}

// Whether all uses of a tuple take single elements, and none takes number k.
static bool is_element_unused(const HloInstruction *tuple, size_t k) {
    for (size_t i = 0; i < hlo_user_count(tuple); i++) {
        const HloInstruction *user = hlo_user(tuple, i);
        if (user->op != HLO_OP_GET_TUPLE_ELEMENT || (size_t)hlo_int(user, HLO_ATTR_INDEX) == k) return false;
    }
    return !hlo_is_root(tuple);
}

static void renumber_elements(HloInstruction *tuple, size_t k) {
    for (size_t i = 0; i < hlo_user_count(tuple); i++) {
        HloInstruction *user = hlo_user(tuple, i);
        int64_t index = hlo_int(user, HLO_ATTR_INDEX);
        if ((size_t)index > k) hlo_set_int(user->comp->m, user, HLO_ATTR_INDEX, index - 1);
    }
}

static size_t tuple_elements(const HloInstruction *inst) {
    return is_tuple(inst) && !hlo_is_root(inst) && hlo_operand_count(inst) > 1 ? hlo_operand_count(inst) : 0;
}

static void drop_element(HloRewriter *rw, HloInstruction *inst, size_t way) {
    (void)rw;
    if (!is_element_unused(inst, way)) return;
    hlo_remove_operand(inst, way);
    renumber_elements(inst, way);
}

// ---- the state of loops ---------------------------------------------------------------------------------

typedef struct Loop {
    HloInstruction *start, *in_body, *next, *in_condition;  // the tuples of its state
} Loop;

static bool find_loop(const HloInstruction *inst, Loop *out) {
    if (inst->op != HLO_OP_WHILE || !is_tuple(hlo_operand(inst, 0))) return false;
    const HloComputation *body = hlo_called(inst, 0), *condition = hlo_called(inst, 1);
    *out = (Loop){hlo_operand(inst, 0), hlo_parameter(body, 0), body->root, hlo_parameter(condition, 0)};
    return is_tuple(out->next) && body->callers.count == 1 && condition->callers.count == 1;
}

static size_t loop_elements(const HloInstruction *inst) {
    Loop loop;
    return find_loop(inst, &loop) ? hlo_operand_count(loop.start) : 0;
}

// Inside the body only the next state of the element itself may use it.
static bool is_only_carried(const Loop *loop, size_t k) {
    const HloInstruction *next = hlo_operand(loop->next, k);
    for (size_t i = 0; i < hlo_user_count(loop->in_body); i++) {
        const HloInstruction *user = hlo_user(loop->in_body, i);
        if (user->op != HLO_OP_GET_TUPLE_ELEMENT) return false;
        if ((size_t)hlo_int(user, HLO_ATTR_INDEX) == k && (user != next || hlo_user_count(user) != 1)) return false;
    }
    return true;
}

// The result of the module may be any.
static bool may_lose_state(const HloInstruction *loop, size_t k) {
    bool is_result = loop == loop->comp->m->entry->root && hlo_user_count(loop) == 0;
    return is_result || is_element_unused(loop, k);
}

static void drop_state(HloRewriter *rw, HloInstruction *inst, size_t way) {
    Loop loop;
    if (!find_loop(inst, &loop) || hlo_user_count(loop.start) > 1 || !may_lose_state(inst, way) ||
        !is_element_unused(loop.in_condition, way))
        return;
    HloInstruction *next = hlo_operand(loop.next, way);
    if (!is_only_carried(&loop, way) && !is_element_unused(loop.in_body, way)) return;
    hlo_remove_operand(loop.next, way);
    if (hlo_is_dead(next) && next->op == HLO_OP_GET_TUPLE_ELEMENT) hlo_computation_remove(next->comp, next);
    hlo_remove_operand(loop.start, way);
    hlo_reduce_fix_tuple(rw, loop.next);
    hlo_reduce_fix_tuple(rw, loop.start);
    inst->shape = loop.start->shape;
    HloInstruction *const tuples[] = {inst, loop.in_body, loop.in_condition};
    for (size_t k = 0; k < HLO_COUNT(tuples); k++) {
        tuples[k]->shape = inst->shape;
        renumber_elements(tuples[k], way);
    }
}

// ---- parameters -----------------------------------------------------------------------------------------

// Every call gives the arguments as operands.
static bool is_called_plainly(const HloComputation *comp) {
    for (size_t k = 0; k < comp->callers.count; k++) {
        if (((const HloInstruction *)comp->callers.items[k])->op != HLO_OP_CALL) return false;
    }
    return comp->callers.count > 0;
}

static size_t is_unused_parameter(const HloInstruction *inst) {
    bool is_unused = inst->op == HLO_OP_PARAMETER && hlo_user_count(inst) == 0 && !hlo_is_root(inst);
    return is_unused && (is_entry(inst->comp) || hlo_fusion_caller(inst->comp) || is_called_plainly(inst->comp));
}

static void drop_parameter(HloRewriter *rw, HloInstruction *inst, size_t way) {
    (void)way;
    HloComputation *comp = inst->comp;
    size_t number = (size_t)hlo_parameter_number(inst);
    HloInstruction *fusion = hlo_fusion_caller(comp);
    if (fusion) {
        HloBits dead = hlo_bits_new(rw->scratch, hlo_parameter_count(comp));
        hlo_bits_add(dead, number);
        hlo_fusion_drop_operands(rw, fusion, dead);
        return;
    }
    for (size_t k = 0; k < comp->callers.count; k++) hlo_remove_operand(comp->callers.items[k], number);
    hlo_reduce_drop_parameter(inst);
}

CutTable hlo_cuts_of_tuples(void) {
    static const Cut cuts[] = {
        {"drop-result", "the resulting tuple loses an element", false, result_elements, drop_result},
        {"forward-element", "an element taken from a tuple becomes what was put there", false, is_element_of_tuple,
         forward_element},
        {"drop-element", "a tuple loses an element that nobody takes", false, tuple_elements, drop_element},
        {"drop-state", "a loop loses an element of its state that nothing depends on", false, loop_elements,
         drop_state},
        {"drop-parameter", "a parameter without users goes, and its arguments", false, is_unused_parameter,
         drop_parameter},
    };
    return (CutTable){cuts, HLO_COUNT(cuts)};
}
