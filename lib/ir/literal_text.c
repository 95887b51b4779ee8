// Literals as text, on one line or on many (printing chapter, §5.5 and §5.6).

#include "hlo/literal.h"

#include <math.h>
#include <stdlib.h>

// ---- scalars --------------------------------------------------------------------------------------------

// The payload of a NaN, unless it is the type's quiet NaN or the type has none.
static void put_nan_payload(HloBuffer *out, const HloTypeInfo *info, uint64_t bits) {
    if (info->specials != HLO_SPECIALS_IEEE) return;
    uint64_t payload = bits & ((UINT64_C(1) << info->mantissa_bits) - 1);
    if (payload == UINT64_C(1) << (info->mantissa_bits - 1)) return;
    hlo_putf(out, "(0x%llx)", (unsigned long long)payload);
}

static void put_float_bits(HloBuffer *out, HloType type, uint64_t bits) {
    double value = hlo_float_decode(type, bits);
    const HloTypeInfo *info = hlo_type_info(type);
    if (isnan(value)) {
        hlo_put_string(out, signbit(value) ? "-nan" : "nan");
        put_nan_payload(out, info, bits);
    } else if (type == HLO_F32) {
        hlo_put_f32(out, (float)value);
    } else if (type == HLO_F64) {
        hlo_put_f64(out, value);
    } else {
        hlo_put_double(out, value, info->print_digits);
    }
}

static void put_complex(HloBuffer *out, const HloLiteral *literal, int64_t at) {
    HloType part = hlo_type_complex_part(literal->shape->type);
    size_t part_bytes = (size_t)hlo_type_bits(part) / 8;
    uint64_t real = 0, imag = 0;
    if (literal->data) {
        const char *data = (const char *)literal->data + 2 * (size_t)at * part_bytes;
        memcpy(&real, data, part_bytes);
        memcpy(&imag, data + part_bytes, part_bytes);
    } else {
        real = hlo_literal_filler_part(literal, at, 0);
        imag = hlo_literal_filler_part(literal, at, 1);
    }
    hlo_put_char(out, '(');
    put_float_bits(out, part, real);
    hlo_put(out, ", ", 2);
    put_float_bits(out, part, imag);
    hlo_put_char(out, ')');
}

static void put_pred(HloBuffer *out, bool value, bool in_array) {
    if (in_array)
        hlo_put_char(out, value ? '1' : '0');
    else
        hlo_put_string(out, value ? "true" : "false");
}

void hlo_put_scalar(HloBuffer *out, const HloLiteral *literal, int64_t at, bool in_array) {
    HloType type = literal->shape->type;
    switch (hlo_type_class(type)) {
    case HLO_CLASS_PRED: put_pred(out, hlo_literal_bits(literal, at) != 0, in_array); return;
    case HLO_CLASS_SIGNED: hlo_put_int(out, hlo_literal_int(literal, at)); return;
    case HLO_CLASS_UNSIGNED: hlo_put_uint(out, hlo_literal_bits(literal, at)); return;
    case HLO_CLASS_FLOAT: put_float_bits(out, type, hlo_literal_bits(literal, at)); return;
    case HLO_CLASS_COMPLEX: put_complex(out, literal, at); return;
    case HLO_CLASS_TUPLE:
    case HLO_CLASS_TOKEN:
    case HLO_CLASS_OPAQUE:
    case HLO_CLASS_BUFFER: hlo_put_string(out, hlo_type_name(type)); return;
    }
}

// ---- arrays ---------------------------------------------------------------------------------------------

// How the parts of a literal are set apart: all on one line, or with shapes and one row a line.
typedef struct Style {
    const char *gap;     // after an opening brace, before a closing one
    const char *row;     // in front of the innermost braces
    const char *joiner;  // between items of the outer levels
} Style;

static const Style one_line = {" ", "", ", "};
static const Style many_lines = {"\n", "  ", ",\n"};

// The walk over an array of rank >= 2. Levels are dimensions: 0 is the outermost pair of braces.
typedef struct Walk {
    HloBuffer *out;
    const Style *style;
    const HloLiteral *literal;
    const int64_t *dims;
    size_t rank;
    int64_t *position;  // rank entries: how many items of each open level are done
    int64_t next;       // linear index of the next element
} Walk;

static void put_row(Walk *w) {
    int64_t size = hlo_size_items(w->dims[w->rank - 1]);
    hlo_put_string(w->out, w->style->row);
    hlo_put_string(w->out, size > 1 ? "{ " : "{");
    for (int64_t i = 0; i < size && !w->out->failed; i++) {
        if (i) hlo_put(w->out, ", ", 2);
        hlo_put_scalar(w->out, w->literal, w->next++, true);
    }
    w->next += hlo_size_items(w->literal->shape->dims[w->rank - 1]) - size;
    hlo_put_string(w->out, size > 1 ? " }" : "}");
}

// From rank 4 on, the levels between the outermost and the innermost say which item of the level above they are.
static void open_level(Walk *w, size_t level) {
    enum { COMMENTED_RANK = 4 };
    w->position[level] = 0;
    hlo_put_char(w->out, '{');
    if (level == 0 || w->rank < COMMENTED_RANK) {
        hlo_put_string(w->out, w->style->gap);
        return;
    }
    hlo_put_string(w->out, " /*i");
    hlo_put_uint(w->out, level - 1);
    hlo_put_char(w->out, '=');
    hlo_put_int(w->out, w->position[level - 1]);
    hlo_put_string(w->out, "*/");
    if (hlo_size_items(w->dims[level]) > 0) hlo_put_string(w->out, w->style->gap);
}

// Goes on behind the items of a level that are not alive.
static void skip_dead(Walk *w, size_t level) {
    const int64_t *bounds = w->literal->shape->dims;
    int64_t skipped = bounds[level] - w->dims[level];
    for (size_t d = level + 1; d < w->rank && skipped; d++) skipped *= hlo_size_items(bounds[d]);
    w->next += skipped;
}

// Depth-first without recursion, since a file decides the rank.
static void put_nested(Walk *w) {
    size_t innermost = w->rank - 1, level = 0;
    open_level(w, 0);
    while (!w->out->failed) {
        if (w->position[level] == hlo_size_items(w->dims[level])) {
            hlo_put_string(w->out, w->style->gap);
            hlo_put_char(w->out, '}');
            skip_dead(w, level);
            if (level == 0) return;
            w->position[--level]++;
            continue;
        }
        if (w->position[level]) hlo_put_string(w->out, w->style->joiner);
        if (level + 1 == innermost) {
            put_row(w);
            w->position[level]++;
        } else {
            open_level(w, ++level);
        }
    }
}

// Rank 1, of which `count` elements are alive.
static void put_vector(HloBuffer *out, const HloLiteral *literal, int64_t count) {
    hlo_put_char(out, '{');
    for (int64_t i = 0; i < count && !out->failed; i++) {
        if (i) hlo_put(out, ", ", 2);
        hlo_put_scalar(out, literal, i, true);
    }
    hlo_put_char(out, '}');
}

// True of `f32[1000000000,0]` and its like, which is a billion pairs of braces, and of elided arrays that nobody has
// stored: few characters of a text must not become gigabytes of another.
static bool is_endless(const HloLiteral *literal) {
    enum { MOST_EMPTY_ROWS = 100000, MOST_FILLER_BYTES = 1 << 30 };
    const HloShape *shape = literal->shape;
    if (literal->elem_count) return !literal->data && literal->size_bytes > MOST_FILLER_BYTES;
    int64_t rows = 1;
    for (size_t d = 0; d + 1 < shape->rank && hlo_size_items(shape->dims[d]); d++) {
        if (!hlo_i64_mul(rows, shape->dims[d], &rows) || rows > MOST_EMPTY_ROWS) return true;
    }
    return false;
}

static void put_array(HloBuffer *out, const HloLiteral *literal, const Style *style) {
    enum { USUAL_RANK = 16 };
    const HloShape *shape = literal->shape;
    if (is_endless(literal)) {
        hlo_put_string(out, "{...}");
        return;
    }
    if (shape->rank == 0) {
        hlo_put_scalar(out, literal, 0, false);
        return;
    }
    const int64_t *dims = literal->dynamic_sizes ? literal->dynamic_sizes : shape->dims;
    if (shape->rank == 1) {
        put_vector(out, literal, hlo_size_items(dims[0]));
        return;
    }
    int64_t usual[USUAL_RANK];
    int64_t *position = shape->rank <= USUAL_RANK ? usual : calloc(shape->rank, sizeof *position);
    if (position)
        put_nested(&(Walk){out, style, literal, dims, shape->rank, position, 0});
    else
        out->failed = true;
    if (position != usual) free(position);
}

// ---- whole values ---------------------------------------------------------------------------------------

// Tuple nesting is bounded by the reader.
void hlo_put_literal(HloBuffer *out, const HloLiteral *literal) {
    if (hlo_shape_is_array(literal->shape)) {
        put_array(out, literal, &one_line);
        return;
    }
    if (!hlo_shape_is_tuple(literal->shape)) {
        hlo_put_string(out, hlo_type_name(literal->shape->type));
        return;
    }
    hlo_put(out, "( ", 2);
    for (size_t i = 0; i < literal->shape->rank; i++) {
        if (i) hlo_put(out, ", ", 2);
        hlo_put_literal(out, literal->elements[i]);
    }
    hlo_put(out, " )", 2);
}

// `(2,2)` behind the shape of an array of which not all is alive.
static void put_sizes(HloBuffer *out, const HloLiteral *literal) {
    for (size_t d = 0; literal->dynamic_sizes && d < literal->shape->rank; d++) {
        hlo_put_char(out, d ? ',' : '(');
        hlo_put_int(out, literal->dynamic_sizes[d]);
    }
    if (literal->dynamic_sizes) hlo_put_char(out, ')');
}

void hlo_put_literal_lines(HloBuffer *out, const HloLiteral *literal) {
    if (hlo_shape_is_array(literal->shape)) {
        hlo_put_shape(out, literal->shape, false);
        put_sizes(out, literal);
        hlo_put_char(out, ' ');
        put_array(out, literal, &many_lines);
        return;
    }
    if (!hlo_shape_is_tuple(literal->shape)) {
        hlo_put_string(out, hlo_type_name(literal->shape->type));
        return;
    }
    hlo_put(out, "(\n", 2);
    for (size_t i = 0; i < literal->shape->rank; i++) {
        if (i) hlo_put(out, ",\n", 2);
        hlo_put_literal_lines(out, literal->elements[i]);
    }
    hlo_put(out, "\n)", 2);
}
