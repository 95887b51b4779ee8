// algsimp: reduce.

#include "algsimp.h"

#include <stdlib.h>

static HloDims reduced_dims(const HloInstruction *inst) {
    return hlo_dims(inst, HLO_ATTR_DIMENSIONS);
}

// Variadic reduces have n arrays, then n initial values, and give a tuple of n.
static size_t array_count(const HloInstruction *inst) {
    return hlo_operand_count(inst) / 2;
}

// `make(k)` for every array, in a tuple when the reduce is variadic.
static HloInstruction *for_each_result(HloAlg *alg, HloInstruction *inst,
                                       HloInstruction *(*make)(HloAlg *alg, HloInstruction *inst, size_t k,
                                                               const HloShape *shape)) {
    if (hlo_shape_is_array(inst->shape)) return make(alg, inst, 0, inst->shape);
    size_t count = array_count(inst);
    HloInstruction **results = HLO_NEW_ARRAY(alg->scratch, HloInstruction *, count);
    for (size_t k = 0; k < count; k++) {
        results[k] = hlo_derive(alg->rw, make(alg, inst, k, inst->shape->elements[k]), inst);
    }
    return hlo_build_tuple(alg->rw, results, count);
}

// ---- nothing to reduce ----------------------------------------------------------------------------------

static HloInstruction *broadcast_init(HloAlg *alg, HloInstruction *inst, size_t k, const HloShape *shape) {
    return hlo_build_broadcast(alg->rw, shape, hlo_operand(inst, array_count(inst) + k), (HloDims){NULL, 0});
}

static const HloShape *first_result(const HloInstruction *inst) {
    return hlo_shape_is_array(inst->shape) ? inst->shape : inst->shape->elements[0];
}

static HloInstruction *reduce_empty(HloAlg *alg, HloInstruction *inst) {
    if (!hlo_shape_is_empty(hlo_operand(inst, 0)->shape) && !hlo_shape_is_empty(first_result(inst))) return NULL;
    return for_each_result(alg, inst, broadcast_init);
}

static HloInstruction *reshape_operand(HloAlg *alg, HloInstruction *inst, size_t k, const HloShape *shape) {
    return hlo_build_reshape(alg->rw, shape, hlo_operand(inst, k));
}

// A reduce over dimensions of size 1 is a reshape. The initial value is left out: it has to be neutral, because a
// reduce may use it any number of times.
static HloInstruction *reduce_reshape(HloAlg *alg, HloInstruction *inst) {
    size_t count = array_count(inst);
    for (size_t k = 0; k < count; k++) {
        const HloShape *from = hlo_operand(inst, k)->shape;
        const HloShape *to = hlo_shape_is_array(inst->shape) ? inst->shape : inst->shape->elements[k];
        if (hlo_shape_elem_count(from) != hlo_shape_elem_count(to) || from->type != to->type) return NULL;
        if (alg->layout_sensitive && !hlo_alg_reshape_is_bitcast(alg, from, to)) return NULL;
    }
    return for_each_result(alg, inst, reshape_operand);
}

// A copy of a reducer with a tuple of one value for its root, without the tuple; NULL for other reducers.
static HloComputation *untupled(HloAlg *alg, const HloComputation *reducer) {
    if (reducer->root->op != HLO_OP_TUPLE || hlo_operand_count(reducer->root) != 1) return NULL;
    void **slot = hlo_map_at(alg->scratch, &alg->untupled, reducer);
    if (*slot) return *slot;
    const char *name = hlo_arena_printf(alg->scratch, "%s.clone", reducer->name);
    HloComputation *copy = hlo_computation_clone(alg->m, reducer, name, NULL, alg->scratch, NULL);
    HloInstruction *tuple = copy->root;
    hlo_computation_set_root(copy, hlo_operand(tuple, 0));
    hlo_computation_remove(copy, tuple);
    *slot = hlo_module_add(alg->m, copy);
    return *slot;
}

// A variadic reduce of one array -> tuple(reduce)
static HloInstruction *reduce_single(HloAlg *alg, HloInstruction *inst) {
    if (array_count(inst) != 1 || !hlo_shape_is_tuple(inst->shape)) return NULL;
    HloComputation *reducer = untupled(alg, hlo_called(inst, 0));
    if (!reducer) return NULL;
    HloInstruction *reduce =
        hlo_alg_binary(alg, inst->shape->elements[0], HLO_OP_REDUCE, hlo_operand(inst, 0), hlo_operand(inst, 1));
    if (!reduce) return NULL;
    hlo_set_dims(alg->m, reduce, HLO_ATTR_DIMENSIONS, reduced_dims(inst));
    hlo_set_called(reduce, 0, reducer);
    return hlo_build_tuple(alg->rw, (HloInstruction *[]){hlo_derive(alg->rw, reduce, inst)}, 1);
}

static HloInstruction *reduce_keeps_layout(HloAlg *alg, HloInstruction *inst) {
    return alg->layout_sensitive ? inst : NULL;
}

// ---- single array ---------------------------------------------------------------------------------------

// sum(-x) -> -sum(x) for floats. The sum is edited in place; the negation of x may stay behind without users.
static HloInstruction *reduce_negate(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *negate = hlo_operand(inst, 0);
    if (array_count(inst) != 1 || negate->op != HLO_OP_NEGATE || !hlo_type_is_float(inst->shape->type)) return NULL;
    if (!hlo_alg_is_single_value(hlo_operand(inst, 1), 0)) return NULL;
    if (!hlo_alg_is_reducer(hlo_called(inst, 0), HLO_OP_ADD)) return NULL;
    HloInstruction *x = hlo_operand(negate, 0);
    HloInstruction *result = hlo_derive(alg->rw, hlo_alg_unary(alg, inst->shape, HLO_OP_NEGATE, x), negate);
    if (!result) return NULL;
    hlo_alg_redirect(alg, inst, result, "reduce-negate");
    hlo_set_operand(inst, 0, x);
    hlo_set_operand(result, 0, inst);
    return inst;
}

static HloInstruction *reduce_is_variadic(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return array_count(inst) != 1 || !hlo_shape_is_array(inst->shape) ? inst : NULL;
}

// More users are not looked at, which keeps a sweep linear.
enum { MAX_USERS = 256 };

static bool all_users_reduce(const HloInstruction *x) {
    if (hlo_user_count(x) > MAX_USERS) return false;
    for (size_t k = 0; k < hlo_user_count(x); k++) {
        if (hlo_user(x, k)->op != HLO_OP_REDUCE) return false;
    }
    return true;
}

static int compare_ints(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// The dimensions of the result of a reduce over `dims`, in the order in which transpose `p` has them; identity when the
// reduce may go before the transpose as it is.
static HloDims order_after(HloAlg *alg, HloDims p, HloDims reduced) {
    int64_t *sources = hlo_alg_ints(alg, p.count), *order = hlo_alg_ints(alg, p.count);
    size_t count = 0;
    for (size_t d = 0; d < p.count; d++) {
        if (!hlo_dims_has(reduced, (int64_t)d)) sources[count++] = p.data[d];
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++) order[i] += sources[k] < sources[i];
    }
    return (HloDims){order, count};
}

// reduce(transpose(x)) -> transpose(reduce(x)), the transpose left out when nothing moves.
static HloInstruction *reduce_transpose(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *transpose = hlo_operand(inst, 0);
    if (transpose->op != HLO_OP_TRANSPOSE) return NULL;
    if (inst->shape->rank >= 2 && !hlo_alg_has_one_user(transpose) && !all_users_reduce(transpose)) return NULL;
    HloDims p = hlo_dims(transpose, HLO_ATTR_DIMENSIONS), dims = reduced_dims(inst);
    int64_t *mapped = hlo_alg_ints(alg, dims.count);
    for (size_t i = 0; i < dims.count; i++) mapped[i] = p.data[dims.data[i]];
    HloDims new_dims = {mapped, dims.count}, order = order_after(alg, p, dims);
    HloInstruction *x = hlo_operand(transpose, 0);
    if (hlo_alg_is_iota(order)) {
        HloInstruction *reduce = hlo_alg_binary(alg, inst->shape, HLO_OP_REDUCE, x, hlo_operand(inst, 1));
        if (!reduce) return NULL;
        hlo_set_dims(alg->m, reduce, HLO_ATTR_DIMENSIONS, new_dims);
        hlo_set_called(reduce, 0, hlo_called(inst, 0));
        return reduce;
    }
    HloInstruction *reduce = hlo_alg_reduce(alg, x, hlo_operand(inst, 1), new_dims, hlo_called(inst, 0));
    return hlo_build_transpose(alg->rw, hlo_derive(alg->rw, reduce, inst), order);
}

static bool is_same_reducer(const HloComputation *a, const HloComputation *b) {
    static const HloOpcode ops[] = {HLO_OP_ADD, HLO_OP_MULTIPLY, HLO_OP_AND, HLO_OP_OR};
    if (a == b || hlo_computation_equal(a, b, false)) return true;
    for (size_t i = 0; i < HLO_COUNT(ops); i++) {
        if (hlo_alg_is_reducer(a, ops[i]) && hlo_alg_is_reducer(b, ops[i])) return true;
    }
    return false;
}

static bool is_same_init(const HloInstruction *a, const HloInstruction *b) {
    return a == b ||
           (hlo_alg_is_constant(a) && hlo_alg_is_constant(b) && hlo_literal_equal(hlo_constant(a), hlo_constant(b)));
}

// The inner reduce's dimensions and the outer one's, as dimensions of the array both come from; rising.
static HloDims merged_dims(HloAlg *alg, const HloInstruction *inner, const HloInstruction *outer) {
    HloDims first = reduced_dims(inner), second = reduced_dims(outer);
    size_t rank = hlo_operand(inner, 0)->shape->rank, count = 0, left = 0;
    int64_t *dims = hlo_alg_ints(alg, first.count + second.count);
    for (size_t d = 0; d < rank; d++) {
        bool is_first = hlo_dims_has(first, (int64_t)d);
        if (is_first || hlo_dims_has(second, (int64_t)left)) dims[count++] = (int64_t)d;
        left += !is_first;
    }
    return (HloDims){dims, count};
}

// A reduce of x with the result, reducer and initial value of `inst`.
static HloInstruction *reduce_like(HloAlg *alg, HloInstruction *inst, HloInstruction *x, HloDims dims) {
    HloInstruction *reduce = hlo_alg_binary(alg, inst->shape, HLO_OP_REDUCE, x, hlo_operand(inst, 1));
    if (!reduce) return NULL;
    hlo_set_dims(alg->m, reduce, HLO_ATTR_DIMENSIONS, dims);
    hlo_set_called(reduce, 0, hlo_called(inst, 0));
    return reduce;
}

static HloInstruction *reduce_twice(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *inner = hlo_operand(inst, 0);
    if (inner->op != HLO_OP_REDUCE || array_count(inner) != 1) return NULL;
    if (!is_same_init(hlo_operand(inner, 1), hlo_operand(inst, 1))) return NULL;
    if (!is_same_reducer(hlo_called(inner, 0), hlo_called(inst, 0))) return NULL;
    return reduce_like(alg, inst, hlo_operand(inner, 0), merged_dims(alg, inner, inst));
}

// ---- reduce of reshape ----------------------------------------------------------------------------------

// The dimensions below `rank` that are not in `dims`.
static HloDims complement(HloAlg *alg, HloDims dims, size_t rank) {
    int64_t *rest = hlo_alg_ints(alg, rank);
    size_t count = 0;
    for (size_t d = 0; d < rank; d++) {
        if (!hlo_dims_has(dims, (int64_t)d)) rest[count++] = (int64_t)d;
    }
    return (HloDims){rest, count};
}

static HloInstruction *reshaped(const HloAlg *alg, const HloInstruction *inst) {
    HloInstruction *reshape = hlo_operand(inst, 0);
    return alg->reduce_of_reshape && reshape->op == HLO_OP_RESHAPE ? reshape : NULL;
}

// reduce(reshape(x)) -> reduce(x) when the reshape leaves the kept dimensions alone.
static HloInstruction *reduce_inside_reshape(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *reshape = reshaped(alg, inst);
    if (!reshape) return NULL;
    HloInstruction *x = hlo_operand(reshape, 0);
    HloDims kept = complement(alg, reduced_dims(inst), reshape->shape->rank), mapped;
    if (!hlo_alg_map_unmodified(alg, reshape->shape, x->shape, kept, &mapped)) return NULL;
    return reduce_like(alg, inst, x, complement(alg, mapped, x->shape->rank));
}

// reduce(reshape(x)) -> reshape(reduce(x)) when the reshape leaves the reduced dimensions alone.
static HloInstruction *reduce_before_reshape(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *reshape = reshaped(alg, inst);
    HloDims mapped;
    if (!reshape || !hlo_alg_has_one_user(reshape)) return NULL;
    HloInstruction *x = hlo_operand(reshape, 0);
    if (!hlo_alg_map_unmodified(alg, reshape->shape, x->shape, reduced_dims(inst), &mapped)) return NULL;
    int64_t *sorted = hlo_arena_copy(alg->scratch, mapped.data, mapped.count * sizeof *sorted);
    qsort(sorted, mapped.count, sizeof *sorted, compare_ints);
    HloInstruction *reduce =
        hlo_build_reduce(alg->rw, x, hlo_operand(inst, 1), (HloDims){sorted, mapped.count}, hlo_called(inst, 0));
    return hlo_build_reshape(alg->rw, inst->shape, hlo_derive(alg->rw, reduce, inst));
}

// ---- reduce of concatenate ------------------------------------------------------------------------------

static bool has_equal_parts(const HloInstruction *concat) {
    for (size_t k = 1; k < hlo_operand_count(concat); k++) {
        if (!hlo_shape_same_dims(hlo_operand(concat, 0)->shape, hlo_operand(concat, k)->shape)) return false;
    }
    return true;
}

static HloInstruction *map_reducer(HloAlg *alg, HloInstruction *inst, HloInstruction *a, HloInstruction *b) {
    HloInstruction *map = hlo_alg_binary(alg, inst->shape, HLO_OP_MAP, a, b);
    if (!map) return NULL;
    hlo_set_dims(alg->m, map, HLO_ATTR_DIMENSIONS, hlo_alg_iota_dims(alg, inst->shape->rank));
    hlo_set_called(map, 0, hlo_called(inst, 0));
    return hlo_derive(alg->rw, map, inst);
}

// reduce(concatenate(a, b, …)) -> map(map(reduce(a), reduce(b)), …) along the concatenated dimension.
static HloInstruction *reduce_concat(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *concat = hlo_operand(inst, 0);
    if (concat->op != HLO_OP_CONCATENATE || !hlo_dims_has(reduced_dims(inst), hlo_int(concat, HLO_ATTR_DIMENSION)))
        return NULL;
    if (!alg->reduce_of_concat && !has_equal_parts(concat) && inst->shape->rank != 0) return NULL;
    HloInstruction *result = NULL;
    for (size_t k = 0; k < hlo_operand_count(concat); k++) {
        HloInstruction *part = reduce_like(alg, inst, hlo_operand(concat, k), reduced_dims(inst));
        part = hlo_derive(alg->rw, part, inst);
        result = result ? map_reducer(alg, inst, result, part) : part;
    }
    return result;
}

// ---- reduce of dot --------------------------------------------------------------------------------------

// `list` split by whether the position is in `reduced`: kept ones in order, and moved ones behind `contracting`.
typedef struct SplitBatch {
    HloDims kept, contracting;
} SplitBatch;

static SplitBatch split_batch(HloAlg *alg, HloDims batch, HloDims contracting, HloDims reduced) {
    int64_t *kept = hlo_alg_ints(alg, batch.count), *moved = hlo_alg_ints(alg, batch.count + contracting.count);
    size_t kept_count = 0, moved_count = 0;
    for (size_t i = 0; i < contracting.count; i++) moved[moved_count++] = contracting.data[i];
    for (size_t i = 0; i < batch.count; i++) {
        if (hlo_dims_has(reduced, (int64_t)i))
            moved[moved_count++] = batch.data[i];
        else
            kept[kept_count++] = batch.data[i];
    }
    return (SplitBatch){{kept, kept_count}, {moved, moved_count}};
}

// The dimensions in `dims` from `first` on, counted without the `gone` ones below it.
static HloDims dims_from(HloAlg *alg, HloDims dims, size_t first, size_t gone) {
    int64_t *result = hlo_alg_ints(alg, dims.count);
    size_t count = 0;
    for (size_t i = 0; i < dims.count; i++) {
        if ((size_t)dims.data[i] >= first) result[count++] = dims.data[i] - (int64_t)gone;
    }
    return (HloDims){result, count};
}

static HloDims dims_below(HloAlg *alg, HloDims dims, size_t end) {
    int64_t *result = hlo_alg_ints(alg, dims.count);
    size_t count = 0;
    for (size_t i = 0; i < dims.count; i++) {
        if ((size_t)dims.data[i] < end) result[count++] = dims.data[i];
    }
    return (HloDims){result, count};
}

static bool is_sum_of_dot(const HloAlg *alg, const HloInstruction *inst) {
    const HloInstruction *dot = hlo_operand(inst, 0);
    return alg->non_canonical_dots && alg->dot_strength_reduction && dot->op == HLO_OP_DOT &&
           hlo_operand_count(dot) == 2 && hlo_alg_has_one_user(dot) && hlo_alg_is_all(hlo_operand(inst, 1), 0) &&
           hlo_alg_is_reducer(hlo_called(inst, 0), HLO_OP_ADD);
}

// sum(dot) over batch dimensions -> a dot that contracts them too, and the sum over the rest.
static HloInstruction *reduce_batch_dot(HloAlg *alg, HloInstruction *inst) {
    if (!is_sum_of_dot(alg, inst)) return NULL;
    HloInstruction *dot = hlo_operand(inst, 0);
    HloDotNumbers n = hlo_alg_dot_numbers(dot);
    size_t batch = n.lhs_batch.count;
    HloDims gone = dims_below(alg, reduced_dims(inst), batch);
    if (gone.count == 0) return NULL;
    SplitBatch lhs = split_batch(alg, n.lhs_batch, n.lhs_contracting, gone);
    SplitBatch rhs = split_batch(alg, n.rhs_batch, n.rhs_contracting, gone);
    HloDotNumbers numbers = {lhs.kept, rhs.kept, lhs.contracting, rhs.contracting};
    const HloShape *shape = hlo_shape_with_default_layout(&alg->m->shapes, hlo_alg_without_dims(alg, dot->shape, gone));
    HloInstruction *new_dot = hlo_alg_dot(alg, dot, shape, hlo_operand(dot, 0), hlo_operand(dot, 1), &numbers, false);
    HloDims rest = dims_from(alg, reduced_dims(inst), batch, gone.count);
    if (!hlo_derive(alg->rw, new_dot, dot) || rest.count == 0) return new_dot;
    return hlo_alg_reduce(alg, new_dot, hlo_operand(inst, 1), rest, hlo_alg_reducer(alg, new_dot, HLO_OP_ADD));
}

// ---- reduce of broadcast --------------------------------------------------------------------------------

static bool is_idempotent(const HloComputation *reducer, HloOpcode *op) {
    static const HloOpcode ops[] = {HLO_OP_MAXIMUM, HLO_OP_MINIMUM, HLO_OP_AND, HLO_OP_OR};
    for (size_t i = 0; i < HLO_COUNT(ops); i++) {
        if (!hlo_alg_is_reducer(reducer, ops[i])) continue;
        *op = ops[i];
        return true;
    }
    return false;
}

// max of one value many times is max(value, init), and so for min, and, or.
static HloInstruction *reduce_broadcast_scalar(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *scalar = hlo_alg_splat_operand(hlo_operand(inst, 0));
    HloOpcode op;
    if (!scalar || inst->shape->rank != 0 || !is_idempotent(hlo_called(inst, 0), &op)) return NULL;
    return hlo_alg_binary(alg, inst->shape, op, scalar, hlo_operand(inst, 1));
}

// reduce(broadcast(x)) -> broadcast(reduce(x)) when x has every reduced dimension.
static HloInstruction *reduce_inside_broadcast(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *broadcast = hlo_operand(inst, 0);
    if (broadcast->op != HLO_OP_BROADCAST) return NULL;
    HloDims dims = hlo_dims(broadcast, HLO_ATTR_DIMENSIONS), reduced = reduced_dims(inst);
    int64_t *inner = hlo_alg_ints(alg, reduced.count), *outer = hlo_alg_ints(alg, dims.count);
    for (size_t i = 0; i < reduced.count; i++) {
        inner[i] = hlo_dims_find(dims, reduced.data[i]);
        if (inner[i] < 0) return NULL;
    }
    size_t count = 0;
    for (size_t d = 0; d < dims.count; d++) {
        if (hlo_dims_has(reduced, dims.data[d])) continue;
        int64_t below = 0;
        for (size_t i = 0; i < reduced.count; i++) below += reduced.data[i] < dims.data[d];
        outer[count++] = dims.data[d] - below;
    }
    HloInstruction *x = hlo_operand(broadcast, 0);
    HloInstruction *reduce =
        hlo_alg_reduce(alg, x, hlo_operand(inst, 1), (HloDims){inner, reduced.count}, hlo_called(inst, 0));
    return hlo_build_broadcast(alg->rw, inst->shape, reduce, (HloDims){outer, count});
}

// The number of times that the broadcast repeats its operand along the reduced dimensions; 0 when the operand has one
// of them, or when the count does not fit.
static int64_t repetitions(const HloInstruction *inst) {
    const HloInstruction *broadcast = hlo_operand(inst, 0);
    HloDims dims = hlo_dims(broadcast, HLO_ATTR_DIMENSIONS), reduced = reduced_dims(inst);
    int64_t count = 1;
    for (size_t i = 0; i < reduced.count; i++) {
        if (hlo_dims_has(dims, reduced.data[i])) return 0;
        count *= broadcast->shape->dims[reduced.data[i]];
    }
    return count;
}

// sum(broadcast(x)) -> broadcast(init + x · count) when the broadcast made every reduced dimension.
static HloInstruction *reduce_repeated(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *broadcast = hlo_operand(inst, 0);
    if (broadcast->op != HLO_OP_BROADCAST || !hlo_alg_is_reducer(hlo_called(inst, 0), HLO_OP_ADD)) return NULL;
    HloDims dims = hlo_dims(broadcast, HLO_ATTR_DIMENSIONS), reduced = reduced_dims(inst);
    int64_t count = repetitions(inst);
    if (count == 0 || !hlo_alg_is_sorted(dims)) return NULL;
    int64_t *outer = hlo_alg_ints(alg, dims.count);
    for (size_t d = 0; d < dims.count; d++) {
        outer[d] = dims.data[d];
        for (size_t i = 0; i < reduced.count; i++) outer[d] -= reduced.data[i] < dims.data[d];
    }
    HloInstruction *x = hlo_operand(broadcast, 0);
    HloInstruction *factor = hlo_alg_like(alg, x, (double)count);
    HloInstruction *product = hlo_build_binary(alg->rw, HLO_OP_MULTIPLY, x, factor);
    HloInstruction *init = hlo_build_broadcast(alg->rw, x->shape, hlo_operand(inst, 1), (HloDims){NULL, 0});
    HloInstruction *sum = hlo_build_binary(alg->rw, HLO_OP_ADD, init, product);
    return hlo_build_broadcast(alg->rw, inst->shape, sum, (HloDims){outer, dims.count});
}

static const HloAlgRule rules[] = {
    {HLO_OP_REDUCE, "reduce-empty", reduce_empty, HLO_ALG_PLAIN},
    {HLO_OP_REDUCE, "reduce-single", reduce_single, HLO_ALG_PLAIN},
    {HLO_OP_REDUCE, "reduce-reshape", reduce_reshape, HLO_ALG_PLAIN},
    {HLO_OP_REDUCE, "reduce-keeps-layout", reduce_keeps_layout, HLO_ALG_STOP},
    {HLO_OP_REDUCE, "reduce-negate", reduce_negate, HLO_ALG_IN_PLACE},
    {HLO_OP_REDUCE, "reduce-is-variadic", reduce_is_variadic, HLO_ALG_STOP},
    {HLO_OP_REDUCE, "reduce-transpose", reduce_transpose, HLO_ALG_PLAIN},
    {HLO_OP_REDUCE, "reduce-twice", reduce_twice, HLO_ALG_PLAIN},
    {HLO_OP_REDUCE, "reduce-inside-reshape", reduce_inside_reshape, HLO_ALG_PLAIN},
    {HLO_OP_REDUCE, "reduce-before-reshape", reduce_before_reshape, HLO_ALG_PLAIN},
    {HLO_OP_REDUCE, "reduce-concat", reduce_concat, HLO_ALG_PLAIN},
    {HLO_OP_REDUCE, "reduce-batch-dot", reduce_batch_dot, HLO_ALG_PLAIN},
    {HLO_OP_REDUCE, "reduce-argmax", hlo_alg_reduce_argmax, HLO_ALG_PLAIN},
    {HLO_OP_REDUCE, "reduce-broadcast-scalar", reduce_broadcast_scalar, HLO_ALG_PLAIN},
    {HLO_OP_REDUCE, "reduce-inside-broadcast", reduce_inside_broadcast, HLO_ALG_PLAIN},
    {HLO_OP_REDUCE, "reduce-repeated", reduce_repeated, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_reduce_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
