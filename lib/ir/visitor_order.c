// The order in which the reference's visitors meet instructions.

#include "hlo/computation.h"

enum { NEW = 0, OPEN = 1, DONE = 2 };

typedef struct Walk {
    HloArena *scratch;
    uint8_t *state;  // by instruction id
    HloVec stack;
    HloInstList order;
} Walk;

// Children are pushed last first: operands come off the stack from left to right, then control predecessors.
static void push_children(Walk *w, const HloInstruction *inst) {
    for (size_t k = hlo_control_preds(inst)->count; k-- > 0;) {
        const HloInstruction *pred = hlo_control_preds(inst)->items[k];
        if (w->state[pred->id] == NEW) hlo_vec_push(w->scratch, &w->stack, pred);
    }
    for (size_t k = hlo_operand_count(inst); k-- > 0;) {
        const HloInstruction *operand = hlo_operand(inst, k);
        if (w->state[operand->id] == NEW) hlo_vec_push(w->scratch, &w->stack, operand);
    }
}

static void walk_from(Walk *w, HloInstruction *start) {
    hlo_vec_push(w->scratch, &w->stack, start);
    while (w->stack.count) {
        HloInstruction *inst = w->stack.items[w->stack.count - 1];
        uint8_t *state = &w->state[inst->id];
        if (*state == NEW) {
            *state = OPEN;
            push_children(w, inst);
            continue;
        }
        w->stack.count--;
        if (*state == DONE) continue;
        *state = DONE;
        w->order.items[w->order.count++] = inst;
    }
}

HloInstList hlo_visitor_order(const HloComputation *comp, HloArena *scratch) {
    Walk w = {.scratch = scratch, .state = HLO_NEW_ARRAY(scratch, uint8_t, comp->id_limit)};
    w.order.items = HLO_NEW_ARRAY(scratch, HloInstruction *, comp->count);
    HLO_EACH_INST(inst, comp) {
        if (hlo_is_dead(inst) && !hlo_control_succs(inst)->count) walk_from(&w, inst);
    }
    if (comp->root) walk_from(&w, comp->root);
    return w.order;
}
