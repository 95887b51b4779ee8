// The verifier, row by row: entry computations in text, and the rule that each breaks (NULL: it is sound). Each rule
// has a row that breaks it; the sound rows beside them differ in one detail.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hlo/infer.h"
#include "hlo/text.h"

typedef struct Row {
    const char *entry;  // lines of the entry computation
    const char *rule;   // NULL: the module is sound
} Row;

static const char computations[] =
    "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] add(x, y) }\n"
    "less { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = pred[] compare(x, y), direction=LT }\n"
    "body { x = f32[4] parameter(0) ROOT r = f32[4] negate(x) }\n"
    "test { x = f32[4] parameter(0) ROOT r = pred[] constant(false) }\n"
    "fused { x = f32[4] parameter(0) ROOT r = f32[4] negate(x) }\n"
    "lazy { x = f32[4] parameter(0) d = f32[4] exponential(x) ROOT r = f32[4] negate(x) }\n";

static HloModule *read_text(HloStringView text) {
    HloModule *m = NULL;
    HloStatus status = hlo_parse_module(text, &(HloParseOptions){0}, &m);
    if (!hlo_is_ok(status)) fail_msg("%s", hlo_status_message(status));
    return m;
}

static HloModule *read_entry(const char *header, const char *entry) {
    HloBuffer text = {0};
    hlo_putf(&text, "HloModule m%s\n%sENTRY e {\n%s\n}\n", header, computations, entry);
    HloModule *m = read_text((HloStringView){text.data, text.size});
    hlo_buffer_free(&text);
    return m;
}

static void expect_rule(const HloModule *m, const HloVerifyOptions *options, const char *rule, const char *shown) {
    HloStatus status = hlo_verify_module(m, options);
    const char *message = hlo_status_message(status);
    if (!rule && !hlo_is_ok(status)) fail_msg("%s: %s", shown, message);
    if (rule && hlo_is_ok(status)) fail_msg("%s: accepted, expected rule %s", shown, rule);
    if (rule) {
        const char *at = strstr(message, "breaks rule ");
        if (!at || strncmp(at + strlen("breaks rule "), rule, strlen(rule))) fail_msg("%s: %s", shown, message);
    }
    hlo_status_free(status);
}

static void check_rows(const char *header, const HloVerifyOptions *options, const Row *rows, size_t count) {
    for (size_t i = 0; i < count; i++) {
        HloModule *m = read_entry(header, rows[i].entry);
        expect_rule(m, options, rows[i].rule, rows[i].entry);
        hlo_module_free(m);
    }
}

static const HloVerifyOptions mixed = {.allow_mixed_precision = true};
static const HloVerifyOptions strict = {0};
static const HloVerifyOptions layouts = {.layout_sensitive = true};

#define PARAMETERS "a = f32[4] parameter(0) b = f32[4] parameter(1) s = f32[] parameter(2) i = s32[] parameter(3) "

static void verify_compares_declared_with_inferred_shapes(void **state) {
    (void)state;
    static const Row rows[] = {
        {PARAMETERS "ROOT r = f32[4] add(a, b)", NULL},
        {PARAMETERS "ROOT r = f32[5] add(a, b)", "result-shape"},
        {PARAMETERS "ROOT r = bf16[4] add(a, b)", NULL},
        {PARAMETERS "ROOT r = s32[4] add(a, b)", "result-shape"},
        {PARAMETERS "ROOT r = f32[4] add(a, s)", "no-implicit-broadcast"},
        {PARAMETERS "ROOT r = f32[4] clamp(s, a, s)", NULL},
        {PARAMETERS "ROOT r = pred[4] compare(a, b), direction=EQ, type=TOTALORDER", NULL},
        {PARAMETERS "ROOT r = pred[] compare(i, i), direction=EQ, type=UNSIGNED", "comparison-type"},
        {PARAMETERS "ROOT r = f32[<=4] negate(a)", NULL},
        {PARAMETERS "ROOT r = f32[?] negate(a)", "no-unbounded-dimensions"},
        {PARAMETERS "ROOT r = s8[4,4] bitcast-convert(a)", NULL},
        {PARAMETERS "ROOT r = s8[4] bitcast-convert(a)", "result-shape"},
        {PARAMETERS "ROOT r = f32[] convert(a)", "result-shape"},
        {PARAMETERS "t = (f32[4], s32[]) tuple(a, i) ROOT r = s32[] get-tuple-element(t), index=0", "result-shape"},
    };
    check_rows("", &mixed, rows, HLO_COUNT(rows));
}

static void verify_knows_declared_data_movement(void **state) {
    (void)state;
    static const Row rows[] = {
        {PARAMETERS "ROOT r = f32[3,4] broadcast(a), dimensions={1}", NULL},
        {PARAMETERS "ROOT r = f32[4,3] broadcast(a), dimensions={1}", "broadcast-dimensions"},
        {PARAMETERS "ROOT r = f32[3,4] broadcast(a), dimensions={2}", "broadcast-dimensions"},
        {PARAMETERS "ROOT r = s32[3,4] broadcast(a), dimensions={1}", "same-element-type"},
        {PARAMETERS "ROOT r = f32[2,2] reshape(a)", NULL},
        {PARAMETERS "ROOT r = f32[5] reshape(a)", "same-element-count"},
        {PARAMETERS "ROOT r = s32[4] reshape(a)", "same-element-type"},
        {PARAMETERS "ROOT r = f32[2] slice(a), slice={[1:4:2]}", NULL},
        {PARAMETERS "ROOT r = f32[2] slice(a), slice={[1:5:2]}", "operands"},
        {PARAMETERS "ROOT r = f32[2] dynamic-slice(a, i), dynamic_slice_sizes={2}", NULL},
        {PARAMETERS "ROOT r = f32[2] dynamic-slice(a, s), dynamic_slice_sizes={2}", "operands"},
        {PARAMETERS "ROOT r = f32[4] dynamic-update-slice(a, b, i)", NULL},
        {PARAMETERS "u = f32[5] broadcast(s), dimensions={} ROOT r = f32[4] dynamic-update-slice(a, u, i)", "operands"},
        {"ROOT r = s32[4,2] iota(), iota_dimension=1", NULL},
        {"ROOT r = s32[4,2] iota(), iota_dimension=2", "iota-dimension"},
        {"ROOT r = pred[4] iota(), iota_dimension=0", "iota-type"},
        {PARAMETERS "ROOT r = f32[7,7] bitcast(a)", NULL},
        {PARAMETERS "t = token[] after-all() ROOT r = f32[4] add-dependency(a, t)", NULL},
        {PARAMETERS "ROOT r = f32[4] add-dependency(a, b)", "token-operand"},
    };
    check_rows("", &mixed, rows, HLO_COUNT(rows));
}

static void verify_checks_called_computations(void **state) {
    (void)state;
    static const Row rows[] = {
        {PARAMETERS "ROOT r = f32[] reduce(a, s), dimensions={0}, to_apply=add", NULL},
        {PARAMETERS "ROOT r = f32[] reduce(a, s), dimensions={0}, to_apply=body", "operands"},
        {PARAMETERS "ROOT r = f32[4] sort(a), dimensions={0}, to_apply=less", NULL},
        {PARAMETERS "ROOT r = f32[4] sort(a), dimensions={0}, to_apply=add", "comparator"},
        {PARAMETERS "ROOT r = f32[4] sort(a), dimensions={1}, to_apply=less", "sort-dimension"},
        {PARAMETERS "ROOT r = f32[4] while(a), condition=test, body=body", NULL},
        {PARAMETERS "ROOT r = f32[4] while(a), condition=body, body=body", "condition-result"},
        {PARAMETERS "ROOT r = f32[] while(s), condition=test, body=body", "argument-shape"},
        {PARAMETERS "ROOT r = f32[4] while(a), condition=test, body=add", "callee-parameters"},
        {PARAMETERS "ROOT r = f32[4] conditional(i, a, b), branch_computations={body, body}", NULL},
        {PARAMETERS "ROOT r = f32[4] conditional(i, a, s), branch_computations={body, body}", "argument-shape"},
        {PARAMETERS "ROOT r = f32[5] conditional(i, a, b), branch_computations={body, body}", "result-shape"},
        {PARAMETERS "ROOT r = f32[4] call(a), to_apply=body", NULL},
        {PARAMETERS "ROOT r = f32[4] call(a, b), to_apply=body", "callee-parameters"},
        {PARAMETERS "ROOT r = f32[4] call(a), to_apply=body, is_composite=true", "composite-attributes"},
        {PARAMETERS "ROOT r = f32[4] call(a), to_apply=body, is_composite=true, "
                    "frontend_attributes={composite.name=\"n\"}",
         NULL},
        {PARAMETERS "ROOT r = f32[4] fusion(a), kind=kLoop, calls=fused", NULL},
        {PARAMETERS "ROOT r = f32[4] fusion(a, b), kind=kLoop, calls=fused", NULL},
        {PARAMETERS "ROOT r = f32[4] fusion(), kind=kLoop, calls=fused", "callee-parameters"},
        {PARAMETERS "ROOT r = f32[4] fusion(s), kind=kLoop, calls=fused", "argument-shape"},
        {PARAMETERS "ROOT r = f32[5] fusion(a), kind=kLoop, calls=fused", "result-shape"},
        {PARAMETERS "ROOT r = f32[4] fusion(a), kind=kLoop, calls=lazy", "fused-dead-code"},
        {PARAMETERS "f = f32[4] fusion(a), kind=kLoop, calls=fused ROOT r = f32[4] fusion(f), kind=kLoop, calls=fused",
         "fused-once"},
        {PARAMETERS "ROOT r = f32[4] fusion(a), kind=kLoop, calls=fused, output_to_operand_aliasing={{}: (1, {})}",
         "alias-operand"},
        {PARAMETERS "ROOT r = f32[4] fusion(a), kind=kLoop, calls=fused, output_to_operand_aliasing={{}: (0, {1})}",
         "alias-index"},
        {PARAMETERS "ROOT r = f32[4] custom-call(a), custom_call_target=\"t\", "
                    "output_to_operand_aliasing={{}: (0, {})}",
         NULL},
        {PARAMETERS "ROOT r = f32[4] custom-call(s), custom_call_target=\"t\", "
                    "output_to_operand_aliasing={{}: (0, {})}",
         "alias-shape"},
        {"ROOT r = f32[] custom-call(), custom_call_target=\"GetRngSeed\"", "rng-seed"},
    };
    check_rows("", &mixed, rows, HLO_COUNT(rows));
}

static void verify_checks_numeric_opcodes(void **state) {
    (void)state;
#define DOT " dot(a, b), lhs_contracting_dims={0}, rhs_contracting_dims={0}"
    static const Row rows[] = {
        {PARAMETERS "ROOT r = f32[]" DOT, NULL},
        {PARAMETERS "ROOT r = s64[]" DOT, NULL},
        {PARAMETERS "ROOT r = f32[4]" DOT, "result-shape"},
        {PARAMETERS "ROOT r = (f32[])" DOT, "result-shape"},
        {PARAMETERS "ROOT r = f32[9] rng(s, s), distribution=rng_uniform", NULL},
        {PARAMETERS "ROOT r = f32[9] rng(a, s), distribution=rng_uniform", "rng-operands"},
        {PARAMETERS "ROOT r = s32[9] rng(s, s), distribution=rng_uniform", "rng-types"},
        {PARAMETERS "ROOT r = s32[9] rng(i, i), distribution=rng_normal", "rng-distribution"},
        {"s = u64[2] parameter(0) ROOT r = (u64[2], u32[9]) rng-bit-generator(s), algorithm=rng_default", NULL},
        {"s = u64[2] parameter(0) ROOT r = (u64[3], u32[9]) rng-bit-generator(s), algorithm=rng_default", "rng-state"},
    };
#undef DOT
    check_rows("", &mixed, rows, HLO_COUNT(rows));
}

static void verify_forbids_mixed_precision_unless_allowed(void **state) {
    (void)state;
    static const char half[] = "a = f32[4] parameter(0) b = bf16[4] parameter(1) ROOT r = f32[4] add(a, b)";
    static const Row loose[] = {{half, NULL}};
    static const Row rows[] = {
        {half, "one-precision"},
        {"a = f32[4] parameter(0) ROOT r = bf16[4] negate(a)", "result-shape"},
        {"a = f32[4] parameter(0) b = bf16[4] parameter(1) ROOT r = f32[] dot(a, b), lhs_contracting_dims={0}, "
         "rhs_contracting_dims={0}",
         NULL},
        {"a = f32[4] parameter(0) b = bf16[4] parameter(1) ROOT r = (f32[4], bf16[4]) tuple(a, b)", NULL},
        {"a = f64[4] parameter(0) z = f64[] constant(0) ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=add",
         "reducer-types"},
    };
    check_rows("", &mixed, loose, HLO_COUNT(loose));
    check_rows("", &strict, rows, HLO_COUNT(rows));
}

static void verify_looks_at_layouts_only_when_told(void **state) {
    (void)state;
    static const char tuple[] = "a = f32[2,3]{1,0} parameter(0) ROOT r = (f32[2,3]{0,1}) tuple(a)";
    static const Row loose[] = {{tuple, NULL}};
    static const Row rows[] = {
        {tuple, "result-shape"},
        {"a = f32[2,3]{1,0} parameter(0) ROOT r = f32[2,3]{0,1} negate(a)", NULL},
        {"a = f32[4]{0} parameter(0) ROOT r = f32[5]{0} bitcast(a)", "bitcast-size"},
        {"a = f32[4]{0:S(5)} parameter(0) ROOT r = f32[4]{0} bitcast(a)", "bitcast-memory"},
        {"c = f32[2]{0:S(5)} constant({1,2}) ROOT r = f32[2]{0} bitcast(c)", NULL},
        {"ROOT r = f32[2,3]{0,1} constant({{1,2,3},{4,5,6}})", NULL},
    };
    check_rows("", &mixed, loose, HLO_COUNT(loose));
    check_rows("", &layouts, rows, HLO_COUNT(rows));
}

static void verify_checks_collectives(void **state) {
    (void)state;
    static const Row rows[] = {
        {PARAMETERS "ROOT r = f32[8] all-gather(a), dimensions={0}, replica_groups={{0,1},{2,3}}", NULL},
        {PARAMETERS "ROOT r = f32[16] all-gather(a), dimensions={0}, replica_groups={{0,1},{2,3}}", "shard-count"},
        {PARAMETERS "ROOT r = f32[8] all-gather(a), dimensions={0}, replica_groups={{0,1},{2}}", "replica-groups"},
        {PARAMETERS "ROOT r = f32[8] all-gather(a), dimensions={0}, replica_groups={{0,1},{2,2}}", "replica-groups"},
        {PARAMETERS "ROOT r = f32[8] all-gather(a), dimensions={0}, replica_groups={{0,1}}", "replica-groups"},
        {PARAMETERS "ROOT r = f32[8] all-gather(a), dimensions={1}, replica_groups={{0,1},{2,3}}", "result-shape"},
        {PARAMETERS "ROOT r = f32[4] all-reduce(a), replica_groups={{0,1,2},{3}}, to_apply=add", NULL},
        {PARAMETERS "ROOT r = f32[2] all-reduce(a), replica_groups={}, to_apply=add", "result-shape"},
        {PARAMETERS "ROOT r = f32[1] reduce-scatter(a), dimensions={0}, replica_groups={}, to_apply=add", NULL},
        {PARAMETERS "ROOT r = f32[2] reduce-scatter(a), dimensions={0}, replica_groups={}, to_apply=add",
         "shard-count"},
        {PARAMETERS "ROOT r = f32[4] all-to-all(a), dimensions={0}, replica_groups={{0,1},{2,3}}", NULL},
        {PARAMETERS "ROOT r = (f32[4], f32[4]) all-to-all(a, b), replica_groups={{0,1},{2,3}}", NULL},
        {PARAMETERS "ROOT r = (f32[4]) all-to-all(a), replica_groups={{0,1},{2,3}}", "operand-count"},
        {PARAMETERS "ROOT r = f32[4] collective-permute(a), source_target_pairs={{0,1},{1,0}}", NULL},
        {PARAMETERS "ROOT r = f32[4] collective-permute(a), source_target_pairs={{0,1},{0,2}}", "source-target-pairs"},
        {PARAMETERS "ROOT r = f32[4] collective-permute(a), source_target_pairs={{0,4}}", "source-target-pairs"},
        {PARAMETERS "t = (f32[4]) tuple(a) ROOT r = (f32[4]) collective-permute(t), source_target_pairs={{0,1}}",
         "operands"},
        {PARAMETERS "t = (f32[4]) tuple(a) x = ((f32[4]), (f32[4])) collective-permute-start(t), "
                    "source_target_pairs={{0,1}} ROOT r = (f32[4]) collective-permute-done(x)",
         NULL},
        {PARAMETERS "o = (s32[]) tuple(i) ROOT r = f32[4] collective-permute(a, b, o, o), "
                    "source_target_pairs={{0,1},{0,2}}, slice_sizes={{1}}",
         "source-target-pairs"},
        {PARAMETERS "n = (s32[]) tuple(i) o = ((s32[]), (s32[])) tuple(n, n) ROOT r = f32[4] collective-permute(a, b, "
                    "o, o), source_target_pairs={{0,1},{0,2}}, slice_sizes={{1},{1}}",
         NULL},
        {PARAMETERS "x = f32[4] all-reduce(a), to_apply=add ROOT r = f32[4] all-reduce(x), constrain_layout=true, "
                    "to_apply=add",
         "all-reduce-layouts"},
    };
    check_rows(", replica_count=4", &mixed, rows, HLO_COUNT(rows));
}

static void verify_pairs_starts_with_dones(void **state) {
    (void)state;
#define COPY PARAMETERS "c = (f32[4], f32[4], u32[]) copy-start(a) "
#define SEND PARAMETERS "t = token[] after-all() sent = (f32[4], u32[], token[]) send(a, t), channel_id=1 "
    static const Row rows[] = {
        {COPY "ROOT r = f32[4] copy-done(c)", NULL},
        {COPY "ROOT r = f32[4] negate(a)", "one-consumer"},
        {COPY "ROOT r = f32[4] get-tuple-element(c), index=0", "consumer-kind"},
        {"c = (f32[4], f32[4], u32[]) parameter(0) ROOT r = f32[4] copy-done(c)", "producer-kind"},
        {SEND "ROOT d = token[] send-done(sent), channel_id=1", NULL},
        {SEND "ROOT d = f32[4] negate(a)", "one-consumer"},
        {"a = f32[4] parameter(0) ROOT r = ((f32[4]), f32[4], token[]) infeed(a)", "token-operand"},
        {"t = token[] after-all() ROOT r = (f32[4], token[]) infeed(t)", NULL},
        {"a = f32[4] parameter(0) t = token[] after-all() ROOT r = token[] outfeed(a, t), outfeed_shape=f32[5]",
         "outfeed-shape"},
        {PARAMETERS "x = ((f32[4]), f32[4], u32[]) async-start(a), calls=body ROOT r = f32[4] async-done(x)", NULL},
        {PARAMETERS "x = ((f32[5]), f32[4], u32[]) async-start(a), calls=body ROOT r = f32[4] async-done(x)",
         "async-shape"},
        {PARAMETERS "x = ((f32[4]), f32[4], u32[]) async-start(a), calls=body ROOT r = f32[5] async-done(x)",
         "async-shape"},
        {PARAMETERS "x = ((f32[4]), f32[4], u32[]) async-start(a, b), calls=body ROOT r = f32[4] async-done(x)",
         "async-operands"},
        {PARAMETERS "x = ((f32[4]), f32[4], u32[]) async-start(a), calls=lazy ROOT r = f32[4] async-done(x)",
         "async-body"},
    };
#undef COPY
#undef SEND
    check_rows("", &mixed, rows, HLO_COUNT(rows));
}

static void verify_fits_shardings_to_shapes(void **state) {
    (void)state;
    static const Row rows[] = {
        {"ROOT a = f32[4,8] parameter(0), sharding={devices=[2,1]<=[2]}", NULL},
        {"ROOT a = f32[4,8] parameter(0), sharding={devices=[2]<=[2]}", "sharding"},
        {"ROOT a = f32[4,8] parameter(0), sharding={devices=[2,2]<=[4]}", "sharding"},
        {"ROOT a = f32[4,8] parameter(0), sharding={devices=[2,1]0,0}", "sharding"},
        {"ROOT a = f32[4,8] parameter(0), sharding={devices=[2,1]1,0}", NULL},
        {"ROOT a = f32[4,8] parameter(0), sharding={devices=[2,1]1,2}", "sharding"},
        {"ROOT a = f32[4,8] parameter(0), sharding={{replicated}}", "sharding"},
        {"ROOT a = (f32[4],f32[]) parameter(0), sharding={{replicated}, {maximal device=1}}", NULL},
        {"ROOT a = (f32[4],f32[]) parameter(0), sharding={{replicated}}", "sharding"},
        {"ROOT a = f32[4] parameter(0), sharding={maximal device=2}", "sharding"},
    };
    check_rows(", num_partitions=2", &mixed, rows, HLO_COUNT(rows));
}

static void verify_checks_the_header(void **state) {
    (void)state;
    static const struct {
        const char *header;
        Row row;
    } rows[] = {
        {", entry_computation_layout={(f32[4])->f32[4]}", {"a = f32[4] parameter(0) ROOT r = f32[4] negate(a)", NULL}},
        {", entry_computation_layout={(f32[5])->f32[4]}",
         {"a = f32[4] parameter(0) ROOT r = f32[4] negate(a)", "entry-layout"}},
        {", entry_computation_layout={()->f32[4]}",
         {"a = f32[4] parameter(0) ROOT r = f32[4] negate(a)", "entry-layout"}},
        {", input_output_alias={ {}: (0, {}) }", {"a = f32[4] parameter(0) ROOT r = f32[4] negate(a)", NULL}},
        {", input_output_alias={ {}: (1, {}) }",
         {"a = f32[4] parameter(0) ROOT r = f32[4] negate(a)", "input-output-alias"}},
        {", input_output_alias={ {}: (0, {}, must-alias) }",
         {"a = f32[4] parameter(0) ROOT r = f32[2,2] reshape(a)", "must-alias"}},
        {", input_output_alias={ {0}: (0, {}), {1}: (0, {}) }",
         {"a = f32[4] parameter(0) ROOT r = (f32[4], f32[4]) tuple(a, a)", "input-output-alias"}},
        {", buffer_donor={ (0, {}) }", {"a = f32[4] parameter(0) ROOT r = f32[4] negate(a)", NULL}},
        {", buffer_donor={ (0, {0}) }", {"a = f32[4] parameter(0) ROOT r = f32[4] negate(a)", "buffer-donor"}},
        {", input_output_alias={ {}: (0, {}) }, buffer_donor={ (0, {}) }",
         {"a = f32[4] parameter(0) ROOT r = f32[4] negate(a)", "buffer-donor"}},
    };
    for (size_t i = 0; i < HLO_COUNT(rows); i++) check_rows(rows[i].header, &mixed, &rows[i].row, 1);
}

// What waits for what: S sends and R receives over the pair of digits behind it, G gathers from all devices.
static void put_transfers(HloBuffer *out, const char *steps) {
    hlo_put_string(out, "a = f32[4] parameter(0) t = token[] after-all()\n");
    for (int i = 0; steps[i]; i++) {
        char kind = steps[i];
        if (kind == 'G') hlo_putf(out, "g%d = f32[4] all-gather(a), dimensions={0}\n", i);
        if (kind != 'S' && kind != 'R') continue;
        const char *done = kind == 'S' ? "token[] send-done" : "(f32[4], token[]) recv-done";
        hlo_putf(out,
                 "x%d = (f32[4], u32[], token[]) %s, channel_id=%d, "
                 "frontend_attributes={_xla_send_recv_source_target_pairs={{%c,%c}}}\nd%d = %s(x%d), channel_id=%d\n",
                 i, kind == 'S' ? "send(a, t)" : "recv(t)", i + 1, steps[i + 1], steps[i + 2], i, done, i, i + 1);
    }
    hlo_put_string(out, "ROOT r = f32[4] negate(a)");
}

static void verify_finds_deadlocks_when_asked(void **state) {
    (void)state;
    static const HloVerifyOptions options = {.allow_mixed_precision = true, .no_deadlocks = true};
    static const Row rows[] = {
        {"S01 R01", NULL},
        {"R01 S01", NULL},
        {"S01", "no-deadlocks"},
        {"R01", "no-deadlocks"},
        {"S01 R12", "no-deadlocks"},
        {"S00 R00", "no-deadlocks"},
        {"S01 S12 R01 R12", NULL},
        {"S01 S12 R12 R01", NULL},
        {"S01 S01 R01 R01", "no-deadlocks"},
        {"S01 S10 R01 R10", "no-deadlocks"},
        {"S01 R10 R01 S10", NULL},
        {"R01 R10 S01 S10", "no-deadlocks"},
        {"S01 R01 G S10 R10", NULL},
        {"S01 G R01", "no-deadlocks"},
    };
    for (size_t i = 0; i < HLO_COUNT(rows); i++) {
        HloBuffer entry = {0};
        put_transfers(&entry, rows[i].entry);
        hlo_put_char(&entry, '\0');
        HloModule *m = read_entry(", is_scheduled=true", entry.data);
        expect_rule(m, &options, rows[i].rule, rows[i].entry);
        hlo_module_free(m);
        hlo_buffer_free(&entry);
    }
}

static void verify_lets_buffers_be_written_once(void **state) {
    (void)state;
#define PIN                                                                              \
    "a = f32[4] parameter(0) b = b(f32[4]) custom-call(a), custom_call_target=\"Pin\", " \
    "output_to_operand_aliasing={{}:(0, {})} "
#define UNPIN(name, of)                                                  \
    name " = f32[4] custom-call(" of "), custom_call_target=\"Unpin\", " \
         "output_to_operand_aliasing={{}:(0, {})} "
    static const Row rows[] = {
        {PIN UNPIN("ROOT r", "b"), NULL},
        {PIN UNPIN("u", "b") UNPIN("ROOT r", "b"), "one-writer"},
        {PIN "t = (b(f32[4]), f32[4]) tuple(b, a) g = b(f32[4]) get-tuple-element(t), index=0 " UNPIN("u", "g")
             UNPIN("ROOT r", "b"),
         "one-writer"},
        {"a = f32[4] parameter(0) ROOT b = b(f32[4]) custom-call(a), custom_call_target=\"Pin\"", "buffer-pin"},
        {PIN "ROOT r = f32[4] custom-call(b), custom_call_target=\"t\"", "buffer-alias"},
        {"ROOT b = b(f32[4]) parameter(0)", "buffer-place"},
    };
#undef PIN
#undef UNPIN
    check_rows("", &mixed, rows, HLO_COUNT(rows));
}

// ---- what text cannot say ---------------------------------------------------------------------------------

static HloModule *chain(HloInstruction **first, HloInstruction **second) {
    HloModule *m = read_entry("", PARAMETERS "x = f32[4] negate(a) y = f32[4] negate(x) ROOT r = f32[4] add(x, y)");
    *first = hlo_operand(m->entry->root, 0);
    *second = hlo_operand(m->entry->root, 1);
    return m;
}

static void verify_finds_one_sided_edges(void **state) {
    (void)state;
    HloInstruction *x, *y;
    HloModule *m = chain(&x, &y);
    hlo_vec_remove(&x->users, hlo_vec_find(&x->users, y));
    expect_rule(m, &mixed, "two-sided-edges", "a user is missing");
    hlo_module_free(m);
}

static void verify_finds_cycles(void **state) {
    (void)state;
    HloInstruction *x, *y;
    HloModule *m = chain(&x, &y);
    hlo_set_operand(x, 0, y);
    expect_rule(m, &mixed, "no-cycles", "x and y use each other");
    hlo_module_free(m);
}

static void verify_finds_recursion(void **state) {
    (void)state;
    HloModule *m = read_entry("", PARAMETERS "ROOT r = f32[4] call(a), to_apply=body");
    hlo_set_called(m->entry->root, 0, m->entry);
    expect_rule(m, &mixed, "no-recursion", "the entry calls itself");
    hlo_module_free(m);
}

static void verify_finds_one_sided_calls(void **state) {
    (void)state;
    HloModule *m = read_entry("", PARAMETERS "ROOT r = f32[4] call(a), to_apply=body");
    hlo_called(m->entry->root, 0)->callers.count = 0;
    expect_rule(m, &mixed, "two-sided-calls", "the callee does not know its caller");
    hlo_module_free(m);
}

// Passes append what they make, so that users stand before their operands.
static void verify_accepts_any_list_order(void **state) {
    (void)state;
    HloInstruction *x, *y;
    HloModule *m = chain(&x, &y);
    HloInstruction *late = hlo_inst_new(m, HLO_OP_NEGATE, x->shape, &(HloInstruction *){x->operands.items[0]}, 1);
    hlo_set_operand(y, 0, hlo_computation_add(m->entry, late, "late"));
    expect_rule(m, &mixed, NULL, "y stands before its operand");
    hlo_set_operand(late, 0, y);
    expect_rule(m, &mixed, "no-cycles", "late and y use each other");
    hlo_module_free(m);
}

static void verify_finds_taken_names_and_ids(void **state) {
    (void)state;
    HloInstruction *x, *y;
    HloModule *m = chain(&x, &y);
    uint32_t id = y->id;
    y->id = x->id;
    expect_rule(m, &mixed, "unique-id", "two ids are equal");
    y->id = id;
    y->name = x->name;
    expect_rule(m, &mixed, "unique-name", "two names are equal");
    hlo_module_free(m);
}

static void verify_finds_broken_schedules(void **state) {
    (void)state;
    HloModule *m = read_entry(", is_scheduled=true", "a = f32[4] parameter(0) ROOT r = f32[4] negate(a)");
    expect_rule(m, &mixed, NULL, "as read");
    HloInstruction **sequence = m->entry->sequence, *first = sequence[0];
    sequence[0] = sequence[1];
    sequence[1] = first;
    expect_rule(m, &mixed, "schedule-order", "the root comes first");
    sequence[0] = first;
    expect_rule(m, &mixed, "schedule-complete", "the parameter comes twice");
    m->entry->sequence_count = 1;
    expect_rule(m, &mixed, "schedule-complete", "the root is missing");
    hlo_module_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verify_compares_declared_with_inferred_shapes),
        cmocka_unit_test(verify_knows_declared_data_movement),
        cmocka_unit_test(verify_checks_called_computations),
        cmocka_unit_test(verify_checks_numeric_opcodes),
        cmocka_unit_test(verify_forbids_mixed_precision_unless_allowed),
        cmocka_unit_test(verify_looks_at_layouts_only_when_told),
        cmocka_unit_test(verify_checks_collectives),
        cmocka_unit_test(verify_pairs_starts_with_dones),
        cmocka_unit_test(verify_fits_shardings_to_shapes),
        cmocka_unit_test(verify_checks_the_header),
        cmocka_unit_test(verify_finds_deadlocks_when_asked),
        cmocka_unit_test(verify_lets_buffers_be_written_once),
        cmocka_unit_test(verify_finds_one_sided_edges),
        cmocka_unit_test(verify_finds_cycles),
        cmocka_unit_test(verify_finds_recursion),
        cmocka_unit_test(verify_finds_one_sided_calls),
        cmocka_unit_test(verify_accepts_any_list_order),
        cmocka_unit_test(verify_finds_taken_names_and_ids),
        cmocka_unit_test(verify_finds_broken_schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
