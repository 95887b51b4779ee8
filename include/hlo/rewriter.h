// HloRewriter: how passes change a module, and the builders they use.
//
// Every rewrite has a name. A rule returns the replacement for the instruction it was given, the engine replaces and
// names it; other passes call hlo_replace themselves. Builders add to the computation of the current subject,
// infer what they can, stamp the new instruction with its origin, and keep their first failure in the rewriter: after
// a failure they return NULL and do nothing, so rule bodies carry no plumbing.
#ifndef HLO_REWRITER_H
#define HLO_REWRITER_H

#include "hlo/pass.h"

typedef struct HloRewriter {
    HloPassContext *cx;
    HloModule *m;
    HloArena *scratch;        // cx->scratch
    HloComputation *comp;     // where builders add
    HloInstruction *subject;  // what the current rule looks at; origin of what builders make
    const char *rule;         // name of the current rule
    HloStatus failure;        // first failure of a builder; owned
    bool changed;
    HloVec wide_fusions;  // fusions whose repeated operands hlo_rewriter_finish merges
} HloRewriter;

// For one run of a pass over one module; hlo_rewriter_finish ends it.
HloRewriter hlo_rewriter(HloPassContext *cx, HloModule *m);
// Ends a pass: merges what is left to merge, tells whether something changed and hands over the first failure.
HLO_MUST_USE HloStatus hlo_rewriter_finish(HloRewriter *rw, bool *changed);
// Points builders at `inst`: its computation, its origin.
void hlo_rewriter_at(HloRewriter *rw, HloInstruction *inst);
// True when the run's rewrite limit is reached: passes then leave everything as it is.
bool hlo_rewriter_is_spent(const HloRewriter *rw);
// Counts and announces one rewrite that the pass does itself (in place, or a removal); call it before the change.
void hlo_rewriter_note(HloRewriter *rw, const char *rule, HloInstruction *old_inst, HloInstruction *new_inst);

// ---- replacing ------------------------------------------------------------------------------------------

typedef enum HloReplaceFlags {
    HLO_REPLACE_PLAIN = 0,
    HLO_REPLACE_RELAY_CONTROL = 1,      // give old's control edges to new, bridge those of operands that die with old;
                                        // without it an old with edges is refused, and operands with edges stay
    HLO_REPLACE_PRESERVE_SHARDING = 2,  // refuse when both have shardings that differ
    HLO_REPLACE_KEEP_OPERANDS = 4,      // remove old alone, not the operands that it leaves dead
    HLO_REPLACE_KEEP_ORIGIN = 8,        // new keeps its origin, or the lack of one
    HLO_REPLACE_PART = 16,              // part of a rewrite that was announced: not counted, not stopped by the limit
} HloReplaceFlags;

// Replaces `old` by `new` (same computation, compatible shapes): metadata, frontend attributes and sharding move when
// new lacks them, an origin always; all uses and rootness move; new takes old's name when the opcodes are the same
// (custom calls: and the targets); old and its now dead operands are removed. Returns false and changes nothing when
// refused. Incompatible shapes are an INTERNAL failure in the rewriter. Source: simplifier chapter §2.
bool hlo_replace(HloRewriter *rw, HloInstruction *old_inst, HloInstruction *new_inst, const char *rule);
bool hlo_replace_with(HloRewriter *rw, HloInstruction *old_inst, HloInstruction *new_inst, const char *rule,
                      unsigned flags);

// Moves all uses of `old` to `new` and nothing else ("RAUW"): `old` stays, dead. Fusions among the users lose operands
// that now repeat (custom fusions keep them); fusions with many operands lose them when the pass ends.
void hlo_rewriter_move_uses(HloRewriter *rw, HloInstruction *old_inst, HloInstruction *new_inst);

// Removes a dead instruction and every operand that it leaves dead (hlo_computation_remove_dead), parameters
// of fusion computations included.
void hlo_rewriter_remove(HloRewriter *rw, HloInstruction *inst);

// Takes the parameters in `dead` (by number; without users) out of the computation of a fusion and the operands with
// them. Parameters behind the first removed one are made anew, named `param_<number>`.
void hlo_fusion_drop_operands(HloRewriter *rw, HloInstruction *fusion, HloBits dead);
// The same for dead parameters of a fusion computation, one after the other in the given order, and for the operands
// that die with them. Does nothing for computations that are not a fusion's own.
void hlo_fusion_drop_parameters(HloRewriter *rw, HloComputation *comp, const HloVec *parameters);

// Adds a copy of a computation to the module, called `<name>.clone`; instructions keep names and order. Computations
// that its fusions and async-starts own are copied too, inner ones first. *made, when given, grows by the number of
// instructions.
HloComputation *hlo_rewriter_clone_computation(HloRewriter *rw, const HloComputation *comp, size_t *made);

// ---- rules ----------------------------------------------------------------------------------------------

// Returns the replacement, `inst` itself when it changed something in place, or NULL when it does not apply.
typedef HloInstruction *(*HloRuleFn)(HloRewriter *rw, HloInstruction *inst);

typedef struct HloRule {
    HloOpcode op;
    const char *name;
    HloRuleFn apply;
} HloRule;

// Tries the rules of each instruction's opcode in table order over every non-fusion computation, one walk in
// post-order; new instructions are not visited.
HloStatus hlo_apply_rules(HloPassContext *cx, HloModule *m, const HloRule *rules, size_t count, bool *changed);

// ---- building -------------------------------------------------------------------------------------------
// All of these add to rw->comp and return the new instruction, or NULL after a failure (also when an operand is NULL).
// They are "plain adds": no metadata, sharding or frontend attributes; hlo_derive gives those.

// The general form; attributes are set on the result.
HloInstruction *hlo_build(HloRewriter *rw, HloOpcode op, const HloShape *shape, HloInstruction *const *operands,
                          size_t count);
// A detached instruction (made with hlo_inst_new, attributes set, shape NULL): infers the shape and adds it.
HloInstruction *hlo_build_inferred(HloRewriter *rw, HloInstruction *detached);
// A copy of `inst` with other operands, same shape (NULL) or another; keeps the name as the base of the new one. A
// fusion and an async-start own their computation, so their copies get a copy of it; other callees are shared.
HloInstruction *hlo_build_clone(HloRewriter *rw, const HloInstruction *inst, const HloShape *shape,
                                HloInstruction *const *operands, size_t count);

// The same, called `x.clone` (`x.clone2` for a clone, …).
HloInstruction *hlo_build_clone_named(HloRewriter *rw, const HloInstruction *inst, const HloShape *shape,
                                      HloInstruction *const *operands, size_t count);

// Operations whose shape is inferred from the operands; a compare's direction is an HLO_COMPARE_DIRECTION_….
HloInstruction *hlo_build_unary(HloRewriter *rw, HloOpcode op, HloInstruction *x);
HloInstruction *hlo_build_binary(HloRewriter *rw, HloOpcode op, HloInstruction *a, HloInstruction *b);
HloInstruction *hlo_build_compare(HloRewriter *rw, int64_t direction, HloInstruction *a, HloInstruction *b);
HloInstruction *hlo_build_select(HloRewriter *rw, HloInstruction *p, HloInstruction *a, HloInstruction *b);
// The shape of `x` with another element type.
HloInstruction *hlo_build_convert(HloRewriter *rw, HloInstruction *x, HloType type);
HloInstruction *hlo_build_constant(HloRewriter *rw, const HloLiteral *literal);  // literal in the module's arena
// A constant of rank 0; the value is rounded to the type.
HloInstruction *hlo_build_scalar(HloRewriter *rw, HloType type, double value);
// A scalar constant of x's element type, broadcast to x's static shape when x is no scalar. Both are derived from x.
HloInstruction *hlo_build_like(HloRewriter *rw, const HloInstruction *x, double value);
HloInstruction *hlo_build_reshape(HloRewriter *rw, const HloShape *shape, HloInstruction *x);
HloInstruction *hlo_build_bitcast(HloRewriter *rw, const HloShape *shape, HloInstruction *x);
HloInstruction *hlo_build_broadcast(HloRewriter *rw, const HloShape *shape, HloInstruction *x, HloDims dims);
HloInstruction *hlo_build_transpose(HloRewriter *rw, HloInstruction *x, HloDims permutation);
HloInstruction *hlo_build_slice(HloRewriter *rw, HloInstruction *x, const HloSliceDim *dims);
HloInstruction *hlo_build_concatenate(HloRewriter *rw, HloInstruction *const *operands, size_t count,
                                      int64_t dimension);
HloInstruction *hlo_build_pad(HloRewriter *rw, HloInstruction *x, HloInstruction *value, const HloPaddingDim *dims);
HloInstruction *hlo_build_reduce(HloRewriter *rw, HloInstruction *x, HloInstruction *init, HloDims dims,
                                 HloComputation *reducer);
HloInstruction *hlo_build_tuple(HloRewriter *rw, HloInstruction *const *operands, size_t count);
HloInstruction *hlo_build_gte(HloRewriter *rw, HloInstruction *tuple, int64_t index);
HloInstruction *hlo_build_copy(HloRewriter *rw, HloInstruction *x);

// Copies metadata, frontend attributes (minus `_xla_compute_type`), sharding (not onto a reshape or transpose) and,
// for the same opcode, backend_config from `from` ("derived add"). Returns `inst`; NULL stays NULL.
HloInstruction *hlo_derive(HloRewriter *rw, HloInstruction *inst, const HloInstruction *from);

#endif
