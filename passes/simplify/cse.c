// cse: keeps one of several instructions that compute the same value.
//
//   %c1 = f32[] constant(2)
//   %c2 = f32[] constant(2)
//   %m = f32[] multiply(%a, %c1)
//   %n = f32[] multiply(%c2, %a)
//   ROOT %s = f32[] add(%m, %n)
// becomes
//   %c1 = f32[] constant(2)
//   %m = f32[] multiply(%a, %c1)
//   ROOT %s = f32[] add(%m, %m)
//
// The first one stays, with its metadata; annotations of the others are lost. Two iotas of the same shape and dimension
// count as the same operand. In fusions with several outputs, readers of a repeated output move to its first
// occurrence.
//
// Needs: nothing.  Keeps: the call graph, parameters, control edges, side effects.

#include "hlo/pass.h"
#include "hlo/rewriter.h"

// Instructions with the same hash that are known to differ. More than a few only exist where somebody gave every copy
// another sharding; past this, copies stay.
enum { MOST_ALIKE = 256 };

typedef struct Cse {
    HloRewriter rw;
    bool layout_sensitive;
    HloMap groups;    // hash -> HloVec of instructions with it that differ from each other; of one computation
    HloBits effects;  // by computation id
} Cse;

// ---- groups ---------------------------------------------------------------------------------------------

static HloVec *group_of(Cse *cse, uint64_t hash) {
    void **slot = hlo_map_at(cse->rw.scratch, &cse->groups, (const void *)(uintptr_t)hash);
    if (!*slot) *slot = HLO_NEW(cse->rw.scratch, HloVec);
    return *slot;
}

typedef bool (*SameFn)(const Cse *cse, const HloInstruction *a, const HloInstruction *b);

// The instruction seen before that `inst` repeats; NULL when there is none, and then `inst` is remembered.
static HloInstruction *find_original(Cse *cse, HloInstruction *inst, uint64_t hash, SameFn is_same) {
    HloVec *group = group_of(cse, hash);
    for (size_t k = 0; k < group->count; k++) {
        if (is_same(cse, group->items[k], inst)) return group->items[k];
    }
    if (group->count < MOST_ALIKE) hlo_vec_push(cse->rw.scratch, group, inst);
    return NULL;
}

static unsigned ignored_in_shapes(const Cse *cse) {
    return cse->layout_sensitive ? HLO_IGNORE_NOTHING : HLO_IGNORE_LAYOUT | HLO_IGNORE_DYNAMIC;
}

static uint64_t hash_shape(const Cse *cse, const HloShape *shape) {
    if (cse->layout_sensitive) return shape->hash;
    uint64_t hash = hlo_hash_u64((uint64_t)shape->type + 1);
    for (size_t d = 0; hlo_shape_is_array(shape) && d < shape->rank; d++) {
        hash = hlo_hash_combine(hash, (uint64_t)shape->dims[d]);
    }
    return hash;
}

// ---- constants ------------------------------------------------------------------------------------------

static bool is_same_constant(const Cse *cse, const HloInstruction *a, const HloInstruction *b) {
    return hlo_shape_equal(a->shape, b->shape, ignored_in_shapes(cse)) &&
           hlo_literal_equal(hlo_constant(a), hlo_constant(b));
}

static void merge_constants(Cse *cse, HloComputation *comp) {
    cse->groups = (HloMap){0};
    for (HloInstruction *inst = comp->first, *next; inst; inst = next) {
        next = inst->next;
        if (!hlo_constant(inst) || hlo_rewriter_is_spent(&cse->rw)) continue;
        uint64_t hash = hlo_hash_combine(hash_shape(cse, inst->shape), hlo_literal_hash(hlo_constant(inst)));
        HloInstruction *original = find_original(cse, inst, hash, is_same_constant);
        if (!original || hlo_has_control_edges(inst)) continue;
        hlo_rewriter_note(&cse->rw, "same-constant", inst, original);
        hlo_rewriter_move_uses(&cse->rw, inst, original);
        hlo_computation_remove(comp, inst);
    }
}

// ---- which instructions ---------------------------------------------------------------------------------

static bool has_effect(const Cse *cse, const HloInstruction *inst) {
    if (hlo_has_own_side_effect(inst)) return true;
    for (size_t k = 0; k < inst->called.count; k++) {
        if (hlo_bits_has(cse->effects, hlo_called(inst, k)->id)) return true;
    }
    return false;
}

static bool is_worth_naming(const HloInstruction *inst) {
    return hlo_operand_count(inst) || inst->op == HLO_OP_PARTITION_ID || inst->op == HLO_OP_REPLICA_ID ||
           hlo_frontend_attribute(inst, "_xla_cse_safe_zero_operand");
}

// Not here: after-all and add-dependency. Their tokens order effects, so two of them are two events.
static bool is_candidate(const Cse *cse, const HloInstruction *inst) {
    if (inst->op == HLO_OP_AFTER_ALL || inst->op == HLO_OP_ADD_DEPENDENCY) return false;
    return is_worth_naming(inst) && !hlo_frontend_attribute(inst, "MUST_FUSE") && hlo_is_removable(inst) &&
           !has_effect(cse, inst);
}

// ---- equality -------------------------------------------------------------------------------------------

static bool is_same_iota(const HloInstruction *a, const HloInstruction *b) {
    return a->op == HLO_OP_IOTA && b->op == HLO_OP_IOTA && a->shape == b->shape &&
           hlo_int(a, HLO_ATTR_IOTA_DIMENSION) == hlo_int(b, HLO_ATTR_IOTA_DIMENSION);
}

static bool is_same_operand(const HloInstruction *a, const HloInstruction *b) {
    return a == b || is_same_iota(a, b);
}

static bool has_same_operands(const HloInstruction *a, const HloInstruction *b) {
    if (hlo_operand_count(a) != hlo_operand_count(b)) return false;
    size_t k = 0;
    while (k < hlo_operand_count(a) && is_same_operand(hlo_operand(a, k), hlo_operand(b, k))) k++;
    if (k == hlo_operand_count(a)) return true;
    return hlo_op_has(a->op, HLO_OPF_COMMUTATIVE) && is_same_operand(hlo_operand(a, 0), hlo_operand(b, 1)) &&
           is_same_operand(hlo_operand(a, 1), hlo_operand(b, 0));
}

static bool is_same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool has_fitting_sharding(const HloInstruction *a, const HloInstruction *b) {
    const HloSharding *x = hlo_data(a, HLO_ATTR_SHARDING), *y = hlo_data(b, HLO_ATTR_SHARDING);
    if (x && y && !hlo_sharding_equal(x, y)) return false;
    return is_same_text(hlo_frontend_attribute(a, "xla.sdy.sharding"), hlo_frontend_attribute(b, "xla.sdy.sharding"));
}

// What an instruction computes does not depend on these.
static bool is_annotation(HloAttrId id) {
    return id == HLO_ATTR_METADATA || id == HLO_ATTR_ORIGIN || id == HLO_ATTR_STATISTICS || id == HLO_ATTR_SHARDING ||
           id == HLO_ATTR_FRONTEND_ATTRIBUTES;
}

// Shardings are compared apart: one that lacks fits any.
static bool has_same_attributes(const HloInstruction *a, const HloInstruction *b) {
    return hlo_same_attributes(a, b, (const HloAttrId[]){HLO_ATTR_SHARDING}, 1);
}

static bool has_same_callees(const HloInstruction *a, const HloInstruction *b) {
    if (a->called.count != b->called.count) return false;
    for (size_t k = 0; k < a->called.count; k++) {
        if (!hlo_computation_equal(hlo_called(a, k), hlo_called(b, k), true)) return false;
    }
    return true;
}

static bool is_same_instruction(const Cse *cse, const HloInstruction *a, const HloInstruction *b) {
    return a->op == b->op && has_same_operands(a, b) && hlo_shape_equal(a->shape, b->shape, ignored_in_shapes(cse)) &&
           has_fitting_sharding(a, b) && has_same_attributes(a, b) && has_same_callees(a, b);
}

static uint64_t hash_operand(const HloInstruction *operand) {
    if (operand->op != HLO_OP_IOTA) return hlo_hash_u64((uint64_t)(uintptr_t)operand);
    return hlo_hash_combine(operand->shape->hash, (uint64_t)hlo_int(operand, HLO_ATTR_IOTA_DIMENSION));
}

static uint64_t hash_instruction(const Cse *cse, const HloInstruction *inst) {
    uint64_t hash = hlo_hash_combine((uint64_t)inst->op + 1, hash_shape(cse, inst->shape));
    bool ordered = !hlo_op_has(inst->op, HLO_OPF_COMMUTATIVE);
    uint64_t sum = 0;
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        uint64_t operand = hash_operand(hlo_operand(inst, k));
        sum = ordered ? hlo_hash_combine(sum, operand) : sum + operand;
    }
    hash = hlo_hash_combine(hash, sum);
    for (size_t k = 0; k < inst->attr_count; k++) {
        if (!is_annotation(inst->attrs[k].id)) hash = hlo_hash_combine(hash, hlo_attr_hash(inst->attrs[k]));
    }
    for (size_t k = 0; k < inst->called.count; k++) hash = hlo_hash_combine(hash, hlo_called(inst, k)->count);
    return hash;
}

// ---- merging --------------------------------------------------------------------------------------------

static bool merge_into_original(Cse *cse, HloInstruction *inst) {
    HloInstruction *original = find_original(cse, inst, hash_instruction(cse, inst), is_same_instruction);
    if (!original || hlo_rewriter_is_spent(&cse->rw)) return false;
    hlo_rewriter_note(&cse->rw, "same-value", inst, original);
    hlo_rewriter_move_uses(&cse->rw, inst, original);
    hlo_rewriter_remove(&cse->rw, inst);
    return true;
}

// f(iota, iota) with two iota instructions reads the first one twice.
static void merge_iota_operands(Cse *cse, HloInstruction *inst) {
    HloMap first = {0};  // hash -> the first iota with it
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        HloInstruction *operand = hlo_operand(inst, k);
        if (operand->op != HLO_OP_IOTA || hlo_rewriter_is_spent(&cse->rw)) continue;
        void **slot = hlo_map_at(cse->rw.scratch, &first, (const void *)(uintptr_t)hash_operand(operand));
        if (!*slot) *slot = operand;
        if (*slot == operand || !is_same_iota(*slot, operand)) continue;
        hlo_rewriter_note(&cse->rw, "same-iota", operand, *slot);
        hlo_set_operand(inst, k, *slot);
        if (hlo_is_dead(operand) && hlo_is_removable(operand)) hlo_computation_remove(operand->comp, operand);
    }
}

static void merge_instructions(Cse *cse, HloComputation *comp) {
    cse->groups = (HloMap){0};
    HloInstList order = hlo_post_order(comp, cse->rw.scratch);
    for (size_t k = 0; k < order.count; k++) {
        HloInstruction *inst = order.items[k];
        if (!inst->comp || !is_candidate(cse, inst)) continue;
        if (!merge_into_original(cse, inst)) merge_iota_operands(cse, inst);
    }
}

// Readers of an output that an earlier output repeats read the earlier one; dce takes the rest.
static void merge_outputs(Cse *cse, HloComputation *comp) {
    HloInstruction *fusion = hlo_fusion_caller(comp);
    if (!fusion || comp->root->op != HLO_OP_TUPLE) return;
    HloMap first = {0};  // root operand -> its first position + 1
    for (size_t k = 0; k < hlo_operand_count(comp->root); k++) {
        void **slot = hlo_map_at(cse->rw.scratch, &first, hlo_operand(comp->root, k));
        if (!*slot) *slot = (void *)(uintptr_t)(k + 1);
    }
    for (size_t k = 0; k < hlo_user_count(fusion); k++) {
        HloInstruction *user = hlo_user(fusion, k);
        if (user->op != HLO_OP_GET_TUPLE_ELEMENT || hlo_rewriter_is_spent(&cse->rw)) continue;
        int64_t index = hlo_int(user, HLO_ATTR_INDEX);
        if ((uint64_t)index >= hlo_operand_count(comp->root)) continue;
        int64_t at = (int64_t)(uintptr_t)hlo_map_find(&first, hlo_operand(comp->root, (size_t)index)) - 1;
        if (at == index) continue;
        hlo_rewriter_note(&cse->rw, "same-output", user, user);
        hlo_set_int(cse->rw.m, user, HLO_ATTR_INDEX, at);
    }
}

static HloStatus run(HloPassContext *cx, HloModule *m, bool *changed) {
    Cse cse = {.rw = hlo_rewriter(cx, m), .layout_sensitive = hlo_option_bool(cx, "layout-sensitive")};
    cse.effects = hlo_module_find_effects(m, cx->scratch);
    HLO_EACH_COMP(comp, m) {
        merge_constants(&cse, comp);
        merge_instructions(&cse, comp);
        merge_outputs(&cse, comp);
    }
    return hlo_rewriter_finish(&cse.rw, changed);
}

static const HloOptionSpec options[] = {
    {"layout-sensitive", HLO_OPTION_BOOL, "false", "values with different layouts are different"},
};

const HloPass hlo_pass_cse = {
    .name = "cse",
    .summary = "keeps one of several instructions that compute the same value",
    .options = options,
    .option_count = HLO_COUNT(options),
    .run = run,
};
