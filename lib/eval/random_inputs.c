// Made-up arguments, drawn as the reference draws them (tools chapter, §3.3), so that both see the same values.

#include "hlo/random_inputs.h"

#include <math.h>

enum { MAX_DEPTH = 1000 };  // of tuples; what lies deeper stays zero

static const uint64_t modulus = 2147483647;

// In [0, 2^31 - 3].
static uint64_t draw(HloRandom *random) {
    random->state = random->state * 16807 % modulus;
    return random->state - 1;
}

// Low `bits` bits of a draw; draws from `limit` on would favour small values and are drawn again.
static uint64_t draw_bits(HloRandom *random, int bits, uint64_t limit) {
    uint64_t value;
    do value = draw(random);
    while (value >= limit);
    return value & ((UINT64_C(1) << bits) - 1);
}

static uint64_t bits16(HloRandom *random) {
    return draw_bits(random, 16, 2147418112);
}

static uint64_t bits32(HloRandom *random) {
    uint64_t high = bits16(random);
    return high << 16 | bits16(random);
}

static uint64_t bits64(HloRandom *random) {
    uint64_t a = draw_bits(random, 21, 2145386496), b = draw_bits(random, 21, 2145386496);
    return a << 43 | b << 22 | draw_bits(random, 22, 2143289344);
}

int64_t hlo_random_index(HloRandom *random, HloType type, int64_t bound) {
    __extension__ typedef unsigned __int128 Wide;
    int bits = hlo_type_bits(type), width = bits <= 16 ? 16 : bits <= 32 ? 32 : 64;
    uint64_t count = (uint64_t)bound + 1, mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    for (;;) {
        uint64_t word = width == 16 ? bits16(random) : width == 32 ? bits32(random) : bits64(random);
        if ((count & (count - 1)) == 0) return (int64_t)(word & (count - 1));
        Wide product = (Wide)word * count;
        // The low half says whether the word lies in the part that would favour some values.
        uint64_t low = (uint64_t)product & mask, uneven = (mask - count + 1) % count;
        if (low >= uneven) return (int64_t)(uint64_t)(product >> width);
    }
}

static double draw_float(HloRandom *random) {
    float u = (float)draw(random) / 2147483648.0f;
    return (double)(u * (0.2f - -0.1f) + -0.1f);
}

static double draw_double(HloRandom *random, double from, double to) {
    double low = (double)draw(random), high = (double)draw(random);
    double u = (low + high * 2147483646.0) / (2147483646.0 * 2147483646.0);
    return u * (to - from) + from;
}

// A power of two of either sign, its exponent anywhere in the range of the type; now and then a special value.
static double draw_large(HloRandom *random, HloType type) {
    static const double specials[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY};
    const HloTypeInfo *info = hlo_type_info(type);
    int lowest = (info->specials == HLO_SPECIALS_SCALE ? 0 : 1) - info->bias, highest = ilogb(hlo_float_max(type));
    float chance = (float)draw(random) / 2147483648.0f;
    if (chance < 1e-6f * (float)HLO_COUNT(specials)) return specials[(draw(random) + 1) % HLO_COUNT(specials)];
    double sign = draw(random) % 2 ? 1 : -1;
    double value = sign * pow(2, draw_double(random, lowest, highest));
    return type == HLO_F64 ? value : (double)(float)value;
}

// The bounds of f64 are those of f32, as in the reference.
static double draw_value(HloRandom *random, HloType type) {
    if (random->large_floats) return draw_large(random, type);
    return type == HLO_F64 ? draw_double(random, -0.1f, 0.2f) : draw_float(random);
}

static void fill_array(HloRandom *random, HloLiteral *literal) {
    HloType type = literal->shape->type;
    int bits = hlo_type_bits(type);
    for (int64_t at = 0; at < literal->elem_count; at++) {
        if (hlo_type_is_float(type) && bits >= 6) {
            hlo_literal_set_double(literal, at, draw_value(random, type));
        } else if (type == HLO_PRED) {
            hlo_literal_set_bits(literal, at, bits32(random) & 1);
        } else {
            uint64_t value = bits <= 16 ? bits16(random) : bits <= 32 ? bits32(random) : bits64(random);
            uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
            // Signed types count from their lowest value.
            uint64_t lowest = hlo_type_class(type) == HLO_CLASS_SIGNED ? UINT64_C(1) << (bits - 1) : 0;
            hlo_literal_set_bits(literal, at, (value + lowest) & mask);
        }
    }
}

// All real parts come before all imaginary parts.
static void fill_complex(HloRandom *random, HloLiteral *literal) {
    HloType part = hlo_type_complex_part(literal->shape->type);
    for (int64_t at = 0; at < literal->elem_count; at++) {
        hlo_literal_set_complex(literal, at, draw_value(random, part), 0);
    }
    for (int64_t at = 0; at < literal->elem_count; at++) {
        double imag = draw_value(random, part);
        hlo_literal_set_complex(literal, at, hlo_literal_double(literal, at), imag);
    }
}

typedef struct Step {
    HloLiteral *literal;
    size_t next;
} Step;

static void fill_leaf(HloRandom *random, HloLiteral *literal) {
    if (!hlo_shape_is_array(literal->shape) || random->zeros) return;
    if (hlo_type_is_complex(literal->shape->type)) {
        fill_complex(random, literal);
    } else {
        fill_array(random, literal);
    }
}

void hlo_random_fill(HloRandom *random, HloLiteral *literal) {
    Step steps[MAX_DEPTH];
    size_t depth = 0;
    if (!hlo_shape_is_tuple(literal->shape)) {
        fill_leaf(random, literal);
        return;
    }
    steps[depth++] = (Step){literal, 0};
    while (depth) {
        Step *top = &steps[depth - 1];
        if (top->next == top->literal->shape->rank) {
            depth--;
            continue;
        }
        HloLiteral *child = top->literal->elements[top->next++];
        if (!hlo_shape_is_tuple(child->shape)) {
            fill_leaf(random, child);
        } else if (depth < MAX_DEPTH) {
            steps[depth++] = (Step){child, 0};
        }
    }
}
