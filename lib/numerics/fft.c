// Discrete Fourier transforms over the innermost dimensions (interpreter chapter, §5.5): computed in double, rounded
// once at the end; the inverse is scaled by 1/N.
//
// A multidimensional transform is done axis by axis on a complex array in scratch memory. Lengths that are powers of
// two use the radix-2 algorithm, other lengths the sum itself with a table of roots.

#include "lib/numerics/numerics.h"

#include <complex.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef double complex Cx;

enum Kind { FORWARD, INVERSE, REAL_FORWARD, REAL_INVERSE };

typedef struct Plan {
    enum Kind kind;
    bool is_f64;
    int64_t rank, batch;
    const int64_t *in, *lengths, *out;  // sizes of the transformed dimensions
} Plan;

static Plan plan_read(const int64_t *d) {
    return (Plan){(enum Kind)d[0], d[1] != 0, d[2], d[3], d + 4, d + 4 + d[2], d + 4 + 2 * d[2]};
}

static int64_t product(const int64_t *sizes, int64_t count) {
    int64_t result = 1;
    for (int64_t k = 0; k < count; k++) result *= sizes[k];
    return result;
}

static int64_t longest(const Plan *p) {
    int64_t most = 1;
    for (int64_t k = 0; k < p->rank; k++) most = p->lengths[k] > most ? p->lengths[k] : most;
    return most;
}

// The array, a line, its transform, and the roots of unity.
int64_t runtime_fft_scratch(const int64_t *d) {
    Plan p = plan_read(d);
    int64_t line, elements, bytes;
    if (__builtin_mul_overflow(longest(&p), (int64_t)3, &line)) return -1;
    if (__builtin_add_overflow(product(p.lengths, p.rank), line, &elements)) return -1;
    return __builtin_mul_overflow(elements, (int64_t)sizeof(Cx), &bytes) ? -1 : bytes;
}

// ---- one line -------------------------------------------------------------------------------------------

static bool is_power_of_two(int64_t n) {
    return n > 0 && (n & (n - 1)) == 0;
}

static void fill_roots(Cx *roots, int64_t n, bool inverse) {
    for (int64_t k = 0; k < n; k++) {
        double angle = (inverse ? 2 : -2) * M_PI * (double)k / (double)n;
        roots[k] = cos(angle) + I * sin(angle);
    }
}

static void radix2(const Cx *in, Cx *out, const Cx *roots, int64_t n) {
    int bits = 0;
    while ((int64_t)1 << bits < n) bits++;
    for (int64_t k = 0; k < n; k++) {
        int64_t reversed = 0;
        for (int b = 0; b < bits; b++) reversed |= (k >> b & 1) << (bits - 1 - b);
        out[reversed] = in[k];
    }
    for (int64_t width = 2; width <= n; width *= 2) {
        for (int64_t start = 0; start < n; start += width) {
            for (int64_t k = 0; k < width / 2; k++) {
                Cx a = out[start + k], b = out[start + k + width / 2] * roots[k * (n / width)];
                out[start + k] = a + b;
                out[start + k + width / 2] = a - b;
            }
        }
    }
}

static void plain_sum(const Cx *in, Cx *out, const Cx *roots, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        Cx sum = 0;
        int64_t turn = 0;
        for (int64_t j = 0; j < n; j++) {
            sum += in[j] * roots[turn];
            turn = (turn + k) % n;
        }
        out[k] = sum;
    }
}

// Transforms every line along `axis` of the array of size lengths.
static void transform_axis(const Plan *p, Cx *array, int64_t axis, bool inverse, Cx *work) {
    int64_t n = p->lengths[axis], inner = product(p->lengths + axis + 1, p->rank - axis - 1);
    int64_t lines = product(p->lengths, axis) * inner, most = longest(p);
    Cx *line = work, *result = work + most, *roots = work + 2 * most;
    fill_roots(roots, n, inverse);
    for (int64_t at = 0; at < lines; at++) {
        Cx *first = array + at / inner * n * inner + at % inner;
        for (int64_t k = 0; k < n; k++) line[k] = first[k * inner];
        if (is_power_of_two(n)) {
            radix2(line, result, roots, n);
        } else {
            plain_sum(line, result, roots, n);
        }
        for (int64_t k = 0; k < n; k++) first[k * inner] = inverse ? result[k] / (double)n : result[k];
    }
}

// ---- arrays in and out ----------------------------------------------------------------------------------

static Cx read_element(const Plan *p, const void *data, int64_t at) {
    bool real = p->kind == REAL_FORWARD;
    if (p->is_f64) return real ? ((const double *)data)[at] : ((const double complex *)data)[at];
    return real ? ((const float *)data)[at] : ((const float complex *)data)[at];
}

static void write_element(const Plan *p, void *data, int64_t at, Cx value) {
    bool real = p->kind == REAL_INVERSE;
    if (p->is_f64 && real) ((double *)data)[at] = creal(value);
    if (p->is_f64 && !real) ((double complex *)data)[at] = value;
    if (!p->is_f64 && real) ((float *)data)[at] = (float)creal(value);
    if (!p->is_f64 && !real) ((float complex *)data)[at] = (float complex)value;
}

// Position in sizes `to` of the element with number `at` in sizes `from`; -1 when it lies outside.
static int64_t reposition(int64_t at, const int64_t *from, const int64_t *to, int64_t rank) {
    int64_t result = 0, below = 1;
    for (int64_t d = rank; d-- > 0;) {
        int64_t digit = at % from[d];
        at /= from[d];
        if (digit >= to[d]) return -1;
        result += digit * below;
        below *= to[d];
    }
    return result;
}

// The half of the last axis that a real transform leaves out is the conjugate of the other half.
static void mirror_last_axis(const Plan *p, Cx *array) {
    int64_t n = p->lengths[p->rank - 1], lines = product(p->lengths, p->rank - 1);
    for (int64_t line = 0; line < lines; line++) {
        for (int64_t k = n / 2 + 1; k < n; k++) array[line * n + k] = conj(array[line * n + n - k]);
    }
}

void hlo_rt_fft(const int64_t *d, const void *in, void *out, void *scratch) {
    Plan p = plan_read(d);
    int64_t size = product(p.lengths, p.rank), in_size = product(p.in, p.rank), out_size = product(p.out, p.rank);
    bool inverse = p.kind == INVERSE || p.kind == REAL_INVERSE;
    Cx *array = scratch, *work = array + size;
    for (int64_t batch = 0; batch < p.batch; batch++) {
        memset(array, 0, (size_t)size * sizeof *array);
        for (int64_t at = 0; at < in_size; at++) {
            int64_t to = reposition(at, p.in, p.lengths, p.rank);
            if (to >= 0) array[to] = read_element(&p, in, batch * in_size + at);
        }
        for (int64_t axis = 0; axis + 1 < p.rank; axis++) transform_axis(&p, array, axis, inverse, work);
        if (p.kind == REAL_INVERSE) mirror_last_axis(&p, array);
        if (p.rank > 0) transform_axis(&p, array, p.rank - 1, inverse, work);
        for (int64_t at = 0; at < out_size; at++) {
            int64_t from = reposition(at, p.out, p.lengths, p.rank);
            write_element(&p, out, batch * out_size + at, from >= 0 ? array[from] : 0);
        }
    }
}
