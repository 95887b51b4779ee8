// Flattening a module into one sequence; see flatten.h.

#include "lib/analysis/flatten.h"

typedef struct Frame {
    const HloComputation *comp;
    size_t at;      // next instruction
    size_t callee;  // its next callee
} Frame;

// The k-th computation to enter before `inst`, or NULL. A while stores its body first but tests first.
static const HloComputation *entered_callee(const HloInstruction *inst, size_t k) {
    switch (inst->op) {
    case HLO_OP_WHILE: return k < inst->called.count ? hlo_called(inst, inst->called.count - 1 - k) : NULL;
    case HLO_OP_CALL:
    case HLO_OP_CONDITIONAL:
    case HLO_OP_ASYNC_START: return k < inst->called.count ? hlo_called(inst, k) : NULL;
    default: return NULL;
    }
}

static FlatList empty_list(HloArena *arena, const HloModule *m) {
    FlatList result = {
        .items = HLO_NEW_ARRAY(arena, const HloInstruction *, hlo_module_instruction_count(m)),
        .starts = HLO_NEW_ARRAY(arena, int64_t, m->computation_id_limit),
        .ends = HLO_NEW_ARRAY(arena, int64_t, m->computation_id_limit),
    };
    for (size_t i = 0; i < m->computation_id_limit; i++) result.starts[i] = result.ends[i] = -1;
    return result;
}

FlatList flatten(HloArena *arena, const HloModule *m, const HloInstList *order) {
    FlatList result = empty_list(arena, m);
    Frame *stack = HLO_NEW_ARRAY(arena, Frame, m->count);  // each computation is entered once
    size_t depth = 0;
    const HloComputation *enter = m->entry;
    do {
        if (enter) {
            result.starts[enter->id] = (int64_t)result.count;
            stack[depth++] = (Frame){enter, 0, 0};
            enter = NULL;
        }
        Frame *top = &stack[depth - 1];
        HloInstList list = order[top->comp->id];
        if (top->at == list.count) {
            result.ends[top->comp->id] = (int64_t)result.count;
            depth--;
            continue;
        }
        const HloInstruction *inst = list.items[top->at];
        const HloComputation *callee = entered_callee(inst, top->callee);
        if (callee) {
            top->callee++;
            if (result.starts[callee->id] < 0) enter = callee;
            continue;
        }
        result.items[result.count++] = inst;
        top->at++;
        top->callee = 0;
    } while (depth);
    return result;
}
