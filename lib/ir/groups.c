// Groups of devices in their three forms: {{0,1},{2,3}} · [2,2]<=[4] · mesh['x'=2,'y'=2] {'y'}.
//
// The second and third form are written out as lists here.

#include "hlo/attributes.h"

enum { MAX_LISTED_DEVICES = 1 << 20 };  // beyond that a list is of no use

// Reads off the numbers 0 … product-1 laid out as `sizes`, in the order of the transposed dimensions.
typedef struct Odometer {
    size_t rank;
    const int64_t *sizes;  // of the transposed dimensions
    const int64_t *steps;  // what one step in each adds
    int64_t *position;
    int64_t value;
} Odometer;

static void advance(Odometer *o) {
    for (size_t d = o->rank; d-- > 0;) {
        o->value += o->steps[d];
        if (++o->position[d] < o->sizes[d]) return;
        o->value -= o->steps[d] * o->sizes[d];
        o->position[d] = 0;
    }
}

static bool odometer_of(HloArena *arena, HloDims sizes, const int64_t *perm, Odometer *o) {
    int64_t *natural = HLO_NEW_ARRAY(arena, int64_t, sizes.count);
    int64_t *steps = HLO_NEW_ARRAY(arena, int64_t, sizes.count);
    int64_t *transposed = HLO_NEW_ARRAY(arena, int64_t, sizes.count);
    int64_t product = 1;
    for (size_t d = sizes.count; d-- > 0;) {
        natural[d] = product;
        if (!hlo_i64_mul(product, sizes.data[d], &product)) return false;
    }
    for (size_t d = 0; d < sizes.count; d++) {
        size_t from = perm ? (size_t)perm[d] : d;
        steps[d] = natural[from];
        transposed[d] = sizes.data[from];
    }
    *o = (Odometer){sizes.count, transposed, steps, HLO_NEW_ARRAY(arena, int64_t, sizes.count), 0};
    return product > 0 && product <= MAX_LISTED_DEVICES;
}

// `groups` lists of `size` numbers as the odometer runs, or of the entries of `ids` that they name.
static HloIntLists read_off(HloArena *arena, Odometer *o, int64_t groups, int64_t size, const int64_t *ids) {
    HloDims *lists = HLO_NEW_ARRAY(arena, HloDims, (size_t)groups);
    for (int64_t g = 0; g < groups; g++) {
        int64_t *list = HLO_NEW_ARRAY(arena, int64_t, (size_t)size);
        for (int64_t i = 0; i < size; i++, advance(o)) list[i] = ids ? ids[o->value] : o->value;
        lists[g] = (HloDims){list, (size_t)size};
    }
    return (HloIntLists){lists, (size_t)groups};
}

static bool expand_iota(const HloGroups *groups, HloArena *arena, HloIntLists *out) {
    Odometer o;
    int64_t total;
    if (!hlo_i64_mul(groups->groups, groups->size, &total) || total > MAX_LISTED_DEVICES) return false;
    if (!odometer_of(arena, groups->iota.reshape, groups->iota.perm.count ? groups->iota.perm.data : NULL, &o)) {
        return false;
    }
    *out = read_off(arena, &o, groups->groups, groups->size, NULL);
    return true;
}

// The axes of a mesh cut at the bounds of the sub-axes that the groups name.
typedef struct Segments {
    int64_t *sizes;
    size_t *owner;  // 1 + index of the axis reference that takes the segment, or 0
    size_t count;
} Segments;

static void push_segment(Segments *s, int64_t size, size_t owner) {
    s->sizes[s->count] = size;
    s->owner[s->count++] = owner;
}

// The reference to `axis` with the smallest `pre` of at least `from`; axes.count: none.
static size_t next_ref(HloAxisList axes, int64_t axis, int64_t from) {
    size_t best = axes.count;
    for (size_t i = 0; i < axes.count; i++) {
        if (axes.refs[i].axis != axis || axes.refs[i].pre < from) continue;
        if (best == axes.count || axes.refs[i].pre < axes.refs[best].pre) best = i;
    }
    return best;
}

static void cut_axis(Segments *s, const HloGroups *groups, size_t axis) {
    int64_t size = groups->mesh->axes[axis].size, done = 1;
    for (;;) {
        size_t i = next_ref(groups->axes, (int64_t)axis, done == 1 ? 0 : done);
        if (i == groups->axes.count) break;
        const HloAxisRef *ref = &groups->axes.refs[i];
        if (!ref->size) {
            push_segment(s, size, i + 1);
            return;
        }
        if (ref->pre > done) push_segment(s, ref->pre / done, 0);
        push_segment(s, ref->size, i + 1);
        done = ref->pre * ref->size;
    }
    if (size > done) push_segment(s, size / done, 0);
}

// Group members run over the named axes (the last fastest), groups over what remains.
static bool expand_mesh(const HloGroups *groups, HloArena *arena, HloIntLists *out) {
    const HloMesh *mesh = groups->mesh;
    size_t most = mesh->axis_count + 2 * groups->axes.count + 1;
    Segments s = {HLO_NEW_ARRAY(arena, int64_t, most), HLO_NEW_ARRAY(arena, size_t, most), 0};
    for (size_t axis = 0; axis < mesh->axis_count; axis++) cut_axis(&s, groups, axis);

    int64_t *perm = HLO_NEW_ARRAY(arena, int64_t, most);
    int64_t group_count = 1, group_size = 1;
    size_t n = 0;
    for (size_t owner = 0; owner <= groups->axes.count; owner++) {
        for (size_t i = 0; i < s.count; i++) {
            if (s.owner[i] != owner) continue;
            perm[n++] = (int64_t)i;
            int64_t *product = owner ? &group_size : &group_count;
            if (!hlo_i64_mul(*product, s.sizes[i], product)) return false;
        }
    }
    Odometer o;
    if (!odometer_of(arena, (HloDims){s.sizes, s.count}, perm, &o)) return false;
    int64_t *ids = NULL;
    if (mesh->iota.reshape.count) {
        Odometer order;
        if (!odometer_of(arena, mesh->iota.reshape, mesh->iota.perm.count ? mesh->iota.perm.data : NULL, &order))
            return false;
        ids = HLO_NEW_ARRAY(arena, int64_t, (size_t)(group_count * group_size));
        for (int64_t i = 0; i < group_count * group_size; i++, advance(&order)) ids[i] = order.value;
    }
    *out = read_off(arena, &o, group_count, group_size, mesh->device_ids.count ? mesh->device_ids.data : ids);
    return true;
}

bool hlo_groups_expand(HloArena *arena, const HloGroups *groups, HloIntLists *out) {
    switch (groups->form) {
    case HLO_GROUPS_LIST: *out = groups->lists; return true;
    case HLO_GROUPS_IOTA: return expand_iota(groups, arena, out);
    case HLO_GROUPS_MESH: return expand_mesh(groups, arena, out);
    }
    return false;
}
