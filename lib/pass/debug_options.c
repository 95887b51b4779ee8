// Compiler options: the table, defaults, and what options mean for printing and for passes.

#include "lib/pass/debug_fields.h"

#include <strings.h>

// Lists that are not empty by default. They are full, so that a flag that appends copies them.
#define HLO_TEXTS(...) \
    { (void *[]){__VA_ARGS__}, HLO_COUNT(((const char *[]){__VA_ARGS__})), HLO_COUNT(((const char *[]){__VA_ARGS__})) }
#define HLO_PAIRS(...) HLO_TEXTS(__VA_ARGS__)

static const HloDebugOptions standards = {
#define HLO_DEBUG_OPTION(place, number, name, kind, words, standard, flag, topic, help) .name = standard,
#include "hlo/debug_options.def"
    .xla_fuel = "",
};

static const DebugField fields[] = {
#define HLO_DEBUG_OPTION(place, number, name, kind, words, standard, flag, topic, help) \
    [place] = {#name, DEBUG_##kind, #words, offsetof(HloDebugOptions, name)},
#include "hlo/debug_options.def"
};

static const struct {
    const char *list, *word;
    int64_t number;
} words[] = {
#define HLO_DEBUG_WORD(list, word, number) {#list, word, number},
#include "hlo/debug_words.def"
};

HloDebugOptions hlo_debug_options_default(void) {
    return standards;
}

const HloDebugOptions *debug_standard(void) {
    return &standards;
}

const DebugField *debug_fields(size_t *count) {
    *count = HLO_COUNT(fields);
    return fields;
}

const DebugField *debug_field_find(HloStringView name) {
    for (size_t k = 0; k < HLO_COUNT(fields); k++) {
        if (hlo_view_is(name, fields[k].name)) return &fields[k];
    }
    return NULL;
}

// ---- words ----------------------------------------------------------------------------------------------

static bool is_word(const char *word, HloStringView text, bool same_case) {
    if (strlen(word) != text.size) return false;
    return (same_case ? strncmp(word, text.data, text.size) : strncasecmp(word, text.data, text.size)) == 0;
}

const char *debug_word_find(const char *list, HloStringView word, bool same_case) {
    for (size_t k = 0; k < HLO_COUNT(words); k++) {
        if (strcmp(words[k].list, list) == 0 && is_word(words[k].word, word, same_case)) return words[k].word;
    }
    return NULL;
}

const char *debug_word_numbered(const char *list, int64_t number) {
    for (size_t k = 0; k < HLO_COUNT(words); k++) {
        if (strcmp(words[k].list, list) == 0 && words[k].number == number) return words[k].word;
    }
    return NULL;
}

void debug_put_words(HloBuffer *out, const char *list) {
    const char *separator = "";
    for (size_t k = 0; k < HLO_COUNT(words); k++) {
        if (strcmp(words[k].list, list) != 0) continue;
        hlo_putf(out, "%s%s", separator, words[k].word);
        separator = ", ";
    }
}

// Keys are searched one by one, so their number has a bound.
enum { MOST_MAP_ENTRIES = 10000 };

HloStatus debug_map_set(HloArena *arena, HloVec *map, const char *key, const char *value) {
    // A full list may be the table's default, which is not to be written to.
    if (map->count == map->capacity) hlo_vec_grow(arena, map, map->count + 2);
    for (size_t k = 0; k + 1 < map->count; k += 2) {
        if (strcmp(map->items[k], key) != 0) continue;
        map->items[k + 1] = (void *)(uintptr_t)value;
        return hlo_ok();
    }
    if (map->count / 2 >= MOST_MAP_ENTRIES) {
        return hlo_error(HLO_RESOURCE_EXHAUSTED, "an option that maps keys to values takes %d of them at most",
                         MOST_MAP_ENTRIES);
    }
    hlo_vec_push(arena, map, key);
    hlo_vec_push(arena, map, value);
    return hlo_ok();
}

// ---- what options mean ----------------------------------------------------------------------------------

HloPrintOptions hlo_debug_print_options(const HloDebugOptions *options) {
    HloPrintOptions print = options->xla_dump_hlo_as_long_text ? hlo_print_default() : hlo_print_short();
    print.large_constants = options->xla_dump_large_constants;
    print.metadata = !options->xla_dump_disable_metadata;
    print.async_sugar = options->xla_syntax_sugar_async_ops;
    print.inline_stack_frames = options->xla_hlo_print_inline_stack_frames;
    print.compact_gte = options->xla_dump_compact_gte;
    return print;
}

HloStatus hlo_debug_pass_filter(const HloDebugOptions *options, HloPassFilter *out) {
    const HloVec *disabled = &options->xla_disable_hlo_passes, *enabled = &options->xla_enable_hlo_passes_only;
    if (disabled->count && enabled->count) {
        return hlo_error(HLO_INVALID_ARGUMENT,
                         "--xla_disable_hlo_passes and --xla_enable_hlo_passes_only exclude each other");
    }
    *out = (HloPassFilter){
        .disable_all = options->xla_disable_all_hlo_passes,
        .disabled = (const char *const *)disabled->items,
        .disabled_count = disabled->count,
        .enabled_only = (const char *const *)enabled->items,
        .enabled_only_count = enabled->count,
        .start_from = options->xla_run_hlo_passes_starting_from,
    };
    return hlo_ok();
}
