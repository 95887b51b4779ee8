// The registry: registry.def as a table.

#include "hlo/pass.h"

#define HLO_PASS(symbol, platforms) extern const HloPass hlo_pass_##symbol;
#include "passes/registry.def"

// The words of registry.def's second column.
enum {
    PLATFORMS_TRANSFORMS = HLO_PLATFORM_TRANSFORMS | HLO_PLATFORM_CPU | HLO_PLATFORM_GPU,
    PLATFORMS_COMPILER = HLO_PLATFORM_CPU | HLO_PLATFORM_GPU,
    PLATFORMS_CPU = HLO_PLATFORM_CPU,
    PLATFORMS_UNLISTED = 0,
    PLATFORMS_TEST = HLO_PLATFORM_TEST,
};

static const HloRegistryRow rows[] = {
#define HLO_PASS(symbol, platforms) {&hlo_pass_##symbol, PLATFORMS_##platforms},
#include "passes/registry.def"
};

const HloRegistryRow *hlo_registry(size_t *count) {
    *count = HLO_COUNT(rows);
    return rows;
}
