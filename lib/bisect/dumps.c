// Bisection over a folder of dumps: nothing runs, the states are files.

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>

#include "hlo/bisect.h"
#include "hlo/diff.h"
#include "hlo/file.h"
#include "hlo/regex.h"

typedef struct Dump {
    HloDumpName name;
    const char *file;
} Dump;

typedef struct Dumps {
    HloArena arena;
    const char *folder;
    const HloPredicate *predicate;
    const HloDumpBisectOptions *options;
    HloRegex *modules;  // NULL: all
    HloVec list;        // Dump *, module by module in the order of steps
    HloBuffer *report;
    bool found;
} Dumps;

// ---- the files ------------------------------------------------------------------------------------------

static int compare(const void *a, const void *b) {
    const Dump *x = *(Dump *const *)a, *y = *(Dump *const *)b;
    if (x->name.module_id != y->name.module_id) return x->name.module_id < y->name.module_id ? -1 : 1;
    int order = strcmp(x->name.module, y->name.module);
    if (order) return order;
    if (x->name.step != y->name.step) return x->name.step < y->name.step ? -1 : 1;
    return strcmp(x->file, y->file);
}

static bool is_same_module(const Dump *a, const Dump *b) {
    return a->name.module_id == b->name.module_id && strcmp(a->name.module, b->name.module) == 0;
}

static const char *module_label(Dumps *d, const Dump *dump) {
    const char *dot = *dump->name.module ? "." : "";
    return hlo_arena_printf(&d->arena, "module_%04" PRId64 "%s%s", dump->name.module_id, dot, dump->name.module);
}

static void add_file(Dumps *d, const char *file) {
    HloDumpName name;
    if (!hlo_dump_name_parse(&d->arena, file, &name)) return;
    Dump *dump = HLO_NEW(&d->arena, Dump);
    *dump = (Dump){name, hlo_arena_string(&d->arena, file, strlen(file))};
    if (d->modules && !hlo_regex_finds(d->modules, hlo_view(module_label(d, dump)))) return;
    hlo_vec_push(&d->arena, &d->list, dump);
}

static HloStatus list_files(Dumps *d) {
    DIR *folder = opendir(d->folder);
    if (!folder) return hlo_error_errno("cannot read folder '%s'", d->folder);
    for (struct dirent *entry; (entry = readdir(folder));) add_file(d, entry->d_name);
    closedir(folder);
    if (!d->list.count) {
        return hlo_error(HLO_NOT_FOUND, "folder '%s' holds no dumps of modules as text%s", d->folder,
                         d->modules ? " with such a name" : "");
    }
    qsort(d->list.items, d->list.count, sizeof *d->list.items, compare);
    return hlo_ok();
}

// ---- one module -----------------------------------------------------------------------------------------

// The dumps of one module: state k is the k-th of them, from 0.
typedef struct Group {
    Dumps *dumps;
    Dump **items;
    size_t count;
} Group;

static HloStatus read_dump(const Group *g, uint64_t k, HloBuffer *out) {
    const char *path = hlo_arena_printf(&g->dumps->arena, "%s/%s", g->dumps->folder, g->items[k]->file);
    return hlo_file_read(path, out);
}

static HloStatus ask_text(const HloPredicate *predicate, HloStringView text, const char *file, bool *out) {
    HloModule *m = NULL;
    HloParseOptions options = {.file_name = file, .hlo_version = HLO_VERSION_2026_08};  // dumps may be of any age
    if (predicate->needs_module) HLO_TRY(hlo_parse_module(text, &options, &m));
    HloStatus status = predicate->holds(predicate->data, m, text, out);
    if (m) hlo_module_free(m);
    return status;
}

static HloStatus ask_dump(void *data, uint64_t k, bool *out) {
    const Group *g = data;
    HloBuffer text = {0};
    HloStatus status = read_dump(g, k, &text);
    if (hlo_is_ok(status)) {
        status = ask_text(g->dumps->predicate, (HloStringView){text.data, text.size}, g->items[k]->file, out);
    }
    hlo_buffer_free(&text);
    return status;
}

static void put_moment(HloBuffer *out, const HloDumpName *name) {
    if (name->before && strcmp(name->after, "pipeline-start") == 0)
        hlo_putf(out, "pass: none, between the last dump and the start of pipeline %s\n", name->pipeline);
    else if (name->before)
        hlo_putf(out, "pass: %s in pipeline %s, before %s\n", name->after, name->pipeline, name->before);
    else if (name->pipeline)
        hlo_putf(out, "pass: %s, %s\n", name->pipeline, name->after);
    else
        hlo_putf(out, "pass: none, between the last dump and %s\n", name->after);
}

static HloStatus put_change(const Group *g, uint64_t k) {
    Dumps *d = g->dumps;
    HloBuffer old = {0}, new = {0};
    HloDiffOptions options = {.context = d->options->context, .colour = d->options->colour};
    HloStatus status = read_dump(g, k - 1, &old);
    if (hlo_is_ok(status)) status = read_dump(g, k, &new);
    if (hlo_is_ok(status)) {
        hlo_put_module_text_diff(d->report, &d->arena, (HloStringView){old.data, old.size},
                                 (HloStringView){new.data, new.size}, &options);
    }
    hlo_buffer_free(&old);
    hlo_buffer_free(&new);
    return status;
}

static HloStatus report_found(const Group *g, uint64_t k) {
    Dumps *d = g->dumps;
    d->found = true;
    hlo_putf(d->report, "found: %s in %s from %s on\n", d->predicate->words, module_label(d, g->items[0]),
             g->items[k]->file);
    put_moment(d->report, &g->items[k]->name);
    return put_change(g, k);
}

// Linear unless the predicate is slow: reading a file costs less than being wrong.
static HloStatus find(Group *g, uint64_t *k, bool *found) {
    const Dumps *d = g->dumps;
    bool by_default = d->options->search == HLO_BISECT_AUTO && d->predicate->is_slow;
    bool is_binary = by_default || d->options->search == HLO_BISECT_BINARY;
    uint64_t last = g->count - 1;
    *k = last;
    if (is_binary) {
        HLO_TRY(ask_dump(g, last, found));
        return *found ? hlo_bisect_search(0, last, false, ask_dump, g, k) : hlo_ok();
    }
    *found = false;
    for (*k = 1; *k <= last; ++*k) {
        HLO_TRY(ask_dump(g, *k, found));
        if (*found) break;
    }
    return hlo_ok();
}

static HloStatus search_module(Group *g) {
    Dumps *d = g->dumps;
    const char *label = module_label(d, g->items[0]);
    bool holds;
    uint64_t k;
    HLO_TRY(ask_dump(g, 0, &holds));
    if (holds) {
        hlo_putf(d->report, "not found: %s in %s from the first dump on\n", d->predicate->words, label);
        return hlo_ok();
    }
    HLO_TRY(find(g, &k, &holds));
    if (holds) return report_found(g, k);
    hlo_putf(d->report, "not found: in no dump of %s it is true that %s\n", label, d->predicate->words);
    return hlo_ok();
}

// ---- all modules ----------------------------------------------------------------------------------------

static HloStatus search_all(void *data) {
    Dumps *d = data;
    HLO_TRY(list_files(d));
    Dump **items = (Dump **)d->list.items;
    for (size_t start = 0, end; start < d->list.count; start = end) {
        for (end = start + 1; end < d->list.count && is_same_module(items[start], items[end]);) end++;
        HLO_TRY(search_module(&(Group){d, items + start, end - start}));
    }
    return hlo_buffer_status(d->report);
}

HloStatus hlo_bisect_dumps(const char *folder, const HloPredicate *predicate, const HloDumpBisectOptions *options,
                           HloBuffer *report, bool *found) {
    Dumps d = {.folder = folder, .predicate = predicate, .options = options, .report = report};
    if (options->module) HLO_TRY(hlo_regex_new(options->module, &d.modules));
    HloStatus status = hlo_guarded((HloArena *const[]){&d.arena, NULL}, search_all, &d);
    *found = d.found;
    hlo_regex_free(d.modules);
    hlo_arena_free(&d.arena);
    return status;
}
