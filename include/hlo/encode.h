// Encodings of bytes for files that others read: gzip, base64, JSON text.
#ifndef HLO_ENCODE_H
#define HLO_ENCODE_H

#include "hlo/buffer.h"
#include "hlo/containers.h"

// Appends the bytes as one gzip member without name and time, so that equal bytes give equal files.
HLO_MUST_USE HloStatus hlo_put_gzip(HloBuffer *out, HloStringView bytes);
// Whether the bytes start as gzip does.
bool hlo_is_gzip(HloStringView bytes);
// Appends what the gzip members hold; RESOURCE_EXHAUSTED past `limit_bytes`.
HLO_MUST_USE HloStatus hlo_put_gunzip(HloBuffer *out, HloStringView bytes, size_t limit_bytes);
// Appends base64 in the standard alphabet, padded, on one line.
void hlo_put_base64(HloBuffer *out, HloStringView bytes);
// Appends a JSON string with its quotes. Bytes from 128 on stay as they are; `<` is written as an escape, so that the
// text may stand in a page's script.
void hlo_put_json_string(HloBuffer *out, HloStringView text);

#endif
