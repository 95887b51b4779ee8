// Watching fixed points (pass chapter, §4): iterations that come back to an earlier module, and those that never end.

#include <inttypes.h>

#include "lib/pass/observe.h"

typedef struct Fixes {
    HloFixOptions options;
    HloSink sink;
    HloArena arena;
    HloMap seen;  // HloElement * -> HloMap of the hashes that the current run of this fixed point began iterations with
} Fixes;

typedef struct Iteration {
    Fixes *fixes;
    const HloElement *fix;
    uint64_t hash;
    bool starts;   // the first iteration of a run
    bool is_back;  // out: the hash was there before
} Iteration;

static HloStatus note(void *data) {
    Iteration *it = data;
    HloArena *arena = &it->fixes->arena;
    void **slot = hlo_map_at(arena, &it->fixes->seen, it->fix);
    if (!*slot || it->starts) *slot = HLO_NEW(arena, HloMap);
    void **entry = hlo_map_at_text(arena, *slot, (const char *)&it->hash, sizeof it->hash, NULL);
    it->is_back = *entry;
    *entry = it->fixes;
    return hlo_ok();
}

// A warning only: the fixed point goes on, as the reference's does.
static HloStatus before_iteration(void *data, const HloElement *fix, const HloModule *m, int64_t iteration) {
    Fixes *fixes = data;
    if (!fixes->options.warn_of_cycles) return hlo_ok();
    Iteration it = {.fixes = fixes, .fix = fix, .starts = iteration == 1};
    HLO_TRY(hlo_observer_hash(m, false, &it.hash));
    HLO_TRY(hlo_observer_guarded(&fixes->arena, note, &it));
    if (!it.is_back) return hlo_ok();
    HloBuffer line = {0};
    hlo_putf(&line, "warning: Cycle detected when running %s on iteration %" PRId64 "; hash: %" PRIu64 "\n", fix->name,
             iteration, it.hash);
    if (line.size) fixes->sink.write(fixes->sink.data, line.data, line.size);
    hlo_buffer_free(&line);
    return hlo_ok();
}

static HloStatus at_limit(void *data, const HloElement *fix, const HloModule *m) {
    const Fixes *fixes = data;
    if (!fixes->options.fail_at_limit) return hlo_ok();
    return hlo_error(HLO_INTERNAL,
                     "Unexpectedly high number of iterations %" PRId64 " in HLO pass '%s' for module '%s'", fix->limit,
                     fix->name, m->name);
}

static void free_fixes(void *data) {
    hlo_arena_free(&((Fixes *)data)->arena);
}

HloStatus hlo_observe_fixes(const HloFixOptions *options, HloSink sink, HloPassObserver **out) {
    HLO_TRY(hlo_observer_new(sizeof(Fixes), out));
    Fixes *fixes = (*out)->data;
    fixes->options = *options;
    fixes->sink = sink;
    (*out)->before_iteration = before_iteration;
    (*out)->at_limit = at_limit;
    (*out)->free = free_fixes;
    return hlo_ok();
}
