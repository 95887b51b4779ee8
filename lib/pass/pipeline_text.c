// Pipelines as text: `dce,fix(algsimp{layout-sensitive},dce),simplification(cse)`.
//
// Names run up to one of `,(){}[]?`; blanks around them mean nothing, blanks inside them belong to the name. Everything
// is looked up and checked here, so that a pipeline that parses can run.

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "hlo/pass.h"
#include "lib/pass/pipeline_text.h"

enum { MAX_DEPTH = 64 };  // nested lists; the CPU pipeline needs three

typedef struct Parser {
    HloArena *arena;
    const char *start, *next, *end;
    int depth;  // open lists
} Parser;

static void skip_blanks(Parser *p) {
    while (p->next < p->end && isspace((unsigned char)*p->next)) p->next++;
}

static bool take(Parser *p, char c) {
    skip_blanks(p);
    if (p->next == p->end || *p->next != c) return false;
    p->next++;
    return true;
}

static bool at_end_of_list(Parser *p) {
    skip_blanks(p);
    return p->next == p->end || *p->next == ')';
}

static HloStatus expect(Parser *p, char c) {
    if (take(p, c)) return hlo_ok();
    size_t column = (size_t)(p->next - p->start) + 1;
    if (p->next == p->end) {
        return hlo_error(HLO_INVALID_ARGUMENT, "pipeline ends at column %zu where '%c' is expected", column, c);
    }
    return hlo_error(HLO_INVALID_ARGUMENT, "expected '%c' at column %zu of the pipeline, found '%c'", c, column,
                     *p->next);
}

// The text up to one of `stops`, without blanks around it.
static HloStringView take_word(Parser *p, const char *stops) {
    skip_blanks(p);
    const char *start = p->next;
    while (p->next < p->end && *p->next && !strchr(stops, *p->next)) p->next++;
    const char *end = p->next;
    while (end > start && isspace((unsigned char)end[-1])) end--;
    return (HloStringView){start, (size_t)(end - start)};
}

// ---- options --------------------------------------------------------------------------------------------

static HloStatus unknown_option(const HloPass *pass, HloStringView name) {
    const char *nearest = NULL;
    size_t best = name.size / 3 + 1;
    for (size_t k = 0; k < pass->option_count; k++) {
        const char *candidate = pass->options[k].name;
        size_t distance = hlo_edit_distance(name.data, name.size, candidate, strlen(candidate), best);
        if (distance > best) continue;
        best = distance;
        nearest = candidate;
    }
    if (nearest) {
        return hlo_error(HLO_INVALID_ARGUMENT, "pass %s has no option '%.*s'; did you mean '%s'?", pass->name,
                         (int)name.size, name.data, nearest);
    }
    return hlo_error(HLO_INVALID_ARGUMENT, "pass %s has no option '%.*s'", pass->name, (int)name.size, name.data);
}

static bool find_option(const HloPass *pass, HloStringView name, size_t *k) {
    for (*k = 0; *k < pass->option_count; ++*k) {
        if (hlo_view_is(name, pass->options[*k].name)) return true;
    }
    return false;
}

static bool is_integer(const char *text) {
    char *end;
    errno = 0;
    (void)strtoll(text, &end, 10);
    return *text && !*end && !errno;
}

// value = `"` text without quotes `"` | word
static HloStatus parse_value(Parser *p, const char **out) {
    if (!take(p, '"')) {
        HloStringView word = take_word(p, ",}");
        *out = hlo_arena_string(p->arena, word.data, word.size);
        return hlo_ok();
    }
    const char *start = p->next;
    while (p->next < p->end && *p->next != '"') p->next++;
    *out = hlo_arena_string(p->arena, start, (size_t)(p->next - start));
    return expect(p, '"');
}

static HloStatus check_value(const HloPass *pass, const HloOptionSpec *spec, const char **value) {
    bool yes = strcmp(*value, "true") == 0 || strcmp(*value, "1") == 0;
    bool no = strcmp(*value, "false") == 0 || strcmp(*value, "0") == 0;
    switch (spec->kind) {
    case HLO_OPTION_BOOL:
        if (!yes && !no) break;
        *value = yes ? "true" : "false";
        return hlo_ok();
    case HLO_OPTION_INT:
        if (!is_integer(*value)) break;
        return hlo_ok();
    case HLO_OPTION_STRING: return hlo_ok();
    }
    return hlo_error(HLO_INVALID_ARGUMENT, "option '%s' of pass %s is %s, found '%s'", spec->name, pass->name,
                     spec->kind == HLO_OPTION_BOOL ? "true or false" : "an integer", *value);
}

// option = name ("=" value)?     a bool may be named alone
static HloStatus parse_option(Parser *p, const HloPass *pass, const char **values) {
    HloStringView name = take_word(p, "=,}");
    size_t k;
    if (!find_option(pass, name, &k)) return unknown_option(pass, name);
    const char *value = "true";
    if (take(p, '=')) {
        HLO_TRY(parse_value(p, &value));
    } else if (pass->options[k].kind != HLO_OPTION_BOOL) {
        return hlo_error(HLO_INVALID_ARGUMENT, "option '%s' of pass %s needs a value: %s=…", pass->options[k].name,
                         pass->name, pass->options[k].name);
    }
    HLO_TRY(check_value(pass, &pass->options[k], &value));
    values[k] = value;
    return hlo_ok();
}

static HloStatus parse_options(Parser *p, const HloPass *pass, const char **values) {
    if (!take(p, '{')) return hlo_ok();
    do {
        HLO_TRY(parse_option(p, pass, values));
    } while (take(p, ','));
    return expect(p, '}');
}

// ---- elements -------------------------------------------------------------------------------------------

static HloStatus parse_list(Parser *p, HloElement *pipeline);

static HloElement *new_element(Parser *p, HloElementKind kind, const char *name) {
    HloElement *element = HLO_NEW(p->arena, HloElement);
    element->kind = kind;
    element->name = name;
    return element;
}

static HloStatus unknown_pass(HloStringView name) {
    // The reference's words first: scripts look for them.
    const char *nearest = hlo_pass_suggest(name.data, name.size);
    if (nearest) {
        return hlo_error(HLO_INVALID_ARGUMENT, "Pass %.*s not found. Did you mean '%s'?", (int)name.size, name.data,
                         nearest);
    }
    return hlo_error(HLO_INVALID_ARGUMENT, "Pass %.*s not found.", (int)name.size, name.data);
}

// The options of a pass that does not exist are kept as they are, up to the brace that closes them.
static HloStatus skip_options(Parser *p, const char **text) {
    if (!take(p, '{')) return hlo_ok();
    const char *start = p->next;
    bool quoted = false;
    while (p->next < p->end && (quoted || *p->next != '}')) quoted ^= *p->next++ == '"';
    *text = hlo_arena_string(p->arena, start, (size_t)(p->next - start));
    return expect(p, '}');
}

static HloStatus parse_absent(Parser *p, HloStringView name, HloElement **out) {
    *out = new_element(p, HLO_ELEMENT_ABSENT, hlo_arena_string(p->arena, name.data, name.size));
    return skip_options(p, &(*out)->option_text);
}

// A name that stands for a pipeline.
static HloStatus parse_named_pipeline(Parser *p, const HloPass *pass, HloElement **out) {
    const char *text = pass->pipeline;
    Parser inner = {p->arena, text, text, text + strlen(text), p->depth};
    *out = new_element(p, HLO_ELEMENT_PIPELINE, pass->name);
    HLO_TRY(parse_list(&inner, *out));
    return parse_options(p, pass, NULL);
}

// pass = name "?"? ("{" option ("," option)* "}")?
static HloStatus parse_pass(Parser *p, HloStringView name, HloElement **out) {
    const HloPass *pass = hlo_pass_find(name.data, name.size);
    bool may_be_absent = name.size && take(p, '?');
    if (!pass && may_be_absent) return parse_absent(p, name, out);
    if (!pass) return unknown_pass(name);
    if (pass->pipeline) return parse_named_pipeline(p, pass, out);
    HloElement *element = new_element(p, HLO_ELEMENT_PASS, pass->name);
    element->pass = pass;
    const char **values = HLO_NEW_ARRAY(p->arena, const char *, pass->option_count);
    for (size_t k = 0; k < pass->option_count; k++) values[k] = pass->options[k].standard;
    element->values = values;
    *out = element;
    return parse_options(p, pass, values);
}

static HloStatus parse_limit(Parser *p, int64_t *limit) {
    *limit = HLO_FIX_LIMIT;
    if (!take(p, '[')) return hlo_ok();
    HloStringView word = take_word(p, "]");
    const char *text = hlo_arena_string(p->arena, word.data, word.size);
    if (!is_integer(text) || strtoll(text, NULL, 10) < 1) {
        return hlo_error(HLO_INVALID_ARGUMENT, "the limit of fix[…] is a positive integer, found '%s'", text);
    }
    *limit = strtoll(text, NULL, 10);
    return expect(p, ']');
}

// A fixed point holds one element. A list of another length becomes a pipeline that is called `fix` too.
static HloElement *fixed_element(Parser *p, HloElement *list) {
    HloElement *fix = new_element(p, HLO_ELEMENT_FIX, list->name);
    HloElement *child = list->element_count == 1 ? list->elements[0] : list;
    fix->name = child->name;
    fix->elements = hlo_arena_copy(p->arena, &child, sizeof child);
    fix->element_count = 1;
    return fix;
}

// fix = "fix" ("[" limit "]")? "(" list ")"
static HloStatus parse_fix(Parser *p, HloElement **out) {
    int64_t limit;
    HLO_TRY(parse_limit(p, &limit));
    HloElement *list = new_element(p, HLO_ELEMENT_PIPELINE, "fix");
    HLO_TRY(expect(p, '('));
    HLO_TRY(parse_list(p, list));
    HLO_TRY(expect(p, ')'));
    *out = fixed_element(p, list);
    (*out)->limit = limit;
    return hlo_ok();
}

// element = pass | fix | name "(" list ")"
static HloStatus parse_element(Parser *p, HloElement **out) {
    HloStringView name = take_word(p, ",(){}[]?");
    bool opens = p->next < p->end && (*p->next == '(' || *p->next == '[');
    if (opens && hlo_view_is(name, "fix")) return parse_fix(p, out);
    if (!take(p, '(')) return parse_pass(p, name, out);
    *out = new_element(p, HLO_ELEMENT_PIPELINE, hlo_arena_string(p->arena, name.data, name.size));
    HLO_TRY(parse_list(p, *out));
    return expect(p, ')');
}

// list = (element ("," element)*)?
static HloStatus parse_list(Parser *p, HloElement *pipeline) {
    if (at_end_of_list(p)) return hlo_ok();
    if (++p->depth > MAX_DEPTH) {
        return hlo_error(HLO_INVALID_ARGUMENT, "pipeline nests deeper than %d lists", MAX_DEPTH);
    }
    HloVec elements = {0};
    do {
        HloElement *element = NULL;
        HLO_TRY(parse_element(p, &element));
        hlo_vec_push(p->arena, &elements, element);
    } while (take(p, ','));
    p->depth--;
    pipeline->elements = (HloElement *const *)elements.items;
    pipeline->element_count = elements.count;
    return hlo_ok();
}

typedef struct ParseCall {
    Parser parser;
    const char *name;
    HloElement *out;
} ParseCall;

static HloStatus parse_whole(void *data) {
    ParseCall *call = data;
    Parser *p = &call->parser;
    call->out = new_element(p, HLO_ELEMENT_PIPELINE, hlo_arena_string(p->arena, call->name, strlen(call->name)));
    HLO_TRY(parse_list(p, call->out));
    skip_blanks(p);
    return p->next == p->end ? hlo_ok() : expect(p, ',');
}

HloStatus hlo_pipeline_parse(HloArena *arena, const char *name, HloStringView text, HloElement **out) {
    ParseCall call = {.parser = {arena, text.data, text.data, text.data + text.size, 0}, .name = name};
    HLO_TRY(hlo_guarded((HloArena *const[]){arena, NULL}, parse_whole, &call));
    *out = call.out;
    return hlo_ok();
}
