// Values that differ, in files that outlive the run (tools chapter, §3.2): for every array of the result that differs
//
//   wrote Literal to expected binary: /tmp/tempfile-1795996168075865-expected.pb text: /tmp/tempfile-…-expected.txt
//
// and the same for `actual`, and for `mismatches`, which is true where they differ.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "hlo/npy.h"
#include "tools/run_hlo_module/run.h"

static const char *folder(void) {
    static const char *const variables[] = {"TEST_UNDECLARED_OUTPUTS_DIR", "TMPDIR"};
    for (size_t k = 0; k < HLO_COUNT(variables); k++) {
        const char *value = getenv(variables[k]);
        if (value && *value) return value;
    }
    return "/tmp";
}

static long long microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

typedef struct Forms {
    HloBuffer binary, text;
} Forms;

// Both files of one name, or none of them.
static HloStatus write_pair(Run *run, const Forms *forms, long long number, const char *name) {
    const char *base = hlo_arena_printf(&run->arena, "%s/tempfile-%lld-%s", folder(), number, name);
    const char *binary = hlo_arena_printf(&run->arena, "%s.pb", base);
    const char *text = hlo_arena_printf(&run->arena, "%s.txt", base);
    HLO_TRY(hlo_file_write_new(binary, (HloStringView){forms->binary.data, forms->binary.size}));
    HloStatus status = hlo_file_write_new(text, (HloStringView){forms->text.data, forms->text.size});
    if (hlo_is_ok(status))
        fprintf(stderr, "wrote Literal to %s binary: %s text: %s\n", name, binary, text);
    else
        unlink(binary);
    return status;
}

// Names that are taken belong to somebody else.
static HloStatus write_forms(Run *run, const Forms *forms, const char *name) {
    enum { TRIES = 100 };
    HloStatus status = hlo_ok();
    long long number = microseconds();
    for (int k = 0; k < TRIES; k++) {
        hlo_status_free(status);
        status = write_pair(run, forms, number + k, name);
        if (hlo_status_code(status) != HLO_ALREADY_EXISTS) break;
    }
    return status;
}

static HloStatus write_value(Run *run, const HloLiteral *literal, const char *name) {
    Forms forms = {{0}, {0}};
    HloStatus status = hlo_literal_message_write(literal, &forms.binary);
    hlo_put_literal_lines(&forms.text, literal);
    if (hlo_is_ok(status)) status = hlo_buffer_status(&forms.text);
    if (hlo_is_ok(status)) status = write_forms(run, &forms, name);
    hlo_buffer_free(&forms.binary);
    hlo_buffer_free(&forms.text);
    return status;
}

static HloStatus write_leaf(Run *run, const HloLiteral *expected, const HloLiteral *actual) {
    HloLiteral *mask;
    HLO_TRY(hlo_literal_mismatches(&run->arena, expected, actual, bounds_of(run), &mask));
    if (!mask) return hlo_ok();
    HLO_TRY(write_value(run, expected, "expected"));
    HLO_TRY(write_value(run, actual, "actual"));
    return write_value(run, mask, "mismatches");
}

static HloVec leaves_of(Run *run, const HloLiteral *literal) {
    return hlo_literal_leaves(&run->arena, (HloLiteral *)(uintptr_t)literal);
}

// What cannot be written is told and changes nothing else. Values of different shapes have no mismatches to point at.
void write_side_files(Run *run, const HloLiteral *expected, const HloLiteral *actual) {
    if (!hlo_shape_equal(expected->shape, actual->shape, HLO_IGNORE_LAYOUT)) return;
    HloVec wanted = leaves_of(run, expected), given = leaves_of(run, actual);
    HloStatus status = hlo_ok();
    for (size_t k = 0; k < wanted.count && hlo_is_ok(status); k++) {
        const HloLiteral *leaf = wanted.items[k];
        if (hlo_shape_is_array(leaf->shape)) status = write_leaf(run, leaf, given.items[k]);
    }
    tell(status);
    hlo_status_free(status);
}
