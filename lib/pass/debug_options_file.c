// Files of compiler options: text protos of the reference's options message (debug options chapter, §4).
//
//   xla_dump_to: "out"                     # a comment
//   xla_disable_hlo_passes: ["a", 'b']     # a list replaces the option's whole list, however it is written
//   xla_backend_extra_options { key: "k" value: "v" }
//
// field = name ":"? value separator?     separator = "," | ";"
// value = scalar | "[" (value ("," value)*)? "]" | "{" field* "}" | "<" field* ">"
// scalar = word | number | string+

#include "lib/pass/debug_fields.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "hlo/file.h"

enum { MAX_NESTING = 100 };  // of braces in a message

typedef struct Reader {
    HloArena *arena;
    const char *path;
    const char *at, *end;
    int line;
    HloDebugOptions *options;
    HloBits seen;  // fields whose lists were replaced already, by position
} Reader;

static HloStatus fail(const Reader *r, const char *expected) {
    int size = r->end - r->at > 20 ? 20 : (int)(r->end - r->at);
    return hlo_error(HLO_INVALID_ARGUMENT, "%s:%d: expected %s, found '%.*s'", r->path, r->line, expected,
                     (int)strcspn(hlo_arena_string(r->arena, r->at, (size_t)size), "\r\n"), r->at);
}

// ---- tokens ---------------------------------------------------------------------------------------------

static void skip_blanks(Reader *r) {
    for (; r->at < r->end; r->at++) {
        if (*r->at == '#') {
            while (r->at < r->end && *r->at != '\n') r->at++;
            if (r->at == r->end) return;
        }
        if (!isspace((unsigned char)*r->at)) return;
        r->line += *r->at == '\n';
    }
}

static bool accept(Reader *r, char c) {
    skip_blanks(r);
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static bool is_word_char(char c) {
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-' || c == '+';
}

static HloStringView take_word(Reader *r) {
    skip_blanks(r);
    const char *start = r->at;
    while (r->at < r->end && is_word_char(*r->at)) r->at++;
    return (HloStringView){start, (size_t)(r->at - start)};
}

static bool is_quote(const Reader *r) {
    return r->at < r->end && (*r->at == '"' || *r->at == '\'');
}

// Up to `most` digits of a base.
static char take_code(Reader *r, int base, int most) {
    char digits[4] = {0};
    for (int k = 0; k < most && r->at < r->end; k++) {
        char c = *r->at;
        if (base == 8 ? c < '0' || c > '7' : !isxdigit((unsigned char)c)) break;
        digits[k] = c;
        r->at++;
    }
    return (char)strtol(digits, NULL, base);
}

// What stands behind a backslash. Texts are used up to their first zero byte.
static char take_escape(Reader *r) {
    static const char names[] = "abfnrtv", meanings[] = "\a\b\f\n\r\t\v";
    char c = *r->at;
    if (c >= '0' && c <= '7') return take_code(r, 8, 3);
    r->at++;
    if (c == 'x' || c == 'X') return take_code(r, 16, 2);
    const char *name = c ? strchr(names, c) : NULL;
    return name ? meanings[name - names] : c;
}

// Neighbouring strings are one.
static HloStatus take_string(Reader *r, HloBuffer *out) {
    while (is_quote(r)) {
        char quote = *r->at++;
        while (r->at < r->end && *r->at != quote && *r->at != '\n') {
            if (*r->at == '\\' && r->end - r->at > 1) {
                r->at++;
                hlo_put_char(out, take_escape(r));
            } else {
                hlo_put_char(out, *r->at++);
            }
        }
        if (r->at == r->end || *r->at != quote) return fail(r, "the end of a string");
        r->at++;
        skip_blanks(r);
    }
    return hlo_buffer_status(out);
}

static HloStatus parse_string(Reader *r, const char **out) {
    skip_blanks(r);
    if (!is_quote(r)) return fail(r, "a string");
    HloBuffer text = {0};
    HloStatus status = take_string(r, &text);
    if (hlo_is_ok(status)) *out = hlo_arena_string(r->arena, text.data ? text.data : "", text.size);
    hlo_buffer_free(&text);
    return status;
}

// ---- values ---------------------------------------------------------------------------------------------

static HloStatus parse_bool(Reader *r, bool *out) {
    HloStringView word = take_word(r);
    *out = hlo_view_is(word, "true") || hlo_view_is(word, "True") || hlo_view_is(word, "t") || hlo_view_is(word, "1");
    bool no =
        hlo_view_is(word, "false") || hlo_view_is(word, "False") || hlo_view_is(word, "f") || hlo_view_is(word, "0");
    if (*out || no) return hlo_ok();
    r->at = word.data;
    return fail(r, "true or false");
}

static HloStatus parse_int(Reader *r, DebugKind kind, int64_t *out) {
    HloStringView word = take_word(r);
    char *end;
    errno = 0;
    long long value = strtoll(hlo_arena_string(r->arena, word.data, word.size), &end, 0);
    bool fits = kind == DEBUG_INT64 || (value >= INT32_MIN && value <= INT32_MAX);
    if (word.size && !*end && !errno && fits) {
        *out = value;
        return hlo_ok();
    }
    r->at = word.data;
    return fail(r, "an integer");
}

static HloStatus parse_float(Reader *r, double *out) {
    HloStringView word = take_word(r);
    char *end;
    *out = strtod(hlo_arena_string(r->arena, word.data, word.size), &end);
    if (word.size && (!*end || (*end == 'f' && !end[1]))) return hlo_ok();
    r->at = word.data;
    return fail(r, "a number");
}

static HloStatus parse_enum(Reader *r, const char *list, const char **out) {
    HloStringView word = take_word(r);
    char *end;
    long long number = strtoll(hlo_arena_string(r->arena, word.data, word.size), &end, 10);
    *out = word.size && !*end ? debug_word_numbered(list, number) : debug_word_find(list, word, true);
    if (*out) return hlo_ok();
    HloBuffer wanted = {0};
    debug_put_words(&wanted, list);
    r->at = word.data;
    HloStatus status = fail(r, wanted.data ? wanted.data : "a word");
    hlo_buffer_free(&wanted);
    return status;
}

static HloStatus open_message(Reader *r, char *close) {
    *close = accept(r, '{') ? '}' : accept(r, '<') ? '>' : 0;
    return *close ? hlo_ok() : fail(r, "{");
}

// { key: "k" value: "v" }
static HloStatus parse_pair(Reader *r, HloVec *map) {
    const char *key = "", *value = "";
    char close;
    HLO_TRY(open_message(r, &close));
    while (!accept(r, close)) {
        HloStringView name = take_word(r);
        accept(r, ':');
        if (!hlo_view_is(name, "key") && !hlo_view_is(name, "value")) {
            r->at = name.data;
            return fail(r, "key or value");
        }
        HLO_TRY(parse_string(r, hlo_view_is(name, "key") ? &key : &value));
        if (!accept(r, ',')) accept(r, ';');
    }
    return debug_map_set(r->arena, map, key, value);
}

// Keeps the lines of a message as they are, indented by `indent`, since nothing here reads it.
static HloStatus copy_message(Reader *r, const char *indent, HloBuffer *out) {
    char close;
    HLO_TRY(open_message(r, &close));
    for (int depth = 1; depth;) {
        skip_blanks(r);
        const char *start = r->at;
        while (r->at < r->end && !strchr("{}<>\n", *r->at)) r->at++;
        if (r->at == r->end) return fail(r, "the end of a message");
        bool opens = *r->at == '{' || *r->at == '<', closes = *r->at == '}' || *r->at == '>';
        size_t size = (size_t)(r->at - start);
        while (size && isspace((unsigned char)start[size - 1])) size--;
        if (size) hlo_putf(out, "%s%*s%.*s%s\n", indent, 2 * (depth - 1), "", (int)size, start, opens ? " {" : "");
        if (closes && depth > 1) hlo_putf(out, "%s%*s}\n", indent, 2 * (depth - 2), "");
        depth += opens - closes;
        if (depth > MAX_NESTING) return fail(r, "fewer levels of messages");
        if (opens || closes) r->at++;
    }
    return hlo_buffer_status(out);
}

static HloStatus parse_message(Reader *r, const char *indent, const char **out) {
    HloBuffer text = {0};
    HloStatus status = copy_message(r, indent, &text);
    if (hlo_is_ok(status)) *out = hlo_arena_string(r->arena, text.data ? text.data : "", text.size);
    hlo_buffer_free(&text);
    return status;
}

static HloStatus parse_value(Reader *r, const DebugField *field) {
    void *value = debug_value(r->options, field);
    const char *text = NULL;
    switch (field->kind) {
    case DEBUG_BOOL: return parse_bool(r, value);
    case DEBUG_INT32:
    case DEBUG_INT64: return parse_int(r, field->kind, value);
    case DEBUG_FLOAT: return parse_float(r, value);
    case DEBUG_TEXT: return parse_string(r, value);
    case DEBUG_WORD: return parse_enum(r, field->words, value);
    case DEBUG_MAP: return parse_pair(r, value);
    case DEBUG_MESSAGE: return parse_message(r, "", value);
    case DEBUG_TEXTS: HLO_TRY(parse_string(r, &text)); break;
    case DEBUG_WORDS: HLO_TRY(parse_enum(r, field->words, &text)); break;
    case DEBUG_MESSAGES: HLO_TRY(parse_message(r, "  ", &text)); break;
    }
    hlo_vec_push(r->arena, value, text);
    return hlo_ok();
}

// ---- fields ---------------------------------------------------------------------------------------------

static HloStatus parse_values(Reader *r, const DebugField *field) {
    size_t count, position = (size_t)(field - debug_fields(&count));
    if (debug_is_list(field->kind) && hlo_bits_claim(r->seen, position)) {
        *(HloVec *)debug_value(r->options, field) = (HloVec){0};
    }
    if (!debug_is_list(field->kind) || !accept(r, '[')) return parse_value(r, field);
    if (accept(r, ']')) return hlo_ok();
    for (;;) {
        HLO_TRY(parse_value(r, field));
        if (accept(r, ']')) return hlo_ok();
        if (!accept(r, ',')) return fail(r, ", or ]");
    }
}

static bool is_reserved(HloStringView name) {
    static const char *const names[] = {
#define HLO_DEBUG_RESERVED(name) #name,
#include "hlo/debug_reserved.def"
    };
    for (size_t k = 0; k < HLO_COUNT(names); k++) {
        if (hlo_view_is(name, names[k])) return true;
    }
    return false;
}

// A field that the message once had, whatever its kind.
static HloStatus skip_value(Reader *r) {
    skip_blanks(r);
    const char *text;
    if (r->at < r->end && (*r->at == '{' || *r->at == '<')) return parse_message(r, "", &text);
    if (is_quote(r)) return parse_string(r, &text);
    if (accept(r, '[')) {
        while (r->at < r->end && *r->at != ']') r->line += *r->at++ == '\n';
        return accept(r, ']') ? hlo_ok() : fail(r, "]");
    }
    return take_word(r).size ? hlo_ok() : fail(r, "a value");
}

static HloStatus parse_field(Reader *r) {
    HloStringView name = take_word(r);
    const DebugField *field = debug_field_find(name);
    if (!field && !is_reserved(name)) {
        r->at = name.data;
        return fail(r, "the name of an option");
    }
    accept(r, ':');
    HLO_TRY(field ? parse_values(r, field) : skip_value(r));
    if (!accept(r, ',')) accept(r, ';');
    return hlo_ok();
}

HloStatus hlo_debug_options_parse(HloArena *arena, const char *path, HloStringView text, HloDebugOptions *options) {
    HloDebugOptions next = *options;
    size_t count;
    debug_fields(&count);
    Reader r = {arena, path, text.data, text.data + text.size, 1, &next, hlo_bits_new(arena, count)};
    for (skip_blanks(&r); r.at < r.end; skip_blanks(&r)) HLO_TRY(parse_field(&r));
    *options = next;
    return hlo_ok();
}

HloStatus hlo_debug_options_read(HloArena *arena, const char *path, HloDebugOptions *options) {
    HloBuffer text = {0};
    HloStatus status = hlo_file_read(path, &text);
    if (hlo_is_ok(status)) {
        // Messages keep no pointers into the text; the arena's trap would leave a buffer behind.
        char *copy = hlo_arena_string(arena, text.data ? text.data : "", text.size);
        status = hlo_debug_options_parse(arena, path, (HloStringView){copy, text.size}, options);
    }
    hlo_buffer_free(&text);
    return status;
}

HloStatus hlo_debug_options_file_argument(int argc, char *const *argv, const char **path) {
    *path = NULL;
    for (int k = 1; k < argc; k++) {
        if (!strstr(argv[k], "--debug_options_file")) continue;
        const char *equals = strchr(argv[k], '=');
        if (!equals) {
            return hlo_error(HLO_INVALID_ARGUMENT, "No value provided for --debug_options_file. Expected "
                                                   "--debug_options_file=<filename>");
        }
        *path = equals + 1;
        return hlo_ok();
    }
    return hlo_ok();
}

HloStatus hlo_debug_options_collect(HloArena *arena, HloFlagSet *set, const char *xla_flags, int argc,
                                    char *const *argv) {
    const char *path;
    HLO_TRY(hlo_debug_options_file_argument(argc, argv, &path));
    if (path && *path) HLO_TRY(hlo_debug_options_read(arena, path, set->options));
    return hlo_flags_parse_environment(arena, set, 1, "XLA_FLAGS", xla_flags);
}
