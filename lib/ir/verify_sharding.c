// Verification of shardings against shapes (verifier chapter §7.4).
//
// A module with several partitions knows its devices: as many as partitions. Otherwise their number is not tested.

#include "verify_rules.h"

static HloStatus fail(const HloInstruction *inst, const char *what) {
    return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "sharding", "%s", what);
}

static int64_t device_total(const HloSharding *sharding) {
    int64_t total = 1;
    for (size_t d = 0; d < sharding->tile.count; d++) {
        if (!hlo_i64_mul(total, sharding->tile.data[d], &total)) return INT64_MAX;
    }
    return total;
}

// 0: unknown.
static int64_t known_devices(const HloVerify *v) {
    return !v->options.allow_any_devices && v->m->num_partitions > 1 ? v->m->num_partitions : 0;
}

static HloStatus check_device_count(const HloVerify *v, const HloInstruction *inst, int64_t found) {
    int64_t wanted = known_devices(v);
    if (!wanted || found == wanted) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "sharding", "expected %lld devices, found %lld",
                           (long long)wanted, (long long)found);
}

// Each device of an explicit list exists and stands there once.
static HloStatus check_devices(const HloVerify *v, const HloInstruction *inst, HloDims devices) {
    int64_t limit = known_devices(v);
    HloMap seen = {0};
    for (size_t i = 0; i < devices.count; i++) {
        int64_t device = devices.data[i];
        if (device < 0) return fail(inst, "a device is negative");
        if (limit && device >= limit) return fail(inst, "there is no such device");
        const void *key = (const void *)(uintptr_t)(uint64_t)device;
        if (hlo_map_has(&seen, key)) return fail(inst, "the tile assignment repeats a device");
        *hlo_map_at(v->arena, &seen, key) = NULL;
    }
    return hlo_ok();
}

static HloStatus check_tiled(const HloVerify *v, const HloInstruction *inst, const HloSharding *sharding,
                             const HloShape *shape) {
    size_t subgroups = sharding->subgroup_count ? sharding->subgroup_count : sharding->last_tile_dim_replicate;
    if (device_total(sharding) == 1) return fail(inst, "a tile assignment of one device; use maximal");
    if (sharding->tile.count < subgroups || sharding->tile.count - subgroups != shape->rank) {
        return fail(inst, "the tile assignment has another rank than the shape");
    }
    HLO_TRY(check_device_count(v, inst, device_total(sharding)));
    return check_devices(v, inst, sharding->devices);
}

static HloStatus check_maximal(const HloVerify *v, const HloInstruction *inst, const HloSharding *sharding) {
    return check_devices(v, inst, sharding->devices);
}

static HloStatus check_named(const HloVerify *v, const HloInstruction *inst, const HloSharding *sharding,
                             const HloShape *shape) {
    if (!sharding->named_dim_count) return hlo_ok();
    if (sharding->named_dim_count != shape->rank)
        return fail(inst, "the named sharding has another rank than the shape");
    int64_t total = 1;
    for (size_t i = 0; sharding->mesh && i < sharding->mesh->axis_count; i++) {
        if (!hlo_i64_mul(total, sharding->mesh->axes[i].size, &total)) total = INT64_MAX;
    }
    return check_device_count(v, inst, total);
}

static HloStatus check_leaf(const HloVerify *v, const HloInstruction *inst, const HloSharding *sharding,
                            const HloShape *shape) {
    if (shape->type == HLO_TOKEN) return hlo_ok();
    switch (sharding->kind) {
    case HLO_SHARDING_REPLICATED:
    case HLO_SHARDING_MANUAL:
    case HLO_SHARDING_UNKNOWN:
    case HLO_SHARDING_UNREDUCED: return hlo_ok();
    case HLO_SHARDING_MAXIMAL: return check_maximal(v, inst, sharding);
    case HLO_SHARDING_TILED: return check_tiled(v, inst, sharding, shape);
    case HLO_SHARDING_NAMED: return check_named(v, inst, sharding, shape);
    case HLO_SHARDING_TUPLE: return fail(inst, "a tuple of shardings inside a tuple of shardings");
    }
    return hlo_ok();
}

// Leaves of the shape in order, each with its sharding. The path holds the tuples that are being walked.
typedef struct Level {
    const HloShape *tuple;
    size_t next;
    struct Level *up;
} Level;

static Level *enter(const HloVerify *v, const HloShape *tuple, Level *up) {
    Level *level = HLO_NEW(v->arena, Level);
    *level = (Level){tuple, 0, up};
    return level;
}

static HloStatus check_elements(const HloVerify *v, const HloInstruction *inst, const HloSharding *sharding) {
    size_t leaf = 0;
    for (Level *top = enter(v, inst->shape, NULL); top;) {
        if (top->next == top->tuple->rank) {
            top = top->up;
            continue;
        }
        const HloShape *element = top->tuple->elements[top->next++];
        if (hlo_shape_is_tuple(element)) {
            top = enter(v, element, top);
            continue;
        }
        if (leaf >= sharding->element_count) return fail(inst, "fewer shardings than leaves of the shape");
        HLO_TRY(check_leaf(v, inst, sharding->elements[leaf++], element));
    }
    if (leaf == sharding->element_count || (leaf == 0 && sharding->element_count == 1)) return hlo_ok();
    return fail(inst, "more shardings than leaves of the shape");
}

HloStatus hlo_verify_sharding(HloVerify *v, const HloInstruction *inst, const HloSharding *sharding) {
    if (inst->shape->type == HLO_TOKEN) return hlo_ok();
    bool is_tuple = hlo_shape_is_tuple(inst->shape);
    if (sharding->kind == HLO_SHARDING_TUPLE) {
        return is_tuple ? check_elements(v, inst, sharding)
                        : fail(inst, "a tuple of shardings for a shape that is none");
    }
    if (is_tuple) return fail(inst, "one sharding for a tuple");
    return check_leaf(v, inst, sharding, inst->shape);
}
