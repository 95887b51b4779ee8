// Texts as words of shell commands.
#ifndef HLO_SHELL_H
#define HLO_SHELL_H

#include "hlo/buffer.h"

// Appends the text so that a shell reads it as one word: in single quotes unless it is plain.
void hlo_put_shell_word(HloBuffer *out, const char *text);

#endif
