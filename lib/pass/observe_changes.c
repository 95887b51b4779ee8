// Showing what passes changed.
//
// The observer keeps the text of the module as it was after the last change. A text is a header and computations, each
// of which ends with a line that starts with `}`; the first line up to ` (` names it. Diffs compare computations of the
// same name, so that a computation that moved in the text is no change.

#include "hlo/diff.h"
#include "lib/pass/observe.h"

typedef struct Changes {
    HloChangesOptions options;
    HloSink sink;
    HloBuffer text;    // of the module before the pass that runs
    HloArena scratch;  // reset after every pass
    int depth;         // open pipelines
} Changes;

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
    Changes *changes;
    const HloElement *pipeline, *element;
    HloBuffer after;
    HloBuffer out;
} Compare;

static void put_part_diff(Compare *c, const Part *before, const Part *after) {
    static const HloStringView none = {"", 0};
    HloStringView name = after ? after->name : before->name;
    const char *title = hlo_arena_string(&c->changes->scratch, name.data, name.size);
    HloDiffOptions options = {.context = c->changes->options.context,
                              .colour = c->changes->options.colour,
                              .title = name.size ? title : NULL,
                              .before_line = before ? before->line : 0,
                              .after_line = after ? after->line : 0};
    hlo_put_diff(&c->out, &c->changes->scratch, before ? before->text : none, after ? after->text : none, &options);
}

static void put_diff(Compare *c) {
    HloBuffer *text = &c->changes->text;
    Parts old = {.arena = &c->changes->scratch}, new = {.arena = &c->changes->scratch};
    split(&old, (HloStringView){text->data, text->size});
    split(&new, (HloStringView){c->after.data, c->after.size});
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

static void put_title(Compare *c) {
    bool bold = c->changes->options.colour;
    if (bold) hlo_put_string(&c->out, "\033[1m");
    hlo_putf(&c->out, "*** %s (in %s)", c->element->name, c->pipeline->name);
    if (bold) hlo_put_string(&c->out, "\033[m");
    hlo_put_char(&c->out, '\n');
}

static HloStatus compare(void *data) {
    Compare *c = data;
    put_title(c);
    switch (c->changes->options.style) {
    case HLO_CHANGES_TEXT: hlo_put(&c->out, c->after.data, c->after.size); break;
    case HLO_CHANGES_DIFF: put_diff(c); break;
    }
    return hlo_ok();
}

// ---- events ---------------------------------------------------------------------------------------------

static HloStatus print(const Changes *changes, const HloModule *m, HloBuffer *out) {
    hlo_print_module(m, &changes->options.print, out);
    return hlo_buffer_status(out);
}

static HloStatus before_pipeline(void *data, const HloElement *pipeline, const HloModule *m) {
    (void)pipeline;
    Changes *changes = data;
    if (changes->depth++ > 0) return hlo_ok();
    hlo_buffer_free(&changes->text);
    return print(changes, m, &changes->text);
}

static HloStatus after_pipeline(void *data, const HloElement *pipeline, const HloModule *m, bool changed) {
    (void)pipeline, (void)m, (void)changed;
    ((Changes *)data)->depth--;
    return hlo_ok();
}

static HloStatus after_pass(void *data, const HloElement *pipeline, const HloElement *element, const HloModule *m,
                            bool changed) {
    Changes *changes = data;
    if (!changed || hlo_element_is_pipeline(element)) return hlo_ok();
    const HloRegex *only = changes->options.only;
    bool shown = !only || hlo_regex_finds(only, hlo_view(element->name));
    Compare c = {.changes = changes, .pipeline = pipeline, .element = element};
    HloStatus status = print(changes, m, &c.after);
    if (hlo_is_ok(status) && shown) status = hlo_observer_guarded(&changes->scratch, compare, &c);
    if (hlo_is_ok(status)) status = hlo_buffer_status(&c.out);
    if (hlo_is_ok(status) && shown) changes->sink.write(changes->sink.data, c.out.data, c.out.size);
    hlo_arena_reset(&changes->scratch);
    hlo_buffer_free(&c.out);
    hlo_buffer_free(&changes->text);
    changes->text = c.after;
    return status;
}

static void free_changes(void *data) {
    Changes *changes = data;
    hlo_buffer_free(&changes->text);
    hlo_arena_free(&changes->scratch);
}

HloStatus hlo_observe_changes(const HloChangesOptions *options, HloSink sink, HloPassObserver **out) {
    HLO_TRY(hlo_observer_new(sizeof(Changes), out));
    Changes *changes = (*out)->data;
    changes->options = *options;
    changes->sink = sink;
    (*out)->before_pipeline = before_pipeline;
    (*out)->after_pipeline = after_pipeline;
    (*out)->after_pass = after_pass;
    (*out)->free = free_changes;
    return hlo_ok();
}
