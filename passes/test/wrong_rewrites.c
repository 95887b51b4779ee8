// test-only-wrong-rewrites: two wrong rules among right ones, for tests of the tools that have to find them.
//
//   %n = f32[4] negate(%m)        with %m = negate(%x): uses of %n become uses of %x        right
//   %a = f32[4] add(%x, %y)       %y is the older one: becomes add(%y, %x)                  right
//   %s = f32[4] subtract(%x, %x)  becomes %x, which is not zero                             wrong value
//   %t = f32[2,2] transpose(%x), dimensions={1,0}  becomes dimensions={1,1}                 breaks a rule of HLO
//
// Needs: nothing.  Keeps: the call graph.

#include "hlo/rewriter.h"

static HloInstruction *negate_twice(HloRewriter *rw, HloInstruction *inst) {
    (void)rw;
    HloInstruction *operand = hlo_operand(inst, 0);
    return operand->op == HLO_OP_NEGATE ? hlo_operand(operand, 0) : NULL;
}

static HloInstruction *older_operand_first(HloRewriter *rw, HloInstruction *inst) {
    HloInstruction *a = hlo_operand(inst, 0), *b = hlo_operand(inst, 1);
    return b->id < a->id ? hlo_build_binary(rw, HLO_OP_ADD, b, a) : NULL;
}

static HloInstruction *subtract_self(HloRewriter *rw, HloInstruction *inst) {
    (void)rw;
    return hlo_operand(inst, 0) == hlo_operand(inst, 1) ? hlo_operand(inst, 0) : NULL;
}

static HloInstruction *repeat_dimension(HloRewriter *rw, HloInstruction *inst) {
    HloDims dims = hlo_dims(inst, HLO_ATTR_DIMENSIONS);
    if (dims.count != 2 || dims.data[0] == dims.data[1]) return NULL;
    const int64_t wrong[] = {dims.data[0], dims.data[0]};
    hlo_set_dims(rw->m, inst, HLO_ATTR_DIMENSIONS, (HloDims){wrong, HLO_COUNT(wrong)});
    return inst;
}

static const HloRule rules[] = {
    {HLO_OP_NEGATE, "negate-twice", negate_twice},
    {HLO_OP_ADD, "older-operand-first", older_operand_first},
    {HLO_OP_SUBTRACT, "subtract-self", subtract_self},
    {HLO_OP_TRANSPOSE, "repeat-dimension", repeat_dimension},
};

static HloStatus run(HloPassContext *cx, HloModule *m, bool *changed) {
    return hlo_apply_rules(cx, m, rules, HLO_COUNT(rules), changed);
}

const HloPass hlo_pass_test_only_wrong_rewrites = {
    .name = "test-only-wrong-rewrites",
    .summary = "two wrong rules among right ones",
    .run = run,
};
