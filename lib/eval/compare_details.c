// Histograms of mismatches, and the bounds that would excuse them (interpreter chapter, §10.2).

#include "lib/eval/compare_details.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double magnitude_ends[HLO_MAGNITUDES + 1] = {0, 0.0001, 0.001, 0.01, 0.1, 1, INFINITY};
static const double error_steps[HLO_ERROR_STEPS] = {0.0001, 0.001, 0.01, 0.1, 1};

// ---- suggestions ----------------------------------------------------------------------------------------

static bool is_dominated(const HloCompareDetails *d, HloBoundPair pair) {
    for (size_t k = 0; k < d->suggested_count; k++) {
        if (d->suggested[k].abs <= pair.abs && d->suggested[k].rel <= pair.rel) return true;
    }
    return false;
}

// Keeps the order; pairs that the new one dominates go. When there are too many the last ones are forgotten.
static void suggest(HloCompareDetails *d, HloBoundPair pair) {
    if (is_dominated(d, pair)) return;
    size_t kept = 0, at;
    for (size_t k = 0; k < d->suggested_count; k++) {
        bool dominated = pair.abs <= d->suggested[k].abs && pair.rel <= d->suggested[k].rel;
        if (!dominated) d->suggested[kept++] = d->suggested[k];
    }
    if (kept == HLO_SUGGESTIONS) kept--;
    for (at = kept; at > 0 && d->suggested[at - 1].abs > pair.abs; at--) d->suggested[at] = d->suggested[at - 1];
    d->suggested[at] = pair;
    d->suggested_count = kept + 1;
}

// Every pair that does not excuse the mismatch is widened in one of its parts.
static void widen(HloCompareDetails *d, double abs, double rel) {
    HloBoundPair old[HLO_SUGGESTIONS];
    size_t count = d->suggested_count;
    memcpy(old, d->suggested, count * sizeof *old);
    d->suggested_count = 0;
    for (size_t k = 0; k < count; k++) {
        bool fails = abs > old[k].abs && rel > old[k].rel;
        suggest(d, fails ? (HloBoundPair){abs, old[k].rel} : old[k]);
        if (fails) suggest(d, (HloBoundPair){old[k].abs, rel});
    }
}

// Up to one significant digit.
static double rounded_up(double x) {
    if (x <= 0 || isinf(x)) return x;
    double unit = pow(10, floor(log10(x)));
    return ceil(x / unit - 1e-9) * unit;
}

// ---- counting -------------------------------------------------------------------------------------------

// NaN falls in the last one.
static size_t magnitude_of(double x) {
    size_t k = 0;
    while (k + 1 < HLO_MAGNITUDES && !(fabs(x) < magnitude_ends[k + 1])) k++;
    return k;
}

static void count_exceeding(HloExceeding *over, double error) {
    over->count++;
    over->below += error < error_steps[0];
    for (size_t k = 0; k < HLO_ERROR_STEPS; k++) over->at_least[k] += error >= error_steps[k];
}

void hlo_details_add(HloCompareDetails *d, HloErrorBounds bounds, double actual, double abs, double rel) {
    size_t magnitude = magnitude_of(actual);
    bool missed = abs > bounds.abs && rel > bounds.rel;
    d->magnitudes[magnitude]++;
    d->missed[magnitude] += missed;
    if (abs > bounds.abs) count_exceeding(&d->over_abs, rel);
    if (rel > bounds.rel) count_exceeding(&d->over_rel, abs);
    if (!missed) return;
    if (!d->suggested_count) suggest(d, (HloBoundPair){bounds.abs, bounds.rel});
    widen(d, abs, rel);
}

// ---- printing -------------------------------------------------------------------------------------------

static double percent(int64_t part, int64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void put_magnitudes(HloBuffer *out, const HloCompareDetails *d, int64_t count) {
    hlo_put_string(out, "\nAbsolute magnitude breakdown of actual values:");
    for (size_t k = 0; k < HLO_MAGNITUDES; k++) {
        char share[32];
        snprintf(share, sizeof share, "%.4f%%", percent(d->magnitudes[k], count));
        hlo_putf(out, "\n  %-6g <= x < %-6g : %7lld (%9s)", magnitude_ends[k], magnitude_ends[k + 1],
                 (long long)d->magnitudes[k], share);
        if (d->missed[k]) hlo_putf(out, ", mismatches %lld", (long long)d->missed[k]);
    }
}

static void put_exceeding(HloBuffer *out, const HloExceeding *over, const char *which, const char *title,
                          const char *other, double bound, int64_t count) {
    hlo_putf(out, "\nElements exceeding %s error bound %g: %lld (%.4f%%)", which, bound, (long long)over->count,
             percent(over->count, count));
    hlo_putf(out, "\n%s error breakdown of elements exceeding %s error bound:", title, other);
    hlo_putf(out, "\n  <  %-6g : %7lld (%.4f%%)", error_steps[0], (long long)over->below,
             percent(over->below, over->count));
    for (size_t k = 0; k < HLO_ERROR_STEPS; k++) {
        hlo_putf(out, "\n  >= %-6g : %7lld (%.4f%%)", error_steps[k], (long long)over->at_least[k],
                 percent(over->at_least[k], over->count));
    }
}

static void put_suggestions(HloBuffer *out, const HloCompareDetails *d, HloErrorBounds bounds) {
    HloCompareDetails rounded = {.suggested_count = 0};
    for (size_t k = 0; k < d->suggested_count; k++) {
        suggest(&rounded, (HloBoundPair){rounded_up(d->suggested[k].abs), rounded_up(d->suggested[k].rel)});
    }
    hlo_putf(out, "\n\nCurrent ErrorSpec: ErrorSpec{%g, %g}", bounds.abs, bounds.rel);
    hlo_put_string(out, "\nSuggested ErrorSpec adjustments to make this test pass:");
    for (size_t k = 0; k < rounded.suggested_count; k++) {
        hlo_putf(out, "\n  Option %zu: ErrorSpec{%g, %g}", k + 1, rounded.suggested[k].abs, rounded.suggested[k].rel);
    }
    hlo_put_char(out, '\n');
}

void hlo_details_put(HloBuffer *out, const HloCompareDetails *d, HloErrorBounds bounds, int64_t count) {
    put_magnitudes(out, d, count);
    put_exceeding(out, &d->over_abs, "abs", "Relative", "abs", bounds.abs, count);
    put_exceeding(out, &d->over_rel, "rel", "Absolute", "rel", bounds.rel, count);
    put_suggestions(out, d, bounds);
}
