// zero_sized_hlo_elimination: replaces arrays without elements by constants.
//
//   %p = f32[0,3] parameter(0)
//   ROOT %n = f32[0,3] negate(%p)
// becomes
//   %p = f32[0,3] parameter(0)
//   ROOT %constant.1 = f32[0,3] constant({})
//
// Operations that become trivial by it (a concatenate with an empty operand) are left to algsimp.
//
// Needs: nothing.  Keeps: side effects, control edges, the parameters themselves.

#include "hlo/pass.h"
#include "hlo/rewriter.h"

static bool is_candidate(const HloInstruction *inst) {
    const HloShape *shape = inst->shape;
    if (!hlo_shape_is_array(shape) || hlo_shape_is_dynamic(shape) || !hlo_shape_is_empty(shape)) return false;
    if (inst->op == HLO_OP_CONSTANT) return false;
    if (!hlo_has_side_effect(inst)) return true;
    // This target is marked as having an effect only so that other passes keep it.
    return inst->op == HLO_OP_CUSTOM_CALL &&
           strcmp(hlo_text(inst, HLO_ATTR_CUSTOM_CALL_TARGET), "xla.sdy.LocalToGlobalShape") == 0;
}

static HloInstruction *build_empty(HloRewriter *rw, const HloShape *shape) {
    if (!hlo_is_ok(rw->failure)) return NULL;
    HloLiteral *literal;
    rw->failure = hlo_literal_new(&rw->m->arena, hlo_shape_fill_layout(&rw->m->shapes, shape), &literal);
    return hlo_is_ok(rw->failure) ? hlo_build_constant(rw, literal) : NULL;
}

static bool is_bypassed(const HloInstruction *inst) {
    return inst->op == HLO_OP_PARAMETER && hlo_user_count(inst) && !hlo_has_control_edges(inst);
}

static void eliminate(HloRewriter *rw, HloInstruction *inst) {
    if (hlo_rewriter_is_spent(rw) || !is_candidate(inst)) return;
    hlo_rewriter_at(rw, inst);
    if (hlo_is_removable(inst)) {
        hlo_replace(rw, inst, build_empty(rw, inst->shape), "empty-to-constant");
    } else if (is_bypassed(inst)) {
        HloInstruction *constant = build_empty(rw, inst->shape);
        if (!constant) return;
        hlo_rewriter_note(rw, "bypass-empty-parameter", inst, constant);
        hlo_rewriter_move_uses(rw, inst, constant);
    }
}

static HloStatus run(HloPassContext *cx, HloModule *m, bool *changed) {
    HloRewriter rw = hlo_rewriter(cx, m);
    HloCompList comps = hlo_module_nonfusion_order(m, cx->scratch);
    for (size_t c = 0; c < comps.count; c++) {
        HloInstList order = hlo_post_order(comps.items[c], cx->scratch);
        for (size_t k = 0; k < order.count; k++) {
            if (order.items[k]->comp) eliminate(&rw, order.items[k]);
        }
    }
    return hlo_rewriter_finish(&rw, changed);
}

const HloPass hlo_pass_zero_sized_hlo_elimination = {
    .name = "zero_sized_hlo_elimination",
    .summary = "replaces arrays without elements by constants",
    .run = run,
};
