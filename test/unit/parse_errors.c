// What the reader refuses, where, and with which words.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "hlo/text.h"

typedef struct Case {
    const char *body;    // of the entry computation, or a whole text when it starts with a header
    const char *phrase;  // part of the message
} Case;

static const Case cases[] = {
    // Names and structure.
    {"", "expects name"},
    {"HloModule 1x ENTRY e { x = f32[] parameter(0) }", "expects name"},
    {"x= f32[] parameter(0)", "expects name"},
    {"x f32[] parameter(0)", "expects '=' in instruction"},
    {"%a = f32[] parameter(1)", "has no parameter 0"},
    {"%a = f32[] add(%b, f32[] %c)", "Operand had no shape in HLO text"},
    {"%a = f32[] add(f32[] %b, f32[] %c) %d = f32[] negate(%a)", "Expected eof after parsing single instruction"},
    {"%f32 = f32[] parameter(0)", "illegal instruction name: f32; suggest renaming to: f32_"},
    {"__x = f32[] parameter(0)", "illegal instruction name: __x; suggest renaming to: a_x"},
    {"x = f32[] parameter(0) x = f32[] negate(x)", "instruction already exists: x"},
    {"x = f32[] negate(x)", "instruction does not exist: x"},
    {"ROOT x = f32[] parameter(0) ROOT y = f32[] negate(x)", "one computation should have only one ROOT"},
    {"HloModule m ENTRY a { x = f32[] parameter(0) } ENTRY b { x = f32[] parameter(0) }", "expects only one ENTRY"},
    {"HloModule m c { x = f32[] parameter(0) } c { x = f32[] parameter(0) }", "computation already exists: c"},
    {"HloModule m ENTRY e { x = f32[] parameter(0)", "expects '}' at the end of instruction list."},
    {"ROOT f32[4] add(f32[4], f32[4])", "expects name"},
    {"x = c64[2] constant((1, 2))", "expects nested array in rank 1, but sees 0"},
    {"HloModule m ENTRY e x = f32[] parameter(0)", "expects '{' at the beginning of instruction list."},
    {"HloModule m ENTRY e (p: f32[) -> f32[] { x = f32[] parameter(0) }", "expects integer"},
    {"HloModule m ENTRY e (p: f32[] -> f32[] { x = f32[] parameter(0) }", "expects ')' at the end of param list"},
    {"HloModule m ENTRY e (p: f32[]) f32[] { x = f32[] parameter(0) }", "expects '->'"},
    {"HloModule m, nonsense=1 ENTRY e { x = f32[] parameter(0) }", "unexpected attribute \"nonsense\""},
    {"HloModule m, is_scheduled=true, is_scheduled=true ENTRY e { x = f32[] parameter(0) }",
     "attribute is_scheduled already exists"},
    // Parameters.
    {"x = f32[] parameter(-1)", "parameter number must be >= 0"},
    {"x = f32[] parameter(0) y = f32[] parameter(0)", "Duplicate parameter number 0"},
    {"x = f32[] parameter(1)", "has no parameter 0"},
    {"x = f32[] parameter(1000000000000)", "parameter number is too large"},
    // Opcodes and operands.
    {"x = f32[] frobnicate()", "expects opcode but sees: frobnicate, error: Unknown opcode: frobnicate"},
    {"x = f32[] paramter(0)", "did you mean parameter?"},
    {"x = f32[] foo-start()", "expects async wrapped opcode but sees: foo-start, error: Unknown opcode: foo"},
    {"x = f32[] copy-update()", "Unknown opcode: copy-update"},
    {"x = f32[] parameter(0) y = f32[] add(x)", "expects 2 operands, but has 1 operands"},
    {"x = f32[] parameter(0) y = f32[] add(x, x", "expects ')' at the end of operands"},
    {"x = f32[] parameter(0) y = f32[] add(f32[2] x, x)", "The declared operand shape f32[2]"},
    {"x = f32[2] parameter(0) y = convert(x)", "cannot infer shape for opcode: convert"},
    {"x = f32[2] parameter(0) y = get-tuple-element(x), index=0", "GTE operand must be tuple"},
    {"x = (f32[]) parameter(0) y = f32[] get-tuple-element(x), index=1", "GTE index 1 out of bounds"},
    {"x = (f32[]) parameter(0) y = f32[] negate(x#1)", "GTE index 1 out of bounds"},
    {"x = f32[4] parameter(0) y = f32[] reduce(x), dimensions={0}", "expects an even number of operands"},
    {"x = f32[2] parameter(0) y = f32[] conditional(x, x, x)", "The first operand must be a scalar"},
    {"x = f32[] parameter(0) y = f32[] conditional(x, x, x)", "The first operand must be a scalar of PRED or S32"},
    // Attributes.
    {"x = f32[2,3] parameter(0) y = f32[3,2] transpose(x)", "attribute dimensions is expected but not seen"},
    {"x = f32[2,3] parameter(0) y = f32[3,2] transpose(x), dimensions={1,0}, dimensions={1,0}",
     "attribute dimensions already exists"},
    {"x = f32[2,3] parameter(0) y = f32[3,2] transpose(x), dimensions ={1,0}", "expects attribute name"},
    {"x = f32[2,3] parameter(0) y = f32[3,2] transpose(x), dimensions=1", "expects a list starting with kLbrace"},
    {"x = f32[2,3] parameter(0) y = f32[3,2] transpose(x), dimensions={1 2}", "expects a list to end with kRbrace"},
    {"x = f32[] parameter(0) y = pred[] compare(x, x), direction=XX", "expects comparison direction but sees: XX"},
    {"x = f32[4] parameter(0) y = f32[4] fusion(x), kind=kFoo, calls=c", "error: Unknown fusion kind"},
    {"x = f32[4] parameter(0) y = f32[4] call(x), to_apply=c", "computation does not exist: c"},
    {"x = f32[4] parameter(0) y = f32[2] slice(x), slice={[0]}", "expects [start:limit:step] or [start:limit]"},
    {"x = f32[2] parameter(0) y = f32[4] concatenate(x, x), dimensions={0,1}", "exactly one dimension"},
    {"x = f32[] parameter(0) y = f32[] negate(x), metadata={op_nam=\"a\"}", "unexpected attribute \"op_nam\""},
    {"x = f32[] parameter(0) y = f32[] negate(x), control-predecessors={z}", "instruction 'z' is not defined"},
    {"x = f32[] parameter(0) y = f32[] negate(x), frontend_attributes={a=1}", "frontend attribute"},
    {"x = f32[] parameter(0) y = f32[] negate(x), backend_config={\"a", "expects JSON dict"},
    {"x = f32[9] parameter(0) y = f32[7] reduce-window(x, x), window={size=3, stride=1}",
     "expects sub-attributes in window"},
    {"x = f32[9] parameter(0) y = f32[7] reduce-window(x, x), window={size=3 stride=1x1}",
     "expects 'stride=' has the same size as 'size='"},
    // Shardings.
    {"x = f32[] parameter(0), sharding={replicated, manual}", "unexpected token"},
    {"x = f32[] parameter(0), sharding={maximal}", "maximal shardings should have exactly one device assigned"},
    {"x = f32[4] parameter(0), sharding={devices=[2,2]0,1,2}", "does not match the tile assignment size 4"},
    {"x = f32[4] parameter(0), sharding={devices=[4]<=[2,2]}", "expected 'T(' to start sharding devices"},
    {"x = f32[4] parameter(0), sharding={devices=[4]<=[8]}", "the same number of devices"},
    {"x = f32[4] parameter(0), sharding={mesh['a'=2,'a'=2], replicated}", "two axes 'a'"},
    {"x = f32[4] parameter(0), sharding={mesh['a'=2], [{?, 'a'}]}", "Saw axis ref after '?'"},
    // Async operations.
    {"x = f32[] parameter(0) y = f32[] async-done(x)", "expect an asynchronous operation as their first operand"},
    {"x = f32[] parameter(0) y = f32[] negate-start(x)", "expect the shape to be in the form of"},
    {"x = f32[] parameter(0) s = ((f32[]), f32[]) negate-start(x) d = f32[] abs-done(s)",
     "Expect async wrapped opcode to be negate, but got abs"},
};

static void wrap(const char *body, char *text, size_t size) {
    bool whole = !*body || strncmp(body, "HloModule", 9) == 0 || *body == '%';
    snprintf(text, size, whole ? "%s" : "HloModule m\nENTRY e {\n%s\n}\n", body);
}

static void parse_bad_text_says_what_was_expected(void **state) {
    (void)state;
    for (size_t i = 0; i < HLO_COUNT(cases); i++) {
        char text[2000];
        wrap(cases[i].body, text, sizeof text);
        HloModule *m = NULL;
        HloStatus status = hlo_parse_module(hlo_view(text), &(HloParseOptions){.hlo_version = HLO_VERSION_2026_08}, &m);
        if (hlo_status_code(status) != HLO_INVALID_ARGUMENT || !strstr(hlo_status_message(status), cases[i].phrase))
            fail_msg("%s\nwanted: %s\ngot: %s", text, cases[i].phrase, hlo_status_message(status));
        assert_null(m);
        hlo_status_free(status);
    }
}

static void parse_error_shows_line_and_caret(void **state) {
    (void)state;
    HloModule *m = NULL;
    HloStatus status = hlo_parse_module(hlo_view("HloModule m\nENTRY e {\n\tx = f32[] parameter(a)\n}"),
                                        &(HloParseOptions){.file_name = "a.hlo"}, &m);
    assert_string_equal(hlo_status_message(status), "a.hlo:3:22: error: expects integer\n"
                                                    " x = f32[] parameter(a)\n"
                                                    "                     ^");
    hlo_status_free(status);
}

static void parse_error_notes_the_attribute(void **state) {
    (void)state;
    HloModule *m = NULL;
    HloStatus status = hlo_parse_module(
        hlo_view("HloModule m\nENTRY e {\nx = f32[] parameter(0), sharding={replicated manula}\n}"), NULL, &m);
    assert_non_null(strstr(hlo_status_message(status), "<text>:3:46: error: unexpected token\n"));
    assert_non_null(strstr(hlo_status_message(status), "\n<text>:3:25: note: error parsing attribute sharding"));
    hlo_status_free(status);
}

static void parse_every_prefix_fails_or_succeeds_cleanly(void **state) {
    (void)state;
    static const char text[] =
        "HloModule m, entry_computation_layout={(f32[2]{0:T(8)S(1)})->f32[2]}, input_output_alias={ {}: (0, {}) }\n"
        "sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
        "ENTRY e (p: f32[2]) -> f32[2] { p = f32[2] parameter(0), sharding={devices=[2]<=[2]}\n"
        "c = (f32[2], c64[]) constant(({-1.5e3, nan(0x7)}, (1, inf)))\n"
        "d = f32[2] add(p, f32[2] %c#0), metadata={op_name=\"x\\n\" source_line=3}, origin={{\"o\" {0}}}\n"
        "r = f32[] reduce(d, f32[] constant(0)), dimensions={0}, to_apply=sum, backend_config={\"a\":{}}\n"
        "s = ((f32[2]), f32[1]) slice-start(p), slice={[0:1:1]} t = f32[1] slice-done(s)\n"
        "w = f32[2] reduce-window(p, r), window={size=2 pad=1_0}, to_apply={ x = f32[] parameter(0) y = f32[] "
        "parameter(1) z = add(x, y) } ROOT q = copy(w) } // end";
    for (size_t size = 0; size <= strlen(text); size++) {
        char *copy = test_malloc(size + 1);  // so that sanitizers see reads past the end
        memcpy(copy, text, size);
        HloModule *m = NULL;
        HloStatus status = hlo_parse_module((HloStringView){copy, size}, NULL, &m);
        assert_int_equal(m != NULL, hlo_is_ok(status));
        if (size == strlen(text) && !m) fail_msg("%s", hlo_status_message(status));
        hlo_status_free(status);
        hlo_module_free(m);
        test_free(copy);
    }
}

static void parse_out_of_memory_is_a_status(void **state) {
    (void)state;
    char text[20000];
    size_t size = (size_t)snprintf(text, sizeof text, "HloModule m\nENTRY e {\np = f32[8] parameter(0)\n");
    for (int i = 0; i < 300; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "x%d = f32[8] add(p, p)\n", i);
    size += (size_t)snprintf(text + size, sizeof text - size, "}\n");
    for (size_t limit = 1000; limit < 400000; limit += 7919) {
        HloModule *m = NULL;
        HloStatus status =
            hlo_parse_module((HloStringView){text, size}, &(HloParseOptions){.memory_limit_bytes = limit}, &m);
        if (!m) assert_int_equal(hlo_status_code(status), HLO_RESOURCE_EXHAUSTED);
        hlo_status_free(status);
        hlo_module_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse_bad_text_says_what_was_expected),
        cmocka_unit_test(parse_error_shows_line_and_caret),
        cmocka_unit_test(parse_error_notes_the_attribute),
        cmocka_unit_test(parse_every_prefix_fails_or_succeeds_cleanly),
        cmocka_unit_test(parse_out_of_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
