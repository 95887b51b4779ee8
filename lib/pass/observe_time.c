// Counting and timing passes and pipelines (pass chapter, §5).

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "lib/pass/observe.h"

// What ran under one name.
typedef struct Entry {
    const char *name;
    uint64_t runs, changes, rewrites;
    uint64_t time_ns;
} Entry;

typedef struct Entries {
    HloMap by_name;  // -> Entry
    HloVec list;     // Entry *, in order of the first run
} Entries;

// When something began.
typedef struct Start {
    uint64_t time_ns, rewrites;
} Start;

typedef struct Times {
    const HloRunner *runner;
    HloArena arena;
    Entries passes, pipelines;
    Start pass_start;
    HloVec open;  // Start *, of the pipelines that run, outermost first
} Times;

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static Start now(const Times *times) {
    return (Start){now_ns(), times->runner->log.count};
}

// ---- events ---------------------------------------------------------------------------------------------

typedef struct Count {
    Times *times;
    Entries *entries;
    const char *name;
    Start start, end;
    bool changed;
} Count;

static HloStatus count(void *data) {
    const Count *c = data;
    HloArena *arena = &c->times->arena;
    const char *name;
    void **slot = hlo_map_at_text(arena, &c->entries->by_name, c->name, strlen(c->name), &name);
    if (!*slot) {
        Entry *entry = HLO_NEW(arena, Entry);
        entry->name = name;
        *slot = entry;
        hlo_vec_push(arena, &c->entries->list, entry);
    }
    Entry *entry = *slot;
    entry->runs++;
    entry->changes += c->changed;
    entry->rewrites += c->end.rewrites - c->start.rewrites;
    entry->time_ns += c->end.time_ns - c->start.time_ns;
    return hlo_ok();
}

static HloStatus before_pass(void *data, const HloElement *pipeline, const HloElement *element, const HloModule *m) {
    (void)pipeline, (void)m;
    Times *times = data;
    if (!hlo_element_is_pipeline(element)) times->pass_start = now(times);
    return hlo_ok();
}

static HloStatus after_pass(void *data, const HloElement *pipeline, const HloElement *element, const HloModule *m,
                            bool changed) {
    (void)pipeline, (void)m;
    Times *times = data;
    if (hlo_element_is_pipeline(element)) return hlo_ok();
    Count c = {times, &times->passes, element->name, times->pass_start, now(times), changed};
    return hlo_observer_guarded(&times->arena, count, &c);
}

static HloStatus open_pipeline(void *data) {
    Times *times = data;
    Start start = now(times);
    hlo_vec_push(&times->arena, &times->open, hlo_arena_copy(&times->arena, &start, sizeof start));
    return hlo_ok();
}

static HloStatus before_pipeline(void *data, const HloElement *pipeline, const HloModule *m) {
    (void)pipeline, (void)m;
    return hlo_observer_guarded(&((Times *)data)->arena, open_pipeline, data);
}

static HloStatus after_pipeline(void *data, const HloElement *pipeline, const HloModule *m, bool changed) {
    (void)m;
    Times *times = data;
    const Start *start = hlo_vec_pop(&times->open);
    Count c = {times, &times->pipelines, pipeline->name, *start, now(times), changed};
    return hlo_observer_guarded(&times->arena, count, &c);
}

static void free_times(void *data) {
    hlo_arena_free(&((Times *)data)->arena);
}

HloStatus hlo_observe_time(const HloRunner *runner, HloPassObserver **out) {
    HLO_TRY(hlo_observer_new(sizeof(Times), out));
    ((Times *)(*out)->data)->runner = runner;
    (*out)->before_pass = before_pass;
    (*out)->after_pass = after_pass;
    (*out)->before_pipeline = before_pipeline;
    (*out)->after_pipeline = after_pipeline;
    (*out)->free = free_times;
    return hlo_ok();
}

// ---- table and JSON -------------------------------------------------------------------------------------

// Slowest first; equal times by name, as the reference does.
static int compare(const void *a, const void *b) {
    const Entry *x = *(Entry *const *)a, *y = *(Entry *const *)b;
    if (x->time_ns != y->time_ns) return x->time_ns > y->time_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

static void sort(Entries *entries) {
    HloVec *list = &entries->list;
    if (list->count) qsort(list->items, list->count, sizeof *list->items, compare);
}

static uint64_t total_ns(const Entries *entries) {
    uint64_t total = 0;
    for (size_t k = 0; k < entries->list.count; k++) total += ((const Entry *)entries->list.items[k])->time_ns;
    return total;
}

void hlo_put_pass_times(HloBuffer *out, const HloPassObserver *observer) {
    Times *times = observer->data;
    HloVec *passes = &times->passes.list;
    uint64_t total = total_ns(&times->passes);
    size_t width = strlen("pass");
    sort(&times->passes);
    for (size_t k = 0; k < passes->count; k++) {
        size_t size = strlen(((const Entry *)passes->items[k])->name);
        if (size > width) width = size;
    }
    hlo_putf(out, "%-*s %6s %8s %9s %10s %6s\n", (int)width, "pass", "runs", "changed", "rewrites", "ms", "share");
    for (size_t k = 0; k < passes->count; k++) {
        const Entry *pass = passes->items[k];
        hlo_putf(out, "%-*s %6" PRIu64 " %8" PRIu64 " %9" PRIu64 " %10.3f %5.1f%%\n", (int)width, pass->name,
                 pass->runs, pass->changes, pass->rewrites, (double)pass->time_ns / 1e6,
                 total ? 100.0 * (double)pass->time_ns / (double)total : 0);
    }
    hlo_putf(out, "%-*s %6s %8s %9s %10.3f\n", (int)width, "total", "", "", "", (double)total / 1e6);
}

// Names come from users too: `"`, `\` and control characters are escaped.
static void put_json_string(HloBuffer *out, const char *text) {
    hlo_put_char(out, '"');
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        if (*at < ' ')
            hlo_putf(out, "\\u%04x", *at);
        else
            hlo_putf(out, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    }
    hlo_put_char(out, '"');
}

static void put_json_list(HloBuffer *out, const char *key, Entries *entries) {
    sort(entries);
    hlo_putf(out, "  \"%s\": [", key);
    for (size_t k = 0; k < entries->list.count; k++) {
        const Entry *entry = entries->list.items[k];
        hlo_put_string(out, k ? ",\n    {\"name\": " : "\n    {\"name\": ");
        put_json_string(out, entry->name);
        hlo_putf(out, ", \"runs\": %" PRIu64 ", \"changed\": %" PRIu64 ", \"rewrites\": %" PRIu64 ", \"ms\": %.3f}",
                 entry->runs, entry->changes, entry->rewrites, (double)entry->time_ns / 1e6);
    }
    hlo_put_string(out, "]");
}

void hlo_put_pass_times_json(HloBuffer *out, const HloPassObserver *observer) {
    Times *times = observer->data;
    hlo_putf(out, "{\n  \"total_ms\": %.3f,\n", (double)total_ns(&times->passes) / 1e6);
    put_json_list(out, "passes", &times->passes);
    hlo_put_string(out, ",\n");
    put_json_list(out, "pipelines", &times->pipelines);
    hlo_put_string(out, "\n}\n");
}
