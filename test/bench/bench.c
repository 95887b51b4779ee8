// bench: how fast the pieces are on given modules, or on a generated one.
//
// usage: bench [--seconds=S] [--layers=N] [--steps=A,B] [--passes=A,B] [--stages=A,B] [FILE…]
//
// Each step is repeated until it has taken S seconds and its fastest run is printed, with the throughput in megabytes
// of module text. Passes run on a fresh copy each time; making the copy is not counted. Nothing is asserted: figures
// are for reading.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hlo/file.h"
#include "hlo/flags.h"
#include "hlo/infer.h"
#include "hlo/pass.h"
#include "hlo/stages.h"
#include "hlo/text.h"

typedef struct Options {
    double seconds;
    int64_t layers;
    const char *steps, *passes, *stages;
} Options;

static const HloFlag flags[] = {
    {"seconds", HLO_FLAG_FLOAT, offsetof(Options, seconds), "bench", "S", NULL, "least time for each step"},
    {"layers", HLO_FLAG_INT, offsetof(Options, layers), "bench", "N", NULL, "size of the generated module"},
    {"steps", HLO_FLAG_TEXT, offsetof(Options, steps), "bench", "NAMES", NULL,
     "of parse, print and verify those to run; default: all"},
    {"passes", HLO_FLAG_TEXT, offsetof(Options, passes), "bench", "NAMES", NULL, "passes to run; default: all"},
    {"stages", HLO_FLAG_TEXT, offsetof(Options, stages), "bench", "NAMES", NULL, "stages to run; default: all"},
};

// What a step works on.
typedef struct Subject {
    const Options *options;
    HloStringView text;
    HloModule *m;
    HloModule *copy;  // fresh for every run of a step that changes the module
    const HloElement *pipeline;
    const char *stage;
    HloBuffer out;
} Subject;

typedef HloStatus (*Step)(Subject *subject);

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static HloStatus step_parse(Subject *subject) {
    HloModule *m;
    HLO_TRY(hlo_parse_module(subject->text, &(HloParseOptions){0}, &m));
    hlo_module_free(m);
    return hlo_ok();
}

static HloStatus step_print(Subject *subject) {
    HloPrintOptions print = hlo_print_dump();
    subject->out.size = 0;
    hlo_print_module(subject->m, &print, &subject->out);
    return hlo_buffer_status(&subject->out);
}

static HloStatus step_verify(Subject *subject) {
    return hlo_verify_module(subject->m, &(HloVerifyOptions){.allow_mixed_precision = true});
}

static HloStatus step_pass(Subject *subject) {
    HloRunner runner = {0};
    bool changed;
    return hlo_pipeline_run(subject->pipeline, subject->copy, &runner, &changed);
}

static HloStatus step_stage(Subject *subject) {
    HloRunner runner = {0};
    HloPrintOptions print = hlo_print_dump();
    HloDebugOptions options = hlo_debug_options_default();
    subject->out.size = 0;
    HloCpuRun run = {.options = &options, .runner = &runner};
    return hlo_stage_run(HLO_PLATFORM_CPU, subject->stage, subject->copy, &run, &print, &subject->out);
}

// Runs a step once and returns its seconds; negative after a failure.
static double run_once(Step step, Subject *subject, bool needs_copy, HloStatus *status) {
    if (needs_copy) {
        subject->copy = hlo_module_clone(subject->m);
        if (!subject->copy) {
            *status = hlo_out_of_memory();
            return -1;
        }
    }
    double start = now();
    *status = step(subject);
    double taken = now() - start;
    if (needs_copy) hlo_module_free(subject->copy);
    return hlo_is_ok(*status) ? taken : -1;
}

static void measure(const char *name, Step step, Subject *subject, bool needs_copy) {
    double best = -1, total = 0;
    do {
        HloStatus status;
        double taken = run_once(step, subject, needs_copy, &status);
        if (taken < 0) {
            printf("  %-28s %s: %.90s\n", name, hlo_code_name(hlo_status_code(status)), hlo_status_message(status));
            hlo_status_free(status);
            return;
        }
        if (best < 0 || taken < best) best = taken;
        total += taken;
    } while (total < subject->options->seconds);
    printf("  %-28s %10.3f ms %10.1f MB/s\n", name, best * 1e3, (double)subject->text.size * 1e-6 / best);
}

// Whether a comma list holds a name; a missing list holds all.
static bool is_wanted(const char *list, const char *name) {
    if (!list) return true;
    size_t size = strlen(name);
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        if (strncmp(p, name, size) == 0 && (p[size] == ',' || !p[size])) return true;
    }
    return false;
}

static void measure_steps(Subject *subject) {
    static const struct {
        const char *name;
        Step step;
    } steps[] = {{"parse", step_parse}, {"print", step_print}, {"verify", step_verify}};
    for (size_t i = 0; i < HLO_COUNT(steps); i++) {
        if (is_wanted(subject->options->steps, steps[i].name)) measure(steps[i].name, steps[i].step, subject, false);
    }
}

static void measure_passes(Subject *subject) {
    size_t count;
    const HloRegistryRow *rows = hlo_registry(&count);
    for (size_t i = 0; i < count; i++) {
        const char *name = rows[i].pass->name;
        if (!is_wanted(subject->options->passes, name)) continue;
        HloArena arena = {0};
        HloElement *pipeline;
        HloStatus status = hlo_pipeline_parse(&arena, "bench", hlo_view(name), &pipeline);
        subject->pipeline = pipeline;
        if (hlo_is_ok(status)) measure(name, step_pass, subject, true);
        hlo_status_free(status);
        hlo_arena_free(&arena);
    }
}

static void measure_stages(Subject *subject) {
    HloBuffer names = {0};
    hlo_put_stages(HLO_PLATFORM_CPU, &names);
    char *rest = names.data;
    for (char *name; (name = strsep(&rest, "\n"));) {
        if (!*name || !is_wanted(subject->options->stages, name)) continue;
        char label[64];
        snprintf(label, sizeof label, "stage %s", name);
        subject->stage = name;
        measure(label, step_stage, subject, true);
    }
    hlo_buffer_free(&names);
}

static HloStatus measure_module(const char *name, HloStringView text, const Options *options) {
    Subject subject = {.options = options, .text = text};
    HLO_TRY(hlo_parse_module(text, &(HloParseOptions){.file_name = name}, &subject.m));
    printf("%s: %.2f MB, %zu instructions\n", name, (double)text.size * 1e-6, hlo_module_instruction_count(subject.m));
    measure_steps(&subject);
    measure_passes(&subject);
    measure_stages(&subject);
    hlo_buffer_free(&subject.out);
    hlo_module_free(subject.m);
    return hlo_ok();
}

// A chain of dense layers with a residual connection: x + max(x W + b, 0), with some work for the simplifiers.
static void generate(int64_t layers, HloBuffer *out) {
    hlo_put_string(out, "HloModule generated\n\nENTRY main {\n  x0 = f32[64,64]{1,0} parameter(0)\n"
                        "  zero = f32[] constant(0)\n");
    for (int64_t i = 0; i < layers; i++) {
        hlo_putf(out, "  w%" PRId64 " = f32[64,64]{1,0} parameter(%" PRId64 ")\n", i, 2 * i + 1);
        hlo_putf(out, "  b%" PRId64 " = f32[64]{0} parameter(%" PRId64 ")\n", i, 2 * i + 2);
        hlo_putf(out,
                 "  m%" PRId64 " = f32[64,64]{1,0} dot(x%" PRId64 ", w%" PRId64
                 "), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n",
                 i, i, i);
        hlo_putf(out, "  bb%" PRId64 " = f32[64,64]{1,0} broadcast(b%" PRId64 "), dimensions={1}\n", i, i);
        hlo_putf(out, "  a%" PRId64 " = f32[64,64]{1,0} add(m%" PRId64 ", bb%" PRId64 ")\n", i, i, i);
        hlo_putf(out, "  z%" PRId64 " = f32[64,64]{1,0} broadcast(zero), dimensions={}\n", i);
        hlo_putf(out, "  r%" PRId64 " = f32[64,64]{1,0} maximum(a%" PRId64 ", z%" PRId64 ")\n", i, i, i);
        hlo_putf(out, "  %sx%" PRId64 " = f32[64,64]{1,0} add(x%" PRId64 ", r%" PRId64 ")\n",
                 i + 1 == layers ? "ROOT " : "", i + 1, i, i);
    }
    hlo_put_string(out, "}\n");
}

static HloStatus measure_file(const char *path, const Options *options) {
    HloBuffer text = {0};
    HloStatus status = hlo_file_read(path, &text);
    if (hlo_is_ok(status)) status = measure_module(path, (HloStringView){text.data, text.size}, options);
    hlo_buffer_free(&text);
    return status;
}

static HloStatus measure_generated(const Options *options) {
    HloBuffer text = {0};
    generate(options->layers, &text);
    HloStatus status = hlo_buffer_status(&text);
    if (hlo_is_ok(status)) status = measure_module("generated", (HloStringView){text.data, text.size}, options);
    hlo_buffer_free(&text);
    return status;
}

int main(int argc, char **argv) {
    Options options = {.seconds = 0.2, .layers = 5000};
    HloFlagSet set = {flags, HLO_COUNT(flags), &options, NULL};
    HloArena arena = {0};
    HloVec files = {0};
    HloStatus status = hlo_flags_parse(&arena, &set, 1, argc, argv, &files);
    if (hlo_is_ok(status) && options.layers < 1) status = hlo_error(HLO_INVALID_ARGUMENT, "--layers must be positive");
    if (hlo_is_ok(status) && !files.count) status = measure_generated(&options);
    for (size_t i = 0; i < files.count && hlo_is_ok(status); i++) status = measure_file(files.items[i], &options);
    int code = hlo_is_ok(status) ? 0 : 1;
    if (code) fprintf(stderr, "bench: %s\n", hlo_status_message(status));
    hlo_status_free(status);
    hlo_arena_free(&arena);
    return code;
}
