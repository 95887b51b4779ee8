// Arguments of a run and what is expected of it: from flags, files, snapshots, or made up.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hlo/npy.h"
#include "tools/run_hlo_module/run.h"

static bool is_npy(const char *text) {
    return strcmp(hlo_file_extension(text), "npy") == 0;
}

static HloStatus read_argument(Run *run, const char *text, size_t number, const HloShape *shape, HloLiteral **out) {
    if (is_npy(text)) return hlo_npy_read(&run->arena, text, shape, out);
    HloStringView view = hlo_view(text);
    // A bare value takes the parameter's shape.
    bool bare = *text == '{' || *text == '(' || *text == '-' || *text == '.' || (*text >= '0' && *text <= '9');
    HloStatus status = bare ? hlo_parse_literal_of(&run->arena, &run->m->shapes, shape, view, out)
                            : hlo_parse_literal(&run->arena, &run->m->shapes, view, out);
    return hlo_error_context(status, "argument %zu", number);
}

// Arguments that came with the module, or from a file of literals.
static HloStatus take_arguments(Run *run, const HloLiteral *const *from, size_t count) {
    const HloComputation *entry = run->m->entry;
    if (count != hlo_parameter_count(entry))
        return hlo_error(HLO_INVALID_ARGUMENT,
                         "Failed to use input literals as arguments; mismatched number of expected arguments: %zu for "
                         "%zu parameters.",
                         count, hlo_parameter_count(entry));
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

static HloStatus make_up_arguments(Run *run) {
    if (run->options.random_init) return hlo_random_arguments(&run->random, run->m, &run->arena, run->arguments);
    for (size_t k = 0; k < run->argument_count; k++) {
        HLO_TRY(hlo_literal_new(&run->arena, hlo_parameter(run->m->entry, k)->shape, run->arguments + k));
    }
    return hlo_ok();
}

HloStatus make_arguments(Run *run, size_t iteration) {
    run->argument_count = hlo_parameter_count(run->m->entry);
    run->arguments = HLO_NEW_ARRAY(&run->arena, HloLiteral *, run->argument_count);
    if (run->options.inputs.count || run->options.inputs_dir) return read_arguments(run);
    if (iteration < run->given.count) {
        const HloRunValues *values = run->given.items + iteration;
        return take_arguments(run, values->arguments, values->argument_count);
    }
    if (!run->snapshot.argument_count) return make_up_arguments(run);
    HLO_TRY(take_arguments(run, run->snapshot.arguments, run->snapshot.argument_count));
    fprintf(stderr, "Using input data from the user-provided snapshot.\n");
    return hlo_ok();
}

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
