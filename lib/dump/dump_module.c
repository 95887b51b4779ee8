// One moment of a module in every form (dump chapter, §4): text with its reports, proto, graphs; and the moments.

#include "lib/dump/dump.h"

#include "hlo/encode.h"
#include "hlo/graph.h"
#include "hlo/proto.h"

// One event: a stem, and the files that are called after it.
typedef struct Event {
    HloDump *dump;
    const HloModule *m;
    const HloDumpPart *parts;
    size_t part_count;
    HloBuffer stem;
    bool has_file;  // one was written
} Event;

static HloStatus put_file(Event *event, const char *extension, DumpKind kind, HloStringView data) {
    size_t size = event->stem.size;
    bool written = false;
    hlo_put_string(&event->stem, extension);
    HloStatus status = hlo_buffer_status(&event->stem);
    if (hlo_is_ok(status)) status = dump_file(event->dump, event->stem.data, kind, data, &written);
    event->has_file |= written;
    event->stem.size = size;
    if (event->stem.data) event->stem.data[size] = 0;
    return status;
}

// Writes what was made, unless that failed, and frees it.
static HloStatus put_made(Event *event, const char *extension, DumpKind kind, HloStatus status, HloBuffer *data) {
    if (hlo_is_ok(status)) status = hlo_buffer_status(data);
    if (hlo_is_ok(status)) {
        status = put_file(event, extension, kind, (HloStringView){data->data ? data->data : "", data->size});
    }
    hlo_buffer_free(data);
    return status;
}

static HloStatus put_buffer(Event *event, const char *extension, DumpKind kind, HloBuffer *data) {
    return put_made(event, extension, kind, hlo_ok(), data);
}

// ---- forms ----------------------------------------------------------------------------------------------

static HloStatus put_text(Event *event) {
    HloBuffer text = {0};
    hlo_print_module(event->m, &event->dump->print, &text);
    HLO_TRY(put_buffer(event, ".txt", DUMP_TEXT, &text));
    for (size_t k = 0; k < event->part_count; k++) {
        const HloDumpPart *part = &event->parts[k];
        HloBuffer report = {0};
        if (part->kind == HLO_DUMP_REPORT)
            HLO_TRY(put_made(event, part->suffix, DUMP_TEXT, part->put(&report, part->data), &report));
    }
    return hlo_ok();
}

static HloStatus make_proto(const Event *event, HloBuffer *out) {
    HLO_TRY(hlo_proto_write_module(event->m, HLO_PROTO_BINARY, out));
    for (size_t k = 0; k < event->part_count; k++) {
        const HloDumpPart *part = &event->parts[k];
        if (part->kind == HLO_DUMP_FIELDS) HLO_TRY(part->put(out, part->data));
    }
    return hlo_buffer_status(out);
}

// Writes and frees bytes, compressed if that is asked for.
static HloStatus put_packed(Event *event, const char *extension, HloStatus status, HloBuffer *bytes) {
    if (!event->dump->options->xla_dump_compress_protos) return put_made(event, extension, DUMP_BYTES, status, bytes);
    HloBuffer packed = {0}, name = {0};
    hlo_putf(&name, "%s.gz", extension);
    if (hlo_is_ok(status)) status = hlo_buffer_status(&name);
    if (hlo_is_ok(status)) status = hlo_put_gzip(&packed, (HloStringView){bytes->data ? bytes->data : "", bytes->size});
    status = put_made(event, name.data, DUMP_BYTES, status, &packed);
    hlo_buffer_free(bytes);
    hlo_buffer_free(&name);
    return status;
}

static HloStatus put_proto(Event *event) {
    HloBuffer bytes = {0};
    HLO_TRY(put_packed(event, ".hlo.pb", make_proto(event, &bytes), &bytes));
    for (size_t k = 0; k < event->part_count; k++) {
        const HloDumpPart *part = &event->parts[k];
        HloBuffer report = {0};
        if (part->kind == HLO_DUMP_BYTES)
            HLO_TRY(put_packed(event, part->suffix, part->put(&report, part->data), &report));
    }
    return hlo_ok();
}

static HloGraphOptions graph_options(const Event *event) {
    HloGraphOptions options = hlo_graph_default();
    options.title = event->stem.data;
    options.addresses = event->dump->options->xla_hlo_graph_addresses;
    options.colour_by_sharding = event->dump->options->xla_hlo_graph_sharding_color;
    return options;
}

typedef HloStatus (*PutGraph)(HloBuffer *out, const HloComputation *comp, const HloGraphOptions *options);

static HloStatus put_graph(Event *event, const char *extension, bool fusions, PutGraph put) {
    HloBuffer text = {0};
    HloGraphOptions options = graph_options(event);
    options.fusions = fusions;
    return put_made(event, extension, DUMP_BYTES, put(&text, event->m->entry, &options), &text);
}

// No renderer can be registered here, so the address is the reference's message about that.
static HloStatus put_url(Event *event) {
    static const char url[] =
        "Error rendering graph: UNAVAILABLE: Can't render as URL; no URL renderer was registered.";
    HloBuffer line = {0};
    hlo_putf(&line, "%s --> %s\n", event->stem.data, url);
    HloStatus status = hlo_buffer_status(&line);
    if (hlo_is_ok(status)) event->dump->out.write(event->dump->out.data, line.data, line.size);
    hlo_buffer_free(&line);
    if (!hlo_is_ok(status) || !event->dump->folder) return status;
    return put_file(event, ".url", DUMP_BYTES, hlo_view(url));
}

static HloStatus put_forms(Event *event) {
    const DumpForms *forms = &event->dump->forms;
    bool is_optimized = strstr(event->stem.data, "after_optimizations") != NULL;
    if (forms->text) HLO_TRY(put_text(event));
    if (forms->proto) HLO_TRY(put_proto(event));
    if (forms->dot) HLO_TRY(put_graph(event, ".dot", true, hlo_put_dot));
    if (forms->html) HLO_TRY(put_graph(event, ".html", true, hlo_put_graph_page));
    if (forms->html && is_optimized) HLO_TRY(put_graph(event, ".top_level.html", false, hlo_put_graph_page));
    return forms->url ? put_url(event) : hlo_ok();
}

HloStatus dump_module(HloDump *dump, const HloModule *m, const char *suffix, const HloDumpPart *parts,
                      size_t part_count) {
    Event event = {.dump = dump, .m = m, .parts = parts, .part_count = part_count};
    dump_put_name(dump, &event.stem, suffix, true);
    HloStatus status = hlo_buffer_status(&event.stem);
    if (hlo_is_ok(status)) status = put_forms(&event);
    // A module counts after the event that wrote its first file, so all forms of that one are written.
    if (event.has_file && !dump->is_counted) {
        dump->is_counted = true;
        dump->counted++;
    }
    hlo_buffer_free(&event.stem);
    return status;
}

// ---- moments --------------------------------------------------------------------------------------------

HloStatus hlo_dump_stage(HloDump *dump, const HloModule *m, const char *stage, const HloDumpPart *parts,
                         size_t part_count) {
    if (!hlo_dump_wants(dump)) return hlo_ok();
    HLO_TRY(dump_module(dump, m, stage, parts, part_count));
    HloBuffer text = {0};
    hlo_put_debug_options(&text, dump->options);
    HloStatus status = hlo_buffer_status(&text);
    if (hlo_is_ok(status)) {
        status = hlo_dump_bytes(dump, "debug_options", (HloStringView){text.data ? text.data : "", text.size});
    }
    hlo_buffer_free(&text);
    return status;
}

static HloStatus dump_step(HloDump *dump, const HloModule *m, const char *part, const char *rest) {
    HloBuffer suffix = {0};
    hlo_putf(&suffix, "%04llu.%s.%s", (unsigned long long)dump->step, part, rest);
    HloStatus status = hlo_buffer_status(&suffix);
    if (hlo_is_ok(status)) status = dump_module(dump, m, suffix.data, NULL, 0);
    hlo_buffer_free(&suffix);
    dump->step++;
    return status;
}

static bool finds_pass(const HloDump *dump, const char *name) {
    return hlo_regex_finds(dump->passes, hlo_view(name));
}

// §2.5.
static bool wants_point(const HloDump *dump, const HloDumpPoint *point) {
    bool is_start = strcmp(point->after, "pipeline-start") == 0;
    if (!hlo_dump_wants(dump) || !dump->passes) return false;
    if (!finds_pass(dump, point->after) && !finds_pass(dump, point->before)) return false;
    if (dump->pipelines && !hlo_regex_finds(dump->pipelines, hlo_view(point->pipeline))) return false;
    return is_start || point->changed || !dump->only_changes;
}

static HloStatus dump_point(void *data, const HloDumpPoint *point, const HloModule *m) {
    HloDump *dump = data;
    if (!wants_point(dump, point)) return hlo_ok();
    HloBuffer passes = {0};
    hlo_putf(&passes, "after_%s.before_%s", point->after, point->before);
    HloStatus status = hlo_buffer_status(&passes);
    if (hlo_is_ok(status)) status = dump_step(dump, m, point->pipeline, passes.data);
    hlo_buffer_free(&passes);
    return status;
}

// The pattern of pipelines has no say inside a pass, nor has `.*` its meaning (§8.5).
static HloStatus dump_inside(void *data, const char *pass, const char *point, const HloModule *m) {
    HloDump *dump = data;
    if (!hlo_dump_wants(dump) || !finds_pass(dump, pass)) return hlo_ok();
    return dump_step(dump, m, pass, point);
}

HloStatus hlo_dump_observe(HloDump *dump, const HloRunner *runner, const HloPassObserver **out) {
    *out = NULL;
    if (!dump || !dump->passes) return hlo_ok();
    HLO_TRY(hlo_observe_dump(runner, (HloDumpHook){.dump = dump_point, .inside = dump_inside, .data = dump},
                             &dump->observer));
    *out = dump->observer;
    return hlo_ok();
}
