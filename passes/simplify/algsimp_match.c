// algsimp: the matching vocabulary of the rules (chapter §1.8 and §1.9).

#include "algsimp.h"

#include <math.h>

// ---- constants ------------------------------------------------------------------------------------------

static const HloInstruction *under_broadcasts(const HloInstruction *x) {
    while (x->op == HLO_OP_BROADCAST) x = hlo_operand(x, 0);
    return x;
}

// The literal of a constant with one known element or none, of which everything is true; NULL for everything else.
// Larger constants of equal elements are broadcasts by the time anybody asks (constant-splat), so nothing here scans a
// literal.
static const HloLiteral *number_literal(const HloInstruction *x) {
    const HloLiteral *literal = hlo_constant(x);
    return literal && hlo_shape_is_array(literal->shape) && literal->elem_count <= 1 && !literal->elided ? literal
                                                                                                         : NULL;
}

bool hlo_alg_is_all(const HloInstruction *x, double value) {
    const HloLiteral *literal = number_literal(under_broadcasts(x));
    return literal && hlo_literal_is_all(literal, value);
}

bool hlo_alg_is_all_float(const HloInstruction *x, double value) {
    const HloLiteral *literal = number_literal(under_broadcasts(x));
    if (!literal || !hlo_type_is_float(literal->shape->type)) return false;
    HloType type = literal->shape->type;
    return hlo_literal_is_all(literal, hlo_float_decode(type, hlo_float_encode(type, value)));
}

bool hlo_alg_is_scalar_constant(const HloInstruction *x) {
    return x->op == HLO_OP_CONSTANT && hlo_shape_is_scalar(x->shape);
}

bool hlo_alg_is_single_constant(const HloInstruction *x) {
    return hlo_alg_is_constant(x) && hlo_shape_elem_count(x->shape) == 1;
}

bool hlo_alg_is_single_value(const HloInstruction *x, double value) {
    if (!hlo_alg_is_single_constant(x)) return false;
    const HloLiteral *literal = number_literal(x);
    return literal && hlo_literal_double(literal, 0) == value && hlo_literal_imag(literal, 0) == 0;
}

bool hlo_alg_is_scalar_value(const HloInstruction *x, double value) {
    return hlo_alg_is_scalar_constant(x) && hlo_alg_is_single_value(x, value);
}

// ---- broadcasts -----------------------------------------------------------------------------------------

HloInstruction *hlo_alg_broadcast_operand(const HloInstruction *x) {
    return x->op == HLO_OP_BROADCAST ? hlo_operand(x, 0) : NULL;
}

HloInstruction *hlo_alg_splat_operand(const HloInstruction *x) {
    HloInstruction *inner = hlo_alg_broadcast_operand(x);
    return inner && hlo_shape_is_scalar(inner->shape) ? inner : NULL;
}

HloInstruction *hlo_alg_splat_constant(const HloInstruction *x) {
    HloInstruction *inner = hlo_alg_splat_operand(x);
    return inner && hlo_alg_is_scalar_constant(inner) ? inner : NULL;
}

HloInstruction *hlo_alg_single_constant(HloInstruction *x) {
    HloInstruction *inner = x->op == HLO_OP_BROADCAST ? hlo_operand(x, 0) : x;
    return hlo_alg_is_single_constant(inner) ? inner : NULL;
}

bool hlo_alg_is_power_of_two(const HloInstruction *x) {
    const HloInstruction *inner = x->op == HLO_OP_BROADCAST ? hlo_operand(x, 0) : x;
    if (!hlo_alg_is_single_constant(inner)) return false;
    const HloLiteral *literal = number_literal(inner);
    if (!literal) return false;
    if (hlo_type_is_integral(inner->shape->type)) {
        uint64_t bits = (uint64_t)hlo_literal_int(literal, 0);
        bool negative = hlo_type_class(inner->shape->type) == HLO_CLASS_SIGNED && hlo_literal_int(literal, 0) < 0;
        if (negative) bits = 0 - bits;
        return bits && (bits & (bits - 1)) == 0;
    }
    if (!hlo_type_is_float(inner->shape->type)) return false;
    int exponent;
    double value = hlo_literal_double(literal, 0);
    return isfinite(value) && fabs(frexp(value, &exponent)) == 0.5;
}

// ---- non-negative values --------------------------------------------------------------------------------

// A chain that takes more steps counts as possibly negative. Bounds both the depth and, because a value may be
// reached on many paths, the time.
enum { MAX_NON_NEGATIVE_STEPS = 64 };

static bool is_signed_int(const HloShape *shape) {
    return hlo_type_class(shape->type) == HLO_CLASS_SIGNED;
}

static bool has_complex_operand(const HloInstruction *x) {
    for (size_t k = 0; k < hlo_operand_count(x); k++) {
        if (hlo_type_is_complex(hlo_operand(x, k)->shape->type)) return true;
    }
    return false;
}

// Signed counting wraps to negative numbers once the dimension has more elements than the type has values >= 0.
static bool iota_is_non_negative(const HloInstruction *iota) {
    if (!is_signed_int(iota->shape)) return true;
    int bits = hlo_type_bits(iota->shape->type);
    int64_t size = iota->shape->dims[hlo_int(iota, HLO_ATTR_IOTA_DIMENSION)];
    return bits >= 64 || size <= (int64_t)1 << (bits - 1);
}

static bool constant_is_non_negative(const HloInstruction *x) {
    const HloLiteral *literal = number_literal(x);
    if (!literal || !literal->elem_count) return false;
    HloType type = literal->shape->type;
    if (hlo_type_class(type) == HLO_CLASS_UNSIGNED) return true;
    if (is_signed_int(x->shape)) return hlo_literal_int(literal, 0) >= 0;
    double value = hlo_literal_double(literal, 0);
    return hlo_type_is_float(type) && value >= 0 && !signbit(value);
}

static bool non_negative_within(const HloInstruction *x, int *steps) {
    if ((*steps)-- <= 0 || has_complex_operand(x)) return false;
    const HloInstruction *a = hlo_operand_count(x) > 0 ? hlo_operand(x, 0) : NULL;
    const HloInstruction *b = hlo_operand_count(x) > 1 ? hlo_operand(x, 1) : NULL;
    switch ((int)x->op) {
    case HLO_OP_EXP: return true;
    case HLO_OP_ABS: return !is_signed_int(x->shape) || non_negative_within(a, steps);
    case HLO_OP_MULTIPLY: return a == b && !is_signed_int(x->shape);
    case HLO_OP_IOTA: return iota_is_non_negative(x);
    case HLO_OP_CONSTANT: return constant_is_non_negative(x);
    case HLO_OP_BROADCAST: return non_negative_within(a, steps);
    case HLO_OP_MINIMUM: return non_negative_within(a, steps) && non_negative_within(b, steps);
    case HLO_OP_MAXIMUM: return non_negative_within(a, steps) || non_negative_within(b, steps);
    case HLO_OP_POWER: return !is_signed_int(x->shape) && non_negative_within(a, steps);
    case HLO_OP_SELECT: return non_negative_within(b, steps) && non_negative_within(hlo_operand(x, 2), steps);
    default: return false;
    }
}

bool hlo_alg_is_non_negative(const HloInstruction *x) {
    int steps = MAX_NON_NEGATIVE_STEPS;
    return non_negative_within(x, &steps);
}

// ---- graph ----------------------------------------------------------------------------------------------

bool hlo_alg_match_either(const HloInstruction *inst, HloAlgTest test, HloInstruction **other, HloInstruction **hit) {
    for (size_t k = 2; k-- > 0;) {
        if (!test(hlo_operand(inst, k))) continue;
        *hit = hlo_operand(inst, k);
        *other = hlo_operand(inst, 1 - k);
        return true;
    }
    return false;
}

bool hlo_alg_has_one_user(const HloInstruction *x) {
    return hlo_user_count(x) == 1;
}

bool hlo_alg_has_one_use(const HloInstruction *x) {
    if (hlo_user_count(x) != 1) return false;
    const HloInstruction *user = hlo_user(x, 0);
    size_t uses = 0;
    for (size_t k = 0; k < hlo_operand_count(user); k++) uses += hlo_operand(user, k) == x;
    return uses == 1;
}

bool hlo_alg_is_reducer(const HloComputation *reducer, HloOpcode op) {
    if (hlo_parameter_count(reducer) != 2 || reducer->root->op != op) return false;
    const HloInstruction *a = hlo_operand(reducer->root, 0), *b = hlo_operand(reducer->root, 1);
    const HloInstruction *p = hlo_parameter(reducer, 0), *q = hlo_parameter(reducer, 1);
    return (a == p && b == q) || (a == q && b == p);
}

bool hlo_alg_is_exact(const HloAlg *alg, const HloInstruction *inst) {
    return alg->fast_math || hlo_type_is_integral(inst->shape->type);
}
