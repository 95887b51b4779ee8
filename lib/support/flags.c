// Reading flags by table, from argv and from an environment variable.

#include "hlo/flags.h"

#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "hlo/file.h"

enum {
    HINT_DISTANCE = 3,  // a name with more edits than this is no near miss
    HELP_COLUMN = 36,   // where the explanation starts
    TOPIC_COLUMN = 12,  // where a topic's flags start
    HELP_WIDTH = 100,
};

// A flag as written: `name` without dashes, value or NULL.
typedef struct Token {
    HloStringView name;
    const char *value;
} Token;

static int compare_name(HloStringView name, const char *other) {
    size_t size = strlen(other), common = name.size < size ? name.size : size;
    int order = common ? memcmp(name.data, other, common) : 0;
    return order ? order : (name.size > size) - (name.size < size);
}

static const HloFlag *find_sorted(const HloFlagSet *set, HloStringView name) {
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = compare_name(name, set->flags[middle].name);
        if (order == 0) return &set->flags[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static const HloFlag *find_in_set(const HloFlagSet *set, HloStringView name) {
    if (set->sorted) return find_sorted(set, name);
    for (size_t i = 0; i < set->count; i++) {
        if (hlo_view_is(name, set->flags[i].name)) return &set->flags[i];
    }
    return NULL;
}

static const HloFlag *find_flag(const HloFlagSet *sets, size_t set_count, HloStringView name, const HloFlagSet **set) {
    for (size_t s = 0; s < set_count; s++) {
        const HloFlag *flag = find_in_set(&sets[s], name);
        if (!flag) continue;
        *set = &sets[s];
        return flag;
    }
    return NULL;
}

static const char *nearest_name(const HloFlagSet *sets, size_t set_count, HloStringView name) {
    const char *best = NULL;
    size_t best_distance = HINT_DISTANCE + 1;
    for (size_t s = 0; s < set_count; s++) {
        for (size_t i = 0; i < sets[s].count; i++) {
            const char *candidate = sets[s].flags[i].name;
            size_t distance = hlo_edit_distance(name.data, name.size, candidate, strlen(candidate), best_distance);
            if (distance >= best_distance || distance >= strlen(candidate)) continue;
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

static HloStatus unknown_flag(const HloFlagSet *sets, size_t set_count, HloStringView name) {
    const char *hint = nearest_name(sets, set_count, name);
    int size = name.size > 200 ? 200 : (int)name.size;
    if (!hint) return hlo_error(HLO_INVALID_ARGUMENT, "unknown flag '--%.*s'; see --help", size, name.data);
    return hlo_error(HLO_INVALID_ARGUMENT, "unknown flag '--%.*s'; did you mean '--%s'?", size, name.data, hint);
}

bool hlo_flag_read_bool(const char *text, bool *out) {
    bool yes = strcasecmp(text, "true") == 0 || strcmp(text, "1") == 0;
    if (!yes && strcasecmp(text, "false") != 0 && strcmp(text, "0") != 0) return false;
    *out = yes;
    return true;
}

bool hlo_flag_read_int(const char *text, int64_t *out) {
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end) return false;
    *out = value;
    return true;
}

static bool read_float(const char *text, double *out) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end) return false;
    *out = value;
    return true;
}

static bool append_list(HloArena *arena, const char *text, HloVec *out) {
    for (;;) {
        size_t size = strcspn(text, ",");
        hlo_vec_push(arena, out, hlo_arena_string(arena, text, size));
        if (!text[size]) return true;
        text += size + 1;
    }
}

static bool read_int32(const char *text, int64_t *out) {
    int64_t value;
    if (!hlo_flag_read_int(text, &value) || value < INT32_MIN || value > INT32_MAX) return false;
    *out = value;
    return true;
}

static bool store(HloArena *arena, const HloFlag *flag, void *options, const char *text) {
    void *field = (char *)options + flag->offset;
    switch (flag->kind) {
    case HLO_FLAG_BOOL: return hlo_flag_read_bool(text, field);
    case HLO_FLAG_INT: return hlo_flag_read_int(text, field);
    case HLO_FLAG_INT32: return read_int32(text, field);
    case HLO_FLAG_FLOAT: return read_float(text, field);
    case HLO_FLAG_TEXT: *(const char **)field = text; return true;
    case HLO_FLAG_LIST: return append_list(arena, text, field);
    case HLO_FLAG_TEXTS: hlo_vec_push(arena, field, text); return true;
    case HLO_FLAG_OTHER: return false;  // apply() calls the row's own reader
    }
    return false;
}

static const char *kind_words(HloFlagKind kind) {
    switch (kind) {
    case HLO_FLAG_BOOL: return "true or false";
    case HLO_FLAG_INT: return "an integer";
    case HLO_FLAG_INT32: return "a 32-bit integer";
    case HLO_FLAG_FLOAT: return "a number";
    case HLO_FLAG_TEXT: return "text";
    case HLO_FLAG_LIST: return "a list";
    case HLO_FLAG_TEXTS: return "text";
    case HLO_FLAG_OTHER: return "a value";
    }
    return "";
}

static HloStatus apply(HloArena *arena, const HloFlag *flag, const HloFlagSet *set, const char *value) {
    if (!value) value = flag->kind == HLO_FLAG_BOOL ? "true" : flag->implied;
    if (!value)
        return hlo_error(HLO_INVALID_ARGUMENT, "flag '--%s' needs a value: --%s=%s", flag->name, flag->name,
                         flag->value);
    if (set->given) hlo_vec_push(arena, set->given, flag);
    if (flag->kind == HLO_FLAG_OTHER) return flag->read(arena, flag, set->options, value);
    if (store(arena, flag, set->options, value)) return hlo_ok();
    return hlo_error(HLO_INVALID_ARGUMENT, "flag '--%s' takes %s, found '%s'", flag->name, kind_words(flag->kind),
                     value);
}

static Token split(const char *argument) {
    const char *name = argument + (argument[1] == '-' ? 2 : 1);
    const char *equals = strchr(name, '=');
    size_t size = equals ? (size_t)(equals - name) : strlen(name);
    return (Token){{name, size}, equals ? equals + 1 : NULL};
}

HloStatus hlo_flags_parse(HloArena *arena, const HloFlagSet *sets, size_t set_count, int argc, char *const *argv,
                          HloVec *positionals) {
    bool flags_ended = false;
    for (int i = 1; i < argc; i++) {
        if (flags_ended || argv[i][0] != '-' || argv[i][1] == 0) {
            hlo_vec_push(arena, positionals, argv[i]);
            continue;
        }
        if (strcmp(argv[i], "--") == 0) {
            flags_ended = true;
            continue;
        }
        Token token = split(argv[i]);
        const HloFlagSet *set = NULL;
        const HloFlag *flag = find_flag(sets, set_count, token.name, &set);
        if (!flag) return unknown_flag(sets, set_count, token.name);
        bool takes_next = !token.value && token.name.size == 1 && flag->kind != HLO_FLAG_BOOL && i + 1 < argc;
        HLO_TRY(apply(arena, flag, set, takes_next ? argv[++i] : token.value));
    }
    return hlo_ok();
}

// ---- environment ----------------------------------------------------------------------------------------
// Debug options chapter, §2.

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// A quoted value runs to the same quote; a backslash inside "…" makes the next character plain.
static const char *quoted_value(HloArena *arena, const char **cursor) {
    const char *p = *cursor;
    char quote = *p++;
    char *value = hlo_arena_alloc(arena, strlen(p) + 1), *end = value;
    while (*p && *p != quote) {
        if (quote == '"' && *p == '\\' && p[1]) p++;
        *end++ = *p++;
    }
    *cursor = *p ? p + 1 : p;
    return value;
}

static const char *plain_value(HloArena *arena, const char **cursor) {
    const char *start = *cursor;
    while (**cursor && !is_blank(**cursor)) ++*cursor;
    return hlo_arena_string(arena, start, (size_t)(*cursor - start));
}

// token = "-" name ("=" value)?
static Token environment_token(HloArena *arena, const char **cursor) {
    const char *start = *cursor, *p = start;
    while (is_name_char(*p)) p++;
    const char *dashless = start + (start[1] == '-' ? 2 : 1);
    Token token = {{dashless, p > dashless ? (size_t)(p - dashless) : 0}, NULL};
    if (*p == '=') {
        p++;
        token.value = *p == '\'' || *p == '"' ? quoted_value(arena, &p) : plain_value(arena, &p);
    } else {
        token.name.size += strlen(plain_value(arena, &p));
    }
    *cursor = p;
    return token;
}

// The flags that no set knows.
typedef struct Unknown {
    HloStringView first;  // its name, for a hint
    size_t count;
    HloBuffer words;  // all of them as written, each behind a blank
} Unknown;

static HloStatus unknown_status(const HloFlagSet *sets, size_t set_count, const char *variable,
                                const Unknown *unknown) {
    if (!unknown->count) return hlo_ok();
    const char *hint = unknown->count == 1 ? nearest_name(sets, set_count, unknown->first) : NULL;
    return hlo_error(HLO_INVALID_ARGUMENT, "Unknown flag%s in %s:%.2000s%s%s%s", unknown->count > 1 ? "s" : "",
                     variable, unknown->words.data ? unknown->words.data : "", hint ? "; did you mean '--" : "",
                     hint ? hint : "", hint ? "'?" : "");
}

static HloStatus parse_words(HloArena *arena, const HloFlagSet *sets, size_t set_count, const char *variable,
                             const char *text, Unknown *unknown) {
    for (const char *p = text;;) {
        while (is_blank(*p)) p++;
        if (*p != '-') break;  // the end; what follows a word without dash is ignored, as in the reference
        const char *start = p;
        Token token = environment_token(arena, &p);
        const HloFlagSet *set = NULL;
        const HloFlag *flag = find_flag(sets, set_count, token.name, &set);
        if (flag) {
            HLO_TRY(hlo_error_context(apply(arena, flag, set, token.value), "%s", variable));
            continue;
        }
        if (!unknown->count++) unknown->first = token.name;
        hlo_put_char(&unknown->words, ' ');
        hlo_put(&unknown->words, start, (size_t)(p - start));
    }
    return unknown_status(sets, set_count, variable, unknown);
}

static HloStatus parse_flag_text(HloArena *arena, const HloFlagSet *sets, size_t set_count, const char *variable,
                                 const char *text) {
    Unknown unknown = {0};
    HloStatus status = parse_words(arena, sets, set_count, variable, text, &unknown);
    hlo_buffer_free(&unknown.words);
    return status;
}

HloStatus hlo_flags_parse_environment(HloArena *arena, const HloFlagSet *sets, size_t set_count, const char *variable,
                                      const char *text) {
    if (!text || !*text) return hlo_ok();
    const char *p = text;
    while (is_blank(*p)) p++;
    if (*p == '-') return parse_flag_text(arena, sets, set_count, variable, p);
    HloBuffer content = {0};
    HloStatus status =
        hlo_error_context(hlo_file_read(text, &content),
                          "%s does not start with '-' and so names a file of flags, which fails", variable);
    if (hlo_is_ok(status) && content.size) {
        // The values outlive the buffer.
        const char *copy = hlo_arena_string(arena, content.data, content.size);
        status = parse_flag_text(arena, sets, set_count, variable, copy);
    }
    hlo_buffer_free(&content);
    return status;
}

// ---- help -----------------------------------------------------------------------------------------------

void hlo_flag_help(const HloFlag *flag, HloBuffer *out) {
    size_t start = out->size;
    hlo_putf(out, strlen(flag->name) == 1 ? "  -%s" : "  --%s", flag->name);
    if (flag->value && flag->implied)
        hlo_putf(out, "[=%s]", flag->value);
    else if (flag->value)
        hlo_putf(out, strlen(flag->name) == 1 ? " %s" : "=%s", flag->value);
    size_t width = out->size - start;
    if (width + 2 > HELP_COLUMN) {
        hlo_put_char(out, '\n');
        width = 0;
    }
    hlo_put_spaces(out, HELP_COLUMN - width);
    hlo_put_string(out, flag->help);
    hlo_put_char(out, '\n');
}

static bool is_of_topic(const HloFlag *flag, const char *topic) {
    return flag->topic && strcmp(flag->topic, topic) == 0;
}

// Whether no earlier row has this row's topic.
static bool opens_topic(const HloFlagSet *sets, size_t set, size_t row) {
    const char *topic = sets[set].flags[row].topic;
    for (size_t s = 0; s <= set; s++) {
        size_t count = s == set ? row : sets[s].count;
        for (size_t i = 0; i < count; i++) {
            if (is_of_topic(&sets[s].flags[i], topic)) return false;
        }
    }
    return true;
}

static void put_topic(const HloFlagSet *sets, size_t set_count, const char *topic, HloBuffer *out) {
    hlo_putf(out, "%s:\n", topic);
    for (size_t s = 0; s < set_count; s++) {
        for (size_t i = 0; i < sets[s].count; i++) {
            if (is_of_topic(&sets[s].flags[i], topic)) hlo_flag_help(&sets[s].flags[i], out);
        }
    }
}

bool hlo_flags_help(const HloFlagSet *sets, size_t set_count, const char *topic, HloBuffer *out) {
    bool all = strcmp(topic, "all") == 0, found = false;
    for (size_t s = 0; s < set_count; s++) {
        for (size_t i = 0; i < sets[s].count; i++) {
            const char *candidate = sets[s].flags[i].topic;
            if (!candidate || !opens_topic(sets, s, i) || (!all && strcmp(candidate, topic) != 0)) continue;
            if (found) hlo_put_char(out, '\n');
            put_topic(sets, set_count, candidate, out);
            found = true;
        }
    }
    return found;
}

static void put_topic_line(const HloFlagSet *sets, size_t set_count, const char *topic, HloBuffer *out) {
    hlo_putf(out, "  %-10s", topic);
    size_t width = TOPIC_COLUMN;
    for (size_t s = 0; s < set_count; s++) {
        for (size_t i = 0; i < sets[s].count; i++) {
            const HloFlag *flag = &sets[s].flags[i];
            if (!is_of_topic(flag, topic)) continue;
            size_t more = strlen(flag->name) + 3;
            if (width + more > HELP_WIDTH) {
                hlo_put_char(out, '\n');
                hlo_put_spaces(out, TOPIC_COLUMN);
                width = TOPIC_COLUMN;
            }
            hlo_putf(out, strlen(flag->name) == 1 ? " -%s" : " --%s", flag->name);
            width += more;
        }
    }
    hlo_put_char(out, '\n');
}

void hlo_flags_topics(const HloFlagSet *sets, size_t set_count, HloBuffer *out) {
    for (size_t s = 0; s < set_count; s++) {
        for (size_t i = 0; i < sets[s].count; i++) {
            const char *topic = sets[s].flags[i].topic;
            if (topic && opens_topic(sets, s, i)) put_topic_line(sets, set_count, topic, out);
        }
    }
}

HloStatus hlo_flags_help_topic(const HloFlagSet *sets, size_t set_count, const char *topic, HloBuffer *out) {
    if (hlo_flags_help(sets, set_count, topic, out)) return hlo_ok();
    return hlo_error(HLO_INVALID_ARGUMENT, "no help topic '%s'; --help names them", topic);
}

// ---- words ----------------------------------------------------------------------------------------------

HloStatus hlo_flag_choose(const char *flag, const char *word, const char *const *words, size_t count, size_t *out) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(word, words[i]) != 0) continue;
        *out = i;
        return hlo_ok();
    }
    HloBuffer list = {0};
    for (size_t i = 0; i < count; i++) {
        hlo_putf(&list, "%s%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", words[i]);
    }
    HloStatus status = hlo_error(HLO_INVALID_ARGUMENT, "flag '--%s' takes %s, found '%s'", flag,
                                 list.data ? list.data : "other words", word);
    hlo_buffer_free(&list);
    return status;
}

HloStatus hlo_flag_read_colour(const char *word, bool is_terminal, bool *out) {
    static const char *const words[] = {"auto", "always", "never"};
    size_t k = 0;
    HLO_TRY(hlo_flag_choose("color", word, words, HLO_COUNT(words), &k));
    *out = k == 1 || (k == 0 && is_terminal);
    return hlo_ok();
}
