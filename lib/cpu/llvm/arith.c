// Elementwise operations on given operand values. Meaning: interpreter chapter, §3; one operation is one rounding to
// the element type.

#include "lib/cpu/llvm/emit.h"

#include <math.h>

static Value real_value(LLVMValueRef v) {
    return (Value){v, NULL};
}

static LLVMValueRef const_like(LLVMValueRef model, uint64_t value) {
    return LLVMConstInt(LLVMTypeOf(model), value, false);
}

static Value unsupported(Gen *g, const HloInstruction *inst) {
    gen_unimplemented(g, inst);
    return value_undef(g, inst->shape->type);
}

// ---- integers -------------------------------------------------------------------------------------------

static unsigned int_bits(LLVMValueRef value) {
    return LLVMGetIntTypeWidth(LLVMTypeOf(value));
}

// Division whose divisor is replaced where it would be undefined. x/0 = -1, x%0 = x, MIN/-1 = MIN, MIN%-1 = 0.
static LLVMValueRef int_divide(Gen *g, bool is_signed, bool remainder, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef zero = const_like(a, 0), one = const_like(a, 1), ones = LLVMConstAllOnes(LLVMTypeOf(a));
    LLVMValueRef by_zero = build_icmp(g, LLVMIntEQ, b, zero), bad = by_zero, overflow = NULL;
    if (is_signed) {
        LLVMValueRef least = const_like(a, (uint64_t)1 << (int_bits(a) - 1));
        overflow = LLVMBuildAnd(g->b, build_icmp(g, LLVMIntEQ, a, least), build_icmp(g, LLVMIntEQ, b, ones), "");
        bad = LLVMBuildOr(g->b, by_zero, overflow, "");
    }
    LLVMValueRef safe = build_select(g, bad, one, b);
    if (remainder) {
        LLVMValueRef r = is_signed ? LLVMBuildSRem(g->b, a, safe, "") : LLVMBuildURem(g->b, a, safe, "");
        return build_select(g, by_zero, a, r);  // MIN % 1 is already 0
    }
    LLVMValueRef q = is_signed ? LLVMBuildSDiv(g->b, a, safe, "") : LLVMBuildUDiv(g->b, a, safe, "");
    return build_select(g, by_zero, ones, q);  // MIN / 1 is already MIN
}

// Repeated squaring over the exponent's bits; a negative exponent gives 0, except for base 1.
static LLVMValueRef int_power(Gen *g, bool is_signed, LLVMValueRef base, LLVMValueRef exponent) {
    unsigned bits = int_bits(base);
    LLVMValueRef one = const_like(base, 1), zero = const_like(base, 0), result = one, square = base, rest = exponent;
    for (unsigned k = 0; k < bits; k++) {
        LLVMValueRef odd = build_icmp(g, LLVMIntNE, LLVMBuildAnd(g->b, rest, one, ""), zero);
        result = build_select(g, odd, LLVMBuildMul(g->b, result, square, ""), result);
        square = LLVMBuildMul(g->b, square, square, "");
        rest = LLVMBuildLShr(g->b, rest, bits > 1 ? one : zero, "");
    }
    if (!is_signed) return result;
    LLVMValueRef negative = build_icmp(g, LLVMIntSLT, exponent, zero);
    LLVMValueRef inverse = build_select(g, build_icmp(g, LLVMIntEQ, base, one), one, zero);
    return build_select(g, negative, inverse, result);
}

static LLVMValueRef int_shift(Gen *g, HloOpcode op, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef last = const_like(a, int_bits(a) - 1);
    LLVMValueRef inside = build_icmp(g, LLVMIntULE, b, last);
    if (op == HLO_OP_SHIFT_RIGHT_ARITHMETIC) return LLVMBuildAShr(g->b, a, build_select(g, inside, b, last), "");
    LLVMValueRef amount = build_select(g, inside, b, const_like(a, 0));
    LLVMValueRef moved =
        op == HLO_OP_SHIFT_LEFT ? LLVMBuildShl(g->b, a, amount, "") : LLVMBuildLShr(g->b, a, amount, "");
    return build_select(g, inside, moved, const_like(a, 0));
}

static LLVMValueRef int_mulhi(Gen *g, bool is_signed, LLVMValueRef a, LLVMValueRef b) {
    unsigned bits = int_bits(a);
    LLVMTypeRef wide = LLVMIntTypeInContext(g->cx, bits * 2);
    a = is_signed ? LLVMBuildSExt(g->b, a, wide, "") : LLVMBuildZExt(g->b, a, wide, "");
    b = is_signed ? LLVMBuildSExt(g->b, b, wide, "") : LLVMBuildZExt(g->b, b, wide, "");
    LLVMValueRef product = LLVMBuildMul(g->b, a, b, "");
    LLVMValueRef high = LLVMBuildLShr(g->b, product, LLVMConstInt(wide, bits, false), "");
    return LLVMBuildTrunc(g->b, high, LLVMIntTypeInContext(g->cx, bits), "");
}

static LLVMValueRef int_extreme(Gen *g, bool is_signed, bool maximum, LLVMValueRef a, LLVMValueRef b) {
    LLVMIntPredicate above = is_signed ? LLVMIntSGE : LLVMIntUGE, below = is_signed ? LLVMIntSLE : LLVMIntULE;
    return build_select(g, build_icmp(g, maximum ? above : below, a, b), a, b);
}

static Value int_binary(Gen *g, const HloInstruction *inst, HloType type, LLVMValueRef a, LLVMValueRef b) {
    bool is_signed = hlo_type_class(type) == HLO_CLASS_SIGNED;
    switch (inst->op) {
    case HLO_OP_ADD: return real_value(LLVMBuildAdd(g->b, a, b, ""));
    case HLO_OP_SUBTRACT: return real_value(LLVMBuildSub(g->b, a, b, ""));
    case HLO_OP_MULTIPLY: return real_value(LLVMBuildMul(g->b, a, b, ""));
    case HLO_OP_DIVIDE: return real_value(int_divide(g, is_signed, false, a, b));
    case HLO_OP_REMAINDER: return real_value(int_divide(g, is_signed, true, a, b));
    case HLO_OP_MAXIMUM: return real_value(int_extreme(g, is_signed, true, a, b));
    case HLO_OP_MINIMUM: return real_value(int_extreme(g, is_signed, false, a, b));
    case HLO_OP_AND: return real_value(LLVMBuildAnd(g->b, a, b, ""));
    case HLO_OP_OR: return real_value(LLVMBuildOr(g->b, a, b, ""));
    case HLO_OP_XOR: return real_value(LLVMBuildXor(g->b, a, b, ""));
    case HLO_OP_SHIFT_LEFT:
    case HLO_OP_SHIFT_RIGHT_LOGICAL:
    case HLO_OP_SHIFT_RIGHT_ARITHMETIC: return real_value(int_shift(g, inst->op, a, b));
    case HLO_OP_POWER: return real_value(int_power(g, is_signed, a, b));
    case HLO_OP_MULHI: return real_value(int_mulhi(g, is_signed, a, b));
    default: return unsupported(g, inst);
    }
}

static Value pred_binary(Gen *g, const HloInstruction *inst, LLVMValueRef a, LLVMValueRef b) {
    switch (inst->op) {
    case HLO_OP_ADD:
    case HLO_OP_OR:
    case HLO_OP_MAXIMUM: return real_value(LLVMBuildOr(g->b, a, b, ""));
    case HLO_OP_MULTIPLY:
    case HLO_OP_AND:
    case HLO_OP_MINIMUM: return real_value(LLVMBuildAnd(g->b, a, b, ""));
    case HLO_OP_SUBTRACT:
    case HLO_OP_XOR: return real_value(LLVMBuildXor(g->b, a, b, ""));
    case HLO_OP_DIVIDE:
    case HLO_OP_POWER: return real_value(LLVMBuildOr(g->b, a, LLVMBuildNot(g->b, b, ""), ""));
    case HLO_OP_REMAINDER: return real_value(LLVMBuildAnd(g->b, a, LLVMBuildNot(g->b, b, ""), ""));
    default: return unsupported(g, inst);
    }
}

static Value int_unary(Gen *g, const HloInstruction *inst, HloType type, LLVMValueRef a) {
    bool is_signed = hlo_type_class(type) == HLO_CLASS_SIGNED;
    LLVMTypeRef llvm = LLVMTypeOf(a);
    LLVMValueRef zero = const_like(a, 0), args[2] = {a, LLVMConstInt(g->i1, 0, false)};
    switch (inst->op) {
    case HLO_OP_NOT: return real_value(LLVMBuildNot(g->b, a, ""));
    case HLO_OP_NEGATE: return real_value(LLVMBuildSub(g->b, zero, a, ""));
    case HLO_OP_POPCNT: return real_value(call_intrinsic(g, "llvm.ctpop", llvm, args, 1));
    case HLO_OP_CLZ: return real_value(call_intrinsic(g, "llvm.ctlz", llvm, args, 2));
    case HLO_OP_IS_FINITE: return real_value(LLVMConstInt(g->i1, 1, false));
    case HLO_OP_REAL: return real_value(a);
    case HLO_OP_IMAG: return real_value(zero);
    case HLO_OP_ABS: {
        if (!is_signed) return real_value(a);
        LLVMValueRef negative = build_icmp(g, LLVMIntSLT, a, zero);
        return real_value(build_select(g, negative, LLVMBuildSub(g->b, zero, a, ""), a));
    }
    case HLO_OP_SIGN: {
        LLVMValueRef nonzero = LLVMBuildZExt(g->b, build_icmp(g, LLVMIntNE, a, zero), llvm, "");
        if (type == HLO_PRED || !is_signed) return real_value(nonzero);
        LLVMValueRef negative = build_icmp(g, LLVMIntSLT, a, zero);
        return real_value(build_select(g, negative, LLVMConstAllOnes(llvm), nonzero));
    }
    default: return unsupported(g, inst);
    }
}

// ---- floats ---------------------------------------------------------------------------------------------

// A NaN on either side wins, the left one first; equal values give the left one.
static LLVMValueRef float_extreme(Gen *g, bool maximum, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef left = build_fcmp(g, maximum ? LLVMRealUGE : LLVMRealULE, a, b);
    LLVMValueRef b_nan = build_fcmp(g, LLVMRealUNO, b, b), a_ok = build_fcmp(g, LLVMRealORD, a, a);
    LLVMValueRef right = LLVMBuildAnd(g->b, b_nan, a_ok, "");
    return build_select(g, right, b, build_select(g, left, a, b));
}

static LLVMValueRef float_power(Gen *g, LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef args[2] = {a, b};
    return call_libm(g, "pow", type, args, 2);
}

static LLVMValueRef float_binary(Gen *g, const HloInstruction *inst, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef args[2] = {a, b};
    switch (inst->op) {
    case HLO_OP_ADD: return build_float(g, FADD, a, b);
    case HLO_OP_SUBTRACT: return build_float(g, FSUB, a, b);
    case HLO_OP_MULTIPLY: return build_float(g, FMUL, a, b);
    case HLO_OP_DIVIDE: return build_float(g, FDIV, a, b);
    case HLO_OP_REMAINDER: return call_libm(g, "fmod", LLVMTypeOf(a), args, 2);
    case HLO_OP_MAXIMUM: return float_extreme(g, true, a, b);
    case HLO_OP_MINIMUM: return float_extreme(g, false, a, b);
    case HLO_OP_POWER: return float_power(g, a, b);
    case HLO_OP_ATAN2: return call_libm(g, "atan2", LLVMTypeOf(a), args, 2);
    default: gen_unimplemented(g, inst); return a;
    }
}

static LLVMValueRef is_finite(Gen *g, LLVMValueRef x) {
    return build_fcmp(g, LLVMRealONE, build_fabs(g, x), LLVMConstReal(LLVMTypeOf(x), (double)INFINITY));
}

static Value float_op1(Gen *g, const HloInstruction *inst, HloType type, LLVMValueRef x) {
    switch (inst->op) {
    case HLO_OP_IS_FINITE: return real_value(is_finite(g, x));
    case HLO_OP_REAL: return real_value(x);
    case HLO_OP_IMAG: return real_value(LLVMConstNull(LLVMTypeOf(x)));
    case HLO_OP_NOT: {
        LLVMValueRef zero = build_fcmp(g, LLVMRealOEQ, x, LLVMConstNull(LLVMTypeOf(x)));
        return real_value(LLVMBuildUIToFP(g->b, zero, LLVMTypeOf(x), ""));
    }
    default: return real_value(float_round(g, type, float_unary(g, inst, inst->op, x)));
    }
}

// Rounds the bit pattern to fewer mantissa bits, then forces small exponents to zero and large ones to infinity
// (interpreter chapter, §3.4).
static Value reduce_precision(Gen *g, const HloInstruction *inst, HloType type, LLVMValueRef x) {
    bool wide = type == HLO_F64;
    LLVMTypeRef bits_type = wide ? g->i64 : g->i32;
    int source_mantissa = wide ? 52 : 23, source_bias = wide ? 1023 : 127, source_exponent = wide ? 11 : 8;
    int64_t mantissa = hlo_int(inst, HLO_ATTR_MANTISSA_BITS), exponent = hlo_int(inst, HLO_ATTR_EXPONENT_BITS);
    if (mantissa < 0 || exponent < 1) return unsupported(g, inst);
#define C(value) LLVMConstInt(bits_type, (unsigned long long)(value), false)
    LLVMValueRef bits = LLVMBuildBitCast(g->b, x, bits_type, "");
    if (mantissa < source_mantissa) {
        int64_t drop = source_mantissa - mantissa;
        LLVMValueRef odd = LLVMBuildAnd(g->b, LLVMBuildLShr(g->b, bits, C(drop), ""), C(1), "");
        LLVMValueRef up = LLVMBuildAdd(g->b, odd, C(((uint64_t)1 << (drop - 1)) - 1), "");
        bits = LLVMBuildAnd(g->b, LLVMBuildAdd(g->b, bits, up, ""), C(~(((uint64_t)1 << drop) - 1)), "");
    }
    uint64_t sign_mask = wide ? (uint64_t)1 << 63 : 0x80000000u;
    uint64_t infinity = (((uint64_t)1 << source_exponent) - 1) << source_mantissa;
    if (exponent < source_exponent) {
        int64_t reach = ((int64_t)1 << (exponent - 1)) - 1;
        LLVMValueRef sign = LLVMBuildAnd(g->b, bits, C(sign_mask), "");
        LLVMValueRef field = LLVMBuildAnd(g->b, bits, C(infinity), "");
        LLVMValueRef over = build_icmp(g, LLVMIntUGT, field, C((uint64_t)(source_bias + reach) << source_mantissa));
        LLVMValueRef under = build_icmp(g, LLVMIntULE, field, C((uint64_t)(source_bias - reach) << source_mantissa));
        bits = build_select(g, over, LLVMBuildOr(g->b, sign, C(infinity), ""), bits);
        bits = build_select(g, under, sign, bits);
    }
    LLVMValueRef special = mantissa > 0 ? LLVMBuildBitCast(g->b, x, bits_type, "") : C(infinity);
    bits = build_select(g, build_fcmp(g, LLVMRealUNO, x, x), special, bits);
#undef C
    return real_value(float_round(g, type, LLVMBuildBitCast(g->b, bits, LLVMTypeOf(x), "")));
}

// ---- comparing and choosing -----------------------------------------------------------------------------

static LLVMIntPredicate int_predicate(int64_t direction, bool is_signed) {
    switch (direction) {
    case HLO_COMPARE_DIRECTION_EQ: return LLVMIntEQ;
    case HLO_COMPARE_DIRECTION_NE: return LLVMIntNE;
    case HLO_COMPARE_DIRECTION_GE: return is_signed ? LLVMIntSGE : LLVMIntUGE;
    case HLO_COMPARE_DIRECTION_GT: return is_signed ? LLVMIntSGT : LLVMIntUGT;
    case HLO_COMPARE_DIRECTION_LE: return is_signed ? LLVMIntSLE : LLVMIntULE;
    default: return is_signed ? LLVMIntSLT : LLVMIntULT;
    }
}

static LLVMRealPredicate real_predicate(int64_t direction) {
    switch (direction) {
    case HLO_COMPARE_DIRECTION_EQ: return LLVMRealOEQ;
    case HLO_COMPARE_DIRECTION_NE: return LLVMRealUNE;
    case HLO_COMPARE_DIRECTION_GE: return LLVMRealOGE;
    case HLO_COMPARE_DIRECTION_GT: return LLVMRealOGT;
    case HLO_COMPARE_DIRECTION_LE: return LLVMRealOLE;
    default: return LLVMRealOLT;
    }
}

// A key that sorts floats by total order as a signed integer: magnitude bits, inverted for negative values.
static LLVMValueRef total_order_key(Gen *g, HloType type, LLVMValueRef x) {
    LLVMValueRef bits = value_to_bits(g, type, real_value(x));
    LLVMValueRef sign = LLVMBuildAShr(g->b, bits, const_like(bits, int_bits(bits) - 1), "");
    LLVMValueRef mask = LLVMBuildLShr(g->b, sign, const_like(bits, 1), "");
    return LLVMBuildXor(g->b, bits, mask, "");
}

Value compare_values(Gen *g, const HloInstruction *inst, HloType type, int64_t direction, int64_t order, Value a,
                     Value b) {
    if (hlo_type_is_complex(type)) {
        if (direction != HLO_COMPARE_DIRECTION_EQ && direction != HLO_COMPARE_DIRECTION_NE) {
            gen_unimplemented(g, inst);
            return value_undef(g, HLO_PRED);
        }
        LLVMRealPredicate predicate = real_predicate(direction);
        LLVMValueRef re = build_fcmp(g, predicate, a.v, b.v), im = build_fcmp(g, predicate, a.im, b.im);
        bool equal = direction == HLO_COMPARE_DIRECTION_EQ;
        return real_value(equal ? LLVMBuildAnd(g->b, re, im, "") : LLVMBuildOr(g->b, re, im, ""));
    }
    if (hlo_type_is_float(type)) {
        if (order != HLO_COMPARE_TYPE_TOTALORDER) return real_value(build_fcmp(g, real_predicate(direction), a.v, b.v));
        LLVMValueRef x = total_order_key(g, type, a.v), y = total_order_key(g, type, b.v);
        return real_value(build_icmp(g, int_predicate(direction, true), x, y));
    }
    bool is_signed = hlo_type_class(type) == HLO_CLASS_SIGNED;
    return real_value(build_icmp(g, int_predicate(direction, is_signed), a.v, b.v));
}

static Value select_value(Gen *g, LLVMValueRef condition, Value a, Value b) {
    return (Value){build_select(g, condition, a.v, b.v), a.im ? build_select(g, condition, a.im, b.im) : NULL};
}

static Value clamp(Gen *g, const HloInstruction *inst, HloType type, Value low, Value x, Value high) {
    if (hlo_type_is_float(type)) {
        // NaN in low, x, high wins in this order; x over low on ties, high over that.
        LLVMValueRef v = float_extreme(g, true, x.v, low.v);
        v = float_extreme(g, false, high.v, v);
        LLVMValueRef low_nan = build_fcmp(g, LLVMRealUNO, low.v, low.v), x_nan = build_fcmp(g, LLVMRealUNO, x.v, x.v);
        v = build_select(g, x_nan, x.v, v);
        return real_value(build_select(g, low_nan, low.v, v));
    }
    if (hlo_type_is_complex(type)) return unsupported(g, inst);
    bool is_signed = hlo_type_class(type) == HLO_CLASS_SIGNED;
    LLVMValueRef v = int_extreme(g, is_signed, true, x.v, low.v);
    return real_value(int_extreme(g, is_signed, false, high.v, v));
}

// ---- sums and products, for reductions built by hand (dot, convolution) ----------------------------------

Value add_values(Gen *g, HloType type, Value a, Value b) {
    if (hlo_type_is_complex(type)) {
        return (Value){build_float(g, FADD, a.v, b.v), build_float(g, FADD, a.im, b.im)};
    }
    if (hlo_type_is_float(type)) return real_value(build_float(g, FADD, a.v, b.v));
    return real_value(type == HLO_PRED ? LLVMBuildOr(g->b, a.v, b.v, "") : LLVMBuildAdd(g->b, a.v, b.v, ""));
}

Value multiply_values(Gen *g, HloType type, Value a, Value b) {
    if (hlo_type_is_complex(type)) {
        LLVMValueRef ac = build_float(g, FMUL, a.v, b.v), bd = build_float(g, FMUL, a.im, b.im);
        LLVMValueRef ad = build_float(g, FMUL, a.v, b.im), bc = build_float(g, FMUL, a.im, b.v);
        return (Value){build_float(g, FSUB, ac, bd), build_float(g, FADD, ad, bc)};
    }
    if (hlo_type_is_float(type)) return real_value(build_float(g, FMUL, a.v, b.v));
    return real_value(type == HLO_PRED ? LLVMBuildAnd(g->b, a.v, b.v, "") : LLVMBuildMul(g->b, a.v, b.v, ""));
}

// ---- dispatch -------------------------------------------------------------------------------------------

static Value unary(Gen *g, const HloInstruction *inst, HloType type, Value x) {
    if (hlo_type_is_complex(type)) return complex_unary(g, inst, type, x);
    if (hlo_type_is_float(type)) return float_op1(g, inst, type, x.v);
    return int_unary(g, inst, type, x.v);
}

// Mixed precision: float operands meet in the result's type.
static Value binary(Gen *g, const HloInstruction *inst, Value a, Value b) {
    HloType type = inst->shape->type;
    HloType left = hlo_operand(inst, 0)->shape->type, right = hlo_operand(inst, 1)->shape->type;
    if (hlo_type_is_float(type) && hlo_type_is_float(left) && hlo_type_is_float(right)) {
        a = convert(g, inst, left, type, a);
        b = convert(g, inst, right, type, b);
        left = right = type;
    }
    if (left != type || right != type) return unsupported(g, inst);
    if (hlo_type_is_complex(type)) return complex_binary(g, inst, type, a, b);
    if (hlo_type_is_float(type)) return real_value(float_round(g, type, float_binary(g, inst, a.v, b.v)));
    return type == HLO_PRED ? pred_binary(g, inst, a.v, b.v) : int_binary(g, inst, type, a.v, b.v);
}

static Value compare(Gen *g, const HloInstruction *inst, Value a, Value b) {
    HloType type = hlo_operand(inst, 0)->shape->type, right = hlo_operand(inst, 1)->shape->type;
    if (type != right) {
        if (!hlo_type_is_float(type) || !hlo_type_is_float(right)) return unsupported(g, inst);
        a = convert(g, inst, type, HLO_F64, a);
        b = convert(g, inst, right, HLO_F64, b);
        type = HLO_F64;
    }
    return compare_values(g, inst, type, hlo_int(inst, HLO_ATTR_DIRECTION), hlo_int(inst, HLO_ATTR_COMPARE_TYPE), a, b);
}

// Operands `first` and later in the result's type.
static bool unify(Gen *g, const HloInstruction *inst, size_t first, Value *values) {
    HloType type = inst->shape->type;
    for (size_t k = first; k < hlo_operand_count(inst); k++) {
        HloType from = hlo_operand(inst, k)->shape->type;
        if (from != type && !(hlo_type_is_float(from) && hlo_type_is_float(type))) return false;
        values[k] = convert(g, inst, from, type, values[k]);
    }
    return true;
}

static Value ternary(Gen *g, const HloInstruction *inst, const Value *operands) {
    Value v[3] = {operands[0], operands[1], operands[2]};
    if (inst->op == HLO_OP_CLAMP) {
        return unify(g, inst, 0, v) ? clamp(g, inst, inst->shape->type, v[0], v[1], v[2]) : unsupported(g, inst);
    }
    if (!unify(g, inst, 1, v) || hlo_operand(inst, 0)->shape->type != HLO_PRED) return unsupported(g, inst);
    return select_value(g, v[0].v, v[1], v[2]);
}

Value pointwise(Gen *g, const HloInstruction *inst, const Value *operands) {
    HloType type = inst->shape->type, from = hlo_operand(inst, 0)->shape->type;
    if (gen_failed(g)) return value_undef(g, type);
    switch (inst->op) {
    case HLO_OP_COPY:
    case HLO_OP_CONVERT: return convert(g, inst, from, type, operands[0]);
    case HLO_OP_BITCAST_CONVERT:
        if (hlo_type_is_complex(from) || hlo_type_is_complex(type)) {
            return from == type ? operands[0] : unsupported(g, inst);
        }
        return value_from_bits(g, type, value_to_bits(g, from, operands[0]));
    case HLO_OP_REDUCE_PRECISION:
        if (!hlo_type_is_float(type) || from != type) return unsupported(g, inst);
        return reduce_precision(g, inst, type, operands[0].v);
    case HLO_OP_COMPARE: return compare(g, inst, operands[0], operands[1]);
    case HLO_OP_COMPLEX:
        if (hlo_type_complex_part(type) != from || from != hlo_operand(inst, 1)->shape->type)
            return unsupported(g, inst);
        return (Value){operands[0].v, operands[1].v};
    case HLO_OP_SELECT:
    case HLO_OP_CLAMP: return ternary(g, inst, operands);
    default: break;
    }
    if (hlo_operand_count(inst) == 2) return binary(g, inst, operands[0], operands[1]);
    return unary(g, inst, from, operands[0]);
}
