// Shape inference and verification (chapter "verifier and inference").
#ifndef HLO_INFER_H
#define HLO_INFER_H

#include "hlo/flags.h"
#include "hlo/module.h"
#include "hlo/status.h"

// The result shape of an instruction from its opcode, operand shapes, attributes and callees; inst->shape is not
// read. `inst` need not be in a computation. Opcodes whose shape cannot be inferred (convert, reshape,
// parameter, …) give INVALID_ARGUMENT "cannot infer shape for opcode: X"; impossible operands give a message that
// names what does not fit.
HLO_MUST_USE HloStatus hlo_infer_shape(HloModule *m, const HloInstruction *inst, const HloShape **out);

// Which rules hold. All zero: layouts do not count, floats of several precisions do not meet, and what most modules
// need not obey is not asked (verifier chapter §2).
typedef struct HloVerifyOptions {
    bool layout_sensitive;
    bool allow_mixed_precision;
    bool allow_fused_dead_code;  // passes may be about to remove it

    // Rules that are on unless their option is set.
    bool allow_unbounded;          // dimensions `?` in results
    bool allow_resizing_bitcasts;  // bitcasts between tiled shapes whose data take the same room
    bool allow_any_devices;        // shardings that fit no number of partitions
    bool allow_any_groups;         // replica groups that fit no number of replicas

    // Rules that are off unless their option is set.
    bool sorted_broadcasts;  // dimensions of broadcasts rise
    bool bitcast_reshapes;   // reshapes outside fusions move no element
    bool callee_threads;     // calls and custom calls run on the thread of what they call
    bool kept_names;         // instructions are still named as scheduled
    bool kept_layouts;       // opcodes that layout assignment does not let change a layout do not
    bool no_host_memory;     // no layout is in host memory
    bool own_element_sizes;  // only types of less than a byte have an element size: what the CPU can do
    bool no_deadlocks;       // scheduled sends and receives cannot wait for each other
} HloVerifyOptions;

// The flags of programs that verify; topic "verify".
HloFlagSet hlo_verify_flags(HloVerifyOptions *options);

// Checks every rule on every instruction; the first violation is an INTERNAL status that names the instruction
// and the rule. Linear in the module.
HLO_MUST_USE HloStatus hlo_verify_module(const HloModule *m, const HloVerifyOptions *options);

#endif
