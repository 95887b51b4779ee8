// .npy files: reading what numpy writes, refusing what does not fit, and reading back what was written.

#include "hlo/npy.h"
#include "values_fixture.h"

static const HloShape *shape_of(Fixture *f, HloType type, size_t rank, const int64_t *dims) {
    return hlo_shape_of(&f->shapes, type, dims, rank);
}

// A file with the given version, header dictionary and elements.
static void put_file(HloBuffer *out, int version, const char *header, const void *data, size_t size) {
    size_t length = strlen(header);
    char start[12] = {(char)0x93,         'N', 'U', 'M', 'P', 'Y', (char)version, 0, (char)(length & 0xff),
                      (char)(length >> 8)};
    hlo_put(out, start, version == 1 ? 10 : 12);
    hlo_put_string(out, header);
    hlo_put(out, data, size);
}

static HloStatus parse(Fixture *f, const HloShape *shape, HloLiteral **out) {
    return hlo_npy_parse(&f->arena, shape, (HloStringView){f->out.data, f->out.size}, out);
}

static void expect_refused(Fixture *f, const HloShape *shape, const char *words) {
    HloLiteral *literal = NULL;
    HloStatus status = parse(f, shape, &literal);
    assert_int_equal(hlo_status_code(status), HLO_INVALID_ARGUMENT);
    if (!strstr(hlo_status_message(status), words)) print_message("found: %s\n", hlo_status_message(status));
    assert_non_null(strstr(hlo_status_message(status), words));
    hlo_status_free(status);
}

// ---- reading --------------------------------------------------------------------------------------------

static void npy_version_1_file_is_read(void **state) {
    Fixture *f = *state;
    const float data[] = {1, 2, 3, 4, 5, 6};
    put_file(&f->out, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", data, sizeof data);
    HloLiteral *literal = NULL;
    assert_true(hlo_is_ok(parse(f, shape_of(f, HLO_F32, 2, (int64_t[]){2, 3}), &literal)));
    for (int k = 0; k < 6; k++) assert_true(hlo_literal_double(literal, k) == k + 1);
}

static void npy_version_2_file_with_other_key_order_is_read(void **state) {
    Fixture *f = *state;
    const int64_t data[] = {-7};
    put_file(&f->out, 2, "{'shape': (), 'fortran_order': False, 'descr': '<i8'}\n", data, sizeof data);
    HloLiteral *literal = NULL;
    assert_true(hlo_is_ok(parse(f, shape_of(f, HLO_S64, 0, NULL), &literal)));
    assert_int_equal(hlo_literal_int(literal, 0), -7);
}

static void npy_column_major_file_is_turned(void **state) {
    Fixture *f = *state;
    const int32_t data[] = {1, 4, 2, 5, 3, 6};
    put_file(&f->out, 1, "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }\n", data, sizeof data);
    HloLiteral *literal = NULL;
    assert_true(hlo_is_ok(parse(f, shape_of(f, HLO_S32, 2, (int64_t[]){2, 3}), &literal)));
    for (int k = 0; k < 6; k++) assert_int_equal(hlo_literal_int(literal, k), k + 1);
}

static void npy_bits_of_unknown_types_are_taken_as_they_are(void **state) {
    Fixture *f = *state;
    const uint16_t data[] = {0x3f80, 0xc000};
    put_file(&f->out, 1, "{'descr': '<u2', 'fortran_order': False, 'shape': (2,), }\n", data, sizeof data);
    HloLiteral *literal = NULL;
    assert_true(hlo_is_ok(parse(f, shape_of(f, HLO_BF16, 1, (int64_t[]){2}), &literal)));
    assert_true(hlo_literal_double(literal, 0) == 1 && hlo_literal_double(literal, 1) == -2);
}

static void npy_bytes_become_packed_4_bit_values(void **state) {
    Fixture *f = *state;
    const int8_t data[] = {-8, 7, -1};
    put_file(&f->out, 1, "{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }\n", data, sizeof data);
    HloLiteral *literal = NULL;
    assert_true(hlo_is_ok(parse(f, shape_of(f, HLO_S4, 1, (int64_t[]){3}), &literal)));
    for (int k = 0; k < 3; k++) assert_int_equal(hlo_literal_int(literal, k), data[k]);
}

// ---- refusing -------------------------------------------------------------------------------------------

static void npy_other_files_are_refused(void **state) {
    Fixture *f = *state;
    hlo_put_string(&f->out, "PK\3\4 is the start of an .npz file");
    expect_refused(f, shape_of(f, HLO_F32, 0, NULL), "not an .npy file");
}

static void npy_wrong_type_size_or_shape_is_refused(void **state) {
    Fixture *f = *state;
    const float data[] = {1, 2};
    put_file(&f->out, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", data, sizeof data);
    expect_refused(f, shape_of(f, HLO_F64, 1, (int64_t[]){2}), "expected elements 'f8'");
    expect_refused(f, shape_of(f, HLO_S32, 1, (int64_t[]){2}), "expected elements 'i4'");
    expect_refused(f, shape_of(f, HLO_F32, 1, (int64_t[]){3}), "expected size 3 in dimension 0");
    expect_refused(f, shape_of(f, HLO_F32, 2, (int64_t[]){1, 2}), "expected 2 dimensions");
}

static void npy_cut_short_at_every_byte_is_refused(void **state) {
    Fixture *f = *state;
    const float data[] = {1, 2};
    put_file(&f->out, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n", data, sizeof data);
    const HloShape *shape = shape_of(f, HLO_F32, 1, (int64_t[]){2});
    for (size_t size = 0; size < f->out.size; size++) {
        HloLiteral *literal = NULL;
        char *copy = test_malloc(size + 1);  // so that a read past the end is seen
        memcpy(copy, f->out.data, size);
        HloStatus status = hlo_npy_parse(&f->arena, shape, (HloStringView){copy, size}, &literal);
        assert_int_equal(hlo_status_code(status), HLO_INVALID_ARGUMENT);
        hlo_status_free(status);
        test_free(copy);
    }
}

static void npy_broken_headers_are_refused(void **state) {
    Fixture *f = *state;
    static const char *const headers[] = {
        "",
        "{'descr': 3}",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (x)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1)}",
        "{'descr': '>f4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1",
    };
    for (size_t k = 0; k < HLO_COUNT(headers); k++) {
        f->out.size = 0;
        put_file(&f->out, 1, headers[k], "\0\0\0\0", 4);
        expect_refused(f, shape_of(f, HLO_F32, 0, NULL), "");
    }
}

// ---- writing --------------------------------------------------------------------------------------------

static void npy_every_array_type_reads_back(void **state) {
    Fixture *f = *state;
    for (int t = 0; t < HLO_TYPE_COUNT; t++) {
        if (!hlo_type_is_array((HloType)t)) continue;
        HloLiteral *literal = NULL, *again = NULL;
        const HloShape *shape = shape_of(f, (HloType)t, 2, (int64_t[]){3, 5});
        assert_true(hlo_is_ok(hlo_literal_new(&f->arena, shape, &literal)));
        for (int k = 0; k < 15 && !hlo_type_is_complex((HloType)t); k++)
            hlo_literal_set_bits(literal, k, t == HLO_PRED ? k & 1 : (uint64_t)k * 37);
        f->out.size = 0;
        assert_true(hlo_is_ok(hlo_npy_print(literal, &f->out)));
        HloStatus status = parse(f, shape, &again);
        if (!hlo_is_ok(status)) print_message("%s: %s\n", hlo_type_name((HloType)t), hlo_status_message(status));
        assert_true(hlo_is_ok(status));
        assert_true(hlo_literal_equal(literal, again));
    }
}

static void npy_elements_start_at_a_multiple_of_64(void **state) {
    Fixture *f = *state;
    HloLiteral *literal = NULL;
    assert_true(hlo_is_ok(hlo_literal_new(&f->arena, shape_of(f, HLO_F32, 1, (int64_t[]){7}), &literal)));
    assert_true(hlo_is_ok(hlo_npy_print(literal, &f->out)));
    assert_int_equal((f->out.size - 7 * sizeof(float)) % 64, 0);
}

static void npy_tuple_is_refused(void **state) {
    Fixture *f = *state;
    const HloShape *scalar = shape_of(f, HLO_F32, 0, NULL), *tuple = hlo_shape_tuple(&f->shapes, &scalar, 1);
    HloLiteral *literal = NULL;
    assert_true(hlo_is_ok(hlo_literal_new(&f->arena, tuple, &literal)));
    HloStatus status = hlo_npy_print(literal, &f->out);
    assert_int_equal(hlo_status_code(status), HLO_INVALID_ARGUMENT);
    hlo_status_free(status);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(npy_version_1_file_is_read),
        TEST(npy_version_2_file_with_other_key_order_is_read),
        TEST(npy_column_major_file_is_turned),
        TEST(npy_bits_of_unknown_types_are_taken_as_they_are),
        TEST(npy_bytes_become_packed_4_bit_values),
        TEST(npy_other_files_are_refused),
        TEST(npy_wrong_type_size_or_shape_is_refused),
        TEST(npy_cut_short_at_every_byte_is_refused),
        TEST(npy_broken_headers_are_refused),
        TEST(npy_every_array_type_reads_back),
        TEST(npy_elements_start_at_a_multiple_of_64),
        TEST(npy_tuple_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
