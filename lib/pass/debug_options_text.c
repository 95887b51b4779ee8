// The file `debug_options` of a dump: what differs from the defaults (debug options chapter, §5).
//
//   xla_dump_to: "out"
//   xla_backend_extra_options: {
//     key: "a"
//     value: "1"
//   }

#include "lib/pass/debug_fields.h"

#include <stdlib.h>

// ---- single values --------------------------------------------------------------------------------------

static void put_single(HloBuffer *out, DebugKind kind, const void *value) {
    switch (kind) {
    case DEBUG_BOOL: hlo_put_string(out, *(const bool *)value ? "true" : "false"); return;
    case DEBUG_INT32:
    case DEBUG_INT64: hlo_put_int(out, *(const int64_t *)value); return;
    case DEBUG_FLOAT: hlo_putf(out, "%f", *(const double *)value); return;
    case DEBUG_TEXT: hlo_putf(out, "\"%s\"", *(const char *const *)value); return;
    case DEBUG_WORD: hlo_put_string(out, *(const char *const *)value); return;
    case DEBUG_MESSAGE: hlo_putf(out, "{\n%s}", *(const char *const *)value); return;
    case DEBUG_TEXTS:
    case DEBUG_WORDS:
    case DEBUG_MAP:
    case DEBUG_MESSAGES: return;
    }
}

// Floats are compared as they are written: six decimals.
static void put_changed(HloBuffer *out, const DebugField *field, const void *value, const void *standard) {
    HloBuffer now = {0}, before = {0};
    put_single(&now, field->kind, value);
    put_single(&before, field->kind, standard);
    out->failed |= now.failed || before.failed;
    if (!out->failed && strcmp(now.data, before.data) != 0) hlo_putf(out, "%s: %s\n", field->name, now.data);
    hlo_buffer_free(&now);
    hlo_buffer_free(&before);
}

// ---- lists ----------------------------------------------------------------------------------------------

static void put_item(HloBuffer *out, DebugKind kind, const HloVec *list, size_t at) {
    const char *text = list->items[at];
    if (kind == DEBUG_WORDS)
        hlo_put_string(out, text);
    else if (kind == DEBUG_TEXTS)
        hlo_putf(out, "\"%s\"", text);
    else if (kind == DEBUG_MESSAGES)
        hlo_putf(out, "{\n%s}", text);
    else
        hlo_putf(out, "{\n  key: \"%s\"\n  value: \"%s\"\n}", text, (const char *)list->items[at + 1]);
}

static int compare_texts(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// The items as they are written, sorted.
static HloVec rendered(HloArena *scratch, DebugKind kind, const HloVec *list) {
    HloVec texts = {0};
    for (size_t k = 0; k < list->count; k += kind == DEBUG_MAP ? 2 : 1) {
        HloBuffer item = {0};
        put_item(&item, kind, list, k);
        if (item.data) hlo_vec_push(scratch, &texts, hlo_arena_string(scratch, item.data, item.size));
        hlo_buffer_free(&item);
    }
    if (texts.count) qsort(texts.items, texts.count, sizeof *texts.items, compare_texts);
    return texts;
}

static bool is_same(const HloVec *a, const HloVec *b) {
    if (a->count != b->count) return false;
    for (size_t k = 0; k < a->count; k++) {
        if (strcmp(a->items[k], b->items[k]) != 0) return false;
    }
    return true;
}

// A list that differs is written whole; one that was emptied is not, although it differs.
static void put_changed_list(HloBuffer *out, HloArena *scratch, const DebugField *field, const HloVec *list,
                             const HloVec *standard) {
    HloVec now = rendered(scratch, field->kind, list), before = rendered(scratch, field->kind, standard);
    if (is_same(&now, &before)) return;
    for (size_t k = 0; k < now.count; k++) hlo_putf(out, "%s: %s\n", field->name, (const char *)now.items[k]);
}

// ---- all of them ----------------------------------------------------------------------------------------

typedef struct Writing {
    HloBuffer *out;
    const HloDebugOptions *options;
    HloArena scratch;
} Writing;

static HloStatus put_fields(void *data) {
    Writing *writing = data;
    size_t count;
    const DebugField *fields = debug_fields(&count);
    for (size_t k = 0; k < count; k++) {
        const void *value = (const char *)writing->options + fields[k].offset;
        const void *standard = (const char *)debug_standard() + fields[k].offset;
        if (debug_is_list(fields[k].kind))
            put_changed_list(writing->out, &writing->scratch, &fields[k], value, standard);
        else
            put_changed(writing->out, &fields[k], value, standard);
    }
    return hlo_ok();
}

void hlo_put_debug_options(HloBuffer *out, const HloDebugOptions *options) {
    Writing writing = {out, options, {0}};
    HloStatus status = hlo_guarded((HloArena *const[]){&writing.scratch, NULL}, put_fields, &writing);
    out->failed |= !hlo_is_ok(status);
    hlo_status_free(status);
    hlo_arena_free(&writing.scratch);
}
