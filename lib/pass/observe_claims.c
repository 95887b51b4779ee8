// Checking what passes claim against what they did (pass chapter, §6). The words are the reference's.

#include <inttypes.h>
#include <stdio.h>

#include "lib/pass/observe.h"

typedef struct Claims {
    HloClaimsOptions options;
    uint64_t before;  // hash before the pass that runs
} Claims;

static HloStatus before_pass(void *data, const HloElement *pipeline, const HloElement *element, const HloModule *m) {
    (void)pipeline;
    Claims *claims = data;
    if (hlo_element_is_pipeline(element)) return hlo_ok();
    return hlo_observer_hash(m, claims->options.names_count, &claims->before);
}

static HloStatus wrong_claim(const HloModule *m, const HloElement *pipeline, const HloElement *element,
                             const char *what) {
    HloBuffer text = {0};
    HloPrintOptions print = hlo_print_dump();
    hlo_print_module(m, &print, &text);
    HloStatus status = hlo_error(HLO_INTERNAL, "Pass '%s' in pipeline '%s' reported that it %s. HLO text after:\n%s",
                                 element->name, pipeline->name, what, text.data ? text.data : "");
    hlo_buffer_free(&text);
    return status;
}

static HloStatus after_pass(void *data, const HloElement *pipeline, const HloElement *element, const HloModule *m,
                            bool changed) {
    Claims *claims = data;
    if (hlo_element_is_pipeline(element)) return hlo_ok();
    uint64_t after;
    HLO_TRY(hlo_observer_hash(m, claims->options.names_count, &after));
    if (!changed && after != claims->before && claims->options.silent_change) {
        char what[128];
        snprintf(what, sizeof what,
                 "did not change the HLO but the hash of HLO was changed from %" PRIu64 " to %" PRIu64, claims->before,
                 after);
        return wrong_claim(m, pipeline, element, what);
    }
    if (changed && after == claims->before && claims->options.empty_change) {
        return wrong_claim(m, pipeline, element, "changed the HLO but the hash of HLO was not updated");
    }
    return hlo_ok();
}

HloStatus hlo_observe_claims(const HloClaimsOptions *options, HloPassObserver **out) {
    HLO_TRY(hlo_observer_new(sizeof(Claims), out));
    ((Claims *)(*out)->data)->options = *options;
    (*out)->before_pass = before_pass;
    (*out)->after_pass = after_pass;
    return hlo_ok();
}
