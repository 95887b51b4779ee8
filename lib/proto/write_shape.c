// Shapes and layouts as messages.

#include "writer.h"

// Messages of shapes in one module. Tuples of shared elements can be exponentially large once written.
enum { MOST_SHAPE_MESSAGES = 1 << 26 };

static Xla__PrimitiveType number_of(HloType type) {
    return type == HLO_TYPE_COUNT ? 0 : (Xla__PrimitiveType)hlo_type_info(type)->proto_number;
}

// ---- layouts ---------------------------------------------------------------------------------------------

static void write_tiles(HloProtoWriter *w, const HloLayout *layout, Xla__LayoutProto *out) {
    out->tiles = HLO_NEW_LIST(w, Xla__TileProto, layout->tile_count);
    out->n_tiles = layout->tile_count;
    for (size_t i = 0; i < layout->tile_count; i++) {
        Xla__TileProto *tile = hlo_message_new(w->arena, &xla__tile_proto__descriptor);
        HLO_SET_DIMS(tile, dimensions, layout->tiles[i].dims);  // both mark combined dimensions by INT64_MIN
        out->tiles[i] = tile;
    }
}

static void write_splits(HloProtoWriter *w, const HloLayout *layout, Xla__LayoutProto *out) {
    out->split_configs = HLO_NEW_LIST(w, Xla__SplitConfigProto, layout->split_count);
    out->n_split_configs = layout->split_count;
    for (size_t i = 0; i < layout->split_count; i++) {
        Xla__SplitConfigProto *split = hlo_message_new(w->arena, &xla__split_config_proto__descriptor);
        split->dimension = layout->splits[i].dimension;
        HLO_SET_DIMS(split, split_indices, layout->splits[i].indices);
        out->split_configs[i] = split;
    }
}

// The physical shape is an array itself, or at worst a short chain of such; deeper ones fail when the message is
// checked.
static Xla__LayoutProto *write_layout(HloProtoWriter *w, const HloLayout *layout) {
    Xla__LayoutProto *out = hlo_message_new(w->arena, &xla__layout_proto__descriptor);
    HLO_SET_DIMS(out, minor_to_major, ((HloDims){layout->minor_to_major, layout->rank}));
    write_tiles(w, layout, out);
    write_splits(w, layout, out);
    out->element_size_in_bits = layout->element_bits;
    out->memory_space = layout->memory_space;
    out->index_primitive_type = number_of(layout->index_type);
    out->pointer_primitive_type = number_of(layout->pointer_type);
    out->dynamic_shape_metadata_prefix_bytes = layout->metadata_prefix_bytes;
    out->tail_padding_alignment_in_elements = layout->tail_alignment ? layout->tail_alignment : 1;
    if (layout->physical) out->physical_shape = hlo_map_find(&w->shapes, layout->physical);
    return out;
}

// ---- shapes ----------------------------------------------------------------------------------------------

static void write_dynamic(HloProtoWriter *w, const HloShape *shape, Xla__ShapeProto *out) {
    out->n_is_dynamic_dimension = shape->rank;
    out->is_dynamic_dimension = HLO_NEW_ARRAY(w->arena, protobuf_c_boolean, shape->rank);
    for (size_t d = 0; shape->dynamic && d < shape->rank; d++) out->is_dynamic_dimension[d] = shape->dynamic[d];
}

static size_t size_of(const HloProtoWriter *w, const HloShape *shape) {
    return (size_t)(uintptr_t)hlo_map_find(&w->shape_sizes, shape);
}

// With the parts written: the message of the shape itself.
static void write_node(HloProtoWriter *w, const HloShape *shape) {
    Xla__ShapeProto *out = hlo_message_new(w->arena, &xla__shape_proto__descriptor);
    size_t total = 2;
    out->element_type = number_of(shape->type);
    if (hlo_shape_is_array(shape)) {
        HLO_SET_DIMS(out, dimensions, hlo_shape_dims(shape));
        write_dynamic(w, shape, out);
        if (shape->layout) out->layout = write_layout(w, shape->layout);
    } else if (shape->rank) {
        out->n_tuple_shapes = shape->rank;
        out->tuple_shapes = HLO_NEW_LIST(w, Xla__ShapeProto, shape->rank);
        for (size_t i = 0; i < shape->rank; i++) {
            out->tuple_shapes[i] = hlo_map_find(&w->shapes, shape->elements[i]);
            total += size_of(w, shape->elements[i]);
            if (total > MOST_SHAPE_MESSAGES) total = MOST_SHAPE_MESSAGES;
        }
    }
    *hlo_map_at(w->arena, &w->shapes, shape) = out;
    *hlo_map_at(w->arena, &w->shape_sizes, shape) = (void *)(uintptr_t)total;
}

// Pushes the parts that are not written yet; false when there are none.
static bool push_missing(HloProtoWriter *w, HloVec *work, const HloShape *shape) {
    size_t before = work->count;
    const HloShape *physical = hlo_shape_is_array(shape) && shape->layout ? shape->layout->physical : NULL;
    if (physical && !hlo_map_find(&w->shapes, physical)) hlo_vec_push(w->arena, work, physical);
    for (size_t i = 0; !hlo_shape_is_array(shape) && i < shape->rank; i++) {
        if (!hlo_map_find(&w->shapes, shape->elements[i])) hlo_vec_push(w->arena, work, shape->elements[i]);
    }
    return work->count > before;
}

Xla__ShapeProto *hlo_write_shape(HloProtoWriter *w, const HloShape *shape) {
    Xla__ShapeProto *known = hlo_map_find(&w->shapes, shape);
    HloVec work = {0};
    if (!known) hlo_vec_push(w->arena, &work, shape);
    while (work.count) {
        const HloShape *at = work.items[work.count - 1];
        if (push_missing(w, &work, at)) continue;
        hlo_vec_pop(&work);
        if (!hlo_map_find(&w->shapes, at)) write_node(w, at);
    }
    w->shape_total += size_of(w, shape);
    if (w->shape_total > MOST_SHAPE_MESSAGES)
        hlo_writer_fail(
            w, hlo_error(HLO_RESOURCE_EXHAUSTED, "the shapes of the module are too large for a protocol buffer"));
    return known ? known : hlo_map_find(&w->shapes, shape);
}

// ---- signatures ------------------------------------------------------------------------------------------

static Xla__ProgramShapeProto *new_signature(HloProtoWriter *w, size_t count) {
    Xla__ProgramShapeProto *out = hlo_message_new(w->arena, &xla__program_shape_proto__descriptor);
    out->n_parameters = out->n_parameter_names = count;
    out->parameters = HLO_NEW_LIST(w, Xla__ShapeProto, count);
    out->parameter_names = HLO_NEW_LIST(w, char, count);
    return out;
}

Xla__ProgramShapeProto *hlo_write_program_shape(HloProtoWriter *w, const HloComputation *comp) {
    Xla__ProgramShapeProto *out = new_signature(w, hlo_parameter_count(comp));
    for (size_t k = 0; k < out->n_parameters; k++) {
        out->parameters[k] = hlo_write_shape(w, hlo_parameter(comp, k)->shape);
        out->parameter_names[k] = (char *)(uintptr_t)hlo_parameter(comp, k)->name;
    }
    out->result = hlo_write_shape(w, comp->root->shape);
    return out;
}

Xla__ProgramShapeProto *hlo_write_entry_shape(HloProtoWriter *w) {
    const HloModule *m = w->m;
    Xla__ProgramShapeProto *out = new_signature(w, m->entry_param_count);
    for (size_t k = 0; k < m->entry_param_count; k++) {
        out->parameters[k] = hlo_write_shape(w, m->entry_params[k]);
        out->parameter_names[k] = hlo_arena_printf(w->arena, "p%zu", k);
    }
    out->result = hlo_write_shape(w, m->entry_result);
    return out;
}
