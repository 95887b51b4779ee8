// Regular expressions: search, faults, and bounds.

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hlo/regex.h"

static void regex_finds_anywhere_in_the_text(void **state) {
    (void)state;
    HloRegex *regex;
    assert_true(hlo_is_ok(hlo_regex_new("al+g|^dce$", &regex)));
    assert_true(hlo_regex_finds(regex, hlo_view("my-allgsimp")));
    assert_true(hlo_regex_finds(regex, hlo_view("dce")));
    assert_false(hlo_regex_finds(regex, hlo_view("dce2")));
    assert_true(hlo_regex_finds(regex, (HloStringView){"dce2", 3}));
    hlo_regex_free(regex);
}

static void regex_faulty_pattern_tells_the_place(void **state) {
    (void)state;
    HloRegex *regex = NULL;
    HloStatus status = hlo_regex_new("a(b", &regex);
    assert_int_equal(hlo_status_code(status), HLO_INVALID_ARGUMENT);
    assert_string_equal(hlo_status_message(status),
                        "regular expression 'a(b' is faulty at position 3: missing closing parenthesis");
    assert_null(regex);
    hlo_status_free(status);
    hlo_regex_free(regex);
}

static void regex_endless_backtracking_counts_as_not_found(void **state) {
    (void)state;
    HloRegex *regex;
    assert_true(hlo_is_ok(hlo_regex_new("(a+)+b", &regex)));
    assert_false(hlo_regex_finds(regex, hlo_view("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac")));
    hlo_regex_free(regex);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regex_finds_anywhere_in_the_text),
        cmocka_unit_test(regex_faulty_pattern_tells_the_place),
        cmocka_unit_test(regex_endless_backtracking_counts_as_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
