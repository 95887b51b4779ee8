// Modules: life and death, the list of computations, the entry layout, deep copies.

#include "hlo/module.h"

#include <assert.h>
#include <stdlib.h>

#include "lib/ir/edges.h"

typedef struct NewModule {
    HloModule *m;
    const char *name;
} NewModule;

static HloStatus name_module(void *data) {
    NewModule *new = data;
    new->m->name = hlo_intern_z(new->m, new->name);
    return hlo_ok();
}

HloModule *hlo_module_new(const char *name) {
    HloModule *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->shapes.arena = &m->arena;
    m->replica_count = m->num_partitions = 1;
    HloStatus status = hlo_guarded((HloArena *[]){&m->arena, NULL}, name_module, &(NewModule){m, name});
    if (hlo_is_ok(status)) return m;
    hlo_module_free(m);
    return NULL;
}

void hlo_module_free(HloModule *m) {
    if (!m) return;
    for (size_t i = 0; i < m->owned_modules.count; i++) hlo_module_free(m->owned_modules.items[i]);
    hlo_arena_free(&m->arena);
    free(m);
}

HloComputation *hlo_module_add(HloModule *m, HloComputation *comp) {
    assert(!comp->in_module);
    comp->name = hlo_unique_name(m, &m->computation_names, comp->name);
    comp->in_module = true;
    comp->prev = m->last;
    if (m->last)
        m->last->next = comp;
    else
        m->first = comp;
    m->last = comp;
    m->count++;
    HLO_EACH_INST(inst, comp) inst->name = hlo_unique_owned(m, &m->instruction_names, inst->name);
    return comp;
}

void hlo_module_reset_entry_layout(HloModule *m) {
    const HloComputation *entry = m->entry;
    m->entry_param_count = hlo_parameter_count(entry);
    m->entry_params = HLO_NEW_ARRAY(&m->arena, const HloShape *, m->entry_param_count);
    for (size_t k = 0; k < m->entry_param_count; k++) m->entry_params[k] = hlo_parameter(entry, k)->shape;
    m->entry_result = entry->root->shape;
}

void hlo_module_set_entry(HloModule *m, HloComputation *comp) {
    m->entry = comp;
    if (!m->entry_result) hlo_module_reset_entry_layout(m);
}

void hlo_module_remove(HloModule *m, HloComputation *comp) {
    assert(comp->callers.count == 0 && comp != m->entry);
    HLO_EACH_INST(inst, comp) hlo_unlink_callees(inst);
    if (comp->prev)
        comp->prev->next = comp->next;
    else
        m->first = comp->next;
    if (comp->next)
        comp->next->prev = comp->prev;
    else
        m->last = comp->prev;
    m->count--;
    comp->in_module = false;
}

void hlo_inst_set_name(HloInstruction *inst, const char *name) {
    inst->name = hlo_arena_string(&inst->comp->m->arena, name, strlen(name));
}

size_t hlo_module_instruction_count(const HloModule *m) {
    size_t count = 0;
    HLO_EACH_COMP(comp, m) count += comp->count;
    return count;
}

// ---- copies ---------------------------------------------------------------------------------------------

static HloAliases clone_aliases(HloModule *m, HloAliases from) {
    HloAlias *items = hlo_arena_copy(&m->arena, from.items, from.count * sizeof *items);
    for (size_t i = 0; i < from.count; i++) {
        items[i].output = hlo_dims_copy(&m->arena, items[i].output);
        items[i].input = hlo_dims_copy(&m->arena, items[i].input);
    }
    return (HloAliases){items, from.count};
}

static const char **clone_texts(HloModule *m, const char *const *from, size_t count) {
    const char **texts = HLO_NEW_ARRAY(&m->arena, const char *, count);
    for (size_t i = 0; i < count; i++) texts[i] = hlo_intern_z(m, from[i]);
    return texts;
}

static HloFrames clone_frames(HloModule *m, const HloFrames *from) {
    HloFrames to = *from;
    to.file_names = clone_texts(m, from->file_names, from->file_name_count);
    to.function_names = clone_texts(m, from->function_names, from->function_name_count);
    to.locations = hlo_arena_copy(&m->arena, from->locations, from->location_count * sizeof *to.locations);
    to.frames = hlo_arena_copy(&m->arena, from->frames, from->frame_count * sizeof *to.frames);
    return to;
}

static HloStringMap clone_string_map(HloModule *m, HloStringMap from) {
    HloStringPair *pairs = HLO_NEW_ARRAY(&m->arena, HloStringPair, from.count);
    for (size_t i = 0; i < from.count; i++) {
        pairs[i] = (HloStringPair){hlo_intern_z(m, from.pairs[i].key), hlo_intern_z(m, from.pairs[i].value)};
    }
    return (HloStringMap){pairs, from.count};
}

static const HloDebugRow *clone_debug_rows(HloModule *m, const HloModule *from) {
    HloDebugRow *rows = HLO_NEW_ARRAY(&m->arena, HloDebugRow, from->debug_row_count);
    for (size_t i = 0; i < from->debug_row_count; i++) {
        const HloDebugRow *row = &from->debug_rows[i];
        rows[i] = (HloDebugRow){hlo_intern_z(m, row->name),
                                hlo_arena_copy(&m->arena, row->attrs, row->count * sizeof *row->attrs), row->count};
    }
    return rows;
}

static const HloRecoveryRow *clone_recovery(HloModule *m, const HloModule *from) {
    HloRecoveryRow *rows = hlo_arena_copy(&m->arena, from->recovery, from->recovery_count * sizeof *rows);
    for (size_t i = 0; i < from->recovery_count; i++) {
        HloRecoveryRow *row = &rows[i];
        row->old_name = hlo_intern_z(m, row->old_name);
        row->old_index = hlo_dims_copy(&m->arena, row->old_index);
        row->new_name = row->new_name ? hlo_intern_z(m, row->new_name) : NULL;
        row->new_index = hlo_dims_copy(&m->arena, row->new_index);
        if (!row->module) continue;
        row->module = hlo_module_clone(row->module);
        hlo_vec_push(&m->arena, &m->owned_modules, row->module);
    }
    return rows;
}

static void clone_header(HloModule *m, const HloModule *from) {
    m->is_scheduled = from->is_scheduled;
    m->entry_param_count = from->entry_param_count;
    m->entry_params = HLO_NEW_ARRAY(&m->arena, const HloShape *, from->entry_param_count);
    for (size_t k = 0; k < from->entry_param_count; k++) {
        m->entry_params[k] = hlo_shape_import(&m->shapes, from->entry_params[k]);
    }
    m->entry_result = hlo_shape_import(&m->shapes, from->entry_result);
    m->input_output_alias = clone_aliases(m, from->input_output_alias);
    m->buffer_donor = clone_aliases(m, from->buffer_donor);
    m->hlo_version = from->hlo_version;
    m->alias_passthrough_params = from->alias_passthrough_params;
    m->spmd_to_parameters = hlo_dims_copy(&m->arena, from->spmd_to_parameters);
    m->spmd_to_output = hlo_dims_copy(&m->arena, from->spmd_to_output);
    m->replica_count = from->replica_count;
    m->num_partitions = from->num_partitions;
    m->frontend_attributes = clone_string_map(m, from->frontend_attributes);
    m->frames = clone_frames(m, &from->frames);
    m->debug_rows = clone_debug_rows(m, from);
    m->debug_row_count = from->debug_row_count;
    m->recovery = clone_recovery(m, from);
    m->recovery_count = from->recovery_count;
    m->proto_rest = from->proto_rest;
    m->proto_rest.data = hlo_arena_string(&m->arena, from->proto_rest.data, from->proto_rest.size);
}

// Callees first, so that every call finds its copy; then the list gets the original's order.
static void clone_computations(HloModule *m, const HloModule *from, HloArena *scratch) {
    HloMap made = {0};
    HloCompList order = hlo_module_post_order(from, scratch);
    for (size_t i = 0; i < order.count; i++) {
        HloComputation *comp = order.items[i];
        *hlo_map_at(scratch, &made, comp) = hlo_computation_clone(m, comp, comp->name, &made, scratch, NULL);
    }
    HLO_EACH_COMP(comp, from) hlo_module_add(m, hlo_map_find(&made, comp));
    m->entry = hlo_map_find(&made, from->entry);
}

typedef struct CloneModule {
    HloModule *m;
    const HloModule *from;
    HloArena scratch;
} CloneModule;

static HloStatus clone_all(void *data) {
    CloneModule *clone = data;
    clone_header(clone->m, clone->from);
    clone_computations(clone->m, clone->from, &clone->scratch);
    return hlo_ok();
}

HloModule *hlo_module_clone(const HloModule *from) {
    CloneModule clone = {hlo_module_new(from->name), from, {0}};
    if (!clone.m) return NULL;
    HloStatus status = hlo_guarded((HloArena *[]){&clone.m->arena, &clone.scratch, NULL}, clone_all, &clone);
    hlo_arena_free(&clone.scratch);
    if (hlo_is_ok(status)) return clone.m;
    hlo_module_free(clone.m);
    return NULL;
}

// ---- out of memory --------------------------------------------------------------------------------------

enum { MOST_GUARDED = 8 };

HloStatus hlo_guarded(HloArena *const *arenas, HloStatus (*body)(void *data), void *data) {
    jmp_buf trap;
    jmp_buf *outer[MOST_GUARDED];
    size_t count = 0;
    while (arenas[count]) count++;
    assert(count <= MOST_GUARDED);
    for (size_t i = 0; i < count; i++) {
        outer[i] = arenas[i]->trap;
        arenas[i]->trap = &trap;
    }
    HloStatus status = setjmp(trap) ? hlo_out_of_memory() : body(data);
    for (size_t i = 0; i < count; i++) arenas[i]->trap = outer[i];
    return status;
}
