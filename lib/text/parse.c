// The reader's entry points, guarded against running out of memory.

#include "parse.h"

enum { DEFAULT_MAX_ERRORS = 20, MOST_ERRORS = 1000 };  // as text.h says

bool hlo_enter(HloReader *r, size_t levels) {
    r->depth += levels;
    return r->depth <= HLO_DEPTH_LIMIT || hlo_read_error(r, hlo_here(r), "maximum recursion depth exceeded");
}

// ---- reading under guard --------------------------------------------------------------------------------

// One call of an entry point.
typedef struct Task {
    HloReader r;
    HloArena scratch;
    HloStringView text;
    bool (*read)(HloReader *r, void *data);
    void *data;
} Task;

static HloStatus run_task(void *data) {
    Task *task = data;
    HloReader *r = &task->r;
    r->lex = hlo_lex_start(task->text);
    bool ok = task->read(r, task->data);
    if (ok && hlo_tok(r) != HLO_TOK_EOF) ok = hlo_read_error(r, hlo_here(r), "Extra content after the end");
    return ok && !r->failed ? hlo_ok() : hlo_errors_status(r);
}

static HloStatus run_guarded(Task *task) {
    task->r.scratch = &task->scratch;
    HloArena *arenas[] = {task->r.arena, &task->scratch, NULL};
    HloStatus status = hlo_guarded(arenas, run_task, task);
    hlo_buffer_free(&task->r.notes);
    hlo_arena_free(&task->scratch);
    return status;
}

static bool read_module(HloReader *r, void *data) {
    (void)data;
    return hlo_read_module_text(r);
}

HloStatus hlo_parse_module(HloStringView text, const HloParseOptions *options, HloModule **out) {
    static const HloParseOptions standard = {0};
    if (!options) options = &standard;
    HloModule *m = hlo_module_new("");
    if (!m) return hlo_out_of_memory();
    m->arena.limit_bytes = options->memory_limit_bytes;
    m->hlo_version = options->hlo_version;
    hlo_arena_expect(&m->arena, text.size);
    size_t max_errors = options->max_errors ? options->max_errors : DEFAULT_MAX_ERRORS;
    Task task = {
        .r = {.m = m,
              .arena = &m->arena,
              .shapes = &m->shapes,
              .file_name = options->file_name ? options->file_name : "<text>",
              .lines_before = options->lines_before,
              .hlo_version = options->hlo_version,
              .max_errors = max_errors < MOST_ERRORS ? max_errors : MOST_ERRORS,
              .keep_missing_layouts = options->keep_missing_layouts,
              .zero_elided = options->zero_elided,
              .drop_zero_sign = options->drop_zero_sign,
              .renumber_frames = options->renumber_frames},
        .text = text,
        .read = read_module,
    };
    hlo_versions_start(&task.r);
    task.scratch.limit_bytes = options->memory_limit_bytes;
    hlo_arena_expect(&task.scratch, text.size / 2);
    HloStatus status = run_guarded(&task);
    m->arena.limit_bytes = 0;
    if (!hlo_is_ok(status)) {
        hlo_module_free(m);
        return status;
    }
    *out = m;
    return status;
}

static bool read_shape(HloReader *r, void *data) {
    const HloShape **out = data;
    return hlo_read_shape(r, out);
}

HloStatus hlo_parse_shape(HloShapes *shapes, HloStringView text, const HloShape **out) {
    const HloShape *shape = NULL;
    Task task = {.r = {.arena = shapes->arena,
                       .shapes = shapes,
                       .file_name = "<shape>",
                       .max_errors = 1,
                       .keep_missing_layouts = true},
                 .text = text,
                 .read = read_shape,
                 .data = &shape};
    HLO_TRY(run_guarded(&task));
    *out = shape;
    return hlo_ok();
}

static bool read_typed_literal(HloReader *r, void *data) {
    HloLiteral **out = data;
    return hlo_read_typed_literal(r, out);
}

HloStatus hlo_parse_literal(HloArena *arena, HloShapes *shapes, HloStringView text, HloLiteral **out) {
    HloLiteral *literal = NULL;
    Task task = {.r = {.arena = arena, .shapes = shapes, .file_name = "<literal>", .max_errors = 1},
                 .text = text,
                 .read = read_typed_literal,
                 .data = &literal};
    HLO_TRY(run_guarded(&task));
    *out = literal;
    return hlo_ok();
}

typedef struct Value {
    const HloShape *shape;
    HloLiteral *literal;
} Value;

static bool read_value(HloReader *r, void *data) {
    Value *value = data;
    return hlo_read_literal_of(r, value->shape, &value->literal);
}

HloStatus hlo_parse_literal_of(HloArena *arena, HloShapes *shapes, const HloShape *shape, HloStringView text,
                               HloLiteral **out) {
    Value value = {shape, NULL};
    Task task = {.r = {.arena = arena, .shapes = shapes, .file_name = "<literal>", .max_errors = 1},
                 .text = text,
                 .read = read_value,
                 .data = &value};
    HLO_TRY(run_guarded(&task));
    *out = value.literal;
    return hlo_ok();
}
