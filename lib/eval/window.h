// Walking windows over an array, for many outputs at once: shared by reduce-window and select-and-scatter.
#ifndef HLO_LIB_EVAL_WINDOW_H
#define HLO_LIB_EVAL_WINDOW_H

#include "lib/eval/eval.h"

// A run of at most HLO_BLOCK positions of an array, in row-major order, with their indices.
typedef struct HloChunk {
    const HloShape *shape;
    int64_t first, count;
    int64_t at[HLO_EVAL_RANK];  // the index of position `first`
} HloChunk;

// `for (HloChunk c = hlo_first_chunk(shape); c.count; hlo_next_chunk(&c))`
HloChunk hlo_first_chunk(const HloShape *shape);
void hlo_next_chunk(HloChunk *chunk);
// For each position of the chunk: start + the sum of index * step over the dimensions.
void hlo_chunk_offsets(const HloChunk *chunk, int64_t start, const int64_t *steps, int64_t *offsets);
// For each position of the chunk: where window position `at` of its window lies in `base`, or -1 for padding and holes.
void hlo_window_offsets(const HloChunk *chunk, const HloWindow *window, const int64_t *at, const HloShape *base,
                        int64_t *offsets);

// Advances a row-major index; false after the last one. `sizes` may hold a 0, then there is none at all: ask
// hlo_index_exists first.
bool hlo_index_next(size_t rank, const int64_t *sizes, int64_t *index);
bool hlo_index_exists(size_t rank, const int64_t *sizes);

// out[i] = the element at offsets[i] of `from`, and back.
void hlo_gather_elements(int64_t n, const int64_t *offsets, const char *from, char *out, size_t bytes);
void hlo_scatter_elements(int64_t n, const int64_t *offsets, const char *in, char *to, size_t bytes);

#endif
