// What the parts of dataflow analysis share: the state of a run, and forwarding of values through opcodes.
#ifndef HLO_ANALYSIS_DATAFLOW_INTERNAL_H
#define HLO_ANALYSIS_DATAFLOW_INTERNAL_H

#include "hlo/dataflow.h"

// `count` nodes of an instruction from `to_node` on hold what another one has from `from_node` on.
typedef struct Segment {
    uint32_t to_node;
    const HloInstruction *from;
    uint32_t from_node;
    uint32_t count;
} Segment;

typedef struct Segments {
    Segment *items;
    size_t count, capacity;
} Segments;

// What a merge point merges. One per value, parallel to Flow.values; empty for values that are no phi.
typedef struct PhiInputs {
    const int32_t *ids;
    size_t count;
} PhiInputs;

typedef struct Flow {
    HloDataflow *out;
    HloArena *arena;
    HloValue *values;  // growing
    PhiInputs *phis;
    size_t value_count, value_capacity;
    const HloInstruction **by_priority;
    uint32_t *priority;  // by instruction index
    uint32_t *heap;      // queued priorities, smallest first
    size_t heap_count;
    HloBits queued;
    Segments segments;  // scratch
    HloInts ids;        // scratch
} Flow;

// Fills `flow->segments` with what `inst` forwards; the nodes that no segment covers are values of its own. Does not
// speak of merge points (parameters, while, conditional).
void forwarded_segments(Flow *flow, const HloInstruction *inst);
bool is_merge_point(const Flow *flow, const HloInstruction *inst);

// Makes every instruction forward or merge what reaches it, until nothing changes.
void propagate_values(Flow *flow);
// Replaces phis that merge only one value (§1.3).
void simplify_phis(Flow *flow);
// Finds positions and uses of all values (§1.4).
void collect_positions(HloDataflow *flow);
void collect_uses(HloDataflow *flow);

int32_t new_value(Flow *flow, const HloInstruction *inst, uint32_t node, bool is_phi);
static inline int32_t *slot_at(const HloDataflow *flow, const HloInstruction *inst, uint32_t node) {
    return &flow->slots[flow->first_slot[hlo_flow_index(flow, inst)] + node];
}

#endif
