// Attributes of an instruction from the fields of its message: one case for each kind of attribute.

#include "reader.h"

// One attribute being read.
typedef struct Slot {
    HloInstruction *inst;
    HloAttrUse use;
    const HloAttrInfo *info;
    const Xla__HloInstructionProto *root;
    const void *message;  // the one that holds the field; NULL when a message on the path is absent
    const HloField *field;
    bool required;
} Slot;

static size_t value_count(const Slot *slot) {
    return slot->message ? hlo_field_count(slot->message, slot->field) : 0;
}

// ---- scalars ---------------------------------------------------------------------------------------------

static const char *field_text(const Slot *slot) {
    const char *text = slot->message ? *(const char *const *)hlo_field_at(slot->message, slot->field, 0) : "";
    return text ? text : "";
}

static HloStatus read_word(HloProtoReader *r, const Slot *slot) {
    const char *text = field_text(slot);
    int64_t number;
    HloEnumTable table = (HloEnumTable)slot->info->detail;
    if (!*text && !slot->required) return hlo_ok();
    if (!hlo_enum_find(table, text, strlen(text), false, &number))
        return hlo_error(HLO_INVALID_ARGUMENT, "Unknown %s: '%.100s'", slot->info->name, text);
    hlo_set_int(r->m, slot->inst, slot->use.id, number);
    return hlo_ok();
}

// Lists that hold one number: exactly one, or at most one when the attribute is optional.
static HloStatus read_listed_number(HloProtoReader *r, const Slot *slot) {
    size_t count = value_count(slot);
    if (count == 0 && !slot->required) return hlo_ok();
    if (count != 1)
        return hlo_error(HLO_INVALID_ARGUMENT, "%s should have exactly one %s, found %zu", hlo_op_name(slot->inst->op),
                         slot->field->name, count);
    hlo_set_int(r->m, slot->inst, slot->use.id, hlo_field_int(slot->message, slot->field, 0));
    return hlo_ok();
}

// Some numbers mean something else than they say, or have older names (protobuf chapter, §3.1). Writers from before
// topk had is_stable leave it out, and so do later ones for false; stable is right for both.
static int64_t adjusted(const Slot *slot, int64_t number, bool *present) {
    switch ((int)slot->use.id) {
    case HLO_ATTR_FEATURE_GROUP_COUNT:
    case HLO_ATTR_BATCH_GROUP_COUNT: return number > 1 ? number : 1;
    case HLO_ATTR_CHANNEL_ID:
        if (number <= 0) number = slot->root->all_reduce_id;
        *present = number > 0;
        return number;
    case HLO_ATTR_CROSS_PROGRAM_PREFETCH_INDEX:
        if (!*present) *present = slot->root->is_cross_program_prefetch;
        return number;
    case HLO_ATTR_IS_ASSOCIATIVE:
        *present = number == XLA__TRI_STATE__TRI_STATE_TRUE || number == XLA__TRI_STATE__TRI_STATE_FALSE;
        return number == XLA__TRI_STATE__TRI_STATE_TRUE;
    case HLO_ATTR_TOPK_IS_STABLE: return number;
    default: *present = true; return number;
    }
}

static HloStatus read_number(HloProtoReader *r, const Slot *slot) {
    if (slot->field->type == PROTOBUF_C_TYPE_STRING) return read_word(r, slot);
    if (hlo_field_is_list(slot->field)) return read_listed_number(r, slot);
    bool present = value_count(slot) > 0;
    int64_t number = present ? hlo_field_int(slot->message, slot->field, 0) : 0;
    number = adjusted(slot, number, &present);
    if (slot->info->kind == HLO_KIND_ENUM && !hlo_enum_word((HloEnumTable)slot->info->detail, number))
        return hlo_error(HLO_INVALID_ARGUMENT, "unknown value %lld of %s", (long long)number, slot->field->name);
    if (present) hlo_set_int(r->m, slot->inst, slot->use.id, number);
    return hlo_ok();
}

static HloStatus read_text(HloProtoReader *r, const Slot *slot) {
    const char *text = NULL;
    if (slot->field->type == PROTOBUF_C_TYPE_BYTES) {
        const ProtobufCBinaryData *bytes = hlo_field_at(slot->message, slot->field, 0);
        HLO_TRY(hlo_error_context(hlo_read_proto_bytes(r, *bytes, &text), "%s", slot->field->name));
    } else {
        text = hlo_intern_z(r->m, field_text(slot));
    }
    if (slot->use.id == HLO_ATTR_ASYNC_EXECUTION_THREAD && strcmp(text, "main") == 0) return hlo_ok();
    if (*text || slot->required) hlo_set_attr(r->m, slot->inst, (HloAttr){.id = slot->use.id, .text = text});
    return hlo_ok();
}

// The configuration is text, or a payload that comes before it.
static HloStatus read_backend_config(HloProtoReader *r, const Slot *slot) {
    const Xla__Payload *payload = slot->root->backend_config_payload;
    if (!payload) return read_text(r, slot);
    const char *text;
    size_t size;
    HLO_TRY(hlo_error_context(hlo_read_proto_payload(r, payload, &text, &size), "backend_config_payload"));
    if (!size) return hlo_ok();
    if (memchr(text, 0, size))
        return hlo_error(HLO_UNIMPLEMENTED, "backend_config_payload: bytes with a zero among them");
    hlo_set_attr(r->m, slot->inst, (HloAttr){.id = slot->use.id, .text = text});
    return hlo_ok();
}

// ---- lists -----------------------------------------------------------------------------------------------

static void set_data(HloProtoReader *r, const Slot *slot, const void *data) {
    if (data && (slot->required || !hlo_attr_says_nothing(slot->info->kind, data)))
        hlo_set_data(r->m, slot->inst, slot->use.id, data);
}

static HloStatus read_dims(HloProtoReader *r, const Slot *slot) {
    size_t count = value_count(slot);
    int64_t *data = HLO_NEW_ARRAY(r->scratch, int64_t, count);
    bool bools = slot->info->kind == HLO_KIND_BOOLS;
    for (size_t i = 0; i < count; i++) {
        data[i] = hlo_field_int(slot->message, slot->field, i);
        if (bools) data[i] = data[i] != 0;
    }
    bool always = slot->use.rule == HLO_USE_ALWAYS && slot->info->kind == HLO_KIND_DIMS;
    if (count || slot->required || always) hlo_set_dims(r->m, slot->inst, slot->use.id, (HloDims){data, count});
    return hlo_ok();
}

static HloStatus read_precisions(HloProtoReader *r, const Slot *slot) {
    size_t count = value_count(slot);
    int64_t *data = HLO_NEW_ARRAY(r->arena, int64_t, count);
    for (size_t i = 0; i < count; i++) {
        data[i] = hlo_field_int(slot->message, slot->field, i);
        if (!hlo_enum_word((HloEnumTable)slot->info->detail, data[i]))
            return hlo_error(HLO_INVALID_ARGUMENT, "unknown value %lld of %s", (long long)data[i], slot->field->name);
    }
    HloDims *dims = HLO_NEW(r->arena, HloDims);
    *dims = (HloDims){data, count};
    set_data(r, slot, dims);
    return hlo_ok();
}

static HloIntLists *new_lists(HloProtoReader *r, HloDims **lists, size_t count) {
    *lists = HLO_NEW_ARRAY(r->arena, HloDims, count);
    HloIntLists *out = HLO_NEW(r->arena, HloIntLists);
    *out = (HloIntLists){*lists, count};
    return out;
}

static HloStatus read_pairs(HloProtoReader *r, const Slot *slot) {
    const Xla__HloInstructionProto *from = slot->root;
    HloDims *lists;
    HloIntLists *pairs = new_lists(r, &lists, from->n_source_target_pairs);
    for (size_t i = 0; i < pairs->count; i++) {
        const Xla__SourceTarget *pair = from->source_target_pairs[i];
        lists[i] = hlo_read_proto_dims(r, (const int64_t[]){pair->source, pair->target}, 2);
    }
    set_data(r, slot, pairs);
    return hlo_ok();
}

static size_t element_count(const HloShape *shape) {
    return hlo_shape_is_tuple(shape) ? shape->rank : 1;
}

// The rank of all arrays in the first two operands; 0 when they differ.
static size_t common_rank(const HloInstruction *inst) {
    size_t rank = 0;
    for (size_t k = 0; k < 2; k++) {
        const HloShape *shape = hlo_operand(inst, k)->shape;
        for (size_t i = 0; i < element_count(shape); i++) {
            const HloShape *array = hlo_shape_is_tuple(shape) ? shape->elements[i] : shape;
            if (!hlo_shape_is_array(array) || (rank && array->rank != rank)) return 0;
            rank = array->rank;
        }
    }
    return rank;
}

// Cuts the next `rank` of the numbers off; false when there are not so many.
static bool cut_list(HloProtoReader *r, HloDims *rest, size_t rank, HloVec *lists) {
    if (rest->count < rank) return false;
    HloDims *list = HLO_NEW(r->scratch, HloDims);
    *list = hlo_read_proto_dims(r, rest->data, rank);
    hlo_vec_push(r->scratch, lists, list);
    *rest = (HloDims){rest->data + rank, rest->count - rank};
    return true;
}

// Arrays of different ranks: the elements of operand 0, each with as many slices as it has start indices (operand 2).
static bool cut_by_operands(HloProtoReader *r, const HloInstruction *inst, HloDims *rest, HloVec *lists) {
    const HloShape *arrays = hlo_operand(inst, 0)->shape, *starts = hlo_operand(inst, 2)->shape;
    for (size_t i = 0; i < element_count(arrays); i++) {
        const HloShape *array = hlo_shape_is_tuple(arrays) ? arrays->elements[i] : arrays;
        bool nested = hlo_shape_is_tuple(starts) && i < starts->rank && hlo_shape_is_tuple(starts->elements[i]);
        size_t slices = nested ? starts->elements[i]->rank : 1;
        if (!hlo_shape_is_array(array) || array->rank == 0) return false;
        for (size_t k = 0; k < slices; k++) {
            if (!cut_list(r, rest, array->rank, lists)) return false;
        }
    }
    return true;
}

// The sizes of a permute in place stand one after the other. Each slice has one for every dimension of its array.
static HloStatus read_slice_sizes(HloProtoReader *r, const Slot *slot) {
    const Xla__HloInstructionProto *from = slot->root;
    HloDims rest = {from->dynamic_slice_sizes, from->n_dynamic_slice_sizes};
    HloVec lists = {0};
    if (rest.count == 0) return hlo_ok();
    if (hlo_operand_count(slot->inst) != 4)
        return hlo_error(HLO_INVALID_ARGUMENT, "dynamic_slice_sizes without four operands");
    size_t rank = common_rank(slot->inst);
    while (rank && rest.count && cut_list(r, &rest, rank, &lists)) continue;
    bool fits = rank || cut_by_operands(r, slot->inst, &rest, &lists);
    if (!fits || rest.count)
        return hlo_error(HLO_INVALID_ARGUMENT, "dynamic_slice_sizes do not go with the shapes of the operands");
    HloDims *items;
    HloIntLists *sizes = new_lists(r, &items, lists.count);
    for (size_t i = 0; i < lists.count; i++) items[i] = *(const HloDims *)lists.items[i];
    set_data(r, slot, sizes);
    return hlo_ok();
}

static HloStatus read_shapes(HloProtoReader *r, const Slot *slot) {
    const Xla__HloInstructionProto *from = slot->root;
    if (!from->constrain_layout) return hlo_ok();
    size_t count = from->n_operand_shapes_with_layout;
    const HloShape **shapes = HLO_NEW_ARRAY(r->arena, const HloShape *, count);
    for (size_t k = 0; k < count; k++)
        HLO_TRY(hlo_error_context(hlo_read_proto_shape(r, from->operand_shapes_with_layout[k], &shapes[k]),
                                  "operand_shapes_with_layout[%zu]", k));
    HloShapeList *list = HLO_NEW(r->arena, HloShapeList);
    *list = (HloShapeList){shapes, count};
    hlo_set_data(r->m, slot->inst, slot->use.id, list);
    return hlo_ok();
}

// ---- structs ---------------------------------------------------------------------------------------------

static const void *sub_message(const Slot *slot) {
    return value_count(slot) ? *(const void *const *)hlo_field_at(slot->message, slot->field, 0) : NULL;
}

static HloStatus missing(const Slot *slot) {
    return hlo_error(HLO_INVALID_ARGUMENT, "%s needs %s", hlo_op_name(slot->inst->op), slot->field->name);
}

static HloStatus read_shape(HloProtoReader *r, const Slot *slot) {
    const void *from = sub_message(slot);
    const HloShape *shape;
    if (!from) return hlo_ok();
    HLO_TRY(hlo_error_context(hlo_read_proto_shape(r, from, &shape), "%s", slot->field->name));
    hlo_set_data(r->m, slot->inst, slot->use.id, shape);
    return hlo_ok();
}

static HloStatus read_literal(HloProtoReader *r, const Slot *slot) {
    const void *from = sub_message(slot);
    HloLiteral *literal;
    if (slot->use.id == HLO_ATTR_VALUE) {
        if (!from) return hlo_error(HLO_UNIMPLEMENTED, "a constant without a value");
        HLO_TRY(hlo_read_proto_value(r, from, slot->inst->shape, &literal));
    } else {
        if (!from) return hlo_ok();
        HLO_TRY(hlo_read_proto_literal(r, from, &literal));
    }
    hlo_set_data(r->m, slot->inst, slot->use.id, literal);
    return hlo_ok();
}

static HloStatus read_sharding(HloProtoReader *r, const Slot *slot) {
    const HloSharding *sharding;
    const void *from = sub_message(slot);
    if (!from) return hlo_ok();
    HLO_TRY(hlo_read_proto_sharding(r, from, slot->inst->shape, &sharding));
    hlo_set_data(r->m, slot->inst, slot->use.id, sharding);
    return hlo_ok();
}

static HloStatus read_domain(HloProtoReader *r, const Slot *slot) {
    const Xla__HloInstructionProto *from = slot->root;
    if (!from->domain_entry_sharding || !from->domain_exit_sharding)
        return hlo_error(HLO_UNIMPLEMENTED, "a domain without an entry or exit sharding");
    HloDomain *domain = HLO_NEW(r->arena, HloDomain);
    domain->kind = hlo_intern_z(r->m, "sharding");
    HLO_TRY(hlo_read_proto_sharding(r, from->domain_entry_sharding, NULL, &domain->entry));
    HLO_TRY(hlo_read_proto_sharding(r, from->domain_exit_sharding, NULL, &domain->exit));
    hlo_set_data(r->m, slot->inst, slot->use.id, domain);
    return hlo_ok();
}

static HloStatus read_groups(HloProtoReader *r, const Slot *slot) {
    const HloGroups *groups;
    HLO_TRY(hlo_read_proto_groups(r, slot->root, &groups));
    set_data(r, slot, groups);
    return hlo_ok();
}

static HloStatus read_struct(HloProtoReader *r, const Slot *slot) {
    const void *from = sub_message(slot), *data;
    if (!from) return slot->required ? missing(slot) : hlo_ok();
    HLO_TRY(hlo_error_context(hlo_read_proto_struct(r, slot->info->kind, slot->inst, from, &data), "%s",
                              slot->field->name));
    set_data(r, slot, data);
    return hlo_ok();
}

static HloStatus read_slot(HloProtoReader *r, const Slot *slot) {
    switch (slot->info->kind) {
    case HLO_KIND_BOOL:
    case HLO_KIND_INT:
    case HLO_KIND_INT32:
    case HLO_KIND_DIM:
    case HLO_KIND_ENUM: return read_number(r, slot);
    case HLO_KIND_FLOAT:
        hlo_set_float(r->m, slot->inst, slot->use.id, *(const float *)hlo_field_at(slot->message, slot->field, 0));
        return hlo_ok();
    case HLO_KIND_STRING: return read_text(r, slot);
    case HLO_KIND_TEXT: return read_backend_config(r, slot);
    case HLO_KIND_DIMS:
    case HLO_KIND_BOOLS: return read_dims(r, slot);
    case HLO_KIND_PRECISIONS: return read_precisions(r, slot);
    case HLO_KIND_INT_LISTS: return hlo_field_is_message(slot->field) ? read_pairs(r, slot) : read_slice_sizes(r, slot);
    case HLO_KIND_SLICE:
        hlo_set_data(r->m, slot->inst, slot->use.id, hlo_read_proto_slice(r, slot->root));
        return hlo_ok();
    case HLO_KIND_ALIASES: set_data(r, slot, hlo_read_proto_operand_aliases(r, slot->root)); return hlo_ok();
    case HLO_KIND_GROUPS: return read_groups(r, slot);
    case HLO_KIND_SHAPE: return read_shape(r, slot);
    case HLO_KIND_SHAPES: return read_shapes(r, slot);
    case HLO_KIND_LITERAL: return read_literal(r, slot);
    case HLO_KIND_SHARDING: return read_sharding(r, slot);
    case HLO_KIND_DOMAIN: return read_domain(r, slot);
    case HLO_KIND_WINDOW:
    case HLO_KIND_DIM_LABELS:
    case HLO_KIND_PADDING:
    case HLO_KIND_SPARSITY:
    case HLO_KIND_METADATA:
    case HLO_KIND_STRING_MAP:
    case HLO_KIND_STATISTICS:
    case HLO_KIND_ACCURACY:
    case HLO_KIND_ORIGIN: return read_struct(r, slot);
    case HLO_KIND_COMPUTATION:
    case HLO_KIND_COMPUTATIONS:
    case HLO_KIND_INSTRUCTIONS: return hlo_ok();  // edges, read with the instruction
    }
    return hlo_ok();
}

// ---- all of them -----------------------------------------------------------------------------------------

static HloStatus read_attribute(HloProtoReader *r, const Xla__HloInstructionProto *from, HloLine *line,
                                HloAttrUse use) {
    HloInstruction *inst = line->inst;
    const HloFieldPlace *place = hlo_field_place(r->scratch, &r->places, inst->op, use.id);
    if (!place->field || use.rule == HLO_USE_INPUT_ONLY) return hlo_ok();
    Slot slot = {inst, use, hlo_attr_info(use.id), from, from, place->field, use.rule == HLO_USE_REQUIRED};
    for (size_t i = 0; i < place->parent_count && slot.message; i++) {
        bool there = hlo_field_count(slot.message, place->parents[i]) > 0;
        bool needed = use.rule == HLO_USE_REQUIRED || use.rule == HLO_USE_ALWAYS;
        if (!there && needed)
            return hlo_error(HLO_INVALID_ARGUMENT, "%s needs %s", hlo_op_name(inst->op), place->parents[i]->name);
        slot.message = there ? *(const void *const *)hlo_field_at(slot.message, place->parents[i], 0) : NULL;
    }
    HLO_TRY(read_slot(r, &slot));
    if (hlo_has(inst, use.id)) line->seen[use.id / 64] |= (uint64_t)1 << (use.id % 64);
    if (use.id == HLO_ATTR_VALUE) line->literal = (HloLiteral *)(uintptr_t)hlo_data(inst, use.id);
    return hlo_ok();
}

HloStatus hlo_read_proto_attributes(HloProtoReader *r, const Xla__HloInstructionProto *from, HloLine *line) {
    const HloOpInfo *info = hlo_op_info(line->inst->op);
    for (size_t i = 0; i < info->attr_count; i++) HLO_TRY(read_attribute(r, from, line, info->attrs[i]));
    size_t count;
    const HloAttrId *common = hlo_common_fields(&count);
    for (size_t i = 0; i < count; i++)
        HLO_TRY(read_attribute(r, from, line, (HloAttrUse){common[i], HLO_USE_OPTIONAL}));
    return hlo_ok();
}

// ---- what an opcode has no use for -----------------------------------------------------------------------

static void mark(uint64_t *bits, const HloField *field) {
    size_t at = (size_t)(field - xla__hlo_instruction_proto__descriptor.fields);
    bits[at / 64] |= (uint64_t)1 << (at % 64);
}

static void mark_attribute(HloProtoReader *r, uint64_t *bits, HloOpcode op, HloAttrId id) {
    const HloFieldPlace *place = hlo_field_place(r->scratch, &r->places, op, id);
    if (place->field) mark(bits, place->parent_count ? place->parents[0] : place->field);
}

// Fields that are read beside those of attributes, or that say nothing more than others.
static const char *const other_fields[] = {"name",
                                           "opcode",
                                           "shape",
                                           "id",
                                           "operand_ids",
                                           "control_predecessor_ids",
                                           "called_computation_ids",
                                           "backend_config_payload",
                                           "replica_groups",
                                           "all_reduce_id",
                                           "is_cross_program_prefetch",
                                           "constrain_layout",
                                           "domain_exit_sharding",
                                           "iota_collective_device_list",
                                           "mesh_axes_replica_group_list"};

static uint64_t *known_fields(HloProtoReader *r, HloOpcode op) {
    size_t words = xla__hlo_instruction_proto__descriptor.n_fields / 64 + 1, count;
    uint64_t *bits = HLO_NEW_ARRAY(r->scratch, uint64_t, words);
    const HloOpInfo *info = hlo_op_info(op);
    for (size_t i = 0; i < info->attr_count; i++) mark_attribute(r, bits, op, info->attrs[i].id);
    const HloAttrId *common = hlo_common_fields(&count);
    for (size_t i = 0; i < count; i++) mark_attribute(r, bits, op, common[i]);
    for (size_t i = 0; i < HLO_COUNT(other_fields); i++) {
        const char *name = other_fields[i];
        mark(bits, hlo_field_find(&xla__hlo_instruction_proto__descriptor, name, strlen(name)));
    }
    return bits;
}

void hlo_note_unused_fields(HloProtoReader *r, const Xla__HloInstructionProto *from, HloOpcode op) {
    const HloMessageType *type = &xla__hlo_instruction_proto__descriptor;
    if (!r->note_text) return;
    if (!r->known_fields[op]) r->known_fields[op] = known_fields(r, op);
    for (size_t i = 0; i < type->n_fields; i++) {
        if (r->known_fields[op][i / 64] >> (i % 64) & 1 || !hlo_field_count(from, &type->fields[i])) continue;
        hlo_reader_note(r, "field %s of %s is left out", type->fields[i].name, hlo_op_name(op));
    }
}
