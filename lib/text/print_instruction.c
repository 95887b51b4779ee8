// One instruction line (printing chapter, §5 and §6.2).

#include "print.h"

#include <stdint.h>

enum { COMPACT_OPERANDS = 4, SMALL_CONSTANT = 10, ESSENTIAL_INTEGERS = 500000 };

// ---- the cursor -----------------------------------------------------------------------------------------

Cursor hlo_cursor_put_slow(HloBuffer *out, Cursor c, const char *text, size_t size) {
    cursor_end(out, c);
    hlo_put(out, text, size);
    return cursor_of(out);
}

// ---- names and shapes -----------------------------------------------------------------------------------

// The marks of the bytes of a word that are zero, exact up to the first of them.
static inline uint64_t zero_bytes(uint64_t word) {
    return (word - 0x0101010101010101u) & ~word & 0x8080808080808080u;
}

// Interned text, whose end is found while it is copied. It starts at a multiple of eight bytes and the arena pads what
// it holds to one, so whole words can be read; only the empty name of a detached instruction is no interned text.
static inline Cursor put_interned(HloBuffer *out, Cursor c, const char *text) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    enum { WORD = sizeof(uint64_t) };
    if (!*text) return c;
    for (; c.limit - c.at > WORD; text += WORD, c.at += WORD) {
        uint64_t word;
        memcpy(&word, text, sizeof word);
        memcpy(c.at, &word, sizeof word);
        uint64_t end = zero_bytes(word);
        if (!end) continue;
        c.at += __builtin_ctzll(end) / 8;
        return c;
    }
#endif
    return hlo_cursor_put_slow(out, c, text, strlen(text));
}

static inline Cursor put_name(Printer *p, Cursor c, const char *name) {
    if (p->options.percent) c = cursor_put(p->out, c, "%", 1);
    if (p->options.ids) return put_interned(p->out, c, name);
    return cursor_put(p->out, c, name, strcspn(name, "."));
}

void hlo_put_name(Printer *p, const char *name) {
    cursor_end(p->out, put_name(p, cursor_of(p->out), name));
}

static Cursor put_canonical_name(Printer *p, Cursor c, const HloInstruction *inst) {
    uint32_t *number = &p->names->numbers[inst->id];
    if (!*number) *number = ++p->names->next;
    cursor_end(p->out, c);
    hlo_put(p->out, "tmp_", 4);
    hlo_put_uint(p->out, *number - 1);
    return cursor_of(p->out);
}

static inline Cursor put_inst_name(Printer *p, Cursor c, const HloInstruction *inst) {
    if (p->options.canonical_names && p->names) return put_canonical_name(p, c, inst);
    return put_name(p, c, inst->name);
}

static inline ShapeSpot *shape_spot(const Printer *p, const HloShape *shape) {
    return &p->spots[shape->hash % SHAPE_SPOTS];
}

static Cursor put_new_shape(Printer *p, Cursor c, const HloShape *shape) {
    cursor_end(p->out, c);
    size_t start = p->out->size;
    hlo_put_shape(p->out, shape, p->options.layouts);
    if (p->spots) *shape_spot(p, shape) = (ShapeSpot){shape, start, p->out->size - start};
    return cursor_of(p->out);
}

// A shape as instruction lines show it, copied from where it was printed before if that is known.
static inline Cursor put_shape(Printer *p, Cursor c, const HloShape *shape) {
    enum { SHORT = 32 };  // bytes copied at once, whatever the length: the rest is overwritten by what follows
    const ShapeSpot *spot = p->spots ? shape_spot(p, shape) : NULL;
    if (!spot || spot->shape != shape) return put_new_shape(p, c, shape);
    if ((size_t)(c.limit - c.at) <= (spot->size > SHORT ? spot->size : SHORT)) return put_new_shape(p, c, shape);
    const char *from = p->out->data + spot->start;
    if (spot->size > SHORT) {
        memcpy(c.at, from, spot->size);
    } else {
        char text[SHORT];  // the 32 bytes may reach to where they are copied to
        memcpy(text, from, SHORT);
        memcpy(c.at, text, SHORT);
    }
    c.at += spot->size;
    return c;
}

// ---- async sugar ----------------------------------------------------------------------------------------

// The operation has the parameters for operands, in their order: nothing else can be read from `add-start(a, b)`. Nor
// can operations whose `X-start` is something else.
static bool is_one_operation(const HloComputation *comp) {
    const HloInstruction *root = comp->root;
    size_t count = hlo_parameter_count(comp);
    if (!root || hlo_op_has(root->op, HLO_OPF_NO_SUGAR)) return false;
    if (hlo_operand_count(root) != count || comp->count != count + 1) return false;
    for (size_t k = 0; k < count; k++) {
        if (hlo_operand(root, k) != hlo_parameter(comp, k)) return false;
    }
    return true;
}

// An attribute that both the async-start and the operation may have is read as the operation's.
bool hlo_takes_sugar(const HloInstruction *start) {
    if (!start->called.count || !is_one_operation(hlo_called(start, 0))) return false;
    return !hlo_has(start, HLO_ATTR_OUTPUT_TO_OPERAND_ALIASING) ||
           !hlo_op_uses(hlo_called(start, 0)->root->op, HLO_ATTR_OUTPUT_TO_OPERAND_ALIASING);
}

// The root that an async instruction stands for when sugar is on and applies; else NULL.
static const HloInstruction *wrapped_operation(const Printer *p, const HloInstruction *inst) {
    if (!p->options.async_sugar || !hlo_op_has(inst->op, HLO_OPF_ASYNC)) return NULL;
    while (inst->op != HLO_OP_ASYNC_START) {
        if (!hlo_operand_count(inst) || !hlo_op_has(hlo_operand(inst, 0)->op, HLO_OPF_ASYNC)) return NULL;
        inst = hlo_operand(inst, 0);
    }
    return hlo_takes_sugar(inst) ? hlo_called(inst, 0)->root : NULL;
}

// Opcodes as they stand in a line, in rooms of one size, which are copied whole.
enum { OPCODE_ROOM = 32 };
static const char opcodes[HLO_OP_COUNT][OPCODE_ROOM] = {
#define HLO_OPCODE(name, spelling, operands, flags, ...) [HLO_OP_##name] = " " spelling "(",
#include "hlo/opcodes.def"
};

// `add(`; with sugar `add-start(`, where the table has `async-start`.
static inline Cursor put_opcode(Printer *p, Cursor c, const HloInstruction *inst, bool blank) {
    const HloOpInfo *info = hlo_op_info(inst->op);
    const HloInstruction *wrapped = wrapped_operation(p, inst);
    if (wrapped) {
        if (blank) c = cursor_put(p->out, c, " ", 1);
        const HloOpInfo *base = hlo_op_info(wrapped->op);
        c = hlo_cursor_put_slow(p->out, c, base->name, base->name_size);
        c = hlo_cursor_put_slow(p->out, c, info->name + strlen("async"), info->name_size - strlen("async"));
        return cursor_put(p->out, c, "(", 1);
    }
    const char *text = opcodes[inst->op] + !blank;
    size_t size = info->name_size + 1 + blank;
    if (c.limit - c.at <= OPCODE_ROOM) return hlo_cursor_put_slow(p->out, c, text, size);
    memcpy(c.at, text, OPCODE_ROOM - 1);
    c.at += size;
    return c;
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

// The name of a get-tuple-element that has no line of its own: `base#0#1`.
static Cursor put_compact_name(Printer *p, Cursor c, const HloInstruction *operand) {
    size_t depth = 0;
    const HloInstruction *base = operand;
    for (; base->op == HLO_OP_GET_TUPLE_ELEMENT && hlo_operand_count(base); depth++) base = hlo_operand(base, 0);
    int64_t *path = HLO_NEW_ARRAY(p->scratch, int64_t, depth);
    for (size_t i = depth; i-- > 0; operand = hlo_operand(operand, 0)) path[i] = hlo_int(operand, HLO_ATTR_INDEX);
    cursor_end(p->out, put_inst_name(p, c, base));
    for (size_t i = 0; i < depth; i++) {
        hlo_put_char(p->out, '#');
        hlo_put_int(p->out, path[i]);
    }
    return cursor_of(p->out);
}

static inline Cursor put_operand(Printer *p, Cursor c, const HloInstruction *operand) {
    const HloPrintOptions *options = &p->options;
    if (!operand) return cursor_put(p->out, c, "null ", 5);
    bool named = options->canonical_names ? p->names != NULL : options->operand_names;
    if (options->operand_shapes) {
        c = put_shape(p, c, operand->shape);
        if (named) c = cursor_put(p->out, c, " ", 1);
    }
    if (!named) return c;
    bool compact = options->compact_gte && operand->op == HLO_OP_GET_TUPLE_ELEMENT;
    return compact ? put_compact_name(p, c, operand) : put_inst_name(p, c, operand);
}

static Cursor put_operand_index(HloBuffer *out, Cursor c, size_t i) {
    cursor_end(out, c);
    hlo_put_string(out, "/*index=");
    hlo_put_uint(out, i);
    hlo_put(out, "*/", 2);
    return cursor_of(out);
}

static Cursor put_operand_list(Printer *p, Cursor c, const HloInstruction *inst) {
    size_t count = hlo_operand_count(inst), shown = count;
    size_t interval = (size_t)p->options.operand_index_interval, until_index = interval;
    if (p->options.compact_operands && count > COMPACT_OPERANDS) shown = COMPACT_OPERANDS;
    for (size_t i = 0; i < shown; i++) {
        if (i) c = cursor_put(p->out, c, ", ", 2);
        if (i && interval && i == until_index) {
            c = put_operand_index(p->out, c, i);
            until_index += interval;
        }
        c = put_operand(p, c, hlo_operand(inst, i));
    }
    if (shown == count) return c;
    cursor_end(p->out, c);
    hlo_put_string(p->out, ", ...(+");
    hlo_put_uint(p->out, count - shown);
    hlo_put_char(p->out, ')');
    return cursor_of(p->out);
}

static Cursor put_between_parentheses(Printer *p, Cursor c, const HloInstruction *inst) {
    if (inst->op != HLO_OP_CONSTANT && inst->op != HLO_OP_PARAMETER) return put_operand_list(p, c, inst);
    cursor_end(p->out, c);
    if (inst->op == HLO_OP_CONSTANT)
        put_constant(p, inst);
    else if (p->options.parameter_numbers)
        hlo_put_int(p->out, hlo_parameter_number(inst));
    return cursor_of(p->out);
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
    HloBuffer *out = p->out;
    Cursor c = cursor_of(out);
    if (!p->options.canonical_names || p->names) {
        c = put_inst_name(p, c, inst);
        c = cursor_put(out, c, " = ", 3);
    }
    if (p->options.result_shape) c = put_shape(p, c, inst->shape);
    c = put_opcode(p, c, inst, p->options.result_shape);
    c = put_between_parentheses(p, c, inst);
    c = cursor_put(out, c, ")", 1);
    cursor_end(out, c);
    *line = (Line){.inst = inst};
}

// With sugar, the attributes of the wrapped operation follow the thread, up to result_accuracy. What the async-start
// says itself is said once; edges stay inside, as their parameters have no names here.
static void leave_wrapped(Printer *p, Line *line) {
    for (HloAttrId id = HLO_ATTR_SHARDING; id < HLO_ATTR_ORIGIN; id++) {
        if (id == HLO_ATTR_CONTROL_PREDECESSORS || hlo_has(line->outer, id)) continue;
        hlo_put_common_attributes(p, line->inst, id, id + 1);
    }
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
