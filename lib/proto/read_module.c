// The module from its message: signature, computations, schedule, and everything else a header has.

#include "reader.h"

#include <stdlib.h>

void hlo_reader_note(HloProtoReader *r, const char *format, ...) {
    if (!r->note_text) return;
    va_list args;
    va_start(args, format);
    HloStatus text = hlo_error_v(HLO_UNKNOWN, format, args);
    va_end(args);
    const char *message = hlo_status_message(text);
    void **given = hlo_map_at_text(r->scratch, &r->notes, message, strlen(message), NULL);
    if (!*given) hlo_putf(r->note_text, "%s\n", message);
    *given = r;
    hlo_status_free(text);
}

HloStatus hlo_reader_text_error(HloProtoReader *r) {
    const char *message = r->text.error.at ? r->text.error.message : "the instruction breaks a rule";
    r->text.error = (HloDiagnostic){0};
    hlo_buffer_free(&r->text.notes);
    return hlo_error(HLO_INVALID_ARGUMENT, "%s", message);
}

// ---- signature -------------------------------------------------------------------------------------------

static HloStatus read_signature(HloProtoReader *r, const Xla__ProgramShapeProto *from) {
    HloModule *m = r->m;
    if (!from) return hlo_error(HLO_INVALID_ARGUMENT, "No program shape found in the proto");
    if (from->n_parameters != from->n_parameter_names)
        return hlo_error(HLO_INVALID_ARGUMENT,
                         "ProgramShapeProto has different numbers of parameters and parameter names: %zu vs %zu",
                         from->n_parameters, from->n_parameter_names);
    m->entry_params = HLO_NEW_ARRAY(r->arena, const HloShape *, from->n_parameters);
    m->entry_param_count = from->n_parameters;
    for (size_t k = 0; k < from->n_parameters; k++)
        HLO_TRY(
            hlo_error_context(hlo_read_proto_shape(r, from->parameters[k], &m->entry_params[k]), "parameters[%zu]", k));
    return hlo_error_context(hlo_read_proto_shape(r, from->result, &m->entry_result), "result");
}

static HloStatus check_signature(const HloProtoReader *r) {
    const HloModule *m = r->m;
    if (m->entry_param_count != hlo_parameter_count(m->entry))
        return hlo_error(HLO_INVALID_ARGUMENT, "host_program_shape has %zu parameters, but the entry computation %zu",
                         m->entry_param_count, hlo_parameter_count(m->entry));
    for (size_t k = 0; k < m->entry_param_count; k++) {
        if (!hlo_shape_compatible(m->entry_params[k], hlo_parameter(m->entry, k)->shape))
            return hlo_error(HLO_INVALID_ARGUMENT,
                             "host_program_shape: parameters[%zu] has another shape than parameter %zu", k, k);
    }
    if (!hlo_shape_compatible(m->entry_result, m->entry->root->shape))
        return hlo_error(HLO_INVALID_ARGUMENT, "host_program_shape: result has another shape than the entry's root");
    return hlo_ok();
}

// ---- computations ----------------------------------------------------------------------------------------

typedef struct Numbered {
    HloComputation *comp;
    int64_t id;
    uint32_t place;  // in the message
} Numbered;

static int compare_numbered(const void *left, const void *right) {
    const Numbered *a = left, *b = right;
    return (a->id > b->id) - (a->id < b->id);
}

// Messages have callees before callers; the list of a module is in the order of ids, which are made small.
static void add_computations(HloProtoReader *r) {
    size_t count = r->proto->n_computations;
    Numbered *order = HLO_NEW_ARRAY(r->scratch, Numbered, count);
    for (size_t i = 0; i < count; i++) {
        int64_t id = r->proto->computations[i]->id;
        order[i] = (Numbered){hlo_map_find(&r->computations, hlo_id_key((uint64_t)id)), id, (uint32_t)i};
    }
    if (count > 1) qsort(order, count, sizeof *order, compare_numbered);
    uint32_t *places = HLO_NEW_ARRAY(&r->m->arena, uint32_t, count);
    for (size_t i = 0; i < count; i++) {
        order[i].comp->id = (uint32_t)i;
        places[i] = order[i].place;
        hlo_module_add(r->m, order[i].comp);
    }
    r->m->message_places = places;
    r->m->message_place_count = count;
}

static HloStatus read_computations(HloProtoReader *r) {
    const Xla__HloModuleProto *from = r->proto;
    r->by_id = HLO_NEW_ARRAY(r->scratch, HloMap, from->n_computations);
    for (size_t i = 0; i < from->n_computations; i++) {
        const Xla__HloComputationProto *comp = from->computations[i];
        r->instructions = &r->by_id[i];
        HLO_TRY(hlo_error_context(hlo_read_proto_computation(r, comp), "computations[%zu] (%.200s)", i, comp->name));
    }
    add_computations(r);
    HloComputation *entry = hlo_map_find(&r->computations, hlo_id_key((uint64_t)from->entry_computation_id));
    if (!entry)
        return hlo_error(HLO_INVALID_ARGUMENT, "entry_computation_id: there is no computation %lld",
                         (long long)from->entry_computation_id);
    hlo_module_set_entry(r->m, entry);
    return check_signature(r);
}

// ---- schedule --------------------------------------------------------------------------------------------

static HloStatus check_order(const HloInstruction *inst, HloBits done) {
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        if (!hlo_bits_has(done, hlo_operand(inst, k)->id))
            return hlo_error(HLO_INVALID_ARGUMENT, "%.200s is not scheduled after its operand %.200s", inst->name,
                             hlo_operand(inst, k)->name);
    }
    const HloVec *control = hlo_control_preds(inst);
    for (size_t k = 0; k < control->count; k++) {
        const HloInstruction *before = control->items[k];
        if (!hlo_bits_has(done, before->id))
            return hlo_error(HLO_INVALID_ARGUMENT, "%.200s is not scheduled after its control predecessor %.200s",
                             inst->name, before->name);
    }
    return hlo_ok();
}

static HloStatus read_sequence(HloProtoReader *r, const Xla__HloScheduleProto__InstructionSequence *from,
                               const HloMap *by_id, HloComputation *comp) {
    size_t count = from ? from->n_instruction_ids : 0;
    if (count != comp->count)
        return hlo_error(HLO_INVALID_ARGUMENT, "Schedule for computation %.200s has %zu instructions, expected %zu",
                         comp->name, count, comp->count);
    HloBits done = hlo_bits_new(r->scratch, comp->id_limit);
    comp->sequence = HLO_NEW_ARRAY(r->arena, HloInstruction *, count);
    for (size_t i = 0; i < count; i++) {
        HloInstruction *inst = hlo_map_find(by_id, hlo_id_key(hlo_local_id(from->instruction_ids[i])));
        if (!inst)
            return hlo_error(HLO_INVALID_ARGUMENT,
                             "No instruction exists in HLO computation %.200s with unique id %lld", comp->name,
                             (long long)from->instruction_ids[i]);
        HLO_TRY(check_order(inst, done));
        if (!hlo_bits_claim(done, inst->id))
            return hlo_error(HLO_INVALID_ARGUMENT, "%.200s appears more than once in the schedule", inst->name);
        comp->sequence[i] = inst;
    }
    comp->sequence_count = count;
    return hlo_ok();
}

static HloStatus read_schedule(HloProtoReader *r) {
    const Xla__HloScheduleProto *from = r->proto->schedule;
    if (!from) return hlo_ok();
    HloMap sequences = {0};  // the last of several for one computation counts
    for (size_t i = 0; i < from->n_sequences; i++)
        *hlo_map_at(r->scratch, &sequences, hlo_id_key((uint64_t)from->sequences[i]->key)) = from->sequences[i];
    r->m->is_scheduled = true;
    for (size_t i = 0; i < r->proto->n_computations; i++) {
        const Xla__HloComputationProto *proto = r->proto->computations[i];
        HloComputation *comp = hlo_map_find(&r->computations, hlo_id_key((uint64_t)proto->id));
        const Xla__HloScheduleProto__SequencesEntry *entry = hlo_map_find(&sequences, hlo_id_key((uint64_t)proto->id));
        if (entry) HLO_TRY(read_sequence(r, entry->value, &r->by_id[i], comp));
        if (!entry && !hlo_is_fusion_computation(comp))
            return hlo_error(HLO_INVALID_ARGUMENT, "computation %.200s is missing from HLO schedule.", comp->name);
    }
    return hlo_ok();
}

// ---- aliases ---------------------------------------------------------------------------------------------

static HloStatus check_parameter_index(const HloProtoReader *r, int64_t number, HloDims index) {
    const HloModule *m = r->m;
    if (number < 0 || (uint64_t)number >= m->entry_param_count)
        return hlo_error(HLO_INVALID_ARGUMENT, "parameter number %lld does not exist", (long long)number);
    if (!hlo_shape_at(m->entry_params[number], index.data, index.count))
        return hlo_error(HLO_INVALID_ARGUMENT, "parameter %lld has no such shape index", (long long)number);
    return hlo_ok();
}

static HloStatus read_aliases(HloProtoReader *r) {
    const Xla__HloInputOutputAliasProto *from = r->proto->input_output_alias;
    if (!from) return hlo_ok();
    HloAlias *items = HLO_NEW_ARRAY(r->scratch, HloAlias, from->n_entries);
    for (size_t i = 0; i < from->n_entries; i++) {
        const Xla__HloInputOutputAliasProto__AliasEntryProto *entry = from->entries[i];
        items[i].output = hlo_read_proto_dims(r, entry->output_shape_index, entry->n_output_shape_index);
        items[i].parameter = entry->parameter_number;
        items[i].input = hlo_read_proto_dims(r, entry->parameter_shape_index, entry->n_parameter_shape_index);
        items[i].must = entry->kind != XLA__KIND__MAY_ALIAS;
        if (!hlo_shape_at(r->m->entry_result, items[i].output.data, items[i].output.count))
            return hlo_error(HLO_INVALID_ARGUMENT,
                             "entries[%zu]: Trying to set up alias at an output index that the result does not have",
                             i);
        HLO_TRY(hlo_error_context(check_parameter_index(r, items[i].parameter, items[i].input), "entries[%zu]", i));
    }
    HloAliases aliases = {items, from->n_entries};
    hlo_sort_aliases(&r->text, &aliases);
    if (aliases.count != from->n_entries)
        return hlo_error(HLO_INVALID_ARGUMENT, "an output index is already aliased with a parameter");
    r->m->input_output_alias = aliases;
    return hlo_ok();
}

static HloStatus read_donors(HloProtoReader *r) {
    const Xla__HloBufferDonorProto *from = r->proto->buffer_donor;
    if (!from) return hlo_ok();
    HloAlias *items = HLO_NEW_ARRAY(r->arena, HloAlias, from->n_entries);
    for (size_t i = 0; i < from->n_entries; i++) {
        const Xla__HloBufferDonorProto__BufferDonorEntryProto *entry = from->entries[i];
        items[i].parameter = entry->parameter_number;
        items[i].input = hlo_read_proto_dims(r, entry->parameter_shape_index, entry->n_parameter_shape_index);
        HLO_TRY(hlo_error_context(check_parameter_index(r, items[i].parameter, items[i].input), "entries[%zu]", i));
    }
    r->m->buffer_donor = (HloAliases){items, hlo_sort_donors(items, from->n_entries)};
    return hlo_ok();
}

// ---- tables ----------------------------------------------------------------------------------------------

static const char **read_texts(HloProtoReader *r, char *const *from, size_t count) {
    const char **texts = HLO_NEW_ARRAY(r->arena, const char *, count);
    for (size_t i = 0; i < count; i++) texts[i] = hlo_intern_z(r->m, from[i]);
    return texts;
}

static void read_frames(HloProtoReader *r) {
    const Xla__StackFrameIndexProto *from = r->proto->stack_frame_index;
    HloFrames *f = &r->text.frames;
    if (!from) return;
    f->file_names = read_texts(r, from->file_names, f->file_name_count = from->n_file_names);
    f->function_names = read_texts(r, from->function_names, f->function_name_count = from->n_function_names);
    f->locations = HLO_NEW_ARRAY(r->arena, HloFileLocation, f->location_count = from->n_file_locations);
    for (size_t i = 0; i < f->location_count; i++) {
        const Xla__StackFrameIndexProto__FileLocation *row = from->file_locations[i];
        f->locations[i] = (HloFileLocation){row->file_name_id, row->function_name_id, row->line,
                                            row->end_line,     row->column,           row->end_column};
    }
    f->frames = HLO_NEW_ARRAY(r->arena, HloStackFrame, f->frame_count = from->n_stack_frames);
    for (size_t i = 0; i < f->frame_count; i++)
        f->frames[i] = (HloStackFrame){from->stack_frames[i]->file_location_id, from->stack_frames[i]->parent_frame_id};
    r->text.renumber_frames = r->renumber_frames;
    hlo_store_frames(&r->text);
}

static HloStatus read_inner_module(HloProtoReader *r, const Xla__HloModuleProto *from, HloModule **out) {
    HloModule *m = hlo_module_new("");
    if (!m) return hlo_out_of_memory();
    hlo_vec_push(r->arena, &r->m->owned_modules, m);
    m->arena.trap = r->arena->trap;
    HloProtoReader *inner = HLO_NEW(r->scratch, HloProtoReader);
    *inner = (HloProtoReader){.m = m,
                              .arena = &m->arena,
                              .scratch = r->scratch,
                              .shapes = &m->shapes,
                              .note_text = r->note_text,
                              .renumber_frames = r->renumber_frames};
    m->arena.limit_bytes = r->arena->limit_bytes;
    HloStatus status = hlo_read_proto_module(inner, from);
    m->arena.trap = NULL;
    m->arena.limit_bytes = 0;
    *out = m;
    return hlo_error_context(status, "recovery_module");
}

static HloStatus read_recovery(HloProtoReader *r) {
    const Xla__OriginalValueRecoveryTableProto *from = r->proto->original_value_recovery_table;
    if (!from || !from->n_entries) return hlo_ok();
    HloRecoveryRow *rows = HLO_NEW_ARRAY(r->arena, HloRecoveryRow, from->n_entries);
    for (size_t i = 0; i < from->n_entries; i++) {
        const Xla__OriginalValueRecoveryTableProto__Entry *entry = from->entries[i];
        const Xla__OriginalArrayProto *old = entry->old_original_array, *new = entry->new_original_array;
        rows[i].old_name = hlo_intern_z(r->m, old ? old->instruction_name : "");
        if (old) rows[i].old_index = hlo_read_proto_dims(r, old->shape_index, old->n_shape_index);
        if (new && (*new->instruction_name || new->n_shape_index)) {
            rows[i].new_name = hlo_intern_z(r->m, new->instruction_name);
            rows[i].new_index = hlo_read_proto_dims(r, new->shape_index, new->n_shape_index);
        }
        if (entry->recovery_module)
            HLO_TRY(
                hlo_error_context(read_inner_module(r, entry->recovery_module, &rows[i].module), "entries[%zu]", i));
    }
    r->m->recovery = rows;
    r->m->recovery_count = from->n_entries;
    return hlo_ok();
}

static HloStatus read_debug_row(HloProtoReader *r, const Xla__DebugAttributeTableEntryProto *from, HloDebugRow *row) {
    HloDebugAttr *attrs = HLO_NEW_ARRAY(r->arena, HloDebugAttr, from->n_debug_attributes);
    row->name = hlo_intern_z(r->m, from->original_array ? from->original_array->instruction_name : "");
    if (from->original_array && from->original_array->n_shape_index)
        return hlo_error(HLO_UNIMPLEMENTED, "original_array with a shape_index");
    for (size_t k = 0; k < from->n_debug_attributes; k++) {
        const Xla__DebugAttributesProto *attr = from->debug_attributes[k];
        if ((unsigned)attr->log_mode > XLA__DEBUG_ATTRIBUTES_PROTO__DEBUG_LOG_MODE_PROTO__FUSION_DEBUGGER)
            return hlo_error(HLO_UNIMPLEMENTED, "log_mode %d", (int)attr->log_mode);
        if (*attr->operands_sharding) return hlo_error(HLO_UNIMPLEMENTED, "operands_sharding");
        attrs[k] = (HloDebugAttr){(int)attr->log_mode, attr->callback_id, attr->op_id, attr->partitioned != 0};
    }
    row->attrs = attrs;
    row->count = from->n_debug_attributes;
    return hlo_ok();
}

static HloStatus read_debug_rows(HloProtoReader *r) {
    size_t count = r->proto->n_debug_attributes;
    HloDebugRow *rows = HLO_NEW_ARRAY(r->arena, HloDebugRow, count);
    for (size_t i = 0; i < count; i++)
        HLO_TRY(
            hlo_error_context(read_debug_row(r, r->proto->debug_attributes[i], &rows[i]), "debug_attributes[%zu]", i));
    r->m->debug_rows = rows;
    r->m->debug_row_count = count;
    return hlo_ok();
}

// ---- the rest --------------------------------------------------------------------------------------------

// What has no place in a module is kept as it is and written again.
static void keep_rest(HloProtoReader *r) {
    const Xla__HloModuleProto *from = r->proto;
    Xla__HloModuleProto rest = XLA__HLO_MODULE_PROTO__INIT;
    rest.n_cross_program_prefetches = from->n_cross_program_prefetches;
    rest.cross_program_prefetches = from->cross_program_prefetches;
    rest.is_dynamic = from->is_dynamic;
    rest.spmd_output_sharding = from->spmd_output_sharding;
    rest.n_profile_info = from->n_profile_info;
    rest.profile_info = from->profile_info;
    rest.n_spmd_parameters_shardings = from->n_spmd_parameters_shardings;
    rest.spmd_parameters_shardings = from->spmd_parameters_shardings;
    rest.device_assignment = from->device_assignment;
    rest.use_auto_spmd_partitioning = from->use_auto_spmd_partitioning;
    rest.device_type = from->device_type;
    rest.has_pjrt_id_case = from->has_pjrt_id_case;
    rest.pjrt_id = from->pjrt_id;
    size_t size = protobuf_c_message_get_packed_size(&rest.base);
    if (!size) return;
    uint8_t *bytes = hlo_arena_alloc(r->arena, size);
    protobuf_c_message_pack(&rest.base, bytes);
    r->m->proto_rest = (HloStringView){(const char *)bytes, size};
}

HloStatus hlo_read_proto_module(HloProtoReader *r, const Xla__HloModuleProto *proto) {
    HloModule *m = r->m;
    r->proto = proto;
    r->text = (HloReader){.m = m, .arena = r->arena, .scratch = r->scratch, .shapes = r->shapes};
    r->text.lex = hlo_lex_start(hlo_view(""));
    m->name = hlo_intern_z(m, *proto->name ? hlo_sanitized_name(r->scratch, proto->name) : "");
    HLO_TRY(hlo_error_context(read_signature(r, proto->host_program_shape), "host_program_shape"));
    HLO_TRY(read_computations(r));
    HLO_TRY(hlo_error_context(read_schedule(r), "schedule"));
    HLO_TRY(hlo_error_context(read_aliases(r), "input_output_alias"));
    HLO_TRY(hlo_error_context(read_donors(r), "buffer_donor"));
    m->frontend_attributes = hlo_read_proto_map(r, proto->frontend_attributes);
    read_frames(r);
    HLO_TRY(hlo_error_context(read_recovery(r), "original_value_recovery_table"));
    HLO_TRY(read_debug_rows(r));
    keep_rest(r);
    return hlo_ok();
}
