// Common factors, and when reshapes and transposes move no data.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "hlo/analysis.h"
#include "hlo/module.h"

static int setup(void **state) {
    *state = hlo_module_new("m");
    return *state ? 0 : -1;
}

static int teardown(void **state) {
    hlo_module_free(*state);
    return 0;
}

enum { MAX = 4 };

static size_t count_until(const int64_t *list) {
    size_t count = 0;
    while (count < MAX && list[count] >= 0) count++;
    return count;
}

static const HloShape *shape_of(void **state, const int64_t *dims, const int64_t *order) {
    HloShapes *shapes = &((HloModule *)*state)->shapes;
    size_t rank = count_until(dims);
    return hlo_shape_array(shapes, HLO_F32, dims, NULL, rank, hlo_layout_of(shapes, order, rank));
}

static void shape_common_factors_are_the_finest_groups(void **state) {
    HloArena *arena = &((HloModule *)*state)->arena;
    static const struct {
        int64_t a[MAX], b[MAX];
        size_t count;
        HloFactorBound bounds[MAX + 2];
    } rows[] = {
        {{2, 3, 4, -1}, {2, 12, -1}, 3, {{0, 0}, {1, 1}, {3, 2}}},
        {{6, 4, -1}, {4, 6, -1}, 2, {{0, 0}, {2, 2}}},
        {{2, 3, -1}, {2, 3, -1}, 3, {{0, 0}, {1, 1}, {2, 2}}},
        {{1, 4, -1}, {4, -1}, 3, {{0, 0}, {1, 0}, {2, 1}}},
        {{4, -1}, {2, 1, 2, -1}, 2, {{0, 0}, {1, 3}}},
        {{-1}, {1, 1, -1}, 3, {{0, 0}, {0, 1}, {0, 2}}},
        {{2, 0, -1}, {0, 5, -1}, 2, {{0, 0}, {2, 2}}},
    };
    for (size_t i = 0; i < HLO_COUNT(rows); i++) {
        HloFactors factors = hlo_shape_common_factors(arena, (HloDims){rows[i].a, count_until(rows[i].a)},
                                                      (HloDims){rows[i].b, count_until(rows[i].b)});
        assert_int_equal(factors.count, rows[i].count);
        for (size_t k = 0; k < factors.count; k++) {
            assert_int_equal(factors.bounds[k].a, rows[i].bounds[k].a);
            assert_int_equal(factors.bounds[k].b, rows[i].bounds[k].b);
        }
    }
}

static void reshape_is_bitcast_compares_physical_places(void **state) {
    static const struct {
        int64_t in[MAX], in_order[MAX], out[MAX], out_order[MAX];
        bool bitcast;
    } rows[] = {
        {{2, 3, -1}, {1, 0}, {6, -1}, {0}, true},
        {{2, 3, -1}, {0, 1}, {6, -1}, {0}, false},
        {{2, 1, -1}, {0, 1}, {2, -1}, {0}, true},
        {{2, 3, 4, -1}, {2, 1, 0}, {6, 4, -1}, {1, 0}, true},
        {{2, 3, 4, -1}, {1, 0, 2}, {6, 4, -1}, {0, 1}, true},
        {{2, 3, 4, -1}, {1, 0, 2}, {6, 4, -1}, {1, 0}, false},
        {{4, 4, -1}, {1, 0}, {2, 8, -1}, {1, 0}, true},
        {{4, 4, -1}, {0, 1}, {2, 8, -1}, {0, 1}, false},
        {{0, 3, -1}, {0, 1}, {3, 0, -1}, {1, 0}, true},
        {{2, 3, -1}, {1, 0}, {5, -1}, {0}, false},
    };
    for (size_t i = 0; i < HLO_COUNT(rows); i++) {
        const HloShape *in = shape_of(state, rows[i].in, rows[i].in_order);
        const HloShape *out = shape_of(state, rows[i].out, rows[i].out_order);
        if (hlo_reshape_is_bitcast(in, out) != rows[i].bitcast) fail_msg("row %zu", i);
    }
}

static void permuted_shape_makes_the_transpose_a_bitcast(void **state) {
    HloShapes *shapes = &((HloModule *)*state)->shapes;
    const HloShape *in = shape_of(state, (const int64_t[]){2, 3, 4, -1}, (const int64_t[]){1, 2, 0});
    HloDims dimensions = {(const int64_t[]){2, 0, 1}, 3};
    const HloShape *out = hlo_shape_permuted(shapes, in, dimensions);
    assert_int_equal(out->dims[0], 4);
    assert_int_equal(out->dims[2], 3);
    assert_true(hlo_transpose_is_bitcast(in, out, dimensions));
    assert_false(hlo_transpose_is_bitcast(in, hlo_shape_with_default_layout(shapes, out), dimensions));
}

static void aligned_layout_makes_the_reshape_a_bitcast(void **state) {
    HloShapes *shapes = &((HloModule *)*state)->shapes;
    const HloShape *in = shape_of(state, (const int64_t[]){6, 1, 4, -1}, (const int64_t[]){0, 1, 2});
    const HloShape *out = shape_of(state, (const int64_t[]){2, 3, 4, 1}, (const int64_t[]){3, 2, 1, 0});
    const HloShape *aligned = hlo_reshape_align_layout(shapes, in, out);
    assert_non_null(aligned);
    assert_true(hlo_reshape_is_bitcast(in, aligned));
    // {2,3} in the order {0,1} cannot become one dimension.
    const HloShape *turned = shape_of(state, (const int64_t[]){2, 3, -1}, (const int64_t[]){0, 1});
    assert_null(
        hlo_reshape_align_layout(shapes, turned, shape_of(state, (const int64_t[]){6, -1}, (const int64_t[]){0})));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shape_common_factors_are_the_finest_groups),
        cmocka_unit_test(reshape_is_bitcast_compares_physical_places),
        cmocka_unit_test(permuted_shape_makes_the_transpose_a_bitcast),
        cmocka_unit_test(aligned_layout_makes_the_reshape_a_bitcast),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
