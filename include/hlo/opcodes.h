// Opcodes, attributes and word lists: enums and rows of facts from the .def tables.
#ifndef HLO_OPCODES_H
#define HLO_OPCODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum HloOpcode {
#define HLO_OPCODE(name, spelling, operands, flags, ...) HLO_OP_##name,
#include "hlo/opcodes.def"
    HLO_OP_COUNT
} HloOpcode;

typedef enum HloAttrId {
#define HLO_ATTR(name, spelling, kind, detail, standard, scope) HLO_ATTR_##name,
#include "hlo/attributes.def"
    HLO_ATTR_COUNT
} HloAttrId;

// Values of the word lists: HLO_FUSION_KIND_LOOP, HLO_COMPARE_DIRECTION_EQ, …
enum {
#define HLO_ENUM(table, name, word, number) HLO_##table##_##name = number,
#include "hlo/enums.def"
};

// Special operand counts.
enum { HLO_ANY_OPERANDS = -1, HLO_EVEN_OPERANDS = -2, HLO_ODD_OPERANDS = -3 };

typedef enum HloOpFlags {
    HLO_OPF_INFER = 1 << 0,
    HLO_OPF_ELEMENTWISE = 1 << 1,
    HLO_OPF_COMMUTATIVE = 1 << 2,
    HLO_OPF_EFFECT = 1 << 3,
    HLO_OPF_COLLECTIVE = 1 << 4,
    HLO_OPF_ASYNC = 1 << 5,
    HLO_OPF_NO_SUGAR = 1 << 6,
} HloOpFlags;

// How an opcode uses an attribute.
typedef enum HloUseRule {
    HLO_USE_REQUIRED,    // must be given; always printed
    HLO_USE_OPTIONAL,    // printed when stored (that is, not the default)
    HLO_USE_ALWAYS,      // may be left out in input; always printed
    HLO_USE_INPUT_ONLY,  // read, never printed
} HloUseRule;

typedef struct HloAttrUse {
    HloAttrId id;
    HloUseRule rule;
} HloAttrUse;

typedef struct HloOpInfo {
    const char *name;
    size_t name_size;
    int operand_count;  // or HLO_ANY_OPERANDS, …
    unsigned flags;     // HloOpFlags
    const HloAttrUse *attrs;
    size_t attr_count;
} HloOpInfo;

// How a value is stored in HloAttr; see attributes.h for the structs.
typedef enum HloAttrKind {
    HLO_KIND_BOOL,          // i
    HLO_KIND_INT,           // i
    HLO_KIND_INT32,         // i, range-checked when read
    HLO_KIND_DIM,           // i, written as a list of one
    HLO_KIND_FLOAT,         // f
    HLO_KIND_ENUM,          // i, a number of the table named by `detail`
    HLO_KIND_STRING,        // text, quoted in the text form
    HLO_KIND_TEXT,          // text, quoted or a raw JSON dict
    HLO_KIND_DIMS,          // HloDims
    HLO_KIND_BOOLS,         // HloDims of 0 and 1
    HLO_KIND_PRECISIONS,    // HloDims of PRECISION numbers
    HLO_KIND_INT_LISTS,     // HloIntLists
    HLO_KIND_WINDOW,        // HloWindow
    HLO_KIND_DIM_LABELS,    // HloConvDims
    HLO_KIND_PADDING,       // HloPadding
    HLO_KIND_SLICE,         // HloSlice
    HLO_KIND_GROUPS,        // HloGroups
    HLO_KIND_SHAPE,         // HloShape
    HLO_KIND_SHAPES,        // HloShapeList
    HLO_KIND_LITERAL,       // HloLiteral
    HLO_KIND_SHARDING,      // HloSharding
    HLO_KIND_METADATA,      // HloMetadata
    HLO_KIND_STRING_MAP,    // HloStringMap
    HLO_KIND_ORIGIN,        // HloOrigin
    HLO_KIND_STATISTICS,    // HloStatistics
    HLO_KIND_ACCURACY,      // HloAccuracy
    HLO_KIND_ALIASES,       // HloAliases
    HLO_KIND_DOMAIN,        // HloDomain
    HLO_KIND_SPARSITY,      // HloSparsity
    HLO_KIND_COMPUTATION,   // not stored as an attribute: the called computation in slot `detail`
    HLO_KIND_COMPUTATIONS,  // likewise: all called computations
    HLO_KIND_INSTRUCTIONS,  // likewise: the control predecessors
} HloAttrKind;

typedef enum HloAttrScope {
    HLO_SCOPE_OWN,
    HLO_SCOPE_COMMON,
    HLO_SCOPE_LATE,
    HLO_SCOPE_OPERAND,
} HloAttrScope;

typedef struct HloAttrInfo {
    const char *name;
    size_t name_size;
    HloAttrKind kind;
    int detail;        // enum table or computation slot
    bool has_default;  // scalar kinds: absent means `standard`
    int64_t standard;
    HloAttrScope scope;
} HloAttrInfo;

typedef enum HloEnumTable {
    HLO_ENUM_COMPARE_DIRECTION,
    HLO_ENUM_COMPARE_TYPE,
    HLO_ENUM_FUSION_KIND,
    HLO_ENUM_FFT_TYPE,
    HLO_ENUM_PADDING_TYPE,
    HLO_ENUM_RNG_DISTRIBUTION,
    HLO_ENUM_RNG_ALGORITHM,
    HLO_ENUM_PRECISION,
    HLO_ENUM_DOT_ALGORITHM,
    HLO_ENUM_CONV_KIND,
    HLO_ENUM_CUSTOM_CALL_SCHEDULE,
    HLO_ENUM_API_VERSION,
    HLO_ENUM_TRANSPOSE,
    HLO_ENUM_COLLECTIVE_MODE,
    HLO_ENUM_TABLE_COUNT
} HloEnumTable;

typedef struct HloEnumWord {
    HloEnumTable table;
    int64_t number;
    const char *word;
} HloEnumWord;

extern const HloOpInfo hlo_op_infos[HLO_OP_COUNT];
static inline const HloOpInfo *hlo_op_info(HloOpcode op) {
    return &hlo_op_infos[op];
}
extern const HloAttrInfo hlo_attr_infos[HLO_ATTR_COUNT];
static inline const HloAttrInfo *hlo_attr_info(HloAttrId id) {
    return &hlo_attr_infos[id];
}

static inline const char *hlo_op_name(HloOpcode op) {
    return hlo_op_info(op)->name;
}
static inline bool hlo_op_has(HloOpcode op, unsigned flags) {
    return (hlo_op_info(op)->flags & flags) == flags;
}
// The opcode spelled `text`.
bool hlo_op_find(const char *text, size_t size, HloOpcode *out);
// The nearest opcode spelling for a hint, or NULL when nothing is near.
const char *hlo_op_suggest(const char *text, size_t size);

// The attribute spelled `text` that `op` accepts (its own or a common one); *use is set.
bool hlo_op_find_attr(HloOpcode op, const char *text, size_t size, HloAttrUse *use);
// True when the opcode's row lists the attribute.
bool hlo_op_uses(HloOpcode op, HloAttrId id);

// Word of a number in a table; NULL when there is none.
const char *hlo_enum_word(HloEnumTable table, int64_t number);
// Number of a word; `ignore_case` as the grammar says for the table.
bool hlo_enum_find(HloEnumTable table, const char *text, size_t size, bool ignore_case, int64_t *out);
// All rows, in file order.
const HloEnumWord *hlo_enum_words(size_t *count);

#endif
