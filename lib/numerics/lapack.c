// Custom calls to LAPACK: their signatures, checked once for the interpreter and for code generation.
//
//   custom-call(a), custom_call_target="lapack_spotrf_ffi"   →   hlo_rt_cholesky, d = {f32, batch, n, n, lower, part}

#include "lib/numerics/lapack.h"

#include <stdlib.h>
#include <string.h>

void hlo_matrix_describe(const HloShape *shape, int64_t *d) {
    d[0] = shape->type == HLO_F64;
    d[1] = 1;
    for (size_t k = 0; k + 2 < shape->rank; k++) d[1] *= shape->dims[k];
    d[2] = shape->dims[shape->rank - 2];
    d[3] = shape->dims[shape->rank - 1];
}

bool hlo_is_real_matrix(const HloShape *shape) {
    return (shape->type == HLO_F32 || shape->type == HLO_F64) && shape->rank >= 2;
}

bool hlo_is_square_matrix(const HloShape *shape) {
    return shape->dims[shape->rank - 2] == shape->dims[shape->rank - 1];
}

static const HloShape *result(const HloInstruction *inst, size_t k) {
    return hlo_shape_is_tuple(inst->shape) ? inst->shape->elements[k] : inst->shape;
}

static const HloShape *operand(const HloInstruction *inst, size_t k) {
    return hlo_operand(inst, k)->shape;
}

static int64_t last_dim(const HloShape *shape) {
    return shape->dims[shape->rank - 1];
}

// The number behind `key =` in a configuration like `{diag = 78 : ui8, side = 76 : ui8}`; 0 when there is none.
static int64_t setting(const HloInstruction *inst, const char *key) {
    const char *at = strstr(hlo_text(inst, HLO_ATTR_BACKEND_CONFIG), key);
    if (!at) return 0;
    at += strlen(key);
    while (*at == ' ' || *at == '=') at++;
    return strtoll(at, NULL, 10);
}

// ---- signatures -----------------------------------------------------------------------------------------

static bool has_array_operands(const HloInstruction *inst) {
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        if (!hlo_shape_is_array(operand(inst, k))) return false;
    }
    return true;
}

// One letter for each result: m a matrix like operand 0, x any matrix, v a vector for each batch, i an s32 vector for
// each batch, n one s32 for each batch.
static bool result_fits(const HloShape *shape, char letter, const HloShape *first) {
    bool matrix = letter == 'm' || letter == 'x', number = letter == 'i' || letter == 'n';
    if (shape->type != (number ? HLO_S32 : first->type)) return false;
    if (letter == 'm' && !hlo_shape_same_dims(shape, first)) return false;
    return shape->rank == (matrix ? first->rank : letter == 'n' ? first->rank - 2 : first->rank - 1);
}

static bool signature_fits(const HloInstruction *inst, size_t operands, const char *results) {
    if (hlo_operand_count(inst) != operands || !has_array_operands(inst)) return false;
    size_t count = hlo_shape_is_tuple(inst->shape) ? inst->shape->rank : 1;
    if (!hlo_is_real_matrix(operand(inst, 0)) || count != strlen(results)) return false;
    for (size_t k = 0; k < count; k++) {
        if (!result_fits(result(inst, k), results[k], operand(inst, 0))) return false;
    }
    return true;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

// ---- routines -------------------------------------------------------------------------------------------

static bool potrf(const HloInstruction *inst, HloLapack *call) {
    call->d_count = 6;
    call->d[4] = setting(inst, "uplo") == 'L';
    return hlo_is_square_matrix(operand(inst, 0));
}

static bool getrf(const HloInstruction *inst, HloLapack *call) {
    return last_dim(result(inst, 1)) == least(call->d[2], call->d[3]);
}

static bool trsm(const HloInstruction *inst, HloLapack *call) {
    const HloShape *a = operand(inst, 0), *b = operand(inst, 1);
    bool left = setting(inst, "side") == 'L';
    call->data = 1;
    call->other = 0;
    call->other_is_first = true;
    call->d_count = 8;
    if (!hlo_is_square_matrix(a) || b->type != a->type || !hlo_shape_same_dims(b, result(inst, 0))) return false;
    hlo_matrix_describe(b, call->d);
    call->d[4] = left;
    call->d[5] = setting(inst, "uplo") == 'L';
    call->d[6] = setting(inst, "trans_x") != 'N';
    call->d[7] = setting(inst, "diag") == 'U';
    return b->dims[b->rank - (left ? 2 : 1)] == last_dim(a);
}

static bool geqrf(const HloInstruction *inst, HloLapack *call) {
    return last_dim(result(inst, 1)) == least(call->d[2], call->d[3]);
}

static bool orgqr(const HloInstruction *inst, HloLapack *call) {
    const HloShape *taus = operand(inst, 1), *matrix = operand(inst, 0);
    if (taus->type != matrix->type || taus->rank + 1 != matrix->rank) return false;
    call->other = 1;
    call->d_count = 5;
    call->d[4] = last_dim(taus);
    return call->d[4] <= least(call->d[2], call->d[3]);
}

static bool syevd(const HloInstruction *inst, HloLapack *call) {
    call->d_count = 5;
    call->d[4] = setting(inst, "uplo") == 'L';
    return hlo_is_square_matrix(operand(inst, 0)) && last_dim(result(inst, 1)) == call->d[2];
}

static bool gesdd(const HloInstruction *inst, HloLapack *call) {
    const HloShape *left = result(inst, 2), *right = result(inst, 3);
    int64_t *d = call->d, side = least(d[2], d[3]);
    call->d_count = 7;
    d[4] = setting(inst, "mode") != 'N';
    d[5] = last_dim(left);
    d[6] = right->dims[right->rank - 2];
    return left->dims[left->rank - 2] == d[2] && last_dim(right) == d[3] && (d[5] == side || d[5] == d[2]) &&
           (d[6] == side || d[6] == d[3]) && last_dim(result(inst, 1)) == side;
}

// Calls with the results and the other operand in their places.
#define RUN(name, ...)                                                                           \
    static void run_##name(const int64_t *d, void *const *r, const void *other, void *scratch) { \
        (void)other;                                                                             \
        hlo_rt_##name(d, __VA_ARGS__, scratch);                                                  \
    }
RUN(qr, r[0], r[1])
RUN(svd, r[0], r[1], r[2], r[3], r[4])
RUN(lu, r[0], r[1], r[2])
RUN(householder_product, r[0], other)
RUN(cholesky, r[0], r[1])
RUN(eigh, r[0], r[1], r[2])
RUN(triangular_solve, other, r[0])

typedef struct Routine {
    const char *name;  // between `lapack_s` or `lapack_d` and `_ffi`; all of it when it begins with a capital letter
    size_t operands;
    const char *results;  // letters as in result_fits
    const char *function;
    void (*run)(const int64_t *d, void *const *results, const void *other, void *scratch);
    bool (*describe)(const HloInstruction *inst, HloLapack *call);  // false: sizes that do not fit
} Routine;

#define FUNCTION(name) "hlo_rt_" #name, run_##name

static const Routine routines[] = {
    {"ProductOfElementaryHouseholderReflectors", 2, "m", FUNCTION(householder_product), orgqr},
    {"Qr", 1, "mv", FUNCTION(qr), geqrf},
    {"geqrf", 1, "mv", FUNCTION(qr), geqrf},
    {"gesdd", 1, "mvxxn", FUNCTION(svd), gesdd},
    {"getrf", 1, "min", FUNCTION(lu), getrf},
    {"orgqr", 2, "m", FUNCTION(householder_product), orgqr},
    {"potrf", 1, "mn", FUNCTION(cholesky), potrf},
    {"syevd", 1, "mvn", FUNCTION(eigh), syevd},
    {"trsm", 2, "x", FUNCTION(triangular_solve), trsm},
};

static const Routine *find_routine(const char *target) {
    bool real = strncmp(target, "lapack_s", 8) == 0 || strncmp(target, "lapack_d", 8) == 0;
    for (size_t k = 0; k < HLO_COUNT(routines); k++) {
        size_t size = strlen(routines[k].name);
        if (strcmp(target, routines[k].name) == 0 && *target < 'a') return routines + k;
        if (!real) continue;
        if (strncmp(target + 8, routines[k].name, size) == 0 && strcmp(target + 8 + size, "_ffi") == 0) {
            return routines + k;
        }
    }
    return NULL;
}

bool hlo_lapack_find(const HloInstruction *inst, HloLapack *call) {
    const Routine *routine = find_routine(hlo_text(inst, HLO_ATTR_CUSTOM_CALL_TARGET));
    if (!routine || !signature_fits(inst, routine->operands, routine->results)) return false;
    *call = (HloLapack){.function = routine->function, .run = routine->run, .d_count = 4, .other = -1};
    hlo_matrix_describe(operand(inst, 0), call->d);
    return routine->describe(inst, call);
}
