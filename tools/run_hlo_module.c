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
         "run there too, on the same arguments, and compare; `default`, the interpreter, is the default, unless the "
         "result is checked or stored by other flags or comes from there; nothing is none"),
    FLAG("input_format", TEXT, format, "run", "FORMAT",
         "format of the module: hlo, txt, pb or pbtxt; default: its extension"),
    FLAG("run_test_hlo_passes", BOOL, run_passes, "run", NULL,
         "run the pass pipeline on modules without a schedule (default true)"),
    FLAG("run_reference_hlo_passes", BOOL, run_reference_passes, "run", NULL,
         "the same on the reference platform (default true)"),
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
    FLAG("max-memory", INT, most_bytes, "run", "BYTES",
         "interpreter: give up when values need more than this (default: three quarters of the machine's memory)"),
    FLAG("time", BOOL, time, "run", NULL, "tell on standard error how long compiling and running took"),
    FLAG("input", TEXTS, inputs, "values", "FILE|TEXT",
         "next argument: a literal such as 'f32[2] {1, 2}', or a file with one: .npy, .txt, .pb (LiteralProto)"),
    FLAG("input_literals_file", TEXT, input_literals, "values", "FILE",
         "arguments of each iteration, as the message RunHloModuleLiterals, binary or text"),
    FLAG("infeed", TEXTS, infeeds, "values", "FILE|TEXT", "interpreter: next value that an infeed gets, as in --input"),
    FLAG("random_init_input_literals", BOOL, random_init, "values", NULL,
         "make arguments up (default true); otherwise they are zeros"),
    FLAG("use_large_float_range", BOOL, large_floats, "values", NULL,
         "make up floats of all magnitudes: powers of two of either sign"),
    FLAG("different_random_seeds", BOOL, different_seeds, "values", NULL,
         "interpreter: seed `rng` with the number of the iteration instead of 42"),
    FLAG("inputs-dir", TEXT, inputs_dir, "values", "DIR", "argument number N is DIR/N.npy"),
    FLAG("expect", TEXTS, expected, "values", "FILE", "next leaf of the expected result, an .npy file"),
    FLAG("expect-dir", TEXT, expect_dir, "values", "DIR", "leaf number N of the expected result is DIR/N.npy"),
    FLAG("abs_error_bound", FLOAT, abs, "values", "X", "absolute error that is no mismatch (default 0.001)"),
    FLAG("rel_error_bound", FLOAT, rel, "values", "X", "relative error that is no mismatch (default 0.001)"),
    FLAG("print_literals", BOOL, print_literals, "output", NULL, "print arguments and result"),
    FLAG("output_literals_file", TEXT, output_literals, "output", "FILE",
         "write arguments and results of each iteration as a binary RunHloModuleLiterals"),
    FLAG("outfeed-dir", TEXT, outfeed_dir, "output", "DIR",
         "interpreter: write what outfeeds send to DIR/0.npy, DIR/1.npy, …"),
    FLAG(
        "output-dir", TEXT, output_dir, "output", "DIR",
        "write the result's leaves to DIR/0.npy, DIR/1.npy, …, those of other devices than the first to folders in it"),
    FLAG("debug_options_file", TEXT, debug_options_file, "xla", "FILE",
         "read compiler options from FILE; XLA_FLAGS and --xla_… win over it"),
    {"help", HLO_FLAG_TEXT, offsetof(Options, help), "help", "TOPIC", "",
     "explain a topic's flags, or those of all topics"},
};

// The literals live in a module of their own: they serve all files.
static HloStatus read_given(Run *run) {
    HloBuffer bytes = {0};
    const char *path = run->options.input_literals;
    if (!path || !*path) return hlo_ok();
    run->given_home = hlo_module_new("literals");
    if (!run->given_home) return hlo_out_of_memory();
    HloStatus status = hlo_file_read(path, &bytes);
    if (hlo_is_ok(status)) {
        HloStringView view = {bytes.data ? bytes.data : "", bytes.size};
        status = hlo_run_literals_read(view, path, run->given_home, &run->given);
    } else {
        status = hlo_error_context(status, "Failed to deserialize input literals from file %s", path);
    }
    hlo_buffer_free(&bytes);
    return status;
}

// Devices are as many as the flags say, or the module.
static HloStatus count_devices(Run *run) {
    int64_t replicas = run->options.replicas, partitions = run->options.partitions;
    HLO_TRY(hlo_eval_count_devices(run->m, &run->options.replicas, &run->options.partitions));
    if (replicas) run->options.replicas = replicas;
    if (partitions) run->options.partitions = partitions;
    bool known = run->options.replicas >= 1 && run->options.partitions >= 1 && run->options.replicas <= 1024 &&
                 run->options.partitions <= 1024;
    if (known || !is_interpreter(run->options.platform)) return hlo_ok();
    return hlo_error(HLO_INVALID_ARGUMENT, "replicas and partitions must be between 1 and 1024");
}

static bool compares(const Run *run) {
    return run->options.reference && !run->options.first_difference;
}

static HloStatus load(Run *run, const char *path, HloModuleList *modules) {
    HLO_TRY(hlo_modules_load(path, &run->load, modules));
    if (!modules->count) return hlo_error(HLO_INVALID_ARGUMENT, "the file holds no module");
    run->m = modules->items[0];
    run->snapshot = modules->snapshot;
    warn_of_elided(run->m);
    HLO_TRY(count_devices(run));
    if (!compares(run)) return hlo_ok();
    return add_line(hlo_verify_module(run->m, &(HloVerifyOptions){.allow_mixed_precision = true}), "(on HloRunner)");
}

static HloStatus run_module(Run *run, HloStatus loaded) {
    if (compares(run)) return compare_platforms(run, loaded);
    HLO_TRY(loaded);
    return run->options.isolate            ? isolate_instructions(run)
           : run->options.first_difference ? find_difference(run)
                                           : run_and_show(run);
}

static HloStatus run_file(Run *run, const char *path) {
    HloModuleList modules = {0};
    const Options given = run->options;
    run->snapshot = (HloSnapshot){0};
    run->random = (HloRandom){1, run->options.large_floats, !run->options.random_init};
    run->values = (HloVec){0};
    run->load.format = run->options.format;
    HloStatus status = run_module(run, load(run, path, &modules));
    if (hlo_is_ok(status)) status = write_values(run);
    run->options = given;
    hlo_module_list_free(&modules);
    return status;
}

static HloStatus announce(Run *run, const char *path) {
    hlo_putf(&run->out, "\n ** Running %s** \n", path);
    return flush(run);
}

// A file that fails does not keep the others from running, when there are several.
static HloStatus run_files(Run *run, const HloVec *files) {
    bool alone = files->count == 1;
    if (!files->count) return hlo_error(HLO_INVALID_ARGUMENT, "Input HLO file missing.");
    for (size_t k = 0; k < files->count; k++) {
        if (!alone || compares(run)) HLO_TRY(announce(run, files->items[k]));
        HloStatus status = run_file(run, files->items[k]);
        if (alone) return status;
        HLO_TRY(flush(run));
        tell(status);
        run->failures += !hlo_is_ok(status);
        hlo_status_free(status);
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
    HloStatus status = hlo_platform_find(name, &platform);
    bool known = hlo_is_ok(status) && platform != HLO_PLATFORM_TRANSFORMS;
    hlo_status_free(status);
    if (!known)
        return hlo_error(HLO_INVALID_ARGUMENT, "Unknown platform name %s; expected cpu, host or interpreter", name);
    if (platform == HLO_PLATFORM_CPU) return hlo_ok();
    return hlo_error(HLO_UNIMPLEMENTED, "platform %s cannot run modules", name);
}

// What --reference_platform is when it is not given.
static const char *usual_reference(const Options *options) {
    bool has_other_use = options->expected.count || options->expect_dir || options->output_dir || options->time;
    return has_other_use || is_interpreter(options->platform) ? NULL : "default";
}

static HloStatus check_platforms(const Options *options) {
    if (!*options->platform) return hlo_error(HLO_INVALID_ARGUMENT, "Must pass --platform flag.");
    HLO_TRY(check_platform(options->platform));
    bool has_reference = options->reference && *options->reference && !is_default(options->reference);
    return has_reference ? check_platform(options->reference) : hlo_ok();
}

static HloStatus run_all(void *data) {
    Run *run = data;
    HloVec files = {0};
    run->options = (Options){.platform = "",
                             .run_passes = true,
                             .run_reference_passes = true,
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
    if (!run->options.reference) run->options.reference = usual_reference(&run->options);
    if (!o->most_bytes) run->options.most_bytes = (int64_t)hlo_memory_budget();
    HLO_TRY(check_platforms(&run->options));
    HLO_TRY(read_given(run));
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
    tell(status);
    int code = !hlo_is_ok(status) ? 1 : run.failures ? 255 : 0;
    hlo_status_free(status);
    hlo_buffer_free(&run.out);
    if (run.given_home) hlo_module_free(run.given_home);
    hlo_arena_free(&run.arena);
    return code;
}
