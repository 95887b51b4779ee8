// A page with a drawn graph (graph chapter, §8): an SVG of our own, so that it opens without network, the rules for
// hovering, and the text for Graphviz, packed as pages of the reference have it.

#include <stdlib.h>

#include "hlo/encode.h"
#include "lib/graph/layout.h"

typedef struct Page {
    Graph graph;
    const HloComputation *comp;
    const HloGraphOptions *options;
    HloBuffer *out;
    HloBuffer dot, text;
    HloVec items;  // GraphItem *, every one behind its parent
    GraphItem *picture, *current;
    GraphItem **item_of;  // by number of an instruction
    GraphItem *root_tag;
    HloVec edges;  // GraphEdge *
    HloVec calls;  // GraphEdge *: from callees to the instruction that comes next and has no box yet
} Page;

// ---- boxes and arrows ----------------------------------------------------------------------------------------------

static GraphItem *add_item(Page *page) {
    GraphItem *item = HLO_NEW(&page->graph.scratch, GraphItem);
    item->parent = page->current;
    item->text = item->tooltip = "";
    hlo_vec_push(&page->graph.scratch, &page->items, item);
    if (page->current) hlo_vec_push(&page->graph.scratch, &page->current->children, item);
    return item;
}

// What was written to the page's scratch text.
static const char *take_text(Page *page) {
    const char *text = hlo_arena_string(&page->graph.scratch, page->text.data ? page->text.data : "", page->text.size);
    page->text.size = 0;
    return text;
}

static GraphItem *end_of(const Page *page, const GraphEdge *edge) {
    return edge->to ? page->item_of[graph_number(&page->graph, edge->to)] : page->root_tag;
}

static GraphItem *start_of(const Page *page, const GraphEdge *edge) {
    return page->item_of[graph_number(&page->graph, edge->from)];
}

static size_t depth_of(const GraphItem *item) {
    size_t depth = 0;
    for (; item->parent; item = item->parent) depth++;
    return depth;
}

// Of two items, the two siblings that they are or stand in; the same one when one stands in the other.
static void find_siblings(GraphItem **a, GraphItem **b) {
    size_t a_depth = depth_of(*a), b_depth = depth_of(*b);
    for (; a_depth > b_depth; a_depth--) *a = (*a)->parent;
    for (; b_depth > a_depth; b_depth--) *b = (*b)->parent;
    while ((*a)->parent != (*b)->parent) {
        *a = (*a)->parent;
        *b = (*b)->parent;
    }
}

// Notes that one box stands above another.
static void order_items(Page *page, const GraphEdge *edge) {
    GraphItem *from = start_of(page, edge), *to = end_of(page, edge);
    if (!from || !to) return;
    find_siblings(&from, &to);
    if (from != to) hlo_vec_push(&page->graph.scratch, &to->before, from);
}

// Escaped once more for the page: what the tooltip escapes stays readable.
static const char *tooltip_of(Page *page, const HloInstruction *inst) {
    HloBuffer plain = {0};
    graph_put_origin(&plain, inst);
    page->text.failed |= plain.failed;
    for (const char *p = plain.size ? plain.data : ""; *p; p++) {
        if (*p == '<' || *p == '>')
            graph_put_escaped(&page->text, p, 1);
        else
            hlo_put_char(&page->text, *p);
    }
    hlo_buffer_free(&plain);
    return take_text(page);
}

static void add_node(void *data, const HloInstruction *inst) {
    Page *page = data;
    GraphItem *item = add_item(page);
    item->inst = inst;
    item->colours = graph_colours(&page->graph, inst);
    graph_put_node_text(&page->graph, &page->text, inst);
    item->text = take_text(page);
    item->tooltip = tooltip_of(page, inst);
    graph_size_item(item);
    page->item_of[graph_number(&page->graph, inst)] = item;
    while (page->calls.count && ((const GraphEdge *)page->calls.items[page->calls.count - 1])->to == inst) {
        order_items(page, hlo_vec_pop(&page->calls));
    }
}

static void add_root_tag(void *data, const HloInstruction *source) {
    Page *page = data;
    (void)source;
    page->root_tag = add_item(page);
    page->root_tag->text = "ROOT";
    page->root_tag->colours = graph_root_colours();
    graph_size_item(page->root_tag);
}

static void begin_cluster(void *data, const HloInstruction *caller, const HloComputation *comp) {
    Page *page = data;
    GraphItem *item = add_item(page);
    item->comp = comp;
    item->colours = caller->op == HLO_OP_FUSION ? (GraphColours){"filled", "#f5f5f5", "#c2c2c2", "black"}
                                                : (GraphColours){"filled", "none", "black", "black"};
    graph_put_cluster_text(&page->graph, &page->text, caller, comp);
    item->text = take_text(page);
    page->current = item;
}

static void end_cluster(void *data, const HloComputation *comp) {
    Page *page = data;
    (void)comp;
    graph_arrange(&page->graph.scratch, page->current);
    page->current = page->current->parent;
}

static void add_edge(void *data, const GraphEdge *edge) {
    Page *page = data;
    HloArena *scratch = &page->graph.scratch;
    const GraphEdge *copy = hlo_arena_copy(scratch, edge, sizeof *edge);
    hlo_vec_push(scratch, &page->edges, copy);
    if (edge->kind == GRAPH_CALL)
        hlo_vec_push(scratch, &page->calls, copy);
    else
        order_items(page, copy);
}

// ---- SVG ------------------------------------------------------------------------------------------------

static void put_box(HloBuffer *out, const GraphItem *item, const char *id, size_t number) {
    hlo_putf(out, "<g id=\"%s%zu\"><title>%s</title>", id, number, item->tooltip);
    hlo_putf(out, "<rect x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\" rx=\"%d\" fill=\"%s\" stroke=\"%s\"%s/>",
             item->x, item->y, item->width, item->height, item->comp ? 8 : 2, item->colours.fill, item->colours.border,
             strstr(item->colours.style, "dashed") ? " stroke-dasharray=\"4\"" : "");
    hlo_putf(out,
             "<foreignObject x=\"%.0f\" y=\"%.0f\" width=\"%.0f\" height=\"%.0f\"><div style=\"color:%s\">%s</div>"
             "</foreignObject></g>\n",
             item->x, item->y + 4, item->width, item->height - 4, item->colours.text, item->text);
}

// Clusters first, so that boxes lie on them; numbers as in the text for Graphviz.
static void put_boxes(Page *page) {
    size_t clusters = 0, nodes = 0;
    for (size_t k = 1; k < page->items.count; k++) {
        const GraphItem *item = page->items.items[k];
        if (item->comp) put_box(page->out, item, "clust", ++clusters);
    }
    for (size_t k = 1; k < page->items.count; k++) {
        const GraphItem *item = page->items.items[k];
        if (!item->comp) put_box(page->out, item, "node", ++nodes);
    }
}

static void put_arrow(HloBuffer *out, const GraphEdge *edge, const GraphItem *from, const GraphItem *to,
                      size_t number) {
    static const char *const dashes[] = {[GRAPH_OPERAND] = "",
                                         [GRAPH_CONTROL] = " stroke-dasharray=\"2\"",
                                         [GRAPH_CALL] = " stroke-dasharray=\"6\"",
                                         [GRAPH_ROOT] = ""};
    double x1 = from->x + from->width / 2, y1 = from->y + from->height, x2 = to->x + to->width / 2, y2 = to->y;
    double bend = (y2 - y1) / 2 > 20 ? (y2 - y1) / 2 : 20;
    hlo_putf(out, "<g id=\"edge%zu\"><path d=\"M%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f\"%s/>", number, x1, y1, x1,
             y1 + bend, x2, y2 - bend - 6, x2, y2 - 6, dashes[edge->kind]);
    hlo_putf(out, "<polygon points=\"%.0f,%.0f %.0f,%.0f %.0f,%.0f\"/></g>\n", x2 - 4, y2 - 7, x2 + 4, y2 - 7, x2, y2);
}

static void put_arrows(Page *page) {
    for (size_t k = 0; k < page->edges.count; k++) {
        const GraphEdge *edge = page->edges.items[k];
        const GraphItem *from = start_of(page, edge), *to = end_of(page, edge);
        if (from && to) put_arrow(page->out, edge, from, to, k + 1);
    }
}

// The rules stand in the text for Graphviz between the sheet's own style and its end, with %23 for #.
static void put_rules(Page *page) {
    const char *p = strstr(page->dot.data, "font-size: 12px;\n  }\n"), *end = p ? strstr(p, "\n>\n") : NULL;
    if (!end) return;
    for (p = strstr(p, "}\n") + 2; p < end; p++) {
        if (strncmp(p, "%23", 3) == 0) {
            hlo_put_char(page->out, '#');
            p += 2;
        } else {
            hlo_put_char(page->out, *p);
        }
    }
}

// ---- the page -------------------------------------------------------------------------------------------

static const char style[] =
    "body{margin:0;font:12px Roboto,Helvetica,Arial,sans-serif}h1{font-size:14px;text-align:center;font-weight:bold}\n"
    "svg div{text-align:center;line-height:15px;overflow-wrap:anywhere;padding:0 6px}\n"
    "svg path{fill:none;stroke:#555}svg polygon{fill:#555;stroke:#555}\n";

// Zooms with the wheel, and offers the text for Graphviz as a file.
static const char script[] =
    "const svg = document.querySelector('svg');\n"
    "let scale = 1;\n"
    "svg.addEventListener('wheel', e => {\n"
    "  if (!e.ctrlKey) return;\n"
    "  e.preventDefault();\n"
    "  scale *= e.deltaY < 0 ? 1.1 : 1 / 1.1;\n"
    "  svg.style.width = svg.getAttribute('width') * scale + 'px';\n"
    "  svg.style.height = svg.getAttribute('height') * scale + 'px';\n"
    "}, {passive: false});\n"
    "document.getElementById('dot').addEventListener('click', async e => {\n"
    "  const bytes = Uint8Array.from(atob(dots_compressed), c => c.charCodeAt(0));\n"
    "  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));\n"
    "  const dots = JSON.parse(await new Response(stream).text());\n"
    "  e.target.href = URL.createObjectURL(new Blob([dots[0]], {type: 'text/vnd.graphviz'}));\n"
    "}, {once: true, capture: true});\n";

static HloStatus put_payload(Page *page, const char *name) {
    HloBuffer json = {0}, packed = {0};
    hlo_put_char(&json, '[');
    hlo_put_json_string(&json, (HloStringView){page->dot.data, page->dot.size});
    hlo_put_char(&json, ']');
    HloStatus status = hlo_buffer_status(&json);
    if (hlo_is_ok(status)) status = hlo_put_gzip(&packed, (HloStringView){json.data, json.size});
    if (hlo_is_ok(status)) {
        hlo_put_string(page->out, "const dots_compressed = \"");
        hlo_put_base64(page->out, (HloStringView){packed.data, packed.size});
        hlo_put_string(page->out, "\";\nconst frames = [[0, ");
        hlo_put_json_string(page->out, hlo_view(name));
        hlo_put_string(page->out, ", \"\"]];\n");
    }
    hlo_buffer_free(&json);
    hlo_buffer_free(&packed);
    return status;
}

static HloStatus put_document(Page *page) {
    HloBuffer *out = page->out;
    const char *name = hlo_arena_printf(&page->graph.scratch, "%s_%s", page->comp->m->name, page->comp->name);
    hlo_put_string(out, "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n<title>Fusion Explorer: ");
    graph_put_escaped(out, name, strlen(name));
    hlo_putf(out, "</title>\n<style>\n%s", style);
    put_rules(page);
    hlo_put_string(out, "</style>\n</head>\n<body>\n<h1>");
    graph_put_title(out, &page->graph);
    hlo_putf(out,
             "</h1>\n<a id=\"dot\" download=\"graph.dot\" href=\"#\">text for Graphviz</a>\n"
             "<svg width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n",
             page->picture->width, page->picture->height, page->picture->width, page->picture->height);
    put_boxes(page);
    put_arrows(page);
    hlo_put_string(out, "</svg>\n<script>\n");
    HLO_TRY(put_payload(page, name));
    hlo_putf(out, "%s</script>\n</body>\n</html>", script);
    return hlo_buffer_status(out);
}

static HloStatus put_page(void *data) {
    Page *page = data;
    graph_start(&page->graph, page->comp, page->options);
    page->item_of = HLO_NEW_ARRAY(&page->graph.scratch, GraphItem *, page->graph.number_limit);
    page->picture = page->current = add_item(page);
    graph_walk(&page->graph, &(GraphVisitor){page, begin_cluster, end_cluster, add_node, add_root_tag, add_edge});
    graph_arrange(&page->graph.scratch, page->picture);
    graph_place_items(&page->items);
    HLO_TRY(hlo_buffer_status(&page->text));
    return put_document(page);
}

HloStatus hlo_put_graph_page(HloBuffer *out, const HloComputation *comp, const HloGraphOptions *options) {
    Page page = {.comp = comp, .options = options, .out = out};
    HloStatus status = hlo_put_dot(&page.dot, comp, options);
    if (hlo_is_ok(status)) status = hlo_guarded((HloArena *const[]){&page.graph.scratch, NULL}, put_page, &page);
    hlo_buffer_free(&page.dot);
    hlo_buffer_free(&page.text);
    hlo_arena_free(&page.graph.scratch);
    return status;
}
