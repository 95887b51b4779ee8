// Copies of computations with everything that they own.

#include "hlo/rewriter.h"
#include "lib/pass/clone.h"

// A copy that is being looked through for owned callees. It joins the module when it is done, after what it owns.
typedef struct Copy {
    HloComputation *comp;
    HloInstruction *owner;  // in the copy around this one; NULL for the outermost
    HloInstruction *next;   // first instruction not looked at yet
} Copy;

bool hlo_owns_callee(const HloInstruction *inst) {
    return (inst->op == HLO_OP_FUSION || inst->op == HLO_OP_ASYNC_START) && inst->called.count;
}

static Copy *begin(HloRewriter *rw, const HloComputation *comp, HloInstruction *owner, size_t *made) {
    if (made) *made += comp->count;
    const char *name = hlo_arena_printf(rw->scratch, "%s.clone", comp->name);
    Copy *copy = HLO_NEW(rw->scratch, Copy);
    copy->comp = hlo_computation_clone(rw->m, comp, name, NULL, rw->scratch, NULL);
    copy->owner = owner;
    copy->next = copy->comp->first;
    return copy;
}

static HloInstruction *next_owner(Copy *copy) {
    while (copy->next) {
        HloInstruction *inst = copy->next;
        copy->next = inst->next;
        if (hlo_owns_callee(inst)) return inst;
    }
    return NULL;
}

HloComputation *hlo_rewriter_clone_computation(HloRewriter *rw, const HloComputation *comp, size_t *made) {
    HloVec open = {0};
    Copy *copy = begin(rw, comp, NULL, made);
    while (true) {
        HloInstruction *owner = next_owner(copy);
        if (owner) {
            hlo_vec_push(rw->scratch, &open, copy);
            copy = begin(rw, hlo_called(owner, 0), owner, made);
            continue;
        }
        hlo_module_add(rw->m, copy->comp);
        if (!copy->owner) return copy->comp;
        hlo_set_called(copy->owner, 0, copy->comp);
        copy = hlo_vec_pop(&open);
    }
}
