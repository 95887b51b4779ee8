// Asynchronous operations (grammar chapter, §5.4).
//
//   s = ((f32[8]), f32[4], u32[]) async-start(p), calls=wrapped     the plain form
//   s = ((f32[8]), f32[4], u32[]) slice-start(p), slice={[0:4]}     sugar: the wrapped computation is made here
//   d = f32[4] slice-done(s)

#include "parse.h"

static bool is_start_or_update(const HloInstruction *inst) {
    return inst->op == HLO_OP_ASYNC_START || inst->op == HLO_OP_ASYNC_UPDATE;
}

// The chain's async-start; remembered per update, so that long chains are not walked again and again.
static HloInstruction *start_of(HloReader *r, HloInstruction *inst) {
    return inst->op == HLO_OP_ASYNC_START ? inst : hlo_map_find(&r->async_starts, inst);
}

// What is said about an async operation is also said about the instruction it wraps; later lines overwrite earlier ones
// (grammar chapter, §4.4), unless they would say nothing when printed: then printing could not tell that they did.
void hlo_share_annotations(HloReader *r, const HloInstruction *async, HloInstruction *wrapped) {
    static const HloAttrId shared[] = {HLO_ATTR_METADATA, HLO_ATTR_ORIGIN, HLO_ATTR_BACKEND_CONFIG,
                                       HLO_ATTR_FRONTEND_ATTRIBUTES, HLO_ATTR_STATISTICS};
    for (size_t i = 0; i < HLO_COUNT(shared); i++) {
        const HloAttr *attr = hlo_attr_find(async, shared[i]);
        if (attr && !(attr->id == HLO_ATTR_METADATA && hlo_metadata_is_empty(attr->data)))
            hlo_set_attr(r->m, wrapped, *attr);
    }
}

static void share_annotations(HloReader *r, HloInstruction *async, HloComputation *comp) {
    if (comp->root)
        hlo_share_annotations(r, async, comp->root);
    else
        hlo_share_late(r, async, comp);
}

static const char *thread_of(const HloComputation *comp) {
    return comp->execution_thread ? comp->execution_thread : "main";
}

// ---- the sugar's computation ----------------------------------------------------------------------------

// Shape of parameter k where nothing declares one: operands may be bound later.
static const HloShape *unknown_shape(HloReader *r) {
    const int64_t one = 1;
    return hlo_shape_of(r->shapes, HLO_F32, &one, 1);
}

static HloInstruction *add_parameter(HloReader *r, HloComputation *comp, const HloShape *shape) {
    HloInstruction *inst = hlo_inst_new(r->m, HLO_OP_PARAMETER, shape, NULL, 0);
    hlo_set_int(r->m, inst, HLO_ATTR_PARAMETER_NUMBER, (int64_t)hlo_parameter_count(comp));
    return hlo_computation_add(comp, inst, "async_param");
}

static void make_wrapped(HloReader *r, HloLine *line) {
    HloComputation *comp = hlo_computation_new(r->m, "async_wrapped");
    const HloShape *inputs = line->shape->elements[0];
    for (size_t k = 0; k < inputs->rank; k++) add_parameter(r, comp, inputs->elements[k]);
    int arity = hlo_op_info(line->wrapped_op)->operand_count;
    while (arity > 0 && hlo_parameter_count(comp) < (size_t)arity) add_parameter(r, comp, unknown_shape(r));
    line->wrapped_comp = comp;
    line->wrapped = hlo_inst_new(r->m, line->wrapped_op, line->shape->elements[1],
                                 (HloInstruction *const *)comp->parameters.items, comp->parameters.count);
}

// The wrapped instruction as a line of its own, for the checks that any line gets.
static HloLine wrapped_line(const HloLine *line) {
    HloLine inner = *line;
    inner.op = line->wrapped_op;
    inner.inst = line->wrapped;
    inner.shape = line->wrapped->shape;
    inner.sugar = false;
    inner.wrapped = NULL;
    return inner;
}

// A call or fusion knows its shapes from the computation it calls.
static void take_callee_shapes(HloComputation *comp, HloInstruction *root) {
    if ((root->op != HLO_OP_CALL && root->op != HLO_OP_FUSION) || !root->called.count) return;
    const HloComputation *callee = hlo_called(root, 0);
    if (!callee->root) return;
    for (size_t k = 0; k < hlo_parameter_count(comp) && k < hlo_parameter_count(callee); k++) {
        HloInstruction *param = hlo_parameter(comp, k);
        const HloShape *shape = hlo_parameter(callee, k)->shape;
        if (!hlo_shape_compatible(param->shape, shape)) param->shape = shape;
    }
    if (!hlo_shape_compatible(root->shape, callee->root->shape)) root->shape = callee->root->shape;
}

static bool finish_wrapped(HloReader *r, HloLine *line) {
    HloLine inner = wrapped_line(line);
    if (!hlo_parse_check_rules(r, &inner)) return false;
    HloComputation *comp = line->wrapped_comp;
    take_callee_shapes(comp, line->wrapped);
    hlo_computation_add(comp, line->wrapped, NULL);
    hlo_computation_set_root(comp, line->wrapped);
    hlo_finish_computation(r, comp);
    hlo_set_called(line->inst, 0, comp);
    return true;
}

// Later lines of a chain written with the sugar may know the shapes better.
static void correct_shape(HloInstruction *inst, const HloShape *shape) {
    if (!hlo_shape_compatible(inst->shape, shape)) inst->shape = shape;
}

static void add_late_parameter(HloReader *r, HloComputation *comp, const HloShape *shape) {
    hlo_append_operand(comp->root, add_parameter(r, comp, shape));
    hlo_computation_move_last(comp, comp->root);
}

static void correct_wrapped(HloReader *r, HloLine *line, HloComputation *comp) {
    if (line->op == HLO_OP_ASYNC_DONE) {
        if (line->shape) correct_shape(comp->root, line->shape);
        return;
    }
    const HloShape *inputs = line->shape->elements[0];
    for (size_t k = 0; k < inputs->rank; k++) {
        if (k < hlo_parameter_count(comp))
            correct_shape(hlo_parameter(comp, k), inputs->elements[k]);
        else
            add_late_parameter(r, comp, inputs->elements[k]);
    }
    correct_shape(comp->root, line->shape->elements[1]);
}

// ---- before the attributes ------------------------------------------------------------------------------

static bool check_shape_form(HloReader *r, const HloLine *line) {
    const HloShape *shape = line->shape;
    if (!shape) return hlo_read_error(r, line->paren_at, "cannot infer shape for opcode: %s", hlo_op_name(line->op));
    if (line->op == HLO_OP_ASYNC_DONE) return true;
    bool ok = hlo_shape_is_tuple(shape) && shape->rank >= 2 && hlo_shape_is_tuple(shape->elements[0]);
    return ok || hlo_read_error(r, line->shape_at,
                                "AsyncStart and AsyncUpdate expect the shape to be in the form of "
                                "((operand0_shape, operand1_shape, ...), output_shape, ...).");
}

static bool check_chain(HloReader *r, HloLine *line) {
    if (hlo_operand_count(line->inst) == 0)
        return hlo_read_error(r, line->paren_at, "No operand found for AsyncUpdate and AsyncDone");
    HloInstruction *first = hlo_operand(line->inst, 0);
    if (hlo_is_placeholder(first)) return false;
    if (first->op == HLO_OP_ASYNC_DONE)
        return hlo_read_error(r, line->paren_at,
                              "AsyncDone cannot be the first operand of an AsyncUpdate or AsyncDone.");
    if (!is_start_or_update(first))
        return hlo_read_error(r, line->paren_at,
                              "AsyncUpdate and AsyncDone expect an asynchronous operation as their first operand.");
    if (hlo_operand_count(line->inst) > 1 && !hlo_version_has(r, line->paren_at, HLO_FORM_LATE_OPERANDS)) return false;
    if (line->op == HLO_OP_ASYNC_UPDATE && !hlo_shape_equal(line->shape, first->shape, HLO_IGNORE_NOTHING) &&
        !hlo_version_has(r, line->shape_at, HLO_FORM_NEW_ASYNC_SHAPE))
        return false;
    if (line->op == HLO_OP_ASYNC_DONE) line->inst->operands.count = 1;  // the others mean nothing
    HloInstruction *start = start_of(r, first);
    const HloInstruction *wrapped = hlo_called(start, 0)->root;
    if (line->sugar && wrapped && line->wrapped_op != wrapped->op)
        return hlo_read_error(r, line->op_at, "Expect async wrapped opcode to be %s, but got %s",
                              hlo_op_name(wrapped->op), hlo_op_name(line->wrapped_op));
    if (line->op == HLO_OP_ASYNC_UPDATE) *hlo_map_at(r->scratch, &r->async_starts, line->inst) = start;
    return true;
}

bool hlo_async_begin(HloReader *r, HloLine *line) {
    if (!check_shape_form(r, line)) return false;
    if (line->op != HLO_OP_ASYNC_START) return check_chain(r, line);
    if (!line->sugar) return true;
    make_wrapped(r, line);
    HloLine inner = wrapped_line(line);
    return hlo_check_operand_count(r, &inner);
}

// ---- after the attributes -------------------------------------------------------------------------------

static bool check_single_start(HloReader *r, const HloLine *line, const HloComputation *comp) {
    for (size_t i = 0; i < comp->callers.count; i++) {
        const HloInstruction *caller = comp->callers.items[i];
        if (caller->op == HLO_OP_ASYNC_START)
            return hlo_read_error(r, line->op_at, "Computation %.200s is called by more than one async op.",
                                  comp->name);
    }
    return true;
}

static bool finish_start(HloReader *r, HloLine *line) {
    if (line->sugar && !finish_wrapped(r, line)) return false;
    HloComputation *comp = hlo_called(line->inst, 0);
    if (!check_single_start(r, line, comp)) return false;
    const char *thread = line->checked_thread;
    bool main = !thread || !*thread || strcmp(thread, "main") == 0;
    comp->execution_thread = main ? NULL : thread;
    if (!main) hlo_set_text(r->m, line->inst, HLO_ATTR_ASYNC_EXECUTION_THREAD, thread);
    share_annotations(r, line->inst, comp);
    hlo_vec_push(r->scratch, &r->async_chains, line->inst);
    return true;
}

static bool finish_later(HloReader *r, HloLine *line) {
    HloInstruction *start = start_of(r, hlo_operand(line->inst, 0));
    HloComputation *comp = hlo_called(start, 0);
    if (line->checked_callee && line->checked_callee != comp)
        return hlo_read_error(r, line->attrs_at, "Expect async_wrapped_computation to be %.200s, but got %.200s",
                              comp->name, line->checked_callee->name);
    if (line->checked_thread && strcmp(line->checked_thread, thread_of(comp)))
        return hlo_read_error(r, line->attrs_at, "Expect async_execution_thread to be %.200s, but got %.200s",
                              thread_of(comp), line->checked_thread);
    if (line->sugar && comp->root) correct_wrapped(r, line, comp);
    share_annotations(r, line->inst, comp);
    return true;
}

bool hlo_async_finish(HloReader *r, HloLine *line) {
    return line->op == HLO_OP_ASYNC_START ? finish_start(r, line) : finish_later(r, line);
}

// ---- threads --------------------------------------------------------------------------------------------
//
// The thread of an async-start is that of everything its computation calls. Where several reach a computation the last
// one in the text counts, so they are applied from last to first, each computation once.

static void spread_thread(HloReader *r, HloComputation *first, const char *thread, HloMap *done) {
    HloVec work = {0};
    hlo_vec_push(r->scratch, &work, first);
    while (work.count) {
        HloComputation *comp = hlo_vec_pop(&work);
        void **mark = hlo_map_at(r->scratch, done, comp);
        if (*mark) continue;
        *mark = comp;
        comp->execution_thread = thread;
        HLO_EACH_INST(inst, comp) {
            if (inst->op == HLO_OP_ASYNC_START && thread)
                hlo_set_text(r->m, inst, HLO_ATTR_ASYNC_EXECUTION_THREAD, thread);
            else if (inst->op == HLO_OP_ASYNC_START)
                hlo_clear_attr(inst, HLO_ATTR_ASYNC_EXECUTION_THREAD);
            for (size_t k = 0; k < inst->called.count; k++) hlo_vec_push(r->scratch, &work, hlo_called(inst, k));
        }
    }
}

void hlo_async_spread_threads(HloReader *r) {
    HloMap done = {0};
    for (size_t i = r->async_chains.count; i-- > 0;) {
        const HloInstruction *start = r->async_chains.items[i];
        const HloAttr *thread = hlo_attr_find(start, HLO_ATTR_ASYNC_EXECUTION_THREAD);
        spread_thread(r, hlo_called(start, 0), thread ? thread->text : NULL, &done);
    }
}
