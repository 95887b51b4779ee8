// What the two forms of the memory usage report share: the text and the protocol buffer.
#ifndef HLO_LIB_CPU_REPORT_MEMORY_H
#define HLO_LIB_CPU_REPORT_MEMORY_H

#include "lib/cpu/assignment.h"

typedef struct MemoryReport {
    HloBuffer *out;
    const HloBufferAssignment *assignment;
    HloArena scratch;
    HloVec entries;  // of the protocol buffer
} MemoryReport;

// Calls `visit` for each memory space, by colour, with its allocations, the largest first.
typedef void (*MemorySpaceVisitor)(MemoryReport *report, const Block *const *blocks, size_t count);
void each_memory_space(MemoryReport *report, MemorySpaceVisitor visit);

// Whether rows or allocations after number `at` are left out: below 5 %, behind the first fifty.
static inline bool is_rest_small(size_t at, int64_t shown_bytes, int64_t total_bytes) {
    return at >= 50 && (double)(total_bytes - shown_bytes) < 0.05 * (double)total_bytes;
}

// Appends the table of one allocation.
void put_memory_table(MemoryReport *report, const Block *block);

#endif
