// What a command printed as FileCheck lines. A computation
//
//   %sum (a: f32[], b: f32[]) -> f32[] {
//     %a = f32[] parameter(0)
//     ROOT %s = f32[] negate(%a), metadata={op_name="n"}
//   }
//
// becomes
//
//   // CHECK-LABEL: %sum (
//   // CHECK-NEXT: [[A:%.*]] = f32[] parameter(0)
//   // CHECK-NEXT: ROOT [[S:%.*]] = f32[] negate([[A]]), metadata={op_name="n"}
//   // CHECK-NEXT: }
//
// Names without percent signs stay as they are.

#include <ctype.h>

#include "hlo/check_lines.h"
#include "hlo/line_names.h"

typedef struct Writer {
    HloBuffer *out;
    HloArena *scratch;
    const char *prefix;
    HloMap variables;  // name -> variable, of the computation at hand
    HloMap taken;      // variable -> number of names that asked for it
    bool follows;      // the next line follows the last one that was written
    bool any;          // something was written
} Writer;

static void put_directive(Writer *w, const char *suffix) {
    hlo_putf(w->out, "// %s%s:", w->prefix, suffix);
    w->any = true;
}

// ---- literal text ---------------------------------------------------------------------------------------

// Whether a bracket would open a pattern: `{{`, `[[`, or `[` in front of a variable.
static bool opens_pattern(const char *at, const char *end) {
    if (end - at < 2) return false;
    if (at[0] == '[') return at[1] == '[' || at[1] == '%';
    return at[0] == '{' && (at[1] == '{' || opens_pattern(at + 1, end));
}

static void put_literal(Writer *w, const char *at, const char *end, const char *line_end) {
    for (; at < end; at++) {
        if ((*at == '{' || *at == '[') && opens_pattern(at, line_end))
            hlo_putf(w->out, "{{[%c]}}", *at);
        else
            hlo_put_char(w->out, *at);
    }
}

// ---- names ----------------------------------------------------------------------------------------------

// `reduce-window.5` -> REDUCE_WINDOW; numbers behind dots change too easily to be part of a variable.
static const char *variable_stem(Writer *w, HloStringView name) {
    size_t size = name.size;
    while (size > 1 && (isdigit((unsigned char)name.data[size - 1]) || name.data[size - 1] == '.')) size--;
    char *stem = hlo_arena_string(w->scratch, name.data, size);
    for (char *c = stem; *c; c++) *c = isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
    if (isdigit((unsigned char)*stem)) *stem = '_';
    return stem;
}

static const char *new_variable(Writer *w, HloStringView name) {
    const char *stem = variable_stem(w, name), *variable = stem;
    void **count = hlo_map_at_text(w->scratch, &w->taken, stem, strlen(stem), NULL);
    while (*count) {
        uintptr_t number = (uintptr_t)*count;
        *count = (void *)(number + 1);
        variable = hlo_arena_printf(w->scratch, "%s_%zu", stem, (size_t)number);
        if (!hlo_map_find_text(&w->taken, variable, strlen(variable))) break;
        count = hlo_map_at_text(w->scratch, &w->taken, stem, strlen(stem), NULL);
    }
    *hlo_map_at_text(w->scratch, &w->taken, variable, strlen(variable), NULL) = (void *)(uintptr_t)1;
    *hlo_map_at_text(w->scratch, &w->variables, name.data, name.size, NULL) = (void *)(uintptr_t)variable;
    return variable;
}

// A line of a computation: the first name is defined, those defined before are used, all others are literal.
static void put_instruction(Writer *w, HloStringView line) {
    HloLineNames scan = {.at = line.data, .end = line.data + line.size};
    const char *from = line.data;
    HloStringView root = {"ROOT ", 5};
    bool is_root = line.size > root.size && memcmp(line.data, root.data, root.size) == 0;
    const char *own = line.data + (is_root ? root.size : 0) + 1;
    put_directive(w, "-NEXT");
    hlo_put_char(w->out, ' ');
    while (hlo_line_names_next(&scan)) {
        bool defines = scan.name.data == own;
        const char *variable =
            defines ? new_variable(w, scan.name) : hlo_map_find_text(&w->variables, scan.name.data, scan.name.size);
        if (!variable || (!defines && hlo_line_names_callee(&scan))) continue;
        put_literal(w, from, scan.name.data - 1, scan.end);
        hlo_putf(w->out, defines ? "[[%s:%%.*]]" : "[[%s]]", variable);
        from = scan.at;
    }
    put_literal(w, from, scan.end, scan.end);
    hlo_put_char(w->out, '\n');
}

// ---- lines ----------------------------------------------------------------------------------------------

static bool next_line(HloStringView *rest, HloStringView *line) {
    if (!rest->size) return false;
    const char *stop = memchr(rest->data, '\n', rest->size);
    size_t size = stop ? (size_t)(stop - rest->data) : rest->size;
    *line = (HloStringView){rest->data, size};
    size_t taken = size + (stop != NULL);
    *rest = (HloStringView){rest->data + taken, rest->size - taken};
    return true;
}

static HloStringView without_indent(HloStringView line) {
    while (line.size && *line.data == ' ') line = (HloStringView){line.data + 1, line.size - 1};
    return line;
}

static bool starts_with(HloStringView line, const char *text) {
    return line.size >= strlen(text) && memcmp(line.data, text, strlen(text)) == 0;
}

// `ENTRY %main (x: f32[]) -> f32[] {` or, in short styles, `main {`.
static bool is_heading(HloStringView line) {
    return line.size > 2 && *line.data != ' ' && memcmp(line.data + line.size - 2, " {", 2) == 0;
}

static void put_label(Writer *w, HloStringView line) {
    const char *stop = memchr(line.data, '(', line.size);
    size_t size = stop ? (size_t)(stop - line.data) + 1 : line.size;
    if (w->any) hlo_put_string(w->out, "//\n");
    put_directive(w, "-LABEL");
    hlo_put_char(w->out, ' ');
    put_literal(w, line.data, line.data + size, line.data + size);
    hlo_put_char(w->out, '\n');
    w->variables = w->taken = (HloMap){0};
}

// Other text: every line as it is.
static void put_plain(Writer *w, HloStringView line) {
    HloStringView text = without_indent(line);
    put_directive(w, !w->follows ? "" : text.size ? "-NEXT" : "-EMPTY");
    if (text.size) hlo_put_char(w->out, ' ');
    put_literal(w, text.data, text.data + text.size, text.data + text.size);
    hlo_put_char(w->out, '\n');
    w->follows = true;
}

static bool has_computation(HloStringView text) {
    HloStringView line;
    while (next_line(&text, &line)) {
        if (is_heading(line)) return true;
    }
    return false;
}

void hlo_put_check_lines(HloBuffer *out, HloArena *scratch, HloStringView text, const char *prefix) {
    Writer w = {.out = out, .scratch = scratch, .prefix = prefix};
    bool hlo = has_computation(text), inside = false;
    while (text.size && (text.data[text.size - 1] == '\n' || text.data[text.size - 1] == ' ')) text.size--;
    for (HloStringView line; next_line(&text, &line);) {
        if (!hlo) {
            if (w.follows || without_indent(line).size) put_plain(&w, line);
        } else if (is_heading(line)) {
            put_label(&w, line);
            inside = true;
        } else if (inside && starts_with(line, "}")) {
            put_directive(&w, "-NEXT");
            hlo_put(out, " }\n", 3);
            inside = false;
        } else if (inside) {
            put_instruction(&w, without_indent(line));
        }
    }
}
