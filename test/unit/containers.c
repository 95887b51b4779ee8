// Arena, vectors, maps, bit sets.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hlo/containers.h"
#include "hlo/module.h"
#include "hlo/status.h"

static void arena_memory_is_zero_after_reset(void **state) {
    (void)state;
    HloArena arena = {0};
    char *p = hlo_arena_alloc(&arena, 1000);
    memset(p, 7, 1000);
    hlo_arena_reset(&arena);
    p = hlo_arena_alloc(&arena, 1000);
    for (size_t i = 0; i < 1000; i++) assert_int_equal(p[i], 0);
    hlo_arena_free(&arena);
}

static HloStatus allocate_without_end(void *data) {
    while (true) hlo_arena_alloc(data, 1 << 20);
    return hlo_ok();
}

static void arena_limit_becomes_a_status(void **state) {
    (void)state;
    HloArena arena = {.limit_bytes = 8 << 20};
    HloStatus status = hlo_guarded((HloArena *[]){&arena, NULL}, allocate_without_end, &arena);
    assert_int_equal(hlo_status_code(status), HLO_RESOURCE_EXHAUSTED);
    hlo_status_free(status);
    hlo_arena_free(&arena);
}

static HloStatus allocate_wrapping_array(void *data) {
    hlo_arena_array(data, SIZE_MAX / 2, 16);
    return hlo_ok();
}

static void arena_refuses_sizes_that_wrap(void **state) {
    (void)state;
    HloArena arena = {0};
    HloStatus status = hlo_guarded((HloArena *[]){&arena, NULL}, allocate_wrapping_array, &arena);
    assert_int_equal(hlo_status_code(status), HLO_RESOURCE_EXHAUSTED);
    hlo_arena_free(&arena);
}

static void vec_keeps_order_over_insert_and_remove(void **state) {
    (void)state;
    HloArena arena = {0};
    HloVec vec = {0};
    int items[6];
    for (int i = 0; i < 5; i++) hlo_vec_push(&arena, &vec, &items[i]);
    hlo_vec_remove(&vec, 1);
    hlo_vec_insert(&arena, &vec, 0, &items[5]);
    const int expected[] = {5, 0, 2, 3, 4};
    assert_int_equal(vec.count, 5);
    for (size_t i = 0; i < 5; i++) assert_ptr_equal(vec.items[i], &items[expected[i]]);
    hlo_arena_free(&arena);
}

static void map_finds_what_was_put_in(void **state) {
    (void)state;
    HloArena arena = {0};
    HloMap map = {0};
    enum { COUNT = 10000 };
    for (uintptr_t i = 0; i < COUNT; i++) *hlo_map_at(&arena, &map, (void *)(i * 8)) = (void *)(i + 1);
    for (uintptr_t i = 0; i < COUNT; i++) assert_ptr_equal(hlo_map_find(&map, (void *)(i * 8)), (void *)(i + 1));
    assert_false(hlo_map_has(&map, (void *)(uintptr_t)3));
    assert_int_equal(map.count, COUNT);
    hlo_arena_free(&arena);
}

static void text_map_compares_content_with_zero_bytes(void **state) {
    (void)state;
    HloArena arena = {0};
    HloMap map = {0};
    *hlo_map_at_text(&arena, &map, "a\0b", 3, NULL) = &map;
    assert_ptr_equal(hlo_map_find_text(&map, "a\0b", 3), &map);
    assert_null(hlo_map_find_text(&map, "a\0c", 3));
    assert_null(hlo_map_find_text(&map, "a", 1));
    hlo_arena_free(&arena);
}

static void bits_are_claimed_once(void **state) {
    (void)state;
    HloArena arena = {0};
    HloBits bits = hlo_bits_new(&arena, 130);
    assert_true(hlo_bits_claim(bits, 129));
    assert_false(hlo_bits_claim(bits, 129));
    hlo_bits_remove(bits, 129);
    assert_true(hlo_bits_claim(bits, 129));
    hlo_arena_free(&arena);
}

static void edit_distance_stops_at_its_limit(void **state) {
    (void)state;
    assert_int_equal(hlo_edit_distance("algsmp", 6, "algsimp", 7, 3), 1);
    assert_int_equal(hlo_edit_distance("dce", 3, "dce", 3, 3), 0);
    assert_int_equal(hlo_edit_distance("dce", 3, "fusion", 6, 2), 3);
}

static void status_context_goes_in_front(void **state) {
    (void)state;
    HloStatus status = hlo_error_context(hlo_error(HLO_NOT_FOUND, "no %s", "pass"), "step %d", 2);
    assert_string_equal(hlo_status_message(status), "step 2: no pass");
    assert_int_equal(hlo_status_code(status), HLO_NOT_FOUND);
    hlo_status_free(status);
    assert_true(hlo_is_ok(hlo_error_context(hlo_ok(), "unused")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_memory_is_zero_after_reset),
        cmocka_unit_test(arena_limit_becomes_a_status),
        cmocka_unit_test(arena_refuses_sizes_that_wrap),
        cmocka_unit_test(vec_keeps_order_over_insert_and_remove),
        cmocka_unit_test(map_finds_what_was_put_in),
        cmocka_unit_test(text_map_compares_content_with_zero_bytes),
        cmocka_unit_test(bits_are_claimed_once),
        cmocka_unit_test(edit_distance_stops_at_its_limit),
        cmocka_unit_test(status_context_goes_in_front),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
