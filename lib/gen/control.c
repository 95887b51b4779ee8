// Random calls, fusions, loops and branches, with the computations that they call.

#include "lib/gen/gen.h"

enum { MOST_ARGUMENTS = 3, MOST_TRIPS = 4, MOST_BODY = 12 };

static size_t draw_body(Gen *g) {
    return (size_t)between(g, 1, MOST_BODY);
}

// Arguments from the pool; parameters of the computation being made are what they are for.
static size_t pick_arguments(Gen *g, Value *args) {
    size_t wanted = (size_t)between(g, 1, MOST_ARGUMENTS), count = 0;
    for (size_t k = 0; k < wanted; k++) count += hlo_gen_pick_tame(g, &args[count]);
    return count;
}

static void add_parameters(Gen *g, const Value *args, size_t count) {
    for (size_t k = 0; k < count; k++) hlo_gen_parameter(g, k, args[k].inst->shape, args[k]);
}

// ---- calls ----------------------------------------------------------------------------------------------

// The last values of a body, as a tuple when there are several.
static Value draw_result(Gen *g) {
    const Value *values = g->pool.values;
    size_t count = g->pool.count;
    Value last = values[count - 1];
    if (count < 3 || one_in(g, 2)) return last;
    Value both = hlo_gen_join(&last, &values[count - 2]);
    both.inst = hlo_build_tuple(&g->rw, (HloInstruction *const[]){last.inst, values[count - 2].inst}, 2);
    return both;
}

static void remember(Gen *g, HloComputation *comp, const Value *args, size_t count, Value result) {
    if (!comp) return;
    if (g->callee_count == g->callee_capacity) {
        g->callees = hlo_arena_grow(g->scratch, g->callees, &g->callee_capacity, 8, sizeof *g->callees);
    }
    Callee callee = {comp, hlo_arena_copy(g->scratch, args, count * sizeof *args), result};
    g->callees[g->callee_count++] = callee;
}

static void add_call(Gen *g, HloComputation *comp, HloInstruction *const *operands, size_t count, const Value *result) {
    HloInstruction *inst = comp ? hlo_gen_new(g, HLO_OP_CALL, operands, count) : NULL;
    if (!inst) return;
    hlo_set_called(inst, 0, comp);
    hlo_gen_put_like(g, hlo_gen_add(g, inst), result);
}

static void call_new(Gen *g) {
    Value args[MOST_ARGUMENTS];
    HloInstruction *operands[MOST_ARGUMENTS];
    if (g->depth >= MOST_DEPTH) return;
    size_t count = pick_arguments(g, args);
    for (size_t k = 0; k < count; k++) operands[k] = args[k].inst;
    if (!count) return;
    Frame frame = hlo_gen_enter(g, "called", CONTEXT_SEQUENCE);
    add_parameters(g, args, count);
    hlo_gen_fill(g, draw_body(g));
    Value result = draw_result(g);
    HloComputation *comp = hlo_gen_leave(g, frame, result.inst);
    remember(g, comp, args, count, result);
    add_call(g, comp, operands, count, &result);
}

// Numbers that the body can take: no larger and no wilder than those it was made for.
static bool fits_parameter(const Gen *g, const Value *v, const void *what) {
    (void)g;
    const Value *wanted = what;
    return v->inst->shape == wanted->inst->shape && v->mag <= wanted->mag && v->rough <= wanted->rough && !v->wild;
}

static void call_again(Gen *g) {
    HloInstruction *operands[MOST_ARGUMENTS];
    if (!g->callee_count || g->depth) return;  // on top, where all of them are finished
    const Callee *callee = &g->callees[below(g, (int64_t)g->callee_count)];
    size_t count = hlo_parameter_count(callee->comp);
    for (size_t k = 0; k < count; k++) {
        Value v;
        if (!hlo_gen_pick(g, fits_parameter, &callee->params[k], &v)) return;
        operands[k] = v.inst;
    }
    add_call(g, callee->comp, operands, count, &callee->result);
}

// ---- fusions --------------------------------------------------------------------------------------------

// Fusions hold no dead code.
static void drop_dead(HloComputation *comp, const HloInstruction *root) {
    for (HloInstruction *inst = comp->last, *prev; inst; inst = prev) {
        prev = inst->prev;
        if (inst != root && hlo_user_count(inst) == 0 && inst->op != HLO_OP_PARAMETER)
            hlo_computation_remove(comp, inst);
    }
}

static void drop_unused_operands(Gen *g, HloInstruction *fusion) {
    const HloComputation *comp = hlo_called(fusion, 0);
    HloBits dead = hlo_bits_new(g->scratch, hlo_parameter_count(comp));
    bool any = false;
    for (size_t k = 0; k < hlo_parameter_count(comp); k++) {
        const HloInstruction *parameter = hlo_parameter(comp, k);
        if (hlo_user_count(parameter) || parameter == comp->root) continue;
        hlo_bits_add(dead, k);
        any = true;
    }
    if (any) hlo_fusion_drop_operands(&g->rw, fusion, dead);
}

static void fusion(Gen *g) {
    Value args[MOST_ARGUMENTS];
    HloInstruction *operands[MOST_ARGUMENTS];
    size_t count = pick_arguments(g, args);
    if (!count || g->depth >= MOST_DEPTH) return;
    Frame frame = hlo_gen_enter(g, "fused", CONTEXT_FUSION);
    for (size_t k = 0; k < count; k++) operands[k] = args[k].inst;
    add_parameters(g, args, count);
    hlo_gen_fill(g, draw_body(g));
    Value result = draw_result(g);
    if (result.inst) drop_dead(g->rw.comp, result.inst);
    HloComputation *comp = hlo_gen_leave(g, frame, result.inst);
    HloInstruction *inst = comp ? hlo_gen_new(g, HLO_OP_FUSION, operands, count) : NULL;
    if (!inst) return;
    hlo_set_int(g->m, inst, HLO_ATTR_FUSION_KIND, HLO_FUSION_KIND_LOOP);
    hlo_set_called(inst, 0, comp);
    inst = hlo_gen_add(g, inst);
    if (inst) drop_unused_operands(g, inst);
    hlo_gen_put_like(g, inst, &result);
}

// ---- loops ----------------------------------------------------------------------------------------------

static HloInstruction *number(Gen *g, double value) {
    return hlo_build_scalar(&g->rw, HLO_S32, value);
}

// state.0 < trips
static HloComputation *make_condition(Gen *g, const HloShape *state, int64_t trips) {
    Frame frame = hlo_gen_enter(g, "condition", CONTEXT_SEQUENCE);
    Value v = hlo_gen_parameter(g, 0, state, (Value){0});
    HloInstruction *counter = hlo_build_gte(&g->rw, v.inst, 0);
    return hlo_gen_leave(g, frame,
                         hlo_build_compare(&g->rw, HLO_COMPARE_DIRECTION_LT, counter, number(g, (double)trips)));
}

// A value of the shape from the pool that may become the next state: floats within ±1, by a tanh.
static HloInstruction *next_state(Gen *g, const Value *now) {
    Value next = hlo_gen_partner(g, now);
    if (!is_floating(now)) return next.inst;
    if (next.wild || class_of(now) == HLO_CLASS_COMPLEX) return now->inst;
    return hlo_build_unary(&g->rw, HLO_OP_TANH, next.inst);
}

// {state.0 + 1, something of the shape of state.1, …}
static HloComputation *make_body(Gen *g, const HloShape *state, const Value *init, size_t count) {
    Frame frame = hlo_gen_enter(g, "body", CONTEXT_SEQUENCE);
    HloInstruction *parts[MOST_ARGUMENTS + 1];
    Value values[MOST_ARGUMENTS];
    HloInstruction *v = hlo_gen_parameter(g, 0, state, (Value){.wild = true}).inst;
    g->pool.count = 0;  // the tuple itself is for its elements only
    parts[0] = hlo_build_binary(&g->rw, HLO_OP_ADD, hlo_build_gte(&g->rw, v, 0), number(g, 1));
    for (size_t k = 0; k < count; k++) {
        values[k] = init[k];
        values[k].inst = hlo_build_gte(&g->rw, v, (int64_t)k + 1);
        values[k].rough = is_floating(&init[k]);
        if (values[k].mag < 0) values[k].mag = 0;
        hlo_gen_put_like(g, values[k].inst, &values[k]);
    }
    hlo_gen_fill(g, draw_body(g));
    for (size_t k = 0; k < count; k++) parts[k + 1] = values[k].inst ? next_state(g, &values[k]) : NULL;
    return hlo_gen_leave(g, frame, hlo_build_tuple(&g->rw, parts, count + 1));
}

static void while_loop(Gen *g) {
    Value init[MOST_ARGUMENTS];
    HloInstruction *parts[MOST_ARGUMENTS + 1];
    if (g->depth >= MOST_DEPTH - 1) return;
    size_t count = pick_arguments(g, init);
    if (!count) return;
    parts[0] = number(g, 0);
    for (size_t k = 0; k < count; k++) parts[k + 1] = init[k].inst;
    HloInstruction *start = hlo_build_tuple(&g->rw, parts, count + 1);
    HloInstruction *inst = hlo_gen_new(g, HLO_OP_WHILE, &start, 1);
    if (!inst) return;
    hlo_set_called(inst, 0, make_body(g, start->shape, init, count));
    hlo_set_called(inst, 1, make_condition(g, start->shape, between(g, 0, MOST_TRIPS)));
    inst = hlo_gen_add(g, inst);
    for (size_t k = 0; k < count; k++) {
        bool rough = is_floating(&init[k]);
        hlo_gen_put(g, hlo_build_gte(&g->rw, inst, (int64_t)k + 1), init[k].mag < 0 ? 0 : init[k].mag, rough, false);
    }
}

// ---- branches -------------------------------------------------------------------------------------------

static bool fits_selector(const Gen *g, const Value *v, const void *what) {
    (void)g, (void)what;
    const HloShape *shape = v->inst->shape;
    return hlo_shape_is_scalar(shape) && (shape->type == HLO_PRED || shape->type == HLO_S32) && is_exact(v);
}

// Some value of the argument's shape; the argument itself at worst.
static HloComputation *make_branch(Gen *g, const Value *arg, Value *result) {
    Frame frame = hlo_gen_enter(g, "branch", CONTEXT_SEQUENCE);
    Value parameter = hlo_gen_parameter(g, 0, arg->inst->shape, *arg);
    hlo_gen_fill(g, draw_body(g));
    *result = hlo_gen_partner(g, &parameter);
    return hlo_gen_leave(g, frame, result->inst);
}

static void conditional(Gen *g) {
    enum { MOST_BRANCHES = 3 };
    Value arg, selector, all = {.mag = 0}, result;
    HloComputation *branches[MOST_BRANCHES];
    HloInstruction *operands[MOST_BRANCHES + 1];
    if (g->depth >= MOST_DEPTH - 1 || !hlo_gen_pick_tame(g, &arg)) return;
    if (!hlo_gen_pick(g, fits_selector, NULL, &selector)) selector = hlo_gen_index(g, -1, MOST_BRANCHES);
    if (!selector.inst) return;
    size_t count = selector.inst->shape->type == HLO_PRED ? 2 : (size_t)between(g, 1, MOST_BRANCHES);
    operands[0] = selector.inst;
    for (size_t k = 0; k < count; k++) {
        operands[k + 1] = arg.inst;
        branches[k] = make_branch(g, &arg, &result);
        all = hlo_gen_join(&all, &result);
    }
    HloInstruction *inst = hlo_gen_new(g, HLO_OP_CONDITIONAL, operands, count + 1);
    for (size_t k = 0; k < count && inst; k++) {
        if (!branches[k]) return;
        hlo_set_called(inst, k, branches[k]);
    }
    hlo_gen_put_like(g, hlo_gen_add(g, inst), &all);
}

MakerTable hlo_gen_control(void) {
    static const Maker makers[] = {
        {HLO_OP_CALL, "call", 3, CONTEXT_SEQUENCE, call_new},
        {HLO_OP_CALL, "call-again", 3, CONTEXT_SEQUENCE, call_again},
        {HLO_OP_FUSION, "fusion", 4, CONTEXT_SEQUENCE, fusion},
        {HLO_OP_WHILE, "while", 3, CONTEXT_SEQUENCE, while_loop},
        {HLO_OP_CONDITIONAL, "conditional", 3, CONTEXT_SEQUENCE, conditional},
    };
    return (MakerTable){makers, HLO_COUNT(makers)};
}
