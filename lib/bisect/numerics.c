// The predicate that computes: a module gives other values than the first module that was asked.
//
// The interpreter runs both on the same made-up arguments. It does what every instruction means and nothing else, so
// that a difference comes from the module.

#include "hlo/bisect.h"
#include "hlo/infer.h"

#include <stdlib.h>

typedef struct Data {
    HloNumericsOptions options;
    HloNumerics *numerics;  // of the first module; NULL before the first question
} Data;

static bool is_valid(const HloModule *m) {
    HloVerifyOptions rules = {.allow_mixed_precision = true, .allow_fused_dead_code = true};
    HloStatus status = hlo_verify_module(m, &rules);
    bool valid = hlo_is_ok(status);
    hlo_status_free(status);
    return valid;
}

static HloStatus numerics_hold(void *data, const HloModule *m, HloStringView text, bool *out) {
    (void)text;
    Data *d = data;
    bool same = true;
    *out = false;
    if (!d->numerics) return hlo_numerics_new(m, &d->options, &d->numerics);
    if (is_valid(m))
        HLO_TRY(hlo_numerics_compare(d->numerics, m, &same, NULL));
    else
        same = false;  // what breaks a rule has no result
    *out = !same;
    return hlo_ok();
}

static void free_data(void *data) {
    Data *d = data;
    hlo_numerics_free(d->numerics);
    free(d);
}

HloStatus hlo_predicate_numerics(const HloNumericsOptions *options, HloPredicate **out) {
    HloPredicate *predicate = calloc(1, sizeof *predicate);
    Data *d = calloc(1, sizeof *d);
    if (!predicate || !d) {
        free(predicate);
        free(d);
        return hlo_out_of_memory();
    }
    d->options = *options;
    *predicate = (HloPredicate){.data = d,
                                .words = "the result differs",
                                .is_slow = true,
                                .needs_module = true,
                                .holds = numerics_hold,
                                .free = free_data};
    *out = predicate;
    return hlo_ok();
}
