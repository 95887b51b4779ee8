// Where an instruction with many operands holds each of them.
//
// A tuple of a hundred thousand elements must not be scanned for every element that is replaced. Instructions with
// more than a few operands therefore get, when first needed, an index from operand to its slots. Appending and removing
// operands drops the index; it is made again when needed.
#ifndef HLO_IR_OPERAND_SLOTS_H
#define HLO_IR_OPERAND_SLOTS_H

#include "hlo/instruction.h"

// Stores `operand` in slot k; users are the caller's business.
void hlo_slots_set(HloInstruction *inst, size_t k, HloInstruction *operand);
// Replaces every occurrence of `old`; users are the caller's business.
void hlo_slots_replace(HloInstruction *inst, const HloInstruction *old, HloInstruction *new);
bool hlo_slots_has(HloInstruction *inst, const HloInstruction *operand);

#endif
