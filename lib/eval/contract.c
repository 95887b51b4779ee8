// dot and convolution: operands are converted to the result's type, brought into rows, and multiplied in plain loops.
//
//   dot f32[m,k] × f32[k,n]   →   for each row: for k: acc[0…n) += a[k] * b[k][0…n)
//
// Each result element sums its products one after the other, the last contracting dimension fastest, in the computation
// type, as the interpreter chapter says (§5); the inner loop goes over neighbouring results, which compilers vectorise.

#include <complex.h>
#include <math.h>

#include "lib/eval/contract.h"
#include "lib/eval/window.h"

// acc[i] += a * b[i], for one computation type.
#define MULTIPLY_ADD(name, type, expression)                                              \
    static void name(int64_t n, void *acc_data, const void *a_data, const void *b_data) { \
        type *acc = acc_data, a = *(const type *)a_data;                                  \
        const type *b = b_data;                                                           \
        for (int64_t i = 0; i < n; i++) acc[i] = (type)(expression);                      \
    }
MULTIPLY_ADD(multiply_add_pred, uint8_t, acc[i] | (a & b[i]))
MULTIPLY_ADD(multiply_add_u64, uint64_t, acc[i] + a * b[i])
MULTIPLY_ADD(multiply_add_f32, float, acc[i] + a * b[i])
MULTIPLY_ADD(multiply_add_f64, double, acc[i] + a * b[i])
MULTIPLY_ADD(multiply_add_c64, float complex, acc[i] + a * b[i])
MULTIPLY_ADD(multiply_add_c128, double complex, acc[i] + a * b[i])

HloKernel hlo_multiply_add(HloWide wide) {
    static const HloKernel kernels[HLO_WIDE_COUNT] = {multiply_add_pred, multiply_add_u64, multiply_add_u64,
                                                      multiply_add_f32,  multiply_add_f64, multiply_add_c64,
                                                      multiply_add_c128};
    return kernels[wide];
}

HloStatus hlo_arrange(HloMachine *vm, const HloDatum *from, HloType type, const HloDimOrder *order, HloDatum **out) {
    HloDatum *moved;
    HLO_TRY(hlo_datum_new(vm, from->shape, &moved));
    HloBox box = {.rank = order->count};
    int64_t steps[HLO_EVAL_RANK], step = 1;
    hlo_row_steps(from->shape, steps);
    for (size_t d = order->count; d-- > 0;) {
        box.size[d] = from->shape->dims[order->dims[d]];
        box.from_step[d] = steps[order->dims[d]];
        box.to_step[d] = step;
        step *= box.size[d];
    }
    hlo_box_copy(&box, from->data, moved->data, from->element_bytes);
    HloStatus status = hlo_datum_new_wide(vm, from->shape, hlo_wide_of(type), out);
    if (hlo_is_ok(status)) hlo_convert_wide(from->shape->type, moved->data, type, (*out)->data, moved->count);
    hlo_datum_drop(vm, moved);
    return status;
}

// ---- dot ------------------------------------------------------------------------------------------------

void hlo_order_put(HloDimOrder *order, HloDims dims) {
    for (size_t k = 0; k < dims.count; k++) order->dims[order->count++] = dims.data[k];
}

void hlo_order_put_rest(HloDimOrder *order, size_t rank, HloDims a, HloDims b) {
    for (size_t d = 0; d < rank; d++) {
        if (!hlo_dims_has(a, (int64_t)d) && !hlo_dims_has(b, (int64_t)d)) order->dims[order->count++] = (int64_t)d;
    }
}

int64_t hlo_order_product(const HloShape *shape, const HloDimOrder *order, size_t from, size_t to) {
    int64_t result = 1;
    for (size_t k = from; k < to; k++) result *= shape->dims[order->dims[k]];
    return result;
}

static void put_columns(HloDimOrder *order, size_t rank, HloDims batch, HloDims inner, HloDims group) {
    for (size_t d = 0; d < rank; d++) {
        int64_t dim = (int64_t)d;
        bool elsewhere = hlo_dims_has(batch, dim) || hlo_dims_has(inner, dim) || hlo_dims_has(group, dim);
        if (!elsewhere) order->dims[order->count++] = dim;
    }
}

HloDotPlan hlo_plan_dot(const HloInstruction *inst, const HloShape *left, const HloShape *right, HloDims group) {
    HloDims left_batch = hlo_dims(inst, HLO_ATTR_LHS_BATCH_DIMS), right_batch = hlo_dims(inst, HLO_ATTR_RHS_BATCH_DIMS);
    HloDims left_inner = hlo_dims(inst, HLO_ATTR_LHS_CONTRACTING_DIMS);
    HloDims right_inner = hlo_dims(inst, HLO_ATTR_RHS_CONTRACTING_DIMS);
    HloDotPlan plan = {.a = {.count = 0}};
    hlo_order_put(&plan.a, left_batch);
    hlo_order_put_rest(&plan.a, left->rank, left_batch, left_inner);
    hlo_order_put(&plan.a, left_inner);
    hlo_order_put(&plan.b, group);
    hlo_order_put(&plan.b, right_batch);
    hlo_order_put(&plan.b, right_inner);
    put_columns(&plan.b, right->rank, right_batch, right_inner, group);
    size_t batch = left_batch.count, rows = left->rank - left_inner.count;
    plan.sizes = (HloDotSizes){
        hlo_order_product(left, &plan.a, 0, batch), hlo_order_product(left, &plan.a, batch, rows),
        hlo_order_product(right, &plan.b, group.count + right_batch.count + right_inner.count, right->rank),
        hlo_order_product(left, &plan.a, rows, left->rank)};
    return plan;
}

// Rows of the result are taken in pieces of a block, so that the accumulators stay in the cache.
void hlo_multiply_rows(HloDotSizes n, HloType type, const char *a, const char *b, char *out) {
    HloWide wide = hlo_wide_of(type);
    HloKernel kernel = hlo_multiply_add(wide);
    int64_t unit = (int64_t)hlo_wide_bytes(wide), bytes = (int64_t)hlo_element_bytes(type);
    HloBlock acc;
    for (int64_t row = 0; row < n.batch * n.rows; row++) {
        const char *batch_b = b + row / n.rows * n.inner * n.columns * unit;
        for (int64_t at = 0; at < n.columns; at += HLO_BLOCK) {
            int64_t count = n.columns - at < HLO_BLOCK ? n.columns - at : HLO_BLOCK;
            memset(acc.bytes, 0, (size_t)(count * unit));
            for (int64_t k = 0; k < n.inner; k++) {
                kernel(count, acc.bytes, a + (row * n.inner + k) * unit, batch_b + (k * n.columns + at) * unit);
            }
            hlo_narrow(type, acc.bytes, count, out + (row * n.columns + at) * bytes);
        }
    }
}

HLO_RULE(hlo_rule_dot) {
    if (hlo_operand_count(inst) != 2) return hlo_error(HLO_UNIMPLEMENTED, "sparse dots cannot be interpreted");
    HloDotPlan plan = hlo_plan_dot(inst, args[0]->shape, args[1]->shape, (HloDims){NULL, 0});
    HLO_TRY(hlo_datum_new(vm, inst->shape, out));
    if (!(*out)->count) return hlo_ok();
    HloDatum *a = NULL, *b = NULL;
    HloStatus status = hlo_arrange(vm, args[0], inst->shape->type, &plan.a, &a);
    if (hlo_is_ok(status)) status = hlo_arrange(vm, args[1], inst->shape->type, &plan.b, &b);
    if (hlo_is_ok(status)) hlo_multiply_rows(plan.sizes, inst->shape->type, a->data, b->data, (*out)->data);
    hlo_datum_drop(vm, a);
    hlo_datum_drop(vm, b);
    return status;
}

// ---- convolution ----------------------------------------------------------------------------------------

typedef struct Convolution {
    HloType type;
    const HloWindow *window;
    size_t spatial;
    int64_t input_sizes[HLO_EVAL_RANK], kernel_sizes[HLO_EVAL_RANK], output_sizes[HLO_EVAL_RANK];
    int64_t batches, input_features, output_features;
    int64_t group_inputs, group_outputs;    // features of one feature group
    int64_t batch_outputs, batch_distance;  // of one batch group: output features, and input batches to the next
    int64_t input_points;
    const char *input, *kernel;  // [batch, spatial…, feature] and [spatial…, input feature, output feature], wide
    HloKernel multiply_add;
    int64_t unit;
} Convolution;

// Row-major number of the input point that kernel point `k` meets at output point `o`, or -1.
static int64_t meeting_point(const Convolution *c, const int64_t *o, const int64_t *k) {
    int64_t point = 0;
    for (size_t d = 0; d < c->spatial; d++) {
        const HloWindowDim *w = c->window->dims + d;
        int64_t at = o[d] * w->stride - w->pad_low + k[d] * w->window_dilation;
        if (at < 0 || at % w->base_dilation || at / w->base_dilation >= c->input_sizes[d]) return -1;
        point = point * c->input_sizes[d] + at / w->base_dilation;
    }
    return point;
}

static int64_t kernel_point(const Convolution *c, const int64_t *k) {
    int64_t point = 0;
    for (size_t d = 0; d < c->spatial; d++) {
        const HloWindowDim *w = c->window->dims + d;
        point = point * c->kernel_sizes[d] + (w->reversal ? c->kernel_sizes[d] - 1 - k[d] : k[d]);
    }
    return point;
}

// Adds what one kernel point contributes to output features [first, end), which belong to one group of each kind.
static void add_point(const Convolution *c, int64_t batch, int64_t input_point, int64_t kernel_at, int64_t first,
                      int64_t end, char *acc) {
    int64_t group = first / c->group_outputs, input_batch = batch + first / c->batch_outputs * c->batch_distance;
    const char *input =
        c->input +
        ((input_batch * c->input_points + input_point) * c->input_features + group * c->group_inputs) * c->unit;
    const char *kernel = c->kernel + (kernel_at * c->group_inputs * c->output_features + first) * c->unit;
    for (int64_t i = 0; i < c->group_inputs; i++) {
        c->multiply_add(end - first, acc, input + i * c->unit, kernel + i * c->output_features * c->unit);
    }
}

// The sums of one output point over all kernel points, for output features [first, end).
static void convolve_point(const Convolution *c, int64_t batch, const int64_t *o, int64_t first, int64_t end,
                           char *acc) {
    int64_t k[HLO_EVAL_RANK] = {0};
    memset(acc, 0, (size_t)((end - first) * c->unit));
    if (!hlo_index_exists(c->spatial, c->kernel_sizes)) return;
    do {
        int64_t input_point = meeting_point(c, o, k);
        if (input_point >= 0) add_point(c, batch, input_point, kernel_point(c, k), first, end, acc);
    } while (hlo_index_next(c->spatial, c->kernel_sizes, k));
}

// Integer results keep to the ends of their type instead of wrapping.
static void store_sums(const Convolution *c, const char *sums, int64_t n, char *to) {
    HloTypeClass class = hlo_type_class(c->type);
    int bits = hlo_type_bits(c->type);
    if (bits == 64 || bits < 8 || (class != HLO_CLASS_SIGNED && class != HLO_CLASS_UNSIGNED)) {
        hlo_narrow(c->type, sums, n, to);
        return;
    }
    HloBlock kept;
    int64_t high = class == HLO_CLASS_SIGNED ? ((int64_t)1 << (bits - 1)) - 1 : ((int64_t)1 << bits) - 1;
    int64_t low = class == HLO_CLASS_SIGNED ? -high - 1 : 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t sum = ((const int64_t *)(const void *)sums)[i];
        ((int64_t *)(void *)kept.bytes)[i] = sum > high ? high : sum < low ? low : sum;
    }
    hlo_narrow(c->type, kept.bytes, n, to);
}

// The end of the run of output features from `first` on that share their groups and fit a block.
static int64_t run_end(const Convolution *c, int64_t first) {
    int64_t group_end = (first / c->group_outputs + 1) * c->group_outputs;
    int64_t batch_end = (first / c->batch_outputs + 1) * c->batch_outputs;
    int64_t end = group_end < batch_end ? group_end : batch_end;
    return end - first > HLO_BLOCK ? first + HLO_BLOCK : end;
}

// The result as [batch, spatial…, feature].
static void convolve(const Convolution *c, char *out) {
    HloBlock acc;
    int64_t bytes = (int64_t)hlo_element_bytes(c->type);
    for (int64_t batch = 0; batch < c->batches; batch++) {
        int64_t o[HLO_EVAL_RANK] = {0};
        do {
            for (int64_t first = 0, end; first < c->output_features; first = end) {
                end = run_end(c, first);
                convolve_point(c, batch, o, first, end, acc.bytes);
                store_sums(c, acc.bytes, end - first, out);
                out += (end - first) * bytes;
            }
        } while (hlo_index_next(c->spatial, c->output_sizes, o));
    }
}

static Convolution describe(const HloInstruction *inst, const HloConvDims *dims, const HloShape *input,
                            const HloShape *kernel) {
    const HloShape *output = inst->shape;
    int64_t groups = hlo_int(inst, HLO_ATTR_FEATURE_GROUP_COUNT);
    int64_t batch_groups = hlo_int(inst, HLO_ATTR_BATCH_GROUP_COUNT);
    Convolution c = {.type = output->type, .window = hlo_data(inst, HLO_ATTR_WINDOW), .spatial = dims->spatial_count};
    c.batches = output->dims[dims->output_batch];
    c.input_features = input->dims[dims->input_feature];
    c.output_features = output->dims[dims->output_feature];
    c.group_inputs = kernel->dims[dims->kernel_input_feature];
    c.group_outputs = c.output_features / groups;
    c.batch_outputs = c.output_features / batch_groups;
    c.batch_distance = input->dims[dims->input_batch] / batch_groups;
    c.input_points = 1;
    for (size_t d = 0; d < c.spatial; d++) {
        c.input_sizes[d] = input->dims[dims->input_spatial[d]];
        c.kernel_sizes[d] = kernel->dims[dims->kernel_spatial[d]];
        c.output_sizes[d] = output->dims[dims->output_spatial[d]];
        c.input_points *= c.input_sizes[d];
    }
    c.multiply_add = hlo_multiply_add(hlo_wide_of(c.type));
    c.unit = (int64_t)hlo_wide_bytes(hlo_wide_of(c.type));
    return c;
}

static HloDimOrder order_of(int64_t first, const int64_t *spatial, size_t count, int64_t last) {
    HloDimOrder order = {.count = 0};
    if (first >= 0) order.dims[order.count++] = first;
    for (size_t d = 0; d < count; d++) order.dims[order.count++] = spatial[d];
    if (last >= 0) order.dims[order.count++] = last;
    return order;
}

// From [batch, spatial…, feature] to the order of the result.
static void place_output(const HloConvDims *dims, const char *from, HloDatum *out) {
    HloDimOrder order = order_of(dims->output_batch, dims->output_spatial, dims->spatial_count, dims->output_feature);
    HloBox box = {.rank = order.count};
    int64_t steps[HLO_EVAL_RANK], step = 1;
    hlo_row_steps(out->shape, steps);
    for (size_t d = order.count; d-- > 0;) {
        box.size[d] = out->shape->dims[order.dims[d]];
        box.to_step[d] = steps[order.dims[d]];
        box.from_step[d] = step;
        step *= box.size[d];
    }
    hlo_box_copy(&box, from, out->data, out->element_bytes);
}

HLO_RULE(hlo_rule_convolution) {
    const HloConvDims *dims = hlo_data(inst, HLO_ATTR_DIM_LABELS);
    if (hlo_has(inst, HLO_ATTR_SPARSITY_CONFIG)) {
        return hlo_error(HLO_UNIMPLEMENTED, "sparse convolutions cannot be interpreted");
    }
    HLO_TRY(hlo_datum_new(vm, inst->shape, out));
    if (!(*out)->count) return hlo_ok();
    Convolution c = describe(inst, dims, args[0]->shape, args[1]->shape);
    HloDimOrder input_order = order_of(dims->input_batch, dims->input_spatial, c.spatial, dims->input_feature);
    HloDimOrder kernel_order = order_of(-1, dims->kernel_spatial, c.spatial, dims->kernel_input_feature);
    kernel_order.dims[kernel_order.count++] = dims->kernel_output_feature;
    HloDatum *input = NULL, *kernel = NULL, *result = NULL;
    HloStatus status = hlo_arrange(vm, args[0], c.type, &input_order, &input);
    if (hlo_is_ok(status)) status = hlo_arrange(vm, args[1], c.type, &kernel_order, &kernel);
    if (hlo_is_ok(status)) status = hlo_datum_new(vm, inst->shape, &result);
    if (hlo_is_ok(status)) {
        c.input = input->data;
        c.kernel = kernel->data;
        convolve(&c, result->data);
        place_output(dims, result->data, *out);
    }
    hlo_datum_drop(vm, input);
    hlo_datum_drop(vm, kernel);
    hlo_datum_drop(vm, result);
    return status;
}
