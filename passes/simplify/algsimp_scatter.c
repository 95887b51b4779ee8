// algsimp: sums with scatters that add.

#include "algsimp.h"

// A scatter that adds one update array into one operand and is used only once.
static bool is_adding_scatter(const HloInstruction *x) {
    return x->op == HLO_OP_SCATTER && hlo_operand_count(x) == 3 && hlo_alg_has_one_use(x) &&
           hlo_alg_is_reducer(hlo_called(x, 0), HLO_OP_ADD);
}

// x + scatter(operand, i, u) -> scatter(x + operand, i, u), the scatter edited in place.
HloInstruction *hlo_alg_add_scatter(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *left = hlo_operand(inst, 0), *right = hlo_operand(inst, 1);
    if (alg->layout_sensitive || is_adding_scatter(left) == is_adding_scatter(right)) return NULL;
    HloInstruction *scatter = is_adding_scatter(right) ? right : left;
    HloInstruction *operand = hlo_operand(scatter, 0);
    HloInstruction *sum = scatter == right ? hlo_build_binary(alg->rw, HLO_OP_ADD, left, operand)
                                           : hlo_build_binary(alg->rw, HLO_OP_ADD, operand, right);
    if (sum) hlo_set_operand(scatter, 0, sum);
    return sum ? scatter : NULL;
}

// ---- two scatters ---------------------------------------------------------------------------------------

// Where two scatters can be joined: a dimension of the indices and the one of the updates that goes with it.
typedef struct Seam {
    int64_t index_dim, update_dim;
} Seam;

static HloDims dims_of(const HloInstruction *x, HloAttrId id) {
    return hlo_dims(x, id);
}

static bool has_same_numbers(const HloInstruction *a, const HloInstruction *b) {
    static const HloAttrId ids[] = {HLO_ATTR_UPDATE_WINDOW_DIMS, HLO_ATTR_INSERTED_WINDOW_DIMS,
                                    HLO_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS, HLO_ATTR_INPUT_BATCHING_DIMS,
                                    HLO_ATTR_SCATTER_INDICES_BATCHING_DIMS};
    for (size_t i = 0; i < HLO_COUNT(ids); i++) {
        if (!hlo_dims_equal(dims_of(a, ids[i]), dims_of(b, ids[i]))) return false;
    }
    return hlo_int(a, HLO_ATTR_INDEX_VECTOR_DIM) == hlo_int(b, HLO_ATTR_INDEX_VECTOR_DIM);
}

// The last dimension of `updates` below `end` that is no window dimension, or -1.
static int64_t scatter_dim_below(const HloInstruction *scatter, int64_t end) {
    HloDims window = dims_of(scatter, HLO_ATTR_UPDATE_WINDOW_DIMS);
    while (--end >= 0 && hlo_dims_has(window, end)) continue;
    return end;
}

// Index dimensions from last to first, each with its update dimension: the single one whose sizes differ, or else the
// last. Without any, or with two that differ, the scatters cannot be joined.
static bool find_seam(const HloInstruction *a, const HloInstruction *b, Seam *seam) {
    const HloShape *ia = hlo_operand(a, 1)->shape, *ib = hlo_operand(b, 1)->shape;
    if (ia->rank != ib->rank) return false;
    HloDims batching = dims_of(a, HLO_ATTR_SCATTER_INDICES_BATCHING_DIMS);
    int64_t update_dim = (int64_t)hlo_operand(a, 2)->shape->rank;
    bool found = false, differs = false;
    *seam = (Seam){0, 0};
    for (int64_t d = (int64_t)ia->rank; d-- > 0;) {
        if (d == hlo_int(a, HLO_ATTR_INDEX_VECTOR_DIM)) continue;
        update_dim = scatter_dim_below(a, update_dim);
        if (update_dim < 0) return false;
        bool unequal = ia->dims[d] != ib->dims[d];
        if (unequal && (differs || hlo_dims_has(batching, d))) return false;
        if (hlo_dims_has(batching, d)) continue;
        if (unequal || !found) *seam = (Seam){d, update_dim};
        differs |= unequal;
        found = true;
    }
    return found;
}

static bool is_ordinary(const HloInstruction *scatter) {
    return !hlo_int(scatter, HLO_ATTR_UNIQUE_INDICES) && !hlo_int(scatter, HLO_ATTR_INDICES_ARE_SORTED);
}

static bool has_same_windows(const HloInstruction *a, const HloInstruction *b) {
    const HloShape *ua = hlo_operand(a, 2)->shape, *ub = hlo_operand(b, 2)->shape;
    HloDims window = dims_of(a, HLO_ATTR_UPDATE_WINDOW_DIMS);
    if (ua->rank != ub->rank || ua->type != ub->type) return false;
    for (size_t i = 0; i < window.count; i++) {
        if (ua->dims[window.data[i]] != ub->dims[window.data[i]]) return false;
    }
    return hlo_operand(a, 1)->shape->type == hlo_operand(b, 1)->shape->type;
}

static HloInstruction *joined(HloAlg *alg, HloInstruction *a, HloInstruction *b, HloInstruction *sum, Seam seam) {
    HloInstruction *indices =
        hlo_build_concatenate(alg->rw, (HloInstruction *[]){hlo_operand(a, 1), hlo_operand(b, 1)}, 2, seam.index_dim);
    HloInstruction *updates =
        hlo_build_concatenate(alg->rw, (HloInstruction *[]){hlo_operand(a, 2), hlo_operand(b, 2)}, 2, seam.update_dim);
    HloInstruction *operands[] = {sum, indices, updates};
    HloInstruction *scatter = hlo_build(alg->rw, HLO_OP_SCATTER, a->shape, operands, 3);
    if (!scatter) return NULL;
    hlo_alg_copy_own_attrs(alg, scatter, a);
    hlo_set_called(scatter, 0, hlo_called(a, 0));
    return scatter;
}

// scatter(a) + scatter(b) -> one scatter of both, or scatter b into the sum of the operands and then a into that.
HloInstruction *hlo_alg_join_scatters(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *a = hlo_operand(inst, 0), *b = hlo_operand(inst, 1);
    Seam seam = {0, 0};
    if (alg->layout_sensitive || !is_adding_scatter(a) || !is_adding_scatter(b) || !find_seam(a, b, &seam)) return NULL;
    int64_t updates = hlo_shape_elem_count(hlo_operand(a, 2)->shape), limit = hlo_shape_elem_count(inst->shape);
    if (updates >= limit || hlo_shape_elem_count(hlo_operand(b, 2)->shape) >= limit - updates) return NULL;
    HloInstruction *sum = hlo_build_binary(alg->rw, HLO_OP_ADD, hlo_operand(a, 0), hlo_operand(b, 0));
    if (!sum) return NULL;
    if (is_ordinary(a) && is_ordinary(b) && has_same_numbers(a, b) && has_same_windows(a, b)) {
        return joined(alg, a, b, sum, seam);
    }
    hlo_set_operand(b, 0, sum);
    hlo_set_operand(a, 0, b);
    return a;
}
