// Attribute values: equality, hashing and copying between modules, by kind.

#include "hlo/attributes.h"

#include "hlo/module.h"

// ---- lists ----------------------------------------------------------------------------------------------

bool hlo_dims_equal(HloDims a, HloDims b) {
    return a.count == b.count && (a.count == 0 || memcmp(a.data, b.data, a.count * sizeof(int64_t)) == 0);
}

HloDims hlo_dims_copy(HloArena *arena, HloDims dims) {
    return (HloDims){hlo_arena_copy(arena, dims.data, dims.count * sizeof(int64_t)), dims.count};
}

int64_t hlo_dims_find(HloDims dims, int64_t value) {
    for (size_t i = 0; i < dims.count; i++) {
        if (dims.data[i] == value) return (int64_t)i;
    }
    return -1;
}

static bool same_text(const char *a, const char *b) {
    if (a == b) return true;
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_bytes(const void *a, const void *b, size_t count, size_t item_bytes) {
    return count == 0 || memcmp(a, b, count * item_bytes) == 0;
}

// ---- equality -------------------------------------------------------------------------------------------

static bool same_int_lists(const HloIntLists *a, const HloIntLists *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++) {
        if (!hlo_dims_equal(a->lists[i], b->lists[i])) return false;
    }
    return true;
}

static bool same_window(const HloWindow *a, const HloWindow *b) {
    if (a->rank != b->rank) return false;
    for (size_t d = 0; d < a->rank; d++) {
        const HloWindowDim *x = &a->dims[d], *y = &b->dims[d];
        if (x->size != y->size || x->stride != y->stride || x->pad_low != y->pad_low || x->pad_high != y->pad_high)
            return false;
        if (x->base_dilation != y->base_dilation || x->window_dilation != y->window_dilation) return false;
        if (x->reversal != y->reversal) return false;
    }
    return true;
}

static bool same_conv_dims(const HloConvDims *a, const HloConvDims *b) {
    size_t bytes = sizeof(int64_t);
    return a->input_batch == b->input_batch && a->input_feature == b->input_feature &&
           a->kernel_input_feature == b->kernel_input_feature && a->kernel_output_feature == b->kernel_output_feature &&
           a->output_batch == b->output_batch && a->output_feature == b->output_feature &&
           a->spatial_count == b->spatial_count && a->input_rank == b->input_rank && a->kernel_rank == b->kernel_rank &&
           a->output_rank == b->output_rank &&
           same_bytes(a->input_spatial, b->input_spatial, a->spatial_count, bytes) &&
           same_bytes(a->kernel_spatial, b->kernel_spatial, a->spatial_count, bytes) &&
           same_bytes(a->output_spatial, b->output_spatial, a->spatial_count, bytes);
}

static bool same_sparsity_operand(const HloSparsityOperand *a, const HloSparsityOperand *b) {
    return a->present == b->present && a->nonzeros == b->nonzeros && a->block_size == b->block_size &&
           a->dimension == b->dimension && a->stride == b->stride;
}

static bool same_iota(const HloIota *a, const HloIota *b) {
    return hlo_dims_equal(a->reshape, b->reshape) && hlo_dims_equal(a->perm, b->perm);
}

static bool same_mesh(const HloMesh *a, const HloMesh *b) {
    if (a == b) return true;
    if (!a || !b || a->axis_count != b->axis_count || a->maximal != b->maximal) return false;
    for (size_t i = 0; i < a->axis_count; i++) {
        if (a->axes[i].size != b->axes[i].size || !same_text(a->axes[i].name, b->axes[i].name)) return false;
    }
    return hlo_dims_equal(a->device_ids, b->device_ids) && same_iota(&a->iota, &b->iota);
}

static bool same_axes(HloAxisList a, HloAxisList b) {
    return a.count == b.count && same_bytes(a.refs, b.refs, a.count, sizeof *a.refs);
}

static bool same_groups(const HloGroups *a, const HloGroups *b) {
    if (a->form != b->form) return false;
    switch (a->form) {
    case HLO_GROUPS_LIST: return same_int_lists(&a->lists, &b->lists);
    case HLO_GROUPS_IOTA: return a->groups == b->groups && a->size == b->size && same_iota(&a->iota, &b->iota);
    case HLO_GROUPS_MESH: return same_mesh(a->mesh, b->mesh) && same_axes(a->axes, b->axes);
    }
    return false;
}

static bool same_named_dims(const HloSharding *a, const HloSharding *b) {
    if (a->named_dim_count != b->named_dim_count) return false;
    for (size_t d = 0; d < a->named_dim_count; d++) {
        if (a->named_dims[d].open != b->named_dims[d].open) return false;
        if (!same_axes(a->named_dims[d].axes, b->named_dims[d].axes)) return false;
    }
    return same_axes(a->replicated_axes, b->replicated_axes) && same_axes(a->unreduced_axes, b->unreduced_axes) &&
           same_axes(a->manual_axes, b->manual_axes) && a->named_replicated == b->named_replicated &&
           a->named_manual == b->named_manual && a->named_unreduced == b->named_unreduced;
}

static bool same_flat_sharding(const HloSharding *a, const HloSharding *b) {
    if (a->kind != b->kind || a->subgroup_count != b->subgroup_count || a->reduction != b->reduction) return false;
    if (a->group != b->group || a->group_id != b->group_id) return false;
    if (!hlo_dims_equal(a->tile, b->tile) || !hlo_dims_equal(a->devices, b->devices)) return false;
    if (!same_iota(&a->iota, &b->iota)) return false;
    if (!same_bytes(a->subgroups, b->subgroups, a->subgroup_count, sizeof *a->subgroups)) return false;
    return same_mesh(a->mesh, b->mesh) && same_named_dims(a, b);
}

// Metadata of shardings does not take part.
bool hlo_sharding_equal(const HloSharding *a, const HloSharding *b) {
    if (a == b) return true;
    if (!a || !b || a->element_count != b->element_count || !same_flat_sharding(a, b)) return false;
    for (size_t i = 0; i < a->element_count; i++) {
        if (!same_flat_sharding(a->elements[i], b->elements[i])) return false;
    }
    return true;
}

static bool same_metadata(const HloMetadata *a, const HloMetadata *b) {
    return same_text(a->op_type, b->op_type) && same_text(a->op_name, b->op_name) &&
           same_text(a->source_file, b->source_file) && a->source_line == b->source_line &&
           a->source_end_line == b->source_end_line && a->source_column == b->source_column &&
           a->source_end_column == b->source_end_column && hlo_dims_equal(a->profile_type, b->profile_type) &&
           same_text(a->deduplicated_name, b->deduplicated_name) && same_text(a->scheduling_name, b->scheduling_name) &&
           a->stack_frame_id == b->stack_frame_id && a->payload_size == b->payload_size &&
           same_bytes(a->metadata_payload, b->metadata_payload, a->payload_size, 1);
}

static bool same_string_map(const HloStringMap *a, const HloStringMap *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++) {
        if (!same_text(a->pairs[i].key, b->pairs[i].key) || !same_text(a->pairs[i].value, b->pairs[i].value))
            return false;
    }
    return true;
}

// Two stacks in step, since origins nest like tuples do.
static bool same_origin(const HloOrigin *a, const HloOrigin *b) {
    HloArena scratch = {0};
    HloVec left = {0}, right = {0};
    hlo_vec_push(&scratch, &left, a);
    hlo_vec_push(&scratch, &right, b);
    bool same = true;
    while (same && left.count) {
        a = hlo_vec_pop(&left);
        b = hlo_vec_pop(&right);
        if (a == b) continue;
        same = a && b && a->tuple == b->tuple && a->synthetic_call == b->synthetic_call &&
               a->element_count == b->element_count && !a->name == !b->name && same_text(a->name, b->name) &&
               hlo_dims_equal(a->index, b->index);
        for (size_t i = 0; same && i < a->element_count; i++) {
            hlo_vec_push(&scratch, &left, a->elements[i]);
            hlo_vec_push(&scratch, &right, b->elements[i]);
        }
    }
    hlo_arena_free(&scratch);
    return same;
}

static bool same_statistics(const HloStatistics *a, const HloStatistics *b) {
    if (a->visualizing_index != b->visualizing_index || a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++) {
        if (!same_text(a->items[i].name, b->items[i].name) || a->items[i].value != b->items[i].value) return false;
    }
    return true;
}

static bool same_accuracy(const HloAccuracy *a, const HloAccuracy *b) {
    return a->is_tolerance == b->is_tolerance && a->mode == b->mode && a->atol == b->atol && a->rtol == b->rtol &&
           a->ulps == b->ulps;
}

static bool same_aliases(const HloAliases *a, const HloAliases *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++) {
        const HloAlias *x = &a->items[i], *y = &b->items[i];
        if (x->parameter != y->parameter || x->must != y->must) return false;
        if (!hlo_dims_equal(x->output, y->output) || !hlo_dims_equal(x->input, y->input)) return false;
    }
    return true;
}

static bool same_shapes(const HloShapeList *a, const HloShapeList *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++) {
        if (!hlo_shape_equal(a->shapes[i], b->shapes[i], HLO_IGNORE_NOTHING)) return false;
    }
    return true;
}

static bool same_domain(const HloDomain *a, const HloDomain *b) {
    return same_text(a->kind, b->kind) && hlo_sharding_equal(a->entry, b->entry) &&
           hlo_sharding_equal(a->exit, b->exit);
}

static bool same_slice(const HloSlice *a, const HloSlice *b) {
    return a->rank == b->rank && same_bytes(a->dims, b->dims, a->rank, sizeof *a->dims);
}

static bool same_padding(const HloPadding *a, const HloPadding *b) {
    return a->rank == b->rank && same_bytes(a->dims, b->dims, a->rank, sizeof *a->dims);
}

static bool same_sparsity(const HloSparsity *a, const HloSparsity *b) {
    return same_sparsity_operand(&a->lhs, &b->lhs) && same_sparsity_operand(&a->rhs, &b->rhs);
}

bool hlo_attr_equal(HloAttr a, HloAttr b) {
    if (a.id != b.id) return false;
    switch (hlo_attr_info(a.id)->kind) {
    case HLO_KIND_BOOL:
    case HLO_KIND_INT:
    case HLO_KIND_INT32:
    case HLO_KIND_DIM:
    case HLO_KIND_ENUM: return a.i == b.i;
    case HLO_KIND_FLOAT: return memcmp(&a.f, &b.f, sizeof a.f) == 0;
    case HLO_KIND_STRING:
    case HLO_KIND_TEXT: return same_text(a.text, b.text);
    case HLO_KIND_DIMS:
    case HLO_KIND_BOOLS:
    case HLO_KIND_PRECISIONS: return hlo_dims_equal(*(const HloDims *)a.data, *(const HloDims *)b.data);
    case HLO_KIND_INT_LISTS: return same_int_lists(a.data, b.data);
    case HLO_KIND_WINDOW: return same_window(a.data, b.data);
    case HLO_KIND_DIM_LABELS: return same_conv_dims(a.data, b.data);
    case HLO_KIND_PADDING: return same_padding(a.data, b.data);
    case HLO_KIND_SLICE: return same_slice(a.data, b.data);
    case HLO_KIND_GROUPS: return same_groups(a.data, b.data);
    case HLO_KIND_SHAPE: return hlo_shape_equal(a.data, b.data, HLO_IGNORE_NOTHING);
    case HLO_KIND_SHAPES: return same_shapes(a.data, b.data);
    case HLO_KIND_LITERAL: return hlo_literal_equal(a.data, b.data);
    case HLO_KIND_SHARDING: return hlo_sharding_equal(a.data, b.data);
    case HLO_KIND_METADATA: return same_metadata(a.data, b.data);
    case HLO_KIND_STRING_MAP: return same_string_map(a.data, b.data);
    case HLO_KIND_ORIGIN: return same_origin(a.data, b.data);
    case HLO_KIND_STATISTICS: return same_statistics(a.data, b.data);
    case HLO_KIND_ACCURACY: return same_accuracy(a.data, b.data);
    case HLO_KIND_ALIASES: return same_aliases(a.data, b.data);
    case HLO_KIND_DOMAIN: return same_domain(a.data, b.data);
    case HLO_KIND_SPARSITY: return same_sparsity(a.data, b.data);
    case HLO_KIND_COMPUTATION:
    case HLO_KIND_COMPUTATIONS:
    case HLO_KIND_INSTRUCTIONS: break;  // edges, never stored
    }
    return false;
}

// ---- hashing --------------------------------------------------------------------------------------------

// Equal attributes hash alike; kinds that rarely decide (shardings, metadata, …) hash to their id only.
uint64_t hlo_attr_hash(HloAttr attr) {
    uint64_t hash = (uint64_t)attr.id + 1;
    switch (hlo_attr_info(attr.id)->kind) {
    case HLO_KIND_BOOL:
    case HLO_KIND_INT:
    case HLO_KIND_INT32:
    case HLO_KIND_DIM:
    case HLO_KIND_ENUM:
    case HLO_KIND_FLOAT: return hlo_hash_combine(hash, (uint64_t)attr.i);
    case HLO_KIND_STRING:
    case HLO_KIND_TEXT: return hlo_hash_bytes(attr.text, strlen(attr.text), hash);
    case HLO_KIND_DIMS:
    case HLO_KIND_BOOLS:
    case HLO_KIND_PRECISIONS: {
        const HloDims *dims = attr.data;
        return hlo_hash_bytes(dims->data, dims->count * sizeof(int64_t), hash);
    }
    case HLO_KIND_SLICE: {
        const HloSlice *slice = attr.data;
        return hlo_hash_bytes(slice->dims, slice->rank * sizeof *slice->dims, hash);
    }
    case HLO_KIND_PADDING: {
        const HloPadding *padding = attr.data;
        return hlo_hash_bytes(padding->dims, padding->rank * sizeof *padding->dims, hash);
    }
    case HLO_KIND_LITERAL: return hlo_hash_combine(hash, hlo_literal_hash(attr.data));
    case HLO_KIND_INT_LISTS:
    case HLO_KIND_WINDOW:
    case HLO_KIND_DIM_LABELS:
    case HLO_KIND_GROUPS:
    case HLO_KIND_SHAPE:
    case HLO_KIND_SHAPES:
    case HLO_KIND_SHARDING:
    case HLO_KIND_METADATA:
    case HLO_KIND_STRING_MAP:
    case HLO_KIND_ORIGIN:
    case HLO_KIND_STATISTICS:
    case HLO_KIND_ACCURACY:
    case HLO_KIND_ALIASES:
    case HLO_KIND_DOMAIN:
    case HLO_KIND_SPARSITY:
    case HLO_KIND_COMPUTATION:
    case HLO_KIND_COMPUTATIONS:
    case HLO_KIND_INSTRUCTIONS: break;
    }
    return hlo_hash_u64(hash);
}

bool hlo_metadata_is_empty(const HloMetadata *md) {
    return !(md->op_type && *md->op_type) && !(md->op_name && *md->op_name) && !(md->source_file && *md->source_file) &&
           !(md->scheduling_name && *md->scheduling_name) && !md->stack_frame_id && !md->payload_size;
}
