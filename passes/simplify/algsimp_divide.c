// algsimp: divide, remainder, power.
//
// Divisions become multiplications, shifts and masks; small powers become products.

#include "algsimp.h"

static HloInstruction *product(HloAlg *alg, HloInstruction *inst, HloInstruction *a, HloInstruction *b) {
    return hlo_alg_binary(alg, inst->shape, HLO_OP_MULTIPLY, a, b);
}

// Rewrites that move an overflow or a rounding: asked for by fast math, or for comparison with the reference.
static bool may_change_range(const HloAlg *alg) {
    return alg->fast_math || alg->as_reference;
}

// ---- integers and powers of two -------------------------------------------------------------------------

// The exponent of an integer power of two that x is or broadcasts (signed: of a positive one); -1 for anything else.
static int power_of_two_exponent(HloInstruction *x) {
    HloInstruction *constant = hlo_alg_single_constant(x);
    if (!constant || !hlo_type_is_integral(constant->shape->type)) return -1;
    int64_t value = hlo_literal_int(hlo_constant(constant), 0);
    bool is_signed = hlo_type_class(constant->shape->type) == HLO_CLASS_SIGNED;
    uint64_t bits = (uint64_t)value;
    if (bits == 0 || (bits & (bits - 1)) || (is_signed && value < 0)) return -1;
    return __builtin_ctzll(bits);
}

// Truncating division by `op` on the magnitude: n = x < 0; q = op(|x|, amount); n ? -q : q. The magnitude of the
// smallest number does not fit, but its bits read without a sign are right, and `op` reads them so.
static HloInstruction *on_magnitude(HloAlg *alg, HloInstruction *inst, HloOpcode op, HloInstruction *zero,
                                    int64_t amount) {
    HloInstruction *x = hlo_operand(inst, 0);
    HloInstruction *is_negative =
        hlo_alg_binary(alg, hlo_alg_retyped(alg, x->shape, HLO_PRED), HLO_OP_COMPARE, x, zero);
    if (!is_negative) return NULL;
    hlo_set_int(alg->m, is_negative, HLO_ATTR_DIRECTION, HLO_COMPARE_DIRECTION_LT);
    hlo_derive(alg->rw, is_negative, inst);
    HloInstruction *negated = hlo_derive(alg->rw, hlo_alg_unary(alg, x->shape, HLO_OP_NEGATE, x), inst);
    HloInstruction *magnitude = hlo_derive(alg->rw, hlo_build_select(alg->rw, is_negative, negated, x), inst);
    if (!magnitude) return NULL;
    HloInstruction *by = hlo_alg_like_int(alg, magnitude, amount);
    HloInstruction *result = hlo_derive(alg->rw, hlo_alg_binary(alg, inst->shape, op, magnitude, by), inst);
    HloInstruction *opposite = hlo_derive(alg->rw, hlo_alg_unary(alg, inst->shape, HLO_OP_NEGATE, result), inst);
    return hlo_build_select(alg->rw, is_negative, opposite, result);
}

static HloInstruction *divide_one(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_alg_is_all(hlo_operand(inst, 1), 1) ? hlo_operand(inst, 0) : NULL;
}

// x / 2^k -> x >> k
static HloInstruction *divide_shift(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0);
    int exponent = power_of_two_exponent(hlo_operand(inst, 1));
    if (exponent < 0) return NULL;
    if (hlo_type_class(inst->shape->type) == HLO_CLASS_SIGNED) {
        return on_magnitude(alg, inst, HLO_OP_SHIFT_RIGHT_LOGICAL, hlo_alg_like(alg, x, 0), exponent);
    }
    return hlo_alg_binary(alg, inst->shape, HLO_OP_SHIFT_RIGHT_LOGICAL, x, hlo_alg_like_int(alg, x, exponent));
}

// ---- divide by a function -------------------------------------------------------------------------------

// exp(a) / exp(b) -> exp(a - b). Not by default: exp(100) / exp(99) is nan in f32.
static HloInstruction *divide_exps(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *a = hlo_operand(inst, 0), *b = hlo_operand(inst, 1);
    if (a->op != HLO_OP_EXP || b->op != HLO_OP_EXP || !may_change_range(alg)) return NULL;
    HloInstruction *difference =
        hlo_alg_binary(alg, inst->shape, HLO_OP_SUBTRACT, hlo_operand(a, 0), hlo_operand(b, 0));
    return hlo_alg_unary(alg, inst->shape, HLO_OP_EXP, hlo_derive(alg->rw, difference, inst));
}

// a / exp(b) -> a · exp(-b). Not by default: 0 / exp(-100) is nan, 0 · exp(100) too, but 1 / exp(88.8) is not 0.
static HloInstruction *divide_exp(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *exp = hlo_operand(inst, 1);
    if (exp->op != HLO_OP_EXP || !may_change_range(alg)) return NULL;
    HloInstruction *negated = hlo_alg_unary(alg, inst->shape, HLO_OP_NEGATE, hlo_operand(exp, 0));
    HloInstruction *inverse = hlo_alg_unary(alg, inst->shape, HLO_OP_EXP, hlo_derive(alg->rw, negated, inst));
    return product(alg, inst, hlo_operand(inst, 0), hlo_derive(alg->rw, inverse, exp));
}

// a / power(b, c) -> a · power(b, -c). Never for integers: 8 / 2^1 is 4 and 8 · 2^-1 is 0.
static HloInstruction *divide_power(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *power = hlo_operand(inst, 1);
    if (power->op != HLO_OP_POWER || hlo_type_is_integral(inst->shape->type) || !may_change_range(alg)) return NULL;
    HloInstruction *b = hlo_operand(power, 0), *c = hlo_operand(power, 1);
    HloInstruction *negated = hlo_derive(alg->rw, hlo_alg_unary(alg, c->shape, HLO_OP_NEGATE, c), power);
    HloInstruction *inverse = hlo_derive(alg->rw, hlo_alg_binary(alg, b->shape, HLO_OP_POWER, b, negated), power);
    return product(alg, inst, hlo_operand(inst, 0), inverse);
}

// a / from(b) -> a · to(b) for a pair of inverse roots.
static HloInstruction *divide_root(HloAlg *alg, HloInstruction *inst, HloOpcode from, HloOpcode to) {
    HloInstruction *root = hlo_operand(inst, 1);
    if (root->op != from || !hlo_alg_has_one_use(root) || !may_change_range(alg)) return NULL;
    HloInstruction *inverse = hlo_alg_unary(alg, inst->shape, to, hlo_operand(root, 0));
    return product(alg, inst, hlo_operand(inst, 0), hlo_derive(alg->rw, inverse, root));
}

// a / sqrt(b) -> a · rsqrt(b). Not by default: 3 / sqrt(9) is 1 exactly, 3 · rsqrt(9) need not be.
static HloInstruction *divide_sqrt(HloAlg *alg, HloInstruction *inst) {
    return divide_root(alg, inst, HLO_OP_SQRT, HLO_OP_RSQRT);
}

static HloInstruction *divide_rsqrt(HloAlg *alg, HloInstruction *inst) {
    return divide_root(alg, inst, HLO_OP_RSQRT, HLO_OP_SQRT);
}

static HloInstruction *divide_is_integral(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_type_is_integral(inst->shape->type) ? inst : NULL;
}

// ---- divide by a constant -------------------------------------------------------------------------------

static void invert(HloLiteral *to, const HloLiteral *from, int64_t at) {
    double re = hlo_literal_double(from, at);
    if (!hlo_type_is_complex(from->shape->type)) {
        hlo_literal_set_double(to, at, 1 / re);
        return;
    }
    double im = hlo_literal_imag(from, at);
    double norm = re * re + im * im;
    hlo_literal_set_complex(to, at, re / norm, (0 - im) / norm);  // 0, not -0, for a real number
}

static HloInstruction *inverse_constant(HloAlg *alg, HloInstruction *constant) {
    const HloLiteral *from = hlo_constant(constant);
    if (from->elided) return NULL;
    HloLiteral *to = hlo_literal_clone(&alg->m->arena, from, constant->shape);
    for (int64_t at = 0; at < from->elem_count; at++) invert(to, from, at);
    return hlo_derive(alg->rw, hlo_build_constant(alg->rw, to), constant);
}

// x / c -> x · (1 / c), also for c below a broadcast. The reciprocal is rounded, as users of the reference expect.
static HloInstruction *divide_const(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0), *right = hlo_operand(inst, 1);
    HloInstruction *c = right->op == HLO_OP_BROADCAST ? hlo_operand(right, 0) : right;
    if (hlo_alg_is_constant(x) || !hlo_alg_is_constant(c)) return NULL;
    HloInstruction *inverse = inverse_constant(alg, c);
    if (inverse && c != right) {
        inverse = hlo_build_broadcast(alg->rw, right->shape, inverse, hlo_dims(right, HLO_ATTR_DIMENSIONS));
        hlo_derive(alg->rw, inverse, right);
    }
    return inverse ? hlo_build_binary(alg->rw, HLO_OP_MULTIPLY, x, inverse) : NULL;
}

// a / broadcast(b) -> a · broadcast(1 / b): one division per element of b.
static HloInstruction *divide_broadcast(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *right = hlo_operand(inst, 1), *b = hlo_alg_broadcast_operand(right);
    if (!alg->on_cpu || !alg->sink_broadcast || !b || !hlo_alg_has_one_use(b)) return NULL;
    if (hlo_type_is_complex(b->shape->type) && !alg->fast_math) return NULL;
    HloInstruction *inverse = hlo_alg_binary(alg, b->shape, HLO_OP_DIVIDE, hlo_alg_like(alg, b, 1), b);
    if (!hlo_derive(alg->rw, inverse, inst)) return NULL;
    inverse = hlo_build_broadcast(alg->rw, right->shape, inverse, hlo_dims(right, HLO_ATTR_DIMENSIONS));
    return product(alg, inst, hlo_operand(inst, 0), hlo_derive(alg->rw, inverse, inst));
}

// ---- nested divisions -----------------------------------------------------------------------------------

// (a / b) / (c / d) -> (a · d) / (b · c)
static HloInstruction *divide_quotients(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *left = hlo_operand(inst, 0), *right = hlo_operand(inst, 1);
    if (left->op != HLO_OP_DIVIDE || right->op != HLO_OP_DIVIDE) return NULL;
    HloInstruction *ad = hlo_build_binary(alg->rw, HLO_OP_MULTIPLY, hlo_operand(left, 0), hlo_operand(right, 1));
    HloInstruction *bc = hlo_build_binary(alg->rw, HLO_OP_MULTIPLY, hlo_operand(left, 1), hlo_operand(right, 0));
    return bc ? hlo_build_binary(alg->rw, HLO_OP_DIVIDE, ad, bc) : NULL;
}

// (a / b) / c -> a / (b · c)
static HloInstruction *divide_quotient(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *left = hlo_operand(inst, 0);
    if (left->op != HLO_OP_DIVIDE) return NULL;
    HloInstruction *bc = hlo_build_binary(alg->rw, HLO_OP_MULTIPLY, hlo_operand(left, 1), hlo_operand(inst, 1));
    return bc ? hlo_build_binary(alg->rw, HLO_OP_DIVIDE, hlo_operand(left, 0), bc) : NULL;
}

// a / (b / c) -> (a · c) / b
static HloInstruction *divide_by_quotient(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *right = hlo_operand(inst, 1);
    if (right->op != HLO_OP_DIVIDE) return NULL;
    HloInstruction *ac = hlo_build_binary(alg->rw, HLO_OP_MULTIPLY, hlo_operand(inst, 0), hlo_operand(right, 1));
    return ac ? hlo_build_binary(alg->rw, HLO_OP_DIVIDE, ac, hlo_operand(right, 0)) : NULL;
}

// convert(p) / broadcast(y) -> broadcast(1 / y) · convert(p)
static HloInstruction *divide_pred(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *left = hlo_operand(inst, 0), *right = hlo_operand(inst, 1);
    HloInstruction *y = hlo_alg_splat_operand(right);
    if (!y || left->op != HLO_OP_CONVERT || hlo_operand(left, 0)->shape->type != HLO_PRED) return NULL;
    HloInstruction *inverse = hlo_build_binary(alg->rw, HLO_OP_DIVIDE, hlo_alg_like(alg, y, 1), y);
    if (!inverse) return NULL;
    inverse = hlo_build_broadcast(alg->rw, inst->shape, inverse, (HloDims){NULL, 0});
    return product(alg, inst, hlo_derive(alg->rw, inverse, right), left);
}

// ---- remainder ------------------------------------------------------------------------------------------

// (a % b) % b -> a % b
static HloInstruction *remainder_twice(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloInstruction *inner = hlo_operand(inst, 0);
    if (inner->op != HLO_OP_REMAINDER || hlo_operand(inner, 1) != hlo_operand(inst, 1)) return NULL;
    return inner;
}

// x % 2^k -> x & (2^k - 1)
static HloInstruction *remainder_mask(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0);
    int exponent = power_of_two_exponent(hlo_operand(inst, 1));
    if (exponent < 0) return NULL;
    int64_t mask = (int64_t)(((uint64_t)1 << exponent) - 1);
    if (hlo_type_class(inst->shape->type) == HLO_CLASS_SIGNED) {
        HloInstruction *zero = hlo_alg_splat(alg, x->shape, hlo_alg_scalar_int(alg, x->shape->type, 0));
        return on_magnitude(alg, inst, HLO_OP_AND, zero, mask);
    }
    return hlo_alg_binary(alg, inst->shape, HLO_OP_AND, x, hlo_alg_like_int(alg, inst, mask));
}

// The value of a positive integer constant that x broadcasts; 0 for anything else.
static int64_t positive_splat(HloInstruction *x) {
    HloInstruction *constant = x->op == HLO_OP_BROADCAST ? hlo_alg_single_constant(x) : NULL;
    if (!constant || !hlo_type_is_integral(constant->shape->type)) return 0;
    int64_t value = hlo_literal_int(hlo_constant(constant), 0);
    return value > 0 ? value : 0;
}

static int64_t iota_size(const HloInstruction *iota) {
    return iota->shape->dims[hlo_int(iota, HLO_ATTR_IOTA_DIMENSION)];
}

// iota % n -> iota when it counts below n.
static HloInstruction *remainder_iota(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloInstruction *iota = hlo_operand(inst, 0);
    int64_t n = positive_splat(hlo_operand(inst, 1));
    return iota->op == HLO_OP_IOTA && n && iota_size(iota) <= n ? iota : NULL;
}

static bool fits(HloType type, int64_t value) {
    int bits = hlo_type_bits(type) - (hlo_type_class(type) == HLO_CLASS_SIGNED);
    return bits >= 63 || value < (int64_t)1 << bits;
}

// (iota + n) % n -> iota % n when the sum does not wrap. Not for negative n: (1 + -5) % -5 is -4.
static HloInstruction *remainder_iota_sum(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *sum = hlo_operand(inst, 0), *right = hlo_operand(inst, 1);
    int64_t n = positive_splat(right), top;
    if (sum->op != HLO_OP_ADD || !n) return NULL;
    for (size_t k = 0; k < 2; k++) {
        HloInstruction *iota = hlo_operand(sum, k), *addend = hlo_operand(sum, 1 - k);
        if (iota->op != HLO_OP_IOTA || addend->op != HLO_OP_BROADCAST) continue;
        if (hlo_operand(addend, 0) != hlo_operand(right, 0)) continue;
        if (__builtin_add_overflow(n, iota_size(iota), &top) || !fits(iota->shape->type, top)) continue;
        return hlo_alg_binary(alg, inst->shape, HLO_OP_REMAINDER, iota, right);
    }
    return NULL;
}

// ---- power ----------------------------------------------------------------------------------------------

static HloInstruction *power_zero(HloAlg *alg, HloInstruction *inst) {
    return hlo_alg_is_all(hlo_operand(inst, 1), 0) ? hlo_alg_like(alg, inst, 1) : NULL;
}

static HloInstruction *power_one(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    return hlo_alg_is_all(hlo_operand(inst, 1), 1) ? hlo_operand(inst, 0) : NULL;
}

// power(exp(a), b) -> exp(a · b). Not by default: power(exp(100), 0.5) is inf in f32.
static HloInstruction *power_exp(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *exp = hlo_operand(inst, 0);
    if (exp->op != HLO_OP_EXP || !may_change_range(alg)) return NULL;
    HloInstruction *ab = hlo_derive(alg->rw, product(alg, inst, hlo_operand(exp, 0), hlo_operand(inst, 1)), inst);
    return hlo_alg_unary(alg, inst->shape, HLO_OP_EXP, ab);
}

static HloInstruction *power_two(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0);
    return hlo_alg_is_all(hlo_operand(inst, 1), 2) ? product(alg, inst, x, x) : NULL;
}

static HloInstruction *power_three(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0);
    if (!hlo_alg_is_all(hlo_operand(inst, 1), 3)) return NULL;
    return product(alg, inst, x, hlo_derive(alg->rw, product(alg, inst, x, x), inst));
}

static HloInstruction *power_minus_one(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0);
    if (!hlo_alg_is_all(hlo_operand(inst, 1), -1)) return NULL;
    return hlo_alg_binary(alg, inst->shape, HLO_OP_DIVIDE, hlo_alg_like(alg, x, 1), x);
}

// power(x, 0.5) -> sqrt(x). Not for every x: power(-inf, 0.5) is inf.
static HloInstruction *power_half(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0);
    if (!hlo_alg_is_all_float(hlo_operand(inst, 1), 0.5) || !hlo_alg_is_non_negative(x)) return NULL;
    return hlo_alg_unary(alg, inst->shape, HLO_OP_SQRT, x);
}

static const HloAlgRule rules[] = {
    {HLO_OP_DIVIDE, "divide-one", divide_one, HLO_ALG_COMPAT},
    {HLO_OP_DIVIDE, "divide-shift", divide_shift, HLO_ALG_PLAIN},
    {HLO_OP_DIVIDE, "divide-exps", divide_exps, HLO_ALG_PLAIN},
    {HLO_OP_DIVIDE, "divide-exp", divide_exp, HLO_ALG_PLAIN},
    {HLO_OP_DIVIDE, "divide-power", divide_power, HLO_ALG_PLAIN},
    {HLO_OP_DIVIDE, "divide-sqrt", divide_sqrt, HLO_ALG_PLAIN},
    {HLO_OP_DIVIDE, "divide-rsqrt", divide_rsqrt, HLO_ALG_PLAIN},
    {HLO_OP_DIVIDE, "divide-is-integral", divide_is_integral, HLO_ALG_STOP},
    {HLO_OP_DIVIDE, "divide-const", divide_const, HLO_ALG_PLAIN},
    {HLO_OP_DIVIDE, "divide-broadcast", divide_broadcast, HLO_ALG_PLAIN},
    {HLO_OP_DIVIDE, "divide-quotients", divide_quotients, HLO_ALG_PLAIN},
    {HLO_OP_DIVIDE, "divide-quotient", divide_quotient, HLO_ALG_PLAIN},
    {HLO_OP_DIVIDE, "divide-by-quotient", divide_by_quotient, HLO_ALG_PLAIN},
    {HLO_OP_DIVIDE, "divide-pred", divide_pred, HLO_ALG_PLAIN},

    {HLO_OP_REMAINDER, "remainder-twice", remainder_twice, HLO_ALG_PLAIN},
    {HLO_OP_REMAINDER, "remainder-mask", remainder_mask, HLO_ALG_PLAIN},
    {HLO_OP_REMAINDER, "remainder-iota", remainder_iota, HLO_ALG_PLAIN},
    {HLO_OP_REMAINDER, "remainder-iota-sum", remainder_iota_sum, HLO_ALG_PLAIN},

    {HLO_OP_POWER, "power-zero", power_zero, HLO_ALG_PLAIN},
    {HLO_OP_POWER, "power-one", power_one, HLO_ALG_COMPAT},
    {HLO_OP_POWER, "power-exp", power_exp, HLO_ALG_PLAIN},
    {HLO_OP_POWER, "power-two", power_two, HLO_ALG_PLAIN},
    {HLO_OP_POWER, "power-three", power_three, HLO_ALG_PLAIN},
    {HLO_OP_POWER, "power-minus-one", power_minus_one, HLO_ALG_PLAIN},  // as the reference: integers 0^-1 = 0, 1/0 = -1
    {HLO_OP_POWER, "power-half", power_half, HLO_ALG_PLAIN},
};

HloAlgTable hlo_alg_divide_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
