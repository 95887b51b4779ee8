// gzip, base64 and JSON strings.

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>
#include <zlib.h>

#include "hlo/encode.h"

static void encode_base64_pads(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"\xff\xfe\xfd", "//79"}};
    for (size_t k = 0; k < HLO_COUNT(cases); k++) {
        HloBuffer out = {0};
        hlo_put_string(&out, "");
        hlo_put_base64(&out, hlo_view(cases[k][0]));
        assert_string_equal(out.data ? out.data : "", cases[k][1]);
        hlo_buffer_free(&out);
    }
}

static void encode_json_string_is_safe_in_a_script(void **state) {
    (void)state;
    HloBuffer out = {0};
    hlo_put_json_string(&out, hlo_view("a\"\\\n\x01</script>"));
    assert_string_equal(out.data, "\"a\\\"\\\\\\n\\u0001\\u003c/script>\"");
    hlo_buffer_free(&out);
}

static void unpack(const HloBuffer *packed, char *out, size_t size) {
    z_stream stream = {.next_in = (Bytef *)packed->data,
                       .avail_in = (uInt)packed->size,
                       .next_out = (Bytef *)out,
                       .avail_out = (uInt)size};
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    assert_int_equal(stream.total_out, size);
    inflateEnd(&stream);
}

static void encode_gzip_unpacks_to_the_same_bytes(void **state) {
    (void)state;
    size_t size = 3 << 20;
    char *bytes = malloc(size), *again = malloc(size);
    for (size_t k = 0; k < size; k++) bytes[k] = (char)(k * k >> 7);
    HloBuffer a = {0}, b = {0};
    assert_true(hlo_is_ok(hlo_put_gzip(&a, (HloStringView){bytes, size})));
    assert_true(hlo_is_ok(hlo_put_gzip(&b, (HloStringView){bytes, size})));
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    unpack(&a, again, size);
    assert_memory_equal(bytes, again, size);
    hlo_buffer_free(&b);
    b = (HloBuffer){0};
    assert_true(hlo_is_ok(hlo_put_gzip(&b, (HloStringView){"", 0})));
    unpack(&b, again, 0);
    hlo_buffer_free(&a);
    hlo_buffer_free(&b);
    free(bytes);
    free(again);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encode_base64_pads),
        cmocka_unit_test(encode_json_string_is_safe_in_a_script),
        cmocka_unit_test(encode_gzip_unpacks_to_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
