// Common factors of two dimension lists (algsimp chapter §1.8).

#include "hlo/analysis.h"

typedef struct Walk {
    HloDims a, b;
    size_t i, j;
    int64_t product_a, product_b;
} Walk;

// Whether a side takes its next dimension: it is behind, or both are level and its next dimension is no larger.
static bool advances(int64_t own, int64_t other, HloDims dims, size_t at, HloDims other_dims, size_t other_at) {
    if (at == dims.count) return false;
    if (own != other) return own < other;
    return other_at == other_dims.count || dims.data[at] <= other_dims.data[other_at];
}

// One step; false at the end or when products cannot meet again.
static bool step(Walk *w) {
    bool next_a = advances(w->product_a, w->product_b, w->a, w->i, w->b, w->j);
    bool next_b = advances(w->product_b, w->product_a, w->b, w->j, w->a, w->i);
    if (next_a && !hlo_i64_mul(w->product_a, w->a.data[w->i++], &w->product_a)) return false;
    if (next_b && !hlo_i64_mul(w->product_b, w->b.data[w->j++], &w->product_b)) return false;
    return next_a || next_b;
}

static bool has_zero(HloDims dims, size_t from) {
    for (size_t d = from; d < dims.count; d++) {
        if (dims.data[d] <= 0) return true;  // unbounded counts too: nothing is known behind it
    }
    return false;
}

HloFactors hlo_shape_common_factors(HloArena *arena, HloDims a, HloDims b) {
    HloFactorBound *bounds = HLO_NEW_ARRAY(arena, HloFactorBound, a.count + b.count + 2);
    size_t count = 1, equal = 0;
    while (equal < a.count && equal < b.count && a.data[equal] == b.data[equal]) {
        bounds[count++] = (HloFactorBound){equal + 1, equal + 1};
        equal++;
    }
    Walk w = {a, b, equal, equal, 1, 1};
    bool walkable = !has_zero(a, equal) && !has_zero(b, equal);
    while (walkable && step(&w)) {
        if (w.product_a == w.product_b) bounds[count++] = (HloFactorBound){w.i, w.j};
    }
    HloFactorBound *last = &bounds[count - 1];
    if (last->a != a.count || last->b != b.count) bounds[count++] = (HloFactorBound){a.count, b.count};
    return (HloFactors){bounds, count};
}
