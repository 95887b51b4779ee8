// The printer on modules built by hand: what no text can make, and what needs no reader.

#include "hlo/text.h"
#include "module_fixture.h"

static const HloShape *pair_shape(Fixture *f) {
    const HloShape *f32 = hlo_shape_scalar(&f->m->shapes, HLO_F32);
    return hlo_shape_tuple(&f->m->shapes, (const HloShape *[]){f32, f32}, 2);
}

static HloInstruction *parameter(Fixture *f, HloComputation *comp, const HloShape *shape, const char *name) {
    HloInstruction *inst = hlo_inst_new(f->m, HLO_OP_PARAMETER, shape, NULL, 0);
    hlo_set_int(f->m, inst, HLO_ATTR_PARAMETER_NUMBER, (int64_t)hlo_parameter_count(comp));
    return hlo_computation_add(comp, inst, name);
}

static HloInstruction *element(Fixture *f, HloInstruction *tuple, int64_t index) {
    const HloShape *shape = tuple->shape->elements[index];
    HloInstruction *inst = hlo_inst_new(f->m, HLO_OP_GET_TUPLE_ELEMENT, shape, &tuple, 1);
    hlo_set_int(f->m, inst, HLO_ATTR_INDEX, index);
    return hlo_computation_add(f->comp, inst, NULL);
}

static HloInstruction *add(Fixture *f, HloInstruction *a, HloInstruction *b) {
    HloInstruction *inst = hlo_inst_new(f->m, HLO_OP_ADD, a->shape, (HloInstruction *[]){a, b}, 2);
    return hlo_computation_add(f->comp, inst, NULL);
}

static void expect(Fixture *f, const char *want) {
    assert_true(hlo_is_ok(hlo_buffer_status(&f->out)));
    assert_string_equal(f->out.data, want);
    f->out.size = 0;
}

static void build_sum_of_pair(Fixture *f) {
    HloInstruction *p = parameter(f, f->comp, pair_shape(f), "p.1");
    HloInstruction *first = element(f, p, 0);
    HloInstruction *second = element(f, p, 1);
    hlo_computation_set_root(f->comp, add(f, first, second));
    hlo_module_set_entry(f->m, f->comp);
}

static void print_module_dump_form_hides_tuple_elements(void **state) {
    Fixture *f = *state;
    build_sum_of_pair(f);
    HloPrintOptions options = hlo_print_dump();
    hlo_print_module(f->m, &options, &f->out);
    expect(f, "HloModule m, entry_computation_layout={((f32[], f32[]))->f32[]}\n\n"
              "ENTRY %main (p.1: (f32[], f32[])) -> f32[] {\n"
              "  %p.1 = (f32[], f32[]) parameter(0)\n"
              "  ROOT %add = f32[] add(%p.1#0, %p.1#1)\n"
              "}\n\n");
}

static HloStatus take(void *data, const char *text, size_t size) {
    hlo_put(data, text, size);
    return hlo_ok();
}

// Far more text than a buffer holds before it hands over, with shapes that come again and again.
static void print_module_through_a_drain_gives_the_same_text(void **state) {
    Fixture *f = *state;
    HloPrintOptions options = hlo_print_default();
    HloInstruction *sum = parameter(f, f->comp, hlo_shape_scalar(&f->m->shapes, HLO_F32), "p");
    HloInstruction *other = parameter(f, f->comp, hlo_shape_scalar(&f->m->shapes, HLO_F64), "q");
    for (int k = 0; k < 20000; k++) {
        sum = add(f, sum, sum);
        other = add(f, other, other);
    }
    hlo_computation_set_root(f->comp, sum);
    hlo_module_set_entry(f->m, f->comp);
    hlo_print_module(f->m, &options, &f->out);
    HloBuffer taken = {0}, rest = {0};
    HloDrain drain = {.take = take, .data = &taken};
    rest.drain = &drain;
    hlo_print_module(f->m, &options, &rest);
    assert_true(drain.used);
    assert_true(rest.size < f->out.size / 2);
    hlo_put(&taken, rest.data, rest.size);
    assert_true(hlo_is_ok(hlo_buffer_status(&taken)));
    assert_string_equal(taken.data, f->out.data);
    hlo_buffer_free(&taken);
    hlo_buffer_free(&rest);
}

static void print_computation_alone_has_no_entry_word(void **state) {
    Fixture *f = *state;
    build_sum_of_pair(f);
    HloPrintOptions options = hlo_print_short();
    hlo_print_computation(f->comp, &options, &f->out);
    expect(f, "main {\n"
              "  p.1 = (f32[], f32[]) parameter(0)\n"
              "  get-tuple-element = f32[] get-tuple-element(p.1), index=0\n"
              "  get-tuple-element.1 = f32[] get-tuple-element(p.1), index=1\n"
              "  ROOT add = f32[] add(get-tuple-element, get-tuple-element.1)\n"
              "}");
}

static void print_instruction_canonical_has_no_names(void **state) {
    Fixture *f = *state;
    build_sum_of_pair(f);
    HloPrintOptions options = hlo_print_canonical();
    hlo_print_instruction(f->comp->root, &options, &f->out);
    expect(f, "f32[] add(f32[], f32[])");
}

static void print_canonical_names_spare_control_predecessors(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, f->comp, hlo_shape_scalar(&f->m->shapes, HLO_F32), "p");
    HloInstruction *sum = add(f, p, p);
    hlo_add_control_edge(p, sum);
    hlo_computation_set_root(f->comp, sum);
    HloPrintOptions options = hlo_print_default();
    options.canonical_names = true;
    hlo_print_computation(f->comp, &options, &f->out);
    expect(f, "%main (p: f32[]) -> f32[] {\n"
              "  tmp_0 = f32[] parameter(0)\n"
              "  ROOT tmp_1 = f32[] add(tmp_0, tmp_0), control-predecessors={%p}\n"
              "}");
}

static void print_without_ids_cuts_names_at_the_first_dot(void **state) {
    Fixture *f = *state;
    build_sum_of_pair(f);
    HloPrintOptions options = hlo_print_default();
    options.ids = false;
    hlo_print_module(f->m, &options, &f->out);
    expect(f, "HloModule , entry_computation_layout={((f32[], f32[]))->f32[]}\n\n"
              "ENTRY %(p: (f32[], f32[])) -> f32[] {\n"
              "  %p = (f32[], f32[]) parameter(0)\n"
              "  %get-tuple-element = f32[] get-tuple-element(%p), index=0\n"
              "  %get-tuple-element = f32[] get-tuple-element(%p), index=1\n"
              "  ROOT %add = f32[] add(%get-tuple-element, %get-tuple-element)\n"
              "}\n\n");
}

static void print_many_operands_are_counted_and_can_be_cut(void **state) {
    Fixture *f = *state;
    HloInstruction *p = parameter(f, f->comp, hlo_shape_scalar(&f->m->shapes, HLO_F32), "p");
    HloInstruction *operands[6] = {p, p, p, p, p, p};
    HloInstruction *list = hlo_inst_new(f->m, HLO_OP_AFTER_ALL, hlo_shape_token(&f->m->shapes), operands, 6);
    hlo_computation_add(f->comp, list, "t");
    HloPrintOptions options = hlo_print_default();
    hlo_print_instruction(list, &options, &f->out);
    expect(f, "%t = token[] after-all(%p, %p, %p, %p, %p, /*index=5*/%p)");
    options.compact_operands = true;
    hlo_print_instruction(list, &options, &f->out);
    expect(f, "%t = token[] after-all(%p, %p, %p, %p, ...(+2))");
}

// Each computation calls the previous one twice: 2^60 bodies. The text stops instead of filling memory.
static void print_bodies_exponential_nesting_fails(void **state) {
    Fixture *f = *state;
    const HloShape *f32 = hlo_shape_scalar(&f->m->shapes, HLO_F32);
    HloComputation *callee = NULL;
    for (int i = 0; i < 60; i++) {
        HloComputation *comp = hlo_computation_new(f->m, "c");
        HloInstruction *value = parameter(f, comp, f32, "p");
        for (int k = 0; callee && k < 2; k++) {
            HloInstruction *call = hlo_inst_new(f->m, HLO_OP_CALL, f32, &value, 1);
            hlo_set_called(call, 0, callee);
            value = hlo_computation_add(comp, call, NULL);
        }
        hlo_computation_set_root(comp, value);
        callee = hlo_module_add(f->m, comp);
    }
    HloPrintOptions options = hlo_print_canonical();
    hlo_print_computation(callee, &options, &f->out);
    HloStatus status = hlo_buffer_status(&f->out);
    assert_int_equal(hlo_status_code(status), HLO_RESOURCE_EXHAUSTED);
    hlo_status_free(status);
}

static void escape_bytes_outside_the_plain_set(void **state) {
    Fixture *f = *state;
    static const char text[] = "a\"b'c\\d\n\r\t\x01\x7f\303\251\0z";
    hlo_put_escaped(&f->out, text, sizeof text - 1);
    expect(f, "a\\\"b\\'c\\\\d\\n\\r\\t\\001\\177\\303\\251\\000z");
}

// Texts are looked at in blocks: each byte in each place of texts of one block, of several, and of parts of one.
static void escape_finds_each_byte_in_each_place(void **state) {
    Fixture *f = *state;
    enum { LONGEST = 50 };
    for (size_t size = 1; size <= LONGEST; size++) {
        for (size_t i = 0; i < size * 256; i++) {
            size_t place = i / 256;
            unsigned char byte = (unsigned char)(i % 256);
            char text[LONGEST], alone[8];
            memset(text, 'a', size);
            text[place] = (char)byte;
            f->out.size = 0;
            hlo_put_escaped(&f->out, (char *)&byte, 1);  // a loop over bytes
            size_t wide = f->out.size;
            memcpy(alone, f->out.data, wide);
            f->out.size = 0;
            hlo_put_escaped(&f->out, text, size);
            assert_int_equal(f->out.size, size - 1 + wide);
            assert_memory_equal(f->out.data + place, alone, wide);
            assert_int_equal(f->out.data[f->out.size - 1], place + 1 == size ? alone[wide - 1] : 'a');
        }
    }
}

static void is_json_dict_counts_braces_outside_strings(void **state) {
    (void)state;
    static const char *const dicts[] = {"{}",      " {\"a\": {}} ", "{k: 2}",    "{a = 3 : i64}",
                                        "{\"}\"}", "{\"\\\"}\"}",   "/*x*/{}//y"};
    static const char *const others[] = {"", "{", "{}x", "{\"a", "x{}", "{\"a\\\n\"}", "{}}", "[]"};
    for (size_t i = 0; i < HLO_COUNT(dicts); i++) {
        if (!hlo_is_json_dict(dicts[i])) fail_msg("'%s' is one", dicts[i]);
    }
    for (size_t i = 0; i < HLO_COUNT(others); i++) {
        if (hlo_is_json_dict(others[i])) fail_msg("'%s' is none", others[i]);
    }
}

static void put_groups_full_list_expands_meshes(void **state) {
    Fixture *f = *state;
    static const HloMeshAxis axes[] = {{"x", 2}, {"y", 4}};
    HloMesh mesh = {.axes = axes, .axis_count = 2};
    HloAxisRef y = {.axis = 1}, part = {.axis = 1, .pre = 1, .size = 2};
    hlo_put_groups(&f->out, &(HloGroups){.form = HLO_GROUPS_MESH, .mesh = &mesh, .axes = {&y, 1}}, false);
    expect(f, "mesh['x'=2,'y'=4] {'y'}");
    hlo_put_groups(&f->out, &(HloGroups){.form = HLO_GROUPS_MESH, .mesh = &mesh, .axes = {&y, 1}}, true);
    expect(f, "{{0,1,2,3},{4,5,6,7}}");
    hlo_put_groups(&f->out, &(HloGroups){.form = HLO_GROUPS_MESH, .mesh = &mesh, .axes = {&part, 1}}, true);
    expect(f, "{{0,2},{1,3},{4,6},{5,7}}");
    const int64_t reshape[] = {4, 2}, perm[] = {1, 0};
    HloGroups iota = {.form = HLO_GROUPS_IOTA, .groups = 2, .size = 4, .iota = {{reshape, 2}, {perm, 2}}};
    hlo_put_groups(&f->out, &iota, false);
    expect(f, "[2,4]<=[4,2]T(1,0)");
    hlo_put_groups(&f->out, &iota, true);
    expect(f, "{{0,2,4,6},{1,3,5,7}}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(print_module_dump_form_hides_tuple_elements, set_up, tear_down),
        cmocka_unit_test_setup_teardown(print_module_through_a_drain_gives_the_same_text, set_up, tear_down),
        cmocka_unit_test_setup_teardown(print_computation_alone_has_no_entry_word, set_up, tear_down),
        cmocka_unit_test_setup_teardown(print_instruction_canonical_has_no_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(print_canonical_names_spare_control_predecessors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(print_without_ids_cuts_names_at_the_first_dot, set_up, tear_down),
        cmocka_unit_test_setup_teardown(print_many_operands_are_counted_and_can_be_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(print_bodies_exponential_nesting_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(escape_bytes_outside_the_plain_set, set_up, tear_down),
        cmocka_unit_test_setup_teardown(escape_finds_each_byte_in_each_place, set_up, tear_down),
        cmocka_unit_test(is_json_dict_counts_braces_outside_strings),
        cmocka_unit_test_setup_teardown(put_groups_full_list_expands_meshes, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
