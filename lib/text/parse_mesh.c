// Meshes of named axes, the shardings and replica groups over them, and device orders (grammar chapter, §8.4, §5.5).

#include "parse.h"

#include <stdlib.h>

// ---- device orders --------------------------------------------------------------------------------------

// Product of sizes that are at least 1; false when one is not or the product does not fit.
static bool product(HloDims dims, int64_t *out) {
    *out = 1;
    for (size_t i = 0; i < dims.count; i++) {
        if (dims.data[i] < 1 || !hlo_i64_mul(*out, dims.data[i], out)) return false;
    }
    return true;
}

static bool check_perm(HloReader *r, const char *at, HloIota iota) {
    size_t rank = iota.reshape.count;
    if (iota.perm.count != rank)
        return hlo_read_error(
            r, at, "iota_transpose_perm should have the same rank as iota_reshape_dims : expected %zu, saw %zu.", rank,
            iota.perm.count);
    HloBits seen = hlo_bits_new(r->scratch, rank);
    for (size_t i = 0; i < rank; i++) {
        int64_t value = iota.perm.data[i];
        if (value < 0 || (uint64_t)value >= rank)
            return hlo_read_error(r, at,
                                  "Out of range iota minor_to_major value %lld, expecting value in range [0, %zu)",
                                  (long long)value, rank);
        if (!hlo_bits_claim(seen, (size_t)value))
            return hlo_read_error(r, at, "iota_transpose_perm names dimension %lld twice", (long long)value);
    }
    return true;
}

// "[" ints "]" ("T(" ints ")")?
static bool read_reshape(HloReader *r, HloIota *out) {
    const char *at = hlo_here(r);
    *out = (HloIota){0};
    if (!hlo_read_ints(r, HLO_TOK_LSQUARE, HLO_TOK_RSQUARE, &out->reshape)) return false;
    int64_t total;
    if (!product(out->reshape, &total))
        return hlo_read_error(r, at, "iota dimensions must be positive and not too large");
    if (!hlo_at_word(r, "T")) {
        if (out->reshape.count <= 1) return true;
        return hlo_read_error(r, hlo_here(r), "expected 'T(' to start sharding devices iota_transpose_perm");
    }
    if (out->reshape.count <= 1)
        return hlo_read_error(r, hlo_here(r), "an order of one dimension has no iota_transpose_perm");
    const char *perm_at = hlo_here(r);
    hlo_skip(r);
    return hlo_read_ints(r, HLO_TOK_LPAREN, HLO_TOK_RPAREN, &out->perm) && check_perm(r, perm_at, *out);
}

bool hlo_read_iota(HloReader *r, HloIota *out) {
    if (!hlo_expect(r, HLO_TOK_LESS_EQUAL, "expects '<='") || !read_reshape(r, out)) return false;
    *out = hlo_iota_normal(r->arena, *out);
    return true;
}

// ---- meshes ---------------------------------------------------------------------------------------------

bool hlo_at_mesh(const HloReader *r) {
    return (hlo_at_word(r, "mesh") || hlo_at_word(r, "maximal_mesh")) && hlo_lex_peek(&r->lex) == '[';
}

enum { MOST_AXES = 128 };

// axis = string "=" int
static bool read_mesh_axis(HloReader *r, void *data) {
    HloMeshAxis axis;
    const char *at = hlo_here(r);
    if (!hlo_read_string(r, &axis.name, NULL) || !hlo_expect(r, HLO_TOK_EQUAL, "expects '=' behind the axis name"))
        return false;
    if (!hlo_read_int(r, &axis.size)) return false;
    if (axis.size < 1) return hlo_read_error(r, at, "axis sizes must be positive");
    const HloItems *axes = data;
    if (axes->count == MOST_AXES) return hlo_read_error(r, at, "a mesh can have at most %d axes", MOST_AXES);
    for (size_t i = 0; i < axes->count; i++) {
        if (strcmp(((const HloMeshAxis *)axes->data)[i].name, axis.name) == 0)
            return hlo_read_error(r, at, "the mesh has two axes '%.100s'", axis.name);
    }
    *(HloMeshAxis *)hlo_items_push(r, data, sizeof axis) = axis;
    return true;
}

static bool mesh_size(const HloMesh *mesh, int64_t *out) {
    *out = 1;
    for (size_t i = 0; i < mesh->axis_count; i++) {
        if (!hlo_i64_mul(*out, mesh->axes[i].size, out)) return false;
    }
    return true;
}

// Explicit ids must be a permutation of 0 … n-1 other than the identity.
static bool check_device_ids(HloReader *r, const char *at, HloDims ids, int64_t size) {
    if ((int64_t)ids.count != size)
        return hlo_read_error(r, at, "Expected %lld device_ids based on mesh axes, but got %zu", (long long)size,
                              ids.count);
    HloBits seen = hlo_bits_new(r->scratch, ids.count);
    bool identity = true;
    for (size_t i = 0; i < ids.count; i++) {
        if (ids.data[i] < 0 || (uint64_t)ids.data[i] >= ids.count || !hlo_bits_claim(seen, (size_t)ids.data[i]))
            return hlo_read_error(r, at, "device_ids must be a permutation of 0 to %zu", ids.count - 1);
        identity = identity && ids.data[i] == (int64_t)i;
    }
    return !identity || hlo_read_error(r, at, "device_ids must not be given when they are in order");
}

// ids = "(" (ints | "[" ints "]" ("T(" ints ")")?) ")"
static bool read_device_ids(HloReader *r, HloMesh *mesh) {
    const char *at = hlo_here(r);
    int64_t size;
    if (!mesh_size(mesh, &size)) return hlo_read_error(r, at, "mesh size overflows int64");
    if (hlo_lex_peek(&r->lex) != '[')
        return hlo_read_ints(r, HLO_TOK_LPAREN, HLO_TOK_RPAREN, &mesh->device_ids) &&
               check_device_ids(r, at, mesh->device_ids, size);
    if (!hlo_expect(r, HLO_TOK_LPAREN, "expects '(' behind device_ids=") || !read_reshape(r, &mesh->iota)) return false;
    int64_t total;
    product(mesh->iota.reshape, &total);
    if (total != size)
        return hlo_read_error(r, at, "Expected %lld device_ids based on mesh axes, but got %lld", (long long)size,
                              (long long)total);
    mesh->iota = hlo_iota_normal(r->arena, mesh->iota);
    if (mesh->iota.reshape.count == 1) mesh->iota = (HloIota){0};  // the identity says nothing
    return hlo_expect(r, HLO_TOK_RPAREN, "expects ')' at the end of device_ids");
}

// maximal_mesh[device_id=N]
static bool read_maximal_mesh(HloReader *r, HloMesh *mesh) {
    int64_t *device = HLO_NEW(r->arena, int64_t);
    mesh->maximal = true;
    mesh->device_ids = (HloDims){device, 1};
    hlo_skip(r);
    if (!hlo_expect(r, HLO_TOK_LSQUARE, "expects '[' behind maximal_mesh")) return false;
    if (!hlo_at_attr(r, "device_id")) return hlo_read_error(r, hlo_here(r), "expects device_id=");
    hlo_skip(r);
    return hlo_read_int(r, device) && hlo_expect(r, HLO_TOK_RSQUARE, "expects ']' at the end of maximal_mesh");
}

// mesh = "mesh[" (axis ("," axis)*)? "]" ("," "device_ids=" ids)?
static bool read_mesh(HloReader *r, const HloMesh **out) {
    HloMesh *mesh = HLO_NEW(r->arena, HloMesh);
    *out = mesh;
    if (hlo_at_word(r, "maximal_mesh")) return read_maximal_mesh(r, mesh);
    HloItems axes = {0};
    hlo_skip(r);
    if (!hlo_read_list(r, HLO_TOK_LSQUARE, HLO_TOK_RSQUARE, read_mesh_axis, &axes)) return false;
    mesh->axes = hlo_items_copy(r, &axes, sizeof(HloMeshAxis));
    mesh->axis_count = axes.count;
    int64_t size;
    if (!mesh_size(mesh, &size)) return hlo_read_error(r, hlo_here(r), "mesh size overflows int64");
    if (hlo_tok(r) != HLO_TOK_COMMA) return true;
    HloLexer ahead = r->lex;
    hlo_lex_next(&ahead);
    if (ahead.token.kind != HLO_TOK_ATTR || ahead.token.size != 10 || memcmp(ahead.token.text, "device_ids", 10))
        return true;
    hlo_skip(r);
    hlo_skip(r);
    return read_device_ids(r, mesh);
}

// ---- axes -----------------------------------------------------------------------------------------------

// Axes being read, of one mesh.
typedef struct AxisReader {
    const HloMesh *mesh;
    HloItems refs;
    bool open;  // ended in `?`
    bool may_be_open;
} AxisReader;

// An axis by name, or by its index written as a string.
static bool find_axis(HloReader *r, const char *at, const HloMesh *mesh, const char *name, int64_t *out) {
    for (size_t i = 0; i < mesh->axis_count; i++) {
        if (strcmp(mesh->axes[i].name, name)) continue;
        *out = (int64_t)i;
        return true;
    }
    char *end;
    long long index = strtoll(name, &end, 10);
    if (!*name || *end || *name == ' ' || *name == '+')
        return hlo_read_error(r, at, "axis '%.100s' is not a valid axis name or index in the mesh", name);
    if (index < 0 || (uint64_t)index >= mesh->axis_count)
        return hlo_read_error(r, at, "axis index %lld is out of bounds for the mesh, which has %zu axes", index,
                              mesh->axis_count);
    *out = index;
    return true;
}

static bool check_sub_axis(HloReader *r, const char *at, const HloMesh *mesh, HloAxisRef ref) {
    int64_t whole = mesh->axes[ref.axis].size, end;
    bool ok =
        ref.pre >= 1 && ref.size >= 2 && ref.size < whole && hlo_i64_mul(ref.pre, ref.size, &end) && whole % end == 0;
    return ok || hlo_read_error(r, at, "sub-axis (%lld)%lld does not divide an axis of size %lld", (long long)ref.pre,
                                (long long)ref.size, (long long)whole);
}

static HloAxisRef *ref_at(const HloItems *refs, size_t i) {
    return (HloAxisRef *)refs->data + i;
}

// First and one-past-last position of a reference inside its axis.
static int64_t ref_begin(HloAxisRef ref) {
    return ref.size ? ref.pre : 1;
}
static int64_t ref_end(const HloMesh *mesh, HloAxisRef ref) {
    return ref.size ? ref.pre * ref.size : mesh->axes[ref.axis].size;
}

static bool check_new_ref(HloReader *r, const char *at, const AxisReader *axes, HloAxisRef ref) {
    for (size_t i = 0; i < axes->refs.count; i++) {
        HloAxisRef old = *ref_at(&axes->refs, i);
        if (old.axis != ref.axis) continue;
        bool before = ref_end(axes->mesh, old) <= ref_begin(ref), behind = ref_end(axes->mesh, ref) <= ref_begin(old);
        if (!before && !behind) return hlo_read_error(r, at, "axes overlap");
        bool adjacent = i + 1 == axes->refs.count && ref_end(axes->mesh, old) == ref_begin(ref);
        if (adjacent) return hlo_read_error(r, at, "adjacent sub-axes must be written as one");
    }
    return true;
}

// axis = string (":" "(" int ")" int)? | "?"
static bool read_axis(HloReader *r, void *data) {
    AxisReader *axes = data;
    const char *at = hlo_here(r);
    if (axes->open) return hlo_read_error(r, at, "Saw axis ref after '?'");
    if (axes->may_be_open && hlo_accept(r, HLO_TOK_QUESTION)) {
        axes->open = true;
        return true;
    }
    const char *name;
    HloAxisRef ref = {0};
    if (!hlo_read_string(r, &name, NULL) || !find_axis(r, at, axes->mesh, name, &ref.axis)) return false;
    if (hlo_accept(r, HLO_TOK_COLON)) {
        if (!hlo_expect(r, HLO_TOK_LPAREN, "expects '(' in a sub-axis") || !hlo_read_int(r, &ref.pre)) return false;
        if (!hlo_expect(r, HLO_TOK_RPAREN, "expects ')' in a sub-axis") || !hlo_read_int(r, &ref.size)) return false;
        if (!check_sub_axis(r, at, axes->mesh, ref)) return false;
    }
    if (!check_new_ref(r, at, axes, ref)) return false;
    *(HloAxisRef *)hlo_items_push(r, &axes->refs, sizeof ref) = ref;
    return true;
}

// axes = "{" (axis ("," axis)*)? "}"
static bool read_axes(HloReader *r, const HloMesh *mesh, bool *open, HloAxisList *out) {
    AxisReader axes = {.mesh = mesh, .may_be_open = open != NULL};
    if (!hlo_read_list(r, HLO_TOK_LBRACE, HLO_TOK_RBRACE, read_axis, &axes)) return false;
    if (open) *open = axes.open;
    *out = (HloAxisList){hlo_items_copy(r, &axes.refs, sizeof(HloAxisRef)), axes.refs.count};
    return true;
}

// ---- named shardings ------------------------------------------------------------------------------------

typedef struct NamedDims {
    const HloMesh *mesh;
    HloItems dims;
} NamedDims;

static bool read_named_dim(HloReader *r, void *data) {
    NamedDims *list = data;
    HloNamedDim dim = {0};
    if (!read_axes(r, list->mesh, &dim.open, &dim.axes)) return false;
    *(HloNamedDim *)hlo_items_push(r, &list->dims, sizeof dim) = dim;
    return true;
}

// Lists beside the dimensions stand in the order of the mesh.
static bool read_sorted_axes(HloReader *r, const HloMesh *mesh, HloAxisList *out) {
    const char *at = hlo_here(r);
    if (!read_axes(r, mesh, NULL, out)) return false;
    for (size_t i = 1; i < out->count; i++) {
        HloAxisRef a = out->refs[i - 1], b = out->refs[i];
        if (a.axis > b.axis || (a.axis == b.axis && a.pre > b.pre))
            return hlo_read_error(r, at, "these axes must stand in the order of the mesh");
    }
    return true;
}

static bool read_reduction(HloReader *r, HloReduction *out) {
    if (hlo_at_word(r, "sum"))
        *out = HLO_REDUCTION_SUM;
    else if (hlo_at_word(r, "max"))
        *out = HLO_REDUCTION_MAX;
    else if (hlo_at_word(r, "min"))
        *out = HLO_REDUCTION_MIN;
    else
        return hlo_read_error(r, hlo_here(r), "expected sum, max, or min for unreduced op");
    hlo_skip(r);
    return true;
}

static bool read_named_metadata(HloReader *r, HloSharding *out) {
    HloVec list = {0};
    bool many = hlo_tok(r) == HLO_TOK_LBRACE && hlo_lex_peek(&r->lex) == '{';
    if (many) hlo_skip(r);
    do {
        const HloMetadata *md;
        if (!hlo_read_metadata(r, &md)) return false;
        hlo_vec_push(r->scratch, &list, md);
    } while (many && hlo_accept(r, HLO_TOK_COMMA));
    if (many && !hlo_expect(r, HLO_TOK_RBRACE, "expects '}' at the end of metadata")) return false;
    out->metadata = hlo_arena_copy(r->arena, list.items, list.count * sizeof *list.items);
    out->metadata_count = list.count;
    return true;
}

// unreduced=op? axes?     without axes: all of them
static bool read_unreduced(HloReader *r, HloSharding *out) {
    if (hlo_tok(r) != HLO_TOK_LBRACE && !read_reduction(r, &out->reduction)) return false;
    out->named_unreduced = hlo_tok(r) != HLO_TOK_LBRACE;
    return out->named_unreduced || read_sorted_axes(r, out->mesh, &out->unreduced_axes);
}

static bool read_named_item(HloReader *r, HloSharding *out) {
    bool replicated = hlo_at_attr(r, "replicated"), manual = hlo_at_attr(r, "manual");
    bool unreduced = hlo_at_attr(r, "unreduced"), metadata = hlo_at_attr(r, "metadata");
    if (!replicated && !manual && !unreduced && !metadata)
        return hlo_read_error(
            r, hlo_here(r), "unknown attribute in named sharding: expected replicated, unreduced, manual or metadata");
    hlo_skip(r);
    if (replicated) return read_sorted_axes(r, out->mesh, &out->replicated_axes);
    if (manual) return read_sorted_axes(r, out->mesh, &out->manual_axes);
    if (unreduced) return read_unreduced(r, out);
    return read_named_metadata(r, out);
}

// The word behind the mesh: all of it is replicated, manual or unreduced. False when there is none.
static bool read_whole_mesh_word(HloReader *r, HloSharding *out) {
    out->named_replicated = hlo_tok(r) == HLO_TOK_REPLICATED;
    out->named_manual = hlo_tok(r) == HLO_TOK_MANUAL;
    out->named_unreduced = hlo_tok(r) == HLO_TOK_UNREDUCED;
    if (!out->named_replicated && !out->named_manual && !out->named_unreduced) return false;
    hlo_skip(r);
    return true;
}

// Whether the list is every axis of the mesh, whole and in order.
static bool is_whole_mesh(const HloMesh *mesh, HloAxisList axes) {
    if (axes.count != mesh->axis_count || axes.count == 0) return false;
    for (size_t i = 0; i < axes.count; i++) {
        if (axes.refs[i].axis != (int64_t)i || axes.refs[i].size) return false;
    }
    return true;
}

void hlo_named_sharding_normal(HloSharding *s) {
    if (s->named_dim_count || s->replicated_axes.count) return;
    if (s->named_replicated || s->named_manual || s->named_unreduced) return;
    if (is_whole_mesh(s->mesh, s->manual_axes) && !s->unreduced_axes.count) {
        s->named_manual = true;
        s->manual_axes = (HloAxisList){0};
    } else if (is_whole_mesh(s->mesh, s->unreduced_axes) && !s->manual_axes.count) {
        s->named_unreduced = true;
        s->unreduced_axes = (HloAxisList){0};
    } else if (!s->manual_axes.count && !s->unreduced_axes.count && !s->mesh->maximal) {
        s->named_replicated = true;
    }
}

// named = mesh ","? (word | "[" (axes ("," axes)*)? "]" | item) ("," item)*
bool hlo_read_named_sharding(HloReader *r, HloSharding *out) {
    out->kind = HLO_SHARDING_NAMED;
    if (!read_mesh(r, &out->mesh)) return false;
    hlo_accept(r, HLO_TOK_COMMA);
    if (hlo_tok(r) == HLO_TOK_LSQUARE) {
        NamedDims list = {.mesh = out->mesh};
        if (!hlo_read_list(r, HLO_TOK_LSQUARE, HLO_TOK_RSQUARE, read_named_dim, &list)) return false;
        out->named_dims = hlo_items_copy(r, &list.dims, sizeof(HloNamedDim));
        out->named_dim_count = list.dims.count;
    } else if (!read_whole_mesh_word(r, out)) {
        if (hlo_tok(r) == HLO_TOK_RBRACE)
            return out->mesh->maximal || hlo_read_error(r, hlo_here(r), "unexpected token");
        if (!read_named_item(r, out)) return false;
    }
    while (hlo_accept(r, HLO_TOK_COMMA)) {
        if (!read_named_item(r, out)) return false;
    }
    hlo_named_sharding_normal(out);
    return true;
}

// ---- replica groups -------------------------------------------------------------------------------------

static bool read_iota_groups(HloReader *r, HloGroups *out) {
    const char *at = hlo_here(r);
    HloDims dims;
    if (!hlo_read_ints(r, HLO_TOK_LSQUARE, HLO_TOK_RSQUARE, &dims)) return false;
    if (hlo_tok(r) != HLO_TOK_LESS_EQUAL)
        return hlo_read_error(r, hlo_here(r),
                              "Caller expected iota tile assignment when parsing, which should not have any "
                              "manual device entries.");
    if (!hlo_read_iota(r, &out->iota)) return false;
    if (dims.count != 2) return hlo_read_error(r, at, "replica groups have two dimensions: [groups,size]<=[…]");
    int64_t wanted, total;
    if (!product(dims, &wanted) || !product(out->iota.reshape, &total) || wanted != total)
        return hlo_read_error(r, at, "the two sides of '<=' must have the same number of devices");
    out->form = HLO_GROUPS_IOTA;
    out->groups = dims.data[0];
    out->size = dims.data[1];
    return true;
}

// groups = "{" (ints ("," ints)*)? "}" | "[" ints "]" iota | mesh axes
bool hlo_read_groups(HloReader *r, const HloGroups **out) {
    HloGroups *groups = HLO_NEW(r->arena, HloGroups);
    *out = groups;
    if (hlo_tok(r) == HLO_TOK_LSQUARE) return read_iota_groups(r, groups);
    if (!hlo_at_mesh(r)) return hlo_read_int_lists(r, &groups->lists);
    groups->form = HLO_GROUPS_MESH;
    return hlo_version_has(r, hlo_here(r), HLO_FORM_MESH_GROUPS) && read_mesh(r, &groups->mesh) &&
           read_axes(r, groups->mesh, NULL, &groups->axes);
}
