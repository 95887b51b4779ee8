// Running a module: compiled for the CPU, or interpreted.

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "hlo/infer.h"
#include "tools/run_hlo_module/run.h"

double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

Side test_side(const Run *run) {
    return (Side){run->options.platform, run->m, run->debug, run->options.run_passes, false};
}

// ---- compiled -------------------------------------------------------------------------------------------

static HloStatus run_executable(Run *run, const HloModule *m, const HloLlvm *llvm, HloExecutable *executable,
                                int64_t times, HloLiteral **result) {
    const HloLiteral *const *arguments = (const HloLiteral *const *)run->arguments;
    // Written before the run too: a run that does not come back leaves its arguments.
    HLO_TRY(hlo_dump_snapshot(run->dump, m, arguments, run->argument_count, NULL));
    for (int64_t k = 0; k < times; k++) {
        double start = seconds();
        HLO_TRY(llvm->execute(executable, arguments, run->argument_count, &run->arena, result));
        if (run->options.time) fprintf(stderr, "... ran in %.6fs.\n", seconds() - start);
    }
    return hlo_dump_snapshot(run->dump, m, arguments, run->argument_count, *result);
}

static HloStatus compile_and_run(Run *run, HloModule *m, const HloBufferAssignment *buffers, int64_t times,
                                 HloLiteral **result) {
    const HloLlvm *llvm;
    HloExecutable *executable;
    HLO_TRY(hlo_llvm_open(&llvm));
    HLO_TRY(hlo_cpu_dump_object(run->dump, m, buffers));
    double start = seconds();
    HLO_TRY(llvm->compile(m, buffers, &executable));
    if (run->options.time) fprintf(stderr, "... compiled in %.6fs.\n", seconds() - start);
    HloStatus status = run_executable(run, m, llvm, executable, times, result);
    llvm->executable_free(executable);
    return status;
}

static HloCpuRun cpu_run(Run *run, const Side *side) {
    return (HloCpuRun){&side->debug, &run->runner, run->dump, !side->run_passes};
}

HloStatus lower(Run *run, const Side *side, HloModule *m) {
    HloCpuRun cpu = cpu_run(run, side);
    if (!m->is_scheduled && side->run_passes) {
        HLO_TRY(hlo_verify_module(m, &(HloVerifyOptions){.allow_mixed_precision = true}));
    }
    hlo_dump_begin(run->dump, m);
    HLO_TRY(hlo_dump_stage(run->dump, m, "before_optimizations", NULL, 0));
    return hlo_cpu_optimize(&cpu, m);
}

static HloStatus lower_and_run(Run *run, const Side *side, HloModule *m, int64_t times, HloLiteral **result) {
    HloCpuRun cpu = cpu_run(run, side);
    HloBufferAssignment *buffers;
    HLO_TRY(lower(run, side, m));
    HLO_TRY(hlo_cpu_finish_schedule(&cpu, m));
    HLO_TRY(hlo_cpu_place_buffers(&cpu, m, &buffers));
    HloStatus status = compile_and_run(run, m, buffers, times, result);
    hlo_buffer_assignment_free(buffers);
    return status;
}

// Runs a module `times` times on one device; `m` is changed, and is the side's own or a copy of it.
static HloStatus run_compiled(Run *run, const Side *side, HloModule *m, int64_t times, HloLiteral **result) {
    const HloPassObserver *observer = NULL;
    HLO_TRY(hlo_dump_new(&side->debug, hlo_stream_sink(stdout), hlo_stream_sink(stderr), &run->dump));
    HloStatus status = hlo_dump_observe(run->dump, &run->runner, &observer);
    run->runner.observers = &observer;
    run->runner.observer_count = observer != NULL;
    if (hlo_is_ok(status)) status = lower_and_run(run, side, m, times, result);
    run->runner.observer_count = 0;
    hlo_dump_free(run->dump);
    run->dump = NULL;
    return status;
}

// Dumps leave large constants out; the reader puts other values in their place.
void warn_of_elided(const HloModule *m) {
    size_t count = 0;
    HLO_EACH_COMP(comp, m) {
        HLO_EACH_INST(inst, comp) {
            const HloLiteral *literal = hlo_constant(inst);
            count += literal && literal->elided;
        }
    }
    if (count)
        fprintf(stderr, "warning: %zu constant%s elided in the text; made-up values are used\n", count,
                count == 1 ? " is" : "s are");
}

// ---- interpreted ----------------------------------------------------------------------------------------

bool is_interpreter(const char *platform) {
    return strcasecmp(platform, "interpreter") == 0;
}

bool is_default(const char *platform) {
    return strcasecmp(platform, "default") == 0;
}

// Several devices are given the same arguments; the result of each is shown.
static HloStatus show_results(Run *run, HloLiteral *const *results) {
    int64_t partitions = run->options.partitions, count = run->options.replicas * partitions;
    for (int64_t d = 0; d < count; d++) {
        if (count > 1) {
            hlo_putf(&run->out, "replica %lld, partition %lld: ", (long long)(d / partitions),
                     (long long)(d % partitions));
        }
        HLO_TRY(show_result(run, d, results[d]));
    }
    return hlo_ok();
}

// No passes and no buffers: every instruction as it stands, on all devices.
static HloStatus run_interpreter(Run *run, const Side *side, HloLiteral ***out) {
    const Options *options = &run->options;
    size_t count = (size_t)(options->replicas * options->partitions);
    HloEvalFeeds feeds;
    HLO_TRY(hlo_verify_module(side->m, &(HloVerifyOptions){.allow_mixed_precision = true}));
    HLO_TRY(read_infeeds(run, &feeds));
    run->next_outfed = 0;
    feeds.outfed = side->is_reference ? NULL : take_outfed;
    const HloLiteral *const **args = HLO_NEW_ARRAY(&run->arena, const HloLiteral *const *, count);
    for (size_t d = 0; d < count; d++) args[d] = (const HloLiteral *const *)run->arguments;
    *out = HLO_NEW_ARRAY(&run->arena, HloLiteral *, count);
    HloEvalLimits limits = {(uint64_t)options->most_steps, (uint64_t)options->most_trips, (size_t)options->most_bytes};
    double start = seconds();
    HLO_TRY(hlo_eval_devices(side->m, &(HloEvalOptions){.limits = limits, .seed = run->seed, .feeds = &feeds},
                             options->replicas, options->partitions, &run->arena, args, run->argument_count, *out));
    if (options->time) fprintf(stderr, "... ran in %.6fs.\n", seconds() - start);
    return hlo_ok();
}

// One run; the result is that of the first device, and its shapes are run->m's, since the side's module goes first.
HloStatus run_once(Run *run, const Side *side, HloLiteral **result) {
    if (is_interpreter(side->platform)) {
        HloLiteral **results;
        HLO_TRY(run_interpreter(run, side, &results));
        *result = hlo_literal_clone(&run->arena, results[0], run->m->entry->root->shape);
        return hlo_ok();
    }
    HloModule *copy = hlo_module_clone(side->m);
    if (!copy) return hlo_out_of_memory();
    HloStatus status = run_compiled(run, side, copy, 1, result);
    if (hlo_is_ok(status)) *result = hlo_literal_clone(&run->arena, *result, run->m->entry->root->shape);
    hlo_module_free(copy);
    return status;
}

// ---- showing --------------------------------------------------------------------------------------------

// The seed of a module's random numbers.
void choose_seed(Run *run, int64_t iteration) {
    enum { USUAL_SEED = 42 };
    run->seed = run->options.different_seeds ? (uint64_t)iteration + 1 : USUAL_SEED;
}

HloStatus run_and_show(Run *run) {
    HloLiteral *result = NULL, **results = NULL;
    Side side = test_side(run);
    HLO_TRY(make_arguments(run, 0));
    HLO_TRY(print_arguments(run));
    if (!is_interpreter(side.platform)) {
        HLO_TRY(run_compiled(run, &side, run->m, run->options.iterations, &result));
        keep_values(run, result, NULL);
        return result ? show_result(run, 0, result) : hlo_ok();
    }
    for (int64_t k = 0; k < run->options.iterations; k++) {
        choose_seed(run, k);
        HLO_TRY(run_interpreter(run, &side, &results));
    }
    if (!results) return hlo_ok();
    keep_values(run, results[0], NULL);
    return show_results(run, results);
}
