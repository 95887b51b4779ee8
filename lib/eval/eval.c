// The interpreter's front: checks the arguments, runs the entry computation, and names what failed.

#include "lib/eval/eval.h"

typedef struct Evaluation {
    HloMachine vm;
    const HloLiteral *const *args;
    size_t count;
    HloArena *arena;
    HloLiteral **result;
} Evaluation;

static HloStatus check_arguments(const HloComputation *entry, const HloLiteral *const *args, size_t count) {
    size_t wanted = hlo_parameter_count(entry);
    if (count != wanted) {
        return hlo_error(HLO_INVALID_ARGUMENT, "Expected %zu argument%s, but got %zu.", wanted, wanted == 1 ? "" : "s",
                         count);
    }
    for (size_t k = 0; k < count; k++) {
        const HloShape *shape = hlo_parameter(entry, k)->shape;
        if (hlo_shape_equal(shape, args[k]->shape, HLO_IGNORE_LAYOUT | HLO_IGNORE_DYNAMIC)) continue;
        HloArena arena = {0};
        HloStatus status =
            hlo_error(HLO_INVALID_ARGUMENT, "Shape mismatch at parameter %zu. Computation expected %s, but arg was %s.",
                      k, hlo_shape_text(&arena, shape, true), hlo_shape_text(&arena, args[k]->shape, true));
        hlo_arena_free(&arena);
        return status;
    }
    return hlo_ok();
}

static HloStatus run_entry(Evaluation *e, HloDatum **values) {
    HloMachine *vm = &e->vm;
    HloDatum *result;
    for (size_t k = 0; k < e->count; k++) {
        HLO_TRY(hlo_datum_from_literal(vm, e->args[k], hlo_parameter(vm->m->entry, k)->shape, values + k));
    }
    HLO_TRY(hlo_machine_run(vm, vm->m->entry, values, e->count, &result));
    HloStatus status = hlo_datum_to_literal(result, e->arena, e->result);
    hlo_datum_drop(vm, result);
    return status;
}

static HloStatus evaluate(void *data) {
    Evaluation *e = data;
    HLO_TRY(check_arguments(e->vm.m->entry, e->args, e->count));
    HloDatum **values = HLO_NEW_ARRAY(&e->vm.arena, HloDatum *, e->count);
    HloStatus status = run_entry(e, values);
    for (size_t k = 0; k < e->count; k++) hlo_datum_drop(&e->vm, values[k]);
    return status;
}

static void free_machine(HloMachine *vm) {
    for (size_t i = 0; i < vm->constants.capacity; i++) {
        if (vm->constants.slots[i].hash) hlo_datum_drop(vm, vm->constants.slots[i].value);
    }
    hlo_arena_free(&vm->arena);
}

HloStatus hlo_eval(const HloModule *m, const HloEvalOptions *options, HloArena *arena, const HloLiteral *const *args,
                   size_t count, HloLiteral **result) {
    Evaluation e = {{.m = m, .options = options}, args, count, arena, result};
    HloStatus status = hlo_guarded((HloArena *const[]){&e.vm.arena, arena, NULL}, evaluate, &e);
    const HloInstruction *failed = e.vm.failed;
    if (failed) status = hlo_error_context(status, "evaluating %%%s in %%%s", failed->name, failed->comp->name);
    free_machine(&e.vm);
    return status;
}
