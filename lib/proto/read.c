// From bytes to a module: finds out which message they are, reads it, and makes the module.

#include "hlo/proto.h"
#include "native_literal.h"
#include "reader.h"

typedef enum Kind { KIND_SNAPSHOT, KIND_HLO, KIND_MODULE, KIND_UNOPTIMIZED, KIND_COUNT } Kind;

static const HloMessageType *const types[KIND_COUNT] = {
    [KIND_SNAPSHOT] = &xla__hlo_snapshot__descriptor,
    [KIND_HLO] = &xla__hlo_proto__descriptor,
    [KIND_MODULE] = &xla__hlo_module_proto__descriptor,
    [KIND_UNOPTIMIZED] = &xla__hlo_unoptimized_snapshot__descriptor,
};

// One message that the bytes were taken for.
typedef struct Attempt {
    Kind kind;
    void *message;
    HloUnknown unknown;
    HloStringView behind;  // what follows a message with its length in front
} Attempt;

typedef struct Task {
    HloStringView bytes;
    HloProtoForm form;
    const HloProtoRead *options;
    HloModule *m;
    HloSnapshot *snapshot;
    HloArena scratch;
    HloStatus failure;  // the one of the attempt that came furthest
    size_t progress;
    Attempt best;  // a message that could be read but has no whole module
    bool has_best;
} Task;

// Messages have more bytes in memory than in the file; this many times is more than honest ones need.
enum { MEMORY_FACTOR = 100, MEMORY_BASE_BYTES = 256 << 20 };

// ---- which message ---------------------------------------------------------------------------------------

static const Xla__HloModuleProto *module_of(const Attempt *attempt) {
    const Xla__HloSnapshot *snapshot = attempt->message;
    switch (attempt->kind) {
    case KIND_SNAPSHOT: return snapshot->hlo ? snapshot->hlo->hlo_module : NULL;
    case KIND_HLO: return ((const Xla__HloProto *)attempt->message)->hlo_module;
    case KIND_MODULE: return attempt->message;
    case KIND_UNOPTIMIZED: return ((const Xla__HloUnoptimizedSnapshot *)attempt->message)->hlo_module;
    case KIND_COUNT: break;
    }
    return NULL;
}

static bool is_whole(const Xla__HloModuleProto *m) {
    return m && m->host_program_shape && m->n_computations;
}

// The failure of the attempt that came furthest is shown. Most files are HloProtos, so the others must come clearly
// further.
static void keep_failure(Task *task, Kind kind, HloStatus status, size_t progress) {
    enum { CLEARLY_BYTES = 64 };
    if (kind == KIND_HLO) progress += CLEARLY_BYTES;
    if (task->failure.detail && progress <= task->progress) {
        hlo_status_free(status);
        return;
    }
    hlo_status_free(task->failure);
    task->failure = status;
    task->progress = progress;
}

// Reads the bytes as one kind of message; true when it has a whole module.
static bool try_kind(Task *task, Attempt *attempt, HloStringView bytes) {
    const HloMessageType *type = types[attempt->kind];
    const char *file_name = task->options->file_name ? task->options->file_name : "<proto>";
    size_t progress;
    HloStatus status =
        task->form == HLO_PROTO_TEXT
            ? hlo_prototext_read(&task->scratch, type, bytes, file_name, &attempt->message, &progress)
            : hlo_wire_read(&task->scratch, type, bytes, &attempt->message, &attempt->unknown, &progress);
    if (!hlo_is_ok(status)) {
        keep_failure(task, attempt->kind,
                     hlo_error_context(status, "Failed to parse input as HLO protobuf %s (%s)",
                                       task->form == HLO_PROTO_TEXT ? "text" : "binary", type->short_name),
                     progress);
        return false;
    }
    const Xla__HloModuleProto *m = module_of(attempt);
    if (is_whole(m)) return true;
    // Few bytes can be anything, so a name alone makes no module of them; a field's name in text does.
    bool better = m && (m->n_computations || (task->form == HLO_PROTO_TEXT && *m->name)) && !task->has_best;
    if (better) task->best = *attempt;
    task->has_best = task->has_best || better;
    return false;
}

// "length message literals": the length comes as in the message format itself.
static bool split_delimited(HloStringView bytes, HloStringView *message, HloStringView *behind) {
    uint64_t size = 0;
    for (size_t i = 0; i < bytes.size && i < 9; i++) {
        uint8_t byte = (uint8_t)bytes.data[i];
        size |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte & 0x80) continue;
        size_t left = bytes.size - i - 1;
        if (size > left) return false;
        *message = (HloStringView){bytes.data + i + 1, (size_t)size};
        *behind = (HloStringView){bytes.data + i + 1 + size, left - (size_t)size};
        return true;
    }
    return false;
}

static bool try_delimited(Task *task, Attempt *attempt) {
    HloStringView message;
    HloStatus before = task->failure;
    size_t progress = task->progress;
    task->progress = SIZE_MAX;  // what goes wrong here tells nothing about the other kinds
    *attempt = (Attempt){.kind = KIND_UNOPTIMIZED};
    bool found = split_delimited(task->bytes, &message, &attempt->behind) && try_kind(task, attempt, message);
    task->failure = before;
    task->progress = progress;
    return found;
}

static HloStatus find_message(Task *task, Attempt *attempt) {
    Kind last = task->form == HLO_PROTO_TEXT ? KIND_UNOPTIMIZED : KIND_MODULE;
    for (Kind kind = KIND_SNAPSHOT; kind <= last; kind++) {
        *attempt = (Attempt){.kind = kind};
        if (try_kind(task, attempt, task->bytes)) return hlo_ok();
    }
    if (task->form == HLO_PROTO_BINARY && !task->has_best && task->failure.detail && try_delimited(task, attempt))
        return hlo_ok();
    if (task->has_best) {
        *attempt = task->best;
        return hlo_ok();
    }
    HloStatus failure = task->failure;
    task->failure = hlo_ok();
    if (failure.detail) return failure;
    return hlo_error(HLO_INVALID_ARGUMENT, "Failed to parse input as HLO protobuf %s: there is no module in it",
                     task->form == HLO_PROTO_TEXT ? "text" : "binary");
}

// ---- values ----------------------------------------------------------------------------------------------

static HloStatus read_values(HloProtoReader *r, Xla__LiteralProto *const *from, size_t count, HloSnapshot *out) {
    const HloLiteral **values = HLO_NEW_ARRAY(r->arena, const HloLiteral *, count);
    for (size_t i = 0; i < count; i++) {
        HloLiteral *literal;
        HLO_TRY(hlo_error_context(hlo_read_proto_literal(r, from[i], &literal), "arguments[%zu]", i));
        values[i] = literal;
    }
    out->arguments = values;
    out->argument_count = count;
    return hlo_ok();
}

static HloStatus read_unoptimized(HloProtoReader *r, const Attempt *attempt, HloSnapshot *out) {
    const Xla__HloUnoptimizedSnapshot *from = attempt->message;
    if (from->version > 0) return hlo_error(HLO_UNIMPLEMENTED, "Unsupported snapshot version: %d", (int)from->version);
    if (from->n_partitions == 0) return hlo_ok();
    if (from->n_partitions > 1)
        return hlo_error(HLO_UNIMPLEMENTED, "a snapshot of %zu partitions; only one is supported", from->n_partitions);
    const Xla__HloInputs *inputs = from->partitions[0];
    if (!inputs->n_arguments_descriptors) return read_values(r, inputs->arguments, inputs->n_arguments, out);
    HLO_TRY(hlo_read_native_literals(r, inputs, attempt->behind, &out->arguments));
    out->argument_count = inputs->n_arguments_descriptors;
    return hlo_ok();
}

static HloStatus read_snapshot(HloProtoReader *r, const Attempt *attempt, HloSnapshot *out) {
    const Xla__HloSnapshot *from = attempt->message;
    HloLiteral *result = NULL;
    *out = (HloSnapshot){0};
    if (attempt->kind == KIND_UNOPTIMIZED) return read_unoptimized(r, attempt, out);
    if (attempt->kind != KIND_SNAPSHOT) return hlo_ok();
    HLO_TRY(read_values(r, from->arguments, from->n_arguments, out));
    if (from->result) HLO_TRY(hlo_error_context(hlo_read_proto_literal(r, from->result, &result), "result"));
    out->result = result;
    return hlo_ok();
}

// ---- all of it -------------------------------------------------------------------------------------------

static HloStatus read_all(void *data) {
    Task *task = data;
    Attempt attempt;
    HLO_TRY(find_message(task, &attempt));
    HloProtoReader *r = HLO_NEW(&task->scratch, HloProtoReader);
    *r = (HloProtoReader){.m = task->m,
                          .arena = &task->m->arena,
                          .scratch = &task->scratch,
                          .shapes = &task->m->shapes,
                          .note_text = task->options->notes,
                          .renumber_frames = task->options->renumber_frames};
    if (attempt.unknown.count)
        hlo_reader_note(r, "%zu unknown field%s left out, the first in %s", attempt.unknown.count,
                        attempt.unknown.count == 1 ? " is" : "s are", attempt.unknown.first);
    HLO_TRY(hlo_error_context(hlo_read_proto_module(r, module_of(&attempt)), "%s", types[attempt.kind]->short_name));
    HloSnapshot values;
    if (!task->snapshot) return hlo_ok();
    HLO_TRY(hlo_error_context(read_snapshot(r, &attempt, &values), "%s", types[attempt.kind]->short_name));
    *task->snapshot = values;
    return hlo_ok();
}

static size_t memory_limit(size_t size) {
    size_t limit;
    if (!hlo_size_mul(size, MEMORY_FACTOR, &limit) || limit > SIZE_MAX - MEMORY_BASE_BYTES) return SIZE_MAX;
    return limit + MEMORY_BASE_BYTES;
}

HloStatus hlo_proto_read_module(HloStringView bytes, HloProtoForm form, const HloProtoRead *options, HloModule **out,
                                HloSnapshot *snapshot) {
    static const HloProtoRead standard = {0};
    if (bytes.size > INT32_MAX)
        return hlo_error(HLO_INVALID_ARGUMENT, "a protocol buffer has at most 2 GiB, but this are %zu bytes",
                         bytes.size);
    HloModule *m = hlo_module_new("");
    if (!m) return hlo_out_of_memory();
    Task task = {.bytes = bytes, .form = form, .options = options ? options : &standard, .m = m, .snapshot = snapshot};
    m->arena.limit_bytes = task.scratch.limit_bytes = memory_limit(bytes.size);
    HloStatus status = hlo_guarded((HloArena *const[]){&m->arena, &task.scratch, NULL}, read_all, &task);
    hlo_status_free(task.failure);
    hlo_arena_free(&task.scratch);
    m->arena.limit_bytes = 0;
    if (hlo_is_ok(status))
        *out = m;
    else
        hlo_module_free(m);
    return status;
}
