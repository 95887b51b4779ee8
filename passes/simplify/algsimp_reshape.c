// algsimp: reshape.

#include "algsimp.h"

#include "hlo/analysis.h"

// A reshape of nothing is an empty constant.
static HloInstruction *reshape_empty(HloAlg *alg, HloInstruction *inst) {
    if (!hlo_shape_is_empty(inst->shape)) return NULL;
    HloLiteral *literal;
    const HloShape *shape = hlo_shape_fill_layout(&alg->m->shapes, inst->shape);
    HloStatus status = hlo_literal_new(&alg->m->arena, shape, &literal);
    if (hlo_is_ok(status)) return hlo_build_constant(alg->rw, literal);
    alg->rw->failure = status;
    return NULL;
}

static HloInstruction *reshape_same(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0);
    return hlo_alg_same_shape(alg, x->shape, inst->shape) ? x : NULL;
}

static HloInstruction *reshape_twice(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *inner = hlo_operand(inst, 0);
    return inner->op == HLO_OP_RESHAPE ? hlo_build_reshape(alg->rw, inst->shape, hlo_operand(inner, 0)) : NULL;
}

// reshape(broadcast(x)) -> broadcast(x) when x's dimensions are left alone.
static HloInstruction *reshape_broadcast(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *broadcast = hlo_operand(inst, 0);
    if (broadcast->op != HLO_OP_BROADCAST) return NULL;
    HloDims dims = hlo_dims(broadcast, HLO_ATTR_DIMENSIONS), mapped;
    if (!hlo_alg_is_sorted(dims)) return NULL;
    if (!hlo_alg_map_unmodified(alg, broadcast->shape, inst->shape, dims, &mapped)) return NULL;
    return hlo_build_broadcast(alg->rw, inst->shape, hlo_operand(broadcast, 0), mapped);
}

// ---- reshape of iota ------------------------------------------------------------------------------------

static HloInstruction *iota_over(HloAlg *alg, HloInstruction *iota, const HloShape *shape, int64_t d) {
    HloInstruction *result = hlo_build(alg->rw, HLO_OP_IOTA, shape, NULL, 0);
    if (result) hlo_set_int(alg->m, result, HLO_ATTR_IOTA_DIMENSION, d);
    return hlo_derive(alg->rw, result, iota);
}

// The output dimensions [*first, *end) that the iota's dimension turns into; false when it is merged with others.
static bool split_of(HloAlg *alg, const HloInstruction *iota, const HloShape *to, size_t *first, size_t *end) {
    HloFactors factors = hlo_shape_common_factors(alg->scratch, hlo_shape_dims(iota->shape), hlo_shape_dims(to));
    size_t d = (size_t)hlo_int(iota, HLO_ATTR_IOTA_DIMENSION);
    for (size_t g = 0; g + 1 < factors.count; g++) {
        HloFactorBound at = factors.bounds[g], next = factors.bounds[g + 1];
        if (at.a != d || next.a != d + 1 || at.b >= to->rank || to->dims[at.b] <= 1) continue;
        *first = at.b;
        *end = next.b;
        return true;
    }
    return false;
}

// reshape(iota) -> iota, or the sum of iota · stride over the dimensions that the counted one is split into.
static HloInstruction *reshape_iota(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *iota = hlo_operand(inst, 0);
    size_t first, end;
    if (iota->op != HLO_OP_IOTA || !split_of(alg, iota, inst->shape, &first, &end)) return NULL;
    HloInstruction *sum = NULL;
    int64_t stride = 1;
    for (size_t d = end; d-- > first;) {
        HloInstruction *digit = iota_over(alg, iota, inst->shape, (int64_t)d);
        if (sum) {
            HloInstruction *factor = hlo_alg_like_int(alg, inst, stride);
            HloInstruction *term = hlo_alg_binary(alg, inst->shape, HLO_OP_MULTIPLY, digit, factor);
            term = hlo_derive(alg->rw, term, inst);
            sum = hlo_derive(alg->rw, hlo_alg_binary(alg, inst->shape, HLO_OP_ADD, sum, term), inst);
        } else {
            sum = digit;
        }
        stride *= inst->shape->dims[d];
    }
    return sum;
}

// ---- reshape of dynamic-update-slice --------------------------------------------------------------------

// The update, with the dimensions of size 1 that the reshape `inst` takes from and gives to the whole.
static HloInstruction *reshaped_part(HloAlg *alg, HloInstruction *inst, HloInstruction *update, HloDims deleted,
                                     HloDims inserted) {
    int64_t *sizes = hlo_alg_ints(alg, inst->shape->rank);
    size_t from = 0;
    for (size_t d = 0; d < inst->shape->rank; d++) {
        sizes[d] = 1;
        if (hlo_dims_has(inserted, (int64_t)d)) continue;
        while (hlo_dims_has(deleted, (int64_t)from)) from++;
        sizes[d] = update->shape->dims[from++];
    }
    const HloShape *shape = hlo_alg_shape(alg, update->shape->type, (HloDims){sizes, inst->shape->rank});
    return hlo_derive(alg->rw, hlo_build_reshape(alg->rw, shape, update), inst);
}

// reshape(update(x, u, i…)) -> update(reshape(x), reshape(u), i…) when only dimensions of size 1 come and go.
static HloInstruction *reshape_update(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *dus = hlo_operand(inst, 0);
    HloDims deleted, inserted;
    if (alg->layout_sensitive || dus->op != HLO_OP_DYNAMIC_UPDATE_SLICE || !hlo_alg_has_one_user(dus)) return NULL;
    HloInstruction *x = hlo_operand(dus, 0);
    size_t rank = inst->shape->rank;
    if (hlo_has(dus, HLO_ATTR_SHARDING) || hlo_has(x, HLO_ATTR_SHARDING)) return NULL;
    if (hlo_operand_count(dus) != 2 + dus->shape->rank || !hlo_alg_reshape_ones(alg, inst, &deleted, &inserted))
        return NULL;

    HloInstruction **operands = HLO_NEW_ARRAY(alg->scratch, HloInstruction *, rank + 2), *zero = NULL;
    HloType type = dus->shape->rank ? hlo_operand(dus, 2)->shape->type : HLO_S32;
    if (inserted.count) zero = hlo_alg_scalar_int(alg, type, 0);
    operands[0] = hlo_derive(alg->rw, hlo_build_reshape(alg->rw, inst->shape, x), inst);
    operands[1] = reshaped_part(alg, inst, hlo_operand(dus, 1), deleted, inserted);
    size_t from = 0;
    for (size_t d = 0; d < rank; d++) {
        operands[2 + d] = zero;
        if (hlo_dims_has(inserted, (int64_t)d)) continue;
        while (hlo_dims_has(deleted, (int64_t)from)) from++;
        operands[2 + d] = hlo_operand(dus, 2 + from++);
    }
    return hlo_build_clone(alg->rw, dus, inst->shape, operands, rank + 2);
}

// ---- layouts --------------------------------------------------------------------------------------------

// Longer chains are left to the rules that merge neighbours, which keeps a sweep linear.
enum { MAX_STEPS_UP = 256 };

HloInstruction *hlo_alg_bitcast_source(const HloAlg *alg, HloInstruction *inst) {
    if (!alg->layout_sensitive) return NULL;
    HloInstruction *x = inst;
    for (int steps = 0; steps < MAX_STEPS_UP && (x->op == HLO_OP_RESHAPE || x->op == HLO_OP_COPY); steps++) {
        x = hlo_operand(x, 0);
        if (hlo_reshape_is_bitcast(x->shape, inst->shape)) return x;
    }
    return NULL;
}

static HloInstruction *reshape_bitcast(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_alg_bitcast_source(alg, inst);
    return x ? hlo_derive(alg->rw, hlo_build_bitcast(alg->rw, inst->shape, x), inst) : NULL;
}

static const HloAlgRule rules[] = {
    {HLO_OP_RESHAPE, "reshape-empty", reshape_empty, HLO_ALG_PLAIN},
    {HLO_OP_RESHAPE, "reshape-same", reshape_same, HLO_ALG_PLAIN},
    {HLO_OP_RESHAPE, "reshape-twice", reshape_twice, HLO_ALG_PLAIN},
    {HLO_OP_RESHAPE, "reshape-chain", hlo_alg_undo_chain, HLO_ALG_PLAIN},
    {HLO_OP_RESHAPE, "reshape-copy", hlo_alg_swap_reshape_copy, HLO_ALG_PLAIN},
    {HLO_OP_RESHAPE, "reshape-broadcast", reshape_broadcast, HLO_ALG_PLAIN},
    {HLO_OP_RESHAPE, "reshape-iota", reshape_iota, HLO_ALG_PLAIN},
    {HLO_OP_RESHAPE, "reshape-update", reshape_update, HLO_ALG_PLAIN},
    {HLO_OP_RESHAPE, "reshape-bitcast", reshape_bitcast, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_reshape_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
