// Inside the pass engine: what hlo_rewriter_finish still has to do for fusions.
#ifndef HLO_PASS_FUSION_OPERANDS_H
#define HLO_PASS_FUSION_OPERANDS_H

#include "hlo/rewriter.h"

void hlo_rewriter_merge_wide_fusions(HloRewriter *rw);

#endif
