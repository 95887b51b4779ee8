// From flags to observers.

#include "hlo/watch.h"

#include <stdlib.h>

#include "hlo/fuel.h"
#include "hlo/regex.h"

enum { MOST_OBSERVERS = 7, DIFF_CONTEXT = 2 };

struct HloWatch {
    HloRunner *runner;
    HloSink sink;
    HloSink trace;  // the sink behind the filter below
    HloRegex *changed_filter, *trace_filter;
    HloPassObserver *observers[MOST_OBSERVERS];
    size_t observer_count;
    const HloPassObserver *called[MOST_OBSERVERS + 1];  // by the runner: the program's own and these
    const HloPassObserver *times;                       // one of the observers, or NULL
    bool times_as_json;
    HloArena arena;
};

#define FLAG(name, kind, field, value, implied, help) \
    { name, HLO_FLAG_##kind, offsetof(HloWatchOptions, field), "watching", value, implied, help }

static const HloFlag flags[] = {
    FLAG("print-changed", TEXT, print_changed, "REGEX", "", "show what passes change, to standard error"),
    FLAG("changed-style", TEXT, changed_style, "STYLE", NULL, "how: diff (default), or text: the whole module"),
    FLAG("trace-rewrites", TEXT, trace_rewrites, "REGEX", "", "write a line for every rewrite: number, pass, rule"),
    FLAG("rewrite-limit", INT, rewrite_limit, "N", NULL, "stop rewriting after the first N rewrites"),
    FLAG("verify-each", BOOL, verify_each, NULL, NULL, "verify the module before and after every pass"),
    FLAG("check-claims", BOOL, check_claims, NULL, NULL, "fail when a pass changes the module without saying so"),
    FLAG("check-numerics", INT, check_numerics, "SEED", "1",
         "evaluate the module before and after every pass, on made-up arguments, and fail when results differ"),
    FLAG("time-passes", TEXT, time_passes, "FORM", "table",
         "write runs, rewrites and times, slowest pass first, as table (default) or json"),
    FLAG("color", TEXT, colour, "WHEN", NULL, "auto (default), always or never"),
};

HloWatchOptions hlo_watch_default(void) {
    return (HloWatchOptions){.changed_style = "diff", .colour = "auto", .rules = {.allow_mixed_precision = true}};
}

HloFlagSet hlo_watch_flags(HloWatchOptions *options) {
    return (HloFlagSet){.flags = flags, .count = HLO_COUNT(flags), .options = options};
}

static HloStatus watch_changes(HloWatch *watch, const HloWatchOptions *options, const HloPrintOptions *print,
                               bool is_terminal) {
    static const char *const words[] = {"diff", "text"};
    static const HloChangesStyle styles[] = {HLO_CHANGES_DIFF, HLO_CHANGES_TEXT};
    HloChangesOptions changes = {.context = DIFF_CONTEXT, .print = *print};
    size_t k = 0;
    HLO_TRY(hlo_flag_choose("changed-style", options->changed_style, words, HLO_COUNT(words), &k));
    HLO_TRY(hlo_flag_read_colour(options->colour, is_terminal, &changes.colour));
    HLO_TRY(hlo_regex_new(options->print_changed, &watch->changed_filter));
    changes.style = styles[k];
    changes.only = watch->changed_filter;
    return hlo_observe_changes(&changes, watch->sink, &watch->observers[watch->observer_count++]);
}

// Passes on the lines that the pattern is found in.
static void write_traced(void *data, const char *text, size_t size) {
    const HloWatch *watch = data;
    if (hlo_regex_finds(watch->trace_filter, (HloStringView){text, size})) {
        watch->sink.write(watch->sink.data, text, size);
    }
}

static HloStatus watch_rewrites(HloWatch *watch, const HloWatchOptions *options) {
    HLO_TRY(hlo_regex_new(options->trace_rewrites, &watch->trace_filter));
    watch->trace = (HloSink){write_traced, watch};
    hlo_trace_rewrites(watch->runner, &watch->trace);
    return hlo_ok();
}

static HloStatus watch_times(HloWatch *watch, const HloWatchOptions *options) {
    static const char *const words[] = {"table", "json"};
    size_t k = 0;
    HLO_TRY(hlo_flag_choose("time-passes", options->time_passes, words, HLO_COUNT(words), &k));
    HLO_TRY(hlo_observe_time(watch->runner, &watch->observers[watch->observer_count]));
    watch->times = watch->observers[watch->observer_count++];
    watch->times_as_json = k == 1;
    return hlo_ok();
}

static HloStatus watch_claims(HloWatch *watch, const HloClaimsOptions *claims) {
    if (!claims->silent_change && !claims->empty_change) return hlo_ok();
    return hlo_observe_claims(claims, &watch->observers[watch->observer_count++]);
}

static HloStatus watch_fixes(HloWatch *watch, const HloDebugOptions *debug) {
    HloFixOptions fixes = {.warn_of_cycles = debug->xla_hlo_pass_fix_detect_cycles,
                           .fail_at_limit = debug->xla_unsupported_crash_on_hlo_pass_fix_max_iterations};
    if (!fixes.warn_of_cycles && !fixes.fail_at_limit) return hlo_ok();
    return hlo_observe_fixes(&fixes, watch->sink, &watch->observers[watch->observer_count++]);
}

static HloStatus add_observers(HloWatch *watch, const HloWatchOptions *options, const HloDebugOptions *debug,
                               const HloPrintOptions *print, bool is_terminal) {
    if (options->time_passes) HLO_TRY(watch_times(watch, options));
    if (options->print_changed) HLO_TRY(watch_changes(watch, options, print, is_terminal));
    if (options->trace_rewrites) HLO_TRY(watch_rewrites(watch, options));
    if (options->verify_each) {
        HLO_TRY(hlo_observe_verify(&options->rules, &watch->observers[watch->observer_count++]));
    }
    if (options->check_numerics) {
        HloNumericsOptions numerics = {.seed = (uint64_t)options->check_numerics};
        HLO_TRY(hlo_observe_numerics(&numerics, &watch->observers[watch->observer_count++]));
    }
    HloClaimsOptions ours = {.silent_change = options->check_claims, .names_count = true};
    HloClaimsOptions theirs = {.silent_change = debug->xla_unsupported_crash_on_hlo_pass_silent_hlo_change,
                               .empty_change = debug->xla_unsupported_crash_on_hlo_pass_noop_change};
    HLO_TRY(watch_claims(watch, &ours));
    HLO_TRY(watch_claims(watch, &theirs));
    return watch_fixes(watch, debug);
}

typedef struct FuelCall {
    HloWatch *watch;
    const char *value;
} FuelCall;

static HloStatus read_fuel(void *data) {
    FuelCall *call = data;
    return hlo_fuel_parse(&call->watch->arena, call->value, &call->watch->runner->log);
}

static void free_watch(HloWatch *watch) {
    for (size_t i = 0; i < watch->observer_count; i++) hlo_observer_free(watch->observers[i]);
    hlo_regex_free(watch->changed_filter);
    hlo_regex_free(watch->trace_filter);
    hlo_arena_free(&watch->arena);
    free(watch);
}

HloStatus hlo_watch_start(const HloWatchOptions *options, const HloDebugOptions *debug, const HloPrintOptions *print,
                          HloSink sink, bool is_terminal, HloRunner *runner, HloWatch **out) {
    if (options->rewrite_limit < 0) return hlo_error(HLO_INVALID_ARGUMENT, "--rewrite-limit must not be negative");
    HloWatch *watch = calloc(1, sizeof *watch);
    if (!watch) return hlo_out_of_memory();
    watch->runner = runner;
    watch->sink = sink;
    HloStatus status = add_observers(watch, options, debug, print, is_terminal);
    FuelCall fuel = {watch, debug->xla_fuel};
    if (hlo_is_ok(status)) status = hlo_guarded((HloArena *const[]){&watch->arena, NULL}, read_fuel, &fuel);
    if (!hlo_is_ok(status)) {
        free_watch(watch);
        return status;
    }
    runner->log.limit = (uint64_t)options->rewrite_limit;
    runner->limit_changes = debug->xla_unsupported_crash_on_hlo_pass_silent_hlo_change;
    size_t called = 0;
    if (options->first) watch->called[called++] = options->first;
    for (size_t i = 0; i < watch->observer_count; i++) watch->called[called++] = watch->observers[i];
    runner->observers = watch->called;
    runner->observer_count = called;
    *out = watch;
    return hlo_ok();
}

void hlo_watch_end(HloWatch *watch) {
    if (!watch) return;
    HloRunner *runner = watch->runner;
    HloBuffer text = {0};
    if (watch->times) (watch->times_as_json ? hlo_put_pass_times_json : hlo_put_pass_times)(&text, watch->times);
    hlo_put_fuel(&text, &runner->log);
    if (text.size) watch->sink.write(watch->sink.data, text.data, text.size);
    hlo_buffer_free(&text);
    runner->observers = NULL;
    runner->observer_count = 0;
    runner->log.fuel = NULL;
    runner->log.fuel_count = 0;
    free_watch(watch);
}
