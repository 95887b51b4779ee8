// Rows of a module diff: pairs in an order that both sides have (the longest increasing sequence of partners, found as
// in patience sorting), and around them what only one side has.

#include "lib/analysis/module_diff.h"

// ---- order ----------------------------------------------------------------------------------------------

bool *hlo_diff_in_order(HloArena *scratch, const DiffComp *before) {
    size_t count = before->order.count, length = 0;
    uint32_t *tails = HLO_NEW_ARRAY(scratch, uint32_t, count + 1);  // [n]: the position that ends the best run of n + 1
    uint32_t *previous = HLO_NEW_ARRAY(scratch, uint32_t, count + 1);  // of a run: position + 1, or 0
    for (size_t i = 0; i < count; i++) {
        if (!is_matched(before, i)) continue;
        size_t low = 0, high = length;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (before->partners[tails[middle]] < before->partners[i])
                low = middle + 1;
            else
                high = middle;
        }
        tails[low] = (uint32_t)i;
        previous[i] = low ? tails[low - 1] + 1 : 0;
        if (low == length) length++;
    }
    bool *kept = HLO_NEW_ARRAY(scratch, bool, count + 1);
    for (uint32_t at = length ? tails[length - 1] + 1 : 0; at; at = previous[at - 1]) kept[at - 1] = true;
    return kept;
}

// ---- what a pair is -------------------------------------------------------------------------------------

// The name that `before` and its module have after the change for a name in one of its lines.
static const char *new_name(const DiffSide *side, const DiffComp *before, const HloLineNames *scan, bool own) {
    if (!own && hlo_line_names_callee(scan)) {
        const DiffComp *callee = hlo_map_find_text(&side->names, scan->name.data, scan->name.size);
        return callee && callee->other ? callee->other->comp->name : NULL;
    }
    size_t at = (size_t)(uintptr_t)hlo_map_find_text(&before->names, scan->name.data, scan->name.size);
    if (!at || !is_matched(before, at - 1)) return NULL;
    return before->other->order.items[before->partners[at - 1]]->name;
}

// Takes `text` off the front of *line.
static bool take(HloStringView *line, const char *text, size_t size) {
    if (line->size < size || memcmp(line->data, text, size) != 0) return false;
    line->data += size;
    line->size -= size;
    return true;
}

// Whether the lines are the same once every name is replaced by that of its partner.
static bool says_the_same(const DiffSide *side, const DiffComp *before, HloStringView old, HloStringView new) {
    HloLineNames scan = {.at = old.data, .end = old.data + old.size};
    const char *from = old.data;
    for (bool own = true; hlo_line_names_next(&scan); own = false) {
        const char *name = new_name(side, before, &scan, own);
        if (!name || !take(&new, from, (size_t)(scan.name.data - from)) || !take(&new, name, strlen(name)))
            return false;
        from = scan.at;
    }
    return take(&new, from, (size_t)(scan.end - from)) && !new.size;
}

static HloDiffKind kind_of(const DiffSide *side, const DiffComp *before, size_t i) {
    const DiffComp *after = before->other;
    size_t k = before->partners[i];
    HloStringView old = before->lines[i], new = after->lines[k];
    bool same_name = strcmp(before->order.items[i]->name, after->order.items[k]->name) == 0;
    if (old.size == new.size && memcmp(old.data, new.data, old.size) == 0) return HLO_DIFF_SAME;
    if (!says_the_same(side, before, old, new)) return HLO_DIFF_CHANGED;
    return same_name ? HLO_DIFF_SAME : HLO_DIFF_RENAMED;
}

// ---- rows -----------------------------------------------------------------------------------------------

typedef struct Rows {
    const DiffSide *side;
    const DiffComp *before, *after;
    HloDiffRow *items;
    HloComputationDiff *diff;
} Rows;

static void put_row(Rows *r, HloDiffKind kind, size_t i, size_t k) {
    HloDiffRow *row = &r->items[r->diff->row_count++];
    row->kind = kind;
    if (i != SIZE_MAX) {
        row->before = r->before->order.items[i];
        row->before_line = r->before->lines[i];
    }
    if (k != SIZE_MAX) {
        row->after = r->after->order.items[k];
        row->after_line = r->after->lines[k];
    }
    r->diff->counts[kind]++;
}

// Only a schedule's order says something.
static HloDiffKind kind_at(const Rows *r, size_t i, bool in_order) {
    HloDiffKind kind = kind_of(r->side, r->before, i);
    bool scheduled = r->before->comp->sequence && r->after->comp->sequence;
    return kind == HLO_DIFF_SAME && !in_order && scheduled ? HLO_DIFF_MOVED : kind;
}

// Rows up to position `i_end` of `before`, where only what was removed shows, and `k_end` of `after`.
static void put_gap(Rows *r, size_t *i, size_t i_end, size_t *k, size_t k_end) {
    for (; *i < i_end; ++*i) {
        if (!is_matched(r->before, *i)) put_row(r, HLO_DIFF_REMOVED, *i, SIZE_MAX);
    }
    for (; *k < k_end; ++*k) {
        if (is_matched(r->after, *k))
            put_row(r, kind_at(r, r->after->partners[*k], false), r->after->partners[*k], *k);
        else
            put_row(r, HLO_DIFF_ADDED, SIZE_MAX, *k);
    }
}

static void put_pair(HloArena *arena, Rows *r) {
    const bool *kept = hlo_diff_in_order(arena, r->before);
    size_t i = 0, k = 0;
    for (size_t at = 0; at < r->before->order.count; at++) {
        if (!kept[at]) continue;
        put_gap(r, &i, at, &k, r->before->partners[at]);
        put_row(r, kind_at(r, at, true), at, r->before->partners[at]);
        i = at + 1;
        k = r->before->partners[at] + (size_t)1;
    }
    put_gap(r, &i, r->before->order.count, &k, r->after->order.count);
}

void hlo_diff_rows(HloArena *arena, const DiffSide *side, const DiffComp *before, const DiffComp *after,
                   HloComputationDiff *out) {
    size_t most = (before ? before->order.count : 0) + (after ? after->order.count : 0);
    Rows r = {side, before, after, HLO_NEW_ARRAY(arena, HloDiffRow, most + 1), out};
    out->rows = r.items;
    out->before = before ? before->comp : NULL;
    out->after = after ? after->comp : NULL;
    if (before) out->before_end = before->end;
    if (after) out->after_end = after->end;
    if (before && after) {
        out->renamed = strcmp(before->comp->name, after->comp->name) != 0;
        put_pair(arena, &r);
        return;
    }
    for (size_t i = 0; before && i < before->order.count; i++) put_row(&r, HLO_DIFF_REMOVED, i, SIZE_MAX);
    for (size_t k = 0; after && k < after->order.count; k++) put_row(&r, HLO_DIFF_ADDED, SIZE_MAX, k);
}
