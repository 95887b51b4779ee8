// Inside algsimp: what the rule files (algsimp_*.c) share with the driver (algsimp.c).
//
// Contract for a rule. It gets an instruction of its row's opcode whose operands were rewritten in this sweep, and
// returns the replacement (same dimensions and element type), the instruction itself after a change in place, or NULL
// when it does not apply. It must build nothing before it is sure to fire. Every rule shrinks something or moves
// it one way (constants right, broadcasts down, slices up), so that sweeps end; who adds a rule says which.
// Rules are tried in table order; tables are read in the order of the chapter "algsimp" of the fact book.
#ifndef HLO_ALGSIMP_H
#define HLO_ALGSIMP_H

#include "hlo/rewriter.h"

typedef struct HloAlg {
    HloRewriter *rw;
    HloModule *m;
    HloArena *scratch;
    HloMap adders;    // element type -> the reducer that adds it, made once a run
    HloMap untupled;  // reducer -> its copy without a tuple around the one result

    // Options; see the table in algsimp.c.
    bool layout_sensitive;
    bool on_cpu;
    bool non_canonical_dots;
    bool minmax_propagate_nan;
    bool fast_math;
    bool as_reference;  // rewrites that users reported as wrong, as the reference makes them
    bool dot_strength_reduction, dot_to_multiply;
    bool bitcast_convert_to_bitcast;
    bool sink_broadcast, broadcast_degenerate;
    bool reduce_of_reshape, window_to_reduce, reduce_of_concat;
    bool negative_padding, space_to_depth;
    bool conv_to_dot, conv_swap, conv_pad;
    int64_t small_gather;
} HloAlg;

typedef HloInstruction *(*HloAlgFn)(HloAlg *alg, HloInstruction *inst);

typedef enum HloAlgForm {
    HLO_ALG_PLAIN,     // the replacement takes over control edges
    HLO_ALG_COMPAT,    // refused, and the next rule tried, when the instruction has a control predecessor, when the
                       // shapes differ in the mode's sense, or when both sides have shardings that differ
    HLO_ALG_IN_PLACE,  // returns the instruction itself and has announced what it did (hlo_alg_redirect)
    HLO_ALG_STOP,      // rewrites nothing: when the function returns non-NULL no later rule is tried
} HloAlgForm;

typedef struct HloAlgRule {
    HloOpcode op;
    const char *name;
    HloAlgFn apply;
    HloAlgForm form;
} HloAlgRule;

typedef struct HloAlgTable {
    const HloAlgRule *rules;
    size_t count;
} HloAlgTable;

// The tables of the rule files; the rules of one opcode stand in one table.
HloAlgTable hlo_alg_arith_rules(void);
HloAlgTable hlo_alg_divide_rules(void);
HloAlgTable hlo_alg_unary_rules(void);
HloAlgTable hlo_alg_minmax_rules(void);
HloAlgTable hlo_alg_logic_rules(void);
HloAlgTable hlo_alg_convert_rules(void);
HloAlgTable hlo_alg_broadcast_rules(void);
HloAlgTable hlo_alg_constant_rules(void);
HloAlgTable hlo_alg_reshape_rules(void);
HloAlgTable hlo_alg_transpose_rules(void);
HloAlgTable hlo_alg_copy_rules(void);
HloAlgTable hlo_alg_concat_rules(void);
HloAlgTable hlo_alg_slice_rules(void);
HloAlgTable hlo_alg_pad_rules(void);
HloAlgTable hlo_alg_dynamic_rules(void);
HloAlgTable hlo_alg_index_rules(void);
HloAlgTable hlo_alg_dot_rules(void);
HloAlgTable hlo_alg_reduce_rules(void);
HloAlgTable hlo_alg_window_rules(void);
HloAlgTable hlo_alg_conv_rules(void);
HloAlgTable hlo_alg_control_rules(void);

// ---- matching (chapter §1.8) ----------------------------------------------------------------------------

// Under any number of broadcasts lies a constant whose elements all have the bits of `value` in their type.
bool hlo_alg_is_all(const HloInstruction *x, double value);
// The same for float types only, `value` rounded to the type.
bool hlo_alg_is_all_float(const HloInstruction *x, double value);
// A constant or not, broadcasts being none.
static inline bool hlo_alg_is_constant(const HloInstruction *x) {
    return x->op == HLO_OP_CONSTANT && hlo_shape_is_array(x->shape);
}
// A constant of rank 0, or with one element.
bool hlo_alg_is_scalar_constant(const HloInstruction *x);
bool hlo_alg_is_single_constant(const HloInstruction *x);
// `x` is such a constant and equal to `value` as a number: -0 is 0 here.
bool hlo_alg_is_scalar_value(const HloInstruction *x, double value);
bool hlo_alg_is_single_value(const HloInstruction *x, double value);
// The operand of a broadcast, or NULL when `x` is none.
HloInstruction *hlo_alg_broadcast_operand(const HloInstruction *x);
// The rank-0 operand of a broadcast; NULL for every other x.
HloInstruction *hlo_alg_splat_operand(const HloInstruction *x);
// The rank-0 constant in `broadcast(constant)`; NULL for every other x.
HloInstruction *hlo_alg_splat_constant(const HloInstruction *x);
// The one-element constant that x is, or that x broadcasts; NULL otherwise.
HloInstruction *hlo_alg_single_constant(HloInstruction *x);
// x is, or broadcasts, a one-element number that is a power of two, negative or not.
bool hlo_alg_is_power_of_two(const HloInstruction *x);
// Never negative and never -0 (chapter §1.9); false when in doubt.
bool hlo_alg_is_non_negative(const HloInstruction *x);
typedef bool (*HloAlgTest)(const HloInstruction *x);
// Finds the operand order in which `test` holds for the second operand, that one tried first.
bool hlo_alg_match_either(const HloInstruction *inst, HloAlgTest test, HloInstruction **other, HloInstruction **hit);
// One distinct user; one user that uses it once.
bool hlo_alg_has_one_user(const HloInstruction *x);
bool hlo_alg_has_one_use(const HloInstruction *x);
// The reducer's root is `op` of its two parameters, in any order.
bool hlo_alg_is_reducer(const HloComputation *reducer, HloOpcode op);
// Integers, or any type under fast math: algebra that rounding and infinities would break.
bool hlo_alg_is_exact(const HloAlg *alg, const HloInstruction *inst);

// ---- shapes ---------------------------------------------------------------------------------------------

// Equal in the mode's sense: with layouts and all in the layout-sensitive mode, else dimensions and type.
bool hlo_alg_same_shape(const HloAlg *alg, const HloShape *a, const HloShape *b);
// A bitcast would do for this reshape; always false outside the layout-sensitive mode.
bool hlo_alg_reshape_is_bitcast(const HloAlg *alg, const HloShape *from, const HloShape *to);
// A default-layout array.
const HloShape *hlo_alg_shape(HloAlg *alg, HloType type, HloDims dims);
// `like` with another element type, layout kept.
const HloShape *hlo_alg_retyped(HloAlg *alg, const HloShape *like, HloType type);
// `shape` without the dimensions in `gone` (sorted or not): remaining layout order, renumbered.
const HloShape *hlo_alg_without_dims(HloAlg *alg, const HloShape *shape, HloDims gone);

// Lists in scratch memory.
HloDims hlo_alg_iota_dims(HloAlg *alg, size_t count);
HloDims hlo_alg_inverse(HloAlg *alg, HloDims permutation);
bool hlo_alg_is_iota(HloDims dims);
bool hlo_alg_is_sorted(HloDims dims);
int64_t *hlo_alg_ints(HloAlg *alg, size_t count);
// The size-1 dimensions that a reshape deletes from its operand and inserts into its result when it does nothing
// else; false when it does anything else.
bool hlo_alg_reshape_ones(HloAlg *alg, const HloInstruction *reshape, HloDims *deleted, HloDims *inserted);
// Pairs (input dimension, output dimension) that a reshape leaves alone.
typedef struct HloAlgPairs {
    const int64_t *from, *to;
    size_t count;
} HloAlgPairs;
HloAlgPairs hlo_alg_unmodified_dims(HloAlg *alg, const HloShape *from, const HloShape *to);
// For every input dimension in `dims` its unmodified partner in the output, in order; false when one has none.
bool hlo_alg_map_unmodified(HloAlg *alg, const HloShape *from, const HloShape *to, HloDims dims, HloDims *out);

// A chain of transposes and reshapes from `inst` upwards that does nothing is the value it starts from; the rule for
// transpose, reshape and bitcast.
HloInstruction *hlo_alg_undo_chain(HloAlg *alg, HloInstruction *inst);
// Layout-sensitive mode: the nearest value above `inst`, through reshapes and copies, that a bitcast turns into it.
HloInstruction *hlo_alg_bitcast_source(const HloAlg *alg, HloInstruction *inst);
// The rule that moves a reshape before a copy.
HloInstruction *hlo_alg_swap_reshape_copy(HloAlg *alg, HloInstruction *inst);
// A broadcast whose dimensions `inst` permutes: the broadcast with the dimensions where they go, or NULL.
HloInstruction *hlo_alg_permuted_broadcast(HloAlg *alg, HloInstruction *inst, HloDims permutation);

// ---- dots -----------------------------------------------------------------------------------------------

typedef struct HloDotNumbers {
    HloDims lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;
} HloDotNumbers;

HloDotNumbers hlo_alg_dot_numbers(const HloInstruction *dot);
// A dot with the precision and algorithm of `like`; the precisions of the operands swapped when the operands are.
HloInstruction *hlo_alg_dot(HloAlg *alg, const HloInstruction *like, const HloShape *shape, HloInstruction *a,
                            HloInstruction *b, const HloDotNumbers *numbers, bool swapped);

// Rules for dot with a constant (algsimp_dot_constant.c).
HloInstruction *hlo_alg_dot_concat(HloAlg *alg, HloInstruction *inst);
HloInstruction *hlo_alg_dot_reorder(HloAlg *alg, HloInstruction *inst);
HloInstruction *hlo_alg_dot_gather(HloAlg *alg, HloInstruction *inst);

// Rules for add of scatters (algsimp_scatter.c).
HloInstruction *hlo_alg_join_scatters(HloAlg *alg, HloInstruction *inst);
HloInstruction *hlo_alg_add_scatter(HloAlg *alg, HloInstruction *inst);

// The rule for a reduce beside an arg-max (algsimp_argmax.c).
HloInstruction *hlo_alg_reduce_argmax(HloAlg *alg, HloInstruction *inst);

// ---- building -------------------------------------------------------------------------------------------

// A scalar constant of x's type, broadcast to x's static shape unless x is rank 0; both derived from `x`.
HloInstruction *hlo_alg_like(HloAlg *alg, HloInstruction *x, double value);
HloInstruction *hlo_alg_like_int(HloAlg *alg, HloInstruction *x, int64_t value);
// A rank-0 constant, not derived.
HloInstruction *hlo_alg_scalar(HloAlg *alg, HloType type, double value);
HloInstruction *hlo_alg_scalar_int(HloAlg *alg, HloType type, int64_t value);
// `op` of two operands at the shape of `like`, not inferred.
HloInstruction *hlo_alg_binary(HloAlg *alg, const HloShape *shape, HloOpcode op, HloInstruction *a, HloInstruction *b);
HloInstruction *hlo_alg_unary(HloAlg *alg, const HloShape *shape, HloOpcode op, HloInstruction *a);
// A rank-0 value broadcast to `shape`, or itself when the shape is rank 0.
HloInstruction *hlo_alg_splat(HloAlg *alg, const HloShape *shape, HloInstruction *x);
// A reduce of one array: remaining dimensions in their layout order.
HloInstruction *hlo_alg_reduce(HloAlg *alg, HloInstruction *x, HloInstruction *init, HloDims dims,
                               HloComputation *reducer);
// A dynamic-slice or dynamic-update-slice.
HloInstruction *hlo_alg_dynamic_slice(HloAlg *alg, const HloShape *shape, HloInstruction *x,
                                      HloInstruction *const *starts, size_t count, HloDims sizes);
HloInstruction *hlo_alg_dynamic_update(HloAlg *alg, const HloShape *shape, HloInstruction *x, HloInstruction *update,
                                       HloInstruction *const *starts, size_t count);
// Unit-stride slice dimensions over the whole of `shape`, in scratch memory, for the caller to narrow.
HloSliceDim *hlo_alg_whole_slice(HloAlg *alg, const HloShape *shape);
// Gives `to` the attributes of `from`'s opcode, annotations left out.
void hlo_alg_copy_own_attrs(HloAlg *alg, HloInstruction *to, const HloInstruction *from);
// Sets the bounds, copied; dims has rank entries.
void hlo_alg_set_slice(HloAlg *alg, HloInstruction *slice, const HloSliceDim *dims);
void hlo_alg_set_padding(HloAlg *alg, HloInstruction *pad, const HloPaddingDim *dims);
// The reducer `scalar_add_computation` of a type; one a run.
HloComputation *hlo_alg_adder(HloAlg *alg, HloType type);
// A new reducer `x.reduce_sub_computation` that applies `op` to elements of x.
HloComputation *hlo_alg_reducer(HloAlg *alg, const HloInstruction *x, HloOpcode op);
// Moves the uses of `old`, which stays behind, and counts as a rewrite of its user.
void hlo_alg_redirect(HloAlg *alg, HloInstruction *old, HloInstruction *replacement, const char *rule);

#endif
