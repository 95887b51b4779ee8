// Literals from messages (protobuf chapter, §6). Nothing is allocated before the number of values is known to be
// right.

#include "lib/ir/literal_order.h"
#include "reader.h"

static HloStatus wrong_count(int64_t wanted, size_t found) {
    return hlo_error(HLO_INVALID_ARGUMENT, "Expected %lld elements in LiteralProto repeated field, has %zu",
                     (long long)wanted, found);
}

// ---- elements --------------------------------------------------------------------------------------------

static HloStatus check_bytes(const HloShape *shape, int64_t elem_count, const ProtobufCBinaryData *bytes) {
    size_t width = (size_t)(hlo_type_bits(shape->type) + 7) / 8, wanted;
    if (hlo_size_mul((size_t)elem_count, width, &wanted) && wanted == bytes->len) return hlo_ok();
    return hlo_error(HLO_INVALID_ARGUMENT, "Expected %lld elements of %zu bytes in LiteralProto, has %zu bytes",
                     (long long)elem_count, width, bytes->len);
}

static void fill_from_bytes(HloLiteral *literal, const ProtobufCBinaryData *bytes) {
    if (hlo_type_bits(literal->shape->type) >= 8) {
        if (bytes->len) memcpy(literal->data, bytes->data, bytes->len);
        return;
    }
    for (int64_t i = 0; i < literal->elem_count; i++) hlo_literal_set_bits(literal, i, bytes->data[i]);
}

static HloStatus check_list(const HloShape *shape, int64_t elem_count, size_t count) {
    size_t per_element = hlo_type_is_complex(shape->type) ? 2 : 1, wanted;
    if (hlo_size_mul((size_t)elem_count, per_element, &wanted) && wanted == count) return hlo_ok();
    return wrong_count(elem_count, count / per_element);
}

static void fill_from_list(HloLiteral *literal, const HloField *field, const void *values) {
    if (field->type != PROTOBUF_C_TYPE_BOOL) {
        if (literal->size_bytes) memcpy(literal->data, values, literal->size_bytes);
        return;
    }
    const protobuf_c_boolean *bools = values;
    for (int64_t i = 0; i < literal->elem_count; i++) ((uint8_t *)literal->data)[i] = bools[i] != 0;
}

// The list for the type: `f32s`. 1-bit integers and 6-bit floats have one that nobody reads or writes.
static const HloField *list_of(HloType type) {
    char name[24];
    const char *stem = hlo_type_name(type);
    size_t size = strlen(stem);
    if (size + 1 >= sizeof name || hlo_type_bits(type) == 6) return NULL;
    memcpy(name, stem, size);
    name[size] = 's';
    return hlo_field_find(&xla__literal_proto__descriptor, name, size + 1);
}

// Sizes below the bound make a value that the text form of a module cannot say.
static HloStatus check_dynamic_sizes(const HloShape *shape, const Xla__LiteralProto *from) {
    if (!from->n_dynamic_sizes) return hlo_ok();
    if (from->n_dynamic_sizes != shape->rank)
        return hlo_error(HLO_INVALID_ARGUMENT, "LiteralProto has %zu dynamic_sizes, but rank %zu",
                         from->n_dynamic_sizes, shape->rank);
    for (size_t d = 0; d < shape->rank; d++) {
        int64_t size = from->dynamic_sizes[d], bound = shape->dims[d];
        if (size < 0 || size > bound)
            return hlo_error(
                HLO_INVALID_ARGUMENT,
                "LiteralProto dynamic_sizes[%zu] = %lld is out of range [0, %lld] for dimension %zu with static "
                "bound %lld",
                d, (long long)size, (long long)bound, d, (long long)bound);
        if (size != bound) return hlo_error(HLO_UNIMPLEMENTED, "a literal with a dynamic size below its bound");
    }
    return hlo_ok();
}

static HloStatus read_array(HloProtoReader *r, const Xla__LiteralProto *from, const HloShape *shape, HloLiteral **out) {
    int64_t elem_count;
    if (!shape->layout) return hlo_error(HLO_INVALID_ARGUMENT, "LiteralProto has no layout");
    if (!hlo_shape_count_elements(shape, &elem_count)) return hlo_error(HLO_INVALID_ARGUMENT, "Dimensions overflow.");
    const HloField *field = list_of(shape->type);
    if (!field)
        return hlo_error(HLO_UNIMPLEMENTED, "protocol buffers cannot hold a literal of type %s",
                         hlo_type_name(shape->type));
    HLO_TRY(check_dynamic_sizes(shape, from));
    const ProtobufCBinaryData *bytes = hlo_field_at(from, field, 0);
    bool is_bytes = field->type == PROTOBUF_C_TYPE_BYTES;
    HLO_TRY(is_bytes ? check_bytes(shape, elem_count, bytes)
                     : check_list(shape, elem_count, hlo_field_count(from, field)));
    HloLiteral *literal;
    HLO_TRY(hlo_literal_new(hlo_order_is_plain(shape) ? r->arena : r->scratch, shape, &literal));
    if (is_bytes)
        fill_from_bytes(literal, bytes);
    else
        fill_from_list(literal, field, hlo_field_at(from, field, 0));
    *out = literal;
    return hlo_order_is_plain(shape) ? hlo_ok() : hlo_literal_reorder(r->arena, literal, true, out);
}

// ---- all literals ----------------------------------------------------------------------------------------

static HloStatus read_any(HloProtoReader *r, const Xla__LiteralProto *from, HloLiteral **out);

static HloStatus read_tuple(HloProtoReader *r, const Xla__LiteralProto *from, HloLiteral *literal) {
    size_t count = from->n_tuple_literals;
    literal->elements = HLO_NEW_ARRAY(r->arena, HloLiteral *, count);
    for (size_t i = 0; i < count; i++) {
        HLO_TRY(
            hlo_error_context(read_any(r, from->tuple_literals[i], &literal->elements[i]), "tuple_literals[%zu]", i));
        if (!hlo_shape_compatible(literal->elements[i]->shape, literal->shape->elements[i]))
            return hlo_error(HLO_INVALID_ARGUMENT, "tuple_literals[%zu] has another shape than its tuple says", i);
    }
    return hlo_ok();
}

// The shape of a tuple is looked at before its elements, so it bounds what they allocate.
static HloStatus read_any(HloProtoReader *r, const Xla__LiteralProto *from, HloLiteral **out) {
    const HloShape *shape;
    if (!from->shape) return hlo_error(HLO_INVALID_ARGUMENT, "LiteralProto has no shape");
    HLO_TRY(hlo_error_context(hlo_read_proto_shape(r, from->shape, &shape), "shape"));
    if (hlo_shape_is_array(shape)) return read_array(r, from, shape, out);
    if (shape->type == HLO_OPAQUE || shape->type == HLO_BUFFER)
        return hlo_error(HLO_INVALID_ARGUMENT, "Literal shape cannot include OPAQUE_TYPE sub-shape");
    HloLiteral *literal = HLO_NEW(r->arena, HloLiteral);
    literal->shape = shape;
    *out = literal;
    if (!hlo_shape_is_tuple(shape)) return hlo_ok();
    if (from->n_tuple_literals != shape->rank)
        return hlo_error(HLO_INVALID_ARGUMENT, "Expected %zu tuple elements in LiteralProto, has %zu", shape->rank,
                         from->n_tuple_literals);
    return read_tuple(r, from, literal);
}

HloStatus hlo_read_proto_literal(HloProtoReader *r, const Xla__LiteralProto *from, HloLiteral **out) {
    return hlo_error_context(read_any(r, from, out), "literal");
}

// Values stand in row-major order here, so another layout changes nothing but the shape.
static void take_shape(HloLiteral *literal, const HloShape *shape) {
    literal->shape = shape;
    for (size_t i = 0; hlo_shape_is_tuple(shape) && i < shape->rank; i++)
        take_shape(literal->elements[i], shape->elements[i]);
}

HloStatus hlo_read_proto_value(HloProtoReader *r, const Xla__LiteralProto *from, const HloShape *shape,
                               HloLiteral **out) {
    HLO_TRY(hlo_read_proto_literal(r, from, out));
    if (!hlo_shape_equal((*out)->shape, shape, HLO_IGNORE_LAYOUT))
        return hlo_error(HLO_INVALID_ARGUMENT, "the literal has shape %s where %s is expected",
                         hlo_shape_text(r->scratch, (*out)->shape, false), hlo_shape_text(r->scratch, shape, false));
    take_shape(*out, shape);
    return hlo_ok();
}
