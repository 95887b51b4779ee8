// Dataflow, aliasing, sharing, order and lifetimes, on small modules.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hlo/cpu.h"
#include "hlo/dataflow.h"
#include "hlo/text.h"

typedef struct Fixture {
    HloModule *m;
    HloArena arena;
    HloDataflow *flow;
    HloSharing sharing;
} Fixture;

static void parse(Fixture *f, const char *text) {
    *f = (Fixture){0};
    HloStatus status = hlo_parse_module(hlo_view(text), &(HloParseOptions){0}, &f->m);
    if (!hlo_is_ok(status)) fail_msg("%s", hlo_status_message(status));
}

static void analyse(Fixture *f, const char *text) {
    parse(f, text);
    HloStatus status = hlo_dataflow_run(&f->arena, f->m, &f->flow);
    if (!hlo_is_ok(status)) fail_msg("%s", hlo_status_message(status));
    f->sharing = hlo_sharing_new(&f->arena, &f->flow->nodes, f->m);
}

static void end(Fixture *f) {
    hlo_arena_free(&f->arena);
    hlo_module_free(f->m);
}

static HloInstruction *find(const Fixture *f, const char *name) {
    HLO_EACH_COMP(comp, f->m) {
        HLO_EACH_INST(inst, comp) {
            if (strcmp(inst->name, name) == 0) return inst;
        }
    }
    fail_msg("no instruction %s", name);
    return NULL;
}

static const HloValue *value_at(const Fixture *f, const char *name, uint32_t node) {
    const HloValue *value = hlo_flow_value_at(f->flow, find(f, name), node);
    assert_non_null(value);
    return value;
}

static void expect_definer(const Fixture *f, const char *name, uint32_t node, const char *definer, bool is_phi) {
    const HloValue *value = value_at(f, name, node);
    assert_string_equal(value->inst->name, definer);
    assert_int_equal(value->is_phi, is_phi);
}

// ---- nodes ----------------------------------------------------------------------------------------------

static void nodes_of_a_nested_tuple_are_numbered_in_pre_order(void **state) {
    (void)state;
    Fixture f;
    parse(&f, "ENTRY e { ROOT p = (f32[2], (s32[], (u8[3])), f32[4]) parameter(0) }");
    HloNodes nodes = {.arena = &f.arena};
    const HloShape *shape = f.m->entry->root->shape;
    assert_int_equal(hlo_node_count(&nodes, shape), 7);
    static const int64_t path[] = {1, 1, 0};
    assert_int_equal(hlo_node_at(&nodes, shape, (HloDims){path, 3}), 5);
    HloDims index = hlo_node_index(&nodes, &f.arena, shape, 5);
    assert_true(hlo_dims_equal(index, (HloDims){path, 3}));
    assert_int_equal(hlo_node_shape(&nodes, shape, 5)->type, HLO_U8);
    assert_int_equal(hlo_node_shape(&nodes, shape, 6)->dims[0], 4);
    static const int64_t outside[] = {1, 2};
    assert_int_equal(hlo_node_at(&nodes, shape, (HloDims){outside, 2}), UINT32_MAX);
    end(&f);
}

static void tuples_that_double_at_every_level_are_refused(void **state) {
    (void)state;
    HloBuffer text = {0};
    hlo_put_string(&text, "ENTRY e { p = f32[] parameter(0)\n t0 = tuple(p, p)\n");
    for (int i = 1; i <= 20; i++) hlo_putf(&text, " t%d = tuple(t%d, t%d)\n", i, i - 1, i - 1);
    for (int i = 0; i < 100; i++) hlo_putf(&text, " v%d = tuple(t20)\n", i);
    hlo_put_string(&text, " ROOT r = f32[] negate(p) }");
    Fixture f;
    parse(&f, text.data);
    HloStatus status = hlo_dataflow_run(&f.arena, f.m, &f.flow);
    assert_int_equal(hlo_status_code(status), HLO_RESOURCE_EXHAUSTED);
    hlo_status_free(status);
    hlo_buffer_free(&text);
    end(&f);
}

static void value_sizes_follow_the_cpu(void **state) {
    (void)state;
    static const struct {
        const char *shape;
        int64_t bytes;
    } rows[] = {
        {"f32[3,5]", 60}, {"pred[7]", 7},          {"s4[5]", 5}, {"s4[5]{0:E(4)}", 3}, {"(f32[100], f32[2])", 16},
        {"token[]", 0},   {"f32[<=8,2]{1,0}", 72}, {"()", 0},    {"c128[2]", 32},      {"f32[0,4]", 0},
    };
    for (size_t i = 0; i < HLO_COUNT(rows); i++) {
        HloArena arena = {0};
        HloShapes shapes = {.arena = &arena};
        const HloShape *shape;
        HloStatus status = hlo_parse_shape(&shapes, hlo_view(rows[i].shape), &shape);
        if (!hlo_is_ok(status)) fail_msg("%s: %s", rows[i].shape, hlo_status_message(status));
        if (hlo_value_size_bytes(shape) != rows[i].bytes) fail_msg("size of %s", rows[i].shape);
        hlo_arena_free(&arena);
    }
}

// ---- values ---------------------------------------------------------------------------------------------

static const char loop_text[] = "HloModule m\n"
                                "body { bp = (s32[], f32[16], f32[4]) parameter(0)\n"
                                "  i = s32[] get-tuple-element(bp), index=0\n"
                                "  acc = f32[16] get-tuple-element(bp), index=1\n"
                                "  w = f32[4] get-tuple-element(bp), index=2\n"
                                "  one = s32[] constant(1)\n"
                                "  j = s32[] add(i, one)\n"
                                "  e = f32[4] exponential(w)\n"
                                "  dus = f32[16] dynamic-update-slice(acc, e, i)\n"
                                "  ROOT br = (s32[], f32[16], f32[4]) tuple(j, dus, w) }\n"
                                "cond { cp = (s32[], f32[16], f32[4]) parameter(0)\n"
                                "  ci = s32[] get-tuple-element(cp), index=0\n"
                                "  lim = s32[] constant(10)\n"
                                "  ROOT lt = pred[] compare(ci, lim), direction=LT }\n"
                                "ENTRY main { a = f32[4] parameter(0)\n"
                                "  z = s32[] constant(0)\n"
                                "  fz = f32[] constant(0)\n"
                                "  zc = s32[] copy(z)\n"
                                "  init1 = f32[16] broadcast(fz), dimensions={}\n"
                                "  init = (s32[], f32[16], f32[4]) tuple(zc, init1, a)\n"
                                "  loop = (s32[], f32[16], f32[4]) while(init), condition=cond, body=body\n"
                                "  ROOT res = f32[16] get-tuple-element(loop), index=1 }\n";

static void loop_element_that_changes_has_three_phis(void **state) {
    (void)state;
    Fixture f;
    analyse(&f, loop_text);
    expect_definer(&f, "cp", 1, "cp", true);
    expect_definer(&f, "bp", 1, "bp", true);
    expect_definer(&f, "loop", 1, "loop", true);
    expect_definer(&f, "res", 0, "loop", true);
    end(&f);
}

static void loop_element_passed_through_is_the_initial_value(void **state) {
    (void)state;
    Fixture f;
    analyse(&f, loop_text);
    expect_definer(&f, "w", 0, "a", false);
    expect_definer(&f, "loop", 3, "a", false);
    const HloValue *a = value_at(&f, "a", 0);
    assert_int_equal(a->position_count, 7);
    // The root tuple of the body counts as a reader, the tuple before the loop does not.
    static const char *const users[] = {"e", "br", "loop"};
    assert_int_equal(a->use_count, HLO_COUNT(users));
    for (size_t i = 0; i < HLO_COUNT(users); i++) assert_string_equal(a->uses[i].user->name, users[i]);
    assert_false(a->live_out);
    assert_true(value_at(&f, "res", 0)->live_out);
    end(&f);
}

static void loops_in_loops_keep_what_only_passes(void **state) {
    (void)state;
    Fixture f;
    analyse(&f, "c1 { q = (f32[], f32[]) parameter(0) ROOT t1 = pred[] constant(true) }\n"
                "b1 { q = (f32[], f32[]) parameter(0)\n x = f32[] get-tuple-element(q), index=0\n"
                "  y = f32[] get-tuple-element(q), index=1\n n = f32[] negate(y)\n"
                "  ROOT r1 = (f32[], f32[]) tuple(x, n) }\n"
                "c2 { q = (f32[], f32[]) parameter(0) ROOT t2 = pred[] constant(true) }\n"
                "b2 { o = (f32[], f32[]) parameter(0)\n"
                "  ROOT inner = (f32[], f32[]) while(o), condition=c1, body=b1 }\n"
                "ENTRY e { p = f32[] parameter(0)\n s = f32[] sine(p)\n init = (f32[], f32[]) tuple(p, s)\n"
                "  ROOT outer = (f32[], f32[]) while(init), condition=c2, body=b2 }\n");
    expect_definer(&f, "outer", 1, "p", false);
    expect_definer(&f, "x", 0, "p", false);
    expect_definer(&f, "outer", 2, "outer", true);
    expect_definer(&f, "inner", 2, "inner", true);
    end(&f);
}

static void conditional_merges_its_branches(void **state) {
    (void)state;
    Fixture f;
    analyse(&f, "t { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) }\n"
                "u { y = f32[4] parameter(0) ROOT s = f32[4] sine(y) }\n"
                "ENTRY e { p = pred[] parameter(0)\n a = f32[4] parameter(1)\n"
                "  ROOT c = f32[4] conditional(p, a, a), true_computation=t, false_computation=u }\n");
    expect_definer(&f, "x", 0, "a", false);
    expect_definer(&f, "c", 0, "c", true);
    end(&f);
}

static void parameter_of_a_callee_called_twice_holds_both(void **state) {
    (void)state;
    Fixture f;
    analyse(&f, "g { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) }\n"
                "ENTRY e { a = f32[4] parameter(0)\n b = f32[4] parameter(1)\n"
                "  c = f32[4] call(a), to_apply=g\n d = f32[4] call(b), to_apply=g\n"
                "  ROOT r = f32[4] add(c, d) }\n");
    assert_null(hlo_flow_value_at(f.flow, find(&f, "x"), 0));
    HloValueSet set = hlo_flow_set(f.flow, find(&f, "x"), 0);
    assert_int_equal(set.count, 2);
    assert_true(hlo_flow_set_has(set, value_at(&f, "a", 0)->id));
    assert_true(hlo_flow_set_has(set, value_at(&f, "b", 0)->id));
    expect_definer(&f, "d", 0, "n", false);
    end(&f);
}

static void computation_used_both_ways_is_refused(void **state) {
    (void)state;
    Fixture f;
    parse(&f, "g { x = f32[] parameter(0) ROOT n = f32[] negate(x) }\n"
              "ENTRY e { a = f32[4] parameter(0)\n s = f32[] parameter(1)\n"
              "  m = f32[4] map(a), dimensions={0}, to_apply=g\n ROOT c = f32[] call(s), to_apply=g }\n");
    HloStatus status = hlo_dataflow_run(&f.arena, f.m, &f.flow);
    assert_int_equal(hlo_status_code(status), HLO_UNIMPLEMENTED);
    hlo_status_free(status);
    end(&f);
}

// ---- sharing --------------------------------------------------------------------------------------------

static void may_share_answers_by_operation(void **state) {
    (void)state;
    static const struct {
        const char *line;  // `u` reads `x`
        bool may_share;
    } rows[] = {
        {"u = f32[4] negate(x)", true},
        {"u = f32[4] add(x, q)", true},
        {"u = s32[4] bitcast-convert(x)", false},  // another type
        {"u = f32[4] reverse(x), dimensions={0}", false},
        {"u = f32[2,2] bitcast(x)", false},
        {"u = f32[4] dynamic-update-slice(x, s, i)", true},
        {"u = f32[4] dynamic-update-slice(q, x, i)", false},
        {"u = f32[4] map(x), dimensions={0}, to_apply=g", true},
        {"u = f32[4] sort(x), dimensions={0}, to_apply=less", true},
        {"u = f32[4] copy(x)", true},
        {"u = f32[4] fusion(x), kind=kLoop, calls=elementwise", true},
        {"u = f32[4] fusion(x), kind=kLoop, calls=reversing", false},
        {"u = f32[4] fusion(x), kind=kCustom, calls=elementwise", false},
    };
    for (size_t i = 0; i < HLO_COUNT(rows); i++) {
        HloBuffer text = {0};
        hlo_putf(
            &text,
            "g { a = f32[] parameter(0) ROOT n = f32[] negate(a) }\n"
            "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT l = pred[] compare(a, b), direction=LT }\n"
            "elementwise { a = f32[4] parameter(0) b = f32[4] negate(a) ROOT c = f32[4] sine(b) }\n"
            "reversing { a = f32[4] parameter(0) b = f32[4] reverse(a), dimensions={0} ROOT c = f32[4] add(a, b) }\n"
            "ENTRY e { p = f32[4] parameter(0)\n s = f32[4] parameter(1)\n i = s32[] parameter(2)\n"
            "  q = f32[4] cosine(p)\n x = f32[4] sine(p)\n %s\n ROOT t = tuple(u) }\n",
            rows[i].line);
        Fixture f;
        analyse(&f, text.data);
        bool answer = hlo_may_share(&f.sharing, f.flow, find(&f, "x"), 0, find(&f, "u"), 0);
        if (answer != rows[i].may_share) fail_msg("%s", rows[i].line);
        hlo_buffer_free(&text);
        end(&f);
    }
}

static void fused_update_is_in_place_through_bitcast_and_tuple(void **state) {
    (void)state;
    Fixture f;
    analyse(&f, "fused { p = f32[4,4] parameter(0)\n u = f32[2] parameter(1)\n zero = s32[] constant(0)\n"
                "  b = f32[16] bitcast(p)\n d = f32[16] dynamic-update-slice(b, u, zero)\n n = f32[2] negate(u)\n"
                "  ROOT t = (f32[2], f32[16]) tuple(n, d) }\n"
                "ENTRY e { x = f32[4,4] parameter(0)\n y = f32[2] parameter(1)\n"
                "  ROOT f = (f32[2], f32[16]) fusion(x, y), kind=kLoop, calls=fused }\n");
    HloInPlacePairs pairs = hlo_in_place_pairs(&f.sharing, find(&f, "f"));
    assert_int_equal(pairs.count, 1);
    assert_int_equal(pairs.items[0].operand, 0);
    assert_int_equal(pairs.items[0].operand_node, 0);
    assert_int_equal(pairs.items[0].output_node, 2);
    end(&f);
}

static void aliasing_joins_loop_values(void **state) {
    (void)state;
    Fixture f;
    analyse(&f, loop_text);
    HloAliasing *aliasing;
    assert_true(hlo_is_ok(hlo_aliasing_run(&f.arena, f.flow, &f.sharing, &aliasing)));
    int32_t group = aliasing->group_of[value_at(&f, "dus", 0)->id];
    assert_int_equal(aliasing->groups[group].count, 5);
    assert_int_equal(aliasing->group_of[value_at(&f, "init1", 0)->id], group);
    assert_int_equal(aliasing->groups[aliasing->group_of[value_at(&f, "a", 0)->id]].count, 1);
    end(&f);
}

// ---- lifetimes and order --------------------------------------------------------------------------------

static void live_ranges_of_a_loop(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t node;
        HloRange range;
    } rows[] = {
        {"one", 0, {11, 15}}, {"j", 0, {15, 19}},    {"e", 0, {16, 17}},    {"dus", 0, {17, 19}}, {"lim", 0, {7, 9}},
        {"z", 0, {1, 3}},     {"init1", 0, {4, 6}},  {"a", 0, {0, 21}},     {"init", 0, {5, 6}},  {"cp", 1, {6, 10}},
        {"bp", 1, {10, 15}},  {"loop", 0, {19, 20}}, {"loop", 1, {19, 19}}, {"res", 0, {19, 21}},
    };
    Fixture f;
    analyse(&f, loop_text);
    assert_true(hlo_is_ok(hlo_cpu_schedule(f.m)));
    HloAliasing *aliasing;
    HloLiveRanges *ranges;
    assert_true(hlo_is_ok(hlo_aliasing_run(&f.arena, f.flow, &f.sharing, &aliasing)));
    HloStatus status = hlo_live_ranges_run(&f.arena, aliasing, &ranges);
    if (!hlo_is_ok(status)) fail_msg("%s", hlo_status_message(status));
    assert_int_equal(ranges->sequence_count, 21);
    for (size_t i = 0; i < HLO_COUNT(rows); i++) {
        HloRange range = ranges->values[value_at(&f, rows[i].name, rows[i].node)->id];
        if (range.start != rows[i].range.start || range.end != rows[i].range.end) {
            fail_msg("%s{%u}: %lld-%lld", rows[i].name, rows[i].node, (long long)range.start, (long long)range.end);
        }
    }
    end(&f);
}

static void order_knows_what_only_data_orders(void **state) {
    (void)state;
    Fixture f;
    analyse(&f, "ENTRY e { p = f32[4] parameter(0)\n a = f32[4] negate(p)\n b = f32[4] sine(a)\n c = f32[4] cosine(p)\n"
                "  ROOT r = f32[4] add(b, c) }\n");
    HloOrdering *ordering = hlo_ordering_new(&f.arena, f.flow, &f.sharing);
    const HloValue *a = value_at(&f, "a", 0), *b = value_at(&f, "b", 0), *c = value_at(&f, "c", 0);
    assert_true(hlo_is_defined_before(ordering, a, b));
    assert_false(hlo_is_defined_before(ordering, b, a));
    assert_false(hlo_is_defined_before(ordering, a, c));
    assert_false(hlo_is_defined_before(ordering, c, a));
    assert_true(hlo_is_defined_before(ordering, value_at(&f, "p", 0), c));
    assert_true(hlo_definition_rank(ordering, a) < hlo_definition_rank(ordering, b));
    end(&f);
}

static void order_crosses_loops(void **state) {
    (void)state;
    Fixture f;
    analyse(&f, loop_text);
    HloOrdering *ordering = hlo_ordering_new(&f.arena, f.flow, &f.sharing);
    assert_true(hlo_is_defined_before(ordering, value_at(&f, "bp", 1), value_at(&f, "j", 0)));
    assert_true(hlo_is_defined_before(ordering, value_at(&f, "j", 0), value_at(&f, "loop", 1)));
    assert_true(hlo_is_defined_before(ordering, value_at(&f, "zc", 0), value_at(&f, "j", 0)));
    assert_true(hlo_is_defined_before(ordering, value_at(&f, "lt", 0), value_at(&f, "j", 0)));
    assert_false(hlo_is_defined_before(ordering, value_at(&f, "j", 0), value_at(&f, "lt", 0)));
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_of_a_nested_tuple_are_numbered_in_pre_order),
        cmocka_unit_test(tuples_that_double_at_every_level_are_refused),
        cmocka_unit_test(value_sizes_follow_the_cpu),
        cmocka_unit_test(loop_element_that_changes_has_three_phis),
        cmocka_unit_test(loop_element_passed_through_is_the_initial_value),
        cmocka_unit_test(loops_in_loops_keep_what_only_passes),
        cmocka_unit_test(conditional_merges_its_branches),
        cmocka_unit_test(parameter_of_a_callee_called_twice_holds_both),
        cmocka_unit_test(computation_used_both_ways_is_refused),
        cmocka_unit_test(may_share_answers_by_operation),
        cmocka_unit_test(fused_update_is_in_place_through_bitcast_and_tuple),
        cmocka_unit_test(aliasing_joins_loop_values),
        cmocka_unit_test(live_ranges_of_a_loop),
        cmocka_unit_test(order_knows_what_only_data_orders),
        cmocka_unit_test(order_crosses_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
