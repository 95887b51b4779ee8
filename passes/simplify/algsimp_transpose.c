// algsimp: transpose.

#include "algsimp.h"

#include "hlo/analysis.h"

static HloDims permutation_of(const HloInstruction *transpose) {
    return hlo_dims(transpose, HLO_ATTR_DIMENSIONS);
}

static HloInstruction *transpose_same(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_alg_is_iota(permutation_of(inst)) ? hlo_operand(inst, 0) : NULL;
}

static HloInstruction *transpose_twice(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *inner = hlo_operand(inst, 0);
    if (inner->op != HLO_OP_TRANSPOSE) return NULL;
    HloDims outer_dims = permutation_of(inst), inner_dims = permutation_of(inner);
    int64_t *dims = hlo_alg_ints(alg, outer_dims.count);
    for (size_t d = 0; d < outer_dims.count; d++) dims[d] = inner_dims.data[outer_dims.data[d]];
    HloInstruction *result = hlo_alg_unary(alg, inst->shape, HLO_OP_TRANSPOSE, hlo_operand(inner, 0));
    if (result) hlo_set_dims(alg->m, result, HLO_ATTR_DIMENSIONS, (HloDims){dims, outer_dims.count});
    return result;
}

// ---- transpose of dot -----------------------------------------------------------------------------------

// dot(b, a) with the numbers of dot(a, b) swapped and its batch dimensions in the order `batch_order`.
static HloInstruction *swapped_dot(HloAlg *alg, HloInstruction *inst, HloInstruction *dot, const int64_t *batch_order) {
    HloDims lhs_batch = hlo_dims(dot, HLO_ATTR_LHS_BATCH_DIMS), rhs_batch = hlo_dims(dot, HLO_ATTR_RHS_BATCH_DIMS);
    int64_t *new_lhs = hlo_alg_ints(alg, lhs_batch.count), *new_rhs = hlo_alg_ints(alg, lhs_batch.count);
    for (size_t i = 0; i < lhs_batch.count; i++) {
        new_lhs[i] = rhs_batch.data[batch_order[i]];
        new_rhs[i] = lhs_batch.data[batch_order[i]];
    }
    HloDotNumbers numbers = {
        .lhs_batch = {new_lhs, lhs_batch.count},
        .rhs_batch = {new_rhs, lhs_batch.count},
        .lhs_contracting = hlo_dims(dot, HLO_ATTR_RHS_CONTRACTING_DIMS),
        .rhs_contracting = hlo_dims(dot, HLO_ATTR_LHS_CONTRACTING_DIMS),
    };
    HloInstruction *result =
        hlo_alg_dot(alg, dot, inst->shape, hlo_operand(dot, 1), hlo_operand(dot, 0), &numbers, true);
    return hlo_derive(alg->rw, result, dot);
}

static bool is_sole_dot(const HloInstruction *x) {
    return x->op == HLO_OP_DOT && hlo_operand_count(x) == 2 && hlo_alg_has_one_user(x);
}

// transpose(dot(a, b)) -> dot(b, a) for a dot of matrices, batches first: the last two dimensions change places.
static HloInstruction *transpose_matrix_dot(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *dot = hlo_operand(inst, 0);
    if (alg->non_canonical_dots || !is_sole_dot(dot)) return NULL;
    HloDims lhs_batch = hlo_dims(dot, HLO_ATTR_LHS_BATCH_DIMS), rhs_batch = hlo_dims(dot, HLO_ATTR_RHS_BATCH_DIMS);
    size_t batch = lhs_batch.count, contracting = hlo_dims(dot, HLO_ATTR_LHS_CONTRACTING_DIMS).count;
    if (!hlo_alg_is_iota(lhs_batch) || !hlo_alg_is_iota(rhs_batch) || contracting == 0) return NULL;
    if (hlo_operand(dot, 0)->shape->rank != batch + contracting + 1) return NULL;
    if (hlo_operand(dot, 1)->shape->rank != batch + contracting + 1) return NULL;
    HloDims dims = permutation_of(inst);
    if (!hlo_alg_is_iota((HloDims){dims.data, batch}) || dims.data[batch] != (int64_t)batch + 1) return NULL;
    return swapped_dot(alg, inst, dot, dims.data);
}

// transpose(dot(a, b)) -> dot(b, a) when batches stay among themselves, then b's dimensions come, then a's.
static HloInstruction *transpose_any_dot(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *dot = hlo_operand(inst, 0);
    if (!alg->non_canonical_dots || !is_sole_dot(dot)) return NULL;
    size_t batch = hlo_dims(dot, HLO_ATTR_LHS_BATCH_DIMS).count;
    size_t contracting = hlo_dims(dot, HLO_ATTR_LHS_CONTRACTING_DIMS).count;
    size_t lhs_free = hlo_operand(dot, 0)->shape->rank - batch - contracting;
    size_t rhs_free = hlo_operand(dot, 1)->shape->rank - batch - contracting;
    HloDims dims = permutation_of(inst);
    for (size_t i = 0; i < dims.count; i++) {
        size_t from = (size_t)dims.data[i];
        if (i < batch ? from >= batch : from != (i < batch + rhs_free ? i + lhs_free : i - rhs_free)) return NULL;
    }
    return swapped_dot(alg, inst, dot, dims.data);
}

// ---- transposes that are something simpler --------------------------------------------------------------

// A transpose that only moves dimensions of size 1 is a reshape.
static HloInstruction *transpose_ones(HloAlg *alg, HloInstruction *inst) {
    HloDims dims = permutation_of(inst);
    int64_t last = -1;
    bool has_ones = false;
    for (size_t d = 0; d < dims.count; d++) {
        if (inst->shape->dims[d] == 1) {
            has_ones = true;
            continue;
        }
        if (dims.data[d] < last) return NULL;
        last = dims.data[d];
    }
    return has_ones ? hlo_build_reshape(alg->rw, inst->shape, hlo_operand(inst, 0)) : NULL;
}

static HloInstruction *transpose_bitcast(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0);
    if (!alg->layout_sensitive || !hlo_transpose_is_bitcast(x->shape, inst->shape, permutation_of(inst))) return NULL;
    return hlo_derive(alg->rw, hlo_build_bitcast(alg->rw, inst->shape, x), inst);
}

// The dimensions in `dims` of two shapes, `map`ped from one to the other, follow each other alike in memory.
static bool keeps_order(const HloShape *before, HloDims dims, const HloShape *after, HloDims mapped) {
    if (!before->layout || !after->layout) return false;
    size_t next = 0;
    for (size_t i = 0; i < before->rank; i++) {
        int64_t at = hlo_dims_find(dims, before->layout->minor_to_major[i]);
        if (at < 0) continue;
        while (next < after->rank && !hlo_dims_has(mapped, after->layout->minor_to_major[next])) next++;
        if (next == after->rank || after->layout->minor_to_major[next++] != mapped.data[at]) return false;
    }
    return true;
}

HloInstruction *hlo_alg_permuted_broadcast(HloAlg *alg, HloInstruction *inst, HloDims permutation) {
    HloInstruction *broadcast = hlo_operand(inst, 0);
    if (broadcast->op != HLO_OP_BROADCAST) return NULL;
    HloDims dims = hlo_dims(broadcast, HLO_ATTR_DIMENSIONS), inverse = hlo_alg_inverse(alg, permutation);
    int64_t *mapped = hlo_alg_ints(alg, dims.count);
    for (size_t d = 0; d < dims.count; d++) mapped[d] = inverse.data[dims.data[d]];
    HloDims new_dims = {mapped, dims.count};
    if (!hlo_alg_is_sorted(dims) || !hlo_alg_is_sorted(new_dims)) return NULL;
    if (alg->layout_sensitive && !keeps_order(broadcast->shape, dims, inst->shape, new_dims)) return NULL;
    return hlo_build_broadcast(alg->rw, inst->shape, hlo_operand(broadcast, 0), new_dims);
}

// transpose(broadcast(x)) -> broadcast(x)
static HloInstruction *transpose_broadcast(HloAlg *alg, HloInstruction *inst) {
    return hlo_alg_permuted_broadcast(alg, inst, permutation_of(inst));
}

// ---- depth to space -------------------------------------------------------------------------------------

// Parts that are more are left to the transpose, which then moves less per slice.
enum { MAX_PARTS = 5 };

// reshape(transpose(reshape(x))): dimension `split` of x is split into `parts` times the rest, and `parts` moves to
// `to`.
typedef struct DepthToSpace {
    size_t split, to;
    int64_t parts;
} DepthToSpace;

static bool splits_one_dim(const HloShape *from, const HloShape *to, DepthToSpace *form) {
    if (to->rank != from->rank + 1) return false;
    size_t d = 0;
    while (d < from->rank && from->dims[d] == to->dims[d]) d++;
    if (d == from->rank || to->dims[d] > MAX_PARTS || to->dims[d] < 2) return false;
    if (to->dims[d] * to->dims[d + 1] != from->dims[d]) return false;
    for (size_t i = d + 1; i < from->rank; i++) {
        if (from->dims[i] != to->dims[i + 1]) return false;
    }
    form->split = d;
    form->parts = to->dims[d];
    return true;
}

// The permutation moves dimension `split` and keeps the order of all others; it goes before a dimension of x that is
// not the split one, and not to the front.
static bool moves_parts(HloDims permutation, DepthToSpace *form) {
    int64_t to = hlo_dims_find(permutation, (int64_t)form->split), next = 0;
    for (size_t d = 0; d < permutation.count; d++) {
        if ((int64_t)d == to) continue;
        if (next == (int64_t)form->split) next++;
        if (permutation.data[d] != next++) return false;
    }
    form->to = (size_t)to;
    return to > 0 && form->to + 1 < permutation.count && form->to != form->split && form->to != form->split + 1;
}

static bool merges_parts(const HloShape *x, const HloShape *result, DepthToSpace form) {
    if (result->rank != x->rank) return false;
    for (size_t d = 0; d < x->rank; d++) {
        int64_t size = x->dims[d];
        if (d == form.split) size /= form.parts;
        if (d == form.to - 1) size *= form.parts;
        if (result->dims[d] != size) return false;
    }
    return true;
}

static HloInstruction *joined_parts(HloAlg *alg, HloInstruction *x, const HloInstruction *from, DepthToSpace form) {
    HloInstruction *parts[MAX_PARTS];
    int64_t size = x->shape->dims[form.split] / form.parts;
    for (int64_t i = 0; i < form.parts; i++) {
        HloSliceDim *dims = hlo_alg_whole_slice(alg, x->shape);
        dims[form.split] = (HloSliceDim){i * size, (i + 1) * size, 1};
        parts[i] = hlo_derive(alg->rw, hlo_build_slice(alg->rw, x, dims), from);
    }
    HloInstruction *joined = hlo_build_concatenate(alg->rw, parts, (size_t)form.parts, (int64_t)form.to);
    return hlo_derive(alg->rw, joined, from);
}

// reshape(transpose(reshape(x))) that moves parts of one dimension to another -> reshape(concatenate(slices of x)).
static HloInstruction *transpose_parts(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *inner = hlo_operand(inst, 0);
    DepthToSpace form = {0};
    if (alg->layout_sensitive || !alg->space_to_depth || inner->op != HLO_OP_RESHAPE) return NULL;
    if (hlo_user_count(inst) != 1 || hlo_user(inst, 0)->op != HLO_OP_RESHAPE || hlo_is_root(inst)) return NULL;
    HloInstruction *x = hlo_operand(inner, 0), *outer = hlo_user(inst, 0);
    if (!splits_one_dim(x->shape, inner->shape, &form) || !moves_parts(permutation_of(inst), &form)) return NULL;
    if (!merges_parts(x->shape, outer->shape, form)) return NULL;
    HloInstruction *joined = joined_parts(alg, x, inst, form);
    HloInstruction *result = hlo_build_reshape(alg->rw, outer->shape, joined);
    if (!result) return NULL;
    hlo_replace_with(alg->rw, outer, result, "transpose-parts", HLO_REPLACE_RELAY_CONTROL | HLO_REPLACE_KEEP_OPERANDS);
    return inst;
}

static const HloAlgRule rules[] = {
    {HLO_OP_TRANSPOSE, "transpose-same", transpose_same, HLO_ALG_PLAIN},
    {HLO_OP_TRANSPOSE, "transpose-twice", transpose_twice, HLO_ALG_PLAIN},
    {HLO_OP_TRANSPOSE, "transpose-chain", hlo_alg_undo_chain, HLO_ALG_PLAIN},
    {HLO_OP_TRANSPOSE, "transpose-matrix-dot", transpose_matrix_dot, HLO_ALG_PLAIN},
    {HLO_OP_TRANSPOSE, "transpose-any-dot", transpose_any_dot, HLO_ALG_PLAIN},
    {HLO_OP_TRANSPOSE, "transpose-ones", transpose_ones, HLO_ALG_PLAIN},
    {HLO_OP_TRANSPOSE, "transpose-bitcast", transpose_bitcast, HLO_ALG_PLAIN},
    {HLO_OP_TRANSPOSE, "transpose-parts", transpose_parts, HLO_ALG_IN_PLACE},
    {HLO_OP_TRANSPOSE, "transpose-broadcast", transpose_broadcast, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_transpose_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
