// Values of runs as messages: what is written reads back, and nothing else is taken for a value.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hlo/run_literals.h"
#include "hlo/text.h"

static HloLiteral *literal(HloModule *m, const char *text) {
    HloLiteral *out = NULL;
    assert_true(hlo_is_ok(hlo_parse_literal(&m->arena, &m->shapes, hlo_view(text), &out)));
    return out;
}

static void literal_message_reads_back(void **state) {
    (void)state;
    static const char *const texts[] = {
        "f32[2] {1.5, nan}", "bf16[2,2] {{1, 2}, {3, -inf}}",
        "pred[3] {1, 0, 1}", "s4[3] {-8, 0, 7}",
        "c64[] (1, -2)",     "(s32[] 1, (f8e4m3fn[1] {448}, u64[0] {}))",
    };
    for (size_t k = 0; k < HLO_COUNT(texts); k++) {
        HloModule *m = hlo_module_new("m");
        HloBuffer bytes = {0};
        const HloLiteral *first = literal(m, texts[k]), *second = NULL;
        assert_true(hlo_is_ok(hlo_literal_message_write(first, &bytes)));
        assert_true(hlo_is_ok(hlo_literal_message_read((HloStringView){bytes.data, bytes.size}, "f", m, &second)));
        assert_true(hlo_literal_equal(first, second));
        hlo_buffer_free(&bytes);
        hlo_module_free(m);
    }
}

static void literal_message_of_anything_else_is_refused(void **state) {
    (void)state;
    HloModule *m = hlo_module_new("m");
    HloBuffer bytes = {0};
    const HloLiteral *values[] = {literal(m, "f32[2] {1, 2}")}, *read = NULL;
    HloRunValues iteration = {.arguments = values, .argument_count = 1};
    assert_true(hlo_is_ok(hlo_run_literals_write((HloRunLiterals){&iteration, 1}, &bytes)));
    const HloStringView wrong[] = {hlo_view(""), hlo_view("f32[2] {1, 2}"), {bytes.data, bytes.size - 1}};
    for (size_t k = 0; k < HLO_COUNT(wrong); k++) {
        HloStatus status = hlo_literal_message_read(wrong[k], "values.pb", m, &read);
        assert_int_equal(hlo_status_code(status), HLO_INVALID_ARGUMENT);
        assert_non_null(strstr(hlo_status_message(status), "values.pb: "));
        hlo_status_free(status);
    }
    hlo_buffer_free(&bytes);
    hlo_module_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literal_message_reads_back),
        cmocka_unit_test(literal_message_of_anything_else_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
