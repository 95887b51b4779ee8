// Per-instruction verification: what holds for every instruction, then the rule of its opcode, by one table
// (verifier chapter §4).

#include "verify_rules.h"

// An opcode whose row names no rule is inferred and compared.
typedef struct VerifyRow {
    HloVerifyFn rule;
    HloVerifyCompare compare;
    bool mixes;  // may have operands of different float precision even when that is disallowed elsewhere
} VerifyRow;

static const VerifyRow rows[HLO_OP_COUNT] = {
    // Elementwise opcodes are found by their flag; these have more to check.
    [HLO_OP_COMPARE] = {hlo_verify_compare},
    [HLO_OP_CONVERT] = {hlo_verify_convert},
    [HLO_OP_COPY] = {hlo_verify_copy},
    [HLO_OP_BITCAST_CONVERT] = {hlo_verify_bitcast_convert},
    [HLO_OP_STOCHASTIC_CONVERT] = {hlo_verify_stochastic_convert},
    [HLO_OP_REDUCE_PRECISION] = {hlo_verify_elementwise, .mixes = true},

    [HLO_OP_PARAMETER] = {hlo_verify_nothing, .mixes = true},
    [HLO_OP_CONSTANT] = {hlo_verify_constant, .mixes = true},
    [HLO_OP_IOTA] = {hlo_verify_iota},
    [HLO_OP_TUPLE] = {.compare = HLO_COMPARE_SAME, .mixes = true},
    [HLO_OP_GET_TUPLE_ELEMENT] = {.compare = HLO_COMPARE_SAME, .mixes = true},
    [HLO_OP_OPT_BARRIER] = {.compare = HLO_COMPARE_SAME, .mixes = true},
    [HLO_OP_DOMAIN] = {hlo_verify_elementwise, .mixes = true},
    [HLO_OP_ADD_DEPENDENCY] = {hlo_verify_add_dependency},

    [HLO_OP_BITCAST] = {hlo_verify_bitcast},
    [HLO_OP_BROADCAST] = {hlo_verify_broadcast},
    [HLO_OP_RESHAPE] = {hlo_verify_reshape},
    [HLO_OP_DYNAMIC_RESHAPE] = {hlo_verify_dynamic_reshape},
    [HLO_OP_DYNAMIC_UPDATE_SLICE] = {hlo_verify_dynamic_update_slice},

    [HLO_OP_MAP] = {hlo_verify_reducer_types},
    [HLO_OP_REDUCE] = {hlo_verify_reducer_types},
    [HLO_OP_REDUCE_WINDOW] = {hlo_verify_reducer_types, .mixes = true},
    [HLO_OP_SORT] = {hlo_verify_sort, .mixes = true},
    [HLO_OP_SCAN] = {hlo_verify_scan},

    [HLO_OP_WHILE] = {hlo_verify_while, .mixes = true},
    [HLO_OP_CONDITIONAL] = {hlo_verify_conditional, .mixes = true},
    [HLO_OP_CALL] = {hlo_verify_call, .mixes = true},
    [HLO_OP_FUSION] = {hlo_verify_fusion, .mixes = true},
    [HLO_OP_CUSTOM_CALL] = {hlo_verify_custom_call, .mixes = true},
    [HLO_OP_ASYNC_START] = {hlo_verify_async_start, .mixes = true},
    [HLO_OP_ASYNC_UPDATE] = {hlo_verify_async_update, .mixes = true},
    [HLO_OP_ASYNC_DONE] = {hlo_verify_async_done, .mixes = true},

    [HLO_OP_DOT] = {hlo_verify_dot, .mixes = true},
    [HLO_OP_RAGGED_DOT] = {hlo_verify_ragged_dot, .mixes = true},
    [HLO_OP_SCALED_DOT] = {hlo_verify_scaled_dot, .mixes = true},
    [HLO_OP_CONVOLUTION] = {hlo_verify_convolution, .mixes = true},
    [HLO_OP_RNG] = {hlo_verify_rng},
    [HLO_OP_RNG_BIT_GENERATOR] = {hlo_verify_rng_bit_generator},
    [HLO_OP_RNG_GET_AND_UPDATE_STATE] = {hlo_verify_rng_state},

    [HLO_OP_ALL_GATHER] = {hlo_verify_all_gather, .mixes = true},
    [HLO_OP_ALL_GATHER_START] = {hlo_verify_all_gather, .mixes = true},
    [HLO_OP_ALL_GATHER_DONE] = {.mixes = true},
    [HLO_OP_ALL_REDUCE] = {hlo_verify_all_reduce, .mixes = true},
    [HLO_OP_ALL_REDUCE_START] = {hlo_verify_all_reduce, .mixes = true},
    [HLO_OP_ALL_REDUCE_DONE] = {.mixes = true},
    [HLO_OP_ALL_TO_ALL] = {hlo_verify_all_to_all},
    [HLO_OP_COLLECTIVE_PERMUTE] = {hlo_verify_collective_permute, .mixes = true},
    [HLO_OP_COLLECTIVE_PERMUTE_START] = {hlo_verify_collective_permute, .mixes = true},
    [HLO_OP_COLLECTIVE_PERMUTE_DONE] = {.mixes = true},
    [HLO_OP_RAGGED_ALL_TO_ALL] = {hlo_verify_ragged_all_to_all},
    [HLO_OP_REDUCE_SCATTER] = {hlo_verify_reduce_scatter},

    [HLO_OP_COPY_START] = {hlo_verify_copy_start, .mixes = true},
    [HLO_OP_COPY_DONE] = {hlo_verify_copy_done, .mixes = true},
    [HLO_OP_SEND] = {hlo_verify_send, .mixes = true},
    [HLO_OP_SEND_DONE] = {.compare = HLO_COMPARE_SAME, .mixes = true},
    [HLO_OP_RECV] = {hlo_verify_recv, .mixes = true},
    [HLO_OP_RECV_DONE] = {hlo_verify_recv_done, .mixes = true},
    [HLO_OP_INFEED] = {hlo_verify_infeed, .mixes = true},
    [HLO_OP_OUTFEED] = {hlo_verify_outfeed, .mixes = true},
};

// ---- result shape ---------------------------------------------------------------------------------------

static bool shapes_match(const HloVerify *v, const HloShape *inferred, const HloShape *declared,
                         HloVerifyCompare compare) {
    switch (compare) {
    case HLO_COMPARE_LOOSE: return hlo_verify_compatible(v, inferred, declared);
    case HLO_COMPARE_SAME: return hlo_verify_same(v, inferred, declared);
    case HLO_COMPARE_ORDER:
        if (!v->options.layout_sensitive) return hlo_shape_compatible(inferred, declared);
        return hlo_shape_equal(inferred, declared, HLO_IGNORE_TILES | HLO_IGNORE_MEMORY_SPACE);
    }
    return false;
}

HloStatus hlo_verify_result(const HloVerify *v, const HloInstruction *inst, const HloShape *inferred,
                            HloVerifyCompare compare) {
    if (inst->shape == inferred || shapes_match(v, inferred, inst->shape, compare)) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "result-shape", "expected %s, declared as %s",
                           hlo_verify_text(v, inferred), hlo_verify_text(v, inst->shape));
}

// ---- what holds for all ---------------------------------------------------------------------------------

static bool may_call(HloOpcode op) {
    const HloOpInfo *info = hlo_op_info(op);
    for (size_t i = 0; i < info->attr_count; i++) {
        HloAttrKind kind = hlo_attr_info(info->attrs[i].id)->kind;
        if (kind == HLO_KIND_COMPUTATION || kind == HLO_KIND_COMPUTATIONS) return true;
    }
    return false;
}

static bool array_has_unbounded(const HloShape *shape) {
    for (size_t d = 0; d < shape->rank; d++) {
        if (shape->dims[d] == HLO_UNBOUNDED) return true;
    }
    return false;
}

// Calls `ask` for every array of a shape; true when one says so. The depth is bounded by the reader and by inference.
static bool any_array(const HloShape *shape, bool (*ask)(const HloShape *)) {
    if (hlo_shape_is_array(shape)) return ask(shape);
    for (size_t k = 0; shape->elements && k < shape->rank; k++) {
        if (any_array(shape->elements[k], ask)) return true;
    }
    return false;
}

static HloStatus check_common(const HloInstruction *inst) {
    const HloShape *shape = inst->shape;
    if (inst->called.count && !may_call(inst->op)) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "no-callees", "this opcode calls no computations");
    }
    int wanted = hlo_op_info(inst->op)->operand_count;
    if (wanted >= 0) HLO_TRY(hlo_verify_operand_count(inst, (size_t)wanted));
    if (hlo_shape_is_dynamic(shape) && any_array(shape, array_has_unbounded)) {
        return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "no-unbounded-dimensions",
                               "unbounded dimensions are disabled");
    }
    if (hlo_shape_is_array(shape) && shape->layout && shape->layout->rank != shape->rank) {
        return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "layout-rank",
                               "its layout orders %zu dimensions, it has %zu", shape->layout->rank, shape->rank);
    }
    return hlo_ok();
}

// ---- precision ------------------------------------------------------------------------------------------

// The float type of all float arrays seen so far; HLO_TYPE_COUNT before the first. False when a second one appears.
static bool one_float_type(const HloShape *shape, HloType *seen) {
    if (hlo_shape_is_array(shape)) {
        if (!hlo_type_is_float(shape->type)) return true;
        if (*seen == HLO_TYPE_COUNT) *seen = shape->type;
        return *seen == shape->type;
    }
    for (size_t k = 0; shape->elements && k < shape->rank; k++) {
        if (!one_float_type(shape->elements[k], seen)) return false;
    }
    return true;
}

static HloStatus check_precision(const HloVerify *v, const HloInstruction *inst) {
    if (v->options.allow_mixed_precision || rows[inst->op].mixes) return hlo_ok();
    HloType seen = HLO_TYPE_COUNT;
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        if (one_float_type(hlo_operand(inst, k)->shape, &seen)) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "one-precision", "operand %zu has another float type than %s", k,
                               hlo_type_name(seen));
    }
    return hlo_ok();
}

// Opcodes whose rule does not end in a comparison with an inferred shape.
static bool skips_precision(HloOpcode op) {
    return op == HLO_OP_IOTA || op == HLO_OP_RNG || op == HLO_OP_RNG_BIT_GENERATOR || op == HLO_OP_RESHAPE ||
           op == HLO_OP_DYNAMIC_RESHAPE || op == HLO_OP_BROADCAST || op == HLO_OP_BITCAST || op == HLO_OP_SCAN;
}

// ---- one instruction ------------------------------------------------------------------------------------

HloStatus hlo_verify_instruction(HloVerify *v, const HloInstruction *inst) {
    HLO_TRY(check_common(inst));
    const VerifyRow *row = &rows[inst->op];
    if (!skips_precision(inst->op)) HLO_TRY(check_precision(v, inst));
    if (row->rule) return row->rule(v, inst);
    if (hlo_op_has(inst->op, HLO_OPF_ELEMENTWISE)) return hlo_verify_elementwise(v, inst);
    const HloShape *inferred;
    HLO_TRY(hlo_verify_infer(v, inst, &inferred));
    return hlo_verify_result(v, inst, inferred, row->compare);
}
