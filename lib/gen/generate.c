// Making a random module: parameters, then one maker after the other, then a root that uses what is left over.
//
//   ENTRY %main (p0: f32[2,3], p1: s32[3]) -> (…) {
//     %p0 = …   %p1 = …          the first values of the pool
//     %add.1 = …                 makers pick operands from the pool and put results into it
//     ROOT %tuple = …            most values that nobody uses; the others are dead code
//   }

#include "hlo/generate.h"

#include <stdlib.h>

#include "hlo/infer.h"
#include "lib/gen/gen.h"

enum { DEFAULT_SIZE = 100, MOST_FAILED_DRAWS = 200, TABLES = 7, LEFT_DEAD = 8 };

// ---- values and computations ----------------------------------------------------------------------------

void hlo_gen_put(Gen *g, HloInstruction *inst, int mag, bool rough, bool wild) {
    if (!inst) return;
    inst->shape = hlo_shape_with_default_layout(&g->m->shapes, inst->shape);  // inference moves layouts along
    Pool *pool = &g->pool;
    if (pool->count == pool->capacity) {
        pool->values = hlo_arena_grow(g->scratch, pool->values, &pool->capacity, 16, sizeof *pool->values);
    }
    pool->values[pool->count++] = (Value){inst, mag, rough, wild};
}

void hlo_gen_put_like(Gen *g, HloInstruction *inst, const Value *from) {
    hlo_gen_put(g, inst, from->mag, from->rough, from->wild);
}

Value hlo_gen_join(const Value *a, const Value *b) {
    return (Value){NULL, a->mag > b->mag ? a->mag : b->mag, a->rough || b->rough, a->wild || b->wild};
}

HloInstruction *hlo_gen_new(Gen *g, HloOpcode op, HloInstruction *const *operands, size_t count) {
    for (size_t k = 0; k < count; k++) {
        if (!operands[k]) return NULL;
    }
    return hlo_inst_new(g->m, op, NULL, operands, count);
}

HloInstruction *hlo_gen_add(Gen *g, HloInstruction *detached) {
    return hlo_build_inferred(&g->rw, detached);
}

Value hlo_gen_parameter(Gen *g, size_t number, const HloShape *shape, Value known) {
    HloInstruction *parameter = hlo_inst_new(g->m, HLO_OP_PARAMETER, shape, NULL, 0);
    hlo_set_int(g->m, parameter, HLO_ATTR_PARAMETER_NUMBER, (int64_t)number);
    known.inst = hlo_computation_add(g->rw.comp, parameter, NULL);
    hlo_gen_put_like(g, known.inst, &known);
    return known;
}

Frame hlo_gen_enter(Gen *g, const char *name, unsigned context) {
    Frame frame = {g->rw.comp, g->pool, g->context};
    g->rw.comp = hlo_computation_new(g->m, name);
    g->pool = (Pool){0};
    g->context = context;
    g->depth++;
    return frame;
}

HloComputation *hlo_gen_leave(Gen *g, Frame frame, HloInstruction *root) {
    HloComputation *made = g->rw.comp;
    if (root) hlo_computation_set_root(made, root);
    g->rw.comp = frame.comp;
    g->pool = frame.pool;
    g->context = frame.context;
    g->depth--;
    if (!root) return NULL;
    g->made += made->count;
    return hlo_module_add(g->m, made);
}

HloComputation *hlo_gen_reducer(Gen *g, HloOpcode op, HloType type) {
    Frame frame = hlo_gen_enter(g, hlo_op_name(op), CONTEXT_SCALAR);
    const HloShape *scalar = hlo_shape_scalar(&g->m->shapes, type);
    Value a = hlo_gen_parameter(g, 0, scalar, (Value){0}), b = hlo_gen_parameter(g, 1, scalar, (Value){0});
    return hlo_gen_leave(g, frame, hlo_build_binary(&g->rw, op, a.inst, b.inst));
}

// ---- makers ---------------------------------------------------------------------------------------------

typedef MakerTable (*TableFn)(void);
static const TableFn tables[TABLES] = {
    hlo_gen_elementwise,  hlo_gen_movement, hlo_gen_indexed,   hlo_gen_reductions,
    hlo_gen_contractions, hlo_gen_control,  hlo_gen_redundant,
};

static unsigned weight_of(const Gen *g, const Maker *maker) {
    bool wanted = maker->op == HLO_OP_COUNT || may_make(g, maker->op);
    return wanted && (maker->contexts & g->context) == g->context ? maker->weight : 0;
}

static const Maker *draw_maker(Gen *g) {
    int64_t total = 0;
    for (size_t t = 0; t < TABLES; t++) {
        MakerTable table = tables[t]();
        for (size_t k = 0; k < table.count; k++) total += weight_of(g, &table.rows[k]);
    }
    int64_t at = total ? below(g, total) : 0;
    for (size_t t = 0; total && t < TABLES; t++) {
        MakerTable table = tables[t]();
        for (size_t k = 0; k < table.count; k++) {
            at -= weight_of(g, &table.rows[k]);
            if (at < 0) return &table.rows[k];
        }
    }
    return NULL;
}

// Instructions of the module so far: those of finished computations, and those of the one that is being made.
void hlo_gen_fill(Gen *g, size_t count) {
    size_t start = g->made + g->rw.comp->count, failed = 0;
    while (g->made + g->rw.comp->count < start + count && failed < MOST_FAILED_DRAWS && hlo_is_ok(g->rw.failure)) {
        size_t before = g->rw.comp->count;
        const Maker *maker = draw_maker(g);
        if (!maker) return;
        g->rw.rule = maker->name;
        maker->make(g);
        failed = g->rw.comp->count == before ? failed + 1 : 0;
    }
}

// ---- the module -----------------------------------------------------------------------------------------

static void add_parameters(Gen *g) {
    size_t count = 2 + (size_t)below(g, 4);
    for (size_t k = 0; k < count; k++) {
        HloType type = k == 0 ? HLO_F32 : hlo_gen_type(g);
        const HloShape *shape = hlo_gen_shape(g, type);
        int mag = hlo_type_is_float(type) || hlo_type_is_complex(type) ? 1 : hlo_type_bits(type);
        hlo_gen_parameter(g, k, shape, (Value){.mag = mag});
    }
}

// Most values without users, in a tuple; what is left out is dead code.
static HloInstruction *make_root(Gen *g) {
    HloVec unused = {0};
    for (size_t k = 0; k < g->pool.count; k++) {
        HloInstruction *inst = g->pool.values[k].inst;
        if (hlo_user_count(inst) == 0 && (unused.count == 0 || !one_in(g, LEFT_DEAD))) {
            hlo_vec_push(g->scratch, &unused, inst);
        }
    }
    if (unused.count == 1) return unused.items[0];
    return hlo_build_tuple(&g->rw, (HloInstruction *const *)unused.items, unused.count);
}

// Parameters and constants; and tuple elements, whose line the text leaves out.
static bool is_leaf(const HloInstruction *inst) {
    return inst->op == HLO_OP_PARAMETER || inst->op == HLO_OP_CONSTANT || inst->op == HLO_OP_GET_TUPLE_ELEMENT;
}

// Execution order where data do not ask for it, now and then.
static void add_control_edges(Gen *g) {
    if (!one_in(g, 4)) return;
    for (size_t k = g->pool.count / 50 + 1; k > 0 && g->pool.count > 1; k--) {
        size_t later = 1 + (size_t)below(g, (int64_t)g->pool.count - 1), earlier = (size_t)below(g, (int64_t)later);
        HloInstruction *a = g->pool.values[earlier].inst, *b = g->pool.values[later].inst;
        if (a->id < b->id && !is_leaf(a) && !is_leaf(b)) hlo_add_control_edge(a, b);
    }
}

// They come from no pass.
static void forget_origins(HloModule *m) {
    HLO_EACH_COMP(comp, m) {
        HLO_EACH_INST(inst, comp) inst->made = NULL;
    }
}

static HloStatus generate(void *data) {
    Gen *g = data;
    HloComputation *entry = hlo_computation_new(g->m, "main");
    hlo_module_add(g->m, entry);
    g->rw = hlo_rewriter(&g->cx, g->m);
    g->rw.comp = entry;
    g->context = CONTEXT_SEQUENCE;
    add_parameters(g);
    while (g->made + entry->count + 1 < g->size && hlo_is_ok(g->rw.failure)) {
        size_t before = g->made + entry->count;
        hlo_gen_fill(g, g->size - before);
        if (g->made + entry->count == before) break;
    }
    HloInstruction *root = make_root(g);
    HLO_TRY(g->rw.failure);
    add_control_edges(g);
    hlo_computation_set_root(entry, root);
    hlo_module_set_entry(g->m, entry);
    forget_origins(g->m);
    return hlo_ok();
}

HloStatus hlo_generate(const HloGenerateOptions *options, HloModule **out) {
    static const HloPass maker = {.name = "generate"};
    HloArena scratch = {0};
    HloModule *m = hlo_module_new("random");
    if (!m) return hlo_out_of_memory();
    Gen g = {.m = m,
             .scratch = &scratch,
             .state = options->seed,
             .opcodes = options->opcodes,
             .size = options->size ? options->size : DEFAULT_SIZE};
    g.cx = (HloPassContext){.pass = &maker, .scratch = &scratch, .log = &g.log};
    HloStatus status = hlo_guarded((HloArena *const[]){&m->arena, &scratch, NULL}, generate, &g);
    hlo_arena_free(&scratch);
    if (hlo_is_ok(status))
        *out = m;
    else
        hlo_module_free(m);
    return status;
}
