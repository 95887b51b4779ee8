// fft, cholesky, triangular-solve, random bits, and the routines of linear algebra behind custom calls.
//
// The numerical work is that of lib/numerics, whose matrices are column-major: they are turned on the way in and out.
// Source: the interpreter chapter, §5.5, §6.7 and §8.2.

#include <stdlib.h>

#include "lib/eval/linalg.h"

// Swaps the last two dimensions of the `rows` × `columns` matrices from one buffer to another.
static void turn(const HloShape *shape, const char *from, int64_t rows, int64_t columns, char *to, size_t bytes) {
    int64_t size = rows * columns, count = size ? hlo_shape_elem_count(shape) / size : 0;
    HloBox box = {3, {count, columns, rows}, {size, 1, columns}, {size, rows, 1}};
    hlo_box_copy(&box, from, to, bytes);
}

static int64_t row_count(const HloShape *shape) {
    return shape->dims[shape->rank - 2];
}

static int64_t column_count(const HloShape *shape) {
    return shape->dims[shape->rank - 1];
}

// The matrices of `from` as columns.
static HloStatus to_columns(HloMachine *vm, const HloDatum *from, HloDatum **out) {
    const HloShape *shape = from->shape;
    HLO_TRY(hlo_datum_new(vm, shape, out));
    turn(shape, from->data, row_count(shape), column_count(shape), (*out)->data, from->element_bytes);
    return hlo_ok();
}

static HloStatus from_columns(HloMachine *vm, const HloDatum *from, HloDatum **out) {
    const HloShape *shape = from->shape;
    HLO_TRY(hlo_datum_new(vm, shape, out));
    turn(shape, from->data, column_count(shape), row_count(shape), (*out)->data, from->element_bytes);
    return hlo_ok();
}

static HloStatus new_scratch(int64_t bytes, void **out) {
    *out = bytes < 0 ? NULL : calloc((size_t)bytes + 1, 1);
    return *out ? hlo_ok() : hlo_out_of_memory();
}

// ---- opcodes --------------------------------------------------------------------------------------------

static HloStatus unsupported_matrix(const HloInstruction *inst) {
    return hlo_error(HLO_UNIMPLEMENTED, "%s of %s cannot be interpreted", hlo_op_name(inst->op),
                     hlo_type_name(hlo_operand(inst, 0)->shape->type));
}

// f32, f64, c64 or c128, with the description that the routines want.
static bool describe_matrix(const HloShape *shape, int64_t *d) {
    bool known = hlo_is_real_matrix(shape) || (hlo_type_is_complex(shape->type) && shape->rank >= 2);
    if (!known) return false;
    hlo_matrix_describe(shape, d);
    d[0] = shape->type == HLO_F64 || shape->type == HLO_C128;
    return true;
}

static int64_t scratch_bytes(const HloShape *shape, const int64_t *d) {
    return hlo_type_is_complex(shape->type) ? runtime_complex_scratch(d) : runtime_linalg_scratch(d);
}

HLO_RULE(hlo_rule_cholesky) {
    const HloShape *shape = args[0]->shape;
    int64_t d[6] = {[4] = hlo_int(inst, HLO_ATTR_LOWER) != 0, [5] = 1};
    if (!describe_matrix(shape, d)) return unsupported_matrix(inst);
    HloDatum *work = NULL;
    void *scratch;
    HLO_TRY(new_scratch(scratch_bytes(shape, d), &scratch));
    HloStatus status = to_columns(vm, args[0], &work);
    if (hlo_is_ok(status)) {
        if (hlo_type_is_complex(shape->type))
            hlo_rt_complex_cholesky(d, work->data, scratch);
        else
            hlo_rt_cholesky(d, work->data, NULL, scratch);
        status = from_columns(vm, work, out);
    }
    hlo_datum_drop(vm, work);
    free(scratch);
    return status;
}

static int64_t transpose_kind(const HloInstruction *inst) {
    int64_t transpose = hlo_int(inst, HLO_ATTR_TRANSPOSE_A);
    return transpose == HLO_TRANSPOSE_ADJOINT ? 2 : transpose == HLO_TRANSPOSE_TRANSPOSE;
}

HLO_RULE(hlo_rule_triangular_solve) {
    int64_t d[8] = {[4] = hlo_int(inst, HLO_ATTR_LEFT_SIDE) != 0,
                    [5] = hlo_int(inst, HLO_ATTR_LOWER) != 0,
                    [6] = transpose_kind(inst),
                    [7] = hlo_int(inst, HLO_ATTR_UNIT_DIAGONAL) != 0};
    if (!describe_matrix(args[1]->shape, d)) return unsupported_matrix(inst);
    HloDatum *triangle = NULL, *work = NULL;
    void *scratch;
    HLO_TRY(new_scratch(scratch_bytes(args[1]->shape, d), &scratch));
    HloStatus status = to_columns(vm, args[0], &triangle);
    if (hlo_is_ok(status)) status = to_columns(vm, args[1], &work);
    if (hlo_is_ok(status)) {
        if (hlo_type_is_complex(args[1]->shape->type))
            hlo_rt_complex_triangular_solve(d, triangle->data, work->data, scratch);
        else
            hlo_rt_triangular_solve(d, triangle->data, work->data, scratch);
        status = from_columns(vm, work, out);
    }
    hlo_datum_drop(vm, triangle);
    hlo_datum_drop(vm, work);
    free(scratch);
    return status;
}

HLO_RULE(hlo_rule_fft) {
    HloDims lengths = hlo_dims(inst, HLO_ATTR_FFT_LENGTH);
    const HloShape *from = args[0]->shape, *to = inst->shape;
    size_t rank = lengths.count, skip = from->rank - rank;
    int64_t d[4 + 3 * HLO_EVAL_RANK] = {hlo_int(inst, HLO_ATTR_FFT_TYPE),
                                        from->type == HLO_F64 || from->type == HLO_C128, (int64_t)rank, 1};
    for (size_t k = 0; k < skip; k++) d[3] *= from->dims[k];
    for (size_t k = 0; k < rank; k++) {
        d[4 + k] = from->dims[skip + k];
        d[4 + rank + k] = lengths.data[k];
        d[4 + 2 * rank + k] = to->dims[skip + k];
    }
    HLO_TRY(hlo_datum_new(vm, to, out));
    memset((*out)->data, 0, (size_t)(*out)->count * (*out)->element_bytes);
    if (!(*out)->count || !args[0]->count) return hlo_ok();
    void *scratch;
    HLO_TRY(new_scratch(runtime_fft_scratch(d), &scratch));
    hlo_rt_fft(d, args[0]->data, (*out)->data, scratch);
    free(scratch);
    return hlo_ok();
}

HLO_RULE(hlo_rule_rng_bit_generator) {
    const HloShape *state = args[0]->shape;
    bool pair = hlo_shape_is_tuple(inst->shape) && inst->shape->rank == 2;
    bool threefry = hlo_int(inst, HLO_ATTR_RNG_ALGORITHM) == HLO_RNG_ALGORITHM_THREE_FRY;
    bool known = pair && state->type == HLO_U64 && state->rank == 1 && (state->dims[0] == 2 || state->dims[0] == 3);
    const HloShape *bits = known ? inst->shape->elements[1] : NULL;
    if (!known || hlo_type_bits(bits->type) < 8 || (threefry && state->dims[0] != 2)) {
        return hlo_error(HLO_UNIMPLEMENTED, "rng-bit-generator of this form cannot be interpreted");
    }
    int64_t d[4 + 2 * HLO_EVAL_RANK] = {threefry ? 1 : 2, state->dims[0], (int64_t)hlo_element_bytes(bits->type),
                                        (int64_t)bits->rank};
    memcpy(d + 4, bits->dims, bits->rank * sizeof *d);
    hlo_row_steps(bits, d + 4 + bits->rank);
    HLO_TRY(hlo_datum_new_like(vm, inst->shape, out));
    hlo_rt_rng(d, (const uint64_t *)(const void *)args[0]->data, (uint64_t *)(void *)(*out)->elements[0]->data,
               (*out)->elements[1]->data);
    return hlo_ok();
}

// ---- routines of custom calls ---------------------------------------------------------------------------

static HloDatum **leaves_of(HloDatum **datum) {
    return (*datum)->elements ? (*datum)->elements : datum;
}

// Matrices of the result go from columns to rows, each in a new place.
static HloStatus turn_results(HloMachine *vm, size_t matrix_rank, HloDatum **leaves, size_t count) {
    for (size_t k = 0; k < count; k++) {
        const HloShape *shape = leaves[k]->shape;
        HloDatum *turned;
        if (shape->rank != matrix_rank || shape->type == HLO_S32) continue;
        HLO_TRY(from_columns(vm, leaves[k], &turned));
        hlo_datum_drop(vm, leaves[k]);
        leaves[k] = turned;
    }
    return hlo_ok();
}

HloStatus hlo_run_routine(HloMachine *vm, const HloLapack *call, HloDatum **args, HloDatum **out) {
    HloDatum **leaves = leaves_of(out), *other = NULL;
    size_t count = (*out)->elements ? (*out)->shape->rank : 1, rank = args[0]->shape->rank;
    const HloDatum *data = args[call->data];
    void *results[5], *scratch;
    turn(data->shape, data->data, row_count(data->shape), column_count(data->shape), leaves[0]->data,
         data->element_bytes);
    if (call->other_is_first) HLO_TRY(to_columns(vm, args[call->other], &other));
    for (size_t k = 0; k < count; k++) results[k] = leaves[k]->data;
    HloStatus status = new_scratch(runtime_linalg_scratch(call->d), &scratch);
    if (hlo_is_ok(status)) {
        const char *plain = call->other < 0 ? NULL : args[call->other]->data;
        call->run(call->d, results, other ? other->data : plain, scratch);
        status = turn_results(vm, rank, leaves, count);
        free(scratch);
    }
    hlo_datum_drop(vm, other);
    return status;
}

static void run_eigh(const int64_t *d, void *const *results, const void *other, void *scratch) {
    (void)other;
    hlo_rt_eigh(d, results[0], results[1], NULL, scratch);
}

// `Eigh`: eigenvectors and rising eigenvalues; its configuration `lower,sort,max_iter,tol` says which triangle counts.
static bool find_eigh(const HloInstruction *inst, HloLapack *call) {
    const HloShape *shape = inst->shape, *matrix = hlo_operand(inst, 0)->shape;
    bool fits = hlo_shape_is_tuple(shape) && shape->rank == 2 && hlo_operand_count(inst) == 1 &&
                hlo_is_real_matrix(matrix) && hlo_is_square_matrix(matrix);
    if (!fits || !hlo_shape_equal(shape->elements[0], matrix, HLO_IGNORE_LAYOUT)) return false;
    const HloShape *values = shape->elements[1];
    if (values->type != matrix->type || values->rank + 1 != matrix->rank) return false;
    if (memcmp(values->dims, matrix->dims, values->rank * sizeof *values->dims) != 0) return false;
    *call = (HloLapack){.run = run_eigh, .d_count = 5, .other = -1};
    hlo_matrix_describe(matrix, call->d);
    call->d[4] = strtol(hlo_text(inst, HLO_ATTR_BACKEND_CONFIG), NULL, 10) != 0;
    return true;
}

bool hlo_find_routine(const HloInstruction *inst, HloLapack *call) {
    if (strcmp(hlo_text(inst, HLO_ATTR_CUSTOM_CALL_TARGET), "Eigh") != 0) return hlo_lapack_find(inst, call);
    return hlo_operand_count(inst) && find_eigh(inst, call);
}
