// The attribute list of an instruction: a loop over `key=value` that looks the key up in the opcode's row and reads the
// value by its kind. What single opcodes ask for beyond that stands in parse_rules.c.

#include "parse.h"

// ---- words ----------------------------------------------------------------------------------------------

typedef struct WordList {
    bool ignore_case;
    const char *noun;
    const char *unknown;  // NULL: the message ends with the word
} WordList;

static const WordList word_lists[HLO_ENUM_TABLE_COUNT] = {
    [HLO_ENUM_COMPARE_DIRECTION] = {false, "comparison direction", NULL},
    [HLO_ENUM_COMPARE_TYPE] = {false, "comparison type", NULL},
    [HLO_ENUM_FUSION_KIND] = {false, "fusion kind", "Unknown fusion kind"},
    [HLO_ENUM_FFT_TYPE] = {false, "fft type", NULL},
    [HLO_ENUM_PADDING_TYPE] = {false, "padding type", NULL},
    [HLO_ENUM_RNG_DISTRIBUTION] = {true, "random distribution", "Unknown distribution"},
    [HLO_ENUM_RNG_ALGORITHM] = {true, "random algorithm", "Unknown algorithm"},
    [HLO_ENUM_PRECISION] = {true, "precision", "Unknown precision"},
    [HLO_ENUM_DOT_ALGORITHM] = {true, "algorithm", "Unknown algorithm"},
    [HLO_ENUM_CONV_KIND] = {false, "convolution kind", NULL},
    [HLO_ENUM_CUSTOM_CALL_SCHEDULE] = {true, "custom-call schedule", "Unknown schedule"},
    [HLO_ENUM_API_VERSION] = {true, "custom-call API version", "Unknown API version"},
    [HLO_ENUM_TRANSPOSE] = {false, "transpose option", NULL},
    [HLO_ENUM_COLLECTIVE_MODE] = {false, "collective op group mode", "Unknown mode"},
};

static const char *words_of(HloReader *r, HloEnumTable table) {
    HloBuffer list = {0};
    size_t count;
    const HloEnumWord *words = hlo_enum_words(&count);
    for (size_t i = 0; i < count; i++) {
        if (words[i].table != table || !*words[i].word) continue;
        if (list.size) hlo_put_string(&list, ", ");
        hlo_put_string(&list, words[i].word);
    }
    const char *text = hlo_arena_string(r->scratch, list.data ? list.data : "", list.size);
    hlo_buffer_free(&list);
    return text;
}

static const char *nearest_word(HloReader *r, HloEnumTable table, const HloToken *t) {
    HloHint hint = hlo_hint_for(t->text, t->size);
    size_t count;
    const HloEnumWord *words = hlo_enum_words(&count);
    for (size_t i = 0; i < count; i++) {
        if (words[i].table == table) hlo_hint_offer(&hint, words[i].word, strlen(words[i].word));
    }
    return hlo_hint_text(r, &hint);
}

static bool read_word(HloReader *r, HloEnumTable table, int64_t *out) {
    const HloToken *t = &r->lex.token;
    const WordList *list = &word_lists[table];
    if (t->kind != HLO_TOK_IDENT) return hlo_read_error(r, t->at, "expects %s", list->noun);
    if (!hlo_enum_find(table, t->text, t->size, list->ignore_case, out)) {
        const char *word = hlo_arena_string(r->scratch, t->text, t->size < 80 ? t->size : 80);
        return hlo_read_error(r, t->at, "expects %s but sees: %s%s%s; known are %s%s", list->noun, word,
                              list->unknown ? ", error: " : "", list->unknown ? list->unknown : "", words_of(r, table),
                              nearest_word(r, table, t));
    }
    if (table == HLO_ENUM_API_VERSION && *out == HLO_API_VERSION_UNSPECIFIED)
        return hlo_read_error(r, t->at, "Invalid API version: API_VERSION_UNSPECIFIED");
    hlo_skip(r);
    return true;
}

// ---- lists ----------------------------------------------------------------------------------------------

static bool read_precision(HloReader *r, void *data) {
    int64_t number;
    if (!read_word(r, HLO_ENUM_PRECISION, &number)) return false;
    hlo_ints_push(r->scratch, data, number);
    return true;
}

static bool read_flag(HloReader *r, void *data) {
    bool value;
    if (!hlo_read_bool(r, &value)) return false;
    hlo_ints_push(r->scratch, data, value);
    return true;
}

static bool read_numbers(HloReader *r, bool (*item)(HloReader *r, void *data), HloDims *out) {
    HloInts numbers = {0};
    if (!hlo_read_list(r, HLO_TOK_LBRACE, HLO_TOK_RBRACE, item, &numbers)) return false;
    *out = hlo_dims_copy(r->arena, (HloDims){numbers.items, numbers.count});
    return true;
}

static bool read_one_shape(HloReader *r, void *data) {
    const HloShape *shape;
    if (!hlo_read_shape(r, &shape)) return false;
    hlo_vec_push(r->scratch, data, shape);
    return true;
}

static bool read_shapes(HloReader *r, HloShapeList *out) {
    HloVec shapes = {0};
    if (!hlo_read_list(r, HLO_TOK_LBRACE, HLO_TOK_RBRACE, read_one_shape, &shapes)) return false;
    out->shapes = hlo_arena_copy(r->arena, shapes.items, shapes.count * sizeof *shapes.items);
    out->count = shapes.count;
    return true;
}

// "{" int "}"
static bool read_dim(HloReader *r, int64_t *out) {
    const char *at = hlo_here(r);
    HloDims dims;
    if (!hlo_read_dims(r, &dims)) return false;
    if (dims.count != 1) return hlo_read_error(r, at, "expects exactly one dimension, but sees %zu", dims.count);
    *out = dims.data[0];
    return true;
}

// ---- instructions ---------------------------------------------------------------------------------------

static bool read_one_instruction(HloReader *r, void *data) {
    const HloToken t = r->lex.token;
    HloStringView name;
    if (t.kind != HLO_TOK_NAME && t.kind != HLO_TOK_IDENT) return hlo_read_error(r, t.at, "expects a instruction name");
    hlo_read_name(r, &name);
    const HloNameSlot *slot = hlo_names_find(&r->scope->names, name.data, name.size);
    if (!slot)
        return hlo_read_error(r, t.at, "instruction '%.*s' is not defined%s", (int)(name.size < 200 ? name.size : 200),
                              name.data, hlo_hint_of_names(r, &r->scope->names, name.data, name.size));
    if (!hlo_is_placeholder(slot->value)) hlo_vec_push(r->scratch, data, slot->value);
    return true;
}

static bool read_control_predecessors(HloReader *r, HloLine *line) {
    if (hlo_tok(r) == HLO_TOK_LBRACE && hlo_lex_peek(&r->lex) == '}') {
        hlo_skip(r);
        return hlo_read_error(r, hlo_here(r), "expects a instruction name");
    }
    return hlo_read_list(r, HLO_TOK_LBRACE, HLO_TOK_RBRACE, read_one_instruction, &line->control_preds);
}

// ---- one value ------------------------------------------------------------------------------------------

// Old files carry this key in backend configs; it is dropped on reading (printing chapter, §6.5), also where dropping
// it once brings it together again, so that what is printed reads back as itself.
static const char *without_legacy_key(HloReader *r, const char *text) {
    static const char key[] = "\"wait_on_operation_queues\":[],";
    const size_t key_size = sizeof key - 1;
    if (!strstr(text, key)) return text;
    char *kept = hlo_arena_alloc(r->arena, strlen(text) + 1);
    size_t size = 0;
    for (; *text; text++) {
        kept[size++] = *text;
        bool complete = size >= key_size && memcmp(kept + size - key_size, key, key_size) == 0;
        if (complete) size -= key_size;
    }
    kept[size] = 0;
    return kept;
}

// An empty struct as the attribute's value, for a kind's reader to fill in.
static void *new_value(HloReader *r, HloAttr *out, size_t size_bytes) {
    void *value = hlo_arena_alloc(r->arena, size_bytes);
    out->data = value;
    return value;
}

// Reads a value that is stored as an attribute. *keep is false for values that mean the same as none.
static bool read_stored(HloReader *r, const HloAttrInfo *info, HloAttr *out, bool *keep) {
    bool flag = false, ok = false;
    switch (info->kind) {
    case HLO_KIND_BOOL:
        ok = hlo_read_bool(r, &flag);
        out->i = flag;
        return ok;
    case HLO_KIND_INT: return hlo_read_int(r, &out->i);
    case HLO_KIND_INT32: return hlo_read_int32(r, &out->i);
    case HLO_KIND_DIM: return read_dim(r, &out->i);
    case HLO_KIND_FLOAT: return hlo_read_float(r, &out->f);
    case HLO_KIND_ENUM: return read_word(r, (HloEnumTable)info->detail, &out->i);
    case HLO_KIND_STRING: return hlo_read_string(r, &out->text, NULL) && ((*keep = *out->text != 0), true);
    case HLO_KIND_TEXT:
        if (!hlo_read_text(r, &out->text)) return false;
        out->text = without_legacy_key(r, out->text);
        *keep = *out->text != 0;
        return true;
    case HLO_KIND_DIMS: return hlo_read_dims(r, new_value(r, out, sizeof(HloDims)));
    case HLO_KIND_BOOLS: return read_numbers(r, read_flag, new_value(r, out, sizeof(HloDims)));
    case HLO_KIND_PRECISIONS: return read_numbers(r, read_precision, new_value(r, out, sizeof(HloDims)));
    case HLO_KIND_INT_LISTS: return hlo_read_int_lists(r, new_value(r, out, sizeof(HloIntLists)));
    case HLO_KIND_WINDOW: return hlo_read_window(r, (const HloWindow **)&out->data);
    case HLO_KIND_DIM_LABELS: return hlo_read_conv_dims(r, (const HloConvDims **)&out->data);
    case HLO_KIND_PADDING: return hlo_read_padding(r, (const HloPadding **)&out->data);
    case HLO_KIND_SLICE: return hlo_read_slice(r, (const HloSlice **)&out->data);
    case HLO_KIND_GROUPS: return hlo_read_groups(r, (const HloGroups **)&out->data);
    case HLO_KIND_SHAPE: return hlo_read_shape(r, (const HloShape **)&out->data);
    case HLO_KIND_SHAPES: return read_shapes(r, new_value(r, out, sizeof(HloShapeList)));
    case HLO_KIND_LITERAL: return hlo_read_typed_literal(r, (HloLiteral **)&out->data);
    case HLO_KIND_SHARDING: return hlo_read_sharding(r, (const HloSharding **)&out->data);
    case HLO_KIND_METADATA: return hlo_read_metadata(r, (const HloMetadata **)&out->data);
    case HLO_KIND_STRING_MAP: return hlo_read_string_map(r, new_value(r, out, sizeof(HloStringMap)));
    case HLO_KIND_ORIGIN: return hlo_read_origin(r, (const HloOrigin **)&out->data);
    case HLO_KIND_STATISTICS: return hlo_read_statistics(r, (const HloStatistics **)&out->data);
    case HLO_KIND_ACCURACY: return hlo_read_accuracy(r, (const HloAccuracy **)&out->data);
    case HLO_KIND_ALIASES: return hlo_read_aliases(r, false, new_value(r, out, sizeof(HloAliases)));
    case HLO_KIND_DOMAIN: return hlo_read_domain(r, (const HloDomain **)&out->data);
    case HLO_KIND_SPARSITY: return hlo_read_sparsity(r, (const HloSparsity **)&out->data);
    case HLO_KIND_COMPUTATION:
    case HLO_KIND_COMPUTATIONS:
    case HLO_KIND_INSTRUCTIONS: break;
    }
    return false;
}

static bool all_zero(const HloDims *dims) {
    for (size_t i = 0; i < dims->count; i++) {
        if (dims->data[i]) return false;
    }
    return true;
}

bool hlo_attr_says_nothing(HloAttrKind kind, const void *data) {
    switch ((int)kind) {
    case HLO_KIND_PRECISIONS: return all_zero(data);
    case HLO_KIND_DIMS: return ((const HloDims *)data)->count == 0;
    case HLO_KIND_INT_LISTS: return ((const HloIntLists *)data)->count == 0;
    case HLO_KIND_ALIASES: return ((const HloAliases *)data)->count == 0;
    case HLO_KIND_STRING_MAP: return ((const HloStringMap *)data)->count == 0;
    case HLO_KIND_WINDOW: return ((const HloWindow *)data)->rank == 0;
    case HLO_KIND_STATISTICS: return ((const HloStatistics *)data)->count == 0;
    case HLO_KIND_GROUPS: {
        const HloGroups *groups = data;
        return groups->form == HLO_GROUPS_LIST && groups->lists.count == 0;
    }
    case HLO_KIND_ACCURACY: {
        const HloAccuracy *accuracy = data;
        return !accuracy->is_tolerance && accuracy->mode == 0;
    }
    default: return false;
    }
}

static bool read_value(HloReader *r, HloLine *line, HloInstruction *inst, HloAttrUse use) {
    const HloAttrInfo *info = hlo_attr_info(use.id);
    switch ((int)info->kind) {
    case HLO_KIND_COMPUTATION: return hlo_read_single_callee(r, line, inst, use.id);
    case HLO_KIND_COMPUTATIONS: return hlo_read_callees(r, line, inst);
    case HLO_KIND_INSTRUCTIONS: return read_control_predecessors(r, line);
    }
    HloAttr attr = {.id = use.id};
    bool keep = true;
    if (!read_stored(r, info, &attr, &keep)) return false;
    if (use.id == HLO_ATTR_SHARDING) {
        line->sharding = attr.data;
        return true;
    }
    if (use.id == HLO_ATTR_ASYNC_EXECUTION_THREAD) {
        line->checked_thread = attr.text;
        return true;
    }
    bool required = use.rule == HLO_USE_REQUIRED || (use.rule == HLO_USE_ALWAYS && info->kind == HLO_KIND_DIMS);
    if (!required && info->kind > HLO_KIND_TEXT && hlo_attr_says_nothing(info->kind, attr.data)) keep = false;
    if (use.rule == HLO_USE_INPUT_ONLY || (!keep && !required)) return true;
    hlo_set_attr(r->m, inst, attr);
    return true;
}

// ---- the list -------------------------------------------------------------------------------------------

typedef struct NameList {
    const char *names[HLO_ATTR_COUNT];
    size_t count;
} NameList;

static void add_allowed(NameList *list, const HloLine *line, HloOpcode op) {
    const HloOpInfo *info = hlo_op_info(op);
    for (size_t i = 0; i < info->attr_count; i++) {
        HloAttrId id = info->attrs[i].id;
        if (hlo_attr_info(id)->scope == HLO_SCOPE_OPERAND || hlo_attribute_is_barred(line, id)) continue;
        if (list->count < HLO_ATTR_COUNT) list->names[list->count++] = hlo_attr_info(id)->name;
    }
}

static bool unexpected_attribute(HloReader *r, const HloLine *line) {
    NameList list = {.count = 0};
    add_allowed(&list, line, line->sugar ? line->wrapped_op : line->op);
    for (int id = 0; id < HLO_ATTR_COUNT && list.count < HLO_ATTR_COUNT; id++) {
        if (hlo_attr_info((HloAttrId)id)->scope == HLO_SCOPE_COMMON)
            list.names[list.count++] = hlo_attr_info((HloAttrId)id)->name;
    }
    return hlo_unexpected_attribute(r, list.names, list.count);
}

// The row and the instruction that an attribute of this spelling belongs to. With the sugar the wrapped opcode's
// row comes first.
static HloInstruction *find_target(HloLine *line, const HloToken *t, HloAttrUse *use) {
    HloInstruction *target = NULL;
    if (line->wrapped && hlo_op_find_attr(line->wrapped_op, t->text, t->size, use) &&
        hlo_attr_info(use->id)->scope != HLO_SCOPE_COMMON) {
        target = line->wrapped;
    } else if (hlo_op_find_attr(line->op, t->text, t->size, use)) {
        bool own_callee = line->sugar && use->id == HLO_ATTR_CALLS;
        target = own_callee ? NULL : line->inst;
    }
    return target && hlo_attribute_is_barred(line, use->id) ? NULL : target;
}

static bool read_attribute(HloReader *r, HloLine *line) {
    const HloToken t = r->lex.token;
    if (t.kind != HLO_TOK_ATTR) {
        hlo_read_error(r, t.at, "expects attribute name");
        return hlo_read_note(r, line->attrs_at, "error parsing attributes");
    }
    HloAttrUse use;
    HloInstruction *target = find_target(line, &t, &use);
    if (!target) return unexpected_attribute(r, line);
    if (hlo_line_has(line, use.id))
        return hlo_read_error(r, t.at, "attribute %s already exists", hlo_attr_info(use.id)->name);
    if (!hlo_version_has_attr(r, t.at, target->op, use.id)) return false;
    line->seen[use.id / 64] |= (uint64_t)1 << (use.id % 64);
    hlo_skip(r);
    if (read_value(r, line, target, use)) return true;
    return hlo_read_note(r, t.at, "error parsing attribute %s", hlo_attr_info(use.id)->name);
}

// attributes = ("," key "=" value)*
bool hlo_read_attributes(HloReader *r, HloLine *line) {
    while (hlo_accept(r, HLO_TOK_COMMA)) {
        if (!read_attribute(r, line)) return false;
    }
    return true;
}

bool hlo_check_required(HloReader *r, const HloLine *line) {
    if (line->sugar && !line->wrapped) return true;  // X-update and X-done have no attributes of X
    const HloOpInfo *info = hlo_op_info(line->sugar ? line->wrapped_op : line->op);
    for (size_t i = 0; i < info->attr_count; i++) {
        const HloAttrUse *use = &info->attrs[i];
        if (hlo_attr_info(use->id)->scope == HLO_SCOPE_OPERAND || hlo_line_has(line, use->id)) continue;
        if (use->rule != HLO_USE_REQUIRED && !hlo_attribute_is_needed(line, use->id)) continue;
        if (hlo_attribute_is_barred(line, use->id)) continue;
        return hlo_read_error(r, line->attrs_at, "attribute %s is expected but not seen", hlo_attr_info(use->id)->name);
    }
    return true;
}
