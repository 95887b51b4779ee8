// Deadlocks of scheduled transfers between devices (verifier chapter §7.7, option no_deadlocks; the chapter names only
// the messages, the rules were found by asking the reference).
//
// Sends and receives say in a frontend attribute which devices they link. Walking the schedule through all calls, a
// transfer waits for its other side. While a send waits, another send may come only if the two of them link no
// device twice in one direction and close no ring; likewise receives while a receive waits:
//
//   send {0,1}; send {1,2}; recv {0,1}; recv {1,2}    goes on
//   send {0,1}; send {1,0}; …                         both devices wait to be received from
//
// A collective that every device joins must find nothing waiting, and nothing may wait at the end.

#include "verify_rules.h"

// Bounds of what is looked at: pairs of waiting transfers are compared, and calls unfold.
enum { MOST_WAITING = 128, MOST_STEPS = 1 << 22 };

typedef struct Transfer {
    const HloInstruction *inst;
    HloInts ends;  // source, target, source, target, …
} Transfer;

typedef enum Side { SEND, RECV } Side;

// One computation on the way from the entry.
typedef struct Frame {
    const HloComputation *comp;
    const HloInstruction *next;  // without a schedule
    size_t at, callee;           // place in the schedule; next callee of the current instruction
    struct Frame *caller;
} Frame;

typedef struct Deadlock {
    HloVerify *v;
    HloVec waiting[2];  // Transfer *, by side
    bool watched[2];    // transfers of this side wait, so others of this side must not get in their way
    HloArena *scratch;  // for one comparison
    HloBits matters;    // computations with transfers or collectives in them or below, by id
    size_t steps;
} Deadlock;

// ---- devices --------------------------------------------------------------------------------------------

static bool read_ends(HloArena *arena, const char *text, HloInts *out) {
    for (const char *at = text ? text : ""; *at;) {
        if (strchr("{}, ", *at)) {
            at++;
            continue;
        }
        int64_t number = 0;
        if (*at < '0' || *at > '9') return false;
        for (; *at >= '0' && *at <= '9'; at++) {
            if (!hlo_i64_mul(number, 10, &number) || __builtin_add_overflow(number, *at - '0', &number)) return false;
        }
        hlo_ints_push(arena, out, number);
    }
    return out->count && out->count % 2 == 0;
}

static const void *device_key(int64_t device) {
    return (const void *)(uintptr_t)((uint64_t)device + 1);
}

// Each device is a source once and a target once, and no chain of pairs ends where it begins.
static bool is_orderly(HloArena *arena, const int64_t *ends, size_t count) {
    HloMap from = {0}, to = {0};
    size_t followed = 0;
    for (size_t i = 0; i < count; i += 2) {
        void **out = hlo_map_at(arena, &from, device_key(ends[i])), **in;
        if (*out) return false;
        *out = (void *)(uintptr_t)&ends[i + 1];
        in = hlo_map_at(arena, &to, device_key(ends[i + 1]));
        if (*in) return false;
        *in = (void *)(uintptr_t)&ends[i];
    }
    for (size_t i = 0; i < count; i += 2) {
        if (hlo_map_has(&to, device_key(ends[i]))) continue;
        const int64_t *next = &ends[i];
        while ((next = hlo_map_find(&from, device_key(*next)))) followed++;
    }
    return followed == count / 2;  // what no chain reaches is a ring
}

static bool get_on(HloArena *scratch, const Transfer *a, const Transfer *b) {
    HloInts both = {0};
    hlo_arena_reset(scratch);
    for (size_t i = 0; i < a->ends.count; i++) hlo_ints_push(scratch, &both, a->ends.items[i]);
    for (size_t i = 0; i < b->ends.count; i++) hlo_ints_push(scratch, &both, b->ends.items[i]);
    return is_orderly(scratch, both.items, both.count);
}

// ---- transfers ------------------------------------------------------------------------------------------

static HloStatus read_transfer(const Deadlock *d, const HloInstruction *inst, Transfer **out) {
    Transfer *transfer = *out = HLO_NEW(d->v->arena, Transfer);
    transfer->inst = inst;
    const char *text = hlo_frontend_attribute(inst, "_xla_send_recv_source_target_pairs");
    if (!read_ends(d->v->arena, text, &transfer->ends)) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "no-deadlocks", "it does not say which devices it links");
    }
    if (is_orderly(d->v->arena, transfer->ends.items, transfer->ends.count)) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "no-deadlocks", "its devices form a ring, or one stands there twice");
}

// Takes the transfer's other side out of those waiting.
static bool take_match(HloVec *others, const Transfer *transfer) {
    for (size_t i = 0; i < others->count; i++) {
        const Transfer *other = others->items[i];
        if (other->ends.count != transfer->ends.count ||
            memcmp(other->ends.items, transfer->ends.items, transfer->ends.count * sizeof(int64_t)) != 0)
            continue;
        hlo_vec_remove(others, i);
        return true;
    }
    return false;
}

static HloStatus check_waiting(const Deadlock *d, const Transfer *transfer, Side side) {
    const HloVec *waiting = &d->waiting[side];
    for (size_t i = 0; i < waiting->count; i++) {
        const Transfer *other = waiting->items[i];
        if (get_on(d->scratch, other, transfer)) continue;
        return hlo_verify_fail(transfer->inst, HLO_INTERNAL, "no-deadlocks", "'%s' still waits for its %s",
                               other->inst->name, side == SEND ? "receive" : "send");
    }
    return hlo_ok();
}

static HloStatus visit_transfer(Deadlock *d, const HloInstruction *inst, Side side) {
    Transfer *transfer;
    Side other = side == SEND ? RECV : SEND;
    if (hlo_int(inst, HLO_ATTR_IS_HOST_TRANSFER)) return hlo_ok();
    HLO_TRY(read_transfer(d, inst, &transfer));
    if (d->watched[side]) HLO_TRY(check_waiting(d, transfer, side));
    if (d->watched[other] && take_match(&d->waiting[other], transfer)) {
        d->watched[other] = d->waiting[other].count != 0;
        return hlo_ok();
    }
    if (d->waiting[side].count == MOST_WAITING) {
        return hlo_verify_fail(inst, HLO_RESOURCE_EXHAUSTED, "no-deadlocks", "%d others wait already", MOST_WAITING);
    }
    hlo_vec_push(d->v->arena, &d->waiting[side], transfer);
    d->watched[side] |= !d->watched[other];
    return hlo_ok();
}

static bool joins_all_devices(HloOpcode op) {
    return op == HLO_OP_ALL_GATHER || op == HLO_OP_ALL_TO_ALL || op == HLO_OP_RAGGED_ALL_TO_ALL ||
           op == HLO_OP_COLLECTIVE_BROADCAST || op == HLO_OP_COLLECTIVE_PERMUTE;
}

static HloStatus visit(Deadlock *d, const HloInstruction *inst) {
    if (++d->steps > MOST_STEPS) {
        return hlo_verify_fail(inst, HLO_RESOURCE_EXHAUSTED, "no-deadlocks", "the calls unfold to too many steps");
    }
    if (inst->op == HLO_OP_SEND) return visit_transfer(d, inst, SEND);
    if (inst->op == HLO_OP_RECV) return visit_transfer(d, inst, RECV);
    if (!joins_all_devices(inst->op) || (!d->waiting[SEND].count && !d->waiting[RECV].count)) return hlo_ok();
    const Transfer *first = d->waiting[d->waiting[SEND].count ? SEND : RECV].items[0];
    return hlo_verify_fail(inst, HLO_INTERNAL, "no-deadlocks", "'%s' still waits for its other side",
                           first->inst->name);
}

// ---- the walk -------------------------------------------------------------------------------------------

// Computations that have something to say, callees first.
static void find_matters(Deadlock *d) {
    HloCompList order = hlo_module_post_order(d->v->m, d->v->arena);
    d->matters = hlo_bits_new(d->v->arena, d->v->m->computation_id_limit);
    for (size_t i = 0; i < order.count; i++) {
        HLO_EACH_INST(inst, order.items[i]) {
            bool matters = inst->op == HLO_OP_SEND || inst->op == HLO_OP_RECV || joins_all_devices(inst->op);
            for (size_t k = 0; !matters && k < inst->called.count; k++) {
                matters = hlo_bits_has(d->matters, hlo_called(inst, k)->id);
            }
            if (matters) hlo_bits_add(d->matters, order.items[i]->id);
        }
    }
}

static Frame *enter(const Deadlock *d, const HloComputation *comp, Frame *caller) {
    Frame *frame = HLO_NEW(d->v->arena, Frame);
    *frame = (Frame){.comp = comp, .next = comp->first, .caller = caller};
    return frame;
}

static const HloInstruction *current(const Frame *frame) {
    if (!frame->comp->sequence) return frame->next;
    return frame->at < frame->comp->sequence_count ? frame->comp->sequence[frame->at] : NULL;
}

static void advance(Frame *frame) {
    if (frame->next) frame->next = frame->next->next;
    frame->at++;
    frame->callee = 0;
}

static HloStatus walk(Deadlock *d) {
    for (Frame *top = enter(d, d->v->m->entry, NULL); top;) {
        const HloInstruction *inst = current(top);
        if (!inst) {
            top = top->caller;
        } else if (top->callee < inst->called.count) {
            const HloComputation *callee = hlo_called(inst, top->callee++);
            if (hlo_bits_has(d->matters, callee->id)) top = enter(d, callee, top);
        } else {
            HLO_TRY(visit(d, inst));
            advance(top);
        }
    }
    return hlo_ok();
}

// What still waits when all is done must match.
static HloStatus check_rest(Deadlock *d) {
    for (size_t i = d->waiting[SEND].count; i-- > 0;) {
        if (take_match(&d->waiting[RECV], d->waiting[SEND].items[i])) hlo_vec_remove(&d->waiting[SEND], i);
    }
    for (int side = SEND; side <= RECV; side++) {
        if (!d->waiting[side].count) continue;
        const Transfer *first = d->waiting[side].items[0];
        return hlo_verify_fail(first->inst, HLO_INTERNAL, "no-deadlocks", "it waits for its %s for ever",
                               side == SEND ? "receive" : "send");
    }
    return hlo_ok();
}

HloStatus hlo_verify_deadlocks(HloVerify *v) {
    HloArena scratch = {.trap = v->arena->trap};
    Deadlock d = {.v = v, .scratch = &scratch};
    if (!v->options.no_deadlocks || !v->m->is_scheduled) return hlo_ok();
    find_matters(&d);
    HloStatus status = walk(&d);
    hlo_arena_free(&scratch);
    return hlo_is_ok(status) ? check_rest(&d) : status;
}
