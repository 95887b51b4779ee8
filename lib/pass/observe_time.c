// Counting and timing passes (pass chapter, §5).

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "lib/pass/observe.h"

typedef struct PassTime {
    const char *name;
    uint64_t runs, changes, rewrites;
    uint64_t time_ns;
} PassTime;

typedef struct Times {
    const HloRunner *runner;
    HloArena arena;
    HloMap by_name;                     // -> PassTime
    HloVec passes;                      // PassTime *, in order of the first run
    uint64_t start_ns, start_rewrites;  // of the pass that runs
} Times;

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static HloStatus before_pass(void *data, const HloElement *pipeline, const HloElement *element, const HloModule *m) {
    (void)pipeline, (void)m;
    Times *times = data;
    if (hlo_element_is_pipeline(element)) return hlo_ok();
    times->start_rewrites = times->runner->log.count;
    times->start_ns = now_ns();
    return hlo_ok();
}

typedef struct Find {
    Times *times;
    const char *name;
    PassTime *found;
} Find;

static HloStatus find_pass(void *data) {
    Find *find = data;
    Times *times = find->times;
    const char *name;
    void **slot = hlo_map_at_text(&times->arena, &times->by_name, find->name, strlen(find->name), &name);
    if (!*slot) {
        PassTime *pass = HLO_NEW(&times->arena, PassTime);
        pass->name = name;
        *slot = pass;
        hlo_vec_push(&times->arena, &times->passes, pass);
    }
    find->found = *slot;
    return hlo_ok();
}

static HloStatus after_pass(void *data, const HloElement *pipeline, const HloElement *element, const HloModule *m,
                            bool changed) {
    (void)pipeline, (void)m;
    Times *times = data;
    if (hlo_element_is_pipeline(element)) return hlo_ok();
    uint64_t time_ns = now_ns() - times->start_ns;
    Find find = {times, element->name, NULL};
    HLO_TRY(hlo_observer_guarded(&times->arena, find_pass, &find));
    find.found->runs++;
    find.found->changes += changed;
    find.found->rewrites += times->runner->log.count - times->start_rewrites;
    find.found->time_ns += time_ns;
    return hlo_ok();
}

static void free_times(void *data) {
    hlo_arena_free(&((Times *)data)->arena);
}

HloStatus hlo_observe_time(const HloRunner *runner, HloPassObserver **out) {
    HLO_TRY(hlo_observer_new(sizeof(Times), out));
    ((Times *)(*out)->data)->runner = runner;
    (*out)->before_pass = before_pass;
    (*out)->after_pass = after_pass;
    (*out)->free = free_times;
    return hlo_ok();
}

// ---- the table ------------------------------------------------------------------------------------------

// Slowest first; equal times by name, as the reference does.
static int compare(const void *a, const void *b) {
    const PassTime *x = *(PassTime *const *)a, *y = *(PassTime *const *)b;
    if (x->time_ns != y->time_ns) return x->time_ns > y->time_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

void hlo_put_pass_times(HloBuffer *out, const HloPassObserver *observer) {
    Times *times = observer->data;
    HloVec *passes = &times->passes;
    uint64_t total_ns = 0;
    size_t width = strlen("pass");
    for (size_t k = 0; k < passes->count; k++) {
        const PassTime *pass = passes->items[k];
        total_ns += pass->time_ns;
        if (strlen(pass->name) > width) width = strlen(pass->name);
    }
    if (passes->count) qsort(passes->items, passes->count, sizeof *passes->items, compare);
    hlo_putf(out, "%-*s %6s %8s %9s %10s %6s\n", (int)width, "pass", "runs", "changed", "rewrites", "ms", "share");
    for (size_t k = 0; k < passes->count; k++) {
        const PassTime *pass = passes->items[k];
        hlo_putf(out, "%-*s %6" PRIu64 " %8" PRIu64 " %9" PRIu64 " %10.3f %5.1f%%\n", (int)width, pass->name,
                 pass->runs, pass->changes, pass->rewrites, (double)pass->time_ns / 1e6,
                 total_ns ? 100.0 * (double)pass->time_ns / (double)total_ns : 0);
    }
    hlo_putf(out, "%-*s %6s %8s %9s %10.3f\n", (int)width, "total", "", "", "", (double)total_ns / 1e6);
}
