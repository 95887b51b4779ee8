// A buffer assignment as a protocol buffer (buffer assignment chapter, §7).

#include "hlo/proto.h"
#include "lib/cpu/assignment.h"
#include "lib/proto/message.h"

#include "hlo.pb-c.h"

typedef Xla__BufferAssignmentProto__BufferAlias Alias;
typedef Xla__BufferAllocationProto__Assigned Assigned;
typedef Xla__LogicalBufferProto__Location Location;

typedef struct Writing {
    const HloBufferAssignment *assignment;
    HloArena arena;
    int64_t **places;  // of instructions, as the module's writer numbers them
    HloVec buffers, aliases;
    HloBuffer *out;
} Writing;

static Location *write_location(Writing *w, const HloValue *value) {
    const HloInstruction *inst = value->inst;
    Location *out = hlo_message_new(&w->arena, &xla__logical_buffer_proto__location__descriptor);
    HloDims index = hlo_node_index(&w->assignment->flow->nodes, &w->arena, inst->shape, value->node);
    out->n_shape_index = index.count;
    out->shape_index = (int64_t *)(uintptr_t)index.data;
    out->instruction_id = hlo_proto_id(inst->comp->id, w->places[inst->comp->id][inst->id]);
    return out;
}

// Every other value of the value's group.
static void write_aliases(Writing *w, const HloValue *value) {
    const HloAliasing *aliasing = w->assignment->aliasing;
    const HloValueGroup *group = &aliasing->groups[aliasing->group_of[value->id]];
    for (size_t k = 0; k < group->count; k++) {
        if (group->ids[k] == value->id) continue;
        Alias *out = hlo_message_new(&w->arena, &xla__buffer_assignment_proto__buffer_alias__descriptor);
        out->source_buffer_id = value->id;
        out->location = write_location(w, hlo_flow_value(w->assignment->flow, group->ids[k]));
        hlo_vec_push(&w->arena, &w->aliases, out);
    }
}

static void write_buffers(Writing *w) {
    const HloBufferAssignment *assignment = w->assignment;
    for (size_t v = 0; v < assignment->flow->value_limit; v++) {
        if (!assignment->block_of[v]) continue;
        const HloValue *value = hlo_flow_value(assignment->flow, (int32_t)v);
        Xla__LogicalBufferProto *out = hlo_message_new(&w->arena, &xla__logical_buffer_proto__descriptor);
        out->id = value->id;
        out->size = hlo_value_size_bytes(value->shape);
        out->defined_at = write_location(w, value);
        out->color = color_of(value);
        hlo_vec_push(&w->arena, &w->buffers, out);
        write_aliases(w, value);
    }
}

static Assigned *write_assigned(Writing *w, int32_t id) {
    Assigned *out = hlo_message_new(&w->arena, &xla__buffer_allocation_proto__assigned__descriptor);
    out->logical_buffer_id = id;
    out->offset = w->assignment->offset_of[id];
    out->size = w->assignment->size_of[id];
    out->element_type =
        (Xla__PrimitiveType)hlo_type_info(hlo_flow_value(w->assignment->flow, id)->shape->type)->proto_number;
    return out;
}

static Xla__BufferAllocationProto *write_block(Writing *w, const Block *block) {
    const HloAllocation *facts = &block->facts;
    Xla__BufferAllocationProto *out = hlo_message_new(&w->arena, &xla__buffer_allocation_proto__descriptor);
    out->index = facts->index;
    out->size = facts->size_bytes;
    out->is_thread_local = facts->is_thread_local;
    out->maybe_live_out = facts->maybe_live_out;
    out->color = block->color;
    out->is_tuple = facts->is_tuple;
    out->is_constant = facts->is_constant;
    if (facts->is_parameter) {
        out->is_entry_computation_parameter = true;
        out->parameter_number = facts->parameter_number;
        out->n_parameter_shape_index = facts->parameter_index.count;
        out->parameter_shape_index = (int64_t *)(uintptr_t)facts->parameter_index.data;
        out->is_parameter_aliased_with_output = facts->maybe_live_out;
    }
    out->n_assigned = block->count;
    out->assigned = HLO_NEW_ARRAY(&w->arena, Assigned *, block->count);
    for (size_t k = 0; k < block->count; k++) out->assigned[k] = write_assigned(w, block->values[k]);
    return out;
}

static HloStatus write_all(void *data) {
    Writing *w = data;
    const HloBufferAssignment *assignment = w->assignment;
    w->places = hlo_proto_places(&w->arena, assignment->m);
    Xla__HloProto *proto = hlo_message_new(&w->arena, &xla__hlo_proto__descriptor);
    Xla__BufferAssignmentProto *out = hlo_message_new(&w->arena, &xla__buffer_assignment_proto__descriptor);
    proto->buffer_assignment = out;
    write_buffers(w);
    out->n_logical_buffers = w->buffers.count;
    out->logical_buffers = (Xla__LogicalBufferProto **)w->buffers.items;
    out->n_buffer_aliases = w->aliases.count;
    out->buffer_aliases = (Alias **)w->aliases.items;
    out->n_buffer_allocations = assignment->blocks.count;
    out->buffer_allocations = HLO_NEW_ARRAY(&w->arena, Xla__BufferAllocationProto *, assignment->blocks.count);
    for (size_t k = 0; k < assignment->blocks.count; k++) {
        out->buffer_allocations[k] = write_block(w, block_at(assignment, k));
    }
    return hlo_wire_write(proto, w->out);
}

HloStatus hlo_put_buffer_assignment_proto(HloBuffer *out, const HloBufferAssignment *assignment) {
    Writing w = {.assignment = assignment, .out = out};
    HloStatus status = hlo_guarded((HloArena *const[]){&w.arena, NULL}, write_all, &w);
    hlo_arena_free(&w.arena);
    return status;
}
