// A module diff as text. Only computations with a difference are shown, and in them unchanged lines near a change:
//
//   @@ ENTRY %main: 1 changed, 1 added
//     %p = f32[4]{0} parameter(0)
//   - %s = f32[4]{0} sine(%p)
//   + %s = f32[4]{0} cosine(%p)
//   + %n = f32[4]{0} negate(%s)
//     ... 12 lines

#include "lib/analysis/module_diff.h"

static const char *const kind_words[HLO_DIFF_KINDS] = {
    [HLO_DIFF_SAME] = "same",       [HLO_DIFF_MOVED] = "moved",     [HLO_DIFF_RENAMED] = "renamed",
    [HLO_DIFF_CHANGED] = "changed", [HLO_DIFF_REMOVED] = "removed", [HLO_DIFF_ADDED] = "added",
};

// ---- what differs ---------------------------------------------------------------------------------------

static bool same_view(HloStringView a, HloStringView b) {
    return a.size == b.size && (!a.size || memcmp(a.data, b.data, a.size) == 0);
}

static bool is_difference(HloDiffKind kind, bool names) {
    return kind != HLO_DIFF_SAME && (names || kind != HLO_DIFF_RENAMED);
}

static bool differs(const HloComputationDiff *comp, bool names) {
    if (!comp->before || !comp->after || (names && comp->renamed)) return true;
    for (size_t kind = 0; kind < HLO_DIFF_KINDS; kind++) {
        if (comp->counts[kind] && is_difference((HloDiffKind)kind, names)) return true;
    }
    return !same_view(comp->before_end, comp->after_end);
}

bool hlo_diff_found(const HloModuleDiff *diff, bool names) {
    if (!same_view(diff->before_header, diff->after_header)) return true;
    for (size_t i = 0; i < diff->count; i++) {
        if (differs(&diff->comps[i], names)) return true;
    }
    return false;
}

// ---- lines ----------------------------------------------------------------------------------------------

typedef struct Out {
    HloBuffer *out;
    const HloDiffStyle *style;
} Out;

static const char *colour_of(char mark) {
    switch (mark) {
    case '-': return "\033[31m";
    case '+': return "\033[32m";
    case '~':
    case '>': return "\033[33m";
    case '@': return "\033[36m";
    default: return "";
    }
}

static void begin(const Out *o, char mark) {
    if (o->style->colour) hlo_put_string(o->out, colour_of(mark));
}

static void end(const Out *o, char mark) {
    if (o->style->colour && *colour_of(mark)) hlo_put_string(o->out, "\033[m");
    hlo_put_char(o->out, '\n');
}

static void put_line(const Out *o, char mark, HloStringView line) {
    begin(o, mark);
    hlo_put_char(o->out, mark);
    hlo_put_char(o->out, ' ');
    hlo_put(o->out, line.data, line.size);
    end(o, mark);
}

static void put_renamed(const Out *o, const HloDiffRow *row) {
    begin(o, '~');
    hlo_put(o->out, "~ ", 2);
    hlo_put(o->out, row->after_line.data, row->after_line.size);
    hlo_put_string(o->out, "  // was %");
    hlo_put_string(o->out, row->before->name);
    end(o, '~');
}

static void put_row(const Out *o, const HloDiffRow *row) {
    switch (row->kind) {
    case HLO_DIFF_SAME: put_line(o, ' ', row->after_line); return;
    case HLO_DIFF_MOVED: put_line(o, '>', row->after_line); return;
    case HLO_DIFF_RENAMED:
        if (o->style->names)
            put_renamed(o, row);
        else
            put_line(o, ' ', row->after_line);
        return;
    case HLO_DIFF_CHANGED:
        put_line(o, '-', row->before_line);
        put_line(o, '+', row->after_line);
        return;
    case HLO_DIFF_REMOVED: put_line(o, '-', row->before_line); return;
    case HLO_DIFF_ADDED: put_line(o, '+', row->after_line); return;
    case HLO_DIFF_KINDS: return;
    }
}

static void put_folded(const Out *o, size_t count) {
    if (count) hlo_putf(o->out, "  ... %zu line%s\n", count, count == 1 ? "" : "s");
}

// The next row from `at` on that is a difference, or the end.
static size_t next_difference(const HloComputationDiff *comp, size_t at, bool names) {
    while (at < comp->row_count && !is_difference(comp->rows[at].kind, names)) at++;
    return at;
}

static void put_rows(const Out *o, const HloComputationDiff *comp) {
    size_t context = o->style->context, folded = 0, since = SIZE_MAX,
           next = 0;  // since: rows after the last difference
    for (size_t i = 0; i < comp->row_count; i++) {
        if (next <= i) next = next_difference(comp, i, o->style->names);
        since = next == i ? 0 : since == SIZE_MAX ? since : since + 1;
        bool near = since <= context || (next < comp->row_count && next - i <= context);
        if (!near) {
            folded++;
            continue;
        }
        put_folded(o, folded);
        folded = 0;
        put_row(o, &comp->rows[i]);
    }
    put_folded(o, folded);
}

// ---- headings -------------------------------------------------------------------------------------------

static void put_counts(const Out *o, const HloComputationDiff *comp) {
    const char *joiner = ": ";
    for (size_t kind = 0; kind < HLO_DIFF_KINDS; kind++) {
        if (!comp->counts[kind] || !is_difference((HloDiffKind)kind, o->style->names)) continue;
        hlo_putf(o->out, "%s%zu %s", joiner, comp->counts[kind], kind_words[kind]);
        joiner = ", ";
    }
}

static void put_heading(const Out *o, const HloModuleDiff *diff, const HloComputationDiff *comp) {
    const HloComputation *shown = comp->after ? comp->after : comp->before;
    bool entry = comp->after ? comp->after == diff->after->entry : comp->before == diff->before->entry;
    begin(o, '@');
    hlo_putf(o->out, "@@ %s%%%s", entry ? "ENTRY " : "", shown->name);
    if (comp->renamed && o->style->names) hlo_putf(o->out, ", was %%%s", comp->before->name);
    put_counts(o, comp);
    end(o, '@');
}

static void put_changed_text(const Out *o, HloStringView before, HloStringView after) {
    if (same_view(before, after)) return;
    put_line(o, '-', before);
    put_line(o, '+', after);
}

void hlo_put_module_diff(HloBuffer *out, const HloModuleDiff *diff, const HloDiffStyle *style) {
    Out o = {out, style};
    put_changed_text(&o, diff->before_header, diff->after_header);
    for (size_t i = 0; i < diff->count; i++) {
        const HloComputationDiff *comp = &diff->comps[i];
        if (!differs(comp, style->names)) continue;
        put_heading(&o, diff, comp);
        put_rows(&o, comp);
        if (comp->before && comp->after) put_changed_text(&o, comp->before_end, comp->after_end);
    }
}

// ---- statistics -----------------------------------------------------------------------------------------

static void put_numbers(HloBuffer *out, const size_t counts[HLO_DIFF_KINDS], const char *what) {
    for (size_t kind = 0; kind < HLO_DIFF_KINDS; kind++) hlo_putf(out, "%9zu", counts[kind]);
    hlo_putf(out, "  %s\n", what);
}

static void put_titles(HloBuffer *out, const char *what) {
    for (size_t kind = 0; kind < HLO_DIFF_KINDS; kind++) hlo_putf(out, "%9s", kind_words[kind]);
    hlo_putf(out, "  %s\n", what);
}

static void count_opcodes(const HloModuleDiff *diff, size_t counts[HLO_OP_COUNT][HLO_DIFF_KINDS]) {
    for (size_t i = 0; i < diff->count; i++) {
        for (size_t r = 0; r < diff->comps[i].row_count; r++) {
            const HloDiffRow *row = &diff->comps[i].rows[r];
            counts[(row->after ? row->after : row->before)->op][row->kind]++;
        }
    }
}

void hlo_put_diff_stat(HloBuffer *out, const HloModuleDiff *diff, bool names) {
    put_titles(out, "computation");
    for (size_t i = 0; i < diff->count; i++) {
        const HloComputationDiff *comp = &diff->comps[i];
        if (differs(comp, names)) put_numbers(out, comp->counts, (comp->after ? comp->after : comp->before)->name);
    }
    put_numbers(out, diff->totals, "(all)");
    size_t counts[HLO_OP_COUNT][HLO_DIFF_KINDS] = {{0}};
    count_opcodes(diff, counts);
    hlo_put_char(out, '\n');
    put_titles(out, "opcode");
    for (int op = 0; op < HLO_OP_COUNT; op++) {
        bool found = false;
        for (size_t kind = 0; kind < HLO_DIFF_KINDS; kind++)
            found = found || (counts[op][kind] && is_difference((HloDiffKind)kind, names));
        if (found) put_numbers(out, counts[op], hlo_op_name((HloOpcode)op));
    }
}
