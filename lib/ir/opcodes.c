// The tables of opcodes, attributes and word lists, and lookups by spelling.

#include "hlo/opcodes.h"

#include <string.h>
#include <strings.h>

#include "hlo/containers.h"

// Attribute lists of the rows: uses_ADD[], uses_DOT[], … The closing entry keeps empty lists legal.
#define R(attr) {HLO_ATTR_##attr, HLO_USE_REQUIRED},
#define O(attr) {HLO_ATTR_##attr, HLO_USE_OPTIONAL},
#define A(attr) {HLO_ATTR_##attr, HLO_USE_ALWAYS},
#define I(attr) {HLO_ATTR_##attr, HLO_USE_INPUT_ONLY},
#define HLO_OPCODE(name, spelling, operands, flags, ...) \
    static const HloAttrUse uses_##name[] = {__VA_ARGS__{HLO_ATTR_COUNT, HLO_USE_OPTIONAL}};
#include "hlo/opcodes.def"
#undef R
#undef O
#undef A
#undef I

// The words of the columns.
enum { ANY = HLO_ANY_OPERANDS, EVEN = HLO_EVEN_OPERANDS, ODD = HLO_ODD_OPERANDS };
enum {
    INFER = HLO_OPF_INFER,
    ELEMENTWISE = HLO_OPF_ELEMENTWISE,
    COMMUTATIVE = HLO_OPF_COMMUTATIVE,
    EFFECT = HLO_OPF_EFFECT,
    COLLECTIVE = HLO_OPF_COLLECTIVE,
    ASYNC = HLO_OPF_ASYNC,
    NO_SUGAR = HLO_OPF_NO_SUGAR,
};

const HloOpInfo hlo_op_infos[HLO_OP_COUNT] = {
#define HLO_OPCODE(name, spelling, operands, flags, ...) \
    [HLO_OP_##name] = {spelling, sizeof spelling - 1, operands, flags, uses_##name, USE_COUNT(uses_##name)},
#define USE_COUNT(uses) (sizeof(uses) / sizeof((uses)[0]) - 1)
#include "hlo/opcodes.def"
};

enum { NONE = INT32_MIN };  // no default
enum {
    CONV_KIND = HLO_ENUM_CONV_KIND,
    PRECISION = HLO_ENUM_PRECISION,
    DOT_ALGORITHM = HLO_ENUM_DOT_ALGORITHM,
    COMPARE_DIRECTION = HLO_ENUM_COMPARE_DIRECTION,
    COMPARE_TYPE = HLO_ENUM_COMPARE_TYPE,
    FFT_TYPE = HLO_ENUM_FFT_TYPE,
    TRANSPOSE = HLO_ENUM_TRANSPOSE,
    RNG_DISTRIBUTION = HLO_ENUM_RNG_DISTRIBUTION,
    RNG_ALGORITHM = HLO_ENUM_RNG_ALGORITHM,
    FUSION_KIND = HLO_ENUM_FUSION_KIND,
    PADDING_TYPE = HLO_ENUM_PADDING_TYPE,
    CUSTOM_CALL_SCHEDULE = HLO_ENUM_CUSTOM_CALL_SCHEDULE,
    API_VERSION = HLO_ENUM_API_VERSION,
    COLLECTIVE_MODE = HLO_ENUM_COLLECTIVE_MODE,
};

const HloAttrInfo hlo_attr_infos[HLO_ATTR_COUNT] = {
#define HLO_ATTR(name, spelling, kind, detail, standard, scope)                                      \
    [HLO_ATTR_##name] = {spelling,         sizeof spelling - 1, HLO_KIND_##kind,                     \
                         detail,           (standard) != NONE,  (standard) == NONE ? 0 : (standard), \
                         HLO_SCOPE_##scope},
#include "hlo/attributes.def"
};

// The attributes that every opcode accepts.
static const HloAttrId common_attrs[] = {
#define IF_OWN(name)
#define IF_LATE(name)
#define IF_OPERAND(name)
#define IF_COMMON(name) HLO_ATTR_##name,
#define HLO_ATTR(name, spelling, kind, detail, standard, scope) IF_##scope(name)
#include "hlo/attributes.def"
};

static const HloEnumWord word_table[] = {
#define HLO_ENUM(table, name, word, number) {HLO_ENUM_##table, number, word},
#include "hlo/enums.def"
};

// Length and first letter settle nearly every comparison, so a scan of the table is as fast as a hash here.
bool hlo_op_find(const char *text, size_t size, HloOpcode *out) {
    for (int op = 0; op < HLO_OP_COUNT; op++) {
        const HloOpInfo *info = &hlo_op_infos[op];
        if (info->name_size != size || info->name[0] != text[0] || memcmp(info->name, text, size)) continue;
        *out = (HloOpcode)op;
        return true;
    }
    return false;
}

const char *hlo_op_suggest(const char *text, size_t size) {
    const char *best = NULL;
    size_t nearest = size < 4 ? 1 : size / 3 + 1;
    for (int op = 0; op < HLO_OP_COUNT; op++) {
        const HloOpInfo *info = &hlo_op_infos[op];
        size_t distance = hlo_edit_distance(text, size, info->name, info->name_size, nearest);
        if (distance > nearest || (best && distance == nearest)) continue;
        best = info->name;
        nearest = distance;
    }
    return best;
}

static bool is_spelled(HloAttrId id, const char *text, size_t size) {
    return hlo_attr_infos[id].name_size == size && hlo_same_bytes(hlo_attr_infos[id].name, text, size);
}

bool hlo_op_find_attr(HloOpcode op, const char *text, size_t size, HloAttrUse *use) {
    const HloOpInfo *info = &hlo_op_infos[op];
    for (size_t i = 0; i < info->attr_count; i++) {
        if (hlo_attr_infos[info->attrs[i].id].scope == HLO_SCOPE_OPERAND) continue;
        if (!is_spelled(info->attrs[i].id, text, size)) continue;
        *use = info->attrs[i];
        return true;
    }
    for (size_t i = 0; i < sizeof common_attrs / sizeof common_attrs[0]; i++) {
        if (!is_spelled(common_attrs[i], text, size)) continue;
        *use = (HloAttrUse){common_attrs[i], HLO_USE_OPTIONAL};
        return true;
    }
    return false;
}

bool hlo_op_uses(HloOpcode op, HloAttrId id) {
    const HloOpInfo *info = &hlo_op_infos[op];
    for (size_t i = 0; i < info->attr_count; i++) {
        if (info->attrs[i].id == id) return true;
    }
    return false;
}

const char *hlo_enum_word(HloEnumTable table, int64_t number) {
    for (size_t i = 0; i < sizeof word_table / sizeof word_table[0]; i++) {
        if (word_table[i].table == table && word_table[i].number == number) return word_table[i].word;
    }
    return NULL;
}

bool hlo_enum_find(HloEnumTable table, const char *text, size_t size, bool ignore_case, int64_t *out) {
    for (size_t i = 0; i < sizeof word_table / sizeof word_table[0]; i++) {
        const HloEnumWord *row = &word_table[i];
        if (row->table != table || strlen(row->word) != size || size == 0) continue;
        if (ignore_case ? strncasecmp(row->word, text, size) : strncmp(row->word, text, size)) continue;
        *out = row->number;
        return true;
    }
    return false;
}

const HloEnumWord *hlo_enum_words(size_t *count) {
    *count = sizeof word_table / sizeof word_table[0];
    return word_table;
}
