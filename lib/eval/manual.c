// The border of manual computations: from a global array to the piece of this device, and back.
//
//   mesh <["d"=4]>, sharding [{"d"}, {}]:   f32[8,6] GlobalToLocalShape → rows 2p and 2p + 1 on partition p
//
// Before partitioning every device holds the whole of every array. Inside a manual computation (JAX's shard_map) each
// works on its own piece, cut along the manual axes of the mesh; at its end the pieces are put together again.

#include <ctype.h>
#include <stdlib.h>

#include "lib/eval/devices.h"

enum { MOST_AXES = 32, MOST_NAME = 64 };

typedef struct Axis {
    char name[MOST_NAME];
    int64_t size;
    bool manual;
} Axis;

// The mesh, and where partitions lie in it.
typedef struct Mesh {
    Axis axes[MOST_AXES];
    size_t axis_count;
    int64_t count;
    const char *device_ids;  // text of the list of partitions in the order of the mesh; NULL: 0, 1, 2, …
} Mesh;

// How one value is cut: for each dimension the axes that split it, major ones first.
typedef struct Cut {
    int64_t axes[HLO_EVAL_RANK][MOST_AXES];
    size_t counts[HLO_EVAL_RANK];
    size_t rank;
} Cut;

// ---- reading --------------------------------------------------------------------------------------------

static HloStatus unreadable(const char *what) {
    return hlo_error(HLO_UNIMPLEMENTED, "this form of %s cannot be interpreted", what);
}

static bool skip(const char **at, const char *word) {
    while (**at == ' ') ++*at;
    size_t size = strlen(word);
    if (strncmp(*at, word, size) != 0) return false;
    *at += size;
    return true;
}

// "name", whose quotes may be escaped.
static bool read_name(const char **at, char name[MOST_NAME]) {
    skip(at, "\\");
    if (!skip(at, "\"")) return false;
    size_t size = strcspn(*at, "\\\"");
    if (size >= MOST_NAME) return false;
    memcpy(name, *at, size);
    name[size] = 0;
    *at += size;
    skip(at, "\\");
    return skip(at, "\"");
}

// `["d"=8, "e"=2]`, and perhaps `, device_ids=[…]`.
static HloStatus read_mesh(const char *at, Mesh *mesh) {
    mesh->count = 1;
    if (!skip(&at, "<[")) return unreadable("mesh");
    while (!skip(&at, "]")) {
        Axis *axis = mesh->axes + mesh->axis_count;
        char *end;
        skip(&at, ",");
        if (mesh->axis_count == MOST_AXES || !read_name(&at, axis->name) || !skip(&at, "=")) return unreadable("mesh");
        axis->size = strtoll(at, &end, 10);
        bool fits = axis->size >= 1 && !__builtin_mul_overflow(mesh->count, axis->size, &mesh->count);
        if (end == at || !fits) return unreadable("mesh");
        at = end;
        mesh->axis_count++;
    }
    if (skip(&at, ",") && skip(&at, "device_ids=")) mesh->device_ids = at;
    return hlo_ok();
}

// The mesh of that name among the module's, `{mesh = #sdy.mesh<…>, …}`.
static HloStatus find_mesh(const HloModule *m, const char *name, size_t size, Mesh *mesh) {
    for (size_t k = 0; k < m->frontend_attributes.count; k++) {
        if (strcmp(m->frontend_attributes.pairs[k].key, "xla.sdy.meshes") != 0) continue;
        const char *text = m->frontend_attributes.pairs[k].value, *at = text;
        for (; (at = strstr(at, " = #sdy.mesh")); at++) {
            const char *start = at - size;
            bool whole = start >= text && (start == text || !(isalnum((unsigned char)start[-1]) || start[-1] == '_'));
            if (whole && strncmp(start, name, size) == 0) return read_mesh(at + strlen(" = #sdy.mesh"), mesh);
        }
    }
    return hlo_error(HLO_INVALID_ARGUMENT, "mesh @%.*s is not among the module's", (int)size, name);
}

static HloStatus mark_manual(const HloInstruction *inst, Mesh *mesh) {
    const char *at = hlo_frontend_attribute(inst, "xla.sdy.manual_axes");
    char name[MOST_NAME];
    if (!at || !(at = strchr(at, '{'))) return unreadable("manual axes");
    for (at++; !skip(&at, "}");) {
        skip(&at, ",");
        if (!read_name(&at, name)) return unreadable("manual axes");
        for (size_t k = 0; k < mesh->axis_count; k++) mesh->axes[k].manual |= strcmp(mesh->axes[k].name, name) == 0;
    }
    return hlo_ok();
}

// `{"a", "b"}` of one dimension; only manual axes cut.
static bool read_dim(const char **at, const Mesh *mesh, Cut *cut) {
    char name[MOST_NAME];
    size_t dim = cut->rank++;
    if (dim >= HLO_EVAL_RANK || !skip(at, "{")) return false;
    while (!skip(at, "}")) {
        skip(at, ",");
        if (skip(at, "?")) continue;
        if (!read_name(at, name) || **at == ':') return false;
        for (size_t k = 0; k < mesh->axis_count; k++) {
            bool cuts = mesh->axes[k].manual && strcmp(mesh->axes[k].name, name) == 0;
            if (cuts) cut->axes[dim][cut->counts[dim]++] = (int64_t)k;
        }
    }
    return true;
}

// Sharding `number` of `#sdy.sharding_per_value<[<@mesh, [{…}, …]>, …]>`, with its mesh.
static HloStatus read_sharding(const HloModule *m, const HloInstruction *inst, const char *key, size_t number,
                               Mesh *mesh, Cut *cut) {
    const char *at = hlo_frontend_attribute(inst, key);
    for (size_t k = 0; at && k <= number; k++) {
        at = strstr(at, "<@");
        if (at) at += 2;
    }
    if (!at) return unreadable("shardings");
    size_t size = strcspn(at, ",>");
    *mesh = (Mesh){.axis_count = 0};
    *cut = (Cut){.rank = 0};
    HLO_TRY(find_mesh(m, at, size, mesh));
    HLO_TRY(mark_manual(inst, mesh));
    at += size;
    if (!skip(&at, ",") || !skip(&at, "[")) return unreadable("shardings");
    while (!skip(&at, "]")) {
        skip(&at, ",");
        if (!read_dim(&at, mesh, cut)) return unreadable("shardings");
    }
    return hlo_ok();
}

// ---- pieces ---------------------------------------------------------------------------------------------

// Coordinates of a partition in the mesh.
static HloStatus locate(const Mesh *mesh, int64_t partition, int64_t *coordinates) {
    int64_t place = mesh->device_ids ? -1 : partition;
    const char *at = mesh->device_ids;
    for (int64_t k = 0; at && k < mesh->count; k++) {
        char *end;
        at += strcspn(at, "0123456789");
        if (strtoll(at, &end, 10) == partition && end != at) place = k;
        at = end;
    }
    if (place < 0 || place >= mesh->count) {
        return hlo_error(HLO_INVALID_ARGUMENT, "partition %lld is not in the mesh", (long long)partition);
    }
    for (size_t k = mesh->axis_count; k-- > 0; place /= mesh->axes[k].size) {
        coordinates[k] = place % mesh->axes[k].size;
    }
    return hlo_ok();
}

// The box of a partition's piece within the global array, and where it starts.
static HloStatus find_piece(const Mesh *mesh, const Cut *cut, const int64_t *coordinates, const HloShape *global,
                            const HloShape *local, HloBox *box, int64_t *start) {
    bool fits = cut->rank == global->rank && global->rank == local->rank && global->type == local->type;
    int64_t steps[HLO_EVAL_RANK];
    hlo_row_steps(global, steps);
    *box = (HloBox){.rank = local->rank};
    *start = 0;
    for (size_t d = 0; fits && d < local->rank; d++) {
        int64_t at = 0, pieces = 1;
        for (size_t k = 0; k < cut->counts[d]; k++) {
            at = at * mesh->axes[cut->axes[d][k]].size + coordinates[cut->axes[d][k]];
            pieces *= mesh->axes[cut->axes[d][k]].size;
        }
        fits = global->dims[d] == pieces * local->dims[d];
        *start += at * local->dims[d] * steps[d];
        box->size[d] = local->dims[d];
    }
    return fits ? hlo_ok() : hlo_error(HLO_INVALID_ARGUMENT, "the sharding does not fit the shapes");
}

static HloStatus check_world(const HloWorld *world, const Mesh *mesh) {
    if (mesh->count == world->partitions) return hlo_ok();
    return hlo_error(HLO_INVALID_ARGUMENT, "its mesh has %lld devices, but %lld partitions are simulated",
                     (long long)mesh->count, (long long)world->partitions);
}

static HloStatus take_piece(HloMachine *vm, const HloInstruction *inst, size_t k, const HloDatum *from, HloDatum *to) {
    Mesh mesh;
    Cut cut;
    HloBox box;
    int64_t coordinates[MOST_AXES], start;
    HLO_TRY(read_sharding(vm->m, inst, "xla.sdy.in_shardings", k, &mesh, &cut));
    HLO_TRY(check_world(vm->device->world, &mesh));
    HLO_TRY(locate(&mesh, vm->device->partition, coordinates));
    HLO_TRY(find_piece(&mesh, &cut, coordinates, from->shape, to->shape, &box, &start));
    hlo_row_steps(from->shape, box.from_step);
    hlo_row_steps(to->shape, box.to_step);
    hlo_box_copy(&box, from->data + start * (int64_t)from->element_bytes, to->data, to->element_bytes);
    return hlo_ok();
}

HLO_RULE(hlo_rule_global_to_local) {
    HLO_TRY(hlo_datum_new_like(vm, inst->shape, out));
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        HLO_TRY(take_piece(vm, inst, k, args[k], hlo_datum_leaf(*out, k)));
    }
    return hlo_ok();
}

// ---- putting together -----------------------------------------------------------------------------------

// Whether two devices differ along manual axes only.
static bool is_near(const Mesh *mesh, const int64_t *a, const int64_t *b) {
    for (size_t k = 0; k < mesh->axis_count; k++) {
        if (!mesh->axes[k].manual && a[k] != b[k]) return false;
    }
    return true;
}

static HloStatus place_pieces(const HloParty *party, const HloDevice *member, const HloInstruction *inst, size_t k) {
    Mesh mesh;
    Cut cut;
    int64_t own[MOST_AXES], other[MOST_AXES], start;
    HloDatum *to = hlo_datum_leaf(member->taken, k);
    HLO_TRY(read_sharding(member->vm.m, inst, "xla.sdy.out_shardings", k, &mesh, &cut));
    HLO_TRY(check_world(member->world, &mesh));
    HLO_TRY(locate(&mesh, member->partition, own));
    for (size_t m = 0; m < party->count; m++) {
        const HloDatum *from = party->members[m]->brought[k];
        HloBox box;
        HLO_TRY(locate(&mesh, party->members[m]->partition, other));
        if (!is_near(&mesh, own, other)) continue;
        HLO_TRY(find_piece(&mesh, &cut, other, to->shape, from->shape, &box, &start));
        hlo_row_steps(from->shape, box.from_step);
        hlo_row_steps(to->shape, box.to_step);
        hlo_box_copy(&box, from->data, to->data + start * (int64_t)to->element_bytes, to->element_bytes);
    }
    return hlo_ok();
}

static HloStatus meet_local_to_global(const HloParty *party, const HloInstruction *inst) {
    for (size_t m = 0; m < party->count; m++) {
        HloDevice *member = party->members[m];
        HLO_TRY(hlo_datum_new_like(&member->vm, inst->shape, &member->taken));
        for (size_t k = 0; k < hlo_operand_count(inst); k++) HLO_TRY(place_pieces(party, member, inst, k));
    }
    return hlo_ok();
}

HLO_RULE(hlo_rule_local_to_global) {
    HloDevice *device = vm->device;
    HloArena arena = {.trap = vm->arena.trap};
    size_t count = (size_t)device->world->partitions;
    HloParty party = {HLO_NEW_ARRAY(&arena, HloDevice *, count), count};
    for (size_t k = 0; k < count; k++) {
        party.members[k] = hlo_device_at(device->world, device->replica, (int64_t)k);
    }
    HloStatus status = hlo_meet(device, inst, args, &party, meet_local_to_global, out);
    hlo_arena_free(&arena);
    return status;
}
