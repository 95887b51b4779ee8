// Where to go on after an error.
//
//   a = f32[2] add(x, y          <- no `)`: the next line begins an instruction, so reading goes on there
//   b = f32[2] negate(a)
//   }                            <- column 1: the body ends here, whatever is still open
//
// The text is scanned from where the failed part began, by bytes and with a stack of open brackets. Brackets alone do
// not do, since a missing one is what may be wrong; so the beginning of a line counts more: `name =` and `ROOT` begin
// an instruction, `ENTRY` and `name (…) -> … {` a computation. Strings end with their line here.

#include "parse.h"

// ---- the scanner ----------------------------------------------------------------------------------------

typedef enum EventKind {
    END,
    WORD,   // a name, keyword or attribute name
    COMMA,  // outside of brackets
    BRACE,  // `{` outside of brackets, or at the end of a line
    CLOSE,  // `}` that closes nothing in the scanned part
} EventKind;

typedef struct Event {
    EventKind kind;
    const char *at;
    size_t size;
    bool begins_line;
    bool follows_root;
    char before;  // the byte before it that is no blank; 0: none
} Event;

typedef struct Scan {
    HloReader *r;
    const char *p, *end;
    bool begins_line;
    bool follows_root;
    char before;
    const char *attr;  // the word in front of `before` when that is `=`
    size_t attr_size;
    char *open;  // brackets; BODY: a `{` with instructions in it
    size_t open_count, open_capacity;
    size_t body_count;  // of them
    bool lost_brace;    // a `}` at the beginning of a line closed something else than a body
} Scan;

enum { BODY = 'B' };

static Scan scan_from(HloReader *r, const char *at) {
    bool begins_line = at == r->lex.begin;
    const char *p = at;
    while (p > r->lex.begin && (p[-1] == ' ' || p[-1] == '\t')) p--;
    begins_line = begins_line || p == r->lex.begin || p[-1] == '\n';
    return (Scan){.r = r, .p = at, .end = r->lex.end, .begins_line = begins_line};
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
}

static char byte_at(const Scan *s, const char *p) {
    return p < s->end ? *p : 0;
}

static bool skip_comment(Scan *s) {
    char next = byte_at(s, s->p + 1);
    if (*s->p != '/' || (next != '/' && next != '*')) return false;
    const char *close = next == '/' ? memchr(s->p, '\n', (size_t)(s->end - s->p))
                                    : memmem(s->p + 2, (size_t)(s->end - s->p) - 2, "*/", 2);
    s->p = !close ? s->end : next == '/' ? close : close + 2;
    return true;
}

static void skip_string(Scan *s) {
    char quote = *s->p++;
    while (s->p < s->end && *s->p != quote && *s->p != '\n') s->p += *s->p == '\\' && s->end - s->p > 1 ? 2 : 1;
    if (byte_at(s, s->p) == quote) s->p++;
    s->before = quote;
}

static void skip_blanks(Scan *s) {
    while (s->p < s->end && (is_blank(*s->p) || skip_comment(s))) {
        if (s->p >= s->end || !is_blank(*s->p)) continue;
        s->begins_line = s->begins_line || *s->p == '\n';
        s->p++;
    }
}

static char innermost(const Scan *s) {
    return s->open_count ? s->open[s->open_count - 1] : 0;
}

// An attribute whose value is a computation.
static bool has_body(const char *name, size_t size) {
    for (int id = 0; id < HLO_ATTR_COUNT; id++) {
        const HloAttrInfo *info = hlo_attr_info((HloAttrId)id);
        bool calls = info->kind == HLO_KIND_COMPUTATION || info->kind == HLO_KIND_COMPUTATIONS;
        if (calls && info->name_size == size && memcmp(info->name, name, size) == 0) return true;
    }
    return false;
}

static void open_bracket(Scan *s, char c) {
    bool named = s->before == '=' && s->attr;
    bool body = c == '{' && (named ? has_body(s->attr, s->attr_size) : innermost(s) == BODY);
    if (s->open_count == s->open_capacity)
        s->open = hlo_arena_grow(s->r->scratch, s->open, &s->open_capacity, 64, sizeof *s->open);
    s->open[s->open_count++] = body ? BODY : c;
    s->body_count += body;
}

// `)` or `]`: counts only where its partner is the innermost bracket.
static void close_list(Scan *s, char c) {
    if (innermost(s) == (c == ')' ? '(' : '[')) s->open_count--;
}

// `}` also ends what was left open inside. False when it has no partner, or stands in the first column, where only
// computations end.
static bool close_brace(Scan *s, bool begins_line) {
    bool first_column = s->p > s->r->lex.begin && s->p[-1] == '\n';
    if (first_column && !s->body_count) s->open_count = 0;
    while (s->open_count && innermost(s) != '{' && innermost(s) != BODY) s->open_count--;
    if (!s->open_count) return false;
    bool body = innermost(s) == BODY;
    s->body_count -= body;
    s->lost_brace = s->lost_brace || (begins_line && !body);
    s->open_count--;
    return true;
}

static bool ends_line(const Scan *s, const char *p) {
    while (p < s->end && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
    return p == s->end || *p == '\n';
}

static Event word_event(Scan *s, Event event) {
    s->p += *s->p == '%';
    while (s->p < s->end && is_word(*s->p)) s->p++;
    event.kind = WORD;
    event.size = (size_t)(s->p - event.at);
    s->follows_root = event.size == 4 && memcmp(event.at, "ROOT", 4) == 0;
    s->attr = byte_at(s, s->p) == '=' ? event.at : NULL;
    s->attr_size = event.size;
    s->before = s->p[-1];
    if (s->attr) {
        s->before = '=';
        s->p++;
    }
    return event;
}

static Event next_event(Scan *s) {
    for (;;) {
        skip_blanks(s);
        Event event = {END, s->p, 1, s->begins_line, s->follows_root, s->before};
        if (s->p >= s->end) return event;
        s->begins_line = s->follows_root = false;
        char c = *s->p;
        if (is_word(c) || c == '%') return word_event(s, event);
        if (c == '"' || c == '\'') {
            skip_string(s);
            continue;
        }
        bool shown = s->open_count == 0;
        if (c == '(' || c == '[' || c == '{') open_bracket(s, c);
        if (c == ')' || c == ']') close_list(s, c);
        if (c == '}' && !close_brace(s, event.begins_line)) event.kind = CLOSE;
        s->before = c;
        s->p++;
        if (c == ',' && shown) event.kind = COMMA;
        if (c == '{' && (shown || ends_line(s, s->p))) event.kind = BRACE;
        if (event.kind != END) return event;
    }
}

// ---- what a word begins ---------------------------------------------------------------------------------

static bool is_text(const Event *event, const char *word) {
    return event->size == strlen(word) && memcmp(event->at, word, event->size) == 0;
}

// `ROOT`, `name =` or `%name=`
static bool begins_instruction(const Scan *s, const Event *event) {
    if (event->follows_root) return false;
    if (!event->begins_line && (s->open_count || event->before == ',')) return false;
    const char *p = event->at + event->size;
    if (is_text(event, "ROOT")) return is_blank(byte_at(s, p));
    bool touches = byte_at(s, p) == '=';
    while (p < s->end && is_blank(*p)) p++;
    return byte_at(s, p) == '=' && (!touches || *event->at == '%');
}

// `ENTRY`, `name {`, or `name (` on a line with an arrow or a brace at its end
static bool begins_computation(const Scan *s, const Event *event) {
    const char *p = event->at + event->size;
    if (is_text(event, "ENTRY")) return (event->begins_line || !s->open_count) && is_blank(byte_at(s, p));
    if (!event->begins_line) return false;
    while (p < s->end && (*p == ' ' || *p == '\t')) p++;
    if (byte_at(s, p) == '{') return true;
    if (byte_at(s, p) != '(') return false;
    const char *newline = memchr(p, '\n', (size_t)(s->end - p));
    const char *end = newline ? newline : s->end;
    if (memmem(p, (size_t)(end - p), "->", 2)) return true;
    while (end > p && is_blank(end[-1])) end--;
    return end[-1] == '{';
}

static bool begins_table(const Event *event) {
    return is_text(event, "FileNames") || is_text(event, "FunctionNames") || is_text(event, "FileLocations") ||
           is_text(event, "StackFrames");
}

// ---- going on -------------------------------------------------------------------------------------------

HloMark hlo_mark(const HloReader *r) {
    return (HloMark){hlo_here(r),           r->depth, r->operands.count,  r->shape_stack.count,
                     r->shape_frames.count, r->scope, r->adjacent_layouts};
}

// Keeps the error and gives up what was half done; false when reading should end.
static bool begin_resync(HloReader *r, const HloMark *mark) {
    r->depth = mark->depth;
    r->operands.count = mark->operand_count;
    r->shape_stack.count = mark->shape_count;
    r->shape_frames.count = mark->shape_frame_count;
    r->adjacent_layouts = mark->adjacent_layouts;
    while (r->scope != mark->scope) hlo_scope_close(r);
    return hlo_errors_keep(r);
}

static void go_to(HloReader *r, const char *at) {
    r->resync_from = at;
    r->lex.next = at;
    hlo_skip(r);
}

static bool is_allowed(const HloReader *r, const Event *event) {
    return !r->resync_from || event->at >= r->resync_from;
}

// What should be an instruction begins the next computation: the one error is that the body does not end.
static void forget_error_of_header(HloReader *r, const char *at) {
    Scan s = scan_from(r, at);
    Event event = next_event(&s);
    if (event.kind != WORD || !begins_computation(&s, &event)) return;
    r->error = (HloDiagnostic){0};
    r->notes.size = 0;
}

HloResync hlo_resync_instruction(HloReader *r, const HloMark *mark) {
    forget_error_of_header(r, mark->at);
    if (!begin_resync(r, mark)) return HLO_RESYNC_NONE;
    Scan s = scan_from(r, mark->at);
    for (;;) {
        Event event = next_event(&s);
        bool begins = event.kind == WORD && innermost(&s) != BODY && begins_instruction(&s, &event);
        bool computation = event.kind == WORD && begins_computation(&s, &event);
        bool found = event.kind == CLOSE || computation || (begins && event.at > mark->at);
        if (event.kind != END && !(found && is_allowed(r, &event))) continue;
        go_to(r, event.at);
        if (event.kind != END && !computation) return HLO_RESYNC_INSTRUCTION;
        return event.kind == END || s.lost_brace ? HLO_RESYNC_NONE : HLO_RESYNC_COMPUTATION;
    }
}

bool hlo_resync_header(HloReader *r, const HloMark *mark) {
    if (!begin_resync(r, mark)) return false;
    Scan s = scan_from(r, mark->at);
    for (;;) {
        Event event = next_event(&s);
        bool found =
            event.kind == COMMA || (event.kind == WORD && (begins_computation(&s, &event) || begins_table(&event)));
        if (event.kind != END && !(found && is_allowed(r, &event))) continue;
        go_to(r, event.at);
        return true;
    }
}

bool hlo_resync_computation(HloReader *r, const HloMark *mark) {
    if (!begin_resync(r, mark)) return false;
    Scan s = scan_from(r, mark->at);
    for (;;) {
        Event event = next_event(&s);
        bool behind_brace = event.kind == WORD && event.before == '}' && !s.open_count;
        bool found = event.kind == WORD && (behind_brace || begins_computation(&s, &event));
        if (event.kind != END && !(found && event.at > mark->at && is_allowed(r, &event))) continue;
        go_to(r, event.at);
        return true;
    }
}

bool hlo_resync_body(HloReader *r, const HloMark *mark) {
    if (!begin_resync(r, mark)) return false;
    Scan s = scan_from(r, mark->at);
    for (;;) {
        Event event = next_event(&s);
        bool next = event.kind == WORD && event.at > mark->at && event.begins_line && begins_computation(&s, &event);
        if (event.kind == END || event.kind == CLOSE || next) return false;
        char inside = event.kind == BRACE ? byte_at(&s, event.at + 1) : '0';
        if ((inside >= '0' && inside <= '9') || inside == ':') continue;
        go_to(r, event.at);
        return true;
    }
}
