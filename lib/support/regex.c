// A thin cover over PCRE2: the only file that knows it.

#include "hlo/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

enum { MATCH_STEPS = 1000000 };  // bounds a search over a name to some milliseconds

struct HloRegex {
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
};

static HloStatus pattern_error(const char *pattern, int error, size_t offset) {
    char message[128];
    if (pcre2_get_error_message(error, (PCRE2_UCHAR *)message, sizeof message) < 0) message[0] = 0;
    return hlo_error(HLO_INVALID_ARGUMENT, "regular expression '%s' is faulty at position %zu: %s", pattern, offset,
                     message);
}

HloStatus hlo_regex_new(const char *pattern, HloRegex **out) {
    int error;
    size_t offset;
    HloRegex *regex = calloc(1, sizeof *regex);
    if (!regex) return hlo_out_of_memory();
    regex->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0, &error, &offset, NULL);
    if (!regex->code) {
        hlo_regex_free(regex);
        return pattern_error(pattern, error, offset);
    }
    regex->match = pcre2_match_data_create_from_pattern(regex->code, NULL);
    regex->limits = pcre2_match_context_create(NULL);
    if (!regex->match || !regex->limits) {
        hlo_regex_free(regex);
        return hlo_out_of_memory();
    }
    pcre2_set_match_limit(regex->limits, MATCH_STEPS);
    pcre2_set_depth_limit(regex->limits, MATCH_STEPS);
    *out = regex;
    return hlo_ok();
}

void hlo_regex_free(HloRegex *regex) {
    if (!regex) return;
    pcre2_match_context_free(regex->limits);
    pcre2_match_data_free(regex->match);
    pcre2_code_free(regex->code);
    free(regex);
}

bool hlo_regex_finds(const HloRegex *regex, HloStringView text) {
    return pcre2_match(regex->code, (PCRE2_SPTR)text.data, text.size, 0, 0, regex->match, regex->limits) >= 0;
}
