// Compiler options: the table's order, every kind of flag value, and the text form written and read back.

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hlo/debug_options.h"

typedef struct Fixture {
    HloArena arena;
    HloDebugOptions options;
    HloBuffer text;
} Fixture;

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof *f);
    f->options = hlo_debug_options_default();
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    hlo_buffer_free(&f->text);
    hlo_arena_free(&f->arena);
    free(f);
    return 0;
}

static HloStatus set(Fixture *f, const char *flags) {
    HloFlagSet all = hlo_debug_option_flags(&f->options);
    return hlo_flags_parse_environment(&f->arena, &all, 1, "XLA_FLAGS", flags);
}

static void assert_refused(HloStatus status, const char *part) {
    assert_int_equal(hlo_status_code(status), HLO_INVALID_ARGUMENT);
    if (!strstr(hlo_status_message(status), part)) fail_msg("'%s' lacks '%s'", hlo_status_message(status), part);
    hlo_status_free(status);
}

static const char *text_of(Fixture *f) {
    f->text.size = 0;
    hlo_put_string(&f->text, "");
    if (f->text.data) f->text.data[0] = 0;
    hlo_put_debug_options(&f->text, &f->options);
    assert_true(hlo_is_ok(hlo_buffer_status(&f->text)));
    return f->text.data ? f->text.data : "";
}

static void expect(Fixture *f, const char *flags, const char *text) {
    f->options = hlo_debug_options_default();
    HloStatus status = set(f, flags);
    if (!hlo_is_ok(status)) fail_msg("%s: %s", flags, hlo_status_message(status));
    assert_string_equal(text_of(f), text);
}

static void debug_options_rows_are_sorted_by_name(void **state) {
    Fixture *f = *state;
    HloFlagSet all = hlo_debug_option_flags(&f->options);
    for (size_t k = 1; k < all.count; k++) {
        if (strcmp(all.flags[k - 1].name, all.flags[k].name) >= 0) fail_msg("%s", all.flags[k].name);
    }
    assert_true(all.count > 326);
}

static void debug_options_default_writes_nothing(void **state) {
    assert_string_equal(text_of(*state), "");
}

static void debug_options_text_shows_every_kind(void **state) {
    static const char *const cases[][2] = {
        {"--xla_cpu_enable_fast_math", "xla_cpu_enable_fast_math: true\n"},
        {"--xla_cpu_enable_fast_math=FALSE", ""},
        {"--xla_backend_optimization_level=-1", "xla_backend_optimization_level: -1\n"},
        {"--xla_gpu_autotune_gemm_rtol=0.25", "xla_gpu_autotune_gemm_rtol: 0.250000\n"},
        {"--xla_gpu_autotune_gemm_rtol=0.10000001", ""},
        {"--xla_dump_to='a\"b'", "xla_dump_to: \"a\"b\"\n"},
        {"--xla_cpu_max_isa=avx2", "xla_cpu_max_isa: \"AVX2\"\n"},
        {"--xla_cpu_opt_preset=fast_compile", "xla_cpu_opt_preset: CPU_OPT_PRESET_FAST_COMPILE\n"},
        {"--xla_gpu_detect_nan=fail", "xla_gpu_detect_nan: DETECTION_MODE_FAIL\n"},
        {"--xla_gpu_all_gather_mode=Peer", "xla_gpu_all_gather_mode: COLLECTIVES_PEER_MEMORY\n"},
        {"--xla_gpu_pipeline_all_reduce=on", "xla_gpu_pipeline_all_reduce: COLLECTIVE_PIPELINING_MODE_ON\n"},
        {"--xla_disable_hlo_passes=b,a --xla_disable_hlo_passes=",
         "xla_disable_hlo_passes: \"\"\nxla_disable_hlo_passes: \"a\"\nxla_disable_hlo_passes: \"b\"\n"},
        {"--xla_gpu_ptx_compiler_extra_flags=' -a  -b '",
         "xla_gpu_ptx_compiler_extra_flags: \"-a\"\nxla_gpu_ptx_compiler_extra_flags: \"-b\"\n"},
        {"--xla_backend_extra_options=b=2,a=1,c --xla_backend_extra_options=b=3",
         "xla_backend_extra_options: {\n  key: \"a\"\n  value: \"1\"\n}\n"
         "xla_backend_extra_options: {\n  key: \"b\"\n  value: \"3\"\n}\n"
         "xla_backend_extra_options: {\n  key: \"c\"\n  value: \"\"\n}\n"},
        {"--xla_cpu_experimental_ynn_fusion_type=", ""},
        {"--xla_cpu_experimental_ynn_fusion_type=reduce,individual_dot,individual_convolution", ""},
        {"--xla_cpu_experimental_ynn_fusion_type=-reduce,+eltwise,-individual_dot",
         "xla_cpu_experimental_ynn_fusion_type: LIBRARY_FUSION_TYPE_ELTWISE\n"
         "xla_cpu_experimental_ynn_fusion_type: LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION\n"},
        {"--xla_gpu_disable_async_collectives=allreduce,AllToAll",
         "xla_gpu_disable_async_collectives: ALLREDUCE\nxla_gpu_disable_async_collectives: ALLTOALL\n"},
        {"--xla_gpu_experimental_thunk_buffer_debug_filter_by_thunk_id_ranges=3:7",
         "xla_gpu_experimental_thunk_buffer_debug_filter: {\nthunk_id_ranges {\n  first: 3\n  last: 7\n}\n}\n"},
    };
    for (size_t k = 0; k < HLO_COUNT(cases); k++) expect(*state, cases[k][0], cases[k][1]);
}

static void debug_options_flags_of_other_names_set_their_field(void **state) {
    static const char *const cases[][2] = {
        {"--xla_cpu_enable_concurrency_optimized_scheduler",
         "xla_cpu_scheduler_type: CPU_SCHEDULER_TYPE_CONCURRENCY_OPTIMIZED\n"},
        {"--xla_cpu_collective_call_warn_stuck_timeout_seconds=7", "xla_cpu_collective_call_warn_stuck_seconds: 7\n"},
        {"--xla_gpu_enable_pipelined_all_gather=1", "xla_gpu_pipeline_all_gather: COLLECTIVE_PIPELINING_MODE_ON\n"},
        {"--xla_gpu_graph_enable_concurrent_region", "xla_gpu_command_buffer_scheduling_mode: CONCURRENT\n"},
        {"--xla_gpu_unsupported_use_all_reduce_one_shot_kernel=true", ""},
        {"--xla_cpu_use_thunk_runtime=false --xla_fuel=fusion=3,a=1", ""},
    };
    for (size_t k = 0; k < HLO_COUNT(cases); k++) expect(*state, cases[k][0], cases[k][1]);
}

static void debug_options_bad_values_say_what_is_taken(void **state) {
    Fixture *f = *state;
    static const char *const cases[][2] = {
        {"--xla_cpu_scheduler_type=cpu_scheduler_type_default", "takes one of CPU_SCHEDULER_TYPE_DEFAULT, CPU_"},
        {"--xla_detect_unstable_reductions=log", "takes none, warning, fail or dump, found 'log'"},
        {"--xla_backend_optimization_level=4294967296", "takes a 32-bit integer"},
        {"--xla_gpu_experimental_max_unroll_factor=0", "takes an integer of at least 1"},
        {"--xla_gpu_execution_terminate_timeout=3 weeks", "takes a duration"},
        {"--xla_cpu_experimental_ynn_fusion_type=+dot,", "All values must be incremental or none of them."},
        {"--xla_cpu_experimental_ynn_fusion_type=dots", "Illegal value for --xla_cpu_experimental_ynn_fusion_type"},
        {"--xla_fuel=fusion", "expected token fusion to have format X=INTEGER."},
        {"--xla_enable_dumping=false", "option xla_enable_dumping has no flag"},
        {"--xla_dump_to", "needs a value: --xla_dump_to=FOLDER"},
        {"--xla_dump_too=x", "Unknown flag in XLA_FLAGS: --xla_dump_too=x; did you mean '--xla_dump_to'?"},
    };
    for (size_t k = 0; k < HLO_COUNT(cases); k++) assert_refused(set(f, cases[k][0]), cases[k][1]);
}

static void debug_options_file_replaces_what_it_names(void **state) {
    Fixture *f = *state;
    assert_true(
        hlo_is_ok(set(f, "--xla_disable_hlo_passes=x --xla_dump_large_constants --xla_backend_extra_options=q")));
    static const char text[] = "# a comment\n"
                               "xla_disable_hlo_passes: ['a' \"b\", \"c\\x41\\n\"]; xla_disable_hlo_passes: 'd'\n"
                               "xla_gpu_autotune_gemm_rtol: 0.5f, xla_backend_optimization_level: 0x10\n"
                               "xla_cpu_opt_preset: 2 xla_gpu_bef_thunk: { a { b: 1 } } xla_use_shardy: true\n"
                               "xla_backend_extra_options < key: 'k' value: 'v' >\n";
    assert_true(hlo_is_ok(hlo_debug_options_parse(&f->arena, "o", hlo_view(text), &f->options)));
    assert_int_equal(f->options.xla_disable_hlo_passes.count, 3);
    assert_string_equal(f->options.xla_disable_hlo_passes.items[0], "ab");
    assert_string_equal(f->options.xla_disable_hlo_passes.items[1], "cA\n");
    assert_true(f->options.xla_dump_large_constants);
    assert_true(f->options.xla_gpu_autotune_gemm_rtol == 0.5);
    assert_int_equal(f->options.xla_backend_optimization_level, 16);
    assert_string_equal(f->options.xla_cpu_opt_preset, "CPU_OPT_PRESET_FAST_COMPILE");
    assert_int_equal(f->options.xla_backend_extra_options.count, 2);
}

static void debug_options_text_reads_back(void **state) {
    Fixture *f = *state;
    assert_true(hlo_is_ok(set(f, "--xla_disable_hlo_passes=b,a --xla_backend_extra_options=k=v,l "
                                 "--xla_cpu_opt_preset=FAST_RUNTIME --xla_dump_max_hlo_modules=3 "
                                 "--xla_enable_nccl_symmetric_buffers_for_collectives=all:5:f32 "
                                 "--xla_gpu_experimental_thunk_buffer_debug_filter_by_profile_annotation_re=x "
                                 "--xla_gpu_experimental_thunk_buffer_debug_filter_by_thunk_id_ranges=3,4:")));
    char *text = strdup(text_of(f));
    f->options = hlo_debug_options_default();
    HloStatus status = hlo_debug_options_parse(&f->arena, "o", hlo_view(text), &f->options);
    if (!hlo_is_ok(status)) fail_msg("%s", hlo_status_message(status));
    assert_string_equal(text_of(f), text);
    free(text);
}

static void debug_options_file_errors_name_line_and_expectation(void **state) {
    Fixture *f = *state;
    static const char *const cases[][2] = {
        {"\nxla_no_such: 1", "o:2: expected the name of an option, found 'xla_no_such: 1'"},
        {"xla_dump_to: 3", "o:1: expected a string, found '3'"},
        {"xla_dump_to: \"a\nb\"", "o:1: expected the end of a string"},
        {"xla_dump_hlo_as_text: yes", "o:1: expected true or false, found 'yes'"},
        {"xla_backend_optimization_level: 99999999999", "o:1: expected an integer"},
        {"xla_cpu_opt_preset: FAST", "o:1: expected CPU_OPT_PRESET_DEFAULT, "},
        {"xla_disable_hlo_passes: ['a' 'b'", "o:1: expected , or ], found ''"},
        {"xla_backend_extra_options { name: 'a' }", "o:1: expected key or value, found 'name: 'a' }'"},
        {"xla_gpu_experimental_thunk_buffer_debug_filter { a {", "o:1: expected the end of a message"},
        {"xla_dump_to", "o:1: expected a string, found ''"},
    };
    for (size_t k = 0; k < HLO_COUNT(cases); k++) {
        assert_refused(hlo_debug_options_parse(&f->arena, "o", hlo_view(cases[k][0]), &f->options), cases[k][1]);
    }
}

// The default of a map is shared by everybody.
static void debug_options_maps_keep_their_default_and_have_a_bound(void **state) {
    Fixture *f = *state;
    expect(f, "--xla_gpu_analytical_latency_estimator_options=rtt_us=7",
           "xla_gpu_analytical_latency_estimator_options: {\n  key: \"chunk_prep_us\"\n  value: \"-1\"\n}\n"
           "xla_gpu_analytical_latency_estimator_options: {\n  key: \"chunk_size_bytes\"\n  value: \"-1\"\n}\n"
           "xla_gpu_analytical_latency_estimator_options: {\n  key: \"gpus_per_node\"\n  value: \"-1\"\n}\n"
           "xla_gpu_analytical_latency_estimator_options: {\n  key: \"nccl_op_launch_us\"\n  value: \"-1\"\n}\n"
           "xla_gpu_analytical_latency_estimator_options: {\n  key: \"nic_speed_gbps\"\n  value: \"-1\"\n}\n"
           "xla_gpu_analytical_latency_estimator_options: {\n  key: \"rtt_us\"\n  value: \"7\"\n}\n");
    expect(f, "", "");
    HloBuffer text = {0};
    hlo_put_string(&text, "--xla_backend_extra_options=k");
    for (int k = 0; k < 10001; k++) hlo_putf(&text, ",%d", k);
    HloStatus status = set(f, text.data);
    assert_int_equal(hlo_status_code(status), HLO_RESOURCE_EXHAUSTED);
    hlo_status_free(status);
    hlo_buffer_free(&text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(debug_options_rows_are_sorted_by_name),
        TEST(debug_options_default_writes_nothing),
        TEST(debug_options_text_shows_every_kind),
        TEST(debug_options_flags_of_other_names_set_their_field),
        TEST(debug_options_bad_values_say_what_is_taken),
        TEST(debug_options_file_replaces_what_it_names),
        TEST(debug_options_text_reads_back),
        TEST(debug_options_maps_keep_their_default_and_have_a_bound),
        TEST(debug_options_file_errors_name_line_and_expectation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
