// Instructions, computations and the module as messages (protobuf chapter, §4 and §5).

#include "hlo/proto.h"
#include "writer.h"

#include <stdlib.h>

void hlo_writer_fail(HloProtoWriter *w, HloStatus status) {
    if (w->failure.detail)
        hlo_status_free(status);
    else
        w->failure = status;
}

// ---- ids -------------------------------------------------------------------------------------------------

static int64_t id_of(const HloProtoWriter *w, const HloInstruction *inst) {
    return hlo_proto_id(inst->comp->id, w->local_ids[inst->comp->id][inst->id]);
}

int64_t **hlo_proto_places(HloArena *arena, const HloModule *m) {
    int64_t **places = HLO_NEW_ARRAY(arena, int64_t *, m->computation_id_limit);
    HLO_EACH_COMP(comp, m) {
        int64_t next = 0;
        places[comp->id] = HLO_NEW_ARRAY(arena, int64_t, comp->id_limit);
        HLO_EACH_INST(inst, comp) places[comp->id][inst->id] = next++;
    }
    return places;
}

static size_t write_ids(HloProtoWriter *w, HloInstruction *const *insts, size_t count, int64_t **out) {
    *out = HLO_NEW_ARRAY(w->arena, int64_t, count);
    for (size_t i = 0; i < count; i++) (*out)[i] = id_of(w, insts[i]);
    return count;
}

// ---- computations ----------------------------------------------------------------------------------------

static Xla__HloInstructionProto *write_instruction(HloProtoWriter *w, const HloInstruction *inst) {
    Xla__HloInstructionProto *out = hlo_message_new(w->arena, &xla__hlo_instruction_proto__descriptor);
    HLO_SET_TEXT(out, name, inst->name);
    HLO_SET_TEXT(out, opcode, hlo_op_name(inst->op));
    out->shape = hlo_write_shape(w, inst->shape);
    out->id = id_of(w, inst);
    out->n_operand_ids =
        write_ids(w, (HloInstruction *const *)inst->operands.items, inst->operands.count, &out->operand_ids);
    const HloVec *control = hlo_control_preds(inst);
    out->n_control_predecessor_ids =
        write_ids(w, (HloInstruction *const *)control->items, control->count, &out->control_predecessor_ids);
    out->n_called_computation_ids = inst->called.count;
    out->called_computation_ids = HLO_NEW_ARRAY(w->arena, int64_t, inst->called.count);
    for (size_t k = 0; k < inst->called.count; k++) out->called_computation_ids[k] = hlo_called(inst, k)->id;
    hlo_write_attributes(w, inst, out);
    return out;
}

static Xla__HloComputationProto *write_computation(HloProtoWriter *w, const HloComputation *comp) {
    Xla__HloComputationProto *out = hlo_message_new(w->arena, &xla__hlo_computation_proto__descriptor);
    HloInstList order = hlo_post_order(comp, w->arena);
    HLO_SET_TEXT(out, name, comp->name);
    out->id = comp->id;
    out->root_id = id_of(w, comp->root);
    out->is_fusion_computation = hlo_is_fusion_computation(comp);
    HLO_SET_TEXT(out, execution_thread, comp->execution_thread);
    out->program_shape = hlo_write_program_shape(w, comp);
    out->n_instructions = order.count;
    out->instructions = HLO_NEW_LIST(w, Xla__HloInstructionProto, order.count);
    for (size_t i = 0; i < order.count; i++) {
        out->instructions[i] = write_instruction(w, order.items[i]);
        if (!w->failure.detail) continue;
        w->failure = hlo_error_context(w->failure, "%s", order.items[i]->name);
        out->n_instructions = i;
        break;
    }
    return out;
}

// Whether the list has callees before callers, as readers need it.
static bool list_is_post_order(const HloModule *m, HloArena *arena) {
    HloBits seen = hlo_bits_new(arena, m->computation_id_limit);
    HLO_EACH_COMP(comp, m) {
        HLO_EACH_INST(inst, comp) {
            for (size_t k = 0; k < inst->called.count; k++) {
                if (!hlo_bits_has(seen, hlo_called(inst, k)->id)) return false;
            }
        }
        hlo_bits_add(seen, comp->id);
    }
    return true;
}

static void write_computations(HloProtoWriter *w, Xla__HloModuleProto *out) {
    HloCompList order =
        list_is_post_order(w->m, w->arena) ? hlo_module_list(w->m, w->arena) : hlo_module_post_order(w->m, w->arena);
    out->n_computations = order.count;
    out->computations = HLO_NEW_LIST(w, Xla__HloComputationProto, order.count);
    for (size_t i = 0; i < order.count; i++) out->computations[i] = write_computation(w, order.items[i]);
}

// ---- the header ------------------------------------------------------------------------------------------

static int compare_entries(const void *left, const void *right) {
    const Xla__HloScheduleProto__SequencesEntry *a = *(Xla__HloScheduleProto__SequencesEntry *const *)left;
    const Xla__HloScheduleProto__SequencesEntry *b = *(Xla__HloScheduleProto__SequencesEntry *const *)right;
    return (a->key > b->key) - (a->key < b->key);
}

static Xla__HloScheduleProto *write_schedule(HloProtoWriter *w) {
    Xla__HloScheduleProto *out = hlo_message_new(w->arena, &xla__hlo_schedule_proto__descriptor);
    out->sequences = HLO_NEW_LIST(w, Xla__HloScheduleProto__SequencesEntry, w->m->count);
    HLO_EACH_COMP(comp, w->m) {
        if (!comp->sequence) continue;
        Xla__HloScheduleProto__SequencesEntry *entry =
            hlo_message_new(w->arena, &xla__hlo_schedule_proto__sequences_entry__descriptor);
        entry->key = comp->id;
        entry->value = hlo_message_new(w->arena, &xla__hlo_schedule_proto__instruction_sequence__descriptor);
        entry->value->n_instruction_ids =
            write_ids(w, comp->sequence, comp->sequence_count, &entry->value->instruction_ids);
        out->sequences[out->n_sequences++] = entry;
    }
    if (out->n_sequences > 1) qsort(out->sequences, out->n_sequences, sizeof(void *), compare_entries);
    return out;
}

static Xla__HloInputOutputAliasProto *write_aliases(HloProtoWriter *w) {
    const HloAliases *aliases = &w->m->input_output_alias;
    Xla__HloInputOutputAliasProto *out = hlo_message_new(w->arena, &xla__hlo_input_output_alias_proto__descriptor);
    out->n_entries = aliases->count;
    out->entries = HLO_NEW_LIST(w, Xla__HloInputOutputAliasProto__AliasEntryProto, aliases->count);
    for (size_t i = 0; i < aliases->count; i++) {
        Xla__HloInputOutputAliasProto__AliasEntryProto *to =
            hlo_message_new(w->arena, &xla__hlo_input_output_alias_proto__alias_entry_proto__descriptor);
        HLO_SET_DIMS(to, output_shape_index, aliases->items[i].output);
        to->parameter_number = aliases->items[i].parameter;
        HLO_SET_DIMS(to, parameter_shape_index, aliases->items[i].input);
        to->kind = aliases->items[i].must ? XLA__KIND__MUST_ALIAS : XLA__KIND__MAY_ALIAS;
        out->entries[i] = to;
    }
    return out;
}

static Xla__HloBufferDonorProto *write_donors(HloProtoWriter *w) {
    const HloAliases *donors = &w->m->buffer_donor;
    Xla__HloBufferDonorProto *out = hlo_message_new(w->arena, &xla__hlo_buffer_donor_proto__descriptor);
    out->n_entries = donors->count;
    out->entries = HLO_NEW_LIST(w, Xla__HloBufferDonorProto__BufferDonorEntryProto, donors->count);
    for (size_t i = 0; i < donors->count; i++) {
        Xla__HloBufferDonorProto__BufferDonorEntryProto *to =
            hlo_message_new(w->arena, &xla__hlo_buffer_donor_proto__buffer_donor_entry_proto__descriptor);
        to->parameter_number = donors->items[i].parameter;
        HLO_SET_DIMS(to, parameter_shape_index, donors->items[i].input);
        out->entries[i] = to;
    }
    return out;
}

static Xla__StackFrameIndexProto *write_frames(HloProtoWriter *w) {
    const HloFrames *f = &w->m->frames;
    Xla__StackFrameIndexProto *out = hlo_message_new(w->arena, &xla__stack_frame_index_proto__descriptor);
    out->n_file_names = f->file_name_count;
    out->file_names = (char **)f->file_names;
    out->n_function_names = f->function_name_count;
    out->function_names = (char **)f->function_names;
    out->n_file_locations = f->location_count;
    out->file_locations = HLO_NEW_LIST(w, Xla__StackFrameIndexProto__FileLocation, f->location_count);
    for (size_t i = 0; i < f->location_count; i++) {
        Xla__StackFrameIndexProto__FileLocation *to =
            hlo_message_new(w->arena, &xla__stack_frame_index_proto__file_location__descriptor);
        to->file_name_id = f->locations[i].file_name_id;
        to->function_name_id = f->locations[i].function_name_id;
        to->line = f->locations[i].line;
        to->column = f->locations[i].column;
        to->end_line = f->locations[i].end_line;
        to->end_column = f->locations[i].end_column;
        out->file_locations[i] = to;
    }
    out->n_stack_frames = f->frame_count;
    out->stack_frames = HLO_NEW_LIST(w, Xla__StackFrameIndexProto__StackFrame, f->frame_count);
    for (size_t i = 0; i < f->frame_count; i++) {
        out->stack_frames[i] = hlo_message_new(w->arena, &xla__stack_frame_index_proto__stack_frame__descriptor);
        out->stack_frames[i]->file_location_id = f->frames[i].file_location_id;
        out->stack_frames[i]->parent_frame_id = f->frames[i].parent_frame_id;
    }
    return out;
}

// ---- tables that few modules have ------------------------------------------------------------------------

// Modules inside modules are as deep as the text that held them, which doubles its escapes with every level.
static Xla__HloModuleProto *write_inner_module(HloProtoWriter *w, const HloModule *m) {
    HloProtoWriter inner = {.arena = w->arena, .m = m};
    Xla__HloModuleProto *out = hlo_write_module(&inner);
    hlo_writer_fail(w, hlo_error_context(inner.failure, "recovery module %s", m->name));
    return out;
}

static Xla__OriginalValueRecoveryTableProto *write_recovery(HloProtoWriter *w) {
    const HloModule *m = w->m;
    Xla__OriginalValueRecoveryTableProto *out =
        hlo_message_new(w->arena, &xla__original_value_recovery_table_proto__descriptor);
    out->n_entries = m->recovery_count;
    out->entries = HLO_NEW_LIST(w, Xla__OriginalValueRecoveryTableProto__Entry, m->recovery_count);
    for (size_t i = 0; i < m->recovery_count; i++) {
        const HloRecoveryRow *row = &m->recovery[i];
        Xla__OriginalValueRecoveryTableProto__Entry *to =
            hlo_message_new(w->arena, &xla__original_value_recovery_table_proto__entry__descriptor);
        to->old_original_array = hlo_write_original_array(w, row->old_name, row->old_index);
        if (row->new_name) to->new_original_array = hlo_write_original_array(w, row->new_name, row->new_index);
        if (row->module) to->recovery_module = write_inner_module(w, row->module);
        out->entries[i] = to;
    }
    return out;
}

static Xla__DebugAttributesProto *write_debug_attr(HloProtoWriter *w, const HloDebugAttr *attr) {
    Xla__DebugAttributesProto *out = hlo_message_new(w->arena, &xla__debug_attributes_proto__descriptor);
    out->log_mode = (Xla__DebugAttributesProto__DebugLogModeProto)attr->log_mode;
    out->callback_id = attr->callback_id;
    out->op_id = attr->op_id;
    out->partitioned = attr->partitioned;
    return out;
}

static void write_debug_rows(HloProtoWriter *w, Xla__HloModuleProto *out) {
    const HloModule *m = w->m;
    out->n_debug_attributes = m->debug_row_count;
    out->debug_attributes = HLO_NEW_LIST(w, Xla__DebugAttributeTableEntryProto, m->debug_row_count);
    for (size_t i = 0; i < m->debug_row_count; i++) {
        const HloDebugRow *row = &m->debug_rows[i];
        Xla__DebugAttributeTableEntryProto *to =
            hlo_message_new(w->arena, &xla__debug_attribute_table_entry_proto__descriptor);
        to->original_array = hlo_write_original_array(w, row->name, (HloDims){0});
        to->n_debug_attributes = row->count;
        to->debug_attributes = HLO_NEW_LIST(w, Xla__DebugAttributesProto, row->count);
        for (size_t k = 0; k < row->count; k++) to->debug_attributes[k] = write_debug_attr(w, &row->attrs[k]);
        out->debug_attributes[i] = to;
    }
}

static void write_payloads(HloProtoWriter *w, Xla__HloModuleProto *out) {
    out->n_payloads = w->payload_list.count;
    out->payloads = HLO_NEW_ARRAY(w->arena, ProtobufCBinaryData, w->payload_list.count);
    for (size_t i = 0; i < w->payload_list.count; i++)
        out->payloads[i] = *(const ProtobufCBinaryData *)w->payload_list.items[i];
}

// ---- the module ------------------------------------------------------------------------------------------

// The message to fill: empty, or with what the module keeps of the message that it came from.
static Xla__HloModuleProto *start_module(HloProtoWriter *w) {
    HloUnknown unknown = {0};
    size_t progress;
    void *out = NULL;
    if (w->m->proto_rest.size)
        hlo_writer_fail(w, hlo_wire_read(w->arena, &xla__hlo_module_proto__descriptor, w->m->proto_rest, &out, &unknown,
                                         &progress));
    return out ? out : hlo_message_new(w->arena, &xla__hlo_module_proto__descriptor);
}

Xla__HloModuleProto *hlo_write_module(HloProtoWriter *w) {
    const HloModule *m = w->m;
    Xla__HloModuleProto *out = start_module(w);
    w->local_ids = hlo_proto_places(w->arena, w->m);
    HLO_SET_TEXT(out, name, m->name);
    HLO_SET_TEXT(out, entry_computation_name, m->entry->name);
    out->entry_computation_id = m->entry->id;
    write_computations(w, out);
    out->host_program_shape = hlo_write_entry_shape(w);
    if (m->is_scheduled) out->schedule = write_schedule(w);
    out->input_output_alias = write_aliases(w);
    out->buffer_donor = write_donors(w);
    out->frontend_attributes = hlo_message_new(w->arena, &xla__frontend_attributes__descriptor);
    hlo_write_string_map(w, &m->frontend_attributes, out->frontend_attributes);
    if (m->frames.file_name_count + m->frames.function_name_count + m->frames.location_count + m->frames.frame_count)
        out->stack_frame_index = write_frames(w);
    if (m->recovery_count) out->original_value_recovery_table = write_recovery(w);
    write_debug_rows(w, out);
    write_payloads(w, out);
    return out;
}
