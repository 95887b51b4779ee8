// Keeping schedules true to what passes add, remove and connect.
//
//   a, b, c     where b was removed, d(a) is new, and a reads c now
// becomes
//   c, a, d

#include "hlo/module.h"

typedef struct Update {
    HloArena *scratch;
    HloBits scheduled;  // by instruction id: stood in the old sequence
    HloBits met;        // by instruction id: placed, or to be placed after what it needs
    uint32_t *waits;    // by instruction id: operands and control predecessors not yet placed; new instructions only
    HloVec *waiting;    // by instruction id: new instructions that wait for it, in list order
    HloVec ready;       // new instructions whose wait is over
    HloVec stack;       // Need *
    HloInstruction **sequence;
    size_t count;
} Update;

// An instruction that is placed after the operands and control predecessors from number `next` on.
typedef struct Need {
    HloInstruction *inst;
    size_t next;
} Need;

static HloInstruction *next_needed(Need *need) {
    const HloVec *operands = &need->inst->operands, *preds = hlo_control_preds(need->inst);
    size_t k = need->next++;
    if (k < operands->count) return operands->items[k];
    return k - operands->count < preds->count ? preds->items[k - operands->count] : NULL;
}

static bool is_in(const HloInstruction *inst, const HloComputation *comp) {
    return inst->comp == comp;
}

static void wait_for_needs(Update *u, HloInstruction *inst) {
    Need need = {inst, 0};
    for (const HloInstruction *needed; (needed = next_needed(&need));) {
        hlo_vec_push(u->scratch, &u->waiting[needed->id], inst);
        u->waits[inst->id]++;
    }
}

static void find_new(Update *u, HloComputation *comp) {
    for (size_t k = 0; k < comp->sequence_count; k++) {
        if (is_in(comp->sequence[k], comp)) hlo_bits_add(u->scheduled, comp->sequence[k]->id);
    }
    HLO_EACH_INST(inst, comp) {
        if (hlo_bits_has(u->scheduled, inst->id)) continue;
        wait_for_needs(u, inst);
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
    for (size_t next = 0; next < u->ready.count; next++) {
        HloInstruction *inst = u->ready.items[next];
        if (hlo_bits_claim(u->met, inst->id)) place(u, inst);
    }
    u->ready.count = 0;
}

static void push_need(Update *u, HloInstruction *inst) {
    if (!hlo_bits_claim(u->met, inst->id)) return;
    Need *need = HLO_NEW(u->scratch, Need);
    *need = (Need){inst, 0};
    hlo_vec_push(u->scratch, &u->stack, need);
}

// In most cases all that it needs stands before it already.
static void place_with_needs(Update *u, HloInstruction *inst) {
    push_need(u, inst);
    while (u->stack.count) {
        Need *top = u->stack.items[u->stack.count - 1];
        HloInstruction *needed = next_needed(top);
        if (needed) {
            push_need(u, needed);
        } else {
            place(u, top->inst);
            hlo_vec_pop(&u->stack);
        }
    }
}

static void update_sequence(HloModule *m, HloComputation *comp, HloArena *scratch) {
    Update u = {.scratch = scratch,
                .scheduled = hlo_bits_new(scratch, comp->id_limit),
                .met = hlo_bits_new(scratch, comp->id_limit),
                .waits = HLO_NEW_ARRAY(scratch, uint32_t, comp->id_limit),
                .waiting = HLO_NEW_ARRAY(scratch, HloVec, comp->id_limit),
                .sequence = HLO_NEW_ARRAY(&m->arena, HloInstruction *, comp->count)};
    find_new(&u, comp);
    place_ready(&u);
    for (size_t k = 0; k < comp->sequence_count; k++) {
        if (!is_in(comp->sequence[k], comp)) continue;
        place_with_needs(&u, comp->sequence[k]);
        place_ready(&u);
    }
    comp->sequence = u.sequence;
    comp->sequence_count = u.count;
}

// Each instruction stands in the sequence, after all that it needs.
static bool is_current(const HloComputation *comp, HloArena *scratch) {
    if (comp->sequence_count != comp->count) return false;
    HloBits before = hlo_bits_new(scratch, comp->id_limit);
    for (size_t k = 0; k < comp->sequence_count; k++) {
        if (!is_in(comp->sequence[k], comp)) return false;
        Need need = {comp->sequence[k], 0};
        for (const HloInstruction *needed; (needed = next_needed(&need));) {
            if (!hlo_bits_has(before, needed->id)) return false;
        }
        hlo_bits_add(before, need.inst->id);
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
        } else if (!is_current(comp, scratch)) {
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
