// Dumps: modules and what belongs to them, written into a folder or to standard output while a module is worked on
// (`--xla_dump_to` and its relatives; dump chapter).
//
// A program makes one HloDump from the options, tells it which module begins, and calls it at fixed moments; between
// passes it is called by an observer. Every call accepts a NULL dump, which dumps nothing. Files appear whole or not at
// all; their names are `module_0000.NAME.…` with every `/`, `\`, `[`, `]`, blank and control character replaced, so no
// module can name a place outside the folder. A folder or file that cannot be written is an error.
#ifndef HLO_DUMP_H
#define HLO_DUMP_H

#include "hlo/debug_options.h"
#include "hlo/observers.h"

typedef struct HloDump HloDump;

// What the options ask for; *dump is NULL when that is nothing. The options are borrowed. Text for standard output goes
// to `out`, warnings (a form that standard output cannot take, a module too many) to `log`.
HLO_MUST_USE HloStatus hlo_dump_new(const HloDebugOptions *options, HloSink out, HloSink log, HloDump **dump);
void hlo_dump_free(HloDump *dump);

// The calls that follow are about `m`. Modules are numbered from 0 in the order in which they begin; a module that the
// pattern of names does not find gets a number too.
void hlo_dump_begin(HloDump *dump, const HloModule *m);

// Whether anything of the module is dumped, and as text: whether to prepare reports.
bool hlo_dump_wants(const HloDump *dump);
bool hlo_dump_wants_text(const HloDump *dump);
// Whether dumps of this emitter (`llvm`) are asked for.
bool hlo_dump_wants_emitter(const HloDump *dump, const char *emitter);

// What belongs to a stage beside the module.
typedef enum HloDumpPartKind {
    HLO_DUMP_REPORT,  // text, written when the module is: `module_0000.m.STAGE` + suffix, such as `-live-range.txt`
    HLO_DUMP_BYTES,   // bytes, written when the module is as a proto; compressed like it
    HLO_DUMP_FIELDS,  // fields of HloProto behind the module; no file of its own
} HloDumpPartKind;
typedef struct HloDumpPart {
    HloDumpPartKind kind;
    const char *suffix;
    HloStatus (*put)(HloBuffer *out, const void *data);
    const void *data;
} HloDumpPart;

// Writes a stage of the module in every form asked for, `module_0000.m.STAGE.txt` and so on, with its parts, and the
// options that differ from their defaults as `module_0000.m.debug_options`.
HLO_MUST_USE HloStatus hlo_dump_stage(HloDump *dump, const HloModule *m, const char *stage, const HloDumpPart *parts,
                                      size_t part_count);

// Writes `module_0000.m.SUFFIX`: text, or bytes that standard output does not take.
HLO_MUST_USE HloStatus hlo_dump_text(HloDump *dump, const char *suffix, HloStringView text);
HLO_MUST_USE HloStatus hlo_dump_bytes(HloDump *dump, const char *suffix, HloStringView bytes);

// Whether executions are dumped, and one of them: the module that runs, its arguments and result (NULL before it is
// known) as an HloSnapshot, `module_0000.m.snapshot.RUN.pb`. RUN is a number made of the module's text.
bool hlo_dump_wants_snapshots(const HloDump *dump);
HLO_MUST_USE HloStatus hlo_dump_snapshot(HloDump *dump, const HloModule *m, const HloLiteral *const *arguments,
                                         size_t count, const HloLiteral *result);

// Dumps between the passes that the patterns find (dump chapter, §2.5), and inside those that have steps:
// `module_0000.m.STEP.PIPELINE.after_A.before_B.txt`, `module_0000.m.STEP.PASS.POINT.txt`. *out is NULL when no passes
// are asked for, and dies with the dump. The runner is the one that the observer is given to.
HLO_MUST_USE HloStatus hlo_dump_observe(HloDump *dump, const HloRunner *runner, const HloPassObserver **out);

#endif
