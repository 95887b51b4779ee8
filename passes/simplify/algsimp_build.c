// algsimp: shapes and instructions that several rule files make (chapter §1.4 and §1.5).

#include "algsimp.h"

// ---- lists ----------------------------------------------------------------------------------------------

int64_t *hlo_alg_ints(HloAlg *alg, size_t count) {
    return HLO_NEW_ARRAY(alg->scratch, int64_t, count ? count : 1);
}

HloDims hlo_alg_iota_dims(HloAlg *alg, size_t count) {
    int64_t *dims = hlo_alg_ints(alg, count);
    for (size_t d = 0; d < count; d++) dims[d] = (int64_t)d;
    return (HloDims){dims, count};
}

HloDims hlo_alg_inverse(HloAlg *alg, HloDims permutation) {
    int64_t *dims = hlo_alg_ints(alg, permutation.count);
    for (size_t d = 0; d < permutation.count; d++) dims[permutation.data[d]] = (int64_t)d;
    return (HloDims){dims, permutation.count};
}

bool hlo_alg_is_iota(HloDims dims) {
    for (size_t d = 0; d < dims.count; d++) {
        if (dims.data[d] != (int64_t)d) return false;
    }
    return true;
}

bool hlo_alg_is_sorted(HloDims dims) {
    for (size_t d = 1; d < dims.count; d++) {
        if (dims.data[d - 1] > dims.data[d]) return false;
    }
    return true;
}

// ---- shapes ---------------------------------------------------------------------------------------------

bool hlo_alg_same_shape(const HloAlg *alg, const HloShape *a, const HloShape *b) {
    return alg->layout_sensitive ? hlo_shape_equal(a, b, HLO_IGNORE_NOTHING) : hlo_shape_compatible(a, b);
}

const HloShape *hlo_alg_shape(HloAlg *alg, HloType type, HloDims dims) {
    return hlo_shape_of(&alg->m->shapes, type, dims.data, dims.count);
}

const HloShape *hlo_alg_retyped(HloAlg *alg, const HloShape *like, HloType type) {
    return hlo_shape_with_type(&alg->m->shapes, like, type);
}

const HloShape *hlo_alg_without_dims(HloAlg *alg, const HloShape *shape, HloDims gone) {
    int64_t *renumbered = hlo_alg_ints(alg, shape->rank);  // -1: gone
    int64_t *dims = hlo_alg_ints(alg, shape->rank);
    bool *dynamic = HLO_NEW_ARRAY(alg->scratch, bool, shape->rank + 1);
    size_t rank = 0;
    for (size_t d = 0; d < shape->rank; d++) {
        renumbered[d] = -1;
        if (hlo_dims_has(gone, (int64_t)d)) continue;
        renumbered[d] = (int64_t)rank;
        dynamic[rank] = shape->dynamic && shape->dynamic[d];
        dims[rank++] = shape->dims[d];
    }
    const HloShape *result = hlo_shape_array(&alg->m->shapes, shape->type, dims, dynamic, rank, NULL);
    if (!shape->layout) return result;
    HloLayout layout = *shape->layout;
    int64_t *order = hlo_alg_ints(alg, rank);
    layout.rank = 0;
    for (size_t i = 0; i < shape->rank; i++) {
        int64_t d = renumbered[shape->layout->minor_to_major[i]];
        if (d >= 0) order[layout.rank++] = d;
    }
    layout.minor_to_major = order;
    return hlo_shape_with_layout(&alg->m->shapes, result, hlo_layout_intern(&alg->m->shapes, &layout));
}

// ---- instructions ---------------------------------------------------------------------------------------

HloInstruction *hlo_alg_binary(HloAlg *alg, const HloShape *shape, HloOpcode op, HloInstruction *a, HloInstruction *b) {
    return hlo_build(alg->rw, op, shape, (HloInstruction *[]){a, b}, 2);
}

HloInstruction *hlo_alg_unary(HloAlg *alg, const HloShape *shape, HloOpcode op, HloInstruction *a) {
    return hlo_build(alg->rw, op, shape, &a, 1);
}

HloInstruction *hlo_alg_splat(HloAlg *alg, const HloShape *shape, HloInstruction *x) {
    if (!x || shape->rank == 0) return x;
    return hlo_build_broadcast(alg->rw, shape, x, (HloDims){NULL, 0});
}

static HloInstruction *add_constant(HloAlg *alg, HloType type, double value, int64_t integer) {
    HloLiteral *literal;
    HloStatus status = hlo_literal_new(&alg->m->arena, hlo_alg_shape(alg, type, (HloDims){NULL, 0}), &literal);
    if (!hlo_is_ok(status)) {
        if (hlo_is_ok(alg->rw->failure))
            alg->rw->failure = status;
        else
            hlo_status_free(status);
        return NULL;
    }
    if (hlo_type_is_complex(type))
        hlo_literal_set_complex(literal, 0, value, 0);
    else if (hlo_type_is_float(type))
        hlo_literal_set_double(literal, 0, value);
    else
        hlo_literal_set_int(literal, 0, integer);
    return hlo_build_constant(alg->rw, literal);
}

HloInstruction *hlo_alg_scalar_int(HloAlg *alg, HloType type, int64_t value) {
    return add_constant(alg, type, (double)value, value);
}

HloInstruction *hlo_alg_scalar(HloAlg *alg, HloType type, double value) {
    return add_constant(alg, type, value, (int64_t)value);
}

static HloInstruction *like(HloAlg *alg, HloInstruction *x, HloInstruction *scalar) {
    hlo_derive(alg->rw, scalar, x);
    if (x->shape->rank == 0) return scalar;
    return hlo_derive(alg->rw, hlo_alg_splat(alg, hlo_shape_static(&alg->m->shapes, x->shape), scalar), x);
}

HloInstruction *hlo_alg_like(HloAlg *alg, HloInstruction *x, double value) {
    return like(alg, x, hlo_alg_scalar(alg, x->shape->type, value));
}

HloInstruction *hlo_alg_like_int(HloAlg *alg, HloInstruction *x, int64_t value) {
    return like(alg, x, hlo_alg_scalar_int(alg, x->shape->type, value));
}

HloSliceDim *hlo_alg_whole_slice(HloAlg *alg, const HloShape *shape) {
    HloSliceDim *dims = HLO_NEW_ARRAY(alg->scratch, HloSliceDim, shape->rank + 1);
    for (size_t d = 0; d < shape->rank; d++) dims[d] = (HloSliceDim){0, shape->dims[d], 1};
    return dims;
}

void hlo_alg_copy_own_attrs(HloAlg *alg, HloInstruction *to, const HloInstruction *from) {
    for (size_t i = 0; i < from->attr_count; i++) {
        if (hlo_attr_info(from->attrs[i].id)->scope == HLO_SCOPE_OWN) hlo_set_attr(alg->m, to, from->attrs[i]);
    }
}

void hlo_alg_set_slice(HloAlg *alg, HloInstruction *slice, const HloSliceDim *dims) {
    HloSlice *bounds = HLO_NEW(&alg->m->arena, HloSlice);
    bounds->rank = slice->shape->rank;
    bounds->dims = hlo_arena_copy(&alg->m->arena, dims, bounds->rank * sizeof *dims);
    hlo_set_data(alg->m, slice, HLO_ATTR_SLICE, bounds);
}

void hlo_alg_set_padding(HloAlg *alg, HloInstruction *pad, const HloPaddingDim *dims) {
    HloPadding *padding = HLO_NEW(&alg->m->arena, HloPadding);
    padding->rank = pad->shape->rank;
    padding->dims = hlo_arena_copy(&alg->m->arena, dims, padding->rank * sizeof *dims);
    hlo_set_data(alg->m, pad, HLO_ATTR_PADDING, padding);
}

HloInstruction *hlo_alg_dynamic_slice(HloAlg *alg, const HloShape *shape, HloInstruction *x,
                                      HloInstruction *const *starts, size_t count, HloDims sizes) {
    HloInstruction **operands = HLO_NEW_ARRAY(alg->scratch, HloInstruction *, count + 1);
    operands[0] = x;
    for (size_t k = 0; k < count; k++) operands[k + 1] = starts[k];
    HloInstruction *slice = hlo_build(alg->rw, HLO_OP_DYNAMIC_SLICE, shape, operands, count + 1);
    if (slice) hlo_set_dims(alg->m, slice, HLO_ATTR_DYNAMIC_SLICE_SIZES, sizes);
    return slice;
}

HloInstruction *hlo_alg_dynamic_update(HloAlg *alg, const HloShape *shape, HloInstruction *x, HloInstruction *update,
                                       HloInstruction *const *starts, size_t count) {
    HloInstruction **operands = HLO_NEW_ARRAY(alg->scratch, HloInstruction *, count + 2);
    operands[0] = x;
    operands[1] = update;
    for (size_t k = 0; k < count; k++) operands[k + 2] = starts[k];
    return hlo_build(alg->rw, HLO_OP_DYNAMIC_UPDATE_SLICE, shape, operands, count + 2);
}

HloInstruction *hlo_alg_reduce(HloAlg *alg, HloInstruction *x, HloInstruction *init, HloDims dims,
                               HloComputation *reducer) {
    if (!x) return NULL;
    HloInstruction *reduce = hlo_alg_binary(alg, hlo_alg_without_dims(alg, x->shape, dims), HLO_OP_REDUCE, x, init);
    if (!reduce) return NULL;
    hlo_set_dims(alg->m, reduce, HLO_ATTR_DIMENSIONS, dims);
    hlo_set_called(reduce, 0, reducer);
    return reduce;
}

// ---- helper computations --------------------------------------------------------------------------------

static HloInstruction *add_parameter(HloAlg *alg, HloComputation *comp, const HloShape *shape, int64_t number,
                                     const char *name) {
    HloInstruction *p = hlo_inst_new(alg->m, HLO_OP_PARAMETER, shape, NULL, 0);
    hlo_set_int(alg->m, p, HLO_ATTR_PARAMETER_NUMBER, number);
    return hlo_computation_add(comp, p, name);
}

static HloComputation *add_reducer(HloAlg *alg, const char *name, HloType type, HloOpcode op, const char *lhs,
                                   const char *rhs) {
    const HloShape *shape = hlo_shape_scalar(&alg->m->shapes, type);
    HloComputation *comp = hlo_computation_new(alg->m, name);
    HloInstruction *a = add_parameter(alg, comp, shape, 0, lhs);
    HloInstruction *b = add_parameter(alg, comp, shape, 1, rhs);
    HloInstruction *result = hlo_inst_new(alg->m, op, shape, (HloInstruction *[]){a, b}, 2);
    hlo_computation_set_root(comp, hlo_computation_add(comp, result, NULL));
    return hlo_module_add(alg->m, comp);
}

HloComputation *hlo_alg_adder(HloAlg *alg, HloType type) {
    void **slot = hlo_map_at(alg->scratch, &alg->adders, (const void *)(uintptr_t)(type + 1));
    if (!*slot) *slot = add_reducer(alg, "scalar_add_computation", type, HLO_OP_ADD, "scalar_lhs", "scalar_rhs");
    return *slot;
}

HloComputation *hlo_alg_reducer(HloAlg *alg, const HloInstruction *x, HloOpcode op) {
    const char *name = hlo_arena_printf(alg->scratch, "%s.reduce_sub_computation", x->name);
    return add_reducer(alg, name, x->shape->type, op, "lhs", "rhs");
}

void hlo_alg_redirect(HloAlg *alg, HloInstruction *old, HloInstruction *replacement, const char *rule) {
    hlo_rewriter_note(alg->rw, rule, old, replacement);
    hlo_rewriter_move_uses(alg->rw, old, replacement);
}
