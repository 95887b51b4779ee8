// Modules made up for measuring.

#include "texts.h"

#include <inttypes.h>

#include "hlo/types.h"

void text_layers(HloBuffer *out, int64_t layers) {
    hlo_put_string(out, "HloModule generated\n\nENTRY main {\n  x0 = f32[64,64]{1,0} parameter(0)\n"
                        "  zero = f32[] constant(0)\n");
    for (int64_t i = 0; i < layers; i++) {
        hlo_putf(out, "  w%" PRId64 " = f32[64,64]{1,0} parameter(%" PRId64 ")\n", i, 2 * i + 1);
        hlo_putf(out, "  b%" PRId64 " = f32[64]{0} parameter(%" PRId64 ")\n", i, 2 * i + 2);
        hlo_putf(out,
                 "  m%" PRId64 " = f32[64,64]{1,0} dot(x%" PRId64 ", w%" PRId64
                 "), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n",
                 i, i, i);
        hlo_putf(out, "  bb%" PRId64 " = f32[64,64]{1,0} broadcast(b%" PRId64 "), dimensions={1}\n", i, i);
        hlo_putf(out, "  a%" PRId64 " = f32[64,64]{1,0} add(m%" PRId64 ", bb%" PRId64 ")\n", i, i, i);
        hlo_putf(out, "  z%" PRId64 " = f32[64,64]{1,0} broadcast(zero), dimensions={}\n", i);
        hlo_putf(out, "  r%" PRId64 " = f32[64,64]{1,0} maximum(a%" PRId64 ", z%" PRId64 ")\n", i, i, i);
        hlo_putf(out, "  %sx%" PRId64 " = f32[64,64]{1,0} add(x%" PRId64 ", r%" PRId64 ")\n",
                 i + 1 == layers ? "ROOT " : "", i + 1, i, i);
    }
    hlo_put_string(out, "}\n");
}

// Each uses the one before: nothing but depth.
static void write_chain(HloBuffer *out, int64_t count) {
    hlo_put_string(out, "HloModule chain\n\nENTRY main {\n  x.0 = f32[8]{0} parameter(0)\n");
    for (int64_t i = 1; i < count; i++)
        hlo_putf(out, "  %sx.%" PRId64 " = f32[8]{0} negate(x.%" PRId64 ")\n", i + 1 == count ? "ROOT " : "", i, i - 1);
    hlo_put_string(out, "}\n");
}

// One value with many users, which one tuple gathers.
static void write_wide(HloBuffer *out, int64_t count) {
    hlo_put_string(out, "HloModule wide\n\nENTRY main {\n  x = f32[8]{0} parameter(0)\n");
    for (int64_t i = 0; i < count; i++) hlo_putf(out, "  y.%" PRId64 " = f32[8]{0} add(x, x)\n", i);
    hlo_put_string(out, "  ROOT all = (f32[8]{0}");
    for (int64_t i = 1; i < count; i++) hlo_put_string(out, ", f32[8]{0}");
    hlo_put_string(out, ") tuple(y.0");
    for (int64_t i = 1; i < count; i++) hlo_putf(out, ", y.%" PRId64, i);
    hlo_put_string(out, ")\n}\n");
}

// As many elements as half the instructions, taken out of a tuple and put into another.
static void write_tuple(HloBuffer *out, int64_t count) {
    int64_t half = count / 2 > 0 ? count / 2 : 1;
    hlo_put_string(out, "HloModule tuple\n\nENTRY main {\n  t = (f32[8]{0}");
    for (int64_t i = 1; i < half; i++) hlo_put_string(out, ", f32[8]{0}");
    hlo_put_string(out, ") parameter(0)\n");
    for (int64_t i = 0; i < half; i++) {
        hlo_putf(out, "  e.%" PRId64 " = f32[8]{0} get-tuple-element(t), index=%" PRId64 "\n", i, i);
        hlo_putf(out, "  n.%" PRId64 " = f32[8]{0} negate(e.%" PRId64 ")\n", i, i);
    }
    hlo_put_string(out, "  ROOT all = (f32[8]{0}");
    for (int64_t i = 1; i < half; i++) hlo_put_string(out, ", f32[8]{0}");
    hlo_put_string(out, ") tuple(n.0");
    for (int64_t i = 1; i < half; i++) hlo_putf(out, ", n.%" PRId64, i);
    hlo_put_string(out, ")\n}\n");
}

// Small computations, each called once.
static void write_computations(HloBuffer *out, int64_t count) {
    int64_t bodies = count / 4 > 0 ? count / 4 : 1;
    hlo_put_string(out, "HloModule computations\n\n");
    for (int64_t i = 0; i < bodies; i++) {
        hlo_putf(out,
                 "f.%" PRId64 " {\n  p.%" PRId64 " = f32[8]{0} parameter(0)\n  c.%" PRId64
                 " = f32[8]{0} cosine(p.%" PRId64 ")\n  ROOT s.%" PRId64 " = f32[8]{0} add(c.%" PRId64 ", p.%" PRId64
                 ")\n}\n\n",
                 i, i, i, i, i, i, i);
    }
    hlo_put_string(out, "ENTRY main {\n  x.0 = f32[8]{0} parameter(0)\n");
    for (int64_t i = 0; i < bodies; i++)
        hlo_putf(out, "  %sx.%" PRId64 " = f32[8]{0} call(x.%" PRId64 "), to_apply=f.%" PRId64 "\n",
                 i + 1 == bodies ? "ROOT " : "", i + 1, i, i);
    hlo_put_string(out, "}\n");
}

// Loops inside loops: the body of each is the caller of the next.
static void write_loops(HloBuffer *out, int64_t count) {
    int64_t loops = count / 4 > 0 ? count / 4 : 1;
    hlo_put_string(out, "HloModule loops\n\nbody.0 {\n  ROOT p.0 = (pred[], f32[8]{0}) parameter(0)\n}\n\n");
    for (int64_t i = 1; i <= loops; i++) {
        hlo_putf(out,
                 "cond.%" PRId64 " {\n  q.%" PRId64 " = (pred[], f32[8]{0}) parameter(0)\n  ROOT g.%" PRId64
                 " = pred[] get-tuple-element(q.%" PRId64 "), index=0\n}\n\n",
                 i, i, i, i);
        hlo_putf(out,
                 "%s.%" PRId64 " {\n  p.%" PRId64 " = (pred[], f32[8]{0}) parameter(0)\n  ROOT w.%" PRId64
                 " = (pred[], f32[8]{0}) while(p.%" PRId64 "), condition=cond.%" PRId64 ", body=body.%" PRId64
                 "\n}\n\n",
                 i == loops ? "ENTRY body" : "body", i, i, i, i, i, i - 1);
    }
}

static void write_literal(HloBuffer *out, int64_t count) {
    hlo_putf(out, "HloModule literal\n\nENTRY main {\n  ROOT c = f32[%" PRId64 "]{0} constant({0", count);
    for (int64_t i = 1; i < count; i++) hlo_putf(out, ", %" PRId64 ".5", i % 1000);
    hlo_put_string(out, "})\n}\n");
}

// Every name clashes with one of another computation, so that all but the first get new numbers.
static void write_clashes(HloBuffer *out, int64_t count) {
    hlo_put_string(out, "HloModule clashes\n\n");
    for (int part = 0; part < 2; part++) {
        hlo_putf(out, "%s {\n  x = f32[8]{0} parameter(0)\n", part ? "ENTRY main" : "other");
        for (int64_t i = 1; i < count / 2; i++) hlo_putf(out, "  y.%" PRId64 " = f32[8]{0} negate(x)\n", i * 3);
        hlo_put_string(out, "  ROOT z = f32[8]{0} negate(x)\n}\n\n");
    }
}

const TextKind *text_kinds(size_t *count) {
    static const TextKind kinds[] = {
        {"chain", write_chain},     {"wide", write_wide},
        {"tuple", write_tuple},     {"computations", write_computations},
        {"loops", write_loops},     {"literal", write_literal},
        {"clashes", write_clashes},
    };
    *count = HLO_COUNT(kinds);
    return kinds;
}
