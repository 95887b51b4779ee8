// Positions of arrays in runs of a block, and the elements that their windows see.
//
// Source: the interpreter chapter, §6.2: position w of output index o lies at o * stride + w * window_dilation -
// padding, which the base dilation must divide.

#include "lib/eval/window.h"

bool hlo_index_exists(size_t rank, const int64_t *sizes) {
    for (size_t d = 0; d < rank; d++) {
        if (sizes[d] <= 0) return false;
    }
    return true;
}

bool hlo_index_next(size_t rank, const int64_t *sizes, int64_t *index) {
    for (size_t d = rank; d-- > 0;) {
        if (++index[d] < sizes[d]) return true;
        index[d] = 0;
    }
    return false;
}

// ---- chunks ---------------------------------------------------------------------------------------------

static int64_t chunk_size(const HloShape *shape, int64_t first) {
    int64_t rest = hlo_shape_elem_count(shape) - first;
    return rest < HLO_BLOCK ? rest : HLO_BLOCK;
}

HloChunk hlo_first_chunk(const HloShape *shape) {
    return (HloChunk){.shape = shape, .count = chunk_size(shape, 0)};
}

void hlo_next_chunk(HloChunk *chunk) {
    for (int64_t i = 0; i < chunk->count; i++) hlo_index_next(chunk->shape->rank, chunk->shape->dims, chunk->at);
    chunk->first += chunk->count;
    chunk->count = chunk_size(chunk->shape, chunk->first);
}

void hlo_chunk_offsets(const HloChunk *chunk, int64_t start, const int64_t *steps, int64_t *offsets) {
    size_t rank = chunk->shape->rank;
    int64_t index[HLO_EVAL_RANK];
    memcpy(index, chunk->at, rank * sizeof *index);
    for (int64_t i = 0; i < chunk->count; i++) {
        offsets[i] = start;
        for (size_t d = 0; d < rank; d++) offsets[i] += index[d] * steps[d];
        hlo_index_next(rank, chunk->shape->dims, index);
    }
}

// ---- windows --------------------------------------------------------------------------------------------

// The base index, or -1 outside.
static int64_t base_index(const HloWindowDim *w, int64_t output, int64_t at, int64_t size) {
    int64_t padded = output * w->stride + at * w->window_dilation - w->pad_low;
    if (padded < 0 || padded % w->base_dilation) return -1;
    padded /= w->base_dilation;
    return padded < size ? padded : -1;
}

static int64_t base_offset(const HloWindow *window, const int64_t *output, const int64_t *at, const HloShape *base,
                           const int64_t *steps) {
    int64_t offset = 0;
    for (size_t d = 0; d < base->rank; d++) {
        int64_t index = base_index(window->dims + d, output[d], at[d], base->dims[d]);
        if (index < 0) return -1;
        offset += index * steps[d];
    }
    return offset;
}

void hlo_window_offsets(const HloChunk *chunk, const HloWindow *window, const int64_t *at, const HloShape *base,
                        int64_t *offsets) {
    int64_t steps[HLO_EVAL_RANK], output[HLO_EVAL_RANK];
    hlo_row_steps(base, steps);
    memcpy(output, chunk->at, base->rank * sizeof *output);
    for (int64_t i = 0; i < chunk->count; i++) {
        offsets[i] = base_offset(window, output, at, base, steps);
        hlo_index_next(base->rank, chunk->shape->dims, output);
    }
}

// ---- elements -------------------------------------------------------------------------------------------

#define GATHER(type)                                                               \
    for (int64_t i = 0; i < n; i++) {                                              \
        ((type *)(void *)out)[i] = ((const type *)(const void *)from)[offsets[i]]; \
    }

void hlo_gather_elements(int64_t n, const int64_t *offsets, const char *from, char *out, size_t bytes) {
    switch (bytes) {
    case 1: GATHER(uint8_t); break;
    case 2: GATHER(uint16_t); break;
    case 4: GATHER(uint32_t); break;
    case 8: GATHER(uint64_t); break;
    default:
        for (int64_t i = 0; i < n; i++) memcpy(out + (size_t)i * bytes, from + offsets[i] * (int64_t)bytes, bytes);
    }
}

void hlo_scatter_elements(int64_t n, const int64_t *offsets, const char *in, char *to, size_t bytes) {
    for (int64_t i = 0; i < n; i++) memcpy(to + offsets[i] * (int64_t)bytes, in + (size_t)i * bytes, bytes);
}
