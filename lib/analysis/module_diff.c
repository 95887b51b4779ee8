// The difference of two modules: prints every computation once, hashes its lines without their names, and finds the
// computations that belong together: the entries, the same name or the same content, and last those that matched
// instructions call.

#include "lib/analysis/module_diff.h"

// ---- lines and their names ------------------------------------------------------------------------------

static uint64_t hash_without_names(HloStringView line) {
    HloLineNames scan = {.at = line.data, .end = line.data + line.size};
    uint64_t hash = line.size == 0;
    const char *from = line.data;
    while (hlo_line_names_next(&scan)) {
        hash = hlo_hash_bytes(from, (size_t)(scan.name.data - from), hash);
        from = scan.at;
    }
    return hlo_hash_bytes(from, (size_t)(scan.end - from), hash);
}

// ---- one computation ------------------------------------------------------------------------------------

// Cuts the text of a computation into its lines: the heading, the instructions, the closing line.
static void cut_lines(HloArena *arena, DiffComp *c, HloStringView text) {
    HloStringView *lines = HLO_NEW_ARRAY(arena, HloStringView, c->order.count + 1);
    const char *at = text.data, *end = text.data + text.size;
    for (size_t i = 0; at && at < end; i++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) stop = end;
        while (at < stop && *at == ' ') at++;
        HloStringView line = {at, (size_t)(stop - at)};
        if (i && i <= c->order.count) lines[i - 1] = line;
        if (i > c->order.count) c->end = line;
        at = stop + 1;
    }
    c->lines = lines;
}

static uint64_t own_hash(const DiffSide *side, const HloInstruction *inst, HloStringView line) {
    uint64_t hash = hash_without_names(line);
    for (size_t k = 0; k < inst->called.count; k++)
        hash = hlo_hash_combine(hash, side->comps[hlo_called(inst, k)->id].content);
    return hash;
}

// Callees have their hashes already; operands that come later, in a broken schedule, count as nothing.
static void hash_lines(HloArena *arena, const DiffSide *side, DiffComp *c) {
    uint64_t *own = HLO_NEW_ARRAY(arena, uint64_t, c->order.count + 1);
    uint64_t *structure = HLO_NEW_ARRAY(arena, uint64_t, c->order.count + 1);
    for (size_t i = 0; i < c->order.count; i++) {
        const HloInstruction *inst = c->order.items[i];
        own[i] = structure[i] = own_hash(side, inst, c->lines[i]);
        for (size_t k = 0; k < hlo_operand_count(inst); k++) {
            uint32_t at = c->positions[hlo_operand(inst, k)->id];
            structure[i] = hlo_hash_combine(structure[i], at < i ? structure[at] : 0);
        }
        c->content = hlo_hash_combine(c->content, structure[i]);
    }
    c->own = own;
    c->structure = structure;
}

static HloStatus read_computation(HloArena *arena, const DiffSide *side, const HloComputation *comp,
                                  const HloPrintOptions *options) {
    DiffComp *c = &side->comps[comp->id];
    c->comp = comp;
    c->order = comp->sequence && comp->sequence_count ? (HloInstList){comp->sequence, comp->sequence_count}
                                                      : hlo_post_order(comp, arena);
    c->positions = HLO_NEW_ARRAY(arena, uint32_t, (size_t)comp->id_limit + 1);
    c->partners = HLO_NEW_ARRAY(arena, uint32_t, c->order.count + 1);
    for (size_t i = 0; i < c->order.count; i++) {
        const HloInstruction *inst = c->order.items[i];
        c->positions[inst->id] = (uint32_t)i;
        c->partners[i] = NO_PARTNER;
        *hlo_map_at_text(arena, &c->names, inst->name, strlen(inst->name), NULL) = (void *)(uintptr_t)(i + 1);
    }
    HloBuffer text = {0};
    hlo_print_computation(comp, options, &text);
    HloStatus status = hlo_buffer_status(&text);
    if (hlo_is_ok(status)) {
        cut_lines(arena, c, (HloStringView){hlo_arena_copy(arena, text.data, text.size), text.size});
        hash_lines(arena, side, c);
    }
    hlo_buffer_free(&text);
    return status;
}

static HloStatus read_side(HloArena *arena, const HloModule *m, const HloPrintOptions *options, DiffSide *side) {
    *side = (DiffSide){
        .m = m,
        .comps = HLO_NEW_ARRAY(arena, DiffComp, m->computation_id_limit + (size_t)1),
        .order = hlo_module_print_order(m, arena),
    };
    HloCompList callees_first = hlo_module_post_order(m, arena);
    for (size_t i = 0; i < callees_first.count; i++) {
        const HloComputation *comp = callees_first.items[i];
        HLO_TRY(read_computation(arena, side, comp, options));
        *hlo_map_at_text(arena, &side->names, comp->name, strlen(comp->name), NULL) = &side->comps[comp->id];
    }
    return hlo_ok();
}

// ---- computations that belong together ------------------------------------------------------------------

// Two modules and the pairs found so far; each pair's instructions are matched when its turn comes.
typedef struct Pairing {
    HloArena *arena;
    DiffSide before, after;
    HloVec queue;  // DiffComp * of `before`
} Pairing;

static void pair(Pairing *p, DiffComp *before, DiffComp *after) {
    if (!before || !after || before->other || after->other) return;
    before->other = after;
    after->other = before;
    hlo_vec_push(p->arena, &p->queue, before);
}

static DiffComp *namesake(const Pairing *p, const DiffComp *before) {
    return hlo_map_find_text(&p->after.names, before->comp->name, strlen(before->comp->name));
}

static void pair_same_names(Pairing *p, bool same_content) {
    for (size_t i = 0; i < p->before.order.count; i++) {
        DiffComp *before = &p->before.comps[p->before.order.items[i]->id], *after = namesake(p, before);
        if (after && (!same_content || before->content == after->content)) pair(p, before, after);
    }
}

// The k-th unmatched computation of some content goes with the k-th of the same content.
static void pair_same_contents(Pairing *p) {
    HloMap waiting = {0};  // content -> HloVec of DiffComp, in reverse order
    for (size_t i = p->after.order.count; i-- > 0;) {
        DiffComp *after = &p->after.comps[p->after.order.items[i]->id];
        if (after->other) continue;
        void **list = hlo_map_at(p->arena, &waiting, (const void *)(uintptr_t)after->content);
        if (!*list) *list = HLO_NEW(p->arena, HloVec);
        hlo_vec_push(p->arena, *list, after);
    }
    for (size_t i = 0; i < p->before.order.count; i++) {
        DiffComp *before = &p->before.comps[p->before.order.items[i]->id];
        HloVec *list = before->other ? NULL : hlo_map_find(&waiting, (const void *)(uintptr_t)before->content);
        if (list && list->count) pair(p, before, hlo_vec_pop(list));
    }
}

// The callees of instructions that belong together, slot by slot.
static void pair_callees(Pairing *p, const DiffComp *before) {
    for (size_t i = 0; i < before->order.count; i++) {
        if (!is_matched(before, i)) continue;
        const HloInstruction *a = before->order.items[i], *b = before->other->order.items[before->partners[i]];
        if (a->op != b->op || a->called.count != b->called.count) continue;
        for (size_t k = 0; k < a->called.count; k++)
            pair(p, &p->before.comps[hlo_called(a, k)->id], &p->after.comps[hlo_called(b, k)->id]);
    }
}

static void pair_all(Pairing *p) {
    if (p->before.m->entry && p->after.m->entry)
        pair(p, &p->before.comps[p->before.m->entry->id], &p->after.comps[p->after.m->entry->id]);
    pair_same_names(p, true);
    pair_same_contents(p);
    pair_same_names(p, false);
    for (size_t i = 0; i < p->queue.count; i++) {
        DiffComp *before = p->queue.items[i];
        hlo_diff_match(p->arena, before, before->other);
        pair_callees(p, before);
    }
}

// ---- the result -----------------------------------------------------------------------------------------

HloPrintOptions hlo_print_for_diff(void) {
    HloPrintOptions options = hlo_print_default();
    options.metadata = false;
    options.async_sugar = false;
    return options;
}

static HloStatus header_of(HloArena *arena, const HloModule *m, const HloPrintOptions *options, HloStringView *out) {
    HloBuffer text = {0};
    hlo_print_header(m, options, &text);
    HloStatus status = hlo_buffer_status(&text);
    if (hlo_is_ok(status)) *out = (HloStringView){hlo_arena_copy(arena, text.data, text.size), text.size};
    hlo_buffer_free(&text);
    return status;
}

static void add(HloModuleDiff *diff, const HloComputationDiff *comp, HloComputationDiff *comps) {
    for (size_t kind = 0; kind < HLO_DIFF_KINDS; kind++) diff->totals[kind] += comp->counts[kind];
    comps[diff->count++] = *comp;
}

static void collect(const Pairing *p, HloModuleDiff *diff) {
    HloComputationDiff *comps =
        HLO_NEW_ARRAY(p->arena, HloComputationDiff, p->before.order.count + p->after.order.count + 1);
    diff->comps = comps;
    for (size_t i = 0; i < p->after.order.count; i++) {
        const DiffComp *after = &p->after.comps[p->after.order.items[i]->id];
        HloComputationDiff comp = {0};
        hlo_diff_rows(p->arena, &p->before, after->other, after, &comp);
        add(diff, &comp, comps);
    }
    for (size_t i = 0; i < p->before.order.count; i++) {
        const DiffComp *before = &p->before.comps[p->before.order.items[i]->id];
        HloComputationDiff comp = {0};
        if (before->other) continue;
        hlo_diff_rows(p->arena, &p->before, before, NULL, &comp);
        add(diff, &comp, comps);
    }
}

HloStatus hlo_module_diff(HloArena *arena, const HloModule *before, const HloModule *after,
                          const HloPrintOptions *options, HloModuleDiff *out) {
    Pairing p = {.arena = arena};
    HloModuleDiff diff = {.before = before, .after = after};
    HLO_TRY(read_side(arena, before, options, &p.before));
    HLO_TRY(read_side(arena, after, options, &p.after));
    HLO_TRY(header_of(arena, before, options, &diff.before_header));
    HLO_TRY(header_of(arena, after, options, &diff.after_header));
    pair_all(&p);
    collect(&p, &diff);
    *out = diff;
    return hlo_ok();
}
