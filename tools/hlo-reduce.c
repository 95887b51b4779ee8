// hlo-reduce: makes a module small while it still shows what it should not.
//
//   hlo-reduce --numerics --passes=algsimp -o small.hlo module.hlo
//   hlo-reduce --fails='RET_CHECK' --platform=cpu module.hlo
//   hlo-reduce --command='! run_hlo_module --platform=cpu %s' module.hlo

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "hlo/debug_options.h"
#include "hlo/file.h"
#include "hlo/infer.h"
#include "hlo/load.h"
#include "hlo/predicate_flags.h"
#include "hlo/print_flags.h"
#include "hlo/reduce.h"

typedef struct Options {
    const char *fails, *output, *help;
    int64_t questions;
    bool quiet;
} Options;

#define FLAG(name, kind, field, topic, value, implied, help) \
    { name, HLO_FLAG_##kind, offsetof(Options, field), topic, value, implied, help }

static const HloFlag flags[] = {
    FLAG("fails", TEXT, fails, "predicates", "REGEX", ".",
         "the passes fail, or break a rule of HLO, with such a message (default: with any)"),
    FLAG("questions", INT, questions, "search", "N", NULL,
         "ask no more than N times; the result may then be no minimum"),
    FLAG("o", TEXT, output, "output", "FILE", NULL, "write the module there instead of to standard output"),
    FLAG("quiet", BOOL, quiet, "output", NULL, NULL, "show no progress"),
    FLAG("help", TEXT, help, "help", "TOPIC", "", "explain a topic's flags, or those of all topics"),
};

typedef struct Run {
    int argc;
    char **argv;
    HloArena arena;
    Options options;
    HloPredicateFlags predicate_flags;
    HloLoadOptions load;
    HloDebugOptions debug;
    HloPrintFlags print_flags;
    HloFlagSet sets[5];
    HloRunQuestionOptions question;
    HloRegex *fails;
    HloBuffer out;
} Run;

static HloStatus read_flags(Run *run, HloVec *inputs) {
    run->load.drop_zero_sign = true;  // as hlo-opt reads
    run->debug = hlo_debug_options_default();
    run->sets[0] = hlo_predicate_flags(&run->predicate_flags);
    run->sets[1] = (HloFlagSet){.flags = flags, .count = HLO_COUNT(flags), .options = &run->options};
    run->sets[2] = hlo_load_flags(&run->load);
    run->sets[3] = hlo_debug_option_flags(&run->debug);
    run->sets[4] = hlo_print_flags(&run->print_flags);
    HLO_TRY(hlo_debug_options_collect(&run->arena, &run->sets[3], getenv("XLA_FLAGS"), run->argc, run->argv));
    HLO_TRY(hlo_flags_parse(&run->arena, run->sets, HLO_COUNT(run->sets), run->argc, run->argv, inputs));
    run->question.print = hlo_debug_print_options(&run->debug);
    run->question.print.large_constants = true;  // the text is to be read again
    return hlo_print_flags_apply(&run->print_flags, &run->question.print);
}

static HloStatus put_help(Run *run) {
    const char *topic = run->options.help;
    if (*topic) return hlo_flags_help_topic(run->sets, HLO_COUNT(run->sets), topic, &run->out);
    hlo_put_string(&run->out,
                   "usage: hlo-reduce PREDICATE [--passes=PIPELINE | --platform=cpu] [-o FILE] FILE\n\n"
                   "Makes a module small while the predicate stays true of it, or of what the passes make of "
                   "it.\nThese cuts are tried, until none is possible anywhere:\n\n");
    hlo_put_cuts(&run->out);
    hlo_put_string(&run->out, "\nFlags by topic; --help=TOPIC explains them:\n\n");
    hlo_flags_topics(run->sets, HLO_COUNT(run->sets), &run->out);
    return hlo_ok();
}

// ---- the question ---------------------------------------------------------------------------------------

static HloStatus make_predicate(void *data, HloPredicate **out) {
    return hlo_predicate_flags_make(data, out);
}

static HloStatus check_flags(const Run *run) {
    const HloPredicateFlags *p = &run->predicate_flags;
    int count = hlo_predicate_flags_count(p) + !!run->options.fails;
    bool has_passes = p->passes || p->platform;
    if (count != 1) {
        return hlo_error(HLO_INVALID_ARGUMENT,
                         "one of --appears, --vanishes, --command, --fails, --invalid and --numerics is needed, found "
                         "%d; see --help",
                         count);
    }
    if (p->passes && p->platform) {
        return hlo_error(HLO_INVALID_ARGUMENT, "--passes and --platform cannot be given together");
    }
    if (!has_passes && (p->invalid || p->numerics || run->options.fails)) {
        return hlo_error(HLO_INVALID_ARGUMENT, "--%s asks what passes do: --passes or --platform is needed",
                         p->invalid    ? "invalid"
                         : p->numerics ? "numerics"
                                       : "fails");
    }
    return hlo_ok();
}

static HloStatus make_question(Run *run, const HloModule *m) {
    const HloPredicateFlags *p = &run->predicate_flags;
    HloElement *list = NULL;
    if (p->passes || p->platform) HLO_TRY(hlo_predicate_flags_list(&run->arena, p, &run->debug, m, &list));
    run->question.passes = list;
    run->question.data = &run->predicate_flags;
    run->question.compares = p->numerics;
    if (!run->options.fails) {
        run->question.make = make_predicate;
        return hlo_ok();
    }
    HLO_TRY(hlo_regex_new(run->options.fails, &run->fails));
    run->question.fails = run->fails;
    return hlo_ok();
}

// ---- reducing -------------------------------------------------------------------------------------------

static void show_progress(void *data, const HloReduceProgress *progress) {
    (void)data;
    if (!progress->cut) {
        fprintf(stderr, "%zu instructions, %llu asked\n", progress->instructions, (unsigned long long)progress->asked);
        return;
    }
    fprintf(stderr, "  %-16s at %-6zu %zu instructions, %zu parameters, %llu asked\n", progress->cut, progress->places,
            progress->instructions, progress->parameters, (unsigned long long)progress->asked);
}

static HloStatus reduce(Run *run, const HloModule *m) {
    HloModule *small;
    HLO_TRY(hlo_verify_module(m, &(HloVerifyOptions){.allow_mixed_precision = true, .allow_fused_dead_code = true}));
    HLO_TRY(make_question(run, m));
    HloReduceOptions options = {.most_questions = run->options.questions > 0 ? (uint64_t)run->options.questions : 0,
                                .progress = run->options.quiet ? NULL : show_progress};
    HLO_TRY(hlo_reduce(m, hlo_run_question(&run->question), &options, &small));
    hlo_print_module(small, &run->question.print, &run->out);
    hlo_module_free(small);
    return hlo_ok();
}

static HloStatus reduce_file(Run *run, const char *path) {
    HloModuleList list;
    HLO_TRY(hlo_modules_load(path, &run->load, &list));
    HloStatus status = list.count == 1 ? reduce(run, list.items[0])
                                       : hlo_error(HLO_INVALID_ARGUMENT, "'%s' holds several modules", path);
    hlo_module_list_free(&list);
    return status;
}

static HloStatus run_all(void *data) {
    Run *run = data;
    HloVec inputs = {0};
    HLO_TRY(read_flags(run, &inputs));
    if (run->options.help) return put_help(run);
    HLO_TRY(check_flags(run));
    if (inputs.count != 1) {
        return hlo_error(HLO_INVALID_ARGUMENT, "Must specify a single input file, found %u; see --help", inputs.count);
    }
    return reduce_file(run, inputs.items[0]);
}

static HloStatus write_out(Run *run) {
    HLO_TRY(hlo_guarded((HloArena *const[]){&run->arena, NULL}, run_all, run));
    HLO_TRY(hlo_buffer_status(&run->out));
    const char *path = run->options.output && !run->options.help ? run->options.output : "-";
    return hlo_file_write(path, (HloStringView){run->out.data, run->out.size});
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);  // a closed pipe is then a failed write with a message
    Run run = {.argc = argc, .argv = argv};
    HloStatus status = write_out(&run);
    int code = hlo_is_ok(status) ? 0 : 1;
    if (code) fprintf(stderr, "%s: %s\n", hlo_code_name(hlo_status_code(status)), hlo_status_message(status));
    hlo_status_free(status);
    hlo_regex_free(run.fails);
    hlo_buffer_free(&run.out);
    hlo_arena_free(&run.arena);
    return code;
}
