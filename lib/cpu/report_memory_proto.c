// The report `-memory-usage-report.pb`: MemoryUsageReportProto (buffer assignment chapter, §7).

#include "lib/cpu/report_memory.h"
#include "lib/proto/message.h"

#include "hlo.pb-c.h"

typedef Xla__MemoryUsageReportProto__AllocationEntry AllocationEntry;
typedef Xla__MemoryUsageReportProto__ColorEntry ColorEntry;

// What an appending function has written into the report's buffer, taken out of it.
static char *take_text(MemoryReport *report) {
    HloBuffer *out = report->out;
    char *text = hlo_arena_string(&report->scratch, out->data ? out->data : "", out->size);
    out->size = 0;
    return text;
}

// `name`, or `name {1}` of a tuple.
static char *position_text(MemoryReport *report, const HloValue *value) {
    const HloInstruction *inst = value->inst;
    hlo_put_string(report->out, inst->name);
    if (hlo_shape_is_tuple(inst->shape)) {
        HloDims index = hlo_node_index(&report->assignment->flow->nodes, &report->scratch, inst->shape, value->node);
        hlo_put_char(report->out, ' ');
        hlo_put_int_list(report->out, index.data, index.count);
    }
    return take_text(report);
}

static AllocationEntry *write_entry(MemoryReport *report, const Block *block, int64_t cumulative, int64_t total) {
    AllocationEntry *out =
        hlo_message_new(&report->scratch, &xla__memory_usage_report_proto__allocation_entry__descriptor);
    out->index = block->facts.index;
    out->size = block->facts.size_bytes;
    out->cumulative_size = cumulative;
    out->cumulative_percentage = (double)cumulative / (double)total;
    out->n_defining_positions = block->count;
    out->defining_positions = HLO_NEW_ARRAY(&report->scratch, char *, block->count);
    for (size_t k = 0; k < block->count; k++) {
        const HloValue *value = hlo_flow_value(report->assignment->flow, block->values[k]);
        out->defining_positions[k] = position_text(report, value);
    }
    put_memory_table(report, block);
    out->hlo_text = take_text(report);
    return out;
}

static void write_space(MemoryReport *report, const Block *const *blocks, size_t count) {
    ColorEntry *out = hlo_message_new(&report->scratch, &xla__memory_usage_report_proto__color_entry__descriptor);
    int64_t total = 0, cumulative = 0;
    for (size_t k = 0; k < count; k++) total = add_bytes(total, blocks[k]->facts.size_bytes);
    out->total_bytes = total;
    out->memory_space_case = XLA__MEMORY_USAGE_REPORT_PROTO__COLOR_ENTRY__MEMORY_SPACE_MEMORY_SPACE_COLOR;
    out->memory_space_color = blocks[0]->color;
    out->allocation_entries = HLO_NEW_ARRAY(&report->scratch, AllocationEntry *, count);
    for (size_t k = 0; k < count; k++) {
        cumulative = add_bytes(cumulative, blocks[k]->facts.size_bytes);
        out->allocation_entries[out->n_allocation_entries++] = write_entry(report, blocks[k], cumulative, total);
        if (is_rest_small(k, cumulative, total)) break;
    }
    hlo_vec_push(&report->scratch, &report->entries, out);
}

typedef struct Call {
    MemoryReport report;
    HloBuffer text, *out;
} Call;

static HloStatus write_report(void *data) {
    Call *call = data;
    each_memory_space(&call->report, write_space);
    HLO_TRY(hlo_buffer_status(&call->text));
    Xla__MemoryUsageReportProto *out =
        hlo_message_new(&call->report.scratch, &xla__memory_usage_report_proto__descriptor);
    out->n_entries = call->report.entries.count;
    out->entries = (ColorEntry **)call->report.entries.items;
    return hlo_wire_write(out, call->out);
}

HloStatus hlo_put_memory_usage_proto(HloBuffer *out, const HloBufferAssignment *assignment) {
    Call call = {.report = {.assignment = assignment}, .out = out};
    call.report.out = &call.text;
    HloStatus status = hlo_guarded((HloArena *const[]){&call.report.scratch, NULL}, write_report, &call);
    hlo_buffer_free(&call.text);
    hlo_arena_free(&call.report.scratch);
    return status;
}
