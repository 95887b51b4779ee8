// Builders: making instructions inside a rewrite.
//
// Every builder goes through finish(), which stamps the origin and adds to the current computation, or through
// has_failed(), which keeps rule bodies free of plumbing: a NULL operand or an earlier failure makes the builder return
// NULL.

#include "hlo/infer.h"
#include "hlo/rewriter.h"
#include "lib/pass/clone.h"

static bool has_failed(const HloRewriter *rw, HloInstruction *const *operands, size_t count) {
    if (!hlo_is_ok(rw->failure)) return true;
    for (size_t k = 0; k < count; k++) {
        if (!operands[k]) return true;
    }
    return false;
}

static HloInstruction *finish(HloRewriter *rw, HloInstruction *inst, const char *name) {
    inst->made = HLO_NEW(&rw->m->arena, HloMade);
    *inst->made = (HloMade){rw->cx->pass->name, rw->rule, rw->subject ? rw->subject->name : NULL};
    return hlo_computation_add(rw->comp, inst, name);
}

HloInstruction *hlo_build(HloRewriter *rw, HloOpcode op, const HloShape *shape, HloInstruction *const *operands,
                          size_t count) {
    if (has_failed(rw, operands, count)) return NULL;
    return finish(rw, hlo_inst_new(rw->m, op, shape, operands, count), NULL);
}

HloInstruction *hlo_build_inferred(HloRewriter *rw, HloInstruction *detached) {
    if (!detached || has_failed(rw, NULL, 0)) return NULL;
    HloStatus status = hlo_infer_shape(rw->m, detached, &detached->shape);
    if (!hlo_is_ok(status)) {
        rw->failure = hlo_error_context(status, "building %s for %%%s", hlo_op_name(detached->op),
                                        rw->subject ? rw->subject->name : "");
        return NULL;
    }
    return finish(rw, detached, NULL);
}

HloInstruction *hlo_build_clone(HloRewriter *rw, const HloInstruction *inst, const HloShape *shape,
                                HloInstruction *const *operands, size_t count) {
    if (has_failed(rw, operands, count)) return NULL;
    HloInstruction *clone = hlo_inst_clone(rw->m, inst, shape ? shape : inst->shape, operands, count, NULL);
    if (hlo_owns_callee(inst)) {
        hlo_set_called(clone, 0, hlo_rewriter_clone_computation(rw, hlo_called(inst, 0), NULL));
    }
    return finish(rw, clone, inst->name);
}

HloInstruction *hlo_build_clone_named(HloRewriter *rw, const HloInstruction *inst, const HloShape *shape,
                                      HloInstruction *const *operands, size_t count) {
    if (has_failed(rw, operands, count)) return NULL;
    HloInstruction *clone = hlo_inst_clone(rw->m, inst, shape ? shape : inst->shape, operands, count, NULL);
    return finish(rw, clone, hlo_clone_name(rw->scratch, inst->name, "clone"));
}

// ---- elementwise ----------------------------------------------------------------------------------------

static HloInstruction *infer_of(HloRewriter *rw, HloOpcode op, HloInstruction *const *operands, size_t count) {
    if (has_failed(rw, operands, count)) return NULL;
    return hlo_build_inferred(rw, hlo_inst_new(rw->m, op, NULL, operands, count));
}

HloInstruction *hlo_build_unary(HloRewriter *rw, HloOpcode op, HloInstruction *x) {
    return infer_of(rw, op, &x, 1);
}

HloInstruction *hlo_build_binary(HloRewriter *rw, HloOpcode op, HloInstruction *a, HloInstruction *b) {
    return infer_of(rw, op, (HloInstruction *const[]){a, b}, 2);
}

HloInstruction *hlo_build_compare(HloRewriter *rw, int64_t direction, HloInstruction *a, HloInstruction *b) {
    HloInstruction *const operands[] = {a, b};
    if (has_failed(rw, operands, 2)) return NULL;
    HloInstruction *compare = hlo_inst_new(rw->m, HLO_OP_COMPARE, NULL, operands, 2);
    hlo_set_int(rw->m, compare, HLO_ATTR_DIRECTION, direction);
    return hlo_build_inferred(rw, compare);
}

HloInstruction *hlo_build_select(HloRewriter *rw, HloInstruction *p, HloInstruction *a, HloInstruction *b) {
    return infer_of(rw, HLO_OP_SELECT, (HloInstruction *const[]){p, a, b}, 3);
}

HloInstruction *hlo_build_convert(HloRewriter *rw, HloInstruction *x, HloType type) {
    if (has_failed(rw, &x, 1)) return NULL;
    return hlo_build(rw, HLO_OP_CONVERT, hlo_shape_with_type(&rw->m->shapes, x->shape, type), &x, 1);
}

HloInstruction *hlo_build_copy(HloRewriter *rw, HloInstruction *x) {
    if (has_failed(rw, &x, 1)) return NULL;
    return hlo_build(rw, HLO_OP_COPY, x->shape, &x, 1);
}

// ---- constants ------------------------------------------------------------------------------------------

HloInstruction *hlo_build_constant(HloRewriter *rw, const HloLiteral *literal) {
    if (has_failed(rw, NULL, 0)) return NULL;
    HloInstruction *constant = hlo_inst_new(rw->m, HLO_OP_CONSTANT, literal->shape, NULL, 0);
    hlo_set_data(rw->m, constant, HLO_ATTR_VALUE, literal);
    return finish(rw, constant, NULL);
}

HloInstruction *hlo_build_scalar(HloRewriter *rw, HloType type, double value) {
    if (has_failed(rw, NULL, 0)) return NULL;
    HloLiteral *literal;
    rw->failure = hlo_literal_new(&rw->m->arena, hlo_shape_scalar(&rw->m->shapes, type), &literal);
    if (!hlo_is_ok(rw->failure)) return NULL;
    hlo_literal_set_double(literal, 0, value);
    return hlo_build_constant(rw, literal);
}

HloInstruction *hlo_build_like(HloRewriter *rw, const HloInstruction *x, double value) {
    if (!x) return NULL;
    HloInstruction *scalar = hlo_derive(rw, hlo_build_scalar(rw, x->shape->type, value), x);
    if (hlo_shape_is_scalar(x->shape)) return scalar;
    const HloShape *shape = hlo_shape_static(&rw->m->shapes, x->shape);
    return hlo_derive(rw, hlo_build_broadcast(rw, shape, scalar, (HloDims){0}), x);
}

// ---- moving data ----------------------------------------------------------------------------------------

HloInstruction *hlo_build_reshape(HloRewriter *rw, const HloShape *shape, HloInstruction *x) {
    return hlo_build(rw, HLO_OP_RESHAPE, shape, &x, 1);
}

HloInstruction *hlo_build_bitcast(HloRewriter *rw, const HloShape *shape, HloInstruction *x) {
    return hlo_build(rw, HLO_OP_BITCAST, shape, &x, 1);
}

HloInstruction *hlo_build_broadcast(HloRewriter *rw, const HloShape *shape, HloInstruction *x, HloDims dims) {
    HloInstruction *broadcast = hlo_build(rw, HLO_OP_BROADCAST, shape, &x, 1);
    if (broadcast) hlo_set_dims(rw->m, broadcast, HLO_ATTR_DIMENSIONS, dims);
    return broadcast;
}

HloInstruction *hlo_build_transpose(HloRewriter *rw, HloInstruction *x, HloDims permutation) {
    if (has_failed(rw, &x, 1)) return NULL;
    HloInstruction *transpose = hlo_inst_new(rw->m, HLO_OP_TRANSPOSE, NULL, &x, 1);
    hlo_set_dims(rw->m, transpose, HLO_ATTR_DIMENSIONS, permutation);
    return hlo_build_inferred(rw, transpose);
}

// The size of a slice of [start, limit) with a stride; 0 when the bounds are no range.
static int64_t slice_size(const HloSliceDim *dim) {
    if (dim->limit <= dim->start || dim->stride < 1) return 0;
    return (dim->limit - dim->start - 1) / dim->stride + 1;
}

HloInstruction *hlo_build_slice(HloRewriter *rw, HloInstruction *x, const HloSliceDim *dims) {
    if (has_failed(rw, &x, 1)) return NULL;
    size_t rank = x->shape->rank;
    int64_t *sizes = HLO_NEW_ARRAY(rw->scratch, int64_t, rank);
    for (size_t d = 0; d < rank; d++) sizes[d] = slice_size(&dims[d]);
    HloSlice *bounds = HLO_NEW(&rw->m->arena, HloSlice);
    bounds->dims = hlo_arena_copy(&rw->m->arena, dims, rank * sizeof *dims);
    bounds->rank = rank;
    HloInstruction *slice =
        hlo_build(rw, HLO_OP_SLICE, hlo_shape_of(&rw->m->shapes, x->shape->type, sizes, rank), &x, 1);
    hlo_set_data(rw->m, slice, HLO_ATTR_SLICE, bounds);
    return slice;
}

HloInstruction *hlo_build_concatenate(HloRewriter *rw, HloInstruction *const *operands, size_t count,
                                      int64_t dimension) {
    if (has_failed(rw, operands, count)) return NULL;
    HloInstruction *concatenate = hlo_inst_new(rw->m, HLO_OP_CONCATENATE, NULL, operands, count);
    hlo_set_int(rw->m, concatenate, HLO_ATTR_DIMENSION, dimension);
    return hlo_build_inferred(rw, concatenate);
}

HloInstruction *hlo_build_pad(HloRewriter *rw, HloInstruction *x, HloInstruction *value, const HloPaddingDim *dims) {
    HloInstruction *const operands[] = {x, value};
    if (has_failed(rw, operands, 2)) return NULL;
    HloPadding *padding = HLO_NEW(&rw->m->arena, HloPadding);
    padding->rank = x->shape->rank;
    padding->dims = hlo_arena_copy(&rw->m->arena, dims, padding->rank * sizeof *dims);
    HloInstruction *pad = hlo_inst_new(rw->m, HLO_OP_PAD, NULL, operands, 2);
    hlo_set_data(rw->m, pad, HLO_ATTR_PADDING, padding);
    return hlo_build_inferred(rw, pad);
}

HloInstruction *hlo_build_reduce(HloRewriter *rw, HloInstruction *x, HloInstruction *init, HloDims dims,
                                 HloComputation *reducer) {
    HloInstruction *const operands[] = {x, init};
    if (has_failed(rw, operands, 2)) return NULL;
    HloInstruction *reduce = hlo_inst_new(rw->m, HLO_OP_REDUCE, NULL, operands, 2);
    hlo_set_dims(rw->m, reduce, HLO_ATTR_DIMENSIONS, dims);
    hlo_set_called(reduce, 0, reducer);
    return hlo_build_inferred(rw, reduce);
}

// ---- tuples ---------------------------------------------------------------------------------------------

HloInstruction *hlo_build_tuple(HloRewriter *rw, HloInstruction *const *operands, size_t count) {
    if (has_failed(rw, operands, count)) return NULL;
    const HloShape **elements = HLO_NEW_ARRAY(rw->scratch, const HloShape *, count);
    for (size_t k = 0; k < count; k++) elements[k] = operands[k]->shape;
    return hlo_build(rw, HLO_OP_TUPLE, hlo_shape_tuple(&rw->m->shapes, elements, count), operands, count);
}

HloInstruction *hlo_build_gte(HloRewriter *rw, HloInstruction *tuple, int64_t index) {
    if (has_failed(rw, &tuple, 1)) return NULL;
    HloInstruction *gte = hlo_build(rw, HLO_OP_GET_TUPLE_ELEMENT, tuple->shape->elements[index], &tuple, 1);
    hlo_set_int(rw->m, gte, HLO_ATTR_INDEX, index);
    return gte;
}
