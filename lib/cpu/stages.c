// The way of a module through a platform's stages; each stage starts from the one before it.

#include "hlo/stages.h"

#include "hlo/cpu.h"

typedef enum Need { NEED_PASSES, NEED_SCHEDULE, NEED_BUFFERS, NEED_CODE } Need;

typedef void (*Report)(HloBuffer *out, const HloBufferAssignment *assignment);

typedef struct Stage {
    const char *name;
    Need need;
    HloCodeStage code;  // NEED_CODE
    Report report;      // NEED_BUFFERS
} Stage;

// Sorted by name.
static const Stage cpu_stages[] = {
    {"asm", NEED_CODE, .code = HLO_CODE_ASM},
    {"buffer-assignment", NEED_BUFFERS, .report = hlo_put_buffer_assignment},
    {"hlo", NEED_PASSES},
    {"hlo-backend", NEED_SCHEDULE},
    {"live-range", NEED_BUFFERS, .report = hlo_put_live_ranges},
    {"llvm", NEED_CODE, .code = HLO_CODE_LLVM},
    {"llvm-before-optimizations", NEED_CODE, .code = HLO_CODE_LLVM_BEFORE_OPT},
    {"memory-usage-report", NEED_BUFFERS, .report = hlo_put_memory_usage_report},
};

void hlo_put_stages(HloPlatform platform, HloBuffer *out) {
    if (platform == HLO_PLATFORM_TRANSFORMS) hlo_put_string(out, "hlo\n");
    if (platform != HLO_PLATFORM_CPU) return;
    for (size_t i = 0; i < HLO_COUNT(cpu_stages); i++) hlo_putf(out, "%s\n", cpu_stages[i].name);
}

static const Stage *find_stage(const char *name) {
    for (size_t i = 0; i < HLO_COUNT(cpu_stages); i++) {
        if (strcmp(cpu_stages[i].name, name) == 0) return &cpu_stages[i];
    }
    return NULL;
}

static HloStatus emit_buffers(const Stage *stage, const HloModule *m, const HloBufferAssignment *assignment,
                              HloBuffer *out) {
    if (stage->need == NEED_BUFFERS) {
        stage->report(out, assignment);
        return hlo_ok();
    }
    const HloLlvm *llvm;
    HLO_TRY(hlo_llvm_open(&llvm));
    return llvm->emit(m, assignment, stage->code, out);
}

HloStatus hlo_put_platform_pipeline(HloPlatform platform, const HloDebugOptions *options, HloBuffer *out) {
    if (platform != HLO_PLATFORM_CPU) return hlo_ok();
    HloArena arena = {0};
    HloElement *list;
    HloStatus status = hlo_cpu_pipeline(&arena, HLO_CPU_WHOLE, options, NULL, &list);
    if (hlo_is_ok(status)) hlo_pipeline_print_lines(list, out);
    hlo_arena_free(&arena);
    return status;
}

static HloStatus run_cpu(const Stage *stage, HloModule *m, HloRunner *runner, const HloDebugOptions *options,
                         const HloPrintOptions *print, HloBuffer *out) {
    if (!m->is_scheduled) HLO_TRY(hlo_cpu_run_passes(HLO_CPU_BEFORE_SCHEDULE, options, m, runner));
    if (stage->need >= NEED_SCHEDULE) {
        HLO_TRY(hlo_cpu_schedule(m));
        HLO_TRY(hlo_cpu_run_passes(HLO_CPU_AFTER_SCHEDULE, options, m, runner));
    }
    if (stage->need < NEED_BUFFERS) {
        hlo_print_module(m, print, out);
        return hlo_ok();
    }
    HloBufferAssignment *assignment;
    HLO_TRY(hlo_assign_buffers(m, &assignment));
    HloStatus status = emit_buffers(stage, m, assignment, out);
    hlo_buffer_assignment_free(assignment);
    return status;
}

HloStatus hlo_stage_run(HloPlatform platform, const char *name, HloModule *m, HloRunner *runner,
                        const HloDebugOptions *options, const HloPrintOptions *print, HloBuffer *out) {
    if (platform == HLO_PLATFORM_TRANSFORMS) {
        hlo_print_module(m, print, out);
        return hlo_ok();
    }
    if (platform == HLO_PLATFORM_GPU) return hlo_error(HLO_UNIMPLEMENTED, "platform gpu has no stages, only passes");
    const Stage *stage = find_stage(name);
    if (!stage) return hlo_error(HLO_UNIMPLEMENTED, "unknown stage '%s'; --list-stages names them", name);
    return run_cpu(stage, m, runner, options, print, out);
}
