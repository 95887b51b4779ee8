// Questions about shapes: sizes, leaves, comparison.
//
// Tuples nest as deep as a file says. The reader stops at MAX_DEPTH levels and inference refuses to build deeper ones,
// so the recursion here is bounded; a deeper shape (which only a bug can make) gets the cautious answer.

#include "hlo/shape.h"

enum { MAX_DEPTH = 9000 };  // the reader's nesting limit of 8192 and some room for inferred tuples around it

// ---- sizes ----------------------------------------------------------------------------------------------

bool hlo_shape_count_elements(const HloShape *shape, int64_t *out) {
    int64_t count = 1;
    bool empty = false, fits = true;
    for (size_t d = 0; d < shape->rank; d++) {
        int64_t size = shape->dims[d];
        if (size < 0 && size != HLO_UNBOUNDED) return false;
        if (size == 0 || size == HLO_UNBOUNDED)
            empty = true;
        else
            fits = fits && hlo_i64_mul(count, size, &count);
    }
    if (empty)
        count = 0;
    else if (!fits)
        return false;
    *out = count;
    return true;
}

int64_t hlo_shape_elem_count(const HloShape *shape) {
    int64_t count = INT64_MAX;
    if (!hlo_shape_is_array(shape)) return shape->type == HLO_BUFFER ? hlo_shape_elem_count(shape->elements[0]) : 0;
    hlo_shape_count_elements(shape, &count);
    return count;
}

static int64_t array_size_bytes(const HloShape *shape) {
    enum { F6_BITS = 8 };  // the 6-bit floats are stored and counted as bytes
    int64_t count = hlo_shape_elem_count(shape), bytes;
    if (shape->layout && shape->layout->element_bits > 0) {
        int64_t bits;
        if (!hlo_i64_mul(count, shape->layout->element_bits, &bits)) return INT64_MAX;
        return bits / 8 + (bits % 8 != 0);
    }
    int bits = hlo_type_bits(shape->type);
    if (bits == 6) bits = F6_BITS;
    return hlo_i64_mul(count, (bits + 7) / 8, &bytes) ? bytes : INT64_MAX;
}

int64_t hlo_shape_size_bytes(const HloShape *shape) {
    enum { POINTER_BYTES = 8 };
    if (hlo_shape_is_array(shape)) return array_size_bytes(shape);
    if (shape->type == HLO_BUFFER) return array_size_bytes(shape->elements[0]);
    if (shape->type == HLO_TOKEN) return 0;
    return POINTER_BYTES * (hlo_shape_is_tuple(shape) ? (int64_t)shape->rank : 1);
}

bool hlo_shape_is_empty(const HloShape *shape) {
    if (!hlo_shape_is_array(shape)) return false;
    for (size_t d = 0; d < shape->rank; d++) {
        if (shape->dims[d] == 0) return true;
    }
    return false;
}

// ---- leaves ---------------------------------------------------------------------------------------------

static size_t leaf_count(const HloShape *shape, int depth) {
    if (!hlo_shape_is_tuple(shape)) return 1;
    if (depth >= MAX_DEPTH) return 0;
    size_t count = 0;
    for (size_t k = 0; k < shape->rank; k++) count += leaf_count(shape->elements[k], depth + 1);
    return count;
}

size_t hlo_shape_leaf_count(const HloShape *shape) {
    return leaf_count(shape, 0);
}

const HloShape *hlo_shape_at(const HloShape *shape, const int64_t *index, size_t count) {
    for (size_t k = 0; k < count; k++) {
        if (!hlo_shape_is_tuple(shape) || index[k] < 0 || (uint64_t)index[k] >= shape->rank) return NULL;
        shape = shape->elements[index[k]];
    }
    return shape;
}

// ---- comparison -----------------------------------------------------------------------------------------

static bool dims_equal(HloDims a, HloDims b) {
    return a.count == b.count && (!a.count || memcmp(a.data, b.data, a.count * sizeof *a.data) == 0);
}

static bool tiles_equal(const HloLayout *a, const HloLayout *b) {
    if (a->tile_count != b->tile_count) return false;
    for (size_t k = 0; k < a->tile_count; k++) {
        if (!dims_equal(a->tiles[k].dims, b->tiles[k].dims)) return false;
    }
    return true;
}

static bool splits_equal(const HloLayout *a, const HloLayout *b) {
    if (a->split_count != b->split_count) return false;
    for (size_t k = 0; k < a->split_count; k++) {
        if (a->splits[k].dimension != b->splits[k].dimension) return false;
        if (!dims_equal(a->splits[k].indices, b->splits[k].indices)) return false;
    }
    return true;
}

static bool shape_equal(const HloShape *a, const HloShape *b, unsigned ignore, int depth);

// The size of the dynamic metadata prefix does not take part (verifier chapter, layout equality).
static bool layout_equal(const HloLayout *a, const HloLayout *b, unsigned ignore, int depth) {
    if (a == b) return true;
    if (!a || !b) return false;
    if (!dims_equal((HloDims){a->minor_to_major, a->rank}, (HloDims){b->minor_to_major, b->rank})) return false;
    if (!(ignore & HLO_IGNORE_TILES) && !tiles_equal(a, b)) return false;
    if (!(ignore & HLO_IGNORE_MEMORY_SPACE) && a->memory_space != b->memory_space) return false;
    if (a->tail_alignment != b->tail_alignment || a->element_bits != b->element_bits) return false;
    if (a->index_type != b->index_type || a->pointer_type != b->pointer_type) return false;
    if (!splits_equal(a, b)) return false;
    if (a->physical == b->physical) return true;
    return a->physical && b->physical && shape_equal(a->physical, b->physical, ignore, depth + 1);
}

static bool types_match(HloType a, HloType b, unsigned ignore) {
    if (a == b) return true;
    if (!hlo_type_is_array(a) || !hlo_type_is_array(b)) return false;
    if (ignore & HLO_IGNORE_ELEMENT_TYPE) return true;
    return (ignore & HLO_IGNORE_FLOAT_PRECISION) && hlo_type_is_float(a) && hlo_type_is_float(b);
}

static bool dimension_equal(const HloShape *a, const HloShape *b, size_t d, unsigned ignore) {
    int64_t x = a->dims[d], y = b->dims[d];
    if (ignore & HLO_IGNORE_DYNAMIC) return x == y || x == HLO_UNBOUNDED || y == HLO_UNBOUNDED;
    return x == y && (a->dynamic && a->dynamic[d]) == (b->dynamic && b->dynamic[d]);
}

static bool array_equal(const HloShape *a, const HloShape *b, unsigned ignore, int depth) {
    for (size_t d = 0; d < a->rank; d++) {
        if (!dimension_equal(a, b, d, ignore)) return false;
    }
    return (ignore & HLO_IGNORE_LAYOUT) || layout_equal(a->layout, b->layout, ignore, depth);
}

static bool shape_equal(const HloShape *a, const HloShape *b, unsigned ignore, int depth) {
    if (a == b) return true;
    if (!types_match(a->type, b->type, ignore) || a->rank != b->rank || depth >= MAX_DEPTH) return false;
    if (hlo_shape_is_array(a)) return array_equal(a, b, ignore, depth);
    if (!hlo_shape_is_tuple(a) && a->type != HLO_BUFFER) return true;
    for (size_t k = 0; k < a->rank; k++) {
        if (!shape_equal(a->elements[k], b->elements[k], ignore, depth + 1)) return false;
    }
    return true;
}

bool hlo_shape_equal(const HloShape *a, const HloShape *b, unsigned ignore) {
    return shape_equal(a, b, ignore, 0);
}

bool hlo_shape_compatible(const HloShape *a, const HloShape *b) {
    return shape_equal(a, b, HLO_IGNORE_LAYOUT | HLO_IGNORE_DYNAMIC, 0);
}

bool hlo_shape_same_dims(const HloShape *a, const HloShape *b) {
    return shape_equal(a, b, HLO_IGNORE_LAYOUT | HLO_IGNORE_DYNAMIC | HLO_IGNORE_ELEMENT_TYPE, 0);
}
