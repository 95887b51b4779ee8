// Blocks of memory: what lies in them when, and whether more may (§5.3.1 and §5.5 of the buffer assignment chapter).

#include "lib/cpu/assignment.h"

#include <stdlib.h>

// ---- filling --------------------------------------------------------------------------------------------

Block *new_block(HloBufferAssignment *assignment, int64_t size_bytes, int64_t color) {
    Block *block = HLO_NEW(&assignment->arena, Block);
    block->facts.index = (int64_t)assignment->blocks.count;
    block->facts.size_bytes = size_bytes;
    block->color = color;
    hlo_vec_push(&assignment->arena, &assignment->blocks, block);
    return block;
}

static void push_value(HloArena *arena, Block *block, int32_t value) {
    if (block->count == block->capacity)
        block->values = hlo_arena_grow(arena, block->values, &block->capacity, 4, sizeof *block->values);
    block->values[block->count++] = value;
}

void place_value(HloBufferAssignment *assignment, Block *block, int32_t value, int64_t offset_bytes) {
    push_value(&assignment->arena, block, value);
    assignment->block_of[value] = block;
    assignment->offset_of[value] = offset_bytes;
    assignment->size_of[value] = assignment->group_size[assignment->aliasing->group_of[value]];
}

static bool is_before(HloRange a, HloRange b) {
    return a.start != b.start ? a.start < b.start : a.end < b.end;
}

static void note_busy(HloBufferAssignment *assignment, Block *block, int32_t value) {
    HloRange range = assignment->ranges->values[value];
    if (block->busy_count == block->busy_capacity)
        block->busy = hlo_arena_grow(&assignment->arena, block->busy, &block->busy_capacity, 4, sizeof *block->busy);
    size_t low = 0, high = block->busy_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (is_before(range, block->busy[middle].range))
            high = middle;
        else
            low = middle + 1;
    }
    memmove(block->busy + low + 1, block->busy + low, (block->busy_count - low) * sizeof *block->busy);
    block->busy[low] = (Busy){range, value};
    block->busy_count++;
}

void place_group(HloBufferAssignment *assignment, Block *block, const HloValueGroup *group) {
    bool is_shared = block->is_writable && !block->facts.is_thread_local && !block->facts.is_tuple;
    for (size_t i = 0; i < group->count; i++) {
        place_value(assignment, block, group->ids[i], 0);
        if (is_shared) note_busy(assignment, block, group->ids[i]);
    }
}

// ---- asking ---------------------------------------------------------------------------------------------

// `user` is made by an operation that may write over the memory of `operand`, wherever that one stands among
// its operands.
static bool takes_over(HloBufferAssignment *assignment, const HloValue *user, const HloValue *operand) {
    if (hlo_is(user->inst, HLO_OP_COPY)) return false;
    for (size_t i = 0; i < operand->position_count; i++) {
        HloPosition at = operand->positions[i];
        if (hlo_vec_find(&user->inst->operands, at.inst) == SIZE_MAX) continue;
        if (hlo_may_share(&assignment->sharing, assignment->flow, at.inst, at.node, user->inst, user->node))
            return true;
    }
    return false;
}

static bool interferes(HloBufferAssignment *assignment, const HloValue *added, const Busy *present) {
    HloRange a = assignment->ranges->values[added->id], b = present->range;
    const HloValue *other = hlo_flow_value(assignment->flow, present->value);
    if (a.end < b.start || b.end < a.start) return false;
    if (a.end == b.start) return !takes_over(assignment, other, added);
    if (b.end == a.start) return !takes_over(assignment, added, other);
    return true;
}

// A copy never lies where what it copies lies.
static bool copies_from(const HloBufferAssignment *assignment, const HloValue *value, const Block *block) {
    if (!hlo_is(value->inst, HLO_OP_COPY)) return false;
    const HloInstruction *operand = hlo_operand(value->inst, 0);
    uint32_t count = hlo_flow_node_count(assignment->flow, operand);
    for (uint32_t node = 0; node < count; node++) {
        HloValueSet set = hlo_flow_set(assignment->flow, operand, node);
        for (size_t i = 0; i < set.count; i++) {
            if (assignment->block_of[set.ids[i]] == block) return true;
        }
    }
    return false;
}

static bool value_interferes(HloBufferAssignment *assignment, const HloValue *value, const Block *block) {
    HloRange range = assignment->ranges->values[value->id];
    size_t low = 0, high = block->busy_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (block->busy[middle].range.end < range.start)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < block->busy_count && block->busy[low].range.start <= range.end; low++) {
        if (interferes(assignment, value, &block->busy[low])) return true;
    }
    return copies_from(assignment, value, block);
}

bool may_place(HloBufferAssignment *assignment, const Block *block, const HloValueGroup *group) {
    int64_t size = assignment->group_size[group->id];
    if (size > block->facts.size_bytes || !block->is_writable) return false;
    if (block->facts.is_thread_local || block->facts.is_tuple) return false;
    bool live_out = false;
    for (size_t i = 0; i < group->count; i++) {
        const HloValue *value = hlo_flow_value(assignment->flow, group->ids[i]);
        if (color_of(value) != block->color || value_interferes(assignment, value, block)) return false;
        live_out |= value->live_out;
    }
    return !live_out || size == block->facts.size_bytes;
}

// ---- finishing ------------------------------------------------------------------------------------------

static void mark_live_out(HloBufferAssignment *assignment) {
    const HloInstruction *root = assignment->m->entry->root;
    uint32_t count = hlo_flow_node_count(assignment->flow, root);
    for (uint32_t node = 0; node < count; node++) {
        HloValueSet set = hlo_flow_set(assignment->flow, root, node);
        for (size_t i = 0; i < set.count; i++) {
            Block *block = assignment->block_of[set.ids[i]];
            if (!block) continue;
            block->facts.maybe_live_out = true;
            block->holds_root |= node == 0;
        }
    }
}

static bool is_temporary(const Block *block) {
    return !block->facts.is_parameter && !block->facts.maybe_live_out && !block->facts.is_thread_local &&
           !block->facts.is_constant;
}

// Moves the temporaries to the end as the reference does, by swapping: the last others take the first places
// of temporaries. Returns the number of the others.
static size_t part_temporaries(HloVec *blocks) {
    size_t first = 0, last = blocks->count;
    for (;;) {
        while (first != last && !is_temporary(blocks->items[first])) first++;
        if (first == last) return first;
        last--;
        while (first != last && is_temporary(blocks->items[last])) last--;
        if (first == last) return first;
        void *kept = blocks->items[first];
        blocks->items[first++] = blocks->items[last];
        blocks->items[last] = kept;
    }
}

static Block *base_of_color(const HloVec *blocks, size_t from, size_t to, int64_t color) {
    for (size_t i = from; i < to; i++) {
        Block *block = blocks->items[i];
        if (block->color == color) return block;
    }
    return NULL;
}

static void append_block(HloBufferAssignment *assignment, Block *base, const Block *block) {
    int64_t start = round_up(base->facts.size_bytes, ALIGNMENT_BYTES);
    base->facts.size_bytes = add_bytes(start, block->facts.size_bytes);
    for (size_t i = 0; i < block->count; i++) {
        int32_t value = block->values[i];
        place_value(assignment, base, value, add_bytes(start, assignment->offset_of[value]));
    }
}

static void combine_temporaries(HloBufferAssignment *assignment) {
    HloVec *blocks = &assignment->blocks;
    size_t first = part_temporaries(blocks);
    size_t kept = first;
    for (size_t i = first; i < blocks->count; i++) {
        Block *block = block_at(assignment, i);
        Block *base = base_of_color(blocks, first, kept, block->color);
        if (base)
            append_block(assignment, base, block);
        else
            blocks->items[kept++] = block;
    }
    blocks->count = kept;
}

static int compare_values(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

void finish_blocks(HloBufferAssignment *assignment) {
    mark_live_out(assignment);
    combine_temporaries(assignment);
    for (size_t k = 0; k < assignment->blocks.count; k++) {
        Block *block = block_at(assignment, k);
        block->facts.index = (int64_t)k;
        if (block->count) qsort(block->values, block->count, sizeof *block->values, compare_values);
    }
}
