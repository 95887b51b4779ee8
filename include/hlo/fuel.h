// Fuel: how many rewrites single passes may make (pass chapter, §7). Every pass honours it here, not a chosen few.
#ifndef HLO_FUEL_H
#define HLO_FUEL_H

#include "hlo/pass.h"

// Reads `PASS=N,PASS2=M` into the log, which borrows it from the arena; NULL or "" bounds nothing.
HLO_MUST_USE HloStatus hlo_fuel_parse(HloArena *arena, const char *value, HloRewriteLog *log);
// Appends a line for every pass that ran out, and for every one that no rewrite asked for.
void hlo_put_fuel(HloBuffer *out, const HloRewriteLog *log);

#endif
