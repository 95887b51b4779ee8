// Fuel: bounds on the rewrites of single passes, as `--xla_fuel=PASS=N,PASS2=M` gives them (pass chapter, §7).

#include "hlo/fuel.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static HloStatus wrong_token(const char *value, HloStringView token, const char *what) {
    return hlo_error(HLO_INVALID_ARGUMENT, "Illegal value for --xla_fuel. Saw %s, but expected token %.*s to %s.",
                     value, (int)token.size, token.data, what);
}

// token = PASS "=" INTEGER
static HloStatus parse_token(HloArena *arena, const char *value, HloStringView token, HloFuel *out) {
    const char *equals = memchr(token.data, '=', token.size);
    if (!equals) return wrong_token(value, token, "have format X=INTEGER");
    const char *end = token.data + token.size;
    const char *number = hlo_arena_string(arena, equals + 1, (size_t)(end - equals - 1));
    char *rest;
    errno = 0;
    int64_t left = strtoll(number, &rest, 10);
    if (!*number || *rest || errno) return wrong_token(value, token, "be an integer");
    *out = (HloFuel){.pass = hlo_arena_string(arena, token.data, (size_t)(equals - token.data)), .left = left};
    return hlo_ok();
}

static size_t count_tokens(const char *value) {
    size_t count = 1;
    for (const char *at = value; *at; at++) count += *at == ',';
    return count;
}

HloStatus hlo_fuel_parse(HloArena *arena, const char *value, HloRewriteLog *log) {
    log->fuel = NULL;
    log->fuel_count = 0;
    if (!value || !*value) return hlo_ok();
    HloFuel *fuel = HLO_NEW_ARRAY(arena, HloFuel, count_tokens(value));
    size_t count = 0;
    for (const char *at = value; at;) {
        const char *comma = strchr(at, ',');
        HloStringView token = {at, comma ? (size_t)(comma - at) : strlen(at)};
        HLO_TRY(parse_token(arena, value, token, &fuel[count++]));
        at = comma ? comma + 1 : NULL;
    }
    log->fuel = fuel;
    log->fuel_count = count;
    return hlo_ok();
}

void hlo_put_fuel(HloBuffer *out, const HloRewriteLog *log) {
    for (size_t k = 0; k < log->fuel_count; k++) {
        const HloFuel *fuel = &log->fuel[k];
        if (fuel->was_refused) hlo_putf(out, "Out of fuel for \"%s\".\n", fuel->pass);
        if (fuel->was_used || fuel->was_refused) continue;
        hlo_putf(out,
                 "Compiler fuel for \"%s\" was never consumed. This may be a typo in the --xla_fuel flag you passed.\n",
                 fuel->pass);
    }
}
