// Random data movement: what gives elements of its operands, elsewhere.

#include "lib/gen/gen.h"

enum { INSIDE_ARRAYS = CONTEXT_FUSION | CONTEXT_SEQUENCE };

static bool is_too_large(const int64_t *dims, size_t rank) {
    int64_t count = 1;
    for (size_t d = 0; d < rank; d++) count *= dims[d] ? dims[d] : 1;
    return count > MOST_ELEMENTS;
}

static void broadcast(Gen *g) {
    Value x;
    if (!hlo_gen_pick_array(g, &x)) return;
    const HloShape *shape = x.inst->shape;
    size_t rank = (size_t)between(g, (int64_t)shape->rank, MOST_RANK);
    int64_t *order = hlo_gen_order(g, rank), dims[MOST_RANK], map[MOST_RANK];
    for (size_t d = 0; d < rank; d++) dims[d] = between(g, 1, 4);
    for (size_t d = 0; d < shape->rank; d++) {
        map[d] = order[d];
        dims[order[d]] = shape->dims[d];
    }
    if (is_too_large(dims, rank)) return;
    const HloShape *result = hlo_shape_of(&g->m->shapes, shape->type, dims, rank);
    hlo_gen_put_like(g, hlo_build_broadcast(&g->rw, result, x.inst, (HloDims){map, shape->rank}), &x);
}

// Sizes with the same product: ones come and go, neighbours merge, a size is split.
static size_t reshape_dims(Gen *g, const HloShape *shape, int64_t *dims) {
    size_t rank = 0;
    for (size_t d = 0; d < shape->rank; d++) {
        int64_t size = shape->dims[d];
        if (size == 1 && one_in(g, 2)) continue;
        if (rank && one_in(g, 3)) {
            dims[rank - 1] *= size;
        } else if (size > 2 && size % 2 == 0 && one_in(g, 3)) {
            dims[rank++] = 2;
            dims[rank++] = size / 2;
        } else {
            dims[rank++] = size;
        }
        if (one_in(g, 5)) dims[rank++] = 1;
    }
    if (rank == 0 && one_in(g, 2)) dims[rank++] = 1;
    return rank;
}

static void reshape(Gen *g) {
    Value x;
    int64_t dims[3 * MOST_RANK + 1];
    if (!hlo_gen_pick_array(g, &x)) return;
    size_t rank = reshape_dims(g, x.inst->shape, dims);
    if (rank > MOST_RANK) return;
    const HloShape *result = hlo_shape_of(&g->m->shapes, x.inst->shape->type, dims, rank);
    hlo_gen_put_like(g, hlo_build_reshape(&g->rw, result, x.inst), &x);
}

static void transpose(Gen *g) {
    Value x;
    if (!hlo_gen_pick_array(g, &x)) return;
    size_t rank = x.inst->shape->rank;
    hlo_gen_put_like(g, hlo_build_transpose(&g->rw, x.inst, (HloDims){hlo_gen_order(g, rank), rank}), &x);
}

static void reverse(Gen *g) {
    Value x;
    if (!hlo_gen_pick_array(g, &x) || x.inst->shape->rank == 0) return;
    size_t count = (size_t)between(g, 1, (int64_t)x.inst->shape->rank);
    HloInstruction *inst = hlo_gen_new(g, HLO_OP_REVERSE, &x.inst, 1);
    if (!inst) return;
    hlo_set_dims(g->m, inst, HLO_ATTR_DIMENSIONS, (HloDims){hlo_gen_order(g, x.inst->shape->rank), count});
    hlo_gen_put_like(g, hlo_gen_add(g, inst), &x);
}

static void slice(Gen *g) {
    Value x;
    HloSliceDim dims[MOST_RANK];
    if (!hlo_gen_pick_array(g, &x) || x.inst->shape->rank == 0) return;
    for (size_t d = 0; d < x.inst->shape->rank; d++) {
        int64_t size = x.inst->shape->dims[d], start = one_in(g, 2) ? 0 : between(g, 0, size);
        int64_t limit = one_in(g, 2) ? size : between(g, start, size);
        dims[d] = (HloSliceDim){start, limit, one_in(g, 3) ? 2 : 1};
    }
    hlo_gen_put_like(g, hlo_build_slice(&g->rw, x.inst, dims), &x);
}

// Low and high may be negative, as long as something is left.
static bool draw_padding(Gen *g, int64_t size, HloPaddingDim *dim, int64_t *result) {
    *dim = (HloPaddingDim){between(g, -1, 2), between(g, -1, 2), one_in(g, 3) ? between(g, 1, 2) : 0};
    *result = size + dim->low + dim->high + (size > 0 ? (size - 1) * dim->interior : 0);
    return *result >= 0;
}

static void pad(Gen *g) {
    Value x;
    HloPaddingDim padding[MOST_RANK];
    int64_t dims[MOST_RANK];
    if (!hlo_gen_pick_array(g, &x) || x.inst->shape->rank == 0) return;
    size_t rank = x.inst->shape->rank;
    for (size_t d = 0; d < rank; d++) {
        if (!draw_padding(g, x.inst->shape->dims[d], &padding[d], &dims[d])) return;
    }
    if (is_too_large(dims, rank)) return;
    HloInstruction *value =
        hlo_gen_splat(g, hlo_shape_scalar(&g->m->shapes, x.inst->shape->type), one_in(g, 2) ? 0 : 1);
    Value both = hlo_gen_join(&x, &(Value){.mag = 1});
    hlo_gen_put_like(g, hlo_build_pad(&g->rw, x.inst, value, padding), &both);
}

typedef struct Row {
    const HloShape *shape;
    size_t dimension;
} Row;

// The same type and dimensions, one of them left out.
static bool fits_row(const Gen *g, const Value *v, const void *what) {
    (void)g;
    const Row *row = what;
    const HloShape *shape = v->inst->shape;
    if (shape->type != row->shape->type || shape->rank != row->shape->rank) return false;
    for (size_t d = 0; d < shape->rank; d++) {
        if (d != row->dimension && shape->dims[d] != row->shape->dims[d]) return false;
    }
    return true;
}

static void concatenate(Gen *g) {
    Value parts[3], all;
    HloInstruction *operands[3];
    if (!hlo_gen_pick_array(g, &parts[0]) || parts[0].inst->shape->rank == 0) return;
    const HloShape *shape = parts[0].inst->shape;
    Row row = {shape, (size_t)below(g, (int64_t)shape->rank)};
    size_t count = (size_t)between(g, 1, 3);
    all = parts[0];
    for (size_t k = 0; k < count; k++) {
        if (k > 0 && !hlo_gen_pick(g, fits_row, &row, &parts[k])) parts[k] = parts[0];
        all = hlo_gen_join(&all, &parts[k]);
        operands[k] = parts[k].inst;
    }
    if (hlo_shape_elem_count(shape) * 3 > MOST_ELEMENTS) return;
    hlo_gen_put_like(g, hlo_build_concatenate(&g->rw, operands, count, (int64_t)row.dimension), &all);
}

// ---- at positions that are computed ---------------------------------------------------------------------

static size_t add_positions(Gen *g, const HloShape *shape, HloInstruction **operands) {
    for (size_t d = 0; d < shape->rank; d++) operands[d] = hlo_gen_index(g, -1, shape->dims[d] + 1).inst;
    return shape->rank;
}

static void dynamic_slice(Gen *g) {
    Value x;
    HloInstruction *operands[MOST_RANK + 1];
    int64_t sizes[MOST_RANK];
    if (!hlo_gen_pick_array(g, &x)) return;
    const HloShape *shape = x.inst->shape;
    for (size_t d = 0; d < shape->rank; d++) sizes[d] = between(g, shape->dims[d] ? 1 : 0, shape->dims[d]);
    operands[0] = x.inst;
    size_t count = 1 + add_positions(g, shape, operands + 1);
    HloInstruction *inst = hlo_gen_new(g, HLO_OP_DYNAMIC_SLICE, operands, count);
    if (!inst) return;
    hlo_set_dims(g->m, inst, HLO_ATTR_DYNAMIC_SLICE_SIZES, (HloDims){sizes, shape->rank});
    hlo_gen_put_like(g, hlo_gen_add(g, inst), &x);
}

static bool fits_inside(const Gen *g, const Value *v, const void *what) {
    (void)g;
    const HloShape *outer = what, *shape = v->inst->shape;
    if (shape->type != outer->type || shape->rank != outer->rank) return false;
    for (size_t d = 0; d < shape->rank; d++) {
        if (shape->dims[d] > outer->dims[d]) return false;
    }
    return true;
}

static void dynamic_update_slice(Gen *g) {
    Value x, update;
    HloInstruction *operands[MOST_RANK + 2];
    if (!hlo_gen_pick_array(g, &x) || !hlo_gen_pick(g, fits_inside, x.inst->shape, &update)) return;
    operands[0] = x.inst;
    operands[1] = update.inst;
    size_t count = 2 + add_positions(g, x.inst->shape, operands + 2);
    Value both = hlo_gen_join(&x, &update);
    hlo_gen_put_like(g, hlo_gen_add(g, hlo_gen_new(g, HLO_OP_DYNAMIC_UPDATE_SLICE, operands, count)), &both);
}

// ---- leaves and tuples ----------------------------------------------------------------------------------

static void constant(Gen *g) {
    Value v = hlo_gen_constant(g, hlo_gen_shape(g, hlo_gen_type(g)));
    hlo_gen_put_like(g, v.inst, &v);
}

static void scalar(Gen *g) {
    Value v = hlo_gen_constant(g, hlo_shape_scalar(&g->m->shapes, hlo_gen_type(g)));
    hlo_gen_put_like(g, v.inst, &v);
}

static void iota(Gen *g) {
    HloType type = hlo_gen_type(g);
    const HloShape *shape = hlo_gen_shape(g, type);
    if (type == HLO_PRED || shape->rank == 0) return;
    HloInstruction *inst = hlo_build(&g->rw, HLO_OP_IOTA, shape, NULL, 0);
    if (inst) hlo_set_int(g->m, inst, HLO_ATTR_IOTA_DIMENSION, below(g, (int64_t)shape->rank));
    bool whole = !hlo_type_is_float(type) && !hlo_type_is_complex(type);
    hlo_gen_put(g, inst, whole ? hlo_type_bits(type) : 3, false, false);
}

static bool fits_element(const Gen *g, const Value *v, const void *what) {
    (void)g, (void)what;
    return v->inst->shape->parts < 6;
}

static void tuple(Gen *g) {
    HloInstruction *operands[3];
    Value v, all = {.mag = 0};
    size_t count = (size_t)between(g, 0, 3), n = 0;
    for (size_t k = 0; k < count; k++) {
        if (!hlo_gen_pick(g, fits_element, NULL, &v)) continue;
        operands[n++] = v.inst;
        all = hlo_gen_join(&all, &v);
    }
    hlo_gen_put_like(g, hlo_build_tuple(&g->rw, operands, n), &all);
}

static bool fits_tuple(const Gen *g, const Value *v, const void *what) {
    (void)g, (void)what;
    return hlo_shape_is_tuple(v->inst->shape) && v->inst->shape->rank > 0;
}

static void get_tuple_element(Gen *g) {
    Value v;
    if (!hlo_gen_pick(g, fits_tuple, NULL, &v)) return;
    HloInstruction *inst = hlo_build_gte(&g->rw, v.inst, below(g, (int64_t)v.inst->shape->rank));
    bool whole = inst && !hlo_type_is_float(inst->shape->type) && !hlo_type_is_complex(inst->shape->type);
    if (whole && hlo_shape_is_array(inst->shape)) v = (Value){inst, hlo_type_bits(inst->shape->type), false, false};
    hlo_gen_put_like(g, inst, &v);
}

MakerTable hlo_gen_movement(void) {
    static const Maker makers[] = {
        {HLO_OP_BROADCAST, "broadcast", 10, INSIDE_ARRAYS, broadcast},
        {HLO_OP_RESHAPE, "reshape", 10, INSIDE_ARRAYS, reshape},
        {HLO_OP_TRANSPOSE, "transpose", 8, INSIDE_ARRAYS, transpose},
        {HLO_OP_REVERSE, "reverse", 4, INSIDE_ARRAYS, reverse},
        {HLO_OP_SLICE, "slice", 8, INSIDE_ARRAYS, slice},
        {HLO_OP_PAD, "pad", 6, INSIDE_ARRAYS, pad},
        {HLO_OP_CONCATENATE, "concatenate", 6, INSIDE_ARRAYS, concatenate},
        {HLO_OP_DYNAMIC_SLICE, "dynamic-slice", 5, INSIDE_ARRAYS, dynamic_slice},
        {HLO_OP_DYNAMIC_UPDATE_SLICE, "dynamic-update-slice", 5, INSIDE_ARRAYS, dynamic_update_slice},
        {HLO_OP_CONSTANT, "constant", 6, INSIDE_ARRAYS, constant},
        {HLO_OP_CONSTANT, "scalar", 4, INSIDE_ARRAYS, scalar},
        {HLO_OP_IOTA, "iota", 4, INSIDE_ARRAYS, iota},
        {HLO_OP_TUPLE, "tuple", 4, CONTEXT_SEQUENCE, tuple},
        {HLO_OP_GET_TUPLE_ELEMENT, "get-tuple-element", 6, CONTEXT_SEQUENCE, get_tuple_element},
    };
    return (MakerTable){makers, HLO_COUNT(makers)};
}
