// Collectives: what each device takes home from a meeting with the others of its group.
//
//   all-reduce, replica_groups={{0,1}}   →   both take f(x0, x1), folded in the order of the group
//
// A -start computes what its collective does; the -done only takes the result out. Groups are found in groups.c; what
// sends pieces of different sizes stands in exchange.c. Source: the verifier chapter, §6.4 (shapes).

#include <stdlib.h>

#include "lib/eval/devices.h"

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

// The place in the group whose value goes to everybody: the first, or what the last operand says.
static HloStatus find_root(const HloParty *party, const HloInstruction *inst, size_t *root) {
    *root = 0;
    if (!hlo_int(inst, HLO_ATTR_HAS_DYNAMIC_ROOT)) return hlo_ok();
    const HloDatum *index = party->members[0]->brought[hlo_operand_count(inst) - 1];
    if (!hlo_type_is_integral(index->shape->type) || index->count < 1) {
        return hlo_error(HLO_INVALID_ARGUMENT, "its root is no integer");
    }
    int64_t at = hlo_datum_int(index, 0);
    if (at < 0 || at >= (int64_t)party->count) {
        return hlo_error(HLO_INVALID_ARGUMENT, "its root %lld is none of the %zu devices of the group", (long long)at,
                         party->count);
    }
    *root = (size_t)at;
    return hlo_ok();
}

static HloStatus fill_broadcast(const HloParty *party, const HloInstruction *inst, size_t member, size_t k,
                                HloDatum *to) {
    size_t root;
    (void)member;
    HLO_TRY(find_root(party, inst, &root));
    memcpy(to->data, party->members[root]->brought[k]->data, (size_t)to->count * to->element_bytes);
    return hlo_ok();
}

static HloStatus meet_broadcast(const HloParty *party, const HloInstruction *inst) {
    size_t values = hlo_operand_count(inst) - (hlo_int(inst, HLO_ATTR_HAS_DYNAMIC_ROOT) ? 1 : 0);
    if (!values) return hlo_error(HLO_INVALID_ARGUMENT, "it has a root but no value");
    return fill_results(party, inst, values, fill_broadcast);
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
    if (hlo_has(inst, HLO_ATTR_PERMUTE_SLICE_SIZES)) return hlo_meet_permute_slices(party, inst);
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
    case HLO_OP_RAGGED_ALL_TO_ALL: return hlo_meet_ragged;
    default: return meet_permute;
    }
}

HLO_RULE(hlo_rule_collective) {
    HloDevice *device = vm->device;
    HloArena arena = {.trap = vm->arena.trap};
    HloParty party;
    HloStatus status = hlo_find_party(device, inst, &arena, &party);
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
