// The text form of a message, read by descriptor (protobuf chapter, §9.3).
//
//   message = (name (":" value | ":"? "{" message "}" | ":"? "<" message ">" | ":"? "[" … "]") ("," | ";")?)*

#include <math.h>
#include <strings.h>

#include "lib/text/lexer.h"
#include "message.h"

typedef struct Frame {
    const HloMessageType *type;
    void *message;
    char closer;           // `}` or `>`; 0 at the top
    const HloField *list;  // messages of this field follow until `]`
    uint64_t seen[2];      // single fields given, by position in the type
} Frame;

typedef struct Reader {
    HloArena *arena;
    const char *file_name;
    const char *begin, *at, *end;
    Frame frames[HLO_MESSAGE_DEPTH + 1];
    size_t depth;
} Reader;

// Fields that messages had once: readers accept them and skip their values.
static const char *const reserved[] = {
    "HloProto.hlo_ordering",
    "HloModuleProto.dynamic_parameter_binding",
    "HloComputationProto.root_name",
    "HloInstructionProto.parameter_name",
    "HloInstructionProto.fused_instructions_computation",
    "HloInstructionProto.operand_names",
    "HloInstructionProto.control_predecessor_names",
    "HloInstructionProto.called_computation_names",
    "HloInstructionProto.replica_group_ids",
    "HloInstructionProto.custom_call_opaque",
    "HloInstructionProto.all_reduce_barrier",
    "ShapeProto.rank",
    "LayoutProto.padded_dimensions",
    "LayoutProto.padding_value",
    "LayoutProto.format",
    "LayoutProto.max_sparse_elements",
    "OpMetadata.creation_pass_id",
    "OpMetadata.logical_creation_pass_id",
};

// ---- errors and blanks -----------------------------------------------------------------------------------

static HloStatus fail(const Reader *r, const char *at, const char *format, ...) HLO_PRINTF(3, 4);
static HloStatus fail(const Reader *r, const char *at, const char *format, ...) {
    size_t line = 1;
    const char *start = r->begin;
    for (const char *p = r->begin; p < at; p++) {
        if (*p != '\n') continue;
        line++;
        start = p + 1;
    }
    va_list args;
    va_start(args, format);
    HloStatus status = hlo_error_v(HLO_INVALID_ARGUMENT, format, args);
    va_end(args);
    return hlo_error_context(status, "%s:%zu:%zu: error", r->file_name, line, (size_t)(at - start) + 1);
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static void skip_blanks(Reader *r) {
    while (r->at < r->end) {
        if (*r->at == '#') {
            while (r->at < r->end && *r->at != '\n') r->at++;
        } else if (strchr(" \t\r\n\v\f", *r->at) && *r->at) {
            r->at++;
        } else {
            return;
        }
    }
}

static bool accept(Reader *r, char c) {
    skip_blanks(r);
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

// A name, number or the like; "." and signs belong to numbers.
static HloStringView read_word(Reader *r) {
    skip_blanks(r);
    const char *start = r->at;
    while (r->at < r->end && is_word(*r->at)) r->at++;
    return (HloStringView){start, (size_t)(r->at - start)};
}

static HloStringView read_number_word(Reader *r) {
    skip_blanks(r);
    const char *start = r->at;
    while (r->at < r->end) {
        bool sign = (*r->at == '-' || *r->at == '+') && (r->at == start || ((r->at[-1] | 32) == 'e'));
        if (!is_word(*r->at) && *r->at != '.' && !sign) break;
        r->at++;
        if (r->at - start == 1 && *start == '-') skip_blanks(r);
    }
    return (HloStringView){start, (size_t)(r->at - start)};
}

// ---- scalars ---------------------------------------------------------------------------------------------

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    char lower = (char)(c | 32);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : 99;
}

// Decimal, 0x… and 0… numbers without sign; false when it is none or exceeds 64 bits.
static bool parse_magnitude(HloStringView text, uint64_t *out) {
    int base = 10;
    size_t i = 0;
    if (text.size > 1 && text.data[0] == '0') {
        bool hex = (text.data[1] | 32) == 'x';
        base = hex ? 16 : 8;
        i = hex ? 2 : 1;
    }
    if (i == text.size) return false;
    for (*out = 0; i < text.size; i++) {
        int digit = digit_of(text.data[i]);
        if (digit >= base || __builtin_mul_overflow(*out, (uint64_t)base, out) ||
            __builtin_add_overflow(*out, (uint64_t)digit, out))
            return false;
    }
    return true;
}

// The digits behind a minus sign and blanks.
static HloStringView without_sign(HloStringView word, bool *negative) {
    *negative = word.size && word.data[0] == '-';
    if (!*negative) return word;
    size_t skip = 1;
    while (skip < word.size && strchr(" \t\r\n", word.data[skip])) skip++;
    return (HloStringView){word.data + skip, word.size - skip};
}

static HloStatus read_integer(Reader *r, const HloField *field, void *value) {
    bool negative, is_signed = true;
    uint64_t magnitude, most = INT64_MAX;
    switch ((int)field->type) {
    case PROTOBUF_C_TYPE_UINT64: most = UINT64_MAX, is_signed = false; break;
    case PROTOBUF_C_TYPE_UINT32: most = UINT32_MAX, is_signed = false; break;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_ENUM: most = INT32_MAX; break;
    default: break;
    }
    skip_blanks(r);
    const char *at = r->at;
    HloStringView digits = without_sign(read_number_word(r), &negative);
    if (!parse_magnitude(digits, &magnitude)) return fail(r, at, "expected an integer for field \"%s\"", field->name);
    if (negative && is_signed) most++;
    if (magnitude > most || (negative && !is_signed && magnitude))
        return fail(r, at, "integer out of range for field \"%s\"", field->name);
    hlo_value_set_int(field, value, (int64_t)(negative ? 0 - magnitude : magnitude));
    return hlo_ok();
}

static bool is_one_of(HloStringView word, const char *const *words) {
    for (; *words; words++) {
        if (hlo_view_is(word, *words)) return true;
    }
    return false;
}

static HloStatus read_bool(Reader *r, const HloField *field, void *value) {
    static const char *const yes[] = {"true", "True", "t", "1", NULL}, *const no[] = {"false", "False", "f", "0", NULL};
    skip_blanks(r);
    const char *at = r->at;
    HloStringView word = read_word(r);
    bool is_true = is_one_of(word, yes);
    if (!is_true && !is_one_of(word, no)) return fail(r, at, "expected true or false for field \"%s\"", field->name);
    hlo_value_set_int(field, value, is_true);
    return hlo_ok();
}

static bool same_ignoring_case(HloStringView word, const char *text) {
    return word.size == strlen(text) && strncasecmp(word.data, text, word.size) == 0;
}

// digits ("." digits)? ("e" sign? digits)? "f"?
static bool parse_decimal(HloStringView word, double *out) {
    size_t size = word.size, i = 0, digits = 0;
    if (size && (word.data[size - 1] | 32) == 'f') size--;
    for (; i < size && digit_of(word.data[i]) < 10; i++) digits++;
    if (i < size && word.data[i] == '.') {
        for (i++; i < size && digit_of(word.data[i]) < 10; i++) digits++;
    }
    if (!digits) return false;
    if (i < size && (word.data[i] | 32) == 'e') {
        i++;
        if (i < size && (word.data[i] == '-' || word.data[i] == '+')) i++;
        if (i == size) return false;
        while (i < size && digit_of(word.data[i]) < 10) i++;
    }
    if (i != size) return false;
    *out = hlo_decimal_read(word.data, size);
    return true;
}

static HloStatus read_float(Reader *r, const HloField *field, void *value) {
    bool negative;
    double number;
    skip_blanks(r);
    const char *at = r->at;
    HloStringView word = without_sign(read_number_word(r), &negative);
    if (same_ignoring_case(word, "inf") || same_ignoring_case(word, "infinity"))
        number = INFINITY;
    else if (same_ignoring_case(word, "nan"))
        number = NAN;
    else if (!parse_decimal(word, &number))
        return fail(r, at, "expected a number for field \"%s\"", field->name);
    if (negative) number = -number;
    if (field->type == PROTOBUF_C_TYPE_FLOAT)
        *(float *)value = (float)number;
    else
        *(double *)value = number;
    return hlo_ok();
}

static HloStatus read_enum(Reader *r, const HloField *field, void *value) {
    skip_blanks(r);
    const char *at = r->at;
    if (at < r->end && (*at == '-' || digit_of(*at) < 10)) return read_integer(r, field, value);
    HloStringView word = read_word(r);
    const char *name = hlo_arena_string(r->arena, word.data, word.size);
    const ProtobufCEnumValue *found = protobuf_c_enum_descriptor_get_value_by_name(field->descriptor, name);
    if (!found) return fail(r, at, "unknown enumeration value of \"%.60s\" for field \"%s\"", name, field->name);
    *(int *)value = found->value;
    return hlo_ok();
}

// One quoted string; appended to what is already there.
static HloStatus read_quoted(Reader *r, HloBuffer *out) {
    char quote = *r->at;
    const char *start = ++r->at;
    while (r->at < r->end && *r->at != quote) r->at += *r->at == '\\' && r->at + 1 < r->end ? 2 : 1;
    if (r->at >= r->end) return fail(r, start - 1, "the string does not end");
    size_t size;
    const char *text = hlo_lex_unescape(r->arena, start, (size_t)(r->at - start), &size);
    r->at++;
    if (!text) return fail(r, start - 1, "the string has a malformed escape");
    hlo_put(out, text, size);
    return hlo_ok();
}

static HloStatus store_text(Reader *r, const HloField *field, const char *at, const HloBuffer *text, void *value) {
    const char *data = text->data ? text->data : "";
    if (field->type == PROTOBUF_C_TYPE_BYTES) {
        ProtobufCBinaryData bytes = {text->size, NULL};
        if (text->size) bytes.data = (uint8_t *)hlo_arena_string(r->arena, data, text->size);
        *(ProtobufCBinaryData *)value = bytes;
        return hlo_ok();
    }
    if (hlo_utf8_valid(data, text->size) != text->size)
        return fail(r, at, "the string for field \"%s\" is not valid UTF-8", field->name);
    if (memchr(data, 0, text->size))
        return fail(r, at, "strings with a zero byte are not supported (field \"%s\")", field->name);
    *(char **)value = hlo_arena_string(r->arena, data, text->size);
    return hlo_ok();
}

static HloStatus read_text(Reader *r, const HloField *field, void *value) {
    HloBuffer text = {0};
    skip_blanks(r);
    const char *at = r->at;
    HloStatus status = hlo_ok();
    bool any = false;
    while (hlo_is_ok(status) && r->at < r->end && (*r->at == '"' || *r->at == '\'')) {
        status = read_quoted(r, &text);
        any = true;
        skip_blanks(r);
    }
    if (hlo_is_ok(status) && !any) status = fail(r, at, "expected a string for field \"%s\"", field->name);
    if (hlo_is_ok(status)) status = hlo_buffer_status(&text);
    if (hlo_is_ok(status)) status = store_text(r, field, at, &text, value);
    hlo_buffer_free(&text);
    return status;
}

static HloStatus read_scalar(Reader *r, const HloField *field) {
    void *value = hlo_field_add(r->arena, r->frames[r->depth].message, field);
    switch ((int)field->type) {
    case PROTOBUF_C_TYPE_BOOL: return read_bool(r, field, value);
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_DOUBLE: return read_float(r, field, value);
    case PROTOBUF_C_TYPE_ENUM: return read_enum(r, field, value);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES: return read_text(r, field, value);
    default: return read_integer(r, field, value);
    }
}

// ---- fields ----------------------------------------------------------------------------------------------

static HloStatus open_message(Reader *r, const HloField *field) {
    skip_blanks(r);
    const char *at = r->at;
    if (r->at == r->end || (*r->at != '{' && *r->at != '<'))
        return fail(r, at, "expected '{' or '<' for field \"%s\"", field->name);
    if (r->depth + 1 >= HLO_MESSAGE_DEPTH) return fail(r, at, "messages are nested too deep");
    char closer = *r->at++ == '{' ? '}' : '>';
    void *message = hlo_field_message(r->arena, r->frames[r->depth].message, field);
    r->frames[++r->depth] = (Frame){.type = field->descriptor, .message = message, .closer = closer};
    return hlo_ok();
}

static HloStatus check_single(Reader *r, const char *at, const HloField *field) {
    Frame *frame = &r->frames[r->depth];
    if (hlo_field_is_list(field)) return hlo_ok();
    size_t place = (size_t)(field - frame->type->fields);
    if (frame->seen[place / 64] >> (place % 64) & 1)
        return fail(r, at, "Non-repeated field \"%s\" is specified multiple times.", field->name);
    frame->seen[place / 64] |= (uint64_t)1 << (place % 64);
    if (!hlo_field_is_oneof(field)) return hlo_ok();
    const HloField *other = hlo_field_oneof_case(frame->type, frame->message, field);
    return other ? fail(r, at, "Field \"%s\" is specified along with field \"%s\", another member of the same oneof.",
                        field->name, other->name)
                 : hlo_ok();
}

// "[" value ("," value)* "]" of scalars
static HloStatus read_scalar_list(Reader *r, const HloField *field) {
    if (accept(r, ']')) return hlo_ok();
    do {
        HLO_TRY(read_scalar(r, field));
    } while (accept(r, ','));
    return accept(r, ']') ? hlo_ok() : fail(r, r->at, "expected ',' or ']' in the list for field \"%s\"", field->name);
}

static bool is_reserved(const HloMessageType *type, HloStringView name) {
    size_t size = strlen(type->short_name);
    for (size_t i = 0; i < HLO_COUNT(reserved); i++) {
        const char *row = reserved[i];
        if (strncmp(row, type->short_name, size) == 0 && row[size] == '.' && hlo_view_is(name, row + size + 1))
            return true;
    }
    return false;
}

// Skips a string, a word or a bracket; *depth counts the brackets that are open.
static HloStatus skip_token(Reader *r, size_t *depth) {
    const char *at = r->at;
    char c = *at;
    if (c == '"' || c == '\'') {
        HloBuffer ignored = {0};
        HloStatus status = read_quoted(r, &ignored);
        hlo_buffer_free(&ignored);
        return status;
    }
    if (read_number_word(r).size) return hlo_ok();
    bool closes = strchr("}>]", c) && c;
    if (closes && *depth == 0) return fail(r, at, "expected a value");
    if (closes) --*depth;
    if (c && strchr("{<[", c)) ++*depth;
    r->at++;
    return hlo_ok();
}

// The value of a reserved field: strings that stand in a row, a word, or everything inside brackets.
static HloStatus skip_value(Reader *r) {
    const char *start = r->at;
    size_t depth = 0;
    accept(r, ':');
    bool text;
    do {
        skip_blanks(r);
        if (r->at == r->end) return fail(r, start, "the field does not end");
        text = *r->at == '"' || *r->at == '\'';
        HLO_TRY(skip_token(r, &depth));
        skip_blanks(r);
        text = text && r->at < r->end && (*r->at == '"' || *r->at == '\'');
    } while (depth || text);
    return hlo_ok();
}

static HloStatus read_value(Reader *r, const HloField *field) {
    bool colon = accept(r, ':');
    if (!hlo_field_is_message(field) && !colon) return fail(r, r->at, "expected ':' behind field \"%s\"", field->name);
    bool list = hlo_field_is_list(field) && accept(r, '[');
    if (!hlo_field_is_message(field)) return list ? read_scalar_list(r, field) : read_scalar(r, field);
    if (list && accept(r, ']')) return hlo_ok();
    if (list) r->frames[r->depth].list = field;
    return open_message(r, field);
}

static HloStatus read_field(Reader *r) {
    skip_blanks(r);
    const char *at = r->at;
    const HloMessageType *type = r->frames[r->depth].type;
    HloStringView name = read_word(r);
    if (name.size == 0) return fail(r, at, "expected a field name");
    const HloField *field = hlo_field_find(type, name.data, name.size);
    if (field) {
        HLO_TRY(check_single(r, at, field));
        HLO_TRY(read_value(r, field));
    } else if (is_reserved(type, name)) {
        HLO_TRY(skip_value(r));
    } else {
        return fail(r, at, "Message type \"%s\" has no field named \"%.*s\".", type->name,
                    (int)(name.size < 80 ? name.size : 80), name.data);
    }
    if (!accept(r, ',')) accept(r, ';');
    return hlo_ok();
}

// Behind a message of a list: the next one, or the end of the list.
static HloStatus continue_list(Reader *r) {
    Frame *frame = &r->frames[r->depth];
    const HloField *field = frame->list;
    if (accept(r, ',')) return open_message(r, field);
    frame->list = NULL;
    if (!accept(r, ']')) return fail(r, r->at, "expected ',' or ']' in the list for field \"%s\"", field->name);
    if (!accept(r, ',')) accept(r, ';');
    return hlo_ok();
}

static HloStatus close_message(Reader *r) {
    r->depth--;
    if (r->frames[r->depth].list) return continue_list(r);
    if (!accept(r, ',')) accept(r, ';');
    return hlo_ok();
}

static HloStatus read_message(Reader *r) {
    for (;;) {
        skip_blanks(r);
        Frame *frame = &r->frames[r->depth];
        if (r->at == r->end)
            return r->depth == 0 ? hlo_ok()
                                 : fail(r, r->at, "a message of type \"%s\" does not end", frame->type->name);
        if (frame->closer && accept(r, frame->closer))
            HLO_TRY(close_message(r));
        else
            HLO_TRY(read_field(r));
    }
}

// Newer printers put a line in front that says that the text is for debugging; it is one word that looks like an
// address.
static void skip_marker(Reader *r) {
    static const char *const endings[] = {"debugonly", "debugstr", "debugproto"};
    skip_blanks(r);
    const char *end = r->at;
    while (end < r->end && *end != ' ' && *end != '\n' && *end != '\t') end++;
    for (size_t i = 0; i < HLO_COUNT(endings); i++) {
        size_t size = strlen(endings[i]);
        if ((size_t)(end - r->at) <= size || end[-1 - (ptrdiff_t)size] != '/') continue;
        if (memcmp(end - size, endings[i], size) == 0) {
            r->at = end;
            return;
        }
    }
}

HloStatus hlo_prototext_read(HloArena *arena, const HloMessageType *type, HloStringView text, const char *file_name,
                             void **out, size_t *progress) {
    const char *begin = text.size ? text.data : "";
    Reader r = {.arena = arena, .file_name = file_name, .begin = begin, .at = begin, .end = begin + text.size};
    r.frames[0] = (Frame){.type = type, .message = hlo_message_new(arena, type)};
    skip_marker(&r);
    HloStatus status = read_message(&r);
    *progress = (size_t)(r.at - begin);
    if (hlo_is_ok(status)) *out = r.frames[0].message;
    return status;
}
