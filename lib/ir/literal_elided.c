// Elided literals (`{...}`): values that nobody wrote down.
//
// They are filled with a counter that runs through the module, so that no two of them are equal (grammar chapter,
// §7.6). Weights of large models are elided by the gigabyte, so above a limit the bytes are not stored but
// computed when asked for.

#include "hlo/literal.h"

// Byte `at` of the filler; pred bytes are 0 or 1.
static uint8_t filler_byte(const HloLiteral *literal, size_t at) {
    uint32_t word = literal->filler + (uint32_t)(at / 4) * literal->filler_step;
    uint8_t byte = (uint8_t)(word >> at % 4 * 8);
    return literal->shape->type == HLO_PRED ? byte & 1 : byte;
}

// Bits of one element in storage; types of 6 bits take a byte.
static int stored_bits(HloType type) {
    int bits = hlo_type_bits(type);
    return bits == 6 ? 8 : bits;
}

uint64_t hlo_literal_filler_bits(const HloLiteral *literal, int64_t at) {
    int bits = stored_bits(literal->shape->type);
    if (bits < 8) {
        int64_t bit = at * bits;
        return (uint64_t)(filler_byte(literal, (size_t)(bit / 8)) >> bit % 8) & ((1u << bits) - 1);
    }
    uint64_t value = 0;
    size_t bytes = (size_t)bits / 8, first = (size_t)at * bytes;
    for (size_t i = 0; i < bytes && i < 8; i++) value |= (uint64_t)filler_byte(literal, first + i) << 8 * i;
    if (hlo_type_bits(literal->shape->type) == 6) value &= 0x3f;
    return value;
}

uint64_t hlo_literal_filler_part(const HloLiteral *literal, int64_t at, int part) {
    size_t bytes = (size_t)hlo_type_bits(literal->shape->type) / 16, first = ((size_t)at * 2 + (size_t)part) * bytes;
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) value |= (uint64_t)filler_byte(literal, first + i) << 8 * i;
    return value;
}

// What may stand in byte `at`: 6 bits of an f6 type, and no more elements than there are in the last packed byte.
static uint8_t byte_mask(const HloLiteral *literal, size_t at) {
    int bits = hlo_type_bits(literal->shape->type);
    if (bits == 6) return 0x3f;
    size_t used = (size_t)literal->elem_count * (size_t)bits % 8;
    bool partial = bits < 8 && used && at == literal->size_bytes - 1;
    return partial ? (uint8_t)((1u << used) - 1) : 0xff;
}

void hlo_literal_read_bytes(const HloLiteral *literal, size_t first, size_t count, void *out) {
    if (!count) return;
    if (literal->data) {
        memcpy(out, (const char *)literal->data + first, count);
        return;
    }
    uint8_t *bytes = out;
    for (size_t i = 0; i < count; i++) bytes[i] = filler_byte(literal, first + i) & byte_mask(literal, first + i);
}

static void fill(HloLiteral *literal) {
    void *data = literal->data;
    literal->data = NULL;
    hlo_literal_read_bytes(literal, 0, literal->size_bytes, data);
    literal->data = data;
}

HloStatus hlo_literal_new_elided(HloArena *arena, const HloShape *shape, bool zero, bool store, uint32_t *counter,
                                 HloLiteral **out) {
    HloLiteral *literal = HLO_NEW(arena, HloLiteral);
    literal->shape = shape;
    if (!hlo_literal_size_bytes(shape, &literal->size_bytes))
        return hlo_error(HLO_INVALID_ARGUMENT, "literal of %s is too large", hlo_shape_text(arena, shape, false));
    literal->elem_count = hlo_shape_elem_count(shape);
    literal->elided = true;
    if (!zero) {
        literal->filler = *counter;
        literal->filler_step = 1;
        *counter += (uint32_t)(literal->size_bytes / 4 + (literal->size_bytes % 4 != 0));
    }
    if (store) {
        literal->data = hlo_arena_alloc(arena, literal->size_bytes);
        if (!zero) fill(literal);
    }
    *out = literal;
    return hlo_ok();
}

HloStatus hlo_literal_materialize(HloArena *arena, const HloLiteral *literal, const HloLiteral **out) {
    *out = literal;
    if (!hlo_shape_is_array(literal->shape) || literal->data || !literal->size_bytes) return hlo_ok();
    HloLiteral *copy = HLO_NEW(arena, HloLiteral);
    *copy = *literal;
    copy->data = hlo_arena_alloc(arena, literal->size_bytes);
    if (literal->filler_step) fill(copy);
    *out = copy;
    return hlo_ok();
}
