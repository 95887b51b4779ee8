// Propagation of values to a fixed point, in an order that decides the ids of phi values (§1.3).

#include "lib/analysis/dataflow_internal.h"

#include "lib/analysis/flatten.h"

#include <stdlib.h>

// ---- the queue: a binary heap of priorities, each queued once -------------------------------------------

static void sift_up(uint32_t *heap, size_t at) {
    while (at && heap[(at - 1) / 2] > heap[at]) {
        uint32_t parent = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = heap[at];
        heap[at] = parent;
        at = (at - 1) / 2;
    }
}

static void sift_down(uint32_t *heap, size_t count) {
    for (size_t at = 0;;) {
        size_t child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && heap[child + 1] < heap[child]) child++;
        if (heap[at] <= heap[child]) return;
        uint32_t kept = heap[at];
        heap[at] = heap[child];
        heap[child] = kept;
        at = child;
    }
}

static void enqueue(Flow *flow, const HloInstruction *inst) {
    uint32_t priority = flow->priority[hlo_flow_index(flow->out, inst)];
    if (!hlo_bits_claim(flow->queued, priority)) return;
    flow->heap[flow->heap_count] = priority;
    sift_up(flow->heap, flow->heap_count++);
}

static const HloInstruction *dequeue(Flow *flow) {
    uint32_t priority = flow->heap[0];
    flow->heap[0] = flow->heap[--flow->heap_count];
    sift_down(flow->heap, flow->heap_count);
    hlo_bits_remove(flow->queued, priority);
    return flow->by_priority[priority];
}

static void set_priority(Flow *flow, const HloInstruction *inst, size_t *next) {
    flow->by_priority[*next] = inst;
    flow->priority[hlo_flow_index(flow->out, inst)] = (uint32_t)(*next)++;
}

// What the entry enters one after another is numbered in that order, after everything else.
static void set_priorities(Flow *flow) {
    HloDataflow *out = flow->out;
    size_t total = hlo_module_instruction_count(out->m);
    flow->by_priority = HLO_NEW_ARRAY(flow->arena, const HloInstruction *, total);
    flow->priority = HLO_NEW_ARRAY(flow->arena, uint32_t, out->inst_limit);
    flow->heap = HLO_NEW_ARRAY(flow->arena, uint32_t, total);
    flow->queued = hlo_bits_new(flow->arena, total);

    FlatList flat = flatten(flow->arena, out->m, out->post_order);
    size_t next = 0;
    for (size_t i = 0; i < out->order.count; i++) {
        const HloComputation *comp = out->order.items[i];
        if (flat.starts[comp->id] >= 0) continue;
        HLO_EACH_INST(inst, comp) set_priority(flow, inst, &next);
    }
    for (size_t i = 0; i < flat.count; i++) set_priority(flow, flat.items[i], &next);
}

// ---- sets -----------------------------------------------------------------------------------------------

static bool same_set(HloValueSet a, HloValueSet b) {
    return a.count == b.count && (a.count == 0 || memcmp(a.ids, b.ids, a.count * sizeof *a.ids) == 0);
}

static bool copy_segment(Flow *flow, const HloInstruction *inst, const Segment *segment) {
    bool changed = false;
    int32_t *to = slot_at(flow->out, inst, segment->to_node);
    const int32_t *from = slot_at(flow->out, segment->from, segment->from_node);
    for (uint32_t i = 0; i < segment->count; i++) {
        if (to[i] == from[i]) continue;
        to[i] = from[i];
        changed = true;
    }
    return changed;
}

static void gather_ids(Flow *flow, const HloVec *inputs, uint32_t node) {
    flow->ids.count = 0;
    for (size_t i = 0; i < inputs->count; i++) {
        const HloInstruction *input = inputs->items[i];
        if (node >= hlo_flow_node_count(flow->out, input)) continue;
        HloValueSet set = hlo_flow_set(flow->out, input, node);
        for (size_t k = 0; k < set.count; k++) hlo_ints_push(flow->arena, &flow->ids, set.ids[k]);
    }
}

static int compare_ids(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void sort_unique(HloInts *ids) {
    if (!ids->count) return;
    qsort(ids->items, ids->count, sizeof *ids->items, compare_ids);
    size_t kept = 1;
    for (size_t i = 1; i < ids->count; i++) {
        if (ids->items[i] != ids->items[kept - 1]) ids->items[kept++] = ids->items[i];
    }
    ids->count = kept;
}

static int32_t *copy_ids(Flow *flow) {
    int32_t *ids = HLO_NEW_ARRAY(flow->arena, int32_t, flow->ids.count);
    for (size_t i = 0; i < flow->ids.count; i++) ids[i] = (int32_t)flow->ids.items[i];
    return ids;
}

// A computation called from several places: its parameter may hold what any of them passes.
static bool unite(Flow *flow, const HloInstruction *inst, uint32_t node, const HloVec *inputs) {
    gather_ids(flow, inputs, node);
    sort_unique(&flow->ids);
    int32_t *slot = slot_at(flow->out, inst, node);
    if (flow->ids.count <= 1) {
        int32_t id = flow->ids.count ? (int32_t)flow->ids.items[0] : -1;
        bool changed = *slot != id;
        *slot = id;
        return changed;
    }
    HloValueSet *set = HLO_NEW(flow->arena, HloValueSet);
    *set = (HloValueSet){copy_ids(flow), flow->ids.count};
    if (same_set(hlo_flow_set(flow->out, inst, node), *set)) return false;
    hlo_vec_push(flow->arena, &flow->out->sets, set);
    *slot = -1 - (int32_t)flow->out->sets.count;
    return true;
}

// ---- merge points ---------------------------------------------------------------------------------------

static bool same_inputs(const Flow *flow, PhiInputs inputs) {
    if (inputs.count != flow->ids.count) return false;
    for (size_t i = 0; i < inputs.count; i++) {
        if (inputs.ids[i] != flow->ids.items[i]) return false;
    }
    return true;
}

// Two or more values, counted with repetition, make a phi even when they are the same: inputs still change.
static bool merge(Flow *flow, const HloInstruction *inst, uint32_t node, const HloVec *inputs) {
    gather_ids(flow, inputs, node);
    if (!flow->ids.count) return false;
    int32_t *slot = slot_at(flow->out, inst, node);
    if (flow->ids.count == 1) {
        bool changed = *slot != flow->ids.items[0];
        *slot = (int32_t)flow->ids.items[0];
        return changed;
    }
    const HloValue *current = *slot >= 0 ? &flow->values[*slot] : NULL;
    bool defined_here = current && current->is_phi && current->inst == inst && current->node == node;
    if (defined_here && same_inputs(flow, flow->phis[current->id])) return false;
    int32_t id = defined_here ? current->id : new_value(flow, inst, node, true);
    flow->phis[id] = (PhiInputs){copy_ids(flow), flow->ids.count};
    return true;
}

static void push_operand(Flow *flow, HloVec *inputs, const HloInstruction *caller, size_t k) {
    if (k < hlo_operand_count(caller)) hlo_vec_push(flow->arena, inputs, hlo_operand(caller, k));
}

// Adds what one call passes to a parameter; tells whether several values make a phi there.
static bool caller_inputs(Flow *flow, const HloInstruction *parameter, const HloInstruction *caller, HloVec *inputs) {
    switch (caller->op) {
    case HLO_OP_WHILE:
        push_operand(flow, inputs, caller, 0);
        if (hlo_called(caller, 0)->root != parameter) {
            hlo_vec_push(flow->arena, inputs, hlo_called(caller, 0)->root);
        }
        return true;
    case HLO_OP_CONDITIONAL:
        for (size_t j = 0; j < caller->called.count; j++) {
            if (hlo_called(caller, j) == parameter->comp) push_operand(flow, inputs, caller, j + 1);
        }
        return true;
    case HLO_OP_CALL:
    case HLO_OP_ASYNC_START: push_operand(flow, inputs, caller, (size_t)hlo_parameter_number(parameter)); return false;
    default: return false;
    }
}

static bool merge_parameter(Flow *flow, const HloInstruction *parameter) {
    HloVec inputs = {0};
    bool phi = false;
    const HloVec *callers = &parameter->comp->callers;
    for (size_t i = 0; i < callers->count; i++) {
        if (i && callers->items[i] == callers->items[i - 1]) continue;
        phi |= caller_inputs(flow, parameter, callers->items[i], &inputs);
    }
    bool changed = false;
    uint32_t count = hlo_flow_node_count(flow->out, parameter);
    for (uint32_t node = 0; node < count; node++) {
        changed |= phi ? merge(flow, parameter, node, &inputs) : unite(flow, parameter, node, &inputs);
    }
    return changed;
}

static bool merge_results(Flow *flow, const HloInstruction *inst) {
    HloVec inputs = {0};
    if (hlo_is(inst, HLO_OP_WHILE)) {
        hlo_vec_push(flow->arena, &inputs, hlo_called(inst, 0)->root);
        push_operand(flow, &inputs, inst, 0);
    } else {
        for (size_t j = 0; j < inst->called.count; j++) hlo_vec_push(flow->arena, &inputs, hlo_called(inst, j)->root);
    }
    bool changed = false;
    uint32_t count = hlo_flow_node_count(flow->out, inst);
    for (uint32_t node = 0; node < count; node++) changed |= merge(flow, inst, node, &inputs);
    return changed;
}

static bool update(Flow *flow, const HloInstruction *inst) {
    if (is_merge_point(flow, inst)) {
        return hlo_is(inst, HLO_OP_PARAMETER) ? merge_parameter(flow, inst) : merge_results(flow, inst);
    }
    forwarded_segments(flow, inst);
    bool changed = false;
    for (size_t i = 0; i < flow->segments.count; i++) changed |= copy_segment(flow, inst, &flow->segments.items[i]);
    return changed;
}

// ---- the fixed point ------------------------------------------------------------------------------------

static void enqueue_parameter(Flow *flow, const HloComputation *comp, size_t k) {
    if (k < hlo_parameter_count(comp) && hlo_parameter(comp, k)) enqueue(flow, hlo_parameter(comp, k));
}

// The parameters that receive `inst` when `user` passes it on.
static void enqueue_parameters(Flow *flow, const HloInstruction *inst, const HloInstruction *user) {
    if (hlo_is(user, HLO_OP_CONDITIONAL)) {
        for (size_t j = 0; j < user->called.count && j + 1 < hlo_operand_count(user); j++) {
            if (hlo_operand(user, j + 1) == inst) enqueue_parameter(flow, hlo_called(user, j), 0);
        }
        return;
    }
    for (size_t c = 0; c < user->called.count; c++) {
        const HloComputation *comp = hlo_called(user, c);
        if (flow->out->context[comp->id] != HLO_CONTEXT_SEQUENTIAL) continue;
        for (size_t k = 0; k < hlo_operand_count(user); k++) {
            if (hlo_operand(user, k) == inst) enqueue_parameter(flow, comp, k);
        }
    }
}

static void enqueue_callers(Flow *flow, const HloComputation *comp) {
    for (size_t i = 0; i < comp->callers.count; i++) {
        const HloInstruction *caller = comp->callers.items[i];
        enqueue(flow, caller);
        if (!hlo_is(caller, HLO_OP_WHILE)) continue;
        for (size_t k = 0; k < caller->called.count; k++) enqueue_parameter(flow, hlo_called(caller, k), 0);
    }
}

void propagate_values(Flow *flow) {
    set_priorities(flow);
    HLO_EACH_COMP(comp, flow->out->m) {
        HLO_EACH_INST(inst, comp) enqueue(flow, inst);
    }
    while (flow->heap_count) {
        const HloInstruction *inst = dequeue(flow);
        if (!update(flow, inst)) continue;
        for (size_t i = 0; i < hlo_user_count(inst); i++) {
            enqueue(flow, hlo_user(inst, i));
            enqueue_parameters(flow, inst, hlo_user(inst, i));
        }
        if (hlo_is_root(inst)) enqueue_callers(flow, inst->comp);
    }
}
