// hlo-bisect: finds the first pass, and in it the first rewrite, that makes a predicate true of a module.
//
//   hlo-bisect --platform=cpu --appears='custom-call.*gemm' module.hlo
//   hlo-bisect --passes=algsimp,dce --command='run-test %s' -o repro.hlo module.hlo
//   hlo-bisect --dump-dir=DIR --vanishes='%loss = '

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hlo/debug_options.h"
#include "hlo/file.h"
#include "hlo/infer.h"
#include "hlo/load.h"
#include "hlo/predicate_flags.h"
#include "hlo/print_flags.h"
#include "hlo/shell.h"

enum { FOUND = 0, NOT_FOUND = 1, TROUBLE = 2, DIFF_CONTEXT = 2 };

typedef struct Options {
    const char *differs_from, *dump_dir, *module, *search, *output, *colour, *help;
} Options;

#define FLAG(name, kind, field, topic, value, implied, help) \
    { name, HLO_FLAG_##kind, offsetof(Options, field), topic, value, implied, help }

static const HloFlag flags[] = {
    FLAG("differs-from", TEXT, differs_from, "predicates", "FILE", NULL, "its text is not that of the module in FILE"),
    FLAG("dump-dir", TEXT, dump_dir, "search", "DIR", NULL, "search the dumps in a folder, without running anything"),
    FLAG("module", TEXT, module, "search", "REGEX", NULL, "with --dump-dir: only modules with such names"),
    FLAG("search", TEXT, search, "search", "HOW", NULL,
         "linear: ask after every step, which finds the first one; binary: halve, for predicates that stay true; auto "
         "(default): passes linear, or binary for --command and --numerics; rewrites binary"),
    FLAG("o", TEXT, output, "output", "FILE", NULL, "write the module as it was before the pass, with the commands"),
    FLAG("color", TEXT, colour, "output", "WHEN", NULL, "auto (default), always or never"),
    FLAG("help", TEXT, help, "help", "TOPIC", "", "explain a topic's flags, or those of all topics"),
};

typedef struct Run {
    int argc;
    char **argv;
    HloArena arena;
    Options options;
    HloLoadOptions load;
    HloDebugOptions debug;
    HloPrintFlags print_flags;
    HloPredicateFlags predicate_flags;
    HloFlagSet sets[5];
    HloBisectOptions bisect;
    HloPredicate *predicate;
    HloBuffer out;
    bool found;
} Run;

// ---- flags ----------------------------------------------------------------------------------------------

static HloStatus read_words(Run *run) {
    static const char *const searches[] = {"auto", "linear", "binary"};
    static const HloBisectSearch kinds[] = {HLO_BISECT_AUTO, HLO_BISECT_LINEAR, HLO_BISECT_BINARY};
    size_t k = 0;
    HLO_TRY(hlo_flag_choose("search", run->options.search, searches, HLO_COUNT(searches), &k));
    run->bisect.search = kinds[k];
    return hlo_flag_read_colour(run->options.colour, isatty(STDOUT_FILENO), &run->bisect.colour);
}

static HloStatus read_flags(Run *run, HloVec *inputs) {
    Options *options = &run->options;
    *options = (Options){.search = "auto", .colour = "auto"};
    run->load.drop_zero_sign = true;  // as hlo-opt reads
    run->debug = hlo_debug_options_default();
    run->sets[0] = hlo_predicate_flags(&run->predicate_flags);
    run->sets[1] = (HloFlagSet){.flags = flags, .count = HLO_COUNT(flags), .options = options};
    run->sets[2] = hlo_load_flags(&run->load);
    run->sets[3] = hlo_debug_option_flags(&run->debug);
    run->sets[4] = hlo_print_flags(&run->print_flags);  // of the text that predicates and diffs see
    HLO_TRY(hlo_debug_options_collect(&run->arena, &run->sets[3], getenv("XLA_FLAGS"), run->argc, run->argv));
    HLO_TRY(hlo_flags_parse(&run->arena, run->sets, HLO_COUNT(run->sets), run->argc, run->argv, inputs));
    run->bisect.print = hlo_debug_print_options(&run->debug);
    run->bisect.print.large_constants = true;  // a wrong constant may be a large one
    HLO_TRY(hlo_print_flags_apply(&run->print_flags, &run->bisect.print));
    run->bisect.context = DIFF_CONTEXT;
    if (*run->debug.xla_fuel) {
        return hlo_error(HLO_INVALID_ARGUMENT, "hlo-bisect counts rewrites itself and takes no --xla_fuel");
    }
    HLO_TRY(hlo_debug_pass_filter(&run->debug, &run->bisect.filter));
    return read_words(run);
}

static HloStatus put_help(Run *run) {
    const char *topic = run->options.help;
    if (*topic) return hlo_flags_help_topic(run->sets, HLO_COUNT(run->sets), topic, &run->out);
    hlo_put_string(&run->out,
                   "usage: hlo-bisect PREDICATE --passes=PIPELINE FILE\n"
                   "       hlo-bisect PREDICATE --platform=cpu FILE\n"
                   "       hlo-bisect PREDICATE --dump-dir=DIR\n\n"
                   "Finds the first pass, and in it the first rewrite, that makes a predicate true of a module.\n"
                   "Exit status: 0 found, 1 not found, 2 trouble. Flags by topic; --help=TOPIC explains them:\n\n");
    hlo_flags_topics(run->sets, HLO_COUNT(run->sets), &run->out);
    return hlo_ok();
}

// ---- modules and predicates -----------------------------------------------------------------------------

static HloStatus load_one(Run *run, const char *path, HloModuleList *list) {
    HLO_TRY(hlo_modules_load(path, &run->load, list));
    if (list->count == 1) return hlo_ok();
    hlo_module_list_free(list);
    return hlo_error(HLO_INVALID_ARGUMENT, "'%s' holds several modules", path);
}

// The text of the module in a file as the search prints modules, or, for dumps, the file itself.
static HloStatus make_differs(Run *run, const char *path) {
    HloBuffer text = {0};
    HloModuleList list = {0};
    HloStatus status = run->options.dump_dir ? hlo_file_read(path, &text) : load_one(run, path, &list);
    if (hlo_is_ok(status) && list.count) hlo_print_module(list.items[0], &run->bisect.print, &text);
    if (hlo_is_ok(status)) status = hlo_buffer_status(&text);
    if (hlo_is_ok(status)) {
        status = hlo_predicate_differs(path, (HloStringView){text.data, text.size}, &run->predicate);
    }
    if (list.count) hlo_module_list_free(&list);
    hlo_buffer_free(&text);
    return status;
}

static HloStatus make_predicate(Run *run) {
    const Options *o = &run->options;
    int count = hlo_predicate_flags_count(&run->predicate_flags) + !!o->differs_from;
    if (count != 1) {
        return hlo_error(HLO_INVALID_ARGUMENT,
                         "one of --appears, --vanishes, --command, --invalid, --numerics and --differs-from is "
                         "needed, found %d; see --help",
                         count);
    }
    if (o->differs_from) return make_differs(run, o->differs_from);
    return hlo_predicate_flags_make(&run->predicate_flags, &run->predicate);
}

// ---- searching ------------------------------------------------------------------------------------------

// Whether an argument means the same to hlo-opt: the module, and flags that choose and steer passes.
static bool is_shared(const char *argument) {
    static const char *const shared[] = {"passes=", "platform=", "xla_", "format=", "debug_options_file="};
    const char *name = argument + strspn(argument, "-");
    bool is = name == argument || strcmp(argument, "-") == 0;
    for (size_t k = 0; k < HLO_COUNT(shared); k++) is |= strncmp(name, shared[k], strlen(shared[k])) == 0;
    return is;
}

// The command that runs the same passes on the same module.
static void put_source(const Run *run, HloBuffer *out) {
    hlo_put_string(out, "hlo-opt");
    for (int k = 1; k < run->argc; k++) {
        bool has_value = strcmp(run->argv[k], "-o") == 0;
        k += has_value;
        if (has_value || !is_shared(run->argv[k])) continue;
        hlo_put_char(out, ' ');
        hlo_put_shell_word(out, run->argv[k]);
    }
}

static HloStatus report(Run *run, const HloBisectResult *result) {
    const char *path = run->options.output;
    HloBuffer source = {0}, text = {0};
    put_source(run, &source);
    HloBisectCommands commands = {source.data, path};
    run->found = result->outcome == HLO_BISECT_REWRITE || result->outcome == HLO_BISECT_PASS;
    hlo_put_bisect_report(&run->out, result, &commands);
    hlo_put_bisect_reproducer(&text, result, &commands);
    HloStatus status = hlo_buffer_status(&text);
    if (hlo_is_ok(status) && run->found && path) status = hlo_file_write(path, (HloStringView){text.data, text.size});
    hlo_buffer_free(&source);
    hlo_buffer_free(&text);
    return status;
}

static HloStatus search_module(Run *run, const HloModule *m) {
    HloElement *list;
    HloBisectResult result;
    HLO_TRY(hlo_verify_module(m, &(HloVerifyOptions){.allow_mixed_precision = true, .allow_fused_dead_code = true}));
    HLO_TRY(hlo_predicate_flags_list(&run->arena, &run->predicate_flags, &run->debug, m, &list));
    HLO_TRY(hlo_bisect_passes(list, m, run->predicate, &run->bisect, &result));
    HloStatus status = report(run, &result);
    hlo_bisect_result_free(&result);
    return status;
}

static HloStatus search_passes(Run *run, const char *path) {
    HloModuleList list;
    HLO_TRY(load_one(run, path, &list));
    HloStatus status = search_module(run, list.items[0]);
    hlo_module_list_free(&list);
    return status;
}

static HloStatus search_dumps(Run *run) {
    HloDumpBisectOptions options = {.search = run->bisect.search,
                                    .module = run->options.module,
                                    .context = run->bisect.context,
                                    .colour = run->bisect.colour};
    return hlo_bisect_dumps(run->options.dump_dir, run->predicate, &options, &run->out, &run->found);
}

// ---- the run --------------------------------------------------------------------------------------------

static HloStatus run_all(void *data) {
    Run *run = data;
    const Options *o = &run->options;
    HloVec inputs = {0};
    HLO_TRY(read_flags(run, &inputs));
    if (o->help) return put_help(run);
    HLO_TRY(make_predicate(run));
    int places = !!run->predicate_flags.passes + !!run->predicate_flags.platform + !!o->dump_dir;
    if (places != 1) {
        return hlo_error(HLO_INVALID_ARGUMENT,
                         "one of --passes, --platform and --dump-dir is needed, found %d; see --help", places);
    }
    size_t wanted = o->dump_dir ? 0 : 1, given = inputs.count;
    if (given != wanted) {
        return hlo_error(HLO_INVALID_ARGUMENT, "Must specify %s, found %zu; see --help",
                         wanted ? "a single input file" : "no input file with --dump-dir", given);
    }
    return o->dump_dir ? search_dumps(run) : search_passes(run, inputs.items[0]);
}

static HloStatus write_out(Run *run) {
    HLO_TRY(hlo_guarded((HloArena *const[]){&run->arena, NULL}, run_all, run));
    HLO_TRY(hlo_buffer_status(&run->out));
    return hlo_file_write("-", (HloStringView){run->out.data, run->out.size});
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);  // a closed pipe is then a failed write with a message
    Run run = {.argc = argc, .argv = argv};
    HloStatus status = write_out(&run);
    int code = run.found || run.options.help ? FOUND : NOT_FOUND;
    if (!hlo_is_ok(status)) {
        fprintf(stderr, "%s: %s\n", hlo_code_name(hlo_status_code(status)), hlo_status_message(status));
        code = TROUBLE;
    }
    hlo_status_free(status);
    hlo_predicate_free(run.predicate);
    hlo_buffer_free(&run.out);
    hlo_arena_free(&run.arena);
    return code;
}
