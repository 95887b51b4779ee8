// Forms that not every version of the language has.
//
//   --hlo-version=2026-02 refuses  ROOT r = f32[2] add(%t#0, %t#1)
//
// A reader for a version refuses what that version does not know. Without one it reads what programs of 2026-02 read,
// so that a text which passes here passes there, and those newer forms that dumps in circulation have (`usual`). A new
// form is a row here.

#include "parse.h"

typedef struct Version {
    int number;
    const char *name;
} Version;

static const Version versions[] = {{HLO_VERSION_2026_02, "2026-02"}, {HLO_VERSION_2026_08, "2026-08"}};

// Opcodes and attributes: with an opcode and no attribute, the opcode; with both, the attribute of that opcode.
typedef struct Word {
    int since;
    HloOpcode op;
    HloAttrId attr;  // HLO_ATTR_COUNT: none
    bool usual;
} Word;

static const Word words[] = {
    {HLO_VERSION_2026_08, HLO_OP_MULHI, HLO_ATTR_COUNT},
    {HLO_VERSION_2026_08, HLO_OP_COLLECTIVE_BROADCAST, HLO_ATTR_HAS_DYNAMIC_ROOT},
    {HLO_VERSION_2026_08, HLO_OP_CONVOLUTION, HLO_ATTR_ALGORITHM},
    {HLO_VERSION_2026_08, HLO_OP_CONVOLUTION, HLO_ATTR_CONVOLUTION_KIND},
    {HLO_VERSION_2026_08, HLO_OP_CONVOLUTION, HLO_ATTR_SPARSITY_CONFIG},
    {HLO_VERSION_2026_08, HLO_OP_SCAN, HLO_ATTR_NUM_CARRIES},
    {HLO_VERSION_2026_08, HLO_OP_TOPK, HLO_ATTR_TOPK_IS_STABLE, .usual = true},
};

typedef struct Type {
    int since;
    HloType type;
} Type;

static const Type types[] = {{HLO_VERSION_2026_08, HLO_F6E3M2FN}, {HLO_VERSION_2026_08, HLO_F6E2M3FN}};

typedef struct Form {
    int since;
    const char *name;  // subject of "… needs HLO of 2026-08"
    bool usual;
} Form;

static const Form forms[HLO_FORM_COUNT] = {
    [HLO_FORM_TUPLE_ELEMENT] = {HLO_VERSION_2026_08, "a tuple's element as an operand (`%t#0`)", .usual = true},
    [HLO_FORM_MESH_GROUPS] = {HLO_VERSION_2026_08, "a group over the axes of a mesh", .usual = true},
    [HLO_FORM_MESH_SHARDING] = {HLO_VERSION_2026_08, "a sharding over the axes of a mesh"},
    [HLO_FORM_LATE_OPERANDS] = {HLO_VERSION_2026_08, "async-update or async-done with more than one operand"},
    [HLO_FORM_NEW_ASYNC_SHAPE] = {HLO_VERSION_2026_08, "async-update to another shape than its operand's"},
    [HLO_FORM_DEBUG_ATTRIBUTES] = {HLO_VERSION_2026_08, "`debug_attributes`"},
    [HLO_FORM_SINGLE_QUOTES] = {HLO_VERSION_2026_08, "a string in single quotes", .usual = true},
    [HLO_FORM_METADATA_PAYLOAD] = {HLO_VERSION_2026_08, "`metadata_payload`"},
};

static const char *name_of(int number) {
    for (size_t i = 0; i < HLO_COUNT(versions); i++) {
        if (versions[i].number == number) return versions[i].name;
    }
    return "an unknown version";
}

HloStatus hlo_version_parse(const char *text, int *out) {
    *out = 0;
    if (!text || !*text) return hlo_ok();
    for (size_t i = 0; i < HLO_COUNT(versions); i++) {
        if (strcmp(versions[i].name, text) == 0) *out = versions[i].number;
    }
    if (*out) return hlo_ok();
    return hlo_error(HLO_INVALID_ARGUMENT, "unknown version of HLO '%s'; known are 2026-02 and 2026-08", text);
}

static bool is_too_new(const HloReader *r, int since, bool usual) {
    return r->hlo_version ? since > r->hlo_version : !usual;
}

void hlo_versions_start(HloReader *r) {
    _Static_assert(HLO_TYPE_COUNT < 64, "types have a bit each");
    for (size_t i = 0; i < HLO_COUNT(words); i++) {
        const Word *word = &words[i];
        bool is_op = word->attr == HLO_ATTR_COUNT;
        size_t id = is_op ? (size_t)word->op : (size_t)word->attr;
        if (is_too_new(r, word->since, word->usual))
            (is_op ? r->newer_ops : r->newer_attrs)[id / 64] |= (uint64_t)1 << id % 64;
    }
    for (size_t i = 0; i < HLO_COUNT(types); i++) {
        if (is_too_new(r, types[i].since, false)) r->newer_types |= (uint64_t)1 << types[i].type;
    }
}

static bool refuse(HloReader *r, const char *at, const char *form, int since) {
    if (!r->hlo_version)
        return hlo_read_error(r, at, "%s needs HLO of %s; --hlo-version=%s reads it", form, name_of(since),
                              name_of(since));
    return hlo_read_error(r, at, "%s needs HLO of %s; --hlo-version says %s", form, name_of(since),
                          name_of(r->hlo_version));
}

bool hlo_version_has(HloReader *r, const char *at, HloForm form) {
    return !is_too_new(r, forms[form].since, forms[form].usual) || refuse(r, at, forms[form].name, forms[form].since);
}

bool hlo_version_has_newer(HloReader *r, const char *at, HloOpcode op, HloAttrId attr) {
    for (size_t i = 0; i < HLO_COUNT(words); i++) {
        const Word *word = &words[i];
        if (word->op != op || word->attr != attr || !is_too_new(r, word->since, word->usual)) continue;
        const char *name = attr == HLO_ATTR_COUNT ? hlo_op_name(op) : hlo_attr_info(attr)->name;
        return refuse(r, at, hlo_arena_printf(r->scratch, "`%s`", name), word->since);
    }
    return true;
}

bool hlo_version_has_newer_type(HloReader *r, const char *at, HloType type) {
    for (size_t i = 0; i < HLO_COUNT(types); i++) {
        if (types[i].type == type && is_too_new(r, types[i].since, false))
            return refuse(r, at, hlo_arena_printf(r->scratch, "`%s`", hlo_type_name(type)), types[i].since);
    }
    return true;
}
