// gzip through zlib, base64, JSON strings.

#include "hlo/encode.h"

#include <zlib.h>

enum { GZIP_FORM = 15 + 16, MEMORY_LEVEL = 8 };  // the largest window in a gzip member, zlib's default memory
enum { STEP_BYTES = 1 << 30 };                   // what one call of zlib is given: its counts have 32 bits

// Gives zlib the next bytes when it has none left.
static void feed(z_stream *stream, HloStringView *bytes) {
    if (stream->avail_in || !bytes->size) return;
    size_t size = bytes->size < STEP_BYTES ? bytes->size : STEP_BYTES;
    stream->next_in = (Bytef *)(uintptr_t)bytes->data;
    stream->avail_in = (uInt)size;
    bytes->data += size;
    bytes->size -= size;
}

// Feeds all bytes; zlib asks for room through `out`.
static int deflate_all(z_stream *stream, HloBuffer *out, HloStringView bytes) {
    int result = Z_OK;
    while (result == Z_OK || result == Z_BUF_ERROR) {
        feed(stream, &bytes);
        if (!hlo_buffer_reserve(out, 1 << 16)) return Z_MEM_ERROR;
        size_t room = out->capacity - out->size - 1;
        stream->next_out = (Bytef *)out->data + out->size;
        stream->avail_out = room < STEP_BYTES ? (uInt)room : STEP_BYTES;
        uInt before = stream->avail_out;
        result = deflate(stream, bytes.size ? Z_NO_FLUSH : Z_FINISH);
        out->size += before - stream->avail_out;
        out->data[out->size] = 0;
    }
    return result;
}

HloStatus hlo_put_gzip(HloBuffer *out, HloStringView bytes) {
    z_stream stream = {0};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_FORM, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        return hlo_out_of_memory();
    }
    int result = deflate_all(&stream, out, bytes);
    deflateEnd(&stream);
    return result == Z_STREAM_END ? hlo_buffer_status(out) : hlo_out_of_memory();
}

bool hlo_is_gzip(HloStringView bytes) {
    return bytes.size > 2 && (uint8_t)bytes.data[0] == 0x1f && (uint8_t)bytes.data[1] == 0x8b;
}

// Inflates until the bytes end. Members may stand one behind the other.
static HloStatus inflate_all(z_stream *stream, HloBuffer *out, HloStringView bytes, size_t limit_bytes) {
    size_t start = out->size;
    int result = Z_OK;
    while (result == Z_OK) {
        feed(stream, &bytes);
        if (!hlo_buffer_reserve(out, 1 << 16)) return hlo_out_of_memory();
        size_t room = out->capacity - out->size - 1;
        stream->next_out = (Bytef *)out->data + out->size;
        stream->avail_out = room < STEP_BYTES ? (uInt)room : STEP_BYTES;
        uInt before = stream->avail_out;
        result = inflate(stream, Z_NO_FLUSH);
        out->size += before - stream->avail_out;
        out->data[out->size] = 0;
        if (out->size - start > limit_bytes)
            return hlo_error(HLO_RESOURCE_EXHAUSTED, "the compressed file holds more than %zu bytes", limit_bytes);
        bool more = stream->avail_in || bytes.size;
        if (result == Z_STREAM_END && more) result = inflateReset(stream);
    }
    return result == Z_STREAM_END ? hlo_ok() : hlo_error(HLO_DATA_LOSS, "the compressed file is damaged or cut short");
}

HloStatus hlo_put_gunzip(HloBuffer *out, HloStringView bytes, size_t limit_bytes) {
    z_stream stream = {0};
    if (inflateInit2(&stream, GZIP_FORM) != Z_OK) return hlo_out_of_memory();
    HloStatus status = inflate_all(&stream, out, bytes, limit_bytes);
    inflateEnd(&stream);
    return status;
}

void hlo_put_base64(HloBuffer *out, HloStringView bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t k = 0; k < bytes.size; k += 3) {
        size_t left = bytes.size - k;
        uint32_t word = (uint32_t)(uint8_t)bytes.data[k] << 16;
        if (left > 1) word |= (uint32_t)(uint8_t)bytes.data[k + 1] << 8;
        if (left > 2) word |= (uint8_t)bytes.data[k + 2];
        char four[4] = {digits[word >> 18], digits[word >> 12 & 63], left > 1 ? digits[word >> 6 & 63] : '=',
                        left > 2 ? digits[word & 63] : '='};
        hlo_put(out, four, 4);
    }
}

void hlo_put_json_string(HloBuffer *out, HloStringView text) {
    hlo_put_char(out, '"');
    for (size_t k = 0; k < text.size; k++) {
        unsigned char c = (unsigned char)text.data[k];
        if (c == '"' || c == '\\')
            hlo_putf(out, "\\%c", c);
        else if (c == '\n')
            hlo_put_string(out, "\\n");
        else if (c < ' ' || c == '<')
            hlo_putf(out, "\\u%04x", c);
        else
            hlo_put_char(out, (char)c);
    }
    hlo_put_char(out, '"');
}
