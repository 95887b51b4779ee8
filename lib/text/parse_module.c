// Modules: the three forms of text, the header line, and what is decided when everything is read.

#include "parse.h"

// ---- header attributes ----------------------------------------------------------------------------------

// What the header says and only takes effect at the end.
typedef struct Header {
    bool has_layout;        // entry_computation_layout was given
    bool asks_for_default;  // an attribute was given that makes missing entry layouts default ones
    const char *alias_at;
    uint32_t seen;
} Header;

// bools = bool | "{" (bool ("," bool)*)? "}"
static bool read_flag(HloReader *r, void *data) {
    bool value;
    if (!hlo_read_bool(r, &value)) return false;
    hlo_ints_push(r->scratch, data, value);
    return true;
}

static bool read_flags(HloReader *r, HloDims *out) {
    HloInts flags = {0};
    if (hlo_tok(r) == HLO_TOK_LBRACE) {
        if (!hlo_read_list(r, HLO_TOK_LBRACE, HLO_TOK_RBRACE, read_flag, &flags)) return false;
    } else if (hlo_tok(r) != HLO_TOK_TRUE && hlo_tok(r) != HLO_TOK_FALSE) {
        return hlo_read_error(r, hlo_here(r), "Expected list of booleans or true/false value");
    } else if (!read_flag(r, &flags)) {
        return false;
    }
    bool standard = flags.count == 1 && !flags.items[0];
    *out = standard ? (HloDims){0} : hlo_dims_copy(r->arena, (HloDims){flags.items, flags.count});
    return true;
}

// layout = "{" "(" (shape ("," shape)* ","?)? ")" "->" shape "}"
static bool read_entry_layout(HloReader *r) {
    HloVec params = {0};
    if (!hlo_expect(r, HLO_TOK_LBRACE, "Expects '{' at the start of computation layouts")) return false;
    if (!hlo_expect(r, HLO_TOK_LPAREN, "Expects ( before parameter shape list")) return false;
    while (hlo_tok(r) != HLO_TOK_RPAREN) {
        const HloShape *shape;
        if (!hlo_read_shape(r, &shape)) return false;
        hlo_vec_push(r->scratch, &params, shape);
        if (hlo_tok(r) == HLO_TOK_RPAREN) break;
        if (!hlo_expect(r, HLO_TOK_COMMA, "Expects , between parameter shapes")) return false;
    }
    if (!hlo_expect(r, HLO_TOK_RPAREN, "Expects ) at end of parameter shape list")) return false;
    if (!hlo_expect(r, HLO_TOK_ARROW, "Expects -> before result shape")) return false;
    if (!hlo_read_shape(r, &r->m->entry_result)) return false;
    r->m->entry_params = hlo_arena_copy(r->arena, params.items, params.count * sizeof *params.items);
    r->m->entry_param_count = params.count;
    return hlo_expect(r, HLO_TOK_RBRACE, "Expects '}' at the end of computation layouts");
}

typedef enum HeaderAttr {
    IS_SCHEDULED,
    ENTRY_COMPUTATION_LAYOUT,
    INPUT_OUTPUT_ALIAS,
    BUFFER_DONOR,
    SPMD_TO_PARAMETERS,
    SPMD_TO_OUTPUT,
    REPLICA_COUNT,
    NUM_PARTITIONS,
    FRONTEND_ATTRIBUTES,
    ALIAS_PASSTHROUGH_PARAMS,
    ORIGIN_RECOVERY_TABLE,
    DEBUG_ATTRIBUTES,
    HEADER_ATTR_COUNT
} HeaderAttr;

static const char *const header_attrs[HEADER_ATTR_COUNT] = {
    [IS_SCHEDULED] = "is_scheduled",
    [ENTRY_COMPUTATION_LAYOUT] = "entry_computation_layout",
    [INPUT_OUTPUT_ALIAS] = "input_output_alias",
    [BUFFER_DONOR] = "buffer_donor",
    [SPMD_TO_PARAMETERS] = "allow_spmd_sharding_propagation_to_parameters",
    [SPMD_TO_OUTPUT] = "allow_spmd_sharding_propagation_to_output",
    [REPLICA_COUNT] = "replica_count",
    [NUM_PARTITIONS] = "num_partitions",
    [FRONTEND_ATTRIBUTES] = "frontend_attributes",
    [ALIAS_PASSTHROUGH_PARAMS] = "alias_passthrough_params",
    [ORIGIN_RECOVERY_TABLE] = "origin_recovery_table",
    [DEBUG_ATTRIBUTES] = "debug_attributes",
};

static bool read_header_value(HloReader *r, HeaderAttr attr, Header *header) {
    HloModule *m = r->m;
    switch (attr) {
    case IS_SCHEDULED: return hlo_read_bool(r, &m->is_scheduled);
    case ENTRY_COMPUTATION_LAYOUT: header->has_layout = true; return read_entry_layout(r);
    case INPUT_OUTPUT_ALIAS: header->alias_at = hlo_here(r); return hlo_read_aliases(r, true, &m->input_output_alias);
    case BUFFER_DONOR: return hlo_read_donors(r, &m->buffer_donor);
    case SPMD_TO_PARAMETERS: header->asks_for_default = true; return read_flags(r, &m->spmd_to_parameters);
    case SPMD_TO_OUTPUT: header->asks_for_default = true; return read_flags(r, &m->spmd_to_output);
    case REPLICA_COUNT: return hlo_read_int(r, &m->replica_count);
    case NUM_PARTITIONS: return hlo_read_int(r, &m->num_partitions);
    case FRONTEND_ATTRIBUTES: return hlo_read_string_map(r, &m->frontend_attributes);
    case ALIAS_PASSTHROUGH_PARAMS: return hlo_read_bool(r, &m->alias_passthrough_params);
    case ORIGIN_RECOVERY_TABLE: return hlo_read_recovery(r);
    case DEBUG_ATTRIBUTES: return hlo_version_has(r, hlo_here(r), HLO_FORM_DEBUG_ATTRIBUTES) && hlo_read_debug_rows(r);
    case HEADER_ATTR_COUNT: break;
    }
    return false;
}

static bool read_header_attr(HloReader *r, Header *header) {
    const HloToken t = r->lex.token;
    size_t attr = 0;
    while (attr < HEADER_ATTR_COUNT && !hlo_at_attr(r, header_attrs[attr])) attr++;
    if (attr == HEADER_ATTR_COUNT) {
        const char *names[HEADER_ATTR_COUNT];
        memcpy(names, header_attrs, sizeof names);
        return hlo_unexpected_attribute(r, names, HEADER_ATTR_COUNT);
    }
    if (header->seen >> attr & 1) return hlo_read_error(r, t.at, "attribute %s already exists", header_attrs[attr]);
    header->seen |= 1u << attr;
    hlo_skip(r);
    if (read_header_value(r, (HeaderAttr)attr, header)) return true;
    return hlo_read_note(r, t.at, "error parsing attribute %s", header_attrs[attr]);
}

// ---- finishing ------------------------------------------------------------------------------------------

static void set_entry_layout(HloReader *r, const Header *header) {
    HloModule *m = r->m;
    if (header->has_layout) return;
    hlo_module_reset_entry_layout(m);
    bool asks =
        header->asks_for_default || m->alias_passthrough_params || m->num_partitions != 1 || m->replica_count != 1;
    if (!asks && !r->single) return;
    for (size_t k = 0; k < m->entry_param_count; k++)
        m->entry_params[k] = hlo_shape_with_default_layout(&m->shapes, m->entry_params[k]);
    m->entry_result = hlo_shape_with_default_layout(&m->shapes, m->entry_result);
}

static bool check_aliases(HloReader *r, const Header *header) {
    HloModule *m = r->m;
    if (!header->alias_at) return true;
    hlo_sort_aliases(r, &m->input_output_alias);
    for (size_t i = 0; i < m->input_output_alias.count; i++) {
        const HloAlias *alias = &m->input_output_alias.items[i];
        const HloShape *result = m->entry->root->shape;
        if (!hlo_shape_at(result, alias->output.data, alias->output.count))
            return hlo_read_error(r, header->alias_at,
                                  "input_output_alias names an output index that the result shape %s "
                                  "does not have",
                                  hlo_shape_text(r->scratch, result, false));
    }
    return true;
}

// Text order is the schedule of every computation that is no fusion's body.
static void set_schedule(HloReader *r) {
    if (!r->m->is_scheduled) return;
    HLO_EACH_COMP(comp, r->m) {
        if (hlo_is_fusion_computation(comp)) continue;
        comp->sequence = HLO_NEW_ARRAY(r->arena, HloInstruction *, comp->count);
        comp->sequence_count = 0;
        HLO_EACH_INST(inst, comp) comp->sequence[comp->sequence_count++] = inst;
    }
}

// Computations are numbered as they stand in the list: an inline one is complete, and joins it, before the one around
// it, but was begun later.
static void number_computations(HloModule *m) {
    m->computation_id_limit = 0;
    HLO_EACH_COMP(comp, m) comp->id = m->computation_id_limit++;
}

static bool finish_module(HloReader *r, const Header *header) {
    HloModule *m = r->m;
    number_computations(m);
    if (!header->has_layout) m->entry_result = NULL;
    hlo_module_set_entry(m, r->entry ? r->entry : r->last);
    set_entry_layout(r, header);
    hlo_async_spread_threads(r);
    set_schedule(r);
    hlo_store_frames(r);
    return check_aliases(r, header);
}

// ---- the three forms ------------------------------------------------------------------------------------

// computations = computation+
static bool read_computations(HloReader *r) {
    if (r->failed && hlo_tok(r) == HLO_TOK_EOF) return false;
    do {
        HloMark mark = hlo_mark(r);
        if (!hlo_read_computation(r) && !hlo_resync_computation(r, &mark)) return false;
    } while (hlo_tok(r) != HLO_TOK_EOF);
    return hlo_settle_callees(r);
}

// header = "HloModule" name ("," attribute)* tables?
static bool read_header(HloReader *r, Header *header) {
    HloMark mark = hlo_mark(r);
    HloStringView name;
    hlo_skip(r);
    if (!hlo_read_name(r, &name)) return hlo_resync_header(r, &mark);
    r->m->name = hlo_intern(r->m, name.data, name.size);
    while (hlo_accept(r, HLO_TOK_COMMA)) {
        mark = hlo_mark(r);
        if (!read_header_attr(r, header) && !hlo_resync_header(r, &mark)) return false;
    }
    mark = hlo_mark(r);
    return hlo_read_frames(r) || hlo_resync_computation(r, &mark);
}

// module = header computations
static bool read_with_header(HloReader *r) {
    Header header = {0};
    return read_header(r, &header) && read_computations(r) && finish_module(r, &header);
}

static bool read_without_header(HloReader *r) {
    Header header = {0};
    if (!read_computations(r) || !finish_module(r, &header)) return false;
    r->m->name = hlo_intern_z(r->m, hlo_arena_printf(r->scratch, "module_%s", r->m->entry->name));
    return true;
}

// One instruction, whose unknown operands become parameters.
static bool read_single(HloReader *r) {
    Header header = {0};
    r->single = true;
    r->m->name = hlo_intern_z(r->m, "_");
    r->m->is_scheduled = true;
    HloComputation *comp = hlo_computation_new(r->m, "_");
    hlo_scope_open(r, comp)->free_names = true;
    if (!hlo_read_instruction(r)) return false;
    if (hlo_tok(r) != HLO_TOK_EOF)
        return hlo_read_error(r, hlo_here(r),
                              "Expected eof after parsing single instruction. Did you mean to write an HLO "
                              "module and forget the \"HloModule\" header?");
    if (r->failed || !hlo_check_parameters(r, r->lex.begin, comp)) return false;
    hlo_computation_set_root(comp, comp->last);
    hlo_scope_close(r);
    hlo_module_add(r->m, comp);
    for (size_t i = 0; i < r->pending.count; i++) hlo_module_add(r->m, r->pending.items[i]);
    r->entry = comp;
    return finish_module(r, &header);
}

bool hlo_read_module_text(HloReader *r) {
    if (hlo_tok(r) == HLO_TOK_MODULE) return read_with_header(r);
    if (hlo_tok(r) == HLO_TOK_ENTRY || hlo_lex_peek(&r->lex) == '{') return read_without_header(r);
    return read_single(r);
}
