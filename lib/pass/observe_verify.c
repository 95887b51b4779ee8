// Verifying the module between passes (pass chapter, §2.1).

#include "lib/pass/observe.h"

static HloStatus verify(void *data, const HloModule *m, const char *after) {
    HloStatus status = hlo_verify_module(m, data);
    if (hlo_is_ok(status)) return status;
    HloStatus named = hlo_error(hlo_status_code(status), "during context [hlo verifier]: %s\n\nFailed after %s",
                                hlo_status_message(status), after);
    hlo_status_free(status);
    return named;
}

static HloStatus before_pipeline(void *data, const HloElement *pipeline, const HloModule *m) {
    (void)pipeline;
    return verify(data, m, "pipeline-start");
}

static HloStatus after_pass(void *data, const HloElement *pipeline, const HloElement *element, const HloModule *m,
                            bool changed) {
    (void)pipeline;
    return changed ? verify(data, m, element->name) : hlo_ok();
}

HloStatus hlo_observe_verify(const HloVerifyOptions *options, HloPassObserver **out) {
    HLO_TRY(hlo_observer_new(sizeof *options, out));
    memcpy((*out)->data, options, sizeof *options);
    (*out)->before_pipeline = before_pipeline;
    (*out)->after_pass = after_pass;
    return hlo_ok();
}
