// Diffs of module texts.
//
// A text is a header and computations, each of which ends with a line that starts with `}`; the first line up to ` (`
// names it. Computations of the same name are compared, so that one that moved in the text is no change.

#include "hlo/diff.h"

// ---- parts of a text ------------------------------------------------------------------------------------

typedef struct Part {
    HloStringView name;  // empty for the header
    HloStringView text;  // whole lines
    size_t line;         // lines of the module before it
    bool seen;
} Part;

typedef struct Parts {
    HloArena *arena;
    HloVec list;  // Part *
    HloMap by_name;
} Parts;

static HloStringView first_line(HloStringView text) {
    const char *newline = memchr(text.data, '\n', text.size);
    return (HloStringView){text.data, newline ? (size_t)(newline - text.data) : text.size};
}

static HloStringView name_of(HloStringView text) {
    HloStringView line = first_line(text);
    const char *end = memmem(line.data, line.size, " (", 2);
    if (!end) end = memmem(line.data, line.size, " {", 2);
    return end ? (HloStringView){line.data, (size_t)(end - line.data)} : line;
}

static void add_part(Parts *parts, HloStringView text, size_t line) {
    Part *part = HLO_NEW(parts->arena, Part);
    *part = (Part){parts->list.count ? name_of(text) : (HloStringView){"", 0}, text, line, false};
    hlo_vec_push(parts->arena, &parts->list, part);
    *hlo_map_at_text(parts->arena, &parts->by_name, part->name.data, part->name.size, NULL) = part;
}

// Cuts after the blank line that ends the header, after closing braces, and drops blank lines between computations.
static void split(Parts *parts, HloStringView text) {
    const char *start = text.data, *end = text.data + text.size;
    size_t line = 0, start_line = 0;
    for (const char *at = start; at < end;) {
        HloStringView now = first_line((HloStringView){at, (size_t)(end - at)});
        at = now.data + now.size + (now.data + now.size < end);
        line++;
        bool closes = now.size && now.data[0] == '}';
        bool blank = !now.size;
        bool is_header = !parts->list.count;
        if (closes || (blank && is_header && at > text.data + 1)) {
            add_part(parts, (HloStringView){start, (size_t)(at - start)}, start_line);
        }
        if (!closes && !blank) continue;
        start = at;
        start_line = line;
    }
}

// ---- diff -----------------------------------------------------------------------------------------------

typedef struct Compare {
    HloBuffer *out;
    HloArena *scratch;
    const HloDiffOptions *options;
} Compare;

static void put_part_diff(const Compare *c, const Part *before, const Part *after) {
    static const HloStringView none = {"", 0};
    HloStringView name = after ? after->name : before->name;
    HloDiffOptions options = *c->options;
    options.title = name.size ? hlo_arena_string(c->scratch, name.data, name.size) : NULL;
    options.before_line = before ? before->line : 0;
    options.after_line = after ? after->line : 0;
    hlo_put_diff(c->out, c->scratch, before ? before->text : none, after ? after->text : none, &options);
}

void hlo_put_module_text_diff(HloBuffer *out, HloArena *scratch, HloStringView old_text, HloStringView new_text,
                              const HloDiffOptions *options) {
    Compare compare = {out, scratch, options}, *c = &compare;
    Parts old = {.arena = scratch}, new = {.arena = scratch};
    split(&old, old_text);
    split(&new, new_text);
    for (size_t k = 0; k < new.list.count; k++) {
        Part *after = new.list.items[k];
        Part *before = hlo_map_find_text(&old.by_name, after->name.data, after->name.size);
        if (before) before->seen = true;
        put_part_diff(c, before, after);
    }
    for (size_t k = 0; k < old.list.count; k++) {
        Part *before = old.list.items[k];
        if (!before->seen) put_part_diff(c, before, NULL);
    }
}
