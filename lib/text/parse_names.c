// Name tables: open addressing over spans of the text.
//
// A table is used for one computation after the other, so emptying it must not cost its capacity: slots carry the
// epoch in which they were filled.

#include "parse.h"

void hlo_names_clear(HloNameTable *table) {
    table->count = 0;
    table->epoch++;
    if (table->epoch == 0) {  // wrapped: old slots could look new
        memset(table->slots, 0, table->capacity * sizeof *table->slots);
        table->epoch = 1;
    }
}

static uint32_t hash_name(const char *text, size_t size) {
    return (uint32_t)hlo_hash_bytes(text, size, 0);
}

static HloNameSlot *probe(const HloNameTable *table, const char *text, size_t size, uint32_t hash) {
    size_t at = hash & (table->capacity - 1);
    for (;; at = (at + 1) & (table->capacity - 1)) {
        HloNameSlot *slot = &table->slots[at];
        if (slot->epoch != table->epoch) return slot;
        if (slot->hash == hash && slot->size == size && hlo_same_bytes(slot->text, text, size)) return slot;
    }
}

// Longer names than 32 bits can count are in no table: each would need its own 4 GiB of text.
HloNameSlot *hlo_names_find(const HloNameTable *table, const char *text, size_t size) {
    if (!table->count || size > UINT32_MAX) return NULL;
    HloNameSlot *slot = probe(table, text, size, hash_name(text, size));
    return slot->epoch == table->epoch ? slot : NULL;
}

static void grow(HloArena *arena, HloNameTable *table) {
    HloNameTable bigger = {.capacity = table->capacity ? table->capacity * 2 : 64, .count = table->count, .epoch = 1};
    bigger.slots = HLO_NEW_ARRAY(arena, HloNameSlot, bigger.capacity);
    for (size_t i = 0; i < table->capacity; i++) {
        const HloNameSlot *old = &table->slots[i];
        if (old->epoch != table->epoch) continue;
        HloNameSlot *slot = probe(&bigger, old->text, old->size, old->hash);
        *slot = *old;
        slot->epoch = bigger.epoch;
    }
    *table = bigger;
}

HloNameSlot *hlo_names_at(HloArena *arena, HloNameTable *table, const char *text, size_t size, bool *is_new) {
    if (table->epoch == 0) table->epoch = 1;
    if ((table->count + 1) * 4 > table->capacity * 3) grow(arena, table);
    uint32_t hash = hash_name(text, size);
    HloNameSlot *slot = probe(table, text, size, hash);
    *is_new = slot->epoch != table->epoch;
    if (*is_new) {
        *slot = (HloNameSlot){.text = text, .size = (uint32_t)size, .hash = hash, .epoch = table->epoch};
        table->count++;
    }
    return slot;
}

const HloNameSlot *hlo_names_suggest(const HloNameTable *table, const char *text, size_t size) {
    enum { MOST_COMPARED = 20000 };  // a hint is not worth more time
    const HloNameSlot *best = NULL;
    size_t best_distance = size < 2 ? 1 : size < 4 ? 2 : size < 8 ? 3 : 4;  // one more than what counts as near
    for (size_t i = 0; i < table->capacity && i < MOST_COMPARED; i++) {
        const HloNameSlot *slot = &table->slots[i];
        if (slot->epoch != table->epoch) continue;
        size_t distance = hlo_edit_distance(text, size, slot->text, slot->size, best_distance - 1);
        if (distance < best_distance) {
            best = slot;
            best_distance = distance;
        }
        if (best_distance == 0) break;
    }
    return best;
}
