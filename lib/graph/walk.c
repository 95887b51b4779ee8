// The order in which a picture is written: instructions as they stand, before each one the computations that it calls
// (graph chapter, §2). A stack of computations replaces recursion.

#include "lib/graph/graph.h"

enum { PARALLEL_EDGES = 65 };  // arrows between the same two boxes

typedef struct Frame Frame;
struct Frame {
    Frame *outer;
    const HloInstruction *caller;  // NULL: the computation that is shown
    const HloComputation *comp;
    const HloInstruction *next;
    size_t callee;  // next one of `next`
};

typedef struct Walk {
    Graph *g;
    const GraphVisitor *visitor;
    Frame *top;
    HloMap parallel;  // pair of numbers -> arrows so far
} Walk;

static void put_edge(Walk *w, GraphEdge edge) {
    uint64_t from = graph_number(w->g, edge.from), to = edge.to ? graph_number(w->g, edge.to) : 0;
    uint64_t key = hlo_hash_combine(from, to);
    void **count = hlo_map_at(&w->g->scratch, &w->parallel, (const void *)(uintptr_t)key);
    if ((uintptr_t)*count >= PARALLEL_EDGES) return;
    *count = (void *)((uintptr_t)*count + 1);
    w->visitor->edge(w->visitor->data, &edge);
}

// ---- boxes ----------------------------------------------------------------------------------------------

static void put_operand_edges(Walk *w, const HloInstruction *inst) {
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        const HloInstruction *from = graph_source(w->g, hlo_operand(inst, k));
        if (from) put_edge(w, (GraphEdge){GRAPH_OPERAND, from, inst, k, NULL});
    }
}

// A parameter of an opened fusion stands behind the fusion's operand.
static void put_parameter_edge(Walk *w, const HloInstruction *inst) {
    const HloInstruction *outer = inst->comp == w->g->shown ? NULL : graph_outer_operand(inst);
    const HloInstruction *from = outer ? graph_source(w->g, outer) : NULL;
    if (from) put_edge(w, (GraphEdge){GRAPH_OPERAND, from, inst, 0, NULL});
}

static void put_control_edges(Walk *w, const HloInstruction *inst) {
    const HloVec *before = hlo_control_preds(inst);
    for (size_t k = 0; k < before->count; k++) {
        const HloInstruction *from = graph_source(w->g, before->items[k]);
        if (from) put_edge(w, (GraphEdge){GRAPH_CONTROL, from, inst, 0, NULL});
    }
}

static void put_instruction(Walk *w, const HloInstruction *inst) {
    if (!graph_has_node(w->g, inst)) return;
    w->visitor->node(w->visitor->data, inst);
    put_parameter_edge(w, inst);
    put_operand_edges(w, inst);
    put_control_edges(w, inst);
}

// ---- computations ---------------------------------------------------------------------------------------

static void put_call_edge(Walk *w, const HloInstruction *caller, const HloComputation *comp) {
    if (caller->op == HLO_OP_FUSION) return;
    const HloInstruction *from = graph_source(w->g, comp->root);
    if (from) put_edge(w, (GraphEdge){GRAPH_CALL, from, caller, 0, comp});
}

// The arrow from a callee to its caller comes first, before either is drawn.
static void enter(Walk *w, const HloInstruction *caller, const HloComputation *comp) {
    if (caller) put_call_edge(w, caller, comp);
    Frame *frame = HLO_NEW(&w->g->scratch, Frame);
    *frame = (Frame){w->top, caller, comp, comp->first, 0};
    w->top = frame;
    if (caller) w->visitor->begin_cluster(w->visitor->data, caller, comp);
}

static void leave(Walk *w) {
    const Frame *frame = w->top;
    w->top = frame->outer;
    if (frame->caller) w->visitor->end_cluster(w->visitor->data, frame->comp);
}

// The next callee of the instruction at hand; false when all are done.
static bool enter_callee(Walk *w) {
    Frame *frame = w->top;
    const HloInstruction *caller = frame->next;
    while (frame->callee < caller->called.count) {
        const HloComputation *callee = hlo_called(caller, frame->callee++);
        if (!graph_shows_callee(w->g, caller, callee)) continue;
        if (hlo_bits_claim(w->g->drawn, callee->id)) {
            enter(w, caller, callee);
            return true;
        }
        put_call_edge(w, caller, callee);
    }
    return false;
}

// A root that is no box, nor stands for one, has no tag.
static void put_root(Walk *w) {
    const HloInstruction *source = graph_source(w->g, w->g->shown->root);
    if (!source || source->op == HLO_OP_CONSTANT) return;
    w->visitor->root_tag(w->visitor->data, source);
    w->visitor->edge(w->visitor->data, &(GraphEdge){GRAPH_ROOT, source, NULL, 0, NULL});
}

void graph_walk(Graph *g, const GraphVisitor *visitor) {
    Walk w = {.g = g, .visitor = visitor};
    hlo_bits_add(g->drawn, g->shown->id);
    enter(&w, NULL, g->shown);
    while (w.top) {
        Frame *frame = w.top;
        if (!frame->next) {
            leave(&w);
        } else if (!enter_callee(&w)) {
            put_instruction(&w, frame->next);
            frame->next = frame->next->next;
            frame->callee = 0;
        }
    }
    put_root(&w);
}
