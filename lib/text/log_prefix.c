// Removes what a logger puts in front of each line, so that modules can be cut from log files.
//
//   I0521 12:04:45.883483    1509 service.cc:186] HloModule m

#include "hlo/text.h"

typedef struct Cursor {
    const char *next, *end;
} Cursor;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool take_char(Cursor *c, char wanted) {
    if (c->next == c->end || *c->next != wanted) return false;
    c->next++;
    return true;
}

static bool take_digits(Cursor *c, size_t least, size_t most) {
    size_t count = 0;
    while (c->next < c->end && count < most && is_digit(*c->next)) {
        c->next++;
        count++;
    }
    return count >= least;
}

static bool take_blanks(Cursor *c) {
    const char *start = c->next;
    while (c->next < c->end && *c->next == ' ') c->next++;
    return c->next > start;
}

// hh:mm:ss.fraction
static bool take_time(Cursor *c) {
    return take_digits(c, 2, 2) && take_char(c, ':') && take_digits(c, 2, 2) && take_char(c, ':') &&
           take_digits(c, 2, 2) && take_char(c, '.') && take_digits(c, 1, 9);
}

// name ":" line "]"
static bool take_place(Cursor *c) {
    const char *start = c->next;
    while (c->next < c->end && *c->next != ':' && *c->next != '\n' && *c->next != ' ') c->next++;
    return c->next > start && take_char(c, ':') && take_digits(c, 1, 9) && take_char(c, ']');
}

// The end of the prefix that the line at `p` starts with, or `p` itself. At most one blank behind it goes too.
static const char *prefix_end(const char *p, const char *end) {
    if (p == end || !strchr("IWEF", *p) || !*p) return p;
    Cursor c = {p + 1, end};
    bool ok = take_digits(&c, 4, 4) && take_blanks(&c) && take_time(&c) && take_blanks(&c) && take_digits(&c, 1, 20) &&
              take_blanks(&c) && take_place(&c);
    if (!ok) return p;
    take_char(&c, ' ');
    return c.next;
}

bool hlo_strip_log_prefixes(HloStringView text, HloBuffer *out) {
    const char *end = text.data + text.size, *copied = text.data;
    bool found = false;
    for (const char *line = text.data; line && line < end;) {
        const char *content = prefix_end(line, end);
        if (content != line) {
            hlo_put(out, copied, (size_t)(line - copied));
            copied = content;
            found = true;
        }
        const char *newline = memchr(content, '\n', (size_t)(end - content));
        line = newline ? newline + 1 : NULL;
    }
    if (found) hlo_put(out, copied, (size_t)(end - copied));
    return found;
}
