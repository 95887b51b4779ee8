// Dumps: what a module with hostile names can reach, and what is counted.

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "hlo/dump.h"

typedef struct Fixture {
    HloDebugOptions options;
    HloBuffer out, log;
    char folder[64];
} Fixture;

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof *f);
    snprintf(f->folder, sizeof f->folder, "/tmp/hlo-dump-XXXXXX");
    if (!mkdtemp(f->folder)) return 1;
    f->options = hlo_debug_options_default();
    f->options.xla_dump_to = f->folder;
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", f->folder);
    int result = system(command);
    hlo_buffer_free(&f->out);
    hlo_buffer_free(&f->log);
    free(f);
    return result;
}

static HloModule *module_named(const char *name) {
    static const char text[] = "HloModule m\nENTRY e {\n  ROOT x = f32[] parameter(0)\n}\n";
    HloModule *m;
    assert_true(hlo_is_ok(hlo_parse_module(hlo_view(text), &(HloParseOptions){.file_name = "m.hlo"}, &m)));
    m->name = hlo_intern_z(m, name);
    return m;
}

static void dump_stages(Fixture *f, const char *name, const char *const *stages, size_t count) {
    HloDump *dump;
    HloModule *m = module_named(name);
    assert_true(hlo_is_ok(hlo_dump_new(&f->options, hlo_buffer_sink(&f->out), hlo_buffer_sink(&f->log), &dump)));
    hlo_dump_begin(dump, m);
    for (size_t k = 0; k < count; k++) assert_true(hlo_is_ok(hlo_dump_stage(dump, m, stages[k], NULL, 0)));
    hlo_dump_free(dump);
    hlo_module_free(m);
}

static void assert_file(const Fixture *f, const char *name) {
    char path[1024];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    if (stat(path, &info) != 0) fail_msg("no file %s", path);
}

static void dump_hostile_names_stay_in_the_folder(void **state) {
    Fixture *f = *state;
    dump_stages(f, "../a/b\\c[0] \n", (const char *const[]){"../../s"}, 1);
    assert_file(f, "module_0000..._a_b_c_0___..._.._s.txt");
}

static void dump_subfolder_of_dots_stays_below(void **state) {
    Fixture *f = *state;
    char host[256] = {0}, path[512];
    f->options.xla_dump_hlo_to_subfolder = true;
    dump_stages(f, "..", (const char *const[]){"s"}, 1);
    gethostname(host, sizeof host - 1);
    snprintf(path, sizeof path, "_../%s_%ld/module_0000....s.txt", host, (long)getpid());
    assert_file(f, path);
}

static void dump_limit_lets_one_event_through(void **state) {
    Fixture *f = *state;
    f->options.xla_dump_max_hlo_modules = 1;
    f->options.xla_dump_to = "-";
    dump_stages(f, "m", (const char *const[]){"a", "b"}, 2);
    assert_non_null(strstr(f->out.data, "*** Begin module_0000.m.a.txt ***"));
    assert_null(strstr(f->out.data, "module_0000.m.b"));
    assert_string_equal(f->log.data, "Have already dumped 1 modules, more than the limit of 1\n");
}

static void dump_nothing_asked_for_is_no_dump(void **state) {
    Fixture *f = *state;
    HloDump *dump;
    f->options.xla_dump_to = "";
    assert_true(hlo_is_ok(hlo_dump_new(&f->options, hlo_buffer_sink(&f->out), hlo_buffer_sink(&f->log), &dump)));
    assert_null(dump);
    assert_false(hlo_dump_wants(dump));
    assert_true(hlo_is_ok(hlo_dump_stage(dump, NULL, "s", NULL, 0)));
    f->options.xla_dump_to = f->folder;
    f->options.xla_enable_dumping = false;
    assert_true(hlo_is_ok(hlo_dump_new(&f->options, hlo_buffer_sink(&f->out), hlo_buffer_sink(&f->log), &dump)));
    assert_null(dump);
    assert_int_equal(f->log.size, 0);
}

static void dump_test_runners_folder_comes_from_the_environment(void **state) {
    Fixture *f = *state;
    f->options.xla_dump_to = "Sponge";
    unsetenv("TEST_UNDECLARED_OUTPUTS_DIR");
    HloDump *dump;
    assert_true(hlo_is_ok(hlo_dump_new(&f->options, hlo_buffer_sink(&f->out), hlo_buffer_sink(&f->log), &dump)));
    assert_null(dump);
    assert_string_equal(f->log.data,
                        "--xla_dump_to=Sponge, but environment variable TEST_UNDECLARED_OUTPUTS_DIR is not "
                        "set, so cannot dump anywhere.\n");
    setenv("TEST_UNDECLARED_OUTPUTS_DIR", f->folder, 1);
    dump_stages(f, "m", (const char *const[]){"s"}, 1);
    assert_file(f, "module_0000.m.s.txt");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(dump_hostile_names_stay_in_the_folder),
        TEST(dump_subfolder_of_dots_stays_below),
        TEST(dump_limit_lets_one_event_through),
        TEST(dump_nothing_asked_for_is_no_dump),
        TEST(dump_test_runners_folder_comes_from_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
