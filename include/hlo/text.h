// HLO text: reading and printing modules.
#ifndef HLO_TEXT_H
#define HLO_TEXT_H

#include "hlo/buffer.h"
#include "hlo/module.h"
#include "hlo/status.h"

// ---- reading --------------------------------------------------------------------------------------------

// Versions of the language by when they were current: before forms of 2026-08, and with them.
enum { HLO_VERSION_2026_02 = 202602, HLO_VERSION_2026_08 = 202608 };

typedef struct HloParseOptions {
    const char *file_name;      // for messages; NULL: "<text>"
    size_t lines_before;        // lines of the file before the text, for messages
    bool keep_missing_layouts;  // leave shapes without layout as they are instead of filling the default
    bool zero_elided;           // `{...}` becomes zeros instead of distinct filler
    bool drop_zero_sign;        // the token `-0` is plus zero, as the reference reads it (`-0.0` keeps its sign)
    bool renumber_frames;       // keep only the stack frames that instructions name, numbered by first use, and drop
                                // ids without a frame (grammar chapter, §2.3); otherwise tables stay as written
    size_t max_errors;          // how many errors are told before reading ends, at most 1000; 0: 20
    int hlo_version;            // forms newer than this version of the language, as 202602, are refused; 0: those newer
                                // than 202602 that no dumps in circulation have
    size_t memory_limit_bytes;  // 0: none; past it the parse ends with RESOURCE_EXHAUSTED
} HloParseOptions;

// The number of a version named as in `--hlo-version=2026-02`; 0 for NULL and "".
HLO_MUST_USE HloStatus hlo_version_parse(const char *text, int *out);

// Reads a module, a list of computations without header, or a single instruction (grammar chapter). On success
// the caller owns *out. Failure is INVALID_ARGUMENT and leaves *out alone; its message has every error found, in the
// order of the text, each with file:line:col, the source line and a caret. The text need not be zero-terminated and is
// not kept.
HLO_MUST_USE HloStatus hlo_parse_module(HloStringView text, const HloParseOptions *options, HloModule **out);

// Reads one shape; the whole text must be consumed.
HLO_MUST_USE HloStatus hlo_parse_shape(HloShapes *shapes, HloStringView text, const HloShape **out);

// Reads `shape literal` (`f32[2] {1, 2}`, `( s32[] 1, pred[] true )`).
HLO_MUST_USE HloStatus hlo_parse_literal(HloArena *arena, HloShapes *shapes, HloStringView text, HloLiteral **out);
// Reads a bare value for a known shape (`{1, 2}`).
HLO_MUST_USE HloStatus hlo_parse_literal_of(HloArena *arena, HloShapes *shapes, const HloShape *shape,
                                            HloStringView text, HloLiteral **out);

// Copies `text` without log prefixes at line starts (`I0521 12:04:45.883483 1509 service:186] `). When no line
// has one, *out stays empty and false is returned: use the text itself.
bool hlo_strip_log_prefixes(HloStringView text, HloBuffer *out);

// ---- printing -------------------------------------------------------------------------------------------

typedef enum HloCalleeMode {
    HLO_CALLEES_NAMES,
    HLO_CALLEES_OFF,
    HLO_CALLEES_BODIES,
    HLO_CALLEES_NONSEQUENTIAL_BODIES,
} HloCalleeMode;

#define HLO_PRINT_TYPE_BOOL bool
#define HLO_PRINT_TYPE_INT int64_t
#define HLO_PRINT_TYPE_CALLEES HloCalleeMode

// Every switch of the printing chapter, §1.1, as print_options.def explains them. Start from a preset; a zeroed struct
// is no preset.
typedef struct HloPrintOptions {
#define HLO_PRINT_OPTION(kind, field, flag, plain, brief, canonical, fingerprint, module_fingerprint, dump, help) \
    HLO_PRINT_TYPE_##kind field;
#include "hlo/print_options.def"
} HloPrintOptions;

// The presets of the printing chapter, §1.1.
HloPrintOptions hlo_print_default(void);
HloPrintOptions hlo_print_short(void);
HloPrintOptions hlo_print_canonical(void);
HloPrintOptions hlo_print_fingerprint(void);
HloPrintOptions hlo_print_module_fingerprint(void);
// What hlo-opt and dumps use: Default without async sugar, with compact get-tuple-element.
HloPrintOptions hlo_print_dump(void);
// Default with operand shapes, as releases of some years ago printed.
HloPrintOptions hlo_print_long(void);

// Appends the text; a module's ends in `}` and an empty line.
void hlo_print_module(const HloModule *m, const HloPrintOptions *options, HloBuffer *out);
// Only the header line, and with metadata the tables that belong to it.
void hlo_print_header(const HloModule *m, const HloPrintOptions *options, HloBuffer *out);
void hlo_print_computation(const HloComputation *comp, const HloPrintOptions *options, HloBuffer *out);
// One instruction line without indentation, `ROOT` and newline.
void hlo_print_instruction(const HloInstruction *inst, const HloPrintOptions *options, HloBuffer *out);
// The instruction's attributes without called computations, each behind a newline: `\ndimensions={1}`; the numbers of
// dimensions of a dot, gather or scatter share a line. Scratch memory is for names that the options make.
void hlo_print_attributes(const HloInstruction *inst, const HloPrintOptions *options, HloArena *scratch,
                          HloBuffer *out);

// Pieces that messages and reports share.
void hlo_put_escaped(HloBuffer *out, const char *text, size_t size);  // C escapes, no quotes (§7)
// How much of a sharding's metadata is written: HLO_SHARDING_SUMS also the reduction of partial values when it is the sum,
// as the language has it from 2026-08 on.
typedef enum HloShardingMetadata { HLO_SHARDING_BARE, HLO_SHARDING_METADATA, HLO_SHARDING_SUMS } HloShardingMetadata;
void hlo_put_sharding(HloBuffer *out, const HloSharding *sharding, HloShardingMetadata metadata);
void hlo_put_groups(HloBuffer *out, const HloGroups *groups, bool full_list);
void hlo_put_window(HloBuffer *out, const HloWindow *window);
void hlo_put_conv_dims(HloBuffer *out, const HloConvDims *dims);
// Whether a text is one JSON-like dict and so printed raw (§7).
bool hlo_is_json_dict(const char *text);

#endif
