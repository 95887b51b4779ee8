// The passes of the CPU target, in the nesting, order and under the names of the reference (CPU pipeline chapter, §3).

#include "hlo/cpu.h"

// Calls are flattened, then inlined; two rounds of simplification; copies last, so that nothing after them makes values
// share memory that must not.
static const char pipeline_text[] =
    "sharding-removal("
    "  flatten-call-graph, dce),"
    "HLO passes through layout assignment("
    "  zero_sized_hlo_elimination,"
    "  call-inliner{single-call-site},"
    "  fix(simplification(dce, zero_sized_hlo_elimination, tuple-simplifier, dce)),"
    "  cse, tuple-simplifier, flatten-call-graph),"
    "HLO passes after layout assignment("
    "  tuple-simplifier,"
    "  fix(simplification after layout assignment(dce, cse{layout-sensitive})),"
    "  dce, copy-insertion, dce)";

HloStatus hlo_cpu_pipeline(HloArena *arena, HloElement **out) {
    return hlo_pipeline_parse(arena, "cpu", hlo_view(pipeline_text), out);
}
