// The lexer: one pass over the bytes, driven by a table of character classes.

#include "lexer.h"

#include <endian.h>
#include <math.h>

// For what is rare or long: the paths past it then need no registers of its own.
#define OUT_OF_LINE __attribute__((noinline))

// ---- characters -----------------------------------------------------------------------------------------

enum {
    SPACE = 1,
    DIGIT = 2,
    WORD_START = 4,
    WORD = 8,      // WORD_START, digits, `.` and `-`
    LABEL = 16,    // may stand in dim labels: digits, b f i o ?
    BLANK = 32,    // SPACE, or may start a comment
    KEYWORD = 64,  // starts a keyword
};

static const unsigned char classes[256] = {
    [' '] = SPACE | BLANK,
    ['\t'] = SPACE | BLANK,
    ['\n'] = SPACE | BLANK,
    ['\r'] = SPACE | BLANK,
    ['0' ... '9'] = DIGIT | WORD | LABEL,
    ['A' ... 'D'] = WORD_START | WORD,
    ['E' ... 'F'] = WORD_START | WORD | KEYWORD,
    ['G'] = WORD_START | WORD,
    ['H'] = WORD_START | WORD | KEYWORD,
    ['I' ... 'Q'] = WORD_START | WORD,
    ['R' ... 'S'] = WORD_START | WORD | KEYWORD,
    ['T' ... 'Z'] = WORD_START | WORD,
    ['a'] = WORD_START | WORD,
    ['b'] = WORD_START | WORD | LABEL,
    ['c' ... 'e'] = WORD_START | WORD,
    ['f'] = WORD_START | WORD | LABEL | KEYWORD,
    ['g' ... 'h'] = WORD_START | WORD,
    ['i'] = WORD_START | WORD | LABEL | KEYWORD,
    ['j' ... 'k'] = WORD_START | WORD,
    ['l' ... 'n'] = WORD_START | WORD | KEYWORD,
    ['o'] = WORD_START | WORD | LABEL,
    ['p' ... 'q'] = WORD_START | WORD,
    ['r' ... 'u'] = WORD_START | WORD | KEYWORD,
    ['v' ... 'z'] = WORD_START | WORD,
    ['_'] = WORD_START | WORD,
    ['.'] = WORD,
    ['-'] = WORD,
    ['?'] = LABEL,
    ['/'] = BLANK,
};

static bool is_class(char c, int class) {
    return classes[(unsigned char)c] & class;
}

// The byte at p, 0 past the end.
static char at(const HloLexer *lex, const char *p) {
    return p < lex->end ? *p : 0;
}

static const char *skip_class(const HloLexer *lex, const char *p, int class) {
    while (p < lex->end && is_class(*p, class)) p++;
    return p;
}

// Sixteen bytes at once: comparing gives bytes of all ones where it holds.
typedef unsigned char Bytes __attribute__((vector_size(16)));

// The position of the first byte that is not zero.
static size_t first_byte(uint64_t word) {
    return (size_t)__builtin_ctzll(htole64(word)) / 8;
}

// The first byte that is no WORD. Names are most of a text.
static inline const char *skip_word(const HloLexer *lex, const char *p) {
    for (; lex->end - p >= (ptrdiff_t)sizeof(Bytes); p += sizeof(Bytes)) {
        Bytes text;
        memcpy(&text, p, sizeof text);
        Bytes word = (Bytes)((text | 0x20) - 'a' < 26) | (Bytes)(text - '0' < 10) | (Bytes)(text == '_') |
                     (Bytes)(text - '-' < 2);
        uint64_t low = ~hlo_load_u64(&word), high = ~hlo_load_u64((const char *)&word + 8);
        if (low) return p + first_byte(low);
        if (high) return p + 8 + first_byte(high);
    }
    return skip_class(lex, p, WORD);
}

// Skips white space and comments. NULL when a comment has no end or holds a NUL; *bad is then its place.
static OUT_OF_LINE const char *skip_blank(const HloLexer *lex, const char *p, const char **bad) {
    for (;;) {
        p = skip_class(lex, p, SPACE);
        if (at(lex, p) != '/') return p;
        const char *start = p;
        if (at(lex, p + 1) == '/') {
            while (p < lex->end && *p != '\n' && *p != '\r' && *p) p++;
        } else if (at(lex, p + 1) == '*') {
            p += 2;
            while (p < lex->end && *p && !(*p == '*' && at(lex, p + 1) == '/')) p++;
            if (at(lex, p) == '*')
                p += 2;
            else
                p = NULL;
        } else {
            p = NULL;
        }
        if (!p || (p < lex->end && !*p)) {
            *bad = start;
            return NULL;
        }
    }
}

// ---- tokens ---------------------------------------------------------------------------------------------

static void finish(HloLexer *lex, HloTokenKind kind, const char *end) {
    lex->token.kind = kind;
    lex->next = end;
}

static void finish_span(HloLexer *lex, HloTokenKind kind, const char *text, const char *text_end, const char *end) {
    lex->token.text = text;
    lex->token.size = (size_t)(text_end - text);
    finish(lex, kind, end);
}

static void finish_error(HloLexer *lex) {
    finish_span(lex, HLO_TOK_ERROR, lex->token.at, lex->token.at + 1, lex->token.at + 1);
}

// ---- words ----------------------------------------------------------------------------------------------

typedef struct Keyword {
    const char *word;
    HloTokenKind kind;
} Keyword;

static const Keyword keywords[] = {
    {"true", HLO_TOK_TRUE},
    {"false", HLO_TOK_FALSE},
    {"inf", HLO_TOK_INF},
    {"nan", HLO_TOK_NAN},
    {"HloModule", HLO_TOK_MODULE},
    {"ENTRY", HLO_TOK_ENTRY},
    {"ROOT", HLO_TOK_ROOT},
    {"FileLocations", HLO_TOK_FILE_LOCATIONS},
    {"FileNames", HLO_TOK_FILE_NAMES},
    {"FunctionNames", HLO_TOK_FUNCTION_NAMES},
    {"StackFrames", HLO_TOK_STACK_FRAMES},
    {"maximal", HLO_TOK_MAXIMAL},
    {"replicated", HLO_TOK_REPLICATED},
    {"manual", HLO_TOK_MANUAL},
    {"last_tile_dim_replicate", HLO_TOK_LAST_TILE_DIM_REPLICATE},
    {"shard_as", HLO_TOK_SHARD_AS},
    {"shard_like", HLO_TOK_SHARD_LIKE},
    {"unknown", HLO_TOK_UNKNOWN},
    {"unreduced", HLO_TOK_UNREDUCED},
};

static HloTokenKind keyword_find(const char *text, size_t size) {
    if (!is_class(text[0], KEYWORD)) return HLO_TOK_IDENT;
    for (size_t i = 0; i < HLO_COUNT(keywords); i++) {
        const char *word = keywords[i].word;
        if (word[0] == text[0] && strlen(word) == size && memcmp(word, text, size) == 0) return keywords[i].kind;
    }
    return HLO_TOK_IDENT;
}

// Every type's name has a digit in its first three characters, except pred, token and opaque.
static bool may_be_type(const char *text, size_t size) {
    if (size < 2 || size > 13) return false;
    switch (text[0]) {
    case 's':
    case 'u':
    case 'f':
    case 'c': return is_class(text[1], DIGIT);
    case 'b': return size == 4 && text[1] == 'f';
    case 'p': return size == 4;
    case 't': return size == 5 && text[1] == 'o';
    case 'o': return size == 6;
    default: return false;
    }
}

// The types that make up nearly all of a text come first, compared as numbers.
static bool find_type(const char *text, size_t size, HloType *out) {
    static const HloType usual[] = {HLO_F32, HLO_BF16, HLO_S32, HLO_PRED, HLO_F16, HLO_F64, HLO_U32, HLO_S64};
    static const char spelling[][4] = {"f32", "bf16", "s32", "pred", "f16", "f64", "u32", "s64"};
    char start[4] = {text[0], text[1], size > 2 ? text[2] : 0, size > 3 ? text[3] : 0};
    for (size_t i = 0; i < HLO_COUNT(usual) && size <= 4; i++) {
        if (hlo_load_u32(spelling[i]) != hlo_load_u32(start)) continue;
        *out = usual[i];
        return true;
    }
    return hlo_type_find(text, size, out);
}

// dim labels = [0-9bf?]{2,} "_" [0-9io?]{2,} "->" [0-9bf?]{2,}   (NULL when the text at p is none)
static const char *match_labels(const HloLexer *lex, const char *p) {
    for (int part = 0; part < 3; part++) {
        const char *start = p;
        while (p < lex->end && is_class(*p, LABEL)) {
            if (part == 1 ? *p == 'b' || *p == 'f' : *p == 'i' || *p == 'o') break;
            p++;
        }
        if (p - start < 2) return NULL;
        if (part == 0 && at(lex, p++) != '_') return NULL;
        if (part == 1) {
            if (at(lex, p) != '-' || at(lex, p + 1) != '>') return NULL;
            p += 2;
        }
    }
    return p;
}

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// nan = "nan" | "nan(0x" hex+ ")"   with a payload of 1 … 2^52 - 1; p stands behind the word
static void read_nan(HloLexer *lex, const char *p, bool negative) {
    HloToken *t = &lex->token;
    t->decimal = negative ? -1 : 1;
    t->integer = 0;
    if (at(lex, p) != '(') {
        finish_span(lex, HLO_TOK_NAN, t->at, p, p);
        return;
    }
    if (at(lex, p + 1) != '0' || at(lex, p + 2) != 'x') {
        finish_error(lex);
        return;
    }
    uint64_t payload = 0;
    for (p += 3; hex_value(at(lex, p)) >= 0; p++) {
        if (payload < (uint64_t)1 << 52) payload = payload * 16 + (uint64_t)hex_value(*p);
    }
    if (at(lex, p) != ')' || payload == 0 || payload >= (uint64_t)1 << 52) {
        finish_error(lex);
        return;
    }
    t->integer = (int64_t)payload;
    finish_span(lex, HLO_TOK_NAN, t->at, p + 1, p + 1);
}

static OUT_OF_LINE void read_word(HloLexer *lex, const char *p) {
    HloToken *t = &lex->token;
    const char *end = skip_word(lex, p);
    size_t size = (size_t)(end - p);
    char behind = at(lex, end);
    if (behind == ':') {
        finish_span(lex, HLO_TOK_NAME, p, end, end + 1);
        return;
    }
    if (behind == '=') {
        finish_span(lex, HLO_TOK_ATTR, p, end, end + 1);
        return;
    }
    if (may_be_type(p, size) && find_type(p, size, &t->type)) {
        finish_span(lex, HLO_TOK_TYPE, p, end, end);
        return;
    }
    HloTokenKind kind = keyword_find(p, size);
    if (kind == HLO_TOK_NAN) {
        read_nan(lex, end, false);
        return;
    }
    const char *labels =
        kind == HLO_TOK_IDENT && (behind == '>' || behind == '?') && is_class(*p, LABEL) ? match_labels(lex, p) : NULL;
    if (labels) {
        finish_span(lex, HLO_TOK_DIM_LABELS, p, labels, labels);
        return;
    }
    t->decimal = INFINITY;
    finish_span(lex, kind, p, end, end);
}

// name = "%" [a-zA-Z_] [a-zA-Z0-9_.-]*
static void read_percent_name(HloLexer *lex, const char *p) {
    if (!is_class(at(lex, p + 1), WORD_START)) {
        finish_error(lex);
        return;
    }
    const char *end = skip_word(lex, p + 1);
    finish_span(lex, HLO_TOK_NAME, p + 1, end, end);
}

// ---- numbers --------------------------------------------------------------------------------------------

static const char *skip_digits(const HloLexer *lex, const char *p) {
    return skip_class(lex, p, DIGIT);
}

// Digits, or NULL when there is none at p.
static const char *some_digits(const HloLexer *lex, const char *p) {
    const char *end = skip_digits(lex, p);
    return end > p ? end : NULL;
}

// decimal = "-"? (D+ | D+ "." D* | D* "." D+) [eE] [+-]? D+  |  "-"? (D+ "." D* | D* "." D+)
// The sign is already passed.
static const char *match_decimal(const HloLexer *lex, const char *p) {
    const char *whole_end = skip_digits(lex, p);
    bool whole = whole_end > p, fraction = false;
    const char *end = whole_end;
    if (at(lex, end) == '.') {
        const char *fraction_end = skip_digits(lex, end + 1);
        if (!whole && fraction_end == end + 1) return NULL;
        fraction = true;
        end = fraction_end;
    }
    if (!whole && !fraction) return NULL;
    if (at(lex, end) == 'e' || at(lex, end) == 'E') {
        const char *e = end + 1;
        if (at(lex, e) == '+' || at(lex, e) == '-') e++;
        const char *exponent_end = some_digits(lex, e);
        if (exponent_end) return exponent_end;
    }
    return fraction ? end : NULL;
}

// dxd = D+ ("x" D+)+
static const char *match_dxd(const HloLexer *lex, const char *p) {
    const char *end = NULL;
    p = some_digits(lex, p);
    while (p && at(lex, p) == 'x') {
        p = some_digits(lex, p + 1);
        if (p) end = p;
    }
    return end;
}

// item = "-"? D+ "_" "-"? D+ ("_" D+)?
static const char *match_pad_item(const HloLexer *lex, const char *p) {
    p = some_digits(lex, p + (at(lex, p) == '-'));
    if (!p || at(lex, p) != '_') return NULL;
    p++;
    p = some_digits(lex, p + (at(lex, p) == '-'));
    if (!p || at(lex, p) != '_') return p;
    const char *interior = some_digits(lex, p + 1);
    return interior ? interior : p;
}

// pad = item ("x" item)*
static const char *match_pad(const HloLexer *lex, const char *p) {
    const char *end = match_pad_item(lex, p);
    while (end && at(lex, end) == 'x') {
        const char *more = match_pad_item(lex, end + 1);
        if (!more) break;
        end = more;
    }
    return end;
}

// integer = "-"? D+   in -2^63 … 2^64-1; the upper half keeps its 64-bit pattern
static void read_integer(HloLexer *lex, const char *p, const char *end, bool negative) {
    HloToken *t = &lex->token;
    uint64_t value = 0;
    const char *digits = p + negative;
    bool fits = true;
    for (const char *d = digits; d < end; d++) {
        fits = fits && !__builtin_mul_overflow(value, (uint64_t)10, &value) &&
               !__builtin_add_overflow(value, (uint64_t)(*d - '0'), &value);
    }
    if (!fits || (negative && value > (uint64_t)1 << 63)) {
        finish_span(lex, HLO_TOK_ERROR, p, end, end);
        return;
    }
    t->integer = (int64_t)(negative ? 0 - value : value);
    t->negative_zero = negative && value == 0;
    finish_span(lex, HLO_TOK_INT, p, end, end);
}

static bool starts_with(const HloLexer *lex, const char *p, const char *word) {
    size_t size = strlen(word);
    return (size_t)(lex->end - p) >= size && memcmp(p, word, size) == 0;
}

// A number that is no plain integer, or a pattern made of digits; false when p starts none of them.
static bool read_pattern(HloLexer *lex, const char *p, bool negative) {
    const char *end = match_decimal(lex, p + negative);
    if (end) {
        lex->token.decimal = hlo_decimal_read(p, (size_t)(end - p));
        finish_span(lex, HLO_TOK_DECIMAL, p, end, end);
        return true;
    }
    HloTokenKind kind = HLO_TOK_DIM_LABELS;
    end = negative ? NULL : match_labels(lex, p);
    if (!end && !negative) {
        kind = HLO_TOK_DXD;
        end = match_dxd(lex, p);
    }
    if (!end) {
        kind = HLO_TOK_PAD;
        end = match_pad(lex, p);
    }
    if (!end) return false;
    finish_span(lex, kind, p, end, end);
    return true;
}

// Whatever starts with a digit, `-` or `?`.
static OUT_OF_LINE void read_number(HloLexer *lex, const char *p) {
    bool negative = *p == '-';
    const char *digits_end = skip_digits(lex, p + negative);
    char behind = at(lex, digits_end);
    bool plain = digits_end > p + negative &&
                 (behind == ',' || behind == '}' || behind == ' ' || behind == ']' || behind == ')');
    if (!plain) {
        if (negative && behind == '>' && digits_end == p + 1) {
            finish(lex, HLO_TOK_ARROW, p + 2);
            return;
        }
        if (read_pattern(lex, p, negative)) return;
    }
    if (digits_end > p + negative) {
        read_integer(lex, p, digits_end, negative);
    } else if (starts_with(lex, p, "-inf")) {
        lex->token.decimal = -INFINITY;
        finish_span(lex, HLO_TOK_INF, p, p + 4, p + 4);
    } else if (starts_with(lex, p, "-nan")) {
        read_nan(lex, p + 4, true);
    } else if (*p == '?') {
        finish(lex, HLO_TOK_QUESTION, p + 1);
    } else {
        finish_error(lex);
    }
}

// ---- strings --------------------------------------------------------------------------------------------

// The closing quote, or NULL. A backslash protects any character but a newline. Both searches go on where they stopped,
// so a string is looked through twice, however many escapes it has.
static const char *find_quote(const HloLexer *lex, const char *p, char quote) {
    const char *close = memchr(p, quote, (size_t)(lex->end - p));
    while (close && (p = memchr(p, '\\', (size_t)(close - p)))) {
        p++;
        if (p == lex->end || *p == '\n') return NULL;
        p++;
        if (p > close) close = memchr(p, quote, (size_t)(lex->end - p));
    }
    return close;
}

static void read_string(HloLexer *lex, const char *p) {
    const char *close = find_quote(lex, p + 1, *p);
    if (close)
        finish_span(lex, HLO_TOK_STRING, p + 1, close, close + 1);
    else
        finish_error(lex);
}

bool hlo_lex_dict(HloLexer *lex) {
    const char *p = lex->token.at;
    size_t depth = 0;
    for (; p < lex->end; p++) {
        if (*p == '"') {
            p = find_quote(lex, p + 1, '"');
            if (!p) return false;
        } else if (*p == '{') {
            depth++;
        } else if (*p == '}' && --depth == 0) {
            finish_span(lex, HLO_TOK_STRING, lex->token.at, p + 1, p + 1);
            return true;
        }
    }
    return false;
}

// ---- the token loop -------------------------------------------------------------------------------------

// Punctuation of one character; 0 for all others.
static const unsigned char punctuation[256] = {
    ['='] = HLO_TOK_EQUAL,   [','] = HLO_TOK_COMMA,  [':'] = HLO_TOK_COLON,  ['*'] = HLO_TOK_ASTERISK,
    ['#'] = HLO_TOK_SHARP,   ['+'] = HLO_TOK_PLUS,   ['~'] = HLO_TOK_TILDE,  ['['] = HLO_TOK_LSQUARE,
    [']'] = HLO_TOK_RSQUARE, ['{'] = HLO_TOK_LBRACE, ['}'] = HLO_TOK_RBRACE, ['('] = HLO_TOK_LPAREN,
    [')'] = HLO_TOK_RPAREN,
};

static OUT_OF_LINE void read_rest(HloLexer *lex, const char *p) {
    if (*p == '"' || *p == '\'')
        read_string(lex, p);
    else if (starts_with(lex, p, "..."))
        finish(lex, HLO_TOK_DOTS, p + 3);
    else if (starts_with(lex, p, "<="))
        finish(lex, HLO_TOK_LESS_EQUAL, p + 2);
    else
        finish_error(lex);
}

// The token that starts at p, before the end of the text.
static void read_token(HloLexer *lex, const char *p) {
    lex->token.at = lex->token.text = p;
    lex->token.size = 0;
    int kind = punctuation[(unsigned char)*p];
    if (kind)
        finish(lex, (HloTokenKind)kind, p + 1);
    else if (*p == '%')
        read_percent_name(lex, p);
    else if (is_class(*p, WORD_START))
        read_word(lex, p);
    else if (is_class(*p, DIGIT) || *p == '-' || *p == '?')
        read_number(lex, p);
    else
        read_rest(lex, p);
}

static OUT_OF_LINE void read_behind_blanks(HloLexer *lex, const char *p) {
    const char *bad;
    p = skip_blank(lex, p, &bad);
    if (p && p < lex->end) {
        read_token(lex, p);
        return;
    }
    lex->token.at = lex->token.text = p ? p : bad;
    lex->token.size = 0;
    if (p)
        finish(lex, HLO_TOK_EOF, p);
    else
        finish_error(lex);
}

// Most tokens stand at once or behind one blank.
void hlo_lex_next(HloLexer *lex) {
    const char *p = lex->next;
    if (p < lex->end && *p == ' ') p++;
    if (p < lex->end && !is_class(*p, BLANK))
        read_token(lex, p);
    else
        read_behind_blanks(lex, p);
}

HloLexer hlo_lex_start(HloStringView text) {
    static const char nothing[] = "";
    const char *begin = text.data ? text.data : nothing;
    HloLexer lex = {.begin = begin, .end = begin + text.size, .next = begin};
    hlo_lex_next(&lex);
    return lex;
}

char hlo_lex_peek(const HloLexer *lex) {
    const char *bad;
    if (lex->next < lex->end && !is_class(*lex->next, BLANK)) return *lex->next;
    const char *p = skip_blank(lex, lex->next, &bad);
    return p ? at(lex, p) : 0;
}

const char *hlo_token_name(HloTokenKind kind) {
    switch (kind) {
    case HLO_TOK_EOF: return "kEof";
    case HLO_TOK_ERROR: return "kError";
    case HLO_TOK_EQUAL: return "kEqual";
    case HLO_TOK_COMMA: return "kComma";
    case HLO_TOK_COLON: return "kColon";
    case HLO_TOK_ASTERISK: return "kAsterisk";
    case HLO_TOK_QUESTION: return "kQuestionMark";
    case HLO_TOK_SHARP: return "kOctothorp";
    case HLO_TOK_PLUS: return "kPlus";
    case HLO_TOK_TILDE: return "kTilde";
    case HLO_TOK_LSQUARE: return "kLsquare";
    case HLO_TOK_RSQUARE: return "kRsquare";
    case HLO_TOK_LBRACE: return "kLbrace";
    case HLO_TOK_RBRACE: return "kRbrace";
    case HLO_TOK_LPAREN: return "kLparen";
    case HLO_TOK_RPAREN: return "kRparen";
    case HLO_TOK_DOTS: return "kDots";
    case HLO_TOK_ARROW: return "kArrow";
    case HLO_TOK_LESS_EQUAL: return "kLeq";
    case HLO_TOK_NAME: return "kName";
    case HLO_TOK_ATTR: return "kAttributeName";
    case HLO_TOK_IDENT: return "kIdent";
    case HLO_TOK_TYPE: return "kPrimitiveType";
    case HLO_TOK_TRUE: return "kw_true";
    case HLO_TOK_FALSE: return "kw_false";
    case HLO_TOK_INF: return "kw_inf";
    case HLO_TOK_MODULE: return "kw_HloModule";
    case HLO_TOK_ENTRY: return "kw_ENTRY";
    case HLO_TOK_ROOT: return "kw_ROOT";
    case HLO_TOK_FILE_LOCATIONS: return "kw_FileLocations";
    case HLO_TOK_FILE_NAMES: return "kw_FileNames";
    case HLO_TOK_FUNCTION_NAMES: return "kw_FunctionNames";
    case HLO_TOK_STACK_FRAMES: return "kw_StackFrames";
    case HLO_TOK_MAXIMAL: return "kw_maximal";
    case HLO_TOK_REPLICATED: return "kw_replicated";
    case HLO_TOK_MANUAL: return "kw_manual";
    case HLO_TOK_LAST_TILE_DIM_REPLICATE: return "kw_last_tile_dim_replicate";
    case HLO_TOK_SHARD_AS: return "kw_shard_as";
    case HLO_TOK_SHARD_LIKE: return "kw_shard_like";
    case HLO_TOK_UNKNOWN: return "kw_unknown";
    case HLO_TOK_UNREDUCED: return "kw_unreduced";
    case HLO_TOK_INT: return "kInt";
    case HLO_TOK_DECIMAL:
    case HLO_TOK_NAN: return "kDecimal";
    case HLO_TOK_DIM_LABELS: return "kDimLabels";
    case HLO_TOK_DXD: return "kDxD";
    case HLO_TOK_PAD: return "kPad";
    case HLO_TOK_STRING: return "kString";
    }
    return "kError";
}
