// despecializer: undoes what a compiler did to a module, so that another one can start afresh.
//
//   HloModule m, is_scheduled=true
//   %fc { %p = f32[4] parameter(0)
//         ROOT %n = f32[4] negate(%p) }
//   ENTRY %e { %a = f32[4] parameter(0)
//              ROOT %f = f32[4] fusion(%a), kind=kLoop, calls=%fc }
// becomes
//   HloModule m
//   ENTRY %e { %a = f32[4] parameter(0)
//              ROOT %n.1 = f32[4] negate(%a) }
//
// Control edges go before fusions are opened, which may have none then.
//
// Needs: nothing.  Keeps: what the passes that it consists of keep.

#include "hlo/pass.h"

const HloPass hlo_pass_despecializer = {
    .name = "despecializer",
    .summary = "undoes schedule, control edges, fusions, mixed precision and packing, as a pipeline",
    .pipeline = "hlo-descheduler,control-dep-remover,defuser,bf16-mixed-precision-removal,sub-byte-size-removal",
};
