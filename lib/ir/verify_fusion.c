// Verification of fusions: signature, aliases and the form of the fused computation (verifier chapter §5.8, §7.3a).

#include "verify_rules.h"

static HloStatus check_signature(const HloVerify *v, const HloInstruction *inst, const HloComputation *fused) {
    if (!hlo_verify_same(v, fused->root->shape, inst->shape)) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "result-shape", "the fused root is %s, declared as %s",
                               hlo_verify_text(v, fused->root->shape), hlo_verify_text(v, inst->shape));
    }
    // Operands without a parameter are allowed; they only keep something alive.
    if (hlo_parameter_count(fused) > hlo_operand_count(inst)) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "callee-parameters", "%zu fused parameters for %zu operands",
                               hlo_parameter_count(fused), hlo_operand_count(inst));
    }
    for (size_t k = 0; k < hlo_parameter_count(fused); k++) {
        const HloShape *parameter = hlo_parameter(fused, k)->shape, *operand = hlo_operand(inst, k)->shape;
        if (hlo_verify_same(v, parameter, operand)) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "argument-shape", "operand %zu is %s, the fused parameter %s", k,
                               hlo_verify_text(v, operand), hlo_verify_text(v, parameter));
    }
    return hlo_ok();
}

// Nothing inside is dead, parameters included, and the root is used by nobody.
static HloStatus check_fused_uses(const HloVerify *v, const HloInstruction *inst, const HloComputation *fused) {
    if (fused->root->users.count) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "fused-root", "the fused root '%s' has users", fused->root->name);
    }
    if (v->options.allow_fused_dead_code) return hlo_ok();
    HLO_EACH_INST(member, fused) {
        if (member == fused->root || member->users.count || hlo_has_own_side_effect(member)) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "fused-dead-code", "'%s' in '%s' has no users", member->name,
                               fused->name);
    }
    return hlo_ok();
}

HloStatus hlo_verify_fusion(HloVerify *v, const HloInstruction *inst) {
    if (inst->called.count != 1) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "callees", "expected 1 fused computation, found %u",
                               inst->called.count);
    }
    const HloComputation *fused = hlo_called(inst, 0);
    HLO_TRY(check_signature(v, inst, fused));
    if (hlo_fusion_caller(fused) != inst) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "fused-once", "'%s' belongs to another fusion", fused->name);
    }
    HLO_TRY(hlo_verify_callee_thread(inst, fused));
    HLO_TRY(check_fused_uses(v, inst, fused));
    return hlo_verify_aliases(v, inst);
}
