// Dense factorizations and solves on small matrices: what JAX calls LAPACK for.
//
// Matrices are column-major, batches follow each other. All of them are worked on in double, in scratch memory, and
// rounded once when they are stored.

#include "lib/numerics/numerics.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

// A column-major matrix; element (i, j) is at[j * rows + i].
typedef struct Matrix {
    double *at;
    int64_t rows, columns;
} Matrix;

static double *cell(Matrix m, int64_t i, int64_t j) {
    return &m.at[j * m.rows + i];
}

static void load(double *to, const void *from, int64_t start, int64_t count, bool is_f64) {
    for (int64_t k = 0; k < count; k++) {
        to[k] = is_f64 ? ((const double *)from)[start + k] : (double)((const float *)from)[start + k];
    }
}

static void store(void *to, const double *from, int64_t start, int64_t count, bool is_f64) {
    for (int64_t k = 0; k < count; k++) {
        if (is_f64) {
            ((double *)to)[start + k] = from[k];
        } else {
            ((float *)to)[start + k] = (float)from[k];
        }
    }
}

int64_t runtime_linalg_scratch(const int64_t *d) {
    int64_t rows = d[2], columns = d[3], side = rows > columns ? rows : columns, square, total;
    if (__builtin_mul_overflow(side, side, &square) || __builtin_mul_overflow(square, (int64_t)4, &total)) return -1;
    if (__builtin_add_overflow(total, 4 * side, &total)) return -1;
    return __builtin_mul_overflow(total, (int64_t)sizeof(double), &total) ? -1 : total;
}

// ---- Cholesky -------------------------------------------------------------------------------------------

// a(i,j) of the lower triangle, whichever triangle is stored.
static double *low(Matrix a, bool lower, int64_t i, int64_t j) {
    return lower ? cell(a, i, j) : cell(a, j, i);
}

// 0, or the order of the first minor that is not positive.
static int32_t factor_cholesky(Matrix a, bool lower) {
    for (int64_t j = 0; j < a.rows; j++) {
        double sum = *low(a, lower, j, j);
        for (int64_t k = 0; k < j; k++) sum -= *low(a, lower, j, k) * *low(a, lower, j, k);
        if (!(sum > 0)) return (int32_t)(j + 1);
        double root = sqrt(sum);
        *low(a, lower, j, j) = root;
        for (int64_t i = j + 1; i < a.rows; i++) {
            double rest = *low(a, lower, i, j);
            for (int64_t k = 0; k < j; k++) rest -= *low(a, lower, i, k) * *low(a, lower, j, k);
            *low(a, lower, i, j) = rest / root;
        }
    }
    return 0;
}

// What the opcode asks for beyond LAPACK: zeros in the other triangle, NaN everywhere after a failure.
static void finish_cholesky(Matrix a, bool lower, bool failed) {
    for (int64_t j = 0; j < a.columns; j++) {
        for (int64_t i = 0; i < a.rows; i++) {
            if (failed) {
                *cell(a, i, j) = NAN;
            } else if (lower ? i < j : i > j) {
                *cell(a, i, j) = 0;
            }
        }
    }
}

void hlo_rt_cholesky(const int64_t *d, void *data, int32_t *info, void *scratch) {
    bool is_f64 = d[0] != 0, lower = d[4] != 0, whole = d[5] != 0;
    Matrix a = {scratch, d[2], d[3]};
    for (int64_t batch = 0; batch < d[1]; batch++) {
        int64_t start = batch * a.rows * a.columns, size = a.rows * a.columns;
        load(a.at, data, start, size, is_f64);
        int32_t failed = factor_cholesky(a, lower);
        if (whole) finish_cholesky(a, lower, failed != 0);
        store(data, a.at, start, size, is_f64);
        if (info) info[batch] = failed;
    }
}

// ---- LU -------------------------------------------------------------------------------------------------

static void swap_rows(Matrix a, int64_t x, int64_t y) {
    for (int64_t j = 0; j < a.columns && x != y; j++) {
        double item = *cell(a, x, j);
        *cell(a, x, j) = *cell(a, y, j);
        *cell(a, y, j) = item;
    }
}

static int32_t factor_lu(Matrix a, int32_t *pivots) {
    int64_t steps = a.rows < a.columns ? a.rows : a.columns;
    int32_t info = 0;
    for (int64_t j = 0; j < steps; j++) {
        int64_t best = j;
        for (int64_t i = j + 1; i < a.rows; i++) {
            if (fabs(*cell(a, i, j)) > fabs(*cell(a, best, j))) best = i;
        }
        pivots[j] = (int32_t)(best + 1);
        swap_rows(a, j, best);
        double pivot = *cell(a, j, j);
        if (pivot == 0) {
            if (info == 0) info = (int32_t)(j + 1);
            continue;
        }
        for (int64_t i = j + 1; i < a.rows; i++) *cell(a, i, j) /= pivot;
        for (int64_t k = j + 1; k < a.columns; k++) {
            double factor = *cell(a, j, k);
            for (int64_t i = j + 1; i < a.rows; i++) *cell(a, i, k) -= *cell(a, i, j) * factor;
        }
    }
    return info;
}

void hlo_rt_lu(const int64_t *d, void *data, int32_t *pivots, int32_t *info, void *scratch) {
    bool is_f64 = d[0] != 0;
    Matrix a = {scratch, d[2], d[3]};
    int64_t size = a.rows * a.columns, steps = a.rows < a.columns ? a.rows : a.columns;
    for (int64_t batch = 0; batch < d[1]; batch++) {
        load(a.at, data, batch * size, size, is_f64);
        info[batch] = factor_lu(a, pivots + batch * steps);
        store(data, a.at, batch * size, size, is_f64);
    }
}

// ---- triangular solves ----------------------------------------------------------------------------------

typedef struct Triangle {
    Matrix a;
    bool lower, transposed, unit;
} Triangle;

// Element (i, j) of op(a).
static double triangle_at(const Triangle *t, int64_t i, int64_t j) {
    if (i == j && t->unit) return 1;
    return t->transposed ? *cell(t->a, j, i) : *cell(t->a, i, j);
}

// op(a)·x = b for one vector whose elements are `step` apart.
static void solve_vector(const Triangle *t, double *b, int64_t step) {
    int64_t n = t->a.rows;
    bool forward = t->lower != t->transposed;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = forward ? k : n - 1 - k;
        double sum = b[i * step];
        for (int64_t m = 0; m < k; m++) {
            int64_t j = forward ? m : n - 1 - m;
            sum -= triangle_at(t, i, j) * b[j * step];
        }
        b[i * step] = sum / triangle_at(t, i, i);
    }
}

void hlo_rt_triangular_solve(const int64_t *d, const void *triangle, void *data, void *scratch) {
    bool is_f64 = d[0] != 0, left = d[4] != 0, transposed = d[6] != 0;
    Matrix b = {scratch, d[2], d[3]};
    int64_t n = left ? b.rows : b.columns, size = b.rows * b.columns;
    // x·op(a) = b is op(a)ᵀ·xᵀ = bᵀ: rows of b are the vectors.
    Triangle t = {{b.at + size, n, n}, d[5] != 0, left ? transposed : !transposed, d[7] != 0};
    for (int64_t batch = 0; batch < d[1]; batch++) {
        load(b.at, data, batch * size, size, is_f64);
        load(t.a.at, triangle, batch * n * n, n * n, is_f64);
        int64_t vectors = left ? b.columns : b.rows;
        for (int64_t v = 0; v < vectors; v++) {
            solve_vector(&t, left ? cell(b, 0, v) : cell(b, v, 0), left ? 1 : b.rows);
        }
        store(data, b.at, batch * size, size, is_f64);
    }
}

// ---- QR -------------------------------------------------------------------------------------------------

// Turns column j below the diagonal into a reflector I − tau·v·vᵀ with v_j = 1; returns tau.
static double make_reflector(Matrix a, int64_t j) {
    double alpha = *cell(a, j, j), below = 0;
    for (int64_t i = j + 1; i < a.rows; i++) below += *cell(a, i, j) * *cell(a, i, j);
    if (below == 0) return 0;
    double beta = -copysign(sqrt(alpha * alpha + below), alpha);
    for (int64_t i = j + 1; i < a.rows; i++) *cell(a, i, j) /= alpha - beta;
    *cell(a, j, j) = beta;
    return (beta - alpha) / beta;
}

// Column k of `to` becomes (I − tau·v·vᵀ)·column, v in column j of `from` below its diagonal.
static void reflect_column(Matrix from, int64_t j, double tau, Matrix to, int64_t k) {
    double sum = *cell(to, j, k);
    for (int64_t i = j + 1; i < from.rows; i++) sum += *cell(from, i, j) * *cell(to, i, k);
    *cell(to, j, k) -= tau * sum;
    for (int64_t i = j + 1; i < from.rows; i++) *cell(to, i, k) -= tau * sum * *cell(from, i, j);
}

void hlo_rt_qr(const int64_t *d, void *data, void *taus, void *scratch) {
    bool is_f64 = d[0] != 0;
    Matrix a = {scratch, d[2], d[3]};
    int64_t size = a.rows * a.columns, steps = a.rows < a.columns ? a.rows : a.columns;
    for (int64_t batch = 0; batch < d[1]; batch++) {
        load(a.at, data, batch * size, size, is_f64);
        for (int64_t j = 0; j < steps; j++) {
            double tau = make_reflector(a, j);
            for (int64_t k = j + 1; k < a.columns; k++) reflect_column(a, j, tau, a, k);
            store(taus, &tau, batch * steps + j, 1, is_f64);
        }
        store(data, a.at, batch * size, size, is_f64);
    }
}

// The product of d[4] reflectors as a matrix with orthonormal columns.
void hlo_rt_householder_product(const int64_t *d, void *data, const void *taus, void *scratch) {
    bool is_f64 = d[0] != 0;
    Matrix a = {scratch, d[2], d[3]};
    int64_t size = a.rows * a.columns, reflectors = d[4];
    Matrix q = {a.at + size, a.rows, a.columns};
    for (int64_t batch = 0; batch < d[1]; batch++) {
        load(a.at, data, batch * size, size, is_f64);
        memset(q.at, 0, (size_t)size * sizeof *q.at);
        for (int64_t k = 0; k < q.columns && k < q.rows; k++) *cell(q, k, k) = 1;
        for (int64_t j = reflectors; j-- > 0;) {
            double tau;
            load(&tau, taus, batch * reflectors + j, 1, is_f64);
            for (int64_t k = 0; k < q.columns; k++) reflect_column(a, j, tau, q, k);
        }
        store(data, q.at, batch * size, size, is_f64);
    }
}

// ---- symmetric eigenvalues ------------------------------------------------------------------------------

enum { MAX_SWEEPS = 60 };  // of Jacobi rotations; they converge quadratically, in far fewer

// cos and sin of the rotation that makes the off-diagonal element of [[x, y], [y, z]] zero.
static void rotation(double x, double y, double z, double *c, double *s) {
    double theta = (z - x) / (2 * y), t = copysign(1, theta) / (fabs(theta) + sqrt(1 + theta * theta));
    *c = 1 / sqrt(1 + t * t);
    *s = t * *c;
}

static void rotate_columns(Matrix m, int64_t p, int64_t q, double c, double s) {
    for (int64_t i = 0; i < m.rows; i++) {
        double x = *cell(m, i, p), y = *cell(m, i, q);
        *cell(m, i, p) = c * x - s * y;
        *cell(m, i, q) = s * x + c * y;
    }
}

static void rotate_rows(Matrix m, int64_t p, int64_t q, double c, double s) {
    for (int64_t j = 0; j < m.columns; j++) {
        double x = *cell(m, p, j), y = *cell(m, q, j);
        *cell(m, p, j) = c * x - s * y;
        *cell(m, q, j) = s * x + c * y;
    }
}

// One pass over all pairs; false when nothing was left to do.
static bool jacobi_sweep(Matrix a, Matrix v) {
    bool changed = false;
    for (int64_t p = 0; p < a.rows; p++) {
        for (int64_t q = p + 1; q < a.rows; q++) {
            double off = *cell(a, p, q), scale = fabs(*cell(a, p, p)) + fabs(*cell(a, q, q));
            if (!(fabs(off) > DBL_EPSILON * 0.1 * scale) || off == 0) continue;
            double c, s;
            rotation(*cell(a, p, p), off, *cell(a, q, q), &c, &s);
            rotate_columns(a, p, q, c, s);
            rotate_rows(a, p, q, c, s);
            rotate_columns(v, p, q, c, s);
            changed = true;
        }
    }
    return changed;
}

static void swap_columns(Matrix m, int64_t x, int64_t y) {
    for (int64_t i = 0; i < m.rows; i++) {
        double item = *cell(m, i, x);
        *cell(m, i, x) = *cell(m, i, y);
        *cell(m, i, y) = item;
    }
}

void hlo_rt_eigh(const int64_t *d, void *data, void *values, int32_t *info, void *scratch) {
    bool is_f64 = d[0] != 0, lower = d[4] != 0;
    int64_t n = d[2], size = n * n;
    Matrix a = {scratch, n, n}, v = {a.at + size, n, n};
    for (int64_t batch = 0; batch < d[1]; batch++) {
        load(a.at, data, batch * size, size, is_f64);
        memset(v.at, 0, (size_t)size * sizeof *v.at);
        for (int64_t j = 0; j < n; j++) {
            *cell(v, j, j) = 1;
            for (int64_t i = j + 1; i < n; i++) *(lower ? cell(a, j, i) : cell(a, i, j)) = *low(a, lower, i, j);
        }
        int sweeps = 0;
        while (sweeps < MAX_SWEEPS && jacobi_sweep(a, v)) sweeps++;
        for (int64_t k = 0; k < n; k++) {  // rising
            int64_t least = k;
            for (int64_t j = k + 1; j < n; j++) {
                if (*cell(a, j, j) < *cell(a, least, least)) least = j;
            }
            double value = *cell(a, least, least);
            *cell(a, least, least) = *cell(a, k, k);
            *cell(a, k, k) = value;
            swap_columns(v, k, least);
            store(values, &value, batch * n + k, 1, is_f64);
        }
        store(data, v.at, batch * size, size, is_f64);
        if (info) info[batch] = sweeps == MAX_SWEEPS;
    }
}

// ---- singular values ------------------------------------------------------------------------------------

// Rotates columns of w (and v along) until they are orthogonal: one-sided Jacobi.
static bool orthogonalize(Matrix w, Matrix v) {
    bool changed = false;
    for (int64_t p = 0; p < w.columns; p++) {
        for (int64_t q = p + 1; q < w.columns; q++) {
            double x = 0, y = 0, z = 0;
            for (int64_t i = 0; i < w.rows; i++) {
                x += *cell(w, i, p) * *cell(w, i, p);
                y += *cell(w, i, p) * *cell(w, i, q);
                z += *cell(w, i, q) * *cell(w, i, q);
            }
            if (!(fabs(y) > DBL_EPSILON * sqrt(x) * sqrt(z)) || y == 0) continue;
            double c, s;
            rotation(x, y, z, &c, &s);
            rotate_columns(w, p, q, c, s);
            rotate_columns(v, p, q, c, s);
            changed = true;
        }
    }
    return changed;
}

static double column_norm(Matrix m, int64_t j) {
    double sum = 0;
    for (int64_t i = 0; i < m.rows; i++) sum += *cell(m, i, j) * *cell(m, i, j);
    return sqrt(sum);
}

// Makes column j a unit vector orthogonal to the columns before it, from whichever unit vector has room left.
static void complete_column(Matrix m, int64_t j) {
    for (int64_t start = 0; start < m.rows; start++) {
        for (int64_t i = 0; i < m.rows; i++) *cell(m, i, j) = i == start;
        for (int64_t k = 0; k < 2 * j; k++) {  // twice, against rounding
            double dot = 0;
            for (int64_t i = 0; i < m.rows; i++) dot += *cell(m, i, k % j) * *cell(m, i, j);
            for (int64_t i = 0; i < m.rows; i++) *cell(m, i, j) -= dot * *cell(m, i, k % j);
        }
        double norm = column_norm(m, j);
        if (norm < 0.5 / sqrt((double)m.rows)) continue;
        for (int64_t i = 0; i < m.rows; i++) *cell(m, i, j) /= norm;
        return;
    }
}

// Sorts by falling norm and scales the columns of w to length one; the norms are the singular values.
static void finish_svd(Matrix w, Matrix v, double *norms) {
    for (int64_t j = 0; j < w.columns; j++) norms[j] = column_norm(w, j);
    for (int64_t k = 0; k < w.columns; k++) {
        int64_t most = k;
        for (int64_t j = k + 1; j < w.columns; j++) most = norms[j] > norms[most] ? j : most;
        double norm = norms[most];
        norms[most] = norms[k];
        norms[k] = norm;
        swap_columns(w, k, most);
        swap_columns(v, k, most);
        for (int64_t i = 0; i < w.rows && norm > 0; i++) *cell(w, i, k) /= norm;
    }
}

static void transpose_to(Matrix from, Matrix to) {
    for (int64_t j = 0; j < from.columns; j++) {
        for (int64_t i = 0; i < from.rows; i++) *cell(to, j, i) = *cell(from, i, j);
    }
}

// Columns from `known` on, and those of singular value zero, are completed to an orthonormal set.
static void complete_basis(Matrix m, const double *norms, int64_t known) {
    for (int64_t j = 0; j < m.columns; j++) {
        if (j >= known || norms[j] == 0) complete_column(m, j);
    }
}

void hlo_rt_svd(const int64_t *d, void *data, void *values, void *left, void *right, int32_t *info, void *scratch) {
    bool is_f64 = d[0] != 0, vectors = d[4] != 0;
    int64_t rows = d[2], columns = d[3], size = rows * columns, left_columns = d[5], right_rows = d[6];
    bool wide = rows < columns;
    int64_t most = wide ? columns : rows, least = wide ? rows : columns, square = most * most;
    double *base = scratch, *norms = base + 4 * square;
    // The tall one of a and its transpose is w·diag(norms)·vᵀ; `w` has room for a whole basis.
    Matrix w = {base, most, least}, v = {base + square, least, least}, turned = {base + 2 * square, 0, 0};
    for (int64_t batch = 0; batch < d[1]; batch++) {
        Matrix a = {turned.at, rows, columns};
        load(a.at, data, batch * size, size, is_f64);
        if (wide) {
            transpose_to(a, w);
        } else {
            memcpy(w.at, a.at, (size_t)size * sizeof *w.at);
        }
        memset(v.at, 0, (size_t)(least * least) * sizeof *v.at);
        for (int64_t k = 0; k < least; k++) *cell(v, k, k) = 1;
        int sweeps = 0;
        while (sweeps < MAX_SWEEPS && orthogonalize(w, v)) sweeps++;
        finish_svd(w, v, norms);
        store(values, norms, batch * least, least, is_f64);
        if (info) info[batch] = sweeps == MAX_SWEEPS;
        if (!vectors) continue;
        Matrix u = {w.at, most, wide ? right_rows : left_columns}, out = turned;
        complete_basis(u, norms, least);
        Matrix first = wide ? v : u, second = wide ? u : v;
        store(left, first.at, batch * rows * left_columns, rows * left_columns, is_f64);
        out.rows = second.columns;
        out.columns = second.rows;
        transpose_to(second, out);
        store(right, out.at, batch * right_rows * columns, right_rows * columns, is_f64);
    }
}
