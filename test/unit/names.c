// Names: uniqueness, sanitising, clone suffixes; the tables are those of the printing chapter.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hlo/module.h"

enum { MOST_REQUESTS = 4 };

typedef struct Sequence {
    const char *wanted[MOST_REQUESTS];
    const char *given[MOST_REQUESTS];
} Sequence;

static void unique_name_follows_the_table(void **state) {
    (void)state;
    static const Sequence rows[] = {
        {{"add", "add", "add"}, {"add", "add.1", "add.2"}},
        {{"p", "p.1", "p"}, {"p", "p.1", "p.2"}},
        {{"foo.30", "foo", "foo"}, {"foo.30", "foo", "foo.1"}},
        {{"x.3", "x.3", "x"}, {"x.3", "x.0", "x.1"}},
        {{"x", "x.0"}, {"x", "x.1"}},
        {{"y.007"}, {"y.7"}},
        {{"a.1.2", "a.1.2"}, {"a.1.2", "a.1.0"}},
        {{"x.clone", "x.clone"}, {"x.clone", "x.clone.1"}},
        {{"", ""}, {"name", "name.1"}},
        {{"n.99999999999999999999", "n.99999999999999999999"}, {"n.99999999999999999999", "n.99999999999999999999.1"}},
        {{"big.5000000", "big.5000000"}, {"big.5000000", "big.0"}},
    };
    for (size_t r = 0; r < HLO_COUNT(rows); r++) {
        HloModule *m = hlo_module_new("m");
        for (size_t i = 0; i < MOST_REQUESTS && rows[r].wanted[i]; i++) {
            assert_string_equal(hlo_unique_name(m, &m->instruction_names, rows[r].wanted[i]), rows[r].given[i]);
        }
        hlo_module_free(m);
    }
}

// A number far from the others is stored apart; it stays taken when the dense numbers have come that far.
static void unique_name_far_numbers_stay_taken(void **state) {
    (void)state;
    HloModule *m = hlo_module_new("m");
    assert_string_equal(hlo_unique_name(m, &m->instruction_names, "x.1000"), "x.1000");
    for (int i = 0; i < 1000; i++) hlo_unique_name(m, &m->instruction_names, "x");
    assert_string_equal(hlo_unique_name(m, &m->instruction_names, "x"), "x.1001");
    hlo_module_free(m);
}

// Each of many stems with one large number costs little memory.
static void unique_name_large_numbers_cost_no_more_than_small_ones(void **state) {
    (void)state;
    HloModule *m = hlo_module_new("m");
    for (int i = 0; i < 1000; i++)
        hlo_unique_name(m, &m->instruction_names, hlo_arena_printf(&m->arena, "x%d.1000000", i));
    assert_true(m->arena.used_bytes < 2 << 20);
    hlo_module_free(m);
}

static void sanitized_name_follows_the_rules(void **state) {
    (void)state;
    static const struct {
        const char *name, *expected;
    } rows[] = {
        {"add.1", "add.1"}, {"a b", "a_b"},         {"1x", "_x"}, {"f32", "f32_"},    {"tuple", "tuple"},
        {"__x", "a_x"},     {"__xla_x", "__xla_x"}, {"", ""},     {"x%y#z", "x_y_z"}, {"f8e4m3fn", "f8e4m3fn_"},
    };
    HloArena arena = {0};
    for (size_t r = 0; r < HLO_COUNT(rows); r++) {
        assert_string_equal(hlo_sanitized_name(&arena, rows[r].name), rows[r].expected);
    }
    hlo_arena_free(&arena);
}

static void clone_name_counts_its_suffix(void **state) {
    (void)state;
    static const struct {
        const char *name, *suffix, *expected;
    } rows[] = {
        {"foo", "clone", "foo.clone"},
        {"foo.clone", "clone", "foo.clone2"},
        {"foo.clone2", "clone", "foo.clone3"},
        {"v.clonez", "clone", "v.clonez.clone"},
        {"foo.clone.1", "clone", "foo.clone.1.clone"},
        {"foo", "remat", "foo.remat"},
        {"foo", "", "foo"},
    };
    HloArena arena = {0};
    for (size_t r = 0; r < HLO_COUNT(rows); r++) {
        assert_string_equal(hlo_clone_name(&arena, rows[r].name, rows[r].suffix), rows[r].expected);
    }
    hlo_arena_free(&arena);
}

static void interned_texts_are_one(void **state) {
    (void)state;
    HloModule *m = hlo_module_new("m");
    assert_ptr_equal(hlo_intern_z(m, "abc"), hlo_intern(m, "abcd", 3));
    assert_ptr_not_equal(hlo_intern_z(m, "abc"), hlo_intern_z(m, "abd"));
    hlo_module_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unique_name_follows_the_table),
        cmocka_unit_test(unique_name_far_numbers_stay_taken),
        cmocka_unit_test(unique_name_large_numbers_cost_no_more_than_small_ones),
        cmocka_unit_test(sanitized_name_follows_the_rules),
        cmocka_unit_test(clone_name_counts_its_suffix),
        cmocka_unit_test(interned_texts_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
