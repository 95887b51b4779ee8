// Buffer assignment: places, reports and refusals. The larger pictures are in lit/cpu.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "hlo/cpu.h"
#include "hlo/text.h"

typedef struct Fixture {
    HloModule *m;
    HloBufferAssignment *assignment;
} Fixture;

static HloModule *parse(const char *text) {
    HloModule *m;
    HloStatus status = hlo_parse_module(hlo_view(text), &(HloParseOptions){0}, &m);
    if (!hlo_is_ok(status)) fail_msg("%s", hlo_status_message(status));
    return m;
}

static void assign(Fixture *f, const char *text) {
    f->m = parse(text);
    HloStatus status = hlo_cpu_schedule(f->m);
    if (hlo_is_ok(status)) status = hlo_assign_buffers(f->m, &f->assignment);
    if (!hlo_is_ok(status)) fail_msg("%s", hlo_status_message(status));
}

static void end(Fixture *f) {
    hlo_buffer_assignment_free(f->assignment);
    hlo_module_free(f->m);
}

typedef void (*ReportFn)(HloBuffer *out, const HloBufferAssignment *assignment);

static void expect_report(const char *text, ReportFn report, const char *expected) {
    Fixture f;
    HloBuffer out = {0};
    assign(&f, text);
    report(&out, f.assignment);
    assert_true(hlo_is_ok(hlo_buffer_status(&out)));
    assert_string_equal(out.data, expected);
    hlo_buffer_free(&out);
    end(&f);
}

static const HloInstruction *find(const Fixture *f, const char *name) {
    HLO_EACH_COMP(comp, f->m) {
        HLO_EACH_INST(inst, comp) {
            if (strcmp(inst->name, name) == 0) return inst;
        }
    }
    fail_msg("no instruction %s", name);
    return NULL;
}

// ---- reports --------------------------------------------------------------------------------------------

static const char reduce_text[] =
    "add.r { x = f32[] parameter(0)   y = f32[] parameter(1)   ROOT s = f32[] add(x, y) }\n"
    "ENTRY main {\n"
    "  p0 = f32[4,8]{1,0} parameter(0)\n"
    "  zero = f32[] constant(0)\n"
    "  e = f32[4,8]{1,0} exponential(p0)\n"
    "  t = f32[8,4]{1,0} transpose(e), dimensions={1,0}\n"
    "  r = f32[8]{0} reduce(t, zero), dimensions={1}, to_apply=add.r\n"
    "  ROOT n = f32[8]{0} negate(r)\n"
    "}\n";

static void memory_report_lists_blocks_by_size(void **state) {
    (void)state;
    static const char heading[] = "  cumulative_size;       size;       offset; used_by_n_values; shapes_list\n"
                                  "  ------------------------------------------------------------\n";
    HloBuffer expected = {0};
    hlo_put_string(&expected, "Memory Space: default (color=0)\nTotal bytes: 432 (432B)\n");
    hlo_putf(&expected, "%s       128B( 50%%);       128B;            0;                1; f32[4,8]\n", heading);
    hlo_put_string(&expected, "       256B(100%);       128B;          128;                1; f32[8,4]\n\n");
    hlo_putf(&expected, "%s       128B(100%%);       128B;            0;                1; f32[4,8]\n\n", heading);
    hlo_putf(&expected, "%s        32B(100%%);        32B;            0;                2; 2\u00d7f32[8]\n\n", heading);
    for (int i = 0; i < 4; i++) {
        hlo_putf(&expected, "%s         4B(100%%);         4B;            0;                1; f32[]\n\n", heading);
    }
    hlo_put_string(&expected, "\n");
    expect_report(reduce_text, hlo_put_memory_usage_report, expected.data);
    hlo_buffer_free(&expected);
}

static void live_range_report_draws_the_peak_as_a_tree(void **state) {
    (void)state;
    expect_report(reduce_text, hlo_put_live_ranges,
                  "HloLiveRange (max 6):\n"
                  "  InstructionSequence:\n"
                  "    0:p0\n    1:zero\n    2:e\n    3:t\n    4:r\n    5:n\n"
                  "  BufferLiveRange:\n"
                  "    p0{}:0-6\n    e{}:2-3\n    t{}:3-4\n    zero{}:1-4\n    r{}:4-5\n    n{}:5-6\n"
                  "  Live ranges at 4 (peak):\n"
                  "    p0{}: 128 bytes (cumulative: 128 bytes)\n"
                  "    t{}: 128 bytes (cumulative: 256 bytes)\n"
                  "    r{}: 32 bytes (cumulative: 288 bytes)\n"
                  "    zero{}: 4 bytes (cumulative: 292 bytes)\n"
                  "  Stack trace breakdown for peak usage: 292 bytes\n"
                  "    main (100.0%, total: 292 bytes, current: 0 bytes, remaining: 292 bytes)\n"
                  "      \u251c\u2500\u2500 p0 (43.8%, total: 128 bytes, current: 128 bytes, remaining: 164 bytes)\n"
                  "      \u251c\u2500\u2500 t (43.8%, total: 128 bytes, current: 128 bytes, remaining: 36 bytes)\n"
                  "      \u251c\u2500\u2500 r (11.0%, total: 32 bytes, current: 32 bytes, remaining: 4 bytes)\n"
                  "      \u2514\u2500\u2500 zero (1.4%, total: 4 bytes, current: 4 bytes, remaining: 0 bytes)\n");
}

static void live_range_tree_splits_nested_argument_names(void **state) {
    (void)state;
    Fixture f;
    HloBuffer out = {0};
    assign(&f, "ENTRY main { p = f32[4] parameter(0), metadata={op_name=\"params['dense/kernel'].w\"}\n"
               "  ROOT n = f32[4] negate(p), metadata={op_name=\"jit(f)/neg\"} }\n");
    hlo_put_live_ranges(&out, f.assignment);
    assert_non_null(strstr(out.data, "\u2514\u2500\u2500 params (50.0%"));
    assert_non_null(strstr(out.data, "\u2514\u2500\u2500 dense (50.0%"));
    assert_non_null(strstr(out.data, "\u2514\u2500\u2500 kernel (50.0%"));
    assert_non_null(strstr(out.data, "\u2514\u2500\u2500 w (50.0%"));
    assert_non_null(strstr(out.data, "jit(f)/neg (50.0%"));
    hlo_buffer_free(&out);
    end(&f);
}

static void values_report_shows_positions_and_uses(void **state) {
    (void)state;
    expect_report("ENTRY main { a = f32[4] parameter(0)\n t = (f32[4], f32[4]) tuple(a, a)\n"
                  "  g = f32[4] get-tuple-element(t), index=1\n ROOT r = f32[4] add(a, g) }\n",
                  hlo_put_buffer_values,
                  "\nTotal bytes used: 48 (48B)\n\nUsed values:\n"
                  "<0 a @0>\n positions:\n  a\n  t {0}\n  t {1}\n  g\n uses:\n  r, operand 0\n  r, operand 1\n"
                  " from instruction: %a = f32[4]{0} parameter(0)\n"
                  "<1 t{} @0>\n positions:\n  t {}\n uses:\n  g, operand 0 {}\n"
                  " from instruction: %t = (f32[4]{0}, f32[4]{0}) tuple(%a, %a)\n"
                  "<2 r @0>\n positions:\n  r\n uses:\n  (none)\n"
                  " from instruction: %r = f32[4]{0} add(%a, %g)\n");
}

// ---- places ---------------------------------------------------------------------------------------------

static void slices_say_where_values_lie(void **state) {
    (void)state;
    Fixture f;
    assign(&f, "ENTRY main { a = f32[4] parameter(0)\n b = f32[4] parameter(1)\n n = f32[4] negate(b)\n"
               "  ROOT t = (f32[4], f32[4]) tuple(a, n) }\n");
    HloBufferSlice element, same, table;
    static const int64_t one[] = {1};
    assert_true(hlo_buffer_slice(f.assignment, find(&f, "t"), (HloDims){one, 1}, &element));
    assert_true(hlo_buffer_slice(f.assignment, find(&f, "n"), (HloDims){0}, &same));
    assert_true(hlo_buffer_slice(f.assignment, find(&f, "t"), (HloDims){0}, &table));
    assert_int_equal(element.allocation, same.allocation);
    assert_int_equal(element.offset_bytes, same.offset_bytes);
    assert_int_equal(element.size_bytes, 16);
    assert_int_not_equal(table.allocation, same.allocation);
    assert_true(hlo_allocation(f.assignment, (size_t)table.allocation)->is_tuple);
    assert_true(hlo_allocation(f.assignment, (size_t)same.allocation)->maybe_live_out);
    static const int64_t two[] = {2};
    assert_false(hlo_buffer_slice(f.assignment, find(&f, "t"), (HloDims){two, 1}, &same));
    end(&f);
}

static void several_callers_leave_a_place_open(void **state) {
    (void)state;
    Fixture f;
    assign(&f, "g { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) }\n"
               "ENTRY e { a = f32[4] parameter(0)\n b = f32[4] parameter(1)\n"
               "  c = f32[4] call(a), to_apply=g\n d = f32[4] call(b), to_apply=g\n ROOT r = f32[4] add(c, d) }\n");
    HloBufferSlice slice;
    assert_false(hlo_buffer_slice(f.assignment, find(&f, "x"), (HloDims){0}, &slice));
    assert_true(hlo_buffer_slice(f.assignment, find(&f, "c"), (HloDims){0}, &slice));
    end(&f);
}

// Ten values alive at once beside the largest, then one that fits where some of them were.
static void heap_offsets_are_aligned_and_reused(void **state) {
    (void)state;
    Fixture f;
    HloBuffer text = {0};
    hlo_put_string(&text, "HloModule m, is_scheduled=true\nENTRY e { p = f32[10] parameter(0)\n");
    for (int i = 0; i < 10; i++) hlo_putf(&text, " v%d = f32[10] reverse(p), dimensions={0}\n", i);
    hlo_put_string(&text, " c = f32[100] concatenate(v0, v1, v2, v3, v4, v5, v6, v7, v8, v9), dimensions={0}\n"
                          " s = f32[10] slice(c), slice={[0:10]}\n w = f32[10] reverse(s), dimensions={0}\n"
                          " ROOT r = f32[5] slice(w), slice={[0:5]} }\n");
    assign(&f, text.data);
    HloBufferSlice first, slice;
    assert_true(hlo_buffer_slice(f.assignment, find(&f, "c"), (HloDims){0}, &first));
    for (int i = 0; i < 10; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        assert_true(hlo_buffer_slice(f.assignment, find(&f, name), (HloDims){0}, &slice));
        assert_int_equal(slice.allocation, first.allocation);
        assert_int_equal(slice.offset_bytes % 64, 0);
        assert_true(slice.offset_bytes >= 400);
    }
    assert_true(hlo_buffer_slice(f.assignment, find(&f, "w"), (HloDims){0}, &slice));
    assert_int_equal(slice.allocation, first.allocation);
    assert_true(hlo_allocation(f.assignment, (size_t)first.allocation)->size_bytes <= 448 + 9 * 64 + 40);
    hlo_buffer_free(&text);
    end(&f);
}

// ---- refusals -------------------------------------------------------------------------------------------

static void unscheduled_module_is_refused(void **state) {
    (void)state;
    HloModule *m = parse("ENTRY e { p = f32[4] parameter(0)\n ROOT n = f32[4] negate(p) }\n");
    HloBufferAssignment *assignment;
    HloStatus status = hlo_assign_buffers(m, &assignment);
    assert_int_equal(hlo_status_code(status), HLO_FAILED_PRECONDITION);
    assert_string_equal(hlo_status_message(status), "computation e is missing from HLO schedule.");
    hlo_status_free(status);
    hlo_module_free(m);
}

static void values_of_two_memory_spaces_cannot_share(void **state) {
    (void)state;
    HloModule *m = parse("ENTRY e { p = f32[4] parameter(0)\n u = f32[1] parameter(1)\n i = s32[] parameter(2)\n"
                         "  x = f32[4]{0:S(1)} negate(p)\n"
                         "  ROOT d = f32[4] dynamic-update-slice(x, u, i) }\n");
    HloBufferAssignment *assignment;
    assert_true(hlo_is_ok(hlo_cpu_schedule(m)));
    HloStatus status = hlo_assign_buffers(m, &assignment);
    assert_int_equal(hlo_status_code(status), HLO_FAILED_PRECONDITION);
    assert_non_null(strstr(hlo_status_message(status), "Not all HloValues in the HloBuffer have the same color."));
    hlo_status_free(status);
    hlo_module_free(m);
}

static void sums_of_sizes_do_not_wrap(void **state) {
    (void)state;
    Fixture f;
    assign(&f, "ENTRY e { p = u8[4611686018427387904] parameter(0)\n"
               "  a = u8[4611686018427387904] reverse(p), dimensions={0}\n"
               "  b = u8[4611686018427387904] reverse(a), dimensions={0}\n"
               "  c = u8[4611686018427387904] reverse(a), dimensions={0}\n"
               "  d = u8[4611686018427387904] add(b, c)\n ROOT r = u8[1] slice(d), slice={[0:1]} }\n");
    HloBuffer out = {0};
    hlo_put_buffer_assignment(&out, f.assignment);
    hlo_put_memory_usage_report(&out, f.assignment);
    hlo_put_live_ranges(&out, f.assignment);
    assert_non_null(strstr(out.data, "size 9223372036854775807, preallocated-temp"));
    hlo_buffer_free(&out);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_report_lists_blocks_by_size),
        cmocka_unit_test(live_range_report_draws_the_peak_as_a_tree),
        cmocka_unit_test(live_range_tree_splits_nested_argument_names),
        cmocka_unit_test(values_report_shows_positions_and_uses),
        cmocka_unit_test(slices_say_where_values_lie),
        cmocka_unit_test(several_callers_leave_a_place_open),
        cmocka_unit_test(heap_offsets_are_aligned_and_reused),
        cmocka_unit_test(unscheduled_module_is_refused),
        cmocka_unit_test(values_of_two_memory_spaces_cannot_share),
        cmocka_unit_test(sums_of_sizes_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
