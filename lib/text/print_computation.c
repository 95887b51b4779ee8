// Computations, nested bodies included (printing chapter, §3 and §4).

#include "print.h"

#include <stdint.h>

// ---- one computation's own text -------------------------------------------------------------------------

// `(p0: f32[2], p1: (f32[], s32[2])) -> f32[2] `
static void put_signature(Printer *p, const HloComputation *comp) {
    HloBuffer *out = p->out;
    hlo_put_char(out, '(');
    for (size_t i = 0; i < hlo_parameter_count(comp); i++) {
        const HloInstruction *parameter = hlo_parameter(comp, i);
        if (i) hlo_put(out, ", ", 2);
        if (!parameter) continue;
        const char *name = *parameter->name ? parameter->name : "(unknown)";
        hlo_put(out, name, p->options.ids ? strlen(name) : strcspn(name, "."));
        hlo_put(out, ": ", 2);
        hlo_put_shape(out, parameter->shape, false);
    }
    hlo_put_string(out, ") -> ");
    if (comp->root) hlo_put_shape(out, comp->root->shape, false);
    hlo_put_char(out, ' ');
}

static void open_computation(Printer *p, const HloComputation *comp, Heading heading) {
    hlo_put_spaces(p->out, 2 * (size_t)p->indent);
    if (heading != HEADING_NONE) {
        if (heading == HEADING_ENTRY) hlo_put_string(p->out, "ENTRY ");
        if (p->options.percent) hlo_put_char(p->out, '%');
        if (p->options.ids) {
            hlo_put_string(p->out, comp->name);
            hlo_put_char(p->out, ' ');
        }
    }
    if (p->options.program_shape) put_signature(p, comp);
    hlo_put(p->out, "{\n", 2);
}

static void close_computation(Printer *p, const HloComputation *comp) {
    enum { NAMED_FROM = 5 };
    hlo_put_spaces(p->out, 2 * (size_t)p->indent);
    hlo_put_char(p->out, '}');
    if (p->options.ids && comp->execution_thread && strcmp(comp->execution_thread, "main") != 0) {
        hlo_put_string(p->out, ", execution_thread=");
        hlo_put_bare(p->out, comp->execution_thread);
    }
    if (p->options.name_after_closing_brace && comp->count > NAMED_FROM) {
        hlo_put_string(p->out, " // ");
        hlo_put_string(p->out, comp->name);
    }
}

// ---- the loop over lines and bodies ---------------------------------------------------------------------

// A computation being printed, and the place in it.
typedef struct Frame {
    const HloComputation *comp;
    HloInstList order;
    size_t at;     // the next instruction of the order
    bool in_line;  // `line` is unfinished: a body is being printed in its middle
    Line line;
    CanonicalNames names;
} Frame;

// A body behind a callee's key is not printed in its schedule's order.
static HloInstList order_of(const HloComputation *comp, Heading heading, HloArena *scratch) {
    if (heading != HEADING_NONE && comp->sequence && comp->sequence_count)
        return (HloInstList){comp->sequence, comp->sequence_count};
    return hlo_post_order(comp, scratch);
}

static Frame *open_frame(Printer *p, HloVec *stack, const HloComputation *comp, Heading heading) {
    Frame *frame = HLO_NEW(p->scratch, Frame);
    frame->comp = comp;
    frame->order = order_of(comp, heading, p->scratch);
    if (p->options.canonical_names) frame->names.numbers = HLO_NEW_ARRAY(p->scratch, uint32_t, comp->id_limit);
    open_computation(p, comp, heading);
    hlo_vec_push(p->scratch, stack, frame);
    p->indent++;
    p->names = &frame->names;
    return frame;
}

static void close_frame(Printer *p, HloVec *stack) {
    Frame *frame = hlo_vec_pop(stack);
    p->indent--;
    close_computation(p, frame->comp);
    p->names = stack->count ? &((Frame *)stack->items[stack->count - 1])->names : NULL;
}

static bool is_hidden(const Printer *p, const Frame *frame, const HloInstruction *inst) {
    return p->options.compact_gte && inst->op == HLO_OP_GET_TUPLE_ELEMENT && inst != frame->comp->root;
}

// Lets go of what is printed. The places of shapes in it are then no more.
static void drain(Printer *p) {
    if (!p->out->drain || p->out->size < HLO_DRAIN_BYTES || p->size_limit != SIZE_MAX) return;
    hlo_buffer_drain_now(p->out);
    if (p->spots) memset(p->spots, 0, SHAPE_SPOTS * sizeof *p->spots);
}

// Prints lines until the computation ends (NULL) or a body is due.
static const HloComputation *put_lines(Printer *p, Frame *frame) {
    for (;;) {
        if (!frame->in_line) {
            if (frame->at == frame->order.count) return NULL;
            const HloInstruction *inst = frame->order.items[frame->at++];
            if (is_hidden(p, frame, inst)) continue;
            if (p->indent == 1)  // nearly all lines
                hlo_put(p->out, "  ", 2);
            else
                hlo_put_spaces(p->out, 2 * (size_t)p->indent);
            if (inst == frame->comp->root) hlo_put(p->out, "ROOT ", 5);
            hlo_line_begin(p, &frame->line, inst);
        }
        const HloComputation *body = hlo_line_continue(p, &frame->line);
        frame->in_line = body != NULL;
        if (body) return body;
        hlo_put_char(p->out, '\n');
        drain(p);
    }
}

void hlo_put_computation(Printer *p, const HloComputation *comp, Heading heading) {
    HloVec stack = {0};
    Frame *frame = open_frame(p, &stack, comp, heading);
    while (frame) {
        const HloComputation *body = put_lines(p, frame);
        if (p->out->size > p->size_limit) p->out->failed = true;
        if (p->out->failed) return;
        if (body) {
            frame = open_frame(p, &stack, body, HEADING_NONE);
        } else {
            close_frame(p, &stack);
            frame = stack.count ? stack.items[stack.count - 1] : NULL;
        }
    }
}
