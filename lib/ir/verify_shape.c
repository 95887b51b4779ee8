// Per-instruction verification: what holds for every instruction, then the rule of its opcode, by one table
// (verifier chapter §4).

#include "verify_rules.h"

// An opcode whose row names no rule is inferred and compared.
typedef struct VerifyRow {
    HloVerifyFn rule;
    HloVerifyCompare compare;
    unsigned flags;
} VerifyRow;

enum {
    MIXES = 1,  // may have operands of different float precision even when that is disallowed elsewhere
    LATE = 2,   // looks at more than operands: at callees, users, chains
    PAIR = 4,   // a start or a done (always late)
};

static const VerifyRow rows[HLO_OP_COUNT] = {
    // Elementwise opcodes are found by their flag; these have more to check.
    [HLO_OP_COMPARE] = {hlo_verify_compare},
    [HLO_OP_CONVERT] = {hlo_verify_convert},
    [HLO_OP_COPY] = {hlo_verify_copy},
    [HLO_OP_BITCAST_CONVERT] = {hlo_verify_bitcast_convert},
    [HLO_OP_STOCHASTIC_CONVERT] = {hlo_verify_stochastic_convert},
    [HLO_OP_REDUCE_PRECISION] = {hlo_verify_elementwise, .flags = MIXES},

    [HLO_OP_PARAMETER] = {hlo_verify_parameter, .flags = MIXES},
    [HLO_OP_CONSTANT] = {hlo_verify_constant, .flags = MIXES},
    [HLO_OP_IOTA] = {hlo_verify_iota, .flags = MIXES},
    [HLO_OP_TUPLE] = {hlo_verify_tuple, .flags = MIXES},
    [HLO_OP_GET_TUPLE_ELEMENT] = {hlo_verify_get_tuple_element, .flags = MIXES},
    [HLO_OP_OPT_BARRIER] = {.compare = HLO_COMPARE_SAME, .flags = MIXES},
    [HLO_OP_DOMAIN] = {hlo_verify_elementwise, .flags = MIXES},
    [HLO_OP_ADD_DEPENDENCY] = {hlo_verify_add_dependency},

    [HLO_OP_BITCAST] = {hlo_verify_bitcast, .flags = MIXES | LATE},
    [HLO_OP_BROADCAST] = {hlo_verify_broadcast, .flags = MIXES},
    [HLO_OP_RESHAPE] = {hlo_verify_reshape, .flags = MIXES},
    [HLO_OP_DYNAMIC_RESHAPE] = {hlo_verify_dynamic_reshape, .flags = MIXES},
    [HLO_OP_DYNAMIC_UPDATE_SLICE] = {hlo_verify_dynamic_update_slice},

    [HLO_OP_MAP] = {hlo_verify_reducer_types, .flags = LATE},
    [HLO_OP_SCATTER] = {.flags = LATE},
    [HLO_OP_SELECT_AND_SCATTER] = {.flags = LATE},
    [HLO_OP_REDUCE] = {hlo_verify_reducer_types, .flags = LATE},
    [HLO_OP_REDUCE_WINDOW] = {hlo_verify_reducer_types, .flags = MIXES | LATE},
    [HLO_OP_SORT] = {hlo_verify_sort, .flags = MIXES | LATE},
    [HLO_OP_SCAN] = {hlo_verify_scan, .flags = MIXES | LATE},

    [HLO_OP_WHILE] = {hlo_verify_while, .flags = MIXES | LATE},
    [HLO_OP_CONDITIONAL] = {hlo_verify_conditional, .flags = MIXES | LATE},
    [HLO_OP_CALL] = {hlo_verify_call, .flags = MIXES | LATE},
    [HLO_OP_FUSION] = {hlo_verify_fusion, .flags = MIXES | LATE},
    [HLO_OP_CUSTOM_CALL] = {hlo_verify_custom_call, .flags = MIXES | LATE},
    [HLO_OP_ASYNC_START] = {hlo_verify_async_start, .flags = MIXES | LATE | PAIR},
    [HLO_OP_ASYNC_UPDATE] = {hlo_verify_async_update, .flags = MIXES | LATE | PAIR},
    [HLO_OP_ASYNC_DONE] = {hlo_verify_async_done, .flags = MIXES | LATE | PAIR},

    [HLO_OP_DOT] = {hlo_verify_dot, .flags = MIXES},
    [HLO_OP_RAGGED_DOT] = {hlo_verify_ragged_dot, .flags = MIXES},
    [HLO_OP_SCALED_DOT] = {hlo_verify_scaled_dot, .flags = MIXES},
    [HLO_OP_CONVOLUTION] = {hlo_verify_convolution, .flags = MIXES},
    [HLO_OP_RNG] = {hlo_verify_rng, .flags = MIXES},
    [HLO_OP_RNG_BIT_GENERATOR] = {hlo_verify_rng_bit_generator, .flags = MIXES},
    [HLO_OP_RNG_GET_AND_UPDATE_STATE] = {hlo_verify_rng_state, .flags = MIXES},

    [HLO_OP_ALL_GATHER] = {hlo_verify_all_gather, .flags = MIXES},
    [HLO_OP_ALL_GATHER_START] = {hlo_verify_all_gather, .flags = MIXES | LATE | PAIR},
    [HLO_OP_ALL_GATHER_DONE] = {.flags = MIXES | LATE | PAIR},
    [HLO_OP_ALL_REDUCE] = {hlo_verify_all_reduce, .flags = MIXES},
    [HLO_OP_ALL_REDUCE_START] = {hlo_verify_all_reduce, .flags = MIXES | LATE | PAIR},
    [HLO_OP_ALL_REDUCE_DONE] = {.flags = MIXES | LATE | PAIR},
    [HLO_OP_ALL_TO_ALL] = {hlo_verify_all_to_all},
    [HLO_OP_COLLECTIVE_PERMUTE] = {hlo_verify_collective_permute, .flags = MIXES},
    [HLO_OP_COLLECTIVE_PERMUTE_START] = {hlo_verify_collective_permute, .flags = MIXES | LATE | PAIR},
    [HLO_OP_COLLECTIVE_PERMUTE_DONE] = {.flags = MIXES | LATE | PAIR},
    [HLO_OP_RAGGED_ALL_TO_ALL] = {hlo_verify_ragged_all_to_all},
    [HLO_OP_REDUCE_SCATTER] = {hlo_verify_reduce_scatter},

    [HLO_OP_COPY_START] = {hlo_verify_copy_start, .flags = MIXES | LATE | PAIR},
    [HLO_OP_COPY_DONE] = {hlo_verify_copy_done, .flags = MIXES | LATE | PAIR},
    [HLO_OP_SEND] = {hlo_verify_send, .flags = MIXES | LATE | PAIR},
    [HLO_OP_SEND_DONE] = {.compare = HLO_COMPARE_SAME, .flags = MIXES | LATE | PAIR},
    [HLO_OP_RECV] = {hlo_verify_recv, .flags = MIXES | LATE | PAIR},
    [HLO_OP_RECV_DONE] = {hlo_verify_recv_done, .flags = MIXES | LATE | PAIR},
    [HLO_OP_INFEED] = {hlo_verify_infeed, .flags = MIXES},
    [HLO_OP_OUTFEED] = {hlo_verify_outfeed, .flags = MIXES},
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

static HloStatus check_common(const HloVerify *v, const HloInstruction *inst) {
    const HloShape *shape = inst->shape;
    if (inst->called.count && !may_call(inst->op)) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "no-callees", "this opcode calls no computations");
    }
    int wanted = hlo_op_info(inst->op)->operand_count;
    if (wanted >= 0) HLO_TRY(hlo_verify_operand_count(inst, (size_t)wanted));
    if (!v->options.allow_unbounded && hlo_shape_is_dynamic(shape) && any_array(shape, array_has_unbounded)) {
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

static HloStatus check_precision(const HloInstruction *inst) {
    HloType seen = HLO_TYPE_COUNT;
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        if (one_float_type(hlo_operand(inst, k)->shape, &seen)) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "one-precision", "operand %zu has another float type than %s", k,
                               hlo_type_name(seen));
    }
    return hlo_ok();
}

// ---- attributes -----------------------------------------------------------------------------------------

// What attributes that any opcode may have say about the instruction.
static HloStatus check_attributes(HloVerify *v, const HloInstruction *inst) {
    for (size_t i = 0; i < inst->attr_count; i++) {
        const HloAttr *attr = &inst->attrs[i];
        if (attr->id == HLO_ATTR_SHARDING) HLO_TRY(hlo_verify_sharding(v, inst, attr->data));
        if (attr->id == HLO_ATTR_ORIGIN) HLO_TRY(hlo_verify_origin(v, inst, attr->data));
        if (attr->id == HLO_ATTR_RESULT_ACCURACY && !hlo_op_uses(inst->op, attr->id)) {
            return hlo_verify_fail(inst, HLO_INTERNAL, "result-accuracy", "this opcode has no accuracy to choose");
        }
    }
    return hlo_ok();
}

// ---- one instruction ------------------------------------------------------------------------------------

// The common case: operands and result of an elementwise opcode have one shape, whose type the opcode takes.
static bool is_plain_elementwise(const HloInstruction *inst) {
    const HloShape *shape = inst->shape;
    for (size_t k = 0; k < inst->operands.count; k++) {
        if (hlo_operand(inst, k)->shape != shape) return false;
    }
    return hlo_infer_keeps_type(inst->op, shape->type);
}

static HloStatus apply_rule(HloVerify *v, const HloInstruction *inst, const VerifyRow *row) {
    if (!v->options.allow_mixed_precision && !(row->flags & MIXES)) HLO_TRY(check_precision(inst));
    if (row->rule) return row->rule(v, inst);
    if (hlo_op_has(inst->op, HLO_OPF_ELEMENTWISE)) {
        return is_plain_elementwise(inst) ? hlo_ok() : hlo_verify_elementwise(v, inst);
    }
    return hlo_verify_inferred(v, inst, row->compare);
}

HloStatus hlo_verify_instruction(HloVerify *v, const HloInstruction *inst) {
    const VerifyRow *row = &rows[inst->op];
    HLO_TRY(check_common(v, inst));
    HLO_TRY(check_attributes(v, inst));
    v->has_buffers |= (inst->shape->flags & HLO_SHAPE_HAS_BUFFER) != 0;
    if (!(row->flags & LATE)) return apply_rule(v, inst, row);
    hlo_vec_push(v->arena, &v->late, inst);
    return hlo_ok();
}

HloStatus hlo_verify_late(HloVerify *v) {
    for (size_t i = 0; i < v->late.count; i++) {
        const HloInstruction *inst = v->late.items[i];
        const VerifyRow *row = &rows[inst->op];
        if (row->flags & PAIR) HLO_TRY(hlo_verify_pair(inst));
        HLO_TRY(apply_rule(v, inst, row));
    }
    return hlo_ok();
}
