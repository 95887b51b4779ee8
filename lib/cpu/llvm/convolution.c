// convolution: sums over kernel positions and input features (interpreter chapter, §5.2).
//
// One result at a time, except where the kernel's output features are contiguous: then a vector of output features is
// summed together. Positions outside the input contribute nothing.

#include "lib/cpu/llvm/emit.h"

#include <math.h>

typedef struct Conv {
    const HloInstruction *inst;
    const HloConvDims *dims;
    const HloWindow *window;
    Place *input, *kernel, *dest;
    int64_t groups, batch_groups;
    int64_t *in, *ker, *out;  // strides
    HloType acc;
    int lanes;  // output features per step; 1: scalar
} Conv;

// The result element being computed.
typedef struct Target {
    LLVMValueRef batch, feature, *spatial;
} Target;

static int64_t dim(const Place *place, int64_t d) {
    return place->shape->dims[d];
}

static LLVMValueRef div_const(Gen *g, LLVMValueRef a, int64_t divisor) {
    return divisor == 1 ? a : LLVMBuildUDiv(g->b, a, const_i64(g, divisor), "");
}

static Value load_as(Gen *g, const Conv *c, const Place *place, LLVMValueRef position) {
    HloType type = c->inst->shape->type;
    Value value = load_at(g, place->shape, place->base, position);
    return convert(g, c->inst, type, c->acc, convert(g, c->inst, place->shape->type, type, value));
}

// A vector of neighbouring kernel elements, or one.
static Value load_kernel(Gen *g, const Conv *c, LLVMValueRef position) {
    if (c->lanes == 1) return load_as(g, c, c->kernel, position);
    LLVMTypeRef type = LLVMVectorType(value_type(g, c->acc), (unsigned)c->lanes);
    LLVMValueRef address = element_address(g, c->acc, c->kernel->base, position);
    LLVMValueRef vector = LLVMBuildLoad2(g->b, type, address, "");
    LLVMSetAlignment(vector, (unsigned)hlo_type_bits(c->acc) / 8);
    return (Value){vector, NULL};
}

static Value spread(Gen *g, const Conv *c, Value value) {
    if (c->lanes == 1) return value;
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(value.v), (unsigned)c->lanes);
    LLVMValueRef poison = LLVMGetPoison(type), zero = LLVMConstInt(g->i32, 0, false);
    LLVMValueRef one = LLVMBuildInsertElement(g->b, poison, value.v, zero, "");
    LLVMValueRef mask = LLVMConstNull(LLVMVectorType(g->i32, (unsigned)c->lanes));
    return (Value){LLVMBuildShuffleVector(g->b, one, poison, mask, ""), NULL};
}

// Input offset of kernel position k along the spatial dimensions, and whether it is inside; kernel offset too.
static LLVMValueRef spatial_offset(Gen *g, const Conv *c, const Target *t, const Nest *nest, LLVMValueRef *kernel,
                                   LLVMValueRef *inside) {
    LLVMValueRef offset = const_i64(g, 0);
    *inside = NULL;
    for (size_t s = 0; s < c->dims->spatial_count; s++) {
        const HloWindowDim *w = &c->window->dims[s];
        int64_t in_dim = c->dims->input_spatial[s], size = dim(c->input, in_dim);
        LLVMValueRef k = nest_at(nest, s);
        LLVMValueRef at = build_add(g, build_scale(g, t->spatial[s], w->stride), build_scale(g, k, w->window_dilation));
        at = build_sub(g, at, const_i64(g, w->pad_low));
        LLVMValueRef test = NULL;
        if (w->base_dilation > 1) {
            LLVMValueRef step = const_i64(g, w->base_dilation);
            test = build_icmp(g, LLVMIntEQ, LLVMBuildSRem(g->b, at, step, ""), const_i64(g, 0));
            at = LLVMBuildSDiv(g->b, at, step, "");
        }
        int64_t last = (dim(c->dest, c->dims->output_spatial[s]) - 1) * w->stride + (w->size - 1) * w->window_dilation;
        if (w->base_dilation > 1 || w->pad_low > 0 || last - w->pad_low >= size) {
            LLVMValueRef range = build_in_range(g, at, size);
            test = test ? LLVMBuildAnd(g->b, test, range, "") : range;
        }
        if (test) *inside = *inside ? LLVMBuildAnd(g->b, *inside, test, "") : test;
        offset = build_add(g, offset, build_scale(g, at, c->in[in_dim]));
        if (w->reversal) k = build_sub(g, const_i64(g, w->size - 1), k);
        *kernel = build_add(g, *kernel, build_scale(g, k, c->ker[c->dims->kernel_spatial[s]]));
    }
    return offset;
}

// Adds the products over the input features of one kernel position to `sum`.
static Value feature_sum(Gen *g, const Conv *c, LLVMValueRef input, LLVMValueRef kernel, Value sum) {
    int64_t features = dim(c->kernel, c->dims->kernel_input_feature);
    LLVMValueRef carried[2] = {sum.v, sum.im};
    Nest *nest = nest_open(g, &features, 1, carried, sum.im ? 2 : 1);
    LLVMValueRef f = nest_at(nest, 0);
    Value a = load_as(g, c, c->input, build_add(g, input, build_scale(g, f, c->in[c->dims->input_feature])));
    Value b = load_kernel(g, c, build_add(g, kernel, build_scale(g, f, c->ker[c->dims->kernel_input_feature])));
    g->reassoc = c->lanes == 1;
    Value next = add_values(g, c->acc, (Value){carried[0], carried[1]}, multiply_values(g, c->acc, spread(g, c, a), b));
    g->reassoc = false;
    carried[0] = next.v;
    carried[1] = next.im;
    nest_close(g, nest, carried);
    return (Value){carried[0], next.im ? carried[1] : NULL};
}

static Value window_sum(Gen *g, const Conv *c, const Target *t) {
    size_t spatial = c->dims->spatial_count;
    int64_t *counts = HLO_NEW_ARRAY(g->arena, int64_t, spatial);
    for (size_t s = 0; s < spatial; s++) counts[s] = c->window->dims[s].size;
    Value sum = spread(g, c, value_zero(g, c->acc));
    LLVMValueRef carried[2] = {sum.v, sum.im};
    Nest *nest = nest_open(g, counts, spatial, carried, sum.im ? 2 : 1);

    int64_t out_features = dim(c->kernel, c->dims->kernel_output_feature), per_group = out_features / c->groups;
    int64_t in_per_group = dim(c->kernel, c->dims->kernel_input_feature), batches = dim(c->input, c->dims->input_batch);
    LLVMValueRef kernel = build_scale(g, t->feature, c->ker[c->dims->kernel_output_feature]), inside;
    LLVMValueRef at = spatial_offset(g, c, t, nest, &kernel, &inside);
    LLVMValueRef group = build_scale(g, div_const(g, t->feature, per_group), in_per_group);
    if (c->groups == 1) group = const_i64(g, 0);
    at = build_add(g, at, build_scale(g, group, c->in[c->dims->input_feature]));
    LLVMValueRef batch = t->batch;
    if (c->batch_groups > 1) {
        LLVMValueRef part = div_const(g, t->feature, out_features / c->batch_groups);
        batch = build_add(g, batch, build_scale(g, part, batches / c->batch_groups));
    }
    at = build_add(g, at, build_scale(g, batch, c->in[c->dims->input_batch]));

    Value before = {carried[0], sum.im ? carried[1] : NULL}, after;
    if (inside) {
        Branch branch = branch_open(g, inside);
        after = feature_sum(g, c, at, kernel, before);
        branch_else(g, &branch);
        LLVMBasicBlockRef from_else = LLVMGetInsertBlock(g->b);
        branch_close(g, &branch);
        after.v = branch_join(g, after.v, branch.from_then, before.v, from_else);
        if (after.im) after.im = branch_join(g, after.im, branch.from_then, before.im, from_else);
    } else {
        after = feature_sum(g, c, at, kernel, before);
    }
    carried[0] = after.v;
    carried[1] = after.im;
    nest_close(g, nest, carried);
    return (Value){carried[0], sum.im ? carried[1] : NULL};
}

// ---- result ---------------------------------------------------------------------------------------------

// Integer sums are kept in 64 bits and saturate at the end (below 8 bits they wrap).
static Value from_sum(Gen *g, const Conv *c, Value sum) {
    HloType type = c->inst->shape->type;
    int bits = hlo_type_bits(type);
    if (!hlo_type_is_integral(type) || bits < 8 || bits == 64) return convert(g, c->inst, c->acc, type, sum);
    bool is_signed = hlo_type_class(type) == HLO_CLASS_SIGNED;
    int64_t top = ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1, bottom = is_signed ? -top - 1 : 0;
    LLVMValueRef v = sum.v, high = const_i64(g, top), low = const_i64(g, bottom);
    v = build_select(g, build_icmp(g, is_signed ? LLVMIntSGT : LLVMIntUGT, v, high), high, v);
    if (is_signed) v = build_select(g, build_icmp(g, LLVMIntSLT, v, low), low, v);
    return (Value){LLVMBuildTrunc(g->b, v, value_type(g, type), ""), NULL};
}

static void store_result(Gen *g, const Conv *c, LLVMValueRef position, Value sum) {
    int64_t step = c->out[c->dims->output_feature];
    if (c->lanes == 1) {
        store_at(g, c->dest->shape, c->dest->base, position, from_sum(g, c, sum));
        return;
    }
    for (int lane = 0; lane < c->lanes; lane++) {
        LLVMValueRef number = LLVMConstInt(g->i32, (unsigned)lane, false);
        Value one = {LLVMBuildExtractElement(g->b, sum.v, number, ""), NULL};
        LLVMValueRef at = build_add(g, position, const_i64(g, lane * step));
        store_at(g, c->dest->shape, c->dest->base, at, from_sum(g, c, one));
    }
}

// Loops over the result with the output feature innermost, in steps of `lanes`, from `first`.
static void emit_features(Gen *g, const Conv *c, int64_t first, int64_t steps) {
    size_t spatial = c->dims->spatial_count;
    int64_t *counts = HLO_NEW_ARRAY(g->arena, int64_t, spatial + 2);
    counts[0] = dim(c->dest, c->dims->output_batch);
    for (size_t s = 0; s < spatial; s++) counts[s + 1] = dim(c->dest, c->dims->output_spatial[s]);
    counts[spatial + 1] = steps;
    Nest *nest = nest_open(g, counts, spatial + 2, NULL, 0);
    Target t = {.batch = nest_at(nest, 0), .spatial = HLO_NEW_ARRAY(g->arena, LLVMValueRef, spatial)};
    t.feature = build_add(g, build_scale(g, nest_at(nest, spatial + 1), c->lanes), const_i64(g, first));
    LLVMValueRef position = build_scale(g, t.batch, c->out[c->dims->output_batch]);
    position = build_add(g, position, build_scale(g, t.feature, c->out[c->dims->output_feature]));
    for (size_t s = 0; s < spatial; s++) {
        t.spatial[s] = nest_at(nest, s + 1);
        position = build_add(g, position, build_scale(g, t.spatial[s], c->out[c->dims->output_spatial[s]]));
    }
    store_result(g, c, position, window_sum(g, c, &t));
    nest_close(g, nest, NULL);
}

// Every dimension number is used and in range, and sizes agree.
static bool is_well_formed(const HloInstruction *inst, const HloConvDims *dims, const HloWindow *window) {
    const HloShape *in = hlo_operand(inst, 0)->shape, *ker = hlo_operand(inst, 1)->shape, *out = inst->shape;
    if (!dims || in->rank != dims->spatial_count + 2 || ker->rank != in->rank || out->rank != in->rank) return false;
    if ((window ? window->rank : 0) != dims->spatial_count) return false;
    int64_t rank = (int64_t)in->rank, groups = hlo_int(inst, HLO_ATTR_FEATURE_GROUP_COUNT);
    int64_t batch_groups = hlo_int(inst, HLO_ATTR_BATCH_GROUP_COUNT);
    int64_t all[6] = {dims->input_batch,           dims->input_feature, dims->kernel_input_feature,
                      dims->kernel_output_feature, dims->output_batch,  dims->output_feature};
    for (size_t k = 0; k < 6; k++) {
        if (all[k] < 0 || all[k] >= rank) return false;
    }
    for (size_t s = 0; s < dims->spatial_count; s++) {
        int64_t i = dims->input_spatial[s], k = dims->kernel_spatial[s], o = dims->output_spatial[s];
        if (i < 0 || k < 0 || o < 0 || i >= rank || k >= rank || o >= rank) return false;
        const HloWindowDim *w = &window->dims[s];
        if (w->size != ker->dims[k] || w->stride < 1 || w->base_dilation < 1 || w->window_dilation < 1) return false;
    }
    if (groups < 1 || batch_groups < 1 || out->dims[dims->output_feature] != ker->dims[dims->kernel_output_feature])
        return false;
    return in->dims[dims->input_feature] == ker->dims[dims->kernel_input_feature] * groups &&
           out->dims[dims->output_feature] % groups == 0 && out->dims[dims->output_feature] % batch_groups == 0 &&
           in->dims[dims->input_batch] == out->dims[dims->output_batch] * batch_groups;
}

static void fill_zero(Gen *g, const Conv *c) {
    Index *index;
    Nest *nest = nest_over(g, c->dest->shape, &index);
    store_at(g, c->dest->shape, c->dest->base, index_position(g, index, c->dest->shape),
             value_zero(g, c->inst->shape->type));
    nest_close(g, nest, NULL);
}

void emit_convolution(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    const HloConvDims *dims = hlo_data(inst, HLO_ATTR_DIM_LABELS);
    const HloWindow *window = hlo_data(inst, HLO_ATTR_WINDOW);
    if (hlo_operand_count(inst) != 2 || !is_well_formed(inst, dims, window)) {
        gen_unimplemented(g, inst);
        return;
    }
    if (hlo_shape_elem_count(dest->shape) == 0) return;
    HloType type = inst->shape->type;
    Conv c = {.inst = inst, .dims = dims, .window = window, .dest = dest, .lanes = 1, .acc = type};
    c.input = operand_place(g, scope, hlo_operand(inst, 0));
    c.kernel = operand_place(g, scope, hlo_operand(inst, 1));
    if (gen_failed(g)) return;
    c.groups = hlo_int(inst, HLO_ATTR_FEATURE_GROUP_COUNT);
    c.batch_groups = hlo_int(inst, HLO_ATTR_BATCH_GROUP_COUNT);
    c.in = shape_strides(g, c.input->shape);
    c.ker = shape_strides(g, c.kernel->shape);
    c.out = shape_strides(g, dest->shape);
    if (hlo_type_is_float(type) && type != HLO_F64) c.acc = HLO_F32;
    if (hlo_type_is_integral(type)) c.acc = hlo_type_class(type) == HLO_CLASS_SIGNED ? HLO_S64 : HLO_U64;
    if (hlo_shape_is_empty(c.input->shape) || hlo_shape_is_empty(c.kernel->shape)) {
        fill_zero(g, &c);
        return;
    }
    int64_t features = dim(dest, dims->output_feature), first = 0;
    int lanes = g->vector_bytes / (hlo_type_bits(c.acc) / 8) * 2;
    bool vectors = (c.acc == HLO_F32 || c.acc == HLO_F64) && c.kernel->shape->type == c.acc && c.groups == 1 &&
                   c.batch_groups == 1 && c.ker[dims->kernel_output_feature] == 1;
    for (; vectors && lanes > 1; lanes /= 2) {
        int64_t steps = (features - first) / lanes;
        if (steps == 0) continue;
        c.lanes = lanes;
        emit_features(g, &c, first, steps);
        first += steps * lanes;
    }
    c.lanes = 1;
    if (first < features) emit_features(g, &c, first, features - first);
}
