// Computations (grammar chapter, §3): in the module's list, and inline as an attribute's value.

#include "parse.h"

// An inline body costs several stack frames of the reader, so it counts as this many levels of nesting.
enum { INLINE_LEVELS = 32 };

// ---- scopes ---------------------------------------------------------------------------------------------

HloScope *hlo_scope_open(HloReader *r, HloComputation *comp) {
    HloScope *scope = r->free_scopes;
    if (scope)
        r->free_scopes = scope->outer;
    else
        scope = HLO_NEW(r->scratch, HloScope);
    HloNameTable names = scope->names;
    hlo_names_clear(&names);
    *scope = (HloScope){.outer = r->scope, .comp = comp, .names = names};
    r->scope = scope;
    return scope;
}

void hlo_scope_close(HloReader *r) {
    HloScope *scope = r->scope;
    r->scope = scope->outer;
    scope->outer = r->free_scopes;
    r->free_scopes = scope;
}

// ---- bodies ---------------------------------------------------------------------------------------------

bool hlo_check_parameters(HloReader *r, const char *at, const HloComputation *comp) {
    for (size_t k = 0; k < hlo_parameter_count(comp); k++) {
        if (!hlo_parameter(comp, k))
            return hlo_read_error(r, at, "computation %.200s has no parameter %zu, but one with a higher number",
                                  comp->name, k);
    }
    return true;
}

// body = "{" instruction+ "}"     A computation without a root has failed, though its end was found.
static bool read_body(HloReader *r, const char *at, HloComputation *comp) {
    if (!hlo_expect(r, HLO_TOK_LBRACE, "expects '{' at the beginning of instruction list.")) return false;
    HloScope *scope = hlo_scope_open(r, comp);
    bool ok = true;
    HloResync next = HLO_RESYNC_INSTRUCTION;
    do {
        HloMark mark = hlo_mark(r);
        if (hlo_read_instruction(r)) continue;
        ok = false;
        next = hlo_resync_instruction(r, &mark);
    } while (next == HLO_RESYNC_INSTRUCTION && hlo_tok(r) != HLO_TOK_RBRACE && hlo_tok(r) != HLO_TOK_EOF);
    HloInstruction *root = scope->root ? scope->root : comp->last;
    hlo_scope_close(r);
    if (next == HLO_RESYNC_NONE || !hlo_expect(r, HLO_TOK_RBRACE, "expects '}' at the end of instruction list."))
        return false;
    if (!ok) return true;
    if (!hlo_check_parameters(r, at, comp)) return hlo_errors_keep(r);
    hlo_computation_set_root(comp, root);
    return true;
}

// Callees of single-instruction text wait until the entry is in the module.
void hlo_finish_computation(HloReader *r, HloComputation *comp) {
    if (r->single)
        hlo_vec_push(r->scratch, &r->pending, comp);
    else
        hlo_module_add(r->m, comp);
    r->last = comp;
}

// *out is NULL for a body with errors, which are kept.
bool hlo_read_inline_computation(HloReader *r, HloComputation **out) {
    const char *at = hlo_here(r);
    HloComputation *comp = hlo_computation_new(r->m, "_");
    if (!hlo_enter(r, INLINE_LEVELS) || !read_body(r, at, comp)) return false;
    hlo_leave(r, INLINE_LEVELS);
    *out = comp->root ? comp : NULL;
    if (comp->root) hlo_finish_computation(r, comp);
    return true;
}

// ---- the module's list ----------------------------------------------------------------------------------

// param = name shape     read and forgotten, as the language says
static bool read_signature_parameter(HloReader *r, void *data) {
    (void)data;
    HloStringView name;
    const HloShape *shape;
    return hlo_read_name(r, &name) && hlo_read_shape(r, &shape);
}

typedef struct Signature {
    const char *result_at;
    const HloShape *result;  // NULL: no signature
} Signature;

// signature = "(" (param ("," param)*)? ")" "->" shape
static bool read_signature(HloReader *r, Signature *out) {
    hlo_skip(r);
    if (hlo_tok(r) != HLO_TOK_RPAREN) {
        do {
            if (!read_signature_parameter(r, NULL)) return false;
        } while (hlo_accept(r, HLO_TOK_COMMA));
    }
    if (!hlo_expect(r, HLO_TOK_RPAREN, "expects ')' at the end of param list")) return false;
    if (!hlo_expect(r, HLO_TOK_ARROW, "expects '->'")) return false;
    out->result_at = hlo_here(r);
    return hlo_read_shape(r, &out->result);
}

static bool check_signature(HloReader *r, const Signature *signature, const HloComputation *comp) {
    const HloInstruction *root = comp->root;
    if (!signature->result || hlo_shape_compatible(signature->result, root->shape)) return true;
    return hlo_read_error(
        r, signature->result_at,
        "Shape of computation %.200s, %s, is not compatible with that of its root instruction %.200s, %s", comp->name,
        hlo_shape_text(r->scratch, signature->result, false), root->name,
        hlo_shape_text(r->scratch, root->shape, false));
}

// ("," "execution_thread=" string)?
static bool read_thread(HloReader *r, HloComputation *comp) {
    if (!hlo_accept(r, HLO_TOK_COMMA)) return true;
    const char *known[] = {"execution_thread"};
    if (!hlo_at_attr(r, known[0])) return hlo_unexpected_attribute(r, known, 1);
    hlo_skip(r);
    const char *thread;
    if (!hlo_read_string(r, &thread, NULL)) return false;
    comp->execution_thread = *thread && strcmp(thread, "main") ? thread : NULL;
    return true;
}

// The computation that a name of the list stands for: a new one, or the one that stood in for it where it was called
// before. NULL when the name is taken.
static HloComputation *new_computation(HloReader *r, const char *at, HloStringView name) {
    bool is_new;
    HloNameSlot *slot = hlo_names_at(r->scratch, &r->computations, name.data, name.size, &is_new);
    const char *first_at = slot->text;
    HloComputation *comp = is_new ? hlo_computation_new(r->m, hlo_intern(r->m, name.data, name.size)) : slot->value;
    bool is_defined = !is_new && (!comp || comp->root);
    if (!is_defined) {
        slot->text = name.data;
        slot->value = comp;
        return comp;
    }
    hlo_read_error(r, at, "computation already exists: %.*s", (int)(name.size < 200 ? name.size : 200), name.data);
    hlo_read_note(r, first_at, "computation previously defined here");
    return NULL;
}

static bool note_entry(HloReader *r, const char *entry_at, HloComputation *comp) {
    if (!entry_at) return true;
    if (r->entry_at) return hlo_read_error(r, entry_at, "expects only one ENTRY");
    r->entry_at = entry_at;
    r->entry = comp;
    return true;
}

// head = "ENTRY"? name signature?     *comp is new and known under its name
static bool read_head(HloReader *r, Signature *signature, HloStringView *name, HloComputation **comp) {
    const char *entry_at = hlo_tok(r) == HLO_TOK_ENTRY ? hlo_here(r) : NULL;
    hlo_accept(r, HLO_TOK_ENTRY);
    HloMark mark = hlo_mark(r);
    if (!hlo_read_name(r, name)) return false;
    *comp = new_computation(r, mark.at, *name);
    if (!*comp) {
        *comp = hlo_computation_new(r->m, "_");
        *name = (HloStringView){0};
        hlo_errors_keep(r);
    }
    if (!note_entry(r, entry_at, *comp)) hlo_errors_keep(r);
    if (hlo_tok(r) != HLO_TOK_LPAREN || read_signature(r, signature)) return !r->stopped;
    signature->result = NULL;
    return hlo_resync_body(r, &mark);
}

// The computation could not be read: uses of its name say nothing.
static void mark_failed(HloReader *r, HloStringView name) {
    if (!name.data) return;
    bool is_new;
    hlo_names_at(r->scratch, &r->computations, name.data, name.size, &is_new)->value = NULL;
}

// computation = head body thread?
bool hlo_read_computation(HloReader *r) {
    const char *at = hlo_here(r);
    Signature signature = {0};
    HloStringView name = {0};
    HloComputation *comp = NULL;
    bool ok = read_head(r, &signature, &name, &comp) && read_body(r, at, comp) && read_thread(r, comp);
    if (!ok || !comp->root) {
        mark_failed(r, name);
        return ok;
    }
    if (!check_signature(r, &signature, comp)) hlo_errors_keep(r);
    hlo_finish_computation(r, comp);
    return true;
}
