// Random modules: well typed by construction, and such that the interpreter can compute them.
//
// They are there to try passes, code generation and readers on what nobody would write by hand. Equal options give
// equal modules on every machine.
#ifndef HLO_GENERATE_H
#define HLO_GENERATE_H

#include "hlo/module.h"
#include "hlo/status.h"

typedef struct HloGenerateOptions {
    uint64_t seed;
    size_t size;          // about how many instructions, those of called computations included; 0: 100
    const bool *opcodes;  // HLO_OP_COUNT flags: nothing else is made besides parameters, constants, tuples and what an
                          // operation needs around it; NULL: everything
} HloGenerateOptions;

// Makes a module that hlo_verify_module accepts and hlo_eval computes; time and memory grow like the size. The caller
// owns *out. RESOURCE_EXHAUSTED when memory runs out.
//
// Numbers stay tame, so that comparing results means something: floats are kept within bounds of magnitude, divisors,
// logarithms and roots stay away from poles, and what jumps (rounding, comparing, conversion to integers, sorting) is
// fed with values that no change of rounding reaches. Constants with NaN, infinities and -0 are there but rare, and
// spread little.
HLO_MUST_USE HloStatus hlo_generate(const HloGenerateOptions *options, HloModule **out);

#endif
