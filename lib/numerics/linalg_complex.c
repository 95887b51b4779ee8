// Cholesky and triangular solves of complex matrices, as linalg.c has them for real ones: column-major, one batch after
// the other, computed in double and rounded once.

#include "lib/numerics/numerics.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef struct Matrix {
    double complex *at;
    int64_t rows, columns;
} Matrix;

static double complex *cell(Matrix m, int64_t i, int64_t j) {
    return &m.at[j * m.rows + i];
}

static Matrix load(double complex *to, const void *from, int64_t batch, int64_t rows, int64_t columns, bool is_wide) {
    int64_t size = rows * columns, start = batch * size;
    for (int64_t k = 0; k < size; k++) {
        to[k] = is_wide ? ((const double complex *)from)[start + k]
                        : (double complex)((const float complex *)from)[start + k];
    }
    return (Matrix){to, rows, columns};
}

static void store(void *to, Matrix from, int64_t batch, bool is_wide) {
    int64_t size = from.rows * from.columns, start = batch * size;
    for (int64_t k = 0; k < size; k++) {
        if (is_wide)
            ((double complex *)to)[start + k] = from.at[k];
        else
            ((float complex *)to)[start + k] = (float complex)from.at[k];
    }
}

int64_t runtime_complex_scratch(const int64_t *d) {
    int64_t rows = d[2], columns = d[3], side = rows > columns ? rows : columns, total;
    if (__builtin_mul_overflow(side, side, &total)) return -1;
    return __builtin_mul_overflow(total, (int64_t)(2 * sizeof(double complex)), &total) ? -1 : total;
}

// ---- Cholesky -------------------------------------------------------------------------------------------

// The lower triangle of a into its factor; only real parts of the diagonal count. False when that is not positive.
static bool factor(Matrix a) {
    for (int64_t j = 0; j < a.rows; j++) {
        double sum = creal(*cell(a, j, j));
        for (int64_t k = 0; k < j; k++) sum -= creal(*cell(a, j, k) * conj(*cell(a, j, k)));
        if (!(sum > 0)) return false;
        double root = sqrt(sum);
        *cell(a, j, j) = root;
        for (int64_t i = j + 1; i < a.rows; i++) {
            double complex rest = *cell(a, i, j);
            for (int64_t k = 0; k < j; k++) rest -= *cell(a, i, k) * conj(*cell(a, j, k));
            *cell(a, i, j) = rest / root;
        }
    }
    return true;
}

// From parts: what C11 calls CMPLX, which not every compiler gets from its C library.
static double complex complex_of(double real, double imaginary) {
    double parts[2] = {real, imaginary};
    double complex value;
    memcpy(&value, parts, sizeof value);
    return value;
}

// The conjugate, without making -0 of 0.
static double complex conjugate(double complex x) {
    return complex_of(creal(x), 0 - cimag(x));
}

// The conjugate transpose, in place.
static void adjoin(Matrix a) {
    for (int64_t j = 0; j < a.columns; j++) {
        *cell(a, j, j) = conjugate(*cell(a, j, j));
        for (int64_t i = j + 1; i < a.rows; i++) {
            double complex below = *cell(a, i, j);
            *cell(a, i, j) = conjugate(*cell(a, j, i));
            *cell(a, j, i) = conjugate(below);
        }
    }
}

static void clear_above(Matrix a, bool failed) {
    for (int64_t j = 0; j < a.columns; j++) {
        for (int64_t i = 0; i < a.rows; i++) {
            if (failed || i < j) *cell(a, i, j) = failed ? complex_of(NAN, NAN) : 0;
        }
    }
}

void hlo_rt_complex_cholesky(const int64_t *d, void *data, void *scratch) {
    bool is_wide = d[0] != 0, lower = d[4] != 0;
    for (int64_t batch = 0; batch < d[1]; batch++) {
        Matrix a = load(scratch, data, batch, d[2], d[3], is_wide);
        if (!lower) adjoin(a);
        clear_above(a, !factor(a));
        if (!lower) adjoin(a);
        store(data, a, batch, is_wide);
    }
}

// ---- triangular solve -----------------------------------------------------------------------------------

typedef struct Triangle {
    Matrix a;
    bool lower, unit;
    int64_t transpose;  // 0: as it stands, 1: transposed, 2: conjugated too
} Triangle;

// Element (i, j) of the matrix that is solved with; 0 in the triangle that is not stored.
static double complex entry(const Triangle *t, int64_t i, int64_t j) {
    int64_t row = t->transpose ? j : i, column = t->transpose ? i : j;
    if (row == column && t->unit) return 1;
    if (t->lower ? row < column : row > column) return 0;
    double complex value = *cell(t->a, row, column);
    return t->transpose == 2 ? conj(value) : value;
}

// Solves T x = b in place, x being a row (with the transposed T) or a column of `data`, `step` apart.
static void solve_line(const Triangle *t, bool turned, double complex *x, int64_t step) {
    int64_t n = t->a.rows;
    bool forward = (t->lower != (t->transpose != 0)) != turned;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = forward ? k : n - 1 - k;
        double complex sum = x[i * step];
        for (int64_t done = 0; done < k; done++) {
            int64_t j = forward ? done : n - 1 - done;
            sum -= (turned ? entry(t, j, i) : entry(t, i, j)) * x[j * step];
        }
        x[i * step] = sum / entry(t, i, i);
    }
}

void hlo_rt_complex_triangular_solve(const int64_t *d, const void *triangle, void *data, void *scratch) {
    bool is_wide = d[0] != 0, left = d[4] != 0;
    int64_t rows = d[2], columns = d[3], n = left ? rows : columns, lines = left ? columns : rows;
    double complex *second = (double complex *)scratch + n * n;
    for (int64_t batch = 0; batch < d[1]; batch++) {
        Triangle t = {load(scratch, triangle, batch, n, n, is_wide), d[5] != 0, d[7] != 0, d[6]};
        Matrix b = load(second, data, batch, rows, columns, is_wide);
        for (int64_t line = 0; line < lines; line++) {
            if (left)
                solve_line(&t, false, cell(b, 0, line), 1);
            else
                solve_line(&t, true, cell(b, line, 0), rows);
        }
        store(data, b, batch, is_wide);
    }
}
