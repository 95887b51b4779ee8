// Status values: one allocation per failure, none for success.

#include "hlo/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// `shared` marks the one detail that is not on the heap. It is a mark and not a comparison of addresses, because the
// loadable part has a copy of this file, and statuses cross its border.
struct HloStatusDetail {
    HloCode code;
    bool shared;
    char message[];
};

static HloStatusDetail *const exhausted = (HloStatusDetail *)&(const struct {
    HloCode code;
    bool shared;
    char message[sizeof "out of memory"];
}){HLO_RESOURCE_EXHAUSTED, true, "out of memory"};

HloStatus hlo_out_of_memory(void) {
    return (HloStatus){exhausted};
}

HloStatus hlo_error_v(HloCode code, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int size = vsnprintf(NULL, 0, format, args);
    HloStatusDetail *detail = size < 0 ? NULL : malloc(sizeof *detail + (size_t)size + 1);
    if (detail) {
        detail->code = code;
        detail->shared = false;
        vsnprintf(detail->message, (size_t)size + 1, format, again);
    }
    va_end(again);
    return detail ? (HloStatus){detail} : hlo_out_of_memory();
}

HloStatus hlo_error(HloCode code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    HloStatus status = hlo_error_v(code, format, args);
    va_end(args);
    return status;
}

static HloCode code_of_errno(int error) {
    switch (error) {
    case ENOENT: return HLO_NOT_FOUND;
    case EACCES:
    case EPERM: return HLO_PERMISSION_DENIED;
    case ENOMEM:
    case ENOSPC:
    case EDQUOT: return HLO_RESOURCE_EXHAUSTED;
    default: return HLO_UNKNOWN;
    }
}

HloStatus hlo_error_errno(const char *format, ...) {
    int error = errno;
    va_list args;
    va_start(args, format);
    HloStatus what = hlo_error_v(HLO_UNKNOWN, format, args);
    va_end(args);
    HloStatus status = hlo_error(code_of_errno(error), "%s: %s", hlo_status_message(what), strerror(error));
    hlo_status_free(what);
    return status;
}

HloStatus hlo_error_context(HloStatus status, const char *format, ...) {
    if (!status.detail || status.detail->shared) return status;
    va_list args;
    va_start(args, format);
    HloStatus context = hlo_error_v(HLO_UNKNOWN, format, args);
    va_end(args);
    HloStatus joined =
        hlo_error(hlo_status_code(status), "%s: %s", hlo_status_message(context), hlo_status_message(status));
    hlo_status_free(context);
    hlo_status_free(status);
    return joined;
}

HloCode hlo_status_code(HloStatus status) {
    return status.detail ? status.detail->code : HLO_OK;
}

const char *hlo_status_message(HloStatus status) {
    return status.detail ? status.detail->message : "";
}

const char *hlo_code_name(HloCode code) {
    switch (code) {
    case HLO_OK: return "OK";
    case HLO_CANCELLED: return "CANCELLED";
    case HLO_UNKNOWN: return "UNKNOWN";
    case HLO_INVALID_ARGUMENT: return "INVALID_ARGUMENT";
    case HLO_DEADLINE_EXCEEDED: return "DEADLINE_EXCEEDED";
    case HLO_NOT_FOUND: return "NOT_FOUND";
    case HLO_ALREADY_EXISTS: return "ALREADY_EXISTS";
    case HLO_PERMISSION_DENIED: return "PERMISSION_DENIED";
    case HLO_RESOURCE_EXHAUSTED: return "RESOURCE_EXHAUSTED";
    case HLO_FAILED_PRECONDITION: return "FAILED_PRECONDITION";
    case HLO_ABORTED: return "ABORTED";
    case HLO_OUT_OF_RANGE: return "OUT_OF_RANGE";
    case HLO_UNIMPLEMENTED: return "UNIMPLEMENTED";
    case HLO_INTERNAL: return "INTERNAL";
    case HLO_UNAVAILABLE: return "UNAVAILABLE";
    case HLO_DATA_LOSS: return "DATA_LOSS";
    case HLO_UNAUTHENTICATED: return "UNAUTHENTICATED";
    }
    return "UNKNOWN";
}

void hlo_status_free(HloStatus status) {
    if (status.detail && !status.detail->shared) free(status.detail);
}
