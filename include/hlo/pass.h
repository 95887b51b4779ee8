// Passes, pipelines and observers.
//
// A pass is a constant struct; registry.def lists all of them. A pipeline is a tree of passes, nested pipelines and
// fixed points, made from text or by a target. The runner knows nothing of printing, timing, dumping or
// verifying: those are observers.
#ifndef HLO_PASS_H
#define HLO_PASS_H

#include "hlo/module.h"
#include "hlo/status.h"

typedef struct HloPass HloPass;
typedef struct HloPassContext HloPassContext;
typedef struct HloPassObserver HloPassObserver;

typedef enum HloOptionKind { HLO_OPTION_BOOL, HLO_OPTION_INT, HLO_OPTION_STRING } HloOptionKind;

typedef struct HloOptionSpec {
    const char *name;  // as in `algsimp{layout-sensitive}`
    HloOptionKind kind;
    const char *standard;  // default value as text: "false", "50", ""
    const char *help;      // one line
} HloOptionSpec;

struct HloPass {
    const char *name;
    const char *summary;  // one line for --list-passes=long and the manual
    const HloOptionSpec *options;
    size_t option_count;
    // NULL, or the text of a pipeline that the name stands for: wherever it is written, a pipeline of that name runs,
    // and filters and observers see its passes. `run` is NULL then, and there are no options.
    const char *pipeline;
    // Changes the module; *changed is false on entry. On failure the module is fit for printing only.
    HloStatus (*run)(HloPassContext *cx, HloModule *m, bool *changed);
};

// One rewrite as observers see it.
typedef struct HloRewriteEvent {
    uint64_t number;  // 1 for the first rewrite of the run
    const char *pass, *rule;
    const HloInstruction *old_inst;  // still in place, or NULL
    const HloInstruction *new_inst;  // the replacement, or NULL for a removal
} HloRewriteEvent;

// How many rewrites a pass may still make (pass chapter, §7).
typedef struct HloFuel {
    const char *pass;
    int64_t left;
    bool was_used, was_refused;  // asked for while some was left, and when none was
} HloFuel;

// Counts rewrites over a whole run; stops them after `limit`, and those of single passes when their fuel is out.
typedef struct HloRewriteLog {
    uint64_t count;
    uint64_t limit;  // 0: no limit
    HloFuel *fuel;   // borrowed; passes that are not named have no bound
    size_t fuel_count;
    // Called before each change; NULL: nobody.
    void (*on_rewrite)(void *data, const HloRewriteEvent *event);
    void *data;
} HloRewriteLog;

struct HloPassContext {
    const HloPass *pass;
    const char *const *values;  // option texts, parallel to pass->options
    HloArena *scratch;          // reset after the pass
    HloRewriteLog *log;         // never NULL
    HloFuel *fuel;              // of this pass; NULL: no bound
    const HloPassObserver *const *observers;  // of the run; none for a pass that runs inside another
    size_t observer_count;
};

// Runs another registered pass with its default options as part of this one (call-inliner ends with dce). Its rewrites
// count under its own name; observers do not see it.
HLO_MUST_USE HloStatus hlo_pass_run_inside(HloPassContext *cx, const char *name, HloModule *m, bool *changed);

// Tells the observers that the pass has come to a point, such as "after adding special-case copies".
HLO_MUST_USE HloStatus hlo_pass_reach(const HloPassContext *cx, const char *point, const HloModule *m);

// The value of one of the options that the running pass declares, given or default.
bool hlo_option_bool(const HloPassContext *cx, const char *name);
int64_t hlo_option_int(const HloPassContext *cx, const char *name);
const char *hlo_option_text(const HloPassContext *cx, const char *name);

// ---- registry -------------------------------------------------------------------------------------------

typedef enum HloPlatform {
    HLO_PLATFORM_TRANSFORMS = 1,
    HLO_PLATFORM_CPU = 2,
    HLO_PLATFORM_GPU = 4,
    HLO_PLATFORM_TEST = 8,  // passes for tests of the tools: help and hints leave them out
} HloPlatform;

typedef struct HloRegistryRow {
    const HloPass *pass;
    unsigned platforms;  // whose --list-passes names it; 0: runnable everywhere, listed nowhere
} HloRegistryRow;

// All passes, in the order of registry.def.
const HloRegistryRow *hlo_registry(size_t *count);
// The pass of exactly this name, or NULL.
const HloPass *hlo_pass_find(const char *name, size_t size);
// The nearest registered name, or NULL.
const char *hlo_pass_suggest(const char *name, size_t size);

// ---- pipelines ------------------------------------------------------------------------------------------

typedef enum HloElementKind {
    HLO_ELEMENT_PASS,
    HLO_ELEMENT_PIPELINE,
    HLO_ELEMENT_FIX,
    HLO_ELEMENT_ABSENT,  // a pass that does not exist here: never runs, and no observer sees it
} HloElementKind;

typedef struct HloElement HloElement;
struct HloElement {
    HloElementKind kind;
    const char *name;             // pass or pipeline name; a fixed point has its element's name
    const HloPass *pass;          // PASS
    const char *const *values;    // PASS: option texts
    HloElement *const *elements;  // PIPELINE: children; FIX: the one wrapped element
    size_t element_count;
    int64_t limit;            // FIX: most iterations (25)
    const char *option_text;  // ABSENT: what stood between braces; NULL: nothing
};

// Parses pipeline text into a pipeline called `name`:
//   list = (element ("," element)*)?
//   element = pass "?"? ("{" option ("," option)* "}")?  |  "fix" ("[" limit "]")? "(" list ")"  |  name "(" list ")"
//   option = name ("=" value)?         value = text without , and }  |  "\"" text "\""
// Unknown names and options fail before anything runs, with the nearest name as a hint; `pass?` is left out when there
// is no such pass.
HLO_MUST_USE HloStatus hlo_pipeline_parse(HloArena *arena, const char *name, HloStringView text, HloElement **out);
// Prints the elements of a pipeline so that hlo_pipeline_parse reads them back: on one line, or (`_lines`) one element
// a line, what is nested indented. Absent passes are printed as `pass?`.
void hlo_pipeline_print(const HloElement *pipeline, HloBuffer *out);
void hlo_pipeline_print_lines(const HloElement *pipeline, HloBuffer *out);
// Prints one element, as hlo_pipeline_print does.
void hlo_element_print(const HloElement *element, HloBuffer *out);
// Appends the names of the absent passes, each once, joined by `, `; nothing when there is none.
void hlo_pipeline_put_absent(const HloElement *pipeline, HloBuffer *out);

// ---- observers ------------------------------------------------------------------------------------------

struct HloPassObserver {
    void *data;
    // Any of these may be NULL. `pipeline` is the innermost pipeline that holds the element; an element is a pass, a
    // nested pipeline or a fixed point, and the iterations of a fixed point over one pass are not told apart.
    // A failure ends the run and is returned as it is.
    HloStatus (*before_pipeline)(void *data, const HloElement *pipeline, const HloModule *m);
    HloStatus (*after_pipeline)(void *data, const HloElement *pipeline, const HloModule *m, bool changed);
    HloStatus (*before_pass)(void *data, const HloElement *pipeline, const HloElement *element, const HloModule *m);
    HloStatus (*after_pass)(void *data, const HloElement *pipeline, const HloElement *element, const HloModule *m,
                            bool changed);
    // A pass that has steps has done one (hlo_pass_reach).
    HloStatus (*at_point)(void *data, const HloPass *pass, const char *point, const HloModule *m);
    // A fixed point begins an iteration (the first is 1), and: it stops at its limit.
    HloStatus (*before_iteration)(void *data, const HloElement *fix, const HloModule *m, int64_t iteration);
    HloStatus (*at_limit)(void *data, const HloElement *fix, const HloModule *m);
    void (*free)(void *data);  // frees what `data` owns, if anything; hlo_observer_free calls it
};

// Which elements of pipelines run (pass chapter, §3). Names match exactly, level by level: naming a pass that only
// stands inside a nested pipeline does not enable it unless the pipeline is named too, which enables all of its
// elements.
typedef struct HloPassFilter {
    bool disable_all;
    const char *const *disabled;  // remove elements with these names
    size_t disabled_count;
    const char *const *enabled_only;  // when given: remove elements with other names; not together with `disabled`
    size_t enabled_only_count;
    const char *start_from;  // skip passes until one, or a pipeline, of this name; NULL: none
} HloPassFilter;

typedef struct HloRunner {
    const HloPassObserver *const *observers;
    size_t observer_count;
    HloPassFilter filter;  // zero-initialised: everything runs
    bool started;          // start_from was reached; kept from pipeline to pipeline
    bool limit_changes;    // a fixed point that changed the module and reached its limit reports the change
    HloRewriteLog log;     // zero-initialised: no limit
} HloRunner;

// The name of the element that runs after `element` in its pipeline (NULL: the first one), or "pipeline-end".
const char *hlo_runner_next(const HloRunner *runner, const HloElement *pipeline, const HloElement *element);
// True for pipelines and for fixed points around them.
bool hlo_element_is_pipeline(const HloElement *element);

// Runs a pipeline over a module that hlo_verify_module accepts: passes rely on its rules. *changed is the OR over all
// passes, as pass-pipeline rules say. Failures carry the pass name in front of the message.
HLO_MUST_USE HloStatus hlo_pipeline_run(const HloElement *pipeline, HloModule *m, HloRunner *runner, bool *changed);
// Runs the elements of a list, which are pipelines, one after the other, each as a run of its own: the list itself has
// no name that a filter or an observer could see.
HLO_MUST_USE HloStatus hlo_pipelines_run(const HloElement *list, HloModule *m, HloRunner *runner, bool *changed);

#endif
