// Random numbers, types, shapes and constants, and operands from the pool.

#include <math.h>

#include "lib/gen/gen.h"

// splitmix64 (Steele, Lea, Flood 2014).
uint64_t hlo_gen_draw(Gen *g) {
    g->state += 0x9e3779b97f4a7c15u;
    return hlo_hash_u64(g->state);
}

typedef struct TypeWeight {
    HloType type;
    unsigned weight;
} TypeWeight;

static const TypeWeight types[] = {
    {HLO_F32, 30}, {HLO_S32, 14}, {HLO_PRED, 8}, {HLO_F64, 6},    {HLO_BF16, 7},     {HLO_F16, 6}, {HLO_C64, 4},
    {HLO_S8, 4},   {HLO_U8, 4},   {HLO_U32, 5},  {HLO_S64, 5},    {HLO_S16, 2},      {HLO_U64, 2}, {HLO_U16, 1},
    {HLO_C128, 1}, {HLO_S4, 1},   {HLO_U4, 1},   {HLO_F8E5M2, 1}, {HLO_F8E4M3FN, 1},
};

HloType hlo_gen_type(Gen *g) {
    unsigned total = 0;
    for (size_t k = 0; k < HLO_COUNT(types); k++) total += types[k].weight;
    int64_t at = below(g, total);
    size_t k = 0;
    for (; at >= types[k].weight; k++) at -= types[k].weight;
    return types[k].type;
}

static const int64_t sizes[] = {0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 2, 3, 4};

const HloShape *hlo_gen_shape(Gen *g, HloType type) {
    static const size_t ranks[] = {0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4};
    int64_t dims[MOST_RANK];
    size_t rank = ranks[below(g, HLO_COUNT(ranks))];
    for (size_t d = 0; d < rank; d++) dims[d] = sizes[below(g, HLO_COUNT(sizes))];
    return hlo_shape_of(&g->m->shapes, type, dims, rank);
}

int64_t *hlo_gen_order(Gen *g, size_t count) {
    int64_t *order = HLO_NEW_ARRAY(g->scratch, int64_t, count);
    for (size_t k = 0; k < count; k++) {
        size_t at = (size_t)below(g, (int64_t)k + 1);
        order[k] = order[at];
        order[at] = (int64_t)k;
    }
    return order;
}

// ---- picking --------------------------------------------------------------------------------------------

bool hlo_gen_pick(Gen *g, Fits fits, const void *what, Value *out) {
    enum { RECENT = 24 };
    size_t count = g->pool.count;
    for (int draw = 0; draw < DRAWS && count; draw++) {
        size_t range = count > RECENT && one_in(g, 2) ? RECENT : count;
        const Value *v = &g->pool.values[count - 1 - (size_t)below(g, (int64_t)range)];
        if (v->wild && !one_in(g, 6)) continue;
        if (!fits(g, v, what)) continue;
        *out = *v;
        return true;
    }
    return false;
}

static bool fits_array(const Gen *g, const Value *v, const void *what) {
    (void)g, (void)what;
    return hlo_shape_is_array(v->inst->shape);
}
static bool fits_tame(const Gen *g, const Value *v, const void *what) {
    return fits_array(g, v, what) && !v->wild;
}
static bool fits_ranked(const Gen *g, const Value *v, const void *what) {
    return fits_tame(g, v, what) && v->inst->shape->rank > 0 && !hlo_shape_is_empty(v->inst->shape);
}
static bool fits_class(const Gen *g, const Value *v, const void *what) {
    return fits_array(g, v, what) && *(const unsigned *)what >> class_of(v) & 1;
}
static bool fits_shape(const Gen *g, const Value *v, const void *what) {
    (void)g;
    return v->inst->shape == what;
}

bool hlo_gen_pick_array(Gen *g, Value *out) {
    return hlo_gen_pick(g, fits_array, NULL, out);
}
bool hlo_gen_pick_tame(Gen *g, Value *out) {
    return hlo_gen_pick(g, fits_tame, NULL, out);
}
bool hlo_gen_pick_ranked(Gen *g, Value *out) {
    return hlo_gen_pick(g, fits_ranked, NULL, out);
}
bool hlo_gen_pick_class(Gen *g, unsigned classes, Value *out) {
    return hlo_gen_pick(g, fits_class, &classes, out);
}

Value hlo_gen_partner(Gen *g, const Value *like) {
    Value other;
    if (!one_in(g, 6) && hlo_gen_pick(g, fits_shape, like->inst->shape, &other)) return other;
    if (one_in(g, 4)) return *like;
    return hlo_gen_constant(g, like->inst->shape);
}

static bool fits_index(const Gen *g, const Value *v, const void *what) {
    (void)g, (void)what;
    return hlo_shape_is_scalar(v->inst->shape) && v->inst->shape->type == HLO_S32 && is_exact(v);
}

Value hlo_gen_index(Gen *g, int64_t low, int64_t high) {
    Value v;
    if (one_in(g, 3) && hlo_gen_pick(g, fits_index, NULL, &v)) return v;
    return (Value){hlo_build_scalar(&g->rw, HLO_S32, (double)between(g, low, high)), 31, false, false};
}

// ---- constants ------------------------------------------------------------------------------------------

int hlo_gen_most(HloType type) {
    if (type == HLO_C64 || type == HLO_C128) return TAME_FLOATS;
    if (!hlo_type_is_float(type)) return hlo_type_bits(type);
    int largest = (1 << (hlo_type_info(type)->exponent_bits - 1)) - 2;
    return largest < TAME_FLOATS ? largest : TAME_FLOATS;
}

static void set_element(HloLiteral *literal, int64_t at, double value) {
    HloType type = literal->shape->type;
    if (hlo_type_is_complex(type))
        hlo_literal_set_complex(literal, at, value, value / 2 - 1);
    else if (hlo_type_is_float(type))
        hlo_literal_set_double(literal, at, value);
    else if (hlo_type_class(type) == HLO_CLASS_UNSIGNED)
        hlo_literal_set_int(literal, at, (int64_t)fabs(value));
    else
        hlo_literal_set_int(literal, at, type == HLO_PRED ? value > 0 : (int64_t)value);
}

// Whole and half numbers from -2 to 4: sums and products of a few are exact in most types.
static double draw_number(Gen *g) {
    return (double)between(g, -4, 8) / 2;
}

static uint64_t corner_bits(Gen *g, HloType type) {
    const HloTypeInfo *info = hlo_type_info(type);
    uint64_t sign = UINT64_C(1) << (info->bits - 1), all = sign | (sign - 1);
    if (hlo_type_is_float(type)) {
        static const double corners[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0, 1e-6};
        return hlo_float_encode(type, corners[below(g, HLO_COUNT(corners))]);
    }
    const uint64_t corners[] = {0, 1, all, sign, sign - 1};
    return type == HLO_PRED ? (uint64_t)below(g, 2) : corners[below(g, HLO_COUNT(corners))];
}

static HloLiteral *new_literal(Gen *g, const HloShape *shape) {
    HloLiteral *literal = NULL;
    if (!hlo_is_ok(g->rw.failure)) return NULL;
    g->rw.failure = hlo_literal_new(&g->m->arena, shape, &literal);
    return literal;
}

static Value corner_constant(Gen *g, const HloShape *shape) {
    HloLiteral *literal = new_literal(g, shape);
    for (int64_t at = 0; literal && at < literal->elem_count; at++) {
        hlo_literal_set_bits(literal, at, corner_bits(g, shape->type));
    }
    bool wild = hlo_type_is_float(shape->type);
    return (Value){literal ? hlo_build_constant(&g->rw, literal) : NULL, hlo_type_bits(shape->type), false, wild};
}

HloInstruction *hlo_gen_splat(Gen *g, const HloShape *shape, double value) {
    HloLiteral *literal = new_literal(g, hlo_shape_scalar(&g->m->shapes, shape->type));
    if (!literal) return NULL;
    set_element(literal, 0, value);
    HloInstruction *scalar = hlo_build_constant(&g->rw, literal);
    if (hlo_shape_is_scalar(shape)) return scalar;
    return hlo_build_broadcast(&g->rw, shape, scalar, (HloDims){0});
}

Value hlo_gen_constant(Gen *g, const HloShape *shape) {
    int mag = hlo_type_is_float(shape->type) || hlo_type_is_complex(shape->type) ? 3 : hlo_type_bits(shape->type);
    if (!hlo_type_is_complex(shape->type) && one_in(g, 12)) return corner_constant(g, shape);
    if (one_in(g, 2)) return (Value){hlo_gen_splat(g, shape, draw_number(g)), mag, false, false};
    HloLiteral *literal = new_literal(g, shape);
    for (int64_t at = 0; literal && at < literal->elem_count; at++) set_element(literal, at, draw_number(g));
    return (Value){literal ? hlo_build_constant(&g->rw, literal) : NULL, mag, false, false};
}
