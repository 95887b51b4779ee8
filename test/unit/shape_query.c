// Sizes, leaves and comparison of shapes.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hlo/module.h"

static int setup(void **state) {
    *state = hlo_module_new("m");
    return *state ? 0 : -1;
}

static int teardown(void **state) {
    hlo_module_free(*state);
    return 0;
}

static HloShapes *shapes_of(void **state) {
    return &((HloModule *)*state)->shapes;
}

static void shape_size_bytes_follows_the_table(void **state) {
    HloShapes *shapes = shapes_of(state);
    static const struct {
        HloType type;
        int64_t dims[2];
        int64_t element_bits, bytes;
    } rows[] = {
        {HLO_F32, {2, 3}, 0, 24},     {HLO_PRED, {3, 3}, 0, 9},  {HLO_S4, {3, 3}, 0, 9},  {HLO_S4, {3, 3}, 4, 5},
        {HLO_F6E3M2FN, {2, 2}, 0, 4}, {HLO_C128, {1, 2}, 0, 32}, {HLO_F32, {0, 9}, 0, 0},
    };
    for (size_t i = 0; i < HLO_COUNT(rows); i++) {
        HloLayout layout = *hlo_layout_default(shapes, 2);
        layout.element_bits = rows[i].element_bits;
        const HloShape *shape = hlo_shape_array(shapes, rows[i].type, rows[i].dims, NULL, 2, &layout);
        assert_int_equal(hlo_shape_size_bytes(shape), rows[i].bytes);
    }
}

static void shape_size_bytes_counts_pointers_of_tuples(void **state) {
    HloShapes *shapes = shapes_of(state);
    const HloShape *x = hlo_shape_of(shapes, HLO_F32, (const int64_t[]){100}, 1);
    const HloShape *pair = hlo_shape_tuple(shapes, (const HloShape *[]){x, hlo_shape_token(shapes)}, 2);
    assert_int_equal(hlo_shape_size_bytes(pair), 16);
    assert_int_equal(hlo_shape_size_bytes(hlo_shape_tuple(shapes, NULL, 0)), 0);
    assert_int_equal(hlo_shape_size_bytes(hlo_shape_token(shapes)), 0);
}

static void shape_count_elements_refuses_overflow(void **state) {
    (void)state;
    int64_t dims[] = {INT64_MAX / 2, 3}, count = 7;
    HloShape shape = {.type = HLO_F32, .rank = 2, .dims = dims};
    assert_false(hlo_shape_count_elements(&shape, &count));
    assert_int_equal(count, 7);
    dims[1] = 0;
    assert_true(hlo_shape_count_elements(&shape, &count));
    assert_int_equal(count, 0);
}

static void shape_at_finds_nested_elements(void **state) {
    HloShapes *shapes = shapes_of(state);
    const HloShape *x = hlo_shape_scalar(shapes, HLO_F32);
    const HloShape *inner = hlo_shape_tuple(shapes, (const HloShape *[]){x, x}, 2);
    const HloShape *outer = hlo_shape_tuple(shapes, (const HloShape *[]){inner, x, inner}, 3);
    assert_ptr_equal(hlo_shape_at(outer, (const int64_t[]){2, 1}, 2), x);
    assert_ptr_equal(hlo_shape_at(outer, NULL, 0), outer);
    assert_null(hlo_shape_at(outer, (const int64_t[]){1, 0}, 2));
    assert_null(hlo_shape_at(outer, (const int64_t[]){-1}, 1));
    assert_int_equal(hlo_shape_leaf_count(outer), 5);
}

static void shape_equal_ignores_what_it_is_told(void **state) {
    HloShapes *shapes = shapes_of(state);
    const int64_t dims[] = {2, 3}, unbounded[] = {HLO_UNBOUNDED, 3};
    const bool dynamic[] = {true, false};
    const HloShape *plain = hlo_shape_of(shapes, HLO_F32, dims, 2);
    const HloShape *turned = hlo_shape_with_layout(shapes, plain, hlo_layout_of(shapes, (const int64_t[]){0, 1}, 2));
    const HloShape *bounded = hlo_shape_array(shapes, HLO_F32, dims, dynamic, 2, plain->layout);
    const HloShape *open = hlo_shape_array(shapes, HLO_F32, unbounded, dynamic, 2, plain->layout);
    const HloShape *half = hlo_shape_with_type(shapes, plain, HLO_BF16);
    const HloShape *ints = hlo_shape_with_type(shapes, plain, HLO_S32);
    assert_false(hlo_shape_equal(plain, turned, HLO_IGNORE_NOTHING));
    assert_true(hlo_shape_equal(plain, turned, HLO_IGNORE_LAYOUT));
    assert_false(hlo_shape_equal(plain, bounded, HLO_IGNORE_LAYOUT));
    assert_true(hlo_shape_compatible(plain, bounded));
    assert_true(hlo_shape_compatible(plain, open));
    assert_true(hlo_shape_equal(plain, half, HLO_IGNORE_FLOAT_PRECISION));
    assert_false(hlo_shape_equal(plain, ints, HLO_IGNORE_FLOAT_PRECISION));
    assert_true(hlo_shape_same_dims(plain, ints));
    assert_false(hlo_shape_same_dims(plain, hlo_shape_token(shapes)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shape_size_bytes_follows_the_table),
        cmocka_unit_test(shape_size_bytes_counts_pointers_of_tuples),
        cmocka_unit_test(shape_count_elements_refuses_overflow),
        cmocka_unit_test(shape_at_finds_nested_elements),
        cmocka_unit_test(shape_equal_ignores_what_it_is_told),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
