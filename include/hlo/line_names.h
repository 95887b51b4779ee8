// The names in a printed line of HLO, as far as percent signs mark them.
#ifndef HLO_LINE_NAMES_H
#define HLO_LINE_NAMES_H

#include <stdbool.h>

#include "hlo/containers.h"

// A scan of one line. Start with `at` and `end`, the rest zero.
typedef struct HloLineNames {
    const char *at, *end;
    HloStringView key;   // the last `key=` before the name; empty: none
    HloStringView name;  // what the last call found, `%` left out
} HloLineNames;

// Finds the next name; false at the end of the line. Texts in quotes are skipped.
bool hlo_line_names_next(HloLineNames *scan);
// Whether the name found last is a computation's: its key is that of callees.
bool hlo_line_names_callee(const HloLineNames *scan);

#endif
