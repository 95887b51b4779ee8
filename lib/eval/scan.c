// scan: a computation carried along one dimension.
//
//   scan(x, init), dimensions={0}   →   (y, c) = f(x[0], init); (y, c) = f(x[1], c); …
//
// The computation gets a slice of every input and the carries, and gives a slice of every output and the new carries.
// The outputs are stacked at the position of their step. Source: the interpreter chapter, §6.6.

#include <stdlib.h>

#include "lib/eval/eval.h"

typedef struct Scan {
    HloMachine *vm;
    const HloComputation *comp;
    int64_t dim;
    size_t inputs, carries, outputs;
    HloDatum **args;    // of one step: slices, then carries
    HloDatum **stacks;  // the outputs
} Scan;

// One position along the dimension, as a box of two: what is outside of it, and what is inside.
static HloBox slice_box(const HloShape *shape, int64_t dim, int64_t whole_first) {
    int64_t inner = 1, outer = 1;
    for (int64_t d = 0; d < dim; d++) outer *= shape->dims[d];
    for (size_t d = (size_t)dim + 1; d < shape->rank; d++) inner *= shape->dims[d];
    int64_t whole = inner * shape->dims[dim];
    return whole_first ? (HloBox){2, {outer, inner}, {whole, 1}, {inner, 1}}
                       : (HloBox){2, {outer, inner}, {inner, 1}, {whole, 1}};
}

static HloStatus take_slice(Scan *s, const HloDatum *from, int64_t at, const HloShape *shape, HloDatum **out) {
    HLO_TRY(hlo_datum_new(s->vm, shape, out));
    HloBox box = slice_box(from->shape, s->dim, true);
    hlo_box_copy(&box, from->data + at * box.size[1] * from->element_bytes, (*out)->data, from->element_bytes);
    return hlo_ok();
}

static void put_slice(const Scan *s, const HloDatum *from, int64_t at, HloDatum *to) {
    HloBox box = slice_box(to->shape, s->dim, false);
    hlo_box_copy(&box, from->data, to->data + at * box.size[1] * to->element_bytes, to->element_bytes);
}

// The results of a step: outputs are stacked, carries become arguments of the next one.
static void take_results(Scan *s, HloDatum *result, int64_t at) {
    for (size_t k = 0; k < s->outputs; k++) put_slice(s, hlo_datum_leaf(result, k), at, s->stacks[k]);
    for (size_t k = 0; k < s->carries; k++) {
        s->args[s->inputs + k] = hlo_datum_keep(hlo_datum_leaf(result, s->outputs + k));
    }
    hlo_datum_drop(s->vm, result);
}

static HloStatus run_step(Scan *s, HloDatum *const *inputs, int64_t at) {
    HloDatum *result;
    for (size_t k = 0; k < s->inputs; k++) {
        HLO_TRY(take_slice(s, inputs[k], at, hlo_parameter(s->comp, k)->shape, s->args + k));
    }
    HLO_TRY(hlo_machine_run(s->vm, s->comp, s->args, s->inputs + s->carries, &result));
    take_results(s, result, at);
    return hlo_ok();
}

static HloStatus run_steps(Scan *s, const HloInstruction *inst, HloDatum **args) {
    const HloShape *shape = inst->shape;
    int64_t length = args[0]->shape->dims[s->dim];
    for (size_t k = 0; k < s->outputs; k++) HLO_TRY(hlo_datum_new(s->vm, shape->elements[k], s->stacks + k));
    for (size_t k = 0; k < s->carries; k++) s->args[s->inputs + k] = hlo_datum_keep(args[s->inputs + k]);
    bool reverse = hlo_int(inst, HLO_ATTR_IS_REVERSE);
    for (int64_t t = 0; t < length; t++) HLO_TRY(run_step(s, args, reverse ? length - 1 - t : t));
    return hlo_ok();
}

HLO_RULE(hlo_rule_scan) {
    size_t carries = (size_t)hlo_int(inst, HLO_ATTR_NUM_CARRIES), operands = hlo_operand_count(inst);
    if (!hlo_shape_is_tuple(inst->shape) || carries > operands || carries > inst->shape->rank || carries == operands) {
        return hlo_error(HLO_UNIMPLEMENTED, "a scan of this form cannot be interpreted");
    }
    Scan s = {vm,
              hlo_called(inst, 0),
              hlo_int(inst, HLO_ATTR_DIMENSION),
              operands - carries,
              carries,
              inst->shape->rank - carries,
              calloc(operands + 1, sizeof(HloDatum *)),
              calloc(inst->shape->rank + 1, sizeof(HloDatum *))};
    HloStatus status = s.args && s.stacks ? run_steps(&s, inst, args) : hlo_out_of_memory();
    if (hlo_is_ok(status)) {
        for (size_t k = 0; k < carries; k++) s.stacks[s.outputs + k] = hlo_datum_keep(s.args[s.inputs + k]);
        status = hlo_datum_new_tuple(vm, inst->shape, s.stacks, out);
    }
    for (size_t k = 0; s.args && k < operands; k++) hlo_datum_drop(vm, s.args[k]);
    for (size_t k = 0; s.stacks && k < inst->shape->rank && !hlo_is_ok(status); k++) hlo_datum_drop(vm, s.stacks[k]);
    free(s.args);
    free(s.stacks);
    return status;
}
