// algsimp: dynamic-slice and dynamic-update-slice.
//
// Both clamp every start to [0, size of the dimension - size of the part]. Whoever adds two starts has to clamp each
// against its own operand first.

#include "algsimp.h"

// ---- starts ---------------------------------------------------------------------------------------------

// dynamic-slice takes the starts behind its operand, dynamic-update-slice behind operand and update.
static size_t first_start(const HloInstruction *inst) {
    return inst->op == HLO_OP_DYNAMIC_SLICE ? 1 : 2;
}

static HloInstruction *const *starts_of(const HloInstruction *inst) {
    return (HloInstruction *const *)inst->operands.items + first_start(inst);
}

// One scalar start per dimension; the form with a single vector of starts is left alone by all rules.
static bool has_scalar_starts(const HloInstruction *inst) {
    size_t first = first_start(inst), rank = inst->shape->rank;
    if (hlo_operand_count(inst) != first + rank) return false;
    for (size_t k = first; k < first + rank; k++) {
        if (!hlo_shape_is_scalar(hlo_operand(inst, k)->shape)) return false;
    }
    return true;
}

// Inside an asynchronous computation the instruction is the start of a copy that other passes look for.
static HloInstruction *is_left_alone(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    for (size_t k = 0; k < inst->comp->callers.count; k++) {
        const HloInstruction *caller = inst->comp->callers.items[k];
        if (caller->op == HLO_OP_ASYNC_START || caller->op == HLO_OP_ASYNC_UPDATE || caller->op == HLO_OP_ASYNC_DONE) {
            return inst;
        }
    }
    return has_scalar_starts(inst) ? NULL : inst;
}

static bool is_integer_constant(const HloInstruction *x) {
    return hlo_alg_is_scalar_constant(x) && hlo_type_is_integral(x->shape->type) && !hlo_constant(x)->elided;
}

static bool has_constant_starts(const HloInstruction *inst) {
    for (size_t k = 0; k < inst->shape->rank; k++) {
        if (!is_integer_constant(starts_of(inst)[k])) return false;
    }
    return true;
}

static bool has_negative_start(const HloInstruction *inst) {
    for (size_t k = 0; k < inst->shape->rank; k++) {
        if (hlo_literal_int(hlo_constant(starts_of(inst)[k]), 0) < 0) return true;
    }
    return false;
}

// The constant start along d, clamped so that `size` elements fit into `total`.
static int64_t clamped_start(const HloInstruction *start, int64_t total, int64_t size) {
    int64_t value = hlo_literal_int(hlo_constant(start), 0), top = total - size;
    bool wraps = hlo_type_class(start->shape->type) == HLO_CLASS_UNSIGNED && value < 0;
    if (wraps || value > top) return top;
    return value < 0 ? 0 : value;
}

// min(max(0, start), total - size), in the type of the start; the start itself when it is a constant in range.
static HloInstruction *clamp_start(HloAlg *alg, HloInstruction *start, int64_t total, int64_t size) {
    int64_t top = total - size;
    if (is_integer_constant(start) && hlo_literal_int(hlo_constant(start), 0) >= 0 &&
        clamped_start(start, total, size) == hlo_literal_int(hlo_constant(start), 0))
        return start;
    HloInstruction *zero = hlo_alg_like_int(alg, start, 0);
    HloInstruction *bound = hlo_alg_like_int(alg, start, top);
    HloInstruction *clamp = hlo_build(alg->rw, HLO_OP_CLAMP, start->shape, (HloInstruction *[]){zero, start, bound}, 3);
    return hlo_derive(alg->rw, clamp, start);
}

// Sums of clamped starts stay below the dimension, so they fit every type that can index all of it.
static bool can_index(const HloInstruction *start, int64_t total) {
    int bits = hlo_type_bits(start->shape->type) - (hlo_type_class(start->shape->type) == HLO_CLASS_SIGNED);
    return bits >= 63 || total <= (int64_t)1 << bits;
}

static bool can_index_all(const HloInstruction *inst, const HloShape *shape) {
    for (size_t d = 0; d < shape->rank; d++) {
        if (!can_index(starts_of(inst)[d], shape->dims[d])) return false;
    }
    return true;
}

// outer + inner, in the type of `outer`; `from` is what the sum derives from.
static HloInstruction *sum_of_starts(HloAlg *alg, HloInstruction *outer, HloInstruction *inner, HloInstruction *from) {
    if (!outer || !inner) return NULL;
    if (inner->shape->type != outer->shape->type) {
        inner = hlo_derive(alg->rw, hlo_build_convert(alg->rw, inner, outer->shape->type), inner);
    }
    return hlo_derive(alg->rw, hlo_alg_binary(alg, outer->shape, HLO_OP_ADD, outer, inner), from);
}

// Dimensions that are taken whole start at 0: `inst` with such starts replaced, NULL when there are none.
static HloInstruction *whole_starts(HloAlg *alg, HloInstruction *inst, const HloShape *whole, const HloShape *part) {
    size_t rank = inst->shape->rank, first = first_start(inst);
    HloInstruction **operands = hlo_arena_copy(alg->scratch, inst->operands.items, (first + rank) * sizeof *operands);
    HloInstruction *zero = NULL;
    for (size_t d = 0; d < rank; d++) {
        HloInstruction *start = operands[first + d];
        if (whole->dims[d] != part->dims[d] || hlo_alg_is_scalar_value(start, 0)) continue;
        if (!zero) zero = hlo_alg_like_int(alg, starts_of(inst)[0], 0);
        operands[first + d] = zero;
    }
    return zero ? hlo_build_clone(alg->rw, inst, NULL, operands, first + rank) : NULL;
}

// ---- dynamic-slice --------------------------------------------------------------------------------------

static HloInstruction *dynamic_slice_scalar(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return inst->shape->rank == 0 ? hlo_operand(inst, 0) : NULL;
}

static HloInstruction *dynamic_slice_same(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0);
    return hlo_alg_same_shape(alg, x->shape, inst->shape) ? x : NULL;
}

static HloInstruction *dynamic_slice_whole(HloAlg *alg, HloInstruction *inst) {
    return whole_starts(alg, inst, hlo_operand(inst, 0)->shape, inst->shape);
}

// dynamic-slice(broadcast(x), i) -> broadcast(dynamic-slice(x, i))
static HloInstruction *dynamic_slice_broadcast(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_alg_broadcast_operand(hlo_operand(inst, 0));
    if (!x) return NULL;
    HloDims dims = hlo_dims(hlo_operand(inst, 0), HLO_ATTR_DIMENSIONS);
    if (dims.count == 0) return hlo_build_broadcast(alg->rw, inst->shape, x, dims);
    HloInstruction **starts = HLO_NEW_ARRAY(alg->scratch, HloInstruction *, dims.count);
    int64_t *sizes = hlo_alg_ints(alg, dims.count);
    for (size_t d = 0; d < dims.count; d++) {
        starts[d] = starts_of(inst)[dims.data[d]];
        sizes[d] = inst->shape->dims[dims.data[d]];
    }
    HloDims list = {sizes, dims.count};
    HloInstruction *part =
        hlo_alg_dynamic_slice(alg, hlo_alg_shape(alg, inst->shape->type, list), x, starts, list.count, list);
    HloInstruction *result = hlo_build_broadcast(alg->rw, inst->shape, hlo_derive(alg->rw, part, inst), dims);
    return hlo_derive(alg->rw, result, hlo_operand(inst, 0));
}

// A zero start beside the starts of `inst`.
static HloInstruction *zero_like_starts(HloAlg *alg, HloInstruction *inst) {
    if (inst->shape->rank == 0) return hlo_alg_scalar_int(alg, HLO_S32, 0);
    return hlo_alg_like_int(alg, starts_of(inst)[0], 0);
}

// dynamic-slice(reshape(x), i) -> reshape(dynamic-slice(x, i)) when only dimensions of size 1 come and go. Those of x
// start at 0 wherever they went.
static HloInstruction *dynamic_slice_reshape(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *reshape = hlo_operand(inst, 0);
    HloDims deleted, inserted;
    if (alg->layout_sensitive || reshape->op != HLO_OP_RESHAPE) return NULL;
    if (!hlo_alg_reshape_ones(alg, reshape, &deleted, &inserted)) return NULL;
    HloInstruction *x = hlo_operand(reshape, 0);
    size_t rank = x->shape->rank, from = 0;
    HloInstruction **starts = HLO_NEW_ARRAY(alg->scratch, HloInstruction *, rank + 1), *zero = NULL;
    int64_t *sizes = hlo_alg_ints(alg, rank);
    for (size_t d = 0; d < rank; d++) {
        sizes[d] = 1;
        if (x->shape->dims[d] == 1) {
            if (!zero) zero = zero_like_starts(alg, inst);
            starts[d] = zero;
            continue;
        }
        while (reshape->shape->dims[from] == 1) from++;
        starts[d] = starts_of(inst)[from];
        sizes[d] = inst->shape->dims[from++];
    }
    HloDims list = {sizes, rank};
    HloInstruction *part =
        hlo_alg_dynamic_slice(alg, hlo_alg_shape(alg, inst->shape->type, list), x, starts, rank, list);
    return hlo_build_reshape(alg->rw, inst->shape, hlo_derive(alg->rw, part, inst));
}

// dynamic-slice(transpose(x), i) -> transpose(dynamic-slice(x, i))
static HloInstruction *dynamic_slice_transpose(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *transpose = hlo_operand(inst, 0);
    if (alg->layout_sensitive || transpose->op != HLO_OP_TRANSPOSE) return NULL;
    HloDims permutation = hlo_dims(transpose, HLO_ATTR_DIMENSIONS);
    size_t rank = permutation.count;
    HloInstruction **starts = HLO_NEW_ARRAY(alg->scratch, HloInstruction *, rank + 1);
    int64_t *sizes = hlo_alg_ints(alg, rank);
    for (size_t d = 0; d < rank; d++) {
        starts[permutation.data[d]] = starts_of(inst)[d];
        sizes[permutation.data[d]] = inst->shape->dims[d];
    }
    const HloShape *shape = hlo_shape_permuted(&alg->m->shapes, inst->shape, hlo_alg_inverse(alg, permutation));
    HloInstruction *x = hlo_operand(transpose, 0);
    HloInstruction *part = hlo_alg_dynamic_slice(alg, shape, x, starts, rank, (HloDims){sizes, rank});
    HloInstruction *result = hlo_alg_unary(alg, inst->shape, HLO_OP_TRANSPOSE, hlo_derive(alg->rw, part, inst));
    if (result) hlo_set_dims(alg->m, result, HLO_ATTR_DIMENSIONS, permutation);
    return result;
}

static int64_t memory_space(const HloShape *shape) {
    return shape->layout ? shape->layout->memory_space : 0;
}

// Slices of constants are left to constant folding.
static bool may_be_slice(const HloAlg *alg, const HloInstruction *inst) {
    const HloInstruction *x = hlo_operand(inst, 0);
    if (x->op == HLO_OP_CONSTANT || !has_constant_starts(inst)) return false;
    return !alg->layout_sensitive || memory_space(x->shape) == memory_space(inst->shape);
}

// One before the array is left to the run, as the reference does.
static HloInstruction *dynamic_slice_is_before(HloAlg *alg, HloInstruction *inst) {
    return may_be_slice(alg, inst) && has_negative_start(inst) ? inst : NULL;
}

// A dynamic-slice of constant starts is a slice.
static HloInstruction *dynamic_slice_constant(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0);
    if (!may_be_slice(alg, inst)) return NULL;
    HloSliceDim *dims = hlo_alg_whole_slice(alg, x->shape);
    for (size_t d = 0; d < inst->shape->rank; d++) {
        int64_t start = clamped_start(starts_of(inst)[d], x->shape->dims[d], inst->shape->dims[d]);
        dims[d] = (HloSliceDim){start, start + inst->shape->dims[d], 1};
    }
    HloInstruction *slice = hlo_alg_unary(alg, inst->shape, HLO_OP_SLICE, x);
    if (slice) hlo_alg_set_slice(alg, slice, dims);
    return slice;
}

static bool is_word(HloType type) {
    return type == HLO_S32 || type == HLO_U32;
}

// The iota along x, and the scalar by which x multiplies it (NULL: 1); NULL when x is something else.
static HloInstruction *scaled_iota(HloInstruction *x, HloInstruction **scale) {
    *scale = NULL;
    if (x->op == HLO_OP_IOTA) return x;
    if (x->op != HLO_OP_MULTIPLY) return NULL;
    for (size_t k = 0; k < 2; k++) {
        *scale = hlo_alg_splat_operand(hlo_operand(x, 1 - k));
        if (hlo_operand(x, k)->op == HLO_OP_IOTA && *scale) return hlo_operand(x, k);
    }
    return NULL;
}

// One element of iota · scale is the clamped start times scale.
static HloInstruction *dynamic_slice_iota(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *scale, *x = hlo_operand(inst, 0);
    if (inst->shape->rank != 1 || inst->shape->dims[0] != 1 || !is_word(inst->shape->type)) return NULL;
    HloInstruction *start = starts_of(inst)[0];
    if (!is_word(start->shape->type) || !scaled_iota(x, &scale)) return NULL;
    HloInstruction *zero = hlo_alg_like_int(alg, start, 0);
    HloInstruction *top = hlo_alg_like_int(alg, start, x->shape->dims[0] - 1);
    HloInstruction *value = hlo_build(alg->rw, HLO_OP_CLAMP, start->shape, (HloInstruction *[]){zero, start, top}, 3);
    hlo_derive(alg->rw, value, inst);
    if (value && value->shape->type != inst->shape->type) {
        value = hlo_derive(alg->rw, hlo_build_convert(alg->rw, value, inst->shape->type), inst);
    }
    if (scale && value) {
        value = hlo_derive(alg->rw, hlo_alg_binary(alg, value->shape, HLO_OP_MULTIPLY, value, scale), inst);
    }
    return hlo_build_reshape(alg->rw, inst->shape, value);
}

// dynamic-slice(dynamic-slice(x, j), i) -> dynamic-slice(x, i + j), each clamped to its own bounds first; edited in
// place. The reference clamps j alone, to where the result fits.
static HloInstruction *dynamic_slice_twice(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *inner = hlo_operand(inst, 0);
    if (inner->op != HLO_OP_DYNAMIC_SLICE || !has_scalar_starts(inner)) return NULL;
    HloInstruction *x = hlo_operand(inner, 0);
    if (!can_index_all(inst, x->shape)) return NULL;
    for (size_t d = 0; d < inst->shape->rank; d++) {
        int64_t total = x->shape->dims[d], middle = inner->shape->dims[d], size = inst->shape->dims[d];
        HloInstruction *i = starts_of(inst)[d], *j = starts_of(inner)[d];
        if (!alg->as_reference) i = clamp_start(alg, i, middle, size);
        j = clamp_start(alg, j, total, alg->as_reference ? size : middle);
        HloInstruction *start = sum_of_starts(alg, i, j, inner);
        if (!start) return NULL;
        hlo_set_operand(inst, 1 + d, start);
    }
    hlo_set_operand(inst, 0, x);
    return inst;
}

// ---- dynamic-update-slice -------------------------------------------------------------------------------

static bool goes_to_host(const HloInstruction *x) {
    while (x->op == HLO_OP_RESHAPE || x->op == HLO_OP_BITCAST || x->op == HLO_OP_COPY) x = hlo_operand(x, 0);
    return x->op == HLO_OP_CUSTOM_CALL && strcmp(hlo_text(x, HLO_ATTR_CUSTOM_CALL_TARGET), "MoveToHost") == 0;
}

// update(broadcast(scalar), u, constants) -> pad(u, scalar)
static HloInstruction *update_pad(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *scalar = hlo_alg_splat_operand(hlo_operand(inst, 0)), *u = hlo_operand(inst, 1);
    if (!scalar || !has_constant_starts(inst) || goes_to_host(u)) return NULL;
    HloPaddingDim *dims = HLO_NEW_ARRAY(alg->scratch, HloPaddingDim, inst->shape->rank + 1);
    for (size_t d = 0; d < inst->shape->rank; d++) {
        int64_t total = inst->shape->dims[d], size = u->shape->dims[d];
        int64_t start = clamped_start(starts_of(inst)[d], total, size);
        dims[d] = (HloPaddingDim){start, total - start - size, 0};
    }
    HloInstruction *pad = hlo_derive(alg->rw, hlo_alg_binary(alg, inst->shape, HLO_OP_PAD, u, scalar), inst);
    if (pad) hlo_alg_set_padding(alg, pad, dims);
    return pad;
}

static HloInstruction *update_full(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *u = hlo_operand(inst, 1);
    return hlo_alg_same_shape(alg, inst->shape, u->shape) ? u : NULL;
}

static HloInstruction *update_whole(HloAlg *alg, HloInstruction *inst) {
    return whole_starts(alg, inst, inst->shape, hlo_operand(inst, 1)->shape);
}

static HloInstruction *update_empty(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_shape_is_empty(hlo_operand(inst, 1)->shape) ? hlo_operand(inst, 0) : NULL;
}

static bool has_same_starts(const HloInstruction *a, const HloInstruction *b) {
    for (size_t d = 0; d < a->shape->rank; d++) {
        if (starts_of(a)[d] != starts_of(b)[d]) return false;
    }
    return true;
}

// update(a, update(dynamic-slice(a, i), c, j), i) -> update(a, c, i + j), each clamped to its own bounds first; edited
// in place. The reference clamps j alone.
static HloInstruction *update_twice(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *a = hlo_operand(inst, 0), *inner = hlo_operand(inst, 1);
    if (inner->op != HLO_OP_DYNAMIC_UPDATE_SLICE || !has_scalar_starts(inner)) return NULL;
    HloInstruction *part = hlo_operand(inner, 0), *c = hlo_operand(inner, 1);
    if (part->op != HLO_OP_DYNAMIC_SLICE || hlo_operand(part, 0) != a || !has_scalar_starts(part)) return NULL;
    if (!has_same_starts(part, inst) || !can_index_all(inst, a->shape)) return NULL;
    for (size_t d = 0; d < inst->shape->rank; d++) {
        int64_t total = a->shape->dims[d], middle = part->shape->dims[d], size = c->shape->dims[d];
        HloInstruction *i = starts_of(inst)[d], *j = clamp_start(alg, starts_of(inner)[d], middle, size);
        if (!alg->as_reference) i = clamp_start(alg, i, total, middle);
        HloInstruction *start = sum_of_starts(alg, i, j, inner);
        if (!start) return NULL;
        hlo_set_operand(inst, 2 + d, start);
    }
    hlo_set_operand(inst, 1, c);
    return inst;
}

static const HloAlgRule rules[] = {
    {HLO_OP_DYNAMIC_SLICE, "dynamic-slice-is-left-alone", is_left_alone, HLO_ALG_STOP},
    {HLO_OP_DYNAMIC_SLICE, "dynamic-slice-scalar", dynamic_slice_scalar, HLO_ALG_PLAIN},
    {HLO_OP_DYNAMIC_SLICE, "dynamic-slice-same", dynamic_slice_same, HLO_ALG_PLAIN},
    {HLO_OP_DYNAMIC_SLICE, "dynamic-slice-whole", dynamic_slice_whole, HLO_ALG_PLAIN},
    {HLO_OP_DYNAMIC_SLICE, "dynamic-slice-broadcast", dynamic_slice_broadcast, HLO_ALG_PLAIN},
    {HLO_OP_DYNAMIC_SLICE, "dynamic-slice-reshape", dynamic_slice_reshape, HLO_ALG_PLAIN},
    {HLO_OP_DYNAMIC_SLICE, "dynamic-slice-transpose", dynamic_slice_transpose, HLO_ALG_PLAIN},
    {HLO_OP_DYNAMIC_SLICE, "dynamic-slice-is-before", dynamic_slice_is_before, HLO_ALG_STOP},
    {HLO_OP_DYNAMIC_SLICE, "dynamic-slice-constant", dynamic_slice_constant, HLO_ALG_PLAIN},
    {HLO_OP_DYNAMIC_SLICE, "dynamic-slice-iota", dynamic_slice_iota, HLO_ALG_PLAIN},
    {HLO_OP_DYNAMIC_SLICE, "dynamic-slice-twice", dynamic_slice_twice, HLO_ALG_PLAIN},

    {HLO_OP_DYNAMIC_UPDATE_SLICE, "update-is-left-alone", is_left_alone, HLO_ALG_STOP},
    {HLO_OP_DYNAMIC_UPDATE_SLICE, "update-pad", update_pad, HLO_ALG_PLAIN},
    {HLO_OP_DYNAMIC_UPDATE_SLICE, "update-full", update_full, HLO_ALG_PLAIN},
    {HLO_OP_DYNAMIC_UPDATE_SLICE, "update-whole", update_whole, HLO_ALG_PLAIN},
    {HLO_OP_DYNAMIC_UPDATE_SLICE, "update-empty", update_empty, HLO_ALG_PLAIN},
    {HLO_OP_DYNAMIC_UPDATE_SLICE, "update-twice", update_twice, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_dynamic_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
