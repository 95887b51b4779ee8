// Dynamic sizes: how much of an array with bounded dimensions is alive.
//
//   f32[<=4,3] set-dimension-size(x, 2), dimensions={0}   →   x, of which two rows are alive
//
// Operations compute the whole of the bound; what lies beyond the sizes is computed too and means nothing. The sizes of
// a result follow from those of the operands where the dimensions correspond, and are the bounds elsewhere.
// Source: the interpreter chapter, §7.1.

#include <stdlib.h>

#include "lib/eval/contract.h"

HloStatus hlo_datum_set_sizes(HloDatum *datum, const int64_t *sizes) {
    size_t rank = datum->shape->rank;
    free(datum->sizes);
    datum->sizes = NULL;
    if (!sizes) return hlo_ok();
    datum->sizes = malloc((rank + 1) * sizeof *sizes);
    if (!datum->sizes) return hlo_out_of_memory();
    memcpy(datum->sizes, sizes, rank * sizeof *sizes);
    return hlo_ok();
}

int64_t hlo_datum_size(const HloDatum *datum, size_t dim) {
    return datum->sizes ? datum->sizes[dim] : datum->shape->dims[dim];
}

// ---- what follows from the operands ---------------------------------------------------------------------

// Operand dimensions of the result, in order; -1 keeps the bound.
typedef struct Origin {
    int64_t dims[HLO_EVAL_RANK];
} Origin;

static void trace_reduce(const HloInstruction *inst, size_t rank, Origin *origin) {
    HloDims reduced = hlo_dims(inst, HLO_ATTR_DIMENSIONS);
    size_t kept = 0;
    for (size_t d = 0; d < rank; d++) {
        if (!hlo_dims_has(reduced, (int64_t)d)) origin->dims[kept++] = (int64_t)d;
    }
}

// A dimension stays itself when the elements above and below it are as many as before.
static void trace_reshape(const HloShape *from, const HloShape *to, Origin *origin) {
    int64_t above_to = 1, above_from = 1;
    for (size_t d = 0, k = 0; d < to->rank; d++) {
        while (k < from->rank && above_from < above_to) above_from *= from->dims[k++];
        bool same = k < from->rank && above_from == above_to && from->dims[k] == to->dims[d];
        if (same) origin->dims[d] = (int64_t)k;
        above_to *= to->dims[d];
    }
}

static void trace_same(const HloShape *from, const HloShape *to, Origin *origin) {
    for (size_t d = 0; d < to->rank && from->rank == to->rank; d++) {
        if (from->dims[d] == to->dims[d]) origin->dims[d] = (int64_t)d;
    }
}

static void trace(const HloInstruction *inst, const HloShape *from, Origin *origin) {
    HloDims dims =
        hlo_op_uses(inst->op, HLO_ATTR_DIMENSIONS) ? hlo_dims(inst, HLO_ATTR_DIMENSIONS) : (HloDims){NULL, 0};
    for (size_t d = 0; d < inst->shape->rank; d++) origin->dims[d] = -1;
    switch ((int)inst->op) {
    case HLO_OP_TRANSPOSE:
        for (size_t d = 0; d < dims.count; d++) origin->dims[d] = dims.data[d];
        break;
    case HLO_OP_BROADCAST:
        for (size_t k = 0; k < dims.count; k++) origin->dims[dims.data[k]] = (int64_t)k;
        break;
    case HLO_OP_REDUCE: trace_reduce(inst, from->rank, origin); break;
    case HLO_OP_RESHAPE: trace_reshape(from, inst->shape, origin); break;
    default: trace_same(from, inst->shape, origin); break;
    }
}

// The operand whose sizes a result takes: the first with sizes of its own.
static const HloDatum *find_sized(const HloInstruction *inst, HloDatum *const *args) {
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        if (args[k]->sizes) return args[k];
    }
    return NULL;
}

static void size_concatenate(const HloInstruction *inst, HloDatum *const *args, int64_t *sizes) {
    int64_t dim = hlo_int(inst, HLO_ATTR_DIMENSION);
    sizes[dim] = 0;
    for (size_t k = 0; k < hlo_operand_count(inst); k++) sizes[dim] += hlo_datum_size(args[k], (size_t)dim);
}

static void size_dot(const HloInstruction *inst, HloDatum *const *args, int64_t *sizes) {
    HloDotPlan plan = hlo_plan_dot(inst, args[0]->shape, args[1]->shape, (HloDims){NULL, 0});
    size_t rows = plan.a.count - hlo_dims(inst, HLO_ATTR_LHS_CONTRACTING_DIMS).count, at = 0;
    size_t batch = hlo_dims(inst, HLO_ATTR_LHS_BATCH_DIMS).count;
    size_t skip = batch + hlo_dims(inst, HLO_ATTR_RHS_CONTRACTING_DIMS).count;
    for (size_t k = 0; k < rows; k++) sizes[at++] = hlo_datum_size(args[0], (size_t)plan.a.dims[k]);
    for (size_t k = skip; k < plan.b.count; k++) sizes[at++] = hlo_datum_size(args[1], (size_t)plan.b.dims[k]);
}

bool hlo_result_sizes(const HloInstruction *inst, HloDatum *const *args, int64_t *sizes) {
    const HloShape *shape = inst->shape;
    const HloDatum *sized = find_sized(inst, args);
    Origin origin;
    if (!sized) return false;
    trace(inst, sized->shape, &origin);
    for (size_t d = 0; d < shape->rank; d++) {
        sizes[d] = origin.dims[d] < 0 ? shape->dims[d] : hlo_datum_size(sized, (size_t)origin.dims[d]);
    }
    if (inst->op == HLO_OP_CONCATENATE) size_concatenate(inst, args, sizes);
    if (inst->op == HLO_OP_DOT && hlo_operand_count(inst) == 2) size_dot(inst, args, sizes);
    for (size_t d = 0; d < shape->rank; d++) {
        bool fixed = !shape->dynamic || !shape->dynamic[d];
        if (fixed || sizes[d] > shape->dims[d]) sizes[d] = shape->dims[d];
    }
    return true;
}

// ---- rules ----------------------------------------------------------------------------------------------

HLO_RULE(hlo_rule_set_dimension_size) {
    int64_t dim = hlo_int(inst, HLO_ATTR_DIMENSION), sizes[HLO_EVAL_RANK], size = hlo_datum_int(args[1], 0);
    const HloShape *shape = inst->shape;
    if (size < 0 || size > shape->dims[dim]) {
        return hlo_error(HLO_INVALID_ARGUMENT, "size %lld is not between 0 and the bound %lld", (long long)size,
                         (long long)shape->dims[dim]);
    }
    for (size_t d = 0; d < shape->rank; d++) sizes[d] = hlo_datum_size(args[0], d);
    sizes[dim] = size;
    HLO_TRY(hlo_datum_own(vm, args, shape, out));
    return hlo_datum_set_sizes(*out, sizes);
}

HLO_RULE(hlo_rule_get_dimension_size) {
    int64_t size = hlo_datum_size(args[0], (size_t)hlo_int(inst, HLO_ATTR_DIMENSION));
    HLO_TRY(hlo_datum_new(vm, inst->shape, out));
    hlo_convert(HLO_S64, &size, inst->shape->type, (*out)->data, 1);
    return hlo_ok();
}

// Between an array and its alive elements one behind the other.
static void pack_alive(const HloDatum *array, char *dense, bool back) {
    HloBox box = {.rank = array->shape->rank};
    int64_t step = 1;
    hlo_row_steps(array->shape, back ? box.to_step : box.from_step);
    for (size_t d = box.rank; d-- > 0; step *= box.size[d]) {
        box.size[d] = hlo_datum_size(array, d);
        (back ? box.from_step : box.to_step)[d] = step;
    }
    if (back)
        hlo_box_copy(&box, dense, array->data, array->element_bytes);
    else
        hlo_box_copy(&box, array->data, dense, array->element_bytes);
}

static int64_t count_alive(const HloDatum *array) {
    int64_t count = 1;
    for (size_t d = 0; d < array->shape->rank; d++) count *= hlo_datum_size(array, d);
    return count;
}

// The operands behind the first.
static HloStatus read_sizes(const HloShape *shape, HloDatum *const *args, int64_t *sizes) {
    for (size_t d = 0; d < shape->rank; d++) {
        bool fixed = !shape->dynamic || !shape->dynamic[d];
        sizes[d] = hlo_datum_int(args[d + 1], 0);
        if (sizes[d] >= 0 && sizes[d] <= shape->dims[d] && (!fixed || sizes[d] == shape->dims[d])) continue;
        return hlo_error(HLO_INVALID_ARGUMENT, "size %lld does not fit dimension %zu of %s%lld", (long long)sizes[d], d,
                         fixed ? "" : "at most ", (long long)shape->dims[d]);
    }
    return hlo_ok();
}

// The alive elements, in their order, in an array with the sizes that the operands say.
HLO_RULE(hlo_rule_dynamic_reshape) {
    int64_t sizes[HLO_EVAL_RANK], count = count_alive(args[0]);
    HLO_TRY(read_sizes(inst->shape, args, sizes));
    HLO_TRY(hlo_datum_new(vm, inst->shape, out));
    HLO_TRY(hlo_datum_set_sizes(*out, sizes));
    if (count_alive(*out) != count) {
        return hlo_error(HLO_INVALID_ARGUMENT, "%lld elements do not fill sizes for %lld", (long long)count,
                         (long long)count_alive(*out));
    }
    memset((*out)->data, 0, (size_t)(*out)->count * (*out)->element_bytes);
    char *dense = malloc((size_t)count * args[0]->element_bytes + 1);
    if (!dense) return hlo_out_of_memory();
    pack_alive(args[0], dense, false);
    pack_alive(*out, dense, true);
    free(dense);
    return hlo_ok();
}
