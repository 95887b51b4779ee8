// Index arithmetic: positions in memory, and how reshapes and bitcasts move an index.
//
// Constants are folded by LLVM's builder; the helpers here only leave out steps that would hide that an address is a
// linear function of the loop counters.

#include "lib/cpu/llvm/emit.h"

int64_t shape_minor(const HloShape *shape, size_t k) {
    return shape->layout ? shape->layout->minor_to_major[k] : (int64_t)(shape->rank - 1 - k);
}

int64_t *shape_strides(Gen *g, const HloShape *shape) {
    int64_t *strides = HLO_NEW_ARRAY(g->arena, int64_t, shape->rank);
    int64_t stride = 1;
    for (size_t k = 0; k < shape->rank; k++) {
        int64_t d = shape_minor(shape, k);
        strides[d] = stride;
        stride *= shape->dims[d];
    }
    return strides;
}

bool shape_same_memory(const HloShape *a, const HloShape *b) {
    if (a == b) return true;
    if (a->rank != b->rank) return false;
    for (size_t d = 0; d < a->rank; d++) {
        if (a->dims[d] != b->dims[d] || shape_minor(a, d) != shape_minor(b, d)) return false;
    }
    return true;
}

// ---- building -------------------------------------------------------------------------------------------

static bool is_constant(LLVMValueRef value, int64_t expected) {
    return LLVMIsAConstantInt(value) && LLVMConstIntGetSExtValue(value) == expected;
}

LLVMValueRef build_add(Gen *g, LLVMValueRef a, LLVMValueRef b) {
    if (is_constant(a, 0)) return b;
    if (is_constant(b, 0)) return a;
    return LLVMBuildAdd(g->b, a, b, "");
}

LLVMValueRef build_sub(Gen *g, LLVMValueRef a, LLVMValueRef b) {
    return is_constant(b, 0) ? a : LLVMBuildSub(g->b, a, b, "");
}

LLVMValueRef build_scale(Gen *g, LLVMValueRef a, int64_t factor) {
    if (factor == 1) return a;
    if (factor == 0) return const_i64(g, 0);
    return LLVMBuildMul(g->b, a, const_i64(g, factor), "");
}

LLVMValueRef build_icmp(Gen *g, LLVMIntPredicate predicate, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildICmp(g->b, predicate, a, b, "");
}

LLVMValueRef build_select(Gen *g, LLVMValueRef condition, LLVMValueRef a, LLVMValueRef b) {
    return LLVMBuildSelect(g->b, condition, a, b, "");
}

LLVMValueRef build_in_range(Gen *g, LLVMValueRef value, int64_t limit) {
    return build_icmp(g, LLVMIntULT, value, const_i64(g, limit));
}

LLVMValueRef build_clamp_index(Gen *g, LLVMValueRef value, int64_t limit) {
    if (limit <= 0) return const_i64(g, 0);
    LLVMValueRef zero = const_i64(g, 0), top = const_i64(g, limit);
    value = build_select(g, build_icmp(g, LLVMIntSLT, value, zero), zero, value);
    return build_select(g, build_icmp(g, LLVMIntSGT, value, top), top, value);
}

// ---- indices --------------------------------------------------------------------------------------------

Index *index_new(Gen *g, const HloShape *shape, LLVMValueRef *dims) {
    Index *index = HLO_NEW(g->arena, Index);
    index->shape = shape;
    index->dims = dims;
    return index;
}

Index *index_linear(Gen *g, const HloShape *shape, LLVMValueRef linear) {
    Index *index = index_new(g, shape, NULL);
    index->linear = linear;
    if (shape->rank == 0) index->dims = HLO_NEW_ARRAY(g->arena, LLVMValueRef, 1);
    return index;
}

// linear / stride % size, without the parts that do nothing.
static LLVMValueRef digit(Gen *g, LLVMValueRef linear, int64_t stride, int64_t size, bool most_major) {
    if (size <= 1) return const_i64(g, 0);
    LLVMValueRef value = stride == 1 ? linear : LLVMBuildUDiv(g->b, linear, const_i64(g, stride), "");
    return most_major ? value : LLVMBuildURem(g->b, value, const_i64(g, size), "");
}

LLVMValueRef index_dim(Gen *g, const Index *index, size_t d) {
    if (index->dims) return index->dims[d];
    const HloShape *shape = index->shape;
    int64_t stride = 1;
    size_t k = 0;
    for (; shape_minor(shape, k) != (int64_t)d; k++) stride *= shape->dims[shape_minor(shape, k)];
    bool most_major = true;
    for (size_t j = k + 1; j < shape->rank; j++) most_major = most_major && shape->dims[shape_minor(shape, j)] == 1;
    return digit(g, index->linear, stride, shape->dims[d], most_major);
}

LLVMValueRef index_position(Gen *g, const Index *index, const HloShape *shape) {
    if (shape->rank == 0) return const_i64(g, 0);
    if (!index->dims && shape_same_memory(index->shape, shape)) return index->linear;
    LLVMValueRef position = const_i64(g, 0);
    int64_t stride = 1;
    for (size_t k = 0; k < shape->rank; k++) {
        int64_t d = shape_minor(shape, k);
        if (shape->dims[d] != 1)
            position = build_add(g, position, build_scale(g, index_dim(g, index, (size_t)d), stride));
        stride *= shape->dims[d];
    }
    return position;
}

bool index_equal(const Index *a, const Index *b) {
    if (a == b) return true;
    if (!a->dims || !b->dims) return a->linear == b->linear && a->shape == b->shape && !a->dims == !b->dims;
    if (a->shape->rank != b->shape->rank) return false;
    return a->shape->rank == 0 || memcmp(a->dims, b->dims, a->shape->rank * sizeof *a->dims) == 0;
}

// ---- reshape --------------------------------------------------------------------------------------------

// Two dimension lists in one memory order, seen as groups with equal products: [6,4] and [2,3,4] are {6|2,3} {4|4}.
typedef struct Grouping {
    const int64_t *from, *to;  // sizes, most major first
    size_t from_count, to_count;
} Grouping;

// Splits the number of a group's element into the sizes to[start .. end).
static void split_number(Gen *g, LLVMValueRef number, const int64_t *to, size_t start, size_t end, LLVMValueRef *out) {
    int64_t stride = 1;
    for (size_t d = end; d-- > start;) {
        bool most_major = true;
        for (size_t e = start; e < d; e++) most_major = most_major && to[e] == 1;
        out[d] = digit(g, number, stride, to[d], most_major);
        stride *= to[d];
    }
}

static LLVMValueRef join_number(Gen *g, LLVMValueRef *dims, const int64_t *from, size_t start, size_t end) {
    LLVMValueRef number = const_i64(g, 0);
    int64_t stride = 1;
    for (size_t d = end; d-- > start;) {
        if (from[d] != 1) number = build_add(g, number, build_scale(g, dims[d], stride));
        stride *= from[d];
    }
    return number;
}

// Both lists have the same product, which is not 0.
static void regroup(Gen *g, const Grouping *lists, LLVMValueRef *in, LLVMValueRef *out) {
    size_t i = 0, j = 0;
    while (i < lists->from_count || j < lists->to_count) {
        size_t from = i, to = j;
        int64_t a = i < lists->from_count ? lists->from[i++] : 1, b = j < lists->to_count ? lists->to[j++] : 1;
        while (a != b) {
            if (a < b) {
                a *= lists->from[i++];
            } else {
                b *= lists->to[j++];
            }
        }
        split_number(g, join_number(g, in, lists->from, from, i), lists->to, to, j, out);
    }
}

static bool is_zero_sized(const HloShape *shape) {
    return hlo_shape_elem_count(shape) == 0;
}

static Index *index_zero(Gen *g, const HloShape *shape) {
    LLVMValueRef *dims = HLO_NEW_ARRAY(g->arena, LLVMValueRef, shape->rank);
    for (size_t d = 0; d < shape->rank; d++) dims[d] = const_i64(g, 0);
    return index_new(g, shape, dims);
}

static bool is_row_major(const HloShape *shape) {
    size_t last = shape->rank;  // the next more major dimension must have a smaller number
    for (size_t k = 0; k < shape->rank; k++) {
        size_t d = (size_t)shape_minor(shape, k);
        if (shape->dims[d] == 1) continue;
        if (d >= last) return false;
        last = d;
    }
    return true;
}

Index *index_reshape(Gen *g, const Index *index, const HloShape *from, const HloShape *to) {
    if (hlo_shape_elem_count(from) != hlo_shape_elem_count(to)) {
        gen_fail(g, HLO_INVALID_ARGUMENT, "a reshape changes the number of elements");
        return index_zero(g, to);
    }
    if (is_zero_sized(to)) return index_zero(g, to);
    if (!index->dims && shape_same_memory(index->shape, from) && is_row_major(from) && is_row_major(to)) {
        return index_linear(g, to, index->linear);
    }
    LLVMValueRef *in = HLO_NEW_ARRAY(g->arena, LLVMValueRef, from->rank);
    for (size_t d = 0; d < from->rank; d++) in[d] = index_dim(g, index, d);
    LLVMValueRef *out = HLO_NEW_ARRAY(g->arena, LLVMValueRef, to->rank);
    regroup(g, &(Grouping){from->dims, to->dims, from->rank, to->rank}, in, out);
    return index_new(g, to, out);
}

// Dimension sizes, most major in memory first.
static int64_t *memory_sizes(Gen *g, const HloShape *shape) {
    int64_t *sizes = HLO_NEW_ARRAY(g->arena, int64_t, shape->rank);
    for (size_t k = 0; k < shape->rank; k++) sizes[k] = shape->dims[shape_minor(shape, shape->rank - 1 - k)];
    return sizes;
}

Index *index_bitcast(Gen *g, const Index *index, const HloShape *from, const HloShape *to) {
    if (hlo_shape_elem_count(from) != hlo_shape_elem_count(to)) {
        gen_fail(g, HLO_INVALID_ARGUMENT, "a bitcast changes the number of elements");
        return index_zero(g, to);
    }
    if (is_zero_sized(to)) return index_zero(g, to);
    if (!index->dims && shape_same_memory(index->shape, from)) return index_linear(g, to, index->linear);
    LLVMValueRef *in = HLO_NEW_ARRAY(g->arena, LLVMValueRef, from->rank);
    LLVMValueRef *out = HLO_NEW_ARRAY(g->arena, LLVMValueRef, to->rank);
    LLVMValueRef *dims = HLO_NEW_ARRAY(g->arena, LLVMValueRef, to->rank);
    for (size_t k = 0; k < from->rank; k++) {
        in[k] = index_dim(g, index, (size_t)shape_minor(from, from->rank - 1 - k));
    }
    regroup(g, &(Grouping){memory_sizes(g, from), memory_sizes(g, to), from->rank, to->rank}, in, out);
    for (size_t k = 0; k < to->rank; k++) dims[shape_minor(to, to->rank - 1 - k)] = out[k];
    return index_new(g, to, dims);
}
