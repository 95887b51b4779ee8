// The machine: runs a computation instruction by instruction and frees every value after its last use.
//
// A plan says once, for each computation, which instructions run (those the root needs, and side effects) and where
// values die. A value that dies in an instruction belongs to that instruction alone, so that its rule may write
// into it: a loop that updates a large array in each turn does not copy it. For the same reason the last
// get-tuple-element of an element takes it out of its tuple.
//
// Calls nest on the C stack, at most HLO_EVAL_DEPTH deep.

#include <stdlib.h>

#include "lib/eval/eval.h"

enum { HLO_EVAL_DEPTH = 1000 };

typedef struct PlanStep {
    const HloInstruction *inst;
    HloRule rule;
    uint32_t *args;              // steps that compute the operands
    bool *last;                  // operand k is not used afterwards
    bool takes;                  // a get-tuple-element after which nobody looks at this element of the tuple
    bool is_mixed;               // hlo_region_is_mixed
    const HloShape **converted;  // hlo_mixed_operands
} PlanStep;

struct HloPlan {
    PlanStep *steps;
    size_t step_count;
    size_t widest;  // most operands of a step
    bool lanes_known;
    HloLanes *lanes;
};

// ---- plans ----------------------------------------------------------------------------------------------

// Instructions that the root or a side effect needs.
static HloBits find_needed(const HloComputation *comp, HloInstList order, HloArena *scratch) {
    HloBits needed = hlo_bits_new(scratch, comp->id_limit);
    hlo_bits_add(needed, comp->root->id);
    for (size_t i = order.count; i-- > 0;) {
        const HloInstruction *inst = order.items[i];
        if (!hlo_bits_has(needed, inst->id) && hlo_has_side_effect(inst)) hlo_bits_add(needed, inst->id);
        if (!hlo_bits_has(needed, inst->id)) continue;
        for (size_t k = 0; k < hlo_operand_count(inst); k++) hlo_bits_add(needed, hlo_operand(inst, k)->id);
    }
    return needed;
}

static void plan_step(HloMachine *vm, const HloInstruction *inst, const uint32_t *step_of, PlanStep *step) {
    size_t count = hlo_operand_count(inst);
    *step = (PlanStep){.inst = inst,
                       .rule = hlo_eval_rule(inst->op),
                       .args = HLO_NEW_ARRAY(&vm->arena, uint32_t, count),
                       .last = HLO_NEW_ARRAY(&vm->arena, bool, count),
                       .is_mixed = hlo_region_is_mixed(inst),
                       .converted = hlo_mixed_operands(inst, &vm->arena)};
    for (size_t k = 0; k < count; k++) step->args[k] = step_of[hlo_operand(inst, k)->id];
}

// Backwards: the first use met is the last one.
static void mark_last_uses(HloPlan *plan, uint32_t root, HloArena *scratch) {
    HloBits used = hlo_bits_new(scratch, plan->step_count);
    hlo_bits_add(used, root);
    for (size_t s = plan->step_count; s-- > 0;) {
        PlanStep *step = plan->steps + s;
        for (size_t k = hlo_operand_count(step->inst); k-- > 0;) step->last[k] = hlo_bits_claim(used, step->args[k]);
    }
}

static bool is_only_taken_apart(const HloInstruction *tuple) {
    for (size_t k = 0; k < hlo_user_count(tuple); k++) {
        if (hlo_user(tuple, k)->op != HLO_OP_GET_TUPLE_ELEMENT) return false;
    }
    return !hlo_is_root(tuple);
}

// Backwards again, over the elements of tuples that have no other users.
static void mark_takers(HloPlan *plan, const HloComputation *comp, HloArena *scratch) {
    HloBits asked = hlo_bits_new(scratch, comp->id_limit), apart = hlo_bits_new(scratch, comp->id_limit);
    HloMap taken = {0};
    for (size_t s = plan->step_count; s-- > 0;) {
        PlanStep *step = plan->steps + s;
        if (step->inst->op != HLO_OP_GET_TUPLE_ELEMENT) continue;
        const HloInstruction *tuple = hlo_operand(step->inst, 0);
        if (hlo_bits_claim(asked, tuple->id) && is_only_taken_apart(tuple)) hlo_bits_add(apart, tuple->id);
        if (!hlo_bits_has(apart, tuple->id)) continue;
        uint64_t element = (uint64_t)tuple->id << 32 | (uint64_t)hlo_int(step->inst, HLO_ATTR_INDEX);
        void **seen = hlo_map_at(scratch, &taken, (const void *)(uintptr_t)(element + 1));
        step->takes = !*seen;
        *seen = step;
    }
}

static HloPlan *make_plan(HloMachine *vm, const HloComputation *comp) {
    HloArena scratch = {.trap = vm->arena.trap};
    HloInstList order = hlo_post_order(comp, &scratch);
    HloBits needed = find_needed(comp, order, &scratch);
    uint32_t *step_of = HLO_NEW_ARRAY(&scratch, uint32_t, comp->id_limit);
    HloPlan *plan = HLO_NEW(&vm->arena, HloPlan);
    plan->steps = HLO_NEW_ARRAY(&vm->arena, PlanStep, order.count);
    for (size_t i = 0; i < order.count; i++) {
        const HloInstruction *inst = order.items[i];
        if (!hlo_bits_has(needed, inst->id)) continue;
        if (hlo_operand_count(inst) > plan->widest) plan->widest = hlo_operand_count(inst);
        step_of[inst->id] = (uint32_t)plan->step_count;
        plan_step(vm, inst, step_of, plan->steps + plan->step_count++);
    }
    mark_last_uses(plan, step_of[comp->root->id], &scratch);
    mark_takers(plan, comp, &scratch);
    hlo_arena_free(&scratch);
    return plan;
}

static HloPlan *find_plan(HloMachine *vm, const HloComputation *comp) {
    void **entry = hlo_map_at(&vm->arena, &vm->plans, comp);
    if (!*entry) *entry = make_plan(vm, comp);
    return *entry;
}

HloStatus hlo_machine_lanes(HloMachine *vm, const HloComputation *comp, HloLanes **out) {
    HloPlan *plan = find_plan(vm, comp);
    if (!plan->lanes_known) HLO_TRY(hlo_lanes_compile(comp, &vm->arena, &plan->lanes));
    plan->lanes_known = true;
    *out = plan->lanes;
    return hlo_ok();
}

// ---- running --------------------------------------------------------------------------------------------

typedef struct Frame {
    const HloPlan *plan;
    HloDatum **values;  // by step
    HloDatum **args;    // of the step at hand
    HloDatum **parameters;
} Frame;

static HloStatus count_step(HloMachine *vm) {
    uint64_t limit = vm->options->limits.steps;
    if (limit && vm->steps >= limit) {
        return hlo_error(HLO_RESOURCE_EXHAUSTED, "the limit of %llu steps is reached", (unsigned long long)limit);
    }
    vm->steps++;
    return hlo_ok();
}

static HloStatus check_rank(const HloShape *shape) {
    if (shape->rank <= HLO_EVAL_RANK || !hlo_shape_is_array(shape)) return hlo_ok();
    return hlo_error(HLO_UNIMPLEMENTED, "arrays of more than %d dimensions cannot be interpreted", HLO_EVAL_RANK);
}

static HloStatus tell_watcher(HloMachine *vm, const HloInstruction *inst, const HloDatum *value) {
    const HloEvalWatcher *watcher = vm->options->watcher;
    if (!watcher) return hlo_ok();
    HloArena arena = {.trap = vm->arena.trap};
    HloLiteral *literal;
    HloStatus status = hlo_datum_to_literal(value, &arena, &literal);
    if (hlo_is_ok(status)) status = watcher->computed(watcher->data, inst, literal);
    hlo_arena_free(&arena);
    return status;
}

// The operands of a step: their frame's reference where they die here, one more elsewhere.
static void take_args(Frame *frame, const PlanStep *step) {
    for (size_t k = 0; k < hlo_operand_count(step->inst); k++) {
        HloDatum **value = frame->values + step->args[k];
        frame->args[k] = step->last[k] ? *value : hlo_datum_keep(*value);
        if (step->last[k]) *value = NULL;
    }
}

static HloDatum *take_parameter(Frame *frame, int64_t number) {
    HloDatum *value = frame->parameters[number];
    frame->parameters[number] = NULL;
    return value;
}

static HloDatum *get_tuple_element(const Frame *frame, const PlanStep *step) {
    HloDatum *tuple = frame->args[0], **element = tuple->elements + hlo_int(step->inst, HLO_ATTR_INDEX);
    uint32_t own_refs = step->last[0] ? 1 : 2;  // the frame's, and that of args
    if (!step->takes || tuple->refs > own_refs) return hlo_datum_keep(*element);
    HloDatum *value = *element;
    *element = NULL;
    return value;
}

// A rule that passes a value on leaves it the sizes that it has.
static HloStatus compute_sized(HloMachine *vm, Frame *frame, const PlanStep *step, HloDatum **out) {
    int64_t sizes[HLO_EVAL_RANK];
    bool sized = hlo_shape_is_array(step->inst->shape) && hlo_result_sizes(step->inst, frame->args, sizes);
    HLO_TRY(step->rule(vm, step->inst, frame->args, out));
    return sized && !(*out)->sizes ? hlo_datum_set_sizes(*out, sizes) : hlo_ok();
}

static HloStatus refuse_mixed(const HloInstruction *inst) {
    return hlo_error(HLO_UNIMPLEMENTED,
                     "%s whose computation has another float type cannot be interpreted; "
                     "bf16-mixed-precision-removal may help",
                     hlo_op_name(inst->op));
}

static HloStatus convert_args(HloMachine *vm, Frame *frame, const PlanStep *step) {
    for (size_t k = 0; step->converted && k < hlo_operand_count(step->inst); k++) {
        if (step->converted[k]) HLO_TRY(hlo_datum_convert(vm, &frame->args[k], step->converted[k]));
    }
    return hlo_ok();
}

static HloStatus compute(HloMachine *vm, Frame *frame, const PlanStep *step, HloDatum **out) {
    const HloInstruction *inst = step->inst;
    if (inst->op == HLO_OP_PARAMETER) {
        *out = take_parameter(frame, hlo_parameter_number(inst));
        return hlo_ok();
    }
    if (inst->op == HLO_OP_GET_TUPLE_ELEMENT) {
        *out = get_tuple_element(frame, step);
        return hlo_ok();
    }
    if (!step->rule) return hlo_error(HLO_UNIMPLEMENTED, "%s cannot be interpreted", hlo_op_name(inst->op));
    if (step->is_mixed) return refuse_mixed(inst);
    HLO_TRY(count_step(vm));
    HLO_TRY(check_rank(inst->shape));
    HLO_TRY(convert_args(vm, frame, step));
    return hlo_shape_is_dynamic(inst->shape) ? compute_sized(vm, frame, step, out)
                                             : step->rule(vm, inst, frame->args, out);
}

static HloStatus run_step(HloMachine *vm, Frame *frame, const PlanStep *step, HloDatum **out) {
    take_args(frame, step);
    HloStatus status = compute(vm, frame, step, out);
    for (size_t k = 0; k < hlo_operand_count(step->inst); k++) hlo_datum_drop(vm, frame->args[k]);
    if (hlo_is_ok(status)) status = tell_watcher(vm, step->inst, *out);
    if (!hlo_is_ok(status) && !vm->failed) vm->failed = step->inst;
    return status;
}

static HloStatus run_frame(HloMachine *vm, Frame *frame, const HloInstruction *root, HloDatum **out) {
    HloStatus status = hlo_ok();
    for (size_t s = 0; s < frame->plan->step_count && hlo_is_ok(status); s++) {
        const PlanStep *step = frame->plan->steps + s;
        status = run_step(vm, frame, step, frame->values + s);
        if (step->inst == root && hlo_is_ok(status)) *out = hlo_datum_keep(frame->values[s]);
    }
    for (size_t s = 0; s < frame->plan->step_count; s++) hlo_datum_drop(vm, frame->values[s]);
    return status;
}

HloStatus hlo_machine_run(HloMachine *vm, const HloComputation *comp, HloDatum **args, size_t count, HloDatum **out) {
    HloPlan *plan = find_plan(vm, comp);
    *out = NULL;
    if (vm->depth >= HLO_EVAL_DEPTH) {
        return hlo_error(HLO_RESOURCE_EXHAUSTED, "calls nest deeper than %d", HLO_EVAL_DEPTH);
    }
    HloDatum **slots = calloc(plan->step_count + plan->widest + 1, sizeof *slots);
    if (!slots) return hlo_out_of_memory();
    vm->depth++;
    Frame frame = {plan, slots, slots + plan->step_count, args};
    HloStatus status = run_frame(vm, &frame, comp->root, out);
    vm->depth--;
    free(slots);
    if (!hlo_is_ok(status)) hlo_datum_drop(vm, *out);
    for (size_t k = 0; k < count; k++) {
        hlo_datum_drop(vm, args[k]);
        args[k] = NULL;
    }
    return status;
}
