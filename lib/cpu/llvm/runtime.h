// Functions that machine code calls: what is long and the same for every module is written in C.
//
// They allocate nothing (scratch memory is passed in) and cannot fail. Descriptors are constant arrays of int64_t whose
// layout stands at each function.
#ifndef HLO_CPU_LLVM_RUNTIME_H
#define HLO_CPU_LLVM_RUNTIME_H

#include "lib/numerics/numerics.h"

#include <stddef.h>
#include <stdint.h>

typedef struct RuntimeSymbol {
    const char *name;
    void *address;
} RuntimeSymbol;

// Everything machine code may call by name: these functions and those of the C library.
const RuntimeSymbol *runtime_symbols(size_t *count);

// Stable sort along one dimension. `arrays` holds `count` addresses; d = {count, outer, length, inner, element sizes…}:
// element (o, k, i) of every array is at position (o·length + k)·inner + i. `less` gets the addresses of left and right
// elements, interleaved, and returns 1 when left goes first. Scratch: 2·length·8 + length·(largest size) bytes.
typedef uint8_t SortLess(const void *const *elements);
void hlo_rt_sort(const int64_t *d, void **arrays, SortLess *less, void *scratch);

// The k largest (or smallest) of each row of f32 by total order, ties by lower index. d = {rows, length, k, largest}.
// Scratch: 2·length·8 bytes.
void hlo_rt_topk(const int64_t *d, const float *in, float *values, int32_t *indices, void *scratch);

#endif
