// What changed between two modules: computations and instructions that belong together are found by name and structure,
// so that a new name, or a number that moved on, is not taken for a change.
//
// Order among computations, and of the instructions of a computation without a schedule, says nothing about a module
// and is not compared. What an instruction's line says is compared as it is printed; the options decide how much that
// is.
#ifndef HLO_MODULE_DIFF_H
#define HLO_MODULE_DIFF_H

#include "hlo/text.h"

typedef enum HloDiffKind {
    HLO_DIFF_SAME,     // the same line, apart from new names of operands and callees
    HLO_DIFF_MOVED,    // the same line at another place of the schedule
    HLO_DIFF_RENAMED,  // the same line with another name
    HLO_DIFF_CHANGED,
    HLO_DIFF_REMOVED,  // only in the module before
    HLO_DIFF_ADDED,    // only in the module after
    HLO_DIFF_KINDS
} HloDiffKind;

typedef struct HloDiffRow {
    HloDiffKind kind;
    const HloInstruction *before, *after;   // one of them NULL where only the other module has it
    HloStringView before_line, after_line;  // as printed, without indentation; `ROOT ` included
} HloDiffRow;

typedef struct HloComputationDiff {
    const HloComputation *before, *after;  // as in a row
    const HloDiffRow *rows;                // in the order of `after`, what was removed where it stood
    size_t row_count;
    size_t counts[HLO_DIFF_KINDS];        // rows of each kind
    bool renamed;                         // the names differ
    HloStringView before_end, after_end;  // the closing lines, with the thread
} HloComputationDiff;

typedef struct HloModuleDiff {
    const HloModule *before, *after;
    HloStringView before_header, after_header;
    const HloComputationDiff *comps;  // in print order of `after`, then those that were removed
    size_t count;
    size_t totals[HLO_DIFF_KINDS];  // rows of each kind in all computations
} HloModuleDiff;

// How lines are printed for a comparison: names with percent signs, one line each, everything but metadata.
HloPrintOptions hlo_print_for_diff(void);

// Compares two modules. `options` must keep what hlo_print_for_diff says about names and lines. Everything in *out
// lives in `arena`, or belongs to the modules. Time is linear in the size of the modules but for a factor of
// log(instructions).
HLO_MUST_USE HloStatus hlo_module_diff(HloArena *arena, const HloModule *before, const HloModule *after,
                                       const HloPrintOptions *options, HloModuleDiff *out);

// Whether something differs. `names` tells whether a new name is a difference.
bool hlo_diff_found(const HloModuleDiff *diff, bool names);

typedef struct HloDiffStyle {
    size_t context;  // unchanged lines around each change
    bool colour;     // ANSI: red, green, yellow, cyan
    bool names;      // show new names
} HloDiffStyle;

// Appends the changed computations, line by line: `-` removed, `+` added, `~` renamed, `>` moved.
void hlo_put_module_diff(HloBuffer *out, const HloModuleDiff *diff, const HloDiffStyle *style);
// Appends two tables: changes by computation and by opcode.
void hlo_put_diff_stat(HloBuffer *out, const HloModuleDiff *diff, bool names);

#endif
