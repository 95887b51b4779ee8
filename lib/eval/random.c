// rng and rng-get-and-update-state.
//
// One generator for each device, the minimal standard one: x ← 16807·x mod (2^31 - 1), started by the option `seed`. So
// runs repeat, while the values of two `rng` differ. Source: the interpreter chapter, §8.1 and §8.2.

#include <math.h>

#include "lib/eval/eval.h"

enum { MODULUS = 2147483647, DEFAULT_SEED = 42 };

static uint64_t draw(HloMachine *vm) {
    if (!vm->random) vm->random = (vm->options->seed ? vm->options->seed : DEFAULT_SEED) % MODULUS;
    if (!vm->random) vm->random = 1;
    vm->random = vm->random * 16807 % MODULUS;
    return vm->random - 1;  // below MODULUS - 1
}

// In [0, 1), with the bits of two draws.
static double draw_unit(HloMachine *vm) {
    const double range = MODULUS - 1;
    double low = (double)draw(vm);
    return (low + (double)draw(vm) * range) / (range * range);
}

static uint64_t draw_bits(HloMachine *vm) {
    uint64_t bits = 0;
    for (int k = 0; k < 3; k++) bits = bits << 22 ^ draw(vm) >> 8;
    return bits;
}

// Marsaglia's polar method.
static double draw_normal(HloMachine *vm) {
    for (;;) {
        double x = 2 * draw_unit(vm) - 1, y = 2 * draw_unit(vm) - 1, r = x * x + y * y;
        if (r > 0 && r < 1) return x * sqrt(-2 * log(r) / r);
    }
}

static double read_double(const HloDatum *datum) {
    double value;
    hlo_convert(datum->shape->type, datum->data, HLO_F64, &value, 1);
    return value;
}

// A float in [low, high) after rounding, or, by `normal`, with mean `low` and deviation `high`.
static void put_float(HloMachine *vm, HloType type, double low, double high, bool normal, char *to) {
    double value;
    do {
        double drawn = normal ? low + high * draw_normal(vm) : low + (high - low) * draw_unit(vm);
        hlo_convert(HLO_F64, &drawn, type, to, 1);
        hlo_convert(type, to, HLO_F64, &value, 1);
    } while (!normal && low < high && value >= high);
}

static void put_integer(HloMachine *vm, HloType type, int64_t low, int64_t high, char *to) {
    uint64_t span = (uint64_t)high - (uint64_t)low;
    int64_t value = low + (int64_t)(span ? draw_bits(vm) % span : 0);
    hlo_convert(HLO_S64, &value, type, to, 1);
}

HLO_RULE(hlo_rule_rng) {
    HloType type = inst->shape->type;
    bool normal = hlo_int(inst, HLO_ATTR_DISTRIBUTION) == HLO_RNG_DISTRIBUTION_NORMAL;
    if (hlo_type_is_complex(type) || (normal && !hlo_type_is_float(type))) {
        return hlo_error(HLO_UNIMPLEMENTED, "rng of this distribution is not defined on %s", hlo_type_name(type));
    }
    HLO_TRY(hlo_datum_new(vm, inst->shape, out));
    bool is_float = hlo_type_is_float(type);
    double low = is_float ? read_double(args[0]) : 0, high = is_float ? read_double(args[1]) : 0;
    int64_t from = is_float ? 0 : hlo_datum_int(args[0], 0), end = is_float ? 0 : hlo_datum_int(args[1], 0);
    for (int64_t i = 0; i < (*out)->count; i++) {
        char *to = (*out)->data + i * (*out)->element_bytes;
        if (is_float)
            put_float(vm, type, low, high, normal, to);
        else
            put_integer(vm, type, from, end, to);
    }
    return hlo_ok();
}

// A 128-bit counter of each instruction, handed out as low and high word before it moves on by `delta`.
HLO_RULE(hlo_rule_rng_get_and_update_state) {
    enum { FIRST_STATE = 0x7012395 };
    (void)args;
    if (inst->shape->type != HLO_U64 || hlo_shape_elem_count(inst->shape) != 2) {
        return hlo_error(HLO_UNIMPLEMENTED, "rng-get-and-update-state of another shape than u64[2]");
    }
    uint64_t **state = (uint64_t **)hlo_map_at(&vm->arena, &vm->rng_states, inst);
    if (!*state) {
        *state = HLO_NEW_ARRAY(&vm->arena, uint64_t, 2);
        (*state)[0] = FIRST_STATE;
    }
    HLO_TRY(hlo_datum_new(vm, inst->shape, out));
    memcpy((*out)->data, *state, 16);
    uint64_t delta = (uint64_t)hlo_int(inst, HLO_ATTR_DELTA), low = (*state)[0] + delta;
    (*state)[1] += low < delta;
    (*state)[0] = low;
    return hlo_ok();
}
