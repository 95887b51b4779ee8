// Rows of boxes, clusters inside out.

#include "lib/graph/layout.h"

#include <stdlib.h>

enum {
    CHAR_WIDTH = 7,  // of a 12 pixel font, on average
    LINE_HEIGHT = 15,
    MARGIN = 12,  // inside boxes and clusters
    ROW_GAP = 40,
    COLUMN_GAP = 20,
    MOST_CHARS = 80,  // boxes are not wider; longer lines break
};

// ---- sizes ----------------------------------------------------------------------------------------------

// Moves behind a tag or an entity; otherwise by one byte. *columns tells what it takes on the line.
static const char *skip_markup(const char *p, size_t *columns) {
    *columns = 1;
    if (*p == '<' || *p == '&') {
        const char *end = strchr(p, *p == '<' ? '>' : ';');
        if (end) {
            *columns = *p == '&';
            return end + 1;
        }
    }
    if (((unsigned char)*p & 0xc0) == 0x80) *columns = 0;  // inside a UTF-8 sequence
    return p + 1;
}

void graph_size_item(GraphItem *item) {
    size_t widest = 0, lines = 0, line = 0;
    for (const char *p = item->text;;) {
        bool ends = !*p || strncmp(p, "<br/>", 5) == 0;
        if (ends) {
            if (line > widest) widest = line;
            lines += line > MOST_CHARS ? (line + MOST_CHARS - 1) / MOST_CHARS : 1;
            line = 0;
            if (!*p) break;
        }
        size_t columns;
        p = skip_markup(p, &columns);
        line += columns;
    }
    if (widest > MOST_CHARS) widest = MOST_CHARS;
    item->width = (double)(widest * CHAR_WIDTH + 2 * MARGIN);
    item->height = (double)(lines * LINE_HEIGHT + MARGIN);
}

// ---- rows -----------------------------------------------------------------------------------------------

// Children stand behind what they use; an arrow from a later one does not count.
static size_t find_levels(GraphItem *cluster) {
    size_t rows = 0;
    for (size_t k = 0; k < cluster->children.count; k++) {
        GraphItem *child = cluster->children.items[k];
        child->level = 0;
        for (size_t i = 0; i < child->before.count; i++) {
            const GraphItem *from = child->before.items[i];
            if (from->level + 1 > child->level) child->level = from->level + 1;
        }
        if (child->level + 1 > rows) rows = child->level + 1;
    }
    return rows;
}

static int compare_wishes(const void *a, const void *b) {
    const GraphItem *x = *(GraphItem *const *)a, *y = *(GraphItem *const *)b;
    return (x->wish > y->wish) - (x->wish < y->wish);
}

// The middle of what leads to a box; *last for one that nothing leads to.
static double find_wish(const GraphItem *item, double last) {
    double sum = 0;
    for (size_t k = 0; k < item->before.count; k++) {
        const GraphItem *from = item->before.items[k];
        sum += from->x + from->width / 2;
    }
    return item->before.count ? sum / (double)item->before.count : last;
}

static double arrange_row(GraphItem **row, size_t count, double y) {
    double last = 0, right = -1e300, height = 0;
    for (size_t k = 0; k < count; k++) {
        row[k]->wish = find_wish(row[k], last);
        last = row[k]->wish + COLUMN_GAP;
    }
    qsort(row, count, sizeof *row, compare_wishes);
    for (size_t k = 0; k < count; k++) {
        double x = row[k]->wish - row[k]->width / 2;
        row[k]->x = x > right ? x : right;
        row[k]->y = y;
        right = row[k]->x + row[k]->width + COLUMN_GAP;
        if (row[k]->height > height) height = row[k]->height;
    }
    return height;
}

// Moves the children so that they fill the cluster from its margin on, below its heading.
static void fit(GraphItem *cluster, double heading) {
    double left = 1e300, right = 0, bottom = heading;
    for (size_t k = 0; k < cluster->children.count; k++) {
        const GraphItem *child = cluster->children.items[k];
        if (child->x < left) left = child->x;
    }
    for (size_t k = 0; k < cluster->children.count; k++) {
        GraphItem *child = cluster->children.items[k];
        child->x += MARGIN - left;
        child->y += heading;
        if (child->x + child->width > right) right = child->x + child->width;
        if (child->y + child->height > bottom) bottom = child->y + child->height;
    }
    if (right + MARGIN > cluster->width) cluster->width = right + MARGIN;
    cluster->height = bottom + MARGIN;
}

void graph_arrange(HloArena *scratch, GraphItem *cluster) {
    size_t count = cluster->children.count, rows = find_levels(cluster);
    graph_size_item(cluster);  // its heading
    double heading = cluster->height + MARGIN;
    // Children sorted by row: counted, then dealt out.
    size_t *starts = HLO_NEW_ARRAY(scratch, size_t, rows + 2);
    GraphItem **sorted = HLO_NEW_ARRAY(scratch, GraphItem *, count);
    for (size_t k = 0; k < count; k++) starts[((GraphItem *)cluster->children.items[k])->level + 2]++;
    for (size_t r = 2; r < rows + 2; r++) starts[r] += starts[r - 1];
    for (size_t k = 0; k < count; k++) {
        GraphItem *child = cluster->children.items[k];
        sorted[starts[child->level + 1]++] = child;
    }
    double y = 0;
    for (size_t r = 0; r < rows; r++) {
        y += arrange_row(sorted + starts[r], starts[r + 1] - starts[r], y) + ROW_GAP;
    }
    fit(cluster, heading);
}

void graph_place_items(const HloVec *items) {
    for (size_t k = 0; k < items->count; k++) {
        GraphItem *item = items->items[k];
        if (!item->parent) continue;
        item->x += item->parent->x;
        item->y += item->parent->y;
    }
}
