// What operations compute on corner values, and the limits of an evaluation.
//
// Integer operations on all pairs of eight-bit values are computed a second time in plain C; floats have tables of
// values that are easily got wrong. The rules are those of the interpreter chapter, §3.

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hlo/eval.h"
#include "hlo/text.h"

typedef struct Fixture {
    HloArena arena;
    HloModule *m;
    HloLiteral *result;
} Fixture;

static int set_up(void **state) {
    *state = test_calloc(1, sizeof(Fixture));
    return 0;
}

static void forget_module(Fixture *f) {
    hlo_module_free(f->m);
    f->m = NULL;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    forget_module(f);
    hlo_arena_free(&f->arena);
    test_free(f);
    return 0;
}

static void parse(Fixture *f, const char *text) {
    forget_module(f);
    HloStatus status = hlo_parse_module(hlo_view(text), NULL, &f->m);
    if (!hlo_is_ok(status)) fail_msg("%s\n%s", hlo_status_message(status), text);
}

// The result of a module without parameters.
static const HloLiteral *evaluate(Fixture *f, const char *text) {
    parse(f, text);
    HloStatus status = hlo_eval(f->m, &(HloEvalOptions){0}, &f->arena, NULL, 0, &f->result);
    if (!hlo_is_ok(status)) fail_msg("%s\n%s", hlo_status_message(status), text);
    return f->result;
}

// ---- integers -------------------------------------------------------------------------------------------

// All pairs (x, y) of a type, in rows of x.
static const char pairs_text[] = "HloModule m\n"
                                 "ENTRY e {\n"
                                 "  n = %s[256] iota(), iota_dimension=0\n"
                                 "  x = %s[256,256] broadcast(n), dimensions={0}\n"
                                 "  y = %s[256,256] broadcast(n), dimensions={1}\n"
                                 "  ROOT z = %s[256,256] %s(x, y)\n"
                                 "}\n";

typedef int64_t (*Slow)(int64_t x, int64_t y, bool is_signed);

static int64_t slow_add(int64_t x, int64_t y, bool s) {
    (void)s;
    return x + y;
}
static int64_t slow_subtract(int64_t x, int64_t y, bool s) {
    (void)s;
    return x - y;
}
static int64_t slow_multiply(int64_t x, int64_t y, bool s) {
    (void)s;
    return x * y;
}
static int64_t slow_divide(int64_t x, int64_t y, bool s) {
    (void)s;
    return y ? x / y : -1;
}
static int64_t slow_remainder(int64_t x, int64_t y, bool s) {
    (void)s;
    return y ? x % y : x;
}
static int64_t slow_maximum(int64_t x, int64_t y, bool s) {
    (void)s;
    return x > y ? x : y;
}
static int64_t slow_minimum(int64_t x, int64_t y, bool s) {
    (void)s;
    return x < y ? x : y;
}
static int64_t slow_and(int64_t x, int64_t y, bool s) {
    (void)s;
    return x & y;
}
static int64_t slow_or(int64_t x, int64_t y, bool s) {
    (void)s;
    return x | y;
}
static int64_t slow_xor(int64_t x, int64_t y, bool s) {
    (void)s;
    return x ^ y;
}

// Amounts are unsigned: negative ones are beyond the width too.
static int64_t slow_shift_left(int64_t x, int64_t y, bool s) {
    (void)s;
    return y < 0 || y >= 8 ? 0 : x * (1 << y);
}
static int64_t slow_shift_right_logical(int64_t x, int64_t y, bool s) {
    (void)s;
    return y < 0 || y >= 8 ? 0 : (x & 255) / (1 << y);
}
static int64_t slow_shift_right_arithmetic(int64_t x, int64_t y, bool s) {
    (void)s;
    bool negative = x & 128;
    int64_t fill = 0;
    if (y < 0 || y >= 8) return negative ? -1 : 0;
    for (int k = 0; k < y; k++) fill |= 128 >> k;
    return (x & 255) / (1 << y) | (negative ? fill : 0);
}
static int64_t slow_power(int64_t x, int64_t y, bool s) {
    int64_t result = 1;
    (void)s;
    if (x == 1 || y == 0) return 1;
    if (y < 0) return 0;
    for (int64_t k = 0; k < y; k++) result = (result * x) & 255;
    return result;
}

static const struct {
    const char *name;
    Slow slow;
} operations[] = {
    {"add", slow_add},
    {"subtract", slow_subtract},
    {"multiply", slow_multiply},
    {"divide", slow_divide},
    {"remainder", slow_remainder},
    {"maximum", slow_maximum},
    {"minimum", slow_minimum},
    {"and", slow_and},
    {"or", slow_or},
    {"xor", slow_xor},
    {"power", slow_power},
    {"shift-left", slow_shift_left},
    {"shift-right-logical", slow_shift_right_logical},
    {"shift-right-arithmetic", slow_shift_right_arithmetic},
};

static void check_pairs(Fixture *f, const char *type, bool is_signed, const char *name, Slow slow) {
    char text[512];
    snprintf(text, sizeof text, pairs_text, type, type, type, type, name);
    const HloLiteral *result = evaluate(f, text);
    for (int x = 0; x < 256; x++) {
        for (int y = 0; y < 256; y++) {
            int64_t a = is_signed ? (int8_t)x : x, b = is_signed ? (int8_t)y : y;
            uint64_t expected = (uint64_t)slow(a, b, is_signed) & 255, found = hlo_literal_bits(result, x * 256 + y);
            if (found != expected) fail_msg("%s of %s %d and %d: %d", name, type, (int)a, (int)b, (int)found);
        }
    }
}

static void integers_every_pair_of_bytes_follows_plain_arithmetic(void **state) {
    for (size_t k = 0; k < HLO_COUNT(operations); k++) {
        check_pairs(*state, "s8", true, operations[k].name, operations[k].slow);
        check_pairs(*state, "u8", false, operations[k].name, operations[k].slow);
    }
}

static void check_ints(Fixture *f, const char *text, const int64_t *expected, size_t count) {
    const HloLiteral *result = evaluate(f, text);
    assert_int_equal(result->elem_count, count);
    for (size_t k = 0; k < count; k++) {
        if (hlo_literal_int(result, (int64_t)k) != expected[k])
            fail_msg("element %zu is %lld, not %lld", k, (long long)hlo_literal_int(result, (int64_t)k),
                     (long long)expected[k]);
    }
}

static void integers_wide_ones_wrap_and_divide_by_zero(void **state) {
    const int64_t quotients[] = {-1, INT64_MIN, -2, 2};
    check_ints(*state,
               "HloModule m\nENTRY e {\n"
               "  x = s64[4] constant({5, -9223372036854775808, -5, -5})\n"
               "  y = s64[4] constant({0, -1, 2, -2})\n"
               "  ROOT z = s64[4] divide(x, y)\n}\n",
               quotients, 4);
    const int64_t rests[] = {5, 0, -1, -1};
    check_ints(*state,
               "HloModule m\nENTRY e {\n"
               "  x = s64[4] constant({5, -9223372036854775808, -5, -5})\n"
               "  y = s64[4] constant({0, -1, 2, -2})\n"
               "  ROOT z = s64[4] remainder(x, y)\n}\n",
               rests, 4);
    const int64_t counts[] = {32, 0, 0, 31};
    check_ints(*state,
               "HloModule m\nENTRY e {\n"
               "  x = s32[4] constant({0, -1, -2147483648, 1})\n"
               "  ROOT z = s32[4] count-leading-zeros(x)\n}\n",
               counts, 4);
    const int64_t ones[] = {0, 32, 1, 31};
    check_ints(*state,
               "HloModule m\nENTRY e {\n"
               "  x = s32[4] constant({0, -1, -2147483648, 2147483647})\n"
               "  ROOT z = s32[4] popcnt(x)\n}\n",
               ones, 4);
}

// ---- floats ---------------------------------------------------------------------------------------------

static void check_doubles(Fixture *f, const char *text, const double *expected, size_t count) {
    const HloLiteral *result = evaluate(f, text);
    assert_int_equal(result->elem_count, count);
    for (size_t k = 0; k < count; k++) {
        double found = hlo_literal_double(result, (int64_t)k);
        bool same = isnan(expected[k]) ? isnan(found) : found == expected[k] && signbit(found) == signbit(expected[k]);
        if (!same) fail_msg("element %zu is %g, not %g", k, found, expected[k]);
    }
}

// -0 cannot be written in a constant, so that it is made by a negation.
static void floats_extremes_keep_nan_and_the_left_zero(void **state) {
    static const char text[] = "HloModule m\nENTRY e {\n"
                               "  zero = f32[] constant(0)\n  minus = f32[] negate(zero)\n"
                               "  none = f32[] constant(nan)\n  one = f32[] constant(1)\n"
                               "  a = f32[] %s(zero, minus)\n  b = f32[] %s(minus, zero)\n"
                               "  c = f32[] %s(none, one)\n  d = f32[] %s(one, none)\n"
                               "  ra = f32[1] reshape(a)\n  rb = f32[1] reshape(b)\n"
                               "  rc = f32[1] reshape(c)\n  rd = f32[1] reshape(d)\n"
                               "  ROOT z = f32[4] concatenate(ra, rb, rc, rd), dimensions={0}\n}\n";
    char filled[1024];
    const double expected[] = {0.0, -0.0, NAN, NAN};
    snprintf(filled, sizeof filled, text, "maximum", "maximum", "maximum", "maximum");
    check_doubles(*state, filled, expected, 4);
    snprintf(filled, sizeof filled, text, "minimum", "minimum", "minimum", "minimum");
    check_doubles(*state, filled, expected, 4);
}

static void floats_powers_and_remainders_follow_their_rules(void **state) {
    const double powers[] = {1, 1, INFINITY, 0.25, NAN};
    check_doubles(*state,
                  "HloModule m\nENTRY e {\n"
                  "  x = f32[5] constant({1, nan, 0, 2, -2})\n"
                  "  y = f32[5] constant({nan, 0, -1, -2, 0.5})\n"
                  "  ROOT z = f32[5] power(x, y)\n}\n",
                  powers, 5);
    const double rests[] = {-1, 1, NAN, 1};
    check_doubles(*state,
                  "HloModule m\nENTRY e {\n"
                  "  x = f32[4] constant({-5, 5, 5, 1})\n"
                  "  y = f32[4] constant({2, -2, 0, inf})\n"
                  "  ROOT z = f32[4] remainder(x, y)\n}\n",
                  rests, 4);
    const double rounded[] = {3, -3, 1, -1, 0};
    check_doubles(*state,
                  "HloModule m\nENTRY e {\n"
                  "  x = f32[5] constant({2.5, -2.5, 0.5, -0.5, 0.25})\n"
                  "  ROOT z = f32[5] round-nearest-afz(x)\n}\n",
                  rounded, 5);
    const double even[] = {2, -2, 0, -0.0, 4};
    check_doubles(*state,
                  "HloModule m\nENTRY e {\n"
                  "  x = f32[5] constant({2.5, -2.5, 0.5, -0.5, 3.5})\n"
                  "  ROOT z = f32[5] round-nearest-even(x)\n}\n",
                  even, 5);
}

// -NaN < -inf < -1 < -0 < 0 < 1 < inf < NaN.
static void floats_total_order_ranks_every_value(void **state) {
    static const char *const types[] = {"f64", "f32", "f16", "bf16", "f8e5m2", "f8e4m3"};
    static const char text[] = "HloModule m\nENTRY e {\n"
                               "  up = %s[4] constant({0, 1, inf, nan})\n  down = %s[4] negate(up)\n"
                               "  back = %s[4] reverse(down), dimensions={0}\n"
                               "  all = %s[8] concatenate(back, up), dimensions={0}\n"
                               "  x = %s[8,8] broadcast(all), dimensions={0}\n"
                               "  y = %s[8,8] broadcast(all), dimensions={1}\n"
                               "  ROOT z = pred[8,8] compare(x, y), direction=LT, type=TOTALORDER\n}\n";
    for (size_t k = 0; k < HLO_COUNT(types); k++) {
        char filled[1024];
        const char *t = types[k];
        snprintf(filled, sizeof filled, text, t, t, t, t, t, t);
        const HloLiteral *result = evaluate(*state, filled);
        for (int64_t at = 0; at < 64; at++) assert_int_equal(hlo_literal_bits(result, at), at / 8 < at % 8);
    }
}

// For finite values and infinities reduce-precision(8,7) of f32 is bf16, and (5,10) is f16 without its subnormals.
static void floats_reduced_precision_agrees_with_narrow_types(void **state) {
    static const char text[] = "HloModule m\nENTRY e {\n"
                               "  bits = s32[65536] iota(), iota_dimension=0\n"
                               "  step = s32[] constant(65521)\n  steps = s32[65536] broadcast(step), dimensions={}\n"
                               "  spread = s32[65536] multiply(bits, steps)\n"
                               "  x = f32[65536] bitcast-convert(spread)\n"
                               "  r = f32[65536] reduce-precision(x), exponent_bits=%d, mantissa_bits=%d\n"
                               "  n = %s[65536] convert(x)\n  w = f32[65536] convert(n)\n"
                               "  ROOT t = (f32[65536], f32[65536]) tuple(r, w)\n}\n";
    for (int half = 0; half < 2; half++) {
        char filled[1024];
        snprintf(filled, sizeof filled, text, half ? 5 : 8, half ? 10 : 7, half ? "f16" : "bf16");
        const HloLiteral *result = evaluate(*state, filled);
        for (int64_t at = 0; at < 65536; at++) {
            double reduced = hlo_literal_double(result->elements[0], at);
            double narrow = hlo_literal_double(result->elements[1], at);
            if (isnan(narrow)) {
                assert_true(isnan(reduced));
                continue;
            }
            bool subnormal = half && fabs(narrow) < ldexp(1, -14);
            // The least normal number may also come from a subnormal that is rounded up first.
            assert_true(reduced == (subnormal ? 0 : narrow));
        }
    }
}

// ---- limits ---------------------------------------------------------------------------------------------

static const char endless[] = "HloModule m\n"
                              "c { s = s32[] parameter(0)\n  ROOT t = pred[] constant(true)\n}\n"
                              "b { s = s32[] parameter(0)\n  one = s32[] constant(1)\n  ROOT n = s32[] add(s, one)\n}\n"
                              "ENTRY e {\n  z = s32[] constant(0)\n"
                              "  ROOT w = s32[] while(z), condition=c, body=b\n}\n";

static void assert_limited(Fixture *f, const char *text, HloEvalLimits limits, const char *word) {
    parse(f, text);
    HloStatus status = hlo_eval(f->m, &(HloEvalOptions){.limits = limits}, &f->arena, NULL, 0, &f->result);
    assert_int_equal(hlo_status_code(status), HLO_RESOURCE_EXHAUSTED);
    if (!strstr(hlo_status_message(status), word)) fail_msg("%s", hlo_status_message(status));
    hlo_status_free(status);
}

static void limits_an_endless_loop_ends_at_steps_or_trips(void **state) {
    assert_limited(*state, endless, (HloEvalLimits){.steps = 1000}, "1000 steps");
    assert_limited(*state, endless, (HloEvalLimits){.loop_trips = 10}, "10 trips");
}

static void limits_large_values_end_at_bytes(void **state) {
    assert_limited(*state,
                   "HloModule m\nENTRY e {\n  z = f32[] constant(0)\n"
                   "  ROOT b = f32[1000,1000] broadcast(z), dimensions={}\n}\n",
                   (HloEvalLimits){.bytes = 1000000}, "1000000 bytes");
}

static void limits_deep_calls_end_before_the_stack(void **state) {
    enum { DEPTH = 2000, LINE = 100 };
    char *text = test_malloc((DEPTH + 3) * LINE);
    size_t size = (size_t)sprintf(text, "HloModule m\nstep0 { ROOT p = s32[] parameter(0)\n}\n");
    for (int k = 1; k < DEPTH; k++) {
        size += (size_t)sprintf(
            text + size, "step%d { p = s32[] parameter(0)\n ROOT c = s32[] call(p), to_apply=step%d\n}\n", k, k - 1);
    }
    sprintf(text + size, "ENTRY e { z = s32[] constant(0)\n ROOT c = s32[] call(z), to_apply=step%d\n}\n", DEPTH - 1);
    assert_limited(*state, text, (HloEvalLimits){0}, "deeper");
    test_free(text);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(integers_every_pair_of_bytes_follows_plain_arithmetic),
        TEST(integers_wide_ones_wrap_and_divide_by_zero),
        TEST(floats_extremes_keep_nan_and_the_left_zero),
        TEST(floats_powers_and_remainders_follow_their_rules),
        TEST(floats_total_order_ranks_every_value),
        TEST(floats_reduced_precision_agrees_with_narrow_types),
        TEST(limits_an_endless_loop_ends_at_steps_or_trips),
        TEST(limits_large_values_end_at_bytes),
        TEST(limits_deep_calls_end_before_the_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
