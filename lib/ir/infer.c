// Shape inference: which rule an opcode has.
//
// Opcodes without a rule depend on more than operands, attributes and callees: their shape must be declared.

#include "infer_rules.h"

static const HloInferFn rules[HLO_OP_COUNT] = {
    [HLO_OP_ABS] = hlo_infer_unary,
    [HLO_OP_ACOS] = hlo_infer_unary,
    [HLO_OP_ACOSH] = hlo_infer_unary,
    [HLO_OP_ASIN] = hlo_infer_unary,
    [HLO_OP_ASINH] = hlo_infer_unary,
    [HLO_OP_ATANH] = hlo_infer_unary,
    [HLO_OP_CBRT] = hlo_infer_unary,
    [HLO_OP_CEIL] = hlo_infer_unary,
    [HLO_OP_COPY] = hlo_infer_operand0,
    [HLO_OP_COS] = hlo_infer_unary,
    [HLO_OP_COSH] = hlo_infer_unary,
    [HLO_OP_CLZ] = hlo_infer_unary,
    [HLO_OP_ERF] = hlo_infer_unary,
    [HLO_OP_EXP] = hlo_infer_unary,
    [HLO_OP_EXPM1] = hlo_infer_unary,
    [HLO_OP_FLOOR] = hlo_infer_unary,
    [HLO_OP_IMAG] = hlo_infer_unary,
    [HLO_OP_IS_FINITE] = hlo_infer_unary,
    [HLO_OP_LOG] = hlo_infer_unary,
    [HLO_OP_LOG1P] = hlo_infer_unary,
    [HLO_OP_LOGISTIC] = hlo_infer_unary,
    [HLO_OP_NEGATE] = hlo_infer_unary,
    [HLO_OP_NOT] = hlo_infer_unary,
    [HLO_OP_POPCNT] = hlo_infer_unary,
    [HLO_OP_REAL] = hlo_infer_unary,
    [HLO_OP_ROUND_AFZ] = hlo_infer_unary,
    [HLO_OP_ROUND_EVEN] = hlo_infer_unary,
    [HLO_OP_RSQRT] = hlo_infer_unary,
    [HLO_OP_SIGN] = hlo_infer_unary,
    [HLO_OP_SIN] = hlo_infer_unary,
    [HLO_OP_SINH] = hlo_infer_unary,
    [HLO_OP_SQRT] = hlo_infer_unary,
    [HLO_OP_TAN] = hlo_infer_unary,
    [HLO_OP_TANH] = hlo_infer_unary,
    [HLO_OP_REDUCE_PRECISION] = hlo_infer_reduce_precision,

    [HLO_OP_ADD] = hlo_infer_binary,
    [HLO_OP_AND] = hlo_infer_binary,
    [HLO_OP_ATAN2] = hlo_infer_binary,
    [HLO_OP_COMPARE] = hlo_infer_binary,
    [HLO_OP_COMPLEX] = hlo_infer_complex,
    [HLO_OP_DIVIDE] = hlo_infer_binary,
    [HLO_OP_MAXIMUM] = hlo_infer_binary,
    [HLO_OP_MINIMUM] = hlo_infer_binary,
    [HLO_OP_MULHI] = hlo_infer_binary,
    [HLO_OP_MULTIPLY] = hlo_infer_binary,
    [HLO_OP_OR] = hlo_infer_binary,
    [HLO_OP_POWER] = hlo_infer_binary,
    [HLO_OP_REMAINDER] = hlo_infer_binary,
    [HLO_OP_SHIFT_LEFT] = hlo_infer_binary,
    [HLO_OP_SHIFT_RIGHT_ARITHMETIC] = hlo_infer_binary,
    [HLO_OP_SHIFT_RIGHT_LOGICAL] = hlo_infer_binary,
    [HLO_OP_SUBTRACT] = hlo_infer_binary,
    [HLO_OP_XOR] = hlo_infer_binary,
    [HLO_OP_CLAMP] = hlo_infer_clamp,
    [HLO_OP_SELECT] = hlo_infer_select,

    [HLO_OP_PARTITION_ID] = hlo_infer_u32,
    [HLO_OP_REPLICA_ID] = hlo_infer_u32,
    [HLO_OP_TUPLE] = hlo_infer_tuple,
    [HLO_OP_GET_TUPLE_ELEMENT] = hlo_infer_get_tuple_element,

    [HLO_OP_BROADCAST] = hlo_infer_broadcast,
    [HLO_OP_CONCATENATE] = hlo_infer_concatenate,
    [HLO_OP_COPY_START] = hlo_infer_copy_start,
    [HLO_OP_COPY_DONE] = hlo_infer_element0,
    [HLO_OP_DYNAMIC_SLICE] = hlo_infer_dynamic_slice,
    [HLO_OP_DYNAMIC_UPDATE_SLICE] = hlo_infer_dynamic_update_slice,
    [HLO_OP_GATHER] = hlo_infer_gather,
    [HLO_OP_GET_DIMENSION_SIZE] = hlo_infer_get_dimension_size,
    [HLO_OP_OPT_BARRIER] = hlo_infer_operand0,
    [HLO_OP_PAD] = hlo_infer_pad,
    [HLO_OP_REVERSE] = hlo_infer_reverse,
    [HLO_OP_SCATTER] = hlo_infer_scatter,
    [HLO_OP_SET_DIMENSION_SIZE] = hlo_infer_set_dimension_size,
    [HLO_OP_SLICE] = hlo_infer_slice,
    [HLO_OP_TRANSPOSE] = hlo_infer_transpose,

    [HLO_OP_MAP] = hlo_infer_map,
    [HLO_OP_REDUCE] = hlo_infer_reduce,
    [HLO_OP_REDUCE_WINDOW] = hlo_infer_reduce_window,
    [HLO_OP_SCAN] = hlo_infer_scan,
    [HLO_OP_SELECT_AND_SCATTER] = hlo_infer_select_and_scatter,
    [HLO_OP_SORT] = hlo_infer_sort,
    [HLO_OP_TOPK] = hlo_infer_topk,

    [HLO_OP_ASYNC_UPDATE] = hlo_infer_operand0,
    [HLO_OP_ASYNC_DONE] = hlo_infer_element1,
    [HLO_OP_CALL] = hlo_infer_call,
    [HLO_OP_CONDITIONAL] = hlo_infer_conditional,
    [HLO_OP_FUSION] = hlo_infer_fusion,
    [HLO_OP_WHILE] = hlo_infer_while,
    [HLO_OP_ADD_DEPENDENCY] = hlo_infer_operand0,
    [HLO_OP_AFTER_ALL] = hlo_infer_token,
    [HLO_OP_DOMAIN] = hlo_infer_operand0,

    [HLO_OP_BATCH_NORM_GRAD] = hlo_infer_batch_norm,
    [HLO_OP_BATCH_NORM_INFERENCE] = hlo_infer_batch_norm,
    [HLO_OP_BATCH_NORM_TRAINING] = hlo_infer_batch_norm,
    [HLO_OP_CHOLESKY] = hlo_infer_cholesky,
    [HLO_OP_CONVOLUTION] = hlo_infer_convolution,
    [HLO_OP_DOT] = hlo_infer_dot,
    [HLO_OP_FFT] = hlo_infer_fft,
    [HLO_OP_RAGGED_DOT] = hlo_infer_ragged_dot,
    [HLO_OP_RNG_GET_AND_UPDATE_STATE] = hlo_infer_rng_state,
    [HLO_OP_SCALED_DOT] = hlo_infer_dot,
    [HLO_OP_TRIANGULAR_SOLVE] = hlo_infer_triangular_solve,

    [HLO_OP_ALL_GATHER] = hlo_infer_all_gather,
    [HLO_OP_ALL_GATHER_START] = hlo_infer_all_gather,
    [HLO_OP_ALL_GATHER_DONE] = hlo_infer_element1,
    [HLO_OP_ALL_REDUCE] = hlo_infer_all_reduce,
    [HLO_OP_ALL_REDUCE_START] = hlo_infer_all_reduce,
    [HLO_OP_ALL_REDUCE_DONE] = hlo_infer_operand0,
    [HLO_OP_ALL_TO_ALL] = hlo_infer_all_to_all,
    [HLO_OP_COLLECTIVE_BROADCAST] = hlo_infer_operand0,
    [HLO_OP_COLLECTIVE_PERMUTE] = hlo_infer_collective_permute,
    [HLO_OP_COLLECTIVE_PERMUTE_START] = hlo_infer_collective_permute,
    [HLO_OP_COLLECTIVE_PERMUTE_DONE] = hlo_infer_element1,
    [HLO_OP_RAGGED_ALL_TO_ALL] = hlo_infer_ragged_all_to_all,
    [HLO_OP_REDUCE_SCATTER] = hlo_infer_reduce_scatter,
    [HLO_OP_SEND] = hlo_infer_send,
    [HLO_OP_SEND_DONE] = hlo_infer_token,
    [HLO_OP_RECV_DONE] = hlo_infer_recv_done,
    [HLO_OP_OUTFEED] = hlo_infer_token,
};

HloStatus hlo_infer_in(const HloInfer *cx, const HloShape **out) {
    HloOpcode op = cx->inst->op;
    if (!rules[op]) return hlo_error(HLO_INVALID_ARGUMENT, "cannot infer shape for opcode: %s", hlo_op_name(op));
    int wanted = hlo_op_info(op)->operand_count;
    if (wanted >= 0 && hlo_operand_count(cx->inst) != (size_t)wanted) {
        return hlo_infer_fail(cx, "expected %d operands, found %zu", wanted, hlo_operand_count(cx->inst));
    }
    return rules[op](cx, out);
}

HloStatus hlo_infer_shape(HloModule *m, const HloInstruction *inst, const HloShape **out) {
    return hlo_infer_in(&(HloInfer){.shapes = &m->shapes, .inst = inst, .m = m}, out);
}
