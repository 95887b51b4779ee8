// The three steps of copy-insertion and what they share.
#ifndef HLO_PASSES_CPU_COPY_INSERTION_H
#define HLO_PASSES_CPU_COPY_INSERTION_H

#include "hlo/dataflow.h"
#include "hlo/rewriter.h"

typedef struct CopyWork {
    HloRewriter rw;
    HloModule *m;
    HloArena *scratch;
    // Of the module as it was when the current step began.
    HloDataflow *flow;
    HloSharing sharing;
    HloAliasing *aliasing;
} CopyWork;

// Analyses the module anew.
HLO_MUST_USE HloStatus analyse_for_copies(CopyWork *work);

// Takes `inst` apart, copies the leaves whose nodes are in `wanted` (NULL: all), puts it together again and returns
// the whole; the copies made go to `copies` by node (may be NULL). Users are the caller's business. Tokens and
// buffers are passed through.
HloInstruction *deep_copy(CopyWork *work, HloInstruction *inst, const HloBits *wanted, HloInstruction **copies);
// Gives the whole deep copy to everybody who used `inst` so far, and to its computation as the root.
HloInstruction *copy_for_all(CopyWork *work, HloInstruction *inst, const HloBits *wanted, HloInstruction **copies,
                             const char *rule);

// Step 1: wherever memory will be shared, a copy on each way in.
HLO_MUST_USE HloStatus add_copies(CopyWork *work);
// Step 2: takes away the copies that nothing needs.
void remove_copies(CopyWork *work);
// Step 3: results and read-only values that still share memory.
void add_special_copies(CopyWork *work);

#endif
