// Regular expressions for name filters, in the syntax of PCRE2.
#ifndef HLO_REGEX_H
#define HLO_REGEX_H

#include "hlo/containers.h"
#include "hlo/status.h"

typedef struct HloRegex HloRegex;

// Compiles a pattern; the caller frees *out. A faulty pattern is INVALID_ARGUMENT with the position of the fault.
HLO_MUST_USE HloStatus hlo_regex_new(const char *pattern, HloRegex **out);
void hlo_regex_free(HloRegex *regex);

// Whether the pattern is found anywhere in the text. A search that would take longer than the library's bounds on
// backtracking counts as not found.
bool hlo_regex_finds(const HloRegex *regex, HloStringView text);

#endif
