// Dataflow, aliasing and lifetimes: which value stands where, which values share memory, how long each lives.
//
// A value is one array, tuple table or token that one instruction produces. Positions inside a shape are counted as
// nodes: the shape itself is node 0, the parts of a tuple follow in pre-order, so `(f32[2], (s32[], s32[]))` has nodes
// 0 `{}`, 1 `{0}`, 2 `{1}`, 3 `{1,0}`, 4 `{1,1}`. Everything here borrows the module, which must not change, and
// lives in the arena that is passed in. Source of all rules: the buffer assignment chapter, whose sections are named.
#ifndef HLO_DATAFLOW_H
#define HLO_DATAFLOW_H

#include "hlo/module.h"
#include "hlo/status.h"

// ---- nodes of shapes ------------------------------------------------------------------------------------

// Facts about tuple shapes, kept per shape.
typedef struct HloNodes {
    HloArena *arena;
    HloMap tuples;  // const HloShape * -> TupleNodes (nodes.c)
} HloNodes;

// Number of nodes of a shape; UINT32_MAX when there are more (tuples of shared tuples grow exponentially).
uint32_t hlo_node_count(HloNodes *nodes, const HloShape *shape);
// The node at which element `k` of a tuple shape starts.
uint32_t hlo_node_of_element(HloNodes *nodes, const HloShape *shape, size_t k);
// The element of a tuple shape that holds node `node` (> 0); *rest is the node inside that element.
size_t hlo_node_element(HloNodes *nodes, const HloShape *shape, uint32_t node, uint32_t *rest);
// The shape at a node.
const HloShape *hlo_node_shape(HloNodes *nodes, const HloShape *shape, uint32_t node);
// The tuple index that leads to a node.
HloDims hlo_node_index(HloNodes *nodes, HloArena *arena, const HloShape *shape, uint32_t node);
// The node at a tuple index; UINT32_MAX when the index does not exist.
uint32_t hlo_node_at(HloNodes *nodes, const HloShape *shape, HloDims index);

// Bytes of one value on the CPU (§0): tuples count their table, opaques a pointer, dynamic arrays four bytes
// more per dimension. Saturates at INT64_MAX.
int64_t hlo_value_size_bytes(const HloShape *shape);

// ---- values (§1) ----------------------------------------------------------------------------------------

typedef struct HloPosition {
    const HloInstruction *inst;
    uint32_t node;
} HloPosition;

typedef struct HloUse {
    const HloInstruction *user;
    uint32_t operand;            // operand number
    uint32_t node;               // in the operand's shape
    const HloInstruction *from;  // the operand at the time of the analysis
} HloUse;

typedef struct HloValue {
    int32_t id;
    bool is_phi;
    bool live_out;               // stands at the root of the entry computation
    const HloInstruction *inst;  // the definer; NULL: the id is not in use
    uint32_t node;
    const HloShape *shape;         // of the node
    const HloPosition *positions;  // the defining one first
    size_t position_count;
    const HloUse *uses;
    size_t use_count;
} HloValue;

typedef struct HloValueSet {
    const int32_t *ids;  // ascending
    size_t count;
} HloValueSet;

typedef enum HloCallContext {
    HLO_CONTEXT_NONE = 0,
    HLO_CONTEXT_SEQUENTIAL = 1,  // entered as a whole: entry, call, while, conditional, async
    HLO_CONTEXT_EMBEDDED = 2,    // applied per element: fusion, reduce, map, sort, …
    HLO_CONTEXT_BOTH = 3,
} HloCallContext;

typedef struct HloDataflow {
    const HloModule *m;
    HloArena *arena;
    HloNodes nodes;
    HloCompList order;        // callees before callers
    HloInstList *post_order;  // by computation id
    uint8_t *context;         // by computation id: HloCallContext
    size_t *inst_base;        // by computation id: index of its instruction 0
    size_t inst_limit;        // instruction indices are below this
    size_t *first_slot;       // by instruction index; one more entry at the end
    int32_t *slots;           // per instruction and node: value id, -1 for none, below that a set (dataflow.c)
    HloVec sets;              // of several values; only where one computation has several callers
    HloValue *values;         // by id
    size_t value_limit;
} HloDataflow;

// Flat index of an instruction, for side tables.
static inline size_t hlo_flow_index(const HloDataflow *flow, const HloInstruction *inst) {
    return flow->inst_base[inst->comp->id] + inst->id;
}
static inline const HloValue *hlo_flow_value(const HloDataflow *flow, int32_t id) {
    return &flow->values[id];
}

// Operations that enter their callees as a whole: call, while, conditional, async. All others apply them per element.
bool hlo_enters_callees(HloOpcode op);

// Finds the values of a module and where each may stand. The result lives in the arena and borrows the module.
HLO_MUST_USE HloStatus hlo_dataflow_run(HloArena *arena, const HloModule *m, HloDataflow **out);
// The values that may stand at a node.
HloValueSet hlo_flow_set(const HloDataflow *flow, const HloInstruction *inst, uint32_t node);
// The only value there; NULL when there is none or one of several.
const HloValue *hlo_flow_value_at(const HloDataflow *flow, const HloInstruction *inst, uint32_t node);
uint32_t hlo_flow_node_count(const HloDataflow *flow, const HloInstruction *inst);
bool hlo_flow_set_has(HloValueSet set, int32_t id);
// By value id: the entry's arguments whose memory an output takes over.
HloBits hlo_donated_values(HloArena *arena, HloDataflow *flow);

// ---- memory that operations share (§2.1, §2.2) ----------------------------------------------------------

// An operand that must lie where the output lies.
typedef struct HloInPlacePair {
    uint32_t operand;
    uint32_t operand_node;
    uint32_t output_node;
} HloInPlacePair;

typedef struct HloInPlacePairs {
    const HloInPlacePair *items;
    size_t count;
} HloInPlacePairs;

// Answers about single instructions, remembered.
typedef struct HloSharing {
    HloNodes *nodes;
    HloArena *arena;
    HloMap fusions;  // fusion -> what is known of it (sharing.c)
} HloSharing;

// Prepares the answers that need the fusions inside fusions, callees first.
HloSharing hlo_sharing_new(HloArena *arena, HloNodes *nodes, const HloModule *m);
HloInPlacePairs hlo_in_place_pairs(HloSharing *sharing, const HloInstruction *inst);
// May `user` write its output at `user_node` over the memory of `operand` at `operand_node`?
bool hlo_may_share(HloSharing *sharing, const HloDataflow *flow, const HloInstruction *operand, uint32_t operand_node,
                   const HloInstruction *user, uint32_t user_node);
bool hlo_is_elementwise_on(HloSharing *sharing, const HloInstruction *inst, size_t operand);

// ---- values that must share memory (§2) -----------------------------------------------------------------

typedef struct HloValueGroup {
    int32_t id;          // position in HloAliasing.groups
    const int32_t *ids;  // values, ascending
    size_t count;
} HloValueGroup;

typedef struct HloAliasing {
    HloDataflow *flow;
    HloValueGroup *groups;
    size_t group_count;
    int32_t *group_of;  // by value id; -1 for ids not in use
} HloAliasing;

// Groups the values that must share memory. The result lives in the arena and borrows `flow`.
HLO_MUST_USE HloStatus hlo_aliasing_run(HloArena *arena, HloDataflow *flow, HloSharing *sharing, HloAliasing **out);

// ---- order (§3.4) ---------------------------------------------------------------------------------------

// What comes before what by the schedule, or without one by data and control edges, as they were when the ordering was
// made: changes of the module after that do not change its answers. Needs a flat call graph.
typedef struct HloOrdering HloOrdering;

// Lives in the arena; borrows `flow` and `sharing`.
HloOrdering *hlo_ordering_new(HloArena *arena, HloDataflow *flow, HloSharing *sharing);
// Is `a` there before `b` is computed?
bool hlo_is_defined_before(HloOrdering *ordering, const HloValue *a, const HloValue *b);
// What the uses of one value met in branches of conditionals: one in a branch that excludes the other value's, and one
// by the conditional through an operand that only hands the value on. Each alone is harmless; with both the reference
// takes the values to overlap.
typedef struct HloBranchUses {
    bool has_exclusive, has_handed_on;
} HloBranchUses;

// Is `value` defined only after `use` is over? The use's operand is looked up in the module as it is now.
bool hlo_use_is_before(HloOrdering *ordering, const HloUse *use, const HloValue *value, HloBranchUses *branches);
// Does the instruction belong to `comp` or to a computation that is entered from it?
bool hlo_is_nested_in(const HloOrdering *ordering, const HloInstruction *inst, const HloComputation *comp);
// A position in an order that agrees with hlo_is_defined_before.
size_t hlo_definition_rank(const HloOrdering *ordering, const HloValue *value);
// Does the instruction belong, at any depth, to a branch of a conditional?
bool hlo_is_in_branch(const HloOrdering *ordering, const HloInstruction *inst);

// ---- lifetimes (§3) -------------------------------------------------------------------------------------

typedef struct HloRange {
    int64_t start, end;  // both inclusive; start -1: the value has no lifetime
} HloRange;

typedef struct HloLiveRanges {
    const HloInstruction **sequence;  // the flattened schedule
    size_t sequence_count;
    int64_t *times;          // by instruction index; -1: not in the sequence
    HloRange *computations;  // by computation id; start -1: not entered
    HloRange *values;        // by value id, normalised (§3.3)
} HloLiveRanges;

// When each value lives, in positions of the flattened schedule. The module must have one. Lives in the arena.
HLO_MUST_USE HloStatus hlo_live_ranges_run(HloArena *arena, const HloAliasing *aliasing, HloLiveRanges **out);

#endif
