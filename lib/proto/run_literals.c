// The values of runs as protocol buffers.

#include "hlo/run_literals.h"

#include "reader.h"
#include "writer.h"

// ---- reading ---------------------------------------------------------------------------------------------

typedef struct ReadTask {
    HloStringView bytes;
    const char *file_name;
    HloModule *m;
    HloArena scratch;
    HloRunLiterals literals;
    const HloLiteral *literal;  // where one is asked for
} ReadTask;

static HloProtoReader *new_reader(ReadTask *task) {
    HloProtoReader *r = HLO_NEW(&task->scratch, HloProtoReader);
    *r =
        (HloProtoReader){.m = task->m, .arena = &task->m->arena, .scratch = &task->scratch, .shapes = &task->m->shapes};
    return r;
}

// The bytes as one kind of message, in the binary form or in text. A message that is empty is none.
static void *try_message(ReadTask *task, const HloMessageType *type, bool text) {
    HloUnknown unknown = {0};
    void *message = NULL;
    size_t progress;
    HloStatus status = text
                           ? hlo_prototext_read(&task->scratch, type, task->bytes, task->file_name, &message, &progress)
                           : hlo_wire_read(&task->scratch, type, task->bytes, &message, &unknown, &progress);
    bool fits = hlo_is_ok(status) && !unknown.count;
    hlo_status_free(status);
    return fits ? message : NULL;
}

// All iterations; a bare one becomes the first.
static Xla__RunHloModuleLiterals *find_message(ReadTask *task) {
    for (int text = 0; text < 2; text++) {
        Xla__RunHloModuleLiterals *all = try_message(task, &xla__run_hlo_module_literals__descriptor, text);
        if (all && all->n_iterations) return all;
        Xla__RunHloModuleIterationLiterals *one =
            try_message(task, &xla__run_hlo_module_iteration_literals__descriptor, text);
        if (!one || (!one->n_arguments && !one->result && !one->reference_result)) continue;
        all = hlo_message_new(&task->scratch, &xla__run_hlo_module_literals__descriptor);
        all->n_iterations = 1;
        all->iterations = HLO_NEW_ARRAY(&task->scratch, Xla__RunHloModuleIterationLiterals *, 1);
        all->iterations[0] = one;
        return all;
    }
    return NULL;
}

static HloStatus read_value(HloProtoReader *r, const Xla__LiteralProto *from, const HloLiteral **out) {
    HloLiteral *literal = NULL;
    if (from) HLO_TRY(hlo_read_proto_literal(r, from, &literal));
    *out = literal;
    return hlo_ok();
}

static HloStatus read_iteration(HloProtoReader *r, const Xla__RunHloModuleIterationLiterals *from, HloRunValues *out) {
    const HloLiteral **arguments = HLO_NEW_ARRAY(r->arena, const HloLiteral *, from->n_arguments);
    for (size_t k = 0; k < from->n_arguments; k++) {
        HLO_TRY(hlo_error_context(read_value(r, from->arguments[k], arguments + k), "arguments[%zu]", k));
    }
    out->arguments = arguments;
    out->argument_count = from->n_arguments;
    HLO_TRY(hlo_error_context(read_value(r, from->result, &out->result), "result"));
    return hlo_error_context(read_value(r, from->reference_result, &out->reference), "reference_result");
}

static HloStatus read_all(void *data) {
    ReadTask *task = data;
    const Xla__RunHloModuleLiterals *message = find_message(task);
    if (!message)
        return hlo_error(HLO_INVALID_ARGUMENT, "Failed to deserialize input literals from file %s", task->file_name);
    HloProtoReader *r = new_reader(task);
    HloRunValues *items = HLO_NEW_ARRAY(r->arena, HloRunValues, message->n_iterations);
    for (size_t k = 0; k < message->n_iterations; k++) {
        HLO_TRY(hlo_error_context(read_iteration(r, message->iterations[k], items + k), "%s: iterations[%zu]",
                                  task->file_name, k));
    }
    task->literals = (HloRunLiterals){items, message->n_iterations};
    return hlo_ok();
}

static HloStatus read_one(void *data) {
    ReadTask *task = data;
    Xla__LiteralProto *message = try_message(task, &xla__literal_proto__descriptor, false);
    if (!message) return hlo_error(HLO_INVALID_ARGUMENT, "%s: not a LiteralProto", task->file_name);
    return hlo_error_context(read_value(new_reader(task), message, &task->literal), "%s", task->file_name);
}

static HloStatus read_task(ReadTask *task, HloStatus (*read)(void *)) {
    HloStatus status = hlo_guarded((HloArena *const[]){&task->m->arena, &task->scratch, NULL}, read, task);
    hlo_arena_free(&task->scratch);
    return status;
}

HloStatus hlo_run_literals_read(HloStringView bytes, const char *file_name, HloModule *m, HloRunLiterals *out) {
    ReadTask task = {.bytes = bytes, .file_name = file_name, .m = m};
    HloStatus status = read_task(&task, read_all);
    if (hlo_is_ok(status)) *out = task.literals;
    return status;
}

HloStatus hlo_literal_message_read(HloStringView bytes, const char *file_name, HloModule *m, const HloLiteral **out) {
    ReadTask task = {.bytes = bytes, .file_name = file_name, .m = m};
    HloStatus status = read_task(&task, read_one);
    if (hlo_is_ok(status)) *out = task.literal;
    return status;
}

// ---- writing ---------------------------------------------------------------------------------------------

typedef struct WriteTask {
    HloArena arena;
    HloProtoWriter writer;
    HloRunLiterals literals;
    const HloLiteral *literal;  // where one is written
    HloBuffer *out;
} WriteTask;

static Xla__RunHloModuleIterationLiterals *write_iteration(HloProtoWriter *w, const HloRunValues *from) {
    Xla__RunHloModuleIterationLiterals *to =
        hlo_message_new(w->arena, &xla__run_hlo_module_iteration_literals__descriptor);
    to->n_arguments = from->argument_count;
    to->arguments = HLO_NEW_LIST(w, Xla__LiteralProto, from->argument_count);
    for (size_t k = 0; k < from->argument_count; k++) to->arguments[k] = hlo_write_literal(w, from->arguments[k]);
    if (from->result) to->result = hlo_write_literal(w, from->result);
    if (from->reference) to->reference_result = hlo_write_literal(w, from->reference);
    return to;
}

static HloStatus finish_message(WriteTask *task, const void *message) {
    HloStatus failure = task->writer.failure;
    task->writer.failure = hlo_ok();
    HLO_TRY(failure);
    return hlo_wire_write(message, task->out);
}

static HloStatus write_all(void *data) {
    WriteTask *task = data;
    HloProtoWriter *w = &task->writer;
    Xla__RunHloModuleLiterals *message = hlo_message_new(w->arena, &xla__run_hlo_module_literals__descriptor);
    message->n_iterations = task->literals.count;
    message->iterations = HLO_NEW_LIST(w, Xla__RunHloModuleIterationLiterals, task->literals.count);
    for (size_t k = 0; k < task->literals.count; k++) {
        message->iterations[k] = write_iteration(w, task->literals.items + k);
    }
    return finish_message(task, message);
}

static HloStatus write_one(void *data) {
    WriteTask *task = data;
    return finish_message(task, hlo_write_literal(&task->writer, task->literal));
}

static HloStatus write_task(WriteTask *task, HloStatus (*write)(void *)) {
    task->writer = (HloProtoWriter){.arena = &task->arena};
    HloStatus status = hlo_guarded((HloArena *const[]){&task->arena, NULL}, write, task);
    hlo_status_free(task->writer.failure);
    hlo_arena_free(&task->arena);
    return status;
}

HloStatus hlo_run_literals_write(HloRunLiterals literals, HloBuffer *out) {
    return write_task(&(WriteTask){.literals = literals, .out = out}, write_all);
}

HloStatus hlo_literal_message_write(const HloLiteral *literal, HloBuffer *out) {
    return write_task(&(WriteTask){.literal = literal, .out = out}, write_one);
}
