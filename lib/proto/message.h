// Protobuf messages seen through their descriptors.
//
// protobuf-c generates a struct and a descriptor for each message of proto/*.proto. Reading and writing the binary and
// the text form, and carrying attributes over, work on descriptors, so that none of them names a field twice. Messages
// live in an arena and die with it.
#ifndef HLO_PROTO_MESSAGE_H
#define HLO_PROTO_MESSAGE_H

#include <protobuf-c/protobuf-c.h>

#include "hlo/arena.h"
#include "hlo/buffer.h"
#include "hlo/containers.h"

typedef ProtobufCMessageDescriptor HloMessageType;
typedef ProtobufCFieldDescriptor HloField;

// Deepest nesting of messages, as protocol buffers limit it in binary form.
enum { HLO_MESSAGE_DEPTH = 100 };

// A new message with every field absent.
void *hlo_message_new(HloArena *arena, const HloMessageType *type);

// The field named so; NULL when there is none.
const HloField *hlo_field_find(const HloMessageType *type, const char *name, size_t size);

static inline bool hlo_field_is_list(const HloField *field) {
    return field->label == PROTOBUF_C_LABEL_REPEATED;
}
static inline bool hlo_field_is_message(const HloField *field) {
    return field->type == PROTOBUF_C_TYPE_MESSAGE;
}
static inline bool hlo_field_is_oneof(const HloField *field) {
    return field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF;
}
// Maps are lists of entries with a key and a value.
bool hlo_message_is_map_entry(const HloMessageType *type);

// Bytes that one value takes in a message or list.
size_t hlo_field_value_bytes(const HloField *field);
// How many values are there: 0 or 1 for a single one. A scalar or text without presence of its own counts when it is
// not zero.
size_t hlo_field_count(const void *message, const HloField *field);
// The address of value i, which must be there; NULL for the start of an empty list.
const void *hlo_field_at(const void *message, const HloField *field, size_t i);
// The address of a value to fill: a new one at the end of a list, the one of a single field. A member of a oneof
// takes the place of the others.
void *hlo_field_add(HloArena *arena, void *message, const HloField *field);
// Room for `more` values at the end of a list: they are counted as present, zero.
void *hlo_field_extend(HloArena *arena, void *message, const HloField *field, size_t more);
// The message in a single field, made when it is absent; a new one at the end of a list.
void *hlo_field_message(HloArena *arena, void *message, const HloField *field);
// The member of the field's oneof that is set, or NULL.
const HloField *hlo_field_oneof_case(const HloMessageType *type, const void *message, const HloField *field);

// Numbers, bools and enums as integers (u64 keeps its pattern).
int64_t hlo_field_int(const void *message, const HloField *field, size_t i);
// Stores an integer at an address that hlo_field_add gave, narrowed to the field's type.
void hlo_value_set_int(const HloField *field, void *value, int64_t number);

// ---- the binary form (wire_read.c, wire_write.c) ---------------------------------------------------------

// What a reader met that no field takes; the texts live in the arena.
typedef struct HloUnknown {
    size_t count;
    const char *first;  // `computations[2]: field 77`; NULL: none
} HloUnknown;

// Reads a message. Failure is INVALID_ARGUMENT with the path of the field and the byte offset; *progress tells how far
// the reader came. Text is checked for UTF-8; messages may nest HLO_MESSAGE_DEPTH deep.
HLO_MUST_USE HloStatus hlo_wire_read(HloArena *arena, const HloMessageType *type, HloStringView bytes, void **out,
                                     HloUnknown *unknown, size_t *progress);
// Checks what a message must obey to be readable again (UTF-8, depth, size) and appends its binary form.
HLO_MUST_USE HloStatus hlo_wire_write(const void *message, HloBuffer *out);
// The checks alone.
HLO_MUST_USE HloStatus hlo_message_check(const void *message);
// The first byte that starts no valid UTF-8 character; `size` when all is well.
size_t hlo_utf8_valid(const char *text, size_t size);

// ---- the text form (text_read.c, text_write.c) -----------------------------------------------------------

HLO_MUST_USE HloStatus hlo_prototext_read(HloArena *arena, const HloMessageType *type, HloStringView text,
                                          const char *file_name, void **out, size_t *progress);
void hlo_prototext_write(const void *message, HloBuffer *out);

// ---- places in messages ----------------------------------------------------------------------------------

// A step from a message to a value in it.
typedef struct HloStep {
    const HloField *field;
    size_t index;  // in a list
} HloStep;

// `hlo_module.computations[3].name`
void hlo_put_path(HloBuffer *out, const HloStep *steps, size_t count);

#endif
