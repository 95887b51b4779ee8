// Any module that reads and verifies goes through a pipeline: it must verify afterwards, its text must read again, and
// a pipeline that claims to have changed nothing must leave the text alone.
//
// The first MIX_PREFIX bytes choose the passes, by their number in the registry; the rest is the module's text.

#define MIX_PREFIX 3

#include "fuzz.h"
#include "hlo/pass.h"
#include "mix.h"

static HloElement *choose_pipeline(HloArena *arena, const uint8_t *choices) {
    size_t count;
    const HloRegistryRow *rows = hlo_registry(&count);
    HloBuffer text = {0};
    for (size_t i = 0; i < MIX_PREFIX; i++) {
        size_t choice = choices[i] % (count + 1);
        // No pass, or one that is there to break something.
        if (choice == count || strncmp(rows[choice].pass->name, "test-only", strlen("test-only")) == 0) continue;
        if (text.size) hlo_put_char(&text, ',');
        hlo_put_string(&text, rows[choice].pass->name);
    }
    HloElement *pipeline;
    HloStringView view = {text.data ? text.data : "", text.size};
    MUST(hlo_is_ok(hlo_pipeline_parse(arena, "fuzz", view, &pipeline)));
    hlo_buffer_free(&text);
    return pipeline;
}

static const HloVerifyOptions rules = {.allow_mixed_precision = true, .allow_fused_dead_code = true};

static HloBuffer print(const HloModule *m) {
    HloPrintOptions options = hlo_print_dump();
    options.large_constants = has_small_constants(m);
    options.compact_gte = !orders_elements(m);
    HloBuffer out = {0};
    hlo_print_module(m, &options, &out);
    return out;
}

static void check_result(const HloModule *m, bool changed, const HloBuffer *before) {
    char message[2000];
    HloCode code = take_code(hlo_verify_module(m, &rules), message, sizeof message);
    HloBuffer after = print(m);
    MUST(code == HLO_OK, "%s\n---- before\n%s---- after\n%s", message, before->data, after.data);
    MUST(changed || strcmp(before->data, after.data) == 0, "---- before\n%s---- after\n%s", before->data, after.data);
    HloStringView text = {after.data, after.size};
    HloModule *again = read_text(text, m->hlo_version, 8 * (size_t)MODULE_BYTES, &code, message, sizeof message);
    MUST(again, "%s\n---- after\n%s", message, after.data);
    hlo_module_free(again);
    hlo_buffer_free(&after);
}

// What a pass may answer to a valid module besides success. FAILED_PRECONDITION: another pass has to run before it.
static bool may_fail(HloCode code) {
    return code == HLO_UNIMPLEMENTED || code == HLO_RESOURCE_EXHAUSTED || code == HLO_FAILED_PRECONDITION;
}

static void run_passes(HloModule *m, const uint8_t *choices) {
    HloArena arena = {0};
    HloElement *pipeline = choose_pipeline(&arena, choices);
    HloRunner runner = {0};
    bool changed = false;
    char message[2000];
    HloBuffer before = print(m);
    HloCode code = take_code(hlo_pipeline_run(pipeline, m, &runner, &changed), message, sizeof message);
    MUST(code == HLO_OK || may_fail(code), "%s\n---- before\n%s", message, before.data);
    if (code == HLO_OK) check_result(m, changed, &before);
    hlo_buffer_free(&before);
    hlo_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < MIX_PREFIX) return -1;
    double start = processor_seconds();
    HloCode code;
    HloStringView text = {(const char *)data + MIX_PREFIX, size - MIX_PREFIX};
    HloModule *m = read_text(text, version_for(text.size), MODULE_BYTES, &code, NULL, 0);
    if (m) {
        if (take_code(hlo_verify_module(m, &rules), NULL, 0) == HLO_OK) run_passes(m, data);
        hlo_module_free(m);
    }
    MUST(processor_seconds() - start < INPUT_SECONDS);
    return 0;
}
