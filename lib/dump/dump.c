// What options make of dumping: where to, which modules, which forms (dump chapter, §2); and the module at hand.

#include "lib/dump/dump.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

// ---- options --------------------------------------------------------------------------------------------

// The forms that are asked for by name; without any it is text. *has_form: one is that asks for a place to write to.
static DumpForms read_forms(const HloDebugOptions *o, bool *has_form) {
    DumpForms forms = {.text = o->xla_dump_hlo_as_text,
                       .proto = o->xla_dump_hlo_as_proto,
                       .riegeli = o->xla_dump_hlo_as_riegeli,
                       .dot = o->xla_dump_hlo_as_dot,
                       .html = o->xla_dump_hlo_as_html,
                       .url = o->xla_dump_hlo_as_url};
    bool snapshots = o->xla_dump_hlo_snapshots || o->xla_dump_hlo_unoptimized_snapshots;
    *has_form = forms.text || forms.proto || forms.riegeli || forms.dot || forms.html || snapshots;
    forms.text |= !*has_form && !forms.url;
    return forms;
}

// §2.2: `-` is standard output, two words name the folder that test runners give, and nothing at all is standard output
// too when a form other than a URL is asked for. False: there is no place to write to.
static bool find_place(HloDump *dump, bool has_form) {
    const char *to = dump->options->xla_dump_to;
    if (!dump->options->xla_enable_dumping && *to) return false;
    if (!*to) return has_form;
    if (strcmp(to, "-") == 0) return true;
    dump->folder = to;
    if (strcasecmp(to, "sponge") != 0 && strcasecmp(to, "test_undeclared_outputs_dir") != 0) return true;
    dump->folder = getenv("TEST_UNDECLARED_OUTPUTS_DIR");
    if (!dump->folder) {
        dump_log(dump,
                 "--xla_dump_to=%s, but environment variable TEST_UNDECLARED_OUTPUTS_DIR is not set, so cannot dump "
                 "anywhere.",
                 to);
    }
    return dump->folder != NULL;
}

static HloStatus read_pattern(const char *flag, const char *pattern, HloRegex **out) {
    if (!*pattern) return hlo_ok();
    return hlo_error_context(hlo_regex_new(pattern, out), "--%s", flag);
}

static HloStatus read_patterns(HloDump *dump) {
    const HloDebugOptions *o = dump->options;
    HLO_TRY(read_pattern("xla_dump_hlo_module_re", o->xla_dump_hlo_module_re, &dump->modules));
    HLO_TRY(read_pattern("xla_dump_hlo_pass_re", o->xla_dump_hlo_pass_re, &dump->passes));
    HLO_TRY(read_pattern("xla_dump_hlo_pipeline_re", o->xla_dump_hlo_pipeline_re, &dump->pipelines));
    dump->only_changes = strcmp(o->xla_dump_hlo_pass_re, ".*") == 0;
    return read_pattern("xla_dump_emitter_re", o->xla_dump_emitter_re, &dump->emitters);
}

static HloStatus refuse_missing(const HloDebugOptions *o) {
    if (o->xla_dump_hlo_as_riegeli) {
        return hlo_error(HLO_UNIMPLEMENTED, "--xla_dump_hlo_as_riegeli is not implemented");
    }
    if (!o->xla_dump_hlo_unoptimized_snapshots) return hlo_ok();
    return hlo_error(HLO_UNIMPLEMENTED, "--xla_dump_hlo_unoptimized_snapshots is not implemented");
}

// The reference writes nothing and says nothing when only patterns are given.
static void warn_of_patterns(const HloDump *dump) {
    if (!dump->passes && !dump->emitters && !dump->modules) return;
    if (*dump->options->xla_dump_to) return;
    dump_log(dump, "warning: nothing is dumped without --xla_dump_to=FOLDER or a form such as --xla_dump_hlo_as_text");
}

HloStatus hlo_dump_new(const HloDebugOptions *options, HloSink out, HloSink log, HloDump **dump) {
    *dump = NULL;
    HloDump *d = calloc(1, sizeof *d);
    if (!d) return hlo_out_of_memory();
    d->options = options;
    d->print = hlo_debug_print_options(options);
    d->out = out;
    d->log = log;
    bool has_form;
    d->forms = read_forms(options, &has_form);
    HloStatus status = read_patterns(d);
    bool has_place = hlo_is_ok(status) && find_place(d, has_form);
    if (has_place) status = refuse_missing(options);
    if (hlo_is_ok(status) && !has_place) warn_of_patterns(d);
    if (hlo_is_ok(status) && has_place)
        *dump = d;
    else
        hlo_dump_free(d);
    return status;
}

void hlo_dump_free(HloDump *dump) {
    if (!dump) return;
    hlo_observer_free(dump->observer);
    hlo_regex_free(dump->modules);
    hlo_regex_free(dump->passes);
    hlo_regex_free(dump->pipelines);
    hlo_regex_free(dump->emitters);
    hlo_buffer_free(&dump->last_folder);
    free(dump);
}

void dump_log(const HloDump *dump, const char *format, ...) {
    char line[1024];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(line, sizeof line - 1, format, args);
    va_end(args);
    if (size < 0) return;
    size_t end = (size_t)size < sizeof line - 1 ? (size_t)size : sizeof line - 2;
    line[end] = '\n';
    dump->log.write(dump->log.data, line, end + 1);
}

// ---- the module at hand ---------------------------------------------------------------------------------

void hlo_dump_begin(HloDump *dump, const HloModule *m) {
    if (!dump) return;
    dump->m = m;
    dump->number = dump->begun++;
    dump->step = 0;
    dump->timestamp_us = 0;
    dump->is_counted = dump->has_folder = false;
    dump->is_wanted = !dump->modules || hlo_regex_finds(dump->modules, hlo_view(m->name));
}

bool hlo_dump_wants(const HloDump *dump) {
    return dump && dump->is_wanted;
}

bool hlo_dump_wants_text(const HloDump *dump) {
    return hlo_dump_wants(dump) && dump->forms.text;
}

bool hlo_dump_wants_emitter(const HloDump *dump, const char *emitter) {
    return hlo_dump_wants(dump) && dump->emitters && hlo_regex_finds(dump->emitters, hlo_view(emitter));
}
