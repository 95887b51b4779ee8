// Literal storage: sizes, element access, equality and hash. The text form is in literal_text.c.

#include "hlo/literal.h"

#include <assert.h>
#include <math.h>

// ---- storage --------------------------------------------------------------------------------------------

// Bits that one element takes in `data`: 1, 2 and 4 are packed, 6 is widened to a byte.
static int stored_bits(HloType type) {
    int bits = hlo_type_bits(type);
    return bits == 6 ? 8 : bits;
}

bool hlo_literal_size_bytes(const HloShape *shape, size_t *out) {
    int64_t count;
    if (!hlo_shape_count_elements(shape, &count)) return false;
    int bits = stored_bits(shape->type);
    if (bits < 8) {
        size_t per_byte = 8 / (size_t)bits;
        *out = (size_t)count / per_byte + ((size_t)count % per_byte != 0);
        return true;
    }
    size_t size_bytes;
    if (!hlo_size_mul((size_t)count, (size_t)bits / 8, &size_bytes) || size_bytes > INT64_MAX) return false;
    *out = size_bytes;
    return true;
}

static HloStatus new_array(HloArena *arena, HloLiteral *literal) {
    if (!hlo_literal_size_bytes(literal->shape, &literal->size_bytes)) {
        return hlo_error(HLO_INVALID_ARGUMENT, "literal of %s is too large",
                         hlo_shape_text(arena, literal->shape, false));
    }
    literal->elem_count = hlo_shape_elem_count(literal->shape);
    literal->data = hlo_arena_alloc(arena, literal->size_bytes);
    return hlo_ok();
}

// Recurses over tuple nesting, which the reader bounds.
HloStatus hlo_literal_new(HloArena *arena, const HloShape *shape, HloLiteral **out) {
    HloLiteral *literal = HLO_NEW(arena, HloLiteral);
    literal->shape = shape;
    if (hlo_shape_is_array(shape)) {
        HLO_TRY(new_array(arena, literal));
    } else if (hlo_shape_is_tuple(shape)) {
        literal->elements = HLO_NEW_ARRAY(arena, HloLiteral *, shape->rank);
        for (size_t i = 0; i < shape->rank; i++) {
            HLO_TRY(hlo_literal_new(arena, shape->elements[i], &literal->elements[i]));
        }
    }
    *out = literal;
    return hlo_ok();
}

HloLiteral *hlo_literal_clone(HloArena *arena, const HloLiteral *literal, const HloShape *shape) {
    HloLiteral *copy = HLO_NEW(arena, HloLiteral);
    *copy = *literal;
    copy->shape = shape ? shape : literal->shape;
    if (literal->data) copy->data = hlo_arena_copy(arena, literal->data, literal->size_bytes);
    if (!hlo_shape_is_tuple(literal->shape)) return copy;
    copy->elements = HLO_NEW_ARRAY(arena, HloLiteral *, literal->shape->rank);
    for (size_t i = 0; i < literal->shape->rank; i++) {
        copy->elements[i] = hlo_literal_clone(arena, literal->elements[i], copy->shape->elements[i]);
    }
    return copy;
}

// ---- element access -------------------------------------------------------------------------------------

static uint64_t load(const char *from, int bits) {
    uint8_t b8;
    uint16_t b16;
    uint32_t b32;
    uint64_t b64;
    switch (bits) {
    case 8: memcpy(&b8, from, sizeof b8); return b8;
    case 16: memcpy(&b16, from, sizeof b16); return b16;
    case 32: memcpy(&b32, from, sizeof b32); return b32;
    default: memcpy(&b64, from, sizeof b64); return b64;
    }
}

static void store(char *to, int bits, uint64_t value) {
    memcpy(to, &value, (size_t)bits / 8);  // little endian: the low bytes stand first
}

uint64_t hlo_literal_bits(const HloLiteral *literal, int64_t at) {
    assert(at >= 0 && at < literal->elem_count);
    if (!literal->data) return hlo_literal_filler_bits(literal, at);
    int bits = stored_bits(literal->shape->type);
    const char *data = literal->data;
    if (bits >= 8) return load(data + at * (bits / 8), bits);
    int64_t bit = at * bits;
    return (uint64_t)((uint8_t)data[bit / 8] >> (bit % 8)) & ((1u << bits) - 1);
}

void hlo_literal_set_bits(HloLiteral *literal, int64_t at, uint64_t value) {
    assert(at >= 0 && at < literal->elem_count);
    int bits = stored_bits(literal->shape->type);
    char *data = literal->data;
    if (bits >= 8) {
        store(data + at * (bits / 8), bits, value);
        return;
    }
    int64_t bit = at * bits;
    unsigned mask = ((1u << bits) - 1) << (bit % 8);
    data[bit / 8] = (char)(((uint8_t)data[bit / 8] & ~mask) | ((unsigned)value << (bit % 8) & mask));
}

static int64_t sign_extended(uint64_t value, int bits) {
    int unused = 64 - bits;
    return (int64_t)(value << unused) >> unused;
}

// One part (0: real, 1: imaginary) of a complex element.
static double complex_part(const HloLiteral *literal, int64_t at, int part) {
    assert(at >= 0 && at < literal->elem_count);
    HloType type = hlo_type_complex_part(literal->shape->type);
    int bits = hlo_type_bits(type);
    if (!literal->data) return hlo_float_decode(type, hlo_literal_filler_part(literal, at, part));
    return hlo_float_decode(type, load((const char *)literal->data + (2 * at + part) * (bits / 8), bits));
}

int64_t hlo_literal_int(const HloLiteral *literal, int64_t at) {
    HloType type = literal->shape->type;
    uint64_t bits = hlo_literal_bits(literal, at);
    return hlo_type_class(type) == HLO_CLASS_SIGNED ? sign_extended(bits, hlo_type_bits(type)) : (int64_t)bits;
}

double hlo_literal_double(const HloLiteral *literal, int64_t at) {
    HloType type = literal->shape->type;
    switch (hlo_type_class(type)) {
    case HLO_CLASS_FLOAT: return hlo_float_decode(type, hlo_literal_bits(literal, at));
    case HLO_CLASS_COMPLEX: return complex_part(literal, at, 0);
    case HLO_CLASS_SIGNED: return (double)hlo_literal_int(literal, at);
    case HLO_CLASS_PRED:
    case HLO_CLASS_UNSIGNED:
    case HLO_CLASS_TUPLE:
    case HLO_CLASS_TOKEN:
    case HLO_CLASS_OPAQUE:
    case HLO_CLASS_BUFFER: break;
    }
    return (double)hlo_literal_bits(literal, at);
}

double hlo_literal_imag(const HloLiteral *literal, int64_t at) {
    return hlo_type_is_complex(literal->shape->type) ? complex_part(literal, at, 1) : 0.0;
}

void hlo_literal_set_complex(HloLiteral *literal, int64_t at, double real, double imag) {
    assert(at >= 0 && at < literal->elem_count);
    HloType part = hlo_type_complex_part(literal->shape->type);
    int bits = hlo_type_bits(part);
    char *to = (char *)literal->data + 2 * at * (bits / 8);
    store(to, bits, hlo_float_encode(part, real));
    store(to + bits / 8, bits, hlo_float_encode(part, imag));
}

// Truncation toward zero, NaN to 0, saturation at the ends of 64 bits (interpreter chapter, §2).
static uint64_t integer_bits_of(HloType type, double value) {
    if (isnan(value)) return 0;
    if (hlo_type_class(type) == HLO_CLASS_UNSIGNED) {
        if (value <= 0) return value <= -1 && value >= -0x1p63 ? (uint64_t)(int64_t)value : 0;
        return value >= 0x1p64 ? UINT64_MAX : (uint64_t)value;
    }
    if (value >= 0x1p63) return INT64_MAX;
    return value <= -0x1p63 ? (uint64_t)INT64_MIN : (uint64_t)(int64_t)value;
}

void hlo_literal_set_double(HloLiteral *literal, int64_t at, double value) {
    HloType type = literal->shape->type;
    switch (hlo_type_class(type)) {
    case HLO_CLASS_FLOAT: hlo_literal_set_bits(literal, at, hlo_float_encode(type, value)); return;
    case HLO_CLASS_COMPLEX: hlo_literal_set_complex(literal, at, value, 0); return;
    case HLO_CLASS_PRED: hlo_literal_set_bits(literal, at, value != 0); return;
    case HLO_CLASS_SIGNED:
    case HLO_CLASS_UNSIGNED:
    case HLO_CLASS_TUPLE:
    case HLO_CLASS_TOKEN:
    case HLO_CLASS_OPAQUE:
    case HLO_CLASS_BUFFER: break;
    }
    hlo_literal_set_bits(literal, at, integer_bits_of(type, value));
}

void hlo_literal_set_int(HloLiteral *literal, int64_t at, int64_t value) {
    if (hlo_type_is_integral(literal->shape->type))
        hlo_literal_set_bits(literal, at, (uint64_t)value);  // a double would round large values
    else
        hlo_literal_set_double(literal, at, (double)value);
}

void hlo_literal_copy_element(HloLiteral *to, int64_t to_at, const HloLiteral *from, int64_t from_at) {
    assert(to->shape->type == from->shape->type);
    if (to->shape->type == HLO_C128) {  // wider than one pattern
        hlo_literal_set_complex(to, to_at, hlo_literal_double(from, from_at), hlo_literal_imag(from, from_at));
        return;
    }
    hlo_literal_set_bits(to, to_at, hlo_literal_bits(from, from_at));
}

// ---- comparison -----------------------------------------------------------------------------------------

// Unused bits of a packed last byte are always zero, so bytes compare as values do.
static bool same_arrays(const HloLiteral *a, const HloLiteral *b) {
    if (!a->data || !b->data) return a->data == b->data && a->filler == b->filler && a->filler_step == b->filler_step;
    return a->size_bytes == b->size_bytes && (!a->size_bytes || memcmp(a->data, b->data, a->size_bytes) == 0);
}

static bool same_array_shapes(const HloShape *a, const HloShape *b) {
    if (a->type != b->type || a->rank != b->rank) return false;
    for (size_t d = 0; d < a->rank; d++) {
        bool dynamic = a->dynamic && a->dynamic[d];
        if (a->dims[d] != b->dims[d] || dynamic != (b->dynamic && b->dynamic[d])) return false;
    }
    return true;
}

bool hlo_literal_equal(const HloLiteral *a, const HloLiteral *b) {
    if (a == b) return true;
    if (hlo_shape_is_array(a->shape)) return same_array_shapes(a->shape, b->shape) && same_arrays(a, b);
    if (a->shape->type != b->shape->type || a->shape->rank != b->shape->rank) return false;
    if (!hlo_shape_is_tuple(a->shape)) return true;
    for (size_t i = 0; i < a->shape->rank; i++) {
        if (!hlo_literal_equal(a->elements[i], b->elements[i])) return false;
    }
    return true;
}

uint64_t hlo_literal_hash(const HloLiteral *literal) {
    const HloShape *shape = literal->shape;
    uint64_t hash = hlo_hash_combine(shape->type, shape->rank);
    if (hlo_shape_is_array(shape)) {
        hash = hlo_hash_bytes(shape->dims, shape->rank * sizeof *shape->dims, hash);
        if (!literal->data) return hlo_hash_combine(hash, literal->filler);
        return hlo_hash_bytes(literal->data, literal->size_bytes, hash);
    }
    if (!hlo_shape_is_tuple(shape)) return hash;
    for (size_t i = 0; i < shape->rank; i++) hash = hlo_hash_combine(hash, hlo_literal_hash(literal->elements[i]));
    return hash;
}

// All elements equal to element 0; there is one.
static bool all_same(const HloLiteral *literal) {
    if (!literal->data) return literal->filler_step == 0;
    int bits = stored_bits(literal->shape->type);
    if (bits >= 8) {
        size_t step = (size_t)bits / 8;
        const char *data = literal->data;
        return memcmp(data, data + step, literal->size_bytes - step) == 0;
    }
    uint64_t first = hlo_literal_bits(literal, 0);
    for (int64_t i = 1; i < literal->elem_count; i++) {
        if (hlo_literal_bits(literal, i) != first) return false;
    }
    return true;
}

bool hlo_literal_is_splat(const HloLiteral *literal) {
    return hlo_shape_is_array(literal->shape) && literal->elem_count > 0 && all_same(literal);
}

static bool same_double(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

// Element 0 is `value`, exactly.
static bool first_is(const HloLiteral *literal, double value) {
    HloType type = literal->shape->type;
    switch (hlo_type_class(type)) {
    case HLO_CLASS_FLOAT: return same_double(hlo_literal_double(literal, 0), value);
    case HLO_CLASS_COMPLEX:
        return same_double(hlo_literal_double(literal, 0), value) && same_double(hlo_literal_imag(literal, 0), 0);
    case HLO_CLASS_SIGNED:
        return value == trunc(value) && value >= -0x1p63 && value < 0x1p63 &&
               hlo_literal_int(literal, 0) == (int64_t)value;
    case HLO_CLASS_PRED:
    case HLO_CLASS_UNSIGNED:
    case HLO_CLASS_TUPLE:
    case HLO_CLASS_TOKEN:
    case HLO_CLASS_OPAQUE:
    case HLO_CLASS_BUFFER: break;
    }
    return value == trunc(value) && value >= 0 && value < 0x1p64 && hlo_literal_bits(literal, 0) == (uint64_t)value;
}

bool hlo_literal_is_all(const HloLiteral *literal, double value) {
    if (!hlo_shape_is_array(literal->shape) || isnan(value)) return false;
    if (literal->elem_count == 0) return true;
    return first_is(literal, value) && all_same(literal);
}
