// Finds the first instruction whose value a change of the module has changed.
//
//   before:  a = add(x, y)  b = multiply(a, a)        after:  a = subtract(x, y)  b = multiply(a, a)   →   %a
//
// Values are kept by name while the first module runs and compared while the second one does.

#include "hlo/first_difference.h"

#include <stdlib.h>

enum { KEPT_BYTES = 1 << 30 };  // of the first module's values; what does not fit is not compared

typedef struct Search {
    const HloModule *before, *after;
    HloErrorBounds bounds;
    HloArena arena;
    HloMap values;  // name -> HloLiteral of the first module
    size_t kept_bytes;
    HloBuffer *report;
    bool found;
    size_t compared, left_out;
} Search;

static size_t literal_bytes(const HloLiteral *literal) {
    size_t bytes = literal->size_bytes;
    for (size_t k = 0; literal->elements && k < literal->shape->rank; k++) bytes += literal_bytes(literal->elements[k]);
    return bytes;
}

typedef struct Keeping {
    Search *search;
    const HloInstruction *inst;
    const HloLiteral *value;
} Keeping;

static HloStatus store(void *data) {
    Keeping *k = data;
    const char *name = k->inst->name;
    void **entry = hlo_map_at_text(&k->search->arena, &k->search->values, name, strlen(name), NULL);
    *entry = hlo_literal_clone(&k->search->arena, k->value, k->value->shape);
    return hlo_ok();
}

// Called on the device's thread, so the arena needs a trap of that thread.
static HloStatus keep(void *data, const HloInstruction *inst, const HloLiteral *value) {
    Search *s = data;
    if (inst->comp != s->before->entry) return hlo_ok();
    size_t bytes = literal_bytes(value);
    if (bytes > KEPT_BYTES - s->kept_bytes) {
        s->left_out++;
        return hlo_ok();
    }
    s->kept_bytes += bytes;
    return hlo_guarded((HloArena *const[]){&s->arena, NULL}, store, &(Keeping){s, inst, value});
}

static HloStatus compare(void *data, const HloInstruction *inst, const HloLiteral *value) {
    Search *s = data;
    if (s->found || inst->comp != s->after->entry) return hlo_ok();
    const HloLiteral *kept = hlo_map_find_text(&s->values, inst->name, strlen(inst->name));
    if (!kept || !hlo_shape_equal(kept->shape, value->shape, HLO_IGNORE_LAYOUT)) return hlo_ok();
    s->compared++;
    HloStatus status = hlo_literal_compare(kept, value, s->bounds);
    if (hlo_status_code(status) != HLO_INVALID_ARGUMENT) return status;
    s->found = true;
    hlo_putf(s->report, "the first value that differs is that of %%%s = %s:\n%s\n", inst->name, hlo_op_name(inst->op),
             hlo_status_message(status));
    hlo_status_free(status);
    return hlo_ok();
}

static HloStatus evaluate(Search *s, const HloModule *m, const HloEvalWatcher *watcher, const HloLiteral *const *args,
                          size_t count) {
    HloArena arena = {.trap = s->arena.trap};
    HloLiteral *result;
    HloStatus status = hlo_eval(m, &(HloEvalOptions){.watcher = watcher}, &arena, args, count, &result);
    hlo_arena_free(&arena);
    return status;
}

typedef struct Call {
    Search *search;
    const HloLiteral *const *args;
    size_t count;
} Call;

static HloStatus search_both(void *data) {
    Call *call = data;
    Search *s = call->search;
    HLO_TRY(evaluate(s, s->before, &(HloEvalWatcher){keep, s}, call->args, call->count));
    HLO_TRY(evaluate(s, s->after, &(HloEvalWatcher){compare, s}, call->args, call->count));
    if (!s->found) hlo_putf(s->report, "no difference among %zu instructions of the same name", s->compared);
    if (!s->found && s->left_out) hlo_putf(s->report, "; %zu values were too large to keep", s->left_out);
    if (!s->found) hlo_put_char(s->report, '\n');
    return hlo_ok();
}

HloStatus hlo_find_first_difference(const HloModule *before, const HloModule *after, const HloLiteral *const *args,
                                    size_t count, HloErrorBounds bounds, HloBuffer *report, bool *found) {
    Search search = {.before = before, .after = after, .bounds = bounds, .report = report};
    HloStatus status =
        hlo_guarded((HloArena *const[]){&search.arena, NULL}, search_both, &(Call){&search, args, count});
    hlo_arena_free(&search.arena);
    *found = search.found;
    return status;
}
