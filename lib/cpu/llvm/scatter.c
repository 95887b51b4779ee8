// scatter: updates combined into a copy of the operands (interpreter chapter, §3.9).
//
// The scatter dimensions of the updates are the outer loops, the window dimensions the inner ones; a window that does
// not fit is dropped as a whole. Duplicates are combined in that order.

#include "lib/cpu/llvm/emit.h"

typedef struct Scatter {
    const HloInstruction *inst;
    const HloShape *operand, *updates, *indices;  // shapes of the first operand and updates
    HloDims window, inserted, map, batch, index_batch;
    size_t index_vector_dim, count;  // count: operands
    Place **dests;
} Scatter;

// Loops over the updates' dimensions that are (or are not) window dimensions, in memory order.
static Nest *open_part(Gen *g, const Scatter *s, bool window, LLVMValueRef *at) {
    int64_t *counts = HLO_NEW_ARRAY(g->arena, int64_t, s->updates->rank),
            *which = HLO_NEW_ARRAY(g->arena, int64_t, s->updates->rank);
    size_t depth = 0;
    for (size_t k = s->updates->rank; k-- > 0;) {
        int64_t d = shape_minor(s->updates, k);
        if (hlo_dims_has(s->window, d) != window) continue;
        which[depth] = d;
        counts[depth++] = s->updates->dims[d];
    }
    Nest *nest = nest_open(g, counts, depth, NULL, 0);
    for (size_t k = 0; k < depth; k++) at[which[k]] = nest_at(nest, k);
    return nest;
}

// Window size along an operand dimension: 1 where the updates have none.
static int64_t window_size(const Scatter *s, int64_t d, size_t *next) {
    if (hlo_dims_has(s->inserted, d) || hlo_dims_has(s->batch, d)) return 1;
    return s->updates->dims[s->window.data[(*next)++]];
}

// First operand index of the window for the scatter part of `at`.
static LLVMValueRef *window_start(Gen *g, Scope *scope, const Scatter *s, LLVMValueRef *at) {
    const HloInstruction *indices = hlo_operand(s->inst, s->count);
    LLVMValueRef *base = HLO_NEW_ARRAY(g->arena, LLVMValueRef, s->indices->rank + 1);
    size_t next = 0;
    for (size_t d = 0; d < s->updates->rank; d++) {
        if (hlo_dims_has(s->window, (int64_t)d)) continue;
        if (next == s->index_vector_dim) next++;
        if (next < s->indices->rank) base[next++] = at[d];
    }
    LLVMValueRef *start = HLO_NEW_ARRAY(g->arena, LLVMValueRef, s->operand->rank);
    for (size_t d = 0; d < s->operand->rank; d++) {
        int64_t component = hlo_dims_find(s->map, (int64_t)d), batch = hlo_dims_find(s->batch, (int64_t)d);
        start[d] = const_i64(g, 0);
        if (batch >= 0) start[d] = base[s->index_batch.data[batch]];
        if (component < 0) continue;
        LLVMValueRef *dims = HLO_NEW_ARRAY(g->arena, LLVMValueRef, s->indices->rank + 1);
        memcpy(dims, base, s->indices->rank * sizeof *dims);
        if (s->index_vector_dim < s->indices->rank) dims[s->index_vector_dim] = const_i64(g, component);
        Value value = element(g, scope, indices, index_new(g, s->indices, dims));
        if (gen_failed(g)) return start;
        start[d] = index_value(g, value, s->indices->type);
    }
    return start;
}

static LLVMValueRef window_fits(Gen *g, const Scatter *s, LLVMValueRef *start) {
    LLVMValueRef fits = LLVMConstInt(g->i1, 1, false);
    size_t next = 0;
    for (size_t d = 0; d < s->operand->rank; d++) {
        int64_t room = s->operand->dims[d] - window_size(s, (int64_t)d, &next);
        LLVMValueRef ok = room < 0 ? LLVMConstNull(g->i1) : build_in_range(g, start[d], room + 1);
        fits = LLVMBuildAnd(g->b, fits, ok, "");
    }
    return fits;
}

// current = f(current…, update…) at one element.
static void combine(Gen *g, Scope *scope, const Scatter *s, LLVMValueRef *start, LLVMValueRef *at) {
    LLVMValueRef *dims = HLO_NEW_ARRAY(g->arena, LLVMValueRef, s->operand->rank);
    size_t next = 0;
    for (size_t d = 0; d < s->operand->rank; d++) {
        bool fixed = hlo_dims_has(s->inserted, (int64_t)d) || hlo_dims_has(s->batch, (int64_t)d);
        dims[d] = fixed ? start[d] : build_add(g, start[d], at[s->window.data[next++]]);
    }
    Index *target = index_new(g, s->operand, dims), *source = index_new(g, s->updates, at);
    Value *args = HLO_NEW_ARRAY(g->arena, Value, 2 * s->count), *results = HLO_NEW_ARRAY(g->arena, Value, s->count);
    const HloComputation *f = hlo_called(s->inst, 0);
    for (size_t k = 0; k < s->count; k++) {
        const HloShape *shape = s->dests[k]->shape;
        const HloInstruction *update = hlo_operand(s->inst, s->count + 1 + k);
        args[k] = load_at(g, shape, s->dests[k]->base, index_position(g, target, shape));
        args[s->count + k] = element(g, scope, update, source);
        if (gen_failed(g) || hlo_parameter_count(f) != 2 * s->count) break;
        args[k] = convert(g, s->inst, shape->type, hlo_parameter(f, k)->shape->type, args[k]);
        HloType wanted = hlo_parameter(f, s->count + k)->shape->type;
        args[s->count + k] = convert(g, s->inst, update->shape->type, wanted, args[s->count + k]);
    }
    if (gen_failed(g)) return;
    inline_computation(g, f, args, 2 * s->count, results);
    const HloShape *root = f->root->shape;
    for (size_t k = 0; k < s->count && !gen_failed(g); k++) {
        const HloShape *shape = s->dests[k]->shape;
        HloType type = hlo_shape_is_tuple(root) ? root->elements[k]->type : root->type;
        Value value = convert(g, s->inst, type, shape->type, results[k]);
        store_at(g, shape, s->dests[k]->base, index_position(g, target, shape), value);
    }
}

static Scatter describe(Gen *g, const HloInstruction *inst, Place *dest) {
    size_t count = hlo_operand_count(inst) / 2;
    Scatter s = {
        .inst = inst,
        .operand = hlo_operand(inst, 0)->shape,
        .indices = hlo_operand(inst, count)->shape,
        .updates = hlo_operand(inst, count + 1)->shape,
        .window = hlo_dims(inst, HLO_ATTR_UPDATE_WINDOW_DIMS),
        .inserted = hlo_dims(inst, HLO_ATTR_INSERTED_WINDOW_DIMS),
        .map = hlo_dims(inst, HLO_ATTR_SCATTER_DIMS_TO_OPERAND_DIMS),
        .batch = hlo_dims(inst, HLO_ATTR_INPUT_BATCHING_DIMS),
        .index_batch = hlo_dims(inst, HLO_ATTR_SCATTER_INDICES_BATCHING_DIMS),
        .index_vector_dim = (size_t)hlo_int(inst, HLO_ATTR_INDEX_VECTOR_DIM),
        .count = count,
        .dests = HLO_NEW_ARRAY(g->arena, Place *, count),
    };
    for (size_t k = 0; k < count; k++) s.dests[k] = dest->elements ? dest->elements[k] : dest;
    return s;
}

void emit_scatter(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    Scatter s = describe(g, inst, dest);
    for (size_t k = 0; k < s.count && !gen_failed(g); k++) {
        Resolved r = resolve(g, scope, hlo_operand(inst, k));
        bool there = r.place && r.place->base == s.dests[k]->base;
        if (!there) emit_into(g, scope, hlo_operand(inst, k), s.dests[k]);
    }
    if (gen_failed(g) || hlo_shape_elem_count(s.updates) == 0 || hlo_shape_elem_count(s.operand) == 0) return;
    LLVMValueRef *at = HLO_NEW_ARRAY(g->arena, LLVMValueRef, s.updates->rank + 1);
    Nest *outer = open_part(g, &s, false, at);
    LLVMValueRef *start = window_start(g, scope, &s, at);
    if (gen_failed(g)) return;
    Branch branch = branch_open(g, window_fits(g, &s, start));
    Nest *inner = open_part(g, &s, true, at);
    combine(g, scope, &s, start, at);
    if (gen_failed(g)) return;
    nest_close(g, inner, NULL);
    branch_else(g, &branch);
    branch_close(g, &branch);
    nest_close(g, outer, NULL);
}
