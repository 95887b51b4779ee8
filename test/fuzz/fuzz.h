// What the fuzz targets share: reading with limits, checking, and a time limit.
//
// A target is a program that libFuzzer calls with bytes of its choice. It ends by SIGABRT when something that must hold
// does not; the sanitizers end it for everything else.
#ifndef HLO_TEST_FUZZ_H
#define HLO_TEST_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hlo/infer.h"
#include "hlo/text.h"

// Memory for one module, and processor time for everything done with one input (under the sanitizers, which
// slow it down ten times).
enum { MODULE_BYTES = 32 << 20, INPUT_SECONDS = 10 };

#define MUST(condition, ...)                                                  \
    do {                                                                      \
        if (!(condition)) {                                                   \
            fprintf(stderr, "fuzz: must hold: " #condition "\n" __VA_ARGS__); \
            abort();                                                          \
        }                                                                     \
    } while (0)

static inline double processor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// The code of a status, which is freed; *out, unless NULL, gets the start of its message.
static inline HloCode take_code(HloStatus status, char *message, size_t size) {
    HloCode code = hlo_status_code(status);
    if (message) snprintf(message, size, "%s", hlo_status_message(status));
    hlo_status_free(status);
    return code;
}

// The version of the language that an input is read as: mostly the newest, which has the most forms.
static inline int version_for(size_t size) {
    return size % 4 ? HLO_VERSION_2026_08 : 0;
}

// Reads a module with the sign of `-0` kept, so that a printed constant is read back as it was. NULL: it failed.
static inline HloModule *read_text(HloStringView text, int hlo_version, size_t memory_limit_bytes, HloCode *code,
                                   char *message, size_t size) {
    HloModule *m = NULL;
    HloParseOptions options = {.memory_limit_bytes = memory_limit_bytes, .hlo_version = hlo_version};
    *code = take_code(hlo_parse_module(text, &options, &m), message, size);
    return m;
}

// Whether lists of control predecessors name get-tuple-elements. They do so even in the form that leaves out their
// lines, as the reference does, so that form cannot be read back.
static inline bool orders_elements(const HloModule *m) {
    HLO_EACH_COMP(comp, m) {
        HLO_EACH_INST(inst, comp) {
            if (inst->op == HLO_OP_GET_TUPLE_ELEMENT && hlo_control_succs(inst)->count) return true;
        }
    }
    return false;
}

// Takes the elements of a literal off what is left; false when that is not enough.
static inline bool take_elements(const HloLiteral *literal, int64_t *left) {
    if (!literal->elements) {
        *left -= literal->elem_count;
        return *left >= 0;
    }
    for (size_t i = 0; i < literal->shape->rank; i++) {
        if (!take_elements(literal->elements[i], left)) return false;
    }
    return true;
}

// Whether all constants may be printed in full: `{...}` of any size, and one value that fills an array, are read in no
// time but take long to write out.
static inline bool has_small_constants(const HloModule *m) {
    int64_t left = 1 << 11;
    HLO_EACH_COMP(comp, m) {
        for (const HloInstruction *inst = comp->first; inst; inst = inst->next) {
            const HloLiteral *literal = inst->op == HLO_OP_CONSTANT ? hlo_constant(inst) : NULL;
            if (literal && !take_elements(literal, &left)) return false;
        }
    }
    return true;
}

#endif
