// How time grows with the size of the module: the slope between neighbours on logarithmic scales.

#include "growth.h"

#include <math.h>
#include <stdio.h>

#include "steps.h"
#include "texts.h"

enum { SMALLEST = 1000, MOST_SIZES = 6, MOST_ROWS = 32 };

// Runs that take less are repeated, and the fastest counts.
static const double enough_seconds = 0.02;

typedef struct Row {
    char name[40];
    Step step;
    bool needs_copy;
    const HloElement *pipeline;
    double seconds[MOST_SIZES];  // negative: failed
} Row;

typedef struct Table {
    HloArena arena;
    Row rows[MOST_ROWS];
    size_t row_count, size_count;
} Table;

bool list_has(const char *list, const char *name) {
    if (!list) return true;
    size_t size = strlen(name);
    for (const char *p = list; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        if (strncmp(p, name, size) == 0 && (p[size] == ',' || !p[size])) return true;
    }
    return false;
}

static Row *add_row(Table *table, const char *name, Step step) {
    if (table->row_count == MOST_ROWS) return NULL;
    Row *row = &table->rows[table->row_count++];
    snprintf(row->name, sizeof row->name, "%s", name);
    row->step = step;
    return row;
}

static void add_steps(Table *table, const char *wanted) {
    if (list_has(wanted, "parse")) add_row(table, "parse", step_parse);
    if (list_has(wanted, "print")) add_row(table, "print", step_print);
    if (list_has(wanted, "verify")) add_row(table, "verify", step_verify);
}

static HloStatus add_passes(Table *table, const char *wanted) {
    size_t count;
    const HloRegistryRow *rows = hlo_registry(&count);
    for (size_t i = 0; i < count; i++) {
        const char *name = rows[i].pass->name;
        if (!list_has(wanted, name)) continue;
        HloElement *pipeline;
        HLO_TRY(hlo_pipeline_parse(&table->arena, "growth", hlo_view(name), &pipeline));
        Row *row = add_row(table, name, step_pass);
        if (!row) return hlo_error(HLO_INVALID_ARGUMENT, "at most %d steps and passes at once", MOST_ROWS);
        row->needs_copy = true;
        row->pipeline = pipeline;
    }
    return hlo_ok();
}

static double fastest(const Row *row, Subject *subject) {
    double best = -1, total = 0;
    do {
        HloStatus status;
        double taken = step_time(row->step, subject, row->needs_copy, &status);
        hlo_status_free(status);
        if (taken < 0) return -1;
        if (best < 0 || taken < best) best = taken;
        total += taken;
    } while (total < enough_seconds);
    return best;
}

static HloStatus fill_column(Table *table, size_t column, HloStringView text) {
    Subject subject = {.text = text};
    HLO_TRY(hlo_parse_module(text, &(HloParseOptions){.file_name = "generated"}, &subject.m));
    for (size_t i = 0; i < table->row_count; i++) {
        subject.pipeline = table->rows[i].pipeline;
        table->rows[i].seconds[column] = fastest(&table->rows[i], &subject);
    }
    hlo_buffer_free(&subject.out);
    hlo_module_free(subject.m);
    return hlo_ok();
}

static void print_row(const char *kind, const Row *row, size_t sizes) {
    printf("%-13s %-20s", kind, row->name);
    for (size_t i = 0; i < sizes; i++) {
        double seconds = row->seconds[i];
        bool slope = i > 0 && seconds > 0 && row->seconds[i - 1] > 0;
        if (seconds < 0)
            printf("  %10s      ", "failed");
        else if (slope)
            printf("  %10.3f ^%4.2f", seconds * 1e3, log10(seconds / row->seconds[i - 1]));
        else
            printf("  %10.3f      ", seconds * 1e3);
    }
    printf("\n");
    fflush(stdout);
}

static HloStatus measure_kind(Table *table, const TextKind *kind, int64_t largest) {
    table->size_count = 0;
    for (int64_t size = SMALLEST; size <= largest && table->size_count < MOST_SIZES; size *= 10) {
        HloBuffer text = {0};
        kind->write(&text, size);
        HloStatus status = hlo_buffer_status(&text);
        if (hlo_is_ok(status)) status = fill_column(table, table->size_count++, (HloStringView){text.data, text.size});
        hlo_buffer_free(&text);
        HLO_TRY(status);
    }
    for (size_t i = 0; i < table->row_count; i++) print_row(kind->name, &table->rows[i], table->size_count);
    return hlo_ok();
}

static HloStatus measure_all(Table *table, const GrowthOptions *options) {
    add_steps(table, options->steps);
    HLO_TRY(add_passes(table, options->passes ? options->passes : "dce,cse,algsimp,tuple-simplifier"));
    size_t count;
    const TextKind *kinds = text_kinds(&count);
    printf("milliseconds at 10^3, 10^4, … instructions, with the exponent of the growth\n");
    for (size_t i = 0; i < count; i++) {
        if (list_has(options->kinds, kinds[i].name)) HLO_TRY(measure_kind(table, &kinds[i], options->largest));
    }
    return hlo_ok();
}

HloStatus growth_print(const GrowthOptions *options) {
    Table table = {.row_count = 0};
    HloStatus status = measure_all(&table, options);
    hlo_arena_free(&table.arena);
    return status;
}
