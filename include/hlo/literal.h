// HloLiteral: a value of any shape.
//
// Elements lie in row-major (logical) order whatever the shape's layout says. Types of 1, 2 and 4 bits are packed
// low bits first; f6 types and pred take one byte; everything else its natural size, little endian. A literal
// is immutable once it hangs in a module.
#ifndef HLO_LITERAL_H
#define HLO_LITERAL_H

#include "hlo/arena.h"
#include "hlo/buffer.h"
#include "hlo/shape.h"
#include "hlo/status.h"

typedef struct HloLiteral HloLiteral;
struct HloLiteral {
    const HloShape *shape;
    void *data;  // arrays: size_bytes bytes
    size_t size_bytes;
    int64_t elem_count;
    HloLiteral **elements;  // tuples: shape->rank entries
    // Arrays with bounded dimensions: how much of each is alive, rank entries; NULL: all. Printing shows no more.
    const int64_t *dynamic_sizes;
    bool elided;  // read from `{...}`: the values are filler
    // A large elided array may have no data (NULL with size_bytes > 0): its 32-bit word k is filler + k * filler_step.
    // Element access, equality and hash work all the same; who needs the bytes calls hlo_literal_materialize.
    uint32_t filler, filler_step;
};

// A literal of zeros. Fails when the size does not fit or memory runs out.
HLO_MUST_USE HloStatus hlo_literal_new(HloArena *arena, const HloShape *shape, HloLiteral **out);
// An elided array: filler words counted on from *counter, which is moved behind them, or zeros. With `store` its bytes
// are stored, otherwise computed when asked for.
HLO_MUST_USE HloStatus hlo_literal_new_elided(HloArena *arena, const HloShape *shape, bool zero, bool store,
                                              uint32_t *counter, HloLiteral **out);
// Bytes of an elided array, below which readers store them, until HLO_ELIDED_STORE_BYTES of a module are reached.
enum { HLO_ELIDED_LIMIT_BYTES = 1 << 16, HLO_ELIDED_STORE_BYTES = 64 << 20 };
// The bits of one element that has no data.
uint64_t hlo_literal_filler_bits(const HloLiteral *literal, int64_t at);
// The same for a part of a complex one (0: real, 1: imaginary).
uint64_t hlo_literal_filler_part(const HloLiteral *literal, int64_t at, int part);
// `count` bytes from byte `first` on, as they would stand in the data.
void hlo_literal_read_bytes(const HloLiteral *literal, size_t first, size_t count, void *out);
// The same value with data in `arena`; `literal` itself when nothing is missing.
HLO_MUST_USE HloStatus hlo_literal_materialize(HloArena *arena, const HloLiteral *literal, const HloLiteral **out);
// The bytes that an array literal of this shape takes; false when that overflows.
bool hlo_literal_size_bytes(const HloShape *shape, size_t *out);
HloLiteral *hlo_literal_clone(HloArena *arena, const HloLiteral *literal, const HloShape *shape);

// Element access by linear row-major index; asserts the range.
// The raw bit pattern in the low bits (not for complex types: use the part functions).
uint64_t hlo_literal_bits(const HloLiteral *literal, int64_t at);
void hlo_literal_set_bits(HloLiteral *literal, int64_t at, uint64_t bits);
// Integers (and pred) sign- or zero-extended; u64 keeps its pattern.
int64_t hlo_literal_int(const HloLiteral *literal, int64_t at);
// Floats decoded, integers converted, complex: the real part.
double hlo_literal_double(const HloLiteral *literal, int64_t at);
double hlo_literal_imag(const HloLiteral *literal, int64_t at);
void hlo_literal_set_complex(HloLiteral *literal, int64_t at, double real, double imag);
// Stores `value` rounded to the type: floats round, integers wrap, pred is value != 0.
void hlo_literal_set_int(HloLiteral *literal, int64_t at, int64_t value);
void hlo_literal_set_double(HloLiteral *literal, int64_t at, double value);
// Copies one element between literals of the same type.
void hlo_literal_copy_element(HloLiteral *to, int64_t to_at, const HloLiteral *from, int64_t from_at);

// Same shape (layouts ignored) and the same bits.
bool hlo_literal_equal(const HloLiteral *a, const HloLiteral *b);
uint64_t hlo_literal_hash(const HloLiteral *literal);

// True when every element has the same bits as `value` rounded to the element type, and `value` is exact in it:
// -0.0 is not 0, NaN never matches, an unsigned type never equals -1.
bool hlo_literal_is_all(const HloLiteral *literal, double value);
// All elements the same bits as the first.
bool hlo_literal_is_splat(const HloLiteral *literal);

// One element as the printer writes it (`-0`, `1e+06`, `nan(0x2a)`, `(1, 2)`).
// `in_array`: pred prints 0 and 1 instead of false and true.
void hlo_put_scalar(HloBuffer *out, const HloLiteral *literal, int64_t at, bool in_array);
// The whole value on one line, without its shape. An array that takes far more text than memory is `{...}`: more than
// 100,000 rows without elements, or a GiB of filler.
void hlo_put_literal(HloBuffer *out, const HloLiteral *literal);
// The value with its shapes and one row a line, as tools that run modules show it.
void hlo_put_literal_lines(HloBuffer *out, const HloLiteral *literal);

#endif
