// Attributes of an instruction into the fields of its message: one case for each kind of attribute.

#include "writer.h"

// ---- scalars ---------------------------------------------------------------------------------------------

static void set_int(HloProtoWriter *w, void *message, const HloField *field, int64_t value) {
    hlo_value_set_int(field, hlo_field_add(w->arena, message, field), value);
}

static void set_text(HloProtoWriter *w, void *message, const HloField *field, const char *text) {
    if (!text) return;
    void *value = hlo_field_add(w->arena, message, field);
    size_t size = strlen(text);
    if (field->type == PROTOBUF_C_TYPE_BYTES)
        *(ProtobufCBinaryData *)value = (ProtobufCBinaryData){size, size ? (uint8_t *)(uintptr_t)text : NULL};
    else
        *(const char **)value = text;
}

// How a comparison works that does not say so.
static int64_t implied_comparison(const HloInstruction *inst) {
    HloType type = hlo_operand(inst, 0)->shape->type;
    if (hlo_type_is_float(type) || hlo_type_is_complex(type)) return HLO_COMPARE_TYPE_FLOAT;
    return hlo_type_class(type) == HLO_CLASS_SIGNED ? HLO_COMPARE_TYPE_SIGNED : HLO_COMPARE_TYPE_UNSIGNED;
}

static void write_word(HloProtoWriter *w, const HloInstruction *inst, HloAttrId id, void *message,
                       const HloField *field) {
    int64_t number = hlo_int(inst, id);
    if (id == HLO_ATTR_COMPARE_TYPE && number == HLO_COMPARE_TYPE_DEFAULT && hlo_operand_count(inst))
        number = implied_comparison(inst);
    set_text(w, message, field, hlo_enum_word((HloEnumTable)hlo_attr_info(id)->detail, number));
}

// Lists of one number are written when there is one; single numbers with their default.
static void write_number(HloProtoWriter *w, const HloInstruction *inst, HloAttrId id, void *message,
                         const HloField *field) {
    bool has = hlo_has(inst, id);
    int64_t number = hlo_int(inst, id);
    if (field->type == PROTOBUF_C_TYPE_STRING) {
        write_word(w, inst, id, message, field);
        return;
    }
    bool has_default = hlo_attr_info(id)->has_default && hlo_attr_info(id)->standard;
    if (!has && (hlo_field_is_list(field) || (hlo_field_is_oneof(field) && !has_default))) return;
    bool three_states = field->type == PROTOBUF_C_TYPE_ENUM && hlo_attr_info(id)->kind == HLO_KIND_BOOL;
    if (three_states)
        number = !has     ? XLA__TRI_STATE__TRI_STATE_UNSPECIFIED
                 : number ? XLA__TRI_STATE__TRI_STATE_TRUE
                          : XLA__TRI_STATE__TRI_STATE_FALSE;
    if (id == HLO_ATTR_CHANNEL_ID && number < 0) return;  // none, as a reader has it
    set_int(w, message, field, number);
}

// ---- lists -----------------------------------------------------------------------------------------------

int32_t *hlo_narrow_dims(HloArena *arena, HloDims dims) {
    int32_t *out = HLO_NEW_ARRAY(arena, int32_t, dims.count);
    for (size_t i = 0; i < dims.count; i++) out[i] = (int32_t)dims.data[i];
    return out;
}

static void write_dims(HloProtoWriter *w, HloDims dims, void *message, const HloField *field) {
    if (dims.count == 0) return;
    char *values = hlo_field_extend(w->arena, message, field, dims.count);
    size_t bytes = hlo_field_value_bytes(field);
    for (size_t i = 0; i < dims.count; i++) hlo_value_set_int(field, values + i * bytes, dims.data[i]);
}

// Writers give a precision for every operand that has one.
static void write_precisions(HloProtoWriter *w, const HloInstruction *inst, HloAttrId id, void *message,
                             const HloField *field) {
    if (hlo_has(inst, id)) {
        write_dims(w, hlo_dims(inst, id), message, field);
        return;
    }
    bool two = inst->op == HLO_OP_RAGGED_DOT || inst->op == HLO_OP_SCALED_DOT;
    size_t count = two ? 2 : hlo_operand_count(inst);
    if (count) hlo_field_extend(w->arena, message, field, count);
}

// Pairs are messages of two numbers; sizes are written one list after the other.
static void write_int_lists(HloProtoWriter *w, const HloIntLists *lists, void *message, const HloField *field) {
    for (size_t i = 0; lists && i < lists->count; i++) {
        HloDims list = lists->lists[i];
        if (!hlo_field_is_message(field)) {
            write_dims(w, list, message, field);
            continue;
        }
        void *pair = hlo_field_message(w->arena, message, field);
        const HloMessageType *type = field->descriptor;
        for (size_t k = 0; k < list.count && k < type->n_fields; k++) set_int(w, pair, &type->fields[k], list.data[k]);
    }
}

static void write_shapes(HloProtoWriter *w, const HloShapeList *list, Xla__HloInstructionProto *out) {
    if (!list) return;
    out->constrain_layout = true;
    out->n_operand_shapes_with_layout = list->count;
    out->operand_shapes_with_layout = HLO_NEW_LIST(w, Xla__ShapeProto, list->count);
    for (size_t k = 0; k < list->count; k++) out->operand_shapes_with_layout[k] = hlo_write_shape(w, list->shapes[k]);
}

static void write_domain(HloProtoWriter *w, const HloDomain *domain, Xla__HloInstructionProto *out) {
    if (!domain) return;
    if (domain->entry) out->domain_entry_sharding = hlo_write_sharding(w, domain->entry);
    if (domain->exit) out->domain_exit_sharding = hlo_write_sharding(w, domain->exit);
}

// ---- structs ---------------------------------------------------------------------------------------------

// Values that are one message: made, and filled when the attribute is there.
static void write_message(HloProtoWriter *w, HloAttrKind kind, const void *data, void *out) {
    if (!data) return;
    switch ((int)kind) {
    case HLO_KIND_WINDOW: hlo_write_window(w, data, out); return;
    case HLO_KIND_DIM_LABELS: hlo_write_conv_dims(data, out); return;
    case HLO_KIND_PADDING: hlo_write_padding(w, data, out); return;
    case HLO_KIND_SPARSITY: hlo_write_sparsity(w, data, out); return;
    case HLO_KIND_METADATA: hlo_write_metadata(w, data, out); return;
    case HLO_KIND_STRING_MAP: hlo_write_string_map(w, data, out); return;
    case HLO_KIND_STATISTICS: hlo_write_statistics(w, data, out); return;
    case HLO_KIND_ACCURACY: hlo_write_accuracy(w, data, out); return;
    case HLO_KIND_ORIGIN: hlo_write_origin(w, data, out); return;
    default: return;
    }
}

static void write_attribute(HloProtoWriter *w, const HloInstruction *inst, HloAttrId id,
                            Xla__HloInstructionProto *root) {
    const HloFieldPlace *place = hlo_field_place(w->arena, &w->places, inst->op, id);
    const HloField *field = place->field;
    if (!field || (!place->always && !hlo_has(inst, id) && place->parent_count)) return;
    void *message = root;
    for (size_t i = 0; i < place->parent_count; i++) message = hlo_field_message(w->arena, message, place->parents[i]);
    const HloAttr *attr = hlo_attr_find(inst, id);
    HloAttrKind kind = hlo_attr_info(id)->kind;
    switch (kind) {
    case HLO_KIND_BOOL:
    case HLO_KIND_INT:
    case HLO_KIND_INT32:
    case HLO_KIND_DIM:
    case HLO_KIND_ENUM: write_number(w, inst, id, message, field); return;
    case HLO_KIND_FLOAT: *(float *)hlo_field_add(w->arena, message, field) = (float)hlo_float(inst, id); return;
    case HLO_KIND_STRING:
    case HLO_KIND_TEXT: set_text(w, message, field, attr ? attr->text : NULL); return;
    case HLO_KIND_DIMS:
    case HLO_KIND_BOOLS: write_dims(w, hlo_dims(inst, id), message, field); return;
    case HLO_KIND_PRECISIONS: write_precisions(w, inst, id, message, field); return;
    case HLO_KIND_INT_LISTS: write_int_lists(w, hlo_data(inst, id), message, field); return;
    case HLO_KIND_SLICE:
        if (attr) hlo_write_slice(w, attr->data, root);
        return;
    case HLO_KIND_ALIASES:
        if (attr) hlo_write_operand_aliases(w, attr->data, root);
        return;
    case HLO_KIND_GROUPS: hlo_write_groups(w, hlo_data(inst, id), root); return;
    case HLO_KIND_SHAPE:
        if (attr) *(void **)hlo_field_add(w->arena, message, field) = hlo_write_shape(w, attr->data);
        return;
    case HLO_KIND_SHAPES: write_shapes(w, hlo_data(inst, id), root); return;
    case HLO_KIND_LITERAL:
        if (attr && attr->data) *(void **)hlo_field_add(w->arena, message, field) = hlo_write_literal(w, attr->data);
        return;
    case HLO_KIND_SHARDING:
        if (attr) *(void **)hlo_field_add(w->arena, message, field) = hlo_write_sharding(w, attr->data);
        return;
    case HLO_KIND_DOMAIN: write_domain(w, hlo_data(inst, id), root); return;
    case HLO_KIND_WINDOW:
    case HLO_KIND_DIM_LABELS:
    case HLO_KIND_PADDING:
    case HLO_KIND_SPARSITY:
    case HLO_KIND_METADATA:
    case HLO_KIND_STRING_MAP:
    case HLO_KIND_STATISTICS:
    case HLO_KIND_ACCURACY:
    case HLO_KIND_ORIGIN:
        if (attr || place->always)
            write_message(w, kind, hlo_data(inst, id), hlo_field_message(w->arena, message, field));
        return;
    case HLO_KIND_COMPUTATION:
    case HLO_KIND_COMPUTATIONS:
    case HLO_KIND_INSTRUCTIONS: return;  // edges, written with the instruction
    }
}

void hlo_write_attributes(HloProtoWriter *w, const HloInstruction *inst, Xla__HloInstructionProto *out) {
    const HloOpInfo *info = hlo_op_info(inst->op);
    for (size_t i = 0; i < info->attr_count; i++) write_attribute(w, inst, info->attrs[i].id, out);
    size_t count;
    const HloAttrId *common = hlo_common_fields(&count);
    for (size_t i = 0; i < count; i++) write_attribute(w, inst, common[i], out);
}
