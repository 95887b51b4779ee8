// Primitive types: an enum and one row of facts each, from types.def.
#ifndef HLO_TYPES_H
#define HLO_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum HloType {
#define HLO_TYPE(name, spelling, number, bits, class, exponent, mantissa, bias, specials, digits) HLO_##name,
#include "hlo/types.def"
    HLO_TYPE_COUNT
} HloType;

typedef enum HloTypeClass {
    HLO_CLASS_PRED,
    HLO_CLASS_SIGNED,
    HLO_CLASS_UNSIGNED,
    HLO_CLASS_FLOAT,
    HLO_CLASS_COMPLEX,
    HLO_CLASS_TUPLE,
    HLO_CLASS_TOKEN,
    HLO_CLASS_OPAQUE,
    HLO_CLASS_BUFFER,
} HloTypeClass;

typedef enum HloFloatSpecials {
    HLO_SPECIALS_NONE,
    HLO_SPECIALS_IEEE,
    HLO_SPECIALS_FN,
    HLO_SPECIALS_FNUZ,
    HLO_SPECIALS_FINITE,
    HLO_SPECIALS_SCALE,
} HloFloatSpecials;

typedef struct HloTypeInfo {
    const char *name;
    int proto_number;
    int bits;  // of one element; 0 for types without elements
    HloTypeClass type_class;
    int exponent_bits, mantissa_bits, bias;  // floats only
    HloFloatSpecials specials;
    int print_digits;
} HloTypeInfo;

// The row of types.def.
const HloTypeInfo *hlo_type_info(HloType type);

static inline const char *hlo_type_name(HloType type) {
    return hlo_type_info(type)->name;
}
static inline int hlo_type_bits(HloType type) {
    return hlo_type_info(type)->bits;
}
static inline HloTypeClass hlo_type_class(HloType type) {
    return hlo_type_info(type)->type_class;
}
static inline bool hlo_type_is_float(HloType type) {
    return hlo_type_class(type) == HLO_CLASS_FLOAT;
}
static inline bool hlo_type_is_complex(HloType type) {
    return hlo_type_class(type) == HLO_CLASS_COMPLEX;
}
// Signed or unsigned integers; pred is none.
static inline bool hlo_type_is_integral(HloType type) {
    return hlo_type_class(type) == HLO_CLASS_SIGNED || hlo_type_class(type) == HLO_CLASS_UNSIGNED;
}
// Types with elements: everything but tuple, token, opaque and buffer.
static inline bool hlo_type_is_array(HloType type) {
    return hlo_type_class(type) <= HLO_CLASS_COMPLEX;
}
// The float type of a complex type's parts.
static inline HloType hlo_type_complex_part(HloType type) {
    return type == HLO_C128 ? HLO_F64 : HLO_F32;
}

// Finds the type spelled `text` (lower case, `tuple` and `buffer` included).
bool hlo_type_find(const char *text, size_t size, HloType *out);

// Conversions between a float type's bit pattern (in the low bits) and double. Encoding rounds to nearest,
// ties to even; overflow gives infinity where the type has one, NaN for FN and FNUZ types, and the largest
// finite value for FINITE types. Every value of every type but f64 and f32 is exact in double.
double hlo_float_decode(HloType type, uint64_t bits);
uint64_t hlo_float_encode(HloType type, double value);
// The largest finite value of a float type.
double hlo_float_max(HloType type);

#endif
