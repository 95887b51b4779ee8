// Shapes, literals, numbers and normal forms, read and written back.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hlo/text.h"
#include "../../lib/text/lexer.h"

typedef struct Pair {
    const char *text, *want;  // want NULL: refused
} Pair;

static HloModule *module;

static int set_up(void **state) {
    (void)state;
    module = hlo_module_new("m");
    return module ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    hlo_module_free(module);
    return 0;
}

static void shape_text_is_read_and_printed_back(void **state) {
    (void)state;
    static const Pair pairs[] = {
        {"f32[]", "f32[]"},
        {"f32[ 2, 3 ]{ 1, 0 }", "f32[2,3]{1,0}"},
        {"f32[2,3]", "f32[2,3]"},
        {"(f32[2]{0}, (), (s32[], token[]))", "(f32[2]{0}, (), (s32[], token[]))"},
        {"b(f32[8]{0})", "b(f32[8]{0})"},
        {"f32[<=8,?,3]", "f32[<=8,?,3]"},
        {"bf16[16,128]{1,0:T(8,128)(2,1)S(1)}", "bf16[16,128]{1,0:T(8,128)(2,1)S(1)}"},
        {"f32[2,4]{1,0:T(2,*)L(2)#(u32)*(u64)E(8)S(5)SC(0:1,2)(1:3)M(16)}",
         "f32[2,4]{1,0:T(2,*)L(2)#(u32)*(u64)E(8)S(5)SC(0:1,2)(1:3)M(16)}"},
        {"f32[2]{0:D(D,C+~)}", "f32[2]{0}"},
        {"u32[]{:T(128)}", "u32[]{:T(128)}"},
        {"f32[2,2]{1,0:}", "f32[2,2]{1,0}"},
        {"f32", NULL},
        {"f32[-1]", NULL},
        {"f32[2]{}", NULL},
        {"f32[2]{1}", NULL},
        {"f32[2,2]{0}", NULL},
        {"f32[2,2]{0,0}", NULL},
        {"f32[8]{0:S(1)T(8)}", NULL},
        {"f32[9223372036854775807,2]", NULL},
        {"(f32[2],)", NULL},
        {"token[2]", NULL},
        {"F32[2]", NULL},
        {"f32[2] f32[2]", NULL},
    };
    for (size_t i = 0; i < HLO_COUNT(pairs); i++) {
        const HloShape *shape = NULL;
        HloStatus status = hlo_parse_shape(&module->shapes, hlo_view(pairs[i].text), &shape);
        const char *got = shape ? hlo_shape_text(&module->arena, shape, true) : NULL;
        if (!got != !pairs[i].want || (got && strcmp(got, pairs[i].want)))
            fail_msg("%s: got %s (%s)", pairs[i].text, got ? got : "nothing", hlo_status_message(status));
        hlo_status_free(status);
    }
}

static void check_literals(const Pair *pairs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        HloLiteral *literal = NULL;
        HloBuffer out = {0};
        HloStatus status = hlo_parse_literal(&module->arena, &module->shapes, hlo_view(pairs[i].text), &literal);
        if (literal) hlo_put_literal(&out, literal);
        const char *got = literal ? out.data : hlo_status_message(status);
        const char *want = pairs[i].want;
        if (literal ? !want || strcmp(got, want) : want != NULL) fail_msg("%s: got %s", pairs[i].text, got);
        hlo_status_free(status);
        hlo_buffer_free(&out);
    }
}

static void literal_arrays_follow_their_shape(void **state) {
    (void)state;
    static const Pair pairs[] = {
        {"s32[] 7", "7"},
        {"s32[3] {1 2 3}", "{1, 2, 3}"},
        {"s32[3]{0} {1,,2,3,}", "{1, 2, 3}"},
        {"s32[2,2] {{1,2},{3,4}}", "{ { 1, 2 }, { 3, 4 } }"},
        {"s32[2,0,3] {{},{}}", "{ {  }, {  } }"},
        {"f32[3] 7", "{7, 0, 0}"},
        {"pred[3] {true, 0, 5}", "{1, 0, 1}"},
        {"(f32[2] {1, 2}, (s32[] 3))", "( {1, 2}, ( 3 ) )"},
        {"s32[2,2] {1,2,3,4}", NULL},
        {"s32[2] {1,2,3}", NULL},
        {"s32[2] {1}", NULL},
        {"s32[2] {{1},{2}}", NULL},
        {"s32[2] }", NULL},
        {"s32[2] {1, x}", NULL},
        {"s32[] 1.5", NULL},
        {"s32[] (1, 2)", NULL},
        {"f32[] true", NULL},
        {"token[] 1", NULL},
    };
    check_literals(pairs, HLO_COUNT(pairs));
}

static void values_that_are_wrong_name_the_place(void **state) {
    (void)state;
    HloLiteral *literal;
    const HloShape *shape;
    HloStatus statuses[] = {
        hlo_parse_literal(&module->arena, &module->shapes, hlo_view("f32[2] {1, x}"), &literal),
        hlo_parse_literal_of(&module->arena, &module->shapes, hlo_shape_scalar(&module->shapes, HLO_F32), hlo_view("x"),
                             &literal),
        hlo_parse_shape(&module->shapes, hlo_view("f32[x]"), &shape),
    };
    static const char *const words[] = {"<literal>:1:12: error: ", "<literal>:1:1: error: ", "<shape>:1:5: error: "};
    for (size_t k = 0; k < HLO_COUNT(statuses); k++) {
        assert_int_equal(hlo_status_code(statuses[k]), HLO_INVALID_ARGUMENT);
        assert_non_null(strstr(hlo_status_message(statuses[k]), words[k]));
        hlo_status_free(statuses[k]);
    }
}

static void literal_values_are_checked_against_their_type(void **state) {
    (void)state;
    static const Pair pairs[] = {
        {"u64[] -1", "18446744073709551615"},
        {"s64[] 18446744073709551615", "-1"},
        {"s64[] 18446744073709551616", NULL},
        {"u4[2] {0, 15}", "{0, 15}"},
        {"u4[] 16", NULL},
        {"s4[] -9", NULL},
        {"s8[] 128", NULL},
        {"f16[] 65519", "65504"},
        {"f16[] 65520", NULL},
        {"f32[] 1e39", NULL},
        {"f64[] 1e309", NULL},
        {"f32[] -0", "-0"},
        {"f32[] 1e-400", "0"},
        {"f32[] 16777217", "16777216"},
        {"f8e4m3fn[] 448", "448"},
        {"f8e4m3fn[] 1e4", NULL},
        {"f32[2] {-inf, inf}", "{-inf, inf}"},
        {"f32[3] {nan, -nan, nan(0x5)}", "{nan, -nan, nan(0x5)}"},
        {"f32[] nan(0x1000000)", NULL},
        {"f8e4m3fn[] nan(0x1)", NULL},
        {"c64[] (1.5, -inf)", "(1.5, -inf)"},
        {"c128[] (nan, 5)", "(nan, nan)"},
        {"c64[] 1", NULL},
        {"c64[] (1, 1e39)", NULL},
        {"f32[] .5", NULL},
        {"f32[] +1", NULL},
    };
    check_literals(pairs, HLO_COUNT(pairs));
}

static void elided_literals_differ_and_need_no_memory(void **state) {
    (void)state;
    const HloModule *m = NULL;
    HloStatus status = hlo_parse_module(hlo_view("HloModule m ENTRY e { a = f32[1000000000000] constant({...}) "
                                                 "b = f32[1000000000000] constant({...}) c = pred[5] constant({...}) "
                                                 "ROOT t = tuple(a, b, c) }"),
                                        NULL, (HloModule **)&m);
    assert_true(hlo_is_ok(status));
    const HloLiteral *a = hlo_constant(m->entry->first), *b = hlo_constant(m->entry->first->next);
    assert_null(a->data);
    assert_false(hlo_literal_equal(a, b));
    assert_int_equal(hlo_literal_bits(a, 7), 7);
    assert_int_not_equal(hlo_literal_bits(b, 7), 7);
    assert_true(hlo_literal_bits(hlo_constant(m->entry->first->next->next), 4) <= 1);
    hlo_module_free((HloModule *)m);
}

static void decimal_read_is_correctly_rounded(void **state) {
    (void)state;
    static const char *const texts[] = {
        "0.1",
        "1e22",
        "1e23",
        "123456789012345",
        "1234567890123456789",
        "9007199254740993.0",
        "2.2250738585072011e-308",
        "4.9e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "0.000000000000000000000000000000000000001",
        "100000000000000000000000000000000000000000000000000e-50",
        "3.14159265358979323846264338327950288419716939937510",
        "1e-99999999999",
        "00000.5",
    };
    for (size_t i = 0; i < HLO_COUNT(texts); i++) {
        double got = hlo_decimal_read(texts[i], strlen(texts[i])), want = strtod(texts[i], NULL);
        if (memcmp(&got, &want, sizeof got)) fail_msg("%s: got %.17g, want %.17g", texts[i], got, want);
    }
}

static void sharding_is_stored_in_normal_form(void **state) {
    (void)state;
    static const Pair pairs[] = {
        {"{devices=[4,2]<=[2,2,2]T(2,0,1)}", "{devices=[4,2]<=[4,2]T(1,0)}"},
        {"{devices=[2,2]<=[2,2]T(0,1)}", "{devices=[2,2]<=[4]}"},
        {"{devices=[1,1]<=[1]}", "{devices=[1,1]<=[1]}"},
        {"{devices=[4]<=[4] last_tile_dim_replicate}", "{replicated}"},
        {"{devices=[1,4]<=[4] last_tile_dim_replicate}", "{replicated}"},
        {"{devices=[4,1]<=[4] last_tile_dim_replicate}", "{devices=[4]<=[4]}"},
        {"{devices=[2,2]3,1,2,0 last_tile_dim_replicate}", "{devices=[2,2]1,3,0,2 last_tile_dim_replicate}"},
        {"{devices=[2,4]<=[2,2,2]T(2,1,0) last_tile_dim_replicate}",
         "{devices=[2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"},
        {"{devices=[1,2,2]<=[4] last_tile_dims={manual, manual}}", "{manual}"},
        {"{devices=[2,2]<=[4] last_tile_dims={replicated}}", "{devices=[2,2]<=[4] last_tile_dim_replicate}"},
        {"{devices=[2,2,2]<=[8] last_tile_dims={replicated, manual}}",
         "{devices=[2,2,2]<=[2,2,2]T(0,2,1) last_tile_dims={manual, replicated}}"},
        {"{devices=[2,1,2]<=[4] last_tile_dims={replicated, manual}}", "{devices=[2,2]<=[4] last_tile_dims={manual}}"},
        {"{devices=[2,2,2]0,1,2,3,4,5,6,7 last_tile_dims={replicated, manual}}",
         "{devices=[2,2,2]0,2,1,3,4,6,5,7 last_tile_dims={manual, replicated}}"},
        {"{mesh['x'=2,'y'=4], [{'x'}, {'y':(1)2, ?}], replicated={'y':(2)2}}",
         "{mesh['x'=2,'y'=4], [{'x'}, {'y':(1)2, ?}], replicated={'y':(2)2}}"},
        {"{maximal_mesh[device_id=5]}", "{maximal_mesh[device_id=5]}"},
        {"{mesh['a'=2,'b'=2], device_ids=(0,2,1,3), [{'a'}]}", "{mesh['a'=2,'b'=2], device_ids=(0,2,1,3), [{'a'}]}"},
    };
    for (size_t i = 0; i < HLO_COUNT(pairs); i++) {
        char text[300];
        snprintf(text, sizeof text, "HloModule m ENTRY e { p = f32[8,8] parameter(0), sharding=%s }", pairs[i].text);
        HloModule *m = NULL;
        HloStatus status = hlo_parse_module(hlo_view(text), &(HloParseOptions){.hlo_version = HLO_VERSION_2026_08}, &m);
        if (!m) fail_msg("%s: %s", pairs[i].text, hlo_status_message(status));
        HloBuffer out = {0};
        hlo_put_sharding(&out, hlo_data(m->entry->root, HLO_ATTR_SHARDING), true);
        assert_string_equal(out.data, pairs[i].want);
        hlo_buffer_free(&out);
        hlo_module_free(m);
    }
}

static void log_prefixes_are_removed(void **state) {
    (void)state;
    HloBuffer out = {0};
    assert_false(hlo_strip_log_prefixes(hlo_view("HloModule m\nI0521 12:04:45 no\n"), &out));
    assert_true(hlo_strip_log_prefixes(hlo_view("I0521 12:04:45.883483    1509 service.cc:186] HloModule m\n"
                                                "W0521 12:04:45.883483 1509 service.cc:186]   x\ny"),
                                       &out));
    assert_string_equal(out.data, "HloModule m\n  x\ny");
    hlo_buffer_free(&out);
}

static void strings_are_unescaped_as_in_c(void **state) {
    (void)state;
    static const Pair pairs[] = {
        {"a\\n\\t\\\\\\'\\\"", "a\n\t\\'\""},
        {"\\303\\251\\x41", "\303\251A"},
        {"\\u00e9\\U0001F600", "é😀"},
        {"\\q", NULL},
        {"\\400", NULL},
        {"\\x100", NULL},
        {"\\ud800", NULL},
        {"\\", NULL},
    };
    for (size_t i = 0; i < HLO_COUNT(pairs); i++) {
        size_t size;
        const char *got = hlo_lex_unescape(&module->arena, pairs[i].text, strlen(pairs[i].text), &size);
        if (!got != !pairs[i].want || (got && strcmp(got, pairs[i].want))) fail_msg("%s", pairs[i].text);
    }
}

static void frames_are_renumbered_on_request(void **state) {
    (void)state;
    static const char text[] = "HloModule m\nFileNames\n1 \"a\"\n2 \"b\"\nFunctionNames\n1 \"f\"\nFileLocations\n"
                               "1 {file_name_id=1 function_name_id=1 line=1 end_line=1 column=1 end_column=1}\n"
                               "2 {file_name_id=2 function_name_id=1 line=2 end_line=1 column=1 end_column=1}\n"
                               "StackFrames\n1 {file_location_id=1 parent_frame_id=1}\n"
                               "2 {file_location_id=2 parent_frame_id=1}\n3 {file_location_id=2 parent_frame_id=4}\n"
                               "ENTRY e { p = f32[] parameter(0), metadata={op_name=\"x\" stack_frame_id=2}\n"
                               "ROOT q = f32[] negate(p), metadata={op_name=\"x\" stack_frame_id=3} }";
    HloModule *m = NULL;
    HloStatus status = hlo_parse_module(hlo_view(text), &(HloParseOptions){.renumber_frames = true}, &m);
    assert_true(hlo_is_ok(status));
    assert_int_equal(m->frames.frame_count, 1);
    assert_string_equal(m->frames.file_names[0], "b");
    const HloMetadata *p = hlo_data(m->entry->first, HLO_ATTR_METADATA),
                      *q = hlo_data(m->entry->root, HLO_ATTR_METADATA);
    assert_int_equal(p->stack_frame_id, 1);
    assert_int_equal(q->stack_frame_id, 0);  // its chain runs in a circle
    hlo_module_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shape_text_is_read_and_printed_back),
        cmocka_unit_test(literal_arrays_follow_their_shape),
        cmocka_unit_test(values_that_are_wrong_name_the_place),
        cmocka_unit_test(literal_values_are_checked_against_their_type),
        cmocka_unit_test(elided_literals_differ_and_need_no_memory),
        cmocka_unit_test(decimal_read_is_correctly_rounded),
        cmocka_unit_test(sharding_is_stored_in_normal_form),
        cmocka_unit_test(log_prefixes_are_removed),
        cmocka_unit_test(strings_are_unescaped_as_in_c),
        cmocka_unit_test(frames_are_renumbered_on_request),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
