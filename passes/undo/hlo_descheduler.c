// hlo-descheduler: forgets in which order the instructions run.
//
//   HloModule m, is_scheduled=true
// becomes
//   HloModule m
//
// The instructions stay as they are; without a schedule they are printed in post-order again.
//
// Needs: nothing.  Keeps: everything but the schedule.

#include "hlo/pass.h"
#include "hlo/rewriter.h"

static HloStatus run(HloPassContext *cx, HloModule *m, bool *changed) {
    HloRewriter rw = hlo_rewriter(cx, m);
    if (m->is_scheduled && !hlo_rewriter_is_spent(&rw)) {
        hlo_rewriter_note(&rw, "drop-schedule", NULL, NULL);
        hlo_module_drop_schedule(m);
    }
    return hlo_rewriter_finish(&rw, changed);
}

const HloPass hlo_pass_hlo_descheduler = {
    .name = "hlo-descheduler",
    .summary = "forgets in which order the instructions run",
    .run = run,
};
