// Inside bisection over passes: what its parts share.
#ifndef HLO_BISECT_BISECTION_H
#define HLO_BISECT_BISECTION_H

#include "hlo/bisect.h"

typedef struct Bisection {
    const HloElement *list;
    const HloModule *m;
    const HloPredicate *predicate;
    const HloBisectOptions *options;
    HloBisectResult *result;
    HloArena *arena;  // the result's
    // Once the pass is known:
    HloModule *before;        // what came into it; owned
    const HloElement *alone;  // a pipeline of nothing but the pass
    uint64_t run;             // its number
    uint64_t base;            // rewrites made before it
    bool from_start;          // trials run all passes up to it, instead of it alone
} Bisection;

HLO_MUST_USE HloStatus hlo_bisection_print(const Bisection *b, const HloModule *m, HloBuffer *out);
HLO_MUST_USE HloStatus hlo_bisection_ask(Bisection *b, const HloModule *m, bool *out);
HLO_MUST_USE HloStatus hlo_bisection_clone(const HloModule *m, HloModule **out);
// A copy of the text in the result's arena.
const char *hlo_bisection_keep(Bisection *b, const HloBuffer *text);

// A run over all pipelines, on a copy of the module, that can be stopped at a run of a pass. Runs of passes are
// numbered from 1; the numbers are the same in every walk, since passes are deterministic.
typedef struct Walk {
    Bisection *b;
    uint64_t stop_before, stop_after;  // numbers of runs; 0: nowhere
    bool asks;                         // after every change, stopping where the predicate holds
    bool checks;                       // verifies after every change, stopping where a rule is broken
    HloRewriteLog log;                 // the run's, before and after it
    // Out:
    uint64_t run;                          // runs begun
    HloInts changed;                       // numbers of the runs that changed the module; the result's arena
    bool stopped, held;                    // stopped on purpose; because the predicate holds
    HloStatus broken;                      // stopped because of a broken rule; owned by the caller
    const HloElement *pipeline, *element;  // where it was stopped
} Walk;

// The caller owns *out, the module where the walk ended.
HLO_MUST_USE HloStatus hlo_bisection_walk(Walk *w, HloModule **out);

// Finds the rewrite, and everything that the report shows, for the pass in `b`.
HLO_MUST_USE HloStatus hlo_bisect_rewrites(Bisection *b);

#endif
