// The passes of the CPU target, in the nesting, order and under the names of the reference (CPU pipeline chapter, §3).

#include "hlo/cpu.h"

// The simplifier keeps what NaN does to minimum and maximum: xla_cpu_enable_fast_min_max, on by default in the
// reference, would not.
#define ALGSIMP_OPTIONS "supports-non-canonical-dots=false, executing-on-cpu"

// Narrow floating point types are computed in f32 or f16 as the reference does: the kernels could compute in them, but
// would round in other places. 4-bit integers stay: they come out the same.
//
// Calls are flattened, then inlined; two rounds of simplification; copies last, so that nothing after them makes values
// share memory that must not.
static const char pipeline_text[] =
    "sharding-removal("
    "  flatten-call-graph, dce),"
    "HLO passes through layout assignment("
    "  zero_sized_hlo_elimination,"
    "  call-inliner{single-call-site},"
    "  float-normalization-bf16, float-normalization-f8e5m2, float-normalization-f8e4m3, float-normalization-f8e4m3fn,"
    "  float-normalization-f8e4m3b11fnuz, float-normalization-f8e5m2fnuz, float-normalization-f8e4m3fnuz,"
    "  float-normalization-f8e3m4, float-normalization-f4e2m1fn, float-normalization-f8e8m0fnu,"
    "  fix(simplification("
    "    algsimp{" ALGSIMP_OPTIONS "}, dce, zero_sized_hlo_elimination, tuple-simplifier, dce)),"
    "  cse, tuple-simplifier, flatten-call-graph),"
    "HLO passes after layout assignment("
    "  tuple-simplifier,"
    "  fix(simplification after layout assignment("
    "    algsimp{layout-sensitive, " ALGSIMP_OPTIONS "}, dce, cse{layout-sensitive})),"
    "  dce, copy-insertion, dce)";

HloStatus hlo_cpu_pipeline(HloArena *arena, HloElement **out) {
    return hlo_pipeline_parse(arena, "cpu", hlo_view(pipeline_text), out);
}
