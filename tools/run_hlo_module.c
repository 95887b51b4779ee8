// run_hlo_module: compiles a module for the CPU, runs it, and prints, stores or checks the result.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hlo/compare.h"
#include "hlo/cpu.h"
#include "hlo/debug_options.h"
#include "hlo/eval.h"
#include "hlo/file.h"
#include "hlo/infer.h"
#include "hlo/listing.h"
#include "hlo/load.h"
#include "hlo/npy.h"
#include "hlo/random_inputs.h"

typedef struct Options {
    const char *platform, *format, *inputs_dir, *expect_dir, *output_dir, *help, *debug_options_file;
    HloVec inputs, expected;  // const char *
    bool print_literals, run_passes, time;
    int64_t iterations, replicas, partitions;
    double abs, rel;
} Options;

#define FLAG(name, kind, field, topic, value, help) \
    { name, HLO_FLAG_##kind, offsetof(Options, field), topic, value, NULL, help }

static const HloFlag flags[] = {
    FLAG("platform", TEXT, platform, "run", "NAME", "where to run: cpu (compiled) or interpreter"),
    FLAG("input_format", TEXT, format, "run", "FORMAT",
         "format of the module: hlo, txt, pb or pbtxt; default: its extension"),
    FLAG("run_test_hlo_passes", BOOL, run_passes, "run", NULL,
         "run the pass pipeline on modules without a schedule (default true)"),
    FLAG("iterations", INT, iterations, "run", "N", "run the compiled module N times (default 1)"),
    FLAG("num_replicas", INT, replicas, "run", "N", "interpreter: replicas to simulate (default 1)"),
    FLAG("num_partitions", INT, partitions, "run", "N", "interpreter: partitions of each replica (default 1)"),
    FLAG("time", BOOL, time, "run", NULL, "tell on standard error how long compiling and running took"),
    FLAG("input", TEXTS, inputs, "values", "FILE|TEXT",
         "next argument: an .npy file or a literal such as 'f32[2] {1, 2}'"),
    FLAG("inputs-dir", TEXT, inputs_dir, "values", "DIR", "argument number N is DIR/N.npy"),
    FLAG("expect", TEXTS, expected, "values", "FILE", "next leaf of the expected result, an .npy file"),
    FLAG("expect-dir", TEXT, expect_dir, "values", "DIR", "leaf number N of the expected result is DIR/N.npy"),
    FLAG("abs_error_bound", FLOAT, abs, "values", "X", "absolute error that is no mismatch (default 0.001)"),
    FLAG("rel_error_bound", FLOAT, rel, "values", "X", "relative error that is no mismatch (default 0.001)"),
    FLAG("print_literals", BOOL, print_literals, "output", NULL, "print arguments and result"),
    FLAG("output-dir", TEXT, output_dir, "output", "DIR", "write the result's leaves to DIR/0.npy, DIR/1.npy, …"),
    FLAG("debug_options_file", TEXT, debug_options_file, "xla", "FILE",
         "read compiler options from FILE; XLA_FLAGS and --xla_… win over it"),
    {"help", HLO_FLAG_TEXT, offsetof(Options, help), "help", "TOPIC", "",
     "explain a topic's flags, or those of all topics"},
};

typedef struct Run {
    int argc;
    char **argv;
    HloArena arena;
    Options options;
    HloDebugOptions debug;
    HloLoadOptions load;
    HloFlagSet sets[3];
    HloRunner runner;
    HloDump *dump;  // NULL: nothing is dumped
    HloBuffer out;
    HloModule *m;
    HloSnapshot snapshot;  // values that came with the module
    HloLiteral **arguments;
    size_t argument_count;
} Run;

// ---- arguments ------------------------------------------------------------------------------------------

static bool is_npy(const char *text) {
    return strcmp(hlo_file_extension(text), "npy") == 0;
}

static HloStatus read_argument(Run *run, const char *text, size_t number, const HloShape *shape, HloLiteral **out) {
    if (is_npy(text)) return hlo_npy_read(&run->arena, text, shape, out);
    HloStringView view = hlo_view(text);
    // A bare value takes the parameter's shape.
    bool bare = *text == '{' || *text == '(' || *text == '-' || *text == '.' || (*text >= '0' && *text <= '9');
    HloStatus status = bare ? hlo_parse_literal_of(&run->arena, &run->m->shapes, shape, view, out)
                            : hlo_parse_literal(&run->arena, &run->m->shapes, view, out);
    return hlo_error_context(status, "argument %zu", number);
}

// The arguments of the execution that a snapshot recorded.
static HloStatus take_snapshot(Run *run) {
    const HloComputation *entry = run->m->entry;
    if (run->snapshot.argument_count != hlo_parameter_count(entry))
        return hlo_error(HLO_INVALID_ARGUMENT,
                         "Failed to use input literals as arguments; mismatched number of expected arguments: %zu for "
                         "%zu parameters.",
                         run->snapshot.argument_count, hlo_parameter_count(entry));
    for (size_t k = 0; k < run->snapshot.argument_count; k++) {
        const HloShape *shape = hlo_parameter(entry, k)->shape;
        const HloLiteral *argument = run->snapshot.arguments[k];
        if (!hlo_shape_compatible(argument->shape, shape))
            return hlo_error(HLO_INVALID_ARGUMENT,
                             "Failed to use input literals for argument %zu because of a shape mismatch.", k);
        run->arguments[k] = hlo_literal_clone(&run->arena, argument, shape);
    }
    fprintf(stderr, "Using input data from the user-provided snapshot.\n");
    return hlo_ok();
}

static HloStatus make_arguments(Run *run) {
    const HloComputation *entry = run->m->entry;
    size_t count = hlo_parameter_count(entry), next_file = 0;
    HloRandom random = {1};
    run->arguments = HLO_NEW_ARRAY(&run->arena, HloLiteral *, count);
    run->argument_count = count;
    size_t given = run->options.inputs.count;
    if (!given && !run->options.inputs_dir && run->snapshot.argument_count) return take_snapshot(run);
    if (given && given != count) {
        return hlo_error(HLO_INVALID_ARGUMENT, "Expected %zu argument%s, but got %zu.", count, count == 1 ? "" : "s",
                         given);
    }
    for (size_t k = 0; k < count; k++) {
        const HloShape *shape = hlo_parameter(entry, k)->shape;
        HloLiteral **argument = &run->arguments[k];
        if (given) {
            HLO_TRY(read_argument(run, run->options.inputs.items[k], k, shape, argument));
            continue;
        }
        HLO_TRY(hlo_literal_new(&run->arena, shape, argument));
        if (run->options.inputs_dir) {
            HLO_TRY(hlo_npy_read_folder(&run->arena, run->options.inputs_dir, *argument, &next_file));
        } else {
            hlo_random_fill(&random, *argument);
        }
    }
    return hlo_ok();
}

static HloStatus make_expected(Run *run, const HloLiteral *result, HloLiteral **out) {
    const Options *options = &run->options;
    size_t next = 0;
    *out = NULL;
    if (!options->expect_dir && !options->expected.count) return hlo_ok();
    HLO_TRY(hlo_literal_new(&run->arena, result->shape, out));
    if (options->expect_dir) return hlo_npy_read_folder(&run->arena, options->expect_dir, *out, &next);
    HloVec leaves = hlo_literal_leaves(&run->arena, *out);
    if (leaves.count != options->expected.count) {
        return hlo_error(HLO_INVALID_ARGUMENT, "the result has %u leaves, but --expect is given %u times", leaves.count,
                         options->expected.count);
    }
    for (size_t k = 0; k < leaves.count; k++) {
        HloLiteral *leaf = leaves.items[k], *read;
        HLO_TRY(hlo_npy_read(&run->arena, options->expected.items[k], leaf->shape, &read));
        *leaf = *read;
    }
    return hlo_ok();
}

// ---- results --------------------------------------------------------------------------------------------

static void print_literal(Run *run, const HloLiteral *literal) {
    hlo_put_shape(&run->out, literal->shape, false);
    hlo_put_char(&run->out, ' ');
    hlo_put_literal(&run->out, literal);
    hlo_put_char(&run->out, '\n');
}

static HloStatus show_result(Run *run, HloLiteral *result) {
    const Options *options = &run->options;
    HloLiteral *expected;
    HLO_TRY(make_expected(run, result, &expected));
    if (options->print_literals) {
        for (size_t k = 0; k < run->argument_count; k++) {
            hlo_putf(&run->out, "\n** Argument %zu **\n", k);
            print_literal(run, run->arguments[k]);
        }
        hlo_put_string(&run->out, "\n** Result **\n");
    }
    if (options->print_literals || (!expected && !options->output_dir)) print_literal(run, result);
    if (options->output_dir) HLO_TRY(hlo_npy_write_folder(&run->arena, options->output_dir, result));
    if (!expected) return hlo_ok();
    HLO_TRY(hlo_literal_compare(expected, result, (HloErrorBounds){options->abs, options->rel}));
    hlo_put_string(&run->out, "\n** The result is close enough to what is expected. **\n");
    return hlo_ok();
}

// ---- running --------------------------------------------------------------------------------------------

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static HloStatus run_executable(Run *run, const HloLlvm *llvm, HloExecutable *executable) {
    HloLiteral *result = NULL;
    HLO_TRY(make_arguments(run));
    const HloLiteral *const *arguments = (const HloLiteral *const *)run->arguments;
    // Written before the run too: a run that does not come back leaves its arguments.
    HLO_TRY(hlo_dump_snapshot(run->dump, run->m, arguments, run->argument_count, NULL));
    for (int64_t k = 0; k < run->options.iterations; k++) {
        double start = seconds();
        HLO_TRY(llvm->execute(executable, arguments, run->argument_count, &run->arena, &result));
        if (run->options.time) fprintf(stderr, "... ran in %.6fs.\n", seconds() - start);
    }
    HLO_TRY(hlo_dump_snapshot(run->dump, run->m, arguments, run->argument_count, result));
    return result ? show_result(run, result) : hlo_ok();
}

static HloStatus compile_and_run(Run *run, const HloBufferAssignment *buffers) {
    const HloLlvm *llvm;
    HloExecutable *executable;
    HLO_TRY(hlo_llvm_open(&llvm));
    HLO_TRY(hlo_cpu_dump_object(run->dump, run->m, buffers));
    double start = seconds();
    HLO_TRY(llvm->compile(run->m, buffers, &executable));
    if (run->options.time) fprintf(stderr, "... compiled in %.6fs.\n", seconds() - start);
    HloStatus status = run_executable(run, llvm, executable);
    llvm->executable_free(executable);
    return status;
}

// Dumps leave large constants out; the reader puts other values in their place.
static void warn_of_elided(const HloModule *m) {
    size_t count = 0;
    HLO_EACH_COMP(comp, m) {
        HLO_EACH_INST(inst, comp) {
            const HloLiteral *literal = hlo_constant(inst);
            count += literal && literal->elided;
        }
    }
    if (count)
        fprintf(stderr, "warning: %zu constant%s elided in the text; made-up values are used\n", count,
                count == 1 ? " is" : "s are");
}

static bool is_interpreter(const char *platform) {
    return strcmp(platform, "interpreter") == 0;
}

// Several devices are given the same arguments; the result of each is shown.
static HloStatus show_results(Run *run, HloLiteral *const *results) {
    int64_t partitions = run->options.partitions, count = run->options.replicas * partitions;
    for (int64_t d = 0; d < count; d++) {
        if (count > 1) {
            hlo_putf(&run->out, "replica %lld, partition %lld: ", (long long)(d / partitions),
                     (long long)(d % partitions));
        }
        HLO_TRY(show_result(run, results[d]));
    }
    return hlo_ok();
}

static HloStatus interpret_once(Run *run, HloLiteral ***out) {
    const Options *options = &run->options;
    size_t count = (size_t)(options->replicas * options->partitions);
    const HloLiteral *const **args = HLO_NEW_ARRAY(&run->arena, const HloLiteral *const *, count);
    for (size_t d = 0; d < count; d++) args[d] = (const HloLiteral *const *)run->arguments;
    *out = HLO_NEW_ARRAY(&run->arena, HloLiteral *, count);
    return hlo_eval_devices(run->m, &(HloEvalOptions){0}, options->replicas, options->partitions, &run->arena, args,
                            run->argument_count, *out);
}

// No passes and no buffers: every instruction as it stands.
static HloStatus interpret(Run *run) {
    HloLiteral **results = NULL;
    const Options *options = &run->options;
    if (options->replicas < 1 || options->partitions < 1 || options->replicas > 1024 || options->partitions > 1024) {
        return hlo_error(HLO_INVALID_ARGUMENT, "replicas and partitions must be between 1 and 1024");
    }
    HLO_TRY(hlo_verify_module(run->m, &(HloVerifyOptions){.allow_mixed_precision = true}));
    HLO_TRY(make_arguments(run));
    for (int64_t k = 0; k < options->iterations; k++) {
        double start = seconds();
        HLO_TRY(interpret_once(run, &results));
        if (options->time) fprintf(stderr, "... ran in %.6fs.\n", seconds() - start);
    }
    return results ? show_results(run, results) : hlo_ok();
}

static HloStatus lower_and_run(Run *run, HloModule *m) {
    HloCpuRun cpu = {&run->debug, &run->runner, run->dump, !run->options.run_passes};
    HloBufferAssignment *buffers;
    hlo_dump_begin(run->dump, m);
    HLO_TRY(hlo_dump_stage(run->dump, m, "before_optimizations", NULL, 0));
    HLO_TRY(hlo_cpu_optimize(&cpu, m));
    HLO_TRY(hlo_cpu_finish_schedule(&cpu, m));
    HLO_TRY(hlo_cpu_place_buffers(&cpu, m, &buffers));
    HloStatus status = compile_and_run(run, buffers);
    hlo_buffer_assignment_free(buffers);
    return status;
}

static HloStatus run_module(Run *run, HloModule *m) {
    run->m = m;
    warn_of_elided(m);
    if (is_interpreter(run->options.platform)) return interpret(run);
    if (!m->is_scheduled && run->options.run_passes) {
        HLO_TRY(hlo_verify_module(m, &(HloVerifyOptions){.allow_mixed_precision = true}));
    }
    const HloPassObserver *observer = NULL;
    HLO_TRY(hlo_dump_new(&run->debug, hlo_stream_sink(stdout), hlo_stream_sink(stderr), &run->dump));
    HloStatus status = hlo_dump_observe(run->dump, &run->runner, &observer);
    run->runner.observers = &observer;
    run->runner.observer_count = observer != NULL;
    if (hlo_is_ok(status)) status = lower_and_run(run, m);
    hlo_dump_free(run->dump);
    return status;
}

static HloStatus put_help(Run *run) {
    const char *topic = *run->options.help ? run->options.help : "all";
    hlo_put_string(&run->out, "usage: run_hlo_module --platform=cpu [flags] FILE\n\n");
    if (hlo_flags_help(run->sets, 2, topic, &run->out)) return hlo_ok();
    return hlo_error(HLO_INVALID_ARGUMENT, "no help topic '%s'", topic);
}

static HloStatus check_platform(const char *name) {
    HloPlatform platform;
    if (is_interpreter(name)) return hlo_ok();
    HLO_TRY(hlo_platform_find(name, &platform));
    if (platform == HLO_PLATFORM_CPU) return hlo_ok();
    return hlo_error(HLO_UNIMPLEMENTED, "platform %s cannot run modules", name);
}

static HloStatus run_all(void *data) {
    Run *run = data;
    HloVec files = {0};
    run->options = (Options){.platform = "",
                             .run_passes = true,
                             .iterations = 1,
                             .replicas = 1,
                             .partitions = 1,
                             .abs = 0.001,
                             .rel = 0.001};
    run->debug = hlo_debug_options_default();
    run->sets[0] = (HloFlagSet){.flags = flags, .count = HLO_COUNT(flags), .options = &run->options};
    run->sets[1] = hlo_load_flags(&run->load);
    run->sets[2] = hlo_debug_option_flags(&run->debug);
    HLO_TRY(hlo_debug_options_collect(&run->arena, &run->sets[2], getenv("XLA_FLAGS"), run->argc, run->argv));
    HLO_TRY(hlo_flags_parse(&run->arena, run->sets, HLO_COUNT(run->sets), run->argc, run->argv, &files));
    HLO_TRY(hlo_debug_pass_filter(&run->debug, &run->runner.filter));
    if (run->options.help) return put_help(run);
    if (!*run->options.platform) return hlo_error(HLO_INVALID_ARGUMENT, "Must pass --platform flag.");
    HLO_TRY(check_platform(run->options.platform));
    if (files.count != 1)
        return hlo_error(HLO_INVALID_ARGUMENT, "Input HLO file missing: expected one, found %u", files.count);
    HloModuleList modules;
    run->load.format = run->options.format;
    HLO_TRY(hlo_modules_load(files.items[0], &run->load, &modules));
    run->snapshot = modules.snapshot;
    HloStatus status =
        modules.count ? run_module(run, modules.items[0]) : hlo_error(HLO_INVALID_ARGUMENT, "the file holds no module");
    hlo_module_list_free(&modules);
    return status;
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);  // a closed pipe is then a failed write with a message
    Run run = {.argc = argc, .argv = argv};
    HloStatus status = hlo_guarded((HloArena *const[]){&run.arena, NULL}, run_all, &run);
    if (run.out.size) {
        HloStatus written = hlo_file_write("-", (HloStringView){run.out.data, run.out.size});
        if (hlo_is_ok(status))
            status = written;
        else
            hlo_status_free(written);
    }
    if (!hlo_is_ok(status)) {
        fprintf(stderr, "%s: %s\n", hlo_code_name(hlo_status_code(status)), hlo_status_message(status));
    }
    int code = hlo_is_ok(status) ? 0 : 1;
    hlo_status_free(status);
    hlo_buffer_free(&run.out);
    hlo_arena_free(&run.arena);
    return code;
}
