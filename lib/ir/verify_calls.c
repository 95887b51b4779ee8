// Verification of control flow, calls and custom calls (verifier chapter §5.8).

#include "verify_rules.h"

static HloStatus check_slots(const HloInstruction *inst, size_t wanted) {
    if (inst->called.count >= wanted) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "callees", "expected %zu called computations, found %u", wanted,
                           inst->called.count);
}

static HloStatus check_parameter_count(const HloInstruction *inst, const HloComputation *callee, size_t wanted) {
    if (hlo_parameter_count(callee) == wanted) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "callee-parameters", "expected %zu parameters of '%s', found %zu",
                           wanted, callee->name, hlo_parameter_count(callee));
}

static HloStatus check_argument(const HloVerify *v, const HloInstruction *inst, size_t k, const HloComputation *callee,
                                size_t parameter) {
    const HloShape *given = hlo_operand(inst, k)->shape, *wanted = hlo_parameter(callee, parameter)->shape;
    if (hlo_verify_same(v, given, wanted)) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "argument-shape", "operand %zu is %s, parameter %zu of '%s' is %s", k,
                           hlo_verify_text(v, given), parameter, callee->name, hlo_verify_text(v, wanted));
}

// All of the instructions that have a sharding must have the same one.
static HloStatus check_shardings(const HloInstruction *inst, const HloInstruction *const *others, size_t count) {
    const HloSharding *seen = hlo_data(inst, HLO_ATTR_SHARDING);
    for (size_t i = 0; i < count; i++) {
        const HloSharding *sharding = hlo_data(others[i], HLO_ATTR_SHARDING);
        if (!sharding || !seen || hlo_sharding_equal(sharding, seen)) {
            if (sharding) seen = sharding;
            continue;
        }
        return hlo_verify_fail(inst, HLO_INTERNAL, "consistent-sharding", "'%s' is sharded differently",
                               others[i]->name);
    }
    return hlo_ok();
}

// ---- while ----------------------------------------------------------------------------------------------

HloStatus hlo_verify_while(HloVerify *v, const HloInstruction *inst) {
    HLO_TRY(check_slots(inst, 2));
    const HloComputation *body = hlo_called(inst, 0), *condition = hlo_called(inst, 1);
    HLO_TRY(check_parameter_count(inst, body, 1));
    HLO_TRY(check_parameter_count(inst, condition, 1));
    HLO_TRY(check_argument(v, inst, 0, body, 0));
    HLO_TRY(check_argument(v, inst, 0, condition, 0));
    const HloShape *test = condition->root->shape;
    if (!hlo_shape_is_scalar(test) || test->type != HLO_PRED) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "condition-result", "expected pred[] from '%s', found %s",
                               condition->name, hlo_verify_text(v, test));
    }
    HLO_TRY(hlo_verify_result(v, inst, body->root->shape, HLO_COMPARE_SAME));
    HLO_TRY(hlo_verify_callee_thread(inst, body));
    HLO_TRY(hlo_verify_callee_thread(inst, condition));
    const HloInstruction *others[] = {body->root, hlo_parameter(body, 0), hlo_parameter(condition, 0)};
    return check_shardings(inst, others, HLO_COUNT(others));
}

// ---- conditional ----------------------------------------------------------------------------------------

static HloStatus check_selector(const HloVerify *v, const HloInstruction *inst, size_t branches) {
    const HloShape *selector = hlo_operand(inst, 0)->shape;
    bool valid =
        hlo_shape_is_scalar(selector) && (selector->type == HLO_PRED ? branches == 2 : selector->type == HLO_S32);
    if (valid) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "branch-selector",
                           "expected pred[] and 2 branches, or s32[], found %s and %zu branches",
                           hlo_verify_text(v, selector), branches);
}

HloStatus hlo_verify_conditional(HloVerify *v, const HloInstruction *inst) {
    HLO_TRY(check_slots(inst, 1));
    size_t branches = inst->called.count;
    HLO_TRY(hlo_verify_operand_count(inst, branches + 1));
    HLO_TRY(check_selector(v, inst, branches));
    const HloInstruction **roots = HLO_NEW_ARRAY(v->arena, const HloInstruction *, branches);
    for (size_t k = 0; k < branches; k++) {
        const HloComputation *branch = hlo_called(inst, k);
        HLO_TRY(check_parameter_count(inst, branch, 1));
        HLO_TRY(check_argument(v, inst, k + 1, branch, 0));
        HLO_TRY(hlo_verify_result(v, inst, branch->root->shape, HLO_COMPARE_SAME));
        HLO_TRY(hlo_verify_callee_thread(inst, branch));
        roots[k] = branch->root;
    }
    return check_shardings(inst, roots, branches);
}

// ---- call -----------------------------------------------------------------------------------------------

static bool is_whole_number(const char *text) {
    return text[0] && strspn(text, "0123456789") == strlen(text);
}

// A composite names what it stands for in its frontend attributes; its own attributes and version are optional.
static HloStatus check_composite(const HloInstruction *inst) {
    if (!hlo_int(inst, HLO_ATTR_IS_COMPOSITE)) return hlo_ok();
    const char *name = hlo_frontend_attribute(inst, "composite.name");
    const char *attributes = hlo_frontend_attribute(inst, "composite.attributes");
    const char *version = hlo_frontend_attribute(inst, "composite.version");
    bool valid = name && name[0] && (!attributes || attributes[0]) && (!version || is_whole_number(version));
    if (valid) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "composite-attributes",
                           "a composite needs a frontend attribute composite.name; attributes must not be empty, the "
                           "version must be a whole number");
}

HloStatus hlo_verify_call(HloVerify *v, const HloInstruction *inst) {
    HLO_TRY(check_slots(inst, 1));
    const HloComputation *callee = hlo_called(inst, 0);
    HLO_TRY(check_parameter_count(inst, callee, hlo_operand_count(inst)));
    for (size_t k = 0; k < hlo_operand_count(inst); k++) HLO_TRY(check_argument(v, inst, k, callee, k));
    HLO_TRY(hlo_verify_result(v, inst, callee->root->shape, HLO_COMPARE_SAME));
    if (hlo_has(inst, HLO_ATTR_OUTPUT_TO_OPERAND_ALIASING) && !v->options.callee_threads) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "call-aliasing", "results of calls share memory with no operand");
    }
    return check_composite(inst);
}

// ---- aliases of fusions and custom calls ----------------------------------------------------------------

// Pin and Unpin alias an array with its buffer.
static bool converts_buffer(const HloInstruction *inst) {
    const char *target = hlo_text(inst, HLO_ATTR_CUSTOM_CALL_TARGET);
    return inst->op == HLO_OP_CUSTOM_CALL && (strcmp(target, "Pin") == 0 || strcmp(target, "Unpin") == 0);
}

static const HloShape *unwrapped(const HloShape *shape) {
    return shape->type == HLO_BUFFER ? shape->elements[0] : shape;
}

static bool alias_shapes_match(const HloVerify *v, const HloInstruction *inst, const HloShape *a, const HloShape *b) {
    if (converts_buffer(inst)) {
        a = unwrapped(a);
        b = unwrapped(b);
    }
    if (!v->options.layout_sensitive) return hlo_shape_compatible(a, b);
    bool relaxed = hlo_is_fusion_computation(inst->comp) || (inst->comp != v->m->entry && !inst->comp->callers.count);
    return hlo_shape_equal(a, b, relaxed ? HLO_IGNORE_TILES | HLO_IGNORE_MEMORY_SPACE : HLO_IGNORE_NOTHING);
}

HloStatus hlo_verify_aliases(HloVerify *v, const HloInstruction *inst) {
    const HloAliases *aliases = hlo_data(inst, HLO_ATTR_OUTPUT_TO_OPERAND_ALIASING);
    for (size_t i = 0; aliases && i < aliases->count; i++) {
        const HloAlias *alias = &aliases->items[i];
        if (alias->parameter < 0 || (uint64_t)alias->parameter >= hlo_operand_count(inst)) {
            return hlo_verify_fail(inst, HLO_INTERNAL, "alias-operand", "there is no operand %lld",
                                   (long long)alias->parameter);
        }
        const HloShape *operand = hlo_operand(inst, (size_t)alias->parameter)->shape;
        const HloShape *from = hlo_shape_at(operand, alias->input.data, alias->input.count);
        const HloShape *to = hlo_shape_at(inst->shape, alias->output.data, alias->output.count);
        if (!from || !to) {
            return hlo_verify_fail(inst, HLO_INTERNAL, "alias-index", "alias %zu has an index outside %s", i,
                                   hlo_verify_text(v, from ? inst->shape : operand));
        }
        if (alias_shapes_match(v, inst, from, to)) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "alias-shape", "%s and %s cannot share memory",
                               hlo_verify_text(v, from), hlo_verify_text(v, to));
    }
    return hlo_ok();
}

// ---- custom-call ----------------------------------------------------------------------------------------

static HloStatus check_layout_constraints(const HloVerify *v, const HloInstruction *inst, const HloShapeList *wanted) {
    if (!(inst->shape->flags & HLO_SHAPE_HAS_LAYOUT)) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "layout-constraints", "the result has no layout");
    }
    if (wanted->count != hlo_operand_count(inst)) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "layout-constraints", "%zu constraints for %zu operands",
                               wanted->count, hlo_operand_count(inst));
    }
    for (size_t k = 0; k < wanted->count; k++) {
        const HloShape *constraint = wanted->shapes[k], *operand = hlo_operand(inst, k)->shape;
        if (hlo_shape_compatible(constraint, operand) && constraint->flags & HLO_SHAPE_HAS_LAYOUT) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "layout-constraints", "constraint %s does not fit operand %zu, %s",
                               hlo_shape_text(v->arena, constraint, true), k, hlo_verify_text(v, operand));
    }
    return hlo_ok();
}

static HloStatus check_seed_call(const HloVerify *v, const HloInstruction *inst) {
    HLO_TRY(hlo_verify_operand_count(inst, 0));
    if (hlo_shape_is_scalar(inst->shape) && inst->shape->type == HLO_U64) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "rng-seed", "expected u64[], declared as %s",
                           hlo_verify_text(v, inst->shape));
}

HloStatus hlo_verify_custom_call(HloVerify *v, const HloInstruction *inst) {
    const char *target = hlo_text(inst, HLO_ATTR_CUSTOM_CALL_TARGET);
    v->has_buffers |= hlo_verify_is_buffer_call(target);
    const HloShapeList *constraints = hlo_data(inst, HLO_ATTR_OPERAND_LAYOUT_CONSTRAINTS);
    bool free_layout = strcmp(target, "LayoutConstraint") == 0 || strcmp(target, "control_dep") == 0;
    if (constraints && !free_layout) HLO_TRY(check_layout_constraints(v, inst, constraints));
    if (strcmp(target, "GetRngSeed") == 0) HLO_TRY(check_seed_call(v, inst));
    if (hlo_frontend_attribute(inst, "xla_skip_custom_call_alias_shape_check")) return hlo_ok();
    return hlo_verify_aliases(v, inst);
}
