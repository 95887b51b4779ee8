// Shardings by position: `{devices=[2,2]<=[4]}` and the like, alone or one per leaf of a tuple (grammar chapter, §8).

#include "parse.h"

// What the items of one sharding say, in any order.
typedef struct Items {
    bool replicated, maximal, manual, unknown, unreduced;
    bool has_device, has_tile, has_subgroups;
    HloDims tile, devices;
    HloIota iota;
    bool replicate_last;
    HloItems subgroups;
    HloShardGroup group;
    int64_t group_id;
    HloReduction reduction;
    HloVec metadata;
} Items;

// ---- items ----------------------------------------------------------------------------------------------

bool hlo_metadata_is_reduction(const HloMetadata *md, HloReduction *out) {
    if (!md->op_type || strcmp(md->op_type, "sdy::reduction_op") || !md->op_name) return false;
    if (strcmp(md->op_name, "SUM") == 0)
        *out = HLO_REDUCTION_SUM;
    else if (strcmp(md->op_name, "MAX") == 0)
        *out = HLO_REDUCTION_MAX;
    else if (strcmp(md->op_name, "MIN") == 0)
        *out = HLO_REDUCTION_MIN;
    else
        return false;
    return true;
}

static bool read_one_metadata(HloReader *r, Items *items) {
    const HloMetadata *md;
    if (!hlo_read_metadata(r, &md)) return false;
    if (!hlo_metadata_is_reduction(md, &items->reduction)) hlo_vec_push(r->scratch, &items->metadata, md);
    return true;
}

// metadata = meta | "{" (meta ("," meta)*)? "}"
static bool read_metadata(HloReader *r, Items *items) {
    if (hlo_tok(r) != HLO_TOK_LBRACE || hlo_lex_peek(&r->lex) != '{') return read_one_metadata(r, items);
    hlo_skip(r);
    do {
        if (!read_one_metadata(r, items)) return false;
    } while (hlo_accept(r, HLO_TOK_COMMA));
    return hlo_expect(r, HLO_TOK_RBRACE, "expects '}' at the end of metadata");
}

static bool read_device(HloReader *r, Items *items) {
    if (hlo_tok(r) != HLO_TOK_INT) return hlo_read_error(r, hlo_here(r), "device= attribute must be an integer");
    int64_t *device = HLO_NEW(r->arena, int64_t);
    items->has_device = true;
    items->devices = (HloDims){device, 1};
    return hlo_read_int(r, device);
}

// devices = "[" ints "]" (ints | iota)
static bool read_devices(HloReader *r, Items *items) {
    items->has_tile = true;
    if (hlo_tok(r) != HLO_TOK_LSQUARE)
        return hlo_read_error(r, hlo_here(r), "expected '[' to start sharding devices shape");
    if (!hlo_read_ints(r, HLO_TOK_LSQUARE, HLO_TOK_RSQUARE, &items->tile)) return false;
    if (hlo_tok(r) == HLO_TOK_LESS_EQUAL) return hlo_read_iota(r, &items->iota);
    r->ints.count = 0;
    do {
        int64_t device = 0;
        if (!hlo_read_int(r, &device)) return false;
        hlo_ints_push(r->scratch, &r->ints, device);
    } while (hlo_accept(r, HLO_TOK_COMMA));
    items->devices = hlo_dims_copy(r->arena, (HloDims){r->ints.items, r->ints.count});
    return true;
}

static bool read_subgroup(HloReader *r, void *data) {
    HloSubgroup type;
    switch ((int)hlo_tok(r)) {
    case HLO_TOK_MAXIMAL: type = HLO_SUBGROUP_MAXIMAL; break;
    case HLO_TOK_MANUAL: type = HLO_SUBGROUP_MANUAL; break;
    case HLO_TOK_UNREDUCED: type = HLO_SUBGROUP_UNREDUCED; break;
    case HLO_TOK_REPLICATED: type = HLO_SUBGROUP_REPLICATED; break;
    default:
        return hlo_read_error(r, hlo_here(r), "expects manual, replicated, unreduced or maximal in last_tile_dims");
    }
    *(HloSubgroup *)hlo_items_push(r, data, sizeof type) = type;
    hlo_skip(r);
    return true;
}

static bool read_keyed_item(HloReader *r, Items *items) {
    bool device = hlo_at_attr(r, "device"), devices = hlo_at_attr(r, "devices");
    bool metadata = hlo_at_attr(r, "metadata"), subgroups = hlo_at_attr(r, "last_tile_dims");
    if (!device && !devices && !metadata && !subgroups)
        return hlo_read_error(
            r, hlo_here(r), "unknown attribute in sharding: expected device=, devices= metadata= or last_tile_dims= ");
    hlo_skip(r);
    if (device) return read_device(r, items);
    if (devices) return read_devices(r, items);
    if (metadata) return read_metadata(r, items);
    items->has_subgroups = true;
    return hlo_read_list(r, HLO_TOK_LBRACE, HLO_TOK_RBRACE, read_subgroup, &items->subgroups);
}

static bool read_item(HloReader *r, Items *items) {
    HloTokenKind kind = hlo_tok(r);
    bool *flag = kind == HLO_TOK_REPLICATED                ? &items->replicated
                 : kind == HLO_TOK_MAXIMAL                 ? &items->maximal
                 : kind == HLO_TOK_MANUAL                  ? &items->manual
                 : kind == HLO_TOK_UNKNOWN                 ? &items->unknown
                 : kind == HLO_TOK_UNREDUCED               ? &items->unreduced
                 : kind == HLO_TOK_LAST_TILE_DIM_REPLICATE ? &items->replicate_last
                                                           : NULL;
    if (flag) {
        *flag = true;
        hlo_skip(r);
        return true;
    }
    if (kind == HLO_TOK_SHARD_AS || kind == HLO_TOK_SHARD_LIKE) {
        items->group = kind == HLO_TOK_SHARD_AS ? HLO_SHARD_AS : HLO_SHARD_LIKE;
        hlo_skip(r);
        return hlo_read_int(r, &items->group_id);
    }
    if (kind != HLO_TOK_ATTR) return hlo_read_error(r, hlo_here(r), "unexpected token");
    return read_keyed_item(r, items);
}

// ---- from items to a sharding ---------------------------------------------------------------------------

static bool product(HloDims dims, int64_t *out) {
    *out = 1;
    for (size_t i = 0; i < dims.count; i++) {
        if (dims.data[i] < 1 || !hlo_i64_mul(*out, dims.data[i], out)) return false;
    }
    return true;
}

static bool check_tile(HloReader *r, const char *at, const Items *items) {
    int64_t total, order;
    if (!items->has_tile || items->tile.count == 0)
        return hlo_read_error(r, at, "non-maximal shardings must have a tile assignment list including dimensions");
    enum { MOST_DIMENSIONS = 256 };
    if (items->tile.count > MOST_DIMENSIONS)
        return hlo_read_error(r, at, "a sharding can have at most %d dimensions", MOST_DIMENSIONS);
    if (!product(items->tile, &total))
        return hlo_read_error(r, at, "tile dimensions must be positive and not too large");
    if (items->iota.reshape.count) {
        bool agrees = product(items->iota.reshape, &order) && order == total;
        return agrees || hlo_read_error(r, at, "the two sides of '<=' must have the same number of devices");
    }
    if (items->devices.count <= 1)
        return hlo_read_error(r, at, "non-maximal shardings must have more than one device assigned");
    if ((int64_t)items->devices.count != total)
        return hlo_read_error(r, at, "sharding device count %zu does not match the tile assignment size %lld",
                              items->devices.count, (long long)total);
    return true;
}

static bool make_tiled(HloReader *r, const char *at, Items *items, HloSharding *out) {
    if (!check_tile(r, at, items)) return false;
    out->kind = HLO_SHARDING_TILED;
    out->tile = items->tile;
    out->devices = items->iota.reshape.count ? (HloDims){0} : items->devices;
    out->iota = items->iota;
    if (items->replicate_last && items->subgroups.count)
        return hlo_read_error(r, at, "last_tile_dims and last_tile_dim_replicate exclude each other");
    if (items->replicate_last)
        *(HloSubgroup *)hlo_items_push(r, &items->subgroups, sizeof(HloSubgroup)) = HLO_SUBGROUP_REPLICATED;
    if (items->subgroups.count > items->tile.count)
        return hlo_read_error(r, at, "there are more subgroup types than tile dimensions");
    out->subgroups = hlo_items_copy(r, &items->subgroups, sizeof(HloSubgroup));
    out->subgroup_count = items->subgroups.count;
    out->last_tile_dim_replicate = items->replicate_last;
    return !out->subgroup_count || hlo_sharding_normal(r, at, out);
}

typedef struct WordKind {
    bool given;
    HloShardingKind kind;
    const char *word;
} WordKind;

static bool make_sharding(HloReader *r, const char *at, Items *items, HloSharding *out) {
    // The first of these wins when several are given.
    const WordKind words[] = {
        {items->replicated, HLO_SHARDING_REPLICATED, "replicated"},
        {items->maximal, HLO_SHARDING_MAXIMAL, "maximal"},
        {items->manual, HLO_SHARDING_MANUAL, "manual"},
        {items->unknown, HLO_SHARDING_UNKNOWN, "unknown"},
        {items->unreduced, HLO_SHARDING_UNREDUCED, "unreduced"},
    };
    size_t i = 0;
    while (i < HLO_COUNT(words) && !words[i].given) i++;
    if (i == HLO_COUNT(words)) return make_tiled(r, at, items, out);
    out->kind = words[i].kind;
    bool any_device = items->devices.count || items->iota.reshape.count;
    if (out->kind != HLO_SHARDING_MAXIMAL)
        return !any_device || hlo_read_error(r, at, "%s shardings should not have any devices assigned", words[i].word);
    if (items->devices.count != 1)
        return hlo_read_error(r, at, "maximal shardings should have exactly one device assigned");
    out->devices = items->devices;
    return true;
}

// single = "{" item+ "}" | "{" named "}"
static bool read_single(HloReader *r, const HloSharding **out) {
    if (!hlo_expect(r, HLO_TOK_LBRACE, "expected '{' to start sharding attribute")) return false;
    HloSharding *sharding = HLO_NEW(r->arena, HloSharding);
    *out = sharding;
    if (hlo_at_mesh(r))
        return hlo_version_has(r, hlo_here(r), HLO_FORM_MESH_SHARDING) && hlo_read_named_sharding(r, sharding) &&
               hlo_expect(r, HLO_TOK_RBRACE, "expected '}' to end sharding attribute");
    Items items = {0};
    const char *at = hlo_here(r);
    while (hlo_tok(r) != HLO_TOK_RBRACE) {
        if (!read_item(r, &items)) return false;
    }
    hlo_skip(r);
    if (!make_sharding(r, at, &items, sharding)) return false;
    sharding->reduction = items.reduction;
    sharding->group = items.group;
    sharding->group_id = items.group_id;
    sharding->metadata = hlo_arena_copy(r->arena, items.metadata.items, items.metadata.count * sizeof(void *));
    sharding->metadata_count = items.metadata.count;
    return true;
}

static bool read_leaf(HloReader *r, void *data) {
    const HloSharding *leaf;
    if (!read_single(r, &leaf)) return false;
    hlo_vec_push(r->scratch, data, leaf);
    return true;
}

static const HloSharding *new_tuple(HloReader *r, const HloSharding *const *elements, size_t count) {
    HloSharding *sharding = HLO_NEW(r->arena, HloSharding);
    sharding->kind = HLO_SHARDING_TUPLE;
    sharding->elements = elements;
    sharding->element_count = count;
    return sharding;
}

// sharding = single | "{" (single ("," single)*)? "}"
bool hlo_read_sharding(HloReader *r, const HloSharding **out) {
    if (hlo_tok(r) != HLO_TOK_LBRACE) return hlo_read_error(r, hlo_here(r), "expected '{' to start sharding attribute");
    char behind = hlo_lex_peek(&r->lex);
    if (behind != '{' && behind != '}') return read_single(r, out);
    HloVec leaves = {0};
    if (!hlo_read_list(r, HLO_TOK_LBRACE, HLO_TOK_RBRACE, read_leaf, &leaves)) return false;
    *out = new_tuple(r, hlo_arena_copy(r->arena, leaves.items, leaves.count * sizeof(void *)), leaves.count);
    return true;
}

const HloSharding *hlo_sharding_for_tuple(HloReader *r, const HloSharding *sharding, const HloShape *shape) {
    size_t count = hlo_shape_leaf_count(shape);
    if (count == 0) count = 1;
    const HloSharding **elements = HLO_NEW_ARRAY(r->arena, const HloSharding *, count);
    for (size_t i = 0; i < count; i++) elements[i] = sharding;
    return new_tuple(r, elements, count);
}
