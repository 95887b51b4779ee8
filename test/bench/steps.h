// What is timed: reading, printing, verifying, one pass, one stage.
#ifndef HLO_BENCH_STEPS_H
#define HLO_BENCH_STEPS_H

#include "hlo/pass.h"
#include "hlo/text.h"

// What a step works on.
typedef struct Subject {
    HloStringView text;
    HloModule *m;
    HloModule *copy;  // fresh for every run of a step that changes the module
    const HloElement *pipeline;
    const char *stage;
    HloBuffer out;
} Subject;

typedef HloStatus (*Step)(Subject *subject);

HloStatus step_parse(Subject *subject);  // freeing what was read counts
HloStatus step_print(Subject *subject);
HloStatus step_verify(Subject *subject);
HloStatus step_pass(Subject *subject);
HloStatus step_stage(Subject *subject);

// Runs a step once and returns its seconds of processor time; negative after a failure. Making the copy, if needed, is
// not counted.
double step_time(Step step, Subject *subject, bool needs_copy, HloStatus *status);

#endif
