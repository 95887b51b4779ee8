// The verifier, inside: its context, how rules report, and the rules of each family.
//
// A rule has a name of a few words; a failure names the instruction and the rule. The verifier trusts nothing it has
// not checked before: structure comes first, and every later rule may rely on it.
#ifndef HLO_LIB_IR_VERIFY_RULES_H
#define HLO_LIB_IR_VERIFY_RULES_H

#include "infer_rules.h"

// A set of interned names.
typedef struct HloNameSet {
    const char **slots;
    unsigned shift;  // 64 - log2 of the number of slots
} HloNameSet;

typedef struct HloVerify {
    const HloModule *m;
    HloVerifyOptions options;
    HloArena *arena;   // for everything that lives as long as the run
    HloShapes shapes;  // inferred shapes that are not the declared ones, in `arena`

    // What the walk over all instructions collects.
    HloNameSet names;
    HloBits walked;                       // computations that were walked to their end, by id
    HloVec calls;                         // instructions that call, in walking order
    bool calls_ahead;                     // some callee had not been walked before its caller
    HloVec late;                          // instructions whose rules look at more than operands
    bool has_buffers;                     // some shape or custom call has to do with buffers
    const HloInstruction *all_reduce[2];  // one without and one with constrain_layout

    // What late rules share.
    HloMap wrapped;   // async instruction -> the computation that its chain runs
    HloMap channels;  // host transfer channel -> its first instruction
    HloBits bodies;   // async bodies that were checked, by id
} HloVerify;

typedef HloStatus (*HloVerifyFn)(HloVerify *v, const HloInstruction *inst);

// How a declared shape is compared with the inferred one (verifier chapter §4.2).
typedef enum HloVerifyCompare {
    HLO_COMPARE_LOOSE,  // layouts and dynamic flags never matter
    HLO_COMPARE_SAME,   // layout-sensitive: everything matters
    HLO_COMPARE_ORDER,  // layout-sensitive: of layouts only the minor-to-major order
} HloVerifyCompare;

// ---- reporting ------------------------------------------------------------------------------------------

// `instruction 'x' (add in 'e') breaks rule NAME: message`.
HloStatus hlo_verify_fail(const HloInstruction *inst, HloCode code, const char *rule, const char *format, ...)
    HLO_PRINTF(4, 5);
// The same for a computation, or for the module.
HloStatus hlo_verify_fail_comp(const HloComputation *comp, const char *rule, const char *format, ...) HLO_PRINTF(3, 4);
HloStatus hlo_verify_fail_module(HloCode code, const char *rule, const char *format, ...) HLO_PRINTF(3, 4);
// A shape for messages, with layout when layouts are checked.
const char *hlo_verify_text(const HloVerify *v, const HloShape *shape);

// ---- shared by the families -----------------------------------------------------------------------------

// Equal as far as the mode looks: up to layout and flags, or fully.
bool hlo_verify_same(const HloVerify *v, const HloShape *a, const HloShape *b);
// Equal up to layout and flags; with mixed precision also up to float precision.
bool hlo_verify_compatible(const HloVerify *v, const HloShape *a, const HloShape *b);
// Equal element types; with mixed precision also any two float types.
bool hlo_verify_types_agree(const HloVerify *v, HloType a, HloType b);
// Rule result-shape.
HLO_MUST_USE HloStatus hlo_verify_result(const HloVerify *v, const HloInstruction *inst, const HloShape *inferred,
                                         HloVerifyCompare compare);
// What inference works with; the declared shape stands for the inferred one where `compare` does not tell them apart.
HloInfer hlo_verify_inference(HloVerify *v, const HloInstruction *inst, HloVerifyCompare compare);
// Infers by the opcode's rule; rule operands when that fails.
HLO_MUST_USE HloStatus hlo_verify_infer(HloVerify *v, const HloInstruction *inst, HloVerifyCompare compare,
                                        const HloShape **out);
// Infers and compares.
HLO_MUST_USE HloStatus hlo_verify_inferred(HloVerify *v, const HloInstruction *inst, HloVerifyCompare compare);
HLO_MUST_USE HloStatus hlo_verify_context(HloStatus status, const HloInstruction *inst, const char *rule);
HLO_MUST_USE HloStatus hlo_verify_operand_count(const HloInstruction *inst, size_t wanted);
// The name of the thread that a computation runs on.
const char *hlo_verify_thread(const HloComputation *comp);
HLO_MUST_USE HloStatus hlo_verify_callee_thread(const HloInstruction *inst, const HloComputation *callee);
// Output-to-operand aliases of fusions and custom calls.
HLO_MUST_USE HloStatus hlo_verify_aliases(HloVerify *v, const HloInstruction *inst);

// ---- phases, in order -----------------------------------------------------------------------------------

HloStatus hlo_verify_computation(HloVerify *v, const HloComputation *comp);  // verify_structure.c
HloStatus hlo_verify_calls(HloVerify *v);                                    // verify_callgraph.c
HloStatus hlo_verify_buffers(HloVerify *v);                                  // verify_buffers.c
HloStatus hlo_verify_header(HloVerify *v);                                   // verify_module.c
HloStatus hlo_verify_schedule(HloVerify *v);                                 // verify_schedule.c
HloStatus hlo_verify_deadlocks(HloVerify *v);                                // verify_deadlock.c
HloStatus hlo_verify_optional(HloVerify *v);                                 // verify_optional.c

// ---- parts of the walk ----------------------------------------------------------------------------------

// Rules that look at the instruction and its operands only; the others are put on v->late. (verify_shape.c)
HloStatus hlo_verify_instruction(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_late(HloVerify *v);
HloStatus hlo_verify_sharding(HloVerify *v, const HloInstruction *inst, const HloSharding *sharding);
HloStatus hlo_verify_origin(const HloVerify *v, const HloInstruction *inst, const HloOrigin *origin);
// A start and its done: who must consume and produce whom. (verify_async.c)
HloStatus hlo_verify_pair(const HloInstruction *inst);
bool hlo_verify_is_async_root(const HloInstruction *inst);
// Custom calls that exist to make or end buffers. (verify_buffers.c)
bool hlo_verify_is_buffer_call(const char *target);
// The sequence of one computation. (verify_schedule.c)
HloStatus hlo_verify_sequence(const HloVerify *v, const HloComputation *comp);

// ---- rules of opcodes -----------------------------------------------------------------------------------

// verify_elementwise.c
HloStatus hlo_verify_elementwise(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_compare(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_convert(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_bitcast_convert(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_stochastic_convert(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_copy(HloVerify *v, const HloInstruction *inst);

// verify_movement.c
HloStatus hlo_verify_parameter(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_tuple(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_get_tuple_element(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_constant(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_iota(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_broadcast(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_reshape(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_dynamic_reshape(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_bitcast(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_add_dependency(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_dynamic_update_slice(HloVerify *v, const HloInstruction *inst);

// verify_numeric.c
HloStatus hlo_verify_dot(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_ragged_dot(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_scaled_dot(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_convolution(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_reducer_types(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_sort(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_scan(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_rng(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_rng_bit_generator(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_rng_state(HloVerify *v, const HloInstruction *inst);

// verify_calls.c
HloStatus hlo_verify_while(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_conditional(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_call(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_custom_call(HloVerify *v, const HloInstruction *inst);

// verify_fusion.c
HloStatus hlo_verify_fusion(HloVerify *v, const HloInstruction *inst);

// verify_collective.c
HloStatus hlo_verify_all_gather(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_all_reduce(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_reduce_scatter(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_all_to_all(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_ragged_all_to_all(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_collective_permute(HloVerify *v, const HloInstruction *inst);

// verify_async.c
HloStatus hlo_verify_async_start(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_async_update(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_async_done(HloVerify *v, const HloInstruction *inst);

// verify_channels.c
HloStatus hlo_verify_copy_start(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_copy_done(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_send(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_recv(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_recv_done(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_infeed(HloVerify *v, const HloInstruction *inst);
HloStatus hlo_verify_outfeed(HloVerify *v, const HloInstruction *inst);

#endif
