// Custom calls: those of the caller, and those that are known.
//
//   custom_call_target="TopK"   →   as the opcode topk
//
// Source: the interpreter chapter, §9.

#include <string.h>

#include "lib/eval/eval.h"
#include "lib/eval/linalg.h"

// ---- those of the caller --------------------------------------------------------------------------------

typedef struct Handover {
    const HloCustomCall *call;
    HloMachine *vm;
    const HloInstruction *inst;
    HloDatum **args, **out;
    HloArena arena;
} Handover;

// Values go over as literals, which is the form of the public interface.
static HloStatus hand_over(void *data) {
    Handover *h = data;
    size_t count = hlo_operand_count(h->inst);
    HloLiteral **args = HLO_NEW_ARRAY(&h->arena, HloLiteral *, count), *result;
    for (size_t k = 0; k < count; k++) HLO_TRY(hlo_datum_to_literal(h->args[k], &h->arena, args + k));
    HLO_TRY(hlo_literal_new(&h->arena, h->inst->shape, &result));
    HLO_TRY(h->call->compute(h->call->data, h->inst, (const HloLiteral *const *)args, result));
    return hlo_datum_from_literal(h->vm, result, h->inst->shape, h->out);
}

static const HloCustomCall *find_given(const HloEvalOptions *options, const char *target) {
    for (size_t k = 0; k < options->custom_call_count; k++) {
        if (strcmp(options->custom_calls[k].target, target) == 0) return options->custom_calls + k;
    }
    return NULL;
}

static HloStatus run_given(HloMachine *vm, const HloCustomCall *call, const HloInstruction *inst, HloDatum **args,
                           HloDatum **out) {
    Handover handover = {call, vm, inst, args, out, {0}};
    HloStatus status = hlo_guarded((HloArena *const[]){&handover.arena, NULL}, hand_over, &handover);
    hlo_arena_free(&handover.arena);
    return status;
}

// ---- those that are known -------------------------------------------------------------------------------

HLO_RULE(hlo_rule_custom_call) {
    HloLapack routine;
    const char *target = hlo_text(inst, HLO_ATTR_CUSTOM_CALL_TARGET);
    const HloCustomCall *given = find_given(vm->options, target);
    if (given) return run_given(vm, given, inst, args, out);
    if (hlo_frontend_attribute(inst, "xla.sdy.manual_axes")) {
        if (strcmp(target, "xla.sdy.GlobalToLocalShape") == 0) return hlo_rule_global_to_local(vm, inst, args, out);
        if (strcmp(target, "xla.sdy.LocalToGlobalShape") == 0) return hlo_rule_local_to_global(vm, inst, args, out);
    }
    if (hlo_is_sharding_annotation(inst)) return hlo_rule_first_operand(vm, inst, args, out);
    if (strcmp(target, "TopK") == 0 && hlo_shape_is_tuple(inst->shape)) return hlo_rule_topk(vm, inst, args, out);
    if (!hlo_find_routine(inst, &routine)) {
        return hlo_error(HLO_UNIMPLEMENTED, "custom call target \"%s\" is not known", target);
    }
    HLO_TRY(hlo_datum_new_like(vm, inst->shape, out));
    return hlo_run_routine(vm, &routine, args, out);
}
