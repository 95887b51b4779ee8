// The heap of temporaries: replays a schedule as allocations and frees, then packs what was alive together.
//
// Values that share a place (a group of must-alias values, or a user that takes over its operand's memory) are placed
// as one. Two placing orders are tried, and the smaller heap wins (§5.4 of the buffer assignment chapter).

#include "lib/cpu/assignment.h"

#include <stdlib.h>

typedef struct Item {
    int32_t value;
    int64_t size_bytes;
    HloRange range;
    int64_t born, freed;   // ticks of the replay's clock; -1: no memory needed (size 0)
    bool freed_early;      // its place went to a user before its time to be freed came
    size_t owner;          // item whose place this one shares; itself when it has its own
    size_t next;           // next item that shares with the same owner; SIZE_MAX: none
    size_t last;           // owners: end of that list
    int64_t group_freed;   // owners: the latest `freed` of the list
    int64_t offset_bytes;  // owners: in the placing under work
    int64_t kept_offset;   // owners: in the best placing so far
    size_t met_by;         // owners: the last owner to be placed that this one is in the way of
} Item;

// An owner that has its place, with what is asked of it most.
typedef struct Placed {
    int64_t offset_bytes, end_bytes;
    int64_t born, freed;  // of its whole list
    uint32_t owner;
    bool is_single;  // shares with nobody
} Placed;

typedef struct Heap {
    HloBufferAssignment *assignment;
    HloArena *arena;
    Item *items;  // by time of definition
    size_t count;
    size_t *by_end;      // items by time of their end
    size_t *item_of;     // by value id; SIZE_MAX: not in this heap
    size_t *first_item;  // by group id: the first of its values that was placed; SIZE_MAX: none yet
    int64_t clock;
    // The latest `freed` among placed items, as a binary tree over the items: node 1 is the root, the leaves
    // start at `leaves`.
    int64_t *latest;
    size_t leaves;
    Placed *placed;  // by offset
    size_t placed_count;
    uint32_t *hits;  // owners that are in the way of the next one; at most hit_limit
    size_t hit_count, hit_limit;
} Heap;

// ---- replay ---------------------------------------------------------------------------------------------

static int compare_values(const void *a, const void *b) {
    const Item *x = a, *y = b;
    if (x->range.start != y->range.start) return x->range.start < y->range.start ? -1 : 1;
    if (x->range.end != y->range.end) return x->range.end < y->range.end ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

typedef struct EndKey {
    int64_t end;
    size_t item;
} EndKey;

static int compare_ends(const void *a, const void *b) {
    const EndKey *x = a, *y = b;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static void index_ends(Heap *heap) {
    EndKey *keys = HLO_NEW_ARRAY(heap->arena, EndKey, heap->count);
    for (size_t i = 0; i < heap->count; i++) keys[i] = (EndKey){heap->items[i].range.end, i};
    qsort(keys, heap->count, sizeof *keys, compare_ends);
    heap->by_end = HLO_NEW_ARRAY(heap->arena, size_t, heap->count);
    for (size_t i = 0; i < heap->count; i++) heap->by_end[i] = keys[i].item;
}

static void free_item(Heap *heap, Item *item) {
    if (!item->size_bytes) return;
    item->freed = heap->clock++;
    Item *owner = &heap->items[item->owner];
    if (item->freed > owner->group_freed) owner->group_freed = item->freed;
}

static void allocate(Heap *heap, Item *item, size_t owner) {
    size_t self = (size_t)(item - heap->items);
    item->owner = owner;
    if (owner != self) {
        heap->items[heap->items[owner].last].next = self;
        heap->items[owner].last = self;
    }
    if (item->size_bytes) item->born = heap->clock++;
}

static bool is_single(const Heap *heap, int32_t value) {
    const HloAliasing *aliasing = heap->assignment->aliasing;
    return aliasing->groups[aliasing->group_of[value]].count == 1;
}

// The value at the operand whose place `user` takes over at this time, if there is one.
static Item *operand_to_take(Heap *heap, const HloValue *user, const HloInstruction *operand, int64_t time) {
    HloBufferAssignment *assignment = heap->assignment;
    HloValueSet set = hlo_flow_set(assignment->flow, operand, 0);
    for (size_t i = 0; i < set.count; i++) {
        size_t at = heap->item_of[set.ids[i]];
        if (at == SIZE_MAX || !is_single(heap, set.ids[i])) continue;
        Item *item = &heap->items[at];
        if (item->range.end != time || item->freed_early) continue;
        const HloValue *value = hlo_flow_value(assignment->flow, set.ids[i]);
        if (hlo_vec_find(&user->inst->operands, value->inst) == SIZE_MAX) continue;
        if (hlo_may_share(&assignment->sharing, assignment->flow, value->inst, value->node, user->inst, user->node)) {
            return item;
        }
    }
    return NULL;
}

static Item *item_to_take(Heap *heap, const Item *item, int64_t time) {
    if (!is_single(heap, item->value)) return NULL;
    const HloValue *value = hlo_flow_value(heap->assignment->flow, item->value);
    if (hlo_is(value->inst, HLO_OP_COPY)) return NULL;
    for (size_t k = 0; k < hlo_operand_count(value->inst); k++) {
        Item *taken = operand_to_take(heap, value, hlo_operand(value->inst, k), time);
        if (taken) return taken;
    }
    return NULL;
}

static void define_item(Heap *heap, Item *item, int64_t time) {
    size_t self = (size_t)(item - heap->items);
    size_t *first = &heap->first_item[heap->assignment->aliasing->group_of[item->value]];
    if (*first != SIZE_MAX) {
        allocate(heap, item, heap->items[*first].owner);
        return;
    }
    *first = self;
    Item *taken = item_to_take(heap, item, time);
    if (!taken) {
        allocate(heap, item, self);
        return;
    }
    free_item(heap, taken);
    taken->freed_early = true;
    allocate(heap, item, taken->owner);
}

// At every time first what is defined then, after that what ends then.
static void replay(Heap *heap) {
    size_t defined = 0, ended = 0;
    while (ended < heap->count) {
        Item *next = defined < heap->count ? &heap->items[defined] : NULL;
        Item *done = &heap->items[heap->by_end[ended]];
        if (next && next->range.start <= done->range.end) {
            define_item(heap, next, next->range.start);
            defined++;
        } else {
            if (!done->freed_early) free_item(heap, done);
            ended++;
        }
    }
}

// ---- the items alive at the same time -------------------------------------------------------------------

static void put_in_tree(Heap *heap, size_t item) {
    size_t node = heap->leaves + item;
    int64_t freed = heap->items[item].freed;
    for (; node; node /= 2) {
        if (heap->latest[node] < freed) heap->latest[node] = freed;
    }
}

// False when there are too many hits to go on this way.
static bool note_hit(Heap *heap, size_t owner, size_t meeting) {
    if (heap->items[owner].met_by == meeting) return true;
    if (heap->hit_count == heap->hit_limit) return false;
    heap->items[owner].met_by = meeting;
    heap->hits[heap->hit_count++] = (uint32_t)owner;
    return true;
}

// Items are in order of birth: those born by `until` are a prefix; of these the tree finds the ones that were not
// freed before `from`.
static bool find_overlaps(Heap *heap, int64_t from, int64_t until, size_t owner) {
    size_t stack[128];
    size_t depth = 0;
    stack[depth++] = 1;
    while (depth) {
        size_t node = stack[--depth];
        if (heap->latest[node] < from) continue;
        if (node < heap->leaves) {
            stack[depth++] = 2 * node + 1;
            stack[depth++] = 2 * node;
            continue;
        }
        const Item *item = &heap->items[node - heap->leaves];
        if (item->born > until) return true;
        if (!note_hit(heap, item->owner, owner)) return false;
    }
    return true;
}

// Some item of one list lives at the same time as some item of the other. Both lists are in order of birth: an item
// that is freed before the other list's current one is born meets none of the later ones.
static bool lists_meet(const Heap *heap, size_t a, size_t b) {
    while (a != SIZE_MAX && b != SIZE_MAX) {
        const Item *x = &heap->items[a], *y = &heap->items[b];
        if (x->born <= y->freed && y->born <= x->freed) return true;
        if (x->freed < y->freed)
            a = x->next;
        else
            b = y->next;
    }
    return false;
}

// ---- placing --------------------------------------------------------------------------------------------

// The smallest gap that holds `size_bytes`, the lowest among equals, as the things in the way pass by in order.
typedef struct GapSearch {
    int64_t size_bytes;
    int64_t end;  // of everything that passed by
    int64_t best, best_size;
} GapSearch;

static void pass_by(GapSearch *search, int64_t start, int64_t end) {
    int64_t from = round_up(search->end, ALIGNMENT_BYTES);
    int64_t gap = start - from;
    if (gap >= search->size_bytes && gap < search->best_size) {
        search->best = from;
        search->best_size = gap;
    }
    if (end > search->end) search->end = end;
}

// Insertion sort by halves: there are few hits.
static void sort_hits(Heap *heap) {
    for (size_t i = 1; i < heap->hit_count; i++) {
        uint32_t hit = heap->hits[i];
        size_t low = 0, high = i;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (heap->items[hit].offset_bytes < heap->items[heap->hits[middle]].offset_bytes)
                high = middle;
            else
                low = middle + 1;
        }
        memmove(heap->hits + low + 1, heap->hits + low, (i - low) * sizeof *heap->hits);
        heap->hits[low] = hit;
    }
}

static int64_t end_of(const Item *item) {
    return add_bytes(item->offset_bytes, item->size_bytes);
}

// Through the tree; false when so many are in the way that going through all is cheaper.
static bool search_hits(Heap *heap, size_t owner, GapSearch *search) {
    enum { COST_PER_HIT = 16 };  // in steps of going through all
    heap->hit_count = 0;
    heap->hit_limit = heap->placed_count / COST_PER_HIT;
    for (size_t i = owner; i != SIZE_MAX; i = heap->items[i].next) {
        if (!find_overlaps(heap, heap->items[i].born, heap->items[i].freed, owner)) return false;
    }
    sort_hits(heap);
    for (size_t i = 0; i < heap->hit_count; i++) {
        const Item *hit = &heap->items[heap->hits[i]];
        pass_by(search, hit->offset_bytes, end_of(hit));
    }
    return true;
}

static void search_all(const Heap *heap, size_t owner, GapSearch *search) {
    const Item *item = &heap->items[owner];
    bool is_single = item->next == SIZE_MAX;
    for (size_t i = 0; i < heap->placed_count; i++) {
        const Placed *placed = &heap->placed[i];
        if (placed->born > item->group_freed || placed->freed < item->born) continue;
        bool surely = is_single && placed->is_single;
        if (surely || lists_meet(heap, owner, placed->owner)) {
            pass_by(search, placed->offset_bytes, placed->end_bytes);
        }
    }
}

static void put_in_order(Heap *heap, size_t owner) {
    const Item *item = &heap->items[owner];
    size_t low = 0, high = heap->placed_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (item->offset_bytes < heap->placed[middle].offset_bytes)
            high = middle;
        else
            low = middle + 1;
    }
    memmove(heap->placed + low + 1, heap->placed + low, (heap->placed_count - low) * sizeof *heap->placed);
    heap->placed[low] = (Placed){
        .offset_bytes = item->offset_bytes,
        .end_bytes = end_of(item),
        .born = item->born,
        .freed = item->group_freed,
        .owner = (uint32_t)owner,
        .is_single = item->next == SIZE_MAX,
    };
    heap->placed_count++;
}

static int64_t place_owner(Heap *heap, size_t owner) {
    Item *item = &heap->items[owner];
    GapSearch search = {.size_bytes = item->size_bytes, .best = -1, .best_size = INT64_MAX};
    if (!search_hits(heap, owner, &search)) {
        search = (GapSearch){.size_bytes = item->size_bytes, .best = -1, .best_size = INT64_MAX};
        search_all(heap, owner, &search);
    }
    item->offset_bytes = search.best >= 0 ? search.best : round_up(search.end, ALIGNMENT_BYTES);
    put_in_order(heap, owner);
    for (size_t i = owner; i != SIZE_MAX; i = heap->items[i].next) put_in_tree(heap, i);
    return end_of(item);
}

static int compare_spatially(const void *a, const void *b) {
    const Item *x = *(const Item *const *)a, *y = *(const Item *const *)b;
    if (x->size_bytes != y->size_bytes) return x->size_bytes > y->size_bytes ? -1 : 1;
    int64_t x_life = x->freed - x->born, y_life = y->freed - y->born;
    if (x_life != y_life) return x_life > y_life ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static int compare_temporally(const void *a, const void *b) {
    const Item *x = *(const Item *const *)a, *y = *(const Item *const *)b;
    int64_t x_life = x->group_freed - x->born, y_life = y->group_freed - y->born;
    if (x_life != y_life) return x_life > y_life ? -1 : 1;
    if (x->size_bytes != y->size_bytes) return x->size_bytes > y->size_bytes ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

// Places all owners in the given order; the result is the size of the heap.
static int64_t place_all(Heap *heap, Item **owners, size_t count, int (*compare)(const void *, const void *)) {
    qsort(owners, count, sizeof *owners, compare);
    for (size_t i = 0; i < 2 * heap->leaves; i++) heap->latest[i] = -1;
    for (size_t i = 0; i < heap->count; i++) heap->items[i].met_by = SIZE_MAX;
    heap->placed_count = 0;
    int64_t size = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t end = place_owner(heap, (size_t)(owners[i] - heap->items));
        if (end > size) size = end;
    }
    return size;
}

static void keep_offsets(Item **owners, size_t count) {
    for (size_t i = 0; i < count; i++) owners[i]->kept_offset = owners[i]->offset_bytes;
}

static int64_t pack(Heap *heap) {
    Item **owners = HLO_NEW_ARRAY(heap->arena, Item *, heap->count);
    size_t count = 0;
    for (size_t i = 0; i < heap->count; i++) {
        if (heap->items[i].owner == i && heap->items[i].size_bytes) owners[count++] = &heap->items[i];
    }
    int64_t spatial = place_all(heap, owners, count, compare_spatially);
    keep_offsets(owners, count);
    int64_t temporal = place_all(heap, owners, count, compare_temporally);
    if (temporal >= spatial) return spatial;
    keep_offsets(owners, count);
    return temporal;
}

// ---- the whole ------------------------------------------------------------------------------------------

static void collect_items(Heap *heap, const HloVec *groups, int64_t color) {
    HloBufferAssignment *assignment = heap->assignment;
    size_t total = 0;
    for (size_t g = 0; g < groups->count; g++) total += ((const HloValueGroup *)groups->items[g])->count;
    heap->items = HLO_NEW_ARRAY(heap->arena, Item, total);
    for (size_t g = 0; g < groups->count; g++) {
        const HloValueGroup *group = groups->items[g];
        for (size_t i = 0; i < group->count; i++) {
            int32_t value = group->ids[i];
            if (color_of(hlo_flow_value(assignment->flow, value)) != color) continue;
            heap->items[heap->count++] = (Item){
                .value = value,
                .size_bytes = assignment->group_size[group->id],
                .range = assignment->ranges->values[value],
                .born = -1,
                .freed = -1,
                .next = SIZE_MAX,
            };
        }
    }
}

static void index_items(Heap *heap) {
    const HloBufferAssignment *assignment = heap->assignment;
    qsort(heap->items, heap->count, sizeof *heap->items, compare_values);
    heap->item_of = HLO_NEW_ARRAY(heap->arena, size_t, assignment->flow->value_limit);
    heap->first_item = HLO_NEW_ARRAY(heap->arena, size_t, assignment->aliasing->group_count);
    for (size_t v = 0; v < assignment->flow->value_limit; v++) heap->item_of[v] = SIZE_MAX;
    for (size_t g = 0; g < assignment->aliasing->group_count; g++) heap->first_item[g] = SIZE_MAX;
    for (size_t i = 0; i < heap->count; i++) {
        heap->item_of[heap->items[i].value] = i;
        heap->items[i].last = i;
    }
    heap->leaves = 1;
    while (heap->leaves < heap->count) heap->leaves *= 2;
    heap->latest = HLO_NEW_ARRAY(heap->arena, int64_t, 2 * heap->leaves);
    heap->placed = HLO_NEW_ARRAY(heap->arena, Placed, heap->count);
    heap->hits = HLO_NEW_ARRAY(heap->arena, uint32_t, heap->count);
}

static void assign_heap(HloBufferAssignment *assignment, const HloVec *groups, int64_t color) {
    Heap heap = {.assignment = assignment, .arena = &assignment->arena};
    collect_items(&heap, groups, color);
    index_items(&heap);
    index_ends(&heap);
    replay(&heap);
    Block *block = new_block(assignment, pack(&heap), color);
    block->is_writable = true;
    for (size_t i = 0; i < heap.count; i++) {
        place_value(assignment, block, heap.items[i].value, heap.items[heap.items[i].owner].kept_offset);
    }
}

void assign_heaps(HloBufferAssignment *assignment, const HloVec *delayed) {
    HloInts colors = {0};
    for (size_t g = 0; g < delayed->count; g++) {
        const HloValueGroup *group = delayed->items[g];
        int64_t color = color_of(hlo_flow_value(assignment->flow, group->ids[0]));
        bool known = false;
        for (size_t i = 0; i < colors.count; i++) known |= colors.items[i] == color;
        if (!known) hlo_ints_push(&assignment->arena, &colors, color);
    }
    for (size_t i = 0; i < colors.count; i++) assign_heap(assignment, delayed, colors.items[i]);
}
