// sort and topk.
//
// Sorting is by merging and always stable: of two elements neither of which must go before the other, the left one
// stays left. Source: the interpreter chapter, §6.4 and §6.5.

#include <stdlib.h>

#include "lib/eval/window.h"

// The rows being sorted: one line of every operand, and the order of its positions found so far.
typedef struct Sorter {
    HloMachine *vm;
    const HloComputation *comp;
    size_t count;       // operands
    const char **rows;  // first element of the line
    size_t *bytes;
    int64_t step;  // between elements of a line, in elements
    int64_t length;
    int64_t *order, *other;
    const void **in;
    HloStatus status;
} Sorter;

// Whether the element at `a` must go before that at `b`.
static bool goes_before(Sorter *s, int64_t a, int64_t b) {
    uint8_t verdict = 0;
    void *out = &verdict;
    for (size_t k = 0; k < s->count; k++) {
        s->in[2 * k] = s->rows[k] + a * s->step * (int64_t)s->bytes[k];
        s->in[2 * k + 1] = s->rows[k] + b * s->step * (int64_t)s->bytes[k];
    }
    if (hlo_is_ok(s->status)) s->status = hlo_apply_region(s->vm, s->comp, 1, s->in, &out);
    return verdict;
}

// Merges [first, middle) and [middle, end) of `order` into `other`.
static void merge(Sorter *s, int64_t first, int64_t middle, int64_t end) {
    int64_t left = first, right = middle;
    for (int64_t at = first; at < end; at++) {
        bool takes_right = left == middle || (right < end && goes_before(s, s->order[right], s->order[left]));
        s->other[at] = takes_right ? s->order[right++] : s->order[left++];
    }
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static void sort_row(Sorter *s) {
    for (int64_t i = 0; i < s->length; i++) s->order[i] = i;
    for (int64_t width = 1; width < s->length; width *= 2) {
        for (int64_t first = 0; first < s->length; first += 2 * width) {
            merge(s, first, least(first + width, s->length), least(first + 2 * width, s->length));
        }
        int64_t *merged = s->other;
        s->other = s->order;
        s->order = merged;
    }
}

static void store_row(const Sorter *s, const HloDatum *result, int64_t offset) {
    for (size_t k = 0; k < s->count; k++) {
        int64_t bytes = (int64_t)s->bytes[k];
        char *to = hlo_datum_leaf(result, k)->data + offset * bytes;
        for (int64_t i = 0; i < s->length; i++) {
            memcpy(to + i * s->step * bytes, s->rows[k] + s->order[i] * s->step * bytes, (size_t)bytes);
        }
    }
}

// Every line along the dimension, in row-major order of the others.
static void sort_rows(Sorter *s, const HloShape *shape, int64_t dim, HloDatum *const *args, const HloDatum *result) {
    int64_t sizes[HLO_EVAL_RANK], steps[HLO_EVAL_RANK], index[HLO_EVAL_RANK] = {0};
    hlo_row_steps(shape, steps);
    for (size_t d = 0; d < shape->rank; d++) sizes[d] = (int64_t)d == dim ? 1 : shape->dims[d];
    do {
        int64_t offset = 0;
        for (size_t d = 0; d < shape->rank; d++) offset += index[d] * steps[d];
        for (size_t k = 0; k < s->count; k++) s->rows[k] = args[k]->data + offset * (int64_t)s->bytes[k];
        sort_row(s);
        store_row(s, result, offset);
    } while (hlo_is_ok(s->status) && hlo_index_next(shape->rank, sizes, index));
}

HLO_RULE(hlo_rule_sort) {
    HloArena arena = {.trap = vm->arena.trap};
    const HloShape *shape = args[0]->shape;
    int64_t dim = hlo_int(inst, HLO_ATTR_DIMENSION), steps[HLO_EVAL_RANK];
    size_t count = hlo_operand_count(inst);
    hlo_row_steps(shape, steps);
    Sorter s = {vm,
                hlo_called(inst, 0),
                count,
                HLO_NEW_ARRAY(&arena, const char *, count),
                HLO_NEW_ARRAY(&arena, size_t, count),
                steps[dim],
                shape->dims[dim],
                HLO_NEW_ARRAY(&arena, int64_t, (size_t)shape->dims[dim]),
                HLO_NEW_ARRAY(&arena, int64_t, (size_t)shape->dims[dim]),
                HLO_NEW_ARRAY(&arena, const void *, 2 * count),
                hlo_ok()};
    for (size_t k = 0; k < count; k++) s.bytes[k] = args[k]->element_bytes;
    HloStatus status = hlo_datum_new_like(vm, inst->shape, out);
    if (hlo_is_ok(status) && args[0]->count) sort_rows(&s, shape, dim, args, *out);
    hlo_arena_free(&arena);
    return hlo_is_ok(status) ? s.status : status;
}

// ---- topk -----------------------------------------------------------------------------------------------

typedef struct Ranked {
    int64_t key, at;
} Ranked;

// The largest key first; among equals the one that stands first.
static int compare_ranked(const void *a_data, const void *b_data) {
    const Ranked *a = a_data, *b = b_data;
    if (a->key != b->key) return a->key > b->key ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static void take_top(const HloDatum *from, int64_t row, int64_t length, int64_t k, bool largest, Ranked *ranked,
                     HloDatum *values, HloDatum *indices) {
    int64_t bytes = from->element_bytes;
    for (int64_t i = 0; i < length; i++) {
        int64_t key = hlo_order_key(from->shape->type, from->data + (row * length + i) * bytes);
        ranked[i] = (Ranked){largest ? key : ~key, i};
    }
    qsort(ranked, (size_t)length, sizeof *ranked, compare_ranked);
    for (int64_t i = 0; i < k; i++) {
        const char *value = from->data + (row * length + ranked[i].at) * bytes;
        memcpy(values->data + (row * k + i) * bytes, value, (size_t)bytes);
        hlo_convert(HLO_S64, &ranked[i].at, indices->shape->type,
                    indices->data + (row * k + i) * indices->element_bytes, 1);
    }
}

// The custom call `TopK` has its count in its shape alone, and wants the largest.
HLO_RULE(hlo_rule_topk) {
    const HloShape *shape = inst->shape->elements[0];
    int64_t k = shape->dims[shape->rank - 1], length = args[0]->shape->dims[args[0]->shape->rank - 1];
    bool largest = inst->op != HLO_OP_TOPK || hlo_int(inst, HLO_ATTR_LARGEST);
    Ranked *ranked = calloc((size_t)length + 1, sizeof *ranked);
    if (!ranked) return hlo_out_of_memory();
    HloStatus status = hlo_datum_new_like(vm, inst->shape, out);
    int64_t rows = length ? args[0]->count / length : 0;
    for (int64_t row = 0; row < rows && hlo_is_ok(status); row++) {
        take_top(args[0], row, length, k, largest, ranked, (*out)->elements[0], (*out)->elements[1]);
    }
    free(ranked);
    return status;
}
