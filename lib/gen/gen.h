// What the makers of random instructions share.
//
// A maker is a row of a table: what it makes, how often, and a function that picks operands among the values made so
// far (the pool) and adds instructions, or adds nothing when none of a few draws fits. Every value carries what is
// known of its numbers, so that makers can keep them tame.
#ifndef HLO_LIB_GEN_H
#define HLO_LIB_GEN_H

#include "hlo/rewriter.h"

enum {
    MOST_ELEMENTS = 400,  // of one array
    MOST_RANK = 4,
    MOST_DEPTH = 3,    // of computations that call each other
    DRAWS = 12,        // of an operand, until one fits
    TAME_FLOATS = 16,  // log2 of the largest magnitude that is passed on in wide types
};

typedef struct Value {
    HloInstruction *inst;
    int mag;     // numbers are below 2^mag; meaningless for wild ones
    bool rough;  // computed by operations that round: another order of them gives slightly other numbers
    bool wild;   // may hold NaN or infinities, or numbers of any size
} Value;

typedef struct Pool {
    Value *values;
    size_t count, capacity;
} Pool;

// A computation that may be called again.
typedef struct Callee {
    HloComputation *comp;
    Value *params;  // what its body was made for
    Value result;
} Callee;

typedef struct Gen {
    HloPassContext cx;
    HloRewriteLog log;
    HloRewriter rw;  // builders; keeps the first failure
    HloModule *m;
    HloArena *scratch;
    uint64_t state;  // of the random numbers
    const bool *opcodes;
    size_t size, made;  // wanted, and so far
    Pool pool;          // of the computation that is being made
    Callee *callees;
    size_t callee_count, callee_capacity;
    unsigned depth;    // computations around the one that is being made
    unsigned context;  // CONTEXT_*: where it stands
} Gen;

// Where a maker does not fit.
enum {
    CONTEXT_FUSION = 1,  // fusions hold no calls
    CONTEXT_SCALAR = 2,  // bodies of map and of reducers: scalars only
    CONTEXT_SEQUENCE = 4,
};

typedef struct Maker {
    HloOpcode op;  // HLO_OP_COUNT: one of several, which the maker chooses among the wanted ones
    const char *name;
    unsigned weight;
    unsigned contexts;  // where it fits
    void (*make)(Gen *g);
} Maker;

typedef struct MakerTable {
    const Maker *rows;
    size_t count;
} MakerTable;

MakerTable hlo_gen_elementwise(void);
MakerTable hlo_gen_movement(void);
MakerTable hlo_gen_indexed(void);
MakerTable hlo_gen_reductions(void);
MakerTable hlo_gen_contractions(void);
MakerTable hlo_gen_control(void);
MakerTable hlo_gen_redundant(void);

// Runs makers drawn from all tables until `count` more instructions are made, or a bounded number of draws failed.
void hlo_gen_fill(Gen *g, size_t count);

// ---- drawing --------------------------------------------------------------------------------------------

uint64_t hlo_gen_draw(Gen *g);
static inline int64_t below(Gen *g, int64_t limit) {
    return (int64_t)(hlo_gen_draw(g) >> 11) % limit;
}
static inline int64_t between(Gen *g, int64_t low, int64_t high) {
    return low + below(g, high - low + 1);
}
// True once in `n` draws.
static inline bool one_in(Gen *g, int64_t n) {
    return below(g, n) == 0;
}
static inline bool may_make(const Gen *g, HloOpcode op) {
    return !g->opcodes || g->opcodes[op];
}
HloType hlo_gen_type(Gen *g);
const HloShape *hlo_gen_shape(Gen *g, HloType type);
// A random order of 0 … count - 1, in scratch memory.
int64_t *hlo_gen_order(Gen *g, size_t count);

// ---- picking --------------------------------------------------------------------------------------------

typedef bool (*Fits)(const Gen *g, const Value *v, const void *what);

// A value that fits, recent ones with preference; false when none of a few draws does.
bool hlo_gen_pick(Gen *g, Fits fits, const void *what, Value *out);
bool hlo_gen_pick_array(Gen *g, Value *out);
// Any array with finite numbers of known size.
bool hlo_gen_pick_tame(Gen *g, Value *out);
// The same for arrays with an element at least and a dimension at least.
bool hlo_gen_pick_ranked(Gen *g, Value *out);
// Of a class of types (bits 1 << HLO_CLASS_…).
bool hlo_gen_pick_class(Gen *g, unsigned classes, Value *out);
// Another value of the same shape: from the pool, `like` itself, or a new constant.
Value hlo_gen_partner(Gen *g, const Value *like);
// A scalar integer of type s32 for positions, from the pool or new.
Value hlo_gen_index(Gen *g, int64_t low, int64_t high);
// May be compared, rounded and so on without turning small differences into large ones.
static inline bool is_exact(const Value *v) {
    return !v->rough;
}
static inline HloTypeClass class_of(const Value *v) {
    return hlo_type_class(v->inst->shape->type);
}
static inline bool is_floating(const Value *v) {
    return class_of(v) == HLO_CLASS_FLOAT || class_of(v) == HLO_CLASS_COMPLEX;
}

// ---- making ---------------------------------------------------------------------------------------------

// The largest magnitude that values of a type may have, as log2.
int hlo_gen_most(HloType type);
// Enters a value into the pool; NULL after a failure is left out.
void hlo_gen_put(Gen *g, HloInstruction *inst, int mag, bool rough, bool wild);
// The same with what is known of `from`.
void hlo_gen_put_like(Gen *g, HloInstruction *inst, const Value *from);
// What holds for a value that combines both.
Value hlo_gen_join(const Value *a, const Value *b);
// Infers the shape and adds.
HloInstruction *hlo_gen_add(Gen *g, HloInstruction *detached);
HloInstruction *hlo_gen_new(Gen *g, HloOpcode op, HloInstruction *const *operands, size_t count);
// A constant of small numbers, of one number repeated (a broadcast now and then), or of corner values.
Value hlo_gen_constant(Gen *g, const HloShape *shape);
Value hlo_gen_parameter(Gen *g, size_t number, const HloShape *shape, Value known);
HloInstruction *hlo_gen_splat(Gen *g, const HloShape *shape, double value);

// Begins and ends a computation inside the one that is being made. Between them builders and the pool are those of the
// new one.
typedef struct Frame {
    HloComputation *comp;
    Pool pool;
    unsigned context;
} Frame;

Frame hlo_gen_enter(Gen *g, const char *name, unsigned context);
HloComputation *hlo_gen_leave(Gen *g, Frame frame, HloInstruction *root);
// A computation that applies an opcode to two scalars.
HloComputation *hlo_gen_reducer(Gen *g, HloOpcode op, HloType type);

#endif
