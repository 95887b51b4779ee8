// tuple-simplifier: removes tuples that are only taken apart, and taken apart only to be put together again.
//
//   %t = (f32[], s32[]) tuple(%a, %b)
//   %g = s32[] get-tuple-element(%t), index=1
//   ROOT %n = s32[] negate(%g)
// becomes
//   ROOT %n = s32[] negate(%b)
// and
//   ROOT %t = (f32[], f32[]) tuple(get-tuple-element(%p), index=0, get-tuple-element(%p), index=1)
// becomes
//   %p as the root.
//
// Needs: nothing.  Keeps: the call graph.

#include "hlo/pass.h"
#include "hlo/rewriter.h"

static HloInstruction *element_source(const HloInstruction *tuple, size_t k) {
    HloInstruction *operand = hlo_operand(tuple, k);
    if (operand->op != HLO_OP_GET_TUPLE_ELEMENT || hlo_int(operand, HLO_ATTR_INDEX) != (int64_t)k) return NULL;
    return hlo_operand(operand, 0);
}

// tuple(gte(t, 0), gte(t, 1), …, gte(t, n-1)) -> t
static HloInstruction *whole_tuple(HloInstruction *tuple) {
    if (!hlo_operand_count(tuple)) return NULL;
    HloInstruction *source = element_source(tuple, 0);
    if (!source || !hlo_shape_compatible(source->shape, tuple->shape)) return NULL;
    for (size_t k = 1; k < hlo_operand_count(tuple); k++) {
        if (element_source(tuple, k) != source) return NULL;
    }
    return source;
}

// gte(…gte(tuple(…, tuple(…, x, …), …), i)…, j) -> x; every step of the path must meet a tuple.
static HloInstruction *path_element(HloArena *scratch, HloInstruction *gte) {
    HloVec path = {0};  // the get-tuple-elements from the outermost to the innermost
    HloInstruction *source = gte;
    for (; source->op == HLO_OP_GET_TUPLE_ELEMENT; source = hlo_operand(source, 0)) {
        hlo_vec_push(scratch, &path, source);
    }
    while (path.count) {
        const HloInstruction *step = hlo_vec_pop(&path);
        uint64_t index = (uint64_t)hlo_int(step, HLO_ATTR_INDEX);
        if (source->op != HLO_OP_TUPLE || index >= hlo_operand_count(source)) return NULL;
        source = hlo_operand(source, index);
    }
    return source;
}

// How far to look for an instruction among those before another one.
enum { MOST_LOOKED_AT = 4096 };

static void push_before(HloArena *scratch, HloVec *stack, const HloInstruction *inst) {
    for (size_t k = 0; k < hlo_operand_count(inst); k++) hlo_vec_push(scratch, stack, hlo_operand(inst, k));
    for (size_t k = 0; k < hlo_control_preds(inst)->count; k++)
        hlo_vec_push(scratch, stack, hlo_control_preds(inst)->items[k]);
}

// Whether `before` comes before `after` or may do so: yes when the search gets long.
static bool may_precede(HloArena *scratch, const HloInstruction *before, const HloInstruction *after) {
    HloMap seen = {0};
    HloVec stack = {0};
    push_before(scratch, &stack, after);
    while (stack.count) {
        const HloInstruction *inst = hlo_vec_pop(&stack);
        void **slot = hlo_map_at(scratch, &seen, inst);
        if (*slot) continue;
        *slot = (void *)(uintptr_t)inst;
        if (inst == before || seen.count > MOST_LOOKED_AT) return true;
        push_before(scratch, &stack, inst);
    }
    return false;
}

// Whether `inst` waits, other than for `leaving_out`, for something that comes after the element.
static bool waits_for_later(HloArena *scratch, const HloInstruction *inst, const HloInstruction *element,
                            const HloInstruction *leaving_out) {
    for (size_t k = 0; k < hlo_control_preds(inst)->count; k++) {
        const HloInstruction *before = hlo_control_preds(inst)->items[k];
        if (before == element || before == leaving_out) continue;
        if (may_precede(scratch, element, before)) return true;
    }
    return false;
}

// The element takes over what the get-tuple-element waits for; that must not come after the element. Waiting for the
// tuple itself is fine when the tuple goes: then its own waiting is taken over.
static bool can_wait(HloArena *scratch, const HloInstruction *element, const HloInstruction *gte) {
    const HloInstruction *tuple = hlo_operand(gte, 0);
    if (waits_for_later(scratch, gte, element, tuple)) return false;
    if (hlo_vec_find(hlo_control_preds(gte), tuple) == SIZE_MAX) return true;
    bool goes = hlo_user_count(tuple) == 1 && !hlo_is_root(tuple);
    return goes && !waits_for_later(scratch, tuple, element, NULL);
}

static void replace_element(HloRewriter *rw, HloInstruction *gte) {
    HloInstruction *element = path_element(rw->scratch, gte);
    if (!element || !can_wait(rw->scratch, element, gte)) return;
    hlo_replace_with(rw, gte, element, "element-of-tuple", HLO_REPLACE_PRESERVE_SHARDING | HLO_REPLACE_RELAY_CONTROL);
}

static void simplify(HloRewriter *rw, HloInstruction *inst) {
    hlo_rewriter_at(rw, inst);
    if (inst->op == HLO_OP_TUPLE) {
        hlo_replace_with(rw, inst, whole_tuple(inst), "whole-tuple", HLO_REPLACE_PRESERVE_SHARDING);
    } else if (inst->op == HLO_OP_GET_TUPLE_ELEMENT) {
        replace_element(rw, inst);
    }
}

static HloStatus run(HloPassContext *cx, HloModule *m, bool *changed) {
    HloRewriter rw = hlo_rewriter(cx, m);
    bool exclude_entry = hlo_option_bool(cx, "exclude-entry");
    HLO_EACH_COMP(comp, m) {
        if (exclude_entry && comp == m->entry) continue;
        HloInstList order = hlo_post_order(comp, cx->scratch);
        for (size_t k = 0; k < order.count; k++) {
            if (order.items[k]->comp) simplify(&rw, order.items[k]);
        }
    }
    return hlo_rewriter_finish(&rw, changed);
}

static const HloOptionSpec options[] = {
    {"exclude-entry", HLO_OPTION_BOOL, "false", "leave the entry computation alone"},
};

const HloPass hlo_pass_tuple_simplifier = {
    .name = "tuple-simplifier",
    .summary = "removes tuples that are only taken apart or put together again",
    .options = options,
    .option_count = HLO_COUNT(options),
    .run = run,
};
