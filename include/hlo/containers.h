// Small containers: a vector of pointers, a hash map, a set of bits, and views of text.
//
// Vectors and maps live in an arena and die with it; a zero-initialised container with its arena set is ready.
// Sorting and search use the C library.
#ifndef HLO_CONTAINERS_H
#define HLO_CONTAINERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "hlo/arena.h"

// A piece of text that is not zero-terminated and not owned.
typedef struct HloStringView {
    const char *data;
    size_t size;
} HloStringView;

static inline HloStringView hlo_view(const char *text) {
    return (HloStringView){text, strlen(text)};
}
static inline bool hlo_view_is(HloStringView view, const char *text) {
    return strlen(text) == view.size && memcmp(view.data, text, view.size) == 0;
}

// ---- vector of pointers ---------------------------------------------------------------------------------

// Pointers in order. Growing moves the items: keep no pointer into `items` over a push.
typedef struct HloVec {
    void **items;
    size_t count;
    size_t capacity;
} HloVec;

void hlo_vec_grow(HloArena *arena, HloVec *vec, size_t capacity);

static inline void hlo_vec_push(HloArena *arena, HloVec *vec, const void *item) {
    if (vec->count == vec->capacity) hlo_vec_grow(arena, vec, vec->count + 1);
    vec->items[vec->count++] = (void *)(uintptr_t)item;
}
static inline void *hlo_vec_pop(HloVec *vec) {
    return vec->items[--vec->count];
}
// The position of the first `item`, or SIZE_MAX.
size_t hlo_vec_find(const HloVec *vec, const void *item);
// Removes position `at`, keeping the order of the rest.
void hlo_vec_remove(HloVec *vec, size_t at);
void hlo_vec_insert(HloArena *arena, HloVec *vec, size_t at, const void *item);

// Numbers in order.
typedef struct HloInts {
    int64_t *items;
    size_t count;
    size_t capacity;
} HloInts;

void hlo_ints_push(HloArena *arena, HloInts *ints, int64_t value);

// ---- hash map -------------------------------------------------------------------------------------------

// 64-bit mixing of a value or of bytes; good enough for every table here, no defence against an adversary
// beyond the doubling that bounds probe lengths.
uint64_t hlo_hash_u64(uint64_t value);
uint64_t hlo_hash_bytes(const void *data, size_t size, uint64_t seed);
static inline uint64_t hlo_hash_combine(uint64_t a, uint64_t b) {
    return hlo_hash_u64(a ^ (b + 0x9e3779b97f4a7c15u + (a << 6) + (a >> 2)));
}

typedef struct HloMapSlot {
    uint64_t hash;  // 0: empty
    const void *key;
    void *value;
} HloMapSlot;

// An open-addressing map from pointers, numbers or strings to pointers. Use one key kind per map.
typedef struct HloMap {
    HloMapSlot *slots;
    size_t count;
    size_t capacity;  // 0 or a power of two
} HloMap;

// Pointer (or number cast to uintptr_t) keys. `at` adds an entry with NULL value when there is none;
// the returned address is valid until the next `at`. `find` returns the value or NULL.
void **hlo_map_at(HloArena *arena, HloMap *map, const void *key);
void *hlo_map_find(const HloMap *map, const void *key);
bool hlo_map_has(const HloMap *map, const void *key);

// Text keys, compared by content. `at` keeps a copy of a new key in the arena and tells it through *stored
// (if not NULL).
void **hlo_map_at_text(HloArena *arena, HloMap *map, const char *text, size_t size, const char **stored);
void *hlo_map_find_text(const HloMap *map, const char *text, size_t size);

// ---- bit set --------------------------------------------------------------------------------------------

// A fixed number of bits in an arena; a plain array of words.
typedef struct HloBits {
    uint64_t *words;
    size_t count;  // bits
} HloBits;

HloBits hlo_bits_new(HloArena *arena, size_t count);
static inline bool hlo_bits_has(HloBits bits, size_t i) {
    return bits.words[i / 64] >> (i % 64) & 1;
}
static inline void hlo_bits_add(HloBits bits, size_t i) {
    bits.words[i / 64] |= (uint64_t)1 << (i % 64);
}
static inline void hlo_bits_remove(HloBits bits, size_t i) {
    bits.words[i / 64] &= ~((uint64_t)1 << (i % 64));
}
// Adds i and tells whether it was new.
static inline bool hlo_bits_claim(HloBits bits, size_t i) {
    if (hlo_bits_has(bits, i)) return false;
    hlo_bits_add(bits, i);
    return true;
}

// ---- near names -----------------------------------------------------------------------------------------

// Edit distance of two words, at most `limit` + 1; for "did you mean" hints.
size_t hlo_edit_distance(const char *a, size_t a_size, const char *b, size_t b_size, size_t limit);

#endif
