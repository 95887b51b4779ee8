// What the parts of the reader (HloModuleProto -> module) share.
//
// Messages live in scratch memory and are checked for everything that the module relies on; values are copied into the
// module's arena. Parts recurse over messages only, which nest at most HLO_MESSAGE_DEPTH deep. Checks that text
// gets as well (operand counts, attributes that go with operands) are those of the text reader.
#ifndef HLO_PROTO_READER_H
#define HLO_PROTO_READER_H

#include "fields.h"
#include "hlo.pb-c.h"
#include "hlo/module.h"
#include "hlo/status.h"
#include "lib/text/parse.h"

typedef struct HloProtoReader {
    HloReader text;  // for the checks shared with text
    HloModule *m;
    HloArena *arena, *scratch;
    HloShapes *shapes;
    const Xla__HloModuleProto *proto;
    HloFieldPlaces places;
    uint64_t *known_fields[HLO_OP_COUNT];  // bits of the instruction fields that an opcode reads
    HloMap types;                          // proto number + 1 -> HloType + 1
    HloMap computations;                   // id + 1 -> HloComputation
    HloMap computation_names, instruction_names;
    HloMap *by_id;         // for each computation of the message: local id + 1 -> HloInstruction
    HloMap *instructions;  // the one of the computation being read
    HloMap notes;          // texts of notes already given
    HloBuffer *note_text;
    bool renumber_frames;
} HloProtoReader;

// Ids of instructions count within their computation by these bits (protobuf chapter, §4).
static inline uint32_t hlo_local_id(int64_t id) {
    return (uint32_t)(uint64_t)id;
}
// A number as the key of a map.
static inline const void *hlo_id_key(uint64_t id) {
    return (const void *)(uintptr_t)(id + 1);
}

// Gives a note unless it was given before.
void hlo_reader_note(HloProtoReader *r, const char *format, ...) HLO_PRINTF(2, 3);
// The error that a check of the text reader left behind.
HloStatus hlo_reader_text_error(HloProtoReader *r);
// An interned copy; NULL for empty text.
const char *hlo_read_proto_text(HloProtoReader *r, const char *text);
// Bytes as text; they must not hold a zero byte.
HLO_MUST_USE HloStatus hlo_read_proto_bytes(HloProtoReader *r, ProtobufCBinaryData bytes, const char **out);
static inline HloDims hlo_read_proto_dims(HloProtoReader *r, const int64_t *data, size_t count) {
    return hlo_dims_copy(r->arena, (HloDims){data, count});
}
HloDims hlo_read_narrow_dims(HloProtoReader *r, const int32_t *data, size_t count);

// read_shape.c
HLO_MUST_USE HloStatus hlo_read_proto_shape(HloProtoReader *r, const Xla__ShapeProto *from, const HloShape **out);

// read_literal.c
HLO_MUST_USE HloStatus hlo_read_proto_literal(HloProtoReader *r, const Xla__LiteralProto *from, HloLiteral **out);
// The same for a value of a known shape, whose layout it takes.
HLO_MUST_USE HloStatus hlo_read_proto_value(HloProtoReader *r, const Xla__LiteralProto *from, const HloShape *shape,
                                            HloLiteral **out);

// read_devices.c
HLO_MUST_USE HloStatus hlo_read_proto_sharding(HloProtoReader *r, const Xla__OpSharding *from, const HloShape *shape,
                                               const HloSharding **out);
HLO_MUST_USE HloStatus hlo_read_proto_groups(HloProtoReader *r, const Xla__HloInstructionProto *from,
                                             const HloGroups **out);

// read_values.c
HLO_MUST_USE HloStatus hlo_read_proto_metadata(HloProtoReader *r, const Xla__OpMetadata *from, const HloMetadata **out);
HLO_MUST_USE HloStatus hlo_read_proto_payload(HloProtoReader *r, const Xla__Payload *from, const char **out,
                                              size_t *size);
HloStringMap hlo_read_proto_map(HloProtoReader *r, const Xla__FrontendAttributes *from);
// A struct of the kind from the one message that holds it; *out stays NULL when it says nothing. ORIGIN goes with the
// shape.
HLO_MUST_USE HloStatus hlo_read_proto_struct(HloProtoReader *r, HloAttrKind kind, const HloInstruction *inst,
                                             const void *message, const void **out);
const HloSlice *hlo_read_proto_slice(HloProtoReader *r, const Xla__HloInstructionProto *from);
const HloAliases *hlo_read_proto_operand_aliases(HloProtoReader *r, const Xla__HloInstructionProto *from);

// read_attributes.c
HLO_MUST_USE HloStatus hlo_read_proto_attributes(HloProtoReader *r, const Xla__HloInstructionProto *from,
                                                 HloLine *line);
// Notes the fields of an instruction that its opcode has no use for.
void hlo_note_unused_fields(HloProtoReader *r, const Xla__HloInstructionProto *from, HloOpcode op);

// read_instruction.c
HLO_MUST_USE HloStatus hlo_read_proto_computation(HloProtoReader *r, const Xla__HloComputationProto *from);

// read_module.c
HLO_MUST_USE HloStatus hlo_read_proto_module(HloProtoReader *r, const Xla__HloModuleProto *proto);

#endif
