// Cuts of calls: what is called takes the place of the call.
//
//   %c = call(%a), to_apply=f                    the instructions of f, on %a
//   %w = while(%init), body=b, condition=c       those of b, once, on %init
//   %i = conditional(%p, %a, %b), …              those of one branch, on its operand

#include "lib/reduce/reduce.h"

static size_t ways_in(const HloInstruction *inst) {
    switch (inst->op) {
    case HLO_OP_CALL:
    case HLO_OP_FUSION:
    case HLO_OP_WHILE: return inst->called.count > 0;
    case HLO_OP_CONDITIONAL: return inst->called.count;
    default: return 0;
    }
}

// The operand that parameter k of callee `way` stands for.
static HloInstruction *argument(const HloInstruction *call, size_t way, size_t k) {
    size_t at = call->op == HLO_OP_CONDITIONAL ? way + 1 : k;
    return at < hlo_operand_count(call) ? hlo_operand(call, at) : NULL;
}

static HloInstruction *copy_into(HloRewriter *rw, const HloInstruction *inst, const HloMap *made) {
    size_t count = hlo_operand_count(inst);
    HloInstruction **operands = HLO_NEW_ARRAY(rw->scratch, HloInstruction *, count);
    for (size_t k = 0; k < count; k++) operands[k] = hlo_map_find(made, hlo_operand(inst, k));
    HloInstruction *copy = hlo_inst_clone(rw->m, inst, inst->shape, operands, count, NULL);
    return hlo_computation_add(rw->comp, copy, inst->name);
}

static void inline_call(HloRewriter *rw, HloInstruction *inst, size_t way) {
    const HloComputation *callee = hlo_called(inst, way);
    HloMap made = {0};
    HloInstList order = hlo_post_order(callee, rw->scratch);
    for (size_t k = 0; k < order.count; k++) {
        const HloInstruction *from = order.items[k];
        HloInstruction *to = from->op == HLO_OP_PARAMETER ? argument(inst, way, (size_t)hlo_parameter_number(from))
                                                          : copy_into(rw, from, &made);
        *hlo_map_at(rw->scratch, &made, from) = to;
    }
    HloInstruction *result = hlo_map_find(&made, callee->root);
    if (result && result->shape == inst->shape) hlo_replace_all_uses(inst, result);
}

CutTable hlo_cuts_of_calls(void) {
    static const Cut cuts[] = {
        {"inline", "a call, fusion, loop or branch becomes what it calls", false, ways_in, inline_call},
    };
    return (CutTable){cuts, HLO_COUNT(cuts)};
}
