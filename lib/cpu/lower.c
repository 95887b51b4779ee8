// The way of a module to its buffers, and what is dumped on it (CPU pipeline chapter, §1.1).

#include "hlo/cpu.h"

HloStatus hlo_cpu_optimize(const HloCpuRun *run, HloModule *m) {
    if (m->is_scheduled || run->skip_passes) return hlo_ok();
    return hlo_cpu_run_passes(HLO_CPU_BEFORE_SCHEDULE, run->options, m, run->runner);
}

HloStatus hlo_cpu_finish_schedule(const HloCpuRun *run, HloModule *m) {
    HLO_TRY(hlo_cpu_schedule(m));
    return hlo_cpu_run_passes(HLO_CPU_AFTER_SCHEDULE, run->options, m, run->runner);
}

// ---- dumps ----------------------------------------------------------------------------------------------

static HloStatus put_allocations(HloBuffer *out, const void *data) {
    hlo_put_buffer_assignment(out, data);
    return hlo_ok();
}

static HloStatus put_values(HloBuffer *out, const void *data) {
    hlo_put_buffer_values(out, data);
    return hlo_ok();
}

static HloStatus put_live_ranges(HloBuffer *out, const void *data) {
    hlo_put_live_ranges(out, data);
    return hlo_ok();
}

static HloStatus put_usage(HloBuffer *out, const void *data) {
    hlo_put_memory_usage_report(out, data);
    return hlo_ok();
}

static HloStatus put_assignment_field(HloBuffer *out, const void *data) {
    return hlo_put_buffer_assignment_proto(out, data);
}

static HloStatus put_usage_proto(HloBuffer *out, const void *data) {
    return hlo_put_memory_usage_proto(out, data);
}

static const struct {
    HloDumpPart part;
    bool is_analysis;  // xla_dump_buffer_assignment_analysis
} buffer_parts[] = {
    {{HLO_DUMP_REPORT, "-buffer-assignment.txt", put_allocations, NULL}, false},
    {{HLO_DUMP_REPORT, "-buffer-assignment-values.txt", put_values, NULL}, true},
    {{HLO_DUMP_REPORT, "-live-range.txt", put_live_ranges, NULL}, true},
    {{HLO_DUMP_REPORT, "-memory-usage-report.txt", put_usage, NULL}, false},
    {{HLO_DUMP_BYTES, "-memory-usage-report.pb", put_usage_proto, NULL}, false},
    {{HLO_DUMP_FIELDS, "", put_assignment_field, NULL}, false},
};

static HloStatus dump_stage(const HloCpuRun *run, const HloModule *m, const HloBufferAssignment *assignment) {
    HloDumpPart parts[HLO_COUNT(buffer_parts)];
    size_t count = 0;
    for (size_t k = 0; k < HLO_COUNT(buffer_parts); k++) {
        if (buffer_parts[k].is_analysis && !run->options->xla_dump_buffer_assignment_analysis) continue;
        parts[count] = buffer_parts[k].part;
        parts[count++].data = assignment;
    }
    return hlo_dump_stage(run->dump, m, "cpu_after_optimizations", parts, count);
}

static HloStatus dump_code(HloDump *dump, const char *suffix, const HloModule *m, const HloBufferAssignment *assignment,
                           HloCodeStage stage) {
    const HloLlvm *llvm;
    HLO_TRY(hlo_llvm_open(&llvm));
    HloBuffer code = {0};
    HloStatus status = llvm->emit(m, assignment, stage, &code);
    HloStringView view = {code.data ? code.data : "", code.size};
    bool is_text = stage != HLO_CODE_OBJECT;
    if (hlo_is_ok(status)) status = is_text ? hlo_dump_text(dump, suffix, view) : hlo_dump_bytes(dump, suffix, view);
    hlo_buffer_free(&code);
    return status;
}

static HloStatus dump_ir(HloDump *dump, const HloModule *m, const HloBufferAssignment *assignment) {
    if (!hlo_dump_wants_emitter(dump, "llvm")) return hlo_ok();
    HLO_TRY(dump_code(dump, "ir-no-opt.ll", m, assignment, HLO_CODE_LLVM_BEFORE_OPT));
    return dump_code(dump, "ir-with-opt.ll", m, assignment, HLO_CODE_LLVM);
}

HloStatus hlo_cpu_dump_object(HloDump *dump, const HloModule *m, const HloBufferAssignment *assignment) {
    if (!hlo_dump_wants(dump)) return hlo_ok();
    return dump_code(dump, "obj-file.o", m, assignment, HLO_CODE_OBJECT);
}

// ---- buffers --------------------------------------------------------------------------------------------

HloStatus hlo_cpu_place_buffers(const HloCpuRun *run, const HloModule *m, HloBufferAssignment **out) {
    HloBufferAssignment *assignment;
    HLO_TRY(hlo_assign_buffers(m, &assignment));
    HloStatus status = dump_stage(run, m, assignment);
    if (hlo_is_ok(status)) status = dump_ir(run->dump, m, assignment);
    if (hlo_is_ok(status))
        *out = assignment;
    else
        hlo_buffer_assignment_free(assignment);
    return status;
}
