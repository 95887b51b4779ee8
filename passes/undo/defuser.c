// defuser: puts the bodies of fusions in their place.
//
//   %fc { %p = f32[4] parameter(0)
//         ROOT %n = f32[4] negate(%p) }
//   ROOT %f = f32[4] fusion(%a), kind=kLoop, calls=%fc
// becomes
//   ROOT %n.1 = f32[4] negate(%a)
//
// Inner fusions go first. What the fusion was annotated with (metadata, sharding, configuration) goes with it.
// A body that is called from elsewhere, too, stays for those calls.
//
// Differs from the reference: a fusion of several instructions stays where it is all that an async-start wraps, because
// there may be no more than one instruction there.
//
// Needs: no control edges at fusions (control-dep-remover).  Keeps: everything that is computed; not the order that
// control edges inside of fusions demand.

#include "passes/simplify/inline_body.h"

// An asynchronous computation holds one instruction, and so must what takes the place of a fusion in it.
static bool fits(const HloInstruction *fusion) {
    const HloComputation *body = hlo_called(fusion, 0);
    return body->count == hlo_parameter_count(body) + 1 || !hlo_is_async_computation(fusion->comp);
}

static HloStatus check_edges(const HloInstruction *fusion) {
    if (!hlo_has_control_edges(fusion)) return hlo_ok();
    return hlo_error(HLO_FAILED_PRECONDITION,
                     "%%%s has control edges, which its instructions cannot have; run control-dep-remover first",
                     fusion->name);
}

static HloStatus inline_fusion(HloRewriter *rw, HloInlineBudget *budget, HloInstruction *fusion) {
    HloComputation *body = hlo_called(fusion, 0);
    HLO_TRY(check_edges(fusion));
    HLO_TRY(hlo_inline_spend(budget, body));
    hlo_rewriter_at(rw, fusion);
    rw->rule = "inline-fusion";
    HloInstruction **made = HLO_NEW_ARRAY(rw->scratch, HloInstruction *, body->id_limit);
    hlo_inline_body(rw, fusion, hlo_post_order(body, rw->scratch), made);
    if (!hlo_is_ok(rw->failure)) return rw->failure;
    hlo_rewriter_note(rw, rw->rule, fusion, made[body->root->id]);
    hlo_rewriter_move_uses(rw, fusion, made[body->root->id]);
    hlo_computation_remove(fusion->comp, fusion);
    if (!body->callers.count) hlo_module_remove(rw->m, body);
    return hlo_ok();
}

static HloStatus run(HloPassContext *cx, HloModule *m, bool *changed) {
    HloRewriter rw = hlo_rewriter(cx, m);
    HloInlineBudget budget = hlo_inline_budget(m, "fusions");
    HloCompList comps = hlo_module_post_order(m, cx->scratch);
    for (size_t k = 0; k < comps.count && !hlo_rewriter_is_spent(&rw); k++) {
        HloInstruction *fusion = hlo_fusion_caller(comps.items[k]);
        if (fusion && fits(fusion)) HLO_TRY(inline_fusion(&rw, &budget, fusion));
    }
    return hlo_rewriter_finish(&rw, changed);
}

const HloPass hlo_pass_defuser = {
    .name = "defuser",
    .summary = "puts the bodies of fusions in their place",
    .run = run,
};
