// The compiler options that users know from XLA_FLAGS (debug_options.def): values, flags, a text form to write and to
// read.
//
// All options of the reference's message are here, so that command lines, files of options and dumped options written
// for it are understood. Those whose row has a topic change something here; the others are kept and shown.
#ifndef HLO_DEBUG_OPTIONS_H
#define HLO_DEBUG_OPTIONS_H

#include "hlo/flags.h"
#include "hlo/pass.h"
#include "hlo/text.h"

// What holds a value of a kind. Words are texts of debug_words.def; a map alternates keys and values; messages are the
// text between their braces.
#define HLO_DEBUG_TYPE_BOOL bool
#define HLO_DEBUG_TYPE_INT32 int64_t
#define HLO_DEBUG_TYPE_INT64 int64_t
#define HLO_DEBUG_TYPE_FLOAT double
#define HLO_DEBUG_TYPE_TEXT const char *
#define HLO_DEBUG_TYPE_WORD const char *
#define HLO_DEBUG_TYPE_TEXTS HloVec
#define HLO_DEBUG_TYPE_WORDS HloVec
#define HLO_DEBUG_TYPE_MAP HloVec
#define HLO_DEBUG_TYPE_MESSAGE const char *
#define HLO_DEBUG_TYPE_MESSAGES HloVec

typedef struct HloDebugOptions {
#define HLO_DEBUG_OPTION(place, number, name, kind, words, standard, flag, topic, help) HLO_DEBUG_TYPE_##kind name;
#include "hlo/debug_options.def"
    const char *xla_fuel;  // no field of the message: --xla_fuel's value, `pass=N,…`; "": none
    HloVec given;          // const HloFlag *: the flags that were given, in order
} HloDebugOptions;

// Every option at its default.
HloDebugOptions hlo_debug_options_default(void);
// The flags of all options. Lists and texts that flags set live in the arena given to the parser.
HloFlagSet hlo_debug_option_flags(HloDebugOptions *options);

// Sets the options that a file names; lists and maps that it names are replaced. The file is a text proto of the
// reference's options message, such as a dumped `debug_options` (debug options chapter, §4). Fields that the message
// once had are skipped; other unknown ones fail with their line.
HLO_MUST_USE HloStatus hlo_debug_options_read(HloArena *arena, const char *path, HloDebugOptions *options);
// The same for a text; `path` is for messages.
HLO_MUST_USE HloStatus hlo_debug_options_parse(HloArena *arena, const char *path, HloStringView text,
                                               HloDebugOptions *options);
// The file that the first argument with `--debug_options_file` names; NULL when there is none. It is read before
// XLA_FLAGS, which win over it, while other flags of the command line win over both.
HLO_MUST_USE HloStatus hlo_debug_options_file_argument(int argc, char *const *argv, const char **path);

// Everything that sets options, weakest first: the file named in argv, the environment variable XLA_FLAGS (its value;
// NULL: unset). The command line is left to the caller.
HLO_MUST_USE HloStatus hlo_debug_options_collect(HloArena *arena, HloFlagSet *set, const char *xla_flags, int argc,
                                                 char *const *argv);

// Appends the options that differ from their defaults, a line each in the order of the message (debug options chapter,
// §5). Texts are not escaped, as in the reference.
void hlo_put_debug_options(HloBuffer *out, const HloDebugOptions *options);

// Appends the flags: those that change something here, or all of them.
void hlo_debug_options_help(HloBuffer *out, bool all);
// Appends a line for every flag that was given and changes nothing here.
void hlo_put_ignored_options(HloBuffer *out, const HloDebugOptions *options);

// How modules are printed under these options (printing chapter, §1.2).
HloPrintOptions hlo_debug_print_options(const HloDebugOptions *options);
// Which passes run under them; the filter borrows the options. Fails when passes are both disabled and enabled by name.
HLO_MUST_USE HloStatus hlo_debug_pass_filter(const HloDebugOptions *options, HloPassFilter *out);

#endif
