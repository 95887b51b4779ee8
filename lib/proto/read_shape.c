// Shapes and layouts from messages, checked as readers of modules check them (protobuf chapter, §7).

#include "reader.h"

// ---- element types ---------------------------------------------------------------------------------------

static bool find_type(HloProtoReader *r, int number, HloType *out) {
    if (!r->types.count) {
        for (int t = 0; t < HLO_TYPE_COUNT; t++) {
            const void *key = hlo_id_key((uint64_t)hlo_type_info((HloType)t)->proto_number);
            *hlo_map_at(r->scratch, &r->types, key) = (void *)(uintptr_t)(t + 1);
        }
    }
    uintptr_t found = number > 0 ? (uintptr_t)hlo_map_find(&r->types, hlo_id_key((uint64_t)number)) : 0;
    if (found) *out = (HloType)(found - 1);
    return found != 0;
}

// The types of a sparse layout; 0 means none.
static HloStatus read_index_type(HloProtoReader *r, int number, HloType *out) {
    *out = HLO_TYPE_COUNT;
    if (number == 0 || find_type(r, number, out)) return hlo_ok();
    return hlo_error(HLO_INVALID_ARGUMENT, "layout: Invalid element type %d.", number);
}

// ---- layouts ---------------------------------------------------------------------------------------------

static HloStatus check_order(HloProtoReader *r, const Xla__LayoutProto *from, size_t rank) {
    if (from->n_minor_to_major != rank)
        return hlo_error(HLO_INVALID_ARGUMENT,
                         "layout minor_to_major field contains %zu elements, but shape has %zu dimensions",
                         from->n_minor_to_major, rank);
    HloBits seen = hlo_bits_new(r->scratch, rank);
    for (size_t i = 0; i < rank; i++) {
        int64_t d = from->minor_to_major[i];
        if (d < 0 || (uint64_t)d >= rank)
            return hlo_error(HLO_INVALID_ARGUMENT, "layout minor_to_major field has out-of-bounds value %lld",
                             (long long)d);
        if (!hlo_bits_claim(seen, (size_t)d))
            return hlo_error(HLO_INVALID_ARGUMENT, "layout minor_to_major field has duplicate values");
    }
    return hlo_ok();
}

static HloStatus read_tiles(HloProtoReader *r, const Xla__LayoutProto *from, HloLayout *layout) {
    HloTile *tiles = HLO_NEW_ARRAY(r->scratch, HloTile, from->n_tiles);
    for (size_t i = 0; i < from->n_tiles; i++) {
        tiles[i].dims = (HloDims){from->tiles[i]->dimensions, from->tiles[i]->n_dimensions};
        for (size_t d = 0; d < tiles[i].dims.count; d++) {
            int64_t size = tiles[i].dims.data[d];
            if (size < 0 && size != HLO_TILE_COMBINE)
                return hlo_error(HLO_INVALID_ARGUMENT, "layout has invalid tiles");
        }
    }
    layout->tiles = tiles;
    layout->tile_count = from->n_tiles;
    return hlo_ok();
}

static void read_splits(HloProtoReader *r, const Xla__LayoutProto *from, HloLayout *layout) {
    HloSplit *splits = HLO_NEW_ARRAY(r->scratch, HloSplit, from->n_split_configs);
    for (size_t i = 0; i < from->n_split_configs; i++) {
        const Xla__SplitConfigProto *split = from->split_configs[i];
        splits[i] = (HloSplit){split->dimension, {split->split_indices, split->n_split_indices}};
    }
    layout->splits = splits;
    layout->split_count = from->n_split_configs;
}

// What is set up here is copied when the layout is interned.
static HloStatus read_layout(HloProtoReader *r, const Xla__LayoutProto *from, size_t rank, HloLayout *out) {
    HLO_TRY(check_order(r, from, rank));
    *out = (HloLayout){.minor_to_major = from->minor_to_major, .rank = rank};
    HLO_TRY(read_tiles(r, from, out));
    read_splits(r, from, out);
    out->tail_alignment = from->tail_padding_alignment_in_elements ? from->tail_padding_alignment_in_elements : 1;
    out->element_bits = from->element_size_in_bits;
    out->memory_space = from->memory_space;
    out->metadata_prefix_bytes = from->dynamic_shape_metadata_prefix_bytes;
    if (out->tail_alignment < 0)
        return hlo_error(HLO_INVALID_ARGUMENT, "layout tail_padding_alignment_in_elements field is <= 0");
    if (out->element_bits < 0) return hlo_error(HLO_INVALID_ARGUMENT, "layout element_size_in_bits field is negative");
    HLO_TRY(read_index_type(r, (int)from->index_primitive_type, &out->index_type));
    HLO_TRY(read_index_type(r, (int)from->pointer_primitive_type, &out->pointer_type));
    return from->physical_shape ? hlo_read_proto_shape(r, from->physical_shape, &out->physical) : hlo_ok();
}

// ---- arrays ----------------------------------------------------------------------------------------------

static HloStatus check_sizes(HloType type, const Xla__ShapeProto *from) {
    int64_t total = (hlo_type_bits(type) + 7) / 8;
    for (size_t d = 0; d < from->n_dimensions; d++) {
        int64_t size = from->dimensions[d];
        if (size == HLO_UNBOUNDED) continue;
        if (size < 0)
            return hlo_error(HLO_INVALID_ARGUMENT, "Negative dimension at index %zu: %lld.", d, (long long)size);
        if (!hlo_i64_mul(total, size, &total)) return hlo_error(HLO_INVALID_ARGUMENT, "Dimensions overflow.");
    }
    return hlo_ok();
}

static HloStatus read_array(HloProtoReader *r, HloType type, const Xla__ShapeProto *from, const HloShape **out) {
    size_t rank = from->n_dimensions;
    HLO_TRY(check_sizes(type, from));
    if (from->n_is_dynamic_dimension && from->n_is_dynamic_dimension != rank)
        return hlo_error(HLO_INVALID_ARGUMENT,
                         "Malformed shape proto: number of is_dynamic_dimension fields (%zu) does not match number of "
                         "dimension fields (%zu).",
                         from->n_is_dynamic_dimension, rank);
    bool *dynamic = HLO_NEW_ARRAY(r->scratch, bool, rank), any = false;
    for (size_t d = 0; d < rank; d++) {
        dynamic[d] =
            from->dimensions[d] == HLO_UNBOUNDED || (from->n_is_dynamic_dimension && from->is_dynamic_dimension[d]);
        any = any || dynamic[d];
    }
    HloLayout layout;
    if (from->layout) HLO_TRY(read_layout(r, from->layout, rank, &layout));
    const HloLayout *used = from->layout ? &layout : rank == 0 ? hlo_layout_default(r->shapes, 0) : NULL;
    *out = hlo_shape_array(r->shapes, type, from->dimensions, any ? dynamic : NULL, rank, used);
    return hlo_ok();
}

// ---- all shapes ------------------------------------------------------------------------------------------

static HloStatus read_elements(HloProtoReader *r, HloType type, const Xla__ShapeProto *from, const HloShape **out) {
    const HloShape **elements = HLO_NEW_ARRAY(r->scratch, const HloShape *, from->n_tuple_shapes);
    if (type == HLO_BUFFER && from->n_tuple_shapes != 1)
        return hlo_error(HLO_INVALID_ARGUMENT, "Buffer shape must have exactly one tuple shape.");
    for (size_t i = 0; i < from->n_tuple_shapes; i++) {
        HLO_TRY(
            hlo_error_context(hlo_read_proto_shape(r, from->tuple_shapes[i], &elements[i]), "tuple_shapes[%zu]", i));
    }
    if (type == HLO_TUPLE) {
        *out = hlo_shape_tuple(r->shapes, elements, from->n_tuple_shapes);
        return hlo_ok();
    }
    if (!hlo_shape_is_array(elements[0])) return hlo_error(HLO_INVALID_ARGUMENT, "Buffer shape must have array shape.");
    *out = hlo_shape_buffer(r->shapes, elements[0]);
    return hlo_ok();
}

HloStatus hlo_read_proto_shape(HloProtoReader *r, const Xla__ShapeProto *from, const HloShape **out) {
    HloType type;
    if (!from) return hlo_error(HLO_INVALID_ARGUMENT, "there is no shape");
    if (!find_type(r, (int)from->element_type, &type))
        return hlo_error(HLO_INVALID_ARGUMENT, "Invalid element type %d.", (int)from->element_type);
    if (hlo_type_is_array(type)) {
        if (from->n_tuple_shapes)
            return hlo_error(HLO_INVALID_ARGUMENT, "a shape of type %s cannot have tuple_shapes", hlo_type_name(type));
        return read_array(r, type, from, out);
    }
    if (from->layout)
        return hlo_error(HLO_INVALID_ARGUMENT, "Malformed shape proto: element_type %s should not have a layout.",
                         hlo_type_name(type));
    if (from->n_dimensions)
        return hlo_error(HLO_INVALID_ARGUMENT, "a shape of type %s cannot have dimensions", hlo_type_name(type));
    if (type == HLO_TUPLE || type == HLO_BUFFER) return read_elements(r, type, from, out);
    if (from->n_tuple_shapes)
        return hlo_error(HLO_INVALID_ARGUMENT, "a shape of type %s cannot have tuple_shapes", hlo_type_name(type));
    *out = type == HLO_TOKEN ? hlo_shape_token(r->shapes) : hlo_shape_opaque(r->shapes);
    return hlo_ok();
}
