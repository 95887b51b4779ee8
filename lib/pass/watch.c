// From flags to observers.

#include "hlo/watch.h"

#include <stdlib.h>

#include "hlo/regex.h"

enum { MOST_OBSERVERS = 4, DIFF_CONTEXT = 2 };

struct HloWatch {
    HloRunner *runner;
    HloSink sink;
    HloSink trace;  // the sink behind the filter below
    HloRegex *changed_filter, *trace_filter;
    HloPassObserver *observers[MOST_OBSERVERS];
    size_t observer_count;
    const HloPassObserver *times;  // one of the observers, or NULL
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
    FLAG("time-passes", BOOL, time_passes, NULL, NULL, "write a table of times, slowest pass first"),
    FLAG("color", TEXT, colour, "WHEN", NULL, "auto (default), always or never"),
};

HloWatchOptions hlo_watch_default(void) {
    return (HloWatchOptions){.changed_style = "diff", .colour = "auto"};
}

HloFlagSet hlo_watch_flags(HloWatchOptions *options) {
    return (HloFlagSet){.flags = flags, .count = HLO_COUNT(flags), .options = options};
}

static HloStatus find_word(const char *flag, const char *word, const char *const *words, size_t count, size_t *out) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, words[i]) != 0) continue;
        *out = i;
        return hlo_ok();
    }
    return hlo_error(HLO_INVALID_ARGUMENT, "flag '--%s' takes %s%s%s%s%s, found '%s'", flag, words[0],
                     count > 2 ? ", " : "", count > 2 ? words[1] : "", " or ", words[count - 1], word);
}

static HloStatus read_colour(const char *word, bool is_terminal, bool *out) {
    static const char *const words[] = {"auto", "always", "never"};
    size_t k = 0;
    HLO_TRY(find_word("color", word, words, HLO_COUNT(words), &k));
    *out = k == 1 || (k == 0 && is_terminal);
    return hlo_ok();
}

static HloStatus watch_changes(HloWatch *watch, const HloWatchOptions *options, const HloPrintOptions *print,
                               bool is_terminal) {
    static const char *const words[] = {"diff", "text"};
    static const HloChangesStyle styles[] = {HLO_CHANGES_DIFF, HLO_CHANGES_TEXT};
    HloChangesOptions changes = {.context = DIFF_CONTEXT, .print = *print};
    size_t k = 0;
    HLO_TRY(find_word("changed-style", options->changed_style, words, HLO_COUNT(words), &k));
    HLO_TRY(read_colour(options->colour, is_terminal, &changes.colour));
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

static HloStatus add_observers(HloWatch *watch, const HloWatchOptions *options, const HloPrintOptions *print,
                               bool is_terminal) {
    HloPassObserver **next = watch->observers;
    if (options->time_passes) {
        HLO_TRY(hlo_observe_time(watch->runner, &next[watch->observer_count]));
        watch->times = next[watch->observer_count++];
    }
    if (options->print_changed) HLO_TRY(watch_changes(watch, options, print, is_terminal));
    if (options->trace_rewrites) HLO_TRY(watch_rewrites(watch, options));
    if (options->verify_each) {
        HloVerifyOptions verify = {.allow_mixed_precision = true};
        HLO_TRY(hlo_observe_verify(&verify, &next[watch->observer_count]));
        watch->observer_count++;
    }
    if (options->check_claims) {
        HLO_TRY(hlo_observe_claims(&(HloClaimsOptions){.silent_change = true}, &next[watch->observer_count]));
        watch->observer_count++;
    }
    return hlo_ok();
}

static void free_watch(HloWatch *watch) {
    for (size_t i = 0; i < watch->observer_count; i++) hlo_observer_free(watch->observers[i]);
    hlo_regex_free(watch->changed_filter);
    hlo_regex_free(watch->trace_filter);
    free(watch);
}

HloStatus hlo_watch_start(const HloWatchOptions *options, const HloPrintOptions *print, HloSink sink, bool is_terminal,
                          HloRunner *runner, HloWatch **out) {
    if (options->rewrite_limit < 0) return hlo_error(HLO_INVALID_ARGUMENT, "--rewrite-limit must not be negative");
    HloWatch *watch = calloc(1, sizeof *watch);
    if (!watch) return hlo_out_of_memory();
    watch->runner = runner;
    watch->sink = sink;
    HloStatus status = add_observers(watch, options, print, is_terminal);
    if (!hlo_is_ok(status)) {
        free_watch(watch);
        return status;
    }
    runner->log.limit = (uint64_t)options->rewrite_limit;
    runner->observers = (const HloPassObserver *const *)watch->observers;
    runner->observer_count = watch->observer_count;
    *out = watch;
    return hlo_ok();
}

void hlo_watch_end(HloWatch *watch) {
    if (!watch) return;
    if (watch->times) {
        HloBuffer table = {0};
        hlo_put_pass_times(&table, watch->times);
        if (table.size) watch->sink.write(watch->sink.data, table.data, table.size);
        hlo_buffer_free(&table);
    }
    watch->runner->observers = NULL;
    watch->runner->observer_count = 0;
    free_watch(watch);
}
