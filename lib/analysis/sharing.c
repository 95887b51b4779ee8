// Which operations write over the memory of an operand: those that must (in-place pairs) and those that may.

#include "hlo/dataflow.h"

typedef enum Answer { UNKNOWN, YES, NO } Answer;

typedef struct FusionFacts {
    HloInPlacePairs body;   // pairs that follow from the fused computation
    HloInPlacePairs pairs;  // those and the fusion's own output_to_operand_aliasing
    uint8_t *transitive;    // Answer by operand: every use of it inside, through others, is elementwise or a tuple
    uint8_t *elementwise;   // Answer by operand: nested fusions only
} FusionFacts;

static FusionFacts *facts_of(HloSharing *sharing, const HloInstruction *fusion) {
    return hlo_map_find(&sharing->fusions, fusion);
}

// ---- in-place pairs -------------------------------------------------------------------------------------

typedef struct PairList {
    HloArena *arena;
    HloInPlacePair *items;
    size_t count, capacity;
} PairList;

static void put_pair(PairList *list, uint32_t operand, uint32_t operand_node, uint32_t output_node) {
    if (list->count == list->capacity)
        list->items = hlo_arena_grow(list->arena, list->items, &list->capacity, 4, sizeof *list->items);
    list->items[list->count++] = (HloInPlacePair){operand, operand_node, output_node};
}

static void put_attribute_pairs(HloSharing *sharing, const HloInstruction *inst, const HloShape *output,
                                uint32_t output_start, PairList *list) {
    const HloAliases *aliases = hlo_data(inst, HLO_ATTR_OUTPUT_TO_OPERAND_ALIASING);
    for (size_t i = 0; aliases && i < aliases->count; i++) {
        const HloAlias *alias = &aliases->items[i];
        if (alias->parameter < 0 || (uint64_t)alias->parameter >= hlo_operand_count(inst)) continue;
        const HloShape *operand = hlo_operand(inst, (size_t)alias->parameter)->shape;
        uint32_t from = hlo_node_at(sharing->nodes, operand, alias->input);
        uint32_t to = hlo_node_at(sharing->nodes, output, alias->output);
        if (from != UINT32_MAX && to != UINT32_MAX) put_pair(list, (uint32_t)alias->parameter, from, output_start + to);
    }
}

// Operand i lies at result element i; the only operand at the result itself.
static void put_operand_pairs(HloSharing *sharing, const HloInstruction *inst, size_t operands, PairList *list) {
    if (operands == 1) {
        put_pair(list, 0, 0, 0);
        return;
    }
    for (size_t k = 0; k < operands && hlo_shape_is_tuple(inst->shape) && k < inst->shape->rank; k++) {
        put_pair(list, (uint32_t)k, 0, hlo_node_of_element(sharing->nodes, inst->shape, k));
    }
}

// The form with four operands writes into operand 1.
static void put_permute_pairs(HloSharing *sharing, const HloInstruction *inst, PairList *list) {
    if (hlo_operand_count(inst) != 4) return;
    const HloShape *output = inst->shape;
    uint32_t start = 0;
    if (hlo_is(inst, HLO_OP_COLLECTIVE_PERMUTE_START)) {
        if (!hlo_shape_is_tuple(output) || output->rank < 2) return;
        start = hlo_node_of_element(sharing->nodes, output, 1);
        output = output->elements[1];
    }
    const HloShape *target = hlo_operand(inst, 1)->shape;
    if (!hlo_shape_is_tuple(target) || !hlo_shape_is_tuple(output)) {
        put_pair(list, 1, 0, start);
        return;
    }
    for (size_t k = 0; k < target->rank && k < output->rank; k++) {
        put_pair(list, 1, hlo_node_of_element(sharing->nodes, target, k),
                 start + hlo_node_of_element(sharing->nodes, output, k));
    }
}

static void put_async_pairs(HloSharing *sharing, const HloInstruction *inst, PairList *list) {
    if (!hlo_shape_is_tuple(inst->shape) || inst->shape->rank < 2) return;
    uint32_t start = hlo_node_of_element(sharing->nodes, inst->shape, 1);
    put_attribute_pairs(sharing, inst, inst->shape->elements[1], start, list);
}

static HloInPlacePairs plain_pairs(HloSharing *sharing, const HloInstruction *inst) {
    PairList list = {.arena = sharing->arena};
    switch (inst->op) {
    case HLO_OP_DYNAMIC_UPDATE_SLICE:
    case HLO_OP_SET_DIMENSION_SIZE: put_pair(&list, 0, 0, 0); break;
    case HLO_OP_SCATTER: put_operand_pairs(sharing, inst, hlo_operand_count(inst) / 2, &list); break;
    case HLO_OP_CUSTOM_CALL: put_attribute_pairs(sharing, inst, inst->shape, 0, &list); break;
    case HLO_OP_ALL_REDUCE_START: put_operand_pairs(sharing, inst, hlo_operand_count(inst), &list); break;
    case HLO_OP_COLLECTIVE_PERMUTE:
    case HLO_OP_COLLECTIVE_PERMUTE_START: put_permute_pairs(sharing, inst, &list); break;
    case HLO_OP_RAGGED_ALL_TO_ALL: put_pair(&list, 1, 0, 0); break;
    case HLO_OP_ASYNC_START: put_async_pairs(sharing, inst, &list); break;
    default: break;
    }
    return (HloInPlacePairs){list.items, list.count};
}

// ---- in-place pairs of a fusion's body ------------------------------------------------------------------

// Steps back to where a value was made: through tuples, then get-tuple-elements, then bitcasts.
static HloPosition follow(HloSharing *sharing, HloPosition at) {
    while (at.node && hlo_is(at.inst, HLO_OP_TUPLE)) {
        size_t k = hlo_node_element(sharing->nodes, at.inst->shape, at.node, &at.node);
        if (k >= hlo_operand_count(at.inst)) return at;
        at.inst = hlo_operand(at.inst, k);
    }
    while (hlo_is(at.inst, HLO_OP_GET_TUPLE_ELEMENT)) {
        const HloInstruction *tuple = hlo_operand(at.inst, 0);
        size_t k = (size_t)hlo_int(at.inst, HLO_ATTR_INDEX);
        if (!hlo_shape_is_tuple(tuple->shape) || k >= tuple->shape->rank) return at;
        at.node += hlo_node_of_element(sharing->nodes, tuple->shape, k);
        at.inst = tuple;
    }
    while (at.node == 0 && hlo_is(at.inst, HLO_OP_BITCAST)) at.inst = hlo_operand(at.inst, 0);
    return at;
}

static HloInPlacePairs body_pairs(HloSharing *sharing, const HloInstruction *inst) {
    if (!hlo_is(inst, HLO_OP_FUSION)) return plain_pairs(sharing, inst);
    const FusionFacts *facts = facts_of(sharing, inst);
    return facts ? facts->body : (HloInPlacePairs){0};
}

// The operand side of the pair that writes `at`, followed to its source; false when there is none.
static bool step_to_operand(HloSharing *sharing, HloPosition *at) {
    HloInPlacePairs pairs = body_pairs(sharing, at->inst);
    for (size_t i = 0; i < pairs.count; i++) {
        if (pairs.items[i].output_node != at->node) continue;
        HloPosition operand = {hlo_operand(at->inst, pairs.items[i].operand), pairs.items[i].operand_node};
        *at = follow(sharing, operand);
        return true;
    }
    return false;
}

static void put_leaf_pair(HloSharing *sharing, const HloInstruction *fusion, uint32_t leaf, PairList *list) {
    const HloInstruction *root = hlo_called(fusion, 0)->root;
    if (leaf >= hlo_node_count(sharing->nodes, root->shape)) return;
    HloPosition at = follow(sharing, (HloPosition){root, leaf});
    if (!step_to_operand(sharing, &at)) return;
    if (hlo_is(at.inst, HLO_OP_FUSION)) step_to_operand(sharing, &at);
    if (!hlo_is(at.inst, HLO_OP_PARAMETER)) return;
    int64_t number = hlo_parameter_number(at.inst);
    if (number < 0 || (uint64_t)number >= hlo_operand_count(fusion)) return;
    put_pair(list, (uint32_t)number, at.node, leaf);
}

static void learn_fusion(HloSharing *sharing, const HloInstruction *fusion) {
    FusionFacts *facts = HLO_NEW(sharing->arena, FusionFacts);
    facts->transitive = HLO_NEW_ARRAY(sharing->arena, uint8_t, hlo_operand_count(fusion));
    facts->elementwise = HLO_NEW_ARRAY(sharing->arena, uint8_t, hlo_operand_count(fusion));
    PairList own = {.arena = sharing->arena}, body = {.arena = sharing->arena};
    put_attribute_pairs(sharing, fusion, fusion->shape, 0, &own);
    uint32_t count = hlo_node_count(sharing->nodes, fusion->shape);
    for (uint32_t node = 0; node < count && fusion->called.count; node++) {
        if (hlo_shape_is_tuple(hlo_node_shape(sharing->nodes, fusion->shape, node))) continue;
        put_leaf_pair(sharing, fusion, node, &body);
    }
    facts->body = (HloInPlacePairs){body.items, body.count};
    for (size_t i = 0; i < body.count; i++) {
        put_pair(&own, body.items[i].operand, body.items[i].operand_node, body.items[i].output_node);
    }
    facts->pairs = (HloInPlacePairs){own.items, own.count};
    *hlo_map_at(sharing->arena, &sharing->fusions, fusion) = facts;
}

HloInPlacePairs hlo_in_place_pairs(HloSharing *sharing, const HloInstruction *inst) {
    if (!hlo_is(inst, HLO_OP_FUSION)) return plain_pairs(sharing, inst);
    const FusionFacts *facts = facts_of(sharing, inst);
    return facts ? facts->pairs : (HloInPlacePairs){0};
}

// ---- elementwise ----------------------------------------------------------------------------------------

// Every operation between the fused parameter and the root is elementwise in what reaches it.
static bool fusion_is_elementwise_on(HloSharing *sharing, const HloInstruction *fusion, size_t operand) {
    const HloComputation *comp = hlo_called(fusion, 0);
    if (operand >= hlo_parameter_count(comp)) return false;
    HloBits seen = hlo_bits_new(sharing->arena, comp->id_limit);
    HloVec stack = {0};
    hlo_vec_push(sharing->arena, &stack, hlo_parameter(comp, operand));
    while (stack.count) {
        const HloInstruction *inst = hlo_vec_pop(&stack);
        for (size_t i = 0; i < hlo_user_count(inst); i++) {
            const HloInstruction *user = hlo_user(inst, i);
            if (!hlo_bits_claim(seen, user->id)) continue;
            size_t k = hlo_vec_find(&user->operands, inst);
            if (!hlo_is_elementwise_on(sharing, user, k)) return false;
            hlo_vec_push(sharing->arena, &stack, user);
        }
    }
    return true;
}

// A map over all dimensions in order.
static bool is_plain_map(const HloInstruction *map) {
    HloDims dims = hlo_dims(map, HLO_ATTR_DIMENSIONS);
    if (dims.count == 0) return true;
    if (dims.count != map->shape->rank) return false;
    for (size_t d = 0; d < dims.count; d++) {
        if (dims.data[d] != (int64_t)d) return false;
    }
    return true;
}

// Nested fusions have their answers from hlo_sharing_new, so this never goes deeper than one level.
bool hlo_is_elementwise_on(HloSharing *sharing, const HloInstruction *inst, size_t operand) {
    if (hlo_is(inst, HLO_OP_DYNAMIC_UPDATE_SLICE)) return operand == 0;
    if (hlo_is(inst, HLO_OP_BITCAST_CONVERT)) {
        return hlo_type_bits(inst->shape->type) == hlo_type_bits(hlo_operand(inst, operand)->shape->type);
    }
    if (hlo_is(inst, HLO_OP_FUSION)) {
        const FusionFacts *facts = facts_of(sharing, inst);
        return facts && facts->elementwise[operand] == YES;
    }
    if (hlo_is(inst, HLO_OP_MAP)) return is_plain_map(inst);
    return hlo_op_has(inst->op, HLO_OPF_ELEMENTWISE);
}

static bool uses_are_elementwise(HloSharing *sharing, const HloInstruction *inst, HloVec *stack, HloBits seen) {
    for (size_t i = 0; i < hlo_user_count(inst); i++) {
        const HloInstruction *user = hlo_user(inst, i);
        for (size_t k = 0; k < hlo_operand_count(user); k++) {
            if (hlo_operand(user, k) != inst || hlo_is(user, HLO_OP_TUPLE)) continue;
            if (!hlo_is_elementwise_on(sharing, user, k)) return false;
        }
        if (hlo_bits_claim(seen, user->id)) hlo_vec_push(sharing->arena, stack, user);
    }
    return true;
}

static bool transitive_uses_are_elementwise(HloSharing *sharing, const HloInstruction *parameter) {
    HloBits seen = hlo_bits_new(sharing->arena, parameter->comp->id_limit);
    HloVec stack = {0};
    hlo_vec_push(sharing->arena, &stack, parameter);
    while (stack.count) {
        if (!uses_are_elementwise(sharing, hlo_vec_pop(&stack), &stack, seen)) return false;
    }
    return true;
}

HloSharing hlo_sharing_new(HloArena *arena, HloNodes *nodes, const HloModule *m) {
    HloSharing sharing = {.nodes = nodes, .arena = arena};
    HloCompList order = hlo_module_post_order(m, arena);
    for (size_t i = 0; i < order.count; i++) {
        const HloComputation *comp = order.items[i];
        bool nested = hlo_is_fusion_computation(comp);
        HLO_EACH_INST(inst, comp) {
            if (!hlo_is(inst, HLO_OP_FUSION)) continue;
            learn_fusion(&sharing, inst);
            for (size_t k = 0; nested && k < hlo_operand_count(inst); k++) {
                bool yes = fusion_is_elementwise_on(&sharing, inst, k);
                facts_of(&sharing, inst)->elementwise[k] = yes ? YES : NO;
            }
        }
    }
    return sharing;
}

// ---- may share ------------------------------------------------------------------------------------------

static bool is_in_place_pair(HloSharing *sharing, const HloInstruction *operand, uint32_t operand_node,
                             const HloInstruction *user, uint32_t user_node) {
    HloInPlacePairs pairs = hlo_in_place_pairs(sharing, user);
    for (size_t i = 0; i < pairs.count; i++) {
        const HloInPlacePair *pair = &pairs.items[i];
        if (hlo_operand(user, pair->operand) == operand && pair->operand_node == operand_node &&
            pair->output_node == user_node) {
            return true;
        }
    }
    return false;
}

// An add of a dot or convolution may accumulate into its other operand when nothing else reads that.
static bool output_fusion_may_share(const HloDataflow *flow, const HloInstruction *parameter, uint32_t node,
                                    const HloInstruction *root) {
    if (!hlo_is(root, HLO_OP_ADD)) return false;
    size_t product = 0;
    while (product < 2) {
        HloOpcode op = hlo_operand(root, product)->op;
        if (op == HLO_OP_DOT || op == HLO_OP_CONVOLUTION) break;
        product++;
    }
    if (product == 2) return false;
    const HloValue *value = hlo_flow_value_at(flow, parameter, node);
    size_t other = hlo_operand(root, product) == hlo_operand(root, 0) ? 1 : 0;
    return value && value->use_count == 1 && value->uses[0].user == root && value->uses[0].operand == other;
}

static bool fusion_may_share(HloSharing *sharing, const HloDataflow *flow, const HloInstruction *operand,
                             uint32_t operand_node, const HloInstruction *fusion) {
    size_t slot = hlo_vec_find(&fusion->operands, operand);
    const HloComputation *comp = hlo_called(fusion, 0);
    if (slot >= hlo_parameter_count(comp)) return false;
    const HloInstruction *parameter = hlo_parameter(comp, slot);
    switch (hlo_int(fusion, HLO_ATTR_FUSION_KIND)) {
    case HLO_FUSION_KIND_LOOP:
    case HLO_FUSION_KIND_INPUT: {
        uint8_t *answer = &facts_of(sharing, fusion)->transitive[slot];
        if (*answer == UNKNOWN) *answer = transitive_uses_are_elementwise(sharing, parameter) ? YES : NO;
        return *answer == YES;
    }
    case HLO_FUSION_KIND_OUTPUT: return output_fusion_may_share(flow, parameter, operand_node, comp->root);
    default: return false;
    }
}

static bool occurs_once_as(const HloInstruction *user, const HloInstruction *operand, size_t k) {
    size_t count = 0;
    for (size_t i = 0; i < hlo_operand_count(user); i++) count += hlo_operand(user, i) == operand;
    return count == 1 && k < hlo_operand_count(user) && hlo_operand(user, k) == operand;
}

static bool sort_may_share(HloSharing *sharing, const HloInstruction *operand, const HloInstruction *sort,
                           uint32_t node) {
    if (hlo_user_count(operand) != 1) return false;
    if (hlo_operand_count(sort) == 1) return true;
    if (!node) return false;
    uint32_t rest;
    size_t k = hlo_node_element(sharing->nodes, sort->shape, node, &rest);
    return rest == 0 && occurs_once_as(sort, operand, k);
}

// The operand is read by the call alone, and in the callee by an elementwise root alone.
static bool call_may_share(HloSharing *sharing, const HloDataflow *flow, const HloInstruction *operand, uint32_t node,
                           const HloInstruction *call) {
    const HloValue *value = hlo_flow_value_at(flow, operand, node);
    if (!value || value->use_count != 2) return false;
    const HloInstruction *root = hlo_called(call, 0)->root;
    bool by_call = false, by_root = false;
    for (size_t i = 0; i < value->use_count; i++) {
        const HloUse *use = &value->uses[i];
        by_call |= use->user == call;
        by_root |= use->user == root && hlo_is_elementwise_on(sharing, root, use->operand);
    }
    return by_call && by_root;
}

bool hlo_may_share(HloSharing *sharing, const HloDataflow *flow, const HloInstruction *operand, uint32_t operand_node,
                   const HloInstruction *user, uint32_t user_node) {
    if (hlo_is(operand, HLO_OP_CONSTANT)) return false;
    const HloShape *from = hlo_node_shape(sharing->nodes, operand->shape, operand_node);
    if (from != hlo_node_shape(sharing->nodes, user->shape, user_node)) return false;
    if (is_in_place_pair(sharing, operand, operand_node, user, user_node)) return true;
    switch (user->op) {
    case HLO_OP_FUSION: return fusion_may_share(sharing, flow, operand, operand_node, user);
    case HLO_OP_WHILE:
    case HLO_OP_CONDITIONAL: return true;
    case HLO_OP_DYNAMIC_UPDATE_SLICE:
    case HLO_OP_SCATTER:
    case HLO_OP_SET_DIMENSION_SIZE: return occurs_once_as(user, operand, 0);
    case HLO_OP_TRIANGULAR_SOLVE: return occurs_once_as(user, operand, 1);
    case HLO_OP_SORT: return sort_may_share(sharing, operand, user, user_node);
    case HLO_OP_CALL: return call_may_share(sharing, flow, operand, operand_node, user);
    default: return hlo_is_elementwise_on(sharing, user, hlo_vec_find(&user->operands, operand));
    }
}
