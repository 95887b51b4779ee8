// Data of the interpreter: counted values, and their way from and to literals.
//
// The bytes of live data are charged to the machine, which has a limit for them.

#include <stdlib.h>

#include "lib/eval/eval.h"

// ---- making ---------------------------------------------------------------------------------------------

static HloStatus charge(HloMachine *vm, size_t bytes) {
    size_t limit = vm->options->limits.bytes;
    if (limit && (bytes > limit || *vm->live_bytes > limit - bytes)) {
        return hlo_error(HLO_RESOURCE_EXHAUSTED, "values take more than the limit of %zu bytes", limit);
    }
    *vm->live_bytes += bytes;
    return hlo_ok();
}

// Header and data in one piece; the data start at a multiple of 64.
static HloStatus allocate(HloMachine *vm, const HloShape *shape, size_t data_bytes, HloDatum **out) {
    size_t header = (sizeof(HloDatum) + 63) & ~(size_t)63, bytes;
    if (__builtin_add_overflow(header + 63, data_bytes, &bytes)) return hlo_out_of_memory();
    bytes &= ~(size_t)63;
    HLO_TRY(charge(vm, bytes));
    HloDatum *datum = aligned_alloc(64, bytes);
    if (!datum) {
        *vm->live_bytes -= bytes;
        return hlo_out_of_memory();
    }
    *datum = (HloDatum){.refs = 1, .shape = shape, .bytes = bytes, .data = (char *)datum + header};
    *out = datum;
    return hlo_ok();
}

static HloStatus new_array(HloMachine *vm, const HloShape *shape, size_t element_bytes, HloDatum **out) {
    size_t bytes = 0;
    int64_t count = 0;
    if (element_bytes &&
        (!hlo_shape_count_elements(shape, &count) || !hlo_size_mul((size_t)count, element_bytes, &bytes))) {
        return hlo_error(HLO_RESOURCE_EXHAUSTED, "an array of this shape is too large");
    }
    HLO_TRY(allocate(vm, shape, bytes, out));
    (*out)->count = count;
    (*out)->element_bytes = (uint32_t)element_bytes;
    return hlo_ok();
}

HloStatus hlo_datum_new(HloMachine *vm, const HloShape *shape, HloDatum **out) {
    return new_array(vm, shape, hlo_element_bytes(shape->type), out);
}

HloStatus hlo_datum_new_wide(HloMachine *vm, const HloShape *shape, HloWide wide, HloDatum **out) {
    return new_array(vm, shape, hlo_wide_bytes(wide), out);
}

HloStatus hlo_datum_new_tuple(HloMachine *vm, const HloShape *shape, HloDatum *const *elements, HloDatum **out) {
    HLO_TRY(allocate(vm, shape, shape->rank * sizeof *elements, out));
    (*out)->elements = (HloDatum **)(void *)(*out)->data;
    if (shape->rank) memcpy((*out)->elements, elements, shape->rank * sizeof *elements);
    return hlo_ok();
}

HloStatus hlo_datum_new_like(HloMachine *vm, const HloShape *shape, HloDatum **out) {
    if (!hlo_shape_is_tuple(shape)) return hlo_datum_new(vm, shape, out);
    HloDatum **elements = calloc(shape->rank + 1, sizeof *elements);
    HloStatus status = elements ? hlo_ok() : hlo_out_of_memory();
    for (size_t k = 0; k < shape->rank && hlo_is_ok(status); k++) {
        status = hlo_datum_new(vm, shape->elements[k], elements + k);
    }
    if (hlo_is_ok(status)) status = hlo_datum_new_tuple(vm, shape, elements, out);
    for (size_t k = 0; elements && k < shape->rank && !hlo_is_ok(status); k++) hlo_datum_drop(vm, elements[k]);
    free(elements);
    return status;
}

// Tuples nest, so what is to be freed waits in a list instead of on the stack.
void hlo_datum_drop(HloMachine *vm, HloDatum *datum) {
    HloDatum *waiting = NULL;
    if (datum && --datum->refs == 0) waiting = datum;
    while (waiting) {
        HloDatum *now = waiting;
        waiting = now->next_waiting;
        for (size_t k = 0; now->elements && k < now->shape->rank; k++) {
            HloDatum *element = now->elements[k];
            if (!element || --element->refs) continue;
            element->next_waiting = waiting;
            waiting = element;
        }
        *vm->live_bytes -= now->bytes;
        free(now->sizes);
        free(now);
    }
}

HloStatus hlo_datum_own(HloMachine *vm, HloDatum **arg, const HloShape *shape, HloDatum **out) {
    if ((*arg)->refs > 1) {
        HLO_TRY(hlo_datum_new(vm, shape, out));
        memcpy((*out)->data, (*arg)->data, (size_t)(*arg)->count * (*arg)->element_bytes);
        return hlo_ok();
    }
    *out = *arg;
    (*out)->shape = shape;
    *arg = NULL;
    return (*out)->sizes ? hlo_datum_set_sizes(*out, NULL) : hlo_ok();
}

// ---- literals -------------------------------------------------------------------------------------------

// Types below eight bits lie packed in literals.
static bool is_packed(HloType type) {
    return hlo_type_bits(type) < 8 && hlo_type_bits(type) != 6;
}

static void unpack(const HloLiteral *literal, HloDatum *to) {
    bool is_signed = hlo_type_class(literal->shape->type) == HLO_CLASS_SIGNED;
    for (int64_t i = 0; i < to->count; i++) {
        to->data[i] = (char)(is_signed ? (uint64_t)hlo_literal_int(literal, i) : hlo_literal_bits(literal, i));
    }
}

static HloStatus array_from_literal(HloMachine *vm, const HloLiteral *literal, const HloShape *shape, HloDatum **out) {
    HLO_TRY(hlo_datum_new(vm, shape, out));
    HloStatus status = literal->dynamic_sizes ? hlo_datum_set_sizes(*out, literal->dynamic_sizes) : hlo_ok();
    if (!hlo_is_ok(status)) return status;
    if (!(*out)->count) return hlo_ok();
    if (is_packed(shape->type))
        unpack(literal, *out);
    else
        hlo_literal_read_bytes(literal, 0, (size_t)(*out)->count * (*out)->element_bytes, (*out)->data);
    return hlo_ok();
}

// Recurses over tuple nesting, which the reader bounds.
HloStatus hlo_datum_from_literal(HloMachine *vm, const HloLiteral *literal, const HloShape *shape, HloDatum **out) {
    if (!hlo_shape_is_tuple(shape)) return array_from_literal(vm, literal, shape, out);
    HloDatum **elements = calloc(shape->rank + 1, sizeof *elements);
    HloStatus status = elements ? hlo_ok() : hlo_out_of_memory();
    for (size_t k = 0; k < shape->rank && hlo_is_ok(status); k++) {
        status = hlo_datum_from_literal(vm, literal->elements[k], shape->elements[k], elements + k);
    }
    if (hlo_is_ok(status)) status = hlo_datum_new_tuple(vm, shape, elements, out);
    for (size_t k = 0; k < shape->rank && elements && !hlo_is_ok(status); k++) hlo_datum_drop(vm, elements[k]);
    free(elements);
    return status;
}

HloStatus hlo_datum_to_literal(const HloDatum *datum, HloArena *arena, HloLiteral **out) {
    HLO_TRY(hlo_literal_new(arena, datum->shape, out));
    for (size_t k = 0; datum->elements && k < datum->shape->rank; k++) {
        HLO_TRY(hlo_datum_to_literal(datum->elements[k], arena, &(*out)->elements[k]));
    }
    if (datum->sizes) {
        int64_t *sizes = HLO_NEW_ARRAY(arena, int64_t, datum->shape->rank);
        memcpy(sizes, datum->sizes, datum->shape->rank * sizeof *sizes);
        (*out)->dynamic_sizes = sizes;
    }
    if (!datum->count) return hlo_ok();
    if (is_packed(datum->shape->type)) {
        for (int64_t i = 0; i < datum->count; i++) hlo_literal_set_bits(*out, i, (uint8_t)datum->data[i]);
    } else {
        memcpy((*out)->data, datum->data, (*out)->size_bytes);
    }
    return hlo_ok();
}
