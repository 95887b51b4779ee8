// Shape inference of fft, the solvers, batch norm and random number state (verifier chapter §6.3).

#include "infer_rules.h"

static bool is_float_or_complex(HloType type) {
    return hlo_type_is_float(type) || hlo_type_is_complex(type);
}

// ---- fft ------------------------------------------------------------------------------------------------

// The innermost dimensions must equal the lengths; the last one `last` instead of the last length.
static HloStatus check_lengths(const HloInfer *cx, HloDims lengths, int64_t last) {
    const HloShape *x = hlo_operand_shape(cx, 0);
    size_t first = x->rank - lengths.count;
    for (size_t i = 0; i < lengths.count; i++) {
        int64_t wanted = i + 1 == lengths.count ? last : lengths.data[i];
        if (hlo_sizes_agree(x->dims[first + i], wanted)) continue;
        return hlo_infer_fail(cx, "dimension %zu of %s must be %lld", first + i, hlo_infer_text(cx, x),
                              (long long)wanted);
    }
    return hlo_ok();
}

static HloStatus resized(const HloInfer *cx, HloType type, int64_t last, const HloShape **out) {
    const HloShape *x = hlo_operand_shape(cx, 0);
    HloDraft draft;
    hlo_draft_copy_all(&draft, cx, x);
    draft.dims[x->rank - 1] = last;
    return hlo_draft_finish_layout(&draft, cx, type, x->layout, out);
}

static HloStatus infer_rfft(const HloInfer *cx, HloDims lengths, const HloShape **out) {
    const HloShape *x = hlo_operand_shape(cx, 0);
    int64_t last = lengths.data[lengths.count - 1];
    if (x->type != HLO_F32 && x->type != HLO_F64) {
        return hlo_infer_fail(cx, "RFFT needs f32 or f64, found %s", hlo_infer_text(cx, x));
    }
    HLO_TRY(check_lengths(cx, lengths, last));
    return resized(cx, x->type == HLO_F32 ? HLO_C64 : HLO_C128, last ? last / 2 + 1 : x->dims[x->rank - 1], out);
}

static HloStatus infer_irfft(const HloInfer *cx, HloDims lengths, const HloShape **out) {
    const HloShape *x = hlo_operand_shape(cx, 0);
    int64_t last = lengths.data[lengths.count - 1];
    HLO_TRY(check_lengths(cx, lengths, last ? last / 2 + 1 : 0));
    return resized(cx, hlo_type_complex_part(x->type), last, out);
}

HloStatus hlo_infer_fft(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(hlo_infer_array(cx, 0, "operand"));
    const HloShape *x = hlo_operand_shape(cx, 0);
    HloDims lengths = hlo_dims(cx->inst, HLO_ATTR_FFT_LENGTH);
    int64_t kind = hlo_int(cx->inst, HLO_ATTR_FFT_TYPE);
    if (lengths.count < 1 || lengths.count > 3) {
        return hlo_infer_fail(cx, "expected 1 to 3 lengths, found %zu", lengths.count);
    }
    if (x->rank < lengths.count) {
        return hlo_infer_fail(cx, "%zu lengths need an operand of that rank, found %s", lengths.count,
                              hlo_infer_text(cx, x));
    }
    for (size_t i = 0; i < lengths.count; i++) {
        if (lengths.data[i] < 0)
            return hlo_infer_fail(cx, "length %zu is negative: %lld", i, (long long)lengths.data[i]);
    }
    if (kind == HLO_FFT_TYPE_RFFT) return infer_rfft(cx, lengths, out);
    if (!hlo_type_is_complex(x->type)) {
        return hlo_infer_fail(cx, "%s needs a complex operand, found %s", hlo_enum_word(HLO_ENUM_FFT_TYPE, kind),
                              hlo_infer_text(cx, x));
    }
    if (kind == HLO_FFT_TYPE_IRFFT) return infer_irfft(cx, lengths, out);
    *out = x;
    return hlo_ok();
}

// ---- solvers --------------------------------------------------------------------------------------------

static HloStatus check_square(const HloInfer *cx, const HloShape *a) {
    if (a->rank < 2) return hlo_infer_fail(cx, "expected at least two dimensions, found %s", hlo_infer_text(cx, a));
    if (hlo_sizes_agree(a->dims[a->rank - 1], a->dims[a->rank - 2])) return hlo_ok();
    return hlo_infer_fail(cx, "the two minor dimensions must be equal, found %s", hlo_infer_text(cx, a));
}

HloStatus hlo_infer_cholesky(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(hlo_infer_array(cx, 0, "operand"));
    const HloShape *a = hlo_operand_shape(cx, 0);
    if (!is_float_or_complex(a->type)) {
        return hlo_infer_fail(cx, "expected a floating or complex operand, found %s", hlo_infer_text(cx, a));
    }
    HLO_TRY(check_square(cx, a));
    *out = a;
    return hlo_ok();
}

static HloStatus check_system(const HloInfer *cx, const HloShape *a, const HloShape *b) {
    size_t rank = a->rank;
    if (b->rank != rank) {
        return hlo_infer_fail(cx, "operands must have equal rank, found %s and %s", hlo_infer_text(cx, a),
                              hlo_infer_text(cx, b));
    }
    int64_t shared = b->dims[hlo_int(cx->inst, HLO_ATTR_LEFT_SIDE) ? rank - 2 : rank - 1];
    bool fits = hlo_sizes_agree(a->dims[rank - 1], shared);
    for (size_t d = 0; fits && d + 2 < rank; d++) fits = hlo_sizes_agree(a->dims[d], b->dims[d]);
    if (fits) return hlo_ok();
    return hlo_infer_fail(cx, "the matrices do not fit: %s and %s", hlo_infer_text(cx, a), hlo_infer_text(cx, b));
}

HloStatus hlo_infer_triangular_solve(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(hlo_infer_all_arrays(cx));
    const HloShape *a = hlo_operand_shape(cx, 0), *b = hlo_operand_shape(cx, 1);
    if (!is_float_or_complex(a->type) || a->type != b->type) {
        return hlo_infer_fail(cx, "expected one floating or complex element type, found %s and %s",
                              hlo_infer_text(cx, a), hlo_infer_text(cx, b));
    }
    HLO_TRY(check_square(cx, a));
    HLO_TRY(check_system(cx, a, b));
    int64_t transpose = hlo_int(cx->inst, HLO_ATTR_TRANSPOSE_A);
    if (transpose <= HLO_TRANSPOSE_INVALID || transpose > HLO_TRANSPOSE_ADJOINT) {
        return hlo_infer_fail(cx, "transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT");
    }
    *out = b;
    return hlo_ok();
}

// ---- batch norm -----------------------------------------------------------------------------------------

// Operands 1 and following up to `last` hold one value for each feature.
static HloStatus check_factors(const HloInfer *cx, size_t last, int64_t features) {
    const HloShape *x = hlo_operand_shape(cx, 0);
    for (size_t k = 1; k <= last; k++) {
        const HloShape *factor = hlo_operand_shape(cx, k);
        if (factor->rank == 1 && hlo_type_is_float(factor->type) && hlo_sizes_agree(factor->dims[0], features))
            continue;
        return hlo_infer_fail(cx, "operand %zu must hold %lld floats, found %s", k, (long long)features,
                              hlo_infer_text(cx, factor));
    }
    if (hlo_type_is_float(x->type)) return hlo_ok();
    return hlo_infer_fail(cx, "expected a floating operand, found %s", hlo_infer_text(cx, x));
}

static HloStatus check_gradient(const HloInfer *cx) {
    const HloShape *x = hlo_operand_shape(cx, 0), *grad = hlo_operand_shape(cx, 4);
    bool fits = x->rank == grad->rank && hlo_type_is_float(grad->type);
    for (size_t d = 0; fits && d < x->rank; d++) fits = hlo_sizes_agree(x->dims[d], grad->dims[d]);
    if (fits) return hlo_ok();
    return hlo_infer_fail(cx, "the output gradient %s does not fit the operand %s", hlo_infer_text(cx, grad),
                          hlo_infer_text(cx, x));
}

// inference: the operand's shape; training and grad: (operand, T[features], T[features]).
HloStatus hlo_infer_batch_norm(const HloInfer *cx, const HloShape **out) {
    HLO_TRY(hlo_infer_all_arrays(cx));
    const HloShape *x = hlo_operand_shape(cx, 0);
    int64_t feature = hlo_int(cx->inst, HLO_ATTR_FEATURE_INDEX);
    bool is_grad = cx->inst->op == HLO_OP_BATCH_NORM_GRAD;
    if (feature < 0 || (uint64_t)feature >= x->rank) {
        return hlo_infer_fail(cx, "expected a feature_index into %s, found %lld", hlo_infer_text(cx, x),
                              (long long)feature);
    }
    HLO_TRY(check_factors(cx, hlo_operand_count(cx->inst) - 1 - is_grad, x->dims[feature]));
    if (is_grad) HLO_TRY(check_gradient(cx));
    *out = x;
    if (cx->inst->op == HLO_OP_BATCH_NORM_INFERENCE) return hlo_ok();
    HloDraft draft;
    const HloShape *results[3] = {x};
    hlo_draft_init(&draft, cx, 1);
    hlo_draft_copy(&draft, 0, x, (size_t)feature);
    HLO_TRY(hlo_draft_finish(&draft, cx, x->type, &results[1]));
    results[2] = results[1];
    return hlo_infer_make_tuple(cx, results, 3, out);
}

// ---- random numbers -------------------------------------------------------------------------------------

HloStatus hlo_infer_rng_state(const HloInfer *cx, const HloShape **out) {
    *out = hlo_shape_of(cx->shapes, HLO_U64, (const int64_t[]){2}, 1);
    return hlo_ok();
}
