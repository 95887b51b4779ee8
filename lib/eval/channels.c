// Values that go from one device to another, or between a device and the host: send, recv, infeed, outfeed.
//
//   device 0: send(x) … send-done          with _xla_send_recv_source_target_pairs={{0,1}} on both
//   device 1: recv … recv-done = x
//
// A send leaves a letter and goes on; a recv-done waits for the next letter on its channel. A device that no pair names
// as a target gets zeros. Whether a letter will come is kept in the context of the recv, so that the pair may be split
// over the turns of a loop.

#include <stdlib.h>

#include "lib/eval/devices.h"

// ---- pairs ----------------------------------------------------------------------------------------------

// A number behind braces, commas and blanks; false at the end of the text.
static bool next_number(const char **text, int64_t *out) {
    char *end;
    *text += strcspn(*text, "-0123456789");
    if (!**text) return false;
    *out = strtoll(*text, &end, 10);
    if (end == *text) return false;
    *text = end;
    return true;
}

// The number of `device` in pairs: its partition where there are several, otherwise its replica.
static int64_t number_of(const HloDevice *device) {
    return device->world->partitions > 1 ? device->partition : device->replica;
}

static HloDevice *device_of(const HloDevice *near, int64_t number) {
    return near->world->partitions > 1 ? hlo_device_at(near->world, near->replica, number)
                                       : hlo_device_at(near->world, number, near->partition);
}

// The other end of `device`'s pair, for a source (side 0) or a target (side 1); -1 when it stands in none.
static HloStatus other_end(const HloDevice *device, const HloInstruction *inst, int side, int64_t *out) {
    const char *text = hlo_frontend_attribute(inst, "_xla_send_recv_source_target_pairs");
    int64_t ends[2], self = number_of(device);
    *out = -1;
    if (hlo_int(inst, HLO_ATTR_IS_HOST_TRANSFER)) {
        return hlo_error(HLO_UNIMPLEMENTED, "transfers with the host cannot be interpreted");
    }
    if (!text && device->world->count == 1) *out = self;
    if (!text && device->world->count > 1) {
        return hlo_error(HLO_UNIMPLEMENTED,
                         "a %s without _xla_send_recv_source_target_pairs cannot be interpreted on several devices",
                         hlo_op_name(inst->op));
    }
    while (text && next_number(&text, &ends[0]) && next_number(&text, &ends[1])) {
        if (ends[side] == self) *out = ends[1 - side];
    }
    return hlo_ok();
}

// ---- send and recv --------------------------------------------------------------------------------------

// (value, context, token), which takes over the reference to the value.
static HloStatus wrap_transfer(HloMachine *vm, const HloInstruction *inst, HloDatum *value, uint32_t context,
                               HloDatum **out) {
    HloDatum *elements[3] = {value, NULL, NULL};
    HloStatus status = hlo_datum_new(vm, inst->shape->elements[1], elements + 1);
    if (hlo_is_ok(status)) {
        int64_t number = context;
        hlo_convert(HLO_S64, &number, inst->shape->elements[1]->type, elements[1]->data, 1);
        status = hlo_datum_new(vm, inst->shape->elements[2], elements + 2);
    }
    if (hlo_is_ok(status)) status = hlo_datum_new_tuple(vm, inst->shape, elements, out);
    for (size_t k = 0; k < 3 && !hlo_is_ok(status); k++) hlo_datum_drop(vm, elements[k]);
    return status;
}

HLO_RULE(hlo_rule_send) {
    int64_t target;
    HLO_TRY(other_end(vm->device, inst, 0, &target));
    HloDevice *to = target < 0 ? NULL : device_of(vm->device, target);
    if (target >= 0 && !to) {
        return hlo_error(HLO_INVALID_ARGUMENT, "its target %lld does not exist", (long long)target);
    }
    if (to) HLO_TRY(hlo_post(to, hlo_int(inst, HLO_ATTR_CHANNEL_ID), args[0]));
    return wrap_transfer(vm, inst, hlo_datum_keep(args[0]), 0, out);
}

HLO_RULE(hlo_rule_send_done) {
    (void)args;
    return hlo_datum_new(vm, inst->shape, out);
}

static void clear(HloDatum *datum) {
    for (size_t k = 0; k < (datum->elements ? datum->shape->rank : 1); k++) {
        HloDatum *leaf = hlo_datum_leaf(datum, k);
        if (leaf->count) memset(leaf->data, 0, (size_t)leaf->count * leaf->element_bytes);
    }
}

HLO_RULE(hlo_rule_recv) {
    int64_t source;
    HloDatum *value;
    (void)args;
    HLO_TRY(other_end(vm->device, inst, 1, &source));
    HLO_TRY(hlo_datum_new_like(vm, inst->shape->elements[0], &value));
    clear(value);
    return wrap_transfer(vm, inst, value, source >= 0, out);
}

HLO_RULE(hlo_rule_recv_done) {
    HloDatum *elements[2] = {NULL, NULL};
    HloStatus status = hlo_ok();
    if (hlo_datum_int(args[0]->elements[1], 0))
        status = hlo_receive(vm->device, hlo_int(inst, HLO_ATTR_CHANNEL_ID), elements);
    else
        elements[0] = hlo_datum_keep(args[0]->elements[0]);
    if (hlo_is_ok(status) && !hlo_shape_equal(elements[0]->shape, inst->shape->elements[0], HLO_IGNORE_LAYOUT)) {
        status = hlo_error(HLO_INVALID_ARGUMENT, "what was sent on channel %lld has another shape",
                           (long long)hlo_int(inst, HLO_ATTR_CHANNEL_ID));
    }
    if (hlo_is_ok(status)) status = hlo_datum_new(vm, inst->shape->elements[1], elements + 1);
    if (hlo_is_ok(status)) status = hlo_datum_new_tuple(vm, inst->shape, elements, out);
    for (size_t k = 0; k < 2 && !hlo_is_ok(status); k++) hlo_datum_drop(vm, elements[k]);
    return status;
}

// ---- infeed and outfeed ---------------------------------------------------------------------------------

HLO_RULE(hlo_rule_infeed) {
    const HloEvalFeeds *feeds = vm->options->feeds;
    const HloShape *shape = inst->shape->elements[0];
    HloDatum *elements[2] = {NULL, NULL};
    (void)args;
    if (!feeds || vm->infed >= feeds->infeed_count) {
        return hlo_error(HLO_FAILED_PRECONDITION, "infeed %zu is asked for, but only %zu are given", vm->infed + 1,
                         feeds ? feeds->infeed_count : 0);
    }
    const HloLiteral *literal = feeds->infeeds[vm->infed++];
    if (!hlo_shape_equal(literal->shape, shape, HLO_IGNORE_LAYOUT)) {
        return hlo_error(HLO_INVALID_ARGUMENT, "infeed %zu has another shape than the instruction", vm->infed);
    }
    HloStatus status = hlo_datum_from_literal(vm, literal, shape, elements);
    if (hlo_is_ok(status)) status = hlo_datum_new(vm, inst->shape->elements[1], elements + 1);
    if (hlo_is_ok(status)) status = hlo_datum_new_tuple(vm, inst->shape, elements, out);
    for (size_t k = 0; k < 2 && !hlo_is_ok(status); k++) hlo_datum_drop(vm, elements[k]);
    return status;
}

HLO_RULE(hlo_rule_outfeed) {
    const HloEvalFeeds *feeds = vm->options->feeds;
    if (feeds && feeds->outfed) {
        HloArena arena = {.trap = vm->arena.trap};
        HloLiteral *literal;
        HloStatus status = hlo_datum_to_literal(args[0], &arena, &literal);
        if (hlo_is_ok(status)) status = feeds->outfed(feeds->data, vm->device->replica, vm->device->partition, literal);
        hlo_arena_free(&arena);
        HLO_TRY(status);
    }
    return hlo_datum_new(vm, inst->shape, out);
}
