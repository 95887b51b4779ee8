// A fixture for tests on modules built by hand: a module with one computation, scratch memory, a buffer for text.
#ifndef HLO_TEST_MODULE_FIXTURE_H
#define HLO_TEST_MODULE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hlo/module.h"

typedef struct Fixture {
    HloModule *m;
    HloComputation *comp;
    HloArena scratch;
    HloBuffer out;
} Fixture;

static inline int set_up(void **state) {
    Fixture *f = test_calloc(1, sizeof *f);
    f->m = hlo_module_new("m");
    f->comp = hlo_module_add(f->m, hlo_computation_new(f->m, "main"));
    *state = f;
    return 0;
}

static inline int tear_down(void **state) {
    Fixture *f = *state;
    hlo_module_free(f->m);
    hlo_arena_free(&f->scratch);
    hlo_buffer_free(&f->out);
    test_free(f);
    return 0;
}

#endif
