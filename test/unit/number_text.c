// Numbers as text, against printf.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hlo/buffer.h"

static void expect_text(HloBuffer *out, const char *want, double value) {
    if (strcmp(out->data, want) != 0) fail_msg("%a printed %s, expected %s", value, out->data, want);
    out->size = 0;
}

static void expect_as_printf(HloBuffer *out, double value, int digits) {
    char want[64];
    snprintf(want, sizeof want, "%.*g", digits, value);
    hlo_put_double(out, value, digits);
    expect_text(out, want, value);
}

static void expect_f32(HloBuffer *out, float value) {
    char want[64];
    snprintf(want, sizeof want, "%.6g", (double)value);
    if (strtof(want, NULL) != value) snprintf(want, sizeof want, "%.9g", (double)value);
    hlo_put_f32(out, value);
    expect_text(out, want, (double)value);
}

static void expect_f64(HloBuffer *out, double value) {
    char want[64];
    snprintf(want, sizeof want, "%.15g", value);
    if (strtod(want, NULL) != value) snprintf(want, sizeof want, "%.17g", value);
    hlo_put_f64(out, value);
    expect_text(out, want, value);
}

static const double numbers[] = {
    0,        1,        -1,       0.5,        0.1,      -0.25,     1e6,       999999.5, 999999.4,
    123456.5, 123457.5, 1e-4,     9.99e-5,    0.000995, 9.9999995, 1234567.5, 1e15,     1e16,
    1e17,     9e17,     1e18,     1e22,       1e300,    1e-300,    1.0 / 3,   2.0 / 3,  5e-324,
    1e-5,     0x1p-17,  65519.75, 2147483648, 0x1p53,   0x1p60,    1.5e-5,    0.3,      -0.0,
};

static void put_double_any_digits_prints_as_printf(void **state) {
    (void)state;
    HloBuffer out = {0};
    for (size_t i = 0; i < HLO_COUNT(numbers); i++) {
        for (int digits = 1; digits <= 17; digits++) expect_as_printf(&out, numbers[i], digits);
        expect_f32(&out, (float)numbers[i]);
        expect_f64(&out, numbers[i]);
    }
    hlo_buffer_free(&out);
}

// Random patterns, and random values of everyday size.
static void put_double_random_numbers_print_as_printf(void **state) {
    (void)state;
    HloBuffer out = {0};
    uint64_t seed = 42;
    for (int i = 0; i < 40000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t low = (uint32_t)(seed >> 32);
        float pattern;
        memcpy(&pattern, &low, sizeof pattern);
        double everyday = ldexp((double)(int64_t)seed / 0x1p63, (int)(seed >> 20 & 63) - 24);
        if (isfinite(pattern)) {
            expect_f32(&out, pattern);
            expect_f64(&out, (double)pattern);
        }
        expect_f32(&out, (float)everyday);
        expect_f64(&out, everyday);
        expect_as_printf(&out, everyday, 1 + (int)(seed >> 10 & 15));
    }
    hlo_buffer_free(&out);
}

// Decimals of few digits exist as ties and as round trips that only just work.
static void put_double_short_decimals_print_as_printf(void **state) {
    (void)state;
    HloBuffer out = {0};
    for (int i = 1; i < 30000; i++) {
        expect_f32(&out, (float)i / 1000.0f);
        expect_f32(&out, (float)i * 0.0625f);
        expect_f64(&out, (double)i / 1000);
        expect_as_printf(&out, (double)i / 16, 4);
    }
    hlo_buffer_free(&out);
}

static void put_double_not_finite_prints_words(void **state) {
    (void)state;
    HloBuffer out = {0};
    hlo_put_f64(&out, INFINITY);
    expect_text(&out, "inf", INFINITY);
    hlo_put_f32(&out, -INFINITY);
    expect_text(&out, "-inf", -INFINITY);
    hlo_put_double(&out, copysign(NAN, -1), 6);
    expect_text(&out, "-nan", NAN);
    hlo_buffer_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(put_double_any_digits_prints_as_printf),
        cmocka_unit_test(put_double_random_numbers_print_as_printf),
        cmocka_unit_test(put_double_short_decimals_print_as_printf),
        cmocka_unit_test(put_double_not_finite_prints_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
