// The call graph: calls are two-sided, nothing calls itself, and no fusion calls the entry (verifier chapter §3, §7.1).
//
// In text a computation stands before those that call it. Where that holds nothing can call itself, and only where it
// does not, computations are taken away callers first.

#include "verify_rules.h"

// ---- two-sided calls ------------------------------------------------------------------------------------

static uint64_t call_hash(const HloInstruction *inst, const HloComputation *callee) {
    return hlo_hash_combine((uintptr_t)inst, (uintptr_t)callee);
}

// Sums over the calls as callers tell them and as callees tell them; a caller stands once in the list of a callee.
static HloStatus check_two_sided(const HloVerify *v) {
    uint64_t called = 0, callers = 0;
    const HloInstruction **last = HLO_NEW_ARRAY(v->arena, const HloInstruction *, v->walked.count);
    for (size_t i = 0; i < v->calls.count; i++) {
        const HloInstruction *inst = v->calls.items[i];
        for (size_t k = 0; k < inst->called.count; k++) {
            const HloComputation *callee = hlo_called(inst, k);
            if (last[callee->id] == inst) continue;
            last[callee->id] = inst;
            called += call_hash(inst, callee);
        }
    }
    HLO_EACH_COMP(comp, v->m) {
        for (size_t k = 0; k < comp->callers.count; k++) callers += call_hash(comp->callers.items[k], comp);
    }
    if (called == callers) return hlo_ok();
    return hlo_verify_fail_module(HLO_INTERNAL, "two-sided-calls", "calls and lists of callers do not agree");
}

// ---- recursion ------------------------------------------------------------------------------------------

// How often each computation is called, and where the calls of each begin in v->calls.
typedef struct CallTable {
    size_t *called, *first;
} CallTable;

static CallTable count_calls(const HloVerify *v) {
    CallTable table = {HLO_NEW_ARRAY(v->arena, size_t, v->walked.count),
                       HLO_NEW_ARRAY(v->arena, size_t, v->walked.count)};
    for (size_t i = v->calls.count; i-- > 0;) {
        const HloInstruction *inst = v->calls.items[i];
        table.first[inst->comp->id] = i;
        for (size_t k = 0; k < inst->called.count; k++) table.called[hlo_called(inst, k)->id]++;
    }
    return table;
}

// Takes away a computation's calls; what nobody calls any more joins the queue.
static void take(const HloVerify *v, CallTable *table, const HloComputation *comp, HloVec *queue) {
    for (size_t i = table->first[comp->id]; i < v->calls.count; i++) {
        const HloInstruction *inst = v->calls.items[i];
        if (inst->comp != comp) return;
        for (size_t k = 0; k < inst->called.count; k++) {
            const HloComputation *callee = hlo_called(inst, k);
            if (--table->called[callee->id] == 0) hlo_vec_push(v->arena, queue, callee);
        }
    }
}

static HloStatus check_recursion(const HloVerify *v) {
    CallTable table = count_calls(v);
    HloVec queue = {0};
    HLO_EACH_COMP(comp, v->m) {
        if (!table.called[comp->id]) hlo_vec_push(v->arena, &queue, comp);
    }
    for (size_t taken = 0; taken < queue.count; taken++) take(v, &table, queue.items[taken], &queue);
    HLO_EACH_COMP(comp, v->m) {
        if (table.called[comp->id])
            return hlo_verify_fail_comp(comp, "no-recursion", "it is called from inside itself");
    }
    return hlo_ok();
}

HloStatus hlo_verify_calls(HloVerify *v) {
    HLO_TRY(check_two_sided(v));
    if (v->calls_ahead) HLO_TRY(check_recursion(v));
    if (!hlo_is_fusion_computation(v->m->entry)) return hlo_ok();
    return hlo_verify_fail_module(HLO_INVALID_ARGUMENT, "has-entry", "the entry computation '%s' is called by a fusion",
                                  v->m->entry->name);
}
