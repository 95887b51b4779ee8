// Verification of copies in two halves, host transfers and channels (verifier chapter §6.5, §7.6).

#include "verify_rules.h"

// ---- channels -------------------------------------------------------------------------------------------

static HloStatus check_transfer(const HloInstruction *inst) {
    if (hlo_verify_is_async_root(inst)) return hlo_ok();
    if (hlo_user_count(inst) != 1) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "channel-pair", "expected one user, found %zu",
                               hlo_user_count(inst));
    }
    const HloInstruction *done = hlo_user(inst, 0);
    if (done->op != (inst->op == HLO_OP_SEND ? HLO_OP_SEND_DONE : HLO_OP_RECV_DONE)) return hlo_ok();
    if (hlo_int(done, HLO_ATTR_CHANNEL_ID) != hlo_int(inst, HLO_ATTR_CHANNEL_ID) ||
        hlo_has(done, HLO_ATTR_CHANNEL_ID) != hlo_has(inst, HLO_ATTR_CHANNEL_ID)) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "channel-pair", "channels %lld and %lld of '%s' differ",
                               (long long)hlo_int(inst, HLO_ATTR_CHANNEL_ID),
                               (long long)hlo_int(done, HLO_ATTR_CHANNEL_ID), done->name);
    }
    if (hlo_int(done, HLO_ATTR_IS_HOST_TRANSFER) == hlo_int(inst, HLO_ATTR_IS_HOST_TRANSFER)) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "channel-pair", "only one of it and '%s' is a host transfer",
                           done->name);
}

static bool same_transfer(const HloInstruction *a, const HloInstruction *b) {
    if (a->op != b->op || hlo_operand_count(a) != hlo_operand_count(b)) return false;
    for (size_t k = 0; k < hlo_operand_count(a); k++) {
        if (!hlo_shape_equal(hlo_operand(a, k)->shape, hlo_operand(b, k)->shape, HLO_IGNORE_NOTHING)) return false;
    }
    return hlo_shape_equal(a->shape, b->shape, HLO_IGNORE_NOTHING) && hlo_same_operation(a, b);
}

// Host transfers on one channel must be the same operation on operands of the same shapes.
static HloStatus check_host_channel(HloVerify *v, const HloInstruction *inst) {
    if (!hlo_int(inst, HLO_ATTR_IS_HOST_TRANSFER)) return hlo_ok();
    uint64_t channel = (uint64_t)hlo_int(inst, HLO_ATTR_CHANNEL_ID);
    void **slot = hlo_map_at(v->arena, &v->channels, (const void *)(uintptr_t)channel);
    const HloInstruction *first = *slot;
    if (!first) *slot = (void *)(uintptr_t)inst;
    if (!first || same_transfer(first, inst)) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "host-channel", "'%s' uses its channel for something else", first->name);
}

static HloStatus check_channel(HloVerify *v, const HloInstruction *inst) {
    if (!hlo_has(inst, HLO_ATTR_CHANNEL_ID)) return hlo_ok();
    HLO_TRY(check_transfer(inst));
    return check_host_channel(v, inst);
}

// ---- shapes ---------------------------------------------------------------------------------------------

HloStatus hlo_verify_copy_start(HloVerify *v, const HloInstruction *inst) {
    return hlo_verify_inferred(v, inst, HLO_COMPARE_ORDER);
}

HloStatus hlo_verify_copy_done(HloVerify *v, const HloInstruction *inst) {
    const HloShape *pair = hlo_operand(inst, 0)->shape;
    if (!hlo_shape_is_tuple(pair) || pair->rank < 2) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "copy-buffers", "expected a tuple of buffers, found %s",
                               hlo_verify_text(v, pair));
    }
    bool same = v->options.layout_sensitive
                    ? hlo_shape_equal(pair->elements[0], pair->elements[1], HLO_IGNORE_MEMORY_SPACE)
                    : hlo_shape_compatible(pair->elements[0], pair->elements[1]);
    if (!same) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "copy-buffers", "source %s and destination %s differ",
                               hlo_verify_text(v, pair->elements[0]), hlo_verify_text(v, pair->elements[1]));
    }
    return hlo_verify_result(v, inst, pair->elements[0], HLO_COMPARE_SAME);
}

HloStatus hlo_verify_send(HloVerify *v, const HloInstruction *inst) {
    HLO_TRY(check_channel(v, inst));
    return hlo_verify_inferred(v, inst, HLO_COMPARE_ORDER);
}

// (X, rest…) with a free X.
static HloStatus check_received(HloVerify *v, const HloInstruction *inst, const HloShape *const *rest, size_t count,
                                HloVerifyCompare compare) {
    const HloShape *parts[3] = {NULL};
    if (!hlo_shape_is_tuple(inst->shape) || !inst->shape->rank) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "result-shape", "expected a tuple, declared as %s",
                               hlo_verify_text(v, inst->shape));
    }
    parts[0] = inst->shape->elements[0];
    for (size_t k = 0; k < count; k++) parts[k + 1] = rest[k];
    return hlo_verify_result(v, inst, hlo_shape_tuple(&v->shapes, parts, count + 1), compare);
}

HloStatus hlo_verify_recv(HloVerify *v, const HloInstruction *inst) {
    HLO_TRY(check_channel(v, inst));
    const HloShape *rest[] = {hlo_shape_scalar(&v->shapes, HLO_U32), hlo_shape_token(&v->shapes)};
    return check_received(v, inst, rest, HLO_COUNT(rest), HLO_COMPARE_ORDER);
}

HloStatus hlo_verify_recv_done(HloVerify *v, const HloInstruction *inst) {
    return hlo_verify_inferred(v, inst, HLO_COMPARE_SAME);
}

static HloStatus check_token(const HloVerify *v, const HloInstruction *inst, size_t k) {
    const HloShape *token = hlo_operand(inst, k)->shape;
    if (token->type == HLO_TOKEN) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "token-operand", "operand %zu must be a token, found %s", k,
                           hlo_verify_text(v, token));
}

HloStatus hlo_verify_infeed(HloVerify *v, const HloInstruction *inst) {
    const HloShape *rest[] = {hlo_shape_token(&v->shapes)};
    HLO_TRY(check_token(v, inst, 0));
    return check_received(v, inst, rest, HLO_COUNT(rest), HLO_COMPARE_ORDER);
}

HloStatus hlo_verify_outfeed(HloVerify *v, const HloInstruction *inst) {
    const HloShape *fed = hlo_data(inst, HLO_ATTR_OUTFEED_SHAPE), *x = hlo_operand(inst, 0)->shape;
    HLO_TRY(check_token(v, inst, 1));
    if (fed && !hlo_verify_same(v, fed, x)) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "outfeed-shape", "outfeed_shape is %s, the operand %s",
                               hlo_verify_text(v, fed), hlo_verify_text(v, x));
    }
    return hlo_verify_inferred(v, inst, HLO_COMPARE_SAME);
}
