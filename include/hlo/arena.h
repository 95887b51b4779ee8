// HloArena: memory that dies together.
//
// A bump allocator over a list of blocks. Objects are never freed one by one; the arena is reset (keeping its
// largest block) or freed as a whole. All memory is zeroed. Allocation never returns NULL: when the system has
// no memory, or a size does not fit, the arena jumps to the trap that its owner installed
// (hlo_arena_trap), which turns it into a RESOURCE_EXHAUSTED status at the library's border; without a trap
// the process would have no way on, so every public entry point installs one.
#ifndef HLO_ARENA_H
#define HLO_ARENA_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct HloArenaBlock HloArenaBlock;

typedef struct HloArena {
    HloArenaBlock *blocks;  // newest first
    char *next;             // first free byte of the newest block
    char *limit;            // one past its last byte
    size_t used_bytes;      // sum of all allocations since init or reset
    size_t limit_bytes;     // 0: no limit; else allocation past it counts as out of memory
    jmp_buf *trap;          // where to go when memory runs out; NULL: abort
} HloArena;

// A zero-initialised HloArena is ready for use; no init call is needed.
void hlo_arena_free(HloArena *arena);
// Forgets all allocations and keeps one block for reuse.
void hlo_arena_reset(HloArena *arena);

// Zeroed memory for `size_bytes`, aligned to 16 bytes.
void *hlo_arena_alloc_slow(HloArena *arena, size_t size_bytes);

static inline void *hlo_arena_alloc(HloArena *arena, size_t size_bytes) {
    size_t rounded = ((size_bytes | !size_bytes) + 15) & ~(size_t)15;  // never 0, so a fresh arena makes a block
    if (rounded < size_bytes || rounded > (size_t)(arena->limit - arena->next)) {
        return hlo_arena_alloc_slow(arena, size_bytes);
    }
    char *result = arena->next;
    arena->next += rounded;
    arena->used_bytes += rounded;
    return result;
}

// Makes the next block large, for those who know that they will need about `size_bytes`. Without effect for less than a
// huge page.
void hlo_arena_expect(HloArena *arena, size_t size_bytes);
// Zeroed memory for `count` items; the product is checked.
void *hlo_arena_array(HloArena *arena, size_t count, size_t item_bytes);
// A larger home for a full array: its *capacity items are copied into room for twice as many, or for `first` when there
// was none, and *capacity is updated. For `if (count == capacity) items = hlo_arena_grow(…)`.
void *hlo_arena_grow(HloArena *arena, const void *items, size_t *capacity, size_t first, size_t item_bytes);
// A copy of `size_bytes` bytes.
void *hlo_arena_copy(HloArena *arena, const void *data, size_t size_bytes);
// A zero-terminated copy of `size` bytes of text.
char *hlo_arena_string(HloArena *arena, const char *text, size_t size);
// A zero-terminated formatted string.
char *hlo_arena_printf(HloArena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));

// A typed new object: HLO_NEW(arena, HloWindow).
#define HLO_NEW(arena, type) ((type *)hlo_arena_alloc((arena), sizeof(type)))
// A typed zeroed array: HLO_NEW_ARRAY(arena, int64_t, n).
#define HLO_NEW_ARRAY(arena, type, count) ((type *)hlo_arena_array((arena), (count), sizeof(type)))

// What one process may well use, three quarters of the machine's memory, for limits: beyond it the system does not refuse
// memory but ends processes. 0 when it does not say.
size_t hlo_memory_budget(void);

// Product and sum that refuse to wrap; false leaves *out alone.
static inline bool hlo_size_mul(size_t a, size_t b, size_t *out) {
    size_t r;
    if (__builtin_mul_overflow(a, b, &r)) return false;
    *out = r;
    return true;
}
static inline bool hlo_i64_mul(int64_t a, int64_t b, int64_t *out) {
    int64_t r;
    if (__builtin_mul_overflow(a, b, &r)) return false;
    *out = r;
    return true;
}

#endif
