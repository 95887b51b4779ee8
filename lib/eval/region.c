// Computations that map, reduce, sort and scatter call for single elements.
//
// Most are arithmetic on scalars and run as lanes; what is not (a reducer with a loop in it) runs in the machine, one
// element after the other.

#include <stdlib.h>

#include "lib/eval/eval.h"

static const HloShape *output_shape(const HloComputation *comp, size_t k) {
    const HloShape *shape = comp->root->shape;
    return hlo_shape_is_tuple(shape) ? shape->elements[k] : shape;
}

// The scalars at `i` as arguments.
static HloStatus gather_args(HloMachine *vm, const HloComputation *comp, int64_t i, const void *const *in,
                             HloDatum **args) {
    for (size_t k = 0; k < hlo_parameter_count(comp); k++) {
        HLO_TRY(hlo_datum_new(vm, hlo_parameter(comp, k)->shape, args + k));
        size_t bytes = args[k]->element_bytes;
        memcpy(args[k]->data, (const char *)in[k] + (size_t)i * bytes, bytes);
    }
    return hlo_ok();
}

static void store_result(const HloComputation *comp, const HloDatum *result, int64_t i, void *const *out) {
    size_t count = result->elements ? result->shape->rank : 1;
    for (size_t k = 0; k < count; k++) {
        const HloDatum *value = result->elements ? result->elements[k] : result;
        size_t bytes = hlo_element_bytes(output_shape(comp, k)->type);
        memcpy((char *)out[k] + (size_t)i * bytes, value->data, bytes);
    }
}

static HloStatus run_one(HloMachine *vm, const HloComputation *comp, int64_t i, const void *const *in, void *const *out,
                         HloDatum **args) {
    HloDatum *result;
    HloStatus status = gather_args(vm, comp, i, in, args);
    if (hlo_is_ok(status)) {
        status = hlo_machine_run(vm, comp, args, hlo_parameter_count(comp), &result);
    }
    if (!hlo_is_ok(status)) {
        for (size_t k = 0; k < hlo_parameter_count(comp); k++) hlo_datum_drop(vm, args[k]);
        return status;
    }
    store_result(comp, result, i, out);
    hlo_datum_drop(vm, result);
    return hlo_ok();
}

HloStatus hlo_apply_region(HloMachine *vm, const HloComputation *comp, int64_t n, const void *const *in,
                           void *const *out) {
    HloLanes *lanes;
    HLO_TRY(hlo_machine_lanes(vm, comp, &lanes));
    if (lanes) {
        hlo_lanes_run(lanes, n, in, out);
        return hlo_ok();
    }
    HloDatum **args = calloc(hlo_parameter_count(comp) + 1, sizeof *args);
    if (!args) return hlo_out_of_memory();
    HloStatus status = hlo_ok();
    for (int64_t i = 0; i < n && hlo_is_ok(status); i++) status = run_one(vm, comp, i, in, out, args);
    free(args);
    return status;
}

HLO_RULE(hlo_rule_map) {
    const void **in = calloc(hlo_operand_count(inst) + 1, sizeof *in);
    if (!in) return hlo_out_of_memory();
    for (size_t k = 0; k < hlo_operand_count(inst); k++) in[k] = args[k]->data;
    HloStatus status = hlo_datum_new(vm, inst->shape, out);
    void *result = hlo_is_ok(status) ? (*out)->data : NULL;
    if (result) status = hlo_apply_region(vm, hlo_called(inst, 0), (*out)->count, in, &result);
    free(in);
    return status;
}
