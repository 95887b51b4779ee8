// The predicate that computes: a module gives other values than the first module that was asked.
//
// The interpreter runs both on the same made-up arguments. It does what every instruction means and nothing else, so
// that a difference comes from the module.

#include "hlo/bisect.h"
#include "hlo/eval.h"
#include "hlo/infer.h"
#include "hlo/random_inputs.h"

#include <stdlib.h>

enum { MOST_STEPS = 1000000000 };  // instructions; a wrong loop must not run for ever

typedef struct Numerics {
    HloErrorBounds bounds;
    HloModule *first;  // owned; NULL before the first question
    HloArena arena;    // of what follows
    const HloLiteral **args;
    size_t arg_count;
    HloLiteral *expected;
} Numerics;

static bool is_valid(const HloModule *m) {
    HloVerifyOptions rules = {.allow_mixed_precision = true, .allow_fused_dead_code = true};
    HloStatus status = hlo_verify_module(m, &rules);
    bool valid = hlo_is_ok(status);
    hlo_status_free(status);
    return valid;
}

static HloStatus evaluate(const Numerics *n, const HloModule *m, HloArena *arena, HloLiteral **result) {
    HloEvalOptions options = {.limits = {.steps = MOST_STEPS}};
    return hlo_eval(m, &options, arena, n->args, n->arg_count, result);
}

static HloStatus make_arguments(void *data) {
    Numerics *n = data;
    HloRandom random = {1};
    n->arg_count = hlo_parameter_count(n->first->entry);
    n->args = HLO_NEW_ARRAY(&n->arena, const HloLiteral *, n->arg_count);
    for (size_t k = 0; k < n->arg_count; k++) {
        HloLiteral *arg;
        HLO_TRY(hlo_literal_new(&n->arena, hlo_parameter(n->first->entry, k)->shape, &arg));
        hlo_random_fill(&random, arg);
        n->args[k] = arg;
    }
    return hlo_ok();
}

// Keeps a copy of the module, whose shapes the literals use.
static HloStatus expect(Numerics *n, const HloModule *m) {
    n->first = hlo_module_clone(m);
    if (!n->first) return hlo_out_of_memory();
    HLO_TRY(hlo_guarded((HloArena *const[]){&n->arena, NULL}, make_arguments, n));
    return evaluate(n, n->first, &n->arena, &n->expected);
}

static HloStatus numerics_hold(void *data, const HloModule *m, HloStringView text, bool *out) {
    (void)text;
    Numerics *n = data;
    *out = n->first && !is_valid(m);  // what breaks a rule has no result
    if (*out) return hlo_ok();
    if (!n->first) return expect(n, m);
    HloArena arena = {0};
    HloLiteral *result;
    HloStatus status = evaluate(n, m, &arena, &result);
    if (hlo_is_ok(status)) {
        HloStatus difference = hlo_literal_compare(n->expected, result, n->bounds);
        *out = !hlo_is_ok(difference);
        hlo_status_free(difference);
    }
    hlo_arena_free(&arena);
    return status;
}

static void free_numerics(void *data) {
    Numerics *n = data;
    if (n->first) hlo_module_free(n->first);
    hlo_arena_free(&n->arena);
    free(n);
}

HloStatus hlo_predicate_numerics(HloErrorBounds bounds, HloPredicate **out) {
    HloPredicate *predicate = calloc(1, sizeof *predicate);
    Numerics *n = calloc(1, sizeof *n);
    if (!predicate || !n) {
        free(predicate);
        free(n);
        return hlo_out_of_memory();
    }
    n->bounds = bounds;
    *predicate = (HloPredicate){.data = n,
                                .words = "the result differs",
                                .is_slow = true,
                                .needs_module = true,
                                .holds = numerics_hold,
                                .free = free_numerics};
    *out = predicate;
    return hlo_ok();
}
