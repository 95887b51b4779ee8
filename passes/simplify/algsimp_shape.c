// algsimp: what a reshape does to single dimensions (chapter §1.8), and chains of reshapes and transposes that do
// nothing.

#include "algsimp.h"

#include "hlo/analysis.h"

bool hlo_alg_reshape_is_bitcast(const HloAlg *alg, const HloShape *from, const HloShape *to) {
    return alg->layout_sensitive && hlo_reshape_is_bitcast(from, to);
}

HloAlgPairs hlo_alg_unmodified_dims(HloAlg *alg, const HloShape *from, const HloShape *to) {
    HloFactors factors = hlo_shape_common_factors(alg->scratch, hlo_shape_dims(from), hlo_shape_dims(to));
    int64_t *a = hlo_alg_ints(alg, factors.count), *b = hlo_alg_ints(alg, factors.count);
    size_t count = 0;
    for (size_t g = 0; g + 1 < factors.count; g++) {
        HloFactorBound at = factors.bounds[g], next = factors.bounds[g + 1];
        if (next.a != at.a + 1 || next.b != at.b + 1) continue;
        a[count] = (int64_t)at.a;
        b[count++] = (int64_t)at.b;
    }
    return (HloAlgPairs){a, b, count};
}

// The dimensions of size 1 that are not in `paired` (rising); false when another size is among the rest.
static bool rest_are_ones(HloAlg *alg, const HloShape *shape, const int64_t *paired, size_t count, HloDims *out) {
    int64_t *ones = hlo_alg_ints(alg, shape->rank);
    size_t found = 0, next = 0;
    for (size_t d = 0; d < shape->rank; d++) {
        if (next < count && paired[next] == (int64_t)d) {
            next++;
            continue;
        }
        if (shape->dims[d] != 1) return false;
        ones[found++] = (int64_t)d;
    }
    *out = (HloDims){ones, found};
    return true;
}

bool hlo_alg_reshape_ones(HloAlg *alg, const HloInstruction *reshape, HloDims *deleted, HloDims *inserted) {
    const HloShape *from = hlo_operand(reshape, 0)->shape, *to = reshape->shape;
    HloAlgPairs pairs = hlo_alg_unmodified_dims(alg, from, to);
    return rest_are_ones(alg, from, pairs.from, pairs.count, deleted) &&
           rest_are_ones(alg, to, pairs.to, pairs.count, inserted);
}

bool hlo_alg_map_unmodified(HloAlg *alg, const HloShape *from, const HloShape *to, HloDims dims, HloDims *out) {
    HloAlgPairs pairs = hlo_alg_unmodified_dims(alg, from, to);
    int64_t *mapped = hlo_alg_ints(alg, dims.count);
    for (size_t i = 0; i < dims.count; i++) {
        int64_t at = hlo_dims_find((HloDims){pairs.from, pairs.count}, dims.data[i]);
        if (at < 0) return false;
        mapped[i] = pairs.to[at];
    }
    *out = (HloDims){mapped, dims.count};
    return true;
}

// ---- chains ---------------------------------------------------------------------------------------------

// Longer chains are cut by the rules that merge neighbours; the limit keeps a sweep linear.
enum { MAX_CHAIN = 64 };

static size_t count_ones(const HloShape *shape) {
    size_t ones = 0;
    for (size_t d = 0; d < shape->rank; d++) ones += shape->dims[d] == 1;
    return ones;
}

static bool may_be_link(const HloInstruction *x) {
    return x->op == HLO_OP_TRANSPOSE || x->op == HLO_OP_RESHAPE || x->op == HLO_OP_BITCAST;
}

// Maps `dims`, dimensions of x's result that are not 1, to x's operand; false when x may not stand in a chain.
static bool step_up(HloAlg *alg, const HloInstruction *x, int64_t *dims, size_t count) {
    const HloShape *from = hlo_operand(x, 0)->shape;
    if (x->op == HLO_OP_TRANSPOSE) {
        HloDims permutation = hlo_dims(x, HLO_ATTR_DIMENSIONS);
        if (hlo_alg_is_iota(permutation)) return false;
        for (size_t i = 0; i < count; i++) dims[i] = permutation.data[dims[i]];
        return true;
    }
    if (x->op == HLO_OP_BITCAST && (from->type != x->shape->type || !hlo_alg_reshape_is_bitcast(alg, from, x->shape)))
        return false;
    if (hlo_shape_elem_count(from) != hlo_shape_elem_count(x->shape)) return false;
    HloDims deleted, inserted, mapped;
    if (count_ones(from) > 1 || count_ones(x->shape) > 1 || !hlo_alg_reshape_ones(alg, x, &deleted, &inserted))
        return false;
    if (!hlo_alg_map_unmodified(alg, x->shape, from, (HloDims){dims, count}, &mapped)) return false;
    memcpy(dims, mapped.data, count * sizeof *dims);
    return true;
}

HloInstruction *hlo_alg_undo_chain(HloAlg *alg, HloInstruction *inst) {
    if (!may_be_link(hlo_operand(inst, 0)) || count_ones(inst->shape) > 1) return NULL;
    int64_t *dims = hlo_alg_ints(alg, inst->shape->rank);
    size_t count = 0;
    for (size_t d = 0; d < inst->shape->rank; d++) {
        if (inst->shape->dims[d] != 1) dims[count++] = (int64_t)d;
    }
    HloInstruction *top = inst;
    for (int links = 0; may_be_link(top); links++) {
        if (links == MAX_CHAIN || !step_up(alg, top, dims, count)) return NULL;
        top = hlo_operand(top, 0);
    }
    if (!hlo_alg_is_sorted((HloDims){dims, count})) return NULL;
    if (hlo_alg_same_shape(alg, top->shape, inst->shape)) return top;
    return hlo_alg_reshape_is_bitcast(alg, top->shape, inst->shape) ? hlo_build_bitcast(alg->rw, inst->shape, top)
                                                                    : NULL;
}
