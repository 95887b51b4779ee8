// algsimp: elementwise instructions with one operand, and complex.

#include "algsimp.h"

// ---- inverse pairs --------------------------------------------------------------------------------------

static HloInstruction *abs_non_negative(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloInstruction *x = hlo_operand(inst, 0);
    return x->shape->type == inst->shape->type && hlo_alg_is_non_negative(x) ? x : NULL;
}

// f(f(x)) -> x
static HloInstruction *twice(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloInstruction *inner = hlo_operand(inst, 0);
    return inner->op == inst->op ? hlo_operand(inner, 0) : NULL;
}

// exp(0) -> 1
static HloInstruction *exp_zero(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0), *splat = hlo_alg_splat_constant(x);
    return hlo_alg_is_scalar_value(splat ? splat : x, 0) ? hlo_alg_like(alg, inst, 1) : NULL;
}

// ---- roots ----------------------------------------------------------------------------------------------

// sqrt(a · a) -> |a|. Fast math only: sqrt(1e30 · 1e30) overflows to inf in f32.
static HloInstruction *sqrt_square(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *square = hlo_operand(inst, 0);
    if (!alg->fast_math || square->op != HLO_OP_MULTIPLY || hlo_operand(square, 0) != hlo_operand(square, 1))
        return NULL;
    HloInstruction *a = hlo_operand(square, 0);
    if (!hlo_type_is_complex(a->shape->type)) return hlo_alg_unary(alg, inst->shape, HLO_OP_ABS, a);
    const HloShape *real = hlo_alg_retyped(alg, inst->shape, hlo_type_complex_part(a->shape->type));
    HloInstruction *magnitude = hlo_derive(alg->rw, hlo_alg_unary(alg, real, HLO_OP_ABS, a), inst);
    return hlo_alg_unary(alg, inst->shape, HLO_OP_CONVERT, magnitude);
}

// rsqrt(power(a, -2)) -> a
static HloInstruction *rsqrt_power(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloInstruction *power = hlo_operand(inst, 0);
    if (power->op != HLO_OP_POWER || !hlo_alg_is_all(hlo_operand(power, 1), -2)) return NULL;
    return hlo_alg_is_non_negative(hlo_operand(power, 0)) ? hlo_operand(power, 0) : NULL;
}

// rsqrt(1 / a) -> sqrt(a)
static HloInstruction *rsqrt_reciprocal(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *divide = hlo_operand(inst, 0);
    if (divide->op != HLO_OP_DIVIDE || !hlo_alg_is_all(hlo_operand(divide, 0), 1)) return NULL;
    HloInstruction *a = hlo_operand(divide, 1);
    return hlo_alg_is_non_negative(a) ? hlo_alg_unary(alg, inst->shape, HLO_OP_SQRT, a) : NULL;
}

// ---- log ------------------------------------------------------------------------------------------------

// log(exp(a)) -> a. Fast math only: exp(100) overflows to inf in f32.
static HloInstruction *log_exp(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *exp = hlo_operand(inst, 0);
    return alg->fast_math && exp->op == HLO_OP_EXP ? hlo_operand(exp, 0) : NULL;
}

// log(power(a, b)) -> b = 0 ? 0 : log(|a|) · b. Only for a that is never negative: log(power(-2, 3)) is nan.
static HloInstruction *log_power(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *power = hlo_operand(inst, 0);
    if (power->op != HLO_OP_POWER) return NULL;
    HloInstruction *a = hlo_operand(power, 0), *b = hlo_operand(power, 1), *log_a = a;
    if (!alg->fast_math && !alg->as_reference && !hlo_alg_is_non_negative(a)) return NULL;
    HloInstruction *is_zero = hlo_build_compare(alg->rw, HLO_COMPARE_DIRECTION_EQ, b, hlo_alg_like(alg, b, 0));
    const HloShape *shape = inst->shape;
    HloInstruction *zero = hlo_alg_like(alg, inst, 0);
    if (!hlo_type_is_complex(a->shape->type)) {
        log_a = hlo_derive(alg->rw, hlo_alg_unary(alg, shape, HLO_OP_ABS, a), inst);
    }
    log_a = hlo_derive(alg->rw, hlo_alg_unary(alg, shape, HLO_OP_LOG, log_a), inst);
    HloInstruction *product = hlo_derive(alg->rw, hlo_alg_binary(alg, shape, HLO_OP_MULTIPLY, log_a, b), power);
    return hlo_build(alg->rw, HLO_OP_SELECT, shape, (HloInstruction *[]){is_zero, zero, product}, 3);
}

// log(from(a)) -> log(a) · factor
static HloInstruction *log_root(HloAlg *alg, HloInstruction *inst, HloOpcode from, double factor) {
    HloInstruction *root = hlo_operand(inst, 0);
    if (root->op != from) return NULL;
    HloInstruction *a = hlo_operand(root, 0);
    HloInstruction *log_a = hlo_derive(alg->rw, hlo_alg_unary(alg, inst->shape, HLO_OP_LOG, a), inst);
    if (!log_a) return NULL;
    return hlo_alg_binary(alg, inst->shape, HLO_OP_MULTIPLY, log_a, hlo_alg_like(alg, log_a, factor));
}

static HloInstruction *log_sqrt(HloAlg *alg, HloInstruction *inst) {
    return log_root(alg, inst, HLO_OP_SQRT, 0.5);
}

static HloInstruction *log_rsqrt(HloAlg *alg, HloInstruction *inst) {
    return log_root(alg, inst, HLO_OP_RSQRT, -0.5);
}

// ---- complex numbers ------------------------------------------------------------------------------------

// complex(real(c), imag(c)) -> c
static HloInstruction *complex_parts(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloInstruction *re = hlo_operand(inst, 0), *im = hlo_operand(inst, 1);
    if (re->op != HLO_OP_REAL || im->op != HLO_OP_IMAG || hlo_operand(re, 0) != hlo_operand(im, 0)) return NULL;
    HloInstruction *c = hlo_operand(re, 0);
    return c->shape->type == inst->shape->type ? c : NULL;
}

static HloInstruction *real_complex(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloInstruction *x = hlo_operand(inst, 0);
    return x->op == HLO_OP_COMPLEX ? hlo_operand(x, 0) : NULL;
}

static HloInstruction *real_real(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloInstruction *x = hlo_operand(inst, 0);
    return x->shape->type == inst->shape->type ? x : NULL;
}

static HloInstruction *imag_complex(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloInstruction *x = hlo_operand(inst, 0);
    return x->op == HLO_OP_COMPLEX ? hlo_operand(x, 1) : NULL;
}

static HloInstruction *imag_real(HloAlg *alg, HloInstruction *inst) {
    if (hlo_type_is_complex(hlo_operand(inst, 0)->shape->type)) return NULL;
    return hlo_alg_splat(alg, inst->shape, hlo_alg_scalar(alg, inst->shape->type, 0));
}

static const HloAlgRule rules[] = {
    {HLO_OP_ABS, "abs-non-negative", abs_non_negative, HLO_ALG_PLAIN},
    {HLO_OP_NEGATE, "negate-twice", twice, HLO_ALG_COMPAT},
    {HLO_OP_NOT, "not-twice", twice, HLO_ALG_COMPAT},
    {HLO_OP_EXP, "exp-zero", exp_zero, HLO_ALG_PLAIN},
    {HLO_OP_SQRT, "sqrt-square", sqrt_square, HLO_ALG_PLAIN},
    {HLO_OP_RSQRT, "rsqrt-power", rsqrt_power, HLO_ALG_PLAIN},
    {HLO_OP_RSQRT, "rsqrt-reciprocal", rsqrt_reciprocal, HLO_ALG_PLAIN},
    {HLO_OP_LOG, "log-exp", log_exp, HLO_ALG_COMPAT},
    {HLO_OP_LOG, "log-power", log_power, HLO_ALG_PLAIN},
    {HLO_OP_LOG, "log-sqrt", log_sqrt, HLO_ALG_PLAIN},
    {HLO_OP_LOG, "log-rsqrt", log_rsqrt, HLO_ALG_PLAIN},
    {HLO_OP_COMPLEX, "complex-parts", complex_parts, HLO_ALG_PLAIN},
    {HLO_OP_REAL, "real-complex", real_complex, HLO_ALG_PLAIN},
    {HLO_OP_REAL, "real-real", real_real, HLO_ALG_PLAIN},
    {HLO_OP_IMAG, "imag-complex", imag_complex, HLO_ALG_PLAIN},
    {HLO_OP_IMAG, "imag-real", imag_real, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_unary_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
