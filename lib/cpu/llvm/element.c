// element(): one element of any instruction as SSA values.
//
// Instructions are seen through tuples, parameters, fusions and calls (resolve). Chains of elementwise operations are
// walked with an explicit stack, because a fusion may hold thousands of them; index maps (reshape, slice, gather …)
// recurse, at most MAX_DEPTH deep. Values already made for the same index are reused while they dominate the insertion
// point.

#include "lib/cpu/llvm/emit.h"

Scope *scope_new(Gen *g, Scope *outer, const HloInstruction *caller) {
    Scope *scope = HLO_NEW(g->arena, Scope);
    scope->outer = outer;
    scope->caller = caller;
    return scope;
}

// ---- seeing through -------------------------------------------------------------------------------------

static Scope *inner_scope(Gen *g, Scope *scope, const HloInstruction *caller) {
    void **slot = hlo_map_at(g->arena, &scope->inner, caller);
    if (!*slot) *slot = scope_new(g, scope, caller);
    return *slot;
}

// One step of seeing through `r->inst`; false when it stands for itself. `path` is a stack of tuple positions still
// to be taken, innermost last.
static bool resolve_step(Gen *g, Resolved *r, HloInts *path) {
    const HloInstruction *inst = r->inst;
    switch (inst->op) {
    case HLO_OP_GET_TUPLE_ELEMENT:
        hlo_ints_push(g->arena, path, hlo_int(inst, HLO_ATTR_INDEX));
        r->inst = hlo_operand(inst, 0);
        return true;
    case HLO_OP_TUPLE:
        if (path->count == 0) return false;
        r->inst = hlo_operand(inst, (size_t)path->items[--path->count]);
        return true;
    case HLO_OP_OPT_BARRIER:
    case HLO_OP_ADD_DEPENDENCY:
    case HLO_OP_DOMAIN: r->inst = hlo_operand(inst, 0); return true;
    case HLO_OP_PARAMETER: {
        Scope *scope = r->scope;
        if (!scope->caller) return false;
        r->inst = hlo_operand(scope->caller, (size_t)hlo_parameter_number(inst));
        r->scope = scope->outer;
        return true;
    }
    case HLO_OP_FUSION:
    case HLO_OP_CALL:
        r->scope = inner_scope(g, r->scope, inst);
        r->inst = hlo_called(inst, 0)->root;
        return true;
    default: return false;
    }
}

static Resolved resolve_path(Gen *g, Scope *scope, const HloInstruction *inst, HloInts *path) {
    Resolved r = {.scope = scope, .inst = inst};
    // Fusions may nest, but a well-formed module has no cycle of calls; the limit is for one that is not.
    for (size_t steps = 0; steps < 1000000; steps++) {
        r.value = hlo_map_find(&r.scope->values, r.inst);
        r.place = r.value ? NULL : hlo_map_find(&r.scope->places, r.inst);
        if (r.value) return r;
        if (r.place) {
            while (path->count && r.place->elements) r.place = r.place->elements[path->items[--path->count]];
            return r;
        }
        if (!resolve_step(g, &r, path)) return r;
    }
    gen_fail(g, HLO_INVALID_ARGUMENT, "%%%s calls itself", inst->name);
    return r;
}

Resolved resolve(Gen *g, Scope *scope, const HloInstruction *inst) {
    HloInts path = {0};
    return resolve_path(g, scope, inst, &path);
}

Resolved resolve_leaf(Gen *g, Scope *scope, const HloInstruction *inst, HloDims index) {
    HloInts path = {0};
    for (size_t k = index.count; k-- > 0;) hlo_ints_push(g->arena, &path, index.data[k]);
    return resolve_path(g, scope, inst, &path);
}

// ---- values made so far ---------------------------------------------------------------------------------

static bool memo_find(const Gen *g, Scope *scope, const HloInstruction *inst, const Index *index, Value *out) {
    size_t at = (size_t)(uintptr_t)hlo_map_find(&g->memo_heads, inst);
    for (size_t tries = 0; at && tries < 16; tries++, at = g->memo[at - 1].previous) {
        const MemoEntry *entry = &g->memo[at - 1];
        if (entry->scope != scope || !index_equal(entry->index, index)) continue;
        *out = entry->value;
        return true;
    }
    return false;
}

static void memo_add(Gen *g, Scope *scope, const HloInstruction *inst, const Index *index, Value value) {
    if (g->memo_count == g->memo_capacity)
        g->memo = hlo_arena_grow(g->arena, g->memo, &g->memo_capacity, 64, sizeof *g->memo);
    void **head = hlo_map_at(g->arena, &g->memo_heads, inst);
    g->memo[g->memo_count++] = (MemoEntry){scope, inst, index, value, (size_t)(uintptr_t)*head};
    *head = (void *)(uintptr_t)g->memo_count;
}

// ---- what the emitters may rely on ----------------------------------------------------------------------

bool has_array_operands(const HloInstruction *inst) {
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        if (!hlo_shape_is_array(hlo_operand(inst, k)->shape)) return false;
    }
    return true;
}

// ---- elementwise chains ---------------------------------------------------------------------------------

bool is_pointwise(const HloInstruction *inst) {
    if (inst->op == HLO_OP_STOCHASTIC_CONVERT || !hlo_op_has(inst->op, HLO_OPF_ELEMENTWISE)) return false;
    if (!hlo_shape_is_array(inst->shape)) return false;
    // A bitcast-convert between widths moves elements.
    return inst->op != HLO_OP_BITCAST_CONVERT || inst->shape->rank == hlo_operand(inst, 0)->shape->rank;
}

// A scalar predicate or bound next to arrays.
static bool is_lone_scalar(const HloInstruction *inst, size_t k) {
    return hlo_operand(inst, k)->shape->rank == 0 && inst->shape->rank != 0;
}

typedef struct Item {
    Scope *scope;
    const HloInstruction *inst;
    size_t next;  // operand to look at
} Item;

typedef struct Chain {
    Item *items;
    size_t count, capacity;
} Chain;

static void chain_push(Gen *g, Chain *chain, Resolved r) {
    if (chain->count == chain->capacity)
        chain->items = hlo_arena_grow(g->arena, chain->items, &chain->capacity, 8, sizeof *chain->items);
    chain->items[chain->count++] = (Item){r.scope, r.inst, 0};
}

// What needs no chain: memory, given values, values already made, index maps.
static bool direct_element(Gen *g, Resolved r, const Index *index, Value *out) {
    if (r.value) {
        *out = *r.value;
        return true;
    }
    if (r.place) {
        if (!hlo_shape_is_array(r.place->shape)) {
            gen_fail(g, HLO_INTERNAL, "%%%s has no single element", r.inst->name);
            *out = value_undef(g, HLO_PRED);
            return true;
        }
        *out = load_at(g, r.place->shape, r.place->base, index_position(g, index, r.place->shape));
        return true;
    }
    if (memo_find(g, r.scope, r.inst, index, out)) return true;
    if (!has_array_operands(r.inst) || !hlo_shape_is_array(r.inst->shape)) {
        gen_unimplemented(g, r.inst);
        *out = value_undef(g, HLO_PRED);
        return true;
    }
    if (is_pointwise(r.inst)) return false;
    *out = move_element(g, r.scope, r.inst, index);
    memo_add(g, r.scope, r.inst, index, *out);
    return true;
}

static Value combine(Gen *g, const Item *item, const Index *index) {
    Value operands[3] = {{0}};
    for (size_t k = 0; k < hlo_operand_count(item->inst) && k < 3; k++) {
        Resolved r = resolve(g, item->scope, hlo_operand(item->inst, k));
        if (is_lone_scalar(item->inst, k)) {
            operands[k] = element_scalar(g, item->scope, hlo_operand(item->inst, k));
        } else if (!direct_element(g, r, index, &operands[k])) {
            operands[k] = value_undef(g, r.inst->shape->type);  // unreachable: the chain made it before
        }
    }
    return pointwise(g, item->inst, operands);
}

// True when the operand the item looks at next has to be made first, and is now on top of the chain.
static bool descend(Gen *g, Chain *chain, Item *item, const Index *index) {
    size_t k = item->next++;
    if (is_lone_scalar(item->inst, k)) return false;
    Resolved r = resolve(g, item->scope, hlo_operand(item->inst, k));
    Value unused;
    if (r.value || r.place || !is_pointwise(r.inst) || !has_array_operands(r.inst)) return false;
    if (memo_find(g, r.scope, r.inst, index, &unused)) return false;
    chain_push(g, chain, r);
    return true;
}

static Value chain_element(Gen *g, Resolved r, const Index *index) {
    Chain chain = {0};
    Value value = {0};
    chain_push(g, &chain, r);
    while (chain.count && !gen_failed(g)) {
        Item *item = &chain.items[chain.count - 1];
        if (item->next < hlo_operand_count(item->inst)) {
            descend(g, &chain, item, index);
            continue;
        }
        Item done = *item;
        chain.count--;
        value = combine(g, &done, index);
        memo_add(g, done.scope, done.inst, index, value);
    }
    return gen_failed(g) ? value_undef(g, r.inst->shape->type) : value;
}

Value element(Gen *g, Scope *scope, const HloInstruction *inst, const Index *index) {
    if (gen_failed(g)) return value_undef(g, hlo_shape_is_array(inst->shape) ? inst->shape->type : HLO_PRED);
    if (g->depth >= MAX_DEPTH) {
        gen_fail(g, HLO_UNIMPLEMENTED, "%%%s: more than %d nested index maps in one fusion are not lowered for cpu",
                 inst->name, MAX_DEPTH);
        return value_undef(g, inst->shape->type);
    }
    g->depth++;
    Resolved r = resolve(g, scope, inst);
    Value value;
    if (!direct_element(g, r, index, &value)) value = chain_element(g, r, index);
    g->depth--;
    return value;
}

Value element_scalar(Gen *g, Scope *scope, const HloInstruction *inst) {
    return element(g, scope, inst, index_linear(g, inst->shape, const_i64(g, 0)));
}

// ---- scalar computations --------------------------------------------------------------------------------

// Values of the leaves of a root: itself, or the elements of a tuple one level deep.
static void root_values(Gen *g, Scope *scope, const HloComputation *comp, Value *out) {
    const HloInstruction *root = comp->root;
    if (!hlo_shape_is_tuple(root->shape)) {
        out[0] = element_scalar(g, scope, root);
        return;
    }
    for (size_t k = 0; k < root->shape->rank; k++) {
        int64_t path = (int64_t)k;
        Resolved r = resolve_leaf(g, scope, root, (HloDims){&path, 1});
        if (r.value) {
            out[k] = *r.value;
        } else if (r.inst && !r.place && hlo_shape_is_scalar(r.inst->shape)) {
            out[k] = element_scalar(g, r.scope, r.inst);
        } else {
            gen_fail(g, HLO_UNIMPLEMENTED, "the result of computation %s is not lowered for cpu", comp->name);
            out[k] = value_undef(g, HLO_PRED);
        }
    }
}

void inline_computation(Gen *g, const HloComputation *comp, const Value *arguments, size_t count, Value *out) {
    Scope *scope = scope_new(g, NULL, NULL);
    if (hlo_parameter_count(comp) != count) {
        gen_fail(g, HLO_INVALID_ARGUMENT, "computation %s takes %zu parameters, not %zu", comp->name,
                 hlo_parameter_count(comp), count);
    }
    for (size_t k = 0; k < count && !gen_failed(g); k++) {
        Value *copy = HLO_NEW(g->arena, Value);
        *copy = arguments[k];
        *hlo_map_at(g->arena, &scope->values, hlo_parameter(comp, k)) = copy;
    }
    size_t mark = memo_mark(g);
    root_values(g, scope, comp, out);
    memo_forget(g, mark);
}
