// Which values an opcode passes on from its operands and callees (§1.1 of the buffer assignment chapter).

#include "lib/analysis/dataflow_internal.h"

static void put_segment(Flow *flow, Segment segment) {
    Segments *list = &flow->segments;
    if (list->count == list->capacity)
        list->items = hlo_arena_grow(flow->arena, list->items, &list->capacity, 16, sizeof *list->items);
    list->items[list->count++] = segment;
}

static uint32_t node_count(Flow *flow, const HloInstruction *inst) {
    return hlo_flow_node_count(flow->out, inst);
}

// A part that a module which was never verified lacks gives no segment; what does not fit is cut off.
static void forward(Flow *flow, const HloInstruction *inst, uint32_t to, const HloInstruction *from, uint32_t from_node,
                    uint32_t count) {
    uint32_t to_limit = node_count(flow, inst), from_limit = node_count(flow, from);
    if (to >= to_limit || from_node >= from_limit) return;
    if (count > to_limit - to) count = to_limit - to;
    if (count > from_limit - from_node) count = from_limit - from_node;
    put_segment(flow, (Segment){to, from, from_node, count});
}

static void forward_all(Flow *flow, const HloInstruction *inst, const HloInstruction *from) {
    forward(flow, inst, 0, from, 0, UINT32_MAX);
}

// Element `k` of a tuple-shaped instruction: its first node and number of nodes; false when there is none.
static bool element_nodes(Flow *flow, const HloInstruction *inst, size_t k, uint32_t *start, uint32_t *count) {
    if (!hlo_shape_is_tuple(inst->shape) || k >= inst->shape->rank) return false;
    *start = hlo_node_of_element(&flow->out->nodes, inst->shape, k);
    *count = hlo_node_count(&flow->out->nodes, inst->shape->elements[k]);
    return true;
}

// `inst` is element `k` of its operand.
static void forward_from_element(Flow *flow, const HloInstruction *inst, size_t k) {
    uint32_t start, count;
    if (!hlo_operand_count(inst)) return;
    if (element_nodes(flow, hlo_operand(inst, 0), k, &start, &count)) {
        forward(flow, inst, 0, hlo_operand(inst, 0), start, count);
    }
}

// Element `k` of `inst` is its operand 0.
static void forward_to_element(Flow *flow, const HloInstruction *inst, size_t k) {
    uint32_t start, count;
    if (!hlo_operand_count(inst)) return;
    if (element_nodes(flow, inst, k, &start, &count)) forward(flow, inst, start, hlo_operand(inst, 0), 0, count);
}

static void forward_tuple(Flow *flow, const HloInstruction *inst) {
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        uint32_t start, count;
        if (element_nodes(flow, inst, k, &start, &count)) forward(flow, inst, start, hlo_operand(inst, k), 0, count);
    }
}

// The operands of a -start operation stand in element 0: as they are when there is one, else as a tuple. An
// async-start always has the tuple.
static void forward_operands(Flow *flow, const HloInstruction *inst, bool always_tuple) {
    if (hlo_operand_count(inst) == 1 && !always_tuple) {
        forward_to_element(flow, inst, 0);
        return;
    }
    uint32_t start, count;
    if (!element_nodes(flow, inst, 0, &start, &count)) return;
    const HloShape *operands = inst->shape->elements[0];
    if (!hlo_shape_is_tuple(operands)) return;
    for (size_t k = 0; k < hlo_operand_count(inst) && k < operands->rank; k++) {
        uint32_t to = start + hlo_node_of_element(&flow->out->nodes, operands, k);
        forward(flow, inst, to, hlo_operand(inst, k), 0, hlo_node_count(&flow->out->nodes, operands->elements[k]));
    }
}

// The leaves (not the tables) of `inst` from `to` on are those of `from`.
static void forward_leaves(Flow *flow, const HloInstruction *inst, const HloInstruction *from, uint32_t from_node) {
    uint32_t count = node_count(flow, inst);
    for (uint32_t node = 0; node < count; node++) {
        if (hlo_shape_is_tuple(hlo_node_shape(&flow->out->nodes, inst->shape, node))) continue;
        forward(flow, inst, node, from, from_node + node, 1);
    }
}

static void forward_async_start(Flow *flow, const HloInstruction *inst) {
    forward_operands(flow, inst, true);
    uint32_t start, count;
    if (!inst->called.count || !element_nodes(flow, inst, 1, &start, &count)) return;
    const HloInstruction *root = hlo_called(inst, 0)->root;
    if (hlo_is(root, HLO_OP_DYNAMIC_UPDATE_SLICE) && hlo_operand_count(inst)) {
        forward(flow, inst, start, hlo_operand(inst, 0), 0, count);
    } else {
        forward(flow, inst, start, root, 0, count);
    }
}

static void forward_async_done(Flow *flow, const HloInstruction *inst) {
    uint32_t start, count;
    if (!hlo_operand_count(inst)) return;
    const HloInstruction *chain = hlo_operand(inst, 0);
    if (element_nodes(flow, chain, 1, &start, &count)) forward_leaves(flow, inst, chain, start);
}

void forwarded_segments(Flow *flow, const HloInstruction *inst) {
    flow->segments.count = 0;
    size_t operands = hlo_operand_count(inst);
    switch (inst->op) {
    case HLO_OP_TUPLE: forward_tuple(flow, inst); return;
    case HLO_OP_GET_TUPLE_ELEMENT: forward_from_element(flow, inst, (size_t)hlo_int(inst, HLO_ATTR_INDEX)); return;
    case HLO_OP_BITCAST:
    case HLO_OP_OPT_BARRIER:
    case HLO_OP_ADD_DEPENDENCY:
    case HLO_OP_DOMAIN:
    case HLO_OP_ALL_REDUCE_DONE:
        if (operands) forward_all(flow, inst, hlo_operand(inst, 0));
        return;
    case HLO_OP_COPY:
        if (operands) forward(flow, inst, 1, hlo_operand(inst, 0), 1, UINT32_MAX);
        return;
    case HLO_OP_CALL:
        if (inst->called.count) forward_all(flow, inst, hlo_called(inst, 0)->root);
        return;
    case HLO_OP_COPY_START: forward_to_element(flow, inst, 1); return;
    case HLO_OP_COPY_DONE: forward_from_element(flow, inst, 0); return;
    case HLO_OP_SEND: forward_to_element(flow, inst, 0); return;
    case HLO_OP_RECV_DONE: {
        uint32_t start, count;
        if (!operands || !element_nodes(flow, inst, 0, &start, &count)) return;
        forward(flow, inst, start, hlo_operand(inst, 0), 1, count);
        return;
    }
    case HLO_OP_ALL_GATHER_START:
    case HLO_OP_COLLECTIVE_PERMUTE_START: forward_operands(flow, inst, false); return;
    case HLO_OP_ALL_GATHER_DONE:
    case HLO_OP_COLLECTIVE_PERMUTE_DONE:
    case HLO_OP_ASYNC_DONE: forward_async_done(flow, inst); return;
    case HLO_OP_ASYNC_START: forward_async_start(flow, inst); return;
    case HLO_OP_ASYNC_UPDATE:
        if (operands) forward_leaves(flow, inst, hlo_operand(inst, 0), 0);
        return;
    default: return;  // every node is a value of its own
    }
}

bool is_merge_point(const Flow *flow, const HloInstruction *inst) {
    if (hlo_is(inst, HLO_OP_WHILE) || hlo_is(inst, HLO_OP_CONDITIONAL)) return true;
    return hlo_is(inst, HLO_OP_PARAMETER) && inst->comp->callers.count &&
           flow->out->context[inst->comp->id] == HLO_CONTEXT_SEQUENTIAL;
}
