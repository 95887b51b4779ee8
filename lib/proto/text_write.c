// The text form of a message, by descriptor (protobuf chapter, §9.1).
//
//   name: "m"
//   shape {
//     element_type: F32
//     dimensions: 2
//   }

#include "hlo/text.h"
#include "message.h"

#include <math.h>

typedef struct Visit {
    const ProtobufCMessage *message;
    size_t field, index;
} Visit;

static void put_float(HloBuffer *out, double value, bool single) {
    if (isnan(value))
        hlo_put_string(out, "nan");
    else if (isinf(value))
        hlo_put_string(out, value < 0 ? "-inf" : "inf");
    else if (single && fpclassify((float)value) == FP_SUBNORMAL)
        hlo_put_double(out, value, 9);  // as the reference, which distrusts what it reads back there
    else if (single)
        hlo_put_f32(out, (float)value);
    else
        hlo_put_f64(out, value);
}

static void put_enum(HloBuffer *out, const HloField *field, int number) {
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(field->descriptor, number);
    if (value)
        hlo_put_string(out, value->name);
    else
        hlo_put_int(out, number);
}

static void put_quoted(HloBuffer *out, const char *text, size_t size) {
    hlo_put_char(out, '"');
    hlo_put_escaped(out, text, size);
    hlo_put_char(out, '"');
}

static void put_scalar(HloBuffer *out, const HloField *field, const void *value) {
    const ProtobufCBinaryData *bytes = value;
    const char *text;
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32: hlo_put_int(out, *(const int32_t *)value); return;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64: hlo_put_int(out, *(const int64_t *)value); return;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32: hlo_put_uint(out, *(const uint32_t *)value); return;
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64: hlo_put_uint(out, *(const uint64_t *)value); return;
    case PROTOBUF_C_TYPE_FLOAT: put_float(out, *(const float *)value, true); return;
    case PROTOBUF_C_TYPE_DOUBLE: put_float(out, *(const double *)value, false); return;
    case PROTOBUF_C_TYPE_BOOL: hlo_put_string(out, *(const protobuf_c_boolean *)value ? "true" : "false"); return;
    case PROTOBUF_C_TYPE_ENUM: put_enum(out, field, *(const int *)value); return;
    case PROTOBUF_C_TYPE_STRING:
        text = *(const char *const *)value;
        put_quoted(out, text ? text : "", text ? strlen(text) : 0);
        return;
    case PROTOBUF_C_TYPE_BYTES: put_quoted(out, (const char *)bytes->data, bytes->len); return;
    case PROTOBUF_C_TYPE_MESSAGE: return;
    }
}

// Entries of maps show both fields, whatever their values.
static size_t shown_count(const ProtobufCMessage *message, const HloField *field) {
    size_t count = hlo_field_count(message, field);
    bool always = !hlo_field_is_message(field) && hlo_message_is_map_entry(message->descriptor);
    return always ? 1 : count;
}

void hlo_prototext_write(const void *message, HloBuffer *out) {
    Visit visits[HLO_MESSAGE_DEPTH + 1];
    size_t depth = 0;
    visits[0] = (Visit){message, 0, 0};
    for (;;) {
        Visit *visit = &visits[depth];
        const HloMessageType *type = visit->message->descriptor;
        if (visit->field == type->n_fields) {
            if (depth == 0) return;
            hlo_put_spaces(out, 2 * --depth);
            hlo_put(out, "}\n", 2);
            continue;
        }
        const HloField *field = &type->fields[visit->field];
        if (visit->index == shown_count(visit->message, field)) {
            visit->field++;
            visit->index = 0;
            continue;
        }
        const void *value = hlo_field_at(visit->message, field, visit->index++);
        hlo_put_spaces(out, 2 * depth);
        hlo_put_string(out, field->name);
        if (!hlo_field_is_message(field)) {
            hlo_put(out, ": ", 2);
            put_scalar(out, field, value);
            hlo_put_char(out, '\n');
            continue;
        }
        hlo_put(out, " {\n", 3);
        visits[++depth] = (Visit){*(const ProtobufCMessage *const *)value, 0, 0};
    }
}
