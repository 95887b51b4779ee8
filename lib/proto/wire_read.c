// The binary form, read by descriptor.
//
//   0a 05 61 62 63 64 65      field 1, five bytes: name: "abcde"
//
// A stack of open messages instead of recursion, lengths checked against what encloses them, and an error that names
// the field. What a field repeats is merged as protocol buffers ask for: the last scalar counts, messages add up.

#include "message.h"

typedef struct Frame {
    const HloMessageType *type;
    void *message;
    const uint8_t *end;
} Frame;

typedef struct Reader {
    HloArena *arena;
    const uint8_t *begin, *at;
    Frame frames[HLO_MESSAGE_DEPTH + 1];
    HloStep steps[HLO_MESSAGE_DEPTH + 1];  // step i leads from frame i to frame i + 1
    size_t depth;                          // open frames - 1
    HloUnknown *unknown;
} Reader;

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

// ---- errors ----------------------------------------------------------------------------------------------

static const char *path_text(const Reader *r, const char *field_name) {
    HloBuffer out = {0};
    hlo_put_path(&out, r->steps, r->depth);
    if (field_name) hlo_putf(&out, "%s%s", r->depth ? "." : "", field_name);
    const char *text = hlo_arena_string(r->arena, out.data ? out.data : "", out.size);
    hlo_buffer_free(&out);
    return *text ? text : "the message";
}

static HloStatus fail(const Reader *r, const HloField *field, const char *what) {
    return hlo_error(HLO_INVALID_ARGUMENT, "byte %zu, %s: %s", (size_t)(r->at - r->begin),
                     path_text(r, field ? field->name : NULL), what);
}

// ---- pieces ----------------------------------------------------------------------------------------------

static bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *out) {
    uint64_t value = 0;
    for (int shift = 0; shift < 70 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        if (shift < 63) value |= (uint64_t)(byte & 0x7f) << shift;
        if (shift == 63) value |= (uint64_t)(byte & 1) << 63;
        if (byte & 0x80) continue;
        *out = value;
        return true;
    }
    return false;
}

static int wire_type_of(const HloField *field) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_FLOAT:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32: return WIRE_FIXED32;
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64: return WIRE_FIXED64;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE: return WIRE_BYTES;
    default: return WIRE_VARINT;
    }
}

// One value of a number's wire type; false when the bytes end too early.
static bool read_number(Reader *r, const HloField *field, const uint8_t *end, void *value) {
    int wire = wire_type_of(field);
    if (wire == WIRE_VARINT) {
        uint64_t number;
        if (!read_varint(&r->at, end, &number)) return false;
        hlo_value_set_int(field, value, (int64_t)number);
        return true;
    }
    size_t size = wire == WIRE_FIXED32 ? 4 : 8;
    if ((size_t)(end - r->at) < size) return false;
    memcpy(value, r->at, size);  // hosts are little-endian, as the format
    r->at += size;
    return true;
}

// The number of values in a packed list; counting first makes the list exactly once.
static size_t packed_count(const uint8_t *at, const uint8_t *end, int wire) {
    if (wire != WIRE_VARINT) return (size_t)(end - at) / (wire == WIRE_FIXED32 ? 4 : 8);
    size_t count = 0;
    for (; at < end; at++) count += !(*at & 0x80);
    return count;
}

static HloStatus read_packed(Reader *r, const HloField *field, const uint8_t *end) {
    int wire = wire_type_of(field);
    size_t count = packed_count(r->at, end, wire), bytes = hlo_field_value_bytes(field);
    char *values = count ? hlo_field_extend(r->arena, r->frames[r->depth].message, field, count) : NULL;
    for (size_t i = 0; i < count; i++) {
        if (!read_number(r, field, end, values + i * bytes)) return fail(r, field, "a packed number is cut short");
    }
    return r->at == end ? hlo_ok() : fail(r, field, "a packed number is cut short");
}

static HloStatus read_text(Reader *r, const HloField *field, const uint8_t *end) {
    const char *text = (const char *)r->at;
    size_t size = (size_t)(end - r->at);
    if (hlo_utf8_valid(text, size) != size) return fail(r, field, "the string is not valid UTF-8");
    if (memchr(text, 0, size)) return fail(r, field, "strings with a zero byte are not supported");
    char **value = hlo_field_add(r->arena, r->frames[r->depth].message, field);
    *value = hlo_arena_string(r->arena, text, size);
    r->at = end;
    return hlo_ok();
}

static HloStatus open_message(Reader *r, const HloField *field, const uint8_t *end) {
    if (r->depth + 1 >= HLO_MESSAGE_DEPTH) return fail(r, field, "messages are nested too deep");
    void *parent = r->frames[r->depth].message;
    void *message = hlo_field_message(r->arena, parent, field);
    size_t count = hlo_field_is_list(field) ? hlo_field_count(parent, field) : 1;
    r->steps[r->depth] = (HloStep){field, count - 1};
    r->frames[++r->depth] = (Frame){field->descriptor, message, end};
    return hlo_ok();
}

static HloStatus read_bytes(Reader *r, const HloField *field, const uint8_t *end) {
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) return open_message(r, field, end);
    if (field->type == PROTOBUF_C_TYPE_STRING) return read_text(r, field, end);
    if (field->type != PROTOBUF_C_TYPE_BYTES) return read_packed(r, field, end);
    ProtobufCBinaryData *value = hlo_field_add(r->arena, r->frames[r->depth].message, field);
    size_t size = (size_t)(end - r->at);
    *value =
        (ProtobufCBinaryData){size, size ? (uint8_t *)hlo_arena_string(r->arena, (const char *)r->at, size) : NULL};
    r->at = end;
    return hlo_ok();
}

// ---- fields ----------------------------------------------------------------------------------------------

static HloStatus read_length(Reader *r, const HloField *field, const uint8_t **end) {
    uint64_t size;
    const uint8_t *limit = r->frames[r->depth].end;
    if (!read_varint(&r->at, limit, &size)) return fail(r, field, "the length is cut short");
    if (size > (uint64_t)(limit - r->at)) return fail(r, field, "the length reaches past what encloses it");
    *end = r->at + size;
    return hlo_ok();
}

static HloStatus skip_unknown(Reader *r, uint32_t number, int wire) {
    const uint8_t *limit = r->frames[r->depth].end, *end = NULL;
    uint64_t ignored;
    if (!r->unknown->count++) {
        const char *name = hlo_arena_printf(r->arena, "field %u", number);
        r->unknown->first = path_text(r, name);
    }
    size_t left = (size_t)(limit - r->at), size = wire == WIRE_FIXED32 ? 4 : 8;
    switch (wire) {
    case WIRE_VARINT: return read_varint(&r->at, limit, &ignored) ? hlo_ok() : fail(r, NULL, "a number is cut short");
    case WIRE_BYTES:
        HLO_TRY(read_length(r, NULL, &end));
        r->at = end;
        return hlo_ok();
    default:
        if (left < size) return fail(r, NULL, "a number is cut short");
        r->at += size;
        return hlo_ok();
    }
}

static HloStatus read_field(Reader *r) {
    const Frame *frame = &r->frames[r->depth];
    uint64_t tag;
    if (!read_varint(&r->at, frame->end, &tag)) return fail(r, NULL, "a tag is cut short");
    uint64_t number = tag >> 3;
    int wire = (int)(tag & 7);
    if (number == 0 || number > 0x1fffffff) return fail(r, NULL, "a tag has no valid field number");
    if (wire != WIRE_VARINT && wire != WIRE_FIXED64 && wire != WIRE_BYTES && wire != WIRE_FIXED32)
        return fail(r, NULL, "a tag has no valid wire type");
    const HloField *field = protobuf_c_message_descriptor_get_field(frame->type, (unsigned)number);
    if (!field) return skip_unknown(r, (uint32_t)number, wire);
    int wanted = wire_type_of(field);
    bool packed = wire == WIRE_BYTES && wanted != WIRE_BYTES && hlo_field_is_list(field);
    if (wire != wanted && !packed) return fail(r, field, "the wire type does not belong to this field");
    if (wire != WIRE_BYTES) {
        void *value = hlo_field_add(r->arena, frame->message, field);
        return read_number(r, field, frame->end, value) ? hlo_ok() : fail(r, field, "the number is cut short");
    }
    const uint8_t *end = r->at;
    HLO_TRY(read_length(r, field, &end));
    return read_bytes(r, field, end);
}

HloStatus hlo_wire_read(HloArena *arena, const HloMessageType *type, HloStringView bytes, void **out,
                        HloUnknown *unknown, size_t *progress) {
    const uint8_t *begin = bytes.size ? (const uint8_t *)bytes.data : (const uint8_t *)"";
    Reader r = {.arena = arena, .begin = begin, .at = begin, .unknown = unknown};
    r.frames[0] = (Frame){type, hlo_message_new(arena, type), begin + bytes.size};
    HloStatus status = hlo_ok();
    for (;;) {
        while (r.depth && r.at == r.frames[r.depth].end) r.depth--;
        if (r.at == r.frames[r.depth].end) break;
        status = read_field(&r);
        if (!hlo_is_ok(status)) break;
    }
    *progress = (size_t)(r.at - begin);
    if (hlo_is_ok(status)) *out = r.frames[0].message;
    return status;
}
