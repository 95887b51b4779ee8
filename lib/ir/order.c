// Orders in which everything is printed and walked (printing chapter, §3.3 and §4.2). All walks are loops with
// their own stacks, because graphs may be as deep as a file likes.

#include <stdlib.h>

#include "hlo/module.h"

// ---- instructions ---------------------------------------------------------------------------------------

// The edges of one computation as numbers. Instructions lie far apart in memory and a walk along their pointers waits
// for each of them; one scan in list order, where no load waits for another, copies what the walk needs.
typedef struct Node {
    uint32_t next, end;  // predecessors still to be visited: a part of Graph.edges
} Node;

typedef struct Graph {
    HloInstruction **insts;  // by id; NULL: removed
    Node *nodes;             // by id
    uint32_t *edges;         // ids: of each node the control predecessors from last to first, then the operands
    size_t edge_count, edge_capacity;
    uint32_t *starts;  // instructions without users, in list order
    size_t start_count;
} Graph;

static void add_edge(Graph *g, HloArena *scratch, const HloComputation *comp, const HloInstruction *before) {
    if (!before || before->comp != comp) return;
    if (g->edge_count == g->edge_capacity)
        g->edges = hlo_arena_grow(scratch, g->edges, &g->edge_capacity, 2 * comp->count + 16, sizeof *g->edges);
    g->edges[g->edge_count++] = before->id;
}

static void add_node(Graph *g, HloArena *scratch, HloInstruction *inst) {
    Node *node = &g->nodes[inst->id];
    g->insts[inst->id] = inst;
    node->next = (uint32_t)g->edge_count;
    for (size_t i = hlo_control_preds(inst)->count; i-- > 0;)
        add_edge(g, scratch, inst->comp, hlo_control_preds(inst)->items[i]);
    for (size_t i = 0; i < inst->operands.count; i++) add_edge(g, scratch, inst->comp, inst->operands.items[i]);
    node->end = (uint32_t)g->edge_count;
    if (!inst->users.count) g->starts[g->start_count++] = inst->id;
}

static Graph graph_of(const HloComputation *comp, HloArena *scratch) {
    Graph g = {
        .insts = HLO_NEW_ARRAY(scratch, HloInstruction *, comp->id_limit + (size_t)1),
        .nodes = HLO_NEW_ARRAY(scratch, Node, comp->id_limit + (size_t)1),
        .starts = HLO_NEW_ARRAY(scratch, uint32_t, comp->count + 1),
    };
    HLO_EACH_INST(inst, comp) add_node(&g, scratch, inst);
    return g;
}

HloInstList hlo_post_order(const HloComputation *comp, HloArena *scratch) {
    Graph g = graph_of(comp, scratch);
    HloInstList order = {HLO_NEW_ARRAY(scratch, HloInstruction *, comp->count + 1), 0};
    HloBits seen = hlo_bits_new(scratch, comp->id_limit);
    uint32_t *stack = HLO_NEW_ARRAY(scratch, uint32_t, comp->count + 1);
    size_t depth = 0;
    for (size_t i = 0; i < g.start_count; i++) {
        if (hlo_bits_claim(seen, g.starts[i])) stack[depth++] = g.starts[i];
        while (depth) {
            Node *top = &g.nodes[stack[depth - 1]];
            if (top->next == top->end) {
                order.items[order.count++] = g.insts[stack[--depth]];
                continue;
            }
            uint32_t before = g.edges[top->next++];
            if (hlo_bits_claim(seen, before)) stack[depth++] = before;
        }
    }
    return order;
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
