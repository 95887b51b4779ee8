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

static HloStatus close_written(int fd, const char *path, HloStatus status) {
    // A full disk or a lost network file system may only show up here.
    if (close(fd) != 0 && hlo_is_ok(status)) return hlo_error_errno("cannot write '%s'", path);
    return status;
}

static HloStatus write_in_place(const char *path, HloStringView text) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return hlo_error_errno("cannot open '%s'", path);
    return close_written(fd, path, write_all(fd, path, text));
}

// Creates a file that did not exist; its name, which the caller frees, stands beside `path` and is short, so that a name of
// full length can still be written.
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

static HloStatus write_and_rename(const char *path, mode_t mode, HloStringView text) {
    char *name = NULL;
    int fd = -1;
    HloStatus status = open_temporary(path, mode, &name, &fd);
    if (hlo_is_ok(status)) {
        status = close_written(fd, path, write_all(fd, path, text));
        if (hlo_is_ok(status) && rename(name, path) != 0) status = hlo_error_errno("cannot replace '%s'", path);
        if (!hlo_is_ok(status)) unlink(name);
    }
    free(name);
    return status;
}

HloStatus hlo_file_write(const char *path, HloStringView text) {
    if (strcmp(path, "-") == 0) return write_all(STDOUT_FILENO, "standard output", text);
    struct stat info;
    if (stat(path, &info) != 0) return write_and_rename(path, 0666, text);
    if (!S_ISREG(info.st_mode)) return write_in_place(path, text);
    // Through a symbolic link the file it leads to is replaced, not the link.
    char *real = realpath(path, NULL);
    HloStatus status = write_and_rename(real ? real : path, info.st_mode & 0777, text);
    free(real);
    return status;
}

const char *hlo_file_extension(const char *path) {
    const char *base = strrchr(path, '/');
    const char *dot = strrchr(base ? base + 1 : path, '.');
    return dot ? dot + 1 : "";
}
