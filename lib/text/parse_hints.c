// Hints: the word that was probably meant.
//
//   error: instruction does not exist: valeu; did you mean value?

#include "parse.h"

#include <stdlib.h>

// What is farther away than this is no misspelling. A single letter is near to every other one.
static size_t near_enough(size_t size) {
    return size < 2 ? 0 : size < 4 ? 1 : size < 8 ? 2 : 3;
}

HloHint hlo_hint_for(const char *text, size_t size) {
    return (HloHint){.wrong = {text, size}, .limit = near_enough(size)};
}

void hlo_hint_offer(HloHint *hint, const char *word, size_t size) {
    if (!hint->limit) return;
    size_t distance = hlo_edit_distance(hint->wrong.data, hint->wrong.size, word, size, hint->limit);
    if (distance > hint->limit) return;
    hint->best = (HloStringView){word, size};
    hint->limit = distance ? distance - 1 : 0;  // the next one must be nearer
}

const char *hlo_hint_text(HloReader *r, const HloHint *hint) {
    if (!hint->best.data) return "";
    int shown = (int)(hint->best.size < 200 ? hint->best.size : 200);
    return hlo_arena_printf(r->scratch, "; did you mean %.*s?", shown, hint->best.data);
}

const char *hlo_hint_of_names(HloReader *r, const HloNameTable *names, const char *text, size_t size) {
    enum { MOST_COMPARED = 20000 };  // a hint is not worth more time
    HloHint hint = hlo_hint_for(text, size);
    for (size_t i = 0; i < names->count && i < MOST_COMPARED; i++) {
        const HloNameSlot *slot = hlo_names_slot(names, i);
        hlo_hint_offer(&hint, slot->text, slot->size);
    }
    return hlo_hint_text(r, &hint);
}

const char *hlo_hint_of_types(HloReader *r, const char *text, size_t size) {
    HloHint hint = hlo_hint_for(text, size);
    for (int type = 0; type < HLO_TYPE_COUNT; type++) {
        const char *name = hlo_type_name((HloType)type);
        hlo_hint_offer(&hint, name, strlen(name));
    }
    return hlo_hint_text(r, &hint);
}

static int compare_texts(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

bool hlo_unexpected_attribute(HloReader *r, const char **known, size_t count) {
    const HloToken *t = &r->lex.token;
    if (t->kind != HLO_TOK_ATTR) return hlo_read_error(r, t->at, "expects attribute name");
    qsort(known, count, sizeof *known, compare_texts);
    HloHint hint = hlo_hint_for(t->text, t->size);
    HloBuffer list = {0};
    for (size_t i = 0; i < count; i++) {
        if (i && strcmp(known[i], known[i - 1]) == 0) continue;
        hlo_putf(&list, i ? ", %s" : "%s", known[i]);
        hlo_hint_offer(&hint, known[i], strlen(known[i]));
    }
    hlo_read_error(r, t->at, "unexpected attribute \"%.*s\". Allowed attributes: %s%s",
                   (int)(t->size < 80 ? t->size : 80), t->text, list.data ? list.data : "", hlo_hint_text(r, &hint));
    hlo_buffer_free(&list);
    return false;
}
