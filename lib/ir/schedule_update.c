// Keeping schedules true to instructions that passes added and removed.

#include "hlo/module.h"

typedef struct Update {
    HloArena *scratch;
    uint32_t *waits;      // by instruction id: operands and control predecessors not yet placed
    HloBits scheduled;    // by instruction id: stood in the old sequence
    HloVec ready;         // new instructions whose wait is over
    HloInstruction **sequence;
    size_t count;
} Update;

static void finish_wait(Update *u, const HloVec *waiting) {
    for (size_t k = 0; k < waiting->count; k++) {
        HloInstruction *inst = waiting->items[k];
        if (hlo_bits_has(u->scheduled, inst->id) || --u->waits[inst->id]) continue;
        hlo_vec_push(u->scratch, &u->ready, inst);
    }
}

static void place(Update *u, HloInstruction *inst) {
    u->sequence[u->count++] = inst;
    finish_wait(u, &inst->users);
    finish_wait(u, &inst->control_succs);
}

static void place_ready(Update *u) {
    for (size_t next = 0; next < u->ready.count; next++) place(u, u->ready.items[next]);
    u->ready.count = 0;
}

// Counts per user, not per operand slot: users are kept once each, and place() ends one wait per user.
static void count_waits(Update *u, const HloComputation *comp) {
    HLO_EACH_INST(inst, comp) {
        for (size_t k = 0; k < hlo_user_count(inst); k++) u->waits[hlo_user(inst, k)->id]++;
        for (size_t k = 0; k < inst->control_succs.count; k++) {
            const HloInstruction *after = inst->control_succs.items[k];
            u->waits[after->id]++;
        }
    }
}

static bool is_in(const HloInstruction *inst, const HloComputation *comp) {
    return inst->comp == comp;
}

static void update_sequence(HloModule *m, HloComputation *comp, HloArena *scratch) {
    Update u = {.scratch = scratch,
                .waits = HLO_NEW_ARRAY(scratch, uint32_t, comp->id_limit),
                .scheduled = hlo_bits_new(scratch, comp->id_limit),
                .sequence = HLO_NEW_ARRAY(&m->arena, HloInstruction *, comp->count)};
    for (size_t k = 0; k < comp->sequence_count; k++) {
        if (is_in(comp->sequence[k], comp)) hlo_bits_add(u.scheduled, comp->sequence[k]->id);
    }
    count_waits(&u, comp);
    HLO_EACH_INST(inst, comp) {
        bool is_new = !hlo_bits_has(u.scheduled, inst->id);
        if (is_new && !u.waits[inst->id]) hlo_vec_push(scratch, &u.ready, inst);
    }
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
