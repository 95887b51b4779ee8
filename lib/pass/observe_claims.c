// Checking what passes claim against what they did (pass chapter, §6).

#include "lib/pass/observe.h"

typedef struct Claims {
    HloClaimsOptions options;
    uint64_t before;  // hash of the text before the pass that runs
} Claims;

static HloStatus hash_module(const HloModule *m, uint64_t *out) {
    HloBuffer text = {0};
    HloPrintOptions print = hlo_print_dump();
    print.large_constants = true;
    hlo_print_module(m, &print, &text);
    HloStatus status = hlo_buffer_status(&text);
    *out = hlo_hash_bytes(text.data, text.size, 0);
    hlo_buffer_free(&text);
    return status;
}

static HloStatus before_pass(void *data, const HloElement *pipeline, const HloElement *element, const HloModule *m) {
    (void)pipeline;
    Claims *claims = data;
    return hlo_element_is_pipeline(element) ? hlo_ok() : hash_module(m, &claims->before);
}

static HloStatus after_pass(void *data, const HloElement *pipeline, const HloElement *element, const HloModule *m,
                            bool changed) {
    Claims *claims = data;
    if (hlo_element_is_pipeline(element)) return hlo_ok();
    uint64_t after;
    HLO_TRY(hash_module(m, &after));
    if (!changed && after != claims->before && claims->options.silent_change) {
        return hlo_error(HLO_INTERNAL, "pass %s in pipeline %s says that it changed nothing, but the module changed",
                         element->name, pipeline->name);
    }
    if (changed && after == claims->before && claims->options.empty_change) {
        return hlo_error(HLO_INTERNAL, "pass %s in pipeline %s says that it changed the module, which is as before",
                         element->name, pipeline->name);
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
