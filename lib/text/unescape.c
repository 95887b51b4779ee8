// C escapes of quoted strings (grammar chapter, §1.5).

#include "lexer.h"

typedef struct Escape {
    const char *next, *end;
    char *out;
} Escape;

static int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 16;
}

// One to `most` digits of the base; false when there is none or the value exceeds `limit`.
static bool read_digits(Escape *e, int base, size_t most, uint32_t limit, uint32_t *out) {
    uint32_t value = 0;
    size_t count = 0;
    while (count < most && e->next < e->end && digit_value(*e->next) < base) {
        value = value * (uint32_t)base + (uint32_t)digit_value(*e->next++);
        if (value > limit) return false;
        count++;
    }
    *out = value;
    return count > 0;
}

static void put_utf8(Escape *e, uint32_t c) {
    if (c < 0x80) {
        *e->out++ = (char)c;
        return;
    }
    int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    *e->out++ = (char)(lead[more] | c >> 6 * more);
    while (more--) *e->out++ = (char)(0x80 | (c >> 6 * more & 0x3f));
}

// `\u` and `\U` need exactly 4 and 8 digits; surrogates are no characters.
static bool read_unicode(Escape *e, size_t digits) {
    uint32_t c;
    const char *start = e->next;
    if (!read_digits(e, 16, digits, 0x10ffff, &c) || e->next != start + digits) return false;
    if (c >= 0xd800 && c <= 0xdfff) return false;
    put_utf8(e, c);
    return true;
}

static bool read_escape(Escape *e) {
    uint32_t value;
    if (e->next == e->end) return false;
    char c = *e->next++;
    switch (c) {
    case 'a': *e->out++ = '\a'; return true;
    case 'b': *e->out++ = '\b'; return true;
    case 'f': *e->out++ = '\f'; return true;
    case 'n': *e->out++ = '\n'; return true;
    case 'r': *e->out++ = '\r'; return true;
    case 't': *e->out++ = '\t'; return true;
    case 'v': *e->out++ = '\v'; return true;
    case '\\':
    case '?':
    case '\'':
    case '"': *e->out++ = c; return true;
    case 'x':
    case 'X':
        if (!read_digits(e, 16, SIZE_MAX, 0xff, &value)) return false;
        *e->out++ = (char)value;
        return true;
    case 'u': return read_unicode(e, 4);
    case 'U': return read_unicode(e, 8);
    }
    e->next--;
    if (!read_digits(e, 8, 3, 0377, &value)) return false;
    *e->out++ = (char)value;
    return true;
}

char *hlo_lex_unescape(HloArena *arena, const char *text, size_t size, size_t *out_size) {
    *out_size = size;
    if (!memchr(text, '\\', size)) return hlo_arena_string(arena, text, size);
    // No escape means more bytes than it is written with.
    char *copy = hlo_arena_string(arena, text, size);
    Escape e = {text, text + size, copy};
    while (e.next < e.end) {
        if (*e.next != '\\') {
            *e.out++ = *e.next++;
            continue;
        }
        e.next++;
        if (!read_escape(&e)) return NULL;
    }
    *out_size = (size_t)(e.out - copy);
    *e.out = 0;
    return copy;
}
