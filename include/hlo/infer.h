// Shape inference and verification (chapter "verifier and inference").
#ifndef HLO_INFER_H
#define HLO_INFER_H

#include "hlo/module.h"
#include "hlo/status.h"

// The result shape of an instruction from its opcode, operand shapes, attributes and callees; inst->shape is not
// read. `inst` need not be in a computation. Opcodes whose shape cannot be inferred (convert, reshape,
// parameter, …) give INVALID_ARGUMENT "cannot infer shape for opcode: X"; impossible operands give a message that
// names what does not fit.
HLO_MUST_USE HloStatus hlo_infer_shape(HloModule *m, const HloInstruction *inst, const HloShape **out);

typedef struct HloVerifyOptions {
    bool layout_sensitive;
    bool allow_mixed_precision;
    bool allow_fused_dead_code;  // passes may be about to remove it
} HloVerifyOptions;

// Checks every rule on every instruction; the first violation is an INTERNAL status that names the instruction
// and the rule. Linear in the module.
HLO_MUST_USE HloStatus hlo_verify_module(const HloModule *m, const HloVerifyOptions *options);

#endif
