// Values without structure of their own: numbers, booleans, strings, names, and lists of them.

#include "parse.h"

#include <math.h>

bool hlo_read_int(HloReader *r, int64_t *out) {
    if (hlo_tok(r) != HLO_TOK_INT) return hlo_read_error(r, hlo_here(r), "expects integer");
    *out = r->lex.token.integer;
    hlo_skip(r);
    return true;
}

bool hlo_read_int32(HloReader *r, int64_t *out) {
    const char *at = hlo_here(r);
    if (!hlo_read_int(r, out)) return false;
    return (*out >= INT32_MIN && *out <= INT32_MAX) || hlo_read_error(r, at, "value out of range for int32_t");
}

bool hlo_read_bool(HloReader *r, bool *out) {
    if (hlo_tok(r) != HLO_TOK_TRUE && hlo_tok(r) != HLO_TOK_FALSE)
        return hlo_read_error(r, hlo_here(r), "expects true or false");
    *out = hlo_tok(r) == HLO_TOK_TRUE;
    hlo_skip(r);
    return true;
}

bool hlo_read_double(HloReader *r, double *out) {
    const HloToken *t = &r->lex.token;
    switch ((int)t->kind) {
    case HLO_TOK_INT: *out = t->negative_zero ? -0.0 : (double)t->integer; break;
    case HLO_TOK_NAN: *out = copysign(NAN, t->decimal); break;
    case HLO_TOK_INF: *out = t->decimal; break;
    case HLO_TOK_DECIMAL:
        if (isinf(t->decimal))
            return hlo_read_error(r, t->at,
                                  "Constant is out of range for double (+/-1.79769e+308) and so is unparsable.");
        *out = t->decimal;
        break;
    default: return hlo_read_error(r, t->at, "expects decimal or integer");
    }
    hlo_skip(r);
    return true;
}

bool hlo_read_float(HloReader *r, double *out) {
    const char *at = hlo_here(r);
    double value;
    if (!hlo_read_double(r, &value)) return false;
    if (isfinite(value) && !isfinite((float)value)) return hlo_read_error(r, at, "value out of range for float");
    *out = (double)(float)value;
    return true;
}

bool hlo_read_string(HloReader *r, const char **out, size_t *size) {
    const HloToken *t = &r->lex.token;
    if (t->kind != HLO_TOK_STRING) return hlo_read_error(r, t->at, "expects string");
    if (*t->at == '\'' && !hlo_version_has(r, t->at, HLO_FORM_SINGLE_QUOTES)) return false;
    const char *text = t->text;
    size_t text_size = t->size;
    if (memchr(text, '\\', text_size)) {
        text = hlo_lex_unescape(r->scratch, t->text, t->size, &text_size);
        if (!text) return hlo_read_error(r, t->at, "expects string (it has a malformed escape)");
    }
    *out = r->m ? hlo_intern(r->m, text, text_size) : hlo_arena_string(r->arena, text, text_size);
    if (size) *size = text_size;
    hlo_skip(r);
    return true;
}

bool hlo_read_text(HloReader *r, const char **out) {
    if (hlo_tok(r) != HLO_TOK_LBRACE) return hlo_read_string(r, out, NULL);
    const char *at = hlo_here(r);
    if (!hlo_lex_dict(&r->lex)) return hlo_read_error(r, at, "expects JSON dict");
    *out = hlo_intern(r->m, r->lex.token.text, r->lex.token.size);
    hlo_skip(r);
    return true;
}

bool hlo_read_name(HloReader *r, HloStringView *out) {
    const HloToken *t = &r->lex.token;
    if (t->kind != HLO_TOK_NAME && t->kind != HLO_TOK_IDENT) return hlo_read_error(r, t->at, "expects name");
    *out = (HloStringView){t->text, t->size};
    hlo_skip(r);
    return true;
}

static bool list_begin(HloReader *r, HloTokenKind open) {
    return hlo_accept(r, open) ||
           hlo_read_error(r, hlo_here(r), "expects a list starting with %s", hlo_token_name(open));
}

static bool list_end(HloReader *r, HloTokenKind close) {
    return hlo_accept(r, close) ||
           hlo_read_error(r, hlo_here(r), "expects a list to end with %s", hlo_token_name(close));
}

bool hlo_read_list(HloReader *r, HloTokenKind open, HloTokenKind close, bool (*item)(HloReader *r, void *data),
                   void *data) {
    if (!list_begin(r, open)) return false;
    if (hlo_accept(r, close)) return true;
    do {
        if (!item(r, data)) return false;
    } while (hlo_accept(r, HLO_TOK_COMMA));
    return list_end(r, close);
}

bool hlo_read_ints(HloReader *r, HloTokenKind open, HloTokenKind close, HloDims *out) {
    *out = (HloDims){0};
    if (!list_begin(r, open)) return false;
    if (hlo_accept(r, close)) return true;
    r->ints.count = 0;
    do {
        int64_t value = 0;
        if (!hlo_read_int(r, &value)) return false;
        hlo_ints_push(r->scratch, &r->ints, value);
    } while (hlo_accept(r, HLO_TOK_COMMA));
    if (!list_end(r, close)) return false;
    *out = hlo_dims_copy(r->arena, (HloDims){r->ints.items, r->ints.count});
    return true;
}

static bool read_one_list(HloReader *r, void *data) {
    HloDims dims;
    if (!hlo_read_dims(r, &dims)) return false;
    *(HloDims *)hlo_items_push(r, data, sizeof dims) = dims;
    return true;
}

bool hlo_read_int_lists(HloReader *r, HloIntLists *out) {
    HloItems lists = {0};
    if (!hlo_read_list(r, HLO_TOK_LBRACE, HLO_TOK_RBRACE, read_one_list, &lists)) return false;
    out->lists = hlo_items_copy(r, &lists, sizeof(HloDims));
    out->count = lists.count;
    return true;
}

void *hlo_items_push(HloReader *r, HloItems *items, size_t item_bytes) {
    if (items->count == items->capacity)
        items->data = hlo_arena_grow(r->scratch, items->data, &items->capacity, 8, item_bytes);
    char *item = items->data + items->count++ * item_bytes;
    memset(item, 0, item_bytes);
    return item;
}

void *hlo_items_copy(HloReader *r, const HloItems *items, size_t item_bytes) {
    return items->count ? hlo_arena_copy(r->arena, items->data, items->count * item_bytes) : NULL;
}
