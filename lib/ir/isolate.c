// Cuts an instruction out of its module, so that it can be run alone.
//
//   … y = f32[4] tanh(x) …   →   ENTRY { p = f32[4] parameter(0)  ROOT y = f32[4] tanh(p) }

#include "hlo/isolate.h"

// ---- one instruction ------------------------------------------------------------------------------------

// The instruction of a clone that has the place of `inst`, which a clone keeps.
static HloInstruction *find_twin(HloModule *clone, const HloInstruction *inst) {
    HLO_EACH_COMP(comp, clone) {
        if (strcmp(comp->name, inst->comp->name) != 0) continue;
        HLO_EACH_INST(twin, comp) {
            if (strcmp(twin->name, inst->name) == 0) return twin;
        }
    }
    return NULL;
}

static HloInstruction *add_parameter(HloModule *m, HloComputation *comp, const HloShape *shape, size_t number) {
    HloInstruction *parameter = hlo_inst_new(m, HLO_OP_PARAMETER, shape, NULL, 0);
    hlo_set_int(m, parameter, HLO_ATTR_PARAMETER_NUMBER, (int64_t)number);
    return hlo_computation_add(comp, parameter, "p");
}

// The operand given again has one parameter too.
static HloComputation *wrap(HloModule *m, const HloInstruction *inst) {
    HloComputation *comp = hlo_module_add(m, hlo_computation_new(m, "isolated"));
    size_t count = hlo_operand_count(inst), next = 0;
    HloInstruction **operands = HLO_NEW_ARRAY(&m->arena, HloInstruction *, count);
    HloMap seen = {0};
    for (size_t k = 0; k < count; k++) {
        void **entry = hlo_map_at(&m->arena, &seen, hlo_operand(inst, k));
        if (!*entry) *entry = add_parameter(m, comp, hlo_operand(inst, k)->shape, next++);
        operands[k] = *entry;
    }
    HloInstruction *copy = hlo_inst_clone(m, inst, inst->shape, operands, count, NULL);
    hlo_computation_set_root(comp, hlo_computation_add(comp, copy, inst->name));
    return comp;
}

// Computations that nobody calls any more go, callers before what they call.
static void drop_unused(HloModule *m) {
    HloCompList order = hlo_module_post_order(m, &m->arena);
    for (size_t k = order.count; k-- > 0;) {
        HloComputation *comp = order.items[k];
        if (comp != m->entry && !comp->callers.count) hlo_module_remove(m, comp);
    }
}

typedef struct Task {
    HloModule *clone;
    const HloInstruction *inst;
} Task;

static HloStatus isolate(void *data) {
    Task *task = data;
    HloModule *m = task->clone;
    const HloInstruction *twin = find_twin(m, task->inst);
    if (!twin) return hlo_error(HLO_INTERNAL, "%%%s is not in the clone of its module", task->inst->name);
    m->entry = wrap(m, twin);
    hlo_module_reset_entry_layout(m);
    m->input_output_alias = m->buffer_donor = (HloAliases){0};
    hlo_module_drop_schedule(m);
    drop_unused(m);
    return hlo_ok();
}

HloModule *hlo_module_isolate(const HloModule *m, const HloInstruction *inst) {
    Task task = {hlo_module_clone(m), inst};
    if (!task.clone) return NULL;
    HloStatus status = hlo_guarded((HloArena *const[]){&task.clone->arena, NULL}, isolate, &task);
    if (hlo_is_ok(status)) return task.clone;
    hlo_status_free(status);
    hlo_module_free(task.clone);
    return NULL;
}

// ---- all of them ----------------------------------------------------------------------------------------

static bool runs_as_a_whole(const HloInstruction *caller) {
    return caller->op == HLO_OP_CALL || caller->op == HLO_OP_WHILE || caller->op == HLO_OP_CONDITIONAL;
}

static bool is_worth_it(const HloInstruction *inst) {
    switch ((int)inst->op) {
    case HLO_OP_CONSTANT:
    case HLO_OP_PARAMETER:
    case HLO_OP_TUPLE:
    case HLO_OP_GET_TUPLE_ELEMENT: return false;
    default: return true;
    }
}

HloVec hlo_isolated_instructions(const HloModule *m, HloArena *arena) {
    HloVec found = {0}, comps = {0};
    HloMap seen = {0};
    hlo_vec_push(arena, &comps, m->entry);
    *hlo_map_at(arena, &seen, m->entry) = m->entry;
    for (size_t c = 0; c < comps.count; c++) {
        HLO_EACH_INST(inst, (const HloComputation *)comps.items[c]) {
            if (is_worth_it(inst)) hlo_vec_push(arena, &found, inst);
            for (size_t k = 0; runs_as_a_whole(inst) && k < inst->called.count; k++) {
                void **entry = hlo_map_at(arena, &seen, hlo_called(inst, k));
                if (*entry) continue;
                *entry = hlo_called(inst, k);
                hlo_vec_push(arena, &comps, hlo_called(inst, k));
            }
        }
    }
    return found;
}
