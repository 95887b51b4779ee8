// algsimp: rewrites by algebra, a few hundred rules in one fixed point.
//
//   %z = f32[] constant(2)
//   %b = f32[4]{0} broadcast(%z), dimensions={}
//   ROOT %d = f32[4]{0} divide(%p, %b)
// becomes
//   %constant = f32[] constant(0.5)
//   %broadcast = f32[4]{0} broadcast(%constant), dimensions={}
//   ROOT %multiply = f32[4]{0} multiply(%p, %broadcast)
//
// This file is the driver; the rules stand in algsimp_*.c, one table per family. Every computation that is not a
// fusion's is swept until a sweep changes nothing. No folding, no CSE, no DCE: other passes do that.
//
// Needs: a valid module.  Keeps: the call graph, but for reducers that dot and reduce rules add.

#include "algsimp.h"

#include "hlo/pass.h"

enum { MAX_SWEEPS = 50 };  // as the reference: another limit would change results users compare

// ---- the rules by opcode --------------------------------------------------------------------------------

typedef struct RuleIndex {
    const HloAlgRule **rules;        // sorted by opcode, table order within one
    size_t first[HLO_OP_COUNT + 1];  // where an opcode's rules start; the next entry is where they end
} RuleIndex;

typedef HloAlgTable (*TableFn)(void);

static const TableFn tables[] = {
    hlo_alg_arith_rules,   hlo_alg_divide_rules,    hlo_alg_unary_rules,     hlo_alg_minmax_rules,
    hlo_alg_logic_rules,   hlo_alg_convert_rules,   hlo_alg_broadcast_rules, hlo_alg_constant_rules,
    hlo_alg_reshape_rules, hlo_alg_transpose_rules, hlo_alg_copy_rules,      hlo_alg_concat_rules,
    hlo_alg_slice_rules,   hlo_alg_pad_rules,       hlo_alg_dynamic_rules,   hlo_alg_index_rules,
    hlo_alg_dot_rules,     hlo_alg_reduce_rules,    hlo_alg_window_rules,    hlo_alg_conv_rules,
    hlo_alg_control_rules,
};

static RuleIndex *index_rules(HloArena *scratch) {
    RuleIndex *index = HLO_NEW(scratch, RuleIndex);
    size_t total = 0;
    for (size_t t = 0; t < HLO_COUNT(tables); t++) {
        HloAlgTable table = tables[t]();
        for (size_t i = 0; i < table.count; i++) index->first[table.rules[i].op + 1]++;
        total += table.count;
    }
    for (size_t op = 0; op < HLO_OP_COUNT; op++) index->first[op + 1] += index->first[op];

    index->rules = HLO_NEW_ARRAY(scratch, const HloAlgRule *, total);
    size_t *next = hlo_arena_copy(scratch, index->first, sizeof index->first);
    for (size_t t = 0; t < HLO_COUNT(tables); t++) {
        HloAlgTable table = tables[t]();
        for (size_t i = 0; i < table.count; i++) index->rules[next[table.rules[i].op]++] = &table.rules[i];
    }
    return index;
}

// ---- one instruction ------------------------------------------------------------------------------------

static bool replace_compatible(HloAlg *alg, HloInstruction *inst, HloInstruction *result, const char *rule) {
    if (hlo_control_preds(inst)->count || !hlo_alg_same_shape(alg, inst->shape, result->shape)) return false;
    return hlo_replace_with(alg->rw, inst, result, rule, HLO_REPLACE_RELAY_CONTROL | HLO_REPLACE_PRESERVE_SHARDING);
}

// Whether a rule computes in another float type: rules take operands and results for equally precise, but a text may
// let precisions meet.
static bool is_of_another_precision(const HloShape *a, const HloShape *b) {
    return hlo_shape_is_array(a) && hlo_shape_is_array(b) && a->type != b->type;
}

// Takes back what a rule made that was refused or found on its way that it cannot go on: instructions from `first_id`
// on, which stand last.
static void take_back(HloComputation *comp, uint32_t first_id) {
    while (comp->last->id >= first_id && !comp->last->users.count) hlo_computation_remove(comp, comp->last);
}

// Applies one rule; true when no later rule may be tried.
static bool apply(HloAlg *alg, const HloAlgRule *rule, HloInstruction *inst, bool *changed) {
    HloComputation *comp = inst->comp;
    uint32_t first_id = comp->id_limit;
    alg->rw->rule = rule->name;
    HloInstruction *result = rule->apply(alg, inst);
    if (!hlo_is_ok(alg->rw->failure)) return true;
    if (!result || (rule->form == HLO_ALG_PLAIN && is_of_another_precision(inst->shape, result->shape))) {
        take_back(comp, first_id);
        return false;
    }
    if (rule->form == HLO_ALG_STOP) return true;
    if (rule->form == HLO_ALG_IN_PLACE) {
        alg->rw->changed = true;
    } else if (result == inst) {
        hlo_rewriter_note(alg->rw, rule->name, inst, inst);
    } else if (rule->form == HLO_ALG_COMPAT) {
        if (!replace_compatible(alg, inst, result, rule->name)) return false;
    } else {
        hlo_replace_with(alg->rw, inst, result, rule->name, HLO_REPLACE_RELAY_CONTROL);
    }
    *changed = true;
    return true;
}

static void simplify(HloAlg *alg, const RuleIndex *index, HloInstruction *inst, bool *changed) {
    hlo_rewriter_at(alg->rw, inst);
    for (size_t i = index->first[inst->op]; i < index->first[inst->op + 1]; i++) {
        if (apply(alg, index->rules[i], inst, changed)) return;
    }
}

// ---- one sweep ------------------------------------------------------------------------------------------

typedef enum Mark { UNSEEN, OPEN, DONE } Mark;

typedef struct Sweep {
    HloAlg *alg;
    const RuleIndex *index;
    HloVec stack;    // HloInstruction *; capacity reused over sweeps
    uint8_t *marks;  // Mark by instruction id
    size_t mark_count;
    bool changed;
} Sweep;

// Rules make instructions while the sweep runs, so the marks grow.
static uint8_t *mark_of(Sweep *sweep, const HloInstruction *inst) {
    if (inst->id >= sweep->mark_count) {
        size_t count = 2 * (size_t)inst->id + 64;
        uint8_t *marks = HLO_NEW_ARRAY(sweep->alg->scratch, uint8_t, count);
        if (sweep->mark_count) memcpy(marks, sweep->marks, sweep->mark_count);
        sweep->marks = marks;
        sweep->mark_count = count;
    }
    return &sweep->marks[inst->id];
}

static void push_if_unseen(Sweep *sweep, HloInstruction *inst) {
    if (*mark_of(sweep, inst) == UNSEEN) hlo_vec_push(sweep->alg->scratch, &sweep->stack, inst);
}

// Operands left to right, then control predecessors: the stack takes them backwards.
static void push_inputs(Sweep *sweep, const HloInstruction *inst) {
    for (size_t k = hlo_control_preds(inst)->count; k-- > 0;) push_if_unseen(sweep, hlo_control_preds(inst)->items[k]);
    for (size_t k = hlo_operand_count(inst); k-- > 0;) push_if_unseen(sweep, hlo_operand(inst, k));
}

// Post-order from `start`. The operands of an instruction are asked for when it is opened, so it sees them rewritten;
// what a rule makes is visited when something unopened reaches it, and otherwise in the next sweep.
static void sweep_from(Sweep *sweep, HloInstruction *start) {
    push_if_unseen(sweep, start);
    while (sweep->stack.count && hlo_is_ok(sweep->alg->rw->failure)) {
        HloInstruction *inst = sweep->stack.items[sweep->stack.count - 1];
        uint8_t *mark = mark_of(sweep, inst);
        if (*mark == UNSEEN && inst->comp) {
            *mark = OPEN;
            push_inputs(sweep, inst);
            continue;
        }
        sweep->stack.count--;
        if (*mark != OPEN || !inst->comp) continue;
        *mark = DONE;
        if (!hlo_rewriter_is_spent(sweep->alg->rw)) simplify(sweep->alg, sweep->index, inst, &sweep->changed);
    }
}

static HloVec unreachable_roots(HloAlg *alg, const HloComputation *comp) {
    HloVec roots = {0};
    HLO_EACH_INST(inst, comp) {
        if (hlo_is_dead(inst) && !hlo_control_succs(inst)->count) hlo_vec_push(alg->scratch, &roots, inst);
    }
    return roots;
}

static HloStatus sweep_computation(Sweep *sweep, HloComputation *comp) {
    sweep->changed = false;
    sweep->stack.count = 0;
    if (sweep->mark_count) memset(sweep->marks, UNSEEN, sweep->mark_count);
    HloVec roots = unreachable_roots(sweep->alg, comp);
    for (size_t i = 0; i < roots.count; i++) sweep_from(sweep, roots.items[i]);
    sweep_from(sweep, comp->root);
    HloStatus failure = sweep->alg->rw->failure;
    sweep->alg->rw->failure = hlo_ok();
    return failure;
}

static HloStatus simplify_computation(Sweep *sweep, HloComputation *comp, bool once, bool *changed) {
    for (int i = 0; i < MAX_SWEEPS; i++) {
        HLO_TRY(sweep_computation(sweep, comp));
        if (!sweep->changed) break;
        *changed = true;
        if (once) break;
    }
    return hlo_ok();
}

// ---- the pass -------------------------------------------------------------------------------------------

static const HloOptionSpec options[] = {
    {"layout-sensitive", HLO_OPTION_BOOL, "false", "keep layouts, and turn what they allow into bitcasts"},
    {"executing-on-cpu", HLO_OPTION_BOOL, "false", "divide by reciprocals of broadcasts; keep matrix-vector dots"},
    {"supports-non-canonical-dots", HLO_OPTION_BOOL, "true", "dots may have their dimensions in any order"},
    {"minmax-propagate-nan", HLO_OPTION_BOOL, "true", "maximum and minimum of a NaN are NaN"},
    {"enable-fast-math", HLO_OPTION_BOOL, "false", "floats are real numbers: no NaN, no infinity, no rounding"},
    {"as-reference", HLO_OPTION_BOOL, "false",
     "also rewrite exp, sqrt and power in ways that change overflow or domain"},
    {"enable-dot-strength-reduction", HLO_OPTION_BOOL, "true", "make sums of products of vector dots"},
    {"enable-dot-to-multiply-rewrite", HLO_OPTION_BOOL, "true", "make products of dots without contraction"},
    {"rewrite-no-op-bitcast-convert-to-bitcast", HLO_OPTION_BOOL, "false", "layout-sensitive mode only"},
    {"enable-sink-broadcast", HLO_OPTION_BOOL, "true", "move broadcasts below elementwise instructions"},
    {"enable-broadcast-degenerate-dimension", HLO_OPTION_BOOL, "true", "drop size-1 dimensions before a broadcast"},
    {"enable-reduce-of-reshape", HLO_OPTION_BOOL, "true", "reduce what a reshape was made from"},
    {"enable-window-reduce-to-reduce-replacement", HLO_OPTION_BOOL, "true", "windows over whole dimensions reduce"},
    {"enable-unconditional-reduce-of-concat-replacement", HLO_OPTION_BOOL, "true", "reduce unequal parts one by one"},
    {"enable-negative-padding-replacement", HLO_OPTION_BOOL, "true", "slice instead of padding by negative amounts"},
    {"rewrite-reshape-transpose-as-slice-concatenate", HLO_OPTION_BOOL, "true", "for space-to-depth forms"},
    {"enable-conv-simplification", HLO_OPTION_BOOL, "true", "make dots of 1x1 convolutions, layout-sensitive mode"},
    {"enable-conv-operand-swap", HLO_OPTION_BOOL, "true", "swap convolution operands when the kernel gets smaller"},
    {"enable-folding-pad-into-convolution", HLO_OPTION_BOOL, "true", "pad through the window"},
    {"very-small-gather-size", HLO_OPTION_INT, "4", "gathers from that many elements become selects"},
    {"run-to-fixed-point", HLO_OPTION_BOOL, "true", "false: one sweep per computation"},
};

static void read_options(HloAlg *alg, const HloPassContext *cx) {
    alg->layout_sensitive = hlo_option_bool(cx, "layout-sensitive");
    alg->on_cpu = hlo_option_bool(cx, "executing-on-cpu");
    alg->non_canonical_dots = hlo_option_bool(cx, "supports-non-canonical-dots");
    alg->minmax_propagate_nan = hlo_option_bool(cx, "minmax-propagate-nan");
    alg->fast_math = hlo_option_bool(cx, "enable-fast-math");
    alg->as_reference = hlo_option_bool(cx, "as-reference");
    alg->dot_strength_reduction = hlo_option_bool(cx, "enable-dot-strength-reduction");
    alg->dot_to_multiply = hlo_option_bool(cx, "enable-dot-to-multiply-rewrite");
    alg->bitcast_convert_to_bitcast = hlo_option_bool(cx, "rewrite-no-op-bitcast-convert-to-bitcast");
    alg->sink_broadcast = hlo_option_bool(cx, "enable-sink-broadcast");
    alg->broadcast_degenerate = hlo_option_bool(cx, "enable-broadcast-degenerate-dimension");
    alg->reduce_of_reshape = hlo_option_bool(cx, "enable-reduce-of-reshape");
    alg->window_to_reduce = hlo_option_bool(cx, "enable-window-reduce-to-reduce-replacement");
    alg->reduce_of_concat = hlo_option_bool(cx, "enable-unconditional-reduce-of-concat-replacement");
    alg->negative_padding = hlo_option_bool(cx, "enable-negative-padding-replacement");
    alg->space_to_depth = hlo_option_bool(cx, "rewrite-reshape-transpose-as-slice-concatenate");
    alg->conv_to_dot = hlo_option_bool(cx, "enable-conv-simplification");
    alg->conv_swap = hlo_option_bool(cx, "enable-conv-operand-swap");
    alg->conv_pad = hlo_option_bool(cx, "enable-folding-pad-into-convolution");
    alg->small_gather = hlo_option_int(cx, "very-small-gather-size");
}

static HloStatus run(HloPassContext *cx, HloModule *m, bool *changed) {
    HloRewriter rw = hlo_rewriter(cx, m);
    HloAlg alg = {.rw = &rw, .m = m, .scratch = cx->scratch};
    read_options(&alg, cx);
    Sweep sweep = {.alg = &alg, .index = index_rules(cx->scratch)};
    bool once = !hlo_option_bool(cx, "run-to-fixed-point");
    HloCompList comps = hlo_module_nonfusion_order(m, cx->scratch);
    for (size_t i = 0; i < comps.count; i++) HLO_TRY(simplify_computation(&sweep, comps.items[i], once, changed));
    return hlo_rewriter_finish(&rw, changed);
}

const HloPass hlo_pass_algsimp = {
    .name = "algsimp",
    .summary = "simplifies by algebra until nothing changes",
    .options = options,
    .option_count = HLO_COUNT(options),
    .run = run,
};
