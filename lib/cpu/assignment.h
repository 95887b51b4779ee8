// The inside of a buffer assignment, shared by the files that make it and those that report on it.
#ifndef HLO_LIB_CPU_ASSIGNMENT_H
#define HLO_LIB_CPU_ASSIGNMENT_H

#include "hlo/cpu.h"
#include "hlo/dataflow.h"

enum { ALIGNMENT_BYTES = 64 };

// A value's lifetime in a block. The entries of a block are in time order and touch at their ends at most.
typedef struct Busy {
    HloRange range;
    int32_t value;
} Busy;

// An allocation and what lies in it.
typedef struct Block {
    HloAllocation facts;
    int64_t color;
    bool is_writable;  // neither a constant nor an argument that no output takes over
    bool holds_root;   // some value of it is the whole result of the entry
    int32_t *values;   // sorted by id once the assignment is finished
    size_t count, capacity;
    Busy *busy;
    size_t busy_count, busy_capacity;
} Block;

typedef enum CompClass { CLASS_NONE, CLASS_GLOBAL, CLASS_LOCAL } CompClass;

struct HloBufferAssignment {
    HloArena arena;
    const HloModule *m;
    HloDataflow *flow;
    HloSharing sharing;
    HloAliasing *aliasing;
    HloLiveRanges *ranges;
    HloVec blocks;        // Block *, by allocation index
    Block **block_of;     // by value id; NULL: no memory
    int64_t *offset_of;   // by value id, in bytes
    int64_t *size_of;     // by value id: of its group, which is what lies there
    int64_t *group_size;  // by group id
};

static inline Block *block_at(const HloBufferAssignment *assignment, size_t k) {
    return assignment->blocks.items[k];
}
static inline int64_t color_of(const HloValue *value) {
    return value->shape->layout ? value->shape->layout->memory_space : 0;
}
// Sums of sizes stop at INT64_MAX.
static inline int64_t add_bytes(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}
static inline int64_t round_up(int64_t bytes, int64_t unit) {
    return bytes > INT64_MAX - unit ? INT64_MAX : (bytes + unit - 1) / unit * unit;
}

Block *new_block(HloBufferAssignment *assignment, int64_t size_bytes, int64_t color);
void place_value(HloBufferAssignment *assignment, Block *block, int32_t value, int64_t offset_bytes);
void place_group(HloBufferAssignment *assignment, Block *block, const HloValueGroup *group);
// May the group lie at the start of the block, beside what is there?
bool may_place(HloBufferAssignment *assignment, const Block *block, const HloValueGroup *group);

// Which computations get memory, and how.
HLO_MUST_USE HloStatus classify_computations(HloArena *arena, const HloModule *m, CompClass **out);
// Gives the delayed groups one heap per colour.
void assign_heaps(HloBufferAssignment *assignment, const HloVec *delayed);
// Marks what lives out, joins the temporaries, numbers the blocks.
void finish_blocks(HloBufferAssignment *assignment);

// `<7 e @0>`, `<14 out{} (phi) @0>` (§1.5).
void put_value(HloBuffer *out, const HloBufferAssignment *assignment, HloArena *scratch, const HloValue *value);
// `432 (432B)`, `1.50MiB`: bytes for people (§6.0).
void put_human_bytes(HloBuffer *out, int64_t bytes);

#endif
