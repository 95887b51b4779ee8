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
        if (source->op != HLO_OP_TUPLE) return NULL;
        source = hlo_operand(source, (size_t)hlo_int(step, HLO_ATTR_INDEX));
    }
    return source;
}

static void simplify(HloRewriter *rw, HloInstruction *inst) {
    hlo_rewriter_at(rw, inst);
    if (inst->op == HLO_OP_TUPLE) {
        hlo_replace_with(rw, inst, whole_tuple(inst), "whole-tuple", HLO_REPLACE_PRESERVE_SHARDING);
    } else if (inst->op == HLO_OP_GET_TUPLE_ELEMENT) {
        hlo_replace_with(rw, inst, path_element(rw->scratch, inst), "element-of-tuple",
                         HLO_REPLACE_PRESERVE_SHARDING | HLO_REPLACE_RELAY_CONTROL);
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
