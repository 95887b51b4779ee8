// Option values of a running pass, by name.

#include <assert.h>
#include <stdlib.h>

#include "hlo/pass.h"

// The text of an option: what the pipeline says, else the table's default. Only a bug in a pass asks for an option
// that its table does not list.
static const char *option_text(const HloPassContext *cx, const char *name) {
    for (size_t k = 0; k < cx->pass->option_count; k++) {
        const HloOptionSpec *spec = &cx->pass->options[k];
        if (strcmp(spec->name, name) != 0) continue;
        return cx->values && cx->values[k] ? cx->values[k] : spec->standard;
    }
    assert(!"option is not in the pass's table");
    return "";
}

bool hlo_option_bool(const HloPassContext *cx, const char *name) {
    return strcmp(option_text(cx, name), "true") == 0;
}

int64_t hlo_option_int(const HloPassContext *cx, const char *name) {
    return strtoll(option_text(cx, name), NULL, 10);
}

const char *hlo_option_text(const HloPassContext *cx, const char *name) {
    return option_text(cx, name);
}
