// Shape inference, inside: the context of one inference, a draft of an array shape, and the rule of each family.
//
// Rules read only operands, attributes and callees of cx->inst, and trust none of them: a file can write any of these.
// What the verifier shares with inference (reducer signatures, window sizes, …) is declared here too.
#ifndef HLO_LIB_IR_INFER_RULES_H
#define HLO_LIB_IR_INFER_RULES_H

#include "hlo/infer.h"

typedef struct HloInfer {
    HloShapes *shapes;  // where results are made
    const HloInstruction *inst;
    const HloModule *m;  // for replica and partition counts
    // The verifier's: the declared shape, when neither layouts nor dynamic flags count. A rule that comes to its
    // element type and sizes gives it instead of making a shape. Else NULL.
    const HloShape *declared;
} HloInfer;

typedef HloStatus (*HloInferFn)(const HloInfer *cx, const HloShape **out);

// The rule of cx's opcode.
HLO_MUST_USE HloStatus hlo_infer_in(const HloInfer *cx, const HloShape **out);
// Elementwise opcodes without more to say: all operands and the result are of one shape, whose element type they take.
bool hlo_infer_keeps_type(HloOpcode op, HloType type);

// ---- shared by all families -----------------------------------------------------------------------------

static inline const HloShape *hlo_operand_shape(const HloInfer *cx, size_t k) {
    return hlo_operand(cx->inst, k)->shape;
}
static inline bool hlo_dim_is_dynamic(const HloShape *shape, size_t d) {
    return shape->dynamic && shape->dynamic[d];
}
// Element types that inference lets meet: equal, or both floats.
static inline bool hlo_types_agree(HloType a, HloType b) {
    return a == b || (hlo_type_is_float(a) && hlo_type_is_float(b));
}
// Two sizes that agree: equal, or one of them unbounded.
static inline bool hlo_sizes_agree(int64_t a, int64_t b) {
    return a == b || a == HLO_UNBOUNDED || b == HLO_UNBOUNDED;
}

// INVALID_ARGUMENT `opcode: message`.
HloStatus hlo_infer_fail(const HloInfer *cx, const char *format, ...) HLO_PRINTF(2, 3);
// A shape without layout, for messages.
const char *hlo_infer_text(const HloInfer *cx, const HloShape *shape);
const char *hlo_infer_dims_text(const HloInfer *cx, HloDims dims);

// Fails unless operand k is an array; `role` names it.
HLO_MUST_USE HloStatus hlo_infer_array(const HloInfer *cx, size_t k, const char *role);
HLO_MUST_USE HloStatus hlo_infer_all_arrays(const HloInfer *cx);
// Fails unless every entry lies in [0, limit).
HLO_MUST_USE HloStatus hlo_infer_in_range(const HloInfer *cx, const char *what, HloDims dims, size_t limit);
HLO_MUST_USE HloStatus hlo_infer_distinct(const HloInfer *cx, const char *what, HloDims dims);
HLO_MUST_USE HloStatus hlo_infer_sorted(const HloInfer *cx, const char *what, HloDims dims);
// True when entries are distinct; linear for sorted lists.
bool hlo_dims_are_distinct(HloArena *arena, HloDims dims);
bool hlo_dims_are_permutation(HloArena *arena, HloDims dims, size_t rank);

// The called computation in a slot, with its root set.
HLO_MUST_USE HloStatus hlo_infer_callee(const HloInfer *cx, size_t slot, const HloComputation **out);

// The higher-precision one of two element types (verifier chapter §1, HP).
HloType hlo_type_higher_precision(HloType a, HloType b);
// Equal up to layout, dynamic flags and float precision.
bool hlo_shape_compatible_fp(const HloShape *a, const HloShape *b);

// An array shape under construction. Small ranks live on the stack.
enum { HLO_DRAFT_RANK = 8 };
typedef struct HloDraft {
    size_t rank;
    int64_t *dims;
    bool *dynamic;
    int64_t small_dims[HLO_DRAFT_RANK];
    bool small_dynamic[HLO_DRAFT_RANK];
} HloDraft;

// All sizes 0 and static. Keep the draft in place: it may point into itself.
void hlo_draft_init(HloDraft *draft, const HloInfer *cx, size_t rank);
static inline void hlo_draft_set(HloDraft *draft, size_t d, int64_t size, bool dynamic) {
    draft->dims[d] = size;
    draft->dynamic[d] = dynamic;
}
// Dimension d of the draft as dimension `from_d` of a shape.
static inline void hlo_draft_copy(HloDraft *draft, size_t d, const HloShape *from, size_t from_d) {
    hlo_draft_set(draft, d, from->dims[from_d], hlo_dim_is_dynamic(from, from_d));
}
void hlo_draft_copy_all(HloDraft *draft, const HloInfer *cx, const HloShape *from);
// True when the verifier's declared shape is what the draft says: finishing it will give that one.
bool hlo_draft_is_declared(const HloDraft *draft, const HloInfer *cx, HloType type);
// The finished array with default layout; fails when its size does not fit.
HLO_MUST_USE HloStatus hlo_draft_finish(const HloDraft *draft, const HloInfer *cx, HloType type, const HloShape **out);
HLO_MUST_USE HloStatus hlo_draft_finish_layout(const HloDraft *draft, const HloInfer *cx, HloType type,
                                               const HloLayout *layout, const HloShape **out);

// A tuple of the given shapes; fails when it gets too deep or has too many leaves to be handled.
HLO_MUST_USE HloStatus hlo_infer_make_tuple(const HloInfer *cx, const HloShape *const *elements, size_t count,
                                            const HloShape **out);
// False when tuples nest too deep or have too many parts.
bool hlo_shape_is_manageable(const HloShape *shape);
// The shape with another element type and layout.
const HloShape *hlo_infer_retyped(const HloInfer *cx, const HloShape *shape, HloType type, const HloLayout *layout);
// The shapes of operands [first, first + count) as a tuple, or the only one itself.
HLO_MUST_USE HloStatus hlo_infer_operands_tuple(const HloInfer *cx, size_t first, size_t count, const HloShape **out);

// Reducer signature (§5.4) for `count` inputs with these element types and init shapes. On success `result` is the
// computation's result shape.
HLO_MUST_USE HloStatus hlo_infer_reducer(const HloInfer *cx, const HloComputation *reducer, size_t count,
                                         const HloShape *const *inputs, const HloShape *const *inits);
// Window rule (§5.5): the result draft gets sizes and flags of `base` seen through `window`.
HLO_MUST_USE HloStatus hlo_infer_window(const HloInfer *cx, const HloShape *base, const HloWindow *window,
                                        HloDraft *draft);
// Output size of one window dimension over a base of `size` elements.
HLO_MUST_USE HloStatus hlo_infer_window_size(const HloInfer *cx, int64_t size, const HloWindowDim *dim, int64_t *out);
// Result of a dot with the given element type.
HLO_MUST_USE HloStatus hlo_infer_dot_typed(const HloInfer *cx, HloType type, const HloShape **out);
HLO_MUST_USE HloStatus hlo_infer_convolution_typed(const HloInfer *cx, HloType type, const HloShape **out);
// Result of bitcast-convert and convert to a given element type.
HLO_MUST_USE HloStatus hlo_infer_bitcast_convert_to(const HloInfer *cx, HloType type, const HloShape **out);
HLO_MUST_USE HloStatus hlo_infer_convert_to(const HloInfer *cx, HloType type, const HloShape **out);

// How many devices one group of a collective spans.
HLO_MUST_USE HloStatus hlo_infer_subgroup_size(const HloInfer *cx, int64_t *out);

// ---- rules ----------------------------------------------------------------------------------------------

// infer_elementwise.c
HloStatus hlo_infer_unary(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_binary(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_complex(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_select(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_clamp(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_reduce_precision(const HloInfer *cx, const HloShape **out);

// infer_movement.c
HloStatus hlo_infer_broadcast(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_transpose(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_reverse(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_concatenate(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_pad(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_get_dimension_size(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_set_dimension_size(const HloInfer *cx, const HloShape **out);

// infer_slice.c
HloStatus hlo_infer_slice(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_dynamic_slice(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_dynamic_update_slice(const HloInfer *cx, const HloShape **out);

// infer_gather.c
HloStatus hlo_infer_gather(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_scatter(const HloInfer *cx, const HloShape **out);

// infer_reduce.c
HloStatus hlo_infer_reduce(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_map(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_sort(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_topk(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_scan(const HloInfer *cx, const HloShape **out);

// infer_window.c
HloStatus hlo_infer_reduce_window(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_select_and_scatter(const HloInfer *cx, const HloShape **out);

// infer_dot.c
HloStatus hlo_infer_dot(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_ragged_dot(const HloInfer *cx, const HloShape **out);

// infer_convolution.c
HloStatus hlo_infer_convolution(const HloInfer *cx, const HloShape **out);

// infer_control.c
HloStatus hlo_infer_operand0(const HloInfer *cx, const HloShape **out);  // the operand's shape, of any kind
HloStatus hlo_infer_u32(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_token(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_tuple(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_get_tuple_element(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_while(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_conditional(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_call(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_fusion(const HloInfer *cx, const HloShape **out);

// infer_collective.c
HloStatus hlo_infer_all_gather(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_all_reduce(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_reduce_scatter(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_all_to_all(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_ragged_all_to_all(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_collective_permute(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_element0(const HloInfer *cx, const HloShape **out);  // element 0 of the operand's tuple
HloStatus hlo_infer_element1(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_copy_start(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_send(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_recv_done(const HloInfer *cx, const HloShape **out);

// infer_linalg.c
HloStatus hlo_infer_fft(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_triangular_solve(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_cholesky(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_batch_norm(const HloInfer *cx, const HloShape **out);
HloStatus hlo_infer_rng_state(const HloInfer *cx, const HloShape **out);

#endif
