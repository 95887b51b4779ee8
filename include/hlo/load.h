// Modules from files, in every format the programs read.
#ifndef HLO_LOAD_H
#define HLO_LOAD_H

#include "hlo/flags.h"
#include "hlo/module.h"
#include "hlo/proto.h"
#include "hlo/status.h"
#include "hlo/text.h"

typedef struct HloModuleList {
    HloModule **items;  // owned, each freed with hlo_module_free
    size_t count;
    HloSnapshot snapshot;  // values that a snapshot has beside its one module; they belong to it
} HloModuleList;

typedef struct HloLoadOptions {
    const char *format;       // `hlo`, `txt`, `pb`, `pbtxt`, `textproto`; NULL or "": by the file's extension
    bool split;               // several modules, separated by `// -----`
    bool drop_zero_sign;      // see HloParseOptions
    bool renumber_frames;     // likewise
    int64_t max_errors;       // likewise; negative values are refused
    const char *hlo_version;  // as hlo_version_parse reads it
    HloBuffer *notes;         // gets lines about what protocol buffers hold that was left out; NULL: not wanted
} HloLoadOptions;

// The flags that set fields of `options`; every program that reads modules has them.
HloFlagSet hlo_load_flags(HloLoadOptions *options);

// Reads all modules of a file, or of standard input for `-`, which has no extension and so needs a format. Nothing
// is loaded unless everything can be read. The caller frees the list.
HLO_MUST_USE HloStatus hlo_modules_load(const char *path, const HloLoadOptions *options, HloModuleList *out);
void hlo_module_list_free(HloModuleList *list);

#endif
