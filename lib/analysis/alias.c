// Alias analysis: groups the values that must share memory (§2 of the buffer assignment chapter).

#include "lib/analysis/dataflow_internal.h"

#include <stdlib.h>

// "While value `from` is handled, it meets `to`." The order of handling decides the ids of groups. Whatever meets
// something also meets itself.
typedef struct Meeting {
    int32_t from, to;
} Meeting;

typedef struct Aliases {
    HloDataflow *flow;
    HloSharing *sharing;
    HloArena *arena;
    Meeting *meetings;
    size_t count, capacity;
    bool ambiguous;   // some place that must be one value may hold several
    int32_t *parent;  // union-find over value ids
    int32_t *size;    // of the sets, at their parents
} Aliases;

static void put_meeting(Aliases *aliases, int32_t from, int32_t to) {
    if (aliases->count == aliases->capacity)
        aliases->meetings =
            hlo_arena_grow(aliases->arena, aliases->meetings, &aliases->capacity, 64, sizeof *aliases->meetings);
    aliases->meetings[aliases->count++] = (Meeting){from, to};
}

static void meet(Aliases *aliases, HloValueSet from, HloValueSet to) {
    if (!from.count || !to.count) return;
    aliases->ambiguous |= to.count > 1;
    for (size_t i = 0; i < from.count; i++) {
        put_meeting(aliases, from.ids[i], from.ids[i]);
        put_meeting(aliases, from.ids[i], to.ids[0]);
    }
}

// ---- the rules ------------------------------------------------------------------------------------------

static void meet_input_outputs(Aliases *aliases) {
    const HloModule *m = aliases->flow->m;
    const HloInstruction *root = m->entry->root;
    for (size_t i = 0; i < m->input_output_alias.count; i++) {
        const HloAlias *alias = &m->input_output_alias.items[i];
        if (alias->parameter < 0 || (uint64_t)alias->parameter >= hlo_parameter_count(m->entry)) continue;
        const HloInstruction *parameter = hlo_parameter(m->entry, (size_t)alias->parameter);
        uint32_t output = hlo_node_at(&aliases->flow->nodes, root->shape, alias->output);
        uint32_t input = hlo_node_at(&aliases->flow->nodes, parameter->shape, alias->input);
        if (output == UINT32_MAX || input == UINT32_MAX) continue;
        meet(aliases, hlo_flow_set(aliases->flow, root, output), hlo_flow_set(aliases->flow, parameter, input));
    }
}

// All nodes that both have.
static void meet_nodes(Aliases *aliases, const HloInstruction *from, const HloInstruction *to) {
    uint32_t count = hlo_flow_node_count(aliases->flow, to);
    uint32_t other = hlo_flow_node_count(aliases->flow, from);
    for (uint32_t node = 0; node < count && node < other; node++) {
        meet(aliases, hlo_flow_set(aliases->flow, from, node), hlo_flow_set(aliases->flow, to, node));
    }
}

static void meet_parameter_phis(Aliases *aliases, const HloInstruction *parameter, const HloInstruction *loop) {
    uint32_t count = hlo_flow_node_count(aliases->flow, loop);
    uint32_t other = hlo_flow_node_count(aliases->flow, parameter);
    for (uint32_t node = 0; node < count && node < other; node++) {
        const HloValue *value = hlo_flow_value_at(aliases->flow, parameter, node);
        if (!value || !value->is_phi || value->inst != parameter || value->node != node) continue;
        meet(aliases, hlo_flow_set(aliases->flow, parameter, node), hlo_flow_set(aliases->flow, loop, node));
    }
}

static HloStatus meet_loop(Aliases *aliases, const HloInstruction *loop) {
    for (size_t k = 0; k < loop->called.count; k++) {
        const HloComputation *comp = hlo_called(loop, k);
        if (comp->callers.count != 1) {
            return hlo_error(HLO_FAILED_PRECONDITION,
                             "Call graph must have been flattened: computation %s has %u callers", comp->name,
                             comp->callers.count);
        }
        if (hlo_parameter_count(comp)) meet_parameter_phis(aliases, hlo_parameter(comp, 0), loop);
    }
    meet_nodes(aliases, hlo_operand(loop, 0), loop);
    meet_nodes(aliases, hlo_called(loop, 0)->root, loop);
    return hlo_ok();
}

static HloStatus meet_branches(Aliases *aliases, const HloInstruction *conditional) {
    for (size_t k = 0; k < conditional->called.count; k++) {
        const HloComputation *comp = hlo_called(conditional, k);
        if (comp->callers.count != 1) {
            return hlo_error(HLO_FAILED_PRECONDITION,
                             "Call graph must have been flattened: computation %s has %u callers", comp->name,
                             comp->callers.count);
        }
        meet_nodes(aliases, comp->root, conditional);
    }
    return hlo_ok();
}

static void meet_in_place(Aliases *aliases, const HloInstruction *inst) {
    HloInPlacePairs pairs = hlo_in_place_pairs(aliases->sharing, inst);
    for (size_t i = 0; i < pairs.count; i++) {
        const HloInPlacePair *pair = &pairs.items[i];
        if (pair->operand >= hlo_operand_count(inst)) continue;
        HloValueSet operand = hlo_flow_set(aliases->flow, hlo_operand(inst, pair->operand), pair->operand_node);
        HloValueSet output = hlo_flow_set(aliases->flow, inst, pair->output_node);
        meet(aliases, operand, output);
        meet(aliases, output, operand);
    }
}

static HloStatus apply_rules(Aliases *aliases) {
    meet_input_outputs(aliases);
    HLO_EACH_COMP(comp, aliases->flow->m) {
        HLO_EACH_INST(inst, comp) {
            if (hlo_is(inst, HLO_OP_WHILE))
                HLO_TRY(meet_loop(aliases, inst));
            else if (hlo_is(inst, HLO_OP_CONDITIONAL))
                HLO_TRY(meet_branches(aliases, inst));
            else
                meet_in_place(aliases, inst);
        }
    }
    if (!aliases->ambiguous) return hlo_ok();
    return hlo_error(HLO_FAILED_PRECONDITION,
                     "Call graph must have been flattened: values of several callers meet in one place");
}

// ---- the groups -----------------------------------------------------------------------------------------

static int compare_meetings(const void *a, const void *b) {
    const Meeting *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static int32_t set_of(Aliases *aliases, int32_t id) {
    int32_t *parent = aliases->parent;
    while (parent[id] != id) {
        parent[id] = parent[parent[id]];
        id = parent[id];
    }
    return id;
}

// Joins the sets of one value and all it meets into the largest of them; among equals, the one found through the
// smallest value.
static void join_meetings(Aliases *aliases, const Meeting *meetings, size_t count) {
    int32_t largest = set_of(aliases, meetings[0].to);
    for (size_t i = 1; i < count; i++) {
        int32_t set = set_of(aliases, meetings[i].to);
        if (aliases->size[set] > aliases->size[largest]) largest = set;
    }
    for (size_t i = 0; i < count; i++) {
        int32_t set = set_of(aliases, meetings[i].to);
        if (set == largest) continue;
        aliases->parent[set] = largest;
        aliases->size[largest] += aliases->size[set];
    }
}

static void join_all(Aliases *aliases) {
    size_t values = aliases->flow->value_limit;
    aliases->parent = HLO_NEW_ARRAY(aliases->arena, int32_t, values);
    aliases->size = HLO_NEW_ARRAY(aliases->arena, int32_t, values);
    for (size_t v = 0; v < values; v++) {
        aliases->parent[v] = (int32_t)v;
        aliases->size[v] = 1;
    }
    if (aliases->count) qsort(aliases->meetings, aliases->count, sizeof *aliases->meetings, compare_meetings);
    for (size_t i = 0, end; i < aliases->count; i = end) {
        for (end = i + 1; end < aliases->count && aliases->meetings[end].from == aliases->meetings[i].from;) end++;
        join_meetings(aliases, aliases->meetings + i, end - i);
    }
}

static void number_groups(Aliases *aliases, HloAliasing *result) {
    const HloDataflow *flow = aliases->flow;
    result->group_of = HLO_NEW_ARRAY(aliases->arena, int32_t, flow->value_limit);
    int32_t *number = HLO_NEW_ARRAY(aliases->arena, int32_t, flow->value_limit);
    for (size_t v = 0; v < flow->value_limit; v++) {
        if (flow->values[v].inst && aliases->parent[v] == (int32_t)v) number[v] = (int32_t)result->group_count++;
    }
    result->groups = HLO_NEW_ARRAY(aliases->arena, HloValueGroup, result->group_count);
    for (size_t v = 0; v < flow->value_limit; v++) {
        result->group_of[v] = flow->values[v].inst ? number[set_of(aliases, (int32_t)v)] : -1;
        if (result->group_of[v] >= 0) result->groups[result->group_of[v]].count++;
    }
    for (size_t g = 0; g < result->group_count; g++) {
        HloValueGroup *group = &result->groups[g];
        group->id = (int32_t)g;
        group->ids = HLO_NEW_ARRAY(aliases->arena, int32_t, group->count);
        group->count = 0;
    }
    for (size_t v = 0; v < flow->value_limit; v++) {
        if (result->group_of[v] < 0) continue;
        HloValueGroup *group = &result->groups[result->group_of[v]];
        ((int32_t *)(uintptr_t)group->ids)[group->count++] = (int32_t)v;
    }
}

HloStatus hlo_aliasing_run(HloArena *arena, HloDataflow *flow, HloSharing *sharing, HloAliasing **out) {
    Aliases aliases = {.flow = flow, .sharing = sharing, .arena = arena};
    HLO_TRY(apply_rules(&aliases));
    join_all(&aliases);
    HloAliasing *result = HLO_NEW(arena, HloAliasing);
    result->flow = flow;
    number_groups(&aliases, result);
    *out = result;
    return hlo_ok();
}
