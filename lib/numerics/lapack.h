// The custom calls that JAX makes to LAPACK: which routine of numerics.h computes them, and how it is described.
#ifndef HLO_LIB_NUMERICS_LAPACK_H
#define HLO_LIB_NUMERICS_LAPACK_H

#include "hlo/instruction.h"
#include "lib/numerics/numerics.h"

typedef struct HloLapack {
    const char *function;  // its name in numerics.h
    // Calls it: `results` are the leaves of the result in order, `other` as below.
    void (*run)(const int64_t *d, void *const *results, const void *other, void *scratch);
    int64_t d[8];  // the descriptor
    size_t d_count;
    size_t data;          // the operand that the first result replaces
    int64_t other;        // another operand that is passed, or -1
    bool other_is_first;  // passed before the results, as a column-major matrix; otherwise after them, as it is
} HloLapack;

// {is f64, batch, rows, columns} of a stack of matrices, as every routine wants first.
void hlo_matrix_describe(const HloShape *shape, int64_t *d);
// f32 or f64.
bool hlo_is_real_matrix(const HloShape *shape);
bool hlo_is_square_matrix(const HloShape *shape);

// False when the target is none of the known routines, or its operands and results are not what its signature says.
// Matrices among the results are those of rank operand 0's; all of them are handed over column-major.
bool hlo_lapack_find(const HloInstruction *inst, HloLapack *call);

#endif
