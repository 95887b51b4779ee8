// Compiler options: defaults and flags from the table, and what they mean for printing.

#include "hlo/debug_options.h"

static const HloFlag flags[] = {
#define HLO_DEBUG_OPTION(name, kind, type, standard, topic, value, help) \
    {#name, HLO_FLAG_##kind, offsetof(HloDebugOptions, name), topic, value, NULL, help},
#include "hlo/debug_options.def"
};

HloDebugOptions hlo_debug_options_default(void) {
    return (HloDebugOptions){
#define HLO_DEBUG_OPTION(name, kind, type, standard, topic, value, help) .name = standard,
#include "hlo/debug_options.def"
    };
}

HloFlagSet hlo_debug_option_flags(HloDebugOptions *options) {
    return (HloFlagSet){flags, HLO_COUNT(flags), options, "xla_"};
}

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

static const struct {
    const char *name;
    HloPrintOptions (*preset)(void);
} styles[] = {
    {"default", hlo_print_default},
    {"short", hlo_print_short},
    {"canonical", hlo_print_canonical},
    {"fingerprint", hlo_print_fingerprint},
    {"module-fingerprint", hlo_print_module_fingerprint},
    {"dump", hlo_print_dump},
};

HloStatus hlo_print_style_find(const char *name, HloPrintOptions *out) {
    for (size_t i = 0; i < HLO_COUNT(styles); i++) {
        if (strcmp(name, styles[i].name) != 0) continue;
        *out = styles[i].preset();
        return hlo_ok();
    }
    return hlo_error(HLO_INVALID_ARGUMENT,
                     "unknown print style '%s'; expected default, short, canonical, fingerprint, "
                     "module-fingerprint or dump",
                     name);
}
