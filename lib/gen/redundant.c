// What simplifiers are there for: operations that undo each other, change nothing, or stand twice.

#include "lib/gen/gen.h"

enum { EVERYWHERE = CONTEXT_FUSION | CONTEXT_SCALAR | CONTEXT_SEQUENCE, ARRAYS = CONTEXT_FUSION | CONTEXT_SEQUENCE };

// ---- neutral operands -----------------------------------------------------------------------------------

typedef struct Neutral {
    HloOpcode op;
    double value;
    bool is_right;  // neutral on the right side only
    bool keeps;     // gives the other operand; else something constant
} Neutral;

static const Neutral neutrals[] = {
    {HLO_OP_ADD, 0, false, true},       {HLO_OP_SUBTRACT, 0, true, true}, {HLO_OP_MULTIPLY, 1, false, true},
    {HLO_OP_MULTIPLY, 0, false, false}, {HLO_OP_DIVIDE, 1, true, true},   {HLO_OP_MULTIPLY, -1, false, true},
    {HLO_OP_DIVIDE, 2, true, true},
};

static void neutral(Gen *g) {
    Value x;
    const Neutral *row = &neutrals[below(g, HLO_COUNT(neutrals))];
    if (!may_make(g, row->op) || !hlo_gen_pick_tame(g, &x) || class_of(&x) == HLO_CLASS_PRED) return;
    HloInstruction *k = hlo_gen_splat(g, x.inst->shape, row->value);
    bool swap = !row->is_right && one_in(g, 2);
    HloInstruction *inst = hlo_build_binary(&g->rw, row->op, swap ? k : x.inst, swap ? x.inst : k);
    hlo_gen_put(g, inst, x.mag, is_floating(&x) && (x.rough || row->value != (double)(int)row->keeps), false);
}

// x op x
static void same_operands(Gen *g) {
    static const HloOpcode ops[] = {HLO_OP_SUBTRACT, HLO_OP_MAXIMUM, HLO_OP_MINIMUM, HLO_OP_AND,
                                    HLO_OP_OR,       HLO_OP_XOR,     HLO_OP_COMPARE};
    Value x;
    HloOpcode op = ops[below(g, HLO_COUNT(ops))];
    if (!may_make(g, op) || !hlo_gen_pick_array(g, &x)) return;
    bool whole = class_of(&x) <= HLO_CLASS_UNSIGNED;
    if (class_of(&x) == HLO_CLASS_COMPLEX || (op == HLO_OP_SUBTRACT && class_of(&x) == HLO_CLASS_PRED)) return;
    if (!whole && (op == HLO_OP_AND || op == HLO_OP_OR || op == HLO_OP_XOR)) return;
    if (op == HLO_OP_COMPARE) {
        int64_t direction = between(g, HLO_COMPARE_DIRECTION_EQ, HLO_COMPARE_DIRECTION_LT);
        hlo_gen_put(g, hlo_build_compare(&g->rw, direction, x.inst, x.inst), 1, false, false);
        return;
    }
    hlo_gen_put_like(g, hlo_build_binary(&g->rw, op, x.inst, x.inst), &x);
}

// ---- pairs ----------------------------------------------------------------------------------------------

static void unary_twice(Gen *g) {
    static const HloOpcode ops[] = {HLO_OP_NEGATE, HLO_OP_NOT, HLO_OP_ABS, HLO_OP_COPY};
    Value x;
    HloOpcode op = ops[below(g, HLO_COUNT(ops))];
    if (!may_make(g, op) || !hlo_gen_pick_array(g, &x)) return;
    HloTypeClass class = class_of(&x);
    if (class == HLO_CLASS_COMPLEX || (op == HLO_OP_NOT && class == HLO_CLASS_FLOAT)) return;
    if ((op == HLO_OP_NEGATE && class == HLO_CLASS_PRED) ||
        (op == HLO_OP_ABS && class != HLO_CLASS_FLOAT && class != HLO_CLASS_SIGNED))
        return;
    hlo_gen_put_like(g, hlo_build_unary(&g->rw, op, hlo_build_unary(&g->rw, op, x.inst)), &x);
}

static HloInstruction *put_transpose(Gen *g, HloInstruction *x, const int64_t *order, const Value *like) {
    HloInstruction *inst = x ? hlo_build_transpose(&g->rw, x, (HloDims){order, x->shape->rank}) : NULL;
    hlo_gen_put_like(g, inst, like);
    return inst;
}

static void transpose_twice(Gen *g) {
    Value x;
    if (!hlo_gen_pick_array(g, &x) || x.inst->shape->rank < 2) return;
    int64_t *order = hlo_gen_order(g, x.inst->shape->rank), back[MOST_RANK];
    for (size_t d = 0; d < x.inst->shape->rank; d++) back[order[d]] = (int64_t)d;
    HloInstruction *first = put_transpose(g, x.inst, order, &x);
    put_transpose(g, first, one_in(g, 2) ? back : order, &x);
}

static void reshape_twice(Gen *g) {
    Value x;
    if (!hlo_gen_pick_array(g, &x)) return;
    int64_t count = hlo_shape_elem_count(x.inst->shape);
    HloInstruction *flat =
        hlo_build_reshape(&g->rw, hlo_shape_of(&g->m->shapes, x.inst->shape->type, &count, 1), x.inst);
    hlo_gen_put_like(g, flat, &x);
    hlo_gen_put_like(g, hlo_build_reshape(&g->rw, x.inst->shape, flat), &x);
}

static void reverse_twice(Gen *g) {
    Value x;
    if (!hlo_gen_pick_array(g, &x) || x.inst->shape->rank == 0) return;
    int64_t dimension = below(g, (int64_t)x.inst->shape->rank);
    HloInstruction *inst = x.inst;
    for (int k = 0; k < 2; k++) {
        HloInstruction *next = hlo_gen_new(g, HLO_OP_REVERSE, &inst, 1);
        if (next) hlo_set_dims(g->m, next, HLO_ATTR_DIMENSIONS, (HloDims){&dimension, 1});
        inst = hlo_gen_add(g, next);
    }
    hlo_gen_put_like(g, inst, &x);
}

// To a type with fewer or more bits, and back.
static void convert_twice(Gen *g) {
    Value x;
    HloType via = hlo_gen_type(g);
    if (!hlo_gen_pick_tame(g, &x)) return;
    bool from_float = class_of(&x) == HLO_CLASS_FLOAT, to_float = hlo_type_class(via) == HLO_CLASS_FLOAT;
    if (class_of(&x) == HLO_CLASS_COMPLEX || hlo_type_is_complex(via)) return;
    if (from_float != to_float || (to_float && x.mag > hlo_gen_most(via))) return;
    HloInstruction *there = hlo_build_convert(&g->rw, x.inst, via);
    hlo_gen_put(g, hlo_build_convert(&g->rw, there, x.inst->shape->type), x.mag, from_float, false);
}

// ---- slices of what was put together --------------------------------------------------------------------

static void slice_of_concatenate(Gen *g) {
    Value x;
    HloSliceDim dims[MOST_RANK];
    if (!hlo_gen_pick_array(g, &x) || x.inst->shape->rank == 0) return;
    const HloShape *shape = x.inst->shape;
    if (hlo_shape_elem_count(shape) * 2 > MOST_ELEMENTS) return;
    Value y = hlo_gen_partner(g, &x), both = hlo_gen_join(&x, &y);
    size_t along = (size_t)below(g, (int64_t)shape->rank);
    HloInstruction *whole = hlo_build_concatenate(&g->rw, (HloInstruction *const[]){x.inst, y.inst}, 2, (int64_t)along);
    if (!whole) return;
    for (size_t d = 0; d < shape->rank; d++) dims[d] = (HloSliceDim){0, whole->shape->dims[d], 1};
    int64_t size = shape->dims[along], start = between(g, 0, size);
    dims[along] = (HloSliceDim){start, between(g, start, 2 * size), one_in(g, 4) ? 2 : 1};
    hlo_gen_put_like(g, hlo_build_slice(&g->rw, whole, dims), &both);
}

static void slice_of_pad(Gen *g) {
    Value x;
    HloSliceDim dims[MOST_RANK];
    HloPaddingDim padding[MOST_RANK];
    if (!hlo_gen_pick_array(g, &x) || x.inst->shape->rank == 0) return;
    const HloShape *shape = x.inst->shape;
    if (hlo_shape_elem_count(shape) * 9 > MOST_ELEMENTS) return;
    for (size_t d = 0; d < shape->rank; d++) padding[d] = (HloPaddingDim){d < 2, d < 2, 0};
    HloInstruction *whole =
        hlo_build_pad(&g->rw, x.inst, hlo_gen_splat(g, hlo_shape_scalar(&g->m->shapes, shape->type), 0), padding);
    if (!whole) return;
    for (size_t d = 0; d < shape->rank; d++) {
        int64_t size = whole->shape->dims[d], start = one_in(g, 2) ? padding[d].low : between(g, 0, size);
        dims[d] = (HloSliceDim){start, between(g, start, size), 1};
    }
    hlo_gen_put_like(g, hlo_build_slice(&g->rw, whole, dims), &x);
}

// ---- tuples, copies, order ------------------------------------------------------------------------------

static void tuple_element(Gen *g) {
    Value x, y;
    if (!hlo_gen_pick_array(g, &x) || !hlo_gen_pick_array(g, &y)) return;
    HloInstruction *inner = hlo_build_tuple(&g->rw, (HloInstruction *const[]){y.inst, x.inst}, 2);
    if (one_in(g, 2)) {
        hlo_gen_put_like(g, hlo_build_gte(&g->rw, inner, 1), &x);
        return;
    }
    HloInstruction *outer = hlo_build_tuple(&g->rw, (HloInstruction *const[]){x.inst, inner}, 2);
    hlo_gen_put_like(g, hlo_build_gte(&g->rw, hlo_build_gte(&g->rw, outer, 1), 1), &x);
}

// The same operation once more, or with its operands exchanged.
static void duplicate(Gen *g) {
    Value x;
    HloInstruction *operands[MOST_RANK];
    if (!hlo_gen_pick_array(g, &x) || x.inst->op == HLO_OP_PARAMETER || x.inst->called.count) return;
    size_t count = hlo_operand_count(x.inst);
    if (count > MOST_RANK) return;
    for (size_t k = 0; k < count; k++) operands[k] = hlo_operand(x.inst, k);
    if (hlo_op_has(x.inst->op, HLO_OPF_COMMUTATIVE) && one_in(g, 2)) {
        operands[0] = hlo_operand(x.inst, 1);
        operands[1] = hlo_operand(x.inst, 0);
    }
    hlo_gen_put_like(g, hlo_build_clone(&g->rw, x.inst, NULL, operands, count), &x);
}

static void select_same(Gen *g) {
    Value x;
    if (!hlo_gen_pick_array(g, &x)) return;
    Value p = hlo_gen_constant(g, hlo_shape_with_type(&g->m->shapes, x.inst->shape, HLO_PRED));
    hlo_gen_put_like(g, hlo_build_select(&g->rw, p.inst, x.inst, x.inst), &x);
}

static void barrier(Gen *g) {
    Value x;
    if (!hlo_gen_pick_array(g, &x)) return;
    hlo_gen_put_like(g, hlo_build(&g->rw, HLO_OP_OPT_BARRIER, x.inst->shape, &x.inst, 1), &x);
}

static void dependency(Gen *g) {
    Value x;
    if (!hlo_gen_pick_array(g, &x)) return;
    HloInstruction *token = hlo_build(&g->rw, HLO_OP_AFTER_ALL, hlo_shape_token(&g->m->shapes), NULL, 0);
    HloInstruction *const operands[] = {x.inst, token};
    hlo_gen_put_like(g, hlo_gen_add(g, hlo_gen_new(g, HLO_OP_ADD_DEPENDENCY, operands, 2)), &x);
}

MakerTable hlo_gen_redundant(void) {
    static const Maker makers[] = {
        {HLO_OP_COUNT, "neutral", 10, EVERYWHERE, neutral},
        {HLO_OP_COUNT, "same-operands", 5, EVERYWHERE, same_operands},
        {HLO_OP_COUNT, "unary-twice", 4, EVERYWHERE, unary_twice},
        {HLO_OP_TRANSPOSE, "transpose-twice", 4, ARRAYS, transpose_twice},
        {HLO_OP_RESHAPE, "reshape-twice", 4, ARRAYS, reshape_twice},
        {HLO_OP_REVERSE, "reverse-twice", 2, ARRAYS, reverse_twice},
        {HLO_OP_CONVERT, "convert-twice", 5, EVERYWHERE, convert_twice},
        {HLO_OP_SLICE, "slice-of-concatenate", 4, ARRAYS, slice_of_concatenate},
        {HLO_OP_SLICE, "slice-of-pad", 4, ARRAYS, slice_of_pad},
        {HLO_OP_GET_TUPLE_ELEMENT, "tuple-element", 4, CONTEXT_SEQUENCE, tuple_element},
        {HLO_OP_COUNT, "duplicate", 6, ARRAYS, duplicate},
        {HLO_OP_SELECT, "select-same", 3, EVERYWHERE, select_same},
        {HLO_OP_OPT_BARRIER, "opt-barrier", 1, CONTEXT_SEQUENCE, barrier},
        {HLO_OP_ADD_DEPENDENCY, "add-dependency", 1, CONTEXT_SEQUENCE, dependency},
    };
    return (MakerTable){makers, HLO_COUNT(makers)};
}
