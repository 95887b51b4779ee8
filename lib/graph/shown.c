// What of a computation is drawn as a box, and what its users name instead (graph chapter, §2, §3).

#include "lib/graph/graph.h"

enum { SMALL_ELEMENTS = 4096, MERGED_TUPLE_USERS = 3 };

HloGraphOptions hlo_graph_default(void) {
    return (HloGraphOptions){.title = "", .fusions = true, .while_bodies = true};
}

void graph_start(Graph *g, const HloComputation *comp, const HloGraphOptions *options) {
    const HloModule *m = comp->m;
    g->options = options;
    g->shown = comp;
    g->base = HLO_NEW_ARRAY(&g->scratch, size_t, m->computation_id_limit);
    g->number_limit = 1;  // no number is 0
    HLO_EACH_COMP(each, m) {
        g->base[each->id] = g->number_limit;
        g->number_limit += each->id_limit;
    }
    g->drawn = hlo_bits_new(&g->scratch, m->computation_id_limit);
    g->print = hlo_print_default();
    g->print.metadata = g->print.backend_config = g->print.original_value = false;
    g->print.callees = HLO_CALLEES_OFF;
}

// ---- trivial computations -------------------------------------------------------------------------------

static const char *const compare_words[] = {"equal-to",     "not-equal-to",  "greater-or-equal",
                                            "greater-than", "less-or-equal", "less-than"};

static const char *operation_word(const HloInstruction *inst) {
    switch (inst->op) {
    case HLO_OP_ADD: return "add";
    case HLO_OP_MULTIPLY: return "multiply";
    case HLO_OP_MINIMUM: return "min";
    case HLO_OP_MAXIMUM: return "max";
    case HLO_OP_XOR: return "xor";
    case HLO_OP_AND: return "and";
    case HLO_OP_OR: return "or";
    case HLO_OP_COMPARE: {
        int64_t direction = hlo_int(inst, HLO_ATTR_DIRECTION);
        return direction >= 0 && direction < (int64_t)HLO_COUNT(compare_words) ? compare_words[direction] : NULL;
    }
    default: return NULL;
    }
}

static bool is_single(const HloShape *shape) {
    return hlo_shape_is_array(shape) && hlo_shape_elem_count(shape) == 1;
}

const char *graph_trivial_word(const HloComputation *comp) {
    const HloInstruction *root = comp->root;
    if (comp->count != 3 || hlo_parameter_count(comp) != 2 || hlo_operand_count(root) != 2) return NULL;
    const HloInstruction *a = hlo_operand(root, 0), *b = hlo_operand(root, 1);
    if (a->op != HLO_OP_PARAMETER || b->op != HLO_OP_PARAMETER || a == b) return NULL;
    if (!is_single(root->shape) || !is_single(a->shape) || !is_single(b->shape)) return NULL;
    return operation_word(root);
}

// ---- what is open ---------------------------------------------------------------------------------------

bool graph_shows_callee(const Graph *g, const HloInstruction *caller, const HloComputation *callee) {
    if (caller->op == HLO_OP_FUSION) return g->options->fusions;
    if (graph_trivial_word(callee)) return false;
    return caller->op != HLO_OP_WHILE || g->options->while_bodies;
}

bool graph_is_opened(const Graph *g, const HloInstruction *inst) {
    return inst->op == HLO_OP_FUSION && inst->called.count && g->options->fusions;
}

HloInstruction *graph_outer_operand(const HloInstruction *inst) {
    if (inst->op != HLO_OP_PARAMETER) return NULL;
    const HloInstruction *fusion = hlo_fusion_caller(inst->comp);
    size_t number = (size_t)hlo_parameter_number(inst);
    return fusion && number < hlo_operand_count(fusion) ? hlo_operand(fusion, number) : NULL;
}

// ---- answers that are asked for often --------------------------------------------------------------------

static void *remember(bool answer) {
    return (void *)(uintptr_t)(answer ? 2 : 1);
}

static bool recall(const void *stored) {
    return (uintptr_t)stored == 2;
}

// ---- what is merged into its users ----------------------------------------------------------------------

const HloInstruction *graph_parameter_constant(const HloInstruction *inst) {
    const HloInstruction *outer = graph_outer_operand(inst);
    return outer && outer->op == HLO_OP_CONSTANT ? outer : NULL;
}

bool graph_is_fused_splat(const HloInstruction *inst) {
    if (inst->op != HLO_OP_BROADCAST || !hlo_is_fusion_computation(inst->comp)) return false;
    const HloInstruction *operand = hlo_operand(inst, 0);
    return operand->op == HLO_OP_CONSTANT && is_single(operand->shape);
}

static bool are_users_elements(const HloInstruction *inst) {
    for (size_t k = 0; k < hlo_user_count(inst); k++) {
        if (hlo_user(inst, k)->op != HLO_OP_GET_TUPLE_ELEMENT) return false;
    }
    return true;
}

// A tuple of which only elements are used, and more than three: arrows to all of them would hide the rest.
bool graph_is_merged_tuple_parameter(Graph *g, const HloInstruction *inst) {
    if (inst->op != HLO_OP_PARAMETER || !hlo_shape_is_tuple(inst->shape)) return false;
    if (hlo_user_count(inst) <= MERGED_TUPLE_USERS || hlo_is_fusion_computation(inst->comp)) return false;
    void **known = hlo_map_at(&g->scratch, &g->merged, inst);
    if (!*known) *known = remember(are_users_elements(inst));
    return recall(*known);
}

bool graph_has_node(Graph *g, const HloInstruction *inst) {
    if (graph_is_opened(g, inst)) return false;
    if (graph_parameter_constant(inst) || graph_is_merged_tuple_parameter(g, inst)) return false;
    if (hlo_is_root(inst)) return true;
    return inst->op != HLO_OP_CONSTANT && inst->op != HLO_OP_GET_TUPLE_ELEMENT && !graph_is_fused_splat(inst);
}

const HloInstruction *graph_source(Graph *g, const HloInstruction *value) {
    if (value->op == HLO_OP_GET_TUPLE_ELEMENT) value = hlo_operand(value, 0);
    while (graph_is_opened(g, value)) value = hlo_called(value, 0)->root;
    return graph_has_node(g, value) ? value : NULL;
}

// ---- sizes ----------------------------------------------------------------------------------------------

// The leaves one after the other: shapes can be deep.
static bool is_small_tuple(Graph *g, const HloShape *shape) {
    HloVec rest = {0};
    int64_t total = 0;
    hlo_vec_push(&g->scratch, &rest, shape);
    while (rest.count) {
        const HloShape *next = hlo_vec_pop(&rest);
        if (hlo_shape_is_tuple(next)) {
            for (size_t k = 0; k < next->rank; k++) hlo_vec_push(&g->scratch, &rest, next->elements[k]);
            continue;
        }
        if (!hlo_shape_is_array(next)) return true;
        int64_t count = hlo_shape_elem_count(next);
        total = count > SMALL_ELEMENTS ? SMALL_ELEMENTS : total + count;
        if (total >= SMALL_ELEMENTS) return false;
    }
    return true;
}

bool graph_is_small(Graph *g, const HloShape *shape) {
    if (hlo_shape_is_array(shape)) return hlo_shape_elem_count(shape) < SMALL_ELEMENTS;
    if (!hlo_shape_is_tuple(shape)) return true;
    void **known = hlo_map_at(&g->scratch, &g->small, shape);
    if (!*known) *known = remember(is_small_tuple(g, shape));
    return recall(*known);
}
