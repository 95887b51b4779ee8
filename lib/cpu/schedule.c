// The schedule of a module: breadth-first, every computation but the fused ones (CPU pass chapter, §14).

#include "hlo/cpu.h"

typedef struct Queue {
    HloInstruction **sequence;  // what has been taken, then what waits to be
    size_t count;
    uint32_t *waits;  // by instruction id: distinct operands and control predecessors not yet taken
} Queue;

static void end_wait(Queue *queue, const HloVec *waiting) {
    for (size_t k = 0; k < waiting->count; k++) {
        HloInstruction *inst = waiting->items[k];
        if (--queue->waits[inst->id] == 0) queue->sequence[queue->count++] = inst;
    }
}

// Users are listed once each, so counting them counts distinct operands.
static void count_waits(Queue *queue, const HloComputation *comp) {
    HLO_EACH_INST(inst, comp) {
        for (size_t k = 0; k < hlo_user_count(inst); k++) queue->waits[hlo_user(inst, k)->id]++;
        for (size_t k = 0; k < hlo_control_succs(inst)->count; k++) {
            queue->waits[((const HloInstruction *)hlo_control_succs(inst)->items[k])->id]++;
        }
    }
}

// First in, first out: the sequence itself is the queue.
static HloStatus schedule_computation(HloModule *m, HloComputation *comp, HloArena *scratch) {
    Queue queue = {
        .sequence = HLO_NEW_ARRAY(&m->arena, HloInstruction *, comp->count),
        .waits = HLO_NEW_ARRAY(scratch, uint32_t, comp->id_limit),
    };
    count_waits(&queue, comp);
    HLO_EACH_INST(inst, comp) {
        if (!queue.waits[inst->id]) queue.sequence[queue.count++] = inst;
    }
    for (size_t i = 0; i < queue.count; i++) {
        end_wait(&queue, &queue.sequence[i]->users);
        end_wait(&queue, hlo_control_succs(queue.sequence[i]));
    }
    if (queue.count != comp->count) {
        return hlo_error(HLO_INTERNAL, "Schedule for computation %s has %zu instructions, expected %zu", comp->name,
                         queue.count, comp->count);
    }
    comp->sequence = queue.sequence;
    comp->sequence_count = queue.count;
    return hlo_ok();
}

typedef struct Scheduling {
    HloModule *m;
    HloArena scratch;
} Scheduling;

static HloStatus schedule_all(void *data) {
    Scheduling *work = data;
    HLO_EACH_COMP(comp, work->m) {
        if (!hlo_is_fusion_computation(comp)) HLO_TRY(schedule_computation(work->m, comp, &work->scratch));
    }
    work->m->is_scheduled = true;
    return hlo_ok();
}

HloStatus hlo_cpu_schedule(HloModule *m) {
    if (m->is_scheduled) return hlo_ok();
    Scheduling work = {.m = m};
    HloStatus status = hlo_guarded((HloArena *const[]){&m->arena, &work.scratch, NULL}, schedule_all, &work);
    hlo_arena_free(&work.scratch);
    return status;
}
