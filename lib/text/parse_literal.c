// Literal values (grammar chapter, §7).
//
// The shape is known before the value is read, so values go straight to their place. Nothing is allocated for a size
// that the text does not back: an array needs at least one character per element, except an elided one, whose
// large values are computed on access.

#include "parse.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>

// ---- storing one value ----------------------------------------------------------------------------------

typedef struct Sink {
    HloReader *r;
    const HloShape *shape;
    HloLiteral *literal;
    int64_t next;  // linear index of the next value
} Sink;

// The type's name as messages spell it: F32.
static const char *upper_name(HloReader *r, HloType type) {
    char *name = hlo_arena_string(r->scratch, hlo_type_name(type), strlen(hlo_type_name(type)));
    for (char *p = name; *p; p++) *p = (char)toupper((unsigned char)*p);
    return name;
}

static double largest_finite(HloType type) {
    if (type == HLO_F64 || type == HLO_C128) return DBL_MAX;
    if (type == HLO_F32 || type == HLO_C64) return FLT_MAX;
    uint64_t bits = ((uint64_t)1 << (hlo_type_bits(type) - 1)) - 1;
    if (hlo_type_info(type)->specials == HLO_SPECIALS_SCALE) bits = bits * 2 + 1;
    while (!isfinite(hlo_float_decode(type, bits))) bits--;
    return hlo_float_decode(type, bits);
}

static const char *token_text(HloReader *r, const HloToken *t) {
    return hlo_arena_string(r->scratch, t->text, t->size < 60 ? t->size : 60);
}

static bool float_range_error(HloReader *r, const HloToken *t, HloType type, const char *part) {
    double limit = largest_finite(type);
    return hlo_read_error(r, t->at, "%svalue %s is out of range for literal's primitive type %s, namely [%g, %g].",
                          part, token_text(r, t), upper_name(r, type), -limit, limit);
}

// The NaN a token means: the type's quiet one, or the one with its payload as mantissa.
static bool nan_bits(Sink *s, const HloToken *t, HloType type, uint64_t *out) {
    const HloTypeInfo *info = hlo_type_info(type);
    *out = hlo_float_encode(type, copysign(NAN, t->decimal));
    uint64_t payload = (uint64_t)t->integer;
    if (payload == 0 || payload == (uint64_t)1 << 51) return true;  // none, or the default of any type
    const char *shape = hlo_shape_text(s->r->scratch, s->shape, false);
    if (info->specials != HLO_SPECIALS_IEEE)
        return hlo_read_error(
            s->r, t->at,
            "tries to set NaN payload 0x%llx to a literal in shape %s at linear index %lld, but %s does "
            "not support payloads",
            (unsigned long long)payload, shape, (long long)s->next, hlo_type_name(type));
    uint64_t mask = ((uint64_t)1 << info->mantissa_bits) - 1;
    if (payload > mask)
        return hlo_read_error(
            s->r, t->at,
            "tries to set NaN payload 0x%llx to a literal in shape %s at linear index %lld, but the NaN "
            "payload is out of range (0x%llx)",
            (unsigned long long)payload, shape, (long long)s->next, (unsigned long long)mask);
    *out = (*out & ~mask) | payload;
    return true;
}

// Encodes the number token t for a float type.
static bool float_bits(Sink *s, const HloToken *t, HloType type, const char *part, uint64_t *out) {
    double value = 0;
    switch ((int)t->kind) {
    case HLO_TOK_NAN: return nan_bits(s, t, type, out);
    case HLO_TOK_INF: *out = hlo_float_encode(type, t->decimal); return true;
    case HLO_TOK_INT: value = t->negative_zero && !s->r->drop_zero_sign ? -0.0 : (double)t->integer; break;
    case HLO_TOK_DECIMAL: value = t->decimal; break;
    default:
        return hlo_read_error(s->r, t->at,
                              "expects decimal or integer: expect floating point value for primitive type: %s",
                              upper_name(s->r, type));
    }
    if (isinf(value))
        return hlo_read_error(s->r, t->at,
                              "Constant is out of range for double (+/-1.79769e+308) and so is unparsable.");
    if (type == HLO_F32) {
        float narrow = (float)value;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        *out = bits;
        return isfinite(narrow) || float_range_error(s->r, t, type, part);
    }
    *out = hlo_float_encode(type, value);
    return isfinite(hlo_float_decode(type, *out)) || float_range_error(s->r, t, type, part);
}

static bool store_float(Sink *s, const HloToken *t) {
    HloType type = s->shape->type;
    uint64_t bits;
    if (!float_bits(s, t, type, "", &bits)) return false;
    if (type == HLO_F32) {
        uint32_t narrow = (uint32_t)bits;
        memcpy((char *)s->literal->data + s->next * 4, &narrow, 4);
    } else {
        hlo_literal_set_bits(s->literal, s->next, bits);
    }
    return true;
}

static bool store_pred(Sink *s, const HloToken *t) {
    bool value = t->kind == HLO_TOK_TRUE || (t->kind == HLO_TOK_INT && t->integer != 0);
    if (t->kind != HLO_TOK_TRUE && t->kind != HLO_TOK_FALSE && t->kind != HLO_TOK_INT)
        return hlo_read_error(s->r, t->at,
                              "expects integer: expects true, false or an integer for primitive type: PRED");
    hlo_literal_set_int(s->literal, s->next, value);
    return true;
}

static bool store_integer(Sink *s, const HloToken *t) {
    HloType type = s->shape->type;
    if (t->kind != HLO_TOK_INT)
        return hlo_read_error(s->r, t->at, "expects integer: expects integer for primitive type: %s",
                              upper_name(s->r, type));
    int bits = hlo_type_bits(type);
    if (bits < 64) {
        bool is_signed = hlo_type_class(type) == HLO_CLASS_SIGNED;
        int64_t low = is_signed ? -((int64_t)1 << (bits - 1)) : 0;
        int64_t high = ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
        if (t->integer < low || t->integer > high)
            return hlo_read_error(s->r, t->at,
                                  "value %s is out of range for literal's primitive type %s namely [%lld, %lld].",
                                  token_text(s->r, t), upper_name(s->r, type), (long long)low, (long long)high);
    }
    if (bits == 32)
        memcpy((char *)s->literal->data + s->next * 4, &t->integer, 4);
    else
        hlo_literal_set_int(s->literal, s->next, t->integer);
    return true;
}

static double part_value(HloType part, uint64_t bits) {
    if (part == HLO_F32) {
        uint32_t narrow = (uint32_t)bits;
        float value;
        memcpy(&value, &narrow, sizeof value);
        return (double)value;
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// complex = "(" number "," number ")"
static bool store_complex(Sink *s) {
    HloReader *r = s->r;
    HloType part = hlo_type_complex_part(s->shape->type);
    uint64_t bits[2];
    hlo_skip(r);
    for (int k = 0; k < 2; k++) {
        HloToken t = r->lex.token;
        if (!float_bits(s, &t, part, k ? "imaginary part " : "real part ", &bits[k])) return false;
        hlo_skip(r);
        if (k == 0 && !hlo_expect(r, HLO_TOK_COMMA, "expects ',' after the real part of a complex literal"))
            return false;
    }
    // As the language has it, a NaN real part makes both parts that NaN.
    if (isnan(part_value(part, bits[0]))) bits[1] = bits[0];
    size_t part_bytes = (size_t)hlo_type_bits(part) / 8;
    char *place = (char *)s->literal->data + (size_t)s->next * 2 * part_bytes;
    memcpy(place, &bits[0], part_bytes);
    memcpy(place + part_bytes, &bits[1], part_bytes);
    return hlo_tok(r) == HLO_TOK_RPAREN ||
           hlo_read_error(r, hlo_here(r), "expects ')' at the end of a complex literal");
}

static bool store_value(Sink *s) {
    HloReader *r = s->r;
    const HloToken *t = &r->lex.token;
    if (s->next >= s->literal->elem_count)
        return hlo_read_error(
            r, t->at,
            "tries to set value %s to a literal in shape %s at linear index %lld, but the index is out of "
            "range",
            token_text(r, t), hlo_shape_text(r->scratch, s->shape, false), (long long)s->next);
    HloTypeClass class = hlo_type_class(s->shape->type);
    bool ok = false;
    if (t->kind == HLO_TOK_LPAREN) {
        if (class != HLO_CLASS_COMPLEX)
            return hlo_read_error(r, t->at, "unexpected '(' in literal. Parens are only valid for complex literals");
        ok = store_complex(s);
    } else if (class == HLO_CLASS_FLOAT) {
        ok = store_float(s, t);
    } else if (class == HLO_CLASS_PRED) {
        ok = store_pred(s, t);
    } else if (class == HLO_CLASS_COMPLEX) {
        ok = hlo_read_error(r, t->at, "unsupported primitive type %s: a complex value is written (re, im)",
                            upper_name(r, s->shape->type));
    } else {
        ok = store_integer(s, t);
    }
    if (!ok) return false;
    s->next++;
    hlo_skip(r);
    return true;
}

// ---- arrays ---------------------------------------------------------------------------------------------

// Which brace we are in: level 0 is outside, level k holds the items of dimension k-1.
typedef struct Nest {
    size_t level;
    int64_t *seen;  // per dimension, items of the open group
} Nest;

// `[i,j]`: the position of the group that is open at `level`.
static const char *position_text(HloReader *r, const Nest *nest, size_t level) {
    HloBuffer text = {0};
    hlo_put_char(&text, '[');
    for (size_t d = 0; d + 1 < level; d++) hlo_putf(&text, d ? ",%lld" : "%lld", (long long)nest->seen[d] - 1);
    hlo_put_char(&text, ']');
    const char *copy = hlo_arena_string(r->scratch, text.data ? text.data : "", text.size);
    hlo_buffer_free(&text);
    return copy;
}

static bool open_brace(Sink *s, Nest *nest) {
    const HloShape *shape = s->shape;
    if (nest->level == shape->rank)
        return hlo_read_error(s->r, hlo_here(s->r), "expects nested array in rank %zu, but sees larger", shape->rank);
    if (nest->level > 0 && ++nest->seen[nest->level - 1] > hlo_size_items(shape->dims[nest->level - 1]))
        return hlo_read_error(s->r, hlo_here(s->r), "expects %lld elements in the %sth element, but sees more",
                              (long long)hlo_size_items(shape->dims[nest->level - 1]),
                              position_text(s->r, nest, nest->level));
    nest->level++;
    hlo_skip(s->r);
    return true;
}

static bool close_brace(Sink *s, Nest *nest) {
    if (nest->level == 0) return hlo_read_error(s->r, hlo_here(s->r), "unexpected '}' token");
    int64_t want = hlo_size_items(s->shape->dims[nest->level - 1]), seen = nest->seen[nest->level - 1];
    if (seen != want)
        return hlo_read_error(s->r, hlo_here(s->r), "expects %lld elements in the %sth element, but sees %lld",
                              (long long)want, position_text(s->r, nest, nest->level), (long long)seen);
    nest->seen[nest->level - 1] = 0;
    nest->level--;
    hlo_skip(s->r);
    return true;
}

// A value inside braces stands in the innermost dimension. One without any braces is taken as the first element of an
// array whose other elements are zero, which the language accepts though it looks like a splat. A complex one must have
// its braces.
static bool element(Sink *s, Nest *nest) {
    const HloShape *shape = s->shape;
    if (nest->level > 0 || hlo_tok(s->r) == HLO_TOK_LPAREN) {
        if (nest->level != shape->rank)
            return hlo_read_error(s->r, hlo_here(s->r), "expects nested array in rank %zu, but sees %zu", shape->rank,
                                  nest->level);
        if (shape->rank && ++nest->seen[shape->rank - 1] > hlo_size_items(shape->dims[shape->rank - 1]))
            return hlo_read_error(s->r, hlo_here(s->r),
                                  "expects %lld elements on the minor-most dimension, but sees more",
                                  (long long)hlo_size_items(shape->dims[shape->rank - 1]));
    }
    return store_value(s);
}

static bool read_elements(Sink *s) {
    HloReader *r = s->r;
    Nest nest = {0, HLO_NEW_ARRAY(r->scratch, int64_t, s->shape->rank + 1)};
    do {
        bool ok = true;
        switch ((int)hlo_tok(r)) {
        case HLO_TOK_LBRACE: ok = open_brace(s, &nest); break;
        case HLO_TOK_RBRACE: ok = close_brace(s, &nest); break;
        case HLO_TOK_COMMA: hlo_skip(r); break;  // commas are mere decoration
        case HLO_TOK_DOTS:
            return hlo_read_error(r, hlo_here(r), "expects `...` at nest level 1, but sees it at nest level %zu",
                                  nest.level);
        case HLO_TOK_TRUE:
        case HLO_TOK_FALSE:
        case HLO_TOK_INT:
        case HLO_TOK_DECIMAL:
        case HLO_TOK_NAN:
        case HLO_TOK_INF:
        case HLO_TOK_LPAREN: ok = element(s, &nest); break;
        default: ok = hlo_read_error(r, hlo_here(r), "unexpected token type in a literal");
        }
        if (!ok) return false;
    } while (nest.level > 0);
    return true;
}

// ---- elided arrays --------------------------------------------------------------------------------------

// Small ones get their bytes, as long as a module's dots do not ask for much memory in all.
static bool stores_elided(HloReader *r, const HloShape *shape) {
    size_t size_bytes;
    if (!hlo_literal_size_bytes(shape, &size_bytes) || size_bytes > HLO_ELIDED_LIMIT_BYTES) return false;
    r->elided_bytes += size_bytes;
    return r->elided_bytes <= HLO_ELIDED_STORE_BYTES;
}

static bool new_elided(HloReader *r, const HloShape *shape, HloLiteral **out) {
    bool store = stores_elided(r, shape);
    HloStatus status = hlo_literal_new_elided(r->arena, shape, r->zero_elided, store, &r->filler, out);
    if (hlo_is_ok(status)) return true;
    hlo_read_error(r, hlo_here(r), "%s", hlo_status_message(status));
    hlo_status_free(status);
    return false;
}

// "{" "..." "}": filler words that never repeat in a module, or zeros.
static bool skip_dots(HloReader *r) {
    hlo_skip(r);
    hlo_skip(r);
    while (hlo_accept(r, HLO_TOK_COMMA)) {
    }
    return hlo_expect(r, HLO_TOK_RBRACE, "expects '}' behind `...`");
}

// A scalar is never elided; tuples are, by printers that show no large constants.
static bool at_elided(const HloReader *r, const HloShape *shape) {
    if (hlo_tok(r) != HLO_TOK_LBRACE || hlo_lex_peek(&r->lex) != '.' || hlo_shape_is_scalar(shape)) return false;
    HloLexer ahead = r->lex;
    hlo_lex_next(&ahead);
    return ahead.token.kind == HLO_TOK_DOTS;
}

// ---- any shape ------------------------------------------------------------------------------------------

// An array in braces costs memory only when the text can hold its values, each of which takes a character at least. For
// those without braces, which have one value (see `element`), a module has some memory in all.
static bool text_backs(HloReader *r, const HloShape *shape) {
    enum { MOST_UNBACKED_BYTES = 256 << 20 };
    size_t size_bytes;
    if (!hlo_literal_size_bytes(shape, &size_bytes)) return false;
    if (hlo_tok(r) == HLO_TOK_LBRACE)
        return (uint64_t)hlo_shape_elem_count(shape) <= (uint64_t)(r->lex.end - hlo_here(r));
    if (size_bytes > MOST_UNBACKED_BYTES - r->unbacked_bytes) return false;
    r->unbacked_bytes += size_bytes;
    return true;
}

static bool read_array(HloReader *r, const HloShape *shape, HloLiteral **out) {
    if (r->eliding || at_elided(r, shape)) return (r->eliding || skip_dots(r)) && new_elided(r, shape, out);
    const char *at = hlo_here(r);
    if (hlo_shape_is_dynamic(shape)) shape = hlo_shape_static(r->shapes, shape);
    if (!text_backs(r, shape))
        return hlo_read_error(r, at, "%s needs %lld values, more than the text has left",
                              hlo_shape_text(r->scratch, shape, false), (long long)hlo_shape_elem_count(shape));
    Sink s = {.r = r, .shape = shape};
    HloStatus status = hlo_literal_new(r->arena, shape, &s.literal);
    if (!hlo_is_ok(status)) {
        hlo_read_error(r, at, "%s", hlo_status_message(status));
        hlo_status_free(status);
        return false;
    }
    *out = s.literal;
    return read_elements(&s);
}

// A tuple whose elements are being read.
typedef struct OpenTuple {
    HloLiteral *literal;
    size_t next;
    const char *at;
} OpenTuple;

static HloLiteral *new_tuple(HloReader *r, const HloShape *shape) {
    HloLiteral *literal = HLO_NEW(r->arena, HloLiteral);
    literal->shape = shape;
    literal->elements = HLO_NEW_ARRAY(r->arena, HloLiteral *, shape->rank);
    return literal;
}

static bool read_leaf(HloReader *r, const HloShape *shape, HloLiteral **out) {
    if (hlo_shape_is_array(shape)) return read_array(r, shape, out);
    return hlo_read_error(r, hlo_here(r), "a literal of shape %s cannot be written",
                          hlo_shape_text(r->scratch, shape, false));
}

static bool open_tuple(HloReader *r, const HloShape *shape, HloItems *open, HloLiteral **place) {
    const char *at = hlo_here(r);
    if (!hlo_enter(r, 1)) return false;
    if (!r->eliding && !hlo_expect(r, HLO_TOK_LPAREN, "expects '(' in front of tuple elements")) return false;
    *place = new_tuple(r, shape);
    *(OpenTuple *)hlo_items_push(r, open, sizeof(OpenTuple)) = (OpenTuple){*place, 0, at};
    return true;
}

// Closes the tuples that are complete; the innermost one left, or NULL.
static bool close_tuples(HloReader *r, HloItems *open, OpenTuple **left) {
    for (*left = NULL; open->count; open->count--) {
        OpenTuple *top = (OpenTuple *)open->data + open->count - 1;
        size_t rank = top->literal->shape->rank;
        if (top->next < rank) {
            *left = top;
            return true;
        }
        if (!r->eliding && !hlo_accept(r, HLO_TOK_RPAREN))
            return hlo_read_error(r, hlo_here(r), "expects ')' at the end of the tuple with %zu elements", rank);
        hlo_leave(r, 1);
    }
    return true;
}

static bool read_part(HloReader *r, const HloShape *shape, HloItems *open, HloLiteral **place) {
    if (hlo_shape_is_tuple(shape)) return open_tuple(r, shape, open, place);
    if (read_leaf(r, shape, place)) return true;
    if (!open->count) return false;
    const OpenTuple *top = (const OpenTuple *)open->data + open->count - 1;
    return hlo_read_note(r, top->at, "expects the %zuth element", top->next - 1);
}

// literal = array | "(" (literal ("," literal)*)? ")" | elided     with as many elements as the shape says
static bool read_parts(HloReader *r, const HloShape *shape, HloLiteral **out) {
    HloItems open = {0};
    HloLiteral **place = out;
    for (;;) {
        OpenTuple *top;
        if (!read_part(r, shape, &open, place) || !close_tuples(r, &open, &top)) return false;
        if (!top) return true;
        if (top->next > 0) hlo_accept(r, HLO_TOK_COMMA);
        shape = top->literal->shape->elements[top->next];
        place = &top->literal->elements[top->next++];
    }
}

bool hlo_read_literal_of(HloReader *r, const HloShape *shape, HloLiteral **out) {
    if (!hlo_shape_is_tuple(shape) || !at_elided(r, shape)) return read_parts(r, shape, out);
    if (!skip_dots(r)) return false;
    r->eliding = true;
    bool ok = read_parts(r, shape, out);
    r->eliding = false;
    return ok;
}

// A shape and its value. The layout must follow the shape directly, for `s32[2] {1, 0}` is a value.
static bool read_typed_leaf(HloReader *r, HloLiteral **out) {
    const HloShape *shape;
    r->adjacent_layouts = true;
    bool ok = hlo_read_shape(r, &shape);
    r->adjacent_layouts = false;
    return ok && hlo_read_literal_of(r, shape, out);
}

// Makes a tuple of the finished literals from `base` on.
static HloLiteral *close_typed(HloReader *r, HloVec *done, size_t base) {
    size_t count = done->count - base;
    const HloShape **shapes = HLO_NEW_ARRAY(r->scratch, const HloShape *, count + 1);
    for (size_t k = 0; k < count; k++) shapes[k] = ((HloLiteral *)done->items[base + k])->shape;
    HloLiteral *tuple = new_tuple(r, hlo_shape_tuple(r->shapes, shapes, count));
    for (size_t k = 0; k < count; k++) tuple->elements[k] = done->items[base + k];
    done->count = base;
    return tuple;
}

// typed = shape literal | "(" (typed ("," typed)*)? ")"
bool hlo_read_typed_literal(HloReader *r, HloLiteral **out) {
    HloInts bases = {0};
    HloVec done = {0};
    do {
        if (hlo_tok(r) == HLO_TOK_LPAREN) {
            if (!hlo_enter(r, 1)) return false;
            hlo_skip(r);
            hlo_ints_push(r->scratch, &bases, (int64_t)done.count);
            if (hlo_tok(r) != HLO_TOK_RPAREN) continue;
        } else {
            HloLiteral *leaf = NULL;
            if (!read_typed_leaf(r, &leaf)) return false;
            hlo_vec_push(r->scratch, &done, leaf);
        }
        while (bases.count) {
            if (hlo_accept(r, HLO_TOK_COMMA)) break;
            if (!hlo_expect(r, HLO_TOK_RPAREN, "expects ')' at the end of a tuple literal")) return false;
            hlo_leave(r, 1);
            bases.count--;
            hlo_vec_push(r->scratch, &done, close_typed(r, &done, (size_t)bases.items[bases.count]));
        }
    } while (bases.count);
    *out = done.items[0];
    return true;
}
