// reduce, reduce-window and select-and-scatter. Meaning: interpreter chapter, §6.1 to §6.3.

#include "lib/cpu/llvm/emit.h"

// ---- accumulators ---------------------------------------------------------------------------------------

// N accumulators as a flat list of SSA values (complex ones take two), the form in which loops carry them.
typedef struct Carried {
    const HloShape **shapes;  // per accumulator
    size_t count, flat_count;
    LLVMValueRef *flat;
} Carried;

static Carried carried_new(Gen *g, const HloInstruction *inst, size_t count) {
    Carried c = {.shapes = HLO_NEW_ARRAY(g->arena, const HloShape *, count), .count = count};
    c.flat = HLO_NEW_ARRAY(g->arena, LLVMValueRef, 2 * count);
    for (size_t k = 0; k < count; k++) {
        c.shapes[k] = hlo_shape_is_tuple(inst->shape) ? inst->shape->elements[k] : inst->shape;
        c.flat_count += hlo_type_is_complex(c.shapes[k]->type) ? 2 : 1;
    }
    return c;
}

static void carried_put(Carried *c, const Value *values) {
    size_t at = 0;
    for (size_t k = 0; k < c->count; k++) {
        c->flat[at++] = values[k].v;
        if (hlo_type_is_complex(c->shapes[k]->type)) c->flat[at++] = values[k].im;
    }
}

static void carried_get(const Carried *c, Value *values) {
    size_t at = 0;
    for (size_t k = 0; k < c->count; k++) {
        values[k].v = c->flat[at++];
        values[k].im = hlo_type_is_complex(c->shapes[k]->type) ? c->flat[at++] : NULL;
    }
}

// The initial values, in the accumulators' types.
static void initial_values(Gen *g, Scope *scope, const HloInstruction *inst, const Carried *c, Value *out) {
    for (size_t k = 0; k < c->count; k++) {
        const HloInstruction *init = hlo_operand(inst, c->count + k);
        out[k] = convert(g, inst, init->shape->type, c->shapes[k]->type, element_scalar(g, scope, init));
    }
}

// acc = f(acc_0 …, x_0 …), with what the computation's types need.
static void apply(Gen *g, const HloInstruction *inst, const HloComputation *f, const Carried *c, Value *acc,
                  const Value *x, const HloType *x_types) {
    Value *args = HLO_NEW_ARRAY(g->arena, Value, 2 * c->count);
    if (hlo_parameter_count(f) != 2 * c->count) {
        gen_fail(g, HLO_INVALID_ARGUMENT, "%%%s: its computation takes %zu parameters, not %zu", inst->name,
                 hlo_parameter_count(f), 2 * c->count);
        return;
    }
    for (size_t k = 0; k < c->count; k++) {
        HloType a = hlo_parameter(f, k)->shape->type, b = hlo_parameter(f, c->count + k)->shape->type;
        args[k] = convert(g, inst, c->shapes[k]->type, a, acc[k]);
        args[c->count + k] = convert(g, inst, x_types[k], b, x[k]);
    }
    inline_computation(g, f, args, 2 * c->count, acc);
    for (size_t k = 0; k < c->count; k++) {
        const HloShape *root = f->root->shape;
        HloType type = hlo_shape_is_tuple(root) ? root->elements[k]->type : root->type;
        acc[k] = convert(g, inst, type, c->shapes[k]->type, acc[k]);
    }
}

// Reordering is allowed where the reducer has at most one float operation, as the reference does.
static bool may_reorder(const HloComputation *f) {
    size_t floats = 0;
    HLO_EACH_INST(inst, f) {
        if (inst->op == HLO_OP_PARAMETER || !hlo_type_is_float(inst->shape->type)) continue;
        floats++;
    }
    return floats <= 1;
}

static Place *result_place(Place *dest, size_t k) {
    return dest->elements ? dest->elements[k] : dest;
}

// ---- reduce ---------------------------------------------------------------------------------------------

// A plain sum of floats narrower than f64 is taken in f64, as the reference evaluator does: the order of additions then
// hardly matters, and large sums stay accurate.
static bool is_float_sum(const HloInstruction *inst, const HloComputation *f) {
    HloType type = inst->shape->type;
    const HloInstruction *root = f->root;
    if (hlo_operand_count(inst) != 2 || !hlo_type_is_float(type) || type == HLO_F64 || root->op != HLO_OP_ADD)
        return false;
    const HloInstruction *a = hlo_operand(root, 0), *b = hlo_operand(root, 1);
    return a != b && a->op == HLO_OP_PARAMETER && b->op == HLO_OP_PARAMETER && root->shape->type == type;
}

typedef struct Reduction {
    const HloInstruction *inst;
    const HloComputation *f;
    const HloShape *input;  // shape of the first input
    HloDims reduced;
    Carried c;
    Value *init;
    Value *acc;
    HloType *types;  // of the inputs
    bool in_f64;     // the accumulator is an f64 sum
} Reduction;

static bool is_reduced(const Reduction *r, int64_t d) {
    return hlo_dims_has(r->reduced, d);
}

// Brings the accumulators one step further with the inputs `x`.
static void step(Gen *g, const Reduction *r, const Value *x) {
    if (gen_failed(g)) return;
    if (!r->in_f64) {
        apply(g, r->inst, r->f, &r->c, r->acc, x, r->types);
        return;
    }
    Value wide = convert(g, r->inst, r->types[0], HLO_F64, x[0]);
    r->acc[0].v = build_float(g, FADD, r->acc[0].v, wide.v);
}

// A shape like `shape` with f64 elements.
static const HloShape *f64_shape(Gen *g, const HloShape *shape) {
    HloShape *wide = HLO_NEW(g->arena, HloShape);
    *wide = *shape;
    wide->type = HLO_F64;
    return wide;
}

static void load_inputs(Gen *g, Scope *scope, const Reduction *r, const Index *index, Value *x) {
    for (size_t k = 0; k < r->c.count; k++) x[k] = element(g, scope, hlo_operand(r->inst, k), index);
}

// The result's index is the input's without the reduced dimensions.
static Index *kept_index(Gen *g, const Reduction *r, const HloShape *result, LLVMValueRef *dims) {
    LLVMValueRef *kept = HLO_NEW_ARRAY(g->arena, LLVMValueRef, result->rank);
    size_t next = 0;
    for (size_t d = 0; d < r->input->rank; d++) {
        if (!is_reduced(r, (int64_t)d)) kept[next++] = dims[d];
    }
    return index_new(g, result, kept);
}

static void store_results(Gen *g, const Reduction *r, Place *dest, LLVMValueRef *dims, const Value *values) {
    for (size_t k = 0; k < r->c.count && !gen_failed(g); k++) {
        Place *place = result_place(dest, k);
        Index *index = kept_index(g, r, place->shape, dims);
        store_at(g, place->shape, place->base, index_position(g, index, place->shape), values[k]);
    }
}

// Opens loops over the dimensions for which is_reduced is `reduced`, in the memory order of the input.
static Nest *open_part(Gen *g, const Reduction *r, bool reduced, LLVMValueRef *dims, Carried *c) {
    int64_t *counts = HLO_NEW_ARRAY(g->arena, int64_t, r->input->rank),
            *which = HLO_NEW_ARRAY(g->arena, int64_t, r->input->rank);
    size_t depth = 0;
    for (size_t k = r->input->rank; k-- > 0;) {
        int64_t d = shape_minor(r->input, k);
        if (is_reduced(r, d) != reduced) continue;
        which[depth] = d;
        counts[depth++] = r->input->dims[d];
    }
    Nest *nest = nest_open(g, counts, depth, c ? c->flat : NULL, c ? c->flat_count : 0);
    for (size_t k = 0; k < depth; k++) dims[which[k]] = nest_at(nest, k);
    return nest;
}

// One result at a time; the reduced dimensions are the inner loops and the accumulators stay in registers.
static void reduce_rows(Gen *g, Scope *scope, Reduction *r, Place *dest) {
    LLVMValueRef *dims = HLO_NEW_ARRAY(g->arena, LLVMValueRef, r->input->rank);
    Nest *outer = open_part(g, r, false, dims, NULL);
    carried_put(&r->c, r->init);
    Nest *inner = open_part(g, r, true, dims, &r->c);
    Value *x = HLO_NEW_ARRAY(g->arena, Value, r->c.count);
    carried_get(&r->c, r->acc);
    load_inputs(g, scope, r, index_new(g, r->input, dims), x);
    g->reassoc = may_reorder(r->f);
    step(g, r, x);
    g->reassoc = false;
    carried_put(&r->c, r->acc);
    nest_close(g, inner, r->c.flat);
    carried_get(&r->c, r->acc);
    if (r->in_f64) r->acc[0] = convert(g, r->inst, HLO_F64, dest->shape->type, r->acc[0]);
    store_results(g, r, dest, dims, r->acc);
    nest_close(g, outer, NULL);
}

// The input in memory order; accumulators live in the result, so that neighbours in memory are worked on together.
static void reduce_columns(Gen *g, Scope *scope, Reduction *r, Place *result) {
    Place *dest = r->in_f64 ? place_scratch(g, f64_shape(g, result->shape)) : result;
    if (gen_failed(g)) return;
    LLVMValueRef *dims = HLO_NEW_ARRAY(g->arena, LLVMValueRef, r->input->rank);
    Nest *fill = open_part(g, r, false, dims, NULL);
    store_results(g, r, dest, dims, r->init);
    nest_close(g, fill, NULL);

    Index *index;
    Nest *nest = nest_over(g, r->input, &index);
    Value *x = HLO_NEW_ARRAY(g->arena, Value, r->c.count);
    for (size_t k = 0; k < r->c.count; k++) {
        Place *place = result_place(dest, k);
        Index *kept = kept_index(g, r, place->shape, index->dims);
        r->acc[k] = load_at(g, place->shape, place->base, index_position(g, kept, place->shape));
    }
    load_inputs(g, scope, r, index, x);
    step(g, r, x);
    store_results(g, r, dest, index->dims, r->acc);
    nest_close(g, nest, NULL);
    if (!r->in_f64) return;
    nest = nest_over(g, result->shape, &index);
    LLVMValueRef at = index_position(g, index, result->shape);
    Value sum = convert(g, r->inst, HLO_F64, result->shape->type, load_at(g, dest->shape, dest->base, at));
    store_at(g, result->shape, result->base, at, sum);
    nest_close(g, nest, NULL);
}

// The innermost dimension in memory that has more than one element.
static int64_t most_minor(const HloShape *shape) {
    for (size_t k = 0; k < shape->rank; k++) {
        if (shape->dims[shape_minor(shape, k)] > 1) return shape_minor(shape, k);
    }
    return -1;
}

void emit_reduce(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    size_t count = hlo_operand_count(inst) / 2;
    Reduction r = {
        .inst = inst,
        .f = hlo_called(inst, 0),
        .input = hlo_operand(inst, 0)->shape,
        .reduced = hlo_dims(inst, HLO_ATTR_DIMENSIONS),
        .c = carried_new(g, inst, count),
        .init = HLO_NEW_ARRAY(g->arena, Value, count),
        .acc = HLO_NEW_ARRAY(g->arena, Value, count),
        .types = HLO_NEW_ARRAY(g->arena, HloType, count),
    };
    for (size_t k = 0; k < count; k++) r.types[k] = hlo_operand(inst, k)->shape->type;
    if (hlo_shape_elem_count(result_place(dest, 0)->shape) == 0) return;
    initial_values(g, scope, inst, &r.c, r.init);
    if (gen_failed(g)) return;
    if (hlo_shape_is_empty(r.input)) {
        LLVMValueRef *dims = HLO_NEW_ARRAY(g->arena, LLVMValueRef, r.input->rank);
        Nest *fill = open_part(g, &r, false, dims, NULL);
        store_results(g, &r, dest, dims, r.init);
        nest_close(g, fill, NULL);
        return;
    }
    r.in_f64 = is_float_sum(inst, r.f);
    if (r.in_f64) r.init[0] = convert(g, inst, inst->shape->type, HLO_F64, r.init[0]);
    int64_t minor = most_minor(r.input);
    if (minor >= 0 && !is_reduced(&r, minor) && r.reduced.count) {
        reduce_columns(g, scope, &r, dest);
    } else {
        reduce_rows(g, scope, &r, dest);
    }
}

// ---- windows --------------------------------------------------------------------------------------------

// Opens loops over a window's positions.
static Nest *open_window(Gen *g, const HloWindow *window, LLVMValueRef *at, LLVMValueRef *flat, size_t flat_count) {
    int64_t *counts = HLO_NEW_ARRAY(g->arena, int64_t, window->rank);
    for (size_t d = 0; d < window->rank; d++) counts[d] = window->dims[d].size;
    Nest *nest = nest_open(g, counts, window->rank, flat, flat_count);
    for (size_t d = 0; d < window->rank; d++) at[d] = nest_at(nest, d);
    return nest;
}

// index·stride + k·dilation − pad_low per dimension, divided by the base dilation; *inside is NULL when every position
// is in the array.
static LLVMValueRef *window_position(Gen *g, const HloWindow *window, const HloShape *base, const HloShape *result,
                                     LLVMValueRef *index, LLVMValueRef *k, LLVMValueRef *inside) {
    LLVMValueRef *dims = HLO_NEW_ARRAY(g->arena, LLVMValueRef, window->rank);
    *inside = NULL;
    for (size_t d = 0; d < window->rank; d++) {
        const HloWindowDim *w = &window->dims[d];
        LLVMValueRef at = build_add(g, build_scale(g, index[d], w->stride), build_scale(g, k[d], w->window_dilation));
        at = build_sub(g, at, const_i64(g, w->pad_low));
        int64_t low = -w->pad_low;
        int64_t high = (result->dims[d] - 1) * w->stride + (w->size - 1) * w->window_dilation - w->pad_low;
        LLVMValueRef test = NULL;
        if (w->base_dilation > 1) {
            LLVMValueRef step = const_i64(g, w->base_dilation);
            test = build_icmp(g, LLVMIntEQ, LLVMBuildSRem(g->b, at, step, ""), const_i64(g, 0));
            at = LLVMBuildSDiv(g->b, at, step, "");
        }
        if (w->base_dilation > 1 || low < 0 || high >= base->dims[d]) {
            LLVMValueRef range = build_in_range(g, at, base->dims[d]);
            test = test ? LLVMBuildAnd(g->b, test, range, "") : range;
        }
        if (test) *inside = *inside ? LLVMBuildAnd(g->b, *inside, test, "") : test;
        dims[d] = at;
    }
    return dims;
}

static bool window_fits(const HloWindow *window, size_t rank) {
    if (!window || window->rank != rank) return false;
    for (size_t d = 0; d < rank; d++) {
        const HloWindowDim *w = &window->dims[d];
        if (w->size < 1 || w->stride < 1 || w->base_dilation < 1 || w->window_dilation < 1) return false;
    }
    return true;
}

// One window position: combine when it is inside the array.
static void window_step(Gen *g, Scope *scope, Reduction *r, LLVMValueRef *dims, LLVMValueRef inside) {
    size_t count = r->c.count;
    Value *before = HLO_NEW_ARRAY(g->arena, Value, count), *x = HLO_NEW_ARRAY(g->arena, Value, count);
    carried_get(&r->c, before);
    memcpy(r->acc, before, count * sizeof *before);
    Branch branch = {0};
    if (inside) branch = branch_open(g, inside);
    load_inputs(g, scope, r, index_new(g, r->input, dims), x);
    if (!gen_failed(g)) apply(g, r->inst, r->f, &r->c, r->acc, x, r->types);
    carried_put(&r->c, r->acc);
    if (!inside || gen_failed(g)) return;
    branch_else(g, &branch);
    LLVMBasicBlockRef from_else = LLVMGetInsertBlock(g->b);
    branch_close(g, &branch);
    for (size_t k = 0; k < count; k++) {
        r->acc[k].v = branch_join(g, r->acc[k].v, branch.from_then, before[k].v, from_else);
        if (before[k].im) r->acc[k].im = branch_join(g, r->acc[k].im, branch.from_then, before[k].im, from_else);
    }
    carried_put(&r->c, r->acc);
}

void emit_reduce_window(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    size_t count = hlo_operand_count(inst) / 2;
    const HloShape *result = result_place(dest, 0)->shape;
    const HloWindow *window = hlo_data(inst, HLO_ATTR_WINDOW);
    Reduction r = {
        .inst = inst,
        .f = hlo_called(inst, 0),
        .input = hlo_operand(inst, 0)->shape,
        .c = carried_new(g, inst, count),
        .init = HLO_NEW_ARRAY(g->arena, Value, count),
        .acc = HLO_NEW_ARRAY(g->arena, Value, count),
        .types = HLO_NEW_ARRAY(g->arena, HloType, count),
    };
    for (size_t k = 0; k < count; k++) r.types[k] = hlo_operand(inst, k)->shape->type;
    if (!window_fits(window, result->rank)) {
        gen_fail(g, HLO_INVALID_ARGUMENT, "%%%s: its window does not fit its shape", inst->name);
        return;
    }
    if (hlo_shape_elem_count(result) == 0) return;
    initial_values(g, scope, inst, &r.c, r.init);
    if (gen_failed(g)) return;
    Index *index;
    Nest *outer = nest_over(g, result, &index);
    carried_put(&r.c, r.init);
    if (!hlo_shape_is_empty(r.input)) {
        LLVMValueRef inside, *k = HLO_NEW_ARRAY(g->arena, LLVMValueRef, window->rank);
        Nest *inner = open_window(g, window, k, r.c.flat, r.c.flat_count);
        LLVMValueRef *dims = window_position(g, window, r.input, result, index->dims, k, &inside);
        window_step(g, scope, &r, dims, inside);
        nest_close(g, inner, r.c.flat);
    }
    carried_get(&r.c, r.acc);
    for (size_t k = 0; k < count && !gen_failed(g); k++) {
        Place *place = result_place(dest, k);
        store_at(g, place->shape, place->base, index_position(g, index, place->shape), r.acc[k]);
    }
    nest_close(g, outer, NULL);
}

// ---- select-and-scatter ---------------------------------------------------------------------------------

// What a scan over one window has found so far, as SSA values carried by its loops.
typedef struct Found {
    LLVMValueRef *flat;  // any, position in the operand, value (two parts for complex)
    size_t count;
} Found;

// Takes the element at `position` when it is the first, or when select(found, it) is false.
static void consider(Gen *g, Scope *scope, const HloInstruction *inst, LLVMValueRef *dims, LLVMValueRef inside,
                     Found *f) {
    const HloInstruction *operand = hlo_operand(inst, 0);
    Value best = {f->flat[2], f->count > 3 ? f->flat[3] : NULL}, keep;
    LLVMValueRef before[4];
    memcpy(before, f->flat, f->count * sizeof *before);
    Branch branch = {0};
    if (inside) branch = branch_open(g, inside);
    Index *index = index_new(g, operand->shape, dims);
    Value args[2] = {best, element(g, scope, operand, index)};
    LLVMValueRef position = index_position(g, index, operand->shape);
    if (!gen_failed(g)) inline_computation(g, hlo_called(inst, 0), args, 2, &keep);
    if (gen_failed(g)) return;
    LLVMValueRef stay = LLVMBuildAnd(g->b, f->flat[0], keep.v, "");
    f->flat[0] = LLVMConstInt(g->i1, 1, false);
    f->flat[1] = build_select(g, stay, before[1], position);
    f->flat[2] = build_select(g, stay, best.v, args[1].v);
    if (best.im) f->flat[3] = build_select(g, stay, best.im, args[1].im);
    if (!inside) return;
    branch_else(g, &branch);
    LLVMBasicBlockRef from_else = LLVMGetInsertBlock(g->b);
    branch_close(g, &branch);
    for (size_t k = 0; k < f->count; k++) {
        f->flat[k] = branch_join(g, f->flat[k], branch.from_then, before[k], from_else);
    }
}

void emit_select_and_scatter(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    const HloInstruction *operand = hlo_operand(inst, 0), *source = hlo_operand(inst, 1);
    const HloWindow *window = hlo_data(inst, HLO_ATTR_WINDOW);
    HloType type = inst->shape->type;
    if (!window_fits(window, operand->shape->rank) || operand->shape->type != type || source->shape->type != type ||
        !shape_same_memory(operand->shape, dest->shape)) {
        gen_unimplemented(g, inst);
        return;
    }
    if (hlo_shape_elem_count(dest->shape) == 0) return;
    Place *from = operand_place(g, scope, operand), *values = operand_place(g, scope, source);
    Value init = element_scalar(g, scope, hlo_operand(inst, 2));
    if (gen_failed(g) || !from || !values) return;
    Index *index;
    Nest *fill = nest_over(g, dest->shape, &index);
    store_at(g, dest->shape, dest->base, index_position(g, index, dest->shape), init);
    nest_close(g, fill, NULL);
    if (hlo_shape_elem_count(source->shape) == 0) return;

    Nest *outer = nest_over(g, source->shape, &index);
    Value zero = value_zero(g, type);
    LLVMValueRef flat[4] = {LLVMConstNull(g->i1), const_i64(g, 0), zero.v, zero.im};
    Found found = {flat, zero.im ? 4 : 3};
    LLVMValueRef inside, *k = HLO_NEW_ARRAY(g->arena, LLVMValueRef, window->rank);
    Nest *inner = open_window(g, window, k, flat, found.count);
    LLVMValueRef *dims = window_position(g, window, operand->shape, source->shape, index->dims, k, &inside);
    consider(g, scope, inst, dims, inside, &found);
    if (gen_failed(g)) return;
    nest_close(g, inner, flat);

    Branch any = branch_open(g, flat[0]);
    Value args[2] = {element(g, scope, source, index), load_at(g, dest->shape, dest->base, flat[1])}, sum;
    if (!gen_failed(g)) inline_computation(g, hlo_called(inst, 1), args, 2, &sum);
    if (gen_failed(g)) return;
    store_at(g, dest->shape, dest->base, flat[1], sum);
    branch_else(g, &any);
    branch_close(g, &any);
    nest_close(g, outer, NULL);
}
