// Comparing versions of a module by what they compute.

#include "hlo/numerics.h"

#include <math.h>
#include <stdlib.h>

#include "hlo/npy.h"
#include "hlo/random_inputs.h"

enum { ROUNDS = 2, MOST_DEVICES = 64, MOST_STEPS = 20000000 };

typedef struct Round {
    bool is_used;
    HloLiteral **args;     // the same on every device
    HloLiteral **results;  // by device
    uint64_t most_trips;   // of the longest loop
} Round;

struct HloNumerics {
    HloArena arena;
    HloNumericsOptions options;
    HloShapes shapes;  // of the entry, so that the module may go
    const HloShape **parameters, *result;
    HloType coarsest;  // of the module
    size_t parameter_count;
    int64_t replicas, partitions;
    Round rounds[ROUNDS];
};

HloErrorBounds hlo_rounding_bounds(HloType type) {
    HloType part = hlo_type_is_complex(type) ? hlo_type_complex_part(type) : type;
    if (!hlo_type_is_float(part)) return (HloErrorBounds){0, 0};
    double rel = ldexp(1, -hlo_type_info(part)->mantissa_bits / 2);
    return (HloErrorBounds){rel / 64, rel};
}

// The type of the shortest mantissa that numbers of the module go through; HLO_TYPE_COUNT when there are no floats.
static HloType coarsest_type(const HloModule *m) {
    HloType coarsest = HLO_TYPE_COUNT;
    HLO_EACH_COMP(comp, m) {
        HLO_EACH_INST(inst, comp) {
            HloType type = inst->shape->type;
            if (hlo_type_is_complex(type)) type = hlo_type_complex_part(type);
            if (!hlo_type_is_float(type)) continue;
            bool coarser = coarsest == HLO_TYPE_COUNT ||
                           hlo_type_info(type)->mantissa_bits < hlo_type_info(coarsest)->mantissa_bits;
            if (coarser) coarsest = type;
        }
    }
    return coarsest;
}

static HloErrorBounds looser(HloErrorBounds a, HloErrorBounds b) {
    return a.rel && a.rel < b.rel ? b : a;
}

// Of results of `type` whose numbers may have gone through `coarsest` on the way.
static HloErrorBounds bounds_through(HloType type, HloType coarsest) {
    HloErrorBounds own = hlo_rounding_bounds(type);
    return coarsest == HLO_TYPE_COUNT ? own : looser(own, hlo_rounding_bounds(coarsest));
}

HloErrorBounds hlo_module_rounding_bounds(const HloModule *m, HloType type) {
    return bounds_through(type, coarsest_type(m));
}

// ---- arguments ------------------------------------------------------------------------------------------

// -2, -1.5, … 2 for floats and -4 … 4 for integers, without an order.
static void fill_small(HloRandom *random, HloLiteral *literal) {
    HloType type = literal->shape->type;
    bool is_unsigned = hlo_type_class(type) == HLO_CLASS_UNSIGNED, is_float = hlo_type_is_float(type);
    for (int64_t at = 0; at < literal->elem_count; at++) {
        random->state = random->state * 16807 % 2147483647;
        int64_t value = (int64_t)(random->state >> 8) % 9 - 4;
        if (is_float)
            hlo_literal_set_double(literal, at, (double)value / 2);
        else if (hlo_type_is_complex(type))
            hlo_literal_set_complex(literal, at, (double)value / 2, 1);
        else
            hlo_literal_set_int(literal, at, type == HLO_PRED ? value > 0 : is_unsigned ? value + 4 : value);
    }
}

static HloStatus make_arguments(HloNumerics *n, int round) {
    HloRandom random = {.state = n->options.seed % 2147483646 + (n->options.seed ? 0 : 1)};
    if (!random.state) random.state = 1;
    n->rounds[round].args = HLO_NEW_ARRAY(&n->arena, HloLiteral *, n->parameter_count);
    for (size_t k = 0; k < n->parameter_count; k++) {
        HloLiteral **arg = n->rounds[round].args + k;
        HLO_TRY(hlo_literal_new(&n->arena, n->parameters[k], arg));
        HloVec leaves = hlo_literal_leaves(&n->arena, *arg);
        for (size_t leaf = 0; leaf < leaves.count && round > 0; leaf++) fill_small(&random, leaves.items[leaf]);
        if (round == 0) hlo_random_fill(&random, *arg);
    }
    return hlo_ok();
}

// ---- evaluating -----------------------------------------------------------------------------------------

static HloStatus evaluate(const HloNumerics *n, const HloModule *m, const HloEvalOptions *options, int round,
                          HloArena *arena, HloLiteral ***out) {
    size_t devices = (size_t)(n->replicas * n->partitions);
    const HloLiteral *const **args = HLO_NEW_ARRAY(arena, const HloLiteral *const *, devices);
    for (size_t d = 0; d < devices; d++) args[d] = (const HloLiteral *const *)n->rounds[round].args;
    *out = HLO_NEW_ARRAY(arena, HloLiteral *, devices);
    return hlo_eval_devices(m, options, n->replicas, n->partitions, arena, args, n->parameter_count, *out);
}

typedef struct Opening {
    HloNumerics *numerics;
    const HloModule *m;
} Opening;

// Arguments on which the module goes on for too long are not used, as long as there are others.
static HloStatus open_round(HloNumerics *n, const HloModule *m, int round) {
    Round *first = &n->rounds[round];
    HloEvalOptions options = {.limits = n->options.limits, .most_trips = &first->most_trips};
    HloStatus status = evaluate(n, m, &options, round, &n->arena, &first->results);
    first->is_used = hlo_is_ok(status);
    if (round == 0 || hlo_status_code(status) != HLO_RESOURCE_EXHAUSTED) return status;
    hlo_status_free(status);
    return hlo_ok();
}

static HloStatus open_numerics(void *data) {
    HloNumerics *n = ((Opening *)data)->numerics;
    const HloModule *m = ((Opening *)data)->m;
    n->shapes.arena = &n->arena;
    n->parameter_count = hlo_parameter_count(m->entry);
    n->parameters = HLO_NEW_ARRAY(&n->arena, const HloShape *, n->parameter_count);
    for (size_t k = 0; k < n->parameter_count; k++) {
        n->parameters[k] = hlo_shape_import(&n->shapes, hlo_parameter(m->entry, k)->shape);
    }
    n->result = hlo_shape_import(&n->shapes, m->entry->root->shape);
    n->coarsest = coarsest_type(m);
    for (int round = 0; round < ROUNDS; round++) {
        HLO_TRY(make_arguments(n, round));
        HLO_TRY(open_round(n, m, round));
    }
    return hlo_ok();
}

HloStatus hlo_numerics_new(const HloModule *m, const HloNumericsOptions *options, HloNumerics **out) {
    int64_t replicas, partitions;
    HLO_TRY(hlo_eval_count_devices(m, &replicas, &partitions));
    if (replicas > MOST_DEVICES || partitions > MOST_DEVICES / replicas) {
        return hlo_error(HLO_UNIMPLEMENTED, "a module for more than %d devices is not evaluated", MOST_DEVICES);
    }
    HloNumerics *n = calloc(1, sizeof *n);
    if (!n) return hlo_out_of_memory();
    n->options = *options;
    if (!options->limits.steps) n->options.limits.steps = MOST_STEPS;
    if (!options->limits.bytes) n->options.limits.bytes = hlo_memory_budget();
    n->replicas = replicas;
    n->partitions = partitions;
    HloStatus status = hlo_guarded((HloArena *const[]){&n->arena, NULL}, open_numerics, &(Opening){n, m});
    if (hlo_is_ok(status))
        *out = n;
    else
        hlo_numerics_free(n);
    return status;
}

void hlo_numerics_free(HloNumerics *numerics) {
    if (!numerics) return;
    hlo_arena_free(&numerics->arena);
    free(numerics);
}

// ---- comparing ------------------------------------------------------------------------------------------

static bool is_comparable(const HloNumerics *n, const HloModule *m) {
    const unsigned ignored = HLO_IGNORE_LAYOUT | HLO_IGNORE_DYNAMIC;
    if (hlo_parameter_count(m->entry) != n->parameter_count) return false;
    for (size_t k = 0; k < n->parameter_count; k++) {
        if (!hlo_shape_equal(n->parameters[k], hlo_parameter(m->entry, k)->shape, ignored)) return false;
    }
    return hlo_shape_equal(n->result, m->entry->root->shape, ignored) && m->num_partitions == n->partitions &&
           m->replica_count == n->replicas;
}

typedef struct Comparison {
    const HloNumerics *numerics;
    const HloModule *m;
    HloArena arena;
    HloBuffer *report;
    bool same;
} Comparison;

static HloErrorBounds bounds_of(const HloNumerics *n, HloType type) {
    HloErrorBounds given = n->options.bounds;
    return given.abs || given.rel ? given : bounds_through(type, n->coarsest);
}

// The first leaf that differs is reported.
static HloStatus compare_results(Comparison *c, const HloLiteral *expected, const HloLiteral *actual) {
    HloVec wanted = hlo_literal_leaves(&c->arena, (HloLiteral *)(uintptr_t)expected);
    HloVec given = hlo_literal_leaves(&c->arena, (HloLiteral *)(uintptr_t)actual);
    for (size_t k = 0; k < wanted.count && c->same; k++) {
        const HloLiteral *leaf = wanted.items[k];
        if (!hlo_shape_is_array(leaf->shape)) continue;
        HloStatus status = hlo_literal_compare(leaf, given.items[k], bounds_of(c->numerics, leaf->shape->type));
        if (hlo_is_ok(status)) continue;
        if (hlo_status_code(status) != HLO_INVALID_ARGUMENT) return status;
        c->same = false;
        if (c->report && wanted.count > 1) hlo_putf(c->report, "leaf %zu of the result: ", k);
        if (c->report) hlo_put_string(c->report, hlo_status_message(status));
        hlo_status_free(status);
    }
    return hlo_ok();
}

// A loop that goes on and on, and devices that wait for each other, give no result where there was one before. Any
// other failure says nothing about the module.
static HloStatus evaluate_again(Comparison *c, int round, HloLiteral ***results) {
    enum { MORE_TRIPS = 100000, TRIP_FACTOR = 16 };
    const HloNumerics *n = c->numerics;
    uint64_t trips = 0;
    HloEvalOptions options = {.limits = n->options.limits, .most_trips = &trips};
    uint64_t *limit = &options.limits.loop_trips;
    if (!*limit) *limit = n->rounds[round].most_trips * TRIP_FACTOR + MORE_TRIPS;
    HloStatus status = evaluate(n, c->m, &options, round, &c->arena, results);
    bool hangs = hlo_status_code(status) == HLO_RESOURCE_EXHAUSTED && trips > *limit;
    bool waits = hlo_status_code(status) == HLO_FAILED_PRECONDITION;
    if (!hangs && !waits) return status;
    c->same = false;
    if (c->report) hlo_put_string(c->report, hlo_status_message(status));
    hlo_status_free(status);
    return hlo_ok();
}

static HloStatus compare(void *data) {
    Comparison *c = data;
    const HloNumerics *n = c->numerics;
    size_t devices = (size_t)(n->replicas * n->partitions);
    for (int round = 0; round < ROUNDS && c->same; round++) {
        if (!n->rounds[round].is_used) continue;
        HloLiteral **results = NULL;
        HLO_TRY(evaluate_again(c, round, &results));
        for (size_t d = 0; d < devices && c->same; d++) {
            HLO_TRY(compare_results(c, n->rounds[round].results[d], results[d]));
        }
    }
    return hlo_ok();
}

HloStatus hlo_numerics_compare(const HloNumerics *numerics, const HloModule *m, bool *same, HloBuffer *report) {
    Comparison c = {.numerics = numerics, .m = m, .report = report, .same = true};
    HloStatus status = hlo_ok();
    if (is_comparable(numerics, m)) status = hlo_guarded((HloArena *const[]){&c.arena, NULL}, compare, &c);
    hlo_arena_free(&c.arena);
    *same = c.same;
    return status;
}
