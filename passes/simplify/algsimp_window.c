// algsimp: reduce-window.

#include "algsimp.h"

static const HloWindow *window_of(const HloInstruction *inst) {
    return hlo_data(inst, HLO_ATTR_WINDOW);
}

static bool is_single(const HloInstruction *inst) {
    return hlo_operand_count(inst) == 2 && hlo_shape_is_array(inst->shape);
}

// Variadic windows, and windows without dimensions, are left alone.
static HloInstruction *window_is_left_alone(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    const HloWindow *window = window_of(inst);
    bool is_plain = is_single(inst) && window && window->rank == hlo_operand(inst, 0)->shape->rank;
    return is_plain || (is_single(inst) && inst->shape->rank == 0) ? NULL : inst;
}

static HloInstruction *window_empty(HloAlg *alg, HloInstruction *inst) {
    bool variadic = hlo_shape_is_tuple(inst->shape);
    const HloShape *first = variadic ? inst->shape->elements[0] : inst->shape;
    if (!hlo_shape_is_empty(first) && !hlo_shape_is_empty(hlo_operand(inst, 0)->shape)) return NULL;
    size_t count = hlo_operand_count(inst) / 2;
    if (!variadic) return hlo_build_broadcast(alg->rw, first, hlo_operand(inst, 1), (HloDims){NULL, 0});
    HloInstruction **results = HLO_NEW_ARRAY(alg->scratch, HloInstruction *, count);
    for (size_t k = 0; k < count; k++) {
        const HloShape *shape = inst->shape->elements[k];
        HloInstruction *fill = hlo_build_broadcast(alg->rw, shape, hlo_operand(inst, count + k), (HloDims){NULL, 0});
        results[k] = hlo_derive(alg->rw, fill, inst);
    }
    return hlo_build_tuple(alg->rw, results, count);
}

static HloInstruction *window_scalar(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return inst->shape->rank == 0 ? hlo_operand(inst, 0) : NULL;
}

// ---- windows that see one element, or all ---------------------------------------------------------------

static bool is_contiguous(HloWindowDim w) {
    return w.stride == 1 && w.base_dilation == 1 && w.window_dilation == 1 && !w.reversal;
}

static bool reducer_op(const HloComputation *reducer, HloOpcode *op) {
    static const HloOpcode ops[] = {HLO_OP_ADD, HLO_OP_MINIMUM, HLO_OP_MAXIMUM};
    for (size_t i = 0; i < HLO_COUNT(ops); i++) {
        if (!hlo_alg_is_reducer(reducer, ops[i])) continue;
        *op = ops[i];
        return true;
    }
    return false;
}

// A window of one element combines each with the initial value. Padding, negative too, is a pad's.
static HloInstruction *window_of_one(HloAlg *alg, HloInstruction *inst) {
    const HloWindow *window = window_of(inst);
    HloOpcode op;
    if (!reducer_op(hlo_called(inst, 0), &op)) return NULL;
    HloPaddingDim *padding = HLO_NEW_ARRAY(alg->scratch, HloPaddingDim, window->rank + 1);
    bool pads = false;
    for (size_t d = 0; d < window->rank; d++) {
        HloWindowDim w = window->dims[d];
        if (w.size != 1 || !is_contiguous(w)) return NULL;
        padding[d] = (HloPaddingDim){w.pad_low, w.pad_high, 0};
        pads |= w.pad_low || w.pad_high;
    }
    HloInstruction *x = hlo_operand(inst, 0), *init = hlo_operand(inst, 1);
    HloInstruction *splat = hlo_alg_splat(alg, x->shape, init);
    HloInstruction *result = hlo_alg_binary(alg, x->shape, op, x, splat);
    if (!result || !pads) return result;
    HloInstruction *pad = hlo_alg_binary(alg, inst->shape, HLO_OP_PAD, result, init);
    if (pad) hlo_alg_set_padding(alg, pad, padding);
    return pad;
}

// Windows over whole dimensions reduce them.
static HloInstruction *window_reduce(HloAlg *alg, HloInstruction *inst) {
    if (!alg->window_to_reduce) return NULL;
    const HloWindow *window = window_of(inst);
    int64_t *reduced = hlo_alg_ints(alg, window->rank);
    size_t count = 0;
    for (size_t d = 0; d < window->rank; d++) {
        HloWindowDim w = window->dims[d];
        if (!is_contiguous(w) || w.pad_low || w.pad_high || (w.size != 1 && inst->shape->dims[d] != 1)) return NULL;
        if (w.size != 1) reduced[count++] = (int64_t)d;
    }
    if (count == 0) return NULL;
    HloInstruction *reduce =
        hlo_alg_reduce(alg, hlo_operand(inst, 0), hlo_operand(inst, 1), (HloDims){reduced, count}, hlo_called(inst, 0));
    return hlo_build_reshape(alg->rw, inst->shape, hlo_derive(alg->rw, reduce, inst));
}

// ---- window of pad --------------------------------------------------------------------------------------

// The value that fills a pad is the one that the window starts from, which also fills its own padding.
static bool is_same_value(const HloInstruction *filler, const HloInstruction *init) {
    if (filler == init) return true;
    if (!hlo_alg_is_scalar_constant(filler) || !hlo_alg_is_scalar_constant(init)) return false;
    const HloLiteral *a = hlo_constant(filler), *b = hlo_constant(init);
    if (a->elided || b->elided) return false;
    if (a->shape->type == b->shape->type) return hlo_literal_equal(a, b);
    return !hlo_type_is_complex(a->shape->type) && !hlo_type_is_complex(b->shape->type) &&
           hlo_literal_double(a, 0) == hlo_literal_double(b, 0);
}

// Adds a pad to a window dimension; false when the window cannot say it. Negative edges cannot be added: a window that
// is padded by 1 over a value cut by 1 sees a fill where the value was.
static bool add_padding(HloWindowDim *w, HloPaddingDim p) {
    if (p.low < 0 || p.high < 0 || (p.interior && w->base_dilation != 1)) return false;
    if (__builtin_add_overflow(w->pad_low, p.low * w->base_dilation, &w->pad_low)) return false;
    if (__builtin_add_overflow(w->pad_high, p.high * w->base_dilation, &w->pad_high)) return false;
    if (p.interior) w->base_dilation = p.interior + 1;
    return true;
}

// Below a convert, a window along one dimension is left to the scan forms unless it is padded by a tenth or more.
static bool is_long_scan(const HloInstruction *inst, const HloPadding *padding) {
    const HloWindow *window = window_of(inst);
    size_t scanned = 0, at = 0;
    for (size_t d = 0; d < window->rank; d++) {
        if (window->dims[d].size == 1) continue;
        scanned++;
        at = d;
    }
    if (scanned != 1) return false;
    double amount = (double)(padding->dims[at].low + padding->dims[at].high);
    return amount < 0.1 * (double)hlo_operand(inst, 0)->shape->dims[at];
}

// reduce-window(pad(x)) -> reduce-window(x), also with a convert between.
static HloInstruction *window_pad(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *convert = hlo_operand(inst, 0)->op == HLO_OP_CONVERT ? hlo_operand(inst, 0) : NULL;
    HloInstruction *pad = convert ? hlo_operand(convert, 0) : hlo_operand(inst, 0);
    if (pad->op != HLO_OP_PAD || !is_same_value(hlo_operand(pad, 1), hlo_operand(inst, 1))) return NULL;
    const HloPadding *padding = hlo_data(pad, HLO_ATTR_PADDING);
    if (convert && is_long_scan(inst, padding)) return NULL;
    const HloWindow *old = window_of(inst);
    HloWindowDim *dims = hlo_arena_copy(&alg->m->arena, old->dims, old->rank * sizeof *dims);
    for (size_t d = 0; d < old->rank; d++) {
        if (!add_padding(&dims[d], padding->dims[d])) return NULL;
    }
    HloInstruction *x = hlo_operand(pad, 0);
    if (convert) x = hlo_derive(alg->rw, hlo_build_convert(alg->rw, x, convert->shape->type), inst);
    HloInstruction *result = hlo_alg_binary(alg, inst->shape, HLO_OP_REDUCE_WINDOW, x, hlo_operand(inst, 1));
    if (!result) return NULL;
    HloWindow *window = HLO_NEW(&alg->m->arena, HloWindow);
    *window = (HloWindow){dims, old->rank};
    hlo_set_data(alg->m, result, HLO_ATTR_WINDOW, window);
    hlo_set_called(result, 0, hlo_called(inst, 0));
    return result;
}

static const HloAlgRule rules[] = {
    {HLO_OP_REDUCE_WINDOW, "window-empty", window_empty, HLO_ALG_PLAIN},
    {HLO_OP_REDUCE_WINDOW, "window-is-left-alone", window_is_left_alone, HLO_ALG_STOP},
    {HLO_OP_REDUCE_WINDOW, "window-scalar", window_scalar, HLO_ALG_PLAIN},
    {HLO_OP_REDUCE_WINDOW, "window-of-one", window_of_one, HLO_ALG_PLAIN},
    {HLO_OP_REDUCE_WINDOW, "window-reduce", window_reduce, HLO_ALG_PLAIN},
    {HLO_OP_REDUCE_WINDOW, "window-pad", window_pad, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_window_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
