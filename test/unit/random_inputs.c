// Made-up arguments: the values that the reference draws.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "hlo/random_inputs.h"
#include "hlo/text.h"

typedef struct Row {
    const char *text;  // the value with its shape
    bool large;
} Row;

static void expect_values(const Row *row) {
    HloArena arena = {0};
    HloShapes shapes = {.arena = &arena};
    HloBuffer text = {0};
    HloLiteral *literal = NULL;
    HloRandom random = {.state = 1, .large_floats = row->large};
    assert_true(hlo_is_ok(hlo_parse_literal(&arena, &shapes, hlo_view(row->text), &literal)));
    memset(literal->data, 0, literal->size_bytes);
    hlo_random_fill(&random, literal);
    hlo_put_literal_lines(&text, literal);
    assert_string_equal(text.data, row->text);
    hlo_buffer_free(&text);
    hlo_arena_free(&arena);
}

static void random_values_are_the_reference_s(void **state) {
    (void)state;
    static const Row rows[] = {
        {"f32[6] {-0.0999976546, -0.0605386607, 0.126681596, 0.0375950411, 0.0598301813, -0.0343122408}", false},
        {"f64[3] {-0.060538664580468193, 0.037595040167175686, -0.03431224464754859}", false},
        {"f16[4] {-0.099976, -0.060547, 0.12671, 0.037598}", false},
        {"s32[6] {-1046070544, 752356393, 931257031, 248973821, -1354628020, 412564564}", false},
        {"s8[6] {38, 112, 88, -87, 1, 71}", false},
        {"u8[6] {166, 240, 216, 41, 129, 199}", false},
        {"s4[4] {-2, -8, 0, 1}", false},
        {"pred[8] {0, 1, 1, 1, 0, 0, 1, 0}", false},
        {"c64[2] {(-0.0999976546, 0.126681596), (-0.0605386607, 0.0375950411)}", false},
    };
    for (size_t k = 0; k < HLO_COUNT(rows); k++) expect_values(&rows[k]);
}

// The exponents span the range of each type.
static void random_large_floats_are_the_reference_s(void **state) {
    (void)state;
    static const Row rows[] = {
        {"f32[5] {-0.00100296247, 5.92866842e+13, -42.5870285, 258.523, -1.44865408e-33}", true},
        {"f64[3] {-4.9576294878361976e-26, 1.8229251147542403e+110, -1268693564307.2}", true},
        {"f16[8] {-0.61572, 51.531, -2.0898, 2.5684, -0.00023389, -8096, -31.203, -275}", true},
        {"bf16[4] {-0.0009995, 5.937e+13, -42.5, 258}", true},
        {"f8e4m3fn[8] {-1.38, 11, -2.5, 2.75, -0.0293, -128, -9, -26}", true},
        {"f8e4m3[8] {-1, 7, -1.62, 1.88, -0.0293, -72, -5.5, -15}", true},
        {"f8e5m2[8] {-0.62, 48, -2, 2.5, -0.00024, -8.2e+03, -32, -2.6e+02}", true},
        {"f8e3m4[8] {-1.25, 2.62, -1.5, 1.56, -0.312, -6.25, -2.38, -3.5}", true},
        {"f8e4m3b11fnuz[8] {-0.0859, 0.688, -0.156, 0.172, -0.00183, -8, -0.562, -1.62}", true},
        {"f8e4m3fnuz[8] {-0.688, 5.5, -1.25, 1.38, -0.0146, -64, -4.5, -13}", true},
        {"f8e5m2fnuz[8] {-0.44, 40, -1.5, 1.8, -0.00012, -8.2e+03, -24, -2.2e+02}", true},
        {"f8e8m0fnu[8] {nan, 3.5e+13, nan, 1.3e+02, nan, nan, nan, nan}", true},
        {"c64[2] {(-0.00100296247, -42.5870285), (5.92866842e+13, 258.523)}", true},
        {"s8[6] {38, 112, 88, -87, 1, 71}", true},
    };
    for (size_t k = 0; k < HLO_COUNT(rows); k++) expect_values(&rows[k]);
}

// About six in a million are zeros, ones and infinities.
static void random_large_floats_have_special_values(void **state) {
    (void)state;
    enum { COUNT = 1 << 20 };
    HloArena arena = {0};
    HloShapes shapes = {.arena = &arena};
    HloLiteral *literal = NULL;
    HloRandom random = {.state = 1, .large_floats = true};
    int64_t special = 0;
    assert_true(hlo_is_ok(hlo_literal_new(&arena, hlo_shape_of(&shapes, HLO_F32, (int64_t[]){COUNT}, 1), &literal)));
    hlo_random_fill(&random, literal);
    for (int64_t at = 0; at < COUNT; at++) {
        double value = fabs(hlo_literal_double(literal, at));
        special += value == 0 || value == 1 || isinf(value);
    }
    assert_in_range(special, 1, 20);
    hlo_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_values_are_the_reference_s),
        cmocka_unit_test(random_large_floats_are_the_reference_s),
        cmocka_unit_test(random_large_floats_have_special_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
