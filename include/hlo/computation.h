// HloComputation: a list of instructions with a root.
#ifndef HLO_COMPUTATION_H
#define HLO_COMPUTATION_H

#include "hlo/instruction.h"

struct HloComputation {
    const char *name;  // interned; unique among the module's computations
    HloModule *m;
    uint32_t id;                   // unique in the module, below m->computation_id_limit
    uint32_t id_limit;             // instruction ids are below this
    bool in_module;                // false while detached: names are then not yet unique
    HloInstruction *first, *last;  // insertion order
    size_t count;                  // instructions
    HloInstruction *root;          // NULL only while the computation is being built
    HloVec parameters;             // HloInstruction * by parameter number
    HloVec callers;                // HloInstruction *, each once; a removed one's place is taken by the last
    HloMap *caller_index;          // caller -> position + 1 when there are many; else NULL
    const char *execution_thread;  // NULL: main
    // The schedule: all instructions in execution order, or NULL when this computation has none.
    HloInstruction **sequence;
    size_t sequence_count;
    HloComputation *prev, *next;  // module order
};

// `for (HloInstruction *inst = …)` over a computation in insertion order. Removing `inst` inside the loop is not
// allowed with this form; collect first, or take the next pointer before.
#define HLO_EACH_INST(inst, comp) for (HloInstruction *inst = (comp)->first; inst; inst = inst->next)

// A new empty computation, not yet in the module's list.
HloComputation *hlo_computation_new(HloModule *m, const char *name);

// Appends an instruction, links its operands, users and callees, and names it: `name` (NULL: the opcode's
// spelling), made unique when the computation is in the module. Parameters are entered in `parameters`.
// Returns `inst`.
HloInstruction *hlo_computation_add(HloComputation *comp, HloInstruction *inst, const char *name);
// The same for a name in the module's arena, which is not copied.
HloInstruction *hlo_computation_add_owned(HloComputation *comp, HloInstruction *inst, const char *name);
// Takes a dead instruction out; asserts that it has no users and is not the root. Control edges are dropped.
void hlo_computation_remove(HloComputation *comp, HloInstruction *inst);
// Moves an instruction to the end of the insertion order, which is the schedule of a scheduled module.
void hlo_computation_move_last(HloComputation *comp, HloInstruction *inst);
typedef struct HloRemoval {
    bool relay_control;      // control edges do not keep what goes: its predecessors then precede its successors
    HloArena *arena;         // for the list
    HloVec dead_parameters;  // out: parameters that lost their last user, in that order; may repeat
} HloRemoval;
// Removes `inst`, then breadth-first every operand that became dead, is removable and has no side effect. Parameters
// stay and are listed. An `inst` that guards effects stays. Returns the number of removed instructions.
size_t hlo_computation_remove_dead(HloComputation *comp, HloInstruction *inst, HloRemoval *removal);
// An after-all of a side effect, directly or through get-tuple-element: it stays although nobody uses its token. (As in
// the reference, one that dies with its only user goes.)
bool hlo_guards_effects(const HloInstruction *inst);
void hlo_computation_set_root(HloComputation *comp, HloInstruction *root);

// Instructions in post-order (text printing chapter, §4.2): starting points are the instructions without users,
// in list order; control predecessors from last to first, then operands, then the instruction.
typedef struct HloInstList {
    HloInstruction **items;
    size_t count;
} HloInstList;
HloInstList hlo_post_order(const HloComputation *comp, HloArena *scratch);
// The other order that passes walk: from the dead instructions without control successors in list order, then from
// the root; operands from left to right, then control predecessors, then the instruction. Instructions that none
// of these reach are left out.
HloInstList hlo_visitor_order(const HloComputation *comp, HloArena *scratch);

static inline size_t hlo_parameter_count(const HloComputation *comp) {
    return comp->parameters.count;
}
static inline HloInstruction *hlo_parameter(const HloComputation *comp, size_t k) {
    return (HloInstruction *)comp->parameters.items[k];
}

// Called by a fusion instruction.
bool hlo_is_fusion_computation(const HloComputation *comp);
// Called by an asynchronous instruction: it holds one instruction, its root, beside the parameters.
bool hlo_is_async_computation(const HloComputation *comp);
bool hlo_computation_has_side_effect(const HloComputation *comp);
// The one fusion that calls it, or NULL.
HloInstruction *hlo_fusion_caller(const HloComputation *comp);

// A copy in module `m` (which may be another one): instructions keep names and order; callees as they are, or as
// `map` (HloComputation -> HloComputation) says. The copy is not yet in the module's list.
// `inst_map`, when not NULL, receives old -> new instruction.
HloComputation *hlo_computation_clone(HloModule *m, const HloComputation *comp, const char *name, const HloMap *callees,
                                      HloArena *scratch, HloMap *inst_map);

// Structural equality of two computations and all that they call: same graphs up to names, annotations and frontend
// attributes.
bool hlo_computation_equal(const HloComputation *a, const HloComputation *b, bool layout_sensitive);

#endif
