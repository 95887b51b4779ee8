// Computation types: widening elements before an operation, rounding them after it, and `convert`.
//
//   bf16[n] x ──hlo_widen──▶ float ──kernel──▶ float ──hlo_narrow──▶ bf16[n]
//
// Source: the interpreter chapter, §1.2 and §2.

#include <complex.h>
#include <math.h>
#include <string.h>

#include "lib/eval/eval.h"

HloWide hlo_wide_of(HloType type) {
    switch (hlo_type_class(type)) {
    case HLO_CLASS_PRED: return HLO_WIDE_PRED;
    case HLO_CLASS_SIGNED: return HLO_WIDE_S64;
    case HLO_CLASS_UNSIGNED: return HLO_WIDE_U64;
    case HLO_CLASS_FLOAT: return type == HLO_F64 ? HLO_WIDE_F64 : HLO_WIDE_F32;
    case HLO_CLASS_COMPLEX: return type == HLO_C128 ? HLO_WIDE_C128 : HLO_WIDE_C64;
    case HLO_CLASS_TUPLE:
    case HLO_CLASS_TOKEN:
    case HLO_CLASS_OPAQUE:
    case HLO_CLASS_BUFFER: break;
    }
    return HLO_WIDE_COUNT;
}

size_t hlo_wide_bytes(HloWide wide) {
    static const size_t bytes[HLO_WIDE_COUNT + 1] = {1, 8, 8, 4, 8, 8, 16, 0};
    return bytes[wide];
}

size_t hlo_element_bytes(HloType type) {
    int bits = hlo_type_is_array(type) ? hlo_type_bits(type) : 0;
    return (size_t)(bits + 7) / 8;
}

// ---- widening -------------------------------------------------------------------------------------------

#define WIDEN(from_type, wide_type)                     \
    do {                                                \
        const from_type *in = from;                     \
        wide_type *out = (wide_type *)block->bytes;     \
        for (int64_t i = 0; i < n; i++) out[i] = in[i]; \
    } while (0)

static void widen_bf16(const uint16_t *in, int64_t n, float *out) {
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)in[i] << 16;
        memcpy(out + i, &bits, sizeof bits);
    }
}

// The exponent is brought to that of f32 by a multiplication, which is exact and makes subnormals normal.
static void widen_f16(const uint16_t *in, int64_t n, float *out) {
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)(in[i] & 0x7fff) << 13;
        float value;
        memcpy(&value, &bits, sizeof value);
        value *= 0x1p112f;
        memcpy(&bits, &value, sizeof bits);
        bool is_special = (in[i] & 0x7c00) == 0x7c00;
        bits |= (is_special ? 0x7f800000 : 0) | (uint32_t)(in[i] & 0x8000) << 16;
        memcpy(out + i, &bits, sizeof bits);
    }
}

static void widen_small_float(HloType type, const uint8_t *in, int64_t n, float *out) {
    for (int64_t i = 0; i < n; i++) out[i] = (float)hlo_float_decode(type, in[i]);
}

const void *hlo_widen(HloType type, const void *from, int64_t n, HloBlock *block) {
    switch (type) {
    case HLO_S1:
    case HLO_S2:
    case HLO_S4:
    case HLO_S8: WIDEN(int8_t, int64_t); break;
    case HLO_S16: WIDEN(int16_t, int64_t); break;
    case HLO_S32: WIDEN(int32_t, int64_t); break;
    case HLO_U1:
    case HLO_U2:
    case HLO_U4:
    case HLO_U8: WIDEN(uint8_t, uint64_t); break;
    case HLO_U16: WIDEN(uint16_t, uint64_t); break;
    case HLO_U32: WIDEN(uint32_t, uint64_t); break;
    case HLO_BF16: widen_bf16(from, n, (float *)block->bytes); break;
    case HLO_F16: widen_f16(from, n, (float *)block->bytes); break;
    case HLO_F8E5M2:
    case HLO_F8E4M3:
    case HLO_F8E4M3FN:
    case HLO_F8E4M3B11FNUZ:
    case HLO_F8E3M4:
    case HLO_F8E5M2FNUZ:
    case HLO_F8E4M3FNUZ:
    case HLO_F8E8M0FNU:
    case HLO_F4E2M1FN:
    case HLO_F6E3M2FN:
    case HLO_F6E2M3FN: widen_small_float(type, from, n, (float *)block->bytes); break;
    case HLO_PRED:
    case HLO_S64:
    case HLO_U64:
    case HLO_F32:
    case HLO_F64:
    case HLO_C64:
    case HLO_C128: return from;
    case HLO_TOKEN:
    case HLO_OPAQUE:
    case HLO_TUPLE:
    case HLO_BUFFER:
    case HLO_TYPE_COUNT: break;
    }
    return block->bytes;
}

// ---- narrowing ------------------------------------------------------------------------------------------

// Keeps the low bits.
#define NARROW_INT(wide_type, to_type)                           \
    do {                                                         \
        const wide_type *in = wide;                              \
        to_type *out = to;                                       \
        for (int64_t i = 0; i < n; i++) out[i] = (to_type)in[i]; \
    } while (0)

// Keeps the low `bits`, sign-extended in their byte.
static void narrow_signed_bits(int bits, const int64_t *in, int64_t n, int8_t *out) {
    int shift = 64 - bits;
    for (int64_t i = 0; i < n; i++) out[i] = (int8_t)((int64_t)((uint64_t)in[i] << shift) >> shift);
}

static void narrow_unsigned_bits(int bits, const uint64_t *in, int64_t n, uint8_t *out) {
    for (int64_t i = 0; i < n; i++) out[i] = (uint8_t)(in[i] & (((uint64_t)1 << bits) - 1));
}

// Nearest, ties to even; every NaN becomes the quiet one of its sign.
static void narrow_bf16(const float *in, int64_t n, uint16_t *out) {
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, in + i, sizeof bits);
        uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        uint32_t nan = (bits >> 16 & 0x8000) | 0x7fc0;
        out[i] = (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
    }
}

// Rounds to the nearest, the even one of two. `bits` are those of a magnitude.
static uint32_t narrowed_f16(uint32_t bits) {
    const uint32_t infinity = 0x7f800000, overflow = 0x477ff000, least_normal = 0x38800000;
    if (bits > infinity) return 0x7e00;
    if (bits >= overflow) return 0x7c00;
    // Next to 0.5 the last place of f32 is that of f16's subnormals, so the addition rounds to it.
    if (bits < least_normal) {
        float value;
        memcpy(&value, &bits, sizeof value);
        value += 0.5f;
        memcpy(&bits, &value, sizeof bits);
        return bits - 0x3f000000;
    }
    return (bits + 0xfff + (bits >> 13 & 1) - (112U << 23)) >> 13;
}

static void narrow_f16(const float *in, int64_t n, uint16_t *out) {
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, in + i, sizeof bits);
        out[i] = (uint16_t)(narrowed_f16(bits & 0x7fffffff) | (bits >> 16 & 0x8000));
    }
}

static void narrow_small_float(HloType type, const float *in, int64_t n, uint8_t *out) {
    for (int64_t i = 0; i < n; i++) out[i] = (uint8_t)hlo_float_encode(type, in[i]);
}

void hlo_narrow(HloType type, const void *wide, int64_t n, void *to) {
    switch (type) {
    case HLO_S1:
    case HLO_S2:
    case HLO_S4: narrow_signed_bits(hlo_type_bits(type), wide, n, to); break;
    case HLO_S8: NARROW_INT(int64_t, int8_t); break;
    case HLO_S16: NARROW_INT(int64_t, int16_t); break;
    case HLO_S32: NARROW_INT(int64_t, int32_t); break;
    case HLO_U1:
    case HLO_U2:
    case HLO_U4: narrow_unsigned_bits(hlo_type_bits(type), wide, n, to); break;
    case HLO_U8: NARROW_INT(uint64_t, uint8_t); break;
    case HLO_U16: NARROW_INT(uint64_t, uint16_t); break;
    case HLO_U32: NARROW_INT(uint64_t, uint32_t); break;
    case HLO_BF16: narrow_bf16(wide, n, to); break;
    case HLO_F16: narrow_f16(wide, n, to); break;
    case HLO_F8E5M2:
    case HLO_F8E4M3:
    case HLO_F8E4M3FN:
    case HLO_F8E4M3B11FNUZ:
    case HLO_F8E3M4:
    case HLO_F8E5M2FNUZ:
    case HLO_F8E4M3FNUZ:
    case HLO_F8E8M0FNU:
    case HLO_F4E2M1FN:
    case HLO_F6E3M2FN:
    case HLO_F6E2M3FN: narrow_small_float(type, wide, n, to); break;
    case HLO_PRED:
    case HLO_S64:
    case HLO_U64:
    case HLO_F32:
    case HLO_F64:
    case HLO_C64:
    case HLO_C128:
        if (wide != to) memmove(to, wide, (size_t)n * hlo_element_bytes(type));
        break;
    case HLO_TOKEN:
    case HLO_OPAQUE:
    case HLO_TUPLE:
    case HLO_BUFFER:
    case HLO_TYPE_COUNT: break;
    }
}

// ---- convert --------------------------------------------------------------------------------------------

// A float to an integer type: towards zero, at the ends of the type where it is outside, NaN to 0.
static int64_t saturated_signed(double value, int bits) {
    if (isnan(value)) return 0;
    double end = ldexp(1, bits - 1);
    if (value >= end) return (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
    return value <= -end ? (int64_t)(~(uint64_t)0 << (bits - 1)) : (int64_t)value;
}

static uint64_t saturated_unsigned(double value, int bits) {
    if (!(value > 0)) return 0;
    return value >= ldexp(1, bits) ? ~(uint64_t)0 >> (64 - bits) : (uint64_t)value;
}

// One loop for each pair of computation types: `value` is the element read, EXPR what is stored.
#define CONVERT(from_type, to_type, EXPR) \
    do {                                  \
        const from_type *in = from;       \
        to_type *out = to;                \
        for (int64_t i = 0; i < n; i++) { \
            from_type value = in[i];      \
            out[i] = (to_type)(EXPR);     \
        }                                 \
    } while (0)

// From a real computation type to every other one.
#define CONVERT_REAL(from_type, SIGNED, UNSIGNED)                         \
    switch (to_wide) {                                                    \
    case HLO_WIDE_PRED: CONVERT(from_type, uint8_t, value != 0); break;   \
    case HLO_WIDE_S64: CONVERT(from_type, int64_t, SIGNED); break;        \
    case HLO_WIDE_U64: CONVERT(from_type, uint64_t, UNSIGNED); break;     \
    case HLO_WIDE_F32: CONVERT(from_type, float, value); break;           \
    case HLO_WIDE_F64: CONVERT(from_type, double, value); break;          \
    case HLO_WIDE_C64: CONVERT(from_type, float complex, value); break;   \
    case HLO_WIDE_C128: CONVERT(from_type, double complex, value); break; \
    case HLO_WIDE_COUNT: break;                                           \
    }

static void convert_complex(HloWide from_wide, const void *from, HloWide to_wide, void *to, int64_t n) {
    if (from_wide == to_wide) {
        memmove(to, from, (size_t)n * hlo_wide_bytes(to_wide));
    } else if (from_wide == HLO_WIDE_C64) {
        CONVERT(float complex, double complex, value);
    } else {
        CONVERT(double complex, float complex, value);
    }
}

// Between computation types; `bits` is the width of the integer type that a float is meant for.
static void convert_wide(HloWide from_wide, const void *from, HloWide to_wide, void *to, int64_t n, int bits) {
    switch (from_wide) {
    case HLO_WIDE_PRED: CONVERT_REAL(uint8_t, value, value); break;
    case HLO_WIDE_S64: CONVERT_REAL(int64_t, value, (uint64_t)value); break;
    case HLO_WIDE_U64: CONVERT_REAL(uint64_t, (int64_t)value, value); break;
    case HLO_WIDE_F32: CONVERT_REAL(float, saturated_signed(value, bits), saturated_unsigned(value, bits)); break;
    case HLO_WIDE_F64: CONVERT_REAL(double, saturated_signed(value, bits), saturated_unsigned(value, bits)); break;
    case HLO_WIDE_C64:
    case HLO_WIDE_C128: convert_complex(from_wide, from, to_wide, to, n); break;
    case HLO_WIDE_COUNT: break;
    }
}

// A double goes to an eight-bit or smaller float in one rounding; everything else passes through f32.
static bool narrows_from_double(HloType from_type, HloType to_type) {
    return from_type == HLO_F64 && hlo_type_is_float(to_type) && hlo_type_bits(to_type) <= 8;
}

static void convert_block(HloType from_type, const void *from, HloType to_type, void *to, int64_t n) {
    HloBlock wide_from, wide_to;
    const void *in = hlo_widen(from_type, from, n, &wide_from);
    if (narrows_from_double(from_type, to_type)) {
        for (int64_t i = 0; i < n; i++) {
            ((uint8_t *)to)[i] = (uint8_t)hlo_float_encode(to_type, ((const double *)in)[i]);
        }
        return;
    }
    convert_wide(hlo_wide_of(from_type), in, hlo_wide_of(to_type), wide_to.bytes, n, hlo_type_bits(to_type));
    hlo_narrow(to_type, wide_to.bytes, n, to);
}

void hlo_convert(HloType from_type, const void *from, HloType to_type, void *to, int64_t n) {
    size_t from_bytes = hlo_element_bytes(from_type), to_bytes = hlo_element_bytes(to_type);
    for (int64_t at = 0; at < n; at += HLO_BLOCK) {
        int64_t count = n - at < HLO_BLOCK ? n - at : HLO_BLOCK;
        const char *in = (const char *)from + (size_t)at * from_bytes;
        char *out = (char *)to + (size_t)at * to_bytes;
        if (from_type == to_type) {
            memmove(out, in, (size_t)count * from_bytes);
        } else {
            convert_block(from_type, in, to_type, out, count);
        }
    }
}

void hlo_convert_wide(HloType from_type, const void *from, HloType to_type, void *wide, int64_t n) {
    size_t from_bytes = hlo_element_bytes(from_type), wide_bytes = hlo_wide_bytes(hlo_wide_of(to_type));
    for (int64_t at = 0; at < n; at += HLO_BLOCK) {
        HloBlock own, block;
        int64_t count = n - at < HLO_BLOCK ? n - at : HLO_BLOCK;
        hlo_convert(from_type, (const char *)from + (size_t)at * from_bytes, to_type, own.bytes, count);
        memcpy((char *)wide + (size_t)at * wide_bytes, hlo_widen(to_type, own.bytes, count, &block),
               (size_t)count * wide_bytes);
    }
}
