// Pairs of a -start and a -done: everything happens at the start, the done takes the result out.
//
//   async-start(x) = ((f32[2]), f32[4], u32[])   →   ((x), f(x), 0), of which async-done takes element 1

#include "lib/eval/eval.h"

enum { MOST_OPERANDS = 64, MOST_ELEMENTS = 16 };

// What stands behind the result: contexts, which mean nothing here.
static HloStatus new_context(HloMachine *vm, const HloShape *shape, HloDatum **out) {
    if (hlo_shape_is_tuple(shape)) return hlo_error(HLO_UNIMPLEMENTED, "a start with tuples behind its result");
    HLO_TRY(hlo_datum_new(vm, shape, out));
    memset((*out)->data, 0, (size_t)(*out)->count * (*out)->element_bytes);
    return hlo_ok();
}

// (operands, result, contexts…) of `shape`; takes over the references to operands and result.
static HloStatus wrap(HloMachine *vm, const HloShape *shape, HloDatum *operands, HloDatum *result, HloDatum **out) {
    HloDatum *elements[MOST_ELEMENTS] = {operands, result};
    size_t count = shape->rank;
    HloStatus status = hlo_ok();
    if (count < 2 || count > MOST_ELEMENTS) status = hlo_error(HLO_UNIMPLEMENTED, "a start with %zu results", count);
    for (size_t k = 2; k < count && hlo_is_ok(status); k++) {
        status = new_context(vm, shape->elements[k], elements + k);
    }
    if (hlo_is_ok(status)) return hlo_datum_new_tuple(vm, shape, elements, out);
    for (size_t k = 0; k < MOST_ELEMENTS; k++) hlo_datum_drop(vm, elements[k]);
    return status;
}

static HloStatus keep_operands(HloMachine *vm, const HloShape *shape, HloDatum *const *args, HloDatum **out) {
    if (!hlo_shape_is_tuple(shape)) {
        *out = hlo_datum_keep(args[0]);
        return hlo_ok();
    }
    HLO_TRY(hlo_datum_new_tuple(vm, shape, args, out));
    for (size_t k = 0; k < shape->rank; k++) hlo_datum_keep(args[k]);
    return hlo_ok();
}

HloStatus hlo_wrap_start(HloMachine *vm, const HloInstruction *inst, HloDatum **args, HloDatum **out) {
    HloDatum *operands = NULL, *result = *out;
    *out = NULL;
    HloStatus status = inst->shape->rank ? keep_operands(vm, inst->shape->elements[0], args, &operands) : hlo_ok();
    if (hlo_is_ok(status)) return wrap(vm, inst->shape, operands, result, out);
    hlo_datum_drop(vm, result);
    return status;
}

// ---- asynchronous computations --------------------------------------------------------------------------

// A computation runs where the last of its operands and its result are bound: at the start, or at an update.
static bool is_bound(const HloShape *shape, const HloComputation *comp) {
    return shape->elements[0]->rank == hlo_parameter_count(comp) &&
           hlo_shape_equal(shape->elements[1], comp->root->shape, HLO_IGNORE_LAYOUT);
}

// What the start or update `inst` gives once the operands in its shape are `operands`.
static HloStatus bind(HloMachine *vm, const HloInstruction *inst, const HloComputation *comp,
                      HloDatum *const *operands, HloDatum **out) {
    HloDatum *kept = NULL, *result = NULL, *inner[MOST_OPERANDS];
    size_t count = inst->shape->elements[0]->rank;
    HloStatus status;
    if (is_bound(inst->shape, comp)) {
        for (size_t k = 0; k < count; k++) inner[k] = hlo_datum_keep(operands[k]);
        status = hlo_machine_run(vm, comp, inner, count, &result);
    } else {
        status = hlo_datum_new_like(vm, inst->shape->elements[1], &result);
    }
    HLO_TRY(status);
    status = keep_operands(vm, inst->shape->elements[0], operands, &kept);
    if (hlo_is_ok(status)) return wrap(vm, inst->shape, kept, result, out);
    hlo_datum_drop(vm, result);
    return status;
}

static bool has_async_shape(const HloInstruction *inst) {
    const HloShape *shape = inst->shape;
    return hlo_shape_is_tuple(shape) && shape->rank >= 2 && hlo_shape_is_tuple(shape->elements[0]) &&
           shape->elements[0]->rank <= MOST_OPERANDS;
}

HLO_RULE(hlo_rule_async_start) {
    if (!has_async_shape(inst) || inst->shape->elements[0]->rank != hlo_operand_count(inst)) {
        return hlo_error(HLO_UNIMPLEMENTED, "an async-start of this form cannot be interpreted");
    }
    return bind(vm, inst, hlo_called(inst, 0), args, out);
}

// The start that a chain of updates begins with, or NULL.
static const HloInstruction *find_start(const HloInstruction *inst) {
    while (inst->op == HLO_OP_ASYNC_UPDATE) inst = hlo_operand(inst, 0);
    return inst->op == HLO_OP_ASYNC_START ? inst : NULL;
}

// Hands the state on, or binds more operands to it.
HLO_RULE(hlo_rule_async_update) {
    const HloInstruction *start = find_start(inst);
    HloDatum *state = args[0];
    if (inst->shape == hlo_operand(inst, 0)->shape) return hlo_rule_first_operand(vm, inst, args, out);
    size_t before = has_async_shape(inst) ? state->elements[0]->shape->rank : 0, more = hlo_operand_count(inst) - 1;
    if (!start || !has_async_shape(inst) || before + more != inst->shape->elements[0]->rank) {
        return hlo_error(HLO_UNIMPLEMENTED, "an async-update of this form cannot be interpreted");
    }
    HloDatum *operands[MOST_OPERANDS];
    for (size_t k = 0; k < before; k++) operands[k] = state->elements[0]->elements[k];
    for (size_t k = 0; k < more; k++) operands[before + k] = args[1 + k];
    return bind(vm, inst, hlo_called(start, 0), operands, out);
}

// The result, which is computed here when neither start nor updates have bound it.
HLO_RULE(hlo_rule_async_done) {
    HloDatum *state = args[0], *operands[MOST_OPERANDS];
    const HloInstruction *start = find_start(hlo_operand(inst, 0));
    if (hlo_shape_equal(state->elements[1]->shape, inst->shape, HLO_IGNORE_LAYOUT | HLO_IGNORE_DYNAMIC)) {
        *out = hlo_datum_keep(state->elements[1]);
        return hlo_ok();
    }
    size_t count = state->elements[0]->elements ? state->elements[0]->shape->rank : MOST_OPERANDS + 1;
    if (!start || count > MOST_OPERANDS || count != hlo_parameter_count(hlo_called(start, 0))) {
        return hlo_error(HLO_UNIMPLEMENTED, "an async-done whose operands are not bound cannot be interpreted");
    }
    for (size_t k = 0; k < count; k++) operands[k] = hlo_datum_keep(state->elements[0]->elements[k]);
    return hlo_machine_run(vm, hlo_called(start, 0), operands, count, out);
}

// (destination, source, context)
HLO_RULE(hlo_rule_copy_start) {
    HloDatum *elements[3] = {hlo_datum_keep(args[0]), hlo_datum_keep(args[0]), NULL};
    HloStatus status = new_context(vm, inst->shape->elements[2], elements + 2);
    if (hlo_is_ok(status)) status = hlo_datum_new_tuple(vm, inst->shape, elements, out);
    for (size_t k = 0; k < 3 && !hlo_is_ok(status); k++) hlo_datum_drop(vm, elements[k]);
    return status;
}

HLO_RULE(hlo_rule_copy_done) {
    (void)vm;
    (void)inst;
    *out = hlo_datum_keep(args[0]->elements[0]);
    return hlo_ok();
}
