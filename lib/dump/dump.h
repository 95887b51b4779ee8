// What the files of lib/dump share. Private to lib/dump.
#ifndef HLO_DUMP_DUMP_H
#define HLO_DUMP_DUMP_H

#include "hlo/dump.h"
#include "hlo/regex.h"

enum { FILE_NAME_BYTES = 255 };  // longest name without its extension; longer ones lose the module's name (§3.1)

typedef struct DumpForms {
    bool text, proto, riegeli, dot, html, url;
} DumpForms;

struct HloDump {
    const HloDebugOptions *options;
    HloPrintOptions print;
    HloSink out, log;
    const char *folder;  // NULL: standard output
    DumpForms forms;
    HloRegex *modules, *passes, *pipelines, *emitters;  // NULL: not given
    bool only_changes;                                  // the pattern of passes is `.*`
    HloPassObserver *observer;                          // NULL: not made

    // The module at hand.
    const HloModule *m;
    uint64_t number;
    uint64_t step;         // of the next dump between or inside passes
    int64_t timestamp_us;  // of its first dump; 0: none yet
    bool is_wanted;        // its name is found
    bool is_counted;       // it is one of `counted`

    uint64_t begun;      // modules so far
    uint64_t counted;    // modules that were dumped
    bool told_of_limit;  // the log says that there are too many
    bool has_folder;     // made, and `last_folder` is its path
    HloBuffer last_folder;
};

// Appends `[time.]module_0000[.name].suffix`; with `timed` false without the time. Not sanitised.
void dump_put_name(HloDump *dump, HloBuffer *out, const char *suffix, bool timed);

typedef enum DumpKind { DUMP_TEXT, DUMP_BYTES } DumpKind;

// Writes one file under a name made by dump_put_name plus an extension. *written tells whether it was: not with too
// many modules, nor bytes to standard output; both leave a line in the log.
HLO_MUST_USE HloStatus dump_file(HloDump *dump, const char *name, DumpKind kind, HloStringView data, bool *written);

// Writes a module in all forms under a suffix.
HLO_MUST_USE HloStatus dump_module(HloDump *dump, const HloModule *m, const char *suffix, const HloDumpPart *parts,
                                   size_t part_count);

void dump_log(const HloDump *dump, const char *format, ...) HLO_PRINTF(2, 3);

#endif
