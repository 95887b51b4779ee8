// Names of dumped files, the folder, and writing one file (dump chapter, §3).

#include "lib/dump/dump.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "hlo/file.h"

// ---- names ----------------------------------------------------------------------------------------------

// The time of the module's first dump.
static int64_t timestamp(HloDump *dump) {
    if (!dump->timestamp_us) {
        struct timeval now;
        gettimeofday(&now, NULL);
        dump->timestamp_us = (int64_t)now.tv_sec * 1000000 + now.tv_usec;
    }
    return dump->timestamp_us;
}

void dump_put_name(HloDump *dump, HloBuffer *out, const char *suffix, bool timed) {
    size_t start = out->size;
    if (timed && dump->options->xla_dump_include_timestamp) hlo_putf(out, "%lld.", (long long)timestamp(dump));
    hlo_putf(out, "module_%04llu", (unsigned long long)dump->number);
    size_t size = out->size - start + strlen(dump->m->name) + strlen(suffix) + 2;
    if (*dump->m->name && size <= FILE_NAME_BYTES) hlo_putf(out, ".%s", dump->m->name);
    hlo_putf(out, ".%s", suffix);
}

static bool is_unsafe(char c) {
    return c == '/' || c == '\\' || c == '[' || c == ']' || c == ' ' || (unsigned char)c < ' ' || c == 127;
}

// Appends one part of a path.
static void put_sanitised(HloBuffer *out, const char *name) {
    for (const char *p = name; *p; p++) hlo_put_char(out, is_unsafe(*p) ? '_' : *p);
}

// ---- folders --------------------------------------------------------------------------------------------

// Makes a folder and those above it.
static HloStatus make_folder(char *path) {
    for (char *p = path + 1;; p++) {
        if (*p && *p != '/') continue;
        char kept = *p;
        *p = 0;
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        HloStatus status = made ? hlo_ok() : hlo_error_errno("cannot create the folder '%s' for dumps", path);
        *p = kept;
        if (!kept || !hlo_is_ok(status)) return status;
    }
}

// §3.6: `<folder>/<module>/<host>_<process>`. A module called `..` must not lead out of the folder.
static void put_subfolder(const HloDump *dump, HloBuffer *out) {
    char host[256] = "localhost";
    if (gethostname(host, sizeof host - 1) != 0) snprintf(host, sizeof host, "localhost");
    hlo_put_char(out, '/');
    if (dump->m->name[0] == '.' || !dump->m->name[0]) hlo_put_char(out, '_');
    put_sanitised(out, dump->m->name);
    hlo_put_char(out, '/');
    put_sanitised(out, host);
    hlo_putf(out, "_%ld", (long)getpid());
}

static HloStatus find_folder(HloDump *dump) {
    if (dump->has_folder) return hlo_ok();
    dump->last_folder.size = 0;
    hlo_put_string(&dump->last_folder, dump->folder);
    if (dump->options->xla_dump_hlo_to_subfolder) put_subfolder(dump, &dump->last_folder);
    HLO_TRY(hlo_buffer_status(&dump->last_folder));
    HLO_TRY(make_folder(dump->last_folder.data));
    dump->has_folder = true;
    return hlo_ok();
}

// ---- files ----------------------------------------------------------------------------------------------

// §3.7: asked before every single file. With time stamps a module counts before its first file, else after it.
static bool is_beyond_limit(HloDump *dump) {
    int64_t limit = dump->options->xla_dump_max_hlo_modules;
    if (dump->options->xla_dump_include_timestamp && !dump->is_counted) {
        dump->is_counted = true;
        dump->counted++;
    }
    if (limit <= 0 || dump->counted < (uint64_t)limit) return false;
    if (!dump->told_of_limit) {
        dump_log(dump, "Have already dumped %llu modules, more than the limit of %lld",
                 (unsigned long long)dump->counted, (long long)limit);
    }
    dump->told_of_limit = true;
    return true;
}

static HloStatus write_to_out(HloDump *dump, const char *name, HloStringView text) {
    HloBuffer line = {0};
    hlo_putf(&line, "*** Begin %s ***\n", name);
    hlo_put(&line, text.data, text.size);
    hlo_putf(&line, "\n*** End %s ***\n", name);
    HloStatus status = hlo_buffer_status(&line);
    if (hlo_is_ok(status)) dump->out.write(dump->out.data, line.data, line.size);
    hlo_buffer_free(&line);
    return status;
}

static HloStatus write_to_folder(HloDump *dump, const char *name, HloStringView data) {
    HLO_TRY(find_folder(dump));
    HloBuffer path = {0};
    hlo_putf(&path, "%s/", dump->last_folder.data);
    put_sanitised(&path, name);
    HloStatus status = hlo_buffer_status(&path);
    if (hlo_is_ok(status)) status = hlo_file_write(path.data, data);
    hlo_buffer_free(&path);
    return status;
}

HloStatus dump_file(HloDump *dump, const char *name, DumpKind kind, HloStringView data, bool *written) {
    *written = false;
    if (is_beyond_limit(dump)) return hlo_ok();
    if (!dump->folder && kind == DUMP_BYTES) {
        dump_log(dump, "Refusing to write %s to stdout. Pass --xla_dump_to=<path> to write to a file.", name);
        return hlo_ok();
    }
    HLO_TRY(dump->folder ? write_to_folder(dump, name, data) : write_to_out(dump, name, data));
    *written = true;
    return hlo_ok();
}

static HloStatus write_alone(HloDump *dump, const char *suffix, DumpKind kind, HloStringView data) {
    if (!hlo_dump_wants(dump)) return hlo_ok();
    HloBuffer name = {0};
    bool written;
    dump_put_name(dump, &name, suffix, false);
    HloStatus status = hlo_buffer_status(&name);
    if (hlo_is_ok(status)) status = dump_file(dump, name.data, kind, data, &written);
    hlo_buffer_free(&name);
    return status;
}

HloStatus hlo_dump_text(HloDump *dump, const char *suffix, HloStringView text) {
    return write_alone(dump, suffix, DUMP_TEXT, text);
}

HloStatus hlo_dump_bytes(HloDump *dump, const char *suffix, HloStringView bytes) {
    return write_alone(dump, suffix, DUMP_BYTES, bytes);
}
