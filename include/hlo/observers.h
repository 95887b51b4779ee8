// The ready-made observers of pipelines, and what they write to.
//
// Each hlo_observe_* makes an observer that the caller adds to a runner and frees with hlo_observer_free after the run.
// They write nothing themselves: text goes to a sink that the program gives, so that the same observers serve a
// terminal, a file and a test.
#ifndef HLO_OBSERVERS_H
#define HLO_OBSERVERS_H

#include <stdio.h>

#include "hlo/infer.h"
#include "hlo/numerics.h"
#include "hlo/pass.h"
#include "hlo/regex.h"
#include "hlo/text.h"

// Where text goes. `write` may be called many times; data stays the program's.
typedef struct HloSink {
    void (*write)(void *data, const char *text, size_t size);
    void *data;
} HloSink;

// A sink that appends to a buffer.
HloSink hlo_buffer_sink(HloBuffer *out);
// A sink that writes to a stream and flushes it, so that the order among streams is that of the calls.
HloSink hlo_stream_sink(FILE *stream);

// Frees an observer and what it owns; NULL is ignored.
void hlo_observer_free(HloPassObserver *observer);

// ---- what changed ---------------------------------------------------------------------------------------

typedef enum HloChangesStyle {
    HLO_CHANGES_TEXT,  // the whole module after each pass that changed it
    HLO_CHANGES_DIFF,  // a unified diff of each computation that changed
} HloChangesStyle;

typedef struct HloChangesOptions {
    HloChangesStyle style;
    bool colour;           // ANSI colours in diffs
    size_t context;        // lines around a change
    const HloRegex *only;  // borrowed; show passes whose names it finds. NULL: all
    HloPrintOptions print;
} HloChangesOptions;

// Shows what every pass changed, under a line that names pass and pipeline. Passes that claim no change show nothing.
HLO_MUST_USE HloStatus hlo_observe_changes(const HloChangesOptions *options, HloSink sink, HloPassObserver **out);

// ---- is it still right ----------------------------------------------------------------------------------

// Verifies the module when a pipeline starts and after every pass that changed it (pass chapter, §2.1). The failure
// ends the run and says after which pass it came.
HLO_MUST_USE HloStatus hlo_observe_verify(const HloVerifyOptions *options, HloPassObserver **out);

// Compares the module before and after every pass with what the pass claims; a wrong claim ends the run with INTERNAL
// (pass chapter, §6).
typedef struct HloClaimsOptions {
    bool silent_change;  // refuse a change that is not claimed
    bool empty_change;   // refuse a claim without change
    bool names_count;    // other names, metadata and orders are changes; the reference's hash does not see them
} HloClaimsOptions;
HLO_MUST_USE HloStatus hlo_observe_claims(const HloClaimsOptions *options, HloPassObserver **out);

typedef struct HloFixOptions {
    bool warn_of_cycles;  // write a line when an iteration begins with a module that an earlier one began with
    bool fail_at_limit;   // a fixed point that reaches its limit ends the run with INTERNAL
} HloFixOptions;
// Watches fixed points; the caller frees *out.
HLO_MUST_USE HloStatus hlo_observe_fixes(const HloFixOptions *options, HloSink sink, HloPassObserver **out);

// Evaluates the module before the first pass and after every pass that changed it, on the same arguments; results that
// differ by more than rounding end the run with INTERNAL, which names the pass.
HLO_MUST_USE HloStatus hlo_observe_numerics(const HloNumericsOptions *options, HloPassObserver **out);

// ---- what it cost ---------------------------------------------------------------------------------------

// Counts runs, changes, rewrites and time of every pass and pipeline. The runner is borrowed; it is the one that will
// run.
HLO_MUST_USE HloStatus hlo_observe_time(const HloRunner *runner, HloPassObserver **out);
// Appends the table of an observer that hlo_observe_time made, slowest pass first.
void hlo_put_pass_times(HloBuffer *out, const HloPassObserver *observer);
// The same, and the pipelines, as JSON:
//   {"total_ms": 1.5, "passes": [{"name": "dce", "runs": 2, "changed": 1, "rewrites": 3, "ms": 0.25}, …],
//    "pipelines": [{"name": "simplification", "runs": 2, "changed": 1, "rewrites": 3, "ms": 1.25}, …]}
// A fixed point runs its pipeline once an iteration. Times of pipelines include what they hold; total_ms is that of
// passes.
void hlo_put_pass_times_json(HloBuffer *out, const HloPassObserver *observer);

// ---- what was done --------------------------------------------------------------------------------------

// Makes the runner write one line per rewrite: `#12 algsimp: add-zero  %add.3 -> %p`. The sink is borrowed until the
// run is over.
void hlo_trace_rewrites(HloRunner *runner, const HloSink *sink);

// A moment between two passes at which a dump may be written.
typedef struct HloDumpPoint {
    const char *pipeline;
    const char *after;   // the pass that ran, or "pipeline-start"
    const char *before;  // the next enabled one, or "pipeline-end"
    bool changed;        // what the pass claimed; true at the start
} HloDumpPoint;

typedef struct HloDumpHook {
    // Called at the start of every pipeline and after every element of one, changed or not. A failure ends the run.
    HloStatus (*dump)(void *data, const HloDumpPoint *point, const HloModule *m);
    void *data;
    // Called inside passes that have steps; NULL: nobody.
    HloStatus (*inside)(void *data, const char *pass, const char *point, const HloModule *m);
} HloDumpHook;

// Calls the hook as a run goes on; the caller frees *out. Borrows the runner, for the names of elements that follow.
HLO_MUST_USE HloStatus hlo_observe_dump(const HloRunner *runner, HloDumpHook hook, HloPassObserver **out);

#endif
