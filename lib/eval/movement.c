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

// Bits that an element stands for: types of 1, 2 and 4 bits lie one in a byte here, but are packed for bitcasts.
static int stored_bits(HloType type) {
    int bits = hlo_type_bits(type);
    return bits < 8 && 8 % bits == 0 && type != HLO_PRED ? bits : (int)hlo_element_bytes(type) * 8;
}

// The element of `bits` bits, at most 64, as it lies in data.
static void put_bits(HloType type, int bits, uint64_t value, char *to) {
    bool negative = hlo_type_class(type) == HLO_CLASS_SIGNED && bits < 8 && value >> (bits - 1) & 1;
    if (negative) value |= ~(uint64_t)0 << bits;
    memcpy(to, &value, hlo_element_bytes(type));
}

// Fills `to` with the bits of `from`, low ones first; widths differ, none is more than 64.
static void recast(HloType from_type, const char *from, HloType to_type, char *to, int64_t to_count) {
    int from_bits = stored_bits(from_type), to_bits = stored_bits(to_type);
    size_t from_bytes = hlo_element_bytes(from_type), to_bytes = hlo_element_bytes(to_type);
    uint64_t mask = from_bits < 64 ? ((uint64_t)1 << from_bits) - 1 : UINT64_MAX;
    int pieces = to_bits > from_bits ? to_bits / from_bits : 1, parts = from_bits > to_bits ? from_bits / to_bits : 1;
    for (int64_t i = 0; i < to_count; i++) {
        uint64_t value = 0;
        for (int k = 0; k < pieces; k++) {
            uint64_t piece = 0;
            memcpy(&piece, from + (size_t)(i / parts * pieces + k) * from_bytes, from_bytes);
            value |= (piece & mask) << (k * from_bits % 64);
        }
        value >>= i % parts * to_bits;
        put_bits(to_type, to_bits, to_bits < 64 ? value & (((uint64_t)1 << to_bits) - 1) : value,
                 to + (size_t)i * to_bytes);
    }
}

// The head of `from` as elements of another type. False when it is too short, or its parts are too wide.
static bool reinterpret(HloType from_type, const char *from, int64_t from_count, HloType to_type, char *to,
                        int64_t to_count) {
    int from_bits = stored_bits(from_type), to_bits = stored_bits(to_type);
    __extension__ typedef __int128 Wide;
    if ((Wide)from_count * from_bits < (Wide)to_count * to_bits) return false;
    bool whole_bytes = from_bits % 8 == 0 && to_bits % 8 == 0;
    if (whole_bytes || from_bits == to_bits)
        memcpy(to, from, (size_t)to_count * hlo_element_bytes(to_type));
    else if (from_bits <= 64 && to_bits <= 64)
        recast(from_type, from, to_type, to, to_count);
    else
        return false;
    // What came from another type of less than eight bits may want another sign.
    for (int64_t i = 0; from_bits == to_bits && to_bits < 8 && i < to_count; i++) {
        put_bits(to_type, to_bits, (uint8_t)to[i] & ((1U << to_bits) - 1), to + i);
    }
    return true;
}

static HloStatus unfit_bits(const HloInstruction *inst) {
    return hlo_error(HLO_UNIMPLEMENTED, "a %s of %s to %s of another size cannot be interpreted", hlo_op_name(inst->op),
                     hlo_type_name(shape_of(inst, 0)->type), hlo_type_name(inst->shape->type));
}

// The bits themselves, little endian; the element count changes with the width.
HLO_RULE(hlo_rule_bitcast_convert) {
    HLO_TRY(hlo_datum_new(vm, inst->shape, out));
    bool fits = reinterpret(args[0]->shape->type, args[0]->data, args[0]->count, inst->shape->type, (*out)->data,
                            (*out)->count);
    return fits ? hlo_ok() : unfit_bits(inst);
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

// The elements of a row-major array in physical order (to_physical), or the other way round.
static void reorder(const HloShape *shape, bool to_physical, const char *from, char *to, size_t bytes) {
    HloBox box = {.rank = shape->rank};
    if (shape->rank) memcpy(box.size, shape->dims, shape->rank * sizeof *shape->dims);
    hlo_row_steps(shape, to_physical ? box.from_step : box.to_step);
    physical_steps(shape, to_physical ? box.to_step : box.from_step);
    hlo_box_copy(&box, from, to, bytes);
}

// Reads the operand's elements in physical order, and stores them in that of the result, which may be smaller.
HLO_RULE(hlo_rule_bitcast) {
    const HloShape *from = args[0]->shape, *to = inst->shape;
    HloDatum *physical = NULL, *cast = NULL;
    HLO_TRY(hlo_datum_new(vm, to, out));
    HloStatus status = hlo_datum_new(vm, from, &physical);
    if (hlo_is_ok(status)) status = hlo_datum_new(vm, to, &cast);
    if (hlo_is_ok(status)) {
        reorder(from, true, args[0]->data, physical->data, physical->element_bytes);
        if (!reinterpret(from->type, physical->data, physical->count, to->type, cast->data, cast->count))
            status = unfit_bits(inst);
        else
            reorder(to, false, cast->data, (*out)->data, cast->element_bytes);
    }
    hlo_datum_drop(vm, physical);
    hlo_datum_drop(vm, cast);
    return status;
}
