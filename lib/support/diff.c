// Line diffs: the greedy algorithm of E. Myers, "An O(ND) difference algorithm and its variations" (1986), with a
// bound.
//
// Lines are first turned into numbers, equal lines into equal ones. The common start and end are cut off. In the rest,
// for d = 0, 1, 2, … the furthest points that d edits reach on each diagonal k = x - y are kept, a copy per d, from
// which the script is read backwards.

#include "hlo/diff.h"

enum { MOST_EDITS = 1000 };

typedef struct Lines {
    const HloStringView *views;  // without the newline
    const int32_t *ids;          // equal lines, equal numbers
    bool *edited;                // removed (before) or added (after)
    size_t count;
} Lines;

static size_t count_lines(HloStringView text) {
    size_t count = text.size && text.data[text.size - 1] != '\n';
    for (size_t k = 0; k < text.size; k++) count += text.data[k] == '\n';
    return count;
}

static Lines split(HloArena *scratch, HloMap *numbers, HloStringView text) {
    size_t most = count_lines(text);
    HloStringView *views = HLO_NEW_ARRAY(scratch, HloStringView, most);
    int32_t *ids = HLO_NEW_ARRAY(scratch, int32_t, most);
    size_t count = 0;
    for (const char *at = text.data, *end = text.data + text.size; at < end; count++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((newline ? newline : end) - at);
        views[count] = (HloStringView){at, size};
        void **slot = hlo_map_at_text(scratch, numbers, at, size, NULL);
        if (!*slot) *slot = (void *)(uintptr_t)numbers->count;
        ids[count] = (int32_t)(uintptr_t)*slot;
        at += size + 1;
    }
    return (Lines){views, ids, HLO_NEW_ARRAY(scratch, bool, most), count};
}

// ---- the edit script ------------------------------------------------------------------------------------

// The part of both texts that differs: lines [start, end) of each.
typedef struct Middle {
    Lines *before, *after;
    size_t start, before_end, after_end;
} Middle;

static Middle cut_common_ends(Lines *before, Lines *after) {
    Middle m = {before, after, 0, before->count, after->count};
    while (m.start < m.before_end && m.start < m.after_end && before->ids[m.start] == after->ids[m.start]) m.start++;
    while (m.before_end > m.start && m.after_end > m.start &&
           before->ids[m.before_end - 1] == after->ids[m.after_end - 1]) {
        m.before_end--;
        m.after_end--;
    }
    return m;
}

static bool is_match(const Middle *m, int32_t x, int32_t y) {
    return m->before->ids[m->start + (size_t)x] == m->after->ids[m->start + (size_t)y];
}

// Row d holds the furthest x on diagonals -d, -d+2, …, d at [k + d].
static int32_t furthest(const int32_t *previous, int32_t d, int32_t k) {
    if (d == 0) return 0;
    int32_t below = k > -d ? previous[k - 1 + (d - 1)] : -1;  // comes from k-1: a line of `before` is removed
    int32_t above = k < d ? previous[k + 1 + (d - 1)] : -1;   // comes from k+1: a line of `after` is added
    bool adds = k == -d || (k != d && below < above);
    return adds ? above : below + 1;
}

// Reads the script backwards from the end point.
static void mark_edits(Middle *m, int32_t *const *rows, int32_t d, int32_t x, int32_t y) {
    for (; d > 0; d--) {
        int32_t k = x - y;
        const int32_t *previous = rows[d - 1];
        int32_t below = k > -d ? previous[k - 1 + (d - 1)] : -1;
        int32_t above = k < d ? previous[k + 1 + (d - 1)] : -1;
        bool adds = k == -d || (k != d && below < above);
        int32_t from_k = adds ? k + 1 : k - 1;
        int32_t from_x = adds ? above : below;
        int32_t from_y = from_x - from_k;
        if (adds)
            m->after->edited[m->start + (size_t)from_y] = true;
        else
            m->before->edited[m->start + (size_t)from_x] = true;
        x = from_x;
        y = from_y;
    }
}

static void mark_all(Middle *m) {
    for (size_t k = m->start; k < m->before_end; k++) m->before->edited[k] = true;
    for (size_t k = m->start; k < m->after_end; k++) m->after->edited[k] = true;
}

// Fills row d; true when it reaches the end of both texts.
static bool extend(const Middle *m, const int32_t *previous, int32_t *row, int32_t d) {
    int32_t width = (int32_t)(m->before_end - m->start), height = (int32_t)(m->after_end - m->start);
    for (int32_t k = -d; k <= d; k += 2) {
        int32_t x = furthest(previous, d, k);
        // A diagonal outside of the grid: a point that no path may use.
        if (x < 0 || x > width || x - k > height || x - k < 0) {
            row[k + d] = INT32_MIN / 2;
            continue;
        }
        while (x < width && x - k < height && is_match(m, x, x - k)) x++;
        row[k + d] = x;
        if (x == width && x - k == height) return true;
    }
    return false;
}

static void find_edits(HloArena *scratch, Middle *m) {
    int32_t *rows[MOST_EDITS + 1];
    for (int32_t d = 0; d <= MOST_EDITS; d++) {
        rows[d] = HLO_NEW_ARRAY(scratch, int32_t, (size_t)(2 * d + 1));
        if (!extend(m, d ? rows[d - 1] : NULL, rows[d], d)) continue;
        mark_edits(m, rows, d, (int32_t)(m->before_end - m->start), (int32_t)(m->after_end - m->start));
        return;
    }
    mark_all(m);
}

// ---- hunks ----------------------------------------------------------------------------------------------

typedef struct Printer {
    HloBuffer *out;
    const HloDiffOptions *options;
    const Lines *before, *after;
} Printer;

static void put_coloured(const Printer *p, const char *colour, const char *prefix, HloStringView text) {
    if (p->options->colour && *colour) hlo_put_string(p->out, colour);
    hlo_put_string(p->out, prefix);
    hlo_put(p->out, text.data, text.size);
    if (p->options->colour && *colour) hlo_put_string(p->out, "\033[m");
    hlo_put_char(p->out, '\n');
}

// Lines [x, x_end) and [y, y_end); unchanged ones stand in both.
typedef struct Hunk {
    size_t x, x_end, y, y_end;
} Hunk;

static void put_hunk(const Printer *p, Hunk h) {
    HloBuffer head = {0};
    // An empty range is named by the line before it.
    hlo_putf(&head, "@@ -%zu,%zu +%zu,%zu @@", p->options->before_line + h.x + (h.x_end > h.x), h.x_end - h.x,
             p->options->after_line + h.y + (h.y_end > h.y), h.y_end - h.y);
    if (p->options->title) hlo_putf(&head, " %s", p->options->title);
    put_coloured(p, "\033[36m", "", (HloStringView){head.data ? head.data : "", head.size});
    hlo_buffer_free(&head);
    while (h.x < h.x_end || h.y < h.y_end) {
        if (h.x < h.x_end && p->before->edited[h.x]) {
            put_coloured(p, "\033[31m", "-", p->before->views[h.x++]);
        } else if (h.y < h.y_end && p->after->edited[h.y]) {
            put_coloured(p, "\033[32m", "+", p->after->views[h.y++]);
        } else {
            put_coloured(p, "", " ", p->before->views[h.x++]);
            h.y++;
        }
    }
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static bool is_edit(const Printer *p, size_t x, size_t y) {
    return (x < p->before->count && p->before->edited[x]) || (y < p->after->count && p->after->edited[y]);
}

// The hunk that starts with the edit at (x, y): up to the last edit that is at most twice the context away from the one
// before.
static Hunk find_hunk(const Printer *p, size_t x, size_t y) {
    size_t context = p->options->context, lead = least(context, least(x, y)), quiet = 0;
    Hunk h = {x - lead, x, y - lead, y};
    while ((x < p->before->count || y < p->after->count) && quiet <= 2 * context) {
        if (is_edit(p, x, y)) {
            if (x < p->before->count && p->before->edited[x])
                x++;
            else
                y++;
            h.x_end = x;
            h.y_end = y;
            quiet = 0;
        } else {
            x++, y++, quiet++;
        }
    }
    size_t tail = least(context, least(p->before->count - h.x_end, p->after->count - h.y_end));
    h.x_end += tail;
    h.y_end += tail;
    return h;
}

static void put_hunks(const Printer *p) {
    size_t x = 0, y = 0;
    while (x < p->before->count || y < p->after->count) {
        if (!is_edit(p, x, y)) {
            x++, y++;
            continue;
        }
        Hunk h = find_hunk(p, x, y);
        put_hunk(p, h);
        x = h.x_end;
        y = h.y_end;
    }
}

void hlo_put_diff(HloBuffer *out, HloArena *scratch, HloStringView before, HloStringView after,
                  const HloDiffOptions *options) {
    HloMap numbers = {0};
    Lines a = split(scratch, &numbers, before), b = split(scratch, &numbers, after);
    Middle middle = cut_common_ends(&a, &b);
    find_edits(scratch, &middle);
    put_hunks(&(Printer){out, options, &a, &b});
}
