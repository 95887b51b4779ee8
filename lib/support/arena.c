// Bump allocation: blocks double from 16 KiB up to 8 MiB, so small modules stay small and large ones take few
// trips to the system. Small blocks come from calloc; those of 128 KiB and more are mapped, so that they are zero
// without being touched and go back when they are freed. Blocks of 4 MiB and more, and what is expected of 2 MiB on,
// lie on huge page boundaries and ask for huge pages: reading a module of megabytes otherwise spends a quarter of its
// time on page faults. Smaller ones would cost memory that is never used.

#include "hlo/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    FIRST_BLOCK_BYTES = 16 << 10,
    LARGEST_STEP_BYTES = 8 << 20,
    HUGE_PAGE_BYTES = 2 << 20,
    LEAST_MAPPED_BYTES = 128 << 10
};

struct HloArenaBlock {
    HloArenaBlock *older;
    size_t size_bytes;    // usable bytes after this header
    size_t mapped_bytes;  // 0: from calloc
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

static HloArenaBlock *map_pages(size_t bytes) {
    char *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return NULL;
    HloArenaBlock *block = (HloArenaBlock *)(void *)start;
    block->mapped_bytes = bytes;
    return block;
}

// Zeroed memory on a huge page boundary, with huge pages for the first `huge_bytes`; NULL when the system has none. What
// the alignment leaves over at both ends goes back at once.
static HloArenaBlock *map_huge_pages(size_t bytes, size_t huge_bytes) {
    size_t mapped_bytes = (bytes + HUGE_PAGE_BYTES - 1) & ~(size_t)(HUGE_PAGE_BYTES - 1);
    if (mapped_bytes < bytes || mapped_bytes > SIZE_MAX - HUGE_PAGE_BYTES) return NULL;
    char *start =
        mmap(NULL, mapped_bytes + HUGE_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return NULL;
    size_t before = -(uintptr_t)start & (HUGE_PAGE_BYTES - 1);
    if (before) munmap(start, before);
    munmap(start + before + mapped_bytes, HUGE_PAGE_BYTES - before);
    HloArenaBlock *block = (HloArenaBlock *)(void *)(start + before);
    madvise(block, huge_bytes, MADV_HUGEPAGE);  // a wish: without huge pages all works the same
    block->mapped_bytes = mapped_bytes;
    return block;
}

static HloArenaBlock *new_block(size_t size_bytes, bool expected) {
    if (size_bytes > SIZE_MAX - sizeof(HloArenaBlock)) return NULL;
    size_t bytes = sizeof(HloArenaBlock) + size_bytes;
    bool huge = size_bytes >= 2 * HUGE_PAGE_BYTES || expected;
    HloArenaBlock *block = huge                          ? map_huge_pages(bytes, expected ? bytes : bytes / 2)
                           : bytes >= LEAST_MAPPED_BYTES ? map_pages(bytes)
                                                         : calloc(1, bytes);
    if (block) block->size_bytes = (block->mapped_bytes ? block->mapped_bytes : bytes) - sizeof *block;
    return block;
}

static void free_blocks(HloArenaBlock *block) {
    while (block) {
        HloArenaBlock *older = block->older;
        if (block->mapped_bytes)
            munmap(block, block->mapped_bytes);
        else
            free(block);
        block = older;
    }
}

static bool is_over_limit(const HloArena *arena, size_t more) {
    if (!arena->limit_bytes) return false;
    return arena->used_bytes > arena->limit_bytes || more > arena->limit_bytes - arena->used_bytes;
}

void *hlo_arena_alloc_slow(HloArena *arena, size_t size_bytes) {
    size_t rounded = ((size_bytes | !size_bytes) + 15) & ~(size_t)15;
    if (rounded < size_bytes || is_over_limit(arena, rounded)) out_of_memory(arena);
    size_t block_bytes = arena->blocks ? arena->blocks->size_bytes * 2 : FIRST_BLOCK_BYTES;
    if (block_bytes > LARGEST_STEP_BYTES) block_bytes = LARGEST_STEP_BYTES - sizeof(HloArenaBlock);
    if (block_bytes < rounded) block_bytes = rounded;
    HloArenaBlock *block = new_block(block_bytes, false);
    if (!block) out_of_memory(arena);
    block->older = arena->blocks;
    arena->blocks = block;
    use_block(arena, block);
    char *result = arena->next;
    arena->next += rounded;
    arena->used_bytes += rounded;
    return result;
}

void hlo_arena_expect(HloArena *arena, size_t size_bytes) {
    if (size_bytes < HUGE_PAGE_BYTES) return;
    size_t most = LARGEST_STEP_BYTES - sizeof(HloArenaBlock);
    HloArenaBlock *block = new_block(size_bytes < most ? size_bytes : most, true);
    if (!block) return;
    block->older = arena->blocks;
    arena->blocks = block;
    use_block(arena, block);
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

void *hlo_arena_grow(HloArena *arena, const void *items, size_t *capacity, size_t first, size_t item_bytes) {
    size_t wider = *capacity ? *capacity * 2 : first;
    void *grown = hlo_arena_array(arena, wider, item_bytes);
    if (*capacity) memcpy(grown, items, *capacity * item_bytes);
    *capacity = wider;
    return grown;
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

size_t hlo_memory_budget(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (size_t)pages / 4 * 3 * (size_t)page_bytes : 0;
}
