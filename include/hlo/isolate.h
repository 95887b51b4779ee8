// One instruction as a module of its own.
#ifndef HLO_ISOLATE_H
#define HLO_ISOLATE_H

#include "hlo/module.h"

// A new module whose entry computation holds a copy of `inst`, an instruction of `m`, with a parameter for each of its
// operands, and the computations that it calls. It has no schedule and no aliases. The caller frees it; NULL when memory
// runs out.
HloModule *hlo_module_isolate(const HloModule *m, const HloInstruction *inst);

// The instructions that are worth running alone, in `arena`: those of computations that are run as a whole (not those
// of fusions, reducers and the like) except constants, parameters, tuples and get-tuple-elements.
HloVec hlo_isolated_instructions(const HloModule *m, HloArena *arena);

#endif
