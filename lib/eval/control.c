// Leaves, tuples, calls and loops, and elementwise operations on whole arrays.
//
// Source: the interpreter chapter, §4.

#include "lib/eval/eval.h"

// ---- elementwise ----------------------------------------------------------------------------------------

// The result may take the place of an operand that dies here and has elements of its size.
static HloStatus result_or_operand(HloMachine *vm, const HloElementwise *op, HloDatum **args, HloDatum **out) {
    for (size_t k = 0; k < op->arity; k++) {
        bool fits = args[k]->refs == 1 && args[k]->element_bytes == op->out_bytes;
        if (fits && args[k]->count == hlo_shape_elem_count(op->inst->shape)) {
            return hlo_datum_own(vm, args + k, op->inst->shape, out);
        }
    }
    return hlo_datum_new(vm, op->inst->shape, out);
}

HLO_RULE(hlo_rule_elementwise) {
    HloElementwise op;
    const void *in[3];
    HLO_TRY(hlo_elementwise_prepare(inst, &op));
    for (size_t k = 0; k < op.arity; k++) in[k] = args[k]->data;
    HLO_TRY(result_or_operand(vm, &op, args, out));
    hlo_elementwise_apply(&op, (*out)->count, in, (*out)->data);
    return hlo_ok();
}

// A scalar stands for an array of itself (the bounds of a clamp).
static HloStatus spread_scalars(HloMachine *vm, const HloInstruction *inst, HloDatum **args) {
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        HloDatum *scalar = args[k];
        if (scalar->shape->rank || !inst->shape->rank) continue;
        HloDatum *whole;
        HLO_TRY(hlo_datum_new(vm, inst->shape, &whole));
        whole->element_bytes = scalar->element_bytes;
        hlo_fill(whole->data, whole->count, scalar->data, scalar->element_bytes);
        hlo_datum_drop(vm, scalar);
        args[k] = whole;
    }
    return hlo_ok();
}

HLO_RULE(hlo_rule_clamp) {
    HLO_TRY(spread_scalars(vm, inst, args));
    return hlo_rule_elementwise(vm, inst, args, out);
}

// A scalar predicate chooses a whole value, which may be a tuple.
HLO_RULE(hlo_rule_select) {
    if (args[0]->shape->rank) return hlo_rule_elementwise(vm, inst, args, out);
    size_t chosen = args[0]->data[0] ? 1 : 2;
    *out = args[chosen];
    args[chosen] = NULL;
    return (*out)->shape->type == inst->shape->type ? hlo_ok() : hlo_datum_convert(vm, out, inst->shape);
}

// ---- leaves and tuples ----------------------------------------------------------------------------------

// Constants are read once and stay for the life of the machine.
HLO_RULE(hlo_rule_constant) {
    (void)args;
    HloDatum **kept = (HloDatum **)hlo_map_at(&vm->arena, &vm->constants, inst);
    if (!*kept) HLO_TRY(hlo_datum_from_literal(vm, hlo_constant(inst), inst->shape, kept));
    *out = hlo_datum_keep(*kept);
    return hlo_ok();
}

HLO_RULE(hlo_rule_tuple) {
    HLO_TRY(hlo_datum_new_tuple(vm, inst->shape, args, out));
    for (size_t k = 0; k < hlo_operand_count(inst); k++) args[k] = NULL;
    return hlo_ok();
}

HLO_RULE(hlo_rule_first_operand) {
    (void)vm;
    (void)inst;
    *out = args[0];
    args[0] = NULL;
    return hlo_ok();
}

HLO_RULE(hlo_rule_after_all) {
    (void)args;
    return hlo_datum_new(vm, inst->shape, out);
}

// ---- calls ----------------------------------------------------------------------------------------------

HLO_RULE(hlo_rule_call) {
    return hlo_machine_run(vm, hlo_called(inst, 0), args, hlo_operand_count(inst), out);
}

// A predicate chooses the first branch when true; an index outside the branches chooses the last one.
static size_t chosen_branch(const HloInstruction *inst, const HloDatum *index) {
    if (index->shape->type == HLO_PRED) return index->data[0] ? 0 : 1;
    int64_t at = hlo_datum_int(index, 0);
    return at < 0 || (uint64_t)at >= inst->called.count ? inst->called.count - 1 : (size_t)at;
}

HLO_RULE(hlo_rule_conditional) {
    size_t branch = chosen_branch(inst, args[0]);
    return hlo_machine_run(vm, hlo_called(inst, branch), args + 1 + branch, 1, out);
}

static HloStatus holds(HloMachine *vm, const HloComputation *condition, HloDatum *state, bool *out) {
    HloDatum *arg = hlo_datum_keep(state), *verdict;
    HLO_TRY(hlo_machine_run(vm, condition, &arg, 1, &verdict));
    *out = verdict->data[0];
    hlo_datum_drop(vm, verdict);
    return hlo_ok();
}

HLO_RULE(hlo_rule_while) {
    uint64_t limit = vm->options->limits.loop_trips;
    HloDatum *state = args[0];
    args[0] = NULL;
    HloStatus status = hlo_ok();
    for (uint64_t trip = 0; hlo_is_ok(status); trip++) {
        bool goes_on = false;
        status = holds(vm, hlo_called(inst, 1), state, &goes_on);
        if (!hlo_is_ok(status) || !goes_on) break;
        if (trip >= vm->most_trips) vm->most_trips = trip + 1;
        if (limit && trip >= limit) {
            status =
                hlo_error(HLO_RESOURCE_EXHAUSTED, "the loop is not over after %llu trips", (unsigned long long)limit);
            break;
        }
        HloDatum *before = state;
        status = hlo_machine_run(vm, hlo_called(inst, 0), &before, 1, &state);
        if (!hlo_is_ok(status)) state = NULL;
    }
    if (hlo_is_ok(status))
        *out = state;
    else
        hlo_datum_drop(vm, state);
    return status;
}
