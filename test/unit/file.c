// Files: whole reads, atomic writes, and what a failed write leaves behind.

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "hlo/file.h"

static char *temporary_folder(void) {
    char *path = strdup("/tmp/hlo-file-XXXXXX");
    assert_non_null(mkdtemp(path));
    return path;
}

static char *path_in(const char *folder, const char *name) {
    char *path = malloc(strlen(folder) + strlen(name) + 2);
    assert_non_null(path);
    sprintf(path, "%s/%s", folder, name);
    return path;
}

static void assert_content(const char *path, const char *text) {
    HloBuffer content = {0};
    assert_true(hlo_is_ok(hlo_file_read(path, &content)));
    assert_string_equal(content.data ? content.data : "", text);
    assert_int_equal(content.size, strlen(text));
    hlo_buffer_free(&content);
}

static void file_written_reads_back(void **state) {
    (void)state;
    char *folder = temporary_folder(), *path = path_in(folder, "a");
    assert_true(hlo_is_ok(hlo_file_write(path, hlo_view("one"))));
    assert_content(path, "one");
    assert_true(hlo_is_ok(hlo_file_write(path, hlo_view(""))));
    assert_content(path, "");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);  // no temporary file stayed
    free(path);
    free(folder);
}

// Whatever has the name, a link that leads nowhere included, stays as it is.
static void file_new_never_replaces(void **state) {
    (void)state;
    char *folder = temporary_folder(), *path = path_in(folder, "a"), *link = path_in(folder, "b");
    assert_true(hlo_is_ok(hlo_file_write_new(path, hlo_view("mine"))));
    assert_int_equal(symlink("nowhere", link), 0);
    const char *const taken[] = {path, link};
    for (size_t k = 0; k < HLO_COUNT(taken); k++) {
        HloStatus status = hlo_file_write_new(taken[k], hlo_view("other"));
        assert_int_equal(hlo_status_code(status), HLO_ALREADY_EXISTS);
        hlo_status_free(status);
    }
    assert_content(path, "mine");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(rmdir(folder), 0);  // no temporary file stayed
    free(link);
    free(path);
    free(folder);
}

static void file_write_keeps_mode_and_symbolic_link(void **state) {
    (void)state;
    char *folder = temporary_folder(), *path = path_in(folder, "a"), *link = path_in(folder, "b");
    assert_true(hlo_is_ok(hlo_file_write(path, hlo_view("old"))));
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink(path, link), 0);
    assert_true(hlo_is_ok(hlo_file_write(link, hlo_view("new"))));
    struct stat info;
    assert_int_equal(lstat(link, &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    assert_content(path, "new");
    unlink(link);
    unlink(path);
    rmdir(folder);
    free(link);
    free(path);
    free(folder);
}

static void file_missing_is_not_found(void **state) {
    (void)state;
    HloBuffer content = {0};
    HloStatus status = hlo_file_read("/nonexistent/a.hlo", &content);
    assert_int_equal(hlo_status_code(status), HLO_NOT_FOUND);
    assert_string_equal(hlo_status_message(status), "/nonexistent/a.hlo; No such file or directory");
    hlo_status_free(status);
    hlo_buffer_free(&content);
}

static void file_folder_cannot_be_read(void **state) {
    (void)state;
    HloBuffer content = {0};
    HloStatus status = hlo_file_read("/tmp", &content);
    assert_string_equal(hlo_status_message(status), "cannot read '/tmp': Is a directory");
    hlo_status_free(status);
    hlo_buffer_free(&content);
}

static void file_full_device_is_reported(void **state) {
    (void)state;
    if (access("/dev/full", W_OK) != 0) skip();
    HloStatus status = hlo_file_write("/dev/full", hlo_view("text"));
    assert_int_equal(hlo_status_code(status), HLO_RESOURCE_EXHAUSTED);
    assert_string_equal(hlo_status_message(status), "cannot write '/dev/full': No space left on device");
    hlo_status_free(status);
}

static void file_write_into_missing_folder_fails(void **state) {
    (void)state;
    HloStatus status = hlo_file_write("/nonexistent/a.hlo", hlo_view("text"));
    assert_string_equal(hlo_status_message(status), "cannot create '/nonexistent/a.hlo': No such file or directory");
    hlo_status_free(status);
}

static void file_extension_is_the_last_of_the_last_part(void **state) {
    (void)state;
    assert_string_equal(hlo_file_extension("a.b/c.hlo.pb"), "pb");
    assert_string_equal(hlo_file_extension("a.b/c"), "");
    assert_string_equal(hlo_file_extension("-"), "");
    assert_string_equal(hlo_file_extension("x."), "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(file_written_reads_back),
        cmocka_unit_test(file_new_never_replaces),
        cmocka_unit_test(file_write_keeps_mode_and_symbolic_link),
        cmocka_unit_test(file_missing_is_not_found),
        cmocka_unit_test(file_folder_cannot_be_read),
        cmocka_unit_test(file_full_device_is_reported),
        cmocka_unit_test(file_write_into_missing_folder_fails),
        cmocka_unit_test(file_extension_is_the_last_of_the_last_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
