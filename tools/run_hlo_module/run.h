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
    // NULL as `reference`: the program runs on one platform and shows the result; "": it does what it does for a
    // comparison, without one.
    const char *platform, *reference, *format, *inputs_dir, *expect_dir, *output_dir, *help, *debug_options_file;
    const char *input_literals, *output_literals, *outfeed_dir;
    HloVec inputs, expected, infeeds;  // const char *
    bool print_literals, run_passes, run_reference_passes, time, first_difference, isolate;
    bool random_init, large_floats, different_seeds;
    int64_t iterations, replicas, partitions;
    int64_t most_steps, most_trips, most_bytes;  // of the interpreter; 0: no limit
    double abs, rel;
} Options;

// One of the runs of a module.
typedef struct Side {
    const char *platform;
    HloModule *m;  // stays as it is
    HloDebugOptions debug;
    bool run_passes, is_reference;
} Side;

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
    HloModule *given_home;  // holds `given`
    HloRunLiterals given;   // of --input_literals_file
    int64_t failures;       // of all files
    // Of the file at hand:
    HloModule *m;
    HloSnapshot snapshot;  // values that came with the module
    HloRandom random;
    uint64_t seed;  // of the iteration
    HloVec values;  // HloRunValues *, by iteration
    HloLiteral **arguments;
    size_t argument_count;
    size_t next_outfed;  // number of the next file in --outfeed-dir
} Run;

// ---- arguments.c -----------------------------------------------------------------------------------------

HloStatus make_arguments(Run *run, size_t iteration);
HloStatus read_infeeds(Run *run, HloEvalFeeds *feeds);
HloStatus make_expected(Run *run, const HloLiteral *result, HloLiteral **out);

// ---- results.c -------------------------------------------------------------------------------------------

void print_literal(Run *run, const HloLiteral *literal);
HloStatus flush(Run *run);
void tell(HloStatus status);
HloStatus add_line(HloStatus status, const char *line);
HloStatus print_lines(Run *run, const char *title, const HloLiteral *literal);
HloStatus print_arguments(Run *run);
HloErrorBounds bounds_of(const Run *run);
HloStatus show_result(Run *run, int64_t device, HloLiteral *result);
void keep_values(Run *run, const HloLiteral *result, const HloLiteral *reference);
HloStatus write_values(Run *run);
HloStatus take_outfed(void *data, int64_t replica, int64_t partition, const HloLiteral *value);

// ---- platforms.c -----------------------------------------------------------------------------------------

double seconds(void);
Side test_side(const Run *run);
HloStatus lower(Run *run, const Side *side, HloModule *m);
void warn_of_elided(const HloModule *m);
bool is_interpreter(const char *platform);
bool is_default(const char *platform);  // as a reference: the interpreter
HloStatus run_once(Run *run, const Side *side, HloLiteral **result);
void choose_seed(Run *run, int64_t iteration);
HloStatus run_and_show(Run *run);

// ---- compare.c -------------------------------------------------------------------------------------------

HloStatus reference_side(Run *run, Side *side);
HloStatus compare_results(Run *run, const HloLiteral *expected, const HloLiteral *actual);
HloStatus compare_platforms(Run *run, HloStatus loaded);
HloStatus find_difference(Run *run);

// ---- side_files.c ----------------------------------------------------------------------------------------

void write_side_files(Run *run, const HloLiteral *expected, const HloLiteral *actual);

// ---- isolation.c -----------------------------------------------------------------------------------------

HloStatus isolate_instructions(Run *run);

#endif
