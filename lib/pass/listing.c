// Platforms by word, and the registry as text.

#include "hlo/listing.h"

#include <stdlib.h>
#include <strings.h>

static const struct {
    const char *word;
    HloPlatform platform;
} platform_words[] = {
    {"transforms", HLO_PLATFORM_TRANSFORMS},
    {"cpu", HLO_PLATFORM_CPU},
    {"host", HLO_PLATFORM_CPU},
    {"gpu", HLO_PLATFORM_GPU},
    {"cuda", HLO_PLATFORM_GPU},
    {"rocm", HLO_PLATFORM_GPU},
    {"sycl", HLO_PLATFORM_GPU},
    {"oneapi", HLO_PLATFORM_GPU},
};

HloStatus hlo_platform_find(const char *word, HloPlatform *out) {
    for (size_t i = 0; i < HLO_COUNT(platform_words); i++) {
        if (strcasecmp(word, platform_words[i].word) != 0) continue;
        *out = platform_words[i].platform;
        return hlo_ok();
    }
    return hlo_error(HLO_UNIMPLEMENTED, "unknown platform '%s'; the platforms are transforms, cpu and gpu", word);
}

static int compare_names(const void *a, const void *b) {
    return strcmp((*(const HloPass *const *)a)->name, (*(const HloPass *const *)b)->name);
}

// The passes that a platform lists, or, for platforms 0, all but those for tests; sorted. The caller frees *out.
static HloStatus sorted_passes(unsigned platforms, const HloPass ***out, size_t *listed) {
    size_t count;
    const HloRegistryRow *rows = hlo_registry(&count);
    const HloPass **passes = calloc(count + 1, sizeof *passes);
    if (!passes) return hlo_out_of_memory();
    *listed = 0;
    for (size_t i = 0; i < count; i++) {
        bool is_listed = platforms ? rows[i].platforms & platforms : !(rows[i].platforms & HLO_PLATFORM_TEST);
        if (is_listed) passes[(*listed)++] = rows[i].pass;
    }
    qsort(passes, *listed, sizeof *passes, compare_names);
    *out = passes;
    return hlo_ok();
}

HloStatus hlo_put_pass_names(HloPlatform platform, HloBuffer *out) {
    const HloPass **passes = NULL;
    size_t count = 0;
    HLO_TRY(sorted_passes(platform, &passes, &count));
    for (size_t i = 0; i < count; i++) hlo_putf(out, "%s%s", i ? "," : "", passes[i]->name);
    hlo_put_char(out, '\n');
    free(passes);
    return hlo_ok();
}

static void put_pass(const HloPass *pass, HloBuffer *out) {
    hlo_putf(out, "  %-32s  %s\n", pass->name, pass->summary ? pass->summary : "");
    for (size_t i = 0; i < pass->option_count; i++) {
        const HloOptionSpec *option = &pass->options[i];
        hlo_putf(out, "      %s=%s", option->name, option->standard);
        hlo_putf(out, "  %s\n", option->help);
    }
}

HloStatus hlo_put_pass_manual(HloBuffer *out) {
    const HloPass **passes = NULL;
    size_t count = 0;
    HLO_TRY(sorted_passes(0, &passes, &count));
    for (size_t i = 0; i < count; i++) put_pass(passes[i], out);
    free(passes);
    return hlo_ok();
}
