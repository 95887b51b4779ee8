// literal = u64 size of the shape, the shape as a message, then the elements of each array leaf in the order of its
// layout.

#include "native_literal.h"

#include "lib/ir/literal_order.h"

typedef struct Bytes {
    const char *at, *end;
} Bytes;

static bool take(Bytes *bytes, size_t size, const char **out) {
    if ((size_t)(bytes->end - bytes->at) < size) return false;
    *out = bytes->at;
    bytes->at += size;
    return true;
}

static HloStatus cut_short(void) {
    return hlo_error(HLO_INVALID_ARGUMENT, "the elements are cut short");
}

// Bits of one element: predicates are packed, and so are integers below a byte.
static int packed_bits(HloType type) {
    return type == HLO_PRED ? 1 : hlo_type_bits(type);
}

static HloStatus fill_packed(Bytes *bytes, HloLiteral *literal) {
    const char *data;
    int bits = packed_bits(literal->shape->type);
    size_t per_byte = 8 / (size_t)bits, count = (size_t)literal->elem_count;
    if (!take(bytes, count / per_byte + (count % per_byte != 0), &data)) return cut_short();
    for (size_t i = 0; i < count; i++) {
        unsigned value = (uint8_t)data[i / per_byte] >> (i % per_byte * (size_t)bits) & ((1u << bits) - 1);
        hlo_literal_set_bits(literal, (int64_t)i, value);
    }
    return hlo_ok();
}

static HloStatus fill_array(HloProtoReader *r, Bytes *bytes, HloLiteral *literal) {
    const char *data;
    if (packed_bits(literal->shape->type) < 8) {
        HLO_TRY(fill_packed(bytes, literal));
    } else {
        if (!take(bytes, literal->size_bytes, &data)) return cut_short();
        if (literal->size_bytes) memcpy(literal->data, data, literal->size_bytes);
    }
    if (hlo_order_is_plain(literal->shape)) return hlo_ok();
    HloLiteral *ordered;
    HLO_TRY(hlo_literal_reorder(r->arena, literal, true, &ordered));
    *literal = *ordered;
    return hlo_ok();
}

static HloStatus read_shape(HloProtoReader *r, Bytes *bytes, const HloShape **out) {
    const char *data;
    uint64_t size;
    HloUnknown unknown = {0};
    size_t progress;
    void *message;
    if (!take(bytes, sizeof size, &data)) return cut_short();
    memcpy(&size, data, sizeof size);
    if (size > (uint64_t)(bytes->end - bytes->at) || !take(bytes, (size_t)size, &data)) return cut_short();
    HLO_TRY(hlo_wire_read(r->scratch, &xla__shape_proto__descriptor, (HloStringView){data, (size_t)size}, &message,
                          &unknown, &progress));
    return hlo_read_proto_shape(r, message, out);
}

// A leaf takes at least a bit for each element, so what is left bounds what may be allocated.
static HloStatus check_size(const Bytes *bytes, const HloShape *shape) {
    int64_t count;
    if (!hlo_shape_is_array(shape)) return hlo_error(HLO_INVALID_ARGUMENT, "tokens and opaque values have no elements");
    if (hlo_shape_is_dynamic(shape)) return hlo_error(HLO_UNIMPLEMENTED, "a dynamic array");
    bool fits = hlo_shape_count_elements(shape, &count) && (uint64_t)count / 8 <= (uint64_t)(bytes->end - bytes->at);
    return fits ? hlo_ok() : cut_short();
}

// Leaves in pre-order.
static HloStatus read_value(HloProtoReader *r, Bytes *bytes, const HloShape *shape, HloLiteral **out) {
    if (hlo_shape_is_tuple(shape)) {
        HloLiteral *tuple = HLO_NEW(r->arena, HloLiteral);
        tuple->shape = shape;
        tuple->elements = HLO_NEW_ARRAY(r->arena, HloLiteral *, shape->rank);
        for (size_t i = 0; i < shape->rank; i++) HLO_TRY(read_value(r, bytes, shape->elements[i], &tuple->elements[i]));
        *out = tuple;
        return hlo_ok();
    }
    HLO_TRY(check_size(bytes, shape));
    HLO_TRY(hlo_literal_new(r->arena, shape, out));
    return fill_array(r, bytes, *out);
}

static HloStatus read_literal(HloProtoReader *r, const Xla__HloInputs__LiteralDescriptor *descriptor, Bytes *bytes,
                              HloLiteral **out) {
    if (descriptor->version > 0)
        return hlo_error(HLO_UNIMPLEMENTED, "Unsupported argument descriptor version: %d", (int)descriptor->version);
    uint64_t size = descriptor->argument_size_bytes;
    if (size > (uint64_t)(bytes->end - bytes->at))
        return hlo_error(HLO_INVALID_ARGUMENT, "Failed to deserialize argument with size %llu",
                         (unsigned long long)size);
    Bytes own = {bytes->at, bytes->at + size};
    const HloShape *shape;
    HLO_TRY(hlo_error_context(read_shape(r, &own, &shape), "shape"));
    HLO_TRY(read_value(r, &own, shape, out));
    if (own.at != own.end) return hlo_error(HLO_INVALID_ARGUMENT, "Unexpected extra data in an argument");
    bytes->at += size;
    return hlo_ok();
}

HloStatus hlo_read_native_literals(HloProtoReader *r, const Xla__HloInputs *inputs, HloStringView bytes,
                                   const HloLiteral *const **out) {
    size_t count = inputs->n_arguments_descriptors;
    const HloLiteral **literals = HLO_NEW_ARRAY(r->arena, const HloLiteral *, count);
    Bytes rest = {bytes.data, bytes.data + bytes.size};
    for (size_t i = 0; i < count; i++) {
        HloLiteral *literal;
        HLO_TRY(
            hlo_error_context(read_literal(r, inputs->arguments_descriptors[i], &rest, &literal), "argument %zu", i));
        literals[i] = literal;
    }
    *out = literals;
    return rest.at == rest.end ? hlo_ok() : hlo_error(HLO_INVALID_ARGUMENT, "Unexpected extra data in the stream");
}
