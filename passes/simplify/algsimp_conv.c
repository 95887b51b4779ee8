// algsimp: convolution.

#include "algsimp.h"

static const HloWindow *window_of(const HloInstruction *inst) {
    return hlo_data(inst, HLO_ATTR_WINDOW);
}

static const HloConvDims *labels_of(const HloInstruction *inst) {
    return hlo_data(inst, HLO_ATTR_DIM_LABELS);
}

static void set_window(HloAlg *alg, HloInstruction *conv, const HloWindowDim *dims, size_t rank) {
    HloWindow *window = HLO_NEW(&alg->m->arena, HloWindow);
    *window = (HloWindow){hlo_arena_copy(&alg->m->arena, dims, rank * sizeof *dims), rank};
    hlo_set_data(alg->m, conv, HLO_ATTR_WINDOW, window);
}

static HloInstruction *conv_empty(HloAlg *alg, HloInstruction *inst) {
    if (!hlo_shape_is_empty(hlo_operand(inst, 0)->shape) && !hlo_shape_is_empty(hlo_operand(inst, 1)->shape)) return NULL;
    return hlo_alg_like(alg, inst, 0);
}

// ---- convolution of pad ---------------------------------------------------------------------------------

// The pad by zeros that is operand k; NULL when that is something else.
static HloInstruction *zero_pad(const HloAlg *alg, const HloInstruction *inst, size_t k) {
    HloInstruction *pad = hlo_operand(inst, k);
    const HloWindow *window = window_of(inst);
    if (!alg->conv_pad || !window || window->rank != labels_of(inst)->spatial_count || pad->op != HLO_OP_PAD) return NULL;
    return hlo_alg_is_scalar_value(hlo_operand(pad, 1), 0) ? pad : NULL;
}

static bool is_unpadded(HloPaddingDim p) {
    return p.low == 0 && p.high == 0 && p.interior == 0;
}

// Adds a pad to a window dimension; false when the window cannot say it. Negative edges stay: a window padded by 1 over a
// value cut by 1 sees zero where the value was.
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
    const HloWindow *window = window_of(inst);
    HloWindowDim *dims = hlo_arena_copy(alg->scratch, window->dims, window->rank * sizeof *dims);
    for (size_t d = 0; d < window->rank; d++) {
        if (!add_padding(&dims[d], padding[labels->input_spatial[d]])) return NULL;
    }
    HloInstruction *const operands[] = {hlo_operand(pad, 0), hlo_operand(inst, 1)};
    HloInstruction *conv = hlo_build_clone(alg->rw, inst, NULL, operands, 2);
    if (conv) set_window(alg, conv, dims, window->rank);
    return conv;
}

// convolution(x, pad(f)) -> convolution(x, f), dilated by the window.
static HloInstruction *conv_pad_filter(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *pad = zero_pad(alg, inst, 1);
    if (!pad) return NULL;
    const HloPaddingDim *padding = ((const HloPadding *)hlo_data(pad, HLO_ATTR_PADDING))->dims;
    const HloConvDims *labels = labels_of(inst);
    if (!is_unpadded(padding[labels->kernel_input_feature]) || !is_unpadded(padding[labels->kernel_output_feature])) return NULL;
    const HloWindow *window = window_of(inst);
    HloInstruction *filter = hlo_operand(pad, 0);
    HloWindowDim *dims = hlo_arena_copy(alg->scratch, window->dims, window->rank * sizeof *dims);
    for (size_t d = 0; d < window->rank; d++) {
        HloPaddingDim p = padding[labels->kernel_spatial[d]];
        if (p.low || p.high || dims[d].window_dilation != 1) return NULL;
        dims[d].window_dilation = p.interior + 1;
        dims[d].size = filter->shape->dims[labels->kernel_spatial[d]];
    }
    HloInstruction *const operands[] = {hlo_operand(inst, 0), filter};
    HloInstruction *conv = hlo_build_clone(alg->rw, inst, NULL, operands, 2);
    if (conv) set_window(alg, conv, dims, window->rank);
    return conv;
}

static const HloAlgRule rules[] = {
    {HLO_OP_CONVOLUTION, "conv-empty", conv_empty, HLO_ALG_PLAIN},
    {HLO_OP_CONVOLUTION, "conv-pad-input", conv_pad_input, HLO_ALG_PLAIN},
    {HLO_OP_CONVOLUTION, "conv-pad-filter", conv_pad_filter, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_conv_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
