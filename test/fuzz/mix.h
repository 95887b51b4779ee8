// How the fuzzer changes HLO text: it moves units of the language between inputs, where its own mutations move bytes.
//
//     a = f32[8]{0} add(p, p), metadata={op_name="a"}      an input
//     ROOT s = s16[4]{0} slice(q), slice={[0:4]}           another
//
//     a = s16[4]{0} add(p, p), metadata={op_name="a"}      a shape in place of a shape
//     a = f32[8]{0} add(p, p), slice={[0:4]}               an attribute in place of an attribute
//
// Half of the changes are libFuzzer's own. Bytes in front of the text (MIX_PREFIX, before this file is included) keep
// their place.
#ifndef HLO_TEST_FUZZ_MIX_H
#define HLO_TEST_FUZZ_MIX_H

#include <stdint.h>
#include <string.h>

#include "lib/text/lexer.h"

#ifndef MIX_PREFIX
#define MIX_PREFIX 0
#endif

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

typedef enum Unit { UNIT_LINE, UNIT_TOKEN, UNIT_SHAPE, UNIT_ATTRIBUTE, UNIT_COUNT } Unit;

typedef struct Span {
    size_t from, to;
} Span;

// xorshift: a sequence that a seed fixes.
static uint32_t draw(uint32_t *state, size_t limit) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return limit ? *state % (uint32_t)limit : 0;
}

static bool is_one_of(char c, const char *set) {
    return c && strchr(set, c);
}

static Span line_at(HloStringView text, size_t at) {
    Span line = {at, at};
    while (line.from > 0 && text.data[line.from - 1] != '\n') line.from--;
    while (line.to < text.size && text.data[line.to] != '\n') line.to++;
    if (line.to < text.size) line.to++;
    return line;
}

// From an opening bracket at `at` to behind the one that closes it.
static size_t skip_brackets(HloStringView text, size_t at) {
    int depth = 0;
    for (; at < text.size && text.data[at] != '\n'; at++) {
        if (is_one_of(text.data[at], "([{")) depth++;
        if (is_one_of(text.data[at], ")]}") && --depth <= 0) return at + 1;
    }
    return at;
}

static size_t skip_while_opening(HloStringView text, size_t at) {
    while (at < text.size && (text.data[at] == '[' || text.data[at] == '{')) at = skip_brackets(text, at);
    return at;
}

// ", key=value": the comma before the key and all up to the next comma outside of brackets.
static Span attribute_at(HloStringView text, size_t key, size_t value) {
    Span out = {key, value};
    while (out.from > 0 && is_one_of(text.data[out.from - 1], ", ")) out.from--;
    while (out.to < text.size && !is_one_of(text.data[out.to], ",)}\n"))
        out.to = is_one_of(text.data[out.to], "([{") ? skip_brackets(text, out.to) : out.to + 1;
    return out;
}

static bool starts(const HloToken *token, Unit unit) {
    switch (unit) {
    case UNIT_SHAPE: return token->kind == HLO_TOK_TYPE;
    case UNIT_ATTRIBUTE: return token->kind == HLO_TOK_ATTR;
    case UNIT_TOKEN: return true;
    case UNIT_LINE:
    case UNIT_COUNT: break;
    }
    return false;
}

static Span unit_from(HloStringView text, const HloToken *token, Unit unit, size_t next) {
    size_t at = (size_t)(token->at - text.data);
    if (unit == UNIT_SHAPE) return (Span){at, skip_while_opening(text, next)};
    if (unit == UNIT_ATTRIBUTE) return attribute_at(text, at, next);
    return (Span){at, next};
}

// A unit of the text: of a line drawn, one of its units. False: that line has none.
static bool pick(HloStringView text, Unit unit, uint32_t *state, Span *out) {
    *out = line_at(text, draw(state, text.size));
    if (unit == UNIT_LINE) return out->to > out->from;
    HloStringView line = {text.data + out->from, out->to - out->from};
    uint32_t seen = 0;
    for (HloLexer lex = hlo_lex_start(line); lex.token.kind != HLO_TOK_EOF && lex.token.kind != HLO_TOK_ERROR;
         hlo_lex_next(&lex)) {
        // Each of the units seen is as likely to be the one that stays.
        if (starts(&lex.token, unit) && draw(state, ++seen) == 0)
            *out = unit_from(text, &lex.token, unit, (size_t)(lex.next - text.data));
    }
    return seen > 0;
}

// `data` with `to` replaced by (`insert`: preceded by) what `from` is in `other`. 0: no room.
static size_t splice(HloStringView data, Span to, HloStringView other, Span from, bool insert, uint8_t *out,
                     size_t max) {
    size_t tail = insert ? to.from : to.to, moved = from.to - from.from;
    if (to.from + moved + (data.size - tail) > max) return 0;
    memcpy(out, data.data, to.from);
    memcpy(out + to.from, other.data + from.from, moved);
    memcpy(out + to.from + moved, data.data + tail, data.size - tail);
    return to.from + moved + (data.size - tail);
}

// Puts a unit of `other` into `data`, in place of one of its kind or before it.
static size_t mix(HloStringView data, HloStringView other, uint8_t *out, size_t max, uint32_t *state) {
    Unit unit = (Unit)draw(state, UNIT_COUNT);
    Span from, to;
    if (!data.size || !other.size || !pick(other, unit, state, &from) || !pick(data, unit, state, &to)) return 0;
    return splice(data, to, other, from, draw(state, 4) == 0, out, max);
}

static size_t leave_out(HloStringView data, uint8_t *out, size_t max, uint32_t *state) {
    Span to;
    if (!data.size || !pick(data, (Unit)draw(state, UNIT_COUNT), state, &to)) return 0;
    return splice(data, to, data, (Span){0, 0}, false, out, max);
}

static HloStringView text_of(const uint8_t *data, size_t size) {
    return (HloStringView){(const char *)data + MIX_PREFIX, size > MIX_PREFIX ? size - MIX_PREFIX : 0};
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    static uint8_t out[1 << 20];
    uint32_t state = (seed * 2654435761U) | 1;
    HloStringView text = text_of(data, size);
    size_t room = max_size > MIX_PREFIX ? max_size - MIX_PREFIX : 0, made = 0;
    if (room > sizeof out) room = sizeof out;
    switch (draw(&state, 8)) {
    case 0:
    case 1:
    case 2: made = mix(text, text, out, room, &state); break;
    case 3: made = leave_out(text, out, room, &state); break;
    default: break;
    }
    if (!made) return LLVMFuzzerMutate(data, size, max_size);
    memcpy(data + MIX_PREFIX, out, made);
    return made + MIX_PREFIX;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size,
                                 uint8_t *out, size_t max_size, unsigned seed) {
    uint32_t state = (seed * 2654435761U) | 1;
    if (size < MIX_PREFIX || max_size < MIX_PREFIX) return 0;
    memcpy(out, data, MIX_PREFIX);
    size_t made = mix(text_of(data, size), text_of(other, other_size), out + MIX_PREFIX, max_size - MIX_PREFIX, &state);
    return made ? made + MIX_PREFIX : 0;
}

#endif
