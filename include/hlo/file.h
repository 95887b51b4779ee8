// Files in, files out.
#ifndef HLO_FILE_H
#define HLO_FILE_H

#include "hlo/buffer.h"
#include "hlo/containers.h"
#include "hlo/status.h"

// Appends the whole of a file, or of standard input for `-`. Files are read, not mapped: a mapped file that another
// process cuts short ends the reader with SIGBUS. NOT_FOUND reads `path; No such file or directory`.
HLO_MUST_USE HloStatus hlo_file_read(const char *path, HloBuffer *out);

// Writes a file, or standard output for `-`. A regular file appears whole or not at all: the text goes to a
// temporary file beside it, which then takes its name. Devices and pipes are written to directly. A closed pipe is
// reported like any failed write if the program ignores SIGPIPE.
HLO_MUST_USE HloStatus hlo_file_write(const char *path, HloStringView text);

// The same for a file that is not there yet: ALREADY_EXISTS when anything has its name, which is then left alone.
HLO_MUST_USE HloStatus hlo_file_write_new(const char *path, HloStringView text);

// The same, piece by piece. Nothing is there before hlo_file_finish, except on devices, pipes and standard output.
typedef struct HloFileWriter HloFileWriter;
// Begins; the caller ends it with hlo_file_finish or hlo_file_abandon. The path is borrowed until then.
HLO_MUST_USE HloStatus hlo_file_begin(const char *path, HloFileWriter **out);
HLO_MUST_USE HloStatus hlo_file_append(HloFileWriter *writer, HloStringView text);
// Frees the writer, whatever comes out.
HLO_MUST_USE HloStatus hlo_file_finish(HloFileWriter *writer);
// Removes what was written and frees the writer; NULL is ignored.
void hlo_file_abandon(HloFileWriter *writer);

// The text after the last `.` of the path's last part; "" when there is none. Points into `path`.
const char *hlo_file_extension(const char *path);

#endif
