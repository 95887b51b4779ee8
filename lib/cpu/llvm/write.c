// Writing whole values into memory: loops over element(), tuples, copies, and the operations that write in parts
// (concatenate, dynamic-update-slice).

#include "lib/cpu/llvm/emit.h"

typedef struct HeavyRow {
    HloOpcode op;
    Emitter *emit;
} HeavyRow;

static const HeavyRow heavy_rows[] = {
    {HLO_OP_REDUCE, emit_reduce},
    {HLO_OP_REDUCE_WINDOW, emit_reduce_window},
    {HLO_OP_SELECT_AND_SCATTER, emit_select_and_scatter},
    {HLO_OP_DOT, emit_dot},
    {HLO_OP_CONVOLUTION, emit_convolution},
    {HLO_OP_DYNAMIC_UPDATE_SLICE, emit_dynamic_update_slice},
    {HLO_OP_SCATTER, emit_scatter},
    {HLO_OP_SORT, emit_sort},
    {HLO_OP_RNG_BIT_GENERATOR, emit_rng_bit_generator},
    {HLO_OP_TOPK, emit_topk},
    {HLO_OP_FFT, emit_fft},
    {HLO_OP_CHOLESKY, emit_cholesky},
    {HLO_OP_TRIANGULAR_SOLVE, emit_triangular_solve},
    {HLO_OP_CUSTOM_CALL, emit_custom_call},
};

Emitter *heavy_emitter(HloOpcode op) {
    for (size_t k = 0; k < HLO_COUNT(heavy_rows); k++) {
        if (heavy_rows[k].op == op) return heavy_rows[k].emit;
    }
    return NULL;
}

bool is_heavy(const HloInstruction *inst) {
    return heavy_emitter(inst->op) != NULL;
}

// ---- loops over elements --------------------------------------------------------------------------------

typedef struct Counter {
    Nest *nest;
    Index *index;
} Counter;

static Counter count_over(Gen *g, const HloShape *shape, bool flat) {
    Counter counter;
    if (!flat) {
        counter.nest = nest_over(g, shape, &counter.index);
        return counter;
    }
    int64_t count = hlo_shape_elem_count(shape);
    counter.nest = nest_open(g, &count, 1, NULL, 0);
    counter.index = index_linear(g, shape, nest_at(counter.nest, 0));
    return counter;
}

void emit_elements(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    if (hlo_shape_elem_count(dest->shape) == 0) return;
    bool flat = is_flat(g, scope, inst, dest->shape);
    Counter counter = count_over(g, dest->shape, flat);
    Value value = element(g, scope, inst, counter.index);
    store_at(g, dest->shape, dest->base, index_position(g, counter.index, dest->shape), value);
    nest_close(g, counter.nest, NULL);
}

static void copy_bytes(Gen *g, LLVMValueRef from, LLVMValueRef to, int64_t size) {
    LLVMBuildMemCpy(g->b, to, 1, from, 1, const_i64(g, size));
}

void emit_copy(Gen *g, Place *from, Place *to) {
    if (hlo_shape_is_tuple(from->shape)) {
        for (size_t k = 0; k < from->shape->rank; k++) emit_copy(g, from->elements[k], to->elements[k]);
        return;
    }
    if (!hlo_shape_is_array(from->shape) || hlo_shape_elem_count(to->shape) == 0) return;
    if (from->shape->type != to->shape->type) {
        gen_fail(g, HLO_INTERNAL, "a copy changes the element type");
        return;
    }
    if (shape_same_memory(from->shape, to->shape)) {
        if (from->base != to->base) copy_bytes(g, from->base, to->base, hlo_shape_size_bytes(to->shape));
        return;
    }
    if (from->base == to->base) {  // a change of layout in place
        Place *aside = place_scratch(g, from->shape);
        copy_bytes(g, from->base, aside->base, hlo_shape_size_bytes(from->shape));
        from = aside;
    }
    Counter counter = count_over(g, to->shape, false);
    Value value = load_at(g, from->shape, from->base, index_position(g, counter.index, from->shape));
    store_at(g, to->shape, to->base, index_position(g, counter.index, to->shape), value);
    nest_close(g, counter.nest, NULL);
}

Place *operand_place(Gen *g, Scope *scope, const HloInstruction *inst) {
    Resolved r = resolve(g, scope, inst);
    if (r.place) return r.place;
    if (r.value || gen_failed(g)) {
        Place *place = place_scratch(g, inst->shape);
        if (r.value) store_at(g, inst->shape, place->base, const_i64(g, 0), *r.value);
        return place;
    }
    Place *place = place_scratch(g, r.inst->shape);
    emit_into(g, r.scope, r.inst, place);
    *hlo_map_at(g->arena, &r.scope->places, r.inst) = place;
    return place;
}

// ---- several results ------------------------------------------------------------------------------------

// Outputs that one loop over `dests[first]`'s elements can write. All values are made before any is stored, because a
// result may lie where an operand does.
static void emit_together(Gen *g, const Resolved *parts, Place **dests, bool *done, size_t first, size_t count) {
    const HloShape *shape = dests[first]->shape;
    bool flat = true;
    for (size_t k = first; k < count; k++) {
        if (done[k] || !hlo_shape_same_dims(dests[k]->shape, shape)) continue;
        flat = flat && shape_same_memory(dests[k]->shape, shape) && is_flat(g, parts[k].scope, parts[k].inst, shape);
    }
    Counter counter = count_over(g, shape, flat);
    Value *values = HLO_NEW_ARRAY(g->arena, Value, count);
    bool *now = HLO_NEW_ARRAY(g->arena, bool, count);
    for (size_t k = first; k < count; k++) {
        now[k] = !done[k] && hlo_shape_same_dims(dests[k]->shape, shape);
        if (now[k]) values[k] = element(g, parts[k].scope, parts[k].inst, counter.index);
    }
    for (size_t k = first; k < count && !gen_failed(g); k++) {
        if (!now[k]) continue;
        store_at(g, dests[k]->shape, dests[k]->base, index_position(g, counter.index, dests[k]->shape), values[k]);
        done[k] = true;
    }
    nest_close(g, counter.nest, NULL);
}

static bool needs_no_loop(const Place *dest) {
    return !hlo_shape_is_array(dest->shape) || hlo_shape_elem_count(dest->shape) == 0;
}

// An operand that is a result as it is. Another result may lie where it does and be written first, so it is put aside.
static Place *operand_result(Gen *g, Place *from, const Place *to, size_t results) {
    if (!g->in_place || results == 1 || from->base == to->base) return from;
    Place *aside = place_scratch(g, from->shape);
    if (!gen_failed(g)) emit_copy(g, from, aside);
    return aside;
}

// The elements of a tuple root. With a result in an operand's place, everything that is not part of the last loop goes
// through scratch memory, so that nothing is overwritten before it is read.
static void emit_tuple(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    size_t count = hlo_operand_count(inst);
    Resolved *parts = HLO_NEW_ARRAY(g->arena, Resolved, count);
    Place **late = HLO_NEW_ARRAY(g->arena, Place *, count);
    bool *done = HLO_NEW_ARRAY(g->arena, bool, count);
    for (size_t k = 0; k < count; k++) {
        parts[k] = resolve(g, scope, hlo_operand(inst, k));
        done[k] = needs_no_loop(dest->elements[k]);
        if (done[k] || gen_failed(g)) continue;
        if (!parts[k].place && !is_heavy(parts[k].inst)) continue;
        done[k] = true;
        late[k] = parts[k].place ? operand_result(g, parts[k].place, dest->elements[k], count) : NULL;
        if (late[k]) continue;
        bool direct = !g->in_place || count == 1;
        Place *place = direct ? dest->elements[k] : place_scratch(g, parts[k].inst->shape);
        emit_into(g, parts[k].scope, parts[k].inst, place);
        *hlo_map_at(g->arena, &parts[k].scope->places, parts[k].inst) = place;
        late[k] = place;
    }
    bool first_loop = true;
    for (size_t k = 0; k < count && !gen_failed(g); k++) {
        if (done[k]) continue;
        // Only one loop may write into an operand's place; other shapes wait in scratch memory.
        if (g->in_place && !first_loop) {
            late[k] = place_scratch(g, dest->elements[k]->shape);
            emit_elements(g, parts[k].scope, parts[k].inst, late[k]);
            done[k] = true;
        }
        first_loop = false;
    }
    for (size_t k = 0; k < count && !gen_failed(g); k++) {
        if (!done[k]) emit_together(g, parts, dest->elements, done, k, count);
    }
    for (size_t k = 0; k < count && !gen_failed(g); k++) {
        if (late[k]) emit_copy(g, late[k], dest->elements[k]);
    }
}

// ---- one value ------------------------------------------------------------------------------------------

// A bitcast of something written in parts is that thing at the same address.
static Resolved below_bitcasts(Gen *g, Resolved r) {
    Resolved below = r;
    while (!below.place && !below.value && below.inst->op == HLO_OP_BITCAST &&
           hlo_operand(below.inst, 0)->shape->type == below.inst->shape->type) {
        below = resolve(g, below.scope, hlo_operand(below.inst, 0));
    }
    return !below.place && !below.value && is_heavy(below.inst) && hlo_shape_is_array(below.inst->shape) ? below : r;
}

void emit_into(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    if (gen_failed(g)) return;
    Resolved r = resolve(g, scope, inst);
    if (r.place) {
        emit_copy(g, r.place, dest);
        return;
    }
    if (r.value) {
        store_at(g, dest->shape, dest->base, const_i64(g, 0), *r.value);
        return;
    }
    r = below_bitcasts(g, r);
    Place *target =
        r.inst->op == inst->op || !hlo_shape_is_array(r.inst->shape) ? dest : place_new(g, r.inst->shape, dest->base);
    Emitter *emit = heavy_emitter(r.inst->op);
    bool any_operands = r.inst->op == HLO_OP_TUPLE || r.inst->op == HLO_OP_CUSTOM_CALL;
    if (!any_operands && !has_array_operands(r.inst)) {
        gen_unimplemented(g, r.inst);
    } else if (emit) {
        emit(g, r.scope, r.inst, target);
    } else if (r.inst->op == HLO_OP_TUPLE) {
        emit_tuple(g, r.scope, r.inst, dest);
    } else if (r.inst->op == HLO_OP_CONCATENATE) {
        emit_concatenate(g, r.scope, r.inst, dest);
    } else if (hlo_shape_is_array(r.inst->shape)) {
        emit_elements(g, r.scope, r.inst, dest);
    } else {
        gen_unimplemented(g, r.inst);
    }
}

// ---- writing in parts -----------------------------------------------------------------------------------

// A loop over the elements of `inst`, written to `dest` at an offset per dimension.
static void emit_region(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest, LLVMValueRef *offsets) {
    if (hlo_shape_elem_count(inst->shape) == 0) return;
    // Run in the order of the destination's memory.
    int64_t *counts = HLO_NEW_ARRAY(g->arena, int64_t, inst->shape->rank);
    size_t rank = inst->shape->rank;
    for (size_t k = 0; k < rank; k++) counts[k] = inst->shape->dims[shape_minor(dest->shape, rank - 1 - k)];
    Nest *nest = nest_open(g, counts, rank, NULL, 0);
    LLVMValueRef *from = HLO_NEW_ARRAY(g->arena, LLVMValueRef, rank), *to = HLO_NEW_ARRAY(g->arena, LLVMValueRef, rank);
    for (size_t k = 0; k < rank; k++) {
        int64_t d = shape_minor(dest->shape, rank - 1 - k);
        from[d] = nest_at(nest, k);
        to[d] = build_add(g, from[d], offsets[d]);
    }
    Value value = element(g, scope, inst, index_new(g, inst->shape, from));
    store_at(g, dest->shape, dest->base, index_position(g, index_new(g, dest->shape, to), dest->shape), value);
    nest_close(g, nest, NULL);
}

void emit_concatenate(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    size_t axis = (size_t)hlo_int(inst, HLO_ATTR_DIMENSION), rank = inst->shape->rank;
    int64_t offset = 0;
    for (size_t k = 0; k < hlo_operand_count(inst) && !gen_failed(g); k++) {
        LLVMValueRef *offsets = HLO_NEW_ARRAY(g->arena, LLVMValueRef, rank);
        for (size_t d = 0; d < rank; d++) offsets[d] = const_i64(g, d == axis ? offset : 0);
        emit_region(g, scope, hlo_operand(inst, k), dest, offsets);
        offset += hlo_operand(inst, k)->shape->dims[axis];
    }
}

// True when the value already lies at `dest`, perhaps behind bitcasts.
static bool lies_at(Gen *g, Scope *scope, const HloInstruction *inst, const Place *dest) {
    Resolved r = resolve(g, scope, inst);
    while (!r.place && !r.value && r.inst->op == HLO_OP_BITCAST) r = resolve(g, r.scope, hlo_operand(r.inst, 0));
    return r.place && r.place->base == dest->base;
}

void emit_dynamic_update_slice(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    const HloInstruction *operand = hlo_operand(inst, 0), *update = hlo_operand(inst, 1);
    if (hlo_shape_elem_count(dest->shape) == 0) return;
    // The starts may be computed from what the update overwrites, so they come first.
    LLVMValueRef *starts = clamped_starts(g, scope, inst, 2, operand->shape, update->shape->dims);
    if (!lies_at(g, scope, operand, dest)) emit_into(g, scope, operand, dest);
    if (!gen_failed(g)) emit_region(g, scope, update, dest, starts);
}
