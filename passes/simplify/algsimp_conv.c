// algsimp: convolution.

#include "algsimp.h"

// The window's dimensions; none may be stored when there are none.
static HloWindow window_of(const HloInstruction *inst) {
    const HloWindow *window = hlo_data(inst, HLO_ATTR_WINDOW);
    return window ? *window : (HloWindow){0};
}

static const HloConvDims *labels_of(const HloInstruction *inst) {
    return hlo_data(inst, HLO_ATTR_DIM_LABELS);
}

static void set_window(HloAlg *alg, HloInstruction *conv, const HloWindowDim *dims, size_t rank) {
    if (rank == 0) return;
    HloWindow *window = HLO_NEW(&alg->m->arena, HloWindow);
    *window = (HloWindow){hlo_arena_copy(&alg->m->arena, dims, rank * sizeof *dims), rank};
    hlo_set_data(alg->m, conv, HLO_ATTR_WINDOW, window);
}

static HloInstruction *conv_empty(HloAlg *alg, HloInstruction *inst) {
    if (!hlo_shape_is_empty(hlo_operand(inst, 0)->shape) && !hlo_shape_is_empty(hlo_operand(inst, 1)->shape))
        return NULL;
    return hlo_alg_like(alg, inst, 0);
}

// ---- convolution of pad ---------------------------------------------------------------------------------

// The pad by zeros that is operand k; NULL when that is something else.
static HloInstruction *zero_pad(const HloAlg *alg, const HloInstruction *inst, size_t k) {
    HloInstruction *pad = hlo_operand(inst, k);
    if (!alg->conv_pad || window_of(inst).rank != labels_of(inst)->spatial_count || pad->op != HLO_OP_PAD) return NULL;
    return hlo_alg_is_scalar_value(hlo_operand(pad, 1), 0) ? pad : NULL;
}

static bool is_unpadded(HloPaddingDim p) {
    return p.low == 0 && p.high == 0 && p.interior == 0;
}

// Adds a pad to a window dimension; false when the window cannot say it. Negative edges stay: a window padded by 1 over
// a value cut by 1 sees zero where the value was.
static bool add_padding(HloWindowDim *w, HloPaddingDim p) {
    if (p.low < 0 || p.high < 0) return false;
    if (p.interior && (w->pad_low || w->pad_high || w->base_dilation != 1)) return false;
    if (w->base_dilation != 1 && (p.low || p.high)) return false;
    if (p.interior) w->base_dilation = p.interior + 1;
    w->pad_low += p.low;
    w->pad_high += p.high;
    return true;
}

// convolution(pad(x), f) -> convolution(x, f), padded by the window.
static HloInstruction *conv_pad_input(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *pad = zero_pad(alg, inst, 0);
    if (!pad) return NULL;
    const HloPaddingDim *padding = ((const HloPadding *)hlo_data(pad, HLO_ATTR_PADDING))->dims;
    const HloConvDims *labels = labels_of(inst);
    if (!is_unpadded(padding[labels->input_batch]) || !is_unpadded(padding[labels->input_feature])) return NULL;
    HloWindow window = window_of(inst);
    HloWindowDim *dims = hlo_arena_copy(alg->scratch, window.dims, window.rank * sizeof *dims);
    for (size_t d = 0; d < window.rank; d++) {
        if (!add_padding(&dims[d], padding[labels->input_spatial[d]])) return NULL;
    }
    HloInstruction *const operands[] = {hlo_operand(pad, 0), hlo_operand(inst, 1)};
    HloInstruction *conv = hlo_build_clone(alg->rw, inst, NULL, operands, 2);
    if (conv) set_window(alg, conv, dims, window.rank);
    return conv;
}

// convolution(x, pad(f)) -> convolution(x, f), dilated by the window.
static HloInstruction *conv_pad_filter(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *pad = zero_pad(alg, inst, 1);
    if (!pad) return NULL;
    const HloPaddingDim *padding = ((const HloPadding *)hlo_data(pad, HLO_ATTR_PADDING))->dims;
    const HloConvDims *labels = labels_of(inst);
    if (!is_unpadded(padding[labels->kernel_input_feature]) || !is_unpadded(padding[labels->kernel_output_feature]))
        return NULL;
    HloWindow window = window_of(inst);
    HloInstruction *filter = hlo_operand(pad, 0);
    HloWindowDim *dims = hlo_arena_copy(alg->scratch, window.dims, window.rank * sizeof *dims);
    for (size_t d = 0; d < window.rank; d++) {
        HloPaddingDim p = padding[labels->kernel_spatial[d]];
        if (p.low || p.high || dims[d].window_dilation != 1) return NULL;
        dims[d].window_dilation = p.interior + 1;
        dims[d].size = filter->shape->dims[labels->kernel_spatial[d]];
    }
    HloInstruction *const operands[] = {hlo_operand(inst, 0), filter};
    HloInstruction *conv = hlo_build_clone(alg->rw, inst, NULL, operands, 2);
    if (conv) set_window(alg, conv, dims, window.rank);
    return conv;
}

// ---- swapping the operands ------------------------------------------------------------------------------

typedef struct ConvSizes {
    int64_t input, kernel;
} ConvSizes;

static ConvSizes sizes_at(const HloInstruction *inst, size_t d) {
    const HloConvDims *labels = labels_of(inst);
    return (ConvSizes){hlo_operand(inst, 0)->shape->dims[labels->input_spatial[d]],
                       hlo_operand(inst, 1)->shape->dims[labels->kernel_spatial[d]]};
}

// Dimensions that mean the same after a swap: a contraction of all of it, or a dimension of groups.
static bool is_symmetric(HloWindowDim w, ConvSizes size) {
    if (w.pad_low || w.pad_high || w.window_dilation != 1 || w.reversal) return false;
    bool contracts = size.kernel == size.input && w.stride == 1 && w.base_dilation == 1;
    bool groups = size.kernel == size.input && w.base_dilation == size.kernel &&
                  w.stride == (size.kernel > 1 ? size.kernel - 1 : 1);
    return contracts || groups;
}

// An input of one element that the padding makes the whole of the result has the kernel's size for its own.
static bool is_spread(HloWindowDim w, ConvSizes size) {
    return size.input == 1 && w.stride == 1 && w.window_dilation == 1 && w.pad_low == size.kernel - 1 &&
           w.pad_high == size.kernel - 1;
}

static bool is_cheaper_swapped(const HloInstruction *inst) {
    double cost = 1, swapped = 1;
    HloWindow window = window_of(inst);
    for (size_t d = 0; d < window.rank; d++) {
        ConvSizes size = sizes_at(inst, d);
        if (is_symmetric(window.dims[d], size)) continue;
        cost *= (double)size.kernel;
        swapped *= (double)(is_spread(window.dims[d], size) ? size.kernel : size.input);
    }
    return cost > swapped;
}

static HloWindowDim swapped_dim(HloWindowDim w, ConvSizes size) {
    if (is_symmetric(w, size)) return w;
    int64_t shift = (size.input - 1) * w.base_dilation - (size.kernel - 1) * w.window_dilation;
    return (HloWindowDim){
        .size = size.input,
        .stride = w.stride,
        .pad_low = w.pad_low + shift,
        .pad_high = w.pad_high + shift,
        .base_dilation = w.window_dilation,
        .window_dilation = w.base_dilation,
        .reversal = true,
    };
}

// A window that does not fit gives no elements; exchanged, its padding may take away more than there is. (The reference
// ends the process then.)
static bool is_possible_swapped(const HloInstruction *inst) {
    HloWindow window = window_of(inst);
    for (size_t d = 0; d < window.rank; d++) {
        ConvSizes size = sizes_at(inst, d);
        HloWindowDim w = swapped_dim(window.dims[d], size);
        if (is_symmetric(window.dims[d], size)) continue;
        if ((size.kernel - 1) * w.base_dilation + 1 + w.pad_low + w.pad_high < 0) return false;
    }
    return true;
}

static const HloConvDims *swapped_labels(HloAlg *alg, const HloConvDims *old) {
    HloConvDims *labels = hlo_arena_copy(&alg->m->arena, old, sizeof *labels);
    labels->input_batch = old->kernel_output_feature;
    labels->input_feature = old->kernel_input_feature;
    labels->input_spatial = old->kernel_spatial;
    labels->input_rank = old->kernel_rank;
    labels->kernel_output_feature = old->input_batch;
    labels->kernel_input_feature = old->input_feature;
    labels->kernel_spatial = old->input_spatial;
    labels->kernel_rank = old->input_rank;
    labels->output_batch = old->output_feature;
    labels->output_feature = old->output_batch;
    return labels;
}

static bool is_plain(const HloInstruction *inst) {
    return window_of(inst).rank == labels_of(inst)->spatial_count && hlo_int(inst, HLO_ATTR_FEATURE_GROUP_COUNT) == 1 &&
           hlo_int(inst, HLO_ATTR_BATCH_GROUP_COUNT) == 1 && !hlo_has(inst, HLO_ATTR_SPARSITY_CONFIG);
}

static void swap_precision(HloAlg *alg, HloInstruction *conv) {
    HloDims old = hlo_dims(conv, HLO_ATTR_OPERAND_PRECISION);
    if (old.count != 2) return;
    int64_t swapped[] = {old.data[1], old.data[0]};
    hlo_set_dims(alg->m, conv, HLO_ATTR_OPERAND_PRECISION, (HloDims){swapped, 2});
}

// The filter along the dimensions that the swap turns around.
static HloInstruction *reversed_filter(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *filter = hlo_operand(inst, 1);
    HloWindow window = window_of(inst);
    int64_t *dims = hlo_alg_ints(alg, window.rank);
    size_t count = 0;
    for (size_t d = 0; d < window.rank; d++) {
        if (is_symmetric(window.dims[d], sizes_at(inst, d)) || window.dims[d].reversal) continue;
        dims[count++] = labels_of(inst)->kernel_spatial[d];
    }
    if (!count) return filter;
    HloInstruction *reverse = hlo_alg_unary(alg, filter->shape, HLO_OP_REVERSE, filter);
    if (reverse) hlo_set_dims(alg->m, reverse, HLO_ATTR_DIMENSIONS, (HloDims){dims, count});
    return reverse;
}

// convolution(x, f) -> convolution(reverse(f), x) when x is the smaller kernel.
static HloInstruction *conv_swap(HloAlg *alg, HloInstruction *inst) {
    if (alg->layout_sensitive || !alg->conv_swap || !is_plain(inst) || !is_cheaper_swapped(inst)) return NULL;
    if (!is_possible_swapped(inst)) return NULL;
    HloWindow window = window_of(inst);
    HloWindowDim *dims = hlo_arena_copy(alg->scratch, window.dims, window.rank * sizeof *dims);
    for (size_t d = 0; d < window.rank; d++) dims[d] = swapped_dim(dims[d], sizes_at(inst, d));
    HloInstruction *const operands[] = {reversed_filter(alg, inst), hlo_operand(inst, 0)};
    HloInstruction *conv = hlo_build_clone(alg->rw, inst, NULL, operands, 2);
    if (!conv) return NULL;
    set_window(alg, conv, dims, window.rank);
    hlo_set_data(alg->m, conv, HLO_ATTR_DIM_LABELS, swapped_labels(alg, labels_of(inst)));
    swap_precision(alg, conv);
    return conv;
}

// ---- convolution as dot ---------------------------------------------------------------------------------

static bool is_unit_window(HloWindowDim w) {
    return w.stride == 1 && w.pad_low == 0 && w.pad_high == 0 && w.base_dilation == 1;
}

// The input dimension that has the role of output dimension d.
static int64_t input_dim_for(const HloConvDims *labels, int64_t d) {
    if (d == labels->output_batch) return labels->input_batch;
    if (d == labels->output_feature) return labels->input_feature;
    for (size_t i = 0; i < labels->spatial_count; i++) {
        if (d == labels->output_spatial[i]) return labels->input_spatial[i];
    }
    return -1;
}

static int64_t kernel_dim_for(const HloConvDims *labels, int64_t d) {
    if (d == labels->output_batch) return labels->kernel_input_feature;
    if (d == labels->output_feature) return labels->kernel_output_feature;
    for (size_t i = 0; i < labels->spatial_count; i++) {
        if (d == labels->output_spatial[i]) return labels->kernel_spatial[i];
    }
    return -1;
}

// Input and output lie alike, features most minor; the filter has its output features more minor than the input's.
static bool lies_like_dot(const HloInstruction *inst) {
    const HloConvDims *labels = labels_of(inst);
    const HloLayout *in = hlo_operand(inst, 0)->shape->layout, *filter = hlo_operand(inst, 1)->shape->layout;
    const HloLayout *out = inst->shape->layout;
    if (!in || !filter || !out || in->tile_count || filter->tile_count || out->tile_count) return false;
    if (in->minor_to_major[0] != labels->input_feature || out->minor_to_major[0] != labels->output_feature)
        return false;
    for (size_t i = 0; i < out->rank; i++) {
        if (input_dim_for(labels, out->minor_to_major[i]) != in->minor_to_major[i]) return false;
    }
    HloDims order = {filter->minor_to_major, filter->rank};
    return hlo_dims_find(order, labels->kernel_input_feature) > hlo_dims_find(order, labels->kernel_output_feature);
}

static HloInstruction *as_matrix(HloAlg *alg, HloInstruction *x, int64_t rows, int64_t columns) {
    const HloShape *shape = hlo_alg_shape(alg, x->shape->type, (HloDims){(int64_t[]){rows, columns}, 2});
    return hlo_derive(alg->rw, hlo_build_bitcast(alg->rw, shape, x), x);
}

// A 1x1 convolution is a dot of bitcasts.
static HloInstruction *conv_dot(HloAlg *alg, HloInstruction *inst) {
    if (!alg->layout_sensitive || !alg->conv_to_dot || !is_plain(inst)) return NULL;
    HloWindow window = window_of(inst);
    for (size_t d = 0; d < window.rank; d++) {
        if (sizes_at(inst, d).kernel != 1 || !is_unit_window(window.dims[d])) return NULL;
    }
    if (hlo_shape_is_empty(inst->shape) || !lies_like_dot(inst)) return NULL;
    HloInstruction *x = hlo_operand(inst, 0), *filter = hlo_operand(inst, 1);
    int64_t features_in = x->shape->dims[labels_of(inst)->input_feature];
    int64_t features_out = inst->shape->dims[labels_of(inst)->output_feature];
    int64_t rows = hlo_shape_elem_count(x->shape) / features_in;
    HloInstruction *a = as_matrix(alg, x, rows, features_in), *b = as_matrix(alg, filter, features_in, features_out);
    HloDotNumbers numbers = {.lhs_contracting = {(int64_t[]){1}, 1}, .rhs_contracting = {(int64_t[]){0}, 1}};
    const HloShape *shape = hlo_alg_shape(alg, inst->shape->type, (HloDims){(int64_t[]){rows, features_out}, 2});
    HloInstruction *dot = hlo_derive(alg->rw, hlo_alg_dot(alg, inst, shape, a, b, &numbers, false), inst);
    return hlo_build_bitcast(alg->rw, inst->shape, dot);
}

// ---- convolution as product -----------------------------------------------------------------------------

// Every feature has its own filter, and each spatial dimension either meets one filter element or is contracted.
static bool is_pointwise(const HloInstruction *inst) {
    HloWindow window = window_of(inst);
    const HloConvDims *labels = labels_of(inst);
    if (window.rank != labels->spatial_count || hlo_has(inst, HLO_ATTR_SPARSITY_CONFIG)) return false;
    int64_t features = hlo_operand(inst, 0)->shape->dims[labels->input_feature];
    const HloShape *filter = hlo_operand(inst, 1)->shape;
    if (filter->dims[labels->kernel_input_feature] != 1 || filter->dims[labels->kernel_output_feature] != features ||
        hlo_int(inst, HLO_ATTR_FEATURE_GROUP_COUNT) != features || hlo_int(inst, HLO_ATTR_BATCH_GROUP_COUNT) != 1)
        return false;
    for (size_t d = 0; d < window.rank; d++) {
        HloWindowDim w = window.dims[d];
        if (!is_unit_window(w) || w.window_dilation != 1 || w.reversal) return false;
        if (sizes_at(inst, d).kernel != 1 && inst->shape->dims[labels->output_spatial[d]] != 1) return false;
    }
    return true;
}

static HloInstruction *in_output_order(HloAlg *alg, HloInstruction *inst, HloInstruction *x,
                                       int64_t (*dim_for)(const HloConvDims *labels, int64_t d)) {
    int64_t *order = hlo_alg_ints(alg, inst->shape->rank);
    for (size_t d = 0; d < inst->shape->rank; d++) order[d] = dim_for(labels_of(inst), (int64_t)d);
    HloDims dims = {order, inst->shape->rank};
    return hlo_alg_is_iota(dims) ? x : hlo_derive(alg->rw, hlo_build_transpose(alg->rw, x, dims), x);
}

// x broadcast along its dimensions of size 1.
static HloInstruction *stretched(HloAlg *alg, HloInstruction *x, const HloShape *shape) {
    if (!x || hlo_shape_same_dims(x->shape, shape)) return x;
    int64_t *dims = hlo_alg_ints(alg, shape->rank), *sizes = hlo_alg_ints(alg, shape->rank);
    size_t count = 0;
    for (size_t d = 0; d < shape->rank; d++) {
        if (x->shape->dims[d] == 1) continue;
        sizes[count] = x->shape->dims[d];
        dims[count++] = (int64_t)d;
    }
    const HloShape *small = hlo_alg_shape(alg, x->shape->type, (HloDims){sizes, count});
    HloInstruction *reshape = hlo_derive(alg->rw, hlo_build_reshape(alg->rw, small, x), x);
    return hlo_derive(alg->rw, hlo_build_broadcast(alg->rw, shape, reshape, (HloDims){dims, count}), x);
}

// convolution(x, f) -> x · broadcast(f), summed over contracted dimensions.
static HloInstruction *conv_multiply(HloAlg *alg, HloInstruction *inst) {
    if (alg->layout_sensitive || !is_pointwise(inst)) return NULL;
    HloInstruction *x = in_output_order(alg, inst, hlo_operand(inst, 0), input_dim_for);
    HloInstruction *filter = in_output_order(alg, inst, hlo_operand(inst, 1), kernel_dim_for);
    if (!x || !filter || x->shape->type != inst->shape->type || filter->shape->type != inst->shape->type) return NULL;
    HloInstruction *product = hlo_build_binary(alg->rw, HLO_OP_MULTIPLY, x, stretched(alg, filter, x->shape));
    const HloConvDims *labels = labels_of(inst);
    int64_t *dims = hlo_alg_ints(alg, labels->spatial_count);
    size_t count = 0;
    for (size_t d = 0; d < inst->shape->rank; d++) {
        bool is_spatial = (int64_t)d != labels->output_batch && (int64_t)d != labels->output_feature;
        if (is_spatial && filter->shape->dims[d] != 1) dims[count++] = (int64_t)d;
    }
    if (count == 0 || !product) return product;
    HloInstruction *zero = hlo_alg_scalar(alg, product->shape->type, 0);
    HloInstruction *sum =
        hlo_alg_reduce(alg, product, zero, (HloDims){dims, count}, hlo_alg_reducer(alg, product, HLO_OP_ADD));
    return hlo_build_reshape(alg->rw, inst->shape, sum);
}

static const HloAlgRule rules[] = {
    {HLO_OP_CONVOLUTION, "conv-empty", conv_empty, HLO_ALG_PLAIN},
    {HLO_OP_CONVOLUTION, "conv-pad-input", conv_pad_input, HLO_ALG_PLAIN},
    {HLO_OP_CONVOLUTION, "conv-pad-filter", conv_pad_filter, HLO_ALG_PLAIN},
    {HLO_OP_CONVOLUTION, "conv-swap", conv_swap, HLO_ALG_PLAIN},
    {HLO_OP_CONVOLUTION, "conv-dot", conv_dot, HLO_ALG_PLAIN},
    {HLO_OP_CONVOLUTION, "conv-multiply", conv_multiply, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_conv_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
