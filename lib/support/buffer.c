// The growing byte string: capacity doubles, so appending is linear in total.

#include "hlo/buffer.h"

#include <stdio.h>
#include <stdlib.h>

void hlo_buffer_free(HloBuffer *out) {
    free(out->data);
    *out = (HloBuffer){0};
}

bool hlo_buffer_reserve(HloBuffer *out, size_t more) {
    if (out->failed) return false;
    if (out->capacity - out->size > more) return true;
    size_t need = out->size + more + 1;
    size_t capacity = out->capacity < 128 ? 256 : out->capacity * 2;
    if (capacity < need) capacity = need;
    char *data = need > more ? realloc(out->data, capacity) : NULL;
    if (!data) {
        out->failed = true;
        return false;
    }
    out->data = data;
    out->capacity = capacity;
    return true;
}

void hlo_buffer_drain_now(HloBuffer *out) {
    HloDrain *drain = out->drain;
    if (hlo_is_ok(drain->failure)) drain->failure = drain->take(drain->data, out->data, out->size);
    drain->used = true;
    out->size = 0;
    out->data[0] = 0;
}

void hlo_put_slow(HloBuffer *out, const char *data, size_t size) {
    if (!hlo_buffer_reserve(out, size)) return;
    if (size) memcpy(out->data + out->size, data, size);
    out->size += size;
    out->data[out->size] = 0;
}

// Two digits at a time: a division costs more than everything else here.
static const char pairs[] = "000102030405060708091011121314151617181920212223242526272829303132333435363738394041424344"
                            "45464748495051525354555657"
                            "585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

static size_t digit_count(uint64_t value) {
    size_t count = 1;
    for (; value >= 10000; value /= 10000) count += 4;
    return count + (value >= 10) + (value >= 100) + (value >= 1000);
}

void hlo_put_uint(HloBuffer *out, uint64_t value) {
    size_t count = digit_count(value);
    if (out->capacity - out->size <= count && !hlo_buffer_reserve(out, count)) return;
    out->size += count;
    char *at = out->data + out->size;
    *at = 0;
    for (; value >= 100; value /= 100) memcpy(at -= 2, pairs + 2 * (value % 100), 2);
    if (value >= 10)
        memcpy(at - 2, pairs + 2 * value, 2);
    else
        at[-1] = (char)('0' + value);
}

void hlo_put_int(HloBuffer *out, int64_t value) {
    if (value < 0) hlo_put_char(out, '-');
    hlo_put_uint(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void hlo_put_int_list(HloBuffer *out, const int64_t *values, size_t count) {
    hlo_put_char(out, '{');
    for (size_t i = 0; i < count; i++) {
        if (i) hlo_put_char(out, ',');
        hlo_put_int(out, values[i]);
    }
    hlo_put_char(out, '}');
}

void hlo_put_spaces(HloBuffer *out, size_t count) {
    if (!hlo_buffer_reserve(out, count)) return;
    memset(out->data + out->size, ' ', count);
    out->size += count;
    out->data[out->size] = 0;
}

void hlo_putf(HloBuffer *out, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (size > 0 && hlo_buffer_reserve(out, (size_t)size)) {
        vsnprintf(out->data + out->size, (size_t)size + 1, format, again);
        out->size += (size_t)size;
    }
    va_end(again);
}

HloStatus hlo_buffer_status(const HloBuffer *out) {
    return out->failed ? hlo_out_of_memory() : hlo_ok();
}
