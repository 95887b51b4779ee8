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
#include "hlo/isolate.h"
#include "hlo/listing.h"
#include "hlo/load.h"
#include "hlo/npy.h"
#include "hlo/first_difference.h"
#include "hlo/random_inputs.h"
#include "hlo/run_literals.h"

typedef struct Options {
    const char *platform, *reference, *format, *inputs_dir, *expect_dir, *output_dir, *help, *debug_options_file;
    const char *input_literals, *output_literals;
    HloVec inputs, expected, infeeds;  // const char *
    bool print_literals, run_passes, time, random_init, first_difference, isolate;
    int64_t iterations, replicas, partitions;
    double abs, rel;
} Options;

#define FLAG(name, kind, field, topic, value, help) \
    { name, HLO_FLAG_##kind, offsetof(Options, field), topic, value, NULL, help }

static const HloFlag flags[] = {
    FLAG("platform", TEXT, platform, "run", "NAME", "where to run: cpu (compiled) or interpreter"),
    FLAG("reference_platform", TEXT, reference, "run", "NAME",
         "run there too, on the same arguments, and compare; `default` is the interpreter"),
    FLAG("input_format", TEXT, format, "run", "FORMAT",
         "format of the module: hlo, txt, pb or pbtxt; default: its extension"),
    FLAG("run_test_hlo_passes", BOOL, run_passes, "run", NULL,
         "run the pass pipeline on modules without a schedule (default true)"),
    FLAG("find-first-difference", BOOL, first_difference, "run", NULL,
         "interpret the module before and after the CPU's passes and name the first instruction whose value differs"),
    FLAG("isolate_instructions", BOOL, isolate, "run", NULL,
         "run every instruction alone, and on the reference platform too, and show a table of what came of it"),
    FLAG("iterations", INT, iterations, "run", "N",
         "run N times (default 1); with a reference platform, on new arguments each time"),
    FLAG("num_replicas", INT, replicas, "run", "N",
         "interpreter: replicas to simulate (default: what the module says)"),
    FLAG("num_partitions", INT, partitions, "run", "N",
         "interpreter: partitions of each replica (default: what the module says)"),
    FLAG("time", BOOL, time, "run", NULL, "tell on standard error how long compiling and running took"),
    FLAG("input", TEXTS, inputs, "values", "FILE|TEXT",
         "next argument: an .npy file or a literal such as 'f32[2] {1, 2}'"),
    FLAG("input_literals_file", TEXT, input_literals, "values", "FILE",
         "arguments of each iteration, as the message RunHloModuleLiterals, binary or text"),
    FLAG("infeed", TEXTS, infeeds, "values", "TEXT", "interpreter: next value that an infeed gets, a literal"),
    FLAG("random_init_input_literals", BOOL, random_init, "values", NULL,
         "make arguments up (default true); otherwise they are zeros"),
    FLAG("inputs-dir", TEXT, inputs_dir, "values", "DIR", "argument number N is DIR/N.npy"),
    FLAG("expect", TEXTS, expected, "values", "FILE", "next leaf of the expected result, an .npy file"),
    FLAG("expect-dir", TEXT, expect_dir, "values", "DIR", "leaf number N of the expected result is DIR/N.npy"),
    FLAG("abs_error_bound", FLOAT, abs, "values", "X", "absolute error that is no mismatch (default 0.001)"),
    FLAG("rel_error_bound", FLOAT, rel, "values", "X", "relative error that is no mismatch (default 0.001)"),
    FLAG("print_literals", BOOL, print_literals, "output", NULL, "print arguments and result"),
    FLAG("output_literals_file", TEXT, output_literals, "output", "FILE",
         "write arguments and results of each iteration as a binary RunHloModuleLiterals"),
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
    // Of the file at hand:
    const char *path;
    HloModule *m;
    HloSnapshot snapshot;  // values that came with the module
    HloRunLiterals given;  // of --input_literals_file
    HloRandom random;
    HloVec values;  // HloRunValues *, by iteration
    HloLiteral **arguments;
    size_t argument_count;
    int64_t failures;  // of all files
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

// Arguments that came with the module, or from a file of literals.
static HloStatus take_arguments(Run *run, const HloLiteral *const *from, size_t count) {
    const HloComputation *entry = run->m->entry;
    if (count != hlo_parameter_count(entry))
        return hlo_error(HLO_INVALID_ARGUMENT,
                         "Failed to use input literals as arguments; mismatched number of expected arguments: %zu for "
                         "%zu parameters.",
                         count, hlo_parameter_count(entry));
    for (size_t k = 0; k < count; k++) {
        const HloShape *shape = hlo_parameter(entry, k)->shape;
        if (!hlo_shape_compatible(from[k]->shape, shape))
            return hlo_error(HLO_INVALID_ARGUMENT,
                             "Failed to use input literals for argument %zu because of a shape mismatch.", k);
        run->arguments[k] = hlo_literal_clone(&run->arena, from[k], shape);
    }
    return hlo_ok();
}

static HloStatus read_arguments(Run *run) {
    const HloVec *given = &run->options.inputs;
    size_t count = run->argument_count, next_file = 0;
    if (given->count && given->count != count) {
        return hlo_error(HLO_INVALID_ARGUMENT, "Expected %zu argument%s, but got %u.", count, count == 1 ? "" : "s",
                         given->count);
    }
    for (size_t k = 0; k < count; k++) {
        const HloShape *shape = hlo_parameter(run->m->entry, k)->shape;
        if (given->count) {
            HLO_TRY(read_argument(run, given->items[k], k, shape, run->arguments + k));
            continue;
        }
        HLO_TRY(hlo_literal_new(&run->arena, shape, run->arguments + k));
        HLO_TRY(hlo_npy_read_folder(&run->arena, run->options.inputs_dir, run->arguments[k], &next_file));
    }
    return hlo_ok();
}

static HloStatus make_up_arguments(Run *run) {
    if (run->options.random_init) return hlo_random_arguments(&run->random, run->m, &run->arena, run->arguments);
    for (size_t k = 0; k < run->argument_count; k++) {
        HLO_TRY(hlo_literal_new(&run->arena, hlo_parameter(run->m->entry, k)->shape, run->arguments + k));
    }
    return hlo_ok();
}

static HloStatus make_arguments(Run *run, size_t iteration) {
    run->argument_count = hlo_parameter_count(run->m->entry);
    run->arguments = HLO_NEW_ARRAY(&run->arena, HloLiteral *, run->argument_count);
    if (run->options.inputs.count || run->options.inputs_dir) return read_arguments(run);
    if (iteration < run->given.count) {
        const HloRunValues *values = run->given.items + iteration;
        return take_arguments(run, values->arguments, values->argument_count);
    }
    if (!run->snapshot.argument_count) return make_up_arguments(run);
    HLO_TRY(take_arguments(run, run->snapshot.arguments, run->snapshot.argument_count));
    fprintf(stderr, "Using input data from the user-provided snapshot.\n");
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

// What is printed comes out before what goes to standard error next.
static HloStatus flush(Run *run) {
    if (!run->out.size) return hlo_ok();
    HloStatus status = hlo_file_write("-", (HloStringView){run->out.data, run->out.size});
    hlo_buffer_free(&run->out);
    run->out = (HloBuffer){0};
    return status;
}

static HloStatus print_lines(Run *run, const char *title, const HloLiteral *literal) {
    if (!run->options.print_literals) return hlo_ok();
    hlo_putf(&run->out, "\n** %s **\n", title);
    hlo_put_literal_lines(&run->out, literal);
    hlo_put_char(&run->out, '\n');
    return flush(run);
}

static HloStatus print_arguments(Run *run) {
    char title[32];
    for (size_t k = 0; k < run->argument_count; k++) {
        snprintf(title, sizeof title, "Argument %zu", k);
        HLO_TRY(print_lines(run, title, run->arguments[k]));
    }
    return hlo_ok();
}

static HloErrorBounds bounds_of(const Run *run) {
    return (HloErrorBounds){run->options.abs, run->options.rel, .detailed = true};
}

static HloStatus show_result(Run *run, HloLiteral *result) {
    const Options *options = &run->options;
    HloLiteral *expected;
    HLO_TRY(make_expected(run, result, &expected));
    HLO_TRY(print_lines(run, "Result", result));
    if (!options->print_literals && !expected && !options->output_dir) print_literal(run, result);
    if (options->output_dir) HLO_TRY(hlo_npy_write_folder(&run->arena, options->output_dir, result));
    if (!expected) return hlo_ok();
    HLO_TRY(hlo_literal_compare(expected, result, bounds_of(run)));
    hlo_put_string(&run->out, "\n** The result is close enough to what is expected. **\n");
    return hlo_ok();
}

// Kept for --output_literals_file.
static void keep_values(Run *run, const HloLiteral *result, const HloLiteral *reference) {
    HloRunValues *values = HLO_NEW(&run->arena, HloRunValues);
    *values = (HloRunValues){(const HloLiteral *const *)run->arguments, run->argument_count, result, reference};
    hlo_vec_push(&run->arena, &run->values, values);
}

static HloStatus write_values(Run *run) {
    const char *path = run->options.output_literals;
    if (!path) return hlo_ok();
    HloBuffer bytes = {0};
    HloRunValues *items = HLO_NEW_ARRAY(&run->arena, HloRunValues, run->values.count);
    for (size_t k = 0; k < run->values.count; k++) items[k] = *(const HloRunValues *)run->values.items[k];
    HloStatus status = hlo_run_literals_write((HloRunLiterals){items, run->values.count}, &bytes);
    if (hlo_is_ok(status)) status = hlo_file_write(path, (HloStringView){bytes.data, bytes.size});
    hlo_buffer_free(&bytes);
    return status;
}

// ---- running --------------------------------------------------------------------------------------------

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static HloStatus run_executable(Run *run, const HloLlvm *llvm, HloExecutable *executable, int64_t times,
                                HloLiteral **result) {
    const HloLiteral *const *arguments = (const HloLiteral *const *)run->arguments;
    // Written before the run too: a run that does not come back leaves its arguments.
    HLO_TRY(hlo_dump_snapshot(run->dump, run->m, arguments, run->argument_count, NULL));
    for (int64_t k = 0; k < times; k++) {
        double start = seconds();
        HLO_TRY(llvm->execute(executable, arguments, run->argument_count, &run->arena, result));
        if (run->options.time) fprintf(stderr, "... ran in %.6fs.\n", seconds() - start);
    }
    return hlo_dump_snapshot(run->dump, run->m, arguments, run->argument_count, *result);
}

static HloStatus compile_and_run(Run *run, HloModule *m, const HloBufferAssignment *buffers, int64_t times,
                                 HloLiteral **result) {
    const HloLlvm *llvm;
    HloExecutable *executable;
    HLO_TRY(hlo_llvm_open(&llvm));
    HLO_TRY(hlo_cpu_dump_object(run->dump, m, buffers));
    double start = seconds();
    HLO_TRY(llvm->compile(m, buffers, &executable));
    if (run->options.time) fprintf(stderr, "... compiled in %.6fs.\n", seconds() - start);
    HloStatus status = run_executable(run, llvm, executable, times, result);
    llvm->executable_free(executable);
    return status;
}

static HloStatus lower(Run *run, HloModule *m) {
    HloCpuRun cpu = {&run->debug, &run->runner, run->dump, !run->options.run_passes};
    if (!m->is_scheduled && run->options.run_passes) {
        HLO_TRY(hlo_verify_module(m, &(HloVerifyOptions){.allow_mixed_precision = true}));
    }
    hlo_dump_begin(run->dump, m);
    HLO_TRY(hlo_dump_stage(run->dump, m, "before_optimizations", NULL, 0));
    return hlo_cpu_optimize(&cpu, m);
}

static HloStatus lower_and_run(Run *run, HloModule *m, int64_t times, HloLiteral **result) {
    HloCpuRun cpu = {&run->debug, &run->runner, run->dump, !run->options.run_passes};
    HloBufferAssignment *buffers;
    HLO_TRY(lower(run, m));
    HLO_TRY(hlo_cpu_finish_schedule(&cpu, m));
    HLO_TRY(hlo_cpu_place_buffers(&cpu, m, &buffers));
    HloStatus status = compile_and_run(run, m, buffers, times, result);
    hlo_buffer_assignment_free(buffers);
    return status;
}

// Runs the module `times` times on one device; it is changed.
static HloStatus run_compiled(Run *run, HloModule *m, int64_t times, HloLiteral **result) {
    const HloPassObserver *observer = NULL;
    HLO_TRY(hlo_dump_new(&run->debug, hlo_stream_sink(stdout), hlo_stream_sink(stderr), &run->dump));
    HloStatus status = hlo_dump_observe(run->dump, &run->runner, &observer);
    run->runner.observers = &observer;
    run->runner.observer_count = observer != NULL;
    if (hlo_is_ok(status)) status = lower_and_run(run, m, times, result);
    run->runner.observer_count = 0;
    hlo_dump_free(run->dump);
    run->dump = NULL;
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

static HloStatus show_outfed(void *data, int64_t replica, int64_t partition, const HloLiteral *value) {
    Run *run = data;
    hlo_putf(&run->out, "outfeed of replica %lld, partition %lld: ", (long long)replica, (long long)partition);
    print_literal(run, value);
    return hlo_ok();
}

static HloStatus read_infeeds(Run *run, HloEvalFeeds *feeds) {
    const HloVec *texts = &run->options.infeeds;
    const HloLiteral **values = HLO_NEW_ARRAY(&run->arena, const HloLiteral *, texts->count);
    for (size_t k = 0; k < texts->count; k++) {
        HloLiteral *literal;
        HloStatus status = hlo_parse_literal(&run->arena, &run->m->shapes, hlo_view(texts->items[k]), &literal);
        HLO_TRY(hlo_error_context(status, "infeed %zu", k + 1));
        values[k] = literal;
    }
    *feeds = (HloEvalFeeds){.infeeds = values, .infeed_count = texts->count, .outfed = show_outfed, .data = run};
    return hlo_ok();
}

// No passes and no buffers: every instruction as it stands, on all devices.
static HloStatus run_interpreter(Run *run, HloLiteral ***out) {
    const Options *options = &run->options;
    size_t count = (size_t)(options->replicas * options->partitions);
    HloEvalFeeds feeds;
    HLO_TRY(hlo_verify_module(run->m, &(HloVerifyOptions){.allow_mixed_precision = true}));
    HLO_TRY(read_infeeds(run, &feeds));
    const HloLiteral *const **args = HLO_NEW_ARRAY(&run->arena, const HloLiteral *const *, count);
    for (size_t d = 0; d < count; d++) args[d] = (const HloLiteral *const *)run->arguments;
    *out = HLO_NEW_ARRAY(&run->arena, HloLiteral *, count);
    double start = seconds();
    HLO_TRY(hlo_eval_devices(run->m, &(HloEvalOptions){.feeds = &feeds}, options->replicas, options->partitions,
                             &run->arena, args, run->argument_count, *out));
    if (options->time) fprintf(stderr, "... ran in %.6fs.\n", seconds() - start);
    return hlo_ok();
}

// One run on a platform, of a copy of the module; the result of the first device.
static HloStatus run_once(Run *run, const char *platform, HloLiteral **result) {
    if (is_interpreter(platform)) {
        HloLiteral **results;
        HLO_TRY(run_interpreter(run, &results));
        *result = results[0];
        return hlo_ok();
    }
    HloModule *copy = hlo_module_clone(run->m);
    if (!copy) return hlo_out_of_memory();
    HloStatus status = run_compiled(run, copy, 1, result);
    // The result's shapes belong to the copy.
    if (hlo_is_ok(status)) *result = hlo_literal_clone(&run->arena, *result, run->m->entry->root->shape);
    hlo_module_free(copy);
    return status;
}

// ---- showing --------------------------------------------------------------------------------------------

static HloStatus run_and_show(Run *run) {
    HloLiteral *result = NULL, **results = NULL;
    HLO_TRY(make_arguments(run, 0));
    HLO_TRY(print_arguments(run));
    if (!is_interpreter(run->options.platform)) {
        HloModule *m = run->m;
        HLO_TRY(run_compiled(run, m, run->options.iterations, &result));
        keep_values(run, result, NULL);
        return result ? show_result(run, result) : hlo_ok();
    }
    for (int64_t k = 0; k < run->options.iterations; k++) HLO_TRY(run_interpreter(run, &results));
    if (!results) return hlo_ok();
    keep_values(run, results[0], NULL);
    return show_results(run, results);
}

// ---- comparing ------------------------------------------------------------------------------------------

static HloStatus compare_iteration(Run *run, size_t iteration, const char *reference) {
    HloLiteral *result = NULL, *expected = NULL;
    const HloInstruction *root = run->m->entry->root;
    HLO_TRY(make_arguments(run, iteration));
    HLO_TRY(print_arguments(run));
    fprintf(stderr, "Running HLO module with runner HloRunner...\n");
    double start = seconds();
    HLO_TRY(hlo_error_context(run_once(run, run->options.platform, &result), "Failed to execute on HloRunner"));
    fprintf(stderr, "... compiled and ran in %.6fs.\n", seconds() - start);
    HLO_TRY(print_lines(run, "Result with test runner HloRunner", result));
    if (root->op == HLO_OP_CUSTOM_CALL) {
        fprintf(stderr, "Skipping reference runner for a custom call %s\n",
                hlo_text(root, HLO_ATTR_CUSTOM_CALL_TARGET));
        keep_values(run, result, NULL);
        return hlo_ok();
    }
    fprintf(stderr, "Running HLO module with runner HloRunner...\n");
    start = seconds();
    HLO_TRY(hlo_error_context(run_once(run, reference, &expected), "Failed to execute on HloRunner"));
    fprintf(stderr, "... compiled and ran in %.6fs.\n", seconds() - start);
    HLO_TRY(print_lines(run, "Result with reference runner HloRunner", expected));
    keep_values(run, result, expected);
    return hlo_literal_compare(expected, result, bounds_of(run));
}

static HloStatus compare_platforms(Run *run) {
    const Options *options = &run->options;
    const char *reference = strcmp(options->reference, "default") == 0 ? "interpreter" : options->reference;
    hlo_putf(&run->out, "\n ** Running %s** \n", run->path);
    HLO_TRY(flush(run));
    for (int64_t k = 0; k < options->iterations; k++) {
        if (options->iterations != 1) fprintf(stderr, "\n=== Iteration %lld\n", (long long)k + 1);
        HloStatus status = compare_iteration(run, (size_t)k, reference);
        if (hlo_is_ok(status)) {
            fprintf(stderr, "\n** Results on %s and %s are close enough. **\n", options->platform,
                    strcmp(options->reference, "default") == 0 ? "Interpreter" : reference);
            continue;
        }
        fprintf(stderr, "%s: %s\n", hlo_code_name(hlo_status_code(status)), hlo_status_message(status));
        hlo_status_free(status);
        run->failures++;
    }
    fprintf(stderr, "%lld/%lld runs failed.\n", (long long)run->failures, (long long)options->iterations);
    return hlo_ok();
}

// Before and after the CPU's passes; then the compiled result, when the passes change nothing.
static HloStatus find_difference(Run *run) {
    bool found = false;
    HLO_TRY(make_arguments(run, 0));
    const HloLiteral *const *arguments = (const HloLiteral *const *)run->arguments;
    HloModule *after = hlo_module_clone(run->m);
    if (!after) return hlo_out_of_memory();
    HloStatus status = lower(run, after);
    if (hlo_is_ok(status))
        status =
            hlo_find_first_difference(run->m, after, arguments, run->argument_count, bounds_of(run), &run->out, &found);
    hlo_module_free(after);
    run->failures += found;
    if (!hlo_is_ok(status) || found || is_interpreter(run->options.platform)) return status;
    HloLiteral *compiled = NULL, *interpreted = NULL;
    HLO_TRY(run_once(run, "interpreter", &interpreted));
    HLO_TRY(run_once(run, run->options.platform, &compiled));
    status = hlo_literal_compare(interpreted, compiled, bounds_of(run));
    if (hlo_status_code(status) != HLO_INVALID_ARGUMENT) return status;
    hlo_putf(&run->out, "the compiled result differs:\n%s\n", hlo_status_message(status));
    hlo_status_free(status);
    run->failures++;
    return hlo_ok();
}

// ---- instructions alone ---------------------------------------------------------------------------------

// What came of running an instruction on one platform; rows of the summary stand in this order.
typedef enum Outcome {
    MATCHED,
    RAN,
    SKIPPED,
    DID_NOT_RUN,
    OTHER_ERROR,
    COMPILE_ERROR,
    RUN_ERROR,
    MISMATCH,
    OUTCOMES
} Outcome;

static const char *const outcome_names[OUTCOMES] = {
    "MATCHED", "RAN", "SKIPPED", "DIDN'T RUN", "OTHER ERROR", "COMPILATION ERROR", "RUNTIME ERROR", "MISMATCH"};

typedef struct Isolation {
    Run *run;
    const char *reference;  // "": none
    HloStatus first_failure;
    int64_t totals[OUTCOMES][OUTCOMES];  // by test result, then by reference result
} Isolation;

static void keep_first(Isolation *iso, HloStatus status) {
    if (hlo_is_ok(iso->first_failure))
        iso->first_failure = status;
    else
        hlo_status_free(status);
}

static Outcome outcome_of(HloStatus status, Outcome success) {
    if (hlo_is_ok(status)) return success;
    return hlo_status_code(status) == HLO_UNIMPLEMENTED ? COMPILE_ERROR : RUN_ERROR;
}

static void add_row(Isolation *iso, Outcome reference, Outcome test, const char *name) {
    const char *status = test == MATCHED || test == RAN ? "OK" : outcome_names[test];
    iso->totals[test][reference]++;
    hlo_putf(&iso->run->out, " %-21s| %-21s| %-30s| %s\n", outcome_names[reference], outcome_names[test], name, status);
}

// The module at hand is the instruction's.
static void run_isolated(Isolation *iso, const char *name) {
    Run *run = iso->run;
    HloLiteral *result = NULL, *expected = NULL;
    HloStatus status = make_arguments(run, 0);
    if (!hlo_is_ok(status)) {
        add_row(iso, DID_NOT_RUN, OTHER_ERROR, name);
        keep_first(iso, status);
        return;
    }
    status = run_once(run, run->options.platform, &result);
    Outcome test = outcome_of(status, RAN), reference = *iso->reference ? DID_NOT_RUN : SKIPPED;
    keep_first(iso, status);
    if (*iso->reference && run->m->entry->root->op != HLO_OP_CUSTOM_CALL) {
        status = run_once(run, iso->reference, &expected);
        reference = outcome_of(status, RAN);
        keep_first(iso, status);
    }
    if (test == RAN && reference == RAN) {
        status = hlo_literal_compare(expected, result, bounds_of(run));
        test = hlo_is_ok(status) ? MATCHED : MISMATCH;
        keep_first(iso, status);
    }
    add_row(iso, reference, test, name);
}

static void put_rule(HloBuffer *out, size_t width) {
    for (size_t k = 0; k < width; k++) hlo_put_char(out, '-');
    hlo_put_char(out, '\n');
}

static void put_summary(const Isolation *iso) {
    HloBuffer *out = &iso->run->out;
    put_rule(out, 107);
    hlo_putf(out, " %-21s| %-21s| Total count\n", "Reference", "Test");
    put_rule(out, 77);
    for (int test = 0; test < OUTCOMES; test++) {
        for (int reference = 0; reference < OUTCOMES; reference++) {
            int64_t total = iso->totals[test][reference];
            if (!total) continue;
            hlo_putf(out, " %-21s| %-21s| %lld\n", outcome_names[reference], outcome_names[test], (long long)total);
        }
    }
    put_rule(out, 77);
}

// Whether a module with this text was run before.
static bool claim_text(Run *run, HloMap *seen, const HloModule *m) {
    HloBuffer text = {0};
    HloPrintOptions options = hlo_print_module_fingerprint();
    hlo_print_module(m, &options, &text);
    void **entry = hlo_map_at_text(&run->arena, seen, text.data ? text.data : "", text.size, NULL);
    bool first = !*entry;
    *entry = run;
    hlo_buffer_free(&text);
    return first;
}

static HloStatus isolate_instructions(Run *run) {
    const char *reference = run->options.reference;
    Isolation iso = {run, strcmp(reference, "default") == 0 ? "interpreter" : reference, hlo_ok(), {{0}}};
    HloModule *whole = run->m;
    HloVec found = hlo_isolated_instructions(whole, &run->arena);
    HloMap seen = {0};
    if (run->options.input_literals) {
        return hlo_error(HLO_INVALID_ARGUMENT, "Cannot run decomposed module if input literals are provided.");
    }
    put_rule(&run->out, 107);
    hlo_putf(&run->out, " %-21s| %-21s| %-30s| %s\n", "Reference", "Test", "Module", "Status");
    put_rule(&run->out, 107);
    for (size_t k = 0; k < found.count; k++) {
        const HloInstruction *inst = found.items[k];
        HloModule *alone = hlo_module_isolate(whole, inst);
        if (!alone) {
            keep_first(&iso, hlo_out_of_memory());
            break;
        }
        run->m = alone;
        run->snapshot = (HloSnapshot){0};
        if (claim_text(run, &seen, alone)) run_isolated(&iso, inst->name);
        hlo_module_free(alone);
    }
    run->m = whole;
    put_summary(&iso);
    return iso.first_failure;
}

// ---- files ----------------------------------------------------------------------------------------------

static HloStatus read_given(Run *run) {
    HloBuffer bytes = {0};
    const char *path = run->options.input_literals;
    if (!path) return hlo_ok();
    HloStatus status = hlo_file_read(path, &bytes);
    if (hlo_is_ok(status))
        status = hlo_run_literals_read((HloStringView){bytes.data, bytes.size}, path, run->m, &run->given);
    hlo_buffer_free(&bytes);
    return status;
}

// Devices are as many as the flags say, or the module.
static HloStatus count_devices(Run *run, const Options *given) {
    run->options.replicas = given->replicas ? given->replicas : run->m->replica_count;
    run->options.partitions = given->partitions ? given->partitions : run->m->num_partitions;
    bool known = run->options.replicas >= 1 && run->options.partitions >= 1 && run->options.replicas <= 1024 &&
                 run->options.partitions <= 1024;
    if (known || !is_interpreter(run->options.platform)) return hlo_ok();
    return hlo_error(HLO_INVALID_ARGUMENT, "replicas and partitions must be between 1 and 1024");
}

static HloStatus run_module(Run *run, HloModule *m) {
    run->m = m;
    run->random = (HloRandom){1};
    run->values = (HloVec){0};
    run->given = (HloRunLiterals){0};
    warn_of_elided(m);
    HLO_TRY(read_given(run));
    HloStatus status = run->options.isolate            ? isolate_instructions(run)
                       : run->options.first_difference ? find_difference(run)
                       : *run->options.reference       ? compare_platforms(run)
                                                       : run_and_show(run);
    if (hlo_is_ok(status)) status = write_values(run);
    return status;
}

static HloStatus run_file(Run *run, const char *path) {
    HloModuleList modules;
    const Options given = run->options;
    run->path = path;
    run->load.format = run->options.format;
    HLO_TRY(hlo_modules_load(path, &run->load, &modules));
    run->snapshot = modules.snapshot;
    HloStatus status = modules.count ? hlo_ok() : hlo_error(HLO_INVALID_ARGUMENT, "the file holds no module");
    run->m = modules.count ? modules.items[0] : NULL;
    if (hlo_is_ok(status)) status = count_devices(run, &given);
    if (hlo_is_ok(status)) status = run_module(run, run->m);
    run->options = given;
    hlo_module_list_free(&modules);
    return status;
}

// A file that fails does not keep the others from running, when there are several.
static HloStatus run_files(Run *run, const HloVec *files) {
    if (!files->count) return hlo_error(HLO_INVALID_ARGUMENT, "Input HLO file missing.");
    if (files->count == 1) return run_file(run, files->items[0]);
    for (size_t k = 0; k < files->count; k++) {
        if (!*run->options.reference) hlo_putf(&run->out, "\n ** Running %s** \n", (const char *)files->items[k]);
        HloStatus status = run_file(run, files->items[k]);
        HLO_TRY(flush(run));
        if (hlo_is_ok(status)) continue;
        fprintf(stderr, "%s: %s\n", hlo_code_name(hlo_status_code(status)), hlo_status_message(status));
        hlo_status_free(status);
        run->failures++;
    }
    return hlo_ok();
}

static HloStatus put_help(Run *run) {
    const char *topic = *run->options.help ? run->options.help : "all";
    hlo_put_string(&run->out, "usage: run_hlo_module --platform=cpu [flags] FILE…\n\n");
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
                             .reference = "",
                             .run_passes = true,
                             .random_init = true,
                             .iterations = 1,
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
    bool has_reference = *run->options.reference && strcmp(run->options.reference, "default") != 0;
    if (has_reference) HLO_TRY(check_platform(run->options.reference));
    return run_files(run, &files);
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
    int code = !hlo_is_ok(status) ? 1 : run.failures ? 255 : 0;
    hlo_status_free(status);
    hlo_buffer_free(&run.out);
    hlo_arena_free(&run.arena);
    return code;
}
