// One instruction line (printing chapter, §5 and §6.2).

#include "print.h"

enum { COMPACT_OPERANDS = 4, SMALL_CONSTANT = 10, ESSENTIAL_INTEGERS = 500000 };

// ---- names and shapes -----------------------------------------------------------------------------------

void hlo_put_name(Printer *p, const char *name) {
    if (p->options.percent) hlo_put_char(p->out, '%');
    hlo_put(p->out, name, p->options.ids ? strlen(name) : strcspn(name, "."));
}

void hlo_put_inst_name(Printer *p, const HloInstruction *inst) {
    if (!p->options.canonical_names || !p->names) {
        hlo_put_name(p, inst->name);
        return;
    }
    uint32_t *number = &p->names->numbers[inst->id];
    if (!*number) *number = ++p->names->next;
    hlo_put(p->out, "tmp_", 4);
    hlo_put_uint(p->out, *number - 1);
}

// A shape as instruction lines show it, copied from where it was printed before if that is known.
static void put_shape(Printer *p, const HloShape *shape) {
    HloBuffer *out = p->out;
    if (!p->spots || !hlo_buffer_reserve(out, 0)) {
        hlo_put_shape(out, shape, p->options.layouts);
        return;
    }
    ShapeSpot *spot = &p->spots[((uintptr_t)shape >> 4) % SHAPE_SPOTS];
    if (spot->shape == shape) {
        if (hlo_buffer_reserve(out, spot->size)) hlo_put(out, out->data + spot->start, spot->size);
        return;
    }
    size_t start = out->size;
    hlo_put_shape(out, shape, p->options.layouts);
    *spot = (ShapeSpot){shape, start, out->size - start};
}

// ---- async sugar ----------------------------------------------------------------------------------------

bool hlo_is_sugared(const HloComputation *comp) {
    HLO_EACH_INST(inst, comp) {
        if (inst != comp->root && inst->op != HLO_OP_PARAMETER) return false;
    }
    return comp->root != NULL;
}

// The root that an async instruction stands for when sugar is on and applies; else NULL.
static const HloInstruction *wrapped_operation(const Printer *p, const HloInstruction *inst) {
    if (!p->options.async_sugar || !hlo_op_has(inst->op, HLO_OPF_ASYNC)) return NULL;
    while (inst->op != HLO_OP_ASYNC_START) {
        if (!hlo_operand_count(inst) || !hlo_op_has(hlo_operand(inst, 0)->op, HLO_OPF_ASYNC)) return NULL;
        inst = hlo_operand(inst, 0);
    }
    if (!inst->called.count || !hlo_is_sugared(hlo_called(inst, 0))) return NULL;
    return hlo_called(inst, 0)->root;
}

// `add`; with sugar `add-start`, where the table has `async-start`.
static void put_opcode(Printer *p, const HloInstruction *inst) {
    const HloOpInfo *info = hlo_op_info(inst->op);
    const HloInstruction *wrapped = wrapped_operation(p, inst);
    if (!wrapped) {
        hlo_put(p->out, info->name, info->name_size);
        return;
    }
    hlo_put_string(p->out, hlo_op_name(wrapped->op));
    hlo_put_string(p->out, info->name + strlen("async"));
}

// ---- constants ------------------------------------------------------------------------------------------

static bool are_leaves_integral(const HloLiteral *literal, int64_t *elements) {
    if (!hlo_shape_is_tuple(literal->shape)) {
        *elements += literal->elem_count;
        return hlo_type_is_integral(literal->shape->type) && *elements <= ESSENTIAL_INTEGERS;
    }
    for (size_t i = 0; i < literal->shape->rank; i++) {
        if (!are_leaves_integral(literal->elements[i], elements)) return false;
    }
    return true;
}

static void put_essential(HloBuffer *out, const HloLiteral *literal) {
    int64_t elements = 0;
    if (literal && hlo_literal_is_all(literal, 0))
        hlo_put_char(out, '0');
    else if (literal && hlo_literal_is_all(literal, 1))
        hlo_put_char(out, '1');
    else if (literal && are_leaves_integral(literal, &elements))
        hlo_put_literal(out, literal);
    else
        hlo_put_string(out, "{...}");
}

static void put_constant(Printer *p, const HloInstruction *inst) {
    const HloLiteral *literal = hlo_constant(inst);
    if (p->options.only_essential_constants) {
        put_essential(p->out, literal);
        return;
    }
    bool small = hlo_shape_is_array(inst->shape) && hlo_shape_elem_count(inst->shape) <= SMALL_CONSTANT;
    if (literal && (small || p->options.large_constants))
        hlo_put_literal(p->out, literal);
    else
        hlo_put_string(p->out, "{...}");
}

// ---- operands -------------------------------------------------------------------------------------------

// The operand's name; a get-tuple-element that has no line of its own shows as `base#0#1`.
static void put_operand_name(Printer *p, const HloInstruction *operand) {
    size_t depth = 0;
    const HloInstruction *base = operand;
    while (p->options.compact_gte && base->op == HLO_OP_GET_TUPLE_ELEMENT && hlo_operand_count(base)) {
        base = hlo_operand(base, 0);
        depth++;
    }
    hlo_put_inst_name(p, base);
    if (!depth) return;
    int64_t *path = HLO_NEW_ARRAY(p->scratch, int64_t, depth);
    for (size_t i = depth; i-- > 0; operand = hlo_operand(operand, 0)) path[i] = hlo_int(operand, HLO_ATTR_INDEX);
    for (size_t i = 0; i < depth; i++) {
        hlo_put_char(p->out, '#');
        hlo_put_int(p->out, path[i]);
    }
}

static void put_operand(Printer *p, const HloInstruction *operand) {
    const HloPrintOptions *options = &p->options;
    if (!operand) {
        hlo_put_string(p->out, "null ");
        return;
    }
    bool named = options->canonical_names ? p->names != NULL : options->operand_names;
    if (options->operand_shapes) {
        put_shape(p, operand->shape);
        if (named) hlo_put_char(p->out, ' ');
    }
    if (named) put_operand_name(p, operand);
}

static void put_operand_list(Printer *p, const HloInstruction *inst) {
    size_t count = hlo_operand_count(inst), shown = count;
    size_t interval = (size_t)p->options.operand_index_interval;
    if (p->options.compact_operands && count > COMPACT_OPERANDS) shown = COMPACT_OPERANDS;
    for (size_t i = 0; i < shown; i++) {
        if (i) hlo_put(p->out, ", ", 2);
        if (i && interval && i % interval == 0) {
            hlo_put_string(p->out, "/*index=");
            hlo_put_uint(p->out, i);
            hlo_put(p->out, "*/", 2);
        }
        put_operand(p, hlo_operand(inst, i));
    }
    if (shown == count) return;
    hlo_put_string(p->out, ", ...(+");
    hlo_put_uint(p->out, count - shown);
    hlo_put_char(p->out, ')');
}

static void put_between_parentheses(Printer *p, const HloInstruction *inst) {
    if (inst->op == HLO_OP_CONSTANT) {
        put_constant(p, inst);
    } else if (inst->op == HLO_OP_PARAMETER) {
        if (p->options.parameter_numbers) hlo_put_int(p->out, hlo_parameter_number(inst));
    } else {
        put_operand_list(p, inst);
    }
}

// ---- callees --------------------------------------------------------------------------------------------

static bool is_callee(HloAttrId id) {
    HloAttrKind kind = hlo_attr_info(id)->kind;
    return kind == HLO_KIND_COMPUTATION || kind == HLO_KIND_COMPUTATIONS;
}

// A conditional lists both forms; its predicate decides which one is written.
static bool is_form_of_predicate(const HloInstruction *inst, HloAttrId id) {
    if (inst->op != HLO_OP_CONDITIONAL) return true;
    bool two_way = hlo_operand_count(inst) && hlo_operand(inst, 0)->shape->type == HLO_PRED;
    return two_way == (id != HLO_ATTR_BRANCH_COMPUTATIONS);
}

static bool is_sequential(HloOpcode op) {
    return op == HLO_OP_CALL || op == HLO_OP_CONDITIONAL || op == HLO_OP_WHILE;
}

static bool shows_callees(const Printer *p, const Line *line, HloAttrUse use) {
    const HloInstruction *inst = line->inst;
    if (use.rule == HLO_USE_INPUT_ONLY || !inst->called.count || !is_form_of_predicate(inst, use.id)) return false;
    switch (p->options.callees) {
    case HLO_CALLEES_OFF: return false;
    case HLO_CALLEES_NAMES: return !wrapped_operation(p, inst);
    case HLO_CALLEES_NONSEQUENTIAL_BODIES: return !is_sequential(inst->op);
    case HLO_CALLEES_BODIES: break;
    }
    return true;
}

// Where bodies are printed, some opcodes are written with the general key.
static HloAttrId body_key(const HloInstruction *inst, HloAttrId id) {
    bool general = inst->op == HLO_OP_REDUCE_SCATTER || inst->op == HLO_OP_SCAN || inst->op == HLO_OP_CUSTOM_CALL;
    return general ? HLO_ATTR_CALLS : id;
}

static void put_callee_names(Printer *p, const HloInstruction *inst, HloAttrId id) {
    const HloAttrInfo *info = hlo_attr_info(id);
    hlo_put_key(p->out, id);
    if (info->kind == HLO_KIND_COMPUTATION && id != HLO_ATTR_CALLS) {
        if ((size_t)info->detail < inst->called.count) hlo_put_name(p, hlo_called(inst, (size_t)info->detail)->name);
        return;
    }
    bool braces = info->kind == HLO_KIND_COMPUTATIONS;
    if (braces) hlo_put_char(p->out, '{');
    for (size_t i = 0; i < inst->called.count; i++) {
        if (i) hlo_put(p->out, ", ", 2);
        hlo_put_name(p, hlo_called(inst, i)->name);
    }
    if (braces) hlo_put_char(p->out, '}');
}

// Steps through the bodies of one attribute: the text before each, and after the last one.
static const HloComputation *next_body(Printer *p, Line *line) {
    const HloInstruction *inst = line->inst;
    HloAttrId id = body_key(inst, hlo_op_info(inst->op)->attrs[line->use].id);
    const HloAttrInfo *info = hlo_attr_info(id);
    bool list = info->kind == HLO_KIND_COMPUTATIONS;
    bool several = list || id == HLO_ATTR_CALLS;
    size_t first = several ? 0 : (size_t)info->detail;
    size_t past = several ? inst->called.count : first + 1;
    size_t slot = first + line->slot++;
    if (past > inst->called.count) return NULL;
    if (slot == first) {
        hlo_put_key(p->out, id);
        hlo_put_string(p->out, list ? "{\n" : "\n");
    } else if (slot < past) {
        hlo_put_string(p->out, list ? ",\n" : ", ");
    }
    if (slot < past) return hlo_called(inst, slot);
    if (list) hlo_put(p->out, "\n}", 2);
    return NULL;
}

static const HloComputation *put_callees(Printer *p, Line *line, HloAttrUse use) {
    if (!shows_callees(p, line, use)) return NULL;
    if (p->options.callees != HLO_CALLEES_NAMES) return next_body(p, line);
    put_callee_names(p, line->inst, use.id);
    return NULL;
}

// ---- the line -------------------------------------------------------------------------------------------

void hlo_line_begin(Printer *p, Line *line, const HloInstruction *inst) {
    if (!p->options.canonical_names || p->names) {
        hlo_put_inst_name(p, inst);
        hlo_put(p->out, " = ", 3);
    }
    if (p->options.result_shape) {
        put_shape(p, inst->shape);
        hlo_put_char(p->out, ' ');
    }
    put_opcode(p, inst);
    hlo_put_char(p->out, '(');
    put_between_parentheses(p, inst);
    hlo_put_char(p->out, ')');
    *line = (Line){.inst = inst};
}

// With sugar, the attributes of the wrapped operation follow the thread, up to result_accuracy; its frontend
// attributes give way to those of the async-start.
static void leave_wrapped(Printer *p, Line *line) {
    bool own_frontend = hlo_has(line->outer, HLO_ATTR_FRONTEND_ATTRIBUTES);
    HloAttrId from = own_frontend ? HLO_ATTR_CONTROL_PREDECESSORS : HLO_ATTR_FRONTEND_ATTRIBUTES;
    hlo_put_common_attributes(p, line->inst, HLO_ATTR_SHARDING, HLO_ATTR_FRONTEND_ATTRIBUTES);
    hlo_put_common_attributes(p, line->inst, from, HLO_ATTR_ORIGIN);
    *line = (Line){.inst = line->outer, .use = line->outer_use};
}

const HloComputation *hlo_line_continue(Printer *p, Line *line) {
    for (;;) {
        const HloOpInfo *row = hlo_op_info(line->inst->op);
        if (line->use == row->attr_count) {
            if (!line->outer) break;
            leave_wrapped(p, line);
            continue;
        }
        HloAttrUse use = row->attrs[line->use];
        if (is_callee(use.id)) {
            const HloComputation *body = put_callees(p, line, use);
            if (body) return body;
        } else {
            hlo_put_own_attribute(p, line->inst, use);
        }
        line->use++;
        line->slot = 0;
        if (use.id != HLO_ATTR_ASYNC_EXECUTION_THREAD || line->inst->op != HLO_OP_ASYNC_START) continue;
        const HloInstruction *wrapped = wrapped_operation(p, line->inst);
        if (wrapped && !line->outer) *line = (Line){.inst = wrapped, .outer = line->inst, .outer_use = line->use};
    }
    hlo_put_common_attributes(p, line->inst, HLO_ATTR_SHARDING, HLO_ATTR_COUNT);
    return NULL;
}
