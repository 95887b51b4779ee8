// Prints the words of the language as a dictionary for libFuzzer, one `"word"` a line: the tables are the only list.

#include <stdio.h>

#include "hlo/pass.h"

static const char *const words[] = {
#define HLO_OPCODE(name, spelling, ...) spelling,
#include "hlo/opcodes.def"
#define HLO_ATTR(name, spelling, kind, detail, standard, scope) spelling,
#include "hlo/attributes.def"
#define HLO_ENUM(table, name, word, number) word,
#include "hlo/enums.def"
#define HLO_TYPE(name, spelling, ...) spelling,
#include "hlo/types.def"
};

// Punctuation in the forms in which it means something.
static const char *const marks[] = {
    "HloModule m",  "ENTRY",       "ROOT ",        "%",         "->",     " = ",     "={", "}, ", "(", ")", "{}",
    "{1,0}",        "[<=2]",       "[2,3]",        "/*index=5*/", "{...}", "nan",    "inf", "-0", "-1", "true",
    "<=[2,2]T(1,0)", "devices=[2,1]<=[2]", "last_tile_dim_replicate", "last_tile_dims={", "replicated", "maximal",
    "is_scheduled=true", "entry_computation_layout={", "input_output_alias={", "buffer_donor={", "must-alias",
    "replica_count=", "num_partitions=", "FileNames", "FunctionNames", "FileLocations", "StackFrames", "dim_labels=b01f_01io->b01f",
    "size=3 pad=0_1", "stride=", "lhs_dilate=", "rhs_reversal=", "T(8,128)", "S(1)", "(2,1)", "#0", "=> ",
    "9223372036854775807", "4294967296", "2147483648", "1e999", "0x1p3",
};

static void put_word(const char *word) {
    if (*word) printf("\"%s\"\n", word);
}

int main(void) {
    for (size_t i = 0; i < HLO_COUNT(words); i++) put_word(words[i]);
    for (size_t i = 0; i < HLO_COUNT(marks); i++) put_word(marks[i]);
    return 0;
}
