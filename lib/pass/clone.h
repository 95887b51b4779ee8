// Which callees belong to one instruction.
#ifndef HLO_PASS_CLONE_H
#define HLO_PASS_CLONE_H

#include "hlo/instruction.h"

// Fusions and async-starts: a second one must not call the same computation.
bool hlo_owns_callee(const HloInstruction *inst);

#endif
