// The tables that may follow the module's header line (printing chapter, §2.3 and §2.4).

#include <stdlib.h>

#include "print.h"

// ---- stack frames ---------------------------------------------------------------------------------------

static void put_names(HloBuffer *out, const char *title, const char *const *names, size_t count) {
    hlo_put_string(out, title);
    for (size_t i = 0; i < count; i++) {
        hlo_put_uint(out, i + 1);
        hlo_put(out, " \"", 2);
        hlo_put_escaped(out, names[i], strlen(names[i]));
        hlo_put(out, "\"\n", 2);
    }
}

static void put_field(HloBuffer *out, const char *key, int64_t value) {
    hlo_put_string(out, key);
    hlo_put_int(out, value);
}

static void put_location(HloBuffer *out, const HloFileLocation *location) {
    put_field(out, " {file_name_id=", location->file_name_id);
    put_field(out, " function_name_id=", location->function_name_id);
    put_field(out, " line=", location->line);
    put_field(out, " end_line=", location->end_line);
    put_field(out, " column=", location->column);
    put_field(out, " end_column=", location->end_column);
    hlo_put(out, "}\n", 2);
}

void hlo_put_frames(HloBuffer *out, const HloFrames *frames) {
    put_names(out, "\n\nFileNames\n", frames->file_names, frames->file_name_count);
    put_names(out, "\nFunctionNames\n", frames->function_names, frames->function_name_count);
    hlo_put_string(out, "\nFileLocations\n");
    for (size_t i = 0; i < frames->location_count; i++) {
        hlo_put_uint(out, i + 1);
        put_location(out, &frames->locations[i]);
    }
    hlo_put_string(out, "\nStackFrames\n");
    for (size_t i = 0; i < frames->frame_count; i++) {
        hlo_put_uint(out, i + 1);
        put_field(out, " {file_location_id=", frames->frames[i].file_location_id);
        put_field(out, " parent_frame_id=", (int64_t)frames->frames[i].parent_frame_id + 1);  // no parent shows as 1
        hlo_put(out, "}\n", 2);
    }
}

// ---- recovery table -------------------------------------------------------------------------------------

// No name shows as an empty one.
static void put_origin(HloBuffer *out, const char *name, HloDims index) {
    hlo_put_origin_name(out, name ? name : "", index);
}

// The module's text as a string, so quotes and backslashes in it are escaped. Modules nest as deep as the escaping
// lets a text hold them: it doubles with each level.
static void put_recovery_module(HloBuffer *out, const HloModule *m) {
    HloBuffer text = {0};
    HloPrintOptions options = hlo_print_default();
    options.indent = 2;
    hlo_print_module(m, &options, &text);
    hlo_put_string(out, ",\n  \"\n");
    for (size_t i = 0; i < text.size; i++) {
        if (text.data[i] == '"' || text.data[i] == '\\') hlo_put_char(out, '\\');
        hlo_put_char(out, text.data[i]);
    }
    hlo_put_string(out, "\n  \"");
    out->failed = out->failed || text.failed;
    hlo_buffer_free(&text);
}

// Order by name, then by index.
static int compare_rows(const void *left, const void *right) {
    const HloRecoveryRow *a = *(const HloRecoveryRow *const *)left, *b = *(const HloRecoveryRow *const *)right;
    int names = strcmp(a->old_name ? a->old_name : "", b->old_name ? b->old_name : "");
    if (names) return names;
    for (size_t i = 0; i < a->old_index.count && i < b->old_index.count; i++) {
        int64_t x = a->old_index.data[i], y = b->old_index.data[i];
        if (x != y) return x < y ? -1 : 1;
    }
    return (a->old_index.count > b->old_index.count) - (a->old_index.count < b->old_index.count);
}

void hlo_put_recovery_table(Printer *p, const HloModule *m) {
    HloBuffer *out = p->out;
    const HloRecoveryRow **rows = HLO_NEW_ARRAY(p->scratch, const HloRecoveryRow *, m->recovery_count);
    for (size_t i = 0; i < m->recovery_count; i++) rows[i] = &m->recovery[i];
    qsort(rows, m->recovery_count, sizeof(const HloRecoveryRow *), compare_rows);
    hlo_put_string(out, ", origin_recovery_table={\n");
    for (size_t i = 0; i < m->recovery_count; i++) {
        const HloRecoveryRow *row = rows[i];
        hlo_put(out, "  ", 2);
        put_origin(out, row->old_name, row->old_index);
        hlo_put(out, " : ", 3);
        put_origin(out, row->new_name, row->new_index);
        if (row->module) put_recovery_module(out, row->module);
        hlo_put_char(out, '\n');
    }
    hlo_put(out, "}\n", 2);
}

// ---- debug attributes -----------------------------------------------------------------------------------

static void put_comma(HloBuffer *out, size_t start) {
    if (out->size != start) hlo_put_char(out, ',');
}

static void put_debug_attr(HloBuffer *out, const HloDebugAttr *attr) {
    enum { LOG_DEFAULT = 1 };
    hlo_put_char(out, '{');
    size_t start = out->size;
    if (attr->log_mode)
        hlo_put_string(out, attr->log_mode == LOG_DEFAULT ? "log_mode=default" : "log_mode=fusion_debugger");
    if (attr->callback_id) {
        put_comma(out, start);
        put_field(out, "callback_id=", attr->callback_id);
    }
    if (attr->partitioned) {
        put_comma(out, start);
        hlo_put_string(out, "partitioned=true");
    }
    if (attr->op_id) {
        put_comma(out, start);
        put_field(out, "op_id=", attr->op_id);
    }
    hlo_put_char(out, '}');
}

void hlo_put_debug_rows(HloBuffer *out, const HloModule *m) {
    hlo_put_string(out, ",\ndebug_attributes={\n");
    for (size_t i = 0; i < m->debug_row_count; i++) {
        const HloDebugRow *row = &m->debug_rows[i];
        if (i) hlo_put_string(out, ",\n");
        hlo_put_string(out, "  {");
        hlo_put_bare(out, row->name);
        hlo_put_string(out, "}:(");
        for (size_t k = 0; k < row->count; k++) {
            if (k) hlo_put_char(out, ',');
            put_debug_attr(out, &row->attrs[k]);
        }
        hlo_put_char(out, ')');
    }
    hlo_put_string(out, "\n}");
}
