// Elementwise operations on runs of elements: operands are widened block by block, the kernel runs, the result is
// rounded once.
//
//   add bf16[n]   →   widen x, widen y, x + y in f32, round to bf16
//
// Most operations are lines of elementwise.def; here are those that depend on bits, on two types or on attributes.
// Source: the interpreter chapter, §3.

#include <complex.h>
#include <math.h>

#include "lib/eval/eval.h"

// Operand `k` of a block as the computation type of `type`.
static const void *load_as(const HloElementwise *op, HloType type, size_t k, const void *const *in, int64_t n,
                           HloBlock *block) {
    HloType own = hlo_operand(op->inst, k)->shape->type;
    if (own == type) return hlo_widen(type, in[k], n, block);
    HloBlock converted;
    hlo_convert(own, in[k], type, converted.bytes, n);
    const void *wide = hlo_widen(type, converted.bytes, n, block);
    if (wide != block->bytes) memcpy(block->bytes, wide, (size_t)n * hlo_element_bytes(type));
    return block->bytes;
}

static const void *load(const HloElementwise *op, size_t k, const void *const *in, int64_t n, HloBlock *block) {
    return load_as(op, op->in_type, k, in, n, block);
}

// Where a kernel writes: straight to the result when it is of the computation type.
static void *target(const HloElementwise *op, void *out, HloBlock *block) {
    return hlo_element_bytes(op->out_type) == hlo_wide_bytes(hlo_wide_of(op->out_type)) ? out : block->bytes;
}

static void run_kernel_1(const HloElementwise *op, int64_t n, const void *const *in, void *out) {
    HloBlock x, result;
    void *wide = target(op, out, &result);
    op->kernel(n, wide, load(op, 0, in, n, &x), NULL);
    hlo_narrow(op->out_type, wide, n, out);
}

static void run_kernel_2(const HloElementwise *op, int64_t n, const void *const *in, void *out) {
    HloBlock x, y, result;
    void *wide = target(op, out, &result);
    op->kernel(n, wide, load(op, 0, in, n, &x), load(op, 1, in, n, &y));
    hlo_narrow(op->out_type, wide, n, out);
}

static void run_copy(const HloElementwise *op, int64_t n, const void *const *in, void *out) {
    hlo_convert(op->in_type, in[0], op->out_type, out, n);
}

static void run_bits(const HloElementwise *op, int64_t n, const void *const *in, void *out) {
    memmove(out, in[0], (size_t)n * op->out_bytes);
}

// ---- bits of integers -----------------------------------------------------------------------------------

static uint64_t low_bits(uint64_t value, int bits) {
    return value & ~(uint64_t)0 >> (64 - bits);
}

static int64_t sign_extended(uint64_t value, int bits) {
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

// An amount of at least the width, negative ones included, shifts everything out.
static uint64_t shift_left(uint64_t x, uint64_t amount, int bits) {
    return low_bits(amount, bits) >= (uint64_t)bits ? 0 : x << amount;
}
static uint64_t shift_right_logical(uint64_t x, uint64_t amount, int bits) {
    return low_bits(amount, bits) >= (uint64_t)bits ? 0 : low_bits(x, bits) >> amount;
}
static uint64_t shift_right_arithmetic(uint64_t x, uint64_t amount, int bits) {
    int64_t value = sign_extended(x, bits);
    return (uint64_t)(low_bits(amount, bits) >= (uint64_t)bits ? value >> 63 : value >> amount);
}
static uint64_t multiply_high_signed(uint64_t x, uint64_t y, int bits) {
    return (uint64_t)((__int128)(int64_t)x * (int64_t)y >> bits);
}
static uint64_t multiply_high_unsigned(uint64_t x, uint64_t y, int bits) {
    return (uint64_t)((unsigned __int128)x * y >> bits);
}
static uint64_t count_ones(uint64_t x, uint64_t y, int bits) {
    (void)y;
    return (uint64_t)__builtin_popcountll(low_bits(x, bits));
}
static uint64_t count_leading_zeros(uint64_t x, uint64_t y, int bits) {
    (void)y;
    uint64_t value = low_bits(x, bits);
    return value ? (uint64_t)(__builtin_clzll(value) - (64 - bits)) : (uint64_t)bits;
}

typedef uint64_t (*BitFunction)(uint64_t x, uint64_t y, int bits);

static BitFunction bit_function(HloOpcode op, HloType type) {
    bool is_signed = hlo_type_class(type) == HLO_CLASS_SIGNED;
    switch ((int)op) {
    case HLO_OP_SHIFT_LEFT: return shift_left;
    case HLO_OP_SHIFT_RIGHT_LOGICAL: return shift_right_logical;
    case HLO_OP_SHIFT_RIGHT_ARITHMETIC: return shift_right_arithmetic;
    case HLO_OP_MULHI: return is_signed ? multiply_high_signed : multiply_high_unsigned;
    case HLO_OP_POPCNT: return count_ones;
    case HLO_OP_CLZ: return count_leading_zeros;
    default: return NULL;
    }
}

// Signed and unsigned computation types have the same bits, so one loop serves both.
static void run_bit_function(const HloElementwise *op, int64_t n, const void *const *in, void *out) {
    HloBlock x_block, y_block, result;
    BitFunction function = bit_function(op->inst->op, op->in_type);
    int bits = hlo_type_bits(op->in_type);
    const uint64_t *x = load(op, 0, in, n, &x_block), *y = op->arity > 1 ? load(op, 1, in, n, &y_block) : x;
    uint64_t *wide = (uint64_t *)result.bytes;
    for (int64_t i = 0; i < n; i++) wide[i] = function(x[i], y[i], bits);
    hlo_narrow(op->out_type, wide, n, out);
}

// ---- comparisons ----------------------------------------------------------------------------------------

// A number whose signed order is the total order of floats: -NaN < -inf < … < -0 < +0 < … < inf < NaN.
static int64_t total_order_key(const HloTypeInfo *info, uint64_t bits) {
    if (info->specials == HLO_SPECIALS_SCALE) return (int64_t)bits;
    uint64_t sign = (uint64_t)1 << (info->bits - 1);
    int64_t magnitude = (int64_t)(bits & (sign - 1));
    if (!(bits & sign)) return magnitude;
    return ~(info->specials == HLO_SPECIALS_FNUZ ? magnitude - 1 : magnitude);
}

int64_t hlo_order_key(HloType type, const char *element) {
    if (!hlo_type_is_float(type)) {
        HloBlock block;
        const int64_t *value = hlo_widen(type, element, 1, &block);
        return hlo_type_class(type) == HLO_CLASS_PRED ? *(const uint8_t *)value : *value;
    }
    uint64_t bits = 0;
    memcpy(&bits, element, hlo_element_bytes(type));
    return total_order_key(hlo_type_info(type), bits);
}

static void total_order_keys(HloType type, const void *from, int64_t n, int64_t *keys) {
    size_t bytes = hlo_element_bytes(type);
    for (int64_t i = 0; i < n; i++) keys[i] = hlo_order_key(type, (const char *)from + (size_t)i * bytes);
}

static void run_total_order(const HloElementwise *op, int64_t n, const void *const *in, void *out) {
    HloBlock x, y;
    total_order_keys(op->in_type, in[0], n, (int64_t *)x.bytes);
    total_order_keys(op->in_type, in[1], n, (int64_t *)y.bytes);
    op->kernel(n, out, x.bytes, y.bytes);
}

// ---- floats and complex numbers -------------------------------------------------------------------------

static void run_is_finite(const HloElementwise *op, int64_t n, const void *const *in, void *out) {
    HloBlock block;
    const void *x = load(op, 0, in, n, &block);
    bool is_double = op->in_type == HLO_F64;
    uint8_t *result = out;
    for (int64_t i = 0; i < n; i++) {
        result[i] = is_double ? isfinite(((const double *)x)[i]) : isfinite(((const float *)x)[i]);
    }
}

// A real number is its own real part, with an imaginary part of 0.
static void run_part(const HloElementwise *op, int64_t n, const void *const *in, void *out) {
    bool wants_imaginary = op->inst->op == HLO_OP_IMAG;
    if (!hlo_type_is_complex(op->in_type)) {
        if (wants_imaginary)
            memset(out, 0, (size_t)n * op->out_bytes);
        else
            memmove(out, in[0], (size_t)n * op->out_bytes);
        return;
    }
    const char *parts = (const char *)in[0] + (wants_imaginary ? op->out_bytes : 0);
    for (int64_t i = 0; i < n; i++) {
        memcpy((char *)out + (size_t)i * op->out_bytes, parts + (size_t)i * op->in_bytes[0], op->out_bytes);
    }
}

static void run_complex(const HloElementwise *op, int64_t n, const void *const *in, void *out) {
    size_t part = op->in_bytes[0];
    for (int64_t i = 0; i < n; i++) {
        char *to = (char *)out + (size_t)i * op->out_bytes;
        memcpy(to, (const char *)in[0] + (size_t)i * part, part);
        memcpy(to + part, (const char *)in[1] + (size_t)i * part, part);
    }
}

static void run_magnitude(const HloElementwise *op, int64_t n, const void *const *in, void *out) {
    for (int64_t i = 0; i < n; i++) {
        if (op->in_type == HLO_C64)
            ((float *)out)[i] = cabsf(((const float complex *)in[0])[i]);
        else
            ((double *)out)[i] = cabs(((const double complex *)in[0])[i]);
    }
}

typedef struct Precision {
    int from_exponent, from_mantissa;  // bits of the format at hand
    int exponent, mantissa;            // bits to keep
} Precision;

// §3.4: rounds the mantissa, then sends what is out of the exponent's range to infinity or to zero.
static uint64_t reduced(Precision p, uint64_t bits) {
    uint64_t sign = bits & (uint64_t)1 << (p.from_exponent + p.from_mantissa);
    uint64_t top = (uint64_t)1 << p.from_mantissa;
    uint64_t infinity = (((uint64_t)1 << p.from_exponent) - 1) << p.from_mantissa;
    bool is_nan = (bits & ~sign) > infinity;
    if (is_nan) return p.mantissa > 0 ? bits : infinity;
    if (p.mantissa < p.from_mantissa) {
        int dropped = p.from_mantissa - p.mantissa;
        uint64_t last = (uint64_t)1 << dropped;
        bits = (bits + last / 2 - 1 + (bits & last ? 1 : 0)) & ~(last - 1);
    }
    if (p.exponent >= p.from_exponent) return bits;
    int64_t bias = ((int64_t)1 << (p.from_exponent - 1)) - 1, range = ((int64_t)1 << (p.exponent - 1)) - 1;
    int64_t biased = (int64_t)((bits & ~sign) / top);
    if (biased - bias > range) return sign | infinity;
    return biased - bias <= -range ? sign : bits;
}

static void run_reduce_precision(const HloElementwise *op, int64_t n, const void *const *in, void *out) {
    HloBlock block, result;
    const char *x = load(op, 0, in, n, &block);
    bool is_double = op->in_type == HLO_F64;
    Precision p = {is_double ? 11 : 8, is_double ? 52 : 23, (int)hlo_int(op->inst, HLO_ATTR_EXPONENT_BITS),
                   (int)hlo_int(op->inst, HLO_ATTR_MANTISSA_BITS)};
    size_t bytes = is_double ? 8 : 4;
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = 0;
        memcpy(&bits, x + (size_t)i * bytes, bytes);
        bits = reduced(p, bits);
        memcpy(result.bytes + (size_t)i * bytes, &bits, bytes);
    }
    hlo_narrow(op->out_type, result.bytes, n, out);
}

// ---- three operands -------------------------------------------------------------------------------------

// Between values of two types, or of another type than the result.
static void run_mixed_select(const HloElementwise *op, int64_t n, const void *const *in, void *out) {
    const uint8_t *which = in[0];
    for (int64_t i = 0; i < n; i++) {
        size_t k = which[i] ? 1 : 2;
        const char *from = (const char *)in[k] + (size_t)i * op->in_bytes[k];
        hlo_convert(hlo_operand(op->inst, k)->shape->type, from, op->out_type, (char *)out + (size_t)i * op->out_bytes,
                    1);
    }
}

// In blocks of bytes, so that every type is copied alike.
static void run_select(const HloElementwise *op, int64_t n, const void *const *in, void *out) {
    const uint8_t *which = in[0];
    size_t bytes = op->out_bytes;
    for (int64_t i = 0; i < n; i++) {
        size_t at = (size_t)i * bytes;
        memmove((char *)out + at, (const char *)(which[i] ? in[1] : in[2]) + at, bytes);
    }
}

// min(high, max(low, x)), where NaN wins and, among equals, x over low and high over both.
static void run_clamp(const HloElementwise *op, int64_t n, const void *const *in, void *out) {
    HloBlock low_block, x_block, high_block, result;
    HloWide wide = hlo_wide_of(op->in_type);
    const void *low = load(op, 0, in, n, &low_block), *x = load(op, 1, in, n, &x_block);
    const void *high = load(op, 2, in, n, &high_block);
    hlo_binary_kernel(HLO_OP_MAXIMUM, wide)(n, result.bytes, x, low);
    hlo_binary_kernel(HLO_OP_MINIMUM, wide)(n, result.bytes, high, result.bytes);
    hlo_narrow(op->out_type, result.bytes, n, out);
}

// §3.6: rounds up with the probability of the fraction, which `random` decides.
static uint64_t stochastic(double x, uint64_t random, int random_bits, int bits) {
    double end = ldexp(1, bits - 1), magnitude = fabs(x);
    if (isnan(x)) return 0;
    if (x >= end - 1) return ((uint64_t)1 << (bits - 1)) - 1;
    if (x <= -end) return ~(uint64_t)0 << (bits - 1);
    uint64_t whole = (uint64_t)magnitude;
    double fraction = magnitude - (double)whole;
    if (fraction > 0 && (double)random < floor(ldexp(fraction, random_bits))) whole++;
    return signbit(x) ? -whole : whole;
}

static void run_stochastic_convert(const HloElementwise *op, int64_t n, const void *const *in, void *out) {
    HloBlock x_block, random_block, result;
    HloType random_type = hlo_operand(op->inst, 1)->shape->type;
    const void *x = load(op, 0, in, n, &x_block);
    const uint64_t *random = load_as(op, random_type, 1, in, n, &random_block);
    uint64_t *wide = (uint64_t *)result.bytes;
    for (int64_t i = 0; i < n; i++) {
        double value = op->in_type == HLO_F64 ? ((const double *)x)[i] : ((const float *)x)[i];
        wide[i] = stochastic(value, random[i], hlo_type_bits(random_type), hlo_type_bits(op->out_type));
    }
    hlo_narrow(op->out_type, wide, n, out);
}

// ---- preparing ------------------------------------------------------------------------------------------

static HloStatus unsupported(const HloInstruction *inst) {
    return hlo_error(HLO_UNIMPLEMENTED, "%s is not defined on %s", hlo_op_name(inst->op),
                     hlo_type_name(hlo_operand(inst, 0)->shape->type));
}

static HloStatus prepare_compare(HloElementwise *op) {
    bool total =
        hlo_int(op->inst, HLO_ATTR_COMPARE_TYPE) == HLO_COMPARE_TYPE_TOTALORDER && hlo_type_is_float(op->in_type);
    HloWide wide = total ? HLO_WIDE_S64 : hlo_wide_of(op->in_type);
    op->kernel = hlo_compare_kernel(hlo_int(op->inst, HLO_ATTR_DIRECTION), wide);
    op->run = total ? run_total_order : run_kernel_2;
    return op->kernel ? hlo_ok() : unsupported(op->inst);
}

// The computation is in the result's type, so that a mixed-precision operand is converted first.
static HloStatus prepare_kernel(HloElementwise *op) {
    op->in_type = op->out_type;
    HloWide wide = hlo_wide_of(op->in_type);
    op->kernel = op->arity == 1 ? hlo_unary_kernel(op->inst->op, wide) : hlo_binary_kernel(op->inst->op, wide);
    op->run = op->arity == 1 ? run_kernel_1 : run_kernel_2;
    return op->kernel ? hlo_ok() : unsupported(op->inst);
}

static HloStatus prepare_integer(HloElementwise *op) {
    op->run = run_bit_function;
    return hlo_type_is_integral(op->in_type) ? hlo_ok() : unsupported(op->inst);
}

static HloStatus prepare_abs(HloElementwise *op) {
    if (!hlo_type_is_complex(op->in_type)) return prepare_kernel(op);
    op->run = run_magnitude;
    return hlo_ok();
}

// Inside regions only; the rule for arrays also changes widths.
static HloStatus prepare_bitcast_convert(HloElementwise *op) {
    op->run = run_bits;
    return op->in_bytes[0] == op->out_bytes ? hlo_ok() : unsupported(op->inst);
}

static HloStatus prepare_float(HloElementwise *op) {
    op->run = op->inst->op == HLO_OP_IS_FINITE ? run_is_finite : run_reduce_precision;
    return hlo_type_is_float(op->in_type) ? hlo_ok() : unsupported(op->inst);
}

static HloStatus prepare_stochastic(HloElementwise *op) {
    op->run = run_stochastic_convert;
    bool known = hlo_type_is_float(op->in_type) && hlo_type_class(op->out_type) == HLO_CLASS_SIGNED;
    return known ? hlo_ok() : unsupported(op->inst);
}

static HloStatus prepare_clamp(HloElementwise *op) {
    op->in_type = op->out_type;
    op->run = run_clamp;
    return hlo_binary_kernel(HLO_OP_MAXIMUM, hlo_wide_of(op->in_type)) ? hlo_ok() : unsupported(op->inst);
}

static bool is_mixed(const HloElementwise *op) {
    return hlo_operand(op->inst, 1)->shape->type != op->out_type ||
           hlo_operand(op->inst, 2)->shape->type != op->out_type;
}

static HloStatus prepare_other(HloElementwise *op) {
    switch ((int)op->inst->op) {
    case HLO_OP_REAL:
    case HLO_OP_IMAG: op->run = run_part; break;
    case HLO_OP_COMPLEX: op->run = run_complex; break;
    case HLO_OP_SELECT: op->run = is_mixed(op) ? run_mixed_select : run_select; break;
    default: op->run = run_copy; break;  // copy, convert
    }
    bool drops_parts = op->run == run_copy && hlo_type_is_complex(op->in_type) && !hlo_type_is_complex(op->out_type);
    return drops_parts && op->out_type != HLO_PRED ? unsupported(op->inst) : hlo_ok();
}

typedef HloStatus (*Prepare)(HloElementwise *op);

static Prepare preparation(HloOpcode op) {
    switch ((int)op) {
    case HLO_OP_COMPARE: return prepare_compare;
    case HLO_OP_CLAMP: return prepare_clamp;
    case HLO_OP_ABS: return prepare_abs;
    case HLO_OP_BITCAST_CONVERT: return prepare_bitcast_convert;
    case HLO_OP_IS_FINITE:
    case HLO_OP_REDUCE_PRECISION: return prepare_float;
    case HLO_OP_STOCHASTIC_CONVERT: return prepare_stochastic;
    case HLO_OP_REAL:
    case HLO_OP_IMAG:
    case HLO_OP_COMPLEX:
    case HLO_OP_SELECT:
    case HLO_OP_COPY:
    case HLO_OP_CONVERT: return prepare_other;
    case HLO_OP_SHIFT_LEFT:
    case HLO_OP_SHIFT_RIGHT_LOGICAL:
    case HLO_OP_SHIFT_RIGHT_ARITHMETIC:
    case HLO_OP_MULHI:
    case HLO_OP_POPCNT:
    case HLO_OP_CLZ: return prepare_integer;
    default: return hlo_op_has(op, HLO_OPF_ELEMENTWISE) ? prepare_kernel : NULL;
    }
}

bool hlo_elementwise_knows(HloOpcode op) {
    return preparation(op) != NULL;
}

HloStatus hlo_elementwise_prepare(const HloInstruction *inst, HloElementwise *op) {
    *op = (HloElementwise){.inst = inst, .arity = hlo_operand_count(inst), .out_type = inst->shape->type};
    op->in_type = hlo_operand(inst, 0)->shape->type;
    op->out_bytes = hlo_element_bytes(op->out_type);
    for (size_t k = 0; k < op->arity; k++) op->in_bytes[k] = hlo_element_bytes(hlo_operand(inst, k)->shape->type);
    return preparation(inst->op)(op);
}

void hlo_elementwise_apply(const HloElementwise *op, int64_t n, const void *const *in, void *out) {
    for (int64_t at = 0; at < n; at += HLO_BLOCK) {
        const void *block[3];
        for (size_t k = 0; k < op->arity; k++) block[k] = (const char *)in[k] + (size_t)at * op->in_bytes[k];
        op->run(op, n - at < HLO_BLOCK ? n - at : HLO_BLOCK, block, (char *)out + (size_t)at * op->out_bytes);
    }
}
