// Orders in which everything is printed and walked (printing chapter, §3.3 and §4.2). All walks are loops with
// their own stacks, because graphs may be as deep as a file likes.

#include "hlo/module.h"

// ---- instructions ---------------------------------------------------------------------------------------

// One instruction whose predecessors are being visited: first control predecessors from last to first, then
// operands from first to last.
typedef struct Visit {
    HloInstruction *inst;
    size_t next;  // below control_preds.count: control; above: operands
} Visit;

typedef struct VisitStack {
    Visit *items;
    size_t count, capacity;
} VisitStack;

static void push(HloArena *scratch, VisitStack *stack, HloInstruction *inst) {
    if (stack->count == stack->capacity) {
        size_t capacity = stack->capacity ? stack->capacity * 2 : 64;
        Visit *items = HLO_NEW_ARRAY(scratch, Visit, capacity);
        if (stack->count) memcpy(items, stack->items, stack->count * sizeof *items);
        stack->items = items;
        stack->capacity = capacity;
    }
    stack->items[stack->count++] = (Visit){inst, 0};
}

static HloInstruction *next_predecessor(Visit *visit) {
    const HloInstruction *inst = visit->inst;
    size_t control = inst->control_preds.count;
    if (visit->next < control) return inst->control_preds.items[control - 1 - visit->next++];
    if (visit->next - control < inst->operands.count) return inst->operands.items[visit->next++ - control];
    return NULL;
}

static bool has_predecessor_left(const Visit *visit) {
    return visit->next < visit->inst->control_preds.count + visit->inst->operands.count;
}

HloInstList hlo_post_order(const HloComputation *comp, HloArena *scratch) {
    HloInstList order = {HLO_NEW_ARRAY(scratch, HloInstruction *, comp->count + 1), 0};
    HloBits seen = hlo_bits_new(scratch, comp->id_limit);
    VisitStack stack = {0};
    HLO_EACH_INST(start, comp) {
        if (start->users.count || !hlo_bits_claim(seen, start->id)) continue;
        push(scratch, &stack, start);
        while (stack.count) {
            Visit *top = &stack.items[stack.count - 1];
            if (!has_predecessor_left(top)) {
                order.items[order.count++] = top->inst;
                stack.count--;
                continue;
            }
            HloInstruction *before = next_predecessor(top);
            if (before && before->comp == comp && hlo_bits_claim(seen, before->id)) push(scratch, &stack, before);
        }
    }
    return order;
}

// ---- computations ---------------------------------------------------------------------------------------

// A computation whose instructions are being walked for callees; `siblings` are the callees of the current
// instruction that were marked together and wait for their turn.
typedef struct CompVisit {
    HloComputation *comp;
    HloInstruction *inst;      // next instruction to look at
    HloVec siblings;
    size_t next_sibling;
    struct CompVisit *outer;
} CompVisit;

static CompVisit *enter(HloArena *scratch, HloComputation *comp, CompVisit *outer) {
    CompVisit *visit = HLO_NEW(scratch, CompVisit);
    visit->comp = comp;
    visit->inst = comp->first;
    visit->outer = outer;
    return visit;
}

// Marks the unmarked callees of one instruction and queues them.
static void gather_callees(HloArena *scratch, CompVisit *visit, const HloInstruction *inst, HloBits seen) {
    visit->siblings.count = visit->next_sibling = 0;
    for (size_t k = 0; k < inst->called.count; k++) {
        HloComputation *callee = inst->called.items[k];
        if (callee && hlo_bits_claim(seen, callee->id)) hlo_vec_push(scratch, &visit->siblings, callee);
    }
}

static void visit_callees(HloArena *scratch, HloComputation *root, HloBits seen, HloCompList *order) {
    CompVisit *top = enter(scratch, root, NULL);
    while (top) {
        if (top->next_sibling < top->siblings.count) {
            top = enter(scratch, top->siblings.items[top->next_sibling++], top);
        } else if (top->inst) {
            const HloInstruction *inst = top->inst;
            top->inst = inst->next;
            if (inst->called.count) gather_callees(scratch, top, inst, seen);
        } else {
            order->items[order->count++] = top->comp;
            top = top->outer;
        }
    }
}

HloCompList hlo_module_post_order(const HloModule *m, HloArena *scratch) {
    HloCompList order = {HLO_NEW_ARRAY(scratch, HloComputation *, m->computation_id_limit + 1), 0};
    HloBits seen = hlo_bits_new(scratch, m->computation_id_limit);
    HLO_EACH_COMP(comp, m) {
        if (comp->callers.count == 0 && hlo_bits_claim(seen, comp->id)) visit_callees(scratch, comp, seen, &order);
    }
    // What is left is on a cycle; only a module that the verifier refuses has one.
    HLO_EACH_COMP(comp, m) {
        if (hlo_bits_claim(seen, comp->id)) visit_callees(scratch, comp, seen, &order);
    }
    return order;
}

HloCompList hlo_module_nonfusion_order(const HloModule *m, HloArena *scratch) {
    HloCompList order = hlo_module_post_order(m, scratch);
    size_t kept = 0;
    for (size_t i = 0; i < order.count; i++) {
        if (!hlo_is_fusion_computation(order.items[i])) order.items[kept++] = order.items[i];
    }
    order.count = kept;
    return order;
}

HloCompList hlo_module_list(const HloModule *m, HloArena *scratch) {
    HloCompList list = {HLO_NEW_ARRAY(scratch, HloComputation *, m->count + 1), 0};
    HLO_EACH_COMP(comp, m) list.items[list.count++] = comp;
    return list;
}
