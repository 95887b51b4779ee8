// batch-norm-training, -inference and -grad, in the formulas of the interpreter chapter, §6.7.
//
// Every step rounds to the element type, as if it were an instruction of its own; sums are taken in double and rounded
// once.

#include <math.h>

#include "lib/eval/eval.h"

// An operand of shape [outer, features, inner].
typedef struct Norm {
    HloType type;
    int64_t outer, features, inner;
    double count;  // elements of a feature, as the type has it
    double epsilon;
} Norm;

static double rounded(HloType type, double value) {
    return hlo_float_decode(type, hlo_float_encode(type, value));
}

static double read_at(const HloDatum *datum, int64_t at) {
    double value;
    hlo_convert(datum->shape->type, datum->data + at * datum->element_bytes, HLO_F64, &value, 1);
    return value;
}

static void write_at(HloDatum *datum, int64_t at, double value) {
    uint64_t bits = hlo_float_encode(datum->shape->type, value);
    memcpy(datum->data + at * datum->element_bytes, &bits, datum->element_bytes);
}

static Norm describe(const HloInstruction *inst, const HloShape *shape) {
    int64_t feature = hlo_int(inst, HLO_ATTR_FEATURE_INDEX);
    Norm n = {.type = shape->type, .outer = 1, .features = shape->dims[feature], .inner = 1};
    for (int64_t d = 0; d < feature; d++) n.outer *= shape->dims[d];
    for (size_t d = (size_t)feature + 1; d < shape->rank; d++) n.inner *= shape->dims[d];
    n.count = rounded(n.type, (double)(int32_t)(n.outer * n.inner));
    n.epsilon = rounded(n.type, hlo_float(inst, HLO_ATTR_EPSILON));
    return n;
}

// Position of element `i` of a feature.
static int64_t position(const Norm *n, int64_t feature, int64_t i) {
    return (i / n->inner * n->features + feature) * n->inner + i % n->inner;
}

// 1 / sqrt(variance + epsilon)
static double inverse_deviation(const Norm *n, double variance) {
    double root = rounded(n->type, sqrt(rounded(n->type, variance + n->epsilon)));
    return rounded(n->type, 1 / root);
}

// Sum over a feature of x, of x * x, or of x times something else.
static double feature_sum(const Norm *n, int64_t feature, const HloDatum *x, const HloDatum *factor, double shift) {
    double sum = 0;
    for (int64_t i = 0; i < n->outer * n->inner; i++) {
        int64_t at = position(n, feature, i);
        double value = read_at(x, at);
        if (factor) value = rounded(n->type, value * rounded(n->type, read_at(factor, at) - shift));
        sum += value;
    }
    return rounded(n->type, sum);
}

static HloStatus check_type(const HloInstruction *inst) {
    HloType type = hlo_operand(inst, 0)->shape->type;
    if (hlo_type_is_float(type)) return hlo_ok();
    return hlo_error(HLO_UNIMPLEMENTED, "%s is not defined on %s", hlo_op_name(inst->op), hlo_type_name(type));
}

HLO_RULE(hlo_rule_batch_norm_training) {
    HLO_TRY(check_type(inst));
    Norm n = describe(inst, args[0]->shape);
    HLO_TRY(hlo_datum_new_like(vm, inst->shape, out));
    HloDatum **leaves = (*out)->elements;
    for (int64_t f = 0; f < n.features; f++) {
        double mean = rounded(n.type, feature_sum(&n, f, args[0], NULL, 0) / n.count);
        double square = rounded(n.type, feature_sum(&n, f, args[0], args[0], 0) / n.count);
        double variance = rounded(n.type, square - rounded(n.type, mean * mean));
        double scale = read_at(args[1], f), offset = read_at(args[2], f), inverse = inverse_deviation(&n, variance);
        for (int64_t i = 0; i < n.outer * n.inner; i++) {
            int64_t at = position(&n, f, i);
            double centred = rounded(n.type, read_at(args[0], at) - mean);
            double normal = rounded(n.type, rounded(n.type, centred * inverse) * scale);
            write_at(leaves[0], at, normal + offset);
        }
        write_at(leaves[1], f, mean);
        write_at(leaves[2], f, variance);
    }
    return hlo_ok();
}

// operands: x, scale, offset, mean, variance
HLO_RULE(hlo_rule_batch_norm_inference) {
    HLO_TRY(check_type(inst));
    Norm n = describe(inst, args[0]->shape);
    HLO_TRY(hlo_datum_new(vm, inst->shape, out));
    for (int64_t f = 0; f < n.features; f++) {
        double scale = rounded(n.type, read_at(args[1], f) * inverse_deviation(&n, read_at(args[4], f)));
        double shift = rounded(n.type, read_at(args[2], f) - rounded(n.type, read_at(args[3], f) * scale));
        for (int64_t i = 0; i < n.outer * n.inner; i++) {
            int64_t at = position(&n, f, i);
            write_at(*out, at, rounded(n.type, read_at(args[0], at) * scale) + shift);
        }
    }
    return hlo_ok();
}

// One feature of the gradients, given the sums S1 of g and S2 of g * (x - mean).
static void put_gradient(const Norm *n, int64_t f, HloDatum *const *args, double s1, double s2, HloDatum *to) {
    HloType type = n->type;
    double mean = read_at(args[2], f), variance = read_at(args[3], f);
    double factor = rounded(type, read_at(args[1], f) * inverse_deviation(n, variance));
    factor = rounded(type, factor / n->count);
    double slope = rounded(type, s2 / rounded(type, variance + n->epsilon));
    for (int64_t i = 0; i < n->outer * n->inner; i++) {
        int64_t at = position(n, f, i);
        double centred = rounded(type, read_at(args[0], at) - mean);
        double value = rounded(type, rounded(type, n->count * read_at(args[4], at)) - s1);
        value = rounded(type, value - rounded(type, centred * slope));
        write_at(to, at, factor * value);
    }
}

// operands: x, scale, mean, variance, gradient of the output
HLO_RULE(hlo_rule_batch_norm_grad) {
    HLO_TRY(check_type(inst));
    Norm n = describe(inst, args[0]->shape);
    HLO_TRY(hlo_datum_new_like(vm, inst->shape, out));
    HloDatum **leaves = (*out)->elements;
    for (int64_t f = 0; f < n.features; f++) {
        double s1 = feature_sum(&n, f, args[4], NULL, 0);
        double s2 = feature_sum(&n, f, args[4], args[0], read_at(args[2], f));
        put_gradient(&n, f, args, s1, s2, leaves[0]);
        write_at(leaves[1], f, s2 * inverse_deviation(&n, read_at(args[3], f)));
        write_at(leaves[2], f, s1);
    }
    return hlo_ok();
}
