// Files with the values of runs: RunHloModuleLiterals, what --input_literals_file and --output_literals_file hold.
#ifndef HLO_RUN_LITERALS_H
#define HLO_RUN_LITERALS_H

#include "hlo/buffer.h"
#include "hlo/module.h"

// One iteration. NULL where a value is missing.
typedef struct HloRunValues {
    const HloLiteral *const *arguments;
    size_t argument_count;
    const HloLiteral *result, *reference;
} HloRunValues;

typedef struct HloRunLiterals {
    const HloRunValues *items;
    size_t count;
} HloRunLiterals;

// Reads the binary or the text form, of all iterations or of a single one; `file_name` is for messages. The values are
// put into the module's arena, and their shapes into its tables.
HLO_MUST_USE HloStatus hlo_run_literals_read(HloStringView bytes, const char *file_name, HloModule *m,
                                             HloRunLiterals *out);
// Appends the binary form.
HLO_MUST_USE HloStatus hlo_run_literals_write(HloRunLiterals literals, HloBuffer *out);

// One value as a binary LiteralProto: appended, and read into the module's arena and tables.
HLO_MUST_USE HloStatus hlo_literal_message_write(const HloLiteral *literal, HloBuffer *out);
HLO_MUST_USE HloStatus hlo_literal_message_read(HloStringView bytes, const char *file_name, HloModule *m,
                                                const HloLiteral **out);

#endif
