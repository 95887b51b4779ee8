// Custom calls that the caller of the interpreter computes.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "hlo/eval.h"
#include "hlo/text.h"

// ---- calls ----------------------------------------------------------------------------------------------

// (sum of x, x reversed), and counts how often it is called.
static HloStatus sum_and_reverse(void *data, const HloInstruction *inst, const HloLiteral *const *args,
                                 HloLiteral *result) {
    int64_t n = args[0]->elem_count, sum = 0;
    (*(int *)data)++;
    if (hlo_operand_count(inst) != 1) return hlo_error(HLO_INVALID_ARGUMENT, "it wants one operand");
    for (int64_t i = 0; i < n; i++) {
        sum += hlo_literal_int(args[0], i);
        hlo_literal_set_bits(result->elements[1], n - 1 - i, hlo_literal_bits(args[0], i));
    }
    hlo_literal_set_bits(result->elements[0], 0, (uint64_t)sum);
    return hlo_ok();
}

static HloStatus refuse(void *data, const HloInstruction *inst, const HloLiteral *const *args, HloLiteral *result) {
    (void)data, (void)inst, (void)args, (void)result;
    return hlo_error(HLO_FAILED_PRECONDITION, "not today");
}

// ---- running --------------------------------------------------------------------------------------------

#define CALL_TEXT(target, attribute)                                   \
    "HloModule m\nENTRY e {\n  x = s4[3]{0:E(4)} constant({1,-2,7})\n" \
    "  ROOT c = (s4[], s4[3]{0:E(4)}) custom-call(x), custom_call_target=\"" target "\"" attribute "\n}\n"

// What the module computes with these calls, as text, or the failure's message.
static const char *evaluate(const char *text, const HloCustomCall *calls, size_t count, HloArena *arena) {
    HloModule *m;
    HloLiteral *result;
    HloBuffer out = {0};
    HloStatus status = hlo_parse_module(hlo_view(text), NULL, &m);
    if (!hlo_is_ok(status)) fail_msg("%s", hlo_status_message(status));
    HloEvalOptions options = {.custom_calls = calls, .custom_call_count = count};
    status = hlo_eval(m, &options, arena, NULL, 0, &result);
    if (hlo_is_ok(status))
        hlo_put_literal(&out, result);
    else
        hlo_put_string(&out, hlo_status_message(status));
    hlo_status_free(status);
    const char *said = hlo_arena_string(arena, out.data, out.size);
    hlo_buffer_free(&out);
    hlo_module_free(m);
    return said;
}

static void given_call_computes_all_parts_of_a_tuple(void **state) {
    (void)state;
    HloArena arena = {0};
    int calls = 0;
    HloCustomCall given[] = {{"other", refuse, NULL}, {"mine", sum_and_reverse, &calls}, {"mine", refuse, NULL}};
    assert_string_equal(evaluate(CALL_TEXT("mine", ""), given, 3, &arena), "( 6, {7, -2, 1} )");
    assert_int_equal(calls, 1);
    hlo_arena_free(&arena);
}

static void given_call_goes_before_a_known_one(void **state) {
    (void)state;
    HloArena arena = {0};
    int calls = 0;
    const char *sharding = CALL_TEXT("Sharding", ", sharding={{replicated}, {replicated}}");
    HloCustomCall given = {"Sharding", sum_and_reverse, &calls};
    assert_string_equal(evaluate(sharding, &given, 1, &arena), "( 6, {7, -2, 1} )");
    hlo_arena_free(&arena);
}

static void given_call_that_fails_is_named(void **state) {
    (void)state;
    HloArena arena = {0};
    HloCustomCall given = {"mine", refuse, NULL};
    assert_string_equal(evaluate(CALL_TEXT("mine", ""), &given, 1, &arena), "evaluating %c in %e: not today");
    assert_string_equal(evaluate(CALL_TEXT("another", ""), &given, 1, &arena),
                        "evaluating %c in %e: custom call target \"another\" is not known");
    hlo_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_call_computes_all_parts_of_a_tuple),
        cmocka_unit_test(given_call_goes_before_a_known_one),
        cmocka_unit_test(given_call_that_fails_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
