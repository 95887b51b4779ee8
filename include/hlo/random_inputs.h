// Made-up arguments for a module that is run without any.
#ifndef HLO_RANDOM_INPUTS_H
#define HLO_RANDOM_INPUTS_H

#include "hlo/literal.h"

// The state of the minimal standard generator, x <- 16807·x mod (2^31 - 1); start with {1}.
typedef struct HloRandom {
    uint64_t state;
} HloRandom;

// Fills every array of a literal: floats uniform in [-0.1, 0.2), integers over their whole range, predicates even odds.
// The same state gives the same values (tools chapter, §3.3).
void hlo_random_fill(HloRandom *random, HloLiteral *literal);

#endif
