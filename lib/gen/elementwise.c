// Random elementwise operations, converts and selects.
//
// A row of the tables says on which types an operation is made, what its operands need, and how large its results get.

#include "lib/gen/gen.h"

enum {
    PRED = 1 << HLO_CLASS_PRED,
    SIGNED = 1 << HLO_CLASS_SIGNED,
    UNSIGNED = 1 << HLO_CLASS_UNSIGNED,
    FLOAT = 1 << HLO_CLASS_FLOAT,
    COMPLEX = 1 << HLO_CLASS_COMPLEX,
    INT = SIGNED | UNSIGNED,
    REAL = INT | FLOAT,
    NUMBER = INT | FLOAT | COMPLEX,
    ANY = PRED | NUMBER,
    EVERYWHERE = CONTEXT_FUSION | CONTEXT_SCALAR | CONTEXT_SEQUENCE,
    SMALL = 3,  // log2 of the largest argument of functions that grow fast
};

// What a floating operand must be.
typedef enum Domain {
    EXACT,     // the operation jumps: no rough values, whose small differences would grow
    FREE,      // anything tame
    LIMITED,   // within ±2^SMALL, by a tanh where it is not known
    UNIT,      // within ±1/2, by tanh(x) / 2
    POSITIVE,  // at least 1, by abs(x) + 1
} Domain;

typedef enum Size { SAME, ADDED, MULTIPLIED, ONE, GROWN } Size;

typedef struct Operation {
    HloOpcode op;
    unsigned classes;
    Domain domain;
    Size size;
} Operation;

static const Operation unaries[] = {
    {HLO_OP_ABS, SIGNED | FLOAT | COMPLEX, FREE, ADDED},
    {HLO_OP_NEGATE, NUMBER, FREE, SAME},
    {HLO_OP_SIGN, SIGNED | FLOAT, EXACT, ONE},
    {HLO_OP_NOT, PRED | INT, FREE, SAME},
    {HLO_OP_POPCNT, INT, FREE, SAME},
    {HLO_OP_CLZ, INT, FREE, SAME},
    {HLO_OP_CEIL, FLOAT, EXACT, ADDED},
    {HLO_OP_FLOOR, FLOAT, EXACT, ADDED},
    {HLO_OP_ROUND_AFZ, FLOAT, EXACT, ADDED},
    {HLO_OP_ROUND_EVEN, FLOAT, EXACT, ADDED},
    {HLO_OP_IS_FINITE, FLOAT, EXACT, ONE},
    {HLO_OP_COPY, ANY, FREE, SAME},
    {HLO_OP_COS, FLOAT, LIMITED, ONE},
    {HLO_OP_SIN, FLOAT, LIMITED, ONE},
    {HLO_OP_TAN, FLOAT, UNIT, ONE},
    {HLO_OP_TANH, FLOAT, FREE, ONE},
    {HLO_OP_LOGISTIC, FLOAT, FREE, ONE},
    {HLO_OP_EXP, FLOAT | COMPLEX, LIMITED, GROWN},
    {HLO_OP_EXPM1, FLOAT, LIMITED, GROWN},
    {HLO_OP_LOG, FLOAT, POSITIVE, SAME},
    {HLO_OP_LOG1P, FLOAT, POSITIVE, SAME},
    {HLO_OP_SQRT, FLOAT, POSITIVE, SAME},
    {HLO_OP_RSQRT, FLOAT, POSITIVE, ONE},
    {HLO_OP_CBRT, FLOAT, POSITIVE, SAME},
    {HLO_OP_ERF, FLOAT, FREE, ONE},
    {HLO_OP_COSH, FLOAT, LIMITED, GROWN},
    {HLO_OP_SINH, FLOAT, LIMITED, GROWN},
    {HLO_OP_ACOS, FLOAT, UNIT, ADDED},
    {HLO_OP_ASIN, FLOAT, UNIT, ADDED},
    {HLO_OP_ATANH, FLOAT, UNIT, ONE},
    {HLO_OP_ACOSH, FLOAT, POSITIVE, ADDED},
    {HLO_OP_ASINH, FLOAT, LIMITED, SAME},
    {HLO_OP_REAL, COMPLEX, FREE, SAME},
    {HLO_OP_IMAG, COMPLEX, FREE, SAME},
};

// The domain is that of the second operand.
static const Operation binaries[] = {
    {HLO_OP_ADD, ANY, FREE, ADDED},
    {HLO_OP_ADD, NUMBER, FREE, ADDED},
    {HLO_OP_SUBTRACT, NUMBER, FREE, ADDED},
    {HLO_OP_MULTIPLY, ANY, FREE, MULTIPLIED},
    {HLO_OP_MULTIPLY, NUMBER, FREE, MULTIPLIED},
    {HLO_OP_DIVIDE, REAL, POSITIVE, SAME},
    {HLO_OP_REMAINDER, INT, FREE, SAME},
    {HLO_OP_MAXIMUM, PRED | REAL, FREE, SAME},
    {HLO_OP_MINIMUM, PRED | REAL, FREE, SAME},
    {HLO_OP_AND, PRED | INT, FREE, SAME},
    {HLO_OP_OR, PRED | INT, FREE, SAME},
    {HLO_OP_XOR, PRED | INT, FREE, SAME},
    {HLO_OP_SHIFT_LEFT, INT, FREE, SAME},
    {HLO_OP_SHIFT_RIGHT_ARITHMETIC, INT, FREE, SAME},
    {HLO_OP_SHIFT_RIGHT_LOGICAL, INT, FREE, SAME},
    {HLO_OP_POWER, UNSIGNED, FREE, SAME},
    {HLO_OP_ATAN2, FLOAT, POSITIVE, ADDED},
};

// One of the operations of a table that are wanted and take the class; NULL when none of a few draws is.
static const Operation *draw(Gen *g, const Operation *rows, size_t count, HloTypeClass class) {
    for (int k = 0; k < DRAWS; k++) {
        const Operation *row = &rows[below(g, (int64_t)count)];
        if (may_make(g, row->op) && row->classes >> class & 1) return row;
    }
    return NULL;
}

static HloInstruction *scaled_tanh(Gen *g, HloInstruction *x, double scale) {
    return hlo_build_binary(&g->rw, HLO_OP_MULTIPLY, hlo_build_unary(&g->rw, HLO_OP_TANH, x),
                            x ? hlo_gen_splat(g, x->shape, scale) : NULL);
}

// Brings a floating value into a domain; false when it cannot be used. Integers are always fine.
static bool bring_into(Gen *g, Domain domain, Value *v) {
    if (!is_floating(v)) return true;
    if (v->wild) return domain == EXACT && !v->rough;
    bool is_small = v->mag <= SMALL;
    switch (domain) {
    case EXACT: return !v->rough;
    case FREE: return true;
    case LIMITED:
        if (!is_small) *v = (Value){scaled_tanh(g, v->inst, 4), 2, true, false};
        return true;
    case UNIT: *v = (Value){scaled_tanh(g, v->inst, 0.5), 0, true, false}; return true;
    case POSITIVE:
        if (class_of(v) == HLO_CLASS_COMPLEX || v->mag >= hlo_gen_most(v->inst->shape->type)) return false;
        v->inst = hlo_build_binary(&g->rw, HLO_OP_ADD, hlo_build_unary(&g->rw, HLO_OP_ABS, v->inst),
                                   hlo_gen_splat(g, v->inst->shape, 1));
        v->mag = v->mag < 0 ? 1 : v->mag + 1;
        v->rough = true;
        return true;
    }
    return false;
}

static int size_of(const Operation *row, const Value *a, const Value *b) {
    int larger = a->mag > b->mag ? a->mag : b->mag;
    switch (row->size) {
    case SAME: return larger;
    case ADDED: return larger + 1 < 1 ? 1 : larger + 1;
    case MULTIPLIED: return a->mag + b->mag;
    case ONE: return 1;
    case GROWN: return 12;  // e^8 < 2^12
    }
    return larger;
}

// Whether results up to 2^mag may be passed on. Integers wrap, which is fine.
static bool is_tame(const Value *v, int mag) {
    return !is_floating(v) || v->wild || mag <= hlo_gen_most(v->inst->shape->type);
}

// Operations that give one of their operands or a whole number do not round.
static bool rounds(HloOpcode op) {
    switch (op) {
    case HLO_OP_ABS:
    case HLO_OP_NEGATE:
    case HLO_OP_COPY:
    case HLO_OP_MAXIMUM:
    case HLO_OP_MINIMUM:
    case HLO_OP_REAL:
    case HLO_OP_IMAG:
    case HLO_OP_SIGN:
    case HLO_OP_CEIL:
    case HLO_OP_FLOOR:
    case HLO_OP_ROUND_AFZ:
    case HLO_OP_ROUND_EVEN:
    case HLO_OP_IS_FINITE: return false;
    default: return true;
    }
}

static void put_result(Gen *g, HloInstruction *inst, const Operation *row, const Value *a, const Value *b) {
    Value both = hlo_gen_join(a, b);
    bool rough = is_floating(a) && (both.rough || rounds(row->op) || class_of(a) == HLO_CLASS_COMPLEX);
    int mag = inst && !is_floating(a) ? hlo_type_bits(inst->shape->type) : size_of(row, a, b);
    hlo_gen_put(g, inst, mag, rough, both.wild);
}

static void unary(Gen *g) {
    Value x;
    if (!hlo_gen_pick_array(g, &x)) return;
    const Operation *row = draw(g, unaries, HLO_COUNT(unaries), class_of(&x));
    if (!row || !is_tame(&x, size_of(row, &x, &x)) || !bring_into(g, row->domain, &x)) return;
    put_result(g, hlo_build_unary(&g->rw, row->op, x.inst), row, &x, &x);
}

static void binary(Gen *g) {
    Value x;
    if (!hlo_gen_pick_array(g, &x)) return;
    const Operation *row = draw(g, binaries, HLO_COUNT(binaries), class_of(&x));
    if (!row) return;
    Value y = hlo_gen_partner(g, &x);
    if (!y.inst || (row->domain == POSITIVE && (x.wild || y.wild))) return;
    if (!is_tame(&x, size_of(row, &x, &y)) || !bring_into(g, row->domain, &y)) return;
    bool swap = row->domain == FREE && one_in(g, 2);
    put_result(g, hlo_build_binary(&g->rw, row->op, swap ? y.inst : x.inst, swap ? x.inst : y.inst), row, &x, &y);
}

// Powers of what is at least 1, with a small exponent.
static void power(Gen *g) {
    static const double exponents[] = {-1, 0, 0.5, 1, 2, 3};
    Value x;
    if (!hlo_gen_pick_class(g, FLOAT, &x) || x.wild || x.mag > 2 || !bring_into(g, POSITIVE, &x)) return;
    HloInstruction *y = hlo_gen_splat(g, x.inst->shape, exponents[below(g, HLO_COUNT(exponents))]);
    if (3 * x.mag > hlo_gen_most(x.inst->shape->type)) return;
    hlo_gen_put(g, hlo_build_binary(&g->rw, HLO_OP_POWER, x.inst, y), 3 * x.mag, true, false);
}

static void complex_of(Gen *g) {
    Value re;
    if (!hlo_gen_pick_class(g, FLOAT, &re) || re.wild) return;
    if (re.inst->shape->type != HLO_F32 && re.inst->shape->type != HLO_F64) return;
    Value im = hlo_gen_partner(g, &re), both = hlo_gen_join(&re, &im);
    if (im.wild) return;
    hlo_gen_put(g, hlo_build_binary(&g->rw, HLO_OP_COMPLEX, re.inst, im.inst), both.mag + 1, both.rough, false);
}

static bool fits_comparison(const Gen *g, const Value *v, const void *what) {
    (void)g, (void)what;
    return hlo_shape_is_array(v->inst->shape) && is_exact(v);
}

static void compare(Gen *g) {
    Value x;
    if (!hlo_gen_pick(g, fits_comparison, NULL, &x)) return;
    Value y = hlo_gen_partner(g, &x);
    if (y.rough || !y.inst) return;
    bool ordered = class_of(&x) != HLO_CLASS_COMPLEX;
    int64_t direction = ordered ? between(g, HLO_COMPARE_DIRECTION_EQ, HLO_COMPARE_DIRECTION_LT)
                                : between(g, HLO_COMPARE_DIRECTION_EQ, HLO_COMPARE_DIRECTION_NE);
    HloInstruction *inst = hlo_build_compare(&g->rw, direction, x.inst, y.inst);
    if (inst && class_of(&x) == HLO_CLASS_FLOAT && one_in(g, 8)) {
        hlo_set_int(g->m, inst, HLO_ATTR_COMPARE_TYPE, HLO_COMPARE_TYPE_TOTALORDER);
    }
    hlo_gen_put(g, inst, 1, false, false);
}

static bool fits_predicate(const Gen *g, const Value *v, const void *what) {
    (void)g;
    const HloShape *shape = v->inst->shape;
    return shape->type == HLO_PRED && (hlo_shape_is_scalar(shape) || hlo_shape_same_dims(shape, what));
}

static void select(Gen *g) {
    Value x, p;
    if (!hlo_gen_pick_array(g, &x)) return;
    if (!hlo_gen_pick(g, fits_predicate, x.inst->shape, &p)) {
        p = hlo_gen_constant(g, hlo_shape_with_type(&g->m->shapes, x.inst->shape, HLO_PRED));
    }
    Value y = hlo_gen_partner(g, &x), both = hlo_gen_join(&x, &y);
    hlo_gen_put_like(g, hlo_build_select(&g->rw, p.inst, x.inst, y.inst), &both);
}

static void clamp(Gen *g) {
    Value x;
    if (!hlo_gen_pick_class(g, REAL, &x)) return;
    const HloShape *bound = one_in(g, 2) ? hlo_shape_scalar(&g->m->shapes, x.inst->shape->type) : x.inst->shape;
    HloInstruction *low = hlo_gen_splat(g, bound, (double)between(g, 0, 2) - 1);
    HloInstruction *high = hlo_gen_splat(g, bound, (double)between(g, 2, 4));
    HloInstruction *const operands[] = {low, x.inst, high};
    HloInstruction *inst = hlo_gen_add(g, hlo_gen_new(g, HLO_OP_CLAMP, operands, 3));
    hlo_gen_put(g, inst, is_floating(&x) ? 2 : x.mag, x.rough, x.wild);
}

// ---- types ----------------------------------------------------------------------------------------------

static void convert(Gen *g) {
    Value x;
    HloType to = hlo_gen_type(g);
    if (!hlo_gen_pick_array(g, &x) || class_of(&x) == HLO_CLASS_COMPLEX) return;
    HloTypeClass class = hlo_type_class(to);
    bool to_float = class == HLO_CLASS_FLOAT || class == HLO_CLASS_COMPLEX;
    if (!to_float && is_floating(&x) && (x.rough || x.wild)) return;
    if (to_float && !x.wild && x.mag > hlo_gen_most(to)) return;
    bool rough = to_float && (x.rough || !is_floating(&x) || hlo_type_bits(to) < hlo_type_bits(x.inst->shape->type));
    hlo_gen_put(g, hlo_build_convert(&g->rw, x.inst, to), to_float ? x.mag : hlo_type_bits(to), rough,
                to_float && x.wild);
}

// Types of the same width.
static const HloType siblings[][3] = {
    {HLO_F32, HLO_S32, HLO_U32}, {HLO_BF16, HLO_S16, HLO_U16}, {HLO_F16, HLO_S16, HLO_U16},
    {HLO_F64, HLO_S64, HLO_U64}, {HLO_S8, HLO_U8, HLO_U8},
};

static void bitcast_convert(Gen *g) {
    Value x;
    const HloType *row = siblings[below(g, HLO_COUNT(siblings))];
    if (!hlo_gen_pick(g, fits_comparison, NULL, &x)) return;
    HloType from = x.inst->shape->type, to = row[below(g, 3)];
    if (from != row[0] && from != row[1] && from != row[2]) return;
    HloInstruction *inst =
        hlo_build(&g->rw, HLO_OP_BITCAST_CONVERT, hlo_shape_with_type(&g->m->shapes, x.inst->shape, to), &x.inst, 1);
    hlo_gen_put(g, inst, hlo_type_bits(to), false, hlo_type_is_float(to) && (from != to || x.wild));
}

static void reduce_precision(Gen *g) {
    Value x;
    if (!hlo_gen_pick_class(g, FLOAT, &x) || x.wild || x.mag > 14) return;
    HloInstruction *inst = hlo_gen_new(g, HLO_OP_REDUCE_PRECISION, &x.inst, 1);
    if (!inst) return;
    hlo_set_int(g->m, inst, HLO_ATTR_EXPONENT_BITS, between(g, 5, 8));
    hlo_set_int(g->m, inst, HLO_ATTR_MANTISSA_BITS, between(g, 3, 12));
    hlo_gen_put(g, hlo_gen_add(g, inst), x.mag + 1, true, false);
}

MakerTable hlo_gen_elementwise(void) {
    static const Maker makers[] = {
        {HLO_OP_COUNT, "unary", 30, EVERYWHERE, unary},
        {HLO_OP_COUNT, "binary", 60, EVERYWHERE, binary},
        {HLO_OP_POWER, "power", 3, EVERYWHERE, power},
        {HLO_OP_COMPLEX, "complex", 3, EVERYWHERE, complex_of},
        {HLO_OP_COMPARE, "compare", 12, EVERYWHERE, compare},
        {HLO_OP_SELECT, "select", 12, EVERYWHERE, select},
        {HLO_OP_CLAMP, "clamp", 6, EVERYWHERE, clamp},
        {HLO_OP_CONVERT, "convert", 18, EVERYWHERE, convert},
        {HLO_OP_BITCAST_CONVERT, "bitcast-convert", 3, EVERYWHERE, bitcast_convert},
        {HLO_OP_REDUCE_PRECISION, "reduce-precision", 3, EVERYWHERE, reduce_precision},
    };
    return (MakerTable){makers, HLO_COUNT(makers)};
}
