// Structure: edges are two-sided and stay inside one computation, numbers and names are unique, graphs have no cycles
// (verifier chapter §7.1 and beyond: what the text form guarantees is checked here for modules that passes made).
//
// One walk over the instructions of a computation does all of it, with the rules of each instruction on the way. Edges
// are two-sided when sums over them, as both of their ends tell them, agree. There is no cycle when everything stands
// behind what it needs, as in text; only where it does not, an order is made. A schedule that follows the list order is
// checked by the same walk.

#include "verify_rules.h"

typedef struct Walk {
    HloVerify *v;
    const HloComputation *comp;
    HloBits seen;         // instructions walked so far, by id
    uint32_t *last_user;  // by id: id + 1 of the last instruction with many operands that has it among them; else NULL
    uint64_t data_edges, control_edges;  // sums over the edges as users tell them less those as operands tell them
    size_t count, parameters;
    bool ahead;        // something stands before what it needs
    bool in_sequence;  // the schedule is the list order so far
} Walk;

// ---- names ----------------------------------------------------------------------------------------------

// Room for twice as many names as there are instructions.
static void init_names(HloVerify *v) {
    size_t slots = 64, wanted = 2 * hlo_module_instruction_count(v->m);
    v->names.shift = 64 - 6;
    for (; slots < wanted; slots *= 2) v->names.shift--;
    v->names.slots = HLO_NEW_ARRAY(v->arena, const char *, slots);
}

static HloStatus fail_name(const HloVerify *v, const HloInstruction *inst) {
    HLO_EACH_COMP(comp, v->m) {
        HLO_EACH_INST(other, comp) {
            if (other->name != inst->name) continue;
            return hlo_verify_fail(inst, HLO_INTERNAL, "unique-name", "'%s' has an instruction of that name too",
                                   comp->name);
        }
    }
    return hlo_ok();
}

// Names are interned, so equal names are equal pointers.
static HloStatus check_name(const HloVerify *v, const HloInstruction *inst) {
    const uint64_t factor = 0x9e3779b97f4a7c15u;
    if (!inst->name) return hlo_verify_fail_comp(inst->comp, "has-name", "an instruction has no name");
    size_t last = SIZE_MAX >> v->names.shift, at = ((uintptr_t)inst->name * factor) >> v->names.shift;
    for (; v->names.slots[at]; at = (at + 1) & last) {
        if (v->names.slots[at] == inst->name) return fail_name(v, inst);
    }
    v->names.slots[at] = inst->name;
    return hlo_ok();
}

// ---- edges ----------------------------------------------------------------------------------------------

static uint64_t edge_hash(const HloInstruction *from, const HloInstruction *to) {
    const uint64_t factor = 0x9e3779b97f4a7c15u, mixer = 0xd6e8feb86659fd93u;
    uint64_t hash = (uintptr_t)from * factor + (uintptr_t)to;
    hash = (hash ^ hash >> 32) * mixer;
    return hash ^ hash >> 32;
}

// Operands and control predecessors: instructions of the same computation.
static HloStatus check_needed(Walk *w, const HloInstruction *inst, const HloVec *needed, const char *rule) {
    for (size_t k = 0; k < needed->count; k++) {
        const HloInstruction *other = needed->items[k];
        if (!other) return hlo_verify_fail(inst, HLO_INTERNAL, rule, "entry %zu is missing", k);
        if (other->comp != w->comp) {
            return hlo_verify_fail(inst, HLO_INTERNAL, rule, "entry %zu, '%s', is in another computation", k,
                                   other->name);
        }
        if (!other->shape) return hlo_verify_fail(other, HLO_INTERNAL, "has-shape", "it has no shape");
        w->ahead |= other->id >= w->seen.count || !hlo_bits_has(w->seen, other->id);
    }
    return hlo_ok();
}

// True when operand k is among the operands before it too.
static bool is_repeated(Walk *w, const HloInstruction *inst, size_t k) {
    enum { FEW = 4 };
    const HloInstruction *operand = hlo_operand(inst, k);
    if (hlo_operand_count(inst) <= FEW) {
        for (size_t i = 0; i < k; i++) {
            if (hlo_operand(inst, i) == operand) return true;
        }
        return false;
    }
    if (!w->last_user) w->last_user = HLO_NEW_ARRAY(w->v->arena, uint32_t, w->seen.count);
    if (operand->id >= w->seen.count) return false;
    if (w->last_user[operand->id] == inst->id + 1) return true;
    w->last_user[operand->id] = inst->id + 1;
    return false;
}

static void add_edges(Walk *w, const HloInstruction *inst) {
    uint64_t data = 0;
    for (size_t k = 0; k < inst->operands.count; k++) {
        if (!is_repeated(w, inst, k)) data += edge_hash(inst->operands.items[k], inst);
    }
    for (size_t k = 0; k < inst->users.count; k++) data -= edge_hash(inst, inst->users.items[k]);
    w->data_edges += data;
    for (size_t k = 0; k < hlo_control_preds(inst)->count; k++) {
        w->control_edges += edge_hash(hlo_control_preds(inst)->items[k], inst);
    }
    for (size_t k = 0; k < hlo_control_succs(inst)->count; k++) {
        w->control_edges -= edge_hash(inst, hlo_control_succs(inst)->items[k]);
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
        for (size_t k = 0; k < hlo_control_preds(inst)->count; k++) {
            const HloInstruction *before = hlo_control_preds(inst)->items[k];
            if (hlo_vec_find(hlo_control_succs(before), inst) != SIZE_MAX) continue;
            return hlo_verify_fail(inst, HLO_INTERNAL, "two-sided-edges",
                                   "'%s' does not know it as its control successor", before->name);
        }
    }
    return hlo_verify_fail_comp(comp, "two-sided-edges", "some user or control successor is listed too often");
}

static HloStatus check_callees(Walk *w, const HloInstruction *inst) {
    HloVerify *v = w->v;
    for (size_t k = 0; k < inst->called.count; k++) {
        const HloComputation *callee = inst->called.items[k];
        if (!callee) return hlo_verify_fail(inst, HLO_INTERNAL, "callees", "entry %zu is missing", k);
        if (callee->m != v->m || !callee->in_module || callee->id >= v->walked.count) {
            return hlo_verify_fail(inst, HLO_INTERNAL, "callees", "'%s' is not in the module", callee->name);
        }
        v->calls_ahead |= !hlo_bits_has(v->walked, callee->id);
    }
    hlo_vec_push(v->arena, &v->calls, inst);
    return hlo_ok();
}

// ---- one instruction ------------------------------------------------------------------------------------

static HloStatus check_identity(Walk *w, const HloInstruction *inst) {
    if (inst->comp != w->comp) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "parent", "it is listed in '%s'", w->comp->name);
    }
    if (inst->id >= w->seen.count || !hlo_bits_claim(w->seen, inst->id)) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "unique-id", "id %u is out of range or taken", inst->id);
    }
    if (!inst->shape) return hlo_verify_fail(inst, HLO_INTERNAL, "has-shape", "it has no shape");
    if (!hlo_shape_is_manageable(inst->shape)) {
        return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "shape-depth", "its shape nests too deep or is too large");
    }
    return check_name(w->v, inst);
}

static HloStatus walk_instruction(Walk *w, const HloInstruction *inst) {
    if (w->count == w->comp->count) {
        return hlo_verify_fail_comp(w->comp, "instruction-count", "more instructions than the %zu it counts", w->count);
    }
    w->in_sequence = w->in_sequence && w->comp->sequence[w->count] == inst;
    w->count++;
    w->parameters += inst->op == HLO_OP_PARAMETER;
    HLO_TRY(check_needed(w, inst, &inst->operands, "operands-in-computation"));
    HLO_TRY(check_needed(w, inst, hlo_control_preds(inst), "control-in-computation"));
    HLO_TRY(check_identity(w, inst));
    if (inst->called.count) HLO_TRY(check_callees(w, inst));
    add_edges(w, inst);
    return hlo_verify_instruction(w->v, inst);
}

// ---- cycles ---------------------------------------------------------------------------------------------

// In post-order everything stands behind what it needs; where it does not, or something is missing, there is a cycle.
static HloStatus check_acyclic(const HloVerify *v, const HloComputation *comp) {
    HloInstList order = hlo_post_order(comp, v->arena);
    HloBits done = hlo_bits_new(v->arena, comp->id_limit);
    for (size_t i = 0; i < order.count; i++) {
        const HloInstruction *inst = order.items[i];
        const HloVec *before[] = {&inst->operands, hlo_control_preds(inst)};
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

// ---- computations ---------------------------------------------------------------------------------------

static HloStatus check_parameters(const Walk *w) {
    const HloComputation *comp = w->comp;
    if (w->parameters != hlo_parameter_count(comp)) {
        return hlo_verify_fail_comp(comp, "parameter-numbers", "%zu parameters are numbered, there are %zu",
                                    hlo_parameter_count(comp), w->parameters);
    }
    return hlo_ok();
}

// What can be said only after the last instruction.
static HloStatus finish(const Walk *w) {
    const HloComputation *comp = w->comp;
    if (w->count != comp->count) {
        return hlo_verify_fail_comp(comp, "instruction-count", "%zu instructions, counted as %zu", w->count,
                                    comp->count);
    }
    if (!hlo_bits_has(w->seen, comp->root->id)) return hlo_verify_fail_comp(comp, "has-root", "its root is not in it");
    if (w->data_edges || w->control_edges) return locate_one_sided(comp);
    if (w->ahead) HLO_TRY(check_acyclic(w->v, comp));
    HLO_TRY(check_parameters(w));
    bool scheduled = w->v->m->is_scheduled && comp->sequence;
    return scheduled && (w->ahead || !w->in_sequence) ? hlo_verify_sequence(w->v, comp) : hlo_ok();
}

HloStatus hlo_verify_computation(HloVerify *v, const HloComputation *comp) {
    if (comp->m != v->m || comp->id >= v->walked.count) {
        return hlo_verify_fail_comp(comp, "parent", "it belongs to another module or has a foreign id");
    }
    if (!comp->root || comp->root->comp != comp || comp->root->id >= comp->id_limit) {
        return hlo_verify_fail_comp(comp, "has-root", "it has no root of its own");
    }
    if (!v->names.slots) init_names(v);
    Walk w = {.v = v, .comp = comp, .seen = hlo_bits_new(v->arena, comp->id_limit)};
    w.in_sequence = comp->sequence && comp->sequence_count == comp->count;
    HLO_EACH_INST(inst, comp) HLO_TRY(walk_instruction(&w, inst));
    HLO_TRY(finish(&w));
    if (hlo_bits_claim(v->walked, comp->id)) return hlo_ok();
    return hlo_verify_fail_comp(comp, "unique-id", "id %u is taken", comp->id);
}
