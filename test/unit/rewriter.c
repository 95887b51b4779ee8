// Rewriting: what a replacement hands over, when it is refused, how rewrites are counted, what builders do.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hlo/observers.h"
#include "hlo/rewriter.h"

static const HloPass pass = {.name = "test-pass"};

typedef struct Fixture {
    HloModule *m;
    HloComputation *comp;
    HloArena scratch;
    HloRewriteLog log;
    HloPassContext cx;
    HloRewriter rw;
} Fixture;

static int set_up(void **state) {
    Fixture *f = test_calloc(1, sizeof *f);
    f->m = hlo_module_new("m");
    f->comp = hlo_module_add(f->m, hlo_computation_new(f->m, "main"));
    f->m->entry = f->comp;
    f->cx = (HloPassContext){&pass, NULL, &f->scratch, &f->log};
    f->rw = hlo_rewriter(&f->cx, f->m);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    hlo_status_free(f->rw.failure);
    hlo_module_free(f->m);
    hlo_arena_free(&f->scratch);
    test_free(f);
    return 0;
}

static const HloShape *vector(Fixture *f, int64_t size) {
    return hlo_shape_of(&f->m->shapes, HLO_F32, &size, 1);
}

static HloInstruction *parameter_in(Fixture *f, HloComputation *comp, int64_t number) {
    HloInstruction *inst = hlo_inst_new(f->m, HLO_OP_PARAMETER, vector(f, 4), NULL, 0);
    hlo_set_int(f->m, inst, HLO_ATTR_PARAMETER_NUMBER, number);
    return hlo_computation_add(comp, inst, "p");
}

static HloInstruction *parameter(Fixture *f, int64_t number) {
    return parameter_in(f, f->comp, number);
}

static HloInstruction *unary(Fixture *f, HloOpcode op, HloInstruction *x, const char *name) {
    return hlo_computation_add(f->comp, hlo_inst_new(f->m, op, x->shape, &x, 1), name);
}

static void set_op_name(Fixture *f, HloInstruction *inst, const char *op_name) {
    HloMetadata *metadata = HLO_NEW(&f->m->arena, HloMetadata);
    metadata->op_name = op_name;
    hlo_set_data(f->m, inst, HLO_ATTR_METADATA, metadata);
}

static const char *op_name(const HloInstruction *inst) {
    const HloMetadata *metadata = hlo_data(inst, HLO_ATTR_METADATA);
    return metadata ? metadata->op_name : NULL;
}

static void set_frontend_attribute(Fixture *f, HloInstruction *inst, const char *key, const char *value) {
    HloStringPair *pair = HLO_NEW(&f->m->arena, HloStringPair);
    HloStringMap *map = HLO_NEW(&f->m->arena, HloStringMap);
    *pair = (HloStringPair){key, value};
    *map = (HloStringMap){pair, 1};
    hlo_set_data(f->m, inst, HLO_ATTR_FRONTEND_ATTRIBUTES, map);
}

static const HloSharding *set_sharding(Fixture *f, HloInstruction *inst, HloShardingKind kind) {
    HloSharding *sharding = HLO_NEW(&f->m->arena, HloSharding);
    sharding->kind = kind;
    hlo_set_data(f->m, inst, HLO_ATTR_SHARDING, sharding);
    return sharding;
}

// ---- replacing ------------------------------------------------------------------------------------------

static void replace_moves_uses_and_rootness_and_removes_the_old(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0);
    HloInstruction *old = unary(f, HLO_OP_NEGATE, p, "old");
    HloInstruction *new = unary(f, HLO_OP_ABS, p, "new");
    HloInstruction *user = unary(f, HLO_OP_EXP, old, "user");
    hlo_computation_set_root(f->comp, old);
    assert_true(hlo_replace(&f->rw, old, new, "swap"));
    assert_ptr_equal(hlo_operand(user, 0), new);
    assert_ptr_equal(f->comp->root, new);
    assert_null(old->comp);
    assert_int_equal(f->comp->count, 3);
    assert_string_equal(new->name, "new");
    assert_true(f->rw.changed);
}

static void replace_by_the_same_opcode_takes_the_name(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0);
    HloInstruction *old = unary(f, HLO_OP_NEGATE, p, "old");
    HloInstruction *new = unary(f, HLO_OP_NEGATE, p, "new");
    hlo_computation_set_root(f->comp, old);
    assert_true(hlo_replace(&f->rw, old, new, "swap"));
    assert_string_equal(new->name, "old");
}

static void replace_hands_over_only_what_is_missing(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0);
    HloInstruction *old = unary(f, HLO_OP_NEGATE, p, "old");
    HloInstruction *bare = unary(f, HLO_OP_ABS, p, "bare");
    set_op_name(f, old, "old/name");
    set_frontend_attribute(f, old, "k", "old");
    const HloSharding *sharding = set_sharding(f, old, HLO_SHARDING_REPLICATED);
    assert_true(hlo_replace(&f->rw, old, bare, "swap"));
    assert_string_equal(op_name(bare), "old/name");
    assert_string_equal(hlo_frontend_attribute(bare, "k"), "old");
    assert_ptr_equal(hlo_data(bare, HLO_ATTR_SHARDING), sharding);

    HloInstruction *rich = unary(f, HLO_OP_TANH, p, "rich");
    set_op_name(f, rich, "rich/name");
    set_frontend_attribute(f, rich, "k", "rich");
    const HloSharding *own = set_sharding(f, rich, HLO_SHARDING_MANUAL);
    assert_true(hlo_replace(&f->rw, bare, rich, "swap"));
    assert_string_equal(op_name(rich), "rich/name");
    assert_string_equal(hlo_frontend_attribute(rich, "k"), "rich");
    assert_ptr_equal(hlo_data(rich, HLO_ATTR_SHARDING), own);
}

static void replace_refuses_control_edges_unless_relayed(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0);
    HloInstruction *old = unary(f, HLO_OP_NEGATE, p, "old");
    HloInstruction *new = unary(f, HLO_OP_ABS, p, "new");
    HloInstruction *before = unary(f, HLO_OP_EXP, p, "before");
    hlo_add_control_edge(before, old);
    assert_false(hlo_replace(&f->rw, old, new, "swap"));
    assert_non_null(old->comp);
    assert_false(f->rw.changed);
    assert_true(hlo_replace_with(&f->rw, old, new, "swap", HLO_REPLACE_RELAY_CONTROL));
    assert_null(old->comp);
    assert_int_equal(hlo_control_preds(new)->count, 1);
    assert_ptr_equal(hlo_control_preds(new)->items[0], before);
}

static void replace_refuses_other_shardings_when_asked(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0);
    HloInstruction *old = unary(f, HLO_OP_NEGATE, p, "old");
    HloInstruction *new = unary(f, HLO_OP_ABS, p, "new");
    set_sharding(f, old, HLO_SHARDING_REPLICATED);
    set_sharding(f, new, HLO_SHARDING_MANUAL);
    assert_false(hlo_replace_with(&f->rw, old, new, "swap", HLO_REPLACE_PRESERVE_SHARDING));
    assert_true(hlo_replace(&f->rw, old, new, "swap"));
}

static void replace_by_another_shape_is_an_internal_failure(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0);
    HloInstruction *old = unary(f, HLO_OP_NEGATE, p, "old");
    HloInstruction *new = hlo_computation_add(f->comp, hlo_inst_new(f->m, HLO_OP_ABS, vector(f, 5), &p, 1), "new");
    assert_false(hlo_replace(&f->rw, old, new, "grow"));
    assert_int_equal(hlo_status_code(f->rw.failure), HLO_INTERNAL);
    assert_string_equal(hlo_status_message(f->rw.failure),
                        "rule grow replaces %old of shape f32[4]{0} by %new of shape f32[5]{0}");
}

static void replace_removes_what_only_the_old_used(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0);
    HloInstruction *inner = unary(f, HLO_OP_EXP, p, "inner");
    HloInstruction *old = unary(f, HLO_OP_NEGATE, inner, "old");
    hlo_computation_set_root(f->comp, old);
    assert_true(hlo_replace(&f->rw, old, p, "drop"));
    assert_int_equal(f->comp->count, 1);
}

static void replace_can_keep_the_operands(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0);
    HloInstruction *inner = unary(f, HLO_OP_EXP, p, "inner");
    HloInstruction *old = unary(f, HLO_OP_NEGATE, inner, "old");
    hlo_computation_set_root(f->comp, old);
    assert_true(hlo_replace_with(&f->rw, old, p, "drop", HLO_REPLACE_KEEP_OPERANDS));
    assert_int_equal(f->comp->count, 2);
}

static void move_uses_merges_repeated_fusion_operands(void **state) {
    Fixture *f = *state;
    HloComputation *body = hlo_module_add(f->m, hlo_computation_new(f->m, "body"));
    HloInstruction *x = parameter_in(f, body, 0), *y = parameter_in(f, body, 1), *z = parameter_in(f, body, 2);
    HloInstruction *sum = hlo_inst_new(f->m, HLO_OP_ADD, x->shape, (HloInstruction *[]){y, z}, 2);
    hlo_computation_set_root(body, hlo_computation_add(body, sum, NULL));
    HloInstruction *p = parameter(f, 0), *a = unary(f, HLO_OP_ABS, p, "a"), *b = unary(f, HLO_OP_ABS, p, "b");
    HloInstruction *fusion = hlo_inst_new(f->m, HLO_OP_FUSION, p->shape, (HloInstruction *[]){a, b, p}, 3);
    hlo_set_called(fusion, 0, body);
    hlo_computation_add(f->comp, fusion, NULL);

    hlo_rewriter_move_uses(&f->rw, b, a);
    assert_int_equal(hlo_operand_count(fusion), 2);
    assert_int_equal(hlo_parameter_count(body), 2);
    assert_ptr_equal(hlo_operand(sum, 0), x);
    assert_ptr_equal(hlo_operand(sum, 1), hlo_parameter(body, 1));
    assert_string_equal(hlo_parameter(body, 1)->name, "param_1");
    assert_int_equal(hlo_parameter_number(hlo_parameter(body, 1)), 1);
}

// ---- counting -------------------------------------------------------------------------------------------

static void limit_stops_after_the_nth_rewrite(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0);
    HloInstruction *a = unary(f, HLO_OP_NEGATE, p, "a"), *b = unary(f, HLO_OP_EXP, a, "b");
    hlo_computation_set_root(f->comp, b);
    f->log.limit = 1;
    assert_false(hlo_rewriter_is_spent(&f->rw));
    assert_true(hlo_replace(&f->rw, a, p, "first"));
    assert_true(hlo_rewriter_is_spent(&f->rw));
    assert_false(hlo_replace(&f->rw, b, p, "second"));
    assert_ptr_equal(f->comp->root, b);
}

static void trace_writes_a_line_per_rewrite(void **state) {
    Fixture *f = *state;
    HloBuffer out = {0};
    HloSink sink = hlo_buffer_sink(&out);
    HloRunner runner = {0};
    hlo_trace_rewrites(&runner, &sink);
    f->log = runner.log;
    HloInstruction *p = parameter(f, 0), *a = unary(f, HLO_OP_NEGATE, p, "a");
    hlo_rewriter_note(&f->rw, "in-place", a, a);
    hlo_rewriter_note(&f->rw, "gone", a, NULL);
    assert_true(hlo_replace(&f->rw, a, p, "forward"));
    assert_string_equal(out.data, "#1 test-pass: in-place  %a\n"
                                  "#2 test-pass: gone  %a removed\n"
                                  "#3 test-pass: forward  %a -> %p\n");
    hlo_buffer_free(&out);
}

// ---- rules ----------------------------------------------------------------------------------------------

static HloInstruction *never(HloRewriter *rw, HloInstruction *inst) {
    (void)rw, (void)inst;
    return NULL;
}

static HloInstruction *negate_to_abs(HloRewriter *rw, HloInstruction *inst) {
    return hlo_build(rw, HLO_OP_ABS, inst->shape, (HloInstruction *[]){hlo_operand(inst, 0)}, 1);
}

static HloInstruction *break_down(HloRewriter *rw, HloInstruction *inst) {
    // Concatenating along a dimension that is not there cannot be inferred.
    return hlo_build_concatenate(rw, (HloInstruction *[]){hlo_operand(inst, 0)}, 1, 7);
}

static void rules_are_tried_in_order_until_one_fires(void **state) {
    Fixture *f = *state;
    static const HloRule rules[] = {
        {HLO_OP_NEGATE, "never", never},
        {HLO_OP_NEGATE, "negate-to-abs", negate_to_abs},
        {HLO_OP_NEGATE, "too-late", break_down},
        {HLO_OP_ABS, "not-visited", break_down},
    };
    HloInstruction *p = parameter(f, 0);
    hlo_computation_set_root(f->comp, unary(f, HLO_OP_NEGATE, p, "n"));
    bool changed = false;
    assert_true(hlo_is_ok(hlo_apply_rules(&f->cx, f->m, rules, HLO_COUNT(rules), &changed)));
    assert_true(changed);
    const HloInstruction *root = f->comp->root;
    assert_int_equal(root->op, HLO_OP_ABS);
    assert_string_equal(root->made->pass, "test-pass");
    assert_string_equal(root->made->rule, "negate-to-abs");
    assert_string_equal(root->made->from, "n");
}

static void rules_end_with_the_first_failed_builder(void **state) {
    Fixture *f = *state;
    static const HloRule rules[] = {{HLO_OP_NEGATE, "fail", break_down}};
    HloInstruction *p = parameter(f, 0);
    hlo_computation_set_root(f->comp, unary(f, HLO_OP_NEGATE, p, "n"));
    bool changed = false;
    HloStatus status = hlo_apply_rules(&f->cx, f->m, rules, HLO_COUNT(rules), &changed);
    assert_false(hlo_is_ok(status));
    assert_non_null(strstr(hlo_status_message(status), "building concatenate for %n: "));
    hlo_status_free(status);
}

// ---- builders -------------------------------------------------------------------------------------------

static void builders_do_nothing_after_a_failure(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0);
    hlo_rewriter_at(&f->rw, p);
    size_t count = f->comp->count;
    assert_null(hlo_build_concatenate(&f->rw, &p, 1, 7));
    assert_null(hlo_build_unary(&f->rw, HLO_OP_NEGATE, p));
    assert_null(hlo_build_scalar(&f->rw, HLO_F32, 1));
    assert_int_equal(f->comp->count, count);
}

static void builders_pass_on_null_operands(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0);
    hlo_rewriter_at(&f->rw, p);
    assert_null(hlo_build_binary(&f->rw, HLO_OP_ADD, p, NULL));
    assert_null(hlo_build_gte(&f->rw, NULL, 0));
    assert_true(hlo_is_ok(f->rw.failure));
}

static void build_like_broadcasts_a_scalar_and_derives(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0);
    set_op_name(f, p, "p/name");
    hlo_rewriter_at(&f->rw, p);
    HloInstruction *one = hlo_build_like(&f->rw, p, 1);
    assert_int_equal(one->op, HLO_OP_BROADCAST);
    assert_ptr_equal(one->shape, p->shape);
    assert_string_equal(op_name(one), "p/name");
    assert_true(hlo_literal_is_all(hlo_constant(hlo_operand(one, 0)), 1));
}

static void build_slice_counts_strides(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0);
    hlo_rewriter_at(&f->rw, p);
    HloInstruction *slice = hlo_build_slice(&f->rw, p, &(HloSliceDim){0, 4, 3});
    assert_ptr_equal(slice->shape, vector(f, 2));
}

static void derive_leaves_out_sharding_of_reshapes_and_the_compute_type(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0);
    set_sharding(f, p, HLO_SHARDING_REPLICATED);
    set_frontend_attribute(f, p, "_xla_compute_type", "host");
    set_op_name(f, p, "p/name");
    HloInstruction *copy = hlo_derive(&f->rw, unary(f, HLO_OP_COPY, p, "copy"), p);
    assert_true(hlo_has(copy, HLO_ATTR_SHARDING));
    assert_false(hlo_has(copy, HLO_ATTR_FRONTEND_ATTRIBUTES));
    assert_string_equal(op_name(copy), "p/name");
    HloInstruction *reshape = hlo_derive(&f->rw, unary(f, HLO_OP_RESHAPE, p, "reshape"), p);
    assert_false(hlo_has(reshape, HLO_ATTR_SHARDING));
    assert_string_equal(op_name(reshape), "p/name");
}

// ---- schedules ------------------------------------------------------------------------------------------

// The last one becomes the root.
static void schedule(Fixture *f, HloInstruction **sequence, size_t count) {
    hlo_computation_set_root(f->comp, sequence[count - 1]);
    f->m->is_scheduled = true;
    f->comp->sequence = sequence;
    f->comp->sequence_count = count;
}

static void schedule_update_places_new_instructions_after_their_operands(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0), *a = unary(f, HLO_OP_ABS, p, "a"), *b = unary(f, HLO_OP_EXP, p, "b");
    schedule(f, (HloInstruction *[]){p, a, b}, 3);
    HloInstruction *c = unary(f, HLO_OP_TANH, p, "c"), *d = unary(f, HLO_OP_NEGATE, c, "d");
    hlo_computation_remove(f->comp, a);
    hlo_module_update_schedule(f->m, &f->scratch);
    HloInstruction *const expected[] = {p, c, d, b};
    assert_int_equal(f->comp->sequence_count, 4);
    assert_memory_equal(f->comp->sequence, expected, sizeof expected);
}

static void schedule_update_moves_what_is_needed_earlier(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0), *a = unary(f, HLO_OP_ABS, p, "a"), *b = unary(f, HLO_OP_EXP, p, "b");
    schedule(f, (HloInstruction *[]){p, a, b}, 3);
    hlo_set_operand(a, 0, b);
    hlo_module_update_schedule(f->m, &f->scratch);
    HloInstruction *const expected[] = {p, b, a};
    assert_int_equal(f->comp->sequence_count, 3);
    assert_memory_equal(f->comp->sequence, expected, sizeof expected);
    HloInstruction *c = unary(f, HLO_OP_TANH, a, "c");
    hlo_set_operand(b, 0, c);
    hlo_set_operand(a, 0, p);
    hlo_module_update_schedule(f->m, &f->scratch);
    HloInstruction *const with_new[] = {p, a, c, b};
    assert_int_equal(f->comp->sequence_count, 4);
    assert_memory_equal(f->comp->sequence, with_new, sizeof with_new);
}

static void visitor_order_starts_from_dead_instructions(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0), *q = parameter(f, 1);
    HloInstruction *root = unary(f, HLO_OP_NEGATE, q, "root"), *dead = unary(f, HLO_OP_ABS, p, "dead");
    HloInstruction *waited = unary(f, HLO_OP_EXP, p, "waited");
    hlo_add_control_edge(waited, root);
    hlo_computation_set_root(f->comp, root);
    HloInstList order = hlo_visitor_order(f->comp, &f->scratch);
    HloInstruction *const expected[] = {p, dead, q, waited, root};
    assert_int_equal(order.count, 5);
    assert_memory_equal(order.items, expected, sizeof expected);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(replace_moves_uses_and_rootness_and_removes_the_old),
        TEST(replace_by_the_same_opcode_takes_the_name),
        TEST(replace_hands_over_only_what_is_missing),
        TEST(replace_refuses_control_edges_unless_relayed),
        TEST(replace_refuses_other_shardings_when_asked),
        TEST(replace_by_another_shape_is_an_internal_failure),
        TEST(replace_removes_what_only_the_old_used),
        TEST(replace_can_keep_the_operands),
        TEST(move_uses_merges_repeated_fusion_operands),
        TEST(limit_stops_after_the_nth_rewrite),
        TEST(trace_writes_a_line_per_rewrite),
        TEST(rules_are_tried_in_order_until_one_fires),
        TEST(rules_end_with_the_first_failed_builder),
        TEST(builders_do_nothing_after_a_failure),
        TEST(builders_pass_on_null_operands),
        TEST(build_like_broadcasts_a_scalar_and_derives),
        TEST(build_slice_counts_strides),
        TEST(derive_leaves_out_sharding_of_reshapes_and_the_compute_type),
        TEST(schedule_update_places_new_instructions_after_their_operands),
        TEST(schedule_update_moves_what_is_needed_earlier),
        TEST(visitor_order_starts_from_dead_instructions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
