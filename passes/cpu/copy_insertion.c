// copy-insertion: makes it safe that loops, branches and in-place operations share memory.
//
//   ROOT %t = (f32[4], f32[4]) tuple(%p0, %p0)
// becomes
//   %copy = f32[4] copy(%p0)
//   %copy.1 = f32[4] copy(%p0)
//   ROOT %t = (f32[4], f32[4]) tuple(%copy, %copy.1)
//
// Values that must lie in one place (the state of a loop, what an in-place operation overwrites) may not be alive at
// the same time. Copies are first added wherever that could happen, then those are removed without which it
// still cannot happen; what remains are copies of constants and arguments that would be overwritten or returned.
//
// Needs: a flat call graph.  Keeps: the call graph. Nothing after it may make values share memory.

#include "passes/cpu/copy_insertion.h"

HloStatus analyse_for_copies(CopyWork *work) {
    HLO_TRY(hlo_dataflow_run(work->scratch, work->m, &work->flow));
    work->sharing = hlo_sharing_new(work->scratch, &work->flow->nodes, work->m);
    return hlo_aliasing_run(work->scratch, work->flow, &work->sharing, &work->aliasing);
}

// ---- deep copies ----------------------------------------------------------------------------------------

// A tuple that is being taken apart.
typedef struct Unpacked {
    HloInstruction *tuple;
    uint32_t node;           // of the tuple in the whole
    HloInstruction **parts;  // the copies of its elements so far
    size_t next;
} Unpacked;

static HloInstruction *copy_leaf(CopyWork *work, HloInstruction *leaf, uint32_t node, const HloBits *wanted,
                                 HloInstruction **copies) {
    if (!hlo_shape_is_array(leaf->shape) || (wanted && !hlo_bits_has(*wanted, node))) return leaf;
    HloInstruction *copy = hlo_build(&work->rw, HLO_OP_COPY, leaf->shape, &leaf, 1);
    if (copies) copies[node] = copy;
    return copy;
}

static Unpacked unpack(CopyWork *work, HloInstruction *tuple, uint32_t node) {
    return (Unpacked){tuple, node, HLO_NEW_ARRAY(work->scratch, HloInstruction *, tuple->shape->rank), 0};
}

HloInstruction *deep_copy(CopyWork *work, HloInstruction *inst, const HloBits *wanted, HloInstruction **copies) {
    hlo_rewriter_at(&work->rw, inst);
    if (!hlo_shape_is_tuple(inst->shape)) return copy_leaf(work, inst, 0, wanted, copies);
    HloVec stack = {0};  // Unpacked *; tuples nest as deep as the file says
    Unpacked *top = HLO_NEW(work->scratch, Unpacked);
    *top = unpack(work, inst, 0);
    hlo_vec_push(work->scratch, &stack, top);
    for (;;) {
        top = stack.items[stack.count - 1];
        if (top->next == top->tuple->shape->rank) {
            HloInstruction *whole = hlo_build_tuple(&work->rw, top->parts, top->next);
            if (--stack.count == 0) return whole;
            top = stack.items[stack.count - 1];
            top->parts[top->next++] = whole;
            continue;
        }
        uint32_t node = top->node + hlo_node_of_element(&work->flow->nodes, top->tuple->shape, top->next);
        HloInstruction *part = hlo_build_gte(&work->rw, top->tuple, (int64_t)top->next);
        if (hlo_shape_is_tuple(part->shape)) {
            Unpacked *inner = HLO_NEW(work->scratch, Unpacked);
            *inner = unpack(work, part, node);
            hlo_vec_push(work->scratch, &stack, inner);
            continue;
        }
        top->parts[top->next++] = copy_leaf(work, part, node, wanted, copies);
    }
}

HloInstruction *copy_for_all(CopyWork *work, HloInstruction *inst, const HloBits *wanted, HloInstruction **copies,
                             const char *rule) {
    size_t count = hlo_user_count(inst);
    HloInstruction **users = hlo_arena_copy(work->scratch, inst->users.items, count * sizeof *users);
    bool is_root = hlo_is_root(inst);
    work->rw.rule = rule;
    HloInstruction *copy = deep_copy(work, inst, wanted, copies);
    if (copy == inst) return inst;
    hlo_rewriter_note(&work->rw, rule, inst, copy);
    for (size_t i = 0; i < count; i++) hlo_replace_uses_in(users[i], inst, copy);
    if (is_root) hlo_computation_set_root(inst->comp, copy);
    return copy;
}

// ---- the pass -------------------------------------------------------------------------------------------

static HloStatus clean_up(CopyWork *work) {
    bool changed = false;
    HLO_TRY(hlo_pass_run_inside(work->rw.cx, "tuple-simplifier", work->m, &changed));
    HLO_TRY(hlo_pass_run_inside(work->rw.cx, "dce", work->m, &changed));
    return hlo_ok();
}

// The sequence of a computation at some time.
typedef struct Sequence {
    HloInstruction **items;
    size_t count;
} Sequence;

static Sequence *keep_schedule(const CopyWork *work) {
    Sequence *kept = HLO_NEW_ARRAY(work->scratch, Sequence, work->m->computation_id_limit);
    HLO_EACH_COMP(comp, work->m) kept[comp->id] = (Sequence){comp->sequence, comp->sequence_count};
    return kept;
}

static void put_schedule_back(CopyWork *work, const Sequence *kept) {
    HLO_EACH_COMP(comp, work->m) {
        comp->sequence = kept[comp->id].items;
        comp->sequence_count = kept[comp->id].count;
    }
}

static HloStatus check_calls_are_flat(const CopyWork *work) {
    HLO_EACH_COMP(comp, work->m) {
        if (work->flow->context[comp->id] != HLO_CONTEXT_SEQUENTIAL || comp->callers.count <= 1) continue;
        return hlo_error(HLO_FAILED_PRECONDITION, "Call graph must be flattened before copy insertion.");
    }
    return hlo_ok();
}

static HloStatus run(HloPassContext *cx, HloModule *m, bool *changed) {
    CopyWork work = {.rw = hlo_rewriter(cx, m), .m = m, .scratch = cx->scratch};
    HLO_TRY(hlo_dataflow_run(cx->scratch, m, &work.flow));
    HLO_TRY(check_calls_are_flat(&work));
    HLO_TRY(analyse_for_copies(&work));
    HLO_TRY(add_copies(&work));
    HLO_TRY(clean_up(&work));
    HLO_TRY(hlo_pass_reach(cx, "after adding copies to resolve interference", m));
    HLO_TRY(analyse_for_copies(&work));
    const Sequence *kept = keep_schedule(&work);
    hlo_module_update_schedule(m, work.scratch);
    remove_copies(&work);
    put_schedule_back(&work, kept);
    HLO_TRY(hlo_pass_reach(cx, "after removing unnecessary copies", m));
    HLO_TRY(analyse_for_copies(&work));
    add_special_copies(&work);
    HLO_TRY(hlo_pass_reach(cx, "after adding special-case copies", m));
    HLO_TRY(clean_up(&work));
    *changed = true;  // as the reference: always
    return work.rw.failure;
}

const HloPass hlo_pass_copy_insertion = {
    .name = "copy-insertion",
    .summary = "adds the copies without which values that share memory would overwrite each other",
    .run = run,
};
