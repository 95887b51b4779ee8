// Vectors, maps, bit sets and edit distance over arenas.

#include "hlo/containers.h"

void hlo_vec_grow(HloArena *arena, HloVec *vec, size_t capacity) {
    if (capacity <= vec->capacity) return;
    size_t doubled = vec->capacity ? (size_t)vec->capacity * 2 : 2;
    if (capacity < doubled) capacity = doubled < UINT32_MAX ? doubled : UINT32_MAX;
    if (capacity > UINT32_MAX) capacity = SIZE_MAX;  // no arena has room for that
    void **items = HLO_NEW_ARRAY(arena, void *, capacity);
    if (vec->count) memcpy(items, vec->items, vec->count * sizeof *items);
    vec->items = items;
    vec->capacity = (uint32_t)capacity;
}

size_t hlo_vec_find(const HloVec *vec, const void *item) {
    for (size_t i = 0; i < vec->count; i++) {
        if (vec->items[i] == item) return i;
    }
    return SIZE_MAX;
}

void hlo_vec_remove(HloVec *vec, size_t at) {
    vec->count--;
    memmove(vec->items + at, vec->items + at + 1, (vec->count - at) * sizeof *vec->items);
}

void hlo_vec_insert(HloArena *arena, HloVec *vec, size_t at, const void *item) {
    hlo_vec_push(arena, vec, item);
    memmove(vec->items + at + 1, vec->items + at, (vec->count - 1 - at) * sizeof *vec->items);
    vec->items[at] = (void *)(uintptr_t)item;
}

void hlo_ints_push(HloArena *arena, HloInts *ints, int64_t value) {
    if (ints->count == ints->capacity)
        ints->items = hlo_arena_grow(arena, ints->items, &ints->capacity, 8, sizeof *ints->items);
    ints->items[ints->count++] = value;
}

static uint64_t slot_hash(uint64_t hash) {
    return hash ? hash : 1;  // 0 marks an empty slot
}

static void map_rehash(HloArena *arena, HloMap *map) {
    size_t capacity = map->capacity ? map->capacity * 2 : 16;
    HloMapSlot *slots = HLO_NEW_ARRAY(arena, HloMapSlot, capacity);
    for (size_t i = 0; i < map->capacity; i++) {
        if (!map->slots[i].hash) continue;
        size_t at = map->slots[i].hash & (capacity - 1);
        while (slots[at].hash) at = (at + 1) & (capacity - 1);
        slots[at] = map->slots[i];
    }
    map->slots = slots;
    map->capacity = capacity;
}

static HloMapSlot *map_slot(const HloMap *map, const void *key) {
    if (!map->capacity) return NULL;
    uint64_t hash = slot_hash(hlo_hash_u64((uintptr_t)key));
    size_t at = hash & (map->capacity - 1);
    while (map->slots[at].hash && map->slots[at].key != key) at = (at + 1) & (map->capacity - 1);
    return &map->slots[at];
}

void **hlo_map_at(HloArena *arena, HloMap *map, const void *key) {
    if ((map->count + 1) * 4 > map->capacity * 3) map_rehash(arena, map);
    HloMapSlot *slot = map_slot(map, key);
    if (!slot->hash) {
        *slot = (HloMapSlot){slot_hash(hlo_hash_u64((uintptr_t)key)), key, NULL};
        map->count++;
    }
    return &slot->value;
}

void *hlo_map_find(const HloMap *map, const void *key) {
    HloMapSlot *slot = map_slot(map, key);
    return slot && slot->hash ? slot->value : NULL;
}

bool hlo_map_has(const HloMap *map, const void *key) {
    HloMapSlot *slot = map_slot(map, key);
    return slot && slot->hash;
}

// Text keys are stored with their size in front, so that they may hold any byte.
typedef struct TextKey {
    size_t size;
    char text[];
} TextKey;

static HloMapSlot *map_slot_text(const HloMap *map, const char *text, size_t size, uint64_t hash) {
    if (!map->capacity) return NULL;
    size_t at = hash & (map->capacity - 1);
    for (; map->slots[at].hash; at = (at + 1) & (map->capacity - 1)) {
        const TextKey *key = map->slots[at].key;
        if (map->slots[at].hash == hash && key->size == size && hlo_same_bytes(key->text, text, size)) break;
    }
    return &map->slots[at];
}

void **hlo_map_at_text(HloArena *arena, HloMap *map, const char *text, size_t size, const char **stored) {
    if ((map->count + 1) * 4 > map->capacity * 3) map_rehash(arena, map);
    uint64_t hash = slot_hash(hlo_hash_bytes(text, size, 0));
    HloMapSlot *slot = map_slot_text(map, text, size, hash);
    if (!slot->hash) {
        TextKey *key = hlo_arena_alloc(arena, sizeof *key + size + 1);
        key->size = size;
        if (size) memcpy(key->text, text, size);
        *slot = (HloMapSlot){hash, key, NULL};
        map->count++;
    }
    if (stored) *stored = ((const TextKey *)slot->key)->text;
    return &slot->value;
}

void *hlo_map_find_text(const HloMap *map, const char *text, size_t size) {
    HloMapSlot *slot = map_slot_text(map, text, size, slot_hash(hlo_hash_bytes(text, size, 0)));
    return slot && slot->hash ? slot->value : NULL;
}

HloBits hlo_bits_new(HloArena *arena, size_t count) {
    return (HloBits){HLO_NEW_ARRAY(arena, uint64_t, count / 64 + 1), count};
}

size_t hlo_edit_distance(const char *a, size_t a_size, const char *b, size_t b_size, size_t limit) {
    enum { LONGEST = 64 };  // longer words are no near misses worth the time
    if (a_size > LONGEST || b_size > LONGEST) return limit + 1;
    size_t row[LONGEST + 1];
    for (size_t j = 0; j <= b_size; j++) row[j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            size_t best = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            row[j] = change < best ? change : best;
        }
    }
    return row[b_size] > limit ? limit + 1 : row[b_size];
}
