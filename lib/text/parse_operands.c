// Operand lists: names, `%t#1` elements of tuples, and nested instructions (grammar chapter, §4.2).

#include "parse.h"

// ---- named operands -------------------------------------------------------------------------------------

static bool unknown_instruction(HloReader *r, const HloToken *t) {
    int shown = (int)(t->size < 200 ? t->size : 200);
    return hlo_read_error(r, t->at, "instruction does not exist: %.*s%s", shown, t->text,
                          hlo_hint_of_names(r, &r->scope->names, t->text, t->size));
}

// Words of the language and types are no names, unless they have their `%`.
static bool no_name(HloReader *r, const HloToken *t) {
    bool word = t->kind == HLO_TOK_TYPE || (t->kind >= HLO_TOK_TRUE && t->kind <= HLO_TOK_UNREDUCED);
    int shown = (int)(t->size < 40 ? t->size : 40);
    if (!word) return hlo_read_error(r, t->at, "cannot parse as an instruction name or as a nested instruction:");
    return hlo_read_error(r, t->at,
                          "cannot parse as an instruction name or as a nested instruction: %.*s is a word of the "
                          "language; as a name write %%%.*s",
                          shown, t->text, shown, t->text);
}

// `t#1#0` -> `t_1_0`
static const char *element_name(HloReader *r, const char *text, size_t size) {
    char *name = hlo_arena_string(r->scratch, text, size);
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        char c = text[i] == '#' ? '_' : text[i];
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r') name[count++] = c;
    }
    name[count] = 0;
    return name;
}

static HloInstruction *new_element(HloReader *r, HloInstruction *tuple, int64_t index, const char *name) {
    HloInstruction *inst = hlo_inst_new(r->m, HLO_OP_GET_TUPLE_ELEMENT, tuple->shape->elements[index], &tuple, 1);
    hlo_set_int(r->m, inst, HLO_ATTR_INDEX, index);
    return hlo_computation_add(r->scope->comp, inst, name);
}

// ("#" int)*     each distinct prefix makes one get-tuple-element per computation
static bool read_elements(HloReader *r, const char *name_at, HloInstruction **inst) {
    while (hlo_tok(r) == HLO_TOK_SHARP) {
        hlo_skip(r);
        const HloToken t = r->lex.token;
        if (!hlo_version_has(r, t.at, HLO_FORM_TUPLE_ELEMENT)) return false;
        int64_t index;
        if (!hlo_read_int(r, &index)) return false;
        const HloShape *shape = (*inst)->shape;
        if (!hlo_shape_is_tuple(shape))
            return hlo_read_error(r, t.at, "GTE operand must be tuple, but has shape: %s",
                                  hlo_shape_text(r->scratch, shape, true));
        if (index < 0 || (uint64_t)index >= shape->rank)
            return hlo_read_error(r, t.at, "GTE index %lld out of bounds for shape: %s", (long long)index,
                                  hlo_shape_text(r->scratch, shape, true));
        size_t size = (size_t)(t.text + t.size - name_at);
        void **element = hlo_map_at_text(r->scratch, &r->scope->elements, name_at, size, NULL);
        if (!*element) *element = new_element(r, *inst, index, element_name(r, name_at, size));
        *inst = *element;
    }
    return true;
}

// The same of an instruction that could not be read.
static bool skip_elements(HloReader *r) {
    int64_t index;
    while (hlo_accept(r, HLO_TOK_SHARP)) {
        if (!hlo_read_int(r, &index)) return false;
    }
    return true;
}

static bool shapes_clash(HloReader *r, const HloLine *operand, const HloInstruction *inst) {
    return hlo_read_error(
        r, operand->shape_at,
        "The declared operand shape %s is not compatible with the shape of the operand instruction %s.",
        hlo_shape_text(r->scratch, operand->shape, true), hlo_shape_text(r->scratch, inst->shape, true));
}

// Single-instruction text: an operand that is mentioned first is a parameter.
static bool make_parameter(HloReader *r, const HloLine *operand, const HloToken *name, HloInstruction **out) {
    if (!operand->shape)
        return hlo_read_error(
            r, operand->at, "Operand had no shape in HLO text; cannot create parameter for single-instruction module.");
    HloComputation *comp = r->scope->comp;
    size_t number = hlo_parameter_count(comp);
    HloInstruction *inst = hlo_inst_new(r->m, HLO_OP_PARAMETER, operand->shape, NULL, 0);
    hlo_set_int(r->m, inst, HLO_ATTR_PARAMETER_NUMBER, (int64_t)number);
    const char *text = name ? hlo_intern(r->m, name->text, name->size) : hlo_arena_printf(r->scratch, "_%zu", number);
    *out = hlo_computation_add(comp, inst, text);
    if (!name) return true;
    bool is_new;
    HloNameSlot *slot = hlo_names_at(r->scratch, &r->scope->names, name->text, name->size, &is_new);
    slot->value = inst;
    return true;
}

// name ("#" int)*
static bool read_named(HloReader *r, const HloLine *operand, HloInstruction **out) {
    const HloToken t = r->lex.token;
    bool may_create = r->scope->free_names;
    if (t.kind != HLO_TOK_NAME && t.kind != HLO_TOK_IDENT) {
        bool unnamed = t.kind == HLO_TOK_COMMA || t.kind == HLO_TOK_RPAREN;
        if (may_create && unnamed && operand->shape) return make_parameter(r, operand, NULL, out);
        return no_name(r, &t);
    }
    const HloNameSlot *slot = hlo_names_find(&r->scope->names, t.text, t.size);
    if (!slot && !may_create) return unknown_instruction(r, &t);
    if (slot)
        *out = slot->value;
    else if (!make_parameter(r, operand, &t, out))
        return false;
    hlo_skip(r);
    if (!(*out)->shape) return skip_elements(r);
    if (hlo_tok(r) == HLO_TOK_SHARP && !read_elements(r, t.text, out)) return false;
    if (operand->shape && operand->shape != (*out)->shape && !hlo_shape_compatible(operand->shape, (*out)->shape))
        return shapes_clash(r, operand, *out);
    return true;
}

// ---- parameter numbers and constants --------------------------------------------------------------------

static bool read_parameter_number(HloReader *r, HloLine *line) {
    const char *at = hlo_here(r);
    if (!hlo_read_int(r, &line->parameter_number)) return false;
    if (line->parameter_number < 0) return hlo_read_error(r, at, "parameter number must be >= 0");
    // Numbers run from 0 without gaps, so a valid one is smaller than the text.
    if (line->parameter_number > r->lex.end - r->lex.begin)
        return hlo_read_error(r, at, "parameter number is too large: numbers run from 0 without gaps");
    const HloComputation *comp = r->scope->comp;
    size_t number = (size_t)line->parameter_number;
    if (number < hlo_parameter_count(comp) && hlo_parameter(comp, number))
        return hlo_read_error(r, at, "Duplicate parameter number %zu", number);
    return hlo_tok(r) == HLO_TOK_RPAREN || hlo_read_error(r, hlo_here(r), "expects ')' after parameter number");
}

// A constant's shape is static and stored without padding of its elements.
static const HloShape *constant_shape(HloReader *r, const HloShape *shape) {
    if (hlo_shape_is_dynamic(shape)) shape = hlo_shape_static(r->shapes, shape);
    if (!(shape->flags & HLO_SHAPE_HAS_LAYOUT)) shape = hlo_shape_fill_layout(r->shapes, shape);
    if (!hlo_shape_is_array(shape) || !shape->layout->element_bits) return shape;
    HloLayout layout = *shape->layout;
    layout.element_bits = 0;
    return hlo_shape_with_layout(r->shapes, shape, &layout);
}

static bool read_constant_value(HloReader *r, HloLine *line) {
    if (!line->shape) return hlo_read_error(r, line->op_at, "cannot infer shape for opcode: constant");
    if (!hlo_read_literal_of(r, constant_shape(r, line->shape), &line->literal)) return false;
    return hlo_tok(r) == HLO_TOK_RPAREN || hlo_read_error(r, hlo_here(r), "expects ')' after constant literal");
}

// ---- lists ----------------------------------------------------------------------------------------------

// One operand: either a finished instruction, pushed on r->operands, or the beginning of a nested one up to its `(`.
static bool read_operand(HloReader *r, HloLine *inner, bool *is_nested) {
    *inner = (HloLine){.at = hlo_here(r)};
    *is_nested = false;
    if (hlo_at_shape(r)) {
        inner->shape_at = hlo_here(r);
        if (!hlo_read_shape(r, &inner->shape)) return false;
    }
    if (hlo_tok(r) == HLO_TOK_IDENT && hlo_lex_peek(&r->lex) == '(') {
        *is_nested = true;
        return hlo_read_opcode(r, inner);
    }
    HloInstruction *inst = NULL;
    if (!read_named(r, inner, &inst)) return false;
    hlo_vec_push(r->scratch, &r->operands, inst);
    return true;
}

static HloLine *top_line(HloItems *nested, HloLine *outer) {
    return nested->count ? (HloLine *)nested->data + nested->count - 1 : outer;
}

// Finishes the nested instruction whose `)` was read and makes it an operand of the next outer one.
static bool close_nested(HloReader *r, HloItems *nested) {
    HloLine *line = top_line(nested, NULL);
    line->attrs_at = hlo_here(r);
    if (!hlo_finish_line(r, line, NULL)) return false;
    hlo_vec_push(r->scratch, &r->operands, line->inst);
    nested->count--;
    hlo_leave(r, 2);
    return true;
}

// The part of a list that is particular to its opcode; *done tells that only `)` can follow.
static bool read_item(HloReader *r, HloLine *line, HloItems *nested, bool *done) {
    *done = line->op == HLO_OP_PARAMETER || line->op == HLO_OP_CONSTANT;
    if (line->op == HLO_OP_PARAMETER) return read_parameter_number(r, line);
    if (line->op == HLO_OP_CONSTANT) return read_constant_value(r, line);
    while (hlo_accept(r, HLO_TOK_COMMA)) continue;  // extra ones mean nothing
    if (hlo_tok(r) == HLO_TOK_RPAREN) return true;
    HloLine inner;
    bool is_nested;
    if (!read_operand(r, &inner, &is_nested)) return false;
    if (!is_nested) return true;
    inner.operand_base = r->operands.count;
    *(HloLine *)hlo_items_push(r, nested, sizeof inner) = inner;
    return hlo_enter(r, 2);  // the instruction and its list
}

// operands = (operand ("," operand)*)? ")"     and commas wherever they are; with an explicit stack of nested
// instructions
bool hlo_read_operands(HloReader *r, HloLine *outer) {
    HloItems nested = {0};
    outer->operand_base = r->operands.count;
    for (;;) {
        HloLine *line = top_line(&nested, outer);
        size_t depth = nested.count;
        bool done;
        if (!read_item(r, line, &nested, &done)) return false;
        if (nested.count > depth) continue;
        while (done || !hlo_accept(r, HLO_TOK_COMMA)) {
            if (!hlo_expect(r, HLO_TOK_RPAREN, "expects ')' at the end of operands")) return false;
            if (!nested.count) return true;
            if (!close_nested(r, &nested)) return false;
            done = false;
        }
    }
}
