// algsimp: tuples, barriers, collectives of constants.

#include "algsimp.h"

static HloInstruction *gte_tuple(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloInstruction *tuple = hlo_operand(inst, 0);
    return tuple->op == HLO_OP_TUPLE ? hlo_operand(tuple, (size_t)hlo_int(inst, HLO_ATTR_INDEX)) : NULL;
}

// ---- opt-barrier ----------------------------------------------------------------------------------------

// Which elements of the barrier's tuple have to stay; false when it is used as a whole.
static bool mark_used(const HloInstruction *barrier, HloBits used) {
    for (size_t k = 0; k < hlo_user_count(barrier); k++) {
        const HloInstruction *user = hlo_user(barrier, k);
        if (user->op != HLO_OP_GET_TUPLE_ELEMENT) return false;
        hlo_bits_add(used, (size_t)hlo_int(user, HLO_ATTR_INDEX));
    }
    const HloInstruction *tuple = hlo_operand(barrier, 0);
    for (size_t k = 0; tuple->op == HLO_OP_TUPLE && k < hlo_operand_count(tuple); k++) {
        const HloInstruction *element = hlo_operand(tuple, k);
        if (hlo_user_count(element) > 1 || hlo_is_root(element) || hlo_has_side_effect(element)) hlo_bits_add(used, k);
    }
    return true;
}

static HloInstruction *barrier_element(HloAlg *alg, HloInstruction *barrier, size_t k) {
    HloInstruction *tuple = hlo_operand(barrier, 0);
    if (tuple->op == HLO_OP_TUPLE) return hlo_operand(tuple, k);
    return hlo_derive(alg->rw, hlo_build_gte(alg->rw, tuple, (int64_t)k), barrier);
}

// Gives every reader of `old` its element of the smaller barrier.
static void move_readers(HloAlg *alg, HloInstruction *old, HloInstruction *smaller, const int64_t *places) {
    HloVec readers = {0};
    for (size_t k = 0; k < hlo_user_count(old); k++) hlo_vec_push(alg->scratch, &readers, hlo_user(old, k));
    for (size_t k = 0; k < readers.count; k++) {
        HloInstruction *reader = readers.items[k];
        HloInstruction *element = hlo_build_gte(alg->rw, smaller, places[hlo_int(reader, HLO_ATTR_INDEX)]);
        hlo_replace_with(alg->rw, reader, element, "barrier-unused",
                         HLO_REPLACE_RELAY_CONTROL | HLO_REPLACE_KEEP_OPERANDS);
    }
}

// Elements that nobody reads behind the barrier need not wait at it.
static HloInstruction *barrier_unused(HloAlg *alg, HloInstruction *inst) {
    if (!hlo_shape_is_tuple(inst->shape) || hlo_is_root(inst) || !hlo_user_count(inst) || hlo_has_control_edges(inst)) {
        return NULL;
    }
    size_t total = inst->shape->rank, count = 0;
    HloBits used = hlo_bits_new(alg->scratch, total + 1);
    if (!mark_used(inst, used)) return NULL;
    for (size_t k = 0; k < total; k++) count += hlo_bits_has(used, k);
    if (count == total) return NULL;

    int64_t *places = hlo_alg_ints(alg, total);
    HloInstruction **elements = HLO_NEW_ARRAY(alg->scratch, HloInstruction *, count + 1);
    count = 0;
    for (size_t k = 0; k < total; k++) {
        if (!hlo_bits_has(used, k)) continue;
        places[k] = (int64_t)count;
        elements[count++] = barrier_element(alg, inst, k);
    }
    HloInstruction *tuple = hlo_build_tuple(alg->rw, elements, count);
    if (!tuple) return NULL;
    hlo_derive(alg->rw, tuple, hlo_operand(inst, 0));
    HloInstruction *smaller = hlo_build_clone(alg->rw, inst, tuple->shape, &tuple, 1);
    if (!smaller) return NULL;
    const char *name = inst->name;
    move_readers(alg, inst, smaller, places);
    if (hlo_is_dead(inst)) hlo_computation_remove(inst->comp, inst);
    hlo_inst_set_name(smaller, name);
    return inst;
}

// ---- collectives ----------------------------------------------------------------------------------------

// all-gather(broadcast(c)) -> broadcast(c)
static HloInstruction *all_gather_splat(HloAlg *alg, HloInstruction *inst) {
    if (!hlo_shape_is_array(inst->shape) || hlo_operand_count(inst) != 1) return NULL;
    HloInstruction *c = hlo_alg_splat_constant(hlo_operand(inst, 0));
    return c ? hlo_build_clone_named(alg->rw, hlo_operand(inst, 0), inst->shape, &c, 1) : NULL;
}

static HloInstruction *all_to_all_splat(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    if (!hlo_shape_is_array(inst->shape) || hlo_operand_count(inst) != 1) return NULL;
    return hlo_alg_splat_constant(hlo_operand(inst, 0)) ? hlo_operand(inst, 0) : NULL;
}

// ---- custom calls ---------------------------------------------------------------------------------------

// LayoutConstraint(x) -> x, or a copy where the layout differs.
static HloInstruction *layout_constraint(HloAlg *alg, HloInstruction *inst) {
    if (!alg->layout_sensitive || hlo_operand_count(inst) != 1) return NULL;
    if (strcmp(hlo_text(inst, HLO_ATTR_CUSTOM_CALL_TARGET), "LayoutConstraint") != 0) return NULL;
    HloInstruction *x = hlo_operand(inst, 0);
    return x->shape == inst->shape ? x : hlo_alg_unary(alg, inst->shape, HLO_OP_COPY, x);
}

static const HloAlgRule rules[] = {
    {HLO_OP_GET_TUPLE_ELEMENT, "gte-tuple", gte_tuple, HLO_ALG_COMPAT},
    {HLO_OP_OPT_BARRIER, "barrier-unused", barrier_unused, HLO_ALG_IN_PLACE},
    {HLO_OP_ALL_GATHER, "all-gather-splat", all_gather_splat, HLO_ALG_PLAIN},
    {HLO_OP_ALL_TO_ALL, "all-to-all-splat", all_to_all_splat, HLO_ALG_PLAIN},
    {HLO_OP_CUSTOM_CALL, "layout-constraint", layout_constraint, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_control_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
