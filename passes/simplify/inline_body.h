// Putting the body of a computation in place of the instruction that calls it: what call-inliner and defuser share.
#ifndef HLO_PASSES_INLINE_BODY_H
#define HLO_PASSES_INLINE_BODY_H

#include "hlo/rewriter.h"

// How many instructions inlining may still make. Calls that double at every level would make a module of any size.
typedef struct HloInlineBudget {
    const char *what;  // "calls", for the message
    size_t made, most;
} HloInlineBudget;

HloInlineBudget hlo_inline_budget(const HloModule *m, const char *what);
// Takes as many as `callee` has; RESOURCE_EXHAUSTED when that is too much.
HLO_MUST_USE HloStatus hlo_inline_spend(HloInlineBudget *budget, const HloComputation *callee);

// Clones the instructions of what `caller` calls, listed in `order`, to where the rewriter's builders add; parameters
// become the operands of `caller`. Control edges are the caller's business. `made` (by id in the callee) receives what
// each became; lists the clones in the order of making. It ends early when the rewriter fails.
HloVec hlo_inline_body(HloRewriter *rw, const HloInstruction *caller, HloInstList order, HloInstruction **made);

#endif
