// Verification of asynchronous operations: shapes of start, update and done, and their pairing
// (verifier chapter §6.5, §7.5).

#include "verify_rules.h"

// ---- prefixes -------------------------------------------------------------------------------------------

// An async value may know only the beginning of the wrapped computation's parameters or results: everything, nothing
// (an empty tuple), or element by element of a tuple a beginning. The depth is bounded like any shape's.
static bool is_prefix(const HloVerify *v, const HloShape *part, const HloShape *whole) {
    if (hlo_verify_same(v, part, whole)) return true;
    if (!hlo_shape_is_tuple(part)) return false;
    if (!part->rank) return true;
    if (!hlo_shape_is_tuple(whole) || part->rank > whole->rank) return false;
    for (size_t k = 0; k < part->rank; k++) {
        if (!is_prefix(v, part->elements[k], whole->elements[k])) return false;
    }
    return true;
}

static bool is_parameter_prefix(const HloVerify *v, const HloShape *tuple, const HloComputation *wrapped) {
    if (!hlo_shape_is_tuple(tuple) || tuple->rank > hlo_parameter_count(wrapped)) return false;
    for (size_t k = 0; k < tuple->rank; k++) {
        if (!is_prefix(v, tuple->elements[k], hlo_parameter(wrapped, k)->shape)) return false;
    }
    return true;
}

// ---- chains ---------------------------------------------------------------------------------------------

static bool is_open(HloOpcode op) {
    return op == HLO_OP_ASYNC_START || op == HLO_OP_ASYNC_UPDATE;
}

// The computation that the chain of an async instruction runs, NULL when the chain does not begin with a start. The
// chain is walked up to the next known link, so all walks together are linear.
static const HloComputation *find_wrapped(HloVerify *v, const HloInstruction *inst) {
    const HloInstruction *at = inst;
    while (at->op != HLO_OP_ASYNC_START && !hlo_map_has(&v->wrapped, at)) {
        if (!hlo_operand_count(at) || (at != inst && !is_open(at->op))) return NULL;
        at = hlo_operand(at, 0);
        if (!is_open(at->op)) return NULL;
    }
    const HloComputation *wrapped = hlo_map_find(&v->wrapped, at);
    if (at->op == HLO_OP_ASYNC_START) wrapped = at->called.count ? hlo_called(at, 0) : NULL;
    for (const HloInstruction *link = inst; link != at; link = hlo_operand(link, 0)) {
        *hlo_map_at(v->arena, &v->wrapped, link) = (void *)(uintptr_t)wrapped;
    }
    return wrapped;
}

static HloStatus require_wrapped(HloVerify *v, const HloInstruction *inst, const HloComputation **out) {
    *out = find_wrapped(v, inst);
    if (*out) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "async-chain", "its chain does not begin with an async-start");
}

// ---- bodies ---------------------------------------------------------------------------------------------

static bool is_grouped(const HloInstruction *start) {
    return hlo_frontend_attribute(start, "_collectives_group") != NULL;
}

// The only async-start that calls a computation; NULL when there is none or more than one.
static const HloInstruction *only_start(const HloComputation *comp, size_t *count) {
    const HloInstruction *start = NULL;
    *count = 0;
    for (size_t i = 0; i < comp->callers.count; i++) {
        const HloInstruction *caller = comp->callers.items[i];
        if (caller->op != HLO_OP_ASYNC_START) continue;
        start = caller;
        ++*count;
    }
    return *count == 1 ? start : NULL;
}

// On the main thread an async body is one operation and its parameters.
static HloStatus check_body(HloVerify *v, const HloComputation *comp) {
    if (!hlo_bits_claim(v->bodies, comp->id)) return hlo_ok();
    size_t starts, others = 0, elements = 0;
    const HloInstruction *start = only_start(comp, &starts);
    if (!starts || strcmp(hlo_verify_thread(comp), "main") != 0 || (start && is_grouped(start))) return hlo_ok();
    HLO_EACH_INST(inst, comp) {
        if (inst == comp->root || inst->op == HLO_OP_PARAMETER) continue;
        others++;
        elements += inst->op == HLO_OP_GET_TUPLE_ELEMENT;
    }
    if (others == elements) return hlo_ok();
    return hlo_verify_fail_comp(comp, "async-body", "%zu instructions beside root and parameters", others);
}

// ---- shapes ---------------------------------------------------------------------------------------------

// ((parameters…), result, context…)
static HloStatus check_async_shape(const HloVerify *v, const HloInstruction *inst, const HloComputation *wrapped) {
    const HloShape *shape = inst->shape;
    if (!hlo_shape_is_tuple(shape) || shape->rank < 2 || !hlo_shape_is_tuple(shape->elements[0])) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "async-shape", "expected ((parameters…), result, …), declared as %s",
                               hlo_verify_text(v, shape));
    }
    if (!is_parameter_prefix(v, shape->elements[0], wrapped)) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "async-shape", "%s does not begin the parameters of '%s'",
                               hlo_verify_text(v, shape->elements[0]), wrapped->name);
    }
    if (is_prefix(v, shape->elements[1], wrapped->root->shape)) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "async-shape", "element 1, %s, is not the result of '%s', %s",
                           hlo_verify_text(v, shape->elements[1]), wrapped->name,
                           hlo_verify_text(v, wrapped->root->shape));
}

static HloStatus check_async_thread(const HloInstruction *inst, const HloComputation *wrapped) {
    const char *thread = hlo_text(inst, HLO_ATTR_ASYNC_EXECUTION_THREAD);
    const char *own = thread[0] ? thread : "main", *other = hlo_verify_thread(wrapped);
    if (strcmp(own, other) == 0) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "async-thread", "it runs on thread %s, '%s' on %s", own, wrapped->name,
                           other);
}

// Operands from `first` on bind the elements of `bound` from `from` on.
static HloStatus check_bound(const HloVerify *v, const HloInstruction *inst, size_t first, const HloShape *bound,
                             size_t from) {
    size_t given = hlo_operand_count(inst) - first, wanted = bound->rank - from;
    if (given != wanted) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "async-operands", "expected %zu bound operands, found %zu", wanted,
                               given);
    }
    for (size_t k = 0; k < given; k++) {
        const HloShape *x = hlo_operand(inst, first + k)->shape;
        if (hlo_verify_same(v, x, bound->elements[from + k])) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "async-operands", "operand %zu is %s, bound as %s", first + k,
                               hlo_verify_text(v, x), hlo_verify_text(v, bound->elements[from + k]));
    }
    return hlo_ok();
}

HloStatus hlo_verify_async_start(HloVerify *v, const HloInstruction *inst) {
    const HloComputation *wrapped;
    HLO_TRY(require_wrapped(v, inst, &wrapped));
    HLO_TRY(check_async_shape(v, inst, wrapped));
    HLO_TRY(check_async_thread(inst, wrapped));
    HLO_TRY(check_body(v, wrapped));
    HLO_TRY(check_bound(v, inst, 0, inst->shape->elements[0], 0));
    return hlo_verify_aliases(v, inst);
}

HloStatus hlo_verify_async_update(HloVerify *v, const HloInstruction *inst) {
    const HloComputation *wrapped;
    HLO_TRY(require_wrapped(v, inst, &wrapped));
    HLO_TRY(check_async_shape(v, inst, wrapped));
    const HloShape *before = hlo_operand(inst, 0)->shape, *shape = inst->shape;
    if (!hlo_shape_is_tuple(before) || before->rank < 2 || !is_prefix(v, before->elements[0], shape->elements[0]) ||
        !is_prefix(v, before->elements[1], shape->elements[1])) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "async-shape", "%s does not continue %s", hlo_verify_text(v, shape),
                               hlo_verify_text(v, before));
    }
    size_t already = hlo_shape_is_tuple(before->elements[0]) ? before->elements[0]->rank : 0;
    return check_bound(v, inst, 1, shape->elements[0], already);
}

HloStatus hlo_verify_async_done(HloVerify *v, const HloInstruction *inst) {
    const HloComputation *wrapped;
    HLO_TRY(hlo_verify_operand_count(inst, 1));
    HLO_TRY(require_wrapped(v, inst, &wrapped));
    const HloShape *before = hlo_operand(inst, 0)->shape;
    bool bound = hlo_shape_is_tuple(before) && before->rank >= 2 && hlo_shape_is_tuple(before->elements[0]) &&
                 before->elements[0]->rank == hlo_parameter_count(wrapped);
    if (!bound) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "async-operands", "not all %zu parameters of '%s' are bound",
                               hlo_parameter_count(wrapped), wrapped->name);
    }
    if (hlo_verify_same(v, inst->shape, wrapped->root->shape)) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "async-shape", "declared as %s, '%s' returns %s",
                           hlo_verify_text(v, inst->shape), wrapped->name, hlo_verify_text(v, wrapped->root->shape));
}

// ---- pairs ----------------------------------------------------------------------------------------------

// What must consume a start, and what a done must take; `also` is the second possibility.
typedef struct PairRow {
    HloOpcode op, partner, also;
} PairRow;

static const PairRow consumers[] = {
    {HLO_OP_ASYNC_START, HLO_OP_ASYNC_UPDATE, HLO_OP_ASYNC_DONE},
    {HLO_OP_ASYNC_UPDATE, HLO_OP_ASYNC_UPDATE, HLO_OP_ASYNC_DONE},
    {HLO_OP_ALL_REDUCE_START, HLO_OP_ALL_REDUCE_DONE, HLO_OP_ALL_REDUCE_DONE},
    {HLO_OP_ALL_GATHER_START, HLO_OP_ALL_GATHER_DONE, HLO_OP_ALL_GATHER_DONE},
    {HLO_OP_COPY_START, HLO_OP_COPY_DONE, HLO_OP_COPY_DONE},
    {HLO_OP_COLLECTIVE_PERMUTE_START, HLO_OP_COLLECTIVE_PERMUTE_DONE, HLO_OP_COLLECTIVE_PERMUTE_DONE},
    {HLO_OP_SEND, HLO_OP_SEND_DONE, HLO_OP_TUPLE},
    {HLO_OP_RECV, HLO_OP_RECV_DONE, HLO_OP_TUPLE},
};

static const PairRow producers[] = {
    {HLO_OP_ASYNC_UPDATE, HLO_OP_ASYNC_START, HLO_OP_ASYNC_UPDATE},
    {HLO_OP_ASYNC_DONE, HLO_OP_ASYNC_START, HLO_OP_ASYNC_UPDATE},
    {HLO_OP_ALL_REDUCE_DONE, HLO_OP_ALL_REDUCE_START, HLO_OP_ALL_REDUCE_START},
    {HLO_OP_ALL_GATHER_DONE, HLO_OP_ALL_GATHER_START, HLO_OP_ALL_GATHER_START},
    {HLO_OP_COPY_DONE, HLO_OP_COPY_START, HLO_OP_COPY_START},
    {HLO_OP_COLLECTIVE_PERMUTE_DONE, HLO_OP_COLLECTIVE_PERMUTE_START, HLO_OP_COLLECTIVE_PERMUTE_START},
    {HLO_OP_SEND_DONE, HLO_OP_SEND, HLO_OP_GET_TUPLE_ELEMENT},
    {HLO_OP_RECV_DONE, HLO_OP_RECV, HLO_OP_GET_TUPLE_ELEMENT},
};

static const PairRow *find_row(const PairRow *rows, size_t count, HloOpcode op) {
    for (size_t i = 0; i < count; i++) {
        if (rows[i].op == op) return &rows[i];
    }
    return NULL;
}

bool hlo_verify_is_async_root(const HloInstruction *inst) {
    if (inst->comp->root != inst) return false;
    for (size_t i = 0; i < inst->comp->callers.count; i++) {
        const HloInstruction *caller = inst->comp->callers.items[i];
        if (caller->op == HLO_OP_ASYNC_START) return true;
    }
    return false;
}

static bool is_control_dependency(const HloInstruction *inst) {
    return inst->op == HLO_OP_CUSTOM_CALL && strcmp(hlo_text(inst, HLO_ATTR_CUSTOM_CALL_TARGET), "control_dep") == 0;
}

static HloStatus wrong_partner(const HloInstruction *inst, const char *rule, const PairRow *row,
                               const HloInstruction *found) {
    bool two = row->also != row->partner;
    return hlo_verify_fail(inst, HLO_INTERNAL, rule, "expected %s%s%s, found '%s' (%s)", hlo_op_name(row->partner),
                           two ? " or " : "", two ? hlo_op_name(row->also) : "", found->name, hlo_op_name(found->op));
}

static HloStatus check_consumer(const HloInstruction *inst, const PairRow *row) {
    const HloInstruction *consumer = NULL;
    size_t count = 0;
    bool transfer = inst->op == HLO_OP_SEND || inst->op == HLO_OP_RECV;
    if (transfer && hlo_verify_is_async_root(inst)) return hlo_ok();
    for (size_t k = 0; k < hlo_user_count(inst); k++) {
        if (is_control_dependency(hlo_user(inst, k))) continue;
        consumer = hlo_user(inst, k);
        count++;
    }
    if (count != 1) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "one-consumer", "expected one consumer, found %zu", count);
    }
    if (consumer->op == row->partner || consumer->op == row->also) return hlo_ok();
    return wrong_partner(inst, "consumer-kind", row, consumer);
}

static HloStatus check_producer(const HloInstruction *inst, const PairRow *row) {
    if (!hlo_operand_count(inst)) return hlo_verify_fail(inst, HLO_INTERNAL, "producer-kind", "it has no operand");
    const HloInstruction *producer = hlo_operand(inst, 0);
    if (producer->op == row->partner || producer->op == row->also) return hlo_ok();
    return wrong_partner(inst, "producer-kind", row, producer);
}

// Async values may be used only as operand 0 of an update or a done.
static HloStatus check_async_uses(const HloInstruction *inst) {
    for (size_t i = 0; i < hlo_user_count(inst); i++) {
        const HloInstruction *user = hlo_user(inst, i);
        bool continues = user->op == HLO_OP_ASYNC_UPDATE || user->op == HLO_OP_ASYNC_DONE;
        for (size_t k = continues; k < hlo_operand_count(user); k++) {
            if (hlo_operand(user, k) != inst) continue;
            return hlo_verify_fail(user, HLO_INTERNAL, "async-use", "operand %zu, '%s', is an async value", k,
                                   inst->name);
        }
    }
    return hlo_ok();
}

HloStatus hlo_verify_pair(const HloInstruction *inst) {
    const PairRow *consumer = find_row(consumers, HLO_COUNT(consumers), inst->op);
    const PairRow *producer = find_row(producers, HLO_COUNT(producers), inst->op);
    if (is_open(inst->op)) HLO_TRY(check_async_uses(inst));
    if (consumer) HLO_TRY(check_consumer(inst, consumer));
    return producer ? check_producer(inst, producer) : hlo_ok();
}
