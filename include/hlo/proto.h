// Modules as protocol buffers: binary (`.pb`) and text (`.pbtxt`) (protobuf chapter).
//
// Not in any protocol buffer, and so lost on the way: a module's replica_count, num_partitions,
// alias_passthrough_params and allow_spmd_sharding_propagation_… (§5, 8). Not in any text, and so kept beside the
// module (proto_rest) for the next protocol buffer: cross_program_prefetches, device_assignment, profiles and the like.
#ifndef HLO_PROTO_H
#define HLO_PROTO_H

#include "hlo/buffer.h"
#include "hlo/literal.h"
#include "hlo/module.h"
#include "hlo/status.h"

typedef enum HloProtoForm { HLO_PROTO_BINARY, HLO_PROTO_TEXT } HloProtoForm;

// ---- writing ---------------------------------------------------------------------------------------------

// Appends the module as HloProto. Fails when something cannot be said in a protocol buffer: text that is not UTF-8,
// literals of 6-bit types, more than 2 GiB, nesting deeper than 100.
HLO_MUST_USE HloStatus hlo_proto_write_module(const HloModule *m, HloProtoForm form, HloBuffer *out);

// The places that the writer gives to instructions, by computation id, then by instruction id; the id of an instruction
// is hlo_proto_id of its computation's id and its place.
int64_t **hlo_proto_places(HloArena *arena, const HloModule *m);
static inline int64_t hlo_proto_id(uint32_t computation_id, int64_t place) {
    return (int64_t)((uint64_t)computation_id << 32 | (uint64_t)place);
}

// Appends an HloSnapshot: the module, the arguments of one execution, and its result (NULL: none yet).
HLO_MUST_USE HloStatus hlo_proto_write_snapshot(const HloModule *m, const HloLiteral *const *arguments, size_t count,
                                                const HloLiteral *result, HloBuffer *out);

// ---- reading ---------------------------------------------------------------------------------------------

// What a file holds beside its module: the values of one execution. They belong to the module's arena.
typedef struct HloSnapshot {
    const HloLiteral *const *arguments;
    size_t argument_count;
    const HloLiteral *result;  // NULL: none
} HloSnapshot;

typedef struct HloProtoRead {
    const char *file_name;  // for messages; NULL: "<proto>"
    HloBuffer *notes;       // gets a line for each kind of thing that was left out; NULL: nobody wants to know
    bool renumber_frames;   // as in HloParseOptions
} HloProtoRead;

// Reads an HloSnapshot, an HloProto, an HloModuleProto or (binary, with its length in front) an HloUnoptimizedSnapshot
// of one partition: the first of these that gives a module with a signature and computations. The caller owns *out and
// passes NULL as `snapshot` when the values do not matter. Failure is INVALID_ARGUMENT that names the field, or
// UNIMPLEMENTED.
HLO_MUST_USE HloStatus hlo_proto_read_module(HloStringView bytes, HloProtoForm form, const HloProtoRead *options,
                                             HloModule **out, HloSnapshot *snapshot);

#endif
