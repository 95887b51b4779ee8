// Random reductions, windows, sorts and maps.

#include <math.h>

#include "lib/gen/gen.h"

enum { INSIDE_ARRAYS = CONTEXT_FUSION | CONTEXT_SEQUENCE };

// What an operation leaves as it is. Reductions start from it: simplifiers leave it out where one element is reduced.
typedef enum Identity { ZERO, ONE, ALL_BITS, LOWEST, HIGHEST } Identity;

// An operation that reduces.
typedef struct Reducer {
    HloOpcode op;
    unsigned classes;
    Identity identity;
    bool grows;  // results are larger than operands
} Reducer;

enum {
    PRED = 1 << HLO_CLASS_PRED,
    SIGNED = 1 << HLO_CLASS_SIGNED,
    INT = SIGNED | 1 << HLO_CLASS_UNSIGNED,
    FLOAT = 1 << HLO_CLASS_FLOAT,
    COMPLEX = 1 << HLO_CLASS_COMPLEX,
};

static const Reducer reducers[] = {
    {HLO_OP_ADD, INT | FLOAT | COMPLEX, ZERO, true},
    {HLO_OP_ADD, INT | FLOAT, ZERO, true},
    {HLO_OP_MULTIPLY, INT, ONE, true},
    {HLO_OP_MAXIMUM, PRED | INT | FLOAT, LOWEST, false},
    {HLO_OP_MINIMUM, PRED | INT | FLOAT, HIGHEST, false},
    {HLO_OP_AND, PRED | INT, ALL_BITS, false},
    {HLO_OP_OR, PRED | INT, ZERO, false},
    {HLO_OP_XOR, PRED | INT, ZERO, false},
};

// Sums in types of 8 bits stall after a few steps, or do not, depending on where they are rounded.
static bool may_sum(const Value *x) {
    return !is_floating(x) || hlo_type_bits(x->inst->shape->type) > 8;
}

static const Reducer *draw_reducer(Gen *g, const Value *x) {
    for (int k = 0; k < DRAWS; k++) {
        const Reducer *row = &reducers[below(g, HLO_COUNT(reducers))];
        if (!(row->classes >> class_of(x) & 1)) continue;
        if (row->grows && !may_sum(x)) continue;
        // At most 2^8 elements of 2^mag are added.
        if (row->grows && is_floating(x) && x->mag + 8 > hlo_gen_most(x->inst->shape->type)) continue;
        return row;
    }
    return NULL;
}

static const HloShape *scalar_of(Gen *g, const Value *x) {
    return hlo_shape_scalar(&g->m->shapes, x->inst->shape->type);
}

static uint64_t extreme_bits(HloType type, bool highest) {
    uint64_t sign = UINT64_C(1) << (hlo_type_bits(type) - 1);
    switch (hlo_type_class(type)) {
    case HLO_CLASS_PRED: return highest;
    case HLO_CLASS_SIGNED: return highest ? sign - 1 : sign;
    case HLO_CLASS_UNSIGNED: return highest ? sign | (sign - 1) : 0;
    default: return hlo_float_encode(type, highest ? INFINITY : -INFINITY);
    }
}

static HloInstruction *identity(Gen *g, Identity identity, HloType type) {
    HloLiteral *literal = NULL;
    if (hlo_is_ok(g->rw.failure)) {
        g->rw.failure = hlo_literal_new(&g->m->arena, hlo_shape_scalar(&g->m->shapes, type), &literal);
    }
    if (!literal) return NULL;
    switch (identity) {
    case ZERO: break;
    case ONE: hlo_literal_set_int(literal, 0, 1); break;
    case ALL_BITS: hlo_literal_set_int(literal, 0, type == HLO_PRED ? 1 : -1); break;
    case LOWEST:
    case HIGHEST: hlo_literal_set_bits(literal, 0, extreme_bits(type, identity == HIGHEST)); break;
    }
    return hlo_build_constant(&g->rw, literal);
}

static void put_reduced(Gen *g, HloInstruction *inst, const Reducer *row, const Value *x) {
    int mag = x->mag < 2 ? 2 : x->mag;
    hlo_gen_put(g, inst, row->grows ? mag + 8 : mag, is_floating(x) && (x->rough || row->grows), false);
}

static void reduce(Gen *g) {
    Value x;
    if (!hlo_gen_pick_tame(g, &x) || x.inst->shape->rank == 0) return;
    const Reducer *row = draw_reducer(g, &x);
    if (!row) return;
    size_t rank = x.inst->shape->rank, count = (size_t)between(g, one_in(g, 10) ? 0 : 1, (int64_t)rank);
    HloComputation *reducer = hlo_gen_reducer(g, row->op, x.inst->shape->type);
    HloInstruction *init = identity(g, row->identity, x.inst->shape->type);
    HloDims dims = {hlo_gen_order(g, rank), count};
    put_reduced(g, hlo_build_reduce(&g->rw, x.inst, init, dims, reducer), row, &x);
}

// Parameters (a0, b0, a1, b1) of a reducer of two arrays; sums the first and takes the maximum of the second.
static HloComputation *pair_reducer(Gen *g, HloType a, HloType b) {
    Frame frame = hlo_gen_enter(g, "pair", CONTEXT_SCALAR);
    const HloShape *as = hlo_shape_scalar(&g->m->shapes, a), *bs = hlo_shape_scalar(&g->m->shapes, b);
    HloInstruction *p[4];
    for (size_t k = 0; k < 4; k++) p[k] = hlo_gen_parameter(g, k, k % 2 ? bs : as, (Value){0}).inst;
    HloInstruction *const parts[] = {hlo_build_binary(&g->rw, HLO_OP_ADD, p[0], p[2]),
                                     hlo_build_binary(&g->rw, HLO_OP_MAXIMUM, p[1], p[3])};
    return hlo_gen_leave(g, frame, hlo_build_tuple(&g->rw, parts, 2));
}

static bool fits_dims(const Gen *g, const Value *v, const void *what) {
    (void)g;
    return hlo_shape_is_array(v->inst->shape) && hlo_shape_same_dims(v->inst->shape, what) && !v->wild &&
           class_of(v) != HLO_CLASS_COMPLEX;
}

static void reduce_pairs(Gen *g) {
    Value x, y;
    if (!hlo_gen_pick_ranked(g, &x) || class_of(&x) == HLO_CLASS_COMPLEX || class_of(&x) == HLO_CLASS_PRED) return;
    if (!hlo_gen_pick(g, fits_dims, x.inst->shape, &y)) y = x;
    Value both = hlo_gen_join(&x, &y);
    if (!may_sum(&x) || (is_floating(&x) && x.mag + 8 > hlo_gen_most(x.inst->shape->type))) return;
    if (is_floating(&x) && is_floating(&y) && x.inst->shape->type != y.inst->shape->type) return;  // one precision
    HloInstruction *const operands[] = {x.inst, y.inst, identity(g, ZERO, x.inst->shape->type),
                                        identity(g, LOWEST, y.inst->shape->type)};
    HloInstruction *inst = hlo_gen_new(g, HLO_OP_REDUCE, operands, 4);
    if (!inst) return;
    size_t rank = x.inst->shape->rank;
    hlo_set_dims(g->m, inst, HLO_ATTR_DIMENSIONS,
                 (HloDims){hlo_gen_order(g, rank), (size_t)between(g, 1, (int64_t)rank)});
    hlo_set_called(inst, 0, pair_reducer(g, x.inst->shape->type, y.inst->shape->type));
    hlo_gen_put(g, hlo_gen_add(g, inst), both.mag + 8, true, false);
}

// ---- windows --------------------------------------------------------------------------------------------

// Every window of the result has an element at least; `plain`: without dilation, as select-and-scatter wants it.
static bool draw_window(Gen *g, const HloShape *shape, bool plain, HloWindow *out) {
    HloWindowDim *dims = HLO_NEW_ARRAY(&g->m->arena, HloWindowDim, shape->rank);
    for (size_t d = 0; d < shape->rank; d++) {
        HloWindowDim dim = {between(g, 1, 3), between(g, 1, 2), 0, 0, 1, 1, false};
        if (one_in(g, 3)) dim.pad_low = between(g, 0, dim.size - 1);
        if (one_in(g, 3)) dim.pad_high = between(g, 0, dim.size - 1);
        if (!plain && one_in(g, 6)) dim.base_dilation = 2;
        if (!plain && one_in(g, 6)) dim.window_dilation = 2;
        int64_t base = (shape->dims[d] - 1) * dim.base_dilation + 1 + dim.pad_low + dim.pad_high;
        if ((dim.size - 1) * dim.window_dilation + 1 > base) return false;
        dims[d] = dim;
    }
    *out = (HloWindow){dims, shape->rank};
    return true;
}

static const HloWindow *store_window(Gen *g, HloWindow window) {
    return hlo_arena_copy(&g->m->arena, &window, sizeof window);
}

static void reduce_window(Gen *g) {
    Value x;
    HloWindow window;
    if (!hlo_gen_pick_ranked(g, &x) || !draw_window(g, x.inst->shape, false, &window)) return;
    const Reducer *row = draw_reducer(g, &x);
    if (!row) return;
    HloInstruction *const operands[] = {x.inst, identity(g, row->identity, x.inst->shape->type)};
    HloInstruction *inst = hlo_gen_new(g, HLO_OP_REDUCE_WINDOW, operands, 2);
    if (!inst) return;
    hlo_set_data(g->m, inst, HLO_ATTR_WINDOW, store_window(g, window));
    hlo_set_called(inst, 0, hlo_gen_reducer(g, row->op, x.inst->shape->type));
    put_reduced(g, hlo_gen_add(g, inst), row, &x);
}

static HloComputation *comparator(Gen *g, const Value *key, size_t operands, const Value *others, int64_t direction) {
    Frame frame = hlo_gen_enter(g, "compare", CONTEXT_SCALAR);
    HloInstruction *p[4];
    for (size_t k = 0; k < 2 * operands; k++) {
        const Value *v = k < 2 ? key : others;
        p[k] = hlo_gen_parameter(g, k, scalar_of(g, v), (Value){0}).inst;
    }
    return hlo_gen_leave(g, frame, hlo_build_compare(&g->rw, direction, p[0], p[1]));
}

static bool fits_key(const Gen *g, const Value *v, const void *what) {
    (void)g, (void)what;
    return hlo_shape_is_array(v->inst->shape) && v->inst->shape->rank > 0 && !hlo_shape_is_empty(v->inst->shape) &&
           is_exact(v) && !v->wild && class_of(v) != HLO_CLASS_COMPLEX;
}

static void select_and_scatter(Gen *g) {
    Value x;
    HloWindow window;
    int64_t dims[MOST_RANK];
    if (!hlo_gen_pick(g, fits_key, NULL, &x) || !draw_window(g, x.inst->shape, true, &window)) return;
    if (is_floating(&x) && x.mag + 4 > hlo_gen_most(x.inst->shape->type)) return;
    for (size_t d = 0; d < window.rank; d++) {
        const HloWindowDim *dim = &window.dims[d];
        dims[d] = (x.inst->shape->dims[d] + dim->pad_low + dim->pad_high - dim->size) / dim->stride + 1;
    }
    Value like = {hlo_gen_splat(g, hlo_shape_of(&g->m->shapes, x.inst->shape->type, dims, window.rank), 1), 1, false,
                  false};
    if (!like.inst || class_of(&x) == HLO_CLASS_PRED) return;
    Value source = hlo_gen_partner(g, &like);
    HloInstruction *const operands[] = {x.inst, source.inst, hlo_gen_splat(g, scalar_of(g, &x), 0)};
    HloInstruction *inst = source.wild ? NULL : hlo_gen_new(g, HLO_OP_SELECT_AND_SCATTER, operands, 3);
    if (!inst || source.mag + 5 > hlo_gen_most(x.inst->shape->type) + 4) return;
    hlo_set_data(g->m, inst, HLO_ATTR_WINDOW, store_window(g, window));
    hlo_set_called(inst, 0, comparator(g, &x, 1, NULL, HLO_COMPARE_DIRECTION_GE));
    hlo_set_called(inst, 1, hlo_gen_reducer(g, HLO_OP_ADD, x.inst->shape->type));
    hlo_gen_put(g, hlo_gen_add(g, inst), source.mag + 4, is_floating(&x), false);
}

// ---- sorting --------------------------------------------------------------------------------------------

static void sort(Gen *g) {
    Value key, other;
    if (!hlo_gen_pick(g, fits_key, NULL, &key)) return;
    bool single = !hlo_gen_pick(g, fits_dims, key.inst->shape, &other) || one_in(g, 2);
    HloInstruction *const operands[] = {key.inst, single ? NULL : other.inst};
    HloInstruction *inst = hlo_gen_new(g, HLO_OP_SORT, operands, single ? 1 : 2);
    if (!inst) return;
    hlo_set_int(g->m, inst, HLO_ATTR_DIMENSION, below(g, (int64_t)key.inst->shape->rank));
    hlo_set_int(g->m, inst, HLO_ATTR_IS_STABLE, !single || one_in(g, 2));  // other orders of equal keys would show
    int64_t direction = one_in(g, 2) ? HLO_COMPARE_DIRECTION_LT : HLO_COMPARE_DIRECTION_GT;
    hlo_set_called(inst, 0, comparator(g, &key, single ? 1 : 2, &other, direction));
    Value both = single ? key : hlo_gen_join(&key, &other);
    hlo_gen_put_like(g, hlo_gen_add(g, inst), &both);
}

// ---- map ------------------------------------------------------------------------------------------------

static void map(Gen *g) {
    enum { BODY = 4 };
    Value x;
    if (g->depth >= MOST_DEPTH || !hlo_gen_pick_tame(g, &x)) return;
    Value y = hlo_gen_partner(g, &x);
    if (y.wild || !y.inst) return;
    Frame frame = hlo_gen_enter(g, "mapped", CONTEXT_SCALAR);
    hlo_gen_parameter(g, 0, scalar_of(g, &x), x);
    hlo_gen_parameter(g, 1, scalar_of(g, &y), y);
    hlo_gen_fill(g, (size_t)between(g, 1, BODY));
    Value result = g->pool.values[g->pool.count - 1];
    HloComputation *body = hlo_gen_leave(g, frame, result.inst);
    HloInstruction *const operands[] = {x.inst, y.inst};
    HloInstruction *inst = hlo_gen_new(g, HLO_OP_MAP, operands, 2);
    if (!inst) return;
    size_t rank = x.inst->shape->rank;
    int64_t dims[] = {0, 1, 2, 3};
    hlo_set_dims(g->m, inst, HLO_ATTR_DIMENSIONS, (HloDims){dims, rank});
    hlo_set_called(inst, 0, body);
    hlo_gen_put_like(g, hlo_gen_add(g, inst), &result);
}

MakerTable hlo_gen_reductions(void) {
    static const Maker makers[] = {
        {HLO_OP_REDUCE, "reduce", 10, CONTEXT_SEQUENCE, reduce},
        {HLO_OP_REDUCE, "reduce-pairs", 3, CONTEXT_SEQUENCE, reduce_pairs},
        {HLO_OP_REDUCE_WINDOW, "reduce-window", 5, CONTEXT_SEQUENCE, reduce_window},
        {HLO_OP_SELECT_AND_SCATTER, "select-and-scatter", 3, CONTEXT_SEQUENCE, select_and_scatter},
        {HLO_OP_SORT, "sort", 5, CONTEXT_SEQUENCE, sort},
        {HLO_OP_MAP, "map", 3, CONTEXT_SEQUENCE, map},
    };
    return (MakerTable){makers, HLO_COUNT(makers)};
}
