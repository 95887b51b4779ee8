// algsimp: broadcast.
//
// Broadcasts sink below elementwise instructions, so that work is done once per value; they merge with each other and
// with what only moves elements.

#include "algsimp.h"

static bool has_same_count(const HloShape *a, const HloShape *b) {
    return hlo_shape_elem_count(a) == hlo_shape_elem_count(b) && !hlo_shape_is_dynamic(a) && !hlo_shape_is_dynamic(b);
}

// A broadcast that repeats nothing is a reshape.
static HloInstruction *broadcast_reshape(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0);
    if (!hlo_alg_is_sorted(hlo_dims(inst, HLO_ATTR_DIMENSIONS)) || !has_same_count(x->shape, inst->shape)) return NULL;
    return hlo_build_reshape(alg->rw, inst->shape, x);
}

static HloInstruction *broadcast_transpose(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0);
    HloDims dims = hlo_dims(inst, HLO_ATTR_DIMENSIONS);
    if (x->shape->rank != inst->shape->rank || !has_same_count(x->shape, inst->shape)) return NULL;
    HloInstruction *transpose = hlo_alg_unary(alg, inst->shape, HLO_OP_TRANSPOSE, x);
    if (transpose) hlo_set_dims(alg->m, transpose, HLO_ATTR_DIMENSIONS, hlo_alg_inverse(alg, dims));
    return transpose;
}

// broadcast(reshape(x)) -> broadcast(x) when the reshape only inserts dimensions of size 1.
static HloInstruction *broadcast_of_reshape(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *reshape = hlo_operand(inst, 0);
    HloDims deleted, inserted, dims = hlo_dims(inst, HLO_ATTR_DIMENSIONS);
    if (reshape->op != HLO_OP_RESHAPE || !hlo_alg_reshape_ones(alg, reshape, &deleted, &inserted)) return NULL;
    if (deleted.count) return NULL;
    int64_t *kept = hlo_alg_ints(alg, dims.count);
    size_t count = 0;
    for (size_t d = 0; d < dims.count; d++) {
        if (!hlo_dims_has(inserted, (int64_t)d)) kept[count++] = dims.data[d];
    }
    return hlo_build_broadcast(alg->rw, inst->shape, hlo_operand(reshape, 0), (HloDims){kept, count});
}

// ---- sinking --------------------------------------------------------------------------------------------

// Broadcasts a scalar, or a value of the same shape the same way as `broadcast`.
static bool sinks_with(const HloInstruction *broadcast, const HloInstruction *x) {
    if (x->op != HLO_OP_BROADCAST) return false;
    if (hlo_shape_is_scalar(hlo_operand(x, 0)->shape)) return true;
    return hlo_operand(x, 0)->shape == hlo_operand(broadcast, 0)->shape &&
           hlo_dims_equal(hlo_dims(x, HLO_ATTR_DIMENSIONS), hlo_dims(broadcast, HLO_ATTR_DIMENSIONS));
}

static bool is_sinkable_user(const HloInstruction *broadcast, const HloInstruction *user) {
    if (hlo_is_dead(user) || user->op == HLO_OP_COPY || user->op == HLO_OP_FUSION || !hlo_is_elementwise(user))
        return false;
    for (size_t k = 0; k < hlo_operand_count(user); k++) {
        if (!sinks_with(broadcast, hlo_operand(user, k))) return false;
    }
    return true;
}

// f(broadcast(a), broadcast(b), …) -> broadcast(f(a, b, …)) for one user f; f stays behind without users.
static void sink_below(HloAlg *alg, HloInstruction *broadcast, HloInstruction *user) {
    const HloShape *inner = hlo_operand(broadcast, 0)->shape;
    size_t count = hlo_operand_count(user);
    HloInstruction **operands = HLO_NEW_ARRAY(alg->scratch, HloInstruction *, count);
    for (size_t k = 0; k < count; k++) {
        HloInstruction *x = hlo_operand(user, k);
        operands[k] = hlo_operand(x, 0);
        if (operands[k]->shape->rank != 0) continue;
        // Also where inner has rank 0: such a broadcast goes away in the next sweep, and names come out as users know.
        const HloShape *shape = hlo_alg_retyped(alg, inner, x->shape->type);
        operands[k] = hlo_derive(alg->rw, hlo_build_broadcast(alg->rw, shape, operands[k], (HloDims){NULL, 0}), x);
    }
    const HloShape *shape = hlo_alg_retyped(alg, inner, user->shape->type);
    HloInstruction *small = hlo_derive(alg->rw, hlo_build_clone(alg->rw, user, shape, operands, count), user);
    if (!small) return;
    HloDims dims = hlo_dims(broadcast, HLO_ATTR_DIMENSIONS);
    HloInstruction *result = hlo_derive(alg->rw, hlo_build_broadcast(alg->rw, user->shape, small, dims), broadcast);
    if (result) hlo_alg_redirect(alg, user, result, "broadcast-sink");
}

// Users as they are now; the list changes below.
static HloVec users_of(HloAlg *alg, const HloInstruction *x) {
    HloVec users = {0};
    for (size_t k = 0; k < hlo_user_count(x); k++) hlo_vec_push(alg->scratch, &users, hlo_user(x, k));
    return users;
}

static HloInstruction *broadcast_sink(HloAlg *alg, HloInstruction *inst) {
    if (!alg->sink_broadcast || inst->shape->rank == 0) return NULL;
    bool sunk = false;
    HloVec users = users_of(alg, inst);
    for (size_t k = 0; k < users.count; k++) {
        if (!is_sinkable_user(inst, users.items[k])) continue;
        sink_below(alg, inst, users.items[k]);
        sunk = true;
    }
    return sunk ? inst : NULL;
}

// ---- users that only move elements ----------------------------------------------------------------------

static bool only_moves_elements(const HloInstruction *user, const HloInstruction *x) {
    switch ((int)user->op) {
    case HLO_OP_RESHAPE:
    case HLO_OP_REVERSE:
    case HLO_OP_SLICE:
    case HLO_OP_TRANSPOSE: return true;
    case HLO_OP_SORT: return hlo_shape_is_array(user->shape);
    case HLO_OP_DYNAMIC_SLICE: return hlo_operand(user, 0) == x;
    default: return false;
    }
}

// f(broadcast(scalar)) -> broadcast(scalar) of f's shape, for the first user f that only moves elements.
static HloInstruction *broadcast_user(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *scalar = hlo_alg_splat_operand(inst);
    if (!scalar) return NULL;
    for (size_t k = 0; k < hlo_user_count(inst); k++) {
        HloInstruction *user = hlo_user(inst, k);
        if (hlo_is_dead(user) || !only_moves_elements(user, inst)) continue;
        const HloShape *shape = hlo_shape_static(&alg->m->shapes, user->shape);
        HloInstruction *result = hlo_build_broadcast(alg->rw, shape, scalar, (HloDims){NULL, 0});
        if (!hlo_derive(alg->rw, result, user)) return NULL;
        hlo_alg_redirect(alg, user, result, "broadcast-user");
        return inst;
    }
    return NULL;
}

static HloInstruction *broadcast_is_splat(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_alg_splat_operand(inst);
}

// ---- merging --------------------------------------------------------------------------------------------

static HloInstruction *broadcast_iota(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *iota = hlo_operand(inst, 0);
    if (iota->op != HLO_OP_IOTA) return NULL;
    HloInstruction *result = hlo_build(alg->rw, HLO_OP_IOTA, inst->shape, NULL, 0);
    int64_t d = hlo_int(iota, HLO_ATTR_IOTA_DIMENSION);
    if (result) hlo_set_int(alg->m, result, HLO_ATTR_IOTA_DIMENSION, hlo_dims(inst, HLO_ATTR_DIMENSIONS).data[d]);
    return result;
}

static HloInstruction *broadcast_twice(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *inner = hlo_operand(inst, 0);
    if (inner->op != HLO_OP_BROADCAST) return NULL;
    HloDims outer_dims = hlo_dims(inst, HLO_ATTR_DIMENSIONS), inner_dims = hlo_dims(inner, HLO_ATTR_DIMENSIONS);
    int64_t *dims = hlo_alg_ints(alg, inner_dims.count);
    for (size_t d = 0; d < inner_dims.count; d++) dims[d] = outer_dims.data[inner_dims.data[d]];
    return hlo_build_broadcast(alg->rw, inst->shape, hlo_operand(inner, 0), (HloDims){dims, inner_dims.count});
}

// broadcast(x) -> broadcast(reshape(x)) without x's dimensions of size 1.
static HloInstruction *broadcast_degenerate(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0);
    if (alg->layout_sensitive || !alg->broadcast_degenerate) return NULL;
    HloDims dims = hlo_dims(inst, HLO_ATTR_DIMENSIONS);
    int64_t *gone = hlo_alg_ints(alg, x->shape->rank), *kept = hlo_alg_ints(alg, dims.count);
    size_t gone_count = 0, kept_count = 0;
    for (size_t d = 0; d < x->shape->rank; d++) {
        if (x->shape->dims[d] == 1)
            gone[gone_count++] = (int64_t)d;
        else
            kept[kept_count++] = dims.data[d];
    }
    if (!gone_count) return NULL;
    const HloShape *shape = hlo_alg_without_dims(alg, x->shape, (HloDims){gone, gone_count});
    HloInstruction *reshape = hlo_derive(alg->rw, hlo_build_reshape(alg->rw, shape, x), x);
    return hlo_build_broadcast(alg->rw, inst->shape, reshape, (HloDims){kept, kept_count});
}

static const HloAlgRule rules[] = {
    {HLO_OP_BROADCAST, "broadcast-reshape", broadcast_reshape, HLO_ALG_PLAIN},
    {HLO_OP_BROADCAST, "broadcast-transpose", broadcast_transpose, HLO_ALG_PLAIN},
    {HLO_OP_BROADCAST, "broadcast-of-reshape", broadcast_of_reshape, HLO_ALG_PLAIN},
    {HLO_OP_BROADCAST, "broadcast-sink", broadcast_sink, HLO_ALG_IN_PLACE},
    {HLO_OP_BROADCAST, "broadcast-user", broadcast_user, HLO_ALG_IN_PLACE},
    {HLO_OP_BROADCAST, "broadcast-is-splat", broadcast_is_splat, HLO_ALG_STOP},
    {HLO_OP_BROADCAST, "broadcast-iota", broadcast_iota, HLO_ALG_PLAIN},
    {HLO_OP_BROADCAST, "broadcast-twice", broadcast_twice, HLO_ALG_PLAIN},
    {HLO_OP_BROADCAST, "broadcast-degenerate", broadcast_degenerate, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_broadcast_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
