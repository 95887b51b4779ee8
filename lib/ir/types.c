// Primitive types: the rows of types.def, lookup by spelling, and float conversion driven by the row's columns.
//
// A float type's pattern is sign | exponent | mantissa. Reading exponent and mantissa together as one number gives
// codes that rise with the value, so rounding is integer arithmetic on codes: a carry out of the mantissa moves
// into the exponent by itself, and so does the step from the largest subnormal to the smallest normal.

#include "hlo/types.h"

#include <math.h>
#include <string.h>

static const HloTypeInfo infos[HLO_TYPE_COUNT] = {
#define HLO_TYPE(name, spelling, number, bits, class, exponent, mantissa, bias, specials, digits)                 \
    [HLO_##name] = {spelling, number, bits, HLO_CLASS_##class, exponent, mantissa, bias, HLO_SPECIALS_##specials, \
                    digits},
#include "hlo/types.def"
};

static const unsigned char spelling_sizes[HLO_TYPE_COUNT] = {
#define HLO_TYPE(name, spelling, number, bits, class, exponent, mantissa, bias, specials, digits) \
    [HLO_##name] = sizeof(spelling) - 1,
#include "hlo/types.def"
};

const HloTypeInfo *hlo_type_info(HloType type) {
    return &infos[type];
}

// Settles nearly all words that are no type: but for pred, token, tuple, opaque and buffer, every spelling is a letter or
// two and a digit.
static bool may_be_type(const char *text, size_t size) {
    if (size < 2) return false;
    switch (text[0]) {
    case 's':
    case 'u':
    case 'f':
    case 'c': return text[1] >= '0' && text[1] <= '9';
    case 'b': return size == 4 || size == 6;
    case 'p': return size == 4;
    case 't': return size == 5;
    case 'o': return size == 6;
    default: return false;
    }
}

bool hlo_type_find(const char *text, size_t size, HloType *out) {
    if (!may_be_type(text, size)) return false;
    for (int type = 0; type < HLO_TYPE_COUNT; type++) {
        if (spelling_sizes[type] != size) continue;
        if (infos[type].name[size - 1] != text[size - 1] || memcmp(infos[type].name, text, size) != 0) continue;
        *out = (HloType)type;
        return true;
    }
    return false;
}

// ---- facts about codes (patterns without the sign) ------------------------------------------------------

static uint64_t all_ones(int bits) {
    return ((uint64_t)1 << bits) - 1;
}

static uint64_t sign_bit(const HloTypeInfo *info) {
    return (uint64_t)1 << (info->exponent_bits + info->mantissa_bits);
}

// The code of infinity; IEEE only.
static uint64_t infinity_code(const HloTypeInfo *info) {
    return all_ones(info->exponent_bits) << info->mantissa_bits;
}

static uint64_t largest_finite_code(const HloTypeInfo *info) {
    uint64_t ones = all_ones(info->exponent_bits + info->mantissa_bits);
    switch (info->specials) {
    case HLO_SPECIALS_IEEE: return infinity_code(info) - 1;
    case HLO_SPECIALS_FN:
    case HLO_SPECIALS_SCALE: return ones - 1;
    case HLO_SPECIALS_FNUZ:
    case HLO_SPECIALS_FINITE:
    case HLO_SPECIALS_NONE: break;
    }
    return ones;
}

static double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

enum { DOUBLE_MANTISSA = 52, DOUBLE_BIAS = 1023 };

// A NaN with the given mantissa bits left-aligned, so that encoding finds them again.
static double nan_with(bool negative, uint64_t mantissa, int mantissa_bits) {
    uint64_t bits = (uint64_t)0x7ff << DOUBLE_MANTISSA | mantissa << (DOUBLE_MANTISSA - mantissa_bits);
    return double_of(bits | (uint64_t)negative << 63);
}

// ---- decoding -------------------------------------------------------------------------------------------

// value = 2^(code - 127); all ones is NaN.
static double decode_scale(const HloTypeInfo *info, uint64_t bits) {
    if (bits == all_ones(info->exponent_bits)) return nan_with(false, 1, 1);
    return ldexp(1.0, (int)bits - info->bias);
}

double hlo_float_decode(HloType type, uint64_t bits) {
    if (type == HLO_F64) return double_of(bits);
    const HloTypeInfo *info = &infos[type];
    if (info->specials == HLO_SPECIALS_SCALE) return decode_scale(info, bits & 0xff);

    bool negative = bits & sign_bit(info);
    uint64_t code = bits & (sign_bit(info) - 1);
    uint64_t mantissa = code & all_ones(info->mantissa_bits);
    int exponent = (int)(code >> info->mantissa_bits);
    if (info->specials == HLO_SPECIALS_FNUZ && negative && code == 0) return nan_with(true, 1, 1);
    if (info->specials == HLO_SPECIALS_IEEE && code == infinity_code(info)) return negative ? -INFINITY : INFINITY;
    if (code > largest_finite_code(info)) return nan_with(negative, mantissa, info->mantissa_bits);

    double value;
    if (exponent == 0) {
        value = ldexp((double)mantissa, 1 - info->bias - info->mantissa_bits);
    } else {
        uint64_t wide = (uint64_t)(exponent - info->bias + DOUBLE_BIAS) << DOUBLE_MANTISSA;
        value = double_of(wide | mantissa << (DOUBLE_MANTISSA - info->mantissa_bits));
    }
    return negative ? -value : value;
}

// ---- encoding -------------------------------------------------------------------------------------------

// `value` / 2^shift, rounded to nearest, ties to even.
static uint64_t shift_right_rounded(uint64_t value, int shift) {
    if (shift <= 0) return value << -shift;
    if (shift > 63) return 0;
    uint64_t quotient = value >> shift;
    uint64_t rest = value & all_ones(shift);
    uint64_t half = (uint64_t)1 << (shift - 1);
    return quotient + (rest > half || (rest == half && (quotient & 1)));
}

// The nearest code of a finite magnitude; it may lie past the largest finite one.
static uint64_t nearest_code(const HloTypeInfo *info, double magnitude) {
    uint64_t bits = bits_of(magnitude);
    int exponent = (int)(bits >> DOUBLE_MANTISSA) - DOUBLE_BIAS;
    if (exponent == -DOUBLE_BIAS) return 0;  // zero, and subnormal doubles, which all types but f64 round to zero
    uint64_t significand = (bits & all_ones(DOUBLE_MANTISSA)) | (uint64_t)1 << DOUBLE_MANTISSA;
    int smallest = 1 - info->bias;
    int shift = DOUBLE_MANTISSA - info->mantissa_bits;
    if (exponent < smallest) return shift_right_rounded(significand, shift + smallest - exponent);
    uint64_t rounded = shift_right_rounded(significand, shift);
    return ((uint64_t)(exponent - smallest) << info->mantissa_bits) + rounded;
}

static uint64_t encode_nan(const HloTypeInfo *info, uint64_t double_bits) {
    uint64_t sign = double_bits >> 63 ? sign_bit(info) : 0;
    uint64_t mantissa = double_bits >> (DOUBLE_MANTISSA - info->mantissa_bits) & all_ones(info->mantissa_bits);
    switch (info->specials) {
    case HLO_SPECIALS_IEEE:
        if (!mantissa) mantissa = (uint64_t)1 << (info->mantissa_bits - 1);
        return sign | infinity_code(info) | mantissa;
    case HLO_SPECIALS_FN: return sign | all_ones(info->exponent_bits + info->mantissa_bits);
    case HLO_SPECIALS_FNUZ: return sign_bit(info);
    case HLO_SPECIALS_SCALE: return all_ones(info->exponent_bits);
    case HLO_SPECIALS_FINITE:
    case HLO_SPECIALS_NONE: break;
    }
    return sign_bit(info) ^ sign;  // no NaN: a zero, negative for a positive NaN, as the reference has it
}

static uint64_t overflow_code(const HloTypeInfo *info) {
    switch (info->specials) {
    case HLO_SPECIALS_IEEE: return infinity_code(info);
    case HLO_SPECIALS_FN: return all_ones(info->exponent_bits + info->mantissa_bits);
    case HLO_SPECIALS_FNUZ: return sign_bit(info);
    case HLO_SPECIALS_SCALE:
    case HLO_SPECIALS_FINITE:
    case HLO_SPECIALS_NONE: break;
    }
    return largest_finite_code(info);
}

// An unsigned power of two; zero and negative values have no pattern and become NaN. A tie goes up and what is below
// the range becomes the smallest power. Source: the interpreter chapter, §2.1.
static uint64_t encode_scale(const HloTypeInfo *info, double value) {
    uint64_t none = all_ones(info->exponent_bits);
    if (!(value > 0) || isinf(value)) return none;
    int exponent;
    double fraction = frexp(value, &exponent);  // value = fraction * 2^exponent, 1/2 <= fraction < 1
    int64_t code = exponent - 1 + info->bias;
    if (fraction >= 0.75) code++;
    if (code < 0) code = 0;
    return (uint64_t)code < none ? (uint64_t)code : none;
}

static uint64_t encode_f32(double value) {
    float narrow = (float)value;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

uint64_t hlo_float_encode(HloType type, double value) {
    uint64_t double_bits = bits_of(value);
    if (type == HLO_F64) return double_bits;
    const HloTypeInfo *info = &infos[type];
    if (isnan(value)) return encode_nan(info, double_bits);
    if (type == HLO_F32) return encode_f32(value);
    if (info->specials == HLO_SPECIALS_SCALE) return encode_scale(info, value);

    uint64_t code = isinf(value) ? UINT64_MAX : nearest_code(info, fabs(value));
    if (code > largest_finite_code(info)) code = overflow_code(info);
    bool unsigned_zero = info->specials == HLO_SPECIALS_FNUZ && (code == 0 || code == sign_bit(info));
    return code | (signbit(value) && !unsigned_zero ? sign_bit(info) : 0);
}

double hlo_float_max(HloType type) {
    return hlo_float_decode(type, largest_finite_code(hlo_type_info(type)));
}
