// flatten-call-graph: gives every call site a computation of its own.
//
//   %r = f32[] reduce(%a, %z), dimensions={0}, to_apply=%add
//   %q = f32[] reduce(%b, %z), dimensions={0}, to_apply=%add
// becomes
//   %r = f32[] reduce(%a, %z), dimensions={0}, to_apply=%add
//   %q = f32[] reduce(%b, %z), dimensions={0}, to_apply=%add.clone
//
// The first caller keeps the computation, unless it refers to it more than once: then all its references get clones
// and the original may be left without callers. What a clone calls is cloned too; as in the reference, what its
// fusions and async-starts own is cloned twice, and the first copies stay behind uncalled.
//
// Needs: nothing.  Keeps: the original computations, called or not.

#include <stdlib.h>

#include "hlo/pass.h"
#include "hlo/rewriter.h"

// A chain of computations that each call the next one twice doubles at every step. Clones may add this many
// instructions to a small module, and to a large one this many times its own.
enum { MOST_CLONED = 1 << 20, MOST_GROWTH = 16 };

typedef struct Flatten {
    HloRewriter rw;
    uint32_t *position;  // by computation id: place in the module's list when the pass began
    uint32_t known;      // ids below this have a position; clones have later ids and come later
    size_t cloned;       // instructions made so far
    size_t most_cloned;
} Flatten;

static HloStatus clone_for_slot(Flatten *f, HloInstruction *caller, size_t slot, HloVec *work) {
    HloComputation *comp = hlo_called(caller, slot);
    if (f->cloned > f->most_cloned) {
        return hlo_error(HLO_RESOURCE_EXHAUSTED, "flattening the calls takes more than %zu new instructions",
                         f->most_cloned);
    }
    hlo_rewriter_note(&f->rw, "clone-callee", caller, caller);
    HloComputation *clone = hlo_rewriter_clone_computation(&f->rw, comp, &f->cloned);
    hlo_set_called(caller, slot, clone);
    hlo_vec_push(f->rw.scratch, work, clone);
    return hlo_ok();
}

// The callees of clones are shared with the originals: clones for them too, last made first looked into.
static HloStatus clone_callees(Flatten *f, HloVec *work) {
    while (work->count) {
        HloComputation *comp = hlo_vec_pop(work);
        HLO_EACH_INST(inst, comp) {
            for (size_t slot = 0; slot < inst->called.count; slot++) HLO_TRY(clone_for_slot(f, inst, slot, work));
        }
    }
    return hlo_ok();
}

static size_t count_references(const HloInstruction *caller, const HloComputation *comp) {
    size_t count = 0;
    for (size_t slot = 0; slot < caller->called.count; slot++) count += hlo_called(caller, slot) == comp;
    return count;
}

static HloStatus clone_references(Flatten *f, HloInstruction *caller, HloComputation *comp) {
    HloVec work = {0};
    for (size_t slot = 0; slot < caller->called.count; slot++) {
        if (hlo_called(caller, slot) != comp || hlo_rewriter_is_spent(&f->rw)) continue;
        HLO_TRY(clone_for_slot(f, caller, slot, &work));
    }
    return clone_callees(f, &work);
}

static uint32_t position_of(const Flatten *f, const HloComputation *comp) {
    return comp->id < f->known ? f->position[comp->id] : comp->id;
}

// The order in which the reference numbers instructions: that of the text.
static int compare_callers(const void *a, const void *b, void *flatten) {
    const HloInstruction *x = *(HloInstruction *const *)a, *y = *(HloInstruction *const *)b;
    if (x->comp != y->comp) return position_of(flatten, x->comp) < position_of(flatten, y->comp) ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static HloStatus flatten(Flatten *f, HloComputation *comp) {
    size_t count = comp->callers.count;
    HloInstruction **callers = hlo_arena_copy(f->rw.scratch, comp->callers.items, count * sizeof *callers);
    qsort_r(callers, count, sizeof *callers, compare_callers, f);
    for (size_t k = 0; k < count; k++) {
        bool repeats = k > 0 && callers[k] == callers[k - 1];
        bool keeps = k == 0 && count_references(callers[0], comp) == 1;
        if (!repeats && !keeps) HLO_TRY(clone_references(f, callers[k], comp));
    }
    return hlo_ok();
}

static void number_computations(Flatten *f, const HloModule *m) {
    f->known = m->computation_id_limit;
    f->position = HLO_NEW_ARRAY(f->rw.scratch, uint32_t, f->known);
    uint32_t next = 0;
    HLO_EACH_COMP(comp, m) f->position[comp->id] = next++;
}

static HloStatus run(HloPassContext *cx, HloModule *m, bool *changed) {
    Flatten f = {.rw = hlo_rewriter(cx, m)};
    f.most_cloned = MOST_CLONED + MOST_GROWTH * hlo_module_instruction_count(m);
    number_computations(&f, m);
    HloCompList comps = hlo_module_post_order(m, cx->scratch);
    for (size_t k = 0; k < comps.count; k++) HLO_TRY(flatten(&f, comps.items[k]));
    return hlo_rewriter_finish(&f.rw, changed);
}

const HloPass hlo_pass_flatten_call_graph = {
    .name = "flatten-call-graph",
    .summary = "gives every call site a computation of its own",
    .run = run,
};
