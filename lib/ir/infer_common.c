// What all families of shape inference share: messages, dimension-list checks, drafts of array shapes, precision.

#include "infer_rules.h"

#include <stdlib.h>

// ---- messages -------------------------------------------------------------------------------------------

HloStatus hlo_infer_fail(const HloInfer *cx, const char *format, ...) {
    va_list args;
    va_start(args, format);
    HloStatus status = hlo_error_v(HLO_INVALID_ARGUMENT, format, args);
    va_end(args);
    return hlo_error_context(status, "%s", hlo_op_name(cx->inst->op));
}

const char *hlo_infer_text(const HloInfer *cx, const HloShape *shape) {
    return hlo_shape_text(cx->shapes->arena, shape, false);
}

const char *hlo_infer_dims_text(const HloInfer *cx, HloDims dims) {
    HloBuffer buffer = {0};
    hlo_put_int_list(&buffer, dims.data, dims.count);
    const char *text =
        buffer.failed || !buffer.data ? "{…}" : hlo_arena_string(cx->shapes->arena, buffer.data, buffer.size);
    hlo_buffer_free(&buffer);
    return text;
}

// ---- checks ---------------------------------------------------------------------------------------------

HloStatus hlo_infer_array(const HloInfer *cx, size_t k, const char *role) {
    const HloShape *shape = hlo_operand_shape(cx, k);
    if (hlo_shape_is_array(shape)) return hlo_ok();
    return hlo_infer_fail(cx, "expected an array as %s, found %s", role, hlo_infer_text(cx, shape));
}

HloStatus hlo_infer_all_arrays(const HloInfer *cx) {
    for (size_t k = 0; k < hlo_operand_count(cx->inst); k++) {
        const HloShape *shape = hlo_operand_shape(cx, k);
        if (hlo_shape_is_array(shape)) continue;
        return hlo_infer_fail(cx, "expected an array as operand %zu, found %s", k, hlo_infer_text(cx, shape));
    }
    return hlo_ok();
}

HloStatus hlo_infer_in_range(const HloInfer *cx, const char *what, HloDims dims, size_t limit) {
    for (size_t i = 0; i < dims.count; i++) {
        if (dims.data[i] >= 0 && (uint64_t)dims.data[i] < limit) continue;
        return hlo_infer_fail(cx, "%s: expected numbers in [0, %zu), found %lld", what, limit, (long long)dims.data[i]);
    }
    return hlo_ok();
}

HloStatus hlo_infer_sorted(const HloInfer *cx, const char *what, HloDims dims) {
    for (size_t i = 1; i < dims.count; i++) {
        if (dims.data[i - 1] > dims.data[i]) {
            return hlo_infer_fail(cx, "%s must be in rising order, found %s", what, hlo_infer_dims_text(cx, dims));
        }
    }
    return hlo_ok();
}

static int compare_numbers(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

bool hlo_dims_are_distinct(HloArena *arena, HloDims dims) {
    size_t i = 1;
    while (i < dims.count && dims.data[i - 1] < dims.data[i]) i++;
    if (i >= dims.count) return true;
    if (dims.count <= 16) {  // quadratic is fastest here
        for (i = 1; i < dims.count; i++) {
            for (size_t j = 0; j < i; j++) {
                if (dims.data[i] == dims.data[j]) return false;
            }
        }
        return true;
    }
    int64_t *sorted = hlo_arena_copy(arena, dims.data, dims.count * sizeof *sorted);
    qsort(sorted, dims.count, sizeof *sorted, compare_numbers);
    for (i = 1; i < dims.count; i++) {
        if (sorted[i - 1] == sorted[i]) return false;
    }
    return true;
}

bool hlo_dims_are_permutation(HloArena *arena, HloDims dims, size_t rank) {
    if (dims.count != rank) return false;
    for (size_t i = 0; i < rank; i++) {
        if (dims.data[i] < 0 || (uint64_t)dims.data[i] >= rank) return false;
    }
    return hlo_dims_are_distinct(arena, dims);
}

HloStatus hlo_infer_distinct(const HloInfer *cx, const char *what, HloDims dims) {
    if (hlo_dims_are_distinct(cx->shapes->arena, dims)) return hlo_ok();
    return hlo_infer_fail(cx, "%s repeats a number: %s", what, hlo_infer_dims_text(cx, dims));
}

HloStatus hlo_infer_callee(const HloInfer *cx, size_t slot, const HloComputation **out) {
    if (slot >= cx->inst->called.count || !hlo_called(cx->inst, slot)) {
        return hlo_infer_fail(cx, "needs a called computation in place %zu, has %u", slot, cx->inst->called.count);
    }
    const HloComputation *callee = hlo_called(cx->inst, slot);
    if (!callee->root || !callee->root->shape)
        return hlo_infer_fail(cx, "called computation %s has no root", callee->name);
    for (size_t k = 0; k < hlo_parameter_count(callee); k++) {
        if (hlo_parameter(callee, k)) continue;
        return hlo_infer_fail(cx, "called computation %s has no parameter %zu", callee->name, k);
    }
    *out = callee;
    return hlo_ok();
}

// ---- precision ------------------------------------------------------------------------------------------

// The largest e such that 2^(e-1) is a value of the float type.
static int max_exponent(const HloTypeInfo *info) {
    bool top_is_special = info->specials == HLO_SPECIALS_IEEE || info->specials == HLO_SPECIALS_SCALE;
    return (1 << info->exponent_bits) - 1 - top_is_special - info->bias + 1;
}

// HP orders by: complex, largest exponent, significand, bits, signed integer.
HloType hlo_type_higher_precision(HloType a, HloType b) {
    if (a == b) return a;
    const HloTypeInfo *x = hlo_type_info(a), *y = hlo_type_info(b);
    int keys[2][5];
    for (int side = 0; side < 2; side++) {
        const HloTypeInfo *info = side ? y : x;
        bool is_float = info->type_class == HLO_CLASS_FLOAT;
        keys[side][0] = info->type_class == HLO_CLASS_COMPLEX;
        keys[side][1] = is_float ? max_exponent(info) : -1;
        keys[side][2] = is_float ? info->mantissa_bits : -1;
        keys[side][3] = info->bits;
        keys[side][4] = info->type_class == HLO_CLASS_SIGNED;
    }
    for (int i = 0; i < 5; i++) {
        if (keys[0][i] != keys[1][i]) return keys[0][i] > keys[1][i] ? a : b;
    }
    return a;
}

bool hlo_shape_compatible_fp(const HloShape *a, const HloShape *b) {
    return hlo_shape_equal(a, b, HLO_IGNORE_LAYOUT | HLO_IGNORE_DYNAMIC | HLO_IGNORE_FLOAT_PRECISION);
}

// ---- drafts ---------------------------------------------------------------------------------------------

void hlo_draft_init(HloDraft *draft, const HloInfer *cx, size_t rank) {
    memset(draft, 0, sizeof *draft);
    draft->rank = rank;
    bool small = rank <= HLO_DRAFT_RANK;
    draft->dims = small ? draft->small_dims : HLO_NEW_ARRAY(cx->shapes->arena, int64_t, rank);
    draft->dynamic = small ? draft->small_dynamic : HLO_NEW_ARRAY(cx->shapes->arena, bool, rank);
}

void hlo_draft_copy_all(HloDraft *draft, const HloInfer *cx, const HloShape *from) {
    hlo_draft_init(draft, cx, from->rank);
    for (size_t d = 0; d < from->rank; d++) hlo_draft_copy(draft, d, from, d);
}

static bool is_declared(const HloInfer *cx, HloType type, HloDims dims) {
    const HloShape *declared = cx->declared;
    return declared && declared->type == type && declared->rank == dims.count &&
           memcmp(declared->dims, dims.data, dims.count * sizeof *dims.data) == 0;
}

bool hlo_draft_is_declared(const HloDraft *draft, const HloInfer *cx, HloType type) {
    return is_declared(cx, type, (HloDims){draft->dims, draft->rank});
}

const HloShape *hlo_infer_retyped(const HloInfer *cx, const HloShape *shape, HloType type, const HloLayout *layout) {
    if (shape->type == type && shape->layout == layout) return shape;
    if (is_declared(cx, type, hlo_shape_dims(shape))) return cx->declared;
    return hlo_shape_array(cx->shapes, type, shape->dims, shape->dynamic, shape->rank, layout);
}

HloStatus hlo_draft_finish_layout(const HloDraft *draft, const HloInfer *cx, HloType type, const HloLayout *layout,
                                  const HloShape **out) {
    if (hlo_draft_is_declared(draft, cx, type)) {
        *out = cx->declared;
        return hlo_ok();
    }
    bool any_dynamic = false;
    for (size_t d = 0; d < draft->rank; d++) any_dynamic |= draft->dynamic[d];
    HloShape flat = {.type = type, .rank = draft->rank, .dims = draft->dims};
    int64_t count, bytes;
    if (!hlo_shape_count_elements(&flat, &count) || !hlo_i64_mul(count, (hlo_type_bits(type) + 7) / 8, &bytes)) {
        return hlo_infer_fail(cx, "the result is too large: %s has sizes %s", hlo_type_name(type),
                              hlo_infer_dims_text(cx, (HloDims){draft->dims, draft->rank}));
    }
    *out = hlo_shape_array(cx->shapes, type, draft->dims, any_dynamic ? draft->dynamic : NULL, draft->rank, layout);
    return hlo_ok();
}

HloStatus hlo_draft_finish(const HloDraft *draft, const HloInfer *cx, HloType type, const HloShape **out) {
    if (hlo_draft_is_declared(draft, cx, type)) {
        *out = cx->declared;
        return hlo_ok();
    }
    return hlo_draft_finish_layout(draft, cx, type, hlo_layout_default(cx->shapes, draft->rank), out);
}

// ---- tuples ---------------------------------------------------------------------------------------------

// Tuples of tuples of tuples … grow without bound in text that grows linearly; past these limits nobody could print
// the shape any more.
enum { MAX_TUPLE_PARTS = 1 << 24, MAX_TUPLE_DEPTH = 8192 };

bool hlo_shape_is_manageable(const HloShape *shape) {
    return shape->parts <= MAX_TUPLE_PARTS && shape->depth <= MAX_TUPLE_DEPTH;
}

static bool is_declared_tuple(const HloInfer *cx, const HloShape *const *elements, size_t count) {
    const HloShape *declared = cx->declared;
    if (!declared || !hlo_shape_is_tuple(declared) || declared->rank != count) return false;
    return !count || memcmp(declared->elements, elements, count * sizeof *elements) == 0;
}

HloStatus hlo_infer_make_tuple(const HloInfer *cx, const HloShape *const *elements, size_t count,
                               const HloShape **out) {
    bool declared = is_declared_tuple(cx, elements, count);
    *out = declared ? cx->declared : hlo_shape_tuple(cx->shapes, elements, count);
    if (hlo_shape_is_manageable(*out)) return hlo_ok();
    return hlo_infer_fail(cx, "the tuple has more than %d parts or %d levels", MAX_TUPLE_PARTS, MAX_TUPLE_DEPTH);
}

HloStatus hlo_infer_operands_tuple(const HloInfer *cx, size_t first, size_t count, const HloShape **out) {
    enum { SMALL = 16 };
    if (count == 1) {
        *out = hlo_operand_shape(cx, first);
        return hlo_ok();
    }
    const HloShape *small[SMALL];
    const HloShape **elements = count <= SMALL ? small : HLO_NEW_ARRAY(cx->shapes->arena, const HloShape *, count);
    for (size_t k = 0; k < count; k++) elements[k] = hlo_operand_shape(cx, first + k);
    return hlo_infer_make_tuple(cx, elements, count, out);
}
