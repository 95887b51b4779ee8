// Types and memory: how HLO element types look as LLVM values and in memory, loads, stores, scratch, literals.
//
// In memory: pred and types below 8 bits take a byte (packed when the layout gives an element size), narrow floats
// their bits as integers, complex numbers two neighbouring parts. As values: pred is i1, integers iN, f64 double,
// every other float f32, complex a pair.

#include "lib/cpu/llvm/emit.h"

#include <stdarg.h>

void gen_fail(Gen *g, HloCode code, const char *format, ...) {
    if (gen_failed(g)) return;
    va_list args;
    va_start(args, format);
    g->failure = hlo_error_v(code, format, args);
    va_end(args);
}

void gen_unimplemented(Gen *g, const HloInstruction *inst) {
    gen_fail(g, HLO_UNIMPLEMENTED, "%%%s = %s(...) of %s is not lowered for cpu", inst->name, hlo_op_name(inst->op),
             hlo_shape_text(g->arena, inst->shape, false));
}

static LLVMTypeRef int_type(Gen *g, int bits) {
    return LLVMIntTypeInContext(g->cx, (unsigned)bits);
}

LLVMTypeRef value_type(Gen *g, HloType type) {
    switch (hlo_type_class(type)) {
    case HLO_CLASS_PRED: return g->i1;
    case HLO_CLASS_SIGNED:
    case HLO_CLASS_UNSIGNED: return int_type(g, hlo_type_bits(type));
    case HLO_CLASS_FLOAT: return type == HLO_F64 ? g->f64 : g->f32;
    case HLO_CLASS_COMPLEX: return type == HLO_C128 ? g->f64 : g->f32;
    case HLO_CLASS_TUPLE:
    case HLO_CLASS_TOKEN:
    case HLO_CLASS_OPAQUE:
    case HLO_CLASS_BUFFER: break;
    }
    gen_fail(g, HLO_UNIMPLEMENTED, "values of type %s have no machine form on cpu", hlo_type_name(type));
    return g->i8;
}

LLVMTypeRef storage_type(Gen *g, HloType type) {
    if (hlo_type_is_complex(type) || type == HLO_F32 || type == HLO_F64) return value_type(g, type);
    int bits = hlo_type_bits(type);
    return bits <= 8 ? g->i8 : int_type(g, bits);
}

Value value_undef(Gen *g, HloType type) {
    LLVMValueRef undef = LLVMGetUndef(value_type(g, type));
    return (Value){undef, hlo_type_is_complex(type) ? undef : NULL};
}

Value value_zero(Gen *g, HloType type) {
    LLVMValueRef zero = LLVMConstNull(value_type(g, type));
    return (Value){zero, hlo_type_is_complex(type) ? zero : NULL};
}

Value value_literal(Gen *g, const HloLiteral *literal, int64_t at) {
    HloType type = literal->shape->type;
    LLVMTypeRef llvm = value_type(g, type);
    switch (hlo_type_class(type)) {
    case HLO_CLASS_COMPLEX:
        return (Value){const_float(llvm, hlo_literal_double(literal, at)),
                       const_float(llvm, hlo_literal_imag(literal, at))};
    case HLO_CLASS_FLOAT: {
        // Through the bits, so that NaN payloads survive.
        LLVMTypeRef bits = type == HLO_F64 ? g->i64 : g->i32;
        uint64_t pattern = hlo_literal_bits(literal, at);
        if (type != HLO_F64 && type != HLO_F32)
            return (Value){const_float(llvm, hlo_literal_double(literal, at)), NULL};
        return (Value){LLVMConstBitCast(LLVMConstInt(bits, pattern, false), llvm), NULL};
    }
    case HLO_CLASS_PRED: return (Value){LLVMConstInt(llvm, hlo_literal_bits(literal, at) != 0, false), NULL};
    case HLO_CLASS_SIGNED:
    case HLO_CLASS_UNSIGNED: return (Value){LLVMConstInt(llvm, hlo_literal_bits(literal, at), false), NULL};
    case HLO_CLASS_TUPLE:
    case HLO_CLASS_TOKEN:
    case HLO_CLASS_OPAQUE:
    case HLO_CLASS_BUFFER: break;
    }
    return value_undef(g, type);
}

// ---- loads and stores -----------------------------------------------------------------------------------

LLVMValueRef element_address(Gen *g, HloType type, LLVMValueRef base, LLVMValueRef linear) {
    LLVMTypeRef storage = storage_type(g, type);
    if (hlo_type_is_complex(type)) storage = LLVMArrayType2(storage, 2);
    return LLVMBuildInBoundsGEP2(g->b, storage, base, &linear, 1, "");
}

// Where a packed element lies: its byte and the shift inside it.
static LLVMValueRef packed_address(Gen *g, HloType type, LLVMValueRef base, LLVMValueRef linear, LLVMValueRef *shift) {
    int bits = hlo_type_bits(type), per_byte = 8 / bits;
    LLVMValueRef byte = LLVMBuildUDiv(g->b, linear, const_i64(g, per_byte), "");
    LLVMValueRef in_byte = LLVMBuildURem(g->b, linear, const_i64(g, per_byte), "");
    *shift = LLVMBuildTrunc(g->b, build_scale(g, in_byte, bits), g->i8, "");
    return LLVMBuildInBoundsGEP2(g->b, g->i8, base, &byte, 1, "");
}

static Value from_storage(Gen *g, HloType type, LLVMValueRef raw) {
    switch (hlo_type_class(type)) {
    case HLO_CLASS_PRED: return (Value){LLVMBuildICmp(g->b, LLVMIntNE, raw, LLVMConstNull(g->i8), ""), NULL};
    case HLO_CLASS_FLOAT:
        if (type == HLO_F32 || type == HLO_F64) return (Value){raw, NULL};
        return (Value){float_decode(g, type, raw), NULL};
    default:  // integers below 8 bits drop the padding
        return (Value){LLVMBuildTrunc(g->b, raw, value_type(g, type), ""), NULL};
    }
}

static LLVMValueRef to_storage(Gen *g, HloType type, Value value) {
    LLVMTypeRef storage = storage_type(g, type);
    switch (hlo_type_class(type)) {
    case HLO_CLASS_PRED:
    case HLO_CLASS_UNSIGNED: return LLVMBuildZExt(g->b, value.v, storage, "");
    case HLO_CLASS_SIGNED: return LLVMBuildSExt(g->b, value.v, storage, "");
    default:
        if (type == HLO_F32 || type == HLO_F64) return value.v;
        return float_encode(g, type, value.v);
    }
}

Value load_at(Gen *g, const HloShape *shape, LLVMValueRef base, LLVMValueRef linear) {
    HloType type = shape->type;
    LLVMTypeRef storage = storage_type(g, type);
    if (gen_failed(g)) return value_undef(g, type);
    if (is_packed(shape)) {
        LLVMValueRef shift, address = packed_address(g, type, base, linear, &shift);
        LLVMValueRef byte = LLVMBuildLoad2(g->b, g->i8, address, "");
        LLVMValueRef field = LLVMBuildLShr(g->b, byte, shift, "");
        LLVMValueRef mask = LLVMConstInt(g->i8, (1u << hlo_type_bits(type)) - 1, false);
        return from_storage(g, type, LLVMBuildAnd(g->b, field, mask, ""));
    }
    LLVMValueRef address = element_address(g, type, base, linear);
    LLVMValueRef raw = LLVMBuildLoad2(g->b, storage, address, "");
    if (!hlo_type_is_complex(type)) return from_storage(g, type, raw);
    LLVMValueRef one = const_i64(g, 1);
    LLVMValueRef second = LLVMBuildInBoundsGEP2(g->b, storage, address, &one, 1, "");
    return (Value){raw, LLVMBuildLoad2(g->b, storage, second, "")};
}

static void store_packed(Gen *g, HloType type, LLVMValueRef base, LLVMValueRef linear, Value value) {
    LLVMValueRef shift, address = packed_address(g, type, base, linear, &shift);
    LLVMValueRef mask = LLVMConstInt(g->i8, (1u << hlo_type_bits(type)) - 1, false);
    LLVMValueRef field = LLVMBuildAnd(g->b, to_storage(g, type, value), mask, "");
    LLVMValueRef keep = LLVMBuildNot(g->b, LLVMBuildShl(g->b, mask, shift, ""), "");
    LLVMValueRef rest = LLVMBuildAnd(g->b, LLVMBuildLoad2(g->b, g->i8, address, ""), keep, "");
    LLVMBuildStore(g->b, LLVMBuildOr(g->b, rest, LLVMBuildShl(g->b, field, shift, ""), ""), address);
}

void store_at(Gen *g, const HloShape *shape, LLVMValueRef base, LLVMValueRef linear, Value value) {
    HloType type = shape->type;
    if (gen_failed(g)) return;
    if (is_packed(shape)) {
        store_packed(g, type, base, linear, value);
        return;
    }
    LLVMValueRef address = element_address(g, type, base, linear);
    if (!hlo_type_is_complex(type)) {
        LLVMBuildStore(g->b, to_storage(g, type, value), address);
        return;
    }
    LLVMValueRef one = const_i64(g, 1);
    LLVMBuildStore(g->b, value.v, address);
    LLVMBuildStore(g->b, value.im, LLVMBuildInBoundsGEP2(g->b, storage_type(g, type), address, &one, 1, ""));
}

// ---- places ---------------------------------------------------------------------------------------------

LLVMValueRef scratch_take(Gen *g, int64_t size_bytes) {
    LLVMValueRef at = const_i64(g, (int64_t)g->scratch_at);
    int64_t next;
    if (size_bytes < 0 || __builtin_add_overflow((int64_t)g->scratch_at, size_bytes, &next) ||
        next > INT64_MAX - ALIGN_BYTES) {
        gen_fail(g, HLO_RESOURCE_EXHAUSTED, "a kernel's temporary values do not fit into memory");
        return g->scratch;
    }
    g->scratch_at = ((size_t)next + ALIGN_BYTES - 1) & ~(size_t)(ALIGN_BYTES - 1);
    if (g->scratch_at > g->scratch_bytes) g->scratch_bytes = g->scratch_at;
    return LLVMBuildInBoundsGEP2(g->b, g->i8, g->scratch, &at, 1, "");
}

Place *place_new(Gen *g, const HloShape *shape, LLVMValueRef base) {
    Place *place = HLO_NEW(g->arena, Place);
    place->shape = shape;
    place->base = base;
    return place;
}

Place *place_scratch(Gen *g, const HloShape *shape) {
    if (hlo_shape_is_array(shape)) return place_new(g, shape, scratch_take(g, hlo_shape_size_bytes(shape)));
    Place *place = place_new(g, shape, NULL);
    if (!hlo_shape_is_tuple(shape)) return place;
    place->elements = HLO_NEW_ARRAY(g->arena, Place *, shape->rank);
    for (size_t k = 0; k < shape->rank; k++) {
        if (hlo_shape_is_tuple(shape->elements[k])) {
            gen_fail(g, HLO_UNIMPLEMENTED, "a nested tuple inside a kernel is not lowered for cpu");
            return place;
        }
        place->elements[k] = place_scratch(g, shape->elements[k]);
    }
    return place;
}

// ---- literals -------------------------------------------------------------------------------------------

// Calls `move` with the row-major and the memory position of every element.
typedef void MoveElement(void *data, int64_t row_major, int64_t position);

static void for_each_position(const HloShape *shape, MoveElement *move, void *data) {
    int64_t count = hlo_shape_elem_count(shape);
    for (int64_t at = 0; at < count; at++) {
        int64_t position = 0, stride = 1;
        for (size_t k = 0; k < shape->rank; k++) {
            int64_t d = shape_minor(shape, k), below = 1;
            for (size_t e = (size_t)d + 1; e < shape->rank; e++) below *= shape->dims[e];
            position += at / below % shape->dims[d] * stride;
            stride *= shape->dims[d];
        }
        move(data, at, position);
    }
}

typedef struct LiteralMove {
    HloLiteral *literal;
    uint8_t *bytes;
    size_t elem_bytes;  // 0: packed
    int bits;
} LiteralMove;

static void put_element(void *data, int64_t at, int64_t position) {
    LiteralMove *move = data;
    if (move->elem_bytes > 8) {  // c128
        hlo_literal_read_bytes(move->literal, (size_t)at * move->elem_bytes, move->elem_bytes,
                               move->bytes + (size_t)position * move->elem_bytes);
        return;
    }
    if (move->elem_bytes && move->bits >= 8) {
        hlo_literal_read_bytes(move->literal, (size_t)at * move->elem_bytes, move->elem_bytes,
                               move->bytes + (size_t)position * move->elem_bytes);
        return;
    }
    uint64_t bits = hlo_literal_bits(move->literal, at);
    if (move->elem_bytes) {
        move->bytes[position] = (uint8_t)bits;
        return;
    }
    int per_byte = 8 / move->bits, shift = (int)(position % per_byte) * move->bits;
    uint8_t mask = (uint8_t)((1u << move->bits) - 1);
    uint8_t *byte = &move->bytes[position / per_byte];
    *byte = (uint8_t)((*byte & ~(mask << shift)) | ((bits & mask) << shift));
}

static void get_element(void *data, int64_t at, int64_t position) {
    LiteralMove *move = data;
    if (move->elem_bytes && move->bits >= 8) {
        memcpy((uint8_t *)move->literal->data + (size_t)at * move->elem_bytes,
               move->bytes + (size_t)position * move->elem_bytes, move->elem_bytes);
        return;
    }
    uint64_t mask = ((uint64_t)1 << move->bits) - 1;
    int per_byte = move->elem_bytes ? 1 : 8 / move->bits;
    int shift = move->elem_bytes ? 0 : (int)(position % per_byte) * move->bits;
    hlo_literal_set_bits(move->literal, at, (uint64_t)(move->bytes[position / per_byte] >> shift) & mask);
}

static LiteralMove literal_move(const HloLiteral *literal, const HloShape *shape, const void *bytes) {
    int bits = hlo_type_bits(shape->type);
    return (LiteralMove){(HloLiteral *)literal, (uint8_t *)bytes, is_packed(shape) ? 0 : (size_t)(bits + 7) / 8, bits};
}

// Row-major and whole bytes: memory and literal are the same bytes.
static bool is_plain_copy(const HloLiteral *literal, const HloShape *shape) {
    if (hlo_type_bits(shape->type) < 8) return false;
    bool row_major = !shape->layout || hlo_layout_is_default(shape->layout) || shape->rank < 2;
    return row_major && (int64_t)literal->size_bytes == hlo_shape_size_bytes(shape);
}

void literal_lay_out(const HloLiteral *literal, const HloShape *shape, void *out) {
    if (literal->size_bytes == 0) return;
    if (is_plain_copy(literal, shape)) {
        hlo_literal_read_bytes(literal, 0, literal->size_bytes, out);
        return;
    }
    LiteralMove move = literal_move(literal, shape, out);
    for_each_position(shape, put_element, &move);
}

void literal_read_back(HloLiteral *literal, const HloShape *shape, const void *data) {
    if (literal->size_bytes == 0) return;
    if (is_plain_copy(literal, shape)) {
        memcpy(literal->data, data, literal->size_bytes);
        return;
    }
    LiteralMove move = literal_move(literal, shape, data);
    for_each_position(shape, get_element, &move);
}
