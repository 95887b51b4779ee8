// run_hlo_module's inside: the run, and the steps that its files share.
#ifndef RUN_HLO_MODULE_RUN_H
#define RUN_HLO_MODULE_RUN_H

#include "hlo/compare.h"
#include "hlo/cpu.h"
#include "hlo/debug_options.h"
#include "hlo/eval.h"
#include "hlo/file.h"
#include "hlo/load.h"
#include "hlo/random_inputs.h"
#include "hlo/run_literals.h"

typedef struct Options {
    const char *platform, *reference, *format, *inputs_dir, *expect_dir, *output_dir, *help, *debug_options_file;
    const char *input_literals, *output_literals;
    HloVec inputs, expected, infeeds;  // const char *
    bool print_literals, run_passes, time, random_init, first_difference, isolate;
    int64_t iterations, replicas, partitions;
    int64_t most_steps, most_trips, most_bytes;  // of the interpreter; 0: no limit
    double abs, rel;
} Options;

typedef struct Run {
    int argc;
    char **argv;
    HloArena arena;
    Options options;
    HloDebugOptions debug;
    HloLoadOptions load;
    HloFlagSet sets[3];
    HloRunner runner;
    HloDump *dump;  // NULL: nothing is dumped
    HloBuffer out;
    // Of the file at hand:
    const char *path;
    HloModule *m;
    HloSnapshot snapshot;  // values that came with the module
    HloRunLiterals given;  // of --input_literals_file
    HloRandom random;
    HloVec values;  // HloRunValues *, by iteration
    HloLiteral **arguments;
    size_t argument_count;
    int64_t failures;  // of all files
} Run;

// ---- arguments.c -----------------------------------------------------------------------------------------

HloStatus make_arguments(Run *run, size_t iteration);
HloStatus make_expected(Run *run, const HloLiteral *result, HloLiteral **out);

// ---- results.c -------------------------------------------------------------------------------------------

void print_literal(Run *run, const HloLiteral *literal);
HloStatus flush(Run *run);
HloStatus print_lines(Run *run, const char *title, const HloLiteral *literal);
HloStatus print_arguments(Run *run);
HloErrorBounds bounds_of(const Run *run);
HloStatus show_result(Run *run, HloLiteral *result);
void keep_values(Run *run, const HloLiteral *result, const HloLiteral *reference);
HloStatus write_values(Run *run);

// ---- platforms.c -----------------------------------------------------------------------------------------

double seconds(void);
HloStatus lower(Run *run, HloModule *m);
void warn_of_elided(const HloModule *m);
bool is_interpreter(const char *platform);
HloStatus run_once(Run *run, const char *platform, HloLiteral **result);
HloStatus run_and_show(Run *run);

// ---- compare.c -------------------------------------------------------------------------------------------

HloStatus compare_platforms(Run *run);
HloStatus find_difference(Run *run);

// ---- isolation.c -----------------------------------------------------------------------------------------

HloStatus isolate_instructions(Run *run);

#endif
