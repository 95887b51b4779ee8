// Made-up arguments that fit what a module does with its parameters.
//
//   parameter(1) → reshape → indices of a gather from f32[5,3] along dimension 0   →   integers in [0, 4]
//
// Each leaf of a parameter is followed to its uses: through tuples, calls, loops, fusions and conversions; what
// addresses a gather or scatter also through reshapes, transposes, copies and slices.
// Source: the interpreter chapter, §11.2.

#include <math.h>
#include <stdlib.h>

#include "hlo/module.h"
#include "hlo/random_inputs.h"
#include "lib/ir/literal_order.h"

// What the uses of a value ask of it.
typedef struct Wish {
    bool has_bound, sorted, distinct, constant;
    int64_t bound;  // largest index
    int value;      // of the constant
} Wish;

// A value on its way: `inst` itself, or element `element` of its tuple.
typedef struct Place {
    const HloInstruction *inst;
    int64_t element;  // -1: the value is no part of a tuple
    bool loose;       // moved about, so that only gathers and scatters still count
} Place;

typedef struct Trace {
    HloArena *arena;
    HloVec waiting;  // Place *
    HloMap seen[2];  // by looseness: (instruction, element) -> itself
    Wish wish;
} Trace;

static void go_to(Trace *t, const HloInstruction *inst, int64_t element, bool loose) {
    enum { ELEMENT_BITS = 20 };  // elements beyond share an entry, which only hides uses
    uint64_t number = (uint64_t)(element + 1) & ((1 << ELEMENT_BITS) - 1);
    uintptr_t key = (uintptr_t)inst / _Alignof(HloInstruction) << ELEMENT_BITS | number;
    void **seen = hlo_map_at(t->arena, &t->seen[loose], (const void *)key);
    if (*seen) return;
    Place *place = HLO_NEW(t->arena, Place);
    *place = (Place){inst, element, loose};
    *seen = place;
    hlo_vec_push(t->arena, &t->waiting, place);
}

static void limit(Wish *wish, int64_t bound) {
    if (bound < 0) bound = 0;
    if (!wish->has_bound || bound < wish->bound) wish->bound = bound;
    wish->has_bound = true;
}

// ---- uses -----------------------------------------------------------------------------------------------

// Start `k` of a dynamic slice whose starts begin at operand `first`: one scalar each, or one vector for all.
static void limit_start(Wish *wish, const HloInstruction *user, size_t first, size_t k, const HloShape *sizes) {
    const HloShape *array = hlo_operand(user, 0)->shape;
    bool vector = hlo_operand(user, first)->shape->rank == 1;
    for (size_t d = 0; d < array->rank; d++) {
        if (vector || d == k - first) limit(wish, array->dims[d] - sizes->dims[d]);
    }
}

static void limit_index(Wish *wish, const HloInstruction *user, HloAttrId map) {
    const HloShape *array = hlo_operand(user, 0)->shape;
    HloDims dims = hlo_dims(user, map);
    for (size_t k = 0; k < dims.count; k++) limit(wish, array->dims[dims.data[k]] - 1);
    wish->sorted |= hlo_int(user, HLO_ATTR_INDICES_ARE_SORTED) != 0;
}

// An initial value is the neutral one of sums and products.
static void want_neutral(Wish *wish, const HloComputation *reducer) {
    const HloInstruction *root = reducer->root;
    bool sum = root->op == HLO_OP_ADD, product = root->op == HLO_OP_MULTIPLY;
    if (!sum && !product) return;
    const HloInstruction *a = hlo_operand(root, 0), *b = hlo_operand(root, 1);
    if (a == b || a->op != HLO_OP_PARAMETER || b->op != HLO_OP_PARAMETER) return;
    wish->constant = true;
    wish->value = product;
}

// What operand `k` of a user that is no mere mover is wanted to be; a moved value only matters to gathers and scatters.
static void note_use(Trace *t, const HloInstruction *user, size_t k, bool loose) {
    size_t count = hlo_operand_count(user);
    Wish *wish = &t->wish;
    switch ((int)user->op) {
    case HLO_OP_GATHER:
        if (k == 1) limit_index(wish, user, HLO_ATTR_START_INDEX_MAP);
        return;
    case HLO_OP_SCATTER:
        if (k == count / 2) limit_index(wish, user, HLO_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS);
        return;
    default: break;
    }
    if (loose) return;
    switch ((int)user->op) {
    case HLO_OP_DYNAMIC_SLICE:
        if (k >= 1) limit_start(wish, user, 1, k, user->shape);
        break;
    case HLO_OP_DYNAMIC_UPDATE_SLICE:
        if (k >= 2) limit_start(wish, user, 2, k, hlo_operand(user, 1)->shape);
        break;
    case HLO_OP_REDUCE:
        if (k >= count / 2) want_neutral(wish, hlo_called(user, 0));
        break;
    case HLO_OP_REDUCE_WINDOW:
        if (k == 1) want_neutral(wish, hlo_called(user, 0));
        break;
    case HLO_OP_SELECT_AND_SCATTER:
        if (k == 2) want_neutral(wish, hlo_called(user, 1));
        break;
    case HLO_OP_SORT: wish->distinct |= k == 0 && (count >= 2 || hlo_int(user, HLO_ATTR_IS_STABLE)); break;
    default: break;
    }
}

// ---- the way --------------------------------------------------------------------------------------------

static void follow_into(Trace *t, const HloComputation *comp, size_t parameter, const Place *from) {
    if (parameter < hlo_parameter_count(comp)) go_to(t, hlo_parameter(comp, parameter), from->element, from->loose);
}

static void follow_callees(Trace *t, const HloInstruction *user, size_t k, const Place *from) {
    switch ((int)user->op) {
    case HLO_OP_CALL:
    case HLO_OP_FUSION: follow_into(t, hlo_called(user, 0), k, from); break;
    case HLO_OP_CONDITIONAL:
        if (k) follow_into(t, hlo_called(user, k - 1), 0, from);
        break;
    case HLO_OP_WHILE:
        follow_into(t, hlo_called(user, 0), 0, from);
        follow_into(t, hlo_called(user, 1), 0, from);
        go_to(t, user, from->element, from->loose);
        break;
    default: break;
    }
}

static void follow_use(Trace *t, const HloInstruction *user, size_t k, const Place *from) {
    bool whole = from->element < 0;
    follow_callees(t, user, k, from);
    switch ((int)user->op) {
    case HLO_OP_TUPLE:
        if (whole) go_to(t, user, (int64_t)k, from->loose);
        return;
    case HLO_OP_GET_TUPLE_ELEMENT:
        if (hlo_int(user, HLO_ATTR_INDEX) == from->element) go_to(t, user, -1, from->loose);
        return;
    case HLO_OP_OPT_BARRIER: go_to(t, user, from->element, from->loose); return;
    case HLO_OP_CONVERT:
    case HLO_OP_REDUCE_PRECISION:
    case HLO_OP_BITCAST: go_to(t, user, -1, from->loose); return;
    case HLO_OP_RESHAPE:
    case HLO_OP_TRANSPOSE:
    case HLO_OP_COPY:
    case HLO_OP_SLICE: go_to(t, user, -1, true); return;
    case HLO_OP_CUSTOM_CALL:
        if (strcmp(hlo_text(user, HLO_ATTR_CUSTOM_CALL_TARGET), "AssumeGatherIndicesInBound") == 0)
            go_to(t, user, -1, true);
        return;
    default: break;
    }
    if (whole) note_use(t, user, k, from->loose);
}

static Wish find_wish(const HloInstruction *parameter, int64_t element, HloArena *scratch) {
    Trace t = {.arena = scratch};
    go_to(&t, parameter, element, false);
    for (size_t i = 0; i < t.waiting.count; i++) {
        const Place *place = t.waiting.items[i];
        for (size_t u = 0; u < hlo_user_count(place->inst); u++) {
            const HloInstruction *user = hlo_user(place->inst, u);
            for (size_t k = 0; k < hlo_operand_count(user); k++) {
                if (hlo_operand(user, k) == place->inst) follow_use(&t, user, k, place);
            }
        }
    }
    return t.wish;
}

// ---- values ---------------------------------------------------------------------------------------------

static int compare_ints(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void store_ints(HloLiteral *literal, const int64_t *values) {
    for (int64_t at = 0; at < literal->elem_count; at++) hlo_literal_set_int(literal, at, values[at]);
}

static int64_t largest_value(HloType type) {
    int bits = hlo_type_bits(type) - (hlo_type_class(type) == HLO_CLASS_SIGNED);
    return bits >= 63 ? INT64_MAX : ((int64_t)1 << bits) - 1;
}

static void fill_indices(HloRandom *random, HloLiteral *literal, const Wish *wish, HloArena *scratch) {
    HloType type = literal->shape->type;
    int64_t most = largest_value(type), bound = wish->bound < most ? wish->bound : most;
    int64_t *values = HLO_NEW_ARRAY(scratch, int64_t, (size_t)literal->elem_count);
    for (int64_t at = 0; at < literal->elem_count; at++) values[at] = hlo_random_index(random, type, bound);
    if (wish->sorted) qsort(values, (size_t)literal->elem_count, sizeof *values, compare_ints);
    store_ints(literal, values);
}

// Consecutive integers around zero (from zero on when unsigned), without order.
static void fill_distinct(HloRandom *random, HloLiteral *literal, HloArena *scratch) {
    int64_t count = literal->elem_count;
    int64_t first = hlo_type_class(literal->shape->type) == HLO_CLASS_SIGNED ? count / 2 - count : 0;
    int64_t *values = HLO_NEW_ARRAY(scratch, int64_t, (size_t)count);
    for (int64_t at = 0; at < count; at++) {
        int64_t other = hlo_random_index(random, HLO_S64, at);
        values[at] = values[other];
        values[other] = first + at;
    }
    store_ints(literal, values);
}

// Values are drawn in the order in which they lie in memory.
static HloStatus sort_by_layout(HloLiteral *literal, HloArena *scratch) {
    HloLiteral *sorted;
    if (hlo_order_is_plain(literal->shape)) return hlo_ok();
    HLO_TRY(hlo_literal_reorder(scratch, literal, true, &sorted));
    memcpy(literal->data, sorted->data, literal->size_bytes);
    return hlo_ok();
}

static HloStatus fill_leaf(HloRandom *random, HloLiteral *literal, const Wish *wish, HloArena *scratch) {
    HloType type = literal->shape->type;
    bool integer = hlo_type_is_integral(type) && type != HLO_PRED;
    bool distinct = wish->distinct && integer && literal->elem_count < largest_value(type);
    bool bounded = wish->has_bound && integer;
    if (bounded + distinct + wish->constant > 1) {
        return hlo_error(HLO_UNIMPLEMENTED, "Conflicting operand generation constraints.");
    }
    if (wish->constant && !literal->shape->rank && !hlo_type_is_complex(type))
        hlo_literal_set_double(literal, 0, wish->value);
    else if (bounded && !random->zeros)
        fill_indices(random, literal, wish, scratch);
    else if (distinct && !random->zeros)
        fill_distinct(random, literal, scratch);
    else
        hlo_random_fill(random, literal);
    return sort_by_layout(literal, scratch);
}

static HloStatus fill_parameter(HloRandom *random, const HloInstruction *parameter, HloArena *arena,
                                HloLiteral *literal) {
    HloStatus status = hlo_ok();
    bool tuple = hlo_shape_is_tuple(parameter->shape);
    for (size_t k = 0; k < (tuple ? parameter->shape->rank : 1) && hlo_is_ok(status); k++) {
        HloArena scratch = {.trap = arena->trap};
        HloLiteral *leaf = tuple ? literal->elements[k] : literal;
        if (!hlo_shape_is_array(leaf->shape)) {
            hlo_random_fill(random, leaf);
            continue;
        }
        Wish wish = find_wish(parameter, tuple ? (int64_t)k : -1, &scratch);
        status = fill_leaf(random, leaf, &wish, &scratch);
        hlo_arena_free(&scratch);
    }
    return status;
}

HloStatus hlo_random_arguments(HloRandom *random, const HloModule *m, HloArena *arena, HloLiteral **out) {
    for (size_t k = 0; k < hlo_parameter_count(m->entry); k++) {
        const HloInstruction *parameter = hlo_parameter(m->entry, k);
        HLO_TRY(hlo_literal_new(arena, parameter->shape, out + k));
        HLO_TRY(hlo_error_context(fill_parameter(random, parameter, arena, out[k]), "parameter %zu", k));
    }
    return hlo_ok();
}
