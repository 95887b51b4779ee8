// Modules made up for measuring, of any size.
#ifndef HLO_BENCH_TEXTS_H
#define HLO_BENCH_TEXTS_H

#include "hlo/buffer.h"

// Writes a module of about `count` instructions; `literal` writes that many elements instead.
typedef struct TextKind {
    const char *name;
    void (*write)(HloBuffer *out, int64_t count);
} TextKind;

// A chain of dense layers with a residual connection, eight instructions each: x + max(x W + b, 0), with some work for
// the simplifiers.
void text_layers(HloBuffer *out, int64_t layers);

// The kinds that differ in what grows.
const TextKind *text_kinds(size_t *count);

#endif
