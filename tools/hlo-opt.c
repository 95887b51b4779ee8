// hlo-opt: reads HLO modules, runs passes or a platform's stages on them, and prints the result.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hlo/debug_options.h"
#include "hlo/file.h"
#include "hlo/infer.h"
#include "hlo/listing.h"
#include "hlo/load.h"
#include "hlo/print_flags.h"
#include "hlo/stages.h"
#include "hlo/stats.h"
#include "hlo/watch.h"

typedef struct Options {
    const char *output, *format, *emit, *platform, *stage, *passes, *help, *debug_options_file;
    bool split_input_file, keep_negative_zero, list_passes, list_stages, print_pipeline, verify, stats, version, all;
    bool warn_ignored, emit_proto;
} Options;

#define FLAG(name, kind, field, topic, value, implied, help) \
    { name, HLO_FLAG_##kind, offsetof(Options, field), topic, value, implied, help }

static const HloFlag flags[] = {
    FLAG("o", TEXT, output, "files", "FILE", NULL, "write to FILE; - is standard output (default)"),
    FLAG("format", TEXT, format, "files", "FORMAT", NULL,
         "format of the input: hlo, txt, pb or pbtxt (a snapshot or module in protocol buffers); default: its "
         "extension"),
    FLAG("emit", TEXT, emit, "files", "FORMAT", NULL, "format of the result: hlo (default), pb or pbtxt"),
    FLAG("emit-proto", BOOL, emit_proto, "files", NULL, NULL,
         "only read the input and write it as pbtxt; no passes run"),
    FLAG("split-input-file", BOOL, split_input_file, "files", NULL, NULL, "read several modules, split at `// -----`"),
    FLAG("keep-negative-zero", BOOL, keep_negative_zero, "files", NULL, NULL,
         "read -0 in constants as minus zero; without it -0 is 0, as the reference reads it (-0.0 is always minus "
         "zero)"),
    FLAG("passes", TEXT, passes, "passes", "PIPELINE", NULL, "run these passes, as a,b{option=value},fix(c,d)"),
    FLAG("list-passes", BOOL, list_passes, "passes", NULL, NULL, "name the platform's passes"),
    FLAG("print-pipeline", BOOL, print_pipeline, "passes", NULL, NULL,
         "print the pipeline of --passes or of the platform so that --passes reads it back; `name?` does not exist "
         "here"),
    FLAG("verify", BOOL, verify, "verify", NULL, NULL, "only check that the modules obey the rules of HLO"),
    FLAG("platform", TEXT, platform, "stages", "NAME", NULL, "transforms (default), cpu or gpu"),
    FLAG("stage", TEXT, stage, "stages", "NAME", NULL, "run the platform's pipeline up to this stage and show it"),
    FLAG("list-stages", BOOL, list_stages, "stages", NULL, NULL, "name the platform's stages"),
    FLAG("stats", BOOL, stats, "printing", NULL, NULL, "print statistics of the result instead of its text"),
    FLAG("debug_options_file", TEXT, debug_options_file, "xla", "FILE", NULL,
         "read compiler options from FILE; XLA_FLAGS and the command line win over it"),
    FLAG("warn-ignored-flags", BOOL, warn_ignored, "xla", NULL, NULL,
         "tell which of the given compiler options change nothing here"),
    FLAG("help", TEXT, help, "help", "TOPIC", "", "explain a topic's flags, or those of all topics"),
    FLAG("all", BOOL, all, "help", NULL, NULL, "with --help=xla: compiler options without effect here, too"),
    FLAG("version", BOOL, version, "help", NULL, NULL, "print the version"),
};

// One run of the program.
typedef struct Run {
    int argc;
    char **argv;
    HloArena arena;
    Options options;
    HloLoadOptions load;
    HloWatchOptions watching;
    HloDebugOptions debug;
    HloPrintFlags print_flags;
    HloFlagSet sets[6];
    HloPlatform platform;
    HloPrintOptions print;
    HloElement *pipeline;  // NULL without --passes
    HloRunner runner;
    HloDump *dump;  // NULL: nothing is dumped
    HloBuffer out;
    HloDrain drain;         // of `out`, when a single module is printed
    HloFileWriter *writer;  // NULL before something is written
} Run;

// ---- what is shown without reading a module --------------------------------------------------------------

static HloStatus put_help(Run *run) {
    const char *topic = run->options.help;
    if (!*topic) {
        hlo_put_string(&run->out,
                       "usage: hlo-opt [flags] FILE\n\n"
                       "Reads HLO modules from FILE (- is standard input), runs passes or a platform's stages\n"
                       "on them, and prints the result. Flags by topic; --help=TOPIC explains them:\n\n");
        hlo_flags_topics(run->sets, HLO_COUNT(run->sets), &run->out);
        return hlo_ok();
    }
    HLO_TRY(hlo_flags_help_topic(run->sets, HLO_COUNT(run->sets), topic, &run->out));
    if (strcmp(topic, "xla") == 0) {
        hlo_put_char(&run->out, '\n');
        hlo_debug_options_help(&run->out, run->options.all);
    }
    if (strcmp(topic, "passes") != 0) return hlo_ok();
    hlo_put_string(&run->out, "\nThe passes and their options:\n");
    return hlo_put_pass_manual(&run->out);
}

static HloStatus put_pipeline(Run *run) {
    if (!run->pipeline) return hlo_put_platform_pipeline(run->platform, &run->debug, &run->out);
    hlo_pipeline_print_lines(run->pipeline, &run->out);
    return hlo_ok();
}

static HloStatus put_information(Run *run, bool *done) {
    const Options *options = &run->options;
    *done = true;
    if (options->help) return put_help(run);
    if (options->version) {
        hlo_put_string(&run->out, "hlo-opt " HLO_VERSION "\n");
        return hlo_ok();
    }
    if (options->list_stages) {
        hlo_put_stages(run->platform, &run->out);
        return hlo_ok();
    }
    if (options->list_passes) return hlo_put_pass_names(run->platform, &run->out);
    if (options->print_pipeline) return put_pipeline(run);
    *done = false;
    return hlo_ok();
}

// ---- modules ---------------------------------------------------------------------------------------------

static bool emits(const Run *run, const char *format) {
    return strcmp(run->options.emit, format) == 0;
}

static HloStatus put_result(Run *run, const HloModule *m) {
    if (run->options.stats) return hlo_put_module_stats(&run->out, m);
    if (emits(run, "pb")) return hlo_proto_write_module(m, HLO_PROTO_BINARY, &run->out);
    if (emits(run, "pbtxt")) {
        HLO_TRY(hlo_proto_write_module(m, HLO_PROTO_TEXT, &run->out));
        hlo_put_char(&run->out, '\n');
        return hlo_ok();
    }
    hlo_print_module(m, &run->print, &run->out);
    hlo_put_char(&run->out, '\n');
    return hlo_ok();
}

static HloStatus run_pipeline(Run *run, HloModule *m) {
    bool changed;
    HLO_TRY(hlo_dump_stage(run->dump, m, "before_optimization", NULL, 0));
    HLO_TRY(hlo_pipeline_run(run->pipeline, m, &run->runner, &changed));
    HLO_TRY(hlo_dump_stage(run->dump, m, "after_optimization", NULL, 0));
    return put_result(run, m);
}

// Stages that end in a module can show it in other forms than their own text.
static HloStatus run_stage(Run *run, HloModule *m) {
    HloCpuRun cpu = {.options = &run->debug, .runner = &run->runner, .dump = run->dump};
    const char *stage = run->options.stage;
    if (emits(run, "hlo")) {
        HLO_TRY(hlo_stage_run(run->platform, stage, m, &cpu, &run->print, &run->out));
        hlo_put_char(&run->out, '\n');
        return hlo_ok();
    }
    if (strcmp(stage, "hlo") != 0 && strcmp(stage, "hlo-backend") != 0)
        return hlo_error(HLO_INVALID_ARGUMENT, "stage %s does not end in a module that could be emitted as %s", stage,
                         run->options.emit);
    HloBuffer text = {0};
    HloStatus status = hlo_stage_run(run->platform, stage, m, &cpu, &run->print, &text);
    hlo_buffer_free(&text);
    return hlo_is_ok(status) ? put_result(run, m) : status;
}

static HloStatus process_module(Run *run, HloModule *m) {
    run->runner.started = false;  // each module waits anew for the pass that the run starts from
    bool only_prints = run->options.emit_proto || (!run->pipeline && run->platform == HLO_PLATFORM_TRANSFORMS);
    if (only_prints && !run->options.verify) return put_result(run, m);
    if (run->options.verify) return hlo_verify_module(m, &run->watching.rules);
    HLO_TRY(hlo_verify_module(m, &(HloVerifyOptions){.allow_mixed_precision = true, .allow_fused_dead_code = true}));
    hlo_dump_begin(run->dump, m);
    if (run->pipeline) return run_pipeline(run, m);
    return run_stage(run, m);
}

static void note_absent_passes(const Run *run) {
    HloBuffer names = {0};
    if (run->pipeline) hlo_pipeline_put_absent(run->pipeline, &names);
    if (names.size) fprintf(stderr, "note: passes that do not exist here are left out: %s\n", names.data);
    hlo_buffer_free(&names);
}

static HloStatus process_watched(Run *run, const HloModuleList *modules) {
    HloWatch *watch;
    HLO_TRY(hlo_dump_observe(run->dump, &run->runner, &run->watching.first));
    HLO_TRY(hlo_watch_start(&run->watching, &run->debug, &run->print, hlo_stream_sink(stderr), isatty(STDERR_FILENO),
                            &run->runner, &watch));
    HloStatus status = hlo_ok();
    note_absent_passes(run);
    if (modules->count == 1) run->out.drain = &run->drain;
    for (size_t i = 0; i < modules->count && hlo_is_ok(status); i++) status = process_module(run, modules->items[i]);
    hlo_watch_end(watch);
    return status;
}

static HloStatus process_modules(Run *run, const HloModuleList *modules) {
    // Dumps to standard output come before the result: what a failing run has dumped is then seen.
    HLO_TRY(hlo_dump_new(&run->debug, hlo_stream_sink(stdout), hlo_stream_sink(stderr), &run->dump));
    HloStatus status = process_watched(run, modules);
    hlo_dump_free(run->dump);
    return status;
}

// What protocol buffers hold and a module does not, a line each.
static void show_notes(const HloBuffer *notes) {
    for (const char *line = notes->data, *end; line && (end = strchr(line, '\n')); line = end + 1)
        fprintf(stderr, "warning: %.*s\n", (int)(end - line), line);
}

static HloStatus load_modules(Run *run, const char *path, HloModuleList *modules) {
    HloBuffer notes = {0};
    run->load.format = run->options.format;
    run->load.split = run->options.split_input_file;
    run->load.drop_zero_sign = !run->options.keep_negative_zero;
    run->load.notes = &notes;
    HloStatus status = hlo_modules_load(path, &run->load, modules);
    show_notes(&notes);
    hlo_buffer_free(&notes);
    return status;
}

static HloStatus process_input(Run *run, const char *path) {
    HloModuleList modules;
    HLO_TRY(load_modules(run, path, &modules));
    HloStatus status = hlo_ok();
    if (emits(run, "pb") && modules.count != 1)
        status = hlo_error(HLO_INVALID_ARGUMENT, "--emit=pb writes one module, but the input has %zu", modules.count);
    if (hlo_is_ok(status)) status = process_modules(run, &modules);
    hlo_module_list_free(&modules);
    // One newline more on standard output than in a file, as the reference has it.
    bool text = (run->out.size || run->drain.used) && !run->options.stats && !emits(run, "pb");
    if (text && strcmp(run->options.output, "-") == 0) hlo_put_char(&run->out, '\n');
    return status;
}

// ---- the run ---------------------------------------------------------------------------------------------

static void warn_ignored_flags(const HloDebugOptions *options) {
    HloBuffer text = {0};
    hlo_put_ignored_options(&text, options);
    if (text.size) fputs(text.data, stderr);
    hlo_buffer_free(&text);
}

static HloStatus read_flags(Run *run, HloVec *inputs) {
    Options *options = &run->options;
    *options = (Options){.output = "-", .emit = "hlo", .platform = "transforms", .stage = "hlo"};
    run->watching = hlo_watch_default();
    run->debug = hlo_debug_options_default();
    run->sets[0] = (HloFlagSet){.flags = flags, .count = HLO_COUNT(flags), .options = options};
    run->sets[1] = hlo_watch_flags(&run->watching);
    run->sets[2] = hlo_load_flags(&run->load);
    run->sets[3] = hlo_debug_option_flags(&run->debug);
    run->sets[4] = hlo_print_flags(&run->print_flags);
    HLO_TRY(hlo_debug_options_collect(&run->arena, &run->sets[3], getenv("XLA_FLAGS"), run->argc, run->argv));
    run->sets[5] = hlo_verify_flags(&run->watching.rules);
    HLO_TRY(hlo_flags_parse(&run->arena, run->sets, HLO_COUNT(run->sets), run->argc, run->argv, inputs));
    if (options->warn_ignored) warn_ignored_flags(&run->debug);
    run->print = hlo_debug_print_options(&run->debug);
    HLO_TRY(hlo_debug_pass_filter(&run->debug, &run->runner.filter));
    HLO_TRY(hlo_print_flags_apply(&run->print_flags, &run->print));
    if (options->emit_proto) options->emit = "pbtxt";
    if (!emits(run, "hlo") && !emits(run, "pb") && !emits(run, "pbtxt"))
        return hlo_error(HLO_INVALID_ARGUMENT, "--emit: unknown format '%s'; expected hlo, pb or pbtxt", options->emit);
    HLO_TRY(hlo_platform_find(options->platform, &run->platform));
    if (!options->passes || !*options->passes) return hlo_ok();
    return hlo_pipeline_parse(&run->arena, "transforms_pipeline", hlo_view(options->passes), &run->pipeline);
}

static HloStatus fill_output(void *data) {
    Run *run = data;
    HloVec inputs = {0};
    bool done;
    HLO_TRY(read_flags(run, &inputs));
    HLO_TRY(put_information(run, &done));
    if (done) return hlo_ok();
    if (inputs.count != 1) {
        return hlo_error(HLO_INVALID_ARGUMENT, "Must specify a single input file, found %u; see --help", inputs.count);
    }
    return process_input(run, inputs.items[0]);
}

static HloStatus write_piece(void *data, const char *text, size_t size) {
    Run *run = data;
    if (!run->writer) HLO_TRY(hlo_file_begin(run->options.output, &run->writer));
    return hlo_file_append(run->writer, (HloStringView){text, size});
}

static HloStatus finish_output(Run *run) {
    HloStatus failure = run->drain.failure;
    run->drain.failure = hlo_ok();
    HLO_TRY(failure);
    HLO_TRY(hlo_buffer_status(&run->out));
    HLO_TRY(write_piece(run, run->out.data, run->out.size));
    HloFileWriter *writer = run->writer;
    run->writer = NULL;
    return hlo_file_finish(writer);
}

static HloStatus run_all(Run *run) {
    run->drain = (HloDrain){.take = write_piece, .data = run};
    HLO_TRY(hlo_guarded((HloArena *const[]){&run->arena, NULL}, fill_output, run));
    return finish_output(run);
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);  // a closed pipe is then a failed write with a message
    Run run = {.argc = argc, .argv = argv};
    HloStatus status = run_all(&run);
    if (!hlo_is_ok(status)) {
        fprintf(stderr, "%s: %s\n", hlo_code_name(hlo_status_code(status)), hlo_status_message(status));
    }
    int code = hlo_is_ok(status) ? 0 : 1;
    hlo_status_free(status);
    hlo_status_free(run.drain.failure);
    hlo_file_abandon(run.writer);
    hlo_buffer_free(&run.out);
    hlo_arena_free(&run.arena);
    return code;
}
