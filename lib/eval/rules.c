// Which rule computes which opcode.

#include "lib/eval/eval.h"

HloRule hlo_eval_rule(HloOpcode op) {
    static const HloRule rules[HLO_OP_COUNT] = {
        [HLO_OP_CONSTANT] = hlo_rule_constant,
        [HLO_OP_IOTA] = hlo_rule_iota,
        [HLO_OP_TUPLE] = hlo_rule_tuple,
        [HLO_OP_SELECT] = hlo_rule_select,
        [HLO_OP_CLAMP] = hlo_rule_clamp,
        [HLO_OP_BROADCAST] = hlo_rule_broadcast,
        [HLO_OP_RESHAPE] = hlo_rule_reshape,
        [HLO_OP_TRANSPOSE] = hlo_rule_transpose,
        [HLO_OP_REVERSE] = hlo_rule_reverse,
        [HLO_OP_SLICE] = hlo_rule_slice,
        [HLO_OP_CONCATENATE] = hlo_rule_concatenate,
        [HLO_OP_PAD] = hlo_rule_pad,
        [HLO_OP_DYNAMIC_SLICE] = hlo_rule_dynamic_slice,
        [HLO_OP_DYNAMIC_UPDATE_SLICE] = hlo_rule_dynamic_update_slice,
        [HLO_OP_BITCAST] = hlo_rule_bitcast,
        [HLO_OP_BITCAST_CONVERT] = hlo_rule_bitcast_convert,
        [HLO_OP_GATHER] = hlo_rule_gather,
        [HLO_OP_SCATTER] = hlo_rule_scatter,
        [HLO_OP_MAP] = hlo_rule_map,
        [HLO_OP_REDUCE] = hlo_rule_reduce,
        [HLO_OP_REDUCE_WINDOW] = hlo_rule_reduce_window,
        [HLO_OP_SELECT_AND_SCATTER] = hlo_rule_select_and_scatter,
        [HLO_OP_SORT] = hlo_rule_sort,
        [HLO_OP_TOPK] = hlo_rule_topk,
        [HLO_OP_DOT] = hlo_rule_dot,
        [HLO_OP_CONVOLUTION] = hlo_rule_convolution,
        [HLO_OP_CALL] = hlo_rule_call,
        [HLO_OP_FUSION] = hlo_rule_call,
        [HLO_OP_CONDITIONAL] = hlo_rule_conditional,
        [HLO_OP_WHILE] = hlo_rule_while,
        [HLO_OP_AFTER_ALL] = hlo_rule_after_all,
        [HLO_OP_ADD_DEPENDENCY] = hlo_rule_first_operand,
        [HLO_OP_OPT_BARRIER] = hlo_rule_first_operand,
        [HLO_OP_DOMAIN] = hlo_rule_first_operand,
        [HLO_OP_CHOLESKY] = hlo_rule_cholesky,
        [HLO_OP_TRIANGULAR_SOLVE] = hlo_rule_triangular_solve,
        [HLO_OP_FFT] = hlo_rule_fft,
        [HLO_OP_RNG_BIT_GENERATOR] = hlo_rule_rng_bit_generator,
        [HLO_OP_CUSTOM_CALL] = hlo_rule_custom_call,
    };
    if (rules[op]) return rules[op];
    return hlo_elementwise_knows(op) ? hlo_rule_elementwise : NULL;
}
