// Shardings, meshes and replica groups as text (printing chapter, §11).

#include "print.h"

enum { TUPLE_INDEX_INTERVAL = 5 };

static void put_joined(HloBuffer *out, HloDims dims) {
    for (size_t i = 0; i < dims.count; i++) {
        if (i) hlo_put_char(out, ',');
        hlo_put_int(out, dims.data[i]);
    }
}

static void put_bracketed(HloBuffer *out, HloDims dims) {
    hlo_put_char(out, '[');
    put_joined(out, dims);
    hlo_put_char(out, ']');
}

// `[4,2]T(1,0)`; one dimension needs no order.
static void put_iota(HloBuffer *out, const HloIota *iota) {
    put_bracketed(out, iota->reshape);
    if (iota->reshape.count < 2) return;
    hlo_put(out, "T(", 2);
    for (size_t i = 0; i < iota->reshape.count; i++) {
        if (i) hlo_put_char(out, ',');
        hlo_put_int(out, iota->perm.count ? iota->perm.data[i] : (int64_t)i);
    }
    hlo_put_char(out, ')');
}

// ---- meshes ---------------------------------------------------------------------------------------------

static void put_quoted_axis(HloBuffer *out, const char *name) {
    hlo_put_char(out, '\'');
    hlo_put_string(out, name);
    hlo_put_char(out, '\'');
}

static void put_mesh(HloBuffer *out, const HloMesh *mesh) {
    if (mesh->maximal) {
        hlo_put_string(out, "maximal_mesh[device_id=");
        hlo_put_int(out, mesh->device_ids.count ? mesh->device_ids.data[0] : 0);
        hlo_put_char(out, ']');
        return;
    }
    hlo_put_string(out, "mesh[");
    for (size_t i = 0; i < mesh->axis_count; i++) {
        if (i) hlo_put_char(out, ',');
        put_quoted_axis(out, mesh->axes[i].name);
        hlo_put_char(out, '=');
        hlo_put_int(out, mesh->axes[i].size);
    }
    hlo_put_char(out, ']');
    if (!mesh->device_ids.count && !mesh->iota.reshape.count) return;
    hlo_put_string(out, ", device_ids=(");
    if (mesh->iota.reshape.count)
        put_iota(out, &mesh->iota);
    else
        put_joined(out, mesh->device_ids);
    hlo_put_char(out, ')');
}

static void put_axis(HloBuffer *out, const HloMesh *mesh, const HloAxisRef *ref) {
    put_quoted_axis(out, mesh->axes[ref->axis].name);
    if (!ref->size) return;
    hlo_put(out, ":(", 2);
    hlo_put_int(out, ref->pre);
    hlo_put_char(out, ')');
    hlo_put_int(out, ref->size);
}

static void put_axes(HloBuffer *out, const HloMesh *mesh, HloAxisList axes, const char *joiner, bool open) {
    hlo_put_char(out, '{');
    for (size_t i = 0; i < axes.count; i++) {
        if (i) hlo_put_string(out, joiner);
        put_axis(out, mesh, &axes.refs[i]);
    }
    if (open) hlo_put_string(out, axes.count ? ", ?" : "?");
    hlo_put_char(out, '}');
}

// ---- shardings ------------------------------------------------------------------------------------------

static const char *subgroup_word(HloSubgroup subgroup) {
    switch (subgroup) {
    case HLO_SUBGROUP_MAXIMAL: return "maximal";
    case HLO_SUBGROUP_MANUAL: return "manual";
    case HLO_SUBGROUP_UNREDUCED: return "unreduced";
    case HLO_SUBGROUP_REPLICATED: break;
    }
    return "replicated";
}

static void put_tiling(HloBuffer *out, const HloSharding *s) {
    hlo_put_string(out, "devices=");
    put_bracketed(out, s->tile);
    if (s->devices.count) {
        put_joined(out, s->devices);
    } else {
        hlo_put(out, "<=", 2);
        put_iota(out, &s->iota);
    }
    if (s->last_tile_dim_replicate) {
        hlo_put_string(out, " last_tile_dim_replicate");
        return;
    }
    if (!s->subgroup_count) return;
    hlo_put_string(out, " last_tile_dims={");
    for (size_t i = 0; i < s->subgroup_count; i++) {
        if (i) hlo_put(out, ", ", 2);
        hlo_put_string(out, subgroup_word(s->subgroups[i]));
    }
    hlo_put_char(out, '}');
}

static const char *reduction_word(HloReduction reduction) {
    switch (reduction) {
    case HLO_REDUCTION_MAX: return "MAX";
    case HLO_REDUCTION_MIN: return "MIN";
    case HLO_REDUCTION_SUM: break;
    }
    return "SUM";
}

bool hlo_sharding_shows_reduction(const HloSharding *s, bool sums) {
    if (s->kind == HLO_SHARDING_NAMED) return false;  // written with its axes
    if (s->reduction != HLO_REDUCTION_SUM) return true;
    if (!sums) return false;
    if (s->kind == HLO_SHARDING_UNREDUCED) return true;
    for (size_t i = 0; i < s->subgroup_count; i++) {
        if (s->subgroups[i] == HLO_SUBGROUP_UNREDUCED) return true;
    }
    return false;
}

// The entries behind `metadata=`. The reduction is written as one more entry, the last.
static void put_sharding_metadata(HloBuffer *out, const HloSharding *s, HloShardingMetadata metadata,
                                  bool always_list) {
    bool reduction = hlo_sharding_shows_reduction(s, metadata == HLO_SHARDING_SUMS);
    size_t count = s->metadata_count + reduction;
    bool list = always_list || count > 1;
    hlo_put_string(out, list ? "metadata={{" : "metadata={");
    for (size_t i = 0; i < s->metadata_count; i++) {
        if (i) hlo_put_string(out, "}, {");
        hlo_put_metadata_fields(out, s->metadata[i]);
    }
    if (reduction) {
        if (s->metadata_count) hlo_put_string(out, "}, {");
        hlo_put_string(out, "op_type=\"sdy::reduction_op\" op_name=\"");
        hlo_put_string(out, reduction_word(s->reduction));
        hlo_put_char(out, '"');
    }
    hlo_put_string(out, list ? "}}" : "}");
}

static void put_kind(HloBuffer *out, const HloSharding *s) {
    switch (s->kind) {
    case HLO_SHARDING_REPLICATED: hlo_put_string(out, "replicated"); return;
    case HLO_SHARDING_MANUAL: hlo_put_string(out, "manual"); return;
    case HLO_SHARDING_UNKNOWN: hlo_put_string(out, "unknown"); return;
    case HLO_SHARDING_UNREDUCED: hlo_put_string(out, "unreduced"); return;
    case HLO_SHARDING_MAXIMAL:
        hlo_put_string(out, "maximal device=");
        hlo_put_int(out, s->devices.count ? s->devices.data[0] : 0);
        return;
    case HLO_SHARDING_TILED: put_tiling(out, s); return;
    case HLO_SHARDING_TUPLE:
    case HLO_SHARDING_NAMED: return;
    }
}

static void put_classic(HloBuffer *out, const HloSharding *s, HloShardingMetadata metadata) {
    hlo_put_char(out, '{');
    put_kind(out, s);
    if (s->group != HLO_SHARD_GROUP_NONE) {
        hlo_put_string(out, s->group == HLO_SHARD_AS ? " shard_as " : " shard_like ");
        hlo_put_int(out, s->group_id);
    }
    if (metadata && (s->metadata_count || hlo_sharding_shows_reduction(s, metadata == HLO_SHARDING_SUMS))) {
        hlo_put_char(out, ' ');
        put_sharding_metadata(out, s, metadata, false);
    }
    hlo_put_char(out, '}');
}

static void put_reduction(HloBuffer *out, HloReduction reduction) {
    switch (reduction) {
    case HLO_REDUCTION_SUM: return;
    case HLO_REDUCTION_MAX: hlo_put_string(out, "max"); return;
    case HLO_REDUCTION_MIN: hlo_put_string(out, "min"); return;
    }
}

static void put_named_dims(HloBuffer *out, const HloSharding *s) {
    hlo_put_string(out, ", [");
    for (size_t i = 0; i < s->named_dim_count; i++) {
        if (i) hlo_put(out, ", ", 2);
        put_axes(out, s->mesh, s->named_dims[i].axes, ", ", s->named_dims[i].open);
    }
    hlo_put_char(out, ']');
    if (s->replicated_axes.count) {
        hlo_put_string(out, ", replicated=");
        put_axes(out, s->mesh, s->replicated_axes, ", ", false);
    }
    if (s->unreduced_axes.count) {
        hlo_put_string(out, ", unreduced=");
        put_reduction(out, s->reduction);
        put_axes(out, s->mesh, s->unreduced_axes, ", ", false);
    }
    if (s->manual_axes.count) {
        hlo_put_string(out, ", manual=");
        put_axes(out, s->mesh, s->manual_axes, ", ", false);
    }
}

static void put_named(HloBuffer *out, const HloSharding *s, HloShardingMetadata metadata) {
    hlo_put_char(out, '{');
    put_mesh(out, s->mesh);
    if (s->named_replicated) {
        hlo_put_string(out, ", replicated");
    } else if (s->named_manual) {
        hlo_put_string(out, ", manual");
    } else if (s->named_unreduced) {
        hlo_put_string(out, ", unreduced");
        if (s->reduction != HLO_REDUCTION_SUM) hlo_put_char(out, '=');
        put_reduction(out, s->reduction);
    } else if (!s->mesh->maximal) {
        put_named_dims(out, s);
    }
    if (metadata && s->metadata_count) {
        hlo_put(out, ", ", 2);
        put_sharding_metadata(out, s, metadata, true);
    }
    hlo_put_char(out, '}');
}

static void put_single(HloBuffer *out, const HloSharding *s, HloShardingMetadata metadata) {
    if (s->kind == HLO_SHARDING_NAMED)
        put_named(out, s, metadata);
    else
        put_classic(out, s, metadata);
}

void hlo_put_sharding(HloBuffer *out, const HloSharding *sharding, HloShardingMetadata metadata) {
    if (sharding->kind != HLO_SHARDING_TUPLE) {
        put_single(out, sharding, metadata);
        return;
    }
    hlo_put_char(out, '{');
    for (size_t i = 0; i < sharding->element_count; i++) {
        if (i) hlo_put(out, ", ", 2);
        if (i && i % TUPLE_INDEX_INTERVAL == 0) {
            hlo_put_string(out, "/*index=");
            hlo_put_uint(out, i);
            hlo_put_string(out, "*/");
        }
        put_single(out, sharding->elements[i], metadata);
    }
    hlo_put_char(out, '}');
}

// ---- replica groups -------------------------------------------------------------------------------------

static void put_group_lists(HloBuffer *out, const HloIntLists *lists) {
    hlo_put_char(out, '{');
    for (size_t i = 0; i < lists->count; i++) {
        if (i) hlo_put_char(out, ',');
        hlo_put_int_list(out, lists->lists[i].data, lists->lists[i].count);
    }
    hlo_put_char(out, '}');
}

// The explicit list of a compact form; not printed when it would be too long to be of use.
typedef struct FullGroups {
    HloBuffer *out;
    const HloGroups *groups;
    HloArena *scratch;
    bool done;
} FullGroups;

static HloStatus put_full(void *data) {
    FullGroups *full = data;
    HloIntLists lists;
    full->done = hlo_groups_expand(full->scratch, full->groups, &lists);
    if (full->done) put_group_lists(full->out, &lists);
    return hlo_ok();
}

static bool put_expanded(HloBuffer *out, const HloGroups *groups) {
    HloArena scratch = {0};
    FullGroups full = {out, groups, &scratch, false};
    HloStatus status = hlo_guarded((HloArena *const[]){&scratch, NULL}, put_full, &full);
    if (!hlo_is_ok(status)) out->failed = true;
    hlo_status_free(status);
    hlo_arena_free(&scratch);
    return full.done;
}

void hlo_put_groups(HloBuffer *out, const HloGroups *groups, bool full_list) {
    if (full_list && groups->form != HLO_GROUPS_LIST && put_expanded(out, groups)) return;
    switch (groups->form) {
    case HLO_GROUPS_LIST: put_group_lists(out, &groups->lists); return;
    case HLO_GROUPS_IOTA:
        put_bracketed(out, (HloDims){(int64_t[]){groups->groups, groups->size}, 2});
        hlo_put(out, "<=", 2);
        put_iota(out, &groups->iota);
        return;
    case HLO_GROUPS_MESH:
        put_mesh(out, groups->mesh);
        hlo_put_char(out, ' ');
        put_axes(out, groups->mesh, groups->axes, ",", false);
        return;
    }
}
