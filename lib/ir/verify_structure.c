// Structure: edges are two-sided and stay inside one computation, numbers and names are unique, graphs have no cycles
// (verifier chapter §7.1 and beyond: what the text form guarantees is checked here for modules that passes made).
//
// All of it is linear. Two-sidedness is checked by comparing sums over the edges as both ends tell them; a mismatch is
// then located by search.

#include "verify_rules.h"

// ---- instructions and edges -----------------------------------------------------------------------------

static HloStatus check_ends(const HloInstruction *inst, const HloVec *ends, const char *rule) {
    for (size_t k = 0; k < ends->count; k++) {
        const HloInstruction *end = ends->items[k];
        if (!end) return hlo_verify_fail(inst, HLO_INTERNAL, rule, "entry %zu is missing", k);
        if (end->comp == inst->comp) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, rule, "entry %zu, '%s', is in another computation", k, end->name);
    }
    return hlo_ok();
}

static HloStatus check_callees(const HloVerify *v, const HloInstruction *inst) {
    for (size_t k = 0; k < inst->called.count; k++) {
        const HloComputation *callee = inst->called.items[k];
        if (!callee) return hlo_verify_fail(inst, HLO_INTERNAL, "callees", "entry %zu is missing", k);
        if (callee->m == v->m && callee->in_module) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "callees", "'%s' is not in the module", callee->name);
    }
    return hlo_ok();
}

static HloStatus check_instruction(const HloVerify *v, const HloComputation *comp, const HloInstruction *inst,
                                   HloBits ids) {
    if (inst->comp != comp) return hlo_verify_fail(inst, HLO_INTERNAL, "parent", "it is listed in '%s'", comp->name);
    if (inst->id >= comp->id_limit || !hlo_bits_claim(ids, inst->id)) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "unique-id", "id %u is out of range or taken", inst->id);
    }
    if (!inst->shape) return hlo_verify_fail(inst, HLO_INTERNAL, "has-shape", "it has no shape");
    if (hlo_shape_is_tuple(inst->shape) &&
        !hlo_shapes_are_manageable(v->arena, inst->shape->elements, inst->shape->rank)) {
        return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "shape-depth",
                               "its shape nests too deep or has too many leaves");
    }
    HLO_TRY(check_ends(inst, &inst->operands, "operands-in-computation"));
    HLO_TRY(check_ends(inst, &inst->users, "users-in-computation"));
    HLO_TRY(check_ends(inst, &inst->control_preds, "control-in-computation"));
    HLO_TRY(check_ends(inst, &inst->control_succs, "control-in-computation"));
    return check_callees(v, inst);
}

// ---- two-sided edges ------------------------------------------------------------------------------------

static uint64_t edge_hash(const HloInstruction *from, const HloInstruction *to) {
    return hlo_hash_combine(hlo_hash_u64((uint64_t)from->id + 1), to->id);
}

// Sums of hashes over operand edges (each pair once) and over user edges.
static void sum_data_edges(const HloComputation *comp, uint32_t *last_user, uint64_t *operands, uint64_t *users) {
    HLO_EACH_INST(inst, comp) {
        for (size_t k = 0; k < inst->operands.count; k++) {
            const HloInstruction *operand = inst->operands.items[k];
            if (last_user[operand->id] == inst->id + 1) continue;
            last_user[operand->id] = inst->id + 1;
            *operands += edge_hash(operand, inst);
        }
        for (size_t k = 0; k < inst->users.count; k++) *users += edge_hash(inst, inst->users.items[k]);
    }
}

static void sum_control_edges(const HloComputation *comp, uint64_t *preds, uint64_t *succs) {
    HLO_EACH_INST(inst, comp) {
        for (size_t k = 0; k < inst->control_preds.count; k++) *preds += edge_hash(inst->control_preds.items[k], inst);
        for (size_t k = 0; k < inst->control_succs.count; k++) *succs += edge_hash(inst, inst->control_succs.items[k]);
    }
}

static HloStatus locate_one_sided(const HloComputation *comp) {
    HLO_EACH_INST(inst, comp) {
        for (size_t k = 0; k < inst->operands.count; k++) {
            const HloInstruction *operand = inst->operands.items[k];
            if (hlo_vec_find(&operand->users, inst) != SIZE_MAX) continue;
            return hlo_verify_fail(inst, HLO_INTERNAL, "two-sided-edges", "it is no user of its operand '%s'",
                                   operand->name);
        }
        for (size_t k = 0; k < inst->control_preds.count; k++) {
            const HloInstruction *before = inst->control_preds.items[k];
            if (hlo_vec_find(&before->control_succs, inst) != SIZE_MAX) continue;
            return hlo_verify_fail(inst, HLO_INTERNAL, "two-sided-edges",
                                   "'%s' does not know it as its control successor", before->name);
        }
    }
    return hlo_verify_fail_comp(comp, "two-sided-edges", "some user or control successor is listed too often");
}

static HloStatus check_edges(const HloVerify *v, const HloComputation *comp) {
    uint64_t operands = 0, users = 0, preds = 0, succs = 0;
    uint32_t *last_user = HLO_NEW_ARRAY(v->arena, uint32_t, (size_t)comp->id_limit + 1);
    sum_data_edges(comp, last_user, &operands, &users);
    sum_control_edges(comp, &preds, &succs);
    return operands == users && preds == succs ? hlo_ok() : locate_one_sided(comp);
}

// ---- cycles ---------------------------------------------------------------------------------------------

// In post-order everything stands behind what it needs; where it does not, or something is missing, there is a cycle.
static HloStatus check_acyclic(const HloVerify *v, const HloComputation *comp) {
    HloInstList order = hlo_post_order(comp, v->arena);
    HloBits done = hlo_bits_new(v->arena, comp->id_limit);
    for (size_t i = 0; i < order.count; i++) {
        const HloInstruction *inst = order.items[i];
        const HloVec *before[] = {&inst->operands, &inst->control_preds};
        for (size_t list = 0; list < 2; list++) {
            for (size_t k = 0; k < before[list]->count; k++) {
                const HloInstruction *other = before[list]->items[k];
                if (hlo_bits_has(done, other->id)) continue;
                return hlo_verify_fail(inst, HLO_FAILED_PRECONDITION, "no-cycles", "it and '%s' wait for each other",
                                       other->name);
            }
        }
        hlo_bits_add(done, inst->id);
    }
    if (order.count == comp->count) return hlo_ok();
    return hlo_verify_fail_comp(comp, "no-cycles", "%zu instructions are on cycles", comp->count - order.count);
}

// How often each computation is called, over all call sites.
static uint32_t *count_calls(const HloVerify *v) {
    uint32_t *calls = HLO_NEW_ARRAY(v->arena, uint32_t, (size_t)v->m->computation_id_limit + 1);
    HLO_EACH_COMP(comp, v->m) {
        HLO_EACH_INST(inst, comp) {
            for (size_t k = 0; k < inst->called.count; k++) calls[hlo_called(inst, k)->id]++;
        }
    }
    return calls;
}

// Takes away computations that nobody calls, and their calls with them, until none is left or only cycles are.
static HloStatus check_call_graph(const HloVerify *v) {
    uint32_t *calls = count_calls(v);
    HloVec free_comps = {0};
    HLO_EACH_COMP(comp, v->m) {
        if (!calls[comp->id]) hlo_vec_push(v->arena, &free_comps, comp);
    }
    size_t taken = 0;
    for (; taken < free_comps.count; taken++) {
        const HloComputation *comp = free_comps.items[taken];
        HLO_EACH_INST(inst, comp) {
            for (size_t k = 0; k < inst->called.count; k++) {
                if (--calls[hlo_called(inst, k)->id] == 0) hlo_vec_push(v->arena, &free_comps, hlo_called(inst, k));
            }
        }
    }
    if (taken == v->m->count) return hlo_ok();
    HLO_EACH_COMP(comp, v->m) {
        if (calls[comp->id]) return hlo_verify_fail_comp(comp, "no-recursion", "it is called from inside itself");
    }
    return hlo_ok();
}

// ---- computations ---------------------------------------------------------------------------------------

static HloStatus check_parameters(const HloComputation *comp) {
    size_t count = 0;
    for (size_t k = 0; k < hlo_parameter_count(comp); k++) {
        const HloInstruction *p = hlo_parameter(comp, k);
        if (!p || p->comp != comp || p->op != HLO_OP_PARAMETER || hlo_parameter_number(p) != (int64_t)k) {
            return hlo_verify_fail_comp(comp, "parameter-numbers", "of %zu parameters number %zu is missing",
                                        hlo_parameter_count(comp), k);
        }
    }
    HLO_EACH_INST(inst, comp) count += inst->op == HLO_OP_PARAMETER;
    if (count == hlo_parameter_count(comp)) return hlo_ok();
    return hlo_verify_fail_comp(comp, "parameter-numbers", "%zu parameters are numbered, there are %zu",
                                hlo_parameter_count(comp), count);
}

static HloStatus check_computation(const HloVerify *v, const HloComputation *comp) {
    if (comp->m != v->m || comp->id >= v->m->computation_id_limit) {
        return hlo_verify_fail_comp(comp, "parent", "it belongs to another module or has a foreign id");
    }
    if (!comp->root || comp->root->comp != comp)
        return hlo_verify_fail_comp(comp, "has-root", "it has no root of its own");
    HloBits ids = hlo_bits_new(v->arena, comp->id_limit);
    size_t count = 0;
    HLO_EACH_INST(inst, comp) {
        HLO_TRY(check_instruction(v, comp, inst, ids));
        count++;
    }
    if (count != comp->count) {
        return hlo_verify_fail_comp(comp, "instruction-count", "%zu instructions, counted as %zu", count, comp->count);
    }
    HLO_TRY(check_edges(v, comp));
    HLO_TRY(check_acyclic(v, comp));
    return check_parameters(comp);
}

// Names are interned, so equal names are equal pointers.
static HloStatus check_names(const HloVerify *v) {
    HloMap seen = {0};
    HLO_EACH_COMP(comp, v->m) {
        HLO_EACH_INST(inst, comp) {
            void **slot = hlo_map_at(v->arena, &seen, inst->name);
            if (*slot) {
                const HloInstruction *other = *slot;
                return hlo_verify_fail(inst, HLO_INTERNAL, "unique-name", "'%s' has an instruction of that name too",
                                       other->comp->name);
            }
            *slot = inst;
        }
    }
    return hlo_ok();
}

static HloStatus check_entry(const HloModule *m) {
    if (!m->name || !m->name[0]) return hlo_verify_fail_module(HLO_INTERNAL, "has-name", "it has no name");
    if (!m->entry || m->entry->m != m)
        return hlo_verify_fail_module(HLO_INTERNAL, "has-entry", "it has no entry computation");
    if (!hlo_is_fusion_computation(m->entry)) return hlo_ok();
    return hlo_verify_fail_module(HLO_INVALID_ARGUMENT, "has-entry", "the entry computation '%s' is called by a fusion",
                                  m->entry->name);
}

HloStatus hlo_verify_structure(HloVerify *v) {
    HLO_TRY(check_entry(v->m));
    HLO_EACH_COMP(comp, v->m) HLO_TRY(check_computation(v, comp));
    HLO_TRY(check_call_graph(v));
    return check_names(v);
}
