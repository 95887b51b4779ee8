// Buffer assignment: gives every value of a scheduled module a place (§5 of the buffer assignment chapter).
//
// Groups of values that must share memory are taken from the largest to the smallest. Arguments, constants, tuple
// tables and values of applied computations get blocks of their own; others go into a block that is free for as long
// as they live; results that find none get a new one; what remains is packed into one heap.

#include "lib/cpu/assignment.h"

#include <stdlib.h>

// ---- computations ---------------------------------------------------------------------------------------

// Breadth-first from the entry; a computation that is fused gets no memory but may call reducers that do.
HloStatus classify_computations(HloArena *arena, const HloModule *m, CompClass **out) {
    CompClass *classes = HLO_NEW_ARRAY(arena, CompClass, m->computation_id_limit);
    HloVec queue = {0};
    classes[m->entry->id] = CLASS_GLOBAL;
    hlo_vec_push(arena, &queue, m->entry);
    for (size_t next = 0; next < queue.count; next++) {
        const HloComputation *comp = queue.items[next];
        HLO_EACH_INST(inst, comp) {
            for (size_t k = 0; k < inst->called.count; k++) {
                HloComputation *callee = hlo_called(inst, k);
                CompClass class = hlo_enters_callees(inst->op) ? classes[comp->id] : CLASS_LOCAL;
                if (classes[callee->id] == CLASS_NONE) {
                    classes[callee->id] = class;
                    hlo_vec_push(arena, &queue, callee);
                } else if (classes[callee->id] != class) {
                    return hlo_error(HLO_INVALID_ARGUMENT,
                                     "computation %s has conflicting allocation requirements (global and thread-local)",
                                     callee->name);
                }
            }
        }
    }
    HLO_EACH_COMP(comp, m) {
        if (hlo_is_fusion_computation(comp)) classes[comp->id] = CLASS_NONE;
    }
    *out = classes;
    return hlo_ok();
}

// ---- the order of groups (§5.2) -------------------------------------------------------------------------

typedef struct Candidate {
    const HloValueGroup *group;
    int64_t size_bytes;
    bool live_out;
    size_t position;  // the smallest of its values
} Candidate;

static int compare_candidates(const void *a, const void *b) {
    const Candidate *x = a, *y = b;
    if (x->size_bytes != y->size_bytes) return x->size_bytes > y->size_bytes ? -1 : 1;
    if (x->live_out != y->live_out) return x->live_out ? -1 : 1;
    if (x->position != y->position) return x->position < y->position ? -1 : 1;
    return (x->group->id > y->group->id) - (x->group->id < y->group->id);
}

// Positions by instruction index: callers before callees, inside a computation operands before users.
static size_t *number_positions(const HloDataflow *flow, HloArena *arena) {
    size_t *positions = HLO_NEW_ARRAY(arena, size_t, flow->inst_limit);
    size_t next = 0;
    for (size_t i = flow->order.count; i-- > 0;) {
        HloInstList list = flow->post_order[flow->order.items[i]->id];
        for (size_t k = 0; k < list.count; k++) positions[hlo_flow_index(flow, list.items[k])] = next++;
    }
    return positions;
}

static Candidate candidate_of(const HloBufferAssignment *assignment, const HloValueGroup *group,
                              const size_t *positions) {
    Candidate result = {group, assignment->group_size[group->id], false, SIZE_MAX};
    for (size_t i = 0; i < group->count; i++) {
        const HloValue *value = hlo_flow_value(assignment->flow, group->ids[i]);
        size_t position = positions[hlo_flow_index(assignment->flow, value->inst)];
        if (position < result.position) result.position = position;
        result.live_out |= value->live_out;
    }
    return result;
}

// ---- one group (§5.3) -----------------------------------------------------------------------------------

typedef struct Assigner {
    HloBufferAssignment *assignment;
    CompClass *classes;
    size_t *positions;
    HloBits donated;  // by value id: arguments that an output takes over
    HloVec reusable;  // Block *: donated arguments and results, newest last
    HloVec delayed;   // const HloValueGroup *: for the heap
} Assigner;

// An own block for what cannot share: false when nothing forbids sharing.
static bool assign_special(Assigner *assigner, const HloValueGroup *group, CompClass class) {
    HloBufferAssignment *assignment = assigner->assignment;
    for (size_t i = 0; i < group->count; i++) {
        const HloValue *value = hlo_flow_value(assignment->flow, group->ids[i]);
        const HloInstruction *inst = value->inst;
        bool is_constant = hlo_is(inst, HLO_OP_CONSTANT);
        bool is_argument = hlo_is(inst, HLO_OP_PARAMETER) && inst->comp == assignment->m->entry;
        bool is_tuple = hlo_shape_is_tuple(value->shape);
        if (!is_constant && !is_argument && class != CLASS_LOCAL && !is_tuple) continue;

        Block *block = new_block(assignment, assignment->group_size[group->id], color_of(value));
        if (is_constant) {
            block->facts.is_constant = true;
            block->facts.constant = inst;
        } else if (is_argument) {
            block->facts.is_parameter = true;
            block->facts.parameter_number = hlo_parameter_number(inst);
            block->facts.parameter_index =
                hlo_node_index(&assignment->flow->nodes, &assignment->arena, inst->shape, value->node);
            block->is_writable = hlo_bits_has(assigner->donated, (size_t)value->id);
            if (block->is_writable) hlo_vec_push(&assignment->arena, &assigner->reusable, block);
        } else if (class == CLASS_LOCAL) {
            block->facts.is_thread_local = true;
        } else {
            block->facts.is_tuple = true;
        }
        if (!is_constant && !is_argument) block->is_writable = true;
        place_group(assignment, block, group);
        return true;
    }
    return false;
}

static bool try_blocks_of(Assigner *assigner, const HloInstruction *operand, const HloValueGroup *group) {
    HloBufferAssignment *assignment = assigner->assignment;
    HloValueSet set = hlo_flow_set(assignment->flow, operand, 0);
    for (size_t i = 0; i < set.count; i++) {
        Block *block = assignment->block_of[set.ids[i]];
        if (!block || !may_place(assignment, block, group)) continue;
        place_group(assignment, block, group);
        return true;
    }
    return false;
}

static bool assign_beside_operand(Assigner *assigner, const HloValueGroup *group) {
    for (size_t i = 0; i < group->count; i++) {
        const HloValue *value = hlo_flow_value(assigner->assignment->flow, group->ids[i]);
        if (value->node || hlo_shape_is_tuple(value->shape)) continue;
        for (size_t k = 0; k < hlo_operand_count(value->inst); k++) {
            if (try_blocks_of(assigner, hlo_operand(value->inst, k), group)) return true;
        }
    }
    return false;
}

static bool assign_into_reusable(Assigner *assigner, const HloValueGroup *group) {
    for (size_t i = assigner->reusable.count; i-- > 0;) {
        Block *block = assigner->reusable.items[i];
        if (!may_place(assigner->assignment, block, group)) continue;
        place_group(assigner->assignment, block, group);
        return true;
    }
    return false;
}

static void assign_group(Assigner *assigner, const Candidate *candidate, CompClass class) {
    HloBufferAssignment *assignment = assigner->assignment;
    const HloValueGroup *group = candidate->group;
    if (assign_special(assigner, group, class)) return;
    if (assign_beside_operand(assigner, group)) return;
    if (assign_into_reusable(assigner, group)) return;
    if (!candidate->live_out) {
        hlo_vec_push(&assignment->arena, &assigner->delayed, group);
        return;
    }
    const HloValue *first = hlo_flow_value(assignment->flow, group->ids[0]);
    Block *block = new_block(assignment, candidate->size_bytes, color_of(first));
    block->is_writable = true;
    place_group(assignment, block, group);
    hlo_vec_push(&assignment->arena, &assigner->reusable, block);
}

static void assign_class(Assigner *assigner, CompClass class) {
    HloBufferAssignment *assignment = assigner->assignment;
    const HloAliasing *aliasing = assignment->aliasing;
    Candidate *candidates = HLO_NEW_ARRAY(&assignment->arena, Candidate, aliasing->group_count);
    size_t count = 0;
    for (size_t g = 0; g < aliasing->group_count; g++) {
        const HloValueGroup *group = &aliasing->groups[g];
        const HloInstruction *first = hlo_flow_value(assignment->flow, group->ids[0])->inst;
        if (assigner->classes[first->comp->id] != class) continue;
        candidates[count++] = candidate_of(assignment, group, assigner->positions);
    }
    qsort(candidates, count, sizeof *candidates, compare_candidates);
    for (size_t i = 0; i < count; i++) assign_group(assigner, &candidates[i], class);
}

// ---- the whole ------------------------------------------------------------------------------------------

static HloStatus measure_groups(HloBufferAssignment *assignment) {
    const HloAliasing *aliasing = assignment->aliasing;
    assignment->group_size = HLO_NEW_ARRAY(&assignment->arena, int64_t, aliasing->group_count);
    for (size_t g = 0; g < aliasing->group_count; g++) {
        const HloValueGroup *group = &aliasing->groups[g];
        int64_t color = color_of(hlo_flow_value(assignment->flow, group->ids[0]));
        for (size_t i = 0; i < group->count; i++) {
            const HloValue *value = hlo_flow_value(assignment->flow, group->ids[i]);
            int64_t size = hlo_value_size_bytes(value->shape);
            if (size > assignment->group_size[g]) assignment->group_size[g] = size;
            if (color_of(value) == color) continue;
            return hlo_error(HLO_FAILED_PRECONDITION,
                             "Not all HloValues in the HloBuffer have the same color. Buffer id=%zu has %zu values", g,
                             group->count);
        }
    }
    return hlo_ok();
}

static HloStatus analyse(HloBufferAssignment *assignment) {
    HloArena *arena = &assignment->arena;
    HLO_TRY(hlo_dataflow_run(arena, assignment->m, &assignment->flow));
    assignment->sharing = hlo_sharing_new(arena, &assignment->flow->nodes, assignment->m);
    HLO_TRY(hlo_aliasing_run(arena, assignment->flow, &assignment->sharing, &assignment->aliasing));
    HLO_TRY(hlo_live_ranges_run(arena, assignment->aliasing, &assignment->ranges));
    return measure_groups(assignment);
}

static HloStatus assign_all(void *data) {
    HloBufferAssignment *assignment = data;
    HloArena *arena = &assignment->arena;
    HLO_TRY(analyse(assignment));
    size_t values = assignment->flow->value_limit;
    assignment->block_of = HLO_NEW_ARRAY(arena, Block *, values);
    assignment->offset_of = HLO_NEW_ARRAY(arena, int64_t, values);
    assignment->size_of = HLO_NEW_ARRAY(arena, int64_t, values);

    Assigner assigner = {.assignment = assignment};
    HLO_TRY(classify_computations(arena, assignment->m, &assigner.classes));
    assigner.positions = number_positions(assignment->flow, arena);
    assigner.donated = hlo_donated_values(arena, assignment->flow);
    assign_class(&assigner, CLASS_GLOBAL);
    assign_heaps(assignment, &assigner.delayed);
    assign_class(&assigner, CLASS_LOCAL);
    finish_blocks(assignment);
    return hlo_ok();
}

HloStatus hlo_assign_buffers(const HloModule *m, HloBufferAssignment **out) {
    HloBufferAssignment *assignment = calloc(1, sizeof *assignment);
    if (!assignment) return hlo_out_of_memory();
    assignment->m = m;
    HloStatus status = hlo_guarded((HloArena *const[]){&assignment->arena, NULL}, assign_all, assignment);
    if (!hlo_is_ok(status)) {
        hlo_buffer_assignment_free(assignment);
        return status;
    }
    *out = assignment;
    return hlo_ok();
}

void hlo_buffer_assignment_free(HloBufferAssignment *assignment) {
    if (!assignment) return;
    hlo_arena_free(&assignment->arena);
    free(assignment);
}

// ---- asking ---------------------------------------------------------------------------------------------

size_t hlo_allocation_count(const HloBufferAssignment *assignment) {
    return assignment->blocks.count;
}

const HloAllocation *hlo_allocation(const HloBufferAssignment *assignment, size_t k) {
    return &block_at(assignment, k)->facts;
}

bool hlo_buffer_slice(const HloBufferAssignment *assignment, const HloInstruction *inst, HloDims index,
                      HloBufferSlice *out) {
    uint32_t node = hlo_node_at(&assignment->flow->nodes, inst->shape, index);
    if (node == UINT32_MAX) return false;
    HloValueSet set = hlo_flow_set(assignment->flow, inst, node);
    for (size_t i = 0; i < set.count; i++) {
        int32_t id = set.ids[i];
        if (!assignment->block_of[id]) return false;
        HloBufferSlice slice = {
            assignment->block_of[id]->facts.index,
            assignment->offset_of[id],
            assignment->size_of[id],
        };
        if (i && (slice.allocation != out->allocation || slice.offset_bytes != out->offset_bytes)) return false;
        *out = slice;
    }
    return set.count > 0;
}
