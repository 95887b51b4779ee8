// Computations as the values of attributes: a body in place, the name of one that stands above, or the name of one that
// stands further down.
//
//   ROOT w = (f32[]) while(t), condition=%cond, body=%body
//   …
//   %cond (p: (f32[])) -> pred[] {
//
// The language wants computations before their uses, but its own printer does not always keep to that. A computation
// that is not there yet is made when it is first named and filled when its text comes; until then it has no root. What
// depends on its contents is done at the end or, where a shape would have to be inferred from it, refused.

#include "parse.h"

// A call of a computation that was not there yet.
typedef struct EarlyCall {
    const char *at;
    HloStringView name;
    HloComputation *callee;
    const char *needed_at;  // a line that could not be read without it; NULL: none
    const char *needed_for;
} EarlyCall;

// An async operation and the computation whose root gets its annotations.
typedef struct EarlyStart {
    HloInstruction *async;
    HloComputation *wrapped;
} EarlyStart;

static int shown(HloStringView name) {
    return (int)(name.size < 200 ? name.size : 200);
}

static bool unknown_computation(HloReader *r, const char *at, HloStringView name) {
    return hlo_read_error(r, at, "computation does not exist: %.*s%s", shown(name), name.data,
                          hlo_hint_of_names(r, &r->computations, name.data, name.size));
}

// ---- reading --------------------------------------------------------------------------------------------

static HloComputation *stand_in(HloReader *r, HloStringView name) {
    bool is_new;
    HloNameSlot *slot = hlo_names_at(r->scratch, &r->computations, name.data, name.size, &is_new);
    slot->value = hlo_computation_new(r->m, hlo_intern(r->m, name.data, name.size));
    return slot->value;
}

// A computation's name or body. *out is NULL when it has failed.
static bool read_callee(HloReader *r, HloLine *line, HloComputation **out) {
    const HloToken t = r->lex.token;
    if (t.kind == HLO_TOK_LBRACE) {
        if (!hlo_read_inline_computation(r, out)) return false;
        line->unknown_callee = line->unknown_callee || !*out;
        return true;
    }
    HloStringView name;
    if (t.kind != HLO_TOK_NAME && t.kind != HLO_TOK_IDENT) return hlo_read_error(r, t.at, "expects computation name");
    hlo_read_name(r, &name);
    const HloNameSlot *slot = hlo_names_find(&r->computations, name.data, name.size);
    if (!slot && r->single) return unknown_computation(r, t.at, name);
    *out = slot ? slot->value : stand_in(r, name);
    if (!*out)
        line->unknown_callee = true;
    else if (!(*out)->root)
        *(EarlyCall *)hlo_items_push(r, &r->early_calls, sizeof(EarlyCall)) = (EarlyCall){t.at, name, *out, NULL, NULL};
    return true;
}

typedef struct Callees {
    HloLine *line;
    HloVec items;
} Callees;

static bool read_one_callee(HloReader *r, void *data) {
    Callees *callees = data;
    HloComputation *callee;
    if (!read_callee(r, callees->line, &callee)) return false;
    hlo_vec_push(r->scratch, &callees->items, callee);
    return true;
}

bool hlo_read_callees(HloReader *r, HloLine *line, HloInstruction *inst) {
    Callees callees = {.line = line};
    if (!hlo_read_list(r, HLO_TOK_LBRACE, HLO_TOK_RBRACE, read_one_callee, &callees)) return false;
    for (size_t k = 0; k < callees.items.count && !line->unknown_callee; k++)
        hlo_set_called(inst, k, callees.items.items[k]);
    return true;
}

// Most callees sit in the slot that the attribute's row names; these only come along.
bool hlo_read_single_callee(HloReader *r, HloLine *line, HloInstruction *inst, HloAttrId id) {
    HloComputation *callee;
    if (!read_callee(r, line, &callee)) return false;
    if (!callee) return true;
    if (id == HLO_ATTR_TO_APPLY && inst->op == HLO_OP_CUSTOM_CALL)
        line->to_apply = callee;
    else if (inst->op == HLO_OP_ASYNC_UPDATE || inst->op == HLO_OP_ASYNC_DONE)
        line->checked_callee = callee;
    else
        hlo_set_called(inst, (size_t)hlo_attr_info(id)->detail, callee);
    return true;
}

bool hlo_calls_unknown(const HloInstruction *inst) {
    for (size_t k = 0; k < inst->called.count; k++) {
        const HloComputation *callee = hlo_called(inst, k);
        if (callee && !callee->root) return true;
    }
    return false;
}

bool hlo_callee_needed(HloReader *r, const HloLine *line, const char *what) {
    EarlyCall *calls = (EarlyCall *)r->early_calls.data;
    for (size_t i = r->early_calls.count; i-- > 0;) {
        bool ours = hlo_vec_find(&line->inst->called, calls[i].callee) != SIZE_MAX;
        if (!ours || calls[i].callee->root) continue;
        calls[i].needed_at = line->op_at;
        calls[i].needed_for = what;
        return false;
    }
    return false;
}

void hlo_share_late(HloReader *r, HloInstruction *async, HloComputation *wrapped) {
    *(EarlyStart *)hlo_items_push(r, &r->early_starts, sizeof(EarlyStart)) = (EarlyStart){async, wrapped};
}

// ---- when everything is read ----------------------------------------------------------------------------

// Names without a computation are no suggestions.
static void forget_undefined(HloReader *r) {
    HloNameTable defined = {0};
    const HloNameTable *all = &r->computations;
    for (size_t i = 0; i < all->count; i++) {
        const HloNameSlot *slot = hlo_names_slot(all, i);
        const HloComputation *comp = slot->value;
        if (comp && !comp->root) continue;
        bool is_new;
        hlo_names_at(r->scratch, &defined, slot->text, slot->size, &is_new)->value = slot->value;
    }
    r->computations = defined;
}

static void mark_failed(HloReader *r, HloStringView name) {
    bool is_new;
    hlo_names_at(r->scratch, &r->computations, name.data, name.size, &is_new)->value = NULL;
}

// Each name is reported at its first use; those that stand there and have failed were reported already.
static void check_definitions(HloReader *r, const EarlyCall *calls, size_t count) {
    forget_undefined(r);
    for (size_t i = 0; i < count && !r->stopped; i++) {
        const EarlyCall *call = &calls[i];
        const HloNameSlot *slot = hlo_names_find(&r->computations, call->name.data, call->name.size);
        if (slot && !slot->value) continue;
        if (!slot) {
            unknown_computation(r, call->at, call->name);
            hlo_errors_keep(r);
            mark_failed(r, call->name);
        } else if (call->needed_at) {
            hlo_read_error(r, call->needed_at, "%s depends on computation %.*s, which stands further down: %s",
                           call->needed_for, shown(call->name), call->name.data, "write it or move the computation up");
            hlo_errors_keep(r);
        }
    }
}

typedef struct Frame {
    HloComputation *comp;
    HloInstruction *inst;  // whose callees are being visited; NULL: all were
    size_t next;           // of them
} Frame;

// The next callee of a computation, or NULL when there is none left.
static HloComputation *next_callee(Frame *frame) {
    while (frame->inst && frame->next >= frame->inst->called.count) {
        frame->inst = frame->inst->next;
        frame->next = 0;
    }
    return frame->inst ? hlo_called(frame->inst, frame->next++) : NULL;
}

// Follows calls from one computation; a callee that is still on the path calls itself. `states` has the computation
// itself while it is on the path, and the reader afterwards.
static const HloComputation *find_cycle(HloReader *r, HloMap *states, HloComputation *start) {
    HloItems path = {0};
    HloComputation *next = start;
    do {
        void **state = next ? hlo_map_at(r->scratch, states, next) : NULL;
        if (!next) {
            *hlo_map_at(r->scratch, states, ((Frame *)path.data)[--path.count].comp) = r;
        } else if (*state == next) {
            return next;
        } else if (!*state) {
            *state = next;
            *(Frame *)hlo_items_push(r, &path, sizeof(Frame)) = (Frame){next, next->first, 0};
        }
        next = path.count ? next_callee((Frame *)path.data + path.count - 1) : NULL;
    } while (path.count);
    return NULL;
}

static bool check_cycles(HloReader *r) {
    HloMap states = {0};
    const EarlyCall *calls = (const EarlyCall *)r->early_calls.data;
    for (size_t i = 0; i < r->early_calls.count; i++) {
        const HloComputation *comp = find_cycle(r, &states, calls[i].callee);
        if (!comp) continue;
        size_t k = 0;
        while (k + 1 < r->early_calls.count && calls[k].callee != comp) k++;
        return hlo_read_error(r, calls[k].at, "computation %.200s calls itself, here or through others", comp->name);
    }
    return true;
}

bool hlo_settle_callees(HloReader *r) {
    if (!r->early_calls.count || r->stopped) return !r->failed;
    check_definitions(r, (const EarlyCall *)r->early_calls.data, r->early_calls.count);
    if (r->failed || !check_cycles(r)) return false;
    const EarlyStart *starts = (const EarlyStart *)r->early_starts.data;
    for (size_t i = 0; i < r->early_starts.count; i++)
        hlo_share_annotations(r, starts[i].async, starts[i].wrapped->root);
    return true;
}
