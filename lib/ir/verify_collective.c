// Verification of collectives (verifier chapter §6.4).

#include "verify_rules.h"

// ---- replica groups -------------------------------------------------------------------------------------

typedef enum GroupMode { CROSS_REPLICA, CROSS_PARTITION, CROSS_BOTH, FLATTENED } GroupMode;

// Collectives chapter §1.1.
static HloStatus find_mode(const HloInstruction *inst, GroupMode *out) {
    bool channel = hlo_has(inst, HLO_ATTR_CHANNEL_ID), global = hlo_int(inst, HLO_ATTR_USE_GLOBAL_DEVICE_IDS);
    bool has_flag = hlo_op_uses(inst->op, HLO_ATTR_USE_GLOBAL_DEVICE_IDS);
    if (global && !channel) {
        return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "group-mode",
                               "use_global_device_ids=true needs a channel_id");
    }
    if (!channel)
        *out = CROSS_REPLICA;
    else if (!has_flag)
        *out = CROSS_PARTITION;
    else
        *out = global ? FLATTENED : CROSS_BOTH;
    return hlo_ok();
}

// How many ids a mode's groups must name together; 1 switches the test off.
static int64_t wanted_ids(const HloModule *m, GroupMode mode) {
    int64_t both = 1;
    switch (mode) {
    case CROSS_REPLICA:
    case CROSS_BOTH: return m->replica_count;
    case CROSS_PARTITION: return m->num_partitions;
    case FLATTENED: return hlo_i64_mul(m->replica_count, m->num_partitions, &both) ? both : INT64_MAX;
    }
    return 1;
}

// Each of 0 to total-1 exactly once.
static HloStatus check_ids(const HloVerify *v, const HloInstruction *inst, const HloIntLists *lists, size_t total) {
    HloBits seen = hlo_bits_new(v->arena, total);
    for (size_t g = 0; g < lists->count; g++) {
        const HloDims *group = &lists->lists[g];
        if (!group->count) return hlo_verify_fail(inst, HLO_INTERNAL, "replica-groups", "group %zu is empty", g);
        for (size_t i = 0; i < group->count; i++) {
            int64_t id = group->data[i];
            if (id >= 0 && (uint64_t)id < total && hlo_bits_claim(seen, (size_t)id)) continue;
            return hlo_verify_fail(inst, HLO_INTERNAL, "replica-groups", "id %lld is out of [0, %zu) or repeated",
                                   (long long)id, total);
        }
    }
    return hlo_ok();
}

static HloStatus check_uniform(const HloInstruction *inst, const HloIntLists *lists) {
    if (inst->op == HLO_OP_ALL_REDUCE || inst->op == HLO_OP_ALL_REDUCE_START) return hlo_ok();
    for (size_t g = 1; g < lists->count; g++) {
        if (lists->lists[g].count == lists->lists[0].count) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "replica-groups", "groups 0 and %zu have different sizes", g);
    }
    return hlo_ok();
}

static int64_t mesh_devices(const HloMesh *mesh) {
    int64_t total = 1;
    for (size_t i = 0; mesh && i < mesh->axis_count; i++) {
        if (!hlo_i64_mul(total, mesh->axes[i].size, &total)) return INT64_MAX;
    }
    return total;
}

// The number of ids named; 0 for no groups. Iota and mesh forms name each id once by construction.
static int64_t id_count(const HloGroups *groups) {
    int64_t total = 0;
    if (!groups) return 0;
    switch (groups->form) {
    case HLO_GROUPS_LIST:
        for (size_t g = 0; g < groups->lists.count; g++) total += (int64_t)groups->lists.lists[g].count;
        return total;
    case HLO_GROUPS_IOTA: return hlo_i64_mul(groups->groups, groups->size, &total) ? total : INT64_MAX;
    case HLO_GROUPS_MESH: return mesh_devices(groups->mesh);
    }
    return 0;
}

static HloStatus check_groups(const HloVerify *v, const HloInstruction *inst) {
    const HloGroups *groups = hlo_data(inst, HLO_ATTR_REPLICA_GROUPS);
    GroupMode mode = CROSS_REPLICA;
    HLO_TRY(find_mode(inst, &mode));
    if (v->options.allow_any_groups) return hlo_ok();
    int64_t total = id_count(groups), wanted = wanted_ids(v->m, mode);
    bool is_list = groups && groups->form == HLO_GROUPS_LIST;
    if (!total && !(is_list && groups->lists.count)) {
        if (mode != FLATTENED) return hlo_ok();
        return hlo_verify_fail(inst, HLO_INTERNAL, "replica-groups", "global device ids need groups");
    }
    if (is_list) {
        HLO_TRY(check_ids(v, inst, &groups->lists, (size_t)total));
        HLO_TRY(check_uniform(inst, &groups->lists));
    }
    if (wanted == 1 || wanted == total) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "replica-groups", "expected %lld ids in all groups, found %lld",
                           (long long)wanted, (long long)total);
}

// A collective over `shards` devices needs groups of that size; a size of 1 means that nothing is known.
static HloStatus check_shards(const HloVerify *v, const HloInstruction *inst, int64_t shards) {
    HloInfer cx = {.shapes = (HloShapes *)&v->shapes, .inst = inst, .m = v->m};
    int64_t size = 1;
    HLO_TRY(hlo_verify_context(hlo_infer_subgroup_size(&cx, &size), inst, "replica-groups"));
    if (shards && (size == 1 || size == shards)) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "shard-count", "%lld shards for groups of %lld", (long long)shards,
                           (long long)size);
}

// ---- gather and scatter ---------------------------------------------------------------------------------

static HloStatus check_all_arrays(const HloVerify *v, const HloInstruction *inst) {
    if (!hlo_operand_count(inst)) return hlo_verify_fail(inst, HLO_INTERNAL, "operand-count", "it has no operands");
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        const HloShape *x = hlo_operand(inst, k)->shape;
        if (hlo_shape_is_array(x)) continue;
        return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "operands", "operand %zu must be an array, found %s", k,
                               hlo_verify_text(v, x));
    }
    return hlo_ok();
}

// The declared result for operand k: an element of a tuple when there are several.
static const HloShape *result_of(const HloShape *declared, size_t count, size_t k) {
    if (count == 1) return declared;
    return hlo_shape_is_tuple(declared) && declared->rank == count ? declared->elements[k] : NULL;
}

static int64_t ceil_ratio(int64_t a, int64_t b) {
    return b > 0 ? a / b + (a % b != 0) : 1;
}

// small = the side without the gathered dimension's factor.
static HloStatus check_scaled(const HloVerify *v, const HloInstruction *inst, const HloShape *small,
                              const HloShape *large, size_t dimension, int64_t shards) {
    bool fits = hlo_verify_types_agree(v, small->type, large->type);
    for (size_t d = 0; fits && d < small->rank; d++) {
        int64_t wanted = small->dims[d];
        if (d == dimension && !hlo_i64_mul(wanted, shards, &wanted))
            fits = false;
        else
            fits = large->dims[d] == wanted;
    }
    if (fits) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "result-shape",
                           "%s and %s do not differ by %lld shards of dimension %zu", hlo_verify_text(v, small),
                           hlo_verify_text(v, large), (long long)shards, dimension);
}

// Shared by all-gather (the result is larger) and reduce-scatter (the operand is).
static HloStatus check_sharded(const HloVerify *v, const HloInstruction *inst, const HloShape *declared, bool gathers) {
    size_t count = hlo_operand_count(inst);
    int64_t d = hlo_int(inst, HLO_ATTR_DIMENSION), shards = 0;
    HLO_TRY(check_all_arrays(v, inst));
    for (size_t k = 0; k < count; k++) {
        const HloShape *x = hlo_operand(inst, k)->shape, *result = result_of(declared, count, k);
        if (!result || !hlo_shape_is_array(result) || result->rank != x->rank || d < 0 || (uint64_t)d >= x->rank) {
            return hlo_verify_fail(inst, HLO_INTERNAL, "result-shape",
                                   "operand %zu, %s, along dimension %lld does not give %s", k, hlo_verify_text(v, x),
                                   (long long)d, hlo_verify_text(v, declared));
        }
        const HloShape *small = gathers ? x : result, *large = gathers ? result : x;
        if (k == 0) {
            shards = ceil_ratio(large->dims[d], small->dims[d]);
            HLO_TRY(check_shards(v, inst, shards));
        }
        HLO_TRY(check_scaled(v, inst, small, large, (size_t)d, shards));
    }
    return hlo_ok();
}

// all-gather-start: (operands, results).
HloStatus hlo_verify_all_gather(HloVerify *v, const HloInstruction *inst) {
    const HloShape *declared = inst->shape;
    HLO_TRY(check_groups(v, inst));
    if (inst->op == HLO_OP_ALL_GATHER) return check_sharded(v, inst, declared, true);
    if (!hlo_shape_is_tuple(declared) || declared->rank != 2) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "result-shape",
                               "expected a pair of operands and results, declared as %s", hlo_verify_text(v, declared));
    }
    const HloShape *operands;
    HloInfer cx = {.shapes = &v->shapes, .inst = inst, .m = v->m};
    HLO_TRY(check_sharded(v, inst, declared->elements[1], true));
    HLO_TRY(hlo_infer_operands_tuple(&cx, 0, hlo_operand_count(inst), &operands));
    if (hlo_verify_compatible(v, operands, declared->elements[0])) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "result-shape", "element 0 must be %s, declared as %s",
                           hlo_verify_text(v, operands), hlo_verify_text(v, declared->elements[0]));
}

HloStatus hlo_verify_reduce_scatter(HloVerify *v, const HloInstruction *inst) {
    HLO_TRY(check_groups(v, inst));
    return check_sharded(v, inst, inst->shape, false);
}

// ---- all-reduce, all-to-all -----------------------------------------------------------------------------

HloStatus hlo_verify_all_reduce(HloVerify *v, const HloInstruction *inst) {
    const HloShape *inferred;
    v->all_reduce[hlo_int(inst, HLO_ATTR_CONSTRAIN_LAYOUT) != 0] = inst;
    HLO_TRY(check_groups(v, inst));
    HLO_TRY(hlo_verify_infer(v, inst, HLO_COMPARE_LOOSE, &inferred));
    HLO_TRY(hlo_verify_result(v, inst, inferred, HLO_COMPARE_LOOSE));
    if (inst->op != HLO_OP_ALL_REDUCE || !hlo_has(inst, HLO_ATTR_CHANNEL_ID) ||
        hlo_int(inst, HLO_ATTR_CHANNEL_ID) > 0) {
        return hlo_ok();
    }
    return hlo_verify_fail(inst, HLO_INTERNAL, "channel-id", "expected a channel id above 0, found %lld",
                           (long long)hlo_int(inst, HLO_ATTR_CHANNEL_ID));
}

// The tuple form takes one operand for each member of a group, all of one shape; layouts count in every mode.
static HloStatus check_tuple_all_to_all(const HloVerify *v, const HloInstruction *inst) {
    HloInfer cx = {.shapes = (HloShapes *)&v->shapes, .inst = inst, .m = v->m};
    int64_t size = 1;
    HLO_TRY(hlo_verify_context(hlo_infer_subgroup_size(&cx, &size), inst, "replica-groups"));
    if ((int64_t)hlo_operand_count(inst) != size) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "operand-count",
                               "expected %lld operands for groups of that size, found %zu", (long long)size,
                               hlo_operand_count(inst));
    }
    const HloShape *first = hlo_operand(inst, 0)->shape;
    for (size_t k = 1; k < hlo_operand_count(inst); k++) {
        const HloShape *x = hlo_operand(inst, k)->shape;
        if (hlo_shape_equal(x, first, HLO_IGNORE_MEMORY_SPACE)) continue;
        return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "operands",
                               "operands 0 and %zu have different shapes, %s and %s", k,
                               hlo_shape_text(v->arena, first, true), hlo_shape_text(v->arena, x, true));
    }
    return hlo_ok();
}

static bool has_bounded_dynamic(const HloShape *shape) {
    for (size_t d = 0; d < shape->rank; d++) {
        if (hlo_dim_is_dynamic(shape, d) && shape->dims[d] != HLO_UNBOUNDED) return true;
    }
    return false;
}

HloStatus hlo_verify_all_to_all(HloVerify *v, const HloInstruction *inst) {
    const HloShape *inferred;
    HLO_TRY(check_groups(v, inst));
    HLO_TRY(hlo_verify_infer(v, inst, HLO_COMPARE_LOOSE, &inferred));
    if (!hlo_has(inst, HLO_ATTR_DIMENSION)) {
        HLO_TRY(check_tuple_all_to_all(v, inst));
    } else if (has_bounded_dynamic(hlo_operand(inst, 0)->shape)) {
        return hlo_verify_fail(inst, HLO_INTERNAL, "operands", "a split operand must not be dynamic: %s",
                               hlo_verify_text(v, hlo_operand(inst, 0)->shape));
    }
    return hlo_verify_result(v, inst, inferred, HLO_COMPARE_LOOSE);
}

// Operands 2 to 5 are offsets and sizes: of one shape, layout included, and of rank 1 or 2.
HloStatus hlo_verify_ragged_all_to_all(HloVerify *v, const HloInstruction *inst) {
    const HloShape *inferred;
    HLO_TRY(check_groups(v, inst));
    HLO_TRY(hlo_verify_operand_count(inst, 6));
    HLO_TRY(check_all_arrays(v, inst));
    const HloShape *first = hlo_operand(inst, 2)->shape;
    for (size_t k = 2; k < 6; k++) {
        const HloShape *x = hlo_operand(inst, k)->shape;
        if (x->rank >= 1 && x->rank <= 2 && hlo_shape_equal(x, first, HLO_IGNORE_NOTHING)) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "operands", "operand %zu, %s, must be of rank 1 or 2 and like %s", k,
                               hlo_verify_text(v, x), hlo_verify_text(v, first));
    }
    HLO_TRY(hlo_verify_infer(v, inst, HLO_COMPARE_LOOSE, &inferred));
    return hlo_verify_result(v, inst, inferred, HLO_COMPARE_LOOSE);
}

// ---- collective-permute ---------------------------------------------------------------------------------

static int64_t largest_id(const HloIntLists *pairs) {
    int64_t largest = 0;
    for (size_t i = 0; i < pairs->count; i++) {
        for (size_t k = 0; k < pairs->lists[i].count; k++) {
            if (pairs->lists[i].data[k] > largest) largest = pairs->lists[i].data[k];
        }
    }
    return largest;
}

// Side 0: sources, side 1: targets.
static HloStatus check_pair_side(const HloVerify *v, const HloInstruction *inst, const HloIntLists *pairs, size_t side,
                                 int64_t limit, size_t most) {
    const char *name = side ? "target" : "source";
    HloMap uses = {0};
    for (size_t i = 0; i < pairs->count; i++) {
        if (pairs->lists[i].count != 2) {
            return hlo_verify_fail(inst, HLO_INTERNAL, "source-target-pairs", "entry %zu is no pair", i);
        }
        int64_t id = pairs->lists[i].data[side];
        if (id < 0 || id >= limit) {
            return hlo_verify_fail(inst, HLO_INTERNAL, "source-target-pairs", "%s %lld is out of [0, %lld)", name,
                                   (long long)id, (long long)limit);
        }
        void **slot = hlo_map_at(v->arena, &uses, (const void *)(uintptr_t)id);
        *slot = (void *)((uintptr_t)*slot + 1);
        if ((uintptr_t)*slot <= most) continue;
        return hlo_verify_fail(inst, HLO_INTERNAL, "source-target-pairs", "%s %lld appears more than %zu time(s)", name,
                               (long long)id, most);
    }
    return hlo_ok();
}

static HloStatus check_pairs(const HloVerify *v, const HloInstruction *inst, size_t most) {
    const HloIntLists *pairs = hlo_data(inst, HLO_ATTR_SOURCE_TARGET_PAIRS);
    if (!pairs) return hlo_ok();
    int64_t limit = hlo_has(inst, HLO_ATTR_CHANNEL_ID) ? v->m->num_partitions : v->m->replica_count;
    if (limit == 1) limit = largest_id(pairs) == INT64_MAX ? INT64_MAX : largest_id(pairs) + 1;
    HLO_TRY(check_pair_side(v, inst, pairs, 0, limit, most));
    return check_pair_side(v, inst, pairs, 1, limit, most);
}

// Offsets of one buffer: a tuple with a scalar for each dimension, or a tuple of such tuples.
static bool offsets_fit(const HloShape *buffer, const HloShape *offsets) {
    if (!hlo_shape_is_array(buffer) || !hlo_shape_is_tuple(offsets)) return false;
    if (offsets->rank && hlo_shape_is_tuple(offsets->elements[0])) {
        for (size_t k = 0; k < offsets->rank; k++) {
            const HloShape *one = offsets->elements[k];
            if (!hlo_shape_is_tuple(one) || one->rank != buffer->rank) return false;
        }
        return true;
    }
    return offsets->rank == buffer->rank;
}

static bool buffers_fit(const HloShape *buffers, const HloShape *offsets) {
    if (!hlo_shape_is_tuple(buffers)) return offsets_fit(buffers, offsets);
    if (!hlo_shape_is_tuple(offsets) || offsets->rank != buffers->rank) return false;
    for (size_t k = 0; k < buffers->rank; k++) {
        if (!offsets_fit(buffers->elements[k], offsets->elements[k])) return false;
    }
    return true;
}

// Operands: input, output, input offsets, output offsets; buffers may come as tuples.
static HloStatus check_in_place(const HloVerify *v, const HloInstruction *inst) {
    const HloShape *input = hlo_operand(inst, 0)->shape, *output = hlo_operand(inst, 1)->shape;
    bool pair = hlo_shape_is_tuple(input) == hlo_shape_is_tuple(output) &&
                (!hlo_shape_is_tuple(input) || input->rank == output->rank);
    bool offsets = buffers_fit(input, hlo_operand(inst, 2)->shape) && buffers_fit(output, hlo_operand(inst, 3)->shape);
    if (pair && offsets) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INTERNAL, "in-place-buffers",
                           "inputs %s, outputs %s and offsets %s, %s do not fit", hlo_verify_text(v, input),
                           hlo_verify_text(v, output), hlo_verify_text(v, hlo_operand(inst, 2)->shape),
                           hlo_verify_text(v, hlo_operand(inst, 3)->shape));
}

// The start's shape is (in, out, context…) with free context.
static HloStatus check_permute_start(HloVerify *v, const HloInstruction *inst, const HloShape *inferred) {
    if (hlo_shape_is_tuple(inst->shape) && inst->shape->rank >= 2 &&
        hlo_verify_compatible(v, inferred->elements[0], inst->shape->elements[0]) &&
        hlo_verify_compatible(v, inferred->elements[1], inst->shape->elements[1])) {
        return hlo_ok();
    }
    return hlo_verify_result(v, inst, inferred, HLO_COMPARE_LOOSE);
}

// A device sends and receives once; in place, once for each slice. Only the start takes tuples.
HloStatus hlo_verify_collective_permute(HloVerify *v, const HloInstruction *inst) {
    const HloIntLists *slices = hlo_data(inst, HLO_ATTR_PERMUTE_SLICE_SIZES);
    const HloShape *inferred;
    bool in_place = slices && hlo_operand_count(inst) == 4;
    if (in_place)
        HLO_TRY(check_in_place(v, inst));
    else if (inst->op == HLO_OP_COLLECTIVE_PERMUTE)
        HLO_TRY(check_all_arrays(v, inst));
    HLO_TRY(check_pairs(v, inst, in_place ? slices->count : 1));
    HLO_TRY(hlo_verify_infer(v, inst, HLO_COMPARE_LOOSE, &inferred));
    if (inst->op == HLO_OP_COLLECTIVE_PERMUTE_START) return check_permute_start(v, inst, inferred);
    return hlo_verify_result(v, inst, inferred, HLO_COMPARE_LOOSE);
}
