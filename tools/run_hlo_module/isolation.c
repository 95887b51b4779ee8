// Every instruction alone, as a module of its own.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hlo/isolate.h"
#include "hlo/infer.h"
#include "tools/run_hlo_module/run.h"

// What came of running an instruction on one platform; rows of the summary stand in this order.
typedef enum Outcome {
    MATCHED,
    RAN,
    SKIPPED,
    DID_NOT_RUN,
    OTHER_ERROR,
    COMPILE_ERROR,
    RUN_ERROR,
    MISMATCH,
    OUTCOMES
} Outcome;

static const char *const outcome_names[OUTCOMES] = {
    "MATCHED", "RAN", "SKIPPED", "DIDN'T RUN", "OTHER ERROR", "COMPILATION ERROR", "RUNTIME ERROR", "MISMATCH"};

typedef struct Isolation {
    Run *run;
    bool has_reference;
    HloStatus first_failure;
    int64_t totals[OUTCOMES][OUTCOMES];  // by test result, then by reference result
} Isolation;

static void keep_first(Isolation *iso, HloStatus status) {
    if (hlo_is_ok(iso->first_failure))
        iso->first_failure = status;
    else
        hlo_status_free(status);
}

static Outcome outcome_of(HloStatus status, Outcome success) {
    if (hlo_is_ok(status)) return success;
    return hlo_status_code(status) == HLO_UNIMPLEMENTED ? COMPILE_ERROR : RUN_ERROR;
}

static void add_row(Isolation *iso, Outcome reference, Outcome test, const char *name) {
    const char *status = test == MATCHED || test == RAN ? "OK" : outcome_names[test];
    iso->totals[test][reference]++;
    hlo_putf(&iso->run->out, " %-21s| %-21s| %-30s| %s\n", outcome_names[reference], outcome_names[test], name, status);
}

static HloStatus run_reference(Run *run, HloLiteral **result) {
    Side side;
    HLO_TRY(reference_side(run, &side));
    HloStatus status = run_once(run, &side, result);
    hlo_module_free(side.m);
    return status;
}

// The module at hand is the instruction's.
static void run_isolated(Isolation *iso, const char *name) {
    Run *run = iso->run;
    HloLiteral *result = NULL, *expected = NULL;
    HloStatus status = make_arguments(run, 0);
    if (!hlo_is_ok(status)) {
        add_row(iso, DID_NOT_RUN, OTHER_ERROR, name);
        keep_first(iso, status);
        return;
    }
    Side side = test_side(run);
    status = run_once(run, &side, &result);
    Outcome test = outcome_of(status, RAN), reference = iso->has_reference ? DID_NOT_RUN : SKIPPED;
    keep_first(iso, status);
    if (iso->has_reference && run->m->entry->root->op != HLO_OP_CUSTOM_CALL) {
        status = run_reference(run, &expected);
        reference = outcome_of(status, RAN);
        keep_first(iso, status);
    }
    if (test == RAN && reference == RAN) {
        status = compare_results(run, expected, result);
        test = hlo_is_ok(status) ? MATCHED : MISMATCH;
        keep_first(iso, status);
    }
    add_row(iso, reference, test, name);
}

static void put_rule(HloBuffer *out, size_t width) {
    for (size_t k = 0; k < width; k++) hlo_put_char(out, '-');
    hlo_put_char(out, '\n');
}

static void put_summary(const Isolation *iso) {
    HloBuffer *out = &iso->run->out;
    put_rule(out, 107);
    hlo_putf(out, " %-21s| %-21s| Total count\n", "Reference", "Test");
    put_rule(out, 77);
    for (int test = 0; test < OUTCOMES; test++) {
        for (int reference = 0; reference < OUTCOMES; reference++) {
            int64_t total = iso->totals[test][reference];
            if (!total) continue;
            hlo_putf(out, " %-21s| %-21s| %lld\n", outcome_names[reference], outcome_names[test], (long long)total);
        }
    }
    put_rule(out, 77);
}

// Whether a module with this text was run before.
static bool claim_text(Run *run, HloMap *seen, const HloModule *m) {
    HloBuffer text = {0};
    HloPrintOptions options = hlo_print_module_fingerprint();
    hlo_print_module(m, &options, &text);
    void **entry = hlo_map_at_text(&run->arena, seen, text.data ? text.data : "", text.size, NULL);
    bool first = !*entry;
    *entry = run;
    hlo_buffer_free(&text);
    return first;
}

HloStatus isolate_instructions(Run *run) {
    const char *reference = run->options.reference;
    Isolation iso = {run, reference && *reference, hlo_ok(), {{0}}};
    HloModule *whole = run->m;
    HloVec found = hlo_isolated_instructions(whole, &run->arena);
    HloMap seen = {0};
    if (run->options.input_literals) {
        return hlo_error(HLO_INVALID_ARGUMENT, "Cannot run decomposed module if input literals are provided.");
    }
    put_rule(&run->out, 107);
    hlo_putf(&run->out, " %-21s| %-21s| %-30s| %s\n", "Reference", "Test", "Module", "Status");
    put_rule(&run->out, 107);
    for (size_t k = 0; k < found.count; k++) {
        const HloInstruction *inst = found.items[k];
        HloModule *alone = hlo_module_isolate(whole, inst);
        if (!alone) {
            keep_first(&iso, hlo_out_of_memory());
            break;
        }
        run->m = alone;
        run->snapshot = (HloSnapshot){0};
        if (claim_text(run, &seen, alone)) run_isolated(&iso, inst->name);
        hlo_module_free(alone);
    }
    run->m = whole;
    put_summary(&iso);
    return iso.first_failure;
}
