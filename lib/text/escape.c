// C escapes, and the test that decides whether a text is printed raw (printing chapter, §7).

#include "hlo/text.h"

// ---- escaping -------------------------------------------------------------------------------------------

// The letter after the backslash; 0: none.
static char short_escape(unsigned char c) {
    switch (c) {
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    case '"':
    case '\'':
    case '\\': return (char)c;
    default: return 0;
    }
}

// Bytes that stand for themselves: printable ASCII without the quotes and the backslash.
static const bool plain[256] = {
    [0x20 ... '"' - 1] = true,
    ['"' + 1 ... '\'' - 1] = true,
    ['\'' + 1 ... '\\' - 1] = true,
    ['\\' + 1 ... 0x7e] = true,
};

static void put_escape(HloBuffer *out, unsigned char c) {
    char letter = short_escape(c);
    if (letter) {
        hlo_put(out, (char[]){'\\', letter}, 2);
        return;
    }
    hlo_put(out, (char[]){'\\', (char)('0' + (c >> 6)), (char)('0' + (c >> 3 & 7)), (char)('0' + (c & 7))}, 4);
}

// Sixteen bytes at once: comparing gives bytes of all ones where it holds.
typedef unsigned char Bytes __attribute__((vector_size(16)));

static inline bool are_plain(const char *text) {
    Bytes bytes;
    memcpy(&bytes, text, sizeof bytes);
    Bytes odd = (Bytes)(bytes - 0x20 >= 0x5f) | (Bytes)(bytes == '"') | (Bytes)(bytes == '\'') | (Bytes)(bytes == '\\');
    return !(hlo_load_u64(&odd) | hlo_load_u64((const char *)&odd + 8));
}

// What nearly all texts are; short ones are left to the loop. The last sixteen bytes overlap those before them.
static bool is_surely_plain(const char *text, size_t size) {
    if (size < sizeof(Bytes)) return false;
    for (size_t i = 0; size - i >= sizeof(Bytes); i += sizeof(Bytes)) {
        if (!are_plain(text + i)) return false;
    }
    return are_plain(text + size - sizeof(Bytes));
}

void hlo_put_escaped(HloBuffer *out, const char *text, size_t size) {
    if (is_surely_plain(text, size)) {
        hlo_put(out, text, size);
        return;
    }
    size_t start = 0;
    for (size_t i = 0; i < size; i++) {
        if (plain[(unsigned char)text[i]]) continue;
        hlo_put(out, text + start, i - start);
        put_escape(out, (unsigned char)text[i]);
        start = i + 1;
    }
    hlo_put(out, text + start, size - start);
}

void hlo_put_bare(HloBuffer *out, const char *text) {
    hlo_put_char(out, '"');
    for (const char *p = text; *p;) {
        size_t plain_bytes = strcspn(p, "\"\\");
        hlo_put(out, p, plain_bytes);
        p += plain_bytes;
        if (*p) hlo_put(out, (char[]){'\\', *p++}, 2);
    }
    hlo_put_char(out, '"');
}

// ---- JSON dicts -----------------------------------------------------------------------------------------

// Past blanks and comments.
static const char *skip_blanks(const char *p) {
    for (;;) {
        while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r') p++;
        if (p[0] == '/' && p[1] == '/') {
            while (*p && *p != '\n' && *p != '\r') p++;
        } else if (p[0] == '/' && p[1] == '*') {
            const char *end = strstr(p + 2, "*/");
            if (!end) return p;
            p = end + 2;
        } else {
            return p;
        }
    }
}

// Past the string that starts at `p`; NULL when it does not end.
static const char *skip_string(const char *p) {
    for (p++; *p && *p != '"'; p++) {
        if (*p == '\\' && (*++p == '\n' || *p == '\r' || !*p)) return NULL;
    }
    return *p == '"' ? p + 1 : NULL;
}

bool hlo_is_json_dict(const char *text) {
    const char *p = skip_blanks(text);
    if (*p != '{') return false;
    size_t depth = 0;
    do {
        if (*p == '{') depth++;
        if (*p == '}') depth--;
        p = *p == '"' ? skip_string(p) : p + 1;
        if (!p || (!*p && depth)) return false;
    } while (depth);
    return *skip_blanks(p) == 0;
}
