// Computations that run in sequence: the entry, called computations, loop bodies and conditions, branches.
//
// Each becomes `void NAME(ptr allocations, ptr scratch)`, which calls kernels in schedule order. Long sequences are cut
// into parts, because LLVM's passes take more than linear time on one long function. Where values lie is the buffer
// assignment's word: a loop's state and its body's result must have the same place (copy insertion sees to it), and
// this file checks that rather than believes it.

#include "lib/cpu/llvm/emit.h"

enum { PART_CALLS = 100 };  // instructions per function

typedef struct Sequence {
    const HloComputation *comp;
    LLVMValueRef fn;  // the part being built
    size_t calls;     // in it
    HloVec parts;     // LLVM functions
} Sequence;

static LLVMTypeRef sequence_type(Gen *g) {
    LLVMTypeRef params[2] = {g->ptr, g->ptr};
    return LLVMFunctionType(g->none, params, 2, false);
}

static void call_sequence(Gen *g, LLVMValueRef fn) {
    LLVMValueRef args[2] = {LLVMGetParam(g->fn, 0), LLVMGetParam(g->fn, 1)};
    LLVMBuildCall2(g->b, sequence_type(g), fn, args, 2, "");
}

static LLVMValueRef sequence_function(Gen *g, const char *name, bool internal) {
    LLVMValueRef fn = LLVMAddFunction(g->mod, name, sequence_type(g));
    if (internal) LLVMSetLinkage(fn, LLVMInternalLinkage);
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, g->nounwind);
    LLVMAttributeRef no_inline = LLVMCreateEnumAttribute(g->cx, LLVMGetEnumAttributeKindForName("noinline", 8), 0);
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, no_inline);
    return fn;
}

static void open_part(Gen *g, Sequence *s) {
    const char *name = hlo_arena_printf(g->arena, "%s.part%u", s->comp->name, s->parts.count);
    s->fn = g->fn = sequence_function(g, name, true);
    g->scratch = LLVMGetParam(g->fn, 1);
    s->calls = 0;
    hlo_vec_push(g->arena, &s->parts, s->fn);
    LLVMPositionBuilderAtEnd(g->b, LLVMAppendBasicBlockInContext(g->cx, g->fn, "entry"));
}

// ---- moving values between places -----------------------------------------------------------------------

static bool same_place(HloBufferSlice a, HloBufferSlice b) {
    return a.allocation == b.allocation && a.offset_bytes == b.offset_bytes;
}

// The value of `from` (at `prefix` inside its shape) becomes that of `to`: nothing to do when they share memory.
static void move_value(Gen *g, const HloInstruction *from, HloDims prefix, const HloInstruction *to) {
    Leaves leaves = shape_leaves(g, to->shape);
    LLVMValueRef allocations = LLVMGetParam(g->fn, 0);
    for (size_t k = 0; k < leaves.count && !gen_failed(g); k++) {
        const Leaf *leaf = &leaves.items[k];
        int64_t *path = HLO_NEW_ARRAY(g->arena, int64_t, prefix.count + leaf->path.count);
        if (prefix.count) memcpy(path, prefix.data, prefix.count * sizeof *path);
        if (leaf->path.count) memcpy(path + prefix.count, leaf->path.data, leaf->path.count * sizeof *path);
        Leaf source = {{path, prefix.count + leaf->path.count}, leaf->shape};
        HloBufferSlice a, b;
        if (!leaf_slice(g, from, &source, &a) || !leaf_slice(g, to, leaf, &b)) return;
        int64_t size = hlo_shape_size_bytes(leaf->shape);
        if (same_place(a, b) || size == 0) continue;
        LLVMValueRef to_address = slice_address(g, allocations, b), from_address = slice_address(g, allocations, a);
        LLVMBuildMemMove(g->b, to_address, 1, from_address, 1, const_i64(g, size));
    }
}

// Two values that must be one in memory.
static void expect_same_place(Gen *g, const HloInstruction *a, const HloInstruction *b) {
    Leaves leaves = shape_leaves(g, a->shape);
    for (size_t k = 0; k < leaves.count && !gen_failed(g); k++) {
        HloBufferSlice x, y;
        if (!leaf_slice(g, a, &leaves.items[k], &x) || !leaf_slice(g, b, &leaves.items[k], &y)) return;
        if (same_place(x, y) || hlo_shape_size_bytes(leaves.items[k].shape) == 0) continue;
        gen_fail(g, HLO_INTERNAL, "%%%s and %%%s must share their memory, but the buffer assignment puts them apart",
                 a->name, b->name);
    }
}

// ---- control flow ---------------------------------------------------------------------------------------

static LLVMValueRef callee_function(Gen *g, const HloInstruction *inst, size_t slot) {
    LLVMValueRef fn = hlo_map_find(&g->functions, hlo_called(inst, slot));
    if (!fn) gen_fail(g, HLO_INTERNAL, "computation %s is called before it is made", hlo_called(inst, slot)->name);
    return fn;
}

// Loads a scalar predicate or index.
static Value load_scalar(Gen *g, const HloInstruction *inst) {
    Leaf leaf = {{NULL, 0}, inst->shape};
    HloBufferSlice slice;
    if (!hlo_shape_is_scalar(inst->shape)) gen_fail(g, HLO_INVALID_ARGUMENT, "%%%s is not a scalar", inst->name);
    if (gen_failed(g) || !leaf_slice(g, inst, &leaf, &slice)) return (Value){LLVMConstNull(g->i1), NULL};
    LLVMValueRef address = slice_address(g, LLVMGetParam(g->fn, 0), slice);
    return load_at(g, inst->shape, address, const_i64(g, 0));
}

static LLVMBasicBlockRef new_block(Gen *g, const char *name) {
    return LLVMAppendBasicBlockInContext(g->cx, g->fn, name);
}

static void emit_while(Gen *g, const HloInstruction *inst) {
    const HloComputation *body = hlo_called(inst, 0), *condition = hlo_called(inst, 1);
    LLVMValueRef body_fn = callee_function(g, inst, 0), condition_fn = callee_function(g, inst, 1);
    if (gen_failed(g)) return;
    move_value(g, hlo_operand(inst, 0), (HloDims){NULL, 0}, inst);
    expect_same_place(g, inst, hlo_parameter(body, 0));
    expect_same_place(g, inst, hlo_parameter(condition, 0));
    expect_same_place(g, inst, body->root);
    if (gen_failed(g)) return;
    LLVMBasicBlockRef test = new_block(g, "while.test"), run = new_block(g, "while.body"),
                      exit = new_block(g, "while.exit");
    LLVMBuildBr(g->b, test);
    LLVMPositionBuilderAtEnd(g->b, test);
    call_sequence(g, condition_fn);
    LLVMBuildCondBr(g->b, load_scalar(g, condition->root).v, run, exit);
    LLVMPositionBuilderAtEnd(g->b, run);
    call_sequence(g, body_fn);
    LLVMBuildBr(g->b, test);
    LLVMPositionBuilderAtEnd(g->b, exit);
}

// pred: true is branch 0. s32: anything out of range is the last branch.
static void emit_conditional(Gen *g, const HloInstruction *inst) {
    const HloInstruction *selector = hlo_operand(inst, 0);
    size_t count = inst->called.count;
    if (count == 0 || hlo_operand_count(inst) != count + 1) {
        gen_fail(g, HLO_INVALID_ARGUMENT, "%%%s has branches without operands", inst->name);
        return;
    }
    LLVMValueRef number = load_scalar(g, selector).v;
    if (gen_failed(g)) return;
    LLVMBasicBlockRef join = new_block(g, "branch.join");
    LLVMBasicBlockRef *blocks = HLO_NEW_ARRAY(g->arena, LLVMBasicBlockRef, count);
    for (size_t k = 0; k < count; k++) blocks[k] = new_block(g, "branch");
    LLVMValueRef choose = LLVMBuildSwitch(g->b, number, blocks[count - 1], (unsigned)count);
    bool is_pred = selector->shape->type == HLO_PRED;
    for (size_t k = 0; k + 1 < count; k++) {
        LLVMAddCase(choose, LLVMConstInt(LLVMTypeOf(number), is_pred ? 1 : k, false), blocks[k]);
    }
    for (size_t k = 0; k < count && !gen_failed(g); k++) {
        const HloComputation *branch = hlo_called(inst, k);
        LLVMPositionBuilderAtEnd(g->b, blocks[k]);
        move_value(g, hlo_operand(inst, k + 1), (HloDims){NULL, 0}, hlo_parameter(branch, 0));
        LLVMValueRef fn = callee_function(g, inst, k);
        if (fn) call_sequence(g, fn);
        move_value(g, branch->root, (HloDims){NULL, 0}, inst);
        LLVMBuildBr(g->b, join);
    }
    LLVMPositionBuilderAtEnd(g->b, join);
}

static void emit_call(Gen *g, const HloInstruction *inst) {
    const HloComputation *callee = hlo_called(inst, 0);
    for (size_t k = 0; k < hlo_operand_count(inst) && !gen_failed(g); k++) {
        move_value(g, hlo_operand(inst, k), (HloDims){NULL, 0}, hlo_parameter(callee, k));
    }
    LLVMValueRef fn = callee_function(g, inst, 0);
    if (fn) call_sequence(g, fn);
    move_value(g, callee->root, (HloDims){NULL, 0}, inst);
}

// ---- one instruction ------------------------------------------------------------------------------------

static bool same_bytes(const HloInstruction *inst) {
    const HloShape *a = hlo_operand(inst, 0)->shape, *b = inst->shape;
    return hlo_shape_is_array(a) && hlo_shape_is_array(b) && hlo_shape_size_bytes(a) == hlo_shape_size_bytes(b);
}

// Bytes stay as they are; only the shape changes.
static void emit_bitcast(Gen *g, const HloInstruction *inst) {
    if (!same_bytes(inst)) {
        gen_unimplemented(g, inst);
        return;
    }
    Leaf from = {{NULL, 0}, hlo_operand(inst, 0)->shape}, to = {{NULL, 0}, inst->shape};
    HloBufferSlice a, b;
    if (!leaf_slice(g, hlo_operand(inst, 0), &from, &a) || !leaf_slice(g, inst, &to, &b) || same_place(a, b)) return;
    LLVMValueRef allocations = LLVMGetParam(g->fn, 0), size = const_i64(g, hlo_shape_size_bytes(inst->shape));
    LLVMBuildMemMove(g->b, slice_address(g, allocations, b), 1, slice_address(g, allocations, a), 1, size);
}

static bool is_single_device(Gen *g) {
    return g->m->replica_count * g->m->num_partitions <= 1;
}

static bool has_elements(Gen *g, const HloShape *shape) {
    Leaves leaves = shape_leaves(g, shape);
    for (size_t k = 0; k < leaves.count; k++) {
        if (hlo_shape_elem_count(leaves.items[k].shape)) return true;
    }
    return false;
}

// State that lives as long as the code: 128 bits, low half first; the result is its old value.
static void emit_rng_state(Gen *g, const HloInstruction *inst) {
    Leaf leaf = {{NULL, 0}, inst->shape};
    HloBufferSlice slice;
    if (inst->shape->type != HLO_U64 || hlo_shape_elem_count(inst->shape) != 2) gen_unimplemented(g, inst);
    if (gen_failed(g) || !leaf_slice(g, inst, &leaf, &slice)) return;
    LLVMTypeRef i128 = LLVMIntTypeInContext(g->cx, 128);
    LLVMValueRef state = LLVMAddGlobal(g->mod, i128, hlo_arena_printf(g->arena, "%s_state", inst->name));
    LLVMSetInitializer(state, LLVMConstInt(i128, 0x7012395, false));
    LLVMSetLinkage(state, LLVMInternalLinkage);
    LLVMValueRef old = LLVMBuildLoad2(g->b, i128, state, "");
    LLVMSetAlignment(LLVMBuildStore(g->b, old, slice_address(g, LLVMGetParam(g->fn, 0), slice)), 8);
    LLVMValueRef delta = LLVMConstInt(i128, (unsigned long long)hlo_int(inst, HLO_ATTR_DELTA), true);
    LLVMBuildStore(g->b, LLVMBuildAdd(g->b, old, delta, ""), state);
}

// Whether a collective among one participant gives it back what it has. A permute that sends it nothing gives zeros.
static bool keeps_its_value(const HloInstruction *inst) {
    if (hlo_operand_count(inst) != 1 || hlo_operand(inst, 0)->shape != inst->shape) return false;
    if (inst->op != HLO_OP_COLLECTIVE_PERMUTE) return true;
    const HloIntLists *pairs = hlo_data(inst, HLO_ATTR_SOURCE_TARGET_PAIRS);
    return pairs && pairs->count == 1;
}

static void emit_instruction(Gen *g, const HloInstruction *inst) {
    switch (inst->op) {
    case HLO_OP_PARAMETER:
    case HLO_OP_CONSTANT:
    case HLO_OP_TUPLE:
    case HLO_OP_GET_TUPLE_ELEMENT:
    case HLO_OP_AFTER_ALL: return;
    case HLO_OP_BITCAST: emit_bitcast(g, inst); return;
    case HLO_OP_OPT_BARRIER:
    case HLO_OP_ADD_DEPENDENCY:
    case HLO_OP_DOMAIN: move_value(g, hlo_operand(inst, 0), (HloDims){NULL, 0}, inst); return;
    case HLO_OP_WHILE: emit_while(g, inst); return;
    case HLO_OP_CONDITIONAL: emit_conditional(g, inst); return;
    case HLO_OP_CALL: emit_call(g, inst); return;
    case HLO_OP_RNG_GET_AND_UPDATE_STATE: emit_rng_state(g, inst); return;
    case HLO_OP_COPY:
        if (hlo_shape_is_tuple(inst->shape)) {
            move_value(g, hlo_operand(inst, 0), (HloDims){NULL, 0}, inst);
            return;
        }
        break;
    case HLO_OP_ALL_REDUCE:
    case HLO_OP_ALL_GATHER:
    case HLO_OP_ALL_TO_ALL:
    case HLO_OP_REDUCE_SCATTER:
    case HLO_OP_COLLECTIVE_PERMUTE:
        // One participant keeps what it has.
        if (is_single_device(g) && keeps_its_value(inst)) {
            move_value(g, hlo_operand(inst, 0), (HloDims){NULL, 0}, inst);
            return;
        }
        gen_unimplemented(g, inst);
        return;
    case HLO_OP_PARTITION_ID:
    case HLO_OP_REPLICA_ID:
        if (!is_single_device(g)) {
            gen_unimplemented(g, inst);
            return;
        }
        break;
    default: break;
    }
    if (has_elements(g, inst->shape)) {
        call_kernel(g, inst, LLVMGetParam(g->fn, 0), LLVMGetParam(g->fn, 1));
    } else if (hlo_has_own_side_effect(inst)) {
        gen_unimplemented(g, inst);  // nothing to compute is not nothing to do
    }
}

// ---- computations ---------------------------------------------------------------------------------------

static LLVMValueRef emit_computation(Gen *g, const HloComputation *comp, const char *name, bool internal) {
    Sequence s = {.comp = comp};
    open_part(g, &s);
    for (size_t k = 0; k < comp->sequence_count && !gen_failed(g); k++) {
        if (s.calls++ == PART_CALLS) {
            LLVMBuildRetVoid(g->b);
            open_part(g, &s);
        }
        emit_instruction(g, comp->sequence[k]);
    }
    LLVMBuildRetVoid(g->b);
    if (s.parts.count == 1 && internal) return s.fn;
    LLVMValueRef whole = g->fn = sequence_function(g, name, internal);
    LLVMPositionBuilderAtEnd(g->b, LLVMAppendBasicBlockInContext(g->cx, whole, "entry"));
    for (size_t k = 0; k < s.parts.count; k++) call_sequence(g, s.parts.items[k]);
    LLVMBuildRetVoid(g->b);
    return whole;
}

static bool runs_callees(const HloInstruction *inst) {
    return inst->op == HLO_OP_CALL || inst->op == HLO_OP_WHILE || inst->op == HLO_OP_CONDITIONAL;
}

// The computations that run in sequence, the entry included.
static HloMap sequenced_computations(Gen *g) {
    HloMap found = {0};
    HloVec work = {0};
    hlo_vec_push(g->arena, &work, g->m->entry);
    while (work.count) {
        const HloComputation *comp = hlo_vec_pop(&work);
        void **seen = hlo_map_at(g->arena, &found, comp);
        if (*seen) continue;
        *seen = (void *)comp;
        HLO_EACH_INST(inst, comp) {
            for (size_t k = 0; runs_callees(inst) && k < inst->called.count; k++) {
                hlo_vec_push(g->arena, &work, hlo_called(inst, k));
            }
        }
    }
    return found;
}

void emit_module(Gen *g) {
    HloMap sequenced = sequenced_computations(g);
    HloCompList order = hlo_module_post_order(g->m, g->arena);
    for (size_t k = 0; k < order.count && !gen_failed(g); k++) {
        const HloComputation *comp = order.items[k];
        if (!hlo_map_has(&sequenced, comp)) continue;
        if (!comp->sequence) {
            gen_fail(g, HLO_FAILED_PRECONDITION, "computation %s must be scheduled before code is made", comp->name);
            return;
        }
        bool is_entry = comp == g->m->entry;
        LLVMValueRef fn = emit_computation(g, comp, is_entry ? "hlo_entry" : comp->name, !is_entry);
        *hlo_map_at(g->arena, &g->functions, comp) = fn;
    }
}
