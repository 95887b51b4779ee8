// What the parts of the writer (module -> HloModuleProto) share.
//
// Messages point into the module where they can: lists of int64 and plain literals are not copied. A message may stand
// in several places (shapes do); nothing changes one after it is made.
#ifndef HLO_PROTO_WRITER_H
#define HLO_PROTO_WRITER_H

#include "fields.h"
#include "hlo.pb-c.h"
#include "hlo/module.h"
#include "hlo/status.h"

typedef struct HloProtoWriter {
    HloArena *arena;
    const HloModule *m;
    HloFieldPlaces places;
    HloMap shapes;        // HloShape -> its message
    HloMap shape_sizes;   // HloShape -> number of messages below it, as a pointer
    size_t shape_total;   // of all shapes written so far
    HloMap payloads;      // text -> number + 1
    HloVec payload_list;  // ProtobufCBinaryData *
    int64_t **local_ids;  // by computation id, then by instruction id: the place in the computation
    HloStatus failure;    // the first one
} HloProtoWriter;

// Keeps the first failure; the writer goes on with whatever it has.
void hlo_writer_fail(HloProtoWriter *w, HloStatus status);

// ---- lists -----------------------------------------------------------------------------------------------

// An array of message pointers, for a generated struct's list.
#define HLO_NEW_LIST(w, type, count) HLO_NEW_ARRAY((w)->arena, type *, count)
// A list of int64 that is not copied.
#define HLO_SET_DIMS(message, field, dims) \
    ((message)->n_##field = (dims).count, (message)->field = (int64_t *)(uintptr_t)(dims).data)
// A text that is not copied; NULL stays empty.
#define HLO_SET_TEXT(message, field, text) ((void)((text) ? ((message)->field = (char *)(uintptr_t)(text)) : NULL))
int32_t *hlo_narrow_dims(HloArena *arena, HloDims dims);

// ---- parts -----------------------------------------------------------------------------------------------

// write_shape.c
Xla__ShapeProto *hlo_write_shape(HloProtoWriter *w, const HloShape *shape);
// The signature of a computation with the names of its parameters.
Xla__ProgramShapeProto *hlo_write_program_shape(HloProtoWriter *w, const HloComputation *comp);
Xla__ProgramShapeProto *hlo_write_entry_shape(HloProtoWriter *w);

// write_literal.c
Xla__LiteralProto *hlo_write_literal(HloProtoWriter *w, const HloLiteral *literal);

// write_devices.c
Xla__OpSharding *hlo_write_sharding(HloProtoWriter *w, const HloSharding *sharding);
void hlo_write_groups(HloProtoWriter *w, const HloGroups *groups, Xla__HloInstructionProto *out);

// write_values.c: into messages that are there already
void hlo_write_metadata(HloProtoWriter *w, const HloMetadata *md, Xla__OpMetadata *out);
void hlo_write_string_map(HloProtoWriter *w, const HloStringMap *map, Xla__FrontendAttributes *out);
void hlo_write_window(HloProtoWriter *w, const HloWindow *window, Xla__Window *out);
void hlo_write_conv_dims(const HloConvDims *dims, Xla__ConvolutionDimensionNumbers *out);
void hlo_write_padding(HloProtoWriter *w, const HloPadding *padding, Xla__PaddingConfig *out);
void hlo_write_sparsity(HloProtoWriter *w, const HloSparsity *sparsity, Xla__SparsityConfig *out);
void hlo_write_statistics(HloProtoWriter *w, const HloStatistics *statistics, Xla__StatisticsViz *out);
void hlo_write_accuracy(HloProtoWriter *w, const HloAccuracy *accuracy, Xla__ResultAccuracy *out);
void hlo_write_origin(HloProtoWriter *w, const HloOrigin *origin, Xla__OriginalValueProto *out);
Xla__OriginalArrayProto *hlo_write_original_array(HloProtoWriter *w, const char *name, HloDims index);
void hlo_write_slice(HloProtoWriter *w, const HloSlice *slice, Xla__HloInstructionProto *out);
void hlo_write_operand_aliases(HloProtoWriter *w, const HloAliases *aliases, Xla__HloInstructionProto *out);

// write_attributes.c
void hlo_write_attributes(HloProtoWriter *w, const HloInstruction *inst, Xla__HloInstructionProto *out);

// write_module.c
Xla__HloModuleProto *hlo_write_module(HloProtoWriter *w);

#endif
