// Instructions and computations from messages.

#include "reader.h"

#include <stdlib.h>

// ---- opcodes ---------------------------------------------------------------------------------------------

typedef struct OldComparison {
    const char *opcode, *direction;
} OldComparison;

// Comparisons that were opcodes of their own once.
static const OldComparison old_comparisons[] = {{"equal-to", "EQ"},     {"not-equal-to", "NE"},
                                                {"greater-than", "GT"}, {"greater-than-or-equal-to", "GE"},
                                                {"less-than", "LT"},    {"less-than-or-equal-to", "LE"}};

static HloStatus find_opcode(HloProtoReader *r, Xla__HloInstructionProto *from, HloOpcode *out) {
    for (size_t i = 0; i < HLO_COUNT(old_comparisons); i++) {
        if (strcmp(from->opcode, old_comparisons[i].opcode)) continue;
        *out = HLO_OP_COMPARE;
        from->comparison_direction = hlo_arena_printf(r->scratch, "%s", old_comparisons[i].direction);
        return hlo_ok();
    }
    if (hlo_op_find(from->opcode, strlen(from->opcode), out)) return hlo_ok();
    const char *near = hlo_op_suggest(from->opcode, strlen(from->opcode));
    return hlo_error(HLO_INVALID_ARGUMENT, "opcode: Unknown opcode: %.100s%s%s%s", from->opcode,
                     near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

// ---- edges -----------------------------------------------------------------------------------------------

static HloInstruction *find_instruction(const HloProtoReader *r, int64_t id) {
    return hlo_map_find(r->instructions, hlo_id_key(hlo_local_id(id)));
}

static HloStatus find_operands(HloProtoReader *r, const Xla__HloInstructionProto *from, HloInstruction ***out) {
    *out = HLO_NEW_ARRAY(r->scratch, HloInstruction *, from->n_operand_ids);
    for (size_t i = 0; i < from->n_operand_ids; i++) {
        (*out)[i] = find_instruction(r, from->operand_ids[i]);
        if (!(*out)[i])
            return hlo_error(HLO_INVALID_ARGUMENT,
                             "operand_ids[%zu]: instruction contains invalid operand id(s): %lld names no earlier one",
                             i, (long long)from->operand_ids[i]);
    }
    return hlo_ok();
}

// How many computations an opcode calls: what its row requires, or any number.
static HloStatus check_callees(HloOpcode op, size_t count) {
    const HloOpInfo *info = hlo_op_info(op);
    size_t wanted = 0;
    for (size_t i = 0; i < info->attr_count; i++) {
        HloAttrKind kind = hlo_attr_info(info->attrs[i].id)->kind;
        if (kind == HLO_KIND_COMPUTATIONS) return hlo_ok();
        if (kind == HLO_KIND_COMPUTATION && info->attrs[i].rule == HLO_USE_REQUIRED) wanted++;
    }
    if (count == wanted) return hlo_ok();
    return hlo_error(HLO_INVALID_ARGUMENT,
                     "called_computation_ids: %s should have %zu called computation%s but has %zu", info->name, wanted,
                     wanted == 1 ? "" : "s", count);
}

static HloStatus set_callees(HloProtoReader *r, const Xla__HloInstructionProto *from, HloInstruction *inst) {
    HLO_TRY(check_callees(inst->op, from->n_called_computation_ids));
    for (size_t k = 0; k < from->n_called_computation_ids; k++) {
        HloComputation *callee = hlo_map_find(&r->computations, hlo_id_key((uint64_t)from->called_computation_ids[k]));
        if (!callee)
            return hlo_error(
                HLO_INVALID_ARGUMENT,
                "called_computation_ids[%zu]: instruction references invalid computation id(s): %lld names no "
                "earlier one",
                k, (long long)from->called_computation_ids[k]);
        hlo_set_called(inst, k, callee);
    }
    return hlo_ok();
}

static HloStatus add_control_edges(HloProtoReader *r, const Xla__HloInstructionProto *from, HloInstruction *inst) {
    for (size_t i = 0; i < from->n_control_predecessor_ids; i++) {
        int64_t id = from->control_predecessor_ids[i];
        HloInstruction *before = find_instruction(r, id);
        if (!before)
            return hlo_error(HLO_INVALID_ARGUMENT,
                             "control_predecessor_ids[%zu]: No instruction with id %lld (local id: %u) before this one",
                             i, (long long)id, (unsigned)hlo_local_id(id));
        hlo_add_control_edge(before, inst);
    }
    return hlo_ok();
}

// ---- checks ----------------------------------------------------------------------------------------------

static bool is_async(HloOpcode op) {
    return op == HLO_OP_ASYNC_START || op == HLO_OP_ASYNC_UPDATE || op == HLO_OP_ASYNC_DONE;
}

// An update or done continues a chain; a start calls a computation of its own.
static HloStatus check_async(const HloInstruction *inst) {
    if (inst->op == HLO_OP_ASYNC_START) {
        const HloComputation *callee = hlo_called(inst, 0);
        for (size_t i = 0; i < callee->callers.count; i++) {
            if (((const HloInstruction *)callee->callers.items[i])->op == HLO_OP_ASYNC_START)
                return hlo_error(HLO_INVALID_ARGUMENT, "Computation %.200s is called by more than one async op.",
                                 callee->name);
        }
        bool form =
            hlo_shape_is_tuple(inst->shape) && inst->shape->rank >= 2 && hlo_shape_is_tuple(inst->shape->elements[0]);
        return form ? hlo_ok()
                    : hlo_error(HLO_INVALID_ARGUMENT, "async-start must have a tuple shape of operands and result");
    }
    // An update may bind operands that its start did not have.
    size_t count = hlo_operand_count(inst);
    HloOpcode before = count ? hlo_operand(inst, 0)->op : HLO_OP_ADD;
    bool fits = count == 1 || (count && inst->op == HLO_OP_ASYNC_UPDATE);
    if (fits && (before == HLO_OP_ASYNC_START || before == HLO_OP_ASYNC_UPDATE)) return hlo_ok();
    return hlo_error(HLO_INVALID_ARGUMENT, "the operand of %s must be asynchronous", hlo_op_name(inst->op));
}

static HloStatus check_instruction(HloProtoReader *r, HloLine *line) {
    if (is_async(line->op)) return check_async(line->inst);
    return hlo_check_operand_count(&r->text, line) ? hlo_ok() : hlo_reader_text_error(r);
}

static HloStatus finish_instruction(HloProtoReader *r, HloLine *line) {
    if (is_async(line->op)) return hlo_ok();
    if (line->op == HLO_OP_CONDITIONAL && !line->inst->called.count)
        return hlo_error(HLO_INVALID_ARGUMENT, "conditional calls no computation");
    return hlo_parse_check_rules(&r->text, line) ? hlo_ok() : hlo_reader_text_error(r);
}

static HloStatus check_parameter(HloProtoReader *r, const Xla__HloInstructionProto *from, HloBits seen) {
    (void)r;
    int64_t number = from->parameter_number;
    if (number < 0 || (uint64_t)number >= seen.count)
        return hlo_error(HLO_INVALID_ARGUMENT, "Invalid parameter number. Expected [0, %zu), got %lld", seen.count,
                         (long long)number);
    if (!hlo_bits_claim(seen, (size_t)number))
        return hlo_error(HLO_INVALID_ARGUMENT, "Parameter number %lld already allocated in this computation",
                         (long long)number);
    return hlo_ok();
}

// The name as it will stand in text, which must be new in the whole module.
static HloStatus read_name(HloProtoReader *r, HloMap *names, const char *name, const char *noun, const char **out) {
    if (!*name) return hlo_error(HLO_INVALID_ARGUMENT, "%s has no name", noun);
    const char *clean = hlo_sanitized_name(r->scratch, name);
    void **mark = hlo_map_at_text(r->scratch, names, clean, strlen(clean), NULL);
    if (*mark) return hlo_error(HLO_INVALID_ARGUMENT, "%s name is not unique: %.200s", noun, clean);
    *mark = r;
    *out = hlo_intern_z(r->m, clean);
    return hlo_ok();
}

// ---- instructions ----------------------------------------------------------------------------------------

static HloStatus read_id(HloProtoReader *r, int64_t id, void ***slot) {
    if (id < 0) return hlo_error(HLO_INVALID_ARGUMENT, "Instruction with negative id: %lld", (long long)id);
    if (hlo_local_id(id) > INT32_MAX)
        return hlo_error(HLO_INVALID_ARGUMENT, "Instruction local id is out of bounds: %u", (unsigned)hlo_local_id(id));
    *slot = hlo_map_at(r->scratch, r->instructions, hlo_id_key(hlo_local_id(id)));
    if (**slot) return hlo_error(HLO_INVALID_ARGUMENT, "id %lld stands twice in the computation", (long long)id);
    return hlo_ok();
}

static HloStatus read_instruction(HloProtoReader *r, Xla__HloInstructionProto *from, HloComputation *comp,
                                  HloBits params) {
    const char *at = r->text.lex.begin, *name = NULL;
    HloLine line = {.at = at, .shape_at = at, .op_at = at, .paren_at = at, .attrs_at = at};
    HloInstruction **operands;
    HLO_TRY(find_opcode(r, from, &line.op));
    HLO_TRY(hlo_error_context(hlo_read_proto_shape(r, from->shape, &line.shape), "shape"));
    HLO_TRY(find_operands(r, from, &operands));
    HLO_TRY(read_name(r, &r->instruction_names, from->name, "Instruction", &name));
    if (line.op == HLO_OP_PARAMETER) HLO_TRY(check_parameter(r, from, params));
    bool leaf = line.op == HLO_OP_PARAMETER || line.op == HLO_OP_CONSTANT;
    if (leaf && from->n_operand_ids) return hlo_error(HLO_INVALID_ARGUMENT, "a %s has no operands", from->opcode);
    line.inst = hlo_inst_new(r->m, line.op, line.shape, operands, from->n_operand_ids);
    HLO_TRY(set_callees(r, from, line.inst));
    HLO_TRY(check_instruction(r, &line));
    HLO_TRY(hlo_read_proto_attributes(r, from, &line));
    HLO_TRY(finish_instruction(r, &line));
    hlo_note_unused_fields(r, from, line.op);
    void **slot = NULL;
    HLO_TRY(read_id(r, from->id, &slot));
    *slot = hlo_computation_add_owned(comp, line.inst, name);
    return add_control_edges(r, from, line.inst);
}

// ---- computations ----------------------------------------------------------------------------------------

typedef struct Numbered {
    HloInstruction *inst;
    uint32_t id;
} Numbered;

static int compare_numbered(const void *left, const void *right) {
    const Numbered *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

// Messages stand in post-order; the list of a computation is in the order of its ids.
static void sort_instructions(HloProtoReader *r, const Xla__HloComputationProto *from, HloComputation *comp) {
    Numbered *order = HLO_NEW_ARRAY(r->scratch, Numbered, comp->count);
    size_t count = 0;
    bool sorted = true;
    HLO_EACH_INST(inst, comp) {
        order[count] = (Numbered){inst, hlo_local_id(from->instructions[count]->id)};
        sorted = sorted && (count == 0 || order[count - 1].id < order[count].id);
        count++;
    }
    if (sorted) return;
    qsort(order, count, sizeof *order, compare_numbered);
    HloInstruction *before = NULL;
    for (size_t i = 0; i < count; i++) {
        HloInstruction *inst = order[i].inst;
        inst->id = (uint32_t)i;
        inst->prev = before;
        inst->next = NULL;
        if (before)
            before->next = inst;
        else
            comp->first = inst;
        before = inst;
    }
    comp->last = before;
}

static size_t count_parameters(const Xla__HloComputationProto *from) {
    size_t count = 0;
    for (size_t i = 0; i < from->n_instructions; i++) count += strcmp(from->instructions[i]->opcode, "parameter") == 0;
    return count;
}

static HloStatus read_instructions(HloProtoReader *r, const Xla__HloComputationProto *from, HloComputation *comp) {
    HloBits params = hlo_bits_new(r->scratch, count_parameters(from));
    for (size_t i = 0; i < from->n_instructions; i++) {
        Xla__HloInstructionProto *inst = from->instructions[i];
        HLO_TRY(
            hlo_error_context(read_instruction(r, inst, comp, params), "instructions[%zu] (%.200s)", i, inst->name));
    }
    return hlo_ok();
}

HloStatus hlo_read_proto_computation(HloProtoReader *r, const Xla__HloComputationProto *from) {
    const char *name = NULL;
    HLO_TRY(read_name(r, &r->computation_names, from->name, "Computation", &name));
    if (from->id < 0 || from->id > INT32_MAX)
        return hlo_error(HLO_INVALID_ARGUMENT, "id %lld is no valid id of a computation", (long long)from->id);
    void **slot = hlo_map_at(r->scratch, &r->computations, hlo_id_key((uint64_t)from->id));
    if (*slot) return hlo_error(HLO_INVALID_ARGUMENT, "Computation id is not unique: %lld", (long long)from->id);
    HloComputation *comp = hlo_computation_new(r->m, name);
    HLO_TRY(read_instructions(r, from, comp));
    if (!comp->count) return hlo_error(HLO_INVALID_ARGUMENT, "the computation has no instructions");
    HloInstruction *root = find_instruction(r, from->root_id);
    if (!root || from->root_id < 0)
        return hlo_error(HLO_INVALID_ARGUMENT, "root_id %lld: Root instruction not found in instruction map",
                         (long long)from->root_id);
    hlo_computation_set_root(comp, root);
    const char *thread = hlo_read_proto_text(r, from->execution_thread);
    comp->execution_thread = thread && strcmp(thread, "main") ? thread : NULL;
    sort_instructions(r, from, comp);
    *slot = comp;
    return hlo_ok();
}
