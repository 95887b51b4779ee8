// Random modules through everything: every pass, the CPU's pipeline and machine code must keep what they compute.
//
//   random                       twenty small modules, as tools/check runs it
//   random --seeds=1000 --size=150
//   random --first=17 --seeds=1 --passes=algsimp
//
// For each module: the verifier takes it; its text is read and printed again as it was; each pass alone, and each pass
// of the CPU's pipeline, gives a module that verifies and computes the same, up to rounding; so does machine code, of
// the module as it is and after the pipeline. A failure is shown with the command that repeats it.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hlo/compare.h"
#include "hlo/cpu.h"
#include "hlo/flags.h"
#include "hlo/generate.h"
#include "hlo/infer.h"
#include "hlo/npy.h"
#include "hlo/numerics.h"
#include "hlo/observers.h"
#include "hlo/random_inputs.h"
#include "hlo/reduce.h"
#include "hlo/text.h"

enum { MOST_REDUCED = 40 };  // instructions of a module that is reduced to one opcode

typedef struct Options {
    int64_t seeds, first, size;
    HloVec passes;
    bool code, pipeline, text, reduce;
    const char *help;
} Options;

#define FLAG(name, kind, field, topic, value, implied, help) \
    { name, HLO_FLAG_##kind, offsetof(Options, field), topic, value, implied, help }

static const HloFlag flags[] = {
    FLAG("seeds", INT, seeds, "run", "N", NULL, "how many modules (default 20)"),
    FLAG("first", INT, first, "run", "N", NULL, "seed of the first one (default 1)"),
    FLAG("size", INT, size, "run", "N", NULL, "instructions of each (default 60)"),
    FLAG("passes", LIST, passes, "run", "A,B", NULL, "each of these passes alone (default: every registered one)"),
    FLAG("code", BOOL, code, "run", NULL, NULL, "compile and run, where LLVM is installed (default true)"),
    FLAG("pipeline", BOOL, pipeline, "run", NULL, NULL, "run the CPU's pipeline (default true)"),
    FLAG("text", BOOL, text, "run", NULL, NULL, "print, read and print (default true)"),
    FLAG("reduce", BOOL, reduce, "run", NULL, NULL, "reduce to one opcode (default true)"),
    FLAG("help", TEXT, help, "help", "TOPIC", "", "explain the flags"),
};

typedef struct Run {
    Options options;
    HloDebugOptions debug;
    const HloLlvm *llvm;                    // NULL: not installed
    int64_t passed, failed, skipped, seed;  // checks
    int64_t good_modules, bad_modules;      // without and with a failed one
} Run;

static const HloVerifyOptions rules = {.allow_mixed_precision = true};

// ---- what may differ ------------------------------------------------------------------------------------

// Passes that compute with other roundings: narrow types then differ by a step or two, and what is computed from them.
typedef struct Rounding {
    const char *pass;
    const char *why;
} Rounding;

static const HloErrorBounds loose_bounds = {0.05, 0.3};

static const Rounding roundings[] = {
    {"simplify-fp-conversions", "leaves out conversions to narrower types and back"},
    {"float-normalization-bf16", "sums in f32 and rounds once"},
    {"float-normalization-f8e4m3fn", "likewise"},
    {"float-normalization-f8e5m2", "likewise"},
};

// Passes that come after others, with those.
typedef struct Needs {
    const char *pass, *pipeline;
} Needs;

static const Needs needs[] = {
    {"copy-insertion", "flatten-call-graph,copy-insertion"},
    {"defuser", "control-dep-remover,defuser"},
};

static const char *pipeline_of(const char *pass) {
    for (size_t k = 0; k < HLO_COUNT(needs); k++) {
        if (strcmp(pass, needs[k].pass) == 0) return needs[k].pipeline;
    }
    return pass;
}

static bool rounds_otherwise(const char *pass) {
    for (size_t k = 0; k < HLO_COUNT(roundings); k++) {
        if (strcmp(pass, roundings[k].pass) == 0) return true;
    }
    return false;
}

// ---- telling --------------------------------------------------------------------------------------------

// What is going on, for the handler of signals; the size of the text is bounded.
static char current[200];

static void on_crash(int number) {
    static const char words[] = "failed: crashed in ";
    ssize_t done = write(STDOUT_FILENO, words, sizeof words - 1);
    done = write(STDOUT_FILENO, current, strlen(current));
    (void)done;
    signal(number, SIG_DFL);
    raise(number);
}

static void begin(const Run *run, const char *what) {
    snprintf(current, sizeof current, "%s, seed %lld, size %lld\n", what, (long long)run->seed,
             (long long)run->options.size);
}

// Counts a check and tells its failure; what this build cannot do is skipped.
static void end(Run *run, const char *flags_text, HloStatus status) {
    HloCode code = hlo_status_code(status);
    if (code == HLO_OK) run->passed++;
    if (code == HLO_UNIMPLEMENTED) run->skipped++;
    if (code != HLO_OK && code != HLO_UNIMPLEMENTED) {
        run->failed++;
        printf("failed: %s: %s\n  hlo-gen --seed=%lld --size=%lld | hlo-opt --format=hlo %s -\n", hlo_code_name(code),
               hlo_status_message(status), (long long)run->seed, (long long)run->options.size, flags_text);
    } else if (code == HLO_UNIMPLEMENTED && getenv("HLO_RANDOM_SHOW_SKIPPED")) {
        printf("skipped: %s\n", hlo_status_message(status));
    }
    hlo_status_free(status);
}

// ---- text -----------------------------------------------------------------------------------------------

static HloStatus read_and_print(const HloBuffer *text, HloBuffer *out) {
    HloPrintOptions print = hlo_print_dump();
    print.large_constants = true;
    HloModule *m;
    HLO_TRY(hlo_parse_module((HloStringView){text->data, text->size}, &(HloParseOptions){0}, &m));
    hlo_print_module(m, &print, out);
    hlo_module_free(m);
    return hlo_ok();
}

static int compare_lines(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// The lines of a text, which is cut up, in the order of the alphabet.
static char **sort_lines(HloArena *arena, HloBuffer *text, size_t *count) {
    char **lines = HLO_NEW_ARRAY(arena, char *, text->size + 1), *rest = text->data, *line;
    *count = 0;
    while ((line = strsep(&rest, "\n"))) lines[(*count)++] = line;
    qsort(lines, *count, sizeof *lines, compare_lines);
    return lines;
}

// Reading puts computations into the order of the text, and printing orders them anew, so that they may change places.
static HloStatus compare_prints(HloArena *arena, HloBuffer *first, HloBuffer *second, const HloModule *m) {
    HloPrintOptions print = hlo_print_dump();
    print.large_constants = true;
    hlo_print_module(m, &print, first);
    HLO_TRY(read_and_print(first, second));
    size_t a_count, b_count;
    char **a = sort_lines(arena, first, &a_count), **b = sort_lines(arena, second, &b_count);
    for (size_t k = 0; k < a_count && k < b_count; k++) {
        if (strcmp(a[k], b[k]) == 0) continue;
        return hlo_error(HLO_INTERNAL, "a line changes when the text is read and printed:\n%s\n%s", a[k], b[k]);
    }
    return a_count == b_count ? hlo_ok() : hlo_error(HLO_INTERNAL, "lines get lost when the text is read");
}

static void check_text(Run *run, const HloModule *m) {
    HloArena arena = {0};
    HloBuffer first = {0}, second = {0};
    begin(run, "reading and printing");
    end(run, "--passes=", compare_prints(&arena, &first, &second, m));
    hlo_buffer_free(&first);
    hlo_buffer_free(&second);
    hlo_arena_free(&arena);
}

// ---- passes ---------------------------------------------------------------------------------------------

typedef struct Watch {
    const HloNumerics *strict, *loose;  // what the module computed; loose: for passes that round otherwise
    bool is_loose;                      // one of them ran
} Watch;

static HloStatus after_pass(void *data, const HloElement *pipeline, const HloElement *element, const HloModule *m,
                            bool changed) {
    Watch *watch = data;
    bool same;
    (void)pipeline;
    if (!changed || element->kind != HLO_ELEMENT_PASS) return hlo_ok();
    HLO_TRY(hlo_error_context(hlo_verify_module(m, &rules), "after %s", element->name));
    watch->is_loose |= rounds_otherwise(element->name);
    HloBuffer report = {0};
    HloStatus status = hlo_numerics_compare(watch->is_loose ? watch->loose : watch->strict, m, &same, &report);
    if (hlo_is_ok(status) && !same) {
        status = hlo_error(HLO_INTERNAL, "%s changes what the module computes: %s", element->name, report.data);
    }
    hlo_buffer_free(&report);
    return status;
}

static HloStatus run_list(const HloElement *list, const HloModule *m, Watch watch) {
    HloModule *copy = hlo_module_clone(m);
    if (!copy) return hlo_out_of_memory();
    const HloPassObserver observer = {.data = &watch, .after_pass = after_pass}, *observers[] = {&observer};
    HloRunner runner = {.observers = observers, .observer_count = 1};
    bool changed = false;
    HloStatus status = hlo_pipelines_run(list, copy, &runner, &changed);
    hlo_module_free(copy);
    return status;
}

static HloStatus run_pass(HloArena *arena, const char *name, const HloModule *m, Watch watch) {
    HloElement *pipeline, list = {.kind = HLO_ELEMENT_PIPELINE, .name = "", .elements = &pipeline, .element_count = 1};
    HLO_TRY(hlo_pipeline_parse(arena, "random", hlo_view(name), &pipeline));
    return run_list(&list, m, watch);
}

static void check_pass(Run *run, const char *name, const HloModule *m, Watch watch) {
    HloArena arena = {0};
    char text[150];
    const char *pipeline = pipeline_of(name);
    snprintf(text, sizeof text, "--passes=%s --verify-each --check-numerics", pipeline);
    begin(run, name);
    end(run, text, run_pass(&arena, pipeline, m, watch));
    hlo_arena_free(&arena);
}

static void check_passes(Run *run, const HloModule *m, Watch watch) {
    const HloVec *wanted = &run->options.passes;
    for (size_t k = 0; k < wanted->count; k++) check_pass(run, wanted->items[k], m, watch);
    size_t count;
    const HloRegistryRow *rows = hlo_registry(&count);
    for (size_t k = 0; k < count && !wanted->count; k++) {
        if (!(rows[k].platforms & HLO_PLATFORM_TEST)) check_pass(run, rows[k].pass->name, m, watch);
    }
}

static void check_pipeline(Run *run, const HloModule *m, Watch watch) {
    HloArena arena = {0};
    HloElement *list;
    begin(run, "the pipeline of the CPU");
    HloStatus status = hlo_cpu_pipeline(&arena, HLO_CPU_BEFORE_SCHEDULE, &run->debug, m, &list);
    if (hlo_is_ok(status)) status = run_list(list, m, watch);
    end(run, "--platform=cpu --verify-each --check-numerics", status);
    hlo_arena_free(&arena);
}

// ---- machine code ---------------------------------------------------------------------------------------

typedef struct Values {
    HloArena arena;
    HloLiteral **args, *result;
    size_t count;
} Values;

static HloStatus make_values(Values *values, const HloModule *m) {
    HloRandom random = {.state = 1};
    values->count = hlo_parameter_count(m->entry);
    values->args = HLO_NEW_ARRAY(&values->arena, HloLiteral *, values->count);
    for (size_t k = 0; k < values->count; k++) {
        HLO_TRY(hlo_literal_new(&values->arena, hlo_parameter(m->entry, k)->shape, &values->args[k]));
        hlo_random_fill(&random, values->args[k]);
    }
    return hlo_eval(m, &(HloEvalOptions){0}, &values->arena, (const HloLiteral *const *)values->args, values->count,
                    &values->result);
}

// Functions and sums of machine code round otherwise, and the passes before it too (`is_loose`).
static HloStatus compare_leaves(const HloModule *m, Values *values, HloLiteral *actual, bool is_loose) {
    HloVec wanted = hlo_literal_leaves(&values->arena, values->result);
    HloVec given = hlo_literal_leaves(&values->arena, actual);
    for (size_t k = 0; k < wanted.count; k++) {
        const HloLiteral *leaf = wanted.items[k];
        if (!hlo_shape_is_array(leaf->shape)) continue;
        HloErrorBounds bounds = hlo_module_rounding_bounds(m, leaf->shape->type);
        if (is_loose && bounds.rel > 0 && bounds.rel < loose_bounds.rel) bounds = loose_bounds;
        HLO_TRY(hlo_error_context(hlo_literal_compare(leaf, given.items[k], bounds), "machine code, leaf %zu", k));
    }
    return hlo_ok();
}

static HloStatus execute(const Run *run, const HloModule *m, const HloBufferAssignment *buffers, bool is_loose,
                         Values *values) {
    HloExecutable *executable;
    HloLiteral *result = NULL;
    HLO_TRY(run->llvm->compile(m, buffers, &executable));
    HloStatus status =
        run->llvm->execute(executable, (const HloLiteral *const *)values->args, values->count, &values->arena, &result);
    if (hlo_is_ok(status)) status = compare_leaves(m, values, result, is_loose);
    run->llvm->executable_free(executable);
    return status;
}

// What buffer assignment relies on.
static HloStatus run_needed_passes(HloArena *arena, HloModule *m) {
    HloElement *pipeline;
    HloRunner runner = {0};
    bool changed = false;
    HLO_TRY(hlo_pipeline_parse(arena, "needed", hlo_view("flatten-call-graph,copy-insertion"), &pipeline));
    return hlo_pipeline_run(pipeline, m, &runner, &changed);
}

static HloStatus compile_and_run(const Run *run, HloModule *m, bool skip_passes, Values *values) {
    HloRunner runner = {0};
    if (skip_passes) HLO_TRY(run_needed_passes(&values->arena, m));
    HloCpuRun cpu = {&run->debug, &runner, NULL, skip_passes};
    HloBufferAssignment *buffers;
    HLO_TRY(hlo_cpu_optimize(&cpu, m));
    HLO_TRY(hlo_cpu_finish_schedule(&cpu, m));
    HLO_TRY(hlo_cpu_place_buffers(&cpu, m, &buffers));
    HloStatus status = execute(run, m, buffers, !skip_passes, values);
    hlo_buffer_assignment_free(buffers);
    return status;
}

static void check_code(Run *run, const HloModule *m, bool skip_passes) {
    Values values = {0};
    HloModule *copy = hlo_module_clone(m);
    begin(run, skip_passes ? "machine code" : "machine code after passes");
    HloStatus status = copy ? make_values(&values, m) : hlo_out_of_memory();
    if (hlo_is_ok(status)) status = compile_and_run(run, copy, skip_passes, &values);
    end(run, skip_passes ? "--passes=flatten-call-graph,copy-insertion" : "--platform=cpu --stage=llvm", status);
    if (copy) hlo_module_free(copy);
    hlo_arena_free(&values.arena);
}

// ---- reduction ------------------------------------------------------------------------------------------

// Whether the module has an instruction with this opcode.
static HloStatus has_opcode(void *data, const HloModule *m, bool *out) {
    *out = false;
    HLO_EACH_COMP(comp, m) {
        HLO_EACH_INST(inst, comp) *out |= inst->op == *(const HloOpcode *)data;
    }
    return hlo_ok();
}

// A reduced module verifies, has what was asked for, and is small: what calls it, and what it needs.
static HloStatus reduce_to(HloOpcode op, const HloModule *m) {
    HloModule *small;
    bool has = false;
    HLO_TRY(hlo_reduce(m, (HloQuestion){has_opcode, &op}, &(HloReduceOptions){0}, &small));
    HloStatus status = hlo_verify_module(small, &(HloVerifyOptions){0});
    if (hlo_is_ok(status)) status = has_opcode(&op, small, &has);
    if (hlo_is_ok(status) && (!has || hlo_module_instruction_count(small) > MOST_REDUCED)) {
        status = hlo_error(HLO_INTERNAL, "reduced to %zu instructions %s %s", hlo_module_instruction_count(small),
                           has ? "with" : "without", hlo_op_name(op));
    }
    hlo_module_free(small);
    return status;
}

static void check_reduction(Run *run, const HloModule *m) {
    const HloInstruction *inst = m->entry->first;
    for (size_t k = 0; k < m->entry->count / 2; k++) inst = inst->next;
    begin(run, "reduction");
    end(run, "--passes= -o m.hlo; hlo-reduce --appears=… m.hlo;", reduce_to(inst->op, m));
}

// ---- the run --------------------------------------------------------------------------------------------

static void check_numbers(Run *run, const HloModule *m) {
    HloNumerics *strict = NULL, *loose = NULL;
    begin(run, "the interpreter");
    HloStatus status = hlo_numerics_new(m, &(HloNumericsOptions){0}, &strict);
    if (hlo_is_ok(status)) {
        status = hlo_numerics_new(m, &(HloNumericsOptions){.bounds = loose_bounds}, &loose);
    }
    bool is_computed = hlo_is_ok(status);
    end(run, "--passes=dce --check-numerics", status);
    Watch watch = {strict, loose, false};
    if (is_computed) check_passes(run, m, watch);
    if (is_computed && run->options.pipeline) check_pipeline(run, m, watch);
    hlo_numerics_free(strict);
    hlo_numerics_free(loose);
}

static void check_module(Run *run) {
    HloModule *m = NULL;
    int64_t failed_before = run->failed;
    begin(run, "making a module");
    HloStatus status =
        hlo_generate(&(HloGenerateOptions){.seed = (uint64_t)run->seed, .size = (size_t)run->options.size}, &m);
    if (hlo_is_ok(status)) status = hlo_verify_module(m, &(HloVerifyOptions){0});
    bool is_valid = hlo_is_ok(status);
    end(run, "--verify --passes=", status);
    if (is_valid && run->options.text) check_text(run, m);
    if (is_valid && run->options.reduce) check_reduction(run, m);
    if (is_valid) check_numbers(run, m);
    if (is_valid && run->options.code && run->llvm) check_code(run, m, true);
    if (is_valid && run->options.code && run->llvm) check_code(run, m, false);
    if (m) hlo_module_free(m);
    if (run->failed == failed_before)
        run->good_modules++;
    else
        run->bad_modules++;
}

static void open_llvm(Run *run) {
    HloStatus status = run->options.code ? hlo_llvm_open(&run->llvm) : hlo_ok();
    if (!hlo_is_ok(status)) printf("no machine code: %s\n", hlo_status_message(status));
    hlo_status_free(status);
}

typedef struct Arguments {
    HloArena arena;
    int argc;
    char **argv;
    Run *run;
} Arguments;

static HloStatus read_flags(void *data) {
    Arguments *a = data;
    HloVec extra = {0};
    HloFlagSet set = {.flags = flags, .count = HLO_COUNT(flags), .options = &a->run->options};
    HLO_TRY(hlo_flags_parse(&a->arena, &set, 1, a->argc, a->argv, &extra));
    if (extra.count) return hlo_error(HLO_INVALID_ARGUMENT, "no file is read");
    if (!a->run->options.help) return hlo_ok();
    HloBuffer out = {0};
    hlo_flags_help(&set, 1, "all", &out);
    fputs(out.data ? out.data : "", stdout);
    hlo_buffer_free(&out);
    return hlo_ok();
}

int main(int argc, char **argv) {
    Run run = {
        .options = {.seeds = 20, .first = 1, .size = 60, .code = true, .pipeline = true, .text = true, .reduce = true},
        .debug = hlo_debug_options_default()};
    Arguments arguments = {.argc = argc, .argv = argv, .run = &run};
    static const int crashes[] = {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL};
    for (size_t k = 0; k < HLO_COUNT(crashes); k++) signal(crashes[k], on_crash);
    setvbuf(stdout, NULL, _IOLBF, 0);
    HloStatus status = hlo_guarded((HloArena *const[]){&arguments.arena, NULL}, read_flags, &arguments);
    bool is_ready = hlo_is_ok(status);
    if (!is_ready) fprintf(stderr, "%s\n", hlo_status_message(status));
    hlo_status_free(status);
    if (is_ready && !run.options.help) {
        open_llvm(&run);
        for (int64_t k = 0; k < run.options.seeds; k++) {
            run.seed = run.options.first + k;
            check_module(&run);
        }
        printf("%lld checks passed, %lld failed, %lld skipped; modules:\n", (long long)run.passed,
               (long long)run.failed, (long long)run.skipped);
        printf("%lld passed, %lld failed, 0 skipped\n", (long long)run.good_modules, (long long)run.bad_modules);
    }
    hlo_arena_free(&arguments.arena);
    return is_ready && !run.failed ? 0 : 1;
}
