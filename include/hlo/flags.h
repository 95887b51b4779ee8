// Command line flags as tables.
//
// A program lists its flags as rows that name a field of its options struct; parsing, the environment form, help and
// near-miss hints all work on the rows. Accepted: `--name=value`, `-name=value`, `--name` alone (bools, and flags
// with an implied value), and for one-letter flags also `-o value`. `--` ends the flags. A later occurrence wins.
#ifndef HLO_FLAGS_H
#define HLO_FLAGS_H

#include <stddef.h>

#include "hlo/arena.h"
#include "hlo/buffer.h"
#include "hlo/containers.h"
#include "hlo/status.h"

typedef enum HloFlagKind {
    HLO_FLAG_BOOL,   // bool: true, false, 1, 0, in any case; alone means true
    HLO_FLAG_INT,    // int64_t
    HLO_FLAG_INT32,  // int64_t that holds what fits into 32 bits
    HLO_FLAG_FLOAT,  // double
    HLO_FLAG_TEXT,   // const char *: the argument itself, or a copy in the arena
    HLO_FLAG_LIST,   // HloVec of const char *: split at commas, nothing trimmed; repeated flags append
    HLO_FLAG_TEXTS,  // HloVec of const char *: one per occurrence, not split
    HLO_FLAG_OTHER,  // what the row's `read` makes of it
} HloFlagKind;

typedef struct HloFlag HloFlag;
struct HloFlag {
    const char *name;  // without dashes
    HloFlagKind kind;
    size_t offset;        // of the field in the set's options struct
    const char *topic;    // the group it stands in under --help=TOPIC; NULL: help leaves it out
    const char *value;    // the value's word in help, such as FILE; NULL for bools
    const char *implied;  // the value when given without one; NULL: a value is needed (bools: "true")
    const char *help;     // one line
    // HLO_FLAG_OTHER: stores a value into the set's options struct, in the arena or as it is; a failure says what the
    // flag takes.
    HloStatus (*read)(HloArena *arena, const HloFlag *flag, void *options, const char *value);
};

// A table and the struct that its offsets refer to.
typedef struct HloFlagSet {
    const HloFlag *flags;
    size_t count;
    void *options;
    bool sorted;    // the rows are sorted by name (strcmp): a name is found by binary search
    HloVec *given;  // gets the row of every flag that was given; NULL: nobody asks
} HloFlagSet;

// Reads argv[1..argc) into the sets' options; the first set that knows a name takes it. Arguments that are no
// flags, `-` among them, go to *positionals in order. Unknown names and values that cannot be read fail.
HLO_MUST_USE HloStatus hlo_flags_parse(HloArena *arena, const HloFlagSet *sets, size_t set_count, int argc,
                                       char *const *argv, HloVec *positionals);

// Reads the value of an environment variable: flags separated by white space when it starts with `-`, otherwise the
// name of a file that holds them. `variable` is for messages; a NULL or empty text holds no flags. Unknown flags fail
// together: `Unknown flags in XLA_FLAGS: --a=1 --b`.
HLO_MUST_USE HloStatus hlo_flags_parse_environment(HloArena *arena, const HloFlagSet *sets, size_t set_count,
                                                   const char *variable, const char *text);

// Reads a value as bools and integers are read: words and digits in any case; decimal with a sign. False leaves *out as it
// was.
bool hlo_flag_read_bool(const char *text, bool *out);
bool hlo_flag_read_int(const char *text, int64_t *out);

// The position of `word` among the words that a flag takes; INVALID_ARGUMENT, which names the flag and its words, when it is
// none of them.
HLO_MUST_USE HloStatus hlo_flag_choose(const char *flag, const char *word, const char *const *words, size_t count,
                                       size_t *out);
// Reads the value of --color: always, never, or auto, which means colours on a terminal.
HLO_MUST_USE HloStatus hlo_flag_read_colour(const char *word, bool is_terminal, bool *out);

// Appends the flags of a topic, or of all topics in order of first appearance ("all"); false when there is no such
// topic.
bool hlo_flags_help(const HloFlagSet *sets, size_t set_count, const char *topic, HloBuffer *out);
// The same for a topic that a user asked for; INVALID_ARGUMENT when there is none.
HLO_MUST_USE HloStatus hlo_flags_help_topic(const HloFlagSet *sets, size_t set_count, const char *topic,
                                            HloBuffer *out);
// Appends one flag and what it does.
void hlo_flag_help(const HloFlag *flag, HloBuffer *out);
// Appends a line for each topic with the names of its flags.
void hlo_flags_topics(const HloFlagSet *sets, size_t set_count, HloBuffer *out);

#endif
