// The words in boxes, clusters and tooltips (graph chapter, §4).
//
// Names, attributes and shapes of a module may hold whatever a file holds: everything is escaped, so that labels stay
// labels for Graphviz and in pages.

#include "lib/graph/graph.h"

enum {
    SHAPE_TEXT = 64,        // longer shapes are cut
    SHOWN_LITERAL = 8,      // elements of a constant that is written out
    INLINED_OPERANDS = 32,  // lines for operands without a box
    LONG_LIST = 128,        // longer lists of devices are cut
    CALL_STEPS = 1000,      // instructions looked through for the producer of a parameter
};

// ---- escaping -------------------------------------------------------------------------------------------

void graph_put_escaped(HloBuffer *out, const char *text, size_t size) {
    for (size_t k = 0; k < size; k++) {
        switch (text[k]) {
        case '<': hlo_put_string(out, "&lt;"); break;
        case '>': hlo_put_string(out, "&gt;"); break;
        case '"': hlo_put_string(out, "&quot;"); break;
        case '&': hlo_put_string(out, "&amp;"); break;
        default: hlo_put_char(out, (unsigned char)text[k] < ' ' && text[k] != '\n' ? ' ' : text[k]);
        }
    }
}

static void put_text(HloBuffer *out, const char *text) {
    graph_put_escaped(out, text, strlen(text));
}

static void put_break(HloBuffer *out) {
    hlo_put_string(out, "<br/>");
}

static void put_cut(HloBuffer *out, const char *text, size_t limit) {
    size_t size = strlen(text);
    graph_put_escaped(out, text, size > limit ? limit - 3 : size);
    if (size > limit) hlo_put_string(out, "...");
}

// ---- first lines ----------------------------------------------------------------------------------------

static const char *fusion_kind(const HloInstruction *inst) {
    return hlo_enum_word(HLO_ENUM_FUSION_KIND, hlo_int(inst, HLO_ATTR_FUSION_KIND));
}

static void put_label(HloBuffer *out, const HloInstruction *inst) {
    if (inst->op == HLO_OP_PARAMETER) {
        hlo_putf(out, "<b>Parameter %lld</b>", (long long)hlo_parameter_number(inst));
        return;
    }
    const char *opcode = hlo_op_info(inst->op)->name;
    hlo_put_string(out, "<b>");
    put_text(out, inst->name);
    hlo_put_string(out, "</b>");
    if (strncmp(inst->name, opcode, strlen(opcode)) == 0) return;
    put_break(out);
    put_text(out, opcode);
    if (inst->op == HLO_OP_FUSION) hlo_putf(out, ":%s", fusion_kind(inst));
}

static void put_trivial_callees(HloBuffer *out, const HloInstruction *inst) {
    if (inst->op == HLO_OP_FUSION) return;
    for (size_t k = 0; k < inst->called.count; k++) {
        const char *word = graph_trivial_word(hlo_called(inst, k));
        if (!word) continue;
        put_break(out);
        hlo_put_string(out, "Subcomputation");
        if (inst->called.count > 1) hlo_putf(out, " %zu", k);
        hlo_putf(out, ": <b>%s</b>", word);
    }
}

// ---- where a parameter comes from -----------------------------------------------------------------------

// The value behind moves and calls; an element of a tuple is found through the tuple.
static const HloInstruction *producer(HloArena *scratch, const HloInstruction *inst) {
    HloInts index = {0};
    for (int step = 0; step < CALL_STEPS; step++) {
        if (inst->op == HLO_OP_BITCAST || inst->op == HLO_OP_COPY) {
            inst = hlo_operand(inst, 0);
        } else if (inst->op == HLO_OP_GET_TUPLE_ELEMENT) {
            hlo_ints_push(scratch, &index, hlo_int(inst, HLO_ATTR_INDEX));
            inst = hlo_operand(inst, 0);
        } else if (inst->op == HLO_OP_TUPLE && index.count) {
            size_t at = (size_t)index.items[--index.count];
            if (at >= hlo_operand_count(inst)) return inst;
            inst = hlo_operand(inst, at);
        } else if (inst->op == HLO_OP_CALL && inst->called.count) {
            inst = hlo_called(inst, 0)->root;
        } else {
            return inst;
        }
    }
    return inst;
}

static void put_parameter_source(Graph *g, HloBuffer *out, const HloInstruction *inst) {
    const HloComputation *comp = inst->comp;
    if (inst->op != HLO_OP_PARAMETER || comp->callers.count != 1) return;
    const HloInstruction *caller = comp->callers.items[0];
    size_t number = (size_t)hlo_parameter_number(inst);
    if (caller->op != HLO_OP_CALL || number >= hlo_operand_count(caller)) return;
    const HloInstruction *from = producer(&g->scratch, hlo_operand(caller, number));
    put_break(out);
    hlo_put_string(out, "<i>from ");
    put_text(out, from->name);
    hlo_put_string(out, " in ");
    put_text(out, from->comp == comp->m->entry ? "the ENTRY computation" : from->comp->name);
    hlo_put_string(out, "</i>");
}

// ---- attributes -----------------------------------------------------------------------------------------

static bool begins_with(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_list_of_devices(const char *line) {
    return begins_with(line, "replica_groups=") || begins_with(line, "source_target_pairs=") ||
           begins_with(line, "control-predecessors=");
}

static void put_attribute(HloBuffer *out, const char *line) {
    bool bold = begins_with(line, "feature_group_count=");
    put_break(out);
    if (bold) hlo_put_string(out, "<b>");
    put_cut(out, line, is_list_of_devices(line) ? LONG_LIST : SIZE_MAX);
    if (bold) hlo_put_string(out, "</b>");
}

static void put_attributes(Graph *g, HloBuffer *out, const HloInstruction *inst) {
    HloBuffer lines = {0};
    hlo_print_attributes(inst, &g->print, &g->scratch, &lines);
    out->failed |= lines.failed;
    for (char *line = lines.size ? lines.data + 1 : NULL; line;) {
        char *end = strchr(line, '\n');
        if (end) *end = 0;
        put_attribute(out, line);
        line = end ? end + 1 : NULL;
    }
    hlo_buffer_free(&lines);
}

// With its layout when that says something: an array of more than one dimension, in a tuple or not.
static bool shows_layout(const HloInstruction *inst) {
    if (inst->op == HLO_OP_TUPLE) return false;
    if (!hlo_shape_is_tuple(inst->shape)) return inst->shape->rank > 1;
    for (size_t k = 0; k < inst->shape->rank; k++) {
        const HloShape *element = inst->shape->elements[k];
        if (hlo_shape_is_tuple(element) || element->rank > 1) return true;
    }
    return false;
}

static void put_shape(Graph *g, HloBuffer *out, const HloInstruction *inst) {
    put_break(out);
    put_cut(out, hlo_shape_text(&g->scratch, inst->shape, shows_layout(inst)), SHAPE_TEXT);
}

static void put_extra(Graph *g, HloBuffer *out, const HloInstruction *inst, bool with_shape) {
    put_parameter_source(g, out, inst);
    put_attributes(g, out, inst);
    if (with_shape) put_shape(g, out, inst);
    if (g->options->addresses) hlo_putf(out, "<br/>[%p]", (const void *)inst);
}

static void put_backend_config(Graph *g, HloBuffer *out, const HloInstruction *inst) {
    const char *config = hlo_text(inst, HLO_ATTR_BACKEND_CONFIG);
    if (!g->options->backend_config || !*config) return;
    hlo_put_string(out, "<br/>backend_config=&quot;");
    put_text(out, config);
    hlo_put_string(out, "&quot;");
}

// ---- operands without a box -----------------------------------------------------------------------------

static void put_constant(Graph *g, HloBuffer *out, const HloInstruction *inst, const HloShape *shape) {
    const HloLiteral *literal = hlo_constant(inst);
    const char *shape_text = hlo_shape_text(&g->scratch, inst->shape, false);
    bool is_array = hlo_shape_is_array(inst->shape);
    if (is_array && hlo_shape_is_empty(inst->shape)) {
        hlo_put_string(out, "{} (");
        put_text(out, shape_text);
        hlo_put_char(out, ')');
        return;
    }
    if (literal && is_array && !literal->elided && hlo_shape_elem_count(inst->shape) <= SHOWN_LITERAL) {
        HloBuffer value = {0};
        hlo_putf(&value, "%s ", hlo_shape_text(&g->scratch, shape, false));
        hlo_put_literal(&value, literal);
        out->failed |= value.failed;
        bool fits = value.size <= SHAPE_TEXT;
        if (fits && value.data) put_text(out, value.data);
        hlo_buffer_free(&value);
        if (fits) return;
    }
    if (!begins_with(inst->name, "constant")) hlo_put_string(out, "constant ");
    put_text(out, inst->name);
    hlo_put_char(out, ' ');
    put_text(out, shape_text);
}

static void put_element(Graph *g, HloBuffer *out, const HloInstruction *element) {
    hlo_putf(out, "tuple-element %lld of ", (long long)hlo_int(element, HLO_ATTR_INDEX));
    put_text(out, hlo_operand(element, 0)->name);
    hlo_put_char(out, ' ');
    put_text(out, hlo_shape_text(&g->scratch, element->shape, true));
}

// What stands for an operand that has no box; false when it has one.
static bool put_operand(Graph *g, HloBuffer *out, const HloInstruction *operand) {
    const HloInstruction *constant = graph_parameter_constant(operand);
    if (operand->op == HLO_OP_CONSTANT) constant = operand;
    if (constant)
        put_constant(g, out, constant, constant->shape);
    else if (graph_is_fused_splat(operand) && !hlo_is_root(operand))
        put_constant(g, out, hlo_operand(operand, 0), operand->shape);
    else if (graph_is_merged_tuple_parameter(g, operand))
        hlo_putf(out, "Parameter %lld", (long long)hlo_parameter_number(operand));
    else if (operand->op == HLO_OP_GET_TUPLE_ELEMENT)
        put_element(g, out, operand);
    else
        return false;
    return true;
}

static void put_operands(Graph *g, HloBuffer *out, const HloInstruction *inst) {
    const HloInstruction *outer = graph_outer_operand(inst);
    if (outer && outer->op == HLO_OP_GET_TUPLE_ELEMENT) {
        put_break(out);
        put_element(g, out, outer);
    }
    size_t lines = 0, count = hlo_operand_count(inst);
    for (size_t k = 0; k < count; k++) {
        size_t start = out->size;
        if (lines == INLINED_OPERANDS) {
            hlo_put_string(out, "<br/>...");
            return;
        }
        hlo_put_string(out, "<br/><b>operand");
        if (count > 1) hlo_putf(out, " %zu", k);
        hlo_put_string(out, "</b> = ");
        if (put_operand(g, out, hlo_operand(inst, k)))
            lines++;
        else
            out->size = start;
    }
}

// ---- whole texts ----------------------------------------------------------------------------------------

void graph_put_node_text(Graph *g, HloBuffer *out, const HloInstruction *inst) {
    put_label(out, inst);
    put_trivial_callees(out, inst);
    put_extra(g, out, inst, true);
    put_operands(g, out, inst);
    put_backend_config(g, out, inst);
}

static const char *fusion_category(const HloInstruction *inst) {
    const char *kind = fusion_kind(inst);
    if (strcmp(kind, "kInput") == 0) return "input fusion";
    if (strcmp(kind, "kOutput") == 0) return "output fusion";
    return strcmp(kind, "kCustom") == 0 ? "custom fusion" : "loop fusion";
}

void graph_put_cluster_text(Graph *g, HloBuffer *out, const HloInstruction *caller, const HloComputation *comp) {
    bool is_fusion = caller->op == HLO_OP_FUSION;
    hlo_put_string(out, is_fusion ? "Fused expression for <b>" : "Subcomputation for <b>");
    put_text(out, caller->name);
    hlo_put_string(out, "</b><br/>");
    put_text(out, is_fusion ? fusion_category(caller) : comp->name);
    if (!is_fusion) return;
    put_extra(g, out, caller, false);
    put_backend_config(g, out, caller);
}

void graph_put_title(HloBuffer *out, const Graph *g) {
    const HloComputation *comp = g->shown;
    put_text(out, g->options->title);
    hlo_put_string(out, "<br/>Computation ");
    put_text(out, comp->name);
    const HloInstruction *fusion = hlo_fusion_caller(comp);
    if (fusion) {
        hlo_put_string(out, " (in fusion instruction ");
        put_text(out, fusion->name);
        hlo_put_char(out, ')');
    } else if (comp == comp->m->entry) {
        hlo_put_string(out, "<br/>ENTRY computation");
    } else if (comp->callers.count) {
        hlo_put_string(out, "<br/>Caller instructions: ");
        for (size_t k = 0; k < comp->callers.count; k++) {
            if (k) hlo_put_string(out, ", ");
            put_text(out, ((const HloInstruction *)comp->callers.items[k])->name);
        }
    }
}

// ---- tooltips -------------------------------------------------------------------------------------------

// Names of files and functions keep `<` and `>`; what would end the tooltip is escaped.
static void put_plain(HloBuffer *out, const char *text) {
    for (const char *p = text; *p; p++) {
        if (*p == '"')
            hlo_put_string(out, "&quot;");
        else if (*p == '\\')
            hlo_put_string(out, "\\\\");
        else
            hlo_put_char(out, (unsigned char)*p < ' ' ? ' ' : *p);
    }
}

static const char *name_at(const char *const *names, size_t count, int32_t id) {
    return id > 0 && (size_t)id <= count ? names[id - 1] : "";
}

static void put_location(HloBuffer *out, const HloFrames *frames, const HloFileLocation *location) {
    if (out->size) hlo_put_char(out, '\n');
    put_plain(out, name_at(frames->file_names, frames->file_name_count, location->file_name_id));
    hlo_put_char(out, ':');
    put_plain(out, name_at(frames->function_names, frames->function_name_count, location->function_name_id));
    hlo_putf(out, ":%d", location->line);
    if (location->column) hlo_putf(out, ":%d", location->column);
}

// From the innermost frame outward. A table with a cycle ends after as many steps as it has frames.
static void put_frames(HloBuffer *out, const HloFrames *frames, int64_t id) {
    for (size_t steps = 0; id > 0 && (size_t)id <= frames->frame_count && steps < frames->frame_count; steps++) {
        const HloStackFrame *frame = &frames->frames[id - 1];
        int64_t at = frame->file_location_id;
        id = frame->parent_frame_id;
        if (at > 0 && (size_t)at <= frames->location_count) put_location(out, frames, &frames->locations[at - 1]);
    }
}

static void put_source(HloBuffer *out, const HloMetadata *metadata) {
    if (!metadata->source_file || !*metadata->source_file || !metadata->source_line) return;
    hlo_put_string(out, out->size ? "\nsource: " : "source: ");
    put_plain(out, metadata->source_file);
    hlo_putf(out, ":%d", metadata->source_line);
}

void graph_put_origin(HloBuffer *out, const HloInstruction *inst) {
    const HloMetadata *metadata = hlo_data(inst, HLO_ATTR_METADATA);
    if (!metadata) return;
    HloBuffer text = {0};
    if (metadata->op_name) put_text(&text, metadata->op_name);
    if (metadata->op_type && *metadata->op_type) {
        hlo_put_string(&text, text.size ? "\nop_type: " : "op_type: ");
        put_text(&text, metadata->op_type);
    }
    put_source(&text, metadata);
    put_frames(&text, &inst->comp->m->frames, metadata->stack_frame_id);
    out->failed |= text.failed;
    if (text.size) hlo_put(out, text.data, text.size);
    hlo_buffer_free(&text);
}
