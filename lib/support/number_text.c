// Floating-point numbers as text, in the manner of "%.Ng".
//
// Most numbers in modules are small integers or decimals of moderate size; those are converted with exact 128-bit
// arithmetic (so the digits are those that printf gives) without the cost of printf, which takes the rest.

#include "hlo/buffer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_DIGITS = 17, MAX_EXACT_POWER = 22 };

// The range in which the arithmetic below cannot overflow: 2^53 * 10^22 < 2^127 above, 69 fraction bits below.
static const double smallest_fast = 1e-5, past_fast = 1e18;

static const double powers[MAX_EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

typedef unsigned __int128 Wide;

static Wide wide_power(int exponent) {
    enum { LARGEST_U64_POWER = 19 };
    if (exponent <= LARGEST_U64_POWER) return (Wide)(uint64_t)powers[exponent];
    return (Wide)(uint64_t)powers[LARGEST_U64_POWER] * (uint64_t)powers[exponent - LARGEST_U64_POWER];
}

// A rounded decimal: digits * 10^(exponent - digit_count + 1); the first digit is not 0.
typedef struct Decimal {
    uint64_t digits;
    int digit_count;
    int exponent;
} Decimal;

// magnitude * 10^power, rounded to nearest, ties to even; exact for magnitudes in the fast range.
static uint64_t scaled(double magnitude, int power) {
    uint64_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    int shift = 1023 + 52 - (int)(bits >> 52);  // magnitude = significand / 2^shift
    Wide value = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    Wide unit = 1;
    if (power >= 0)
        value *= wide_power(power);
    else
        unit = wide_power(-power);
    if (shift < 0)
        value <<= -shift;
    else
        unit <<= shift;

    Wide quotient, rest;
    if (power >= 0) {  // a power of two: no division
        quotient = shift > 0 ? value >> shift : value;
        rest = value & (unit - 1);
    } else {
        quotient = value / unit;
        rest = value % unit;
    }
    Wide twice = rest * 2;
    return (uint64_t)quotient + (twice > unit || (twice == unit && ((uint64_t)quotient & 1)));
}

static Decimal decimal_of(double magnitude, int digit_count) {
    // floor(log10) up to one too low; the loop below corrects it.
    int exponent = (int)floor((ilogb(magnitude)) * 0.30102999566398120);
    uint64_t past = (uint64_t)powers[digit_count];
    uint64_t digits = scaled(magnitude, digit_count - 1 - exponent);
    while (digits >= past) digits = scaled(magnitude, digit_count - 1 - ++exponent);
    return (Decimal){digits, digit_count, exponent};
}

static void put_exponent_form(HloBuffer *out, const char *digits, int count, int exponent) {
    hlo_put_char(out, digits[0]);
    if (count > 1) {
        hlo_put_char(out, '.');
        hlo_put(out, digits + 1, (size_t)count - 1);
    }
    hlo_put(out, exponent < 0 ? "e-" : "e+", 2);
    int size = abs(exponent);
    if (size < 10) hlo_put_char(out, '0');
    hlo_put_uint(out, (uint64_t)size);
}

static void put_zeros(HloBuffer *out, int count) {
    while (count-- > 0) hlo_put_char(out, '0');
}

static void put_decimal(HloBuffer *out, bool negative, Decimal decimal) {
    char digits[MAX_DIGITS];
    uint64_t rest = decimal.digits;
    for (int i = decimal.digit_count; i-- > 0; rest /= 10) digits[i] = (char)('0' + rest % 10);
    int count = decimal.digit_count;
    while (count > 1 && digits[count - 1] == '0') count--;

    if (negative) hlo_put_char(out, '-');
    int exponent = decimal.exponent, whole = exponent + 1;
    if (exponent < -4 || exponent >= decimal.digit_count) {
        put_exponent_form(out, digits, count, exponent);
    } else if (whole <= 0) {
        hlo_put(out, "0.", 2);
        put_zeros(out, -whole);
        hlo_put(out, digits, (size_t)count);
    } else if (count <= whole) {
        hlo_put(out, digits, (size_t)count);
        put_zeros(out, whole - count);
    } else {
        hlo_put(out, digits, (size_t)whole);
        hlo_put_char(out, '.');
        hlo_put(out, digits + whole, (size_t)(count - whole));
    }
}

// An integer that "%.Ng" prints with all its digits.
static bool is_short_integer(double value, int digits) {
    return fabs(value) < powers[digits] && value == (double)(int64_t)value && (value != 0 || !signbit(value));
}

static bool is_fast(double magnitude) {
    return magnitude >= smallest_fast && magnitude < past_fast;
}

static void put_slow(HloBuffer *out, double value, int digits) {
    if (isnan(value))
        hlo_put_string(out, signbit(value) ? "-nan" : "nan");
    else if (isinf(value))
        hlo_put_string(out, value < 0 ? "-inf" : "inf");
    else if (value == 0)
        hlo_put_string(out, signbit(value) ? "-0" : "0");
    else
        hlo_putf(out, "%.*g", digits, value);
}

void hlo_put_double(HloBuffer *out, double value, int digits) {
    double magnitude = fabs(value);
    if (magnitude < past_fast && is_short_integer(value, digits))
        hlo_put_int(out, (int64_t)value);
    else if (is_fast(magnitude))
        put_decimal(out, signbit(value), decimal_of(magnitude, digits));
    else
        put_slow(out, value, digits);
}

// The value that the decimal reads as, correctly rounded to double: both factors are exact.
static double value_of(Decimal decimal) {
    int power = decimal.exponent - decimal.digit_count + 1;
    return power < 0 ? (double)decimal.digits / powers[-power] : (double)decimal.digits * powers[power];
}

// Whether the text from `start` on reads as `value` in the narrow (f32) or wide (f64) type.
static bool text_reads_as(const HloBuffer *out, size_t start, double value, bool narrow) {
    if (out->failed) return true;
    const char *text = out->data + start;
    return narrow ? (double)strtof(text, NULL) == value : strtod(text, NULL) == value;
}

// True when the decimal surely reads as `value`. For f32 the step through double could round twice, so a decimal
// that lands in the middle between two f32 is left to the slow path.
static bool reads_as(Decimal decimal, double value, bool narrow) {
    double wide = value_of(decimal);
    if (!narrow) return wide == value;
    return (double)(float)wide == value;
}

static bool is_f32_middle(double value) {
    enum { DROPPED_BITS = 29 };
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (bits & ((UINT64_C(1) << DROPPED_BITS) - 1)) == UINT64_C(1) << (DROPPED_BITS - 1);
}

static void put_round_trip(HloBuffer *out, double value, int few, int many, bool narrow) {
    double magnitude = fabs(value);
    if (magnitude < past_fast && is_short_integer(value, few)) {
        hlo_put_int(out, (int64_t)value);
        return;
    }
    if (is_fast(magnitude)) {
        Decimal decimal = decimal_of(magnitude, few);
        if (!narrow || !is_f32_middle(value_of(decimal))) {
            if (!reads_as(decimal, magnitude, narrow)) decimal = decimal_of(magnitude, many);
            put_decimal(out, signbit(value), decimal);
            return;
        }
    }
    size_t start = out->size;
    put_slow(out, value, few);
    if (!isfinite(value) || value == 0 || text_reads_as(out, start, value, narrow)) return;
    out->size = start;
    put_slow(out, value, many);
}

void hlo_put_f32(HloBuffer *out, float value) {
    put_round_trip(out, (double)value, 6, 9, true);
}

void hlo_put_f64(HloBuffer *out, double value) {
    put_round_trip(out, value, 15, 17, false);
}
