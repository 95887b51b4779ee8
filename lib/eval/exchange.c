// Exchanges of pieces: ragged-all-to-all, and the collective-permute of slices.
//
//   ragged-all-to-all(in, out, offsets, sizes, places, received)   →   out, in which device m of the group wrote rows
//   in[offsets[k] … + sizes[k]] of its own at row places[k], for the k that stands for this device
//
// Both change a buffer that the receiver brings along; what nobody writes to stays as it is.

#include "lib/eval/devices.h"

// ---- ragged-all-to-all ----------------------------------------------------------------------------------

enum { INPUT, OUTPUT, INPUT_OFFSETS, SEND_SIZES, OUTPUT_OFFSETS };

static int64_t row_bytes(const HloDatum *array) {
    int64_t bytes = array->element_bytes;
    for (size_t d = 1; d < array->shape->rank; d++) bytes *= array->shape->dims[d];
    return bytes;
}

static bool lies_in(int64_t first, int64_t size, const HloDatum *array) {
    int64_t rows = array->shape->dims[0];
    return first >= 0 && size >= 0 && size <= rows && first <= rows - size;
}

// Update `k` of what `sender` sends.
static HloStatus send_rows(const HloDevice *sender, int64_t k, HloDatum *to) {
    HloDatum *const *args = sender->brought;
    int64_t from = hlo_datum_int(args[INPUT_OFFSETS], k), size = hlo_datum_int(args[SEND_SIZES], k);
    int64_t at = hlo_datum_int(args[OUTPUT_OFFSETS], k), bytes = row_bytes(to);
    if (!lies_in(from, size, args[INPUT]) || !lies_in(at, size, to)) {
        return hlo_error(HLO_INVALID_ARGUMENT, "%lld rows from row %lld do not fit at row %lld", (long long)size,
                         (long long)from, (long long)at);
    }
    memcpy(to->data + at * bytes, args[INPUT]->data + from * bytes, (size_t)(size * bytes));
    return hlo_ok();
}

static HloStatus copy_of(HloDevice *device, const HloDatum *from, HloDatum **out) {
    HLO_TRY(hlo_datum_new(&device->vm, from->shape, out));
    memcpy((*out)->data, from->data, (size_t)from->count * from->element_bytes);
    return hlo_ok();
}

HloStatus hlo_meet_ragged(const HloParty *party, const HloInstruction *inst) {
    int64_t count = (int64_t)party->count, updates = party->members[0]->brought[SEND_SIZES]->count;
    const HloShape *in = hlo_operand(inst, INPUT)->shape, *out = hlo_operand(inst, OUTPUT)->shape;
    if (updates % count) {
        return hlo_error(HLO_INVALID_ARGUMENT, "%lld updates for %lld devices", (long long)updates, (long long)count);
    }
    if (!in->rank || !out->rank ||
        row_bytes(party->members[0]->brought[INPUT]) != row_bytes(party->members[0]->brought[OUTPUT])) {
        return hlo_error(HLO_INVALID_ARGUMENT, "rows of input and output differ in size");
    }
    int64_t each = updates / count;
    for (int64_t m = 0; m < count; m++) {
        HloDevice *member = party->members[m];
        HLO_TRY(copy_of(member, member->brought[OUTPUT], &member->taken));
        for (int64_t k = 0; k < each * count; k++) {
            HLO_TRY(send_rows(party->members[k / each], m * each + k % each, member->taken));
        }
    }
    return hlo_ok();
}

// ---- collective-permute of slices -----------------------------------------------------------------------

// Operands: the source, the buffer written to, and where slices start in them: a tuple of one number for each
// dimension, or of one such tuple for each slice. A device that stands in several pairs sends its slices in their
// order, and receives in their order.

static HloStatus slice_offset(const HloDatum *starts, size_t slice, const HloShape *shape, HloDims sizes,
                              int64_t *offset) {
    int64_t steps[HLO_EVAL_RANK];
    if (starts->elements && starts->shape->rank && starts->elements[0]->elements) {
        if (slice >= starts->shape->rank) return hlo_error(HLO_INVALID_ARGUMENT, "no start for slice %zu", slice);
        starts = starts->elements[slice];
    }
    if (!starts->elements || starts->shape->rank != shape->rank || sizes.count != shape->rank) {
        return hlo_error(HLO_INVALID_ARGUMENT, "starts and sizes of slice %zu do not fit its buffer", slice);
    }
    hlo_row_steps(shape, steps);
    *offset = 0;
    for (size_t d = 0; d < shape->rank; d++) {
        int64_t at = hlo_datum_int(starts->elements[d], 0), last = shape->dims[d] - sizes.data[d];
        if (last < 0) return hlo_error(HLO_INVALID_ARGUMENT, "slice %zu is larger than its buffer", slice);
        *offset += (at < 0 ? 0 : at > last ? last : at) * steps[d];
    }
    return hlo_ok();
}

static HloStatus send_slice(const HloDevice *source, size_t from_slice, const HloDevice *target, size_t to_slice,
                            HloDims sizes) {
    const HloDatum *from = source->brought[0];
    HloDatum *to = target->taken;
    int64_t from_offset = 0, to_offset = 0, bytes = to->element_bytes;
    HLO_TRY(slice_offset(source->brought[2], from_slice, from->shape, sizes, &from_offset));
    HLO_TRY(slice_offset(target->brought[3], to_slice, to->shape, sizes, &to_offset));
    HloBox box = {.rank = sizes.count};
    memcpy(box.size, sizes.data, sizes.count * sizeof *sizes.data);
    hlo_row_steps(from->shape, box.from_step);
    hlo_row_steps(to->shape, box.to_step);
    hlo_box_copy(&box, from->data + from_offset * bytes, to->data + to_offset * bytes, (size_t)bytes);
    return hlo_ok();
}

// How many pairs before `pair` have the same number on side `side`.
static size_t earlier(const HloIntLists *pairs, size_t pair, int side) {
    size_t count = 0;
    for (size_t p = 0; p < pair; p++) count += pairs->lists[p].data[side] == pairs->lists[pair].data[side];
    return count;
}

HloStatus hlo_meet_permute_slices(const HloParty *party, const HloInstruction *inst) {
    const HloIntLists *pairs = hlo_data(inst, HLO_ATTR_SOURCE_TARGET_PAIRS);
    const HloIntLists *slices = hlo_data(inst, HLO_ATTR_PERMUTE_SLICE_SIZES);
    if (!hlo_shape_is_array(hlo_operand(inst, 0)->shape) || !hlo_shape_is_array(hlo_operand(inst, 1)->shape)) {
        return hlo_error(HLO_UNIMPLEMENTED, "a collective-permute of slices of several buffers cannot be interpreted");
    }
    for (size_t m = 0; m < party->count; m++) {
        HLO_TRY(copy_of(party->members[m], party->members[m]->brought[1], &party->members[m]->taken));
    }
    for (size_t p = 0; p < pairs->count; p++) {
        size_t source = (size_t)pairs->lists[p].data[0], target = (size_t)pairs->lists[p].data[1];
        size_t from = earlier(pairs, p, 0), to = earlier(pairs, p, 1);
        if (source >= party->count || target >= party->count || from >= slices->count) {
            return hlo_error(HLO_INVALID_ARGUMENT, "pair {%zu,%zu} has no device or no slice", source, target);
        }
        HLO_TRY(send_slice(party->members[source], from, party->members[target], to, slices->lists[from]));
    }
    return hlo_ok();
}
