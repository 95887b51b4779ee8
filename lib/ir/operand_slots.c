// Where an instruction with many operands holds each of them: doubly linked lists of slots, one per operand.

#include "lib/ir/operand_slots.h"

#include "hlo/module.h"
#include "lib/ir/edges.h"

enum { MOST_SCANNED = 64 };  // up to this many operands are looked through one by one

// Slots are counted from 1; 0 ends a list.
struct HloOperandSlots {
    HloMap first;  // operand -> the first slot of its list
    uint32_t *next, *prev;
};

static void push_slot(HloArena *arena, HloOperandSlots *slots, const HloInstruction *operand, uint32_t slot) {
    void **first = hlo_map_at(arena, &slots->first, operand);
    slots->next[slot] = (uint32_t)(uintptr_t)*first;
    slots->prev[slot] = 0;
    if (*first) slots->prev[slots->next[slot]] = slot;
    *first = (void *)(uintptr_t)slot;
}

static void take_slot(HloArena *arena, HloOperandSlots *slots, const HloInstruction *operand, uint32_t slot) {
    uint32_t next = slots->next[slot], prev = slots->prev[slot];
    if (next) slots->prev[next] = prev;
    if (prev)
        slots->next[prev] = next;
    else
        *hlo_map_at(arena, &slots->first, operand) = (void *)(uintptr_t)next;
}

static HloOperandSlots *index_slots(HloArena *arena, const HloInstruction *inst) {
    HloOperandSlots *slots = HLO_NEW(arena, HloOperandSlots);
    size_t count = inst->operands.count;
    slots->next = HLO_NEW_ARRAY(arena, uint32_t, count + 1);
    slots->prev = HLO_NEW_ARRAY(arena, uint32_t, count + 1);
    for (size_t k = count; k-- > 0;) {
        if (inst->operands.items[k]) push_slot(arena, slots, inst->operands.items[k], (uint32_t)(k + 1));
    }
    return slots;
}

static HloOperandSlots *slots_of(HloInstruction *inst) {
    if (inst->operands.count <= MOST_SCANNED || inst->operands.count >= UINT32_MAX || !inst->comp) return NULL;
    HloInstructionExtra *extra = hlo_instruction_extra(inst->comp->m, inst);
    if (!extra->operand_slots) extra->operand_slots = index_slots(&inst->comp->m->arena, inst);
    return extra->operand_slots;
}

void hlo_slots_set(HloInstruction *inst, size_t k, HloInstruction *operand) {
    HloOperandSlots *slots = slots_of(inst);
    if (slots) {
        HloArena *arena = &inst->comp->m->arena;
        if (inst->operands.items[k]) take_slot(arena, slots, inst->operands.items[k], (uint32_t)(k + 1));
        push_slot(arena, slots, operand, (uint32_t)(k + 1));
    }
    inst->operands.items[k] = operand;
}

void hlo_slots_replace(HloInstruction *inst, const HloInstruction *old, HloInstruction *new) {
    HloOperandSlots *slots = slots_of(inst);
    if (!slots) {
        for (size_t k = 0; k < inst->operands.count; k++) {
            if (inst->operands.items[k] == old) inst->operands.items[k] = new;
        }
        return;
    }
    HloArena *arena = &inst->comp->m->arena;
    uint32_t slot = (uint32_t)(uintptr_t)hlo_map_find(&slots->first, old);
    while (slot) {
        uint32_t next = slots->next[slot];
        push_slot(arena, slots, new, slot);
        inst->operands.items[slot - 1] = new;
        slot = next;
    }
    *hlo_map_at(arena, &slots->first, old) = NULL;
}

bool hlo_slots_has(HloInstruction *inst, const HloInstruction *operand) {
    HloOperandSlots *slots = slots_of(inst);
    if (slots) return hlo_map_find(&slots->first, operand) != NULL;
    return hlo_vec_find(&inst->operands, operand) != SIZE_MAX;
}
