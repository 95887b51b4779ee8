// The search for a small module: delta debugging (Zeller, Hildebrandt 2002) over a table of cuts.
//
// For each cut the places where it is possible are listed, and it is tried at all of them at once, then at halves,
// quarters, … and single places, each time on a copy. A copy that is smaller, verifies and still answers yes becomes
// the module. Rounds over all cuts repeat until one changes nothing.

#include "hlo/reduce.h"

#include "hlo/infer.h"
#include "lib/reduce/reduce.h"

enum { TABLES = 4 };

typedef CutTable (*TableFn)(void);
static const TableFn tables[TABLES] = {hlo_cuts_of_values, hlo_cuts_of_tuples, hlo_cuts_of_calls,
                                       hlo_cuts_of_attributes};

typedef struct Search {
    HloModule *m;  // the smallest so far; owned
    uint64_t size;
    HloQuestion question;
    const HloReduceOptions *options;
    HloArena arena;  // for lists of places; reset for each list
    uint64_t asked;
    uint32_t kept;  // cuts that were kept
} Search;

typedef struct Place {
    uint32_t at;  // number of the instruction in the module, in list order
    uint32_t way;
} Place;

typedef struct Places {
    Place *items;
    size_t count, capacity;
} Places;

void hlo_put_cuts(HloBuffer *out) {
    for (size_t t = 0; t < TABLES; t++) {
        CutTable table = tables[t]();
        for (size_t k = 0; k < table.count; k++) hlo_putf(out, "  %-16s %s\n", table.rows[k].name, table.rows[k].help);
    }
}

// ---- sizes ----------------------------------------------------------------------------------------------

// Every cut that is kept makes this smaller, so that the search ends.
static uint64_t size_of(const HloModule *m) {
    enum { COMPUTATION = 8, OPERATION = 5, LEAF = 2, ODD_CONSTANT = 3 };
    uint64_t size = m->input_output_alias.count + m->buffer_donor.count + m->frames.frame_count + m->is_scheduled +
                    m->frontend_attributes.count + m->debug_row_count + m->recovery_count + m->spmd_to_output.count +
                    m->spmd_to_parameters.count;
    HLO_EACH_COMP(comp, m) {
        size += COMPUTATION;
        HLO_EACH_INST(inst, comp) {
            const HloLiteral *value = hlo_constant(inst);
            bool is_plain = value ? hlo_literal_is_splat(value) : inst->op == HLO_OP_PARAMETER;
            size += is_plain ? LEAF : value ? ODD_CONSTANT : OPERATION + hlo_operand_count(inst);
            size += hlo_reduce_count_annotations(inst);
        }
    }
    return size;
}

// ---- one candidate --------------------------------------------------------------------------------------

// What was dead before the cuts stays: it may be what the question is about, and goes by a cut of its own.
static bool may_go(const HloInstruction *inst, const HloMap *unused) {
    return hlo_is_dead(inst) && inst->op != HLO_OP_PARAMETER && !hlo_has_side_effect(inst) &&
           !hlo_map_has(unused, inst);
}

static void remove_dead(HloComputation *comp, const HloMap *unused, HloArena *scratch) {
    HloVec dead = {0};
    HLO_EACH_INST(inst, comp) {
        if (may_go(inst, unused)) hlo_vec_push(scratch, &dead, inst);
    }
    for (size_t k = 0; k < dead.count; k++) {
        HloInstruction *inst = dead.items[k];
        HloRemoval removal = {.relay_control = true, .arena = scratch};
        if (inst->comp) hlo_computation_remove_dead(comp, inst, &removal);
    }
}

// Callers first, so that one walk finds all that is not called any more.
static void remove_leftovers(HloModule *m, const HloMap *unused, HloArena *scratch) {
    HloCompList order = hlo_module_post_order(m, scratch);
    for (size_t k = order.count; k-- > 0;) {
        HloComputation *comp = order.items[k];
        if (comp == m->entry || comp->callers.count)
            remove_dead(comp, unused, scratch);
        else
            hlo_module_remove(m, comp);
    }
}

static bool has_old_signature(const HloModule *m) {
    const HloComputation *entry = m->entry;
    if (!m->entry_result || hlo_parameter_count(entry) != m->entry_param_count) return false;
    for (size_t k = 0; k < m->entry_param_count; k++) {
        if (!hlo_shape_compatible(hlo_parameter(entry, k)->shape, m->entry_params[k])) return false;
    }
    return hlo_shape_compatible(entry->root->shape, m->entry_result);
}

// Brings everything in line that cuts left to the end.
static void settle(HloRewriter *rw, const HloMap *unused) {
    HloModule *m = rw->m;
    remove_leftovers(m, unused, rw->scratch);
    HLO_EACH_COMP(comp, m) {
        HLO_EACH_INST(inst, comp) {
            if (inst->op == HLO_OP_TUPLE && inst->shape->rank != hlo_operand_count(inst))
                hlo_reduce_fix_tuple(rw, inst);
        }
    }
    if (!has_old_signature(m)) {
        hlo_module_reset_entry_layout(m);
        m->input_output_alias = m->buffer_donor = (HloAliases){0};
        m->spmd_to_output = m->spmd_to_parameters = (HloDims){0};
    }
    hlo_module_update_schedule(m, rw->scratch);
}

static HloInstruction **list_instructions(const HloModule *m, HloArena *arena) {
    HloInstruction **list = HLO_NEW_ARRAY(arena, HloInstruction *, hlo_module_instruction_count(m)), **next = list;
    HLO_EACH_COMP(comp, m) {
        HLO_EACH_INST(inst, comp) *next++ = inst;
    }
    return list;
}

static HloMap find_unused(const HloModule *m, HloArena *arena) {
    HloMap unused = {0};
    HLO_EACH_COMP(comp, m) {
        HLO_EACH_INST(inst, comp) {
            if (hlo_is_dead(inst)) *hlo_map_at(arena, &unused, inst) = inst;
        }
    }
    return unused;
}

typedef struct Attempt {
    HloModule *m;  // the copy
    const Cut *cut;
    const Place *places;
    size_t count;
    HloArena scratch;
} Attempt;

static HloStatus make_cuts(void *data) {
    static const HloPass reducer = {.name = "reduce"};
    Attempt *a = data;
    HloRewriteLog log = {0};
    HloPassContext cx = {.pass = &reducer, .scratch = &a->scratch, .log = &log};
    HloRewriter rw = hlo_rewriter(&cx, a->m);
    HloInstruction **list = list_instructions(a->m, &a->scratch);
    HloMap unused = find_unused(a->m, &a->scratch);
    for (size_t k = a->count; k-- > 0;) {
        HloInstruction *inst = list[a->places[k].at];
        if (!inst->comp || a->cut->ways(inst) <= a->places[k].way) continue;
        rw.comp = inst->comp;
        rw.subject = inst;
        a->cut->make(&rw, inst, a->places[k].way);
    }
    settle(&rw, &unused);
    bool changed = false;
    return hlo_rewriter_finish(&rw, &changed);
}

// Failures that say something of the candidate, not of the search.
static bool is_a_no(HloCode code) {
    switch (code) {
    case HLO_INVALID_ARGUMENT:
    case HLO_FAILED_PRECONDITION:
    case HLO_UNIMPLEMENTED:
    case HLO_OUT_OF_RANGE:
    case HLO_INTERNAL: return true;
    default: return false;
    }
}

static HloStatus ask(Search *s, const HloModule *m, bool *out) {
    *out = false;
    s->asked++;
    HloStatus status = s->question.holds(s->question.data, m, out);
    if (hlo_is_ok(status) || !is_a_no(hlo_status_code(status))) return status;
    hlo_status_free(status);
    *out = false;
    return hlo_ok();
}

static bool is_valid(const HloModule *m) {
    HloStatus status = hlo_verify_module(m, &(HloVerifyOptions){.allow_mixed_precision = true});
    bool valid = hlo_is_ok(status);
    hlo_status_free(status);
    return valid;
}

static bool may_ask(const Search *s) {
    return !s->options->most_questions || s->asked < s->options->most_questions;
}

static void tell(const Search *s, const char *cut, size_t places) {
    if (!s->options->progress) return;
    HloReduceProgress progress = {cut, places, hlo_module_instruction_count(s->m), hlo_parameter_count(s->m->entry),
                                  s->asked};
    s->options->progress(s->options->data, &progress);
}

static void keep(Search *s, HloModule *m, uint64_t size, const Cut *cut, size_t places) {
    hlo_module_free(s->m);
    s->m = m;
    s->size = size;
    s->kept++;
    tell(s, cut->name, places);
}

// Tries a group of places; *out tells whether the module is now the smaller one.
static HloStatus try_places(Search *s, const Cut *cut, const Place *places, size_t count, bool *out) {
    Attempt attempt = {.m = hlo_module_clone(s->m), .cut = cut, .places = places, .count = count};
    *out = false;
    if (!attempt.m) return hlo_out_of_memory();
    HloStatus status = hlo_guarded((HloArena *const[]){&attempt.m->arena, &attempt.scratch, NULL}, make_cuts, &attempt);
    uint64_t size = hlo_is_ok(status) ? size_of(attempt.m) : s->size;
    if (hlo_is_ok(status) && size < s->size && is_valid(attempt.m)) status = ask(s, attempt.m, out);
    hlo_arena_free(&attempt.scratch);
    if (*out)
        keep(s, attempt.m, size, cut, count);
    else
        hlo_module_free(attempt.m);
    return status;
}

// ---- the search -----------------------------------------------------------------------------------------

static void add_place(HloArena *arena, Places *places, size_t at, size_t way) {
    if (places->count == places->capacity) {
        places->items = hlo_arena_grow(arena, places->items, &places->capacity, 64, sizeof *places->items);
    }
    places->items[places->count++] = (Place){(uint32_t)at, (uint32_t)way};
}

static Places list_places(Search *s, const Cut *cut) {
    Places places = {0};
    size_t at = 0;
    hlo_arena_reset(&s->arena);
    HLO_EACH_COMP(comp, s->m) {
        for (const HloInstruction *inst = comp->first; inst; inst = inst->next, at++) {
            size_t ways = cut->ways(inst);
            for (size_t way = 0; way < ways; way++) add_place(&s->arena, &places, at, way);
        }
    }
    return places;
}

// One walk over the places in groups of `size`. After a group is kept, the list is made anew, and the walk goes on
// where it stood.
static HloStatus try_groups(Search *s, const Cut *cut, size_t size) {
    Places places = list_places(s, cut);
    for (size_t first = 0; first < places.count && may_ask(s);) {
        size_t count = places.count - first < size ? places.count - first : size, before = places.count;
        bool kept;
        HLO_TRY(try_places(s, cut, places.items + first, count, &kept));
        if (kept) places = list_places(s, cut);
        if (!kept || places.count >= before) first += count;
    }
    return hlo_ok();
}

static HloStatus try_cut(Search *s, const Cut *cut) {
    size_t size = cut->alone ? 1 : list_places(s, cut).count;
    for (; size > 1 && may_ask(s); size = size / 2) HLO_TRY(try_groups(s, cut, size));
    return may_ask(s) ? try_groups(s, cut, 1) : hlo_ok();
}

static HloStatus try_all_cuts(Search *s) {
    for (size_t t = 0; t < TABLES; t++) {
        CutTable table = tables[t]();
        for (size_t k = 0; k < table.count; k++) HLO_TRY(try_cut(s, &table.rows[k]));
    }
    return hlo_ok();
}

static HloStatus search(void *data) {
    Search *s = data;
    bool yes;
    HLO_TRY(s->question.holds(s->question.data, s->m, &yes));
    s->asked = 1;
    if (!yes) return hlo_error(HLO_FAILED_PRECONDITION, "the module does not show it: there is nothing to reduce");
    s->size = size_of(s->m);
    uint32_t before;
    do {
        before = s->kept;
        tell(s, NULL, 0);
        HLO_TRY(try_all_cuts(s));
    } while (s->kept != before && may_ask(s));
    return hlo_ok();
}

HloStatus hlo_reduce(const HloModule *m, HloQuestion question, const HloReduceOptions *options, HloModule **out) {
    Search s = {.m = hlo_module_clone(m), .question = question, .options = options};
    if (!s.m) return hlo_out_of_memory();
    HloStatus status = hlo_guarded((HloArena *const[]){&s.arena, NULL}, search, &s);
    hlo_arena_free(&s.arena);
    if (hlo_is_ok(status))
        *out = s.m;
    else
        hlo_module_free(s.m);
    return status;
}
