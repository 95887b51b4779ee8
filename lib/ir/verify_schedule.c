// Verification of schedules (verifier chapter §7.7): each live computation has one, each instruction stands in it once
// and behind everything it needs. The walk of verify_structure.c comes here only with schedules that do not follow the
// list order.

#include "verify_rules.h"

static HloStatus check_before(const HloInstruction *inst, const HloVec *needed, HloBits done, const char *what) {
    for (size_t k = 0; k < needed->count; k++) {
        const HloInstruction *other = needed->items[k];
        if (hlo_bits_has(done, other->id)) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "schedule-order", "it is scheduled before its %s '%s'", what,
                               other->name);
    }
    return hlo_ok();
}

HloStatus hlo_verify_sequence(const HloVerify *v, const HloComputation *comp) {
    if (comp->sequence_count != comp->count) {
        return hlo_verify_fail_comp(comp, "schedule-complete", "%zu instructions, %zu scheduled", comp->count,
                                    comp->sequence_count);
    }
    HloBits done = hlo_bits_new(v->arena, comp->id_limit);
    for (size_t i = 0; i < comp->sequence_count; i++) {
        const HloInstruction *inst = comp->sequence[i];
        if (!inst || inst->comp != comp) {
            return hlo_verify_fail_comp(comp, "schedule-complete", "place %zu holds nothing of this computation", i);
        }
        HLO_TRY(check_before(inst, &inst->operands, done, "operand"));
        HLO_TRY(check_before(inst, hlo_control_preds(inst), done, "control predecessor"));
        if (hlo_bits_claim(done, inst->id)) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "schedule-complete", "it is scheduled twice");
    }
    return hlo_ok();
}

// Dead computations and threads without any schedule may lack one.
static bool needs_sequence(const HloVerify *v, const HloComputation *comp) {
    bool live = comp == v->m->entry || comp->callers.count;
    return live && !hlo_is_fusion_computation(comp) && strcmp(hlo_verify_thread(comp), "main") == 0;
}

HloStatus hlo_verify_schedule(HloVerify *v) {
    if (!v->m->is_scheduled) return hlo_ok();
    HLO_EACH_COMP(comp, v->m) {
        if (!comp->sequence && needs_sequence(v, comp))
            return hlo_verify_fail_comp(comp, "schedule-complete", "it has no schedule");
    }
    return hlo_ok();
}
