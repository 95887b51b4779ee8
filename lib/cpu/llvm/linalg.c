// Linear algebra by the runtime: the custom calls that JAX makes to LAPACK (factorizations, solves, eigenvalues,
// singular values of real matrices), and the opcodes cholesky and triangular-solve.
//
// LAPACK's routines replace their matrix by the result, so the operand is first brought to the result's place.

#include "lib/cpu/llvm/emit.h"
#include "lib/cpu/llvm/runtime.h"

#include <stdlib.h>

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

static bool is_real(const HloShape *shape) {
    return shape->type == HLO_F32 || shape->type == HLO_F64;
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

// {is f64, batch, rows, columns}, as every routine of the runtime wants first.
static void describe(const HloShape *shape, int64_t *d) {
    d[0] = shape->type == HLO_F64;
    d[1] = 1;
    for (size_t k = 0; k + 2 < shape->rank; k++) d[1] *= shape->dims[k];
    d[2] = shape->dims[shape->rank - 2];
    d[3] = shape->dims[shape->rank - 1];
}

// The operand in column-major scratch memory.
static Place *matrix_copy(const Call *c, size_t k) {
    const HloInstruction *operand = hlo_operand(c->inst, k);
    Place *from = operand_place(c->g, c->scope, operand);
    Place *copy = place_scratch(c->g, column_major(c->g, operand->shape));
    if (!gen_failed(c->g)) emit_copy(c->g, from, copy);
    return copy;
}

// Whether results and operands are what the routine's signature says: kinds of results, one letter each: m matrix
// like operand 0, v vector per batch, i s32 vector per batch, n one s32 per batch, x any real matrix.
static bool fits(const Call *c, size_t operands, const char *results) {
    if (hlo_operand_count(c->inst) != operands || !has_array_operands(c->inst)) return false;
    const HloShape *first = hlo_operand(c->inst, 0)->shape;
    size_t count = c->dest->elements ? c->dest->shape->rank : 1;
    if (!is_real(first) || first->rank < 2 || count != strlen(results)) return false;
    for (size_t k = 0; k < count; k++) {
        const HloShape *shape = result(c, k)->shape;
        bool matrix = results[k] == 'm' || results[k] == 'x', number = results[k] == 'i' || results[k] == 'n';
        if (shape->type != (number ? HLO_S32 : first->type)) return false;
        if (matrix && !is_column_major(shape)) return false;
        if (results[k] == 'm' && !hlo_shape_same_dims(shape, first)) return false;
        size_t rank = matrix ? first->rank : results[k] == 'n' ? first->rank - 2 : first->rank - 1;
        if (shape->rank != rank) return false;
    }
    return true;
}

static void call(const Call *c, const char *name, const int64_t *d, size_t d_count, LLVMValueRef *args,
                 unsigned count) {
    LLVMValueRef all[8] = {gen_numbers(c->g, d, d_count)};
    for (unsigned k = 0; k < count; k++) all[k + 1] = args[k];
    all[count + 1] = scratch_take(c->g, runtime_linalg_scratch(d));
    if (!gen_failed(c->g)) call_runtime(c->g, name, all, count + 2);
}

// ---- custom calls ---------------------------------------------------------------------------------------

// The number behind `key =` in a configuration like `{diag = 78 : ui8, side = 76 : ui8}`; 0 when there is none.
static int64_t setting(const HloInstruction *inst, const char *key) {
    const char *at = strstr(hlo_text(inst, HLO_ATTR_BACKEND_CONFIG), key);
    if (!at) return 0;
    at += strlen(key);
    while (*at == ' ' || *at == '=') at++;
    return strtoll(at, NULL, 10);
}

// Operand `k` becomes the first result, in place.
static void bring(const Call *c, size_t k) {
    emit_into(c->g, c->scope, hlo_operand(c->inst, k), result(c, 0));
}

static bool is_square(const HloShape *shape) {
    return shape->dims[shape->rank - 2] == shape->dims[shape->rank - 1];
}

static bool potrf(const Call *c) {
    if (!fits(c, 1, "mn") || !is_square(result(c, 0)->shape)) return false;
    int64_t d[6] = {0, 0, 0, 0, setting(c->inst, "uplo") == 'L', 0};
    describe(result(c, 0)->shape, d);
    bring(c, 0);
    LLVMValueRef args[] = {result(c, 0)->base, result(c, 1)->base};
    call(c, "hlo_rt_cholesky", d, 6, args, 2);
    return true;
}

static bool getrf(const Call *c) {
    if (!fits(c, 1, "min")) return false;
    int64_t d[4];
    describe(result(c, 0)->shape, d);
    if (result(c, 1)->shape->dims[result(c, 1)->shape->rank - 1] != (d[2] < d[3] ? d[2] : d[3])) return false;
    bring(c, 0);
    LLVMValueRef args[] = {result(c, 0)->base, result(c, 1)->base, result(c, 2)->base};
    call(c, "hlo_rt_lu", d, 4, args, 3);
    return true;
}

static bool trsm(const Call *c) {
    if (!fits(c, 2, "x") || !is_square(hlo_operand(c->inst, 0)->shape)) return false;
    const HloShape *b = hlo_operand(c->inst, 1)->shape, *a = hlo_operand(c->inst, 0)->shape;
    bool left = setting(c->inst, "side") == 'L';
    if (!hlo_shape_same_dims(b, result(c, 0)->shape) || b->type != a->type) return false;
    if (b->dims[b->rank - (left ? 2 : 1)] != a->dims[a->rank - 1]) return false;
    int64_t d[8] = {[4] = left,
                    setting(c->inst, "uplo") == 'L',
                    setting(c->inst, "trans_x") != 'N',
                    setting(c->inst, "diag") == 'U'};
    describe(b, d);
    Place *triangle = matrix_copy(c, 0);
    bring(c, 1);
    LLVMValueRef args[] = {triangle->base, result(c, 0)->base};
    call(c, "hlo_rt_triangular_solve", d, 8, args, 2);
    return true;
}

static bool geqrf(const Call *c) {
    if (!fits(c, 1, "mv")) return false;
    int64_t d[4];
    describe(result(c, 0)->shape, d);
    if (result(c, 1)->shape->dims[result(c, 1)->shape->rank - 1] != (d[2] < d[3] ? d[2] : d[3])) return false;
    bring(c, 0);
    LLVMValueRef args[] = {result(c, 0)->base, result(c, 1)->base};
    call(c, "hlo_rt_qr", d, 4, args, 2);
    return true;
}

static bool orgqr(const Call *c) {
    if (!fits(c, 2, "m")) return false;
    const HloShape *taus = hlo_operand(c->inst, 1)->shape;
    int64_t d[5];
    describe(result(c, 0)->shape, d);
    if (taus->type != result(c, 0)->shape->type || taus->rank + 1 != result(c, 0)->shape->rank) return false;
    d[4] = taus->dims[taus->rank - 1];
    if (d[4] > d[2] || d[4] > d[3]) return false;
    Place *factors = operand_place(c->g, c->scope, hlo_operand(c->inst, 1));
    bring(c, 0);
    LLVMValueRef args[] = {result(c, 0)->base, factors->base};
    call(c, "hlo_rt_householder_product", d, 5, args, 2);
    return true;
}

static bool syevd(const Call *c) {
    if (!fits(c, 1, "mvn") || !is_square(result(c, 0)->shape)) return false;
    int64_t d[5] = {[4] = setting(c->inst, "uplo") == 'L'};
    describe(result(c, 0)->shape, d);
    if (result(c, 1)->shape->dims[result(c, 1)->shape->rank - 1] != d[2]) return false;
    bring(c, 0);
    LLVMValueRef args[] = {result(c, 0)->base, result(c, 1)->base, result(c, 2)->base};
    call(c, "hlo_rt_eigh", d, 5, args, 3);
    return true;
}

static bool gesdd(const Call *c) {
    if (!fits(c, 1, "mvxxn")) return false;
    const HloShape *left = result(c, 2)->shape, *right = result(c, 3)->shape;
    int64_t d[7] = {[4] = setting(c->inst, "mode") != 'N'};
    describe(result(c, 0)->shape, d);
    int64_t least = d[2] < d[3] ? d[2] : d[3];
    d[5] = left->dims[left->rank - 1];
    d[6] = right->dims[right->rank - 2];
    bool sizes = left->dims[left->rank - 2] == d[2] && right->dims[right->rank - 1] == d[3] &&
                 (d[5] == least || d[5] == d[2]) && (d[6] == least || d[6] == d[3]) &&
                 result(c, 1)->shape->dims[result(c, 1)->shape->rank - 1] == least;
    if (!sizes) return false;
    bring(c, 0);
    LLVMValueRef args[] = {result(c, 0)->base, result(c, 1)->base, result(c, 2)->base, result(c, 3)->base,
                           result(c, 4)->base};
    call(c, "hlo_rt_svd", d, 7, args, 5);
    return true;
}

typedef struct Routine {
    const char *name;  // between `lapack_s` or `lapack_d` and `_ffi`
    bool (*emit)(const Call *c);
} Routine;

static const Routine routines[] = {
    {"geqrf", geqrf}, {"gesdd", gesdd}, {"getrf", getrf}, {"orgqr", orgqr},
    {"potrf", potrf}, {"syevd", syevd}, {"trsm", trsm},
};

bool emit_lapack(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    const char *target = hlo_text(inst, HLO_ATTR_CUSTOM_CALL_TARGET);
    bool real = strncmp(target, "lapack_s", 8) == 0 || strncmp(target, "lapack_d", 8) == 0;
    Call c = {g, scope, inst, dest};
    for (size_t k = 0; real && k < HLO_COUNT(routines); k++) {
        size_t size = strlen(routines[k].name);
        if (strncmp(target + 8, routines[k].name, size) != 0 || strcmp(target + 8 + size, "_ffi") != 0) continue;
        return routines[k].emit(&c);
    }
    return false;
}

// ---- opcodes --------------------------------------------------------------------------------------------

void emit_cholesky(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    Call c = {g, scope, inst, dest};
    const HloShape *shape = hlo_operand(inst, 0)->shape;
    if (!is_real(shape) || shape->rank < 2 || !is_square(shape) || dest->shape->type != shape->type) {
        gen_unimplemented(g, inst);
        return;
    }
    if (hlo_shape_elem_count(shape) == 0) return;
    Place *work = matrix_copy(&c, 0);
    int64_t d[6] = {[4] = hlo_int(inst, HLO_ATTR_LOWER) != 0, 1};
    describe(shape, d);
    LLVMValueRef args[] = {work->base, LLVMConstNull(g->ptr)};
    call(&c, "hlo_rt_cholesky", d, 6, args, 2);
    if (!gen_failed(g)) emit_copy(g, work, dest);
}

void emit_triangular_solve(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest) {
    Call c = {g, scope, inst, dest};
    const HloShape *a = hlo_operand(inst, 0)->shape, *b = hlo_operand(inst, 1)->shape;
    bool left = hlo_int(inst, HLO_ATTR_LEFT_SIDE) != 0;
    bool same = is_real(a) && b->type == a->type && dest->shape->type == a->type && a->rank >= 2 && b->rank == a->rank;
    if (!same || !is_square(a) || b->dims[b->rank - (left ? 2 : 1)] != a->dims[a->rank - 1]) {
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
    describe(b, d);
    LLVMValueRef args[] = {triangle->base, work->base};
    call(&c, "hlo_rt_triangular_solve", d, 8, args, 2);
    if (!gen_failed(g)) emit_copy(g, work, dest);
}
