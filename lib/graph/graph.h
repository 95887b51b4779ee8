// What the files of lib/graph share. Private to lib/graph.
#ifndef HLO_GRAPH_GRAPH_H
#define HLO_GRAPH_GRAPH_H

#include "hlo/graph.h"
#include "hlo/text.h"

typedef struct GraphColours {
    const char *style, *fill, *border, *text;
} GraphColours;

// An arrow between boxes.
typedef enum GraphEdgeKind { GRAPH_OPERAND, GRAPH_CONTROL, GRAPH_CALL, GRAPH_ROOT } GraphEdgeKind;
typedef struct GraphEdge {
    GraphEdgeKind kind;
    const HloInstruction *from, *to;  // GRAPH_ROOT: `to` is NULL; GRAPH_CALL: from the callee's root to the caller
    size_t operand;                   // GRAPH_OPERAND
    const HloComputation *callee;     // GRAPH_CALL
} GraphEdge;

// What is shown of one computation, and the numbers of things. Instructions and computations have numbers that are
// unique in the picture: those of an instruction come from its computation's base.
typedef struct Graph {
    HloArena scratch;
    const HloGraphOptions *options;
    const HloComputation *shown;
    size_t *base;         // by computation id: number of its instruction 0
    size_t number_limit;  // numbers of instructions are below; computation k has number number_limit + k
    HloBits drawn;        // computations that stand in the picture
    HloPrintOptions print;
    HloMap sharding_colours;  // text -> 1 + place in the order of appearance
    HloMap merged;            // parameter -> whether its users name it, as MERGED_YES or MERGED_NO
    HloMap small;             // tuple shape -> the same for being small
} Graph;

static inline size_t graph_number(const Graph *g, const HloInstruction *inst) {
    return g->base[inst->comp->id] + inst->id;
}
static inline size_t graph_computation_number(const Graph *g, const HloComputation *comp) {
    return g->number_limit + comp->id;
}

// ---- what is shown (shown.c) ----------------------------------------------------------------------------

void graph_start(Graph *g, const HloComputation *comp, const HloGraphOptions *options);
// Whether a called computation is drawn inside.
bool graph_shows_callee(const Graph *g, const HloInstruction *caller, const HloComputation *callee);
// A fusion that is drawn as what it holds.
bool graph_is_opened(const Graph *g, const HloInstruction *inst);
// Whether it has a box of its own; the others are named in the boxes of their users or drawn as clusters.
bool graph_has_node(Graph *g, const HloInstruction *inst);
// The box at which an arrow from a value begins; NULL when it has none.
const HloInstruction *graph_source(Graph *g, const HloInstruction *value);
// The constant that a parameter of a fusion stands for; NULL: none.
const HloInstruction *graph_parameter_constant(const HloInstruction *inst);
// The operand that a parameter of a fusion stands for; NULL: it is no such parameter.
HloInstruction *graph_outer_operand(const HloInstruction *inst);
bool graph_is_merged_tuple_parameter(Graph *g, const HloInstruction *inst);
bool graph_is_fused_splat(const HloInstruction *inst);
// The word for a computation of two parameters and one operation, as `max`; NULL: it is none.
const char *graph_trivial_word(const HloComputation *comp);
// Fewer than 4096 elements in all, or opaque.
bool graph_is_small(Graph *g, const HloShape *shape);

// ---- texts (node.c) -------------------------------------------------------------------------------------

void graph_put_escaped(HloBuffer *out, const char *text, size_t size);
// The lines of a box, joined by `<br/>`.
void graph_put_node_text(Graph *g, HloBuffer *out, const HloInstruction *inst);
// The heading of a cluster.
void graph_put_cluster_text(Graph *g, HloBuffer *out, const HloInstruction *caller, const HloComputation *comp);
// Where the instruction comes from, for a quoted tooltip: `"` and `\` are escaped, `<` and `>` of files and functions
// are not.
void graph_put_origin(HloBuffer *out, const HloInstruction *inst);
void graph_put_title(HloBuffer *out, const Graph *g);

// ---- colours (colours.c) --------------------------------------------------------------------------------

GraphColours graph_colours(Graph *g, const HloInstruction *inst);
GraphColours graph_root_colours(void);

// ---- the walk (walk.c) ----------------------------------------------------------------------------------

// Calls what it is given for everything that is drawn, in the order of the text for `dot`.
typedef struct GraphVisitor {
    void *data;
    void (*begin_cluster)(void *data, const HloInstruction *caller, const HloComputation *comp);
    void (*end_cluster)(void *data, const HloComputation *comp);
    void (*node)(void *data, const HloInstruction *inst);
    void (*root_tag)(void *data, const HloInstruction *source);
    void (*edge)(void *data, const GraphEdge *edge);
} GraphVisitor;
void graph_walk(Graph *g, const GraphVisitor *visitor);

#endif
