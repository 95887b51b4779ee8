// Shapes and layouts (grammar chapter, §6).
//
// Tuples are read with an explicit stack. Array shapes written without blanks, which is nearly all of them, are looked
// up by their spelling: a module repeats few shapes many times.

#include "parse.h"

// ---- layouts --------------------------------------------------------------------------------------------

// What stands behind the colon, gathered before it is interned.
typedef struct LayoutParts {
    HloLayout layout;
    HloItems tiles;
    HloItems splits;
} LayoutParts;

// "(" int ")"
static bool read_parenthesised(HloReader *r, int64_t *out) {
    return hlo_expect(r, HLO_TOK_LPAREN, "expects '(' in layout") && hlo_read_int(r, out) &&
           hlo_expect(r, HLO_TOK_RPAREN, "expects ')' in layout");
}

// level = ("D" | "C" | "S" | "H") "+"? "~"?     read and forgotten, as the language says
static bool read_level(HloReader *r, void *data) {
    (void)data;
    bool known = hlo_at_word(r, "D") || hlo_at_word(r, "C") || hlo_at_word(r, "S") || hlo_at_word(r, "H");
    if (!known) return hlo_read_error(r, hlo_here(r), "expected a DimLevelType abbreviation (D, C, or S)");
    hlo_skip(r);
    hlo_accept(r, HLO_TOK_PLUS);
    hlo_accept(r, HLO_TOK_TILDE);
    return true;
}

static bool read_tile_dim(HloReader *r, void *data) {
    (void)data;
    int64_t size = HLO_TILE_COMBINE;
    if (!hlo_accept(r, HLO_TOK_ASTERISK)) {
        const char *at = hlo_here(r);
        if (!hlo_read_int(r, &size)) return false;
        if (size < 0) return hlo_read_error(r, at, "tile sizes must not be negative");
    }
    hlo_ints_push(r->scratch, &r->ints, size);
    return true;
}

// tiles = ("(" (int | "*") ("," …)* ")")+
static bool read_tiles(HloReader *r, LayoutParts *parts) {
    do {
        r->ints.count = 0;
        if (!hlo_read_list(r, HLO_TOK_LPAREN, HLO_TOK_RPAREN, read_tile_dim, NULL)) return false;
        HloTile *tile = hlo_items_push(r, &parts->tiles, sizeof *tile);
        tile->dims = hlo_dims_copy(r->scratch, (HloDims){r->ints.items, r->ints.count});
    } while (hlo_tok(r) == HLO_TOK_LPAREN);
    return true;
}

// splits = ("(" int ":" int ("," int)* ")")+
static bool read_splits(HloReader *r, LayoutParts *parts) {
    do {
        HloSplit split;
        if (!hlo_expect(r, HLO_TOK_LPAREN, "expects '(' in layout")) return false;
        if (!hlo_read_int(r, &split.dimension)) return false;
        if (!hlo_expect(r, HLO_TOK_COLON, "expects ':' in split configuration")) return false;
        r->ints.count = 0;
        do {
            int64_t index = 0;
            if (!hlo_read_int(r, &index)) return false;
            hlo_ints_push(r->scratch, &r->ints, index);
        } while (hlo_accept(r, HLO_TOK_COMMA));
        if (!hlo_expect(r, HLO_TOK_RPAREN, "expects ')' in layout")) return false;
        split.indices = hlo_dims_copy(r->scratch, (HloDims){r->ints.items, r->ints.count});
        *(HloSplit *)hlo_items_push(r, &parts->splits, sizeof split) = split;
    } while (hlo_tok(r) == HLO_TOK_LPAREN);
    return true;
}

// "(" unsigned type ")"
static bool read_index_type(HloReader *r, HloType *out) {
    if (!hlo_expect(r, HLO_TOK_LPAREN, "expects '(' in layout")) return false;
    const HloToken *t = &r->lex.token;
    if (t->kind != HLO_TOK_TYPE || hlo_type_class(t->type) != HLO_CLASS_UNSIGNED)
        return hlo_read_error(r, t->at, "expecting an unsigned integer type");
    *out = t->type;
    hlo_skip(r);
    return hlo_expect(r, HLO_TOK_RPAREN, "expects ')' in layout");
}

static bool read_tail_alignment(HloReader *r, HloLayout *layout) {
    const char *at = hlo_here(r);
    if (!read_parenthesised(r, &layout->tail_alignment)) return false;
    return layout->tail_alignment >= 1 || hlo_read_error(r, at, "the tail padding alignment must be at least 1");
}

static bool accept_word(HloReader *r, const char *word) {
    if (!hlo_at_word(r, word)) return false;
    hlo_skip(r);
    return true;
}

// parts = D? T? L? ("#" type)? ("*" type)? E? S? SC? P? M?     in this order
static bool read_parts(HloReader *r, LayoutParts *parts) {
    HloLayout *layout = &parts->layout;
    if (accept_word(r, "D") && !hlo_read_list(r, HLO_TOK_LPAREN, HLO_TOK_RPAREN, read_level, NULL)) return false;
    if (accept_word(r, "T") && !read_tiles(r, parts)) return false;
    if (accept_word(r, "L") && !read_tail_alignment(r, layout)) return false;
    if (hlo_accept(r, HLO_TOK_SHARP) && !read_index_type(r, &layout->index_type)) return false;
    if (hlo_accept(r, HLO_TOK_ASTERISK) && !read_index_type(r, &layout->pointer_type)) return false;
    if (accept_word(r, "E") && !read_parenthesised(r, &layout->element_bits)) return false;
    if (accept_word(r, "S") && !read_parenthesised(r, &layout->memory_space)) return false;
    if (accept_word(r, "SC") && !read_splits(r, parts)) return false;
    if (hlo_at_word(r, "P"))
        return hlo_read_error(r, hlo_here(r), "Layout has physical shape, but is not for a sparse array");
    if (accept_word(r, "M") && !read_parenthesised(r, &layout->metadata_prefix_bytes)) return false;
    return true;
}

static bool is_permutation(HloReader *r, HloDims dims) {
    HloBits seen = hlo_bits_new(r->scratch, dims.count);
    for (size_t i = 0; i < dims.count; i++) {
        if (dims.data[i] < 0 || (uint64_t)dims.data[i] >= dims.count) return false;
        if (!hlo_bits_claim(seen, (size_t)dims.data[i])) return false;
    }
    return true;
}

// layout = "{" (int ("," int)*)? (":" parts)? "}"
static bool read_layout(HloReader *r, size_t rank, LayoutParts *parts) {
    const char *at = hlo_here(r);
    hlo_skip(r);
    r->ints.count = 0;
    while (hlo_tok(r) == HLO_TOK_INT) {
        hlo_ints_push(r->scratch, &r->ints, r->lex.token.integer);
        hlo_skip(r);
        if (!hlo_accept(r, HLO_TOK_COMMA)) break;
        if (hlo_tok(r) != HLO_TOK_INT) return hlo_read_error(r, hlo_here(r), "expects integer");
    }
    HloDims order = hlo_dims_copy(r->scratch, (HloDims){r->ints.items, r->ints.count});
    if (hlo_accept(r, HLO_TOK_COLON) && !read_parts(r, parts)) return false;
    if (!hlo_expect(r, HLO_TOK_RBRACE, "expects layout to end with kRbrace")) return false;
    if (order.count != rank)
        return hlo_read_error(r, at, "Dimensions size is %zu, but minor to major size is %zu.", rank, order.count);
    if (!is_permutation(r, order))
        return hlo_read_error(r, at, "the minor-to-major order must name each of the %zu dimensions once", rank);
    parts->layout.minor_to_major = order.data;
    parts->layout.rank = rank;
    parts->layout.tiles = (const HloTile *)parts->tiles.data;
    parts->layout.tile_count = parts->tiles.count;
    parts->layout.splits = (const HloSplit *)parts->splits.data;
    parts->layout.split_count = parts->splits.count;
    return true;
}

// A `{` behind a shape is a layout only when this follows; otherwise it may open a computation's body.
static bool at_layout(const HloReader *r) {
    if (hlo_tok(r) != HLO_TOK_LBRACE) return false;
    if (r->adjacent_layouts && hlo_here(r)[-1] != ']') return false;
    char c = hlo_lex_peek(&r->lex);
    return c == ':' || c == '-' || (c >= '0' && c <= '9');
}

// ---- array shapes ---------------------------------------------------------------------------------------

typedef struct Dimensions {
    HloInts sizes;
    HloInts dynamic;
    bool any_dynamic;
} Dimensions;

// dim = int | "<=" int | "?"
static bool read_dim(HloReader *r, void *data) {
    Dimensions *dims = data;
    const char *at = hlo_here(r);
    int64_t size = HLO_UNBOUNDED;
    bool unbounded = hlo_accept(r, HLO_TOK_QUESTION);
    bool dynamic = unbounded || hlo_accept(r, HLO_TOK_LESS_EQUAL);
    if (!unbounded && !hlo_read_int(r, &size)) return false;
    if (!unbounded && size < 0) return hlo_read_error(r, at, "dimension sizes must not be negative");
    hlo_ints_push(r->scratch, &dims->sizes, size);
    hlo_ints_push(r->scratch, &dims->dynamic, dynamic);
    dims->any_dynamic |= dynamic;
    return true;
}

// The byte size must fit 63 bits, so that nothing later can overflow.
static bool size_fits(HloType type, const Dimensions *dims) {
    int64_t bits = hlo_type_bits(type) ? hlo_type_bits(type) : 8;
    int64_t total = (bits + 7) / 8;
    for (size_t d = 0; d < dims->sizes.count; d++) {
        int64_t size = dims->sizes.items[d];
        if (size != HLO_UNBOUNDED && !hlo_i64_mul(total, size, &total)) return false;
    }
    return true;
}

static const HloShape *make_array(HloReader *r, HloType type, const Dimensions *dims, const HloLayout *layout) {
    size_t rank = dims->sizes.count;
    bool *dynamic = NULL;
    if (dims->any_dynamic) {
        dynamic = HLO_NEW_ARRAY(r->scratch, bool, rank);
        for (size_t d = 0; d < rank; d++) dynamic[d] = dims->dynamic.items[d];
    }
    if (!layout && (rank == 0 || !r->keep_missing_layouts)) layout = hlo_layout_default(r->shapes, rank);
    return hlo_shape_array(r->shapes, type, dims->sizes.items, dynamic, rank, layout);
}

static bool read_array_fully(HloReader *r, const HloShape **out) {
    const char *at = hlo_here(r);
    HloType type = r->lex.token.type;
    if (!hlo_version_has_type(r, at, type)) return false;
    hlo_skip(r);
    Dimensions dims = {0};
    if (!hlo_read_list(r, HLO_TOK_LSQUARE, HLO_TOK_RSQUARE, read_dim, &dims)) return false;
    if (!size_fits(type, &dims)) return hlo_read_error(r, at, "the size of this array does not fit 63 bits");
    LayoutParts parts = {.layout = {.tail_alignment = 1, .index_type = HLO_TYPE_COUNT, .pointer_type = HLO_TYPE_COUNT}};
    bool has_layout = at_layout(r);
    const char *layout_at = hlo_here(r);
    if (has_layout && !read_layout(r, dims.sizes.count, &parts)) return false;
    if (hlo_type_is_array(type)) {
        *out = make_array(r, type, &dims, has_layout ? &parts.layout : NULL);
        return true;
    }
    if (dims.sizes.count) return hlo_read_error(r, at, "%s has no dimensions", hlo_type_name(type));
    if (has_layout) return hlo_read_error(r, layout_at, "%s has no layout", hlo_type_name(type));
    *out = type == HLO_TOKEN ? hlo_shape_token(r->shapes) : hlo_shape_opaque(r->shapes);
    return true;
}

// The end of an array shape that has only digits and commas between its brackets and braces, or NULL.
static const char *plain_end(const HloReader *r) {
    const char *p = r->lex.next, *end = r->lex.end;
    if (p == end || *p++ != '[') return NULL;
    while (p < end && ((*p >= '0' && *p <= '9') || *p == ',')) p++;
    if (p == end || *p++ != ']') return NULL;
    if (p == end) return NULL;
    if (*p == ' ' && p + 1 < end && p[1] != '{') return p;
    if (*p == ',' || *p == ')') return p;
    if (*p++ != '{' || p == end || *p < '0' || *p > '9') return NULL;
    while (p < end && ((*p >= '0' && *p <= '9') || *p == ',')) p++;
    return p < end && *p == '}' ? p + 1 : NULL;
}

// array = type "[" (dim ("," dim)*)? "]" layout?
static bool read_array(HloReader *r, const HloShape **out) {
    const char *at = hlo_here(r);
    const char *end = plain_end(r);
    if (!end) return read_array_fully(r, out);
    size_t size = (size_t)(end - at);
    const HloNameSlot *known = hlo_names_find(&r->shape_texts, at, size);
    if (known) {
        *out = known->value;
        r->lex.next = end;
        hlo_skip(r);
        return true;
    }
    if (!read_array_fully(r, out)) return false;
    bool is_new;
    hlo_names_at(r->scratch, &r->shape_texts, at, size, &is_new)->value = (void *)*out;
    return true;
}

// ---- all shapes -----------------------------------------------------------------------------------------

static bool at_buffer(const HloReader *r) {
    return hlo_at_word(r, "b") && hlo_lex_peek(&r->lex) == '(';
}

bool hlo_at_shape(const HloReader *r) {
    return hlo_tok(r) == HLO_TOK_TYPE || hlo_tok(r) == HLO_TOK_LPAREN || at_buffer(r);
}

// An open parenthesis: where its elements start in r->shape_stack, or the same negated minus 1 for `b(`.
static void open_frame(HloReader *r, bool buffer) {
    int64_t base = (int64_t)r->shape_stack.count;
    hlo_ints_push(r->scratch, &r->shape_frames, buffer ? -base - 1 : base);
}

static const HloShape *close_tuple(HloReader *r, size_t base) {
    size_t count = r->shape_stack.count - base;
    const HloShape *const *elements = count ? (const HloShape *const *)(r->shape_stack.items + base) : NULL;
    return hlo_shape_tuple(r->shapes, elements, count);
}

// Closes what ends behind a complete shape. *more tells that an element follows.
static bool close_frames(HloReader *r, size_t first_frame, bool empty_tuple, bool *more) {
    *more = false;
    while (r->shape_frames.count > first_frame) {
        int64_t base = r->shape_frames.items[r->shape_frames.count - 1];
        bool buffer = base < 0;
        if (buffer) base = -base - 1;
        if (!buffer && !empty_tuple && hlo_accept(r, HLO_TOK_COMMA)) {
            *more = true;
            return true;
        }
        empty_tuple = false;
        const char *message = buffer ? "expects ')' at the end of buffer shape." : "expects ')' at the end of tuple.";
        if (!hlo_expect(r, HLO_TOK_RPAREN, message)) return false;
        const HloShape *shape;
        if (buffer) {
            const HloShape *element = hlo_vec_pop(&r->shape_stack);
            if (!hlo_shape_is_array(element)) return hlo_read_error(r, hlo_here(r), "a buffer shape holds one array");
            shape = hlo_shape_buffer(r->shapes, element);
        } else {
            shape = close_tuple(r, (size_t)base);
            r->shape_stack.count = (size_t)base;
        }
        hlo_vec_push(r->scratch, &r->shape_stack, shape);
        r->shape_frames.count--;
        hlo_leave(r, 1);
    }
    return true;
}

// shape = array | "(" (shape ("," shape)*)? ")" | "b(" shape ")"
bool hlo_read_shape(HloReader *r, const HloShape **out) {
    size_t first_frame = r->shape_frames.count;
    bool more = true;
    while (more) {
        bool empty_tuple = false;
        bool buffer = at_buffer(r);
        if (buffer) hlo_skip(r);
        if (hlo_tok(r) == HLO_TOK_LPAREN) {
            if (!hlo_enter(r, 1)) return false;
            hlo_skip(r);
            open_frame(r, buffer);
            empty_tuple = !buffer && hlo_tok(r) == HLO_TOK_RPAREN;
            if (!empty_tuple) continue;
        } else if (hlo_tok(r) == HLO_TOK_TYPE) {
            const HloShape *shape;
            const char *at = hlo_here(r);
            if (!read_array(r, &shape)) return false;
            if (r->shape_frames.count == first_frame) {
                *out = shape;
                return true;
            }
            // Outside of tuples that is the verifier's business.
            bool in_tuple = r->shape_frames.items[first_frame] >= 0;
            const char *fault = in_tuple ? hlo_shape_layout_fault(shape) : NULL;
            if (fault) return hlo_read_error(r, at, "%s", fault);
            hlo_vec_push(r->scratch, &r->shape_stack, shape);
        } else {
            const HloToken *t = &r->lex.token;
            const char *hint = t->kind == HLO_TOK_IDENT ? hlo_hint_of_types(r, t->text, t->size) : "";
            return hlo_read_error(r, t->at, "expected primitive type, saw %s%s", hlo_token_name(t->kind), hint);
        }
        if (!close_frames(r, first_frame, empty_tuple, &more)) return false;
    }
    *out = hlo_vec_pop(&r->shape_stack);
    return true;
}
