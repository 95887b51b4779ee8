// hlo-check-lines: writes the FileCheck lines of a test in text from what its RUN lines print.

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hlo/check_lines.h"
#include "hlo/file.h"
#include "hlo/flags.h"
#include "hlo/module.h"

typedef struct Options {
    bool in_place, replace_all, help, version;
} Options;

#define FLAG(name, field, help) \
    { name, HLO_FLAG_BOOL, offsetof(Options, field), "flags", NULL, NULL, help, NULL }

static const HloFlag flags[] = {
    FLAG("i", in_place, "write into the file; without it the new test goes to standard output"),
    FLAG("replace-all", replace_all, "drop lines with the same prefixes that were written by hand"),
    FLAG("help", help, "explain the program"),
    FLAG("version", version, "print the version"),
};

typedef struct Run {
    int argc;
    char **argv;
    HloArena arena;
    Options options;
    char *folder;  // for temporary files of the commands; NULL until one runs
    HloBuffer out;
} Run;

// ---- commands --------------------------------------------------------------------------------------------

// Paths go into commands as they are, which lit does, too; others than these characters would be read by the shell.
static HloStatus check_path(const char *path) {
    for (const char *c = path; *c; c++) {
        if (!isalnum((unsigned char)*c) && !strchr("_./+-=,@:", *c))
            return hlo_error(HLO_INVALID_ARGUMENT, "the path '%s' holds a character that a shell would read", path);
    }
    return hlo_ok();
}

static const char *folder_of(HloArena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? hlo_arena_string(arena, path, (size_t)(slash - path)) : ".";
}

// The command with lit's substitutions made: %s the test, %S its folder, %t a temporary name, %% a percent sign.
static const char *substituted(Run *run, const char *command, const char *path) {
    HloBuffer text = {0};
    for (const char *c = command; *c; c++) {
        char next = *c == '%' ? c[1] : 0;
        c += next == 's' || next == 'S' || next == 't' || next == '%';
        switch (next) {
        case 's': hlo_put_string(&text, path); break;
        case 'S': hlo_put_string(&text, folder_of(&run->arena, path)); break;
        case 't': hlo_putf(&text, "%s/t", run->folder); break;
        default: hlo_put_char(&text, *c);
        }
    }
    const char *copy = hlo_arena_string(&run->arena, text.data ? text.data : "", text.size);
    hlo_buffer_free(&text);
    return copy;
}

static HloStatus read_all(FILE *from, HloBuffer *out) {
    enum { STEP = 1 << 16, MOST = 1 << 28 };
    for (size_t size = 1; size && hlo_buffer_reserve(out, STEP);) {
        size = fread(out->data + out->size, 1, STEP, from);
        out->size += size;
        if (out->size > MOST) return hlo_error(HLO_RESOURCE_EXHAUSTED, "a command prints more than %d bytes", MOST);
    }
    return hlo_buffer_status(out);
}

// Runs a command through /bin/sh and collects its standard output; its other output passes through.
static HloStatus run_command(const char *command, HloBuffer *out) {
    fflush(NULL);
    FILE *from = popen(command, "r");
    if (!from) return hlo_error(HLO_UNKNOWN, "cannot run '%s'", command);
    HloStatus status = read_all(from, out);
    int code = pclose(from);
    if (!hlo_is_ok(status)) return status;
    if (!WIFEXITED(code) || WEXITSTATUS(code) != 0) return hlo_error(HLO_UNKNOWN, "the command failed: %s", command);
    return hlo_ok();
}

// The programs of this build come first, as in lit.
static HloStatus set_path(HloArena *arena) {
    char self[4096];
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    if (size < 0) return hlo_ok();
    self[size] = 0;
    const char *old = getenv("PATH");
    const char *path = hlo_arena_printf(arena, "%s:%s", folder_of(arena, self), old ? old : "/usr/bin:/bin");
    return setenv("PATH", path, 1) == 0 ? hlo_ok() : hlo_out_of_memory();
}

// ---- temporary files -------------------------------------------------------------------------------------

static HloStatus make_folder(Run *run) {
    const char *where = getenv("TMPDIR");
    run->folder = hlo_arena_printf(&run->arena, "%s/hlo-check-lines.XXXXXX", where ? where : "/tmp");
    HLO_TRY(check_path(run->folder));
    if (mkdtemp(run->folder)) return hlo_ok();
    return hlo_error(HLO_UNKNOWN, "cannot make the folder '%s'", run->folder);
}

// Files only: a command that makes folders there leaves them behind.
static void remove_folder(Run *run) {
    DIR *folder = opendir(run->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        unlink(hlo_arena_printf(&run->arena, "%s/%s", run->folder, entry->d_name));
    if (folder) closedir(folder);
    rmdir(run->folder);
}

// ---- the test --------------------------------------------------------------------------------------------

// What the runs with one prefix printed; all of them must print the same.
static HloStatus check_run(Run *run, const char *path, const HloCheckRun *test, HloMap *texts, HloBuffer *lines) {
    HloBuffer text = {0};
    HloStatus status = run_command(substituted(run, test->command, path), &text);
    if (hlo_is_ok(status) && test->prefix) {
        const char *copy = hlo_arena_string(&run->arena, text.data ? text.data : "", text.size);
        void **known = hlo_map_at_text(&run->arena, texts, test->prefix, strlen(test->prefix), NULL);
        if (!*known) {
            if (lines->size) hlo_put_string(lines, "//\n");
            hlo_put_check_lines(lines, &run->arena, (HloStringView){copy, text.size}, test->prefix);
        } else if (strcmp(*known, copy) != 0) {
            status = hlo_error(HLO_FAILED_PRECONDITION, "two RUN lines with the prefix %s print different texts",
                               test->prefix);
        }
        *known = (void *)(uintptr_t)copy;
    }
    hlo_buffer_free(&text);
    return status;
}

static HloStatus write_test(Run *run, const char *path, HloStringView file, HloBuffer *lines) {
    HloCheckRuns tests;
    HloMap texts = {0};
    HLO_TRY(hlo_check_runs_find(&run->arena, file, &tests));
    for (size_t i = 0; i < tests.count; i++) HLO_TRY(check_run(run, path, &tests.items[i], &texts, lines));
    HLO_TRY(hlo_buffer_status(lines));
    return hlo_put_checked_file(&run->out, file, (HloStringView){lines->data ? lines->data : "", lines->size}, &tests,
                                run->options.replace_all);
}

static HloStatus update(Run *run, const char *path) {
    HloBuffer file = {0}, lines = {0};
    HLO_TRY(check_path(path));
    HLO_TRY(set_path(&run->arena));
    HloStatus status = hlo_file_read(path, &file);
    if (hlo_is_ok(status))
        status = write_test(run, path, (HloStringView){file.data ? file.data : "", file.size}, &lines);
    hlo_buffer_free(&file);
    hlo_buffer_free(&lines);
    HLO_TRY(status);
    HLO_TRY(hlo_buffer_status(&run->out));
    signal(SIGPIPE, SIG_IGN);  // a closed pipe is then a failed write with a message; the commands had the default
    return hlo_file_write(run->options.in_place ? path : "-", (HloStringView){run->out.data, run->out.size});
}

static const char help[] =
    "usage: hlo-check-lines [-i] FILE\n\n"
    "Runs the RUN lines of a test and writes the FileCheck lines that expect what they print: a label for\n"
    "each computation, its instructions as lines that follow each other, with variables for their names.\n"
    "Lines that it wrote before are replaced. Commands run through /bin/sh, as lit runs them: only use it\n"
    "on tests that you would run. Substitutions: %s, %S, %t, %%.\n\n";

static HloStatus fill_output(void *data) {
    Run *run = data;
    HloFlagSet set = {.flags = flags, .count = HLO_COUNT(flags), .options = &run->options};
    HloVec inputs = {0};
    HLO_TRY(hlo_flags_parse(&run->arena, &set, 1, run->argc, run->argv, &inputs));
    if (run->options.help || run->options.version) {
        hlo_put_string(&run->out, run->options.help ? help : "hlo-check-lines " HLO_VERSION "\n");
        if (run->options.help) hlo_flags_help(&set, 1, "all", &run->out);
        return hlo_file_write("-", (HloStringView){run->out.data, run->out.size});
    }
    if (inputs.count != 1) {
        return hlo_error(HLO_INVALID_ARGUMENT, "expected one test, found %zu; see --help", (size_t)inputs.count);
    }
    HLO_TRY(make_folder(run));
    HloStatus status = update(run, inputs.items[0]);
    remove_folder(run);
    return status;
}

int main(int argc, char **argv) {
    Run run = {.argc = argc, .argv = argv};
    HloStatus status = hlo_guarded((HloArena *const[]){&run.arena, NULL}, fill_output, &run);
    int code = hlo_is_ok(status) ? 0 : 1;
    if (code) fprintf(stderr, "%s: %s\n", hlo_code_name(hlo_status_code(status)), hlo_status_message(status));
    hlo_status_free(status);
    hlo_buffer_free(&run.out);
    hlo_arena_free(&run.arena);
    return code;
}
