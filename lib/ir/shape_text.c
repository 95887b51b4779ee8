// Shapes and layouts as text (printing chapter, §10).
//
// Tuples nest no deeper than the reader's limit, so the recursion here is bounded.

#include "hlo/shape.h"

enum { TUPLE_INDEX_INTERVAL = 5 };  // `/*index=5*/` in front of every fifth tuple element, in every preset

static void put_tile(HloBuffer *out, HloDims dims) {
    hlo_put_char(out, '(');
    for (size_t i = 0; i < dims.count; i++) {
        if (i) hlo_put_char(out, ',');
        if (dims.data[i] == HLO_TILE_COMBINE)
            hlo_put_char(out, '*');
        else
            hlo_put_int(out, dims.data[i]);
    }
    hlo_put_char(out, ')');
}

static void put_tagged_int(HloBuffer *out, const char *tag, int64_t value) {
    hlo_put_string(out, tag);
    hlo_put_char(out, '(');
    hlo_put_int(out, value);
    hlo_put_char(out, ')');
}

// `#(u32)`; types that cannot index print `invalid`.
static void put_tagged_type(HloBuffer *out, char tag, HloType type) {
    hlo_put_char(out, tag);
    hlo_put_char(out, '(');
    hlo_put_string(out, hlo_type_is_integral(type) ? hlo_type_name(type) : "invalid");
    hlo_put_char(out, ')');
}

static void put_splits(HloBuffer *out, const HloLayout *layout) {
    hlo_put(out, "SC", 2);
    for (size_t i = 0; i < layout->split_count; i++) {
        const HloSplit *split = &layout->splits[i];
        hlo_put_char(out, '(');
        hlo_put_int(out, split->dimension);
        hlo_put_char(out, ':');
        for (size_t k = 0; k < split->indices.count; k++) {
            if (k) hlo_put_char(out, ',');
            hlo_put_int(out, split->indices.data[k]);
        }
        hlo_put_char(out, ')');
    }
}

// Everything behind the colon, in the order the grammar demands.
static void put_layout_parts(HloBuffer *out, const HloLayout *layout) {
    if (layout->tile_count) hlo_put_char(out, 'T');
    for (size_t i = 0; i < layout->tile_count; i++) put_tile(out, layout->tiles[i].dims);
    if (layout->tail_alignment != 1) put_tagged_int(out, "L", layout->tail_alignment);
    if (layout->index_type != HLO_TYPE_COUNT) put_tagged_type(out, '#', layout->index_type);
    if (layout->pointer_type != HLO_TYPE_COUNT) put_tagged_type(out, '*', layout->pointer_type);
    if (layout->element_bits) put_tagged_int(out, "E", layout->element_bits);
    if (layout->memory_space) put_tagged_int(out, "S", layout->memory_space);
    if (layout->split_count) put_splits(out, layout);
    if (layout->physical) {
        hlo_put(out, "P(", 2);
        hlo_put_shape(out, layout->physical, true);
        hlo_put_char(out, ')');
    }
    if (layout->metadata_prefix_bytes > 0) put_tagged_int(out, "M", layout->metadata_prefix_bytes);
}

void hlo_put_layout(HloBuffer *out, const HloLayout *layout) {
    hlo_put_char(out, '{');
    for (size_t i = 0; i < layout->rank; i++) {
        if (i) hlo_put_char(out, ',');
        hlo_put_int(out, layout->minor_to_major[i]);
    }
    size_t colon = out->size;
    hlo_put_char(out, ':');
    put_layout_parts(out, layout);
    if (out->size == colon + 1) out->size = colon;  // there was nothing behind it
    hlo_put_char(out, '}');
}

static void put_dim(HloBuffer *out, int64_t size, bool dynamic) {
    if (size == HLO_UNBOUNDED) {
        hlo_put_char(out, '?');
        return;
    }
    if (dynamic) hlo_put(out, "<=", 2);
    hlo_put_int(out, size);
}

static void put_array(HloBuffer *out, const HloShape *shape, bool with_layout) {
    hlo_put_string(out, hlo_type_name(shape->type));
    hlo_put_char(out, '[');
    for (size_t d = 0; d < shape->rank; d++) {
        if (d) hlo_put_char(out, ',');
        put_dim(out, shape->dims[d], shape->dynamic && shape->dynamic[d]);
    }
    hlo_put_char(out, ']');
    if (!with_layout || !shape->layout) return;
    // A scalar's layout says something only behind the colon.
    if (shape->rank == 0 && hlo_layout_is_default(shape->layout)) return;
    hlo_put_layout(out, shape->layout);
}

static void put_tuple(HloBuffer *out, const HloShape *shape, bool with_layout) {
    hlo_put_char(out, '(');
    for (size_t i = 0; i < shape->rank; i++) {
        if (i) hlo_put(out, ", ", 2);
        if (i && i % TUPLE_INDEX_INTERVAL == 0) {
            hlo_put_string(out, "/*index=");
            hlo_put_uint(out, i);
            hlo_put_string(out, "*/");
        }
        hlo_put_shape(out, shape->elements[i], with_layout);
    }
    hlo_put_char(out, ')');
}

void hlo_put_shape(HloBuffer *out, const HloShape *shape, bool with_layout) {
    switch (hlo_type_class(shape->type)) {
    case HLO_CLASS_TUPLE: put_tuple(out, shape, with_layout); return;
    case HLO_CLASS_BUFFER:
        hlo_put(out, "b(", 2);
        hlo_put_shape(out, shape->elements[0], with_layout);
        hlo_put_char(out, ')');
        return;
    case HLO_CLASS_TOKEN:
    case HLO_CLASS_OPAQUE:
        hlo_put_string(out, hlo_type_name(shape->type));
        hlo_put(out, "[]", 2);
        return;
    case HLO_CLASS_PRED:
    case HLO_CLASS_SIGNED:
    case HLO_CLASS_UNSIGNED:
    case HLO_CLASS_FLOAT:
    case HLO_CLASS_COMPLEX: put_array(out, shape, with_layout); return;
    }
}

const char *hlo_shape_text(HloArena *arena, const HloShape *shape, bool with_layout) {
    HloBuffer text = {0};
    hlo_put_shape(&text, shape, with_layout);
    const char *copy = hlo_arena_string(arena, text.data ? text.data : "", text.failed ? 0 : text.size);
    hlo_buffer_free(&text);
    return copy;
}
