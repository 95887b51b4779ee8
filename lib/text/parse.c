// The reader's entry points: guards against running out of memory, and the form of error messages.

#include "parse.h"

#include <stdio.h>

// ---- errors ---------------------------------------------------------------------------------------------

// Long source lines are cut to this many bytes around the caret.
enum { SHOWN_LINE_BYTES = 160, SHOWN_BEFORE_CARET = 100, MOST_NOTES_BYTES = 2000 };

bool hlo_read_error(HloReader *r, const char *at, const char *format, ...) {
    if (r->error_at) return false;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *message = hlo_arena_alloc(r->scratch, size < 0 ? 1 : (size_t)size + 1);
    if (size >= 0) vsnprintf(message, (size_t)size + 1, format, again);
    va_end(again);
    r->error_at = at;
    r->error = message;
    return false;
}

typedef struct Place {
    size_t line, column;  // from 1
    const char *line_begin, *line_end;
} Place;

static Place place_of(const HloLexer *lex, const char *at) {
    Place place = {.line = 1, .line_begin = lex->begin};
    for (const char *p = lex->begin; (p = memchr(p, '\n', (size_t)(at - p))); p++) {
        place.line++;
        place.line_begin = p + 1;
    }
    const char *newline = memchr(at, '\n', (size_t)(lex->end - at));
    place.line_end = newline ? newline : lex->end;
    if (place.line_end > place.line_begin && place.line_end[-1] == '\r') place.line_end--;
    if (place.line_end < at) place.line_end = at;
    place.column = (size_t)(at - place.line_begin) + 1;
    return place;
}

bool hlo_read_note(HloReader *r, const char *at, const char *format, ...) {
    if (r->notes.size > MOST_NOTES_BYTES) return false;
    va_list args;
    va_start(args, format);
    HloStatus text = hlo_error_v(HLO_UNKNOWN, format, args);
    va_end(args);
    Place place = place_of(&r->lex, at);
    hlo_putf(&r->notes, "\n%zu:%zu: note: %s", r->lines_before + place.line, place.column, hlo_status_message(text));
    hlo_status_free(text);
    return false;
}

static bool is_continuation(char c) {
    return ((unsigned char)c & 0xc0) == 0x80;  // not the first byte of a UTF-8 character
}

static void put_caret_line(HloBuffer *out, const Place *place, const char *at) {
    const char *from = place->line_begin, *to = place->line_end;
    if ((size_t)(to - from) > SHOWN_LINE_BYTES) {
        if ((size_t)(at - from) > SHOWN_BEFORE_CARET) from = at - SHOWN_BEFORE_CARET;
        if ((size_t)(to - from) > SHOWN_LINE_BYTES) to = from + SHOWN_LINE_BYTES;
        while (from < at && is_continuation(*from)) from++;
        while (to > at && to < place->line_end && is_continuation(*to)) to--;
    }
    bool cut_front = from > place->line_begin;
    hlo_put_string(out, cut_front ? "\n..." : "\n");
    for (const char *p = from; p < to; p++) hlo_put_char(out, *p == '\t' || !*p ? ' ' : *p);
    hlo_put_string(out, to < place->line_end ? "...\n" : "\n");
    if (cut_front) hlo_put_spaces(out, 3);
    for (const char *p = from; p < at; p++) {
        if (!is_continuation(*p)) hlo_put_char(out, ' ');
    }
    hlo_put_char(out, '^');
}

static HloStatus error_status(const HloReader *r, const char *file_name) {
    Place place = place_of(&r->lex, r->error_at);
    HloBuffer out = {0};
    hlo_putf(&out, "%s:%zu:%zu: error: %s", file_name, r->lines_before + place.line, place.column, r->error);
    put_caret_line(&out, &place, r->error_at);
    if (r->notes.size) hlo_put(&out, r->notes.data, r->notes.size);
    HloStatus status = hlo_buffer_status(&out);
    if (hlo_is_ok(status)) status = hlo_error(HLO_INVALID_ARGUMENT, "%s", out.data);
    hlo_buffer_free(&out);
    return status;
}

bool hlo_enter(HloReader *r, size_t levels) {
    r->depth += levels;
    return r->depth <= HLO_DEPTH_LIMIT || hlo_read_error(r, hlo_here(r), "maximum recursion depth exceeded");
}

// ---- reading under guard --------------------------------------------------------------------------------

// One call of an entry point.
typedef struct Task {
    HloReader r;
    HloArena scratch;
    HloStringView text;
    const char *file_name;
    bool (*read)(HloReader *r, void *data);
    void *data;
} Task;

static HloStatus run_task(void *data) {
    Task *task = data;
    HloReader *r = &task->r;
    r->lex = hlo_lex_start(task->text);
    bool ok = task->read(r, task->data);
    if (ok && hlo_tok(r) != HLO_TOK_EOF) ok = hlo_read_error(r, hlo_here(r), "Extra content after the end");
    return ok ? hlo_ok() : error_status(r, task->file_name);
}

static HloStatus run_guarded(Task *task) {
    task->r.scratch = &task->scratch;
    HloArena *arenas[] = {task->r.arena, &task->scratch, NULL};
    HloStatus status = hlo_guarded(arenas, run_task, task);
    hlo_buffer_free(&task->r.notes);
    hlo_arena_free(&task->scratch);
    return status;
}

static bool read_module(HloReader *r, void *data) {
    (void)data;
    return hlo_read_module_text(r);
}

HloStatus hlo_parse_module(HloStringView text, const HloParseOptions *options, HloModule **out) {
    static const HloParseOptions standard = {0};
    if (!options) options = &standard;
    HloModule *m = hlo_module_new("");
    if (!m) return hlo_out_of_memory();
    m->arena.limit_bytes = options->memory_limit_bytes;
    Task task = {
        .r = {.m = m,
              .arena = &m->arena,
              .shapes = &m->shapes,
              .lines_before = options->lines_before,
              .keep_missing_layouts = options->keep_missing_layouts,
              .zero_elided = options->zero_elided,
              .drop_zero_sign = options->drop_zero_sign,
              .renumber_frames = options->renumber_frames},
        .text = text,
        .file_name = options->file_name ? options->file_name : "<text>",
        .read = read_module,
    };
    task.scratch.limit_bytes = options->memory_limit_bytes;
    HloStatus status = run_guarded(&task);
    m->arena.limit_bytes = 0;
    if (!hlo_is_ok(status)) {
        hlo_module_free(m);
        return status;
    }
    *out = m;
    return status;
}

static bool read_shape(HloReader *r, void *data) {
    const HloShape **out = data;
    return hlo_read_shape(r, out);
}

HloStatus hlo_parse_shape(HloShapes *shapes, HloStringView text, const HloShape **out) {
    const HloShape *shape = NULL;
    Task task = {.r = {.arena = shapes->arena, .shapes = shapes, .keep_missing_layouts = true},
                 .text = text,
                 .file_name = "<shape>",
                 .read = read_shape,
                 .data = &shape};
    HLO_TRY(run_guarded(&task));
    *out = shape;
    return hlo_ok();
}

static bool read_typed_literal(HloReader *r, void *data) {
    HloLiteral **out = data;
    return hlo_read_typed_literal(r, out);
}

HloStatus hlo_parse_literal(HloArena *arena, HloShapes *shapes, HloStringView text, HloLiteral **out) {
    HloLiteral *literal = NULL;
    Task task = {.r = {.arena = arena, .shapes = shapes},
                 .text = text,
                 .file_name = "<literal>",
                 .read = read_typed_literal,
                 .data = &literal};
    HLO_TRY(run_guarded(&task));
    *out = literal;
    return hlo_ok();
}

typedef struct Value {
    const HloShape *shape;
    HloLiteral *literal;
} Value;

static bool read_value(HloReader *r, void *data) {
    Value *value = data;
    return hlo_read_literal_of(r, value->shape, &value->literal);
}

HloStatus hlo_parse_literal_of(HloArena *arena, HloShapes *shapes, const HloShape *shape, HloStringView text,
                               HloLiteral **out) {
    Value value = {shape, NULL};
    Task task = {.r = {.arena = arena, .shapes = shapes},
                 .text = text,
                 .file_name = "<literal>",
                 .read = read_value,
                 .data = &value};
    HLO_TRY(run_guarded(&task));
    *out = value.literal;
    return hlo_ok();
}
