// The usual questions: a predicate of the module, or of what passes make of it.

#include "hlo/infer.h"
#include "hlo/observers.h"
#include "hlo/reduce.h"

static HloStatus ask_predicate(const HloRunQuestionOptions *o, const HloPredicate *predicate, const HloModule *m,
                               bool *out) {
    HloBuffer text = {0};
    hlo_print_module(m, &o->print, &text);
    HloStatus status = hlo_buffer_status(&text);
    if (hlo_is_ok(status)) {
        status = predicate->holds(predicate->data, m, (HloStringView){text.data, text.size}, out);
    }
    hlo_buffer_free(&text);
    return status;
}

// With `fails`, every pass is verified too: the one that breaks a rule is the one to be told.
static HloStatus run_passes(const HloRunQuestionOptions *o, HloModule *m) {
    HloPassObserver *verifier = NULL;
    bool changed = false;
    if (o->fails) HLO_TRY(hlo_observe_verify(&(HloVerifyOptions){.allow_mixed_precision = true}, &verifier));
    const HloPassObserver *const observers[] = {verifier};
    HloRunner runner = {.observers = observers, .observer_count = verifier != NULL};
    HloStatus status = o->passes ? hlo_pipelines_run(o->passes, m, &runner, &changed) : hlo_ok();
    if (verifier) hlo_observer_free(verifier);
    return status;
}

// A failure that is looked for is an answer.
static HloStatus judge_failure(const HloRunQuestionOptions *o, HloStatus status, bool *out) {
    const char *message = hlo_status_message(status);
    *out = !hlo_is_ok(status) && hlo_regex_finds(o->fails, hlo_view(message));
    hlo_status_free(status);
    return hlo_ok();
}

static HloStatus ask_with(const HloRunQuestionOptions *o, const HloPredicate *predicate, HloModule *m, bool *out) {
    bool ignored;
    if (predicate && o->compares) HLO_TRY(ask_predicate(o, predicate, m, &ignored));
    HloStatus status = run_passes(o, m);
    if (!predicate) return judge_failure(o, status, out);
    HLO_TRY(status);
    return ask_predicate(o, predicate, m, out);
}

static HloStatus holds(void *data, const HloModule *m, bool *out) {
    const HloRunQuestionOptions *o = data;
    HloPredicate *predicate = NULL;
    HloModule *copy = hlo_module_clone(m);
    HloStatus status = copy ? hlo_ok() : hlo_out_of_memory();
    if (hlo_is_ok(status) && o->make) status = o->make(o->data, &predicate);
    if (hlo_is_ok(status)) status = ask_with(o, predicate, copy, out);
    hlo_predicate_free(predicate);
    if (copy) hlo_module_free(copy);
    return status;
}

HloQuestion hlo_run_question(const HloRunQuestionOptions *options) {
    return (HloQuestion){holds, (void *)(uintptr_t)options};
}
