// Inside the IR only: linking an instruction's edges when it enters or leaves a computation.
#ifndef HLO_IR_EDGES_H
#define HLO_IR_EDGES_H

#include "hlo/instruction.h"

// The part that few instructions have, made when there is none.
HloInstructionExtra *hlo_instruction_extra(HloModule *m, HloInstruction *inst);

void hlo_link_operands(HloInstruction *inst);
void hlo_unlink_operands(HloInstruction *inst);
void hlo_link_callees(HloInstruction *inst);
void hlo_unlink_callees(HloInstruction *inst);

#endif
