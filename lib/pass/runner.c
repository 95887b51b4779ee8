// Running pipelines: nesting, fixed points, filters, observers (pass chapter, §2 to §4).

#include "hlo/pass.h"
#include "lib/pass/plant.h"

typedef struct Run {
    const HloElement *pipeline;
    HloModule *m;
    HloRunner *runner;
    HloArena scratch;  // reset after every pass
    bool changed;
} Run;

static HloStatus run_pipeline(Run *run, const HloElement *pipeline, bool *changed);

// ---- passes ---------------------------------------------------------------------------------------------

static HloFuel *find_fuel(const HloRewriteLog *log, const HloPass *pass) {
    for (size_t k = 0; k < log->fuel_count; k++) {
        if (strcmp(log->fuel[k].pass, pass->name) == 0) return &log->fuel[k];
    }
    return NULL;
}

static HloStatus run_pass(Run *run, const HloPass *pass, const char *const *values, bool *changed) {
    HloRewriteLog *log = &run->runner->log;
    HloPassContext cx = {.pass = pass,
                         .values = values,
                         .scratch = &run->scratch,
                         .log = log,
                         .fuel = find_fuel(log, pass),
                         .observers = run->runner->observers,
                         .observer_count = run->runner->observer_count};
    HloStatus status = pass->run(&cx, run->m, changed);
    if (hlo_is_ok(status)) hlo_plant_spoil(&cx, run->m);
    hlo_arena_reset(&run->scratch);
    if (!hlo_is_ok(status)) return hlo_error_context(status, "%s", pass->name);
    if (*changed) {
        hlo_module_update_schedule(run->m, &run->scratch);
        hlo_arena_reset(&run->scratch);
    }
    return hlo_ok();
}

HloStatus hlo_pass_run_inside(HloPassContext *cx, const char *name, HloModule *m, bool *changed) {
    const HloPass *pass = hlo_pass_find(name, strlen(name));
    if (!pass || !pass->run) {
        return hlo_error(HLO_INTERNAL, "pass %s needs pass %s, which is not registered", cx->pass->name, name);
    }
    HloPassContext inner = {.pass = pass, .scratch = cx->scratch, .log = cx->log, .fuel = find_fuel(cx->log, pass)};
    bool inner_changed = false;
    HLO_TRY(pass->run(&inner, m, &inner_changed));
    *changed |= inner_changed;
    return hlo_ok();
}

HloStatus hlo_pass_reach(const HloPassContext *cx, const char *point, const HloModule *m) {
    for (size_t k = 0; k < cx->observer_count; k++) {
        const HloPassObserver *o = cx->observers[k];
        if (o->at_point) HLO_TRY(o->at_point(o->data, cx->pass, point, m));
    }
    return hlo_ok();
}

// ---- filters --------------------------------------------------------------------------------------------

static bool is_listed(const char *name, const char *const *names, size_t count) {
    for (size_t k = 0; k < count; k++) {
        if (strcmp(names[k], name) == 0) return true;
    }
    return false;
}

// What is inside the fixed points around an element.
static const HloElement *unwrap(const HloElement *element) {
    while (element->kind == HLO_ELEMENT_FIX) element = element->elements[0];
    return element;
}

// §3: the steps in their order, for one level.
static bool is_enabled(const HloPassFilter *f, const HloElement *pipeline, const HloElement *element) {
    if (unwrap(element)->kind == HLO_ELEMENT_ABSENT) return false;
    if (f->disable_all || is_listed(pipeline->name, f->disabled, f->disabled_count)) return false;
    if (is_listed(pipeline->name, f->enabled_only, f->enabled_only_count)) return true;
    if (f->enabled_only_count) return is_listed(element->name, f->enabled_only, f->enabled_only_count);
    return !is_listed(element->name, f->disabled, f->disabled_count);
}

// A fixed point is a pipeline exactly when what it wraps is one.
bool hlo_element_is_pipeline(const HloElement *element) {
    return unwrap(element)->kind == HLO_ELEMENT_PIPELINE;
}

const char *hlo_runner_next(const HloRunner *runner, const HloElement *pipeline, const HloElement *element) {
    bool found = !element;
    for (size_t k = 0; k < pipeline->element_count; k++) {
        const HloElement *candidate = pipeline->elements[k];
        if (found && is_enabled(&runner->filter, pipeline, candidate)) return candidate->name;
        found |= candidate == element;
    }
    return "pipeline-end";
}

// Whether the element has to wait for the pass that the run starts from. Pipelines are entered to look for it.
static bool is_before_start(HloRunner *runner, const HloElement *element) {
    const char *start = runner->filter.start_from;
    if (!start || !*start || runner->started) return false;
    runner->started = strcmp(element->name, start) == 0;
    return !runner->started && !hlo_element_is_pipeline(element);
}

// ---- elements -------------------------------------------------------------------------------------------

// Runs an element once without asking filters.
static HloStatus run_once(Run *run, const HloElement *element, bool *changed);

static HloStatus tell_iteration(const Run *run, const HloElement *fix, int64_t iteration) {
    for (size_t k = 0; k < run->runner->observer_count; k++) {
        const HloPassObserver *o = run->runner->observers[k];
        if (o->before_iteration) HLO_TRY(o->before_iteration(o->data, fix, run->m, iteration));
    }
    return hlo_ok();
}

// A run that reaches the limit reports "unchanged" although the module did change: the reference does, and enclosing
// fixed points depend on it (§4).
static HloStatus stop_at_limit(const Run *run, const HloElement *fix, bool ever, bool *changed) {
    const HloRunner *runner = run->runner;
    *changed = ever && runner->limit_changes;
    for (size_t k = 0; k < runner->observer_count; k++) {
        const HloPassObserver *o = runner->observers[k];
        if (o->at_limit) HLO_TRY(o->at_limit(o->data, fix, run->m));
    }
    return hlo_ok();
}

static HloStatus run_fix(Run *run, const HloElement *fix, bool *changed) {
    bool ever = false;
    for (int64_t iteration = 1;; iteration++) {
        bool now = false;
        HLO_TRY(tell_iteration(run, fix, iteration));
        HLO_TRY(run_once(run, fix->elements[0], &now));
        ever |= now;
        if (iteration == fix->limit) return stop_at_limit(run, fix, ever, changed);
        if (!now) break;
    }
    *changed = ever;
    return hlo_ok();
}

static HloStatus run_once(Run *run, const HloElement *element, bool *changed) {
    switch (element->kind) {
    case HLO_ELEMENT_PASS: return run_pass(run, element->pass, element->values, changed);
    case HLO_ELEMENT_PIPELINE: return run_pipeline(run, element, changed);
    case HLO_ELEMENT_FIX: return run_fix(run, element, changed);
    case HLO_ELEMENT_ABSENT: return hlo_ok();
    }
    return hlo_error(HLO_INTERNAL, "unknown kind of pipeline element");
}

static HloStatus run_element(Run *run, const HloElement *pipeline, const HloElement *element, bool *changed) {
    HloRunner *runner = run->runner;
    for (size_t k = 0; k < runner->observer_count; k++) {
        const HloPassObserver *o = runner->observers[k];
        if (o->before_pass) HLO_TRY(o->before_pass(o->data, pipeline, element, run->m));
    }
    if (!is_before_start(runner, element)) HLO_TRY(run_once(run, element, changed));
    for (size_t k = 0; k < runner->observer_count; k++) {
        const HloPassObserver *o = runner->observers[k];
        if (o->after_pass) HLO_TRY(o->after_pass(o->data, pipeline, element, run->m, *changed));
    }
    return hlo_ok();
}

static HloStatus run_pipeline(Run *run, const HloElement *pipeline, bool *changed) {
    HloRunner *runner = run->runner;
    for (size_t k = 0; k < runner->observer_count; k++) {
        const HloPassObserver *o = runner->observers[k];
        if (o->before_pipeline) HLO_TRY(o->before_pipeline(o->data, pipeline, run->m));
    }
    for (size_t k = 0; k < pipeline->element_count; k++) {
        bool now = false;
        const HloElement *element = pipeline->elements[k];
        if (!is_enabled(&runner->filter, pipeline, element)) continue;
        HLO_TRY(run_element(run, pipeline, element, &now));
        *changed |= now;
    }
    for (size_t k = 0; k < runner->observer_count; k++) {
        const HloPassObserver *o = runner->observers[k];
        if (o->after_pipeline) HLO_TRY(o->after_pipeline(o->data, pipeline, run->m, *changed));
    }
    return hlo_ok();
}

static HloStatus run_whole(void *data) {
    Run *run = data;
    return run_pipeline(run, run->pipeline, &run->changed);
}

HloStatus hlo_pipeline_run(const HloElement *pipeline, HloModule *m, HloRunner *runner, bool *changed) {
    if (runner->filter.disabled_count && runner->filter.enabled_only_count) {
        return hlo_error(HLO_INVALID_ARGUMENT, "passes can be disabled or enabled by name, not both in one run");
    }
    Run run = {.pipeline = pipeline, .m = m, .runner = runner};
    HloStatus status = hlo_guarded((HloArena *const[]){&m->arena, &run.scratch, NULL}, run_whole, &run);
    hlo_arena_free(&run.scratch);
    if (hlo_is_ok(status)) *changed = run.changed;
    return status;
}

HloStatus hlo_pipelines_run(const HloElement *list, HloModule *m, HloRunner *runner, bool *changed) {
    *changed = false;
    for (size_t k = 0; k < list->element_count; k++) {
        bool now = false;
        HLO_TRY(hlo_pipeline_run(list->elements[k], m, runner, &now));
        *changed |= now;
    }
    return hlo_ok();
}
