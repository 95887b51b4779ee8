// Comparison of literals under error bounds, and the report of what differs (interpreter chapter, §10).

#include "hlo/compare.h"

#include <math.h>

#include "lib/eval/compare_details.h"

enum {
    TOP = 5,           // largest errors listed
    MAX_DEPTH = 1000,  // of tuples
};

typedef struct Miss {
    int64_t at;
    double rel, abs;
} Miss;

typedef struct Report {
    int64_t misses, nan_misses;
    int64_t first;  // of the mismatches
    Miss top[TOP];  // largest relative errors, descending
    size_t top_count;
    HloCompareDetails details;
} Report;

static void keep_top(Report *r, Miss miss) {
    size_t at = r->top_count < TOP ? r->top_count++ : TOP;
    while (at > 0 && r->top[at - 1].rel < miss.rel) {
        if (at < TOP) r->top[at] = r->top[at - 1];
        at--;
    }
    if (at < TOP) r->top[at] = miss;
}

static void add_miss(Report *r, Miss miss) {
    if (r->misses++ == 0) r->first = miss.at;
    keep_top(r, miss);
}

// ---- one array ------------------------------------------------------------------------------------------

// Absolute and relative error of one real number; infinite where the bounds cannot excuse it.
static Miss real_error(double expected, double actual) {
    bool a = isnan(expected), b = isnan(actual);
    if ((a && b) || expected == actual) return (Miss){0, 0, 0};
    if (a || b || isinf(expected) || isinf(actual)) return (Miss){0, INFINITY, INFINITY};
    double abs = fabs(actual - expected);
    return (Miss){0, expected == 0 ? INFINITY : abs / fabs(expected), abs};
}

static bool is_over(Miss miss, HloErrorBounds bounds) {
    return miss.abs > bounds.abs && miss.rel > bounds.rel;
}

// Whether the element at `at` is alive.
static bool is_alive(const HloLiteral *literal, int64_t at) {
    const int64_t *sizes = literal->dynamic_sizes;
    for (size_t d = literal->shape->rank; sizes && d-- > 0; at /= literal->shape->dims[d]) {
        if (at % literal->shape->dims[d] >= sizes[d]) return false;
    }
    return true;
}

static void compare_floats(const HloLiteral *expected, const HloLiteral *actual, HloErrorBounds bounds, Report *r) {
    bool is_complex = hlo_type_is_complex(expected->shape->type);
    for (int64_t at = 0; at < expected->elem_count; at++) {
        if (!is_alive(expected, at)) continue;
        double e = hlo_literal_double(expected, at), a = hlo_literal_double(actual, at);
        Miss miss = real_error(e, a);
        bool nan = isnan(e) != isnan(a);
        if (is_complex) {
            double ei = hlo_literal_imag(expected, at), ai = hlo_literal_imag(actual, at);
            Miss imag = real_error(ei, ai);
            nan = nan || isnan(ei) != isnan(ai);
            if (is_over(imag, bounds) && (!is_over(miss, bounds) || imag.rel > miss.rel)) miss = imag;
        }
        if (bounds.detailed) hlo_details_add(&r->details, bounds, a, miss.abs, miss.rel);
        if (!is_over(miss, bounds)) continue;
        miss.at = at;
        r->nan_misses += nan;
        add_miss(r, miss);
    }
}

static void compare_exactly(const HloLiteral *expected, const HloLiteral *actual, Report *r) {
    for (int64_t at = 0; at < expected->elem_count; at++) {
        if (hlo_literal_bits(expected, at) == hlo_literal_bits(actual, at) || !is_alive(expected, at)) continue;
        add_miss(r, (Miss){at, INFINITY, INFINITY});
    }
}

// `{i,j,k}` of a row-major number.
static void put_index(HloBuffer *out, const HloShape *shape, int64_t at) {
    hlo_put_char(out, '{');
    int64_t below = hlo_shape_elem_count(shape);
    for (size_t d = 0; d < shape->rank; d++) {
        below /= shape->dims[d];
        hlo_putf(out, d ? ",%lld" : "%lld", (long long)(at / below % shape->dims[d]));
    }
    hlo_put_char(out, '}');
}

static void put_report(HloBuffer *out, const Report *r, const HloLiteral *expected, const HloLiteral *actual,
                       HloErrorBounds bounds, bool exact) {
    double percent = 100.0 * (double)r->misses / (double)expected->elem_count;
    hlo_putf(out, "Mismatch count %lld (%.4f%%) in shape ", (long long)r->misses, percent);
    hlo_put_shape(out, expected->shape, false);
    hlo_putf(out, " (%lld elements)", (long long)expected->elem_count);
    if (exact) {
        hlo_put_string(out, "\nfirst mismatch at array index ");
        put_index(out, expected->shape, r->first);
        hlo_put_string(out, ":\n  expected value: ");
        hlo_put_scalar(out, expected, r->first, false);
        hlo_put_string(out, "\n  actual value:   ");
        hlo_put_scalar(out, actual, r->first, false);
        return;
    }
    hlo_putf(out, ", abs bound %g, rel bound %g", bounds.abs, bounds.rel);
    if (r->nan_misses) hlo_putf(out, "\nnan mismatches %lld", (long long)r->nan_misses);
    hlo_put_string(out, "\nTop relative error mismatches:");
    for (size_t k = 0; k < r->top_count; k++) {
        const Miss *miss = &r->top[k];
        hlo_put_string(out, "\n  actual ");
        hlo_put_scalar(out, actual, miss->at, false);
        hlo_put_string(out, ", expected ");
        hlo_put_scalar(out, expected, miss->at, false);
        hlo_put_string(out, ", index ");
        put_index(out, expected->shape, miss->at);
        hlo_putf(out, ", rel error %8.3g, abs error %8.3g", miss->rel, miss->abs);
    }
    if (bounds.detailed) hlo_details_put(out, &r->details, bounds, expected->elem_count);
}

// Sizes that differ; true when one was reported.
static bool sizes_differ(HloBuffer *out, const HloLiteral *expected, const HloLiteral *actual) {
    for (size_t d = 0; d < expected->shape->rank; d++) {
        int64_t wanted = expected->dynamic_sizes ? expected->dynamic_sizes[d] : expected->shape->dims[d];
        int64_t found = actual->dynamic_sizes ? actual->dynamic_sizes[d] : actual->shape->dims[d];
        if (wanted == found) continue;
        hlo_putf(out,
                 "mismatch at dimension %zu. The expected dynamic size does not match the actual dynamic size. "
                 "%lld vs. %lld",
                 d, (long long)wanted, (long long)found);
        return true;
    }
    return false;
}

static bool array_differs(HloBuffer *out, const HloLiteral *expected, const HloLiteral *actual, HloErrorBounds bounds) {
    HloType type = expected->shape->type;
    bool exact = !hlo_type_is_float(type) && !hlo_type_is_complex(type);
    Report report = {0};
    if (sizes_differ(out, expected, actual)) return true;
    if (exact) {
        compare_exactly(expected, actual, &report);
    } else {
        compare_floats(expected, actual, bounds, &report);
    }
    if (report.misses) put_report(out, &report, expected, actual, bounds, exact);
    return report.misses > 0;
}

// ---- tuples ---------------------------------------------------------------------------------------------

typedef struct Step {
    const HloLiteral *expected, *actual;
    size_t next;
} Step;

static void put_path(HloBuffer *out, const Step *steps, size_t depth) {
    hlo_put_char(out, '{');
    for (size_t k = 0; k < depth; k++) hlo_putf(out, k ? ",%zu" : "%zu", steps[k].next - 1);
    hlo_put_char(out, '}');
}

static void compare_leaf(HloBuffer *out, const Step *steps, size_t depth, Step leaf, HloErrorBounds bounds) {
    if (!hlo_shape_is_array(leaf.expected->shape)) return;
    HloBuffer text = {0};
    if (array_differs(&text, leaf.expected, leaf.actual, bounds)) {
        if (out->size) hlo_put_char(out, '\n');
        if (depth) {
            hlo_put_string(out, "Array at shape index ");
            put_path(out, steps, depth);
            hlo_put_string(out, ", ");
        }
        hlo_put(out, text.data, text.size);
    }
    hlo_buffer_free(&text);
}

static void compare_leaves(HloBuffer *out, Step root, HloErrorBounds bounds) {
    Step steps[MAX_DEPTH];
    size_t depth = 0;
    if (!hlo_shape_is_tuple(root.expected->shape)) {
        compare_leaf(out, NULL, 0, root, bounds);
        return;
    }
    steps[depth++] = root;
    while (depth) {
        Step *top = &steps[depth - 1];
        if (top->next == top->expected->shape->rank) {
            depth--;
            continue;
        }
        size_t k = top->next++;
        Step child = {top->expected->elements[k], top->actual->elements[k], 0};
        if (!hlo_shape_is_tuple(child.expected->shape)) {
            compare_leaf(out, steps, depth, child, bounds);
        } else if (depth < MAX_DEPTH) {
            steps[depth++] = child;
        }
    }
}

HloStatus hlo_literal_compare(const HloLiteral *expected, const HloLiteral *actual, HloErrorBounds bounds) {
    HloBuffer text = {0};
    HloStatus status = hlo_ok();
    if (!hlo_shape_equal(expected->shape, actual->shape, HLO_IGNORE_LAYOUT)) {
        hlo_put_string(&text, "expected shape ");
        hlo_put_shape(&text, expected->shape, false);
        hlo_put_string(&text, ", actual shape ");
        hlo_put_shape(&text, actual->shape, false);
    } else {
        compare_leaves(&text, (Step){expected, actual, 0}, bounds);
    }
    if (text.failed)
        status = hlo_out_of_memory();
    else if (text.size)
        status = hlo_error(HLO_INVALID_ARGUMENT, "%s", text.data);
    hlo_buffer_free(&text);
    return status;
}
