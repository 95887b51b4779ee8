// Comparing results: what counts as different, and what the report says.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hlo/compare.h"
#include "hlo/text.h"

typedef struct Row {
    const char *expected, *actual;  // literals with shapes
    double abs, rel;
    const char *words;  // in the message; NULL: equal
} Row;

static HloLiteral *literal(HloArena *arena, HloShapes *shapes, const char *text) {
    HloLiteral *out = NULL;
    HloStatus status = hlo_parse_literal(arena, shapes, hlo_view(text), &out);
    if (!hlo_is_ok(status)) print_message("%s\n", hlo_status_message(status));
    assert_true(hlo_is_ok(status));
    return out;
}

static void expect_rows(const Row *rows, size_t count) {
    HloArena arena = {0};
    HloShapes shapes = {.arena = &arena};
    for (size_t k = 0; k < count; k++) {
        const Row *row = &rows[k];
        HloStatus status =
            hlo_literal_compare(literal(&arena, &shapes, row->expected), literal(&arena, &shapes, row->actual),
                                (HloErrorBounds){row->abs, row->rel});
        bool good = row->words ? strstr(hlo_status_message(status), row->words) != NULL : hlo_is_ok(status);
        if (!good)
            print_message("row %zu: %s against %s: %s\n", k, row->actual, row->expected, hlo_status_message(status));
        assert_true(good);
        hlo_status_free(status);
    }
    hlo_arena_free(&arena);
}

static void compare_floats_need_both_bounds_exceeded(void **state) {
    (void)state;
    static const Row rows[] = {
        {"f32[2] {1, 2}", "f32[2] {1, 2}", 0, 0, NULL},
        {"f32[] 100", "f32[] 100.5", 0.1, 0.01, NULL},
        {"f32[] 0.001", "f32[] 0.002", 0.01, 0.1, NULL},
        {"f32[] 100", "f32[] 102", 0.1, 0.01, "Mismatch count 1 (100.0000%) in shape f32[] (1 elements)"},
        {"f32[] 0", "f32[] 1", 0.5, 1000, "rel error      inf"},
        {"f64[] 1", "f64[] 1.0000001", 1e-9, 1e-9, "rel error    1e-07, abs error    1e-07"},
        {"bf16[1] {1}", "bf16[1] {1.0078125}", 0.01, 0, NULL},
    };
    expect_rows(rows, HLO_COUNT(rows));
}

static void compare_special_values_match_only_themselves(void **state) {
    (void)state;
    static const Row rows[] = {
        {"f32[3] {nan, inf, -inf}", "f32[3] {nan, inf, -inf}", 0, 0, NULL},
        {"f32[] nan", "f32[] 1", 1e9, 1e9, "nan mismatches 1"},
        {"f32[] inf", "f32[] 3e38", 1e39, 1e9, "Mismatch count 1"},
        {"f32[] inf", "f32[] -inf", 1e9, 1e9, "Mismatch count 1"},
        {"f32[] 0", "f32[] -0", 0, 0, NULL},
    };
    expect_rows(rows, HLO_COUNT(rows));
}

static void compare_integers_are_exact(void **state) {
    (void)state;
    static const Row rows[] = {
        {"s32[2,2] {{1, 2}, {3, 4}}", "s32[2,2] {{1, 2}, {3, 4}}", 0, 0, NULL},
        {"s32[2,2] {{1, 2}, {3, 4}}", "s32[2,2] {{1, 2}, {5, 4}}", 10, 10,
         "first mismatch at array index {1,0}:\n  expected value: 3\n  actual value:   5"},
        {"pred[2] {1, 0}", "pred[2] {1, 1}", 1, 1, "first mismatch at array index {1}"},
    };
    expect_rows(rows, HLO_COUNT(rows));
}

static void compare_complex_counts_a_pair_once(void **state) {
    (void)state;
    static const Row rows[] = {
        {"c64[] (1, 2)", "c64[] (1, 2)", 0, 0, NULL},
        {"c64[] (1, 2)", "c64[] (3, 4)", 0.1, 0.1, "Mismatch count 1 (100.0000%)"},
        {"c64[] (1, 2)", "c64[] (1, 4)", 0.1, 0.1, "abs error        2"},
    };
    expect_rows(rows, HLO_COUNT(rows));
}

static void expect_report(const char *expected, const char *actual, const char *report) {
    HloArena arena = {0};
    HloShapes shapes = {.arena = &arena};
    HloStatus status = hlo_literal_compare(literal(&arena, &shapes, expected), literal(&arena, &shapes, actual),
                                           (HloErrorBounds){0.001, 0.001, .detailed = true});
    assert_string_equal(hlo_status_message(status), report);
    hlo_status_free(status);
    hlo_arena_free(&arena);
}

// The histograms and the bounds of these are those of the reference for the same values.
static void compare_detailed_report_of_floats_is_the_reference_s(void **state) {
    (void)state;
    expect_report("f32[4] {1, 2, nan, 4}", "f32[4] {1, 2.5, 3, 4.003}",
                  "\n"
                  "Mismatch count 2 (50.0000%) in shape f32[4] (4 elements), abs bound 0.001, rel bound 0.001\n"
                  "nan mismatches 1\n"
                  "Top relative error mismatches:\n"
                  "  actual                      3, expected                    nan, index {2}, rel error      inf, "
                  "abs error      inf\n"
                  "  actual                    2.5, expected                      2, index {1}, rel error     0.25, "
                  "abs error      0.5\n"
                  "Absolute magnitude breakdown of actual values:\n"
                  "  0      <= x < 0.0001 :       0 (  0.0000%)\n"
                  "  0.0001 <= x < 0.001  :       0 (  0.0000%)\n"
                  "  0.001  <= x < 0.01   :       0 (  0.0000%)\n"
                  "  0.01   <= x < 0.1    :       0 (  0.0000%)\n"
                  "  0.1    <= x < 1      :       0 (  0.0000%)\n"
                  "  1      <= x < inf    :       4 (100.0000%), mismatches 2\n"
                  "Elements exceeding abs error bound 0.001: 3 (75.0000%)\n"
                  "Relative error breakdown of elements exceeding abs error bound:\n"
                  "  <  0.0001 :       0 (0.0000%)\n"
                  "  >= 0.0001 :       3 (100.0000%)\n"
                  "  >= 0.001  :       2 (66.6667%)\n"
                  "  >= 0.01   :       2 (66.6667%)\n"
                  "  >= 0.1    :       2 (66.6667%)\n"
                  "  >= 1      :       1 (33.3333%)\n"
                  "Elements exceeding rel error bound 0.001: 2 (50.0000%)\n"
                  "Absolute error breakdown of elements exceeding rel error bound:\n"
                  "  <  0.0001 :       0 (0.0000%)\n"
                  "  >= 0.0001 :       2 (100.0000%)\n"
                  "  >= 0.001  :       2 (100.0000%)\n"
                  "  >= 0.01   :       2 (100.0000%)\n"
                  "  >= 0.1    :       2 (100.0000%)\n"
                  "  >= 1      :       1 (50.0000%)\n"
                  "\n"
                  "Current ErrorSpec: ErrorSpec{0.001, 0.001}\n"
                  "Suggested ErrorSpec adjustments to make this test pass:\n"
                  "  Option 1: ErrorSpec{0.001, inf}\n"
                  "  Option 2: ErrorSpec{inf, 0.001}\n"
                  "\n\nExpected literal:\nf32[4] {1, 2, nan, 4}\n\nActual literal:\nf32[4] {1, 2.5, 3, 4.003}");
}

static void compare_detailed_report_of_integers_has_the_first_mismatch(void **state) {
    (void)state;
    expect_report("s32[2,2] {{1, 2}, {3, 4}}", "s32[2,2] {{1, 2}, {5, 6}}",
                  "first mismatch at array index {1,0}:\n  expected value: 3\n  actual value:   5\n"
                  "\nExpected literal:\ns32[2,2] {\n  { 1, 2 },\n  { 3, 4 }\n}\n"
                  "\nActual literal:\ns32[2,2] {\n  { 1, 2 },\n  { 5, 6 }\n}");
    expect_report("pred[] true", "pred[] false",
                  "first mismatch at array index {}:\n  expected value: 1\n  actual value:   0\n"
                  "\nExpected literal:\npred[] true\n\nActual literal:\npred[] false");
}

static void compare_detailed_report_of_tuples_joins_the_leaves(void **state) {
    (void)state;
    expect_report("(u8[] 1, s32[] 3, (s32[2] {1, 2}))", "(u8[] 1, s32[] 4, (s32[2] {1, 3}))",
                  "\nMismatches in shape (u8[], s32[], (s32[2])) (4 elements):\n"
                  "Array at shape index {1}, first mismatch at array index {}:\n"
                  "  expected value: 3\n"
                  "  actual value:   4: Array at shape index {2}, Array at shape index {2,0}, "
                  "first mismatch at array index {1}:\n"
                  "  expected value: 2\n"
                  "  actual value:   3\n"
                  "\nExpected literal:\n(\nu8[] 1,\ns32[] 3,\n(\ns32[2] {1, 2}\n)\n)\n"
                  "\nActual literal:\n(\nu8[] 1,\ns32[] 4,\n(\ns32[2] {1, 3}\n)\n)");
}

static void compare_detailed_report_leaves_large_values_out(void **state) {
    (void)state;
    char text[8192] = "s32[1000] {1";
    char *end = text + strlen(text);
    for (int k = 1; k < 1000; k++) end += sprintf(end, ", 1");
    sprintf(end, "}");
    HloArena arena = {0};
    HloShapes shapes = {.arena = &arena};
    HloLiteral *ones = literal(&arena, &shapes, text), *other = hlo_literal_clone(&arena, ones, ones->shape);
    hlo_literal_set_int(other, 999, 2);
    HloStatus status = hlo_literal_compare(ones, other, (HloErrorBounds){.detailed = true});
    assert_string_equal(hlo_status_message(status),
                        "first mismatch at array index {999}:\n  expected value: 1\n  actual value:   2\n"
                        "\nExpected literal:\n[TRUNCATED, Literal with more than 1000 values]\n"
                        "\nActual literal:\n[TRUNCATED, Literal with more than 1000 values]");
    hlo_status_free(status);
    hlo_arena_free(&arena);
}

// Columns are as wide as the longest value of the type.
static void compare_numbers_stand_in_columns_of_their_type(void **state) {
    (void)state;
    static const Row rows[] = {
        {"f16[1] {1}", "f16[1] {2}", 0, 0, "  actual         2, expected         1, index {0}, rel"},
        {"bf16[1] {256}", "bf16[1] {1.2}", 0, 0,
         "  actual        1.203, expected          256, index {0}, rel error    0.996, abs error      255"},
        {"f8e4m3fn[1] {1}", "f8e4m3fn[1] {2}", 0, 0, "  actual       2, expected       1, index"},
        {"f8e5m2[1] {1}", "f8e5m2[1] {2}", 0, 0, "  actual      2, expected      1, index"},
        {"f8e3m4[1] {1}", "f8e3m4[1] {2}", 0, 0, "  actual    2, expected    1, index"},
        {"f4e2m1fn[1] {1}", "f4e2m1fn[1] {2}", 0, 0, "  actual    2, expected    1, index"},
        {"f8e8m0fnu[1] {1}", "f8e8m0fnu[1] {2}", 0, 0, "  actual        2, expected        1, index"},
        {"f32[1] {1}", "f32[1] {1e20}", 0, 0,
         "  actual         1.00000002e+20, expected                      1, index"},
        {"c64[1] {(1, 2)}", "c64[1] {(1, 5)}", 0, 0,
         "  actual                      5 +                      0, expected                      2 +"},
    };
    expect_rows(rows, HLO_COUNT(rows));
}

static void compare_differences_round_to_the_type(void **state) {
    (void)state;
    static const Row rows[] = {
        {"f16[] 60000", "f16[] -60000", 0.1, 0.1, "rel error      inf, abs error      inf"},
        {"f8e4m3fn[] 448", "f8e4m3fn[] -448", 0.1, 0.1, "rel error        2, abs error      896"},
        {"bf16[] 256", "bf16[] 0.5", 255.9, 0.1, "abs error      256"},
    };
    expect_rows(rows, HLO_COUNT(rows));
}

static void compare_mismatches_are_a_mask(void **state) {
    (void)state;
    HloArena arena = {0};
    HloShapes shapes = {.arena = &arena};
    HloLiteral *a = literal(&arena, &shapes, "f32[3] {1, nan, 3}"), *b = literal(&arena, &shapes, "f32[3] {1, 2, 4}");
    HloLiteral *mask = a;
    assert_true(hlo_is_ok(hlo_literal_mismatches(&arena, a, a, (HloErrorBounds){0}, &mask)));
    assert_null(mask);
    assert_true(hlo_is_ok(hlo_literal_mismatches(&arena, a, b, (HloErrorBounds){0}, &mask)));
    assert_true(hlo_literal_equal(mask, literal(&arena, &shapes, "pred[3] {0, 1, 1}")));
    hlo_arena_free(&arena);
}

static void compare_report_lists_the_five_largest_errors(void **state) {
    (void)state;
    static const Row rows[] = {
        {"f32[7] {1, 1, 1, 1, 1, 1, 1}", "f32[7] {2, 4, 3, 7, 6, 5, 1}", 0, 0,
         "Mismatch count 6 (85.7143%) in shape f32[7] (7 elements), abs bound 0, rel bound 0\n"
         "Top relative error mismatches:\n"
         "  actual                      7, expected                      1, index {3}, rel error        6, abs error   "
         "     6\n"
         "  actual                      6, expected                      1, index {4}, rel error        5, abs error   "
         "     5\n"
         "  actual                      5, expected                      1, index {5}, rel error        4, abs error   "
         "     4\n"
         "  actual                      4, expected                      1, index {1}, rel error        3, abs error   "
         "     3\n"
         "  actual                      3, expected                      1, index {2}, rel error        2, abs error   "
         "     2"},
        // Of equal errors the later stands first, and gets no place when all are taken.
        {"f32[7] {1, 1, 1, 1, 1, 1, 1}", "f32[7] {2, 3, 2, 2, 2, 2, 2}", 0, 0, "index {4}"},
    };
    expect_rows(rows, HLO_COUNT(rows));
}

static void compare_tuples_name_every_leaf_that_differs(void **state) {
    (void)state;
    static const Row rows[] = {
        {"(s32[] 1, (s32[] 2, s32[] 3))", "(s32[] 1, (s32[] 2, s32[] 4))", 0, 0,
         "Array at shape index {1}, Array at shape index {1,1}, Mismatch count 1"},
        {"(s32[] 1, s32[] 2)", "(s32[] 0, s32[] 3)", 0, 0, ": Array at shape index {1}, "},
        {"()", "()", 0, 0, NULL},
    };
    expect_rows(rows, HLO_COUNT(rows));
}

static void compare_shapes_must_agree(void **state) {
    (void)state;
    static const Row rows[] = {
        {"f32[2] {1, 2}", "f32[3] {1, 2, 3}", 1, 1, "mismatch in dimension #0 expected: f32[2] actual: f32[3]"},
        {"f32[2] {1, 2}", "f32[2,1] {{1}, {3}}", 1, 1, "want rank of f32[2] got rank of f32[2,1]"},
        {"f32[] 1", "f64[] 1", 1, 1, "element type mismatch, want: f32[] got f64[]"},
        {"(s32[] 1)", "s32[] 1", 1, 1, "element type mismatch, want: (s32[]) got s32[]"},
        {"(s32[] 1, s32[] 1)", "(s32[] 1)", 1, 1, "want tuple element count: 2 got tuple element count: 1"},
        {"(f32[] 1, (s32[] 3))", "(f32[] 1, (s16[] 3))", 1, 1,
         "element type mismatch, want: s32[] got s16[]: mismatch in tuple index0: mismatch in tuple index1"},
        {"f32[0] {}", "f32[0] {}", 0, 0, NULL},
    };
    expect_rows(rows, HLO_COUNT(rows));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compare_floats_need_both_bounds_exceeded),
        cmocka_unit_test(compare_special_values_match_only_themselves),
        cmocka_unit_test(compare_integers_are_exact),
        cmocka_unit_test(compare_complex_counts_a_pair_once),
        cmocka_unit_test(compare_detailed_report_of_floats_is_the_reference_s),
        cmocka_unit_test(compare_detailed_report_of_integers_has_the_first_mismatch),
        cmocka_unit_test(compare_detailed_report_of_tuples_joins_the_leaves),
        cmocka_unit_test(compare_detailed_report_leaves_large_values_out),
        cmocka_unit_test(compare_numbers_stand_in_columns_of_their_type),
        cmocka_unit_test(compare_differences_round_to_the_type),
        cmocka_unit_test(compare_mismatches_are_a_mask),
        cmocka_unit_test(compare_report_lists_the_five_largest_errors),
        cmocka_unit_test(compare_tuples_name_every_leaf_that_differs),
        cmocka_unit_test(compare_shapes_must_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
