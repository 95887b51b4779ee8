// Routines of linear algebra behind custom calls.
#ifndef HLO_LIB_EVAL_LINALG_H
#define HLO_LIB_EVAL_LINALG_H

#include "lib/eval/eval.h"
#include "lib/numerics/lapack.h"

// The routine that a custom call means; false when none is known by that name with these shapes.
bool hlo_find_routine(const HloInstruction *inst, HloLapack *call);
// Runs it on the operands; `*out` is new, of the instruction's shape.
HLO_MUST_USE HloStatus hlo_run_routine(HloMachine *vm, const HloLapack *call, HloDatum **args, HloDatum **out);

#endif
