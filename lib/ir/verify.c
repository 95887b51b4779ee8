// The verifier's run: phases in order, the first failure ends it (verifier chapter §3).

#include "verify_rules.h"

// ---- reporting ------------------------------------------------------------------------------------------

HloStatus hlo_verify_context(HloStatus status, const HloInstruction *inst, const char *rule) {
    return hlo_error_context(status, "instruction '%s' (%s in '%s') breaks rule %s", inst->name, hlo_op_name(inst->op),
                             inst->comp ? inst->comp->name : "", rule);
}

HloStatus hlo_verify_fail(const HloInstruction *inst, HloCode code, const char *rule, const char *format, ...) {
    va_list args;
    va_start(args, format);
    HloStatus status = hlo_error_v(code, format, args);
    va_end(args);
    return hlo_verify_context(status, inst, rule);
}

HloStatus hlo_verify_fail_comp(const HloComputation *comp, const char *rule, const char *format, ...) {
    va_list args;
    va_start(args, format);
    HloStatus status = hlo_error_v(HLO_INTERNAL, format, args);
    va_end(args);
    return hlo_error_context(status, "computation '%s' breaks rule %s", comp->name, rule);
}

HloStatus hlo_verify_fail_module(HloCode code, const char *rule, const char *format, ...) {
    va_list args;
    va_start(args, format);
    HloStatus status = hlo_error_v(code, format, args);
    va_end(args);
    return hlo_error_context(status, "the module breaks rule %s", rule);
}

const char *hlo_verify_text(const HloVerify *v, const HloShape *shape) {
    return hlo_shape_text(v->arena, shape, v->options.layout_sensitive);
}

// ---- shared questions -----------------------------------------------------------------------------------

bool hlo_verify_same(const HloVerify *v, const HloShape *a, const HloShape *b) {
    return v->options.layout_sensitive ? hlo_shape_equal(a, b, HLO_IGNORE_NOTHING) : hlo_shape_compatible(a, b);
}

bool hlo_verify_compatible(const HloVerify *v, const HloShape *a, const HloShape *b) {
    return v->options.allow_mixed_precision ? hlo_shape_compatible_fp(a, b) : hlo_shape_compatible(a, b);
}

bool hlo_verify_types_agree(const HloVerify *v, HloType a, HloType b) {
    return a == b || (v->options.allow_mixed_precision && hlo_types_agree(a, b));
}

HloStatus hlo_verify_infer(HloVerify *v, const HloInstruction *inst, const HloShape **out) {
    return hlo_verify_context(hlo_infer_in(&v->shapes, v->m, inst, out), inst, "operands");
}

HloStatus hlo_verify_operand_count(const HloInstruction *inst, size_t wanted) {
    if (hlo_operand_count(inst) == wanted) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "operand-count", "expected %zu operands, found %zu", wanted,
                           hlo_operand_count(inst));
}

const char *hlo_verify_thread(const HloComputation *comp) {
    return comp->execution_thread ? comp->execution_thread : "main";
}

HloStatus hlo_verify_callee_thread(const HloInstruction *inst, const HloComputation *callee) {
    const char *own = hlo_verify_thread(inst->comp), *other = hlo_verify_thread(callee);
    if (strcmp(own, other) == 0) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "callee-thread", "it runs on thread %s, its callee '%s' on %s", own,
                           callee->name, other);
}

// ---- the run --------------------------------------------------------------------------------------------

static HloStatus verify_computations(HloVerify *v) {
    HLO_EACH_COMP(comp, v->m) {
        v->in_fusion = hlo_is_fusion_computation(comp);
        HLO_EACH_INST(inst, comp) HLO_TRY(hlo_verify_instruction(v, inst));
        HLO_EACH_INST(inst, comp) HLO_TRY(hlo_verify_sharding(v, inst));
    }
    return hlo_ok();
}

static HloStatus verify_all(void *data) {
    HloVerify *v = data;
    HLO_TRY(hlo_verify_structure(v));
    HLO_TRY(hlo_verify_async_pairs(v));
    HLO_TRY(hlo_verify_channels(v));
    HLO_TRY(verify_computations(v));
    HLO_TRY(hlo_verify_buffers(v));
    HLO_TRY(hlo_verify_schedule(v));
    HLO_TRY(hlo_verify_header(v));
    return hlo_verify_origins(v);
}

HloStatus hlo_verify_module(const HloModule *m, const HloVerifyOptions *options) {
    HloArena arena = {0};
    HloVerify v = {.m = m, .options = *options, .arena = &arena, .shapes = {.arena = &arena}};
    HloStatus status = hlo_guarded((HloArena *[]){&arena, NULL}, verify_all, &v);
    hlo_arena_free(&arena);
    return status;
}
