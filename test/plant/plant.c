// Miscompiles on demand: the part of libhlo that only a build with HLO_PLANT=ON has.
//
//   HLO_PLANT=cse:negated hlo-opt --passes=cse,dce --check-numerics m.hlo
//   HLO_PLANT=cse:negated:4 …          the fourth rewrite of a run of cse, and no other
//   HLO_PLANT=cse/same-value:negated … the first one that is called same-value
//
// Each rewrite of the chosen pass is remembered with the instructions that it is about. When the pass ends, the first
// rewrite that the kind can do something with is spoiled, and a line on stderr says which one. Spoiling in the end and
// not at once leaves the pass's own tables alone. A rewrite that a limit keeps from happening is not spoiled either,
// which is what a wrong rewrite looks like to hlo-bisect.

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "hlo/module.h"
#include "lib/pass/plant.h"

// ---- what is remembered ---------------------------------------------------------------------------------

enum { MOST_PLACES = 12, MOST_TEXT = 96 };

typedef struct Rewrite {
    uint64_t number;  // in this run of the pass, of all rewrites, those of passes inside it too
    char rule[MOST_TEXT];
    HloInstruction *places[MOST_PLACES];  // the nearest first
    size_t place_count;
} Rewrite;

// A module is rewritten by one thread, and these tests have no other.
static Rewrite *rewrites;
static size_t rewrite_count, rewrite_capacity;
static uint64_t announced;

typedef struct Choice {
    char pass[MOST_TEXT], rule[MOST_TEXT], kind[MOST_TEXT];  // rule "": any
    uint64_t number;                                         // 0: the first one that can be spoiled
} Choice;

static bool read_choice(Choice *choice) {
    const char *text = getenv("HLO_PLANT");
    *choice = (Choice){.number = 0};
    if (!text || sscanf(text, "%95[^:]:%95[^:]:%" SCNu64, choice->pass, choice->kind, &choice->number) < 2)
        return false;
    char *slash = strchr(choice->pass, '/');
    if (slash) {
        strcpy(choice->rule, slash + 1);
        *slash = '\0';
    }
    return true;
}

static void add_place(Rewrite *rewrite, HloInstruction *inst) {
    if (!inst || rewrite->place_count == MOST_PLACES) return;
    for (size_t k = 0; k < rewrite->place_count; k++) {
        if (rewrite->places[k] == inst) return;
    }
    rewrite->places[rewrite->place_count++] = inst;
}

void hlo_plant_note(const HloRewriter *rw, const char *rule, HloInstruction *old_inst, HloInstruction *new_inst) {
    Choice choice;
    announced++;
    if (!read_choice(&choice) || strcmp(rw->cx->pass->name, choice.pass) != 0) return;
    if (*choice.rule && strcmp(choice.rule, rule) != 0) return;
    if (rewrite_count == rewrite_capacity) {
        rewrite_capacity = rewrite_capacity ? 2 * rewrite_capacity : 64;
        rewrites = realloc(rewrites, rewrite_capacity * sizeof *rewrites);
        if (!rewrites) abort();
    }
    Rewrite *rewrite = &rewrites[rewrite_count++];
    *rewrite = (Rewrite){.number = announced};
    snprintf(rewrite->rule, sizeof rewrite->rule, "%s", rule);
    add_place(rewrite, new_inst);
    add_place(rewrite, old_inst);
    for (size_t k = 0; old_inst && k < hlo_user_count(old_inst); k++) add_place(rewrite, hlo_user(old_inst, k));
    for (size_t k = 0; old_inst && k < hlo_operand_count(old_inst); k++) add_place(rewrite, hlo_operand(old_inst, k));
    if (old_inst && old_inst->comp) add_place(rewrite, old_inst->comp->root);
}

// ---- kinds ----------------------------------------------------------------------------------------------
//
// Each makes one thing wrong at a live instruction and returns true, or finds that it does not apply.

static bool is_plain_array(const HloInstruction *inst) {
    return hlo_shape_is_array(inst->shape) && !hlo_shape_is_dynamic(inst->shape) && !hlo_shape_is_empty(inst->shape);
}

// Gives every use of `place` (but those in `chain`, which compute the wrong value) the wrong value.
static bool misdirect(HloInstruction *place, HloInstruction *wrong, HloInstruction *const *users, size_t count) {
    bool was_root = hlo_is_root(place);
    if (!wrong) return false;
    for (size_t k = 0; k < count; k++) hlo_replace_uses_in(users[k], place, wrong);
    if (was_root) hlo_computation_set_root(place->comp, wrong);
    return true;
}

// The users as they are before the wrong value is built.
static HloInstruction **keep_users(HloRewriter *rw, const HloInstruction *place) {
    return hlo_arena_copy(rw->scratch, place->users.items, place->users.count * sizeof(HloInstruction *));
}

static bool negated(HloRewriter *rw, HloInstruction *place) {
    HloType type = place->shape->type;
    bool has_sign = hlo_type_class(type) == HLO_CLASS_SIGNED || hlo_type_is_complex(type) ||
                    (hlo_type_is_float(type) && hlo_type_info(type)->specials != HLO_SPECIALS_SCALE);
    if (!is_plain_array(place) || (hlo_type_is_float(type) && !has_sign)) return false;
    size_t count = hlo_user_count(place);
    HloInstruction **users = keep_users(rw, place);
    return misdirect(place, hlo_build_unary(rw, has_sign ? HLO_OP_NEGATE : HLO_OP_NOT, place), users, count);
}

static bool off_by_one(HloRewriter *rw, HloInstruction *place) {
    HloType type = place->shape->type;
    if (!is_plain_array(place) || type == HLO_PRED || hlo_type_bits(type) < 4) return false;
    size_t count = hlo_user_count(place);
    HloInstruction **users = keep_users(rw, place);
    HloInstruction *one = hlo_build_like(rw, place, 1);
    return misdirect(place, hlo_build_binary(rw, HLO_OP_ADD, place, one), users, count);
}

static bool zeroed(HloRewriter *rw, HloInstruction *place) {
    if (!is_plain_array(place)) return false;
    size_t count = hlo_user_count(place);
    HloInstruction **users = keep_users(rw, place);
    return misdirect(place, hlo_build_like(rw, place, 0), users, count);
}

// An instruction that computes something is left out: its operand takes its place.
static bool left_out(HloRewriter *rw, HloInstruction *place) {
    bool only_moves = place->op == HLO_OP_COPY || place->op == HLO_OP_BITCAST || place->op == HLO_OP_RESHAPE;
    if (!is_plain_array(place) || only_moves) return false;
    for (size_t k = 0; k < hlo_operand_count(place); k++) {
        HloInstruction *operand = hlo_operand(place, k);
        if (operand->shape != place->shape) continue;
        return misdirect(place, operand, keep_users(rw, place), hlo_user_count(place));
    }
    return false;
}

// More than half of the bits are lost, which is more than the checks forgive: a conversion too many.
static bool rounded(HloRewriter *rw, HloInstruction *place) {
    HloType type = place->shape->type;
    int bits = hlo_type_info(type)->mantissa_bits;
    if (!is_plain_array(place) || !hlo_type_is_float(type) || bits < 7 || place->op == HLO_OP_CONSTANT) return false;
    size_t count = hlo_user_count(place);
    HloInstruction **users = keep_users(rw, place);
    return misdirect(place, hlo_build_convert(rw, hlo_build_convert(rw, place, HLO_F4E2M1FN), type), users, count);
}

// Whether operands in another order mean something else.
static bool minds_order(const HloInstruction *inst) {
    const int64_t direction = hlo_int(inst, HLO_ATTR_DIRECTION);
    switch ((int)inst->op) {
    case HLO_OP_COMPARE: return direction != HLO_COMPARE_DIRECTION_EQ && direction != HLO_COMPARE_DIRECTION_NE;
    case HLO_OP_SUBTRACT:
    case HLO_OP_DIVIDE:
    case HLO_OP_REMAINDER:
    case HLO_OP_POWER:
    case HLO_OP_ATAN2:
    case HLO_OP_SELECT:
    case HLO_OP_CONCATENATE:
    case HLO_OP_CALL:
    case HLO_OP_FUSION:
    case HLO_OP_TUPLE: return true;
    default: return false;
    }
}

static bool swapped(HloRewriter *rw, HloInstruction *place) {
    (void)rw;
    for (size_t k = 1; minds_order(place) && k < hlo_operand_count(place); k++) {
        HloInstruction *a = hlo_operand(place, k - 1), *b = hlo_operand(place, k);
        if (a == b || a->shape != b->shape) continue;
        hlo_set_operand(place, k - 1, b);
        hlo_set_operand(place, k, a);
        return true;
    }
    return false;
}

static bool wrong_element(HloRewriter *rw, HloInstruction *place) {
    if (place->op != HLO_OP_GET_TUPLE_ELEMENT) return place->op == HLO_OP_TUPLE && swapped(rw, place);
    const HloShape *tuple = hlo_operand(place, 0)->shape;
    for (int64_t k = 0; k < (int64_t)tuple->rank; k++) {
        if (k == hlo_int(place, HLO_ATTR_INDEX) || hlo_shape_at(tuple, &k, 1) != place->shape) continue;
        hlo_set_int(rw->m, place, HLO_ATTR_INDEX, k);
        return true;
    }
    return false;
}

// Where a value comes from that is only handed on.
static const HloInstruction *find_source(const HloInstruction *inst) {
    while (inst->op == HLO_OP_COPY || inst->op == HLO_OP_GET_TUPLE_ELEMENT) {
        const HloInstruction *operand = hlo_operand(inst, 0);
        bool is_element = inst->op == HLO_OP_GET_TUPLE_ELEMENT;
        if (is_element && operand->op != HLO_OP_TUPLE) break;
        inst = is_element ? hlo_operand(operand, (size_t)hlo_int(inst, HLO_ATTR_INDEX)) : operand;
    }
    return inst;
}

// One user reads another value of the same shape, the last one before it that is not the same by construction.
static bool other_value(HloRewriter *rw, HloInstruction *place) {
    if (!is_plain_array(place)) return false;
    HloInstList order = hlo_post_order(place->comp, rw->scratch);
    HloInstruction *other = NULL;
    for (size_t at = 0; at < order.count && order.items[at] != place; at++) {
        HloInstruction *inst = order.items[at];
        if (inst->shape == place->shape && find_source(inst) != find_source(place)) other = inst;
    }
    if (!other) return false;
    if (hlo_user_count(place) == 0) return misdirect(place, other, NULL, 0);
    hlo_replace_uses_in(hlo_user(place, 0), place, other);
    return true;
}

static bool same_signature(const HloComputation *a, const HloComputation *b) {
    if (hlo_parameter_count(a) != hlo_parameter_count(b) || a->root->shape != b->root->shape) return false;
    for (size_t k = 0; k < hlo_parameter_count(a); k++) {
        if (hlo_parameter(a, k)->shape != hlo_parameter(b, k)->shape) return false;
    }
    return true;
}

// A caller calls something else that takes and gives the same shapes.
static bool other_callee(HloRewriter *rw, HloInstruction *place) {
    if (place->op != HLO_OP_CALL && place->op != HLO_OP_WHILE && place->op != HLO_OP_CONDITIONAL) return false;
    for (size_t k = 0; k < place->called.count; k++) {
        HloComputation *callee = hlo_called(place, k);
        HLO_EACH_COMP(comp, rw->m) {
            bool fits = comp != callee && comp != place->comp && comp != rw->m->entry &&
                        !hlo_is_fusion_computation(comp) && same_signature(comp, callee);
            if (!fits || hlo_computation_equal(comp, callee, false)) continue;
            hlo_set_called(place, k, comp);
            return true;
        }
    }
    return false;
}

// The copy of a called computation is not a faithful one.
static bool bad_callee(HloRewriter *rw, HloInstruction *place) {
    for (size_t k = 0; k < place->called.count; k++) {
        HloComputation *callee = hlo_called(place, k);
        if (callee->callers.count != 1) continue;
        hlo_rewriter_at(rw, callee->root);
        if (off_by_one(rw, callee->root) || swapped(rw, callee->root)) return true;
    }
    return false;
}

typedef struct Kind {
    const char *name;
    bool (*spoil)(HloRewriter *rw, HloInstruction *place);
} Kind;

static const Kind kinds[] = {
    {"negated", negated},              // the replacement with its sign changed
    {"off-by-one", off_by_one},        // the replacement plus one
    {"zeroed", zeroed},                // a constant zero in place of it
    {"left-out", left_out},            // an instruction with effect on the result removed
    {"rounded", rounded},              // a conversion to a narrower type too many
    {"swapped", swapped},              // operands in the wrong order
    {"wrong-element", wrong_element},  // another element of the tuple
    {"other-value", other_value},      // one use moved to another value of the same shape
    {"other-callee", other_callee},    // another computation called
    {"bad-callee", bad_callee},        // the called computation changed
};

// ---- spoiling -------------------------------------------------------------------------------------------

static bool is_live(const HloModule *m, const HloInstruction *inst) {
    if (!inst->comp || hlo_is_dead(inst)) return false;
    HLO_EACH_COMP(comp, m) {
        if (comp == inst->comp) return true;
    }
    return false;
}

static HloInstruction *spoil_at(HloRewriter *rw, const Kind *kind, HloInstruction *place) {
    if (!is_live(rw->m, place)) return NULL;
    hlo_rewriter_at(rw, place);
    return kind->spoil(rw, place) ? place : NULL;
}

// At one of the places of a rewrite, or, if none will do, at one of their users.
static HloInstruction *spoil_rewrite(HloRewriter *rw, const Kind *kind, const Rewrite *rewrite) {
    HloInstruction *found = NULL;
    for (size_t k = 0; k < rewrite->place_count && !found; k++) found = spoil_at(rw, kind, rewrite->places[k]);
    for (size_t k = 0; k < rewrite->place_count && !found; k++) {
        const HloInstruction *place = rewrite->places[k];
        for (size_t u = 0; u < hlo_user_count(place) && !found; u++) found = spoil_at(rw, kind, hlo_user(place, u));
    }
    return found;
}

static const Kind *find_kind(const char *name) {
    for (size_t k = 0; k < HLO_COUNT(kinds); k++) {
        if (strcmp(kinds[k].name, name) == 0) return &kinds[k];
    }
    fprintf(stderr, "no kind of miscompile is called '%s'; there are:", name);
    for (size_t k = 0; k < HLO_COUNT(kinds); k++) fprintf(stderr, " %s", kinds[k].name);
    fputc('\n', stderr);
    exit(2);
}

void hlo_plant_spoil(HloPassContext *cx, HloModule *m) {
    Choice choice;
    bool chosen = read_choice(&choice);
    const Kind *kind = chosen ? find_kind(choice.kind) : NULL;
    HloRewriter rw = hlo_rewriter(cx, m);
    chosen &= strcmp(cx->pass->name, choice.pass) == 0;
    for (size_t k = 0; chosen && k < rewrite_count; k++) {
        const Rewrite *rewrite = &rewrites[k];
        if (choice.number && rewrite->number != choice.number) continue;
        HloInstruction *place = spoil_rewrite(&rw, kind, rewrite);
        if (!place) continue;
        fprintf(stderr, "planted %s:%s:%" PRIu64 " %s %%%s\n", choice.pass, kind->name, rewrite->number, rewrite->rule,
                place->name);
        break;
    }
    hlo_status_free(rw.failure);
    rewrite_count = 0;
    announced = 0;
}
