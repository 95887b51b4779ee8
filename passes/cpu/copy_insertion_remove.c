// Step 2 of copy-insertion: removes the copies whose two sides can lie in one place.
//
// The values that share a place form a list in the order of their definitions; each is dead before the next one is
// made. Removing a copy joins the lists of its two sides, so the joined list must be such an order too:
//   - the copy makes the first value of its list: what follows it goes right behind the copied value
//   - the copy reads the last value of its list: that whole list goes in the place of the copy

#include "passes/cpu/copy_insertion.h"

#include <stdlib.h>

typedef struct UseEntry {
    const HloUse *use;
    struct UseEntry *prev, *next;
} UseEntry;

typedef struct List List;

typedef struct Node {
    const HloValue *value;
    struct Node *prev, *next;
    UseEntry *first_use, *last_use;
    HloVec roots;             // computations at whose root the value stands
    List *list;               // follow `joined`
    struct Node *taken_over;  // a removed copy: the value that stands for it now
} Node;

struct List {
    Node *first, *last;
    List *joined;      // the list that took this one over; NULL: none
    bool in_branches;  // some value belongs to a branch of a conditional
};

typedef struct Copy {
    HloInstruction *inst;  // NULL: removed
    Node *from, *to;
    UseEntry *use;  // of `from` by the copy
} Copy;

typedef struct Remover {
    CopyWork *work;
    HloOrdering *ordering;
    HloArena *arena;
    Node **node_of;  // by value id; NULL: in a fused computation
    Copy *copies;
    size_t copy_count;
} Remover;

// ---- making the lists -----------------------------------------------------------------------------------

typedef struct Ranked {
    size_t rank;
    int32_t value;
} Ranked;

static int compare_ranks(const void *a, const void *b) {
    const Ranked *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static void push_use(Remover *remover, Node *node, const HloUse *use) {
    UseEntry *entry = HLO_NEW(remover->arena, UseEntry);
    *entry = (UseEntry){use, node->last_use, NULL};
    if (node->last_use)
        node->last_use->next = entry;
    else
        node->first_use = entry;
    node->last_use = entry;
}

static Node *make_node(Remover *remover, const HloValue *value, List *list) {
    Node *node = HLO_NEW(remover->arena, Node);
    node->value = value;
    node->list = list;
    for (size_t i = 0; i < value->use_count; i++) push_use(remover, node, &value->uses[i]);
    for (size_t i = 0; i < value->position_count; i++) {
        const HloInstruction *inst = value->positions[i].inst;
        if (hlo_is_root(inst)) hlo_vec_push(remover->arena, &node->roots, inst->comp);
    }
    remover->node_of[value->id] = node;
    return node;
}

static void make_list(Remover *remover, const HloValueGroup *group, Ranked *ranked) {
    const HloDataflow *flow = remover->work->flow;
    for (size_t i = 0; i < group->count; i++) {
        const HloValue *value = hlo_flow_value(flow, group->ids[i]);
        ranked[i] = (Ranked){hlo_definition_rank(remover->ordering, value), value->id};
    }
    qsort(ranked, group->count, sizeof *ranked, compare_ranks);
    List *list = HLO_NEW(remover->arena, List);
    for (size_t i = 0; i < group->count; i++) {
        const HloValue *value = hlo_flow_value(flow, ranked[i].value);
        Node *node = make_node(remover, value, list);
        node->prev = list->last;
        if (list->last)
            list->last->next = node;
        else
            list->first = node;
        list->last = node;
        list->in_branches |= hlo_is_in_branch(remover->ordering, value->inst);
    }
}

static void make_lists(Remover *remover) {
    const HloDataflow *flow = remover->work->flow;
    const HloAliasing *aliasing = remover->work->aliasing;
    remover->node_of = HLO_NEW_ARRAY(remover->arena, Node *, flow->value_limit);
    Ranked *ranked = HLO_NEW_ARRAY(remover->arena, Ranked, flow->value_limit);
    for (size_t g = 0; g < aliasing->group_count; g++) {
        const HloValueGroup *group = &aliasing->groups[g];
        const HloInstruction *first = hlo_flow_value(flow, group->ids[0])->inst;
        if (!hlo_is_fusion_computation(first->comp)) make_list(remover, group, ranked);
    }
}

static UseEntry *find_use(const Node *node, const HloInstruction *user) {
    for (UseEntry *entry = node->first_use; entry; entry = entry->next) {
        if (entry->use->user == user) return entry;
    }
    return NULL;
}

static void note_copy(Remover *remover, HloInstruction *inst) {
    const HloDataflow *flow = remover->work->flow;
    const HloValue *from = hlo_flow_value_at(flow, hlo_operand(inst, 0), 0);
    const HloValue *to = hlo_flow_value_at(flow, inst, 0);
    if (!from || !to || !remover->node_of[from->id] || !remover->node_of[to->id]) return;
    UseEntry *use = find_use(remover->node_of[from->id], inst);
    if (!use) return;
    remover->copies[remover->copy_count++] = (Copy){inst, remover->node_of[from->id], remover->node_of[to->id], use};
}

static void note_copies(Remover *remover) {
    HloModule *m = remover->work->m;
    remover->copies = HLO_NEW_ARRAY(remover->arena, Copy, hlo_module_instruction_count(m));
    HLO_EACH_COMP(comp, m) {
        if (hlo_is_fusion_computation(comp)) continue;
        HLO_EACH_INST(inst, comp) {
            if (hlo_is(inst, HLO_OP_COPY)) note_copy(remover, inst);
        }
    }
}

// ---- asking ---------------------------------------------------------------------------------------------

static List *list_of(const Node *node) {
    List *list = node->list;
    while (list->joined) list = list->joined;
    return list;
}

static Node *standing_for(Node *node) {
    while (node->taken_over) node = node->taken_over;
    return node;
}

// Is `a` dead before `b` is made?
static bool is_dead_before(Remover *remover, const Node *a, const Node *b) {
    for (size_t i = 0; i < a->roots.count; i++) {
        if (hlo_is_nested_in(remover->ordering, b->value->inst, a->roots.items[i])) return false;
    }
    if (!a->first_use) return hlo_is_defined_before(remover->ordering, a->value, b->value);
    HloBranchUses branches = {0};
    for (const UseEntry *entry = a->first_use; entry; entry = entry->next) {
        if (!hlo_use_is_before(remover->ordering, entry->use, b->value, &branches)) return false;
    }
    return !branches.has_exclusive || !branches.has_handed_on;
}

// Are `last` and all before it in its list dead before `first` and all after it are made? "Dead before" can be handed
// on from neighbour to neighbour, except between branches, which never meet: there every pair is asked for.
static bool are_dead_before(Remover *remover, const Node *last, const Node *first) {
    if (!last || !first) return true;
    if (!list_of(last)->in_branches && !list_of(first)->in_branches) return is_dead_before(remover, last, first);
    for (const Node *b = first; b; b = b->next) {
        for (const Node *a = last; a; a = a->prev) {
            if (!is_dead_before(remover, a, b)) return false;
        }
    }
    return true;
}

static bool has_scatter_result(const HloInstruction *inst) {
    if (!hlo_shape_is_tuple(inst->shape)) return false;
    if (hlo_is(inst, HLO_OP_FUSION)) return hlo_is(hlo_called(inst, 0)->root, HLO_OP_SCATTER);
    return hlo_is(inst, HLO_OP_SCATTER);
}

// A scatter of several operands must not get the same memory for two of them.
static bool feeds_scatter_twice(const Copy *copy) {
    const HloInstruction *operand = hlo_operand(copy->inst, 0);
    for (const UseEntry *entry = copy->to->first_use; entry; entry = entry->next) {
        const HloInstruction *user = entry->use->user;
        if (has_scatter_result(user) && hlo_vec_find(&user->operands, operand) != SIZE_MAX) return true;
    }
    return false;
}

// ---- removing -------------------------------------------------------------------------------------------

static void link_nodes(Node *a, Node *b) {
    if (a) a->next = b;
    if (b) b->prev = a;
}

// Puts the whole list of `first` behind `place`.
static void splice(Node *place, List *moved) {
    List *list = list_of(place);
    Node *after = place->next;
    link_nodes(place, moved->first);
    link_nodes(moved->last, after);
    if (!after) list->last = moved->last;
    moved->joined = list;
    list->in_branches |= moved->in_branches;
}

static void remove_use(Node *node, UseEntry *entry) {
    if (entry->prev)
        entry->prev->next = entry->next;
    else
        node->first_use = entry->next;
    if (entry->next)
        entry->next->prev = entry->prev;
    else
        node->last_use = entry->prev;
}

// The value before the copy's in the list takes over the copy's uses and results.
static void take_over(Remover *remover, Copy *copy) {
    Node *from = standing_for(copy->from), *to = copy->to;
    List *list = list_of(from);
    remove_use(from, copy->use);
    link_nodes(from, to->next);
    if (list->last == to) list->last = from;
    if (to->first_use) {
        to->first_use->prev = from->last_use;
        if (from->last_use)
            from->last_use->next = to->first_use;
        else
            from->first_use = to->first_use;
        from->last_use = to->last_use;
    }
    for (size_t i = 0; i < to->roots.count; i++) hlo_vec_push(remover->arena, &from->roots, to->roots.items[i]);
    to->taken_over = from;
}

static bool try_to_join(Remover *remover, Copy *copy) {
    Node *from = standing_for(copy->from), *to = copy->to;
    List *source = list_of(from), *target = list_of(to);
    if (from->next == to) return true;
    if (source == target) return false;
    if (!to->prev) {
        if (!are_dead_before(remover, from, to->next) || !are_dead_before(remover, target->last, from->next)) {
            return false;
        }
        if (feeds_scatter_twice(copy)) return false;
        splice(from, target);
        return true;
    }
    if (from->next) return false;
    if (!are_dead_before(remover, to->prev, source->first) || !are_dead_before(remover, from, to->next)) return false;
    splice(to->prev, source);
    return true;
}

// What the copy stood for before optimization, the copied value stands for now.
static void hand_over_origin(CopyWork *work, const HloInstruction *copy, HloInstruction *operand) {
    const HloAttr *origin = hlo_attr_find(copy, HLO_ATTR_ORIGIN);
    if (origin && !hlo_has(operand, HLO_ATTR_ORIGIN)) hlo_set_attr(work->m, operand, *origin);
}

static bool try_to_remove(Remover *remover, Copy *copy) {
    HloInstruction *inst = copy->inst;
    HloInstruction *operand = hlo_operand(inst, 0);
    if (inst->shape != operand->shape || hlo_rewriter_is_spent(&remover->work->rw)) return false;
    if (!try_to_join(remover, copy)) return false;
    take_over(remover, copy);
    hlo_rewriter_note(&remover->work->rw, "remove-copy", inst, operand);
    hand_over_origin(remover->work, inst, operand);
    hlo_drop_control_edges(inst);
    hlo_replace_all_uses(inst, operand);
    copy->inst = NULL;
    return true;
}

void remove_copies(CopyWork *work) {
    Remover remover = {.work = work, .arena = work->scratch};
    remover.ordering = hlo_ordering_new(work->scratch, work->flow, &work->sharing);
    make_lists(&remover);
    note_copies(&remover);
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < remover.copy_count; i++) {
            if (remover.copies[i].inst) changed |= try_to_remove(&remover, &remover.copies[i]);
        }
    }
}
