// Names: interning, sanitising, uniqueness, and the suffixes of clones (printing chapter, §8).

#include <ctype.h>
#include <stdlib.h>

#include "hlo/module.h"
#include "hlo/types.h"

const char *hlo_intern(HloModule *m, const char *text, size_t size) {
    const char *stored;
    hlo_map_at_text(&m->arena, &m->strings, text, size, &stored);
    return stored;
}

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-';
}

static bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_type_word(const char *name, size_t size) {
    HloType type;
    return hlo_type_find(name, size, &type) && type != HLO_TUPLE && type != HLO_BUFFER;
}

// True for names that sanitising leaves alone: the case worth being fast.
static bool is_clean(const char *name) {
    if (!is_name_start(name[0])) return name[0] == 0;
    size_t size = 1;
    for (; name[size]; size++) {
        if (!is_name_char(name[size])) return false;
    }
    if (name[0] == '_' && name[1] == '_') return strncmp(name, "__xla_", 6) == 0;
    return !is_type_word(name, size);
}

const char *hlo_sanitized_name(HloArena *arena, const char *name) {
    if (is_clean(name)) return name;
    size_t size = strlen(name);
    char *out = hlo_arena_alloc(arena, size + 2);
    for (size_t i = 0; i < size; i++) out[i] = is_name_char(name[i]) ? name[i] : '_';
    if (!is_name_start(out[0])) out[0] = '_';
    if (is_type_word(out, size)) out[size] = '_';
    if (strncmp(out, "__", 2) == 0 && strncmp(out, "__xla_", 6)) out[0] = 'a';
    return out;
}

// ---- uniqueness -----------------------------------------------------------------------------------------

// The numbers taken for one stem. Small dense numbers live in a bit set, others in a map.
typedef struct Stem {
    uint64_t *bits;
    size_t bit_count;
    HloMap far;
    uint64_t counter;
} Stem;

enum { MOST_DENSE = 1 << 20 };

static bool stem_has(const Stem *stem, uint64_t number) {
    if (number < stem->bit_count) return stem->bits[number / 64] >> (number % 64) & 1;
    return number >= MOST_DENSE && hlo_map_has(&stem->far, (const void *)(uintptr_t)number);
}

static void stem_take(HloArena *arena, Stem *stem, uint64_t number) {
    if (number >= MOST_DENSE) {
        *hlo_map_at(arena, &stem->far, (const void *)(uintptr_t)number) = stem;
        return;
    }
    if (number >= stem->bit_count) {
        size_t words = stem->bit_count / 64, wider = words ? words * 2 : 1;
        while (wider * 64 <= number) wider *= 2;
        uint64_t *bits = HLO_NEW_ARRAY(arena, uint64_t, wider);
        if (words) memcpy(bits, stem->bits, words * sizeof *bits);
        stem->bits = bits;
        stem->bit_count = wider * 64;
    }
    stem->bits[number / 64] |= (uint64_t)1 << (number % 64);
}

// Splits `add.12` into `add` and 12. No digits after the last dot, or a number beyond 63 bits: the whole name
// is the stem.
static bool split_number(const char *name, size_t size, size_t *stem_size, uint64_t *number) {
    size_t dot = size;
    while (dot > 0 && name[dot - 1] != '.') dot--;
    if (dot < 2 || dot == size) return false;
    uint64_t value = 0;
    for (size_t i = dot; i < size; i++) {
        if (!isdigit((unsigned char)name[i])) return false;
        if (value > (INT64_MAX - 9) / 10) return false;
        value = value * 10 + (uint64_t)(name[i] - '0');
    }
    *stem_size = dot - 1;
    *number = value;
    return true;
}

static const char *numbered_name(HloModule *m, const char *stem, size_t stem_size, uint64_t number) {
    enum { LONGEST_INLINE = 240 };
    char text[LONGEST_INLINE + 24];
    char digits[24];
    size_t n = sizeof digits;
    do digits[--n] = (char)('0' + number % 10);
    while (number /= 10);
    size_t digit_count = sizeof digits - n;
    char *out = stem_size <= LONGEST_INLINE ? text : hlo_arena_alloc(&m->arena, stem_size + 24);
    memcpy(out, stem, stem_size);
    out[stem_size] = '.';
    memcpy(out + stem_size + 1, digits + n, digit_count);
    return hlo_intern(m, out, stem_size + 1 + digit_count);
}

// The digits behind the stem are the number's usual spelling.
static bool is_plain_number(const char *name, size_t size, size_t stem_size) {
    return name[stem_size + 1] != '0' || size == stem_size + 2;
}

static const char *unique_name(HloModule *m, HloNames *names, const char *name, bool interned) {
    size_t size = strlen(name), stem_size = size;
    uint64_t number = 0;
    bool explicit_number = split_number(name, size, &stem_size, &number);
    void **slot = hlo_map_at_text(&m->arena, &names->stems, name, stem_size, NULL);
    if (!*slot) *slot = HLO_NEW(&m->arena, Stem);
    Stem *stem = *slot;
    bool taken = stem_has(stem, number);
    if (taken) {
        while (stem_has(stem, stem->counter)) stem->counter++;
        number = stem->counter++;
    }
    stem_take(&m->arena, stem, number);
    if (interned && !taken && (!explicit_number || is_plain_number(name, size, stem_size))) return name;
    if (number || explicit_number) return numbered_name(m, name, stem_size, number);
    return hlo_intern(m, name, stem_size);
}

const char *hlo_unique_name(HloModule *m, HloNames *names, const char *wanted) {
    return unique_name(m, names, hlo_sanitized_name(&m->arena, wanted[0] ? wanted : "name"), false);
}

const char *hlo_unique_interned(HloModule *m, HloNames *names, const char *wanted) {
    const char *name = hlo_sanitized_name(&m->arena, wanted[0] ? wanted : "name");
    return unique_name(m, names, name, name == wanted);
}

// ---- clones ---------------------------------------------------------------------------------------------

static const char *last_occurrence(const char *text, const char *part) {
    const char *last = NULL;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part)) last = at;
    return last;
}

const char *hlo_clone_name(HloArena *arena, const char *name, const char *suffix) {
    if (!suffix[0]) return name;
    const char *dotted = hlo_arena_printf(arena, ".%s", suffix);
    const char *at = last_occurrence(name, dotted);
    if (!at) return hlo_arena_printf(arena, "%s%s", name, dotted);
    const char *rest = at + strlen(dotted);
    if (!*rest) return hlo_arena_printf(arena, "%s2", name);
    char *end;
    unsigned long long number = isdigit((unsigned char)*rest) ? strtoull(rest, &end, 10) : 0;
    if (!isdigit((unsigned char)*rest) || *end) return hlo_arena_printf(arena, "%s%s", name, dotted);
    return hlo_arena_printf(arena, "%.*s%llu", (int)(rest - name), name, number + 1);
}
