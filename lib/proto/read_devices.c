// Shardings, meshes and replica groups from messages (protobuf chapter, §7).

#include "reader.h"

enum { MOST_DIMENSIONS = 256, MOST_AXES = 128 };  // as in text

static bool product(HloDims dims, int64_t *out) {
    *out = 1;
    for (size_t i = 0; i < dims.count; i++) {
        if (dims.data[i] < 1 || !hlo_i64_mul(*out, dims.data[i], out)) return false;
    }
    return true;
}

// ---- device orders ---------------------------------------------------------------------------------------

static HloStatus check_perm(HloProtoReader *r, HloDims perm) {
    HloBits seen = hlo_bits_new(r->scratch, perm.count);
    for (size_t i = 0; i < perm.count; i++) {
        if (perm.data[i] < 0 || (uint64_t)perm.data[i] >= perm.count || !hlo_bits_claim(seen, (size_t)perm.data[i]))
            return hlo_error(HLO_INVALID_ARGUMENT, "the transpose of an iota order is no permutation");
    }
    return hlo_ok();
}

static HloStatus read_iota(HloProtoReader *r, HloDims reshape, HloDims perm, int64_t total, HloIota *out) {
    int64_t size;
    if (reshape.count != perm.count)
        return hlo_error(HLO_INVALID_ARGUMENT, "an iota order has %zu reshape dimensions, but a transpose of %zu",
                         reshape.count, perm.count);
    if (reshape.count > MOST_DIMENSIONS)
        return hlo_error(HLO_INVALID_ARGUMENT, "an iota order can have at most %d dimensions", MOST_DIMENSIONS);
    if (!product(reshape, &size) || size != total)
        return hlo_error(HLO_INVALID_ARGUMENT, "an iota order does not have as many devices as are needed, %lld",
                         (long long)total);
    HLO_TRY(check_perm(r, perm));
    *out = hlo_iota_normal(r->arena, (HloIota){reshape, perm});
    return hlo_ok();
}

// ---- meshes ----------------------------------------------------------------------------------------------

static HloStatus read_mesh_axes(HloProtoReader *r, const Xla__MeshProto *from, HloMesh *mesh, int64_t *total) {
    if (from->n_axes > MOST_AXES) return hlo_error(HLO_INVALID_ARGUMENT, "a mesh can have at most %d axes", MOST_AXES);
    HloMeshAxis *axes = HLO_NEW_ARRAY(r->arena, HloMeshAxis, from->n_axes);
    *total = 1;
    for (size_t i = 0; i < from->n_axes; i++) {
        axes[i] = (HloMeshAxis){hlo_intern_z(r->m, from->axes[i]->name), from->axes[i]->size};
        if (axes[i].size < 1 || !hlo_i64_mul(*total, axes[i].size, total))
            return hlo_error(HLO_INVALID_ARGUMENT, "axis sizes of a mesh must be positive and not too large");
        for (size_t k = 0; k < i; k++) {
            if (axes[k].name == axes[i].name)
                return hlo_error(HLO_INVALID_ARGUMENT, "the mesh has two axes '%.100s'", axes[i].name);
        }
    }
    mesh->axes = axes;
    mesh->axis_count = from->n_axes;
    return hlo_ok();
}

static HloStatus read_mesh(HloProtoReader *r, const Xla__MeshProto *from, const HloMesh **out) {
    int64_t total = 1;
    HloMesh *mesh = HLO_NEW(r->arena, HloMesh);
    *out = mesh;
    if (!from) return hlo_error(HLO_INVALID_ARGUMENT, "there is no mesh");
    HLO_TRY(read_mesh_axes(r, from, mesh, &total));
    mesh->device_ids = hlo_read_proto_dims(r, from->device_ids, from->n_device_ids);
    mesh->maximal = from->n_axes == 0 && from->n_device_ids == 1;
    if (from->n_device_ids && (int64_t)from->n_device_ids != total)
        return hlo_error(HLO_INVALID_ARGUMENT, "Expected %lld device_ids based on mesh axes, but got %zu",
                         (long long)total, from->n_device_ids);
    if (from->n_device_ids && !mesh->maximal) HLO_TRY(hlo_error_context(check_perm(r, mesh->device_ids), "device_ids"));
    const Xla__MeshProto__IotaTransform *iota = from->iota_transform;
    if (!iota || !iota->n_reshape_dims) return hlo_ok();
    if (from->n_device_ids) return hlo_error(HLO_INVALID_ARGUMENT, "a mesh has device_ids and an iota_transform");
    HLO_TRY(read_iota(r, (HloDims){iota->reshape_dims, iota->n_reshape_dims},
                      (HloDims){iota->transpose_perm, iota->n_transpose_perm}, total, &mesh->iota));
    if (mesh->iota.reshape.count == 1) mesh->iota = (HloIota){0};  // the identity says nothing
    return hlo_ok();
}

static HloStatus read_axes(HloProtoReader *r, const HloMesh *mesh, Xla__AxisRefProto *const *from, size_t count,
                           HloAxisList *out) {
    HloAxisRef *refs = HLO_NEW_ARRAY(r->arena, HloAxisRef, count);
    for (size_t i = 0; i < count; i++) {
        int64_t axis = from[i]->mesh_axis_index, end;
        if (axis < 0 || (uint64_t)axis >= mesh->axis_count)
            return hlo_error(HLO_INVALID_ARGUMENT, "axis %lld does not exist in the mesh", (long long)axis);
        refs[i].axis = axis;
        const Xla__AxisRefProto__SubAxis *sub = from[i]->sub_axis_info;
        if (!sub) continue;
        int64_t size = mesh->axes[axis].size;
        if (sub->pre_size < 1 || sub->size < 2 || !hlo_i64_mul(sub->pre_size, sub->size, &end) || size % end)
            return hlo_error(HLO_INVALID_ARGUMENT, "a sub-axis does not divide axis '%.100s'", mesh->axes[axis].name);
        refs[i].pre = sub->pre_size;
        refs[i].size = sub->size;
    }
    *out = (HloAxisList){refs, count};
    return hlo_ok();
}

// ---- named shardings -------------------------------------------------------------------------------------

static HloStatus read_metadata_list(HloProtoReader *r, Xla__OpMetadata *const *from, size_t count, HloSharding *out) {
    const HloMetadata **list = HLO_NEW_ARRAY(r->arena, const HloMetadata *, count);
    for (size_t i = 0; i < count; i++) {
        const HloMetadata *md;
        HLO_TRY(hlo_read_proto_metadata(r, from[i], &md));
        if (!md) continue;  // an entry that says nothing
        bool reduction = out->kind != HLO_SHARDING_NAMED && hlo_metadata_is_reduction(md, &out->reduction);
        if (!reduction) list[out->metadata_count++] = md;
    }
    out->metadata = list;
    return hlo_ok();
}

static HloStatus read_named_dims(HloProtoReader *r, const Xla__NamedShardingProto *from, HloSharding *out) {
    HloNamedDim *dims = HLO_NEW_ARRAY(r->arena, HloNamedDim, from->n_dim_shardings);
    for (size_t i = 0; i < from->n_dim_shardings; i++) {
        dims[i].open = !from->dim_shardings[i]->is_closed;
        HLO_TRY(read_axes(r, out->mesh, from->dim_shardings[i]->axes, from->dim_shardings[i]->n_axes, &dims[i].axes));
    }
    out->named_dims = dims;
    out->named_dim_count = from->n_dim_shardings;
    return hlo_ok();
}

static HloStatus read_named(HloProtoReader *r, const Xla__NamedShardingProto *from, HloSharding *out) {
    out->kind = HLO_SHARDING_NAMED;
    HLO_TRY(read_mesh(r, from->mesh, &out->mesh));
    HLO_TRY(read_named_dims(r, from, out));
    HLO_TRY(read_axes(r, out->mesh, from->replicated_axes, from->n_replicated_axes, &out->replicated_axes));
    HLO_TRY(read_axes(r, out->mesh, from->unreduced_axes, from->n_unreduced_axes, &out->unreduced_axes));
    HLO_TRY(read_axes(r, out->mesh, from->manual_axes, from->n_manual_axes, &out->manual_axes));
    if ((unsigned)from->reduction_op > HLO_REDUCTION_MIN)
        return hlo_error(HLO_INVALID_ARGUMENT, "unknown reduction_op %d", (int)from->reduction_op);
    out->reduction = (HloReduction)from->reduction_op;
    hlo_named_sharding_normal(out);
    return read_metadata_list(r, from->metadata, from->n_metadata, out);
}

// ---- shardings by position -------------------------------------------------------------------------------

static HloStatus read_subgroups(HloProtoReader *r, const Xla__OpSharding *from, HloSharding *out) {
    size_t count = from->n_last_tile_dims;
    if (count && from->replicate_on_last_tile_dim)
        return hlo_error(HLO_INVALID_ARGUMENT, "last_tile_dims and replicate_on_last_tile_dim exclude each other");
    HloSubgroup *types = HLO_NEW_ARRAY(r->arena, HloSubgroup, count + 1);
    for (size_t i = 0; i < count; i++) {
        switch ((int)from->last_tile_dims[i]) {
        case XLA__OP_SHARDING__TYPE__MAXIMAL: types[i] = HLO_SUBGROUP_MAXIMAL; break;
        case XLA__OP_SHARDING__TYPE__MANUAL: types[i] = HLO_SUBGROUP_MANUAL; break;
        case XLA__OP_SHARDING__TYPE__UNREDUCED: types[i] = HLO_SUBGROUP_UNREDUCED; break;
        case XLA__OP_SHARDING__TYPE__REPLICATED: types[i] = HLO_SUBGROUP_REPLICATED; break;
        default: return hlo_error(HLO_INVALID_ARGUMENT, "last_tile_dims[%zu]: unknown kind", i);
        }
    }
    if (from->replicate_on_last_tile_dim) types[count++] = HLO_SUBGROUP_REPLICATED;
    if (count > out->tile.count)
        return hlo_error(HLO_INVALID_ARGUMENT, "there are more last_tile_dims than tile dimensions");
    out->subgroups = types;
    out->subgroup_count = count;
    out->last_tile_dim_replicate = from->replicate_on_last_tile_dim;
    return hlo_ok();
}

static HloStatus read_tiling(HloProtoReader *r, const Xla__OpSharding *from, HloSharding *out) {
    int64_t total;
    out->kind = HLO_SHARDING_TILED;
    out->tile = hlo_read_proto_dims(r, from->tile_assignment_dimensions, from->n_tile_assignment_dimensions);
    if (!out->tile.count || out->tile.count > MOST_DIMENSIONS || !product(out->tile, &total))
        return hlo_error(HLO_INVALID_ARGUMENT,
                         "tile_assignment_dimensions must be 1 to %d positive numbers whose product is not too large",
                         MOST_DIMENSIONS);
    if (total == 1) {
        *out = (HloSharding){.kind = HLO_SHARDING_REPLICATED};
        return hlo_ok();
    }
    if (from->n_iota_reshape_dims) {
        if (from->n_tile_assignment_devices)
            return hlo_error(HLO_INVALID_ARGUMENT, "a sharding has a device list and an iota order");
        HloDims reshape = {from->iota_reshape_dims, from->n_iota_reshape_dims};
        HloDims perm = hlo_read_narrow_dims(r, from->iota_transpose_perm, from->n_iota_transpose_perm);
        HLO_TRY(read_iota(r, reshape, perm, total, &out->iota));
    } else {
        if ((int64_t)from->n_tile_assignment_devices != total)
            return hlo_error(HLO_INVALID_ARGUMENT, "tile_assignment_devices has %zu devices where the tile has %lld",
                             from->n_tile_assignment_devices, (long long)total);
        out->devices = hlo_read_proto_dims(r, from->tile_assignment_devices, from->n_tile_assignment_devices);
    }
    HLO_TRY(read_subgroups(r, from, out));
    if (out->subgroup_count && !hlo_sharding_normal(&r->text, r->text.lex.begin, out)) return hlo_reader_text_error(r);
    return hlo_ok();
}

static HloStatus read_classic(HloProtoReader *r, const Xla__OpSharding *from, HloSharding *out) {
    switch ((int)from->type) {
    case XLA__OP_SHARDING__TYPE__REPLICATED: out->kind = HLO_SHARDING_REPLICATED; return hlo_ok();
    case XLA__OP_SHARDING__TYPE__MANUAL: out->kind = HLO_SHARDING_MANUAL; return hlo_ok();
    case XLA__OP_SHARDING__TYPE__UNKNOWN: out->kind = HLO_SHARDING_UNKNOWN; return hlo_ok();
    case XLA__OP_SHARDING__TYPE__UNREDUCED: out->kind = HLO_SHARDING_UNREDUCED; return hlo_ok();
    case XLA__OP_SHARDING__TYPE__MAXIMAL:
        out->kind = HLO_SHARDING_MAXIMAL;
        if (from->n_tile_assignment_devices != 1)
            return hlo_error(HLO_INVALID_ARGUMENT, "a maximal sharding has exactly one device, found %zu",
                             from->n_tile_assignment_devices);
        out->devices = hlo_read_proto_dims(r, from->tile_assignment_devices, 1);
        return hlo_ok();
    case XLA__OP_SHARDING__TYPE__OTHER: return read_tiling(r, from, out);
    case XLA__OP_SHARDING__TYPE__TUPLE: return hlo_error(HLO_INVALID_ARGUMENT, "a tuple sharding inside another");
    default: return hlo_error(HLO_INVALID_ARGUMENT, "unknown sharding type %d", (int)from->type);
    }
}

static HloStatus read_single(HloProtoReader *r, const Xla__OpSharding *from, const HloSharding **out) {
    HloSharding *s = HLO_NEW(r->arena, HloSharding);
    *out = s;
    if (from->named_sharding) return hlo_error_context(read_named(r, from->named_sharding, s), "named_sharding");
    HLO_TRY(read_classic(r, from, s));
    HLO_TRY(read_metadata_list(r, from->metadata, from->n_metadata, s));
    if (!from->is_shard_group) return hlo_ok();
    s->group = from->shard_group_type == XLA__OP_SHARDING__SHARD_GROUP_TYPE__LIKE ? HLO_SHARD_LIKE : HLO_SHARD_AS;
    s->group_id = from->shard_group_id;
    return hlo_ok();
}

static HloStatus read_any(HloProtoReader *r, const Xla__OpSharding *from, const HloShape *shape,
                          const HloSharding **out) {
    bool tuple = from->type == XLA__OP_SHARDING__TYPE__TUPLE && !from->named_sharding;
    if (!tuple) {
        HLO_TRY(read_single(r, from, out));
        if (shape && hlo_shape_is_tuple(shape)) *out = hlo_sharding_for_tuple(&r->text, *out, shape);
        return hlo_ok();
    }
    if (from->n_metadata) return hlo_error(HLO_INVALID_ARGUMENT, "a tuple sharding cannot have metadata");
    const HloSharding **elements = HLO_NEW_ARRAY(r->arena, const HloSharding *, from->n_tuple_shardings);
    for (size_t i = 0; i < from->n_tuple_shardings; i++)
        HLO_TRY(hlo_error_context(read_single(r, from->tuple_shardings[i], &elements[i]), "tuple_shardings[%zu]", i));
    HloSharding *s = HLO_NEW(r->arena, HloSharding);
    *s = (HloSharding){.kind = HLO_SHARDING_TUPLE, .elements = elements, .element_count = from->n_tuple_shardings};
    *out = s;
    return hlo_ok();
}

HloStatus hlo_read_proto_sharding(HloProtoReader *r, const Xla__OpSharding *from, const HloShape *shape,
                                  const HloSharding **out) {
    return hlo_error_context(read_any(r, from, shape, out), "sharding");
}

// ---- replica groups --------------------------------------------------------------------------------------

static const HloGroups *read_list(HloProtoReader *r, Xla__ReplicaGroup *const *from, size_t count) {
    if (count == 0) return NULL;
    HloDims *lists = HLO_NEW_ARRAY(r->arena, HloDims, count);
    for (size_t i = 0; i < count; i++) lists[i] = hlo_read_proto_dims(r, from[i]->replica_ids, from[i]->n_replica_ids);
    HloGroups *groups = HLO_NEW(r->arena, HloGroups);
    groups->lists = (HloIntLists){lists, count};
    return groups;
}

static HloStatus read_iota_groups(HloProtoReader *r, const Xla__IotaReplicaGroupListProto *from, HloGroups *out) {
    int64_t total;
    out->form = HLO_GROUPS_IOTA;
    out->groups = from->num_replica_groups;
    out->size = from->num_devices_per_group;
    if (out->groups < 1 || out->size < 1 || !hlo_i64_mul(out->groups, out->size, &total))
        return hlo_error(HLO_INVALID_ARGUMENT, "numbers of groups and devices must be positive and not too large");
    HloDims perm = hlo_read_narrow_dims(r, from->iota_transpose_perm, from->n_iota_transpose_perm);
    return read_iota(r, (HloDims){from->iota_reshape_dims, from->n_iota_reshape_dims}, perm, total, &out->iota);
}

static HloStatus read_mesh_groups(HloProtoReader *r, const Xla__MeshAxesReplicaGroupListProto *from, HloGroups *out) {
    out->form = HLO_GROUPS_MESH;
    HLO_TRY(read_mesh(r, from->mesh, &out->mesh));
    return read_axes(r, out->mesh, from->axes, from->n_axes, &out->axes);
}

// What older writers wrote: either form in one message.
static HloStatus read_device_list(HloProtoReader *r, const Xla__CollectiveDeviceListProto *from, HloGroups *groups,
                                  const HloGroups **out) {
    if (from->iota_replica_group_list)
        return hlo_error_context(read_iota_groups(r, from->iota_replica_group_list, groups), "iota_replica_group_list");
    *out = read_list(r, from->replica_groups, from->n_replica_groups);
    return hlo_ok();
}

// The explicit list comes last: writers of old have their own field for it.
HloStatus hlo_read_proto_groups(HloProtoReader *r, const Xla__HloInstructionProto *from, const HloGroups **out) {
    HloGroups *groups = HLO_NEW(r->arena, HloGroups);
    *out = groups;
    switch ((int)from->replica_group_list_case) {
    case XLA__HLO_INSTRUCTION_PROTO__REPLICA_GROUP_LIST_IOTA_COLLECTIVE_DEVICE_LIST:
        return hlo_error_context(read_iota_groups(r, from->iota_collective_device_list, groups),
                                 "iota_collective_device_list");
    case XLA__HLO_INSTRUCTION_PROTO__REPLICA_GROUP_LIST_MESH_AXES_REPLICA_GROUP_LIST:
        return hlo_error_context(read_mesh_groups(r, from->mesh_axes_replica_group_list, groups),
                                 "mesh_axes_replica_group_list");
    case XLA__HLO_INSTRUCTION_PROTO__REPLICA_GROUP_LIST_COLLECTIVE_DEVICE_LIST:
        HLO_TRY(hlo_error_context(read_device_list(r, from->collective_device_list, groups, out),
                                  "collective_device_list"));
        break;
    default: *out = NULL; break;
    }
    if (from->n_replica_groups) *out = read_list(r, from->replica_groups, from->n_replica_groups);
    return hlo_ok();
}
