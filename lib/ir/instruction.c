// Instructions: attributes, and edges that stay two-sided.

#include "hlo/instruction.h"

#include <assert.h>

#include "hlo/module.h"
#include "lib/ir/edges.h"
#include "lib/ir/operand_slots.h"

HloInstruction *hlo_inst_new(HloModule *m, HloOpcode op, const HloShape *shape, HloInstruction *const *operands,
                             size_t count) {
    HloInstruction *inst = HLO_NEW(&m->arena, HloInstruction);
    inst->op = op;
    inst->shape = shape;
    inst->name = "";
    if (!count) return inst;
    if (count > UINT32_MAX) hlo_vec_grow(&m->arena, &inst->operands, count);  // out of memory
    inst->operands.items = hlo_arena_copy(&m->arena, operands, count * sizeof *operands);
    inst->operands.count = inst->operands.capacity = (uint32_t)count;
    return inst;
}

// A map goes over all dimensions of its result, however many the copy has.
static void fit_map(HloModule *m, HloInstruction *copy, size_t old_rank) {
    size_t rank = copy->shape->rank;
    if (copy->op != HLO_OP_MAP || rank == old_rank) return;
    int64_t *dims = HLO_NEW_ARRAY(&m->arena, int64_t, rank);
    for (size_t d = 0; d < rank; d++) dims[d] = (int64_t)d;
    hlo_set_dims(m, copy, HLO_ATTR_DIMENSIONS, (HloDims){dims, rank});
}

HloInstruction *hlo_inst_clone(HloModule *m, const HloInstruction *inst, const HloShape *shape,
                               HloInstruction *const *operands, size_t count, HloComputation *const *callees) {
    HloInstruction *copy = hlo_inst_new(m, inst->op, shape, operands, count);
    bool foreign = inst->comp && inst->comp->m != m;
    copy->attrs = hlo_arena_copy(&m->arena, inst->attrs, inst->attr_count * sizeof *inst->attrs);
    copy->attr_count = copy->attr_capacity = inst->attr_count;
    for (size_t i = 0; foreign && i < copy->attr_count; i++) copy->attrs[i] = hlo_attr_import(m, copy->attrs[i]);
    for (size_t i = 0; i < inst->called.count; i++) {
        hlo_vec_push(&m->arena, &copy->called, callees ? callees[i] : inst->called.items[i]);
    }
    if (shape && inst->shape) fit_map(m, copy, inst->shape->rank);
    return copy;
}

HloInstructionExtra *hlo_instruction_extra(HloModule *m, HloInstruction *inst) {
    if (!inst->extra) inst->extra = HLO_NEW(&m->arena, HloInstructionExtra);
    return inst->extra;
}

// ---- attributes -----------------------------------------------------------------------------------------

const HloAttr *hlo_attr_find(const HloInstruction *inst, HloAttrId id) {
    for (size_t i = 0; i < inst->attr_count && inst->attrs[i].id <= id; i++) {
        if (inst->attrs[i].id == id) return &inst->attrs[i];
    }
    return NULL;
}

int64_t hlo_int(const HloInstruction *inst, HloAttrId id) {
    const HloAttr *attr = hlo_attr_find(inst, id);
    return attr ? attr->i : hlo_attr_info(id)->standard;
}

double hlo_float(const HloInstruction *inst, HloAttrId id) {
    const HloAttr *attr = hlo_attr_find(inst, id);
    return attr ? attr->f : 0;
}

const char *hlo_text(const HloInstruction *inst, HloAttrId id) {
    const HloAttr *attr = hlo_attr_find(inst, id);
    return attr && attr->text ? attr->text : "";
}

HloDims hlo_dims(const HloInstruction *inst, HloAttrId id) {
    const HloAttr *attr = hlo_attr_find(inst, id);
    return attr ? *(const HloDims *)attr->data : (HloDims){NULL, 0};
}

const void *hlo_data(const HloInstruction *inst, HloAttrId id) {
    const HloAttr *attr = hlo_attr_find(inst, id);
    return attr ? attr->data : NULL;
}

static bool is_default(HloAttr attr) {
    const HloAttrInfo *info = hlo_attr_info(attr.id);
    return info->has_default && info->kind <= HLO_KIND_ENUM && info->kind != HLO_KIND_FLOAT && attr.i == info->standard;
}

void hlo_set_attr(HloModule *m, HloInstruction *inst, HloAttr attr) {
    if (is_default(attr)) {
        hlo_clear_attr(inst, attr.id);
        return;
    }
    size_t at = 0;
    while (at < inst->attr_count && inst->attrs[at].id < attr.id) at++;
    if (at < inst->attr_count && inst->attrs[at].id == attr.id) {
        inst->attrs[at] = attr;
        return;
    }
    if (inst->attr_count == inst->attr_capacity) {
        uint16_t capacity = (uint16_t)(inst->attr_capacity ? inst->attr_capacity * 2 : 1);
        HloAttr *attrs = HLO_NEW_ARRAY(&m->arena, HloAttr, capacity);
        if (inst->attr_count) memcpy(attrs, inst->attrs, inst->attr_count * sizeof *attrs);
        inst->attrs = attrs;
        inst->attr_capacity = capacity;
    }
    memmove(inst->attrs + at + 1, inst->attrs + at, (inst->attr_count - at) * sizeof *inst->attrs);
    inst->attrs[at] = attr;
    inst->attr_count++;
}

void hlo_set_int(HloModule *m, HloInstruction *inst, HloAttrId id, int64_t value) {
    hlo_set_attr(m, inst, (HloAttr){.id = id, .i = value});
}

void hlo_set_float(HloModule *m, HloInstruction *inst, HloAttrId id, double value) {
    hlo_set_attr(m, inst, (HloAttr){.id = id, .f = value});
}

void hlo_set_text(HloModule *m, HloInstruction *inst, HloAttrId id, const char *text) {
    hlo_set_attr(m, inst, (HloAttr){.id = id, .text = hlo_intern_z(m, text)});
}

void hlo_set_dims(HloModule *m, HloInstruction *inst, HloAttrId id, HloDims dims) {
    HloDims *copy = HLO_NEW(&m->arena, HloDims);
    *copy = hlo_dims_copy(&m->arena, dims);
    hlo_set_attr(m, inst, (HloAttr){.id = id, .data = copy});
}

void hlo_set_data(HloModule *m, HloInstruction *inst, HloAttrId id, const void *data) {
    hlo_set_attr(m, inst, (HloAttr){.id = id, .data = data});
}

void hlo_clear_attr(HloInstruction *inst, HloAttrId id) {
    size_t at = 0;
    while (at < inst->attr_count && inst->attrs[at].id != id) at++;
    if (at == inst->attr_count) return;
    inst->attr_count--;
    memmove(inst->attrs + at, inst->attrs + at + 1, (inst->attr_count - at) * sizeof *inst->attrs);
}

const char *hlo_frontend_attribute(const HloInstruction *inst, const char *key) {
    const HloStringMap *map = hlo_data(inst, HLO_ATTR_FRONTEND_ATTRIBUTES);
    for (size_t k = 0; map && k < map->count; k++) {
        if (strcmp(map->pairs[k].key, key) == 0) return map->pairs[k].value;
    }
    return NULL;
}

// ---- one side of an edge --------------------------------------------------------------------------------
//
// Users and callers are lists in which each partner stands once. A long list in which a partner is looked for gets an
// index from partner to position, so that dropping an edge costs O(1) whatever the fan-out. A text that is only read
// looks for none.

enum { MOST_UNINDEXED = 16 };

static void index_partner(HloArena *arena, const HloVec *list, HloMap *index, size_t at) {
    *hlo_map_at(arena, index, list->items[at]) = (void *)(uintptr_t)(at + 1);
}

static size_t partner_find(HloArena *arena, const HloVec *list, HloMap **index, const void *partner) {
    if (!*index && list->count <= MOST_UNINDEXED) return hlo_vec_find(list, partner);
    if (!*index) {
        *index = HLO_NEW(arena, HloMap);
        for (size_t i = 0; i < list->count; i++) index_partner(arena, list, *index, i);
    }
    return (size_t)(uintptr_t)hlo_map_find(*index, partner) - 1;
}

static void partner_append(HloArena *arena, HloVec *list, HloMap *index, const void *partner) {
    hlo_vec_push(arena, list, partner);
    if (index) index_partner(arena, list, index, list->count - 1);
}

static void partner_add(HloArena *arena, HloVec *list, HloMap **index, const void *partner) {
    if (partner_find(arena, list, index, partner) == SIZE_MAX) partner_append(arena, list, *index, partner);
}

// For one that was in no list a moment ago: if it stands in this one, then at the end.
static void partner_add_new(HloArena *arena, HloVec *list, HloMap *index, const void *partner) {
    if (!list->count || list->items[list->count - 1] != partner) partner_append(arena, list, index, partner);
}

static void partner_drop(HloArena *arena, HloVec *list, HloMap **index, const void *partner) {
    size_t at = partner_find(arena, list, index, partner);
    if (at == SIZE_MAX) return;
    list->items[at] = list->items[--list->count];
    if (!*index) return;
    *hlo_map_at(arena, *index, partner) = NULL;
    if (at < list->count) index_partner(arena, list, *index, at);
}

static HloArena *arena_of(const HloInstruction *inst) {
    return &inst->comp->m->arena;
}

// ---- data edges -----------------------------------------------------------------------------------------
//
// An instruction becomes a user of its operands when it is added to a computation (hlo_link_operands) and
// stops being one when it is removed.

static HloMap *user_index(const HloInstruction *inst) {
    return inst->extra ? inst->extra->user_index : NULL;
}

static void keep_index(HloModule *m, HloInstruction *inst, HloMap *index) {
    if (index) hlo_instruction_extra(m, inst)->user_index = index;
}

static void add_user(HloInstruction *operand, HloInstruction *user) {
    HloMap *index = user_index(operand);
    partner_add(arena_of(user), &operand->users, &index, user);
    keep_index(user->comp->m, operand, index);
}

static void drop_user(HloInstruction *operand, HloInstruction *user) {
    HloMap *index = user_index(operand);
    partner_drop(arena_of(user), &operand->users, &index, user);
    keep_index(user->comp->m, operand, index);
}

static void forget_slots(HloInstruction *inst) {
    if (inst->extra) inst->extra->operand_slots = NULL;
}

void hlo_link_operands(HloInstruction *inst) {
    for (size_t k = 0; k < inst->operands.count; k++) {
        HloInstruction *operand = inst->operands.items[k];
        if (operand) partner_add_new(arena_of(inst), &operand->users, user_index(operand), inst);
    }
}

void hlo_unlink_operands(HloInstruction *inst) {
    forget_slots(inst);
    for (size_t k = 0; k < inst->operands.count; k++) {
        if (inst->operands.items[k]) drop_user(inst->operands.items[k], inst);
    }
}

void hlo_set_operand(HloInstruction *inst, size_t k, HloInstruction *operand) {
    assert(k < inst->operands.count);
    HloInstruction *old = inst->operands.items[k];
    if (old == operand) return;
    hlo_slots_set(inst, k, operand);
    if (!inst->comp) return;
    if (old && !hlo_slots_has(inst, old)) drop_user(old, inst);
    add_user(operand, inst);
}

void hlo_append_operand(HloInstruction *inst, HloInstruction *operand) {
    assert(inst->comp);
    hlo_vec_push(&inst->comp->m->arena, &inst->operands, operand);
    forget_slots(inst);
    add_user(operand, inst);
}

void hlo_remove_operand(HloInstruction *inst, size_t k) {
    HloInstruction *old = hlo_operand(inst, k);
    hlo_vec_remove(&inst->operands, k);
    forget_slots(inst);
    if (inst->comp && hlo_vec_find(&inst->operands, old) == SIZE_MAX) drop_user(old, inst);
}

void hlo_replace_uses_in(HloInstruction *user, HloInstruction *old, HloInstruction *new) {
    hlo_slots_replace(user, old, new);
    drop_user(old, user);
    add_user(new, user);
}

void hlo_replace_all_uses(HloInstruction *old, HloInstruction *new) {
    if (old == new) return;
    // In order of use; `new` may itself use `old` and then keeps doing so.
    HloVec users = {0};
    HloArena scratch = {.trap = old->comp->m->arena.trap};
    for (size_t i = 0; i < old->users.count; i++) hlo_vec_push(&scratch, &users, old->users.items[i]);
    for (size_t i = 0; i < users.count; i++) {
        if (users.items[i] != new) hlo_replace_uses_in(users.items[i], old, new);
    }
    hlo_arena_free(&scratch);
    if (old->comp->root == old) hlo_computation_set_root(old->comp, new);
}

// ---- callees --------------------------------------------------------------------------------------------

static void add_caller(HloInstruction *inst, HloComputation *callee) {
    partner_add(arena_of(inst), &callee->callers, &callee->caller_index, inst);
}

static void drop_caller(HloInstruction *inst, HloComputation *callee) {
    partner_drop(arena_of(inst), &callee->callers, &callee->caller_index, inst);
}

void hlo_link_callees(HloInstruction *inst) {
    for (size_t k = 0; k < inst->called.count; k++) {
        HloComputation *callee = inst->called.items[k];
        if (callee) partner_add_new(arena_of(inst), &callee->callers, callee->caller_index, inst);
    }
}

void hlo_unlink_callees(HloInstruction *inst) {
    for (size_t k = 0; k < inst->called.count; k++) {
        if (inst->called.items[k]) drop_caller(inst, inst->called.items[k]);
    }
}

void hlo_set_called(HloInstruction *inst, size_t k, HloComputation *callee) {
    while (inst->called.count <= k) hlo_vec_push(&callee->m->arena, &inst->called, NULL);
    HloComputation *old = inst->called.items[k];
    inst->called.items[k] = callee;
    if (!inst->comp || old == callee) return;
    if (old && hlo_vec_find(&inst->called, old) == SIZE_MAX) drop_caller(inst, old);
    add_caller(inst, callee);
}

void hlo_clear_called(HloInstruction *inst) {
    if (inst->comp) hlo_unlink_callees(inst);
    inst->called.count = 0;
}

// ---- control edges --------------------------------------------------------------------------------------

// Asks the side with fewer edges, so that many predecessors of one instruction cost no more than one of each.
static bool has_control_edge(const HloInstruction *before, const HloInstruction *inst) {
    const HloVec *preds = hlo_control_preds(inst), *succs = hlo_control_succs(before);
    if (succs->count < preds->count) return hlo_vec_find(succs, inst) != SIZE_MAX;
    return hlo_vec_find(preds, before) != SIZE_MAX;
}

void hlo_add_control_edge(HloInstruction *before, HloInstruction *inst) {
    if (has_control_edge(before, inst)) return;
    HloModule *m = inst->comp->m;
    hlo_vec_push(&m->arena, &hlo_instruction_extra(m, inst)->control_preds, before);
    hlo_vec_push(&m->arena, &hlo_instruction_extra(m, before)->control_succs, inst);
}

static void drop_item(HloVec *vec, const void *item) {
    size_t at = hlo_vec_find(vec, item);
    if (at != SIZE_MAX) hlo_vec_remove(vec, at);
}

static void drop_pred(HloInstruction *inst, const HloInstruction *before) {
    if (inst->extra) drop_item(&inst->extra->control_preds, before);
}

static void drop_succ(HloInstruction *inst, const HloInstruction *after) {
    if (inst->extra) drop_item(&inst->extra->control_succs, after);
}

void hlo_remove_control_edge(HloInstruction *before, HloInstruction *inst) {
    drop_pred(inst, before);
    drop_succ(before, inst);
}

void hlo_drop_control_edges(HloInstruction *inst) {
    HloInstructionExtra *extra = inst->extra;
    if (!extra) return;
    for (size_t i = 0; i < extra->control_preds.count; i++) drop_succ(extra->control_preds.items[i], inst);
    for (size_t i = 0; i < extra->control_succs.count; i++) drop_pred(extra->control_succs.items[i], inst);
    extra->control_preds.count = extra->control_succs.count = 0;
}

void hlo_drop_control_edges_to(HloComputation *comp, HloBits ends) {
    HLO_EACH_INST(inst, comp) {
        if (!inst->extra) continue;
        HloVec *succs = &inst->extra->control_succs;
        size_t kept = 0;
        for (size_t i = 0; i < succs->count; i++) {
            HloInstruction *after = succs->items[i];
            if (!hlo_bits_has(ends, after->id)) succs->items[kept++] = after;
        }
        succs->count = kept;
        if (hlo_bits_has(ends, inst->id)) inst->extra->control_preds.count = 0;
    }
}

void hlo_move_control_edges(HloInstruction *from, HloInstruction *to) {
    const HloVec *preds = hlo_control_preds(from), *succs = hlo_control_succs(from);
    for (size_t i = 0; i < preds->count; i++) {
        if (preds->items[i] != to) hlo_add_control_edge(preds->items[i], to);
    }
    for (size_t i = 0; i < succs->count; i++) {
        if (succs->items[i] != to) hlo_add_control_edge(to, succs->items[i]);
    }
    hlo_drop_control_edges(from);
}

// ---- asking ---------------------------------------------------------------------------------------------

bool hlo_is_root(const HloInstruction *inst) {
    return inst->comp && inst->comp->root == inst;
}

bool hlo_is_dead(const HloInstruction *inst) {
    return inst->users.count == 0 && !hlo_is_root(inst);
}

bool hlo_is_removable(const HloInstruction *inst) {
    if (hlo_has_control_edges(inst)) return false;
    return inst->op != HLO_OP_PARAMETER || hlo_is_fusion_computation(inst->comp);
}

// Annotations say nothing about what an instruction computes; frontend attributes are looked at apart.
static bool is_annotation(HloAttrId id) {
    return id == HLO_ATTR_METADATA || id == HLO_ATTR_ORIGIN || id == HLO_ATTR_STATISTICS ||
           id == HLO_ATTR_FRONTEND_ATTRIBUTES;
}

bool hlo_same_operation(const HloInstruction *a, const HloInstruction *b) {
    if (a->called.count != b->called.count) return false;
    for (size_t k = 0; k < a->called.count; k++) {
        if (a->called.items[k] != b->called.items[k]) return false;
    }
    const HloAttr *x = hlo_attr_find(a, HLO_ATTR_FRONTEND_ATTRIBUTES);
    const HloAttr *y = hlo_attr_find(b, HLO_ATTR_FRONTEND_ATTRIBUTES);
    if (!x != !y || (x && !hlo_attr_equal(*x, *y))) return false;
    return hlo_same_attributes(a, b, NULL, 0);
}

// The position from `at` on of the next attribute that counts.
static size_t next_that_counts(const HloInstruction *inst, size_t at, const HloAttrId *ignored, size_t count) {
    for (; at < inst->attr_count; at++) {
        HloAttrId id = inst->attrs[at].id;
        bool counts = !is_annotation(id);
        for (size_t i = 0; counts && i < count; i++) counts = id != ignored[i];
        if (counts) break;
    }
    return at;
}

bool hlo_same_attributes(const HloInstruction *a, const HloInstruction *b, const HloAttrId *ignored, size_t count) {
    if (a->op != b->op) return false;
    size_t i = 0, j = 0;
    while (true) {
        i = next_that_counts(a, i, ignored, count);
        j = next_that_counts(b, j, ignored, count);
        if (i == a->attr_count || j == b->attr_count) return i == a->attr_count && j == b->attr_count;
        if (!hlo_attr_equal(a->attrs[i++], b->attrs[j++])) return false;
    }
}
