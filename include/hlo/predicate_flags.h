// The flags of programs that ask predicates of modules, or of what passes make of them.
#ifndef HLO_PREDICATE_FLAGS_H
#define HLO_PREDICATE_FLAGS_H

#include "hlo/bisect.h"
#include "hlo/cpu.h"
#include "hlo/flags.h"

typedef struct HloPredicateFlags {
    const char *appears, *vanishes, *command;
    bool invalid, numerics;
    double abs, rel;
    const char *passes, *platform;
} HloPredicateFlags;

// Topics "predicates" and "search".
HloFlagSet hlo_predicate_flags(HloPredicateFlags *flags);
// How many predicates were asked for.
int hlo_predicate_flags_count(const HloPredicateFlags *flags);
// Makes the one that was asked for.
HLO_MUST_USE HloStatus hlo_predicate_flags_make(const HloPredicateFlags *flags, HloPredicate **out);
// The pipelines that --passes or --platform names, as a list of runs.
HLO_MUST_USE HloStatus hlo_predicate_flags_list(HloArena *arena, const HloPredicateFlags *flags,
                                                const HloDebugOptions *debug, const HloModule *m, HloElement **out);

#endif
