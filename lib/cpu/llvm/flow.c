// Control flow inside kernels: counted loops with carried values, branches, and which element values stay known.
//
// Loops are built bottom-tested (every count is at least one), so LLVM need not rotate them. A loop of one iteration is
// no loop at all.

#include "lib/cpu/llvm/emit.h"

static LLVMBasicBlockRef new_block(Gen *g, const char *name) {
    return LLVMAppendBasicBlockInContext(g->cx, g->fn, name);
}

static void loop_open(Gen *g, Loop *loop, int64_t count, LLVMValueRef *carried, size_t carried_count) {
    loop->count = count;
    if (count == 1) {
        loop->at = const_i64(g, 0);
        return;
    }
    LLVMBasicBlockRef before = LLVMGetInsertBlock(g->b);
    loop->body = new_block(g, "loop");
    loop->exit = new_block(g, "exit");
    LLVMBuildBr(g->b, loop->body);
    LLVMPositionBuilderAtEnd(g->b, loop->body);
    loop->at = LLVMBuildPhi(g->b, g->i64, "");
    LLVMValueRef zero = const_i64(g, 0);
    LLVMAddIncoming(loop->at, &zero, &before, 1);
    loop->phis = HLO_NEW_ARRAY(g->arena, LLVMValueRef, carried_count);
    for (size_t k = 0; k < carried_count; k++) {
        loop->phis[k] = LLVMBuildPhi(g->b, LLVMTypeOf(carried[k]), "");
        LLVMAddIncoming(loop->phis[k], &carried[k], &before, 1);
        carried[k] = loop->phis[k];
    }
}

static void loop_close(Gen *g, Loop *loop, LLVMValueRef *carried, size_t carried_count) {
    if (loop->count == 1) return;
    LLVMBasicBlockRef from = LLVMGetInsertBlock(g->b);
    LLVMValueRef next = LLVMBuildAdd(g->b, loop->at, const_i64(g, 1), "");
    LLVMSetNUW(next, true);
    LLVMSetNSW(next, true);
    LLVMAddIncoming(loop->at, &next, &from, 1);
    for (size_t k = 0; k < carried_count; k++) LLVMAddIncoming(loop->phis[k], &carried[k], &from, 1);
    LLVMValueRef done = build_icmp(g, LLVMIntEQ, next, const_i64(g, loop->count));
    LLVMBuildCondBr(g->b, done, loop->exit, loop->body);
    LLVMMoveBasicBlockAfter(loop->exit, from);
    LLVMPositionBuilderAtEnd(g->b, loop->exit);
}

Nest *nest_open(Gen *g, const int64_t *counts, size_t depth, LLVMValueRef *carried, size_t carried_count) {
    Nest *nest = HLO_NEW(g->arena, Nest);
    nest->loops = HLO_NEW_ARRAY(g->arena, Loop, depth);
    nest->depth = depth;
    nest->carried_count = carried_count;
    nest->memo_mark = memo_mark(g);
    for (size_t k = 0; k < depth; k++) loop_open(g, &nest->loops[k], counts[k], carried, carried_count);
    return nest;
}

void nest_close(Gen *g, Nest *nest, LLVMValueRef *carried) {
    for (size_t k = nest->depth; k-- > 0;) loop_close(g, &nest->loops[k], carried, nest->carried_count);
    memo_forget(g, nest->memo_mark);
}

Nest *nest_over(Gen *g, const HloShape *shape, Index **index) {
    int64_t *counts = HLO_NEW_ARRAY(g->arena, int64_t, shape->rank);
    for (size_t k = 0; k < shape->rank; k++) counts[k] = shape->dims[shape_minor(shape, shape->rank - 1 - k)];
    Nest *nest = nest_open(g, counts, shape->rank, NULL, 0);
    LLVMValueRef *dims = HLO_NEW_ARRAY(g->arena, LLVMValueRef, shape->rank);
    for (size_t k = 0; k < shape->rank; k++) dims[shape_minor(shape, shape->rank - 1 - k)] = nest_at(nest, k);
    *index = index_new(g, shape, dims);
    return nest;
}

// ---- branches -------------------------------------------------------------------------------------------

Branch branch_open(Gen *g, LLVMValueRef condition) {
    LLVMBasicBlockRef then = new_block(g, "then");
    Branch branch = {.otherwise = new_block(g, "else"), .join = new_block(g, "join"), .memo_mark = memo_mark(g)};
    LLVMBuildCondBr(g->b, condition, then, branch.otherwise);
    LLVMPositionBuilderAtEnd(g->b, then);
    return branch;
}

void branch_else(Gen *g, Branch *branch) {
    branch->from_then = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, branch->join);
    LLVMPositionBuilderAtEnd(g->b, branch->otherwise);
    memo_forget(g, branch->memo_mark);
}

void branch_close(Gen *g, Branch *branch) {
    LLVMBuildBr(g->b, branch->join);
    LLVMPositionBuilderAtEnd(g->b, branch->join);
    memo_forget(g, branch->memo_mark);
}

LLVMValueRef branch_join(Gen *g, LLVMValueRef a, LLVMBasicBlockRef from_a, LLVMValueRef b, LLVMBasicBlockRef from_b) {
    LLVMValueRef phi = LLVMBuildPhi(g->b, LLVMTypeOf(a), "");
    LLVMAddIncoming(phi, &a, &from_a, 1);
    LLVMAddIncoming(phi, &b, &from_b, 1);
    return phi;
}

// ---- known element values -------------------------------------------------------------------------------

size_t memo_mark(const Gen *g) {
    return g->memo_count;
}

// Values made inside a loop or branch do not dominate what follows it.
void memo_forget(Gen *g, size_t mark) {
    while (g->memo_count > mark) {
        MemoEntry *entry = &g->memo[--g->memo_count];
        *hlo_map_at(g->arena, &g->memo_heads, entry->inst) = (void *)(uintptr_t)entry->previous;
    }
}
