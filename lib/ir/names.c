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

enum { NAME_START = 1, NAME = 2, NUMERAL = 4 };  // NAME: also digits, `.` and `-`

static const unsigned char classes[256] = {
    ['a' ... 'z'] = NAME_START | NAME,
    ['A' ... 'Z'] = NAME_START | NAME,
    ['_'] = NAME_START | NAME,
    ['0' ... '9'] = NAME | NUMERAL,
    ['.'] = NAME,
    ['-'] = NAME,
};

static bool is_class(char c, int class) {
    return classes[(unsigned char)c] & class;
}

static bool is_type_word(const char *name, size_t size) {
    HloType type;
    return hlo_type_find(name, size, &type) && type != HLO_TUPLE && type != HLO_BUFFER;
}

// True for names that sanitising leaves alone: the case worth being fast. *size is then the name's.
static bool is_clean(const char *name, size_t *size) {
    size_t end = 0;
    while (is_class(name[end], NAME)) end++;
    *size = end;
    if (name[end] || (end && !is_class(name[0], NAME_START))) return false;
    if (name[0] == '_' && name[1] == '_') return strncmp(name, "__xla_", 6) == 0;
    return !is_type_word(name, end);
}

const char *hlo_sanitized_name(HloArena *arena, const char *name) {
    size_t size;
    if (is_clean(name, &size)) return name;
    size = strlen(name);
    char *out = hlo_arena_alloc(arena, size + 2);
    for (size_t i = 0; i < size; i++) out[i] = is_class(name[i], NAME) ? name[i] : '_';
    if (!is_class(out[0], NAME_START)) out[0] = '_';
    if (is_type_word(out, size)) out[size] = '_';
    if (strncmp(out, "__", 2) == 0 && strncmp(out, "__xla_", 6)) out[0] = 'a';
    return out;
}

// ---- uniqueness -----------------------------------------------------------------------------------------

// The numbers taken for one stem. Those that lie close together live in a bit set, others in a map; most stems that
// have such a number have one.
typedef struct Stem {
    uint64_t *bits;
    size_t bit_count;
    size_t taken;
    uint64_t first_far;  // 0: none
    HloMap *far;         // NULL: none
    uint64_t counter;
} Stem;

// A bit set may have this many words for nothing, and one more for every number taken; doubled at worst. So a few large
// numbers cost no more than as many small ones.
enum { FREE_WORDS = 8 };

static bool stem_has(const Stem *stem, uint64_t number) {
    if (number < stem->bit_count && stem->bits[number / 64] >> (number % 64) & 1) return true;
    if (number && number == stem->first_far) return true;
    return stem->far && hlo_map_has(stem->far, (const void *)(uintptr_t)number);
}

static void widen_bits(HloArena *arena, Stem *stem, uint64_t number) {
    size_t words = stem->bit_count / 64, wider = words ? words * 2 : 1;
    while (wider * 64 <= number) wider *= 2;
    uint64_t *bits = HLO_NEW_ARRAY(arena, uint64_t, wider);
    if (words) memcpy(bits, stem->bits, words * sizeof *bits);
    stem->bits = bits;
    stem->bit_count = wider * 64;
}

static void take_far(HloArena *arena, Stem *stem, uint64_t number) {
    if (!stem->first_far) {
        stem->first_far = number;
        return;
    }
    if (!stem->far) stem->far = HLO_NEW(arena, HloMap);
    *hlo_map_at(arena, stem->far, (const void *)(uintptr_t)number) = stem;
}

static void stem_take(HloArena *arena, Stem *stem, uint64_t number) {
    stem->taken++;
    if (number / 64 >= FREE_WORDS + stem->taken && number >= stem->bit_count) {
        take_far(arena, stem, number);
        return;
    }
    if (number >= stem->bit_count) widen_bits(arena, stem, number);
    stem->bits[number / 64] |= (uint64_t)1 << (number % 64);
}

// A stem's slot holds nothing, its one number n as 2 n + 1, or a Stem. Most stems of some texts have one number.
static bool take_first(void **slot, uint64_t number) {
    if (*slot || number > UINTPTR_MAX / 2) return false;
    *slot = (void *)(uintptr_t)(number * 2 + 1);
    return true;
}

static Stem *stem_of(HloArena *arena, void **slot) {
    uintptr_t value = (uintptr_t)*slot;
    if (value && !(value & 1)) return *slot;
    Stem *stem = HLO_NEW(arena, Stem);
    if (value) stem_take(arena, stem, value / 2);
    *slot = stem;
    return stem;
}

// The number that a name gets: the one wanted, or the stem's next free one.
static uint64_t take_number(HloArena *arena, void **slot, uint64_t wanted) {
    if (take_first(slot, wanted)) return wanted;
    Stem *stem = stem_of(arena, slot);
    uint64_t number = wanted;
    if (stem_has(stem, wanted)) {
        while (stem_has(stem, stem->counter)) stem->counter++;
        number = stem->counter++;
    }
    stem_take(arena, stem, number);
    return number;
}

// Splits `add.12` into `add` and 12. No digits after the last dot, or a number beyond 63 bits: the whole name
// is the stem.
static bool split_number(const char *name, size_t size, size_t *stem_size, uint64_t *number) {
    size_t first = size;
    while (first > 0 && is_class(name[first - 1], NUMERAL)) first--;
    if (first == size || first < 2 || name[first - 1] != '.') return false;
    uint64_t value = 0;
    for (size_t i = first; i < size; i++) {
        if (value > (INT64_MAX - 9) / 10) return false;
        value = value * 10 + (uint64_t)(name[i] - '0');
    }
    *stem_size = first - 1;
    *number = value;
    return true;
}

static const char *numbered_name(HloArena *arena, const char *stem, size_t stem_size, uint64_t number) {
    char digits[24];
    size_t n = sizeof digits;
    do digits[--n] = (char)('0' + number % 10);
    while (number /= 10);
    size_t digit_count = sizeof digits - n;
    char *out = hlo_arena_alloc(arena, stem_size + 1 + digit_count + 1);
    memcpy(out, stem, stem_size);
    out[stem_size] = '.';
    memcpy(out + stem_size + 1, digits + n, digit_count);
    return out;
}

// The digits behind the stem are the number's usual spelling.
static bool is_plain_number(const char *name, size_t size, size_t stem_size) {
    return name[stem_size + 1] != '0' || size == stem_size + 2;
}

// `owned`: the text may be kept as it is.
static const char *unique_name(HloModule *m, HloNames *names, const char *wanted, bool owned) {
    if (!wanted[0]) wanted = "name";
    size_t size;
    const char *name = wanted;
    if (!is_clean(name, &size)) {
        name = hlo_sanitized_name(&m->arena, name);
        size = strlen(name);
    }
    size_t stem_size = size;
    uint64_t number = 0;
    bool explicit_number = split_number(name, size, &stem_size, &number);
    void **slot = hlo_map_at_text(&m->arena, &names->stems, name, stem_size, NULL);
    uint64_t wanted_number = number;
    number = take_number(&m->arena, slot, wanted_number);
    bool as_wanted = number == wanted_number && (!explicit_number || is_plain_number(name, size, stem_size));
    if (!as_wanted && (number || explicit_number)) return numbered_name(&m->arena, name, stem_size, number);
    return as_wanted && (owned || name != wanted) ? name
                                                  : hlo_arena_string(&m->arena, name, as_wanted ? size : stem_size);
}

const char *hlo_unique_name(HloModule *m, HloNames *names, const char *wanted) {
    return unique_name(m, names, wanted, false);
}

const char *hlo_unique_owned(HloModule *m, HloNames *names, const char *wanted) {
    return unique_name(m, names, wanted, true);
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
