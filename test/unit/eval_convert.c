// `convert` between all types of at most sixteen bits, against computations that are slow and share nothing with it.
//
// Floats are decoded by their formats' formula and encoded by looking for the nearest code; integers are reduced modulo
// their range. The rules are those of the interpreter chapter, §2.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lib/eval/eval.h"

typedef enum Kind { IEEE, FN, FNUZ, FINITE, SCALE } Kind;

typedef struct Format {
    HloType type;
    int exponent, mantissa, bias;
    Kind kind;
    unsigned nan;  // the code that NaN becomes; no NaN: 0
} Format;

static const Format formats[] = {
    {HLO_F16, 5, 10, 15, IEEE, 0x7e00},    {HLO_BF16, 8, 7, 127, IEEE, 0x7fc0},
    {HLO_F8E5M2, 5, 2, 15, IEEE, 0x7e},    {HLO_F8E4M3, 4, 3, 7, IEEE, 0x7c},
    {HLO_F8E4M3FN, 4, 3, 7, FN, 0x7f},     {HLO_F8E4M3B11FNUZ, 4, 3, 11, FNUZ, 0x80},
    {HLO_F8E3M4, 3, 4, 3, IEEE, 0x78},     {HLO_F8E5M2FNUZ, 5, 2, 16, FNUZ, 0x80},
    {HLO_F8E4M3FNUZ, 4, 3, 8, FNUZ, 0x80}, {HLO_F8E8M0FNU, 8, 0, 127, SCALE, 0xff},
    {HLO_F4E2M1FN, 2, 1, 1, FINITE, 0},
};

typedef struct Whole {
    HloType type;
    int bits;
    bool is_signed;
} Whole;

static const Whole wholes[] = {
    {HLO_S2, 2, true},  {HLO_U2, 2, false},  {HLO_S4, 4, true},    {HLO_U4, 4, false},  {HLO_S8, 8, true},
    {HLO_U8, 8, false}, {HLO_S16, 16, true}, {HLO_U16, 16, false}, {HLO_S32, 32, true}, {HLO_U32, 32, false},
};

// ---- the slow way ---------------------------------------------------------------------------------------

static int width(const Format *f) {
    return f->exponent + f->mantissa + (f->kind == SCALE ? 0 : 1);
}

static double slow_decode(const Format *f, unsigned code) {
    if (f->kind == SCALE) return code == 0xff ? NAN : ldexp(1, (int)code - f->bias);
    unsigned top = (1u << f->exponent) - 1, e = code >> f->mantissa & top, m = code & ((1u << f->mantissa) - 1);
    unsigned sign = code >> (f->exponent + f->mantissa) & 1;
    if (f->kind == FNUZ && code == 0x80) return NAN;
    if (f->kind == FN && e == top && m == (1u << f->mantissa) - 1) return NAN;
    if (f->kind == IEEE && e == top) return m ? NAN : sign ? -INFINITY : INFINITY;
    double fraction = (double)m / (double)(1u << f->mantissa);
    double magnitude = e ? ldexp(1 + fraction, (int)e - f->bias) : ldexp(fraction, 1 - f->bias);
    return sign ? -magnitude : magnitude;
}

// The largest code of a finite positive value.
static unsigned largest_finite(const Format *f) {
    unsigned code = (1u << (f->exponent + f->mantissa)) - 1;
    while (!isfinite(slow_decode(f, code))) code--;
    return code;
}

static unsigned slow_scale(const Format *f, double x) {
    if (!(x > 0)) return f->nan;
    for (unsigned code = 0; code < 0xff; code++) {
        if (x < 1.5 * slow_decode(f, code)) return code;
    }
    return f->nan;
}

// The nearest code, the even one of two; what rounds beyond the largest becomes an infinity, NaN or the largest.
static unsigned slow_encode(const Format *f, double x) {
    if (f->kind == SCALE) return slow_scale(f, x);
    unsigned sign = signbit(x) ? 1u << (f->exponent + f->mantissa) : 0;
    // Without a code for it, NaN becomes a zero, and (as in the reference) one of the other sign.
    if (isnan(x) && f->kind == FINITE) return sign ? 0 : 1u << (f->exponent + f->mantissa);
    if (isnan(x)) return f->kind == FNUZ ? f->nan : f->nan | sign;
    unsigned most = largest_finite(f), low = 0, high = most;
    double magnitude = fabs(x);
    while (low < high) {  // the largest code whose value is not above
        unsigned middle = (low + high + 1) / 2;
        if (slow_decode(f, middle) <= magnitude)
            low = middle;
        else
            high = middle - 1;
    }
    double below = slow_decode(f, low);
    double above = low < most ? slow_decode(f, low + 1) : below + (below - slow_decode(f, low - 1));
    bool up = magnitude - below > above - magnitude || (magnitude - below == above - magnitude && low % 2);
    unsigned code = low + (up || isinf(x));
    if (code > most) return f->kind == FINITE ? most | sign : f->kind == FNUZ ? f->nan : code | sign;
    return f->kind == FNUZ && code == 0 ? 0 : code | sign;
}

static int64_t slow_wrap(const Whole *to, int64_t x) {
    int64_t range = (int64_t)1 << to->bits, rest = ((x % range) + range) % range;
    return to->is_signed && rest >= range / 2 ? rest - range : rest;
}

static int64_t slow_saturate(const Whole *to, double x) {
    double low = to->is_signed ? -ldexp(1, to->bits - 1) : 0;
    double high = to->is_signed ? ldexp(1, to->bits - 1) - 1 : ldexp(1, to->bits) - 1;
    if (isnan(x)) return 0;
    return (int64_t)(x >= high ? high : x <= low ? low : trunc(x));
}

// ---- the way under test ---------------------------------------------------------------------------------

static double as_double(HloType type, unsigned code) {
    double value;
    hlo_convert(type, &code, HLO_F64, &value, 1);
    return value;
}

static unsigned from_float(HloType type, float x) {
    unsigned code = 0;
    hlo_convert(HLO_F32, &x, type, &code, 1);
    return code;
}

static unsigned from_double(HloType type, double x) {
    unsigned code = 0;
    hlo_convert(HLO_F64, &x, type, &code, 1);
    return code;
}

static int64_t whole_to_long(HloType type, const void *element) {
    int64_t value;
    hlo_convert(type, element, HLO_S64, &value, 1);
    return value;
}

static void assert_same_double(double a, double b) {
    if (isnan(a) || isnan(b)) {
        assert_true(isnan(a) && isnan(b));
        return;
    }
    assert_memory_equal(&a, &b, sizeof a);
}

// ---- tests ----------------------------------------------------------------------------------------------

static void convert_every_narrow_float_decodes_by_its_format(void **state) {
    (void)state;
    for (size_t k = 0; k < HLO_COUNT(formats); k++) {
        const Format *f = formats + k;
        for (unsigned code = 0; code < 1u << width(f); code++) {
            assert_same_double(as_double(f->type, code), slow_decode(f, code));
        }
    }
}

static void convert_every_narrow_float_keeps_its_code_on_the_way_back(void **state) {
    (void)state;
    for (size_t k = 0; k < HLO_COUNT(formats); k++) {
        const Format *f = formats + k;
        for (unsigned code = 0; code < 1u << width(f); code++) {
            double value = slow_decode(f, code);
            if (isnan(value)) continue;
            assert_int_equal(from_float(f->type, (float)value), code);
        }
    }
}

static void check_float(const Format *f, float x) {
    assert_int_equal(from_float(f->type, x), slow_encode(f, x));
}

// Values of the format, the middles between neighbours, and the floats next to both.
static void convert_from_f32_takes_the_nearest_code(void **state) {
    (void)state;
    for (size_t k = 0; k < HLO_COUNT(formats); k++) {
        const Format *f = formats + k;
        unsigned most = f->kind == SCALE ? 0xfe : largest_finite(f);
        for (unsigned code = 0; code <= most; code++) {
            double value = slow_decode(f, code), next = code < most ? slow_decode(f, code + 1) : value * 1.25;
            float points[2] = {(float)value, (float)((value + next) / 2)};
            for (int p = 0; p < 2; p++) {
                for (int sign = -1; sign <= 1; sign += 2) {
                    float x = (float)sign * points[p];
                    check_float(f, x);
                    check_float(f, nextafterf(x, -INFINITY));
                    check_float(f, nextafterf(x, INFINITY));
                }
            }
        }
    }
}

static void convert_of_nan_and_infinity_gives_what_the_format_has(void **state) {
    (void)state;
    const float specials[] = {NAN, -NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 3.4e38f, -3.4e38f, 1e-45f, -1e-45f};
    for (size_t k = 0; k < HLO_COUNT(formats); k++) {
        for (size_t s = 0; s < HLO_COUNT(specials); s++) {
            unsigned code = from_float(formats[k].type, specials[s]), slow = slow_encode(formats + k, specials[s]);
            if (code != slow) {
                fail_msg("%s of %g: %#x, not %#x", hlo_type_name(formats[k].type), (double)specials[s], code, slow);
            }
        }
    }
}

// f16 and bf16 are reached over f32, in two roundings; narrower types in one.
static void convert_from_f64_rounds_once_to_eight_bits_and_twice_to_sixteen(void **state) {
    (void)state;
    for (size_t k = 0; k < HLO_COUNT(formats); k++) {
        const Format *f = formats + k;
        unsigned most = f->kind == SCALE ? 0xfd : largest_finite(f) - 1;
        for (unsigned code = 0; code <= most; code++) {
            double middle = (slow_decode(f, code) + slow_decode(f, code + 1)) / 2;
            for (int step = -1; step <= 1; step++) {
                double x = step ? nextafter(middle, step * INFINITY) : middle;
                assert_int_equal(from_double(f->type, x), slow_encode(f, width(f) > 8 ? (double)(float)x : x));
            }
        }
    }
}

static void convert_between_narrow_floats_rounds_once(void **state) {
    (void)state;
    for (size_t a = 0; a < HLO_COUNT(formats); a++) {
        for (size_t b = 0; b < HLO_COUNT(formats); b++) {
            const Format *from = formats + a, *to = formats + b;
            if (from == to) continue;
            for (unsigned code = 0; code < 1u << width(from); code++) {
                double value = slow_decode(from, code);
                unsigned result = 0;
                if (isnan(value)) continue;
                hlo_convert(from->type, &code, to->type, &result, 1);
                assert_int_equal(result, slow_encode(to, value));
            }
        }
    }
}

static void convert_from_floats_to_integers_saturates(void **state) {
    (void)state;
    for (size_t k = 0; k < HLO_COUNT(formats); k++) {
        const Format *f = formats + k;
        for (size_t w = 0; w < HLO_COUNT(wholes); w++) {
            for (unsigned code = 0; code < 1u << width(f); code++) {
                int64_t element = 0;
                hlo_convert(f->type, &code, wholes[w].type, &element, 1);
                assert_int_equal(whole_to_long(wholes[w].type, &element),
                                 slow_saturate(wholes + w, slow_decode(f, code)));
            }
        }
    }
}

static void convert_between_integers_keeps_low_bits(void **state) {
    (void)state;
    for (size_t a = 0; a < HLO_COUNT(wholes); a++) {
        for (size_t b = 0; b < HLO_COUNT(wholes); b++) {
            int64_t low = wholes[a].is_signed ? -(1 << 15) : 0;
            for (int64_t x = low; x < low + (1 << 16); x++) {
                int64_t value = slow_wrap(wholes + a, x), element = 0, result = 0;
                hlo_convert(HLO_S64, &value, wholes[a].type, &element, 1);
                hlo_convert(wholes[a].type, &element, wholes[b].type, &result, 1);
                assert_int_equal(whole_to_long(wholes[b].type, &result), slow_wrap(wholes + b, value));
            }
        }
    }
}

static void convert_from_integers_takes_the_nearest_code(void **state) {
    (void)state;
    for (size_t k = 0; k < HLO_COUNT(formats); k++) {
        for (int64_t x = -(1 << 15); x < 1 << 16; x++) {
            const Whole *from = x < 0 ? wholes + 6 : wholes + 7;
            int64_t element = 0;
            unsigned result = 0;
            hlo_convert(HLO_S64, &x, from->type, &element, 1);
            hlo_convert(from->type, &element, formats[k].type, &result, 1);
            assert_int_equal(result, slow_encode(formats + k, (double)x));
        }
    }
}

static void convert_to_pred_is_true_unless_zero(void **state) {
    (void)state;
    for (size_t k = 0; k < HLO_COUNT(formats); k++) {
        for (unsigned code = 0; code < 1u << width(formats + k); code++) {
            uint8_t result = 2;
            hlo_convert(formats[k].type, &code, HLO_PRED, &result, 1);
            assert_int_equal(result, slow_decode(formats + k, code) != 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convert_every_narrow_float_decodes_by_its_format),
        cmocka_unit_test(convert_every_narrow_float_keeps_its_code_on_the_way_back),
        cmocka_unit_test(convert_from_f32_takes_the_nearest_code),
        cmocka_unit_test(convert_of_nan_and_infinity_gives_what_the_format_has),
        cmocka_unit_test(convert_from_f64_rounds_once_to_eight_bits_and_twice_to_sixteen),
        cmocka_unit_test(convert_between_narrow_floats_rounds_once),
        cmocka_unit_test(convert_from_floats_to_integers_saturates),
        cmocka_unit_test(convert_between_integers_keeps_low_bits),
        cmocka_unit_test(convert_from_integers_takes_the_nearest_code),
        cmocka_unit_test(convert_to_pred_is_true_unless_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
