// Keeping schedules true to instructions that passes added and removed.

#include "hlo/module.h"

typedef struct Update {
    HloArena *scratch;
    HloBits scheduled;  // by instruction id: stood in the old sequence
    uint32_t *waits;    // by instruction id: operands and control predecessors not yet placed; new instructions only
    HloVec *waiting;    // by instruction id: new instructions that wait for it, in list order
    HloVec ready;       // new instructions whose wait is over
    HloInstruction **sequence;
    size_t count;
} Update;

static bool is_in(const HloInstruction *inst, const HloComputation *comp) {
    return inst->comp == comp;
}

static void wait_for(Update *u, HloInstruction *inst, const HloVec *others) {
    for (size_t k = 0; k < others->count; k++) {
        const HloInstruction *other = others->items[k];
        hlo_vec_push(u->scratch, &u->waiting[other->id], inst);
        u->waits[inst->id]++;
    }
}

static void find_new(Update *u, HloComputation *comp) {
    for (size_t k = 0; k < comp->sequence_count; k++) {
        if (is_in(comp->sequence[k], comp)) hlo_bits_add(u->scheduled, comp->sequence[k]->id);
    }
    HLO_EACH_INST(inst, comp) {
        if (hlo_bits_has(u->scheduled, inst->id)) continue;
        wait_for(u, inst, &inst->operands);
        wait_for(u, inst, hlo_control_preds(inst));
        if (!u->waits[inst->id]) hlo_vec_push(u->scratch, &u->ready, inst);
    }
}

static void place(Update *u, HloInstruction *inst) {
    u->sequence[u->count++] = inst;
    const HloVec *waiting = &u->waiting[inst->id];
    for (size_t k = 0; k < waiting->count; k++) {
        HloInstruction *next = waiting->items[k];
        if (--u->waits[next->id] == 0) hlo_vec_push(u->scratch, &u->ready, next);
    }
}

static void place_ready(Update *u) {
    for (size_t next = 0; next < u->ready.count; next++) place(u, u->ready.items[next]);
    u->ready.count = 0;
}

static void update_sequence(HloModule *m, HloComputation *comp, HloArena *scratch) {
    Update u = {.scratch = scratch,
                .scheduled = hlo_bits_new(scratch, comp->id_limit),
                .waits = HLO_NEW_ARRAY(scratch, uint32_t, comp->id_limit),
                .waiting = HLO_NEW_ARRAY(scratch, HloVec, comp->id_limit),
                .sequence = HLO_NEW_ARRAY(&m->arena, HloInstruction *, comp->count)};
    find_new(&u, comp);
    place_ready(&u);
    for (size_t k = 0; k < comp->sequence_count; k++) {
        if (!is_in(comp->sequence[k], comp)) continue;
        place(&u, comp->sequence[k]);
        place_ready(&u);
    }
    comp->sequence = u.sequence;
    comp->sequence_count = u.count;
}

static bool is_current(const HloComputation *comp) {
    if (comp->sequence_count != comp->count) return false;
    for (size_t k = 0; k < comp->sequence_count; k++) {
        if (!is_in(comp->sequence[k], comp)) return false;
    }
    return true;
}

static void schedule_new(HloModule *m, HloComputation *comp, HloArena *scratch) {
    HloInstList order = hlo_post_order(comp, scratch);
    comp->sequence = hlo_arena_copy(&m->arena, order.items, order.count * sizeof *order.items);
    comp->sequence_count = order.count;
}

void hlo_module_update_schedule(HloModule *m, HloArena *scratch) {
    if (!m->is_scheduled) return;
    HLO_EACH_COMP(comp, m) {
        if (hlo_is_fusion_computation(comp)) continue;
        if (!comp->sequence) {
            schedule_new(m, comp, scratch);
        } else if (!is_current(comp)) {
            update_sequence(m, comp, scratch);
        }
    }
}

void hlo_module_drop_schedule(HloModule *m) {
    m->is_scheduled = false;
    HLO_EACH_COMP(comp, m) {
        comp->sequence = NULL;
        comp->sequence_count = 0;
    }
}
