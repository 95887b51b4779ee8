// The flags of compiler options, and how those are read whose values are no plain bools, numbers or texts (debug
// options chapter, §3). A row's `flag` cell names its reader: COMMAS is read_COMMAS.

#include "hlo/fuel.h"
#include "lib/pass/debug_fields.h"

#include <ctype.h>
#include <strings.h>

typedef HloStatus Reader(HloArena *arena, const HloFlag *flag, void *options, const char *value);

static HloStatus refuse(const HloFlag *flag, const char *wanted, const char *value) {
    return hlo_error(HLO_INVALID_ARGUMENT, "flag '--%s' takes %s, found '%s'", flag->name, wanted, value);
}

static const DebugField *field_of(const HloFlag *flag) {
    return debug_field_find(hlo_view(flag->name));
}

static char *upper(HloArena *arena, const char *text) {
    char *copy = hlo_arena_string(arena, text, strlen(text));
    for (char *p = copy; *p; p++) *p = (char)toupper((unsigned char)*p);
    return copy;
}

// The next item of a list, without the blanks around it; false at the end. *text moves on. An empty list has one empty
// item.
static bool next_item(const char **text, char separator, HloStringView *item) {
    if (!*text) return false;
    const char *end = strchr(*text, separator);
    *item = (HloStringView){*text, end ? (size_t)(end - *text) : strlen(*text)};
    *text = end ? end + 1 : NULL;
    while (item->size && isspace((unsigned char)item->data[0])) item->data++, item->size--;
    while (item->size && isspace((unsigned char)item->data[item->size - 1])) item->size--;
    return true;
}

// ---- texts ----------------------------------------------------------------------------------------------

static HloStatus read_UPPER(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    *(const char **)((char *)options + flag->offset) = upper(arena, value);
    return hlo_ok();
}

static HloStatus read_BLANKS(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    static const char blanks[] = " \t\r\n\v\f";
    HloVec *list = (HloVec *)((char *)options + flag->offset);
    for (;;) {
        value += strspn(value, blanks);
        if (!*value) return hlo_ok();
        size_t size = strcspn(value, blanks);
        hlo_vec_push(arena, list, hlo_arena_string(arena, value, size));
        value += size;
    }
}

// k=v,k2: merged into the map; a missing value is empty.
static HloStatus read_PAIRS(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    HloVec *map = (HloVec *)((char *)options + flag->offset);
    while (*value) {
        size_t size = strcspn(value, ","), key = strcspn(value, "=,");
        const char *text = key < size ? value + key + 1 : value + size;
        HLO_TRY(debug_map_set(arena, map, hlo_arena_string(arena, value, key),
                              hlo_arena_string(arena, text, (size_t)(value + size - text))));
        value += size + (value[size] == ',');
    }
    return hlo_ok();
}

// A duration: sign, then numbers with units; `inf`, `0`.
static bool is_duration(const char *text) {
    static const char *const units[] = {"ns", "us", "ms", "s", "m", "h"};
    if (*text == '-' || *text == '+') text++;
    if (strcmp(text, "inf") == 0 || strcmp(text, "0") == 0) return true;
    if (!*text) return false;
    while (*text) {
        size_t digits = strspn(text, "0123456789."), k = 0;
        if (!digits) return false;
        text += digits;
        while (k < HLO_COUNT(units) && strncmp(text, units[k], strlen(units[k])) != 0) k++;
        if (k == HLO_COUNT(units)) return false;
        text += strlen(units[k]);
    }
    return true;
}

static HloStatus read_DURATION(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    (void)arena;
    if (!is_duration(value)) return refuse(flag, "a duration such as 1h30m or inf", value);
    *(const char **)((char *)options + flag->offset) = value;
    return hlo_ok();
}

// ---- numbers and bools ----------------------------------------------------------------------------------

static HloStatus read_POSITIVE(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    (void)arena;
    int64_t number;
    if (!hlo_flag_read_int(value, &number) || number < 1 || number > INT32_MAX) {
        return refuse(flag, "an integer of at least 1", value);
    }
    *(int64_t *)((char *)options + flag->offset) = number;
    return hlo_ok();
}

static HloStatus read_REFUSE_TRUE(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    (void)arena;
    bool yes;
    if (!hlo_flag_read_bool(value, &yes) || yes) return refuse(flag, "false in a build without that library", value);
    *(bool *)((char *)options + flag->offset) = false;
    return hlo_ok();
}

static HloStatus read_IGNORED_BOOL(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    (void)arena, (void)options;
    bool yes;
    return hlo_flag_read_bool(value, &yes) ? hlo_ok() : refuse(flag, "true or false", value);
}

// pass=N,…: replaces what an earlier flag said.
static HloStatus read_FUEL(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    (void)flag;
    HloRewriteLog checked;
    HLO_TRY(hlo_fuel_parse(arena, value, &checked));
    ((HloDebugOptions *)options)->xla_fuel = value;
    return hlo_ok();
}

// ---- single words ---------------------------------------------------------------------------------------

static HloStatus refuse_word(const HloFlag *flag, const char *list, const char *value) {
    HloBuffer wanted = {0};
    hlo_put_string(&wanted, "one of ");
    debug_put_words(&wanted, list);
    HloStatus status = refuse(flag, wanted.data ? wanted.data : "a word", value);
    hlo_buffer_free(&wanted);
    return status;
}

static HloStatus store_word(HloArena *arena, const HloFlag *flag, void *options, const char *word, const char *value,
                            bool same_case) {
    (void)arena;
    const DebugField *field = field_of(flag);
    const char *found = debug_word_find(field->words, hlo_view(word), same_case);
    if (!found) return refuse_word(flag, field->words, value);
    *(const char **)debug_value(options, field) = found;
    return hlo_ok();
}

static HloStatus read_EXACT(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    return store_word(arena, flag, options, value, value, true);
}

static HloStatus read_ANY_CASE(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    return store_word(arena, flag, options, value, value, false);
}

static HloStatus read_PRESET(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    static const char prefix[] = "CPU_OPT_PRESET_";
    bool whole = strncasecmp(value, prefix, strlen(prefix)) == 0;
    const char *word = hlo_arena_printf(arena, "%s%s", whole ? "" : prefix, value);
    return store_word(arena, flag, options, word, value, false);
}

static HloStatus read_DETECTION(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    static const char *const spellings[] = {"none", "warning", "fail", "dump"};
    for (size_t k = 0; k < HLO_COUNT(spellings); k++) {
        if (strcmp(value, spellings[k]) != 0) continue;
        return store_word(arena, flag, options, hlo_arena_printf(arena, "DETECTION_MODE_%s", value), value, false);
    }
    return refuse(flag, "none, warning, fail or dump", value);
}

static HloStatus read_MEMORY(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    return store_word(arena, flag, options, hlo_arena_printf(arena, "COLLECTIVES_%s_MEMORY", value), value, false);
}

static HloStatus read_PIPELINING(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    const char *word = hlo_arena_printf(arena, "COLLECTIVE_PIPELINING_MODE_%s", value);
    return store_word(arena, flag, options, word, value, false);
}

// ---- lists of words -------------------------------------------------------------------------------------

static void drop_word(HloVec *list, const char *word) {
    size_t at = hlo_vec_find(list, word);
    if (at != SIZE_MAX) hlo_vec_remove(list, at);
}

static void add_word(HloArena *arena, HloVec *list, const char *word) {
    if (hlo_vec_find(list, word) == SIZE_MAX) hlo_vec_push(arena, list, word);
}

// The table's spelling of every word, so that words are the same exactly when the pointers are.
static HloVec copy_words(HloArena *arena, const DebugField *field, const HloVec *list) {
    HloVec copy = {0};
    for (size_t k = 0; k < list->count; k++) {
        hlo_vec_push(arena, &copy, debug_word_find(field->words, hlo_view(list->items[k]), true));
    }
    return copy;
}

// How the items of a value are to be taken: all with a sign (change the list) or none (replace it).
static HloStatus find_form(const HloFlag *flag, const char *value, bool *is_change) {
    size_t with = 0, without = 0;
    HloStringView item;
    for (const char *rest = value; next_item(&rest, ',', &item);) {
        bool is_signed = item.size && (*item.data == '+' || *item.data == '-');
        is_signed ? with++ : without++;
    }
    *is_change = with > 0;
    if (!with || !without) return hlo_ok();
    return hlo_error(HLO_INVALID_ARGUMENT,
                     "Illegal value for --%s '%s': All values must be incremental or none of them.", flag->name, value);
}

// `a,b` replaces the list, `+a,-b` changes it, nothing empties it; the prefix may be left out.
static HloStatus read_words(HloArena *arena, const HloFlag *flag, void *options, const char *value,
                            const char *prefix) {
    const DebugField *field = field_of(flag);
    HloVec *list = debug_value(options, field);
    bool is_change;
    HLO_TRY(find_form(flag, value, &is_change));
    HloVec next = is_change ? copy_words(arena, field, list) : (HloVec){0};
    HloStringView item;
    for (const char *rest = value; next_item(&rest, ',', &item);) {
        if (!item.size) continue;
        bool drop = is_change && *item.data == '-';
        const char *text = hlo_arena_string(arena, item.data + is_change, item.size - is_change);
        bool whole = strncasecmp(text, prefix, strlen(prefix)) == 0;
        text = upper(arena, hlo_arena_printf(arena, "%s%s", whole ? "" : prefix, text));
        const char *word = debug_word_find(field->words, hlo_view(text), true);
        if (!word) return hlo_error(HLO_INVALID_ARGUMENT, "Illegal value for --%s '%s'", flag->name, text);
        if (drop)
            drop_word(&next, word);
        else
            add_word(arena, &next, word);
    }
    *list = next;
    return hlo_ok();
}

static HloStatus read_WORDS(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    return read_words(arena, flag, options, value, "");
}

static HloStatus read_FUSION_TYPES(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    return read_words(arena, flag, options, value, "LIBRARY_FUSION_TYPE_");
}

static HloStatus read_KERNELS(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    return read_words(arena, flag, options, value, "COLLECTIVE_KERNEL_");
}

// Kinds of collectives in any case; ALLCOLLECTIVES stands for numbers 1 to 7.
static HloStatus read_COLLECTIVES(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    const DebugField *field = field_of(flag);
    HloVec next = {0};
    HloStringView item;
    for (const char *rest = value; next_item(&rest, ',', &item);) {
        const char *word = debug_word_find(field->words, item, false);
        if (!word) return refuse_word(flag, field->words, value);
        bool all = strcmp(word, "ALLCOLLECTIVES") == 0;
        if (!all) hlo_vec_push(arena, &next, word);
        for (int64_t k = 1; all && k <= 7; k++) hlo_vec_push(arena, &next, debug_word_numbered(field->words, k));
    }
    *(HloVec *)debug_value(options, field) = next;
    return hlo_ok();
}

// ---- messages -------------------------------------------------------------------------------------------

// The name of a collective without `-` and `_`; `all` means ALLCOLLECTIVES.
static const char *collective_word(HloArena *arena, HloStringView text) {
    char *name = hlo_arena_string(arena, text.data, text.size), *end = name;
    for (const char *p = name; *p; p++) {
        if (*p != '-' && *p != '_') *end++ = *p;
    }
    *end = 0;
    if (strcasecmp(name, "all") == 0) return "ALLCOLLECTIVES";
    return debug_word_find("COLLECTIVE_OP_TYPE", hlo_view(name), false);
}

// op[:max_bytes[:type]]
static HloStatus put_filter(HloArena *arena, const HloFlag *flag, HloStringView item, HloBuffer *out) {
    const char *rest = hlo_arena_string(arena, item.data, item.size);
    HloStringView part = {0};
    next_item(&rest, ':', &part);
    const char *word = collective_word(arena, part);
    if (!word) {
        return hlo_error(HLO_INVALID_ARGUMENT, "flag '--%s': Invalid collective op name: %.*s", flag->name,
                         (int)(part.size > 100 ? 100 : part.size), part.data);
    }
    hlo_putf(out, "  collective: %s\n", word);
    int64_t bytes;
    if (!next_item(&rest, ':', &part)) return hlo_ok();
    const char *text = hlo_arena_string(arena, part.data, part.size);
    if (!hlo_flag_read_int(text, &bytes)) {
        return hlo_error(HLO_INVALID_ARGUMENT, "flag '--%s': Invalid max_size_bytes: %s", flag->name, text);
    }
    hlo_putf(out, "  max_size_bytes: %lld\n", (long long)bytes);
    if (next_item(&rest, ':', &part)) {
        hlo_putf(out, "  op_type: %s\n", upper(arena, hlo_arena_string(arena, part.data, part.size)));
    }
    return hlo_ok();
}

static HloStatus read_FILTERS(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    HloVec *list = (HloVec *)((char *)options + flag->offset);
    HloStringView item;
    for (const char *rest = value; next_item(&rest, ',', &item);) {
        if (!item.size) continue;
        HloBuffer text = {0};
        HloStatus status = put_filter(arena, flag, item, &text);
        if (hlo_is_ok(status)) hlo_vec_push(arena, list, hlo_arena_string(arena, text.data, text.size));
        hlo_buffer_free(&text);
        HLO_TRY(status);
    }
    return hlo_ok();
}

// n, a:b, a: or :b
static bool read_range(HloArena *arena, HloStringView item, int64_t *first, int64_t *last) {
    const char *text = hlo_arena_string(arena, item.data, item.size);
    char *colon = strchr(text, ':');
    *first = 0, *last = INT64_MAX;
    if (!colon) return hlo_flag_read_int(text, first) && (*last = *first, true);
    *colon = 0;
    if (!*text && !colon[1]) return false;
    if (*text && !hlo_flag_read_int(text, first)) return false;
    if (colon[1] && !hlo_flag_read_int(colon + 1, last)) return false;
    return *first <= *last;
}

// Puts text into the filter before its patterns or behind them: ranges are the message's first field.
static HloStatus extend_filter(HloArena *arena, const HloFlag *flag, HloDebugOptions *options, bool ranges,
                               const HloBuffer *more) {
    enum { MOST_BYTES = 1 << 16 };
    const char **filter = &options->xla_gpu_experimental_thunk_buffer_debug_filter;
    const char *patterns = ranges ? strstr(*filter, "profile_annotation_regexes") : NULL;
    size_t size = patterns ? (size_t)(patterns - *filter) : strlen(*filter);
    HLO_TRY(hlo_buffer_status(more));
    if (strlen(*filter) + more->size > MOST_BYTES) {
        return hlo_error(HLO_RESOURCE_EXHAUSTED, "flag '--%s' is given too often or too long", flag->name);
    }
    *filter = hlo_arena_printf(arena, "%.*s%s%s", (int)size, *filter, more->size ? more->data : "", *filter + size);
    return hlo_ok();
}

static HloStatus read_THUNK_RANGES(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    HloBuffer text = {0};
    HloStringView item;
    HloStatus status = hlo_ok();
    for (const char *rest = value; hlo_is_ok(status) && next_item(&rest, ',', &item);) {
        int64_t first, last;
        if (read_range(arena, item, &first, &last))
            hlo_putf(&text, "thunk_id_ranges {\n  first: %lld\n  last: %lld\n}\n", (long long)first, (long long)last);
        else
            status = refuse(flag, "ranges n, a:b, a: or :b", value);
    }
    if (hlo_is_ok(status)) status = extend_filter(arena, flag, options, true, &text);
    hlo_buffer_free(&text);
    return status;
}

static HloStatus read_THUNK_PATTERNS(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    HloBuffer text = {0};
    HloStringView item;
    for (const char *rest = value; next_item(&rest, ',', &item);) {
        hlo_put_string(&text, "profile_annotation_regexes: \"");
        hlo_put(&text, item.data, item.size);
        hlo_put_string(&text, "\"\n");
    }
    HloStatus status = extend_filter(arena, flag, options, false, &text);
    hlo_buffer_free(&text);
    return status;
}

// ---- flags that set another field -----------------------------------------------------------------------

// Sets a field of words to one of two.
static HloStatus choose(const HloFlag *flag, const char *value, const char **field, const char *yes, const char *no) {
    bool truth;
    if (!hlo_flag_read_bool(value, &truth)) return refuse(flag, "true or false", value);
    *field = truth ? yes : no;
    return hlo_ok();
}

static HloStatus read_SCHEDULER(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    (void)arena;
    return choose(flag, value, &((HloDebugOptions *)options)->xla_cpu_scheduler_type,
                  "CPU_SCHEDULER_TYPE_CONCURRENCY_OPTIMIZED", "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED");
}

static HloStatus read_REGION(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    (void)arena;
    return choose(flag, value, &((HloDebugOptions *)options)->xla_gpu_command_buffer_scheduling_mode, "CONCURRENT",
                  "SERIALIZE");
}

static HloStatus read_JIT_LINK(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    (void)arena;
    return choose(flag, value, &((HloDebugOptions *)options)->xla_gpu_libnvjitlink_mode, "LIB_NV_JIT_LINK_MODE_ENABLED",
                  "LIB_NV_JIT_LINK_MODE_DISABLED");
}

// The alias's offset is that of the field it sets.
static HloStatus read_PIPELINED(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    (void)arena;
    return choose(flag, value, (const char **)((char *)options + flag->offset), "COLLECTIVE_PIPELINING_MODE_ON",
                  "COLLECTIVE_PIPELINING_MODE_DEFAULT");
}

static HloStatus read_ONE_SHOT(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    static const char word[] = "COLLECTIVE_KERNEL_ALL_REDUCE";
    const DebugField *field = debug_field_find(hlo_view("xla_gpu_experimental_use_collective_kernels"));
    HloVec *list = debug_value(options, field), next = copy_words(arena, field, list);
    const char *kernel = debug_word_find(field->words, hlo_view(word), true);
    bool yes;
    if (!hlo_flag_read_bool(value, &yes)) return refuse(flag, "true or false", value);
    if (yes)
        add_word(arena, &next, kernel);
    else
        drop_word(&next, kernel);
    *list = next;
    return hlo_ok();
}

static HloStatus read_NONE(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    (void)arena, (void)options, (void)value;
    return hlo_error(HLO_INVALID_ARGUMENT, "option %s has no flag; a file given with --debug_options_file can set it",
                     flag->name);
}

// ---- the table ------------------------------------------------------------------------------------------

// What a `flag` cell means: kind, the value's word in help, the value of a flag without one, the reader.
// PLAIN depends on the option's kind, see PLAIN_*.
#define PLAIN_BOOL HLO_FLAG_BOOL, NULL, NULL, NULL
#define PLAIN_INT32 HLO_FLAG_INT32, "N", NULL, NULL
#define PLAIN_INT64 HLO_FLAG_INT, "N", NULL, NULL
#define PLAIN_FLOAT HLO_FLAG_FLOAT, "X", NULL, NULL
#define PLAIN_TEXT HLO_FLAG_TEXT, "TEXT", NULL, NULL
#define CELL_PLAIN(kind) PLAIN_##kind
#define CELL_FOLDER(kind) HLO_FLAG_TEXT, "FOLDER", NULL, NULL
#define CELL_REGEX(kind) HLO_FLAG_TEXT, "REGEX", NULL, NULL
#define CELL_NAME(kind) HLO_FLAG_TEXT, "NAME", NULL, NULL
#define CELL_INT(kind) HLO_FLAG_INT32, "N", NULL, NULL
#define CELL_COMMAS(kind) HLO_FLAG_LIST, "A,B", NULL, NULL
#define CELL_EACH(kind) HLO_FLAG_TEXTS, "TEXT", NULL, NULL
#define OTHER(reader, word) HLO_FLAG_OTHER, word, NULL, read_##reader
#define SWITCH(reader) HLO_FLAG_OTHER, NULL, "true", read_##reader
#define CELL_UPPER(kind) OTHER(UPPER, "TEXT")
#define CELL_BLANKS(kind) OTHER(BLANKS, "TEXT")
#define CELL_PAIRS(kind) OTHER(PAIRS, "K=V,K=V")
#define CELL_DURATION(kind) OTHER(DURATION, "TIME")
#define CELL_POSITIVE(kind) OTHER(POSITIVE, "N")
#define CELL_FUEL(kind) OTHER(FUEL, "PASS=N")
#define CELL_EXACT(kind) OTHER(EXACT, "WORD")
#define CELL_ANY_CASE(kind) OTHER(ANY_CASE, "WORD")
#define CELL_PRESET(kind) OTHER(PRESET, "WORD")
#define CELL_DETECTION(kind) OTHER(DETECTION, "WORD")
#define CELL_MEMORY(kind) OTHER(MEMORY, "WORD")
#define CELL_PIPELINING(kind) OTHER(PIPELINING, "WORD")
#define CELL_WORDS(kind) OTHER(WORDS, "A,B")
#define CELL_FUSION_TYPES(kind) OTHER(FUSION_TYPES, "A,B")
#define CELL_KERNELS(kind) OTHER(KERNELS, "A,B")
#define CELL_COLLECTIVES(kind) OTHER(COLLECTIVES, "A,B")
#define CELL_FILTERS(kind) OTHER(FILTERS, "A:N,B:N")
#define CELL_THUNK_RANGES(kind) OTHER(THUNK_RANGES, "A:B")
#define CELL_THUNK_PATTERNS(kind) OTHER(THUNK_PATTERNS, "REGEX")
#define CELL_REFUSE_TRUE(kind) SWITCH(REFUSE_TRUE)
#define CELL_IGNORED_BOOL(kind) SWITCH(IGNORED_BOOL)
#define CELL_SCHEDULER(kind) SWITCH(SCHEDULER)
#define CELL_REGION(kind) SWITCH(REGION)
#define CELL_JIT_LINK(kind) SWITCH(JIT_LINK)
#define CELL_PIPELINED(kind) SWITCH(PIPELINED)
#define CELL_ONE_SHOT(kind) SWITCH(ONE_SHOT)

#define CELL_NONE(kind) OTHER(NONE, "TEXT")

#define ROW_OF(name, offset, topic, help, kind, word, implied, reader) \
    {name, kind, offset, topic, word, implied, help, reader},
#define ROW(...) ROW_OF(__VA_ARGS__)

static const HloFlag flags[] = {
#define HLO_DEBUG_OPTION(place, number, name, kind, words, standard, flag, topic, help) \
    ROW(#name, offsetof(HloDebugOptions, name), topic, help, CELL_##flag(kind))
#define HLO_DEBUG_ALIAS(name, field, flag, topic, help) \
    ROW(#name, offsetof(HloDebugOptions, field), topic, help, CELL_##flag(BOOL))
#include "hlo/debug_options.def"
};

HloFlagSet hlo_debug_option_flags(HloDebugOptions *options) {
    return (HloFlagSet){
        .flags = flags, .count = HLO_COUNT(flags), .options = options, .sorted = true, .given = &options->given};
}

static bool is_shown(const HloFlag *flag, bool acts) {
    return (flag->topic != NULL) == acts && flag->read != read_NONE;
}

void hlo_debug_options_help(HloBuffer *out, bool all) {
    hlo_put_string(out, "Compiler options, also read from XLA_FLAGS, that change something here:\n");
    for (size_t k = 0; k < HLO_COUNT(flags); k++) {
        if (is_shown(&flags[k], true)) hlo_flag_help(&flags[k], out);
    }
    if (!all) {
        hlo_put_string(out, "\nAll others of the reference are accepted; --help=xla --all lists them.\n");
        return;
    }
    hlo_put_string(out, "\nAccepted, without effect here:\n");
    for (size_t k = 0; k < HLO_COUNT(flags); k++) {
        if (is_shown(&flags[k], false)) hlo_flag_help(&flags[k], out);
    }
}

void hlo_put_ignored_options(HloBuffer *out, const HloDebugOptions *options) {
    for (size_t k = 0; k < options->given.count; k++) {
        const HloFlag *flag = options->given.items[k];
        if (!flag->topic) hlo_putf(out, "warning: --%s has no effect here\n", flag->name);
    }
}
