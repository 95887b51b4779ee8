// Comparing results: what counts as different, and what the report says.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

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

static void compare_report_lists_the_five_largest_errors(void **state) {
    (void)state;
    static const Row rows[] = {
        {"f32[7] {1, 1, 1, 1, 1, 1, 1}", "f32[7] {2, 4, 3, 7, 6, 5, 1}", 0, 0,
         "Mismatch count 6 (85.7143%) in shape f32[7] (7 elements), abs bound 0, rel bound 0\n"
         "Top relative error mismatches:\n"
         "  actual 7, expected 1, index {3}, rel error        6, abs error        6\n"
         "  actual 6, expected 1, index {4}, rel error        5, abs error        5\n"
         "  actual 5, expected 1, index {5}, rel error        4, abs error        4\n"
         "  actual 4, expected 1, index {1}, rel error        3, abs error        3\n"
         "  actual 3, expected 1, index {2}, rel error        2, abs error        2"},
    };
    expect_rows(rows, HLO_COUNT(rows));
}

static void compare_tuples_name_every_leaf_that_differs(void **state) {
    (void)state;
    static const Row rows[] = {
        {"(s32[] 1, (s32[] 2, s32[] 3))", "(s32[] 1, (s32[] 2, s32[] 4))", 0, 0,
         "Array at shape index {1,1}, Mismatch count 1"},
        {"(s32[] 1, s32[] 2)", "(s32[] 0, s32[] 3)", 0, 0, "\nArray at shape index {1}, "},
        {"()", "()", 0, 0, NULL},
    };
    expect_rows(rows, HLO_COUNT(rows));
}

static void compare_shapes_must_agree(void **state) {
    (void)state;
    static const Row rows[] = {
        {"f32[2] {1, 2}", "f32[3] {1, 2, 3}", 1, 1, "expected shape f32[2], actual shape f32[3]"},
        {"f32[] 1", "f64[] 1", 1, 1, "expected shape f32[], actual shape f64[]"},
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
        cmocka_unit_test(compare_report_lists_the_five_largest_errors),
        cmocka_unit_test(compare_tuples_name_every_leaf_that_differs),
        cmocka_unit_test(compare_shapes_must_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
