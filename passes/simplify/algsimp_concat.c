// algsimp: concatenate.

#include "algsimp.h"

static size_t concat_dim(const HloInstruction *inst) {
    return (size_t)hlo_int(inst, HLO_ATTR_DIMENSION);
}

static HloInstruction *concat_one(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_operand_count(inst) == 1 ? hlo_operand(inst, 0) : NULL;
}

static HloInstruction *concat_empty(HloAlg *alg, HloInstruction *inst) {
    size_t count = 0, total = hlo_operand_count(inst);
    HloInstruction **kept = HLO_NEW_ARRAY(alg->scratch, HloInstruction *, total);
    for (size_t k = 0; k < total; k++) {
        if (!hlo_shape_is_empty(hlo_operand(inst, k)->shape)) kept[count++] = hlo_operand(inst, k);
    }
    if (count == total || hlo_control_preds(inst)->count) return NULL;
    if (count == 0) return hlo_operand(inst, 0);
    if (count == 1) return kept[0];
    return hlo_derive(alg->rw, hlo_build_clone(alg->rw, inst, NULL, kept, count), inst);
}

static HloInstruction *concat_keeps_layout(HloAlg *alg, HloInstruction *inst) {
    return alg->layout_sensitive ? inst : NULL;
}

static bool is_same_concat(const HloInstruction *x, size_t dim) {
    return x->op == HLO_OP_CONCATENATE && concat_dim(x) == dim;
}

// A long chain of concatenates that each add a little would be copied over and over: past this many operands a nest is
// flattened only when that at least doubles the largest of its parts.
enum { MAX_CHAINED_OPERANDS = 1024 };

static bool is_worth_flattening(const HloInstruction *inst) {
    size_t total = 0, largest = 0, dim = concat_dim(inst);
    bool is_nest = false;
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        const HloInstruction *x = hlo_operand(inst, k);
        bool nested = is_same_concat(x, dim);
        size_t count = nested ? hlo_operand_count(x) : 1;
        total += count;
        is_nest |= nested;
        if (count > largest) largest = count;
    }
    return is_nest && (total <= MAX_CHAINED_OPERANDS || total >= 2 * largest);
}

// concatenate(…, concatenate(a, b), …) -> concatenate(…, a, b, …)
static HloInstruction *concat_nested(HloAlg *alg, HloInstruction *inst) {
    size_t dim = concat_dim(inst);
    if (!is_worth_flattening(inst)) return NULL;
    HloVec flat = {0};
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        HloInstruction *x = hlo_operand(inst, k);
        bool nested = is_same_concat(x, dim);
        for (size_t i = 0; nested && i < hlo_operand_count(x); i++)
            hlo_vec_push(alg->scratch, &flat, hlo_operand(x, i));
        if (!nested) hlo_vec_push(alg->scratch, &flat, x);
    }
    return hlo_build_clone(alg->rw, inst, NULL, (HloInstruction *const *)flat.items, flat.count);
}

// ---- slices that abut -----------------------------------------------------------------------------------

static const HloSliceDim *unit_slice(const HloInstruction *x) {
    if (x->op != HLO_OP_SLICE) return NULL;
    const HloSlice *slice = hlo_data(x, HLO_ATTR_SLICE);
    for (size_t d = 0; d < slice->rank; d++) {
        if (slice->dims[d].stride != 1) return NULL;
    }
    return slice->dims;
}

// `next` continues `slice` along `dim`: same source, starting where it ends, alike everywhere else.
static bool continues(const HloInstruction *slice, int64_t end, const HloInstruction *next, size_t dim) {
    const HloSliceDim *a = unit_slice(slice), *b = unit_slice(next);
    if (!b || hlo_operand(next, 0) != hlo_operand(slice, 0) || b[dim].start != end) return false;
    for (size_t d = 0; d < slice->shape->rank; d++) {
        if (d != dim && (a[d].start != b[d].start || a[d].limit != b[d].limit)) return false;
    }
    return true;
}

static HloInstruction *joined_slice(HloAlg *alg, HloInstruction *slice, int64_t end, size_t dim) {
    HloSliceDim *dims = hlo_arena_copy(alg->scratch, unit_slice(slice), slice->shape->rank * sizeof *dims);
    dims[dim].limit = end;
    return hlo_derive(alg->rw, hlo_build_slice(alg->rw, hlo_operand(slice, 0), dims), slice);
}

// Where the run of slices that starts at operand k ends; *end becomes the limit of the run.
static size_t run_end(const HloInstruction *inst, size_t k, int64_t *end) {
    size_t dim = concat_dim(inst), next = k + 1;
    const HloSliceDim *dims = unit_slice(hlo_operand(inst, k));
    if (!dims) return next;
    *end = dims[dim].limit;
    for (; next < hlo_operand_count(inst); next++) {
        if (!continues(hlo_operand(inst, k), *end, hlo_operand(inst, next), dim)) break;
        *end = unit_slice(hlo_operand(inst, next))[dim].limit;
    }
    return next;
}

// concatenate(x[0:2], x[2:5]) -> concatenate(x[0:5])
static HloInstruction *concat_slices(HloAlg *alg, HloInstruction *inst) {
    size_t total = hlo_operand_count(inst), count = 0;
    int64_t end = 0;
    bool has_run = false;
    for (size_t k = 0; k < total; k++) has_run |= run_end(inst, k, &end) > k + 1;
    if (!has_run || hlo_control_preds(inst)->count) return NULL;
    HloInstruction **operands = HLO_NEW_ARRAY(alg->scratch, HloInstruction *, total);
    for (size_t k = 0; k < total;) {
        size_t next = run_end(inst, k, &end);
        HloInstruction *x = hlo_operand(inst, k);
        operands[count++] = next > k + 1 ? joined_slice(alg, x, end, concat_dim(inst)) : x;
        k = next;
    }
    return hlo_derive(alg->rw, hlo_build_clone(alg->rw, inst, NULL, operands, count), inst);
}

// ---- scalars and copies ---------------------------------------------------------------------------------

// concatenate(x, broadcast(scalar)) -> pad(x, scalar)
static HloInstruction *concat_pad(HloAlg *alg, HloInstruction *inst) {
    if (hlo_operand_count(inst) != 2) return NULL;
    bool low = hlo_alg_splat_operand(hlo_operand(inst, 0));
    if (!low && !hlo_alg_splat_operand(hlo_operand(inst, 1))) return NULL;
    HloInstruction *filler = hlo_operand(inst, low ? 0 : 1), *x = hlo_operand(inst, low ? 1 : 0);
    HloPaddingDim *dims = HLO_NEW_ARRAY(&alg->m->arena, HloPaddingDim, inst->shape->rank);
    int64_t amount = filler->shape->dims[concat_dim(inst)];
    dims[concat_dim(inst)] = (HloPaddingDim){low ? amount : 0, low ? 0 : amount, 0};
    HloInstruction *pad = hlo_alg_binary(alg, inst->shape, HLO_OP_PAD, x, hlo_operand(filler, 0));
    if (pad) hlo_alg_set_padding(alg, pad, dims);
    return hlo_derive(alg->rw, pad, inst);
}

// concatenate(x, x, …) along a dimension of size 1 -> broadcast(reshape(x))
static HloInstruction *concat_duplicates(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0);
    size_t dim = concat_dim(inst);
    if (x->shape->dims[dim] != 1) return NULL;
    for (size_t k = 1; k < hlo_operand_count(inst); k++) {
        if (hlo_operand(inst, k) != x) return NULL;
    }
    const HloShape *shape = hlo_alg_without_dims(alg, x->shape, (HloDims){(int64_t[]){(int64_t)dim}, 1});
    int64_t *dims = hlo_alg_ints(alg, shape->rank);
    for (size_t d = 0; d < shape->rank; d++) dims[d] = (int64_t)(d < dim ? d : d + 1);
    HloInstruction *reshape = hlo_build_reshape(alg->rw, shape, x);
    return hlo_build_broadcast(alg->rw, inst->shape, reshape, (HloDims){dims, shape->rank});
}

static const HloAlgRule rules[] = {
    {HLO_OP_CONCATENATE, "concat-one", concat_one, HLO_ALG_COMPAT},
    {HLO_OP_CONCATENATE, "concat-empty", concat_empty, HLO_ALG_COMPAT},
    {HLO_OP_CONCATENATE, "concat-keeps-layout", concat_keeps_layout, HLO_ALG_STOP},
    {HLO_OP_CONCATENATE, "concat-nested", concat_nested, HLO_ALG_PLAIN},
    {HLO_OP_CONCATENATE, "concat-slices", concat_slices, HLO_ALG_COMPAT},
    {HLO_OP_CONCATENATE, "concat-pad", concat_pad, HLO_ALG_PLAIN},
    {HLO_OP_CONCATENATE, "concat-duplicates", concat_duplicates, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_concat_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
