// Literals: packed storage, access, comparison, and the one-line text.

#include <math.h>

#include "hlo/literal.h"
#include "values_fixture.h"

static HloLiteral *literal_of(Fixture *f, const HloShape *shape) {
    HloLiteral *literal = NULL;
    assert_true(hlo_is_ok(hlo_literal_new(&f->arena, shape, &literal)));
    return literal;
}

static HloLiteral *array(Fixture *f, HloType type, const int64_t *dims, size_t rank) {
    return literal_of(f, hlo_shape_of(&f->shapes, type, dims, rank));
}

static HloLiteral *vector(Fixture *f, HloType type, int64_t size) {
    return array(f, type, &size, 1);
}

static void expect_text(Fixture *f, const HloLiteral *literal, const char *want) {
    f->out.size = 0;
    hlo_put_literal(&f->out, literal);
    assert_string_equal(f->out.data, want);
}

static void literal_every_array_type_keeps_its_patterns(void **state) {
    Fixture *f = *state;
    for (int t = 0; t < HLO_TYPE_COUNT; t++) {
        if (!hlo_type_is_array((HloType)t) || hlo_type_is_complex((HloType)t)) continue;
        HloLiteral *literal = vector(f, (HloType)t, 21);
        int bits = hlo_type_bits((HloType)t);
        uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
        for (int64_t i = 0; i < 21; i++) hlo_literal_set_bits(literal, i, 0x9e3779b97f4a7c15u >> i & mask);
        for (int64_t i = 0; i < 21; i++) {
            if (hlo_literal_bits(literal, i) != (0x9e3779b97f4a7c15u >> i & mask))
                fail_msg("%s", hlo_type_name((HloType)t));
        }
    }
}

static void literal_size_sub_byte_types_are_packed(void **state) {
    Fixture *f = *state;
    assert_int_equal(vector(f, HLO_S1, 9)->size_bytes, 2);
    assert_int_equal(vector(f, HLO_U2, 5)->size_bytes, 2);
    assert_int_equal(vector(f, HLO_F4E2M1FN, 5)->size_bytes, 3);
    assert_int_equal(vector(f, HLO_F6E3M2FN, 5)->size_bytes, 5);
    assert_int_equal(vector(f, HLO_PRED, 5)->size_bytes, 5);
    assert_int_equal(vector(f, HLO_C128, 2)->size_bytes, 32);
}

static void literal_size_too_large_is_refused(void **state) {
    Fixture *f = *state;
    const int64_t dims[] = {INT64_C(1) << 40, INT64_C(1) << 22};
    HloLiteral *literal = NULL;
    HloStatus status = hlo_literal_new(&f->arena, hlo_shape_of(&f->shapes, HLO_F64, dims, 2), &literal);
    assert_int_equal(hlo_status_code(status), HLO_INVALID_ARGUMENT);
    assert_null(literal);
    hlo_status_free(status);
}

static void literal_set_number_converts_to_the_type(void **state) {
    Fixture *f = *state;
    HloLiteral *s4 = vector(f, HLO_S4, 1), *u8 = vector(f, HLO_U8, 1), *u64 = vector(f, HLO_U64, 1);
    hlo_literal_set_int(s4, 0, -3);
    assert_int_equal(hlo_literal_int(s4, 0), -3);
    hlo_literal_set_int(s4, 0, 9);
    assert_int_equal(hlo_literal_int(s4, 0), -7);
    hlo_literal_set_double(u8, 0, -1);
    assert_int_equal(hlo_literal_int(u8, 0), 255);
    hlo_literal_set_double(u64, 0, 1e19);
    assert_true(hlo_literal_bits(u64, 0) == UINT64_C(10000000000000000000));
    hlo_literal_set_double(u64, 0, 1e30);
    assert_true(hlo_literal_bits(u64, 0) == UINT64_MAX);
    HloLiteral *pred = vector(f, HLO_PRED, 1), *c64 = vector(f, HLO_C64, 1);
    hlo_literal_set_double(pred, 0, 0.5);
    assert_int_equal(hlo_literal_int(pred, 0), 1);
    hlo_literal_set_complex(c64, 0, 1.5, -2);
    assert_true(hlo_literal_double(c64, 0) == 1.5 && hlo_literal_imag(c64, 0) == -2);
}

static void literal_copy_element_keeps_both_parts(void **state) {
    Fixture *f = *state;
    HloLiteral *from = vector(f, HLO_C128, 2), *to = vector(f, HLO_C128, 2);
    hlo_literal_set_complex(from, 1, -0.0, 0.1);
    hlo_literal_copy_element(to, 0, from, 1);
    hlo_literal_copy_element(to, 1, from, 0);
    expect_text(f, to, "{(-0, 0.1), (0, 0)}");
}

static void literal_is_all_needs_the_same_bits(void **state) {
    Fixture *f = *state;
    HloLiteral *zeros = vector(f, HLO_F32, 3);
    assert_true(hlo_literal_is_all(zeros, 0));
    assert_false(hlo_literal_is_all(zeros, -0.0));
    hlo_literal_set_double(zeros, 2, -0.0);
    assert_false(hlo_literal_is_all(zeros, 0));
    HloLiteral *ones = vector(f, HLO_U2, 7);
    for (int64_t i = 0; i < 7; i++) hlo_literal_set_int(ones, i, 3);
    assert_true(hlo_literal_is_all(ones, 3));
    assert_false(hlo_literal_is_all(ones, -1));
    HloLiteral *tenth = vector(f, HLO_F32, 1);
    hlo_literal_set_double(tenth, 0, 0.1);
    assert_false(hlo_literal_is_all(tenth, 0.1));  // 0.1 is not exact in f32
    assert_true(hlo_literal_is_all(vector(f, HLO_F32, 0), 7));
    assert_false(hlo_literal_is_all(zeros, NAN));
}

static void literal_is_splat_needs_an_element(void **state) {
    Fixture *f = *state;
    assert_true(hlo_literal_is_splat(vector(f, HLO_C128, 4)));
    assert_false(hlo_literal_is_splat(vector(f, HLO_S32, 0)));
    HloLiteral *mixed = vector(f, HLO_S16, 3);
    hlo_literal_set_int(mixed, 1, 1);
    assert_false(hlo_literal_is_splat(mixed));
}

static void literal_equal_ignores_layout_only(void **state) {
    Fixture *f = *state;
    const int64_t dims[] = {2, 3}, order[] = {0, 1}, turned[] = {3, 2};
    HloLiteral *a = array(f, HLO_S32, dims, 2);
    const HloLayout *layout = hlo_layout_of(&f->shapes, order, 2);
    HloLiteral *b = literal_of(f, hlo_shape_with_layout(&f->shapes, a->shape, layout));
    assert_true(hlo_literal_equal(a, b));
    assert_true(hlo_literal_hash(a) == hlo_literal_hash(b));
    assert_false(hlo_literal_equal(a, array(f, HLO_S32, turned, 2)));
    assert_false(hlo_literal_equal(a, array(f, HLO_U32, dims, 2)));
    hlo_literal_set_int(b, 5, 1);
    assert_false(hlo_literal_equal(a, b));
}

typedef struct Row {
    int64_t dims[5];
    size_t rank;
    const char *text;
} Row;

static void put_literal_each_rank_has_its_braces(void **state) {
    Fixture *f = *state;
    static const Row rows[] = {
        {{0}, 0, "0"},
        {{3}, 1, "{0, 0, 0}"},
        {{0}, 1, "{}"},
        {{2, 2}, 2, "{ { 0, 0 }, { 0, 0 } }"},
        {{2, 1}, 2, "{ {0}, {0} }"},
        {{2, 0}, 2, "{ {}, {} }"},
        {{0, 2}, 2, "{  }"},
        {{1, 2, 2}, 3, "{ { { 0, 0 }, { 0, 0 } } }"},
        {{3, 0, 2}, 3, "{ {  }, {  }, {  } }"},
        {{1, 2, 1, 2}, 4, "{ { /*i0=0*/ { /*i1=0*/ { 0, 0 } }, { /*i1=1*/ { 0, 0 } } } }"},
        {{3, 0, 2, 5}, 4, "{ { /*i0=0*/ }, { /*i0=1*/ }, { /*i0=2*/ } }"},
        {{1, 1, 1, 1, 1}, 5, "{ { /*i0=0*/ { /*i1=0*/ { /*i2=0*/ {0} } } } }"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        expect_text(f, array(f, HLO_S32, rows[i].dims, rows[i].rank), rows[i].text);
    }
}

static void put_literal_tuple_has_blanks_inside(void **state) {
    Fixture *f = *state;
    const HloShape *s32 = hlo_shape_scalar(&f->shapes, HLO_S32);
    const HloShape *inner = hlo_shape_tuple(&f->shapes, (const HloShape *[]){hlo_shape_token(&f->shapes)}, 1);
    const HloShape *parts[] = {s32, inner, hlo_shape_tuple(&f->shapes, NULL, 0)};
    expect_text(f, literal_of(f, hlo_shape_tuple(&f->shapes, parts, 3)), "( 0, ( token ), (  ) )");
}

static void put_literal_lines_rows_have_their_own(void **state) {
    Fixture *f = *state;
    const int64_t dims[] = {1, 2, 1, 2}, none[] = {2, 0, 2};
    const HloShape *parts[] = {hlo_shape_of(&f->shapes, HLO_S32, dims, 4), hlo_shape_of(&f->shapes, HLO_S32, none, 3),
                               hlo_shape_scalar(&f->shapes, HLO_PRED)};
    hlo_put_literal_lines(&f->out, literal_of(f, hlo_shape_tuple(&f->shapes, parts, 3)));
    assert_string_equal(f->out.data,
                        "(\ns32[1,2,1,2] {\n{ /*i0=0*/\n{ /*i1=0*/\n  { 0, 0 }\n},\n{ /*i1=1*/\n  { 0, 0 }\n}\n}\n},\n"
                        "s32[2,0,2] {\n{\n\n},\n{\n\n}\n},\npred[] false\n)");
}

static void put_literal_pred_is_a_word_only_alone(void **state) {
    Fixture *f = *state;
    HloLiteral *scalar = array(f, HLO_PRED, NULL, 0), *pair = vector(f, HLO_PRED, 2);
    hlo_literal_set_int(scalar, 0, 1);
    hlo_literal_set_int(pair, 1, 1);
    expect_text(f, scalar, "true");
    expect_text(f, pair, "{0, 1}");
}

typedef struct ScalarRow {
    HloType type;
    uint64_t bits;
    const char *text;
} ScalarRow;

static void put_scalar_each_type_has_its_digits(void **state) {
    Fixture *f = *state;
    static const ScalarRow rows[] = {
        {HLO_S1, 1, "-1"},
        {HLO_U4, 15, "15"},
        {HLO_S8, 0x80, "-128"},
        {HLO_U64, UINT64_MAX, "18446744073709551615"},
        {HLO_S64, (uint64_t)INT64_MIN, "-9223372036854775808"},
        {HLO_F32, 0x3eaaaaab, "0.333333343"},
        {HLO_F32, 0x7fc00000, "nan"},
        {HLO_F32, 0xffc00000, "-nan"},
        {HLO_F32, 0x7f80002a, "nan(0x2a)"},
        {HLO_F32, 0x80000000, "-0"},
        {HLO_F64, 0x7ff8000000000001, "nan(0x8000000000001)"},
        {HLO_F64, 0xfff0000000000000, "-inf"},
        {HLO_F16, 0x2e66, "0.099976"},
        {HLO_F16, 0x7e01, "nan(0x201)"},
        {HLO_BF16, 0x3dcd, "0.1001"},
        {HLO_BF16, 0x7f7f, "3.39e+38"},
        {HLO_F8E5M2, 0x7b, "5.7e+04"},
        {HLO_F8E4M3FN, 0x1d, "0.102"},
        {HLO_F8E4M3FN, 0xff, "-nan"},
        {HLO_F8E4M3FNUZ, 0x80, "-nan"},
        {HLO_F8E8M0FNU, 0xff, "nan"},
        {HLO_F4E2M1FN, 0xf, "-6"},
        {HLO_F6E2M3FN, 0x1f, "7.5"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        HloLiteral *literal = array(f, rows[i].type, NULL, 0);
        hlo_literal_set_bits(literal, 0, rows[i].bits);
        expect_text(f, literal, rows[i].text);
    }
    HloLiteral *complex = array(f, HLO_C64, NULL, 0);
    hlo_literal_set_complex(complex, 0, -INFINITY, 0.1);
    expect_text(f, complex, "(-inf, 0.1)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(literal_every_array_type_keeps_its_patterns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(literal_size_sub_byte_types_are_packed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(literal_size_too_large_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(literal_set_number_converts_to_the_type, set_up, tear_down),
        cmocka_unit_test_setup_teardown(literal_copy_element_keeps_both_parts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(literal_is_all_needs_the_same_bits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(literal_is_splat_needs_an_element, set_up, tear_down),
        cmocka_unit_test_setup_teardown(literal_equal_ignores_layout_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(put_literal_each_rank_has_its_braces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(put_literal_tuple_has_blanks_inside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(put_literal_lines_rows_have_their_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(put_literal_pred_is_a_word_only_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(put_scalar_each_type_has_its_digits, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
