// Line diffs of two texts.
#ifndef HLO_DIFF_H
#define HLO_DIFF_H

#include "hlo/arena.h"
#include "hlo/buffer.h"
#include "hlo/containers.h"

typedef struct HloDiffOptions {
    size_t context;                  // unchanged lines around each change
    bool colour;                     // ANSI: red, green, cyan
    const char *title;               // after the second @@ of each hunk; NULL: none
    size_t before_line, after_line;  // line numbers of the first lines, less one
} HloDiffOptions;

// Appends the hunks of a unified diff; nothing when the texts are equal. The edit script is the shortest one (Myers
// 1986) unless the texts differ in more than a thousand lines; then the middle that differs is shown as a whole. Time
// O(lines * changes), memory O(lines + changes^2), from `scratch`.
void hlo_put_diff(HloBuffer *out, HloArena *scratch, HloStringView before, HloStringView after,
                  const HloDiffOptions *options);

// The same for the texts of two modules, computation by computation of the same name: each has its hunks under its
// name. Title and line numbers of the options are not used.
void hlo_put_module_text_diff(HloBuffer *out, HloArena *scratch, HloStringView before, HloStringView after,
                              const HloDiffOptions *options);

#endif
