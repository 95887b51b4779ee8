// algsimp: dot. No rule keeps layouts, so they run in the layout-insensitive mode only.
//
// A dot without contraction is a product; a dot that is matrix times vector, or less, is a sum of products; dimensions
// of size 1 go away.

#include "algsimp.h"

// ---- dimension numbers ----------------------------------------------------------------------------------

HloDotNumbers hlo_alg_dot_numbers(const HloInstruction *dot) {
    return (HloDotNumbers){
        .lhs_batch = hlo_dims(dot, HLO_ATTR_LHS_BATCH_DIMS),
        .rhs_batch = hlo_dims(dot, HLO_ATTR_RHS_BATCH_DIMS),
        .lhs_contracting = hlo_dims(dot, HLO_ATTR_LHS_CONTRACTING_DIMS),
        .rhs_contracting = hlo_dims(dot, HLO_ATTR_RHS_CONTRACTING_DIMS),
    };
}

static void set_dims_unless_empty(HloAlg *alg, HloInstruction *dot, HloAttrId id, HloDims dims) {
    if (dims.count) hlo_set_dims(alg->m, dot, id, dims);
}

static void copy_precision(HloAlg *alg, HloInstruction *dot, const HloInstruction *like, bool swapped) {
    HloDims precision = hlo_dims(like, HLO_ATTR_OPERAND_PRECISION);
    if (precision.count == 2) {
        int64_t values[2] = {precision.data[swapped ? 1 : 0], precision.data[swapped ? 0 : 1]};
        hlo_set_dims(alg->m, dot, HLO_ATTR_OPERAND_PRECISION, (HloDims){values, 2});
    }
    hlo_set_int(alg->m, dot, HLO_ATTR_ALGORITHM, hlo_int(like, HLO_ATTR_ALGORITHM));
}

HloInstruction *hlo_alg_dot(HloAlg *alg, const HloInstruction *like, const HloShape *shape, HloInstruction *a,
                            HloInstruction *b, const HloDotNumbers *numbers, bool swapped) {
    HloInstruction *dot = hlo_alg_binary(alg, shape, HLO_OP_DOT, a, b);
    if (!dot) return NULL;
    set_dims_unless_empty(alg, dot, HLO_ATTR_LHS_BATCH_DIMS, numbers->lhs_batch);
    set_dims_unless_empty(alg, dot, HLO_ATTR_RHS_BATCH_DIMS, numbers->rhs_batch);
    hlo_set_dims(alg->m, dot, HLO_ATTR_LHS_CONTRACTING_DIMS, numbers->lhs_contracting);
    hlo_set_dims(alg->m, dot, HLO_ATTR_RHS_CONTRACTING_DIMS, numbers->rhs_contracting);
    copy_precision(alg, dot, like, swapped);
    return dot;
}

static HloInstruction *dot_is_left_alone(HloAlg *alg, HloInstruction *inst) {
    return alg->layout_sensitive || hlo_operand_count(inst) != 2 ? inst : NULL;
}

// A dot of nothing is zero.
static HloInstruction *dot_empty(HloAlg *alg, HloInstruction *inst) {
    if (!hlo_shape_is_empty(inst->shape) && !hlo_shape_is_empty(hlo_operand(inst, 0)->shape) &&
        !hlo_shape_is_empty(hlo_operand(inst, 1)->shape))
        return NULL;
    HloInstruction *zero = hlo_derive(alg->rw, hlo_alg_scalar(alg, inst->shape->type, 0), inst);
    return hlo_build_broadcast(alg->rw, inst->shape, zero, (HloDims){NULL, 0});
}

// ---- products and sums of products ----------------------------------------------------------------------

// Rewrites may not change how a requested algorithm computes.
static bool has_plain_algorithm(const HloInstruction *dot) {
    int64_t algorithm = hlo_int(dot, HLO_ATTR_ALGORITHM);
    return algorithm == HLO_DOT_ALGORITHM_UNSET || algorithm == HLO_DOT_ALGORITHM_F32_F32_F32;
}

static HloInstruction *as_type(HloAlg *alg, HloInstruction *x, HloType type) {
    return !x || x->shape->type == type ? x : hlo_build_convert(alg->rw, x, type);
}

// x transposed to [batch, free, contracting], contracting in list order.
static HloInstruction *batch_major(HloAlg *alg, HloInstruction *x, HloDims batch, HloDims contracting) {
    int64_t *order = hlo_alg_ints(alg, x->shape->rank);
    size_t count = 0;
    for (size_t i = 0; i < batch.count; i++) order[count++] = batch.data[i];
    for (size_t d = 0; d < x->shape->rank; d++) {
        if (!hlo_dims_has(batch, (int64_t)d) && !hlo_dims_has(contracting, (int64_t)d)) order[count++] = (int64_t)d;
    }
    for (size_t i = 0; i < contracting.count; i++) order[count++] = contracting.data[i];
    HloDims dims = {order, count};
    return hlo_alg_is_sorted(dims) ? x : hlo_derive(alg->rw, hlo_build_transpose(alg->rw, x, dims), x);
}

// {0 … head-1, rank-tail … rank-1}: where the first and last dimensions of a smaller array lie in a larger one.
static HloDims ends(HloAlg *alg, size_t head, size_t tail, size_t rank) {
    int64_t *dims = hlo_alg_ints(alg, head + tail);
    for (size_t d = 0; d < head; d++) dims[d] = (int64_t)d;
    for (size_t d = 0; d < tail; d++) dims[head + d] = (int64_t)(rank - tail + d);
    return (HloDims){dims, head + tail};
}

// dot without contraction -> broadcast(lhs) · broadcast(rhs)
static HloInstruction *dot_multiply(HloAlg *alg, HloInstruction *inst) {
    HloDotNumbers numbers = hlo_alg_dot_numbers(inst);
    if (!alg->dot_to_multiply || numbers.lhs_contracting.count || !has_plain_algorithm(inst)) return NULL;
    HloType type = inst->shape->type;
    HloInstruction *lhs =
        as_type(alg, batch_major(alg, hlo_operand(inst, 0), numbers.lhs_batch, (HloDims){NULL, 0}), type);
    HloInstruction *rhs =
        as_type(alg, batch_major(alg, hlo_operand(inst, 1), numbers.rhs_batch, (HloDims){NULL, 0}), type);
    size_t batch = numbers.lhs_batch.count, rank = inst->shape->rank;
    if (lhs && lhs->shape->rank != rank) {
        HloDims dims = hlo_alg_iota_dims(alg, lhs->shape->rank);
        lhs = hlo_derive(alg->rw, hlo_build_broadcast(alg->rw, inst->shape, lhs, dims), inst);
    }
    if (rhs && rhs->shape->rank != rank) {
        HloDims dims = ends(alg, batch, rhs->shape->rank - batch, rank);
        rhs = hlo_derive(alg->rw, hlo_build_broadcast(alg->rw, inst->shape, rhs, dims), inst);
    }
    return hlo_alg_binary(alg, inst->shape, HLO_OP_MULTIPLY, lhs, rhs);
}

static bool names_unreduced(const HloInstruction *user) {
    const HloSharding *sharding = hlo_data(user, HLO_ATTR_SHARDING);
    if (sharding && sharding->kind == HLO_SHARDING_UNREDUCED) return true;
    const HloStringMap *map = hlo_data(user, HLO_ATTR_FRONTEND_ATTRIBUTES);
    for (size_t k = 0; map && k < map->count; k++) {
        if (strcmp(map->pairs[k].key, "xla.sdy.sharding") == 0 && strstr(map->pairs[k].value, "unreduced")) return true;
    }
    return false;
}

// The partitioner looks for dots whose sums stay unreduced.
static HloInstruction *dot_is_unreduced(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    if (hlo_user_count(inst) != 1) return NULL;
    const HloInstruction *user = hlo_user(inst, 0);
    bool is_sharding =
        user->op == HLO_OP_CUSTOM_CALL && strcmp(hlo_text(user, HLO_ATTR_CUSTOM_CALL_TARGET), "Sharding") == 0;
    return is_sharding && names_unreduced(user) ? inst : NULL;
}

// Floats add up in f32, or in f64 when they are f64.
static HloType sum_type(HloType type) {
    return hlo_type_is_float(type) && type != HLO_F64 ? HLO_F32 : type;
}

static HloInstruction *sum_over(HloAlg *alg, HloInstruction *x, HloDims dims) {
    if (!x) return NULL;
    HloInstruction *zero = hlo_alg_scalar(alg, x->shape->type, 0);
    return hlo_alg_reduce(alg, x, zero, dims, hlo_alg_adder(alg, x->shape->type));
}

// A dot of which one side has no dimensions of its own -> sum(lhs · rhs). On the CPU only when neither has: matrix
// times vector has a kernel there.
static HloInstruction *dot_reduce(HloAlg *alg, HloInstruction *inst) {
    HloDotNumbers n = hlo_alg_dot_numbers(inst);
    if (!alg->dot_strength_reduction || !has_plain_algorithm(inst)) return NULL;
    size_t batch = n.lhs_batch.count, contracting = n.lhs_contracting.count;
    size_t lhs_free = hlo_operand(inst, 0)->shape->rank - batch - contracting;
    size_t rhs_free = hlo_operand(inst, 1)->shape->rank - batch - contracting;
    if (alg->on_cpu ? lhs_free || rhs_free : lhs_free && rhs_free) return NULL;

    HloType type = inst->shape->type;
    HloInstruction *lhs = as_type(alg, batch_major(alg, hlo_operand(inst, 0), n.lhs_batch, n.lhs_contracting), type);
    HloInstruction *rhs = as_type(alg, batch_major(alg, hlo_operand(inst, 1), n.rhs_batch, n.rhs_contracting), type);
    if (!lhs || !rhs) return NULL;
    size_t rank = batch + contracting + (lhs_free ? lhs_free : rhs_free);
    HloDims shared = ends(alg, batch, contracting, rank);
    if (rhs_free)
        lhs = hlo_derive(alg->rw, hlo_build_broadcast(alg->rw, rhs->shape, lhs, shared), inst);
    else if (lhs_free)
        rhs = hlo_derive(alg->rw, hlo_build_broadcast(alg->rw, lhs->shape, rhs, shared), inst);
    HloInstruction *product = as_type(alg, hlo_build_binary(alg->rw, HLO_OP_MULTIPLY, lhs, rhs), sum_type(type));
    return as_type(alg, sum_over(alg, product, ends(alg, 0, contracting, rank)), type);
}

// ---- dimensions of size 1 -------------------------------------------------------------------------------

static HloDims ones_of(HloAlg *alg, const HloShape *shape) {
    int64_t *ones = hlo_alg_ints(alg, shape->rank);
    size_t count = 0;
    for (size_t d = 0; d < shape->rank; d++) {
        if (shape->dims[d] == 1) ones[count++] = (int64_t)d;
    }
    return (HloDims){ones, count};
}

// `dims` without those in `gone` (rising), the rest renumbered.
static HloDims renumbered(HloAlg *alg, HloDims dims, HloDims gone) {
    int64_t *result = hlo_alg_ints(alg, dims.count);
    size_t count = 0;
    for (size_t i = 0; i < dims.count; i++) {
        if (hlo_dims_has(gone, dims.data[i])) continue;
        int64_t below = 0;
        for (size_t k = 0; k < gone.count; k++) below += gone.data[k] < dims.data[i];
        result[count++] = dims.data[i] - below;
    }
    return (HloDims){result, count};
}

static HloInstruction *without_ones(HloAlg *alg, HloInstruction *x, HloDims ones) {
    if (!ones.count) return x;
    return hlo_build_reshape(alg->rw, hlo_alg_without_dims(alg, x->shape, ones), x);
}

static HloInstruction *dot_degenerate(HloAlg *alg, HloInstruction *inst) {
    HloDims lhs_ones = ones_of(alg, hlo_operand(inst, 0)->shape), rhs_ones = ones_of(alg, hlo_operand(inst, 1)->shape);
    if (!lhs_ones.count && !rhs_ones.count) return NULL;
    HloDotNumbers n = hlo_alg_dot_numbers(inst);
    HloDotNumbers numbers = {
        .lhs_batch = renumbered(alg, n.lhs_batch, lhs_ones),
        .rhs_batch = renumbered(alg, n.rhs_batch, rhs_ones),
        .lhs_contracting = renumbered(alg, n.lhs_contracting, lhs_ones),
        .rhs_contracting = renumbered(alg, n.rhs_contracting, rhs_ones),
    };
    HloInstruction *lhs = without_ones(alg, hlo_operand(inst, 0), lhs_ones);
    HloInstruction *rhs = without_ones(alg, hlo_operand(inst, 1), rhs_ones);
    HloDims result_ones = ones_of(alg, inst->shape);
    const HloShape *shape =
        hlo_shape_with_default_layout(&alg->m->shapes, hlo_alg_without_dims(alg, inst->shape, result_ones));
    HloInstruction *dot = hlo_derive(alg->rw, hlo_alg_dot(alg, inst, shape, lhs, rhs, &numbers, false), inst);
    if (!dot || hlo_shape_compatible(dot->shape, inst->shape)) return dot;
    return hlo_build_reshape(alg->rw, inst->shape, dot);
}

// ---- transposes on both sides ---------------------------------------------------------------------------

// Batch dimensions 0 … k-1, then one free and one contracting dimension: [k] free and [k+1] contracting on the left,
// the other way round on the right.
static bool is_canonical(const HloInstruction *dot) {
    HloDotNumbers n = hlo_alg_dot_numbers(dot);
    size_t batch = n.lhs_batch.count;
    if (!hlo_alg_is_iota(n.lhs_batch) || !hlo_alg_is_iota(n.rhs_batch) || n.lhs_contracting.count != 1) return false;
    if (hlo_operand(dot, 0)->shape->rank != batch + 2 || hlo_operand(dot, 1)->shape->rank != batch + 2) return false;
    return n.lhs_contracting.data[0] == (int64_t)batch + 1 && n.rhs_contracting.data[0] == (int64_t)batch;
}

// dot(transpose(a), transpose(b)) -> transpose(dot(b, a)), or transpose(dot(a, b)) when only batches move.
static HloInstruction *dot_transposes(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *left = hlo_operand(inst, 0), *right = hlo_operand(inst, 1);
    if (left->op != HLO_OP_TRANSPOSE || right->op != HLO_OP_TRANSPOSE || !is_canonical(inst)) return NULL;
    HloDims p = hlo_dims(left, HLO_ATTR_DIMENSIONS);
    if (!hlo_dims_equal(p, hlo_dims(right, HLO_ATTR_DIMENSIONS))) return NULL;
    size_t batch = p.count - 2;
    bool swaps = p.data[batch] == (int64_t)batch + 1 && p.data[batch + 1] == (int64_t)batch;
    bool keeps = p.data[batch] == (int64_t)batch && p.data[batch + 1] == (int64_t)batch + 1;
    if (!swaps && !keeps) return NULL;
    HloInstruction *a = hlo_operand(left, 0), *b = hlo_operand(right, 0);
    HloDotNumbers numbers = hlo_alg_dot_numbers(inst);
    const HloShape *shape = hlo_shape_permuted(&alg->m->shapes, inst->shape, hlo_alg_inverse(alg, p));
    HloInstruction *dot = swaps ? hlo_alg_dot(alg, inst, shape, b, a, &numbers, true)
                                : hlo_alg_dot(alg, inst, shape, a, b, &numbers, false);
    HloInstruction *result = hlo_alg_unary(alg, inst->shape, HLO_OP_TRANSPOSE, hlo_derive(alg->rw, dot, inst));
    if (result) hlo_set_dims(alg->m, result, HLO_ATTR_DIMENSIONS, p);
    return result;
}

static const HloAlgRule rules[] = {
    {HLO_OP_DOT, "dot-is-left-alone", dot_is_left_alone, HLO_ALG_STOP},
    {HLO_OP_DOT, "dot-empty", dot_empty, HLO_ALG_PLAIN},
    {HLO_OP_DOT, "dot-multiply", dot_multiply, HLO_ALG_PLAIN},
    {HLO_OP_DOT, "dot-is-unreduced", dot_is_unreduced, HLO_ALG_STOP},
    {HLO_OP_DOT, "dot-reduce", dot_reduce, HLO_ALG_PLAIN},
    {HLO_OP_DOT, "dot-reorder", hlo_alg_dot_reorder, HLO_ALG_PLAIN},
    {HLO_OP_DOT, "dot-concat", hlo_alg_dot_concat, HLO_ALG_PLAIN},
    {HLO_OP_DOT, "dot-gather", hlo_alg_dot_gather, HLO_ALG_PLAIN},
    {HLO_OP_DOT, "dot-degenerate", dot_degenerate, HLO_ALG_PLAIN},
    {HLO_OP_DOT, "dot-transposes", dot_transposes, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_dot_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
