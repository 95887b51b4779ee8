// Made-up arguments for a module that is run without any.
#ifndef HLO_RANDOM_INPUTS_H
#define HLO_RANDOM_INPUTS_H

#include "hlo/literal.h"
#include "hlo/module.h"

// The minimal standard generator, x <- 16807·x mod (2^31 - 1), and what is made of it.
typedef struct HloRandom {
    uint64_t state;     // start with 1
    bool large_floats;  // floats are powers of two of either sign, their exponents uniform over the range of the type
    bool zeros;         // nothing is drawn; all values are zero, save those that uses want to be one
} HloRandom;

// Fills every array of a literal of zeros: floats uniform in [-0.1, 0.2), integers over their whole range, predicates
// even odds. Elements are drawn in row-major order. The same state gives the same values (tools chapter, §3.3).
void hlo_random_fill(HloRandom *random, HloLiteral *literal);

// In [0, bound], drawn as the reference draws an integer of the type.
int64_t hlo_random_index(HloRandom *random, HloType type, int64_t bound);

// One argument for each parameter of the entry computation, as its uses want it (interpreter chapter, §11.2): starts
// and indices that lie inside their arrays, neutral initial values of sums and products, keys of sorts without
// duplicates; hlo_random_fill for everything else. Elements are drawn in the order of their layout. UNIMPLEMENTED when
// a parameter is used in ways that exclude each other.
HLO_MUST_USE HloStatus hlo_random_arguments(HloRandom *random, const HloModule *m, HloArena *arena, HloLiteral **out);

#endif
