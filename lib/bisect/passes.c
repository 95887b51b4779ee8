// Bisection over passes: which run of a pass it is. rewrites.c goes on inside that run.

#include "lib/bisect/bisection.h"

static HloStatus find_pass_linear(Bisection *b, uint64_t *run, bool *found) {
    Walk w = {.b = b, .asks = true, .checks = true};
    HloModule *m;
    HLO_TRY(hlo_bisection_walk(&w, &m));
    hlo_module_free(m);
    HLO_TRY(w.broken);
    *found = w.held;
    *run = w.run;
    return hlo_ok();
}

typedef struct PassSearch {
    Bisection *b;
    const HloInts *changed;
} PassSearch;

// State k: after the k-th run that changed the module.
static HloStatus ask_pass(void *data, uint64_t k, bool *out) {
    const PassSearch *search = data;
    Walk w = {.b = search->b, .stop_after = (uint64_t)search->changed->items[k - 1]};
    HloModule *m;
    HLO_TRY(hlo_bisection_walk(&w, &m));
    HloStatus status = hlo_bisection_ask(search->b, m, out);
    hlo_module_free(m);
    return status;
}

static HloStatus find_pass_binary(Bisection *b, uint64_t *run, bool *found) {
    Walk w = {.b = b, .checks = true};
    HloModule *m;
    HLO_TRY(hlo_bisection_walk(&w, &m));
    HloStatus status = hlo_bisection_ask(b, m, found);
    hlo_module_free(m);
    if (hlo_is_ok(status) && !*found) return w.broken;
    hlo_status_free(w.broken);
    HLO_TRY(status);
    *found &= w.changed.count > 0;
    if (!*found) return hlo_ok();  // the predicate changes its mind about the same module
    PassSearch search = {b, &w.changed};
    uint64_t k;
    HLO_TRY(hlo_bisect_search(0, w.changed.count, false, ask_pass, &search, &k));
    *run = (uint64_t)w.changed.items[k - 1];
    return hlo_ok();
}

// Broken modules must not go through further passes, so that such a predicate is asked after each of them.
static bool is_binary(const Bisection *b) {
    if (b->predicate->finds_invalid) return false;
    bool by_default = b->options->search == HLO_BISECT_AUTO && b->predicate->is_slow;
    return by_default || b->options->search == HLO_BISECT_BINARY;
}

static HloStatus enter_pass(Bisection *b, uint64_t run) {
    HloBisectResult *r = b->result;
    Walk w = {.b = b, .stop_before = run};
    HLO_TRY(hlo_bisection_walk(&w, &b->before));
    HloBuffer element = {0};
    hlo_element_print(w.element, &element);
    HloElement *alone = HLO_NEW(b->arena, HloElement);
    alone->kind = HLO_ELEMENT_PIPELINE;
    alone->name = w.pipeline->name;
    alone->elements = hlo_arena_copy(b->arena, &w.element, sizeof w.element);
    alone->element_count = 1;
    b->alone = alone;
    b->run = run;
    b->base = w.log.count;
    r->run = run;
    r->pass = hlo_arena_string(b->arena, w.element->name, strlen(w.element->name));
    r->pipeline = hlo_arena_string(b->arena, w.pipeline->name, strlen(w.pipeline->name));
    r->element = hlo_bisection_keep(b, &element);
    hlo_buffer_free(&element);
    return hlo_bisect_rewrites(b);
}

static HloStatus bisect(void *data) {
    Bisection *b = data;
    HloBisectResult *r = b->result;
    bool holds, found = false;
    uint64_t run = 0;
    HLO_TRY(hlo_bisection_ask(b, b->m, &holds));
    r->outcome = holds ? HLO_BISECT_BEFORE : HLO_BISECT_NEVER;
    if (holds) return hlo_ok();
    HLO_TRY(is_binary(b) ? find_pass_binary(b, &run, &found) : find_pass_linear(b, &run, &found));
    return found ? enter_pass(b, run) : hlo_ok();
}

HloStatus hlo_bisect_passes(const HloElement *list, const HloModule *m, const HloPredicate *predicate,
                            const HloBisectOptions *options, HloBisectResult *out) {
    *out = (HloBisectResult){.predicate = predicate->words};
    Bisection b = {list, m, predicate, options, out, &out->arena, .before = NULL};
    HloStatus status = hlo_guarded((HloArena *const[]){&out->arena, NULL}, bisect, &b);
    if (b.before) hlo_module_free(b.before);
    if (!hlo_is_ok(status)) hlo_bisect_result_free(out);
    return status;
}

void hlo_bisect_result_free(HloBisectResult *result) {
    hlo_arena_free(&result->arena);
}
