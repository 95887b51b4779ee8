// Groups of collectives: which devices take part in one together.
//
//   replica_groups={{0,2},{1,3}}   →   device 2 meets device 0, in the order of its group
//
// Source: the collectives chapter, §1.1.

#include "lib/eval/devices.h"

typedef enum Mode { CROSS_REPLICA, CROSS_PARTITION, REPLICA_AND_PARTITION, FLATTENED } Mode;

static Mode mode_of(const HloInstruction *inst) {
    if (!hlo_has(inst, HLO_ATTR_CHANNEL_ID)) return CROSS_REPLICA;
    if (!hlo_op_uses(inst->op, HLO_ATTR_USE_GLOBAL_DEVICE_IDS)) return CROSS_PARTITION;
    return hlo_int(inst, HLO_ATTR_USE_GLOBAL_DEVICE_IDS) ? FLATTENED : REPLICA_AND_PARTITION;
}

HloDevice *hlo_device_at(const HloWorld *world, int64_t replica, int64_t partition) {
    bool exists = replica >= 0 && replica < world->replicas && partition >= 0 && partition < world->partitions;
    return exists ? world->devices + replica * world->partitions + partition : NULL;
}

// The device that `id` means to `device`; with REPLICA_AND_PARTITION that of partition `part`.
static HloDevice *member_at(const HloDevice *device, Mode mode, int64_t id, int64_t part) {
    const HloWorld *world = device->world;
    switch (mode) {
    case CROSS_REPLICA: return hlo_device_at(world, id, device->partition);
    case CROSS_PARTITION: return hlo_device_at(world, device->replica, id);
    case REPLICA_AND_PARTITION: return hlo_device_at(world, id, part);
    case FLATTENED: return id < 0 ? NULL : hlo_device_at(world, id / world->partitions, id % world->partitions);
    }
    return NULL;
}

static int64_t id_count(const HloWorld *world, Mode mode) {
    switch (mode) {
    case CROSS_REPLICA:
    case REPLICA_AND_PARTITION: return world->replicas;
    case CROSS_PARTITION: return world->partitions;
    case FLATTENED: return world->count;
    }
    return 0;
}

static HloStatus list_members(const HloDevice *device, Mode mode, HloDims ids, HloParty *party, bool *found) {
    int64_t parts = mode == REPLICA_AND_PARTITION ? device->world->partitions : 1;
    party->count = 0;
    *found = false;
    for (size_t k = 0; k < ids.count; k++) {
        for (int64_t part = 0; part < parts; part++) {
            HloDevice *member = member_at(device, mode, ids.data[k], part);
            if (!member) {
                return hlo_error(HLO_INVALID_ARGUMENT, "group member %lld does not exist among %lld devices",
                                 (long long)ids.data[k], (long long)device->world->count);
            }
            *found |= member == device;
            party->members[party->count++] = member;
        }
    }
    return hlo_ok();
}

HloStatus hlo_find_party(HloDevice *device, const HloInstruction *inst, HloArena *arena, HloParty *party) {
    Mode mode = mode_of(inst);
    const HloGroups *groups = hlo_data(inst, HLO_ATTR_REPLICA_GROUPS);
    HloIntLists lists = {NULL, 0};
    if (groups && !hlo_groups_expand(arena, groups, &lists)) {
        return hlo_error(HLO_RESOURCE_EXHAUSTED, "its groups have too many members");
    }
    int64_t ids = id_count(device->world, mode);
    int64_t *everybody = HLO_NEW_ARRAY(arena, int64_t, (size_t)ids);
    for (int64_t k = 0; k < ids; k++) everybody[k] = k;
    HloDims all = {everybody, (size_t)ids};
    bool found = false;
    for (size_t g = 0; g < (lists.count ? lists.count : 1) && !found; g++) {
        HloDims list = lists.count ? lists.lists[g] : all;
        party->members = HLO_NEW_ARRAY(arena, HloDevice *, list.count * (size_t)device->world->partitions);
        HLO_TRY(list_members(device, mode, list, party, &found));
    }
    if (!found) return hlo_error(HLO_INVALID_ARGUMENT, "this device is in none of its groups");
    return hlo_ok();
}

// ---- how many there are ---------------------------------------------------------------------------------

// One past the largest id that the instruction names.
static int64_t count_named(HloArena *arena, const HloInstruction *inst) {
    const HloGroups *groups = hlo_data(inst, HLO_ATTR_REPLICA_GROUPS);
    const HloIntLists *pairs = hlo_data(inst, HLO_ATTR_SOURCE_TARGET_PAIRS);
    HloIntLists lists = pairs ? *pairs : (HloIntLists){NULL, 0};
    if (groups && !hlo_groups_expand(arena, groups, &lists)) return 0;
    int64_t most = -1;
    for (size_t k = 0; k < lists.count; k++) {
        for (size_t i = 0; i < lists.lists[k].count; i++) {
            int64_t id = lists.lists[k].data[i];
            if (id > most && id < INT64_MAX) most = id;
        }
    }
    return most + 1;
}

static void make_room(const HloInstruction *inst, int64_t named, int64_t *replicas, int64_t *partitions) {
    switch (mode_of(inst)) {
    case CROSS_REPLICA:
    case REPLICA_AND_PARTITION:
        if (named > *replicas) *replicas = named;
        return;
    case CROSS_PARTITION:
        if (named > *partitions) *partitions = named;
        return;
    case FLATTENED:
        if (named / *replicas >= *partitions) *partitions = (named - 1) / *replicas + 1;
        return;
    }
}

typedef struct Count {
    const HloModule *m;
    HloArena arena;
    int64_t replicas, partitions;
} Count;

static HloStatus count_devices(void *data) {
    Count *count = data;
    HLO_EACH_COMP(comp, count->m) {
        HLO_EACH_INST(inst, comp) {
            int64_t named = count_named(&count->arena, inst);
            if (named > 0) make_room(inst, named, &count->replicas, &count->partitions);
        }
    }
    return hlo_ok();
}

HloStatus hlo_eval_count_devices(const HloModule *m, int64_t *replicas, int64_t *partitions) {
    Count count = {.m = m, .replicas = m->replica_count, .partitions = m->num_partitions};
    if (count.replicas < 1) count.replicas = 1;
    if (count.partitions < 1) count.partitions = 1;
    HloStatus status = hlo_guarded((HloArena *const[]){&count.arena, NULL}, count_devices, &count);
    hlo_arena_free(&count.arena);
    *replicas = count.replicas;
    *partitions = count.partitions;
    return status;
}
