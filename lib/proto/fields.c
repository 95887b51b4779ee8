// Finds the fields of attributes by their paths in fields.def.

#include "fields.h"

#include "hlo.pb-c.h"

enum { ANY_OPCODE = HLO_OP_COUNT };
enum { PRESENCE_SET, PRESENCE_ALWAYS };

typedef struct Row {
    int op;
    HloAttrId id;
    const char *path;
    int presence;
} Row;

#define HLO_OP_ANY ANY_OPCODE
static const Row rows[] = {
#define HLO_PROTO_FIELD(op, attr, path, presence) {(int)HLO_OP_##op, HLO_ATTR_##attr, path, PRESENCE_##presence},
#include "fields.def"
};
#undef HLO_OP_ANY

static const HloAttrId common[] = {HLO_ATTR_SHARDING,   HLO_ATTR_FRONTEND_ATTRIBUTES,
                                   HLO_ATTR_STATISTICS, HLO_ATTR_ORIGIN,
                                   HLO_ATTR_METADATA,   HLO_ATTR_BACKEND_CONFIG};

const HloAttrId *hlo_common_fields(size_t *count) {
    *count = HLO_COUNT(common);
    return common;
}

static HloFieldPlace resolve(const Row *row) {
    HloFieldPlace place = {.always = row->presence == PRESENCE_ALWAYS};
    const HloMessageType *type = &xla__hlo_instruction_proto__descriptor;
    const char *name = row->path;
    for (const char *dot; (dot = strchr(name, '.')); name = dot + 1) {
        const HloField *parent = hlo_field_find(type, name, (size_t)(dot - name));
        if (!parent || place.parent_count == HLO_MOST_PARENTS) return (HloFieldPlace){0};
        place.parents[place.parent_count++] = parent;
        type = parent->descriptor;
    }
    place.field = hlo_field_find(type, name, strlen(name));
    return place;
}

static HloFieldPlace *resolve_all(HloArena *arena, HloOpcode op) {
    HloFieldPlace *places = HLO_NEW_ARRAY(arena, HloFieldPlace, HLO_ATTR_COUNT);
    for (size_t i = 0; i < HLO_COUNT(rows); i++) {
        const Row *row = &rows[i];
        bool has = hlo_attr_info(row->id)->scope == HLO_SCOPE_COMMON || hlo_op_uses(op, row->id);
        bool fits = has && (row->op == ANY_OPCODE || row->op == (int)op);
        if (fits && !places[row->id].field) places[row->id] = resolve(row);
    }
    return places;
}

const HloFieldPlace *hlo_field_place(HloArena *arena, HloFieldPlaces *places, HloOpcode op, HloAttrId id) {
    if (!places->by_op[op]) places->by_op[op] = resolve_all(arena, op);
    return &places->by_op[op][id];
}
