// Arguments of a run and what is expected of it: from flags, files, snapshots, or made up.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hlo/npy.h"
#include "tools/run_hlo_module/run.h"

// ---- values that the user gives -------------------------------------------------------------------------

// A bare value, one without brackets, takes the shape, if there is one.
static HloStatus parse_value(Run *run, HloStringView text, const HloShape *shape, HloLiteral **out) {
    bool bare = !memchr(text.data, '[', text.size);
    if (!bare || !shape) return hlo_parse_literal(&run->arena, &run->m->shapes, text, out);
    return hlo_parse_literal_of(&run->arena, &run->m->shapes, shape, text, out);
}

static HloStatus read_message(Run *run, HloStringView bytes, const char *path, HloLiteral **out) {
    const HloLiteral *literal;
    HLO_TRY(hlo_literal_message_read(bytes, path, run->m, &literal));
    *out = hlo_literal_clone(&run->arena, literal, literal->shape);
    return hlo_ok();
}

// A literal, or the name of a file that holds one: as text, as LiteralProto, or an array as numpy stores it.
static HloStatus read_value(Run *run, const char *text, const HloShape *shape, HloLiteral **out) {
    const char *extension = hlo_file_extension(text);
    bool is_text = strcmp(extension, "txt") == 0, is_message = strcmp(extension, "pb") == 0;
    if (shape && strcmp(extension, "npy") == 0) return hlo_npy_read(&run->arena, text, shape, out);
    if (!is_text && !is_message) return parse_value(run, hlo_view(text), shape, out);
    HloBuffer bytes = {0};
    HloStatus status = hlo_file_read(text, &bytes);
    HloStringView view = {bytes.data ? bytes.data : "", bytes.size};
    if (hlo_is_ok(status)) {
        status = is_text ? hlo_error_context(parse_value(run, view, shape, out), "%s", text)
                         : read_message(run, view, text, out);
    }
    hlo_buffer_free(&bytes);
    return status;
}

static HloStatus read_argument(Run *run, const char *text, size_t number, const HloShape *shape, HloLiteral **out) {
    return hlo_error_context(read_value(run, text, shape, out), "argument %zu", number);
}

// An array in an .npy file goes to the first infeed whose shape it has.
static HloStatus read_infed_array(Run *run, const char *path, HloLiteral **out) {
    HloStatus status = hlo_error(HLO_INVALID_ARGUMENT, "%s: no infeed of the module takes an array", path);
    HLO_EACH_COMP(comp, run->m) {
        HLO_EACH_INST(inst, comp) {
            if (inst->op != HLO_OP_INFEED || !hlo_shape_is_array(inst->shape->elements[0])) continue;
            hlo_status_free(status);
            status = hlo_npy_read(&run->arena, path, inst->shape->elements[0], out);
            if (hlo_is_ok(status)) return status;
        }
    }
    return status;
}

HloStatus read_infeeds(Run *run, HloEvalFeeds *feeds) {
    const HloVec *texts = &run->options.infeeds;
    const HloLiteral **values = HLO_NEW_ARRAY(&run->arena, const HloLiteral *, texts->count);
    for (size_t k = 0; k < texts->count; k++) {
        const char *text = texts->items[k];
        HloLiteral *literal;
        HloStatus status = strcmp(hlo_file_extension(text), "npy") == 0 ? read_infed_array(run, text, &literal)
                                                                        : read_value(run, text, NULL, &literal);
        HLO_TRY(hlo_error_context(status, "infeed %zu", k + 1));
        values[k] = literal;
    }
    *feeds = (HloEvalFeeds){.infeeds = values, .infeed_count = texts->count, .data = run};
    return hlo_ok();
}

// ---- arguments ------------------------------------------------------------------------------------------

// Arguments that came with the module, or from a file of literals.
static HloStatus take_arguments(Run *run, const HloLiteral *const *from, size_t count) {
    const HloComputation *entry = run->m->entry;
    if (count != hlo_parameter_count(entry))
        return hlo_error(
            HLO_INVALID_ARGUMENT,
            "Failed to use input literals as arguments; mismatched number of expected arguments. The module "
            "has %zu parameters, but %zu are given.",
            hlo_parameter_count(entry), count);
    for (size_t k = 0; k < count; k++) {
        const HloShape *shape = hlo_parameter(entry, k)->shape;
        if (!hlo_shape_compatible(from[k]->shape, shape))
            return hlo_error(HLO_INVALID_ARGUMENT,
                             "Failed to use input literals for argument %zu because of a shape mismatch.", k);
        run->arguments[k] = hlo_literal_clone(&run->arena, from[k], shape);
    }
    return hlo_ok();
}

static HloStatus read_arguments(Run *run) {
    const HloVec *given = &run->options.inputs;
    size_t count = run->argument_count, next_file = 0;
    if (given->count && given->count != count) {
        return hlo_error(HLO_INVALID_ARGUMENT, "Expected %zu argument%s, but got %u.", count, count == 1 ? "" : "s",
                         given->count);
    }
    for (size_t k = 0; k < count; k++) {
        const HloShape *shape = hlo_parameter(run->m->entry, k)->shape;
        if (given->count) {
            HLO_TRY(read_argument(run, given->items[k], k, shape, run->arguments + k));
            continue;
        }
        HLO_TRY(hlo_literal_new(&run->arena, shape, run->arguments + k));
        HLO_TRY(hlo_npy_read_folder(&run->arena, run->options.inputs_dir, run->arguments[k], &next_file));
    }
    return hlo_ok();
}

// Values are drawn for an iteration that has its own ones too, so that the next draws what it always does.
static HloStatus take_given(Run *run, const HloRunValues *values) {
    hlo_status_free(hlo_random_arguments(&run->random, run->m, &run->arena, run->arguments));
    return take_arguments(run, values->arguments, values->argument_count);
}

// Those of a snapshot stand behind files of literals, read or written.
HloStatus make_arguments(Run *run, size_t iteration) {
    const Options *options = &run->options;
    bool from_snapshot = run->snapshot.argument_count && !options->input_literals && !options->output_literals;
    run->argument_count = hlo_parameter_count(run->m->entry);
    run->arguments = HLO_NEW_ARRAY(&run->arena, HloLiteral *, run->argument_count);
    if (options->inputs.count || options->inputs_dir) return read_arguments(run);
    if (iteration < run->given.count) return take_given(run, run->given.items + iteration);
    if (!from_snapshot) return hlo_random_arguments(&run->random, run->m, &run->arena, run->arguments);
    HLO_TRY(take_arguments(run, run->snapshot.arguments, run->snapshot.argument_count));
    fprintf(stderr, "Using input data from the user-provided snapshot.\n");
    return hlo_ok();
}

// ---- what is expected -----------------------------------------------------------------------------------

HloStatus make_expected(Run *run, const HloLiteral *result, HloLiteral **out) {
    const Options *options = &run->options;
    size_t next = 0;
    *out = NULL;
    if (!options->expect_dir && !options->expected.count) return hlo_ok();
    HLO_TRY(hlo_literal_new(&run->arena, result->shape, out));
    if (options->expect_dir) return hlo_npy_read_folder(&run->arena, options->expect_dir, *out, &next);
    HloVec leaves = hlo_literal_leaves(&run->arena, *out);
    if (leaves.count != options->expected.count) {
        return hlo_error(HLO_INVALID_ARGUMENT, "the result has %u leaves, but --expect is given %u times", leaves.count,
                         options->expected.count);
    }
    for (size_t k = 0; k < leaves.count; k++) {
        HloLiteral *leaf = leaves.items[k], *read;
        HLO_TRY(hlo_npy_read(&run->arena, options->expected.items[k], leaf->shape, &read));
        *leaf = *read;
    }
    return hlo_ok();
}
