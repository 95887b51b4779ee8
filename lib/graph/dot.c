// Text for Graphviz (graph chapter, §1 and §5): header with rules for hovering, boxes and clusters, then arrows.

#include "lib/graph/graph.h"

// Graphviz numbers boxes, arrows and clusters in the order of the text, from 1; the rules refer to these numbers.
typedef struct Dot {
    Graph graph;
    const HloComputation *comp;
    HloBuffer body, rules, edges;
    size_t nodes, edge_count, clusters;
    size_t *node_at;     // by number of an instruction: its box's
    size_t *cluster_at;  // by computation id
    HloVec later;        // GraphEdge *, in order: their rules need the numbers of all boxes
    size_t root_node;    // of the tag
} Dot;

static unsigned long long number_of(const Dot *dot, const HloInstruction *inst) {
    return graph_number(&dot->graph, inst);
}

static unsigned long long cluster_of(const Dot *dot, const HloComputation *comp) {
    return graph_computation_number(&dot->graph, comp);
}

// ---- boxes and clusters ---------------------------------------------------------------------------------

static void put_colours(HloBuffer *out, GraphColours colours) {
    hlo_putf(out, "style=\"%s\", fontcolor=\"%s\", color=\"%s\", fillcolor=\"%s\"];\n", colours.style, colours.text,
             colours.border, colours.fill);
}

static void put_node(void *data, const HloInstruction *inst) {
    Dot *dot = data;
    dot->node_at[graph_number(&dot->graph, inst)] = ++dot->nodes;
    hlo_putf(&dot->body, "%llu [label=<", number_of(dot, inst));
    graph_put_node_text(&dot->graph, &dot->body, inst);
    hlo_putf(&dot->body, ">, shape=%s, tooltip=\"", inst->op == HLO_OP_WHILE ? "ellipse" : "rect");
    graph_put_origin(&dot->body, inst);
    hlo_put_string(&dot->body, "\", ");
    put_colours(&dot->body, graph_colours(&dot->graph, inst));
}

static void put_root_tag(void *data, const HloInstruction *source) {
    Dot *dot = data;
    (void)source;
    dot->root_node = ++dot->nodes;
    hlo_putf(&dot->body, "cluster_%llu [label=<ROOT>, shape=circle, tooltip=\" \", ", cluster_of(dot, dot->comp));
    put_colours(&dot->body, graph_root_colours());
}

static void begin_cluster(void *data, const HloInstruction *caller, const HloComputation *comp) {
    Dot *dot = data;
    dot->cluster_at[comp->id] = ++dot->clusters;
    hlo_putf(&dot->body, "subgraph cluster_%llu {\n", cluster_of(dot, comp));
    hlo_put_string(&dot->body, caller->op == HLO_OP_FUSION
                                   ? "style=\"rounded,filled,bold\"; fillcolor=\"#f5f5f5\"; color=\"#c2c2c2;\"\n"
                                   : "style=rounded; color=black;\n");
    hlo_put_string(&dot->body, "label = <");
    graph_put_cluster_text(&dot->graph, &dot->body, caller, comp);
    hlo_put_string(&dot->body, ">;\nlabelloc = t;\ntooltip = \" \";\n");
}

static void end_cluster(void *data, const HloComputation *comp) {
    Dot *dot = data;
    hlo_putf(&dot->body, "\n}  // cluster_%llu\n\n", cluster_of(dot, comp));
}

// ---- arrows ---------------------------------------------------------------------------------------------

static void put_edge_names(HloBuffer *out, const GraphEdge *edge) {
    hlo_put_string(out, "tooltip=\"");
    graph_put_escaped(out, edge->from->name, strlen(edge->from->name));
    hlo_put_string(out, " -> ");
    graph_put_escaped(out, edge->to->name, strlen(edge->to->name));
    hlo_put_char(out, '"');
}

static void put_operand_edge(Dot *dot, const GraphEdge *edge) {
    HloBuffer *out = &dot->edges;
    bool small = graph_is_small(&dot->graph, edge->from->shape);
    hlo_putf(out, "%llu -> %llu [arrowhead=%s ", number_of(dot, edge->from), number_of(dot, edge->to),
             small ? "empty" : "normal");
    put_edge_names(out, edge);
    hlo_put_char(out, ' ');
    if (edge->kind == GRAPH_CONTROL)
        hlo_put_string(out, "style=\"dotted\" color=\"gray\" label=\"ctrl\"");
    else if (hlo_operand_count(edge->to) > 1)
        hlo_putf(out, " headlabel=\"%zu\", labeldistance=2", edge->operand);
    hlo_put_string(out, "];\n");
}

static void put_call_edge(Dot *dot, const GraphEdge *edge) {
    HloBuffer *out = &dot->edges;
    hlo_putf(out, "%llu -> %llu [ltail=\"cluster_%llu\", style=\"dashed\" ", number_of(dot, edge->from),
             number_of(dot, edge->to), cluster_of(dot, edge->callee));
    hlo_put_string(out, "tooltip=\"");
    graph_put_escaped(out, edge->callee->name, strlen(edge->callee->name));
    hlo_put_string(out, " -> ");
    graph_put_escaped(out, edge->to->name, strlen(edge->to->name));
    hlo_put_string(out, "\"];\n");
}

static void put_edge(void *data, const GraphEdge *edge) {
    Dot *dot = data;
    hlo_vec_push(&dot->graph.scratch, &dot->later, hlo_arena_copy(&dot->graph.scratch, edge, sizeof *edge));
    if (edge->kind == GRAPH_ROOT)
        hlo_putf(&dot->edges, "%llu -> cluster_%llu [tooltip=\" \"];\n", number_of(dot, edge->from),
                 cluster_of(dot, dot->comp));
    else if (edge->kind == GRAPH_CALL)
        put_call_edge(dot, edge);
    else
        put_operand_edge(dot, edge);
}

// ---- rules ----------------------------------------------------------------------------------------------

// `#` is written %23, since the sheet is an address.
static void put_rules_for(HloBuffer *out, const char *kind, size_t at, size_t edge, const char *colour) {
    hlo_putf(out, "  %%23%s%zu:hover ~ %%23edge%zu text { fill: %%23%s; }\n", kind, at, edge, colour);
    hlo_putf(out, "  %%23%s%zu:hover ~ %%23edge%zu path { stroke: %%23%s; stroke-width: .2em; }\n", kind, at, edge,
             colour);
    hlo_putf(out, "  %%23%s%zu:hover ~ %%23edge%zu polygon { fill: %%23%s; stroke: %%23%s; stroke-width: .2em; }\n",
             kind, at, edge, colour, colour);
}

static bool is_drawn_fusion(const Dot *dot, const HloComputation *comp) {
    return comp != dot->comp && hlo_fusion_caller(comp);
}

static void put_rules(Dot *dot) {
    static const char blue[] = "1976d2", red[] = "d32f2f";
    HloBuffer *out = &dot->rules;
    for (size_t k = 0; k < dot->later.count; k++) {
        const GraphEdge *edge = dot->later.items[k];
        const HloComputation *from = edge->from->comp, *to = edge->to ? edge->to->comp : NULL;
        put_rules_for(out, "node", dot->node_at[graph_number(&dot->graph, edge->from)], k + 1, blue);
        size_t end = edge->to ? dot->node_at[graph_number(&dot->graph, edge->to)] : dot->root_node;
        put_rules_for(out, "node", end, k + 1, red);
        if (to && is_drawn_fusion(dot, from) && hlo_is_root(edge->from) && from != to)
            put_rules_for(out, "clust", dot->cluster_at[from->id], k + 1, blue);
        if (to && is_drawn_fusion(dot, to) && edge->to->op == HLO_OP_PARAMETER)
            put_rules_for(out, "clust", dot->cluster_at[to->id], k + 1, red);
    }
}

// ---- the whole ------------------------------------------------------------------------------------------

static void put_header(HloBuffer *out, const Graph *g) {
    hlo_put_string(out, "digraph G {\nrankdir = TB;\ncompound = true;\nlabel = <<b>");
    graph_put_title(out, g);
    hlo_put_string(out, "</b>>;\nlabelloc = t;\ntooltip = \" \";\nstylesheet=<\n  data:text/css,\n"
                        "  @import url(https://fonts.googleapis.com/css?family=Roboto:400,700);\n  svg text {\n"
                        "    font-family: 'Roboto';\n    font-size: 12px;\n  }\n\n");
}

typedef struct DotCall {
    Dot dot;
    HloBuffer *out;
    const HloGraphOptions *options;
} DotCall;

static HloStatus put_dot(void *data) {
    DotCall *call = data;
    Dot *dot = &call->dot;
    graph_start(&dot->graph, dot->comp, call->options);
    dot->node_at = HLO_NEW_ARRAY(&dot->graph.scratch, size_t, dot->graph.number_limit);
    dot->cluster_at = HLO_NEW_ARRAY(&dot->graph.scratch, size_t, dot->comp->m->computation_id_limit);
    graph_walk(&dot->graph, &(GraphVisitor){dot, begin_cluster, end_cluster, put_node, put_root_tag, put_edge});
    put_rules(dot);
    put_header(call->out, &dot->graph);
    const HloBuffer *parts[] = {&dot->rules, &dot->body, &dot->edges};
    for (size_t k = 0; k < HLO_COUNT(parts); k++) {
        HLO_TRY(hlo_buffer_status(parts[k]));
        hlo_put(call->out, parts[k]->data ? parts[k]->data : "", parts[k]->size);
        if (k == 0) hlo_put_string(call->out, "\n>\n\n");
    }
    hlo_put_char(call->out, '}');
    return hlo_buffer_status(call->out);
}

HloStatus hlo_put_dot(HloBuffer *out, const HloComputation *comp, const HloGraphOptions *options) {
    DotCall call = {.dot = {.comp = comp}, .out = out, .options = options};
    HloStatus status = hlo_guarded((HloArena *const[]){&call.dot.graph.scratch, NULL}, put_dot, &call);
    hlo_buffer_free(&call.dot.body);
    hlo_buffer_free(&call.dot.rules);
    hlo_buffer_free(&call.dot.edges);
    hlo_arena_free(&call.dot.graph.scratch);
    return status;
}
