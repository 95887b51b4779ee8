// Where a build with HLO_PLANT=ON spoils what passes do, so that tests can see whether that is found (test/plant). Any
// other build has nothing of it.
#ifndef HLO_PASS_PLANT_H
#define HLO_PASS_PLANT_H

#include "hlo/rewriter.h"

#ifdef HLO_PLANT
// A rewrite is announced: remembers what it is about.
void hlo_plant_note(const HloRewriter *rw, const char *rule, HloInstruction *old_inst, HloInstruction *new_inst);
// A pass of a pipeline has ended well: spoils one of its rewrites, if it is the chosen pass.
void hlo_plant_spoil(HloPassContext *cx, HloModule *m);
#else
static inline void hlo_plant_note(const HloRewriter *rw, const char *rule, HloInstruction *old_inst,
                                  HloInstruction *new_inst) {
    (void)rw, (void)rule, (void)old_inst, (void)new_inst;
}
static inline void hlo_plant_spoil(HloPassContext *cx, HloModule *m) {
    (void)cx, (void)m;
}
#endif

#endif
