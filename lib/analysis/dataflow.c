// Dataflow analysis: numbers the values of a module and says which of them may stand where.
//
// First every instruction gets the values that it makes itself; then values flow through tuples, calls and
// loops until nothing changes, with phi values where several meet (§1 of the buffer assignment chapter).

#include "lib/analysis/dataflow_internal.h"

#include <stdlib.h>

// Tuples of shared tuples can have more nodes than any memory holds; real modules stay far below this.
enum { MAX_SLOTS = 1 << 27 };

// ---- asking ---------------------------------------------------------------------------------------------

uint32_t hlo_flow_node_count(const HloDataflow *flow, const HloInstruction *inst) {
    size_t at = hlo_flow_index(flow, inst);
    return (uint32_t)(flow->first_slot[at + 1] - flow->first_slot[at]);
}

HloValueSet hlo_flow_set(const HloDataflow *flow, const HloInstruction *inst, uint32_t node) {
    const int32_t *slot = slot_at(flow, inst, node);
    if (*slot >= 0) return (HloValueSet){slot, 1};
    if (*slot == -1) return (HloValueSet){NULL, 0};
    return *(const HloValueSet *)flow->sets.items[-2 - *slot];
}

const HloValue *hlo_flow_value_at(const HloDataflow *flow, const HloInstruction *inst, uint32_t node) {
    int32_t id = *slot_at(flow, inst, node);
    return id < 0 ? NULL : &flow->values[id];
}

bool hlo_flow_set_has(HloValueSet set, int32_t id) {
    for (size_t i = 0; i < set.count; i++) {
        if (set.ids[i] == id) return true;
    }
    return false;
}

HloBits hlo_donated_values(HloArena *arena, HloDataflow *flow) {
    const HloModule *m = flow->m;
    HloBits donated = hlo_bits_new(arena, flow->value_limit);
    for (size_t i = 0; i < m->input_output_alias.count; i++) {
        const HloAlias *alias = &m->input_output_alias.items[i];
        if (alias->parameter < 0 || (uint64_t)alias->parameter >= hlo_parameter_count(m->entry)) continue;
        const HloInstruction *parameter = hlo_parameter(m->entry, (size_t)alias->parameter);
        uint32_t node = hlo_node_at(&flow->nodes, parameter->shape, alias->input);
        const HloValue *value = node == UINT32_MAX ? NULL : hlo_flow_value_at(flow, parameter, node);
        if (value) hlo_bits_add(donated, (size_t)value->id);
    }
    return donated;
}

// ---- tables ---------------------------------------------------------------------------------------------

bool hlo_enters_callees(HloOpcode op) {
    switch (op) {
    case HLO_OP_CALL:
    case HLO_OP_WHILE:
    case HLO_OP_CONDITIONAL:
    case HLO_OP_ASYNC_START:
    case HLO_OP_ASYNC_UPDATE:
    case HLO_OP_ASYNC_DONE: return true;
    default: return false;
    }
}

// A computation called from an embedded one is embedded, whatever the calling opcode.
static HloStatus find_contexts(HloDataflow *flow) {
    for (size_t i = flow->order.count; i-- > 0;) {
        const HloComputation *comp = flow->order.items[i];
        unsigned context = comp->callers.count ? HLO_CONTEXT_NONE : HLO_CONTEXT_SEQUENTIAL;
        for (size_t k = 0; k < comp->callers.count; k++) {
            const HloInstruction *caller = comp->callers.items[k];
            context |= hlo_enters_callees(caller->op) ? flow->context[caller->comp->id] : HLO_CONTEXT_EMBEDDED;
        }
        if (context == HLO_CONTEXT_BOTH) {
            return hlo_error(
                HLO_UNIMPLEMENTED,
                "Computation %s is called in both a parallel (eg, kMap) and sequential (eg, kCall) context",
                comp->name);
        }
        flow->context[comp->id] = (uint8_t)context;
    }
    return hlo_ok();
}

static void index_instructions(HloDataflow *flow) {
    const HloModule *m = flow->m;
    size_t comps = m->computation_id_limit;
    flow->post_order = HLO_NEW_ARRAY(flow->arena, HloInstList, comps);
    flow->context = HLO_NEW_ARRAY(flow->arena, uint8_t, comps);
    flow->inst_base = HLO_NEW_ARRAY(flow->arena, size_t, comps);
    HLO_EACH_COMP(comp, m) {
        flow->inst_base[comp->id] = flow->inst_limit;
        flow->inst_limit += comp->id_limit;
        flow->post_order[comp->id] = hlo_post_order(comp, flow->arena);
    }
}

static HloStatus lay_out_slots(HloDataflow *flow) {
    flow->first_slot = HLO_NEW_ARRAY(flow->arena, size_t, flow->inst_limit + 1);
    HLO_EACH_COMP(comp, flow->m) {
        HLO_EACH_INST(inst, comp) {
            flow->first_slot[hlo_flow_index(flow, inst) + 1] = hlo_node_count(&flow->nodes, inst->shape);
        }
    }
    for (size_t i = 0; i < flow->inst_limit; i++) {
        flow->first_slot[i + 1] += flow->first_slot[i];
        if (flow->first_slot[i + 1] > MAX_SLOTS) {
            return hlo_error(HLO_RESOURCE_EXHAUSTED, "the tuples of module %s have more than %d elements in all",
                             flow->m->name, MAX_SLOTS);
        }
    }
    size_t total = flow->first_slot[flow->inst_limit];
    flow->slots = HLO_NEW_ARRAY(flow->arena, int32_t, total);
    for (size_t i = 0; i < total; i++) flow->slots[i] = -1;
    return hlo_ok();
}

// ---- values that instructions make ----------------------------------------------------------------------

static void grow_values(Flow *flow) {
    if (flow->value_count < flow->value_capacity) return;
    size_t capacity = flow->value_capacity ? flow->value_capacity * 2 : 256;
    HloValue *values = HLO_NEW_ARRAY(flow->arena, HloValue, capacity);
    PhiInputs *phis = HLO_NEW_ARRAY(flow->arena, PhiInputs, capacity);
    if (flow->value_count) {
        memcpy(values, flow->values, flow->value_count * sizeof *values);
        memcpy(phis, flow->phis, flow->value_count * sizeof *phis);
    }
    flow->values = values;
    flow->phis = phis;
    flow->value_capacity = capacity;
}

int32_t new_value(Flow *flow, const HloInstruction *inst, uint32_t node, bool is_phi) {
    grow_values(flow);
    HloValue *value = &flow->values[flow->value_count];
    *value = (HloValue){
        .id = (int32_t)flow->value_count,
        .is_phi = is_phi,
        .inst = inst,
        .node = node,
        .shape = hlo_node_shape(&flow->out->nodes, inst->shape, node),
    };
    flow->value_count++;
    *slot_at(flow->out, inst, node) = value->id;
    return value->id;
}

typedef struct Numbering {
    HloCompList order;
    size_t *calls_left;  // by computation id: calls of computations that are not in the order yet
    HloBits passed;      // by computation id: its turn has come
    HloVec ready;        // those whose last callee has just been put in the order
} Numbering;

static void put_in_order(const HloDataflow *flow, Numbering *numbering, HloComputation *comp) {
    hlo_vec_push(flow->arena, &numbering->ready, comp);
    for (size_t next = 0; next < numbering->ready.count; next++) {
        HloComputation *ready = numbering->ready.items[next];
        numbering->order.items[numbering->order.count++] = ready;
        for (size_t i = 0; i < ready->callers.count; i++) {
            HloComputation *outer = ((const HloInstruction *)ready->callers.items[i])->comp;
            if (--numbering->calls_left[outer->id] || !hlo_bits_has(numbering->passed, outer->id)) continue;
            hlo_vec_push(flow->arena, &numbering->ready, outer);
        }
    }
    numbering->ready.count = 0;
}

// Values are numbered in module order, except that a computation comes right behind the last of its callees when
// that one stands later in the list, as those that passes make do.
static HloCompList numbering_order(const HloDataflow *flow) {
    const HloModule *m = flow->m;
    Numbering numbering = {
        .order = {HLO_NEW_ARRAY(flow->arena, HloComputation *, m->count), 0},
        .calls_left = HLO_NEW_ARRAY(flow->arena, size_t, m->computation_id_limit),
        .passed = hlo_bits_new(flow->arena, m->computation_id_limit),
    };
    HLO_EACH_COMP(comp, m) {
        for (size_t i = 0; i < comp->callers.count; i++) {
            numbering.calls_left[((const HloInstruction *)comp->callers.items[i])->comp->id]++;
        }
    }
    HLO_EACH_COMP(comp, m) {
        hlo_bits_add(numbering.passed, comp->id);
        if (!numbering.calls_left[comp->id]) put_in_order(flow, &numbering, comp);
    }
    return numbering.order;
}

static void define_range(Flow *flow, const HloInstruction *inst, uint32_t from, uint32_t to) {
    for (uint32_t node = from; node < to; node++) new_value(flow, inst, node, false);
}

// Segments come in node order, so what lies between them is the instruction's own.
static void define_values(Flow *flow, const HloInstruction *inst) {
    if (is_merge_point(flow, inst)) return;
    forwarded_segments(flow, inst);
    uint32_t next = 0;
    for (size_t i = 0; i < flow->segments.count; i++) {
        const Segment *segment = &flow->segments.items[i];
        define_range(flow, inst, next, segment->to_node);
        next = segment->to_node + segment->count;
    }
    define_range(flow, inst, next, hlo_flow_node_count(flow->out, inst));
}

static void define_all_values(Flow *flow) {
    HloCompList order = numbering_order(flow->out);
    for (size_t i = 0; i < order.count; i++) {
        HloInstList insts = flow->out->post_order[order.items[i]->id];
        for (size_t k = 0; k < insts.count; k++) define_values(flow, insts.items[k]);
    }
}

// ---- the whole ------------------------------------------------------------------------------------------

HloStatus hlo_dataflow_run(HloArena *arena, const HloModule *m, HloDataflow **out) {
    HloDataflow *result = HLO_NEW(arena, HloDataflow);
    result->m = m;
    result->arena = arena;
    result->nodes.arena = arena;
    result->order = hlo_module_post_order(m, arena);
    index_instructions(result);
    HLO_TRY(find_contexts(result));
    HLO_TRY(lay_out_slots(result));

    Flow flow = {.out = result, .arena = arena};
    define_all_values(&flow);
    propagate_values(&flow);
    simplify_phis(&flow);
    result->values = flow.values;
    result->value_limit = flow.value_count;
    collect_positions(result);
    collect_uses(result);
    *out = result;
    return hlo_ok();
}
