// hlo-diff: shows what differs between two HLO modules.

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "hlo/file.h"
#include "hlo/load.h"
#include "hlo/module_diff.h"

enum { EXIT_SAME, EXIT_DIFFERENT, EXIT_TROUBLE };

typedef struct Options {
    const char *output, *format, *colour, *help;
    int64_t context;
    bool stat, ignore_names, metadata, layouts, large_constants, version;
} Options;

#define FLAG(name, kind, field, topic, value, implied, help) \
    { name, HLO_FLAG_##kind, offsetof(Options, field), topic, value, implied, help, NULL }

static const HloFlag flags[] = {
    FLAG("o", TEXT, output, "files", "FILE", NULL, "write to FILE; - is standard output (default)"),
    FLAG("format", TEXT, format, "files", "FORMAT", NULL, "format of both inputs; default: their extensions"),
    FLAG("ignore-names", BOOL, ignore_names, "comparing", NULL, NULL, "a new name is no difference"),
    FLAG("metadata", BOOL, metadata, "comparing", NULL, NULL, "compare metadata and stack frames, too"),
    FLAG("layouts", BOOL, layouts, "comparing", NULL, NULL, "compare layouts (default true)"),
    FLAG("large-constants", BOOL, large_constants, "comparing", NULL, NULL,
         "compare and show all elements of constants (default true); else of those of at most ten"),
    FLAG("context", INT, context, "showing", "N", NULL, "unchanged lines around each change (default 3)"),
    FLAG("stat", BOOL, stat, "showing", NULL, NULL, "only count, by computation and by opcode"),
    FLAG("color", TEXT, colour, "showing", "WHEN", NULL, "auto (default), always or never"),
    FLAG("help", TEXT, help, "help", "TOPIC", "all", "explain a topic's flags, or those of all topics"),
    FLAG("version", BOOL, version, "help", NULL, NULL, "print the version"),
};

typedef struct Run {
    int argc;
    char **argv;
    HloArena arena;
    Options options;
    HloLoadOptions load;
    HloBuffer out;
    bool different;
} Run;

static HloStatus put_help(Run *run, const HloFlagSet *sets, size_t count) {
    hlo_put_string(&run->out,
                   "usage: hlo-diff [flags] BEFORE AFTER\n\n"
                   "Shows what differs between two HLO modules, by computation and instruction. Marks: - removed,\n"
                   "+ added, ~ renamed, > moved in the schedule. Exit status: 0 equal, 1 different, 2 trouble.\n\n");
    if (hlo_flags_help(sets, count, run->options.help, &run->out)) return hlo_ok();
    return hlo_error(HLO_INVALID_ARGUMENT, "no help topic '%s'", run->options.help);
}

static HloStatus compare(Run *run, const char *const names[2], const HloModule *before, const HloModule *after) {
    const Options *options = &run->options;
    HloDiffStyle style = {.context = (size_t)options->context, .names = !options->ignore_names};
    HloPrintOptions print = hlo_print_for_diff();
    HloModuleDiff diff;
    bool is_terminal = strcmp(options->output, "-") == 0 && isatty(STDOUT_FILENO);
    HLO_TRY(hlo_flag_read_colour(options->colour, is_terminal, &style.colour));
    print.metadata = options->metadata;
    print.layouts = options->layouts;
    print.large_constants = options->large_constants;
    HLO_TRY(hlo_module_diff(&run->arena, before, after, &print, &diff));
    run->different = hlo_diff_found(&diff, style.names);
    if (!run->different) return hlo_ok();
    if (options->stat) {
        hlo_put_diff_stat(&run->out, &diff, style.names);
        return hlo_ok();
    }
    hlo_putf(&run->out, "--- %s\n+++ %s\n", names[0], names[1]);
    hlo_put_module_diff(&run->out, &diff, &style);
    return hlo_ok();
}

static HloStatus compare_files(Run *run, const char *const names[2]) {
    HloModuleList before, after;
    run->load.format = run->options.format;
    HLO_TRY(hlo_modules_load(names[0], &run->load, &before));
    HloStatus status = hlo_modules_load(names[1], &run->load, &after);
    if (hlo_is_ok(status)) {
        status = compare(run, names, before.items[0], after.items[0]);
        hlo_module_list_free(&after);
    }
    hlo_module_list_free(&before);
    return status;
}

static HloStatus fill_output(void *data) {
    Run *run = data;
    Options *options = &run->options;
    HloFlagSet sets[] = {{.flags = flags, .count = HLO_COUNT(flags), .options = options}, hlo_load_flags(&run->load)};
    HloVec inputs = {0};
    *options = (Options){.output = "-", .colour = "auto", .context = 3, .layouts = true, .large_constants = true};
    HLO_TRY(hlo_flags_parse(&run->arena, sets, HLO_COUNT(sets), run->argc, run->argv, &inputs));
    if (options->help) return put_help(run, sets, HLO_COUNT(sets));
    if (options->version) {
        hlo_put_string(&run->out, "hlo-diff " HLO_VERSION "\n");
        return hlo_ok();
    }
    if (options->context < 0) return hlo_error(HLO_INVALID_ARGUMENT, "flag '--context' takes no negative number");
    if (inputs.count != 2) {
        return hlo_error(HLO_INVALID_ARGUMENT, "expected two files, found %zu; see --help", (size_t)inputs.count);
    }
    return compare_files(run, (const char *const[]){inputs.items[0], inputs.items[1]});
}

static HloStatus run_all(Run *run) {
    HLO_TRY(hlo_guarded((HloArena *const[]){&run->arena, NULL}, fill_output, run));
    HLO_TRY(hlo_buffer_status(&run->out));
    return hlo_file_write(run->options.output, (HloStringView){run->out.data, run->out.size});
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);  // a closed pipe is then a failed write with a message
    Run run = {.argc = argc, .argv = argv};
    HloStatus status = run_all(&run);
    int code = !hlo_is_ok(status) ? EXIT_TROUBLE : run.different ? EXIT_DIFFERENT : EXIT_SAME;
    if (code == EXIT_TROUBLE)
        fprintf(stderr, "%s: %s\n", hlo_code_name(hlo_status_code(status)), hlo_status_message(status));
    hlo_status_free(status);
    hlo_buffer_free(&run.out);
    hlo_arena_free(&run.arena);
    return code;
}
