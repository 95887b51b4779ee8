// Instructions of two computations that belong together. Six rules, the surest first, each over what is left:
//
//   1. the same name and the same line, names of operands left out
//   2. the same structure: line and, all the way up, operands
//   3. the same name and opcode
//   4. the same opcode on operands that belong together
//   5. the same opcode between two neighbours that belong together
//   6. the same name
//
// Each is one walk with a map or an array, so time is linear.

#include "lib/analysis/module_diff.h"

typedef struct Match {
    HloArena *scratch;
    DiffComp *before, *after;
} Match;

static void match(Match *m, size_t before, size_t after) {
    m->before->partners[before] = (uint32_t)after;
    m->after->partners[after] = (uint32_t)before;
}

static const HloInstruction *inst_at(const DiffComp *c, size_t position) {
    return c->order.items[position];
}

// ---- by name --------------------------------------------------------------------------------------------

typedef enum Besides { SAME_LINE, SAME_OPCODE, NOTHING } Besides;  // the name

static bool agree(const Match *m, size_t i, size_t k, Besides besides) {
    switch (besides) {
    case SAME_LINE: return m->before->own[i] == m->after->own[k];
    case SAME_OPCODE: return inst_at(m->before, i)->op == inst_at(m->after, k)->op;
    case NOTHING: break;
    }
    return true;
}

static void match_names(Match *m, Besides besides) {
    for (size_t i = 0; i < m->before->order.count; i++) {
        const HloInstruction *inst = inst_at(m->before, i);
        if (is_matched(m->before, i)) continue;
        size_t k = (size_t)(uintptr_t)hlo_map_find_text(&m->after->names, inst->name, strlen(inst->name));
        if (k-- && !is_matched(m->after, k) && agree(m, i, k, besides)) match(m, i, k);
    }
}

// ---- by a hash ------------------------------------------------------------------------------------------

// Unmatched positions of `after` by some hash, first come first served.
typedef struct Waiting {
    HloMap first;    // hash -> position + 1
    uint32_t *next;  // by position: the next one with the same hash + 1
    HloMap last;     // hash -> position + 1
} Waiting;

static const void *key_of(uint64_t hash) {
    return (const void *)(uintptr_t)(hash ? hash : 1);
}

static void wait_for(Match *m, Waiting *w, uint64_t hash, size_t position) {
    if (!w->next) w->next = HLO_NEW_ARRAY(m->scratch, uint32_t, m->after->order.count + 1);
    void **last = hlo_map_at(m->scratch, &w->last, key_of(hash));
    if (*last)
        w->next[(uintptr_t)*last - 1] = (uint32_t)position + 1;
    else
        *hlo_map_at(m->scratch, &w->first, key_of(hash)) = (void *)(uintptr_t)(position + 1);
    *last = (void *)(uintptr_t)(position + 1);
}

// The next one with that hash, or SIZE_MAX.
static size_t take(Match *m, Waiting *w, uint64_t hash) {
    if (!hlo_map_find(&w->first, key_of(hash))) return SIZE_MAX;
    void **first = hlo_map_at(m->scratch, &w->first, key_of(hash));
    size_t position = (size_t)(uintptr_t)*first - 1;
    *first = (void *)(uintptr_t)w->next[position];
    return position;
}

static void match_structures(Match *m) {
    Waiting w = {0};
    for (size_t k = 0; k < m->after->order.count; k++) {
        if (!is_matched(m->after, k)) wait_for(m, &w, m->after->structure[k], k);
    }
    for (size_t i = 0; i < m->before->order.count; i++) {
        size_t k = is_matched(m->before, i) ? SIZE_MAX : take(m, &w, m->before->structure[i]);
        if (k != SIZE_MAX) match(m, i, k);
    }
}

// The opcode and the operands as positions in `after`; 0 when there are none, or one of `before` has no partner.
static uint64_t operands_hash(const DiffComp *c, size_t position, bool translate) {
    const HloInstruction *inst = inst_at(c, position);
    uint64_t hash = (uint64_t)inst->op + 1;
    if (!hlo_operand_count(inst)) return 0;
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        uint32_t at = c->positions[hlo_operand(inst, k)->id];
        if (translate) at = c->partners[at];
        if (at == NO_PARTNER) return 0;
        hash = hlo_hash_combine(hash, at);
    }
    return hash;
}

// Operands come first, so a match makes those of its users possible.
static void match_on_operands(Match *m) {
    Waiting w = {0};
    for (size_t k = 0; k < m->after->order.count; k++) {
        uint64_t hash = is_matched(m->after, k) ? 0 : operands_hash(m->after, k, false);
        if (hash) wait_for(m, &w, hash, k);
    }
    for (size_t i = 0; i < m->before->order.count; i++) {
        uint64_t hash = is_matched(m->before, i) ? 0 : operands_hash(m->before, i, true);
        size_t k = hash ? take(m, &w, hash) : SIZE_MAX;
        if (k != SIZE_MAX) match(m, i, k);
    }
}

// ---- by place -------------------------------------------------------------------------------------------

// Unmatched positions of one gap of `after` by opcode.
typedef struct Gap {
    uint32_t first[HLO_OP_COUNT], last[HLO_OP_COUNT];  // position + 1
    uint32_t *next;                                    // by position: + 1
} Gap;

// Positions [i, i_end) of `before` stand between the same neighbours as [k, k_end) of `after`.
static void match_gap(Match *m, Gap *gap, size_t i, size_t i_end, size_t k, size_t k_end) {
    if (i == i_end || k == k_end) return;
    for (size_t at = k; at < k_end; at++) {
        if (is_matched(m->after, at)) continue;
        HloOpcode op = inst_at(m->after, at)->op;
        if (gap->first[op])
            gap->next[gap->last[op] - 1] = (uint32_t)at + 1;
        else
            gap->first[op] = (uint32_t)at + 1;
        gap->last[op] = (uint32_t)at + 1;
    }
    for (; i < i_end; i++) {
        HloOpcode op = inst_at(m->before, i)->op;
        if (is_matched(m->before, i) || !gap->first[op]) continue;
        size_t at = gap->first[op] - 1;
        gap->first[op] = gap->next[at];
        match(m, i, at);
    }
    for (size_t at = k; at < k_end; at++) gap->first[inst_at(m->after, at)->op] = 0;
}

static void match_between(Match *m) {
    const bool *kept = hlo_diff_in_order(m->scratch, m->before);
    Gap *gap = HLO_NEW(m->scratch, Gap);
    gap->next = HLO_NEW_ARRAY(m->scratch, uint32_t, m->after->order.count + 1);
    size_t from = 0, other_from = 0;
    for (size_t i = 0; i < m->before->order.count; i++) {
        if (!kept[i]) continue;
        size_t k = m->before->partners[i];
        match_gap(m, gap, from, i, other_from, k);
        from = i + 1;
        other_from = k + 1;
    }
    match_gap(m, gap, from, m->before->order.count, other_from, m->after->order.count);
}

void hlo_diff_match(HloArena *scratch, DiffComp *before, DiffComp *after) {
    Match m = {scratch, before, after};
    match_names(&m, SAME_LINE);
    match_structures(&m);
    match_names(&m, SAME_OPCODE);
    match_on_operands(&m);
    match_between(&m);
    match_names(&m, NOTHING);
}
