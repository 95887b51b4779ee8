// One line per rewrite.

#include <inttypes.h>

#include "lib/pass/observe.h"

static void put_rewrite(HloBuffer *out, const HloRewriteEvent *event) {
    hlo_putf(out, "#%" PRIu64 " %s: %s ", event->number, event->pass, event->rule);
    if (event->old_inst) hlo_putf(out, " %%%s", event->old_inst->name);
    if (!event->new_inst)
        hlo_put_string(out, " removed");
    else if (event->new_inst != event->old_inst)
        hlo_putf(out, " -> %%%s", event->new_inst->name);
    hlo_put_char(out, '\n');
}

static void trace(void *data, const HloRewriteEvent *event) {
    const HloSink *sink = data;
    HloBuffer line = {0};
    put_rewrite(&line, event);
    if (line.size) sink->write(sink->data, line.data, line.size);
    hlo_buffer_free(&line);
}

void hlo_trace_rewrites(HloRunner *runner, const HloSink *sink) {
    runner->log.on_rewrite = trace;
    runner->log.data = (void *)(uintptr_t)sink;
}
