// JSON in one spelling: the keys of every dict in order, no blanks.
//
//   {"b": [1, 2], "a": {"d": 0, "c": 0}}
// becomes
//   {"a":{"c":0,"d":0},"b":[1,2]}
//
// A text may nest as deep as it likes, so values form a tree that loops with a parent pointer read and write.

#include <stdlib.h>

#include "print.h"

typedef struct Value {
    HloStringView key;     // with its quotes; empty in lists and at the top
    HloStringView scalar;  // of a string, number or word
    char open;             // `{` or `[`; 0: a scalar
    HloVec members;        // Value *
    struct Value *outer;
} Value;

typedef struct Reader {
    const char *at;
    HloArena *scratch;
} Reader;

static void skip_blanks(Reader *r) {
    while (*r->at && strchr(" \t\r\n", *r->at)) r->at++;
}

static bool take(Reader *r, char c) {
    skip_blanks(r);
    if (*r->at != c) return false;
    r->at++;
    return true;
}

static bool read_string(Reader *r, HloStringView *out) {
    skip_blanks(r);
    const char *start = r->at;
    if (*start != '"') return false;
    for (r->at++; *r->at != '"'; r->at++) {
        if (*r->at == '\\') r->at++;
        if (!*r->at) return false;
    }
    r->at++;
    *out = (HloStringView){start, (size_t)(r->at - start)};
    return true;
}

// A number, true, false or null; their spelling is not checked further.
static bool read_word(Reader *r, HloStringView *out) {
    const char *start = r->at;
    while (*r->at && !strchr(",:{}[]\" \t\r\n", *r->at)) r->at++;
    *out = (HloStringView){start, (size_t)(r->at - start)};
    return out->size > 0;
}

// member = [string ":"] (string | word | "{" | "[")
static Value *read_member(Reader *r, Value *outer) {
    Value *value = HLO_NEW(r->scratch, Value);
    value->outer = outer;
    if (outer && outer->open == '{' && (!read_string(r, &value->key) || !take(r, ':'))) return NULL;
    if (outer) hlo_vec_push(r->scratch, &outer->members, value);
    skip_blanks(r);
    if (*r->at == '{' || *r->at == '[') {
        value->open = *r->at++;
        return value;
    }
    bool read = *r->at == '"' ? read_string(r, &value->scalar) : read_word(r, &value->scalar);
    return read ? value : NULL;
}

static char closing(const Value *value) {
    return value->open == '{' ? '}' : ']';
}

// The tree, or NULL when the text is not a dict of JSON.
static Value *read_tree(Reader *r) {
    Value *top = read_member(r, NULL);
    if (!top || top->open != '{') return NULL;
    for (Value *open = top; open;) {
        if (take(r, closing(open))) {
            open = open->outer;
            continue;
        }
        if (open->members.count && !take(r, ',')) return NULL;
        Value *member = read_member(r, open);
        if (!member) return NULL;
        if (member->open) open = member;
    }
    skip_blanks(r);
    return *r->at ? NULL : top;
}

static int compare_keys(const void *a, const void *b) {
    const Value *left = *(Value *const *)a, *right = *(Value *const *)b;
    size_t shorter = left->key.size < right->key.size ? left->key.size : right->key.size;
    int order = memcmp(left->key.data, right->key.data, shorter);
    if (!order) order = (left->key.size > right->key.size) - (left->key.size < right->key.size);
    return order ? order : (left->key.data > right->key.data) - (left->key.data < right->key.data);
}

static void open_value(HloBuffer *out, Value *value) {
    if (value->key.size) {
        hlo_put(out, value->key.data, value->key.size);
        hlo_put_char(out, ':');
    }
    if (!value->open) {
        hlo_put(out, value->scalar.data, value->scalar.size);
        return;
    }
    hlo_put_char(out, value->open);
    if (value->open == '{' && value->members.count)
        qsort(value->members.items, value->members.count, sizeof *value->members.items, compare_keys);
}

bool hlo_put_sorted_json(HloBuffer *out, HloArena *scratch, const char *text) {
    Reader r = {text, scratch};
    Value *value = read_tree(&r);
    if (!value) return false;
    HloInts next = {0};  // the next member of each open value
    open_value(out, value);
    hlo_ints_push(scratch, &next, 0);
    while (value) {
        size_t k = (size_t)next.items[next.count - 1]++;
        if (k == value->members.count) {
            hlo_put_char(out, closing(value));
            value = value->outer;
            next.count--;
            continue;
        }
        if (k) hlo_put_char(out, ',');
        Value *member = value->members.items[k];
        open_value(out, member);
        if (!member->open) continue;
        value = member;
        hlo_ints_push(scratch, &next, 0);
    }
    return true;
}
