// float-normalization-<low>: computes in a wider type what has a type that a target knows only how to store.
//
//   ROOT %s = bf16[4] add(%a, %b)
// becomes
//   %convert = f32[4] convert(%a)
//   %convert.1 = f32[4] convert(%b)
//   %s = f32[4] add(%convert, %convert.1)
//   ROOT %convert.2 = bf16[4] convert(%s)
//
// Everything is widened that does more than pass values on: copies, slices and broadcasts too. Reducers and comparators
// are cloned for every use and widened with it. Operands are converted one by one, without sharing; converts back to
// the wider type take the wide value itself, as it has only more precision (xla_allow_excess_precision; the option
// excess-precision=false keeps the rounding). Integers are never short-cut: that would undo the wrapping around.
//
// Ends with tuple-simplifier and dce when something was widened.
//
// bf16-mixed-precision-removal is the same for a target that computes in both types, but not in both at once:
//
//   %s = f32[4] add(f32[4] %a, bf16[4] %b)
//   %m = bf16[4] maximum(f32[4] %a, bf16[4] %b)
// becomes
//   %convert = f32[4] convert(%b)
//   %s = f32[4] add(%a, %convert)
//   %convert.1 = bf16[4] convert(%a)
//   %m = bf16[4] maximum(%convert.1, %b)
//
// Only what mixes is touched. Where the result is narrow and operands are no more than passed on, these are narrowed;
// all else is widened.
//
// Needs: nothing.  Keeps: signatures of computations, reducers of all-reduce and reduce-scatter, side effects, control
// edges.
//
// Differs from the reference: what an async-start wraps stays, as there is no room for converts; a convert of integers,
// or one that also changes the layout, is no short cut; copy-start and copy-done stay (widened, they would no longer
// fit together), and so does popcnt, which counts the bits of a sign.

#include "float_normalization.h"

#include "hlo/rewriter.h"

// Reducers are cloned for every use as long as that adds no more than this many instructions, or this many times the
// module's own; after that, uses share a clone.
enum { MOST_CLONED = 1 << 16, MOST_GROWTH = 4 };

typedef struct Normalizer {
    HloRewriter rw;
    HloType low, high;
    bool only_mixed;
    bool excess_precision;
    HloBits kept;  // by computation id: reducers of collectives, not to be visited
    HloMap wide;   // computation -> its last wide clone
    size_t cloned, most_cloned;
} Normalizer;

// ---- what is widened ------------------------------------------------------------------------------------

// These work on the narrow type as it is.
static bool is_supported(const HloInstruction *inst) {
    switch ((int)inst->op) {
    case HLO_OP_OPT_BARRIER:
    case HLO_OP_CLZ:
    case HLO_OP_POPCNT:
    case HLO_OP_SHIFT_RIGHT_ARITHMETIC:
    case HLO_OP_SHIFT_RIGHT_LOGICAL: return true;
    case HLO_OP_SCAN: return hlo_int(inst, HLO_ATTR_IS_ASSOCIATIVE);
    default: return false;
    }
}

// These pass values of any type on; calls do as their computations do.
static bool is_left_alone(const HloInstruction *inst) {
    if (hlo_op_has(inst->op, HLO_OPF_ASYNC) || hlo_has_own_side_effect(inst)) return true;
    switch ((int)inst->op) {
    case HLO_OP_TUPLE:
    case HLO_OP_GET_TUPLE_ELEMENT:
    case HLO_OP_CONSTANT:
    case HLO_OP_DOMAIN:
    case HLO_OP_PARAMETER:
    case HLO_OP_FUSION:
    case HLO_OP_CONVERT:
    case HLO_OP_CALL:
    case HLO_OP_CUSTOM_CALL:
    case HLO_OP_WHILE:
    case HLO_OP_CONDITIONAL:
    case HLO_OP_BITCAST:
    case HLO_OP_BITCAST_CONVERT:
    case HLO_OP_COPY_START:
    case HLO_OP_COPY_DONE: return true;
    default: return false;
    }
}

static bool keeps_callees(const HloInstruction *inst) {
    return inst->op == HLO_OP_ALL_REDUCE || inst->op == HLO_OP_REDUCE_SCATTER;
}

// These recursions go as deep as the parser lets tuples nest.
static bool has_type(const HloShape *shape, HloType type) {
    if (!hlo_shape_is_tuple(shape)) return shape->type == type;
    for (size_t k = 0; k < shape->rank; k++) {
        if (has_type(shape->elements[k], type)) return true;
    }
    return false;
}

static const HloShape *retyped(const Normalizer *n, const HloShape *shape, HloType from, HloType to) {
    HloShapes *shapes = &n->rw.m->shapes;
    if (!hlo_shape_is_tuple(shape)) return shape->type == from ? hlo_shape_with_type(shapes, shape, to) : shape;
    const HloShape **elements = HLO_NEW_ARRAY(n->rw.scratch, const HloShape *, shape->rank);
    for (size_t k = 0; k < shape->rank; k++) elements[k] = retyped(n, shape->elements[k], from, to);
    return hlo_shape_tuple(shapes, elements, shape->rank);
}

static bool has_low(const Normalizer *n, const HloShape *shape) {
    return has_type(shape, n->low);
}

static const HloShape *widened(const Normalizer *n, const HloShape *shape) {
    return retyped(n, shape, n->low, n->high);
}

// ---- converting -----------------------------------------------------------------------------------------

// `value` with the element types of `shape`; tuples are taken apart and put together again.
static HloInstruction *converted(Normalizer *n, HloInstruction *value, const HloShape *shape) {
    if (!value) return NULL;
    if (!hlo_shape_is_tuple(shape)) {
        return value->shape->type == shape->type ? value : hlo_build(&n->rw, HLO_OP_CONVERT, shape, &value, 1);
    }
    HloInstruction **elements = HLO_NEW_ARRAY(n->rw.scratch, HloInstruction *, shape->rank);
    for (size_t k = 0; k < shape->rank; k++) {
        elements[k] = converted(n, hlo_build_gte(&n->rw, value, (int64_t)k), shape->elements[k]);
    }
    return hlo_build_tuple(&n->rw, elements, shape->rank);
}

static void retype_operands(Normalizer *n, HloInstruction *inst, HloType from, HloType to) {
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        HloInstruction *operand = hlo_operand(inst, k);
        if (!has_type(operand->shape, from)) continue;
        HloInstruction *other = converted(n, operand, retyped(n, operand->shape, from, to));
        if (other) hlo_set_operand(inst, k, other);
    }
}

static void widen_operands(Normalizer *n, HloInstruction *inst) {
    retype_operands(n, inst, n->low, n->high);
}

static bool is_short_cut(const Normalizer *n, const HloInstruction *user, const HloInstruction *wide) {
    return n->excess_precision && hlo_type_is_float(n->low) && user->op == HLO_OP_CONVERT && user->shape == wide->shape;
}

// Everything that used `wide` when its type was still narrow now uses `narrow`, but for what was made since then, and
// for converts to the wide type, which nobody needs any more.
static void move_uses(Normalizer *n, HloInstruction *wide, HloInstruction *narrow, uint32_t first_new_id) {
    HloVec short_cuts = {0}, own = {0};
    for (size_t k = 0; k < hlo_user_count(wide); k++) {
        HloInstruction *user = hlo_user(wide, k);
        if (user->id >= first_new_id)
            hlo_vec_push(n->rw.scratch, &own, user);
        else if (is_short_cut(n, user, wide))
            hlo_vec_push(n->rw.scratch, &short_cuts, user);
    }
    hlo_rewriter_move_uses(&n->rw, wide, narrow);
    for (size_t k = 0; k < own.count; k++) hlo_set_operand(own.items[k], 0, wide);
    for (size_t k = 0; k < short_cuts.count; k++) {
        hlo_set_operand(short_cuts.items[k], 0, wide);
        hlo_rewriter_move_uses(&n->rw, short_cuts.items[k], wide);
    }
}

// Makes `inst` give the wide type, and converts it back for its users.
static void widen_result(Normalizer *n, HloInstruction *inst) {
    const HloShape *shape = inst->shape;
    if (!has_low(n, shape)) return;
    uint32_t first_new_id = inst->comp->id_limit;
    inst->shape = widened(n, shape);
    HloInstruction *narrow = converted(n, inst, shape);
    if (narrow) move_uses(n, inst, narrow, first_new_id);
}

// ---- called computations --------------------------------------------------------------------------------

static bool signature_has_low(const Normalizer *n, const HloComputation *comp) {
    if (has_low(n, comp->root->shape)) return true;
    for (size_t k = 0; k < hlo_parameter_count(comp); k++) {
        if (has_low(n, hlo_parameter(comp, k)->shape)) return true;
    }
    return false;
}

static void widen_signature(Normalizer *n, HloComputation *comp) {
    n->rw.comp = comp;
    HloInstruction *root = comp->root;
    if (has_low(n, root->shape)) {
        HloInstruction *wide = converted(n, root, widened(n, root->shape));
        if (wide) hlo_computation_set_root(comp, wide);
    }
    for (size_t k = 0; k < hlo_parameter_count(comp); k++) widen_result(n, hlo_parameter(comp, k));
}

static HloComputation *wide_clone(Normalizer *n, HloComputation *comp) {
    void **last = hlo_map_at(n->rw.scratch, &n->wide, comp);
    if (*last && n->cloned > n->most_cloned) return *last;
    HloComputation *clone = hlo_rewriter_clone_computation(&n->rw, comp, &n->cloned);
    *last = clone;
    widen_signature(n, clone);
    return clone;
}

static void widen_callees(Normalizer *n, HloInstruction *inst) {
    for (size_t k = 0; k < inst->called.count; k++) {
        HloComputation *callee = hlo_called(inst, k);
        if (signature_has_low(n, callee)) hlo_set_called(inst, k, wide_clone(n, callee));
    }
}

// ---- both types in one instruction ----------------------------------------------------------------------

typedef struct Mix {
    bool low, high;
} Mix;

static void mix_in(const Normalizer *n, Mix *mix, const HloShape *shape) {
    mix->low |= has_type(shape, n->low);
    mix->high |= has_type(shape, n->high);
}

static bool is_mixed(const Normalizer *n, const HloInstruction *inst) {
    Mix mix = {0};
    mix_in(n, &mix, inst->shape);
    for (size_t k = 0; k < hlo_operand_count(inst); k++) mix_in(n, &mix, hlo_operand(inst, k)->shape);
    for (size_t c = 0; c < inst->called.count && !keeps_callees(inst); c++) {
        const HloComputation *callee = hlo_called(inst, c);
        mix_in(n, &mix, callee->root->shape);
        for (size_t k = 0; k < hlo_parameter_count(callee); k++) mix_in(n, &mix, hlo_parameter(callee, k)->shape);
    }
    return mix.low && mix.high;
}

static bool is_all_low(const Normalizer *n, const HloShape *shape) {
    if (!hlo_shape_is_tuple(shape)) return shape->type == n->low;
    for (size_t k = 0; k < shape->rank; k++) {
        if (!is_all_low(n, shape->elements[k])) return false;
    }
    return true;
}

// What rounding does to the result of these it may as well do to their operands. Operations that have a predicate or
// an index besides are widened nevertheless, as in the reference.
static bool commutes_with_rounding(HloOpcode op) {
    switch ((int)op) {
    case HLO_OP_ABS:
    case HLO_OP_ALL_GATHER:
    case HLO_OP_ALL_TO_ALL:
    case HLO_OP_BROADCAST:
    case HLO_OP_CLAMP:
    case HLO_OP_COLLECTIVE_BROADCAST:
    case HLO_OP_COLLECTIVE_PERMUTE:
    case HLO_OP_CONCATENATE:
    case HLO_OP_COPY:
    case HLO_OP_MAXIMUM:
    case HLO_OP_MINIMUM:
    case HLO_OP_OPT_BARRIER:
    case HLO_OP_PAD:
    case HLO_OP_RAGGED_ALL_TO_ALL:
    case HLO_OP_RESHAPE:
    case HLO_OP_REVERSE:
    case HLO_OP_SLICE:
    case HLO_OP_TRANSPOSE: return true;
    default: return false;
    }
}

// The order of converts, which their names show, is the reference's.
static bool converts_operands_first(const HloInstruction *inst) {
    return hlo_shape_is_tuple(inst->shape) && (inst->op == HLO_OP_SORT || keeps_callees(inst));
}

static void unmix(Normalizer *n, HloInstruction *inst) {
    bool operands_first = converts_operands_first(inst);
    if (commutes_with_rounding(inst->op) && is_all_low(n, inst->shape)) {
        retype_operands(n, inst, n->high, n->low);
        return;
    }
    if (operands_first) widen_operands(n, inst);
    widen_result(n, inst);
    if (!operands_first) widen_operands(n, inst);
    if (!keeps_callees(inst)) widen_callees(n, inst);
}

// ---- the pass -------------------------------------------------------------------------------------------

static bool calls_low(const Normalizer *n, const HloInstruction *inst) {
    if (!inst->called.count || keeps_callees(inst) || is_left_alone(inst)) return false;
    for (size_t k = 0; k < inst->called.count; k++) {
        if (signature_has_low(n, hlo_called(inst, k))) return true;
    }
    return false;
}

// Cheap, and the end of it for most modules and types.
static bool computation_has_low(const Normalizer *n, const HloComputation *comp) {
    HLO_EACH_INST(inst, comp) {
        if (has_low(n, inst->shape) || calls_low(n, inst)) return true;
    }
    return false;
}

static bool mentions_low(const Normalizer *n, const HloInstruction *inst) {
    if (has_low(n, inst->shape)) return true;
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        if (has_low(n, hlo_operand(inst, k)->shape)) return true;
    }
    return calls_low(n, inst);
}

static bool is_wanted(const Normalizer *n, const HloInstruction *inst) {
    if (is_left_alone(inst)) return false;
    return n->only_mixed ? is_mixed(n, inst) : !is_supported(inst) && mentions_low(n, inst);
}

static void normalize(Normalizer *n, HloInstruction *inst) {
    if (!is_wanted(n, inst) || hlo_rewriter_is_spent(&n->rw)) return;
    hlo_rewriter_at(&n->rw, inst);
    n->rw.rule = n->only_mixed ? "compute-in-one-type" : "compute-in-wide-type";
    hlo_rewriter_note(&n->rw, n->rw.rule, inst, inst);
    if (n->only_mixed) {
        unmix(n, inst);
        return;
    }
    widen_operands(n, inst);
    widen_result(n, inst);
    if (!keeps_callees(inst)) widen_callees(n, inst);
}

typedef struct Sharers {
    HloVec keeping;  // callers that keep the computation as it is
    bool has_others;
} Sharers;

static Sharers find_sharers(HloArena *scratch, const HloComputation *comp) {
    Sharers sharers = {0};
    for (size_t k = 0; k < comp->callers.count; k++) {
        HloInstruction *caller = comp->callers.items[k];
        if (keeps_callees(caller))
            hlo_vec_push(scratch, &sharers.keeping, caller);
        else
            sharers.has_others = true;
    }
    return sharers;
}

// A reducer that collectives share with others is copied for the collectives.
static HloComputation *unshared(Normalizer *n, HloComputation *comp, const Sharers *sharers) {
    if (!sharers->has_others) return comp;
    HloRewriter *rw = &n->rw;
    hlo_rewriter_note(rw, "copy-shared-reducer", sharers->keeping.items[0], sharers->keeping.items[0]);
    HloComputation *copy = hlo_computation_clone(rw->m, comp, comp->name, NULL, rw->scratch, NULL);
    hlo_module_add(rw->m, copy);
    for (size_t k = 0; k < sharers->keeping.count; k++) hlo_set_called(sharers->keeping.items[k], 0, copy);
    return copy;
}

static void keep_collective_reducers(Normalizer *n) {
    HloVec kept = {0};
    HloCompList comps = hlo_module_list(n->rw.m, n->rw.scratch);
    for (size_t k = 0; k < comps.count && !hlo_rewriter_is_spent(&n->rw); k++) {
        Sharers sharers = find_sharers(n->rw.scratch, comps.items[k]);
        if (sharers.keeping.count) hlo_vec_push(n->rw.scratch, &kept, unshared(n, comps.items[k], &sharers));
    }
    n->kept = hlo_bits_new(n->rw.scratch, n->rw.m->computation_id_limit);
    for (size_t k = 0; k < kept.count; k++) hlo_bits_add(n->kept, ((const HloComputation *)kept.items[k])->id);
}

static bool normalize_all(Normalizer *n) {
    uint64_t before = n->rw.cx->log->count;
    HloCompList comps = hlo_module_post_order(n->rw.m, n->rw.scratch);
    for (size_t c = 0; c < comps.count; c++) {
        const HloComputation *comp = comps.items[c];
        if (hlo_bits_has(n->kept, comp->id) || hlo_is_async_computation(comp) || !computation_has_low(n, comp))
            continue;
        HloInstList order = hlo_visitor_order(comps.items[c], n->rw.scratch);
        for (size_t k = 0; k < order.count; k++) {
            if (order.items[k]->comp) normalize(n, order.items[k]);
        }
    }
    return n->rw.cx->log->count > before;
}

HloStatus hlo_float_normalization_run(HloPassContext *cx, HloModule *m, bool *changed, HloNormalization what) {
    Normalizer n = {.rw = hlo_rewriter(cx, m), .low = what.low, .high = what.high, .only_mixed = what.only_mixed};
    n.excess_precision = hlo_option_bool(cx, "excess-precision");
    n.most_cloned = MOST_CLONED + MOST_GROWTH * hlo_module_instruction_count(m);
    keep_collective_reducers(&n);
    bool widened_some = normalize_all(&n);
    HLO_TRY(hlo_rewriter_finish(&n.rw, changed));
    if (!widened_some) return hlo_ok();
    HLO_TRY(hlo_pass_run_inside(cx, "tuple-simplifier", m, changed));
    return hlo_pass_run_inside(cx, "dce", m, changed);
}
