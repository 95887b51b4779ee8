// Computations of scalars, run on many lanes at once.
//
//   %add { a, b; ROOT a + b }   on 512 lanes   →   one pass of the f32 add kernel over two blocks
//
// Reducers, comparators and the bodies of maps are such computations. Each of their instructions is a step over
// registers, blocks of elements; parameters are read in place and constants stand ready in their registers.

#include "lib/eval/eval.h"

typedef struct LaneStep {
    HloElementwise op;
    uint32_t in[3], out;  // registers
} LaneStep;

struct HloLanes {
    LaneStep *steps;
    size_t step_count;
    char **registers;      // NULL for parameters, whose block the caller gives
    size_t *parameter_of;  // register -> parameter number
    size_t register_count;
    uint32_t *outputs;  // registers
    size_t *output_bytes, *input_bytes;
    size_t output_count, input_count;
    const void **now;  // where each register is during a run
};

typedef struct Compiler {
    HloArena *arena;
    HloLanes *lanes;
    uint32_t *register_of;  // by instruction id
} Compiler;

static bool is_output_tuple(const HloInstruction *inst) {
    if (inst->op != HLO_OP_TUPLE || !hlo_is_root(inst)) return false;
    for (size_t k = 0; k < inst->shape->rank; k++) {
        if (!hlo_shape_is_scalar(inst->shape->elements[k])) return false;
    }
    return true;
}

static bool is_lane_step(const HloInstruction *inst) {
    if (is_output_tuple(inst)) return true;
    if (!hlo_shape_is_scalar(inst->shape) || hlo_has_control_edges(inst)) return false;
    return inst->op == HLO_OP_PARAMETER || inst->op == HLO_OP_CONSTANT || hlo_elementwise_knows(inst->op);
}

static bool is_lane_computation(const HloComputation *comp) {
    HLO_EACH_INST(inst, comp) {
        if (!is_lane_step(inst)) return false;
    }
    return true;
}

static HloStatus fill_constant(Compiler *c, const HloInstruction *inst, char *block) {
    HloLiteral *one;
    HLO_TRY(hlo_literal_new(c->arena, inst->shape, &one));
    hlo_literal_copy_element(one, 0, hlo_constant(inst), 0);
    size_t bytes = hlo_element_bytes(inst->shape->type);
    uint64_t bits = bytes <= 8 && !hlo_type_is_complex(inst->shape->type) ? hlo_literal_bits(one, 0) : 0;
    if (hlo_type_is_integral(inst->shape->type)) bits = (uint64_t)hlo_literal_int(one, 0);
    for (size_t i = 0; i < HLO_BLOCK; i++) {
        memcpy(block + i * bytes, hlo_type_is_complex(inst->shape->type) ? one->data : (const void *)&bits, bytes);
    }
    return hlo_ok();
}

static HloStatus compile_instruction(Compiler *c, const HloInstruction *inst) {
    HloLanes *lanes = c->lanes;
    uint32_t at = (uint32_t)lanes->register_count++;
    c->register_of[inst->id] = at;
    if (inst->op == HLO_OP_PARAMETER) {
        lanes->parameter_of[at] = (size_t)hlo_parameter_number(inst);
        return hlo_ok();
    }
    lanes->registers[at] = hlo_arena_array(c->arena, HLO_BLOCK, hlo_element_bytes(inst->shape->type));
    if (inst->op == HLO_OP_CONSTANT) return fill_constant(c, inst, lanes->registers[at]);
    LaneStep *step = lanes->steps + lanes->step_count++;
    step->out = at;
    for (size_t k = 0; k < hlo_operand_count(inst); k++) step->in[k] = c->register_of[hlo_operand(inst, k)->id];
    return hlo_elementwise_prepare(inst, &step->op);
}

static void compile_outputs(Compiler *c, const HloComputation *comp) {
    const HloInstruction *root = comp->root;
    bool tuple = is_output_tuple(root);
    HloLanes *lanes = c->lanes;
    lanes->output_count = tuple ? hlo_operand_count(root) : 1;
    lanes->outputs = HLO_NEW_ARRAY(c->arena, uint32_t, lanes->output_count);
    lanes->output_bytes = HLO_NEW_ARRAY(c->arena, size_t, lanes->output_count);
    for (size_t k = 0; k < lanes->output_count; k++) {
        const HloInstruction *value = tuple ? hlo_operand(root, k) : root;
        lanes->outputs[k] = c->register_of[value->id];
        lanes->output_bytes[k] = hlo_element_bytes(value->shape->type);
    }
}

static void compile_inputs(Compiler *c, const HloComputation *comp) {
    HloLanes *lanes = c->lanes;
    lanes->input_count = hlo_parameter_count(comp);
    lanes->input_bytes = HLO_NEW_ARRAY(c->arena, size_t, lanes->input_count);
    for (size_t k = 0; k < lanes->input_count; k++) {
        lanes->input_bytes[k] = hlo_element_bytes(hlo_parameter(comp, k)->shape->type);
    }
}

HloStatus hlo_lanes_compile(const HloComputation *comp, HloArena *arena, HloLanes **out) {
    *out = NULL;
    if (!is_lane_computation(comp)) return hlo_ok();
    HloLanes *lanes = HLO_NEW(arena, HloLanes);
    Compiler c = {arena, lanes, HLO_NEW_ARRAY(arena, uint32_t, comp->id_limit)};
    lanes->steps = HLO_NEW_ARRAY(arena, LaneStep, comp->count);
    lanes->registers = HLO_NEW_ARRAY(arena, char *, comp->count);
    lanes->parameter_of = HLO_NEW_ARRAY(arena, size_t, comp->count);
    lanes->now = HLO_NEW_ARRAY(arena, const void *, comp->count);
    HloInstList order = hlo_post_order(comp, arena);
    for (size_t i = 0; i < order.count; i++) {
        if (!is_output_tuple(order.items[i])) HLO_TRY(compile_instruction(&c, order.items[i]));
    }
    compile_outputs(&c, comp);
    compile_inputs(&c, comp);
    *out = lanes;
    return hlo_ok();
}

static void run_block(HloLanes *lanes, int64_t n, const void *const *in, void *const *out, int64_t at) {
    for (size_t r = 0; r < lanes->register_count; r++) {
        size_t k = lanes->parameter_of[r];
        lanes->now[r] =
            lanes->registers[r] ? lanes->registers[r] : (const char *)in[k] + (size_t)at * lanes->input_bytes[k];
    }
    for (size_t s = 0; s < lanes->step_count; s++) {
        LaneStep *step = lanes->steps + s;
        const void *operands[3] = {lanes->now[step->in[0]], lanes->now[step->in[1]], lanes->now[step->in[2]]};
        step->op.run(&step->op, n, operands, lanes->registers[step->out]);
    }
    for (size_t k = 0; k < lanes->output_count; k++) {
        size_t bytes = lanes->output_bytes[k];
        memmove((char *)out[k] + (size_t)at * bytes, lanes->now[lanes->outputs[k]], (size_t)n * bytes);
    }
}

void hlo_lanes_run(HloLanes *lanes, int64_t n, const void *const *in, void *const *out) {
    for (int64_t at = 0; at < n; at += HLO_BLOCK) {
        run_block(lanes, n - at < HLO_BLOCK ? n - at : HLO_BLOCK, in, out, at);
    }
}
