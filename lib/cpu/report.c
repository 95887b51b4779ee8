// The reports `-buffer-assignment.txt` and `-buffer-assignment-values.txt` (§6.1 and §6.2 of the chapter).

#include "lib/cpu/assignment.h"

#include "hlo/text.h"

#include <stdlib.h>

// ---- pieces ---------------------------------------------------------------------------------------------

// Truncates while dividing, so 1048575 is `1024.0KiB`.
void put_human_bytes(HloBuffer *out, int64_t bytes) {
    static const char units[] = "KMGTPE";
    if (bytes < 0) {
        hlo_put_char(out, '-');
        bytes = bytes == INT64_MIN ? INT64_MAX : -bytes;
    }
    if (bytes < 1024) {
        hlo_putf(out, "%lldB", (long long)bytes);
        return;
    }
    size_t unit = 0;
    for (; bytes >= 1024 * 1024; bytes /= 1024) unit++;
    hlo_putf(out, "%.*f%ciB", unit ? 2 : 1, (double)bytes / 1024, units[unit]);
}

static void put_index(HloBuffer *out, const HloBufferAssignment *assignment, HloArena *scratch,
                      const HloInstruction *inst, uint32_t node) {
    HloDims index = hlo_node_index(&assignment->flow->nodes, scratch, inst->shape, node);
    hlo_put_int_list(out, index.data, index.count);
}

void put_value(HloBuffer *out, const HloBufferAssignment *assignment, HloArena *scratch, const HloValue *value) {
    hlo_putf(out, "<%d %s", value->id, value->inst->name);
    if (hlo_shape_is_tuple(value->inst->shape)) put_index(out, assignment, scratch, value->inst, value->node);
    if (value->is_phi) hlo_put_string(out, " (phi)");
    hlo_putf(out, " @%lld>", (long long)color_of(value));
}

static int64_t total_bytes(const HloBufferAssignment *assignment) {
    int64_t total = 0;
    for (size_t k = 0; k < hlo_allocation_count(assignment); k++) {
        total = add_bytes(total, hlo_allocation(assignment, k)->size_bytes);
    }
    return total;
}

// ---- allocations ----------------------------------------------------------------------------------------

typedef struct Report {
    HloBuffer *out;
    const HloBufferAssignment *assignment;
    HloArena scratch;
} Report;

static void put_parameter(Report *report, const HloAllocation *facts) {
    const HloComputation *entry = report->assignment->m->entry;
    const HloShape *shape = hlo_parameter(entry, (size_t)facts->parameter_number)->shape;
    hlo_putf(report->out, ", parameter %lld, shape |", (long long)facts->parameter_number);
    hlo_put_shape(report->out, hlo_shape_at(shape, facts->parameter_index.data, facts->parameter_index.count), false);
    hlo_put_string(report->out, "| at ShapeIndex ");
    hlo_put_int_list(report->out, facts->parameter_index.data, facts->parameter_index.count);
}

static void put_heading(Report *report, const Block *block) {
    const HloAllocation *facts = &block->facts;
    HloBuffer *out = report->out;
    hlo_putf(out, "allocation %lld: size %lld", (long long)facts->index, (long long)facts->size_bytes);
    if (block->color) hlo_putf(out, ", color %lld", (long long)block->color);
    if (facts->is_parameter) put_parameter(report, facts);
    if (block->holds_root) {
        hlo_put_string(out, ", output shape is |");
        hlo_put_shape(out, report->assignment->m->entry->root->shape, false);
        hlo_put_char(out, '|');
    }
    if (facts->is_constant) hlo_put_string(out, ", constant");
    if (facts->is_thread_local) hlo_put_string(out, ", thread-local");
    if (facts->maybe_live_out) hlo_put_string(out, ", maybe-live-out");
    bool is_temporary =
        !facts->is_parameter && !facts->is_constant && !facts->is_thread_local && !facts->maybe_live_out;
    if (is_temporary) hlo_put_string(out, ", preallocated-temp");
    hlo_put_string(out, ":\n");
}

static void put_block(Report *report, const Block *block) {
    const HloBufferAssignment *assignment = report->assignment;
    put_heading(report, block);
    for (size_t i = 0; i < block->count; i++) {
        const HloValue *value = hlo_flow_value(assignment->flow, block->values[i]);
        hlo_put_string(report->out, " value: ");
        put_value(report->out, assignment, &report->scratch, value);
        hlo_putf(report->out, " (size=%lld,offset=%lld): ", (long long)assignment->size_of[value->id],
                 (long long)assignment->offset_of[value->id]);
        hlo_put_shape(report->out, value->shape, true);
        hlo_put_char(report->out, '\n');
    }
}

static HloStatus put_allocations(void *data) {
    Report *report = data;
    hlo_put_string(report->out, "BufferAssignment:\n");
    for (size_t k = 0; k < report->assignment->blocks.count; k++) put_block(report, block_at(report->assignment, k));
    return hlo_ok();
}

static void run_report(HloBuffer *out, const HloBufferAssignment *assignment, HloStatus (*body)(void *)) {
    Report report = {.out = out, .assignment = assignment};
    HloStatus status = hlo_guarded((HloArena *const[]){&report.scratch, NULL}, body, &report);
    if (!hlo_is_ok(status)) out->failed = true;
    hlo_status_free(status);
    hlo_arena_free(&report.scratch);
}

void hlo_put_buffer_assignment(HloBuffer *out, const HloBufferAssignment *assignment) {
    run_report(out, assignment, put_allocations);
}

// ---- values ---------------------------------------------------------------------------------------------

static void put_position(Report *report, const HloInstruction *inst, uint32_t node) {
    hlo_putf(report->out, "  %s", inst->name);
    if (hlo_shape_is_tuple(inst->shape)) {
        hlo_put_char(report->out, ' ');
        put_index(report->out, report->assignment, &report->scratch, inst, node);
    }
    hlo_put_char(report->out, '\n');
}

static void put_use(Report *report, const HloUse *use) {
    hlo_putf(report->out, "  %s, operand %u", use->user->name, use->operand);
    const HloInstruction *operand = hlo_operand(use->user, use->operand);
    if (hlo_shape_is_tuple(operand->shape)) {
        hlo_put_char(report->out, ' ');
        put_index(report->out, report->assignment, &report->scratch, operand, use->node);
    }
    hlo_put_char(report->out, '\n');
}

static void put_value_block(Report *report, const HloValue *value, const HloPrintOptions *print) {
    put_value(report->out, report->assignment, &report->scratch, value);
    hlo_put_string(report->out, "\n positions:\n");
    for (size_t i = 0; i < value->position_count; i++) {
        put_position(report, value->positions[i].inst, value->positions[i].node);
    }
    hlo_put_string(report->out, " uses:\n");
    if (!value->use_count) hlo_put_string(report->out, "  (none)\n");
    for (size_t i = 0; i < value->use_count; i++) put_use(report, &value->uses[i]);
    hlo_put_string(report->out, " from instruction: ");
    hlo_print_instruction(value->inst, print, report->out);
    hlo_put_char(report->out, '\n');
}

static HloStatus put_values(void *data) {
    Report *report = data;
    int64_t total = total_bytes(report->assignment);
    hlo_putf(report->out, "\nTotal bytes used: %lld (", (long long)total);
    put_human_bytes(report->out, total);
    hlo_put_string(report->out, ")\n\nUsed values:\n");
    const HloPrintOptions print = hlo_print_default();
    for (size_t v = 0; v < report->assignment->flow->value_limit; v++) {
        if (!report->assignment->block_of[v]) continue;
        put_value_block(report, hlo_flow_value(report->assignment->flow, (int32_t)v), &print);
    }
    return hlo_ok();
}

void hlo_put_buffer_values(HloBuffer *out, const HloBufferAssignment *assignment) {
    run_report(out, assignment, put_values);
}
