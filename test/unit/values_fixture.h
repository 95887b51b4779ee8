// A fixture for tests of values: shapes without a module, and a buffer for text.
#ifndef HLO_TEST_VALUES_FIXTURE_H
#define HLO_TEST_VALUES_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hlo/shape.h"

typedef struct Fixture {
    HloArena arena;
    HloShapes shapes;
    HloBuffer out;
} Fixture;

static inline int set_up(void **state) {
    Fixture *f = test_calloc(1, sizeof *f);
    f->shapes.arena = &f->arena;
    *state = f;
    return 0;
}

static inline int tear_down(void **state) {
    Fixture *f = *state;
    hlo_buffer_free(&f->out);
    hlo_arena_free(&f->arena);
    test_free(f);
    return 0;
}

#endif
