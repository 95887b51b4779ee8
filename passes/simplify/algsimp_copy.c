// algsimp: copy and bitcast, and the order of copies and reshapes (chapter §3.4).

#include "algsimp.h"

#include "hlo/analysis.h"

// ---- copy -----------------------------------------------------------------------------------------------

static HloInstruction *copy_twice(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *inner = hlo_operand(inst, 0);
    if (inner->op != HLO_OP_COPY) return NULL;
    HloInstruction *x = hlo_operand(inner, 0);
    return x->shape == inst->shape ? x : hlo_alg_unary(alg, inst->shape, HLO_OP_COPY, x);
}

// A sharded copy at the end of the program says where its result shall lie.
static HloInstruction *copy_same(HloAlg *alg, HloInstruction *inst) {
    bool is_result = hlo_is_root(inst) && inst->comp == alg->m->entry && hlo_has(inst, HLO_ATTR_SHARDING);
    return is_result ? NULL : hlo_operand(inst, 0);
}

static int64_t memory_space(const HloShape *shape) {
    return shape->layout ? shape->layout->memory_space : 0;
}

static HloInstruction *copy_bitcast(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_alg_bitcast_source(alg, inst);
    if (!x || memory_space(x->shape) != memory_space(inst->shape)) return NULL;
    return hlo_derive(alg->rw, hlo_build_bitcast(alg->rw, inst->shape, x), inst);
}

// copy(reshape(x)) -> reshape(x) to the copy's layout when the copy moves nothing.
static HloInstruction *copy_reshape(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *reshape = hlo_operand(inst, 0);
    if (reshape->op != HLO_OP_RESHAPE || !hlo_alg_has_one_user(reshape)) return NULL;
    if (!hlo_alg_reshape_is_bitcast(alg, reshape->shape, inst->shape)) return NULL;
    HloInstruction *x = hlo_operand(reshape, 0);
    return hlo_build_clone(alg->rw, reshape, inst->shape, &x, 1);
}

// ---- copies and reshapes --------------------------------------------------------------------------------

static bool equal_but_space(const HloShape *a, const HloShape *b) {
    return hlo_shape_equal(a, b, HLO_IGNORE_MEMORY_SPACE);
}

// The rewrite may move at most 10/9 of the bytes that were moved before.
static bool is_no_larger(int64_t before_bytes, int64_t after_bytes) {
    return (double)after_bytes * 9 <= (double)before_bytes * 10;
}

static HloInstruction *reshape_or_bitcast(HloAlg *alg, const HloShape *shape, HloInstruction *x, bool bitcast) {
    return bitcast ? hlo_build_bitcast(alg->rw, shape, x) : hlo_build_reshape(alg->rw, shape, x);
}

// copy(reshape(x)) -> reshape(copy(x)) when that makes a bitcast, or joins two copies.
static HloInstruction *swap_copy_reshape(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *reshape = hlo_operand(inst, 0);
    if (!alg->layout_sensitive || reshape->op != HLO_OP_RESHAPE || !hlo_alg_has_one_user(reshape)) return NULL;
    HloInstruction *x = hlo_operand(reshape, 0);
    const HloShape *copied = hlo_reshape_align_layout(&alg->m->shapes, inst->shape, x->shape);
    if (!copied) return NULL;
    bool was_bitcast = hlo_reshape_is_bitcast(x->shape, reshape->shape);
    bool is_bitcast = hlo_reshape_is_bitcast(copied, inst->shape);
    bool joins = x->op == HLO_OP_COPY && hlo_alg_has_one_user(x);
    if (was_bitcast ? !(is_bitcast && joins) : !(is_bitcast || joins)) return NULL;
    int64_t before = (joins ? hlo_shape_size_bytes(x->shape) : 0) +
                     (was_bitcast ? 0 : hlo_shape_size_bytes(reshape->shape)) + hlo_shape_size_bytes(inst->shape);
    int64_t after = hlo_shape_size_bytes(copied) + (is_bitcast ? 0 : hlo_shape_size_bytes(inst->shape));
    if (!is_no_larger(before, after)) return NULL;
    HloInstruction *source = joins ? hlo_operand(x, 0) : x;
    if (!joins || !equal_but_space(copied, source->shape)) {
        source = hlo_derive(alg->rw, hlo_alg_unary(alg, copied, HLO_OP_COPY, source), inst);
    }
    return reshape_or_bitcast(alg, inst->shape, source, is_bitcast);
}

enum { HOST_MEMORY_SPACE = 5 };

// reshape(copy(x)) -> copy(reshape(x)), the counterpart for a copy before a reshape.
HloInstruction *hlo_alg_swap_reshape_copy(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *copy = hlo_operand(inst, 0);
    if (!alg->layout_sensitive || copy->op != HLO_OP_COPY || !hlo_alg_has_one_user(copy)) return NULL;
    HloInstruction *x = hlo_operand(copy, 0);
    if (memory_space(x->shape) == HOST_MEMORY_SPACE) return NULL;
    const HloShape *reshaped = hlo_reshape_align_layout(&alg->m->shapes, x->shape, inst->shape);
    if (!reshaped) return NULL;
    HloInstruction *next = hlo_user_count(inst) == 1 && hlo_user(inst, 0)->op == HLO_OP_COPY ? hlo_user(inst, 0) : NULL;
    bool was_bitcast = hlo_reshape_is_bitcast(copy->shape, inst->shape);
    bool is_bitcast = hlo_reshape_is_bitcast(x->shape, reshaped);
    if (was_bitcast && !(is_bitcast && next)) return NULL;
    int64_t before = hlo_shape_size_bytes(copy->shape) + (was_bitcast ? 0 : hlo_shape_size_bytes(inst->shape)) +
                     (next ? hlo_shape_size_bytes(next->shape) : 0);
    int64_t after =
        (is_bitcast ? 0 : hlo_shape_size_bytes(reshaped)) + hlo_shape_size_bytes(next ? next->shape : inst->shape);
    if (!is_no_larger(before, after)) return NULL;
    HloInstruction *moved = hlo_derive(alg->rw, reshape_or_bitcast(alg, reshaped, x, is_bitcast), inst);
    if (!moved || equal_but_space(reshaped, inst->shape)) return moved;
    return hlo_alg_unary(alg, inst->shape, HLO_OP_COPY, moved);
}

// ---- bitcast --------------------------------------------------------------------------------------------

static HloInstruction *bitcast_is_ordered(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_control_preds(inst)->count ? inst : NULL;
}

// bitcast(f(bitcast(x))) -> bitcast(f(x)) for elementwise f.
static HloInstruction *bitcast_unary(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *f = hlo_operand(inst, 0);
    if (hlo_operand_count(f) != 1 || f->op == HLO_OP_FUSION || !hlo_is_elementwise(f)) return NULL;
    if (!hlo_alg_has_one_user(f) || hlo_operand(f, 0)->op != HLO_OP_BITCAST) return NULL;
    HloInstruction *x = hlo_operand(hlo_operand(f, 0), 0);
    HloType type = inst->shape->type;
    if (f->shape->type != type || hlo_operand(f, 0)->shape->type != type || x->shape->type != type) return NULL;
    if (!x->shape->layout || x->shape->layout->tile_count) return NULL;
    return hlo_build_bitcast(alg->rw, inst->shape,
                             hlo_derive(alg->rw, hlo_build_clone(alg->rw, f, x->shape, &x, 1), f));
}

static HloInstruction *bitcast_twice(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *inner = hlo_operand(inst, 0);
    return inner->op == HLO_OP_BITCAST ? hlo_build_bitcast(alg->rw, inst->shape, hlo_operand(inner, 0)) : NULL;
}

static HloInstruction *bitcast_retypes(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_operand(inst, 0)->shape->type != inst->shape->type ? inst : NULL;
}

static HloInstruction *bitcast_same(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_operand(inst, 0);
}

static const HloAlgRule rules[] = {
    {HLO_OP_COPY, "copy-twice", copy_twice, HLO_ALG_PLAIN},
    {HLO_OP_COPY, "copy-same", copy_same, HLO_ALG_COMPAT},
    {HLO_OP_COPY, "copy-bitcast", copy_bitcast, HLO_ALG_PLAIN},
    {HLO_OP_COPY, "copy-reshape", copy_reshape, HLO_ALG_PLAIN},
    {HLO_OP_COPY, "copy-swap-reshape", swap_copy_reshape, HLO_ALG_PLAIN},

    {HLO_OP_BITCAST, "bitcast-is-ordered", bitcast_is_ordered, HLO_ALG_STOP},
    {HLO_OP_BITCAST, "bitcast-unary", bitcast_unary, HLO_ALG_PLAIN},
    {HLO_OP_BITCAST, "bitcast-twice", bitcast_twice, HLO_ALG_PLAIN},
    {HLO_OP_BITCAST, "bitcast-retypes", bitcast_retypes, HLO_ALG_STOP},
    {HLO_OP_BITCAST, "bitcast-same", bitcast_same, HLO_ALG_COMPAT},
    {HLO_OP_BITCAST, "bitcast-chain", hlo_alg_undo_chain, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_copy_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
