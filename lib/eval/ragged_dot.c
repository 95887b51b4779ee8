// ragged-dot and scaled-dot.
//
//   ragged-dot f32[4,k] × f32[2,k,n], sizes {3,0}   →   rows 0 to 2 meet matrix 0, row 3 belongs to no group: zeros
//
// Which of its three forms a ragged-dot has follows from where its ragged dimension lies: among the rows, the
// contracting dimensions, or the batch. Source: the interpreter chapter, §5.3 and §5.4, and the verifier chapter, §6.1
// (shape of the group sizes).

#include "lib/eval/contract.h"

// ---- groups ---------------------------------------------------------------------------------------------

typedef enum Form { RAGGED_ROWS, RAGGED_INNER, RAGGED_BATCH } Form;

typedef struct Ragged {
    Form form;
    HloDotSizes n;
    HloType type;
    int64_t size, below;   // of the ragged dimension; elements of its part (rows, inner or batch) for one step of it
    const int64_t *sizes;  // of the groups: one list, or one for each position of the dimensions before the ragged one
    int64_t groups;
    bool many_lists;
} Ragged;

static const int64_t *group_sizes(const Ragged *r, int64_t list) {
    return r->sizes + (r->many_lists ? list * r->groups : 0);
}

// The sum of the first `count` sizes, which wraps.
static int64_t running_total(const int64_t *sizes, int64_t count) {
    uint64_t total = 0;
    for (int64_t g = 0; g < count; g++) total += (uint64_t)sizes[g];
    return (int64_t)total;
}

// The first group whose running total of sizes exceeds `at`; -1 behind the last one.
static int64_t group_at(const Ragged *r, int64_t list, int64_t at) {
    const int64_t *sizes = group_sizes(r, list);
    uint64_t total = 0;
    for (int64_t g = 0; g < r->groups; g++) {
        total += (uint64_t)sizes[g];
        if ((int64_t)total > at) return g;
    }
    return -1;
}

// Whether `at` lies between the running totals before and after `group`; with negative sizes it may for several.
static bool is_in_group(const Ragged *r, int64_t list, int64_t group, int64_t at) {
    const int64_t *sizes = group_sizes(r, list);
    int64_t before = running_total(sizes, group), after = (int64_t)((uint64_t)before + (uint64_t)sizes[group]);
    return before <= at && at < after;
}

// Position of `row` (over the batch and the rows) along the ragged dimension, and the list of sizes it looks up.
static int64_t split_position(const Ragged *r, int64_t number, int64_t *list) {
    int64_t outer = number / r->below;
    *list = outer / r->size;
    return outer % r->size;
}

// ---- multiplying ----------------------------------------------------------------------------------------

// Row `row` of the result, for columns [at, at + count): its products with matrix `b`, of those inner positions that
// belong to `group` when the inner dimensions are ragged.
static void sum_row(const Ragged *r, const char *a, const char *b, int64_t row, int64_t at, int64_t count,
                    int64_t group, char *acc) {
    HloWide wide = hlo_wide_of(r->type);
    HloKernel kernel = hlo_multiply_add(wide);
    int64_t unit = (int64_t)hlo_wide_bytes(wide), batch = row / r->n.rows;
    memset(acc, 0, (size_t)(count * unit));
    for (int64_t k = 0; k < r->n.inner; k++) {
        if (r->form == RAGGED_INNER) {
            int64_t list, position = split_position(r, batch * r->n.inner + k, &list);
            if (!is_in_group(r, list, group, position)) continue;
        }
        kernel(count, acc, a + (row * r->n.inner + k) * unit, b + (k * r->n.columns + at) * unit);
    }
}

// The matrix that meets `row`: its number among all of the right operand, or -1 for none.
static int64_t matrix_of(const Ragged *r, int64_t row) {
    int64_t batch = row / r->n.rows, list, position;
    switch (r->form) {
    case RAGGED_INNER: return batch;
    case RAGGED_BATCH:
        position = split_position(r, batch, &list);
        return position < running_total(group_sizes(r, list), r->groups) ? batch : -1;
    case RAGGED_ROWS:
        position = split_position(r, row, &list);
        int64_t group = group_at(r, list, position);
        return group < 0 ? -1 : group * r->n.batch + batch;
    }
    return -1;
}

// All rows of the result that belong to `group` (with ragged inner dimensions; otherwise all rows there are).
static void multiply_group(const Ragged *r, const char *a, const char *b, int64_t group, char *out) {
    int64_t unit = (int64_t)hlo_wide_bytes(hlo_wide_of(r->type)), bytes = (int64_t)hlo_element_bytes(r->type);
    HloBlock acc;
    for (int64_t row = 0; row < r->n.batch * r->n.rows; row++) {
        int64_t matrix = matrix_of(r, row);
        if (matrix < 0) {
            memset(out + row * r->n.columns * bytes, 0, (size_t)(r->n.columns * bytes));
            continue;
        }
        const char *from = b + matrix * r->n.inner * r->n.columns * unit;
        for (int64_t at = 0; at < r->n.columns; at += HLO_BLOCK) {
            int64_t count = r->n.columns - at < HLO_BLOCK ? r->n.columns - at : HLO_BLOCK;
            sum_row(r, a, from, row, at, count, group, acc.bytes);
            hlo_narrow(r->type, acc.bytes, count, out + (row * r->n.columns + at) * bytes);
        }
    }
}

static void multiply(const Ragged *r, const char *a, const char *b, HloDatum *out) {
    int64_t copies = r->form == RAGGED_INNER ? r->groups : 1;
    int64_t bytes = r->n.batch * r->n.rows * r->n.columns * out->element_bytes;
    for (int64_t g = 0; g < copies; g++) multiply_group(r, a, b, g, out->data + g * bytes);
}

// Where the ragged dimension lies in the order of the left operand.
static void place_ragged(const HloInstruction *inst, const HloShape *left, const HloDimOrder *order, Ragged *r) {
    int64_t dim = hlo_dims(inst, HLO_ATTR_LHS_RAGGED_DIMS).data[0];
    size_t batch = hlo_dims(inst, HLO_ATTR_LHS_BATCH_DIMS).count, at = 0;
    size_t rows = left->rank - hlo_dims(inst, HLO_ATTR_LHS_CONTRACTING_DIMS).count;
    while (order->dims[at] != dim) at++;
    r->form = at < batch ? RAGGED_BATCH : at < rows ? RAGGED_ROWS : RAGGED_INNER;
    size_t end = r->form == RAGGED_BATCH ? batch : r->form == RAGGED_ROWS ? rows : left->rank;
    r->size = left->dims[dim];
    r->below = hlo_order_product(left, order, at + 1, end);
}

HLO_RULE(hlo_rule_ragged_dot) {
    HloDims group = hlo_dims(inst, HLO_ATTR_RHS_GROUP_DIMS);
    const HloShape *left = args[0]->shape, *sizes = args[2]->shape;
    HloDotPlan plan = hlo_plan_dot(inst, left, args[1]->shape, group);
    Ragged r = {.n = plan.sizes, .type = inst->shape->type, .many_lists = sizes->rank > 1};
    r.groups = sizes->dims[sizes->rank - 1];
    place_ragged(inst, left, &plan.a, &r);
    HLO_TRY(hlo_datum_new(vm, inst->shape, out));
    if (!(*out)->count) return hlo_ok();
    HloDatum *a = NULL, *b = NULL, *counts = NULL;
    HloStatus status = hlo_arrange(vm, args[0], r.type, &plan.a, &a);
    if (hlo_is_ok(status)) status = hlo_arrange(vm, args[1], r.type, &plan.b, &b);
    if (hlo_is_ok(status)) status = hlo_datum_new_wide(vm, sizes, HLO_WIDE_S64, &counts);
    if (hlo_is_ok(status)) {
        hlo_convert(sizes->type, args[2]->data, HLO_S64, counts->data, counts->count);
        r.sizes = (const int64_t *)(const void *)counts->data;
        multiply(&r, a->data, b->data, *out);
    }
    hlo_datum_drop(vm, a);
    hlo_datum_drop(vm, b);
    hlo_datum_drop(vm, counts);
    return status;
}

// ---- scaled-dot -----------------------------------------------------------------------------------------

// Each scale repeated over the block of elements that it is for, in the order of the arranged operand.
static void spread_scales(const HloDatum *scale, const HloShape *shape, const HloDimOrder *order, size_t bytes,
                          char *to) {
    HloBox box = {.rank = 2 * order->count};
    int64_t steps[HLO_EVAL_RANK], step = 1;
    hlo_row_steps(scale->shape, steps);
    for (size_t k = order->count; k-- > 0;) {
        int64_t d = order->dims[k], blocks = scale->shape->dims[d], size = blocks ? shape->dims[d] / blocks : 0;
        box.size[2 * k] = blocks;
        box.from_step[2 * k] = steps[d];
        box.to_step[2 * k] = size * step;
        box.size[2 * k + 1] = size;
        box.to_step[2 * k + 1] = step;
        step *= shape->dims[d];
    }
    hlo_box_copy(&box, scale->data, to, bytes);
}

// Multiplies the arranged operand by its scales; a scalar scale stands for 1, whatever its value.
static HloStatus apply_scales(HloMachine *vm, const HloDatum *scale, HloType type, const HloDimOrder *order,
                              HloDatum *operand) {
    if (!scale->shape->rank || !operand->count) return hlo_ok();
    if (2 * order->count > HLO_EVAL_RANK) return hlo_error(HLO_UNIMPLEMENTED, "scales of more than 32 dimensions");
    HloWide wide = hlo_wide_of(type);
    HloDatum *converted = NULL, *factors = NULL;
    HloStatus status = hlo_datum_new_wide(vm, scale->shape, wide, &converted);
    if (hlo_is_ok(status)) status = hlo_datum_new_wide(vm, operand->shape, wide, &factors);
    if (hlo_is_ok(status)) {
        hlo_convert_wide(scale->shape->type, scale->data, type, converted->data, scale->count);
        spread_scales(converted, operand->shape, order, hlo_wide_bytes(wide), factors->data);
        hlo_binary_kernel(HLO_OP_MULTIPLY, wide)(operand->count, operand->data, operand->data, factors->data);
    }
    hlo_datum_drop(vm, converted);
    hlo_datum_drop(vm, factors);
    return status;
}

// Operands 2 and 3 are the scales of operands 0 and 1.
HLO_RULE(hlo_rule_scaled_dot) {
    HloType type = inst->shape->type;
    HloDotPlan plan = hlo_plan_dot(inst, args[0]->shape, args[1]->shape, (HloDims){NULL, 0});
    HLO_TRY(hlo_datum_new(vm, inst->shape, out));
    if (!(*out)->count) return hlo_ok();
    HloDatum *a = NULL, *b = NULL;
    HloStatus status = hlo_arrange(vm, args[0], type, &plan.a, &a);
    if (hlo_is_ok(status)) status = hlo_arrange(vm, args[1], type, &plan.b, &b);
    if (hlo_is_ok(status)) status = apply_scales(vm, args[2], type, &plan.a, a);
    if (hlo_is_ok(status)) status = apply_scales(vm, args[3], type, &plan.b, b);
    if (hlo_is_ok(status)) hlo_multiply_rows(plan.sizes, type, a->data, b->data, (*out)->data);
    hlo_datum_drop(vm, a);
    hlo_datum_drop(vm, b);
    return status;
}
