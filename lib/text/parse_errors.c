// Errors of reading: how they are recorded, gathered and shown.
//
//   m.hlo:4:16: error: expects opcode but sees: ad, error: Unknown opcode: ad; did you mean add?
//     b = f32[2] ad(a, a)
//                ^
//
// The reader works on one error at a time: the first one counts, since those that follow it on the way out are its
// consequences. hlo_errors_keep puts it with the others when there is a place to go on from (parse_recover.c).

#include "parse.h"

#include <stdio.h>
#include <stdlib.h>

// Long source lines are cut to this many bytes around the caret.
enum { SHOWN_LINE_BYTES = 160, SHOWN_BEFORE_CARET = 100, MOST_NOTES_BYTES = 2000 };

bool hlo_read_error(HloReader *r, const char *at, const char *format, ...) {
    if (r->error.at) return false;
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *message = hlo_arena_alloc(r->scratch, size < 0 ? 1 : (size_t)size + 1);
    if (size >= 0) vsnprintf(message, (size_t)size + 1, format, again);
    va_end(again);
    r->error = (HloDiagnostic){.at = at, .message = message};
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
    hlo_putf(&r->notes, "\n%s:%zu:%zu: note: %s", r->file_name, r->lines_before + place.line, place.column,
             hlo_status_message(text));
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

// ---- several errors -------------------------------------------------------------------------------------

static bool is_known(const HloReader *r, const char *at) {
    for (size_t i = 0; i < r->errors.count; i++) {
        if (((const HloDiagnostic *)r->errors.data)[i].at == at) return true;
    }
    return false;
}

bool hlo_errors_keep(HloReader *r) {
    r->failed = true;
    if (!r->error.at || is_known(r, r->error.at)) {
        // Nothing new.
    } else if (r->errors.count >= r->max_errors) {
        r->stopped = true;
    } else {
        r->error.notes = hlo_arena_string(r->scratch, r->notes.data ? r->notes.data : "", r->notes.size);
        *(HloDiagnostic *)hlo_items_push(r, &r->errors, sizeof r->error) = r->error;
    }
    r->notes.size = 0;
    r->error = (HloDiagnostic){0};
    return !r->stopped;
}

static int compare_places(const void *left, const void *right) {
    const HloDiagnostic *a = left, *b = right;
    return (a->at > b->at) - (a->at < b->at);
}

static void put_error(HloBuffer *out, const HloReader *r, const HloDiagnostic *error) {
    Place place = place_of(&r->lex, error->at);
    hlo_putf(out, "%s:%zu:%zu: error: %s", r->file_name, r->lines_before + place.line, place.column, error->message);
    put_caret_line(out, &place, error->at);
    hlo_put_string(out, error->notes);
}

HloStatus hlo_errors_status(HloReader *r) {
    hlo_errors_keep(r);
    HloDiagnostic *errors = (HloDiagnostic *)r->errors.data;
    if (!r->errors.count) return hlo_error(HLO_INTERNAL, "%s: reading failed without a reason", r->file_name);
    qsort(errors, r->errors.count, sizeof *errors, compare_places);
    HloBuffer out = {0};
    for (size_t i = 0; i < r->errors.count; i++) {
        if (i) hlo_put_char(&out, '\n');
        put_error(&out, r, &errors[i]);
    }
    bool several = r->errors.count > 1 || r->stopped;
    if (several) hlo_putf(&out, "\n%zu error%s", r->errors.count, r->errors.count > 1 ? "s" : "");
    if (r->stopped) hlo_put_string(&out, "; more errors not shown");
    HloStatus status = hlo_buffer_status(&out);
    if (hlo_is_ok(status)) status = hlo_error(HLO_INVALID_ARGUMENT, "%s", out.data);
    hlo_buffer_free(&out);
    return status;
}
