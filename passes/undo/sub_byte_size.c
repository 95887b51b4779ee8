// sub-byte-size-setter: packs elements of less than a byte.  sub-byte-size-removal: gives each a byte of its own.
//
//   %a = s4[8]{0} parameter(0)
// becomes with the first, and the second makes of it again,
//   %a = s4[8]{0:E(4)} parameter(0)
//
// Both go over all layouts of the module, those of the entry and inside tuples too, and take element sizes away from
// types of whole bytes and from pred.
//
// Needs: nothing.  Keeps: everything else. A bitcast between packed elements and bytes does not fit any more when only
// one side changes its size.

#include "hlo/pass.h"
#include "hlo/rewriter.h"

typedef struct Sizer {
    HloRewriter rw;
    const char *rule;
    bool packs;
    HloMap done;  // shape -> the same with other sizes
} Sizer;

static const HloShape *resized(Sizer *s, const HloShape *shape) {
    void **slot = hlo_map_at(s->rw.scratch, &s->done, shape);
    if (!*slot) *slot = (void *)(uintptr_t)hlo_shape_with_packing(&s->rw.m->shapes, shape, s->packs);
    return *slot;
}

// `inst` is what to announce the change under.
static void resize(Sizer *s, const HloShape **shape, HloInstruction *inst) {
    const HloShape *wanted = resized(s, *shape);
    if (wanted == *shape || hlo_rewriter_is_spent(&s->rw)) return;
    hlo_rewriter_note(&s->rw, s->rule, inst, inst);
    *shape = wanted;
}

static void resize_entry(Sizer *s, HloModule *m) {
    for (size_t k = 0; k < m->entry_param_count; k++) {
        resize(s, &m->entry_params[k], hlo_parameter(m->entry, k));
    }
    if (m->entry_result) resize(s, &m->entry_result, m->entry->root);
}

static HloStatus resize_all(HloPassContext *cx, HloModule *m, bool packs, bool *changed) {
    Sizer s = {.rw = hlo_rewriter(cx, m), .rule = packs ? "pack-elements" : "unpack-elements", .packs = packs};
    HLO_EACH_COMP(comp, m) {
        HLO_EACH_INST(inst, comp) resize(&s, &inst->shape, inst);
    }
    resize_entry(&s, m);
    return hlo_rewriter_finish(&s.rw, changed);
}

static HloStatus set(HloPassContext *cx, HloModule *m, bool *changed) {
    return resize_all(cx, m, true, changed);
}

static HloStatus take_away(HloPassContext *cx, HloModule *m, bool *changed) {
    return resize_all(cx, m, false, changed);
}

const HloPass hlo_pass_sub_byte_size_setter = {
    .name = "sub-byte-size-setter",
    .summary = "packs elements of less than a byte",
    .run = set,
};

const HloPass hlo_pass_sub_byte_size_removal = {
    .name = "sub-byte-size-removal",
    .summary = "gives elements of less than a byte a byte of their own",
    .run = take_away,
};
