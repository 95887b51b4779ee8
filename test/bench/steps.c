// What is timed.

#include "steps.h"

#include <time.h>

#include "hlo/infer.h"
#include "hlo/stages.h"

HloStatus step_parse(Subject *subject) {
    HloModule *m;
    HLO_TRY(hlo_parse_module(subject->text, &(HloParseOptions){0}, &m));
    hlo_module_free(m);
    return hlo_ok();
}

HloStatus step_print(Subject *subject) {
    HloPrintOptions print = hlo_print_dump();
    subject->out.size = 0;
    hlo_print_module(subject->m, &print, &subject->out);
    return hlo_buffer_status(&subject->out);
}

HloStatus step_verify(Subject *subject) {
    return hlo_verify_module(subject->m, &(HloVerifyOptions){.allow_mixed_precision = true});
}

HloStatus step_pass(Subject *subject) {
    HloRunner runner = {0};
    bool changed;
    return hlo_pipeline_run(subject->pipeline, subject->copy, &runner, &changed);
}

HloStatus step_stage(Subject *subject) {
    HloRunner runner = {0};
    HloPrintOptions print = hlo_print_dump();
    HloDebugOptions options = hlo_debug_options_default();
    subject->out.size = 0;
    HloCpuRun run = {.options = &options, .runner = &runner};
    return hlo_stage_run(HLO_PLATFORM_CPU, subject->stage, subject->copy, &run, &print, &subject->out);
}

// Time of the processor: what else runs on the machine disturbs it least.
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double step_time(Step step, Subject *subject, bool needs_copy, HloStatus *status) {
    if (needs_copy) {
        subject->copy = hlo_module_clone(subject->m);
        if (!subject->copy) {
            *status = hlo_out_of_memory();
            return -1;
        }
    }
    double start = now();
    *status = step(subject);
    double taken = now() - start;
    if (needs_copy) hlo_module_free(subject->copy);
    return hlo_is_ok(*status) ? taken : -1;
}
