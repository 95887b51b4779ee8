// algsimp: convert, bitcast-convert.

#include "algsimp.h"

// ---- which conversions keep every value -----------------------------------------------------------------

static int top_exponent(const HloTypeInfo *t) {
    int top = (1 << t->exponent_bits) - 1 - t->bias;
    bool reserved = t->specials == HLO_SPECIALS_IEEE || t->specials == HLO_SPECIALS_SCALE;
    return reserved ? top - 1 : top;
}

// The exponent of the smallest positive value, denormals included.
static int bottom_exponent(const HloTypeInfo *t) {
    return t->specials == HLO_SPECIALS_SCALE ? -t->bias : 1 - t->bias - t->mantissa_bits;
}

static bool float_fits_float(const HloTypeInfo *from, const HloTypeInfo *to) {
    if (to->specials == HLO_SPECIALS_SCALE) return false;
    if (from->specials == HLO_SPECIALS_IEEE && to->specials != HLO_SPECIALS_IEEE) return false;
    if (from->specials != HLO_SPECIALS_FINITE && to->specials == HLO_SPECIALS_FINITE) return false;
    if (from->mantissa_bits > to->mantissa_bits || bottom_exponent(from) < bottom_exponent(to)) return false;
    if (top_exponent(from) != top_exponent(to)) return top_exponent(from) < top_exponent(to);
    // FN gives up its largest mantissa for NaN.
    return to->specials != HLO_SPECIALS_FN || from->specials == HLO_SPECIALS_FN;
}

static int value_bits(const HloTypeInfo *t) {
    return t->bits - (t->type_class == HLO_CLASS_SIGNED);
}

static bool int_fits_float(const HloTypeInfo *from, const HloTypeInfo *to) {
    return to->specials != HLO_SPECIALS_SCALE && value_bits(from) <= to->mantissa_bits + 1 &&
           value_bits(from) <= top_exponent(to);
}

static bool int_fits_int(const HloTypeInfo *from, const HloTypeInfo *to) {
    if (from->type_class == HLO_CLASS_SIGNED && to->type_class == HLO_CLASS_UNSIGNED) return false;
    return value_bits(from) <= value_bits(to);
}

// Every value of `from` comes back from `to` unchanged.
static bool keeps_values(HloType from, HloType to) {
    if (hlo_type_is_complex(to)) {
        if (hlo_type_is_complex(from)) return from == to || to == HLO_C128;
        return keeps_values(from, hlo_type_complex_part(to));
    }
    if (from == to) return true;
    const HloTypeInfo *f = hlo_type_info(from), *t = hlo_type_info(to);
    if (t->type_class == HLO_CLASS_PRED || f->type_class == HLO_CLASS_COMPLEX) return false;
    if (f->type_class == HLO_CLASS_PRED) return true;
    if (t->type_class == HLO_CLASS_FLOAT) {
        return f->type_class == HLO_CLASS_FLOAT ? float_fits_float(f, t) : int_fits_float(f, t);
    }
    return f->type_class != HLO_CLASS_FLOAT && int_fits_int(f, t);
}

// ---- convert --------------------------------------------------------------------------------------------

static HloInstruction *convert_same(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloInstruction *x = hlo_operand(inst, 0);
    return x->shape->type == inst->shape->type ? x : NULL;
}

// convert(convert(x)) -> x when the inner conversion loses nothing. f32 through bf16 stays: it rounds.
static HloInstruction *convert_back(HloAlg *alg, HloInstruction *inst) {
    (void)alg;
    HloInstruction *inner = hlo_operand(inst, 0);
    if (inner->op != HLO_OP_CONVERT) return NULL;
    HloInstruction *x = hlo_operand(inner, 0);
    return x->shape->type == inst->shape->type && keeps_values(x->shape->type, inner->shape->type) ? x : NULL;
}

static bool wraps_alike(HloOpcode op, HloType wide) {
    bool is_division = op == HLO_OP_DIVIDE || op == HLO_OP_REMAINDER;
    return op == HLO_OP_ADD || op == HLO_OP_SUBTRACT || op == HLO_OP_MULTIPLY ||
           (is_division && hlo_type_class(wide) == HLO_CLASS_UNSIGNED);
}

static bool is_widening(const HloInstruction *x, HloType narrow) {
    return x->op == HLO_OP_CONVERT && hlo_operand(x, 0)->shape->type == narrow && hlo_alg_has_one_user(x);
}

// convert(op(convert(a), convert(b))) -> op(a, b) in the narrow integer type, where wrapping agrees.
static HloInstruction *convert_narrow(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *wide = hlo_operand(inst, 0);
    HloType narrow = inst->shape->type, type = wide->shape->type;
    if (!wraps_alike(wide->op, type) || !hlo_alg_has_one_user(wide)) return NULL;
    if (!hlo_type_is_integral(narrow) || hlo_type_class(narrow) != hlo_type_class(type)) return NULL;
    if (hlo_type_bits(narrow) < 8 || hlo_type_bits(narrow) >= hlo_type_bits(type)) return NULL;
    HloInstruction *a = hlo_operand(wide, 0), *b = hlo_operand(wide, 1);
    if (!is_widening(a, narrow) || !is_widening(b, narrow)) return NULL;
    return hlo_build_clone(alg->rw, wide, inst->shape, (HloInstruction *[]){hlo_operand(a, 0), hlo_operand(b, 0)}, 2);
}

// ---- bitcast-convert ------------------------------------------------------------------------------------

static HloInstruction *bitcast_convert_twice(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *inner = hlo_operand(inst, 0);
    if (inner->op != HLO_OP_BITCAST_CONVERT) return NULL;
    return hlo_alg_unary(alg, inst->shape, HLO_OP_BITCAST_CONVERT, hlo_operand(inner, 0));
}

// bitcast-convert(concatenate(bitcast-convert(a), …)) -> concatenate(a, …)
static HloInstruction *bitcast_convert_concat(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *concat = hlo_operand(inst, 0);
    if (concat->op != HLO_OP_CONCATENATE) return NULL;
    size_t count = hlo_operand_count(concat);
    HloInstruction **operands = HLO_NEW_ARRAY(alg->scratch, HloInstruction *, count);
    for (size_t k = 0; k < count; k++) {
        HloInstruction *part = hlo_operand(concat, k);
        if (part->op != HLO_OP_BITCAST_CONVERT) return NULL;
        operands[k] = hlo_operand(part, 0);
        if (operands[k]->shape->type != inst->shape->type) return NULL;
        if (operands[k]->shape->rank != concat->shape->rank || inst->shape->rank != concat->shape->rank) return NULL;
    }
    return hlo_build_clone(alg->rw, concat, inst->shape, operands, count);
}

// `wide` is `narrow` without its last dimension, which is most minor and packed: the elements lie where they lay.
static bool splits_width(const HloShape *wide, const HloShape *narrow) {
    if (narrow->rank != wide->rank + 1 || !narrow->layout || !wide->layout) return false;
    size_t last = narrow->rank - 1;
    if (narrow->layout->minor_to_major[0] != (int64_t)last || narrow->layout->tile_count || wide->layout->tile_count) {
        return false;
    }
    if (hlo_type_bits(wide->type) != narrow->dims[last] * hlo_type_bits(narrow->type)) return false;
    for (size_t d = 0; d < last; d++) {
        if (narrow->layout->minor_to_major[d + 1] != wide->layout->minor_to_major[d]) return false;
    }
    return hlo_type_bits(narrow->type) >= 8;
}

static HloInstruction *bitcast_convert_bitcast(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0);
    if (!alg->layout_sensitive || !alg->bitcast_convert_to_bitcast) return NULL;
    bool fits = hlo_shape_equal(x->shape, inst->shape, HLO_IGNORE_ELEMENT_TYPE) ||
                splits_width(x->shape, inst->shape) || splits_width(inst->shape, x->shape);
    return fits ? hlo_build_bitcast(alg->rw, inst->shape, x) : NULL;
}

static HloInstruction *bitcast_convert_same(HloAlg *alg, HloInstruction *inst) {
    HloInstruction *x = hlo_operand(inst, 0);
    return hlo_alg_same_shape(alg, x->shape, inst->shape) ? x : NULL;
}

static const HloAlgRule rules[] = {
    {HLO_OP_CONVERT, "convert-same", convert_same, HLO_ALG_PLAIN},
    {HLO_OP_CONVERT, "convert-back", convert_back, HLO_ALG_PLAIN},
    {HLO_OP_CONVERT, "convert-narrow", convert_narrow, HLO_ALG_PLAIN},

    {HLO_OP_BITCAST_CONVERT, "bitcast-convert-twice", bitcast_convert_twice, HLO_ALG_PLAIN},
    {HLO_OP_BITCAST_CONVERT, "bitcast-convert-concat", bitcast_convert_concat, HLO_ALG_PLAIN},
    {HLO_OP_BITCAST_CONVERT, "bitcast-convert-bitcast", bitcast_convert_bitcast, HLO_ALG_PLAIN},
    {HLO_OP_BITCAST_CONVERT, "bitcast-convert-same", bitcast_convert_same, HLO_ALG_COMPAT},
};

HloAlgTable hlo_alg_convert_rules(void) {
    return (HloAlgTable){rules, HLO_COUNT(rules)};
}
