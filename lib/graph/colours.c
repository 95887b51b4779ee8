// The colours of boxes (graph chapter, §6).

#include "lib/graph/graph.h"

typedef enum Colour {
    BLUE,
    BROWN,
    DARK_BLUE,
    DARK_GREEN,
    DARK_ORANGE,
    DARK_RED,
    GRAY,
    GREEN,
    ORANGE,
    PURPLE,
    RED,
    WHITE,
    YELLOW,
    DASHED,  // after those that shardings take in turn
} Colour;

static const GraphColours schemes[] = {
    [BLUE] = {"filled", "#bbdefb", "#8aacc8", "black"},
    [BROWN] = {"filled", "#bcaaa4", "#8c7b75", "black"},
    [DARK_BLUE] = {"filled", "#1565c0", "#003c8f", "white"},
    [DARK_GREEN] = {"filled", "#2e7d32", "#005005", "white"},
    [DARK_ORANGE] = {"filled", "#ffb74d", "#c88719", "black"},
    [DARK_RED] = {"filled", "#b71c1c", "#7f0000", "white"},
    [GRAY] = {"filled", "#cfd8dc", "#9ea7aa", "black"},
    [GREEN] = {"filled", "#c8e6c9", "#97b498", "black"},
    [ORANGE] = {"filled", "#ffe0b2", "#cbae82", "black"},
    [PURPLE] = {"filled", "#e1bee7", "#af8eb5", "black"},
    [RED] = {"filled", "#ffcdd2", "#cb9ca1", "black"},
    [WHITE] = {"filled", "white", "#9e9e9e", "black"},
    [YELLOW] = {"filled", "#fff9c4", "#cbc693", "black"},
    [DASHED] = {"filled,dashed", "white", "#757575", "#757575"},
};

static Colour opcode_colour(Graph *g, const HloInstruction *inst) {
    switch (inst->op) {
    case HLO_OP_BROADCAST:
    case HLO_OP_DYNAMIC_UPDATE_SLICE: return YELLOW;
    case HLO_OP_CONCATENATE:
    case HLO_OP_DYNAMIC_SLICE:
    case HLO_OP_RESHAPE:
    case HLO_OP_DYNAMIC_RESHAPE:
    case HLO_OP_REVERSE:
    case HLO_OP_TRANSPOSE:
    case HLO_OP_COPY:
    case HLO_OP_COPY_START:
    case HLO_OP_COPY_DONE: return GREEN;
    case HLO_OP_BITCAST: return hlo_is_fusion_computation(inst->comp) ? GREEN : WHITE;
    case HLO_OP_CONVOLUTION:
    case HLO_OP_DOT:
    case HLO_OP_RAGGED_DOT:
    case HLO_OP_SCALED_DOT:
    case HLO_OP_FFT:
    case HLO_OP_TRIANGULAR_SOLVE:
    case HLO_OP_CHOLESKY: return DARK_BLUE;
    case HLO_OP_PARAMETER: return graph_is_small(g, inst->shape) ? ORANGE : DARK_ORANGE;
    case HLO_OP_BATCH_NORM_GRAD:
    case HLO_OP_BATCH_NORM_INFERENCE:
    case HLO_OP_BATCH_NORM_TRAINING:
    case HLO_OP_REDUCE:
    case HLO_OP_REDUCE_WINDOW:
    case HLO_OP_SCAN:
    case HLO_OP_SCATTER:
    case HLO_OP_SELECT_AND_SCATTER:
    case HLO_OP_GATHER: return PURPLE;
    case HLO_OP_DOMAIN:
    case HLO_OP_FUSION:
    case HLO_OP_MAP:
    case HLO_OP_GET_DIMENSION_SIZE:
    case HLO_OP_SET_DIMENSION_SIZE: return GRAY;
    case HLO_OP_ALL_GATHER:
    case HLO_OP_ALL_GATHER_START:
    case HLO_OP_ALL_GATHER_DONE:
    case HLO_OP_ALL_REDUCE:
    case HLO_OP_ALL_REDUCE_START:
    case HLO_OP_ALL_REDUCE_DONE:
    case HLO_OP_ALL_TO_ALL:
    case HLO_OP_COLLECTIVE_BROADCAST:
    case HLO_OP_COLLECTIVE_PERMUTE:
    case HLO_OP_COLLECTIVE_PERMUTE_START:
    case HLO_OP_COLLECTIVE_PERMUTE_DONE:
    case HLO_OP_RAGGED_ALL_TO_ALL:
    case HLO_OP_REDUCE_SCATTER:
    case HLO_OP_INFEED:
    case HLO_OP_OUTFEED:
    case HLO_OP_SEND:
    case HLO_OP_SEND_DONE:
    case HLO_OP_RECV:
    case HLO_OP_RECV_DONE:
    case HLO_OP_PARTITION_ID:
    case HLO_OP_REPLICA_ID: return BROWN;
    case HLO_OP_CALL:
    case HLO_OP_CONDITIONAL:
    case HLO_OP_CUSTOM_CALL:
    case HLO_OP_WHILE: return DARK_GREEN;
    default: return WHITE;
    }
}

// An async operation has the colour of what it wraps.
static const HloInstruction *wrapped(const HloInstruction *inst) {
    bool is_async = inst->op == HLO_OP_ASYNC_START || inst->op == HLO_OP_ASYNC_UPDATE || inst->op == HLO_OP_ASYNC_DONE;
    return is_async && inst->called.count ? hlo_called(inst, 0)->root : inst;
}

static bool has_merged_parameter(Graph *g, const HloInstruction *inst) {
    for (size_t k = 0; k < hlo_operand_count(inst); k++) {
        if (graph_is_merged_tuple_parameter(g, hlo_operand(inst, k))) return true;
    }
    return false;
}

// Shardings take the schemes in turn, in order of appearance.
static Colour sharding_colour(Graph *g, const HloInstruction *inst) {
    const HloSharding *sharding = hlo_data(inst, HLO_ATTR_SHARDING);
    if (!sharding) return DASHED;
    HloBuffer text = {0};
    hlo_put_sharding(&text, sharding, HLO_SHARDING_BARE);
    HloStringView view = {text.data ? text.data : "", text.size};
    void **place = hlo_map_at_text(&g->scratch, &g->sharding_colours, view.data, view.size, NULL);
    hlo_buffer_free(&text);
    if (!*place) *place = (void *)(uintptr_t)g->sharding_colours.count;
    return (Colour)(((uintptr_t)*place - 1) % DASHED);
}

GraphColours graph_colours(Graph *g, const HloInstruction *inst) {
    if (g->options->colour_by_sharding) return schemes[sharding_colour(g, inst)];
    if (has_merged_parameter(g, inst)) return schemes[graph_is_small(g, inst->shape) ? ORANGE : DARK_ORANGE];
    return schemes[opcode_colour(g, wrapped(inst))];
}

GraphColours graph_root_colours(void) {
    return schemes[BROWN];
}
