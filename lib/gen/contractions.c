// Random dots and convolutions.

#include "lib/gen/gen.h"

enum { INSIDE_ARRAYS = CONTEXT_FUSION | CONTEXT_SEQUENCE };

// Sums of up to 2^7 products.
static int product_mag(const Value *a, const Value *b) {
    return (a->mag < 0 ? 0 : a->mag) + (b->mag < 0 ? 0 : b->mag) + 7;
}

static bool fits_type(const Gen *g, const Value *v, const void *what) {
    (void)g;
    const Value *other = what;
    const HloShape *shape = v->inst->shape;
    return shape->type == other->inst->shape->type && shape->rank > 0 && !v->wild &&
           (!is_floating(v) || product_mag(v, other) <= hlo_gen_most(shape->type));
}

typedef struct Pairing {
    int64_t lhs[2], rhs[2];  // dimensions of equal size
    size_t count;
} Pairing;

static Pairing pair_dims(Gen *g, const HloShape *a, const HloShape *b) {
    Pairing pairing = {0};
    bool taken[MOST_RANK] = {false};
    int64_t *order = hlo_gen_order(g, a->rank);
    for (size_t k = 0; k < a->rank && pairing.count < 2; k++) {
        for (size_t d = 0; d < b->rank; d++) {
            if (taken[d] || a->dims[order[k]] != b->dims[d]) continue;
            taken[d] = true;
            pairing.lhs[pairing.count] = order[k];
            pairing.rhs[pairing.count++] = (int64_t)d;
            break;
        }
    }
    return pairing;
}

static int64_t result_rank(const HloShape *a, const HloShape *b, size_t contracting, size_t batch) {
    return (int64_t)(a->rank + b->rank) - 2 * (int64_t)contracting - (int64_t)batch;
}

static void dot(Gen *g) {
    Value x, y;
    if (!hlo_gen_pick_tame(g, &x) || x.inst->shape->rank == 0 || class_of(&x) == HLO_CLASS_PRED) return;
    if (!hlo_gen_pick(g, fits_type, &x, &y)) return;
    const HloShape *a = x.inst->shape, *b = y.inst->shape;
    Pairing pairs = pair_dims(g, a, b);
    // The first pair contracts; the second one contracts too, or counts along, or nothing of both.
    size_t contracting = pairs.count ? 1 + (pairs.count > 1 && one_in(g, 3)) : 0;
    size_t batch = pairs.count > contracting && one_in(g, 2) ? 1 : 0;
    if (!pairs.count || result_rank(a, b, contracting, batch) > MOST_RANK) return;
    HloInstruction *const operands[] = {x.inst, y.inst};
    HloInstruction *inst = hlo_gen_new(g, HLO_OP_DOT, operands, 2);
    if (!inst) return;
    hlo_set_dims(g->m, inst, HLO_ATTR_LHS_CONTRACTING_DIMS, (HloDims){pairs.lhs, contracting});
    hlo_set_dims(g->m, inst, HLO_ATTR_RHS_CONTRACTING_DIMS, (HloDims){pairs.rhs, contracting});
    if (batch) hlo_set_dims(g->m, inst, HLO_ATTR_LHS_BATCH_DIMS, (HloDims){pairs.lhs + 1, 1});
    if (batch) hlo_set_dims(g->m, inst, HLO_ATTR_RHS_BATCH_DIMS, (HloDims){pairs.rhs + 1, 1});
    hlo_gen_put(g, hlo_gen_add(g, inst), is_floating(&x) ? product_mag(&x, &y) : x.mag, is_floating(&x), false);
}

// ---- convolution ----------------------------------------------------------------------------------------

static bool fits_image(const Gen *g, const Value *v, const void *what) {
    (void)g, (void)what;
    const HloShape *shape = v->inst->shape;
    return hlo_shape_is_array(shape) && shape->rank >= 3 && !hlo_shape_is_empty(shape) && !v->wild &&
           class_of(v) == HLO_CLASS_FLOAT && v->mag + 10 <= hlo_gen_most(shape->type);
}

static void draw_labels(Gen *g, size_t rank, HloConvDims *out) {
    size_t spatial = rank - 2;
    const int64_t *orders[3];
    for (size_t k = 0; k < 3; k++) {
        int64_t *order = hlo_gen_order(g, rank);
        orders[k] = hlo_arena_copy(&g->m->arena, order, rank * sizeof *order);
    }
    *out = (HloConvDims){orders[0][0], orders[0][1],  orders[1][0],  orders[1][1],  orders[2][0],
                         orders[2][1], orders[0] + 2, orders[1] + 2, orders[2] + 2, spatial,
                         rank,         rank,          rank};
}

static HloWindowDim draw_window_dim(Gen *g) {
    HloWindowDim dim = {between(g, 1, 3), between(g, 1, 2), between(g, 0, 2), between(g, 0, 2), 1, 1, false};
    if (one_in(g, 5)) dim.base_dilation = 2;
    if (one_in(g, 5)) dim.window_dilation = 2;
    dim.reversal = one_in(g, 6);
    return dim;
}

static void convolution(Gen *g) {
    Value x;
    if (!hlo_gen_pick(g, fits_image, NULL, &x)) return;
    const HloShape *image = x.inst->shape;
    size_t rank = image->rank;
    HloConvDims *labels = HLO_NEW(&g->m->arena, HloConvDims);
    HloWindow *window = HLO_NEW(&g->m->arena, HloWindow);
    HloWindowDim *dims = HLO_NEW_ARRAY(&g->m->arena, HloWindowDim, rank);
    int64_t kernel[MOST_RANK], features = image->dims[0];
    draw_labels(g, rank, labels);
    features = image->dims[labels->input_feature];
    int64_t groups = features > 1 && one_in(g, 3) ? features : 1;
    kernel[labels->kernel_input_feature] = features / groups;
    kernel[labels->kernel_output_feature] = groups * between(g, 1, 2);
    for (size_t d = 0; d < rank - 2; d++) {
        dims[d] = draw_window_dim(g);
        kernel[labels->kernel_spatial[d]] = dims[d].size;
    }
    *window = (HloWindow){dims, rank - 2};
    Value like = {hlo_gen_splat(g, hlo_shape_of(&g->m->shapes, image->type, kernel, rank), 0.5), 1, false, false};
    if (!like.inst) return;
    Value filter = hlo_gen_partner(g, &like);
    if (filter.wild || product_mag(&x, &filter) > hlo_gen_most(image->type)) filter = like;
    HloInstruction *const operands[] = {x.inst, filter.inst};
    HloInstruction *inst = hlo_gen_new(g, HLO_OP_CONVOLUTION, operands, 2);
    if (!inst) return;
    hlo_set_data(g->m, inst, HLO_ATTR_WINDOW, window);
    hlo_set_data(g->m, inst, HLO_ATTR_DIM_LABELS, labels);
    hlo_set_int(g->m, inst, HLO_ATTR_FEATURE_GROUP_COUNT, groups);
    hlo_gen_put(g, hlo_gen_add(g, inst), product_mag(&x, &filter), true, false);
}

MakerTable hlo_gen_contractions(void) {
    static const Maker makers[] = {
        {HLO_OP_DOT, "dot", 10, INSIDE_ARRAYS, dot},
        {HLO_OP_CONVOLUTION, "convolution", 4, CONTEXT_SEQUENCE, convolution},
    };
    return (MakerTable){makers, HLO_COUNT(makers)};
}
