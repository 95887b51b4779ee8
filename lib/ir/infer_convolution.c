// Shape inference of convolution (verifier chapter §6.2).
//
// The forward rule serves every convolution, whatever its kind attribute says.

#include "infer_rules.h"

// The kernel as if dense: operand 1, or the values of a pair (values, positions) with the sparse dimension blown up. Of
// each block of block_size elements nonzeros are stored.
static HloStatus find_kernel(const HloInfer *cx, const HloShape **out) {
    const HloShape *pair = hlo_operand_shape(cx, 1);
    const HloSparsity *sparsity = hlo_data(cx->inst, HLO_ATTR_SPARSITY_CONFIG);
    *out = pair;
    if (!sparsity || !sparsity->rhs.present || !hlo_shape_is_tuple(pair)) return hlo_infer_array(cx, 1, "rhs");
    const HloSparsityOperand *rhs = &sparsity->rhs;
    const HloShape *values = pair->rank ? pair->elements[0] : pair;
    int64_t size;
    bool fits = pair->rank == 2 && hlo_shape_is_array(values) && rhs->dimension >= 0 &&
                (uint64_t)rhs->dimension < values->rank && rhs->nonzeros > 0;
    if (!fits || !hlo_i64_mul(values->dims[rhs->dimension], rhs->block_size, &size)) {
        return hlo_infer_fail(cx, "expected a pair of values and positions, sparse in dimension %lld, found %s",
                              (long long)rhs->dimension, hlo_infer_text(cx, pair));
    }
    HloDraft draft;
    HloInfer undeclared = *cx;
    undeclared.declared = NULL;  // what is made here is no result
    hlo_draft_copy_all(&draft, cx, values);
    draft.dims[rhs->dimension] = size / rhs->nonzeros;
    return hlo_draft_finish(&draft, &undeclared, values->type, out);
}

// Both spatial lists and the two named numbers must name each dimension of a side exactly once.
static HloStatus check_side(const HloInfer *cx, const char *side, int64_t a, int64_t b, const int64_t *spatial,
                            size_t spatial_count) {
    enum { SMALL = 8 };
    int64_t small[SMALL];
    size_t rank = spatial_count + 2;
    int64_t *all = rank <= SMALL ? small : HLO_NEW_ARRAY(cx->shapes->arena, int64_t, rank);
    all[0] = a;
    all[1] = b;
    for (size_t i = 0; i < spatial_count; i++) all[2 + i] = spatial[i];
    HloDims dims = {all, rank};
    if (hlo_dims_are_permutation(cx->shapes->arena, dims, rank)) return hlo_ok();
    return hlo_infer_fail(cx, "%s dimensions must name each of 0 to %zu once, found %s", side, rank - 1,
                          hlo_infer_dims_text(cx, dims));
}

static HloStatus check_numbers(const HloInfer *cx, const HloShape *kernel, const HloConvDims *dims,
                               const HloWindow *window) {
    const HloShape *x = hlo_operand_shape(cx, 0);
    size_t spatial = dims->spatial_count, window_rank = window ? window->rank : 0;
    if (window_rank != spatial) {
        return hlo_infer_fail(cx, "a window of %zu dimensions for %zu spatial ones", window_rank, spatial);
    }
    if (x->rank != spatial + 2 || kernel->rank != spatial + 2) {
        return hlo_infer_fail(cx, "expected operands of rank %zu, found %s and %s", spatial + 2, hlo_infer_text(cx, x),
                              hlo_infer_text(cx, kernel));
    }
    HLO_TRY(check_side(cx, "input", dims->input_batch, dims->input_feature, dims->input_spatial, spatial));
    HLO_TRY(check_side(cx, "kernel", dims->kernel_input_feature, dims->kernel_output_feature, dims->kernel_spatial,
                       spatial));
    return check_side(cx, "output", dims->output_batch, dims->output_feature, dims->output_spatial, spatial);
}

static bool divides(int64_t size, int64_t count) {
    return size == HLO_UNBOUNDED || size % count == 0;
}

static HloStatus check_group_counts(const HloInfer *cx, int64_t feature_groups, int64_t batch_groups) {
    if (feature_groups <= 0 || batch_groups <= 0) {
        return hlo_infer_fail(cx,
                              "group counts must be positive, found feature_group_count=%lld batch_group_count=%lld",
                              (long long)feature_groups, (long long)batch_groups);
    }
    if (feature_groups == 1 || batch_groups == 1) return hlo_ok();
    return hlo_infer_fail(cx, "feature_group_count=%lld and batch_group_count=%lld cannot both exceed 1",
                          (long long)feature_groups, (long long)batch_groups);
}

static HloStatus check_groups(const HloInfer *cx, const HloShape *kernel, const HloConvDims *dims,
                              int64_t feature_groups, int64_t batch_groups) {
    const HloShape *x = hlo_operand_shape(cx, 0);
    int64_t batch = x->dims[dims->input_batch], features = x->dims[dims->input_feature];
    int64_t kernel_in = kernel->dims[dims->kernel_input_feature],
            kernel_out = kernel->dims[dims->kernel_output_feature];
    if (!divides(kernel_out, batch_groups) || !divides(kernel_out, feature_groups)) {
        return hlo_infer_fail(cx,
                              "%lld output features cannot be split into groups of feature_group_count=%lld "
                              "batch_group_count=%lld",
                              (long long)kernel_out, (long long)feature_groups, (long long)batch_groups);
    }
    if (!divides(batch, batch_groups)) {
        return hlo_infer_fail(cx, "a batch of %lld cannot be split into batch_group_count=%lld groups",
                              (long long)batch, (long long)batch_groups);
    }
    bool split = divides(features, feature_groups);
    if (!split || (features != HLO_UNBOUNDED && !hlo_sizes_agree(features / feature_groups, kernel_in))) {
        return hlo_infer_fail(cx, "%lld input features in %lld groups do not fit %lld kernel input features",
                              (long long)features, (long long)feature_groups, (long long)kernel_in);
    }
    if (!hlo_dim_is_dynamic(kernel, (size_t)dims->kernel_output_feature) || kernel_out == HLO_UNBOUNDED)
        return hlo_ok();
    return hlo_infer_fail(cx, "the kernel's output feature dimension must not be dynamic: %s",
                          hlo_infer_text(cx, kernel));
}

static HloStatus set_spatial(const HloInfer *cx, const HloShape *kernel, const HloConvDims *dims,
                             const HloWindow *window, HloDraft *draft) {
    const HloShape *x = hlo_operand_shape(cx, 0);
    for (size_t i = 0; i < dims->spatial_count; i++) {
        const HloWindowDim *dim = &window->dims[i];
        int64_t size = 0, kernel_size = kernel->dims[dims->kernel_spatial[i]];
        if (dim->size != kernel_size) {
            return hlo_infer_fail(cx, "window size %lld in spatial dimension %zu, but the kernel has %lld",
                                  (long long)dim->size, i, (long long)kernel_size);
        }
        size_t from = (size_t)dims->input_spatial[i];
        HLO_TRY(hlo_infer_window_size(cx, x->dims[from], dim, &size));
        hlo_draft_set(draft, (size_t)dims->output_spatial[i], size, hlo_dim_is_dynamic(x, from));
    }
    return hlo_ok();
}

// Batch = input batch / batch groups, features = kernel output features, spatial by the window rule.
HloStatus hlo_infer_convolution_typed(const HloInfer *cx, HloType type, const HloShape **out) {
    const HloConvDims *dims = hlo_data(cx->inst, HLO_ATTR_DIM_LABELS);
    const HloWindow *window = hlo_data(cx->inst, HLO_ATTR_WINDOW);
    int64_t feature_groups = hlo_int(cx->inst, HLO_ATTR_FEATURE_GROUP_COUNT);
    int64_t batch_groups = hlo_int(cx->inst, HLO_ATTR_BATCH_GROUP_COUNT);
    if (!dims) return hlo_infer_fail(cx, "needs dim_labels");
    HLO_TRY(hlo_infer_array(cx, 0, "lhs"));
    const HloShape *kernel;
    HLO_TRY(find_kernel(cx, &kernel));
    HLO_TRY(check_group_counts(cx, feature_groups, batch_groups));
    HLO_TRY(check_numbers(cx, kernel, dims, window));
    HLO_TRY(check_groups(cx, kernel, dims, feature_groups, batch_groups));
    const HloShape *x = hlo_operand_shape(cx, 0);
    HloDraft draft;
    hlo_draft_init(&draft, cx, dims->spatial_count + 2);
    size_t batch = (size_t)dims->output_batch, feature = (size_t)dims->output_feature;
    hlo_draft_copy(&draft, batch, x, (size_t)dims->input_batch);
    if (draft.dims[batch] != HLO_UNBOUNDED) draft.dims[batch] /= batch_groups;
    hlo_draft_copy(&draft, feature, kernel, (size_t)dims->kernel_output_feature);
    HLO_TRY(set_spatial(cx, kernel, dims, window, &draft));
    if (type == HLO_TYPE_COUNT) type = hlo_type_higher_precision(x->type, kernel->type);
    return hlo_draft_finish(&draft, cx, type, out);
}

HloStatus hlo_infer_convolution(const HloInfer *cx, const HloShape **out) {
    return hlo_infer_convolution_typed(cx, HLO_TYPE_COUNT, out);
}
