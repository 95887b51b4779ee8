// Finding passes by name. The list itself is passes/registry.def.

#include "hlo/pass.h"

const HloPass *hlo_pass_find(const char *name, size_t size) {
    size_t count;
    const HloRegistryRow *rows = hlo_registry(&count);
    for (size_t k = 0; k < count; k++) {
        if (hlo_view_is((HloStringView){name, size}, rows[k].pass->name)) return rows[k].pass;
    }
    return NULL;
}

const char *hlo_pass_suggest(const char *name, size_t size) {
    size_t count;
    const HloRegistryRow *rows = hlo_registry(&count);
    const char *nearest = NULL;
    size_t best = size / 3 + 1;  // a third of the letters may be wrong, and one more
    for (size_t k = 0; k < count && size > 0; k++) {
        if (rows[k].platforms & HLO_PLATFORM_TEST) continue;
        const char *candidate = rows[k].pass->name;
        size_t distance = hlo_edit_distance(name, size, candidate, strlen(candidate), best);
        if (distance > best || (nearest && distance == best)) continue;
        best = distance;
        nearest = candidate;
    }
    return nearest;
}
