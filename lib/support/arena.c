// Bump allocation: blocks double from 16 KiB up to 8 MiB, so small modules stay small and large ones take few
// trips to malloc. Blocks come from calloc, whose fresh pages are zero without being touched.

#include "hlo/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_BLOCK_BYTES = 16 << 10, LARGEST_STEP_BYTES = 8 << 20 };

struct HloArenaBlock {
    HloArenaBlock *older;
    size_t size_bytes;  // usable bytes after this header
    _Alignas(16) char data[];
};

static _Noreturn void out_of_memory(HloArena *arena) {
    if (arena->trap) longjmp(*arena->trap, 1);
    abort();
}

static void use_block(HloArena *arena, HloArenaBlock *block) {
    arena->next = block->data;
    arena->limit = block->data + block->size_bytes;
}

void *hlo_arena_alloc_slow(HloArena *arena, size_t size_bytes) {
    size_t rounded = ((size_bytes | !size_bytes) + 15) & ~(size_t)15;
    if (rounded < size_bytes) out_of_memory(arena);
    if (arena->limit_bytes && (arena->used_bytes > arena->limit_bytes || rounded > arena->limit_bytes - arena->used_bytes))
        out_of_memory(arena);
    size_t block_bytes = FIRST_BLOCK_BYTES;
    if (arena->blocks) block_bytes = arena->blocks->size_bytes * 2;
    if (block_bytes > LARGEST_STEP_BYTES) block_bytes = LARGEST_STEP_BYTES;
    if (block_bytes < rounded) block_bytes = rounded;
    if (block_bytes > SIZE_MAX - sizeof(HloArenaBlock)) out_of_memory(arena);
    HloArenaBlock *block = calloc(1, sizeof *block + block_bytes);
    if (!block) out_of_memory(arena);
    block->older = arena->blocks;
    block->size_bytes = block_bytes;
    arena->blocks = block;
    use_block(arena, block);
    char *result = arena->next;
    arena->next += rounded;
    arena->used_bytes += rounded;
    return result;
}

static void free_blocks(HloArenaBlock *block) {
    while (block) {
        HloArenaBlock *older = block->older;
        free(block);
        block = older;
    }
}

void hlo_arena_free(HloArena *arena) {
    free_blocks(arena->blocks);
    *arena = (HloArena){.limit_bytes = arena->limit_bytes, .trap = arena->trap};
}

void hlo_arena_reset(HloArena *arena) {
    HloArenaBlock *block = arena->blocks;
    if (!block) return;
    free_blocks(block->older);
    block->older = NULL;
    memset(block->data, 0, (size_t)(arena->next - block->data));
    use_block(arena, block);
    arena->used_bytes = 0;
}

void *hlo_arena_array(HloArena *arena, size_t count, size_t item_bytes) {
    size_t size_bytes;
    if (!hlo_size_mul(count, item_bytes, &size_bytes)) out_of_memory(arena);
    return hlo_arena_alloc(arena, size_bytes);
}

void *hlo_arena_copy(HloArena *arena, const void *data, size_t size_bytes) {
    void *copy = hlo_arena_alloc(arena, size_bytes);
    if (size_bytes) memcpy(copy, data, size_bytes);
    return copy;
}

char *hlo_arena_string(HloArena *arena, const char *text, size_t size) {
    if (size == SIZE_MAX) out_of_memory(arena);
    char *copy = hlo_arena_alloc(arena, size + 1);
    if (size) memcpy(copy, text, size);
    return copy;
}

char *hlo_arena_printf(HloArena *arena, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = hlo_arena_alloc(arena, size < 0 ? 1 : (size_t)size + 1);
    if (size >= 0) vsnprintf(text, (size_t)size + 1, format, again);
    va_end(again);
    return text;
}
