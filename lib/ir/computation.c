// Computations: adding, removing, cloning instructions.

#include "hlo/computation.h"

#include <assert.h>

#include "hlo/module.h"
#include "lib/ir/edges.h"

HloComputation *hlo_computation_new(HloModule *m, const char *name) {
    HloComputation *comp = HLO_NEW(&m->arena, HloComputation);
    comp->m = m;
    comp->name = hlo_intern_z(m, name);
    comp->id = m->computation_id_limit++;
    return comp;
}

static void enter_parameter(HloComputation *comp, HloInstruction *inst) {
    size_t number = (size_t)hlo_parameter_number(inst);
    while (comp->parameters.count <= number) hlo_vec_push(&comp->m->arena, &comp->parameters, NULL);
    comp->parameters.items[number] = inst;
}

static void put_last(HloComputation *comp, HloInstruction *inst) {
    inst->prev = comp->last;
    inst->next = NULL;
    if (comp->last)
        comp->last->next = inst;
    else
        comp->first = inst;
    comp->last = inst;
}

// inst->next stays: a walk may stand at inst.
static void take_from_list(HloComputation *comp, HloInstruction *inst) {
    if (inst->prev)
        inst->prev->next = inst->next;
    else
        comp->first = inst->next;
    if (inst->next)
        inst->next->prev = inst->prev;
    else
        comp->last = inst->prev;
}

static HloInstruction *add_named(HloComputation *comp, HloInstruction *inst, const char *name) {
    assert(!inst->comp);
    inst->name = name;
    inst->comp = comp;
    inst->id = comp->id_limit++;
    put_last(comp, inst);
    comp->count++;
    hlo_link_operands(inst);
    hlo_link_callees(inst);
    if (inst->op == HLO_OP_PARAMETER) enter_parameter(comp, inst);
    return inst;
}

HloInstruction *hlo_computation_add(HloComputation *comp, HloInstruction *inst, const char *name) {
    HloModule *m = comp->m;
    if (!name) name = inst->name[0] ? inst->name : hlo_op_name(inst->op);
    bool unique = comp->in_module;
    return add_named(comp, inst,
                     unique ? hlo_unique_name(m, &m->instruction_names, name)
                            : hlo_arena_string(&m->arena, name, strlen(name)));
}

HloInstruction *hlo_computation_add_owned(HloComputation *comp, HloInstruction *inst, const char *name) {
    HloModule *m = comp->m;
    return add_named(comp, inst, comp->in_module ? hlo_unique_owned(m, &m->instruction_names, name) : name);
}

static void leave_parameter(HloComputation *comp, const HloInstruction *inst) {
    size_t at = hlo_vec_find(&comp->parameters, inst);
    if (at != SIZE_MAX) comp->parameters.items[at] = NULL;
    while (comp->parameters.count && !comp->parameters.items[comp->parameters.count - 1]) comp->parameters.count--;
}

void hlo_computation_remove(HloComputation *comp, HloInstruction *inst) {
    assert(inst->comp == comp && inst->users.count == 0 && comp->root != inst);
    hlo_drop_control_edges(inst);
    hlo_unlink_operands(inst);
    hlo_unlink_callees(inst);
    if (inst->op == HLO_OP_PARAMETER) leave_parameter(comp, inst);
    take_from_list(comp, inst);
    comp->count--;
    inst->comp = NULL;
}

void hlo_computation_move_last(HloComputation *comp, HloInstruction *inst) {
    take_from_list(comp, inst);
    put_last(comp, inst);
}

bool hlo_guards_effects(const HloInstruction *inst) {
    if (inst->op != HLO_OP_AFTER_ALL) return false;
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        const HloInstruction *operand = hlo_operand(inst, k);
        while (operand->op == HLO_OP_GET_TUPLE_ELEMENT) operand = hlo_operand(operand, 0);
        if (hlo_has_side_effect(operand)) return true;
    }
    return false;
}

static bool may_follow(const HloInstruction *inst, bool relay) {
    return inst->comp && hlo_is_dead(inst) && (relay || !hlo_has_control_edges(inst)) && !hlo_has_side_effect(inst);
}

// Takes an instruction out of the control order: everything before it comes before everything after it.
static void bridge_control_edges(HloInstruction *inst) {
    for (size_t i = 0; i < hlo_control_preds(inst)->count; i++) {
        for (size_t k = 0; k < hlo_control_succs(inst)->count; k++) {
            hlo_add_control_edge(hlo_control_preds(inst)->items[i], hlo_control_succs(inst)->items[k]);
        }
    }
    hlo_drop_control_edges(inst);
}

static void take_out(HloComputation *comp, HloInstruction *inst, const HloRemoval *removal) {
    if (removal->relay_control) bridge_control_edges(inst);
    hlo_computation_remove(comp, inst);
}

size_t hlo_computation_remove_dead(HloComputation *comp, HloInstruction *inst, HloRemoval *removal) {
    if (hlo_guards_effects(inst)) return 0;
    HloArena scratch = {.trap = comp->m->arena.trap};
    HloVec queue = {0};
    hlo_vec_push(&scratch, &queue, inst);
    size_t removed = 0;
    for (size_t i = 0; i < queue.count; i++) {
        HloInstruction *at = queue.items[i];
        if (i > 0 && !may_follow(at, removal->relay_control)) continue;
        if (at->op == HLO_OP_PARAMETER) {
            hlo_vec_push(removal->arena, &removal->dead_parameters, at);
            continue;
        }
        take_out(comp, at, removal);
        removed++;
        for (size_t k = 0; k < at->operands.count; k++) hlo_vec_push(&scratch, &queue, at->operands.items[k]);
    }
    hlo_arena_free(&scratch);
    return removed;
}

void hlo_computation_set_root(HloComputation *comp, HloInstruction *root) {
    assert(root->comp == comp);
    comp->root = root;
}

HloInstruction *hlo_fusion_caller(const HloComputation *comp) {
    for (size_t i = 0; i < comp->callers.count; i++) {
        HloInstruction *caller = comp->callers.items[i];
        if (caller->op == HLO_OP_FUSION) return caller;
    }
    return NULL;
}

bool hlo_is_fusion_computation(const HloComputation *comp) {
    return hlo_fusion_caller(comp) != NULL;
}

bool hlo_is_async_computation(const HloComputation *comp) {
    for (size_t i = 0; i < comp->callers.count; i++) {
        const HloInstruction *caller = comp->callers.items[i];
        if (hlo_op_has(caller->op, HLO_OPF_ASYNC)) return true;
    }
    return false;
}

// ---- cloning --------------------------------------------------------------------------------------------

static void clone_control_edges(const HloComputation *comp, const HloMap *made) {
    HLO_EACH_INST(inst, comp) {
        for (size_t i = 0; i < hlo_control_preds(inst)->count; i++) {
            hlo_add_control_edge(hlo_map_find(made, hlo_control_preds(inst)->items[i]), hlo_map_find(made, inst));
        }
    }
}

static HloComputation **clone_callees(const HloInstruction *inst, const HloMap *callees, HloArena *scratch) {
    HloComputation **list = HLO_NEW_ARRAY(scratch, HloComputation *, inst->called.count + 1);
    for (size_t k = 0; k < inst->called.count; k++) {
        HloComputation *other = callees ? hlo_map_find(callees, inst->called.items[k]) : NULL;
        list[k] = other ? other : inst->called.items[k];
    }
    return list;
}

HloComputation *hlo_computation_clone(HloModule *m, const HloComputation *comp, const char *name, const HloMap *callees,
                                      HloArena *scratch, HloMap *inst_map) {
    HloMap local = {0};
    HloMap *made = inst_map ? inst_map : &local;
    HloComputation *copy = hlo_computation_new(m, name);
    if (comp->execution_thread) copy->execution_thread = hlo_intern_z(m, comp->execution_thread);
    // List order may put users before operands, so operands are filled in a second walk.
    HLO_EACH_INST(inst, comp) {
        HloInstruction *twin = hlo_inst_clone(m, inst, hlo_shape_import(&m->shapes, inst->shape), NULL, 0,
                                              clone_callees(inst, callees, scratch));
        *hlo_map_at(scratch, made, inst) = hlo_computation_add(copy, twin, inst->name);
    }
    HLO_EACH_INST(inst, comp) {
        HloInstruction *twin = hlo_map_find(made, inst);
        for (size_t k = 0; k < hlo_operand_count(inst); k++) {
            hlo_append_operand(twin, hlo_map_find(made, hlo_operand(inst, k)));
        }
    }
    clone_control_edges(comp, made);
    if (comp->root) copy->root = hlo_map_find(made, comp->root);
    if (comp->sequence) {
        copy->sequence = HLO_NEW_ARRAY(&m->arena, HloInstruction *, comp->sequence_count);
        copy->sequence_count = comp->sequence_count;
        for (size_t i = 0; i < comp->sequence_count; i++) copy->sequence[i] = hlo_map_find(made, comp->sequence[i]);
    }
    return copy;
}

// ---- equality -------------------------------------------------------------------------------------------

typedef struct Equality {
    HloArena scratch;
    unsigned ignore;
    HloVec left, right;  // pairs of computations still to compare
    HloMap paired;       // computations of the left that have been queued -> their twin
} Equality;

// Queues a pair of callees; false when the left one has another twin already.
static bool pair_up(Equality *e, const HloComputation *a, const HloComputation *b) {
    if (a == b) return true;
    void **slot = hlo_map_at(&e->scratch, &e->paired, a);
    if (*slot) return *slot == b;
    *slot = (void *)(uintptr_t)b;
    hlo_vec_push(&e->scratch, &e->left, a);
    hlo_vec_push(&e->scratch, &e->right, b);
    return true;
}

static bool same_instruction(Equality *e, const HloInstruction *a, const HloInstruction *b, const HloMap *twins) {
    if (a->operands.count != b->operands.count || a->called.count != b->called.count) return false;
    if (!hlo_shape_equal(a->shape, b->shape, e->ignore)) return false;
    for (size_t k = 0; k < a->operands.count; k++) {
        if (hlo_map_find(twins, a->operands.items[k]) != b->operands.items[k]) return false;
    }
    for (size_t k = 0; k < a->called.count; k++) {
        if (!pair_up(e, a->called.items[k], b->called.items[k])) return false;
    }
    return hlo_same_attributes(a, b, NULL, 0);
}

static bool same_body(Equality *e, const HloComputation *a, const HloComputation *b) {
    if (a->count != b->count || hlo_parameter_count(a) != hlo_parameter_count(b)) return false;
    HloMap twins = {0};
    HloInstList left = hlo_post_order(a, &e->scratch), right = hlo_post_order(b, &e->scratch);
    if (left.count != right.count) return false;
    for (size_t i = 0; i < left.count; i++) {
        if (!same_instruction(e, left.items[i], right.items[i], &twins)) return false;
        *hlo_map_at(&e->scratch, &twins, left.items[i]) = right.items[i];
    }
    return hlo_map_find(&twins, a->root) == b->root;
}

bool hlo_computation_equal(const HloComputation *a, const HloComputation *b, bool layout_sensitive) {
    Equality e = {.scratch = {.trap = a->m->arena.trap},
                  .ignore = layout_sensitive ? HLO_IGNORE_NOTHING : HLO_IGNORE_LAYOUT};
    bool same = pair_up(&e, a, b);
    while (same && e.left.count) same = same_body(&e, hlo_vec_pop(&e.left), hlo_vec_pop(&e.right));
    hlo_arena_free(&e.scratch);
    return same;
}
