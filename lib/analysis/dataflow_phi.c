// Clean-up of phi values (§1.3): a phi that merges only one value is that value.
//
// Two rules, after which no phi can be replaced any more:
//   - all non-phi values from which a phi can come, through any phis, are one and the same: it is that one
//   - all inputs of a phi but itself are the same phi: it is that phi

#include "lib/analysis/dataflow_internal.h"

// What reaches a phi through phis: nothing yet, one value (its id), or several.
enum { REACH_NONE = -1, REACH_MANY = -2 };

typedef struct Phis {
    Flow *flow;
    int32_t *reach;      // by value id
    int32_t *instead;    // by value id: the replacement, itself when there is none
    size_t *first_user;  // by value id, into users; one more entry at the end
    int32_t *users;      // phis that have it as an input
} Phis;

static int32_t resolve(const Phis *phis, int32_t id) {
    while (phis->instead[id] != id) id = phis->instead[id];
    return id;
}

static void index_users(Phis *phis) {
    const Flow *flow = phis->flow;
    phis->first_user = HLO_NEW_ARRAY(flow->arena, size_t, flow->value_count + 1);
    for (size_t v = 0; v < flow->value_count; v++) {
        for (size_t i = 0; i < flow->phis[v].count; i++) phis->first_user[flow->phis[v].ids[i] + 1]++;
    }
    for (size_t v = 0; v < flow->value_count; v++) phis->first_user[v + 1] += phis->first_user[v];
    phis->users = HLO_NEW_ARRAY(flow->arena, int32_t, phis->first_user[flow->value_count]);
    size_t *next = hlo_arena_copy(flow->arena, phis->first_user, (flow->value_count + 1) * sizeof *next);
    for (size_t v = 0; v < flow->value_count; v++) {
        for (size_t i = 0; i < flow->phis[v].count; i++) phis->users[next[flow->phis[v].ids[i]]++] = (int32_t)v;
    }
}

static bool join(int32_t *into, int32_t reach) {
    if (reach == REACH_NONE || *into == reach || *into == REACH_MANY) return false;
    *into = *into == REACH_NONE ? reach : REACH_MANY;
    return true;
}

// Each phi's reach rises at most twice, so the whole is linear in the inputs.
static void spread_reach(Phis *phis) {
    const Flow *flow = phis->flow;
    HloInts stack = {0};
    for (size_t v = 0; v < flow->value_count; v++) {
        phis->reach[v] = flow->values[v].is_phi ? REACH_NONE : (int32_t)v;
        if (!flow->values[v].is_phi) hlo_ints_push(flow->arena, &stack, (int64_t)v);
    }
    while (stack.count) {
        int64_t v = stack.items[--stack.count];
        for (size_t i = phis->first_user[v]; i < phis->first_user[v + 1]; i++) {
            int32_t user = phis->users[i];
            if (join(&phis->reach[user], phis->reach[v])) hlo_ints_push(flow->arena, &stack, user);
        }
    }
    for (size_t v = 0; v < flow->value_count; v++) {
        if (flow->values[v].is_phi && phis->reach[v] >= 0) phis->instead[v] = phis->reach[v];
    }
}

static int32_t only_input(const Phis *phis, int32_t v) {
    int32_t only = -1;
    for (size_t i = 0; i < phis->flow->phis[v].count; i++) {
        int32_t input = resolve(phis, phis->flow->phis[v].ids[i]);
        if (input == v || input == only) continue;
        if (only >= 0) return -1;
        only = input;
    }
    return only;
}

// Inputs mostly have smaller ids, so few sweeps are needed.
static void drop_trivial(Phis *phis) {
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t v = 0; v < phis->flow->value_count; v++) {
            if (!phis->flow->values[v].is_phi || phis->instead[v] != (int32_t)v) continue;
            int32_t input = only_input(phis, (int32_t)v);
            if (input < 0) continue;
            phis->instead[v] = input;
            changed = true;
        }
    }
}

static void resolve_set(const Phis *phis, HloValueSet *set) {
    int32_t *ids = HLO_NEW_ARRAY(phis->flow->arena, int32_t, set->count);
    size_t count = 0;
    for (size_t i = 0; i < set->count; i++) {
        int32_t id = resolve(phis, set->ids[i]);
        size_t at = count;
        while (at && ids[at - 1] > id) at--;
        if (at && ids[at - 1] == id) continue;
        memmove(ids + at + 1, ids + at, (count - at) * sizeof *ids);
        ids[at] = id;
        count++;
    }
    *set = (HloValueSet){ids, count};
}

static void replace_in_slots(const Phis *phis) {
    HloDataflow *out = phis->flow->out;
    size_t total = out->first_slot[out->inst_limit];
    for (size_t i = 0; i < total; i++) {
        if (out->slots[i] >= 0) out->slots[i] = resolve(phis, out->slots[i]);
    }
    for (size_t i = 0; i < out->sets.count; i++) resolve_set(phis, out->sets.items[i]);
}

// A phi that no longer stands where it was made is gone; its id stays unused.
static void delete_unplaced(Flow *flow) {
    for (size_t v = 0; v < flow->value_count; v++) {
        HloValue *value = &flow->values[v];
        if (!value->is_phi || !value->inst) continue;
        if (*slot_at(flow->out, value->inst, value->node) != value->id) value->inst = NULL;
    }
}

void simplify_phis(Flow *flow) {
    Phis phis = {.flow = flow};
    phis.reach = HLO_NEW_ARRAY(flow->arena, int32_t, flow->value_count);
    phis.instead = HLO_NEW_ARRAY(flow->arena, int32_t, flow->value_count);
    for (size_t v = 0; v < flow->value_count; v++) phis.instead[v] = (int32_t)v;
    delete_unplaced(flow);
    index_users(&phis);
    spread_reach(&phis);
    drop_trivial(&phis);
    replace_in_slots(&phis);
    delete_unplaced(flow);
}
