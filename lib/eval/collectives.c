// Collectives: what each device takes home from a meeting with the others of its group.
//
//   all-reduce, replica_groups={{0,1}}   →   both take f(x0, x1), folded in the order of the group
//
// A -start computes what its collective does; the -done only takes the result out. Source: the collectives chapter,
// §1.1 (groups), and the verifier chapter, §6.5 (shapes).

#include <stdlib.h>

#include "lib/eval/devices.h"

// ---- groups ---------------------------------------------------------------------------------------------

typedef enum Mode { CROSS_REPLICA, CROSS_PARTITION, REPLICA_AND_PARTITION, FLATTENED } Mode;

static Mode mode_of(const HloInstruction *inst) {
    if (!hlo_has(inst, HLO_ATTR_CHANNEL_ID)) return CROSS_REPLICA;
    if (!hlo_op_uses(inst->op, HLO_ATTR_USE_GLOBAL_DEVICE_IDS)) return CROSS_PARTITION;
    return hlo_int(inst, HLO_ATTR_USE_GLOBAL_DEVICE_IDS) ? FLATTENED : REPLICA_AND_PARTITION;
}

static HloDevice *device_at(const HloWorld *world, int64_t replica, int64_t partition) {
    bool exists = replica >= 0 && replica < world->replicas && partition >= 0 && partition < world->partitions;
    return exists ? world->devices + replica * world->partitions + partition : NULL;
}

// The device that `id` means to `device`; with REPLICA_AND_PARTITION that of partition `part`.
static HloDevice *member_at(const HloDevice *device, Mode mode, int64_t id, int64_t part) {
    const HloWorld *world = device->world;
    switch (mode) {
    case CROSS_REPLICA: return device_at(world, id, device->partition);
    case CROSS_PARTITION: return device_at(world, device->replica, id);
    case REPLICA_AND_PARTITION: return device_at(world, id, part);
    case FLATTENED: return id < 0 ? NULL : device_at(world, id / world->partitions, id % world->partitions);
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

// The group of `device`; everybody when the instruction lists none.
static HloStatus find_party(HloDevice *device, const HloInstruction *inst, HloArena *arena, HloParty *party) {
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

// ---- results --------------------------------------------------------------------------------------------

// A -start of these carries its operands before the result.
static const HloShape *result_shape(const HloInstruction *inst) {
    bool pair = inst->op == HLO_OP_ALL_GATHER_START || inst->op == HLO_OP_COLLECTIVE_PERMUTE_START;
    return pair ? inst->shape->elements[1] : inst->shape;
}

// Elements along dimension `dim` and within, as one run of memory.
static int64_t inner_count(const HloShape *shape, int64_t dim) {
    int64_t count = 1;
    for (size_t d = (size_t)dim; d < shape->rank; d++) count *= shape->dims[d];
    return count;
}

// Puts `from` at position `at` along `dim` of `to`.
static void place(const HloDatum *from, HloDatum *to, int64_t dim, int64_t at) {
    int64_t part = inner_count(from->shape, dim), whole = inner_count(to->shape, dim);
    int64_t unit = dim + 1 < (int64_t)to->shape->rank ? inner_count(to->shape, dim + 1) : 1;
    HloBox box = {2, {part ? from->count / part : 0, part}, {part, 1}, {whole, 1}};
    hlo_box_copy(&box, from->data, to->data + at * unit * to->element_bytes, to->element_bytes);
}

// Takes the piece at position `at` along `dim` of `from`.
static void cut(const HloDatum *from, HloDatum *to, int64_t dim, int64_t at) {
    int64_t part = inner_count(to->shape, dim), whole = inner_count(from->shape, dim);
    int64_t unit = dim + 1 < (int64_t)from->shape->rank ? inner_count(from->shape, dim + 1) : 1;
    HloBox box = {2, {part ? to->count / part : 0, part}, {whole, 1}, {part, 1}};
    hlo_box_copy(&box, from->data + at * unit * from->element_bytes, to->data, to->element_bytes);
}

// Operand `k` folded over the members, in the operand's shape.
static HloStatus fold_operand(const HloParty *party, const HloInstruction *inst, size_t k, HloDatum **out) {
    HloMachine *vm = &party->members[0]->vm;
    HloDatum *first = party->members[0]->brought[k], *next = NULL;
    HLO_TRY(hlo_datum_new(vm, first->shape, out));
    HloStatus status = hlo_datum_new(vm, first->shape, &next);
    size_t bytes = hlo_is_ok(status) ? (size_t)first->count * first->element_bytes : 0;
    memcpy((*out)->data, first->data, bytes);
    for (size_t m = 1; m < party->count && hlo_is_ok(status); m++) {
        const void *in[2] = {(*out)->data, party->members[m]->brought[k]->data};
        void *result = next->data;
        status = hlo_apply_region(vm, hlo_called(inst, 0), first->count, in, &result);
        memcpy((*out)->data, next->data, bytes);
    }
    hlo_datum_drop(vm, next);
    return status;
}

// ---- meetings -------------------------------------------------------------------------------------------

// Every member gets a new result; leaf `k` is filled by `fill`.
typedef HloStatus (*Fill)(const HloParty *party, const HloInstruction *inst, size_t member, size_t k, HloDatum *to);

static HloStatus fill_results(const HloParty *party, const HloInstruction *inst, size_t leaves, Fill fill) {
    for (size_t m = 0; m < party->count; m++) {
        HloDevice *member = party->members[m];
        HLO_TRY(hlo_datum_new_like(&member->vm, result_shape(inst), &member->taken));
        for (size_t k = 0; k < leaves; k++) HLO_TRY(fill(party, inst, m, k, hlo_datum_leaf(member->taken, k)));
    }
    return hlo_ok();
}

// Every operand is folded over the members, and `give` hands each of them its part of the outcome.
static HloStatus meet_and_fold(const HloParty *party, const HloInstruction *inst,
                               void (*give)(const HloInstruction *inst, const HloDatum *folded, size_t m,
                                            HloDatum *to)) {
    for (size_t m = 0; m < party->count; m++) {
        HLO_TRY(hlo_datum_new_like(&party->members[m]->vm, inst->shape, &party->members[m]->taken));
    }
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        HloDatum *folded;
        HLO_TRY(fold_operand(party, inst, k, &folded));
        for (size_t m = 0; m < party->count; m++) give(inst, folded, m, hlo_datum_leaf(party->members[m]->taken, k));
        hlo_datum_drop(&party->members[0]->vm, folded);
    }
    return hlo_ok();
}

static void give_all(const HloInstruction *inst, const HloDatum *folded, size_t m, HloDatum *to) {
    (void)inst, (void)m;
    hlo_convert(folded->shape->type, folded->data, to->shape->type, to->data, to->count);
}

static HloStatus meet_all_reduce(const HloParty *party, const HloInstruction *inst) {
    return meet_and_fold(party, inst, give_all);
}

static void give_piece(const HloInstruction *inst, const HloDatum *folded, size_t m, HloDatum *to) {
    int64_t dim = hlo_int(inst, HLO_ATTR_DIMENSION);
    cut(folded, to, dim, (int64_t)m * to->shape->dims[dim]);
}

static HloStatus meet_reduce_scatter(const HloParty *party, const HloInstruction *inst) {
    return meet_and_fold(party, inst, give_piece);
}

static HloStatus fill_gathered(const HloParty *party, const HloInstruction *inst, size_t member, size_t k,
                               HloDatum *to) {
    int64_t dim = hlo_int(inst, HLO_ATTR_DIMENSION), at = 0;
    (void)member;
    for (size_t m = 0; m < party->count; m++) {
        const HloDatum *from = party->members[m]->brought[k];
        place(from, to, dim, at);
        at += from->shape->dims[dim];
    }
    return hlo_ok();
}

static HloStatus meet_all_gather(const HloParty *party, const HloInstruction *inst) {
    return fill_results(party, inst, hlo_operand_count(inst), fill_gathered);
}

// With a dimension: each member cuts its operand into as many pieces as there are members, and gets one of each.
static HloStatus fill_exchanged(const HloParty *party, const HloInstruction *inst, size_t member, size_t k,
                                HloDatum *to) {
    int64_t dim = hlo_int(inst, HLO_ATTR_DIMENSION), piece = to->shape->dims[dim] / (int64_t)party->count;
    for (size_t m = 0; m < party->count; m++) {
        const HloDatum *from = party->members[m]->brought[k];
        int64_t unit = inner_count(from->shape, dim) / (from->shape->dims[dim] ? from->shape->dims[dim] : 1);
        int64_t run = piece * unit, whole = inner_count(from->shape, dim);
        HloBox box = {2, {whole ? from->count / whole : 0, run}, {whole, 1}, {whole, 1}};
        hlo_box_copy(&box, from->data + (int64_t)member * run * from->element_bytes,
                     to->data + (int64_t)m * run * to->element_bytes, to->element_bytes);
    }
    return hlo_ok();
}

// Without: operand `member` of device m becomes result m of the member.
static HloStatus fill_handed_over(const HloParty *party, const HloInstruction *inst, size_t member, size_t k,
                                  HloDatum *to) {
    (void)inst;
    const HloDatum *from = party->members[k]->brought[member];
    memcpy(to->data, from->data, (size_t)to->count * to->element_bytes);
    return hlo_ok();
}

static HloStatus meet_all_to_all(const HloParty *party, const HloInstruction *inst) {
    if (hlo_has(inst, HLO_ATTR_DIMENSION)) return fill_results(party, inst, hlo_operand_count(inst), fill_exchanged);
    if (hlo_operand_count(inst) != party->count) {
        return hlo_error(HLO_INVALID_ARGUMENT, "%zu operands for a group of %zu", hlo_operand_count(inst),
                         party->count);
    }
    return fill_results(party, inst, party->count, fill_handed_over);
}

// The first member's value goes to everybody.
static HloStatus fill_broadcast(const HloParty *party, const HloInstruction *inst, size_t member, size_t k,
                                HloDatum *to) {
    (void)inst;
    (void)member;
    memcpy(to->data, party->members[0]->brought[k]->data, (size_t)to->count * to->element_bytes);
    return hlo_ok();
}

static HloStatus meet_broadcast(const HloParty *party, const HloInstruction *inst) {
    if (hlo_int(inst, HLO_ATTR_HAS_DYNAMIC_ROOT)) {
        return hlo_error(HLO_UNIMPLEMENTED, "a collective-broadcast with a dynamic root cannot be interpreted");
    }
    return fill_results(party, inst, hlo_operand_count(inst), fill_broadcast);
}

// A member that no pair names as target gets zeros. Members stand in the order of their ids.
static HloStatus fill_permuted(const HloParty *party, const HloInstruction *inst, size_t member, size_t k,
                               HloDatum *to) {
    const HloIntLists *pairs = hlo_data(inst, HLO_ATTR_SOURCE_TARGET_PAIRS);
    size_t bytes = (size_t)to->count * to->element_bytes;
    memset(to->data, 0, bytes);
    for (size_t p = 0; pairs && p < pairs->count; p++) {
        if (pairs->lists[p].data[1] != (int64_t)member) continue;
        int64_t source = pairs->lists[p].data[0];
        if (source < 0 || source >= (int64_t)party->count) {
            return hlo_error(HLO_INVALID_ARGUMENT, "its source %lld does not exist", (long long)source);
        }
        memcpy(to->data, party->members[source]->brought[k]->data, bytes);
    }
    return hlo_ok();
}

static HloStatus meet_permute(const HloParty *party, const HloInstruction *inst) {
    if (hlo_has(inst, HLO_ATTR_PERMUTE_SLICE_SIZES)) {
        return hlo_error(HLO_UNIMPLEMENTED, "a collective-permute of slices cannot be interpreted");
    }
    return fill_results(party, inst, hlo_operand_count(inst), fill_permuted);
}

// ---- rules ----------------------------------------------------------------------------------------------

static HloMeeting meeting_of(HloOpcode op) {
    switch ((int)op) {
    case HLO_OP_ALL_REDUCE:
    case HLO_OP_ALL_REDUCE_START: return meet_all_reduce;
    case HLO_OP_ALL_GATHER:
    case HLO_OP_ALL_GATHER_START: return meet_all_gather;
    case HLO_OP_REDUCE_SCATTER: return meet_reduce_scatter;
    case HLO_OP_ALL_TO_ALL: return meet_all_to_all;
    case HLO_OP_COLLECTIVE_BROADCAST: return meet_broadcast;
    default: return meet_permute;
    }
}

HLO_RULE(hlo_rule_collective) {
    HloDevice *device = vm->device;
    HloArena arena = {.trap = vm->arena.trap};
    HloParty party;
    HloStatus status = find_party(device, inst, &arena, &party);
    if (hlo_is_ok(status)) status = hlo_meet(device, inst, args, &party, meeting_of(inst->op), out);
    hlo_arena_free(&arena);
    if (!hlo_is_ok(status) || result_shape(inst) == inst->shape) return status;
    return hlo_wrap_start(vm, inst, args, out);
}

// The result of a start: of those that carry operands the second element, of others all of it.
HLO_RULE(hlo_rule_collective_done) {
    bool pair = inst->op != HLO_OP_ALL_REDUCE_DONE;
    if (!pair) return hlo_rule_first_operand(vm, inst, args, out);
    *out = hlo_datum_keep(args[0]->elements[1]);
    return hlo_ok();
}

HLO_RULE(hlo_rule_device_id) {
    (void)args;
    HLO_TRY(hlo_datum_new(vm, inst->shape, out));
    int64_t id = inst->op == HLO_OP_REPLICA_ID ? vm->device->replica : vm->device->partition;
    hlo_convert(HLO_S64, &id, inst->shape->type, (*out)->data, 1);
    return hlo_ok();
}
