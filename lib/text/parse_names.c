// Name tables: open addressing over spans of the text.
//
// What is probed is small (8 bytes a name) and the slots stand in the
// order in which names were entered: a text mostly mentions what it defined a short while ago, so looking up a name
// touches memory that is still in the cache. A table is used for one computation after the other, so emptying it must
// not cost its capacity.

#include "parse.h"

enum { FIRST_BLOCK = 32 };  // slots

// Blocks have 32, 64, 128 … slots, so slot i, counted from 32, stands in the block of its highest bit.
static size_t block_of(size_t i) {
    return 58 - (size_t)__builtin_clzll(i + FIRST_BLOCK);
}

HloNameSlot *hlo_names_slot(const HloNameTable *table, size_t i) {
    size_t block = block_of(i);
    return &table->blocks[block][i + FIRST_BLOCK - ((size_t)FIRST_BLOCK << block)];
}

// Backwards, so that no name loses what stands between its first place and its own.
void hlo_names_clear(HloNameTable *table) {
    for (size_t number = table->count; number > 0; number--) {
        size_t at = hlo_names_slot(table, number - 1)->hash & (table->place_count - 1);
        while (table->places[at].number != number) at = (at + 1) & (table->place_count - 1);
        table->places[at].number = 0;
    }
    table->count = 0;
}

static uint32_t hash_name(const char *text, size_t size) {
    return (uint32_t)hlo_hash_bytes(text, size, 0);
}

// The place of a name, or the empty one where it belongs.
static size_t probe(const HloNameTable *table, const char *text, size_t size, uint32_t hash) {
    size_t at = hash & (table->place_count - 1);
    for (; table->places[at].number; at = (at + 1) & (table->place_count - 1)) {
        if (table->places[at].hash != hash) continue;
        const HloNameSlot *slot = hlo_names_slot(table, table->places[at].number - 1);
        if (slot->size == size && hlo_same_bytes(slot->text, text, size)) break;
    }
    return at;
}

// Longer names than 32 bits can count are in no table: each would need its own 4 GiB of text.
HloNameSlot *hlo_names_find(const HloNameTable *table, const char *text, size_t size) {
    if (!table->count || size > UINT32_MAX) return NULL;
    uint32_t number = table->places[probe(table, text, size, hash_name(text, size))].number;
    return number ? hlo_names_slot(table, number - 1) : NULL;
}

static void grow_places(HloArena *arena, HloNameTable *table) {
    table->place_count = table->place_count ? table->place_count * 2 : 64;
    table->places = HLO_NEW_ARRAY(arena, HloNamePlace, table->place_count);
    for (size_t i = 0; i < table->count; i++) {
        uint32_t hash = hlo_names_slot(table, i)->hash;
        size_t at = hash & (table->place_count - 1);
        while (table->places[at].number) at = (at + 1) & (table->place_count - 1);
        table->places[at] = (HloNamePlace){hash, (uint32_t)(i + 1)};
    }
}

HloNameSlot *hlo_names_at(HloArena *arena, HloNameTable *table, const char *text, size_t size, bool *is_new) {
    if ((table->count + 1) * 4 > table->place_count * 3) grow_places(arena, table);
    uint32_t hash = hash_name(text, size);
    size_t at = probe(table, text, size, hash);
    *is_new = !table->places[at].number;
    if (!*is_new) return hlo_names_slot(table, table->places[at].number - 1);
    HloNameSlot **block = &table->blocks[block_of(table->count)];
    if (!*block) *block = HLO_NEW_ARRAY(arena, HloNameSlot, (size_t)FIRST_BLOCK << block_of(table->count));
    HloNameSlot *slot = hlo_names_slot(table, table->count++);
    *slot = (HloNameSlot){.text = text, .size = (uint32_t)size, .hash = hash};
    table->places[at] = (HloNamePlace){hash, (uint32_t)table->count};
    return slot;
}
