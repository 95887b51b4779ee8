// Evaluating the module before the first pass and after every pass that changed it.

#include "hlo/numerics.h"
#include "lib/pass/observe.h"

typedef struct Check {
    HloNumericsOptions options;
    HloNumerics *numerics;  // of the module before the first pass
} Check;

static HloStatus before_pipeline(void *data, const HloElement *pipeline, const HloModule *m) {
    Check *check = data;
    (void)pipeline;
    if (check->numerics) return hlo_ok();
    return hlo_error_context(hlo_numerics_new(m, &check->options, &check->numerics), "checking numerics");
}

static HloStatus after_pass(void *data, const HloElement *pipeline, const HloElement *element, const HloModule *m,
                            bool changed) {
    Check *check = data;
    (void)pipeline;
    if (!changed || element->kind != HLO_ELEMENT_PASS) return hlo_ok();
    bool same;
    HloBuffer report = {0};
    HloStatus status = hlo_error_context(hlo_numerics_compare(check->numerics, m, &same, &report),
                                         "checking numerics after %s", element->name);
    if (hlo_is_ok(status) && !same) {
        status = hlo_error(HLO_INTERNAL, "pass '%s' changed what the module computes\n%s", element->name,
                           report.data ? report.data : "");
    }
    hlo_buffer_free(&report);
    return status;
}

static void free_check(void *data) {
    hlo_numerics_free(((Check *)data)->numerics);
}

HloStatus hlo_observe_numerics(const HloNumericsOptions *options, HloPassObserver **out) {
    HLO_TRY(hlo_observer_new(sizeof(Check), out));
    ((Check *)(*out)->data)->options = *options;
    (*out)->before_pipeline = before_pipeline;
    (*out)->after_pass = after_pass;
    (*out)->free = free_check;
    return hlo_ok();
}
