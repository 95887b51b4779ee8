// Numerical routines that are long and the same for every module: random bits, Fourier transforms, dense linear
// algebra.
//
// The interpreter calls them, and so does machine code. They allocate nothing (scratch memory is passed in) and cannot
// fail. Descriptors are arrays of int64_t whose layout stands at each function.
#ifndef HLO_LIB_NUMERICS_H
#define HLO_LIB_NUMERICS_H

#include <stdint.h>

// d = {algorithm (1 threefry, 2 philox), words of state, element bytes, rank, sizes…, strides…}; state is u64[2] or
// u64[3].
void hlo_rt_rng(const int64_t *d, const uint64_t *state, uint64_t *state_out, void *out);

// d = {kind (0 FFT, 1 IFFT, 2 RFFT, 3 IRFFT), is f64, rank of the transform, batch, input sizes…, lengths…, output
// sizes…}; arrays are row-major. Scratch: see fft.c.
void hlo_rt_fft(const int64_t *d, const void *in, void *out, void *scratch);
int64_t runtime_fft_scratch(const int64_t *d);

// ---- linear algebra (linalg.c) -----------------------------------------------------------------------------

// All take d = {is f64, batch, rows, columns, …}; matrices are column-major and replaced by the result. Scratch:
// runtime_linalg_scratch(d) bytes, which is -1 when that does not fit.
int64_t runtime_linalg_scratch(const int64_t *d);
// … lower, whole: zeros in the other triangle and NaN after a failure. `info` may be NULL.
void hlo_rt_cholesky(const int64_t *d, void *data, int32_t *info, void *scratch);
void hlo_rt_lu(const int64_t *d, void *data, int32_t *pivots, int32_t *info, void *scratch);
// … left, lower, transposed, unit diagonal. rows and columns are those of `data`.
void hlo_rt_triangular_solve(const int64_t *d, const void *triangle, void *data, void *scratch);
void hlo_rt_qr(const int64_t *d, void *data, void *taus, void *scratch);
// … number of reflectors.
void hlo_rt_householder_product(const int64_t *d, void *data, const void *taus, void *scratch);
// … lower. `data` becomes the eigenvectors. `info` may be NULL.
void hlo_rt_eigh(const int64_t *d, void *data, void *values, int32_t *info, void *scratch);
// … vectors wanted, columns of `left`, rows of `right` (the transposed one). `data` is kept.
void hlo_rt_svd(const int64_t *d, void *data, void *values, void *left, void *right, int32_t *info, void *scratch);

// ---- complex matrices (linalg_complex.c), for the interpreter ------------------------------------------------

// d = {is c128, batch, rows, columns, …}, column-major. Scratch: runtime_complex_scratch(d) bytes, -1 when that does not
// fit.
int64_t runtime_complex_scratch(const int64_t *d);
// … lower. Zeros in the other triangle; the whole matrix NaN after a failure.
void hlo_rt_complex_cholesky(const int64_t *d, void *data, void *scratch);
// … left, lower, transposed (2: and conjugated), unit diagonal.
void hlo_rt_complex_triangular_solve(const int64_t *d, const void *triangle, void *data, void *scratch);

#endif
