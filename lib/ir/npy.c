// .npy files: a magic text, a version, a header that is a Python dictionary, and the elements.
//
//   \x93NUMPY 1 0 <u16 size> {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//
// Only what numpy itself writes is read: the three keys in any order, simple types, a tuple of numbers.

#include "hlo/npy.h"

#include <stdlib.h>

static const char magic[] = "\x93NUMPY";

enum {
    MAGIC_SIZE = 6,
    HEADER_V1 = 10,  // magic, version, u16
    HEADER_V2 = 12,  // magic, version, u32
    HEADER_ALIGN = 64,
};

// ---- types ----------------------------------------------------------------------------------------------

// numpy's kind letter and byte size for a stored element.
static void stored_form(HloType type, char *kind, int *size) {
    int bits = hlo_type_bits(type);
    *size = (bits + 7) / 8;
    switch (hlo_type_class(type)) {
    case HLO_CLASS_PRED: *kind = 'b'; return;
    case HLO_CLASS_SIGNED: *kind = 'i'; return;
    case HLO_CLASS_COMPLEX: *kind = 'c'; return;
    case HLO_CLASS_FLOAT: *kind = type == HLO_F16 || type == HLO_F32 || type == HLO_F64 ? 'f' : 'u'; return;
    case HLO_CLASS_UNSIGNED:
    case HLO_CLASS_TUPLE:
    case HLO_CLASS_TOKEN:
    case HLO_CLASS_OPAQUE:
    case HLO_CLASS_BUFFER: *kind = 'u'; return;
    }
}

// ---- reading --------------------------------------------------------------------------------------------

typedef struct Header {
    char kind;
    int size;
    bool column_major;
    int64_t dims[64];
    size_t rank;
} Header;

// The text after `'key':` and blanks, or NULL.
static const char *find_key(const char *header, const char *key) {
    const char *at = strstr(header, key);
    if (!at) return NULL;
    at += strlen(key);
    while (*at == ' ' || *at == ':') at++;
    return at;
}

// shape = "(" (int ",")* int? ")"
static HloStatus parse_dims(const char *at, Header *out) {
    if (!at || *at++ != '(') return hlo_error(HLO_INVALID_ARGUMENT, "the .npy header has no shape");
    for (;;) {
        while (*at == ' ' || *at == ',') at++;
        if (*at == ')') return hlo_ok();
        char *end;
        long long value = strtoll(at, &end, 10);
        if (end == at || value < 0 || out->rank == HLO_COUNT(out->dims)) {
            return hlo_error(HLO_INVALID_ARGUMENT, "the .npy header has an odd shape");
        }
        out->dims[out->rank++] = value;
        at = *end == 'L' ? end + 1 : end;
    }
}

static HloStatus parse_header(const char *text, Header *out) {
    const char *type = find_key(text, "'descr'"), *order = find_key(text, "'fortran_order'");
    if (!type || *type != '\'' || !order) return hlo_error(HLO_INVALID_ARGUMENT, "the .npy header lacks a key");
    char byte_order = type[1];
    out->kind = byte_order ? type[2] : 0;
    out->size = out->kind ? atoi(type + 3) : 0;
    if (byte_order == '>' && out->size > 1) {
        return hlo_error(HLO_INVALID_ARGUMENT, "big-endian .npy files are not supported");
    }
    out->column_major = strncmp(order, "True", 4) == 0;
    return parse_dims(find_key(text, "'shape'"), out);
}

static HloStatus split_file(HloArena *arena, HloStringView data, Header *header, HloStringView *elements) {
    const unsigned char *bytes = (const unsigned char *)data.data;
    if (data.size < HEADER_V2 || memcmp(data.data, magic, MAGIC_SIZE) != 0) {
        return hlo_error(HLO_INVALID_ARGUMENT, "not an .npy file: it does not start with \\x93NUMPY");
    }
    if (bytes[6] < 1 || bytes[6] > 3)
        return hlo_error(HLO_INVALID_ARGUMENT, ".npy version %d is not supported", bytes[6]);
    size_t start = bytes[6] == 1 ? HEADER_V1 : HEADER_V2, size = bytes[8] | (size_t)bytes[9] << 8;
    if (start == HEADER_V2) size |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (size > data.size - start) return hlo_error(HLO_INVALID_ARGUMENT, "the .npy header is cut short");
    HLO_TRY(parse_header(hlo_arena_string(arena, data.data + start, size), header));
    *elements = (HloStringView){data.data + start + size, data.size - start - size};
    return hlo_ok();
}

static HloStatus check_shape(const Header *header, const HloShape *shape) {
    char kind = 0;
    int size;
    stored_form(shape->type, &kind, &size);
    // Raw bytes of the right width serve for every type that numpy does not know.
    bool raw = kind == 'u' && (header->kind == 'V' || header->kind == 'i');
    if ((header->kind != kind && !raw) || header->size != size) {
        return hlo_error(HLO_INVALID_ARGUMENT, "expected elements '%c%d' for %s, the .npy file has '%c%d'", kind, size,
                         hlo_type_name(shape->type), header->kind, header->size);
    }
    if (header->rank != shape->rank) {
        return hlo_error(HLO_INVALID_ARGUMENT, "expected %zu dimensions, the .npy file has %zu", shape->rank,
                         header->rank);
    }
    for (size_t d = 0; d < shape->rank; d++) {
        if (header->dims[d] == shape->dims[d]) continue;
        return hlo_error(HLO_INVALID_ARGUMENT, "expected size %lld in dimension %zu, the .npy file has %lld",
                         (long long)shape->dims[d], d, (long long)header->dims[d]);
    }
    return hlo_ok();
}

// Row-major number of the element that stands at `at` in column-major order.
static int64_t row_major(const HloShape *shape, int64_t at) {
    int64_t result = 0, stride = 1, digits[64];
    for (size_t d = 0; d < shape->rank; d++) {
        digits[d] = at % shape->dims[d];
        at /= shape->dims[d];
    }
    for (size_t d = shape->rank; d-- > 0;) {
        result += digits[d] * stride;
        stride *= shape->dims[d];
    }
    return result;
}

static void copy_elements(HloLiteral *literal, const char *data, size_t size, bool column_major) {
    bool packed = hlo_type_bits(literal->shape->type) < 8 && literal->shape->type != HLO_PRED;
    if (!packed && !column_major) {
        memcpy(literal->data, data, literal->size_bytes);
        return;
    }
    for (int64_t at = 0; at < literal->elem_count; at++) {
        int64_t to = column_major ? row_major(literal->shape, at) : at;
        if (packed) {
            hlo_literal_set_bits(literal, to, (unsigned char)data[at]);
        } else {
            memcpy((char *)literal->data + (size_t)to * size, data + (size_t)at * size, size);
        }
    }
}

HloStatus hlo_npy_parse(HloArena *arena, const HloShape *shape, HloStringView data, HloLiteral **out) {
    Header header = {0};
    HloStringView elements = {NULL, 0};
    if (!hlo_shape_is_array(shape)) return hlo_error(HLO_INVALID_ARGUMENT, "an .npy file holds one array");
    HLO_TRY(split_file(arena, data, &header, &elements));
    HLO_TRY(check_shape(&header, shape));
    HloLiteral *literal;
    HLO_TRY(hlo_literal_new(arena, shape, &literal));
    size_t wanted;
    if (!hlo_size_mul((size_t)literal->elem_count, (size_t)header.size, &wanted) || wanted > elements.size) {
        return hlo_error(HLO_INVALID_ARGUMENT, "the .npy file ends after %zu of its elements' bytes", elements.size);
    }
    if (wanted) copy_elements(literal, elements.data, (size_t)header.size, header.column_major);
    *out = literal;
    return hlo_ok();
}

// ---- writing --------------------------------------------------------------------------------------------

// The dictionary, padded so that the elements start at a multiple of 64 bytes.
static void put_header(const HloShape *shape, char kind, int size, HloBuffer *out) {
    HloBuffer text = {0};
    hlo_putf(&text, "{'descr': '%c%c%d', 'fortran_order': False, 'shape': (", size == 1 ? '|' : '<', kind, size);
    for (size_t d = 0; d < shape->rank; d++) hlo_putf(&text, d ? ", %lld" : "%lld", (long long)shape->dims[d]);
    hlo_put_string(&text, shape->rank == 1 ? ",), }" : "), }");
    size_t used = HEADER_V1 + text.size + 1;
    hlo_put_spaces(&text, (HEADER_ALIGN - used % HEADER_ALIGN) % HEADER_ALIGN);
    hlo_put_char(&text, '\n');
    char start[HEADER_V1] = {0};
    memcpy(start, magic, MAGIC_SIZE);
    start[6] = 1;
    start[8] = (char)(text.size & 0xff);
    start[9] = (char)(text.size >> 8 & 0xff);
    hlo_put(out, start, sizeof start);
    if (text.data) hlo_put(out, text.data, text.size);
    out->failed = out->failed || text.failed;
    hlo_buffer_free(&text);
}

HloStatus hlo_npy_print(const HloLiteral *literal, HloBuffer *out) {
    if (!hlo_shape_is_array(literal->shape)) return hlo_error(HLO_INVALID_ARGUMENT, "an .npy file holds one array");
    char kind = 0;
    int size, bits = hlo_type_bits(literal->shape->type);
    stored_form(literal->shape->type, &kind, &size);
    put_header(literal->shape, kind, size, out);
    if (bits >= 8) {
        if (literal->size_bytes && hlo_buffer_reserve(out, literal->size_bytes)) {
            hlo_literal_read_bytes(literal, 0, literal->size_bytes, out->data + out->size);
            out->size += literal->size_bytes;
            out->data[out->size] = 0;
        }
        return hlo_buffer_status(out);
    }
    for (int64_t at = 0; at < literal->elem_count; at++) {
        // Signed values keep their sign in the byte.
        int64_t value = kind == 'i' ? hlo_literal_int(literal, at) : (int64_t)hlo_literal_bits(literal, at);
        hlo_put_char(out, (char)value);
    }
    return hlo_buffer_status(out);
}
