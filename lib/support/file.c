// Whole-file reading and atomic writing with plain system calls: one copy, no stream buffers.

#include "hlo/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    READ_STEP_BYTES = 64 << 10,  // room for the first read of something whose size is unknown
    NAME_TRIES = 100,            // temporary names tried before giving up
};

static HloStatus read_error(const char *path) {
    if (errno == ENOENT) return hlo_error(HLO_NOT_FOUND, "%s; No such file or directory", path);
    return hlo_error_errno("cannot read '%s'", path);
}

static HloStatus read_all(int fd, const char *path, HloBuffer *out) {
    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
        // One byte more than the file holds, so that the read that finds the end needs no larger buffer.
        hlo_buffer_reserve(out, (size_t)info.st_size + 1);
    }
    for (;;) {
        if (out->capacity - out->size < 2) hlo_buffer_reserve(out, READ_STEP_BYTES);
        HLO_TRY(hlo_buffer_status(out));
        ssize_t got = read(fd, out->data + out->size, out->capacity - out->size - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return read_error(path);
        out->size += (size_t)got;
        out->data[out->size] = 0;
        if (got == 0) return hlo_ok();
    }
}

HloStatus hlo_file_read(const char *path, HloBuffer *out) {
    if (strcmp(path, "-") == 0) return read_all(STDIN_FILENO, "standard input", out);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return read_error(path);
    HloStatus status = read_all(fd, path, out);
    close(fd);
    return status;
}

static HloStatus write_all(int fd, const char *path, HloStringView text) {
    while (text.size) {
        ssize_t put = write(fd, text.data, text.size);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return hlo_error_errno("cannot write '%s'", path);
        text.data += put;
        text.size -= (size_t)put;
    }
    return hlo_ok();
}

// Creates a file that did not exist; its name, which the caller frees, stands beside `path` and is short, so that a
// name of full length can still be written.
static HloStatus open_temporary(const char *path, mode_t mode, char **name, int *fd) {
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash + 1 - path) : 0;
    size_t room = (size_t)folder + 48;
    *name = malloc(room);
    if (!*name) return hlo_out_of_memory();
    for (int i = 0; i < NAME_TRIES; i++) {
        snprintf(*name, room, "%.*s.hlo-%ld-%d.tmp", folder, path, (long)getpid(), i);
        *fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (*fd >= 0) return hlo_ok();
        if (errno != EEXIST) break;
    }
    return hlo_error_errno("cannot create '%s'", path);
}

// ---- writing piece by piece -----------------------------------------------------------------------------

struct HloFileWriter {
    const char *path;  // for messages
    char *target;      // owned; what the temporary file becomes; NULL: written in place
    char *temporary;   // owned; NULL likewise
    int fd;
};

static HloStatus open_beside(HloFileWriter *writer, const char *target, mode_t mode) {
    writer->target = strdup(target);
    if (!writer->target) return hlo_out_of_memory();
    return open_temporary(target, mode, &writer->temporary, &writer->fd);
}

// Through a symbolic link the file it leads to is replaced, not the link.
static HloStatus open_regular(HloFileWriter *writer, mode_t mode) {
    char *real = realpath(writer->path, NULL);
    HloStatus status = open_beside(writer, real ? real : writer->path, mode);
    free(real);
    return status;
}

static HloStatus open_writer(HloFileWriter *writer) {
    struct stat info;
    if (strcmp(writer->path, "-") == 0) {
        writer->path = "standard output";
        writer->fd = STDOUT_FILENO;
        return hlo_ok();
    }
    if (stat(writer->path, &info) != 0) return open_beside(writer, writer->path, 0666);
    if (S_ISREG(info.st_mode)) return open_regular(writer, info.st_mode & 0777);
    writer->fd = open(writer->path, O_WRONLY | O_CLOEXEC);
    return writer->fd < 0 ? hlo_error_errno("cannot open '%s'", writer->path) : hlo_ok();
}

static void free_writer(HloFileWriter *writer) {
    free(writer->target);
    free(writer->temporary);
    free(writer);
}

HloStatus hlo_file_begin(const char *path, HloFileWriter **out) {
    HloFileWriter *writer = calloc(1, sizeof *writer);
    if (!writer) return hlo_out_of_memory();
    writer->path = path;
    HloStatus status = open_writer(writer);
    if (hlo_is_ok(status))
        *out = writer;
    else
        free_writer(writer);
    return status;
}

HloStatus hlo_file_append(HloFileWriter *writer, HloStringView text) {
    return write_all(writer->fd, writer->path, text);
}

// A full disk or a lost network file system may only show up here.
static HloStatus close_writer(HloFileWriter *writer) {
    if (writer->fd == STDOUT_FILENO || close(writer->fd) == 0) return hlo_ok();
    return hlo_error_errno("cannot write '%s'", writer->path);
}

HloStatus hlo_file_finish(HloFileWriter *writer) {
    HloStatus status = close_writer(writer);
    bool renames = hlo_is_ok(status) && writer->temporary;
    if (renames && rename(writer->temporary, writer->target) != 0) {
        status = hlo_error_errno("cannot replace '%s'", writer->path);
    }
    if (!hlo_is_ok(status) && writer->temporary) unlink(writer->temporary);
    free_writer(writer);
    return status;
}

void hlo_file_abandon(HloFileWriter *writer) {
    if (!writer) return;
    hlo_status_free(close_writer(writer));
    if (writer->temporary) unlink(writer->temporary);
    free_writer(writer);
}

HloStatus hlo_file_write(const char *path, HloStringView text) {
    HloFileWriter *writer;
    HLO_TRY(hlo_file_begin(path, &writer));
    HloStatus status = hlo_file_append(writer, text);
    if (hlo_is_ok(status)) return hlo_file_finish(writer);
    hlo_file_abandon(writer);
    return status;
}

static HloStatus link_new(const char *temporary, const char *path) {
    if (link(temporary, path) == 0) return hlo_ok();
    if (errno == EEXIST) return hlo_error(HLO_ALREADY_EXISTS, "'%s' is there already", path);
    return hlo_error_errno("cannot create '%s'", path);
}

HloStatus hlo_file_write_new(const char *path, HloStringView text) {
    char *temporary = NULL;
    int fd = -1;
    HloStatus status = open_temporary(path, 0666, &temporary, &fd);
    if (hlo_is_ok(status)) {
        status = write_all(fd, path, text);
        if (close(fd) != 0 && hlo_is_ok(status)) status = hlo_error_errno("cannot write '%s'", path);
        if (hlo_is_ok(status)) status = link_new(temporary, path);
        unlink(temporary);
    }
    free(temporary);
    return status;
}

const char *hlo_file_extension(const char *path) {
    const char *base = strrchr(path, '/');
    const char *dot = strrchr(base ? base + 1 : path, '.');
    return dot ? dot + 1 : "";
}
