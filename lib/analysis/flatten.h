// The instructions that one run of a module enters one after another, each once.
//
// Before a call, conditional or async operation stand its callees in call order, before a while its condition and
// then its body; an operation applied per element (fusion, reduce, …) is not entered. Source: buffer assignment
// chapter, §1.3 and §3.1.
#ifndef HLO_ANALYSIS_FLATTEN_H
#define HLO_ANALYSIS_FLATTEN_H

#include "hlo/module.h"

typedef struct FlatList {
    const HloInstruction **items;
    size_t count;
    // By computation id: the position where it starts (callees of its first instruction included) and the one
    // after its last instruction; -1, -1 when it is not entered.
    int64_t *starts, *ends;
} FlatList;

// `order` gives each computation's instructions, by computation id. A computation that is called again is not
// entered again.
FlatList flatten(HloArena *arena, const HloModule *m, const HloInstList *order);

#endif
