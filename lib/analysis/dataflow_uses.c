// Where values stand and who reads them (§1.4).

#include "lib/analysis/dataflow_internal.h"

#include <stdlib.h>

// ---- positions ------------------------------------------------------------------------------------------

typedef void (*PositionFn)(HloDataflow *flow, HloValue *value, const HloInstruction *inst, uint32_t node);

// Every position but the defining ones, in module order.
static void each_position(HloDataflow *flow, PositionFn visit) {
    HLO_EACH_COMP(comp, flow->m) {
        HLO_EACH_INST(inst, comp) {
            uint32_t count = hlo_flow_node_count(flow, inst);
            for (uint32_t node = 0; node < count; node++) {
                HloValueSet set = hlo_flow_set(flow, inst, node);
                for (size_t i = 0; i < set.count; i++) {
                    HloValue *value = &flow->values[set.ids[i]];
                    if (value->inst != inst) visit(flow, value, inst, node);
                }
            }
        }
    }
}

static void count_position(HloDataflow *flow, HloValue *value, const HloInstruction *inst, uint32_t node) {
    (void)flow, (void)inst, (void)node;
    value->position_count++;
}

static void put_position(HloDataflow *flow, HloValue *value, const HloInstruction *inst, uint32_t node) {
    (void)flow;
    HloPosition *positions = (HloPosition *)(uintptr_t)value->positions;
    positions[value->position_count++] = (HloPosition){inst, node};
}

void collect_positions(HloDataflow *flow) {
    each_position(flow, count_position);
    for (size_t v = 0; v < flow->value_limit; v++) {
        HloValue *value = &flow->values[v];
        if (!value->inst) continue;
        HloPosition *positions = HLO_NEW_ARRAY(flow->arena, HloPosition, value->position_count + 1);
        positions[0] = (HloPosition){value->inst, value->node};
        value->positions = positions;
        value->position_count = 1;
    }
    each_position(flow, put_position);
}

// ---- operand edges: for each instruction who has it as which operand ------------------------------------

typedef struct Edge {
    const HloInstruction *user;
    uint32_t operand;
    uint32_t rank;  // of the user among the users
} Edge;

typedef struct Edges {
    Edge *items;  // ordered by user list, then operand number
    size_t count;
    Edge *nested;  // tuples: the edges that may read more than the table
    size_t nested_count;
} Edges;

static int compare_edges(const void *a, const void *b) {
    const Edge *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->operand > y->operand) - (x->operand < y->operand);
}

static bool may_read(const HloInstruction *user, uint32_t node) {
    switch (user->op) {
    case HLO_OP_GET_TUPLE_ELEMENT:
    case HLO_OP_COPY: return node == 0;
    case HLO_OP_TUPLE:
    case HLO_OP_DOMAIN: return false;
    default: return true;
    }
}

static void gather_edges(const HloDataflow *flow, const HloComputation *comp, Edges *edges) {
    HLO_EACH_INST(inst, comp) {
        for (size_t k = 0; k < hlo_operand_count(inst); k++) edges[hlo_operand(inst, k)->id].count++;
    }
    HLO_EACH_INST(inst, comp) {
        Edges *mine = &edges[inst->id];
        mine->items = HLO_NEW_ARRAY(flow->arena, Edge, mine->count);
        mine->count = 0;
    }
    HLO_EACH_INST(inst, comp) {
        for (size_t k = 0; k < hlo_operand_count(inst); k++) {
            Edges *theirs = &edges[hlo_operand(inst, k)->id];
            theirs->items[theirs->count++] = (Edge){inst, (uint32_t)k, 0};
        }
    }
}

// Brings the edges into user order; `rank` is scratch by instruction id.
static void order_edges(const HloInstruction *inst, Edges *edges, uint32_t *rank) {
    for (size_t i = 0; i < hlo_user_count(inst); i++) rank[hlo_user(inst, i)->id] = (uint32_t)i;
    for (size_t i = 0; i < edges->count; i++) edges->items[i].rank = rank[edges->items[i].user->id];
    qsort(edges->items, edges->count, sizeof *edges->items, compare_edges);
}

static void pick_nested(const HloDataflow *flow, Edges *edges) {
    edges->nested = HLO_NEW_ARRAY(flow->arena, Edge, edges->count);
    for (size_t i = 0; i < edges->count; i++) {
        const HloInstruction *user = edges->items[i].user;
        if (may_read(user, 1) || hlo_is_root(user)) edges->nested[edges->nested_count++] = edges->items[i];
    }
}

static Edges **index_edges(const HloDataflow *flow) {
    Edges **by_comp = HLO_NEW_ARRAY(flow->arena, Edges *, flow->m->computation_id_limit);
    HLO_EACH_COMP(comp, flow->m) {
        Edges *edges = HLO_NEW_ARRAY(flow->arena, Edges, comp->id_limit);
        uint32_t *rank = HLO_NEW_ARRAY(flow->arena, uint32_t, comp->id_limit);
        gather_edges(flow, comp, edges);
        HLO_EACH_INST(inst, comp) {
            order_edges(inst, &edges[inst->id], rank);
            if (hlo_shape_is_tuple(inst->shape)) pick_nested(flow, &edges[inst->id]);
        }
        by_comp[comp->id] = edges;
    }
    return by_comp;
}

// ---- uses -----------------------------------------------------------------------------------------------

typedef struct UseList {
    HloArena *arena;
    HloUse *items;
    size_t count, capacity;
} UseList;

static void push_use(UseList *list, HloUse use) {
    if (list->count == list->capacity)
        list->items = hlo_arena_grow(list->arena, list->items, &list->capacity, 1024, sizeof *list->items);
    list->items[list->count++] = use;
}

// `root_of` says by computation id at the root of which computations the value stands: there the root counts as
// its reader, even a tuple.
static void uses_at(UseList *list, const Edges *edges, const HloPosition *position, const int32_t *root_of,
                    int32_t id) {
    const Edge *items = position->node ? edges->nested : edges->items;
    size_t count = position->node ? edges->nested_count : edges->count;
    for (size_t i = 0; i < count; i++) {
        const HloInstruction *user = items[i].user;
        bool counts = may_read(user, position->node) || (hlo_is_root(user) && root_of[user->comp->id] == id);
        if (counts) push_use(list, (HloUse){user, items[i].operand, position->node, position->inst});
    }
}

static void uses_of(HloDataflow *flow, Edges **edges, HloValue *value, int32_t *root_of, UseList *list) {
    for (size_t i = 0; i < value->position_count; i++) {
        const HloInstruction *inst = value->positions[i].inst;
        if (!hlo_is_root(inst)) continue;
        root_of[inst->comp->id] = value->id;
        if (inst->comp == flow->m->entry) value->live_out = true;
    }
    for (size_t i = 0; i < value->position_count; i++) {
        const HloInstruction *inst = value->positions[i].inst;
        uses_at(list, &edges[inst->comp->id][inst->id], &value->positions[i], root_of, value->id);
    }
}

void collect_uses(HloDataflow *flow) {
    Edges **edges = index_edges(flow);
    int32_t *root_of = HLO_NEW_ARRAY(flow->arena, int32_t, flow->m->computation_id_limit);
    for (size_t i = 0; i < flow->m->computation_id_limit; i++) root_of[i] = -1;
    UseList list = {.arena = flow->arena};
    for (size_t v = 0; v < flow->value_limit; v++) {
        HloValue *value = &flow->values[v];
        if (!value->inst) continue;
        size_t first = list.count;
        uses_of(flow, edges, value, root_of, &list);
        value->use_count = list.count - first;
    }
    // Only now the list stays where it is.
    size_t next = 0;
    for (size_t v = 0; v < flow->value_limit; v++) {
        HloValue *value = &flow->values[v];
        if (value->use_count) value->uses = list.items + next;
        next += value->use_count;
    }
}
