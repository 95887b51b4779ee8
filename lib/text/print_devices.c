// Shardings, meshes and replica groups as text (printing chapter, §11).

#include "print.h"

enum { TUPLE_INDEX_INTERVAL = 5, MAX_LISTED_DEVICES = 1 << 24 };

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

static bool has_reduction(const HloSharding *s) {
    if (s->kind == HLO_SHARDING_NAMED) return false;  // written with its axes
    if (s->kind == HLO_SHARDING_UNREDUCED || s->reduction != HLO_REDUCTION_SUM) return true;
    for (size_t i = 0; i < s->subgroup_count; i++) {
        if (s->subgroups[i] == HLO_SUBGROUP_UNREDUCED) return true;
    }
    return false;
}

// The entries behind `metadata=`. The reduction is written as one more entry, the last.
static void put_sharding_metadata(HloBuffer *out, const HloSharding *s, bool always_list) {
    bool reduction = has_reduction(s);
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

static void put_classic(HloBuffer *out, const HloSharding *s, bool metadata) {
    hlo_put_char(out, '{');
    put_kind(out, s);
    if (s->group != HLO_SHARD_GROUP_NONE) {
        hlo_put_string(out, s->group == HLO_SHARD_AS ? " shard_as " : " shard_like ");
        hlo_put_int(out, s->group_id);
    }
    if (metadata && (s->metadata_count || has_reduction(s))) {
        hlo_put_char(out, ' ');
        put_sharding_metadata(out, s, false);
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

static void put_named(HloBuffer *out, const HloSharding *s, bool metadata) {
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
        put_sharding_metadata(out, s, true);
    }
    hlo_put_char(out, '}');
}

static void put_single(HloBuffer *out, const HloSharding *s, bool metadata) {
    if (s->kind == HLO_SHARDING_NAMED)
        put_named(out, s, metadata);
    else
        put_classic(out, s, metadata);
}

void hlo_put_sharding(HloBuffer *out, const HloSharding *sharding, bool metadata) {
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

// Reads off the numbers 0 … product-1 laid out as `sizes`, in the order of the transposed dimensions.
typedef struct Odometer {
    size_t rank;
    const int64_t *sizes;  // of the transposed dimensions
    const int64_t *steps;  // what one step in each adds
    int64_t *position;
    int64_t value;
} Odometer;

static void advance(Odometer *o) {
    for (size_t d = o->rank; d-- > 0;) {
        o->value += o->steps[d];
        if (++o->position[d] < o->sizes[d]) return;
        o->value -= o->steps[d] * o->sizes[d];
        o->position[d] = 0;
    }
}

static bool odometer_of(HloArena *scratch, HloDims sizes, const int64_t *perm, Odometer *o) {
    int64_t *natural = HLO_NEW_ARRAY(scratch, int64_t, sizes.count);
    int64_t *steps = HLO_NEW_ARRAY(scratch, int64_t, sizes.count);
    int64_t *transposed = HLO_NEW_ARRAY(scratch, int64_t, sizes.count);
    int64_t product = 1;
    for (size_t d = sizes.count; d-- > 0;) {
        natural[d] = product;
        if (!hlo_i64_mul(product, sizes.data[d], &product)) return false;
    }
    for (size_t d = 0; d < sizes.count; d++) {
        size_t from = perm ? (size_t)perm[d] : d;
        steps[d] = natural[from];
        transposed[d] = sizes.data[from];
    }
    *o = (Odometer){sizes.count, transposed, steps, HLO_NEW_ARRAY(scratch, int64_t, sizes.count), 0};
    return product > 0 && product <= MAX_LISTED_DEVICES;
}

static void put_full_groups(HloBuffer *out, Odometer *o, int64_t groups, int64_t size, const int64_t *ids) {
    hlo_put_char(out, '{');
    for (int64_t g = 0; g < groups; g++) {
        hlo_put_string(out, g ? ",{" : "{");
        for (int64_t i = 0; i < size; i++) {
            if (i) hlo_put_char(out, ',');
            hlo_put_int(out, ids ? ids[o->value] : o->value);
            advance(o);
        }
        hlo_put_char(out, '}');
    }
    hlo_put_char(out, '}');
}

static bool put_full_iota(HloBuffer *out, const HloGroups *groups, HloArena *scratch) {
    Odometer o;
    int64_t total;
    if (!hlo_i64_mul(groups->groups, groups->size, &total) || total > MAX_LISTED_DEVICES) return false;
    if (!odometer_of(scratch, groups->iota.reshape, groups->iota.perm.count ? groups->iota.perm.data : NULL, &o)) {
        return false;
    }
    put_full_groups(out, &o, groups->groups, groups->size, NULL);
    return true;
}

// The axes of a mesh cut at the bounds of the sub-axes that the groups name.
typedef struct Segments {
    int64_t *sizes;
    size_t *owner;  // 1 + index of the axis reference that takes the segment, or 0
    size_t count;
} Segments;

static void push_segment(Segments *s, int64_t size, size_t owner) {
    s->sizes[s->count] = size;
    s->owner[s->count++] = owner;
}

// The reference to `axis` with the smallest `pre` of at least `from`; axes.count: none.
static size_t next_ref(HloAxisList axes, int64_t axis, int64_t from) {
    size_t best = axes.count;
    for (size_t i = 0; i < axes.count; i++) {
        if (axes.refs[i].axis != axis || axes.refs[i].pre < from) continue;
        if (best == axes.count || axes.refs[i].pre < axes.refs[best].pre) best = i;
    }
    return best;
}

static void cut_axis(Segments *s, const HloGroups *groups, size_t axis) {
    int64_t size = groups->mesh->axes[axis].size, done = 1;
    for (;;) {
        size_t i = next_ref(groups->axes, (int64_t)axis, done == 1 ? 0 : done);
        if (i == groups->axes.count) break;
        const HloAxisRef *ref = &groups->axes.refs[i];
        if (!ref->size) {
            push_segment(s, size, i + 1);
            return;
        }
        if (ref->pre > done) push_segment(s, ref->pre / done, 0);
        push_segment(s, ref->size, i + 1);
        done = ref->pre * ref->size;
    }
    if (size > done) push_segment(s, size / done, 0);
}

// Group members run over the named axes (the last fastest), groups over what remains.
static bool put_full_mesh(HloBuffer *out, const HloGroups *groups, HloArena *scratch) {
    const HloMesh *mesh = groups->mesh;
    size_t most = mesh->axis_count + 2 * groups->axes.count + 1;
    Segments s = {HLO_NEW_ARRAY(scratch, int64_t, most), HLO_NEW_ARRAY(scratch, size_t, most), 0};
    for (size_t axis = 0; axis < mesh->axis_count; axis++) cut_axis(&s, groups, axis);

    int64_t *perm = HLO_NEW_ARRAY(scratch, int64_t, most);
    int64_t group_count = 1, group_size = 1;
    size_t n = 0;
    for (size_t owner = 0; owner <= groups->axes.count; owner++) {
        for (size_t i = 0; i < s.count; i++) {
            if (s.owner[i] != owner) continue;
            perm[n++] = (int64_t)i;
            int64_t *product = owner ? &group_size : &group_count;
            if (!hlo_i64_mul(*product, s.sizes[i], product)) return false;
        }
    }
    Odometer o;
    if (!odometer_of(scratch, (HloDims){s.sizes, s.count}, perm, &o)) return false;
    int64_t *ids = NULL;
    if (mesh->iota.reshape.count) {
        Odometer order;
        if (!odometer_of(scratch, mesh->iota.reshape, mesh->iota.perm.count ? mesh->iota.perm.data : NULL, &order))
            return false;
        ids = HLO_NEW_ARRAY(scratch, int64_t, (size_t)(group_count * group_size));
        for (int64_t i = 0; i < group_count * group_size; i++, advance(&order)) ids[i] = order.value;
    }
    put_full_groups(out, &o, group_count, group_size, mesh->device_ids.count ? mesh->device_ids.data : ids);
    return true;
}

// The explicit list of a compact form; false when it would be too long to be of use.
typedef struct FullGroups {
    HloBuffer *out;
    const HloGroups *groups;
    HloArena *scratch;
    bool done;
} FullGroups;

static HloStatus put_full(void *data) {
    FullGroups *full = data;
    if (full->groups->form == HLO_GROUPS_IOTA) full->done = put_full_iota(full->out, full->groups, full->scratch);
    if (full->groups->form == HLO_GROUPS_MESH) full->done = put_full_mesh(full->out, full->groups, full->scratch);
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
