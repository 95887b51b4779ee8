// Tokens of HLO text.
//
// The lexer works on the caller's buffer and allocates nothing: a token is a kind, a span of the buffer and, for
// numbers and types, a value. There is one current token; what the grammar decides by one character of lookahead is
// asked with hlo_lex_peek. A malformed token has kind ERROR and no message: the reader says what it expected there.
#ifndef HLO_TEXT_LEXER_H
#define HLO_TEXT_LEXER_H

#include "hlo/arena.h"
#include "hlo/containers.h"
#include "hlo/status.h"
#include "hlo/types.h"

typedef enum HloTokenKind {
    HLO_TOK_EOF,
    HLO_TOK_ERROR,
    // Punctuation.
    HLO_TOK_EQUAL,
    HLO_TOK_COMMA,
    HLO_TOK_COLON,
    HLO_TOK_ASTERISK,
    HLO_TOK_QUESTION,
    HLO_TOK_SHARP,
    HLO_TOK_PLUS,
    HLO_TOK_TILDE,
    HLO_TOK_LSQUARE,
    HLO_TOK_RSQUARE,
    HLO_TOK_LBRACE,
    HLO_TOK_RBRACE,
    HLO_TOK_LPAREN,
    HLO_TOK_RPAREN,
    HLO_TOK_DOTS,
    HLO_TOK_ARROW,
    HLO_TOK_LESS_EQUAL,
    // Words. The span leaves out the `%` of a name, the `:` behind one and the `=` of an attribute name.
    HLO_TOK_NAME,   // `%x` or `x:`
    HLO_TOK_ATTR,   // `x=`
    HLO_TOK_IDENT,  // any other word that is no keyword
    HLO_TOK_TYPE,   // `type` is set
    // Keywords, in the order of the lexer's table.
    HLO_TOK_TRUE,
    HLO_TOK_FALSE,
    HLO_TOK_INF,  // also -inf; `decimal` is set
    HLO_TOK_MODULE,
    HLO_TOK_ENTRY,
    HLO_TOK_ROOT,
    HLO_TOK_FILE_LOCATIONS,
    HLO_TOK_FILE_NAMES,
    HLO_TOK_FUNCTION_NAMES,
    HLO_TOK_STACK_FRAMES,
    HLO_TOK_MAXIMAL,
    HLO_TOK_REPLICATED,
    HLO_TOK_MANUAL,
    HLO_TOK_LAST_TILE_DIM_REPLICATE,
    HLO_TOK_SHARD_AS,
    HLO_TOK_SHARD_LIKE,
    HLO_TOK_UNKNOWN,
    HLO_TOK_UNREDUCED,
    // Numbers and patterns.
    HLO_TOK_INT,      // `integer` is set
    HLO_TOK_DECIMAL,  // `decimal` is set; also nan
    HLO_TOK_NAN,      // `decimal` has the sign, `integer` the payload (0: none)
    HLO_TOK_DIM_LABELS,
    HLO_TOK_DXD,
    HLO_TOK_PAD,
    HLO_TOK_STRING,  // the span is inside the quotes; see hlo_lex_unescape
} HloTokenKind;

typedef struct HloToken {
    HloTokenKind kind;
    HloType type;
    const char *at;    // first byte, for messages
    const char *text;  // span
    size_t size;
    bool negative_zero;  // INT written -0
    int64_t integer;
    double decimal;
} HloToken;

typedef struct HloLexer {
    const char *next;         // first byte behind the current token
    HloToken token;           // the current token
    const char *begin, *end;  // the whole text
} HloLexer;

// Starts on a text and reads the first token.
HloLexer hlo_lex_start(HloStringView text);
// Reads the next token into lex->token; stays at the end of the text.
void hlo_lex_next(HloLexer *lex);
// The first byte of the next token, 0 at the end of the text (or at a NUL).
char hlo_lex_peek(const HloLexer *lex);
// With `{` current: takes everything up to its matching `}` as one token of kind STRING whose span includes both
// braces (JSON-like dictionary, grammar chapter §1.6). False when it is not closed.
bool hlo_lex_dict(HloLexer *lex);
// The name of a kind as messages show it (`kLbrace`).
const char *hlo_token_name(HloTokenKind kind);

// The bytes a quoted string means; a zero-terminated arena copy. NULL when an escape is malformed.
char *hlo_lex_unescape(HloArena *arena, const char *text, size_t size, size_t *out_size);

// The double nearest to a decimal text (`-12.5e3`) that the lexer has accepted; infinite on overflow.
double hlo_decimal_read(const char *text, size_t size);

#endif
