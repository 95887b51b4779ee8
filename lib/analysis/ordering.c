// Order of definitions and uses (§3.4 of the buffer assignment chapter).
//
// Inside one computation: its sequence, where it is scheduled, else what reaches what through operands and control
// edges; across computations, the callers that stand in the nearest common one. In a flat call graph each entered
// computation has one caller, so the computations form a tree.

#include "hlo/dataflow.h"

#include "lib/analysis/flatten.h"

// One computation as it was at the start.
typedef struct Graph {
    const HloInstruction *caller;  // NULL: entry or applied per element
    size_t depth;                  // callers above
    bool in_branch;
    uint32_t *position;         // by instruction id: in post-order
    uint32_t *first_successor;  // by position; one more entry at the end
    uint32_t *successors;       // positions: users and control successors
    size_t count;
    HloBits *reached;  // by position: what it reaches, made when asked for; no words: not yet
    uint32_t *probed;  // by position: the last probe that came by
    uint32_t probes;
    uint32_t *time;  // by instruction id: place in the sequence; NULL: not scheduled
    const HloInstruction *root;
} Graph;

struct HloOrdering {
    HloArena *arena;
    HloDataflow *flow;
    HloSharing *sharing;
    Graph *graphs;   // by computation id
    size_t *ranks;   // by instruction index
    size_t *starts;  // by computation id: rank of its first instruction
};

// ---- making ---------------------------------------------------------------------------------------------

static void count_successors(Graph *graph, HloInstList order) {
    for (size_t i = 0; i < order.count; i++) {
        const HloInstruction *inst = order.items[i];
        graph->first_successor[i + 1] =
            graph->first_successor[i] + (uint32_t)(hlo_user_count(inst) + hlo_control_succs(inst)->count);
    }
}

static void put_successors(Graph *graph, const HloInstruction *inst, uint32_t *next) {
    for (size_t k = 0; k < hlo_user_count(inst); k++) {
        graph->successors[(*next)++] = graph->position[hlo_user(inst, k)->id];
    }
    for (size_t k = 0; k < hlo_control_succs(inst)->count; k++) {
        const HloInstruction *after = hlo_control_succs(inst)->items[k];
        graph->successors[(*next)++] = graph->position[after->id];
    }
}

static void copy_edges(HloOrdering *ordering, Graph *graph, const HloComputation *comp) {
    HloInstList order = ordering->flow->post_order[comp->id];
    graph->count = order.count;
    graph->position = HLO_NEW_ARRAY(ordering->arena, uint32_t, comp->id_limit);
    graph->first_successor = HLO_NEW_ARRAY(ordering->arena, uint32_t, order.count + 1);
    graph->reached = HLO_NEW_ARRAY(ordering->arena, HloBits, order.count);
    graph->probed = HLO_NEW_ARRAY(ordering->arena, uint32_t, order.count);
    for (size_t i = 0; i < order.count; i++) graph->position[order.items[i]->id] = (uint32_t)i;
    count_successors(graph, order);
    graph->successors = HLO_NEW_ARRAY(ordering->arena, uint32_t, graph->first_successor[order.count]);
    for (size_t i = 0; i < order.count; i++) {
        uint32_t next = graph->first_successor[i];
        put_successors(graph, order.items[i], &next);
    }
}

static void copy_sequence(HloOrdering *ordering, Graph *graph, const HloComputation *comp) {
    graph->root = comp->root;
    if (!ordering->flow->m->is_scheduled || comp->sequence_count != comp->count) return;
    graph->time = HLO_NEW_ARRAY(ordering->arena, uint32_t, comp->id_limit);
    for (size_t i = 0; i < comp->sequence_count; i++) graph->time[comp->sequence[i]->id] = (uint32_t)i;
}

// Callers come before callees here, so theirs is known.
static void find_caller(HloOrdering *ordering, Graph *graph, const HloComputation *comp) {
    if (comp->callers.count != 1) return;
    const HloInstruction *caller = comp->callers.items[0];
    if (!hlo_enters_callees(caller->op)) return;
    graph->caller = caller;
    const Graph *outer = &ordering->graphs[graph->caller->comp->id];
    graph->depth = outer->depth + 1;
    graph->in_branch = outer->in_branch || hlo_is(graph->caller, HLO_OP_CONDITIONAL);
}

static void rank_instructions(HloOrdering *ordering) {
    HloDataflow *flow = ordering->flow;
    FlatList flat = flatten(ordering->arena, flow->m, flow->post_order);
    ordering->ranks = HLO_NEW_ARRAY(ordering->arena, size_t, flow->inst_limit);
    ordering->starts = HLO_NEW_ARRAY(ordering->arena, size_t, flow->m->computation_id_limit);
    // Ranks leave room below the first instruction of each computation for its parameters' phis.
    for (size_t i = 0; i < flat.count; i++) ordering->ranks[hlo_flow_index(flow, flat.items[i])] = 2 * i + 1;
    for (size_t i = 0; i < flow->order.count; i++) {
        const HloComputation *comp = flow->order.items[i];
        ordering->starts[comp->id] = flat.starts[comp->id] < 0 ? 0 : 2 * (size_t)flat.starts[comp->id];
        HloInstList order = flow->post_order[comp->id];
        for (size_t k = 0; k < order.count && flat.starts[comp->id] < 0; k++) {
            ordering->ranks[hlo_flow_index(flow, order.items[k])] = 2 * k + 1;
        }
    }
}

HloOrdering *hlo_ordering_new(HloArena *arena, HloDataflow *flow, HloSharing *sharing) {
    HloOrdering *ordering = HLO_NEW(arena, HloOrdering);
    *ordering = (HloOrdering){.arena = arena, .flow = flow, .sharing = sharing};
    ordering->graphs = HLO_NEW_ARRAY(arena, Graph, flow->m->computation_id_limit);
    for (size_t i = flow->order.count; i-- > 0;) {
        const HloComputation *comp = flow->order.items[i];
        find_caller(ordering, &ordering->graphs[comp->id], comp);
        copy_edges(ordering, &ordering->graphs[comp->id], comp);
        copy_sequence(ordering, &ordering->graphs[comp->id], comp);
    }
    rank_instructions(ordering);
    return ordering;
}

// ---- inside a computation -------------------------------------------------------------------------------

static HloBits find_reached(HloOrdering *ordering, Graph *graph, uint32_t from) {
    HloBits reached = hlo_bits_new(ordering->arena, graph->count);
    HloInts stack = {0};
    hlo_ints_push(ordering->arena, &stack, from);
    while (stack.count) {
        size_t at = (size_t)stack.items[--stack.count];
        for (uint32_t i = graph->first_successor[at]; i < graph->first_successor[at + 1]; i++) {
            uint32_t next = graph->successors[i];
            if (hlo_bits_claim(reached, next)) hlo_ints_push(ordering->arena, &stack, next);
        }
    }
    return reached;
}

typedef enum Answer { NO, YES, UNKNOWN } Answer;

// Most questions are about neighbours: looks a few steps ahead before anything is computed in full. Post-order puts
// what is reached later, so nothing behind `to` needs a look.
static Answer probe(Graph *graph, uint32_t from, uint32_t to) {
    enum { MOST_STEPS = 64 };
    uint32_t stack[MOST_STEPS];
    size_t depth = 0, steps = 0;
    uint32_t mark = ++graph->probes;
    stack[depth++] = from;
    while (depth) {
        uint32_t at = stack[--depth];
        for (uint32_t i = graph->first_successor[at]; i < graph->first_successor[at + 1]; i++) {
            uint32_t next = graph->successors[i];
            if (next == to) return YES;
            if (++steps == MOST_STEPS) return UNKNOWN;
            if (next > to || graph->probed[next] == mark) continue;
            graph->probed[next] = mark;
            stack[depth++] = next;
        }
    }
    return NO;
}

// In a sequence a root comes before nothing: its value leaves the computation.
static bool runs_before(HloOrdering *ordering, const HloInstruction *a, const HloInstruction *b) {
    Graph *graph = &ordering->graphs[a->comp->id];
    if (graph->time) return a != graph->root && graph->time[a->id] < graph->time[b->id];
    uint32_t from = graph->position[a->id], to = graph->position[b->id];
    if (from >= to) return false;
    if (!graph->reached[from].words) {
        Answer answer = probe(graph, from, to);
        if (answer != UNKNOWN) return answer == YES;
        graph->reached[from] = find_reached(ordering, graph, from);
    }
    return hlo_bits_has(graph->reached[from], to);
}

// ---- across computations --------------------------------------------------------------------------------

static const Graph *graph_of(const HloOrdering *ordering, const HloInstruction *inst) {
    return &ordering->graphs[inst->comp->id];
}

bool hlo_is_in_branch(const HloOrdering *ordering, const HloInstruction *inst) {
    return graph_of(ordering, inst)->in_branch;
}

// The instruction of `comp` that `inst` is or belongs to; NULL when there is none.
static const HloInstruction *ancestor_in(const HloOrdering *ordering, const HloInstruction *inst,
                                         const HloComputation *comp) {
    size_t depth = ordering->graphs[comp->id].depth;
    while (inst && graph_of(ordering, inst)->depth > depth) inst = graph_of(ordering, inst)->caller;
    return inst && inst->comp == comp ? inst : NULL;
}

bool hlo_is_nested_in(const HloOrdering *ordering, const HloInstruction *inst, const HloComputation *comp) {
    return ancestor_in(ordering, inst, comp) != NULL;
}

// Climbs until both stand in one computation; false when they have none in common.
static bool find_common(const HloOrdering *ordering, const HloInstruction **a, const HloInstruction **b) {
    while ((*a)->comp != (*b)->comp) {
        bool a_deeper = graph_of(ordering, *a)->depth >= graph_of(ordering, *b)->depth;
        const HloInstruction **deeper = a_deeper ? a : b;
        *deeper = graph_of(ordering, *deeper)->caller;
        if (!*deeper) return false;
    }
    return true;
}

typedef enum Relation {
    SAME,
    BEFORE,            // also when it ends first inside a loop or branch
    EXCLUSIVE_BEFORE,  // in an earlier branch of one conditional
    EXCLUSIVE_AFTER,
    AFTER,
    UNORDERED,
} Relation;

// Number of the slot of `caller` through which `inst` is reached; -1: inst is the caller itself.
static int64_t callee_slot(const HloOrdering *ordering, const HloInstruction *inst, const HloInstruction *caller) {
    for (size_t k = 0; k < caller->called.count; k++) {
        if (hlo_is_nested_in(ordering, inst, hlo_called(caller, k))) return (int64_t)k;
    }
    return -1;
}

static Relation relate_in_branches(const HloOrdering *ordering, const HloInstruction *a, const HloInstruction *b,
                                   const HloInstruction *conditional) {
    int64_t a_branch = callee_slot(ordering, a, conditional), b_branch = callee_slot(ordering, b, conditional);
    if (b_branch < 0) return BEFORE;
    if (a_branch < 0) return AFTER;
    return a_branch < b_branch ? EXCLUSIVE_BEFORE : EXCLUSIVE_AFTER;
}

static Relation relate(HloOrdering *ordering, const HloInstruction *a, const HloInstruction *b) {
    if (a == b) return SAME;
    const HloInstruction *a_top = a, *b_top = b;
    if (!find_common(ordering, &a_top, &b_top)) return UNORDERED;
    if (a_top == b_top && hlo_is(a_top, HLO_OP_WHILE)) {
        bool tests_first = callee_slot(ordering, a, a_top) == 1 && callee_slot(ordering, b, a_top) == 0;
        return tests_first ? BEFORE : UNORDERED;
    }
    if (a_top == b_top && hlo_is(a_top, HLO_OP_CONDITIONAL)) return relate_in_branches(ordering, a, b, a_top);
    if (a_top == b_top) return UNORDERED;
    if (runs_before(ordering, a_top, b_top)) return BEFORE;
    return runs_before(ordering, b_top, a_top) ? AFTER : UNORDERED;
}

// ---- definitions and uses -------------------------------------------------------------------------------

static bool is_argument(const HloOrdering *ordering, const HloValue *value) {
    return hlo_is(value->inst, HLO_OP_PARAMETER) && value->inst->comp == ordering->flow->m->entry;
}

static bool is_parameter_phi(const HloValue *value) {
    return value->is_phi && hlo_is(value->inst, HLO_OP_PARAMETER);
}

// A loop's or conditional's result is made after everything inside.
static bool is_result_of(const HloOrdering *ordering, const HloValue *value, const HloInstruction *inside) {
    if (!value->is_phi || hlo_is(value->inst, HLO_OP_PARAMETER)) return false;
    return callee_slot(ordering, inside, value->inst) >= 0;
}

bool hlo_is_defined_before(HloOrdering *ordering, const HloValue *a, const HloValue *b) {
    if (is_argument(ordering, b)) return false;
    if (is_argument(ordering, a)) return true;
    if (is_parameter_phi(a) && !is_parameter_phi(b) && hlo_is_nested_in(ordering, b->inst, a->inst->comp)) return true;
    if (is_parameter_phi(b) && hlo_is_nested_in(ordering, a->inst, b->inst->comp)) return false;
    if (is_result_of(ordering, b, a->inst)) return true;
    Relation relation = relate(ordering, a->inst, b->inst);
    return relation == BEFORE || relation == EXCLUSIVE_BEFORE;
}

// A loop takes its operand over when the body starts; the condition still sees it, through its parameter.
static bool loop_use_is_before(const HloOrdering *ordering, const HloInstruction *loop, const HloValue *value) {
    if (hlo_is_nested_in(ordering, value->inst, hlo_called(loop, 0))) return true;
    return value->inst == hlo_parameter(hlo_called(loop, 1), 0);
}

static bool shares_in_place(HloOrdering *ordering, const HloUse *use, const HloValue *value) {
    const HloInstruction *operand = hlo_operand(use->user, use->operand);
    return hlo_may_share(ordering->sharing, ordering->flow, operand, use->node, value->inst, value->node);
}

// The operand only handed on a value that it did not make.
static bool is_handed_on(const HloOrdering *ordering, const HloUse *use) {
    const HloValue *value = hlo_flow_value_at(ordering->flow, use->from, use->node);
    return !value || value->inst != use->from;
}

bool hlo_use_is_before(HloOrdering *ordering, const HloUse *use, const HloValue *value, HloBranchUses *branches) {
    switch (relate(ordering, use->user, value->inst)) {
    case SAME:
        if (shares_in_place(ordering, use, value)) return true;
        break;
    case EXCLUSIVE_AFTER: branches->has_exclusive = true; return true;
    case BEFORE:
    case EXCLUSIVE_BEFORE: return true;
    case AFTER:
    case UNORDERED: break;
    }
    const HloInstruction *user = use->user;
    if (hlo_is(user, HLO_OP_WHILE) && loop_use_is_before(ordering, user, value)) return true;
    bool is_call = hlo_is(user, HLO_OP_CALL) || hlo_is(user, HLO_OP_CONDITIONAL) || hlo_is(user, HLO_OP_ASYNC_START);
    if (is_call && callee_slot(ordering, value->inst, user) >= 0) {
        if (hlo_is(user, HLO_OP_CONDITIONAL)) branches->has_handed_on |= is_handed_on(ordering, use);
        return true;
    }
    if (hlo_is(user, HLO_OP_CONDITIONAL) && value->inst == user) return true;
    return is_result_of(ordering, value, user);
}

size_t hlo_definition_rank(const HloOrdering *ordering, const HloValue *value) {
    if (is_argument(ordering, value)) return 0;
    if (is_parameter_phi(value)) return ordering->starts[value->inst->comp->id];
    return ordering->ranks[hlo_flow_index(ordering->flow, value->inst)];
}
