// Verification of leaves and of data movement whose shape is declared (verifier chapter §5.3 and §5.6).

#include "verify_rules.h"

// Its place among the parameters; the walk compares their number.
HloStatus hlo_verify_parameter(HloVerify *v, const HloInstruction *inst) {
    (void)v;
    const HloComputation *comp = inst->comp;
    int64_t number = hlo_parameter_number(inst);
    if (number >= 0 && (uint64_t)number < hlo_parameter_count(comp) && hlo_parameter(comp, (size_t)number) == inst) {
        return hlo_ok();
    }
    return hlo_verify_fail(inst, HLO_INTERNAL, "parameter-numbers", "it is not number %lld of %zu", (long long)number,
                           hlo_parameter_count(comp));
}

// ---- tuples ---------------------------------------------------------------------------------------------

HloStatus hlo_verify_tuple(HloVerify *v, const HloInstruction *inst) {
    const HloShape *shape = inst->shape;
    bool same = hlo_shape_is_tuple(shape) && shape->rank == hlo_operand_count(inst);
    for (size_t k = 0; same && k < shape->rank; k++) same = shape->elements[k] == hlo_operand(inst, k)->shape;
    return same ? hlo_ok() : hlo_verify_inferred(v, inst, HLO_COMPARE_SAME);
}

HloStatus hlo_verify_get_tuple_element(HloVerify *v, const HloInstruction *inst) {
    return hlo_verify_inferred(v, inst, HLO_COMPARE_SAME);
}

HloStatus hlo_verify_constant(HloVerify *v, const HloInstruction *inst) {
    const HloLiteral *value = hlo_constant(inst);
    if (!value) return hlo_verify_fail(inst, HLO_INTERNAL, "has-literal", "the constant has no value");
    return hlo_verify_result(v, inst, value->shape, HLO_COMPARE_ORDER);
}

HloStatus hlo_verify_iota(HloVerify *v, const HloInstruction *inst) {
    const HloShape *shape = inst->shape;
    int64_t d = hlo_int(inst, HLO_ATTR_IOTA_DIMENSION);
    if (!hlo_shape_is_array(shape) || shape->type == HLO_PRED) {
        return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "iota-type", "expected numbers, declared as %s",
                               hlo_verify_text(v, shape));
    }
    if (d >= 0 && (uint64_t)d < shape->rank) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "iota-dimension", "expected a dimension of %s, found %lld",
                           hlo_verify_text(v, shape), (long long)d);
}

// ---- shared ---------------------------------------------------------------------------------------------

static HloStatus check_same_type(const HloVerify *v, const HloInstruction *inst, const HloShape *x) {
    HloType a = x->type, b = inst->shape->type;
    if (hlo_type_is_array(a) && hlo_type_is_array(b) && hlo_verify_types_agree(v, a, b)) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "same-element-type", "the operand is %s, the result %s",
                           hlo_verify_text(v, x), hlo_verify_text(v, inst->shape));
}

static HloStatus check_same_count(const HloVerify *v, const HloInstruction *inst, const HloShape *x) {
    HLO_TRY(check_same_type(v, inst, x));
    if (hlo_shape_elem_count(x) == hlo_shape_elem_count(inst->shape)) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "same-element-count", "the operand is %s, the result %s",
                           hlo_verify_text(v, x), hlo_verify_text(v, inst->shape));
}

// ---- broadcast, reshape, bitcast ------------------------------------------------------------------------

// Dimensions may come in any order and repeat; only their sizes must match.
HloStatus hlo_verify_broadcast(HloVerify *v, const HloInstruction *inst) {
    const HloShape *x = hlo_operand(inst, 0)->shape;
    HloDims dimensions = hlo_dims(inst, HLO_ATTR_DIMENSIONS);
    HLO_TRY(check_same_type(v, inst, x));
    if (dimensions.count != x->rank) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "broadcast-dimensions", "%zu dimensions for operand %s",
                               dimensions.count, hlo_verify_text(v, x));
    }
    for (size_t k = 0; k < x->rank; k++) {
        int64_t d = dimensions.data[k];
        if (d >= 0 && (uint64_t)d < inst->shape->rank && inst->shape->dims[d] == x->dims[k]) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "broadcast-dimensions",
                               "dimension %zu of %s cannot be dimension %lld of %s", k, hlo_verify_text(v, x),
                               (long long)d, hlo_verify_text(v, inst->shape));
    }
    return hlo_ok();
}

HloStatus hlo_verify_reshape(HloVerify *v, const HloInstruction *inst) {
    return check_same_count(v, inst, hlo_operand(inst, 0)->shape);
}

HloStatus hlo_verify_dynamic_reshape(HloVerify *v, const HloInstruction *inst) {
    if (!hlo_operand_count(inst)) return hlo_verify_operand_count(inst, inst->shape->rank + 1);
    HLO_TRY(check_same_count(v, inst, hlo_operand(inst, 0)->shape));
    HLO_TRY(hlo_verify_operand_count(inst, inst->shape->rank + 1));
    for (size_t k = 1; k < hlo_operand_count(inst); k++) {
        const HloShape *size = hlo_operand(inst, k)->shape;
        if (size->type == HLO_S32) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "size-type", "size %zu must be s32, found %s", k - 1,
                               hlo_verify_text(v, size));
    }
    return hlo_ok();
}

static bool is_on_host(const HloShape *shape) {
    enum { HOST_SPACE = 5 };
    return shape->layout && shape->layout->memory_space == HOST_SPACE;
}

// A constant, or a copy of one, may be taken to lie anywhere.
static bool is_constant_like(const HloInstruction *inst) {
    if (inst->op == HLO_OP_COPY && hlo_operand_count(inst) == 1) inst = hlo_operand(inst, 0);
    return inst->op == HLO_OP_CONSTANT;
}

// The room that the data of a tiled array take, from its first element to its last (verifier chapter §9.3). Only the
// outermost tile counts; it covers the most minor dimensions. False when it cannot be told.
static bool data_bytes(const HloShape *x, int64_t *out) {
    const HloLayout *layout = x->layout;
    if (!layout || !layout->tile_count || !x->rank || hlo_shape_is_empty(x)) {
        *out = hlo_shape_size_bytes(x);
        return true;
    }
    HloDims tile = layout->tiles[0].dims;
    int64_t outer = 0, inner = 0, area = 1, bits = layout->element_bits ? layout->element_bits : hlo_type_bits(x->type);
    if (tile.count > x->rank) return false;
    for (size_t p = x->rank; p-- > 0;) {  // physical dimensions, most major first
        int64_t size = x->dims[layout->minor_to_major[p]], extent = p < tile.count ? tile.data[tile.count - 1 - p] : 1;
        if (extent <= 0 || size < 0 || !hlo_i64_mul(area, extent, &area)) return false;
        if (!hlo_i64_mul(outer, (size - 1) / extent + 1, &outer) || !hlo_i64_mul(inner, extent, &inner)) return false;
        outer += (size - 1) / extent;
        inner += (size - 1) % extent;
    }
    if (!hlo_i64_mul(outer, area, &outer) || !hlo_i64_mul(outer + inner + 1, bits, out)) return false;
    *out = (*out + 7) / 8;
    return true;
}

static bool same_room(const HloVerify *v, const HloShape *a, const HloShape *b) {
    int64_t x, y;
    if (hlo_shape_size_bytes(a) == hlo_shape_size_bytes(b)) return true;
    bool arrays =
        hlo_shape_is_array(a) && hlo_shape_is_array(b) && !hlo_shape_is_dynamic(a) && !hlo_shape_is_dynamic(b);
    return v->options.allow_resizing_bitcasts && arrays && data_bytes(a, &x) && data_bytes(b, &y) && x == y;
}

// Element types and counts are free; with layouts the bytes and the side of the bus must agree.
HloStatus hlo_verify_bitcast(HloVerify *v, const HloInstruction *inst) {
    const HloShape *x = hlo_operand(inst, 0)->shape;
    if (!v->options.layout_sensitive) return hlo_ok();
    if (!same_room(v, x, inst->shape)) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "bitcast-size", "%s and %s take different numbers of bytes",
                               hlo_verify_text(v, x), hlo_verify_text(v, inst->shape));
    }
    if (is_on_host(x) == is_on_host(inst->shape) || is_constant_like(hlo_operand(inst, 0))) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "bitcast-memory", "only one of %s and %s is in host memory",
                           hlo_verify_text(v, x), hlo_verify_text(v, inst->shape));
}

// ---- dependencies ---------------------------------------------------------------------------------------

HloStatus hlo_verify_add_dependency(HloVerify *v, const HloInstruction *inst) {
    const HloShape *token = hlo_operand(inst, 1)->shape;
    if (token->type != HLO_TOKEN) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "token-operand", "operand 1 must be a token, found %s",
                               hlo_verify_text(v, token));
    }
    return hlo_verify_result(v, inst, hlo_operand(inst, 0)->shape, HLO_COMPARE_LOOSE);
}

// ---- slices ---------------------------------------------------------------------------------------------

// The element type is exact even with mixed precision. A buffer is updated in place.
HloStatus hlo_verify_dynamic_update_slice(HloVerify *v, const HloInstruction *inst) {
    const HloShape *inferred;
    if (hlo_operand_count(inst) && hlo_operand(inst, 0)->shape->type == HLO_BUFFER) {
        return hlo_verify_result(v, inst, hlo_operand(inst, 0)->shape, HLO_COMPARE_SAME);
    }
    HLO_TRY(hlo_verify_infer(v, inst, HLO_COMPARE_SAME, &inferred));
    if (v->options.layout_sensitive && hlo_is_fusion_computation(inst->comp)) {
        if (hlo_shape_equal(inferred, inst->shape, HLO_IGNORE_TILES | HLO_IGNORE_MEMORY_SPACE)) return hlo_ok();
    }
    return hlo_verify_result(v, inst, inferred, HLO_COMPARE_SAME);
}
