// Searching numbered states for the step from no to yes.

#include "hlo/bisect.h"

HloStatus hlo_bisect_search(uint64_t low, uint64_t high, bool linear, HloStateAsk ask, void *data, uint64_t *out) {
    while (high - low > 1) {
        uint64_t k = linear ? low + 1 : low + (high - low) / 2;
        bool holds;
        HLO_TRY(ask(data, k, &holds));
        if (holds)
            high = k;
        else
            low = k;
        if (holds && linear) break;
    }
    *out = high;
    return hlo_ok();
}
