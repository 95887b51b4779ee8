// Complex arithmetic on pairs. Formulas: code generation chapter, §3.5; z = a + bi.

#include "lib/cpu/llvm/emit.h"

#include <math.h>

// Short forms; T is the part type of the values at hand.
static LLVMValueRef plus(Gen *g, LLVMValueRef a, LLVMValueRef b) {
    return build_float(g, FADD, a, b);
}
static LLVMValueRef minus(Gen *g, LLVMValueRef a, LLVMValueRef b) {
    return build_float(g, FSUB, a, b);
}
static LLVMValueRef times(Gen *g, LLVMValueRef a, LLVMValueRef b) {
    return build_float(g, FMUL, a, b);
}
static LLVMValueRef over(Gen *g, LLVMValueRef a, LLVMValueRef b) {
    return build_float(g, FDIV, a, b);
}
static LLVMValueRef num(LLVMValueRef model, double value) {
    return LLVMConstReal(LLVMTypeOf(model), value);
}
static LLVMValueRef is_zero(Gen *g, LLVMValueRef x) {
    return build_fcmp(g, LLVMRealOEQ, x, num(x, 0));
}
static LLVMValueRef is_nan(Gen *g, LLVMValueRef x) {
    return build_fcmp(g, LLVMRealUNO, x, x);
}
static LLVMValueRef is_inf(Gen *g, LLVMValueRef x) {
    return build_fcmp(g, LLVMRealOEQ, build_fabs(g, x), num(x, (double)INFINITY));
}
static LLVMValueRef both(Gen *g, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildAnd(g->b, a, b, "");
}
static LLVMValueRef either(Gen *g, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildOr(g->b, a, b, "");
}
static LLVMValueRef call1(Gen *g, const char *name, LLVMValueRef x) {
    return call_libm(g, name, LLVMTypeOf(x), &x, 1);
}
static LLVMValueRef call2(Gen *g, const char *name, LLVMValueRef x, LLVMValueRef y) {
    LLVMValueRef args[2] = {x, y};
    return call_libm(g, name, LLVMTypeOf(x), args, 2);
}
static LLVMValueRef root(Gen *g, LLVMValueRef x) {
    return call_intrinsic(g, "llvm.sqrt", LLVMTypeOf(x), &x, 1);
}
static LLVMValueRef copysign_of(Gen *g, LLVMValueRef size, LLVMValueRef sign) {
    LLVMValueRef args[2] = {size, sign};
    return call_intrinsic(g, "llvm.copysign", LLVMTypeOf(size), args, 2);
}
static Value choose(Gen *g, LLVMValueRef condition, Value a, Value b) {
    return (Value){build_select(g, condition, a.v, b.v), build_select(g, condition, a.im, b.im)};
}

// ---- arithmetic -----------------------------------------------------------------------------------------

// Smith's method: divide through by the larger part of the divisor.
static Value divide(Gen *g, Value x, Value y) {
    LLVMValueRef imag_larger = build_fcmp(g, LLVMRealOLT, build_fabs(g, y.v), build_fabs(g, y.im));
    LLVMValueRef big = build_select(g, imag_larger, y.im, y.v), small = build_select(g, imag_larger, y.v, y.im);
    LLVMValueRef ratio = over(g, small, big);
    LLVMValueRef denominator = plus(g, times(g, small, ratio), big);
    LLVMValueRef u = build_select(g, imag_larger, x.im, x.v), w = build_select(g, imag_larger, x.v, x.im);
    LLVMValueRef re = over(g, plus(g, times(g, w, ratio), u), denominator);
    LLVMValueRef im = over(g, minus(g, w, times(g, u, ratio)), denominator);
    im = build_select(g, imag_larger, build_fneg(g, im), im);
    // With |Re| < |Im| the parts change roles: (a·r + b)/d and (b·r − a)/d.
    Value result = {re, im};

    LLVMValueRef lost = both(g, is_nan(g, re), is_nan(g, im));
    LLVMValueRef zero = both(g, is_zero(g, y.v), is_zero(g, y.im));
    LLVMValueRef some = LLVMBuildNot(g->b, both(g, is_nan(g, x.v), is_nan(g, x.im)), "");
    LLVMValueRef infinity = copysign_of(g, num(x.v, (double)INFINITY), y.v);
    Value by_zero = {times(g, infinity, x.v), times(g, infinity, x.im)};
    return choose(g, both(g, lost, both(g, zero, some)), by_zero, result);
}

// M·sqrt(1 + (m/M)²) for the larger and smaller magnitudes M and m.
static LLVMValueRef magnitude(Gen *g, Value z) {
    return call2(g, "hypot", z.v, z.im);
}

static LLVMValueRef angle(Gen *g, Value z) {
    return call2(g, "atan2", z.im, z.v);
}

static Value cis(Gen *g, LLVMValueRef size, LLVMValueRef t) {
    return (Value){times(g, size, call1(g, "cos", t)), times(g, size, call1(g, "sin", t))};
}

static Value exponential(Gen *g, Value z) {
    LLVMValueRef e = call1(g, "exp", z.v), half = call1(g, "exp", times(g, z.v, num(z.v, 0.5)));
    LLVMValueRef overflow = build_fcmp(g, LLVMRealOEQ, e, num(e, (double)INFINITY));
    LLVMValueRef c = call1(g, "cos", z.im), s = call1(g, "sin", z.im);
    LLVMValueRef re = build_select(g, overflow, times(g, times(g, half, c), half), times(g, e, c));
    LLVMValueRef im = build_select(g, overflow, times(g, times(g, half, s), half), times(g, e, s));
    return (Value){re, build_select(g, is_zero(g, z.im), z.im, im)};
}

static Value logarithm(Gen *g, Value z) {
    return (Value){call1(g, "log", magnitude(g, z)), angle(g, z)};
}

static Value log_plus_one(Gen *g, Value z) {
    LLVMValueRef one = num(z.v, 1), a1 = plus(g, z.v, one);
    LLVMValueRef wide = build_fabs(g, a1), tall = build_fabs(g, z.im);
    LLVMValueRef is_wide = build_fcmp(g, LLVMRealOGE, wide, tall);
    LLVMValueRef big = build_select(g, is_wide, wide, tall), small = build_select(g, is_wide, tall, wide);
    LLVMValueRef exact = build_fcmp(g, LLVMRealOGT, a1, tall);
    LLVMValueRef base = call1(g, "log1p", build_select(g, exact, z.v, minus(g, big, one)));
    LLVMValueRef ratio = over(g, small, big);
    LLVMValueRef rest = times(g, num(z.v, 0.5), call1(g, "log1p", times(g, ratio, ratio)));
    LLVMValueRef sum = plus(g, base, rest);
    return (Value){build_select(g, is_nan(g, sum), call1(g, "log", magnitude(g, (Value){a1, z.im})), sum),
                   call2(g, "atan2", z.im, a1)};
}

// cos(b) - 1 without cancellation: -2·sin²(b/2).
static LLVMValueRef cos_minus_one(Gen *g, LLVMValueRef b) {
    LLVMValueRef s = call1(g, "sin", times(g, b, num(b, 0.5)));
    return times(g, num(b, -2), times(g, s, s));
}

static Value exp_minus_one(Gen *g, Value z) {
    LLVMValueRef e = call1(g, "expm1", z.v), c = call1(g, "cos", z.im);
    LLVMValueRef re = plus(g, times(g, e, c), cos_minus_one(g, z.im));
    LLVMValueRef im = times(g, plus(g, e, num(e, 1)), call1(g, "sin", z.im));
    return (Value){re, build_select(g, is_zero(g, z.im), z.im, im)};
}

static Value sine(Gen *g, Value z) {
    return (Value){times(g, call1(g, "sin", z.v), call1(g, "cosh", z.im)),
                   times(g, call1(g, "cos", z.v), call1(g, "sinh", z.im))};
}

static Value cosine(Gen *g, Value z) {
    LLVMValueRef im = times(g, call1(g, "sin", z.v), call1(g, "sinh", z.im));
    return (Value){times(g, call1(g, "cos", z.v), call1(g, "cosh", z.im)), build_fneg(g, im)};
}

// (E₊ − E₋)/D + i·4·sin b·cos b/D with E± = expm1(±2a), D = E₊ + E₋ + 4cos²b.
static Value hyperbolic_tangent(Gen *g, Value z) {
    LLVMValueRef twice = plus(g, z.v, z.v), four = num(z.v, 4);
    LLVMValueRef up = call1(g, "expm1", twice), down = call1(g, "expm1", build_fneg(g, twice));
    LLVMValueRef c = call1(g, "cos", z.im), s = call1(g, "sin", z.im);
    LLVMValueRef sum = plus(g, up, down), d = plus(g, sum, times(g, four, times(g, c, c)));
    LLVMValueRef overflow = build_fcmp(g, LLVMRealOEQ, sum, num(sum, (double)INFINITY));
    LLVMValueRef re = build_select(g, overflow, copysign_of(g, num(z.v, 1), z.v), over(g, minus(g, up, down), d));
    LLVMValueRef im = over(g, times(g, four, times(g, s, c)), d);
    LLVMValueRef flat = both(g, is_inf(g, z.v), is_nan(g, times(g, s, c)));
    im = build_select(g, either(g, is_zero(g, z.im), flat), num(im, 0), im);
    return (Value){re, im};
}

static Value tangent(Gen *g, Value z) {
    Value t = hyperbolic_tangent(g, (Value){build_fneg(g, z.im), z.v});
    return (Value){t.im, build_fneg(g, t.v)};
}

static Value square_root(Gen *g, Value z) {
    LLVMValueRef size = root(g, magnitude(g, z)), zero = num(z.v, 0), infinity = num(z.v, (double)INFINITY);
    Value r = cis(g, size, times(g, angle(g, z), num(z.v, 0.5)));
    // The angle of a negative real is π, whose cosine is not quite 0.
    LLVMValueRef on_axis = is_zero(g, z.im), left = build_fcmp(g, LLVMRealOLT, z.v, zero);
    r.v = build_select(g, both(g, on_axis, left), zero, r.v);
    r.im = build_select(g, both(g, on_axis, LLVMBuildNot(g->b, left, "")), z.im, r.im);
    LLVMValueRef tall = is_inf(g, z.im), plus = build_fcmp(g, LLVMRealOEQ, z.v, infinity);
    LLVMValueRef minus = build_fcmp(g, LLVMRealOEQ, z.v, build_fneg(g, infinity));
    r.v = build_select(g, both(g, minus, LLVMBuildNot(g->b, tall, "")), zero, r.v);
    r.v = build_select(g, either(g, tall, plus), infinity, r.v);
    r.im = build_select(g, either(g, tall, minus), copysign_of(g, infinity, z.im), r.im);
    LLVMValueRef origin = is_zero(g, size);
    return choose(g, origin, (Value){zero, z.im}, r);
}

static Value inverse_square_root(Gen *g, Value z) {
    LLVMValueRef size = over(g, num(z.v, 1), root(g, magnitude(g, z)));
    Value r = cis(g, size, times(g, angle(g, z), num(z.v, -0.5)));
    LLVMValueRef origin = both(g, is_zero(g, z.v), is_zero(g, z.im));
    Value at_origin = {num(z.v, (double)INFINITY), num(z.v, (double)NAN)};
    Value far = {copysign_of(g, num(z.v, 0), z.v), build_fneg(g, copysign_of(g, num(z.v, 0), z.im))};
    LLVMValueRef is_far = either(g, is_inf(g, z.v), both(g, is_inf(g, z.im), is_nan(g, z.v)));
    return choose(g, is_far, far, choose(g, origin, at_origin, r));
}

static Value sign(Gen *g, Value z) {
    LLVMValueRef size = magnitude(g, z);
    Value r = {over(g, z.v, size), over(g, z.im, size)};
    return choose(g, is_zero(g, size), (Value){num(size, 0), num(size, 0)}, r);
}

// |z|^c · e^(−d·arg z) · cis(c·arg z + d·ln|z|), with the overrides of the chapter in its order.
static Value power(Gen *g, Value z, Value w) {
    LLVMValueRef size = magnitude(g, z), t = angle(g, z), zero = num(size, 0), one = num(size, 1);
    LLVMValueRef infinity = num(size, (double)INFINITY);
    LLVMValueRef scale = times(g, call2(g, "pow", size, w.v), call1(g, "exp", build_fneg(g, times(g, w.im, t))));
    LLVMValueRef turn = plus(g, times(g, w.v, t), times(g, w.im, call1(g, "log", size)));
    Value r = cis(g, scale, turn), unit = {one, zero};
    LLVMValueRef z0 = both(g, is_zero(g, z.v), is_zero(g, z.im)), d0 = is_zero(g, w.im), c0 = is_zero(g, w.v);
    LLVMValueRef c_ok = build_fcmp(g, LLVMRealOGE, w.v, zero);
    Value at_zero = {build_select(g, c0, one, zero), zero};
    r = choose(g, both(g, z0, both(g, d0, c_ok)), at_zero, r);
    r = choose(g, both(g, c0, d0), unit, r);
    LLVMValueRef z1 = both(g, build_fcmp(g, LLVMRealOEQ, z.v, one), is_zero(g, z.im));
    r = choose(g, z1, unit, r);
    LLVMValueRef far = both(g, build_fcmp(g, LLVMRealOEQ, z.v, infinity), both(g, is_zero(g, z.im), d0));
    Value grown = {infinity, zero}, shrunk = {zero, zero};
    r = choose(g, both(g, far, build_fcmp(g, LLVMRealOGT, w.v, zero)), grown, r);
    return choose(g, both(g, far, build_fcmp(g, LLVMRealOLT, w.v, zero)), shrunk, r);
}

// −i·log((x + iy)/sqrt(x² + y²)), y = lhs, x = rhs.
static Value arc_tangent2(Gen *g, HloType type, Value y, Value x) {
    Value xx = multiply_values(g, type, x, x), yy = multiply_values(g, type, y, y);
    Value top = {minus(g, x.v, y.im), plus(g, x.im, y.v)};
    Value l = logarithm(g, divide(g, top, square_root(g, add_values(g, type, xx, yy))));
    return (Value){l.im, build_fneg(g, l.v)};
}

// ---- dispatch -------------------------------------------------------------------------------------------

Value complex_unary(Gen *g, const HloInstruction *inst, HloType type, Value z) {
    switch (inst->op) {
    case HLO_OP_REAL: return (Value){z.v, NULL};
    case HLO_OP_IMAG: return (Value){z.im, NULL};
    case HLO_OP_ABS: return (Value){magnitude(g, z), NULL};
    case HLO_OP_NEGATE: return (Value){build_fneg(g, z.v), build_fneg(g, z.im)};
    case HLO_OP_EXP: return exponential(g, z);
    case HLO_OP_EXPM1: return exp_minus_one(g, z);
    case HLO_OP_LOG: return logarithm(g, z);
    case HLO_OP_LOG1P: return log_plus_one(g, z);
    case HLO_OP_SIN: return sine(g, z);
    case HLO_OP_COS: return cosine(g, z);
    case HLO_OP_TAN: return tangent(g, z);
    case HLO_OP_TANH: return hyperbolic_tangent(g, z);
    case HLO_OP_SQRT: return square_root(g, z);
    case HLO_OP_RSQRT: return inverse_square_root(g, z);
    case HLO_OP_SIGN: return sign(g, z);
    case HLO_OP_LOGISTIC: {
        Value one = {num(z.v, 1), num(z.v, 0)};
        Value e = exponential(g, (Value){build_fneg(g, z.v), build_fneg(g, z.im)});
        return divide(g, one, add_values(g, type, one, e));
    }
    default: gen_unimplemented(g, inst); return value_undef(g, inst->shape->type);
    }
}

Value complex_binary(Gen *g, const HloInstruction *inst, HloType type, Value x, Value y) {
    switch (inst->op) {
    case HLO_OP_ADD: return add_values(g, type, x, y);
    case HLO_OP_SUBTRACT: return (Value){minus(g, x.v, y.v), minus(g, x.im, y.im)};
    case HLO_OP_MULTIPLY: return multiply_values(g, type, x, y);
    case HLO_OP_DIVIDE: return divide(g, x, y);
    case HLO_OP_POWER: return power(g, x, y);
    case HLO_OP_ATAN2: return arc_tangent2(g, type, x, y);
    default: gen_unimplemented(g, inst); return value_undef(g, type);
    }
}
