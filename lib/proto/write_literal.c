// Literals as messages (protobuf chapter, §6).
//
// The list is named after the type: f32 stands in `f32s`. Elements stand in the order of the layout, where ours stand
// in row-major order; types below a byte take one byte each there.

#include "lib/ir/literal_order.h"
#include "writer.h"

// The shape with its layout, which literals always have, but without the width of stored elements.
static Xla__ShapeProto *write_array_shape(HloProtoWriter *w, const HloShape *shape) {
    Xla__ShapeProto *out = HLO_NEW(w->arena, Xla__ShapeProto);
    *out = *hlo_write_shape(w, shape);
    Xla__LayoutProto *layout = hlo_message_new(w->arena, &xla__layout_proto__descriptor);
    if (out->layout) {
        *layout = *out->layout;
        layout->element_size_in_bits = 0;
    } else {
        int64_t *order = HLO_NEW_ARRAY(w->arena, int64_t, shape->rank);
        for (size_t i = 0; i < shape->rank; i++) order[i] = (int64_t)(shape->rank - 1 - i);
        HLO_SET_DIMS(layout, minor_to_major, ((HloDims){order, shape->rank}));
        layout->tail_padding_alignment_in_elements = 1;
    }
    out->layout = layout;
    return out;
}

// `f32s` for f32.
static const HloField *list_of(HloType type) {
    char name[24];
    const char *stem = hlo_type_name(type);
    size_t size = strlen(stem);
    if (size + 1 >= sizeof name) return NULL;
    memcpy(name, stem, size);
    name[size] = 's';
    return hlo_field_find(&xla__literal_proto__descriptor, name, size + 1);
}

static void write_bytes(HloProtoWriter *w, const HloLiteral *literal, ProtobufCBinaryData *out) {
    size_t count = (size_t)literal->elem_count;
    if (hlo_type_bits(literal->shape->type) >= 8) {
        *out = (ProtobufCBinaryData){literal->size_bytes, literal->size_bytes ? literal->data : NULL};
        return;
    }
    uint8_t *bytes = HLO_NEW_ARRAY(w->arena, uint8_t, count);
    for (size_t i = 0; i < count; i++) bytes[i] = (uint8_t)hlo_literal_bits(literal, (int64_t)i);
    *out = (ProtobufCBinaryData){count, count ? bytes : NULL};
}

static void write_list(HloProtoWriter *w, const HloLiteral *literal, const HloField *field, Xla__LiteralProto *out) {
    size_t count = literal->size_bytes / hlo_field_value_bytes(field);
    void *items = literal->data;
    if (field->type == PROTOBUF_C_TYPE_BOOL) {
        count = (size_t)literal->elem_count;
        protobuf_c_boolean *bools = HLO_NEW_ARRAY(w->arena, protobuf_c_boolean, count);
        for (size_t i = 0; i < count; i++) bools[i] = ((const uint8_t *)literal->data)[i] != 0;
        items = bools;
    }
    *(size_t *)((char *)out + field->quantifier_offset) = count;
    *(void **)((char *)out + field->offset) = items;
}

static HloStatus write_array(HloProtoWriter *w, const HloLiteral *literal, Xla__LiteralProto *out) {
    const HloField *field = list_of(literal->shape->type);
    bool six_bits = hlo_type_bits(literal->shape->type) == 6;
    if (!field || six_bits)
        return hlo_error(HLO_UNIMPLEMENTED, "protocol buffers cannot hold a literal of type %s",
                         hlo_type_name(literal->shape->type));
    if (literal->size_bytes > INT32_MAX)
        return hlo_error(HLO_RESOURCE_EXHAUSTED, "a literal of %zu bytes is too large for a protocol buffer",
                         literal->size_bytes);
    out->shape = write_array_shape(w, literal->shape);
    HLO_TRY(hlo_literal_materialize(w->arena, literal, &literal));
    if (!hlo_order_is_plain(literal->shape)) {
        HloLiteral *ordered;
        HLO_TRY(hlo_literal_reorder(w->arena, literal, false, &ordered));
        literal = ordered;
    }
    if (field->type == PROTOBUF_C_TYPE_BYTES)
        write_bytes(w, literal, (ProtobufCBinaryData *)((char *)out + field->offset));
    else
        write_list(w, literal, field, out);
    return hlo_ok();
}

static Xla__LiteralProto *write_at_depth(HloProtoWriter *w, const HloLiteral *literal, size_t depth) {
    Xla__LiteralProto *out = hlo_message_new(w->arena, &xla__literal_proto__descriptor);
    const HloShape *shape = literal->shape;
    if (hlo_shape_is_array(shape)) {
        hlo_writer_fail(w, write_array(w, literal, out));
        return out;
    }
    out->shape = hlo_message_new(w->arena, &xla__shape_proto__descriptor);
    out->shape->element_type = (Xla__PrimitiveType)hlo_type_info(shape->type)->proto_number;
    if (!hlo_shape_is_tuple(shape)) {
        if (shape->type != HLO_TOKEN)
            hlo_writer_fail(w, hlo_error(HLO_UNIMPLEMENTED, "protocol buffers cannot hold a literal of type %s",
                                         hlo_type_name(shape->type)));
        return out;
    }
    if (depth == HLO_MESSAGE_DEPTH) {
        hlo_writer_fail(w, hlo_error(HLO_INVALID_ARGUMENT, "a literal is nested too deep for a protocol buffer"));
        return out;
    }
    out->n_tuple_literals = out->shape->n_tuple_shapes = shape->rank;
    out->tuple_literals = HLO_NEW_LIST(w, Xla__LiteralProto, shape->rank);
    out->shape->tuple_shapes = HLO_NEW_LIST(w, Xla__ShapeProto, shape->rank);
    for (size_t i = 0; i < shape->rank; i++) {
        out->tuple_literals[i] = write_at_depth(w, literal->elements[i], depth + 1);
        out->shape->tuple_shapes[i] = out->tuple_literals[i]->shape;
        if (w->failure.detail) break;  // the rest of the list is not looked at then
    }
    return out;
}

Xla__LiteralProto *hlo_write_literal(HloProtoWriter *w, const HloLiteral *literal) {
    return write_at_depth(w, literal, 0);
}
