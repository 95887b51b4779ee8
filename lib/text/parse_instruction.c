// One instruction line: name, shape, opcode, operands, attributes, in this order; then the shape is inferred where the
// text leaves it out, and the instruction joins its computation.

#include "parse.h"

#include "hlo/infer.h"

// ---- opcodes --------------------------------------------------------------------------------------------

typedef struct Suffix {
    const char *text;
    HloOpcode op;
} Suffix;

static const Suffix sugar_suffixes[] = {
    {"-start", HLO_OP_ASYNC_START}, {"-update", HLO_OP_ASYNC_UPDATE}, {"-done", HLO_OP_ASYNC_DONE}};

static bool unknown_opcode(HloReader *r, const HloToken *t, const char *noun, size_t stem_size) {
    int shown = (int)(t->size < 200 ? t->size : 200), stem = (int)(stem_size < 200 ? stem_size : 200);
    const char *near = hlo_op_suggest(t->text, t->size);
    if (hlo_lex_peek(&r->lex) == '[')  // meant as a type, then
        return hlo_read_error(r, t->at, "expects %s but sees: %.*s, error: Unknown opcode: %.*s%s", noun, shown,
                              t->text, stem, t->text, hlo_hint_of_types(r, t->text, t->size));
    return hlo_read_error(r, t->at, "expects %s but sees: %.*s, error: Unknown opcode: %.*s%s%s%s", noun, shown,
                          t->text, stem, t->text, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

// `X-start`, `X-update`, `X-done` for an opcode X without such forms of its own.
static bool find_sugar(HloReader *r, HloLine *line, const HloToken *t) {
    for (size_t i = 0; i < HLO_COUNT(sugar_suffixes); i++) {
        size_t size = strlen(sugar_suffixes[i].text);
        if (t->size <= size || memcmp(t->text + t->size - size, sugar_suffixes[i].text, size)) continue;
        if (!hlo_op_find(t->text, t->size - size, &line->wrapped_op))
            return unknown_opcode(r, t, "async wrapped opcode", t->size - size);
        if (hlo_op_has(line->wrapped_op, HLO_OPF_NO_SUGAR)) break;
        line->op = sugar_suffixes[i].op;
        line->sugar = true;
        return true;
    }
    return unknown_opcode(r, t, "opcode", t->size);
}

// A text uses few opcodes many times: what was found last is kept by size and two letters.
static bool find_opcode(HloReader *r, const HloToken *t, HloOpcode *out) {
    size_t place = (t->size * 16 + (unsigned char)t->text[0] * 5 + (unsigned char)t->text[t->size - 1]) %
                   HLO_COUNT(r->recent_opcodes);
    const HloOpInfo *recent = hlo_op_info(r->recent_opcodes[place]);
    if (recent->name_size == t->size && hlo_same_bytes(recent->name, t->text, t->size)) {
        *out = r->recent_opcodes[place];
        return true;
    }
    if (!hlo_op_find(t->text, t->size, out)) return false;
    r->recent_opcodes[place] = *out;
    return true;
}

bool hlo_read_opcode(HloReader *r, HloLine *line) {
    const HloToken t = r->lex.token;
    line->op_at = t.at;
    if (t.kind != HLO_TOK_IDENT) return hlo_read_error(r, t.at, "expects opcode");
    if (!find_opcode(r, &t, &line->op) && !find_sugar(r, line, &t)) return false;
    if (!hlo_version_has_op(r, t.at, line->sugar ? line->wrapped_op : line->op)) return false;
    hlo_skip(r);
    line->paren_at = hlo_here(r);
    const char *message = line->op == HLO_OP_PARAMETER  ? "expects '(' before parameter number"
                          : line->op == HLO_OP_CONSTANT ? "expects '(' before constant literal"
                                                        : "expects '(' at the beginning of operands";
    return hlo_expect(r, HLO_TOK_LPAREN, message);
}

// ---- finishing a line -----------------------------------------------------------------------------------

bool hlo_infer_line(HloReader *r, HloLine *line) {
    HloInstruction *inst = line->inst;
    if (inst->shape) return true;
    if (!hlo_op_has(inst->op, HLO_OPF_INFER))
        return hlo_read_error(r, line->paren_at, "cannot infer shape for opcode: %s", hlo_op_name(inst->op));
    if (r->early_calls.count && hlo_calls_unknown(inst)) return hlo_callee_needed(r, line, "this instruction's shape");
    const HloShape *shape = NULL;
    HloStatus status = hlo_infer_shape(r->m, inst, &shape);
    // What a tuple may not have where it is written down (parse_shape.c) it may not get either.
    const char *fault = shape && !hlo_shape_is_array(shape) ? hlo_shape_layout_fault(shape) : NULL;
    if (fault) status = hlo_error(HLO_INVALID_ARGUMENT, "%s", fault);
    if (hlo_is_ok(status)) {
        inst->shape = shape;
        return true;
    }
    hlo_read_error(r, line->op_at, "failed to infer shape for opcode: %s, error: %s", hlo_op_name(inst->op),
                   hlo_status_message(status));
    hlo_status_free(status);
    return false;
}

static void set_sharding(HloReader *r, HloLine *line) {
    HloInstruction *inst = line->inst;
    const HloSharding *sharding = line->sharding;
    if (!sharding) return;
    bool single = sharding->kind != HLO_SHARDING_TUPLE;
    if (single && hlo_shape_is_tuple(inst->shape)) sharding = hlo_sharding_for_tuple(r, sharding, inst->shape);
    hlo_set_data(r->m, inst, HLO_ATTR_SHARDING, sharding);
}

// Names of nested instructions end in `.anon` and must differ from every written name so far. Only names with that
// ending matter, and only in texts that have nested instructions, so they are entered when the first one comes.
static bool has_anonymous_stem(const char *name) {
    return strstr(name, ".anon") != NULL;
}

static void enter_names(HloReader *r, const HloComputation *comp) {
    HLO_EACH_INST(inst, comp) {
        if (has_anonymous_stem(inst->name)) hlo_unique_name(r->m, &r->anonymous, inst->name);
    }
}

static void enter_open_names(HloReader *r, const HloScope *scope) {
    for (; scope; scope = scope->outer) enter_names(r, scope->comp);
}

static const char *anonymous_name(HloReader *r, HloOpcode op) {
    if (!r->anonymous_used) {
        r->anonymous_used = true;
        HLO_EACH_COMP(comp, r->m) enter_names(r, comp);
        enter_open_names(r, r->scope);
    }
    return hlo_unique_name(r->m, &r->anonymous, hlo_arena_printf(r->scratch, "%s.anon", hlo_op_name(op)));
}

// The lexer lets only good characters through, so two faults are left: a type's name and a leading `__`.
static bool may_be_illegal(HloStringView name) {
    bool underscores = name.size > 1 && name.data[0] == '_' && name.data[1] == '_';
    HloType type;
    return underscores || hlo_type_find(name.data, name.size, &type);
}

static bool check_name(HloReader *r, const HloLine *line) {
    int shown = (int)(line->name.size < 200 ? line->name.size : 200);
    if (may_be_illegal(line->name)) {
        const char *name = hlo_arena_string(r->scratch, line->name.data, line->name.size);
        const char *clean = hlo_sanitized_name(r->scratch, name);
        if (clean != name)
            return hlo_read_error(r, line->at, "illegal instruction name: %.200s; suggest renaming to: %.200s", name,
                                  clean);
    }
    bool is_new;
    HloNameSlot *slot = hlo_names_at(r->scratch, &r->scope->names, line->name.data, line->name.size, &is_new);
    if (!is_new) {
        hlo_read_error(r, line->at, "instruction already exists: %.*s", shown, line->name.data);
        return hlo_read_note(r, slot->text, "instruction previously defined here");
    }
    slot->value = line->inst;
    return true;
}

// Puts the instruction into its computation, under the written name or one made up.
static bool add_line(HloReader *r, HloLine *line) {
    HloComputation *comp = r->scope->comp;
    if (!line->name.data) {
        hlo_computation_add(comp, line->inst, anonymous_name(r, line->inst->op));
        return true;
    }
    if (!check_name(r, line)) return false;
    const char *name = hlo_arena_string(r->arena, line->name.data, line->name.size);
    if (r->anonymous_used && has_anonymous_stem(name)) hlo_unique_name(r->m, &r->anonymous, name);
    hlo_computation_add_owned(comp, line->inst, name);
    for (size_t i = 0; i < line->control_preds.count; i++)
        hlo_add_control_edge(line->control_preds.items[i], line->inst);
    return true;
}

static bool is_async(HloOpcode op) {
    return op == HLO_OP_ASYNC_START || op == HLO_OP_ASYNC_UPDATE || op == HLO_OP_ASYNC_DONE;
}

static void make_instruction(HloReader *r, HloLine *line) {
    size_t count = r->operands.count - line->operand_base;
    HloInstruction *const *operands = count ? (HloInstruction *const *)r->operands.items + line->operand_base : NULL;
    r->operands.count = line->operand_base;
    line->inst = hlo_inst_new(r->m, line->op, line->shape, operands, count);
    if (line->op == HLO_OP_PARAMETER) hlo_set_int(r->m, line->inst, HLO_ATTR_PARAMETER_NUMBER, line->parameter_number);
    if (line->op == HLO_OP_CONSTANT) hlo_set_data(r->m, line->inst, HLO_ATTR_VALUE, line->literal);
}

// ---- what could not be read -----------------------------------------------------------------------------

static HloInstruction *new_placeholder(HloReader *r, const HloShape *shape) {
    return hlo_inst_new(r->m, HLO_OP_PARAMETER, shape, NULL, 0);
}

static bool has_unknown_operand(const HloReader *r, const HloLine *line) {
    for (size_t k = line->operand_base; k < r->operands.count; k++) {
        const HloInstruction *operand = r->operands.items[k];
        if (!operand->shape) return true;
    }
    return false;
}

// Makes later uses of a failed line's name say nothing.
static void remember_failed(HloReader *r, const HloLine *line) {
    r->failed = true;
    if (!line->name.data) return;
    bool is_new;
    HloNameSlot *slot = hlo_names_at(r->scratch, &r->scope->names, line->name.data, line->name.size, &is_new);
    if (is_new) slot->value = new_placeholder(r, line->shape);
}

// ---- putting it together --------------------------------------------------------------------------------

// A nested instruction with an unknown operand is unknown itself, unless its shape is declared.
static bool give_up_line(HloReader *r, HloLine *line, bool is_nested) {
    r->operands.count = line->operand_base;
    if (is_nested) line->inst = new_placeholder(r, line->shape);
    return is_nested;
}

bool hlo_finish_line(HloReader *r, HloLine *line, bool (*attributes)(HloReader *r, HloLine *line)) {
    if (r->failed && has_unknown_operand(r, line)) return give_up_line(r, line, !attributes);
    make_instruction(r, line);
    if (is_async(line->op) ? !hlo_async_begin(r, line) : !hlo_check_operand_count(r, line)) return false;
    if (attributes && !attributes(r, line)) return false;
    if (line->unknown_callee) return false;
    if (!hlo_check_required(r, line)) return false;
    if (is_async(line->op) ? !hlo_async_finish(r, line) : !hlo_parse_check_rules(r, line)) return false;
    if (!hlo_infer_line(r, line)) return false;
    set_sharding(r, line);
    return add_line(r, line);
}

// ---- lines ----------------------------------------------------------------------------------------------

// rhs = shape? opcode "(" operands ")" attributes
static bool read_right_side(HloReader *r, HloLine *line) {
    if (hlo_at_shape(r)) {
        line->shape_at = hlo_here(r);
        if (!hlo_read_shape(r, &line->shape)) return false;
    }
    if (!hlo_read_opcode(r, line) || !hlo_read_operands(r, line)) return false;
    line->attrs_at = hlo_here(r);
    return hlo_finish_line(r, line, hlo_read_attributes);
}

// line = name "=" rhs
static bool read_line(HloReader *r, HloLine *line, bool may_be_unnamed) {
    bool unnamed = may_be_unnamed && hlo_at_shape(r);
    if (unnamed)
        line->name = hlo_view("_");
    else if (!hlo_read_name(r, &line->name) || !hlo_expect(r, HLO_TOK_EQUAL, "expects '=' in instruction"))
        return false;
    return read_right_side(r, line);
}

// instruction = "ROOT"? line
bool hlo_read_instruction(HloReader *r) {
    const char *root_at = hlo_here(r);
    bool root = hlo_accept(r, HLO_TOK_ROOT);
    HloLine line = {.at = hlo_here(r)};
    if (!read_line(r, &line, r->scope->free_names && !root)) {
        remember_failed(r, &line);
        return false;
    }
    if (!root) return true;
    if (r->scope->root) return hlo_read_error(r, root_at, "one computation should have only one ROOT");
    r->scope->root = line.inst;
    return true;
}
