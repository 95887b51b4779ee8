// Operations that call the runtime: sort, top-k, random bits, Fourier transforms, custom calls.

#include "lib/cpu/llvm/emit.h"
#include "lib/cpu/llvm/runtime.h"

void call_runtime(Gen *g, const char *name, LLVMValueRef *args, unsigned count) {
    LLVMTypeRef types[8];
    for (unsigned k = 0; k < count; k++) types[k] = LLVMTypeOf(args[k]);
    LLVMTypeRef type = LLVMFunctionType(g->none, types, count, false);
    LLVMValueRef fn = LLVMGetNamedFunction(g->mod, name);
    if (!fn) {
        fn = LLVMAddFunction(g->mod, name, type);
        LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, g->nounwind);
    }
    LLVMBuildCall2(g->b, type, fn, args, count, "");
}

LLVMValueRef gen_numbers(Gen *g, const int64_t *numbers, size_t count) {
    LLVMValueRef *values = HLO_NEW_ARRAY(g->arena, LLVMValueRef, count);
    for (size_t k = 0; k < count; k++) values[k] = const_i64(g, numbers[k]);
    LLVMValueRef data = LLVMConstArray2(g->i64, values, count);
    LLVMValueRef global = LLVMAddGlobal(g->mod, LLVMTypeOf(data), "descriptor");
    LLVMSetInitializer(global, data);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    return global;
}

static bool is_row_major(const HloShape *shape) {
    return !shape->layout || hlo_layout_is_default(shape->layout);
}

// An operand in row-major memory.
static Place *row_major_operand(Gen *g, Scope *scope, const HloInstruction *inst) {
    Place *place = operand_place(g, scope, inst);
    if (gen_failed(g) || is_row_major(place->shape)) return place;
    HloLayout *layout = HLO_NEW(g->arena, HloLayout);
    int64_t *order = HLO_NEW_ARRAY(g->arena, int64_t, place->shape->rank);
    for (size_t k = 0; k < place->shape->rank; k++) order[k] = (int64_t)(place->shape->rank - 1 - k);
    *layout = (HloLayout){.minor_to_major = order, .rank = place->shape->rank, .tail_alignment = 1};
    HloShape *shape = HLO_NEW(g->arena, HloShape);
    *shape = *place->shape;
    shape->layout = layout;
    Place *copy = place_scratch(g, shape);
    emit_copy(g, place, copy);
    return copy;
}

// ---- sort -----------------------------------------------------------------------------------------------

// uint8_t NAME(const void *const *elements): loads both sides of every operand and asks the comparator.
static LLVMValueRef comparator(Gen *g, const HloInstruction *inst) {
    size_t count = hlo_operand_count(inst);
    LLVMBasicBlockRef back = LLVMGetInsertBlock(g->b);
    Gen outer = *g;
    LLVMTypeRef type = LLVMFunctionType(g->i8, &g->ptr, 1, false);
    g->fn = LLVMAddFunction(g->mod, hlo_arena_printf(g->arena, "%s_less", inst->name), type);
    LLVMSetLinkage(g->fn, LLVMInternalLinkage);
    LLVMAddAttributeAtIndex(g->fn, LLVMAttributeFunctionIndex, g->nounwind);
    g->memo_count = g->memo_capacity = 0;
    g->memo = NULL;
    g->memo_heads = (HloMap){0};
    LLVMPositionBuilderAtEnd(g->b, LLVMAppendBasicBlockInContext(g->cx, g->fn, "entry"));
    Value *args = HLO_NEW_ARRAY(g->arena, Value, 2 * count), less = {LLVMConstNull(g->i1), NULL};
    for (size_t k = 0; k < 2 * count; k++) {
        LLVMValueRef at = const_i64(g, (int64_t)k);
        LLVMValueRef slot = LLVMBuildInBoundsGEP2(g->b, g->ptr, LLVMGetParam(g->fn, 0), &at, 1, "");
        LLVMValueRef address = LLVMBuildLoad2(g->b, g->ptr, slot, "");
        args[k] = load_at(g, hlo_operand(inst, k / 2)->shape, address, const_i64(g, 0));
    }
    inline_computation(g, hlo_called(inst, 0), args, 2 * count, &less);
    LLVMBuildRet(g->b, LLVMBuildZExt(g->b, less.v, g->i8, ""));
    LLVMValueRef fn = g->fn;
    g->fn = outer.fn;
    g->memo = outer.memo;
    g->memo_count = outer.memo_count;
    g->memo_capacity = outer.memo_capacity;
    g->memo_heads = outer.memo_heads;
    LLVMPositionBuilderAtEnd(g->b, back);
    return fn;
}

static LLVMValueRef address_table(Gen *g, Place **places, size_t count) {
    LLVMValueRef table = LLVMBuildAlloca(g->b, LLVMArrayType2(g->ptr, count), "arrays");
    for (size_t k = 0; k < count; k++) {
        LLVMValueRef at = const_i64(g, (int64_t)k);
        LLVMBuildStore(g->b, places[k]->base, LLVMBuildInBoundsGEP2(g->b, g->ptr, table, &at, 1, ""));
    }
    return table;
}

// {count, outer, length, inner, sizes…} as hlo_rt_sort wants it; false when the arrays do not lie alike.
static bool sort_geometry(const HloInstruction *inst, Place **places, int64_t *d) {
    const HloShape *shape = places[0]->shape;
    size_t count = hlo_operand_count(inst);
    int64_t axis = hlo_int(inst, HLO_ATTR_DIMENSION);
    if (axis < 0 || axis >= (int64_t)shape->rank || count > 64) return false;
    d[0] = (int64_t)count;
    d[1] = d[3] = 1;
    bool minor = true;
    for (size_t k = 0; k < shape->rank; k++) {
        int64_t dim = shape_minor(shape, k);
        if (dim == axis) {
            d[2] = shape->dims[dim];
            minor = false;
        } else {
            d[minor ? 3 : 1] *= shape->dims[dim];
        }
    }
    for (size_t k = 0; k < count; k++) {
        if (!shape_same_memory(places[k]->shape, shape) || is_packed(places[k]->shape)) return false;
        d[4 + k] = (hlo_type_bits(places[k]->shape->type) + 7) / 8;
    }
    return true;
}

void emit_sort(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    size_t count = hlo_operand_count(inst);
    Place **places = HLO_NEW_ARRAY(g->arena, Place *, count);
    int64_t *d = HLO_NEW_ARRAY(g->arena, int64_t, 4 + count), widest = 1, bytes;
    for (size_t k = 0; k < count; k++) places[k] = dest->elements ? dest->elements[k] : dest;
    if (count == 0 || !sort_geometry(inst, places, d)) {
        gen_unimplemented(g, inst);
        return;
    }
    for (size_t k = 0; k < count && !gen_failed(g); k++) emit_into(g, scope, hlo_operand(inst, k), places[k]);
    if (gen_failed(g) || hlo_shape_elem_count(places[0]->shape) == 0) return;
    for (size_t k = 0; k < count; k++) widest = d[4 + k] > widest ? d[4 + k] : widest;
    if (!hlo_i64_mul(d[2], 16 + widest, &bytes)) bytes = -1;
    LLVMValueRef scratch = scratch_take(g, bytes);
    LLVMValueRef args[4] = {gen_numbers(g, d, 4 + count), address_table(g, places, count), comparator(g, inst),
                            scratch};
    call_runtime(g, "hlo_rt_sort", args, 4);
}

// ---- top k ----------------------------------------------------------------------------------------------

// A place like `place` with f32 elements, in row-major scratch memory.
static Place *f32_scratch(Gen *g, const Place *place) {
    HloShape *shape = HLO_NEW(g->arena, HloShape);
    *shape = *place->shape;
    shape->type = HLO_F32;
    return place_scratch(g, shape);
}

static void copy_converted(Gen *g, const HloInstruction *inst, Place *from, Place *to) {
    Index *index;
    Nest *nest = nest_over(g, to->shape, &index);
    Value value = load_at(g, from->shape, from->base, index_position(g, index, from->shape));
    value = convert(g, inst, from->shape->type, to->shape->type, value);
    store_at(g, to->shape, to->base, index_position(g, index, to->shape), value);
    nest_close(g, nest, NULL);
}

static bool topk_fits(const HloInstruction *inst, const Place *dest) {
    const HloShape *from = hlo_operand(inst, 0)->shape;
    if (!dest->elements || dest->shape->rank != 2 || from->rank == 0) return false;
    const HloShape *values = dest->elements[0]->shape, *indices = dest->elements[1]->shape;
    // Narrower floats are ordered as their f32 values are.
    return hlo_type_is_float(from->type) && from->type != HLO_F64 && values->type == from->type &&
           indices->type == HLO_S32 && values->rank == from->rank && hlo_shape_same_dims(values, indices) &&
           is_row_major(values) && is_row_major(indices);
}

static void call_topk(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest, bool largest) {
    const HloShape *from = hlo_operand(inst, 0)->shape;
    if (!topk_fits(inst, dest)) {
        gen_unimplemented(g, inst);
        return;
    }
    Place *values = dest->elements[0];
    int64_t length = from->dims[from->rank - 1], k = values->shape->dims[from->rank - 1];
    if (k > length || length > INT32_MAX) {
        gen_fail(g, HLO_INVALID_ARGUMENT, "%%%s asks for more elements than a row has", inst->name);
        return;
    }
    if (hlo_shape_elem_count(values->shape) == 0) return;
    Place *in = row_major_operand(g, scope, hlo_operand(inst, 0)), *best = values;
    if (gen_failed(g)) return;
    if (from->type != HLO_F32) {
        Place *wide = f32_scratch(g, in);
        copy_converted(g, inst, in, wide);
        in = wide;
        best = f32_scratch(g, values);
    }
    int64_t d[4] = {hlo_shape_elem_count(from) / length, length, k, largest};
    LLVMValueRef args[5] = {gen_numbers(g, d, 4), in->base, best->base, dest->elements[1]->base,
                            scratch_take(g, length * 16)};
    call_runtime(g, "hlo_rt_topk", args, 5);
    if (best != values) copy_converted(g, inst, best, values);
}

void emit_topk(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    call_topk(g, scope, inst, dest, hlo_int(inst, HLO_ATTR_LARGEST) != 0);
}

// ---- random bits ----------------------------------------------------------------------------------------

void emit_rng_bit_generator(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    bool is_pair = dest->elements && dest->shape->rank == 2;
    Place *state = is_pair ? operand_place(g, scope, hlo_operand(inst, 0)) : NULL;
    int64_t algorithm = hlo_int(inst, HLO_ATTR_RNG_ALGORITHM);
    if (!is_pair || gen_failed(g) || state->shape->type != HLO_U64 || state->shape->rank != 1 ||
        (state->shape->dims[0] != 2 && state->shape->dims[0] != 3)) {
        gen_unimplemented(g, inst);
        return;
    }
    const HloShape *out = dest->elements[1]->shape;
    int64_t *strides = shape_strides(g, out), words = state->shape->dims[0];
    bool threefry = algorithm == HLO_RNG_ALGORITHM_THREE_FRY;
    if (!hlo_type_is_integral(out->type) || hlo_type_bits(out->type) < 8 || out->rank > 64 ||
        (threefry && words != 2)) {
        gen_unimplemented(g, inst);
        return;
    }
    int64_t *d = HLO_NEW_ARRAY(g->arena, int64_t, 4 + 2 * out->rank);
    d[0] = threefry ? 1 : 2;
    d[1] = words;
    d[2] = hlo_type_bits(out->type) / 8;
    d[3] = (int64_t)out->rank;
    for (size_t k = 0; k < out->rank; k++) {
        d[4 + k] = out->dims[k];
        d[4 + out->rank + k] = strides[k];
    }
    LLVMValueRef args[4] = {gen_numbers(g, d, 4 + 2 * out->rank), state->base, dest->elements[0]->base,
                            dest->elements[1]->base};
    call_runtime(g, "hlo_rt_rng", args, 4);
}

// ---- Fourier transforms ---------------------------------------------------------------------------------

void emit_fft(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    HloDims lengths = hlo_dims(inst, HLO_ATTR_FFT_LENGTH);
    const HloShape *from = hlo_operand(inst, 0)->shape;
    size_t rank = lengths.count, skip = from->rank - rank;
    bool f64 = from->type == HLO_F64 || from->type == HLO_C128;
    int64_t kind = hlo_int(inst, HLO_ATTR_FFT_TYPE);
    bool types_fit = hlo_type_is_complex(from->type) == (kind != HLO_FFT_TYPE_RFFT) &&
                     hlo_type_is_complex(inst->shape->type) == (kind != HLO_FFT_TYPE_IRFFT) &&
                     (hlo_type_bits(from->type) >= 32 && !hlo_type_is_integral(from->type));
    if (rank > from->rank || inst->shape->rank != from->rank || !types_fit || !is_row_major(dest->shape)) {
        gen_unimplemented(g, inst);
        return;
    }
    if (hlo_shape_elem_count(dest->shape) == 0) return;
    Place *in = row_major_operand(g, scope, hlo_operand(inst, 0));
    if (gen_failed(g)) return;
    int64_t *d = HLO_NEW_ARRAY(g->arena, int64_t, 4 + 3 * rank);
    d[0] = kind;
    d[1] = f64;
    d[2] = (int64_t)rank;
    d[3] = 1;
    for (size_t k = 0; k < skip; k++) d[3] *= from->dims[k];
    for (size_t k = 0; k < rank; k++) {
        d[4 + k] = from->dims[skip + k];
        d[4 + rank + k] = lengths.data[k];
        d[4 + 2 * rank + k] = inst->shape->dims[skip + k];
    }
    LLVMValueRef args[4] = {gen_numbers(g, d, 4 + 3 * rank), in->base, dest->base,
                            scratch_take(g, runtime_fft_scratch(d))};
    if (!gen_failed(g)) call_runtime(g, "hlo_rt_fft", args, 4);
}

// ---- custom calls ---------------------------------------------------------------------------------------

void emit_custom_call(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    const char *target = hlo_text(inst, HLO_ATTR_CUSTOM_CALL_TARGET);
    if (strcmp(target, "TopK") == 0 && hlo_operand_count(inst) == 1) {
        call_topk(g, scope, inst, dest, true);
        return;
    }
    if (hlo_shape_is_array(inst->shape) && hlo_is_sharding_annotation(inst)) {
        emit_into(g, scope, hlo_operand(inst, 0), dest);
        return;
    }
    if (emit_lapack(g, scope, inst, dest)) return;
    gen_fail(g, HLO_UNIMPLEMENTED, "%%%s = custom-call(...): no implementation of \"%s\" for cpu", inst->name, target);
}
