// What the parts of the reader share.
//
// The reader is a recursive-descent parser over the lexer's current token. Every hlo_read_* function starts at the
// first token of what it reads, leaves the first token behind it current, and returns false after recording an error;
// the first error of a line counts, with notes that callers add on the way out. What the user can nest is either
// read with an explicit stack or counted by hlo_enter.
//
// After a failed instruction or computation reading goes on behind it (parse_recover.c). Its name is then known as
// failed, so that its uses say nothing: a computation as a NULL, an instruction as a placeholder that is in no
// computation and has the declared shape, or none. A line that needs what is not known fails without an error.
#ifndef HLO_TEXT_PARSE_H
#define HLO_TEXT_PARSE_H

#include "hlo/module.h"
#include "hlo/text.h"

#include "lexer.h"

// As the grammar chapter's nesting limit (§4.2).
enum { HLO_DEPTH_LIMIT = 8192 };

typedef struct HloReader HloReader;
typedef struct HloLine HloLine;

// ---- names ----------------------------------------------------------------------------------------------

// A map from spans of the text to pointers that is emptied in the time it took to fill; see parse_names.c.
typedef struct HloNameSlot {
    const char *text;  // in the text being read, so it also tells where the name was defined
    void *value;
    uint32_t size, hash;
} HloNameSlot;

typedef struct HloNamePlace {
    uint32_t hash;
    uint32_t number;  // of its slot, from 1; 0: empty
} HloNamePlace;

enum { HLO_NAME_BLOCKS = 28 };

typedef struct HloNameTable {
    HloNamePlace *places;                  // open addressing
    size_t place_count;                    // 0 or a power of two
    HloNameSlot *blocks[HLO_NAME_BLOCKS];  // slots in the order of their entry; each block has twice the room
    size_t count;
} HloNameTable;

// The slot entered as the i-th, below table->count.
HloNameSlot *hlo_names_slot(const HloNameTable *table, size_t i);
void hlo_names_clear(HloNameTable *table);
HloNameSlot *hlo_names_find(const HloNameTable *table, const char *text, size_t size);
// The slot of a name, new when `*is_new`. New slots hold the span itself.
HloNameSlot *hlo_names_at(HloArena *arena, HloNameTable *table, const char *text, size_t size, bool *is_new);

// ---- the reader -----------------------------------------------------------------------------------------

// Structs of one size, gathered in scratch memory while their number is unknown.
typedef struct HloItems {
    char *data;
    size_t count, capacity;
} HloItems;

typedef struct HloDiagnostic {
    const char *at;       // in the text
    const char *message;  // scratch memory, like notes
    const char *notes;    // lines to follow the caret, each with a newline in front
} HloDiagnostic;

// One computation being read.
typedef struct HloScope HloScope;
struct HloScope {
    HloScope *outer;
    HloComputation *comp;
    HloNameTable names;    // instructions by their written names
    HloMap elements;       // `%t#1#0` -> get-tuple-element
    HloInstruction *root;  // the one marked ROOT
    bool free_names;       // unknown operands become parameters (single-instruction text)
};

struct HloReader {
    HloLexer lex;
    HloModule *m;       // NULL when only a shape or a literal is read
    HloArena *arena;    // where results live
    HloArena *scratch;  // where everything else lives
    HloShapes *shapes;
    const char *file_name;
    size_t lines_before;  // of the file before the text
    bool keep_missing_layouts, zero_elided, drop_zero_sign, renumber_frames;
    bool eliding;           // the parts of an elided tuple literal are made, not read
    bool adjacent_layouts;  // a layout follows its shape without blanks (typed literals)

    HloDiagnostic error;  // being dealt with; `at` NULL: none
    HloBuffer notes;      // that go with it
    HloItems errors;      // HloDiagnostic: those kept so far
    size_t max_errors;
    int hlo_version;          // 0: as HloParseOptions says
    bool failed;              // something was not read; lines may have placeholders as operands
    bool stopped;             // there were more errors than wanted
    const char *resync_from;  // reading goes on nowhere before this place

    size_t depth;
    uint32_t filler;        // the next 32-bit word of elided constants
    size_t elided_bytes;    // stored for elided constants so far
    size_t unbacked_bytes;  // allocated for constants with fewer values than elements
    HloScope *scope;
    HloScope *free_scopes;      // closed ones, whose tables can be used again
    HloNameTable computations;  // NULL: failed; without root: not there yet
    HloItems early_calls;       // of computations that are not there yet; see parse_callees.c
    HloItems early_starts;
    HloNameTable shape_texts;       // plain array shapes by their spelling
    HloOpcode recent_opcodes[128];  // see parse_instruction.c
    HloNames anonymous;             // uniquifier of nested instructions' names
    bool anonymous_used;            // before that, names are not entered in it
    bool single;                    // single-instruction text: inline computations wait in `pending`
    HloVec pending;

    HloMap async_starts;    // async-update -> the async-start of its chain
    HloVec async_chains;    // every async-start, in text order
    HloFrames frames;       // the tables as written
    HloComputation *entry;  // the one marked ENTRY
    const char *entry_at;   // its mark
    HloComputation *last;   // the computation finished last

    HloVec operands;     // of the instructions being read, outermost first
    HloInts ints;        // scratch of int lists
    HloVec shape_stack;  // scratch of tuple shapes
    HloInts shape_frames;
    // One bit for each opcode, attribute and type of which there may be a form that the version does not have, so that
    // all others pass at once; set by hlo_versions_start.
    uint64_t newer_ops[HLO_OP_COUNT / 64 + 1], newer_attrs[HLO_ATTR_COUNT / 64 + 1], newer_types;
};

// parse_errors.c
// Records an error at a place of the text, unless there is one already. Always false.
bool hlo_read_error(HloReader *r, const char *at, const char *format, ...) HLO_PRINTF(3, 4);
// Adds a line about what was being read to the error. Always false.
bool hlo_read_note(HloReader *r, const char *at, const char *format, ...) HLO_PRINTF(3, 4);
// Puts the error, if there is one, with the others, so that reading can go on. False when there are more than wanted:
// reading should end.
bool hlo_errors_keep(HloReader *r);
// All errors as one status, in the order of the text.
HloStatus hlo_errors_status(HloReader *r);

// parse_hints.c: the nearest of the words that are offered
typedef struct HloHint {
    HloStringView wrong, best;  // best: data NULL while none is near
    size_t limit;               // a word must be as near as this
} HloHint;

HloHint hlo_hint_for(const char *text, size_t size);
void hlo_hint_offer(HloHint *hint, const char *word, size_t size);
// `; did you mean X?` for the end of a message, or "".
const char *hlo_hint_text(HloReader *r, const HloHint *hint);
const char *hlo_hint_of_names(HloReader *r, const HloNameTable *names, const char *text, size_t size);
const char *hlo_hint_of_types(HloReader *r, const char *text, size_t size);
// The current token is no attribute that may stand here. Always false; `known` is sorted in place and may repeat.
bool hlo_unexpected_attribute(HloReader *r, const char **known, size_t count);

// Counts one level of nesting; false past the limit. hlo_leave undoes it.
bool hlo_enter(HloReader *r, size_t levels);
static inline void hlo_leave(HloReader *r, size_t levels) {
    r->depth -= levels;
}

static inline HloTokenKind hlo_tok(const HloReader *r) {
    return r->lex.token.kind;
}
static inline const char *hlo_here(const HloReader *r) {
    return r->lex.token.at;
}
static inline void hlo_skip(HloReader *r) {
    hlo_lex_next(&r->lex);
}
static inline bool hlo_accept(HloReader *r, HloTokenKind kind) {
    if (hlo_tok(r) != kind) return false;
    hlo_skip(r);
    return true;
}
// The current token is the word.
static inline bool hlo_at_word(const HloReader *r, const char *word) {
    const HloToken *t = &r->lex.token;
    return t->kind == HLO_TOK_IDENT && strlen(word) == t->size && memcmp(word, t->text, t->size) == 0;
}
// The current token is `word=`.
static inline bool hlo_at_attr(const HloReader *r, const char *word) {
    const HloToken *t = &r->lex.token;
    return t->kind == HLO_TOK_ATTR && strlen(word) == t->size && memcmp(word, t->text, t->size) == 0;
}
// Skips a token of the kind or reports `message` there.
static inline bool hlo_expect(HloReader *r, HloTokenKind kind, const char *message) {
    return hlo_accept(r, kind) || hlo_read_error(r, hlo_here(r), "%s", message);
}

// ---- parse_basics.c: values without structure -----------------------------------------------------------

bool hlo_read_int(HloReader *r, int64_t *out);
bool hlo_read_int32(HloReader *r, int64_t *out);
bool hlo_read_bool(HloReader *r, bool *out);
// Any number, inf or nan included.
bool hlo_read_double(HloReader *r, double *out);
bool hlo_read_float(HloReader *r, double *out);
// A quoted string as an interned text (module) or arena copy; bytes may contain NULs.
bool hlo_read_string(HloReader *r, const char **out, size_t *size);
// A quoted string or a JSON-like dict, which is kept raw.
bool hlo_read_text(HloReader *r, const char **out);
// An identifier or a name, as a span of the text.
bool hlo_read_name(HloReader *r, HloStringView *out);
// open item ("," item)* close, or open close
bool hlo_read_list(HloReader *r, HloTokenKind open, HloTokenKind close, bool (*item)(HloReader *r, void *data),
                   void *data);
// The same for integers, in the arena.
bool hlo_read_ints(HloReader *r, HloTokenKind open, HloTokenKind close, HloDims *out);
// `{1,0}`
static inline bool hlo_read_dims(HloReader *r, HloDims *out) {
    return hlo_read_ints(r, HLO_TOK_LBRACE, HLO_TOK_RBRACE, out);
}
bool hlo_read_int_lists(HloReader *r, HloIntLists *out);

// A new zeroed item; valid until the next push.
void *hlo_items_push(HloReader *r, HloItems *items, size_t item_bytes);
// All of them as an array in the result's arena; NULL when there is none.
void *hlo_items_copy(HloReader *r, const HloItems *items, size_t item_bytes);

// ---- parts ----------------------------------------------------------------------------------------------

// parse_shape.c
bool hlo_at_shape(const HloReader *r);
bool hlo_read_shape(HloReader *r, const HloShape **out);

// parse_literal.c
bool hlo_read_literal_of(HloReader *r, const HloShape *shape, HloLiteral **out);
bool hlo_read_typed_literal(HloReader *r, HloLiteral **out);

// parse_window.c
bool hlo_read_window(HloReader *r, const HloWindow **out);
bool hlo_read_conv_dims(HloReader *r, const HloConvDims **out);
bool hlo_read_padding(HloReader *r, const HloPadding **out);
bool hlo_read_slice(HloReader *r, const HloSlice **out);
bool hlo_read_sparsity(HloReader *r, const HloSparsity **out);

// parse_alias.c
bool hlo_read_aliases(HloReader *r, bool with_kind, HloAliases *out);
bool hlo_read_donors(HloReader *r, HloAliases *out);
// Sorts by output index; of several entries for one index the first counts.
void hlo_sort_aliases(HloReader *r, HloAliases *aliases);

// Sorts donors and drops those that stand twice; returns how many are left.
size_t hlo_sort_donors(HloAlias *donors, size_t count);

// parse_sharding.c, sharding_form.c
bool hlo_read_sharding(HloReader *r, const HloSharding **out);
// One sharding per leaf of a tuple shape.
const HloSharding *hlo_sharding_for_tuple(HloReader *r, const HloSharding *sharding, const HloShape *shape);
// The normal form of a device order: `[2,2]T(0,1)` -> `[4]`.
HloIota hlo_iota_normal(HloArena *arena, HloIota iota);
// Metadata of this type is how the reduction of an unreduced sharding is written; it is no metadata.
bool hlo_metadata_is_reduction(const HloMetadata *md, HloReduction *out);
// The normal form of a tiled sharding with subgroups, read as `last_tile_dim_replicate` or `last_tile_dims`.
bool hlo_sharding_normal(HloReader *r, const char *at, HloSharding *sharding);

// parse_mesh.c
bool hlo_at_mesh(const HloReader *r);
bool hlo_read_named_sharding(HloReader *r, HloSharding *out);
// Without dimensions, the words for a mesh that is replicated, manual or unreduced as a whole take the place of lists.
void hlo_named_sharding_normal(HloSharding *s);
bool hlo_read_groups(HloReader *r, const HloGroups **out);
// "<=" "[" ints "]" ("T(" ints ")")?     in normal form
bool hlo_read_iota(HloReader *r, HloIota *out);

// parse_metadata.c
bool hlo_read_metadata(HloReader *r, const HloMetadata **out);
bool hlo_read_string_map(HloReader *r, HloStringMap *out);
bool hlo_read_origin(HloReader *r, const HloOrigin **out);
bool hlo_read_statistics(HloReader *r, const HloStatistics **out);
bool hlo_read_accuracy(HloReader *r, const HloAccuracy **out);
bool hlo_read_domain(HloReader *r, const HloDomain **out);

// parse_tables.c
bool hlo_read_frames(HloReader *r);
// Moves the tables into the module, renumbered if asked for.
void hlo_store_frames(HloReader *r);
bool hlo_read_recovery(HloReader *r);
bool hlo_read_debug_rows(HloReader *r);

// parse_versions.c: what not every version of the language has; an error where the one asked for does not
typedef enum HloForm {
    HLO_FORM_TUPLE_ELEMENT,
    HLO_FORM_MESH_GROUPS,
    HLO_FORM_MESH_SHARDING,
    HLO_FORM_LATE_OPERANDS,
    HLO_FORM_NEW_ASYNC_SHAPE,
    HLO_FORM_DEBUG_ATTRIBUTES,
    HLO_FORM_METADATA_PAYLOAD,
    HLO_FORM_SINGLE_QUOTES,
    HLO_FORM_COUNT
} HloForm;

void hlo_versions_start(HloReader *r);
bool hlo_version_has(HloReader *r, const char *at, HloForm form);
// Of what has its bit set: an opcode (attr HLO_ATTR_COUNT) or an attribute of it, and a type.
bool hlo_version_has_newer(HloReader *r, const char *at, HloOpcode op, HloAttrId attr);
bool hlo_version_has_newer_type(HloReader *r, const char *at, HloType type);
static inline bool hlo_version_has_op(HloReader *r, const char *at, HloOpcode op) {
    return !(r->newer_ops[op / 64] >> op % 64 & 1) || hlo_version_has_newer(r, at, op, HLO_ATTR_COUNT);
}
static inline bool hlo_version_has_attr(HloReader *r, const char *at, HloOpcode op, HloAttrId attr) {
    return !(r->newer_attrs[attr / 64] >> attr % 64 & 1) || hlo_version_has_newer(r, at, op, attr);
}
static inline bool hlo_version_has_type(HloReader *r, const char *at, HloType type) {
    return !(r->newer_types >> type & 1) || hlo_version_has_newer_type(r, at, type);
}

// parse_module.c: any of the three forms of text, into r->m.
bool hlo_read_module_text(HloReader *r);

// parse_computation.c
bool hlo_read_computation(HloReader *r);
// `{` instructions `}` as an attribute's value
bool hlo_read_inline_computation(HloReader *r, HloComputation **out);
// Parameter numbers must run from 0 without gaps.
bool hlo_check_parameters(HloReader *r, const char *at, const HloComputation *comp);
// Puts a complete computation into the module.
void hlo_finish_computation(HloReader *r, HloComputation *comp);
HloScope *hlo_scope_open(HloReader *r, HloComputation *comp);
void hlo_scope_close(HloReader *r);

// parse_recover.c: where to go on after an error
typedef enum HloResync {
    HLO_RESYNC_NONE,         // at no instruction: enough errors, or the body's end is lost
    HLO_RESYNC_INSTRUCTION,  // at an instruction, or at the `}` behind the last one
    HLO_RESYNC_COMPUTATION,  // at a computation of the module's list: the body has no end
} HloResync;

// What a reading function may leave half done.
typedef struct HloMark {
    const char *at;
    size_t depth, operand_count, shape_count, shape_frame_count;
    HloScope *scope;
    bool adjacent_layouts;
} HloMark;

HloMark hlo_mark(const HloReader *r);
// Keeps the error and goes on behind the instruction, header attribute or computation that began at the mark.
HloResync hlo_resync_instruction(HloReader *r, const HloMark *mark);
// true: at the next `,` of the header, or behind the header
bool hlo_resync_header(HloReader *r, const HloMark *mark);
bool hlo_resync_computation(HloReader *r, const HloMark *mark);
// The computation's signature was at the mark: goes on at the `{` of its body.
bool hlo_resync_body(HloReader *r, const HloMark *mark);

// Stands for an instruction that could not be read.
static inline bool hlo_is_placeholder(const HloInstruction *inst) {
    return !inst->comp;
}

// parse_instruction.c: `ROOT? name = …`, where the left side may lack in single-instruction text
bool hlo_read_instruction(HloReader *r);

// parse_operands.c
// With the token behind `(` current: the operands and the `)`, into r->operands from line->operand_base on.
bool hlo_read_operands(HloReader *r, HloLine *line);

// The instruction line being read.
struct HloLine {
    const char *at;      // first token
    HloStringView name;  // as written; data NULL for a nested instruction
    const char *shape_at;
    const HloShape *shape;  // as declared; NULL: to be inferred
    const char *op_at;
    HloOpcode op;  // of the sugar: ASYNC_START, ASYNC_UPDATE or ASYNC_DONE
    bool sugar;
    HloOpcode wrapped_op;  // sugar only
    const char *paren_at;  // the `(`
    const char *attrs_at;  // first token behind the `)`
    size_t operand_base;   // operands: r's operand stack from here on
    int64_t parameter_number;
    HloLiteral *literal;
    HloInstruction *inst;
    HloInstruction *wrapped;       // sugar's start only: the instruction inside
    HloComputation *wrapped_comp;  // and its computation
    uint64_t seen[2];              // attributes given, by id
    const HloSharding *sharding;   // set when the shape is known
    HloVec control_preds;
    HloComputation *to_apply;        // of a custom call
    HloComputation *checked_callee;  // `calls` of async-update and async-done
    const char *checked_thread;
    bool unknown_callee;  // one could not be read
};
_Static_assert(HLO_ATTR_COUNT <= 128, "HloLine.seen");

static inline bool hlo_line_has(const HloLine *line, HloAttrId id) {
    return line->seen[id / 64] >> (id % 64) & 1;
}

// parse_instruction.c
// The optional shape, the opcode and the `(`.
bool hlo_read_opcode(HloReader *r, HloLine *line);
// Makes the instruction of a line whose operands are read and, after `attributes` (NULL: there are none), puts it
// into the computation under its name.
bool hlo_finish_line(HloReader *r, HloLine *line, bool (*attributes)(HloReader *r, HloLine *line));
// Gives the instruction of a line its shape, if it has none yet.
bool hlo_infer_line(HloReader *r, HloLine *line);

// parse_attributes.c
bool hlo_read_attributes(HloReader *r, HloLine *line);
bool hlo_check_required(HloReader *r, const HloLine *line);
// A list or struct that says no more than its absence.
bool hlo_attr_says_nothing(HloAttrKind kind, const void *data);

// parse_callees.c: computations as values, also those that stand further down
bool hlo_read_single_callee(HloReader *r, HloLine *line, HloInstruction *inst, HloAttrId id);
bool hlo_read_callees(HloReader *r, HloLine *line, HloInstruction *inst);
// The instruction calls something whose contents are not known yet.
bool hlo_calls_unknown(const HloInstruction *inst);
// The line cannot be finished before its callees are known; false, without an error yet.
bool hlo_callee_needed(HloReader *r, const HloLine *line, const char *what);
// What is said about an async operation is also said about what it wraps, as soon as that is there.
void hlo_share_late(HloReader *r, HloInstruction *async, HloComputation *wrapped);
// At the end of the list: everything that was called before it stood there must be there.
bool hlo_settle_callees(HloReader *r);

// parse_rules.c: what single opcodes ask for beyond the tables
bool hlo_check_operand_count(HloReader *r, const HloLine *line);
// The attribute cannot be used here though the opcode's row lists it.
bool hlo_attribute_is_barred(const HloLine *line, HloAttrId id);
// The attribute must be given here though the opcode's row leaves it optional.
bool hlo_attribute_is_needed(const HloLine *line, HloAttrId id);
// After the attributes: defaults, checks across attributes, shapes that the opcode computes itself.
bool hlo_parse_check_rules(HloReader *r, HloLine *line);

// parse_async.c: async-start, -update, -done, and the sugar for them
bool hlo_async_begin(HloReader *r, HloLine *line);
bool hlo_async_finish(HloReader *r, HloLine *line);
void hlo_share_annotations(HloReader *r, const HloInstruction *async, HloInstruction *wrapped);
// At the end of the text: the threads of what async operations call.
void hlo_async_spread_threads(HloReader *r);

#endif
