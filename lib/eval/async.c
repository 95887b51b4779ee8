// Pairs of a -start and a -done: everything happens at the start, the done takes the result out.
//
//   async-start(x) = ((f32[2]), f32[4], u32[])   →   ((x), f(x), 0), of which async-done takes element 1

#include "lib/eval/eval.h"

// What stands behind the result: contexts, which mean nothing here.
static HloStatus new_context(HloMachine *vm, const HloShape *shape, HloDatum **out) {
    if (hlo_shape_is_tuple(shape)) return hlo_error(HLO_UNIMPLEMENTED, "a start with tuples behind its result");
    HLO_TRY(hlo_datum_new(vm, shape, out));
    memset((*out)->data, 0, (size_t)(*out)->count * (*out)->element_bytes);
    return hlo_ok();
}

static HloStatus keep_operands(HloMachine *vm, const HloInstruction *inst, HloDatum **args, HloDatum **out) {
    const HloShape *shape = inst->shape->elements[0];
    if (!hlo_shape_is_tuple(shape)) {
        *out = hlo_datum_keep(args[0]);
        return hlo_ok();
    }
    HLO_TRY(hlo_datum_new_tuple(vm, shape, args, out));
    for (size_t k = 0; k < hlo_operand_count(inst); k++) args[k] = NULL;
    return hlo_ok();
}

HloStatus hlo_wrap_start(HloMachine *vm, const HloInstruction *inst, HloDatum **args, HloDatum **out) {
    enum { MOST_ELEMENTS = 16 };
    HloDatum *elements[MOST_ELEMENTS] = {NULL, *out};
    size_t count = inst->shape->rank;
    *out = NULL;
    HloStatus status = hlo_ok();
    if (count < 2 || count > MOST_ELEMENTS) status = hlo_error(HLO_UNIMPLEMENTED, "a start with %zu results", count);
    if (hlo_is_ok(status)) status = keep_operands(vm, inst, args, elements);
    for (size_t k = 2; k < count && hlo_is_ok(status); k++) {
        status = new_context(vm, inst->shape->elements[k], elements + k);
    }
    if (hlo_is_ok(status)) return hlo_datum_new_tuple(vm, inst->shape, elements, out);
    for (size_t k = 0; k < MOST_ELEMENTS; k++) hlo_datum_drop(vm, elements[k]);
    return status;
}

HLO_RULE(hlo_rule_async_start) {
    HloDatum *inner[64];
    size_t count = hlo_operand_count(inst);
    if (count > HLO_COUNT(inner)) return hlo_error(HLO_UNIMPLEMENTED, "an async-start of %zu operands", count);
    for (size_t k = 0; k < count; k++) inner[k] = hlo_datum_keep(args[k]);
    HLO_TRY(hlo_machine_run(vm, hlo_called(inst, 0), inner, count, out));
    return hlo_wrap_start(vm, inst, args, out);
}

HLO_RULE(hlo_rule_async_done) {
    (void)vm;
    (void)inst;
    *out = hlo_datum_keep(args[0]->elements[1]);
    return hlo_ok();
}

// (destination, source, context)
HLO_RULE(hlo_rule_copy_start) {
    HloDatum *elements[3] = {hlo_datum_keep(args[0]), hlo_datum_keep(args[0]), NULL};
    HloStatus status = new_context(vm, inst->shape->elements[2], elements + 2);
    if (hlo_is_ok(status)) status = hlo_datum_new_tuple(vm, inst->shape, elements, out);
    for (size_t k = 0; k < 3 && !hlo_is_ok(status); k++) hlo_datum_drop(vm, elements[k]);
    return status;
}

HLO_RULE(hlo_rule_copy_done) {
    (void)vm;
    (void)inst;
    *out = hlo_datum_keep(args[0]->elements[0]);
    return hlo_ok();
}
