// gather and scatter: windows of an array, addressed by vectors of indices.
//
// A gather clamps its windows into the array; a scatter drops a window that does not lie in it wholly.
// Source: the interpreter chapter, §3.8 and §3.9.

#include <stdlib.h>

#include "lib/eval/window.h"

// How positions of the gathered (or updating) array address the other one.
typedef struct Addressing {
    const HloShape *array;    // gathered from, or scattered into
    const HloShape *windows;  // gathered, or updates
    const HloDatum *indices;
    HloDims window_dims;   // of `windows`: those inside a window
    HloDims removed_dims;  // of `array`: size 1, not among the window's dimensions
    HloDims index_map;     // index component -> array dimension
    HloDims array_batch, index_batch;
    int64_t vector_dim;
    int64_t sizes[HLO_EVAL_RANK];  // of a window, by array dimension
    int64_t index_steps[HLO_EVAL_RANK], array_steps[HLO_EVAL_RANK];
} Addressing;

static Addressing describe(const HloInstruction *inst, const HloShape *array, const HloShape *windows,
                           const HloDatum *indices, bool gather) {
    Addressing a = {.array = array, .windows = windows, .indices = indices};
    a.window_dims = hlo_dims(inst, gather ? HLO_ATTR_OFFSET_DIMS : HLO_ATTR_UPDATE_WINDOW_DIMS);
    a.removed_dims = hlo_dims(inst, gather ? HLO_ATTR_COLLAPSED_SLICE_DIMS : HLO_ATTR_INSERTED_WINDOW_DIMS);
    a.index_map = hlo_dims(inst, gather ? HLO_ATTR_START_INDEX_MAP : HLO_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS);
    a.array_batch = hlo_dims(inst, gather ? HLO_ATTR_OPERAND_BATCHING_DIMS : HLO_ATTR_INPUT_BATCHING_DIMS);
    a.index_batch =
        hlo_dims(inst, gather ? HLO_ATTR_START_INDICES_BATCHING_DIMS : HLO_ATTR_SCATTER_INDICES_BATCHING_DIMS);
    a.vector_dim = hlo_int(inst, HLO_ATTR_INDEX_VECTOR_DIM);
    hlo_row_steps(indices->shape, a.index_steps);
    hlo_row_steps(array, a.array_steps);
    size_t window_dim = 0;
    for (size_t d = 0; d < array->rank; d++) {
        bool outside = hlo_dims_has(a.removed_dims, (int64_t)d) || hlo_dims_has(a.array_batch, (int64_t)d);
        a.sizes[d] = outside ? 1 : windows->dims[a.window_dims.data[window_dim++]];
    }
    return a;
}

// Where the window of the position `at` starts: the index vector's offset among the indices is found from the batch
// dimensions of `at`, in order, with the vector's own dimension left out.
static void window_start(const Addressing *a, const int64_t *at, int64_t *start) {
    int64_t batch[HLO_EVAL_RANK], offset = 0;
    size_t count = 0;
    for (size_t d = 0; d < a->windows->rank; d++) {
        if (!hlo_dims_has(a->window_dims, (int64_t)d)) batch[count++] = at[d];
    }
    for (size_t k = 0; k < count; k++) {
        size_t dim = (int64_t)k < a->vector_dim ? k : k + 1;
        offset += batch[k] * a->index_steps[dim];
    }
    memset(start, 0, a->array->rank * sizeof *start);
    bool has_vector = a->vector_dim < (int64_t)a->indices->shape->rank;
    int64_t step = has_vector ? a->index_steps[a->vector_dim] : 0;
    for (size_t k = 0; k < a->index_map.count; k++) {
        start[a->index_map.data[k]] = hlo_datum_int(a->indices, offset + (int64_t)k * step);
    }
    for (size_t k = 0; k < a->array_batch.count; k++) {
        int64_t dim = a->index_batch.data[k];
        start[a->array_batch.data[k]] = batch[dim < a->vector_dim ? dim : dim - 1];
    }
}

static int64_t start_offset(const Addressing *a, const int64_t *start) {
    int64_t offset = 0;
    for (size_t d = 0; d < a->array->rank; d++) offset += start[d] * a->array_steps[d];
    return offset;
}

static void clamp_start(const Addressing *a, int64_t *start) {
    for (size_t d = 0; d < a->array->rank; d++) {
        int64_t last = a->array->dims[d] - a->sizes[d];
        start[d] = start[d] < 0 ? 0 : start[d] > last ? last : start[d];
    }
}

static bool lies_inside(const Addressing *a, const int64_t *start) {
    for (size_t d = 0; d < a->array->rank; d++) {
        if (start[d] < 0 || start[d] > a->array->dims[d] - a->sizes[d]) return false;
    }
    return true;
}

// Sizes of the batch part of the windows array: its dimensions, those of the window as 1.
static void batch_sizes(const Addressing *a, int64_t *sizes) {
    for (size_t d = 0; d < a->windows->rank; d++) {
        sizes[d] = hlo_dims_has(a->window_dims, (int64_t)d) ? 1 : a->windows->dims[d];
    }
}

// The box of one window: `window` steps belong to the windows array, `array` steps to the other one.
static HloBox window_box(const Addressing *a, const int64_t *window_steps) {
    HloBox box = {.rank = a->window_dims.count};
    size_t k = 0;
    for (size_t d = 0; d < a->array->rank; d++) {
        if (hlo_dims_has(a->removed_dims, (int64_t)d) || hlo_dims_has(a->array_batch, (int64_t)d)) continue;
        box.size[k] = a->sizes[d];
        box.from_step[k] = a->array_steps[d];
        box.to_step[k] = window_steps[a->window_dims.data[k]];
        k++;
    }
    return box;
}

static int64_t windows_offset(const Addressing *a, const int64_t *at, const int64_t *steps) {
    int64_t offset = 0;
    for (size_t d = 0; d < a->windows->rank; d++) offset += at[d] * steps[d];
    return offset;
}

HLO_RULE(hlo_rule_gather) {
    Addressing a = describe(inst, args[0]->shape, inst->shape, args[1], true);
    int64_t sizes[HLO_EVAL_RANK], at[HLO_EVAL_RANK] = {0}, steps[HLO_EVAL_RANK], start[HLO_EVAL_RANK];
    HLO_TRY(hlo_datum_new(vm, inst->shape, out));
    int64_t bytes = (*out)->element_bytes;
    memset((*out)->data, 0, (size_t)((*out)->count * bytes));
    if (!(*out)->count || !args[0]->count) return hlo_ok();
    hlo_row_steps(inst->shape, steps);
    batch_sizes(&a, sizes);
    HloBox box = window_box(&a, steps);
    do {
        window_start(&a, at, start);
        clamp_start(&a, start);
        hlo_box_copy(&box, args[0]->data + start_offset(&a, start) * bytes,
                     (*out)->data + windows_offset(&a, at, steps) * bytes, (size_t)bytes);
    } while (hlo_index_next(inst->shape->rank, sizes, at));
    return hlo_ok();
}

// ---- scatter --------------------------------------------------------------------------------------------

typedef struct Scatter {
    HloMachine *vm;
    const HloComputation *comp;
    size_t count;  // arrays
    char **results;
    const char **updates;
    size_t *bytes;
    const void **in;
    void **next;
    char *values;  // count of 16 bytes
} Scatter;

// result = f(result, update) for one element of every array.
static HloStatus update_element(Scatter *s, int64_t to, int64_t from) {
    for (size_t k = 0; k < s->count; k++) {
        s->in[k] = s->results[k] + to * (int64_t)s->bytes[k];
        s->in[s->count + k] = s->updates[k] + from * (int64_t)s->bytes[k];
    }
    HLO_TRY(hlo_apply_region(s->vm, s->comp, 1, s->in, s->next));
    for (size_t k = 0; k < s->count; k++) memcpy(s->results[k] + to * (int64_t)s->bytes[k], s->next[k], s->bytes[k]);
    return hlo_ok();
}

static HloStatus update_window(Scatter *s, const HloBox *box, int64_t to, int64_t from) {
    int64_t index[HLO_EVAL_RANK] = {0};
    do {
        int64_t to_at = to, from_at = from;
        for (size_t d = 0; d < box->rank; d++) {
            to_at += index[d] * box->from_step[d];
            from_at += index[d] * box->to_step[d];
        }
        HLO_TRY(update_element(s, to_at, from_at));
    } while (hlo_index_next(box->rank, box->size, index));
    return hlo_ok();
}

static HloStatus scatter_windows(Scatter *s, const Addressing *a) {
    int64_t sizes[HLO_EVAL_RANK], at[HLO_EVAL_RANK] = {0}, steps[HLO_EVAL_RANK], start[HLO_EVAL_RANK];
    if (!hlo_index_exists(a->windows->rank, a->windows->dims)) return hlo_ok();
    hlo_row_steps(a->windows, steps);
    batch_sizes(a, sizes);
    HloBox box = window_box(a, steps);
    do {
        window_start(a, at, start);
        if (!lies_inside(a, start)) continue;
        HLO_TRY(update_window(s, &box, start_offset(a, start), windows_offset(a, at, steps)));
    } while (hlo_index_next(a->windows->rank, sizes, at));
    return hlo_ok();
}

// Copies of the operands to write into, in a tuple when there are several.
static HloStatus take_results(HloMachine *vm, const HloInstruction *inst, HloDatum **args, size_t count,
                              HloDatum **results, HloDatum **out) {
    bool tuple = hlo_shape_is_tuple(inst->shape);
    for (size_t k = 0; k < count; k++) {
        HLO_TRY(hlo_datum_own(vm, args + k, tuple ? inst->shape->elements[k] : inst->shape, results + k));
    }
    *out = results[0];
    return tuple ? hlo_datum_new_tuple(vm, inst->shape, results, out) : hlo_ok();
}

HLO_RULE(hlo_rule_scatter) {
    size_t count = hlo_operand_count(inst) / 2;
    Addressing a = describe(inst, args[0]->shape, args[count + 1]->shape, args[count], false);
    Scatter s = {vm, hlo_called(inst, 0), count, NULL, NULL, NULL, NULL, NULL, NULL};
    HloArena arena = {.trap = vm->arena.trap};
    HloDatum **results = HLO_NEW_ARRAY(&arena, HloDatum *, count);
    s.results = HLO_NEW_ARRAY(&arena, char *, count);
    s.updates = HLO_NEW_ARRAY(&arena, const char *, count);
    s.bytes = HLO_NEW_ARRAY(&arena, size_t, count);
    s.in = HLO_NEW_ARRAY(&arena, const void *, 2 * count);
    s.next = HLO_NEW_ARRAY(&arena, void *, count);
    s.values = HLO_NEW_ARRAY(&arena, char, 16 * count);
    HloStatus status = take_results(vm, inst, args, count, results, out);
    for (size_t k = 0; k < count && hlo_is_ok(status); k++) {
        s.results[k] = results[k]->data;
        s.updates[k] = args[count + 1 + k]->data;
        s.bytes[k] = results[k]->element_bytes;
        s.next[k] = s.values + 16 * k;
    }
    if (hlo_is_ok(status)) status = scatter_windows(&s, &a);
    hlo_arena_free(&arena);
    return status;
}
