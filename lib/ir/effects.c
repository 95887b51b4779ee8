// What an instruction does besides computing its value, and whether it works element by element.
//
// Source: the mechanics of the simplifier chapter (side effects, elementwise).

#include "hlo/module.h"

// Collectives act on other devices when their layout is fixed or they name a channel; the parser's default
// configuration does not partition, so a channel id counts (collective-permute included).
static bool collective_has_effect(const HloInstruction *inst) {
    if (hlo_int(inst, HLO_ATTR_CONSTRAIN_LAYOUT)) return true;
    return hlo_has(inst, HLO_ATTR_CHANNEL_ID) && inst->comp && inst->comp->m->num_partitions == 1;
}

bool hlo_has_own_side_effect(const HloInstruction *inst) {
    if (hlo_op_has(inst->op, HLO_OPF_EFFECT)) return true;
    if (inst->op == HLO_OP_CUSTOM_CALL) return hlo_int(inst, HLO_ATTR_CUSTOM_CALL_HAS_SIDE_EFFECT);
    return hlo_op_has(inst->op, HLO_OPF_COLLECTIVE) && collective_has_effect(inst);
}

bool hlo_has_side_effect(const HloInstruction *inst) {
    if (hlo_has_own_side_effect(inst)) return true;
    for (size_t k = 0; k < inst->called.count; k++) {
        if (hlo_computation_has_side_effect(inst->called.items[k])) return true;
    }
    return false;
}

bool hlo_computation_has_side_effect(const HloComputation *comp) {
    HloArena scratch = {.trap = comp->m->arena.trap};
    HloMap seen = {0};
    HloVec todo = {0};
    *hlo_map_at(&scratch, &seen, comp) = NULL;
    hlo_vec_push(&scratch, &todo, comp);
    bool found = false;
    while (todo.count && !found) {
        const HloComputation *at = hlo_vec_pop(&todo);
        HLO_EACH_INST(inst, at) {
            found = found || hlo_has_own_side_effect(inst);
            for (size_t k = 0; k < inst->called.count; k++) {
                if (hlo_map_has(&seen, inst->called.items[k])) continue;
                *hlo_map_at(&scratch, &seen, inst->called.items[k]) = NULL;
                hlo_vec_push(&scratch, &todo, inst->called.items[k]);
            }
        }
    }
    hlo_arena_free(&scratch);
    return found;
}

static bool has_effect_in(const HloComputation *comp, HloBits effects) {
    HLO_EACH_INST(inst, comp) {
        if (hlo_has_own_side_effect(inst)) return true;
        for (size_t k = 0; k < inst->called.count; k++) {
            const HloComputation *callee = inst->called.items[k];
            if (hlo_bits_has(effects, callee->id)) return true;
        }
    }
    return false;
}

HloBits hlo_module_find_effects(const HloModule *m, HloArena *scratch) {
    HloBits effects = hlo_bits_new(scratch, m->computation_id_limit);
    HloCompList order = hlo_module_post_order(m, scratch);  // callees first
    for (size_t i = 0; i < order.count; i++) {
        if (has_effect_in(order.items[i], effects)) hlo_bits_add(effects, order.items[i]->id);
    }
    return effects;
}

static bool map_is_elementwise(const HloInstruction *inst) {
    HloDims dims = hlo_dims(inst, HLO_ATTR_DIMENSIONS);
    if (dims.count == 0) return true;
    if (dims.count != inst->shape->rank) return false;
    for (size_t d = 0; d < dims.count; d++) {
        if (dims.data[d] != (int64_t)d) return false;
    }
    return true;
}

// A fusion inside a fusion is not looked into, which bounds the recursion; none of the targets makes one.
static bool fusion_is_elementwise(const HloInstruction *inst) {
    HLO_EACH_INST(inner, hlo_called(inst, 0)) {
        if (inner->op == HLO_OP_PARAMETER) continue;
        if (inner->op == HLO_OP_FUSION || !hlo_is_elementwise(inner)) return false;
    }
    return true;
}

bool hlo_is_elementwise(const HloInstruction *inst) {
    switch ((int)inst->op) {
    case HLO_OP_CONSTANT:
    case HLO_OP_RNG: return true;
    case HLO_OP_MAP: return map_is_elementwise(inst);
    case HLO_OP_FUSION: return inst->called.count == 1 && fusion_is_elementwise(inst);
    case HLO_OP_BITCAST_CONVERT:
        return hlo_type_bits(inst->shape->type) == hlo_type_bits(hlo_operand(inst, 0)->shape->type);
    default: return hlo_op_has(inst->op, HLO_OPF_ELEMENTWISE);
    }
}

bool hlo_is_sharding_annotation(const HloInstruction *inst) {
    static const char *const targets[] = {
        "Sharding",
        "SPMDFullToShardShape",
        "SPMDShardToFullShape",
        "xla.sdy.FuncResultSharding",
        "xla.sdy.GlobalToLocalShape",
        "xla.sdy.LocalToGlobalShape",
    };
    if (inst->op != HLO_OP_CUSTOM_CALL || hlo_operand_count(inst) != 1) return false;
    if (!hlo_shape_equal(hlo_operand(inst, 0)->shape, inst->shape, HLO_IGNORE_LAYOUT)) return false;
    const char *target = hlo_text(inst, HLO_ATTR_CUSTOM_CALL_TARGET);
    for (size_t k = 0; k < HLO_COUNT(targets); k++) {
        if (strcmp(target, targets[k]) == 0) return true;
    }
    return false;
}
