// The loops behind elementwise operations: every line of elementwise.def, once for each computation type of its class.

#include <tgmath.h>

#include "lib/eval/eval.h"

// ---- functions the table names --------------------------------------------------------------------------

// By repeated squaring, modulo 2^64.
static uint64_t unsigned_power(uint64_t base, uint64_t exponent) {
    uint64_t result = 1;
    for (; exponent; exponent >>= 1, base *= base) {
        if (exponent & 1) result *= base;
    }
    return result;
}

// A negative exponent gives 0, except for the base 1.
static int64_t signed_power(int64_t base, int64_t exponent) {
    if (base == 1 || exponent == 0) return 1;
    return exponent < 0 ? 0 : (int64_t)unsigned_power((uint64_t)base, (uint64_t)exponent);
}

static double complex complex_power(double complex base, double complex exponent) {
    if (base == 1 || exponent == 0) return 1;
    bool base_is_infinite = isinf(creal(base)) && creal(base) > 0 && cimag(base) == 0;
    if (base_is_infinite && cimag(exponent) == 0) return creal(exponent) > 0 ? base : 0;
    return pow(base, exponent);
}

// ---- loops ----------------------------------------------------------------------------------------------

#define LOOP_1(name, type, out_type, expression)                                     \
    static void name(int64_t n, void *out, const void *x_data, const void *y_data) { \
        (void)y_data;                                                                \
        for (int64_t i = 0; i < n; i++) {                                            \
            type x = ((const type *)x_data)[i];                                      \
            ((out_type *)out)[i] = (out_type)(expression);                           \
        }                                                                            \
    }
#define LOOP_2(name, type, out_type, expression)                                     \
    static void name(int64_t n, void *out, const void *x_data, const void *y_data) { \
        for (int64_t i = 0; i < n; i++) {                                            \
            type x = ((const type *)x_data)[i], y = ((const type *)y_data)[i];       \
            ((out_type *)out)[i] = (out_type)(expression);                           \
        }                                                                            \
    }

#define P_1(op, e) LOOP_1(p1_##op, uint8_t, uint8_t, e)
#define S_1(op, e) LOOP_1(s1_##op, int64_t, int64_t, e)
#define U_1(op, e) LOOP_1(u1_##op, uint64_t, uint64_t, e)
#define F_1(op, e) LOOP_1(f1_##op, float, float, e) LOOP_1(d1_##op, double, double, e)
#define C_1(op, e) LOOP_1(c1_##op, float complex, float complex, e) LOOP_1(z1_##op, double complex, double complex, e)
#define P_2(op, e) LOOP_2(p2_##op, uint8_t, uint8_t, e)
#define S_2(op, e) LOOP_2(s2_##op, int64_t, int64_t, e)
#define U_2(op, e) LOOP_2(u2_##op, uint64_t, uint64_t, e)
#define F_2(op, e) LOOP_2(f2_##op, float, float, e) LOOP_2(d2_##op, double, double, e)
#define C_2(op, e) LOOP_2(c2_##op, float complex, float complex, e) LOOP_2(z2_##op, double complex, double complex, e)
#define COMPARE(direction, e)                   \
    LOOP_2(p_##direction, uint8_t, uint8_t, e)  \
    LOOP_2(s_##direction, int64_t, uint8_t, e)  \
    LOOP_2(u_##direction, uint64_t, uint8_t, e) \
    LOOP_2(f_##direction, float, uint8_t, e)    \
    LOOP_2(d_##direction, double, uint8_t, e)
#include "lib/eval/elementwise.def"

LOOP_2(c_EQ, float complex, uint8_t, x == y)
LOOP_2(c_NE, float complex, uint8_t, x != y)
LOOP_2(z_EQ, double complex, uint8_t, x == y)
LOOP_2(z_NE, double complex, uint8_t, x != y)

// ---- tables ---------------------------------------------------------------------------------------------

#define ROW(op, wide, name) [HLO_OP_##op][HLO_WIDE_##wide] = name,
#define NO_ROW(...)

HloKernel hlo_unary_kernel(HloOpcode op, HloWide wide) {
    static const HloKernel kernels[HLO_OP_COUNT][HLO_WIDE_COUNT] = {
#define P_1(op, e) ROW(op, PRED, p1_##op)
#define S_1(op, e) ROW(op, S64, s1_##op)
#define U_1(op, e) ROW(op, U64, u1_##op)
#define F_1(op, e) ROW(op, F32, f1_##op) ROW(op, F64, d1_##op)
#define C_1(op, e) ROW(op, C64, c1_##op) ROW(op, C128, z1_##op)
#define P_2 NO_ROW
#define S_2 NO_ROW
#define U_2 NO_ROW
#define F_2 NO_ROW
#define C_2 NO_ROW
#define COMPARE NO_ROW
#include "lib/eval/elementwise.def"
    };
    return wide < HLO_WIDE_COUNT ? kernels[op][wide] : NULL;
}

HloKernel hlo_binary_kernel(HloOpcode op, HloWide wide) {
    static const HloKernel kernels[HLO_OP_COUNT][HLO_WIDE_COUNT] = {
#define P_1 NO_ROW
#define S_1 NO_ROW
#define U_1 NO_ROW
#define F_1 NO_ROW
#define C_1 NO_ROW
#define P_2(op, e) ROW(op, PRED, p2_##op)
#define S_2(op, e) ROW(op, S64, s2_##op)
#define U_2(op, e) ROW(op, U64, u2_##op)
#define F_2(op, e) ROW(op, F32, f2_##op) ROW(op, F64, d2_##op)
#define C_2(op, e) ROW(op, C64, c2_##op) ROW(op, C128, z2_##op)
#define COMPARE NO_ROW
#include "lib/eval/elementwise.def"
    };
    return wide < HLO_WIDE_COUNT ? kernels[op][wide] : NULL;
}

HloKernel hlo_compare_kernel(int64_t direction, HloWide wide) {
    static const HloKernel kernels[][HLO_WIDE_COUNT] = {
#define P_1 NO_ROW
#define S_1 NO_ROW
#define U_1 NO_ROW
#define F_1 NO_ROW
#define C_1 NO_ROW
#define P_2 NO_ROW
#define S_2 NO_ROW
#define U_2 NO_ROW
#define F_2 NO_ROW
#define C_2 NO_ROW
#define COMPARE(direction, e)                                               \
    [HLO_COMPARE_DIRECTION_##direction] = {[HLO_WIDE_PRED] = p_##direction, \
                                           [HLO_WIDE_S64] = s_##direction,  \
                                           [HLO_WIDE_U64] = u_##direction,  \
                                           [HLO_WIDE_F32] = f_##direction,  \
                                           [HLO_WIDE_F64] = d_##direction},
#include "lib/eval/elementwise.def"
    };
    static const HloKernel complex_kernels[2][2] = {{c_EQ, z_EQ}, {c_NE, z_NE}};
    if (wide == HLO_WIDE_C64 || wide == HLO_WIDE_C128) {
        return direction <= HLO_COMPARE_DIRECTION_NE ? complex_kernels[direction][wide == HLO_WIDE_C128] : NULL;
    }
    return wide < HLO_WIDE_COUNT ? kernels[direction][wide] : NULL;
}
