// Protocol buffers that break rules: each is answered with a status that names the field, in bounded memory and stack.

#include "hlo/proto.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "hlo/text.h"

#define SCALAR "shape { element_type: F32 layout { } } "
#define PARAMETER "instructions { name: 'p' opcode: 'parameter' " SCALAR "} "
#define SIGNATURE                                                                                               \
    "host_program_shape { parameters { element_type: F32 layout { } } result { element_type: F32 layout { } } " \
    "parameter_names: 'p0' } "
// A module of one computation with a parameter and more.
#define MODULE(more) "name: 'm' computations { name: 'c' " PARAMETER more " } " SIGNATURE

typedef struct Case {
    const char *text;
    const char *message;  // a part of it
} Case;

static HloStatus read_text(const char *text, HloModule **out) {
    return hlo_proto_read_module(hlo_view(text), HLO_PROTO_TEXT, NULL, out, NULL);
}

static void expect_failure(HloStatus status, const HloModule *m, const char *what, const char *message) {
    if (hlo_is_ok(status) || !strstr(hlo_status_message(status), message)) {
        print_error("%s\n    gives   %s\n    and not %s\n", what, hlo_status_message(status), message);
        fail();
    }
    assert_null(m);
    hlo_status_free(status);
}

static void expect_failures(const Case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        HloModule *m = NULL;
        HloStatus status = read_text(cases[i].text, &m);
        expect_failure(status, m, cases[i].text, cases[i].message);
    }
}

// ---- modules ---------------------------------------------------------------------------------------------

static void module_without_parts_names_what_is_missing(void **state) {
    (void)state;
    static const Case cases[] = {
        {"", "there is no module in it"},
        {"name: 'm'", "No program shape found"},
        {"name: 'm' computations { name: 'c' " PARAMETER "}", "No program shape found"},
        {"name: 'm' computations { name: 'c' } " SIGNATURE, "computations[0] (c): the computation has no instructions"},
        {MODULE("") "entry_computation_id: 7", "entry_computation_id: there is no computation 7"},
        {MODULE("") "computations { name: 'c' id: 1 " PARAMETER "}", "Computation name is not unique: c"},
        {MODULE("") "computations { name: 'd' " PARAMETER "}", "Computation id is not unique: 0"},
        {MODULE("") "computations { name: 'd' id: 1 " PARAMETER "}", "Instruction name is not unique: p"},
        {MODULE("root_id: 5"), "root_id 5: Root instruction not found"},
        {"name: 'm' computations { name: 'c' " PARAMETER "} host_program_shape { result { element_type: F32 } }",
         "host_program_shape has 0 parameters, but the entry computation 1"},
        {MODULE("") "buffer_donor { entries { parameter_number: 4 } }", "buffer_donor: entries[0]: parameter number 4"},
        {MODULE("") "input_output_alias { entries { output_shape_index: 1 } }", "input_output_alias: entries[0]"},
        {MODULE("") "schedule { }", "missing from HLO schedule"},
        {MODULE("") "schedule { sequences { value { instruction_ids: 3 } } }",
         "No instruction exists in HLO computation"},
    };
    expect_failures(cases, HLO_COUNT(cases));
}

static void instruction_with_bad_edges_names_the_field(void **state) {
    (void)state;
    static const Case cases[] = {
        {MODULE("instructions { name: 'n' opcode: 'negate' id: 1 operand_ids: 9 " SCALAR "}"), "operand_ids[0]"},
        {MODULE("instructions { name: 'n' opcode: 'negate' id: 1 operand_ids: 1 " SCALAR "}"), "operand_ids[0]"},
        {MODULE("instructions { name: 'n' opcode: 'negate' id: 1 " SCALAR "}"), "expects 1 operands, but has 0"},
        {MODULE("instructions { name: 'n' opcode: 'negate' operand_ids: 0 " SCALAR "}"), "id 0 stands twice"},
        {MODULE("instructions { name: 'n' opcode: 'negate' id: -1 operand_ids: 0 " SCALAR "}"), "negative id: -1"},
        {MODULE("instructions { name: 'p' opcode: 'negate' id: 1 operand_ids: 0 " SCALAR "}"), "name is not unique: p"},
        {MODULE("instructions { opcode: 'negate' id: 1 operand_ids: 0 " SCALAR "}"), "Instruction has no name"},
        {MODULE("instructions { name: 'n' opcode: 'negat' id: 1 " SCALAR "}"),
         "Unknown opcode: negat; did you mean negate?"},
        {MODULE("instructions { name: 'n' opcode: 'negate' id: 1 operand_ids: 0 }"), "shape: there is no shape"},
        {MODULE("instructions { name: 'n' opcode: 'negate' id: 1 operand_ids: 0 control_predecessor_ids: 4 " SCALAR
                "}"),
         "control_predecessor_ids[0]"},
        {MODULE("instructions { name: 'n' opcode: 'call' id: 1 operand_ids: 0 called_computation_ids: 0 " SCALAR "}"),
         "called_computation_ids[0]"},
        {MODULE("instructions { name: 'n' opcode: 'call' id: 1 operand_ids: 0 " SCALAR "}"),
         "call should have 1 called computation but has 0"},
        {MODULE("instructions { name: 'q' opcode: 'parameter' id: 1 " SCALAR "}"), "already allocated"},
        {MODULE("instructions { name: 'q' opcode: 'parameter' id: 1 parameter_number: 4611686018427387904 " SCALAR "}"),
         "Invalid parameter number. Expected [0, 2)"},
    };
    expect_failures(cases, HLO_COUNT(cases));
}

static void instruction_with_bad_attributes_names_the_field(void **state) {
    (void)state;
    static const Case cases[] = {
        {MODULE("instructions { name: 'n' opcode: 'gather' id: 1 operand_ids: 0 operand_ids: 0 " SCALAR "}"),
         "gather needs gather_dimension_numbers"},
        {MODULE("instructions { name: 'n' opcode: 'pad' id: 1 operand_ids: 0 operand_ids: 0 " SCALAR "}"),
         "pad needs padding_config"},
        {MODULE("instructions { name: 'n' opcode: 'compare' id: 1 operand_ids: 0 operand_ids: 0 comparison_direction: "
                "'XX' " SCALAR "}"),
         "Unknown direction: 'XX'"},
        {MODULE("instructions { name: 'n' opcode: 'fft' id: 1 operand_ids: 0 fft_type: 17 " SCALAR "}"),
         "unknown value 17 of fft_type"},
        {MODULE("instructions { name: 'n' opcode: 'iota' id: 1 " SCALAR "}"), "exactly one dimensions, found 0"},
        {MODULE("instructions { name: 'n' opcode: 'negate' id: 1 operand_ids: 0 sharding { type: OTHER } " SCALAR "}"),
         "sharding: tile_assignment_dimensions"},
        {MODULE("instructions { name: 'n' opcode: 'negate' id: 1 operand_ids: 0 sharding { type: 99 } " SCALAR "}"),
         "unknown sharding type 99"},
        {MODULE("instructions { name: 'n' opcode: 'negate' id: 1 operand_ids: 0 sharding { type: OTHER "
                "tile_assignment_dimensions: 2 iota_reshape_dims: 2 iota_transpose_perm: 4 } " SCALAR "}"),
         "no permutation"},
        {MODULE("instructions { name: 'n' opcode: 'negate' id: 1 operand_ids: 0 original_value { elements { "
                "shape_index: 3 } } " SCALAR "}"),
         "original_value: elements[0]"},
        {MODULE("instructions { name: 'n' opcode: 'get-tuple-element' id: 1 operand_ids: 0 " SCALAR "}"),
         "GTE operand must be tuple"},
        {MODULE("instructions { name: 'n' opcode: 'negate' id: 1 operand_ids: 0 metadata { metadata_payload { id: 3 } "
                "} " SCALAR "}"),
         "Invalid payload id 3 with payloads size 0"},
    };
    expect_failures(cases, HLO_COUNT(cases));
}

static void shape_that_is_none_is_refused(void **state) {
    (void)state;
#define WITH_SHAPE(shape) MODULE("instructions { name: 'n' opcode: 'negate' id: 1 operand_ids: 0 shape { " shape " } }")
    static const Case cases[] = {
        {WITH_SHAPE("element_type: 99"), "Invalid element type 99"},
        {WITH_SHAPE("element_type: F32 dimensions: -4"), "Negative dimension at index 0: -4"},
        {WITH_SHAPE("element_type: F32 dimensions: 4294967296 dimensions: 4294967296"), "Dimensions overflow"},
        {WITH_SHAPE("element_type: F32 dimensions: 4 is_dynamic_dimension: [true, false]"), "is_dynamic_dimension"},
        {WITH_SHAPE("element_type: F32 dimensions: 4 layout { }"), "minor_to_major field contains 0 elements"},
        {WITH_SHAPE("element_type: F32 dimensions: [4, 4] layout { minor_to_major: [1, 1] }"), "duplicate values"},
        {WITH_SHAPE("element_type: F32 dimensions: 4 layout { minor_to_major: 7 }"), "out-of-bounds value 7"},
        {WITH_SHAPE("element_type: TUPLE layout { }"), "should not have a layout"},
        {WITH_SHAPE("element_type: BUFFER"), "Buffer shape must have exactly one tuple shape"},
        {WITH_SHAPE("element_type: TUPLE tuple_shapes { element_type: F32 } tuple_shapes { }"),
         "tuple_shapes[1]: Invalid element type 0"},
    };
#undef WITH_SHAPE
    expect_failures(cases, HLO_COUNT(cases));
}

static void literal_of_another_size_is_refused(void **state) {
    (void)state;
#define WITH_LITERAL(literal)                                                                             \
    MODULE("instructions { name: 'n' opcode: 'constant' id: 1 shape { element_type: F32 dimensions: 2 } " \
           "literal { " literal " } }")
#define SHAPE_OF_2 "shape { element_type: F32 dimensions: 2 layout { minor_to_major: 0 } } "
    static const Case cases[] = {
        {WITH_LITERAL(""), "literal: LiteralProto has no shape"},
        {WITH_LITERAL("shape { element_type: F32 dimensions: 2 }"), "LiteralProto has no layout"},
        {WITH_LITERAL(SHAPE_OF_2 "f32s: 1"), "Expected 2 elements in LiteralProto repeated field, has 1"},
        {WITH_LITERAL(SHAPE_OF_2 "f32s: [1, 2, 3]"), "Expected 2 elements in LiteralProto repeated field, has 3"},
        {WITH_LITERAL("shape { element_type: S8 dimensions: 2 layout { minor_to_major: 0 } } s8s: 'a'"), "has 1 bytes"},
        {WITH_LITERAL("shape { element_type: F32 dimensions: 1099511627776 layout { minor_to_major: 0 } }"), "has 0"},
        {WITH_LITERAL("shape { element_type: F32 dimensions: 1 layout { minor_to_major: 0 } } f32s: 1"),
         "the literal has shape f32[1] where f32[2] is expected"},
        {WITH_LITERAL("shape { element_type: TUPLE tuple_shapes { element_type: F32 } }"), "Expected 1 tuple elements"},
        {WITH_LITERAL(SHAPE_OF_2 "f32s: [1, 2] dynamic_sizes: 3"), "dynamic_sizes[0] = 3 is out of range [0, 2]"},
    };
#undef WITH_LITERAL
#undef SHAPE_OF_2
    expect_failures(cases, HLO_COUNT(cases));
}

// ---- the text form ---------------------------------------------------------------------------------------

static void text_that_cannot_be_read_names_the_place(void **state) {
    (void)state;
    static const Case cases[] = {
        {"hlo_module {\n  nme: 'm'\n}",
         "<proto>:2:3: error: Message type \"xla.HloModuleProto\" has no field named \"nme\"."},
        {"hlo_module { name: 'a' name: 'b' }", "Non-repeated field \"name\" is specified multiple times."},
        {"hlo_module { id: 9223372036854775808 }", "integer out of range for field \"id\""},
        {"hlo_module { id: 09 }", "expected an integer for field \"id\""},
        {"hlo_module { is_dynamic: maybe }", "expected true or false"},
        {"hlo_module { name: 'a\\q' }", "malformed escape"},
        {"hlo_module { name: 'a }", "the string does not end"},
        {"hlo_module { name: '\\377' }", "not valid UTF-8"},
        {"hlo_module { name 'a' }", "expected ':' behind field \"name\""},
        {"hlo_module { name: 'a'", "does not end"},
        {"hlo_module { name: 'a' >", "expected a field name"},
        {"hlo_module { computations [ { name: 'c' } ", "expected ',' or ']'"},
        {"hlo_module { dynamic_parameter_binding { a: [", "the field does not end"},
        {"hlo_module { payloads: 3 }", "expected a string"},
        {"hlo_module { computations { instructions { distribution: RNG_WEIRD } } }",
         "unknown enumeration value of \"RNG_WEIRD\""},
        {"hlo_module { computations { instructions { iota_collective_device_list { } collective_device_list { } } } }",
         "another member of the same oneof"},
    };
    expect_failures(cases, HLO_COUNT(cases));
}

static void text_nested_too_deep_is_refused(void **state) {
    (void)state;
    HloBuffer text = {0};
    hlo_put_string(&text, "hlo_module { host_program_shape { result { ");
    for (int i = 0; i < 100000; i++) hlo_put_string(&text, "tuple_shapes { ");
    HloModule *m = NULL;
    HloStatus status = read_text(text.data, &m);
    hlo_buffer_free(&text);
    expect_failure(status, m, "deep text", "messages are nested too deep");
}

// ---- the binary form -------------------------------------------------------------------------------------

static void expect_binary_failure(const char *bytes, size_t size, const char *message) {
    HloModule *m = NULL;
    HloStatus status = hlo_proto_read_module((HloStringView){bytes, size}, HLO_PROTO_BINARY, NULL, &m, NULL);
    expect_failure(status, m, "bytes", message);
}

static void bytes_that_cannot_be_read_name_the_field(void **state) {
    (void)state;
#define EXPECT(bytes, message) expect_binary_failure(bytes, sizeof bytes - 1, message)
    EXPECT("\x0a\xff\xff\xff\xff\x0f", "hlo_module: the length reaches past what encloses it");
    EXPECT("\x0a\x03\x0a\x7fx", "hlo_module.name: the length reaches past what encloses it");
    EXPECT("\x0a\x04\x0a\x02\xff\xfe", "hlo_module.name: the string is not valid UTF-8");
    EXPECT("\x0a\x03\x0a\x01\0", "zero byte");
    EXPECT("\x0a\x02\x28\xff", "hlo_module.id: the number is cut short");
    EXPECT("\x0a\x0c\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "hlo_module.id: the number is cut short");
    EXPECT("\x0a\x01\x03", "a tag has no valid field number");
    EXPECT("\x0a\x02\x0b\x0c", "a tag has no valid wire type");
    EXPECT("\x0a\x02\x08\x01", "hlo_module.name: the wire type does not belong to this field");
    EXPECT("\x0a", "the length is cut short");
#undef EXPECT
}

// Every cut of a good module is an error or another module, but never more than that.
static void bytes_cut_anywhere_come_back(void **state) {
    (void)state;
    HloModule *m = NULL;
    static const char text[] = MODULE("instructions { name: 'n' opcode: 'negate' id: 1 operand_ids: 0 " SCALAR
                                      "sharding { tile_assignment_devices: 0 } metadata { op_name: 'x' } } root_id: 1");
    assert_true(hlo_is_ok(read_text(text, &m)));
    HloBuffer bytes = {0};
    assert_true(hlo_is_ok(hlo_proto_write_module(m, HLO_PROTO_BINARY, &bytes)));
    hlo_module_free(m);
    for (size_t size = 0; size < bytes.size; size++) {
        m = NULL;
        hlo_status_free(hlo_proto_read_module((HloStringView){bytes.data, size}, HLO_PROTO_BINARY, NULL, &m, NULL));
        hlo_module_free(m);
    }
    hlo_buffer_free(&bytes);
}

// 100,000 levels of tuple_shapes, written from the inside: each level puts its tag and length in front.
static void bytes_nested_too_deep_are_refused(void **state) {
    (void)state;
    enum { LEVELS = 100000, MOST = 6 * LEVELS };
    unsigned char *bytes = malloc(MOST), *at = bytes + MOST;
    for (int level = 0; level < LEVELS; level++) {
        size_t size = (size_t)(bytes + MOST - at);
        unsigned char length[5];
        size_t count = 0;
        for (; size >= 0x80; size >>= 7) length[count++] = (unsigned char)(size | 0x80);
        length[count++] = (unsigned char)size;
        at -= count;
        memcpy(at, length, count);
        *--at = level < LEVELS - 3 ? 0x22 : level == LEVELS - 3 ? 0x12 : level == LEVELS - 2 ? 0x22 : 0x0a;
    }
    expect_binary_failure((const char *)at, (size_t)(bytes + MOST - at), "messages are nested too deep");
    free(bytes);
}

// ---- what is kept ----------------------------------------------------------------------------------------

static void fields_without_place_in_a_module_are_written_again(void **state) {
    (void)state;
    static const char text[] =
        MODULE("") "device_assignment { replica_count: 1 computation_count: 1 computation_devices { "
                   "replica_device_ids: 3 } } device_type: 'cpu' cross_program_prefetches { offset: 5 }";
    HloModule *m = NULL;
    assert_true(hlo_is_ok(read_text(text, &m)));
    HloModule *copy = hlo_module_clone(m);
    HloBuffer out = {0};
    assert_true(hlo_is_ok(hlo_proto_write_module(copy, HLO_PROTO_TEXT, &out)));
    assert_non_null(strstr(out.data, "replica_device_ids: 3"));
    assert_non_null(strstr(out.data, "device_type: \"cpu\""));
    assert_non_null(strstr(out.data, "offset: 5"));
    hlo_buffer_free(&out);
    hlo_module_free(copy);
    hlo_module_free(m);
}

static void fields_that_are_left_out_are_told(void **state) {
    (void)state;
    static const char text[] =
        MODULE("instructions { name: 'n' opcode: 'negate' id: 1 operand_ids: 0 epsilon: 2 " SCALAR "} root_id: 1");
    HloModule *m = NULL;
    HloBuffer notes = {0};
    HloProtoRead options = {.notes = &notes};
    assert_true(hlo_is_ok(hlo_proto_read_module(hlo_view(text), HLO_PROTO_TEXT, &options, &m, NULL)));
    assert_string_equal(notes.data, "field epsilon of negate is left out\n");
    hlo_buffer_free(&notes);
    hlo_module_free(m);
}

static void text_that_is_no_utf8_is_not_written(void **state) {
    (void)state;
    HloModule *m = NULL;
    HloBuffer out = {0};
    static const char text[] = "HloModule m\nENTRY e { ROOT p = f32[] parameter(0), metadata={op_name=\"\\377\"} }";
    assert_true(hlo_is_ok(hlo_parse_module(hlo_view(text), NULL, &m)));
    HloStatus status = hlo_proto_write_module(m, HLO_PROTO_BINARY, &out);
    assert_non_null(strstr(hlo_status_message(status), "computations[0].instructions[0].metadata.op_name"));
    hlo_status_free(status);
    hlo_buffer_free(&out);
    hlo_module_free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(module_without_parts_names_what_is_missing),
        cmocka_unit_test(instruction_with_bad_edges_names_the_field),
        cmocka_unit_test(instruction_with_bad_attributes_names_the_field),
        cmocka_unit_test(shape_that_is_none_is_refused),
        cmocka_unit_test(literal_of_another_size_is_refused),
        cmocka_unit_test(text_that_cannot_be_read_names_the_place),
        cmocka_unit_test(text_nested_too_deep_is_refused),
        cmocka_unit_test(bytes_that_cannot_be_read_name_the_field),
        cmocka_unit_test(bytes_cut_anywhere_come_back),
        cmocka_unit_test(bytes_nested_too_deep_are_refused),
        cmocka_unit_test(fields_without_place_in_a_module_are_written_again),
        cmocka_unit_test(fields_that_are_left_out_are_told),
        cmocka_unit_test(text_that_is_no_utf8_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
