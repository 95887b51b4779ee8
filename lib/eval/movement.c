// Data movement: broadcast, reshape, transpose, reverse, slices, concatenate, pad, iota.
//
// All of them are copies of boxes with steps; none looks at a value, except for the starts of dynamic slices, which are
// clamped so that the slice lies inside. Source: the interpreter chapter, §3.7.

#include "lib/eval/eval.h"

static const HloShape *shape_of(const HloInstruction *inst, size_t k) {
    return hlo_operand(inst, k)->shape;
}

// A new result and the box that fills it whole: sizes and steps of the result side are set.
static HloStatus new_result(HloMachine *vm, const HloInstruction *inst, HloBox *box, HloDatum **out) {
    const HloShape *shape = inst->shape;
    box->rank = shape->rank;
    for (size_t d = 0; d < shape->rank; d++) box->size[d] = shape->dims[d];
    hlo_row_steps(shape, box->to_step);
    return hlo_datum_new(vm, shape, out);
}

HLO_RULE(hlo_rule_broadcast) {
    HloBox box = {0};
    int64_t steps[HLO_EVAL_RANK];
    HloDims dims = hlo_dims(inst, HLO_ATTR_DIMENSIONS);
    HLO_TRY(new_result(vm, inst, &box, out));
    hlo_row_steps(args[0]->shape, steps);
    for (size_t k = 0; k < dims.count; k++) box.from_step[dims.data[k]] = steps[k];
    hlo_box_copy(&box, args[0]->data, (*out)->data, args[0]->element_bytes);
    return hlo_ok();
}

// The same elements in the same logical order.
HLO_RULE(hlo_rule_reshape) {
    return hlo_datum_own(vm, args, inst->shape, out);
}

HLO_RULE(hlo_rule_transpose) {
    HloBox box;
    int64_t steps[HLO_EVAL_RANK];
    HloDims permutation = hlo_dims(inst, HLO_ATTR_DIMENSIONS);
    HLO_TRY(new_result(vm, inst, &box, out));
    hlo_row_steps(args[0]->shape, steps);
    for (size_t d = 0; d < box.rank; d++) box.from_step[d] = steps[permutation.data[d]];
    hlo_box_copy(&box, args[0]->data, (*out)->data, args[0]->element_bytes);
    return hlo_ok();
}

HLO_RULE(hlo_rule_reverse) {
    HloBox box;
    HloDims dims = hlo_dims(inst, HLO_ATTR_DIMENSIONS);
    HLO_TRY(new_result(vm, inst, &box, out));
    if (!(*out)->count) return hlo_ok();
    int64_t first = 0;
    hlo_row_steps(args[0]->shape, box.from_step);
    for (size_t k = 0; k < dims.count; k++) {
        int64_t d = dims.data[k];
        first += (box.size[d] - 1) * box.from_step[d];
        box.from_step[d] = -box.from_step[d];
    }
    hlo_box_copy(&box, args[0]->data + first * args[0]->element_bytes, (*out)->data, args[0]->element_bytes);
    return hlo_ok();
}

HLO_RULE(hlo_rule_slice) {
    HloBox box;
    const HloSlice *slice = hlo_data(inst, HLO_ATTR_SLICE);
    HLO_TRY(new_result(vm, inst, &box, out));
    if (!(*out)->count) return hlo_ok();
    int64_t first = 0;
    hlo_row_steps(args[0]->shape, box.from_step);
    for (size_t d = 0; d < box.rank; d++) {
        first += slice->dims[d].start * box.from_step[d];
        box.from_step[d] *= slice->dims[d].stride;
    }
    hlo_box_copy(&box, args[0]->data + first * args[0]->element_bytes, (*out)->data, args[0]->element_bytes);
    return hlo_ok();
}

HLO_RULE(hlo_rule_concatenate) {
    HloBox box;
    int64_t dim = hlo_int(inst, HLO_ATTR_DIMENSION), at = 0;
    HLO_TRY(new_result(vm, inst, &box, out));
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        box.size[dim] = shape_of(inst, k)->dims[dim];
        hlo_row_steps(args[k]->shape, box.from_step);
        char *to = (*out)->data + at * box.to_step[dim] * (*out)->element_bytes;
        hlo_box_copy(&box, args[k]->data, to, (*out)->element_bytes);
        at += box.size[dim];
    }
    return hlo_ok();
}

// ---- pad ------------------------------------------------------------------------------------------------

// Of the `size` operand elements at low, low + step, …, those inside [0, limit): their range.
static void clip(int64_t size, int64_t low, int64_t step, int64_t limit, int64_t *first, int64_t *end) {
    *first = low < 0 ? (-low + step - 1) / step : 0;
    *end = limit > low ? (limit - low + step - 1) / step : 0;
    if (*end > size) *end = size;
    if (*end < *first) *end = *first;
}

HLO_RULE(hlo_rule_pad) {
    HloBox box;
    const HloPadding *padding = hlo_data(inst, HLO_ATTR_PADDING);
    HLO_TRY(new_result(vm, inst, &box, out));
    size_t bytes = (*out)->element_bytes;
    char value[16];
    hlo_convert(args[1]->shape->type, args[1]->data, inst->shape->type, value, 1);
    hlo_fill((*out)->data, (*out)->count, value, bytes);
    int64_t from = 0, to = 0;
    hlo_row_steps(args[0]->shape, box.from_step);
    for (size_t d = 0; d < box.rank; d++) {
        HloPaddingDim p = padding->dims[d];
        int64_t first, end, step = p.interior + 1;
        clip(args[0]->shape->dims[d], p.low, step, inst->shape->dims[d], &first, &end);
        box.size[d] = end - first;
        from += first * box.from_step[d];
        to += (p.low + first * step) * box.to_step[d];
        box.to_step[d] *= step;
    }
    hlo_box_copy(&box, args[0]->data + from * (int64_t)bytes, (*out)->data + to * (int64_t)bytes, bytes);
    return hlo_ok();
}

// ---- dynamic slices -------------------------------------------------------------------------------------

// The integer at `at`; unsigned 64-bit values beyond the signed range become negative.
int64_t hlo_datum_int(const HloDatum *datum, int64_t at) {
    HloBlock block;
    const char *element = datum->data + at * datum->element_bytes;
    return *(const int64_t *)hlo_widen(datum->shape->type, element, 1, &block);
}

// Start index `d` of a dynamic slice whose index operands begin at `first`: one scalar each, or one vector.
static int64_t start_index(HloDatum *const *args, const HloInstruction *inst, size_t first, size_t d) {
    bool vector = hlo_operand_count(inst) == first + 1 && shape_of(inst, first)->rank == 1;
    return vector ? hlo_datum_int(args[first], (int64_t)d) : hlo_datum_int(args[first + d], 0);
}

// The offset of the slice of `sizes` in an array of `shape`, each start clamped.
static int64_t clamped_offset(HloDatum *const *args, const HloInstruction *inst, size_t first, const HloShape *shape,
                              const int64_t *sizes) {
    int64_t steps[HLO_EVAL_RANK], offset = 0;
    hlo_row_steps(shape, steps);
    for (size_t d = 0; d < shape->rank; d++) {
        int64_t start = start_index(args, inst, first, d), last = shape->dims[d] - sizes[d];
        offset += (start < 0 ? 0 : start > last ? last : start) * steps[d];
    }
    return offset;
}

HLO_RULE(hlo_rule_dynamic_slice) {
    HloBox box;
    HLO_TRY(new_result(vm, inst, &box, out));
    int64_t offset = clamped_offset(args, inst, 1, args[0]->shape, inst->shape->dims);
    hlo_row_steps(args[0]->shape, box.from_step);
    hlo_box_copy(&box, args[0]->data + offset * args[0]->element_bytes, (*out)->data, args[0]->element_bytes);
    return hlo_ok();
}

HLO_RULE(hlo_rule_dynamic_update_slice) {
    const HloShape *update = args[1]->shape;
    int64_t offset = clamped_offset(args, inst, 2, args[0]->shape, update->dims);
    HLO_TRY(hlo_datum_own(vm, args, inst->shape, out));
    HloBox box = {.rank = update->rank};
    for (size_t d = 0; d < update->rank; d++) box.size[d] = update->dims[d];
    hlo_row_steps(update, box.from_step);
    hlo_row_steps(inst->shape, box.to_step);
    hlo_box_copy(&box, args[1]->data, (*out)->data + offset * (*out)->element_bytes, (*out)->element_bytes);
    return hlo_ok();
}

// ---- iota and bits --------------------------------------------------------------------------------------

HLO_RULE(hlo_rule_iota) {
    (void)args;
    HloBox box;
    int64_t dim = hlo_int(inst, HLO_ATTR_IOTA_DIMENSION), size = inst->shape->dims[dim];
    HLO_TRY(new_result(vm, inst, &box, out));
    HloDatum *counted = *out;
    size_t bytes = counted->element_bytes;
    if (!counted->count) return hlo_ok();
    // The first line along the dimension, then copies of it.
    for (int64_t i = 0; i < size; i++) {
        hlo_convert(HLO_S64, &i, inst->shape->type, counted->data + i * box.to_step[dim] * (int64_t)bytes, 1);
    }
    for (size_t d = 0; d < box.rank; d++) box.from_step[d] = (int64_t)d == dim ? box.to_step[d] : 0;
    hlo_box_copy(&box, counted->data, counted->data, bytes);
    return hlo_ok();
}

// The bytes themselves, little endian; the element count changes with the width.
HLO_RULE(hlo_rule_bitcast_convert) {
    size_t to_bytes = hlo_element_bytes(inst->shape->type);
    if ((size_t)hlo_type_bits(inst->shape->type) != to_bytes * 8 ||
        (size_t)hlo_type_bits(args[0]->shape->type) != (size_t)args[0]->element_bytes * 8) {
        return hlo_error(HLO_UNIMPLEMENTED, "bitcast-convert of types below eight bits cannot be interpreted");
    }
    HLO_TRY(hlo_datum_new(vm, inst->shape, out));
    memcpy((*out)->data, args[0]->data, (size_t)(*out)->count * to_bytes);
    return hlo_ok();
}

// Steps of an array's elements in its physical order.
static void physical_steps(const HloShape *shape, int64_t *steps) {
    int64_t step = 1;
    for (size_t k = 0; k < shape->rank; k++) {
        int64_t d = shape->layout ? shape->layout->minor_to_major[k] : (int64_t)(shape->rank - 1 - k);
        steps[d] = step;
        step *= shape->dims[d];
    }
}

// Reads the operand's elements in physical order, and stores them in that of the result.
HLO_RULE(hlo_rule_bitcast) {
    const HloShape *from = args[0]->shape, *to = inst->shape;
    if (hlo_element_bytes(from->type) != hlo_element_bytes(to->type) ||
        hlo_shape_elem_count(from) != hlo_shape_elem_count(to)) {
        return hlo_error(HLO_UNIMPLEMENTED, "bitcast to another size cannot be interpreted");
    }
    HloDatum *physical;
    HLO_TRY(hlo_datum_new(vm, from, &physical));
    HloBox box = {.rank = from->rank};
    memcpy(box.size, from->dims, from->rank * sizeof *from->dims);
    hlo_row_steps(from, box.from_step);
    physical_steps(from, box.to_step);
    hlo_box_copy(&box, args[0]->data, physical->data, args[0]->element_bytes);
    HloStatus status = new_result(vm, inst, &box, out);
    if (hlo_is_ok(status)) {
        physical_steps(to, box.from_step);
        hlo_box_copy(&box, physical->data, (*out)->data, (*out)->element_bytes);
    }
    hlo_datum_drop(vm, physical);
    return status;
}
