// Operands of another float type than the result ("mixed precision").
//
//   %s = f32[4] concatenate(bf16[2] %a, f32[2] %b), dimensions={0}
//
// Rules that move elements take them in the type that the result has: the machine converts %a for this one first. What
// computes (elementwise operations, contractions) reads each operand in its own type and needs nothing of this.

#include "lib/eval/eval.h"

// ---- operands -------------------------------------------------------------------------------------------

static bool takes_type_of_result(HloOpcode op) {
    switch ((int)op) {
    case HLO_OP_ALL_GATHER:
    case HLO_OP_ALL_TO_ALL:
    case HLO_OP_BROADCAST:
    case HLO_OP_COLLECTIVE_BROADCAST:
    case HLO_OP_COLLECTIVE_PERMUTE:
    case HLO_OP_CONCATENATE:
    case HLO_OP_DYNAMIC_RESHAPE:
    case HLO_OP_DYNAMIC_SLICE:
    case HLO_OP_DYNAMIC_UPDATE_SLICE:
    case HLO_OP_GATHER:
    case HLO_OP_MAP:
    case HLO_OP_PAD:
    case HLO_OP_RAGGED_ALL_TO_ALL:
    case HLO_OP_REDUCE:
    case HLO_OP_REDUCE_WINDOW:
    case HLO_OP_RESHAPE:
    case HLO_OP_REVERSE:
    case HLO_OP_SCATTER:
    case HLO_OP_SELECT_AND_SCATTER:
    case HLO_OP_SET_DIMENSION_SIZE:
    case HLO_OP_SLICE:
    case HLO_OP_SORT:
    case HLO_OP_TOPK:
    case HLO_OP_TRANSPOSE: return true;
    default: return false;
    }
}

// Leaf k of a shape; leaves of several operands follow each other.
static const HloShape *leaf(const HloShape *shape, size_t k) {
    if (!hlo_shape_is_tuple(shape)) return shape;
    return shape->rank ? shape->elements[k % shape->rank] : shape;
}

static bool differs(const HloShape *a, const HloShape *b) {
    return a->type != b->type && hlo_type_is_float(a->type) && hlo_type_is_float(b->type);
}

// The part of the result that operand k goes into, or the parameter of a map.
static const HloShape *destination(const HloInstruction *inst, size_t k) {
    if (inst->op == HLO_OP_MAP) return hlo_parameter(hlo_called(inst, 0), k)->shape;
    bool follows_indices = inst->op == HLO_OP_SCATTER && hlo_shape_is_tuple(inst->shape) && k > inst->shape->rank;
    return leaf(inst->shape, follows_indices ? k - 1 : k);
}

// Not interned: the module is not the machine's to change.
static const HloShape *with_type(HloArena *arena, const HloShape *shape, HloType type) {
    HloShape *copy = hlo_arena_copy(arena, shape, sizeof *shape);
    copy->type = type;
    return copy;
}

const HloShape **hlo_mixed_operands(const HloInstruction *inst, HloArena *arena) {
    const HloShape **converted = NULL;
    if (!takes_type_of_result(inst->op)) return NULL;
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        const HloShape *shape = hlo_operand(inst, k)->shape, *to = destination(inst, k);
        if (!differs(shape, to)) continue;
        if (!converted) converted = HLO_NEW_ARRAY(arena, const HloShape *, hlo_operand_count(inst));
        converted[k] = with_type(arena, shape, to->type);
    }
    return converted;
}

// ---- computations that are called element by element ----------------------------------------------------

static bool takes_others(const HloInstruction *inst, const HloComputation *region) {
    size_t values = inst->op == HLO_OP_SORT ? 2 : 1;  // parameters in a row that are of one operand
    for (size_t k = 0; k < hlo_parameter_count(region) && inst->op != HLO_OP_MAP; k++) {
        if (differs(hlo_parameter(region, k)->shape, leaf(inst->shape, k / values))) return true;
    }
    return false;
}

static bool gives_others(const HloInstruction *inst, const HloComputation *region) {
    size_t leaves = hlo_shape_is_tuple(inst->shape) ? inst->shape->rank : 1;
    for (size_t k = 0; k < leaves; k++) {
        if (differs(leaf(region->root->shape, k), leaf(inst->shape, k))) return true;
    }
    return false;
}

bool hlo_region_is_mixed(const HloInstruction *inst) {
    if (!takes_type_of_result(inst->op)) return false;
    for (size_t c = 0; c < inst->called.count; c++) {
        const HloComputation *region = hlo_called(inst, c);
        if (takes_others(inst, region) || gives_others(inst, region)) return true;
    }
    return false;
}

// ---- data -----------------------------------------------------------------------------------------------

HloStatus hlo_datum_convert(HloMachine *vm, HloDatum **datum, const HloShape *shape) {
    HloDatum *from = *datum, *to;
    HLO_TRY(hlo_datum_new(vm, shape, &to));
    hlo_convert(from->shape->type, from->data, shape->type, to->data, from->count);
    HloStatus status = from->sizes ? hlo_datum_set_sizes(to, from->sizes) : hlo_ok();
    hlo_datum_drop(vm, from);
    *datum = to;
    return status;
}
