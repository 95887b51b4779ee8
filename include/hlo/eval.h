// The reference interpreter: what a module means, instruction by instruction.
//
// Every instruction is computed alone, in plain loops and in the order that the interpreter chapter fixes; nothing is
// fused and nothing is kept wider between two operations. A module for several devices is simulated in one process:
// replicas × partitions devices run side by side and meet at collectives.
#ifndef HLO_EVAL_H
#define HLO_EVAL_H

#include "hlo/module.h"

typedef struct HloEvalLimits {
    uint64_t steps;       // instructions executed, callees included; 0: no limit
    uint64_t loop_trips;  // of one while; 0: no limit
    size_t bytes;         // of live values; 0: no limit
} HloEvalLimits;

// Told about every value of every computed instruction, in the order of execution. A failure ends the evaluation.
typedef struct HloEvalWatcher {
    HloStatus (*computed)(void *data, const HloInstruction *inst, const HloLiteral *value);
    void *data;
} HloEvalWatcher;

// What infeeds get and where outfeeds go.
typedef struct HloEvalFeeds {
    const HloLiteral *const *infeeds;  // in the order in which a device asks; every device gets all of them
    size_t infeed_count;
    HloStatus (*outfed)(void *data, int64_t replica, int64_t partition, const HloLiteral *value);  // NULL: dropped
    void *data;
} HloEvalFeeds;

// A custom call that the caller computes, also in place of one that the interpreter knows. `result` has the instruction's
// shape and is zeroed; its arrays get their elements in row-major order, whatever the layout. Operands and result belong
// to the interpreter and do not outlive the call. A failure ends the evaluation and is told with the instruction.
typedef struct HloCustomCall {
    const char *target;  // custom_call_target
    HloStatus (*compute)(void *data, const HloInstruction *inst, const HloLiteral *const *args, HloLiteral *result);
    void *data;
} HloCustomCall;

typedef struct HloEvalOptions {
    HloEvalLimits limits;
    uint64_t seed;                  // of `rng`; 0: 42
    const HloEvalWatcher *watcher;  // borrowed; NULL: nobody
    const HloEvalFeeds *feeds;      // borrowed; NULL: infeeds fail
    const HloCustomCall *custom_calls;  // borrowed; the first of a target counts
    size_t custom_call_count;
    uint64_t *most_trips;           // gets the trips of the longest while, also when it is cut off; NULL: not asked
} HloEvalOptions;

// Computes the entry computation on one device. `args` are as many as it has parameters, of their shapes up to layout;
// the result lives in `arena`. INVALID_ARGUMENT for wrong arguments, RESOURCE_EXHAUSTED for a limit (which is named),
// UNIMPLEMENTED for what the interpreter cannot compute; failures name the instruction.
HLO_MUST_USE HloStatus hlo_eval(const HloModule *m, const HloEvalOptions *options, HloArena *arena,
                                const HloLiteral *const *args, size_t count, HloLiteral **result);

// The same on replicas × partitions devices at once, replica-major: args[d] are those of device d, `count` for each,
// and results[d] is its result. Also FAILED_PRECONDITION when devices wait for each other for ever.
HLO_MUST_USE HloStatus hlo_eval_devices(const HloModule *m, const HloEvalOptions *options, int64_t replicas,
                                        int64_t partitions, HloArena *arena, const HloLiteral *const *const *args,
                                        size_t count, HloLiteral **results);

// How many devices a module is for: what it says, or more where the groups and pairs of its collectives name more (a text
// without num_partitions, replica_groups={{0,1}}: two). Groups too large to be written down do not count. OUT_OF_MEMORY.
HLO_MUST_USE HloStatus hlo_eval_count_devices(const HloModule *m, int64_t *replicas, int64_t *partitions);

#endif
