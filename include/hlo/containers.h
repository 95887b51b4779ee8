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
    uint32_t count;
    uint32_t capacity;
} HloVec;

// Room for `capacity` items; more than 32 bits can count is out of memory.
void hlo_vec_grow(HloArena *arena, HloVec *vec, size_t capacity);

static inline void hlo_vec_push(HloArena *arena, HloVec *vec, const void *item) {
    if (vec->count == vec->capacity) hlo_vec_grow(arena, vec, (size_t)vec->count + 1);
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

// Appends; `items` may move.
void hlo_ints_push(HloArena *arena, HloInts *ints, int64_t value);

// ---- hash map -------------------------------------------------------------------------------------------

// 64-bit mixing of a value or of bytes; good enough for every table here, no defence against an adversary
// beyond the doubling that bounds probe lengths.
static inline uint64_t hlo_hash_u64(uint64_t value) {
    // The finaliser of the splitmix64 generator (Steele, Lea, Flood 2014).
    value ^= value >> 30;
    value *= 0xbf58476d1ce4e5b9u;
    value ^= value >> 27;
    value *= 0x94d049bb133111ebu;
    return value ^ value >> 31;
}
// Both halves of the 128-bit product: every bit of either factor reaches every bit of the result.
static inline uint64_t hlo_hash_fold(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}
static inline uint64_t hlo_load_u64(const void *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}
static inline uint64_t hlo_load_u32(const void *at) {
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}
// Sixteen bytes a step; the last step reads two words that may overlap, so no size needs a loop over bytes.
static inline uint64_t hlo_hash_bytes(const void *data, size_t size, uint64_t seed) {
    const unsigned char *p = (const unsigned char *)data;
    uint64_t hash = seed ^ (size * 0x9e3779b97f4a7c15u);
    size_t left = size;
    for (; left > 16; left -= 16, p += 16)
        hash = hlo_hash_fold(hlo_load_u64(p) ^ hash, hlo_load_u64(p + 8) ^ 0xbf58476d1ce4e5b9u);
    uint64_t low = 0, high = 0;
    if (left >= 8) {
        low = hlo_load_u64(p);
        high = hlo_load_u64(p + left - 8);
    } else if (left >= 4) {
        low = hlo_load_u32(p);
        high = hlo_load_u32(p + left - 4);
    } else if (left) {
        low = p[0] | (uint64_t)p[left / 2] << 8 | (uint64_t)p[left - 1] << 16;
    }
    return hlo_hash_fold(low ^ hash ^ 0x94d049bb133111ebu, high ^ hash ^ 0x9e3779b97f4a7c15u);
}
// memcmp(…) == 0 for the short texts that names are.
static inline bool hlo_same_bytes(const void *a, const void *b, size_t size) {
    const char *x = (const char *)a, *y = (const char *)b;
    if (size > 16 || size == 0) return memcmp(x, y, size) == 0;
    if (size >= 8)
        return hlo_load_u64(x) == hlo_load_u64(y) && hlo_load_u64(x + size - 8) == hlo_load_u64(y + size - 8);
    if (size >= 4)
        return hlo_load_u32(x) == hlo_load_u32(y) && hlo_load_u32(x + size - 4) == hlo_load_u32(y + size - 4);
    return x[0] == y[0] && x[size / 2] == y[size / 2] && x[size - 1] == y[size - 1];
}
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

// All bits are 0.
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
