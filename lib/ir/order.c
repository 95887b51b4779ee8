// Orders in which everything is printed and walked (printing chapter, §3.3 and §4.2). All walks are loops with
// their own stacks, because graphs may be as deep as a file likes.

#include <stdlib.h>

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
    if (stack->count == stack->capacity)
        stack->items = hlo_arena_grow(scratch, stack->items, &stack->capacity, 64, sizeof *stack->items);
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

// A walk over one computation and what it has found.
typedef struct Walk {
    const HloComputation *comp;
    HloArena *scratch;
    HloInstList order;
    HloBits seen;
    VisitStack stack;
    bool met_control;  // an edge of control was followed
} Walk;

static void visit_from(Walk *w, HloInstruction *start) {
    if (!hlo_bits_claim(w->seen, start->id)) return;
    push(w->scratch, &w->stack, start);
    while (w->stack.count) {
        Visit *top = &w->stack.items[w->stack.count - 1];
        if (!has_predecessor_left(top)) {
            w->order.items[w->order.count++] = top->inst;
            w->stack.count--;
            w->met_control = w->met_control || top->inst->control_preds.count;
            continue;
        }
        HloInstruction *before = next_predecessor(top);
        if (before && before->comp == w->comp && hlo_bits_claim(w->seen, before->id))
            push(w->scratch, &w->stack, before);
    }
}

static bool has_unused_parameter(const HloComputation *comp) {
    for (size_t i = 0; i < hlo_parameter_count(comp); i++) {
        const HloInstruction *parameter = hlo_parameter(comp, i);
        if (parameter && !parameter->users.count && parameter != comp->root) return true;
    }
    return false;
}

// Most computations have one instruction without users, the root. When a walk from it alone reaches all others by
// data, there can be no second starting point, and the list need not be searched for one.
static bool root_reaches_all(Walk *w) {
    HloInstruction *root = w->comp->root;
    if (!root || root->comp != w->comp || root->users.count || has_unused_parameter(w->comp)) return false;
    visit_from(w, root);
    if (w->order.count == w->comp->count && !w->met_control) return true;
    w->order.count = 0;
    w->seen = hlo_bits_new(w->scratch, w->comp->id_limit);
    return false;
}

HloInstList hlo_post_order(const HloComputation *comp, HloArena *scratch) {
    Walk w = {
        .comp = comp,
        .scratch = scratch,
        .order = {HLO_NEW_ARRAY(scratch, HloInstruction *, comp->count + 1), 0},
        .seen = hlo_bits_new(scratch, comp->id_limit),
    };
    if (root_reaches_all(&w)) return w.order;
    HLO_EACH_INST(start, comp) {
        if (!start->users.count) visit_from(&w, start);
    }
    return w.order;
}

// ---- computations ---------------------------------------------------------------------------------------

// The calling instructions of every computation, found from the callees' side: they are few, and a search through all
// instructions would cost more than anything else here. Ids are kept beside the pointers, because the instructions
// themselves are far apart in memory.
typedef struct Call {
    const HloInstruction *inst;
    uint32_t comp_id, inst_id;
} Call;

typedef struct Calls {
    Call *items;    // by computation id, then in list order
    size_t *begin;  // by computation id: its first item; one entry more than ids
} Calls;

// List order, because ids are given in it.
static int compare_ids(const void *a, const void *b) {
    uint32_t left = ((const Call *)a)->inst_id, right = ((const Call *)b)->inst_id;
    return (left > right) - (left < right);
}

static void sort_calls(Call *items, size_t count) {
    for (size_t i = 1; i < count; i++) {
        if (items[i - 1].inst_id <= items[i].inst_id) continue;
        qsort(items, count, sizeof *items, compare_ids);
        return;
    }
}

// All calls in the order of their callees; begin[id + 1] becomes the number of calls in computation `id`.
static Call *list_calls(const HloModule *m, HloArena *scratch, size_t *begin, size_t *count) {
    size_t total = 0;
    HLO_EACH_COMP(comp, m) total += comp->callers.count;
    Call *list = HLO_NEW_ARRAY(scratch, Call, total + 1);
    *count = 0;
    HLO_EACH_COMP(comp, m) {
        for (size_t i = 0; i < comp->callers.count; i++) {
            const HloInstruction *caller = comp->callers.items[i];
            list[(*count)++] = (Call){caller, caller->comp->id, caller->id};
            begin[caller->comp->id + 1]++;
        }
    }
    return list;
}

static Calls find_calls(const HloModule *m, HloArena *scratch) {
    size_t ids = m->computation_id_limit, count;
    size_t *begin = HLO_NEW_ARRAY(scratch, size_t, ids + 1);
    const Call *list = list_calls(m, scratch, begin, &count);
    for (size_t id = 0; id < ids; id++) begin[id + 1] += begin[id];
    Calls calls = {HLO_NEW_ARRAY(scratch, Call, count + 1), begin};
    size_t *end = hlo_arena_copy(scratch, begin, (ids + 1) * sizeof *end);
    for (size_t i = 0; i < count; i++) calls.items[end[list[i].comp_id]++] = list[i];
    for (size_t id = 0; id < ids; id++) sort_calls(calls.items + begin[id], end[id] - begin[id]);
    return calls;
}

// A computation whose calls are being walked; `siblings` are the callees of one instruction that wait for their turn.
typedef struct CompVisit {
    HloComputation *comp;
    size_t call, end;  // next and last + 1 of its calls
    HloVec siblings;
    size_t next_sibling;
    struct CompVisit *outer;
} CompVisit;

typedef struct CompWalk {
    HloArena *scratch;
    Calls calls;
    HloBits seen;
    bool mark_together;  // the printing order marks all callees of an instruction before it enters the first
    HloCompList order;
} CompWalk;

static CompVisit *enter(CompWalk *w, HloComputation *comp, CompVisit *outer) {
    CompVisit *visit = HLO_NEW(w->scratch, CompVisit);
    visit->comp = comp;
    visit->call = w->calls.begin[comp->id];
    visit->end = w->calls.begin[comp->id + 1];
    visit->outer = outer;
    return visit;
}

// Queues the unmarked callees of one instruction.
static void gather_callees(CompWalk *w, CompVisit *visit, const HloInstruction *inst) {
    visit->siblings.count = visit->next_sibling = 0;
    for (size_t k = 0; k < inst->called.count; k++) {
        HloComputation *callee = inst->called.items[k];
        if (!callee || hlo_bits_has(w->seen, callee->id)) continue;
        if (w->mark_together) hlo_bits_add(w->seen, callee->id);
        hlo_vec_push(w->scratch, &visit->siblings, callee);
    }
}

static void visit_callees(CompWalk *w, HloComputation *root) {
    CompVisit *top = enter(w, root, NULL);
    while (top) {
        if (top->next_sibling < top->siblings.count) {
            HloComputation *next = top->siblings.items[top->next_sibling++];
            if (w->mark_together || hlo_bits_claim(w->seen, next->id)) top = enter(w, next, top);
        } else if (top->call < top->end) {
            gather_callees(w, top, w->calls.items[top->call++].inst);
        } else {
            w->order.items[w->order.count++] = top->comp;
            top = top->outer;
        }
    }
}

static HloCompList order_computations(const HloModule *m, HloArena *scratch, bool mark_together) {
    CompWalk w = {
        .mark_together = mark_together,
        .scratch = scratch,
        .calls = find_calls(m, scratch),
        .seen = hlo_bits_new(scratch, m->computation_id_limit),
        .order = {HLO_NEW_ARRAY(scratch, HloComputation *, m->computation_id_limit + 1), 0},
    };
    HLO_EACH_COMP(comp, m) {
        if (comp->callers.count == 0 && hlo_bits_claim(w.seen, comp->id)) visit_callees(&w, comp);
    }
    // What is left is on a cycle; only a module that the verifier refuses has one.
    HLO_EACH_COMP(comp, m) {
        if (hlo_bits_claim(w.seen, comp->id)) visit_callees(&w, comp);
    }
    return w.order;
}

HloCompList hlo_module_print_order(const HloModule *m, HloArena *scratch) {
    return order_computations(m, scratch, true);
}

HloCompList hlo_module_post_order(const HloModule *m, HloArena *scratch) {
    return order_computations(m, scratch, false);
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
