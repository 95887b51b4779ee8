// Shape inference of elementwise opcodes (verifier chapter §5.1 to §5.3).
//
// Types are sets of classes; each unary and binary opcode is one row that says which classes it takes and which
// element type comes out.

#include "infer_rules.h"

enum {
    PRED = 1 << HLO_CLASS_PRED,
    SIGNED = 1 << HLO_CLASS_SIGNED,
    UNSIGNED = 1 << HLO_CLASS_UNSIGNED,
    FLOAT = 1 << HLO_CLASS_FLOAT,
    COMPLEX = 1 << HLO_CLASS_COMPLEX,
    INT = SIGNED | UNSIGNED,
    ANY = PRED | INT | FLOAT | COMPLEX,
};

// The element type of a result.
typedef enum ResultType {
    SAME,
    TO_PRED,
    TO_PART,  // complex: the type of its parts; else the same
} ResultType;

typedef struct TypeRule {
    unsigned classes;  // 0: not a row
    ResultType result;
    const char *wanted;  // for messages
} TypeRule;

static const TypeRule rules[HLO_OP_COUNT] = {
    [HLO_OP_FLOOR] = {FLOAT, SAME, "floating"},
    [HLO_OP_CEIL] = {FLOAT, SAME, "floating"},
    [HLO_OP_CBRT] = {FLOAT, SAME, "floating"},
    [HLO_OP_ERF] = {FLOAT, SAME, "floating"},
    [HLO_OP_ROUND_AFZ] = {FLOAT, SAME, "floating"},
    [HLO_OP_ROUND_EVEN] = {FLOAT, SAME, "floating"},
    [HLO_OP_IS_FINITE] = {FLOAT, TO_PRED, "floating"},
    [HLO_OP_REDUCE_PRECISION] = {FLOAT, SAME, "floating"},

    [HLO_OP_ACOS] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_ACOSH] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_ASIN] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_ASINH] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_ATANH] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_COS] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_COSH] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_EXP] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_EXPM1] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_LOG] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_LOG1P] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_LOGISTIC] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_RSQRT] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_SIN] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_SINH] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_SQRT] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_TAN] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_TANH] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_REAL] = {FLOAT | COMPLEX, TO_PART, "floating or complex"},
    [HLO_OP_IMAG] = {FLOAT | COMPLEX, TO_PART, "floating or complex"},

    [HLO_OP_ABS] = {SIGNED | FLOAT | COMPLEX, TO_PART, "signed, floating or complex"},
    [HLO_OP_SIGN] = {SIGNED | FLOAT | COMPLEX, SAME, "signed, floating or complex"},
    [HLO_OP_NEGATE] = {INT | FLOAT | COMPLEX, SAME, "integral, floating or complex"},
    [HLO_OP_NOT] = {PRED | INT, SAME, "pred or integral"},
    [HLO_OP_POPCNT] = {INT, SAME, "integral"},
    [HLO_OP_CLZ] = {INT, SAME, "integral"},

    [HLO_OP_ADD] = {ANY, SAME, "any"},
    [HLO_OP_MAXIMUM] = {ANY, SAME, "any"},
    [HLO_OP_MINIMUM] = {ANY, SAME, "any"},
    [HLO_OP_MULTIPLY] = {ANY, SAME, "any"},
    [HLO_OP_MULHI] = {ANY, SAME, "any"},
    [HLO_OP_COMPARE] = {ANY, TO_PRED, "any"},
    [HLO_OP_SUBTRACT] = {ANY & ~PRED, SAME, "arithmetic"},
    [HLO_OP_POWER] = {ANY & ~PRED, SAME, "arithmetic"},
    [HLO_OP_DIVIDE] = {ANY & ~PRED, SAME, "arithmetic"},
    [HLO_OP_REMAINDER] = {ANY & ~PRED, SAME, "arithmetic"},
    [HLO_OP_SHIFT_LEFT] = {ANY & ~PRED, SAME, "arithmetic"},  // floats too: the reference shifts whatever counts
    [HLO_OP_SHIFT_RIGHT_ARITHMETIC] = {ANY & ~PRED, SAME, "arithmetic"},
    [HLO_OP_SHIFT_RIGHT_LOGICAL] = {ANY & ~PRED, SAME, "arithmetic"},
    [HLO_OP_ATAN2] = {FLOAT | COMPLEX, SAME, "floating or complex"},
    [HLO_OP_AND] = {PRED | INT, SAME, "pred or integral"},
    [HLO_OP_OR] = {PRED | INT, SAME, "pred or integral"},
    [HLO_OP_XOR] = {PRED | INT, SAME, "pred or integral"},
};

static HloStatus check_class(const HloInfer *cx, HloType type) {
    const TypeRule *rule = &rules[cx->inst->op];
    if (rule->classes >> hlo_type_class(type) & 1) return hlo_ok();
    return hlo_infer_fail(cx, "expected a %s element type, found %s", rule->wanted, hlo_type_name(type));
}

bool hlo_infer_keeps_type(HloOpcode op, HloType type) {
    return rules[op].result == SAME && rules[op].classes >> hlo_type_class(type) & 1;
}

static HloType result_type(const HloInfer *cx, HloType type) {
    switch (rules[cx->inst->op].result) {
    case SAME: return type;
    case TO_PRED: return HLO_PRED;
    case TO_PART: return hlo_type_is_complex(type) ? hlo_type_complex_part(type) : type;
    }
    return type;
}

static bool is_sub_byte(HloType type) {
    return type != HLO_PRED && hlo_type_is_array(type) && hlo_type_bits(type) < 6;
}

// The layout of a shape whose element type becomes `type`: an element size makes sense for sub-byte types only.
static const HloLayout *layout_for_type(const HloInfer *cx, const HloShape *shape, HloType type) {
    if (!shape->layout || !shape->layout->element_bits || is_sub_byte(type)) return shape->layout;
    HloLayout layout = *shape->layout;
    layout.element_bits = 0;
    return hlo_layout_intern(cx->shapes, &layout);
}

static const HloShape *with_type(const HloInfer *cx, const HloShape *shape, HloType type) {
    if (shape->type == type) return shape;
    return hlo_infer_retyped(cx, shape, type, layout_for_type(cx, shape, type));
}

// ---- one operand ----------------------------------------------------------------------------------------

HloStatus hlo_infer_unary(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(hlo_infer_array(cx, 0, "operand"));
    const HloShape *x = hlo_operand_shape(cx, 0);
    HLO_TRY(check_class(cx, x->type));
    *out = with_type(cx, x, result_type(cx, x->type));
    return hlo_ok();
}

HloStatus hlo_infer_reduce_precision(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(hlo_infer_unary(cx, out));
    int64_t exponent = hlo_int(cx->inst, HLO_ATTR_EXPONENT_BITS), mantissa = hlo_int(cx->inst, HLO_ATTR_MANTISSA_BITS);
    if (exponent < 1) return hlo_infer_fail(cx, "expected at least 1 exponent bit, found %lld", (long long)exponent);
    if (mantissa < 0) return hlo_infer_fail(cx, "expected 0 or more mantissa bits, found %lld", (long long)mantissa);
    return hlo_ok();
}

HloStatus hlo_infer_convert_to(const HloInfer *cx, HloType type, const HloShape **out) {
    HLO_TRY(hlo_infer_array(cx, 0, "operand"));
    if (!hlo_type_is_array(type)) return hlo_infer_fail(cx, "cannot convert an array to %s", hlo_type_name(type));
    *out = with_type(cx, hlo_operand_shape(cx, 0), type);
    return hlo_ok();
}

// Bits of one stored element: pred and the 6-bit floats fill a byte.
static int storage_bits(HloType type) {
    return type == HLO_PRED || hlo_type_bits(type) == 6 ? 8 : hlo_type_bits(type);
}

// The layout after a most minor dimension was added (old rank as its number) or dropped.
static const HloLayout *resized_layout(const HloInfer *cx, const HloShape *shape, size_t rank) {
    if (!shape->layout || shape->layout->element_bits == 0) return hlo_layout_default(cx->shapes, rank);
    HloLayout layout = *hlo_layout_default(cx->shapes, rank);
    layout.element_bits = shape->layout->element_bits;
    return hlo_layout_intern(cx->shapes, &layout);
}

HloStatus hlo_infer_bitcast_convert_to(const HloInfer *cx, HloType type, const HloShape **out) {
    HLO_TRY(hlo_infer_array(cx, 0, "operand"));
    const HloShape *x = hlo_operand_shape(cx, 0);
    if (!hlo_type_is_array(type)) return hlo_infer_fail(cx, "cannot convert an array to %s", hlo_type_name(type));
    if (hlo_type_is_complex(x->type) != hlo_type_is_complex(type)) {
        return hlo_infer_fail(cx, "cannot convert between complex and real: %s to %s", hlo_type_name(x->type),
                              hlo_type_name(type));
    }
    int from = storage_bits(x->type), to = storage_bits(type);
    if (from == to) {
        *out = hlo_infer_retyped(cx, x, type, x->layout);
        return hlo_ok();
    }
    if (from % to && to % from) {
        return hlo_infer_fail(cx, "%d bits of %s and %d of %s do not divide", from, hlo_type_name(x->type), to,
                              hlo_type_name(type));
    }
    bool narrower = to < from;
    if (!narrower && (!x->rank || x->dims[x->rank - 1] != to / from)) {
        return hlo_infer_fail(cx, "expected %d as last dimension of %s for a conversion to %s", to / from,
                              hlo_infer_text(cx, x), hlo_type_name(type));
    }
    HloDraft draft;
    hlo_draft_init(&draft, cx, narrower ? x->rank + 1 : x->rank - 1);
    for (size_t d = 0; d < draft.rank && d < x->rank; d++) hlo_draft_copy(&draft, d, x, d);
    if (narrower) hlo_draft_set(&draft, x->rank, from / to, false);
    return hlo_draft_finish_layout(&draft, cx, type, resized_layout(cx, x, draft.rank), out);
}

// ---- two operands ---------------------------------------------------------------------------------------

static bool has_unbounded(const HloShape *shape) {
    for (size_t d = 0; shape->dynamic && d < shape->rank; d++) {
        if (shape->dims[d] == HLO_UNBOUNDED) return true;
    }
    return false;
}

// Dimension d of a result whose operands differ: 1 against n gives n, `?` against anything else gives that.
static bool join_dimension(HloDraft *draft, size_t d, const HloShape *a, const HloShape *b) {
    int64_t x = a->dims[d], y = b->dims[d];
    if (x == y) {
        hlo_draft_set(draft, d, x, hlo_dim_is_dynamic(a, d) || hlo_dim_is_dynamic(b, d));
    } else if (x == HLO_UNBOUNDED || (x == 1 && y != HLO_UNBOUNDED)) {
        hlo_draft_copy(draft, d, b, d);
    } else if (y == HLO_UNBOUNDED || y == 1) {
        hlo_draft_copy(draft, d, a, d);
    } else {
        return false;
    }
    return true;
}

// Shapes that differ in more than layout. The verifier refuses what this accepts, but text may rely on it.
static HloStatus broadcast_binary(const HloInfer *cx, const HloShape *a, const HloShape *b, HloType type,
                                  const HloShape **out) {
    HloDraft draft;
    if (a->rank != b->rank && a->rank && b->rank) {
        return hlo_infer_fail(cx, "operands of different rank: %s and %s", hlo_infer_text(cx, a),
                              hlo_infer_text(cx, b));
    }
    if (a->rank != b->rank) {
        hlo_draft_copy_all(&draft, cx, a->rank ? a : b);
        return hlo_draft_finish(&draft, cx, type, out);
    }
    hlo_draft_init(&draft, cx, a->rank);
    for (size_t d = 0; d < a->rank; d++) {
        if (join_dimension(&draft, d, a, b)) continue;
        return hlo_infer_fail(cx, "operands with incompatible shapes: %s and %s", hlo_infer_text(cx, a),
                              hlo_infer_text(cx, b));
    }
    return hlo_draft_finish(&draft, cx, type, out);
}

// A shape with the dynamic flags of both (same dimensions) and another element type. An element size that the type has
// no use for goes even where the type stays.
static HloStatus merge_flags(const HloInfer *cx, const HloShape *a, const HloShape *b, HloType type,
                             const HloShape **out) {
    const HloLayout *layout = layout_for_type(cx, a, type);
    if (!b->dynamic) {
        *out = hlo_infer_retyped(cx, a, type, layout);
        return hlo_ok();
    }
    HloDraft draft;
    hlo_draft_copy_all(&draft, cx, a);
    for (size_t d = 0; d < a->rank; d++) draft.dynamic[d] |= b->dynamic[d];
    return hlo_draft_finish_layout(&draft, cx, type, layout, out);
}

static HloStatus infer_binary(const HloInfer *cx, HloType type, const HloShape **out) {
    const HloShape *a = hlo_operand_shape(cx, 0), *b = hlo_operand_shape(cx, 1);
    if (hlo_shape_compatible_fp(a, b) && !has_unbounded(a) && !has_unbounded(b))
        return merge_flags(cx, a, b, type, out);
    return broadcast_binary(cx, a, b, type, out);
}

static HloStatus check_pair(const HloInfer *cx) {
    HLO_TRY(hlo_infer_array(cx, 0, "lhs"));
    HLO_TRY(hlo_infer_array(cx, 1, "rhs"));
    HloType a = hlo_operand_shape(cx, 0)->type, b = hlo_operand_shape(cx, 1)->type;
    if (hlo_types_agree(a, b)) return hlo_ok();
    return hlo_infer_fail(cx, "operands with different element types: %s and %s",
                          hlo_infer_text(cx, hlo_operand_shape(cx, 0)), hlo_infer_text(cx, hlo_operand_shape(cx, 1)));
}

HloStatus hlo_infer_binary(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(check_pair(cx));
    HloType a = hlo_operand_shape(cx, 0)->type, b = hlo_operand_shape(cx, 1)->type;
    HLO_TRY(check_class(cx, a));
    return infer_binary(cx, result_type(cx, hlo_type_higher_precision(a, b)), out);
}

HloStatus hlo_infer_complex(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(check_pair(cx));
    HloType re = hlo_operand_shape(cx, 0)->type, im = hlo_operand_shape(cx, 1)->type;
    if (!hlo_type_is_float(re))
        return hlo_infer_fail(cx, "expected a floating element type, found %s", hlo_type_name(re));
    if (re != im || (re != HLO_F32 && re != HLO_F64)) {
        return hlo_error(HLO_UNIMPLEMENTED, "complex: no complex type has parts of %s and %s", hlo_type_name(re),
                         hlo_type_name(im));
    }
    return infer_binary(cx, re == HLO_F32 ? HLO_C64 : HLO_C128, out);
}

// ---- three operands -------------------------------------------------------------------------------------

static const HloLayout *layout_with_element_bits(const HloInfer *cx, const HloShape *shape, const HloShape *from) {
    int64_t bits = from->layout ? from->layout->element_bits : 0;
    if (!shape->layout || shape->layout->element_bits == bits) return shape->layout;
    HloLayout layout = *shape->layout;
    layout.element_bits = bits;
    return hlo_layout_intern(cx->shapes, &layout);
}

static HloStatus check_select(const HloInfer *cx) {
    HLO_TRY(hlo_infer_array(cx, 0, "predicate"));
    HLO_TRY(hlo_infer_array(cx, 1, "value if true"));
    HLO_TRY(hlo_infer_array(cx, 2, "value if false"));
    const HloShape *p = hlo_operand_shape(cx, 0), *a = hlo_operand_shape(cx, 1), *b = hlo_operand_shape(cx, 2);
    if (!hlo_shape_compatible_fp(a, b)) {
        return hlo_infer_fail(cx, "the values must have one shape, found %s and %s", hlo_infer_text(cx, a),
                              hlo_infer_text(cx, b));
    }
    if (p->type != HLO_PRED)
        return hlo_infer_fail(cx, "the predicate must be of type pred, found %s", hlo_infer_text(cx, p));
    if (p->rank && !hlo_shape_same_dims(p, a)) {
        return hlo_infer_fail(cx, "the predicate must be a scalar or have the shape of the values, found %s and %s",
                              hlo_infer_text(cx, p), hlo_infer_text(cx, a));
    }
    return hlo_ok();
}

// The result has the predicate's dimensions and layout, unless that is a scalar: then on_true's.
HloStatus hlo_infer_select(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(check_select(cx));
    const HloShape *p = hlo_operand_shape(cx, 0), *a = hlo_operand_shape(cx, 1), *b = hlo_operand_shape(cx, 2);
    const HloShape *base = p->rank ? p : a;
    HloType type = hlo_type_higher_precision(a->type, b->type);
    const HloLayout *layout = layout_with_element_bits(cx, base, a);
    HloDraft draft;
    hlo_draft_copy_all(&draft, cx, base);
    for (size_t d = 0; d < base->rank; d++) {
        draft.dynamic[d] |= hlo_dim_is_dynamic(a, d) || (hlo_dim_is_dynamic(b, d) && b->dims[d] != HLO_UNBOUNDED);
        if (a->dims[d] == HLO_UNBOUNDED) draft.dims[d] = HLO_UNBOUNDED;
    }
    return hlo_draft_finish_layout(&draft, cx, type, layout, out);
}

HloStatus hlo_infer_clamp(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(hlo_infer_array(cx, 0, "lower bound"));
    HLO_TRY(hlo_infer_array(cx, 1, "operand"));
    HLO_TRY(hlo_infer_array(cx, 2, "upper bound"));
    const HloShape *low = hlo_operand_shape(cx, 0), *x = hlo_operand_shape(cx, 1), *high = hlo_operand_shape(cx, 2);
    if (!hlo_types_agree(low->type, x->type) || !hlo_types_agree(high->type, x->type)) {
        return hlo_infer_fail(cx, "incompatible element types: %s, %s, %s", hlo_infer_text(cx, low),
                              hlo_infer_text(cx, x), hlo_infer_text(cx, high));
    }
    bool low_fits = !low->rank || hlo_shape_compatible_fp(low, x);
    if (!low_fits || (high->rank && !hlo_shape_compatible_fp(high, x))) {
        return hlo_infer_fail(cx, "incompatible shapes: %s, %s, %s", hlo_infer_text(cx, low), hlo_infer_text(cx, x),
                              hlo_infer_text(cx, high));
    }
    *out = x;
    return hlo_ok();
}
