// The passes of the CPU target, in the nesting, order and under the names of the reference (CPU pipeline chapter, §3).
//
// The tables below name every pass of the reference. They become the text of a pipeline in which each pass stands as
// `name?`: those that exist here run, the others are named and left out. A pass that is written some day takes part
// from then on, with the options of its row.

#include "hlo/cpu.h"

// ---- conditions (§5) ------------------------------------------------------------------------------------

typedef enum Condition {
    ALWAYS,
    PARTITIONED,  // the module is for several partitions
    NOT_PARTITIONED,
    FLATTEN_BEFORE,   // calls are flattened before layouts are assigned …
    FLATTEN_AFTER,    // … or after fusion
    WIDENS_F16,       // dots and convolutions of f16 are computed in f32
    REDUCES_WINDOWS,  // long reduce-windows are split
    ENZYME_COMMS,
    DOT_LIBRARY,   // a library may take dots
    MULTI_OUTPUT,  // fusions with several outputs
    FAST_MATH,
    FAST_MIN_MAX,  // what NaN does to minimum and maximum may be lost
    FAST_COMPILE,
    CONDITION_COUNT
} Condition;

typedef struct Conditions {
    bool hold[CONDITION_COUNT];
} Conditions;

// The value of a key of xla_backend_extra_options, a list of keys and values in turn. NULL: not given.
static const char *extra_option(const HloDebugOptions *options, const char *key) {
    const HloVec *map = &options->xla_backend_extra_options;
    for (size_t k = 0; k + 1 < map->count; k += 2) {
        if (strcmp(map->items[k], key) == 0) return map->items[k + 1];
    }
    return NULL;
}

static Conditions find_conditions(const HloDebugOptions *options, const HloModule *m) {
    const char *offload = extra_option(options, "xla_is_host_offload");
    bool host_offload = offload && strcmp(offload, "true") == 0;
    bool new_emitter = !extra_option(options, "xla_cpu_disable_new_fusion_emitters");
    bool fast_compile = strcmp(options->xla_cpu_opt_preset, "CPU_OPT_PRESET_FAST_COMPILE") == 0;
    bool flatten_after = fast_compile || extra_option(options, "xla_cpu_flatten_after_fusion");
    bool library = options->xla_cpu_experimental_ynn_fusion_type.count || options->xla_cpu_use_onednn;
    bool partitioned = m && m->num_partitions > 1;
    return (Conditions){{
        [ALWAYS] = true,
        [PARTITIONED] = partitioned,
        [NOT_PARTITIONED] = !partitioned,
        [FLATTEN_BEFORE] = !flatten_after,
        [FLATTEN_AFTER] = flatten_after,
        [WIDENS_F16] = !options->xla_cpu_strict_dot_conv_math,
        [REDUCES_WINDOWS] = options->xla_reduce_window_rewrite_base_length != 0,
        [ENZYME_COMMS] = options->xla_enable_enzyme_comms_opt,
        [DOT_LIBRARY] = library && !host_offload,
        [MULTI_OUTPUT] = new_emitter && extra_option(options, "xla_cpu_use_multi_output_fusion"),
        [FAST_MATH] = options->xla_cpu_enable_fast_math,
        [FAST_MIN_MAX] = options->xla_cpu_enable_fast_min_max,
        [FAST_COMPILE] = fast_compile,
    }};
}

// ---- tables ---------------------------------------------------------------------------------------------

typedef enum Form { PASS, PIPELINE, FIXED_PIPELINE, FIXED_PASS } Form;

enum { MOST_EXTRAS = 2, FAST_COMPILE_LIMIT = 4 };

typedef struct Row {
    const char *name;
    const char *options;  // of the pass, as pipelines write them
    struct {
        Condition when;
        const char *options;
    } extra[MOST_EXTRAS];  // more of them
    Condition only_if;
    Form form;
    bool short_when_fast;    // FIXED_PIPELINE: fewer iterations under FAST_COMPILE
    const struct Row *rows;  // pipelines
    size_t row_count;
} Row;

#define ROWS(table) .rows = table, .row_count = HLO_COUNT(table)

#define ALGSIMP_OPTIONS "executing-on-cpu,supports-non-canonical-dots=false,rewrite-no-op-bitcast-convert-to-bitcast"
#define ALGSIMP_MIN_MAX \
    { FAST_MIN_MAX, "minmax-propagate-nan=false" }

static const Row async_collective[] = {
    {"async-collective-custom-call-rewriter"},
    {"async-collective-replacer"},
};

static const Row pre_partitioner[] = {
    {"strip-memory-placement-annotations"},
};

// `shardy-xla` stands where the compile request asks for Shardy, as JAX does; a request that does not has
// `sharding-propagation` in the first place and nothing in the second.
static const Row partitioner[] = {
    {"flatten-call-graph"},
    {"call-inliner"},
    {"zero_sized_hlo_elimination"},
    {"conditional-canonicalizer"},
    {"shardy-xla"},
    {"spmd-partitioning"},
    {"control-dep-rewriter"},
    {"recognize-reduce-window", .only_if = ENZYME_COMMS},
    {"collective-permute-cse", .only_if = ENZYME_COMMS},
};

static const Row sharding_removal[] = {
    {"flatten-call-graph", .only_if = FLATTEN_BEFORE},
    {"sharding-remover"},
    {"shardy-xla"},
    {"control-dep-rewriter"},
    {"dce"},
};

static const Row subbyte_packer[] = {
    {"sub-byte-size-setter"},
};

static const Row simplification[] = {
    {"algsimp", ALGSIMP_OPTIONS, {ALGSIMP_MIN_MAX, {FAST_MATH, "enable-fast-math"}}},
    {"simplify-sorts"},
    {"dce"},
    {"gather_expander"},
    {"gather_simplifier"},
    {"tree_reduction_rewriter"},
    {"zero_sized_hlo_elimination"},
    {"while-loop-invariant-code-motion"},
    {"tuple-simplifier"},
    {"while-loop-constant-sinking"},
    {"simplify-while-loops"},
    {"dce"},
    {"reshape-mover"},
    {"constant_folding"},
    {"simplify-conditional"},
};

// Narrow types are computed in wider ones as the reference does: the kernels could compute in them, but would round in
// other places.
static const Row through_layout_assignment[] = {
    {"batched_gather_scatter_normalizer"},
    {"result_caster"},
    {"dot_decomposer"},
    {"operand_upcaster"},
    {"rng-expander"},
    {"rng-bit-generator-expander"},
    {"zero_sized_hlo_elimination"},
    {"dynamic-index-splitter"},
    {"conditional-to-select"},
    {"map-inline"},
    {"topk-decomposer"},
    {"comparison-expander"},
    {"cholesky_expander"},
    {"qr_expander"},
    {"eigh_expander"},
    {"triangular_solve_expander"},
    {"all_to_all_decomposer"},
    {"stochastic_convert_decomposer"},
    {"call-inliner", "single-call-site"},
    {"batch-dot-simplification"},
    {"dot_decomposer"},
    {"all-reduce-promotion"},
    {"float-normalization-bf16"},
    {"float-normalization-f8e5m2"},
    {"float-normalization-f8e4m3"},
    {"float-normalization-f8e4m3fn"},
    {"float-normalization-f8e4m3b11fnuz"},
    {"float-normalization-f8e5m2fnuz"},
    {"float-normalization-f8e4m3fnuz"},
    {"float-normalization-f8e3m4"},
    {"float-normalization-s4"},
    {"float-normalization-u4"},
    {"float-normalization-f4e2m1fn"},
    {"float-normalization-f8e8m0fnu"},
    {"batch-dot-simplification"},
    {"convolution-group-converter"},
    {"convolution-group-converter"},
    {"batchnorm_expander"},
    {"logistic-expander"},
    {"conditional-canonicalizer"},
    {"dynamic-dimension-simplifier"},
    {"associative-scan-rewriter", .form = FIXED_PASS},
    {"reduce-window-rewriter", .form = FIXED_PASS, .only_if = REDUCES_WINDOWS},
    {"reduce-window-resizer", .only_if = REDUCES_WINDOWS},
    {"scan_expander"},
    {"dynamic_padder"},
    {"convolution-canonicalization"},
    {"change-op-data-type", .only_if = WIDENS_F16},
    {"simplification", .form = FIXED_PIPELINE, .short_when_fast = true, ROWS(simplification)},
    {"select_and_scatter_expander"},
    {"scatter_expander"},
    {"scatter_simplifier"},
    {"post_scatter_expansion_simplification", .form = FIXED_PIPELINE, .short_when_fast = true, ROWS(simplification)},
    {"gemv-rewriter"},
    {"bitcast_dtypes_expander"},
    {"topk-rewriter"},
    {"transpose-folding"},
    {"cse"},
    {"cse_barrier_expander"},
    {"tuple-simplifier"},
    {"while-loop-trip-count-annotator"},
    {"flatten-call-graph", .only_if = FLATTEN_BEFORE},
    {"layout-assignment"},
    {"sub-byte-size-setter"},
    {"shape-canonicalizer"},
    {"literal-canonicalizer"},
};

static const Row normalization[] = {
    {"reshape-decomposer"},
    {"reduce-decomposer"},
    {"broadcast_canonicalizer"},
};

static const Row dot_library[] = {
    {"dot_decomposer"},
    {"dot-library-rewriter"},
};

static const Row simplification_after_layout[] = {
    {"algsimp", "layout-sensitive," ALGSIMP_OPTIONS, {ALGSIMP_MIN_MAX}},
    {"dce"},
    {"cse", "layout-sensitive"},
};

static const Row after_layout_assignment[] = {
    {"after layout assignment", .form = PIPELINE},  // empty in the reference too
    {"reshape-decomposer"},
    {"fusion"},
    {"fusion-wrapper"},
    {"cpu_multi_output_fusion", .only_if = MULTI_OUTPUT},
    {"tuple-simplifier", .only_if = MULTI_OUTPUT},
    {"flatten-call-graph", .only_if = FLATTEN_AFTER},
    {"call-inliner", "single-call-site", .only_if = FLATTEN_AFTER},
    {"cpu-all-reduce-combiner"},
    {"tuple-simplifier"},
    {"simplification after layout assignment", .form = FIXED_PIPELINE, ROWS(simplification_after_layout)},
    {"cpu-parallel-task-assigner"},
    {"dce"},
    {"optimize_input_output_buffer_alias"},
    {"copy-insertion"},  // after it nothing may make values share memory that must not
    {"small-while-loop-hoisting"},
    {"propagate-call-metadata"},
    {"apply-xla-transforms-0"},
    {"dce"},
};

static const Row before_schedule[] = {
    {"async-collective", .form = PIPELINE, ROWS(async_collective)},
    {"pre-spmd-partitioner", .form = PIPELINE, ROWS(pre_partitioner)},
    {"spmd-partitioner", .form = PIPELINE, .only_if = PARTITIONED, ROWS(partitioner)},
    {"sharding-removal", .form = PIPELINE, .only_if = NOT_PARTITIONED, ROWS(sharding_removal)},
    {"SubbytePacker pipeline", .form = PIPELINE, ROWS(subbyte_packer)},
    {"HLO passes through layout assignment", .form = PIPELINE, ROWS(through_layout_assignment)},
    {"hlo normalization", .form = PIPELINE, ROWS(normalization)},
    {"dot-library-passes", .form = PIPELINE, .only_if = DOT_LIBRARY, ROWS(dot_library)},
    {"HLO passes after layout assignment", .form = PIPELINE, ROWS(after_layout_assignment)},
};

static const Row after_schedule_rows[] = {
    {"apply-xla-transforms-1"},
};

static const Row after_schedule[] = {
    {"HLO passes after scheduling", .form = PIPELINE, ROWS(after_schedule_rows)},
};

// ---- from tables to a pipeline --------------------------------------------------------------------------

static void put_option(HloBuffer *out, const char *options, const char **separator) {
    if (!options) return;
    hlo_putf(out, "%s%s", *separator, options);
    *separator = ",";
}

static void put_pass(HloBuffer *out, const Row *row, const Conditions *conditions) {
    const char *separator = "{";
    hlo_putf(out, "%s?", row->name);
    put_option(out, row->options, &separator);
    for (size_t k = 0; k < MOST_EXTRAS; k++) {
        if (conditions->hold[row->extra[k].when]) put_option(out, row->extra[k].options, &separator);
    }
    if (*separator == ',') hlo_put_char(out, '}');
}

static void put_rows(HloBuffer *out, const Row *rows, size_t count, const Conditions *conditions);

static void put_row(HloBuffer *out, const Row *row, const Conditions *conditions) {
    bool is_pass = row->form == PASS || row->form == FIXED_PASS;
    bool is_fixed = row->form == FIXED_PIPELINE || row->form == FIXED_PASS;
    bool is_short = row->short_when_fast && conditions->hold[FAST_COMPILE];
    if (is_fixed) hlo_put_string(out, "fix");
    if (is_fixed && is_short) hlo_putf(out, "[%d]", FAST_COMPILE_LIMIT);
    if (is_fixed) hlo_put_char(out, '(');
    if (is_pass) {
        put_pass(out, row, conditions);
    } else {
        hlo_putf(out, "%s(", row->name);
        put_rows(out, row->rows, row->row_count, conditions);
        hlo_put_char(out, ')');
    }
    if (is_fixed) hlo_put_char(out, ')');
}

// Tables nest two levels deep.
static void put_rows(HloBuffer *out, const Row *rows, size_t count, const Conditions *conditions) {
    const char *separator = "";
    for (size_t k = 0; k < count; k++) {
        if (!conditions->hold[rows[k].only_if]) continue;
        hlo_put_string(out, separator);
        put_row(out, &rows[k], conditions);
        separator = ",";
    }
}

HloStatus hlo_cpu_pipeline(HloArena *arena, HloCpuPhase phase, const HloDebugOptions *options, const HloModule *m,
                           HloElement **out) {
    Conditions conditions = find_conditions(options, m);
    HloBuffer text = {0};
    if (phase != HLO_CPU_AFTER_SCHEDULE) put_rows(&text, before_schedule, HLO_COUNT(before_schedule), &conditions);
    if (phase == HLO_CPU_WHOLE) hlo_put_char(&text, ',');
    if (phase != HLO_CPU_BEFORE_SCHEDULE) put_rows(&text, after_schedule, HLO_COUNT(after_schedule), &conditions);
    HloStatus status = hlo_buffer_status(&text);
    if (hlo_is_ok(status)) status = hlo_pipeline_parse(arena, "cpu", (HloStringView){text.data, text.size}, out);
    hlo_buffer_free(&text);
    return status;
}

HloStatus hlo_cpu_run_passes(HloCpuPhase phase, const HloDebugOptions *options, HloModule *m, HloRunner *runner) {
    HloArena arena = {0};
    HloElement *list;
    bool changed;
    HloStatus status = hlo_cpu_pipeline(&arena, phase, options, m, &list);
    if (hlo_is_ok(status)) status = hlo_pipelines_run(list, m, runner, &changed);
    hlo_arena_free(&arena);
    return status;
}
