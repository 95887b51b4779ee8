// File names of dumps (dump chapter, §3.1), read from the right, since module names may hold dots and numbers:
//
//   module_0001.f.before_optimizations.txt
//   module_0001.f.0012.simplification.after_algsimp.before_dce.txt
//   module_0001.f.0021.copy-insertion.after_adding_special-case_copies.txt
//   1700000000123456.module_0001.f.cpu_after_optimizations.txt

#include <ctype.h>
#include <stdlib.h>

#include "hlo/bisect.h"

static HloStringView cut(const char *start, const char *end) {
    return (HloStringView){start, (size_t)(end - start)};
}

// The last place of `word` in a view, or NULL.
static const char *find_last(HloStringView view, const char *word) {
    const char *found = NULL, *end = view.data + view.size;
    for (const char *at = view.data; (at = memmem(at, (size_t)(end - at), word, strlen(word))); at++) found = at;
    return found;
}

static bool ends_with(HloStringView view, const char *end) {
    size_t size = strlen(end);
    return view.size >= size && memcmp(view.data + view.size - size, end, size) == 0;
}

static const char *keep(HloArena *arena, HloStringView view) {
    return hlo_arena_string(arena, view.data, view.size);
}

// The view without its last part behind a dot, which goes to *part; false when there is no dot.
static bool split_last(HloStringView *view, HloStringView *part) {
    const char *dot = find_last(*view, ".");
    if (!dot) return false;
    *part = cut(dot + 1, view->data + view->size);
    view->size = (size_t)(dot - view->data);
    return true;
}

static bool is_digits(HloStringView view) {
    for (size_t k = 0; k < view.size; k++) {
        if (!isdigit((unsigned char)view.data[k])) return false;
    }
    return view.size > 0;
}

// Ids and steps have four digits or more; longer ones than this do not fit.
static bool is_number(HloStringView view) {
    return is_digits(view) && view.size >= 4 && view.size <= 18;
}

// stem = (timestamp ".")? "module_" id ("." name)? (".cl_" digits)?
static bool parse_stem(HloArena *arena, HloStringView stem, HloDumpName *out) {
    const char *word = "module_", *end = stem.data + stem.size;
    const char *at = memmem(stem.data, stem.size, word, strlen(word));
    bool is_first = at == stem.data;
    if (!at || (!is_first && (at[-1] != '.' || !is_number(cut(stem.data, at - 1))))) return false;
    const char *id = at + strlen(word), *id_end = memchr(id, '.', (size_t)(end - id));
    if (!id_end) id_end = end;
    if (!is_number(cut(id, id_end))) return false;
    out->module_id = strtoll(id, NULL, 10);
    const char *change_list = find_last(cut(id_end, end), ".cl_");
    if (change_list && is_digits(cut(change_list + strlen(".cl_"), end))) end = change_list;
    out->module = id_end < end ? keep(arena, cut(id_end + 1, end)) : "";
    return true;
}

// stem "." step "." name
static bool parse_step(HloArena *arena, HloStringView *rest, const char **name, HloDumpName *out) {
    HloStringView part, step;
    if (!split_last(rest, &part) || !split_last(rest, &step) || !is_number(step)) return false;
    *name = keep(arena, part);
    out->step = strtoll(step.data, NULL, 10);
    return true;
}

// step "." pipeline ".after_" A ".before_" B
static bool parse_between(HloArena *arena, HloStringView rest, HloDumpName *out) {
    static const char after[] = ".after_", before[] = ".before_";
    const char *b = find_last(rest, before), *end = rest.data + rest.size;
    const char *a = b ? find_last(cut(rest.data, b), after) : NULL;
    if (!a) return false;
    out->after = keep(arena, cut(a + strlen(after), b));
    out->before = keep(arena, cut(b + strlen(before), end));
    rest = cut(rest.data, a);
    return parse_step(arena, &rest, &out->pipeline, out) && parse_stem(arena, rest, out);
}

// step "." pass "." point
static bool parse_during(HloArena *arena, HloStringView rest, HloDumpName *out) {
    HloStringView point;
    if (!split_last(&rest, &point) || find_last(point, "after_") != point.data) return false;
    out->after = keep(arena, point);
    return parse_step(arena, &rest, &out->pipeline, out) && parse_stem(arena, rest, out);
}

// `sm_8.0_gpu_after_optimizations` is one name in spite of its dot.
static void join_gpu_name(HloStringView *rest, HloStringView *name) {
    const char *end = name->data + name->size;
    const char *start = find_last(*rest, ".sm_");
    if (!start || !find_last(*name, "_gpu_")) return;
    if (!is_digits(cut(start + strlen(".sm_"), rest->data + rest->size))) return;
    *name = cut(start + 1, end);
    rest->size = (size_t)(start - rest->data);
}

// Whole-module dumps; their names differ by target and tool.
static bool parse_named(HloArena *arena, HloStringView rest, HloDumpName *out) {
    HloStringView name;
    if (!split_last(&rest, &name)) return false;
    join_gpu_name(&rest, &name);
    bool is_early = ends_with(name, "before_optimizations") || ends_with(name, "before_optimization");
    bool is_late = ends_with(name, "after_optimizations") || ends_with(name, "after_optimization");
    if (!is_early && !is_late) return false;
    out->after = keep(arena, name);
    out->step = is_early ? -1 : INT64_MAX;
    return parse_stem(arena, rest, out);
}

bool hlo_dump_name_parse(HloArena *arena, const char *file, HloDumpName *out) {
    HloStringView rest = hlo_view(file);
    if (!ends_with(rest, ".txt")) return false;
    rest.size -= strlen(".txt");
    static bool (*const forms[])(HloArena *, HloStringView, HloDumpName *) = {parse_named, parse_between, parse_during};
    for (size_t k = 0; k < HLO_COUNT(forms); k++) {
        *out = (HloDumpName){0};
        if (forms[k](arena, rest, out)) return true;
    }
    return false;
}
