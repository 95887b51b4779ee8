// Shardings, meshes and replica groups as messages (protobuf chapter, §5).

#include "lib/text/print.h"
#include "writer.h"

// ---- meshes ----------------------------------------------------------------------------------------------

// The order in which an iota's dimensions are read, also where it is the identity.
static HloDims perm_of(HloArena *arena, HloIota iota) {
    if (iota.perm.count) return iota.perm;
    int64_t *perm = HLO_NEW_ARRAY(arena, int64_t, iota.reshape.count);
    for (size_t i = 0; i < iota.reshape.count; i++) perm[i] = (int64_t)i;
    return (HloDims){perm, iota.reshape.count};
}

static Xla__MeshProto *write_mesh(HloProtoWriter *w, const HloMesh *mesh) {
    Xla__MeshProto *out = hlo_message_new(w->arena, &xla__mesh_proto__descriptor);
    out->n_axes = mesh->axis_count;
    out->axes = HLO_NEW_LIST(w, Xla__MeshProto__MeshAxis, mesh->axis_count);
    for (size_t i = 0; i < mesh->axis_count; i++) {
        out->axes[i] = hlo_message_new(w->arena, &xla__mesh_proto__mesh_axis__descriptor);
        HLO_SET_TEXT(out->axes[i], name, mesh->axes[i].name);
        out->axes[i]->size = mesh->axes[i].size;
    }
    HLO_SET_DIMS(out, device_ids, mesh->device_ids);
    if (!mesh->iota.reshape.count) return out;
    out->iota_transform = hlo_message_new(w->arena, &xla__mesh_proto__iota_transform__descriptor);
    HLO_SET_DIMS(out->iota_transform, reshape_dims, mesh->iota.reshape);
    HLO_SET_DIMS(out->iota_transform, transpose_perm, perm_of(w->arena, mesh->iota));
    return out;
}

static Xla__AxisRefProto **write_axes(HloProtoWriter *w, HloAxisList axes) {
    Xla__AxisRefProto **out = HLO_NEW_LIST(w, Xla__AxisRefProto, axes.count);
    for (size_t i = 0; i < axes.count; i++) {
        out[i] = hlo_message_new(w->arena, &xla__axis_ref_proto__descriptor);
        out[i]->mesh_axis_index = axes.refs[i].axis;
        if (!axes.refs[i].size) continue;
        out[i]->sub_axis_info = hlo_message_new(w->arena, &xla__axis_ref_proto__sub_axis__descriptor);
        out[i]->sub_axis_info->pre_size = axes.refs[i].pre;
        out[i]->sub_axis_info->size = axes.refs[i].size;
    }
    return out;
}

// ---- shardings -------------------------------------------------------------------------------------------

static Xla__OpMetadata *reduction_metadata(HloProtoWriter *w, HloReduction reduction) {
    static const char *const words[] = {
        [HLO_REDUCTION_SUM] = "SUM", [HLO_REDUCTION_MAX] = "MAX", [HLO_REDUCTION_MIN] = "MIN"};
    Xla__OpMetadata *out = hlo_message_new(w->arena, &xla__op_metadata__descriptor);
    HLO_SET_TEXT(out, op_type, "sdy::reduction_op");
    HLO_SET_TEXT(out, op_name, words[reduction]);
    return out;
}

static Xla__OpMetadata **write_metadata_list(HloProtoWriter *w, const HloSharding *s, bool reduction, size_t *count) {
    Xla__OpMetadata **out = HLO_NEW_LIST(w, Xla__OpMetadata, s->metadata_count + 1);
    *count = s->metadata_count;
    for (size_t i = 0; i < s->metadata_count; i++) {
        out[i] = hlo_message_new(w->arena, &xla__op_metadata__descriptor);
        hlo_write_metadata(w, s->metadata[i], out[i]);
    }
    if (reduction) out[(*count)++] = reduction_metadata(w, s->reduction);
    return out;
}

static Xla__OpSharding__Type subgroup_type(HloSubgroup subgroup) {
    switch (subgroup) {
    case HLO_SUBGROUP_MAXIMAL: return XLA__OP_SHARDING__TYPE__MAXIMAL;
    case HLO_SUBGROUP_MANUAL: return XLA__OP_SHARDING__TYPE__MANUAL;
    case HLO_SUBGROUP_UNREDUCED: return XLA__OP_SHARDING__TYPE__UNREDUCED;
    case HLO_SUBGROUP_REPLICATED: break;
    }
    return XLA__OP_SHARDING__TYPE__REPLICATED;
}

static Xla__OpSharding__Type sharding_type(HloShardingKind kind) {
    switch (kind) {
    case HLO_SHARDING_MAXIMAL: return XLA__OP_SHARDING__TYPE__MAXIMAL;
    case HLO_SHARDING_MANUAL: return XLA__OP_SHARDING__TYPE__MANUAL;
    case HLO_SHARDING_UNKNOWN: return XLA__OP_SHARDING__TYPE__UNKNOWN;
    case HLO_SHARDING_UNREDUCED: return XLA__OP_SHARDING__TYPE__UNREDUCED;
    case HLO_SHARDING_TILED: return XLA__OP_SHARDING__TYPE__OTHER;
    case HLO_SHARDING_TUPLE: return XLA__OP_SHARDING__TYPE__TUPLE;
    case HLO_SHARDING_REPLICATED:
    case HLO_SHARDING_NAMED: break;
    }
    return XLA__OP_SHARDING__TYPE__REPLICATED;
}

static void write_tiling(HloProtoWriter *w, const HloSharding *s, Xla__OpSharding *out) {
    HLO_SET_DIMS(out, tile_assignment_dimensions, s->tile);
    if (s->devices.count) {
        HLO_SET_DIMS(out, tile_assignment_devices, s->devices);
    } else {
        HLO_SET_DIMS(out, iota_reshape_dims, s->iota.reshape);
        out->n_iota_transpose_perm = s->iota.reshape.count;
        out->iota_transpose_perm = hlo_narrow_dims(w->arena, perm_of(w->arena, s->iota));
    }
    out->replicate_on_last_tile_dim = s->last_tile_dim_replicate;
    if (s->last_tile_dim_replicate) return;
    out->n_last_tile_dims = s->subgroup_count;
    out->last_tile_dims = HLO_NEW_ARRAY(w->arena, Xla__OpSharding__Type, s->subgroup_count);
    for (size_t i = 0; i < s->subgroup_count; i++) out->last_tile_dims[i] = subgroup_type(s->subgroups[i]);
}

// All of a mesh, where the text has a word for it.
static HloAxisList whole_mesh(HloArena *arena, const HloMesh *mesh) {
    HloAxisRef *refs = HLO_NEW_ARRAY(arena, HloAxisRef, mesh->axis_count);
    for (size_t i = 0; i < mesh->axis_count; i++) refs[i].axis = (int64_t)i;
    return (HloAxisList){refs, mesh->axis_count};
}

static void write_named_dims(HloProtoWriter *w, const HloSharding *s, Xla__NamedShardingProto *out) {
    out->n_dim_shardings = s->named_dim_count;
    out->dim_shardings = HLO_NEW_LIST(w, Xla__NamedShardingProto__DimensionSharding, s->named_dim_count);
    for (size_t i = 0; i < s->named_dim_count; i++) {
        Xla__NamedShardingProto__DimensionSharding *dim =
            hlo_message_new(w->arena, &xla__named_sharding_proto__dimension_sharding__descriptor);
        dim->n_axes = s->named_dims[i].axes.count;
        dim->axes = write_axes(w, s->named_dims[i].axes);
        dim->is_closed = !s->named_dims[i].open;
        out->dim_shardings[i] = dim;
    }
}

static Xla__NamedShardingProto *write_named(HloProtoWriter *w, const HloSharding *s) {
    Xla__NamedShardingProto *out = hlo_message_new(w->arena, &xla__named_sharding_proto__descriptor);
    out->mesh = write_mesh(w, s->mesh);
    write_named_dims(w, s, out);
    HloAxisList unreduced = s->named_unreduced ? whole_mesh(w->arena, s->mesh) : s->unreduced_axes;
    HloAxisList manual = s->named_manual ? whole_mesh(w->arena, s->mesh) : s->manual_axes;
    out->n_replicated_axes = s->replicated_axes.count;
    out->replicated_axes = write_axes(w, s->replicated_axes);
    out->n_unreduced_axes = unreduced.count;
    out->unreduced_axes = write_axes(w, unreduced);
    out->n_manual_axes = manual.count;
    out->manual_axes = write_axes(w, manual);
    out->metadata = write_metadata_list(w, s, false, &out->n_metadata);
    out->reduction_op = (Xla__NamedShardingProto__ReductionOpProto)s->reduction;
    return out;
}

static Xla__OpSharding *write_single(HloProtoWriter *w, const HloSharding *s) {
    Xla__OpSharding *out = hlo_message_new(w->arena, &xla__op_sharding__descriptor);
    if (s->kind == HLO_SHARDING_NAMED) {
        out->named_sharding = write_named(w, s);
        return out;
    }
    out->type = sharding_type(s->kind);
    out->metadata = write_metadata_list(w, s, hlo_sharding_shows_reduction(s, true), &out->n_metadata);
    if (s->kind == HLO_SHARDING_TILED)
        write_tiling(w, s, out);
    else
        HLO_SET_DIMS(out, tile_assignment_devices, s->devices);
    if (s->group == HLO_SHARD_GROUP_NONE) return out;
    out->is_shard_group = true;
    out->shard_group_id = s->group_id;
    out->shard_group_type =
        s->group == HLO_SHARD_AS ? XLA__OP_SHARDING__SHARD_GROUP_TYPE__AS : XLA__OP_SHARDING__SHARD_GROUP_TYPE__LIKE;
    return out;
}

// Elements of a tuple are no tuples.
Xla__OpSharding *hlo_write_sharding(HloProtoWriter *w, const HloSharding *s) {
    if (s->kind != HLO_SHARDING_TUPLE) return write_single(w, s);
    Xla__OpSharding *out = hlo_message_new(w->arena, &xla__op_sharding__descriptor);
    out->type = XLA__OP_SHARDING__TYPE__TUPLE;
    out->n_tuple_shardings = s->element_count;
    out->tuple_shardings = HLO_NEW_LIST(w, Xla__OpSharding, s->element_count);
    for (size_t i = 0; i < s->element_count; i++) out->tuple_shardings[i] = write_single(w, s->elements[i]);
    return out;
}

// ---- replica groups --------------------------------------------------------------------------------------

static Xla__CollectiveDeviceListProto *write_list(HloProtoWriter *w, const HloIntLists *lists) {
    Xla__CollectiveDeviceListProto *out = hlo_message_new(w->arena, &xla__collective_device_list_proto__descriptor);
    if (!lists) return out;
    out->n_replica_groups = lists->count;
    out->replica_groups = HLO_NEW_LIST(w, Xla__ReplicaGroup, lists->count);
    for (size_t i = 0; i < lists->count; i++) {
        out->replica_groups[i] = hlo_message_new(w->arena, &xla__replica_group__descriptor);
        HLO_SET_DIMS(out->replica_groups[i], replica_ids, lists->lists[i]);
    }
    return out;
}

static Xla__IotaReplicaGroupListProto *write_iota(HloProtoWriter *w, const HloGroups *groups) {
    Xla__IotaReplicaGroupListProto *out = hlo_message_new(w->arena, &xla__iota_replica_group_list_proto__descriptor);
    out->num_replica_groups = groups->groups;
    out->num_devices_per_group = groups->size;
    HLO_SET_DIMS(out, iota_reshape_dims, groups->iota.reshape);
    out->n_iota_transpose_perm = groups->iota.reshape.count;
    out->iota_transpose_perm = hlo_narrow_dims(w->arena, perm_of(w->arena, groups->iota));
    return out;
}

static Xla__MeshAxesReplicaGroupListProto *write_mesh_groups(HloProtoWriter *w, const HloGroups *groups) {
    Xla__MeshAxesReplicaGroupListProto *out =
        hlo_message_new(w->arena, &xla__mesh_axes_replica_group_list_proto__descriptor);
    out->mesh = write_mesh(w, groups->mesh);
    out->n_axes = groups->axes.count;
    out->axes = write_axes(w, groups->axes);
    return out;
}

void hlo_write_groups(HloProtoWriter *w, const HloGroups *groups, Xla__HloInstructionProto *out) {
    switch (groups ? groups->form : HLO_GROUPS_LIST) {
    case HLO_GROUPS_LIST:
        out->replica_group_list_case = XLA__HLO_INSTRUCTION_PROTO__REPLICA_GROUP_LIST_COLLECTIVE_DEVICE_LIST;
        out->collective_device_list = write_list(w, groups ? &groups->lists : NULL);
        return;
    case HLO_GROUPS_IOTA:
        out->replica_group_list_case = XLA__HLO_INSTRUCTION_PROTO__REPLICA_GROUP_LIST_IOTA_COLLECTIVE_DEVICE_LIST;
        out->iota_collective_device_list = write_iota(w, groups);
        return;
    case HLO_GROUPS_MESH:
        out->replica_group_list_case = XLA__HLO_INSTRUCTION_PROTO__REPLICA_GROUP_LIST_MESH_AXES_REPLICA_GROUP_LIST;
        out->mesh_axes_replica_group_list = write_mesh_groups(w, groups);
        return;
    }
}
