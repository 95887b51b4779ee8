// The way of a module through a platform's stages; each stage starts from the one before it.

#include "hlo/stages.h"

#include "hlo/graph.h"

typedef enum Need { NEED_PASSES, NEED_PAGE, NEED_SCHEDULE, NEED_BUFFERS, NEED_CODE } Need;

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
    {"html", NEED_PAGE},
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

static HloStatus emit_code(const Stage *stage, const HloCpuRun *run, const HloModule *m,
                           const HloBufferAssignment *assignment, HloBuffer *out) {
    const HloLlvm *llvm;
    HLO_TRY(hlo_llvm_open(&llvm));
    HLO_TRY(hlo_cpu_dump_object(run->dump, m, assignment));
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

static HloStatus put_page(const HloModule *m, HloBuffer *out) {
    HloGraphOptions options = hlo_graph_default();
    options.title = m->name;
    options.backend_config = true;
    return hlo_put_graph_page(out, m->entry, &options);
}

// A dump shows the buffers even when the stage does not.
static HloStatus run_backend(const Stage *stage, const HloCpuRun *run, HloModule *m, const HloPrintOptions *print,
                             HloBuffer *out) {
    HLO_TRY(hlo_cpu_finish_schedule(run, m));
    HloBufferAssignment *assignment = NULL;
    if (stage->need >= NEED_BUFFERS || hlo_dump_wants(run->dump)) HLO_TRY(hlo_cpu_place_buffers(run, m, &assignment));
    HloStatus status = hlo_ok();
    if (stage->need == NEED_SCHEDULE)
        hlo_print_module(m, print, out);
    else if (stage->need == NEED_BUFFERS)
        stage->report(out, assignment);
    else
        status = emit_code(stage, run, m, assignment, out);
    hlo_buffer_assignment_free(assignment);
    return status;
}

static HloStatus run_cpu(const Stage *stage, HloModule *m, const HloCpuRun *run, const HloPrintOptions *print,
                         HloBuffer *out) {
    HLO_TRY(hlo_cpu_optimize(run, m));
    if (stage->need >= NEED_SCHEDULE) return run_backend(stage, run, m, print, out);
    if (stage->need == NEED_PAGE) return put_page(m, out);
    hlo_print_module(m, print, out);
    return hlo_ok();
}

HloStatus hlo_stage_run(HloPlatform platform, const char *name, HloModule *m, const HloCpuRun *run,
                        const HloPrintOptions *print, HloBuffer *out) {
    if (platform == HLO_PLATFORM_TRANSFORMS) {
        hlo_print_module(m, print, out);
        return hlo_ok();
    }
    if (platform == HLO_PLATFORM_GPU) return hlo_error(HLO_UNIMPLEMENTED, "platform gpu has no stages, only passes");
    const Stage *stage = find_stage(name);
    if (!stage) return hlo_error(HLO_UNIMPLEMENTED, "unknown stage '%s'; --list-stages names them", name);
    return run_cpu(stage, m, run, print, out);
}
