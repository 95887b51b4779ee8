// Places for the boxes of a picture. Private to lib/graph.
//
// Boxes stand in rows by the length of the longest way to them, each close to the middle of what leads to it; a cluster
// is a box whose inside is laid out the same way. Time and memory are linear in boxes and arrows, up to sorting rows.
#ifndef HLO_GRAPH_LAYOUT_H
#define HLO_GRAPH_LAYOUT_H

#include "lib/graph/graph.h"

typedef struct GraphItem GraphItem;
struct GraphItem {
    GraphItem *parent;           // the cluster around it; NULL: the picture
    const HloInstruction *inst;  // a box's; NULL: a cluster or the tag ROOT
    const HloComputation *comp;  // a cluster's; NULL: a box
    const char *text;            // markup: lines joined by <br/>, with <b> and <i>
    const char *tooltip;
    GraphColours colours;
    double x, y, width, height;  // in pixels; relative to the parent until graph_place_items is done
    HloVec children;             // a cluster's, in order
    HloVec before;               // GraphItem *: siblings that arrows lead from
    size_t level;                // row
    double wish;                 // where its middle should be
};

// Sets the size of a box by its text.
void graph_size_item(GraphItem *item);
// Lays out the inside of a cluster whose children have sizes, and sets its own size.
void graph_arrange(HloArena *scratch, GraphItem *cluster);
// Makes positions absolute; `items` has every item behind its parent.
void graph_place_items(const HloVec *items);

#endif
