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
