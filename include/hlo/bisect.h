// Bisection: the first pass, and in it the first named rewrite, that makes a predicate true.
//
// A predicate says yes or no to a module. Passes run on copies of a module until the predicate holds; then the one pass
// runs again and again on what came into it, stopped after fewer or more of its rewrites, which HloRewriter counts and
// names. The same question can be asked of a folder of dumps without running anything.
#ifndef HLO_BISECT_H
#define HLO_BISECT_H

#include "hlo/numerics.h"
#include "hlo/pass.h"
#include "hlo/text.h"

// ---- predicates -----------------------------------------------------------------------------------------

typedef struct HloPredicate {
    void *data;
    const char *words;   // for reports: `'gemm' appears`; valid as long as the predicate
    bool is_slow;        // runs something, so that it is asked seldom
    bool needs_module;   // looks at the module itself; the others at its text only, and may get NULL for the module
    bool finds_invalid;  // holds for modules that break rules: passes must not go on behind it
    HloStatus (*holds)(void *data, const HloModule *m, HloStringView text, bool *out);
    void (*free)(void *data);
} HloPredicate;

// A regular expression is found in some line of the text, or in none.
HLO_MUST_USE HloStatus hlo_predicate_appears(const char *pattern, HloPredicate **out);
HLO_MUST_USE HloStatus hlo_predicate_vanishes(const char *pattern, HloPredicate **out);
// A shell command ends with a status other than 0, or by a signal. `%s` in it is the name of a file with the text
// (quoted for the shell), `%%` a percent sign; without `%s` the name is appended. Its output is dropped. Status 126 or
// 127, the shell's words for a command that cannot be run, is a failure.
HLO_MUST_USE HloStatus hlo_predicate_command(const char *command, HloPredicate **out);
// The verifier refuses the module.
HLO_MUST_USE HloStatus hlo_predicate_invalid(HloPredicate **out);
// The text is another one than `text`, which is copied; `name` is for reports.
HLO_MUST_USE HloStatus hlo_predicate_differs(const char *name, HloStringView text, HloPredicate **out);
// The interpreter computes other values than for the first module that was asked, from the same made-up arguments; the
// first answer is no. What the interpreter does not know is a failure.
HLO_MUST_USE HloStatus hlo_predicate_numerics(const HloNumericsOptions *options, HloPredicate **out);
void hlo_predicate_free(HloPredicate *predicate);

// ---- search ---------------------------------------------------------------------------------------------

// Whether the predicate holds in state number `k`.
typedef HloStatus (*HloStateAsk)(void *data, uint64_t k, bool *out);

// Finds k in (low, high] so that state k-1 says no and state k yes; the caller knows that `low` says no and `high` yes.
// Linear: the first such k.
HLO_MUST_USE HloStatus hlo_bisect_search(uint64_t low, uint64_t high, bool linear, HloStateAsk ask, void *data,
                                         uint64_t *out);

// ---- over passes ----------------------------------------------------------------------------------------

typedef enum HloBisectSearch {
    HLO_BISECT_AUTO,    // passes: linear, binary when the predicate is slow; rewrites: binary
    HLO_BISECT_LINEAR,  // every state in turn: finds the first one, whatever comes later
    HLO_BISECT_BINARY,  // halving: finds a step from no to yes, the first one if the predicate stays true
} HloBisectSearch;

typedef struct HloBisectOptions {
    HloBisectSearch search;
    HloPrintOptions print;  // the text that predicates and diffs look at
    HloPassFilter filter;
    size_t context;  // lines around a change in diffs
    bool colour;
} HloBisectOptions;

typedef enum HloBisectOutcome {
    HLO_BISECT_REWRITE,  // pass and rewrite are known
    HLO_BISECT_PASS,     // the pass is; `note` says why not the rewrite
    HLO_BISECT_BEFORE,   // it holds before the first pass
    HLO_BISECT_NEVER,    // it holds nowhere
} HloBisectOutcome;

// What was found. All texts live in the arena.
typedef struct HloBisectResult {
    HloArena arena;
    HloBisectOutcome outcome;
    const char *predicate;                   // its words
    size_t asked;                            // how often
    uint64_t run;                            // number of the run of the pass among those of all passes, from 1
    const char *pass, *pipeline;             // names
    const char *element;                     // the pass with its options, as --passes takes it
    uint64_t rewrite, rewrites;              // number in the pass, from 1; made by the whole pass
    uint64_t total;                          // number among the rewrites of all passes
    const char *rule;                        // `pass: rule`, since a pass may run another one inside
    const char *old_inst, *new_inst, *comp;  // names; new_inst NULL: a removal
    const char *note;                        // NULL: nothing to add
    const char *diff;                        // what the rewrite, or the pass, changed
    const char *before;                      // the text of the module before the pass, to be read back
    bool is_reproduced;                      // it was read back, and the predicate became true in the same way
    bool is_shown_from_start;                // all passes, stopped after `total` rewrites, end with the predicate true
} HloBisectResult;

// Searches the pipelines of a list (as hlo_pipelines_run runs them) over a module, which hlo_verify_module accepts and
// which stays as it is. Fails when a pass fails or breaks a rule before the predicate holds. The caller frees *out.
HLO_MUST_USE HloStatus hlo_bisect_passes(const HloElement *list, const HloModule *m, const HloPredicate *predicate,
                                         const HloBisectOptions *options, HloBisectResult *out);
void hlo_bisect_result_free(HloBisectResult *result);

// The commands that show what was found.
typedef struct HloBisectCommands {
    const char
        *source;  // all passes over the module that was given, as `hlo-opt --platform=cpu m.hlo`; NULL: not shown
    const char *reproducer;  // the file that `before` stands in; NULL: it is not written
} HloBisectCommands;

// Appends what was found, for people: the culprit, what it changed, and the commands.
void hlo_put_bisect_report(HloBuffer *out, const HloBisectResult *result, const HloBisectCommands *commands);
// Appends the reproducer: `before`, under comments with the commands.
void hlo_put_bisect_reproducer(HloBuffer *out, const HloBisectResult *result, const HloBisectCommands *commands);

// ---- over dumps -----------------------------------------------------------------------------------------

// What the name of a dumped module says (dump chapter, §3.1):
// `module_0001.f.0012.simplification.after_algsimp.before_dce.txt`.
typedef struct HloDumpName {
    int64_t module_id;
    int64_t step;          // -1: before all passes; INT64_MAX: after them
    const char *module;    // "": left out
    const char *pipeline;  // NULL: none
    const char *after;     // the pass, or the moment; before and after all passes: `before_optimizations` and the like
    const char *before;    // NULL: none
} HloDumpName;

// Reads a file name without folder; texts go to the arena. False: not the text of a module at a moment of compilation.
bool hlo_dump_name_parse(HloArena *arena, const char *file, HloDumpName *out);

typedef struct HloDumpBisectOptions {
    HloBisectSearch search;
    const char *module;  // a regular expression for `module_NNNN.name`; NULL: all modules
    size_t context;
    bool colour;
} HloDumpBisectOptions;

// Searches the dumps of each module in a folder in the order of passes and appends a report for each. *found tells
// whether there is one of them where the predicate becomes true. NOT_FOUND when the folder has no such dumps.
HLO_MUST_USE HloStatus hlo_bisect_dumps(const char *folder, const HloPredicate *predicate,
                                        const HloDumpBisectOptions *options, HloBuffer *report, bool *found);

#endif
