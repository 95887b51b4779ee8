// Comparison of literals under error bounds, and the report of what differs (interpreter chapter, §10).

#include "hlo/compare.h"

#include <math.h>

#include "lib/eval/compare_details.h"

enum {
    TOP = 5,           // largest errors listed
    MAX_DEPTH = 1000,  // of tuples
};

// Of a float, or of one part of a complex number.
typedef struct Miss {
    int64_t at;
    double expected, actual;
    double rel, abs;
} Miss;

typedef struct Report {
    int64_t misses, nan_misses;
    int64_t first;  // of the mismatches
    Miss top[TOP];  // largest relative errors, descending; of equal ones the later first
    size_t top_count;
    HloCompareDetails details;
    HloLiteral *mask;  // gets true for every mismatch; NULL: not asked
} Report;

// A later one gets into a full list only when it is larger than the smallest of it.
static void keep_top(Report *r, Miss miss) {
    if (r->top_count == TOP && miss.rel <= r->top[TOP - 1].rel) return;
    size_t at = r->top_count < TOP ? r->top_count++ : TOP - 1;
    for (; at > 0 && r->top[at - 1].rel <= miss.rel; at--) r->top[at] = r->top[at - 1];
    r->top[at] = miss;
}

static void count_miss(Report *r, int64_t at) {
    if (r->misses++ == 0) r->first = at;
    if (r->mask) hlo_literal_set_bits(r->mask, at, 1);
}

// ---- one array ------------------------------------------------------------------------------------------

// The difference as the type has it. One that the type has no number for is kept as it is: the reference takes it for
// no difference at all.
static double difference(HloType type, double expected, double actual) {
    double exact = actual - expected;
    if (type == HLO_F64) return fabs(exact);
    double rounded = type == HLO_F32 ? (double)(float)exact : hlo_float_decode(type, hlo_float_encode(type, exact));
    return fabs(isnan(rounded) ? exact : rounded);
}

// Absolute and relative error of one real number; infinite where the bounds cannot excuse it. A zero of the other sign
// has no absolute error and an infinite relative one.
static Miss judge(HloType type, double expected, double actual) {
    Miss miss = {.expected = expected, .actual = actual};
    bool e = isnan(expected), a = isnan(actual);
    if ((e && a) || (expected == actual && signbit(expected) == signbit(actual))) return miss;
    miss.abs = miss.rel = INFINITY;
    if (e || a || isinf(expected) || isinf(actual)) return miss;
    miss.abs = difference(type, expected, actual);
    if (expected != 0) miss.rel = miss.abs / fabs(expected);
    return miss;
}

// Whether the element at `at` is alive.
static bool is_alive(const HloLiteral *literal, int64_t at) {
    const int64_t *sizes = literal->dynamic_sizes;
    for (size_t d = literal->shape->rank; sizes && d-- > 0; at /= literal->shape->dims[d]) {
        if (at % literal->shape->dims[d] >= sizes[d]) return false;
    }
    return true;
}

static bool add_number(Report *r, HloErrorBounds bounds, int64_t at, Miss miss) {
    if (bounds.detailed) hlo_details_add(&r->details, bounds, miss.actual, miss.abs, miss.rel);
    if (!(miss.abs > bounds.abs && miss.rel > bounds.rel)) return false;
    miss.at = at;
    r->nan_misses += isnan(miss.expected) || isnan(miss.actual);
    keep_top(r, miss);
    return true;
}

static void compare_floats(const HloLiteral *expected, const HloLiteral *actual, HloErrorBounds bounds, Report *r) {
    HloType type = expected->shape->type;
    bool is_complex = hlo_type_is_complex(type);
    if (is_complex) type = hlo_type_complex_part(type);
    for (int64_t at = 0; at < expected->elem_count; at++) {
        if (!is_alive(expected, at)) continue;
        double e = hlo_literal_double(expected, at), a = hlo_literal_double(actual, at);
        bool missed = add_number(r, bounds, at, judge(type, e, a));
        if (is_complex) {
            e = hlo_literal_imag(expected, at);
            a = hlo_literal_imag(actual, at);
            missed |= add_number(r, bounds, at, judge(type, e, a));
        }
        if (missed) count_miss(r, at);
    }
}

static void compare_exactly(const HloLiteral *expected, const HloLiteral *actual, Report *r) {
    for (int64_t at = 0; at < expected->elem_count; at++) {
        bool same = hlo_literal_bits(expected, at) == hlo_literal_bits(actual, at);
        if (!same && is_alive(expected, at)) count_miss(r, at);
    }
}

static bool is_exact(const HloShape *shape) {
    return !hlo_type_is_float(shape->type) && !hlo_type_is_complex(shape->type);
}

static void compare_array(const HloLiteral *expected, const HloLiteral *actual, HloErrorBounds bounds, Report *r) {
    if (is_exact(expected->shape))
        compare_exactly(expected, actual, r);
    else
        compare_floats(expected, actual, bounds, r);
}

// ---- its report -----------------------------------------------------------------------------------------

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

static void put_head(HloBuffer *out, const Report *r, const HloLiteral *expected) {
    double percent = 100.0 * (double)r->misses / (double)expected->elem_count;
    hlo_putf(out, "Mismatch count %lld (%.4f%%) in shape ", (long long)r->misses, percent);
    hlo_put_shape(out, expected->shape, false);
    hlo_putf(out, " (%lld elements)", (long long)expected->elem_count);
}

static void put_exact_report(HloBuffer *out, const Report *r, const HloLiteral *expected, const HloLiteral *actual,
                             HloErrorBounds bounds) {
    if (!bounds.detailed) {
        put_head(out, r, expected);
        hlo_put_char(out, '\n');
    }
    hlo_put_string(out, "first mismatch at array index ");
    put_index(out, expected->shape, r->first);
    hlo_put_string(out, ":\n  expected value: ");
    hlo_put_scalar(out, expected, r->first, true);
    hlo_put_string(out, "\n  actual value:   ");
    hlo_put_scalar(out, actual, r->first, true);
}

// With all the digits that tell values of the type apart, in columns that hold any of them.
static void put_number(HloBuffer *out, HloType type, double value) {
    bool is_complex = hlo_type_is_complex(type);
    if (is_complex) type = hlo_type_complex_part(type);
    int digits = type == HLO_F32 ? 9 : type == HLO_F64 ? 17 : hlo_type_info(type)->print_digits;
    double decimals = floor(log10(hlo_float_max(type)));
    int width = digits * (decimals > 1 ? (int)ceil(log10(decimals)) : 0) + 4;
    hlo_putf(out, "%*.*g", width, digits, value);
    if (is_complex) hlo_putf(out, " + %*.*g", width, digits, 0.0);
}

static void put_float_report(HloBuffer *out, const Report *r, const HloLiteral *expected, HloErrorBounds bounds) {
    const HloShape *shape = expected->shape;
    if (bounds.detailed) hlo_put_char(out, '\n');
    put_head(out, r, expected);
    hlo_putf(out, ", abs bound %g, rel bound %g", bounds.abs, bounds.rel);
    if (r->nan_misses) hlo_putf(out, "\nnan mismatches %lld", (long long)r->nan_misses);
    hlo_put_string(out, "\nTop relative error mismatches:");
    for (size_t k = 0; k < r->top_count; k++) {
        const Miss *miss = &r->top[k];
        hlo_put_string(out, "\n  actual ");
        put_number(out, shape->type, miss->actual);
        hlo_put_string(out, ", expected ");
        put_number(out, shape->type, miss->expected);
        hlo_put_string(out, ", index ");
        put_index(out, shape, miss->at);
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
    Report report = {0};
    if (sizes_differ(out, expected, actual)) return true;
    compare_array(expected, actual, bounds, &report);
    if (!report.misses) return false;
    if (is_exact(expected->shape))
        put_exact_report(out, &report, expected, actual, bounds);
    else
        put_float_report(out, &report, expected, bounds);
    return true;
}

HloStatus hlo_literal_mismatches(HloArena *arena, const HloLiteral *expected, const HloLiteral *actual,
                                 HloErrorBounds bounds, HloLiteral **mask) {
    HloShapes shapes = {.arena = arena};
    const HloShape *shape = expected->shape;
    Report report = {0};
    bounds.detailed = false;
    *mask = NULL;
    HLO_TRY(hlo_literal_new(arena, hlo_shape_of(&shapes, HLO_PRED, shape->dims, shape->rank), &report.mask));
    compare_array(expected, actual, bounds, &report);
    if (report.misses) *mask = report.mask;
    return hlo_ok();
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

// The reference names a leaf once for each tuple that it is in: `Array at shape index {2}, Array at shape index {2,0},
// `.
static void put_paths(HloBuffer *out, const Step *steps, size_t depth) {
    for (size_t k = 1; k <= depth; k++) {
        hlo_put_string(out, "Array at shape index ");
        put_path(out, steps, k);
        hlo_put_string(out, ", ");
    }
}

static void compare_leaf(HloBuffer *out, const Step *steps, size_t depth, Step leaf, HloErrorBounds bounds) {
    if (!hlo_shape_is_array(leaf.expected->shape)) return;
    HloBuffer text = {0};
    if (array_differs(&text, leaf.expected, leaf.actual, bounds)) {
        if (out->size) hlo_put_string(out, ": ");
        put_paths(out, steps, depth);
        hlo_put(out, text.data, text.size);
    }
    out->failed |= text.failed;
    hlo_buffer_free(&text);
}

// The next leaf of a tuple, and the tuples on the way to it; false behind the last one.
static bool next_leaf(Step *steps, size_t *depth, Step *leaf) {
    while (*depth) {
        Step *top = &steps[*depth - 1];
        if (top->next == top->expected->shape->rank) {
            --*depth;
            continue;
        }
        size_t k = top->next++;
        *leaf = (Step){top->expected->elements[k], top->actual->elements[k], 0};
        if (!hlo_shape_is_tuple(leaf->expected->shape)) return true;
        if (*depth < MAX_DEPTH) steps[(*depth)++] = *leaf;
    }
    return false;
}

static int64_t count_elements(const HloLiteral *literal) {
    Step steps[MAX_DEPTH] = {{literal, literal, 0}}, leaf;
    size_t depth = 1;
    int64_t elements = 0;
    if (!hlo_shape_is_tuple(literal->shape)) return literal->elem_count;
    while (next_leaf(steps, &depth, &leaf)) elements += leaf.expected->elem_count;
    return elements;
}

static void compare_leaves(HloBuffer *out, Step root, HloErrorBounds bounds) {
    Step steps[MAX_DEPTH] = {root}, leaf;
    size_t depth = 1;
    while (next_leaf(steps, &depth, &leaf)) compare_leaf(out, steps, depth, leaf, bounds);
}

static void compare_tuples(HloBuffer *out, Step root, HloErrorBounds bounds) {
    HloBuffer leaves = {0};
    compare_leaves(&leaves, root, bounds);
    if (leaves.size) {
        hlo_put_string(out, "\nMismatches in shape ");
        hlo_put_shape(out, root.expected->shape, false);
        hlo_putf(out, " (%lld elements):\n", (long long)count_elements(root.expected));
        hlo_put(out, leaves.data, leaves.size);
    }
    out->failed |= leaves.failed;
    hlo_buffer_free(&leaves);
}

// ---- shapes ---------------------------------------------------------------------------------------------

static void put_shapes(HloBuffer *out, const char *before, const HloShape *expected, const char *between,
                       const HloShape *actual) {
    hlo_put_string(out, before);
    hlo_put_shape(out, expected, false);
    hlo_put_string(out, between);
    hlo_put_shape(out, actual, false);
}

// What keeps two shapes from being the same, tuples by their numbers of elements alone; nothing when that is the same.
static void put_shape_difference(HloBuffer *out, const HloShape *expected, const HloShape *actual) {
    if (expected->type != actual->type) {
        put_shapes(out, "element type mismatch, want: ", expected, " got ", actual);
    } else if (hlo_shape_is_tuple(expected)) {
        if (expected->rank == actual->rank) return;
        hlo_putf(out, "want tuple element count: %zu got tuple element count: %zu", expected->rank, actual->rank);
    } else if (expected->rank != actual->rank) {
        put_shapes(out, "want rank of ", expected, " got rank of ", actual);
    } else {
        for (size_t d = 0; hlo_shape_is_array(expected) && d < expected->rank; d++) {
            if (expected->dims[d] == actual->dims[d]) continue;
            hlo_putf(out, "mismatch in dimension #%zu", d);
            put_shapes(out, " expected: ", expected, " actual: ", actual);
            return;
        }
    }
}

// The first difference of two shapes that differ, and where it is, from the innermost tuple outwards.
static void put_first_shape_difference(HloBuffer *out, const HloShape *expected, const HloShape *actual) {
    size_t path[MAX_DEPTH], depth = 0;
    for (;;) {
        put_shape_difference(out, expected, actual);
        if (out->size || !hlo_shape_is_tuple(expected) || depth == MAX_DEPTH) break;
        size_t k = 0;
        while (k < expected->rank && hlo_shape_equal(expected->elements[k], actual->elements[k], HLO_IGNORE_LAYOUT))
            k++;
        if (k == expected->rank) break;
        expected = expected->elements[k];
        actual = actual->elements[k];
        path[depth++] = k;
    }
    if (!out->size) put_shapes(out, "expected shape ", expected, ", actual shape ", actual);
    while (depth) hlo_putf(out, ": mismatch in tuple index%zu", path[--depth]);
}

// ---- the whole ------------------------------------------------------------------------------------------

static void put_dump(HloBuffer *out, const char *title, const HloLiteral *literal) {
    enum { MOST_ELEMENTS = 1000 };
    hlo_putf(out, "\n\n%s literal:\n", title);
    if (count_elements(literal) >= MOST_ELEMENTS)
        hlo_put_string(out, "[TRUNCATED, Literal with more than 1000 values]");
    else
        hlo_put_literal_lines(out, literal);
}

HloStatus hlo_literal_compare(const HloLiteral *expected, const HloLiteral *actual, HloErrorBounds bounds) {
    HloBuffer text = {0};
    HloStatus status = hlo_ok();
    if (!hlo_shape_equal(expected->shape, actual->shape, HLO_IGNORE_LAYOUT))
        put_first_shape_difference(&text, expected->shape, actual->shape);
    else if (hlo_shape_is_tuple(expected->shape))
        compare_tuples(&text, (Step){expected, actual, 0}, bounds);
    else
        compare_leaf(&text, NULL, 0, (Step){expected, actual, 0}, bounds);
    if (text.size && bounds.detailed) {
        put_dump(&text, "Expected", expected);
        put_dump(&text, "Actual", actual);
    }
    if (text.failed)
        status = hlo_out_of_memory();
    else if (text.size)
        status = hlo_error(HLO_INVALID_ARGUMENT, "%s", text.data);
    hlo_buffer_free(&text);
    return status;
}
