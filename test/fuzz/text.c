// Any bytes: what can be read can be printed, and what is printed says the same when it is read again.
//
//     text -> module -> first -> module -> second -> module -> third
//
// `first` and `second` hold the same lines; their order may differ, since computations stand in the order in which a
// walk from the computations of the text meets them. `second` and `third` are equal, but for the order once more where
// the compact form left out elements that nobody uses: then instructions move first, and computations follow them.

#include "fuzz.h"
#include "mix.h"

static HloStringView view_of(const HloBuffer *text) {
    return (HloStringView){text->data, text->size};
}

static HloBuffer print(const HloModule *m, const HloPrintOptions *options) {
    HloBuffer out = {0};
    hlo_print_module(m, options, &out);
    return out;
}

// ---- lines in any order ---------------------------------------------------------------------------------

static int compare_lines(const void *a, const void *b) {
    const HloStringView *x = a, *y = b;
    int order = memcmp(x->data, y->data, x->size < y->size ? x->size : y->size);
    return order ? order : (x->size > y->size) - (x->size < y->size);
}

static size_t split_sorted(const HloBuffer *text, HloStringView **out) {
    size_t count = 0;
    HloStringView *lines = malloc((text->size + 1) * sizeof *lines);
    MUST(lines);
    for (const char *p = text->data, *end = text->data + text->size; p < end;) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        if (!stop) stop = end;
        lines[count++] = (HloStringView){p, (size_t)(stop - p)};
        p = stop + 1;
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    *out = lines;
    return count;
}

static void check_same_lines(const HloBuffer *a, const HloBuffer *b) {
    HloStringView *first, *second;
    size_t count = split_sorted(a, &first), second_count = split_sorted(b, &second);
    bool same = count == second_count;
    for (size_t i = 0; i < count && same; i++) same = compare_lines(&first[i], &second[i]) == 0;
    MUST(same, "---- first\n%s---- second\n%s", a->data, b->data);
    free(first);
    free(second);
}

// ---- one module -----------------------------------------------------------------------------------------

// Reads a text that was printed, and prints it once more.
static HloBuffer reprint(const HloBuffer *text, int hlo_version, const HloPrintOptions *options) {
    HloCode code;
    char message[2000];
    HloModule *m = read_text(view_of(text), hlo_version, 4 * (size_t)MODULE_BYTES, &code, message, sizeof message);
    MUST(m, "%s\n---- text\n%s", message, text->data);
    HloBuffer out = print(m, options);
    hlo_module_free(m);
    return out;
}

// What only the wrapped operation is said to be, sugar says of the async-start.
static bool wraps_annotations(const HloModule *m) {
    static const HloAttrId moved[] = {HLO_ATTR_SHARDING, HLO_ATTR_FRONTEND_ATTRIBUTES, HLO_ATTR_STATISTICS};
    HLO_EACH_COMP(comp, m) {
        HLO_EACH_INST(inst, comp) {
            const HloInstruction *wrapped = inst->op == HLO_OP_ASYNC_START ? hlo_called(inst, 0)->root : NULL;
            for (size_t k = 0; wrapped && k < HLO_COUNT(moved); k++) {
                if (hlo_has(wrapped, moved[k]) && !hlo_has(inst, moved[k])) return true;
            }
        }
    }
    return false;
}

// Forms that leave something to the reader say the same only when it is what the rules imply: `%t#0` a
// get-tuple-element's shape, `add-start` the wrapped computation's. A name without `%` may be a keyword.
static void check_round_trip(const HloModule *m, HloPrintOptions options, bool is_valid) {
    options.large_constants = has_small_constants(m);
    options.percent = true;
    options.async_sugar &= is_valid && !wraps_annotations(m);
    options.compact_gte &= is_valid && !orders_elements(m);
    HloBuffer first = print(m, &options);
    HloBuffer second = reprint(&first, m->hlo_version, &options);
    check_same_lines(&first, &second);
    HloBuffer third = reprint(&second, m->hlo_version, &options);
    if (options.compact_gte) {
        check_same_lines(&second, &third);
    } else {
        MUST(strcmp(second.data, third.data) == 0, "---- second\n%s---- third\n%s", second.data, third.data);
    }
    hlo_buffer_free(&first);
    hlo_buffer_free(&second);
    hlo_buffer_free(&third);
}

static void check_clone(const HloModule *m) {
    HloModule *copy = hlo_module_clone(m);
    MUST(copy);
    HloPrintOptions options = hlo_print_default();
    HloBuffer text = print(m, &options), copy_text = print(copy, &options);
    MUST(strcmp(text.data, copy_text.data) == 0, "---- module\n%s---- copy\n%s", text.data, copy_text.data);
    hlo_buffer_free(&text);
    hlo_buffer_free(&copy_text);
    hlo_module_free(copy);
}

static bool verifies(const HloModule *m, bool layout_sensitive) {
    return take_code(hlo_verify_module(m, &(HloVerifyOptions){.layout_sensitive = layout_sensitive}), NULL, 0) ==
           HLO_OK;
}

// The styles that are not read again may say anything, but must come back.
static void check_no_crash(const HloModule *m) {
    HloPrintOptions styles[] = {hlo_print_canonical(), hlo_print_fingerprint(), hlo_print_module_fingerprint()};
    for (size_t i = 0; i < HLO_COUNT(styles); i++) {
        // With bodies in place of names a text grows with every level of calls, up to a limit that takes seconds.
        if (m->count > 6) styles[i].callees = HLO_CALLEES_NAMES;
        HloBuffer text = print(m, &styles[i]);
        hlo_buffer_free(&text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    double start = processor_seconds();
    HloCode code;
    HloStringView text = {(const char *)data, size};
    HloModule *m = read_text(text, version_for(size), MODULE_BYTES, &code, NULL, 0);
    if (m) {
        bool is_valid = verifies(m, false);
        is_valid = verifies(m, true) && is_valid;
        check_round_trip(m, hlo_print_default(), is_valid);
        check_round_trip(m, hlo_print_dump(), is_valid);
        check_round_trip(m, hlo_print_short(), is_valid);
        check_clone(m);
        check_no_crash(m);
        hlo_module_free(m);
    }
    MUST(processor_seconds() - start < INPUT_SECONDS);
    return 0;
}
