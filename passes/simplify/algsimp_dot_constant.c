// algsimp: dot with a constant, where work moves to the constant.

#include "algsimp.h"

#include "hlo/analysis.h"

static bool is_matrix(const HloInstruction *x) {
    return x->shape->rank == 2;
}

static bool is_constant_matrix(const HloInstruction *x) {
    return hlo_alg_is_constant(x) && is_matrix(x);
}

// The contracting dimension of operand k of a dot that has one and no batch dimensions; -1 for any other dot.
static int64_t contracting_dim(const HloInstruction *dot, size_t k) {
    HloDotNumbers n = hlo_alg_dot_numbers(dot);
    if (n.lhs_batch.count || n.lhs_contracting.count != 1) return -1;
    return k == 0 ? n.lhs_contracting.data[0] : n.rhs_contracting.data[0];
}

// A dot like `dot` with x at operand k and y at the other.
static HloInstruction *dot_with(HloAlg *alg, HloInstruction *dot, const HloShape *shape, size_t k, HloInstruction *x,
                                HloInstruction *y) {
    HloDotNumbers numbers = hlo_alg_dot_numbers(dot);
    HloInstruction *result = k == 0 ? hlo_alg_dot(alg, dot, shape, x, y, &numbers, false)
                                    : hlo_alg_dot(alg, dot, shape, y, x, &numbers, false);
    return hlo_derive(alg->rw, result, dot);
}

// ---- concatenate ----------------------------------------------------------------------------------------

// Rows or columns [start, start + size) of a constant matrix along `dim`.
static HloInstruction *constant_part(HloAlg *alg, HloInstruction *constant, int64_t dim, int64_t start, int64_t size) {
    HloSliceDim *dims = hlo_alg_whole_slice(alg, constant->shape);
    dims[dim] = (HloSliceDim){start, start + size, 1};
    return hlo_derive(alg->rw, hlo_build_slice(alg->rw, constant, dims), constant);
}

static HloInstruction *split_concat(HloAlg *alg, HloInstruction *inst, size_t k) {
    HloInstruction *concat = hlo_operand(inst, k), *constant = hlo_operand(inst, 1 - k);
    int64_t dim = contracting_dim(inst, k), constant_dim = contracting_dim(inst, 1 - k);
    if (concat->op != HLO_OP_CONCATENATE || !is_constant_matrix(constant) || !is_matrix(concat) || !is_matrix(inst))
        return NULL;
    if (dim < 0 || hlo_int(concat, HLO_ATTR_DIMENSION) != dim) return NULL;
    HloInstruction *sum = NULL;
    int64_t start = 0;
    for (size_t i = 0; i < hlo_operand_count(concat); i++) {
        HloInstruction *part = hlo_operand(concat, i);
        int64_t size = part->shape->dims[dim];
        HloInstruction *rows = constant_part(alg, constant, constant_dim, start, size);
        HloInstruction *product = dot_with(alg, inst, inst->shape, k, part, rows);
        sum = sum ? hlo_derive(alg->rw, hlo_alg_binary(alg, inst->shape, HLO_OP_ADD, sum, product), inst) : product;
        start += size;
    }
    return sum;
}

// dot(concatenate(a, b), c) -> dot(a, part of c) + dot(b, rest of c)
HloInstruction *hlo_alg_dot_concat(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *result = split_concat(alg, inst, 0);
    return result ? result : split_concat(alg, inst, 1);
}

// ---- reshape of transpose -------------------------------------------------------------------------------

// The dimensions [*first, *end) of a reshape's operand that it merges into dimension `merged`, when it does nothing
// else.
static bool merges_only(HloAlg *alg, const HloInstruction *reshape, int64_t merged, size_t *first, size_t *end) {
    const HloShape *from = hlo_operand(reshape, 0)->shape;
    HloFactors factors = hlo_shape_common_factors(alg->scratch, hlo_shape_dims(from), hlo_shape_dims(reshape->shape));
    bool found = false;
    *first = *end = 0;
    for (size_t g = 0; g + 1 < factors.count; g++) {
        HloFactorBound at = factors.bounds[g], next = factors.bounds[g + 1];
        if (next.b != at.b + 1) return false;
        if (at.b != (size_t)merged) {
            if (next.a != at.a + 1) return false;
            continue;
        }
        *first = at.a;
        *end = next.a;
        found = next.a > at.a + 1;
    }
    return found;
}

// The permutation moves dimensions of [first, end) among themselves and nothing else.
static bool permutes_only(HloDims permutation, size_t first, size_t end) {
    for (size_t d = 0; d < permutation.count; d++) {
        size_t to = (size_t)permutation.data[d];
        bool inside = d >= first && d < end;
        if (inside ? to < first || to >= end : to != d) return false;
    }
    return !hlo_alg_is_iota(permutation);
}

// The constant with its contracting dimension split, ordered as before the transpose, and merged again.
static HloInstruction *reordered_constant(HloAlg *alg, HloInstruction *inst, HloInstruction *constant, int64_t dim,
                                          const HloInstruction *transpose, size_t first, size_t end) {
    size_t split = end - first, rank = constant->shape->rank + split - 1;
    int64_t *sizes = hlo_alg_ints(alg, rank), *order = hlo_alg_ints(alg, rank);
    HloDims inverse = hlo_alg_inverse(alg, hlo_dims(transpose, HLO_ATTR_DIMENSIONS));
    for (size_t d = 0; d < rank; d++) {
        size_t at = (size_t)dim;
        order[d] = (int64_t)d;
        if (d < at) {
            sizes[d] = constant->shape->dims[d];
        } else if (d < at + split) {
            sizes[d] = transpose->shape->dims[first + d - at];
            order[d] = dim + inverse.data[first + d - at] - (int64_t)first;
        } else {
            sizes[d] = constant->shape->dims[d - split + 1];
        }
    }
    const HloShape *shape = hlo_alg_shape(alg, constant->shape->type, (HloDims){sizes, rank});
    HloInstruction *parts = hlo_derive(alg->rw, hlo_build_reshape(alg->rw, shape, constant), inst);
    if (!parts) return NULL;
    int64_t *permuted = hlo_alg_ints(alg, rank);
    for (size_t d = 0; d < rank; d++) permuted[d] = sizes[order[d]];
    shape = hlo_alg_shape(alg, constant->shape->type, (HloDims){permuted, rank});
    HloInstruction *moved = hlo_derive(alg->rw, hlo_alg_unary(alg, shape, HLO_OP_TRANSPOSE, parts), inst);
    if (!moved) return NULL;
    hlo_set_dims(alg->m, moved, HLO_ATTR_DIMENSIONS, (HloDims){order, rank});
    return hlo_derive(alg->rw, hlo_build_reshape(alg->rw, constant->shape, moved), inst);
}

static HloInstruction *reorder(HloAlg *alg, HloInstruction *inst, size_t k) {
    HloInstruction *reshape = hlo_operand(inst, k), *constant = hlo_operand(inst, 1 - k);
    HloDotNumbers n = hlo_alg_dot_numbers(inst);
    if (reshape->op != HLO_OP_RESHAPE || !hlo_alg_is_constant(constant) || n.lhs_contracting.count != 1) return NULL;
    HloInstruction *transpose = hlo_operand(reshape, 0);
    size_t first, end;
    int64_t dim = k == 0 ? n.lhs_contracting.data[0] : n.rhs_contracting.data[0];
    int64_t constant_dim = k == 0 ? n.rhs_contracting.data[0] : n.lhs_contracting.data[0];
    if (transpose->op != HLO_OP_TRANSPOSE || !merges_only(alg, reshape, dim, &first, &end)) return NULL;
    if (!permutes_only(hlo_dims(transpose, HLO_ATTR_DIMENSIONS), first, end)) return NULL;
    HloInstruction *x = hlo_operand(transpose, 0);
    HloInstruction *merged = hlo_derive(alg->rw, hlo_build_reshape(alg->rw, reshape->shape, x), inst);
    HloInstruction *moved = reordered_constant(alg, inst, constant, constant_dim, transpose, first, end);
    return dot_with(alg, inst, inst->shape, k, merged, moved);
}

// dot(reshape(transpose(x)), c) -> dot(reshape(x), reshape(transpose(reshape(c)))) when the contracted dimensions alone
// are transposed.
HloInstruction *hlo_alg_dot_reorder(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *result = reorder(alg, inst, 0);
    return result ? result : reorder(alg, inst, 1);
}

// ---- dynamic-slice of a constant ------------------------------------------------------------------------

// A product of constants is computed at compile time; it may not be much larger than they are.
enum { MAX_GROWTH = 16 };

static HloInstruction *slice_product(HloAlg *alg, HloInstruction *inst, size_t k) {
    HloInstruction *slice = hlo_operand(inst, k), *other = hlo_operand(inst, 1 - k);
    if (slice->op != HLO_OP_DYNAMIC_SLICE || hlo_operand_count(slice) != 3 || !is_constant_matrix(other)) return NULL;
    HloInstruction *table = hlo_operand(slice, 0);
    int64_t dim = contracting_dim(inst, k), other_dim = contracting_dim(inst, 1 - k);
    if (!is_constant_matrix(table) || dim < 0 || slice->shape->dims[1 - dim] != 1) return NULL;
    if (slice->shape->dims[dim] != table->shape->dims[dim]) return NULL;
    int64_t rows = table->shape->dims[1 - dim], columns = other->shape->dims[1 - other_dim];
    int64_t sizes[] = {k == 0 ? rows : columns, k == 0 ? columns : rows};
    double before = (double)hlo_shape_elem_count(table->shape) + (double)hlo_shape_elem_count(other->shape);
    if ((double)rows * (double)columns > MAX_GROWTH * before) return NULL;
    const HloShape *shape = hlo_alg_shape(alg, inst->shape->type, (HloDims){sizes, 2});
    HloInstruction *product = dot_with(alg, inst, shape, k, table, other);
    HloInstruction *row = hlo_operand(slice, (size_t)(2 - dim)), *zero = hlo_operand(slice, (size_t)(1 + dim));
    HloInstruction *starts[] = {k == 0 ? row : zero, k == 0 ? zero : row};
    return hlo_alg_dynamic_slice(alg, inst->shape, product, starts, 2, hlo_shape_dims(inst->shape));
}

// dot(dynamic-slice(c1), c2) -> dynamic-slice(dot(c1, c2)) for one row or column.
HloInstruction *hlo_alg_dot_gather(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *result = slice_product(alg, inst, 0);
    return result ? result : slice_product(alg, inst, 1);
}
