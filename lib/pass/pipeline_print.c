// Pipelines as text, so that the parser reads them back.
//
//   fix(simplification(
//     algsimp{layout-sensitive},
//     reshape-mover?,
//     dce)),
//   cse
//
// The same on one line: `fix(simplification(algsimp{layout-sensitive},reshape-mover?,dce)),cse`.

#include "hlo/pass.h"
#include "lib/pass/pipeline_text.h"

enum { INDENT = 2 };

// How a list is laid out. Trees are as deep as the parser or a target makes them, which is bounded.
typedef struct Layout {
    bool lines;
    size_t depth;
} Layout;

static void print_value(const char *value, HloBuffer *out) {
    bool quoted = strpbrk(value, ",} ") || !*value;
    if (quoted) hlo_put_char(out, '"');
    hlo_put_string(out, value);
    if (quoted) hlo_put_char(out, '"');
}

static void print_pass(const HloElement *element, HloBuffer *out) {
    const HloPass *pass = element->pass;
    hlo_put_string(out, pass->name);
    const char *separator = "{";
    for (size_t k = 0; k < pass->option_count && element->values; k++) {
        const HloOptionSpec *spec = &pass->options[k];
        const char *value = element->values[k];
        if (!value || strcmp(value, spec->standard) == 0) continue;
        hlo_put_string(out, separator);
        hlo_put_string(out, spec->name);
        separator = ",";
        if (spec->kind == HLO_OPTION_BOOL && strcmp(value, "true") == 0) continue;
        hlo_put_char(out, '=');
        print_value(value, out);
    }
    if (*separator == ',') hlo_put_char(out, '}');
}

static void print_absent(const HloElement *element, HloBuffer *out) {
    hlo_putf(out, "%s?", element->name);
    if (element->option_text) hlo_putf(out, "{%s}", element->option_text);
}

static void print_element(const HloElement *element, Layout layout, HloBuffer *out);

static void print_list(const HloElement *pipeline, Layout layout, HloBuffer *out) {
    for (size_t k = 0; k < pipeline->element_count; k++) {
        if (k) hlo_put_char(out, ',');
        if (layout.lines && (k || layout.depth)) hlo_put_char(out, '\n');
        if (layout.lines) hlo_put_spaces(out, INDENT * layout.depth);
        print_element(pipeline->elements[k], layout, out);
    }
}

static void print_pipeline(const HloElement *element, Layout layout, HloBuffer *out) {
    hlo_putf(out, "%s(", element->name);
    layout.depth++;
    print_list(element, layout, out);
    hlo_put_char(out, ')');
}

static void print_fix(const HloElement *fix, Layout layout, HloBuffer *out) {
    const HloElement *child = fix->elements[0];
    hlo_put_string(out, "fix");
    if (fix->limit != HLO_FIX_LIMIT) hlo_putf(out, "[%lld]", (long long)fix->limit);
    hlo_put_char(out, '(');
    // The list of a fix(…) with several elements hangs in a pipeline of its own that the text does not show.
    if (child->kind == HLO_ELEMENT_PIPELINE && strcmp(child->name, "fix") == 0) {
        layout.depth++;
        print_list(child, layout, out);
    } else {
        print_element(child, layout, out);
    }
    hlo_put_char(out, ')');
}

static void print_element(const HloElement *element, Layout layout, HloBuffer *out) {
    switch (element->kind) {
    case HLO_ELEMENT_PASS: print_pass(element, out); break;
    case HLO_ELEMENT_ABSENT: print_absent(element, out); break;
    case HLO_ELEMENT_PIPELINE: print_pipeline(element, layout, out); break;
    case HLO_ELEMENT_FIX: print_fix(element, layout, out); break;
    }
}

void hlo_pipeline_print(const HloElement *pipeline, HloBuffer *out) {
    print_list(pipeline, (Layout){0}, out);
}

void hlo_pipeline_print_lines(const HloElement *pipeline, HloBuffer *out) {
    print_list(pipeline, (Layout){.lines = true}, out);
    hlo_put_char(out, '\n');
}

void hlo_element_print(const HloElement *element, HloBuffer *out) {
    print_element(element, (Layout){0}, out);
}

// ---- absent passes --------------------------------------------------------------------------------------

// Whether `name` stands among the names that `list`, joined by `, `, holds already.
static bool is_named(const HloBuffer *list, size_t start, const char *name) {
    size_t size = strlen(name);
    for (const char *at = list->data ? list->data + start : NULL; at; at = strstr(at, ", ")) {
        at += strncmp(at, ", ", 2) == 0 ? 2 : 0;
        bool ends = strncmp(at, name, size) == 0 && (!at[size] || strncmp(at + size, ", ", 2) == 0);
        if (ends) return true;
    }
    return false;
}

static void put_absent(const HloElement *element, size_t start, HloBuffer *out) {
    if (element->kind == HLO_ELEMENT_ABSENT && !is_named(out, start, element->name)) {
        hlo_putf(out, "%s%s", out->size > start ? ", " : "", element->name);
    }
    for (size_t k = 0; k < element->element_count; k++) put_absent(element->elements[k], start, out);
}

void hlo_pipeline_put_absent(const HloElement *pipeline, HloBuffer *out) {
    put_absent(pipeline, out->size, out);
}
