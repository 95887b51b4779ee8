// Comparing two platforms on the same arguments, and the module before and after the passes.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hlo/first_difference.h"
#include "hlo/infer.h"
#include "tools/run_hlo_module/run.h"

static HloStatus compare_iteration(Run *run, size_t iteration, const char *reference) {
    HloLiteral *result = NULL, *expected = NULL;
    const HloInstruction *root = run->m->entry->root;
    HLO_TRY(make_arguments(run, iteration));
    HLO_TRY(print_arguments(run));
    fprintf(stderr, "Running HLO module with runner HloRunner...\n");
    double start = seconds();
    HLO_TRY(hlo_error_context(run_once(run, run->options.platform, &result), "Failed to execute on HloRunner"));
    fprintf(stderr, "... compiled and ran in %.6fs.\n", seconds() - start);
    HLO_TRY(print_lines(run, "Result with test runner HloRunner", result));
    if (root->op == HLO_OP_CUSTOM_CALL) {
        fprintf(stderr, "Skipping reference runner for a custom call %s\n",
                hlo_text(root, HLO_ATTR_CUSTOM_CALL_TARGET));
        keep_values(run, result, NULL);
        return hlo_ok();
    }
    fprintf(stderr, "Running HLO module with runner HloRunner...\n");
    start = seconds();
    HLO_TRY(hlo_error_context(run_once(run, reference, &expected), "Failed to execute on HloRunner"));
    fprintf(stderr, "... compiled and ran in %.6fs.\n", seconds() - start);
    HLO_TRY(print_lines(run, "Result with reference runner HloRunner", expected));
    keep_values(run, result, expected);
    return hlo_literal_compare(expected, result, bounds_of(run));
}

HloStatus compare_platforms(Run *run) {
    const Options *options = &run->options;
    const char *reference = strcmp(options->reference, "default") == 0 ? "interpreter" : options->reference;
    hlo_putf(&run->out, "\n ** Running %s** \n", run->path);
    HLO_TRY(flush(run));
    for (int64_t k = 0; k < options->iterations; k++) {
        if (options->iterations != 1) fprintf(stderr, "\n=== Iteration %lld\n", (long long)k + 1);
        HloStatus status = compare_iteration(run, (size_t)k, reference);
        if (hlo_is_ok(status)) {
            fprintf(stderr, "\n** Results on %s and %s are close enough. **\n", options->platform,
                    strcmp(options->reference, "default") == 0 ? "Interpreter" : reference);
            continue;
        }
        fprintf(stderr, "%s: %s\n", hlo_code_name(hlo_status_code(status)), hlo_status_message(status));
        hlo_status_free(status);
        run->failures++;
    }
    fprintf(stderr, "%lld/%lld runs failed.\n", (long long)run->failures, (long long)options->iterations);
    return hlo_ok();
}

// Before and after the CPU's passes; then the compiled result, when the passes change nothing.
HloStatus find_difference(Run *run) {
    bool found = false;
    HloErrorBounds bounds = bounds_of(run);
    bounds.detailed = false;
    HLO_TRY(make_arguments(run, 0));
    const HloLiteral *const *arguments = (const HloLiteral *const *)run->arguments;
    HloModule *after = hlo_module_clone(run->m);
    if (!after) return hlo_out_of_memory();
    HloStatus status = lower(run, after);
    if (hlo_is_ok(status))
        status = hlo_find_first_difference(run->m, after, arguments, run->argument_count, bounds, &run->out, &found);
    hlo_module_free(after);
    run->failures += found;
    if (!hlo_is_ok(status) || found || is_interpreter(run->options.platform)) return status;
    HloLiteral *compiled = NULL, *interpreted = NULL;
    HLO_TRY(run_once(run, "interpreter", &interpreted));
    HLO_TRY(run_once(run, run->options.platform, &compiled));
    status = hlo_literal_compare(interpreted, compiled, bounds);
    if (hlo_status_code(status) != HLO_INVALID_ARGUMENT) return status;
    hlo_putf(&run->out, "the compiled result differs:\n%s\n", hlo_status_message(status));
    hlo_status_free(status);
    run->failures++;
    return hlo_ok();
}
