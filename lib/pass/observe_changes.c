// Showing what passes changed.
//
// The observer keeps the text of the module as it was after the last change.

#include "hlo/diff.h"
#include "lib/pass/observe.h"

typedef struct Changes {
    HloChangesOptions options;
    HloSink sink;
    HloBuffer text;    // of the module before the pass that runs
    HloArena scratch;  // reset after every pass
    int depth;         // open pipelines
} Changes;

// ---- showing --------------------------------------------------------------------------------------------

typedef struct Compare {
    Changes *changes;
    const HloElement *pipeline, *element;
    HloBuffer after;
    HloBuffer out;
} Compare;

static void put_diff(Compare *c) {
    const HloBuffer *before = &c->changes->text;
    HloDiffOptions options = {.context = c->changes->options.context, .colour = c->changes->options.colour};
    hlo_put_module_text_diff(&c->out, &c->changes->scratch, (HloStringView){before->data, before->size},
                             (HloStringView){c->after.data, c->after.size}, &options);
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
