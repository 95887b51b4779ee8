// What the files of the module diff share; private to lib/analysis.
//
//   module_diff.c          lines of all computations, which computations belong together
//   module_diff_match.c    which instructions belong together
//   module_diff_align.c    rows in one order
//   module_diff_print.c    the texts for people
#ifndef HLO_ANALYSIS_MODULE_DIFF_H
#define HLO_ANALYSIS_MODULE_DIFF_H

#include "hlo/line_names.h"
#include "hlo/module_diff.h"

enum { NO_PARTNER = UINT32_MAX };

// A computation of one of the modules. Instructions are named by their positions in print order.
typedef struct DiffComp {
    const HloComputation *comp;
    HloInstList order;
    const HloStringView *lines;  // by position
    HloStringView end;           // the closing line
    const uint64_t *own;         // by position: hash of the line with its names left out, and of its callees' contents
    const uint64_t *structure;   // by position: hash of own and of the structure of the operands
    uint64_t content;            // hash of all lines, names left out
    HloMap names;                // name -> position + 1
    uint32_t *positions;         // by instruction id
    uint32_t *partners;          // by position: position in `other`, or NO_PARTNER
    struct DiffComp *other;      // NULL: none found
} DiffComp;

// The computations of a module, by id and in print order.
typedef struct DiffSide {
    const HloModule *m;
    DiffComp *comps;  // by computation id
    HloCompList order;
    HloMap names;  // name -> DiffComp
} DiffSide;

static inline bool is_matched(const DiffComp *c, size_t position) {
    return c->partners[position] != NO_PARTNER;
}

// Fills the partners of two computations that belong together.
void hlo_diff_match(HloArena *scratch, DiffComp *before, DiffComp *after);
// Those partners whose order is the same on both sides, as many as possible: kept[k] tells for position k of `before`.
bool *hlo_diff_in_order(HloArena *scratch, const DiffComp *before);
// Makes the rows of a computation, or of two that belong together; either may be NULL.
void hlo_diff_rows(HloArena *arena, const DiffSide *side, const DiffComp *before, const DiffComp *after,
                   HloComputationDiff *out);

#endif
