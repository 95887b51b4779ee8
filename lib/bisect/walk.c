// Running pipelines up to a run of a pass, on copies.

#include "hlo/infer.h"
#include "lib/bisect/bisection.h"

HloStatus hlo_bisection_print(const Bisection *b, const HloModule *m, HloBuffer *out) {
    hlo_print_module(m, &b->options->print, out);
    return hlo_buffer_status(out);
}

HloStatus hlo_bisection_ask(Bisection *b, const HloModule *m, bool *out) {
    HloBuffer text = {0};
    HloStatus status = hlo_bisection_print(b, m, &text);
    b->result->asked++;
    if (hlo_is_ok(status)) {
        status = b->predicate->holds(b->predicate->data, m, (HloStringView){text.data, text.size}, out);
    }
    hlo_buffer_free(&text);
    return status;
}

HloStatus hlo_bisection_clone(const HloModule *m, HloModule **out) {
    *out = hlo_module_clone(m);
    return *out ? hlo_ok() : hlo_out_of_memory();
}

const char *hlo_bisection_keep(Bisection *b, const HloBuffer *text) {
    return hlo_arena_string(b->arena, text->data ? text->data : "", text->size);
}

// ---- the walk -------------------------------------------------------------------------------------------

static HloStatus stop(Walk *w, const HloElement *pipeline, const HloElement *element) {
    w->stopped = true;
    w->pipeline = pipeline;
    w->element = element;
    return hlo_error(HLO_CANCELLED, "stopped");
}

static HloStatus before_pass(void *data, const HloElement *pipeline, const HloElement *element, const HloModule *m) {
    (void)m;
    Walk *w = data;
    if (hlo_element_is_pipeline(element)) return hlo_ok();
    w->run++;
    return w->run == w->stop_before ? stop(w, pipeline, element) : hlo_ok();
}

// Passes must not meet a module that breaks a rule.
static HloStatus check(const HloElement *pipeline, const HloElement *element, const HloModule *m) {
    HloVerifyOptions rules = {.allow_mixed_precision = true, .allow_fused_dead_code = true};
    return hlo_error_context(hlo_verify_module(m, &rules),
                             "pass %s in pipeline %s breaks a rule of HLO before the predicate holds (ask for that "
                             "with --invalid)",
                             element->name, pipeline->name);
}

static HloStatus after_pass(void *data, const HloElement *pipeline, const HloElement *element, const HloModule *m,
                            bool changed) {
    Walk *w = data;
    if (hlo_element_is_pipeline(element)) return hlo_ok();
    if (changed) hlo_ints_push(w->b->arena, &w->changed, (int64_t)w->run);
    if (changed && w->asks) HLO_TRY(hlo_bisection_ask(w->b, m, &w->held));
    if (changed && w->checks && !w->held) w->broken = check(pipeline, element, m);
    bool stops = w->held || w->run == w->stop_after || !hlo_is_ok(w->broken);
    return stops ? stop(w, pipeline, element) : hlo_ok();
}

HloStatus hlo_bisection_walk(Walk *w, HloModule **out) {
    HloModule *m;
    HLO_TRY(hlo_bisection_clone(w->b->m, &m));
    HloPassObserver observer = {.data = w, .before_pass = before_pass, .after_pass = after_pass};
    HloRunner runner = {.observers = (const HloPassObserver *const[]){&observer},
                        .observer_count = 1,
                        .filter = w->b->options->filter,
                        .log = w->log};
    bool changed;
    HloStatus status = hlo_pipelines_run(w->b->list, m, &runner, &changed);
    w->log = runner.log;
    if (w->stopped) {
        hlo_status_free(status);
        status = hlo_ok();
    }
    if (hlo_is_ok(status))
        *out = m;
    else
        hlo_module_free(m);
    return status;
}
