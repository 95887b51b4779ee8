// simplify-fp-conversions: converts a value once instead of over other floating point types.
//
//   %b = bf16[4] convert(f32[4] %x)
//   ROOT %c = f32[4] convert(%b)
// becomes %x, and
//   %b = f32[4] convert(bf16[4] %x)
//   ROOT %c = f16[4] convert(%b)
// becomes
//   ROOT %c = f16[4] convert(%x)
//
// Skips the rounding to the types on the way, which only adds precision (xla_allow_excess_precision); the option
// excess-precision=false shortens only where every step but the last keeps all values.
//
// Needs: nothing.  Keeps: other users of the converts, control edges.

#include "hlo/pass.h"
#include "hlo/rewriter.h"

static bool is_float_convert(const HloInstruction *inst) {
    return inst->op == HLO_OP_CONVERT && hlo_type_is_float(inst->shape->type);
}

// Whether every value of type `from` is one of `to`; false when in doubt.
static bool keeps_all_values(HloType from, HloType to) {
    const HloTypeInfo *a = hlo_type_info(from), *b = hlo_type_info(to);
    int digits = b->mantissa_bits + 1;
    switch (a->type_class) {
    case HLO_CLASS_PRED: return true;
    case HLO_CLASS_SIGNED: return a->bits - 1 <= digits && b->specials == HLO_SPECIALS_IEEE;
    case HLO_CLASS_UNSIGNED: return a->bits <= digits && b->specials == HLO_SPECIALS_IEEE;
    case HLO_CLASS_FLOAT: break;
    default: return false;
    }
    if (from == to) return true;
    bool fits_range = b->exponent_bits > a->exponent_bits ||
                      (b->exponent_bits == a->exponent_bits && a->specials == HLO_SPECIALS_IEEE);
    return b->specials == HLO_SPECIALS_IEEE && fits_range && b->mantissa_bits >= a->mantissa_bits;
}

// What `inst` converts when the floating point types on the way are left out. Operands have been shortened before, so
// that the walk is short.
static HloInstruction *find_source(const HloInstruction *inst, bool excess_precision) {
    HloInstruction *source = hlo_operand(inst, 0);
    while (is_float_convert(source)) {
        HloInstruction *next = hlo_operand(source, 0);
        if (!excess_precision && !keeps_all_values(next->shape->type, source->shape->type)) break;
        source = next;
    }
    return source;
}

static void shorten(HloRewriter *rw, HloInstruction *inst, bool excess_precision) {
    if (!is_float_convert(inst) || hlo_rewriter_is_spent(rw)) return;
    HloInstruction *source = find_source(inst, excess_precision);
    if (source == hlo_operand(inst, 0)) return;
    hlo_rewriter_at(rw, inst);
    bool is_round_trip = source->shape->type == inst->shape->type;
    HloInstruction *direct = is_round_trip ? source : hlo_build(rw, HLO_OP_CONVERT, inst->shape, &source, 1);
    hlo_replace(rw, inst, direct, is_round_trip ? "round-trip" : "convert-of-convert");
}

static HloStatus run(HloPassContext *cx, HloModule *m, bool *changed) {
    HloRewriter rw = hlo_rewriter(cx, m);
    bool excess_precision = hlo_option_bool(cx, "excess-precision");
    HLO_EACH_COMP(comp, m) {
        HloInstList order = hlo_post_order(comp, cx->scratch);
        for (size_t k = 0; k < order.count; k++) {
            if (order.items[k]->comp) shorten(&rw, order.items[k], excess_precision);
        }
    }
    return hlo_rewriter_finish(&rw, changed);
}

static const HloOptionSpec options[] = {
    {"excess-precision", HLO_OPTION_BOOL, "true", "leave out types on the way even when they would round"},
};

const HloPass hlo_pass_simplify_fp_conversions = {
    .name = "simplify-fp-conversions",
    .summary = "converts values once instead of over other floating point types",
    .options = options,
    .option_count = HLO_COUNT(options),
    .run = run,
};
