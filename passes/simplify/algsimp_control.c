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

// The size that all replica groups have; 0 when they differ or are not known here.
static int64_t group_size(const HloAlg *alg, const HloInstruction *inst) {
    const HloGroups *groups = hlo_data(inst, HLO_ATTR_REPLICA_GROUPS);
    if (!groups) return 0;
    if (groups->form == HLO_GROUPS_IOTA) return groups->size;
    if (groups->form != HLO_GROUPS_LIST) return 0;
    if (groups->lists.count == 0) return hlo_has(inst, HLO_ATTR_CHANNEL_ID) ? 0 : alg->m->replica_count;
    for (size_t i = 1; i < groups->lists.count; i++) {
        if (groups->lists.lists[i].count != groups->lists.lists[0].count) return 0;
    }
    return (int64_t)groups->lists.lists[0].count;
}

static bool is_idempotent(const HloComputation *reducer) {
    static const HloOpcode ops[] = {HLO_OP_MINIMUM, HLO_OP_MAXIMUM, HLO_OP_AND, HLO_OP_OR};
    if (hlo_parameter_count(reducer) != 2) return false;
    bool is_pred = hlo_parameter(reducer, 0)->shape->type == HLO_PRED;
    for (size_t i = 0; i < HLO_COUNT(ops); i++) {
        bool is_logic = ops[i] == HLO_OP_AND || ops[i] == HLO_OP_OR;
        if (is_pred == is_logic && hlo_alg_is_reducer(reducer, ops[i])) return true;
    }
    return false;
}

// c added up `count` times.
static HloInstruction *repeated(HloAlg *alg, HloInstruction *c, int64_t count) {
    const HloLiteral *literal = hlo_constant(c);
    HloType type = c->shape->type;
    if (hlo_type_is_float(type)) return hlo_alg_scalar(alg, type, hlo_literal_double(literal, 0) * (double)count);
    return hlo_alg_scalar_int(alg, type, (int64_t)((uint64_t)hlo_literal_int(literal, 0) * (uint64_t)count));
}

// all-reduce(broadcast(c)) -> broadcast(c · group size) for sums, broadcast(c) where repeating changes nothing.
static HloInstruction *all_reduce_splat(HloAlg *alg, HloInstruction *inst) {
    if (!hlo_shape_is_array(inst->shape) || hlo_operand_count(inst) != 1) return NULL;
    HloInstruction *c = hlo_alg_splat_constant(hlo_operand(inst, 0));
    int64_t size = group_size(alg, inst);
    if (!c || size == 0 || hlo_type_is_complex(c->shape->type) || hlo_constant(c)->elided) return NULL;
    if (!is_idempotent(hlo_called(inst, 0))) {
        if (c->shape->type == HLO_PRED || !hlo_alg_is_reducer(hlo_called(inst, 0), HLO_OP_ADD)) return NULL;
        c = repeated(alg, c, size);
    }
    return hlo_build_broadcast(alg->rw, inst->shape, c, (HloDims){NULL, 0});
}

// ---- custom calls ---------------------------------------------------------------------------------------

static bool is_call_to(const HloInstruction *x, const char *target) {
    return x->op == HLO_OP_CUSTOM_CALL && strcmp(hlo_text(x, HLO_ATTR_CUSTOM_CALL_TARGET), target) == 0;
}

// LayoutConstraint(x) -> x, or a copy where the layout differs.
static HloInstruction *layout_constraint(HloAlg *alg, HloInstruction *inst) {
    if (!alg->layout_sensitive || hlo_operand_count(inst) != 1 || !is_call_to(inst, "LayoutConstraint")) return NULL;
    HloInstruction *x = hlo_operand(inst, 0);
    return x->shape == inst->shape ? x : hlo_alg_unary(alg, inst->shape, HLO_OP_COPY, x);
}

// The custom call that operand k of `inst` takes element k of; NULL for anything else.
static HloInstruction *element_source(const HloInstruction *inst, size_t k) {
    HloInstruction *gte = hlo_operand(inst, k);
    return gte->op == HLO_OP_GET_TUPLE_ELEMENT && hlo_int(gte, HLO_ATTR_INDEX) == (int64_t)k ? hlo_operand(gte, 0)
                                                                                             : NULL;
}

// SliceToDynamic(PadToStatic(x)) -> x
static HloInstruction *dynamic_again(HloAlg *alg, HloInstruction *inst) {
    if (!is_call_to(inst, "SliceToDynamic") || hlo_operand_count(inst) != 2) return NULL;
    HloInstruction *source = element_source(inst, 0);
    if (!source || element_source(inst, 1) != source || !is_call_to(source, "PadToStatic")) return NULL;
    HloInstruction *x = hlo_operand_count(source) == 1 ? hlo_operand(source, 0) : NULL;
    return x && hlo_alg_same_shape(alg, x->shape, inst->shape) ? x : NULL;
}

static const HloAlgRule rules[] = {
    {HLO_OP_GET_TUPLE_ELEMENT, "gte-tuple", gte_tuple, HLO_ALG_COMPAT},
    {HLO_OP_OPT_BARRIER, "barrier-unused", barrier_unused, HLO_ALG_IN_PLACE},
    {HLO_OP_ALL_GATHER, "all-gather-splat", all_gather_splat, HLO_ALG_PLAIN},
    {HLO_OP_ALL_TO_ALL, "all-to-all-splat", all_to_all_splat, HLO_ALG_PLAIN},
    {HLO_OP_ALL_REDUCE, "all-reduce-splat", all_reduce_splat, HLO_ALG_PLAIN},
    {HLO_OP_REDUCE_SCATTER, "reduce-scatter-splat", all_reduce_splat, HLO_ALG_PLAIN},
    {HLO_OP_CUSTOM_CALL, "dynamic-again", dynamic_again, HLO_ALG_PLAIN},
    {HLO_OP_CUSTOM_CALL, "layout-constraint", layout_constraint, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_control_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
