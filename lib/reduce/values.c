// Cuts of values: instructions become operands, parameters or constants.
//
//   %u = …, without users   remove-unused, or root-to-unused:  it is the root
//   ROOT %r = add(%a, %b)   root-to-operand:  %a is the root
//   %b = multiply(%a, %k)   to-operand:       %b is %a
//   %c = dot(%x, %y)        to-parameter:     %c is a new parameter of the entry
//   %d = reduce(%x, %z)     to-constant:      %d is a constant of zeros, or of ones

#include "lib/reduce/reduce.h"

enum { MOST_CONSTANT_ELEMENTS = 4096 };

static bool is_leaf(const HloInstruction *inst) {
    return inst->op == HLO_OP_PARAMETER || inst->op == HLO_OP_CONSTANT;
}

static size_t root_operands(const HloInstruction *inst) {
    return inst == inst->comp->m->entry->root && hlo_user_count(inst) == 0 ? hlo_operand_count(inst) : 0;
}

static void root_to_operand(HloRewriter *rw, HloInstruction *inst, size_t way) {
    (void)rw;
    if (inst->comp->root == inst) hlo_computation_set_root(inst->comp, hlo_operand(inst, way));
}

// Operands of the same shape; `way` counts them.
static HloInstruction *same_shaped(const HloInstruction *inst, size_t way, size_t *count) {
    *count = 0;
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        HloInstruction *operand = hlo_operand(inst, k);
        if (operand->shape == inst->shape && (*count)++ == way) return operand;
    }
    return NULL;
}

static size_t like_operands(const HloInstruction *inst) {
    size_t count;
    same_shaped(inst, SIZE_MAX, &count);
    return count;
}

static void to_operand(HloRewriter *rw, HloInstruction *inst, size_t way) {
    size_t count;
    HloInstruction *operand = same_shaped(inst, way, &count);
    (void)rw;
    if (operand) hlo_replace_all_uses(inst, operand);
}

static bool has_only_arrays(const HloShape *shape) {
    if (!hlo_shape_is_tuple(shape)) return hlo_shape_is_array(shape) && !hlo_shape_is_dynamic(shape);
    for (size_t k = 0; k < shape->rank; k++) {
        if (!hlo_shape_is_array(shape->elements[k])) return false;
    }
    return true;
}

static size_t may_be_parameter(const HloInstruction *inst) {
    return is_entry(inst->comp) && !is_leaf(inst) && inst->op != HLO_OP_TUPLE && has_only_arrays(inst->shape);
}

static void to_parameter(HloRewriter *rw, HloInstruction *inst, size_t way) {
    (void)way;
    HloInstruction *parameter = hlo_inst_new(rw->m, HLO_OP_PARAMETER, inst->shape, NULL, 0);
    hlo_set_int(rw->m, parameter, HLO_ATTR_PARAMETER_NUMBER, (int64_t)hlo_parameter_count(inst->comp));
    hlo_replace_all_uses(inst, hlo_computation_add(inst->comp, parameter, inst->name));
}

static size_t may_be_constant(const HloInstruction *inst) {
    const HloLiteral *value = hlo_constant(inst);
    if (value) return hlo_literal_is_splat(value) ? 0 : 2;
    if (inst->op == HLO_OP_PARAMETER || !hlo_shape_is_array(inst->shape) || hlo_shape_is_dynamic(inst->shape)) return 0;
    return hlo_shape_elem_count(inst->shape) <= MOST_CONSTANT_ELEMENTS ? 2 : 0;
}

// All elements are `way`: 0 or 1.
static void to_constant(HloRewriter *rw, HloInstruction *inst, size_t way) {
    HloLiteral *literal;
    if (!hlo_is_ok(rw->failure)) return;
    rw->failure = hlo_literal_new(&rw->m->arena, inst->shape, &literal);
    if (!hlo_is_ok(rw->failure)) return;
    for (int64_t at = 0; way && at < literal->elem_count; at++) {
        if (hlo_type_is_complex(inst->shape->type))
            hlo_literal_set_complex(literal, at, 1, 0);
        else
            hlo_literal_set_double(literal, at, 1);
    }
    HloInstruction *constant = hlo_build_constant(rw, literal);
    if (constant) hlo_replace_all_uses(inst, constant);
}

static size_t is_unused(const HloInstruction *inst) {
    return hlo_is_dead(inst) && inst->op != HLO_OP_PARAMETER;
}

static void remove_unused(HloRewriter *rw, HloInstruction *inst, size_t way) {
    (void)rw, (void)way;
    if (hlo_is_dead(inst)) hlo_computation_remove(inst->comp, inst);
}

static size_t may_be_result(const HloInstruction *inst) {
    return is_entry(inst->comp) && is_unused(inst) && has_only_arrays(inst->shape);
}

static void root_to_unused(HloRewriter *rw, HloInstruction *inst, size_t way) {
    (void)rw, (void)way;
    hlo_computation_set_root(inst->comp, inst);
}

CutTable hlo_cuts_of_values(void) {
    static const Cut cuts[] = {
        {"remove-unused", "an instruction without users goes", false, is_unused, remove_unused},
        {"root-to-unused", "the result of the module is an instruction without users", true, may_be_result,
         root_to_unused},
        {"root-to-operand", "the result of the module is an operand of the old one", true, root_operands,
         root_to_operand},
        {"to-parameter", "an instruction of the entry computation becomes a parameter", false, may_be_parameter,
         to_parameter},
        {"to-operand", "an instruction becomes an operand of the same shape", false, like_operands, to_operand},
        {"to-constant", "an instruction becomes a constant of zeros or ones", false, may_be_constant, to_constant},
    };
    return (CutTable){cuts, HLO_COUNT(cuts)};
}
