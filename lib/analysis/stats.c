// Module statistics: one walk over all instructions.

#include "hlo/stats.h"

#include <inttypes.h>
#include <stdlib.h>

enum { OPCODES_PER_LINE = 4 };

typedef struct Stats {
    HloArena *scratch;
    int64_t fusion_computations;
    int64_t instructions;
    int64_t by_opcode[HLO_OP_COUNT];
    int64_t parameters, parameter_bytes;  // of the entry
    int64_t constant_bytes;
    int64_t result_bytes;
} Stats;

static int64_t add_saturated(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

// The bytes of all arrays in a shape, tuple tables aside.
static int64_t array_bytes(HloArena *scratch, const HloShape *shape) {
    HloVec left = {0};
    int64_t total = 0;
    hlo_vec_push(scratch, &left, shape);
    while (left.count) {
        const HloShape *next = hlo_vec_pop(&left);
        if (!hlo_shape_is_tuple(next))
            total = add_saturated(total, hlo_shape_size_bytes(next));
        else
            for (size_t i = 0; i < next->rank; i++) hlo_vec_push(scratch, &left, next->elements[i]);
    }
    return total;
}

static void count_computation(Stats *stats, const HloComputation *comp) {
    if (hlo_is_fusion_computation(comp)) stats->fusion_computations++;
    HLO_EACH_INST(inst, comp) {
        stats->instructions++;
        stats->by_opcode[inst->op]++;
        if (inst->op != HLO_OP_CONSTANT) continue;
        stats->constant_bytes = add_saturated(stats->constant_bytes, array_bytes(stats->scratch, inst->shape));
    }
}

static void count_module(Stats *stats, const HloModule *m) {
    HLO_EACH_COMP(comp, m) count_computation(stats, comp);
    stats->parameters = (int64_t)hlo_parameter_count(m->entry);
    for (size_t k = 0; k < hlo_parameter_count(m->entry); k++) {
        int64_t bytes = array_bytes(stats->scratch, hlo_parameter(m->entry, k)->shape);
        stats->parameter_bytes = add_saturated(stats->parameter_bytes, bytes);
    }
    stats->result_bytes = array_bytes(stats->scratch, m->entry->root->shape);
}

typedef struct OpcodeCount {
    const char *name;
    int64_t count;
} OpcodeCount;

// Most frequent first, then by name.
static int compare_counts(const void *a, const void *b) {
    const OpcodeCount *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return strcmp(x->name, y->name);
}

static void put_opcodes(HloBuffer *out, const Stats *stats) {
    OpcodeCount counts[HLO_OP_COUNT];
    size_t used = 0;
    for (int op = 0; op < HLO_OP_COUNT; op++) {
        if (stats->by_opcode[op]) counts[used++] = (OpcodeCount){hlo_op_name((HloOpcode)op), stats->by_opcode[op]};
    }
    qsort(counts, used, sizeof *counts, compare_counts);
    for (size_t i = 0; i < used; i++) {
        hlo_putf(out, "%s%6" PRId64 " %-20s", i % OPCODES_PER_LINE ? "" : "  ", counts[i].count, counts[i].name);
        if (i % OPCODES_PER_LINE != OPCODES_PER_LINE - 1 && i + 1 < used) continue;
        while (out->size && out->data[out->size - 1] == ' ') out->size--;
        hlo_put_char(out, '\n');
    }
}

typedef struct Walk {
    Stats stats;
    const HloModule *m;
} Walk;

static HloStatus walk_module(void *data) {
    Walk *walk = data;
    count_module(&walk->stats, walk->m);
    return hlo_ok();
}

HloStatus hlo_put_module_stats(HloBuffer *out, const HloModule *m) {
    if (!m->entry) return hlo_error(HLO_FAILED_PRECONDITION, "module '%s' has no entry computation", m->name);
    HloArena scratch = {0};
    Walk walk = {.stats = {.scratch = &scratch}, .m = m};
    HloStatus status = hlo_guarded((HloArena *const[]){&scratch, NULL}, walk_module, &walk);
    hlo_arena_free(&scratch);
    HLO_TRY(status);
    const Stats *stats = &walk.stats;
    hlo_putf(out, "module        %s%s\n", m->name, m->is_scheduled ? " (scheduled)" : "");
    hlo_putf(out, "computations  %zu (%" PRId64 " of them fusions)\n", m->count, stats->fusion_computations);
    hlo_putf(out, "instructions  %" PRId64 "\n", stats->instructions);
    hlo_putf(out, "parameters    %" PRId64 ", %" PRId64 " bytes\n", stats->parameters, stats->parameter_bytes);
    hlo_putf(out, "constants     %" PRId64 ", %" PRId64 " bytes\n", stats->by_opcode[HLO_OP_CONSTANT],
             stats->constant_bytes);
    hlo_putf(out, "result        %" PRId64 " bytes\n", stats->result_bytes);
    put_opcodes(out, stats);
    return hlo_ok();
}
