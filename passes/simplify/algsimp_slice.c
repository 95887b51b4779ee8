// algsimp: slice.
//
// Slices move up: towards the value they take from, through everything that only moves elements.

#include "algsimp.h"

static const HloSliceDim *slice_dims(const HloInstruction *inst) {
    return ((const HloSlice *)hlo_data(inst, HLO_ATTR_SLICE))->dims;
}

static bool is_unit_stride(const HloInstruction *inst) {
    for (size_t d = 0; d < inst->shape->rank; d++) {
        if (slice_dims(inst)[d].stride != 1) return false;
    }
    return true;
}

// A slice of x with the result shape of `inst`.
static HloInstruction *slice_like(HloAlg *alg, HloInstruction *inst, HloInstruction *x, const HloSliceDim *dims) {
    HloInstruction *slice = hlo_alg_unary(alg, inst->shape, HLO_OP_SLICE, x);
    if (slice) hlo_alg_set_slice(alg, slice, dims);
    return slice;
}

static HloInstruction *slice_same(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_operand(inst, 0);
}

// ---- slice of pad ---------------------------------------------------------------------------------------

typedef struct PadOverlap {
    bool only_padding;  // nothing of the padded value is read
    bool whole;         // exactly the padded value is read
    bool inside;        // no padding is read
} PadOverlap;

static PadOverlap overlap(const HloInstruction *slice, const HloInstruction *pad) {
    PadOverlap result = {.whole = true, .inside = true};
    const HloPadding *padding = hlo_data(pad, HLO_ATTR_PADDING);
    for (size_t d = 0; d < slice->shape->rank; d++) {
        HloSliceDim s = slice_dims(slice)[d];
        HloPaddingDim p = padding->dims[d];
        int64_t edge = pad->shape->dims[d] - p.high;
        if (s.limit <= p.low || s.start >= edge) result.only_padding = true;
        if (s.start != p.low || s.stride - 1 != p.interior) result.whole = false;
        if (s.start < p.low || s.limit > edge || p.interior != 0 || s.stride != 1) result.inside = false;
    }
    return result;
}

static HloInstruction *padded(HloInstruction *inst) {
    HloInstruction *pad = hlo_operand(inst, 0);
    return pad->op == HLO_OP_PAD ? pad : NULL;
}

static HloInstruction *slice_of_padding(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *pad = padded(inst);
    if (!pad || !overlap(inst, pad).only_padding) return NULL;
    return hlo_build_broadcast(alg->rw, inst->shape, hlo_operand(pad, 1), (HloDims){NULL, 0});
}

static HloInstruction *slice_undoes_pad(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloInstruction *pad = padded(inst);
    return pad && overlap(inst, pad).whole ? hlo_operand(pad, 0) : NULL;
}

static HloInstruction *slice_inside_pad(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *pad = padded(inst);
    if (!pad || !overlap(inst, pad).inside) return NULL;
    const HloPadding *padding = hlo_data(pad, HLO_ATTR_PADDING);
    HloSliceDim *dims = hlo_arena_copy(alg->scratch, slice_dims(inst), inst->shape->rank * sizeof *dims);
    for (size_t d = 0; d < inst->shape->rank; d++) {
        dims[d].start -= padding->dims[d].low;
        dims[d].limit -= padding->dims[d].low;
    }
    return slice_like(alg, inst, hlo_operand(pad, 0), dims);
}

// ---- slice of slice, broadcast --------------------------------------------------------------------------

static HloInstruction *slice_twice(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *inner = hlo_operand(inst, 0);
    if (inner->op != HLO_OP_SLICE || !is_unit_stride(inst) || !is_unit_stride(inner)) return NULL;
    HloSliceDim *dims = hlo_arena_copy(alg->scratch, slice_dims(inst), inst->shape->rank * sizeof *dims);
    for (size_t d = 0; d < inst->shape->rank; d++) {
        dims[d].start += slice_dims(inner)[d].start;
        dims[d].limit += slice_dims(inner)[d].start;
    }
    return slice_like(alg, inst, hlo_operand(inner, 0), dims);
}

// slice(broadcast(x)) -> broadcast(x) when no dimension of x is cut.
static HloInstruction *slice_broadcast(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *broadcast = hlo_operand(inst, 0);
    if (broadcast->op != HLO_OP_BROADCAST) return NULL;
    HloDims dims = hlo_dims(broadcast, HLO_ATTR_DIMENSIONS);
    for (size_t d = 0; d < dims.count; d++) {
        if (inst->shape->dims[dims.data[d]] != broadcast->shape->dims[dims.data[d]]) return NULL;
    }
    return hlo_build_broadcast(alg->rw, inst->shape, hlo_operand(broadcast, 0), dims);
}

// slice(broadcast(x)) -> broadcast(slice(x))
static HloInstruction *slice_cut_broadcast(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *broadcast = hlo_operand(inst, 0);
    if (broadcast->op != HLO_OP_BROADCAST) return NULL;
    HloDims dims = hlo_dims(broadcast, HLO_ATTR_DIMENSIONS);
    HloSliceDim *cuts = HLO_NEW_ARRAY(alg->scratch, HloSliceDim, dims.count + 1);
    for (size_t d = 0; d < dims.count; d++) cuts[d] = slice_dims(inst)[dims.data[d]];
    HloInstruction *part = hlo_derive(alg->rw, hlo_build_slice(alg->rw, hlo_operand(broadcast, 0), cuts), inst);
    return hlo_derive(alg->rw, hlo_build_broadcast(alg->rw, inst->shape, part, dims), broadcast);
}

// ---- slice of concatenate -------------------------------------------------------------------------------

// The operands [*first, *end) that the slice reads along the concatenated dimension; *offset is where they start.
static void covered_run(const HloInstruction *inst, const HloInstruction *concat, size_t *first, size_t *end,
                        int64_t *offset) {
    size_t dim = (size_t)hlo_int(concat, HLO_ATTR_DIMENSION);
    HloSliceDim cut = slice_dims(inst)[dim];
    int64_t at = 0;
    *first = *end = 0;
    *offset = 0;
    bool found = false;
    for (size_t k = 0; k < hlo_operand_count(concat); k++) {
        int64_t next = at + hlo_operand(concat, k)->shape->dims[dim];
        bool overlaps = next > cut.start && at < cut.limit;
        if (overlaps && !found) {
            *first = k;
            *offset = at;
            found = true;
        }
        if (overlaps) *end = k + 1;
        at = next;
    }
}

// slice(concatenate(…)) -> the operand that is read, or a slice of the operands that are.
static HloInstruction *slice_concat(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *concat = hlo_operand(inst, 0);
    if (concat->op != HLO_OP_CONCATENATE || !is_unit_stride(inst)) return NULL;
    size_t first, end, dim = (size_t)hlo_int(concat, HLO_ATTR_DIMENSION);
    int64_t offset;
    covered_run(inst, concat, &first, &end, &offset);
    size_t count = end - first;
    if (count == 0 || count == hlo_operand_count(concat)) return NULL;
    HloInstruction *source = hlo_operand(concat, first);
    if (count == 1 && hlo_alg_same_shape(alg, source->shape, inst->shape)) return source;
    if (count > 1) {
        HloInstruction *const *run = (HloInstruction *const *)concat->operands.items + first;
        source = hlo_derive(alg->rw, hlo_build_concatenate(alg->rw, run, count, (int64_t)dim), concat);
    }
    HloSliceDim *dims = hlo_arena_copy(alg->scratch, slice_dims(inst), inst->shape->rank * sizeof *dims);
    dims[dim].start -= offset;
    dims[dim].limit -= offset;
    return slice_like(alg, inst, source, dims);
}

// A single element of a concatenate of rank 1 comes from one operand.
static HloInstruction *slice_concat_element(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *concat = hlo_operand(inst, 0);
    if (concat->op != HLO_OP_CONCATENATE || inst->shape->rank != 1 || inst->shape->dims[0] != 1) return NULL;
    int64_t at = slice_dims(inst)[0].start;
    for (size_t k = 0; k < hlo_operand_count(concat); k++) {
        HloInstruction *x = hlo_operand(concat, k);
        if (at < x->shape->dims[0]) {
            HloSliceDim cut = {at, at + 1, 1};
            return x->shape->dims[0] == 1 ? x : slice_like(alg, inst, x, &cut);
        }
        at -= x->shape->dims[0];
    }
    return NULL;
}

// ---- slice of reduce-window -----------------------------------------------------------------------------

// The slice keeps one window of each dimension that has a window, and that one sees all of the dimension.
static bool keeps_last_window(HloSliceDim cut, HloWindowDim w, int64_t size, int64_t in) {
    if (w.stride != 1 || w.base_dilation != 1 || w.window_dilation != 1 || w.reversal || cut.stride != 1) return false;
    if (cut.limit != size || w.pad_low != cut.start || w.pad_high != 0) return false;
    return w.size == 1 ? cut.start == 0 : w.size == in && cut.limit - cut.start == 1;
}

// slice(reduce-window(x)) -> reshape(reduce(x)) when only the last window of running ones is kept.
static HloInstruction *slice_window(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *rw = hlo_operand(inst, 0);
    const HloWindow *window = hlo_data(rw, HLO_ATTR_WINDOW);
    if (rw->op != HLO_OP_REDUCE_WINDOW || !alg->window_to_reduce || hlo_operand_count(rw) != 2) return NULL;
    if (!window || !hlo_shape_is_array(rw->shape) || window->rank != inst->shape->rank || !hlo_alg_has_one_use(rw))
        return NULL;
    HloInstruction *x = hlo_operand(rw, 0);
    int64_t *dims = hlo_alg_ints(alg, window->rank);
    size_t count = 0;
    for (size_t d = 0; d < window->rank; d++) {
        HloWindowDim w = window->dims[d];
        if (!keeps_last_window(slice_dims(inst)[d], w, rw->shape->dims[d], x->shape->dims[d])) return NULL;
        if (w.size != 1) dims[count++] = (int64_t)d;
    }
    HloInstruction *reduce = hlo_alg_reduce(alg, x, hlo_operand(rw, 1), (HloDims){dims, count}, hlo_called(rw, 0));
    return hlo_build_reshape(alg->rw, inst->shape, hlo_derive(alg->rw, reduce, inst));
}

// ---- slice of reshape, reverse --------------------------------------------------------------------------

static bool cuts_only_rows(const HloInstruction *inst) {
    const HloShape *from = hlo_operand(inst, 0)->shape;
    if (from->rank == 0 || inst->shape->dims[0] == from->dims[0]) return false;
    for (size_t d = 1; d < from->rank; d++) {
        if (inst->shape->dims[d] != from->dims[d]) return false;
    }
    return true;
}

static int64_t elements_below(const HloShape *shape, size_t d) {
    int64_t count = 1;
    for (size_t i = d + 1; i < shape->rank; i++) count *= shape->dims[i];
    return count;
}

// The first `count` elements of `shape` as the slice dimensions of a box; false when they are none.
static bool box_of_first(const HloShape *shape, int64_t count, HloSliceDim *dims) {
    for (size_t d = shape->rank; d-- > 0;) {
        int64_t size = shape->dims[d];
        if (count >= size && count % size != 0) return false;
        dims[d] = (HloSliceDim){0, count >= size ? size : count, 1};
        count = count >= size ? count / size : 1;
    }
    return count == 1;
}

// slice(reshape(x)) -> reshape(slice(x)) when the slice takes the first elements and they are a box in x, or when whole
// rows of both are taken.
static HloInstruction *slice_reshape(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *reshape = hlo_operand(inst, 0);
    if (alg->layout_sensitive || reshape->op != HLO_OP_RESHAPE || !is_unit_stride(inst) || !cuts_only_rows(inst))
        return NULL;
    HloInstruction *x = hlo_operand(reshape, 0);
    if (x->shape->rank == 0 || hlo_shape_is_empty(inst->shape)) return NULL;
    int64_t start = slice_dims(inst)[0].start * elements_below(reshape->shape, 0);
    int64_t count = hlo_shape_elem_count(inst->shape), row = elements_below(x->shape, 0);
    HloSliceDim *dims = hlo_alg_whole_slice(alg, x->shape);
    if (start % row == 0 && count % row == 0)
        dims[0] = (HloSliceDim){start / row, (start + count) / row, 1};
    else if (start != 0 || !box_of_first(x->shape, count, dims))
        return NULL;
    HloInstruction *part = hlo_derive(alg->rw, hlo_build_slice(alg->rw, x, dims), inst);
    return hlo_build_reshape(alg->rw, inst->shape, part);
}

// slice(reverse(x)) -> reverse(slice(x))
static HloInstruction *slice_reverse(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *reverse = hlo_operand(inst, 0);
    if (reverse->op != HLO_OP_REVERSE || hlo_shape_is_empty(inst->shape)) return NULL;
    HloSliceDim *dims = hlo_arena_copy(alg->scratch, slice_dims(inst), inst->shape->rank * sizeof *dims);
    HloDims reversed = hlo_dims(reverse, HLO_ATTR_DIMENSIONS);
    for (size_t i = 0; i < reversed.count; i++) {
        size_t d = (size_t)reversed.data[i];
        int64_t span = (inst->shape->dims[d] - 1) * dims[d].stride + 1;
        int64_t end = reverse->shape->dims[d] - dims[d].start;
        dims[d] = (HloSliceDim){end - span, end, dims[d].stride};
    }
    HloInstruction *part = hlo_derive(alg->rw, slice_like(alg, inst, hlo_operand(reverse, 0), dims), inst);
    HloInstruction *result = hlo_alg_unary(alg, inst->shape, HLO_OP_REVERSE, part);
    if (result) hlo_set_dims(alg->m, result, HLO_ATTR_DIMENSIONS, reversed);
    return result;
}

// A stride that is never taken is 1.
static HloInstruction *slice_stride(HloAlg *alg, HloInstruction *inst) {
    HloSliceDim *dims = hlo_arena_copy(alg->scratch, slice_dims(inst), inst->shape->rank * sizeof *dims);
    bool found = false;
    for (size_t d = 0; d < inst->shape->rank; d++) {
        HloSliceDim *cut = &dims[d];
        if (cut->stride == 1 || inst->shape->dims[d] != 1) continue;
        if (cut->stride < cut->limit && cut->start + cut->stride < cut->limit) continue;
        *cut = (HloSliceDim){cut->start, cut->start + 1, 1};
        found = true;
    }
    return found ? slice_like(alg, inst, hlo_operand(inst, 0), dims) : NULL;
}

static const HloAlgRule rules[] = {
    {HLO_OP_SLICE, "slice-same", slice_same, HLO_ALG_COMPAT},
    {HLO_OP_SLICE, "slice-of-padding", slice_of_padding, HLO_ALG_PLAIN},
    {HLO_OP_SLICE, "slice-undoes-pad", slice_undoes_pad, HLO_ALG_COMPAT},
    {HLO_OP_SLICE, "slice-inside-pad", slice_inside_pad, HLO_ALG_PLAIN},
    {HLO_OP_SLICE, "slice-twice", slice_twice, HLO_ALG_PLAIN},
    {HLO_OP_SLICE, "slice-broadcast", slice_broadcast, HLO_ALG_PLAIN},
    {HLO_OP_SLICE, "slice-concat-element", slice_concat_element, HLO_ALG_PLAIN},
    {HLO_OP_SLICE, "slice-cut-broadcast", slice_cut_broadcast, HLO_ALG_PLAIN},
    {HLO_OP_SLICE, "slice-concat", slice_concat, HLO_ALG_PLAIN},
    {HLO_OP_SLICE, "slice-window", slice_window, HLO_ALG_PLAIN},
    {HLO_OP_SLICE, "slice-reshape", slice_reshape, HLO_ALG_PLAIN},
    {HLO_OP_SLICE, "slice-reverse", slice_reverse, HLO_ALG_PLAIN},
    {HLO_OP_SLICE, "slice-stride", slice_stride, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_slice_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
