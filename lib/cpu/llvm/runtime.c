// The runtime's sorts, and the table of everything machine code may call.

#include "lib/cpu/llvm/runtime.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

// ---- sort -----------------------------------------------------------------------------------------------

enum { SHORT_RUN = 8 };  // runs up to this length are sorted by insertion

typedef struct Row {
    const int64_t *sizes;   // of elements, per array
    char *const *bases;     // of the row's first elements
    int64_t count, inner;
    SortLess *less;
    const void **pair;      // 2·count element addresses
} Row;

static bool goes_before(const Row *row, int64_t a, int64_t b) {
    for (int64_t k = 0; k < row->count; k++) {
        row->pair[2 * k] = row->bases[k] + a * row->inner * row->sizes[k];
        row->pair[2 * k + 1] = row->bases[k] + b * row->inner * row->sizes[k];
    }
    return row->less(row->pair) != 0;
}

static void sort_run(const Row *row, int64_t *order, int64_t count) {
    for (int64_t k = 1; k < count; k++) {
        int64_t item = order[k], at = k;
        for (; at > 0 && goes_before(row, item, order[at - 1]); at--) order[at] = order[at - 1];
        order[at] = item;
    }
}

// A later item overtakes an earlier one only when it goes before it, which makes the sort stable.
static void merge_runs(const Row *row, const int64_t *from, int64_t *to, int64_t middle, int64_t end) {
    int64_t a = 0, b = middle;
    for (int64_t k = 0; k < end; k++) {
        bool right = b < end && (a >= middle || goes_before(row, from[b], from[a]));
        to[k] = right ? from[b++] : from[a++];
    }
}

// Sorts 0 … length - 1; the result is in `order` or `other`, which is returned.
static int64_t *sort_order(const Row *row, int64_t *order, int64_t *other, int64_t length) {
    for (int64_t k = 0; k < length; k++) order[k] = k;
    for (int64_t k = 0; k < length; k += SHORT_RUN) {
        sort_run(row, order + k, length - k < SHORT_RUN ? length - k : SHORT_RUN);
    }
    for (int64_t width = SHORT_RUN; width < length; width *= 2) {
        for (int64_t k = 0; k < length; k += 2 * width) {
            int64_t end = length - k < 2 * width ? length - k : 2 * width;
            merge_runs(row, order + k, other + k, width < end ? width : end, end);
        }
        int64_t *swap = order;
        order = other;
        other = swap;
    }
    return order;
}

static void permute(const Row *row, const int64_t *order, int64_t length, char *copy) {
    for (int64_t k = 0; k < row->count; k++) {
        size_t size = (size_t)row->sizes[k];
        int64_t step = row->inner * row->sizes[k];
        char *base = row->bases[k], *to = copy;
        for (int64_t at = 0; at < length; at++, to += size) memcpy(to, base + order[at] * step, size);
        for (int64_t at = 0; at < length; at++) memcpy(base + at * step, copy + at * (int64_t)size, size);
    }
}

enum { MAX_SORTED = 64 };  // arrays sorted together; the emitter refuses more

void hlo_rt_sort(const int64_t *d, void **arrays, SortLess *less, void *scratch) {
    int64_t count = d[0], outer = d[1], length = d[2], inner = d[3];
    const int64_t *sizes = d + 4;
    char *bases[MAX_SORTED];
    const void *pair[2 * MAX_SORTED];
    int64_t *order = scratch, *other = order + length;
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t i = 0; i < inner; i++) {
            for (int64_t k = 0; k < count; k++) bases[k] = (char *)arrays[k] + (o * length * inner + i) * sizes[k];
            Row row = {sizes, bases, count, inner, less, pair};
            const int64_t *sorted = sort_order(&row, order, other, length);
            permute(&row, sorted, length, (char *)(other + length));
        }
    }
}

// ---- top k ----------------------------------------------------------------------------------------------

static int32_t order_key(float value) {
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits < 0 ? bits ^ 0x7fffffff : bits;
}

static bool is_better(const float *row, int64_t a, int64_t b, bool largest) {
    int32_t x = order_key(row[a]), y = order_key(row[b]);
    if (x != y) return largest ? x > y : x < y;
    return a < b;
}

// Moves the item at `at` down a heap whose top is the worst item kept.
static void sift_down(const float *row, int64_t *heap, int64_t count, int64_t at, bool largest) {
    for (;;) {
        int64_t worst = at;
        for (int64_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++) {
            if (is_better(row, heap[worst], heap[child], largest)) worst = child;
        }
        if (worst == at) return;
        int64_t item = heap[at];
        heap[at] = heap[worst];
        heap[worst] = item;
        at = worst;
    }
}

static void top_of_row(const float *row, int64_t length, int64_t k, bool largest, int64_t *heap) {
    for (int64_t at = 0; at < k; at++) heap[at] = at;
    for (int64_t at = k / 2; at-- > 0;) sift_down(row, heap, k, at, largest);
    for (int64_t at = k; at < length; at++) {
        if (!is_better(row, at, heap[0], largest)) continue;
        heap[0] = at;
        sift_down(row, heap, k, 0, largest);
    }
    for (int64_t end = k; end-- > 1;) {  // the worst goes last
        int64_t item = heap[0];
        heap[0] = heap[end];
        heap[end] = item;
        sift_down(row, heap, end, 0, largest);
    }
}

void hlo_rt_topk(const int64_t *d, const float *in, float *values, int32_t *indices, void *scratch) {
    int64_t rows = d[0], length = d[1], k = d[2], *heap = scratch;
    for (int64_t row = 0; row < rows && k > 0; row++) {
        top_of_row(in + row * length, length, k, d[3] != 0, heap);
        for (int64_t at = 0; at < k; at++) {
            values[row * k + at] = in[row * length + heap[at]];
            indices[row * k + at] = (int32_t)heap[at];
        }
    }
}

// ---- symbols --------------------------------------------------------------------------------------------

#define LIBM(name) {#name, (void *)(double (*)(double))name}, {#name "f", (void *)(float (*)(float))name##f}
#define LIBM2(name) \
    {#name, (void *)(double (*)(double, double))name}, {#name "f", (void *)(float (*)(float, float))name##f}
#define RUNTIME(name) {#name, (void *)name}

const RuntimeSymbol *runtime_symbols(size_t *count) {
    static const RuntimeSymbol symbols[] = {
        LIBM(acos), LIBM(acosh), LIBM(asin), LIBM(asinh), LIBM(atan), LIBM(atanh), LIBM(cbrt), LIBM(ceil), LIBM(cos),
        LIBM(cosh), LIBM(erf), LIBM(exp), LIBM(expm1), LIBM(fabs), LIBM(floor), LIBM(log), LIBM(log1p),
        LIBM(nearbyint), LIBM(rint), LIBM(round), LIBM(sin), LIBM(sinh), LIBM(sqrt), LIBM(tan), LIBM(tanh), LIBM(trunc),
        LIBM2(atan2), LIBM2(copysign), LIBM2(fmod), LIBM2(hypot), LIBM2(pow),
        {"memcpy", (void *)memcpy}, {"memmove", (void *)memmove}, {"memset", (void *)memset},
        {"fma", (void *)(double (*)(double, double, double))fma},
        {"fmaf", (void *)(float (*)(float, float, float))fmaf},
        RUNTIME(hlo_rt_sort), RUNTIME(hlo_rt_topk), RUNTIME(hlo_rt_rng), RUNTIME(hlo_rt_fft), RUNTIME(hlo_rt_cholesky),
        RUNTIME(hlo_rt_lu), RUNTIME(hlo_rt_triangular_solve), RUNTIME(hlo_rt_qr), RUNTIME(hlo_rt_householder_product),
        RUNTIME(hlo_rt_eigh), RUNTIME(hlo_rt_svd),
    };
    *count = sizeof symbols / sizeof symbols[0];
    return symbols;
}
