// control-dep-remover: drops all control edges.
//
//   %m = f32[4] exponential(%a), control-predecessors={%n}
// becomes
//   %m = f32[4] exponential(%a)
//
// Needs: nothing.  Keeps: everything that is computed. An order that only control edges demand is lost, that of side
// effects too.

#include "hlo/pass.h"
#include "hlo/rewriter.h"

static void drop_edges_in(HloRewriter *rw, HloComputation *comp) {
    HloBits ends = hlo_bits_new(rw->scratch, comp->id_limit);
    HLO_EACH_INST(inst, comp) {
        if (!hlo_control_preds(inst)->count || hlo_rewriter_is_spent(rw)) continue;
        hlo_rewriter_note(rw, "drop-control-edges", inst, inst);
        hlo_bits_add(ends, inst->id);
    }
    hlo_drop_control_edges_to(comp, ends);
}

static HloStatus run(HloPassContext *cx, HloModule *m, bool *changed) {
    HloRewriter rw = hlo_rewriter(cx, m);
    HLO_EACH_COMP(comp, m) drop_edges_in(&rw, comp);
    return hlo_rewriter_finish(&rw, changed);
}

const HloPass hlo_pass_control_dep_remover = {
    .name = "control-dep-remover",
    .summary = "drops all control edges",
    .run = run,
};
