// How time grows with the size of the module.
#ifndef HLO_BENCH_GROWTH_H
#define HLO_BENCH_GROWTH_H

#include <stdint.h>

#include "hlo/status.h"

typedef struct GrowthOptions {
    int64_t largest;    // instructions of the largest module
    const char *kinds;  // comma lists; NULL: all
    const char *steps;
    const char *passes;  // NULL: dce,cse,algsimp,tuple-simplifier
} GrowthOptions;

// Prints a table: one line per kind of module and step, seconds at 10^3, 10^4, … instructions and the exponents between
// neighbours (1: linear).
HloStatus growth_print(const GrowthOptions *options);

// Whether a comma list holds a name; a missing list holds all.
bool list_has(const char *list, const char *name);

#endif
