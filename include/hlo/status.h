// HloStatus: the result of everything that can fail.
//
// A status is a pointer-sized value: NULL detail means success, so testing and passing it costs nothing.
// Whoever receives a failure either returns it or frees it with hlo_status_free; a status must not be
// dropped. Libraries never print and never exit.
#ifndef HLO_STATUS_H
#define HLO_STATUS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

// Codes are named as users of the reference know them.
typedef enum HloCode {
    HLO_OK = 0,
    HLO_CANCELLED,
    HLO_UNKNOWN,
    HLO_INVALID_ARGUMENT,
    HLO_DEADLINE_EXCEEDED,
    HLO_NOT_FOUND,
    HLO_ALREADY_EXISTS,
    HLO_PERMISSION_DENIED,
    HLO_RESOURCE_EXHAUSTED,
    HLO_FAILED_PRECONDITION,
    HLO_ABORTED,
    HLO_OUT_OF_RANGE,
    HLO_UNIMPLEMENTED,
    HLO_INTERNAL,
    HLO_UNAVAILABLE,
    HLO_DATA_LOSS,
    HLO_UNAUTHENTICATED,
} HloCode;

typedef struct HloStatusDetail HloStatusDetail;

typedef struct HloStatus {
    HloStatusDetail *detail;  // NULL: success; else owned by the holder
} HloStatus;

#define HLO_MUST_USE __attribute__((warn_unused_result))
#define HLO_PRINTF(text_arg, first) __attribute__((format(printf, text_arg, first)))

// The number of entries of an array.
#define HLO_COUNT(array) (sizeof(array) / sizeof((array)[0]))

// Returns from the enclosing function with the failure of `expression`, if it failed.
#define HLO_TRY(expression)                                 \
    do {                                                    \
        HloStatus hlo_try_status_ = (expression);           \
        if (hlo_try_status_.detail) return hlo_try_status_; \
    } while (0)

static inline HloStatus hlo_ok(void) {
    return (HloStatus){NULL};
}

static inline bool hlo_is_ok(HloStatus status) {
    return status.detail == NULL;
}

// A new failure with a formatted message. When memory for it cannot be had, the result is a shared
// RESOURCE_EXHAUSTED status, so a failure never turns into success.
HloStatus hlo_error(HloCode code, const char *format, ...) HLO_PRINTF(2, 3);
HloStatus hlo_error_v(HloCode code, const char *format, va_list args);

// A failure for the current errno: `message: strerror`; code NOT_FOUND, PERMISSION_DENIED,
// RESOURCE_EXHAUSTED (no memory, no space) or UNKNOWN.
HloStatus hlo_error_errno(const char *format, ...) HLO_PRINTF(1, 2);

// The shared status for a failed allocation.
HloStatus hlo_out_of_memory(void);

// Returns `status` with `format…` put in front of its message (`context: message`); success stays success.
HloStatus hlo_error_context(HloStatus status, const char *format, ...) HLO_PRINTF(2, 3);

// HLO_OK for success.
HloCode hlo_status_code(HloStatus status);
// The message; "" for success. Valid until the status is freed.
const char *hlo_status_message(HloStatus status);
// The word of a code, as `INVALID_ARGUMENT`.
const char *hlo_code_name(HloCode code);

// Releases a failure; success is ignored.
void hlo_status_free(HloStatus status);

#endif
