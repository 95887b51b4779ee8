// Pictures of computations: text for Graphviz, and pages with a drawing (graph chapter).
#ifndef HLO_GRAPH_H
#define HLO_GRAPH_H

#include "hlo/module.h"

typedef struct HloGraphOptions {
    const char *title;        // first line of the picture's title
    bool fusions;             // draw what fusions hold
    bool while_bodies;        // draw conditions and bodies of loops
    bool backend_config;      // show backend configs
    bool addresses;           // show the addresses of instructions
    bool colour_by_sharding;  // a colour for each sharding instead of each kind of operation
} HloGraphOptions;

// As dumps draw: fusions and loops in full, nothing else.
HloGraphOptions hlo_graph_default(void);

// Appends the text of a computation for `dot`, called computations drawn inside. Linear in the size of what is drawn.
HLO_MUST_USE HloStatus hlo_put_dot(HloBuffer *out, const HloComputation *comp, const HloGraphOptions *options);
// Appends an HTML page that shows the same graph without network: a drawing of our own, and the text for `dot` for
// other viewers.
HLO_MUST_USE HloStatus hlo_put_graph_page(HloBuffer *out, const HloComputation *comp, const HloGraphOptions *options);

#endif
