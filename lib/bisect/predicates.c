// The predicates that bisection can ask.

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hlo/bisect.h"
#include "hlo/file.h"
#include "hlo/infer.h"
#include "hlo/regex.h"
#include "hlo/shell.h"

typedef struct Data {
    char *words;
    HloRegex *regex;  // appears, vanishes
    bool wanted;      // regex: found (appears) or not (vanishes)
    HloBuffer text;   // command: the command; differs: the other text
} Data;

static void free_data(void *data) {
    Data *d = data;
    free(d->words);
    hlo_regex_free(d->regex);
    hlo_buffer_free(&d->text);
    free(d);
}

void hlo_predicate_free(HloPredicate *predicate) {
    if (!predicate) return;
    predicate->free(predicate->data);
    free(predicate);
}

// A new predicate whose words are `before`, `subject` and `after` one after the other.
static HloStatus make(const char *before, const char *subject, const char *after, HloPredicate **out) {
    HloPredicate *predicate = calloc(1, sizeof *predicate);
    Data *d = calloc(1, sizeof *d);
    char *words = malloc(strlen(before) + strlen(subject) + strlen(after) + 1);
    if (!predicate || !d || !words) {
        free(predicate);
        free(d);
        free(words);
        return hlo_out_of_memory();
    }
    strcat(strcat(strcpy(words, before), subject), after);
    d->words = words;
    *predicate = (HloPredicate){.data = d, .words = words, .free = free_data};
    *out = predicate;
    return hlo_ok();
}

// Hands a predicate over, or frees it after a failure.
static HloStatus finish(HloPredicate *predicate, HloStatus status, HloPredicate **out) {
    if (hlo_is_ok(status))
        *out = predicate;
    else
        hlo_predicate_free(predicate);
    return status;
}

// ---- regular expressions --------------------------------------------------------------------------------

// Line by line, so that `^` and `$` mean lines and the bounds on backtracking are those of one line.
static bool finds_in_a_line(const HloRegex *regex, HloStringView text) {
    const char *at = text.data, *end = text.data + text.size;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        if (hlo_regex_finds(regex, (HloStringView){at, (size_t)(stop - at)})) return true;
        at = stop + 1;
    }
    return false;
}

static HloStatus regex_holds(void *data, const HloModule *m, HloStringView text, bool *out) {
    (void)m;
    const Data *d = data;
    *out = finds_in_a_line(d->regex, text) == d->wanted;
    return hlo_ok();
}

static HloStatus make_regex(const char *pattern, bool wanted, HloPredicate **out) {
    HloPredicate *predicate;
    HLO_TRY(make("'", pattern, wanted ? "' appears" : "' vanishes", &predicate));
    Data *d = predicate->data;
    d->wanted = wanted;
    predicate->holds = regex_holds;
    return finish(predicate, hlo_regex_new(pattern, &d->regex), out);
}

HloStatus hlo_predicate_appears(const char *pattern, HloPredicate **out) {
    return make_regex(pattern, true, out);
}

HloStatus hlo_predicate_vanishes(const char *pattern, HloPredicate **out) {
    return make_regex(pattern, false, out);
}

// ---- commands -------------------------------------------------------------------------------------------

// The command in a subshell without output, with the file's name for %s.
static void put_command(HloBuffer *out, const char *command, const char *path) {
    bool named = false;
    hlo_put_char(out, '(');
    for (const char *at = command; *at; at++) {
        bool is_name = at[0] == '%' && at[1] == 's', is_percent = at[0] == '%' && at[1] == '%';
        if (is_name)
            hlo_put_shell_word(out, path);
        else
            hlo_put_char(out, *at);
        at += is_name || is_percent;
        named |= is_name;
    }
    if (!named) {
        hlo_put_char(out, ' ');
        hlo_put_shell_word(out, path);
    }
    hlo_put_string(out, "\n) >/dev/null 2>&1 </dev/null");
}

static HloStatus read_exit(const char *command, int status, bool *out) {
    if (status == -1) return hlo_error_errno("cannot run '%s'", command);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code == 126 || code == 127) {
        return hlo_error(HLO_NOT_FOUND, "the shell cannot run '%s' (exit status %d)", command, code);
    }
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) return hlo_error(HLO_CANCELLED, "interrupted");
    *out = code != 0;
    return hlo_ok();
}

// Writes the text to a new file whose name is put into `path`, which holds a template.
static HloStatus write_temporary(HloBuffer *path, HloStringView text) {
    static const char extension[] = ".hlo";
    int fd = mkstemps(path->data, (int)strlen(extension));
    if (fd < 0) return hlo_error_errno("cannot make '%s'", path->data);
    close(fd);
    return hlo_file_write(path->data, text);
}

static HloStatus command_holds(void *data, const HloModule *m, HloStringView text, bool *out) {
    (void)m;
    const char *command = ((Data *)data)->text.data, *folder = getenv("TMPDIR");
    HloBuffer path = {0}, line = {0};
    hlo_putf(&path, "%s/hlo-bisect-XXXXXX.hlo", folder && *folder ? folder : "/tmp");
    HloStatus status = hlo_buffer_status(&path);
    if (hlo_is_ok(status)) status = write_temporary(&path, text);
    if (hlo_is_ok(status)) {
        put_command(&line, command, path.data);
        status = hlo_buffer_status(&line);
    }
    if (hlo_is_ok(status)) status = read_exit(command, system(line.data), out);
    if (path.data) unlink(path.data);
    hlo_buffer_free(&path);
    hlo_buffer_free(&line);
    return status;
}

HloStatus hlo_predicate_command(const char *command, HloPredicate **out) {
    HloPredicate *predicate;
    HLO_TRY(make("command '", command, "' fails", &predicate));
    Data *d = predicate->data;
    predicate->holds = command_holds;
    predicate->is_slow = true;
    hlo_put_string(&d->text, command);
    return finish(predicate, hlo_buffer_status(&d->text), out);
}

// ---- verifier, other text -------------------------------------------------------------------------------

static HloStatus invalid_holds(void *data, const HloModule *m, HloStringView text, bool *out) {
    (void)data, (void)text;
    HloStatus status =
        hlo_verify_module(m, &(HloVerifyOptions){.allow_mixed_precision = true, .allow_fused_dead_code = true});
    bool out_of_memory = hlo_status_code(status) == HLO_RESOURCE_EXHAUSTED;
    if (out_of_memory) return status;
    *out = !hlo_is_ok(status);
    hlo_status_free(status);
    return hlo_ok();
}

HloStatus hlo_predicate_invalid(HloPredicate **out) {
    HLO_TRY(make("the module breaks a rule of HLO", "", "", out));
    (*out)->holds = invalid_holds;
    (*out)->needs_module = true;
    (*out)->finds_invalid = true;
    return hlo_ok();
}

static HloStatus differs_holds(void *data, const HloModule *m, HloStringView text, bool *out) {
    (void)m;
    const HloBuffer *other = &((const Data *)data)->text;
    *out = text.size != other->size || (text.size && memcmp(text.data, other->data, text.size) != 0);
    return hlo_ok();
}

HloStatus hlo_predicate_differs(const char *name, HloStringView text, HloPredicate **out) {
    HloPredicate *predicate;
    HLO_TRY(make("the module differs from ", name, "", &predicate));
    Data *d = predicate->data;
    predicate->holds = differs_holds;
    hlo_put(&d->text, text.data, text.size);
    return finish(predicate, hlo_buffer_status(&d->text), out);
}
