// Shapes and layouts: immutable, interned per module, compared by pointer.
//
// An array shape has an element type, dimension sizes, per-dimension dynamic flags and perhaps a layout; a tuple
// has element shapes; token and opaque have neither. All functions that make a shape take the module's
// HloShapes and return the one shared copy, so two shapes of one module are equal exactly when their pointers
// are. Shapes of different modules are compared with hlo_shape_equal.
#ifndef HLO_SHAPE_H
#define HLO_SHAPE_H

#include "hlo/arena.h"
#include "hlo/buffer.h"
#include "hlo/containers.h"
#include "hlo/types.h"

typedef struct HloShape HloShape;

// Size of an unbounded dynamic dimension, printed `?`.
#define HLO_UNBOUNDED INT64_MIN
// How many items a value has along a dimension of this size: none when it is unbounded.
static inline int64_t hlo_size_items(int64_t size) {
    return size == HLO_UNBOUNDED ? 0 : size;
}
// A tile dimension that is combined with the next one, printed `*`.
#define HLO_TILE_COMBINE INT64_MIN

typedef struct HloDims {
    const int64_t *data;
    size_t count;
} HloDims;

typedef struct HloTile {
    HloDims dims;  // sizes; HLO_TILE_COMBINE for `*`
} HloTile;

typedef struct HloSplit {
    int64_t dimension;
    HloDims indices;
} HloSplit;

// How the elements of an array lie in memory. Only minor_to_major is common; everything behind the colon of
// the text form is zero (or 1 for the tail alignment) by default.
typedef struct HloLayout {
    const int64_t *minor_to_major;  // rank entries: dimension numbers, most minor first
    size_t rank;
    const HloTile *tiles;
    size_t tile_count;
    int64_t tail_alignment;  // in elements; 1 by default
    HloType index_type;      // HLO_TYPE_COUNT: none
    HloType pointer_type;    // HLO_TYPE_COUNT: none
    int64_t element_bits;    // 0: the type's own
    int64_t memory_space;    // 0: default
    const HloSplit *splits;
    size_t split_count;
    const HloShape *physical;  // NULL: none
    int64_t metadata_prefix_bytes;
    uint64_t hash;  // of an interned layout; follows from what it says, not from where it lies
} HloLayout;

struct HloShape {
    HloType type;
    uint32_t flags;                   // HLO_SHAPE_*
    size_t rank;                      // arrays: number of dimensions; tuples: number of elements; buffer: 1
    const int64_t *dims;              // arrays: rank sizes; a bounded dynamic dimension holds its bound
    const bool *dynamic;              // arrays: rank flags, NULL when all static
    const HloLayout *layout;          // arrays: NULL when not set
    const HloShape *const *elements;  // tuples (and buffer): rank shapes
    uint64_t hash;                    // follows from what it says, as in layouts
    uint32_t parts;                   // shapes in it at any level, itself included; UINT32_MAX: that many or more
    uint32_t depth;                   // levels of tuples and buffers, 0 for arrays
};

enum {
    HLO_SHAPE_DYNAMIC = 1,       // some dimension here or below is dynamic
    HLO_SHAPE_HAS_LAYOUT = 2,    // every array here and below has a layout
    HLO_SHAPE_PLAIN_LAYOUT = 4,  // arrays: the layout is only a minor-to-major order
    HLO_SHAPE_HAS_BUFFER = 8,    // it is a buffer, or one is below
    HLO_SHAPE_ODD_LAYOUT = 16,   // some layout here or below has a fault (hlo_shape_layout_fault)
};

// The intern tables of one module.
typedef struct HloShapes {
    HloArena *arena;  // borrowed: the module's
    HloMapSlot *slots;
    size_t count, capacity;
    HloMapSlot *layout_slots;
    size_t layout_count, layout_capacity;
    const HloShape *scalars[HLO_TYPE_COUNT];  // cache: rank 0, plain layout
    const HloShape *token;
} HloShapes;

// ---- making shapes --------------------------------------------------------------------------------------

// An array with the given layout (NULL: none). `dynamic` may be NULL. Inputs are copied.
const HloShape *hlo_shape_array(HloShapes *shapes, HloType type, const int64_t *dims, const bool *dynamic, size_t rank,
                                const HloLayout *layout);
// An array with the default layout: most minor dimension last (`{2,1,0}`).
const HloShape *hlo_shape_of(HloShapes *shapes, HloType type, const int64_t *dims, size_t rank);
const HloShape *hlo_shape_scalar(HloShapes *shapes, HloType type);
const HloShape *hlo_shape_tuple(HloShapes *shapes, const HloShape *const *elements, size_t count);
const HloShape *hlo_shape_buffer(HloShapes *shapes, const HloShape *element);
const HloShape *hlo_shape_token(HloShapes *shapes);
const HloShape *hlo_shape_opaque(HloShapes *shapes);
// The same shape in this module's tables (for shapes that came from another module).
const HloShape *hlo_shape_import(HloShapes *shapes, const HloShape *shape);

// Variants of a shape; tuples are changed leaf by leaf.
const HloShape *hlo_shape_with_type(HloShapes *shapes, const HloShape *shape, HloType type);
const HloShape *hlo_shape_with_layout(HloShapes *shapes, const HloShape *shape, const HloLayout *layout);
// The dimensions in descending order; tiles, memory space and element size stay.
const HloShape *hlo_shape_with_default_layout(HloShapes *shapes, const HloShape *shape);
// Fills missing layouts with the default one and keeps the others.
const HloShape *hlo_shape_fill_layout(HloShapes *shapes, const HloShape *shape);
const HloShape *hlo_shape_without_layout(HloShapes *shapes, const HloShape *shape);
// Element sizes of all layouts: packed, types of less than a byte (but for pred) have the size of their bits (`E(4)`);
// otherwise, and all other types, none.
const HloShape *hlo_shape_with_packing(HloShapes *shapes, const HloShape *shape, bool packed);
// Dimension k of the result is dimension permutation[k] of `shape`, and the layout moves along, so that the transpose
// to it is a bitcast. `permutation` must be one.
const HloShape *hlo_shape_permuted(HloShapes *shapes, const HloShape *shape, HloDims permutation);
// All dimensions static (bounds become sizes).
const HloShape *hlo_shape_static(HloShapes *shapes, const HloShape *shape);

// The one copy of a layout; the input is copied deeply.
const HloLayout *hlo_layout_intern(HloShapes *shapes, const HloLayout *layout);
// `{rank-1, …, 1, 0}` with nothing behind the colon.
const HloLayout *hlo_layout_default(HloShapes *shapes, size_t rank);
// A plain layout with the given order.
const HloLayout *hlo_layout_of(HloShapes *shapes, const int64_t *minor_to_major, size_t rank);
bool hlo_layout_is_default(const HloLayout *layout);

// ---- asking ---------------------------------------------------------------------------------------------

static inline bool hlo_shape_is_array(const HloShape *shape) {
    return hlo_type_is_array(shape->type);
}
static inline bool hlo_shape_is_tuple(const HloShape *shape) {
    return shape->type == HLO_TUPLE;
}
static inline bool hlo_shape_is_scalar(const HloShape *shape) {
    return shape->rank == 0 && hlo_shape_is_array(shape);
}
static inline bool hlo_shape_is_dynamic(const HloShape *shape) {
    return shape->flags & HLO_SHAPE_DYNAMIC;
}
// What is wrong with the layout of an array here or below, where it is none that a dense array can have: types of
// indices or pointers, empty tiles, negative element sizes (verifier chapter §10). NULL when nothing is.
const char *hlo_shape_layout_fault(const HloShape *shape);
static inline HloDims hlo_shape_dims(const HloShape *shape) {
    return (HloDims){shape->dims, shape->rank};
}

// Number of elements of an array (bounds for dynamic dimensions, 0 for unbounded ones). The parser refuses
// shapes whose count or byte size does not fit 63 bits, so this cannot wrap for shapes of a module.
int64_t hlo_shape_elem_count(const HloShape *shape);
// Checked form for shapes of unknown origin; false when the count does not fit int64_t.
bool hlo_shape_count_elements(const HloShape *shape, int64_t *out);
// Bytes that one array takes when stored densely: sub-byte types packed when the layout has an element size,
// one byte per element otherwise (pred and 4-bit alike); tuples: the sum of pointers (8 per element);
// token: 0. Source: the verifier chapter, byte sizes.
int64_t hlo_shape_size_bytes(const HloShape *shape);
// True when some dimension is 0.
bool hlo_shape_is_empty(const HloShape *shape);

// Leaves in pre-order: arrays, tokens, opaques; a non-tuple has one.
size_t hlo_shape_leaf_count(const HloShape *shape);
// The subshape at a tuple index; NULL when the index does not exist.
const HloShape *hlo_shape_at(const HloShape *shape, const int64_t *index, size_t count);

// What a comparison leaves out.
typedef enum HloShapeIgnore {
    HLO_IGNORE_NOTHING = 0,
    HLO_IGNORE_LAYOUT = 1,
    HLO_IGNORE_DYNAMIC = 2,
    HLO_IGNORE_ELEMENT_TYPE = 4,
    HLO_IGNORE_FLOAT_PRECISION = 8,  // any two float types match
    HLO_IGNORE_MEMORY_SPACE = 16,
    HLO_IGNORE_TILES = 32,
} HloShapeIgnore;

// Equal but for what `ignore` (HloShapeIgnore flags) leaves out.
bool hlo_shape_equal(const HloShape *a, const HloShape *b, unsigned ignore);
// Equal up to layout and dynamic flags; an unbounded dimension matches any size.
bool hlo_shape_compatible(const HloShape *a, const HloShape *b);
// Same dimensions, any element type, any layout.
bool hlo_shape_same_dims(const HloShape *a, const HloShape *b);

// ---- text -----------------------------------------------------------------------------------------------

// Prints a shape; with layouts as in instruction lines, or without as in signatures.
void hlo_put_shape(HloBuffer *out, const HloShape *shape, bool with_layout);
void hlo_put_layout(HloBuffer *out, const HloLayout *layout);
// The same as an arena string, for messages.
const char *hlo_shape_text(HloArena *arena, const HloShape *shape, bool with_layout);

#endif
