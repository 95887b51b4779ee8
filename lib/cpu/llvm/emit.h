// The code generator's shared state and vocabulary. Private to lib/cpu/llvm.
//
// One LLVM module is made per HLO module. Every instruction that does work becomes a *kernel*, a function over the
// addresses of its operands and results; a computation becomes a function that calls kernels in schedule order
// (sequence.c). Inside a kernel two questions are asked again and again:
//
//   emit_into(scope, inst, place)      write the whole value of `inst` into memory          (kernel.c)
//   element(scope, inst, index)        the one element of `inst` at `index`, as SSA values  (element.c)
//
// The second answers for everything that can be computed element by element (elementwise operations, index maps);
// what needs loops of its own (reduce, dot, sort …) is "heavy" and only ever written into memory.
//
// Failure is sticky: the first one is kept in Gen and later calls return undefined values, so that the emitters carry
// no plumbing; the kernel's maker checks it.
#ifndef HLO_CPU_LLVM_EMIT_H
#define HLO_CPU_LLVM_EMIT_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "hlo/cpu.h"
#include "hlo/infer.h"

enum {
    MAX_DEPTH = 500,   // nested index maps inside one fusion; each costs about a kilobyte of our own stack
    ALIGN_BYTES = 64,  // every allocation and the scratch memory start at a multiple of it
};

// One element as SSA. Which LLVM type: value_type of its HLO type. `im` is only set for complex types.
typedef struct Value {
    LLVMValueRef v, im;
} Value;

// A value in memory.
typedef struct Place Place;
struct Place {
    const HloShape *shape;
    LLVMValueRef base;  // arrays: address of the first element
    Place **elements;   // tuples: shape->rank entries
};

// Where in an array. Either every dimension is known, or only the position in memory order of `shape`.
typedef struct Index {
    const HloShape *shape;
    LLVMValueRef *dims;   // shape->rank entries, or NULL
    LLVMValueRef linear;  // used when dims is NULL
} Index;

// What the instructions of one computation stand for. A kernel has a scope; each fusion or scalar computation that
// is emitted inline has one inside.
typedef struct Scope Scope;
struct Scope {
    Scope *outer;                  // where `caller` lives; NULL in a kernel's own scope and for given values
    const HloInstruction *caller;  // its operands are what parameters stand for
    HloMap places;                 // instruction -> Place *: already in memory
    HloMap values;                 // parameter -> Value *: given as a scalar
    HloMap inner;                  // fusion or call -> Scope *
    HloMap nodes;                  // instruction -> Node *, while a kernel is planned (plan.c)
};

typedef struct MemoEntry {
    Scope *scope;
    const HloInstruction *inst;
    const Index *index;
    Value value;
    size_t previous;  // 1-based entry of the same instruction; 0: none
} MemoEntry;

typedef struct Gen {
    HloArena *arena;  // everything that dies with the emission
    const HloModule *m;
    const HloBufferAssignment *buffers;
    HloStatus failure;  // the first one

    LLVMContextRef cx;
    LLVMModuleRef mod;
    LLVMBuilderRef b;
    LLVMTypeRef i1, i8, i32, i64, f32, f64, ptr, none;
    LLVMAttributeRef noalias, nounwind, memory_none, willreturn;
    bool has_half;     // the CPU converts f16 itself
    int vector_bytes;  // width of the vectors that dot kernels use

    // The function being built.
    LLVMValueRef fn;
    LLVMValueRef scratch;  // its last parameter: memory for values inside the kernel
    size_t scratch_at;     // bytes of it in use
    size_t scratch_bytes;  // most bytes any kernel uses
    bool reassoc;          // float operations may be reassociated
    bool in_place;         // some result of the kernel lies where an operand does
    size_t depth;          // of element()
    MemoEntry *memo;       // element values that dominate the insertion point
    size_t memo_count, memo_capacity;
    HloMap memo_heads;  // instruction -> 1-based entry

    HloMap globals;    // HloLiteral -> global that holds its bytes
    HloVec kernels;    // Kernel *, all made so far (kernel.c)
    HloMap functions;  // HloComputation -> LLVM function (sequence.c)
} Gen;

// ---- failure --------------------------------------------------------------------------------------------

// Records a failure unless there is one already.
void gen_fail(Gen *g, HloCode code, const char *format, ...) HLO_PRINTF(3, 4);
void gen_unimplemented(Gen *g, const HloInstruction *inst);
static inline bool gen_failed(const Gen *g) {
    return g->failure.detail != NULL;
}

// ---- types and memory (types.c) -------------------------------------------------------------------------

LLVMTypeRef value_type(Gen *g, HloType type);
LLVMTypeRef storage_type(Gen *g, HloType type);
Value value_undef(Gen *g, HloType type);
Value value_zero(Gen *g, HloType type);
// Element `at` of a literal as constants.
Value value_literal(Gen *g, const HloLiteral *literal, int64_t at);
// The address of an element; `linear` counts elements.
LLVMValueRef element_address(Gen *g, HloType type, LLVMValueRef base, LLVMValueRef linear);
Value load_at(Gen *g, const HloShape *shape, LLVMValueRef base, LLVMValueRef linear);
void store_at(Gen *g, const HloShape *shape, LLVMValueRef base, LLVMValueRef linear, Value value);
// Memory inside the kernel, for `size_bytes`.
LLVMValueRef scratch_take(Gen *g, int64_t size_bytes);
Place *place_new(Gen *g, const HloShape *shape, LLVMValueRef base);
// A place in scratch memory for a value of any shape.
Place *place_scratch(Gen *g, const HloShape *shape);
// The bytes of an array literal in the memory order of its shape; `out` has hlo_shape_size_bytes bytes.
void literal_lay_out(const HloLiteral *literal, const HloShape *shape, void *out);
void literal_read_back(HloLiteral *literal, const HloShape *shape, const void *data);

static inline LLVMValueRef const_i64(Gen *g, int64_t value) {
    return LLVMConstInt(g->i64, (unsigned long long)value, true);
}
static inline LLVMValueRef const_float(LLVMTypeRef type, double value) {
    return LLVMConstReal(type, value);
}
static inline bool is_packed(const HloShape *shape) {
    return hlo_type_bits(shape->type) < 8 && shape->layout && shape->layout->element_bits > 0;
}

// ---- index arithmetic (index.c) -------------------------------------------------------------------------

// Memory order: dimension number at position k, most minor first.
int64_t shape_minor(const HloShape *shape, size_t k);
// Distance in elements between neighbours along each dimension.
int64_t *shape_strides(Gen *g, const HloShape *shape);
// Same dimension sizes and same memory order.
bool shape_same_memory(const HloShape *a, const HloShape *b);
Index *index_new(Gen *g, const HloShape *shape, LLVMValueRef *dims);
Index *index_linear(Gen *g, const HloShape *shape, LLVMValueRef linear);
LLVMValueRef index_dim(Gen *g, const Index *index, size_t d);
// Position in an array of `shape`, which has the index's dimensions.
LLVMValueRef index_position(Gen *g, const Index *index, const HloShape *shape);
bool index_equal(const Index *a, const Index *b);
// The index of the element with the same row-major number in `to`.
Index *index_reshape(Gen *g, const Index *index, const HloShape *from, const HloShape *to);
// The index of the element with the same number in memory order in `to`.
Index *index_bitcast(Gen *g, const Index *index, const HloShape *from, const HloShape *to);

LLVMValueRef build_add(Gen *g, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef build_sub(Gen *g, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef build_scale(Gen *g, LLVMValueRef a, int64_t factor);
LLVMValueRef build_icmp(Gen *g, LLVMIntPredicate predicate, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef build_select(Gen *g, LLVMValueRef condition, LLVMValueRef a, LLVMValueRef b);
// 0 <= value < limit, as one unsigned comparison.
LLVMValueRef build_in_range(Gen *g, LLVMValueRef value, int64_t limit);
// min(max(value, 0), limit).
LLVMValueRef build_clamp_index(Gen *g, LLVMValueRef value, int64_t limit);

// ---- control flow (flow.c) ------------------------------------------------------------------------------

typedef struct Loop {
    LLVMBasicBlockRef body, exit;  // NULL: one iteration, no loop
    LLVMValueRef at;               // the counter
    LLVMValueRef *phis;            // carried values
    int64_t count;
} Loop;

// Loops inside each other, outermost first.
typedef struct Nest {
    Loop *loops;
    size_t depth, carried_count;
    size_t memo_mark;
} Nest;

// Opens loops from 0 to counts[k] - 1, each count >= 1. `carried` holds initial values and receives the values in
// the innermost body.
Nest *nest_open(Gen *g, const int64_t *counts, size_t depth, LLVMValueRef *carried, size_t carried_count);
// Closes them; `carried` holds the values for the next iteration, which are also the final ones.
void nest_close(Gen *g, Nest *nest, LLVMValueRef *carried);
static inline LLVMValueRef nest_at(const Nest *nest, size_t k) {
    return nest->loops[k].at;
}
// Loops over all elements of an array in memory order; `index` gets every dimension.
Nest *nest_over(Gen *g, const HloShape *shape, Index **index);

typedef struct Branch {
    LLVMBasicBlockRef otherwise, join, from_then;
    size_t memo_mark;
} Branch;

Branch branch_open(Gen *g, LLVMValueRef condition);
void branch_else(Gen *g, Branch *branch);
void branch_close(Gen *g, Branch *branch);
// if (condition) then; else otherwise: joins two values, called right after branch_close with the blocks they end in.
LLVMValueRef branch_join(Gen *g, LLVMValueRef a, LLVMBasicBlockRef from_a, LLVMValueRef b, LLVMBasicBlockRef from_b);

size_t memo_mark(const Gen *g);
void memo_forget(Gen *g, size_t mark);

// ---- elements (element.c, moves.c) ----------------------------------------------------------------------

// What an instruction's value (or a part of it) is, seen through tuples, parameters, fusions and calls.
typedef struct Resolved {
    Scope *scope;
    const HloInstruction *inst;  // NULL when place or value is set
    Place *place;
    const Value *value;
} Resolved;

Scope *scope_new(Gen *g, Scope *outer, const HloInstruction *caller);
Resolved resolve(Gen *g, Scope *scope, const HloInstruction *inst);
// A leaf of a tuple-shaped value: `path` as in a shape index.
Resolved resolve_leaf(Gen *g, Scope *scope, const HloInstruction *inst, HloDims path);
Value element(Gen *g, Scope *scope, const HloInstruction *inst, const Index *index);
// The same for a scalar.
Value element_scalar(Gen *g, Scope *scope, const HloInstruction *inst);
// One element of an instruction that is no elementwise operation: index maps.
Value move_element(Gen *g, Scope *scope, const HloInstruction *inst, const Index *index);
// Emits a scalar computation inline. `out` receives one value per result leaf.
void inline_computation(Gen *g, const HloComputation *comp, const Value *arguments, size_t count, Value *out);
bool is_heavy(const HloInstruction *inst);
bool has_array_operands(const HloInstruction *inst);
// True when the opcode goes element by element with all operands at the same index.
bool is_pointwise(const HloInstruction *inst);
// Start indices of a dynamic slice or update, clamped: one per dimension of `shape`.
LLVMValueRef *clamped_starts(Gen *g, Scope *scope, const HloInstruction *inst, size_t first_operand,
                             const HloShape *shape, const int64_t *sizes);
// Component `k` of an index vector as i64.
LLVMValueRef index_value(Gen *g, Value value, HloType type);

// ---- arithmetic (arith.c, math.c, complex.c, convert.c) -------------------------------------------------

// An elementwise operation on given operand values.
Value pointwise(Gen *g, const HloInstruction *inst, const Value *operands);
Value complex_unary(Gen *g, const HloInstruction *inst, HloType type, Value x);
Value complex_binary(Gen *g, const HloInstruction *inst, HloType type, Value x, Value y);
// Unary float functions on f32 or f64 values.
LLVMValueRef float_unary(Gen *g, const HloInstruction *inst, HloOpcode op, LLVMValueRef x);
LLVMValueRef call_intrinsic(Gen *g, const char *name, LLVMTypeRef type, LLVMValueRef *args, unsigned count);
// A C library function: `name` for f64, name + "f" for f32.
LLVMValueRef call_libm(Gen *g, const char *name, LLVMTypeRef type, LLVMValueRef *args, unsigned count);

typedef enum FloatOp { FADD, FSUB, FMUL, FDIV } FloatOp;
LLVMValueRef build_float(Gen *g, FloatOp op, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef build_fneg(Gen *g, LLVMValueRef a);
LLVMValueRef build_fabs(Gen *g, LLVMValueRef a);
LLVMValueRef build_fcmp(Gen *g, LLVMRealPredicate predicate, LLVMValueRef a, LLVMValueRef b);

// Float values of types narrower than f32 are kept as f32 that the narrow type can represent.
LLVMValueRef float_round(Gen *g, HloType type, LLVMValueRef value);
// Bits of a representable value, and back.
LLVMValueRef float_encode(Gen *g, HloType type, LLVMValueRef value);
LLVMValueRef float_decode(Gen *g, HloType type, LLVMValueRef bits);
Value convert(Gen *g, const HloInstruction *inst, HloType from, HloType to, Value value);
// The bit pattern of a value as an integer of the type's width, and back.
LLVMValueRef value_to_bits(Gen *g, HloType type, Value value);
Value value_from_bits(Gen *g, HloType type, LLVMValueRef bits);
Value compare_values(Gen *g, const HloInstruction *inst, HloType type, int64_t direction, int64_t order, Value a,
                     Value b);
Value add_values(Gen *g, HloType type, Value a, Value b);
Value multiply_values(Gen *g, HloType type, Value a, Value b);

// ---- writing whole values (kernel.c and one file per kind of operation) ---------------------------------

void emit_into(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
// Puts values inside a kernel that need loops of their own, or would be computed too often, into scratch memory; what
// the roots themselves are is left to the caller.
void plan_kernel(Gen *g, Scope *scope, const HloInstruction *root);
// True when one counter over all elements serves every array that `inst` is computed from.
bool is_flat(Gen *g, Scope *scope, const HloInstruction *inst, const HloShape *shape);
// Writes every element through element().
void emit_elements(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
// An array operand in memory: where it is, or a copy in scratch memory.
Place *operand_place(Gen *g, Scope *scope, const HloInstruction *inst);
void emit_copy(Gen *g, Place *from, Place *to);

void emit_reduce(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
void emit_reduce_window(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
void emit_select_and_scatter(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
void emit_dot(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
void emit_convolution(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
void emit_dynamic_update_slice(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
void emit_concatenate(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
void emit_scatter(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
void emit_sort(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
void emit_rng_bit_generator(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
void emit_topk(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
void emit_fft(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
void emit_cholesky(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
void emit_triangular_solve(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
// A custom call to LAPACK; false when it is none, or not one that is known.
bool emit_lapack(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
void emit_custom_call(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
// The rows of all operations of the last kind: which opcodes are heavy, and who writes them.
typedef void Emitter(Gen *g, Scope *scope, const HloInstruction *inst, Place *dest);
Emitter *heavy_emitter(HloOpcode op);

// ---- kernels (kernel.c) ---------------------------------------------------------------------------------

// A leaf array of a shape.
typedef struct Leaf {
    HloDims path;
    const HloShape *shape;
} Leaf;
typedef struct Leaves {
    Leaf *items;
    size_t count;
} Leaves;
// Array leaves in pre-order.
Leaves shape_leaves(Gen *g, const HloShape *shape);
// The address of a slice; `allocations` is the table of allocation addresses.
LLVMValueRef slice_address(Gen *g, LLVMValueRef allocations, HloBufferSlice slice);
// Where a leaf lies; fails when the assignment does not know or the place is too small.
bool leaf_slice(Gen *g, const HloInstruction *inst, const Leaf *leaf, HloBufferSlice *out);
// Calls the kernel of an instruction, making it when no equal one exists.
void call_kernel(Gen *g, const HloInstruction *inst, LLVMValueRef allocations, LLVMValueRef scratch);

// ---- functions (sequence.c) -----------------------------------------------------------------------------

// Fills g->mod with one function per computation that runs; the entry's is called `hlo_entry`.
void emit_module(Gen *g);
// Calls a function of the runtime (runtime.c): void f(ptr or i64 …).
// A constant array of numbers, the descriptor that a runtime function takes.
LLVMValueRef gen_numbers(Gen *g, const int64_t *numbers, size_t count);
void call_runtime(Gen *g, const char *name, LLVMValueRef *args, unsigned count);

#endif
