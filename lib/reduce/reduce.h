// Cuts: the ways in which a module gets smaller.
#ifndef HLO_LIB_REDUCE_H
#define HLO_LIB_REDUCE_H

#include "hlo/rewriter.h"

// A kind of change at one instruction. Places are asked for on the module as it is and cut on a copy, from the last to
// the first, so that cuts of a group that follow need not fear moved numbers; what an earlier one of the group took
// away is skipped.
typedef struct Cut {
    const char *name;
    const char *help;
    bool alone;  // never with others at once: they would undo each other
    // How many ways there are at this instruction.
    size_t (*ways)(const HloInstruction *inst);
    // Cuts in one of these ways, or leaves everything when it is not possible any more.
    void (*make)(HloRewriter *rw, HloInstruction *inst, size_t way);
} Cut;

typedef struct CutTable {
    const Cut *rows;
    size_t count;
} CutTable;

CutTable hlo_cuts_of_values(void);
CutTable hlo_cuts_of_tuples(void);
CutTable hlo_cuts_of_calls(void);
CutTable hlo_cuts_of_attributes(void);

static inline bool is_entry(const HloComputation *comp) {
    return comp == comp->m->entry;
}
// Takes a parameter without users out; those behind it move up.
void hlo_reduce_drop_parameter(HloInstruction *parameter);
// Gives a tuple the shape of its operands. Cuts that only take operands away leave that to the end.
void hlo_reduce_fix_tuple(HloRewriter *rw, HloInstruction *tuple);
// What an instruction's annotations count for: those that can be left out.
size_t hlo_reduce_count_annotations(const HloInstruction *inst);

#endif
