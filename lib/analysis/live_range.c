// Live ranges over the flattened schedule (§3.1 to §3.3 of the buffer assignment chapter).

#include "hlo/dataflow.h"

#include "lib/analysis/flatten.h"

#include <stdlib.h>

typedef struct Ranges {
    HloDataflow *flow;
    HloArena *arena;
    HloLiveRanges *out;
    HloBits donated;  // by value id
} Ranges;

static int64_t time_of(const Ranges *ranges, const HloInstruction *inst) {
    return ranges->out->times[hlo_flow_index(ranges->flow, inst)];
}

static HloStatus flatten_schedule(Ranges *ranges) {
    const HloModule *m = ranges->flow->m;
    HloInstList *order = HLO_NEW_ARRAY(ranges->arena, HloInstList, m->computation_id_limit);
    HLO_EACH_COMP(comp, m) {
        order[comp->id] = (HloInstList){comp->sequence, comp->sequence_count};
        if (comp->sequence || hlo_is_fusion_computation(comp)) continue;
        return hlo_error(HLO_FAILED_PRECONDITION, "computation %s is missing from HLO schedule.", comp->name);
    }
    FlatList flat = flatten(ranges->arena, m, order);
    HloLiveRanges *out = ranges->out;
    out->sequence = flat.items;
    out->sequence_count = flat.count;
    out->times = HLO_NEW_ARRAY(ranges->arena, int64_t, ranges->flow->inst_limit);
    for (size_t i = 0; i < ranges->flow->inst_limit; i++) out->times[i] = -1;
    for (size_t i = 0; i < flat.count; i++) out->times[hlo_flow_index(ranges->flow, flat.items[i])] = (int64_t)i;
    out->computations = HLO_NEW_ARRAY(ranges->arena, HloRange, m->computation_id_limit);
    for (size_t i = 0; i < m->computation_id_limit; i++) {
        out->computations[i] = (HloRange){flat.starts[i], flat.ends[i]};
    }
    return hlo_ok();
}

// ---- one value ------------------------------------------------------------------------------------------

static int64_t position_end(const Ranges *ranges, const HloInstruction *inst) {
    if (hlo_is_root(inst)) return ranges->out->computations[inst->comp->id].end;
    return time_of(ranges, inst);
}

// A call reads nothing itself, its callee does; a loop has taken over its operand when its body starts.
static int64_t use_time(const Ranges *ranges, const HloInstruction *user) {
    if (hlo_is(user, HLO_OP_CALL)) return -1;
    if (!hlo_is(user, HLO_OP_WHILE)) return time_of(ranges, user);
    const HloComputation *body = hlo_called(user, 0);
    return hlo_parameter_count(body) ? time_of(ranges, hlo_parameter(body, 0)) : time_of(ranges, user);
}

static HloRange range_of(const Ranges *ranges, const HloValue *value) {
    const HloInstruction *inst = value->inst;
    const HloModule *m = ranges->flow->m;
    HloRange span = ranges->out->computations[inst->comp->id];
    int64_t time = time_of(ranges, inst);
    if (time < 0) return (HloRange){-1, -1};
    HloRange range = {hlo_is(inst, HLO_OP_PARAMETER) ? span.start : time, position_end(ranges, inst)};
    bool is_argument = hlo_is(inst, HLO_OP_PARAMETER) && inst->comp == m->entry;
    if (is_argument && !hlo_bits_has(ranges->donated, (size_t)value->id)) {
        return (HloRange){range.start, (int64_t)ranges->out->sequence_count};
    }
    for (size_t i = 1; i < value->position_count; i++) {
        int64_t end = position_end(ranges, value->positions[i].inst);
        if (end > range.end) range.end = end;
    }
    for (size_t i = 0; i < value->use_count; i++) {
        int64_t end = use_time(ranges, value->uses[i].user);
        if (end > range.end) range.end = end;
    }
    return range;
}

// ---- values that share memory ---------------------------------------------------------------------------

typedef struct Item {
    HloRange range;
    int32_t id;
} Item;

static int compare_items(const void *a, const void *b) {
    const Item *x = a, *y = b;
    if (x->range.start != y->range.start) return x->range.start < y->range.start ? -1 : 1;
    if (x->range.end != y->range.end) return x->range.end < y->range.end ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

// Makes the ranges of one group follow each other: each ends where the next begins (§3.3).
static void normalise(Ranges *ranges, const HloValueGroup *group, Item *items) {
    size_t count = 0;
    for (size_t i = 0; i < group->count; i++) {
        HloRange range = ranges->out->values[group->ids[i]];
        if (range.start >= 0) items[count++] = (Item){range, group->ids[i]};
    }
    if (count < 2) return;
    qsort(items, count, sizeof *items, compare_items);
    for (size_t i = 0; i + 1 < count; i++) {
        HloRange *a = &items[i].range, *b = &items[i + 1].range;
        if (a->end > b->end) b->end = a->end;
        if (a->end > b->start) a->end = b->start;
    }
    for (size_t i = 0; i < count; i++) ranges->out->values[items[i].id] = items[i].range;
}

HloStatus hlo_live_ranges_run(HloArena *arena, const HloAliasing *aliasing, HloLiveRanges **out) {
    HloLiveRanges *result = HLO_NEW(arena, HloLiveRanges);
    Ranges ranges = {.flow = aliasing->flow, .arena = arena, .out = result};
    HLO_TRY(flatten_schedule(&ranges));
    ranges.donated = hlo_donated_values(arena, ranges.flow);
    result->values = HLO_NEW_ARRAY(arena, HloRange, aliasing->flow->value_limit);
    for (size_t v = 0; v < aliasing->flow->value_limit; v++) {
        const HloValue *value = &aliasing->flow->values[v];
        result->values[v] = value->inst ? range_of(&ranges, value) : (HloRange){-1, -1};
    }
    size_t largest = 0;
    for (size_t g = 0; g < aliasing->group_count; g++) {
        if (aliasing->groups[g].count > largest) largest = aliasing->groups[g].count;
    }
    Item *items = HLO_NEW_ARRAY(arena, Item, largest);
    for (size_t g = 0; g < aliasing->group_count; g++) normalise(&ranges, &aliasing->groups[g], items);
    *out = result;
    return hlo_ok();
}
