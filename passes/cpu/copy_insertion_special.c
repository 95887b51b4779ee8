// Step 3 of copy-insertion: read-only values that share memory, and results that lie where they must not.

#include "passes/cpu/copy_insertion.h"

typedef struct Marks {
    CopyWork *work;
    HloBits **by_index;  // by instruction index: nodes to copy; NULL: none
    HloBits donated;     // by value id: arguments that an output takes over
} Marks;

static void mark(Marks *marks, const HloInstruction *inst, uint32_t node) {
    HloBits **bits = &marks->by_index[hlo_flow_index(marks->work->flow, inst)];
    if (!*bits) {
        *bits = HLO_NEW(marks->work->scratch, HloBits);
        **bits = hlo_bits_new(marks->work->scratch, hlo_flow_node_count(marks->work->flow, inst));
    }
    hlo_bits_add(**bits, node);
}

// ---- read-only values and operations that cannot work in place ------------------------------------------

static bool is_read_only(const Marks *marks, const HloValue *value) {
    if (hlo_is(value->inst, HLO_OP_CONSTANT)) return true;
    bool is_argument = hlo_is(value->inst, HLO_OP_PARAMETER) && value->inst->comp == marks->work->m->entry;
    return is_argument && !hlo_bits_has(marks->donated, (size_t)value->id);
}

// An operation whose result lies where its operand lies, though it may not write over it, needs a copy of the operand.
static void mark_clashing_use(Marks *marks, const HloValue *value, const HloUse *use) {
    CopyWork *work = marks->work;
    const HloInstruction *operand = hlo_operand(use->user, use->operand);
    uint32_t count = hlo_flow_node_count(work->flow, use->user);
    for (uint32_t node = 0; node < count; node++) {
        const HloValue *made = hlo_flow_value_at(work->flow, use->user, node);
        if (!made || made->inst != use->user || made->node != node || made == value) continue;
        if (work->aliasing->group_of[made->id] != work->aliasing->group_of[value->id]) continue;
        if (!hlo_may_share(&work->sharing, work->flow, operand, use->node, use->user, node)) {
            mark(marks, operand, use->node);
        }
    }
}

static void mark_values(Marks *marks) {
    const CopyWork *work = marks->work;
    for (size_t v = 0; v < work->flow->value_limit; v++) {
        const HloValue *value = hlo_flow_value(work->flow, (int32_t)v);
        if (!value->inst || work->aliasing->groups[work->aliasing->group_of[v]].count == 1) continue;
        if (is_read_only(marks, value)) mark(marks, value->inst, value->node);
        for (size_t i = 0; i < value->use_count; i++) mark_clashing_use(marks, value, &value->uses[i]);
    }
}

// ---- results --------------------------------------------------------------------------------------------

// Where a group was met first among the nodes of the root at hand.
typedef struct Seen {
    const HloComputation *comp;  // of that root; another one: not met
    uint32_t node;
} Seen;

static bool output_is_donated(CopyWork *work, const HloInstruction *root, uint32_t node) {
    for (size_t i = 0; i < work->m->input_output_alias.count; i++) {
        HloDims output = work->m->input_output_alias.items[i].output;
        if (hlo_node_at(&work->flow->nodes, root->shape, output) == node) return true;
    }
    return false;
}

// Several values at one place of a conditional's branch will meet in the conditional's result.
static bool merges_above(const CopyWork *work, const HloComputation *comp, uint32_t node) {
    if (comp->callers.count != 1) return false;
    const HloInstruction *caller = comp->callers.items[0];
    if (!hlo_is(caller, HLO_OP_CONDITIONAL) || node >= hlo_flow_node_count(work->flow, caller)) return false;
    const HloValue *value = hlo_flow_value_at(work->flow, caller, node);
    return value && value->is_phi && value->inst == caller;
}

static void mark_root_node(Marks *marks, const HloInstruction *root, uint32_t node, Seen *seen) {
    CopyWork *work = marks->work;
    bool is_entry = root->comp == work->m->entry;
    HloValueSet set = hlo_flow_set(work->flow, root, node);
    int32_t first_group = set.count ? work->aliasing->group_of[set.ids[0]] : -1;
    bool again = false, several = false;
    for (size_t i = 0; i < set.count; i++) {
        int32_t group = work->aliasing->group_of[set.ids[i]];
        several |= group != first_group;
        if (seen[group].comp == root->comp && seen[group].node != node)
            again = true;
        else
            seen[group] = (Seen){root->comp, node};
    }
    bool matters = is_entry || merges_above(work, root->comp, node);
    if (again && matters && !several && is_entry && output_is_donated(work, root, node)) {
        mark(marks, root, seen[first_group].node);
    } else if (several || (again && matters)) {
        mark(marks, root, node);
    }
    for (size_t i = 0; is_entry && i < set.count; i++) {
        if (is_read_only(marks, hlo_flow_value(work->flow, set.ids[i]))) mark(marks, root, node);
    }
}

static void mark_roots(Marks *marks) {
    CopyWork *work = marks->work;
    Seen *seen = HLO_NEW_ARRAY(work->scratch, Seen, work->aliasing->group_count);
    HLO_EACH_COMP(comp, work->m) {
        if (work->flow->context[comp->id] != HLO_CONTEXT_SEQUENTIAL) continue;
        uint32_t count = hlo_flow_node_count(work->flow, comp->root);
        for (uint32_t node = 0; node < count; node++) mark_root_node(marks, comp->root, node, seen);
    }
}

// ---- the step -------------------------------------------------------------------------------------------

// Instructions that the copies themselves add come later in the list and have no marks.
static void copy_marked(Marks *marks, HloComputation *comp) {
    CopyWork *work = marks->work;
    HloInstruction *last = comp->last;
    for (HloInstruction *inst = comp->first;; inst = inst->next) {
        const HloBits *bits = marks->by_index[hlo_flow_index(work->flow, inst)];
        if (bits) copy_for_all(work, inst, bits, NULL, "copy-special-case");
        if (inst == last) return;
    }
}

void add_special_copies(CopyWork *work) {
    Marks marks = {.work = work};
    marks.by_index = HLO_NEW_ARRAY(work->scratch, HloBits *, work->flow->inst_limit);
    marks.donated = hlo_donated_values(work->scratch, work->flow);
    mark_values(&marks);
    mark_roots(&marks);
    HLO_EACH_COMP(comp, work->m) copy_marked(&marks, comp);
}
