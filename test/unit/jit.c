// Code generation by value: small programs compiled, run, and compared with what the interpreter chapter says.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hlo/compare.h"
#include "hlo/cpu.h"
#include "hlo/text.h"

typedef struct Case {
    const char *name;
    const char *body;  // the entry's lines; or a whole module when it starts with `HloModule`
    const char *arguments[4];
    const char *expected;
} Case;

// The result's text may differ in the last bits of floats.
static const HloErrorBounds bounds = {1e-6, 1e-6};

static HloStatus parse(const char *body, HloModule **out) {
    HloBuffer text = {0};
    if (strncmp(body, "HloModule", 9) != 0) {
        hlo_putf(&text, "HloModule m\nENTRY e {\n%s\n}\n", body);
    } else {
        hlo_put_string(&text, body);
    }
    HloStatus status = hlo_parse_module((HloStringView){text.data, text.size}, &(HloParseOptions){0}, out);
    hlo_buffer_free(&text);
    return status;
}

static HloStatus run_with(HloModule *m, const HloBufferAssignment *buffers, const Case *c, HloArena *arena,
                          HloLiteral **result) {
    const HloLlvm *llvm;
    HloExecutable *executable;
    HloLiteral *arguments[4] = {NULL};
    size_t count = 0;
    for (; count < 4 && c->arguments[count]; count++) {
        HLO_TRY(hlo_parse_literal(arena, &m->shapes, hlo_view(c->arguments[count]), &arguments[count]));
    }
    HLO_TRY(hlo_llvm_open(&llvm));
    HLO_TRY(llvm->compile(m, buffers, &executable));
    HloStatus status = llvm->execute(executable, (const HloLiteral *const *)arguments, count, arena, result);
    llvm->executable_free(executable);
    return status;
}

// Without passes that change operations, so that every one reaches the code generator as written; loops need their
// copies.
static HloStatus run(HloModule *m, const Case *c, HloArena *arena, HloLiteral **result) {
    HloElement *pipeline;
    HloRunner runner = {0};
    bool changed;
    HLO_TRY(hlo_pipeline_parse(arena, "test", hlo_view("copy-insertion"), &pipeline));
    HLO_TRY(hlo_pipeline_run(pipeline, m, &runner, &changed));
    HLO_TRY(hlo_cpu_schedule(m));
    HloBufferAssignment *buffers;
    HLO_TRY(hlo_assign_buffers(m, &buffers));
    HloStatus status = run_with(m, buffers, c, arena, result);
    hlo_buffer_assignment_free(buffers);
    return status;
}

static HloStatus check(HloModule *m, const Case *c) {
    HloArena arena = {0};
    HloLiteral *result = NULL, *expected = NULL;
    HloStatus status = run(m, c, &arena, &result);
    if (hlo_is_ok(status)) status = hlo_parse_literal(&arena, &m->shapes, hlo_view(c->expected), &expected);
    if (hlo_is_ok(status)) status = hlo_literal_compare(expected, result, bounds);
    hlo_arena_free(&arena);
    return status;
}

static void expect_cases(const Case *cases, size_t count) {
    size_t failed = 0;
    for (size_t k = 0; k < count; k++) {
        HloModule *m = NULL;
        HloStatus status = parse(cases[k].body, &m);
        if (hlo_is_ok(status)) status = check(m, &cases[k]);
        if (!hlo_is_ok(status)) {
            print_message("%s: %s: %s\n", cases[k].name, hlo_code_name(hlo_status_code(status)),
                          hlo_status_message(status));
            failed++;
        }
        hlo_status_free(status);
        if (m) hlo_module_free(m);
    }
    assert_int_equal(failed, 0);
}

// ---- elementwise ----------------------------------------------------------------------------------------

static void jit_integers_never_trap(void **state) {
    (void)state;
    static const Case cases[] = {
        {"signed division",
         "a = s32[5] parameter(0) b = s32[5] parameter(1) ROOT r = s32[5] divide(a, b)",
         {"s32[5] {7, -7, 5, -2147483648, 0}", "s32[5] {2, 2, 0, -1, 0}"},
         "s32[5] {3, -3, -1, -2147483648, -1}"},
        {"unsigned division",
         "a = u8[3] parameter(0) b = u8[3] parameter(1) ROOT r = u8[3] divide(a, b)",
         {"u8[3] {200, 7, 0}", "u8[3] {3, 0, 0}"},
         "u8[3] {66, 255, 255}"},
        {"signed remainder",
         "a = s8[5] parameter(0) b = s8[5] parameter(1) ROOT r = s8[5] remainder(a, b)",
         {"s8[5] {7, -7, 5, -128, 0}", "s8[5] {4, 4, 0, -1, 3}"},
         "s8[5] {3, -3, 5, 0, 0}"},
        {"shifts past the width",
         "a = s32[4] parameter(0) b = s32[4] parameter(1) ROOT r = s32[4] shift-right-arithmetic(a, b)",
         {"s32[4] {-8, -8, 8, 8}", "s32[4] {1, 40, 40, -1}"},
         "s32[4] {-4, -1, 0, 0}"},
        {"logical shift",
         "a = s32[3] parameter(0) b = s32[3] parameter(1) ROOT r = s32[3] shift-right-logical(a, b)",
         {"s32[3] {-1, -1, 5}", "s32[3] {28, 32, 1}"},
         "s32[3] {15, 0, 2}"},
        {"left shift",
         "a = u16[2] parameter(0) b = u16[2] parameter(1) ROOT r = u16[2] shift-left(a, b)",
         {"u16[2] {3, 3}", "u16[2] {2, 16}"},
         "u16[2] {12, 0}"},
        {"power",
         "a = s32[4] parameter(0) b = s32[4] parameter(1) ROOT r = s32[4] power(a, b)",
         {"s32[4] {3, 1, -1, 2}", "s32[4] {4, -5, -3, 0}"},
         "s32[4] {81, 1, 0, 1}"},
        {"abs and sign of the least value",
         "a = s8[3] parameter(0) b = s8[3] abs(a) c = s8[3] sign(a) ROOT r = (s8[3], s8[3]) tuple(b, c)",
         {"s8[3] {-128, 0, 5}"},
         "(s8[3] {-128, 0, 5}, s8[3] {-1, 0, 1})"},
        {"counting bits",
         "a = u8[3] parameter(0) b = u8[3] popcnt(a) c = u8[3] count-leading-zeros(a) ROOT r = (u8[3], u8[3]) tuple(b, "
         "c)",
         {"u8[3] {0, 255, 18}"},
         "(u8[3] {0, 8, 2}, u8[3] {8, 0, 3})"},
        {"four bits wrap", "a = s4[3] parameter(0) ROOT r = s4[3] add(a, a)", {"s4[3] {7, -8, 3}"}, "s4[3] {-2, 0, 6}"},
        {"predicates",
         "a = pred[2] parameter(0) b = pred[2] parameter(1) c = pred[2] add(a, b) d = pred[2] xor(a, b) ROOT r = "
         "(pred[2], pred[2]) tuple(c, d)",
         {"pred[2] {1, 1}", "pred[2] {0, 1}"},
         "(pred[2] {1, 1}, pred[2] {1, 0})"},
    };
    expect_cases(cases, HLO_COUNT(cases));
}

static void jit_floats_follow_their_rules(void **state) {
    (void)state;
    static const Case cases[] = {
        {"maximum keeps NaN of either side",
         "a = f32[3] parameter(0) b = f32[3] parameter(1) ROOT r = f32[3] maximum(a, b)",
         {"f32[3] {nan, 1, 2}", "f32[3] {1, nan, 3}"},
         "f32[3] {nan, nan, 3}"},
        {"minimum",
         "a = f32[3] parameter(0) b = f32[3] parameter(1) ROOT r = f32[3] minimum(a, b)",
         {"f32[3] {nan, 1, 2}", "f32[3] {1, nan, 3}"},
         "f32[3] {nan, nan, 2}"},
        {"clamp",
         "a = f32[] parameter(0) x = f32[4] parameter(1) b = f32[] parameter(2) ROOT r = f32[4] clamp(a, x, b)",
         {"f32[] -1", "f32[4] {-5, 0.5, 7, nan}", "f32[] 2"},
         "f32[4] {-1, 0.5, 2, nan}"},
        {"clamp with crossed bounds gives the upper one",
         "a = f32[] parameter(0) x = f32[] parameter(1) b = f32[] parameter(2) ROOT r = f32[] clamp(a, x, b)",
         {"f32[] 3", "f32[] 0", "f32[] 1"},
         "f32[] 1"},
        {"compare with NaN",
         "a = f32[2] parameter(0) b = pred[2] compare(a, a), direction=EQ c = pred[2] compare(a, a), direction=NE ROOT "
         "r = (pred[2], pred[2]) tuple(b, c)",
         {"f32[2] {nan, 1}"},
         "(pred[2] {0, 1}, pred[2] {1, 0})"},
        {"total order",
         "a = f32[4] parameter(0) b = f32[4] parameter(1) ROOT r = pred[4] compare(a, b), direction=LT, "
         "type=TOTALORDER",
         {"f32[4] {-0, -nan, inf, 1}", "f32[4] {0, -inf, nan, 1}"},
         "pred[4] {1, 1, 1, 0}"},
        {"rounding",
         "a = f32[4] parameter(0) b = f32[4] round-nearest-even(a) c = f32[4] round-nearest-afz(a) ROOT r = (f32[4], "
         "f32[4]) tuple(b, c)",
         {"f32[4] {0.5, 1.5, -2.5, 2.4}"},
         "(f32[4] {0, 2, -2, 2}, f32[4] {1, 2, -3, 2})"},
        {"remainder has the sign of the dividend",
         "a = f32[3] parameter(0) b = f32[3] parameter(1) ROOT r = f32[3] remainder(a, b)",
         {"f32[3] {-7, 7, 1}", "f32[3] {4, -4, 0}"},
         "f32[3] {-3, 3, nan}"},
        {"functions",
         "a = f32[3] parameter(0) b = f32[3] exponential(a) c = f32[3] log(b) d = f32[3] tanh(a) e = f32[3] "
         "logistic(a) ROOT r = (f32[3], f32[3], f32[3], f32[3]) tuple(b, c, d, e)",
         {"f32[3] {0, 1, -2}"},
         "(f32[3] {1, 2.71828183, 0.135335283}, f32[3] {0, 1, -2}, f32[3] {0, 0.761594156, -0.96402758}, f32[3] {0.5, "
         "0.731058579, 0.119202922})"},
        {"edges of exp",
         "a = f32[4] parameter(0) ROOT b = f32[4] exponential(a)",
         {"f32[4] {inf, -inf, nan, 100}"},
         "f32[4] {inf, 0, nan, inf}"},
        {"edges of log",
         "a = f32[4] parameter(0) ROOT b = f32[4] log(a)",
         {"f32[4] {0, -1, inf, nan}"},
         "f32[4] {-inf, nan, inf, nan}"},
        {"more functions",
         "a = f64[2] parameter(0) b = f64[2] cbrt(a) c = f64[2] erf(a) ROOT r = (f64[2], f64[2]) tuple(b, c)",
         {"f64[2] {8, 0.5}"},
         "(f64[2] {2, 0.79370052598}, f64[2] {1, 0.52049987781})"},
        {"one rounding per operation in bf16",
         "a = bf16[2] parameter(0) b = bf16[2] parameter(1) ROOT r = bf16[2] add(a, b)",
         {"bf16[2] {256, 1}", "bf16[2] {1, 1}"},
         "bf16[2] {256, 2}"},
        {"half precision",
         "a = f16[3] parameter(0) ROOT r = f16[3] multiply(a, a)",
         {"f16[3] {300, 1.5, 0.0001}"},
         "f16[3] {inf, 2.25, 1.192e-07}"},
        {"reduced precision",
         "a = f32[3] parameter(0) ROOT r = f32[3] reduce-precision(a), exponent_bits=5, mantissa_bits=10",
         {"f32[3] {1.0001, 70000, 1e-8}"},
         "f32[3] {1, inf, 0}"},
        {"finite",
         "a = f32[3] parameter(0) ROOT r = pred[3] is-finite(a)",
         {"f32[3] {1, inf, nan}"},
         "pred[3] {1, 0, 0}"},
    };
    expect_cases(cases, HLO_COUNT(cases));
}

static void jit_conversions_saturate_wrap_and_round(void **state) {
    (void)state;
    static const Case cases[] = {
        {"float to signed",
         "a = f32[6] parameter(0) ROOT r = s32[6] convert(a)",
         {"f32[6] {3.9, -3.9, 3e9, -3e9, nan, inf}"},
         "s32[6] {3, -3, 2147483647, -2147483648, 0, 2147483647}"},
        {"float to unsigned",
         "a = f32[4] parameter(0) ROOT r = u8[4] convert(a)",
         {"f32[4] {-1.5, 300, nan, 7.5}"},
         "u8[4] {0, 255, 0, 7}"},
        {"integer to narrower integer",
         "a = s32[2] parameter(0) ROOT r = u8[2] convert(a)",
         {"s32[2] {300, -1}"},
         "u8[2] {44, 255}"},
        {"to predicate",
         "a = f32[4] parameter(0) ROOT r = pred[4] convert(a)",
         {"f32[4] {0, -0, nan, 0.5}"},
         "pred[4] {0, 0, 1, 1}"},
        {"to bf16",
         "a = f32[3] parameter(0) ROOT r = bf16[3] convert(a)",
         {"f32[3] {1.00390625, 1.01171875, 3.4e38}"},
         "bf16[3] {1, 1.016, inf}"},
        {"to f8e4m3fn",
         "a = f32[5] parameter(0) ROOT r = f8e4m3fn[5] convert(a)",
         {"f32[5] {464, 465, 0.001, -3.3, 448}"},
         "f8e4m3fn[5] {448, nan, 0.00195, -3.25, 448}"},
        {"to f8e5m2",
         "a = f32[4] parameter(0) ROOT r = f8e5m2[4] convert(a)",
         {"f32[4] {1e6, 57344, 0.00001, 1.3}"},
         "f8e5m2[4] {inf, 57344, 1.5e-05, 1.25}"},
        {"f8 back to f32",
         "a = f8e4m3fn[3] parameter(0) ROOT r = f32[3] convert(a)",
         {"f8e4m3fn[3] {448, 0.00195, nan}"},
         "f32[3] {448, 0.001953125, nan}"},
        {"bits",
         "a = f32[2] parameter(0) ROOT r = s32[2] bitcast-convert(a)",
         {"f32[2] {1, -0}"},
         "s32[2] {1065353216, -2147483648}"},
        {"bits to more elements",
         "a = u32[2] parameter(0) ROOT r = u16[2,2] bitcast-convert(a)",
         {"u32[2] {65538, 3}"},
         "u16[2,2] {{2, 1}, {3, 0}}"},
        {"bits to fewer elements",
         "a = u8[1,4] parameter(0) ROOT r = u32[1] bitcast-convert(a)",
         {"u8[1,4] {{1, 2, 0, 1}}"},
         "u32[1] {16777729}"},
    };
    expect_cases(cases, HLO_COUNT(cases));
}

static void jit_complex_numbers(void **state) {
    (void)state;
    static const Case cases[] = {
        {"product and quotient",
         "a = c64[1] parameter(0) b = c64[1] parameter(1) c = c64[1] multiply(a, b) d = c64[1] divide(a, b) ROOT r = "
         "(c64[1], c64[1]) tuple(c, d)",
         {"c64[1] {(1, 2)}", "c64[1] {(3, -4)}"},
         "(c64[1] {(11, 2)}, c64[1] {(-0.2, 0.4)})"},
        {"parts",
         "a = f32[1] parameter(0) b = f32[1] parameter(1) c = c64[1] complex(a, b) d = f32[1] abs(c) e = f32[1] "
         "imag(c) ROOT r = (f32[1], f32[1]) tuple(d, e)",
         {"f32[1] {3}", "f32[1] {4}"},
         "(f32[1] {5}, f32[1] {4})"},
        {"exponential and root",
         "a = c128[1] parameter(0) b = c128[1] exponential(a) c = c128[1] sqrt(a) ROOT r = (c128[1], c128[1]) tuple(b, "
         "c)",
         {"c128[1] {(0, 2)}"},
         "(c128[1] {(-0.41614683654, 0.90929742682)}, c128[1] {(1, 1)})"},
    };
    expect_cases(cases, HLO_COUNT(cases));
}

// ---- data movement --------------------------------------------------------------------------------------

static void jit_data_moves(void **state) {
    (void)state;
    static const Case cases[] = {
        {"broadcast and transpose",
         "a = s32[2] parameter(0) b = s32[2,3] broadcast(a), dimensions={0} ROOT r = s32[3,2] transpose(b), "
         "dimensions={1,0}",
         {"s32[2] {1, 2}"},
         "s32[3,2] {{1, 2}, {1, 2}, {1, 2}}"},
        {"reshape across layouts",
         "a = s32[2,3]{0,1} parameter(0) ROOT r = s32[3,2]{0,1} reshape(a)",
         {"s32[2,3] {{1, 2, 3}, {4, 5, 6}}"},
         "s32[3,2] {{1, 2}, {3, 4}, {5, 6}}"},
        {"layout change",
         "a = s32[2,3] parameter(0) ROOT r = s32[2,3]{0,1} copy(a)",
         {"s32[2,3] {{1, 2, 3}, {4, 5, 6}}"},
         "s32[2,3] {{1, 2, 3}, {4, 5, 6}}"},
        {"slice with stride",
         "a = s32[7] parameter(0) ROOT r = s32[3] slice(a), slice={[1:6:2]}",
         {"s32[7] {0, 1, 2, 3, 4, 5, 6}"},
         "s32[3] {1, 3, 5}"},
        {"reverse",
         "a = s32[2,2] parameter(0) ROOT r = s32[2,2] reverse(a), dimensions={1}",
         {"s32[2,2] {{1, 2}, {3, 4}}"},
         "s32[2,2] {{2, 1}, {4, 3}}"},
        {"concatenate",
         "a = s32[1,2] parameter(0) b = s32[2,2] parameter(1) ROOT r = s32[3,2] concatenate(a, b), dimensions={0}",
         {"s32[1,2] {{1, 2}}", "s32[2,2] {{3, 4}, {5, 6}}"},
         "s32[3,2] {{1, 2}, {3, 4}, {5, 6}}"},
        {"pad",
         "a = s32[3] parameter(0) b = s32[] constant(9) ROOT r = s32[6] pad(a, b), padding=1_0_1",
         {"s32[3] {1, 2, 3}"},
         "s32[6] {9, 1, 9, 2, 9, 3}"},
        {"negative padding drops",
         "a = s32[4] parameter(0) b = s32[] constant(9) ROOT r = s32[3] pad(a, b), padding=-2_1",
         {"s32[4] {1, 2, 3, 4}"},
         "s32[3] {3, 4, 9}"},
        {"iota", "ROOT r = f32[2,3] iota(), iota_dimension=1", {NULL}, "f32[2,3] {{0, 1, 2}, {0, 1, 2}}"},
        {"constant", "ROOT r = s32[2,2]{0,1} constant({{1, 2}, {3, 4}})", {NULL}, "s32[2,2] {{1, 2}, {3, 4}}"},
        {"dynamic slice clamps its start",
         "a = s32[5] parameter(0) i = s32[] parameter(1) ROOT r = s32[2] dynamic-slice(a, i), dynamic_slice_sizes={2}",
         {"s32[5] {1, 2, 3, 4, 5}", "s32[] 9"},
         "s32[2] {4, 5}"},
        {"negative start",
         "a = s32[5] parameter(0) i = s32[] parameter(1) ROOT r = s32[2] dynamic-slice(a, i), dynamic_slice_sizes={2}",
         {"s32[5] {1, 2, 3, 4, 5}", "s32[] -3"},
         "s32[2] {1, 2}"},
        {"dynamic update clamps too",
         "a = s32[4] parameter(0) u = s32[2] parameter(1) i = s32[] parameter(2) ROOT r = s32[4] "
         "dynamic-update-slice(a, u, i)",
         {"s32[4] {1, 2, 3, 4}", "s32[2] {8, 9}", "s32[] 3"},
         "s32[4] {1, 2, 8, 9}"},
        {"gather clamps",
         "a = s32[3,2] parameter(0) i = s32[3] parameter(1) ROOT r = s32[3,2] gather(a, i), offset_dims={1}, "
         "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,2}",
         {"s32[3,2] {{1, 2}, {3, 4}, {5, 6}}", "s32[3] {1, 7, -1}"},
         "s32[3,2] {{3, 4}, {5, 6}, {1, 2}}"},
        {"packed elements",
         "a = s4[3]{0:E(4)} parameter(0) ROOT r = s4[3]{0:E(4)} negate(a)",
         {"s4[3] {1, -2, 7}"},
         "s4[3] {-1, 2, -7}"},
        {"no elements",
         "a = f32[0,3] parameter(0) ROOT r = f32[3,0] transpose(a), dimensions={1,0}",
         {"f32[0,3] {}"},
         "f32[3,0] {{}, {}, {}}"},
    };
    expect_cases(cases, HLO_COUNT(cases));
}

// ---- loops of their own ---------------------------------------------------------------------------------

#define ADD_S32 "add { x = s32[] parameter(0) y = s32[] parameter(1) ROOT r = s32[] add(x, y) }\n"
#define ADD_F32 "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] add(x, y) }\n"

static void jit_reductions(void **state) {
    (void)state;
    static const Case cases[] = {
        {"rows",
         "HloModule m\n" ADD_S32 "ENTRY e { a = s32[2,3] parameter(0) z = s32[] constant(10) ROOT r = s32[2] reduce(a, "
         "z), dimensions={1}, to_apply=add }",
         {"s32[2,3] {{1, 2, 3}, {4, 5, 6}}"},
         "s32[2] {16, 25}"},
        {"columns",
         "HloModule m\n" ADD_F32 "ENTRY e { a = f32[2,3] parameter(0) z = f32[] constant(0) ROOT r = f32[3] reduce(a, "
         "z), dimensions={0}, to_apply=add }",
         {"f32[2,3] {{1, 2, 3}, {4, 5, 6}}"},
         "f32[3] {5, 7, 9}"},
        {"nothing to reduce",
         "HloModule m\n" ADD_F32 "ENTRY e { a = f32[2,0] parameter(0) z = f32[] constant(7) ROOT r = f32[2] reduce(a, "
         "z), dimensions={1}, to_apply=add }",
         {"f32[2,0] {{}, {}}"},
         "f32[2] {7, 7}"},
        {"two at once",
         "HloModule m\n"
         "best { v = f32[] parameter(0) i = s32[] parameter(1) w = f32[] parameter(2) j = s32[] parameter(3) p = "
         "pred[] compare(v, w), direction=GE\n"
         "  a = f32[] select(p, v, w) b = s32[] select(p, i, j) ROOT t = (f32[], s32[]) tuple(a, b) }\n"
         "ENTRY e { a = f32[4] parameter(0) n = s32[4] iota(), iota_dimension=0 z = f32[] constant(-inf) o = s32[] "
         "constant(0)\n"
         "  ROOT r = (f32[], s32[]) reduce(a, n, z, o), dimensions={0}, to_apply=best }",
         {"f32[4] {1, 5, 3, 5}"},
         "(f32[] 5, s32[] 1)"},
        {"windows",
         "HloModule m\n" ADD_S32 "ENTRY e { a = s32[4] parameter(0) z = s32[] constant(0) ROOT r = s32[4] "
         "reduce-window(a, z), window={size=3 pad=1_1}, to_apply=add }",
         {"s32[4] {1, 2, 3, 4}"},
         "s32[4] {3, 6, 9, 7}"},
        {"strided windows with holes",
         "HloModule m\n" ADD_S32
         "ENTRY e { a = s32[3] parameter(0) z = s32[] constant(0) ROOT r = s32[2] reduce-window(a, z), window={size=2 "
         "stride=2 lhs_dilate=2 rhs_dilate=2}, to_apply=add }",
         {"s32[3] {1, 2, 3}"},
         "s32[2] {3, 5}"},
        {"select and scatter",
         "HloModule m\n" ADD_F32
         "ge { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = pred[] compare(x, y), direction=GE }\n"
         "ENTRY e { a = f32[4] parameter(0) s = f32[2] parameter(1) z = f32[] constant(0) ROOT r = f32[4] "
         "select-and-scatter(a, s, z), window={size=2 stride=2}, select=ge, scatter=add }",
         {"f32[4] {1, 3, 2, 2}", "f32[2] {10, 20}"},
         "f32[4] {0, 10, 20, 0}"},
        {"scatter drops what does not fit",
         "HloModule m\n" ADD_S32 "ENTRY e { a = s32[4] parameter(0) i = s32[4] parameter(1) u = s32[4] parameter(2)\n"
         "  ROOT r = s32[4] scatter(a, i, u), update_window_dims={}, inserted_window_dims={0}, "
         "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add }",
         {"s32[4] {1, 1, 1, 1}", "s32[4] {2, 9, 2, -1}", "s32[4] {5, 6, 7, 8}"},
         "s32[4] {1, 1, 13, 1}"},
        {"stable sort of two arrays",
         "HloModule m\nlt { a = s32[] parameter(0) b = s32[] parameter(1) c = s32[] parameter(2) d = s32[] "
         "parameter(3) ROOT r = pred[] compare(a, b), direction=LT }\n"
         "ENTRY e { k = s32[5] parameter(0) n = s32[5] iota(), iota_dimension=0 ROOT r = (s32[5], s32[5]) sort(k, n), "
         "dimensions={0}, to_apply=lt }",
         {"s32[5] {3, 1, 3, 0, 1}"},
         "(s32[5] {0, 1, 1, 3, 3}, s32[5] {3, 1, 4, 0, 2})"},
        {"sort along the first dimension",
         "HloModule m\nlt { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=LT "
         "}\n"
         "ENTRY e { k = f32[3,2] parameter(0) ROOT r = f32[3,2] sort(k), dimensions={0}, to_apply=lt }",
         {"f32[3,2] {{3, 1}, {1, 2}, {2, 0}}"},
         "f32[3,2] {{1, 0}, {2, 1}, {3, 2}}"},
        {"map",
         "HloModule m\nf { x = f32[] parameter(0) y = f32[] parameter(1) m = f32[] multiply(x, y) ROOT r = f32[] "
         "add(m, x) }\n"
         "ENTRY e { a = f32[2] parameter(0) b = f32[2] parameter(1) ROOT r = f32[2] map(a, b), dimensions={0}, "
         "to_apply=f }",
         {"f32[2] {2, 3}", "f32[2] {4, 5}"},
         "f32[2] {10, 18}"},
    };
    expect_cases(cases, HLO_COUNT(cases));
}

static void jit_products(void **state) {
    (void)state;
    static const Case cases[] = {
        {"matrices",
         "a = f32[2,3] parameter(0) b = f32[3,2] parameter(1) ROOT r = f32[2,2] dot(a, b), lhs_contracting_dims={1}, "
         "rhs_contracting_dims={0}",
         {"f32[2,3] {{1, 2, 3}, {4, 5, 6}}", "f32[3,2] {{1, 0}, {0, 1}, {1, 1}}"},
         "f32[2,2] {{4, 5}, {10, 11}}"},
        {"vectors",
         "a = f32[3] parameter(0) b = f32[3] parameter(1) ROOT r = f32[] dot(a, b), lhs_contracting_dims={0}, "
         "rhs_contracting_dims={0}",
         {"f32[3] {1, 2, 3}", "f32[3] {4, 5, 6}"},
         "f32[] 32"},
        {"batches, other dimensions swapped",
         "a = s32[2,2,2] parameter(0) b = s32[2,2,2] parameter(1) ROOT r = s32[2,2,2] dot(a, b), lhs_batch_dims={0}, "
         "rhs_batch_dims={1}, lhs_contracting_dims={1}, rhs_contracting_dims={2}",
         {"s32[2,2,2] {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}}", "s32[2,2,2] {{{1, 0}, {0, 1}}, {{1, 1}, {2, 0}}}"},
         "s32[2,2,2] {{{1, 4}, {2, 6}}, {{7, 10}, {8, 12}}}"},
        {"narrow integers add up in the result's type",
         "a = s8[2] parameter(0) b = s8[2] parameter(1) ROOT r = s32[] dot(a, b), lhs_contracting_dims={0}, "
         "rhs_contracting_dims={0}",
         {"s8[2] {100, 100}", "s8[2] {100, 100}"},
         "s32[] 20000"},
        {"predicates",
         "a = pred[2,2] parameter(0) b = pred[2] parameter(1) ROOT r = pred[2] dot(a, b), lhs_contracting_dims={1}, "
         "rhs_contracting_dims={0}",
         {"pred[2,2] {{1, 0}, {0, 0}}", "pred[2] {1, 1}"},
         "pred[2] {1, 0}"},
        {"bf16 rounds once",
         "a = bf16[2] parameter(0) b = bf16[2] parameter(1) ROOT r = bf16[] dot(a, b), lhs_contracting_dims={0}, "
         "rhs_contracting_dims={0}",
         {"bf16[2] {256, 1}", "bf16[2] {1, 1}"},
         "bf16[] 256"},
        {"complex",
         "a = c64[2] parameter(0) b = c64[2] parameter(1) ROOT r = c64[] dot(a, b), lhs_contracting_dims={0}, "
         "rhs_contracting_dims={0}",
         {"c64[2] {(1, 1), (0, 2)}", "c64[2] {(1, -1), (3, 0)}"},
         "c64[] (2, 6)"},
        {"nothing contracted",
         "a = f32[2] parameter(0) b = f32[2] parameter(1) ROOT r = f32[2,2] dot(a, b), lhs_contracting_dims={}, "
         "rhs_contracting_dims={}",
         {"f32[2] {1, 2}", "f32[2] {3, 4}"},
         "f32[2,2] {{3, 4}, {6, 8}}"},
        {"an empty contraction is zero",
         "a = f32[2,0] parameter(0) b = f32[0,2] parameter(1) ROOT r = f32[2,2] dot(a, b), lhs_contracting_dims={1}, "
         "rhs_contracting_dims={0}",
         {"f32[2,0] {{}, {}}", "f32[0,2] {}"},
         "f32[2,2] {{0, 0}, {0, 0}}"},
        {"convolution with padding",
         "a = f32[1,4,1] parameter(0) k = f32[3,1,1] parameter(1) ROOT r = f32[1,4,1] convolution(a, k), "
         "window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f",
         {"f32[1,4,1] {{{1}, {2}, {3}, {4}}}", "f32[3,1,1] {{{1}}, {{10}}, {{100}}}"},
         "f32[1,4,1] {{{210}, {321}, {432}, {43}}}"},
        {"grouped convolution",
         "a = f32[1,2,2] parameter(0) k = f32[1,1,2] parameter(1) ROOT r = f32[1,2,2] convolution(a, k), "
         "window={size=1}, dim_labels=b0f_0io->b0f, feature_group_count=2",
         {"f32[1,2,2] {{{1, 2}, {3, 4}}}", "f32[1,1,2] {{{10, 100}}}"},
         "f32[1,2,2] {{{10, 200}, {30, 400}}}"},
        {"integer convolution saturates",
         "a = s8[1,1,2] parameter(0) k = s8[1,2,1] parameter(1) ROOT r = s8[1,1,1] convolution(a, k), window={size=1}, "
         "dim_labels=b0f_0io->b0f",
         {"s8[1,1,2] {{{100, 100}}}", "s8[1,2,1] {{{1}, {1}}}"},
         "s8[1,1,1] {{{127}}}"},
    };
    expect_cases(cases, HLO_COUNT(cases));
}

// A product large enough for tiles, with rows and columns left over, in both orientations.
static void jit_tiled_products_agree_with_sums(void **state) {
    (void)state;
    static const Case cases[] = {
        {"ones",
         "HloModule m\n" ADD_F32 "ENTRY e { i = f32[15,37] iota(), iota_dimension=0 o = f32[] constant(1) b = "
         "f32[37,45] broadcast(o), dimensions={}\n"
         "  d = f32[15,45] dot(i, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} z = f32[] constant(0)\n"
         "  c = f32[15] reduce(d, z), dimensions={1}, to_apply=add s = f32[] reduce(d, z), dimensions={0,1}, "
         "to_apply=add ROOT r = (f32[15], f32[]) tuple(c, s) }",
         {NULL},
         "(f32[15] {0, 1665, 3330, 4995, 6660, 8325, 9990, 11655, 13320, 14985, 16650, 18315, 19980, 21645, 23310}, "
         "f32[] 174825)"},
        {"transposed",
         "HloModule m\n" ADD_S32
         "ENTRY e { i = s32[37,50] iota(), iota_dimension=1 j = s32[13,37] iota(), iota_dimension=0\n"
         "  d = s32[50,13] dot(i, j), lhs_contracting_dims={0}, rhs_contracting_dims={1} z = s32[] constant(0)\n"
         "  ROOT s = s32[13] reduce(d, z), dimensions={0}, to_apply=add }",
         {NULL},
         "s32[13] {0, 45325, 90650, 135975, 181300, 226625, 271950, 317275, 362600, 407925, 453250, 498575, 543900}"},
    };
    expect_cases(cases, HLO_COUNT(cases));
}

// ---- control flow and fusions ---------------------------------------------------------------------------

static void jit_control_flow(void **state) {
    (void)state;
    static const Case cases[] = {
        {"while",
         "HloModule m\nbody { p = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(p), index=0 s = s32[] "
         "get-tuple-element(p), index=1 o = s32[] constant(1)\n"
         "  j = s32[] add(i, o) t = s32[] add(s, i) ROOT r = (s32[], s32[]) tuple(j, t) }\n"
         "cond { p = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(p), index=0 n = s32[] constant(10) ROOT r "
         "= pred[] compare(i, n), direction=LT }\n"
         "ENTRY e { z = s32[] parameter(0) y = s32[] parameter(1) t = (s32[], s32[]) tuple(z, y) w = (s32[], s32[]) "
         "while(t), condition=cond, body=body\n"
         "  ROOT r = s32[] get-tuple-element(w), index=1 }",
         {"s32[] 0", "s32[] 0"},
         "s32[] 45"},
        {"a number outside takes the last branch",
         "HloModule m\na { x = f32[] parameter(0) ROOT r = f32[] negate(x) }\nb { x = f32[] parameter(0) ROOT r = "
         "f32[] add(x, x) }\n"
         "ENTRY e { i = s32[] parameter(0) x = f32[] parameter(1) ROOT r = f32[] conditional(i, x, x), "
         "branch_computations={a, b} }",
         {"s32[] -4", "f32[] 3"},
         "f32[] 6"},
        {"true takes the first branch",
         "HloModule m\na { x = f32[] parameter(0) ROOT r = f32[] negate(x) }\nb { x = f32[] parameter(0) ROOT r = "
         "f32[] add(x, x) }\n"
         "ENTRY e { i = pred[] parameter(0) x = f32[] parameter(1) ROOT r = f32[] conditional(i, x, x), "
         "true_computation=a, false_computation=b }",
         {"pred[] true", "f32[] 3"},
         "f32[] -3"},
        {"call",
         "HloModule m\nf { x = s32[2] parameter(0) y = s32[2] parameter(1) ROOT r = s32[2] multiply(x, y) }\nENTRY e { "
         "a = s32[2] parameter(0) ROOT r = s32[2] call(a, a), to_apply=f }",
         {"s32[2] {3, 4}"},
         "s32[2] {9, 16}"},
        {"tuples in and out",
         "p = (s32[2], (f32[], s32[])) parameter(0) a = s32[2] get-tuple-element(p), index=0 q = (f32[], s32[]) "
         "get-tuple-element(p), index=1 b = f32[] get-tuple-element(q), index=0 n = f32[] negate(b) m = s32[2] add(a, "
         "a) t = (f32[]) tuple(n) ROOT r = ((f32[]), s32[2]) tuple(t, m)",
         {"(s32[2] {1, 2}, (f32[] 3, s32[] 4))"},
         "((f32[] -3), s32[2] {2, 4})"},
    };
    expect_cases(cases, HLO_COUNT(cases));
}

static void jit_fusions(void **state) {
    (void)state;
    static const Case cases[] = {
        {"a reduction inside, used by every element",
         "HloModule m\n" ADD_F32
         "f { a = f32[3] parameter(0) z = f32[] constant(0) s = f32[] reduce(a, z), dimensions={0}, to_apply=add b = "
         "f32[3] broadcast(s), dimensions={} ROOT r = f32[3] divide(a, b) }\n"
         "ENTRY e { a = f32[3] parameter(0) ROOT r = f32[3] fusion(a), kind=kLoop, calls=f }",
         {"f32[3] {1, 2, 5}"},
         "f32[3] {0.125, 0.25, 0.625}"},
        {"several results",
         "HloModule m\nf { a = f32[2] parameter(0) n = f32[2] negate(a) s = f32[1] slice(a), slice={[1:2]} ROOT r = "
         "(f32[2], f32[1], f32[2]) tuple(n, s, a) }\n"
         "ENTRY e { a = f32[2] parameter(0) ROOT r = (f32[2], f32[1], f32[2]) fusion(a), kind=kLoop, calls=f }",
         {"f32[2] {1, 2}"},
         "(f32[2] {-1, -2}, f32[1] {2}, f32[2] {1, 2})"},
        {"a fusion in a fusion",
         "HloModule m\ng { x = f32[2] parameter(0) ROOT r = f32[2] multiply(x, x) }\nf { a = f32[2] parameter(0) b = "
         "f32[2] fusion(a), kind=kLoop, calls=g ROOT r = f32[2] add(a, b) }\n"
         "ENTRY e { a = f32[2] parameter(0) ROOT r = f32[2] fusion(a), kind=kLoop, calls=f }",
         {"f32[2] {2, 3}"},
         "f32[2] {6, 12}"},
        {"a product with an addend",
         "HloModule m\nf { a = f32[2,2] parameter(0) b = f32[2,2] parameter(1) d = f32[2,2] dot(a, b), "
         "lhs_contracting_dims={1}, rhs_contracting_dims={0} ROOT r = f32[2,2] add(d, a) }\n"
         "ENTRY e { a = f32[2,2] parameter(0) b = f32[2,2] parameter(1) ROOT r = f32[2,2] fusion(a, b), kind=kOutput, "
         "calls=f }",
         {"f32[2,2] {{1, 2}, {3, 4}}", "f32[2,2] {{1, 0}, {0, 1}}"},
         "f32[2,2] {{2, 4}, {6, 8}}"},
        {"an update of a window read before it is written",
         "HloModule m\nf { a = s32[4] parameter(0) i = s32[] parameter(1) s = s32[2] dynamic-slice(a, i), "
         "dynamic_slice_sizes={2} t = s32[2] add(s, s) ROOT r = s32[4] dynamic-update-slice(a, t, i) }\n"
         "ENTRY e { a = s32[4] parameter(0) i = s32[] parameter(1) ROOT r = s32[4] fusion(a, i), kind=kLoop, calls=f }",
         {"s32[4] {1, 2, 3, 4}", "s32[] 1"},
         "s32[4] {1, 4, 6, 4}"},
        {"a stencil of a stencil of a stencil",
         "HloModule m\nf { a = s32[6] parameter(0) b = s32[5] slice(a), slice={[0:5]} c = s32[5] slice(a), "
         "slice={[1:6]} d = s32[5] add(b, c)\n"
         "  e = s32[4] slice(d), slice={[0:4]} g = s32[4] slice(d), slice={[1:5]} h = s32[4] add(e, g) i = s32[3] "
         "slice(h), slice={[0:3]} j = s32[3] slice(h), slice={[1:4]} ROOT r = s32[3] add(i, j) }\n"
         "ENTRY e { a = s32[6] parameter(0) ROOT r = s32[3] fusion(a), kind=kLoop, calls=f }",
         {"s32[6] {1, 2, 3, 4, 5, 6}"},
         "s32[3] {20, 28, 36}"},
    };
    expect_cases(cases, HLO_COUNT(cases));
}

static void jit_library_operations(void **state) {
    (void)state;
    static const Case cases[] = {
        {"fourier transform",
         "a = c64[4] parameter(0) ROOT r = c64[4] fft(a), fft_type=FFT, fft_length={4}",
         {"c64[4] {(1, 0), (2, 0), (3, 0), (4, 0)}"},
         "c64[4] {(10, 0), (-2, 2), (-2, 0), (-2, -2)}"},
        {"real transform there and back",
         "a = f32[6] parameter(0) b = c64[4] fft(a), fft_type=RFFT, fft_length={6} ROOT r = f32[6] fft(b), "
         "fft_type=IRFFT, fft_length={6}",
         {"f32[6] {1, -2, 3, 0.5, 4, 7}"},
         "f32[6] {1, -2, 3, 0.5, 4, 7}"},
        {"threefry",
         "s = u64[2] parameter(0) ROOT r = (u64[2], u32[2]) rng-bit-generator(s), algorithm=rng_three_fry",
         {"u64[2] {0, 0}"},
         "(u64[2] {0, 1}, u32[2] {1797259609, 2579123966})"},
        {"top elements of narrow floats",
         "a = bf16[1,3] parameter(0) ROOT r = (bf16[1,2], s32[1,2]) topk(a), k=2, largest=false",
         {"bf16[1,3] {{3, 1, 2}}"},
         "(bf16[1,2] {{1, 2}}, s32[1,2] {{1, 2}})"},
        {"an annotation of shardings",
         "a = f32[2] parameter(0) ROOT r = f32[2] custom-call(a), custom_call_target=\"Sharding\"",
         {"f32[2] {3, 4}"},
         "f32[2] {3, 4}"},
        {"top elements of a row",
         "a = f32[2,4] parameter(0) ROOT r = (f32[2,2], s32[2,2]) custom-call(a), custom_call_target=\"TopK\"",
         {"f32[2,4] {{1, 4, 4, 2}, {nan, 0, -1, inf}}"},
         "(f32[2,2] {{4, 4}, {nan, inf}}, s32[2,2] {{1, 2}, {0, 3}})"},
    };
    expect_cases(cases, HLO_COUNT(cases));
}

static void jit_linear_algebra(void **state) {
    (void)state;
    static const Case cases[] = {
        {"lower triangle of a factor",
         "a = f32[2,2] parameter(0) ROOT r = f32[2,2] cholesky(a), lower=true",
         {"f32[2,2] {{4, 99}, {2, 5}}"},
         "f32[2,2] {{2, 0}, {1, 2}}"},
        {"upper triangle of a factor, in batches",
         "a = f64[2,2,2] parameter(0) ROOT r = f64[2,2,2] cholesky(a)",
         {"f64[2,2,2] {{{4, 2}, {99, 5}}, {{1, 2}, {2, 1}}}"},
         "f64[2,2,2] {{{2, 1}, {0, 2}}, {{nan, nan}, {nan, nan}}}"},
        {"solve from the left",
         "a = f32[2,2] parameter(0) b = f32[2,1] parameter(1) ROOT r = f32[2,1] triangular-solve(a, b), "
         "left_side=true, "
         "lower=true, unit_diagonal=false, transpose_a=NO_TRANSPOSE",
         {"f32[2,2] {{2, 9}, {1, 2}}", "f32[2,1] {{2}, {5}}"},
         "f32[2,1] {{1}, {2}}"},
        {"solve from the right with the transpose",
         "a = f32[2,2] parameter(0) b = f32[1,2] parameter(1) ROOT r = f32[1,2] triangular-solve(a, b), "
         "left_side=false, lower=true, unit_diagonal=true, transpose_a=TRANSPOSE",
         {"f32[2,2] {{7, 9}, {3, 7}}", "f32[1,2] {{1, 5}}"},
         "f32[1,2] {{1, 2}}"},
        {"LU with pivots",
         "a = f32[2,2]{0,1} parameter(0) ROOT r = (f32[2,2]{0,1}, s32[2], s32[]) custom-call(a), "
         "custom_call_target=\"lapack_sgetrf_ffi\", api_version=API_VERSION_TYPED_FFI, backend_config={}",
         {"f32[2,2] {{1, 2}, {3, 4}}"},
         "(f32[2,2] {{3, 4}, {0.33333333, 0.66666667}}, s32[2] {2, 2}, s32[] 0)"},
        {"QR of a column",
         "a = f64[2,1]{0,1} parameter(0) ROOT r = (f64[2,1]{0,1}, f64[1]) custom-call(a), "
         "custom_call_target=\"lapack_dgeqrf_ffi\", api_version=API_VERSION_TYPED_FFI, backend_config={}",
         {"f64[2,1] {{3}, {4}}"},
         "(f64[2,1] {{-5}, {0.5}}, f64[1] {1.6})"},
        {"eigenvalues rise",
         "a = f64[2,2]{0,1} parameter(0) c = (f64[2,2]{0,1}, f64[2], s32[]) custom-call(a), "
         "custom_call_target=\"lapack_dsyevd_ffi\", api_version=API_VERSION_TYPED_FFI, backend_config={mode = 86 : "
         "ui8, "
         "uplo = 76 : ui8} ROOT w = f64[2] get-tuple-element(c), index=1",
         {"f64[2,2] {{2, 9}, {1, 2}}"},
         "f64[2] {1, 3}"},
        {"singular values fall, and the factors multiply to the matrix",
         "a = f64[2,3]{0,1} parameter(0) c = (f64[2,3]{0,1}, f64[2], f64[2,2]{0,1}, f64[3,3]{0,1}, s32[]) "
         "custom-call(a), "
         "custom_call_target=\"lapack_dgesdd_ffi\", api_version=API_VERSION_TYPED_FFI, backend_config={mode = 65 : "
         "ui8} "
         "s = f64[2] get-tuple-element(c), index=1 u = f64[2,2]{0,1} get-tuple-element(c), index=2 v = f64[3,3]{0,1} "
         "get-tuple-element(c), index=3 t = f64[2,3] slice(v), slice={[0:2], [0:3]} b = f64[2,2] broadcast(s), "
         "dimensions={1} us = f64[2,2] multiply(u, b) m = f64[2,3] dot(us, t), lhs_contracting_dims={1}, "
         "rhs_contracting_dims={0} n = f64[3,3] dot(v, v), lhs_contracting_dims={1}, rhs_contracting_dims={1} "
         "ROOT r = (f64[2], f64[2,3], f64[3,3]) tuple(s, m, n)",
         {"f64[2,3] {{3, 0, 0}, {0, -4, 0}}"},
         "(f64[2] {4, 3}, f64[2,3] {{3, 0, 0}, {0, -4, 0}}, f64[3,3] {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}})"},
    };
    expect_cases(cases, HLO_COUNT(cases));
}

// The sum could be written over its first operand, but its second one reads the same memory in another order.
static void jit_place_shared_with_another_order_is_read_first(void **state) {
    (void)state;
    static const Case cases[] = {
        {"matrix plus its transpose",
         "a = s32[2,2] parameter(0) b = s32[2,2] negate(a) c = s32[2,2]{0,1} bitcast(b) ROOT d = s32[2,2] add(b, c)",
         {"s32[2,2] {{1, 2}, {30, 4}}"},
         "s32[2,2] {{-2, -32}, {-32, -8}}"},
    };
    expect_cases(cases, HLO_COUNT(cases));
}

// ---- refusing -------------------------------------------------------------------------------------------

static void expect_failure(const Case *c, HloCode code, const char *words) {
    HloModule *m = NULL;
    assert_true(hlo_is_ok(parse(c->body, &m)));
    HloStatus status = check(m, c);
    if (!strstr(hlo_status_message(status), words)) print_message("%s: %s\n", c->name, hlo_status_message(status));
    assert_int_equal(hlo_status_code(status), code);
    assert_non_null(strstr(hlo_status_message(status), words));
    hlo_status_free(status);
    hlo_module_free(m);
}

static void jit_unknown_operation_is_named(void **state) {
    (void)state;
    Case c = {"custom",
              "a = f32[] parameter(0) ROOT foo = f32[] custom-call(a), custom_call_target=\"bar\"",
              {"f32[] 1"},
              ""};
    expect_failure(&c, HLO_UNIMPLEMENTED, "%foo = custom-call(...): no implementation of \"bar\"");
}

static void jit_arguments_are_checked(void **state) {
    (void)state;
    Case none = {"none", "a = f32[2] parameter(0) ROOT r = f32[2] negate(a)", {NULL}, ""};
    expect_failure(&none, HLO_INVALID_ARGUMENT, "Expected 1 argument, but got 0.");
    Case other = {"other", "a = f32[2] parameter(0) ROOT r = f32[2] negate(a)", {"f32[3] {1, 2, 3}"}, ""};
    expect_failure(&other, HLO_INVALID_ARGUMENT, "Computation expected f32[2], but arg was f32[3]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jit_integers_never_trap),
        cmocka_unit_test(jit_floats_follow_their_rules),
        cmocka_unit_test(jit_conversions_saturate_wrap_and_round),
        cmocka_unit_test(jit_complex_numbers),
        cmocka_unit_test(jit_data_moves),
        cmocka_unit_test(jit_reductions),
        cmocka_unit_test(jit_products),
        cmocka_unit_test(jit_tiled_products_agree_with_sums),
        cmocka_unit_test(jit_control_flow),
        cmocka_unit_test(jit_fusions),
        cmocka_unit_test(jit_library_operations),
        cmocka_unit_test(jit_linear_algebra),
        cmocka_unit_test(jit_place_shared_with_another_order_is_read_first),
        cmocka_unit_test(jit_unknown_operation_is_named),
        cmocka_unit_test(jit_arguments_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
