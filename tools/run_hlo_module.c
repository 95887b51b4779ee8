// run_hlo_module: compiles a module for the CPU, runs it, and prints, stores or checks the result.
//
// Here are the flags and the files; what a run does stands in run_hlo_module/.

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "hlo/infer.h"
#include "hlo/listing.h"
#include "tools/run_hlo_module/run.h"

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
         "interpreter: replicas to simulate (default: what the module says, or its groups name)"),
    FLAG("num_partitions", INT, partitions, "run", "N",
         "interpreter: partitions of each replica (default: what the module says, or its groups name)"),
    FLAG("max-steps", INT, most_steps, "run", "N",
         "interpreter: give up after N instructions (default: never), so that loops that do not end are told"),
    FLAG("max-loop-trips", INT, most_trips, "run", "N", "interpreter: give up when a loop runs more than N times"),
    FLAG("max-memory", INT, most_bytes, "run", "BYTES", "interpreter: give up when values need more than this"),
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
    HLO_TRY(hlo_eval_count_devices(run->m, &run->options.replicas, &run->options.partitions));
    if (given->replicas) run->options.replicas = given->replicas;
    if (given->partitions) run->options.partitions = given->partitions;
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
    const Options *o = &run->options;
    if (o->most_steps < 0 || o->most_trips < 0 || o->most_bytes < 0)
        return hlo_error(HLO_INVALID_ARGUMENT, "--max-steps, --max-loop-trips and --max-memory must not be negative");
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
