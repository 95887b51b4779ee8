// dce: removes what nobody uses: instructions, outputs and parameters of fusions, computations.
//
//   %d = f32[4] exponential(%a)
//   ROOT %n = f32[4] negate(%a)
// becomes
//   ROOT %n = f32[4] negate(%a)
//
// Side effects, control edges and the parameters of ordinary computations stay. A fusion with several outputs loses the
// ones that no get-tuple-element reads; with one left it becomes a fusion without tuple.
//
// Needs: nothing.  Keeps: the schedule (the runner brings it up to date), side effects.

#include <strings.h>

#include "hlo/pass.h"
#include "hlo/rewriter.h"

typedef struct Dce {
    HloRewriter rw;
    bool keep_collectives;  // false: those without constrained layout count as free of effects
    HloBits effects;        // by computation id: an instruction in it or in its callees has a side effect
} Dce;

static bool has_effect(const Dce *d, const HloInstruction *inst) {
    if (hlo_has_own_side_effect(inst)) return true;
    for (size_t k = 0; k < inst->called.count; k++) {
        if (hlo_bits_has(d->effects, hlo_called(inst, k)->id)) return true;
    }
    return false;
}

// ---- outputs of fusions ---------------------------------------------------------------------------------

static bool is_read_by_elements_only(const HloInstruction *fusion) {
    for (size_t k = 0; k < hlo_user_count(fusion); k++) {
        if (hlo_user(fusion, k)->op != HLO_OP_GET_TUPLE_ELEMENT) return false;
    }
    return hlo_user_count(fusion) > 0;
}

// A sharding of the fusion has one element per output, so a fusion with one keeps its outputs.
static bool may_lose_outputs(const HloInstruction *fusion) {
    const HloInstruction *tuple = hlo_called(fusion, 0)->root;
    return tuple->op == HLO_OP_TUPLE && !hlo_has(tuple, HLO_ATTR_SHARDING) && !hlo_has_control_edges(tuple) &&
           hlo_int(fusion, HLO_ATTR_FUSION_KIND) != HLO_FUSION_KIND_CUSTOM &&
           !hlo_has(fusion, HLO_ATTR_OUTPUT_TO_OPERAND_ALIASING) && !hlo_has_control_edges(fusion) &&
           !hlo_has(fusion, HLO_ATTR_SHARDING) && !hlo_is_root(fusion) &&
           fusion->shape->rank == hlo_operand_count(tuple) && is_read_by_elements_only(fusion);
}

// Bit k: output k is read, or computing it has an effect.
static HloBits find_live_outputs(const Dce *d, const HloInstruction *fusion, size_t *count) {
    const HloInstruction *tuple = hlo_called(fusion, 0)->root;
    HloBits live = hlo_bits_new(d->rw.scratch, hlo_operand_count(tuple));
    for (size_t k = 0; k < hlo_user_count(fusion); k++) {
        uint64_t index = (uint64_t)hlo_int(hlo_user(fusion, k), HLO_ATTR_INDEX);
        if (index < live.count) hlo_bits_add(live, index);
    }
    *count = 0;
    for (size_t k = 0; k < live.count; k++) {
        if (has_effect(d, hlo_operand(tuple, k))) hlo_bits_add(live, k);
        *count += hlo_bits_has(live, k);
    }
    return live;
}

static void keep_one_output(HloRewriter *rw, HloInstruction *fusion, size_t at) {
    HloInstruction *tuple = hlo_called(fusion, 0)->root;
    hlo_computation_set_root(tuple->comp, hlo_operand(tuple, at));
    hlo_computation_remove(tuple->comp, tuple);
    fusion->shape = fusion->shape->elements[at];
    HloVec gtes = {0};
    for (size_t k = 0; k < hlo_user_count(fusion); k++) hlo_vec_push(rw->scratch, &gtes, hlo_user(fusion, k));
    for (size_t k = 0; k < gtes.count; k++) {
        hlo_replace_with(rw, gtes.items[k], fusion, "unread-fusion-output",
                         HLO_REPLACE_RELAY_CONTROL | HLO_REPLACE_PART);
    }
}

static void renumber_elements(HloRewriter *rw, HloInstruction *fusion, const int64_t *new_index) {
    for (size_t k = 0; k < hlo_user_count(fusion); k++) {
        HloInstruction *gte = hlo_user(fusion, k);
        hlo_set_int(rw->m, gte, HLO_ATTR_INDEX, new_index[hlo_int(gte, HLO_ATTR_INDEX)]);
    }
}

static void keep_outputs(HloRewriter *rw, HloInstruction *fusion, HloBits live) {
    HloInstruction *tuple = hlo_called(fusion, 0)->root;
    HloVec kept = {0};
    int64_t *new_index = HLO_NEW_ARRAY(rw->scratch, int64_t, live.count);
    for (size_t k = 0; k < live.count; k++) {
        new_index[k] = (int64_t)kept.count;
        if (hlo_bits_has(live, k)) hlo_vec_push(rw->scratch, &kept, hlo_operand(tuple, k));
    }
    HloInstruction *smaller = hlo_build_tuple(rw, (HloInstruction *const *)kept.items, kept.count);
    if (!smaller) return;
    const char *name = tuple->name;
    hlo_computation_set_root(tuple->comp, smaller);
    hlo_computation_remove(tuple->comp, tuple);
    hlo_inst_set_name(smaller, name);
    fusion->shape = smaller->shape;
    renumber_elements(rw, fusion, new_index);
}

static void drop_unread_outputs(Dce *d, HloComputation *comp) {
    HloRewriter *rw = &d->rw;
    HloInstruction *fusion = hlo_fusion_caller(comp);
    if (!may_lose_outputs(fusion) || hlo_rewriter_is_spent(rw)) return;
    size_t count;
    HloBits live = find_live_outputs(d, fusion, &count);
    if (count == live.count || count == 0) return;
    hlo_rewriter_at(rw, comp->root);
    hlo_rewriter_note(rw, "unread-fusion-output", fusion, fusion);
    size_t first = 0;
    while (!hlo_bits_has(live, first)) first++;
    if (count == 1)
        keep_one_output(rw, fusion, first);
    else
        keep_outputs(rw, fusion, live);
}

// ---- dead instructions ----------------------------------------------------------------------------------

static bool is_yes(const char *text) {
    if (!text) return false;
    return strcasecmp(text, "true") == 0 || strcasecmp(text, "yes") == 0 || strcmp(text, "1") == 0;
}

// The attributes by which users keep loops as they are.
static bool is_kept_by_attribute(const HloInstruction *inst) {
    static const char *const keys[] = {"xla_disable_while_loop_dce", "xla.disable_while_loop_dce",
                                       "xla_preserve_tuple_indices", "xla.preserve_tuple_indices"};
    for (size_t k = 0; k < HLO_COUNT(keys); k++) {
        if (is_yes(hlo_frontend_attribute(inst, keys[k]))) return true;
    }
    return false;
}

static bool is_target(const HloInstruction *inst, const char *target) {
    return inst->op == HLO_OP_CUSTOM_CALL && strcmp(hlo_text(inst, HLO_ATTR_CUSTOM_CALL_TARGET), target) == 0;
}

// A sharding annotation on a value that others see says something about that value, used or not.
static bool annotates_live_value(const HloInstruction *inst) {
    if (!is_target(inst, "Sharding") || hlo_operand_count(inst) == 0) return false;
    const HloInstruction *value = hlo_operand(inst, 0);
    return hlo_is_root(value) || value->op == HLO_OP_PARAMETER || hlo_user_count(value) > 1;
}

static bool is_free_collective(const HloInstruction *inst) {
    return hlo_op_has(inst->op, HLO_OPF_COLLECTIVE) && !hlo_int(inst, HLO_ATTR_CONSTRAIN_LAYOUT);
}

static bool has_only_collective_effects(const Dce *d, const HloComputation *comp) {
    HLO_EACH_INST(inst, comp) {
        if (has_effect(d, inst) && !is_free_collective(inst)) return false;
    }
    return true;
}

static bool may_drop_effect(const Dce *d, const HloInstruction *inst) {
    if (is_target(inst, "tpu_custom_call")) {
        const char *allowed = hlo_frontend_attribute(inst, "xla_allow_dce_side_effecting_op");
        return allowed && strcmp(allowed, "true") == 0;
    }
    if (d->keep_collectives) return false;
    if (is_free_collective(inst)) return true;
    return inst->op == HLO_OP_WHILE && has_only_collective_effects(d, hlo_called(inst, 0)) &&
           has_only_collective_effects(d, hlo_called(inst, 1));
}

static bool is_garbage(const Dce *d, const HloInstruction *inst) {
    if (!hlo_is_dead(inst) || inst->op == HLO_OP_PARAMETER || hlo_has_control_edges(inst)) return false;
    if (annotates_live_value(inst) || is_kept_by_attribute(inst)) return false;
    return !has_effect(d, inst) || may_drop_effect(d, inst);
}

static void remove_garbage(Dce *d, HloComputation *comp) {
    HloVec garbage = {0};
    HLO_EACH_INST(inst, comp) {
        if (is_garbage(d, inst)) hlo_vec_push(d->rw.scratch, &garbage, inst);
    }
    for (size_t k = 0; k < garbage.count && !hlo_rewriter_is_spent(&d->rw); k++) {
        if (hlo_guards_effects(garbage.items[k])) {
            d->rw.changed = true;  // as the reference says, although it stays
            continue;
        }
        hlo_rewriter_note(&d->rw, "dead-instruction", garbage.items[k], NULL);
        hlo_rewriter_remove(&d->rw, garbage.items[k]);
    }
}

// ---- parameters of fusions ------------------------------------------------------------------------------

static bool is_dead_parameter(const HloComputation *comp, size_t k) {
    const HloInstruction *parameter = hlo_parameter(comp, k);
    return hlo_is_dead(parameter) && !hlo_has_control_edges(parameter);
}

static void drop_dead_parameters(HloRewriter *rw, HloComputation *comp) {
    HloVec dead = {0};
    for (size_t k = hlo_parameter_count(comp); k-- > 0;) {
        if (is_dead_parameter(comp, k)) hlo_vec_push(rw->scratch, &dead, hlo_parameter(comp, k));
    }
    if (!dead.count || hlo_rewriter_is_spent(rw)) return;
    HloInstruction *fusion = hlo_fusion_caller(comp);
    hlo_rewriter_note(rw, "dead-fusion-parameter", fusion, fusion);
    hlo_fusion_drop_parameters(rw, comp, &dead);
}

// ---- computations ---------------------------------------------------------------------------------------

static void clean(Dce *d, HloComputation *comp) {
    bool is_fusion = hlo_is_fusion_computation(comp);
    if (is_fusion) drop_unread_outputs(d, comp);
    remove_garbage(d, comp);
    if (is_fusion) drop_dead_parameters(&d->rw, comp);
}

// Cleans a computation before it looks at what is left to call. Returns what was reached, by computation id.
static HloBits clean_reachable(Dce *d, HloModule *m) {
    HloBits reached = hlo_bits_new(d->rw.scratch, m->computation_id_limit);
    HloVec stack = {0};
    hlo_bits_add(reached, m->entry->id);
    hlo_vec_push(d->rw.scratch, &stack, m->entry);
    while (stack.count) {
        HloComputation *comp = hlo_vec_pop(&stack);
        clean(d, comp);
        HLO_EACH_INST(inst, comp) {
            for (size_t k = 0; k < inst->called.count; k++) {
                HloComputation *callee = hlo_called(inst, k);
                if (hlo_bits_claim(reached, callee->id)) hlo_vec_push(d->rw.scratch, &stack, callee);
            }
        }
    }
    return reached;
}

// Callers go before callees, so that nothing that goes still has a caller.
static void remove_unreached(HloRewriter *rw, HloModule *m, HloBits reached) {
    HloCompList order = hlo_module_post_order(m, rw->scratch);
    for (size_t k = order.count; k-- > 0;) {
        HloComputation *comp = order.items[k];
        if (hlo_bits_has(reached, comp->id) || comp->callers.count || hlo_rewriter_is_spent(rw)) continue;
        hlo_rewriter_note(rw, "unreached-computation", comp->root, NULL);
        hlo_module_remove(m, comp);
    }
}

static HloStatus run(HloPassContext *cx, HloModule *m, bool *changed) {
    Dce d = {.rw = hlo_rewriter(cx, m)};
    d.keep_collectives = !hlo_option_bool(cx, "remove-cross-partition-collectives");
    d.effects = hlo_module_find_effects(m, cx->scratch);
    HloBits reached = clean_reachable(&d, m);
    remove_unreached(&d.rw, m, reached);
    return hlo_rewriter_finish(&d.rw, changed);
}

static const HloOptionSpec options[] = {
    {"remove-cross-partition-collectives", HLO_OPTION_BOOL, "false",
     "remove dead collectives, and loops whose only effects are collectives"},
};

const HloPass hlo_pass_dce = {
    .name = "dce",
    .summary = "removes instructions, fusion parameters and computations that nobody uses",
    .options = options,
    .option_count = HLO_COUNT(options),
    .run = run,
};
