// The binary form, written by protobuf-c after a check that a reader will take it.

#include "message.h"

#include <stdlib.h>

// ---- UTF-8 -----------------------------------------------------------------------------------------------

// The length of the valid character at `text`, 0 when there is none.
static size_t character_size(const unsigned char *text, size_t size) {
    unsigned char c = text[0];
    size_t length = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    if (length == 0 || length > size) return 0;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
    }
    // Longer than need be, surrogates, beyond the last code point.
    if (c == 0xe0 && text[1] < 0xa0) return 0;
    if (c == 0xed && text[1] > 0x9f) return 0;
    if (c == 0xf0 && text[1] < 0x90) return 0;
    if (c == 0xf4 && text[1] > 0x8f) return 0;
    return length;
}

size_t hlo_utf8_valid(const char *text, size_t size) {
    size_t at = 0;
    while (at < size) {
        size_t length = character_size((const unsigned char *)text + at, size - at);
        if (length == 0) return at;
        at += length;
    }
    return size;
}

// ---- checking --------------------------------------------------------------------------------------------

// A message being walked: the field and value to look at next.
typedef struct Visit {
    const ProtobufCMessage *message;
    size_t field, index;
} Visit;

static HloStatus fail_at(const HloStep *steps, size_t depth, const char *what) {
    HloBuffer path = {0};
    hlo_put_path(&path, steps, depth);
    HloStatus status = hlo_buffer_status(&path);
    if (hlo_is_ok(status)) status = hlo_error(HLO_INVALID_ARGUMENT, "%s: %s", path.data ? path.data : "message", what);
    hlo_buffer_free(&path);
    return status;
}

static bool is_bad_text(const HloField *field, const void *value) {
    if (field->type != PROTOBUF_C_TYPE_STRING) return false;
    const char *text = *(const char *const *)value;
    return text && hlo_utf8_valid(text, strlen(text)) != strlen(text);
}

HloStatus hlo_message_check(const void *message) {
    Visit visits[HLO_MESSAGE_DEPTH + 1];
    HloStep steps[HLO_MESSAGE_DEPTH + 1];
    size_t depth = 0;
    visits[0] = (Visit){message, 0, 0};
    for (;;) {
        Visit *visit = &visits[depth];
        const HloMessageType *type = visit->message->descriptor;
        if (visit->field == type->n_fields) {
            if (depth-- == 0) return hlo_ok();
            continue;
        }
        const HloField *field = &type->fields[visit->field];
        bool nested = hlo_field_is_message(field);
        if ((!nested && field->type != PROTOBUF_C_TYPE_STRING) ||
            visit->index == hlo_field_count(visit->message, field)) {
            visit->field++;
            visit->index = 0;
            continue;
        }
        steps[depth] = (HloStep){field, visit->index};
        const void *value = hlo_field_at(visit->message, field, visit->index++);
        if (is_bad_text(field, value))
            return fail_at(steps, depth + 1, "protocol buffers hold UTF-8 only, and this is not");
        if (!nested) continue;
        if (depth + 1 >= HLO_MESSAGE_DEPTH)
            return fail_at(steps, depth + 1, "messages are nested too deep for a reader");
        visits[++depth] = (Visit){*(const ProtobufCMessage *const *)value, 0, 0};
    }
}

HloStatus hlo_wire_write(const void *message, HloBuffer *out) {
    HLO_TRY(hlo_message_check(message));
    size_t size = protobuf_c_message_get_packed_size(message);
    if (size > INT32_MAX)
        return hlo_error(HLO_RESOURCE_EXHAUSTED, "the module takes %zu bytes, but a protocol buffer at most 2 GiB",
                         size);
    if (hlo_buffer_reserve(out, size)) {
        out->size += protobuf_c_message_pack(message, (uint8_t *)out->data + out->size);
        out->data[out->size] = 0;
    }
    return hlo_buffer_status(out);
}
