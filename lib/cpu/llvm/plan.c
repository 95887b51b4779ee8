// What a kernel keeps in scratch memory, and which loops may be flat.
//
// element() computes a value anew for every index it is asked at. Inside a fusion that is wrong for operations with
// loops of their own, and too slow for a value that index maps ask for at many places (a stencil of a stencil doubles
// the work at every step). plan_kernel walks the values a kernel needs, users before operands, counts at how many
// indices each is asked, and writes the expensive ones into scratch memory first. Values behind many nested index maps
// are stored too, so that element() need not go that deep.

#include "lib/cpu/llvm/emit.h"

enum {
    MAX_COPIES = 8,            // a value asked for at more indices than this is computed once and stored
    MAX_MAPS = MAX_DEPTH / 4,  // index maps between a value and what it is stored for
};

typedef struct Node {
    Scope *scope;
    const HloInstruction *inst;
    int64_t same, moved;  // times asked: at the user's own index; through an index map
    int64_t maps;         // most index maps between it and the nearest stored user
    size_t next;          // operand to look at
    bool done, store;
} Node;

static bool is_stored_already(Resolved r) {
    return r.place || r.value;
}

static Node *node_find(Gen *g, Resolved r) {
    void **slot = hlo_map_at(g->arena, &r.scope->nodes, r.inst);
    if (*slot) return *slot;
    Node *node = HLO_NEW(g->arena, Node);
    node->scope = r.scope;
    node->inst = r.inst;
    *slot = node;
    return node;
}

// Nodes in post-order: operands before users.
static void collect(Gen *g, Node *root, HloVec *order) {
    HloVec stack = {0};
    hlo_vec_push(g->arena, &stack, root);
    root->done = true;
    while (stack.count && !gen_failed(g)) {
        Node *node = stack.items[stack.count - 1];
        if (node->next == hlo_operand_count(node->inst)) {
            hlo_vec_push(g->arena, order, node);
            stack.count--;
            continue;
        }
        Resolved r = resolve(g, node->scope, hlo_operand(node->inst, node->next++));
        if (is_stored_already(r)) continue;
        Node *operand = node_find(g, r);
        if (operand->done) continue;
        operand->done = true;
        hlo_vec_push(g->arena, &stack, operand);
    }
}

// Nothing to gain from storing it.
static bool is_cheap(const HloInstruction *inst) {
    return inst->op == HLO_OP_CONSTANT || inst->op == HLO_OP_IOTA || inst->op == HLO_OP_PARAMETER ||
           inst->op == HLO_OP_TUPLE || inst->shape->rank == 0 || !hlo_shape_is_array(inst->shape);
}

static bool needs_store(const Node *node) {
    if (is_heavy(node->inst)) return true;
    return !is_cheap(node->inst) && (node->same + node->moved > MAX_COPIES || node->maps > MAX_MAPS);
}

static void count_asks(Gen *g, const HloVec *order) {
    for (size_t k = order->count; k-- > 0;) {
        Node *node = order->items[k];
        node->store = needs_store(node);
        int64_t times = node->store ? 1 : node->same + node->moved, maps = node->store ? 0 : node->maps;
        for (size_t o = 0; o < hlo_operand_count(node->inst); o++) {
            Resolved r = resolve(g, node->scope, hlo_operand(node->inst, o));
            if (is_stored_already(r)) continue;
            Node *operand = node_find(g, r);
            bool moves = !is_pointwise(node->inst);
            if (operand->maps < maps + moves) operand->maps = maps + moves;
            if (!moves && !node->store) {
                operand->same = operand->same > times ? operand->same : times;
            } else if (operand->moved < INT32_MAX) {
                operand->moved += times;
            }
        }
    }
}

static void plan_root(Gen *g, Resolved root) {
    if (is_stored_already(root)) return;
    HloVec order = {0};
    Node *node = node_find(g, root);
    if (node->done) return;
    node->same = 1;
    collect(g, node, &order);
    count_asks(g, &order);
    for (size_t k = 0; k + 1 < order.count && !gen_failed(g); k++) {
        Node *inner = order.items[k];
        if (!inner->store) continue;
        Place *place = place_scratch(g, inner->inst->shape);
        if (!gen_failed(g)) emit_into(g, inner->scope, inner->inst, place);
        *hlo_map_at(g->arena, &inner->scope->places, inner->inst) = place;
    }
}

void plan_kernel(Gen *g, Scope *scope, const HloInstruction *root) {
    Resolved r = resolve(g, scope, root);
    if (is_stored_already(r)) return;
    if (r.inst->op != HLO_OP_TUPLE) {
        plan_root(g, r);
        return;
    }
    for (size_t k = 0; k < hlo_operand_count(r.inst); k++) plan_root(g, resolve(g, r.scope, hlo_operand(r.inst, k)));
}

// ---- flat loops -----------------------------------------------------------------------------------------

typedef struct FlatItem {
    Resolved r;
    const HloShape *shape;  // whose memory order the counter runs in, at this point
} FlatItem;

typedef struct FlatWalk {
    FlatItem *items;
    size_t count, capacity;
    HloMap seen;
} FlatWalk;

static void flat_push(Gen *g, FlatWalk *walk, Resolved r, const HloShape *shape) {
    if (walk->count == walk->capacity)
        walk->items = hlo_arena_grow(g->arena, walk->items, &walk->capacity, 16, sizeof *walk->items);
    walk->items[walk->count++] = (FlatItem){r, shape};
}

static bool is_row_major(const HloShape *shape) {
    return !shape->layout || hlo_layout_is_default(shape->layout);
}

static bool flat_step(Gen *g, FlatWalk *walk, FlatItem item) {
    const HloInstruction *inst = item.r.inst;
    if (item.r.value) return true;
    if (item.r.place) return shape_same_memory(item.r.place->shape, item.shape);
    if (inst->op == HLO_OP_CONSTANT) {
        return hlo_literal_is_splat(hlo_constant(inst)) || shape_same_memory(inst->shape, item.shape);
    }
    if (inst->op == HLO_OP_BROADCAST) return hlo_operand(inst, 0)->shape->rank == 0;
    if (inst->op == HLO_OP_IOTA) return inst->shape->rank == 1;
    bool renumbers = inst->op == HLO_OP_BITCAST || (inst->op == HLO_OP_RESHAPE && is_row_major(inst->shape) &&
                                                    is_row_major(hlo_operand(inst, 0)->shape));
    if (renumbers && !shape_same_memory(inst->shape, item.shape)) return false;
    if (!renumbers && !is_pointwise(inst)) return false;
    void **seen = hlo_map_at(g->arena, &walk->seen, inst);
    if (*seen) return true;
    *seen = (void *)inst;
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        const HloShape *shape = hlo_operand(inst, k)->shape;
        if (shape->rank == 0 && inst->shape->rank != 0) continue;
        flat_push(g, walk, resolve(g, item.r.scope, hlo_operand(inst, k)), renumbers ? shape : item.shape);
    }
    return true;
}

bool is_flat(Gen *g, Scope *scope, const HloInstruction *inst, const HloShape *shape) {
    FlatWalk walk = {0};
    flat_push(g, &walk, resolve(g, scope, inst), shape);
    while (walk.count) {
        if (!flat_step(g, &walk, walk.items[--walk.count])) return false;
    }
    return true;
}
