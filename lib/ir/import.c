// Attribute values in another module: deep copies into its arena, with its shapes and strings.

#include "hlo/module.h"

static const char *import_text(HloModule *m, const char *text) {
    return text ? hlo_intern_z(m, text) : NULL;
}

static const HloIntLists *import_int_lists(HloModule *m, const HloIntLists *from) {
    HloIntLists *to = hlo_arena_copy(&m->arena, from, sizeof *from);
    HloDims *lists = HLO_NEW_ARRAY(&m->arena, HloDims, from->count);
    for (size_t i = 0; i < from->count; i++) lists[i] = hlo_dims_copy(&m->arena, from->lists[i]);
    to->lists = lists;
    return to;
}

static const HloConvDims *import_conv_dims(HloModule *m, const HloConvDims *from) {
    HloConvDims *to = hlo_arena_copy(&m->arena, from, sizeof *from);
    size_t bytes = from->spatial_count * sizeof(int64_t);
    to->input_spatial = hlo_arena_copy(&m->arena, from->input_spatial, bytes);
    to->kernel_spatial = hlo_arena_copy(&m->arena, from->kernel_spatial, bytes);
    to->output_spatial = hlo_arena_copy(&m->arena, from->output_spatial, bytes);
    return to;
}

static HloIota import_iota(HloModule *m, HloIota from) {
    return (HloIota){hlo_dims_copy(&m->arena, from.reshape), hlo_dims_copy(&m->arena, from.perm)};
}

static const HloMesh *import_mesh(HloModule *m, const HloMesh *from) {
    if (!from) return NULL;
    HloMesh *to = hlo_arena_copy(&m->arena, from, sizeof *from);
    HloMeshAxis *axes = HLO_NEW_ARRAY(&m->arena, HloMeshAxis, from->axis_count);
    for (size_t i = 0; i < from->axis_count; i++) {
        axes[i] = (HloMeshAxis){import_text(m, from->axes[i].name), from->axes[i].size};
    }
    to->axes = axes;
    to->device_ids = hlo_dims_copy(&m->arena, from->device_ids);
    to->iota = import_iota(m, from->iota);
    return to;
}

static HloAxisList import_axes(HloModule *m, HloAxisList from) {
    return (HloAxisList){hlo_arena_copy(&m->arena, from.refs, from.count * sizeof *from.refs), from.count};
}

static const HloGroups *import_groups(HloModule *m, const HloGroups *from) {
    HloGroups *to = hlo_arena_copy(&m->arena, from, sizeof *from);
    to->lists = *import_int_lists(m, &from->lists);
    to->iota = import_iota(m, from->iota);
    to->mesh = import_mesh(m, from->mesh);
    to->axes = import_axes(m, from->axes);
    return to;
}

static const HloMetadata *import_metadata(HloModule *m, const HloMetadata *from) {
    HloMetadata *to = hlo_arena_copy(&m->arena, from, sizeof *from);
    to->op_type = import_text(m, from->op_type);
    to->op_name = import_text(m, from->op_name);
    to->source_file = import_text(m, from->source_file);
    to->profile_type = hlo_dims_copy(&m->arena, from->profile_type);
    to->deduplicated_name = import_text(m, from->deduplicated_name);
    to->scheduling_name = import_text(m, from->scheduling_name);
    if (from->metadata_payload)
        to->metadata_payload = hlo_arena_string(&m->arena, from->metadata_payload, from->payload_size);
    to->proto_rest.data = hlo_arena_string(&m->arena, from->proto_rest.data, from->proto_rest.size);
    return to;
}

static HloSharding *import_flat_sharding(HloModule *m, const HloSharding *from) {
    HloSharding *to = hlo_arena_copy(&m->arena, from, sizeof *from);
    to->tile = hlo_dims_copy(&m->arena, from->tile);
    to->devices = hlo_dims_copy(&m->arena, from->devices);
    to->iota = import_iota(m, from->iota);
    to->subgroups = hlo_arena_copy(&m->arena, from->subgroups, from->subgroup_count * sizeof *from->subgroups);
    const HloMetadata **metadata = HLO_NEW_ARRAY(&m->arena, const HloMetadata *, from->metadata_count);
    for (size_t i = 0; i < from->metadata_count; i++) metadata[i] = import_metadata(m, from->metadata[i]);
    to->metadata = metadata;
    to->mesh = import_mesh(m, from->mesh);
    HloNamedDim *dims = HLO_NEW_ARRAY(&m->arena, HloNamedDim, from->named_dim_count);
    for (size_t i = 0; i < from->named_dim_count; i++) {
        dims[i] = (HloNamedDim){import_axes(m, from->named_dims[i].axes), from->named_dims[i].open};
    }
    to->named_dims = dims;
    to->replicated_axes = import_axes(m, from->replicated_axes);
    to->unreduced_axes = import_axes(m, from->unreduced_axes);
    to->manual_axes = import_axes(m, from->manual_axes);
    return to;
}

static const HloSharding *import_sharding(HloModule *m, const HloSharding *from) {
    if (!from) return NULL;
    HloSharding *to = import_flat_sharding(m, from);
    const HloSharding **elements = HLO_NEW_ARRAY(&m->arena, const HloSharding *, from->element_count);
    for (size_t i = 0; i < from->element_count; i++) elements[i] = import_flat_sharding(m, from->elements[i]);
    to->elements = elements;
    return to;
}

static const HloStringMap *import_string_map(HloModule *m, const HloStringMap *from) {
    HloStringMap *to = hlo_arena_copy(&m->arena, from, sizeof *from);
    HloStringPair *pairs = HLO_NEW_ARRAY(&m->arena, HloStringPair, from->count);
    for (size_t i = 0; i < from->count; i++) {
        pairs[i] = (HloStringPair){import_text(m, from->pairs[i].key), import_text(m, from->pairs[i].value)};
    }
    to->pairs = pairs;
    return to;
}

// Breadth first: a copied node still points at the old children until its turn comes.
static const HloOrigin *import_origin(HloModule *m, const HloOrigin *from) {
    HloArena scratch = {.trap = m->arena.trap};
    HloVec todo = {0};
    HloOrigin *root = hlo_arena_copy(&m->arena, from, sizeof *from);
    hlo_vec_push(&scratch, &todo, root);
    while (todo.count) {
        HloOrigin *to = hlo_vec_pop(&todo);
        to->name = import_text(m, to->name);
        to->index = hlo_dims_copy(&m->arena, to->index);
        HloOrigin **elements = HLO_NEW_ARRAY(&m->arena, HloOrigin *, to->element_count);
        for (size_t i = 0; i < to->element_count; i++) {
            elements[i] = hlo_arena_copy(&m->arena, to->elements[i], sizeof *to);
            hlo_vec_push(&scratch, &todo, elements[i]);
        }
        to->elements = (const HloOrigin *const *)elements;
    }
    hlo_arena_free(&scratch);
    return root;
}

static const HloStatistics *import_statistics(HloModule *m, const HloStatistics *from) {
    HloStatistics *to = hlo_arena_copy(&m->arena, from, sizeof *from);
    HloStatistic *items = HLO_NEW_ARRAY(&m->arena, HloStatistic, from->count);
    for (size_t i = 0; i < from->count; i++) {
        items[i] = (HloStatistic){import_text(m, from->items[i].name), from->items[i].value};
    }
    to->items = items;
    return to;
}

static const HloAliases *import_aliases(HloModule *m, const HloAliases *from) {
    HloAliases *to = hlo_arena_copy(&m->arena, from, sizeof *from);
    HloAlias *items = hlo_arena_copy(&m->arena, from->items, from->count * sizeof *items);
    for (size_t i = 0; i < from->count; i++) {
        items[i].output = hlo_dims_copy(&m->arena, items[i].output);
        items[i].input = hlo_dims_copy(&m->arena, items[i].input);
    }
    to->items = items;
    return to;
}

static const HloShapeList *import_shapes(HloModule *m, const HloShapeList *from) {
    HloShapeList *to = hlo_arena_copy(&m->arena, from, sizeof *from);
    const HloShape **shapes = HLO_NEW_ARRAY(&m->arena, const HloShape *, from->count);
    for (size_t i = 0; i < from->count; i++) shapes[i] = hlo_shape_import(&m->shapes, from->shapes[i]);
    to->shapes = shapes;
    return to;
}

static const HloDomain *import_domain(HloModule *m, const HloDomain *from) {
    HloDomain *to = HLO_NEW(&m->arena, HloDomain);
    *to = (HloDomain){import_text(m, from->kind), import_sharding(m, from->entry), import_sharding(m, from->exit)};
    return to;
}

static const HloDims *import_dims(HloModule *m, const HloDims *from) {
    HloDims *to = HLO_NEW(&m->arena, HloDims);
    *to = hlo_dims_copy(&m->arena, *from);
    return to;
}

// Structs of a rank and one array of plain entries: window, slice, padding.
static const HloWindow *import_window(HloModule *m, const HloWindow *from) {
    HloWindow *to = hlo_arena_copy(&m->arena, from, sizeof *from);
    to->dims = hlo_arena_copy(&m->arena, from->dims, from->rank * sizeof *from->dims);
    return to;
}

static const HloSlice *import_slice(HloModule *m, const HloSlice *from) {
    HloSlice *to = hlo_arena_copy(&m->arena, from, sizeof *from);
    to->dims = hlo_arena_copy(&m->arena, from->dims, from->rank * sizeof *from->dims);
    return to;
}

static const HloPadding *import_padding(HloModule *m, const HloPadding *from) {
    HloPadding *to = hlo_arena_copy(&m->arena, from, sizeof *from);
    to->dims = hlo_arena_copy(&m->arena, from->dims, from->rank * sizeof *from->dims);
    return to;
}

static const HloLiteral *import_literal(HloModule *m, const HloLiteral *from) {
    return hlo_literal_clone(&m->arena, from, hlo_shape_import(&m->shapes, from->shape));
}

static const void *import_data(HloModule *m, HloAttrKind kind, const void *data) {
    switch (kind) {
    case HLO_KIND_DIMS:
    case HLO_KIND_BOOLS:
    case HLO_KIND_PRECISIONS: return import_dims(m, data);
    case HLO_KIND_INT_LISTS: return import_int_lists(m, data);
    case HLO_KIND_WINDOW: return import_window(m, data);
    case HLO_KIND_DIM_LABELS: return import_conv_dims(m, data);
    case HLO_KIND_PADDING: return import_padding(m, data);
    case HLO_KIND_SLICE: return import_slice(m, data);
    case HLO_KIND_GROUPS: return import_groups(m, data);
    case HLO_KIND_SHAPE: return hlo_shape_import(&m->shapes, data);
    case HLO_KIND_SHAPES: return import_shapes(m, data);
    case HLO_KIND_LITERAL: return import_literal(m, data);
    case HLO_KIND_SHARDING: return import_sharding(m, data);
    case HLO_KIND_METADATA: return import_metadata(m, data);
    case HLO_KIND_STRING_MAP: return import_string_map(m, data);
    case HLO_KIND_ORIGIN: return import_origin(m, data);
    case HLO_KIND_STATISTICS: return import_statistics(m, data);
    case HLO_KIND_ACCURACY: return hlo_arena_copy(&m->arena, data, sizeof(HloAccuracy));
    case HLO_KIND_ALIASES: return import_aliases(m, data);
    case HLO_KIND_DOMAIN: return import_domain(m, data);
    case HLO_KIND_SPARSITY: return hlo_arena_copy(&m->arena, data, sizeof(HloSparsity));
    case HLO_KIND_BOOL:
    case HLO_KIND_INT:
    case HLO_KIND_INT32:
    case HLO_KIND_DIM:
    case HLO_KIND_FLOAT:
    case HLO_KIND_ENUM:
    case HLO_KIND_STRING:
    case HLO_KIND_TEXT:
    case HLO_KIND_COMPUTATION:
    case HLO_KIND_COMPUTATIONS:
    case HLO_KIND_INSTRUCTIONS: break;  // no struct behind them
    }
    return NULL;
}

HloAttr hlo_attr_import(HloModule *m, HloAttr attr) {
    HloAttrKind kind = hlo_attr_info(attr.id)->kind;
    if (kind == HLO_KIND_STRING || kind == HLO_KIND_TEXT) {
        attr.text = import_text(m, attr.text);
    } else if (kind > HLO_KIND_TEXT) {
        attr.data = import_data(m, kind, attr.data);
    }
    return attr;
}
