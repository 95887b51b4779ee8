// Whole modules: the header line, the order of computations, and the public entry points (printing chapter,
// §1 to §3).

#include <stdlib.h>

#include "lexer.h"
#include "print.h"

// ---- header line (§2) -----------------------------------------------------------------------------------

static void put_input_output_alias(HloBuffer *out, const HloModule *m) {
    if (!m->input_output_alias.count) return;
    hlo_put_string(out, ", input_output_alias={ ");
    for (size_t i = 0; i < m->input_output_alias.count; i++) {
        const HloAlias *alias = &m->input_output_alias.items[i];
        if (i) hlo_put(out, ", ", 2);
        hlo_put_alias(out, alias, alias->must ? ", must-alias" : ", may-alias");
    }
    hlo_put(out, " }", 2);
}

static void put_buffer_donor(HloBuffer *out, const HloModule *m) {
    if (!m->buffer_donor.count) return;
    hlo_put_string(out, ", buffer_donor={ ");
    for (size_t i = 0; i < m->buffer_donor.count; i++) {
        const HloAlias *donor = &m->buffer_donor.items[i];
        hlo_put_string(out, i ? ", (" : "(");
        hlo_put_int(out, donor->parameter);
        hlo_put(out, ", ", 2);
        hlo_put_dims(out, donor->input);
        hlo_put_char(out, ')');
    }
    hlo_put(out, " }", 2);
}

// `{(P0, P1)->R}` with layouts and, in every preset, an index before each fifth parameter.
static void put_entry_layout(HloBuffer *out, const HloModule *m) {
    enum { INDEX_INTERVAL = 5 };
    if (!m->entry_result) return;
    hlo_put_string(out, ", entry_computation_layout={(");
    for (size_t i = 0; i < m->entry_param_count; i++) {
        if (i) hlo_put(out, ", ", 2);
        if (i && i % INDEX_INTERVAL == 0) {
            hlo_put_string(out, "/*index=");
            hlo_put_uint(out, i);
            hlo_put(out, "*/", 2);
        }
        hlo_put_shape(out, m->entry_params[i], true);
    }
    hlo_put(out, ")->", 3);
    hlo_put_shape(out, m->entry_result, true);
    hlo_put_char(out, '}');
}

// A list of flags, unless it is the single false that an absent list means.
static void put_flags(HloBuffer *out, const char *key, HloDims flags) {
    if (!flags.count || (flags.count == 1 && !flags.data[0])) return;
    hlo_put_string(out, key);
    for (size_t i = 0; i < flags.count; i++) {
        if (i) hlo_put_char(out, ',');
        hlo_put_string(out, flags.data[i] ? "true" : "false");
    }
    hlo_put_char(out, '}');
}

static void put_count(HloBuffer *out, const char *key, int64_t count) {
    if (count == 1) return;
    hlo_put_string(out, key);
    hlo_put_int(out, count);
}

// Keywords and types are names only behind a `%`.
static void put_module_name(HloBuffer *out, const char *name) {
    HloToken token = hlo_lex_start((HloStringView){name, strlen(name)}).token;
    bool is_keyword = (token.kind >= HLO_TOK_TYPE && token.kind <= HLO_TOK_UNREDUCED) || token.kind == HLO_TOK_NAN;
    if (is_keyword && token.size == strlen(name)) hlo_put_char(out, '%');
    hlo_put_string(out, name);
}

static void put_header(Printer *p, const HloModule *m) {
    HloBuffer *out = p->out;
    hlo_put_spaces(out, 2 * (size_t)p->indent);
    hlo_put_string(out, "HloModule ");
    if (p->options.ids) put_module_name(out, m->name);
    if (m->is_scheduled) hlo_put_string(out, ", is_scheduled=true");
    put_input_output_alias(out, m);
    put_buffer_donor(out, m);
    if (m->alias_passthrough_params) hlo_put_string(out, ", alias_passthrough_params=true");
    put_entry_layout(out, m);
    put_flags(out, ", allow_spmd_sharding_propagation_to_parameters={", m->spmd_to_parameters);
    put_flags(out, ", allow_spmd_sharding_propagation_to_output={", m->spmd_to_output);
    put_count(out, ", replica_count=", m->replica_count);
    put_count(out, ", num_partitions=", m->num_partitions);
    if (m->frontend_attributes.count) {
        hlo_put_string(out, ", frontend_attributes=");
        hlo_put_string_map(out, &m->frontend_attributes);
    }
    if (m->recovery_count) hlo_put_recovery_table(p, m);
    if (m->debug_row_count) hlo_put_debug_rows(out, m);
    const HloFrames *frames = &m->frames;
    bool has_frames =
        frames->file_name_count || frames->function_name_count || frames->location_count || frames->frame_count;
    if (has_frames && p->options.metadata) hlo_put_frames(out, frames);
}

// ---- canonical order (§1.1) -----------------------------------------------------------------------------

// A computation whose callees are being emitted, and how far the walk over its calls has come.
typedef struct Walk {
    HloComputation *comp;
    const HloInstruction *inst;
    size_t slot;
} Walk;

// The next callee that was not entered yet, or NULL.
static HloComputation *next_callee(Walk *walk, HloBits entered) {
    for (; walk->inst; walk->inst = walk->inst->next, walk->slot = 0) {
        while (walk->slot < walk->inst->called.count) {
            HloComputation *callee = hlo_called(walk->inst, walk->slot++);
            if (hlo_bits_claim(entered, callee->id)) return callee;
        }
    }
    return NULL;
}

static int compare_places(const void *left, const void *right) {
    const HloComputation *a = *(HloComputation *const *)left, *b = *(HloComputation *const *)right;
    const uint32_t *places = a->m->message_places;
    return (places[a->id] > places[b->id]) - (places[a->id] < places[b->id]);
}

// List order, or that of the protocol buffer as long as the module has no other computations.
static HloCompList given_order(const HloModule *m, HloArena *scratch) {
    HloCompList list = hlo_module_list(m, scratch);
    bool placed = m->message_places != NULL;
    for (size_t i = 0; i < list.count; i++) placed = placed && list.items[i]->id < m->message_place_count;
    if (placed && list.count > 1) qsort(list.items, list.count, sizeof *list.items, compare_places);
    return list;
}

// As given, except that a computation's callees come before it. That of a parsed module is in this order already.
static HloCompList canonical_order(const HloModule *m, HloArena *scratch) {
    HloCompList given = given_order(m, scratch);
    HloCompList order = {HLO_NEW_ARRAY(scratch, HloComputation *, m->count), 0};
    HloBits entered = hlo_bits_new(scratch, m->computation_id_limit);
    HloVec stack = {0};
    for (size_t i = 0; i < given.count; i++) {
        HloComputation *start = given.items[i], *comp = hlo_bits_claim(entered, start->id) ? start : NULL;
        while (comp || stack.count) {
            if (comp) {
                Walk *walk = HLO_NEW(scratch, Walk);
                *walk = (Walk){comp, comp->first, 0};
                hlo_vec_push(scratch, &stack, walk);
            }
            Walk *top = stack.items[stack.count - 1];
            comp = next_callee(top, entered);
            if (!comp) order.items[order.count++] = ((Walk *)hlo_vec_pop(&stack))->comp;
        }
    }
    return order;
}

// ---- the module -----------------------------------------------------------------------------------------

// With async sugar a computation that only async-starts call has no text of its own (§3.2). Others name it.
static bool is_folded(const Printer *p, const HloComputation *comp) {
    if (!p->options.async_sugar || comp == comp->m->entry) return false;
    for (size_t i = 0; i < comp->callers.count; i++) {
        const HloInstruction *caller = comp->callers.items[i];
        if (caller->op != HLO_OP_ASYNC_START || !hlo_takes_sugar(caller)) return false;
    }
    return comp->callers.count > 0;
}

static void put_module(Printer *p, const HloModule *m) {
    put_header(p, m);
    hlo_put(p->out, "\n\n", 2);
    bool canonical = p->options.canonical_computation_order;
    HloCompList order = canonical ? canonical_order(m, p->scratch) : hlo_module_print_order(m, p->scratch);
    for (size_t i = 0; i < order.count; i++) {
        if (is_folded(p, order.items[i])) continue;
        hlo_put_computation(p, order.items[i], order.items[i] == m->entry ? HEADING_ENTRY : HEADING_NAME);
        hlo_put(p->out, "\n\n", 2);
    }
}

// ---- entry points ---------------------------------------------------------------------------------------

// What is to be printed: one of the three, or of a module only the header.
typedef struct Job {
    Printer printer;
    const HloModule *m;
    bool only_header;
    const HloComputation *comp;
    const HloInstruction *inst;
} Job;

static HloStatus print_job(void *data) {
    Job *job = data;
    Printer *p = &job->printer;
    if (job->inst) {
        Line line;
        hlo_line_begin(p, &line, job->inst);
        for (const HloComputation *body; (body = hlo_line_continue(p, &line));)
            hlo_put_computation(p, body, HEADING_NONE);
        return hlo_ok();
    }
    p->spots = HLO_NEW_ARRAY(p->scratch, ShapeSpot, SHAPE_SPOTS);
    if (job->only_header)
        put_header(p, job->m);
    else if (job->m)
        put_module(p, job->m);
    else
        hlo_put_computation(p, job->comp, HEADING_NAME);
    return hlo_ok();
}

static void run(Job *job, const HloPrintOptions *options, HloBuffer *out) {
    enum { BODY_TEXT_LIMIT = 1 << 28 };
    HloArena scratch = {0};
    bool bodies = options->callees == HLO_CALLEES_BODIES || options->callees == HLO_CALLEES_NONSEQUENTIAL_BODIES;
    job->printer = (Printer){
        .out = out,
        .options = *options,
        .scratch = &scratch,
        .m = job->m            ? job->m
             : job->comp       ? job->comp->m
             : job->inst->comp ? job->inst->comp->m
                               : NULL,
        .indent = (int)options->indent,
        .size_limit = bodies ? out->size + BODY_TEXT_LIMIT : SIZE_MAX,
    };
    HloStatus status = hlo_guarded((HloArena *const[]){&scratch, NULL}, print_job, job);
    if (!hlo_is_ok(status)) out->failed = true;
    hlo_status_free(status);
    hlo_arena_free(&scratch);
}

void hlo_print_module(const HloModule *m, const HloPrintOptions *options, HloBuffer *out) {
    run(&(Job){.m = m}, options, out);
}

void hlo_print_header(const HloModule *m, const HloPrintOptions *options, HloBuffer *out) {
    run(&(Job){.m = m, .only_header = true}, options, out);
}

void hlo_print_computation(const HloComputation *comp, const HloPrintOptions *options, HloBuffer *out) {
    run(&(Job){.comp = comp}, options, out);
}

void hlo_print_instruction(const HloInstruction *inst, const HloPrintOptions *options, HloBuffer *out) {
    run(&(Job){.inst = inst}, options, out);
}
