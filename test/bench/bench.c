// bench: how fast the pieces are on given modules, or on a generated one.
//
// usage: bench [--seconds=S] [--layers=N] [--steps=A,B] [--passes=A,B] [--stages=A,B] [FILE…]
//        bench --growth [--largest=N] [--kinds=A,B] [--steps=A,B] [--passes=A,B]
//
// Each step is repeated until it has taken S seconds of processor time and its fastest run is printed, with the
// throughput in megabytes of module text. Passes run on a fresh copy each time; making the copy is not counted. Nothing
// is asserted: figures are for reading.

#include <stdio.h>

#include "hlo/file.h"
#include "hlo/flags.h"
#include "hlo/stages.h"

#include "growth.h"
#include "steps.h"
#include "texts.h"

typedef struct Options {
    double seconds;
    int64_t layers;
    const char *steps, *passes, *stages;
    bool growth;
    int64_t largest;
    const char *kinds;
} Options;

static const HloFlag flags[] = {
    {"seconds", HLO_FLAG_FLOAT, offsetof(Options, seconds), "bench", "S", NULL, "least time for each step"},
    {"layers", HLO_FLAG_INT, offsetof(Options, layers), "bench", "N", NULL, "size of the generated module"},
    {"steps", HLO_FLAG_TEXT, offsetof(Options, steps), "bench", "NAMES", NULL,
     "of parse, print and verify those to run; default: all"},
    {"passes", HLO_FLAG_TEXT, offsetof(Options, passes), "bench", "NAMES", NULL, "passes to run; default: all"},
    {"stages", HLO_FLAG_TEXT, offsetof(Options, stages), "bench", "NAMES", NULL, "stages to run; default: all"},
    {"growth", HLO_FLAG_BOOL, offsetof(Options, growth), "bench", NULL, NULL,
     "how time grows with the size of modules"},
    {"largest", HLO_FLAG_INT, offsetof(Options, largest), "bench", "N", NULL, "with --growth: instructions at most"},
    {"kinds", HLO_FLAG_TEXT, offsetof(Options, kinds), "bench", "NAMES", NULL, "with --growth: modules; default: all"},
};

static void measure(const char *name, Step step, Subject *subject, bool needs_copy, double seconds) {
    double best = -1, total = 0;
    do {
        HloStatus status;
        double taken = step_time(step, subject, needs_copy, &status);
        if (taken < 0) {
            printf("  %-28s %s: %.90s\n", name, hlo_code_name(hlo_status_code(status)), hlo_status_message(status));
            hlo_status_free(status);
            return;
        }
        if (best < 0 || taken < best) best = taken;
        total += taken;
    } while (total < seconds);
    printf("  %-28s %10.3f ms %10.1f MB/s\n", name, best * 1e3, (double)subject->text.size * 1e-6 / best);
}

static void measure_steps(Subject *subject, const Options *options) {
    static const struct {
        const char *name;
        Step step;
    } steps[] = {{"parse", step_parse}, {"print", step_print}, {"verify", step_verify}};
    for (size_t i = 0; i < HLO_COUNT(steps); i++) {
        if (list_has(options->steps, steps[i].name))
            measure(steps[i].name, steps[i].step, subject, false, options->seconds);
    }
}

static void measure_passes(Subject *subject, const Options *options) {
    size_t count;
    const HloRegistryRow *rows = hlo_registry(&count);
    for (size_t i = 0; i < count; i++) {
        const char *name = rows[i].pass->name;
        if (!list_has(options->passes, name)) continue;
        HloArena arena = {0};
        HloElement *pipeline;
        HloStatus status = hlo_pipeline_parse(&arena, "bench", hlo_view(name), &pipeline);
        subject->pipeline = pipeline;
        if (hlo_is_ok(status)) measure(name, step_pass, subject, true, options->seconds);
        hlo_status_free(status);
        hlo_arena_free(&arena);
    }
}

static void measure_stages(Subject *subject, const Options *options) {
    HloBuffer names = {0};
    hlo_put_stages(HLO_PLATFORM_CPU, &names);
    char *rest = names.data;
    for (char *name; (name = strsep(&rest, "\n"));) {
        if (!*name || !list_has(options->stages, name)) continue;
        char label[64];
        snprintf(label, sizeof label, "stage %s", name);
        subject->stage = name;
        measure(label, step_stage, subject, true, options->seconds);
    }
    hlo_buffer_free(&names);
}

static HloStatus measure_module(const char *name, HloStringView text, const Options *options) {
    Subject subject = {.text = text};
    HLO_TRY(hlo_parse_module(text, &(HloParseOptions){.file_name = name}, &subject.m));
    printf("%s: %.2f MB, %zu instructions\n", name, (double)text.size * 1e-6, hlo_module_instruction_count(subject.m));
    measure_steps(&subject, options);
    measure_passes(&subject, options);
    measure_stages(&subject, options);
    hlo_buffer_free(&subject.out);
    hlo_module_free(subject.m);
    return hlo_ok();
}

static HloStatus measure_file(const char *path, const Options *options) {
    HloBuffer text = {0};
    HloStatus status = hlo_file_read(path, &text);
    if (hlo_is_ok(status)) status = measure_module(path, (HloStringView){text.data, text.size}, options);
    hlo_buffer_free(&text);
    return status;
}

static HloStatus measure_growth(const Options *options) {
    return growth_print(&(GrowthOptions){options->largest, options->kinds, options->steps, options->passes});
}

static HloStatus measure_generated(const Options *options) {
    HloBuffer text = {0};
    text_layers(&text, options->layers);
    HloStatus status = hlo_buffer_status(&text);
    if (hlo_is_ok(status)) status = measure_module("generated", (HloStringView){text.data, text.size}, options);
    hlo_buffer_free(&text);
    return status;
}

int main(int argc, char **argv) {
    Options options = {.seconds = 0.2, .layers = 5000, .largest = 1000000};
    HloFlagSet set = {flags, HLO_COUNT(flags), &options, NULL};
    HloArena arena = {0};
    HloVec files = {0};
    HloStatus status = hlo_flags_parse(&arena, &set, 1, argc, argv, &files);
    if (hlo_is_ok(status) && options.layers < 1) status = hlo_error(HLO_INVALID_ARGUMENT, "--layers must be positive");
    if (hlo_is_ok(status) && options.growth)
        status = measure_growth(&options);
    else if (hlo_is_ok(status) && !files.count)
        status = measure_generated(&options);
    for (size_t i = 0; i < files.count && hlo_is_ok(status); i++) status = measure_file(files.items[i], &options);
    int code = hlo_is_ok(status) ? 0 : 1;
    if (code) fprintf(stderr, "bench: %s\n", hlo_status_message(status));
    hlo_status_free(status);
    hlo_arena_free(&arena);
    return code;
}
