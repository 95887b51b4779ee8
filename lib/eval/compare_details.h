// The detailed part of a report on floats that differ: histograms, and bounds under which nothing would.
#ifndef HLO_LIB_EVAL_COMPARE_DETAILS_H
#define HLO_LIB_EVAL_COMPARE_DETAILS_H

#include "hlo/compare.h"

enum { HLO_MAGNITUDES = 6, HLO_ERROR_STEPS = 5, HLO_SUGGESTIONS = 32 };

// How many elements exceed one of the bounds, and how large their error of the other kind is.
typedef struct HloExceeding {
    int64_t count, below;               // below: less than the first step
    int64_t at_least[HLO_ERROR_STEPS];  // cumulative
} HloExceeding;

typedef struct HloBoundPair {
    double abs, rel;
} HloBoundPair;

typedef struct HloCompareDetails {
    int64_t magnitudes[HLO_MAGNITUDES], missed[HLO_MAGNITUDES];  // of all actual values, and of those that mismatch
    HloExceeding over_abs, over_rel;
    HloBoundPair suggested[HLO_SUGGESTIONS];  // by rising abs; at first the bounds that were given
    size_t suggested_count;
} HloCompareDetails;

// Counts one element.
void hlo_details_add(HloCompareDetails *details, HloErrorBounds bounds, double actual, double abs, double rel);
// Appends the lines, each with a newline in front. `count`: elements compared.
void hlo_details_put(HloBuffer *out, const HloCompareDetails *details, HloErrorBounds bounds, int64_t count);

#endif
