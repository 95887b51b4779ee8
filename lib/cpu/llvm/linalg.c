// Linear algebra by the runtime: the custom calls that JAX makes to LAPACK (factorizations, solves, eigenvalues,
// singular values of real matrices), and the opcodes cholesky and triangular-solve.
//
// LAPACK's routines replace their matrix by the result, so the operand is first brought to the result's place.

#include "lib/cpu/llvm/emit.h"
#include "lib/cpu/llvm/runtime.h"
#include "lib/numerics/lapack.h"

typedef struct Call {
    Gen *g;
    Scope *scope;
    const HloInstruction *inst;
    Place *dest;
} Call;

// ---- matrices -------------------------------------------------------------------------------------------

static Place *result(const Call *c, size_t k) {
    return c->dest->elements ? c->dest->elements[k] : c->dest;
}

// Batches most major, then columns, then rows.
static bool is_column_major(const HloShape *shape) {
    if (shape->rank < 2) return false;
    int64_t rank = (int64_t)shape->rank;
    if (shape_minor(shape, 0) != rank - 2 || shape_minor(shape, 1) != rank - 1) return false;
    for (size_t k = 2; k < shape->rank; k++) {
        if (shape_minor(shape, k) != rank - 1 - (int64_t)k) return false;
    }
    return true;
}

static const HloShape *column_major(Gen *g, const HloShape *shape) {
    size_t rank = shape->rank;
    int64_t *order = HLO_NEW_ARRAY(g->arena, int64_t, rank);
    for (size_t k = 0; k < rank; k++) order[k] = (int64_t)(rank - 1 - k);
    order[0] = (int64_t)rank - 2;
    order[1] = (int64_t)rank - 1;
    HloLayout *layout = HLO_NEW(g->arena, HloLayout);
    *layout = (HloLayout){.minor_to_major = order, .rank = rank, .tail_alignment = 1};
    HloShape *turned = HLO_NEW(g->arena, HloShape);
    *turned = *shape;
    turned->layout = layout;
    return turned;
}

// The operand in column-major scratch memory.
static Place *matrix_copy(const Call *c, size_t k) {
    const HloInstruction *operand = hlo_operand(c->inst, k);
    Place *from = operand_place(c->g, c->scope, operand);
    Place *copy = place_scratch(c->g, column_major(c->g, operand->shape));
    if (!gen_failed(c->g)) emit_copy(c->g, from, copy);
    return copy;
}

static void call(const Call *c, const char *name, const int64_t *d, size_t d_count, LLVMValueRef *args,
                 unsigned count) {
    LLVMValueRef all[8] = {gen_numbers(c->g, d, d_count)};
    for (unsigned k = 0; k < count; k++) all[k + 1] = args[k];
    all[count + 1] = scratch_take(c->g, runtime_linalg_scratch(d));
    if (!gen_failed(c->g)) call_runtime(c->g, name, all, count + 2);
}

// ---- custom calls ---------------------------------------------------------------------------------------

// Matrices among the results must lie as LAPACK leaves them.
static bool are_column_major(const Call *c, size_t rank) {
    size_t count = c->dest->elements ? c->dest->shape->rank : 1;
    for (size_t k = 0; k < count; k++) {
        const HloShape *shape = result(c, k)->shape;
        if (shape->type != HLO_S32 && shape->rank == rank && !is_column_major(shape)) return false;
    }
    return true;
}

static LLVMValueRef other_operand(const Call *c, const HloLapack *lapack) {
    size_t k = (size_t)lapack->other;
    if (lapack->other_is_first) return matrix_copy(c, k)->base;
    return operand_place(c->g, c->scope, hlo_operand(c->inst, k))->base;
}

bool emit_lapack(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    HloLapack lapack;
    Call c = {g, scope, inst, dest};
    if (!hlo_lapack_find(inst, &lapack) || !are_column_major(&c, hlo_operand(inst, 0)->shape->rank)) return false;
    LLVMValueRef args[8];
    unsigned count = 0;
    LLVMValueRef other = lapack.other < 0 ? NULL : other_operand(&c, &lapack);
    emit_into(g, scope, hlo_operand(inst, lapack.data), result(&c, 0));
    if (other && lapack.other_is_first) args[count++] = other;
    for (size_t k = 0; k < (dest->elements ? dest->shape->rank : 1); k++) args[count++] = result(&c, k)->base;
    if (other && !lapack.other_is_first) args[count++] = other;
    if (!gen_failed(g)) call(&c, lapack.function, lapack.d, lapack.d_count, args, count);
    return true;
}

// ---- opcodes --------------------------------------------------------------------------------------------

void emit_cholesky(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    Call c = {g, scope, inst, dest};
    const HloShape *shape = hlo_operand(inst, 0)->shape;
    if (!hlo_is_real_matrix(shape) || !hlo_is_square_matrix(shape) || dest->shape->type != shape->type) {
        gen_unimplemented(g, inst);
        return;
    }
    if (hlo_shape_elem_count(shape) == 0) return;
    Place *work = matrix_copy(&c, 0);
    int64_t d[6] = {[4] = hlo_int(inst, HLO_ATTR_LOWER) != 0, 1};
    hlo_matrix_describe(shape, d);
    LLVMValueRef args[] = {work->base, LLVMConstNull(g->ptr)};
    call(&c, "hlo_rt_cholesky", d, 6, args, 2);
    if (!gen_failed(g)) emit_copy(g, work, dest);
}

void emit_triangular_solve(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    Call c = {g, scope, inst, dest};
    const HloShape *a = hlo_operand(inst, 0)->shape, *b = hlo_operand(inst, 1)->shape;
    bool left = hlo_int(inst, HLO_ATTR_LEFT_SIDE) != 0;
    bool same = hlo_is_real_matrix(a) && b->type == a->type && dest->shape->type == a->type && b->rank == a->rank;
    if (!same || !hlo_is_square_matrix(a) || b->dims[b->rank - (left ? 2 : 1)] != a->dims[a->rank - 1]) {
        gen_unimplemented(g, inst);
        return;
    }
    if (hlo_shape_elem_count(b) == 0) return;
    Place *triangle = matrix_copy(&c, 0), *work = matrix_copy(&c, 1);
    int64_t transpose = hlo_int(inst, HLO_ATTR_TRANSPOSE_A);
    int64_t d[8] = {[4] = left,
                    hlo_int(inst, HLO_ATTR_LOWER) != 0,
                    transpose == HLO_TRANSPOSE_TRANSPOSE || transpose == HLO_TRANSPOSE_ADJOINT,
                    hlo_int(inst, HLO_ATTR_UNIT_DIAGONAL) != 0};
    hlo_matrix_describe(b, d);
    LLVMValueRef args[] = {triangle->base, work->base};
    call(&c, "hlo_rt_triangular_solve", d, 8, args, 2);
    if (!gen_failed(g)) emit_copy(g, work, dest);
}
