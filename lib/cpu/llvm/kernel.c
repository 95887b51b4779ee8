// Kernels: one LLVM function per instruction that does work, shared between instructions that differ only in where
// their buffers lie.
//
//   void NAME(ptr slice0, ptr slice1, …, ptr scratch)
//
// takes one address per distinct slice; an operand and a result in the same slice share it, so LLVM sees that they are
// the same memory, and the others are marked noalias where the assignment proves it.

#include "lib/cpu/llvm/emit.h"

typedef struct Kernel {
    const HloInstruction *inst;  // the one it was made for
    uint64_t hash;
    int64_t *slots;  // which parameter each leaf of operands, then of the result, is
    size_t slot_count;
    bool *noalias;  // per parameter
    size_t param_count;
    LLVMValueRef fn;
} Kernel;

// One use of an instruction's buffers.
typedef struct Call {
    int64_t *slots;
    const HloShape **shapes;          // of the leaves, parallel to slots
    size_t slot_count, result_start;  // slots from result_start on are written
    HloBufferSlice *slices;           // distinct ones
    bool *written, *noalias;
    size_t count;
} Call;

// ---- leaves and slices ----------------------------------------------------------------------------------

typedef struct PathItem {
    const HloShape *shape;
    HloDims path;
} PathItem;

Leaves shape_leaves(Gen *g, const HloShape *shape) {
    size_t limit = hlo_shape_leaf_count(shape), depth = 0, capacity = 16;
    Leaves leaves = {HLO_NEW_ARRAY(g->arena, Leaf, limit), 0};
    PathItem *stack = HLO_NEW_ARRAY(g->arena, PathItem, capacity);
    stack[depth++] = (PathItem){shape, {NULL, 0}};
    while (depth) {
        PathItem item = stack[--depth];
        if (hlo_shape_is_array(item.shape)) leaves.items[leaves.count++] = (Leaf){item.path, item.shape};
        if (!hlo_shape_is_tuple(item.shape)) continue;
        if (depth + item.shape->rank > capacity) {
            capacity = (depth + item.shape->rank) * 2;
            PathItem *grown = HLO_NEW_ARRAY(g->arena, PathItem, capacity);
            memcpy(grown, stack, depth * sizeof *grown);
            stack = grown;
        }
        for (size_t k = item.shape->rank; k-- > 0;) {
            int64_t *path = HLO_NEW_ARRAY(g->arena, int64_t, item.path.count + 1);
            if (item.path.count) memcpy(path, item.path.data, item.path.count * sizeof *path);
            path[item.path.count] = (int64_t)k;
            stack[depth++] = (PathItem){item.shape->elements[k], {path, item.path.count + 1}};
        }
    }
    return leaves;
}

bool leaf_slice(Gen *g, const HloInstruction *inst, const Leaf *leaf, HloBufferSlice *out) {
    if (hlo_shape_is_dynamic(leaf->shape)) {
        gen_fail(g, HLO_UNIMPLEMENTED, "%%%s: dynamic shapes are not lowered for cpu", inst->name);
        return false;
    }
    if (leaf->shape->layout && leaf->shape->layout->tile_count) {
        gen_fail(g, HLO_UNIMPLEMENTED, "%%%s: tiled layouts are not lowered for cpu", inst->name);
        return false;
    }
    if (!hlo_buffer_slice(g->buffers, inst, leaf->path, out)) {
        gen_fail(g, HLO_INTERNAL, "the buffer assignment has no place for %%%s", inst->name);
        return false;
    }
    const HloAllocation *allocation = NULL;
    if (out->allocation >= 0 && (size_t)out->allocation < hlo_allocation_count(g->buffers)) {
        allocation = hlo_allocation(g->buffers, (size_t)out->allocation);
    }
    int64_t size = hlo_shape_size_bytes(leaf->shape);
    bool fits = allocation && out->offset_bytes >= 0 && size <= out->size_bytes &&
                out->size_bytes <= allocation->size_bytes - out->offset_bytes;
    if (!fits) gen_fail(g, HLO_INTERNAL, "the buffer assigned to %%%s is too small for it", inst->name);
    return fits;
}

LLVMValueRef slice_address(Gen *g, LLVMValueRef allocations, HloBufferSlice slice) {
    LLVMValueRef number = const_i64(g, slice.allocation), offset = const_i64(g, slice.offset_bytes);
    LLVMValueRef entry = LLVMBuildInBoundsGEP2(g->b, g->ptr, allocations, &number, 1, "");
    LLVMValueRef base = LLVMBuildLoad2(g->b, g->ptr, entry, "");
    return slice.offset_bytes ? LLVMBuildInBoundsGEP2(g->b, g->i8, base, &offset, 1, "") : base;
}

static bool same_slice(HloBufferSlice a, HloBufferSlice b) {
    return a.allocation == b.allocation && a.offset_bytes == b.offset_bytes;
}

static bool overlap(HloBufferSlice a, HloBufferSlice b) {
    return a.allocation == b.allocation && a.offset_bytes < b.offset_bytes + b.size_bytes &&
           b.offset_bytes < a.offset_bytes + a.size_bytes;
}

static void add_leaves(Gen *g, Call *call, const HloInstruction *inst, bool written) {
    Leaves leaves = shape_leaves(g, inst->shape);
    for (size_t k = 0; k < leaves.count; k++) {
        HloBufferSlice slice;
        if (!leaf_slice(g, inst, &leaves.items[k], &slice)) return;
        size_t at = 0;
        while (at < call->count && !same_slice(call->slices[at], slice)) at++;
        if (at == call->count) call->slices[call->count++] = slice;
        if (slice.size_bytes > call->slices[at].size_bytes) call->slices[at].size_bytes = slice.size_bytes;
        call->written[at] = call->written[at] || written;
        call->shapes[call->slot_count] = leaves.items[k].shape;
        call->slots[call->slot_count++] = (int64_t)at;
    }
}

static Call describe_call(Gen *g, const HloInstruction *inst) {
    size_t limit = hlo_shape_leaf_count(inst->shape);
    for (size_t k = 0; k < hlo_operand_count(inst); k++) limit += hlo_shape_leaf_count(hlo_operand(inst, k)->shape);
    Call call = {
        .slots = HLO_NEW_ARRAY(g->arena, int64_t, limit),
        .shapes = HLO_NEW_ARRAY(g->arena, const HloShape *, limit),
        .slices = HLO_NEW_ARRAY(g->arena, HloBufferSlice, limit),
        .written = HLO_NEW_ARRAY(g->arena, bool, limit),
        .noalias = HLO_NEW_ARRAY(g->arena, bool, limit),
    };
    for (size_t k = 0; k < hlo_operand_count(inst); k++) add_leaves(g, &call, hlo_operand(inst, k), false);
    call.result_start = call.slot_count;
    add_leaves(g, &call, inst, true);
    for (size_t a = 0; a < call.count; a++) {
        call.noalias[a] = true;
        for (size_t b = 0; b < call.count; b++) {
            if (a == b || !(call.written[a] || call.written[b])) continue;
            if (overlap(call.slices[a], call.slices[b])) call.noalias[a] = false;
        }
    }
    return call;
}

// ---- equal kernels --------------------------------------------------------------------------------------

static uint64_t computation_hash(const HloComputation *comp) {
    uint64_t hash = comp->count;
    HLO_EACH_INST(inst, comp) {
        hash = hlo_hash_combine(hash, inst->op);
        hash = hlo_hash_combine(hash, (uint64_t)(uintptr_t)inst->shape);
    }
    return hash;
}

static uint64_t call_hash(const HloInstruction *inst, const Call *call) {
    uint64_t hash = hlo_hash_combine(inst->op, (uint64_t)(uintptr_t)inst->shape);
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        hash = hlo_hash_combine(hash, (uint64_t)(uintptr_t)hlo_operand(inst, k)->shape);
    }
    for (size_t k = 0; k < inst->called.count; k++)
        hash = hlo_hash_combine(hash, computation_hash(hlo_called(inst, k)));
    for (size_t k = 0; k < call->slot_count; k++) hash = hlo_hash_combine(hash, (uint64_t)call->slots[k]);
    return hash;
}

// Attributes that change what is computed; sharding, metadata and the like do not.
static size_t own_attributes(const HloInstruction *inst, const HloAttr **out) {
    size_t count = 0;
    for (size_t k = 0; k < inst->attr_count; k++) {
        HloAttrId id = inst->attrs[k].id;
        bool config = id == HLO_ATTR_BACKEND_CONFIG && inst->op == HLO_OP_CUSTOM_CALL;
        if (config || hlo_attr_info(id)->scope == HLO_SCOPE_OWN) out[count++] = &inst->attrs[k];
    }
    return count;
}

static bool same_attributes(Gen *g, const HloInstruction *a, const HloInstruction *b) {
    const HloAttr **x = HLO_NEW_ARRAY(g->arena, const HloAttr *, a->attr_count);
    const HloAttr **y = HLO_NEW_ARRAY(g->arena, const HloAttr *, b->attr_count);
    size_t count = own_attributes(a, x);
    if (own_attributes(b, y) != count) return false;
    for (size_t k = 0; k < count; k++) {
        if (!hlo_attr_equal(*x[k], *y[k])) return false;
    }
    return true;
}

static bool same_work(Gen *g, const HloInstruction *a, const HloInstruction *b) {
    if (a->op != b->op || a->shape != b->shape || hlo_operand_count(a) != hlo_operand_count(b)) return false;
    if (a->op == HLO_OP_RNG_GET_AND_UPDATE_STATE || a->called.count != b->called.count) return false;
    for (size_t k = 0; k < hlo_operand_count(a); k++) {
        if (hlo_operand(a, k)->shape != hlo_operand(b, k)->shape) return false;
        // Equal operands of one and different ones of the other would give different scopes.
        for (size_t j = 0; j < k; j++) {
            if ((hlo_operand(a, k) == hlo_operand(a, j)) != (hlo_operand(b, k) == hlo_operand(b, j))) return false;
        }
    }
    if (!same_attributes(g, a, b)) return false;
    for (size_t k = 0; k < a->called.count; k++) {
        const HloComputation *x = hlo_called(a, k), *y = hlo_called(b, k);
        if (x != y && !hlo_computation_equal(x, y, true)) return false;
    }
    return true;
}

static Kernel *find_kernel(Gen *g, const HloInstruction *inst, const Call *call, uint64_t hash) {
    for (size_t k = 0; k < g->kernels.count; k++) {
        Kernel *kernel = g->kernels.items[k];
        if (kernel->hash != hash || kernel->slot_count != call->slot_count) continue;
        if (memcmp(kernel->slots, call->slots, call->slot_count * sizeof *call->slots) != 0) continue;
        if (memcmp(kernel->noalias, call->noalias, call->count * sizeof *call->noalias) != 0) continue;
        if (same_work(g, kernel->inst, inst)) return kernel;
    }
    return NULL;
}

// ---- making one -----------------------------------------------------------------------------------------

// The place of a whole value whose array leaves, in pre-order, are at *bases, which is moved behind them.
static Place *parameter_place(Gen *g, const HloShape *shape, LLVMValueRef **bases) {
    Place *root = place_new(g, shape, NULL);
    HloVec stack = {0};
    hlo_vec_push(g->arena, &stack, root);
    while (stack.count) {
        Place *place = hlo_vec_pop(&stack);
        if (hlo_shape_is_array(place->shape)) place->base = *(*bases)++;
        if (!hlo_shape_is_tuple(place->shape)) continue;
        place->elements = HLO_NEW_ARRAY(g->arena, Place *, place->shape->rank);
        for (size_t k = place->shape->rank; k-- > 0;) {
            place->elements[k] = place_new(g, place->shape->elements[k], NULL);
            hlo_vec_push(g->arena, &stack, place->elements[k]);
        }
    }
    return root;
}

static LLVMValueRef kernel_function(Gen *g, const HloInstruction *inst, const Call *call) {
    LLVMTypeRef *types = HLO_NEW_ARRAY(g->arena, LLVMTypeRef, call->count + 1);
    for (size_t k = 0; k <= call->count; k++) types[k] = g->ptr;
    LLVMTypeRef type = LLVMFunctionType(g->none, types, (unsigned)call->count + 1, false);
    LLVMValueRef fn = LLVMAddFunction(g->mod, hlo_arena_printf(g->arena, "%s_kernel", inst->name), type);
    LLVMSetLinkage(fn, LLVMInternalLinkage);
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, g->nounwind);
    LLVMAttributeRef width = LLVMCreateStringAttribute(g->cx, "prefer-vector-width", 19, "256", 3);
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, width);
    LLVMAttributeRef no_inline = LLVMCreateEnumAttribute(g->cx, LLVMGetEnumAttributeKindForName("noinline", 8), 0);
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, no_inline);
    for (size_t k = 0; k <= call->count; k++) {
        if (k == call->count || call->noalias[k]) LLVMAddAttributeAtIndex(fn, (LLVMAttributeIndex)k + 1, g->noalias);
    }
    return fn;
}

// Everything element() and scratch_take keep per function.
static void start_function(Gen *g, LLVMValueRef fn) {
    g->fn = fn;
    g->scratch = LLVMGetLastParam(fn);
    g->scratch_at = 0;
    g->memo_count = 0;
    g->memo_heads = (HloMap){0};
    g->depth = 0;
    g->reassoc = false;
    LLVMPositionBuilderAtEnd(g->b, LLVMAppendBasicBlockInContext(g->cx, fn, "entry"));
}

static bool is_row_major(const HloShape *shape) {
    return !shape->layout || hlo_layout_is_default(shape->layout);
}

// Whether a result in an operand's place can be written element by element: the same elements lie at the same
// positions in both.
static bool lie_alike(const HloShape *a, const HloShape *b) {
    if (shape_same_memory(a, b)) return true;
    return is_row_major(a) && is_row_major(b) && hlo_shape_elem_count(a) == hlo_shape_elem_count(b);
}

// The addresses of all leaves. An operand that shares a result's place but has its elements in another order is set
// aside first, because the result would overwrite elements that are still to be read.
static LLVMValueRef *leaf_addresses(Gen *g, const Call *call) {
    LLVMValueRef *bases = HLO_NEW_ARRAY(g->arena, LLVMValueRef, call->slot_count);
    for (size_t k = 0; k < call->slot_count; k++) {
        bases[k] = LLVMGetParam(g->fn, (unsigned)call->slots[k]);
        bool aside = false;
        for (size_t j = call->result_start; j < call->slot_count && k < call->result_start; j++) {
            if (call->slots[j] != call->slots[k]) continue;
            g->in_place = true;
            aside = aside || !lie_alike(call->shapes[j], call->shapes[k]);
        }
        if (!aside) continue;
        Place *copy = place_scratch(g, call->shapes[k]);
        emit_copy(g, place_new(g, call->shapes[k], bases[k]), copy);
        bases[k] = copy->base;
    }
    return bases;
}

static void fill_kernel(Gen *g, const HloInstruction *inst, const Call *call, LLVMValueRef fn) {
    start_function(g, fn);
    g->in_place = false;
    Scope *scope = scope_new(g, NULL, NULL);
    LLVMValueRef *bases = leaf_addresses(g, call);
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        Place *place = parameter_place(g, hlo_operand(inst, k)->shape, &bases);
        *hlo_map_at(g->arena, &scope->places, hlo_operand(inst, k)) = place;
    }
    Place *dest = parameter_place(g, inst->shape, &bases);
    if (!gen_failed(g)) plan_kernel(g, scope, inst);
    if (!gen_failed(g)) emit_into(g, scope, inst, dest);
    LLVMBuildRetVoid(g->b);
}

static Kernel *make_kernel(Gen *g, const HloInstruction *inst, const Call *call, uint64_t hash) {
    Kernel *kernel = HLO_NEW(g->arena, Kernel);
    *kernel = (Kernel){inst, hash, call->slots, call->slot_count, call->noalias, call->count, NULL};
    LLVMBasicBlockRef back = LLVMGetInsertBlock(g->b);
    LLVMValueRef fn = g->fn, scratch = g->scratch;
    kernel->fn = kernel_function(g, inst, call);
    fill_kernel(g, inst, call, kernel->fn);
    LLVMPositionBuilderAtEnd(g->b, back);
    g->fn = fn;
    g->scratch = scratch;
    hlo_vec_push(g->arena, &g->kernels, kernel);
    return kernel;
}

void call_kernel(Gen *g, const HloInstruction *inst, LLVMValueRef allocations, LLVMValueRef scratch) {
    Call call = describe_call(g, inst);
    if (gen_failed(g)) return;
    uint64_t hash = call_hash(inst, &call);
    Kernel *kernel = find_kernel(g, inst, &call, hash);
    if (!kernel) kernel = make_kernel(g, inst, &call, hash);
    if (gen_failed(g)) return;
    LLVMValueRef *args = HLO_NEW_ARRAY(g->arena, LLVMValueRef, call.count + 1);
    for (size_t k = 0; k < call.count; k++) args[k] = slice_address(g, allocations, call.slices[k]);
    args[call.count] = scratch;
    LLVMTypeRef type = LLVMGlobalGetValueType(kernel->fn);
    LLVMBuildCall2(g->b, type, kernel->fn, args, (unsigned)call.count + 1, "");
}
