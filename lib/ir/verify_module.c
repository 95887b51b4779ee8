// Verification of the module header: entry layout, aliases, donors, and the mix of all-reduces
// (verifier chapter §3 step 11, §7.2).

#include "verify_rules.h"

// ---- entry layout ---------------------------------------------------------------------------------------

static bool entry_shape_fits(const HloVerify *v, const HloShape *declared, const HloShape *actual) {
    if (!v->options.layout_sensitive) return hlo_shape_compatible(declared, actual);
    return hlo_shape_equal(declared, actual, HLO_IGNORE_TILES | HLO_IGNORE_MEMORY_SPACE);
}

static HloStatus check_entry_layout(const HloVerify *v) {
    const HloModule *m = v->m;
    if (!m->entry_result) return hlo_ok();
    const char *fault = hlo_shape_layout_fault(m->entry_result);
    for (size_t k = 0; !fault && k < m->entry_param_count; k++) fault = hlo_shape_layout_fault(m->entry_params[k]);
    if (fault) return hlo_verify_fail_module(HLO_INVALID_ARGUMENT, "valid-layout", "%s", fault);
    if (!entry_shape_fits(v, m->entry_result, m->entry->root->shape)) {
        return hlo_verify_fail_module(HLO_INTERNAL, "entry-layout", "the root is %s, the entry layout says %s",
                                      hlo_verify_text(v, m->entry->root->shape), hlo_verify_text(v, m->entry_result));
    }
    if (m->entry_param_count != hlo_parameter_count(m->entry)) {
        return hlo_verify_fail_module(HLO_INTERNAL, "entry-layout", "the entry has %zu parameters, its layout %zu",
                                      hlo_parameter_count(m->entry), m->entry_param_count);
    }
    for (size_t k = 0; k < m->entry_param_count; k++) {
        const HloShape *actual = hlo_parameter(m->entry, k)->shape;
        if (entry_shape_fits(v, m->entry_params[k], actual)) continue;
        return hlo_verify_fail_module(HLO_INTERNAL, "entry-layout", "parameter %zu is %s, the entry layout says %s", k,
                                      hlo_verify_text(v, actual), hlo_verify_text(v, m->entry_params[k]));
    }
    return hlo_ok();
}

// ---- aliases and donors ---------------------------------------------------------------------------------

// A (parameter, index) pair as a text key.
static void **input_slot(const HloVerify *v, HloMap *inputs, const HloAlias *alias) {
    size_t count = alias->input.count + 1;
    int64_t *key = HLO_NEW_ARRAY(v->arena, int64_t, count);
    key[0] = alias->parameter;
    for (size_t i = 1; i < count; i++) key[i] = alias->input.data[i - 1];
    return hlo_map_at_text(v->arena, inputs, (const char *)key, count * sizeof *key, NULL);
}

// The array of the entry's parameters that an alias or donor names.
static HloStatus find_input(const HloVerify *v, const HloAlias *alias, const char *rule, const HloShape **out) {
    const HloModule *m = v->m;
    if (alias->parameter < 0 || (uint64_t)alias->parameter >= hlo_parameter_count(m->entry)) {
        return hlo_verify_fail_module(HLO_INTERNAL, rule, "the entry has no parameter %lld",
                                      (long long)alias->parameter);
    }
    const HloShape *parameter = hlo_parameter(m->entry, (size_t)alias->parameter)->shape;
    *out = hlo_shape_at(parameter, alias->input.data, alias->input.count);
    if (*out && hlo_shape_is_array(*out)) return hlo_ok();
    return hlo_verify_fail_module(HLO_INTERNAL, rule, "parameter %lld has no array at that index: %s",
                                  (long long)alias->parameter, hlo_verify_text(v, parameter));
}

// A must-alias shares one buffer, so layouts matter in every mode.
static HloStatus check_must_alias(const HloVerify *v, const HloAlias *alias) {
    const HloModule *m = v->m;
    if (!alias->must || !m->entry_result || (uint64_t)alias->parameter >= m->entry_param_count) return hlo_ok();
    const HloShape *in = hlo_shape_at(m->entry_params[alias->parameter], alias->input.data, alias->input.count);
    const HloShape *out = hlo_shape_at(m->entry_result, alias->output.data, alias->output.count);
    if (in && out && hlo_shape_equal(in, out, HLO_IGNORE_NOTHING)) return hlo_ok();
    return hlo_verify_fail_module(HLO_INTERNAL, "must-alias", "parameter %lld is %s, the result aliased with it %s",
                                  (long long)alias->parameter, in ? hlo_shape_text(v->arena, in, true) : "missing",
                                  out ? hlo_shape_text(v->arena, out, true) : "missing");
}

static HloStatus check_alias(const HloVerify *v, const HloAlias *alias, HloMap *inputs) {
    const HloShape *in = NULL, *root = v->m->entry->root->shape;
    HLO_TRY(find_input(v, alias, "input-output-alias", &in));
    const HloShape *out = hlo_shape_at(root, alias->output.data, alias->output.count);
    if (!out || !hlo_shape_is_array(out)) {
        return hlo_verify_fail_module(HLO_INTERNAL, "input-output-alias", "the result has no array at that index: %s",
                                      hlo_verify_text(v, root));
    }
    void **slot = input_slot(v, inputs, alias);
    if (*slot) {
        return hlo_verify_fail_module(HLO_INTERNAL, "input-output-alias",
                                      "parameter %lld is aliased twice at one index", (long long)alias->parameter);
    }
    *slot = (void *)(uintptr_t)alias;
    HLO_TRY(check_must_alias(v, alias));
    if (!v->options.layout_sensitive || hlo_shape_size_bytes(in) == hlo_shape_size_bytes(out)) return hlo_ok();
    return hlo_verify_fail_module(HLO_INTERNAL, "input-output-alias",
                                  "parameter %lld, %s, and the result %s differ in size", (long long)alias->parameter,
                                  hlo_verify_text(v, in), hlo_verify_text(v, out));
}

static HloStatus check_aliases(const HloVerify *v) {
    HloMap inputs = {0};
    const HloAliases *aliases = &v->m->input_output_alias, *donors = &v->m->buffer_donor;
    for (size_t i = 0; i < aliases->count; i++) HLO_TRY(check_alias(v, &aliases->items[i], &inputs));
    for (size_t i = 0; i < donors->count; i++) {
        const HloShape *in = NULL;
        HLO_TRY(find_input(v, &donors->items[i], "buffer-donor", &in));
        if (!*input_slot(v, &inputs, &donors->items[i])) continue;
        return hlo_verify_fail_module(HLO_INTERNAL, "buffer-donor", "parameter %lld is aliased already",
                                      (long long)donors->items[i].parameter);
    }
    return hlo_ok();
}

// ---- all-reduces ----------------------------------------------------------------------------------------

static HloStatus check_all_reduces(const HloVerify *v) {
    const HloInstruction *const *seen = v->all_reduce;
    if (!seen[0] || !seen[1]) return hlo_ok();
    return hlo_verify_fail(seen[1], HLO_FAILED_PRECONDITION, "all-reduce-layouts",
                           "it constrains its layout, '%s' does not", seen[0]->name);
}

HloStatus hlo_verify_header(HloVerify *v) {
    HLO_TRY(check_entry_layout(v));
    HLO_TRY(check_aliases(v));
    return check_all_reduces(v);
}
