// From a module to the bytes of an HloProto.

#include "hlo/proto.h"

#include "writer.h"

typedef struct Task {
    HloArena arena;
    HloProtoWriter writer;
    HloProtoForm form;
    HloBuffer *out;
} Task;

static HloStatus write_all(void *data) {
    Task *task = data;
    HloProtoWriter *w = &task->writer;
    Xla__HloProto *proto = hlo_message_new(w->arena, &xla__hlo_proto__descriptor);
    proto->hlo_module = hlo_write_module(w);
    HloStatus failure = w->failure;
    w->failure = hlo_ok();
    HLO_TRY(failure);
    if (task->form == HLO_PROTO_BINARY) return hlo_wire_write(proto, task->out);
    HLO_TRY(hlo_message_check(proto));
    hlo_prototext_write(proto, task->out);
    return hlo_buffer_status(task->out);
}

HloStatus hlo_proto_write_module(const HloModule *m, HloProtoForm form, HloBuffer *out) {
    Task task = {.form = form, .out = out};
    task.writer = (HloProtoWriter){.arena = &task.arena, .m = m};
    HloStatus status = hlo_guarded((HloArena *const[]){&task.arena, NULL}, write_all, &task);
    hlo_status_free(task.writer.failure);  // left behind when memory ran out
    hlo_arena_free(&task.arena);
    return status;
}

// ---- snapshots -------------------------------------------------------------------------------------------

typedef struct SnapshotTask {
    Task task;
    const HloLiteral *const *arguments;
    size_t count;
    const HloLiteral *result;
} SnapshotTask;

static HloStatus write_snapshot(void *data) {
    SnapshotTask *call = data;
    HloProtoWriter *w = &call->task.writer;
    Xla__HloSnapshot *proto = hlo_message_new(w->arena, &xla__hlo_snapshot__descriptor);
    proto->hlo = hlo_message_new(w->arena, &xla__hlo_proto__descriptor);
    proto->hlo->hlo_module = hlo_write_module(w);
    proto->n_arguments = call->count;
    proto->arguments = HLO_NEW_LIST(w, Xla__LiteralProto, call->count);
    for (size_t k = 0; k < call->count; k++) proto->arguments[k] = hlo_write_literal(w, call->arguments[k]);
    if (call->result) proto->result = hlo_write_literal(w, call->result);
    HloStatus failure = w->failure;
    w->failure = hlo_ok();
    HLO_TRY(failure);
    return hlo_wire_write(proto, call->task.out);
}

HloStatus hlo_proto_write_snapshot(const HloModule *m, const HloLiteral *const *arguments, size_t count,
                                   const HloLiteral *result, HloBuffer *out) {
    SnapshotTask call = {.task = {.out = out}, .arguments = arguments, .count = count, .result = result};
    call.task.writer = (HloProtoWriter){.arena = &call.task.arena, .m = m};
    HloStatus status = hlo_guarded((HloArena *const[]){&call.task.arena, NULL}, write_snapshot, &call);
    hlo_status_free(call.task.writer.failure);
    hlo_arena_free(&call.task.arena);
    return status;
}
