// Bisection inside one run of a pass: which of its rewrites it is, what that changed, and a text that shows it.

#include "hlo/diff.h"
#include "lib/bisect/bisection.h"

// ---- trials ---------------------------------------------------------------------------------------------

// A run of the pass up to some of its rewrites: alone, on what came into it, or at the end of all passes before it.
typedef struct Trial {
    Bisection *b;
    const HloModule *before;  // what came into it; NULL: run the passes before it
    bool limited;
    uint64_t limit;  // rewrites; 0: none at all
    // Out:
    uint64_t end;    // what the log counts to
    uint64_t count;  // rewrites made by the pass
    HloModule *m;    // owned by the caller
} Trial;

// Writes down the rewrite that the limit ends with: the log counts to the limit.
static void note_rewrite(void *data, const HloRewriteEvent *event) {
    const Trial *t = data;
    HloBisectResult *r = t->b->result;
    HloArena *arena = &r->arena;
    if (event->number != t->end) return;
    const HloInstruction *old = event->old_inst, *new = event->new_inst;
    r->rule = hlo_arena_printf(arena, "%s: %s", event->pass, event->rule);
    if (old) r->old_inst = hlo_arena_string(arena, old->name, strlen(old->name));
    if (old && old->comp) r->comp = hlo_arena_string(arena, old->comp->name, strlen(old->comp->name));
    if (new) r->new_inst = hlo_arena_string(arena, new->name, strlen(new->name));
}

static HloStatus run_alone(Trial *t, HloRewriteLog *log) {
    HLO_TRY(hlo_bisection_clone(t->before, &t->m));
    HloRunner runner = {.log = *log};
    bool changed;
    HloStatus status = hlo_pipeline_run(t->b->alone, t->m, &runner, &changed);
    *log = runner.log;
    if (hlo_is_ok(status)) return status;
    hlo_module_free(t->m);
    t->m = NULL;
    return status;
}

static HloStatus run_from_start(Trial *t, HloRewriteLog *log) {
    Walk w = {.b = t->b, .stop_after = t->b->run, .log = *log};
    HLO_TRY(hlo_bisection_walk(&w, &t->m));
    *log = w.log;
    return hlo_ok();
}

// The log starts at 1, so that a limit of 1 lets no rewrite through, where 0 would mean no limit.
static HloStatus try_limit(Trial *t, bool notes) {
    uint64_t start = 1 + (t->before ? 0 : t->b->base);  // what the log has counted when the pass begins
    t->end = start + t->limit;
    HloRewriteLog log = {.count = 1, .limit = t->limited ? t->end : 0};
    if (notes) {
        log.on_rewrite = note_rewrite;
        log.data = t;
    }
    HLO_TRY(t->before ? run_alone(t, &log) : run_from_start(t, &log));
    t->count = log.count - start;
    return hlo_ok();
}

static HloStatus ask_trial(Trial *t, bool *out) {
    HLO_TRY(try_limit(t, false));
    HloStatus status = hlo_bisection_ask(t->b, t->m, out);
    hlo_module_free(t->m);
    t->m = NULL;
    return status;
}

// Where trials begin.
static const HloModule *source(const Bisection *b) {
    return b->from_start ? NULL : b->before;
}

static HloStatus ask_rewrite(void *data, uint64_t k, bool *out) {
    Bisection *b = data;
    return ask_trial(&(Trial){.b = b, .before = source(b), .limited = true, .limit = k}, out);
}

// ---- what is shown --------------------------------------------------------------------------------------

static HloStatus show_diff(Bisection *b, const HloModule *before, const HloModule *after) {
    HloBuffer old = {0}, new = {0}, diff = {0};
    HloArena scratch = {0};
    HloDiffOptions options = {.context = b->options->context, .colour = b->options->colour};
    HloStatus status = hlo_bisection_print(b, before, &old);
    if (hlo_is_ok(status)) status = hlo_bisection_print(b, after, &new);
    if (hlo_is_ok(status)) {
        scratch.trap = b->arena->trap;
        hlo_put_module_text_diff(&diff, &scratch, (HloStringView){old.data, old.size},
                                 (HloStringView){new.data, new.size}, &options);
        status = hlo_buffer_status(&diff);
    }
    if (hlo_is_ok(status)) b->result->diff = hlo_bisection_keep(b, &diff);
    hlo_arena_free(&scratch);
    hlo_buffer_free(&old);
    hlo_buffer_free(&new);
    hlo_buffer_free(&diff);
    return status;
}

// The difference between two limits; `low` may be the module before the pass, and `high` the whole pass.
static HloStatus show_trials(Bisection *b, Trial *low, Trial *high, bool notes) {
    HLO_TRY(try_limit(low, false));
    HloStatus status = try_limit(high, notes);
    if (hlo_is_ok(status)) status = show_diff(b, low->m, high->m);
    hlo_module_free(low->m);
    if (high->m) hlo_module_free(high->m);
    return status;
}

// ---- the reproducer -------------------------------------------------------------------------------------

// Everything that passes look at, in the form that reads back most exactly.
static HloStatus print_reproducer(Bisection *b) {
    HloPrintOptions print = hlo_print_default();
    HloBuffer text = {0};
    print.large_constants = true;
    hlo_print_module(b->before, &print, &text);
    HloStatus status = hlo_buffer_status(&text);
    if (hlo_is_ok(status)) b->result->before = hlo_bisection_keep(b, &text);
    hlo_buffer_free(&text);
    return status;
}

// Reads as hlo-opt does. A text that cannot be read back, or behaves in another way, is no failure: the report says so.
static HloStatus try_reproducer(Bisection *b, bool limited) {
    HloModule *m;
    HloParseOptions options = {.drop_zero_sign = true, .hlo_version = b->before->hlo_version};
    HloStatus status = hlo_parse_module(hlo_view(b->result->before), &options, &m);
    if (!hlo_is_ok(status)) {
        hlo_status_free(status);
        return hlo_ok();
    }
    bool low = true, high = false;
    Trial with = {.b = b, .before = m, .limited = limited, .limit = b->result->rewrite};
    Trial without = {.b = b, .before = m, .limited = true, .limit = limited ? b->result->rewrite - 1 : 0};
    status = ask_trial(&with, &high);
    if (hlo_is_ok(status) && limited) status = ask_trial(&without, &low);
    if (hlo_is_ok(status) && !limited) status = hlo_bisection_ask(b, m, &low);
    b->result->is_reproduced = high && !low;
    hlo_module_free(m);
    return status;
}

// ---- from the pass to the rewrite -----------------------------------------------------------------------

static HloStatus settle_for_pass(Bisection *b, const char *note) {
    b->result->outcome = HLO_BISECT_PASS;
    b->result->note = note;
    Trial whole = {.b = b, .before = source(b)};
    HLO_TRY(try_limit(&whole, false));
    HloStatus status = show_diff(b, b->before, whole.m);
    hlo_module_free(whole.m);
    HLO_TRY(status);
    return try_reproducer(b, false);
}

// Every rewrite up to the limit must have been made. Behind it may come those that a pass has to make (the copies that
// copy-insertion adds): they come in both trials, and what makes the trials differ is the one rewrite between the limits.
static bool is_exact(const Trial *low, const Trial *high) {
    return low->count >= low->limit && high->count >= high->limit;
}

// All passes to the end, without rewrites behind this one. Passes that need what it keeps others from doing may fail.
static HloStatus try_from_start(Bisection *b) {
    Walk w = {.b = b, .log = {.count = 1, .limit = b->result->total + 1}};
    HloModule *m;
    HloStatus status = hlo_bisection_walk(&w, &m);
    if (!hlo_is_ok(status)) {
        hlo_status_free(status);
        return hlo_ok();
    }
    status = hlo_bisection_ask(b, m, &b->result->is_shown_from_start);
    hlo_module_free(m);
    return status;
}

static HloStatus show_rewrite(Bisection *b, uint64_t k) {
    HloBisectResult *r = b->result;
    Trial low = {.b = b, .before = source(b), .limited = true, .limit = k - 1};
    Trial high = {.b = b, .before = source(b), .limited = true, .limit = k};
    HLO_TRY(show_trials(b, &low, &high, true));
    if (!is_exact(&low, &high) || !r->rule) {
        return settle_for_pass(b, "the pass stops before it is told to");
    }
    r->outcome = HLO_BISECT_REWRITE;
    r->rewrite = k;
    r->total = b->base + k;
    HLO_TRY(try_from_start(b));
    return try_reproducer(b, true);
}

// Copies give new instructions other numbers in their names than the module they were made from would. When the
// predicate looks at such names, the pass has to run at the end of all others.
static HloStatus choose_source(Bisection *b, uint64_t *rewrites, bool *holds) {
    Trial whole = {.b = b, .before = b->before};
    HLO_TRY(ask_trial(&whole, holds));
    if (!*holds) {
        b->from_start = true;
        whole.before = NULL;
        HLO_TRY(ask_trial(&whole, holds));
    }
    *rewrites = whole.count;
    return hlo_ok();
}

static HloStatus find_rewrite(Bisection *b) {
    bool holds;
    uint64_t k, rewrites;
    HLO_TRY(choose_source(b, &rewrites, &holds));
    b->result->rewrites = rewrites;
    if (!holds) return settle_for_pass(b, "the predicate changes its mind about the same module");
    Trial none = {.b = b, .before = source(b), .limited = true};
    HLO_TRY(ask_trial(&none, &holds));
    if (holds && none.count) return settle_for_pass(b, "the pass does it even when it is told to make no rewrite");
    if (holds || !rewrites) return settle_for_pass(b, "it is no rewrite that the pass names, but a change beside them");
    HLO_TRY(hlo_bisect_search(0, rewrites, b->options->search == HLO_BISECT_LINEAR, ask_rewrite, b, &k));
    return show_rewrite(b, k);
}

HloStatus hlo_bisect_rewrites(Bisection *b) {
    HLO_TRY(print_reproducer(b));
    return find_rewrite(b);
}
