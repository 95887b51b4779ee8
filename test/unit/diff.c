// Line diffs: shortest scripts, hunks and their numbers, the bound.

#include "hlo/diff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef struct Case {
    const char *before, *after, *diff;
    size_t context;
} Case;

static void expect_diff(const Case *c) {
    HloArena scratch = {0};
    HloBuffer out = {0};
    hlo_put_diff(&out, &scratch, hlo_view(c->before), hlo_view(c->after), &(HloDiffOptions){.context = c->context});
    assert_string_equal(out.data ? out.data : "", c->diff);
    hlo_buffer_free(&out);
    hlo_arena_free(&scratch);
}

static void diff_of_equal_texts_is_empty(void **state) {
    (void)state;
    expect_diff(&(Case){"a\nb\n", "a\nb\n", "", 3});
    expect_diff(&(Case){"", "", "", 3});
}

static void diff_shows_one_changed_line_in_context(void **state) {
    (void)state;
    expect_diff(&(Case){"1\n2\n3\n4\n5\n", "1\n2\nx\n4\n5\n", "@@ -2,3 +2,3 @@\n 2\n-3\n+x\n 4\n", 1});
}

static void diff_names_an_empty_side_by_the_line_before(void **state) {
    (void)state;
    expect_diff(&(Case){"a\nb\n", "a\nn\nb\n", "@@ -1,0 +2,1 @@\n+n\n", 0});
    expect_diff(&(Case){"", "a\n", "@@ -0,0 +1,1 @@\n+a\n", 3});
    expect_diff(&(Case){"a\n", "", "@@ -1,1 +0,0 @@\n-a\n", 3});
}

static void diff_joins_changes_whose_context_touches(void **state) {
    (void)state;
    expect_diff(&(Case){"a\n1\n2\nb\n", "x\n1\n2\ny\n", "@@ -1,4 +1,4 @@\n-a\n+x\n 1\n 2\n-b\n+y\n", 1});
    expect_diff(
        &(Case){"a\n1\n2\n3\nb\n", "x\n1\n2\n3\ny\n", "@@ -1,2 +1,2 @@\n-a\n+x\n 1\n@@ -4,2 +4,2 @@\n 3\n-b\n+y\n", 1});
}

// The example of the paper: the script from abcabba to cbabac has five edits.
static void diff_finds_a_shortest_script(void **state) {
    (void)state;
    HloArena scratch = {0};
    HloBuffer out = {0};
    hlo_put_diff(&out, &scratch, hlo_view("a\nb\nc\na\nb\nb\na\n"), hlo_view("c\nb\na\nb\na\nc\n"),
                 &(HloDiffOptions){.context = 9});
    size_t edits = 0;
    for (const char *at = strchr(out.data, '\n'); at; at = strchr(at + 1, '\n')) edits += at[1] == '-' || at[1] == '+';
    assert_int_equal(edits, 5);
    hlo_buffer_free(&out);
    hlo_arena_free(&scratch);
}

static void diff_colours_when_asked(void **state) {
    (void)state;
    HloArena scratch = {0};
    HloBuffer out = {0};
    hlo_put_diff(&out, &scratch, hlo_view("a\n"), hlo_view("b\n"),
                 &(HloDiffOptions){.colour = true, .title = "%f", .before_line = 10, .after_line = 20});
    assert_string_equal(out.data, "\033[36m@@ -11,1 +21,1 @@ %f\033[m\n\033[31m-a\033[m\n\033[32m+b\033[m\n");
    hlo_buffer_free(&out);
    hlo_arena_free(&scratch);
}

// Two texts without a common line, far beyond the bound: all of one, then all of the other.
static void diff_past_the_bound_shows_everything(void **state) {
    (void)state;
    enum { LINES = 4000 };
    HloArena scratch = {0};
    HloBuffer before = {0}, after = {0}, out = {0};
    for (int k = 0; k < LINES; k++) {
        hlo_putf(&before, "a%d\n", k);
        hlo_putf(&after, "b%d\n", k);
    }
    hlo_put_diff(&out, &scratch, (HloStringView){before.data, before.size}, (HloStringView){after.data, after.size},
                 &(HloDiffOptions){.context = 3});
    assert_memory_equal(out.data, "@@ -1,4000 +1,4000 @@\n-a0\n-a1\n", 30);
    assert_int_equal(out.size, 22 + before.size + after.size + 2 * LINES);
    hlo_buffer_free(&before);
    hlo_buffer_free(&after);
    hlo_buffer_free(&out);
    hlo_arena_free(&scratch);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diff_of_equal_texts_is_empty),
        cmocka_unit_test(diff_shows_one_changed_line_in_context),
        cmocka_unit_test(diff_names_an_empty_side_by_the_line_before),
        cmocka_unit_test(diff_joins_changes_whose_context_touches),
        cmocka_unit_test(diff_finds_a_shortest_script),
        cmocka_unit_test(diff_colours_when_asked),
        cmocka_unit_test(diff_past_the_bound_shows_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
