// The passes float-normalization-<low>: which narrow type is computed in which wider one (CPU pipeline chapter, §4).
//
// Each type has its own pass, so that a pipeline names exactly the types that its target cannot compute in. What they
// do is told in float_normalization.c. So is bf16-mixed-precision-removal.

#include "float_normalization.h"

static const HloOptionSpec options[] = {
    {"excess-precision", HLO_OPTION_BOOL, "true", "let converts to the wider type take values before they are rounded"},
};

#define NORMALIZATION(low, LOW, HIGH, high)                                                                   \
    static HloStatus run_##low(HloPassContext *cx, HloModule *m, bool *changed) {                             \
        return hlo_float_normalization_run(cx, m, changed, (HloNormalization){HLO_##LOW, HLO_##HIGH, false}); \
    }                                                                                                         \
    const HloPass hlo_pass_float_normalization_##low = {                                                      \
        .name = "float-normalization-" #low,                                                                  \
        .summary = "computes in " #high " what has the type " #low,                                           \
        .options = options,                                                                                   \
        .option_count = HLO_COUNT(options),                                                                   \
        .run = run_##low,                                                                                     \
    };

NORMALIZATION(bf16, BF16, F32, f32)
NORMALIZATION(f4e2m1fn, F4E2M1FN, F16, f16)
NORMALIZATION(f8e3m4, F8E3M4, F16, f16)
NORMALIZATION(f8e4m3, F8E4M3, F16, f16)
NORMALIZATION(f8e4m3b11fnuz, F8E4M3B11FNUZ, F16, f16)
NORMALIZATION(f8e4m3fn, F8E4M3FN, F16, f16)
NORMALIZATION(f8e4m3fnuz, F8E4M3FNUZ, F16, f16)
NORMALIZATION(f8e5m2, F8E5M2, F16, f16)
NORMALIZATION(f8e5m2fnuz, F8E5M2FNUZ, F16, f16)
NORMALIZATION(f8e8m0fnu, F8E8M0FNU, F32, f32)
NORMALIZATION(s4, S4, S8, s8)
NORMALIZATION(u4, U4, U8, u8)

static HloStatus unmix(HloPassContext *cx, HloModule *m, bool *changed) {
    return hlo_float_normalization_run(cx, m, changed, (HloNormalization){HLO_BF16, HLO_F32, true});
}

const HloPass hlo_pass_bf16_mixed_precision_removal = {
    .name = "bf16-mixed-precision-removal",
    .summary = "computes in one type what has both bf16 and f32",
    .options = options,
    .option_count = HLO_COUNT(options),
    .run = unmix,
};
