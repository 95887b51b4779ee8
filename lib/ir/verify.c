// The verifier's run; the first failure ends it (verifier chapter §3).
//
// One walk over all instructions checks structure, and whatever a rule can tell from an instruction and its operands.
// It notes what the few rules need that look further (calls, asynchronous pairs, channels, buffers); they run when all
// structure is known to be sound.

#include "verify_rules.h"

// ---- reporting ------------------------------------------------------------------------------------------

HloStatus hlo_verify_context(HloStatus status, const HloInstruction *inst, const char *rule) {
    if (hlo_is_ok(status)) return status;
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

HloInfer hlo_verify_inference(HloVerify *v, const HloInstruction *inst, HloVerifyCompare compare) {
    bool loose = compare == HLO_COMPARE_LOOSE || !v->options.layout_sensitive;
    return (HloInfer){.shapes = &v->shapes, .inst = inst, .m = v->m, .declared = loose ? inst->shape : NULL};
}

HloStatus hlo_verify_infer(HloVerify *v, const HloInstruction *inst, HloVerifyCompare compare, const HloShape **out) {
    HloInfer cx = hlo_verify_inference(v, inst, compare);
    return hlo_verify_context(hlo_infer_in(&cx, out), inst, "operands");
}

HloStatus hlo_verify_inferred(HloVerify *v, const HloInstruction *inst, HloVerifyCompare compare) {
    const HloShape *inferred;
    HLO_TRY(hlo_verify_infer(v, inst, compare, &inferred));
    return hlo_verify_result(v, inst, inferred, compare);
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

static HloStatus check_entry(const HloVerify *v) {
    const HloModule *m = v->m;
    if (!m->name || !m->name[0]) return hlo_verify_fail_module(HLO_INTERNAL, "has-name", "it has no name");
    if (!m->entry || m->entry->m != m)
        return hlo_verify_fail_module(HLO_INTERNAL, "has-entry", "it has no entry computation");
    return hlo_ok();
}

static HloStatus verify_all(void *data) {
    HloVerify *v = data;
    HLO_TRY(check_entry(v));
    v->walked = hlo_bits_new(v->arena, v->m->computation_id_limit);
    v->bodies = hlo_bits_new(v->arena, v->m->computation_id_limit);
    HLO_EACH_COMP(comp, v->m) HLO_TRY(hlo_verify_computation(v, comp));
    HLO_TRY(hlo_verify_calls(v));
    HLO_TRY(hlo_verify_late(v));
    if (v->has_buffers) HLO_TRY(hlo_verify_buffers(v));
    HLO_TRY(hlo_verify_schedule(v));
    HLO_TRY(hlo_verify_deadlocks(v));
    HLO_TRY(hlo_verify_optional(v));
    return hlo_verify_header(v);
}

HloStatus hlo_verify_module(const HloModule *m, const HloVerifyOptions *options) {
    HloArena arena = {0};
    HloVerify v = {.m = m, .options = *options, .arena = &arena, .shapes = {.arena = &arena}};
    HloStatus status = hlo_guarded((HloArena *[]){&arena, NULL}, verify_all, &v);
    hlo_arena_free(&arena);
    return status;
}
