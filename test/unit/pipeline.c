// Pipelines: their text, and how the runner walks them.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hlo/infer.h"
#include "hlo/observers.h"
#include "hlo/pass.h"

// ---- text -----------------------------------------------------------------------------------------------

static void expect_print(const char *text, const char *printed) {
    HloArena arena = {0};
    HloBuffer out = {0};
    HloElement *pipeline;
    HloStatus status = hlo_pipeline_parse(&arena, "test", hlo_view(text), &pipeline);
    if (!hlo_is_ok(status)) fail_msg("%s: %s", text, hlo_status_message(status));
    hlo_pipeline_print(pipeline, &out);
    assert_string_equal(out.data ? out.data : "", printed);
    hlo_buffer_free(&out);
    hlo_arena_free(&arena);
}

static void expect_error(const char *text, const char *message) {
    HloArena arena = {0};
    HloElement *pipeline;
    HloStatus status = hlo_pipeline_parse(&arena, "test", hlo_view(text), &pipeline);
    assert_int_equal(hlo_status_code(status), HLO_INVALID_ARGUMENT);
    assert_string_equal(hlo_status_message(status), message);
    hlo_status_free(status);
    hlo_arena_free(&arena);
}

static void pipeline_text_is_read_back_as_printed(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "dce",
        "dce,cse,dce",
        "cse{layout-sensitive}",
        "fix(dce)",
        "fix[4](dce,cse)",
        "a b(dce,inner(),fix(outer(cse)))",
        "call-inliner{single-call-site,composites-to-preserve=\"a,b\"}",
        "fix(fix(dce))",
        "dce,not-there?,fix(nor-there?{option=\"}\"}),inner(nor-there?)",
    };
    for (size_t k = 0; k < HLO_COUNT(texts); k++) expect_print(texts[k], texts[k]);
}

static void pipeline_text_may_be_spaced_and_say_defaults(void **state) {
    (void)state;
    expect_print(" dce , \n cse { layout-sensitive = 1 } ", "dce,cse{layout-sensitive}");
    expect_print("cse{layout-sensitive=false}", "cse");
    expect_print("fix[25]( dce )", "fix(dce)");
}

static void pipeline_text_names_near_passes_and_options(void **state) {
    (void)state;
    expect_error("dce,tuple-simplifyer", "Pass tuple-simplifyer not found. Did you mean 'tuple-simplifier'?");
    expect_error("flatten_call_graph", "Pass flatten_call_graph not found. Did you mean 'flatten-call-graph'?");
    expect_error("qqqqqqqqq", "Pass qqqqqqqqq not found.");
    expect_error("dce,,cse", "Pass  not found.");
    expect_error("cse{layout_sensitive}",
                 "pass cse has no option 'layout_sensitive'; did you mean 'layout-sensitive'?");
    expect_error("cse{zzz}", "pass cse has no option 'zzz'");
    expect_error("cse{layout-sensitive=maybe}",
                 "option 'layout-sensitive' of pass cse is true or false, found 'maybe'");
    expect_error("call-inliner{composites-to-preserve}",
                 "option 'composites-to-preserve' of pass call-inliner needs a value: composites-to-preserve=…");
}

static void pipeline_text_says_where_it_breaks(void **state) {
    (void)state;
    expect_error("fix(dce", "pipeline ends at column 8 where ')' is expected");
    expect_error("dce)", "expected ',' at column 4 of the pipeline, found ')'");
    expect_error("cse{layout-sensitive", "pipeline ends at column 21 where '}' is expected");
    expect_error("fix[0](dce)", "the limit of fix[…] is a positive integer, found '0'");
    expect_error("fix[3]dce", "expected '(' at column 7 of the pipeline, found 'd'");
}

static void pipeline_text_nests_to_a_bound(void **state) {
    (void)state;
    HloBuffer text = {0};
    for (int k = 0; k < 100000; k++) hlo_put_string(&text, "x(");
    expect_error(text.data, "pipeline nests deeper than 64 lists");
    hlo_buffer_free(&text);
}

// ---- running --------------------------------------------------------------------------------------------

// Passes for the runner to run. They log their names and count down a number that stands in the entry's name.
static HloBuffer ran;
static int countdown;

static HloStatus run_quiet(HloPassContext *cx, HloModule *m, bool *changed) {
    (void)m, (void)changed;
    hlo_putf(&ran, "%s ", cx->pass->name);
    return hlo_ok();
}

static HloStatus run_count(HloPassContext *cx, HloModule *m, bool *changed) {
    (void)m;
    hlo_putf(&ran, "%s ", cx->pass->name);
    *changed = countdown > 0;
    countdown -= countdown > 0;
    return hlo_ok();
}

static HloStatus run_fail(HloPassContext *cx, HloModule *m, bool *changed) {
    (void)cx, (void)m, (void)changed;
    return hlo_error(HLO_OUT_OF_RANGE, "broken");
}

static HloStatus run_hungry(HloPassContext *cx, HloModule *m, bool *changed) {
    (void)m, (void)changed;
    (void)hlo_arena_array(cx->scratch, SIZE_MAX / 2, 8);
    return hlo_ok();
}

// Gives the root a shape that its operand cannot have.
static HloStatus run_damage(HloPassContext *cx, HloModule *m, bool *changed) {
    (void)cx;
    HloInstruction *p = m->entry->root;
    HloInstruction *inst = hlo_inst_new(m, HLO_OP_NEGATE, hlo_shape_scalar(&m->shapes, HLO_S32), &p, 1);
    hlo_computation_set_root(m->entry, hlo_computation_add(m->entry, inst, "n"));
    *changed = true;
    return hlo_ok();
}

static const HloPass damage = {.name = "damage", .run = run_damage};
static const HloPass quiet = {.name = "quiet", .run = run_quiet};
static const HloPass count = {.name = "count", .run = run_count};
static const HloPass broken = {.name = "broken", .run = run_fail};
static const HloPass hungry = {.name = "hungry", .run = run_hungry};

static const HloElement damage_element = {HLO_ELEMENT_PASS, "damage", .pass = &damage};
static const HloElement quiet_element = {HLO_ELEMENT_PASS, "quiet", .pass = &quiet};
static const HloElement count_element = {HLO_ELEMENT_PASS, "count", .pass = &count};
static const HloElement broken_element = {HLO_ELEMENT_PASS, "broken", .pass = &broken};
static const HloElement hungry_element = {HLO_ELEMENT_PASS, "hungry", .pass = &hungry};

#define CHILDREN(...)                               \
    .elements = (HloElement *const[]){__VA_ARGS__}, \
    .element_count = sizeof((HloElement *const[]){__VA_ARGS__}) / sizeof(HloElement *)
#define E(element) ((HloElement *)(uintptr_t) & (element))

static HloModule *make_module(void) {
    HloModule *m = hlo_module_new("m");
    HloComputation *comp = hlo_module_add(m, hlo_computation_new(m, "e"));
    HloInstruction *inst = hlo_inst_new(m, HLO_OP_PARAMETER, hlo_shape_scalar(&m->shapes, HLO_F32), NULL, 0);
    hlo_set_int(m, inst, HLO_ATTR_PARAMETER_NUMBER, 0);
    hlo_computation_set_root(comp, hlo_computation_add(comp, inst, "p"));
    hlo_module_set_entry(m, comp);
    return m;
}

static bool run_all(const HloElement *pipeline, HloRunner *runner, const char *expected) {
    HloModule *m = make_module();
    bool changed = false;
    HloStatus status = hlo_pipeline_run(pipeline, m, runner, &changed);
    if (!hlo_is_ok(status)) fail_msg("%s", hlo_status_message(status));
    assert_string_equal(ran.data ? ran.data : "", expected);
    hlo_buffer_free(&ran);
    hlo_module_free(m);
    return changed;
}

static void runner_runs_elements_in_order(void **state) {
    (void)state;
    const HloElement inner = {HLO_ELEMENT_PIPELINE, "inner", CHILDREN(E(count_element), E(quiet_element))};
    const HloElement all = {HLO_ELEMENT_PIPELINE, "all", CHILDREN(E(quiet_element), E(inner), E(quiet_element))};
    countdown = 1;
    assert_true(run_all(&all, &(HloRunner){0}, "quiet count quiet quiet "));
    assert_false(run_all(&all, &(HloRunner){0}, "quiet count quiet quiet "));
}

static void fixed_point_ends_with_a_quiet_iteration(void **state) {
    (void)state;
    const HloElement fix = {HLO_ELEMENT_FIX, "count", CHILDREN(E(count_element)), .limit = 25};
    const HloElement all = {HLO_ELEMENT_PIPELINE, "all", CHILDREN(E(fix))};
    countdown = 2;
    assert_true(run_all(&all, &(HloRunner){0}, "count count count "));
    assert_false(run_all(&all, &(HloRunner){0}, "count "));
}

// As the reference: the change is not reported, even when the iteration at the limit was quiet.
static void fixed_point_at_its_limit_reports_no_change(void **state) {
    (void)state;
    const HloElement fix = {HLO_ELEMENT_FIX, "count", CHILDREN(E(count_element)), .limit = 3};
    const HloElement all = {HLO_ELEMENT_PIPELINE, "all", CHILDREN(E(fix))};
    countdown = 100;
    assert_false(run_all(&all, &(HloRunner){0}, "count count count "));
    assert_int_equal(countdown, 97);
    countdown = 2;
    assert_false(run_all(&all, &(HloRunner){0}, "count count count "));
}

static void filter_removes_disabled_elements_level_by_level(void **state) {
    (void)state;
    const HloElement inner = {HLO_ELEMENT_PIPELINE, "inner", CHILDREN(E(count_element), E(quiet_element))};
    const HloElement all = {HLO_ELEMENT_PIPELINE, "all", CHILDREN(E(quiet_element), E(inner))};
    static const char *const quiet_name[] = {"quiet"}, *const inner_name[] = {"inner"}, *const all_name[] = {"all"};
    run_all(&all, &(HloRunner){.filter = {.disabled = quiet_name, .disabled_count = 1}}, "count ");
    run_all(&all, &(HloRunner){.filter = {.disabled = inner_name, .disabled_count = 1}}, "quiet ");
    run_all(&all, &(HloRunner){.filter = {.disabled = all_name, .disabled_count = 1}}, "");
    run_all(&all, &(HloRunner){.filter = {.enabled_only = quiet_name, .enabled_only_count = 1}}, "quiet ");
    run_all(&all, &(HloRunner){.filter = {.enabled_only = inner_name, .enabled_only_count = 1}}, "count quiet ");
    run_all(&all, &(HloRunner){.filter = {.enabled_only = all_name, .enabled_only_count = 1}}, "quiet ");
    run_all(&all, &(HloRunner){.filter = {.disable_all = true}}, "");
}

static void filter_refuses_two_lists(void **state) {
    (void)state;
    static const char *const names[] = {"quiet"};
    const HloElement all = {HLO_ELEMENT_PIPELINE, "all", CHILDREN(E(quiet_element))};
    HloModule *m = make_module();
    bool changed;
    HloRunner runner = {.filter = {false, names, 1, names, 1, NULL}};
    HloStatus status = hlo_pipeline_run(&all, m, &runner, &changed);
    assert_int_equal(hlo_status_code(status), HLO_INVALID_ARGUMENT);
    hlo_status_free(status);
    hlo_module_free(m);
}

static void filter_starts_from_a_pass_inside(void **state) {
    (void)state;
    const HloElement inner = {HLO_ELEMENT_PIPELINE, "inner", CHILDREN(E(count_element), E(quiet_element))};
    const HloElement all = {HLO_ELEMENT_PIPELINE, "all", CHILDREN(E(quiet_element), E(inner), E(quiet_element))};
    run_all(&all, &(HloRunner){.filter = {.start_from = "count"}}, "count quiet quiet ");
    run_all(&all, &(HloRunner){.filter = {.start_from = "inner"}}, "count quiet quiet ");
    run_all(&all, &(HloRunner){.filter = {.start_from = "nothing"}}, "");
}

static void runner_names_the_pass_that_failed(void **state) {
    (void)state;
    const HloElement all = {HLO_ELEMENT_PIPELINE, "all",
                            CHILDREN(E(quiet_element), E(broken_element), E(count_element))};
    HloModule *m = make_module();
    bool changed = false;
    HloStatus status = hlo_pipeline_run(&all, m, &(HloRunner){0}, &changed);
    assert_int_equal(hlo_status_code(status), HLO_OUT_OF_RANGE);
    assert_string_equal(hlo_status_message(status), "broken: broken");
    assert_string_equal(ran.data, "quiet ");
    hlo_buffer_free(&ran);
    hlo_status_free(status);
    hlo_module_free(m);
}

static void runner_turns_lack_of_memory_into_a_status(void **state) {
    (void)state;
    const HloElement all = {HLO_ELEMENT_PIPELINE, "all", CHILDREN(E(hungry_element))};
    HloModule *m = make_module();
    bool changed = false;
    HloStatus status = hlo_pipeline_run(&all, m, &(HloRunner){0}, &changed);
    assert_int_equal(hlo_status_code(status), HLO_RESOURCE_EXHAUSTED);
    hlo_status_free(status);
    hlo_module_free(m);
}

// ---- observers ------------------------------------------------------------------------------------------

static HloStatus log_dump(void *data, const HloDumpPoint *point, const HloModule *m) {
    (void)m;
    hlo_putf(data, "%s: %s > %s%s\n", point->pipeline, point->after, point->before, point->changed ? " *" : "");
    return hlo_ok();
}

static void dump_hook_sees_every_moment_between_enabled_passes(void **state) {
    (void)state;
    const HloElement inner = {HLO_ELEMENT_PIPELINE, "inner", CHILDREN(E(quiet_element))};
    const HloElement all = {HLO_ELEMENT_PIPELINE, "all", CHILDREN(E(count_element), E(broken_element), E(inner))};
    static const char *const disabled[] = {"broken"};
    HloBuffer log = {0};
    HloRunner runner = {.filter = {.disabled = disabled, .disabled_count = 1}};
    HloPassObserver *dump;
    assert_true(hlo_is_ok(hlo_observe_dump(&runner, (HloDumpHook){log_dump, &log}, &dump)));
    runner.observers = (const HloPassObserver *const[]){dump};
    runner.observer_count = 1;
    countdown = 1;
    run_all(&all, &runner, "count quiet ");
    assert_string_equal(log.data, "all: pipeline-start > count *\n"
                                  "all: count > inner *\n"
                                  "inner: pipeline-start > quiet *\n"
                                  "inner: quiet > pipeline-end\n"
                                  "all: inner > pipeline-end\n");
    hlo_observer_free(dump);
    hlo_buffer_free(&log);
}

static void time_observer_counts_runs_and_changes(void **state) {
    (void)state;
    const HloElement inner = {HLO_ELEMENT_PIPELINE, "inner", CHILDREN(E(count_element), E(count_element))};
    const HloElement all = {HLO_ELEMENT_PIPELINE, "all", CHILDREN(E(inner), E(count_element))};
    HloRunner runner = {0};
    HloPassObserver *time;
    assert_true(hlo_is_ok(hlo_observe_time(&runner, &time)));
    runner.observers = (const HloPassObserver *const[]){time};
    runner.observer_count = 1;
    countdown = 2;
    run_all(&all, &runner, "count count count ");
    HloBuffer table = {0};
    hlo_put_pass_times(&table, time);
    assert_non_null(strstr(table.data, "count      3        2         0 "));
    assert_null(strstr(table.data, "inner"));
    hlo_buffer_free(&table);
    hlo_observer_free(time);
}

static void verify_observer_names_the_pass_that_broke_a_rule(void **state) {
    (void)state;
    const HloElement all = {HLO_ELEMENT_PIPELINE, "all", CHILDREN(E(quiet_element), E(damage_element))};
    HloPassObserver *verify;
    assert_true(hlo_is_ok(hlo_observe_verify(&(HloVerifyOptions){0}, &verify)));
    HloRunner runner = {(const HloPassObserver *const[]){verify}, 1};
    HloModule *m = make_module();
    bool changed = false;
    HloStatus status = hlo_pipeline_run(&all, m, &runner, &changed);
    assert_int_equal(hlo_status_code(status), HLO_INTERNAL);
    assert_non_null(strstr(hlo_status_message(status), "instruction 'n' (negate in 'e') breaks rule"));
    assert_non_null(strstr(hlo_status_message(status), "Failed after damage"));
    hlo_status_free(status);
    hlo_buffer_free(&ran);
    hlo_module_free(m);
    hlo_observer_free(verify);
}

static void claims_observer_refuses_a_claim_without_change(void **state) {
    (void)state;
    const HloElement all = {HLO_ELEMENT_PIPELINE, "all", CHILDREN(E(count_element))};
    HloPassObserver *claims;
    assert_true(hlo_is_ok(hlo_observe_claims(&(HloClaimsOptions){.empty_change = true}, &claims)));
    HloRunner runner = {(const HloPassObserver *const[]){claims}, 1};
    HloModule *m = make_module();
    bool changed = false;
    countdown = 1;
    HloStatus status = hlo_pipeline_run(&all, m, &runner, &changed);
    assert_non_null(strstr(hlo_status_message(status), "Pass 'count' in pipeline 'all' reported that it changed the "
                                                       "HLO but the hash of HLO was not updated."));
    hlo_status_free(status);
    hlo_buffer_free(&ran);
    hlo_module_free(m);
    hlo_observer_free(claims);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipeline_text_is_read_back_as_printed),
        cmocka_unit_test(pipeline_text_may_be_spaced_and_say_defaults),
        cmocka_unit_test(pipeline_text_names_near_passes_and_options),
        cmocka_unit_test(pipeline_text_says_where_it_breaks),
        cmocka_unit_test(pipeline_text_nests_to_a_bound),
        cmocka_unit_test(runner_runs_elements_in_order),
        cmocka_unit_test(fixed_point_ends_with_a_quiet_iteration),
        cmocka_unit_test(fixed_point_at_its_limit_reports_no_change),
        cmocka_unit_test(filter_removes_disabled_elements_level_by_level),
        cmocka_unit_test(filter_refuses_two_lists),
        cmocka_unit_test(filter_starts_from_a_pass_inside),
        cmocka_unit_test(runner_names_the_pass_that_failed),
        cmocka_unit_test(runner_turns_lack_of_memory_into_a_status),
        cmocka_unit_test(dump_hook_sees_every_moment_between_enabled_passes),
        cmocka_unit_test(time_observer_counts_runs_and_changes),
        cmocka_unit_test(verify_observer_names_the_pass_that_broke_a_rule),
        cmocka_unit_test(claims_observer_refuses_a_claim_without_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
