// Flags: forms of the command line and of the environment, hints, help.

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "hlo/flags.h"

typedef struct Options {
    const char *output, *filter;
    bool quiet;
    int64_t limit;
    double bound;
    HloVec names;
} Options;

static const HloFlag rows[] = {
    {"o", HLO_FLAG_TEXT, offsetof(Options, output), "files", "FILE", NULL, "where to write"},
    {"quiet", HLO_FLAG_BOOL, offsetof(Options, quiet), "talk", NULL, NULL, "say nothing"},
    {"limit", HLO_FLAG_INT, offsetof(Options, limit), "files", "N", NULL, "how many"},
    {"bound", HLO_FLAG_FLOAT, offsetof(Options, bound), "files", "X", NULL, "how far"},
    {"filter", HLO_FLAG_TEXT, offsetof(Options, filter), "talk", "REGEX", ".*", "what to say"},
    {"names", HLO_FLAG_LIST, offsetof(Options, names), "talk", "A,B", NULL, "whom to tell"},
};

typedef struct Fixture {
    HloArena arena;
    Options options;
    HloVec positionals;
} Fixture;

static HloStatus parse(Fixture *f, int argc, char **argv) {
    HloFlagSet set = {.flags = rows, .count = HLO_COUNT(rows), .options = &f->options};
    return hlo_flags_parse(&f->arena, &set, 1, argc, argv, &f->positionals);
}

#define PARSE(fixture, ...) \
    parse((fixture), HLO_COUNT(((char *[]){"tool", __VA_ARGS__})), (char *[]){"tool", __VA_ARGS__})

static HloStatus parse_environment(Fixture *f, const char *text) {
    HloFlagSet set = {.flags = rows, .count = HLO_COUNT(rows), .options = &f->options};
    return hlo_flags_parse_environment(&f->arena, &set, 1, "SOME_FLAGS", text);
}

static void assert_fails(HloStatus status, const char *message) {
    assert_int_equal(hlo_status_code(status), HLO_INVALID_ARGUMENT);
    assert_string_equal(hlo_status_message(status), message);
    hlo_status_free(status);
}

static void flags_every_form_sets_its_field(void **state) {
    (void)state;
    Fixture f = {0};
    assert_true(hlo_is_ok(PARSE(&f, "a.hlo", "-o", "x", "--quiet", "--limit=-7", "--bound=0.5", "--filter", "-")));
    assert_string_equal(f.options.output, "x");
    assert_true(f.options.quiet);
    assert_int_equal(f.options.limit, -7);
    assert_true(f.options.bound == 0.5);
    assert_string_equal(f.options.filter, ".*");
    assert_int_equal(f.positionals.count, 2);
    assert_string_equal(f.positionals.items[1], "-");
    hlo_arena_free(&f.arena);
}

static void flags_output_has_three_spellings(void **state) {
    (void)state;
    Fixture f = {0};
    assert_true(hlo_is_ok(PARSE(&f, "--o=a")));
    assert_string_equal(f.options.output, "a");
    assert_true(hlo_is_ok(PARSE(&f, "-o=b")));
    assert_string_equal(f.options.output, "b");
    assert_true(hlo_is_ok(PARSE(&f, "-o", "c", "-o", "d")));
    assert_string_equal(f.options.output, "d");
}

static void flags_bool_takes_words_in_any_case(void **state) {
    (void)state;
    Fixture f = {0};
    assert_true(hlo_is_ok(PARSE(&f, "--quiet=TRUE")));
    assert_true(f.options.quiet);
    assert_true(hlo_is_ok(PARSE(&f, "--quiet=0")));
    assert_false(f.options.quiet);
    assert_fails(PARSE(&f, "--quiet=yes"), "flag '--quiet' takes true or false, found 'yes'");
}

static void flags_lists_append_and_keep_empty_items(void **state) {
    (void)state;
    Fixture f = {0};
    assert_true(hlo_is_ok(PARSE(&f, "--names=a, b", "--names=", "--names=c,")));
    assert_int_equal(f.options.names.count, 5);
    assert_string_equal(f.options.names.items[1], " b");
    assert_string_equal(f.options.names.items[2], "");
    assert_string_equal(f.options.names.items[4], "");
    hlo_arena_free(&f.arena);
}

static void flags_bad_value_names_flag_and_kind(void **state) {
    (void)state;
    Fixture f = {0};
    assert_fails(PARSE(&f, "--limit=12x"), "flag '--limit' takes an integer, found '12x'");
    assert_fails(PARSE(&f, "--limit=99999999999999999999"),
                 "flag '--limit' takes an integer, found '99999999999999999999'");
    assert_fails(PARSE(&f, "--bound="), "flag '--bound' takes a number, found ''");
    assert_fails(PARSE(&f, "--limit"), "flag '--limit' needs a value: --limit=N");
    assert_fails(PARSE(&f, "-o"), "flag '--o' needs a value: --o=FILE");
}

static void flags_unknown_name_gets_nearest_as_hint(void **state) {
    (void)state;
    Fixture f = {0};
    assert_fails(PARSE(&f, "--quite"), "unknown flag '--quite'; did you mean '--quiet'?");
    assert_fails(PARSE(&f, "--something-else"), "unknown flag '--something-else'; see --help");
}

static void flags_after_double_dash_are_positionals(void **state) {
    (void)state;
    Fixture f = {0};
    assert_true(hlo_is_ok(PARSE(&f, "--", "--quiet")));
    assert_false(f.options.quiet);
    assert_int_equal(f.positionals.count, 1);
    hlo_arena_free(&f.arena);
}

static void flags_environment_reads_quotes_and_stops_at_a_bare_word(void **state) {
    (void)state;
    Fixture f = {0};
    assert_true(hlo_is_ok(parse_environment(&f, " --filter=\"a \\\"b\"--quiet\t-limit=4 stop --limit=5")));
    assert_string_equal(f.options.filter, "a \"b");
    assert_true(f.options.quiet);
    assert_int_equal(f.options.limit, 4);
    assert_true(hlo_is_ok(parse_environment(&f, "--filter='a\\b'")));
    assert_string_equal(f.options.filter, "a\\b");
    assert_true(hlo_is_ok(parse_environment(&f, "")));
    assert_true(hlo_is_ok(parse_environment(&f, NULL)));
    hlo_arena_free(&f.arena);
}

static void flags_environment_tells_all_unknown_flags_as_written(void **state) {
    (void)state;
    Fixture f = {0};
    assert_fails(parse_environment(&f, "--limt=1"), "Unknown flag in SOME_FLAGS: --limt=1; did you mean '--limit'?");
    assert_fails(parse_environment(&f, "--weather='a b' --quiet --rain"),
                 "Unknown flags in SOME_FLAGS: --weather='a b' --rain");
    hlo_arena_free(&f.arena);
}

static void flags_sorted_set_finds_first_last_and_no_prefix(void **state) {
    (void)state;
    static const HloFlag sorted[] = {
        {"a", HLO_FLAG_BOOL, offsetof(Options, quiet), "t", NULL, NULL, ""},
        {"limit", HLO_FLAG_INT32, offsetof(Options, limit), "t", "N", NULL, ""},
        {"limit_more", HLO_FLAG_INT, offsetof(Options, limit), "t", "N", NULL, ""},
    };
    Fixture f = {0};
    HloVec given = {0};
    HloFlagSet set = {.flags = sorted, .count = 3, .options = &f.options, .sorted = true, .given = &given};
    char *argv[] = {"tool", "--a", "--limit=5", "--limit_more=9999999999"};
    assert_true(hlo_is_ok(hlo_flags_parse(&f.arena, &set, 1, 4, argv, &f.positionals)));
    assert_true(f.options.quiet && f.options.limit == 9999999999);
    assert_int_equal(given.count, 3);
    assert_ptr_equal(given.items[1], &sorted[1]);
    char *wide[] = {"tool", "--limit=2147483648"}, *part[] = {"tool", "--limit_=1"};
    assert_fails(hlo_flags_parse(&f.arena, &set, 1, 2, wide, &f.positionals),
                 "flag '--limit' takes a 32-bit integer, found '2147483648'");
    assert_fails(hlo_flags_parse(&f.arena, &set, 1, 2, part, &f.positionals),
                 "unknown flag '--limit_'; did you mean '--limit'?");
    hlo_arena_free(&f.arena);
}

static void flags_environment_without_dash_names_a_file(void **state) {
    (void)state;
    Fixture f = {0};
    char path[] = "/tmp/hlo-flags-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "--limit=9\n--filter=x\n", 21), 21);
    close(fd);
    assert_true(hlo_is_ok(parse_environment(&f, path)));
    assert_int_equal(f.options.limit, 9);
    assert_string_equal(f.options.filter, "x");
    unlink(path);
    HloStatus status = parse_environment(&f, path);
    assert_int_equal(hlo_status_code(status), HLO_NOT_FOUND);
    hlo_status_free(status);
    hlo_arena_free(&f.arena);
}

static void flags_help_shows_one_topic_or_all(void **state) {
    (void)state;
    HloFlagSet set = {.flags = rows, .count = HLO_COUNT(rows)};
    HloBuffer out = {0};
    assert_true(hlo_flags_help(&set, 1, "talk", &out));
    assert_string_equal(out.data, "talk:\n"
                                  "  --quiet                           say nothing\n"
                                  "  --filter[=REGEX]                  what to say\n"
                                  "  --names=A,B                       whom to tell\n");
    assert_false(hlo_flags_help(&set, 1, "weather", &out));
    hlo_buffer_free(&out);
    hlo_flags_topics(&set, 1, &out);
    assert_string_equal(out.data, "  files      -o --limit --bound\n"
                                  "  talk       --quiet --filter --names\n");
    hlo_buffer_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_every_form_sets_its_field),
        cmocka_unit_test(flags_output_has_three_spellings),
        cmocka_unit_test(flags_bool_takes_words_in_any_case),
        cmocka_unit_test(flags_lists_append_and_keep_empty_items),
        cmocka_unit_test(flags_bad_value_names_flag_and_kind),
        cmocka_unit_test(flags_unknown_name_gets_nearest_as_hint),
        cmocka_unit_test(flags_after_double_dash_are_positionals),
        cmocka_unit_test(flags_environment_reads_quotes_and_stops_at_a_bare_word),
        cmocka_unit_test(flags_environment_tells_all_unknown_flags_as_written),
        cmocka_unit_test(flags_sorted_set_finds_first_last_and_no_prefix),
        cmocka_unit_test(flags_environment_without_dash_names_a_file),
        cmocka_unit_test(flags_help_shows_one_topic_or_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
