// Attributes and the fields of HloInstructionProto that hold them.
#ifndef HLO_PROTO_FIELDS_H
#define HLO_PROTO_FIELDS_H

#include "hlo/opcodes.h"
#include "message.h"

enum { HLO_MOST_PARENTS = 2 };

// Where an attribute stands: inside these messages, in this field.
typedef struct HloFieldPlace {
    const HloField *parents[HLO_MOST_PARENTS];
    size_t parent_count;
    const HloField *field;  // NULL: the attribute has no place
    bool always;            // the messages on the path are always there
} HloFieldPlace;

// The places of the attributes of each opcode, found when first asked for.
typedef struct HloFieldPlaces {
    HloFieldPlace *by_op[HLO_OP_COUNT];  // HLO_ATTR_COUNT entries each
} HloFieldPlaces;

const HloFieldPlace *hlo_field_place(HloArena *arena, HloFieldPlaces *places, HloOpcode op, HloAttrId id);

// Attributes that every instruction may have and that have a place.
const HloAttrId *hlo_common_fields(size_t *count);

#endif
