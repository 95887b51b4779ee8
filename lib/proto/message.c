// Access to messages by descriptor.

#include "message.h"

void *hlo_message_new(HloArena *arena, const HloMessageType *type) {
    void *message = hlo_arena_alloc(arena, type->sizeof_message);
    protobuf_c_message_init(type, message);
    return message;
}

const HloField *hlo_field_find(const HloMessageType *type, const char *name, size_t size) {
    size_t low = 0, high = type->n_fields;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const HloField *field = &type->fields[type->fields_sorted_by_name[middle]];
        size_t length = strlen(field->name), common = length < size ? length : size;
        int order = memcmp(name, field->name, common);
        if (order == 0 && length == size) return field;
        if (order < 0 || (order == 0 && size < length))
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

// The generated descriptors do not say which messages are entries of maps; these are the ones named so.
bool hlo_message_is_map_entry(const HloMessageType *type) {
    size_t size = strlen(type->short_name);
    return type->n_fields == 2 && size > 5 && strcmp(type->short_name + size - 5, "Entry") == 0 &&
           strcmp(type->fields[0].name, "key") == 0 && strcmp(type->fields[1].name, "value") == 0;
}

size_t hlo_field_value_bytes(const HloField *field) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_ENUM: return sizeof(int32_t);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64: return sizeof(int64_t);
    case PROTOBUF_C_TYPE_FLOAT: return sizeof(float);
    case PROTOBUF_C_TYPE_DOUBLE: return sizeof(double);
    case PROTOBUF_C_TYPE_BOOL: return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_STRING: return sizeof(char *);
    case PROTOBUF_C_TYPE_BYTES: return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_MESSAGE: break;
    }
    return sizeof(void *);
}

static size_t list_count(const void *message, const HloField *field) {
    return *(const size_t *)((const char *)message + field->quantifier_offset);
}

static bool is_zero(const void *value, size_t size) {
    const char *bytes = value;
    for (size_t i = 0; i < size; i++) {
        if (bytes[i]) return false;
    }
    return true;
}

static bool is_set(const void *value, const HloField *field) {
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) return *(void *const *)value != NULL;
    if (field->type == PROTOBUF_C_TYPE_BYTES) return ((const ProtobufCBinaryData *)value)->len > 0;
    if (field->type == PROTOBUF_C_TYPE_STRING) {
        const char *text = *(const char *const *)value;
        return text && *text;
    }
    return !is_zero(value, hlo_field_value_bytes(field));
}

size_t hlo_field_count(const void *message, const HloField *field) {
    if (hlo_field_is_list(field)) return list_count(message, field);
    if (hlo_field_is_oneof(field))
        return *(const uint32_t *)((const char *)message + field->quantifier_offset) == field->id;
    return is_set((const char *)message + field->offset, field);
}

const void *hlo_field_at(const void *message, const HloField *field, size_t i) {
    const char *at = (const char *)message + field->offset;
    if (!hlo_field_is_list(field)) return at;
    const char *items = *(const char *const *)at;
    return items ? items + i * hlo_field_value_bytes(field) : NULL;
}

// Lists have a power of two as capacity, so it follows from their count and needs no place in the message.
static size_t capacity_for(size_t count) {
    size_t capacity = 4;
    while (capacity < count) capacity *= 2;
    return count ? capacity : 0;
}

void *hlo_field_extend(HloArena *arena, void *message, const HloField *field, size_t more) {
    size_t *count = (size_t *)((char *)message + field->quantifier_offset);
    char **items = (char **)((char *)message + field->offset);
    size_t bytes = hlo_field_value_bytes(field), old = *count;
    if (capacity_for(old + more) > capacity_for(old)) {
        char *grown = hlo_arena_array(arena, capacity_for(old + more), bytes);
        if (old) memcpy(grown, *items, old * bytes);
        *items = grown;
    }
    *count = old + more;
    return *items + old * bytes;
}

void *hlo_field_add(HloArena *arena, void *message, const HloField *field) {
    if (hlo_field_is_list(field)) return hlo_field_extend(arena, message, field, 1);
    void *value = (char *)message + field->offset;
    if (!hlo_field_is_oneof(field)) return value;
    uint32_t *which = (uint32_t *)((char *)message + field->quantifier_offset);
    if (*which != field->id) memset(value, 0, hlo_field_value_bytes(field));
    *which = field->id;
    return value;
}

void *hlo_field_message(HloArena *arena, void *message, const HloField *field) {
    void **slot = hlo_field_add(arena, message, field);
    if (!*slot) *slot = hlo_message_new(arena, field->descriptor);
    return *slot;
}

const HloField *hlo_field_oneof_case(const HloMessageType *type, const void *message, const HloField *field) {
    uint32_t which = *(const uint32_t *)((const char *)message + field->quantifier_offset);
    return which ? protobuf_c_message_descriptor_get_field(type, which) : NULL;
}

int64_t hlo_field_int(const void *message, const HloField *field, size_t i) {
    const void *value = hlo_field_at(message, field, i);
    if (hlo_field_value_bytes(field) == sizeof(int64_t)) return *(const int64_t *)value;
    if (field->type == PROTOBUF_C_TYPE_UINT32) return *(const uint32_t *)value;
    return *(const int32_t *)value;
}

void hlo_value_set_int(const HloField *field, void *value, int64_t number) {
    if (field->type == PROTOBUF_C_TYPE_BOOL)
        *(protobuf_c_boolean *)value = number != 0;
    else if (hlo_field_value_bytes(field) == sizeof(int32_t))
        *(int32_t *)value = (int32_t)number;
    else
        *(int64_t *)value = number;
}

void hlo_put_path(HloBuffer *out, const HloStep *steps, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (i) hlo_put_char(out, '.');
        hlo_put_string(out, steps[i].field->name);
        if (hlo_field_is_list(steps[i].field)) hlo_putf(out, "[%zu]", steps[i].index);
    }
}
