// What the files of the printer share; private to lib/text.
//
// A Printer is made per call of a public entry point. Printing nested bodies needs no recursion: a line that calls
// computations is printed up to the place of a body, the body is printed by the loop in print_computation.c, and the
// line goes on after it.
#ifndef HLO_TEXT_PRINT_H
#define HLO_TEXT_PRINT_H

#include "hlo/text.h"

// Numbers of the names `tmp_0`, `tmp_1`, … in one computation's text, in order of first appearance.
typedef struct CanonicalNames {
    uint32_t *numbers;  // by instruction id: number + 1, or 0 when not seen yet
    uint32_t next;
} CanonicalNames;

// Where the text of a shape already stands in the output. Shapes are shared, so most are printed many times.
enum { SHAPE_SPOTS = 1024 };
typedef struct ShapeSpot {
    const HloShape *shape;
    size_t start, size;
} ShapeSpot;

typedef struct Printer {
    HloBuffer *out;
    HloPrintOptions options;
    HloArena *scratch;
    const HloModule *m;     // for stack frames; may be NULL
    CanonicalNames *names;  // of the computation being printed; NULL: none, or an instruction printed alone
    int indent;             // in steps of two blanks
    ShapeSpot *spots;       // SHAPE_SPOTS entries, for shapes printed by hlo_put_shape_of; NULL: no cache
    size_t size_limit;      // nested bodies stop the printer here: their number can be exponential
} Printer;

// The place in the attributes of one instruction line.
typedef struct Line {
    const HloInstruction *inst;   // whose attributes are next
    size_t use;                   // next entry of its opcode's row
    size_t slot;                  // next callee of that entry, while bodies are printed
    const HloInstruction *outer;  // the async-start whose wrapped operation `inst` is; NULL: none
    size_t outer_use;
} Line;

// ---- instruction lines (print_instruction.c) ------------------------------------------------------------

// Prints everything up to the attributes: `NAME = SHAPE OPCODE(OPERANDS)`.
void hlo_line_begin(Printer *p, Line *line, const HloInstruction *inst);
// Prints on until the line is complete (NULL) or the body of the returned computation is to be printed.
const HloComputation *hlo_line_continue(Printer *p, Line *line);

// The name with `%` and without ids as the options say.
void hlo_put_name(Printer *p, const char *name);
// Whether sugar says what this async-start does: its computation is one operation, `X`, and `X-start` can mean nothing
// else when it is read.
bool hlo_takes_sugar(const HloInstruction *start);

// ---- the end of the output, held in registers -----------------------------------------------------------

// Where the next bytes go. The front of a line is many pieces of a few bytes; appending each through the buffer would
// load and store the buffer's fields every time. Between cursor_of and cursor_end the buffer is out of date.
typedef struct Cursor {
    char *at, *limit;  // limit: the last byte of the capacity, kept for the terminator
} Cursor;

static inline Cursor cursor_of(HloBuffer *out) {
    return (Cursor){out->data + out->size, out->data + out->capacity};
}
static inline void cursor_end(HloBuffer *out, Cursor c) {
    if (!c.at) return;  // nothing was ever allocated
    out->size = (size_t)(c.at - out->data);
    *c.at = 0;
}
Cursor hlo_cursor_put_slow(HloBuffer *out, Cursor c, const char *text, size_t size);
static inline Cursor cursor_put(HloBuffer *out, Cursor c, const char *text, size_t size) {
    if ((size_t)(c.limit - c.at) <= size) return hlo_cursor_put_slow(out, c, text, size);
    memcpy(c.at, text, size);
    c.at += size;
    return c;
}

// ---- attributes (print_attributes.c) --------------------------------------------------------------------

// `, key=`
void hlo_put_key(HloBuffer *out, HloAttrId id);
// `, key=value` of an attribute that the opcode's row lists, unless it says nothing.
void hlo_put_own_attribute(Printer *p, const HloInstruction *inst, HloAttrUse use);
// The attributes at the end of the line whose ids lie in [from, to).
void hlo_put_common_attributes(Printer *p, const HloInstruction *inst, HloAttrId from, HloAttrId to);
// The fields of metadata between the braces, separated by blanks.
void hlo_put_metadata_fields(HloBuffer *out, const HloMetadata *metadata);
// `{k1="v1",k2={"a":1}}`
void hlo_put_string_map(HloBuffer *out, const HloStringMap *map);
// `{1,0}`
static inline void hlo_put_dims(HloBuffer *out, HloDims dims) {
    hlo_put_int_list(out, dims.data, dims.count);
}

// The text in quotes, as it is but for quotes and backslashes.
void hlo_put_bare(HloBuffer *out, const char *text);
// `{"name"}` or `{"name" {0,1}}`
void hlo_put_origin_name(HloBuffer *out, const char *name, HloDims index);
// Whether the reduction of a sharding is written as an entry of its metadata; `sums`: also when it is the sum.
bool hlo_sharding_shows_reduction(const HloSharding *s, bool sums);
// `{OUT}: (N, {IN}KIND)`, one entry of an aliasing list; `kind` is `, may-alias` in the header and empty elsewhere.
void hlo_put_alias(HloBuffer *out, const HloAlias *alias, const char *kind);

// ---- computations (print_computation.c) -----------------------------------------------------------------

// How a computation begins: `%name`, `ENTRY %name`, or, for the body behind a callee's key, nothing.
typedef enum Heading { HEADING_NAME, HEADING_ENTRY, HEADING_NONE } Heading;

// The computation from its (indented) heading to `}`, without a newline.
void hlo_put_computation(Printer *p, const HloComputation *comp, Heading heading);

// ---- JSON (print_json.c) --------------------------------------------------------------------------------

// Appends the dict with the keys of all its dicts in order and no blanks; false, and nothing appended, when the text
// is not JSON.
bool hlo_put_sorted_json(HloBuffer *out, HloArena *scratch, const char *text);

// ---- tables around the computations (print_tables.c) ----------------------------------------------------

void hlo_put_recovery_table(Printer *p, const HloModule *m);
void hlo_put_debug_rows(HloBuffer *out, const HloModule *m);
void hlo_put_frames(HloBuffer *out, const HloFrames *frames);

#endif
