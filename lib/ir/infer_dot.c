// Shape inference of dot, ragged-dot and scaled-dot (verifier chapter §6.1).

#include "infer_rules.h"

typedef struct DotDims {
    const HloShape *lhs, *rhs;
    HloDims lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;
} DotDims;

static DotDims dot_dims(const HloInfer *cx) {
    return (DotDims){
        hlo_operand_shape(cx, 0),
        hlo_operand_shape(cx, 1),
        hlo_dims(cx->inst, HLO_ATTR_LHS_BATCH_DIMS),
        hlo_dims(cx->inst, HLO_ATTR_RHS_BATCH_DIMS),
        hlo_dims(cx->inst, HLO_ATTR_LHS_CONTRACTING_DIMS),
        hlo_dims(cx->inst, HLO_ATTR_RHS_CONTRACTING_DIMS),
    };
}

// Marks one side's numbers with their role; fails when a number is out of range or named twice.
enum { FREE = 0, BATCH, CONTRACTING };
static HloStatus mark_side(const HloInfer *cx, const char *side, const HloShape *shape, HloDims batch,
                           HloDims contracting, unsigned char *roles) {
    const HloDims lists[] = {batch, contracting};
    for (size_t l = 0; l < 2; l++) {
        HLO_TRY(hlo_infer_in_range(cx, side, lists[l], shape->rank));
        for (size_t i = 0; i < lists[l].count; i++) {
            unsigned char *role = &roles[lists[l].data[i]];
            if (*role) return hlo_infer_fail(cx, "%s: number %lld is named twice", side, (long long)lists[l].data[i]);
            *role = l ? CONTRACTING : BATCH;
        }
    }
    return hlo_ok();
}

static HloStatus check_paired(const HloInfer *cx, const DotDims *dot, const char *what, HloDims lhs, HloDims rhs) {
    if (lhs.count != rhs.count) {
        return hlo_infer_fail(cx, "%zu %s dimensions of %s against %zu of %s", lhs.count, what,
                              hlo_infer_text(cx, dot->lhs), rhs.count, hlo_infer_text(cx, dot->rhs));
    }
    for (size_t i = 0; i < lhs.count; i++) {
        int64_t a = dot->lhs->dims[lhs.data[i]], b = dot->rhs->dims[rhs.data[i]];
        if (hlo_sizes_agree(a, b)) continue;
        return hlo_infer_fail(cx, "%s dimensions %lld of %s and %lld of %s have different sizes", what,
                              (long long)lhs.data[i], hlo_infer_text(cx, dot->lhs), (long long)rhs.data[i],
                              hlo_infer_text(cx, dot->rhs));
    }
    return hlo_ok();
}

static unsigned char *new_roles(const HloInfer *cx, unsigned char *small, size_t rank) {
    return rank <= HLO_DRAFT_RANK ? small : HLO_NEW_ARRAY(cx->shapes->arena, unsigned char, rank);
}

// Dimensions of the result: batch in list order, then free ones of lhs, then of rhs, ascending. `leading` dimensions
// are left for the caller in front; rhs dimension `dropped` (-1: none) takes no part.
static HloStatus dot_draft(const HloInfer *cx, const DotDims *dot, size_t leading, int64_t dropped, HloDraft *draft) {
    HLO_TRY(hlo_infer_array(cx, 0, "lhs"));
    HLO_TRY(hlo_infer_array(cx, 1, "rhs"));
    unsigned char small_lhs[HLO_DRAFT_RANK] = {0}, small_rhs[HLO_DRAFT_RANK] = {0};
    unsigned char *lhs = new_roles(cx, small_lhs, dot->lhs->rank), *rhs = new_roles(cx, small_rhs, dot->rhs->rank);
    HLO_TRY(mark_side(cx, "lhs dimensions", dot->lhs, dot->lhs_batch, dot->lhs_contracting, lhs));
    HLO_TRY(mark_side(cx, "rhs dimensions", dot->rhs, dot->rhs_batch, dot->rhs_contracting, rhs));
    HLO_TRY(check_paired(cx, dot, "contracting", dot->lhs_contracting, dot->rhs_contracting));
    HLO_TRY(check_paired(cx, dot, "batch", dot->lhs_batch, dot->rhs_batch));
    size_t taken = 2 * dot->lhs_contracting.count + dot->lhs_batch.count + (dropped >= 0);
    size_t k = leading;
    hlo_draft_init(draft, cx, leading + dot->lhs->rank + dot->rhs->rank - taken);
    for (size_t i = 0; i < dot->lhs_batch.count; i++)
        hlo_draft_copy(draft, k++, dot->lhs, (size_t)dot->lhs_batch.data[i]);
    for (size_t d = 0; d < dot->lhs->rank; d++) {
        if (lhs[d] == FREE) hlo_draft_copy(draft, k++, dot->lhs, d);
    }
    for (size_t d = 0; d < dot->rhs->rank; d++) {
        if (rhs[d] == FREE && (int64_t)d != dropped) hlo_draft_copy(draft, k++, dot->rhs, d);
    }
    return hlo_ok();
}

HloStatus hlo_infer_dot_typed(const HloInfer *cx, HloType type, const HloShape **out) {
    if (hlo_operand_count(cx->inst) < 2) {
        return hlo_infer_fail(cx, "expected at least two operands, found %zu", hlo_operand_count(cx->inst));
    }
    DotDims dot = dot_dims(cx);
    HloDraft draft;
    HLO_TRY(dot_draft(cx, &dot, 0, -1, &draft));
    if (type == HLO_TYPE_COUNT) type = hlo_type_higher_precision(dot.lhs->type, dot.rhs->type);
    return hlo_draft_finish(&draft, cx, type, out);
}

HloStatus hlo_infer_dot(const HloInfer *cx, const HloShape **out) {
    return hlo_infer_dot_typed(cx, HLO_TYPE_COUNT, out);
}

// ---- ragged-dot -----------------------------------------------------------------------------------------

// Where the ragged dimension of lhs stands: free (rhs then has a group dimension), contracting (the result gets a
// leading group dimension), or batch.
static int ragged_role(const DotDims *dot, int64_t ragged) {
    for (size_t i = 0; i < dot->lhs_batch.count; i++) {
        if (dot->lhs_batch.data[i] == ragged) return BATCH;
    }
    for (size_t i = 0; i < dot->lhs_contracting.count; i++) {
        if (dot->lhs_contracting.data[i] == ragged) return CONTRACTING;
    }
    return FREE;
}

// Group sizes are [g], or [prefix…, g]: the prefix repeats dimensions of lhs that stand outside the ragged one.
static HloStatus check_group_sizes(const HloInfer *cx, const DotDims *dot, int role, int64_t ragged) {
    const HloShape *sizes = hlo_operand_shape(cx, 2);
    if (sizes->rank == 0) return hlo_infer_fail(cx, "group sizes must have at least one dimension");
    if (sizes->rank == 1) return hlo_ok();
    int64_t small[HLO_DRAFT_RANK];
    size_t capacity = dot->lhs->rank, count = 0;
    int64_t *prefix = capacity <= HLO_DRAFT_RANK ? small : HLO_NEW_ARRAY(cx->shapes->arena, int64_t, capacity);
    for (size_t i = 0; i < dot->lhs_batch.count && dot->lhs_batch.data[i] != ragged; i++) {
        prefix[count++] = dot->lhs->dims[dot->lhs_batch.data[i]];
    }
    for (size_t i = 0; role == CONTRACTING && dot->lhs_contracting.data[i] != ragged; i++) {
        prefix[count++] = dot->lhs->dims[dot->lhs_contracting.data[i]];
    }
    for (int64_t d = 0; role == FREE && d < ragged; d++) {
        if (ragged_role(dot, d) == FREE) prefix[count++] = dot->lhs->dims[d];
    }
    bool fits = sizes->rank == count + 1;
    for (size_t d = 0; fits && d < count; d++) fits = hlo_sizes_agree(prefix[d], sizes->dims[d]);
    if (fits) return hlo_ok();
    return hlo_infer_fail(cx, "group sizes %s do not fit lhs %s", hlo_infer_text(cx, sizes),
                          hlo_infer_text(cx, dot->lhs));
}

static HloStatus check_ragged(const HloInfer *cx, const DotDims *dot, HloDims ragged, HloDims group) {
    HLO_TRY(hlo_infer_all_arrays(cx));
    if (ragged.count != 1) return hlo_infer_fail(cx, "expected exactly one ragged dimension, found %zu", ragged.count);
    HLO_TRY(hlo_infer_in_range(cx, "ragged dimension", ragged, dot->lhs->rank));
    HLO_TRY(hlo_infer_in_range(cx, "group dimension", group, dot->rhs->rank));
    size_t wanted = ragged_role(dot, ragged.data[0]) == FREE;
    if (group.count != wanted) {
        return hlo_infer_fail(cx, "expected %zu group dimension(s) of rhs, found %zu", wanted, group.count);
    }
    if (!wanted) return hlo_ok();
    if (hlo_dims_has(dot->rhs_batch, group.data[0]) || hlo_dims_has(dot->rhs_contracting, group.data[0])) {
        return hlo_infer_fail(cx, "the group dimension %lld has another role too", (long long)group.data[0]);
    }
    return hlo_ok();
}

HloStatus hlo_infer_ragged_dot(const HloInfer *cx, const HloShape **out) {
    DotDims dot = dot_dims(cx);
    HloDims ragged = hlo_dims(cx->inst, HLO_ATTR_LHS_RAGGED_DIMS), group = hlo_dims(cx->inst, HLO_ATTR_RHS_GROUP_DIMS);
    HloDraft draft;
    HLO_TRY(check_ragged(cx, &dot, ragged, group));
    int role = ragged_role(&dot, ragged.data[0]);
    HLO_TRY(dot_draft(cx, &dot, role == CONTRACTING, role == FREE ? group.data[0] : -1, &draft));
    HLO_TRY(check_group_sizes(cx, &dot, role, ragged.data[0]));
    const HloShape *sizes = hlo_operand_shape(cx, 2);
    int64_t groups = sizes->dims[sizes->rank - 1];
    if (role == FREE && !hlo_sizes_agree(dot.rhs->dims[group.data[0]], groups)) {
        return hlo_infer_fail(cx, "%lld groups, but the group dimension of rhs is %lld", (long long)groups,
                              (long long)dot.rhs->dims[group.data[0]]);
    }
    if (role == CONTRACTING) hlo_draft_set(&draft, 0, groups, hlo_dim_is_dynamic(sizes, sizes->rank - 1));
    return hlo_draft_finish(&draft, cx, hlo_type_higher_precision(dot.lhs->type, dot.rhs->type), out);
}
