// Watching a run: the observers that programs offer as flags, in one place.
#ifndef HLO_WATCH_H
#define HLO_WATCH_H

#include "hlo/debug_options.h"
#include "hlo/flags.h"
#include "hlo/observers.h"

// Fields are filled by flags (hlo_watch_flags); patterns are regular expressions, NULL: not asked for.
typedef struct HloWatchOptions {
    const char *print_changed;   // passes whose names it finds show what they changed
    const char *changed_style;   // diff or text
    const char *trace_rewrites;  // rewrites whose line it finds are written
    bool verify_each;
    HloVerifyOptions rules;  // of verify_each
    bool check_claims;
    int64_t check_numerics;        // seed of the arguments; 0: not asked for
    const char *time_passes;       // table or json
    int64_t rewrite_limit;         // 0: none
    const char *colour;            // auto, always or never
    const HloPassObserver *first;  // the program's own, called before all others; borrowed, NULL: none
} HloWatchOptions;

typedef struct HloWatch HloWatch;

// Nothing is watched.
HloWatchOptions hlo_watch_default(void);
// The flags that fill the options, which are borrowed.
HloFlagSet hlo_watch_flags(HloWatchOptions *options);

// Adds what the options and the compiler options ask for to the runner, which must have no observers and must outlive
// the watch. Text goes to the sink; `is_terminal` decides whether `auto` means colours. The caller ends the watch after
// the last run.
HLO_MUST_USE HloStatus hlo_watch_start(const HloWatchOptions *options, const HloDebugOptions *debug,
                                       const HloPrintOptions *print, HloSink sink, bool is_terminal, HloRunner *runner,
                                       HloWatch **out);
// Writes what comes at the end (times, fuel) and frees the watch; NULL is ignored.
void hlo_watch_end(HloWatch *watch);

#endif
