// Putting the body of a computation in place of the instruction that calls it; see inline_body.h.

#include "inline_body.h"

// Inlining may add this many instructions to a small module, and to a large one this many times its own.
enum { MOST_MADE = 1 << 20, MOST_GROWTH = 16 };

HloInlineBudget hlo_inline_budget(const HloModule *m, const char *what) {
    return (HloInlineBudget){what, 0, MOST_MADE + MOST_GROWTH * hlo_module_instruction_count(m)};
}

HloStatus hlo_inline_spend(HloInlineBudget *budget, const HloComputation *callee) {
    budget->made += callee->count;
    if (budget->made <= budget->most) return hlo_ok();
    return hlo_error(HLO_RESOURCE_EXHAUSTED, "inlining the %s takes more than %zu new instructions", budget->what,
                     budget->most);
}

static HloInstruction *clone_with(HloRewriter *rw, const HloInstruction *inst, HloInstruction *const *made) {
    HloInstruction **operands = HLO_NEW_ARRAY(rw->scratch, HloInstruction *, hlo_operand_count(inst));
    for (size_t k = 0; k < hlo_operand_count(inst); k++) operands[k] = made[hlo_operand(inst, k)->id];
    return hlo_build_clone(rw, inst, NULL, operands, hlo_operand_count(inst));
}

HloVec hlo_inline_body(HloRewriter *rw, const HloInstruction *caller, HloInstList order, HloInstruction **made) {
    HloVec clones = {0};
    for (size_t k = 0; k < order.count; k++) {
        const HloInstruction *inst = order.items[k];
        if (inst->op == HLO_OP_PARAMETER) {
            made[inst->id] = hlo_operand(caller, (size_t)hlo_parameter_number(inst));
            continue;
        }
        made[inst->id] = clone_with(rw, inst, made);
        if (!made[inst->id]) break;
        hlo_vec_push(rw->scratch, &clones, made[inst->id]);
    }
    return clones;
}
