// The verifier's options as flags.

#include "hlo/infer.h"

#define FLAG(name, field, help) \
    { name, HLO_FLAG_BOOL, offsetof(HloVerifyOptions, field), "verify", NULL, NULL, help }

static const HloFlag flags[] = {
    FLAG("allow-mixed-precision", allow_mixed_precision, "let floats of several precisions meet (default: true)"),
    FLAG("allow-unbounded", allow_unbounded, "let results have unbounded dimensions"),
    FLAG("allow-resizing-bitcasts", allow_resizing_bitcasts, "with layouts: count what tiled data take, not the room"),
    FLAG("allow-any-devices", allow_any_devices, "let shardings name more or fewer devices than there are partitions"),
    FLAG("allow-any-groups", allow_any_groups, "do not count the replicas in groups of collectives"),
    FLAG("verify-layouts", layout_sensitive, "let layouts count where values are passed on"),
    FLAG("verify-kept-layouts", kept_layouts, "opcodes that compute in place keep the layout of their operands"),
    FLAG("verify-sorted-broadcasts", sorted_broadcasts, "dimensions of broadcasts rise"),
    FLAG("verify-bitcast-reshapes", bitcast_reshapes, "reshapes outside fusions move no element"),
    FLAG("verify-callee-threads", callee_threads, "calls run on the thread of what they call"),
    FLAG("verify-kept-names", kept_names, "instructions are named as their scheduling_name says"),
    FLAG("verify-no-host-memory", no_host_memory, "no layout is in host memory"),
    FLAG("verify-element-sizes", own_element_sizes, "only types of less than a byte have an element size"),
    FLAG("verify-no-deadlocks", no_deadlocks, "scheduled sends and receives do not wait for each other"),
};

HloFlagSet hlo_verify_flags(HloVerifyOptions *options) {
    return (HloFlagSet){.flags = flags, .count = HLO_COUNT(flags), .options = options};
}
