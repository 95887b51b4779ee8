// What a module is made of, in a few lines for people.
#ifndef HLO_STATS_H
#define HLO_STATS_H

#include "hlo/buffer.h"
#include "hlo/module.h"

// Appends counts of computations and instructions, bytes of parameters, constants and result, and the instructions by
// opcode, most frequent first.
HLO_MUST_USE HloStatus hlo_put_module_stats(HloBuffer *out, const HloModule *m);

#endif
