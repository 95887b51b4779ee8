// Primitive types: lookup, and float conversion against every pattern of the small types.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "hlo/types.h"

static bool same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

static void type_find_every_spelling_gives_its_type(void **state) {
    (void)state;
    for (int t = 0; t < HLO_TYPE_COUNT; t++) {
        const char *name = hlo_type_name((HloType)t);
        HloType found = HLO_TYPE_COUNT;
        assert_true(hlo_type_find(name, strlen(name), &found));
        assert_int_equal(found, t);
    }
}

static void type_find_other_words_fails(void **state) {
    (void)state;
    static const char *const words[] = {"", "f", "f3", "f322", "F32", "s5", "tuples", "f8e4m3fnx"};
    HloType found;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (hlo_type_find(words[i], strlen(words[i]), &found)) fail_msg("found '%s'", words[i]);
    }
}

// Every pattern of every type of at most 16 bits survives, NaN payloads included.
static void float_decode_then_encode_every_pattern_returns(void **state) {
    (void)state;
    for (int t = 0; t < HLO_TYPE_COUNT; t++) {
        const HloTypeInfo *info = hlo_type_info((HloType)t);
        if (info->type_class != HLO_CLASS_FLOAT || info->bits > 16) continue;
        for (uint64_t bits = 0; bits < (uint64_t)1 << info->bits; bits++) {
            uint64_t again = hlo_float_encode((HloType)t, hlo_float_decode((HloType)t, bits));
            if (again != bits)
                fail_msg("%s %#llx became %#llx", info->name, (unsigned long long)bits, (unsigned long long)again);
        }
    }
}

// The value between two neighbours goes to the even one, and values beside it go to the nearer one.
static void float_encode_between_neighbours_rounds_to_even(void **state) {
    (void)state;
    for (int t = 0; t < HLO_TYPE_COUNT; t++) {
        const HloTypeInfo *info = hlo_type_info((HloType)t);
        if (info->type_class != HLO_CLASS_FLOAT || info->bits > 16 || info->specials == HLO_SPECIALS_SCALE) continue;
        for (uint64_t bits = 0; bits < (uint64_t)1 << (info->bits - 1); bits++) {
            double low = hlo_float_decode((HloType)t, bits), high = hlo_float_decode((HloType)t, bits + 1);
            if (!isfinite(low) || !isfinite(high) || high <= low) continue;
            double middle = low + (high - low) / 2;
            uint64_t even = bits & 1 ? bits + 1 : bits;
            if (hlo_float_encode((HloType)t, middle) != even)
                fail_msg("%s: tie above %#llx", info->name, (unsigned long long)bits);
            if (hlo_float_encode((HloType)t, nextafter(middle, 0)) != bits)
                fail_msg("%s: below the tie above %#llx", info->name, (unsigned long long)bits);
            if (hlo_float_encode((HloType)t, nextafter(middle, INFINITY)) != bits + 1)
                fail_msg("%s: above the tie above %#llx", info->name, (unsigned long long)bits);
        }
    }
}

static void float_encode_f32_agrees_with_the_machine(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 100000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t bits = (uint32_t)(seed >> 32), back;
        float value, narrowed;
        memcpy(&value, &bits, sizeof value);
        if (isnan(value)) continue;
        assert_true(same_bits(hlo_float_decode(HLO_F32, bits), (double)value));
        double between = (double)value * (1 + (double)(seed & 0xffff) / 0x1p40);
        narrowed = (float)between;
        memcpy(&back, &narrowed, sizeof back);
        assert_int_equal(hlo_float_encode(HLO_F32, between), back);
    }
}

typedef struct Conversion {
    HloType type;
    double value;
    uint64_t bits;
} Conversion;

static void float_encode_special_values_follow_the_format(void **state) {
    (void)state;
    static const Conversion rows[] = {
        {HLO_F16, 65519, 0x7bff},         {HLO_F16, 65520, 0x7c00},        {HLO_F16, -INFINITY, 0xfc00},
        {HLO_BF16, 3.4e38, 0x7f80},       {HLO_BF16, NAN, 0x7fc0},         {HLO_F8E5M2, 61439, 0x7b},
        {HLO_F8E5M2, 61440, 0x7c},        {HLO_F8E4M3, 248, 0x78},         {HLO_F8E4M3FN, 464, 0x7e},
        {HLO_F8E4M3FN, 464.5, 0x7f},      {HLO_F8E4M3FN, -1000, 0xff},     {HLO_F8E4M3FN, INFINITY, 0x7f},
        {HLO_F8E4M3FNUZ, 248, 0x80},      {HLO_F8E4M3FNUZ, -0.0, 0},       {HLO_F8E4M3FNUZ, -1e-9, 0},
        {HLO_F8E5M2FNUZ, 61440, 0x80},    {HLO_F8E4M3B11FNUZ, 30, 0x7f},   {HLO_F8E4M3B11FNUZ, NAN, 0x80},
        {HLO_F8E3M4, 15.75, 0x70},        {HLO_F4E2M1FN, 1e9, 7},          {HLO_F4E2M1FN, -INFINITY, 15},
        {HLO_F4E2M1FN, NAN, 8},           {HLO_F6E2M3FN, 100, 0x1f},       {HLO_F8E8M0FNU, 0, 0xff},
        {HLO_F8E8M0FNU, -1, 0xff},        {HLO_F8E8M0FNU, 1.5, 128},       {HLO_F8E8M0FNU, 3, 129},
        {HLO_F8E8M0FNU, 0x1.4p0, 127},    {HLO_F8E8M0FNU, 1e-300, 0},      {HLO_F8E8M0FNU, 0x1.7p127, 0xfe},
        {HLO_F8E8M0FNU, 0x1.8p127, 0xff}, {HLO_F8E8M0FNU, INFINITY, 0xff},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t bits = hlo_float_encode(rows[i].type, rows[i].value);
        if (bits != rows[i].bits) {
            fail_msg("%s of %g is %#llx, expected %#llx", hlo_type_name(rows[i].type), rows[i].value,
                     (unsigned long long)bits, (unsigned long long)rows[i].bits);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(type_find_every_spelling_gives_its_type),
        cmocka_unit_test(type_find_other_words_fails),
        cmocka_unit_test(float_decode_then_encode_every_pattern_returns),
        cmocka_unit_test(float_encode_between_neighbours_rounds_to_even),
        cmocka_unit_test(float_encode_f32_agrees_with_the_machine),
        cmocka_unit_test(float_encode_special_values_follow_the_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
