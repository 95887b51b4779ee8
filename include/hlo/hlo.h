// All of libhlo, for programs: `#include <hlo/hlo.h>`, from C and from C++. Files of the library include what they need.
#ifndef HLO_HLO_H
#define HLO_HLO_H

// What the headers below include, so that none of it comes to stand inside the extern "C" block.
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "hlo/analysis.h"
#include "hlo/arena.h"
#include "hlo/attributes.h"
#include "hlo/buffer.h"
#include "hlo/compare.h"
#include "hlo/computation.h"
#include "hlo/containers.h"
#include "hlo/cpu.h"
#include "hlo/dataflow.h"
#include "hlo/debug_options.h"
#include "hlo/diff.h"
#include "hlo/dump.h"
#include "hlo/encode.h"
#include "hlo/eval.h"
#include "hlo/file.h"
#include "hlo/flags.h"
#include "hlo/fuel.h"
#include "hlo/graph.h"
#include "hlo/infer.h"
#include "hlo/instruction.h"
#include "hlo/listing.h"
#include "hlo/literal.h"
#include "hlo/load.h"
#include "hlo/module.h"
#include "hlo/npy.h"
#include "hlo/observers.h"
#include "hlo/opcodes.h"
#include "hlo/pass.h"
#include "hlo/print_flags.h"
#include "hlo/random_inputs.h"
#include "hlo/regex.h"
#include "hlo/rewriter.h"
#include "hlo/shape.h"
#include "hlo/stages.h"
#include "hlo/stats.h"
#include "hlo/status.h"
#include "hlo/text.h"
#include "hlo/types.h"
#include "hlo/watch.h"

#ifdef __cplusplus
}
#endif

#endif
