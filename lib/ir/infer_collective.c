// Shape inference of communication and asynchronous opcodes (verifier chapter §6.4 and §6.5).

#include "infer_rules.h"

// ---- groups ---------------------------------------------------------------------------------------------

static int64_t mesh_group_size(const HloGroups *groups) {
    int64_t size = 1;
    for (size_t i = 0; i < groups->axes.count; i++) {
        const HloAxisRef *ref = &groups->axes.refs[i];
        bool known = groups->mesh && ref->axis >= 0 && (uint64_t)ref->axis < groups->mesh->axis_count;
        int64_t axis = ref->size ? ref->size : known ? groups->mesh->axes[ref->axis].size : 1;
        if (!hlo_i64_mul(size, axis, &size)) return INT64_MAX;
    }
    return size;
}

// Members of the first group; 0 when there are no groups.
static int64_t group_size(const HloGroups *groups) {
    if (!groups) return 0;
    switch (groups->form) {
    case HLO_GROUPS_LIST: return groups->lists.count ? (int64_t)groups->lists.lists[0].count : 0;
    case HLO_GROUPS_IOTA: return groups->size;
    case HLO_GROUPS_MESH: return mesh_group_size(groups);
    }
    return 0;
}

// Collectives chapter §1.1: a channel without the global-ids flag set stands for partitions, or, on opcodes that have
// the flag, for replicas with all their partitions.
HloStatus hlo_infer_subgroup_size(const HloInfer *cx, int64_t *out) {
    const HloInstruction *inst = cx->inst;
    bool channel = hlo_has(inst, HLO_ATTR_CHANNEL_ID), global = hlo_int(inst, HLO_ATTR_USE_GLOBAL_DEVICE_IDS);
    bool has_flag = hlo_op_uses(inst->op, HLO_ATTR_USE_GLOBAL_DEVICE_IDS);
    int64_t replicas = cx->m->replica_count, partitions = cx->m->num_partitions;
    int64_t size = group_size(hlo_data(inst, HLO_ATTR_REPLICA_GROUPS));
    if (global && !channel) return hlo_infer_fail(cx, "use_global_device_ids=true needs a channel_id");
    if (!size) size = channel && (!has_flag || global) ? partitions : replicas;
    if (channel && has_flag && !global && !hlo_i64_mul(size, partitions, &size)) {
        return hlo_infer_fail(cx, "%lld partitions in a group are too many", (long long)partitions);
    }
    *out = size;
    return hlo_ok();
}

// ---- collectives ----------------------------------------------------------------------------------------

static HloStatus check_operands(const HloInfer *cx) {
    if (!hlo_operand_count(cx->inst)) return hlo_infer_fail(cx, "expected at least one operand, found none");
    return hlo_infer_all_arrays(cx);
}

// Every operand with its dimension `d` resized by `resize`, as a tuple when there are several.
static HloStatus resized_operands(const HloInfer *cx, HloStatus (*resize)(const HloInfer *, int64_t *, int64_t),
                                  const HloShape **out) {
    HLO_TRY(check_operands(cx));
    size_t count = hlo_operand_count(cx->inst);
    int64_t d = hlo_int(cx->inst, HLO_ATTR_DIMENSION), groups = 1;
    HLO_TRY(hlo_infer_subgroup_size(cx, &groups));
    const HloShape **elements = HLO_NEW_ARRAY(cx->shapes->arena, const HloShape *, count);
    for (size_t k = 0; k < count; k++) {
        const HloShape *x = hlo_operand_shape(cx, k);
        if (d < 0 || (uint64_t)d >= x->rank) {
            return hlo_infer_fail(cx, "expected a dimension of %s, found %lld", hlo_infer_text(cx, x), (long long)d);
        }
        HloDraft draft;
        hlo_draft_copy_all(&draft, cx, x);
        if (draft.dims[d] != HLO_UNBOUNDED) HLO_TRY(resize(cx, &draft.dims[d], groups));
        HLO_TRY(hlo_draft_finish_layout(&draft, cx, x->type, x->layout, &elements[k]));
    }
    if (count > 1) return hlo_infer_make_tuple(cx, elements, count, out);
    *out = elements[0];
    return hlo_ok();
}

static HloStatus gather_size(const HloInfer *cx, int64_t *size, int64_t groups) {
    if (hlo_i64_mul(*size, groups, size)) return hlo_ok();
    return hlo_infer_fail(cx, "%lld shards of %lld elements are too many", (long long)groups, (long long)*size);
}

static HloStatus scatter_size(const HloInfer *cx, int64_t *size, int64_t groups) {
    if (groups <= 0 || *size % groups) {
        return hlo_infer_fail(cx, "%lld elements cannot be split among %lld devices", (long long)*size,
                              (long long)groups);
    }
    *size /= groups;
    return hlo_ok();
}

// all-gather-start: (operands, results).
HloStatus hlo_infer_all_gather(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(resized_operands(cx, gather_size, out));
    if (cx->inst->op == HLO_OP_ALL_GATHER) return hlo_ok();
    const HloShape *pair[2] = {NULL, *out};
    HLO_TRY(hlo_infer_operands_tuple(cx, 0, hlo_operand_count(cx->inst), &pair[0]));
    return hlo_infer_make_tuple(cx, pair, 2, out);
}

HloStatus hlo_infer_reduce_scatter(const HloInfer *cx, const HloShape **out) {
    return resized_operands(cx, scatter_size, out);
}

HloStatus hlo_infer_all_reduce(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(check_operands(cx));
    return hlo_infer_operands_tuple(cx, 0, hlo_operand_count(cx->inst), out);
}

// With a split dimension: one array, its shape. Without: a tuple of as many operands as there are devices in a group.
HloStatus hlo_infer_all_to_all(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(check_operands(cx));
    size_t count = hlo_operand_count(cx->inst);
    const HloShape *x = hlo_operand_shape(cx, 0);
    if (!hlo_has(cx->inst, HLO_ATTR_DIMENSION)) {
        return count == 1 ? hlo_infer_make_tuple(cx, &x, 1, out) : hlo_infer_operands_tuple(cx, 0, count, out);
    }
    int64_t d = hlo_int(cx->inst, HLO_ATTR_DIMENSION), groups = 1;
    HLO_TRY(hlo_infer_subgroup_size(cx, &groups));
    if (count != 1) return hlo_infer_fail(cx, "expected one operand to split, found %zu", count);
    if (d < 0 || (uint64_t)d >= x->rank) {
        return hlo_infer_fail(cx, "expected a dimension of %s, found %lld", hlo_infer_text(cx, x), (long long)d);
    }
    int64_t size = x->dims[d];
    if (size != HLO_UNBOUNDED) HLO_TRY(scatter_size(cx, &size, groups));
    *out = x;
    return hlo_ok();
}

HloStatus hlo_infer_ragged_all_to_all(const HloInfer *cx, const HloShape **out) {
    enum { OPERANDS = 6 };
    if (hlo_operand_count(cx->inst) != OPERANDS) {
        return hlo_infer_fail(cx, "expected %d operands, found %zu", OPERANDS, hlo_operand_count(cx->inst));
    }
    HLO_TRY(hlo_infer_all_arrays(cx));
    *out = hlo_operand_shape(cx, 1);
    return hlo_ok();
}

// In place (input, output, two offsets): the output. Otherwise the operands. The start: (operands, results).
HloStatus hlo_infer_collective_permute(const HloInfer *cx, const HloShape **out) {
    size_t count = hlo_operand_count(cx->inst);
    if (!count) return hlo_infer_fail(cx, "expected at least one operand, found none");
    bool in_place = hlo_has(cx->inst, HLO_ATTR_PERMUTE_SLICE_SIZES) && count == 4;
    const HloShape *pair[2];
    HLO_TRY(hlo_infer_operands_tuple(cx, 0, in_place ? 1 : count, &pair[0]));
    pair[1] = in_place ? hlo_operand_shape(cx, 1) : pair[0];
    *out = pair[1];
    if (cx->inst->op == HLO_OP_COLLECTIVE_PERMUTE) return hlo_ok();
    return hlo_infer_make_tuple(cx, pair, 2, out);
}

// ---- pairs of start and done ----------------------------------------------------------------------------

static HloStatus element(const HloInfer *cx, size_t index, const HloShape **out) {
    if (!hlo_operand_count(cx->inst)) return hlo_infer_fail(cx, "expected an operand, found none");
    const HloShape *tuple = hlo_operand_shape(cx, 0);
    if (!hlo_shape_is_tuple(tuple) || index >= tuple->rank) {
        return hlo_infer_fail(cx, "expected a tuple with element %zu, found %s", index, hlo_infer_text(cx, tuple));
    }
    *out = tuple->elements[index];
    return hlo_ok();
}

HloStatus hlo_infer_element0(const HloInfer *cx, const HloShape **out) {
    return element(cx, 0, out);
}

HloStatus hlo_infer_element1(const HloInfer *cx, const HloShape **out) {
    return element(cx, 1, out);
}

HloStatus hlo_infer_copy_start(const HloInfer *cx, const HloShape **out) {
    const HloShape *x = hlo_operand_shape(cx, 0);
    return hlo_infer_make_tuple(cx, (const HloShape *[]){x, x, hlo_shape_scalar(cx->shapes, HLO_U32)}, 3, out);
}

HloStatus hlo_infer_send(const HloInfer *cx, const HloShape **out) {
    const HloShape *parts[] = {
        hlo_operand_shape(cx, 0),
        hlo_shape_scalar(cx->shapes, HLO_U32),
        hlo_shape_token(cx->shapes),
    };
    return hlo_infer_make_tuple(cx, parts, 3, out);
}

HloStatus hlo_infer_recv_done(const HloInfer *cx, const HloShape **out) {
    const HloShape *parts[2] = {NULL, hlo_shape_token(cx->shapes)};
    HLO_TRY(element(cx, 0, &parts[0]));
    return hlo_infer_make_tuple(cx, parts, 2, out);
}
