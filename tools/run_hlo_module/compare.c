// Comparing two platforms on the same arguments, and the module before and after the passes (tools chapter, §3.1).

#include <stdio.h>
#include <stdlib.h>

#include "hlo/first_difference.h"
#include "hlo/infer.h"
#include "tools/run_hlo_module/run.h"

// ---- the reference --------------------------------------------------------------------------------------

// Undoes what a compiler did to the module. The one element is the pipeline that the name stands for.
static HloStatus despecialize(Run *run, HloModule *m) {
    HloElement *list;
    HloRunner runner = {0};
    bool changed;
    HLO_TRY(hlo_pipeline_parse(&run->arena, "reference", hlo_view("despecializer"), &list));
    return hlo_pipelines_run(list, m, &runner, &changed);
}

// A copy of the module under another name, which the caller frees, without fast math.
HloStatus reference_side(Run *run, Side *side) {
    const char *given = run->options.reference;
    HloModule *m = hlo_module_clone(run->m);
    if (!m) return hlo_out_of_memory();
    m->name = hlo_arena_printf(&run->arena, "%s-reference", m->name);
    *side = (Side){is_default(given) ? "interpreter" : given, m, run->debug, run->options.run_reference_passes, true};
    side->debug.xla_cpu_enable_fast_math = false;
    HloStatus status = strcmp(run->options.platform, given) == 0 ? hlo_ok() : despecialize(run, m);
    if (!hlo_is_ok(status)) hlo_module_free(m);
    return status;
}

// ---- one iteration --------------------------------------------------------------------------------------

static HloStatus run_side(Run *run, const Side *side, HloLiteral **result) {
    fprintf(stderr, "Running HLO module with runner HloRunner...\n");
    double start = seconds();
    HloStatus status = run_once(run, side, result);
    fprintf(stderr, "... compiled and ran in %gs.\n", seconds() - start);
    HLO_TRY(add_line(status, "Failed to execute on HloRunner"));
    const char *title =
        side->is_reference ? "Result with reference runner HloRunner" : "Result with test runner HloRunner";
    return print_lines(run, title, *result);
}

// The report, files for a closer look, and how to find out where the difference comes from.
HloStatus compare_results(Run *run, const HloLiteral *expected, const HloLiteral *actual) {
    HloStatus status = hlo_literal_compare(expected, actual, bounds_of(run));
    if (hlo_status_code(status) == HLO_INVALID_ARGUMENT) write_side_files(run, expected, actual);
    return status;
}

static HloStatus run_reference(Run *run, const Side *side, const HloLiteral *result, bool *compared) {
    const HloInstruction *root = side->m->entry->root;
    HloLiteral *expected = NULL;
    if (!side->platform[0] || root->op == HLO_OP_CUSTOM_CALL) {
        if (side->platform[0])
            fprintf(stderr, "Skipping reference runner for a custom call %s\n",
                    hlo_text(root, HLO_ATTR_CUSTOM_CALL_TARGET));
        else
            fprintf(stderr, "Skipping reference runner\n");
        keep_values(run, result, NULL);
        return hlo_ok();
    }
    HLO_TRY(run_side(run, side, &expected));
    keep_values(run, result, expected);
    *compared = true;
    return compare_results(run, expected, result);
}

static HloStatus run_iteration(Run *run, size_t iteration, bool *compared) {
    HloLiteral *result = NULL;
    Side test = test_side(run), reference;
    choose_seed(run, (int64_t)iteration);
    if (run->options.print_literals) {
        hlo_put_string(&run->out, "\n** Buffer assignment proto **\n\n");
        HLO_TRY(flush(run));
    }
    HLO_TRY(make_arguments(run, iteration));
    HLO_TRY(print_arguments(run));
    HLO_TRY(reference_side(run, &reference));
    HloStatus status = run_side(run, &test, &result);
    if (hlo_is_ok(status)) status = run_reference(run, &reference, result, compared);
    hlo_module_free(reference.m);
    return status;
}

// ---- all iterations -------------------------------------------------------------------------------------

static void tell_success(const Run *run) {
    const char *reference = run->options.reference;
    if (!*reference) return;
    fprintf(stderr, "\n** Results on %s and %s are close enough. **\n", run->options.platform,
            is_default(reference) ? "Interpreter" : reference);
}

static void tell_failure(Run *run, HloStatus status, bool compared) {
    tell(status);
    bool hint = compared && hlo_status_code(status) == HLO_INVALID_ARGUMENT && !is_interpreter(run->options.platform);
    if (hint) fprintf(stderr, "\n--find-first-difference tells where in the module values begin to differ.\n");
    run->failures++;
    hlo_status_free(status);
}

// `loaded`: whether there is a module at all; when not, every iteration fails likewise.
HloStatus compare_platforms(Run *run, HloStatus loaded) {
    const Options *options = &run->options;
    for (int64_t k = 0; k < options->iterations; k++) {
        bool compared = false;
        if (options->iterations != 1) fprintf(stderr, "\n=== Iteration %lld\n", (long long)k + 1);
        HloStatus status = !hlo_is_ok(loaded) ? hlo_error(hlo_status_code(loaded), "%s", hlo_status_message(loaded))
                           : options->isolate ? isolate_instructions(run)
                                              : run_iteration(run, (size_t)k, &compared);
        HLO_TRY(flush(run));
        if (hlo_is_ok(status))
            tell_success(run);
        else
            tell_failure(run, status, compared);
    }
    hlo_status_free(loaded);
    if (*options->reference)
        fprintf(stderr, "%lld/%lld runs failed.\n", (long long)run->failures, (long long)options->iterations);
    return hlo_ok();
}

// ---- before and after the passes ------------------------------------------------------------------------

static HloStatus compare_compiled(Run *run, HloErrorBounds bounds) {
    HloLiteral *compiled = NULL, *interpreted = NULL;
    Side test = test_side(run), reference = test;
    reference.platform = "interpreter";
    HLO_TRY(run_once(run, &reference, &interpreted));
    HLO_TRY(run_once(run, &test, &compiled));
    HloStatus status = hlo_literal_compare(interpreted, compiled, bounds);
    if (hlo_status_code(status) != HLO_INVALID_ARGUMENT) return status;
    hlo_putf(&run->out, "the compiled result differs:\n%s\n", hlo_status_message(status));
    hlo_status_free(status);
    run->failures++;
    return hlo_ok();
}

// Before and after the CPU's passes; then the compiled result, when the passes change nothing.
HloStatus find_difference(Run *run) {
    bool found = false;
    HloErrorBounds bounds = bounds_of(run);
    bounds.detailed = false;
    HLO_TRY(make_arguments(run, 0));
    const HloLiteral *const *arguments = (const HloLiteral *const *)run->arguments;
    Side side = test_side(run);
    HloModule *after = hlo_module_clone(run->m);
    if (!after) return hlo_out_of_memory();
    HloStatus status = lower(run, &side, after);
    if (hlo_is_ok(status))
        status = hlo_find_first_difference(run->m, after, arguments, run->argument_count, bounds, &run->out, &found);
    hlo_module_free(after);
    run->failures += found;
    if (!hlo_is_ok(status) || found || is_interpreter(run->options.platform)) return status;
    return compare_compiled(run, bounds);
}
