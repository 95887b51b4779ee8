// Index maps: where one element of a broadcast, slice, gather … comes from. Meaning: interpreter chapter, §3.7 and
// §3.8.

#include "lib/cpu/llvm/emit.h"

static LLVMValueRef *new_dims(Gen *g, const HloShape *shape) {
    return HLO_NEW_ARRAY(g->arena, LLVMValueRef, shape->rank + 1);  // never NULL, not even for scalars
}

static Value map_to_operand(Gen *g, Scope *scope, const HloInstruction *inst, LLVMValueRef *dims) {
    const HloInstruction *operand = hlo_operand(inst, 0);
    return element(g, scope, operand, index_new(g, operand->shape, dims));
}

static Value broadcast(Gen *g, Scope *scope, const HloInstruction *inst, const Index *index) {
    const HloShape *from = hlo_operand(inst, 0)->shape;
    HloDims map = hlo_dims(inst, HLO_ATTR_DIMENSIONS);
    LLVMValueRef *dims = new_dims(g, from);
    for (size_t d = 0; d < from->rank; d++) dims[d] = index_dim(g, index, (size_t)map.data[d]);
    return map_to_operand(g, scope, inst, dims);
}

static Value transpose(Gen *g, Scope *scope, const HloInstruction *inst, const Index *index) {
    HloDims map = hlo_dims(inst, HLO_ATTR_DIMENSIONS);
    LLVMValueRef *dims = new_dims(g, inst->shape);
    for (size_t d = 0; d < inst->shape->rank; d++) dims[map.data[d]] = index_dim(g, index, d);
    return map_to_operand(g, scope, inst, dims);
}

static Value slice(Gen *g, Scope *scope, const HloInstruction *inst, const Index *index) {
    const HloSlice *slice = hlo_data(inst, HLO_ATTR_SLICE);
    LLVMValueRef *dims = new_dims(g, inst->shape);
    for (size_t d = 0; d < inst->shape->rank; d++) {
        LLVMValueRef step = build_scale(g, index_dim(g, index, d), slice->dims[d].stride);
        dims[d] = build_add(g, step, const_i64(g, slice->dims[d].start));
    }
    return map_to_operand(g, scope, inst, dims);
}

static Value reverse(Gen *g, Scope *scope, const HloInstruction *inst, const Index *index) {
    HloDims turned = hlo_dims(inst, HLO_ATTR_DIMENSIONS);
    LLVMValueRef *dims = new_dims(g, inst->shape);
    for (size_t d = 0; d < inst->shape->rank; d++) {
        dims[d] = index_dim(g, index, d);
        if (hlo_dims_has(turned, (int64_t)d)) dims[d] = build_sub(g, const_i64(g, inst->shape->dims[d] - 1), dims[d]);
    }
    return map_to_operand(g, scope, inst, dims);
}

static Value iota(Gen *g, const HloInstruction *inst, const Index *index) {
    LLVMValueRef at = index_dim(g, index, (size_t)hlo_int(inst, HLO_ATTR_IOTA_DIMENSION));
    return convert(g, inst, HLO_S64, inst->shape->type, (Value){at, NULL});
}

LLVMValueRef index_value(Gen *g, Value value, HloType type) {
    return convert(g, NULL, type, HLO_S64, value).v;
}

LLVMValueRef *clamped_starts(Gen *g, Scope *scope, const HloInstruction *inst, size_t first, const HloShape *shape,
                             const int64_t *sizes) {
    LLVMValueRef *starts = new_dims(g, shape);
    bool is_vector = hlo_operand_count(inst) == first + 1 && hlo_operand(inst, first)->shape->rank == 1;
    for (size_t d = 0; d < shape->rank; d++) {
        const HloInstruction *operand = hlo_operand(inst, is_vector ? first : first + d);
        Value value;
        if (is_vector) {
            LLVMValueRef *dims = HLO_NEW_ARRAY(g->arena, LLVMValueRef, 1);
            dims[0] = const_i64(g, (int64_t)d);
            value = element(g, scope, operand, index_new(g, operand->shape, dims));
        } else {
            value = element_scalar(g, scope, operand);
        }
        if (gen_failed(g)) return starts;
        starts[d] = build_clamp_index(g, index_value(g, value, operand->shape->type), shape->dims[d] - sizes[d]);
    }
    return starts;
}

static Value dynamic_slice(Gen *g, Scope *scope, const HloInstruction *inst, const Index *index) {
    const HloShape *from = hlo_operand(inst, 0)->shape;
    LLVMValueRef *dims = clamped_starts(g, scope, inst, 1, from, inst->shape->dims);
    if (gen_failed(g)) return value_undef(g, inst->shape->type);
    for (size_t d = 0; d < from->rank; d++) dims[d] = build_add(g, dims[d], index_dim(g, index, d));
    return map_to_operand(g, scope, inst, dims);
}

// ---- values chosen by a branch --------------------------------------------------------------------------

static Value join_values(Gen *g, Value a, LLVMBasicBlockRef from_a, Value b, LLVMBasicBlockRef from_b) {
    LLVMValueRef v = branch_join(g, a.v, from_a, b.v, from_b);
    return (Value){v, a.im ? branch_join(g, a.im, from_a, b.im, from_b) : NULL};
}

// low + i·(interior + 1) = index, or the padding value.
static Value pad(Gen *g, Scope *scope, const HloInstruction *inst, const Index *index) {
    const HloPadding *padding = hlo_data(inst, HLO_ATTR_PADDING);
    const HloInstruction *operand = hlo_operand(inst, 0);
    LLVMValueRef *dims = new_dims(g, operand->shape), inside = LLVMConstInt(g->i1, 1, false);
    for (size_t d = 0; d < inst->shape->rank; d++) {
        const HloPaddingDim *p = &padding->dims[d];
        LLVMValueRef at = build_sub(g, index_dim(g, index, d), const_i64(g, p->low));
        if (p->interior) {
            LLVMValueRef step = const_i64(g, p->interior + 1);
            LLVMValueRef rest = LLVMBuildSRem(g->b, at, step, "");
            inside = LLVMBuildAnd(g->b, inside, build_icmp(g, LLVMIntEQ, rest, const_i64(g, 0)), "");
            at = LLVMBuildSDiv(g->b, at, step, "");
        }
        if (p->low || p->high || p->interior) {
            inside = LLVMBuildAnd(g->b, inside, build_in_range(g, at, operand->shape->dims[d]), "");
        }
        dims[d] = at;
    }
    HloType type = inst->shape->type, fill_type = hlo_operand(inst, 1)->shape->type;
    Value fill = convert(g, inst, fill_type, type, element_scalar(g, scope, hlo_operand(inst, 1)));
    if (LLVMIsAConstantInt(inside) && LLVMConstIntGetZExtValue(inside)) return map_to_operand(g, scope, inst, dims);
    LLVMBasicBlockRef start;
    Branch branch = branch_open(g, inside);
    Value value = convert(g, inst, operand->shape->type, type, map_to_operand(g, scope, inst, dims));
    branch_else(g, &branch);
    start = LLVMGetInsertBlock(g->b);
    branch_close(g, &branch);
    return gen_failed(g) ? value_undef(g, type) : join_values(g, value, branch.from_then, fill, start);
}

// The operands are tried in order; each test opens a branch inside the one before.
static Value concatenate(Gen *g, Scope *scope, const HloInstruction *inst, const Index *index) {
    size_t axis = (size_t)hlo_int(inst, HLO_ATTR_DIMENSION), count = hlo_operand_count(inst);
    LLVMValueRef at = index_dim(g, index, axis);
    Branch *branches = HLO_NEW_ARRAY(g->arena, Branch, count);
    Value *values = HLO_NEW_ARRAY(g->arena, Value, count);
    int64_t offset = 0;
    for (size_t k = 0; k < count; k++) {
        const HloInstruction *operand = hlo_operand(inst, k);
        int64_t end = offset + operand->shape->dims[axis];
        if (k + 1 < count) branches[k] = branch_open(g, build_icmp(g, LLVMIntSLT, at, const_i64(g, end)));
        LLVMValueRef *dims = new_dims(g, inst->shape);
        for (size_t d = 0; d < inst->shape->rank; d++) dims[d] = index_dim(g, index, d);
        dims[axis] = build_sub(g, at, const_i64(g, offset));
        values[k] = element(g, scope, operand, index_new(g, operand->shape, dims));
        if (k + 1 < count) branch_else(g, &branches[k]);
        offset = end;
    }
    Value value = values[count - 1];
    for (size_t k = count - 1; k-- > 0;) {
        LLVMBasicBlockRef from = LLVMGetInsertBlock(g->b);
        branch_close(g, &branches[k]);
        if (!gen_failed(g)) value = join_values(g, values[k], branches[k].from_then, value, from);
    }
    return value;
}

// ---- gather ---------------------------------------------------------------------------------------------

typedef struct GatherDims {
    HloDims offset, collapsed, map, operand_batch, start_batch, sizes;
    size_t index_vector_dim;
} GatherDims;

static GatherDims gather_dims(const HloInstruction *inst) {
    return (GatherDims){
        .offset = hlo_dims(inst, HLO_ATTR_OFFSET_DIMS),
        .collapsed = hlo_dims(inst, HLO_ATTR_COLLAPSED_SLICE_DIMS),
        .map = hlo_dims(inst, HLO_ATTR_START_INDEX_MAP),
        .operand_batch = hlo_dims(inst, HLO_ATTR_OPERAND_BATCHING_DIMS),
        .start_batch = hlo_dims(inst, HLO_ATTR_START_INDICES_BATCHING_DIMS),
        .sizes = hlo_dims(inst, HLO_ATTR_SLICE_SIZES),
        .index_vector_dim = (size_t)hlo_int(inst, HLO_ATTR_INDEX_VECTOR_DIM),
    };
}

// The index into start_indices for the batch part of `index`, without its component dimension filled in.
static LLVMValueRef *start_index(Gen *g, const GatherDims *dims, const HloShape *starts, const Index *index) {
    LLVMValueRef *at = new_dims(g, starts);
    size_t next = 0;
    for (size_t d = 0; d < index->shape->rank; d++) {
        if (hlo_dims_has(dims->offset, (int64_t)d)) continue;
        if (next == dims->index_vector_dim) next++;
        if (next < starts->rank) at[next++] = index_dim(g, index, d);
    }
    return at;
}

static LLVMValueRef start_component(Gen *g, Scope *scope, const HloInstruction *starts, const GatherDims *dims,
                                    LLVMValueRef *at, size_t k) {
    LLVMValueRef *copy = new_dims(g, starts->shape);
    memcpy(copy, at, starts->shape->rank * sizeof *copy);
    if (dims->index_vector_dim < starts->shape->rank) copy[dims->index_vector_dim] = const_i64(g, (int64_t)k);
    Value value = element(g, scope, starts, index_new(g, starts->shape, copy));
    return gen_failed(g) ? const_i64(g, 0) : index_value(g, value, starts->shape->type);
}

static Value gather(Gen *g, Scope *scope, const HloInstruction *inst, const Index *index) {
    const HloInstruction *operand = hlo_operand(inst, 0), *starts = hlo_operand(inst, 1);
    GatherDims dims = gather_dims(inst);
    if (hlo_shape_is_empty(operand->shape)) return value_zero(g, inst->shape->type);
    LLVMValueRef *at = start_index(g, &dims, starts->shape, index);
    LLVMValueRef *from = new_dims(g, operand->shape);
    size_t window = 0;
    for (size_t d = 0; d < operand->shape->rank; d++) {
        int64_t component = hlo_dims_find(dims.map, (int64_t)d), batch = hlo_dims_find(dims.operand_batch, (int64_t)d);
        from[d] = const_i64(g, 0);
        if (batch >= 0) from[d] = at[dims.start_batch.data[batch]];
        if (component >= 0) {
            LLVMValueRef start = start_component(g, scope, starts, &dims, at, (size_t)component);
            from[d] = build_clamp_index(g, start, operand->shape->dims[d] - dims.sizes.data[d]);
        }
        if (batch >= 0 || hlo_dims_has(dims.collapsed, (int64_t)d)) continue;
        from[d] = build_add(g, from[d], index_dim(g, index, (size_t)dims.offset.data[window++]));
    }
    return map_to_operand(g, scope, inst, from);
}

// ---- other element-by-element operations ----------------------------------------------------------------

// The bytes in memory order, as a private global.
static LLVMValueRef literal_global(Gen *g, const HloLiteral *literal, const HloShape *shape) {
    void **slot = hlo_map_at(g->arena, &g->globals, literal);
    if (*slot) return *slot;
    size_t size = (size_t)hlo_shape_size_bytes(shape);
    char *bytes = HLO_NEW_ARRAY(g->arena, char, size);
    HloStatus status = hlo_literal_materialize(g->arena, literal, &literal);
    if (!hlo_is_ok(status)) {
        gen_fail(g, HLO_RESOURCE_EXHAUSTED, "%s", hlo_status_message(status));
        hlo_status_free(status);
        return LLVMGetUndef(g->ptr);
    }
    literal_lay_out(literal, shape, bytes);
    LLVMValueRef data = LLVMConstStringInContext2(g->cx, bytes, size, true);
    char *name = hlo_arena_printf(g->arena, "constant.%zu", g->globals.count);
    LLVMValueRef global = LLVMAddGlobal(g->mod, LLVMTypeOf(data), name);
    LLVMSetInitializer(global, data);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    LLVMSetAlignment(global, ALIGN_BYTES);
    *slot = global;
    return global;
}

static Value constant(Gen *g, const HloInstruction *inst, const Index *index) {
    const HloLiteral *literal = hlo_constant(inst);
    const HloShape *shape = inst->shape;
    if (hlo_literal_is_splat(literal)) return value_literal(g, literal, 0);
    LLVMValueRef global = literal_global(g, literal, shape);
    return load_at(g, shape, global, index_position(g, index, shape));
}

static Value map(Gen *g, Scope *scope, const HloInstruction *inst, const Index *index) {
    size_t count = hlo_operand_count(inst);
    Value *arguments = HLO_NEW_ARRAY(g->arena, Value, count), value = value_undef(g, inst->shape->type);
    for (size_t k = 0; k < count; k++) arguments[k] = element(g, scope, hlo_operand(inst, k), index);
    if (!gen_failed(g)) inline_computation(g, hlo_called(inst, 0), arguments, count, &value);
    return value;
}

// Widths differ: the last dimension of the wider side counts the parts, low bits first.
static Value bitcast_convert(Gen *g, Scope *scope, const HloInstruction *inst, const Index *index) {
    const HloInstruction *operand = hlo_operand(inst, 0);
    HloType from = operand->shape->type, to = inst->shape->type;
    int from_bits = hlo_type_bits(from), to_bits = hlo_type_bits(to);
    if (hlo_type_is_complex(from) || hlo_type_is_complex(to)) {
        gen_unimplemented(g, inst);
        return value_undef(g, to);
    }
    LLVMValueRef *dims = HLO_NEW_ARRAY(g->arena, LLVMValueRef, operand->shape->rank);
    for (size_t d = 0; d < operand->shape->rank && d < inst->shape->rank; d++) dims[d] = index_dim(g, index, d);
    if (from_bits > to_bits) {
        LLVMTypeRef wide = LLVMIntTypeInContext(g->cx, (unsigned)from_bits);
        LLVMValueRef bits = value_to_bits(g, from, map_to_operand(g, scope, inst, dims));
        LLVMValueRef part = LLVMBuildIntCast2(g->b, index_dim(g, index, inst->shape->rank - 1), wide, false, "");
        LLVMValueRef shift = LLVMBuildMul(g->b, part, LLVMConstInt(wide, (unsigned)to_bits, false), "");
        LLVMTypeRef narrow = LLVMIntTypeInContext(g->cx, (unsigned)to_bits);
        return value_from_bits(g, to, LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, bits, shift, ""), narrow, ""));
    }
    LLVMTypeRef wide = LLVMIntTypeInContext(g->cx, (unsigned)to_bits);
    LLVMValueRef sum = LLVMConstNull(wide);
    for (int k = 0; k < to_bits / from_bits; k++) {
        LLVMValueRef *part = HLO_NEW_ARRAY(g->arena, LLVMValueRef, operand->shape->rank);
        memcpy(part, dims, operand->shape->rank * sizeof *part);
        part[operand->shape->rank - 1] = const_i64(g, k);
        LLVMValueRef bits = value_to_bits(g, from, map_to_operand(g, scope, inst, part));
        bits = LLVMBuildZExt(g->b, bits, wide, "");
        sum = LLVMBuildOr(g->b, sum, LLVMBuildShl(g->b, bits, LLVMConstInt(wide, (unsigned)(k * from_bits), false), ""),
                          "");
    }
    return value_from_bits(g, to, sum);
}

static Value bitcast(Gen *g, Scope *scope, const HloInstruction *inst, const Index *index) {
    const HloInstruction *operand = hlo_operand(inst, 0);
    HloType from = operand->shape->type, to = inst->shape->type;
    bool kept = from == to ||
                (hlo_type_bits(from) == hlo_type_bits(to) && !hlo_type_is_complex(from) && !hlo_type_is_complex(to));
    if (!kept) {
        gen_unimplemented(g, inst);
        return value_undef(g, to);
    }
    Value value = element(g, scope, operand, index_bitcast(g, index, inst->shape, operand->shape));
    if (from == to || gen_failed(g)) return value;
    return value_from_bits(g, to, value_to_bits(g, from, value));
}

Value move_element(Gen *g, Scope *scope, const HloInstruction *inst, const Index *index) {
    const HloInstruction *operand = hlo_operand_count(inst) ? hlo_operand(inst, 0) : NULL;
    switch (inst->op) {
    case HLO_OP_BROADCAST: return broadcast(g, scope, inst, index);
    case HLO_OP_TRANSPOSE: return transpose(g, scope, inst, index);
    case HLO_OP_SLICE: return slice(g, scope, inst, index);
    case HLO_OP_REVERSE: return reverse(g, scope, inst, index);
    case HLO_OP_IOTA: return iota(g, inst, index);
    case HLO_OP_DYNAMIC_SLICE: return dynamic_slice(g, scope, inst, index);
    case HLO_OP_PAD: return pad(g, scope, inst, index);
    case HLO_OP_CONCATENATE: return concatenate(g, scope, inst, index);
    case HLO_OP_GATHER: return gather(g, scope, inst, index);
    case HLO_OP_CONSTANT: return constant(g, inst, index);
    case HLO_OP_MAP: return map(g, scope, inst, index);
    case HLO_OP_BITCAST_CONVERT: return bitcast_convert(g, scope, inst, index);
    case HLO_OP_RESHAPE: return element(g, scope, operand, index_reshape(g, index, inst->shape, operand->shape));
    case HLO_OP_BITCAST: return bitcast(g, scope, inst, index);
    case HLO_OP_REPLICA_ID:
    case HLO_OP_PARTITION_ID: return value_zero(g, inst->shape->type);
    default: break;
    }
    gen_unimplemented(g, inst);
    return value_undef(g, hlo_shape_is_array(inst->shape) ? inst->shape->type : HLO_PRED);
}
