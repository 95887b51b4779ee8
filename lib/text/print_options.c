// How modules are printed: presets, styles by name, and flags, all made from print_options.def.
//
//   hlo-opt --print-style=short --print-metadata FILE

#include "hlo/print_flags.h"

#include <stddef.h>

// ---- presets --------------------------------------------------------------------------------------------

HloPrintOptions hlo_print_default(void) {
    return (HloPrintOptions){
#define HLO_PRINT_OPTION(kind, field, flag, plain, brief, canonical, fingerprint, module_fingerprint, dump, help) \
    .field = plain,
#include "hlo/print_options.def"
    };
}

HloPrintOptions hlo_print_short(void) {
    return (HloPrintOptions){
#define HLO_PRINT_OPTION(kind, field, flag, plain, brief, canonical, fingerprint, module_fingerprint, dump, help) \
    .field = brief,
#include "hlo/print_options.def"
    };
}

HloPrintOptions hlo_print_canonical(void) {
    return (HloPrintOptions){
#define HLO_PRINT_OPTION(kind, field, flag, plain, brief, canonical, fingerprint, module_fingerprint, dump, help) \
    .field = canonical,
#include "hlo/print_options.def"
    };
}

HloPrintOptions hlo_print_fingerprint(void) {
    return (HloPrintOptions){
#define HLO_PRINT_OPTION(kind, field, flag, plain, brief, canonical, fingerprint, module_fingerprint, dump, help) \
    .field = fingerprint,
#include "hlo/print_options.def"
    };
}

HloPrintOptions hlo_print_module_fingerprint(void) {
    return (HloPrintOptions){
#define HLO_PRINT_OPTION(kind, field, flag, plain, brief, canonical, fingerprint, module_fingerprint, dump, help) \
    .field = module_fingerprint,
#include "hlo/print_options.def"
    };
}

HloPrintOptions hlo_print_dump(void) {
    return (HloPrintOptions){
#define HLO_PRINT_OPTION(kind, field, flag, plain, brief, canonical, fingerprint, module_fingerprint, dump, help) \
    .field = dump,
#include "hlo/print_options.def"
    };
}

HloPrintOptions hlo_print_long(void) {
    HloPrintOptions options = hlo_print_default();
    options.operand_shapes = true;
    return options;
}

// ---- styles ---------------------------------------------------------------------------------------------

static const struct {
    const char *name;
    HloPrintOptions (*preset)(void);
} styles[] = {
    {"default", hlo_print_default},
    {"plain", hlo_print_default},
    {"short", hlo_print_short},
    {"short-parsable", hlo_print_short},
    {"canonical", hlo_print_canonical},
    {"fingerprint", hlo_print_fingerprint},
    {"module-fingerprint", hlo_print_module_fingerprint},
    {"long", hlo_print_long},
    {"legacy", hlo_print_long},
    {"dump", hlo_print_dump},
};

#define STYLE_NAMES "default, short, canonical, fingerprint, module-fingerprint, long or dump"

HloStatus hlo_print_style_find(const char *name, HloPrintOptions *out) {
    for (size_t i = 0; i < HLO_COUNT(styles); i++) {
        if (strcmp(name, styles[i].name) != 0) continue;
        *out = styles[i].preset();
        return hlo_ok();
    }
    return hlo_error(HLO_INVALID_ARGUMENT, "unknown print style '%s'; expected " STYLE_NAMES, name);
}

// ---- flags ----------------------------------------------------------------------------------------------

static const char *const callee_words[] = {
    [HLO_CALLEES_NAMES] = "names",
    [HLO_CALLEES_OFF] = "off",
    [HLO_CALLEES_BODIES] = "bodies",
    [HLO_CALLEES_NONSEQUENTIAL_BODIES] = "nonsequential-bodies",
};

static HloStatus read_callees(HloArena *arena, const HloFlag *flag, void *options, const char *value) {
    (void)arena;
    for (size_t i = 0; i < HLO_COUNT(callee_words); i++) {
        if (strcmp(value, callee_words[i]) != 0) continue;
        *(HloCalleeMode *)((char *)options + flag->offset) = (HloCalleeMode)i;
        return hlo_ok();
    }
    return hlo_error(HLO_INVALID_ARGUMENT, "flag '--%s' takes names, off, bodies or nonsequential-bodies, found '%s'",
                     flag->name, value);
}

// What the rows of the table differ in by kind: the flag's kind, the word for its value, how it is read.
#define ROW_BOOL HLO_FLAG_BOOL, NULL, NULL
#define ROW_INT HLO_FLAG_INT, "N", NULL
#define ROW_CALLEES HLO_FLAG_OTHER, "FORM", read_callees
#define ROW(flag, field, help, ...) ROW_OF(flag, field, help, __VA_ARGS__)
#define ROW_OF(flag, field, help, kind, word, reader) \
    {flag, kind, offsetof(HloPrintFlags, field), "printing", word, NULL, help, reader},

static const HloFlag rows[] = {
    {"print-style", HLO_FLAG_TEXT, offsetof(HloPrintFlags, style), "printing", "STYLE", NULL,
     STYLE_NAMES "; the flags below change single parts of it", NULL},
#define HLO_PRINT_OPTION(kind, field, flag, plain, brief, canonical, fingerprint, module_fingerprint, dump, help) \
    ROW(flag, switches.field, help, ROW_##kind)
#include "hlo/print_options.def"
};

HloFlagSet hlo_print_flags(HloPrintFlags *flags) {
    return (HloFlagSet){.flags = rows, .count = HLO_COUNT(rows), .options = flags, .given = &flags->given};
}

static size_t size_of(const HloFlag *flag) {
    switch (flag->kind) {
    case HLO_FLAG_BOOL: return sizeof(bool);
    case HLO_FLAG_INT: return sizeof(int64_t);
    case HLO_FLAG_OTHER: return sizeof(HloCalleeMode);
    default: return 0;
    }
}

HloStatus hlo_print_flags_apply(const HloPrintFlags *flags, HloPrintOptions *options) {
    if (flags->style) HLO_TRY(hlo_print_style_find(flags->style, options));
    for (size_t i = 0; i < flags->given.count; i++) {
        const HloFlag *flag = flags->given.items[i];
        size_t at = flag->offset - offsetof(HloPrintFlags, switches);
        if (flag->kind != HLO_FLAG_TEXT)
            memcpy((char *)options + at, (const char *)&flags->switches + at, size_of(flag));
    }
    enum { MOST_INDENT = 1000 };
    if (options->indent < 0 || options->indent > MOST_INDENT)
        return hlo_error(HLO_INVALID_ARGUMENT, "flag '--print-indent' takes 0 to %d", MOST_INDENT);
    return hlo_ok();
}
