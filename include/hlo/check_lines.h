// FileCheck lines for tests in text: from what a command prints to the lines that expect it, and into the test's file.
//
// A test holds its commands, `// RUN: hlo-opt … %s | FileCheck %s`. Lines that were written before stand in one block
// behind a comment that says so; only that block is replaced.
#ifndef HLO_CHECK_LINES_H
#define HLO_CHECK_LINES_H

#include "hlo/arena.h"
#include "hlo/buffer.h"
#include "hlo/containers.h"

// One RUN line, continuation lines joined.
typedef struct HloCheckRun {
    const char *command;  // up to `| FileCheck`, substitutions not yet made; all of it where FileCheck is not called
    const char *prefix;   // of the lines that FileCheck looks for, `CHECK` by default; NULL: FileCheck is not called
} HloCheckRun;

typedef struct HloCheckRuns {
    HloCheckRun *items;  // in the given arena
    size_t count;
} HloCheckRuns;

// Finds the RUN lines of a test; fails when none calls FileCheck.
HLO_MUST_USE HloStatus hlo_check_runs_find(HloArena *arena, HloStringView file, HloCheckRuns *out);

// Appends the lines that expect `text`, each behind `// `: a label for every computation, the instructions of one as
// lines that follow each other, with variables for their names. Text that is not HLO is expected as it is.
void hlo_put_check_lines(HloBuffer *out, HloArena *scratch, HloStringView text, const char *prefix);

// Appends the test with `lines` in place of the block written before, or behind the comments on top. Lines with one of
// the prefixes that stand elsewhere fail, unless `replace_all`; then they are dropped.
HLO_MUST_USE HloStatus hlo_put_checked_file(HloBuffer *out, HloStringView file, HloStringView lines,
                                            const HloCheckRuns *runs, bool replace_all);

#endif
