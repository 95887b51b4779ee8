// algsimp: pad.

#include "algsimp.h"

static const HloPaddingDim *pad_dims(const HloInstruction *inst) {
    return ((const HloPadding *)hlo_data(inst, HLO_ATTR_PADDING))->dims;
}

// `inst` with another padding, same shape.
static HloInstruction *pad_with(HloAlg *alg, HloInstruction *inst, const HloPaddingDim *dims) {
    HloInstruction *const operands[] = {hlo_operand(inst, 0), hlo_operand(inst, 1)};
    HloInstruction *pad = hlo_build_clone(alg->rw, inst, NULL, operands, 2);
    if (pad) hlo_alg_set_padding(alg, pad, dims);
    return pad;
}

static HloInstruction *pad_empty(HloAlg *alg, HloInstruction *inst) {
    if (!hlo_shape_is_empty(hlo_operand(inst, 0)->shape)) return NULL;
    return hlo_build_broadcast(alg->rw, inst->shape, hlo_operand(inst, 1), (HloDims){NULL, 0});
}

// Nothing lies between the elements of a dimension of size 1.
static HloInstruction *pad_interior(HloAlg *alg, HloInstruction *inst) {
    size_t rank = inst->shape->rank;
    HloPaddingDim *dims = hlo_arena_copy(alg->scratch, pad_dims(inst), rank * sizeof *dims);
    bool found = false;
    for (size_t d = 0; d < rank; d++) {
        if (hlo_operand(inst, 0)->shape->dims[d] != 1 || dims[d].interior == 0) continue;
        dims[d].interior = 0;
        found = true;
    }
    return found ? pad_with(alg, inst, dims) : NULL;
}

static HloInstruction *pad_nothing(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    for (size_t d = 0; d < inst->shape->rank; d++) {
        if (pad_dims(inst)[d].low || pad_dims(inst)[d].high || pad_dims(inst)[d].interior) return NULL;
    }
    return hlo_operand(inst, 0);
}

// ---- pad of broadcast -----------------------------------------------------------------------------------

// The dimensions that are padded, if they are some but not all and every dimension of x (under `broadcast`) is among
// them.
static bool padded_subset(HloAlg *alg, const HloInstruction *inst, const HloInstruction *broadcast, HloDims *out) {
    int64_t *padded = hlo_alg_ints(alg, inst->shape->rank);
    size_t count = 0;
    for (size_t d = 0; d < inst->shape->rank; d++) {
        HloPaddingDim p = pad_dims(inst)[d];
        if (p.low || p.high || p.interior) padded[count++] = (int64_t)d;
    }
    *out = (HloDims){padded, count};
    HloDims dims = hlo_dims(broadcast, HLO_ATTR_DIMENSIONS);
    for (size_t d = 0; d < dims.count; d++) {
        if (!hlo_dims_has(*out, dims.data[d])) return false;
    }
    return count > 0 && count < inst->shape->rank;
}

// pad(broadcast(x)) -> broadcast(pad(broadcast'(x))), the inner broadcast over the padded dimensions only.
static HloInstruction *pad_broadcast(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *broadcast = hlo_operand(inst, 0);
    HloDims padded;
    if (broadcast->op != HLO_OP_BROADCAST || !hlo_alg_has_one_user(broadcast)) return NULL;
    if (!padded_subset(alg, inst, broadcast, &padded)) return NULL;
    int64_t *before = hlo_alg_ints(alg, padded.count), *after = hlo_alg_ints(alg, padded.count);
    HloPaddingDim *dims = HLO_NEW_ARRAY(alg->scratch, HloPaddingDim, padded.count);
    for (size_t i = 0; i < padded.count; i++) {
        before[i] = broadcast->shape->dims[padded.data[i]];
        after[i] = inst->shape->dims[padded.data[i]];
        dims[i] = pad_dims(inst)[padded.data[i]];
    }
    HloDims x_dims = hlo_dims(broadcast, HLO_ATTR_DIMENSIONS);
    int64_t *mapped = hlo_alg_ints(alg, x_dims.count);
    for (size_t d = 0; d < x_dims.count; d++) mapped[d] = hlo_dims_find(padded, x_dims.data[d]);

    const HloShape *shape = hlo_alg_shape(alg, inst->shape->type, (HloDims){before, padded.count});
    HloInstruction *x = hlo_operand(broadcast, 0);
    HloInstruction *small = hlo_build_clone(alg->rw, broadcast, shape, &x, 1);
    if (!small) return NULL;
    hlo_set_dims(alg->m, small, HLO_ATTR_DIMENSIONS, (HloDims){mapped, x_dims.count});
    hlo_clear_attr(small, HLO_ATTR_SHARDING);
    shape = hlo_alg_shape(alg, inst->shape->type, (HloDims){after, padded.count});
    HloInstruction *const operands[] = {small, hlo_operand(inst, 1)};
    HloInstruction *pad = hlo_build_clone_named(alg->rw, inst, shape, operands, 2);
    if (!pad) return NULL;
    hlo_alg_set_padding(alg, pad, dims);
    return hlo_build_broadcast(alg->rw, inst->shape, pad, padded);
}

// ---- negative padding -----------------------------------------------------------------------------------

// The shape of `inst` with other sizes, layout kept.
static const HloShape *resized(HloAlg *alg, const HloShape *like, const int64_t *sizes) {
    return hlo_shape_array(&alg->m->shapes, like->type, sizes, NULL, like->rank, like->layout);
}

// Negative edges cut: pad by the rest, then slice.
static HloInstruction *pad_negative(HloAlg *alg, HloInstruction *inst) {
    if (!alg->negative_padding) return NULL;
    size_t rank = inst->shape->rank;
    HloPaddingDim *dims = hlo_arena_copy(alg->scratch, pad_dims(inst), rank * sizeof *dims);
    HloSliceDim *cuts = HLO_NEW_ARRAY(alg->scratch, HloSliceDim, rank + 1);
    int64_t *sizes = hlo_alg_ints(alg, rank);
    bool found = false;
    for (size_t d = 0; d < rank; d++) {
        int64_t cut_low = dims[d].low < 0 ? -dims[d].low : 0, cut_high = dims[d].high < 0 ? -dims[d].high : 0;
        found |= cut_low || cut_high;
        dims[d].low += cut_low;
        dims[d].high += cut_high;
        sizes[d] = inst->shape->dims[d] + cut_low + cut_high;
        cuts[d] = (HloSliceDim){cut_low, sizes[d] - cut_high, 1};
    }
    if (!found) return NULL;
    const HloShape *shape = resized(alg, inst->shape, sizes);
    HloInstruction *pad = hlo_alg_binary(alg, shape, HLO_OP_PAD, hlo_operand(inst, 0), hlo_operand(inst, 1));
    if (!pad) return NULL;
    hlo_alg_set_padding(alg, pad, dims);
    HloInstruction *slice = hlo_alg_unary(alg, inst->shape, HLO_OP_SLICE, pad);
    if (slice) hlo_alg_set_slice(alg, slice, cuts);
    return slice;
}

static const HloAlgRule rules[] = {
    {HLO_OP_PAD, "pad-empty", pad_empty, HLO_ALG_PLAIN},
    {HLO_OP_PAD, "pad-interior", pad_interior, HLO_ALG_PLAIN},
    {HLO_OP_PAD, "pad-nothing", pad_nothing, HLO_ALG_COMPAT},
    {HLO_OP_PAD, "pad-broadcast", pad_broadcast, HLO_ALG_PLAIN},
    {HLO_OP_PAD, "pad-negative", pad_negative, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_pad_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
