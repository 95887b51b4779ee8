// Verification of buffers `b(...)` (verifier chapter §7.9): where they may appear, and that a custom call hands on each
// buffer it takes, to one place.

#include "verify_rules.h"

// ---- where ----------------------------------------------------------------------------------------------

static bool has_buffer(const HloShape *shape) {
    return shape->flags & HLO_SHAPE_HAS_BUFFER;
}

static bool may_hold_buffers(const HloVerify *v, const HloInstruction *inst) {
    switch (inst->op) {
    case HLO_OP_CUSTOM_CALL:
    case HLO_OP_GET_TUPLE_ELEMENT:
    case HLO_OP_TUPLE:
    case HLO_OP_WHILE:
    case HLO_OP_DYNAMIC_UPDATE_SLICE:
    case HLO_OP_ASYNC_START:
    case HLO_OP_ASYNC_UPDATE:
    case HLO_OP_ASYNC_DONE:
    case HLO_OP_CALL: return true;
    case HLO_OP_PARAMETER: return inst->comp != v->m->entry;
    default: return false;  // every other opcode computes on arrays
    }
}

static HloStatus check_place(const HloVerify *v, const HloInstruction *inst) {
    if (may_hold_buffers(v, inst)) return hlo_ok();
    bool found = has_buffer(inst->shape);
    for (size_t k = 0; !found && k < hlo_operand_count(inst); k++) found = has_buffer(hlo_operand(inst, k)->shape);
    if (!found) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "buffer-place", "buffers are not allowed here");
}

// ---- custom calls ---------------------------------------------------------------------------------------

// Buffers among the leaves of a shape.
static size_t count_buffers(const HloShape *shape) {
    if (shape->type == HLO_BUFFER) return 1;
    size_t count = 0;
    for (size_t k = 0; hlo_shape_is_tuple(shape) && k < shape->rank; k++) count += count_buffers(shape->elements[k]);
    return count;
}

static HloStatus check_pin(const HloVerify *v, const HloInstruction *inst, bool pins) {
    HLO_TRY(hlo_verify_operand_count(inst, 1));
    const HloShape *x = hlo_operand(inst, 0)->shape;
    const HloShape *array = pins ? x : inst->shape, *buffer = pins ? inst->shape : x;
    const HloAliases *aliases = hlo_data(inst, HLO_ATTR_OUTPUT_TO_OPERAND_ALIASING);
    unsigned ignored = v->options.layout_sensitive ? HLO_IGNORE_NOTHING : HLO_IGNORE_LAYOUT;
    bool fits =
        buffer->type == HLO_BUFFER && hlo_shape_is_array(array) && hlo_shape_equal(buffer->elements[0], array, ignored);
    if (fits && aliases && aliases->count == 1) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "buffer-pin",
                           "expected one aliased array and its buffer, found %s and %s", hlo_verify_text(v, x),
                           hlo_verify_text(v, inst->shape));
}

// Buffers that aliases hand on: as many as there are among operands and among results, none named twice.
static HloStatus check_handed_on(const HloVerify *v, const HloInstruction *inst) {
    const HloAliases *aliases = hlo_data(inst, HLO_ATTR_OUTPUT_TO_OPERAND_ALIASING);
    size_t taken = 0, handed = 0;
    HloMap seen = {0};
    for (size_t k = 0; k < hlo_operand_count(inst); k++) taken += count_buffers(hlo_operand(inst, k)->shape);
    for (size_t i = 0; aliases && i < aliases->count; i++) {
        const HloAlias *alias = &aliases->items[i];
        const HloShape *out = hlo_shape_at(inst->shape, alias->output.data, alias->output.count);
        if (!out || out->type != HLO_BUFFER) continue;
        size_t bytes = (alias->input.count + 1) * sizeof(int64_t);
        int64_t *key = HLO_NEW_ARRAY(v->arena, int64_t, alias->input.count + 1);
        key[0] = alias->parameter;
        for (size_t d = 0; d < alias->input.count; d++) key[d + 1] = alias->input.data[d];
        void **slot = hlo_map_at_text(v->arena, &seen, (const char *)key, bytes, NULL);
        if (*slot) return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "buffer-alias", "a buffer is handed on twice");
        *slot = inst->comp;
        handed++;
    }
    if (taken == handed && handed == count_buffers(inst->shape)) return hlo_ok();
    return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "buffer-alias",
                           "%zu buffers come in, %zu go out, %zu are aliased", taken, count_buffers(inst->shape),
                           handed);
}

bool hlo_verify_is_buffer_call(const char *target) {
    return strcmp(target, "Pin") == 0 || strcmp(target, "Unpin") == 0 || strcmp(target, "CreateBuffer") == 0;
}

static HloStatus check_call(const HloVerify *v, const HloInstruction *inst) {
    const char *target = hlo_text(inst, HLO_ATTR_CUSTOM_CALL_TARGET);
    if (strcmp(target, "Pin") == 0) return check_pin(v, inst, true);
    if (strcmp(target, "Unpin") == 0) return check_pin(v, inst, false);
    if (strcmp(target, "CreateBuffer") == 0) return hlo_verify_operand_count(inst, 0);
    return check_handed_on(v, inst);
}

// ---- writers --------------------------------------------------------------------------------------------

// A buffer value: what made it, and where in its result. Tuples and their elements only carry values, and so do calls.
typedef struct BufferValue {
    const HloInstruction *maker;
    HloInts index;  // outermost last
} BufferValue;

// Where a value comes from that passes the border of a call; NULL: it does not. Calls are verified.
static const HloInstruction *across_call(const HloInstruction *at) {
    if (at->op == HLO_OP_CALL) return hlo_called(at, 0)->root;
    if (at->op != HLO_OP_PARAMETER || at->comp->callers.count != 1) return NULL;
    const HloInstruction *caller = at->comp->callers.items[0];
    return caller->op == HLO_OP_CALL ? hlo_operand(caller, (size_t)hlo_parameter_number(at)) : NULL;
}

static BufferValue find_value(const HloVerify *v, const HloInstruction *at, HloDims index) {
    BufferValue value = {at, {0}};
    for (size_t k = index.count; k-- > 0;) hlo_ints_push(v->arena, &value.index, index.data[k]);
    for (;;) {
        if (value.maker->op == HLO_OP_GET_TUPLE_ELEMENT) {
            hlo_ints_push(v->arena, &value.index, hlo_int(value.maker, HLO_ATTR_INDEX));
            value.maker = hlo_operand(value.maker, 0);
        } else if (value.maker->op == HLO_OP_TUPLE && value.index.count) {
            int64_t element = value.index.items[--value.index.count];
            value.maker = hlo_operand(value.maker, (size_t)element);
        } else {
            const HloInstruction *source = across_call(value.maker);
            if (!source) return value;
            value.maker = source;
        }
    }
}

// Whoever takes a buffer and hands it on, or unpins it, is its writer; a value may have one.
static HloStatus note_writer(const HloVerify *v, HloMap *writers, const HloInstruction *inst, size_t k, HloDims index) {
    const HloShape *written = hlo_shape_at(hlo_operand(inst, k)->shape, index.data, index.count);
    if (!written || written->type != HLO_BUFFER) return hlo_ok();
    BufferValue value = find_value(v, hlo_operand(inst, k), index);
    hlo_ints_push(v->arena, &value.index, (int64_t)(uintptr_t)value.maker);
    size_t bytes = value.index.count * sizeof(int64_t);
    void **slot = hlo_map_at_text(v->arena, writers, (const char *)value.index.items, bytes, NULL);
    const HloInstruction *other = *slot;
    if (other) {
        return hlo_verify_fail(inst, HLO_INVALID_ARGUMENT, "one-writer", "'%s' writes the buffer made by '%s' too",
                               other->name, value.maker->name);
    }
    *slot = (void *)(uintptr_t)inst;
    return hlo_ok();
}

static HloStatus note_writers(const HloVerify *v, HloMap *writers, const HloInstruction *inst) {
    if (inst->op == HLO_OP_DYNAMIC_UPDATE_SLICE) return note_writer(v, writers, inst, 0, (HloDims){0});
    if (inst->op != HLO_OP_CUSTOM_CALL) return hlo_ok();
    const HloAliases *aliases = hlo_data(inst, HLO_ATTR_OUTPUT_TO_OPERAND_ALIASING);
    for (size_t i = 0; aliases && i < aliases->count; i++) {
        HLO_TRY(note_writer(v, writers, inst, (size_t)aliases->items[i].parameter, aliases->items[i].input));
    }
    return hlo_ok();
}

HloStatus hlo_verify_buffers(HloVerify *v) {
    HloMap writers = {0};
    HLO_EACH_COMP(comp, v->m) {
        HLO_EACH_INST(inst, comp) {
            HLO_TRY(check_place(v, inst));
            if (inst->op == HLO_OP_CUSTOM_CALL) HLO_TRY(check_call(v, inst));
            HLO_TRY(note_writers(v, &writers, inst));
        }
    }
    return hlo_ok();
}
