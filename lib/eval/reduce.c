// reduce, reduce-window and select-and-scatter.
//
//   reduce f32[4,100] over dimension 1   →   100 steps of the reducer, each on 4 lanes: acc = f(acc, x)
//
// Lanes are outputs, so that each of them sees its elements one after the other in the order that the interpreter
// chapter fixes (§6.1 to §6.3), while the reducer runs on a whole block.

#include <stdlib.h>

#include "lib/eval/window.h"

// One array that is reduced along, with its block of accumulators.
typedef struct Stream {
    HloType type;  // of elements and, in the reducer, of its parameters
    HloType acc_type;
    size_t bytes, acc_bytes;
    const char *data, *init;
    char *result;
    HloBlock raw, element, acc, next;
} Stream;

typedef struct Reduction {
    HloMachine *vm;
    const HloComputation *comp;
    Stream *streams;
    size_t count;
    const void **in;  // parameters of the reducer: accumulators, then elements
    void **next;
} Reduction;

static const HloShape *leaf(const HloShape *shape, size_t k) {
    return hlo_shape_is_tuple(shape) ? shape->elements[k] : shape;
}

static void open_stream(Reduction *r, size_t k, HloDatum *const *args, HloDatum *result) {
    Stream *s = r->streams + k;
    s->type = args[k]->shape->type;
    s->acc_type = hlo_parameter(r->comp, k)->shape->type;
    s->bytes = args[k]->element_bytes;
    s->acc_bytes = hlo_element_bytes(s->acc_type);
    s->data = args[k]->data;
    s->init = args[r->count + k]->data;
    s->result = hlo_datum_leaf(result, k)->data;
    r->in[k] = s->acc.bytes;
    r->in[r->count + k] = s->element.bytes;
    r->next[k] = s->next.bytes;
}

static HloStatus open_reduction(HloMachine *vm, const HloInstruction *inst, HloDatum **args, Reduction *r,
                                HloDatum **out) {
    size_t count = hlo_operand_count(inst) / 2;
    *r = (Reduction){vm, hlo_called(inst, 0), NULL, count, NULL, NULL};
    HLO_TRY(hlo_datum_new_like(vm, inst->shape, out));
    r->streams = aligned_alloc(64, (count + 1) * sizeof *r->streams);
    r->in = calloc(2 * count + 1, sizeof *r->in);
    r->next = calloc(count + 1, sizeof *r->next);
    if (!r->streams || !r->in || !r->next) return hlo_out_of_memory();
    for (size_t k = 0; k < count; k++) open_stream(r, k, args, *out);
    return hlo_ok();
}

static void close_reduction(Reduction *r) {
    free(r->streams);
    free(r->in);
    free(r->next);
}

static void start_lanes(Reduction *r, const HloDatum *const *inits, int64_t n) {
    for (size_t k = 0; k < r->count; k++) {
        Stream *s = r->streams + k;
        char value[16];
        hlo_convert(inits[k]->shape->type, s->init, s->acc_type, value, 1);
        hlo_fill(s->acc.bytes, n, value, s->acc_bytes);
    }
}

// Takes over the new accumulators of the lanes that had an element.
static void keep_next(Stream *s, int64_t n, const int64_t *offsets, bool all) {
    if (all) {
        memcpy(s->acc.bytes, s->next.bytes, (size_t)n * s->acc_bytes);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        size_t at = (size_t)i * s->acc_bytes;
        if (offsets[i] >= 0) memcpy(s->acc.bytes + at, s->next.bytes + at, s->acc_bytes);
    }
}

// Fetches the elements at `offsets` and folds them into the accumulators; lanes with a negative offset have none.
static HloStatus fold(Reduction *r, int64_t n, const int64_t *offsets) {
    int64_t inside[HLO_BLOCK], count = 0;
    for (int64_t i = 0; i < n; i++) {
        inside[i] = offsets[i] < 0 ? 0 : offsets[i];
        count += offsets[i] >= 0;
    }
    if (!count) return hlo_ok();
    for (size_t k = 0; k < r->count; k++) {
        Stream *s = r->streams + k;
        hlo_gather_elements(n, inside, s->data, s->raw.bytes, s->bytes);
        hlo_convert(s->type, s->raw.bytes, s->acc_type, s->element.bytes, n);
    }
    HLO_TRY(hlo_apply_region(r->vm, r->comp, n, r->in, r->next));
    for (size_t k = 0; k < r->count; k++) keep_next(r->streams + k, n, offsets, count == n);
    return hlo_ok();
}

static void store_lanes(const Reduction *r, const HloShape *shape, int64_t first, int64_t n) {
    for (size_t k = 0; k < r->count; k++) {
        const Stream *s = r->streams + k;
        HloType type = leaf(shape, k)->type;
        hlo_convert(s->acc_type, s->acc.bytes, type, s->result + first * (int64_t)hlo_element_bytes(type), n);
    }
}

// ---- reduce ---------------------------------------------------------------------------------------------

// The reduced dimensions of the input, in order, and the steps of the kept ones by output dimension.
typedef struct Axes {
    size_t rank;  // reduced
    int64_t sizes[HLO_EVAL_RANK], steps[HLO_EVAL_RANK], kept_steps[HLO_EVAL_RANK];
} Axes;

static void split_axes(const HloShape *input, HloDims reduced, Axes *axes) {
    int64_t steps[HLO_EVAL_RANK];
    size_t kept = 0;
    axes->rank = 0;
    hlo_row_steps(input, steps);
    for (size_t d = 0; d < input->rank; d++) {
        if (!hlo_dims_has(reduced, (int64_t)d)) {
            axes->kept_steps[kept++] = steps[d];
            continue;
        }
        axes->sizes[axes->rank] = input->dims[d];
        axes->steps[axes->rank++] = steps[d];
    }
}

static int64_t reduced_offset(const Axes *axes, const int64_t *index) {
    int64_t offset = 0;
    for (size_t d = 0; d < axes->rank; d++) offset += index[d] * axes->steps[d];
    return offset;
}

static HloStatus reduce_chunk(Reduction *r, const Axes *axes, const HloChunk *chunk) {
    int64_t outputs[HLO_BLOCK], offsets[HLO_BLOCK], index[HLO_EVAL_RANK] = {0};
    if (!hlo_index_exists(axes->rank, axes->sizes)) return hlo_ok();
    hlo_chunk_offsets(chunk, 0, axes->kept_steps, outputs);
    do {
        int64_t base = reduced_offset(axes, index);
        for (int64_t i = 0; i < chunk->count; i++) offsets[i] = outputs[i] + base;
        HLO_TRY(fold(r, chunk->count, offsets));
    } while (hlo_index_next(axes->rank, axes->sizes, index));
    return hlo_ok();
}

// A sum of floats: of one input, by a reducer that adds its two parameters. It is taken in double and rounded once.
static bool is_float_sum(const HloInstruction *inst) {
    const HloInstruction *root = hlo_called(inst, 0)->root;
    if (hlo_operand_count(inst) != 2 || root->op != HLO_OP_ADD || !hlo_type_is_float(inst->shape->type)) return false;
    const HloInstruction *a = hlo_operand(root, 0), *b = hlo_operand(root, 1);
    return a->op == HLO_OP_PARAMETER && b->op == HLO_OP_PARAMETER && a != b && a->shape->type == b->shape->type;
}

static void add_doubles(const Stream *s, int64_t n, const int64_t *offsets, double *sums) {
    HloBlock raw, wide;
    hlo_gather_elements(n, offsets, s->data, raw.bytes, s->bytes);
    const void *x = hlo_widen(s->type, raw.bytes, n, &wide);
    bool is_double = s->type == HLO_F64;
    for (int64_t i = 0; i < n; i++) sums[i] += is_double ? ((const double *)x)[i] : (double)((const float *)x)[i];
}

static void sum_chunk(Reduction *r, const HloShape *shape, const Axes *axes, const HloChunk *chunk) {
    int64_t outputs[HLO_BLOCK], offsets[HLO_BLOCK], index[HLO_EVAL_RANK] = {0};
    double sums[HLO_BLOCK], init;
    Stream *s = r->streams;
    hlo_convert(s->acc_type, s->init, HLO_F64, &init, 1);
    for (int64_t i = 0; i < chunk->count; i++) sums[i] = init;
    hlo_chunk_offsets(chunk, 0, axes->kept_steps, outputs);
    bool any = hlo_index_exists(axes->rank, axes->sizes);
    while (any) {
        int64_t base = reduced_offset(axes, index);
        for (int64_t i = 0; i < chunk->count; i++) offsets[i] = outputs[i] + base;
        add_doubles(s, chunk->count, offsets, sums);
        any = hlo_index_next(axes->rank, axes->sizes, index);
    }
    char *to = s->result + chunk->first * (int64_t)hlo_element_bytes(shape->type);
    hlo_convert(HLO_F64, sums, shape->type, to, chunk->count);
}

HLO_RULE(hlo_rule_reduce) {
    Reduction r;
    Axes axes;
    size_t count = hlo_operand_count(inst) / 2;
    HloStatus status = open_reduction(vm, inst, args, &r, out);
    split_axes(args[0]->shape, hlo_dims(inst, HLO_ATTR_DIMENSIONS), &axes);
    bool sum = is_float_sum(inst);
    for (HloChunk c = hlo_first_chunk(leaf(inst->shape, 0)); c.count && hlo_is_ok(status); hlo_next_chunk(&c)) {
        if (sum) {
            sum_chunk(&r, inst->shape, &axes, &c);
            continue;
        }
        start_lanes(&r, (const HloDatum *const *)args + count, c.count);
        status = reduce_chunk(&r, &axes, &c);
        store_lanes(&r, inst->shape, c.first, c.count);
    }
    close_reduction(&r);
    return status;
}

// ---- reduce-window --------------------------------------------------------------------------------------

static HloStatus reduce_window_chunk(Reduction *r, const HloWindow *window, const HloShape *base,
                                     const HloChunk *chunk) {
    int64_t sizes[HLO_EVAL_RANK], at[HLO_EVAL_RANK] = {0}, offsets[HLO_BLOCK];
    for (size_t d = 0; d < base->rank; d++) sizes[d] = window->dims[d].size;
    do {
        hlo_window_offsets(chunk, window, at, base, offsets);
        HLO_TRY(fold(r, chunk->count, offsets));
    } while (hlo_index_next(base->rank, sizes, at));
    return hlo_ok();
}

// A scalar has no window: its one element is folded.
static const HloWindow no_window = {NULL, 0};

HLO_RULE(hlo_rule_reduce_window) {
    Reduction r;
    const HloWindow *window = hlo_data(inst, HLO_ATTR_WINDOW);
    size_t count = hlo_operand_count(inst) / 2;
    HloStatus status = open_reduction(vm, inst, args, &r, out);
    for (HloChunk c = hlo_first_chunk(leaf(inst->shape, 0)); c.count && hlo_is_ok(status); hlo_next_chunk(&c)) {
        start_lanes(&r, (const HloDatum *const *)args + count, c.count);
        status = reduce_window_chunk(&r, window ? window : &no_window, args[0]->shape, &c);
        store_lanes(&r, inst->shape, c.first, c.count);
    }
    close_reduction(&r);
    return status;
}

// ---- select-and-scatter ---------------------------------------------------------------------------------

// For each source position of a chunk the element of its window that was selected so far.
typedef struct Selection {
    int64_t chosen[HLO_BLOCK];  // offset in the operand, or -1
    HloBlock value, candidate;
    uint8_t keeps[HLO_BLOCK];
} Selection;

// The first element is taken; a later one when the selector, given the current and the new one, says no.
static HloStatus select_among(HloMachine *vm, const HloInstruction *inst, const HloDatum *operand, int64_t n,
                              const int64_t *offsets, Selection *s) {
    int64_t inside[HLO_BLOCK];
    size_t bytes = operand->element_bytes;
    for (int64_t i = 0; i < n; i++) inside[i] = offsets[i] < 0 ? 0 : offsets[i];
    hlo_gather_elements(n, inside, operand->data, s->candidate.bytes, bytes);
    const void *in[2] = {s->value.bytes, s->candidate.bytes};
    void *verdict = s->keeps;
    HLO_TRY(hlo_apply_region(vm, hlo_called(inst, 0), n, in, &verdict));
    for (int64_t i = 0; i < n; i++) {
        if (offsets[i] < 0 || (s->chosen[i] >= 0 && s->keeps[i])) continue;
        s->chosen[i] = offsets[i];
        memcpy(s->value.bytes + (size_t)i * bytes, s->candidate.bytes + (size_t)i * bytes, bytes);
    }
    return hlo_ok();
}

// result[chosen] = scatter(source, result[chosen]), one source after the other.
static HloStatus scatter_sources(HloMachine *vm, const HloInstruction *inst, const HloChunk *chunk,
                                 const HloDatum *source, const Selection *s, HloDatum *result) {
    int64_t bytes = result->element_bytes;
    for (int64_t i = 0; i < chunk->count; i++) {
        if (s->chosen[i] < 0) continue;
        char *place = result->data + s->chosen[i] * bytes, value[16];
        const void *in[2] = {source->data + (chunk->first + i) * bytes, place};
        void *next = value;
        HLO_TRY(hlo_apply_region(vm, hlo_called(inst, 1), 1, in, &next));
        memcpy(place, value, (size_t)bytes);
    }
    return hlo_ok();
}

static HloStatus select_and_scatter_chunk(HloMachine *vm, const HloInstruction *inst, HloDatum *const *args,
                                          const HloChunk *chunk, HloDatum *result) {
    const HloWindow *window = hlo_data(inst, HLO_ATTR_WINDOW);
    const HloShape *base = args[0]->shape;
    int64_t sizes[HLO_EVAL_RANK], at[HLO_EVAL_RANK] = {0}, offsets[HLO_BLOCK];
    Selection s;
    for (size_t d = 0; d < base->rank; d++) sizes[d] = window->dims[d].size;
    for (int64_t i = 0; i < chunk->count; i++) s.chosen[i] = -1;
    memset(s.value.bytes, 0, sizeof s.value.bytes);
    do {
        hlo_window_offsets(chunk, window, at, base, offsets);
        if (base->rank == 0 || hlo_shape_elem_count(base)) {
            HLO_TRY(select_among(vm, inst, args[0], chunk->count, offsets, &s));
        }
    } while (hlo_index_next(base->rank, sizes, at));
    return scatter_sources(vm, inst, chunk, args[1], &s, result);
}

HLO_RULE(hlo_rule_select_and_scatter) {
    HLO_TRY(hlo_datum_new(vm, inst->shape, out));
    hlo_fill((*out)->data, (*out)->count, args[2]->data, (*out)->element_bytes);
    for (HloChunk c = hlo_first_chunk(args[1]->shape); c.count; hlo_next_chunk(&c)) {
        HLO_TRY(select_and_scatter_chunk(vm, inst, args, &c, *out));
    }
    return hlo_ok();
}
