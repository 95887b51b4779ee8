// The IR: interned shapes, two-sided edges, orders, copies.

#include "module_fixture.h"

static const HloShape *f32(Fixture *f) {
    return hlo_shape_scalar(&f->m->shapes, HLO_F32);
}

static HloInstruction *parameter(Fixture *f, int64_t number) {
    HloInstruction *inst = hlo_inst_new(f->m, HLO_OP_PARAMETER, f32(f), NULL, 0);
    hlo_set_int(f->m, inst, HLO_ATTR_PARAMETER_NUMBER, number);
    return hlo_computation_add(f->comp, inst, "p");
}

static HloInstruction *add(Fixture *f, HloInstruction *a, HloInstruction *b) {
    HloInstruction *inst = hlo_inst_new(f->m, HLO_OP_ADD, f32(f), (HloInstruction *[]){a, b}, 2);
    return hlo_computation_add(f->comp, inst, NULL);
}

static void shapes_with_equal_parts_are_one(void **state) {
    Fixture *f = *state;
    HloShapes *shapes = &f->m->shapes;
    const int64_t dims[] = {2, 3};
    const HloShape *a = hlo_shape_of(shapes, HLO_F32, dims, 2);
    const HloShape *b =
        hlo_shape_array(shapes, HLO_F32, dims, (bool[]){false, false}, 2, hlo_layout_default(shapes, 2));
    assert_ptr_equal(a, b);
    const HloShape *other = hlo_shape_with_layout(shapes, a, hlo_layout_of(shapes, (int64_t[]){0, 1}, 2));
    assert_ptr_not_equal(a, other);
    assert_ptr_equal(hlo_shape_without_layout(shapes, a), hlo_shape_without_layout(shapes, other));
    const HloShape *pair[] = {a, other};
    const HloShape *tuple = hlo_shape_tuple(shapes, pair, 2);
    assert_ptr_equal(hlo_shape_with_default_layout(shapes, tuple),
                     hlo_shape_tuple(shapes, (const HloShape *[]){a, a}, 2));
}

static void shape_deeply_nested_is_rebuilt_without_recursion(void **state) {
    Fixture *f = *state;
    const HloShape *shape = hlo_shape_without_layout(&f->m->shapes, f32(f));
    for (int i = 0; i < 100000; i++) shape = hlo_shape_tuple(&f->m->shapes, &shape, 1);
    const HloShape *filled = hlo_shape_fill_layout(&f->m->shapes, shape);
    assert_true(filled->flags & HLO_SHAPE_HAS_LAYOUT);
}

static void users_follow_operands(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0), *q = parameter(f, 1);
    HloInstruction *sum = add(f, p, p);
    assert_int_equal(hlo_user_count(p), 1);
    hlo_set_operand(sum, 0, q);
    assert_int_equal(hlo_user_count(p), 1);
    hlo_set_operand(sum, 1, q);
    assert_int_equal(hlo_user_count(p), 0);
    assert_int_equal(hlo_user_count(q), 1);
}

static void users_of_a_popular_value_stay_consistent(void **state) {
    Fixture *f = *state;
    enum { COUNT = 2000 };
    HloInstruction *p = parameter(f, 0);
    HloInstruction *sums[COUNT];
    for (int i = 0; i < COUNT; i++) sums[i] = add(f, p, p);
    assert_int_equal(hlo_user_count(p), COUNT);
    for (int i = 0; i < COUNT; i += 2) hlo_computation_remove(f->comp, sums[i]);
    assert_int_equal(hlo_user_count(p), COUNT / 2);
    HloInstruction *q = parameter(f, 1);
    hlo_replace_all_uses(p, q);
    assert_int_equal(hlo_user_count(p), 0);
    assert_int_equal(hlo_user_count(q), COUNT / 2);
    assert_ptr_equal(hlo_operand(sums[1], 1), q);
}

static void replacing_uses_moves_the_root(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0), *sum = add(f, p, p);
    hlo_computation_set_root(f->comp, sum);
    HloInstruction *twice = add(f, sum, sum);
    hlo_replace_all_uses(sum, twice);
    assert_ptr_equal(f->comp->root, twice);
    assert_ptr_equal(hlo_operand(twice, 0), sum);  // the new value still reads the old one
}

static void removal_takes_operands_that_died(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0), *a = add(f, p, p), *b = add(f, a, a), *c = add(f, b, a);
    hlo_computation_set_root(f->comp, p);
    assert_int_equal(hlo_computation_remove_dead(f->comp, c, &(HloRemoval){.arena = &f->scratch}), 3);
    assert_int_equal(f->comp->count, 1);
    assert_int_equal(hlo_user_count(p), 0);
}

// Worked example of the printing chapter, §4.2: a, y, x, t, u, r.
static void post_order_visits_control_predecessors_last_to_first(void **state) {
    Fixture *f = *state;
    HloInstruction *a = parameter(f, 0), *x = add(f, a, a), *y = add(f, a, a), *t = add(f, a, a), *u = add(f, x, y);
    hlo_add_control_edge(x, t);
    hlo_add_control_edge(y, t);
    HloInstruction *r = add(f, t, u);
    hlo_computation_set_root(f->comp, r);
    HloInstList order = hlo_post_order(f->comp, &f->scratch);
    HloInstruction *expected[] = {a, y, x, t, u, r};
    assert_int_equal(order.count, HLO_COUNT(expected));
    for (size_t i = 0; i < order.count; i++) assert_ptr_equal(order.items[i], expected[i]);
}

static void post_order_of_a_long_chain_needs_no_stack(void **state) {
    Fixture *f = *state;
    HloInstruction *last = parameter(f, 0);
    for (int i = 0; i < 200000; i++) last = add(f, last, last);
    assert_int_equal(hlo_post_order(f->comp, &f->scratch).count, 200001);
}

static HloComputation *one_parameter_computation(Fixture *f, const char *name) {
    HloComputation *comp = hlo_computation_new(f->m, name);
    HloInstruction *p = hlo_inst_new(f->m, HLO_OP_PARAMETER, f32(f), NULL, 0);
    hlo_set_int(f->m, p, HLO_ATTR_PARAMETER_NUMBER, 0);
    comp->root = hlo_computation_add(comp, p, "p");
    return hlo_module_add(f->m, comp);
}

static void computations_come_callees_first_and_body_before_condition(void **state) {
    Fixture *f = *state;
    HloModule *m = f->m;
    HloComputation *names[] = {one_parameter_computation(f, "cond"), one_parameter_computation(f, "body")};
    HloInstruction *init = parameter(f, 0);
    HloInstruction *loop = hlo_inst_new(m, HLO_OP_WHILE, f32(f), &init, 1);
    hlo_set_called(loop, 1, names[0]);
    hlo_set_called(loop, 0, names[1]);
    hlo_computation_set_root(f->comp, hlo_computation_add(f->comp, loop, NULL));
    HloCompList order = hlo_module_post_order(m, &f->scratch);
    assert_int_equal(order.count, 3);
    assert_ptr_equal(order.items[0], names[1]);
    assert_ptr_equal(order.items[1], names[0]);
    assert_ptr_equal(order.items[2], f->comp);
    assert_int_equal(names[0]->callers.count, 1);
}

// An instruction calls A and B, and A calls B: callees first is B, A; the text marks both at once and has A, B.
static void callees_first_differs_from_print_order_for_siblings(void **state) {
    Fixture *f = *state;
    HloModule *m = f->m;
    HloComputation *b = one_parameter_computation(f, "b"), *a = one_parameter_computation(f, "a");
    HloInstruction *inner = hlo_inst_new(m, HLO_OP_CALL, f32(f), (HloInstruction *[]){a->root}, 1);
    hlo_set_called(inner, 0, b);
    hlo_computation_set_root(a, hlo_computation_add(a, inner, NULL));
    HloInstruction *init = parameter(f, 0);
    HloInstruction *outer = hlo_inst_new(m, HLO_OP_CUSTOM_CALL, f32(f), &init, 1);
    hlo_set_called(outer, 0, a);
    hlo_set_called(outer, 1, b);
    hlo_computation_set_root(f->comp, hlo_computation_add(f->comp, outer, NULL));
    HloCompList first = hlo_module_post_order(m, &f->scratch), text = hlo_module_print_order(m, &f->scratch);
    assert_ptr_equal(first.items[0], b);
    assert_ptr_equal(first.items[1], a);
    assert_ptr_equal(text.items[0], a);
    assert_ptr_equal(text.items[1], b);
}

static void attributes_equal_to_their_default_are_not_stored(void **state) {
    Fixture *f = *state;
    HloInstruction *sort = hlo_inst_new(f->m, HLO_OP_SORT, f32(f), NULL, 0);
    hlo_set_int(f->m, sort, HLO_ATTR_IS_STABLE, 1);
    assert_true(hlo_has(sort, HLO_ATTR_IS_STABLE));
    hlo_set_int(f->m, sort, HLO_ATTR_IS_STABLE, 0);
    assert_false(hlo_has(sort, HLO_ATTR_IS_STABLE));
    assert_int_equal(hlo_int(sort, HLO_ATTR_TOPK_IS_STABLE), 1);
}

static void module_clone_is_equal_and_independent(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, 0), *sum = add(f, p, p);
    hlo_computation_set_root(f->comp, sum);
    hlo_module_set_entry(f->m, f->comp);
    HloModule *copy = hlo_module_clone(f->m);
    assert_non_null(copy);
    assert_true(hlo_computation_equal(f->comp, copy->entry, true));
    assert_string_equal(copy->entry->root->name, sum->name);
    hlo_set_operand(sum, 0, parameter(f, 1));
    assert_false(hlo_computation_equal(f->comp, copy->entry, true));
    hlo_module_free(copy);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(shapes_with_equal_parts_are_one),
        TEST(shape_deeply_nested_is_rebuilt_without_recursion),
        TEST(users_follow_operands),
        TEST(users_of_a_popular_value_stay_consistent),
        TEST(replacing_uses_moves_the_root),
        TEST(removal_takes_operands_that_died),
        TEST(post_order_visits_control_predecessors_last_to_first),
        TEST(post_order_of_a_long_chain_needs_no_stack),
        TEST(computations_come_callees_first_and_body_before_condition),
        TEST(callees_first_differs_from_print_order_for_siblings),
        TEST(attributes_equal_to_their_default_are_not_stored),
        TEST(module_clone_is_equal_and_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
