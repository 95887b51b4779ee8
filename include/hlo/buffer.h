// HloBuffer: a growing byte string, the sink of all printing.
//
// A zero-initialised buffer is empty and ready. Contents are always zero-terminated after the first append.
// A failed allocation sets `failed`, drops further appends and is reported by hlo_buffer_status, so that printers
// carry no plumbing.
#ifndef HLO_BUFFER_H
#define HLO_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "hlo/status.h"

// Takes text away from a buffer while it is still being written, so that it need not hold all of it.
typedef struct HloDrain {
    HloStatus (*take)(void *data, const char *text, size_t size);
    void *data;
    bool used;          // it has taken something
    HloStatus failure;  // the first of `take`; later text is dropped. Owned by whoever owns the drain
} HloDrain;

typedef struct HloBuffer {
    char *data;       // owned; NULL while empty
    size_t size;      // bytes in use, without the terminator
    size_t capacity;  // bytes allocated
    bool failed;      // an append did not fit into memory
    HloDrain *drain;  // borrowed; NULL: everything stays
} HloBuffer;

// Frees the contents; the buffer is empty and ready again.
void hlo_buffer_free(HloBuffer *out);
// Makes room for `more` bytes; false (and failed set) when there is no memory.
bool hlo_buffer_reserve(HloBuffer *out, size_t more);
void hlo_put_slow(HloBuffer *out, const char *data, size_t size);

// Hands over everything that a buffer with a drain holds. Writers of long texts do so when it is much and nothing behind
// it will be looked at again: positions in the buffer start anew.
enum { HLO_DRAIN_BYTES = 256 << 10 };
void hlo_buffer_drain_now(HloBuffer *out);

static inline void hlo_put(HloBuffer *out, const char *data, size_t size) {
    if (out->capacity - out->size <= size) {
        hlo_put_slow(out, data, size);
        return;
    }
    memcpy(out->data + out->size, data, size);
    out->size += size;
    out->data[out->size] = 0;
}

static inline void hlo_put_string(HloBuffer *out, const char *text) {
    hlo_put(out, text, strlen(text));
}
static inline void hlo_put_char(HloBuffer *out, char c) {
    hlo_put(out, &c, 1);
}
// A number in decimal.
void hlo_put_int(HloBuffer *out, int64_t value);
void hlo_put_uint(HloBuffer *out, uint64_t value);
// `{1,2,3}`, the form of every number list in the language.
void hlo_put_int_list(HloBuffer *out, const int64_t *values, size_t count);
// A number as "%.<digits>g" writes it (at most 17 digits).
void hlo_put_double(HloBuffer *out, double value, int digits);
// Few digits when they read back to the same value, else as many as that takes: 6 or 9 (f32), 15 or 17 (f64).
void hlo_put_f32(HloBuffer *out, float value);
void hlo_put_f64(HloBuffer *out, double value);
void hlo_put_spaces(HloBuffer *out, size_t count);
void hlo_putf(HloBuffer *out, const char *format, ...) HLO_PRINTF(2, 3);

// Success, or RESOURCE_EXHAUSTED when an append failed.
HLO_MUST_USE HloStatus hlo_buffer_status(const HloBuffer *out);

#endif
