// Random gathers and scatters.
//
// A gather of windows from an operand of shape [o0, o1, …]: some of its dimensions are indexed, and of these some have
// windows of size 1 that are left out of the result ("collapsed"). The indices are [n, k] or [n, m, k] for k indexed
// dimensions. A scatter is the same the other way round, so both draw the same plan.

#include "lib/gen/gen.h"

enum { INSIDE_ARRAYS = CONTEXT_FUSION | CONTEXT_SEQUENCE };

typedef struct Plan {
    const HloShape *shape;                           // of the operand
    int64_t sizes[MOST_RANK];                        // of windows
    int64_t indexed[MOST_RANK], indexed_count;       // operand dimensions that an index vector says, in its order
    int64_t collapsed[MOST_RANK], collapsed_count;   // rising
    int64_t rows, offsets[MOST_RANK], offset_count;  // result dimensions of the window, rising
    int64_t update[MOST_RANK + 1];                   // shape of the gather's result and of the scatter's updates
    size_t update_rank;
} Plan;

static Plan draw_plan(Gen *g, const HloShape *shape) {
    Plan plan = {.shape = shape, .rows = between(g, 1, 4)};
    int64_t *order = hlo_gen_order(g, shape->rank);
    bool is_collapsed[MOST_RANK] = {false};
    plan.indexed_count = between(g, 1, (int64_t)shape->rank);
    for (size_t d = 0; d < shape->rank; d++)
        plan.sizes[d] = one_in(g, 2) ? shape->dims[d] : between(g, 1, shape->dims[d]);
    for (int64_t k = 0; k < plan.indexed_count; k++) {
        plan.indexed[k] = order[k];
        is_collapsed[order[k]] = one_in(g, 2);
        if (is_collapsed[order[k]]) plan.sizes[order[k]] = 1;
    }
    bool rows_first = one_in(g, 2);
    if (rows_first) plan.update[plan.update_rank++] = plan.rows;
    for (size_t d = 0; d < shape->rank; d++) {
        if (is_collapsed[d]) {
            plan.collapsed[plan.collapsed_count++] = (int64_t)d;
            continue;
        }
        plan.offsets[plan.offset_count++] = (int64_t)plan.update_rank;
        plan.update[plan.update_rank++] = plan.sizes[d];
    }
    if (!rows_first) plan.update[plan.update_rank++] = plan.rows;
    return plan;
}

static bool fits_indices(const Gen *g, const Value *v, const void *what) {
    (void)g;
    return v->inst->shape == what && is_exact(v);
}

// Constants that are mostly inside the operand, or whatever integers have the shape.
static HloInstruction *make_indices(Gen *g, const Plan *plan) {
    Value v;
    const HloShape *shape = hlo_shape_of(&g->m->shapes, HLO_S32, (int64_t[]){plan->rows, plan->indexed_count}, 2);
    if (one_in(g, 2) && hlo_gen_pick(g, fits_indices, shape, &v)) return v.inst;
    HloLiteral *literal = NULL;
    if (hlo_is_ok(g->rw.failure)) g->rw.failure = hlo_literal_new(&g->m->arena, shape, &literal);
    for (int64_t at = 0; literal && at < literal->elem_count; at++) {
        int64_t size = plan->shape->dims[plan->indexed[at % plan->indexed_count]];
        hlo_literal_set_int(literal, at, one_in(g, 8) ? between(g, -2, size + 2) : below(g, size));
    }
    return literal ? hlo_build_constant(&g->rw, literal) : NULL;
}

static HloDims list(const int64_t *items, int64_t count) {
    return (HloDims){items, (size_t)count};
}

static bool draw_operand(Gen *g, Value *x, Plan *plan) {
    if (!hlo_gen_pick_ranked(g, x)) return false;
    *plan = draw_plan(g, x->inst->shape);
    return plan->update_rank <= MOST_RANK;
}

static void gather(Gen *g) {
    Value x;
    Plan plan;
    if (!draw_operand(g, &x, &plan)) return;
    HloInstruction *const operands[] = {x.inst, make_indices(g, &plan)};
    HloInstruction *inst = hlo_gen_new(g, HLO_OP_GATHER, operands, 2);
    if (!inst) return;
    hlo_set_dims(g->m, inst, HLO_ATTR_OFFSET_DIMS, list(plan.offsets, plan.offset_count));
    hlo_set_dims(g->m, inst, HLO_ATTR_COLLAPSED_SLICE_DIMS, list(plan.collapsed, plan.collapsed_count));
    hlo_set_dims(g->m, inst, HLO_ATTR_START_INDEX_MAP, list(plan.indexed, plan.indexed_count));
    hlo_set_int(g->m, inst, HLO_ATTR_INDEX_VECTOR_DIM, 1);
    hlo_set_dims(g->m, inst, HLO_ATTR_SLICE_SIZES, list(plan.sizes, (int64_t)plan.shape->rank));
    hlo_gen_put_like(g, hlo_gen_add(g, inst), &x);
}

static void scatter(Gen *g) {
    static const HloOpcode combiners[] = {HLO_OP_ADD, HLO_OP_MAXIMUM, HLO_OP_MINIMUM};
    Value x;
    Plan plan;
    if (!draw_operand(g, &x, &plan) || class_of(&x) == HLO_CLASS_COMPLEX ||
        x.mag + 3 > hlo_gen_most(x.inst->shape->type))
        return;
    HloOpcode op = class_of(&x) == HLO_CLASS_PRED ? HLO_OP_OR : combiners[below(g, HLO_COUNT(combiners))];
    Value like = {hlo_gen_splat(g, hlo_shape_of(&g->m->shapes, x.inst->shape->type, plan.update, plan.update_rank), 1),
                  1, false, false};
    if (!like.inst) return;
    Value updates = hlo_gen_partner(g, &like), both = hlo_gen_join(&x, &updates);
    HloInstruction *const operands[] = {x.inst, make_indices(g, &plan), updates.inst};
    HloInstruction *inst = updates.wild ? NULL : hlo_gen_new(g, HLO_OP_SCATTER, operands, 3);
    if (!inst) return;
    hlo_set_dims(g->m, inst, HLO_ATTR_UPDATE_WINDOW_DIMS, list(plan.offsets, plan.offset_count));
    hlo_set_dims(g->m, inst, HLO_ATTR_INSERTED_WINDOW_DIMS, list(plan.collapsed, plan.collapsed_count));
    hlo_set_dims(g->m, inst, HLO_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS, list(plan.indexed, plan.indexed_count));
    hlo_set_int(g->m, inst, HLO_ATTR_INDEX_VECTOR_DIM, 1);
    hlo_set_called(inst, 0, hlo_gen_reducer(g, op, x.inst->shape->type));
    hlo_gen_put(g, hlo_gen_add(g, inst), both.mag + 3, is_floating(&x) && (both.rough || op == HLO_OP_ADD), false);
}

MakerTable hlo_gen_indexed(void) {
    static const Maker makers[] = {
        {HLO_OP_GATHER, "gather", 5, INSIDE_ARRAYS, gather},
        {HLO_OP_SCATTER, "scatter", 5, CONTEXT_SEQUENCE, scatter},
    };
    return (MakerTable){makers, HLO_COUNT(makers)};
}
