// Normal forms of device orders and of tiled shardings with subgroups (grammar chapter, §8.3).

#include "parse.h"

#include <stdlib.h>

// ---- device orders --------------------------------------------------------------------------------------

// An order being changed: `reshape` dimensions, read in the sequence `perm`.
typedef struct Order {
    int64_t *reshape, *perm;
    size_t rank;
} Order;

static Order order_new(HloArena *arena, size_t capacity) {
    return (Order){HLO_NEW_ARRAY(arena, int64_t, capacity + 1), HLO_NEW_ARRAY(arena, int64_t, capacity + 1), 0};
}

// Dimensions of size 1 are left out at once, so that at most 63 are left: their product fits 64 bits.
static Order order_of(HloArena *arena, HloIota iota) {
    size_t count = iota.reshape.count;
    Order order = order_new(arena, count * 2);
    int64_t *places = HLO_NEW_ARRAY(arena, int64_t, count);
    for (size_t d = 0; d < count; d++) {
        places[d] = (int64_t)order.rank;
        if (iota.reshape.data[d] != 1) order.reshape[order.rank++] = iota.reshape.data[d];
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        size_t d = iota.perm.count ? (size_t)iota.perm.data[i] : i;
        if (iota.reshape.data[d] != 1) order.perm[kept++] = places[d];
    }
    return order;
}

// Takes out reshape dimension d and its place in the sequence.
static void order_remove(Order *order, size_t d) {
    size_t kept = 0;
    for (size_t i = 0; i < order->rank; i++) {
        int64_t p = order->perm[i];
        if (p == (int64_t)d) continue;
        order->perm[kept++] = p > (int64_t)d ? p - 1 : p;
    }
    memmove(order->reshape + d, order->reshape + d + 1, (order->rank - d - 1) * sizeof *order->reshape);
    order->rank--;
}

// One step of simplification; false when there is none.
static bool order_simplify(Order *order) {
    for (size_t d = 0; d < order->rank; d++) {
        if (order->reshape[d] != 1) continue;  // left by a split
        order_remove(order, d);
        return true;
    }
    for (size_t i = 0; i + 1 < order->rank; i++) {
        if (order->perm[i] + 1 != order->perm[i + 1]) continue;
        size_t d = (size_t)order->perm[i];
        order->reshape[d] *= order->reshape[d + 1];
        order_remove(order, d + 1);
        return true;
    }
    return false;
}

static HloIota order_finish(HloArena *arena, Order order) {
    while (order_simplify(&order)) {
    }
    if (order.rank == 0) {
        order.reshape[0] = 1;
        order.rank = 1;
    }
    HloIota iota = {.reshape = hlo_dims_copy(arena, (HloDims){order.reshape, order.rank})};
    if (order.rank > 1) iota.perm = hlo_dims_copy(arena, (HloDims){order.perm, order.rank});
    return iota;
}

HloIota hlo_iota_normal(HloArena *arena, HloIota iota) {
    return order_finish(arena, order_of(arena, iota));
}

// Splits the dimension at place `at` of the sequence into outer × inner.
static void order_split(Order *order, size_t at, int64_t inner) {
    size_t d = (size_t)order->perm[at];
    memmove(order->reshape + d + 1, order->reshape + d, (order->rank - d) * sizeof *order->reshape);
    order->reshape[d] /= inner;
    order->reshape[d + 1] = inner;
    for (size_t i = 0; i < order->rank; i++) {
        if (order->perm[i] > (int64_t)d) order->perm[i]++;
    }
    memmove(order->perm + at + 1, order->perm + at, (order->rank - at) * sizeof *order->perm);
    order->perm[at + 1] = (int64_t)d + 1;
    order->rank++;
}

// Size of the dimension at place i of the sequence.
static int64_t order_size(const Order *order, size_t i) {
    return order->reshape[order->perm[i]];
}

static int64_t product(const int64_t *values, size_t count) {
    int64_t total = 1;
    for (size_t i = 0; i < count; i++) total *= values[i];  // checked when read
    return total;
}

static int compare_numbers(const void *left, const void *right) {
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

// The devices as a list, in the order of the tile.
static HloDims expanded(HloReader *r, HloIota iota) {
    Order order = order_of(r->scratch, iota);
    size_t count = (size_t)product(order.reshape, order.rank);
    int64_t *strides = HLO_NEW_ARRAY(r->scratch, int64_t, order.rank + 1);
    for (size_t i = 0; i < order.rank; i++) {
        size_t d = (size_t)order.perm[i];
        strides[i] = product(order.reshape + d + 1, order.rank - d - 1);
    }
    int64_t *devices = HLO_NEW_ARRAY(r->arena, int64_t, count);
    for (size_t at = 0; at < count; at++) {
        size_t rest = at;
        for (size_t i = order.rank; i-- > 0;) {
            size_t size = (size_t)order_size(&order, i);
            devices[at] += (int64_t)(rest % size) * strides[i];
            rest /= size;
        }
    }
    return (HloDims){devices, count};
}

// ---- the replicated last dimension ----------------------------------------------------------------------

static void sort_groups(HloReader *r, HloSharding *s, size_t group) {
    int64_t *devices = hlo_arena_copy(r->arena, s->devices.data, s->devices.count * sizeof *devices);
    for (size_t at = 0; at + group <= s->devices.count; at += group)
        qsort(devices + at, group, sizeof *devices, compare_numbers);
    s->devices.data = devices;
}

// Collects dimensions from the end of the sequence until they make up `group` devices, splitting the last one
// taken if need be, and puts them in ascending order. False when no split is exact.
static bool order_sort_tail(Order *order, int64_t group) {
    int64_t rest = group;
    size_t first = order->rank;
    while (rest > 1) {
        if (first == 0) return false;
        first--;
        int64_t size = order_size(order, first);
        if (size <= rest) {
            if (rest % size) return false;
            rest /= size;
            continue;
        }
        if (size % rest) return false;
        order_split(order, first, rest);
        first++;
        rest = 1;
    }
    qsort(order->perm + first, order->rank - first, sizeof *order->perm, compare_numbers);
    return true;
}

// Within a group of replicas the order of devices means nothing, so it is made ascending.
static void sort_replicas(HloReader *r, HloSharding *s) {
    int64_t group = s->tile.data[s->tile.count - 1];
    if (s->iota.reshape.count) {
        Order order = order_of(r->scratch, s->iota);
        if (order_size(&order, order.rank - 1) == group) return;
        if (order_sort_tail(&order, group)) {
            s->iota = order_finish(r->arena, order);
            return;
        }
        s->devices = expanded(r, s->iota);
        s->iota = (HloIota){0};
    }
    sort_groups(r, s, (size_t)group);
}

static void become(HloSharding *s, HloShardingKind kind) {
    *s = (HloSharding){.kind = kind, .reduction = s->reduction};
}

static void drop_subgroups(HloSharding *s) {
    s->subgroups = NULL;
    s->subgroup_count = 0;
    s->last_tile_dim_replicate = false;
}

// One subgroup, REPLICATED, in the last dimension.
static void normalise_partial(HloReader *r, HloSharding *s) {
    int64_t last = s->tile.data[s->tile.count - 1];
    if (s->tile.count == 1 || last == product(s->tile.data, s->tile.count)) {
        become(s, HLO_SHARDING_REPLICATED);
        return;
    }
    if (last == 1) {
        s->tile.count--;
        drop_subgroups(s);
        return;
    }
    s->last_tile_dim_replicate = true;
    sort_replicas(r, s);
}

// ---- subgroups ------------------------------------------------------------------------------------------

// Splits the order's dimensions so that each tile dimension is a run of whole ones; ends[t] is the end of the run of
// tile dimension t. False when the sizes do not nest.
static bool order_align(Order *order, HloDims tile, size_t *ends) {
    size_t at = order->rank;  // the sequence is aligned from here on
    for (size_t t = tile.count; t-- > 0;) {
        size_t run_end = at;
        int64_t rest = tile.data[t];
        while (rest > 1) {
            if (at == 0) return false;
            int64_t size = order_size(order, at - 1);
            if (size <= rest) {
                if (rest % size) return false;
                rest /= size;
                at--;
                continue;
            }
            if (size % rest) return false;
            order_split(order, at - 1, rest);
            for (size_t later = t + 1; later < tile.count; later++) ends[later]++;
            run_end++;
            rest = 1;
        }
        ends[t] = run_end;
    }
    return true;
}

static bool transpose_iota(HloReader *r, HloSharding *s, HloDims dims_order) {
    Order order = order_new(r->scratch, s->iota.reshape.count + s->tile.count);
    Order from = order_of(r->scratch, s->iota);
    order.rank = from.rank;
    memcpy(order.reshape, from.reshape, from.rank * sizeof *from.reshape);
    memcpy(order.perm, from.perm, from.rank * sizeof *from.perm);
    size_t *ends = HLO_NEW_ARRAY(r->scratch, size_t, s->tile.count);
    if (!order_align(&order, s->tile, ends)) return false;
    int64_t *perm = HLO_NEW_ARRAY(r->scratch, int64_t, order.rank + 1);
    size_t count = 0;
    for (size_t i = 0; i < dims_order.count; i++) {
        size_t t = (size_t)dims_order.data[i];
        for (size_t at = t ? ends[t - 1] : 0; at < ends[t]; at++) perm[count++] = order.perm[at];
    }
    order.perm = perm;
    s->iota = order_finish(r->arena, order);
    return true;
}

static void transpose_list(HloReader *r, HloSharding *s, HloDims dims_order) {
    size_t rank = s->tile.count, total = s->devices.count;
    int64_t *devices = HLO_NEW_ARRAY(r->arena, int64_t, total);
    for (size_t to = 0; to < total; to++) {
        size_t rest = to, from = 0;
        for (size_t i = rank; i-- > 0;) {
            size_t t = (size_t)dims_order.data[i], size = (size_t)s->tile.data[t];
            from += rest % size * (size_t)product(s->tile.data + t + 1, rank - t - 1);
            rest /= size;
        }
        devices[to] = s->devices.data[from];
    }
    s->devices.data = devices;
}

// Reorders the tile's dimensions; dimension i of the result is dims_order[i] of the old tile.
static void transpose(HloReader *r, HloSharding *s, HloDims dims_order) {
    bool identity = true;
    for (size_t i = 0; i < dims_order.count; i++) identity = identity && dims_order.data[i] == (int64_t)i;
    if (identity) return;
    if (s->iota.reshape.count && !transpose_iota(r, s, dims_order)) {
        s->devices = expanded(r, s->iota);
        s->iota = (HloIota){0};
    }
    if (!s->iota.reshape.count) transpose_list(r, s, dims_order);
    int64_t *tile = HLO_NEW_ARRAY(r->arena, int64_t, s->tile.count);
    for (size_t i = 0; i < s->tile.count; i++) tile[i] = s->tile.data[dims_order.data[i]];
    s->tile.data = tile;
}

// Data dimensions stay; subgroup dimensions are sorted by type, stably.
static HloDims subgroup_order(HloReader *r, const HloSharding *s) {
    size_t data_count = s->tile.count - s->subgroup_count, count = 0;
    int64_t *order = HLO_NEW_ARRAY(r->scratch, int64_t, s->tile.count);
    for (; count < data_count; count++) order[count] = (int64_t)count;
    for (int type = HLO_SUBGROUP_MAXIMAL; type <= HLO_SUBGROUP_REPLICATED; type++) {
        for (size_t i = 0; i < s->subgroup_count; i++) {
            if ((int)s->subgroups[i] == type) order[count++] = (int64_t)(data_count + i);
        }
    }
    return (HloDims){order, count};
}

// With the subgroups sorted: drops those of size 1 and merges neighbours of one type.
static void merge_subgroups(HloReader *r, HloSharding *s) {
    size_t data_count = s->tile.count - s->subgroup_count, count = 0;
    int64_t *tile = hlo_arena_copy(r->arena, s->tile.data, s->tile.count * sizeof *tile);
    HloSubgroup *types = hlo_arena_copy(r->arena, s->subgroups, s->subgroup_count * sizeof *types);
    for (size_t i = 0; i < s->subgroup_count; i++) {
        int64_t size = tile[data_count + i];
        HloSubgroup type = types[i];
        if (size == 1) continue;
        if (count && types[count - 1] == type) {
            tile[data_count + count - 1] *= size;
            continue;
        }
        tile[data_count + count] = size;
        types[count++] = type;
    }
    s->tile = (HloDims){tile, data_count + count};
    s->subgroups = types;
    s->subgroup_count = count;
}

static bool all_same_type(const HloSharding *s) {
    for (size_t i = 1; i < s->subgroup_count; i++) {
        if (s->subgroups[i] != s->subgroups[0]) return false;
    }
    return true;
}

// A sharding whose devices all belong to one subgroup of the type; false when the type has no such form.
static bool become_whole(HloSharding *s, HloSubgroup type) {
    if (type == HLO_SUBGROUP_MAXIMAL) return false;
    become(s, type == HLO_SUBGROUP_MANUAL       ? HLO_SHARDING_MANUAL
              : type == HLO_SUBGROUP_REPLICATED ? HLO_SHARDING_REPLICATED
                                                : HLO_SHARDING_UNREDUCED);
    return true;
}

static void sort_types(HloReader *r, HloSharding *s) {
    HloSubgroup *types = HLO_NEW_ARRAY(r->arena, HloSubgroup, s->subgroup_count);
    size_t count = 0;
    for (int type = HLO_SUBGROUP_MAXIMAL; type <= HLO_SUBGROUP_REPLICATED; type++) {
        for (size_t i = 0; i < s->subgroup_count; i++) {
            if ((int)s->subgroups[i] == type) types[count++] = (HloSubgroup)type;
        }
    }
    s->subgroups = types;
}

bool hlo_sharding_normal(HloReader *r, const char *at, HloSharding *s) {
    enum { MOST_DEVICES = 1 << 20 };  // what may have to be written out as a list
    if (product(s->tile.data, s->tile.count) > MOST_DEVICES)
        return hlo_read_error(r, at, "a sharding with subgroups can have at most %d devices", MOST_DEVICES);
    if (s->last_tile_dim_replicate) {
        normalise_partial(r, s);
        return true;
    }
    bool no_data = product(s->tile.data, s->tile.count - s->subgroup_count) == 1;
    if (no_data && all_same_type(s) && become_whole(s, s->subgroups[0])) return true;
    transpose(r, s, subgroup_order(r, s));
    sort_types(r, s);
    merge_subgroups(r, s);
    if (s->subgroup_count == 1 && s->subgroups[0] == HLO_SUBGROUP_REPLICATED)
        normalise_partial(r, s);
    else if (s->subgroup_count == 1 && no_data)
        become_whole(s, s->subgroups[0]);
    return true;
}
