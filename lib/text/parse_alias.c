// Aliases: of the entry's results with parameters (module header) and of results with operands (instructions).

#include "parse.h"

#include <stdlib.h>

// entry = index ":" "(" int "," index ("," kind)? ")"
typedef struct AliasList {
    HloItems items;
    bool with_kind;
} AliasList;

static bool read_kind(HloReader *r, bool *must) {
    if (hlo_at_word(r, "must-alias"))
        *must = true;
    else if (!hlo_at_word(r, "may-alias"))
        return hlo_read_error(r, hlo_here(r),
                              "Unexpected aliasing kind; expected SYSTEM or USER (written must-alias or may-alias)");
    hlo_skip(r);
    return true;
}

// index = "{" (int ("," int)* ","?)? "}"
static bool read_index(HloReader *r, HloDims *out) {
    if (!hlo_expect(r, HLO_TOK_LBRACE, "Expects '{' at the start of ShapeIndex")) return false;
    r->ints.count = 0;
    while (hlo_tok(r) == HLO_TOK_INT) {
        hlo_ints_push(r->scratch, &r->ints, r->lex.token.integer);
        hlo_skip(r);
        if (!hlo_accept(r, HLO_TOK_COMMA)) break;
    }
    if (!hlo_expect(r, HLO_TOK_RBRACE, "Expects '}' at the end of ShapeIndex")) return false;
    *out = hlo_dims_copy(r->arena, (HloDims){r->ints.items, r->ints.count});
    return true;
}

static const char alias_form[] = "Expected format: <output_shape_index>: (<input_param>, <input_param_shape_index>) OR "
                                 "<output_shape_index>: <input_param>";
static const char donor_form[] = "Expected format: (<input_param>, <input_param_shape_index>)";

// "(" int "," index …; the closing parenthesis is the caller's
static bool read_source(HloReader *r, HloAlias *alias, const char *form) {
    if (!hlo_expect(r, HLO_TOK_LPAREN, form)) return false;
    const char *at = hlo_here(r);
    if (!hlo_read_int(r, &alias->parameter)) return false;
    if (alias->parameter < 0) return hlo_read_error(r, at, "parameter number must be >= 0");
    return hlo_expect(r, HLO_TOK_COMMA, form) && read_index(r, &alias->input);
}

static bool read_alias(HloReader *r, AliasList *list) {
    HloAlias alias = {0};
    if (!read_index(r, &alias.output) || !hlo_expect(r, HLO_TOK_COLON, alias_form)) return false;
    if (!read_source(r, &alias, alias_form)) return false;
    if (list->with_kind && hlo_accept(r, HLO_TOK_COMMA) && !read_kind(r, &alias.must)) return false;
    if (!hlo_expect(r, HLO_TOK_RPAREN, alias_form)) return false;
    *(HloAlias *)hlo_items_push(r, &list->items, sizeof alias) = alias;
    return true;
}

bool hlo_read_aliases(HloReader *r, bool with_kind, HloAliases *out) {
    AliasList list = {.with_kind = with_kind};
    if (!hlo_expect(r, HLO_TOK_LBRACE, "Expects '{' at the start of aliasing description")) return false;
    while (hlo_tok(r) != HLO_TOK_RBRACE) {
        if (!read_alias(r, &list)) return false;
        if (!hlo_accept(r, HLO_TOK_COMMA)) break;
    }
    if (!hlo_expect(r, HLO_TOK_RBRACE, "Expects '}' at the end of aliasing description")) return false;
    *out = (HloAliases){hlo_items_copy(r, &list.items, sizeof(HloAlias)), list.items.count};
    return true;
}

static int compare_dims(HloDims a, HloDims b) {
    for (size_t i = 0; i < a.count && i < b.count; i++) {
        if (a.data[i] != b.data[i]) return a.data[i] < b.data[i] ? -1 : 1;
    }
    return (a.count > b.count) - (a.count < b.count);
}

// Donors have no output index, so one order serves both lists.
static int compare_aliases(const void *left, const void *right) {
    const HloAlias *a = left, *b = right;
    int order = compare_dims(a->output, b->output);
    if (order) return order;
    if (a->parameter != b->parameter) return a->parameter < b->parameter ? -1 : 1;
    return compare_dims(a->input, b->input);
}

size_t hlo_sort_donors(HloAlias *donors, size_t count) {
    if (count > 1) qsort(donors, count, sizeof *donors, compare_aliases);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || compare_aliases(&donors[kept - 1], &donors[i])) donors[kept++] = donors[i];
    }
    return kept;
}

// donors = "{" ("(" int "," index ")" ("," …)*)? "}"
bool hlo_read_donors(HloReader *r, HloAliases *out) {
    HloItems items = {0};
    if (!hlo_expect(r, HLO_TOK_LBRACE, "Expects '{' at the start of buffer donor description")) return false;
    while (hlo_tok(r) != HLO_TOK_RBRACE) {
        HloAlias donor = {0};
        if (!read_source(r, &donor, donor_form) || !hlo_expect(r, HLO_TOK_RPAREN, donor_form)) return false;
        *(HloAlias *)hlo_items_push(r, &items, sizeof donor) = donor;
        if (!hlo_accept(r, HLO_TOK_COMMA)) break;
    }
    if (!hlo_expect(r, HLO_TOK_RBRACE, "Expects '}' at the end of buffer donor description")) return false;
    HloAlias *donors = hlo_items_copy(r, &items, sizeof *donors);
    *out = (HloAliases){donors, hlo_sort_donors(donors, items.count)};
    return true;
}

// Entries of one output index keep their order in the text.
static int compare_places(const void *left, const void *right) {
    const HloAlias *a = *(const HloAlias *const *)left, *b = *(const HloAlias *const *)right;
    int order = compare_dims(a->output, b->output);
    return order ? order : (a > b) - (a < b);
}

void hlo_sort_aliases(HloReader *r, HloAliases *aliases) {
    const HloAlias **order = HLO_NEW_ARRAY(r->scratch, const HloAlias *, aliases->count);
    for (size_t i = 0; i < aliases->count; i++) order[i] = &aliases->items[i];
    if (aliases->count > 1) qsort(order, aliases->count, sizeof *order, compare_places);
    HloAlias *sorted = HLO_NEW_ARRAY(r->arena, HloAlias, aliases->count);
    size_t kept = 0;
    for (size_t i = 0; i < aliases->count; i++) {
        if (kept && hlo_dims_equal(sorted[kept - 1].output, order[i]->output)) continue;
        sorted[kept++] = *order[i];
    }
    *aliases = (HloAliases){sorted, kept};
}
