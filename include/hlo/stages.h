// Stages: how far a platform takes a module, and what is shown of it there.
#ifndef HLO_STAGES_H
#define HLO_STAGES_H

#include "hlo/cpu.h"
#include "hlo/text.h"

// Appends the names of a platform's stages, sorted, one a line.
void hlo_put_stages(HloPlatform platform, HloBuffer *out);

// Appends the pipelines of a platform under these options, as hlo_pipeline_print_lines does; nothing for a platform
// without.
HLO_MUST_USE HloStatus hlo_put_platform_pipeline(HloPlatform platform, const HloDebugOptions *options, HloBuffer *out);

// Takes the module to a stage and appends what the stage shows. On platform `transforms` every stage is the module as
// it was read. Stage `html` of the CPU is a page with the graph of what `hlo` shows. A module that has a schedule has
// been through the passes and skips them.
HLO_MUST_USE HloStatus hlo_stage_run(HloPlatform platform, const char *stage, HloModule *m, const HloCpuRun *run,
                                     const HloPrintOptions *print, HloBuffer *out);

#endif
