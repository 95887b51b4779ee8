// Interning of shapes and layouts: open-addressing tables keyed by structural hash.
//
// A candidate is built on the stack from borrowed parts, looked up, and copied into the arena only when it is new.

#include "hlo/shape.h"

// ---- layouts --------------------------------------------------------------------------------------------

static uint64_t hash_dims(HloDims dims, uint64_t seed) {
    return hlo_hash_bytes(dims.data, dims.count * sizeof(int64_t), seed + dims.count);
}

static uint64_t hash_layout(const HloLayout *layout) {
    uint64_t hash = hash_dims((HloDims){layout->minor_to_major, layout->rank}, 1);
    for (size_t i = 0; i < layout->tile_count; i++) hash = hash_dims(layout->tiles[i].dims, hash);
    for (size_t i = 0; i < layout->split_count; i++) {
        hash = hash_dims(layout->splits[i].indices, hlo_hash_combine(hash, (uint64_t)layout->splits[i].dimension));
    }
    const int64_t rest[] = {layout->tail_alignment, layout->index_type,   layout->pointer_type,
                            layout->element_bits,   layout->memory_space, layout->metadata_prefix_bytes};
    hash = hlo_hash_bytes(rest, sizeof rest, hash);
    hash = hlo_hash_combine(hash, layout->physical ? layout->physical->hash : 0);
    return hash ? hash : 1;
}

static bool same_dims(HloDims a, HloDims b) {
    return a.count == b.count && (a.count == 0 || memcmp(a.data, b.data, a.count * sizeof(int64_t)) == 0);
}

static bool same_layout(const HloLayout *a, const HloLayout *b) {
    if (!same_dims((HloDims){a->minor_to_major, a->rank}, (HloDims){b->minor_to_major, b->rank})) return false;
    if (a->tile_count != b->tile_count || a->split_count != b->split_count) return false;
    for (size_t i = 0; i < a->tile_count; i++) {
        if (!same_dims(a->tiles[i].dims, b->tiles[i].dims)) return false;
    }
    for (size_t i = 0; i < a->split_count; i++) {
        if (a->splits[i].dimension != b->splits[i].dimension) return false;
        if (!same_dims(a->splits[i].indices, b->splits[i].indices)) return false;
    }
    return a->tail_alignment == b->tail_alignment && a->index_type == b->index_type &&
           a->pointer_type == b->pointer_type && a->element_bits == b->element_bits &&
           a->memory_space == b->memory_space && a->physical == b->physical &&
           a->metadata_prefix_bytes == b->metadata_prefix_bytes;
}

static HloDims copy_dims(HloArena *arena, HloDims dims) {
    return (HloDims){hlo_arena_copy(arena, dims.data, dims.count * sizeof(int64_t)), dims.count};
}

static const HloLayout *copy_layout(HloArena *arena, const HloLayout *layout, uint64_t hash) {
    HloLayout *copy = hlo_arena_copy(arena, layout, sizeof *layout);
    copy->hash = hash;
    copy->minor_to_major = copy_dims(arena, (HloDims){layout->minor_to_major, layout->rank}).data;
    HloTile *tiles = HLO_NEW_ARRAY(arena, HloTile, layout->tile_count);
    for (size_t i = 0; i < layout->tile_count; i++) tiles[i].dims = copy_dims(arena, layout->tiles[i].dims);
    copy->tiles = tiles;
    HloSplit *splits = HLO_NEW_ARRAY(arena, HloSplit, layout->split_count);
    for (size_t i = 0; i < layout->split_count; i++) {
        splits[i] = (HloSplit){layout->splits[i].dimension, copy_dims(arena, layout->splits[i].indices)};
    }
    copy->splits = splits;
    return copy;
}

// Doubles a slot table; keys keep their hashes.
static void grow_slots(HloArena *arena, HloMapSlot **slots, size_t *capacity) {
    size_t wider = *capacity ? *capacity * 2 : 64;
    HloMapSlot *fresh = HLO_NEW_ARRAY(arena, HloMapSlot, wider);
    for (size_t i = 0; i < *capacity; i++) {
        if (!(*slots)[i].hash) continue;
        size_t at = (*slots)[i].hash & (wider - 1);
        while (fresh[at].hash) at = (at + 1) & (wider - 1);
        fresh[at] = (*slots)[i];
    }
    *slots = fresh;
    *capacity = wider;
}

const HloLayout *hlo_layout_intern(HloShapes *shapes, const HloLayout *layout) {
    if ((shapes->layout_count + 1) * 2 > shapes->layout_capacity)
        grow_slots(shapes->arena, &shapes->layout_slots, &shapes->layout_capacity);
    uint64_t hash = hash_layout(layout);
    size_t at = hash & (shapes->layout_capacity - 1);
    for (; shapes->layout_slots[at].hash; at = (at + 1) & (shapes->layout_capacity - 1)) {
        const HloMapSlot *slot = &shapes->layout_slots[at];
        if (slot->hash == hash && same_layout(slot->key, layout)) return slot->key;
    }
    const HloLayout *copy = copy_layout(shapes->arena, layout, hash);
    shapes->layout_slots[at] = (HloMapSlot){hash, copy, NULL};
    shapes->layout_count++;
    return copy;
}

const HloLayout *hlo_layout_of(HloShapes *shapes, const int64_t *minor_to_major, size_t rank) {
    return hlo_layout_intern(shapes, &(HloLayout){.minor_to_major = minor_to_major,
                                                  .rank = rank,
                                                  .tail_alignment = 1,
                                                  .index_type = HLO_TYPE_COUNT,
                                                  .pointer_type = HLO_TYPE_COUNT});
}

const HloLayout *hlo_layout_default(HloShapes *shapes, size_t rank) {
    enum { INLINE_RANK = 32 };
    int64_t order[INLINE_RANK];
    int64_t *descending = rank <= INLINE_RANK ? order : HLO_NEW_ARRAY(shapes->arena, int64_t, rank);
    for (size_t i = 0; i < rank; i++) descending[i] = (int64_t)(rank - 1 - i);
    return hlo_layout_of(shapes, descending, rank);
}

static bool layout_is_plain(const HloLayout *layout) {
    return !layout->tile_count && !layout->split_count && layout->tail_alignment == 1 &&
           layout->index_type == HLO_TYPE_COUNT && layout->pointer_type == HLO_TYPE_COUNT && !layout->element_bits &&
           !layout->memory_space && !layout->physical && !layout->metadata_prefix_bytes;
}

static const char *layout_fault(const HloLayout *layout) {
    if (layout->index_type != HLO_TYPE_COUNT) return "only a sparse array has a type of indices";
    if (layout->pointer_type != HLO_TYPE_COUNT) return "only a sparse array has a type of pointers";
    if (layout->element_bits < 0) return "an element has at least 0 bits";
    for (size_t t = 0; t < layout->tile_count; t++) {
        HloDims tile = layout->tiles[t].dims;
        if (!tile.count) return "a tile has at least one dimension";
        for (size_t d = 0; d < tile.count; d++) {
            if (tile.data[d] == 0) return "a tile has no dimension of size 0";
        }
    }
    return NULL;
}

bool hlo_layout_is_default(const HloLayout *layout) {
    for (size_t i = 0; i < layout->rank; i++) {
        if (layout->minor_to_major[i] != (int64_t)(layout->rank - 1 - i)) return false;
    }
    return layout_is_plain(layout);
}

// ---- shapes ---------------------------------------------------------------------------------------------

static uint64_t hash_shape(const HloShape *shape) {
    uint64_t hash = hlo_hash_combine((uint64_t)shape->type + 1, shape->rank);
    if (shape->elements) {
        for (size_t i = 0; i < shape->rank; i++) hash = hlo_hash_combine(hash, shape->elements[i]->hash);
    } else {
        hash = hlo_hash_bytes(shape->dims, shape->rank * sizeof(int64_t), hash);
        if (shape->dynamic) hash = hlo_hash_bytes(shape->dynamic, shape->rank * sizeof(bool), hash);
        hash = hlo_hash_combine(hash, shape->layout ? shape->layout->hash : 0);
    }
    return hash ? hash : 1;
}

static bool same_shape(const HloShape *a, const HloShape *b) {
    if (a->type != b->type || a->rank != b->rank || a->layout != b->layout) return false;
    if (!a->elements != !b->elements || !a->dynamic != !b->dynamic) return false;
    if (a->elements) return !a->rank || memcmp(a->elements, b->elements, a->rank * sizeof *a->elements) == 0;
    if (a->rank && memcmp(a->dims, b->dims, a->rank * sizeof(int64_t))) return false;
    return !a->dynamic || memcmp(a->dynamic, b->dynamic, a->rank * sizeof(bool)) == 0;
}

static uint32_t shape_flags(const HloShape *shape) {
    if (!hlo_shape_is_array(shape)) {
        uint32_t any = shape->type == HLO_BUFFER ? HLO_SHAPE_HAS_BUFFER : 0, all = HLO_SHAPE_HAS_LAYOUT;
        for (size_t i = 0; shape->elements && i < shape->rank; i++) {
            any |= shape->elements[i]->flags & (HLO_SHAPE_DYNAMIC | HLO_SHAPE_HAS_BUFFER | HLO_SHAPE_ODD_LAYOUT);
            all &= shape->elements[i]->flags;
        }
        return any | all;
    }
    uint32_t flags = shape->dynamic ? HLO_SHAPE_DYNAMIC : 0;
    if (!shape->layout) return flags;
    if (layout_is_plain(shape->layout)) flags |= HLO_SHAPE_PLAIN_LAYOUT;
    if (layout_fault(shape->layout)) flags |= HLO_SHAPE_ODD_LAYOUT;
    return flags | HLO_SHAPE_HAS_LAYOUT;
}

const char *hlo_shape_layout_fault(const HloShape *shape) {
    if (!(shape->flags & HLO_SHAPE_ODD_LAYOUT)) return NULL;
    while (shape->elements) {
        size_t i = 0;
        while (!(shape->elements[i]->flags & HLO_SHAPE_ODD_LAYOUT)) i++;
        shape = shape->elements[i];
    }
    return layout_fault(shape->layout);
}

static void measure_tree(HloShape *shape) {
    uint64_t parts = 1;
    for (size_t i = 0; shape->elements && i < shape->rank; i++) {
        const HloShape *element = shape->elements[i];
        parts += element->parts;
        if (element->depth >= shape->depth) shape->depth = element->depth + 1;
        if (parts > UINT32_MAX) parts = UINT32_MAX;
    }
    if (shape->elements && !shape->rank) shape->depth = 1;
    shape->parts = (uint32_t)parts;
}

static const HloShape *intern_shape(HloShapes *shapes, HloShape wanted) {
    if ((shapes->count + 1) * 2 > shapes->capacity) grow_slots(shapes->arena, &shapes->slots, &shapes->capacity);
    wanted.hash = hash_shape(&wanted);
    size_t at = wanted.hash & (shapes->capacity - 1);
    for (; shapes->slots[at].hash; at = (at + 1) & (shapes->capacity - 1)) {
        const HloMapSlot *slot = &shapes->slots[at];
        if (slot->hash == wanted.hash && same_shape(slot->key, &wanted)) return slot->key;
    }
    HloArena *arena = shapes->arena;
    HloShape *copy = hlo_arena_copy(arena, &wanted, sizeof wanted);
    copy->flags = shape_flags(&wanted);
    measure_tree(copy);
    if (wanted.dims) copy->dims = hlo_arena_copy(arena, wanted.dims, wanted.rank * sizeof(int64_t));
    if (wanted.dynamic) copy->dynamic = hlo_arena_copy(arena, wanted.dynamic, wanted.rank * sizeof(bool));
    if (wanted.elements) {
        copy->elements = hlo_arena_copy(arena, wanted.elements, wanted.rank * sizeof *wanted.elements);
    }
    shapes->slots[at] = (HloMapSlot){copy->hash, copy, NULL};
    shapes->count++;
    return copy;
}

static bool any_dynamic(const bool *dynamic, size_t rank) {
    for (size_t i = 0; dynamic && i < rank; i++) {
        if (dynamic[i]) return true;
    }
    return false;
}

const HloShape *hlo_shape_array(HloShapes *shapes, HloType type, const int64_t *dims, const bool *dynamic, size_t rank,
                                const HloLayout *layout) {
    static const int64_t no_dims[1];
    return intern_shape(shapes, (HloShape){.type = type,
                                           .rank = rank,
                                           .dims = rank ? dims : no_dims,
                                           .dynamic = any_dynamic(dynamic, rank) ? dynamic : NULL,
                                           .layout = layout ? hlo_layout_intern(shapes, layout) : NULL});
}

const HloShape *hlo_shape_of(HloShapes *shapes, HloType type, const int64_t *dims, size_t rank) {
    return hlo_shape_array(shapes, type, dims, NULL, rank, hlo_layout_default(shapes, rank));
}

const HloShape *hlo_shape_scalar(HloShapes *shapes, HloType type) {
    if (!shapes->scalars[type]) shapes->scalars[type] = hlo_shape_of(shapes, type, NULL, 0);
    return shapes->scalars[type];
}

// Token or opaque.
static const HloShape *leaf_shape(HloShapes *shapes, HloType type) {
    return intern_shape(shapes, (HloShape){.type = type});
}

const HloShape *hlo_shape_token(HloShapes *shapes) {
    if (!shapes->token) shapes->token = leaf_shape(shapes, HLO_TOKEN);
    return shapes->token;
}

const HloShape *hlo_shape_opaque(HloShapes *shapes) {
    return leaf_shape(shapes, HLO_OPAQUE);
}

const HloShape *hlo_shape_tuple(HloShapes *shapes, const HloShape *const *elements, size_t count) {
    static const HloShape *const none[1];
    return intern_shape(shapes, (HloShape){.type = HLO_TUPLE, .rank = count, .elements = count ? elements : none});
}

const HloShape *hlo_shape_buffer(HloShapes *shapes, const HloShape *element) {
    return intern_shape(shapes, (HloShape){.type = HLO_BUFFER, .rank = 1, .elements = &element});
}

// ---- leaf by leaf ---------------------------------------------------------------------------------------

typedef const HloShape *(*LeafFn)(HloShapes *shapes, const HloShape *array, const void *data);

// One tuple whose elements are being rebuilt.
typedef struct Level {
    const HloShape *shape;
    const HloShape **elements;
    size_t next;
    struct Level *outer;
} Level;

static Level *enter(HloArena *scratch, const HloShape *tuple, Level *outer) {
    Level *level = HLO_NEW(scratch, Level);
    *level = (Level){tuple, HLO_NEW_ARRAY(scratch, const HloShape *, tuple->rank + 1), 0, outer};
    return level;
}

static const HloShape *leave(HloShapes *shapes, const Level *level) {
    if (level->shape->type == HLO_BUFFER) return hlo_shape_buffer(shapes, level->elements[0]);
    return hlo_shape_tuple(shapes, level->elements, level->shape->rank);
}

// Rebuilds a shape with every array leaf replaced. A loop, because tuples may nest as deep as a file likes.
static const HloShape *map_leaves(HloShapes *shapes, const HloShape *shape, LeafFn leaf, const void *data) {
    if (hlo_shape_is_array(shape)) return leaf(shapes, shape, data);
    if (!shape->elements) return leaf_shape(shapes, shape->type);
    HloArena scratch = {.trap = shapes->arena->trap};
    const HloShape *done = NULL;
    for (Level *top = enter(&scratch, shape, NULL); top;) {
        if (top->next == top->shape->rank) {
            done = leave(shapes, top);
            top = top->outer;
            if (top) top->elements[top->next++] = done;
            continue;
        }
        const HloShape *element = top->shape->elements[top->next];
        if (element->elements) {
            top = enter(&scratch, element, top);
        } else if (hlo_shape_is_array(element)) {
            top->elements[top->next++] = leaf(shapes, element, data);
        } else {
            top->elements[top->next++] = leaf_shape(shapes, element->type);
        }
    }
    hlo_arena_free(&scratch);
    return done;
}

static const HloShape *import_leaf(HloShapes *shapes, const HloShape *array, const void *data) {
    (void)data;
    if (!array->layout || !array->layout->physical)
        return hlo_shape_array(shapes, array->type, array->dims, array->dynamic, array->rank, array->layout);
    HloLayout layout = *array->layout;
    layout.physical = hlo_shape_without_layout(shapes, array->layout->physical);
    return hlo_shape_array(shapes, array->type, array->dims, array->dynamic, array->rank, &layout);
}

const HloShape *hlo_shape_import(HloShapes *shapes, const HloShape *shape) {
    return shape ? map_leaves(shapes, shape, import_leaf, NULL) : NULL;
}

static const HloShape *retype_leaf(HloShapes *shapes, const HloShape *array, const void *data) {
    HloType type = *(const HloType *)data;
    if (!array->layout || !array->layout->element_bits || hlo_type_bits(type) < 8)
        return hlo_shape_array(shapes, type, array->dims, array->dynamic, array->rank, array->layout);
    HloLayout layout = *array->layout;
    layout.element_bits = 0;  // E(n) makes sense for sub-byte types only
    return hlo_shape_array(shapes, type, array->dims, array->dynamic, array->rank, &layout);
}

const HloShape *hlo_shape_with_type(HloShapes *shapes, const HloShape *shape, HloType type) {
    return map_leaves(shapes, shape, retype_leaf, &type);
}

static const HloShape *relayout_leaf(HloShapes *shapes, const HloShape *array, const void *data) {
    return hlo_shape_array(shapes, array->type, array->dims, array->dynamic, array->rank, data);
}

const HloShape *hlo_shape_with_layout(HloShapes *shapes, const HloShape *shape, const HloLayout *layout) {
    return map_leaves(shapes, shape, relayout_leaf, layout);
}

const HloShape *hlo_shape_without_layout(HloShapes *shapes, const HloShape *shape) {
    return map_leaves(shapes, shape, relayout_leaf, NULL);
}

static const HloShape *default_leaf(HloShapes *shapes, const HloShape *array, const void *data) {
    (void)data;
    const HloLayout *standard = hlo_layout_default(shapes, array->rank);
    HloLayout layout = array->layout ? *array->layout : *standard;
    layout.minor_to_major = standard->minor_to_major;
    return hlo_shape_array(shapes, array->type, array->dims, array->dynamic, array->rank, &layout);
}

const HloShape *hlo_shape_with_default_layout(HloShapes *shapes, const HloShape *shape) {
    return map_leaves(shapes, shape, default_leaf, NULL);
}

static const HloShape *fill_leaf(HloShapes *shapes, const HloShape *array, const void *data) {
    return array->layout ? array : default_leaf(shapes, array, data);
}

const HloShape *hlo_shape_fill_layout(HloShapes *shapes, const HloShape *shape) {
    return shape->flags & HLO_SHAPE_HAS_LAYOUT ? shape : map_leaves(shapes, shape, fill_leaf, NULL);
}

static const HloShape *pack_leaf(HloShapes *shapes, const HloShape *array, const void *data) {
    int64_t bits = hlo_type_bits(array->type);
    bool is_packed = *(const bool *)data && array->type != HLO_PRED && bits < 8;
    if (!array->layout || array->layout->element_bits == (is_packed ? bits : 0)) return array;
    HloLayout layout = *array->layout;
    layout.element_bits = is_packed ? bits : 0;
    return hlo_shape_array(shapes, array->type, array->dims, array->dynamic, array->rank, &layout);
}

const HloShape *hlo_shape_with_packing(HloShapes *shapes, const HloShape *shape, bool packed) {
    return map_leaves(shapes, shape, pack_leaf, &packed);
}

static const HloShape *static_leaf(HloShapes *shapes, const HloShape *array, const void *data) {
    (void)data;
    return hlo_shape_array(shapes, array->type, array->dims, NULL, array->rank, array->layout);
}

const HloShape *hlo_shape_static(HloShapes *shapes, const HloShape *shape) {
    return hlo_shape_is_dynamic(shape) ? map_leaves(shapes, shape, static_leaf, NULL) : shape;
}
