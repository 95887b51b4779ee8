// Reduction: a small module that still shows what a large one showed.
//
// A table of cuts (an instruction becomes a parameter, a loop its body, …) is tried on ever smaller groups of places,
// and what keeps the question answered with yes is kept, until no cut anywhere does. Every candidate is verified first,
// so the result is a valid module.
#ifndef HLO_REDUCE_H
#define HLO_REDUCE_H

#include "hlo/bisect.h"
#include "hlo/regex.h"

// What must stay true of the module.
typedef struct HloQuestion {
    HloStatus (*holds)(void *data, const HloModule *m, bool *out);
    void *data;
} HloQuestion;

typedef struct HloReduceProgress {
    const char *cut;                  // the name of the cut that was kept; NULL: a round over all cuts begins
    size_t places;                    // where it was made at once
    size_t instructions, parameters;  // that the module has now
    uint64_t asked;                   // questions so far
} HloReduceProgress;

typedef struct HloReduceOptions {
    uint64_t most_questions;  // 0: no limit; with one the result may be no minimum
    void (*progress)(void *data, const HloReduceProgress *progress);  // NULL: nobody
    void *data;
} HloReduceOptions;

// Reduces a module, which hlo_verify_module accepts and which stays as it is; the caller owns *out. FAILED_PRECONDITION
// when the answer is no from the start. Failures of the question end the reduction, except those that only say that a
// candidate cannot be judged (INVALID_ARGUMENT, FAILED_PRECONDITION, UNIMPLEMENTED, INTERNAL): that is a no.
HLO_MUST_USE HloStatus hlo_reduce(const HloModule *m, HloQuestion question, const HloReduceOptions *options,
                                  HloModule **out);

// Appends a line for each cut: its name and what it does.
void hlo_put_cuts(HloBuffer *out);

// ---- questions ------------------------------------------------------------------------------------------

// Asks a predicate of each candidate or, with passes, of what they make of it.
typedef struct HloRunQuestionOptions {
    const HloElement *passes;  // as hlo_pipelines_run runs them, borrowed; NULL: none
    // Makes a predicate, for each candidate a new one, since a predicate may keep what it saw first; NULL: `fails`.
    HloStatus (*make)(void *data, HloPredicate **out);
    void *data;
    bool compares;  // the predicate compares: it is asked of the candidate before passes, and then of the result
    const HloRegex *fails;  // the passes, or the verifier behind one, fail with a message in which this is found
    HloPrintOptions print;  // of the text that predicates see
} HloRunQuestionOptions;

// The question; the options are borrowed.
HloQuestion hlo_run_question(const HloRunQuestionOptions *options);

#endif
