// Annotations of an instruction: metadata, frontend attributes, origin, statistics, accuracy, domain.

#include "parse.h"

#include <stddef.h>
#include <stdlib.h>

// ---- metadata -------------------------------------------------------------------------------------------

typedef enum FieldKind { FIELD_TEXT, FIELD_INT32, FIELD_PROFILE, FIELD_PAYLOAD } FieldKind;

typedef struct MetadataField {
    const char *name;
    FieldKind kind;
    size_t offset;
} MetadataField;

static const MetadataField metadata_fields[] = {
    {"op_name", FIELD_TEXT, offsetof(HloMetadata, op_name)},
    {"stack_frame_id", FIELD_INT32, offsetof(HloMetadata, stack_frame_id)},
    {"op_type", FIELD_TEXT, offsetof(HloMetadata, op_type)},
    {"source_file", FIELD_TEXT, offsetof(HloMetadata, source_file)},
    {"source_line", FIELD_INT32, offsetof(HloMetadata, source_line)},
    {"source_end_line", FIELD_INT32, offsetof(HloMetadata, source_end_line)},
    {"source_column", FIELD_INT32, offsetof(HloMetadata, source_column)},
    {"source_end_column", FIELD_INT32, offsetof(HloMetadata, source_end_column)},
    {"profile_type", FIELD_PROFILE, offsetof(HloMetadata, profile_type)},
    {"deduplicated_name", FIELD_TEXT, offsetof(HloMetadata, deduplicated_name)},
    {"scheduling_name", FIELD_TEXT, offsetof(HloMetadata, scheduling_name)},
    {"metadata_payload", FIELD_PAYLOAD, offsetof(HloMetadata, metadata_payload)},
};

static bool read_profile_types(HloReader *r, HloDims *out) {
    const char *at = hlo_here(r);
    if (!hlo_read_dims(r, out)) return false;
    for (size_t i = 0; i < out->count; i++) {
        if (out->data[i] < 0 || out->data[i] > 3)
            return hlo_read_error(r, at, "profile types are 0 (invalid), 1 (window), 2 (flag) and 3 (integer)");
    }
    return true;
}

static bool read_metadata_value(HloReader *r, const MetadataField *field, HloMetadata *md) {
    void *place = (char *)md + field->offset;
    const char *text;
    size_t size;
    int64_t number;
    switch (field->kind) {
    case FIELD_TEXT:
        if (!hlo_read_string(r, &text, NULL)) return false;
        *(const char **)place = *text ? text : NULL;
        return true;
    case FIELD_PAYLOAD:
        if (!hlo_version_has(r, hlo_here(r), HLO_FORM_METADATA_PAYLOAD)) return false;
        if (!hlo_read_string(r, &text, &size)) return false;
        md->metadata_payload = size ? text : NULL;
        md->payload_size = size;
        return true;
    case FIELD_INT32:
        if (!hlo_read_int32(r, &number)) return false;
        *(int32_t *)place = (int32_t)number;
        return true;
    case FIELD_PROFILE: return read_profile_types(r, place);
    }
    return false;
}

static bool unexpected_field(HloReader *r) {
    const char *names[HLO_COUNT(metadata_fields)];
    for (size_t i = 0; i < HLO_COUNT(metadata_fields); i++) names[i] = metadata_fields[i].name;
    return hlo_unexpected_attribute(r, names, HLO_COUNT(metadata_fields));
}

// metadata = "{" (key "=" value ","?)* "}"
bool hlo_read_metadata(HloReader *r, const HloMetadata **out) {
    uint32_t seen = 0;
    HloMetadata *md = HLO_NEW(r->arena, HloMetadata);
    *out = md;
    if (!hlo_expect(r, HLO_TOK_LBRACE, "expects '{' to start metadata")) return false;
    while (!hlo_accept(r, HLO_TOK_RBRACE)) {
        size_t i = 0;
        while (i < HLO_COUNT(metadata_fields) && !hlo_at_attr(r, metadata_fields[i].name)) i++;
        if (i == HLO_COUNT(metadata_fields)) return unexpected_field(r);
        if (seen >> i & 1)
            return hlo_read_error(r, hlo_here(r), "attribute %s already exists", metadata_fields[i].name);
        seen |= 1u << i;
        hlo_skip(r);
        if (!read_metadata_value(r, &metadata_fields[i], md)) return false;
        hlo_accept(r, HLO_TOK_COMMA);
    }
    return true;
}

// ---- frontend attributes --------------------------------------------------------------------------------

static bool read_pair(HloReader *r, void *data) {
    const HloToken *t = &r->lex.token;
    if (t->kind != HLO_TOK_ATTR) return hlo_read_error(r, t->at, "expects key=value in frontend_attributes");
    HloStringPair pair = {.key = hlo_intern(r->m, t->text, t->size)};
    hlo_skip(r);
    if (hlo_tok(r) != HLO_TOK_STRING && hlo_tok(r) != HLO_TOK_LBRACE)
        return hlo_read_error(r, hlo_here(r), "expects string or JSON dict as the value of a frontend attribute");
    if (!hlo_read_text(r, &pair.value)) return false;
    *(HloStringPair *)hlo_items_push(r, data, sizeof pair) = pair;
    return true;
}

// By key, then by place: keys are interned, values of one key keep their order.
typedef struct PlacedPair {
    HloStringPair pair;
    size_t place;
} PlacedPair;

static int compare_pairs(const void *left, const void *right) {
    const PlacedPair *a = left, *b = right;
    int order = strcmp(a->pair.key, b->pair.key);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

// map = "{" (key "=" (string | dict) ("," …)*)? "}"     the last value of a key counts
bool hlo_read_string_map(HloReader *r, HloStringMap *out) {
    HloItems items = {0};
    if (!hlo_read_list(r, HLO_TOK_LBRACE, HLO_TOK_RBRACE, read_pair, &items)) return false;
    PlacedPair *placed = HLO_NEW_ARRAY(r->scratch, PlacedPair, items.count);
    for (size_t i = 0; i < items.count; i++) placed[i] = (PlacedPair){((HloStringPair *)items.data)[i], i};
    if (items.count > 1) qsort(placed, items.count, sizeof *placed, compare_pairs);
    HloStringPair *pairs = HLO_NEW_ARRAY(r->arena, HloStringPair, items.count);
    size_t count = 0;
    for (size_t i = 0; i < items.count; i++) {
        if (count && strcmp(pairs[count - 1].key, placed[i].pair.key) == 0) count--;
        pairs[count++] = placed[i].pair;
    }
    *out = (HloStringMap){pairs, count};
    return true;
}

// ---- origin ---------------------------------------------------------------------------------------------

// leaf = "{" (string ("{" ints "}")?)? "}"
static bool read_origin_leaf(HloReader *r, HloOrigin *leaf) {
    if (!hlo_expect(r, HLO_TOK_LBRACE, "expects '{' in origin")) return false;
    if (hlo_tok(r) == HLO_TOK_STRING && !hlo_read_string(r, &leaf->name, NULL)) return false;
    if (leaf->name && hlo_tok(r) == HLO_TOK_LBRACE && !hlo_read_dims(r, &leaf->index)) return false;
    return hlo_expect(r, HLO_TOK_RBRACE, "expects '}' in origin");
}

// An open parenthesis and the elements read so far.
typedef struct OpenOrigin {
    HloOrigin *tuple;
    HloVec elements;
} OpenOrigin;

static HloOrigin *close_origin(HloReader *r, OpenOrigin *open) {
    HloOrigin *tuple = open->tuple;
    tuple->elements = hlo_arena_copy(r->arena, open->elements.items, open->elements.count * sizeof(HloOrigin *));
    tuple->element_count = open->elements.count;
    return tuple;
}

// value = leaf | "(" (value ("," value)*)? ")"
static bool read_origin_value(HloReader *r, HloOrigin **out) {
    HloItems open = {0};
    for (;;) {
        HloOrigin *value = HLO_NEW(r->arena, HloOrigin);
        if (hlo_accept(r, HLO_TOK_LPAREN)) {
            if (!hlo_enter(r, 1)) return false;
            value->tuple = true;
            ((OpenOrigin *)hlo_items_push(r, &open, sizeof(OpenOrigin)))->tuple = value;
            if (hlo_tok(r) != HLO_TOK_RPAREN) continue;
        } else {
            if (!read_origin_leaf(r, value)) return false;
            if (open.count) hlo_vec_push(r->scratch, &((OpenOrigin *)open.data)[open.count - 1].elements, value);
        }
        while (open.count && !hlo_accept(r, HLO_TOK_COMMA)) {
            if (!hlo_expect(r, HLO_TOK_RPAREN, "expects ')' at the end of a tuple in origin")) return false;
            hlo_leave(r, 1);
            value = close_origin(r, &((OpenOrigin *)open.data)[--open.count]);
            if (open.count) hlo_vec_push(r->scratch, &((OpenOrigin *)open.data)[open.count - 1].elements, value);
        }
        *out = value;
        if (!open.count) return true;
    }
}

// origin = "{" (value | "[synthetic_call]")? "}"     nothing is an empty tuple
bool hlo_read_origin(HloReader *r, const HloOrigin **out) {
    if (!hlo_expect(r, HLO_TOK_LBRACE, "expects '{' to start origin")) return false;
    HloOrigin *origin;
    if (hlo_accept(r, HLO_TOK_LSQUARE)) {
        if (!hlo_at_word(r, "synthetic_call")) return hlo_read_error(r, hlo_here(r), "expects synthetic_call");
        hlo_skip(r);
        if (!hlo_expect(r, HLO_TOK_RSQUARE, "expects ']' behind synthetic_call")) return false;
        origin = HLO_NEW(r->arena, HloOrigin);
        origin->synthetic_call = true;
    } else if (hlo_tok(r) == HLO_TOK_RBRACE) {
        origin = HLO_NEW(r->arena, HloOrigin);
        origin->tuple = true;
    } else if (!read_origin_value(r, &origin)) {
        return false;
    }
    *out = origin;
    return hlo_expect(r, HLO_TOK_RBRACE, "expects '}' to end origin");
}

// ---- statistics -----------------------------------------------------------------------------------------

// item = name "=" number
static bool read_statistic(HloReader *r, HloItems *items) {
    const HloToken *t = &r->lex.token;
    if (t->kind != HLO_TOK_ATTR) return hlo_read_error(r, t->at, "expects a statistic, name=number");
    HloStatistic item = {.name = hlo_intern(r->m, t->text, t->size)};
    hlo_skip(r);
    if (!hlo_read_double(r, &item.value)) return false;
    *(HloStatistic *)hlo_items_push(r, items, sizeof item) = item;
    return true;
}

// statistics = "{" ("visualizing_index=" int ("," item)*)? "}"     the first key's spelling does not matter
bool hlo_read_statistics(HloReader *r, const HloStatistics **out) {
    HloStatistics *statistics = HLO_NEW(r->arena, HloStatistics);
    *out = statistics;
    if (!hlo_expect(r, HLO_TOK_LBRACE, "expects '{' to start statistics")) return false;
    if (hlo_accept(r, HLO_TOK_RBRACE)) return true;
    if (!hlo_expect(r, HLO_TOK_ATTR, "expects visualizing_index=")) return false;
    if (!hlo_read_int(r, &statistics->visualizing_index)) return false;
    HloItems items = {0};
    while (hlo_accept(r, HLO_TOK_COMMA)) {
        if (!read_statistic(r, &items)) return false;
    }
    statistics->items = hlo_items_copy(r, &items, sizeof(HloStatistic));
    statistics->count = items.count;
    return hlo_expect(r, HLO_TOK_RBRACE, "expects '}' to end statistics");
}

// ---- accuracy -------------------------------------------------------------------------------------------

static bool read_tolerance(HloReader *r, void *data) {
    HloAccuracy *accuracy = data;
    double value;
    bool atol = hlo_at_attr(r, "atol"), rtol = hlo_at_attr(r, "rtol"), ulps = hlo_at_attr(r, "ulps");
    if (!atol && !rtol && !ulps) return hlo_read_error(r, hlo_here(r), "expects atol=, rtol= or ulps=");
    const char *at = hlo_here(r);
    hlo_skip(r);
    if (!hlo_read_double(r, &value)) return false;
    if (atol) accuracy->atol = value;
    if (rtol) accuracy->rtol = value;
    if (!ulps) return true;
    if (!(value > -9e18 && value < 9e18)) return hlo_read_error(r, at, "ulps is out of range");
    accuracy->ulps = (int64_t)value;
    return true;
}

// accuracy = "{" ("mode=" word | "tolerance={" (key "=" number ("," …)*)? "}") "}"
bool hlo_read_accuracy(HloReader *r, const HloAccuracy **out) {
    HloAccuracy *accuracy = HLO_NEW(r->arena, HloAccuracy);
    *out = accuracy;
    if (!hlo_expect(r, HLO_TOK_LBRACE, "expects '{' to start result_accuracy")) return false;
    if (hlo_at_attr(r, "tolerance")) {
        accuracy->is_tolerance = true;
        hlo_skip(r);
        if (!hlo_read_list(r, HLO_TOK_LBRACE, HLO_TOK_RBRACE, read_tolerance, accuracy)) return false;
    } else if (hlo_at_attr(r, "mode")) {
        hlo_skip(r);
        const HloToken *t = &r->lex.token;
        int64_t mode;
        if (t->kind != HLO_TOK_IDENT) return hlo_read_error(r, t->at, "expects ResultAccuracy type");
        if (!hlo_enum_find(HLO_ENUM_PRECISION, t->text, t->size, true, &mode) || mode == HLO_PRECISION_HIGH)
            return hlo_read_error(r, t->at, "expects ResultAccuracy type but sees: %.*s, error: Unknown accuracy mode",
                                  (int)(t->size < 60 ? t->size : 60), t->text);
        accuracy->mode = mode == HLO_PRECISION_HIGHEST;
        hlo_skip(r);
    } else {
        return hlo_read_error(r, hlo_here(r), "expects mode= or tolerance= in result_accuracy");
    }
    return hlo_expect(r, HLO_TOK_RBRACE, "expects '}' to end result_accuracy (it has either a mode or a tolerance)");
}

// ---- domain ---------------------------------------------------------------------------------------------

static bool read_domain_item(HloReader *r, HloDomain *domain) {
    if (hlo_at_attr(r, "kind")) {
        hlo_skip(r);
        const char *at = hlo_here(r);
        if (!hlo_read_string(r, &domain->kind, NULL)) return false;
        return strcmp(domain->kind, "sharding") == 0 ||
               hlo_read_error(r, at, "unsupported domain kind: %.60s", domain->kind);
    }
    bool entry = hlo_at_attr(r, "entry");
    if (!entry && !hlo_at_attr(r, "exit")) return hlo_read_error(r, hlo_here(r), "expects kind=, entry= or exit=");
    hlo_skip(r);
    return hlo_read_sharding(r, entry ? &domain->entry : &domain->exit);
}

// domain = "{" "kind=" string "," "entry=" sharding "," "exit=" sharding "}"
bool hlo_read_domain(HloReader *r, const HloDomain **out) {
    HloDomain *domain = HLO_NEW(r->arena, HloDomain);
    *out = domain;
    const char *at = hlo_here(r);
    if (!hlo_expect(r, HLO_TOK_LBRACE, "expects '{' to start domain")) return false;
    while (!hlo_accept(r, HLO_TOK_RBRACE)) {
        if (!read_domain_item(r, domain)) return false;
        hlo_accept(r, HLO_TOK_COMMA);
    }
    const char *missing = !domain->kind ? "kind" : !domain->entry ? "entry" : !domain->exit ? "exit" : NULL;
    return !missing || hlo_read_error(r, at, "sub-attribute %s is expected but not seen", missing);
}
