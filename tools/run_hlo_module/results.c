// What a run shows and keeps of its values.

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hlo/npy.h"
#include "tools/run_hlo_module/run.h"

void print_literal(Run *run, const HloLiteral *literal) {
    hlo_put_shape(&run->out, literal->shape, false);
    hlo_put_char(&run->out, ' ');
    hlo_put_literal(&run->out, literal);
    hlo_put_char(&run->out, '\n');
}

// What is printed comes out before what goes to standard error next.
HloStatus flush(Run *run) {
    if (!run->out.size) return hlo_ok();
    HloStatus status = hlo_file_write("-", (HloStringView){run->out.data, run->out.size});
    hlo_buffer_free(&run->out);
    run->out = (HloBuffer){0};
    return status;
}

// A failure on standard error; success is silent.
void tell(HloStatus status) {
    if (hlo_is_ok(status)) return;
    fprintf(stderr, "%s: %s\n", hlo_code_name(hlo_status_code(status)), hlo_status_message(status));
}

// Appends a line to a failure's message, as the reference adds context.
HloStatus add_line(HloStatus status, const char *line) {
    if (hlo_is_ok(status)) return status;
    HloStatus longer = hlo_error(hlo_status_code(status), "%s\n\t%s", hlo_status_message(status), line);
    hlo_status_free(status);
    return longer;
}

HloStatus print_lines(Run *run, const char *title, const HloLiteral *literal) {
    if (!run->options.print_literals) return hlo_ok();
    hlo_putf(&run->out, "\n** %s **\n", title);
    hlo_put_literal_lines(&run->out, literal);
    hlo_put_char(&run->out, '\n');
    return flush(run);
}

HloStatus print_arguments(Run *run) {
    char title[32];
    for (size_t k = 0; k < run->argument_count; k++) {
        snprintf(title, sizeof title, "Argument %zu", k);
        HLO_TRY(print_lines(run, title, run->arguments[k]));
    }
    return hlo_ok();
}

HloErrorBounds bounds_of(const Run *run) {
    return (HloErrorBounds){run->options.abs, run->options.rel, .detailed = true};
}

// Every device's result has a folder of its own, the first one's is the one that was asked for.
static const char *folder_of(Run *run, int64_t device) {
    const Options *options = &run->options;
    if (device == 0) return options->output_dir;
    return hlo_arena_printf(&run->arena, "%s/replica-%lld-partition-%lld", options->output_dir,
                            (long long)(device / options->partitions), (long long)(device % options->partitions));
}

HloStatus show_result(Run *run, int64_t device, HloLiteral *result) {
    const Options *options = &run->options;
    HloLiteral *expected;
    HLO_TRY(make_expected(run, result, &expected));
    HLO_TRY(print_lines(run, "Result", result));
    if (!options->print_literals && !expected && !options->output_dir) print_literal(run, result);
    size_t next = 0;
    if (options->output_dir) HLO_TRY(hlo_npy_write_folder(&run->arena, folder_of(run, device), result, &next));
    if (!expected) return hlo_ok();
    HLO_TRY(hlo_literal_compare(expected, result, bounds_of(run)));
    hlo_put_string(&run->out, "\n** The result is close enough to what is expected. **\n");
    return hlo_ok();
}

// Kept for --output_literals_file.
void keep_values(Run *run, const HloLiteral *result, const HloLiteral *reference) {
    HloRunValues *values = HLO_NEW(&run->arena, HloRunValues);
    *values = (HloRunValues){(const HloLiteral *const *)run->arguments, run->argument_count, result, reference};
    hlo_vec_push(&run->arena, &run->values, values);
}

HloStatus write_values(Run *run) {
    const char *path = run->options.output_literals;
    if (!path) return hlo_ok();
    HloBuffer bytes = {0};
    HloRunValues *items = HLO_NEW_ARRAY(&run->arena, HloRunValues, run->values.count);
    for (size_t k = 0; k < run->values.count; k++) items[k] = *(const HloRunValues *)run->values.items[k];
    HloStatus status = hlo_run_literals_write((HloRunLiterals){items, run->values.count}, &bytes);
    if (hlo_is_ok(status)) status = hlo_file_write(path, (HloStringView){bytes.data, bytes.size});
    hlo_buffer_free(&bytes);
    return status;
}

// ---- outfeeds -------------------------------------------------------------------------------------------

// Values leave in the order in which the devices come to their outfeeds.
HloStatus take_outfed(void *data, int64_t replica, int64_t partition, const HloLiteral *value) {
    Run *run = data;
    const Options *options = &run->options;
    char title[96];
    snprintf(title, sizeof title, "Outfeed of replica %lld, partition %lld", (long long)replica, (long long)partition);
    if (options->outfeed_dir) {
        HloLiteral *copy = hlo_literal_clone(&run->arena, value, value->shape);
        HLO_TRY(hlo_npy_write_folder(&run->arena, options->outfeed_dir, copy, &run->next_outfed));
    }
    if (options->print_literals) return print_lines(run, title, value);
    if (options->reference || options->outfeed_dir) return hlo_ok();
    title[0] = 'o';
    hlo_putf(&run->out, "%s: ", title);
    print_literal(run, value);
    return hlo_ok();
}
