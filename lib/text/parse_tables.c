// The tables of a module's header: source frames, origin recovery, debug attributes (grammar chapter, §2).

#include "parse.h"

#include <stdlib.h>

// ---- frames: reading ------------------------------------------------------------------------------------

// Rows are (INT value)*; the numbers in front mean nothing, a row's id is its position.
static bool next_row(HloReader *r) {
    return hlo_accept(r, HLO_TOK_INT);
}

static bool read_texts(HloReader *r, const char ***out, size_t *count) {
    HloVec texts = {0};
    while (next_row(r)) {
        const char *text;
        if (!hlo_read_string(r, &text, NULL)) return false;
        hlo_vec_push(r->scratch, &texts, text);
    }
    *out = (const char **)texts.items;
    *count = texts.count;
    return true;
}

// row = "{" (name "=" int ","?)* "}"     every field once, in any order
static bool read_row(HloReader *r, const char *const *names, size_t field_count, int32_t *const *fields) {
    uint32_t seen = 0;
    const char *at = hlo_here(r);
    if (!hlo_expect(r, HLO_TOK_LBRACE, "expects '{' at the start of a table row")) return false;
    while (!hlo_accept(r, HLO_TOK_RBRACE)) {
        size_t i = 0;
        while (i < field_count && !hlo_at_attr(r, names[i])) i++;
        if (i == field_count) return hlo_read_error(r, hlo_here(r), "unexpected sub-attribute in a table row");
        if (seen >> i & 1) return hlo_read_error(r, hlo_here(r), "attribute %s already exists", names[i]);
        seen |= 1u << i;
        hlo_skip(r);
        int64_t value;
        if (!hlo_read_int32(r, &value)) return false;
        *fields[i] = (int32_t)value;
        hlo_accept(r, HLO_TOK_COMMA);
    }
    for (size_t i = 0; i < field_count; i++) {
        if (!(seen >> i & 1)) return hlo_read_error(r, at, "sub-attribute %s is expected but not seen", names[i]);
    }
    return true;
}

static bool read_locations(HloReader *r) {
    static const char *const names[] = {"file_name_id", "function_name_id", "line", "end_line", "column", "end_column"};
    HloItems items = {0};
    while (next_row(r)) {
        HloFileLocation row = {0};
        int32_t *fields[] = {&row.file_name_id, &row.function_name_id, &row.line,
                             &row.end_line,     &row.column,           &row.end_column};
        if (!read_row(r, names, HLO_COUNT(names), fields)) return false;
        *(HloFileLocation *)hlo_items_push(r, &items, sizeof row) = row;
    }
    r->frames.locations = (HloFileLocation *)items.data;
    r->frames.location_count = items.count;
    return true;
}

static bool read_stack_frames(HloReader *r) {
    static const char *const names[] = {"file_location_id", "parent_frame_id"};
    HloItems items = {0};
    while (next_row(r)) {
        HloStackFrame row = {0};
        int32_t *fields[] = {&row.file_location_id, &row.parent_frame_id};
        if (!read_row(r, names, HLO_COUNT(names), fields)) return false;
        // The text has the parent's id plus 1, so that 1 means none; a 0 is then no valid id.
        row.parent_frame_id = row.parent_frame_id == INT32_MIN ? -1 : row.parent_frame_id - 1;
        *(HloStackFrame *)hlo_items_push(r, &items, sizeof row) = row;
    }
    r->frames.frames = (HloStackFrame *)items.data;
    r->frames.frame_count = items.count;
    return true;
}

// tables = "FileNames" … "FunctionNames" … "FileLocations" … "StackFrames" …     all or none
bool hlo_read_frames(HloReader *r) {
    HloFrames *f = &r->frames;
    if (!hlo_accept(r, HLO_TOK_FILE_NAMES)) return true;
    return read_texts(r, &f->file_names, &f->file_name_count) &&
           hlo_expect(r, HLO_TOK_FUNCTION_NAMES, "expects 'FunctionNames'") &&
           read_texts(r, &f->function_names, &f->function_name_count) &&
           hlo_expect(r, HLO_TOK_FILE_LOCATIONS, "expects 'FileLocations'") && read_locations(r) &&
           hlo_expect(r, HLO_TOK_STACK_FRAMES, "expects 'StackFrames'") && read_stack_frames(r);
}

// ---- frames: numbering ----------------------------------------------------------------------------------
//
// On request the module keeps only the frames that its instructions name, numbered by first use; equal rows become one.
// The numbers depend on the order of computations, which printing changes, so text stays closer to its origin
// without.

typedef struct Renumbering {
    HloReader *r;
    int32_t *frame_ids;  // per frame as written: its new id, 0: not yet known, -1: cannot be resolved
    HloMap files, functions, locations, frames;
    HloItems file_rows, function_rows, location_rows, frame_rows;
} Renumbering;

static int32_t next_id(HloMap *map, HloReader *r, const void *bytes, size_t size, bool *is_new) {
    void **id = hlo_map_at_text(r->scratch, map, bytes, size, NULL);
    *is_new = !*id;
    if (*is_new) *id = (void *)map->count;
    return (int32_t)(uintptr_t)*id;
}

static int32_t text_id(HloReader *r, HloMap *map, HloItems *rows, const char *text) {
    bool is_new;
    int32_t id = next_id(map, r, text, strlen(text), &is_new);
    if (is_new) *(const char **)hlo_items_push(r, rows, sizeof text) = text;
    return id;
}

static bool in_range(int32_t id, size_t count) {
    return id >= 1 && (size_t)id <= count;
}

// The new id of a location, or -1 when it names a file or function that is not there.
static int32_t location_id(Renumbering *n, int32_t old) {
    HloReader *r = n->r;
    const HloFrames *f = &r->frames;
    if (!in_range(old, f->location_count)) return -1;
    HloFileLocation row = f->locations[old - 1];
    if (!in_range(row.file_name_id, f->file_name_count) || !in_range(row.function_name_id, f->function_name_count))
        return -1;
    row.file_name_id = text_id(r, &n->files, &n->file_rows, f->file_names[row.file_name_id - 1]);
    row.function_name_id = text_id(r, &n->functions, &n->function_rows, f->function_names[row.function_name_id - 1]);
    bool is_new;
    int32_t id = next_id(&n->locations, r, &row, sizeof row, &is_new);
    if (is_new) *(HloFileLocation *)hlo_items_push(r, &n->location_rows, sizeof row) = row;
    return id;
}

// The frames from `old` outwards that have no new id yet; false when the chain leaves the table or runs in a circle.
static bool collect_chain(const Renumbering *n, int32_t old, HloInts *chain, int32_t *parent) {
    const HloFrames *f = &n->r->frames;
    chain->count = 0;
    *parent = 0;
    while (old != 0) {
        if (!in_range(old, f->frame_count) || chain->count > f->frame_count) return false;
        if (n->frame_ids[old - 1]) {
            *parent = n->frame_ids[old - 1];
            return *parent > 0;
        }
        hlo_ints_push(n->r->scratch, chain, old);
        old = f->frames[old - 1].parent_frame_id;
    }
    return true;
}

static int32_t frame_id(Renumbering *n, HloInts *chain, int32_t old) {
    HloReader *r = n->r;
    if (!in_range(old, r->frames.frame_count)) return 0;
    if (n->frame_ids[old - 1]) return n->frame_ids[old - 1] > 0 ? n->frame_ids[old - 1] : 0;
    int32_t parent;
    bool ok = collect_chain(n, old, chain, &parent);
    for (size_t i = chain->count; i > 0; i--) {
        int32_t at = (int32_t)chain->items[i - 1];
        int32_t location = ok ? location_id(n, r->frames.frames[at - 1].file_location_id) : -1;
        ok = location > 0;
        if (!ok) {
            n->frame_ids[at - 1] = -1;
            continue;
        }
        HloStackFrame row = {location, parent};
        bool is_new;
        parent = next_id(&n->frames, r, &row, sizeof row, &is_new);
        if (is_new) *(HloStackFrame *)hlo_items_push(r, &n->frame_rows, sizeof row) = row;
        n->frame_ids[at - 1] = parent;
    }
    return n->frame_ids[old - 1] > 0 ? n->frame_ids[old - 1] : 0;
}

static void renumber_instruction(Renumbering *n, HloInts *chain, HloInstruction *inst) {
    const HloMetadata *md = hlo_data(inst, HLO_ATTR_METADATA);
    if (!md || !md->stack_frame_id) return;
    int32_t id = frame_id(n, chain, md->stack_frame_id);
    if (id == md->stack_frame_id) return;
    HloMetadata *copy = hlo_arena_copy(n->r->arena, md, sizeof *md);
    copy->stack_frame_id = id;
    hlo_set_data(n->r->m, inst, HLO_ATTR_METADATA, copy);
}

static void store_renumbered(HloReader *r) {
    Renumbering n = {.r = r, .frame_ids = HLO_NEW_ARRAY(r->scratch, int32_t, r->frames.frame_count)};
    HloInts chain = {0};
    HLO_EACH_COMP(comp, r->m) {
        HLO_EACH_INST(inst, comp) renumber_instruction(&n, &chain, inst);
    }
    r->m->frames = (HloFrames){
        .file_names = hlo_items_copy(r, &n.file_rows, sizeof(const char *)),
        .file_name_count = n.file_rows.count,
        .function_names = hlo_items_copy(r, &n.function_rows, sizeof(const char *)),
        .function_name_count = n.function_rows.count,
        .locations = hlo_items_copy(r, &n.location_rows, sizeof(HloFileLocation)),
        .location_count = n.location_rows.count,
        .frames = hlo_items_copy(r, &n.frame_rows, sizeof(HloStackFrame)),
        .frame_count = n.frame_rows.count,
    };
}

void hlo_store_frames(HloReader *r) {
    if (r->renumber_frames) {
        store_renumbered(r);
        return;
    }
    HloFrames f = r->frames;
    f.file_names = hlo_arena_copy(r->arena, f.file_names, f.file_name_count * sizeof *f.file_names);
    f.function_names = hlo_arena_copy(r->arena, f.function_names, f.function_name_count * sizeof *f.function_names);
    f.locations = hlo_arena_copy(r->arena, f.locations, f.location_count * sizeof *f.locations);
    f.frames = hlo_arena_copy(r->arena, f.frames, f.frame_count * sizeof *f.frames);
    r->m->frames = f;
}

// ---- origin recovery ------------------------------------------------------------------------------------

// leaf = "{" (string ("{" ints "}")?)? "}"
static bool read_leaf(HloReader *r, const char **name, HloDims *index) {
    if (!hlo_expect(r, HLO_TOK_LBRACE, "expects '{' in origin_recovery_table")) return false;
    if (hlo_tok(r) == HLO_TOK_STRING && !hlo_read_string(r, name, NULL)) return false;
    if (*name && hlo_tok(r) == HLO_TOK_LBRACE && !hlo_read_dims(r, index)) return false;
    return hlo_expect(r, HLO_TOK_RBRACE, "expects '}' in origin_recovery_table");
}

// A whole module in a string. Its own tables may hold modules again, each needing twice the backslashes of the one
// around it, so the nesting stays shallow.
static bool read_inner_module(HloReader *r, HloModule **out) {
    const HloToken t = r->lex.token;
    if (t.kind != HLO_TOK_STRING) return hlo_read_error(r, t.at, "expects string");
    size_t size;
    const char *text = hlo_lex_unescape(r->scratch, t.text, t.size, &size);
    if (!text) return hlo_read_error(r, t.at, "expects string (it has a malformed escape)");
    const HloParseOptions options = {.file_name = "<recovery module>",
                                     .keep_missing_layouts = r->keep_missing_layouts,
                                     .zero_elided = r->zero_elided,
                                     .drop_zero_sign = r->drop_zero_sign,
                                     .renumber_frames = r->renumber_frames,
                                     .hlo_version = r->hlo_version,
                                     .max_errors = r->max_errors,
                                     .memory_limit_bytes = r->arena->limit_bytes};
    HloStatus status = hlo_parse_module((HloStringView){text, size}, &options, out);
    if (hlo_is_ok(status)) {
        hlo_vec_push(r->arena, &r->m->owned_modules, *out);
        hlo_skip(r);
        return true;
    }
    hlo_read_error(r, t.at, "the recovery module cannot be parsed: %s", hlo_status_message(status));
    hlo_status_free(status);
    return false;
}

// By old name and index; rows of one key by place.
static int compare_keys(const HloRecoveryRow *a, const HloRecoveryRow *b) {
    int order = strcmp(a->old_name, b->old_name);
    for (size_t i = 0; order == 0 && i < a->old_index.count && i < b->old_index.count; i++)
        order = (a->old_index.data[i] > b->old_index.data[i]) - (a->old_index.data[i] < b->old_index.data[i]);
    return order ? order : (a->old_index.count > b->old_index.count) - (a->old_index.count < b->old_index.count);
}

static int compare_rows(const void *left, const void *right) {
    const HloRecoveryRow *a = *(const HloRecoveryRow *const *)left, *b = *(const HloRecoveryRow *const *)right;
    int order = compare_keys(a, b);
    return order ? order : (a > b) - (a < b);
}

// The rows in the order of their keys; of several with one key the first counts.
static void store_recovery(HloReader *r, const HloItems *items) {
    const HloRecoveryRow *rows = (const HloRecoveryRow *)items->data;
    const HloRecoveryRow **order = HLO_NEW_ARRAY(r->scratch, const HloRecoveryRow *, items->count);
    for (size_t i = 0; i < items->count; i++) order[i] = &rows[i];
    if (items->count > 1) qsort(order, items->count, sizeof *order, compare_rows);
    HloRecoveryRow *sorted = HLO_NEW_ARRAY(r->arena, HloRecoveryRow, items->count);
    size_t kept = 0;
    for (size_t i = 0; i < items->count; i++) {
        if (kept == 0 || compare_keys(&sorted[kept - 1], order[i])) sorted[kept++] = *order[i];
    }
    r->m->recovery = sorted;
    r->m->recovery_count = kept;
}

// table = "{" (leaf ":" leaf ("," string)?)* "}"
bool hlo_read_recovery(HloReader *r) {
    HloItems rows = {0};
    if (!hlo_expect(r, HLO_TOK_LBRACE, "expects '{' to start origin_recovery_table")) return false;
    while (!hlo_accept(r, HLO_TOK_RBRACE)) {
        HloRecoveryRow row = {0};
        if (!read_leaf(r, &row.old_name, &row.old_index)) return false;
        if (!row.old_name) row.old_name = "";
        if (!hlo_expect(r, HLO_TOK_COLON, "expects ':' in origin_recovery_table")) return false;
        if (!read_leaf(r, &row.new_name, &row.new_index)) return false;
        if (hlo_accept(r, HLO_TOK_COMMA) && !read_inner_module(r, &row.module)) return false;
        *(HloRecoveryRow *)hlo_items_push(r, &rows, sizeof row) = row;
    }
    store_recovery(r, &rows);
    return true;
}

// ---- debug attributes -----------------------------------------------------------------------------------

static bool read_log_mode(HloReader *r, int *out) {
    const HloToken *t = &r->lex.token;
    if (hlo_at_word(r, "default"))
        *out = 1;
    else if (hlo_at_word(r, "fusion_debugger"))
        *out = 2;
    else
        return hlo_read_error(r, t->at, "Invalid debug_log_mode value: %.*s", (int)(t->size < 60 ? t->size : 60),
                              t->text);
    hlo_skip(r);
    return true;
}

static bool read_debug_item(HloReader *r, void *data) {
    HloDebugAttr *attr = data;
    const HloToken t = r->lex.token;
    if (t.kind != HLO_TOK_ATTR) return hlo_read_error(r, t.at, "expects attribute name");
    bool log_mode = hlo_at_attr(r, "log_mode"), callback = hlo_at_attr(r, "callback_id");
    bool partitioned = hlo_at_attr(r, "partitioned"), op = hlo_at_attr(r, "op_id");
    hlo_skip(r);
    if (log_mode) return read_log_mode(r, &attr->log_mode);
    if (callback) return hlo_read_int(r, &attr->callback_id);
    if (partitioned) return hlo_read_bool(r, &attr->partitioned);
    if (op) return hlo_read_int(r, &attr->op_id);
    return hlo_read_error(r, t.at, "Unknown debug attribute: %.*s", (int)(t.size < 60 ? t.size : 60), t.text);
}

static bool read_debug_attr(HloReader *r, void *data) {
    HloDebugAttr *attr = hlo_items_push(r, data, sizeof *attr);
    return hlo_read_list(r, HLO_TOK_LBRACE, HLO_TOK_RBRACE, read_debug_item, attr);
}

// row = "{" string "}" ":" (attr | "(" (attr ("," attr)*)? ")")
static bool read_debug_row(HloReader *r, void *data) {
    HloDebugRow row = {0};
    HloItems attrs = {0};
    if (!hlo_expect(r, HLO_TOK_LBRACE, "expects '{' in debug_attributes") || !hlo_read_string(r, &row.name, NULL))
        return false;
    if (!hlo_expect(r, HLO_TOK_RBRACE, "expects '}' in debug_attributes")) return false;
    if (!hlo_expect(r, HLO_TOK_COLON, "expects ':' in debug_attributes")) return false;
    bool ok = hlo_tok(r) == HLO_TOK_LPAREN ? hlo_read_list(r, HLO_TOK_LPAREN, HLO_TOK_RPAREN, read_debug_attr, &attrs)
                                           : read_debug_attr(r, &attrs);
    if (!ok) return false;
    row.attrs = hlo_items_copy(r, &attrs, sizeof(HloDebugAttr));
    row.count = attrs.count;
    *(HloDebugRow *)hlo_items_push(r, data, sizeof row) = row;
    return true;
}

// table = "{" (row ("," row)*)? "}"
bool hlo_read_debug_rows(HloReader *r) {
    HloItems rows = {0};
    if (!hlo_read_list(r, HLO_TOK_LBRACE, HLO_TOK_RBRACE, read_debug_row, &rows)) return false;
    r->m->debug_rows = hlo_items_copy(r, &rows, sizeof(HloDebugRow));
    r->m->debug_row_count = rows.count;
    return true;
}
