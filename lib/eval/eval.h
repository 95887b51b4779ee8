// The inside of the interpreter: data, the machine that walks computations, and the rule of each opcode.
#ifndef HLO_LIB_EVAL_H
#define HLO_LIB_EVAL_H

#include "hlo/eval.h"

// ---- data -----------------------------------------------------------------------------------------------

// A counted reference to a value. Elements lie in row-major order, each in whole bytes: types of less than eight bits
// take one byte, signed ones sign-extended. Data are immutable while more than one reference to them is held.
typedef struct HloDatum HloDatum;
struct HloDatum {
    uint32_t refs;
    uint32_t element_bytes;
    const HloShape *shape;
    int64_t count;           // elements of an array
    HloDatum **elements;     // tuples: shape->rank of them
    char *data;              // arrays: count * element_bytes, aligned to 64
    int64_t *sizes;          // arrays: how much of each dimension is alive; NULL: all of it
    size_t bytes;            // charged to the machine
    HloDatum *next_waiting;  // while it is being freed
};

typedef struct HloMachine HloMachine;

// Bytes that one element of a datum takes; 0 for types without elements.
size_t hlo_element_bytes(HloType type);

// An array of undefined elements, or a token; with one reference.
HLO_MUST_USE HloStatus hlo_datum_new(HloMachine *vm, const HloShape *shape, HloDatum **out);
// A tuple of the given elements, whose references it takes over.
HLO_MUST_USE HloStatus hlo_datum_new_tuple(HloMachine *vm, const HloShape *shape, HloDatum *const *elements,
                                           HloDatum **out);
// An array or a tuple of arrays, none shared.
HLO_MUST_USE HloStatus hlo_datum_new_like(HloMachine *vm, const HloShape *shape, HloDatum **out);
// Leaf `k` of an array (k = 0) or of a tuple of arrays.
static inline HloDatum *hlo_datum_leaf(const HloDatum *datum, size_t k) {
    return datum->elements ? datum->elements[k] : (HloDatum *)(uintptr_t)datum;
}
static inline HloDatum *hlo_datum_keep(HloDatum *datum) {
    datum->refs++;
    return datum;
}
// Gives a reference back; NULL is ignored.
void hlo_datum_drop(HloMachine *vm, HloDatum *datum);
// Takes the array *arg over for writing, as a value of `shape` (same element count and size): itself when nobody else
// holds it, which leaves *arg NULL, otherwise a copy.
HLO_MUST_USE HloStatus hlo_datum_own(HloMachine *vm, HloDatum **arg, const HloShape *shape, HloDatum **out);
// Values at the border; `shape` is the literal's up to layout.
HLO_MUST_USE HloStatus hlo_datum_from_literal(HloMachine *vm, const HloLiteral *literal, const HloShape *shape,
                                              HloDatum **out);
// The integer at a position; unsigned 64-bit values beyond the signed range become negative.
int64_t hlo_datum_int(const HloDatum *datum, int64_t at);
HLO_MUST_USE HloStatus hlo_datum_to_literal(const HloDatum *datum, HloArena *arena, HloLiteral **out);

// ---- dynamic sizes --------------------------------------------------------------------------------------

// How much of a dimension is alive.
int64_t hlo_datum_size(const HloDatum *datum, size_t dim);
// Sets all of them, which are copied; NULL: everything is alive.
HLO_MUST_USE HloStatus hlo_datum_set_sizes(HloDatum *datum, const int64_t *sizes);
// The sizes of an instruction's result as they follow from those of its operands; false when none has any.
bool hlo_result_sizes(const HloInstruction *inst, HloDatum *const *args, int64_t *sizes);

// ---- strided copies -------------------------------------------------------------------------------------

enum { HLO_EVAL_RANK = 64 };  // dimensions that the interpreter goes up to

// A block of elements, and how far apart its neighbours lie on both sides, in elements.
typedef struct HloBox {
    size_t rank;
    int64_t size[HLO_EVAL_RANK], from_step[HLO_EVAL_RANK], to_step[HLO_EVAL_RANK];
} HloBox;

// Steps between neighbours of a row-major array.
void hlo_row_steps(const HloShape *shape, int64_t *steps);
// Copies the block; `from` and `to` point at its first element.
void hlo_box_copy(const HloBox *box, const char *from, char *to, size_t element_bytes);
// `count` copies of one element.
void hlo_fill(char *to, int64_t count, const char *element, size_t element_bytes);

// ---- computation types ----------------------------------------------------------------------------------

// What elements are computed in (interpreter chapter, §1.2): one operation widens its operands, computes, and rounds
// its result back once.
typedef enum HloWide {
    HLO_WIDE_PRED,  // uint8_t, 0 or 1
    HLO_WIDE_S64,
    HLO_WIDE_U64,
    HLO_WIDE_F32,
    HLO_WIDE_F64,
    HLO_WIDE_C64,
    HLO_WIDE_C128,
    HLO_WIDE_COUNT
} HloWide;

enum { HLO_BLOCK = 512 };  // elements that are computed at a time

// Room for a block of any computation type.
typedef struct HloBlock {
    _Alignas(64) char bytes[HLO_BLOCK * 16];
} HloBlock;

HloWide hlo_wide_of(HloType type);
size_t hlo_wide_bytes(HloWide wide);
// The `n` <= HLO_BLOCK elements at `from` in their computation type: in `block`, or at `from` itself when that is it.
const void *hlo_widen(HloType type, const void *from, int64_t n, HloBlock *block);
// Rounds `n` elements of the type's computation type to it.
void hlo_narrow(HloType type, const void *wide, int64_t n, void *to);
// `convert`, §2: `n` elements of one type to another.
void hlo_convert(HloType from_type, const void *from, HloType to_type, void *to, int64_t n);
// The same, left in the computation type of `to_type`.
void hlo_convert_wide(HloType from_type, const void *from, HloType to_type, void *wide, int64_t n);
// Room for an array's elements in a computation type.
HLO_MUST_USE HloStatus hlo_datum_new_wide(HloMachine *vm, const HloShape *shape, HloWide wide, HloDatum **out);

// ---- elementwise operations -----------------------------------------------------------------------------

typedef struct HloElementwise HloElementwise;
typedef void (*HloKernel)(int64_t n, void *out, const void *x, const void *y);

// One elementwise instruction, made ready to be applied to runs of elements.
struct HloElementwise {
    void (*run)(const HloElementwise *op, int64_t n, const void *const *in, void *out);
    const HloInstruction *inst;
    HloKernel kernel;
    HloType in_type, out_type;  // of the operands computed with, and of the result
    size_t in_bytes[3], out_bytes;
    size_t arity;
};

// UNIMPLEMENTED or INVALID_ARGUMENT when the operation is not defined on its types.
HLO_MUST_USE HloStatus hlo_elementwise_prepare(const HloInstruction *inst, HloElementwise *op);
// Whether the opcode is computed by this machinery.
bool hlo_elementwise_knows(HloOpcode op);
// Computes `n` elements, which may be any number; `out` may be one of `in` when the element sizes agree.
void hlo_elementwise_apply(const HloElementwise *op, int64_t n, const void *const *in, void *out);
// The kernel of a binary operation on a computation type, or NULL.
HloKernel hlo_binary_kernel(HloOpcode op, HloWide wide);
HloKernel hlo_unary_kernel(HloOpcode op, HloWide wide);
HloKernel hlo_compare_kernel(int64_t direction, HloWide wide);

// A number whose signed order is the order of elements: for floats the total one, for u64 that of its bit pattern taken
// as signed.
int64_t hlo_order_key(HloType type, const char *element);

// ---- computations of scalars ----------------------------------------------------------------------------

// A computation whose instructions are all scalar and elementwise, as reducers and comparators are, compiled to a list
// of steps that run on many independent lanes at once.
typedef struct HloLanes HloLanes;

// NULL in *out when the computation is none of these.
HLO_MUST_USE HloStatus hlo_lanes_compile(const HloComputation *comp, HloArena *arena, HloLanes **out);
// Runs any number of lanes: in[k] and out[k] hold n elements of parameter and output k, and no output overlaps an
// input.
void hlo_lanes_run(HloLanes *lanes, int64_t n, const void *const *in, void *const *out);

// ---- mixed precision -------------------------------------------------------------------------------------

// For an instruction whose rule takes operands in the type of the result: by operand, the shape to convert it to, NULL
// where it has that type. NULL when there is nothing to convert.
const HloShape **hlo_mixed_operands(const HloInstruction *inst, HloArena *arena);
// Whether it calls a computation for elements of other float types than it has itself; its rule then cannot run.
bool hlo_region_is_mixed(const HloInstruction *inst);
// Puts the same array with the element type of `shape` in place of *datum.
HLO_MUST_USE HloStatus hlo_datum_convert(HloMachine *vm, HloDatum **datum, const HloShape *shape);

// ---- the machine ----------------------------------------------------------------------------------------

typedef struct HloPlan HloPlan;

struct HloMachine {
    const HloModule *m;
    const HloEvalOptions *options;
    HloArena arena;      // plans; lives as long as the machine
    HloMap plans;        // HloComputation -> HloPlan
    uint64_t random;     // state of `rng`'s generator; 0: not started
    HloMap rng_states;   // HloInstruction -> uint64_t[2]
    HloMap constants;    // HloInstruction -> HloDatum, one reference each
    size_t *live_bytes;  // of the data of all devices
    uint64_t steps, most_trips;
    size_t infed;                  // infeeds that it has taken
    int depth;                     // of nested computations
    struct HloDevice *device;      // the one it computes for
    const HloInstruction *failed;  // the innermost instruction that failed, once one has
};

// The rule of an opcode. args[k] is operand k and belongs to the caller's frame; a rule that keeps one sets it to NULL.
// On success *out has one reference.
typedef HloStatus (*HloRule)(HloMachine *vm, const HloInstruction *inst, HloDatum **args, HloDatum **out);

// The tuple of a -start that carries its operands: they, the result *out, and zeros behind (contexts).
HLO_MUST_USE HloStatus hlo_wrap_start(HloMachine *vm, const HloInstruction *inst, HloDatum **args, HloDatum **out);

// NULL: none.
HloRule hlo_eval_rule(HloOpcode op);

// Runs a computation on `args`, whose references it takes over (entries become NULL).
HLO_MUST_USE HloStatus hlo_machine_run(HloMachine *vm, const HloComputation *comp, HloDatum **args, size_t count,
                                       HloDatum **out);
// The compiled form of a computation of scalars, or NULL; made once.
HLO_MUST_USE HloStatus hlo_machine_lanes(HloMachine *vm, const HloComputation *comp, HloLanes **out);

// A region as reductions, sorts, maps and scatters call it, element by element: compiled lanes where it can be, the
// machine otherwise. in[k] and out[k] as in hlo_lanes_run, any n.
HLO_MUST_USE HloStatus hlo_apply_region(HloMachine *vm, const HloComputation *comp, int64_t n, const void *const *in,
                                        void *const *out);

// A rule's declaration and definition.
#define HLO_RULE(name) HloStatus name(HloMachine *vm, const HloInstruction *inst, HloDatum **args, HloDatum **out)
#include "lib/eval/rules.h"

#endif
