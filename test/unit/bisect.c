// Bisection: the search over states, and the names of dumps.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hlo/bisect.h"

// ---- search ---------------------------------------------------------------------------------------------

typedef struct States {
    const char *holds;  // a character per state, from state 0: `+` yes, `-` no
    int asked;
} States;

static HloStatus ask(void *data, uint64_t k, bool *out) {
    States *states = data;
    states->asked++;
    *out = states->holds[k] == '+';
    return hlo_ok();
}

static uint64_t search(const char *holds, bool linear, int *asked) {
    States states = {holds, 0};
    uint64_t k = 0;
    assert_true(hlo_is_ok(hlo_bisect_search(0, strlen(holds) - 1, linear, ask, &states, &k)));
    *asked = states.asked;
    return k;
}

static void search_of_monotone_states_finds_the_first_yes(void **state) {
    (void)state;
    static const char *const rows[] = {"-+", "--+", "-++", "---------+++++++", "-+++++++++++++++", "---------------+"};
    for (size_t k = 0; k < HLO_COUNT(rows); k++) {
        uint64_t first = (uint64_t)(strchr(rows[k], '+') - rows[k]);
        int asked;
        assert_int_equal(search(rows[k], false, &asked), first);
        assert_true(asked <= 4);
        assert_int_equal(search(rows[k], true, &asked), first);
    }
}

static void search_of_other_states_finds_a_step(void **state) {
    (void)state;
    static const char holds[] = "-+-+---++-+-+++-+";
    int asked;
    uint64_t k = search(holds, false, &asked);
    assert_true(holds[k] == '+' && holds[k - 1] == '-');
    assert_int_equal(search(holds, true, &asked), 1);
}

// ---- names of dumps -------------------------------------------------------------------------------------

// Parts as one text: id|module|step|pipeline|after|before.
static void expect_name(const char *file, const char *parts) {
    HloArena arena = {0};
    HloBuffer out = {0};
    HloDumpName name;
    if (!hlo_dump_name_parse(&arena, file, &name)) fail_msg("%s is no dump", file);
    hlo_putf(&out, "%d|%s|", (int)name.module_id, name.module);
    hlo_putf(&out, "%d|%s|%s|%s", name.step == INT64_MAX ? 9999 : (int)name.step, name.pipeline ? name.pipeline : "",
             name.after, name.before ? name.before : "");
    assert_string_equal(out.data, parts);
    hlo_buffer_free(&out);
    hlo_arena_free(&arena);
}

static void dump_name_is_read_from_the_right(void **state) {
    (void)state;
    expect_name("module_0001.f.before_optimizations.txt", "1|f|-1||before_optimizations|");
    expect_name("module_0001.f.cpu_after_optimizations.txt", "1|f|9999||cpu_after_optimizations|");
    expect_name("module_0007.f.after_optimization.txt", "7|f|9999||after_optimization|");
    expect_name("module_0001.f.sm_8.0_gpu_after_optimizations.txt", "1|f|9999||sm_8.0_gpu_after_optimizations|");
    expect_name("module_0000.f.0012.simplification.after_algsimp.before_dce.txt", "0|f|12|simplification|algsimp|dce");
    expect_name("module_0000.f.0000.async-collective.after_pipeline-start.before_pipeline-end.txt",
                "0|f|0|async-collective|pipeline-start|pipeline-end");
    expect_name("module_0065.pmap_f.186875.0021.copy-insertion.after_adding_special-case_copies.txt",
                "65|pmap_f.186875|21|copy-insertion|after_adding_special-case_copies|");
    expect_name("module_0001.0003.HLO_passes_after_layout_assignment.after_dce.before_x.txt",
                "1||3|HLO_passes_after_layout_assignment|dce|x");
    expect_name("1700000000123456.module_10000.m.before_optimizations.txt", "10000|m|-1||before_optimizations|");
    expect_name("module_0001.m.cl_123.0000.p.after_a.before_b.txt", "1|m|0|p|a|b");
}

static void dump_name_refuses_other_files(void **state) {
    (void)state;
    static const char *const files[] = {
        "",
        "txt",
        ".txt",
        "listing.txt",
        "module_0001.f.debug_options",
        "module_0001.f.cpu_after_optimizations-buffer-assignment.txt",
        "module_0001.f.before_optimizations.hlo.pb",
        "module_1.f.before_optimizations.txt",
        "module_.before_optimizations.txt",
        "xmodule_0001.f.before_optimizations.txt",
        "12.module_0001.f.before_optimizations.txt",
        "module_0001.f.simplification.after_algsimp.before_dce.txt",
        "module_00000000000000000001.f.before_optimizations.txt",
    };
    HloArena arena = {0};
    HloDumpName name;
    for (size_t k = 0; k < HLO_COUNT(files); k++) {
        if (hlo_dump_name_parse(&arena, files[k], &name)) fail_msg("'%s' is taken for a dump", files[k]);
    }
    hlo_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_of_monotone_states_finds_the_first_yes),
        cmocka_unit_test(search_of_other_states_finds_a_step),
        cmocka_unit_test(dump_name_is_read_from_the_right),
        cmocka_unit_test(dump_name_refuses_other_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
