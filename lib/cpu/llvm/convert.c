// Conversions between element types, and the bit forms of floats narrower than f32.
//
// Rules: interpreter chapter, §2 (float to integer saturates and NaN gives 0; integer to integer keeps low bits;
// narrow floats round to nearest even and overflow as their format says).

#include "lib/cpu/llvm/emit.h"

#include <math.h>

static LLVMValueRef const_i32(Gen *g, uint32_t value) {
    return LLVMConstInt(g->i32, value, false);
}

static LLVMValueRef as_bits(Gen *g, LLVMValueRef value) {
    return LLVMBuildBitCast(g->b, value, LLVMTypeOf(value) == g->f64 ? g->i64 : g->i32, "");
}

static LLVMValueRef as_f32(Gen *g, LLVMValueRef bits) {
    return LLVMBuildBitCast(g->b, bits, g->f32, "");
}

static LLVMValueRef is_nan(Gen *g, LLVMValueRef value) {
    return LLVMBuildFCmp(g->b, LLVMRealUNO, value, value, "");
}

// ---- narrow floats --------------------------------------------------------------------------------------

static uint32_t float_pattern(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// The code of the largest finite magnitude.
static uint32_t max_code(const HloTypeInfo *info) {
    uint32_t all = (1u << (info->exponent_bits + info->mantissa_bits)) - 1;
    switch (info->specials) {
    case HLO_SPECIALS_IEEE: return all - (1u << info->mantissa_bits);
    case HLO_SPECIALS_FN:
    case HLO_SPECIALS_SCALE: return all - 1;
    case HLO_SPECIALS_FNUZ:
    case HLO_SPECIALS_FINITE:
    case HLO_SPECIALS_NONE: return all;
    }
    return all;
}

// What overflow and NaN become, as codes that include the sign where it matters.
static LLVMValueRef special_code(Gen *g, const HloTypeInfo *info, LLVMValueRef sign, uint32_t nan_low, bool nan) {
    uint32_t all = (1u << (info->exponent_bits + info->mantissa_bits)) - 1;
    switch (info->specials) {
    case HLO_SPECIALS_IEEE:
        return LLVMBuildOr(g->b, sign, const_i32(g, all - (1u << info->mantissa_bits) + 1 + (nan ? nan_low : 0)), "");
    case HLO_SPECIALS_FN: return LLVMBuildOr(g->b, sign, const_i32(g, all), "");
    case HLO_SPECIALS_FNUZ: return const_i32(g, all + 1);
    case HLO_SPECIALS_FINITE: return nan ? const_i32(g, 0) : LLVMBuildOr(g->b, sign, const_i32(g, all), "");
    case HLO_SPECIALS_SCALE: return const_i32(g, 0xff);
    case HLO_SPECIALS_NONE: break;
    }
    return const_i32(g, 0);
}

// Rounds an f32 to the code of a format with a sign bit, as i32.
static LLVMValueRef encode_signed(Gen *g, const HloTypeInfo *info, LLVMValueRef value) {
    int m = info->mantissa_bits, shift = 23 - m, width = info->exponent_bits + m;
    LLVMValueRef bits = as_bits(g, value);
    LLVMValueRef mag = LLVMBuildAnd(g->b, bits, const_i32(g, 0x7fffffff), "");
    LLVMValueRef sign = LLVMBuildLShr(g->b, bits, const_i32(g, 31), "");
    sign = LLVMBuildShl(g->b, sign, const_i32(g, (uint32_t)width), "");

    // Normal results: add half minus one plus the last kept bit, drop the rest, move the exponent.
    LLVMValueRef odd =
        LLVMBuildAnd(g->b, LLVMBuildLShr(g->b, mag, const_i32(g, (uint32_t)shift), ""), const_i32(g, 1), "");
    LLVMValueRef up = LLVMBuildAdd(g->b, odd, const_i32(g, (1u << (shift - 1)) - 1), "");
    LLVMValueRef kept = LLVMBuildLShr(g->b, LLVMBuildAdd(g->b, mag, up, ""), const_i32(g, (uint32_t)shift), "");
    LLVMValueRef code = LLVMBuildSub(g->b, kept, const_i32(g, (uint32_t)(127 - info->bias) << m), "");

    // Subnormal results: adding a power of two makes the float unit round to a multiple of the smallest step.
    float magic = ldexpf(1.0f, 23 + 1 - info->bias - m);
    LLVMValueRef sum = LLVMBuildFAdd(g->b, as_f32(g, mag), const_float(g->f32, (double)magic), "");
    LLVMValueRef small = LLVMBuildSub(g->b, as_bits(g, sum), const_i32(g, float_pattern(magic)), "");
    LLVMValueRef smallest = const_i32(g, (uint32_t)(127 + 1 - info->bias) << 23);
    code = build_select(g, build_icmp(g, LLVMIntULT, mag, smallest), small, code);

    LLVMValueRef over = build_icmp(g, LLVMIntSGT, code, const_i32(g, max_code(info)));
    LLVMValueRef with_sign = LLVMBuildOr(g->b, sign, code, "");
    if (info->specials == HLO_SPECIALS_FNUZ) {  // no negative zero
        with_sign = build_select(g, build_icmp(g, LLVMIntEQ, code, const_i32(g, 0)), code, with_sign);
    }
    LLVMValueRef result = build_select(g, over, special_code(g, info, sign, 0, false), with_sign);
    return build_select(g, is_nan(g, value), special_code(g, info, sign, 1u << (m - 1), true), result);
}

// f8e8m0fnu: powers of two, ties up; no zero, no sign.
static LLVMValueRef encode_scale(Gen *g, LLVMValueRef value) {
    LLVMValueRef bits = as_bits(g, value);
    LLVMValueRef code = LLVMBuildLShr(g->b, LLVMBuildAdd(g->b, bits, const_i32(g, 1u << 22), ""), const_i32(g, 23), "");
    LLVMValueRef ordered = LLVMBuildFCmp(g->b, LLVMRealOGT, value, const_float(g->f32, 0), "");
    LLVMValueRef fits = build_icmp(g, LLVMIntULT, code, const_i32(g, 0xff));
    return build_select(g, LLVMBuildAnd(g->b, ordered, fits, ""), code, const_i32(g, 0xff));
}

static LLVMValueRef decode_scale(Gen *g, LLVMValueRef code) {
    LLVMValueRef normal = LLVMBuildShl(g->b, code, const_i32(g, 23), "");
    LLVMValueRef zero = build_icmp(g, LLVMIntEQ, code, const_i32(g, 0));
    normal = build_select(g, zero, const_i32(g, 1u << 22), normal);
    return as_f32(
        g, build_select(g, build_icmp(g, LLVMIntEQ, code, const_i32(g, 0xff)), const_i32(g, 0x7fc00000), normal));
}

static LLVMValueRef decode_signed(Gen *g, const HloTypeInfo *info, LLVMValueRef code) {
    int m = info->mantissa_bits, shift = 23 - m, width = info->exponent_bits + m;
    uint32_t all = (1u << width) - 1;
    LLVMValueRef mag = LLVMBuildAnd(g->b, code, const_i32(g, all), "");
    LLVMValueRef sign = LLVMBuildLShr(g->b, code, const_i32(g, (uint32_t)width), "");
    sign = LLVMBuildShl(g->b, sign, const_i32(g, 31), "");

    LLVMValueRef wide = LLVMBuildShl(g->b, mag, const_i32(g, (uint32_t)shift), "");
    LLVMValueRef normal = LLVMBuildAdd(g->b, wide, const_i32(g, (uint32_t)(127 - info->bias) << 23), "");
    // Subnormal codes count steps; the product is exact and normal in f32.
    LLVMValueRef steps = LLVMBuildUIToFP(g->b, mag, g->f32, "");
    double step = ldexp(1.0, 1 - info->bias - m);
    LLVMValueRef small = as_bits(g, LLVMBuildFMul(g->b, steps, const_float(g->f32, step), ""));
    LLVMValueRef is_small = build_icmp(g, LLVMIntULT, mag, const_i32(g, 1u << m));
    LLVMValueRef bits = build_select(g, is_small, small, normal);
    if (info->specials == HLO_SPECIALS_IEEE) {
        LLVMValueRef special = build_icmp(g, LLVMIntUGT, mag, const_i32(g, max_code(info)));
        bits = build_select(g, special, LLVMBuildOr(g->b, wide, const_i32(g, 0x7f800000), ""), bits);
    }
    if (info->specials == HLO_SPECIALS_FN) {
        bits = build_select(g, build_icmp(g, LLVMIntEQ, mag, const_i32(g, all)), const_i32(g, 0x7fc00000), bits);
    }
    bits = LLVMBuildOr(g->b, bits, sign, "");
    if (info->specials == HLO_SPECIALS_FNUZ) {
        bits = build_select(g, build_icmp(g, LLVMIntEQ, code, const_i32(g, all + 1)), const_i32(g, 0x7fc00000), bits);
    }
    return as_f32(g, bits);
}

// The upper half of the f32, rounded to nearest even; NaN becomes the quiet one.
static LLVMValueRef round_bf16_bits(Gen *g, LLVMValueRef value) {
    LLVMValueRef bits = as_bits(g, value);
    LLVMValueRef odd = LLVMBuildAnd(g->b, LLVMBuildLShr(g->b, bits, const_i32(g, 16), ""), const_i32(g, 1), "");
    LLVMValueRef up = LLVMBuildAdd(g->b, bits, LLVMBuildAdd(g->b, odd, const_i32(g, 0x7fff), ""), "");
    LLVMValueRef sign = LLVMBuildAnd(g->b, bits, const_i32(g, 0x80000000u), "");
    LLVMValueRef quiet = LLVMBuildOr(g->b, sign, const_i32(g, 0x7fc00000), "");
    LLVMValueRef rounded = build_select(g, is_nan(g, value), quiet, up);
    return LLVMBuildAnd(g->b, rounded, const_i32(g, 0xffff0000u), "");
}

static bool is_wide(HloType type) {
    return type == HLO_F32 || type == HLO_F64;
}

LLVMValueRef float_encode(Gen *g, HloType type, LLVMValueRef value) {
    const HloTypeInfo *info = hlo_type_info(type);
    LLVMTypeRef storage = storage_type(g, type);
    if (type == HLO_BF16) {  // already rounded
        return LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, as_bits(g, value), const_i32(g, 16), ""), storage, "");
    }
    if (type == HLO_F16 && g->has_half) {
        LLVMValueRef half = LLVMBuildFPTrunc(g->b, value, LLVMHalfTypeInContext(g->cx), "");
        return LLVMBuildBitCast(g->b, half, storage, "");
    }
    LLVMValueRef code = info->specials == HLO_SPECIALS_SCALE ? encode_scale(g, value) : encode_signed(g, info, value);
    return LLVMBuildTrunc(g->b, code, storage, "");
}

LLVMValueRef float_decode(Gen *g, HloType type, LLVMValueRef bits) {
    const HloTypeInfo *info = hlo_type_info(type);
    if (type == HLO_F16 && g->has_half) {
        LLVMValueRef half = LLVMBuildBitCast(g->b, bits, LLVMHalfTypeInContext(g->cx), "");
        return LLVMBuildFPExt(g->b, half, g->f32, "");
    }
    LLVMValueRef code = LLVMBuildZExt(g->b, bits, g->i32, "");
    if (type == HLO_BF16) return as_f32(g, LLVMBuildShl(g->b, code, const_i32(g, 16), ""));
    return info->specials == HLO_SPECIALS_SCALE ? decode_scale(g, code) : decode_signed(g, info, code);
}

LLVMValueRef float_round(Gen *g, HloType type, LLVMValueRef value) {
    if (is_wide(type) || !hlo_type_is_float(type)) return value;
    if (type == HLO_BF16) return as_f32(g, round_bf16_bits(g, value));
    return float_decode(g, type, float_encode(g, type, value));
}

// ---- convert --------------------------------------------------------------------------------------------

// f64 to f32 rounded to odd, so that a second rounding to a much narrower format acts like a single one.
static LLVMValueRef narrow_to_odd(Gen *g, LLVMValueRef value) {
    LLVMValueRef near = LLVMBuildFPTrunc(g->b, value, g->f32, "");
    LLVMValueRef back = LLVMBuildFPExt(g->b, near, g->f64, "");
    LLVMValueRef inexact = LLVMBuildFCmp(g->b, LLVMRealONE, back, value, "");
    LLVMValueRef too_far = LLVMBuildFCmp(g->b, LLVMRealOGT, build_fabs(g, back), build_fabs(g, value), "");
    LLVMValueRef bits = as_bits(g, near);
    LLVMValueRef toward = LLVMBuildSub(g->b, bits, LLVMBuildZExt(g->b, too_far, g->i32, ""), "");
    LLVMValueRef odd = LLVMBuildOr(g->b, toward, const_i32(g, 1), "");
    return as_f32(g, build_select(g, inexact, odd, bits));
}

static LLVMValueRef float_to_float(Gen *g, HloType from, HloType to, LLVMValueRef value) {
    if (from == to) return value;
    if (to == HLO_F64) return LLVMBuildFPExt(g->b, value, g->f64, "");
    if (from == HLO_F64) {
        bool narrow = hlo_type_bits(to) <= 8;
        value = narrow ? narrow_to_odd(g, value) : LLVMBuildFPTrunc(g->b, value, g->f32, "");
    }
    return float_round(g, to, value);
}

// Saturates: at or beyond a bound gives the bound, NaN gives 0.
static LLVMValueRef float_to_int(Gen *g, HloType to, LLVMValueRef value) {
    LLVMTypeRef type = value_type(g, to), from = LLVMTypeOf(value);
    int bits = hlo_type_bits(to);
    bool is_signed = hlo_type_class(to) == HLO_CLASS_SIGNED;
    double low = is_signed ? -ldexp(1.0, bits - 1) : 0.0, high = ldexp(1.0, is_signed ? bits - 1 : bits);
    uint64_t top = is_signed ? ((uint64_t)1 << (bits - 1)) - 1 : bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    uint64_t bottom = is_signed ? (uint64_t)1 << (bits - 1) : 0;

    // Out of range values would be poison; they are replaced before the conversion.
    LLVMValueRef over = LLVMBuildFCmp(g->b, LLVMRealOGE, value, const_float(from, high), "");
    LLVMValueRef under = LLVMBuildFCmp(g->b, is_signed ? LLVMRealOLT : LLVMRealOLE, value, const_float(from, low), "");
    LLVMValueRef bad = LLVMBuildOr(g->b, LLVMBuildOr(g->b, over, under, ""), is_nan(g, value), "");
    LLVMValueRef safe = build_select(g, bad, const_float(from, 0), value);
    LLVMValueRef number = is_signed ? LLVMBuildFPToSI(g->b, safe, type, "") : LLVMBuildFPToUI(g->b, safe, type, "");
    number = build_select(g, over, LLVMConstInt(type, top, false), number);
    return build_select(g, under, LLVMConstInt(type, bottom, false), number);
}

static LLVMValueRef int_to_float(Gen *g, HloType from, HloType to, LLVMValueRef value) {
    LLVMTypeRef type = to == HLO_F64 ? g->f64 : g->f32;
    bool is_signed = hlo_type_class(from) == HLO_CLASS_SIGNED;
    LLVMValueRef number = is_signed ? LLVMBuildSIToFP(g->b, value, type, "") : LLVMBuildUIToFP(g->b, value, type, "");
    return float_round(g, to, number);
}

static LLVMValueRef int_to_int(Gen *g, HloType from, HloType to, LLVMValueRef value) {
    LLVMTypeRef type = value_type(g, to);
    int a = from == HLO_PRED ? 1 : hlo_type_bits(from), b = hlo_type_bits(to);
    if (a == b) return value;
    if (a > b) return LLVMBuildTrunc(g->b, value, type, "");
    bool is_signed = hlo_type_class(from) == HLO_CLASS_SIGNED;
    return is_signed ? LLVMBuildSExt(g->b, value, type, "") : LLVMBuildZExt(g->b, value, type, "");
}

static LLVMValueRef to_pred(Gen *g, HloType from, LLVMValueRef value) {
    if (from == HLO_PRED) return value;
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(value));
    if (hlo_type_is_float(from)) return LLVMBuildFCmp(g->b, LLVMRealUNE, value, zero, "");
    return build_icmp(g, LLVMIntNE, value, zero);
}

static LLVMValueRef convert_real(Gen *g, HloType from, HloType to, LLVMValueRef value) {
    if (to == HLO_PRED) return to_pred(g, from, value);
    if (hlo_type_is_float(to)) {
        return hlo_type_is_float(from) ? float_to_float(g, from, to, value) : int_to_float(g, from, to, value);
    }
    return hlo_type_is_float(from) ? float_to_int(g, to, value) : int_to_int(g, from, to, value);
}

Value convert(Gen *g, const HloInstruction *inst, HloType from, HloType to, Value value) {
    if (from == to || gen_failed(g)) return value;
    bool from_complex = hlo_type_is_complex(from), to_complex = hlo_type_is_complex(to);
    if (from_complex && !to_complex) {
        gen_unimplemented(g, inst);
        return value_undef(g, to);
    }
    HloType part = to_complex ? hlo_type_complex_part(to) : to;
    if (from_complex) {
        HloType source = hlo_type_complex_part(from);
        return (Value){convert_real(g, source, part, value.v), convert_real(g, source, part, value.im)};
    }
    return (Value){convert_real(g, from, part, value.v), to_complex ? const_float(value_type(g, part), 0) : NULL};
}

// ---- bits -----------------------------------------------------------------------------------------------

LLVMValueRef value_to_bits(Gen *g, HloType type, Value value) {
    if (type == HLO_F32 || type == HLO_F64) return as_bits(g, value.v);
    if (type == HLO_PRED) return LLVMBuildZExt(g->b, value.v, g->i8, "");
    if (hlo_type_is_float(type)) {
        LLVMValueRef code = float_encode(g, type, value.v);
        LLVMTypeRef width = LLVMIntTypeInContext(g->cx, (unsigned)hlo_type_bits(type));
        return LLVMBuildTrunc(g->b, code, width, "");
    }
    return value.v;
}

Value value_from_bits(Gen *g, HloType type, LLVMValueRef bits) {
    if (type == HLO_F32 || type == HLO_F64) return (Value){LLVMBuildBitCast(g->b, bits, value_type(g, type), ""), NULL};
    if (type == HLO_PRED) return (Value){build_icmp(g, LLVMIntNE, bits, LLVMConstNull(LLVMTypeOf(bits))), NULL};
    if (hlo_type_is_float(type)) {
        return (Value){float_decode(g, type, LLVMBuildZExt(g->b, bits, storage_type(g, type), "")), NULL};
    }
    return (Value){bits, NULL};
}
