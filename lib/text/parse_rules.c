// What single opcodes ask for beyond their row in opcodes.def: operand counts that depend on something, attributes that
// go with the operands, defaults taken from operands, and shapes that the opcode computes whatever the text says
// (grammar chapter, §4.1 and §5.2).

#include "parse.h"

static size_t operand_count(const HloLine *line) {
    return hlo_operand_count(line->inst);
}

static const HloShape *operand_shape(const HloLine *line, size_t k) {
    return hlo_operand(line->inst, k)->shape;
}

// ---- operand counts -------------------------------------------------------------------------------------

static bool wrong_count(HloReader *r, const HloLine *line, size_t wanted) {
    return hlo_read_error(r, line->paren_at, "expects %zu operands, but has %zu operands", wanted, operand_count(line));
}

static bool check_tuple(HloReader *r, const HloLine *line) {
    if (!line->shape) return true;
    if (!hlo_shape_is_tuple(line->shape))
        return hlo_read_error(r, line->shape_at, "a tuple's shape must be a tuple, but is %s",
                              hlo_shape_text(r->scratch, line->shape, false));
    return line->shape->rank == operand_count(line) || wrong_count(r, line, line->shape->rank);
}

// `first` operands, then one index per dimension of operand 0 or one index vector.
static bool check_dynamic_slice(HloReader *r, const HloLine *line, size_t first, const char *too_few) {
    size_t count = operand_count(line);
    if (count < first) return hlo_read_error(r, line->paren_at, "%s", too_few);
    bool vector = count == first + 1 && operand_shape(line, first)->rank == 1;
    bool scalars = count == first + operand_shape(line, 0)->rank;
    return vector || scalars ||
           hlo_read_error(r, line->paren_at,
                          "Wrong number of operands. Expected %zu and one index per dimension (%zu), "
                          "but has %zu operands",
                          first, operand_shape(line, 0)->rank, count);
}

static bool check_conditional(HloReader *r, const HloLine *line) {
    if (operand_count(line) == 0) return hlo_read_error(r, line->paren_at, "conditional requires at least one operand");
    const HloShape *shape = operand_shape(line, 0);
    if (!hlo_shape_is_scalar(shape)) return hlo_read_error(r, line->paren_at, "The first operand must be a scalar");
    return shape->type == HLO_PRED || shape->type == HLO_S32 ||
           hlo_read_error(r, line->paren_at, "The first operand must be a scalar of PRED or S32");
}

static bool at_least(HloReader *r, const HloLine *line, size_t least, const char *message) {
    return operand_count(line) >= least || hlo_read_error(r, line->paren_at, "%s", message);
}

static bool check_by_table(HloReader *r, const HloLine *line) {
    int wanted = hlo_op_info(line->inst->op)->operand_count;
    size_t count = operand_count(line);
    if (wanted >= 0) return count == (size_t)wanted || wrong_count(r, line, (size_t)wanted);
    if (wanted == HLO_EVEN_OPERANDS && count % 2)
        return hlo_read_error(r, line->paren_at, "expects an even number of operands, but has %zu operands", count);
    if (wanted == HLO_ODD_OPERANDS && count % 2 == 0)
        return hlo_read_error(r, line->paren_at, "expects an odd number of operands, but has %zu operands", count);
    return true;
}

bool hlo_check_operand_count(HloReader *r, const HloLine *line) {
    if (!check_by_table(r, line)) return false;
    switch ((int)line->inst->op) {
    case HLO_OP_TUPLE: return check_tuple(r, line);
    case HLO_OP_DYNAMIC_SLICE: return check_dynamic_slice(r, line, 1, "Expected at least one operand.");
    case HLO_OP_DYNAMIC_UPDATE_SLICE: return check_dynamic_slice(r, line, 2, "Expected at least two operands.");
    case HLO_OP_CONDITIONAL: return check_conditional(r, line);
    case HLO_OP_DYNAMIC_RESHAPE: return at_least(r, line, 1, "DynamicReshape requires at least one operand.");
    case HLO_OP_REDUCE: return at_least(r, line, 2, "reduce expects at least one input and init operand");
    case HLO_OP_REDUCE_WINDOW: return at_least(r, line, 2, "reduce-window expects at least one input and init operand");
    case HLO_OP_DOT: return operand_count(line) == 2 || wrong_count(r, line, 2);
    default: return true;
    }
}

// ---- attributes that go with the operands ---------------------------------------------------------------

static bool is_branch_attribute(HloAttrId id) {
    return id == HLO_ATTR_TRUE_COMPUTATION || id == HLO_ATTR_FALSE_COMPUTATION || id == HLO_ATTR_BRANCH_COMPUTATIONS;
}

static const HloInstruction *subject(const HloLine *line) {
    return line->wrapped ? line->wrapped : line->inst;
}

// A conditional on a predicate has two named branches; one on an index has a list.
bool hlo_attribute_is_barred(const HloLine *line, HloAttrId id) {
    const HloInstruction *inst = subject(line);
    if (inst->op != HLO_OP_CONDITIONAL || !is_branch_attribute(id)) return false;
    bool two_way = inst->operands.count && hlo_operand(inst, 0)->shape->type == HLO_PRED;
    return two_way == (id == HLO_ATTR_BRANCH_COMPUTATIONS);
}

bool hlo_attribute_is_needed(const HloLine *line, HloAttrId id) {
    const HloInstruction *inst = subject(line);
    if (inst->op == HLO_OP_CONDITIONAL) return is_branch_attribute(id);
    if (inst->op == HLO_OP_BROADCAST && id == HLO_ATTR_DIMENSIONS) return hlo_operand(inst, 0)->shape->rank > 0;
    return false;
}

// ---- defaults and checks across attributes --------------------------------------------------------------

// A comparison type that the operand's element type implies is not stored.
static void drop_implied_comparison(HloInstruction *inst) {
    int64_t implied = HLO_COMPARE_TYPE_UNSIGNED;
    HloType type = hlo_operand(inst, 0)->shape->type;
    if (hlo_type_is_float(type) || hlo_type_is_complex(type))
        implied = HLO_COMPARE_TYPE_FLOAT;
    else if (hlo_type_class(type) == HLO_CLASS_SIGNED)
        implied = HLO_COMPARE_TYPE_SIGNED;
    if (hlo_int(inst, HLO_ATTR_COMPARE_TYPE) == implied) hlo_clear_attr(inst, HLO_ATTR_COMPARE_TYPE);
}

// A map's dimensions are all of its result's. What the text says of them counts only where that is to be inferred.
static bool set_map_dimensions(HloReader *r, HloLine *line) {
    if (!hlo_infer_line(r, line)) return false;
    const HloShape *shape = line->inst->shape;
    size_t rank = hlo_shape_is_array(shape) ? shape->rank : 0;
    int64_t *dims = HLO_NEW_ARRAY(r->scratch, int64_t, rank);
    for (size_t d = 0; d < rank; d++) dims[d] = (int64_t)d;
    hlo_set_dims(r->m, line->inst, HLO_ATTR_DIMENSIONS, (HloDims){dims, rank});
    return true;
}

// Lists that are always printed are always stored.
static void store_missing_lists(HloReader *r, const HloLine *line) {
    const HloOpInfo *info = hlo_op_info(line->inst->op);
    for (size_t i = 0; i < info->attr_count; i++) {
        const HloAttrUse *use = &info->attrs[i];
        if (use->rule != HLO_USE_ALWAYS || hlo_attr_info(use->id)->kind != HLO_KIND_DIMS) continue;
        if (!hlo_has(line->inst, use->id)) hlo_set_dims(r->m, line->inst, use->id, (HloDims){0});
    }
}

static bool check_branches(HloReader *r, const HloLine *line) {
    size_t branches = line->inst->called.count;
    if (branches && operand_count(line) == branches + 1) return true;
    return hlo_read_error(r, line->paren_at, "a conditional with %zu branches expects %zu operands, but has %zu",
                          branches, branches + 1, operand_count(line));
}

static bool check_element_index(HloReader *r, const HloLine *line) {
    const HloShape *shape = operand_shape(line, 0);
    int64_t index = hlo_int(line->inst, HLO_ATTR_INDEX);
    if (!hlo_shape_is_tuple(shape))
        return hlo_read_error(r, line->paren_at, "GTE operand must be tuple, but has shape: %s",
                              hlo_shape_text(r->scratch, shape, true));
    return (index >= 0 && (uint64_t)index < shape->rank) ||
           hlo_read_error(r, line->attrs_at, "GTE index %lld out of bounds for shape: %s", (long long)index,
                          hlo_shape_text(r->scratch, shape, true));
}

static bool check_global_ids(HloReader *r, const HloLine *line) {
    bool global = hlo_int(line->inst, HLO_ATTR_USE_GLOBAL_DEVICE_IDS);
    if (!global || hlo_has(line->inst, HLO_ATTR_CHANNEL_ID) || hlo_line_has(line, HLO_ATTR_MODE)) return true;
    return hlo_read_error(r, line->attrs_at, "Cannot have use_global_device_ids=true without channel_id");
}

static bool check_permute(HloReader *r, const HloLine *line) {
    const HloIntLists *pairs = hlo_data(line->inst, HLO_ATTR_SOURCE_TARGET_PAIRS);
    for (size_t i = 0; pairs && i < pairs->count; i++) {
        if (pairs->lists[i].count != 2)
            return hlo_read_error(r, line->attrs_at, "expects 'source_target_pairs=' to be a list of pairs");
    }
    if (!hlo_line_has(line, HLO_ATTR_PERMUTE_SLICE_SIZES) || operand_count(line) == 4) return true;
    return hlo_read_error(r, line->paren_at,
                          "CollectivePermute and CollectivePermuteStart must have exactly four operands "
                          "for dynamic-slice and in-place update.");
}

// A done belongs to the channel of the instruction it completes.
static bool check_channel(HloReader *r, const HloLine *line) {
    const HloInstruction *start = hlo_operand(line->inst, 0);
    if (!hlo_op_uses(start->op, HLO_ATTR_CHANNEL_ID)) return true;
    const HloAttr *ours = hlo_attr_find(line->inst, HLO_ATTR_CHANNEL_ID);
    const HloAttr *theirs = hlo_attr_find(start, HLO_ATTR_CHANNEL_ID);
    if (!ours == !theirs && (!ours || ours->i == theirs->i)) return true;
    return hlo_read_error(r, line->attrs_at, "channel_id differs from that of the operand %.200s", start->name);
}

static bool check_replication(HloReader *r, const HloLine *line) {
    if (!hlo_line_has(line, HLO_ATTR_PARAMETER_REPLICATION)) return true;
    size_t leaves = hlo_shape_leaf_count(line->inst->shape);
    size_t given = hlo_dims(line->inst, HLO_ATTR_PARAMETER_REPLICATION).count;
    return leaves == given ||
           hlo_read_error(r, line->attrs_at,
                          "parameter has %zu leaf buffers, but parameter_replication has %zu elements.", leaves, given);
}

// Texts of early 2026 do not tell the number of carries. They come last, and an input has one dimension more than the
// parameter for its slices, so it follows.
static int64_t implied_carries(const HloLine *line) {
    const HloComputation *step = hlo_called(line->inst, 0);
    size_t count = operand_count(line), carries = 0;
    while (carries < count) {
        const HloShape *operand = operand_shape(line, count - 1 - carries);
        const HloShape *parameter = hlo_parameter(step, count - 1 - carries)->shape;
        if (operand->rank != parameter->rank) break;
        carries++;
    }
    return (int64_t)carries;
}

static bool check_scan(HloReader *r, const HloLine *line) {
    size_t wanted = hlo_parameter_count(hlo_called(line->inst, 0)), count = operand_count(line);
    if (count != wanted && !hlo_calls_unknown(line->inst))
        return hlo_read_error(
            r, line->paren_at,
            "expects %zu operands to match the number of parameters of to_apply, but to_apply has %zu "
            "parameters",
            count, wanted);
    if (!hlo_line_has(line, HLO_ATTR_NUM_CARRIES)) {
        if (hlo_calls_unknown(line->inst)) return hlo_callee_needed(r, line, "the number of carries");
        hlo_set_int(r->m, line->inst, HLO_ATTR_NUM_CARRIES, implied_carries(line));
    }
    int64_t carries = hlo_int(line->inst, HLO_ATTR_NUM_CARRIES);
    return (carries >= 0 && (uint64_t)carries <= count) ||
           hlo_read_error(r, line->paren_at,
                          "expects at least %lld operands to match the number of carries, but has %zu operands",
                          (long long)carries, count);
}

// ---- custom calls ---------------------------------------------------------------------------------------

static bool check_constraint(HloReader *r, const HloLine *line, const HloShapeList *list, size_t k) {
    const HloShape *shape = list->shapes[k];
    if (!(shape->flags & HLO_SHAPE_HAS_LAYOUT))
        return hlo_read_error(r, line->attrs_at,
                              "Operand layout constraint shape %s for operand %zu does not have a layout",
                              hlo_shape_text(r->scratch, shape, true), k);
    return hlo_shape_compatible(shape, operand_shape(line, k)) ||
           hlo_read_error(r, line->attrs_at,
                          "Operand layout constraint shape %s for operand %zu is not compatible with operand shape %s",
                          hlo_shape_text(r->scratch, shape, true), k,
                          hlo_shape_text(r->scratch, operand_shape(line, k), true));
}

// A custom call with layout constraints loses its computations, as the language has it.
static bool apply_constraints(HloReader *r, const HloLine *line) {
    const HloShapeList *list = hlo_data(line->inst, HLO_ATTR_OPERAND_LAYOUT_CONSTRAINTS);
    if (!hlo_line_has(line, HLO_ATTR_OPERAND_LAYOUT_CONSTRAINTS)) return true;
    if (!list) {
        list = HLO_NEW(r->arena, HloShapeList);
        hlo_set_data(r->m, line->inst, HLO_ATTR_OPERAND_LAYOUT_CONSTRAINTS, list);
    }
    if (line->shape && !(line->shape->flags & HLO_SHAPE_HAS_LAYOUT))
        return hlo_read_error(r, line->attrs_at, "Layout must be set on layout-constrained custom call");
    if (list->count != operand_count(line))
        return hlo_read_error(r, line->attrs_at, "Expected %zu operand layout constraints, %zu given",
                              operand_count(line), list->count);
    for (size_t k = 0; k < list->count; k++) {
        if (!check_constraint(r, line, list, k)) return false;
    }
    hlo_clear_called(line->inst);
    return true;
}

static bool apply_custom_call(HloReader *r, const HloLine *line) {
    if (line->to_apply) {
        hlo_clear_called(line->inst);
        hlo_set_called(line->inst, 0, line->to_apply);
    }
    return apply_constraints(r, line);
}

// ---- shapes that the opcode computes --------------------------------------------------------------------

static const HloShape *tuple_of(HloReader *r, const HloShape *a, const HloShape *b, const HloShape *c) {
    const HloShape *elements[] = {a, b, c};
    return hlo_shape_tuple(r->shapes, elements, c ? 3 : 2);
}

static bool is_nonempty_tuple(const HloShape *shape) {
    return shape && hlo_shape_is_tuple(shape) && shape->rank > 0;
}

static bool set_transfer_shape(HloReader *r, const HloLine *line, const HloShape **shape) {
    const HloShape *token = hlo_shape_token(r->shapes), *id = hlo_shape_scalar(r->shapes, HLO_U32);
    HloOpcode op = line->inst->op;
    bool declared = op == HLO_OP_RECV || op == HLO_OP_INFEED;
    const HloShape *tuple = declared ? line->shape : op == HLO_OP_SEND ? NULL : operand_shape(line, 0);
    if (op != HLO_OP_SEND && !is_nonempty_tuple(tuple))
        return hlo_read_error(r, declared ? line->shape_at : line->paren_at, "%s must have a non-empty tuple shape",
                              declared ? hlo_op_name(op) : "the operand");
    switch ((int)op) {
    case HLO_OP_SEND: *shape = tuple_of(r, operand_shape(line, 0), id, token); break;
    case HLO_OP_RECV: *shape = tuple_of(r, tuple->elements[0], id, token); break;
    default: *shape = tuple_of(r, tuple->elements[0], token, NULL); break;  // recv-done, infeed
    }
    return true;
}

static bool set_computed_shape(HloReader *r, const HloLine *line) {
    HloInstruction *inst = line->inst;
    switch ((int)inst->op) {
    case HLO_OP_AFTER_ALL:
    case HLO_OP_OUTFEED:
    case HLO_OP_SEND_DONE: inst->shape = hlo_shape_token(r->shapes); return true;
    case HLO_OP_ADD_DEPENDENCY: inst->shape = operand_shape(line, 0); return true;
    case HLO_OP_CONSTANT: inst->shape = line->literal->shape; return true;
    case HLO_OP_SEND:
    case HLO_OP_RECV:
    case HLO_OP_RECV_DONE:
    case HLO_OP_INFEED: return set_transfer_shape(r, line, &inst->shape);
    default: return true;
    }
}

// ---- all of it ------------------------------------------------------------------------------------------

static bool apply_rule(HloReader *r, HloLine *line) {
    HloInstruction *inst = line->inst;
    switch ((int)inst->op) {
    case HLO_OP_COMPARE: drop_implied_comparison(inst); return true;
    case HLO_OP_MAP: return set_map_dimensions(r, line);
    case HLO_OP_CONDITIONAL: return check_branches(r, line);
    case HLO_OP_GET_TUPLE_ELEMENT: return check_element_index(r, line);
    case HLO_OP_ALL_REDUCE:
    case HLO_OP_ALL_REDUCE_START:
    case HLO_OP_REDUCE_SCATTER: return check_global_ids(r, line);
    case HLO_OP_COLLECTIVE_PERMUTE:
    case HLO_OP_COLLECTIVE_PERMUTE_START: return check_permute(r, line);
    case HLO_OP_SEND_DONE:
    case HLO_OP_RECV_DONE: return check_channel(r, line);
    case HLO_OP_PARAMETER: return check_replication(r, line);
    case HLO_OP_SCAN: return check_scan(r, line);
    case HLO_OP_CUSTOM_CALL: return apply_custom_call(r, line);
    case HLO_OP_OUTFEED:
        if (!hlo_has(inst, HLO_ATTR_OUTFEED_SHAPE))
            hlo_set_data(r->m, inst, HLO_ATTR_OUTFEED_SHAPE, operand_shape(line, 0));
        return true;
    default: return true;
    }
}

bool hlo_parse_check_rules(HloReader *r, HloLine *line) {
    bool may_lack_shape = hlo_op_has(line->inst->op, HLO_OPF_INFER);
    if (!line->inst->shape && !may_lack_shape) return true;  // reported when the shape is inferred
    if (!apply_rule(r, line)) return false;
    store_missing_lists(r, line);
    return set_computed_shape(r, line);
}
