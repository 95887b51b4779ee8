// Step 1 of copy-insertion: a copy on every way into memory that will be shared.

#include "passes/cpu/copy_insertion.h"

static bool has_frontend_attribute(const HloInstruction *inst, const char *key) {
    const HloStringMap *map = hlo_data(inst, HLO_ATTR_FRONTEND_ATTRIBUTES);
    for (size_t i = 0; map && i < map->count; i++) {
        if (strcmp(map->pairs[i].key, key) == 0) return true;
    }
    return false;
}

// ---- loops ----------------------------------------------------------------------------------------------

static bool same_single_value(HloValueSet a, HloValueSet b) {
    return a.count <= 1 && b.count <= 1 && a.count == b.count && (a.count == 0 || a.ids[0] == b.ids[0]);
}

// What a transfer that is on its way hands to its end, which takes nothing else.
static bool is_context(const HloValue *value) {
    if (!value) return false;
    HloOpcode op = value->inst->op;
    return op == HLO_OP_SEND || op == HLO_OP_RECV || op == HLO_OP_COPY_START;
}

// The nodes of a loop's state that are not simply passed through; false when there are none.
static bool find_loop_copies(CopyWork *work, const HloInstruction *loop, HloBits *wanted) {
    uint32_t count = hlo_flow_node_count(work->flow, loop);
    const HloInstruction *start = hlo_operand(loop, 0);
    *wanted = hlo_bits_new(work->scratch, count);
    bool any = false;
    for (uint32_t node = 0; node < count; node++) {
        if (is_context(hlo_flow_value_at(work->flow, start, node))) {
            HloNodes *nodes = &work->flow->nodes;
            node += hlo_node_count(nodes, hlo_node_shape(nodes, start->shape, node)) - 1;
            continue;
        }
        HloValueSet init = hlo_flow_set(work->flow, start, node);
        if (same_single_value(init, hlo_flow_set(work->flow, loop, node))) continue;
        hlo_bits_add(*wanted, node);
        any = true;
    }
    return any;
}

// Copies the state before the loop, at the start of the body and at its end. A control edge makes each element be read
// at the start before it is written at the end.
static void copy_loop_state(CopyWork *work, HloInstruction *loop) {
    HloBits wanted;
    if (has_frontend_attribute(loop, "xla_disable_while_loop_copies")) return;
    if (!find_loop_copies(work, loop, &wanted)) return;
    uint32_t count = hlo_flow_node_count(work->flow, loop);
    work->rw.rule = "copy-loop-state";
    HloInstruction *init = hlo_operand(loop, 0);
    hlo_replace_uses_in(loop, init, deep_copy(work, init, &wanted, NULL));

    HloComputation *body = hlo_called(loop, 0);
    HloInstruction **at_start = HLO_NEW_ARRAY(work->scratch, HloInstruction *, count);
    HloInstruction **at_end = HLO_NEW_ARRAY(work->scratch, HloInstruction *, count);
    HloInstruction *root = body->root;
    copy_for_all(work, hlo_parameter(body, 0), &wanted, at_start, "copy-loop-state");
    hlo_computation_set_root(body, deep_copy(work, root, &wanted, at_end));
    for (uint32_t node = 0; node < count; node++) {
        if (at_start[node] && at_end[node]) hlo_add_control_edge(at_start[node], at_end[node]);
    }
}

// ---- branches -------------------------------------------------------------------------------------------

static void copy_branch_results(CopyWork *work, HloInstruction *conditional) {
    uint32_t count = hlo_flow_node_count(work->flow, conditional);
    HloBits wanted = hlo_bits_new(work->scratch, count);
    bool any = false;
    for (uint32_t node = 0; node < count; node++) {
        const HloValue *value = hlo_flow_value_at(work->flow, conditional, node);
        if (!value || !value->is_phi || value->inst != conditional) continue;
        hlo_bits_add(wanted, node);
        any = true;
    }
    for (size_t k = 0; any && k < conditional->called.count; k++) {
        copy_for_all(work, hlo_called(conditional, k)->root, &wanted, NULL, "copy-branch-result");
    }
}

// ---- operations in place --------------------------------------------------------------------------------

static bool has_disjoint_regions(const HloInstruction *inst, const HloInstruction *operand) {
    static const char key[] = "xla_disjoint_read_write_regions";
    if (!has_frontend_attribute(inst, key)) return false;
    for (size_t i = 0; i < hlo_user_count(operand); i++) {
        if (!has_frontend_attribute(hlo_user(operand, i), key)) return false;
    }
    return true;
}

// Each operand is copied once, however many of its parts are overwritten.
static void copy_overwritten_operands(CopyWork *work, HloInstruction *inst) {
    HloInPlacePairs pairs = hlo_in_place_pairs(&work->sharing, inst);
    if (!pairs.count) return;
    HloBits done = hlo_bits_new(work->scratch, hlo_operand_count(inst));
    work->rw.rule = "copy-overwritten-operand";
    for (size_t i = 0; i < pairs.count; i++) {
        uint32_t k = pairs.items[i].operand;
        if (k >= hlo_operand_count(inst) || hlo_bits_has(done, k)) continue;
        HloInstruction *operand = hlo_operand(inst, k);
        if (has_disjoint_regions(inst, operand)) continue;
        hlo_bits_add(done, k);
        HloInstruction *copy = deep_copy(work, operand, NULL, NULL);
        if (copy != operand) hlo_set_operand(inst, k, copy);
    }
}

// ---- arguments that results take over -------------------------------------------------------------------

typedef struct Donation {
    uint32_t input, output;
    size_t parameter;
} Donation;

static size_t find_donations(CopyWork *work, Donation *donations) {
    const HloComputation *entry = work->m->entry;
    size_t count = 0;
    for (size_t i = 0; i < work->m->input_output_alias.count; i++) {
        const HloAlias *alias = &work->m->input_output_alias.items[i];
        if (alias->parameter < 0 || (uint64_t)alias->parameter >= hlo_parameter_count(entry)) continue;
        const HloInstruction *parameter = hlo_parameter(entry, (size_t)alias->parameter);
        uint32_t input = hlo_node_at(&work->flow->nodes, parameter->shape, alias->input);
        uint32_t output = hlo_node_at(&work->flow->nodes, entry->root->shape, alias->output);
        if (input == UINT32_MAX || output == UINT32_MAX) continue;
        donations[count++] = (Donation){input, output, (size_t)alias->parameter};
    }
    return count;
}

static HloInstruction **copy_donated_parameter(CopyWork *work, size_t number, const HloBits *wanted) {
    HloInstruction *parameter = hlo_parameter(work->m->entry, number);
    uint32_t count = hlo_node_count(&work->flow->nodes, parameter->shape);
    HloInstruction **copies = HLO_NEW_ARRAY(work->scratch, HloInstruction *, count);
    copy_for_all(work, parameter, wanted, copies, "copy-donated-argument");
    return copies;
}

// Like the state of a loop: read at the start before it is written at the end.
static void copy_donations(CopyWork *work) {
    HloComputation *entry = work->m->entry;
    Donation *donations = HLO_NEW_ARRAY(work->scratch, Donation, work->m->input_output_alias.count);
    size_t count = find_donations(work, donations), parameters = hlo_parameter_count(entry);
    if (!count) return;
    HloBits *inputs = HLO_NEW_ARRAY(work->scratch, HloBits, parameters);
    uint32_t results = hlo_node_count(&work->flow->nodes, entry->root->shape);
    HloBits outputs = hlo_bits_new(work->scratch, results);
    for (size_t i = 0; i < count; i++) {
        HloBits *input = &inputs[donations[i].parameter];
        const HloShape *shape = hlo_parameter(entry, donations[i].parameter)->shape;
        if (!input->words) *input = hlo_bits_new(work->scratch, hlo_node_count(&work->flow->nodes, shape));
        hlo_bits_add(*input, donations[i].input);
        hlo_bits_add(outputs, donations[i].output);
    }
    HloInstruction ***at_start = HLO_NEW_ARRAY(work->scratch, HloInstruction **, parameters);
    for (size_t k = 0; k < parameters; k++) {
        if (inputs[k].words) at_start[k] = copy_donated_parameter(work, k, &inputs[k]);
    }
    HloInstruction **at_end = HLO_NEW_ARRAY(work->scratch, HloInstruction *, results);
    hlo_computation_set_root(entry, deep_copy(work, entry->root, &outputs, at_end));
    for (size_t i = 0; i < count; i++) {
        HloInstruction *from = at_start[donations[i].parameter][donations[i].input];
        HloInstruction *to = at_end[donations[i].output];
        if (from && to) hlo_add_control_edge(from, to);
    }
}

// ---- the step -------------------------------------------------------------------------------------------

HloStatus add_copies(CopyWork *work) {
    HloCompList comps = hlo_module_nonfusion_order(work->m, work->scratch);
    for (size_t i = 0; i < comps.count; i++) {
        HloComputation *comp = comps.items[i];
        if (hlo_is_async_computation(comp)) continue;
        HloInstList insts = hlo_post_order(comp, work->scratch);
        for (size_t k = 0; k < insts.count; k++) {
            HloInstruction *inst = insts.items[k];
            if (hlo_is(inst, HLO_OP_WHILE))
                copy_loop_state(work, inst);
            else if (hlo_is(inst, HLO_OP_CONDITIONAL))
                copy_branch_results(work, inst);
            else
                copy_overwritten_operands(work, inst);
        }
    }
    copy_donations(work);
    return work->rw.failure;
}
