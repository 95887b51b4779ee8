// Float functions: constants of the reference's vector routines where accuracy and speed matter (exp, log, tanh, erf
// of f32, as the code generation chapter §3.6 lists them), LLVM intrinsics and the C library for the rest.

#include "lib/cpu/llvm/emit.h"

#include <stdio.h>

// Float operations may be fused into one rounding, as the reference's code generator does; reductions may be
// reordered while g->reassoc is set.
static LLVMValueRef with_flags(Gen *g, LLVMValueRef value) {
    if (!LLVMIsAInstruction(value)) return value;
    unsigned flags = LLVMFastMathAllowContract | (g->reassoc ? LLVMFastMathAllowReassoc : 0);
    LLVMSetFastMathFlags(value, flags);
    return value;
}

LLVMValueRef build_float(Gen *g, FloatOp op, LLVMValueRef a, LLVMValueRef b) {
    switch (op) {
    case FADD: return with_flags(g, LLVMBuildFAdd(g->b, a, b, ""));
    case FSUB: return with_flags(g, LLVMBuildFSub(g->b, a, b, ""));
    case FMUL: return with_flags(g, LLVMBuildFMul(g->b, a, b, ""));
    case FDIV: return LLVMBuildFDiv(g->b, a, b, "");
    }
    return a;
}

LLVMValueRef build_fneg(Gen *g, LLVMValueRef a) {
    return LLVMBuildFNeg(g->b, a, "");
}

LLVMValueRef build_fcmp(Gen *g, LLVMRealPredicate predicate, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildFCmp(g->b, predicate, a, b, "");
}

LLVMValueRef call_intrinsic(Gen *g, const char *name, LLVMTypeRef type, LLVMValueRef *args, unsigned count) {
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef fn = LLVMGetIntrinsicDeclaration(g->mod, id, &type, 1);
    return LLVMBuildCall2(g->b, LLVMIntrinsicGetType(g->cx, id, &type, 1), fn, args, count, "");
}

static LLVMValueRef intrinsic1(Gen *g, const char *name, LLVMValueRef x) {
    return call_intrinsic(g, name, LLVMTypeOf(x), &x, 1);
}

LLVMValueRef build_fabs(Gen *g, LLVMValueRef a) {
    return intrinsic1(g, "llvm.fabs", a);
}

LLVMValueRef call_libm(Gen *g, const char *name, LLVMTypeRef type, LLVMValueRef *args, unsigned count) {
    char symbol[32];
    snprintf(symbol, sizeof symbol, "%s%s", name, type == g->f32 ? "f" : "");
    LLVMTypeRef params[2] = {type, type};
    LLVMTypeRef fn_type = LLVMFunctionType(type, params, count, false);
    LLVMValueRef fn = LLVMGetNamedFunction(g->mod, symbol);
    if (!fn) {
        fn = LLVMAddFunction(g->mod, symbol, fn_type);
        LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, g->nounwind);
        LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, g->memory_none);
        LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, g->willreturn);
    }
    return LLVMBuildCall2(g->b, fn_type, fn, args, count, "");
}

// ---- polynomials ----------------------------------------------------------------------------------------

// Horner's scheme, highest power first.
static LLVMValueRef polynomial(Gen *g, LLVMValueRef x, const double *coefficients, size_t count) {
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef sum = const_float(type, coefficients[0]);
    for (size_t k = 1; k < count; k++) {
        LLVMValueRef c = const_float(type, coefficients[k]);
        sum = build_float(g, FADD, build_float(g, FMUL, sum, x), c);
    }
    return sum;
}

// min(max(x, low), high); NaN passes through.
static LLVMValueRef clamp_float(Gen *g, LLVMValueRef x, double low, double high) {
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef bottom = const_float(type, low), top = const_float(type, high);
    x = build_select(g, build_fcmp(g, LLVMRealOLT, x, bottom), bottom, x);
    return build_select(g, build_fcmp(g, LLVMRealOGT, x, top), top, x);
}

// exp(x) = 2^n · e^r with |r| <= ln(2)/2.
static LLVMValueRef exp_f32(Gen *g, LLVMValueRef x) {
    static const double p[] = {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3,
                               4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1};
    LLVMValueRef input = x;
    x = clamp_float(g, x, -87.8, 88.8);
    LLVMValueRef log2e = const_float(g->f32, 1.44269504088896341), half = const_float(g->f32, 0.5);
    LLVMValueRef n = intrinsic1(g, "llvm.floor", build_float(g, FADD, build_float(g, FMUL, x, log2e), half));
    n = clamp_float(g, n, -127, 127);
    x = build_float(g, FSUB, x, build_float(g, FMUL, n, const_float(g->f32, 0.693359375)));
    x = build_float(g, FSUB, x, build_float(g, FMUL, n, const_float(g->f32, -2.12194440e-4)));
    LLVMValueRef sum = build_float(g, FMUL, polynomial(g, x, p, HLO_COUNT(p)), build_float(g, FMUL, x, x));
    sum = build_float(g, FADD, build_float(g, FADD, sum, x), const_float(g->f32, 1));

    // NaN has no integer; it is put back at the end.
    LLVMValueRef nan = build_fcmp(g, LLVMRealUNO, input, input);
    LLVMValueRef whole = build_select(g, nan, const_float(g->f32, 0), n);
    LLVMValueRef exponent =
        LLVMBuildAdd(g->b, LLVMBuildFPToSI(g->b, whole, g->i32, ""), LLVMConstInt(g->i32, 127, false), "");
    LLVMValueRef scale =
        LLVMBuildBitCast(g->b, LLVMBuildShl(g->b, exponent, LLVMConstInt(g->i32, 23, false), ""), g->f32, "");
    LLVMValueRef result = build_float(g, FMUL, sum, scale);
    LLVMValueRef huge = build_fcmp(g, LLVMRealOGT, input, const_float(g->f32, 88.7228394));
    result = build_select(g, huge, LLVMConstReal(g->f32, __builtin_inf()), result);
    return build_select(g, nan, input, result);
}

// log(x) = e·ln(2) + log(m) with m in [sqrt(1/2), sqrt(2)).
static LLVMValueRef log_f32(Gen *g, LLVMValueRef x) {
    static const double p[] = {7.0376836292e-2,  -1.1514610310e-1, 1.1676998740e-1,  -1.2420140846e-1, 1.4249322787e-1,
                               -1.6668057665e-1, 2.0000714765e-1,  -2.4999993993e-1, 3.3333331174e-1};
    LLVMValueRef input = x, one = const_float(g->f32, 1), zero = const_float(g->f32, 0);
    LLVMValueRef smallest = const_float(g->f32, 1.17549435e-38);
    x = build_select(g, build_fcmp(g, LLVMRealOLT, x, smallest), smallest, x);
    LLVMValueRef bits = LLVMBuildBitCast(g->b, x, g->i32, "");
    LLVMValueRef biased = LLVMBuildLShr(g->b, bits, LLVMConstInt(g->i32, 23, false), "");
    LLVMValueRef e =
        LLVMBuildSIToFP(g->b, LLVMBuildSub(g->b, biased, LLVMConstInt(g->i32, 126, false), ""), g->f32, "");
    LLVMValueRef mantissa = LLVMBuildAnd(g->b, bits, LLVMConstInt(g->i32, 0x807fffff, false), "");
    mantissa = LLVMBuildOr(g->b, mantissa, LLVMConstInt(g->i32, 0x3f000000, false), "");
    LLVMValueRef m = LLVMBuildBitCast(g->b, mantissa, g->f32, "");

    LLVMValueRef low = build_fcmp(g, LLVMRealOLT, m, const_float(g->f32, 0.707106781186547524));
    e = build_float(g, FSUB, e, build_select(g, low, one, zero));
    m = build_float(g, FADD, build_float(g, FSUB, m, one), build_select(g, low, m, zero));
    LLVMValueRef square = build_float(g, FMUL, m, m);
    LLVMValueRef y = build_float(g, FMUL, build_float(g, FMUL, polynomial(g, m, p, HLO_COUNT(p)), m), square);
    y = build_float(g, FADD, y, build_float(g, FMUL, e, const_float(g->f32, -2.12194440e-4)));
    y = build_float(g, FSUB, y, build_float(g, FMUL, square, const_float(g->f32, 0.5)));
    y = build_float(g, FADD, build_float(g, FADD, m, y), build_float(g, FMUL, e, const_float(g->f32, 0.693359375)));

    LLVMValueRef infinity = LLVMConstReal(g->f32, __builtin_inf()), nan = LLVMConstReal(g->f32, __builtin_nan(""));
    y = build_select(g, build_fcmp(g, LLVMRealOEQ, input, infinity), infinity, y);
    y = build_select(g, build_fcmp(g, LLVMRealULT, input, zero), nan, y);
    return build_select(g, build_fcmp(g, LLVMRealOEQ, input, zero), LLVMConstReal(g->f32, -__builtin_inf()), y);
}

static LLVMValueRef tanh_f32(Gen *g, LLVMValueRef x) {
    static const double num[] = {-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11,
                                 5.12229709037114e-08,  1.48572235717979e-05, 6.37261928875436e-04,
                                 4.89352455891786e-03};
    static const double den[] = {1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03,
                                 4.89352518554385e-03};
    LLVMValueRef c = clamp_float(g, x, -7.99881172180175781, 7.99881172180175781);
    LLVMValueRef square = build_float(g, FMUL, c, c);
    LLVMValueRef top = build_float(g, FMUL, c, polynomial(g, square, num, HLO_COUNT(num)));
    LLVMValueRef y = build_float(g, FDIV, top, polynomial(g, square, den, HLO_COUNT(den)));
    LLVMValueRef size = build_fabs(g, x);
    LLVMValueRef args[2] = {const_float(g->f32, 1), x};
    LLVMValueRef sign = call_intrinsic(g, "llvm.copysign", g->f32, args, 2);
    y = build_select(g, build_fcmp(g, LLVMRealOGE, size, const_float(g->f32, 20)), sign, y);
    return build_select(g, build_fcmp(g, LLVMRealOLT, size, const_float(g->f32, 0.0004)), x, y);
}

static LLVMValueRef erf_f32(Gen *g, LLVMValueRef x) {
    // Listed lowest power first in the source, highest first here.
    static const double odd[] = {.00022905065861350646, .0034082910107109506, .050955695062380861, .18520832239976145,
                                 1.128379143519084};
    static const double even[] = {-1.1791602954361697e-7,
                                  .000023547966471313185,
                                  .0010179625278914885,
                                  .014070470171167667,
                                  .11098505178285362,
                                  .49746925110067538,
                                  1};
    LLVMValueRef square = build_float(g, FMUL, x, x);
    LLVMValueRef top = build_float(g, FMUL, x, polynomial(g, square, odd, HLO_COUNT(odd)));
    LLVMValueRef y = build_float(g, FDIV, top, polynomial(g, square, even, HLO_COUNT(even)));
    LLVMValueRef args[2] = {const_float(g->f32, 1), x};
    LLVMValueRef sign = call_intrinsic(g, "llvm.copysign", g->f32, args, 2);
    LLVMValueRef far = build_fcmp(g, LLVMRealOGE, build_fabs(g, x), const_float(g->f32, 3.7439211627767994));
    return build_select(g, far, sign, y);
}

// Small arguments by a rational function, others by log(1 + x).
static LLVMValueRef log1p_f32(Gen *g, LLVMValueRef x) {
    static const double num[] = {4.5270000862445199635e-5, .49854102823193375972, 6.5787325942061044847,
                                 29.911919328553073277,    60.949667980987787057, 57.112963590585538103,
                                 20.039553499201281259};
    static const double den[] = {1,
                                 15.062909083469192043,
                                 83.047565967967209469,
                                 221.76239823732856465,
                                 309.09872225312059775,
                                 216.42788614495947685,
                                 60.118660497603843919};
    LLVMValueRef square = build_float(g, FMUL, x, x);
    LLVMValueRef ratio =
        build_float(g, FDIV, polynomial(g, x, num, HLO_COUNT(num)), polynomial(g, x, den, HLO_COUNT(den)));
    LLVMValueRef cube = build_float(g, FMUL, build_float(g, FMUL, square, x), ratio);
    LLVMValueRef half = build_float(g, FMUL, square, const_float(g->f32, 0.5));
    LLVMValueRef near = build_float(g, FADD, build_float(g, FSUB, x, half), cube);
    LLVMValueRef far = log_f32(g, build_float(g, FADD, x, const_float(g->f32, 1)));
    LLVMValueRef small = build_fcmp(g, LLVMRealOLT, build_fabs(g, x), const_float(g->f32, 0.41421356237309504880));
    return build_select(g, small, near, far);
}

// ---- one table of functions -----------------------------------------------------------------------------

typedef struct MathRow {
    HloOpcode op;
    const char *intrinsic;                        // or NULL
    const char *libm;                             // or NULL
    LLVMValueRef (*f32)(Gen *g, LLVMValueRef x);  // preferred for f32; or NULL
} MathRow;

static const MathRow math_rows[] = {
    {HLO_OP_ABS, "llvm.fabs", NULL, NULL},
    {HLO_OP_ACOS, NULL, "acos", NULL},
    {HLO_OP_ACOSH, NULL, "acosh", NULL},
    {HLO_OP_ASIN, NULL, "asin", NULL},
    {HLO_OP_ASINH, NULL, "asinh", NULL},
    {HLO_OP_ATANH, NULL, "atanh", NULL},
    {HLO_OP_CBRT, NULL, "cbrt", NULL},
    {HLO_OP_CEIL, "llvm.ceil", NULL, NULL},
    {HLO_OP_COS, NULL, "cos", NULL},
    {HLO_OP_COSH, NULL, "cosh", NULL},
    {HLO_OP_ERF, NULL, "erf", erf_f32},
    {HLO_OP_EXP, NULL, "exp", exp_f32},
    {HLO_OP_EXPM1, NULL, "expm1", NULL},
    {HLO_OP_FLOOR, "llvm.floor", NULL, NULL},
    {HLO_OP_LOG, NULL, "log", log_f32},
    {HLO_OP_LOG1P, NULL, "log1p", log1p_f32},
    {HLO_OP_ROUND_AFZ, "llvm.round", NULL, NULL},
    {HLO_OP_ROUND_EVEN, "llvm.nearbyint", NULL, NULL},
    {HLO_OP_SIN, NULL, "sin", NULL},
    {HLO_OP_SINH, NULL, "sinh", NULL},
    {HLO_OP_SQRT, "llvm.sqrt", NULL, NULL},
    {HLO_OP_TAN, NULL, "tan", NULL},
    {HLO_OP_TANH, NULL, "tanh", tanh_f32},
};

// NaN stays, zeros keep their sign, else ±1.
static LLVMValueRef sign_of(Gen *g, LLVMValueRef x) {
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef args[2] = {const_float(type, 1), x};
    LLVMValueRef one = call_intrinsic(g, "llvm.copysign", type, args, 2);
    return build_select(g, build_fcmp(g, LLVMRealONE, x, const_float(type, 0)), one, x);
}

LLVMValueRef float_unary(Gen *g, const HloInstruction *inst, HloOpcode op, LLVMValueRef x) {
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef one = const_float(type, 1);
    if (op == HLO_OP_NEGATE) return build_fneg(g, x);
    if (op == HLO_OP_SIGN) return sign_of(g, x);
    if (op == HLO_OP_RSQRT) return build_float(g, FDIV, one, intrinsic1(g, "llvm.sqrt", x));
    if (op == HLO_OP_LOGISTIC) {
        LLVMValueRef e = float_unary(g, inst, HLO_OP_EXP, build_fneg(g, x));
        return build_float(g, FDIV, one, build_float(g, FADD, one, e));
    }
    for (size_t k = 0; k < HLO_COUNT(math_rows); k++) {
        const MathRow *row = &math_rows[k];
        if (row->op != op) continue;
        if (row->f32 && type == g->f32) return row->f32(g, x);
        return row->intrinsic ? intrinsic1(g, row->intrinsic, x) : call_libm(g, row->libm, type, &x, 1);
    }
    gen_unimplemented(g, inst);
    return x;
}
