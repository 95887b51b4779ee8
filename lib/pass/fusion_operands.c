// Fusions that lose operands: because two became the same, or because the computation does not use them.

#include "hlo/rewriter.h"
#include "lib/pass/fusion_operands.h"

static void keep_parameters(HloComputation *comp, HloVec *kept) {
    if (kept->count) memcpy(comp->parameters.items, kept->items, kept->count * sizeof *kept->items);
    comp->parameters.count = kept->count;
}

// A parameter that moves to another number is a new instruction, as in the reference: it keeps everything but the name.
static HloInstruction *renumbered(HloRewriter *rw, HloComputation *comp, HloInstruction *parameter, size_t number) {
    HloInstruction *moved = hlo_inst_clone(rw->m, parameter, parameter->shape, NULL, 0, NULL);
    hlo_set_int(rw->m, moved, HLO_ATTR_PARAMETER_NUMBER, (int64_t)number);
    hlo_computation_add(comp, moved, hlo_arena_printf(rw->scratch, "param_%zu", number));
    hlo_replace_all_uses(parameter, moved);
    hlo_move_control_edges(parameter, moved);
    return moved;
}

void hlo_fusion_drop_operands(HloRewriter *rw, HloInstruction *fusion, HloBits dead) {
    HloComputation *comp = hlo_called(fusion, 0);
    size_t count = hlo_parameter_count(comp);
    HloInstruction **old = hlo_arena_copy(rw->scratch, comp->parameters.items, count * sizeof *old);
    HloVec kept = {0};
    for (size_t k = 0; k < count; k++) {
        if (hlo_bits_has(dead, k)) continue;
        bool moves = kept.count < k;
        hlo_vec_push(rw->scratch, &kept, moves ? renumbered(rw, comp, old[k], kept.count) : old[k]);
        if (moves) hlo_computation_remove(comp, old[k]);
    }
    for (size_t k = count; k-- > 0;) {
        if (!hlo_bits_has(dead, k)) continue;
        hlo_computation_remove(comp, old[k]);
        hlo_remove_operand(fusion, k);
    }
    keep_parameters(comp, &kept);
}

// Dropping parameters one by one renames the later ones each time, and names show how often. Beyond this many, names
// yield to speed.
enum { MOST_ONE_BY_ONE = 64 };

static void drop_all_at_once(HloRewriter *rw, HloInstruction *fusion, const HloVec *parameters) {
    HloBits dead = hlo_bits_new(rw->scratch, hlo_operand_count(fusion));
    for (size_t k = 0; k < parameters->count; k++) {
        hlo_bits_add(dead, (size_t)hlo_parameter_number(parameters->items[k]));
    }
    hlo_fusion_drop_operands(rw, fusion, dead);
}

// Parameters behind a dropped one are made anew, so the list of those left keeps the old instructions.
static void drop_one_by_one(HloRewriter *rw, HloInstruction *fusion, const HloVec *parameters) {
    const HloComputation *comp = hlo_called(fusion, 0);
    HloVec left = comp->parameters;
    left.items = hlo_arena_copy(rw->scratch, left.items, left.count * sizeof *left.items);
    for (size_t k = 0; k < parameters->count; k++) {
        size_t at = hlo_vec_find(&left, parameters->items[k]);
        if (at == SIZE_MAX) continue;  // listed twice
        HloBits dead = hlo_bits_new(rw->scratch, left.count);
        hlo_bits_add(dead, at);
        hlo_fusion_drop_operands(rw, fusion, dead);
        hlo_vec_remove(&left, at);
    }
}

// Drops dead parameters of a fusion computation; adds the operands that went with them to `operands`.
static void drop_parameters(HloRewriter *rw, HloComputation *comp, const HloVec *parameters, HloVec *operands) {
    HloInstruction *fusion = hlo_fusion_caller(comp);
    if (!fusion || comp->callers.count != 1 || !parameters->count) return;
    if (hlo_parameter_count(comp) != hlo_operand_count(fusion)) return;
    for (size_t k = 0; k < parameters->count; k++) {
        size_t at = (size_t)hlo_parameter_number(parameters->items[k]);
        hlo_vec_push(rw->scratch, operands, hlo_operand(fusion, at));
    }
    if (parameters->count > MOST_ONE_BY_ONE)
        drop_all_at_once(rw, fusion, parameters);
    else
        drop_one_by_one(rw, fusion, parameters);
}

// ---- removing -------------------------------------------------------------------------------------------

static bool is_garbage(const HloInstruction *inst) {
    return inst->comp && hlo_is_dead(inst) && inst->op != HLO_OP_PARAMETER && hlo_is_removable(inst) &&
           !hlo_has_side_effect(inst);
}

// Removes what died outside of a fusion because the fusion lost operands, which may again be inside of one.
static void remove_operands(HloRewriter *rw, HloVec *operands) {
    for (size_t k = 0; k < operands->count; k++) {
        HloInstruction *operand = operands->items[k];
        if (!is_garbage(operand)) continue;
        HloRemoval removal = {.arena = rw->scratch};
        HloComputation *comp = operand->comp;
        hlo_computation_remove_dead(comp, operand, &removal);
        drop_parameters(rw, comp, &removal.dead_parameters, operands);
    }
}

void hlo_fusion_drop_parameters(HloRewriter *rw, HloComputation *comp, const HloVec *parameters) {
    HloVec operands = {0};
    drop_parameters(rw, comp, parameters, &operands);
    remove_operands(rw, &operands);
}

// ---- merging --------------------------------------------------------------------------------------------

// Repeated operands go, and with them all that the computation does not use.
static void merge_repeated_operands(HloRewriter *rw, HloInstruction *fusion) {
    HloComputation *comp = hlo_called(fusion, 0);
    if (hlo_parameter_count(comp) != hlo_operand_count(fusion) || comp->callers.count != 1) return;
    HloMap first = {0};  // operand -> its first parameter
    HloBits dead = hlo_bits_new(rw->scratch, hlo_operand_count(fusion));
    bool any = false;
    for (size_t k = 0; k < hlo_operand_count(fusion); k++) {
        void **slot = hlo_map_at(rw->scratch, &first, hlo_operand(fusion, k));
        HloInstruction *parameter = hlo_parameter(comp, k);
        if (!*slot) {
            *slot = parameter;
            continue;
        }
        hlo_replace_all_uses(parameter, *slot);
        any = true;
    }
    for (size_t k = 0; k < dead.count; k++) {
        if (hlo_is_dead(hlo_parameter(comp, k))) hlo_bits_add(dead, k);
    }
    if (any) hlo_fusion_drop_operands(rw, fusion, dead);
}

// Merging looks at every operand of the fusion, so fusions with more than this many are merged once, in the end.
enum { MOST_MERGED_AT_ONCE = 64 };

static void merge_now_or_later(HloRewriter *rw, HloInstruction *fusion) {
    if (hlo_operand_count(fusion) <= MOST_MERGED_AT_ONCE) {
        merge_repeated_operands(rw, fusion);
    } else if (!rw->wide_fusions.count || rw->wide_fusions.items[rw->wide_fusions.count - 1] != fusion) {
        hlo_vec_push(rw->scratch, &rw->wide_fusions, fusion);
    }
}

void hlo_rewriter_merge_wide_fusions(HloRewriter *rw) {
    HloMap done = {0};
    for (size_t k = 0; k < rw->wide_fusions.count; k++) {
        HloInstruction *fusion = rw->wide_fusions.items[k];
        void **slot = hlo_map_at(rw->scratch, &done, fusion);
        if (fusion->comp && !*slot) merge_repeated_operands(rw, fusion);
        *slot = fusion;
    }
    rw->wide_fusions = (HloVec){0};
}

static bool merges_operands(const HloInstruction *inst) {
    return inst->op == HLO_OP_FUSION && hlo_int(inst, HLO_ATTR_FUSION_KIND) != HLO_FUSION_KIND_CUSTOM;
}

void hlo_rewriter_move_uses(HloRewriter *rw, HloInstruction *old_inst, HloInstruction *new_inst) {
    HloVec fusions = {0};
    for (size_t k = 0; k < hlo_user_count(old_inst); k++) {
        HloInstruction *user = hlo_user(old_inst, k);
        if (merges_operands(user)) hlo_vec_push(rw->scratch, &fusions, user);
    }
    hlo_replace_all_uses(old_inst, new_inst);
    for (size_t k = 0; k < fusions.count; k++) merge_now_or_later(rw, fusions.items[k]);
}
