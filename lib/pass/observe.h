// What the observers share: making one, and its private state.
#ifndef HLO_PASS_OBSERVE_H
#define HLO_PASS_OBSERVE_H

#include "hlo/observers.h"

// A new observer with `size` bytes of zeroed state in `data`; both die in hlo_observer_free.
HLO_MUST_USE HloStatus hlo_observer_new(size_t size, HloPassObserver **out);

// Runs body(data) with a trap for the observer's own arena.
HLO_MUST_USE HloStatus hlo_observer_guarded(HloArena *arena, HloStatus (*body)(void *data), void *data);

// A hash of the module's text: with names, of all of it; without, of what it computes (canonical style).
HLO_MUST_USE HloStatus hlo_observer_hash(const HloModule *m, bool with_names, uint64_t *out);

#endif
