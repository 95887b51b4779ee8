// The rows of debug_options.def for code that treats options alike. Private to lib/pass.
#ifndef HLO_PASS_DEBUG_FIELDS_H
#define HLO_PASS_DEBUG_FIELDS_H

#include "hlo/debug_options.h"

typedef enum DebugKind {
    DEBUG_BOOL,
    DEBUG_INT32,
    DEBUG_INT64,
    DEBUG_FLOAT,
    DEBUG_TEXT,
    DEBUG_WORD,
    DEBUG_TEXTS,
    DEBUG_WORDS,
    DEBUG_MAP,
    DEBUG_MESSAGE,
    DEBUG_MESSAGES,
} DebugKind;

// Whether values of a kind are an HloVec.
static inline bool debug_is_list(DebugKind kind) {
    return kind == DEBUG_TEXTS || kind == DEBUG_WORDS || kind == DEBUG_MAP || kind == DEBUG_MESSAGES;
}

typedef struct DebugField {
    const char *name;
    DebugKind kind;
    const char *words;  // WORD, WORDS: the list of debug_words.def
    size_t offset;      // in HloDebugOptions
} DebugField;

// All fields in the order of the message.
const DebugField *debug_fields(size_t *count);
const DebugField *debug_field_find(HloStringView name);
static inline void *debug_value(HloDebugOptions *options, const DebugField *field) {
    return (char *)options + field->offset;
}
const HloDebugOptions *debug_standard(void);

// The word of a list, as the table spells it; NULL when the list has no such word. `same_case` false ignores case.
const char *debug_word_find(const char *list, HloStringView word, bool same_case);
// The same by number.
const char *debug_word_numbered(const char *list, int64_t number);
// Appends the words of a list, joined by commas.
void debug_put_words(HloBuffer *out, const char *list);
// Sets the entry of a map or adds it; RESOURCE_EXHAUSTED when there are too many.
HLO_MUST_USE HloStatus debug_map_set(HloArena *arena, HloVec *map, const char *key, const char *value);

#endif
