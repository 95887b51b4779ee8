// Rules that only some callers ask for (verifier chapter §4.1, §4.3, §5.6, §7.3, §7.8): a row for each option.

#include "hlo/analysis.h"
#include "verify_rules.h"

// Numbers of memory spaces.
enum { DEFAULT_SPACE = 0, FAST_SPACE = 1, HOST_SPACE = 5 };

// ---- shapes ---------------------------------------------------------------------------------------------

// Broadcasts that reorder dimensions are legal, but not every backend can lower them.
static HloStatus check_sorted(HloVerify *v, const HloInstruction *inst) {
    (void)v;
    HloDims dimensions = hlo_dims(inst, HLO_ATTR_DIMENSIONS);
    for (size_t k = 1; inst->op == HLO_OP_BROADCAST && k < dimensions.count; k++) {
        if (dimensions.data[k - 1] <= dimensions.data[k]) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "sorted-broadcast", "dimension %lld stands before %lld",
                               (long long)dimensions.data[k - 1], (long long)dimensions.data[k]);
    }
    return hlo_ok();
}

static HloStatus check_reshape(HloVerify *v, const HloInstruction *inst) {
    if (inst->op != HLO_OP_RESHAPE || hlo_is_fusion_computation(inst->comp)) return hlo_ok();
    const HloShape *x = hlo_operand(inst, 0)->shape;
    if (x->layout && inst->shape->layout && hlo_reshape_is_bitcast(x, inst->shape)) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "bitcast-reshape", "%s as %s moves elements",
                           hlo_shape_text(v->arena, x, true), hlo_shape_text(v->arena, inst->shape, true));
}

// The first array in a shape whose layout `ask` objects to. The depth is bounded by the reader and by inference.
static const HloShape *find_array(const HloShape *shape, bool (*ask)(const HloShape *)) {
    if (hlo_shape_is_array(shape)) return shape->layout && ask(shape) ? shape : NULL;
    const HloShape *found = NULL;
    for (size_t k = 0; shape->elements && !found && k < shape->rank; k++) found = find_array(shape->elements[k], ask);
    return found;
}

static bool is_in_host_memory(const HloShape *array) {
    return array->layout->memory_space == HOST_SPACE;
}

static HloStatus check_no_host(HloVerify *v, const HloInstruction *inst) {
    const HloShape *found = find_array(inst->shape, is_in_host_memory);
    if (!found) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "no-host-memory", "%s lies in host memory",
                           hlo_shape_text(v->arena, found, true));
}

static bool has_foreign_size(const HloShape *array) {
    enum { BYTE = 8 };
    return array->layout->element_bits && (array->type == HLO_PRED || hlo_type_bits(array->type) >= BYTE);
}

static HloStatus check_element_size(HloVerify *v, const HloInstruction *inst) {
    const HloShape *found = find_array(inst->shape, has_foreign_size);
    if (!found) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "element-size", "elements of %s have a size of their own",
                           hlo_shape_text(v->arena, found, true));
}

// ---- names and threads ----------------------------------------------------------------------------------

static HloStatus check_name(HloVerify *v, const HloInstruction *inst) {
    (void)v;
    const HloMetadata *metadata = hlo_data(inst, HLO_ATTR_METADATA);
    const char *scheduled = metadata ? metadata->scheduling_name : NULL;
    if (!scheduled || !*scheduled || strcmp(scheduled, inst->name) == 0) return hlo_ok();
    if (strstr(inst->name, ".remat") || strstr(inst->name, ".clone")) return hlo_ok();
    return hlo_verify_fail(inst, HLO_FAILED_PRECONDITION, "kept-name", "it was scheduled as '%s'", scheduled);
}

static HloStatus check_threads(HloVerify *v, const HloInstruction *inst) {
    (void)v;
    bool starts_thread =
        inst->op == HLO_OP_ASYNC_START || inst->op == HLO_OP_ASYNC_UPDATE || inst->op == HLO_OP_ASYNC_DONE;
    for (size_t k = 0; !starts_thread && k < inst->called.count; k++) {
        HLO_TRY(hlo_verify_callee_thread(inst, hlo_called(inst, k)));
    }
    return hlo_ok();
}

// ---- layouts --------------------------------------------------------------------------------------------

// Elementwise opcodes keep layouts, and these (chapter of the CPU's passes, §1.5).
static const bool keeps_layout[HLO_OP_COUNT] = {
    [HLO_OP_ADD_DEPENDENCY] = true,
    [HLO_OP_ALL_GATHER] = true,
    [HLO_OP_ALL_GATHER_DONE] = true,
    [HLO_OP_ALL_GATHER_START] = true,
    [HLO_OP_ALL_REDUCE] = true,
    [HLO_OP_ALL_REDUCE_DONE] = true,
    [HLO_OP_ALL_REDUCE_START] = true,
    [HLO_OP_ALL_TO_ALL] = true,
    [HLO_OP_BITCAST_CONVERT] = true,
    [HLO_OP_CHOLESKY] = true,
    [HLO_OP_COLLECTIVE_BROADCAST] = true,
    [HLO_OP_COLLECTIVE_PERMUTE] = true,
    [HLO_OP_CONCATENATE] = true,
    [HLO_OP_DYNAMIC_SLICE] = true,
    [HLO_OP_DYNAMIC_UPDATE_SLICE] = true,
    [HLO_OP_FFT] = true,
    [HLO_OP_MAP] = true,
    [HLO_OP_OPT_BARRIER] = true,
    [HLO_OP_PAD] = true,
    [HLO_OP_RAGGED_ALL_TO_ALL] = true,
    [HLO_OP_REDUCE_SCATTER] = true,
    [HLO_OP_REDUCE_WINDOW] = true,
    [HLO_OP_REVERSE] = true,
    [HLO_OP_SCAN] = true,
    [HLO_OP_SCATTER] = true,
    [HLO_OP_SELECT_AND_SCATTER] = true,
    [HLO_OP_SET_DIMENSION_SIZE] = true,
    [HLO_OP_SLICE] = true,
    [HLO_OP_SORT] = true,
    [HLO_OP_STOCHASTIC_CONVERT] = true,
    [HLO_OP_TOPK] = true,
    [HLO_OP_TRIANGULAR_SOLVE] = true,
    [HLO_OP_WHILE] = true,
};

static bool must_keep_layout(const HloInstruction *inst) {
    if (inst->op == HLO_OP_CUSTOM_CALL) {
        return strcmp(hlo_text(inst, HLO_ATTR_CUSTOM_CALL_TARGET), "LayoutConstraint") == 0;
    }
    if (keeps_layout[inst->op]) return true;
    bool free_copy =
        inst->op == HLO_OP_COPY || inst->op == HLO_OP_CONSTANT || inst->op == HLO_OP_RNG || inst->op == HLO_OP_FUSION;
    return hlo_op_has(inst->op, HLO_OPF_ELEMENTWISE) && !free_copy;
}

// Operands whose elements have another width than the result's, by the nature of the opcode.
static bool has_other_width(HloOpcode op, size_t k) {
    return op == HLO_OP_CONVERT || op == HLO_OP_COMPARE || op == HLO_OP_IS_FINITE || op == HLO_OP_SCATTER ||
           (op == HLO_OP_SELECT && k == 0);
}

static bool layouts_agree(const HloShape *a, const HloShape *b, bool other_width) {
    const HloLayout *x = a->layout, *y = b->layout;
    if (x->rank != y->rank || memcmp(x->minor_to_major, y->minor_to_major, x->rank * sizeof *x->minor_to_major)) {
        return false;
    }
    return x->tail_alignment == y->tail_alignment && (other_width || x->element_bits == y->element_bits);
}

// What a slice may not do: leave fast memory, fetch from the device to the host, or be fetched by an update.
static HloStatus check_spaces(const HloInstruction *inst, int64_t from, int64_t to) {
    bool leaves_fast = from == FAST_SPACE && to != FAST_SPACE;
    bool to_host = inst->op == HLO_OP_DYNAMIC_SLICE && from == DEFAULT_SPACE && to == HOST_SPACE;
    bool to_device = inst->op == HLO_OP_DYNAMIC_UPDATE_SLICE && from == HOST_SPACE && to == DEFAULT_SPACE;
    if (!leaves_fast && !to_host && !to_device) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "kept-memory", "it moves data from memory space %lld to %lld",
                           (long long)from, (long long)to);
}

static HloStatus check_layout(HloVerify *v, const HloInstruction *inst) {
    const HloShape *shape = inst->shape;
    if (!must_keep_layout(inst) || !hlo_shape_is_array(shape) || !shape->layout) return hlo_ok();
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        const HloShape *x = hlo_operand(inst, k)->shape;
        if (!hlo_shape_is_array(x) || !x->layout || x->rank != shape->rank) continue;
        if (!layouts_agree(x, shape, has_other_width(inst->op, k))) {
            return hlo_verify_fail(inst, HLO_INTERNAL, "kept-layout", "operand %zu is %s, the result %s", k,
                                   hlo_shape_text(v->arena, x, true), hlo_shape_text(v->arena, shape, true));
        }
        bool slices = inst->op == HLO_OP_DYNAMIC_SLICE || inst->op == HLO_OP_DYNAMIC_UPDATE_SLICE;
        if (slices) HLO_TRY(check_spaces(inst, x->layout->memory_space, shape->layout->memory_space));
    }
    return hlo_ok();
}

// ---- the run --------------------------------------------------------------------------------------------

static const struct {
    size_t option;  // of the field in HloVerifyOptions
    HloVerifyFn rule;
} rules[] = {
    {offsetof(HloVerifyOptions, sorted_broadcasts), check_sorted},
    {offsetof(HloVerifyOptions, bitcast_reshapes), check_reshape},
    {offsetof(HloVerifyOptions, no_host_memory), check_no_host},
    {offsetof(HloVerifyOptions, own_element_sizes), check_element_size},
    {offsetof(HloVerifyOptions, kept_names), check_name},
    {offsetof(HloVerifyOptions, callee_threads), check_threads},
    {offsetof(HloVerifyOptions, kept_layouts), check_layout},
};

HloStatus hlo_verify_optional(HloVerify *v) {
    for (size_t i = 0; i < HLO_COUNT(rules); i++) {
        if (!*((const bool *)&v->options + rules[i].option)) continue;
        HLO_EACH_COMP(comp, v->m) {
            HLO_EACH_INST(inst, comp) HLO_TRY(rules[i].rule(v, inst));
        }
    }
    return hlo_ok();
}
