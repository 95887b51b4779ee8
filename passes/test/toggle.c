// test-only-toggle: negates the root of the entry, or takes that negation away again; what it claims is an option. For
// tests of what watches passes.
//
//   ROOT %r = f32[4] add(%a, %b)
// becomes
//   %r = f32[4] add(%a, %b)
//   ROOT %negate = f32[4] negate(%r)
// and the second time the first form again.
//
// Needs: a root that can be negated.  Keeps: the call graph.

#include "hlo/rewriter.h"

static void toggle(HloRewriter *rw) {
    HloInstruction *root = rw->m->entry->root;
    hlo_rewriter_at(rw, root);
    if (root->op == HLO_OP_NEGATE) {
        hlo_replace(rw, root, hlo_operand(root, 0), "take-away");
        return;
    }
    hlo_rewriter_note(rw, "negate", root, root);
    HloInstruction *negation = hlo_build_unary(rw, HLO_OP_NEGATE, root);
    if (negation) hlo_computation_set_root(rw->comp, negation);
}

static HloStatus run(HloPassContext *cx, HloModule *m, bool *changed) {
    HloRewriter rw = hlo_rewriter(cx, m);
    if (hlo_option_bool(cx, "act") && !hlo_rewriter_is_spent(&rw)) toggle(&rw);
    bool ignored = false;
    *changed = hlo_option_bool(cx, "claim");
    return hlo_rewriter_finish(&rw, &ignored);
}

static const HloOptionSpec options[] = {
    {"act", HLO_OPTION_BOOL, "true", "change the module"},
    {"claim", HLO_OPTION_BOOL, "true", "say that the module changed"},
};

const HloPass hlo_pass_test_only_toggle = {
    .name = "test-only-toggle",
    .summary = "negates the root, or takes that away again",
    .options = options,
    .option_count = HLO_COUNT(options),
    .run = run,
};
