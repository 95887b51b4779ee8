// algsimp: gather, scatter, sort, map, reverse.

#include "algsimp.h"

// ---- gather ---------------------------------------------------------------------------------------------

static HloInstruction *gather_empty(HloAlg *alg, HloInstruction *inst) {
    return hlo_shape_is_empty(hlo_operand(inst, 0)->shape) ? hlo_alg_like(alg, inst, 0) : NULL;
}

// A gather from one element repeats it.
static HloInstruction *gather_scalar(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0);
    if (hlo_shape_elem_count(x->shape) != 1) return NULL;
    if (x->shape->rank != 0) {
        x = hlo_build_reshape(alg->rw, hlo_shape_scalar(&alg->m->shapes, x->shape->type), x);
    }
    return hlo_build_broadcast(alg->rw, inst->shape, x, (HloDims){NULL, 0});
}

// x[i] of a vector x, in the shape of the gather.
static HloInstruction *element_splat(HloAlg *alg, HloInstruction *gather, int64_t i) {
    HloInstruction *x = hlo_operand(gather, 0);
    HloSliceDim dim = {i, i + 1, 1};
    HloInstruction *slice = hlo_derive(alg->rw, hlo_build_slice(alg->rw, x, &dim), gather);
    HloInstruction *scalar = hlo_build_reshape(alg->rw, hlo_shape_scalar(&alg->m->shapes, x->shape->type), slice);
    hlo_derive(alg->rw, scalar, gather);
    return hlo_derive(alg->rw, hlo_build_broadcast(alg->rw, gather->shape, scalar, (HloDims){NULL, 0}), gather);
}

// A gather from a very short vector is a chain of selects: r = index >= i ? x[i] : r, which also clamps as gather does.
static HloInstruction *gather_select(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0), *index = hlo_operand(inst, 1);
    if (x->shape->rank != 1 || x->shape->dims[0] > alg->small_gather) return NULL;
    if (hlo_int(inst, HLO_ATTR_INDEX_VECTOR_DIM) != (int64_t)index->shape->rank) return NULL;
    if (hlo_dims(inst, HLO_ATTR_COLLAPSED_SLICE_DIMS).count != 1) return NULL;
    const HloShape *pred = hlo_alg_retyped(alg, inst->shape, HLO_PRED);
    HloInstruction *result = element_splat(alg, inst, 0);
    for (int64_t i = 0; i < x->shape->dims[0]; i++) {
        HloInstruction *is_reached = hlo_alg_binary(alg, pred, HLO_OP_COMPARE, index, hlo_alg_like_int(alg, index, i));
        if (!is_reached) return NULL;
        hlo_set_int(alg->m, is_reached, HLO_ATTR_DIRECTION, HLO_COMPARE_DIRECTION_GE);
        hlo_derive(alg->rw, is_reached, inst);
        HloInstruction *operands[] = {is_reached, element_splat(alg, inst, i), result};
        result = hlo_derive(alg->rw, hlo_build(alg->rw, HLO_OP_SELECT, inst->shape, operands, 3), inst);
    }
    return result;
}

// The operand dimension of offset dimension k of the result: those neither collapsed nor batching, in order.
static int64_t offset_operand_dim(const HloInstruction *gather, size_t k) {
    HloDims collapsed = hlo_dims(gather, HLO_ATTR_COLLAPSED_SLICE_DIMS);
    HloDims batching = hlo_dims(gather, HLO_ATTR_OPERAND_BATCHING_DIMS);
    for (size_t d = 0; d < hlo_operand(gather, 0)->shape->rank; d++) {
        if (hlo_dims_has(collapsed, (int64_t)d) || hlo_dims_has(batching, (int64_t)d)) continue;
        if (k-- == 0) return (int64_t)d;
    }
    return -1;
}

static bool is_padded(HloPaddingDim p) {
    return p.low || p.high || p.interior;
}

// Every padded dimension is taken whole: it passes through the gather.
static bool passes_padding(const HloInstruction *gather, const HloInstruction *pad) {
    const HloPaddingDim *padding = ((const HloPadding *)hlo_data(pad, HLO_ATTR_PADDING))->dims;
    HloDims collapsed = hlo_dims(gather, HLO_ATTR_COLLAPSED_SLICE_DIMS);
    HloDims batching = hlo_dims(gather, HLO_ATTR_OPERAND_BATCHING_DIMS), sizes = hlo_dims(gather, HLO_ATTR_SLICE_SIZES);
    for (size_t d = 0; d < pad->shape->rank; d++) {
        if (!is_padded(padding[d])) continue;
        if (hlo_dims_has(collapsed, (int64_t)d) || hlo_dims_has(batching, (int64_t)d)) return false;
        if (sizes.data[d] != pad->shape->dims[d]) return false;
    }
    return true;
}

// gather(pad(x)) -> pad(gather(x))
static HloInstruction *gather_pad(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *pad = hlo_operand(inst, 0);
    if (pad->op != HLO_OP_PAD || !passes_padding(inst, pad)) return NULL;
    HloInstruction *x = hlo_operand(pad, 0);
    const HloPaddingDim *padding = ((const HloPadding *)hlo_data(pad, HLO_ATTR_PADDING))->dims;
    HloDims offsets = hlo_dims(inst, HLO_ATTR_OFFSET_DIMS), old_sizes = hlo_dims(inst, HLO_ATTR_SLICE_SIZES);
    int64_t *slice_sizes = hlo_alg_ints(alg, x->shape->rank), *sizes = hlo_alg_ints(alg, inst->shape->rank);
    HloPaddingDim *result_padding = HLO_NEW_ARRAY(alg->scratch, HloPaddingDim, inst->shape->rank + 1);
    for (size_t d = 0; d < x->shape->rank; d++)
        slice_sizes[d] = is_padded(padding[d]) ? x->shape->dims[d] : old_sizes.data[d];
    for (size_t d = 0; d < inst->shape->rank; d++) sizes[d] = inst->shape->dims[d];
    for (size_t k = 0; k < offsets.count; k++) {
        int64_t d = offset_operand_dim(inst, k);
        sizes[offsets.data[k]] = slice_sizes[d];
        result_padding[offsets.data[k]] = padding[d];
    }
    const HloShape *shape = hlo_alg_shape(alg, inst->shape->type, (HloDims){sizes, inst->shape->rank});
    HloInstruction *gather = hlo_alg_binary(alg, shape, HLO_OP_GATHER, x, hlo_operand(inst, 1));
    if (!gather) return NULL;
    hlo_alg_copy_own_attrs(alg, gather, inst);
    hlo_set_dims(alg->m, gather, HLO_ATTR_SLICE_SIZES, (HloDims){slice_sizes, x->shape->rank});
    HloInstruction *result =
        hlo_alg_binary(alg, inst->shape, HLO_OP_PAD, hlo_derive(alg->rw, gather, inst), hlo_operand(pad, 1));
    if (result) hlo_alg_set_padding(alg, result, result_padding);
    return result;
}

// ---- scatter, sort --------------------------------------------------------------------------------------

static HloInstruction *scatter_empty(HloAlg *alg, HloInstruction *inst) {
    size_t count = hlo_operand_count(inst) / 2;
    for (size_t k = 0; k < count; k++) {
        if (!hlo_shape_is_empty(hlo_operand(inst, count + 1 + k)->shape)) return NULL;
    }
    if (hlo_shape_is_array(inst->shape)) return hlo_operand(inst, 0);
    return hlo_build_tuple(alg->rw, (HloInstruction *const *)inst->operands.items, count);
}

// A scatter without indices combines operand and update element by element.
static HloInstruction *scatter_map(HloAlg *alg, HloInstruction *inst) {
    if (hlo_operand_count(inst) != 3 || hlo_dims(inst, HLO_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS).count) return NULL;
    if (hlo_dims(inst, HLO_ATTR_UPDATE_WINDOW_DIMS).count != inst->shape->rank) return NULL;
    HloInstruction *x = hlo_operand(inst, 0), *u = hlo_operand(inst, 2);
    if (!hlo_alg_same_shape(alg, inst->shape, x->shape) || !hlo_alg_same_shape(alg, inst->shape, u->shape)) return NULL;
    HloInstruction *map = hlo_alg_binary(alg, inst->shape, HLO_OP_MAP, x, u);
    if (!map) return NULL;
    hlo_set_dims(alg->m, map, HLO_ATTR_DIMENSIONS, hlo_alg_iota_dims(alg, inst->shape->rank));
    hlo_set_called(map, 0, hlo_called(inst, 0));
    return map;
}

static HloInstruction *sort_one(HloAlg *alg, HloInstruction *inst) {
    const HloShape *shape = hlo_operand(inst, 0)->shape;
    if (!hlo_shape_is_empty(shape) && shape->dims[hlo_int(inst, HLO_ATTR_DIMENSION)] > 1) return NULL;
    if (hlo_shape_is_array(inst->shape)) return hlo_operand(inst, 0);
    return hlo_build_tuple(alg->rw, (HloInstruction *const *)inst->operands.items, hlo_operand_count(inst));
}

// ---- map ------------------------------------------------------------------------------------------------

static HloInstruction *map_parameter(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloInstruction *root = hlo_called(inst, 0)->root;
    return root->op == HLO_OP_PARAMETER ? hlo_operand(inst, (size_t)hlo_parameter_number(root)) : NULL;
}

static HloInstruction *map_constant(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *root = hlo_called(inst, 0)->root;
    if (!hlo_alg_is_scalar_constant(root)) return NULL;
    return hlo_alg_splat(alg, inst->shape, hlo_derive(alg->rw, hlo_build_clone(alg->rw, root, NULL, NULL, 0), inst));
}

// What a map hands to an operand of its body: a scalar stands for an array where the operation itself takes none.
static HloInstruction *mapped_operand(HloAlg *alg, const HloInstruction *map, size_t k) {
    const HloInstruction *root = hlo_called(map, 0)->root;
    HloInstruction *x = hlo_operand(map, (size_t)hlo_parameter_number(hlo_operand(root, k)));
    if (x->shape->rank || hlo_may_be_scalar(root->op, k)) return x;
    return hlo_alg_splat(alg, hlo_alg_retyped(alg, map->shape, x->shape->type), x);
}

// map(a, b) with the body f(a, b) -> f(a, b)
static HloInstruction *map_operation(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *root = hlo_called(inst, 0)->root;
    size_t count = hlo_operand_count(root);
    if (root->op == HLO_OP_FUSION || root->op == HLO_OP_CONSTANT || root->op == HLO_OP_PARAMETER) return NULL;
    if (!hlo_is_elementwise(root) || root->op == HLO_OP_MAP || count == 0) return NULL;
    HloInstruction **operands = HLO_NEW_ARRAY(alg->scratch, HloInstruction *, count);
    for (size_t k = 0; k < count; k++) {
        if (hlo_operand(root, k)->op != HLO_OP_PARAMETER) return NULL;
    }
    for (size_t k = 0; k < count; k++) operands[k] = mapped_operand(alg, inst, k);
    return hlo_build_clone(alg->rw, root, inst->shape, operands, count);
}

// ---- reverse --------------------------------------------------------------------------------------------

static HloInstruction *reverse_one(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloDims dims = hlo_dims(inst, HLO_ATTR_DIMENSIONS);
    for (size_t i = 0; i < dims.count; i++) {
        if (inst->shape->dims[dims.data[i]] != 1) return NULL;
    }
    return hlo_operand(inst, 0);
}

static HloInstruction *reverse_keeps_layout(HloAlg *alg, HloInstruction *inst) {
    return alg->layout_sensitive ? inst : NULL;
}

static HloInstruction *reverse_of(HloAlg *alg, const HloShape *shape, HloInstruction *x, HloDims dims) {
    HloInstruction *reverse = hlo_alg_unary(alg, shape, HLO_OP_REVERSE, x);
    if (reverse) hlo_set_dims(alg->m, reverse, HLO_ATTR_DIMENSIONS, dims);
    return reverse;
}

// reverse(reverse(x)) -> reverse(x) along the dimensions that one of them has and the other has not.
static HloInstruction *reverse_twice(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *inner = hlo_operand(inst, 0);
    if (inner->op != HLO_OP_REVERSE) return NULL;
    HloDims a = hlo_dims(inst, HLO_ATTR_DIMENSIONS), b = hlo_dims(inner, HLO_ATTR_DIMENSIONS);
    int64_t *dims = hlo_alg_ints(alg, inst->shape->rank);
    size_t count = 0;
    for (size_t d = 0; d < inst->shape->rank; d++) {
        if (hlo_dims_has(a, (int64_t)d) != hlo_dims_has(b, (int64_t)d)) dims[count++] = (int64_t)d;
    }
    HloInstruction *x = hlo_operand(inner, 0);
    return count ? reverse_of(alg, inst->shape, x, (HloDims){dims, count}) : x;
}

// reverse(op(x, broadcast(scalar))) -> op(reverse(x), broadcast(scalar))
static HloInstruction *reverse_binary(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *op = hlo_operand(inst, 0);
    if (hlo_operand_count(op) != 2 || !hlo_is_elementwise(op) || op->op == HLO_OP_COMPARE || op->op == HLO_OP_FUSION) {
        return NULL;
    }
    for (size_t k = 2; k-- > 0;) {
        if (!hlo_alg_splat_operand(hlo_operand(op, k))) continue;
        HloInstruction *operands[2];
        HloInstruction *x = hlo_operand(op, 1 - k);
        operands[k] = hlo_operand(op, k);
        operands[1 - k] = reverse_of(alg, x->shape, x, hlo_dims(inst, HLO_ATTR_DIMENSIONS));
        return hlo_alg_binary(alg, inst->shape, op->op, operands[0], operands[1]);
    }
    return NULL;
}

// reverse(reshape(x)) -> reshape(reverse(x)) when the reshape only inserts dimensions of size 1.
static HloInstruction *reverse_reshape(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *reshape = hlo_operand(inst, 0);
    HloDims deleted, inserted, dims = hlo_dims(inst, HLO_ATTR_DIMENSIONS);
    if (reshape->op != HLO_OP_RESHAPE || !hlo_alg_reshape_ones(alg, reshape, &deleted, &inserted)) return NULL;
    if (deleted.count) return NULL;
    int64_t *mapped = hlo_alg_ints(alg, dims.count);
    size_t count = 0;
    for (size_t i = 0; i < dims.count; i++) {
        if (inst->shape->dims[dims.data[i]] == 1) continue;
        int64_t below = 0;
        for (size_t k = 0; k < inserted.count; k++) below += inserted.data[k] < dims.data[i];
        mapped[count++] = dims.data[i] - below;
    }
    HloInstruction *x = hlo_operand(reshape, 0);
    HloInstruction *reverse = reverse_of(alg, x->shape, x, (HloDims){mapped, count});
    return hlo_build_reshape(alg->rw, inst->shape, reverse);
}

static const HloAlgRule rules[] = {
    {HLO_OP_GATHER, "gather-empty", gather_empty, HLO_ALG_PLAIN},
    {HLO_OP_GATHER, "gather-scalar", gather_scalar, HLO_ALG_PLAIN},
    {HLO_OP_GATHER, "gather-select", gather_select, HLO_ALG_PLAIN},
    {HLO_OP_GATHER, "gather-pad", gather_pad, HLO_ALG_PLAIN},

    {HLO_OP_SCATTER, "scatter-empty", scatter_empty, HLO_ALG_COMPAT},
    {HLO_OP_SCATTER, "scatter-map", scatter_map, HLO_ALG_PLAIN},
    {HLO_OP_SORT, "sort-one", sort_one, HLO_ALG_PLAIN},

    {HLO_OP_MAP, "map-parameter", map_parameter, HLO_ALG_COMPAT},
    {HLO_OP_MAP, "map-constant", map_constant, HLO_ALG_PLAIN},
    {HLO_OP_MAP, "map-operation", map_operation, HLO_ALG_PLAIN},

    {HLO_OP_REVERSE, "reverse-one", reverse_one, HLO_ALG_PLAIN},
    {HLO_OP_REVERSE, "reverse-keeps-layout", reverse_keeps_layout, HLO_ALG_STOP},
    {HLO_OP_REVERSE, "reverse-twice", reverse_twice, HLO_ALG_PLAIN},
    {HLO_OP_REVERSE, "reverse-binary", reverse_binary, HLO_ALG_PLAIN},
    {HLO_OP_REVERSE, "reverse-reshape", reverse_reshape, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_index_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
