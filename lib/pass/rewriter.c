// Replacing instructions, and the engine that applies rules (simplifier chapter, §2).

#include "hlo/rewriter.h"
#include "lib/pass/fusion_operands.h"
#include "lib/pass/plant.h"

HloRewriter hlo_rewriter(HloPassContext *cx, HloModule *m) {
    return (HloRewriter){.cx = cx, .m = m, .scratch = cx->scratch};
}

HloStatus hlo_rewriter_finish(HloRewriter *rw, bool *changed) {
    hlo_rewriter_merge_wide_fusions(rw);
    *changed |= rw->changed;
    return rw->failure;
}

void hlo_rewriter_at(HloRewriter *rw, HloInstruction *inst) {
    rw->comp = inst->comp;
    rw->subject = inst;
    rw->rule = NULL;
}

bool hlo_rewriter_is_spent(const HloRewriter *rw) {
    const HloRewriteLog *log = rw->cx->log;
    HloFuel *fuel = rw->cx->fuel;
    if (log->limit && log->count >= log->limit) return true;
    if (!fuel || fuel->left > 0) return false;
    fuel->was_refused = true;
    return true;
}

void hlo_rewriter_note(HloRewriter *rw, const char *rule, HloInstruction *old_inst, HloInstruction *new_inst) {
    HloRewriteLog *log = rw->cx->log;
    log->count++;
    rw->changed = true;
    if (rw->cx->fuel) {
        rw->cx->fuel->left--;
        rw->cx->fuel->was_used = true;
    }
    hlo_plant_note(rw, rule, old_inst, new_inst);
    if (!log->on_rewrite) return;
    HloRewriteEvent event = {log->count, rw->cx->pass->name, rule, old_inst, new_inst};
    log->on_rewrite(log->data, &event);
}

// ---- replacing ------------------------------------------------------------------------------------------

static bool has_op_name(const HloMetadata *metadata) {
    return metadata && metadata->op_name && *metadata->op_name;
}

// New takes the whole metadata when it has no op_name, and else only a payload that it lacks.
static void inherit_metadata(HloModule *m, const HloInstruction *from, HloInstruction *to) {
    const HloMetadata *theirs = hlo_data(from, HLO_ATTR_METADATA);
    const HloMetadata *ours = hlo_data(to, HLO_ATTR_METADATA);
    if (!theirs) return;
    if (!has_op_name(ours) && has_op_name(theirs)) {
        hlo_set_data(m, to, HLO_ATTR_METADATA, theirs);
        return;
    }
    if (!ours || ours->payload_size || !theirs->payload_size) return;
    HloMetadata *both = hlo_arena_copy(&m->arena, ours, sizeof *ours);
    both->metadata_payload = theirs->metadata_payload;
    both->payload_size = theirs->payload_size;
    hlo_set_data(m, to, HLO_ATTR_METADATA, both);
}

static void inherit(HloModule *m, const HloInstruction *from, HloInstruction *to, HloAttrId id) {
    const void *theirs = hlo_data(from, id);
    if (theirs && !hlo_has(to, id)) hlo_set_data(m, to, id, theirs);
}

static bool is_same_kind(const HloInstruction *a, const HloInstruction *b) {
    if (a->op != b->op) return false;
    if (a->op != HLO_OP_CUSTOM_CALL) return true;
    return strcmp(hlo_text(a, HLO_ATTR_CUSTOM_CALL_TARGET), hlo_text(b, HLO_ATTR_CUSTOM_CALL_TARGET)) == 0;
}

static void fail_shapes(HloRewriter *rw, const HloInstruction *old, const HloInstruction *new, const char *rule) {
    rw->failure = hlo_error(HLO_INTERNAL, "rule %s replaces %%%s of shape %s by %%%s of shape %s", rule, old->name,
                            hlo_shape_text(rw->scratch, old->shape, true), new->name,
                            hlo_shape_text(rw->scratch, new->shape, true));
}

static bool is_refused(const HloInstruction *old, const HloInstruction *new, unsigned flags) {
    if (!(flags & HLO_REPLACE_RELAY_CONTROL) && hlo_has_control_edges(old)) return true;
    if (!(flags & HLO_REPLACE_PRESERVE_SHARDING)) return false;
    const HloSharding *a = hlo_data(old, HLO_ATTR_SHARDING);
    const HloSharding *b = hlo_data(new, HLO_ATTR_SHARDING);
    return a && b && !hlo_sharding_equal(a, b);
}

// Enters what comes right before `at` into a list of instructions that were found, each once.
static void list_preds(HloRewriter *rw, const HloInstruction *at, HloVec *found, HloMap *seen, size_t most) {
    const HloVec *lists[] = {&at->operands, hlo_control_preds(at)};
    for (size_t l = 0; l < HLO_COUNT(lists); l++) {
        for (size_t i = 0; i < lists[l]->count && found->count < most; i++) {
            void **slot = hlo_map_at(rw->scratch, seen, lists[l]->items[i]);
            if (!*slot) hlo_vec_push(rw->scratch, found, lists[l]->items[i]);
            *slot = lists[l]->items[i];
        }
    }
}

// Whether `inst` comes before `later`, or is not found not to after a bounded number of instructions.
static bool may_precede(HloRewriter *rw, const HloInstruction *inst, const HloInstruction *later) {
    enum { MOST_FOUND = 500 };  // so that many control edges cost linear time
    if (hlo_user_count(inst) == 0 && hlo_control_succs(inst)->count == 0) return false;
    HloVec found = {0};
    HloMap seen = {0};
    hlo_vec_push(rw->scratch, &found, later);
    for (size_t k = 0; k < found.count; k++) {
        if (found.items[k] == inst) return true;
        list_preds(rw, found.items[k], &found, &seen, MOST_FOUND);
    }
    return found.count >= MOST_FOUND;
}

// What old waits for, new waits for; where new was there before and that would be a circle, the users of old do. (The
// reference makes the circle.)
static void hand_over_control(HloRewriter *rw, HloInstruction *old, HloInstruction *new) {
    for (size_t k = hlo_control_preds(old)->count; k-- > 0;) {
        HloInstruction *pred = hlo_control_preds(old)->items[k];
        if (!may_precede(rw, new, pred)) continue;
        hlo_remove_control_edge(pred, old);
        for (size_t i = 0; i < hlo_user_count(old); i++) hlo_add_control_edge(pred, hlo_user(old, i));
        for (size_t i = 0; i < hlo_control_succs(old)->count; i++) {
            hlo_add_control_edge(pred, hlo_control_succs(old)->items[i]);
        }
    }
    hlo_move_control_edges(old, new);
}

static void hand_over(HloRewriter *rw, HloInstruction *old, HloInstruction *new, unsigned flags) {
    const HloAttr *origin = hlo_attr_find(old, HLO_ATTR_ORIGIN);
    if (origin && !(flags & HLO_REPLACE_KEEP_ORIGIN)) hlo_set_attr(rw->m, new, *origin);
    inherit_metadata(rw->m, old, new);
    inherit(rw->m, old, new, HLO_ATTR_FRONTEND_ATTRIBUTES);
    inherit(rw->m, old, new, HLO_ATTR_SHARDING);
    if (hlo_has_control_edges(old)) hand_over_control(rw, old, new);
    hlo_rewriter_move_uses(rw, old, new);
    if (is_same_kind(old, new)) hlo_inst_set_name(new, old->name);
}

// Builders run before their rule's name is known when a pass calls hlo_replace itself.
static void stamp_rule(const HloRewriter *rw, HloInstruction *inst, const char *rule) {
    HloMade *made = inst->made;
    if (made && made->pass == rw->cx->pass->name && !made->rule) made->rule = rule;
}

static void remove_with_parameters(HloRewriter *rw, HloInstruction *inst, bool relay) {
    HloComputation *comp = inst->comp;
    HloRemoval removal = {.relay_control = relay, .arena = rw->scratch};
    hlo_computation_remove_dead(comp, inst, &removal);
    hlo_fusion_drop_parameters(rw, comp, &removal.dead_parameters);
}

void hlo_rewriter_remove(HloRewriter *rw, HloInstruction *inst) {
    remove_with_parameters(rw, inst, false);
}

static void remove_replaced(HloRewriter *rw, HloInstruction *inst, unsigned flags) {
    if (flags & HLO_REPLACE_KEEP_OPERANDS)
        hlo_computation_remove(inst->comp, inst);
    else
        remove_with_parameters(rw, inst, flags & HLO_REPLACE_RELAY_CONTROL);
}

bool hlo_replace_with(HloRewriter *rw, HloInstruction *old_inst, HloInstruction *new_inst, const char *rule,
                      unsigned flags) {
    bool is_part = flags & HLO_REPLACE_PART;
    if (!hlo_is_ok(rw->failure) || !new_inst || old_inst == new_inst) return false;
    if (!is_part && hlo_rewriter_is_spent(rw)) return false;
    if (!hlo_shape_compatible(old_inst->shape, new_inst->shape)) {
        fail_shapes(rw, old_inst, new_inst, rule);
        return false;
    }
    if (is_refused(old_inst, new_inst, flags)) return false;
    stamp_rule(rw, new_inst, rule);
    if (!is_part) hlo_rewriter_note(rw, rule, old_inst, new_inst);
    hand_over(rw, old_inst, new_inst, flags);
    if (hlo_is_dead(old_inst) && hlo_is_removable(old_inst)) remove_replaced(rw, old_inst, flags);
    return true;
}

bool hlo_replace(HloRewriter *rw, HloInstruction *old_inst, HloInstruction *new_inst, const char *rule) {
    return hlo_replace_with(rw, old_inst, new_inst, rule, HLO_REPLACE_PLAIN);
}

// ---- deriving -------------------------------------------------------------------------------------------

// The map without `_xla_compute_type`, which speaks of one instruction only.
static const HloStringMap *without_compute_type(HloModule *m, const HloStringMap *map) {
    HloStringPair *kept = HLO_NEW_ARRAY(&m->arena, HloStringPair, map->count);
    HloStringMap *result = HLO_NEW(&m->arena, HloStringMap);
    result->pairs = kept;
    for (size_t k = 0; k < map->count; k++) {
        if (strcmp(map->pairs[k].key, "_xla_compute_type") != 0) kept[result->count++] = map->pairs[k];
    }
    return result->count == map->count ? map : result;
}

static void derive_frontend_attributes(HloModule *m, HloInstruction *inst, const HloInstruction *from) {
    const HloStringMap *map = hlo_data(from, HLO_ATTR_FRONTEND_ATTRIBUTES);
    if (!map) return;
    map = without_compute_type(m, map);
    if (map->count) hlo_set_data(m, inst, HLO_ATTR_FRONTEND_ATTRIBUTES, map);
}

// A sharding speaks of leaves and of dimensions, so it fits when there are as many of them.
static void derive_sharding(HloModule *m, HloInstruction *inst, const HloInstruction *from) {
    bool moves_dims = inst->op == HLO_OP_RESHAPE || inst->op == HLO_OP_TRANSPOSE;
    bool same_leaves = hlo_shape_is_tuple(inst->shape) == hlo_shape_is_tuple(from->shape) &&
                       inst->shape->rank == from->shape->rank &&
                       hlo_shape_leaf_count(inst->shape) == hlo_shape_leaf_count(from->shape);
    const void *sharding = hlo_data(from, HLO_ATTR_SHARDING);
    if (!same_leaves) {
        hlo_clear_attr(inst, HLO_ATTR_SHARDING);
    } else if (sharding && (!moves_dims || hlo_has(inst, HLO_ATTR_SHARDING))) {
        hlo_set_data(m, inst, HLO_ATTR_SHARDING, sharding);
    }
}

HloInstruction *hlo_derive(HloRewriter *rw, HloInstruction *inst, const HloInstruction *from) {
    if (!inst) return NULL;
    const void *metadata = hlo_data(from, HLO_ATTR_METADATA);
    if (metadata) {
        hlo_set_data(rw->m, inst, HLO_ATTR_METADATA, metadata);
    } else {
        hlo_clear_attr(inst, HLO_ATTR_METADATA);
    }
    derive_frontend_attributes(rw->m, inst, from);
    derive_sharding(rw->m, inst, from);
    const HloAttr *config = hlo_attr_find(from, HLO_ATTR_BACKEND_CONFIG);
    if (config && inst->op == from->op) hlo_set_attr(rw->m, inst, *config);
    return inst;
}

// ---- rules ----------------------------------------------------------------------------------------------

// The rules of each opcode as chains in table order; positions are from 1, 0 ends a chain.
typedef struct RuleIndex {
    const HloRule *rules;
    size_t first[HLO_OP_COUNT];
    size_t *next;
} RuleIndex;

static RuleIndex *index_rules(HloArena *scratch, const HloRule *rules, size_t count) {
    RuleIndex *index = HLO_NEW(scratch, RuleIndex);
    index->rules = rules;
    index->next = HLO_NEW_ARRAY(scratch, size_t, count + 1);
    for (size_t k = count; k > 0; k--) {
        HloOpcode op = rules[k - 1].op;
        index->next[k] = index->first[op];
        index->first[op] = k;
    }
    return index;
}

// A rule that fired counts as a change even when the replacement was refused: what it built is there.
static bool apply_rule(HloRewriter *rw, HloInstruction *inst, const HloRule *rule) {
    rw->rule = rule->name;
    HloInstruction *result = rule->apply(rw, inst);
    if (!result) return false;
    if (result == inst) {
        hlo_rewriter_note(rw, rule->name, inst, inst);
    } else {
        hlo_replace(rw, inst, result, rule->name);
    }
    rw->changed = true;
    return true;
}

static HloStatus apply_to(HloRewriter *rw, HloInstruction *inst, const RuleIndex *index) {
    hlo_rewriter_at(rw, inst);
    for (size_t k = index->first[inst->op]; k && !hlo_rewriter_is_spent(rw); k = index->next[k]) {
        if (apply_rule(rw, inst, &index->rules[k - 1])) break;
        if (!hlo_is_ok(rw->failure)) break;
    }
    return rw->failure;
}

HloStatus hlo_apply_rules(HloPassContext *cx, HloModule *m, const HloRule *rules, size_t count, bool *changed) {
    HloRewriter rw = hlo_rewriter(cx, m);
    RuleIndex *index = index_rules(cx->scratch, rules, count);
    HloCompList comps = hlo_module_nonfusion_order(m, cx->scratch);
    for (size_t c = 0; c < comps.count; c++) {
        HloInstList order = hlo_post_order(comps.items[c], cx->scratch);
        for (size_t k = 0; k < order.count; k++) {
            bool is_gone = !order.items[k]->comp;
            if (!is_gone) HLO_TRY(apply_to(&rw, order.items[k], index));
        }
    }
    return hlo_rewriter_finish(&rw, changed);
}
