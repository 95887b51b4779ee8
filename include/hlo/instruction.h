// HloInstruction: one operation of a computation.
//
// Instructions are made by hlo_inst_new (still outside any computation), given attributes and callees, and then put
// into a computation by hlo_computation_add, which names them. All edges are two-sided: operand/user, control
// predecessor/successor, callee/caller; only the functions here and in computation.h change them.
#ifndef HLO_INSTRUCTION_H
#define HLO_INSTRUCTION_H

#include "hlo/attributes.h"
#include "hlo/containers.h"

typedef struct HloInstruction HloInstruction;
typedef struct HloComputation HloComputation;
typedef struct HloOperandSlots HloOperandSlots;

// What few instructions have.
typedef struct HloInstructionExtra {
    HloVec control_preds, control_succs;  // HloInstruction *
    HloOperandSlots *operand_slots;       // where each operand stands, kept for many operands when asked for; else NULL
    HloMap *user_index;                   // user -> position + 1, kept for values with many users; else NULL
} HloInstructionExtra;

// Where an instruction that a pass made comes from: set by the rewriter.
typedef struct HloMade {
    const char *pass, *rule;
    const char *from;  // name of the instruction it was made for; NULL: none
} HloMade;

// 128 bytes, and what reading a use touches lies in the first half: modules have millions of these.
struct HloInstruction {
    HloOpcode op;
    uint32_t id;       // unique in its computation, below comp->id_limit; for flat side tables
    const char *name;  // in the module's arena; unique in the module once the computation belongs to one
    const HloShape *shape;
    HloComputation *comp;         // NULL while outside a computation or after removal
    HloVec users;                 // HloInstruction *; each user once; a removed one's place is taken by the last
    HloInstructionExtra *extra;   // NULL: nothing of it
    HloVec operands;              // HloInstruction *; may repeat
    HloInstruction *prev, *next;  // insertion order in the computation

    HloAttr *attrs;  // sorted by id
    uint16_t attr_count, attr_capacity;

    HloVec called;  // HloComputation *, in slot order
    HloMade *made;  // NULL for instructions of the input
};

// ---- making ---------------------------------------------------------------------------------------------

// A new instruction outside any computation. Operands are linked when it is added to a computation.
HloInstruction *hlo_inst_new(HloModule *m, HloOpcode op, const HloShape *shape, HloInstruction *const *operands,
                             size_t count);
// A copy with other operands and shape: opcode, attributes and callees as in `inst`; no name, no control
// edges, not in a computation. `m` may be another module than inst's (attributes are imported); callees are
// then as given in `callees` (NULL: the same computations).
HloInstruction *hlo_inst_clone(HloModule *m, const HloInstruction *inst, const HloShape *shape,
                               HloInstruction *const *operands, size_t count, HloComputation *const *callees);

// ---- attributes -----------------------------------------------------------------------------------------

// The stored attribute or NULL when absent (which means the table's default where it has one).
const HloAttr *hlo_attr_find(const HloInstruction *inst, HloAttrId id);
static inline bool hlo_has(const HloInstruction *inst, HloAttrId id) {
    return hlo_attr_find(inst, id) != NULL;
}
// BOOL, INT, INT32, DIM, ENUM: the value or the default (0 where there is none).
int64_t hlo_int(const HloInstruction *inst, HloAttrId id);
double hlo_float(const HloInstruction *inst, HloAttrId id);
// STRING, TEXT: the text or "" when absent.
const char *hlo_text(const HloInstruction *inst, HloAttrId id);
// DIMS, BOOLS, PRECISIONS: the list, empty when absent.
HloDims hlo_dims(const HloInstruction *inst, HloAttrId id);
// Struct kinds: the struct or NULL when absent.
const void *hlo_data(const HloInstruction *inst, HloAttrId id);

// Stores a value; a scalar that equals the table's default removes the attribute. Text, lists and structs are kept
// by reference and must belong to the module's arena, except for dims, which are copied.
void hlo_set_attr(HloModule *m, HloInstruction *inst, HloAttr attr);
void hlo_set_int(HloModule *m, HloInstruction *inst, HloAttrId id, int64_t value);
void hlo_set_float(HloModule *m, HloInstruction *inst, HloAttrId id, double value);
void hlo_set_text(HloModule *m, HloInstruction *inst, HloAttrId id, const char *text);  // copied
void hlo_set_dims(HloModule *m, HloInstruction *inst, HloAttrId id, HloDims dims);      // copied
void hlo_set_data(HloModule *m, HloInstruction *inst, HloAttrId id, const void *data);
void hlo_clear_attr(HloInstruction *inst, HloAttrId id);

static inline int64_t hlo_parameter_number(const HloInstruction *inst) {
    return hlo_int(inst, HLO_ATTR_PARAMETER_NUMBER);
}
// The value of a constant; NULL on any other opcode.
static inline const HloLiteral *hlo_constant(const HloInstruction *inst) {
    return inst->op == HLO_OP_CONSTANT ? (const HloLiteral *)hlo_data(inst, HLO_ATTR_VALUE) : NULL;
}

// The value of one of its frontend attributes, or NULL.
const char *hlo_frontend_attribute(const HloInstruction *inst, const char *key);

// ---- edges ----------------------------------------------------------------------------------------------

static inline HloInstruction *hlo_operand(const HloInstruction *inst, size_t k) {
    return (HloInstruction *)inst->operands.items[k];
}
static inline size_t hlo_operand_count(const HloInstruction *inst) {
    return inst->operands.count;
}
static inline HloInstruction *hlo_user(const HloInstruction *inst, size_t k) {
    return (HloInstruction *)inst->users.items[k];
}
static inline size_t hlo_user_count(const HloInstruction *inst) {
    return inst->users.count;
}
static inline HloComputation *hlo_called(const HloInstruction *inst, size_t k) {
    return (HloComputation *)inst->called.items[k];
}

// Control predecessors and successors: HloInstruction *, each once.
static inline const HloVec *hlo_control_preds(const HloInstruction *inst) {
    static const HloVec none = {NULL, 0, 0};
    return inst->extra ? &inst->extra->control_preds : &none;
}
static inline const HloVec *hlo_control_succs(const HloInstruction *inst) {
    static const HloVec none = {NULL, 0, 0};
    return inst->extra ? &inst->extra->control_succs : &none;
}

// Replaces operand k; both operands' users are kept up to date.
void hlo_set_operand(HloInstruction *inst, size_t k, HloInstruction *operand);
// Appends an operand (fusions, tuples, async chains).
void hlo_append_operand(HloInstruction *inst, HloInstruction *operand);
void hlo_remove_operand(HloInstruction *inst, size_t k);
// Sets the callee in slot k, growing the list; keeps callers up to date when `inst` is in a computation.
void hlo_set_called(HloInstruction *inst, size_t k, HloComputation *callee);
void hlo_clear_called(HloInstruction *inst);
// Moves all data uses of `old_inst` (and its rootness) to `new_inst`, which must be in the same computation. Shapes
// are the caller's business.
void hlo_replace_all_uses(HloInstruction *old_inst, HloInstruction *new_inst);
// Moves one user's uses of `old_inst` to `new_inst`.
void hlo_replace_uses_in(HloInstruction *user, HloInstruction *old_inst, HloInstruction *new_inst);

// Adds `before` as a control predecessor of `inst` (once).
void hlo_add_control_edge(HloInstruction *before, HloInstruction *inst);
void hlo_remove_control_edge(HloInstruction *before, HloInstruction *inst);
static inline bool hlo_has_control_edges(const HloInstruction *inst) {
    return hlo_control_preds(inst)->count || hlo_control_succs(inst)->count;
}
void hlo_drop_control_edges(HloInstruction *inst);
// Drops all control edges that end in one of `ends` (by instruction id) of this computation. Linear, where edge by edge
// would search the lists of instructions with many again and again.
void hlo_drop_control_edges_to(HloComputation *comp, HloBits ends);
// Gives every control edge of `from` to `to` and drops it from `from`.
void hlo_move_control_edges(HloInstruction *from, HloInstruction *to);

// ---- asking ---------------------------------------------------------------------------------------------

// False for an instruction outside a computation.
bool hlo_is_root(const HloInstruction *inst);
// No users and not the root.
bool hlo_is_dead(const HloInstruction *inst);
// Elementwise by the table, or a map or fusion that is. Source: pass mechanics.
bool hlo_is_elementwise(const HloInstruction *inst);
// Whether operand `k` of an elementwise opcode may be a scalar beside arrays: the predicate of a select and the bounds
// of a clamp may. Source: verifier chapter.
static inline bool hlo_may_be_scalar(HloOpcode op, size_t k) {
    return (op == HLO_OP_SELECT && k == 0) || (op == HLO_OP_CLAMP && k != 1);
}
// Own side effect or one in a callee. Source: pass mechanics, side effects.
bool hlo_has_side_effect(const HloInstruction *inst);
// Side effect of the instruction itself, callees left out.
bool hlo_has_own_side_effect(const HloInstruction *inst);
// A custom call that only says how its operand is spread over devices (`Sharding` and the like): what it gets is what it
// gives.
bool hlo_is_sharding_annotation(const HloInstruction *inst);
// May be taken out of its computation: no control edges, and no parameter of a non-fusion computation.
bool hlo_is_removable(const HloInstruction *inst);
// Same opcode, attributes and callees; operands and names are not compared. Annotations (metadata, origin, …)
// are left out; sharding, frontend attributes and backend_config count.
bool hlo_same_operation(const HloInstruction *a, const HloInstruction *b);
// Only opcode and attributes; besides the annotations, frontend attributes and those named in `ignored` are left out.
bool hlo_same_attributes(const HloInstruction *a, const HloInstruction *b, const HloAttrId *ignored, size_t count);
static inline bool hlo_is(const HloInstruction *inst, HloOpcode op) {
    return inst->op == op;
}

#endif
