// Shape inference, row by row: lines of HLO text whose last one leaves its shape out, and the shape it gets; or a part
// of the message when there is none.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "hlo/infer.h"
#include "hlo/text.h"

typedef struct Row {
    const char *parameters;  // shapes, separated by blanks, of a, b, c, d, e
    const char *line;        // what follows `ROOT r = `
    const char *shape;       // NULL: refused
    const char *message;     // a part of it
} Row;

static const char computations[] =
    "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] add(x, y) }\n"
    "max { x = s32[] parameter(0) y = s32[] parameter(1) ROOT r = s32[] maximum(x, y) }\n"
    "ge { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = pred[] compare(x, y), direction=GE }\n"
    "less2 { x = f32[] parameter(0) y = f32[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3)\n"
    "  ROOT r = pred[] compare(x, y), direction=LT }\n"
    "both { x = f32[] parameter(0) i = s32[] parameter(1) y = f32[] parameter(2) j = s32[] parameter(3)\n"
    "  ROOT r = (f32[], s32[]) tuple(x, i) }\n"
    "body { x = f32[4] parameter(0) ROOT r = f32[4] negate(x) }\n"
    "half { x = f32[4] parameter(0) ROOT r = f32[2] slice(x), slice={[0:2]} }\n"
    "test { x = f32[4] parameter(0) ROOT r = pred[] constant(false) }\n";

static void put_parameters(HloBuffer *text, const char *shapes) {
    for (int64_t number = 0; *shapes; number++) {
        size_t size = strcspn(shapes, " ");
        hlo_putf(text, "  %c = %.*s parameter(%d)\n", (char)('a' + number), (int)size, shapes, (int)number);
        shapes += size + (shapes[size] == ' ');
    }
}

// The module of a row; NULL and the message in `error` when it cannot be read.
static HloModule *read_row(const Row *row, HloBuffer *error) {
    HloBuffer text = {0};
    HloModule *m = NULL;
    hlo_putf(&text, "HloModule m\n%sENTRY e {\n", computations);
    put_parameters(&text, row->parameters);
    hlo_putf(&text, "  ROOT r = %s\n}\n", row->line);
    HloStatus status = hlo_parse_module((HloStringView){text.data, text.size},
                                        &(HloParseOptions){.hlo_version = HLO_VERSION_2026_08}, &m);
    hlo_put_string(error, hlo_status_message(status));
    hlo_status_free(status);
    hlo_buffer_free(&text);
    return m;
}

static void check_row(const Row *row) {
    HloBuffer error = {0}, shape = {0};
    HloModule *m = read_row(row, &error);
    if (row->shape && !m) fail_msg("%s: %s", row->line, error.data);
    if (!row->shape && m) fail_msg("%s: is accepted", row->line);
    if (m) {
        hlo_put_shape(&shape, m->entry->root->shape, true);
        if (strcmp(shape.data, row->shape)) fail_msg("%s: %s, expected %s", row->line, shape.data, row->shape);
    } else if (!strstr(error.data, row->message)) {
        fail_msg("%s: '%s' lacks '%s'", row->line, error.data, row->message);
    }
    hlo_module_free(m);
    hlo_buffer_free(&error);
    hlo_buffer_free(&shape);
}

static void check_rows(const Row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) check_row(&rows[i]);
}

static void infer_elementwise_keeps_the_operands_shape(void **state) {
    (void)state;
    static const Row rows[] = {
        {"f32[2,3]{0,1}", "negate(a)", "f32[2,3]{0,1}", NULL},
        {"f32[2,3]{0,1}", "is-finite(a)", "pred[2,3]{0,1}", NULL},
        {"c64[2]", "real(a)", "f32[2]{0}", NULL},
        {"c128[2]", "abs(a)", "f64[2]{0}", NULL},
        {"f32[<=4]", "exponential(a)", "f32[<=4]{0}", NULL},
        {"s32[2]", "exponential(a)", NULL, "floating or complex"},
        {"u32[2]", "abs(a)", NULL, "signed"},
        {"f32[2]", "not(a)", NULL, "pred or integral"},
        {"(f32[2])", "negate(a)", NULL, "expected an array"},
        {"(f32[2])", "copy(a)", "(f32[2]{0})", NULL},
    };
    check_rows(rows, HLO_COUNT(rows));
}

static void infer_binary_joins_shapes(void **state) {
    (void)state;
    static const Row rows[] = {
        {"f32[2,3]{0,1} f32[2,3]{1,0}", "add(a, b)", "f32[2,3]{0,1}", NULL},
        {"f32[2,3]{0,1} f32[]", "add(a, b)", "f32[2,3]{1,0}", NULL},
        {"f32[2,1] f32[2,3]", "multiply(a, b)", "f32[2,3]{1,0}", NULL},
        {"f32[<=4] f32[4]", "add(a, b)", "f32[<=4]{0}", NULL},
        {"bf16[4] f32[4]", "add(a, b)", "f32[4]{0}", NULL},
        {"f16[4] f8e5m2[4]", "add(a, b)", "f16[4]{0}", NULL},
        {"f16[4] bf16[4]", "add(a, b)", "bf16[4]{0}", NULL},
        {"f32[4] s32[4]", "add(a, b)", NULL, "different element types"},
        {"f32[4] f32[5]", "add(a, b)", NULL, "incompatible shapes"},
        {"f32[4] f32[4,4]", "add(a, b)", NULL, "different rank"},
        {"pred[4] pred[4]", "add(a, b)", "pred[4]{0}", NULL},
        {"pred[4] pred[4]", "subtract(a, b)", NULL, "arithmetic"},
        {"f32[4] f32[4]", "shift-left(a, b)", "f32[4]{0}", NULL},
        {"f32[4] f32[4]", "and(a, b)", NULL, "pred or integral"},
        {"f32[4] f32[4]", "complex(a, b)", "c64[4]{0}", NULL},
        {"f16[4] f16[4]", "complex(a, b)", NULL, "complex type"},
        {"f32[4] f64[4]", "complex(a, b)", NULL, "complex type"},
        {"s4[4]{0:E(4)} s4[4]{0:E(4)}", "compare(a, b), direction=LT", "pred[4]{0}", NULL},
    };
    check_rows(rows, HLO_COUNT(rows));
}

static void infer_ternary_takes_its_layout_from_the_spec(void **state) {
    (void)state;
    static const Row rows[] = {
        {"pred[] f32[2,3]{0,1} f32[2,3]", "select(a, b, c)", "f32[2,3]{0,1}", NULL},
        {"pred[2,3] f32[2,3]{0,1} f32[2,3]{0,1}", "select(a, b, c)", "f32[2,3]{1,0}", NULL},
        {"pred[] bf16[2] f32[2]", "select(a, b, c)", "f32[2]{0}", NULL},
        {"pred[4] f32[4] f32[?]", "select(a, b, c)", "f32[4]{0}", NULL},
        {"pred[4] f32[?] f32[4]", "select(a, b, c)", "f32[?]{0}", NULL},
        {"pred[4] f32[4] f32[<=4]", "select(a, b, c)", "f32[<=4]{0}", NULL},
        {"s32[] f32[2] f32[2]", "select(a, b, c)", NULL, "of type pred"},
        {"pred[3] f32[2] f32[2]", "select(a, b, c)", NULL, "predicate must be a scalar"},
        {"pred[] f32[2] f32[3]", "select(a, b, c)", NULL, "one shape"},
        {"f32[] f32[2,3]{0,1} f32[]", "clamp(a, b, c)", "f32[2,3]{0,1}", NULL},
        {"f32[2] f32[3] f32[]", "clamp(a, b, c)", NULL, "incompatible shapes"},
        {"s32[] f32[3] f32[]", "clamp(a, b, c)", NULL, "incompatible element types"},
    };
    check_rows(rows, HLO_COUNT(rows));
}

static void infer_movement_computes_sizes(void **state) {
    (void)state;
    static const Row rows[] = {
        {"f32[3]", "broadcast(a), dimensions={7}", "f32[7,3]{1,0}", NULL},
        {"f32[2,3]{1,0}", "transpose(a), dimensions={1,0}", "f32[3,2]{0,1}", NULL},
        {"f32[2,3,4]{1,2,0}", "transpose(a), dimensions={2,0,1}", "f32[4,2,3]{2,0,1}", NULL},
        {"f32[2,3]", "transpose(a), dimensions={1,1}", NULL, "no permutation"},
        {"f32[2,3]{0,1}", "reverse(a), dimensions={1}", "f32[2,3]{0,1}", NULL},
        {"f32[2,3]", "reverse(a), dimensions={2}", NULL, "in [0, 2)"},
        {"f32[2,3]", "reverse(a), dimensions={0,0}", NULL, "repeats"},
        {"f32[2,3] f32[5,3]", "concatenate(a, b), dimensions={0}", "f32[7,3]{1,0}", NULL},
        {"f32[2,3] f32[2,4]", "concatenate(a, b), dimensions={0}", NULL, "differ in dimension 1"},
        {"f32[2] f32[2,4]", "concatenate(a, b), dimensions={0}", NULL, "different ranks"},
        {"f32[4] f32[]", "pad(a, b), padding=1_2_3", "f32[16]{0}", NULL},
        {"f32[0] f32[]", "pad(a, b), padding=1_2_3", "f32[3]{0}", NULL},
        {"f32[4] f32[]", "pad(a, b), padding=-3_-2", NULL, "negative size"},
        {"f32[4] f32[1]", "pad(a, b), padding=1_2", NULL, "must be a scalar"},
        {"f32[4,5]", "get-dimension-size(a), dimensions={1}", "s32[]", NULL},
        {"f32[4,5]", "get-dimension-size(a), dimensions={2}", NULL, "expected a dimension"},
        {"f32[4,5]{0,1} s32[]", "set-dimension-size(a, b), dimensions={1}", "f32[4,<=5]{0,1}", NULL},
    };
    check_rows(rows, HLO_COUNT(rows));
}

static void infer_reductions_follow_the_computation(void **state) {
    (void)state;
    static const Row rows[] = {
        {"f32[2,3,4] f32[]", "reduce(a, b), dimensions={1}, to_apply=add", "f32[2,4]{1,0}", NULL},
        {"bf16[2,3] f32[]", "reduce(a, b), dimensions={0}, to_apply=add", "f32[3]{0}", NULL},
        {"f32[2,3] s32[2,3] f32[] s32[]", "reduce(a, b, c, d), dimensions={0}, to_apply=both", "(f32[3]{0}, s32[3]{0})",
         NULL},
        {"f32[2,3] f32[]", "reduce(a, b), dimensions={2}, to_apply=add", NULL, "in [0, 2)"},
        {"f32[2,3] f32[]", "reduce(a, b), dimensions={0,0}, to_apply=add", NULL, "repeat"},
        {"s32[2,3] s32[]", "reduce(a, b), dimensions={0}, to_apply=add", NULL, "initial value"},
        {"f32[2,3] f32[]", "reduce(a, b), dimensions={0}, to_apply=both", NULL, "must take 2 parameters"},
        {"f32[4,4] f32[]", "reduce-window(a, b), window={size=2x2 stride=2x1}, to_apply=add", "f32[2,3]{1,0}", NULL},
        {"f32[4] f32[]", "reduce-window(a, b), window={size=3 pad=1_1 rhs_dilate=2}, to_apply=add", "f32[2]{0}", NULL},
        {"f32[4] f32[]", "reduce-window(a, b), window={size=2x2}, to_apply=add", NULL, "window of 2 dimensions"},
        {"f32[4] f32[2] f32[]", "select-and-scatter(a, b, c), window={size=2 stride=2}, select=ge, scatter=add",
         "f32[4]{0}", NULL},
        {"f32[4] f32[3] f32[]", "select-and-scatter(a, b, c), window={size=2 stride=2}, select=ge, scatter=add", NULL,
         "source"},
        {"f32[4] f32[4]", "map(a, b), dimensions={0}, to_apply=add", "f32[4]{0}", NULL},
        {"f32[4] f32[5]", "map(a, b), dimensions={0}, to_apply=add", NULL, "one shape"},
        {"f32[4,2]{0,1}", "sort(a), dimensions={0}, to_apply=ge", "f32[4,2]{0,1}", NULL},
        {"f32[4] s32[4]", "sort(a, b), dimensions={0}, to_apply=less2", "(f32[4]{0}, s32[4]{0})", NULL},
        {"f32[4]", "sort(a), dimensions={1}, to_apply=add", "f32[4]{0}", NULL},
        {"f32[4] s32[5]", "sort(a, b), dimensions={0}, to_apply=less2", NULL, "same dimensions"},
        {"f32[3,8]", "topk(a), k=2, largest=true", "(f32[3,2]{1,0}, s32[3,2]{1,0})", NULL},
        {"f32[3,8]", "topk(a), k=9, largest=true", NULL, "k in [0, 8]"},
    };
    check_rows(rows, HLO_COUNT(rows));
}

static void infer_dots_list_batch_then_free_dimensions(void **state) {
    (void)state;
    static const Row rows[] = {
        {"f32[2,3] f32[3,5]", "dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "f32[2,5]{1,0}", NULL},
        {"f32[7,2,3] f32[3,7,5]",
         "dot(a, b), lhs_batch_dims={0}, rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={0}",
         "f32[7,2,5]{2,1,0}", NULL},
        {"f32[2,3] f32[4,5]", "dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}", NULL, "different sizes"},
        {"f32[2,3] f32[3,5]", "dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={}", NULL, "1 contracting"},
        {"f32[2,3] f32[3,5]", "dot(a, b), lhs_contracting_dims={2}, rhs_contracting_dims={0}", NULL, "in [0, 2)"},
        {"f32[1,8,8,4] f32[3,3,4,16]", "convolution(a, b), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
         "f32[1,8,8,16]{3,2,1,0}", NULL},
        {"f32[1,8,8,4] f32[3,3,2,16]",
         "convolution(a, b), window={size=3x3}, dim_labels=b01f_01io->b01f, feature_group_count=2",
         "f32[1,6,6,16]{3,2,1,0}", NULL},
        {"f32[1,8] (f32[2,5],s32[2,5])",
         "convolution(a, b), dim_labels=bf_io->bf, sparsity_config={rhs={sparsity=1x4 dimension=0 stride=1}}",
         "f32[1,5]{1,0}", NULL},
        {"f32[1,9] (f32[2,5],s32[2,5])",
         "convolution(a, b), dim_labels=bf_io->bf, sparsity_config={rhs={sparsity=1x4 dimension=0 stride=1}}", NULL,
         "9 input features"},
        {"f32[1,8] (f32[2,5],s32[2,5])",
         "convolution(a, b), dim_labels=bf_io->bf, sparsity_config={rhs={sparsity=1x4 dimension=2 stride=1}}", NULL,
         "sparse in dimension 2"},
        {"f32[1,8,8,4] f32[3,3,3,16]", "convolution(a, b), window={size=3x3}, dim_labels=b01f_01io->b01f", NULL,
         "do not fit"},
        {"f32[1,8,8,4] f32[3,3,4,16]", "convolution(a, b), window={size=2x3}, dim_labels=b01f_01io->b01f", NULL,
         "window size 2"},
        {"f32[11,5] f32[3,5,7] s32[3]",
         "ragged-dot(a, b, c), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, "
         "rhs_group_dims={0}",
         "f32[11,7]{1,0}", NULL},
    };
    check_rows(rows, HLO_COUNT(rows));
}

static void infer_gather_and_scatter_check_their_numbers(void **state) {
    (void)state;
#define GATHER(offset, collapsed, map, sizes)                                                        \
    "gather(a, b), offset_dims=" offset ", collapsed_slice_dims=" collapsed ", start_index_map=" map \
    ", index_vector_dim=1, slice_sizes=" sizes
#define SCATTER(window, inserted, map)                                                \
    "scatter(a, b, c), update_window_dims=" window ", inserted_window_dims=" inserted \
    ", scatter_dims_to_operand_dims=" map ", index_vector_dim=1, to_apply=add"
    static const Row rows[] = {
        {"f32[10,20] s32[5,1]", GATHER("{1}", "{0}", "{0}", "{1,20}"), "f32[5,20]{1,0}", NULL},
        {"f32[10,20] s32[5]", GATHER("{1}", "{0}", "{0}", "{1,20}"), "f32[5,20]{1,0}", NULL},
        {"f32[10,20] f32[5,1]", GATHER("{1}", "{0}", "{0}", "{1,20}"), NULL, "integers"},
        {"f32[10,20] s32[5,1]", GATHER("{1}", "{0}", "{0}", "{2,20}"), NULL, "must be 0 or 1"},
        {"f32[10,20] s32[5,1]", GATHER("{1}", "{0}", "{0}", "{1,21}"), NULL, "slice size"},
        {"f32[10,20] s32[5,1]", GATHER("{1}", "{0}", "{2}", "{1,20}"), NULL, "in [0, 2)"},
        {"f32[10,20] s32[5,2]", GATHER("{1}", "{0}", "{0}", "{1,20}"), NULL, "start_index_map"},
        {"f32[10,20]{0,1} s32[5,1] f32[5,20]", SCATTER("{1}", "{0}", "{0}"), "f32[10,20]{0,1}", NULL},
        {"f32[10,20] s32[5,1] f32[5,21]", SCATTER("{1}", "{0}", "{0}"), NULL, "exceeds"},
        {"f32[10,20] s32[5,1] f32[6,20]", SCATTER("{1}", "{0}", "{0}"), NULL, "does not fit the indices"},
        {"f32[10,20] s32[5,1] f32[5]", SCATTER("{1}", "{0}", "{0}"), NULL, "rank 2"},
        {"s32[10,20] s32[5,1] s32[5,20]", SCATTER("{1}", "{0}", "{0}"), NULL, "initial value"},
    };
#undef GATHER
#undef SCATTER
    check_rows(rows, HLO_COUNT(rows));
}

static void infer_control_flow_follows_the_callees(void **state) {
    (void)state;
    static const Row rows[] = {
        {"f32[4]{0:S(1)}", "while(a), condition=test, body=body", "f32[4]{0:S(1)}", NULL},
        {"f32[5]", "while(a), condition=test, body=body", NULL, "one shape"},
        {"f32[4]", "while(a), condition=body, body=body", NULL, "must return pred[]"},
        {"f32[4]", "while(a), condition=test, body=half", NULL, "one shape"},
        {"pred[] f32[4]", "conditional(a, b, b), true_computation=body, false_computation=body", "f32[4]{0}", NULL},
        {"s32[] f32[4]", "conditional(a, b, b), branch_computations={body, half}", NULL, "different shapes"},
        {"f32[4]", "call(a), to_apply=half", "f32[2]{0}", NULL},
        {"f32[5]", "call(a), to_apply=half", NULL, "parameter 0"},
        {"f32[4]", "call(a, a), to_apply=half", NULL, "takes 1 arguments"},
        {"f32[4] s32[]", "tuple(a, b)", "(f32[4]{0}, s32[])", NULL},
        {"", "tuple()", "()", NULL},
        {"(f32[4],s32[])", "get-tuple-element(a), index=1", "s32[]", NULL},
        {"f32[4]", "get-tuple-element(a), index=1", NULL, "tuple"},
        {"token[]", "after-all(a)", "token[]", NULL},
    };
    check_rows(rows, HLO_COUNT(rows));
}

static void infer_linear_algebra_checks_matrices(void **state) {
    (void)state;
    static const Row rows[] = {
        {"c64[3,8]{0,1}", "fft(a), fft_type=FFT, fft_length={8}", "c64[3,8]{0,1}", NULL},
        {"f32[3,8]", "fft(a), fft_type=RFFT, fft_length={8}", "c64[3,5]{1,0}", NULL},
        {"c64[3,5]", "fft(a), fft_type=IRFFT, fft_length={8}", "f32[3,8]{1,0}", NULL},
        {"f32[3,8]", "fft(a), fft_type=FFT, fft_length={8}", NULL, "complex"},
        {"f32[3,8]", "fft(a), fft_type=RFFT, fft_length={7}", NULL, "must be 7"},
        {"f32[4,3,3]{1,2,0}", "cholesky(a)", "f32[4,3,3]{1,2,0}", NULL},
        {"f32[4,3]", "cholesky(a)", NULL, "must be equal"},
        {"f32[3,3] f32[3,7]{0,1}", "triangular-solve(a, b), left_side=true, transpose_a=NO_TRANSPOSE", "f32[3,7]{0,1}",
         NULL},
        {"f32[3,3] f32[7,4]", "triangular-solve(a, b), transpose_a=NO_TRANSPOSE", NULL, "do not fit"},
        {"f32[3,3] f32[3,7]", "triangular-solve(a, b), left_side=true", NULL, "transpose_a"},
        {"f32[2,5] f32[5] f32[5]", "batch-norm-training(a, b, c), epsilon=0.1, feature_index=1",
         "(f32[2,5]{1,0}, f32[5]{0}, f32[5]{0})", NULL},
        {"f32[2,5] f32[4] f32[5]", "batch-norm-training(a, b, c), epsilon=0.1, feature_index=1", NULL, "operand 1"},
    };
    check_rows(rows, HLO_COUNT(rows));
}

// Tuples of tuples double their leaves with every line; the shape could be neither printed nor compared.
static void infer_tuple_refuses_exploding_shapes(void **state) {
    (void)state;
    HloBuffer text = {0};
    HloModule *m = NULL;
    hlo_put_string(&text, "HloModule m\nENTRY e {\n  t0 = f32[] parameter(0)\n");
    for (int i = 1; i < 40; i++) hlo_putf(&text, "  t%d = tuple(t%d, t%d)\n", i, i - 1, i - 1);
    hlo_put_string(&text, "  ROOT r = tuple(t39)\n}\n");
    HloStatus status = hlo_parse_module((HloStringView){text.data, text.size},
                                        &(HloParseOptions){.hlo_version = HLO_VERSION_2026_08}, &m);
    assert_int_equal(hlo_status_code(status), HLO_INVALID_ARGUMENT);
    assert_non_null(strstr(hlo_status_message(status), "parts"));
    hlo_status_free(status);
    hlo_buffer_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(infer_elementwise_keeps_the_operands_shape),
        cmocka_unit_test(infer_binary_joins_shapes),
        cmocka_unit_test(infer_ternary_takes_its_layout_from_the_spec),
        cmocka_unit_test(infer_movement_computes_sizes),
        cmocka_unit_test(infer_reductions_follow_the_computation),
        cmocka_unit_test(infer_dots_list_batch_then_free_dimensions),
        cmocka_unit_test(infer_gather_and_scatter_check_their_numbers),
        cmocka_unit_test(infer_control_flow_follows_the_callees),
        cmocka_unit_test(infer_linear_algebra_checks_matrices),
        cmocka_unit_test(infer_tuple_refuses_exploding_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
