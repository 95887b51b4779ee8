// The files of tests in text: their RUN lines, and the block of generated lines in them.

#include "hlo/check_lines.h"

static const char marker[] = "// The lines below were written by hlo-check-lines.";

// ---- RUN lines ------------------------------------------------------------------------------------------

static bool next_line(HloStringView *rest, HloStringView *line) {
    if (!rest->size) return false;
    const char *stop = memchr(rest->data, '\n', rest->size);
    size_t size = stop ? (size_t)(stop - rest->data) + 1 : rest->size;
    *line = (HloStringView){rest->data, size};
    *rest = (HloStringView){rest->data + size, rest->size - size};
    return true;
}

static bool is_comment(HloStringView line) {
    return line.size >= 2 && line.data[0] == '/' && line.data[1] == '/';
}

// What stands behind `RUN:` in a comment, blanks and line end left out; false: it is no RUN line.
static bool run_text(HloStringView line, HloStringView *out) {
    static const char key[] = "RUN:";
    if (!is_comment(line)) return false;
    const char *at = line.data + 2, *end = line.data + line.size;
    while (at < end && *at == ' ') at++;
    if ((size_t)(end - at) < sizeof key - 1 || memcmp(at, key, sizeof key - 1) != 0) return false;
    at += sizeof key - 1;
    while (at < end && *at == ' ') at++;
    while (end > at && (end[-1] == '\n' || end[-1] == '\r' || end[-1] == ' ')) end--;
    *out = (HloStringView){at, (size_t)(end - at)};
    return true;
}

// The value of `--check-prefix=P`, of `-check-prefix P`, or the first of `--check-prefixes=P,Q`.
static const char *prefix_of(HloArena *arena, const char *arguments) {
    const char *at = strstr(arguments, "-check-prefix");
    if (!at) return "CHECK";
    at += strlen("-check-prefix");
    if (strncmp(at, "es", 2) == 0) at += 2;
    at += strspn(at, "= \"'");
    size_t size = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
    return hlo_arena_string(arena, at, size);
}

static HloStatus read_run(HloArena *arena, const char *text, HloCheckRun *out) {
    *out = (HloCheckRun){.command = text};
    const char *call = NULL;
    for (const char *at = text; (at = strstr(at, "FileCheck")); at++) call = at;
    if (!call) return hlo_ok();
    const char *pipe = call;
    while (pipe > text && pipe[-1] == ' ') pipe--;
    if (pipe == text || pipe[-1] != '|')
        return hlo_error(HLO_INVALID_ARGUMENT, "expected `| FileCheck` in the RUN line '%s'", text);
    out->command = hlo_arena_string(arena, text, (size_t)(pipe - 1 - text));
    out->prefix = prefix_of(arena, call);
    if (!*out->prefix) return hlo_error(HLO_INVALID_ARGUMENT, "expected a prefix in the RUN line '%s'", text);
    return hlo_ok();
}

HloStatus hlo_check_runs_find(HloArena *arena, HloStringView file, HloCheckRuns *out) {
    HloCheckRuns runs = {0};
    size_t capacity = 0;
    bool called = false;
    const char *begun = "";  // of a line that goes on
    for (HloStringView line, text; next_line(&file, &line);) {
        if (!run_text(line, &text)) continue;
        bool goes_on = text.size && text.data[text.size - 1] == '\\';
        begun = hlo_arena_printf(arena, "%s%.*s", begun, (int)(text.size - goes_on), text.data);
        if (goes_on) continue;
        if (runs.count == capacity) runs.items = hlo_arena_grow(arena, runs.items, &capacity, 4, sizeof *runs.items);
        HLO_TRY(read_run(arena, begun, &runs.items[runs.count]));
        called = called || runs.items[runs.count].prefix;
        runs.count++;
        begun = "";
    }
    if (!called) return hlo_error(HLO_INVALID_ARGUMENT, "no RUN line with `| FileCheck`");
    *out = runs;
    return hlo_ok();
}

// ---- the block ------------------------------------------------------------------------------------------

// Whether a comment is a directive with one of the prefixes: `// CHECK:`, `// CHECK-NEXT:`, …
static bool is_check_line(HloStringView line, const HloCheckRuns *runs) {
    if (!is_comment(line)) return false;
    const char *at = line.data + 2, *end = line.data + line.size;
    while (at < end && *at == ' ') at++;
    for (size_t i = 0; i < runs->count; i++) {
        size_t size = runs->items[i].prefix ? strlen(runs->items[i].prefix) : 0;
        if (!size || (size_t)(end - at) <= size || memcmp(at, runs->items[i].prefix, size) != 0) continue;
        if (at[size] == ':' || at[size] == '-') return true;
    }
    return false;
}

static bool is_rule(HloStringView line) {
    return line.size <= 3 && is_comment(line);
}

static bool is_marker(HloStringView line) {
    return line.size >= sizeof marker - 1 && memcmp(line.data, marker, sizeof marker - 1) == 0;
}

static void put_block(HloBuffer *out, HloStringView lines) {
    hlo_putf(out, "%s\n", marker);
    hlo_put(out, lines.data, lines.size);
}

// The bytes on top of the file that are comments, up to the last one that follows a RUN line.
static size_t top_size(HloStringView file, bool *has_marker) {
    HloStringView rest = file, line, text;
    size_t top = 0;
    bool in_top = false;
    *has_marker = false;
    while (next_line(&rest, &line)) {
        in_top = run_text(line, &text) || (in_top && is_comment(line));
        if (in_top && !is_marker(line)) top = (size_t)(rest.data - file.data);
        *has_marker = *has_marker || is_marker(line);
    }
    return top;
}

HloStatus hlo_put_checked_file(HloBuffer *out, HloStringView file, HloStringView lines, const HloCheckRuns *runs,
                               bool replace_all) {
    bool has_marker, in_block = false;
    size_t top = top_size(file, &has_marker), number = 0;
    HloStringView rest = file, line;
    for (bool more = true; more;) {
        if (!has_marker && (size_t)(rest.data - file.data) == top) put_block(out, lines);
        more = next_line(&rest, &line);
        if (!more) break;
        number++;
        if (is_marker(line)) {
            put_block(out, lines);
            in_block = true;
            continue;
        }
        bool check = is_check_line(line, runs);
        in_block = in_block && (check || is_rule(line));
        if (in_block) continue;
        if (check && !replace_all) {
            return hlo_error(HLO_FAILED_PRECONDITION,
                             "line %zu was written by hand: %.*s; --replace-all drops such lines", number,
                             (int)(line.size > 60 ? 60 : line.size - 1), line.data);
        }
        if (!check) hlo_put(out, line.data, line.size);
    }
    return hlo_ok();
}
